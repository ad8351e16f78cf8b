//! Errors with the file's name.

use std::io;
use std::path::Path;

/// An error while a file was written, with the file's name.
pub(super) fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}
