//! The contents of a folder of the server: the server's lines, and the client that reads them.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType};

use crate::files::error::TransferError;
use crate::files::folder::{Folder, check};
use crate::files::message::Message;
use crate::files::talk::Talk;

/// The maximum number of entries that the server reads in a step.
const ENTRIES: usize = 256;
/// The maximum number of entries of a folder that the client accepts.
const MOST: usize = 100_000;

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
    /// that are not UTF-8, and what is neither a regular file nor a folder.
    pub(crate) fn say_next(&mut self, talk: &mut Talk) -> Result<bool, TransferError> {
        for _ in 0..ENTRIES {
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
                _ if check(&name).is_err() => {}
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

/// Fetches the contents of a folder of the server, by name; of the served folder itself if there is no path. The stream must be blocking.
///
/// # Errors
/// The first error. A listing that does not arrive completely is an error, and so is one of more than 100,000 entries.
pub fn list<S: Read + Write>(
    connect: impl FnOnce() -> Result<S, TransferError>,
    path: Option<&str>,
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
        check(&name)?;
        if name.contains('/') {
            return Err(TransferError::Path(name));
        }
        if entries.len() >= MOST {
            return Err(TransferError::TooMany { most: MOST });
        }
        entries.insert(name, entry);
    }
}
