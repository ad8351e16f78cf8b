//! A file that is sent to a peer.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use crate::files::error::TransferError;
use crate::files::hash::Hash;
use crate::files::hashes::{Hashes, Seen};
use crate::files::message::Message;
use crate::files::talk::Talk;

/// The number of bytes that are read and written at a time.
pub const CHUNK: usize = 64 << 10;
/// The minimum read size for a peer that accepts few bytes at a time.
const MIN_CHUNK: usize = 4 << 10;

/// A file that was transferred completely.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transferred {
    /// The path below the server's folder.
    pub path: String,
    /// Bytes of the file.
    pub length: u64,
    /// Bytes at the start of the file that the receiver had from an earlier attempt.
    pub resumed: u64,
    /// The SHA-256 of the file, in 64 hexadecimal digits.
    pub sha256: String,
}

/// Called from time to time with the number of the file's bytes that were transferred, and the file's length. If it returns `false`, the
/// transfer ends.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> bool;

/// The part of a file that is still to be transferred.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest {
    pub(crate) from: u64,
    pub(crate) length: u64,
}

/// A file that is sent to a peer. Only the bytes after the peer's part of the file are sent.
pub(crate) struct Outgoing {
    file: File,
    /// The path as the user or the peer named it.
    path: PathBuf,
    length: u64,
    /// The hash of the bytes so far, unless the hash of the file is known. The number of these bytes follows.
    hash: Hash,
    there: u64,
    /// The hash of the file, if it was known before.
    known: Option<String>,
    /// The identity of the file before it was read; `None` if its hash is not to be kept.
    seen: Option<Seen>,
    /// The identity of the file, if its known hash was not that of the bytes that were read.
    wrong: Option<Seen>,
    /// The offset of the first byte to send.
    from: u64,
    /// The number of bytes to read next.
    chunk: usize,
    /// The hash of the file; `None` until all of it is queued.
    whole: Option<String>,
}

impl Outgoing {
    pub(crate) fn new(file: File, path: &Path, length: u64) -> Self {
        let (hash, path) = (Hash::default(), path.to_path_buf());
        Self {
            file,
            path,
            length,
            hash,
            there: 0,
            known: None,
            seen: None,
            wrong: None,
            from: 0,
            chunk: CHUNK,
            whole: None,
        }
    }

    /// Makes an outgoing file of a server, which keeps the hashes of files.
    pub(crate) fn of_server(file: File, path: &Path, hashes: &Hashes) -> Result<Self, TransferError> {
        let about = file.metadata().map_err(TransferError::at(path))?;
        let seen = Seen::settled(&about);
        let known = seen.and_then(|seen| hashes.get(&seen));
        Ok(Self { known, seen, ..Self::new(file, path, about.len()) })
    }

    /// Keeps the hash of the file, after all of it was sent, if it was not known.
    pub(crate) fn keep_hash(&self, hashes: &Hashes) {
        if let (Some(seen), Some(hash), None) = (self.seen, &self.whole, &self.known) {
            hashes.keep(seen, &self.file, hash);
        }
    }

    /// Returns the identity of the file, if its hash was known.
    pub(crate) fn known(&self) -> Option<Seen> {
        self.seen.filter(|_| self.known.is_some())
    }

    /// Returns the identity of the file, once, if its known hash turned out to be wrong.
    pub(crate) fn take_wrong(&mut self) -> Option<Seen> {
        self.wrong.take()
    }

    /// Compares the next piece of the file with the peer's part of `have` bytes, whose SHA-256 is `theirs`. Returns the number of bytes
    /// read; zero once the comparison is complete and [`Outgoing::rest`] is valid.
    pub(crate) fn compare(
        &mut self,
        (have, theirs): (u64, &str),
        room: &mut [u8],
    ) -> Result<u64, TransferError> {
        if self.there == 0 && have == self.length && self.known.as_deref() == Some(theirs) {
            (self.there, self.from) = (have, have);
            return Ok(0);
        }
        let left = if have <= self.length { have - self.there } else { 0 };
        let read = self.hash.read(&mut self.file, left, room).map_err(TransferError::at(&self.path))?;
        self.there += read;
        if read == 0 {
            let hash = self.hash.text();
            if self.there == self.length && self.known.as_ref().is_some_and(|known| *known != hash) {
                (self.known, self.wrong) = (None, self.seen.take());
            }
            if self.there != have || hash != theirs {
                (self.hash, self.there) = (Hash::default(), 0);
            }
        }
        self.from = self.there;
        Ok(read)
    }

    /// Returns the bytes that are still to be transferred.
    pub(crate) fn rest(&self) -> Rest {
        Rest { from: self.from, length: self.length }
    }

    /// Returns the number of bytes that the peer has or was sent.
    pub(crate) fn there(&self) -> u64 {
        self.there
    }

    /// Sends the queued lines and then the next bytes, and after the last bytes the final line. Returns the file's hash once all of it is
    /// written.
    pub(crate) fn send(
        &mut self,
        talk: &mut Talk,
        peer: &mut impl Write,
        room: &mut [u8],
    ) -> Result<Option<String>, TransferError> {
        if self.whole.is_some() {
            talk.flush(peer)?;
            return Ok(self.whole.clone());
        }
        let wanted = usize::try_from(self.length - self.there).unwrap_or(usize::MAX).min(self.chunk);
        let room = room.get_mut(..wanted).unwrap_or_default();
        let read = self.file.read_at(room, self.there).map_err(TransferError::at(&self.path))?;
        if read == 0 && wanted > 0 {
            let Self { path, there, length, .. } = self;
            return Err(TransferError::Changed { path: path.clone(), there: *there, length: *length });
        }
        let bytes = room.get(..read).unwrap_or_default();
        let whole = (self.there + read as u64 == self.length).then(|| {
            self.known.clone().unwrap_or_else(|| {
                let mut hash = self.hash.clone();
                hash.take(bytes);
                hash.text()
            })
        });
        let end = whole.as_ref().map(|hash| Message::End { hash: hash.clone() });
        let written = talk.write_with(peer, bytes, end.as_ref())?;
        if self.known.is_none() {
            self.hash.take(bytes.get(..written).unwrap_or_default());
        }
        self.there += written as u64;
        self.chunk = (2 * written).clamp(MIN_CHUNK, CHUNK);
        if written == read {
            self.whole = whole;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program may change a mapped file without changing its times. A client that has all of the file then reveals it.
    #[test]
    fn a_known_hash_that_a_whole_comparison_contradicts_is_wrong() {
        let path = std::env::temp_dir().join(format!("firstflight-copy-{}", std::process::id()));
        std::fs::write(&path, "abc").unwrap();
        let mut hash = Hash::default();
        hash.take(b"abc");
        for (theirs, is_wrong) in [(hash.text(), true), ("0".repeat(64), true), ("1".repeat(64), false)] {
            let known = if is_wrong { "1".repeat(64) } else { hash.text() };
            let file = File::open(&path).unwrap();
            let seen = Seen::of(&file.metadata().unwrap());
            let mut file = Outgoing { known: Some(known), seen: Some(seen), ..Outgoing::new(file, &path, 3) };
            while file.compare((3, &theirs), &mut [0; 8]).unwrap() > 0 {}
            assert_eq!(file.take_wrong(), is_wrong.then_some(seen));
            assert_eq!(file.known.is_none(), is_wrong);
            assert_eq!(file.rest().from, if theirs == hash.text() { 3 } else { 0 });
        }
        std::fs::remove_file(&path).unwrap();
    }
}
