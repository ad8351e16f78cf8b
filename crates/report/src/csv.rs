//! Comma-separated values: a header, then a row for each result (RFC 4180).

use std::fmt;

use serde_json::Value;

use crate::record::{self, Record};

/// The CSV could not be written.
#[derive(Debug)]
pub struct CsvError(String);

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot build the CSV: {}", self.0)
    }
}

impl std::error::Error for CsvError {}

/// The records as CSV. Null and absent fields are empty. Numbers equal those of the JSON, byte for byte.
///
/// # Errors
/// An error of the CSV encoder.
pub fn to_bytes(records: &[Record]) -> Result<Vec<u8>, CsvError> {
    let fields = record::fields(records);
    let mut bytes = lines([fields.iter().map(String::clone)])?;
    bytes.extend(lines(records.iter().map(|record| fields.iter().map(|field| cell(record.get(field)))))?);
    Ok(bytes)
}

/// Lines of cells.
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

pub(crate) fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use firstflight_measure::Row;

    #[test]
    fn the_cells_read_back_whatever_the_label_holds() {
        let rows = [
            Row { scheme: "slow-start".into(), label: Some("a,\"b\"\nc".into()), ..Row::default() },
            Row { scheme: "paced".into(), cross_lost_packets: -3, cost: Some(Some(1.25)), ..Row::default() },
        ];
        let bytes = to_bytes(&records(&rows).unwrap()).unwrap();
        let mut reader = csv::Reader::from_reader(bytes.as_slice());
        let header = reader.headers().unwrap().clone();
        let at = |name: &str| header.iter().position(|h| h == name).unwrap();
        let read: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(read.len(), 2);
        assert_eq!(&read[0][at("label")], "a,\"b\"\nc");
        assert_eq!(&read[1][at("label")], "");
        assert_eq!(&read[1][at("cross_lost_packets")], "-3");
        assert_eq!(&read[1][at("cost")], "1.25");
        assert_eq!(&read[0][at("cost")], "", "absent where there is no size");
        assert_eq!(&read[0][at("exit_time_s")], "", "null is empty, never a made-up number");
    }
}
