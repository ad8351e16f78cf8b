//! The captures that `inspect` reads: files, compressed or not, and standard input; and which of them are pieces of one.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use firstflight_inspect::{Capture, Continuation, Inspector, Unzip};

use crate::excerpt;
use crate::failure::Failure;

/// A capture as it comes.
type Input = Unzip<Box<dyn Read>>;

/// Where a capture ended too early.
pub(crate) enum Early {
    /// Within a packet.
    Cut(firstflight_inspect::Cut),
    /// The compressed file ended: so many bytes were unpacked.
    Compressed(u64),
}

/// Whether the name is that of standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The captures in the order in which they are read: as given; those whose names differ in digits only, as those of pieces do, by
/// the times of their first packets, for a ring of pieces begins anywhere.
pub(crate) fn in_order(paths: &[PathBuf]) -> Result<Vec<&Path>, Failure> {
    if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Failure::usage("standard input (-) can be read once only"));
    }
    let mut ordered: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let bare: Vec<String> = ordered.iter().map(|path| without_digits(path)).collect();
    for name in &bare {
        let places: Vec<usize> = (0..bare.len()).filter(|at| bare[*at] == *name).collect();
        // Each group once.
        if places.len() < 2 || bare[places[0]].as_ptr() != name.as_ptr() {
            continue;
        }
        let mut group: Vec<(Option<u64>, &Path)> =
            places.iter().map(|at| (first_at(paths[*at].as_path()), paths[*at].as_path())).collect();
        if group.iter().all(|(at, _)| at.is_some()) {
            group.sort_by_key(|(at, _)| *at);
        }
        places.iter().zip(group).for_each(|(at, (_, path))| ordered[*at] = path);
    }
    Ok(ordered)
}

fn without_digits(path: &Path) -> String {
    path.to_string_lossy().chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// The time of a file's first packet; `None` of what is no file, or no capture.
fn first_at(path: &Path) -> Option<u64> {
    if !is_file(path) {
        return None;
    }
    Capture::new(open(path).ok()?).ok()?.next_frame().ok()?.map(|frame| frame.at)
}

/// What is read without being used up.
fn is_file(path: &Path) -> bool {
    !is_stdin(path) && fs::metadata(path).is_ok_and(|found| found.is_file())
}

fn open(path: &Path) -> io::Result<Input> {
    let input: Box<dyn Read> =
        if is_stdin(path) { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
    Unzip::new(input)
}

/// Reads a capture; says where it ends too early, if it does.
pub(crate) fn read(inspector: &mut Inspector, path: &Path) -> Result<Option<Early>, Failure> {
    let mut input = open(path).map_err(|error| unreadable(path, &error))?;
    let bytes = Cell::new(0);
    let read = inspector.read(Counted { input: &mut input, bytes: &bytes });
    let cut = read.map_err(|error| {
        let early = if input.is_cut() { "; the compressed file ends early" } else { "" };
        unreadable(path, &format!("{error}{early}"))
    })?;
    Ok(if input.is_cut() { Some(Early::Compressed(bytes.get())) } else { cut.map(Early::Cut) })
}

/// Whether the next capture goes on with what was read, and how.
pub(crate) fn continues(inspector: &mut Inspector, path: &Path) -> Option<Continuation> {
    let input = is_file(path).then(|| open(path).ok()).flatten()?;
    // What is wrong with it is said when it is read.
    inspector.continues(input).ok().flatten()
}

fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", shown(path)))
}

/// The name of a capture in messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { excerpt::name(path) }
}

/// The bytes that pass.
struct Counted<'a> {
    input: &'a mut Input,
    bytes: &'a Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.set(self.bytes.get() + count as u64);
        Ok(count)
    }
}
