//! Comma-separated values: a header, then one line for each result (RFC 4180). Unprintable characters of a text are written as visible
//! escapes, because CSV itself has no escapes.

use std::fmt;

use firstflight_trace::in_a_line;
use serde_json::Value;

use crate::record::{self, Record};

/// The results could not be written as CSV.
#[derive(Debug)]
pub struct CsvError(String);

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot build the CSV: {}", self.0)
    }
}

impl std::error::Error for CsvError {}

/// Returns the records as CSV. Null and absent fields are empty. Numbers are the same text as in the JSON.
///
/// # Errors
/// Fails if the CSV encoder fails.
pub fn to_bytes(records: &[Record]) -> Result<Vec<u8>, CsvError> {
    let fields = record::fields(records);
    let mut bytes = lines([fields.iter().map(String::clone)])?;
    bytes.extend(lines(records.iter().map(|record| fields.iter().map(|field| cell(record.get(field)))))?);
    Ok(bytes)
}

/// Writes lines of cells as CSV.
pub(crate) fn lines<L>(lines: impl IntoIterator<Item = L>) -> Result<Vec<u8>, CsvError>
where
    L: IntoIterator<Item = String>,
{
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.write_record(line).map_err(|error| CsvError(error.to_string()))?;
    }
    writer.into_inner().map_err(|error| CsvError(error.to_string()))
}

/// Returns a text that no spreadsheet treats as a formula: if it starts like a formula, an apostrophe is put before it.
fn plain(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '@']) || text.len() > 1 && text.starts_with('-');
    if is_formula { format!("'{text}") } else { text.to_owned() }
}

pub(crate) fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => plain(&in_a_line(text)),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use firstflight_measure::Row;

    #[test]
    fn no_text_is_a_formula() {
        for (text, shown) in [
            ("=1+1", "'=1+1"),
            ("-2+3", "'-2+3"),
            ("+cmd", "'+cmd"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\\t=1"),
            ("-", "-"),
            ("hystart++", "hystart++"),
            ("10.0.0.1:80", "10.0.0.1:80"),
        ] {
            assert_eq!(cell(Some(&Value::from(text))), shown);
        }
        assert_eq!(cell(Some(&Value::from(-3))), "-3", "a number is none");
    }

    #[test]
    fn the_cells_read_back_on_one_line_whatever_the_label_holds() {
        let rows = [
            Row { scheme: "slow-start".into(), label: Some("a,\"b\"\nc\u{9b}".into()), ..Row::default() },
            Row {
                scheme: "paced".into(),
                harm_during_lost_packets: -3,
                cost: Some(Some(1.25)),
                ..Row::default()
            },
        ];
        let bytes = to_bytes(&records(&rows).unwrap()).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let header = reader.headers().unwrap().clone();
        let at = |name: &str| header.iter().position(|h| h == name).unwrap();
        let read: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(read.len(), 2);
        assert_eq!(&read[0][at("label")], "a,\"b\"\\nc\\u{9b}");
        assert_eq!(bytes.split(|byte| *byte == b'\n').count(), 4);
        assert_eq!(&read[1][at("label")], "");
        assert_eq!(&read[1][at("harm_during_lost_packets")], "-3");
        assert_eq!(&read[1][at("cost")], "1.25");
        assert_eq!(&read[0][at("cost")], "", "absent where there is no size");
        assert_eq!(&read[0][at("exit_time_s")], "", "null is empty, never a made-up number");
    }
}
