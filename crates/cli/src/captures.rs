//! The captures that `inspect` reads: files, compressed or not, and standard input. This module also detects which files are pieces of one
//! capture.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use firstflight_capture::{ReadError, Reader, Unzip};
use firstflight_inspect::{Continuation, Inspector};
use firstflight_qlog::is_qlog;

use crate::excerpt;
use crate::failure::Failure;

/// The number of bytes by which a qlog is recognised.
const FIRST: u64 = 4_096;

/// A file as a stream of bytes, unpacked. The first bytes were read already.
pub(crate) struct Input {
    first: Cursor<Vec<u8>>,
    rest: Unzip<Box<dyn Read>>,
}

impl Input {
    /// Checks whether the compressed file ended too early.
    pub(crate) fn is_cut(&self) -> bool {
        self.rest.is_cut()
    }

    /// Checks whether the file is a qlog and no capture.
    pub(crate) fn is_qlog(&self) -> bool {
        is_qlog(self.first.get_ref())
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.first.read(buffer)? {
            0 => self.rest.read(buffer),
            count => Ok(count),
        }
    }
}

/// How a capture ended too early.
pub(crate) enum Early {
    /// It ended within a packet.
    Cut(firstflight_capture::Cut),
    /// The compressed file ended too early, after this number of unpacked bytes.
    Compressed(u64),
}

/// Checks whether the path is the name of standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns the captures in the order in which they must be read. This is the given order, with one exception: captures whose names differ
/// only in digits, as those of pieces do, are sorted by the times of their first packets. The files of a ring buffer may start at any
/// number.
///
/// # Errors
/// Fails if standard input is given twice, or if the system cannot read a file.
pub(crate) fn in_order(paths: &[PathBuf]) -> Result<Vec<&Path>, Failure> {
    if paths.iter().filter(|path| is_stdin(path)).count() > 1 {
        return Err(Failure::usage("standard input (-) can be read once only"));
    }
    let mut ordered: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let bare: Vec<String> = ordered.iter().map(|path| without_digits(path)).collect();
    for name in &bare {
        let places: Vec<usize> = (0..bare.len()).filter(|at| bare[*at] == *name).collect();
        // Each group of pieces is sorted once.
        if places.len() < 2 || bare[places[0]].as_ptr() != name.as_ptr() {
            continue;
        }
        let mut group: Vec<(Option<u64>, &Path)> = Vec::new();
        for at in &places {
            let path = paths[*at].as_path();
            group.push((first_at(path)?, path));
        }
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

/// Returns the time of a file's first packet; `None` if the path is not a file or not a capture.
///
/// # Errors
/// Fails if the system cannot read the file, because the order would be different without it.
fn first_at(path: &Path) -> Result<Option<u64>, Failure> {
    if !is_file(path) {
        return Ok(None);
    }
    let input = open(path).map_err(|error| unreadable(path, &error))?;
    let first =
        || -> Result<Option<u64>, ReadError> { Ok(Reader::new(input)?.next_frame()?.map(|frame| frame.at)) };
    unless_unreadable(path, first())
}

/// Returns the result of a read, with a malformed capture as `None`. A malformed capture is reported when it is read in full, so only read
/// errors of the system are returned.
fn unless_unreadable<T>(path: &Path, read: Result<Option<T>, ReadError>) -> Result<Option<T>, Failure> {
    match read {
        Ok(found) => Ok(found),
        Err(error @ ReadError::Io { .. }) => Err(unreadable(path, &error)),
        Err(ReadError::Format { .. }) => Ok(None),
    }
}

/// Checks whether the path is a file and can therefore be read again.
fn is_file(path: &Path) -> bool {
    !is_stdin(path) && fs::metadata(path).is_ok_and(|found| found.is_file())
}

fn open(path: &Path) -> io::Result<Input> {
    let input: Box<dyn Read> =
        if is_stdin(path) { Box::new(io::stdin().lock()) } else { Box::new(File::open(path)?) };
    let mut rest = Unzip::new(input)?;
    let mut first = Vec::new();
    rest.by_ref().take(FIRST).read_to_end(&mut first)?;
    Ok(Input { first: Cursor::new(first), rest })
}

/// Opens a capture or a qlog.
///
/// # Errors
/// Fails if the system cannot read the file.
pub(crate) fn opened(path: &Path) -> Result<Input, Failure> {
    open(path).map_err(|error| unreadable(path, &error))
}

/// Reads a capture. Returns how it ended too early; `None` if it is whole.
pub(crate) fn read(
    inspector: &mut Inspector,
    path: &Path,
    mut input: Input,
) -> Result<Option<Early>, Failure> {
    let bytes = Cell::new(0);
    let read = inspector.read(Counted { input: &mut input, bytes: &bytes });
    let cut = read.map_err(|error| {
        let early = if input.is_cut() { "; the compressed file ends early" } else { "" };
        unreadable(path, &format!("{error}{early}"))
    })?;
    Ok(if input.is_cut() { Some(Early::Compressed(bytes.get())) } else { cut.map(Early::Cut) })
}

/// Returns how the next capture continues the one that was read; `None` if it does not.
///
/// # Errors
/// Fails if the system cannot read the file, because the capture would be a different one without it.
pub(crate) fn continues(inspector: &mut Inspector, path: &Path) -> Result<Option<Continuation>, Failure> {
    if !is_file(path) {
        return Ok(None);
    }
    let input = open(path).map_err(|error| unreadable(path, &error))?;
    unless_unreadable(path, inspector.continues(input))
}

/// Returns the failure for a file that cannot be read.
pub(crate) fn unreadable(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", shown(path)))
}

/// Returns the name of a capture for messages.
pub(crate) fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { excerpt::name(path) }
}

/// A reader that counts the bytes it reads.
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
