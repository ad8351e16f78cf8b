//! Reads the rows of earlier results: files that a command wrote, or the folder of a sweep.

use std::fs;
use std::path::Path;

use firstflight_diff::Side;
use firstflight_export::record::text;
use firstflight_export::{Record, csv, parquet, part};
use firstflight_trace::in_a_line;
use serde_json::Value;

use crate::sweep::folder::{Manifest, part_name};
use crate::targets::read_plain;

/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The marks of rows and files without all of their runs.
const INTERRUPTED: &str = "interrupted";

/// Reads the rows of a file (Parquet, JSON lines or CSV, by its content), or of the folder of a sweep.
///
/// # Errors
/// Returns one line with the path and the fault: a file that is no result, is damaged, or lacks runs.
pub(crate) fn side(path: &Path) -> Result<Side, String> {
    let shown = in_a_line(&path.to_string_lossy()).clone();
    let (rows, paths_a_draw) = rows(path).map_err(|why| format!("{shown}: {why}"))?;
    Side::new(rows, paths_a_draw).map_err(|why| format!("{shown}: {why}"))
}

fn rows(path: &Path) -> Result<(Vec<Record>, u64), String> {
    let found = fs::metadata(path).map_err(|error| format!("cannot be read: {error}"))?;
    if found.is_dir() {
        return of_folder(path);
    }
    let bytes = read_plain(path).map_err(|error| format!("cannot be read: {error}"))?;
    let rows = if bytes.starts_with(PARQUET) {
        let (rows, is_partial) = parquet::read_so_far(bytes).map_err(|error| error.to_string())?;
        if is_partial {
            return Err("its writer had not finished, so that rows are missing".to_owned());
        }
        rows
    } else if bytes.trim_ascii_start().starts_with(b"{") {
        of_json(&bytes)?
    } else {
        let rows = csv::read(&bytes).map_err(|error| error.to_string())?;
        if !rows.iter().all(|row| row.contains_key("scheme") || row.contains_key("connection")) {
            return Err("it is neither Parquet, nor JSON lines, nor CSV that firstflight wrote".to_owned());
        }
        rows
    };
    if rows.iter().any(|row| !text(row, INTERRUPTED).is_empty()) {
        return Err("its command was interrupted, so that runs are missing".to_owned());
    }
    Ok((rows, 1))
}

fn of_json(bytes: &[u8]) -> Result<Vec<Record>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is no text in UTF-8".to_owned())?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let record = |(index, line): (usize, &str)| match serde_json::from_str(line) {
        Ok(Value::Object(record)) => Ok(record),
        Ok(_) => Err(format!("line {} is no object", index + 1)),
        Err(error) => Err(format!("line {} is no JSON: {error}", index + 1)),
    };
    lines.map(record).collect()
}

fn of_folder(folder: &Path) -> Result<(Vec<Record>, u64), String> {
    let manifest = Manifest::read(folder)?;
    let mut rows = Vec::new();
    for number in 0..manifest.parts {
        let file = folder.join(part_name(number));
        let bytes = match read_plain(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let of = manifest.parts;
                return Err(format!("part {number} of {of} is missing; `firstflight sweep` races it"));
            }
            Err(error) => return Err(format!("{} cannot be read: {error}", part_name(number))),
        };
        let fault = |why: String| format!("{}: {why}", part_name(number));
        let (label, records) = part::from_bytes(bytes).map_err(|error| fault(error.to_string()))?;
        if label.sweep != manifest.sweep || label.part != number {
            return Err(fault("it is of another sweep".to_owned()));
        }
        rows.extend(records);
    }
    Ok((rows, manifest.paths_a_draw()))
}
