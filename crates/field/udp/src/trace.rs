//! The trace of a connection, written while the connection runs.

use std::io::Write;

use firstflight::TraceRecord;
use firstflight_trace::{Header, Writer};

use crate::watch::Watch;

/// Writes the trace of one connection. After a write error the trace ends, but the connection continues.
pub(crate) struct Trace {
    writer: Writer,
    to: Option<Box<dyn Write + Send>>,
}

impl Trace {
    /// Starts the trace and writes its header.
    pub(crate) fn new(header: &Header, to: Box<dyn Write + Send>) -> Self {
        let mut trace = Self { writer: Writer::default(), to: Some(to) };
        trace.write(&Writer::header(header));
        trace
    }

    fn write(&mut self, line: &str) {
        if self.to.as_mut().is_some_and(|to| to.write_all(line.as_bytes()).is_err()) {
            self.to = None;
        }
    }
}

impl Watch for Trace {
    fn record(&mut self, record: TraceRecord) {
        let line = self.writer.record(&record);
        self.write(&line);
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        if let Some(to) = &mut self.to {
            let _ = to.flush();
        }
    }
}
