//! The client that wants a file.

use std::io::{Read, Write};
use std::path::Path;

use crate::copy::{Progress, Transferred, receive_rest};
use crate::error::TransferError;
use crate::folder::Folder;
use crate::message::Message;
use crate::part::Part;

/// Fetches the file `path` of the server's folder as `target`, which appears whole or not at all. What came of an earlier try is
/// not sent again, if it is the start of the server's file. `replaces` says whether an existing file may be replaced.
///
/// # Errors
/// The first thing that went wrong. The target is then as it was.
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
    let folder = Folder::open(beside)?.own();
    let mut part = Part::open(folder, name, target, replaces, &mut || Ok(()))?;
    // Only now, so that what cannot be written costs the server nothing.
    let mut peer = connect()?;
    let asked = Message::Get { path: path.to_owned(), have: part.length(), hash: part.hash() };
    asked.write(&mut peer)?;
    let (length, from) = match Message::read(&mut peer)? {
        Some(Message::Data { length, from }) if from <= length && (from == part.length() || from == 0) => {
            (length, from)
        }
        Some(other) => return Err(other.instead_of("DATA")),
        None => return Err(TransferError::Silent),
    };
    if from != part.length() {
        part.clear()?;
    }
    receive_rest(&mut peer, &mut part, length, progress)?;
    let sha256 = part.hash();
    match Message::read(&mut peer)? {
        Some(Message::End { hash }) if hash == sha256 => {}
        Some(Message::End { .. }) => {
            part.discard();
            return Err(TransferError::Damaged { length });
        }
        Some(other) => return Err(other.instead_of("END")),
        None => return Err(TransferError::Truncated { there: part.length(), length }),
    }
    part.commit()?;
    // The file is there, whether the server hears of it or not.
    let _ = Message::Done { hash: sha256.clone() }.write(&mut peer);
    Ok(Transferred { path: path.to_owned(), length, resumed: from, sha256 })
}
