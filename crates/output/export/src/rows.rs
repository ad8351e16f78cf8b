//! Senders as rows of CSV or Parquet, written one by one as the senders are found.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowSchemaConverter, ArrowWriter, encode_arrow_schema};
use ::parquet::errors::ParquetError as FormatError;
use ::parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use ::parquet::file::properties::{WriterProperties, WriterVersion};
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use firstflight_inspect::Found;
use serde_json::Value;

use crate::columns::{Column, FOUND, text};
use crate::csv::{self, CsvError};
use crate::parquet::{self, ParquetError};
use crate::record::{Record, RecordError};

/// The column with the reasons why numbers of a sender are undefined.
const UNDEFINED: Column =
    text("undefined", "The fields that have no number, and why, as a JSON object in text.");

/// The number of rows in one batch. Only one batch is in memory as records.
const BATCH: usize = 512;

/// The number of rows in one row group. Only one row group is in memory in encoded form.
const GROUP: usize = 65_536;

/// Returns the columns of a sender's row: the fields that are not lists, and the reasons for undefined fields.
pub fn columns() -> impl Iterator<Item = &'static Column> {
    FOUND.iter().chain([&UNDEFINED])
}

/// Returns a sender's row. Rounds and idle restarts, which are lists, are left out.
///
/// # Errors
/// Fails only if `Found` does not serialize to a JSON object, which is a bug.
pub fn row(file: &str, found: &mut Found) -> Result<Record, RecordError> {
    let lists = (std::mem::take(&mut found.rounds), std::mem::take(&mut found.idle_restarts));
    let value = serde_json::to_value(&*found);
    (found.rounds, found.idle_restarts) = lists;
    let Value::Object(mut record) = value? else { return Err(RecordError::NotAnObject) };
    record.insert("file".to_owned(), file.into());
    Ok(record)
}

/// Returns the header of the CSV.
///
/// # Errors
/// Fails if the CSV encoder fails.
pub fn csv_header() -> Result<Vec<u8>, CsvError> {
    csv::lines([columns().map(|column| column.name.to_owned())])
}

/// Returns a row as a line of CSV.
///
/// # Errors
/// Fails if the CSV encoder fails.
pub fn csv_line(row: &Record) -> Result<Vec<u8>, CsvError> {
    csv::lines([columns().map(|column| csv::cell(row.get(column.name)))])
}

/// A Parquet file that is being written. The memory it needs does not grow with the number of rows.
#[derive(Debug)]
pub struct ParquetRows<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<&'static Column>,
    batch: Vec<Record>,
}

impl<W: Write + Send> ParquetRows<W> {
    /// Starts a file for senders in captures.
    ///
    /// # Errors
    /// Fails if the Parquet encoder fails, or if `out` cannot be written.
    pub fn new(out: W) -> Result<Self, ParquetError> {
        Self::grouped(out, columns().collect(), GROUP)
    }

    /// Starts a file with these columns, for other rows.
    ///
    /// # Errors
    /// Fails if the Parquet encoder fails, or if `out` cannot be written.
    pub fn of(out: W, columns: impl IntoIterator<Item = &'static Column>) -> Result<Self, ParquetError> {
        Self::grouped(out, columns.into_iter().collect(), GROUP)
    }

