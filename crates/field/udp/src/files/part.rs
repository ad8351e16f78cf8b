//! A file that is being received. It has a hidden name until it is complete.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::files::error::TransferError;
use crate::files::folder::kind_of;
use crate::files::hash::Hash;
use crate::files::quota::Share;

/// The number of bytes after which the file is synced to the disk. At the end the peer waits until all bytes are on the disk. Without this
/// limit, many of them could then still be in memory.
const UNSYNCED: u64 = 64 << 20;

/// A file that is being received. Its name is `.NAME.part` in the folder of the target `NAME`, and it is locked while a process writes it.
/// The part remains if a transfer fails, and the next transfer continues at its end. An empty part is removed.
pub(crate) struct Part {
    folder: OwnedFd,
    /// The name of the part in the folder. The name of the whole file follows.
    name: String,
    target: String,
    /// The path of the whole file, for messages.
    shown: PathBuf,
    file: File,
    hash: Hash,
    length: u64,
    /// The number of written bytes that may be only in memory.
    unsynced: u64,
    /// Whether the file may replace an existing one.
    replaces: bool,
    /// The share of the quota that is charged for the part.
    share: Option<Share>,
    /// Whether the part was renamed to its target, or removed.
    is_over: bool,
}

impl Part {
    /// Opens or creates the part of the file `target` in `folder`. [`Part::read_on`] must be called until the existing bytes are read.
    pub(crate) fn open(
        folder: OwnedFd,
        target: &str,
        shown: &Path,
        replaces: bool,
    ) -> Result<Self, TransferError> {
        check_target(&folder, target, shown, replaces)?;
        let name = name_of(target);
        let file = open_part(&folder, &name, shown, OFlags::RDWR | OFlags::CREATE)?;
        let file = file.ok_or_else(|| TransferError::at(shown)(Errno::NOENT.into()))?;
        let busy = || TransferError::Busy(shown.to_path_buf());
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|_| busy())?;
        // The previous holder of the lock may have renamed the part to its target, or removed it.
        if !is_named(&folder, &name, &file) {
            return Err(busy());
        }
        Ok(Self {
            folder,
            name,
            target: target.to_owned(),
            shown: shown.to_path_buf(),
            file,
            hash: Hash::default(),
            length: 0,
            unsynced: 0,
            replaces,
            share: None,
            is_over: false,
        })
    }

    /// Reads more of the existing part. Returns the number of bytes read; zero once all of it is read.
    pub(crate) fn read_on(&mut self, room: &mut [u8]) -> Result<u64, TransferError> {
        let read = self.hash.read(&mut self.file, u64::MAX, room).map_err(TransferError::at(&self.shown))?;
        self.length += read;
        Ok(read)
    }

    /// Returns an error if another address sent the existing part, or if this share has no room for `length` bytes.
    pub(crate) fn check(&self, share: &Share, length: u64) -> Result<(), TransferError> {
        let path = self.shown.to_string_lossy();
        if share.is_of_another(&path) {
            return Err(TransferError::OfAnother(self.shown.clone()));
        }
        share.check(&path, length)
    }

    /// Charges the part's disk space to this share from now on.
    pub(crate) fn pay(&mut self, share: Share) -> Result<(), TransferError> {
        share.charge(&self.shown.to_string_lossy(), self.length)?;
        self.share = Some(share);
        Ok(())
    }

    /// Returns the number of bytes in the part.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the SHA-256 of the bytes in the part.
    pub(crate) fn hash(&self) -> String {
        self.hash.text()
    }

    /// Removes all bytes from the part.
    pub(crate) fn clear(&mut self) -> Result<(), TransferError> {
        let cleared = self.file.set_len(0).and_then(|()| self.file.seek(SeekFrom::Start(0)));
        cleared.map_err(TransferError::at(&self.shown))?;
        (self.hash, self.length) = (Hash::default(), 0);
        Ok(())
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        if let Some(share) = &self.share {
            share.charge(&self.shown.to_string_lossy(), self.length + bytes.len() as u64)?;
        }
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

    /// Renames the complete part to its target.
    pub(crate) fn commit(&mut self) -> Result<(), TransferError> {
        self.file.sync_all().map_err(TransferError::at(&self.shown))?;
        let (folder, part, target) = (self.folder.as_fd(), self.name.as_str(), self.target.as_str());
        let named = if self.replaces {
            rustix::fs::renameat(folder, part, folder, target)
        } else {
            match rustix::fs::renameat_with(folder, part, folder, target, RenameFlags::NOREPLACE) {
                // The file system cannot rename without replacing. A hard link never replaces.
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
        if let Some(share) = &self.share {
            share.settle(&self.shown.to_string_lossy());
        }
        // The name is synced as well, so that it is as durable as the bytes. If the folder cannot be synced, the system does it later.
        if let Ok(folder) = rustix::fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
        {
            let _ = rustix::fs::fsync(folder);
        }
        Ok(())
    }

    /// Removes the part.
    pub(crate) fn discard(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            // If the part cannot be removed, it remains.
            let _ = rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty());
            if let Some(share) = &self.share {
                share.release(&self.shown.to_string_lossy());
            }
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if self.length == 0 {
            self.discard();
        }
    }
}

/// Opens the existing part of the file `target` in `folder` for reading; `None` if there is none. The function changes nothing, and other
/// processes may still receive the file.
pub(crate) fn look(
    folder: &OwnedFd,
    target: &str,
    shown: &Path,
    replaces: bool,
) -> Result<Option<File>, TransferError> {
    check_target(folder, target, shown, replaces)?;
    let Some(file) = open_part(folder, &name_of(target), shown, OFlags::RDONLY)? else { return Ok(None) };
    let is_free = rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).is_ok();
    // If the lock were kept, other processes could not write the part.
    let _ = rustix::fs::flock(&file, FlockOperation::Unlock);
    if is_free { Ok(Some(file)) } else { Err(TransferError::Busy(shown.to_path_buf())) }
}

