//! The server: one request of one connection.

use std::io::{Read, Write};

use crate::copy::{Progress, Rest, receive_rest, send_rest};
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

/// A file that got across.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Served {
    /// The path below the folder.
    pub path: String,
    /// Bytes of the file.
    pub length: u64,
    /// Of them those that the receiver had before.
    pub resumed: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// Bytes of a file that cannot be kept that are still read, so that its sender hears why.
const DRAINED: u64 = 64 << 20;

/// Answers the request of one connection. A client that ends without a request is `None`.
///
/// # Errors
/// The first thing that went wrong. The client was told, if it could be.
pub fn serve<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    way: Way,
    progress: Progress<'_>,
) -> Result<Option<Served>, TransferError> {
    let served = match (Message::read(peer), way) {
        (Ok(None), _) => return Ok(None),
        (Ok(Some(Message::Get { path, have, hash })), Way::Send) => {
            send(peer, folder, &path, (have, &hash), progress)
        }
        (Ok(Some(Message::Put { path, length })), Way::Receive { replaces }) => {
            receive(peer, folder, &path, length, replaces, progress)
        }
        (Ok(Some(other)), Way::Send) => Err(other.instead_of("GET: this server sends files and takes none")),
        (Ok(Some(other)), Way::Receive { .. }) => {
            Err(other.instead_of("PUT: this server takes files and sends none"))
        }
        (Err(error), _) => Err(error),
    };
    if let Err(error) = &served
        && !matches!(error, TransferError::Connection(_) | TransferError::Truncated { .. })
    {
        // A peer that is gone is not told.
        let _ = Message::No { why: error.to_string() }.write(peer);
    }
    served.map(Some)
}

fn send<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    path: &str,
    (have, theirs): (u64, &str),
    progress: Progress<'_>,
) -> Result<Served, TransferError> {
    let mut file = folder.file(path)?;
    let shown = std::path::Path::new(path);
    let length = file.metadata().map_err(TransferError::at(shown))?.len();
    let (from, mut hash) = common_start(&mut file, shown, length, have, theirs)?;
    Message::Data { length, from }.write(peer)?;
    if let Err(error) = send_rest(&mut file, (shown, Rest { from, length }), &mut hash, peer, progress) {
        // The client counts bytes: whatever was said now would be taken for some of them.
        return Err(match error {
            TransferError::Connection(error) => TransferError::Connection(error),
            other => TransferError::Connection(std::io::Error::other(other.to_string())),
        });
    }
    let sha256 = hash.text();
    Message::End { hash: sha256.clone() }.write(peer)?;
    match Message::read(peer)? {
        Some(Message::Done { hash }) if hash == sha256 => {}
        Some(other) => return Err(other.instead_of("DONE")),
        None => return Err(TransferError::Silent),
    }
    Ok(Served { path: path.to_owned(), length, resumed: from, sha256 })
}

fn receive<S: Read + Write>(
    peer: &mut S,
    folder: &Folder,
    path: &str,
    length: u64,
    replaces: bool,
    progress: Progress<'_>,
) -> Result<Served, TransferError> {
    let (place, name) = folder.place(path)?;
    let mut part = Part::open(place, name, std::path::Path::new(path), replaces)?;
    if part.length() > length {
        part.clear()?;
    }
    Message::Have { have: part.length(), hash: part.hash() }.write(peer)?;
    let from = match Message::read(peer)? {
        Some(Message::Data { length: said, from })
            if said == length && (from == part.length() || from == 0) =>
        {
            from
        }
        Some(other) => return Err(other.instead_of("DATA")),
        None => return Err(TransferError::Silent),
    };
    if from != part.length() {
        part.clear()?;
    }
    if let Err(error) = receive_rest(peer, &mut part, length, progress) {
        if matches!(error, TransferError::File { .. }) {
            // The rest and the last line.
            let left = (length - part.length()).saturating_add(80).min(DRAINED);
            let _ = std::io::copy(&mut peer.take(left), &mut std::io::sink());
        }
        return Err(error);
    }
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
    Ok(Served { path: path.to_owned(), length, resumed: from, sha256 })
}
