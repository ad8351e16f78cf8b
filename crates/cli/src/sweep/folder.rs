//! The folder of a sweep: a manifest that identifies the sweep, and a file for each part.
//!
//! Every file gets its name when it is complete. However the process ends, it leaves only complete parts and perhaps a hidden file that
//! ends in `.tmp` and is never read. Two processes that race the same part write the same bytes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::ops::Range;
use std::path::{Path, PathBuf};

use firstflight::registry::Registry;
use firstflight_export::part::{self, PartLabel};
use firstflight_export::{Record, write_new, write_whole};
use firstflight_lab::{BUILD, Sweep, SweptRow};
use firstflight_measure::{Goal, VERSION};
use firstflight_scenario::ByName;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::excerpt;
use crate::failure::{Failure, Place};
use crate::output;
use crate::targets::{check_folder, read_plain, read_plain_text};

/// The name of the file that identifies the sweep.
const MANIFEST: &str = "sweep.json";
/// The manifest's field with the program's build.
const OF_BUILD: &str = "build";
/// The manifest's field with the text that names the population.
const OF_POPULATION: &str = "population";

/// The manifest's field with the hash of the source code of schemes that are not built in.
const OF_SOURCE: &str = "source_hash";

/// Returns the hash of the source code of those of the schemes that are not built in; `None` if all are, or if the code is not known.
fn source_hash<'a>(mut names: impl Iterator<Item = &'a str>, registry: Registry) -> Option<String> {
    names.find_map(|name| registry.source_of(name)).map(|hash| format!("{hash:016x}"))
}

/// A folder that belongs to one sweep.
pub(crate) struct Folder<'a> {
    path: PathBuf,
    of: &'a Sweep,
    /// The hash of the sweep.
    sweep: String,
    rows_a_path: u64,
    paths_of: Vec<u64>,
}

/// The reason why a folder cannot be used.
pub(crate) enum NoFolder {
    /// The sweep itself is invalid.
    Sweep(String),
    /// The folder has a fault.
    Folder(Failure),
}

impl NoFolder {
    /// Returns the failure. `file` is the file of the sweep.
    pub(crate) fn of(self, file: &dyn fmt::Display) -> Failure {
        match self {
            Self::Sweep(message) => Failure::usage(format!("{file}: {message}")),
            Self::Folder(failure) => failure,
        }
    }
}

