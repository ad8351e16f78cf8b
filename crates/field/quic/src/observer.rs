//! The observer of a host: for logs and traces.

use core::fmt;

use firstflight::{Note, Time, TraceRecord};

use crate::exit_report::ExitReport;

/// An observer of a host. It gets what the controller notes, and every call if it records a trace.
///
/// The functions take `&self`, because a stack may clone its controller, and the clones share the observer.
pub trait Observer: fmt::Debug + Send + Sync {
    /// Takes the report of an exit from start-up or restart.
    fn on_exit(&self, report: &ExitReport) {
        let _ = report;
    }

    /// Takes any note of the controller, exits included, with the instant of its event.
    fn on_note(&self, at: Time, note: &Note) {
        let _ = (at, note);
    }

    /// Returns whether the observer takes calls. A host makes no records for an observer that takes none.
    fn records_calls(&self) -> bool {
        false
    }

    /// Takes a call of the host. The records in order are a trace, which any controller with the same parts can replay.
    fn on_call(&self, record: TraceRecord) {
        let _ = record;
    }
}
