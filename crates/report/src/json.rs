//! JSON lines: one object on each line, with identical bytes on every machine.

use std::io::{self, Write};

use serde::Serialize;

/// Writes each row as one JSON object on its own line.
///
/// Numbers are printed in the shortest form that reads back as the number, so that the bytes do not depend on the machine.
/// A non-finite number is `null`.
///
/// # Errors
/// The writer's error, or `InvalidData` for a row that does not serialise.
pub fn write_lines<W: Write, T: Serialize>(out: &mut W, rows: &[T]) -> io::Result<()> {
    for row in rows {
        out.write_all(line(row)?.as_bytes())?;
    }
    Ok(())
}

/// One row as a line, the newline included.
///
/// # Errors
/// `InvalidData` if the row does not serialise.
pub fn line<T: Serialize>(row: &T) -> io::Result<String> {
    let mut line =
        serde_json::to_string(row).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    line.push('\n');
    Ok(line)
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
    fn a_non_finite_number_is_null() {
        let row = Row { throughput_bps: f64::NEG_INFINITY, ..Row::default() };
        assert!(line(&row).unwrap().contains("\"throughput_bps\":null"));
    }
}
