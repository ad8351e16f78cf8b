//! Tables of results in Arrow's memory layout.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, new_null_array};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use firstflight_export::{Record, parquet};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyKeyError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};

/// A table: rows of typed columns, in batches. A library that speaks Arrow's C stream (polars, pandas, pyarrow, `DuckDB`) reads it without a copy.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Table {
    /// The records of a table of results.
    records: Option<Vec<Record>>,
    /// The columns; of a table of results, once they are needed.
    columns: OnceLock<Columns>,
}

/// The columns of a table, in batches of rows.
struct Columns {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    /// Makes the table of these records, with the columns of a Parquet file of them.
    pub(crate) fn of(records: Vec<Record>) -> Self {
        Self { records: Some(records), columns: OnceLock::new() }
    }

    /// Makes a table of these columns.
    fn of_columns(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { records: None, columns: OnceLock::from(Columns { schema, batches }) }
    }

    fn get(&self) -> PyResult<&Columns> {
        if let Some(columns) = self.columns.get() {
            return Ok(columns);
        }
        let batch = parquet::batch(self.records.as_deref().unwrap_or_default())
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(self.columns.get_or_init(|| Columns { schema: batch.schema(), batches: vec![batch] }))
    }

    fn index(&self, name: &str) -> PyResult<usize> {
        self.get()?.schema.index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl Table {
    /// Returns the table of JSON lines that a command printed. Values that are no scalars become JSON text.
    #[staticmethod]
    fn from_json(lines: &[u8]) -> PyResult<Self> {
        let lines =
            lines.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).enumerate();
        let records = lines.map(|(number, line)| {
            serde_json::from_slice(line).map_err(|error| {
                PyValueError::new_err(format!("row {}: no JSON object of a result: {error}", number + 1))
            })
        });
        Ok(Self::of(records.collect::<PyResult<_>>()?))
    }

    /// Returns the rows of several tables, one after the other. A column that a table lacks has no values there.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "Python's arguments are converted to owned values")]
    fn joined(tables: Vec<PyRef<'_, Self>>) -> PyResult<Self> {
        let tables = tables.iter().map(|table| table.get()).collect::<PyResult<Vec<_>>>()?;
        let mut fields: Vec<FieldRef> = Vec::new();
        for field in tables.iter().flat_map(|table| table.schema.fields()) {
            if !fields.iter().any(|known| known.name() == field.name()) {
                fields.push(Arc::clone(field));
            }
        }
        let schema = Arc::new(Schema::new(fields));
        let batches = tables.iter().flat_map(|table| &table.batches).map(|batch| widened(batch, &schema));
        Ok(Self::of_columns(Arc::clone(&schema), batches.collect::<PyResult<_>>()?))
    }

    /// Returns the rows as a stream of Arrow's C data interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol allows a producer to ignore a requested schema.
        drop(requested_schema);
        let Columns { schema, batches } = self.get()?;
        let batches: Vec<Result<RecordBatch, ArrowError>> = batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the number of rows.
    fn __len__(&self) -> PyResult<usize> {
        match &self.records {
            Some(records) => Ok(records.len()),
            None => Ok(self.get()?.batches.iter().map(RecordBatch::num_rows).sum()),
        }
    }

    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> PyResult<Vec<String>> {
        Ok(self.get()?.schema.fields().iter().map(|field| field.name().clone()).collect())
    }

    /// Returns the unit of each column that has one.
    #[getter]
    fn units(&self) -> PyResult<BTreeMap<String, String>> {
        self.metadata("unit")
    }

    /// Returns the meaning of each column that has one.
    #[getter]
    fn meanings(&self) -> PyResult<BTreeMap<String, String>> {
        self.metadata("description")
    }

    /// Returns the values of a column; `None` where a row has none.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let index = self.index(name)?;
        let values = PyList::empty(py);
        for batch in &self.get()?.batches {
            let array = batch.column(index);
            for row in 0..array.len() {
                values.append(value(py, array, row)?)?;
            }
        }
        Ok(values)
    }

