//! Room to record in, used again.

use std::sync::{Mutex, PoisonError};

use firstflight_measure::Recording;

/// Recordings that nobody reads any more. The next runs are written in their room: new pages from the kernel cost
/// more than the writing. There are never more than runs at a time.
#[derive(Default)]
pub(crate) struct BufferPool(Mutex<Vec<Recording>>);

impl BufferPool {
    /// An empty recording.
    pub(crate) fn take(&self) -> Recording {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// The recording is done with.
    pub(crate) fn give(&self, recording: Recording) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(recording.emptied());
    }
}
