//! Senders as rows: CSV and Parquet, written while the senders come.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::file::properties::WriterProperties;
use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use firstflight_inspect::Found;
use serde_json::Value;

use super::FOUND;
use crate::columns::{Column, text};
use crate::csv::{self, CsvError};
use crate::parquet::{self, ParquetError};
use crate::record::{Record, RecordError};

/// Why numbers of a sender are undefined.
const UNDEFINED: Column =
    text("undefined", "The fields that have no number, and why, as a JSON object in text.");

/// Rows in one batch: what is in memory as records.
const BATCH: usize = 512;

/// Rows in one row group: what is in memory encoded.
const GROUP: usize = 65_536;

/// The columns of a sender's row: the fields that are no lists, and the reasons of those that are undefined.
pub fn columns() -> impl Iterator<Item = &'static Column> {
    FOUND.iter().chain([&UNDEFINED])
}

/// A sender's row. Rounds and idle restarts, which are lists, are not in it.
///
/// # Errors
/// A defect of the types.
pub fn row(file: &str, found: &mut Found) -> Result<Record, RecordError> {
    let lists = (std::mem::take(&mut found.rounds), std::mem::take(&mut found.idle_restarts));
    let value = serde_json::to_value(&*found);
    (found.rounds, found.idle_restarts) = lists;
    let Value::Object(mut record) = value? else { return Err(RecordError::NotAnObject) };
    record.insert("file".to_owned(), file.into());
    Ok(record)
}

/// The header of the CSV.
///
/// # Errors
/// An error of the CSV encoder.
pub fn csv_header() -> Result<Vec<u8>, CsvError> {
    csv::lines([columns().map(|column| column.name.to_owned())])
}

/// A row as a line of CSV.
///
/// # Errors
/// An error of the CSV encoder.
pub fn csv_line(row: &Record) -> Result<Vec<u8>, CsvError> {
    csv::lines([columns().map(|column| csv::cell(row.get(column.name)))])
}

/// A Parquet file in the making. What is in memory does not grow with the rows.
#[derive(Debug)]
pub struct ParquetRows<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: SchemaRef,
    columns: Vec<&'static Column>,
    batch: Vec<Record>,
}

impl<W: Write + Send> ParquetRows<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// An error of the Parquet encoder or of `out`.
    pub fn new(out: W) -> Result<Self, ParquetError> {
        Self::grouped(out, columns().collect(), GROUP)
    }

    /// Begins a file of other rows than those of senders in captures: of these columns.
    ///
    /// # Errors
    /// An error of the Parquet encoder or of `out`.
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

    /// One row more.
    ///
    /// # Errors
    /// An error of the Parquet encoder or of the output.
    pub fn push(&mut self, row: Record) -> Result<(), ParquetError> {
        self.batch.push(row);
        if self.batch.len() < BATCH { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), ParquetError> {
        let batch = std::mem::take(&mut self.batch);
        let array = |column: &&Column| parquet::array(column.name, column.kind, &batch);
        let arrays = self.columns.iter().map(array).collect();
        self.writer.write(&RecordBatch::try_new(Arc::clone(&self.schema), arrays)?)?;
        Ok(())
    }

    /// Ends the file, and gives back where it was written to.
    ///
    /// # Errors
    /// An error of the Parquet encoder or of the output.
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
        let (records, _) = parquet::decode(bytes).unwrap();
        assert_eq!(records.len(), count);
        assert!(records.iter().enumerate().all(|(at, record)| record["bytes_sent"] == at as u64));
        assert_eq!(records[0]["sack"], "true");
        assert!(records[0]["min_rtt_s"].is_null());
        let (empty, _) = parquet::decode(ParquetRows::new(Vec::new()).unwrap().finish().unwrap()).unwrap();
        assert!(empty.is_empty());
    }
}
