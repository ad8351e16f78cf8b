//! The rows of a run in a file that no name leads to, so that memory holds none of them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How many rows are read and encoded at a time.
const ROWS: u64 = 1 << 14;

/// Rows of equally many numbers, on their way to a table.
pub(super) struct Spool {
    file: BufWriter<File>,
    /// How many numbers a row has.
    width: usize,
    rows: u64,
    /// The name, where a file that is open cannot be removed.
    left: Option<PathBuf>,
}

impl Spool {
    /// An empty file beside the table at `path`, for rows of `width` numbers.
    pub(super) fn beside(path: &Path, width: usize) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for attempt in 0..100_000_u32 {
            let at = path.with_file_name(format!(".{name}.{}-{attempt}.rows", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&at) {
                Ok(file) => {
                    let left = std::fs::remove_file(&at).is_err().then_some(at);
                    return Ok(Self { file: BufWriter::new(file), width, rows: 0, left });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Adds a row, which has as many numbers as all.
    pub(super) fn add(&mut self, row: &[u64]) -> io::Result<()> {
        for number in row {
            self.file.write_all(&number.to_le_bytes())?;
        }
        self.rows += 1;
        Ok(())
    }

    /// Reads the rows, some thousands of them at a time: `take` gets their numbers, row after row.
    pub(super) fn read(&mut self, take: &mut dyn FnMut(&[u64]) -> io::Result<()>) -> io::Result<()> {
        self.file.flush()?;
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(0))?;
        let mut file = BufReader::new(file);
        let mut numbers = Vec::new();
        for place in 1..=self.rows {
            for _ in 0..self.width {
                let mut bytes = [0; 8];
                file.read_exact(&mut bytes)?;
                numbers.push(u64::from_le_bytes(bytes));
            }
            if place % ROWS == 0 || place == self.rows {
                take(&numbers)?;
                numbers.clear();
            }
        }
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        if let Some(left) = &self.left {
            // What cannot be removed is left.
            let _ = std::fs::remove_file(left);
        }
    }
}
