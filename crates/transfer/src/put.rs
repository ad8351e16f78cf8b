//! The client that has a file.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use crate::copy::{Progress, Rest, Transferred, send_rest};
use crate::error::TransferError;
use crate::hash::{Hash, Wait};
use crate::message::Message;

/// Sends the file at `source` as `path` below the server's folder. A first connection asks what the server has of an earlier try; if
/// that is the start of the file, a second one brings the rest, and otherwise all. So the connection with the file has nothing to wait
/// for: it begins with data. The file is sent when the server says that it is there under its name.
///
/// # Errors
/// The first thing that went wrong.
pub fn put<S: Read + Write>(
    mut connect: impl FnMut() -> Result<S, TransferError>,
    source: &Path,
    path: &str,
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let (mut file, length) = open(source)?;
    let (from, mut hash) = {
        let mut peer = connect()?;
        Message::Ask { path: path.to_owned(), length }.write(&mut peer)?;
        match Message::read(&mut peer)? {
            Some(Message::Have { have, hash }) => {
                common_start((&mut file, source), length, (have, &hash), &mut || Ok(()))?
            }
            Some(other) => return Err(other.instead_of("HAVE")),
            None => return Err(TransferError::Silent),
        }
    };
    let mut peer = connect()?;
    let put = Message::Put { path: path.to_owned(), length, from };
    let rest = (source, Rest { from, length });
    let sha256 = match send_rest(&mut file, rest, (&put, &mut hash), &mut peer, progress) {
        Ok(sha256) => sha256,
        // The server may have said why before it left.
        Err(error) => {
            return Err(match (&error, Message::read(&mut peer)) {
                (TransferError::Connection(_), Ok(Some(no @ Message::No { .. }))) => no.instead_of("DONE"),
                _ => error,
            });
        }
    };
    match Message::read(&mut peer)? {
        Some(Message::Done { hash }) if hash == sha256 => {
            Ok(Transferred { path: path.to_owned(), length, resumed: from, sha256 })
        }
        Some(other) => Err(other.instead_of("DONE")),
        None => Err(TransferError::Silent),
    }
}

/// A file to be read, and its length.
fn open(path: &Path) -> Result<(File, u64), TransferError> {
    let at = || TransferError::at(path);
    // A pipe would hang the open.
    let found = std::fs::metadata(path).map_err(at())?;
    if !found.is_file() {
        return Err(at()(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")));
    }
    let file = File::open(path).map_err(at())?;
    let length = file.metadata().map_err(at())?.len();
    Ok((file, length))
}

/// From where on a file is to be sent to a peer that has `have` bytes with the SHA-256 `theirs`, and the hash of what is before.
/// The file is then read up to there.
pub(crate) fn common_start(
    (file, path): (&mut File, &Path),
    length: u64,
    (have, theirs): (u64, &str),
    wait: Wait<'_>,
) -> Result<(u64, Hash), TransferError> {
    use std::io::Seek as _;
    if have > 0 && have <= length {
        let mut hash = Hash::default();
        let there = hash.read((file, path), have, wait)?;
        if there == have && hash.text() == theirs {
            return Ok((have, hash));
        }
        file.rewind().map_err(TransferError::at(path))?;
    }
    Ok((0, Hash::default()))
}
