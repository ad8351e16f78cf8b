//! Why a file did not get across.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file did not get across, in one line.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A file of this host's, and the system's error.
    #[error("{}: {source}", path.display())]
    File {
        /// The path as the user named it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is a file already, and the user did not ask to replace it.
    #[error("{} exists; --force replaces it", .0.display())]
    Exists(PathBuf),
    /// Another process writes the same file.
    #[error("{} is being received by another process", .0.display())]
    Busy(PathBuf),
    /// A name that is no file below the folder.
    #[error(
        "`{0}` is no path of a file below the folder: names joined by `/`, without `.`, `..` and symbolic links"
    )]
    Path(String),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(io::Error),
    /// The peer ended before the file did.
    #[error(
        "the peer ended after {there} of {length} bytes; what came is kept, and the next try resumes there"
    )]
    Truncated {
        /// Bytes of the file that are here.
        there: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// The peer ended without an answer.
    #[error("the peer ended without an answer")]
    Silent,
    /// The peer said something else than the protocol has.
    #[error("the peer said `{0}`, where {1} was expected")]
    Protocol(String, &'static str),
    /// The peer refused, with its reason.
    #[error("refused by the peer: {0}")]
    Refused(String),
    /// The bytes are not those that were sent.
    #[error("the SHA-256 of the {length} bytes that came is not the sender's: nothing of them is kept")]
    Damaged {
        /// Bytes of the file.
        length: u64,
    },
    /// The file changed while it was sent.
    #[error("{} changed while it was sent: {there} of {length} bytes were there", path.display())]
    Changed {
        /// The path as the user named it.
        path: PathBuf,
        /// Bytes that could be read.
        there: u64,
        /// Bytes that had been promised.
        length: u64,
    },
    /// The part at the receiver is not what it was when its sender asked.
    #[error(
        "the part there has {have} bytes and the rest begins at {from}: another process wrote it in between"
    )]
    Elsewhere {
        /// Bytes of the part.
        have: u64,
        /// Where the rest begins.
        from: u64,
    },
    /// An error that the peer was told already.
    #[error(transparent)]
    Told(Box<TransferError>),
    /// The user interrupted.
    #[error("interrupted; what came is kept, and the next try resumes there")]
    Interrupted,
}

impl TransferError {
    /// An error of the system's at a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        |source| Self::File { path, source }
    }
}
