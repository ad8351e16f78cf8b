//! The contents of a folder of the server: the server's lines, and the client that reads them.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType};

use crate::files::error::TransferError;
use crate::files::folder::{Folder, check, check_new};
use crate::files::message::Message;
use crate::files::talk::Talk;

/// The maximum number of entries that the server reads in a step.
const ENTRIES: usize = 256;
/// The number of bytes of queued lines after which a step ends.
const QUEUED: usize = 8 << 10;
/// The maximum number of files and folders that a client accepts from a server, in all folders that it fetches together.
pub const MAX_LISTED: usize = 100_000;

/// A folder that is being listed. Only the entries of one step are in memory.
pub(crate) struct Listing {
    folder: OwnedFd,
    entries: Dir,
}

impl Listing {
    /// Opens a folder below `folder`, or `folder` itself without a path.
    pub(crate) fn open(folder: &Folder, path: Option<&str>) -> Result<Self, TransferError> {
        path.map_or(Ok(()), check)?;
        let path = path.unwrap_or(".");
        let folder = folder.folder(path)?;
        let entries = Dir::read_from(&folder).map_err(io::Error::from);
        Ok(Self { folder, entries: entries.map_err(TransferError::at(path.as_ref()))? })
    }

    /// Queues the lines of the next entries. Returns `false` after the last line. Leaves out what cannot be fetched: hidden names, names
    /// that are not UTF-8 or that no client would create, and what is neither a regular file nor a folder.
    pub(crate) fn say_next(&mut self, talk: &mut Talk) -> Result<bool, TransferError> {
        for _ in 0..ENTRIES {
            if talk.queued() >= QUEUED {
                break;
            }
            let Some(entry) = self.entries.next() else {
                talk.say(&Message::Listed);
                return Ok(false);
            };
            let entry = entry.map_err(io::Error::from).map_err(TransferError::at(".".as_ref()))?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let Ok(found) = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
                continue;
            };
            let name = name.to_owned();
            match FileType::from_raw_mode(found.st_mode) {
                _ if check_new(&name).is_err() => {}
                FileType::Directory => talk.say(&Message::Folder { name }),
                FileType::RegularFile => {
                    talk.say(&Message::File { name, length: u64::try_from(found.st_size).unwrap_or(0) });
                }
                _ => {}
            }
        }
        Ok(true)
    }
}

/// The kind of an entry of a folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A folder.
    Folder,
    /// A file with this number of bytes.
    File(u64),
}

/// Fetches the contents of a folder of the server, by name; of the served folder itself if there is no path. `most` is the maximum number
/// of entries to accept, as a part of [`MAX_LISTED`]. The stream must be blocking.
///
/// # Errors
/// The first error. A listing that does not arrive completely is an error, and so is one with more entries, with a name twice, or with a
/// name that [`check_new`] refuses.
pub fn list<S: Read + Write>(
    connect: impl FnOnce() -> Result<S, TransferError>,
    path: Option<&str>,
    most: usize,
) -> Result<BTreeMap<String, Entry>, TransferError> {
    let (mut peer, mut talk) = (connect()?, Talk::default());
    talk.say(&Message::List { path: path.map(str::to_owned) });
    talk.flush(&mut peer)?;
    let mut entries = BTreeMap::new();
    loop {
        let (name, entry) = match talk.read_message(&mut peer)?.ok_or(TransferError::Silent)? {
            Message::Folder { name } => (name, Entry::Folder),
            Message::File { name, length } => (name, Entry::File(length)),
            Message::Listed => return Ok(entries),
            other => return Err(other.instead_of("FILE, FOLDER or LISTED")),
        };
        check_new(&name)?;
        if name.contains('/') {
            return Err(TransferError::Path(name));
        }
        if entries.len() >= most {
            return Err(TransferError::TooMany { most: MAX_LISTED });
        }
        if entries.contains_key(&name) {
            return Err(TransferError::Protocol(format!("{name} twice"), "a name once"));
        }
        entries.insert(name, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_queues_few_bytes_however_long_the_names_are() {
        let place = std::env::temp_dir().join(format!("firstflight-listing-{}", std::process::id()));
        std::fs::create_dir_all(&place).unwrap();
        for number in 0..100 {
            std::fs::write(place.join(format!("{number:03}{}", "\u{e9}".repeat(98))), "").unwrap();
        }
        let folder = Folder::open(&place).unwrap();
        let mut listing = Listing::open(&folder, None).unwrap();
        let (mut lines, mut steps) = (Vec::new(), 0);
        loop {
            let mut talk = Talk::default();
            let has_more = listing.say_next(&mut talk).unwrap();
            assert!(talk.queued() < QUEUED + 700, "{}", talk.queued());
            talk.flush(&mut lines).unwrap();
            steps += 1;
            if !has_more {
                break;
            }
        }
        assert_eq!(lines.split(|byte| *byte == b'\n').count(), 102);
        assert!(steps > 5, "{steps}");
        std::fs::remove_dir_all(&place).unwrap();
    }
}
