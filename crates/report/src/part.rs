//! A part of a sweep as one Parquet file, which says what it is and shows whether it is whole.

use firstflight_lab::SweptRow;
use serde_json::Value;

use crate::columns::{COLUMNS, SWEEP_COLUMNS};
use crate::json;
use crate::parquet::{self, ParquetError};
use crate::record::{self, Record, RecordError};

/// What a part is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartLabel {
    /// The hash of the sweep.
    pub sweep: String,
    /// Its number.
    pub part: u64,
    /// How many rows it has.
    pub rows: u64,
}

/// Why a file is no whole part.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// Rows that cannot be written down.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// No Parquet, or half of it.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// Parquet of something else.
    #[error("it says nothing of {0}: it is no part of a sweep")]
    Unlabelled(&'static str),
    /// Fewer or more rows than it says.
    #[error("it says that it has {said} rows and has {found}")]
    Rows {
        /// What it says.
        said: u64,
        /// What it has.
        found: u64,
    },
    /// Other rows than were written.
    #[error("its rows have the digest {found} and it says {said}: it was damaged")]
    Digest {
        /// What it says.
        said: String,
        /// What its rows have.
        found: String,
    },
}

const SWEEP: &str = "firstflight.sweep";
const PART: &str = "firstflight.part";
const ROWS: &str = "firstflight.rows";
const DIGEST: &str = "firstflight.digest";

/// The file of a part. It has every column of [`SWEEP_COLUMNS`] and [`COLUMNS`], so that all parts have the same, and its
/// bytes are a function of the label and the rows.
///
/// # Errors
/// Rows that do not serialise.
pub fn to_bytes(sweep: &str, part: u64, rows: &[SweptRow]) -> Result<Vec<u8>, PartError> {
    let records: Vec<Record> = record::records(rows)?.iter().map(complete).collect();
    let notes = [
        (SWEEP, sweep.to_owned()),
        (PART, part.to_string()),
        (ROWS, records.len().to_string()),
        (DIGEST, digest(&records)),
    ];
    Ok(parquet::encode(&records, &notes)?)
}

/// Reads the file of a part, and checks that it is whole.
///
/// # Errors
/// Anything but what [`to_bytes`] wrote, whole.
pub fn from_bytes(file: Vec<u8>) -> Result<(PartLabel, Vec<Record>), PartError> {
    let (records, notes) = parquet::decode(file)?;
    let note = |key: &'static str| {
        let found = notes.iter().find(|(name, _)| name == key);
        found.map(|(_, text)| text.as_str()).ok_or(PartError::Unlabelled(key))
    };
    let number = |key| note(key)?.parse::<u64>().map_err(|_| PartError::Unlabelled(key));
    let label = PartLabel { sweep: note(SWEEP)?.to_owned(), part: number(PART)?, rows: number(ROWS)? };
    let found = records.len() as u64;
    if found != label.rows {
        return Err(PartError::Rows { said: label.rows, found });
    }
    let (said, found) = (note(DIGEST)?.to_owned(), digest(&records));
    if said != found {
        return Err(PartError::Digest { said, found });
    }
    Ok((label, records))
}

/// The record with every column, in their order; null where the row has no such field.
fn complete(record: &Record) -> Record {
    let columns = SWEEP_COLUMNS.iter().chain(COLUMNS);
    columns
        .map(|column| (column.name.to_owned(), record.get(column.name).cloned().unwrap_or(Value::Null)))
        .collect()
}

/// FNV-1a of 64 bits (RFC 9923) over the rows as JSON lines.
fn digest(records: &[Record]) -> String {
    let lines = records.iter().filter_map(|record| json::line(record).ok());
    let hash = lines.fold(0xcbf2_9ce4_8422_2325, |hash, line| {
        line.bytes()
            .fold(hash, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_lab::{PathFacts, Row, Scenario};

    fn rows() -> Vec<SweptRow> {
        let row = |seed| Row {
            scheme: "paced".into(),
            throughput_bps: 1e6 / 3.0,
            harm_bps: -0.0,
            cross_lost_packets: if seed == 1 { -3 } else { 3 },
            cost: Some((seed == 1).then_some(1.25)),
            label: (seed == 2).then(|| "x".to_owned()),
            seed,
            ..Row::default()
        };
        let path = PathFacts::of(4, &Scenario::default());
        [1, 2, u64::MAX].map(|seed| SweptRow { path: path.clone(), row: row(seed) }).to_vec()
    }

    #[test]
    fn a_part_reads_back_as_its_rows_with_its_label() {
        let bytes = to_bytes("ab", 7, &rows()).unwrap();
        let (label, records) = from_bytes(bytes.clone()).unwrap();
        assert_eq!(label, PartLabel { sweep: "ab".into(), part: 7, rows: 3 });
        for (read, written) in records.iter().zip(record::records(&rows()).unwrap()) {
            assert_eq!(read.len(), SWEEP_COLUMNS.len() + COLUMNS.len());
            for (field, value) in written {
                assert_eq!(read.get(&field), Some(&value), "{field}");
            }
        }
        assert_eq!(bytes, to_bytes("ab", 7, &rows()).unwrap());
    }

    #[test]
    fn a_part_that_is_cut_damaged_or_something_else_is_refused() {
        let bytes = to_bytes("ab", 7, &rows()).unwrap();
        for end in [0, 1, 7, bytes.len() / 2, bytes.len() - 1] {
            assert!(from_bytes(bytes[..end].to_vec()).is_err(), "{end} bytes");
        }
        let at = bytes.windows(5).position(|window| window == b"paced").unwrap();
        let mut damaged = bytes.clone();
        damaged[at] = b'P';
        assert!(matches!(from_bytes(damaged), Err(PartError::Digest { .. })));
        let other = parquet::to_bytes(&record::records(&rows()).unwrap()).unwrap();
        assert!(matches!(from_bytes(other), Err(PartError::Unlabelled(_))));
    }

    #[test]
    fn every_part_has_the_same_columns() {
        let columns = |rows: &[SweptRow]| -> Vec<String> {
            let (_, records) = from_bytes(to_bytes("ab", 0, rows).unwrap()).unwrap();
            records[0].keys().cloned().collect()
        };
        assert_eq!(columns(&rows()[..1]), columns(&rows()[1..]));
    }
}
