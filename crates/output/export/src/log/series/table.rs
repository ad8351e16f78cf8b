//! A table with described columns, written as Parquet or CSV.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::Schema;

use super::super::naming::naming;
use crate::columns::Column;
use crate::parquet::described;
use crate::write::WholeFile;

/// A table that is being written to a file.
pub(super) struct Table {
    schema: Arc<Schema>,
    to: To,
}

enum To {
    Parquet(Box<ArrowWriter<WholeFile>>),
    Csv(WholeFile),
}

impl Table {
    /// Creates an empty table of these columns. The file at `path` is CSV if its name ends with `.csv`, or else Parquet.
    pub(super) fn new(path: &Path, columns: &[Column]) -> io::Result<Self> {
        let mut file = WholeFile::create(path).map_err(|error| naming(path, &error.source))?;
        let field =
            |column: &Column| described(column.name, column.kind, column.unit, column.meaning.to_owned());
        let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let is_csv = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
        let to = if is_csv {
            let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            file.write_all(format!("{}\n", names.join(",")).as_bytes())?;
            To::Csv(file)
        } else {
            let writer = ArrowWriter::try_new(file, Arc::clone(&schema), None).map_err(io::Error::other)?;
            To::Parquet(Box::new(writer))
        };
        Ok(Self { schema, to })
    }

    /// Adds rows. `columns` has the cells of each column.
    pub(super) fn add(&mut self, columns: &[Cells]) -> io::Result<()> {
        match &mut self.to {
            To::Parquet(writer) => {
                let arrays = columns.iter().map(Cells::array).collect::<io::Result<_>>()?;
                let batch =
                    RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(io::Error::other)?;
                writer.write(&batch).map_err(io::Error::other)
            }
            To::Csv(file) => {
                let rows = columns.first().map_or(0, Cells::len);
                let lines = (0..rows).map(|row| columns.iter().map(move |column| column.cell(row)));
                let lines: Vec<Vec<String>> = lines.map(Iterator::collect).collect();
                let bytes = crate::csv::lines(lines).map_err(|error| io::Error::other(error.to_string()))?;
                file.write_all(&bytes)
            }
        }
    }

    /// Ends the table and returns its file, which gets its name when it is committed.
    pub(super) fn end(self) -> io::Result<WholeFile> {
        match self.to {
            To::Parquet(writer) => writer.into_inner().map_err(io::Error::other),
            To::Csv(file) => Ok(file),
        }
    }
}

/// The cells of one column.
pub(super) enum Cells {
    Text(Vec<Option<String>>),
    Whole(Vec<Option<u64>>),
    Real(Vec<Option<f64>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Whole(cells) => cells.len(),
            Self::Real(cells) => cells.len(),
        }
    }

    /// # Errors
    /// Fails for a whole number of 64 bits.
    fn array(&self) -> io::Result<ArrayRef> {
        let signed = |cell: &Option<u64>| cell.map(i64::try_from).transpose();
        Ok(match self {
            Self::Text(cells) => Arc::new(StringArray::from_iter(cells)),
            Self::Whole(cells) => {
                let cells =
                    cells.iter().map(signed).collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
                Arc::new(Int64Array::from(cells))
            }
            Self::Real(cells) => Arc::new(Float64Array::from(cells.clone())),
        })
    }

    fn cell(&self, row: usize) -> String {
        match self {
            Self::Text(cells) => cells[row].clone().unwrap_or_default(),
            Self::Whole(cells) => cells[row].map(|number| number.to_string()).unwrap_or_default(),
            Self::Real(cells) => cells[row].map(|number| number.to_string()).unwrap_or_default(),
        }
    }
}
