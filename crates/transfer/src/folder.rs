//! A folder whose files are sent and received, and nothing outside it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};

use crate::error::TransferError;

/// A folder whose files are sent and received. The kernel keeps every look inside it (`openat2`, `RESOLVE_BENEATH`): no name
/// leads out, and no symbolic link is followed.
#[derive(Debug)]
pub struct Folder {
    folder: OwnedFd,
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The system's: there is no such folder, or it may not be read.
    pub fn open(path: &Path) -> Result<Self, TransferError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
        Ok(Self { folder: folder.map_err(TransferError::at(path))? })
    }

    /// A file below it, to be read.
    pub(crate) fn file(&self, path: &str) -> Result<File, TransferError> {
        check(path)?;
        // A pipe would hang the open.
        let file = self.look(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let file = File::from(file);
        let kind = file.metadata().map_err(TransferError::at(Path::new(path)))?;
        if !kind.is_file() {
            let error = if kind.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::InvalidInput };
            return Err(TransferError::File { path: path.into(), source: error.into() });
        }
        Ok(file)
    }

    /// The folder that a file of this name is in, and the name's last part.
    pub(crate) fn place<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), TransferError> {
        check(path)?;
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        Ok((self.look(folder, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }

    /// The folder itself.
    pub(crate) fn own(self) -> OwnedFd {
        self.folder
    }

    fn look(&self, path: &str, flags: OFlags) -> Result<OwnedFd, TransferError> {
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        openat2(&self.folder, path, flags | OFlags::CLOEXEC, Mode::empty(), inside).map_err(|error| {
            match error {
                rustix::io::Errno::LOOP | rustix::io::Errno::XDEV => TransferError::Path(path.to_owned()),
                error => TransferError::File { path: path.into(), source: error.into() },
            }
        })
    }
}

/// A path is names joined by `/`. Hidden files are none of a peer's: among them are files that are not whole yet.
fn check(path: &str) -> Result<(), TransferError> {
    let is_name =
        |name: &str| !name.is_empty() && !name.starts_with('.') && name.len() <= 200 && !name.contains('\0');
    if path.len() <= 4_000 && path.split('/').all(is_name) {
        Ok(())
    } else {
        Err(TransferError::Path(path.chars().take(100).flat_map(char::escape_debug).collect()))
    }
}
