//! The qlogs that `firstflight inspect` reads.

use std::path::Path;

use firstflight_inspect::QuicLog;
use firstflight_qlog::{self as qlog, Connection, Event};

use super::Telling;
use super::options::Inspect;
use super::shown;
use crate::captures::{self, Input};
use crate::excerpt;
use crate::failure::Failure;
use crate::output;

/// Maximum number of connections of a file that are drawn.
const MAX_DRAWN: usize = 64;

/// Reads a qlog, and passes its connections to `telling`. Returns a line of text about what was read and left out, and the number of
/// connections.
pub(super) fn read(
    path: &Path,
    mut input: Input,
    options: &Inspect,
    telling: &mut Telling<'_>,
) -> Result<(String, u64), Failure> {
    let shown = captures::shown(path);
    let is_drawn = shown::drawn(options) > 0;
    let mut logs: Vec<QuicLog> = Vec::new();
    let summary = qlog::read(&mut input, &mut |index: usize, at: u64, event: &Event<'_>| {
        while logs.len() <= index {
            logs.push(QuicLog::new(is_drawn && logs.len() < MAX_DRAWN));
        }
        logs[index].event(at, event);
    });
    let summary = summary.map_err(|error| captures::unreadable(path, &error))?;
    let is_gzip_cut = input.is_cut().then(|| "the compressed file ends early".to_owned());
    let early = is_gzip_cut.or(summary.early);
    if let Some(why) = &early {
        output::say(&format!("warning: {shown}: {}; what came before is used\n", excerpt::message(why)));
    }
    let several = summary.connections.len() > 1;
    let mut count = 0;
    logs.resize_with(summary.connections.len(), || QuicLog::new(false));
    for (log, connection) in logs.into_iter().zip(&summary.connections) {
        notes(&shown, connection, several);
        if connection.notes.packets > 0 {
            count += 1;
            telling.take(&path.display().to_string(), vec![log.finish(count, connection, early.is_some())]);
        }
    }
    telling.check()?;
    let version = summary.version.as_deref().map_or("without a version".to_owned(), excerpt::message);
    let noted = [
        (summary.connections.iter().map(|one| one.notes.packets).sum(), "packets sent"),
        (summary.broken, "records that are not JSON"),
    ];
    let noted = noted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("; {count} {what}"));
    let plural = if count == 1 { "" } else { "s" };
    let ends_early = if early.is_some() { "; the file ends early" } else { "" };
    let line = format!(
        "{shown}: qlog {version}, {} events of {count} QUIC connection{plural}{}{ends_early}",
        summary.events,
        noted.collect::<String>()
    );
    Ok((line, count as u64))
}

/// Prints what the log of a connection lacks.
fn notes(shown: &str, connection: &Connection, several: bool) {
    let of = if several { format!(" {}:", excerpt::message(&connection.title)) } else { String::new() };
    for line in connection.notes.lines() {
        output::say(&format!("note: {shown}:{of} {line}\n"));
    }
}
