//! Arrays of numpy at the doors of the library. Nothing is copied on the way; what is not aligned and
//! contiguous is refused here and copied by the Python side before.
//!
//! A matrix comes in one of three forms: an array of two dimensions in C or Fortran order, a tuple
//! `(indptr, indices, data, columns)` of compressed sparse rows, or a list of columns, each a pair of an
//! array and its marks of validity or `None`.

use crate::errors::wrong_type;
use linsep::data::door::{Array, Column, ColumnsArray, CsrArray, DenseArray, Indices, Matrix};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A borrowed array of numbers of one type, contiguous in one of both orders.
pub(crate) struct Numbers<'py> {
    values: Values<'py>,
    shape: Vec<usize>,
    by_columns: bool,
}

macro_rules! values {
    ($($variant:ident($type:ty)),*) => {
        enum Values<'py> { $($variant(PyReadonlyArrayDyn<'py, $type>),)* }

        impl<'py> Values<'py> {
            fn of(any: &Bound<'py, PyAny>) -> PyResult<Values<'py>> {
                $(
                    if let Ok(array) = any.cast::<PyArrayDyn<$type>>() {
                        if !(array.data() as usize).is_multiple_of(align_of::<$type>()) {
                            return Err(wrong_type("the array is not aligned"));
                        }
                        return Ok(Values::$variant(array.try_readonly()?));
                    }
                )*
                let kind = any.getattr("dtype").map_or_else(|_| any.get_type().to_string(), |kind| kind.to_string());
                Err(wrong_type(&format!("an array of numbers is expected, not {kind}")))
            }

            fn layout(&self) -> (Vec<usize>, bool, bool) {
                match self { $(Values::$variant(array) => {
                    (array.shape().to_vec(), array.is_c_contiguous(), array.is_fortran_contiguous())
                })* }
            }

            fn array(&self) -> PyResult<Array<'_>> {
                match self { $(Values::$variant(array) => Ok(Array::from(array.as_slice()?)),)* }
            }
        }
    };
}

values!(
    F64(f64),
    F32(f32),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64)
);

impl<'py> Numbers<'py> {
    pub(crate) fn of(any: &Bound<'py, PyAny>) -> PyResult<Numbers<'py>> {
        let values = Values::of(any)?;
        let (shape, by_rows, by_columns) = values.layout();
        if !(by_rows || by_columns) {
            return Err(wrong_type("the array is neither in C order nor in Fortran order"));
        }
        // A slice of memory says nothing of the order: both are contiguous.
        Ok(Numbers { values, shape, by_columns: !by_rows })
    }

    /// The values of an array of one dimension.
    pub(crate) fn list(&self) -> PyResult<Array<'_>> {
        match self.shape.len() {
            1 => self.values.array(),
            n => Err(wrong_type(&format!("an array of 1 dimension is expected, not of {n}"))),
        }
    }

    fn indices(&self) -> PyResult<Indices<'_>> {
        match self.list()? {
            Array::I32(values) => Ok(Indices::I32(values)),
            Array::I64(values) => Ok(Indices::I64(values)),
            Array::U32(values) => Ok(Indices::U32(values)),
            Array::U64(values) => Ok(Indices::U64(values)),
            _ => Err(wrong_type("indices are integers of 32 or 64 bits")),
        }
    }

    fn table(&self) -> PyResult<DenseArray<'_>> {
        let [rows, columns] = self.shape[..] else {
            let words =
                format!("an array of 2 dimensions is expected, not of {}", self.shape.len());
            return Err(wrong_type(&words));
        };
        let values = self.values.array()?;
        Ok(match self.by_columns {
            true => DenseArray::column_major(values, rows, columns),
            false => DenseArray::row_major(values, rows, columns),
        })
    }
}

/// A borrowed matrix in one of the three forms.
pub(crate) enum Borrowed<'py> {
    Dense(Numbers<'py>),
    Csr { offsets: Numbers<'py>, indices: Numbers<'py>, values: Numbers<'py>, columns: usize },
    Columns(Vec<(Numbers<'py>, Option<Numbers<'py>>)>),
}

impl<'py> Borrowed<'py> {
    pub(crate) fn of(any: &Bound<'py, PyAny>) -> PyResult<Borrowed<'py>> {
        if let Ok(parts) = any.cast::<PyTuple>() {
            let part = |at: usize| Numbers::of(&parts.get_item(at)?);
            return Ok(Borrowed::Csr {
                offsets: part(0)?,
                indices: part(1)?,
                values: part(2)?,
                columns: parts.get_item(3)?.extract()?,
            });
        }
        if let Ok(list) = any.cast::<PyList>() {
            let column = |item: Bound<'py, PyAny>| {
                let (values, valid): (Bound<'py, PyAny>, Option<Bound<'py, PyAny>>) =
                    item.extract()?;
                Ok((Numbers::of(&values)?, valid.map(|valid| Numbers::of(&valid)).transpose()?))
            };
            return Ok(Borrowed::Columns(list.iter().map(column).collect::<PyResult<_>>()?));
        }
        Ok(Borrowed::Dense(Numbers::of(any)?))
    }

    /// The matrix as the doors take it, and room for marks of validity in `marks`.
    pub(crate) fn matrix<'a>(&'a self, marks: &'a mut Vec<Vec<bool>>) -> PyResult<Matrix<'a>> {
        match self {
            Borrowed::Dense(array) => Ok(array.table()?.into()),
            Borrowed::Csr { offsets, indices, values, columns } => {
                let (offsets, indices) = (offsets.indices()?, indices.indices()?);
                Ok(CsrArray::new(offsets, indices, values.list()?, *columns).into())
            }
            Borrowed::Columns(columns) => {
                for (_, valid) in columns {
                    marks.push(match valid {
                        None => Vec::new(),
                        Some(valid) => match valid.list()? {
                            Array::U8(bytes) => bytes.iter().map(|byte| *byte != 0).collect(),
                            _ => return Err(wrong_type("marks of validity are bytes")),
                        },
                    });
                }
                let column = |((values, valid), marks): (&'a (Numbers<'py>, _), &'a Vec<bool>)| {
                    let column = Column::new(values.list()?);
                    let valid: &Option<Numbers<'py>> = valid;
                    Ok(if valid.is_some() { column.validity(marks) } else { column })
                };
                let columns: PyResult<Vec<Column<'a>>> =
                    columns.iter().zip(marks.iter()).map(column).collect();
                Ok(ColumnsArray::new(columns?).into())
            }
        }
    }
}
