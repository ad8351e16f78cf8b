//! The rows of a run in an unlinked temporary file, so that they need no memory.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::super::naming::naming;
use crate::write::create_beside;

/// The number of rows that are read and encoded at a time.
const ROWS: u64 = 1 << 14;

/// Rows that will be written to a table. All have the same number of values.
pub(super) struct Spool {
    /// The path of the table, for messages.
    path: PathBuf,
    file: BufWriter<File>,
    /// The number of values of a row.
    width: usize,
    rows: u64,
    /// Whether a row could not be added.
    is_short: bool,
    /// The path of the temporary file, on systems that cannot remove an open file.
    left: Option<PathBuf>,
}

impl Spool {
    /// Creates an empty file in the folder of the table at `path`, for rows of `width` numbers.
    pub(super) fn beside(path: &Path, width: usize) -> io::Result<Self> {
        let (file, at) = create_beside(path)?;
        let left = std::fs::remove_file(&at).is_err().then_some(at);
        Ok(Self {
            path: path.to_path_buf(),
            file: BufWriter::new(file),
            width,
            rows: 0,
            is_short: false,
            left,
        })
    }

    /// Adds a row. All rows have the same number of values.
    pub(super) fn add(&mut self, row: &[u64]) -> io::Result<()> {
        let added = row.iter().try_for_each(|number| self.file.write_all(&number.to_le_bytes()));
        self.rows += 1;
        self.is_short |= added.is_err();
        added.map_err(|error| naming(&self.path, &error))
    }

    /// Reads the rows in batches of `ROWS`. `take` gets the values of a batch, row after row.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if it lacks a row.
    pub(super) fn read(&mut self, take: &mut dyn FnMut(&[u64]) -> io::Result<()>) -> io::Result<()> {
        if self.is_short {
            return Err(io::Error::other("rows of a run could not be kept"));
        }
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
            // A file that cannot be removed is left in its folder.
            let _ = std::fs::remove_file(left);
        }
    }
}
