//! `ArrowTable`: the rows of any object that speaks the Arrow PyCapsule interface.
//!
//! The object hands over a stream of record batches, whoever wrote it: duckdb, arro3, nanoarrow. Columns of numbers
//! go to the doors as arrays; a table with other columns goes as an Arrow IPC stream through the reader of the
//! program, as frames of pandas and polars do. Truth values are the numbers 0 and 1, as in arrays.
//!
//! Reference: Apache Arrow, The Arrow PyCapsule Interface.

use crate::errors::wrong_type;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt8Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use numpy::{Element, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule};
use std::sync::Arc;

/// A table of record batches that Python shares with Rust.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// Values of a column, and for each of them 1 if it is there, where some are missing.
type ColumnOfNumbers<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyArray1<u8>>>);

#[pymethods]
impl ArrowTable {
    /// Takes the stream of an object.
    #[new]
    fn new(table: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
        let capsule = table.call_method0("__arrow_c_stream__")?;
        let Ok(capsule) = capsule.cast::<PyCapsule>() else {
            return Err(wrong_type("__arrow_c_stream__ has to give a capsule"));
        };
        let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
        let stream = stream.cast::<FFI_ArrowArrayStream>().as_ptr();
        // SAFETY: a capsule of this name holds a stream by the rules of the interface. It is moved out, so that
        // the capsule has nothing left to release.
        #[allow(unsafe_code)]
        let reader = unsafe { RecordBatchStreamReader::from_raw(stream) }.map_err(refused)?;
        let schema = arrow_array::RecordBatchReader::schema(&reader);
        let batches = reader.collect::<Result<Vec<RecordBatch>, ArrowError>>().map_err(refused)?;
        let (schema, batches) = with_numbers_for_truth(&schema, batches)?;
        Ok(ArrowTable { schema, batches })
    }

    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Number of rows and of columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.num_rows(), self.schema.fields().len())
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        self.schema.fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// The first column that is not one of numbers, with its type.
    fn first_other(&self) -> Option<(String, String)> {
        let other = |field: &&Arc<Field>| {
            !(field.data_type().is_integer()
                || matches!(field.data_type(), DataType::Float32 | DataType::Float64))
        };
        let field = self.schema.fields().iter().find(other)?;
        Some((field.name().clone(), field.data_type().to_string()))
    }

    /// The columns, if all of them are numbers.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Vec<ColumnOfNumbers<'py>>> {
        (0..self.schema.fields().len()).map(|column| self.column(py, column)).collect()
    }

    /// The table as an Arrow IPC stream, with a column of labels and perhaps one of weights behind its own.
    #[pyo3(signature = (labels=None, weights=None))]
    fn stream<'py>(
        &self,
        py: Python<'py>,
        labels: Option<(String, Vec<String>)>,
        weights: Option<(String, Vec<f64>)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let labels = labels.map(|(name, texts)| {
            (
                Field::new(name, DataType::Utf8, false),
                Arc::new(StringArray::from(texts)) as ArrayRef,
            )
        });
        let weights = weights.map(|(name, numbers)| {
            let numbers: ArrayRef = Arc::new(Float64Array::from(numbers));
            (Field::new(name, DataType::Float64, false), numbers)
        });
        let more: Vec<(Field, ArrayRef)> = labels.into_iter().chain(weights).collect();
        if more.iter().any(|(_, values)| values.len() != self.num_rows()) {
            return Err(PyValueError::new_err("there is not one label or weight for each row"));
        }
        let fields = self.schema.fields().iter().cloned();
        let fields: Vec<_> =
            fields.chain(more.iter().map(|(field, _)| Arc::new(field.clone()))).collect();
        let schema = Arc::new(Schema::new(fields));
        let mut start = 0;
        let mut write = || -> Result<Vec<u8>, ArrowError> {
            let mut writer = StreamWriter::try_new(Vec::new(), &schema)?;
            for batch in &self.batches {
                let added = more.iter().map(|(_, values)| values.slice(start, batch.num_rows()));
                let columns = batch.columns().iter().cloned().chain(added).collect();
                start += batch.num_rows();
                writer.write(&RecordBatch::try_new(Arc::clone(&schema), columns)?)?;
            }
            writer.into_inner()
        };
        Ok(PyBytes::new(py, &write().map_err(refused)?))
    }
}

impl ArrowTable {
    fn column<'py>(&self, py: Python<'py>, column: usize) -> PyResult<ColumnOfNumbers<'py>> {
        let field = &self.schema.fields()[column];
        match field.data_type() {
            DataType::Float64 => Ok(self.numbers::<Float64Type>(py, column)),
            DataType::Float32 => Ok(self.numbers::<Float32Type>(py, column)),
            DataType::Int8 => Ok(self.numbers::<Int8Type>(py, column)),
            DataType::Int16 => Ok(self.numbers::<Int16Type>(py, column)),
            DataType::Int32 => Ok(self.numbers::<Int32Type>(py, column)),
            DataType::Int64 => Ok(self.numbers::<Int64Type>(py, column)),
            DataType::UInt8 => Ok(self.numbers::<UInt8Type>(py, column)),
            DataType::UInt16 => Ok(self.numbers::<UInt16Type>(py, column)),
            DataType::UInt32 => Ok(self.numbers::<UInt32Type>(py, column)),
            DataType::UInt64 => Ok(self.numbers::<UInt64Type>(py, column)),
            other => Err(wrong_type(&format!("column {} is one of {other}", field.name()))),
        }
    }

    fn numbers<'py, T: ArrowPrimitiveType<Native: Element>>(
        &self,
        py: Python<'py>,
        column: usize,
    ) -> ColumnOfNumbers<'py> {
        let (mut values, mut marks) = (Vec::with_capacity(self.num_rows()), Vec::new());
        let is_whole = self.batches.iter().all(|batch| batch.column(column).null_count() == 0);
        for array in self.batches.iter().map(|batch| batch.column(column)) {
            values.extend_from_slice(array.as_primitive::<T>().values());
            if !is_whole {
                marks.extend((0..array.len()).map(|row| u8::from(array.is_valid(row))));
            }
        }
        let marks = (!is_whole).then(|| PyArray1::from_vec(py, marks));
        (PyArray1::from_vec(py, values).into_any(), marks)
    }
}

/// The same batches with columns of 0 and 1 in the place of truth values.
fn with_numbers_for_truth(
    schema: &Schema,
    batches: Vec<RecordBatch>,
) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let is_truth = |field: &Arc<Field>| *field.data_type() == DataType::Boolean;
    let number = |field: &Arc<Field>| match is_truth(field) {
        true => Arc::new(Field::new(field.name(), DataType::UInt8, field.is_nullable())),
        false => Arc::clone(field),
    };
    let changed = Arc::new(Schema::new(schema.fields().iter().map(number).collect::<Vec<_>>()));
    let batches = batches.into_iter().map(|batch| {
        let columns = batch.columns().iter().map(|column| match column.as_boolean_opt() {
            Some(truth) => Arc::new(truth.iter().map(|x| x.map(u8::from)).collect::<UInt8Array>()),
            None => Arc::clone(column),
        });
        RecordBatch::try_new(Arc::clone(&changed), columns.collect()).map_err(refused)
    });
    let batches = batches.collect::<PyResult<_>>()?;
    Ok((changed, batches))
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow stream of X cannot be read: {error}"))
}
