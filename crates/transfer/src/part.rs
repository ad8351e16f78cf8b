//! A file that is being received. It has a hidden name until it is whole.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::TransferError;
use crate::hash::{Hash, Wait};

/// Bytes that are written until the disk has to have them. The peer waits at the end until it has all: without this for as long as the
/// disk takes for what the memory held.
const UNSYNCED: u64 = 64 << 20;

/// A file that is being received: `.NAME.part` beside its target, locked for as long as a process writes it. The part stays
/// when a transfer fails, and the next one begins where it ends. A part without a byte is removed.
pub(crate) struct Part {
    folder: OwnedFd,
    /// The names of the part and of the whole file in the folder.
    name: String,
    target: String,
    /// The path of the whole file, for messages.
    shown: PathBuf,
    file: File,
    hash: Hash,
    length: u64,
    /// Bytes that were written and may be in memory alone.
    unsynced: u64,
    /// Whether the file may take the place of another.
    replaces: bool,
    /// Whether the part has its target's name, or is gone.
    is_over: bool,
}

impl Part {
    /// Takes up or begins the part of the file `target` in `folder`. Who waits for it hears `wait` while what is there is read.
    pub(crate) fn open(
        folder: OwnedFd,
        target: &str,
        shown: &Path,
        replaces: bool,
        wait: Wait<'_>,
    ) -> Result<Self, TransferError> {
        let at = |error: Errno| TransferError::at(shown)(error.into());
        match rustix::fs::statat(&folder, target, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if !rustix::fs::FileType::from_raw_mode(found.st_mode).is_file() => {
                let error =
                    io::Error::new(io::ErrorKind::AlreadyExists, "there is something that is no file");
                return Err(TransferError::at(shown)(error));
            }
            Ok(_) if !replaces => return Err(TransferError::Exists(shown.to_path_buf())),
            Ok(_) | Err(Errno::NOENT) => {}
            Err(error) => return Err(at(error)),
        }
        let name = format!(".{target}.part");
        // A pipe would hang the open, a link lead elsewhere.
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o666);
        let file = File::from(rustix::fs::openat(&folder, name.as_str(), flags, mode).map_err(at)?);
        if !file.metadata().map_err(TransferError::at(shown))?.is_file() {
            let error = io::Error::new(io::ErrorKind::AlreadyExists, format!("its part {name} is no file"));
            return Err(TransferError::at(shown)(error));
        }
        let busy = || TransferError::Busy(shown.to_path_buf());
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| busy())?;
        // Whoever had the lock before may have given the part its name, or removed it.
        if !is_named(&folder, &name, &file) {
            return Err(busy());
        }
        let mut part = Self {
            folder,
            name,
            target: target.to_owned(),
            shown: shown.to_path_buf(),
            file,
            hash: Hash::default(),
            length: 0,
            unsynced: 0,
            replaces,
            is_over: false,
        };
        part.length = part.hash.read((&mut part.file, shown), u64::MAX, wait)?;
        Ok(part)
    }

    /// Bytes that are there.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Their SHA-256.
    pub(crate) fn hash(&self) -> String {
        self.hash.text()
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) -> Result<(), TransferError> {
        let cleared = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        cleared.map_err(TransferError::at(&self.shown))?;
        (self.hash, self.length) = (Hash::default(), 0);
        Ok(())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        self.file.write_all(bytes).map_err(TransferError::at(&self.shown))?;
        self.hash.take(bytes);
        self.length += bytes.len() as u64;
        self.unsynced += bytes.len() as u64;
        if self.unsynced >= UNSYNCED {
            self.file.sync_data().map_err(TransferError::at(&self.shown))?;
            self.unsynced = 0;
        }
        Ok(())
    }

    /// Gives the whole file its name.
    pub(crate) fn commit(mut self) -> Result<(), TransferError> {
        self.file.sync_all().map_err(TransferError::at(&self.shown))?;
        let (folder, part, target) = (self.folder.as_fd(), self.name.as_str(), self.target.as_str());
        let named = if self.replaces {
            rustix::fs::renameat(folder, part, folder, target)
        } else {
            match rustix::fs::renameat_with(folder, part, folder, target, RenameFlags::NOREPLACE) {
                // A file system that cannot rename without replacing: a link never replaces.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    rustix::fs::linkat(folder, part, folder, target, AtFlags::empty())
                        .and_then(|()| rustix::fs::unlinkat(folder, part, AtFlags::empty()))
                }
                done => done,
            }
        };
        named.map_err(|error| match error {
            Errno::EXIST => TransferError::Exists(self.shown.clone()),
            error => TransferError::at(&self.shown)(error.into()),
        })?;
        self.is_over = true;
        // The name is as lasting as the bytes. Where a folder cannot be written through, the system does it later.
        if let Ok(folder) = rustix::fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
        {
            let _ = rustix::fs::fsync(folder);
        }
        Ok(())
    }

    /// Removes it.
    pub(crate) fn discard(mut self) {
        self.remove();
    }

    fn remove(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            // A part that cannot be removed is left.
            let _ = rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.length == 0 {
            self.remove();
        }
    }
}

/// Whether the name is that of the open file.
fn is_named(folder: &OwnedFd, name: &str, file: &File) -> bool {
    let named = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let open = rustix::fs::fstat(file);
    matches!((named, open), (Ok(named), Ok(open)) if (named.st_dev, named.st_ino) == (open.st_dev, open.st_ino))
}
