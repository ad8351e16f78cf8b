//! A part of a sweep as one Parquet file. Its label and its digest show whether the file is whole.

use std::collections::BTreeSet;

use firstflight_lab::{BUILD, SweptRow};
use firstflight_measure::SuCounts;
use serde_json::Value;

use crate::columns::{COLUMNS, SWEEP_COLUMNS};
use crate::parquet::{self, ParquetError};
use crate::record::{self, Record, RecordError};

/// The label of a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartLabel {
    /// The hash of the sweep.
    pub sweep: String,
    /// The number of the part.
    pub part: u64,
    /// The number of rows.
    pub rows: u64,
}

/// The reason why a file is not a whole part, or why a part cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    /// The rows cannot be serialised.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The file is not a Parquet file, or is truncated.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// The file is a Parquet file without the label of a part.
    #[error("it says nothing of {0}: it is no part of a sweep")]
    Unlabelled(&'static str),
    /// The file has more or fewer rows than its label says.
    #[error("it says that it has {said} rows and has {found}")]
    Rows {
        /// The number of rows according to the label.
        said: u64,
        /// The number of rows in the file.
        found: u64,
    },
    /// The file's bytes do not match its digest.
    #[error("its bytes have the digest {found:016x} and it says {said:016x}: it was damaged")]
    Digest {
        /// The digest stored in the file.
        said: u64,
        /// The digest computed from the file's bytes.
        found: u64,
    },
}

const SWEEP: &str = "firstflight.sweep";
const PART: &str = "firstflight.part";
const ROWS: &str = "firstflight.rows";
/// The column with the build of the program that raced a row.
const OF_BUILD: &str = "build";
/// The marker before the file's digest, which is between the columns and the footer. Readers of Parquet skip these bytes.
const DIGEST: [u8; 8] = *b"FFdigest";
/// The length of the last part of a Parquet file: 4 bytes for the footer's length, and a magic number of 4 bytes.
const TAIL: usize = 8;

/// Returns the file of a part. It has every column of [`SWEEP_COLUMNS`] and [`COLUMNS`], so that all parts have the same columns. The label
/// and the rows determine its bytes.
///
/// # Errors
/// Fails if the rows cannot be serialised.
pub fn to_bytes(sweep: &str, part: u64, rows: &[SweptRow]) -> Result<Vec<u8>, PartError> {
    let records: Vec<Record> = record::records(rows)?.iter().map(complete).collect();
    let label = PartLabel { sweep: sweep.to_owned(), part, rows: records.len() as u64 };
    by_build(BUILD, &label, records)
}

/// Returns the file of a part whose rows were raced by this build, and already have every column.
///
/// # Errors
/// Fails as [`to_bytes`] does.
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

/// Returns the offset of the footer of a Parquet file, as the file states it.
fn footer(file: &[u8]) -> Option<usize> {
    let (_, tail) = file.split_last_chunk::<TAIL>()?;
    let [length @ .., _, _, _, _] = *tail;
    file.len().checked_sub(TAIL)?.checked_sub(u32::from_le_bytes(length) as usize)
}

/// Checks that a file has the bytes that [`to_bytes`] wrote. This comes before decoding, because the reader of Parquet panics on some
/// damaged files.
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
/// Fails if [`to_bytes`] did not write the file, or if the file is damaged.
pub fn from_bytes(file: Vec<u8>) -> Result<(PartLabel, Vec<Record>), PartError> {
    check(&file)?;
    let (records, notes) = parquet::untrusted(file)?;
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

/// Returns the record with every column, in order; null for a field that the row does not have.
fn complete(record: &Record) -> Record {
    let columns = SWEEP_COLUMNS.iter().chain(COLUMNS);
    columns
        .map(|column| (column.name.to_owned(), record.get(column.name).cloned().unwrap_or(Value::Null)))
        .collect()
}

/// Returns the builds of the program that raced these rows, each once, in order. Rows of old versions of the program have no build.
pub fn builds(records: &[Record]) -> BTreeSet<String> {
    records
        .iter()
        .map(|record| record::text(record, OF_BUILD).to_owned())
        .filter(|one| !one.is_empty())
        .collect()
}

/// Finds a path of a part on which a start-up counts more than ACKs, but byte-counting slow start was not raced for comparison. `None` if
/// there is none.
///
/// That part comes from an interrupted run of an old version, before this check existed. `is_transfer` returns whether the runs over a
/// path are transfers with a size; other runs need no comparison.
pub fn path_without_reference(records: &[Record], is_transfer: impl Fn(u64) -> bool) -> Option<u64> {
    let path = |record: &Record| record.get("path").and_then(Value::as_u64);
    let counts = |record: &Record| SuCounts::of(record::text(record, "su_counts"));
    let count_more: BTreeSet<u64> =
        records.iter().filter(|record| counts(record) > SuCounts::Acks).filter_map(path).collect();
    let is_raced = |record: &&Record| record.get("bytes_raced").and_then(Value::as_u64) == Some(1);
    let mut without = records.iter().filter(|record| !is_raced(record)).filter_map(path);
    without.find(|path| count_more.contains(path) && is_transfer(*path))
}

/// Returns the 64-bit FNV-1a hash (RFC 9923) of the concatenation of these pieces.
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
            harm_during_bps: -0.0,
            harm_during_lost_packets: if seed == 1 { -3 } else { 3 },
            cost: Some((seed == 1).then_some(1.25)),
            label: (seed == 2).then(|| "x".to_owned()),
            seed,
            ..Row::default()
        };
        let path = PathFacts::of(4, &Scenario::default());
        [1, 2, i64::MAX.cast_unsigned()]
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
        // Some of these files make the reader of Parquet panic.
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
    fn a_path_that_lacks_slow_start_that_counts_bytes_is_found() {
        let path = |number: u64, counts: &[&str], raced: &[u8]| {
            let mut rows = rows()[..counts.len()].to_vec();
            for (row, (counts, raced)) in rows.iter_mut().zip(counts.iter().zip(raced)) {
                row.path.path = number;
                row.row.su_counts = (*counts).to_owned();
                row.beside = Beside { bytes_raced: *raced, bytes_cost: None };
            }
            record::records(&rows).unwrap()
        };
        let found = |paths: &[Vec<Record>]| path_without_reference(&paths.concat(), |path| path != 9);
        let whole = [path(0, &["acks", "either"], &[0, 0]), path(1, &["bytes", "acks"], &[1, 1])];
        assert_eq!(found(&whole), None);
        // A run without a size needs no byte-counting slow start.
        assert_eq!(found(&[path(9, &["bytes", "acks"], &[0, 0])]), None);
        assert_eq!(found(&[path(0, &["acks"], &[0]), path(1, &["bytes", "acks"], &[0, 0])]), Some(1));
        assert_eq!(found(&[path(2, &["beyond", "acks"], &[1, 0])]), Some(2));
        let mut older = path(3, &["beyond"], &[1]);
        older[0].remove("bytes_raced");
        assert_eq!(found(&[older]), Some(3));
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
