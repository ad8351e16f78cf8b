//! The client that sends a file.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::files::copy::{CHUNK, Outgoing, Progress, Rest, Transferred};
use crate::files::error::TransferError;
use crate::files::folder::kind_of;
use crate::files::message::Message;
use crate::files::talk::Talk;

/// Sends the file at `source` as `path` below the server's folder. The first connection queries the server's part from an earlier attempt.
/// If that part is the start of the file, the second connection sends the rest, and otherwise the whole file. With two connections, the one
/// that sends data starts with it and does not have to wait for an answer. The transfer is complete when the server confirms that the file
/// has its name. The streams must be blocking.
///
/// # Errors
/// The first error.
pub fn put<S: Read + Write>(
    mut connect: impl FnMut() -> Result<S, TransferError>,
    source: &Path,
    path: &str,
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let (file, length) = open(source)?;
    let (mut file, mut room) = (Outgoing::new(file, source, length), vec![0; CHUNK]);
    let (have, hash) = ask(&mut connect()?, path, length)?;
    while file.compare((have, &hash), &mut room)? > 0 {}
    let (mut peer, mut talk) = (connect()?, Talk::default());
    let Rest { from, .. } = file.rest();
    talk.say(&Message::Put { path: path.to_owned(), length, from });
    let sha256 = loop {
        if !progress(file.there(), length) {
            return Err(TransferError::Interrupted);
        }
        match file.send(&mut talk, &mut peer, &mut room) {
            Ok(None) => {}
            Ok(Some(sha256)) => break sha256,
            // The server may have sent the reason before it closed the connection.
            Err(error @ TransferError::Connection(_)) => {
                return Err(match talk.read_message(&mut peer) {
                    Ok(Some(no @ Message::No { .. })) => no.instead_of("DONE"),
                    _ => error,
                });
            }
            Err(error) => return Err(error),
        }
    };
    match talk.read_message(&mut peer)? {
        Some(Message::Done { hash }) if hash == sha256 => {
            Ok(Transferred { path: path.to_owned(), length, resumed: from, sha256 })
        }
        Some(other) => Err(other.instead_of("DONE")),
        None => Err(TransferError::Silent),
    }
}

/// Queries the server's part of a file. Returns the number of its bytes and their hash.
fn ask<S: Read + Write>(peer: &mut S, path: &str, length: u64) -> Result<(u64, String), TransferError> {
    let mut talk = Talk::default();
    talk.say(&Message::Ask { path: path.to_owned(), length });
    talk.flush(peer)?;
    match talk.read_message(peer)? {
        Some(Message::Have { have, hash }) => Ok((have, hash)),
        Some(other) => Err(other.instead_of("HAVE")),
        None => Err(TransferError::Silent),
    }
}

/// Opens a file for reading. Returns it with its length.
fn open(path: &Path) -> Result<(File, u64), TransferError> {
    let at = || TransferError::at(path);
    // Opening a pipe would block.
    let found = std::fs::metadata(path).map_err(at())?;
    if !found.is_file() {
        return Err(TransferError::Kind { path: path.to_path_buf(), kind: kind_of(found.mode()) });
    }
    let file = File::open(path).map_err(at())?;
    let length = file.metadata().map_err(at())?.len();
    Ok((file, length))
}
