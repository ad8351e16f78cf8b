//! The file of a store: JSON, checked when read, replaced as a whole when written.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::saved::{Key, MAX_NAME, Saved};
use super::store::Store;

/// The version of the file's format.
const FORMAT: u32 = 1;

/// The largest file that is read, in bytes.
pub const MAX_FILE: u64 = 64 << 20;

/// The reason why a store's file cannot be read or written. It prints as one line: what, where, and what is allowed.
#[derive(Debug, thiserror::Error)]
#[error("resume store {}: {reason}", path.display())]
pub struct FileError {
    path: PathBuf,
    reason: String,
}

impl FileError {
    fn new(path: &Path, reason: &dyn ToString) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: u32,
    entries: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    address: IpAddr,
    server_name: String,
    window: u64,
    rtt_us: u64,
    saved_at: u64,
}

impl Store {
    /// Returns the store as JSON, entries by last use, the oldest first.
    pub fn to_json(&self) -> String {
        let row = |(key, saved): (Key, Saved)| Row {
            address: key.address(),
            server_name: key.server_name().to_owned(),
            window: saved.window,
            rtt_us: u64::try_from(saved.rtt.as_micros()).unwrap_or(u64::MAX),
            saved_at: saved.at,
        };
        let document = Document { format: FORMAT, entries: self.entries().into_iter().map(row).collect() };
        serde_json::to_string_pretty(&document).unwrap_or_default()
    }

    /// Reads a store from JSON. If it has more entries than `capacity`, those whose last use is the oldest are dropped.
    ///
    /// # Errors
    ///
    /// One line that says what is wrong, in which entry, and what is allowed. Nothing is read in part.
    pub fn from_json(json: &str, capacity: NonZeroUsize, lifetime: Duration) -> Result<Self, String> {
        let document: Document = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if document.format != FORMAT {
            return Err(format!("format is {}; allowed is {FORMAT}", document.format));
        }
        let store = Self::new(capacity, lifetime);
        let mut seen = std::collections::BTreeSet::new();
        for (index, row) in document.entries.into_iter().enumerate() {
            let number = index + 1;
            let (name, length) = (&row.server_name, row.server_name.len());
            if length > MAX_NAME {
                return Err(format!(
                    "entry {number}: server_name has {length} bytes; allowed is 0 to {MAX_NAME}"
                ));
            }
            let key = Key::to_server(row.address, name);
            let saved =
                Saved { window: row.window, rtt: Duration::from_micros(row.rtt_us), at: row.saved_at };
            if let Some(fault) = saved.fault() {
                return Err(format!("entry {number}: {fault}"));
            }
            store.put(&key, saved);
            let remote = format!("address {} with server_name {name:?}", row.address);
            if !seen.insert(key) {
                return Err(format!("entry {number}: {remote} is there twice; allowed is once"));
            }
        }
        Ok(store)
    }

    /// Reads a store from a file. A file that does not exist is an empty store.
    ///
    /// # Errors
    ///
    /// One line that names the file, if it cannot be read, is larger than [`MAX_FILE`] or is refused by
    /// [`Store::from_json`].
    pub fn load(path: &Path, capacity: NonZeroUsize, lifetime: Duration) -> Result<Self, FileError> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::new(capacity, lifetime));
            }
            Err(error) => return Err(FileError::new(path, &error)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(|error| FileError::new(path, &error))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(FileError::new(
                path,
                &format!("more than {MAX_FILE} bytes; allowed is up to {MAX_FILE}"),
            ));
        }
        let json =
            str::from_utf8(&bytes).map_err(|error| FileError::new(path, &format!("not UTF-8: {error}")))?;
        Self::from_json(json, capacity, lifetime).map_err(|reason| FileError::new(path, &reason))
    }

    /// Writes the store to a file: first to a temporary file in the same directory, which then replaces `path`. A crash
    /// leaves either the old or the new file.
    ///
    /// # Errors
    ///
    /// One line that names the file, if a step fails. The temporary file is removed then.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let Some(name) = path.file_name() else {
            return Err(FileError::new(path, &"not the path of a file"));
        };
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(self.to_json().as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, path)
        };
        write().map_err(|error| {
            // The error of the write is the one to report; the temporary file may not exist.
            let _ = fs::remove_file(&temporary);
            FileError::new(path, &error)
        })
    }
}
