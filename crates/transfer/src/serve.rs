//! The server: one request of one connection.

use std::io::{Read, Write};
use std::path::Path;

use crate::copy::{Progress, Rest, Transferred, receive_rest, send_rest};
use crate::error::TransferError;
use crate::folder::Folder;
use crate::message::Message;
use crate::part::Part;
use crate::put::common_start;

/// What a server does for its clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// It sends the files of its folder.
    Send,
    /// It takes files into its folder; with `replaces` also over existing ones.
    Receive {
        /// Whether an existing file may be replaced.
        replaces: bool,
    },
}

/// Bytes of a file that cannot be kept that are still read, so that its sender hears why.
const DRAINED: u64 = 64 << 20;

/// Answers the request of one connection. `None` if the client ended without a request, or asked what there is of a file.
///
/// # Errors
/// The first thing that went wrong. The client was told, if it could be.
pub fn serve<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    way: Way,
    progress: Progress<'_>,
) -> Result<Option<Transferred>, TransferError> {
    let served = match (Message::read(peer), way) {
        (Ok(None), _) => return Ok(None),
        (Ok(Some(Message::Get { path, have, hash })), Way::Send) => {
            send(peer, folder, &path, (have, &hash), progress)
        }
        (Ok(Some(Message::Ask { path, length })), Way::Receive { replaces }) => {
            match tell(peer, folder, &path, length, replaces) {
                Ok(()) => return Ok(None),
                Err(error) => Err(error),
            }
        }
        (Ok(Some(Message::Put { path, length, from })), Way::Receive { replaces }) => {
            receive(peer, folder, &path, Rest { from, length }, replaces, progress)
        }
        (Ok(Some(other)), Way::Send) => Err(other.instead_of("GET: this server sends files and takes none")),
        (Ok(Some(other)), Way::Receive { .. }) => {
            Err(other.instead_of("ASK or PUT: this server takes files and sends none"))
        }
        (Err(error), _) => Err(error),
    };
    match served {
        Err(TransferError::Told(error)) => Err(*error),
        Err(error) => {
            // A peer that is gone is not told.
            if !matches!(error, TransferError::Connection(_) | TransferError::Truncated { .. }) {
                let _ = Message::No { why: error.to_string() }.write(peer);
            }
            Err(error)
        }
        Ok(served) => Ok(Some(served)),
    }
}

fn send<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    path: &str,
    theirs: (u64, &str),
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let mut file = folder.file(path)?;
    let shown = Path::new(path);
    let length = file.metadata().map_err(TransferError::at(shown))?.len();
    let (from, mut hash) =
        common_start((&mut file, shown), length, theirs, &mut || Message::Wait.write(peer))?;
    let data = Message::Data { length, from };
    let sent = send_rest(&mut file, (shown, Rest { from, length }), (&data, &mut hash), peer, progress);
    // The client counts bytes: whatever was said now would be taken for some of them.
    let sha256 = sent.map_err(|error| match error {
        TransferError::Connection(error) => TransferError::Connection(error),
        other => TransferError::Connection(std::io::Error::other(other.to_string())),
    })?;
    match Message::read(peer)? {
        Some(Message::Done { hash }) if hash == sha256 => {}
        Some(other) => return Err(other.instead_of("DONE")),
        None => return Err(TransferError::Silent),
    }
    Ok(Transferred { path: path.to_owned(), length, resumed: from, sha256 })
}

/// What there is of a file of `length` bytes.
fn tell(
    peer: &mut impl Write,
    folder: &Folder,
    path: &str,
    length: u64,
    replaces: bool,
) -> Result<(), TransferError> {
    let (place, name) = folder.place(path)?;
    let mut part = Part::open(place, name, Path::new(path), replaces, &mut || Message::Wait.write(peer))?;
    if part.length() > length {
        part.clear()?;
    }
    Message::Have { have: part.length(), hash: part.hash() }.write(peer)
}

fn receive<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    path: &str,
    rest: Rest,
    replaces: bool,
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let Rest { from, length } = rest;
    let received = receive_whole(peer, folder, path, rest, replaces, progress);
    let Err(error) = received else {
        return received.map(|sha256| Transferred { path: path.to_owned(), length, resumed: from, sha256 });
    };
    if !matches!(
        error,
        TransferError::Connection(_) | TransferError::Truncated { .. } | TransferError::Damaged { .. }
    ) {
        // The client is sending. What it sends is read and lost, so that it reads the answer.
        Message::No { why: error.to_string() }.write(peer)?;
        let _ = std::io::copy(&mut peer.take(length.min(DRAINED)), &mut std::io::sink());
        return Err(TransferError::Told(Box::new(error)));
    }
    Err(error)
}

fn receive_whole<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    path: &str,
    Rest { from, length }: Rest,
    replaces: bool,
    progress: Progress<'_>,
) -> Result<String, TransferError> {
    let (place, name) = folder.place(path)?;
    let mut part = Part::open(place, name, Path::new(path), replaces, &mut || Message::Wait.write(peer))?;
    if from == 0 && part.length() > 0 {
        part.clear()?;
    }
    if from != part.length() || from > length {
        let have = part.length();
        return Err(TransferError::Elsewhere { have, from });
    }
    receive_rest(peer, &mut part, length, progress)?;
    let sha256 = part.hash();
    match Message::read(peer)? {
        Some(Message::End { hash }) if hash == sha256 => {}
        Some(Message::End { .. }) => {
            part.discard();
            return Err(TransferError::Damaged { length });
        }
        Some(other) => return Err(other.instead_of("END")),
        None => return Err(TransferError::Truncated { there: length, length }),
    }
    part.commit()?;
    Message::Done { hash: sha256.clone() }.write(peer)?;
    Ok(sha256)
}
