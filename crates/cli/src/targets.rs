//! The files and folders that a race writes: tested before it runs, so that a typo costs nothing.

use std::io;
use std::path::{Path, PathBuf};

use firstflight_report::check_writable;

use crate::args::OutputOptions;
use crate::failure::{Failure, Place};

impl OutputOptions {
    /// Tests that everything asked for can be written, and that no two of them are the same.
    pub(crate) fn check(&self, arguments: &[String]) -> Result<(), Failure> {
        let files = [("--report", &self.report), ("--figure", &self.figure), ("--parquet", &self.parquet)];
        let folders = [("--pcap", &self.pcap), ("--events", &self.events), ("--qlog", &self.qlog)];
        let mut seen: Vec<(&str, &PathBuf)> = Vec::new();
        for (option, path) in files.into_iter().chain(folders) {
            let Some(path) = path else { continue };
            let refuse = |message: String| {
                let place = Place::value(arguments, option, &path.to_string_lossy());
                Failure::usage(format!("{option}: {message}")).at(place)
            };
            let is_file = files.iter().any(|(file, _)| *file == option);
            if is_file && let Some((other, _)) = seen.iter().find(|(_, before)| *before == path) {
                return Err(refuse(format!("{} is {other}'s file too", path.display())));
            }
            if is_file {
                check_writable(path).map_err(|error| refuse(error.to_string()))?;
            } else {
                check_folder(path)
                    .map_err(|error| refuse(format!("cannot write into {}: {error}", path.display())))?;
            }
            seen.push((option, path));
        }
        Ok(())
    }
}

/// Tests that files can be written into the folder, which may have to be made first. Leaves no trace.
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    let nearest = path.ancestors().find(|ancestor| ancestor.exists());
    let nearest = nearest.filter(|nearest| !nearest.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !nearest.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    check_writable(&nearest.join("firstflight")).map_err(|error| error.source)
}
