//! Parquet files: typed columns with their units, for large collections of races.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::errors::ParquetError as FormatError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use serde_json::Value;

use crate::columns::{self, CI95, Kind, RUNS};
use crate::record::{self, Record};

/// Records that cannot be written as Parquet, or a file that cannot be read.
#[derive(Debug)]
pub struct ParquetError(String);

impl fmt::Display for ParquetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parquet: {}", self.0)
    }
}

impl std::error::Error for ParquetError {}

impl From<FormatError> for ParquetError {
    fn from(error: FormatError) -> Self {
        Self(error.to_string())
    }
}

impl From<ArrowError> for ParquetError {
    fn from(error: ArrowError) -> Self {
        Self(error.to_string())
    }
}

/// The records as one Parquet file, with a column for each field.
///
/// A field has its type in a single run's row, whatever its values. A mean of several runs, which has a confidence
/// interval, is real. A column's metadata has its unit under `unit`, if it has one, and its meaning under `description`.
/// Null and absent fields are null.
///
/// # Errors
/// An error of the Parquet encoder.
pub fn to_bytes(records: &[Record]) -> Result<Vec<u8>, ParquetError> {
    encode(records, &[])
}

/// The records as one Parquet file, with notes about the whole file, each under a key.
pub(crate) fn encode(records: &[Record], notes: &[(&str, String)]) -> Result<Vec<u8>, ParquetError> {
    let names = record::fields(records);
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for name in &names {
        let kind = kind_of(name, &names, records);
        fields.push(field(name, kind));
        arrays.push(array(name, kind, records));
    }
    let schema = Arc::new(Schema::new(fields));
    let notes = notes.iter().map(|(key, text)| KeyValue::new((*key).to_owned(), text.clone())).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(notes)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties))?;
    if !arrays.is_empty() {
        writer.write(&RecordBatch::try_new(schema, arrays)?)?;
    }
    Ok(writer.into_inner()?)
}

/// The records of a Parquet file that was written here. Nulls stay null.
///
/// # Errors
/// A file of another kind, or one that is cut short.
pub fn read(file: Vec<u8>) -> Result<Vec<Record>, ParquetError> {
    decode(file).map(|(records, _)| records)
}

/// Notes about a whole file: key and text.
pub(crate) type Notes = Vec<(String, String)>;

/// The records of a Parquet file, and the notes about the whole file. Nulls stay null.
///
/// # Errors
/// A file that [`encode`] did not write.
pub(crate) fn decode(file: Vec<u8>) -> Result<(Vec<Record>, Notes), ParquetError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file))?;
    let notes = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let notes = notes.filter_map(|note| Some((note.key.clone(), note.value.clone()?))).collect();
    let mut records = Vec::new();
    for batch in reader.build()? {
        let batch = batch?;
        let from = records.len();
        records.resize(from + batch.num_rows(), Record::new());
        for (field, array) in batch.schema().fields().iter().zip(batch.columns()) {
            for (row, record) in records[from..].iter_mut().enumerate() {
                let value =
                    if array.is_null(row) { Value::Null } else { value_at(field.name(), array, row)? };
                record.insert(field.name().clone(), value);
            }
        }
    }
    Ok((records, notes))
}

fn value_at(name: &str, array: &ArrayRef, row: usize) -> Result<Value, ParquetError> {
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().value(row).into()),
        DataType::UInt64 => Ok(array.as_primitive::<UInt64Type>().value(row).into()),
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().value(row).into()),
        DataType::Float64 => Ok(array.as_primitive::<Float64Type>().value(row).into()),
        other => Err(ParquetError(format!("the column {name} holds {other}"))),
    }
}

fn kind_of(name: &str, names: &[String], records: &[Record]) -> Kind {
    let is_of_runs =
        name.ends_with(CI95) || columns::of_spread(name).is_some_and(|(of, _)| names.iter().any(|n| n == of));
    if is_of_runs || names.contains(&format!("{name}{CI95}")) {
        return Kind::Real;
    }
    let known = columns::column(name).map(|column| column.kind);
    let kind = known.unwrap_or_else(|| seen_kind(name, records));
    let has_fractions =
        || values(name, records).any(|value| value.is_some_and(|v| v.is_f64() && v.as_u64().is_none()));
    match kind {
        Kind::Unsigned | Kind::Signed if has_fractions() => Kind::Real,
        kind => kind,
    }
}

