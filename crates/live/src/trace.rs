//! The trace of a connection, written as it happens.

use std::io::Write;

use firstflight::TraceRecord;
use firstflight_trace::{Header, Writer};

use crate::watch::Watch;

/// The trace of one connection. When it cannot be written it ends; the connection goes on.
pub(crate) struct Trace {
    writer: Writer,
    to: Option<Box<dyn Write + Send>>,
}

impl Trace {
    /// Begins with the header.
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
    fn told(&mut self, told: TraceRecord) {
        let line = self.writer.told(&told);
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