impl<'a> Folder<'a> {
    /// Opens the folder. Creates it if it does not exist, and writes the sweep's manifest if there is none.
    pub(crate) fn open(
        path: &Path,
        (sweep, registry): (&'a Sweep, Registry),
        arguments: &[String],
    ) -> Result<Self, NoFolder> {
        // All paths are checked before anything is written.
        let hash = sweep.hash().map_err(|error| NoFolder::Sweep(error.to_string()))?;
        let refuse = |message: String| {
            let place = Place::value(arguments, "--out", &path.to_string_lossy());
            NoFolder::Folder(Failure::usage(format!("--out: {message}")).at(place))
        };
        let cannot =
            |error: &std::io::Error| refuse(format!("cannot write into {}: {error}", path.display()));
        check_folder(path).map_err(|error| cannot(&error))?;
        std::fs::create_dir_all(path).map_err(|error| cannot(&error))?;
        let names = sweep.choices.iter().map(|choice| choice.entry.name);
        let mut manifest = manifest(sweep, &hash);
        if let Some(source) = source_hash(names, registry) {
            manifest.insert(OF_SOURCE.to_owned(), source.into());
        }
        let file = path.join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest).unwrap_or_default() + "\n";
        let new =
            write_new(&file, text.as_bytes()).map_err(|error| NoFolder::Folder(Failure::write(error)))?;
        if !new {
            let found = read_plain_text(&file)
                .map_err(|error| refuse(format!("cannot read {}: {error}", file.display())))?;
            let found: Map<String, Value> = serde_json::from_str(&found)
                .map_err(|error| refuse(format!("{} is no manifest of a sweep: {error}", file.display())))?;
            if let Some(difference) = difference(&found, &manifest) {
                return Err(refuse(format!(
                    "{} belongs to another sweep: {difference}; choose another folder",
                    path.display()
                )));
            }
        }
        Ok(Self {
            path: path.to_path_buf(),
            of: sweep,
            sweep: hash,
            rows_a_path: sweep.rows_a_path(),
            paths_of: (0..sweep.parts())
                .map(|part| sweep.paths_of(part))
                .map(|paths| paths.end - paths.start)
                .collect(),
        })
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns those of `parts` that are missing or incomplete in the folder. A part that cannot be read, or that an interrupted earlier
    /// build wrote, is reported and counts as missing.
    ///
    /// # Errors
    /// Fails for a part of another sweep, which is left unchanged.
    pub(crate) fn missing(&self, parts: &[u64]) -> Result<Vec<u64>, Failure> {
        let (mut missing, mut builds) = (Vec::new(), BTreeSet::new());
        for part in parts.iter().copied() {
            let file = self.file(part);
            let bytes = match read_plain(&file) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    missing.push(part);
                    continue;
                }
                Err(error) => return Err(Failure::usage(format!("cannot read {}: {error}", file.display()))),
            };
            let paths = usize::try_from(part).ok().and_then(|part| self.paths_of.get(part));
            let rows = paths.map_or(0, |paths| paths * self.rows_a_path);
            let wanted = PartLabel { sweep: self.sweep.clone(), part, rows };
            match part::from_bytes(bytes) {
                Ok((label, records)) if label == wanted => match self.interrupted(&records) {
                    None => builds.extend(part::builds(&records)),
                    Some(path) => {
                        let said = format!("{} is to be raced again: {}", file.display(), interrupted(path));
                        output::say(&(excerpt::message(&said) + "\n"));
                        missing.push(part);
                    }
                },
                Ok((label, _)) => {
                    return Err(Failure::usage(format!(
                        "{} is part {} with {} rows of the sweep {}; part {part} with {rows} rows of {} belongs there",
                        file.display(),
                        label.part,
                        label.rows,
                        label.sweep,
                        self.sweep
                    )));
                }
                Err(error) => {
                    let said = format!("{} is not whole and is to be raced again: {error}", file.display());
                    output::say(&excerpt::message(&said));
                    missing.push(part);
                }
            }
        }
        self.say_builds(&mut builds);
        Ok(missing)
    }

    /// Finds a path without byte-counting slow start, which an interrupted sweep of an earlier build left out; `None` if there is none.
    fn interrupted(&self, records: &[Record]) -> Option<u64> {
        let is_transfer = |path| {
            let scenario = self.of.scenario(path);
            scenario.is_ok_and(|scenario| matches!(scenario.contest().goal, Goal::Transfer { .. }))
        };
        part::path_without_reference(records, is_transfer)
    }

    /// Reports the existing parts that other builds of the program raced.
    fn say_builds(&self, builds: &mut BTreeSet<String>) {
        builds.remove(BUILD);
        if !builds.is_empty() {
            let others: Vec<String> = std::mem::take(builds).into_iter().collect();
            output::note(&[format!(
                "parts in {} were raced by {}; this is build {BUILD}, so that the rows are of several programs",
                excerpt::name(&self.path),
                named_builds(&others)
            )]);
        }
    }

    /// Writes a part, completely or not at all. If its name is a symbolic link, the link is replaced, and the link's target is unchanged.
    pub(crate) fn put(&self, part: u64, rows: &[SweptRow]) -> Result<(), Failure> {
        let bytes = part::to_bytes(&self.sweep, part, rows).map_err(Failure::write)?;
        let file = self.file(part);
        if std::fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink()) {
            std::fs::remove_file(&file)
                .map_err(|error| Failure::write(format!("cannot write {}: {error}", file.display())))?;
        }
        write_whole(&file, &bytes).map_err(Failure::write)
    }

    fn file(&self, part: u64) -> PathBuf {
        self.path.join(part_name(part))
    }
}

/// Describes the fault of a part that an interrupted sweep of an earlier build wrote.
pub(crate) fn interrupted(path: u64) -> String {
    format!(
        "its path {path} lacks slow start that counts bytes, because an earlier build wrote it when it was interrupted"
    )
}

/// Names the builds of the program.
pub(crate) fn named_builds(builds: &[String]) -> String {
    format!("{} {}", if builds.len() == 1 { "build" } else { "builds" }, builds.join(", "))
}

/// Returns the name of a part's file.
pub(crate) fn part_name(part: u64) -> String {
    format!("part-{part:06}.parquet")
}

/// Checks whether a file name is one that a sweep writes into its folder.
fn is_of_a_sweep(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == MANIFEST || (name.starts_with("part-") && name.ends_with(".parquet"))
}

/// Returns the files of a sweep in its folder. If `other` has a name that a sweep may write, the file of that name is included even if it
/// does not exist.
pub(crate) fn files_of_a_sweep(folder: &Path, other: &Path) -> Vec<PathBuf> {
    // A folder that cannot be read is refused when it is opened.
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name());
    let names = names.chain(other.file_name().map(ToOwned::to_owned));
    names.filter(|name| is_of_a_sweep(name)).map(|name| folder.join(name)).collect()
}

