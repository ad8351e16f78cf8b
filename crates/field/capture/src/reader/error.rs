//! Errors of reading a capture, and a file that ends too early.

use std::io;

use thiserror::Error;

/// The reason why a file cannot be read, or not to its end.
#[derive(Debug, Error)]
pub enum ReadError {
    /// An I/O error.
    #[error("byte {at}: {source}")]
    Io {
        /// Number of bytes read so far.
        at: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The file violates its format.
    #[error("byte {at}: {what}")]
    Format {
        /// Offset of the error in the file.
        at: u64,
        /// Description of the error, with the allowed values.
        what: String,
    },
}

impl ReadError {
    /// Returns the error of a file that violates its format at the offset `at`.
    pub(super) fn format(at: u64, what: impl Into<String>) -> Self {
        Self::Format { at, what: what.into() }
    }
}

/// The file ends inside a frame. All frames before it are complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Offset of the truncated frame in the file.
    pub at: u64,
    /// Number of bytes of the frame that the file has.
    pub found: u64,
    /// Number of bytes that the frame should have.
    pub needed: u64,
}