    /// Returns a column of numbers as the bytes of doubles in the machine's order, for `numpy.frombuffer`; NaN where a row has none.
    fn doubles<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let index = self.index(name)?;
        let mut bytes = Vec::with_capacity(8 * self.__len__()?);
        for batch in &self.get()?.batches {
            let array = batch.column(index);
            for row in 0..array.len() {
                bytes.extend(double(name, array, row)?.to_ne_bytes());
            }
        }
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the rows, each as a dictionary.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        let Columns { schema, batches } = self.get()?;
        for batch in batches {
            for row in 0..batch.num_rows() {
                let fields = PyDict::new(py);
                for (field, array) in schema.fields().iter().zip(batch.columns()) {
                    fields.set_item(field.name(), value(py, array, row)?)?;
                }
                rows.append(fields)?;
            }
        }
        Ok(rows)
    }

    /// Returns the table as the bytes of the file that `--parquet` writes.
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = match (&self.records, self.columns.get()) {
            (None, Some(Columns { schema, batches })) => parquet::of_batches(Arc::clone(schema), batches),
            (records, _) => parquet::to_bytes(records.as_deref().unwrap_or_default()),
        };
        Ok(PyBytes::new(py, &bytes.map_err(|error| PyValueError::new_err(error.to_string()))?))
    }

    /// Returns the table of the bytes of a Parquet file that [`Table::parquet`] returned.
    #[staticmethod]
    fn from_parquet(file: Vec<u8>) -> PyResult<Self> {
        let (schema, batches) =
            parquet::batches(file).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self::of_columns(schema, batches))
    }

    /// Returns how `pickle` and `copy` make the table again: from its JSON lines, or from its Parquet file.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let (py, table) = (slf.py(), slf.get());
        let Some(records) = &table.records else {
            return Ok((slf.getattr("from_parquet")?, (table.parquet(py)?,)));
        };
        let mut lines = Vec::new();
        firstflight_export::json::write_lines(&mut lines, records)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((slf.getattr("from_json")?, (PyBytes::new(py, &lines),)))
    }
}

impl Table {
    fn metadata(&self, key: &str) -> PyResult<BTreeMap<String, String>> {
        let fields = self.get()?.schema.fields().iter();
        let said =
            fields.filter_map(|field| Some((field.name().clone(), field.metadata().get(key)?.clone())));
        Ok(said.collect())
    }
}

/// Returns the batch with the columns of `schema`.
fn widened(batch: &RecordBatch, schema: &SchemaRef) -> PyResult<RecordBatch> {
    let refuse = |error: ArrowError| PyValueError::new_err(error.to_string());
    let column = |field: &FieldRef| match batch.column_by_name(field.name()) {
        Some(array) => Arc::clone(array),
        None => new_null_array(field.data_type(), batch.num_rows()),
    };
    let columns = schema.fields().iter().map(column).collect();
    RecordBatch::try_new(Arc::clone(schema), columns).map_err(refuse)
}

/// Returns a value of a column as an object of Python.
fn value<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into_bound_py_any(py),
        DataType::Boolean => array.as_boolean().value(row).into_bound_py_any(py),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).into_bound_py_any(py),
        DataType::UInt64 => array.as_primitive::<UInt64Type>().value(row).into_bound_py_any(py),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).into_bound_py_any(py),
        other => Err(PyTypeError::new_err(format!("a column of {other} has no values in Python"))),
    }
}

/// Returns a number of a column as a double; NaN if there is none.
fn double(name: &str, array: &ArrayRef, row: usize) -> PyResult<f64> {
    if array.is_null(row) {
        return Ok(f64::NAN);
    }
    #[expect(clippy::cast_precision_loss, reason = "numpy's doubles have this precision, too")]
    match array.data_type() {
        DataType::Float64 => Ok(array.as_primitive::<Float64Type>().value(row)),
        DataType::Int64 => Ok(array.as_primitive::<Int64Type>().value(row) as f64),
        DataType::UInt64 => Ok(array.as_primitive::<UInt64Type>().value(row) as f64),
        _ => Err(PyTypeError::new_err(format!("the column {name} has no numbers"))),
    }
}

/// Reads a Parquet file that the command wrote.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's arguments are converted to owned values")]
pub(crate) fn read_parquet(path: PathBuf) -> PyResult<Table> {
    let refuse = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = fs::read(&path).map_err(|error| PyOSError::new_err(refuse(&error)))?;
    let (schema, batches) = parquet::batches(bytes).map_err(|error| PyValueError::new_err(refuse(&error)))?;
    Ok(Table::of_columns(schema, batches))
}
