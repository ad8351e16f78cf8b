//! Standard output and standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use firstflight_report::{Record, csv, json, prose};
use terminal_size::{Width, terminal_size_of};

use crate::excerpt;
use crate::failure::Failure;

/// Writes `text` to standard output whole.
///
/// A reader that has seen enough and closed the pipe is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// Writes `text` to standard output as [`print`] does, broken between words where the terminal ends.
pub(crate) fn print_words(text: &str) -> Result<(), Failure> {
    print(&prose::fold(text, stdout_width(), 2))
}

/// Writes `bytes` to standard output whole, as [`print`] does.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::write(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints records for programs, where those were asked for: as JSON, an object a line, or as CSV. Returns whether it did.
pub(crate) fn print_records(records: &[Record], json: bool, csv: bool) -> Result<bool, Failure> {
    let mut bytes = Vec::new();
    if json {
        json::write_lines(&mut bytes, records).map_err(Failure::write)?;
    } else if csv {
        bytes = csv::to_bytes(records).map_err(Failure::write)?;
    } else {
        return Ok(false);
    }
    print_bytes(&bytes)?;
    Ok(true)
}

/// Says `text` on standard error, broken between words where the terminal ends, as far as that is possible: there is nowhere
/// to report its failure.
pub(crate) fn say(text: &str) {
    say_as_it_is(&prose::fold(text, stderr_width(), 2));
}

/// Says `text` on standard error without breaking its lines.
pub(crate) fn say_as_it_is(text: &str) {
    let mut err = io::stderr().lock();
    drop(err.write_all(text.as_bytes()));
}

/// Says that a file was written.
pub(crate) fn say_written(path: &Path) {
    say_as_it_is(&format!("wrote {}\n", excerpt::name(path)));
}

/// Prints notes to standard error, before the results.
pub(crate) fn note(lines: &[String]) {
    for line in lines {
        say(&format!("note: {line}\n"));
    }
}

/// The columns of standard output: those that `COLUMNS` says, else the terminal's. `None` if it is no terminal: then nothing
/// is left out and no line is broken.
pub(crate) fn stdout_width() -> Option<usize> {
    let stdout = io::stdout();
    said_width().or_else(|| terminal_size_of(&stdout).map(|(Width(width), _)| usize::from(width)))
}

/// The columns of standard error, as [`stdout_width`] has those of standard output.
pub(crate) fn stderr_width() -> Option<usize> {
    let stderr = io::stderr();
    said_width().or_else(|| terminal_size_of(&stderr).map(|(Width(width), _)| usize::from(width)))
}

/// What the environment's `COLUMNS` says, if it is a number of columns.
fn said_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

/// Whether standard output shows colours: a terminal that can, and nobody asked for none.
pub(crate) fn stdout_has_colour() -> bool {
    io::stdout().is_terminal() && !colour_refused()
}

/// <https://no-color.org>: set and not empty.
fn colour_refused() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
