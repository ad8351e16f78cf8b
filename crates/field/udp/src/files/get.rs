//! The client that fetches a file.

use std::io::{Read, Write};
use std::path::Path;

use crate::files::copy::{CHUNK, Progress, Transferred};
use crate::files::error::TransferError;
use crate::files::folder::Folder;
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
    talk.say(&Message::Get { path: path.to_owned(), have: part.length(), hash: part.hash() });
    talk.flush(&mut peer)?;
    let (length, from) = match talk.read_message(&mut peer)? {
        Some(Message::Data { length, from }) if from <= length && (from == part.length() || from == 0) => {
            (length, from)
        }
        Some(other) => return Err(other.instead_of("DATA")),
        None => return Err(TransferError::Silent),
    };
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
