//! The reasons why a transfer failed.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a transfer failed, in one line.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The system reported an error for a file of this host.
    #[error("{}: {source}", path.display())]
    File {
        /// The path as the user named it.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path names something that is not a regular file.
    #[error("{} is {kind}; only regular files are transferred", path.display())]
    Kind {
        /// The path as the user named it.
        path: PathBuf,
        /// What it is, with its article.
        kind: &'static str,
    },
    /// The file exists already, and the user did not allow its replacement.
    #[error("{} exists; --force replaces it", .0.display())]
    Exists(PathBuf),
    /// Another process writes the same file.
    #[error("{} is being received by another process", .0.display())]
    Busy(PathBuf),
    /// A path that does not name a file below the folder.
    #[error(
        "`{0}` is no path of a file below the folder: names joined by `/`, without `.`, `..`, symbolic links and control characters"
    )]
    Path(String),
    /// The path of a file to create has too many names.
    #[error("`{path}` has more than {most} names joined by `/`; the path of a new file may have {most}")]
    Deep {
        /// The beginning of the path.
        path: String,
        /// The maximum number of names.
        most: usize,
    },
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(io::Error),
    /// The peer ended the connection before the end of the file.
    #[error(
        "the peer ended after {there} of {length} bytes; what came is kept, and the next try resumes there"
    )]
    Truncated {
        /// The number of bytes of the file that arrived or were present.
        there: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// The peer ended the connection without an answer.
    #[error("the peer ended without an answer")]
    Silent,
    /// The peer sent a line that the protocol does not allow at this point.
    #[error("the peer said `{0}`, where {1} was expected")]
    Protocol(String, &'static str),
    /// The peer refused, with its reason.
    #[error("refused by the peer: {0}")]
    Refused(String),
    /// The received bytes differ from the sender's.
    #[error("the SHA-256 of the {length} bytes that came is not the sender's: nothing of them is kept")]
    Damaged {
        /// Bytes of the file.
        length: u64,
    },
    /// Bytes that were written as they arrived differ from the sender's.
    #[error("the SHA-256 of the {length} bytes written to {} is not the sender's: they are wrong", path.display())]
    WrittenDamaged {
        /// The name of the output.
        path: PathBuf,
        /// Bytes of the file.
        length: u64,
    },
    /// The peer ended the connection before the end of a file that was written as it arrived.
    #[error("the peer ended after {there} of {length} bytes; {} has only these", path.display())]
    WrittenTruncated {
        /// The name of the output.
        path: PathBuf,
        /// The number of bytes of the file that arrived.
        there: u64,
        /// Bytes of the file.
        length: u64,
    },
    /// The file changed while it was sent.
    #[error("{} changed while it was sent: {there} of {length} bytes were there", path.display())]
    Changed {
        /// The path as the user named it.
        path: PathBuf,
        /// The number of bytes that could be read.
        there: u64,
        /// The number of bytes that were announced to the peer.
        length: u64,
    },
    /// The receiver's part of the file has changed since the sender queried its length.
    #[error(
        "the part there has {have} bytes and the rest begins at {from}: another process wrote it in between"
    )]
    Elsewhere {
        /// Bytes of the part.
        have: u64,
        /// The offset at which the rest begins.
        from: u64,
    },
    /// The file would exceed the disk space for the peer's address, or for all peers.
    #[error("the receiver has no more room for peers of this address; its --disk gives more")]
    Quota,
    /// The existing part of the file was sent from another address.
    #[error("{} is being received from another address, and what came of it is kept for that one", .0.display())]
    OfAnother(PathBuf),
    /// The server listed more files and folders than the client accepts.
    #[error("the server listed more than {most} files and folders; fewer are taken at a time")]
    TooMany {
        /// The maximum number.
        most: usize,
    },
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl TransferError {
    /// Returns whether a file or folder of this host does not exist.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Wraps an error of the system with the path of the file.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        |source| Self::File { path, source }
    }
}
