//! Recordings whose buffers are reused.

use std::sync::{Mutex, PoisonError};

use firstflight_measure::Recording;

/// Recordings that are no longer needed, whose buffers later runs reuse. This is faster than new memory from the kernel, which costs more
/// than writing the recording. The pool holds at most as many recordings as runs are made at a time.
#[derive(Default)]
pub(crate) struct BufferPool(Mutex<Vec<Recording>>);

impl BufferPool {
    /// Takes an empty recording.
    pub(crate) fn take(&self) -> Recording {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Puts a recording that is no longer needed into the pool.
    pub(crate) fn give(&self, recording: Recording) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(recording.emptied());
    }
}