    fn grouped(out: W, columns: Vec<&'static Column>, group: usize) -> Result<Self, ParquetError> {
        let field = |column: &Column| {
            parquet::described(column.name, column.kind, column.unit, column.meaning.to_owned())
        };
        let schema = Arc::new(Schema::new(columns.iter().map(|column| field(column)).collect::<Vec<_>>()));
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
        Ok(Self { writer, schema, columns, batch: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Fails if the Parquet encoder fails, or if the output cannot be written.
    pub fn push(&mut self, row: Record) -> Result<(), ParquetError> {
        self.batch.push(row);
        if self.batch.len() < BATCH { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let array = |column: &&Column| parquet::array(column.name, column.kind, &batch);
        let arrays = self.columns.iter().map(array).collect::<Result<_, _>>()?;
        self.writer.write(&RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)?;
        Ok(())
    }

    /// Ends the row group. Returns the bytes that must follow the output written so far to make it a valid file. The file's notes mark it
    /// as [partial](parquet::PARTIAL).
    ///
    /// # Errors
    /// Fails if the Parquet encoder fails, or if the output cannot be written.
    pub fn end_so_far(&mut self) -> Result<Vec<u8>, ParquetError> {
        self.write()?;
        self.writer.flush()?;
        self.writer.sync().map_err(FormatError::from)?;
        let groups = self.writer.flushed_row_groups();
        let rows = groups.iter().map(RowGroupMetaData::num_rows).sum();
        let parquet_schema = ArrowSchemaConverter::new().convert(&self.schema)?;
        let notes = vec![
            KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), encode_arrow_schema(&self.schema)),
            KeyValue::new(parquet::PARTIAL.to_owned(), "rows came after these".to_owned()),
        ];
        let version = WriterVersion::PARQUET_1_0.as_num();
        let schema = Arc::new(parquet_schema);
        let metadata = FileMetaData::new(version, rows, None, Some(notes), schema, None);
        let mut end = Vec::new();
        ParquetMetaDataWriter::new(&mut end, &ParquetMetaData::new(metadata, groups.to_vec())).finish()?;
        Ok(end)
    }

    /// Returns the output. The caller must not write to it.
    pub fn out(&mut self) -> &mut W {
        self.writer.inner_mut()
    }

    /// Ends the file, and returns its output.
    ///
    /// # Errors
    /// Fails if the Parquet encoder fails, or if the output cannot be written.
    pub fn finish(mut self) -> Result<W, ParquetError> {
        self.write()?;
        Ok(self.writer.into_inner()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_inspect::FoundRound;

    fn sender(bytes: u64) -> Found {
        let mut found = Found {
            from: "10.0.0.1:80".to_owned(),
            bytes_sent: Some(bytes),
            sack: Some(true),
            handshake_rtt_s: Some(0.25),
            rounds: vec![FoundRound::default()],
            ..Found::default()
        };
        found.undefined.insert("min_rtt_s", "no data, \"none\"".to_owned());
        found
    }

    #[test]
    fn a_row_of_csv_has_every_column_and_the_reasons_as_json() {
        let mut found = sender(7);
        let row = row("a,b.pcap", &mut found).unwrap();
        assert_eq!(found.rounds.len(), 1, "the lists are still there");
        let text = [csv_header().unwrap(), csv_line(&row).unwrap()].concat();
        let mut reader = ::csv::Reader::from_reader(text.as_slice());
        let header = reader.headers().unwrap().clone();
        assert!(header.iter().eq(columns().map(|column| column.name)));
        let line = reader.records().next().unwrap().unwrap();
        let cell = |name: &str| &line[header.iter().position(|head| head == name).unwrap()];
        assert_eq!((cell("file"), cell("from"), cell("bytes_sent")), ("a,b.pcap", "10.0.0.1:80", "7"));
        assert_eq!((cell("sack"), cell("handshake_rtt_s"), cell("min_rtt_s")), ("true", "0.25", ""));
        let reasons: Value = serde_json::from_str(cell("undefined")).unwrap();
        assert_eq!(reasons["min_rtt_s"], "no data, \"none\"");
    }

    #[test]
    fn many_rows_are_parquet_in_several_row_groups_and_read_back() {
        let mut rows = ParquetRows::grouped(Vec::new(), columns().collect(), 2 * BATCH).unwrap();
        let count = 3 * BATCH + 3;
        for at in 0..count {
            rows.push(row("a.pcap", &mut sender(at as u64)).unwrap()).unwrap();
        }
        let bytes = rows.finish().unwrap();
        let file = bytes::Bytes::from(bytes.clone());
        let reader = ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let field = reader.schema().field_with_name("handshake_rtt_s").unwrap().clone();
        assert_eq!(field.metadata()["unit"], "s");
        let (records, _) = parquet::untrusted(bytes).unwrap();
        assert_eq!(records.len(), count);
        assert!(records.iter().enumerate().all(|(at, record)| record["bytes_sent"] == at as u64));
        assert_eq!(records[0]["sack"], true);
        assert!(records[0]["min_rtt_s"].is_null());
        let (empty, _) = parquet::untrusted(ParquetRows::new(Vec::new()).unwrap().finish().unwrap()).unwrap();
        assert!(empty.is_empty());
    }

    #[test]
    fn rows_written_so_far_form_a_complete_file_marked_partial() {
        let mut rows = ParquetRows::new(Vec::new()).unwrap();
        let so_far = |rows: &mut ParquetRows<Vec<u8>>| {
            let end = rows.end_so_far().unwrap();
            let (records, notes) = parquet::untrusted([rows.out().as_slice(), &end].concat()).unwrap();
            assert!(notes.iter().any(|(key, _)| key == parquet::PARTIAL));
            records
        };
        assert!(so_far(&mut rows).is_empty());
        let mut count = 0;
        for more in [1, BATCH + 1, 0, 3] {
            for _ in 0..more {
                rows.push(row("a.pcap", &mut sender(count)).unwrap()).unwrap();
                count += 1;
            }
            let records = so_far(&mut rows);
            assert_eq!(records.len() as u64, count);
            assert!((0..count).zip(&records).all(|(at, record)| record["bytes_sent"] == at));
        }
        let (records, notes) = parquet::untrusted(rows.finish().unwrap()).unwrap();
        assert_eq!(records.len() as u64, count);
        assert!(notes.iter().all(|(key, _)| key != parquet::PARTIAL));
    }
}
