//! Standard output and standard error.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use crate::excerpt;
use crate::failure::Failure;

/// Writes `text` to standard output whole.
///
/// A reader that has seen enough and closed the pipe is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
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

/// Says `text` on standard error, as far as that is possible: there is nowhere to report its failure.
pub(crate) fn say(text: &str) {
    let mut err = io::stderr().lock();
    drop(err.write_all(text.as_bytes()));
}

/// Says that a file was written.
pub(crate) fn say_written(path: &Path) {
    say(&format!("wrote {}\n", excerpt::name(path)));
}

/// Prints notes to standard error, before the results.
pub(crate) fn note(lines: &[String]) {
    for line in lines {
        say(&format!("note: {line}\n"));
    }
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
