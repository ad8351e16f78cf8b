//! Writes to standard output and standard error. No other module writes to the user. Text may contain words of others (peers, files, the
//! kernel), so unprintable characters are always written as visible escapes.

use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

use firstflight_export::{Record, csv, json};
use firstflight_report::prose;
use firstflight_trace::{in_a_line, in_lines};
use terminal_size::{Width, terminal_size_of};

use crate::failure::Failure;
use crate::partial::Partial;
use crate::session;

/// Writes `text` completely to standard output; it may have several lines. Unprintable characters are written as escapes. Line ends are
/// kept, and colour sequences are kept if standard output shows colours.
///
/// If the reader closed the pipe early, that is not a failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let shown = if stdout_has_colour() { in_coloured_lines(text) } else { in_lines(text) };
    print_bytes(shown.as_bytes())
}

/// Writes `text` to standard output as [`print`] does, broken between words at the terminal's width.
pub(crate) fn print_words(text: &str) -> Result<(), Failure> {
    print(&prose::fold(text, stdout_width(), 2))
}

/// Writes `bytes` completely and unchanged to standard output. They are for programs.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    if let Some(session) = session::current() {
        session.print(bytes);
        return Ok(());
    }
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::write(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Returns standard output for bytes that arrive piece by piece, which are written unchanged.
pub(crate) fn stdout_of_bytes() -> impl Write {
    io::stdout().lock()
}

/// Prints records for programs if the options request them: JSON with one object on each line, or CSV. Records of partial results are
/// marked. Returns whether records were printed.
pub(crate) fn print_records(
    records: &[Record],
    partial: Option<&Partial>,
    (json, csv): (bool, bool),
) -> Result<bool, Failure> {
    let marked = partial.map(|partial| partial.marked(records));
    let records = marked.as_deref().unwrap_or(records);
    session::table("rows", || records.to_vec());
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

/// Writes a line to standard error, broken between words at the terminal's width. A failure is ignored, because it could not be reported
/// anywhere. Unprintable characters are written as escapes, and so are line ends, except the last one.
pub(crate) fn say(line: &str) {
    say_lines(&(in_a_line(line.strip_suffix('\n').unwrap_or(line)) + "\n"));
}

/// Writes several lines to standard error, each as [`say`] does.
pub(crate) fn say_lines(text: &str) {
    say_as_it_is(&prose::fold(text, stderr_width(), 2));
}

/// Writes lines to standard error without breaking them.
pub(crate) fn say_as_it_is(text: &str) {
    if let Some(session) = session::current() {
        return session.say(&in_lines(text));
    }
    let mut err = io::stderr().lock();
    drop(err.write_all(in_lines(text).as_bytes()));
}

/// Escapes text as [`in_lines`] does, but keeps the sequences that set colours.
fn in_coloured_lines(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut out = in_lines(pieces.next().unwrap_or_default());
    for piece in pieces {
        let digits = piece
            .strip_prefix('[')
            .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';'));
        match digits.and_then(|rest| rest.strip_prefix('m')) {
            Some(rest) => {
                out.push('\u{1b}');
                out.push_str(piece.strip_suffix(rest).unwrap_or_default());
                out.push_str(&in_lines(rest));
            }
            None => out.push_str(&in_lines(&format!("\u{1b}{piece}"))),
        }
    }
    out
}

/// Reports on standard error that a file was written. A program that carries out a command chose the file itself.
pub(crate) fn say_written(path: &Path) {
    if session::current().is_some() {
        return;
    }
    say_as_it_is(&(in_a_line(&format!("wrote {}", path.display())) + "\n"));
}

/// Prints notes to standard error, before the results.
pub(crate) fn note(lines: &[String]) {
    for line in lines {
        say(&format!("note: {line}\n"));
    }
}

/// Returns the width of standard output: `COLUMNS` if set, or else the terminal's width. `None` if standard output is not a terminal; then
/// nothing is left out and no line is broken.
pub(crate) fn stdout_width() -> Option<usize> {
    if let Some(session) = session::current() {
        return session.width();
    }
    let stdout = io::stdout();
    said_width().or_else(|| terminal_size_of(&stdout).map(|(Width(width), _)| usize::from(width)))
}

/// Returns the width of standard error, determined as in [`stdout_width`].
pub(crate) fn stderr_width() -> Option<usize> {
    if let Some(session) = session::current() {
        return session.width();
    }
    let stderr = io::stderr();
    said_width().or_else(|| terminal_size_of(&stderr).map(|(Width(width), _)| usize::from(width)))
}

/// Returns the value of the environment variable `COLUMNS`; `None` if it is not a positive number.
fn said_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|width| *width > 0)
}

/// Returns whether standard output shows colours: it is a terminal, and `NO_COLOR` does not forbid them.
pub(crate) fn stdout_has_colour() -> bool {
    session::current().is_none() && io::stdout().is_terminal() && !colour_refused()
}

/// Checks whether `NO_COLOR` (<https://no-color.org>) forbids colours: it is set and not empty.
fn colour_refused() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coloured_output_keeps_colour_escapes_and_escapes_other_control_characters() {
        let text = "\u{1b}[1;32mgreen\u{1b}[0m \u{1b}[2J\u{1b}]0;x\u{7}m\u{9b}1m\n\u{202e}\u{1b}";
        let shown = "\u{1b}[1;32mgreen\u{1b}[0m \\u{1b}[2J\\u{1b}]0;x\\u{7}m\\u{9b}1m\n\\u{202e}\\u{1b}";
        assert_eq!(in_coloured_lines(text), shown);
        assert_eq!(in_lines(text), shown.replace('\u{1b}', "\\u{1b}"));
    }
}
