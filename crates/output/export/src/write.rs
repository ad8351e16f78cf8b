//! Files that appear complete or not at all.
//!
//! The bytes are written to a temporary file in the target's folder and flushed to disk. Only then does the file get the target's name. A
//! reader therefore never sees half a file, and if the disk is full, the old file stays intact.
//!
//! A process holds a lock on each of its temporary files. A temporary file without a lock was left by a killed process, and the next check
//! of its folder removes it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The reason why a file was not written: the path and the system's error, in one line of text.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    /// The path of the target.
    pub path: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl WriteError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_path_buf();
        |source| Self { path, source }
    }
}

/// Writes the bytes to the path, completely or not at all.
///
/// # Errors
/// Returns the system's error with the path. The target is then unchanged.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).map_err(WriteError::at(path))?;
    file.commit()
}

/// Writes the bytes to the path, completely or not at all, unless the path exists. Returns false if it exists; its file is then unchanged.
///
/// # Errors
/// Returns the system's error with the path.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, WriteError> {
    let write = || -> io::Result<bool> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(false);
        }
        let (mut file, temporary) = create_beside(path)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        // A link, unlike a rename, does not replace a file that was created in the meantime.
        let linked = written.and_then(|()| match fs::hard_link(&temporary, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // The file system has no links.
            Err(_) => fs::rename(&temporary, path).map(|()| true),
        });
        // After a rename, the temporary file no longer exists under its old name.
        let _ = fs::remove_file(temporary);
        linked
    };
    write().map_err(WriteError::at(path))
}

/// Tests whether [`write_whole`] can create or replace the path, before a command starts its runs. The test leaves no file. It removes
/// temporary files of killed processes from the folder.
///
/// # Errors
/// Fails if the path is a directory, if its directory is missing or read-only, or if its file may not be written.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    check(path).map_err(WriteError::at(path))
}

/// Tests whether files can be created in the folder, before a command starts its runs. The folder must exist. The test creates a file with
/// an unused name and removes it. It also removes temporary files of killed processes from the folder.
///
/// # Errors
/// Returns the system's error if a file cannot be created.
pub fn check_folder(path: &Path) -> Result<(), WriteError> {
    remove_stale(path);
    let made = create_beside(&path.join("firstflight"));
    made.and_then(|(_, temporary)| fs::remove_file(temporary)).map_err(WriteError::at(path))
}

fn check(path: &Path) -> io::Result<()> {
    match place(path)? {
        // Opening a pipe would wait for its reader, and the reader would take the closing as the end of the data.
        Place::Straight(target) if !is_device(&target) => Ok(()),
        Place::Straight(_) => OpenOptions::new().write(true).open(path).map(drop),
        Place::Beside { target, .. } => {
            if target.exists() {
                OpenOptions::new().write(true).open(&target)?;
            }
            remove_stale(
                target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")),
            );
            let (_, temporary) = create_beside(&target)?;
            fs::remove_file(temporary)
        }
    }
}

/// A file that is being written, which gets its name only at [`WholeFile::commit`]. A file that is dropped before is removed.
#[derive(Debug)]
pub struct WholeFile {
    /// The path as the caller gave it, used in messages.
    path: PathBuf,
    place: Place,
    /// The writer; `None` after [`WholeFile::commit`].
    out: Option<BufWriter<File>>,
}

/// Where the bytes are written.
#[derive(Debug)]
enum Place {
    /// To a temporary file in the target's folder. Its name is empty until it exists.
    Beside { target: PathBuf, temporary: PathBuf },
    /// Directly to a device or a pipe, because a rename cannot replace it.
    Straight(PathBuf),
}

