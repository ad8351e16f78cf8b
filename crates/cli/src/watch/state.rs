//! The file of `--state`: the counters, kept over a restart.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight_export::{WholeFile, write_whole};
use firstflight_watch::{Groups, Kept, Totals};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The version of the file's format. A file of another version is refused.
const VERSION: u32 = 1;
/// The minimum time between two writes.
const WRITTEN: Duration = Duration::from_secs(1);

/// The content of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    version: u32,
    totals: Totals,
    groups: Kept,
}

/// The file, and when it is written next.
pub(super) struct State {
    path: PathBuf,
    due: Duration,
}

impl State {
    /// Reads the counters of the file. Without a file they are zero.
    pub(super) fn open(path: &Path) -> Result<(Self, Totals, Groups), Failure> {
        let refuse = |why: String| Failure::usage(format!("--state: {}: {why}", path.display()));
        let state = Self { path: path.to_owned(), due: Duration::ZERO };
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok((state, Totals::default(), Groups::default()));
            }
            Err(error) => return Err(refuse(error.to_string())),
            Ok(bytes) => bytes,
        };
        let content: Content = serde_json::from_slice(&bytes)
            .map_err(|error| refuse(format!("it is no file of --state of this version ({error})")))?;
        if content.version != VERSION {
            return Err(refuse(format!("it has version {}, and {VERSION} is read", content.version)));
        }
        Ok((state, content.totals, Groups::resumed(content.groups)))
    }

    /// Replaces the file, if it is time, and returns whether it did. Only the last time, the bytes are forced to the disk: a kill loses
    /// nothing that was written, and the ring must be read.
    pub(super) fn write(
        &mut self,
        elapsed: Duration,
        totals: Totals,
        groups: &Groups,
    ) -> Result<bool, Failure> {
        if elapsed < self.due {
            return Ok(false);
        }
        self.due = elapsed.saturating_add(WRITTEN);
        let content =
            Content { version: VERSION, totals: Totals { open: 0, ..totals }, groups: groups.kept() };
        let bytes = serde_json::to_vec(&content).map_err(Failure::write)?;
        let written = if elapsed == Duration::MAX {
            write_whole(&self.path, &bytes)
        } else {
            WholeFile::create(&self.path).and_then(|mut file| file.publish(&bytes))
        };
        written.map(|()| true).map_err(Failure::write)
    }
}
