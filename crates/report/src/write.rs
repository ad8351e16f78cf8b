//! Files that appear whole or not at all.
//!
//! The bytes go to a temporary file beside the target, are flushed to disk, and take the target's name last. So a reader
//! never sees half a file, and a full disk leaves the old file intact.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why a file was not written, in one line: the path and the system's error.
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

/// Writes the bytes to the path, whole or not at all.
///
/// # Errors
/// The system's error with the path. The target is then unchanged.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).map_err(WriteError::at(path))?;
    file.commit()
}

/// Writes the bytes to the path, whole or not at all, unless the path exists. An existing file stays, and the result is
/// false.
///
/// # Errors
/// The system's error with the path.
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool, WriteError> {
    let write = || -> io::Result<bool> {
        if fs::symlink_metadata(path).is_ok() {
            return Ok(false);
        }
        let (mut file, temporary) = create_beside(path)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        // Unlike a rename, a link does not replace a file that was created in the meantime.
        let linked = written.and_then(|()| match fs::hard_link(&temporary, path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            // A file system without links.
            Err(_) => fs::rename(&temporary, path).map(|()| true),
        });
        // After a rename the temporary file is already gone.
        let _ = fs::remove_file(temporary);
        linked
    };
    write().map_err(WriteError::at(path))
}

/// Tests, before anything is run, whether [`write_whole`] can create or replace the path. The test leaves no file.
///
/// # Errors
/// The obstacle: a directory at the path, a missing or read-only directory, a file that may not be written.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    check(path).map_err(WriteError::at(path))
}

/// Tests, before anything is run, whether files can be created in the folder, which is there. The test makes a file of a name that
/// nothing has, and leaves none.
///
/// # Errors
/// The obstacle.
pub fn check_folder(path: &Path) -> Result<(), WriteError> {
    let made = create_beside(&path.join("firstflight"));
    made.and_then(|(_, temporary)| fs::remove_file(temporary)).map_err(WriteError::at(path))
}

fn check(path: &Path) -> io::Result<()> {
    match place(path)? {
        // To open a pipe is to wait for its reader, who would take the closing for the end.
        Place::Straight(target) if !is_device(&target) => Ok(()),
        Place::Straight(_) => OpenOptions::new().write(true).open(path).map(drop),
        Place::Beside { target, .. } => {
            if target.exists() {
                OpenOptions::new().write(true).open(&target)?;
            }
            let (_, temporary) = create_beside(&target)?;
            fs::remove_file(temporary)
        }
    }
}

/// A file in progress that takes its name only at [`WholeFile::commit`]. A file dropped before is removed.
#[derive(Debug)]
pub struct WholeFile {
    /// The path as the caller gave it, for messages.
    path: PathBuf,
    place: Place,
    /// The writer; `None` after commit.
    out: Option<BufWriter<File>>,
}

/// The file that is written.
#[derive(Debug)]
enum Place {
    /// A temporary file beside the target. Its name is empty until it exists.
    Beside { target: PathBuf, temporary: PathBuf },
    /// A device or a pipe, which is written directly because a rename cannot replace it.
    Straight(PathBuf),
}

impl WholeFile {
    /// Starts writing.
    ///
    /// # Errors
    /// The obstacle, with the path.
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

    /// The file in progress, for a writer that wants a file of the system. What is written through it stands in the file by
    /// [`WholeFile::commit`] and is not kept back.
    ///
    /// # Errors
    /// The obstacle, with the path.
    pub fn file(&self) -> Result<File, WriteError> {
        let file = self.out.as_ref().map_or_else(
            || Err(io::Error::from(io::ErrorKind::NotConnected)),
            |out| out.get_ref().try_clone(),
        );
        file.map_err(WriteError::at(&self.path))
    }

    /// Gives the file, which has no name yet, another path in the same folder.
    ///
    /// # Errors
    /// The obstacle, with the path.
    pub fn rename(&mut self, path: &Path) -> Result<(), WriteError> {
        let other = place(path).map_err(WriteError::at(path))?;
        match (&mut self.place, other) {
            (Place::Beside { target, .. }, Place::Beside { target: other, .. }) => *target = other,
            _ => return Err(WriteError::at(path)(io::ErrorKind::InvalidInput.into())),
        }
        self.path = path.to_path_buf();
        Ok(())
    }

    /// Forces the bytes to the disk and gives the file its name.
    ///
    /// # Errors
    /// The system's error. The target is then unchanged.
    pub fn commit(mut self) -> Result<(), WriteError> {
        let path = self.path.clone();
        self.finish().map_err(WriteError::at(&path))
    }

    fn finish(&mut self) -> io::Result<()> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let file = match out.into_inner() {
            Ok(file) => file,
            Err(error) => {
                let (error, unwritten) = error.into_parts();
                // Otherwise dropping the buffer would try to write it once more.
                drop(unwritten.into_parts());
                return Err(error);
            }
        };
        if let Place::Beside { target, temporary } = &mut self.place {
            file.sync_all()?;
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
            // A temporary file that cannot be removed is left.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Whether opening the path waits for nobody: it is a device, such as a terminal.
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
    // A symbolic link stays: the file that it points to is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if !found.is_file() => Ok(Place::Straight(target)),
        // A path that is too long, or through a file, or that nobody may look at.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(Place::Beside { target, temporary: PathBuf::new() }),
    }
}

/// Creates a file with an unused name beside the target. The name begins with the target's, as far as there is room for it.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    const ROOM: usize = 40;
    let name = target.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    let name: String = name.to_string_lossy().chars().take(ROOM).collect();
    let mut attempt = 0_u32;
    loop {
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(&name);
        temporary.push(format!(".{}-{attempt}.tmp", std::process::id()));
        let temporary = target.with_file_name(temporary);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A new directory for one test.
    fn directory(test: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("firstflight-report-{}-{test}", std::process::id()));
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
