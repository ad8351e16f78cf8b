//! A part of a sweep as one Parquet file with a label and a digest, which shows whether the file is whole.

use std::collections::BTreeSet;

use firstflight_lab::{BUILD, SweptRow};
use serde_json::Value;

use crate::columns::{COLUMNS, SWEEP_COLUMNS};
use crate::parquet::{self, ParquetError};
use crate::record::{self, Record, RecordError};

/// The label of a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartLabel {
    /// The hash of the sweep.
    pub sweep: String,
    /// The part's number.
    pub part: u64,
    /// The number of rows.
    pub rows: u64,
}

/// Why a file is no whole part.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// Rows that cannot be written down.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A file that is no Parquet, or is truncated.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// A Parquet file of another content.
    #[error("it says nothing of {0}: it is no part of a sweep")]
    Unlabelled(&'static str),
    /// A file with fewer or more rows than its label says.
    #[error("it says that it has {said} rows and has {found}")]
    Rows {
        /// The number of rows by the label.
        said: u64,
        /// The number of rows found.
        found: u64,
    },
    /// A file whose bytes do not match its digest.
    #[error("its bytes have the digest {found:016x} and it says {said:016x}: it was damaged")]
    Digest {
        /// The digest that the file states.
        said: u64,
        /// The digest of the file's bytes.
        found: u64,
    },
}

const SWEEP: &str = "firstflight.sweep";
const PART: &str = "firstflight.part";
const ROWS: &str = "firstflight.rows";
/// The column of the build that raced a row.
const OF_BUILD: &str = "build";
/// The mark before the digest of the file, between its columns and its footer. Readers of Parquet skip that place.
const DIGEST: [u8; 8] = *b"FFdigest";
/// The end of a Parquet file: 4 bytes of footer length, and 4 bytes of magic number.
const TAIL: usize = 8;

/// The file of a part. It has every column of [`SWEEP_COLUMNS`] and [`COLUMNS`], so that all parts have equal columns. Its
/// bytes are a function of the label and the rows.
///
/// # Errors
/// Rows that do not serialise.
pub fn to_bytes(sweep: &str, part: u64, rows: &[SweptRow]) -> Result<Vec<u8>, PartError> {
    let records: Vec<Record> = record::records(rows)?.iter().map(complete).collect();
    let label = PartLabel { sweep: sweep.to_owned(), part, rows: records.len() as u64 };
    by_build(BUILD, &label, records)
}

/// The file of a part whose rows, complete ones, were raced by this build.
///
/// # Errors
/// As [`to_bytes`].
pub fn by_build(build: &str, label: &PartLabel, mut records: Vec<Record>) -> Result<Vec<u8>, PartError> {
    for record in &mut records {
        record.insert(OF_BUILD.to_owned(), build.into());
    }
    let PartLabel { sweep, part, rows } = label;
    let notes = [(SWEEP, sweep.clone()), (PART, part.to_string()), (ROWS, rows.to_string())];
    let mut file = parquet::encode(&records, &notes)?;
    let footer = footer(&file).ok_or(PartError::Unlabelled("its footer"))?;
    let digest = digest(&[&file]);
    file.splice(footer..footer, DIGEST.into_iter().chain(digest.to_le_bytes()));
    Ok(file)
}

/// The offset of the footer of a Parquet file, as the file states.
fn footer(file: &[u8]) -> Option<usize> {
    let (_, tail) = file.split_last_chunk::<TAIL>()?;
    let [length @ .., _, _, _, _] = *tail;
    file.len().checked_sub(TAIL)?.checked_sub(u32::from_le_bytes(length) as usize)
}

/// Refuses a file whose bytes differ from those that [`to_bytes`] wrote. The check comes first because the reader of
/// Parquet panics on some damaged files.
fn check(file: &[u8]) -> Result<(), PartError> {
    let unlabelled = PartError::Unlabelled("its digest");
    let Some((before, footer)) = footer(file).and_then(|footer| file.split_at_checked(footer)) else {
        return Err(unlabelled);
    };
    let Some((rest, said)) = before.split_last_chunk::<8>() else { return Err(unlabelled) };
    let Some(columns) = rest.strip_suffix(&DIGEST) else { return Err(unlabelled) };
    let (said, found) = (u64::from_le_bytes(*said), digest(&[columns, footer]));
    if said == found { Ok(()) } else { Err(PartError::Digest { said, found }) }
}

/// Reads the file of a part, and checks that it is whole.
///
/// # Errors
/// A file that [`to_bytes`] did not write, or that is damaged.
pub fn from_bytes(file: Vec<u8>) -> Result<(PartLabel, Vec<Record>), PartError> {
    check(&file)?;
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
    Ok((label, records))
}

/// The record with every column, in their order; null where the row has no such field.
fn complete(record: &Record) -> Record {
    let columns = SWEEP_COLUMNS.iter().chain(COLUMNS);
    columns
        .map(|column| (column.name.to_owned(), record.get(column.name).cloned().unwrap_or(Value::Null)))
        .collect()
}

/// The builds of the program that raced these rows, each once, in order. Rows of a version that did not say it have none.
pub fn builds(records: &[Record]) -> BTreeSet<String> {
    records
        .iter()
        .map(|record| record::text(record, OF_BUILD).to_owned())
        .filter(|one| !one.is_empty())
        .collect()
}

/// FNV-1a of 64 bits (RFC 9923) over the concatenation of these pieces.
fn digest(pieces: &[&[u8]]) -> u64 {
    let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    pieces.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_lab::{Beside, EarlyFields, PathFacts};
    use firstflight_measure::Row;
    use firstflight_scenario::Scenario;

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
        [1, 2, u64::MAX]
            .map(|seed| SweptRow {
                path: path.clone(),
                beside: Beside { bytes_raced: 1, bytes_cost: Some(1.5) },
                early: EarlyFields {
                    bound_fct_s: Some(1.25),
                    queue_lost_packets: seed,
                    ..EarlyFields::default()
                },
                row: row(seed),
            })
            .to_vec()
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
        // Some of these make the reader of Parquet panic.
        for at in 0..bytes.len() {
            for bit in [0, 7] {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let refused = matches!(
                    from_bytes(damaged),
                    Err(PartError::Digest { .. } | PartError::Unlabelled("its digest"))
                );
                assert!(refused, "bit {bit} of byte {at}");
            }
        }
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
