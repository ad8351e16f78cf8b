//! The files and folders that a command writes. They are tested before its runs start, so that a typing error costs no time, and so that
//! the command overwrites none of its inputs.

use std::fs;
use std::io;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use firstflight_export::check_writable;
use firstflight_export::log::{Captures, Events, Qlog};
use firstflight_scenario::{SchemeChoice, quantity, read_text};

use crate::failure::{Failure, Place};
use crate::formats::check_ending;
use crate::options::OutputOptions;

/// A file that the command reads.
pub(crate) struct Input<'a> {
    /// The kind of the file, for messages: `scenario`.
    pub(crate) what: &'static str,
    /// The path as it was given.
    pub(crate) path: &'a Path,
}

/// The identity of a file, independent of how its path is written.
#[derive(PartialEq, Eq, Debug)]
enum Identity {
    /// An existing file, by its device and its inode number, which all its names share.
    #[cfg(unix)]
    File(u64, u64),
    /// A file, by the path that it has or will have. Symbolic links are resolved.
    Place(PathBuf),
}

impl Identity {
    /// Returns the identity of a file. `None` if its folder does not exist; the file is then different from all others.
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

/// Returns the folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks whether two paths lead to the same file, which may not exist yet.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    one == other || Identity::of(one).is_some_and(|identity| Identity::of(other) == Some(identity))
}

/// Tests that the file can be written, that its name does not promise another format than the option writes, and that it is not an input. A
/// device may be both an input and an output.
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
        None => {
            check_ending(option, path).and_then(|()| check_writable(path).map_err(|error| error.to_string()))
        }
    };
    checked.map_err(|message| {
        let place = Place::value(arguments, option, &path.to_string_lossy());
        Failure::usage(format!("{option}: {message}")).at(place)
    })
}

/// Returns the names of the files that an option writes for a row of this name.
type FileNames = fn(&str) -> Vec<String>;

impl OutputOptions {
    /// Returns the requested files, each with its option.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("--report", &self.report),
            ("--figure", &self.figure),
            ("--parquet", &self.parquet),
            ("--series", &self.series),
        ];
        files.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?)))
    }

    /// Returns the options of the requested files.
    pub(crate) fn file_options(&self) -> Vec<&'static str> {
        self.files().map(|(option, _)| option).collect()
    }

    /// Tests that all requested outputs can be written, that no two of them are the same, and that none is an input. Logs are named after
    /// the rows of `choices`, or after flows. `flows` has the longest name of a flow.
    pub(crate) fn check(
        &self,
        choices: &[SchemeChoice],
        flows: &[String],
        inputs: &[Input<'_>],
        arguments: &[String],
    ) -> Result<(), Failure> {
        let folders: [(&str, &Option<PathBuf>, FileNames); 3] = [
            ("--pcap", &self.pcap, |name| Captures::file_names(name).to_vec()),
            ("--events", &self.events, |name| vec![Events::file_name(name)]),
            ("--qlog", &self.qlog, |name| vec![Qlog::file_name(name)]),
        ];
        let mut seen: Vec<(&str, &Path)> = Vec::new();
        for (option, path) in self.files() {
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
            // A folder that does not exist yet has no files.
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

/// Tests that files can be written into the folder, which may not exist yet. Changes nothing, and opens no existing file.
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    let nearest = nearest(path);
    if !nearest.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    // The system may refuse the names of the folders that must be created.
    for name in path.strip_prefix(nearest).unwrap_or(path) {
        is_there(&nearest.join(name))?;
    }
    is_there(path)?;
    firstflight_export::check_folder(nearest).map_err(|error| error.source)
}

/// Returns the folder itself if it exists, or else the nearest folder above it that exists.
fn nearest(path: &Path) -> &Path {
    let nearest = path.ancestors().find(|ancestor| ancestor.exists());
    nearest.filter(|nearest| !nearest.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Tests that a file of this name can be written into the folder, which may not exist yet. The name must not be too long, and an existing
/// file of that name must be a plain file.
fn check_name(folder: &Path, name: &str) -> io::Result<()> {
    is_there(&folder.join(name))?;
    // The system checks names only in a folder that exists.
    let file = if folder.exists() { folder.join(name) } else { nearest(folder).join(name) };
    match fs::metadata(&file) {
        Ok(found) if folder.exists() && !found.is_file() => Err(no_plain_file()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Checks whether something exists at the path.
///
/// # Errors
/// Fails if the system cannot look up the path, for example because it is too long.
fn is_there(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Reads a complete file from one of this program's folders. Refuses a pipe or a device, which may have no end.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() { fs::read(path) } else { Err(no_plain_file()) }
}

/// Reads a text file from one of this program's folders, as [`read_plain`] does.
pub(crate) fn read_plain_text(path: &Path) -> io::Result<String> {
    if fs::metadata(path)?.is_file() { read_text(path) } else { Err(no_plain_file()) }
}

fn no_plain_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file")
}

/// Returns the number of bytes to keep of a captured packet; `None` for all.
pub(crate) fn snap(text: Option<&str>, arguments: &[String]) -> Result<Option<NonZeroU32>, Failure> {
    let Some(text) = text.filter(|text| *text != "all") else { return Ok(None) };
    let bytes = quantity::count(text.trim_end_matches('B')).ok().and_then(|bytes| u32::try_from(bytes).ok());
    match bytes.and_then(NonZeroU32::new).filter(|bytes| bytes.get() <= 65_535) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Failure::usage(format!(
            "--snap: `{text}` is not allowed; bytes from 1 to 65535 are, as in `128B`, or `all`"
        ))
        .at(Place::value(arguments, "--snap", text))),
    }
}
