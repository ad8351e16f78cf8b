//! The user's interrupt: noted once, so that finished rows are kept; the second one ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Code;

/// Whether the user interrupted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts to listen. Where no handler can be set, an interrupt ends the process as the system does it.
    pub(crate) fn listen() -> Self {
        let interrupt = Self::default();
        let noted = interrupt.clone();
        drop(ctrlc::set_handler(move || {
            if noted.0.swap(true, Ordering::SeqCst) {
                std::process::exit(Code::Interrupted as i32);
            }
        }));
        interrupt
    }

    /// Whether it happened.
    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