impl WholeFile {
    /// Starts writing a file for this path.
    ///
    /// # Errors
    /// Returns the system's error with the path.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let open = || -> io::Result<Self> {
            let (place, file) = match place(path)? {
                Place::Beside { target, .. } => {
                    let (file, temporary) = create_beside(&target)?;
                    (Place::Beside { target, temporary }, file)
                }
                Place::Straight(target) => {
                    let file = OpenOptions::new().write(true).open(&target)?;
                    (Place::Straight(target), file)
                }
            };
            Ok(Self { path: path.to_path_buf(), place, out: Some(BufWriter::new(file)) })
        };
        open().map_err(WriteError::at(path))
    }

    /// Returns the file that is being written, for a writer that needs a file of the operating system. Bytes written through it are not
    /// buffered. They are in the file when [`WholeFile::commit`] is called.
    ///
    /// # Errors
    /// Returns the system's error with the path.
    pub fn file(&self) -> Result<File, WriteError> {
        let file = self.out.as_ref().map_or_else(
            || Err(io::Error::from(io::ErrorKind::NotConnected)),
            |out| out.get_ref().try_clone(),
        );
        file.map_err(WriteError::at(&self.path))
    }

    /// Changes the path to another one in the same folder. The file has no name yet.
    ///
    /// # Errors
    /// Returns the system's error with the path.
    pub fn rename(&mut self, path: &Path) -> Result<(), WriteError> {
        let other = place(path).map_err(WriteError::at(path))?;
        match (&mut self.place, other) {
            (Place::Beside { target, .. }, Place::Beside { target: other, .. }) => *target = other,
            _ => return Err(WriteError::at(path)(io::ErrorKind::InvalidInput.into())),
        }
        self.path = path.to_path_buf();
        Ok(())
    }

    /// Gives the target's name to a copy of the bytes written so far, followed by `end`. Writing continues in the original file. The copy
    /// remains if the process ends, but is not forced to disk. A device or a pipe has no copy.
    ///
    /// # Errors
    /// Returns the system's error. The target is then unchanged.
    pub fn publish(&mut self, end: &[u8]) -> Result<(), WriteError> {
        let mut copied = || -> io::Result<()> {
            self.flush()?;
            let Place::Beside { target, temporary } = &self.place else { return Ok(()) };
            let mut copy = Self::create(target).map_err(|error| error.source)?;
            if let Some(out) = &copy.out {
                io::copy(&mut File::open(temporary)?, &mut out.get_ref())?;
            }
            copy.write_all(end)?;
            copy.finish(false)
        };
        copied().map_err(WriteError::at(&self.path))
    }

    /// Forces the bytes to disk and gives the file its name.
    ///
    /// # Errors
    /// Returns the system's error. The target is then unchanged.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let path = self.path.clone();
        self.finish(true).map_err(WriteError::at(&path))
    }

    fn finish(&mut self, is_forced: bool) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let file = match out.into_inner() {
            Ok(file) => file,
            Err(error) => {
                let (error, unwritten) = error.into_parts();
                // Otherwise dropping the buffer would try to write it again.
                drop(unwritten.into_parts());
                return Err(error);
            }
        };
        if let Place::Beside { target, temporary } = &mut self.place {
            if is_forced {
                file.sync_all()?;
            }
            fs::rename(&*temporary, &*target)?;
            temporary.clear();
        }
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.as_mut().map_or(Ok(0), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if let Place::Beside { temporary, .. } = &self.place
            && !temporary.as_os_str().is_empty()
        {
            // A temporary file that cannot be removed is left in the folder.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Checks whether the path is a device, such as a terminal. Opening a device does not wait for a reader.
#[cfg(unix)]
fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path)
        .is_ok_and(|found| found.file_type().is_char_device() || found.file_type().is_block_device())
}

#[cfg(not(unix))]
const fn is_device(_: &Path) -> bool {
    true
}

fn place(path: &Path) -> io::Result<Place> {
    // A symbolic link is kept, and the file that it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if !found.is_file() => Ok(Place::Straight(target)),
        // The path is too long, leads through a file, or may not be read.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(Place::Beside { target, temporary: PathBuf::new() }),
    }
}

/// The end of the names of temporary files.
const TEMPORARY: &str = ".firstflight.tmp";

