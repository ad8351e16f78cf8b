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
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, StringArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
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

/// Returns the records as one Parquet file, with a column for each field.
///
/// A field has the type that it has in a single run's row, whatever its values. The mean of several runs, which has a confidence interval,
/// is real. A column's metadata has its unit under `unit`, if it has one, and its meaning under `description`. Null and absent fields are
/// null.
///
/// # Errors
/// Fails if the Parquet encoder fails.
pub fn to_bytes(records: &[Record]) -> Result<Vec<u8>, ParquetError> {
    encode(records, &[])
}

/// Returns the records as one Arrow batch, with the columns that [`to_bytes`] writes.
///
/// # Errors
/// Fails for a value that its column's type cannot hold.
pub fn batch(records: &[Record]) -> Result<RecordBatch, ParquetError> {
    let names = record::fields(records);
    let mut fields = Vec::new();
    let mut arrays: Vec<ArrayRef> = Vec::new();
    for name in &names {
        let kind = kind_of(name, &names, records);
        fields.push(field(name, kind));
        arrays.push(array(name, kind, records)?);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(records.len()));
    Ok(RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)?)
}

/// Returns the batches of a Parquet file that [`to_bytes`] or [`crate::log`] wrote.
///
/// # Errors
/// Fails for another kind of file, or if the file is truncated.
pub fn batches(file: Vec<u8>) -> Result<(SchemaRef, Vec<RecordBatch>), ParquetError> {
    in_its_thread(move || {
        let reader = opened(file)?;
        let schema = Arc::clone(reader.schema());
        let batches = reader.build()?.collect::<Result<Vec<_>, _>>()?;
        Ok((schema, batches))
    })
}

/// Returns batches that [`batches`] read as one Parquet file.
///
/// # Errors
/// Fails if the Parquet encoder fails.
pub fn of_batches(schema: SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>, ParquetError> {
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, None)?;
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    Ok(writer.into_inner()?)
}

/// Returns the records as one Parquet file. Each note on the file is stored under a key.
pub(crate) fn encode(records: &[Record], notes: &[(&str, String)]) -> Result<Vec<u8>, ParquetError> {
    let batch = batch(records)?;
    let notes = notes.iter().map(|(key, text)| KeyValue::new((*key).to_owned(), text.clone())).collect();
    let properties = WriterProperties::builder().set_key_value_metadata(Some(notes)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties))?;
    if batch.num_columns() > 0 {
        writer.write(&batch)?;
    }
    Ok(writer.into_inner()?)
}

/// Reads the records of a Parquet file that this module wrote. Null values stay null.
///
/// # Errors
/// Fails for another kind of file, or if the file is truncated.
pub fn read(file: Vec<u8>) -> Result<Vec<Record>, ParquetError> {
    untrusted(file).map(|(records, _)| records)
}

/// The name of the thread that reads an untrusted file.
const READER: &str = "parquet-reader";

/// Suppresses the panic messages that the decoder writes to standard error for damaged files, because commands print their errors there.
/// [`read`] returns such panics as errors in any case.
#[expect(clippy::disallowed_methods, reason = "it tells whose panic it is, which no result depends on")]
pub fn silence_reader() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some(READER) {
            usual(info);
        }
    }));
}

/// Decodes a file from an untrusted source. This runs in its own thread, because the decoder panics on some damaged files.
pub(crate) fn untrusted(file: Vec<u8>) -> Result<(Vec<Record>, Notes), ParquetError> {
    in_its_thread(|| decode(file))
}

/// Reads a file in a thread that may panic.
fn in_its_thread<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, ParquetError> + Send + 'static,
) -> Result<T, ParquetError> {
    let reader = std::thread::Builder::new().name(READER.to_owned()).spawn(read);
    let reader = reader.map_err(|error| ParquetError(error.to_string()))?;
    reader.join().unwrap_or_else(|_| Err(ParquetError("the file is damaged".to_owned())))
}

/// The note that marks a file without all rows: its writer continued afterwards, or was killed.
pub const PARTIAL: &str = "firstflight.partial";

/// Reads the records of a Parquet file as [`read`] does, and reports whether the file is marked as [partial](PARTIAL).
///
/// # Errors
/// Fails as [`read`] does.
pub fn read_so_far(file: Vec<u8>) -> Result<(Vec<Record>, bool), ParquetError> {
    let (records, notes) = untrusted(file)?;
    Ok((records, notes.iter().any(|(key, _)| key == PARTIAL)))
}

/// Notes on a whole file, each as (key, text).
pub(crate) type Notes = Vec<(String, String)>;

/// Returns the records of a Parquet file, and the notes on the whole file. Null values stay null.
///
/// # Errors
/// Fails if [`encode`] did not write the file.
fn decode(file: Vec<u8>) -> Result<(Vec<Record>, Notes), ParquetError> {
    let reader = opened(file)?;
    let notes = reader.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    let notes = notes.filter_map(|note| Some((note.key.clone(), note.value.clone()?))).collect();
    let rows = reader.metadata().file_metadata().num_rows();
    if !(0..=MAX_ROWS).contains(&rows) {
        return Err(ParquetError(format!("{rows} rows; at most {MAX_ROWS} can be read")));
    }
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

/// Opens a file whose bytes are in memory.
fn opened(file: Vec<u8>) -> Result<ParquetRecordBatchReaderBuilder<bytes::Bytes>, ParquetError> {
    Ok(ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file))?)
}

/// The maximum number of rows in a file. A row takes some kilobytes of memory.
const MAX_ROWS: i64 = 5_000_000;

fn value_at(name: &str, array: &ArrayRef, row: usize) -> Result<Value, ParquetError> {
    match array.data_type() {
        DataType::Utf8 => Ok(array.as_string::<i32>().value(row).into()),
        DataType::Boolean => Ok(array.as_boolean().value(row).into()),
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
        Kind::Whole if has_fractions() => Kind::Real,
        kind => kind,
    }
}

