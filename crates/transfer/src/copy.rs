//! Bytes from a file to a peer and back.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;

use crate::error::TransferError;
use crate::hash::{CHUNK, Hash};
use crate::message::Message;
use crate::part::Part;

/// A file that got across.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transferred {
    /// The path below the server's folder.
    pub path: String,
    /// Bytes of the file.
    pub length: u64,
    /// Bytes at the start of the file that the receiver had from an earlier try.
    pub resumed: u64,
    /// The SHA-256 of the file, in 64 hexadecimal digits.
    pub sha256: String,
}

/// Told of the bytes of the file that are across and of all there are, now and then; `false` ends the transfer.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// Which bytes of a file are still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    pub(crate) from: u64,
    pub(crate) length: u64,
}

/// Sends the line before the bytes, the rest of a file, whose bytes before `hash` has already, and the line behind them. Returns the
/// file's hash.
///
/// The lines are written together with bytes. A line of its own would be a short segment in the first window, by which the rounds of
/// a start-up end elsewhere than those of whole segments.
pub(crate) fn send_rest(
    file: &mut File,
    (path, rest): (&Path, Rest),
    (before, hash): (&Message, &mut Hash),
    to: &mut impl Write,
    progress: Progress<'_>,
) -> Result<String, TransferError> {
    let Rest { from, length } = rest;
    let mut chunk = vec![0; CHUNK];
    let mut unwritten = before.line().into_bytes();
    let mut there = from;
    loop {
        if there < length {
            if !progress(there, length) {
                return Err(TransferError::Interrupted);
            }
            let wanted = usize::try_from(length - there).map_or(CHUNK, |left| left.min(CHUNK));
            let room = chunk.get_mut(..wanted).unwrap_or_default();
            let read = retry(|| file.read(room)).map_err(TransferError::at(path))?;
            let bytes = room.get(..read).unwrap_or_default();
            if bytes.is_empty() {
                return Err(TransferError::Changed { path: path.to_path_buf(), there, length });
            }
            hash.take(bytes);
            unwritten.extend(bytes);
            there += read as u64;
        }
        let whole = (there >= length).then(|| hash.text());
        if let Some(hash) = &whole {
            unwritten.extend(Message::End { hash: hash.clone() }.line().into_bytes());
        }
        to.write_all(&unwritten).map_err(TransferError::Connection)?;
        unwritten.clear();
        if let Some(hash) = whole {
            to.flush().map_err(TransferError::Connection)?;
            progress(length, length);
            return Ok(hash);
        }
    }
}

/// Receives the rest of a file into its part.
pub(crate) fn receive_rest(
    from: &mut impl Read,
    part: &mut Part,
    length: u64,
    progress: Progress<'_>,
) -> Result<(), TransferError> {
    let mut chunk = vec![0; CHUNK];
    while part.length() < length {
        if !progress(part.length(), length) {
            return Err(TransferError::Interrupted);
        }
        let wanted = usize::try_from(length - part.length()).map_or(CHUNK, |left| left.min(CHUNK));
        let room = chunk.get_mut(..wanted).unwrap_or_default();
        let read = retry(|| from.read(room)).map_err(TransferError::Connection)?;
        if read == 0 {
            return Err(TransferError::Truncated { there: part.length(), length });
        }
        part.write(room.get(..read).unwrap_or_default())?;
    }
    progress(length, length);
    Ok(())
}

fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