/// Creates a file with an unused name in the target's folder, and locks it. The name starts with the first characters of the target's name.
pub(crate) fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    const ROOM: usize = 40;
    let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let name: String = name.to_string_lossy().chars().take(ROOM).collect();
    let mut attempt = 0_u32;
    loop {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(&name);
        temporary.push(format!(".{}-{attempt}{TEMPORARY}", std::process::id()));
        let temporary = target.with_file_name(temporary);
        match OpenOptions::new().read(true).write(true).create_new(true).open(&temporary) {
            Ok(file) if is_locked(&file, &temporary) => return Ok((file, temporary)),
            Ok(_) if attempt < 1000 => attempt += 1,
            Ok(_) => return Err(io::ErrorKind::ResourceBusy.into()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Locks a new file. Returns false if another process has taken it for a stale file before; this cannot happen on a file system without
/// locks.
fn is_locked(file: &File, path: &Path) -> bool {
    match file.try_lock() {
        Ok(()) => fs::symlink_metadata(path).is_ok(),
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => true,
    }
}

/// Removes the temporary files that no process has locked. A file that cannot be removed is left; it is hidden, and nothing reads it.
fn remove_stale(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_temporary(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let path = entry.path();
            // The file stays locked while it is removed, so that another process cannot reuse its name in the meantime.
            let lock = OpenOptions::new().write(true).open(&path).ok().filter(|file| file.try_lock().is_ok());
            if lock.is_some() {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Checks whether a name is that of a temporary file.
fn is_temporary(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(TEMPORARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a new directory for one test.
    fn directory(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("firstflight-export-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn names(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_written_file_is_whole_and_alone() {
        let at = directory("whole");
        let path = at.join("r.html");
        write_whole(&path, b"first").unwrap();
        write_whole(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(names(&at), ["r.html"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_file_that_is_not_committed_leaves_what_was_there() {
        let at = directory("abandoned");
        let path = at.join("r.html");
        write_whole(&path, b"old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.flush().unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&at), ["r.html"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_published_file_contains_everything_written_so_far() {
        let at = directory("published");
        let path = at.join("rows");
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"one ").unwrap();
        file.publish(b"end").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one end");
        file.write_all(b"two ").unwrap();
        file.publish(b"end").unwrap();
        assert_eq!((fs::read(&path).unwrap().as_slice(), names(&at).len()), (&b"one two end"[..], 2));
        file.write_all(b"three").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one two three");
        assert_eq!(names(&at), ["rows"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_file_may_learn_its_name_last() {
        let at = directory("named");
        let mut file = WholeFile::create(&at.join("one")).unwrap();
        file.write_all(b"new").unwrap();
        assert!(file.rename(&at).is_err());
        file.rename(&at.join("two")).unwrap();
        file.commit().unwrap();
        assert_eq!(names(&at), ["two"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let at = directory("new");
        let path = at.join("manifest.json");
        assert!(write_new(&path, b"first").unwrap());
        assert!(!write_new(&path, b"second").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(&at), ["manifest.json"]);
        assert!(write_new(&at.join("missing").join("x"), b"x").is_err());
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_check_leaves_no_trace() {
        let at = directory("check");
        check_writable(&at.join("new.csv")).unwrap();
        assert!(names(&at).is_empty());
        fs::write(at.join("old.csv"), b"kept").unwrap();
        check_writable(&at.join("old.csv")).unwrap();
        assert_eq!(fs::read(at.join("old.csv")).unwrap(), b"kept");
        assert_eq!(names(&at), ["old.csv"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_check_removes_temporary_files_of_killed_processes_only() {
        let at = directory("stale");
        fs::write(at.join(".r.html.1-0.firstflight.tmp"), b"half").unwrap();
        fs::write(at.join(".r.html.1-0.tmp"), b"another program's").unwrap();
        let mut file = WholeFile::create(&at.join("other.html")).unwrap();
        check_writable(&at.join("r.html")).unwrap();
        fs::write(at.join(".s.1-0.firstflight.tmp"), b"half").unwrap();
        check_folder(&at).unwrap();
        assert_eq!(names(&at).len(), 2, "{:?}", names(&at));
        file.write_all(b"whole").unwrap();
        file.commit().unwrap();
        assert_eq!(names(&at), [".r.html.1-0.tmp", "other.html"]);
        fs::remove_dir_all(at).unwrap();
    }

    #[test]
    fn a_missing_directory_and_a_directory_in_the_place_are_named() {
        let at = directory("obstacles");
        let missing = at.join("missing").join("r.html");
        for refused in [check_writable(&missing), write_whole(&missing, b"x")] {
            let line = refused.unwrap_err().to_string();
            assert!(line.starts_with(&format!("cannot write {}: ", missing.display())), "{line}");
            assert!(line.contains("No such file or directory"), "{line}");
            assert!(!line.contains('\n'));
        }
        for refused in [check_writable(&at), write_whole(&at, b"x"), check_writable(Path::new("/"))] {
            assert!(refused.unwrap_err().to_string().contains("is a directory"));
        }
        assert!(check_writable(&at.join("..")).is_err());
        assert!(names(&at).is_empty());
        fs::remove_dir_all(at).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error_in_one_line() {
        let full = Path::new("/dev/full");
        check_writable(full).expect("it opens; only writing fails");
        for size in [1, 1 << 20] {
            let line = write_whole(full, &vec![b'x'; size]).unwrap_err().to_string();
            assert!(line.starts_with("cannot write /dev/full: No space left on device"), "{line}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let at = directory("link");
        fs::write(at.join("real"), b"old").unwrap();
        std::os::unix::fs::symlink(at.join("real"), at.join("link")).unwrap();
        write_whole(&at.join("link"), b"new").unwrap();
        assert_eq!(fs::read(at.join("real")).unwrap(), b"new");
        assert!(fs::symlink_metadata(at.join("link")).unwrap().is_symlink());
        fs::remove_dir_all(at).unwrap();
    }
}