/// Returns the type of a field that has no description, derived from its values.
fn seen_kind(name: &str, records: &[Record]) -> Kind {
    let seen = || values(name, records).flatten().filter(|value| !value.is_null());
    let all = |is: fn(&Value) -> bool| seen().all(is);
    match seen().next() {
        Some(_) if all(Value::is_boolean) => Kind::Truth,
        Some(_) if all(Value::is_i64) => Kind::Whole,
        Some(_) if all(Value::is_number) => Kind::Real,
        _ => Kind::Text,
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
        Kind::Truth => DataType::Boolean,
        Kind::Whole => DataType::Int64,
        Kind::Real => DataType::Float64,
    };
    Field::new(name, data_type, true)
}

/// Returns a column, with its unit and its meaning as metadata.
pub(crate) fn described(name: &str, kind: Kind, unit: &str, description: String) -> Field {
    let mut said = BTreeMap::from([("description".to_owned(), description)]);
    if !unit.is_empty() {
        said.insert("unit".to_owned(), unit.to_owned());
    }
    typed(name, kind).with_metadata(said)
}

/// Returns the values of one field; null for a record without one. A column of text has other values as JSON.
///
/// # Errors
/// Fails for a value that the column's type cannot hold, because it would otherwise become null.
pub(crate) fn array(name: &str, kind: Kind, records: &[Record]) -> Result<ArrayRef, ParquetError> {
    Ok(match kind {
        Kind::Text => {
            let text = |value: &Value| Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            Arc::new(cells(name, records, text)?.into_iter().collect::<StringArray>())
        }
        Kind::Truth => Arc::new(cells(name, records, Value::as_bool)?.into_iter().collect::<BooleanArray>()),
        Kind::Whole => Arc::new(cells(name, records, Value::as_i64)?.into_iter().collect::<Int64Array>()),
        Kind::Real => Arc::new(cells(name, records, Value::as_f64)?.into_iter().collect::<Float64Array>()),
    })
}

/// Returns the values of one field as `read` converts them; `None` where a record has no value.
fn cells<T>(
    name: &str,
    records: &[Record],
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<Option<T>>, ParquetError> {
    let cell = |value: Option<&Value>| match value.filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => match read(value) {
            Some(cell) => Ok(Some(cell)),
            None => Err(ParquetError(format!("{value} does not fit the type of the column {name}"))),
        },
    };
    values(name, records).map(cell).collect()
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
                harm_during_lost_packets: -7,
                seed: i64::MAX.cast_unsigned(),
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
        assert_eq!(column("timeouts").as_primitive::<Int64Type>().value(0), 2);
        assert_eq!(column("seed").as_primitive::<Int64Type>().value(0), i64::MAX);
        assert_eq!(column("harm_during_lost_packets").as_primitive::<Int64Type>().value(0), -7);
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
    fn mean_counts_are_real_and_unknown_fields_keep_their_types() {
        let mut record = records(&rows()).unwrap().remove(0);
        record.insert("timeouts".into(), 0.5.into());
        record.insert("timeouts_ci95".into(), 0.1.into());
        record.insert("runs".into(), 4.into());
        record.insert("note".into(), "x".into());
        record.insert("is_open".into(), true.into());
        let batch = read(to_bytes(&[record]).unwrap());
        assert_eq!(batch.column_by_name("timeouts").unwrap().as_primitive::<Float64Type>().value(0), 0.5);
        assert_eq!(
            batch.column_by_name("timeouts_ci95").unwrap().as_primitive::<Float64Type>().value(0),
            0.1
        );
        assert_eq!(batch.column_by_name("runs").unwrap().as_primitive::<Int64Type>().value(0), 4);
        assert_eq!(batch.column_by_name("note").unwrap().as_string::<i32>().value(0), "x");
        assert!(batch.column_by_name("is_open").unwrap().as_boolean().value(0));
        let unit = batch.schema().field_with_name("timeouts_ci95").unwrap().metadata().get("unit").cloned();
        assert_eq!(unit.as_deref(), Some("1"));
    }

    #[test]
    fn fields_added_by_several_runs_carry_descriptions_and_units() {
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
    fn a_difference_of_two_counts_may_be_negative() {
        let batch = read(to_bytes(&records(&rows()).unwrap()).unwrap());
        let unsigned = |field: &&Arc<Field>| matches!(field.data_type(), DataType::UInt64 | DataType::UInt32);
        let schema = batch.schema();
        assert_eq!(
            schema.fields().iter().find(unsigned),
            None,
            "readers subtract unsigned columns modulo 2^64"
        );
    }

    #[test]
    fn a_value_that_its_column_cannot_hold_is_an_error() {
        let mut record = records(&rows()).unwrap().remove(0);
        record.insert("seed".into(), u64::MAX.into());
        let error = to_bytes(&[record]).expect_err("64 bits").to_string();
        assert_eq!(error, "Parquet: 18446744073709551615 does not fit the type of the column seed");
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_a_panic() {
        silence_reader();
        let whole = to_bytes(&records(&rows()).unwrap()).unwrap();
        // The step is a prime, so that damaged bits hit every field of the format in some column.
        for at in (0..whole.len()).step_by(101) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            let _ = super::read(damaged.clone());
            let _ = super::read_so_far(damaged);
            assert!(super::read(whole[..at].to_vec()).is_err(), "cut to {at} bytes");
        }
    }

    #[test]
    fn no_records_make_a_file_that_reads_back_empty() {
        let bytes = to_bytes(&[]).unwrap();
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        assert_eq!(builder.build().unwrap().count(), 0);
    }
}
