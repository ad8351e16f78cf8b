//! Adds the name of the file to an error.

use std::io;
use std::path::Path;

/// Returns an error of writing a file, with the file's name added to its message.
pub(super) fn naming(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()))
}
