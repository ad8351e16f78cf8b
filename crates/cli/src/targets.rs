//! The files and folders that a command writes: tested before it runs, so that a typo costs nothing, and so that nothing
//! that it reads is overwritten.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use firstflight_report::check_writable;
use firstflight_report::log::{Captures, Events, Qlog};
use firstflight_scenario::{SchemeChoice, read_text};

use crate::args::OutputOptions;
use crate::failure::{Failure, Place};

/// A file that the command reads.
pub(crate) struct Input<'a> {
    /// What it is, in a sentence: `scenario`.
    pub(crate) what: &'static str,
    /// As it was given.
    pub(crate) path: &'a Path,
}

/// Which file a path leads to, however it is spelled.
#[derive(PartialEq, Eq, Debug)]
enum Identity {
    /// One that is there: its device and its number there, which all its names share.
    #[cfg(unix)]
    File(u64, u64),
    /// Where it is, or will be, without links on the way.
    Place(PathBuf),
}

impl Identity {
    /// `None` of a file in a folder that is not there: it is like no other.
    fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if let Ok(found) = fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return Some(Self::File(found.dev(), found.ino()));
        }
        if let Ok(place) = fs::canonicalize(path) {
            return Some(Self::Place(place));
        }
        let name = path.file_name()?;
        Some(Self::Place(fs::canonicalize(folder_of(path)).ok()?.join(name)))
    }
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two paths lead to one file, which may not be there yet.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || Identity::of(one).is_some_and(|identity| Identity::of(other) == Some(identity))
}

/// Tests that the file can be written, and that it is none that is read. A device may be both.
pub(crate) fn check_file(
    option: &str,
    path: &Path,
    inputs: &[Input<'_>],
    arguments: &[String],
) -> Result<(), Failure> {
    let is_device = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    let checked = match inputs.iter().find(|input| !is_device && is_same(path, input.path)) {
        Some(Input { what, path: input }) => {
            Err(format!("{} would overwrite the {what} {}", path.display(), input.display()))
        }
        None => check_writable(path).map_err(|error| error.to_string()),
    };
    checked.map_err(|message| {
        let place = Place::value(arguments, option, &path.to_string_lossy());
        Failure::usage(format!("{option}: {message}")).at(place)
    })
}

/// The files that an option writes for a row of this name.
type FileNames = fn(&str) -> Vec<String>;

impl OutputOptions {
    /// Tests that everything asked for can be written, that no two of them are the same, and that none is read. Logs are named
    /// after the rows of `choices`, or after flows; `flows` has the longest of these names.
    pub(crate) fn check(
        &self,
        choices: &[SchemeChoice],
        flows: &[String],
        inputs: &[Input<'_>],
        arguments: &[String],
    ) -> Result<(), Failure> {
        let files = [
            ("--report", &self.report),
            ("--figure", &self.figure),
            ("--parquet", &self.parquet),
            ("--series", &self.series),
        ];
        let folders: [(&str, &Option<PathBuf>, FileNames); 3] = [
            ("--pcap", &self.pcap, |name| Captures::file_names(name).to_vec()),
            ("--events", &self.events, |name| vec![Events::file_name(name)]),
            ("--qlog", &self.qlog, |name| vec![Qlog::file_name(name)]),
        ];
        let mut seen: Vec<(&str, &Path)> = Vec::new();
        for (option, path) in files {
            let Some(path) = path else { continue };
            if let Some((other, before)) = seen.iter().find(|(_, before)| is_same(before, path)) {
                let message =
                    format!("{option}: {} is {other}'s file too, {}", path.display(), before.display());
                let place = Place::value(arguments, option, &path.to_string_lossy());
                return Err(Failure::usage(message).at(place));
            }
            check_file(option, path, inputs, arguments)?;
            seen.push((option, path));
        }
        for (option, folder, file_names) in folders {
            let Some(folder) = folder else { continue };
            let refuse = |message: String| {
                let place = Place::value(arguments, option, &folder.to_string_lossy());
                Failure::usage(format!("{option}: {message}")).at(place)
            };
            check_folder(folder)
                .map_err(|error| refuse(format!("cannot write into {}: {error}", folder.display())))?;
            let rows = choices.iter().map(SchemeChoice::name);
            for name in rows.chain(flows.iter().map(String::as_str)).flat_map(file_names) {
                check_name(folder, &name).map_err(|error| {
                    refuse(format!("cannot write {}: {error}", folder.join(&name).display()))
                })?;
            }
            // A new folder holds nothing yet.
            let names =
                choices.iter().filter(|_| folder.exists()).flat_map(|choice| file_names(choice.name()));
            for file in names.map(|name| folder.join(name)) {
                if let Some(Input { what, path }) = inputs.iter().find(|input| is_same(&file, input.path)) {
                    let message = format!("{} would overwrite the {what} {}", file.display(), path.display());
                    return Err(refuse(message));
                }
                if let Some((other, before)) = seen.iter().find(|(_, before)| is_same(before, &file)) {
                    let message = format!("{} is {other}'s file too, {}", file.display(), before.display());
                    return Err(refuse(message));
                }
            }
        }
        Ok(())
    }
}

/// Tests that files can be written into the folder, which may have to be made first. Leaves no trace, and opens nothing that is
/// there.
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    let nearest = nearest(path);
    if !nearest.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    // What is to be made of it has names that the system may refuse.
    for name in path.strip_prefix(nearest).unwrap_or(path) {
        is_there(&nearest.join(name))?;
    }
    is_there(path)?;
    firstflight_report::check_folder(nearest).map_err(|error| error.source)
}

/// The folder itself, or the nearest one above that is there.
fn nearest(path: &Path) -> &Path {
    let nearest = path.ancestors().find(|ancestor| ancestor.exists());
    nearest.filter(|nearest| !nearest.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Tests that a file of this name can be written into the folder, which may have to be made first: that the name is not too long,
/// and that what has it already is a plain file.
fn check_name(folder: &Path, name: &str) -> io::Result<()> {
    is_there(&folder.join(name))?;
    // Names are looked at only in a folder that is there.
    let file = if folder.exists() { folder.join(name) } else { nearest(folder).join(name) };
    match fs::metadata(&file) {
        Ok(found) if folder.exists() && !found.is_file() => Err(no_plain_file()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether the system finds something at the path.
///
/// # Errors
/// A path that it cannot look at, such as one that is too long.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads a file of a folder of ours, whole. A pipe or a device, which may have no end, is none.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() { fs::read(path) } else { Err(no_plain_file()) }
}

/// Reads a text of a folder of ours, as [`read_plain`].
pub(crate) fn read_plain_text(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.is_file() { read_text(path) } else { Err(no_plain_file()) }
}

fn no_plain_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file")
}
