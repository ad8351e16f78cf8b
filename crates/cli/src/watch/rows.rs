//! The file of `--rows`: a line of JSON for each start-up, appended as connections end.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight_export::{Record, json};

use crate::failure::Failure;

/// The time between two checks whether the file was moved away.
const CHECKED: Duration = Duration::from_secs(1);

/// A file to which lines are appended. What was there stays.
pub(super) struct AppendedRows {
    path: PathBuf,
    file: File,
    lines: Vec<u8>,
    checked: Duration,
}

impl AppendedRows {
    /// Opens or creates the file.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let file = open(path).map_err(|error| failed(path, &error))?;
        Ok(Self { path: path.to_owned(), file, lines: Vec::new(), checked: Duration::ZERO })
    }

    /// Adds a row, which [`AppendedRows::flush`] writes.
    pub(super) fn push(&mut self, row: &Record) -> Result<(), Failure> {
        self.lines.extend(json::line(row).map_err(Failure::write)?.into_bytes());
        Ok(())
    }

    /// Writes the rows added since the last call. A file that was moved away, as logrotate does, is created anew.
    pub(super) fn flush(&mut self, elapsed: Duration) -> Result<(), Failure> {
        let write = |rows: &mut Self| -> io::Result<()> {
            if elapsed >= rows.checked {
                rows.checked = elapsed.saturating_add(CHECKED);
                let own = rows.file.metadata()?;
                let is_own = |there: fs::Metadata| (there.dev(), there.ino()) == (own.dev(), own.ino());
                if !fs::metadata(&rows.path).is_ok_and(is_own) {
                    rows.file = open(&rows.path)?;
                }
            }
            if !rows.lines.is_empty() {
                rows.file.write_all(&std::mem::take(&mut rows.lines))?;
            }
            Ok(())
        };
        write(self).map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::write(format!("cannot write {}: {error}", path.display()))
}

/// Opens the file for appending, alone. A process that was killed, or a full disk, may have left a part of a line: it gets its end.
fn open(path: &Path) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(io::Error::other("another watch writes it")),
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            file.write_all(b"\n")?;
        }
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_appended_after_whatever_is_there_and_to_a_new_file_if_it_was_moved() {
        let folder = std::env::temp_dir().join(format!("firstflight-rows-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("rows.jsonl");
        fs::write(&path, "{\"one\":1}\n{\"tor").expect("a file");
        let mut rows = AppendedRows::open(&path).expect("it opens");
        let why = AppendedRows::open(&path).err().expect("it is locked");
        assert!(format!("{why:?}").contains("another watch writes it"), "{why:?}");
        let row = |at: u64| Record::from_iter([("row".to_owned(), at.into())]);
        rows.push(&row(2)).expect("a line");
        rows.flush(Duration::ZERO).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("text"), "{\"one\":1}\n{\"tor\n{\"row\":2}\n");
        fs::rename(&path, folder.join("rows.1")).expect("moved");
        rows.push(&row(3)).expect("a line");
        rows.flush(Duration::from_secs(2)).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("text"), "{\"row\":3}\n");
        fs::remove_dir_all(&folder).expect("removed");
    }
}
