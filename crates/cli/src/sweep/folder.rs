//! The folder of a sweep: a manifest that says which sweep it is, and a file a part.
//!
//! Every file takes its name when it is whole, so that whatever ends the process leaves whole parts and, at worst, a
//! hidden file that ends in `.tmp`, which nobody reads. Two processes that race the same part write the same bytes.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt::{self, Display};
use std::ops::Range;
use std::path::{Path, PathBuf};

use firstflight::registry::Registry;
use firstflight_lab::{BUILD, Sweep, SweptRow};
use firstflight_measure::VERSION;
use firstflight_report::part::{self, PartLabel};
use firstflight_report::{write_new, write_whole};
use firstflight_scenario::ByName;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::excerpt;
use crate::failure::{Failure, Place};
use crate::output;
use crate::targets::{check_folder, read_plain, read_plain_text};

/// The name of the file that says which sweep it is.
const MANIFEST: &str = "sweep.json";
/// The manifest's field of the program's build.
const OF_BUILD: &str = "build";

/// A folder that belongs to one sweep.
pub(crate) struct Folder {
    path: PathBuf,
    /// The sweep's hash.
    sweep: String,
    rows_a_path: u64,
    paths_of: Vec<u64>,
}

/// Why a folder cannot be had.
pub(crate) enum NoFolder {
    /// The sweep itself makes no sense.
    Sweep(String),
    /// The folder's fault.
    Folder(Failure),
}

impl NoFolder {
    /// As a failure; `file` is the sweep's.
    pub(crate) fn of(self, file: &dyn fmt::Display) -> Failure {
        match self {
            Self::Sweep(message) => Failure::usage(format!("{file}: {message}")),
            Self::Folder(failure) => failure,
        }
    }
}

impl Folder {
    /// The folder, made if it was not there, with the sweep's manifest, written if there was none.
    pub(crate) fn open(path: &Path, sweep: &Sweep, arguments: &[String]) -> Result<Self, NoFolder> {
        // All paths are looked at before anything is written.
        let hash = sweep.hash().map_err(|error| NoFolder::Sweep(error.to_string()))?;
        let refuse = |message: String| {
            let place = Place::value(arguments, "--out", &path.to_string_lossy());
            NoFolder::Folder(Failure::usage(format!("--out: {message}")).at(place))
        };
        let cannot =
            |error: &std::io::Error| refuse(format!("cannot write into {}: {error}", path.display()));
        check_folder(path).map_err(|error| cannot(&error))?;
        std::fs::create_dir_all(path).map_err(|error| cannot(&error))?;
        let manifest = manifest(sweep, &hash);
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
            sweep: hash,
            rows_a_path: sweep.rows_a_path(),
            paths_of: (0..sweep.parts())
                .map(|part| sweep.paths_of(part))
                .map(|paths| paths.end - paths.start)
                .collect(),
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Those of `parts` that are not there whole. A part that cannot be read is raced again, and that is said; one of
    /// another sweep is left alone, and refused.
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
                Ok((label, records)) if label == wanted => builds.extend(part::builds(&records)),
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
                    output::say(&(excerpt::message(&said) + "\n"));
                    missing.push(part);
                }
            }
        }
        self.say_builds(&mut builds);
        Ok(missing)
    }

    /// Says so where parts that are there were raced by other builds than this one.
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

    /// Writes a part, whole or not at all.
    pub(crate) fn put(&self, part: u64, rows: &[SweptRow]) -> Result<(), Failure> {
        let bytes = part::to_bytes(&self.sweep, part, rows).map_err(Failure::write)?;
        write_whole(&self.file(part), &bytes).map_err(Failure::write)
    }

    fn file(&self, part: u64) -> PathBuf {
        self.path.join(part_name(part))
    }
}

/// Builds of the program in words.
pub(crate) fn named_builds(builds: &[String]) -> String {
    format!("{} {}", if builds.len() == 1 { "build" } else { "builds" }, builds.join(", "))
}

/// The name of a part's file.
pub(crate) fn part_name(part: u64) -> String {
    format!("part-{part:06}.parquet")
}

/// Whether a file of this name in the folder of a sweep is one of its own.
fn is_of_a_sweep(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == MANIFEST || (name.starts_with("part-") && name.ends_with(".parquet"))
}

/// The files of a sweep in its folder; one of the name of `other` too, though it is missing.
pub(crate) fn files_of_a_sweep(folder: &Path, other: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name());
    let names = names.chain(other.file_name().map(ToOwned::to_owned));
    names.filter(|name| is_of_a_sweep(name)).map(|name| folder.join(name)).collect()
}

/// What a manifest says that those who read the parts need.
#[derive(Deserialize, Debug)]
pub(crate) struct Manifest {
    /// The version of the program that raced it.
    pub(crate) version: String,
    /// The schemes, as `--schemes` takes them.
    pub(crate) schemes: String,
    pub(crate) seed: u64,
    pub(crate) paths: u64,
    /// How many draws the paths are of.
    draws: u64,
    pub(crate) runs: u64,
    pub(crate) give_up: Option<u64>,
    /// Paths a part.
    part: u64,
    pub(crate) parts: u64,
    /// The sweep's hash.
    pub(crate) sweep: String,
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

    /// What the rows of the schemes are called.
    pub(crate) fn names(&self, registry: Registry) -> Result<Vec<String>, String> {
        let choices = registry
            .parse_choices(&self.schemes)
            .map_err(|error| format!("{MANIFEST} has `schemes` that cannot be read: {error}"))?;
        Ok(choices.iter().map(|choice| choice.name().to_owned()).collect())
    }

    /// How many paths in a row are of one draw.
    pub(crate) fn paths_a_draw(&self) -> u64 {
        self.paths / self.draws.max(1)
    }

    /// The paths of a part.
    pub(crate) fn paths_of(&self, part: u64) -> Range<u64> {
        let from = part.saturating_mul(self.part).min(self.paths);
        from..from.saturating_add(self.part).min(self.paths)
    }
}

/// What is said of a sweep beside its parts.
fn manifest(sweep: &Sweep, hash: &str) -> Map<String, Value> {
    let fields: [(&str, Value); 11] = [
        ("version", VERSION.into()),
        (OF_BUILD, BUILD.into()),
        ("schemes", sweep.schemes().into()),
        ("paths", sweep.paths().into()),
        ("draws", sweep.draws.into()),
        ("runs", sweep.runs.into()),
        ("seed", sweep.seed.into()),
        ("give_up", sweep.give_up.into()),
        ("part", sweep.part.into()),
        ("parts", sweep.parts().into()),
        ("sweep", hash.into()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The first field in which a manifest is another one's. The build that made the folder may be another: rows carry theirs.
fn difference(found: &Map<String, Value>, wanted: &Map<String, Value>) -> Option<String> {
    let other = wanted.iter().find(|(key, value)| *key != OF_BUILD && found.get(*key) != Some(value))?;
    let of = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), ToString::to_string);
    Some(match other.0.as_str() {
        "sweep" => "its paths are others".to_owned(),
        key => format!("its `{key}` is {} and this one's is {}", of(found.get(key)), of(Some(other.1))),
    })
}
