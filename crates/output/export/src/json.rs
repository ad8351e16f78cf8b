//! JSON lines: one object on each line. The bytes are identical on every machine.

use std::fmt::Write as _;
use std::io::{self, Write};

use firstflight_trace::is_printable;
use serde::Serialize;

/// Writes each row as one JSON object on its own line.
///
/// Numbers are printed in the shortest form that parses back to the same number, so the bytes do not depend on the machine. A non-finite
/// number is `null`.
///
/// # Errors
/// Returns the writer's error, or `InvalidData` for a row that cannot be serialised.
pub fn write_lines<W: Write, T: Serialize>(out: &mut W, rows: &[T]) -> io::Result<()> {
    for row in rows {
        out.write_all(line(row)?.as_bytes())?;
    }
    Ok(())
}

/// Returns one row as a line, including the newline.
///
/// # Errors
/// Returns `InvalidData` if the row cannot be serialised.
pub fn line<T: Serialize>(row: &T) -> io::Result<String> {
    let line =
        serde_json::to_string(row).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(printable(line) + "\n")
}

/// Escapes all unprintable characters in the texts of some JSON. This does not change the JSON's meaning.
pub fn printable(json: String) -> String {
    if json.chars().all(is_printable) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_printable(c) || c == '\n' {
            out.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::Row;

    #[test]
    fn every_row_is_one_line_and_reads_back() {
        let rows = [
            Row { scheme: "a\nb".into(), throughput_bps: 59_300_000.125, ..Row::default() },
            Row { scheme: "c".into(), exit_time_s: Some(0.1), ..Row::default() },
        ];
        let mut out = Vec::new();
        write_lines(&mut out, &rows).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "a newline in a label must not end the line");
        let first: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        assert_eq!(first["scheme"], "a\nb");
        assert_eq!(first["throughput_bps"], 59_300_000.125);
        assert!(lines[1].contains("\"exit_time_s\":0.1,"), "shortest form: {}", lines[1]);
        assert!(lines[1].contains("\"su_time_s\":null"));
        assert!(!lines[1].contains("fct_s"), "no size, no completion time");
    }

    #[test]
    fn json_lines_contain_no_control_characters_and_read_back_unchanged() {
        let text = "a\u{1b}[2J\u{9b}b\u{202e}c\u{e0041}d\n\"\\é";
        let row = Row { scheme: text.into(), ..Row::default() };
        let line = line(&row).unwrap();
        assert!(line.trim_end_matches('\n').chars().all(is_printable), "{line:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&line).unwrap()["scheme"], text);
    }

    #[test]
    fn a_non_finite_number_is_null() {
        let row = Row { throughput_bps: f64::NEG_INFINITY, ..Row::default() };
        assert!(line(&row).unwrap().contains("\"throughput_bps\":null"));
    }
}