/// The type of a field that no column describes, derived from its values.
fn seen_kind(name: &str, records: &[Record]) -> Kind {
    let mut seen = values(name, records).flatten().filter(|value| !value.is_null()).peekable();
    if seen.peek().is_none() || !seen.all(Value::is_number) {
        return Kind::Text;
    }
    let all = |is: fn(&Value) -> bool| values(name, records).flatten().all(|v| v.is_null() || is(v));
    if all(Value::is_u64) {
        Kind::Unsigned
    } else if all(Value::is_i64) {
        Kind::Signed
    } else {
        Kind::Real
    }
}

fn values<'a>(name: &'a str, records: &'a [Record]) -> impl Iterator<Item = Option<&'a Value>> {
    records.iter().map(move |record| record.get(name))
}

fn field(name: &str, kind: Kind) -> Field {
    let of_runs = || name.strip_suffix(RUNS).and_then(columns::column);
    let (unit, description) = match (columns::column(name), name.ends_with(CI95)) {
        (Some(column), true) => (
            column.unit,
            format!("Half width of the 95 % confidence interval of the mean of: {}", column.meaning),
        ),
        (Some(column), false) => match columns::of_spread(name).filter(|_| column.name != name) {
            Some((_, which)) => (column.unit, format!("{which} of the runs: {}", column.meaning)),
            None => (column.unit, column.meaning.to_owned()),
        },
        (None, _) => match of_runs() {
            Some(column) => ("runs", format!("Of how many runs it is the mean: {}", column.meaning)),
            None => return typed(name, kind),
        },
    };
    described(name, kind, unit, description)
}

fn typed(name: &str, kind: Kind) -> Field {
    let data_type = match kind {
        Kind::Text => DataType::Utf8,
        Kind::Unsigned => DataType::UInt64,
        Kind::Signed => DataType::Int64,
        Kind::Real => DataType::Float64,
    };
    Field::new(name, data_type, true)
}

/// A column that says its unit and its meaning.
pub(crate) fn described(name: &str, kind: Kind, unit: &str, description: String) -> Field {
    let mut said = BTreeMap::from([("description".to_owned(), description)]);
    if !unit.is_empty() {
        said.insert("unit".to_owned(), unit.to_owned());
    }
    typed(name, kind).with_metadata(said)
}

/// The values of one field. What is no text becomes JSON in a column of text.
pub(crate) fn array(name: &str, kind: Kind, records: &[Record]) -> ArrayRef {
    let values = values(name, records).map(|value| value.filter(|value| !value.is_null()));
    match kind {
        Kind::Text => Arc::new(
            values
                .map(|value| value.map(|v| v.as_str().map_or_else(|| v.to_string(), str::to_owned)))
                .collect::<StringArray>(),
        ),
        Kind::Unsigned => {
            Arc::new(values.map(|value| value.and_then(Value::as_u64)).collect::<UInt64Array>())
        }
        Kind::Signed => Arc::new(values.map(|value| value.and_then(Value::as_i64)).collect::<Int64Array>()),
        Kind::Real => Arc::new(values.map(|value| value.and_then(Value::as_f64)).collect::<Float64Array>()),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "what was written must read back to the bit")]
mod tests {
    use super::*;
    use crate::records;
    use firstflight_measure::Row;

    fn read(bytes: Vec<u8>) -> RecordBatch {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        builder.build().unwrap().next().unwrap().unwrap()
    }

    fn rows() -> [Row; 2] {
        [
            Row {
                scheme: "slow-start".into(),
                throughput_bps: 59_300_000.25,
                timeouts: 2,
                cross_lost_packets: -7,
                seed: u64::MAX,
                ..Row::default()
            },
            Row { scheme: "提速".into(), su_time_s: Some(1.42), ..Row::default() },
        ]
    }