/// The fields of a manifest that the readers of parts need.
#[derive(Deserialize, Debug)]
pub(crate) struct Manifest {
    /// The version of the program that raced the sweep.
    pub(crate) version: String,
    /// The schemes, in the form of `--schemes`.
    pub(crate) schemes: String,
    pub(crate) seed: u64,
    pub(crate) paths: u64,
    /// The number of draws from which the paths come.
    draws: u64,
    pub(crate) runs: u64,
    pub(crate) give_up: Option<u64>,
    /// The number of paths in a part.
    part: u64,
    pub(crate) parts: u64,
    /// The hash of the sweep.
    pub(crate) sweep: String,
    /// The hash of the source code of schemes that are not built in, if it was known.
    source_hash: Option<String>,
}

impl Manifest {
    /// Reads the manifest of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let file = folder.join(MANIFEST);
        let text =
            read_plain_text(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
        let no_manifest = |why: &dyn Display| format!("{} is no manifest of a sweep: {why}", file.display());
        let manifest: Self = serde_json::from_str(&text).map_err(|error| no_manifest(&error))?;
        let &Self { paths, part, parts, draws, .. } = &manifest;
        if part == 0 || parts != paths.div_ceil(part) {
            return Err(no_manifest(&format!("{paths} paths, {part} a part, are not {parts} parts")));
        }
        if draws == 0 || !paths.is_multiple_of(draws) {
            return Err(no_manifest(&format!("{paths} paths are not of {draws} draws")));
        }
        Ok(manifest)
    }

    /// Returns the names that the schemes have in rows.
    pub(crate) fn names(&self, registry: Registry) -> Result<Vec<String>, String> {
        let choices = registry
            .parse_choices(&self.schemes)
            .map_err(|error| format!("{MANIFEST} has `schemes` that cannot be read: {error}"))?;
        Ok(choices.iter().map(|choice| choice.name().to_owned()).collect())
    }

    /// Checks whether the rows are of another version of the source code of schemes that are not built in.
    pub(crate) fn is_of_other_source(&self, registry: Registry) -> bool {
        let choices = registry.parse_choices(&self.schemes).unwrap_or_default();
        let now = source_hash(choices.iter().map(|choice| choice.entry.name), registry);
        now.is_some() && self.source_hash.is_some() && now != self.source_hash
    }

    /// Returns the number of consecutive paths that come from one draw.
    pub(crate) fn paths_a_draw(&self) -> u64 {
        self.paths / self.draws.max(1)
    }

    /// Returns the indices of the paths of a part.
    pub(crate) fn paths_of(&self, part: u64) -> Range<u64> {
        let from = part.saturating_mul(self.part).min(self.paths);
        from..from.saturating_add(self.part).min(self.paths)
    }
}

/// Returns the manifest's fields, which identify the sweep.
fn manifest(sweep: &Sweep, hash: &str) -> Map<String, Value> {
    let fields: [(&str, Value); 12] = [
        ("version", VERSION.into()),
        (OF_BUILD, BUILD.into()),
        (OF_POPULATION, sweep.population.as_ref().map(|list| list.source.clone()).into()),
        ("schemes", sweep.schemes().into()),
        ("paths", sweep.paths().into()),
        ("draws", sweep.samples().into()),
        ("runs", sweep.runs.into()),
        ("seed", sweep.seed.into()),
        ("give_up", sweep.give_up.into()),
        ("part", sweep.part.into()),
        ("parts", sweep.parts().into()),
        ("sweep", hash.into()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Describes the first field in which a manifest differs from this sweep's; `None` if none does. The build that created the folder may
/// differ, because each row has its own build, and so may the name of the population, because its paths and weights are compared.
fn difference(found: &Map<String, Value>, wanted: &Map<String, Value>) -> Option<String> {
    let is_compared = |key: &str| ![OF_BUILD, OF_POPULATION].contains(&key);
    let other = wanted.iter().find(|(key, value)| is_compared(key) && found.get(*key) != Some(value))?;
    let of = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    Some(match other.0.as_str() {
        "sweep" => "its paths, or their weights or names, are others".to_owned(),
        OF_SOURCE => "the source code of its schemes is another version".to_owned(),
        key => format!("its `{key}` is {} and this one's is {}", of(found.get(key)), of(Some(other.1))),
    })
}
