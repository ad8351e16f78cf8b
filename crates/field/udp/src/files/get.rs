//! The client that fetches a file.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use crate::files::copy::{CHUNK, Progress, Rest, Transferred};
use crate::files::error::TransferError;
use crate::files::folder::Folder;
use crate::files::hash::Hash;
use crate::files::incoming::Incoming;
use crate::files::message::Message;
use crate::files::part::Part;
use crate::files::talk::Talk;

/// Fetches the file `path` of the server's folder as `target`. The target appears whole or not at all. If the part from an earlier attempt
/// is the start of the server's file, this part is not transferred again. `replaces` is whether an existing file may be replaced. The
/// stream must be blocking.
///
/// # Errors
/// The first error. The target is then unchanged.
pub fn get<S: Read + Write>(
    connect: impl FnOnce() -> Result<S, TransferError>,
    path: &str,
    target: &Path,
    replaces: bool,
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let no_name = || TransferError::Path(target.display().to_string());
    let name = target.file_name().and_then(|name| name.to_str()).ok_or_else(no_name)?;
    let beside = target.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = Part::open(Folder::open(beside)?.own(), name, target, replaces)?;
    let mut room = vec![0; CHUNK];
    while part.read_on(&mut room)? > 0 {}
    // The connection is opened only now. If the target cannot be written, the server has no work.
    let (mut peer, mut talk) = (connect()?, Talk::default());
    let Rest { from, length } = request(&mut peer, &mut talk, path, (part.length(), part.hash()))?;
    if from != part.length() {
        part.clear()?;
    }
    let mut file = Incoming::of(part, length);
    let sha256 = loop {
        if !progress(file.there(), length) {
            return Err(TransferError::Interrupted);
        }
        if let Some(sha256) = file.receive(&mut talk, &mut peer, &mut room)? {
            break sha256;
        }
    };
    // The file is in place even if the server does not receive this line.
    talk.say(&Message::Done { hash: sha256.clone() });
    let _ = talk.flush(&mut peer);
    Ok(Transferred { path: path.to_owned(), length, resumed: from, sha256 })
}

/// Fetches the file `path` of the server's folder and writes its bytes to `to` as they arrive. The hash of the file is verified after the last
/// byte. The stream must be blocking.
///
/// # Errors
/// The first error, also if the bytes that were written are not those of the server. `shown` is the name of `to` in messages.
pub fn get_into<S: Read + Write>(
    connect: impl FnOnce() -> Result<S, TransferError>,
    path: &str,
    (to, shown): (&mut impl Write, &Path),
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let (mut peer, mut talk, mut hash) = (connect()?, Talk::default(), Hash::default());
    let Rest { length, .. } = request(&mut peer, &mut talk, path, (0, hash.text()))?;
    let truncated = |there| TransferError::WrittenTruncated { path: shown.to_path_buf(), there, length };
    let (mut room, mut there) = (vec![0; CHUNK], 0);
    while there < length {
        if !progress(there, length) {
            return Err(TransferError::Interrupted);
        }
        let wanted = usize::try_from(length - there).unwrap_or(usize::MAX).min(room.len());
        let read = talk.read(&mut peer, room.get_mut(..wanted).unwrap_or_default())?;
        if read == 0 {
            return Err(truncated(there));
        }
        let bytes = room.get(..read).unwrap_or_default();
        hash.take(bytes);
        to.write_all(bytes).map_err(TransferError::at(shown))?;
        there += read as u64;
    }
    to.flush().map_err(TransferError::at(shown))?;
    let sha256 = hash.text();
    match talk.read_message(&mut peer)? {
        Some(Message::End { hash }) if hash == sha256 => {}
        Some(Message::End { .. }) => {
            return Err(TransferError::WrittenDamaged { path: shown.to_path_buf(), length });
        }
        Some(other) => return Err(other.instead_of("END")),
        None => return Err(truncated(there)),
    }
    talk.say(&Message::Done { hash: sha256.clone() });
    let _ = talk.flush(&mut peer);
    Ok(Transferred { path: path.to_owned(), length, resumed: 0, sha256 })
}

/// Compares the file `target` with the file `path` of the server's folder, without transferring its bytes if both are equal. The stream
/// must be blocking.
///
/// # Errors
/// [`TransferError::Exists`] if they differ, or any other error. The target is unchanged.
pub fn compare<S: Read + Write>(
    connect: impl FnOnce() -> Result<S, TransferError>,
    path: &str,
    target: &Path,
    progress: Progress<'_>,
) -> Result<Transferred, TransferError> {
    let mut file = File::open(target).map_err(TransferError::at(target))?;
    let (mut hash, mut room, mut have) = (Hash::default(), vec![0; CHUNK], 0);
    loop {
        let read = hash.read(&mut file, u64::MAX, &mut room).map_err(TransferError::at(target))?;
        have += read;
        if !progress(have, have) {
            return Err(TransferError::Interrupted);
        }
        if read == 0 {
            break;
        }
    }
    let (mut peer, mut talk, sha256) = (connect()?, Talk::default(), hash.text());
    let Rest { from, length } = request(&mut peer, &mut talk, path, (have, sha256.clone()))?;
    if from != length || length != have {
        return Err(TransferError::Exists(target.to_path_buf()));
    }
    match talk.read_message(&mut peer)? {
        Some(Message::End { hash }) if hash == sha256 => {}
        Some(other) => return Err(other.instead_of("END")),
        None => return Err(TransferError::Silent),
    }
    talk.say(&Message::Done { hash: sha256.clone() });
    let _ = talk.flush(&mut peer);
    Ok(Transferred { path: path.to_owned(), length, resumed: length, sha256 })
}

/// Requests a file of which the client has the first `have` bytes, with this hash. Returns the bytes that follow.
fn request<S: Read + Write>(
    peer: &mut S,
    talk: &mut Talk,
    path: &str,
    (have, hash): (u64, String),
) -> Result<Rest, TransferError> {
    talk.say(&Message::Get { path: path.to_owned(), have, hash });
    talk.flush(peer)?;
    match talk.read_message(peer)? {
        Some(Message::Data { length, from }) if from <= length && (from == have || from == 0) => {
            Ok(Rest { from, length })
        }
        Some(other) => Err(other.instead_of("DATA")),
        None => Err(TransferError::Silent),
    }
}