    #[test]
    fn the_file_reads_back_with_its_types_values_and_nulls() {
        let batch = read(to_bytes(&records(&rows()).unwrap()).unwrap());
        assert_eq!(batch.num_rows(), 2);
        let column = |name: &str| batch.column_by_name(name).unwrap();
        assert_eq!(column("scheme").as_string::<i32>().value(1), "提速");
        assert_eq!(column("throughput_bps").as_primitive::<Float64Type>().value(0), 59_300_000.25);
        assert_eq!(column("timeouts").as_primitive::<UInt64Type>().value(0), 2);
        assert_eq!(column("seed").as_primitive::<UInt64Type>().value(0), u64::MAX);
        assert_eq!(column("cross_lost_packets").as_primitive::<Int64Type>().value(0), -7);
        let su_time = column("su_time_s").as_primitive::<Float64Type>();
        assert!(su_time.is_null(0));
        assert_eq!(su_time.value(1), 1.42);
        let exit_rate = column("exit_rate_bps");
        assert_eq!(exit_rate.data_type(), &DataType::Float64, "typed even where all are null");
        assert_eq!(exit_rate.null_count(), 2);
    }

    #[test]
    fn every_column_says_its_unit_and_what_it_means() {
        let batch = read(to_bytes(&records(&rows()).unwrap()).unwrap());
        for field in batch.schema().fields() {
            let columns::Column { unit, meaning, .. } = *columns::column(field.name()).unwrap();
            assert_eq!(
                field.metadata().get("description").map(String::as_str),
                Some(meaning),
                "{}",
                field.name()
            );
            assert_eq!(field.metadata().get("unit").map_or("", String::as_str), unit, "{}", field.name());
        }
    }

    #[test]
    fn a_mean_of_counts_is_real_and_unknown_fields_keep_what_they_hold() {
        let mut record = records(&rows()).unwrap().remove(0);
        record.insert("timeouts".into(), 0.5.into());
        record.insert("timeouts_ci95".into(), 0.1.into());
        record.insert("runs".into(), 4.into());
        record.insert("note".into(), "x".into());
        let batch = read(to_bytes(&[record]).unwrap());
        assert_eq!(batch.column_by_name("timeouts").unwrap().as_primitive::<Float64Type>().value(0), 0.5);
        assert_eq!(
            batch.column_by_name("timeouts_ci95").unwrap().as_primitive::<Float64Type>().value(0),
            0.1
        );
        assert_eq!(batch.column_by_name("runs").unwrap().as_primitive::<UInt64Type>().value(0), 4);
        assert_eq!(batch.column_by_name("note").unwrap().as_string::<i32>().value(0), "x");
        let unit = batch.schema().field_with_name("timeouts_ci95").unwrap().metadata().get("unit").cloned();
        assert_eq!(unit.as_deref(), Some("1"));
    }

    #[test]
    fn what_several_runs_add_says_what_it_means_too() {
        let mut runs = rows().to_vec();
        runs.truncate(1);
        runs.push(Row { su_time_s: Some(1.0), seed: 2, ..runs[0].clone() });
        let object =
            firstflight_measure::SchemeResult { name: "slow-start".to_owned(), rows: runs, ideal: None }
                .object();
        let batch = read(to_bytes(&[object]).unwrap());
        for field in batch.schema().fields() {
            assert!(field.metadata().contains_key("description"), "{}", field.name());
        }
        let schema = batch.schema();
        let said = |name: &str, what: &str| schema.field_with_name(name).unwrap().metadata()[what].clone();
        assert_eq!((said("runs", "unit"), said("su_time_s_runs", "unit")), ("runs".into(), "runs".into()));
        assert!(
            said("su_time_s_runs", "description").starts_with("Of how many runs it is the mean: First data")
        );
        assert!(said("exit_causes", "description").contains("JSON"));
    }

    #[test]
    fn the_same_records_make_the_same_bytes() {
        let records = records(&rows()).unwrap();
        let first = to_bytes(&records).unwrap();
        for _ in 0..8 {
            assert_eq!(to_bytes(&records).unwrap(), first);
        }
    }

    #[test]
    fn no_records_make_a_file_that_reads_back_empty() {
        let bytes = to_bytes(&[]).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(builder.build().unwrap().count(), 0);
    }
}