/// Returns the name of the part of a file.
pub(crate) fn name_of(target: &str) -> String {
    format!(".{target}.part")
}

/// Returns the name of the file to which a part of this name belongs; `None` if it is not a name of a part.
pub(crate) fn target_of(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.strip_suffix(".part").filter(|target| !target.is_empty())
}

/// Returns an error if the target exists and may not be replaced, or if it is not a file.
fn check_target(folder: &OwnedFd, target: &str, shown: &Path, replaces: bool) -> Result<(), TransferError> {
    match rustix::fs::statat(folder, target, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if !rustix::fs::FileType::from_raw_mode(found.st_mode).is_file() => {
            Err(TransferError::Kind { path: shown.to_path_buf(), kind: kind_of(found.st_mode) })
        }
        Ok(_) if !replaces => Err(TransferError::Exists(shown.to_path_buf())),
        Ok(_) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(TransferError::at(shown)(error.into())),
    }
}

/// Opens a part; `None` if there is none.
fn open_part(folder: &OwnedFd, name: &str, shown: &Path, how: OFlags) -> Result<Option<File>, TransferError> {
    // Without these flags, opening a pipe would block, and a symbolic link would lead to another file.
    let flags = how | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o666)) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(TransferError::at(shown)(error.into())),
    };
    if !file.metadata().map_err(TransferError::at(shown))?.is_file() {
        let error = io::Error::new(io::ErrorKind::AlreadyExists, format!("its part {name} is no file"));
        return Err(TransferError::at(shown)(error));
    }
    Ok(Some(file))
}

/// Returns whether this name in the folder still is the open file.
pub(crate) fn is_named(folder: &OwnedFd, name: &str, file: &File) -> bool {
    let named = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let open = rustix::fs::fstat(file);
    matches!((named, open), (Ok(named), Ok(open)) if (named.st_dev, named.st_ino) == (open.st_dev, open.st_ino))
}
