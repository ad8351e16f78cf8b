//! A folder whose files are sent and received. Nothing outside the folder is accessible.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, RawMode, ResolveFlags, openat2};
use rustix::io::Errno;

use crate::files::error::TransferError;
use crate::files::hashes::Hashes;

/// The maximum number of names in the path of a file or folder that is created.
const DEEPEST: usize = 16;

/// The direction of a server's transfers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Sends the files of the server's folder.
    Send,
    /// Receives files into the server's folder.
    Receive {
        /// `true` if an existing file may be replaced.
        replaces: bool,
    },
}

/// A folder whose files are sent and received. The kernel confines every lookup to the folder (`openat2`, `RESOLVE_BENEATH`): no name leads
/// outside, and no symbolic link is followed.
#[derive(Debug)]
pub struct Folder {
    folder: OwnedFd,
    /// The hashes of files that were sent.
    hashes: Hashes,
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// The system's error: there is no folder of this name, or it may not be read.
    pub fn open(path: &Path) -> Result<Self, TransferError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
        Ok(Self { folder: folder.map_err(TransferError::at(path))?, hashes: Hashes::default() })
    }

    /// Opens a folder for a server, which must be able to read it, or to create files in it.
    ///
    /// # Errors
    /// The system's error: there is no folder of this name, or this process has no permission to do this with it.
    pub fn open_for(path: &Path, way: Way) -> Result<Self, TransferError> {
        let folder = Self::open(path)?;
        let needed = match way {
            Way::Send => Access::READ_OK | Access::EXEC_OK,
            Way::Receive { .. } => Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK,
        };
        let allowed = rustix::fs::accessat(&folder.folder, ".", needed, AtFlags::EACCESS);
        allowed.map_err(io::Error::from).map_err(TransferError::at(path))?;
        Ok(folder)
    }

    /// Returns the free bytes on the folder's disk.
    ///
    /// # Errors
    /// The system's error.
    pub fn free(&self) -> Result<u64, TransferError> {
        let about = rustix::fs::fstatvfs(&self.folder).map_err(io::Error::from);
        let about = about.map_err(TransferError::at(Path::new(".")))?;
        Ok(about.f_bavail.saturating_mul(about.f_frsize))
    }

    /// Opens a file below the folder for reading.
    pub(crate) fn file(&self, path: &str) -> Result<File, TransferError> {
        check(path)?;
        // Opening a pipe would block.
        let file = self.look(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
        let file = File::from(file);
        let kind = file.metadata().map_err(TransferError::at(Path::new(path)))?;
        if !kind.is_file() {
            return Err(TransferError::Kind { path: path.into(), kind: kind_of(kind.mode()) });
        }
        Ok(file)
    }

    /// Returns the folder that contains a file of this name, and the last part of the name.
    pub(crate) fn place<'a>(&self, path: &'a str) -> Result<(OwnedFd, &'a str), TransferError> {
        check_new(path)?;
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        Ok((self.look(folder, OFlags::PATH | OFlags::DIRECTORY)?, name))
    }

    /// Returns the folder that contains a file of this name, and the last part of the name, as [`Folder::place`] does. Creates missing
    /// folders. Calls `allow` with the path of each folder before it is created.
    pub(crate) fn make_place<'a>(
        &self,
        path: &'a str,
        mut allow: impl FnMut(&str) -> Result<(), TransferError>,
    ) -> Result<(OwnedFd, &'a str), TransferError> {
        let missing = match self.place(path) {
            Err(error) if error.is_not_found() => error,
            place => return place,
        };
        let folders = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        for folder in folders {
            if self.look(folder, OFlags::PATH | OFlags::DIRECTORY).is_err_and(|error| error.is_not_found()) {
                allow(folder)?;
                let (parent, name) = self.place(folder)?;
                match rustix::fs::mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => {
                        return Err(TransferError::File { path: folder.into(), source: error.into() });
                    }
                }
            }
        }
        if path.contains('/') { self.place(path) } else { Err(missing) }
    }

    /// Returns the hashes of files that were sent.
    pub(crate) fn hashes(&self) -> &Hashes {
        &self.hashes
    }

    /// Returns the folder's descriptor.
    pub(crate) fn own(self) -> OwnedFd {
        self.folder
    }

    /// Opens a folder below this one, to list its contents.
    pub(crate) fn folder(&self, path: &str) -> Result<OwnedFd, TransferError> {
        self.look(path, OFlags::RDONLY | OFlags::DIRECTORY)
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

/// Checks that a path is names joined by `/`. No name may begin with a dot, so that peers cannot access hidden files, such as partial
/// files.
///
/// # Errors
/// [`TransferError::Path`].
pub fn check(path: &str) -> Result<(), TransferError> {
    let is_name =
        |name: &str| !name.is_empty() && !name.starts_with('.') && name.len() <= 200 && !name.contains('\0');
    if path.len() <= 4_000 && path.split('/').all(is_name) { Ok(()) } else { Err(no_path(path)) }
}

/// Checks a path under which a file or folder is created. A user may list it on a terminal, so it has neither control characters nor
/// characters that change the direction of text. Each of its names but the last can become a folder, so their number is bounded.
///
/// # Errors
/// [`TransferError::Path`] or [`TransferError::Deep`].
pub fn check_new(path: &str) -> Result<(), TransferError> {
    check(path)?;
    if path.contains(|c: char| c.is_control() || is_directional(c)) {
        return Err(no_path(path));
    }
    if path.split('/').count() > DEEPEST {
        return Err(TransferError::Deep { path: path.chars().take(100).collect(), most: DEEPEST });
    }
    Ok(())
}

/// Returns the kind of a file with this mode, with its article.
pub(crate) fn kind_of(mode: RawMode) -> &'static str {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a folder",
        FileType::Fifo => "a FIFO",
        FileType::Symlink => "a symbolic link",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "of an unknown kind",
    }
}

fn no_path(path: &str) -> TransferError {
    TransferError::Path(path.chars().take(100).collect())
}

/// Returns whether a character changes the direction of text. A name with this character could look like another name.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
