//! Comma-separated values: a header, then one line for each result (RFC 4180). Unprintable characters of a text are written as visible
//! escapes, because CSV itself has no escapes.

use std::fmt;

use firstflight_trace::in_a_line;
use serde_json::Value;

use crate::columns::{self, Kind};
use crate::record::{self, Record};

/// The results could not be written as CSV, or read.
#[derive(Debug)]
pub struct CsvError(String);

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CSV: {}", self.0)
    }
}

impl std::error::Error for CsvError {}

/// Reads records from CSV that [`to_bytes`] wrote. A field has the type of its column, and an empty cell is null. A field without a column
/// is a number if its cell is one.
///
/// # Errors
/// Fails with the line if the text is no CSV, a line has more or fewer cells than the header, or a number cannot be read.
pub fn read(bytes: &[u8]) -> Result<Vec<Record>, CsvError> {
    let fail = |error: ::csv::Error| CsvError(error.to_string());
    let mut reader = ::csv::Reader::from_reader(bytes);
    let fields: Vec<String> = reader.headers().map_err(fail)?.iter().map(str::to_owned).collect();
    let mut records = Vec::new();
    for line in reader.records() {
        let line = line.map_err(fail)?;
        let at = line.position().map_or(0, ::csv::Position::line);
        let mut record = Record::new();
        for (field, cell) in fields.iter().zip(line.iter()) {
            record.insert(field.clone(), typed(field, cell).ok_or_else(|| wrong(at, field, cell))?);
        }
        records.push(record);
    }
    Ok(records)
}

fn wrong(line: u64, field: &str, cell: &str) -> CsvError {
    CsvError(format!("line {line}: `{}` is no value of `{}`", in_a_line(cell), in_a_line(field)))
}

/// Returns the value of a cell; `None` if it is not of its column's type.
fn typed(field: &str, cell: &str) -> Option<Value> {
    if cell.is_empty() {
        return Some(Value::Null);
    }
    let kind = columns::column(field).map(|column| column.kind);
    let number = || serde_json::from_str::<Value>(cell).ok().filter(Value::is_number);
    match kind {
        Some(Kind::Text) => Some(Value::from(unplain(cell))),
        Some(Kind::Truth) => cell.parse::<bool>().ok().map(Value::from),
        Some(Kind::Whole | Kind::Real) => number(),
        None => Some(number().unwrap_or_else(|| Value::from(cell))),
    }
}

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

/// Returns the text that [`plain`] changed.
fn unplain(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| plain(rest) != *rest).unwrap_or(text)
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
    fn records_read_back_with_their_types() {
        let row =
            Row { scheme: "-x".into(), scenario_hash: "12e4567".into(), cost: Some(None), ..Row::default() };
        let written = records(&[row]).unwrap();
        let read = read(&to_bytes(&written).unwrap()).unwrap();
        let is_empty = |value: &Value| value.is_null() || *value == "";
        for (field, value) in &written[0] {
            let found = &read[0][field];
            assert!(found == value || is_empty(found) && is_empty(value), "{field}: {found} {value}");
        }
    }

    #[test]
    fn a_wrong_cell_is_named_with_its_line() {
        let error = read(b"scheme,cost\na,1.5\nb,many\n").unwrap_err().to_string();
        assert_eq!(error, "CSV: line 3: `many` is no value of `cost`");
        assert!(read(b"a,b\n1\n").is_err());
        assert!(read(b"").is_ok_and(|records| records.is_empty()));
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
