//! The values of one decoded column, as numbers or as the texts that a table of text would have for them.

use crate::read::number;
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use std::fmt::Write;

/// The values of a column in some rows.
pub(super) struct Cells {
    /// The values, or those of the dictionary.
    values: ArrayRef,
    /// The place of each row's value, where there is a dictionary.
    keys: Option<Vec<usize>>,
    /// Rows without a value.
    nulls: Option<NullBuffer>,
    /// The values as binary64, where they are numbers of a fixed size.
    numbers: Option<Vec<f64>>,
}

/// One value.
pub(super) enum Cell<'a> {
    /// There is none.
    Missing,
    /// A number of a fixed size; an integer may have been rounded.
    Number { value: f64, rounded: bool },
    /// Anything else, as text.
    Text(&'a str),
}

/// Why a column of this type is neither numbers nor text; `None` where it is.
pub(super) fn foreign(kind: &DataType) -> Option<String> {
    use DataType::*;
    match kind {
        Null | Boolean | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => None,
        Float16 | Float32 | Float64 | Utf8 | LargeUtf8 | Utf8View => None,
        Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) => None,
        Date32 | Date64 | Time32(_) | Time64(_) | Timestamp(..) => None,
        Dictionary(_, values) if !matches!(**values, Dictionary(..)) => foreign(values),
        List(_) | LargeList(_) | FixedSizeList(..) | ListView(_) | LargeListView(_) => {
            Some("it holds lists".into())
        }
        Struct(_) | Map(..) | Union(..) => Some("it holds several values in each row".into()),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => Some("it holds bytes".into()),
        Duration(_) | Interval(_) => Some("it holds spans of time".into()),
        other => Some(format!("it holds values of the type {other}")),
    }
}

macro_rules! as_binary64 {
    ($array:expr, $kind:ident) => {
        Some($array.as_primitive::<$kind>().values().iter().map(|v| *v as f64).collect())
    };
}

impl Cells {
    /// The values of an array whose type is not [`foreign`].
    pub(super) fn new(array: &ArrayRef) -> Cells {
        let nulls = array.logical_nulls();
        let (values, keys) = match array.as_any_dictionary_opt() {
            Some(dictionary) if dictionary.values().is_empty() => {
                // Every row is a gap.
                (dictionary.values().clone(), Some(vec![0; array.len()]))
            }
            Some(dictionary) => (dictionary.values().clone(), Some(dictionary.normalized_keys())),
            None => (array.clone(), None),
        };
        let numbers = match values.data_type() {
            DataType::Float64 => Some(values.as_primitive::<Float64Type>().values().to_vec()),
            DataType::Float32 => as_binary64!(values, Float32Type),
            DataType::Float16 => {
                let halves = values.as_primitive::<Float16Type>().values().iter();
                Some(halves.map(|half| half.to_f64()).collect())
            }
            DataType::Int8 => as_binary64!(values, Int8Type),
            DataType::Int16 => as_binary64!(values, Int16Type),
            DataType::Int32 => as_binary64!(values, Int32Type),
            DataType::Int64 => as_binary64!(values, Int64Type),
            DataType::UInt8 => as_binary64!(values, UInt8Type),
            DataType::UInt16 => as_binary64!(values, UInt16Type),
            DataType::UInt32 => as_binary64!(values, UInt32Type),
            DataType::UInt64 => as_binary64!(values, UInt64Type),
            _ => None,
        };
        Cells { values, keys, nulls, numbers }
    }

    /// The value of a row; `text` is where a text that has to be made is put.
    #[inline]
    pub(super) fn get<'a>(&'a self, row: usize, text: &'a mut String) -> Cell<'a> {
        if self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Cell::Missing;
        }
        let at = self.keys.as_ref().map_or(row, |keys| keys[row]);
        if let Some(numbers) = &self.numbers {
            let value = numbers[at];
            return Cell::Number { value, rounded: self.is_rounded(at, value) };
        }
        match self.values.data_type() {
            DataType::Utf8 => Cell::Text(self.values.as_string::<i32>().value(at)),
            DataType::LargeUtf8 => Cell::Text(self.values.as_string::<i64>().value(at)),
            DataType::Utf8View => Cell::Text(self.values.as_string_view().value(at)),
            DataType::Null => Cell::Missing,
            _ => {
                text.clear();
                self.write_other(at, text);
                Cell::Text(text)
            }
        }
    }

    /// Whether the values are integers.
    pub(super) fn are_whole(&self) -> bool {
        self.values.data_type().is_integer()
    }

    /// Whether an integer is not the binary64 that was made of it.
    #[inline]
    fn is_rounded(&self, at: usize, value: f64) -> bool {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        value.abs() >= EXACT && self.exact_integer(at).is_some_and(|n| value as i128 != n)
    }

    #[cold]
    fn exact_integer(&self, at: usize) -> Option<i128> {
        match self.values.data_type() {
            DataType::Int64 => Some(self.values.as_primitive::<Int64Type>().value(at).into()),
            DataType::UInt64 => Some(self.values.as_primitive::<UInt64Type>().value(at).into()),
            _ => None,
        }
    }

    /// The text that a table would have for a row: the shortest one of a number, nothing for a gap.
    pub(super) fn write_text(&self, row: usize, out: &mut String) {
        let mut own = String::new();
        match self.get(row, &mut own) {
            Cell::Missing => {}
            Cell::Text(text) => out.push_str(text),
            Cell::Number { value, .. } => {
                let at = self.keys.as_ref().map_or(row, |keys| keys[row]);
                match self.exact_integer(at) {
                    Some(whole) => drop(write!(out, "{whole}")),
                    None if value.is_finite() => out.push_str(&number::shortest(value)),
                    None => drop(write!(out, "{value}")),
                }
            }
        }
    }

    /// Truth values, decimals, dates and times.
    fn write_other(&self, at: usize, out: &mut String) {
        macro_rules! decimal {
            ($kind:ident) => {
                out.push_str(&self.values.as_primitive::<$kind>().value_as_string(at))
            };
        }
        // What no calendar has is left as the number that it is.
        macro_rules! time {
            ($kind:ident, $part:ident) => {{
                let array = self.values.as_primitive::<$kind>();
                let _ = match array.$part(at) {
                    Some(time) => write!(out, "{time}"),
                    None => write!(out, "{}", array.value(at)),
                };
            }};
        }
        match self.values.data_type() {
            DataType::Boolean => {
                out.push_str(if self.values.as_boolean().value(at) { "true" } else { "false" });
            }
            DataType::Decimal32(..) => decimal!(Decimal32Type),
            DataType::Decimal64(..) => decimal!(Decimal64Type),
            DataType::Decimal128(..) => decimal!(Decimal128Type),
            DataType::Decimal256(..) => decimal!(Decimal256Type),
            DataType::Date32 => time!(Date32Type, value_as_date),
            DataType::Date64 => time!(Date64Type, value_as_date),
            DataType::Time32(TimeUnit::Second) => time!(Time32SecondType, value_as_time),
            DataType::Time32(_) => time!(Time32MillisecondType, value_as_time),
            DataType::Time64(TimeUnit::Nanosecond) => time!(Time64NanosecondType, value_as_time),
            DataType::Time64(_) => time!(Time64MicrosecondType, value_as_time),
            DataType::Timestamp(TimeUnit::Second, _) => {
                time!(TimestampSecondType, value_as_datetime)
            }
            DataType::Timestamp(TimeUnit::Millisecond, _) => {
                time!(TimestampMillisecondType, value_as_datetime)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                time!(TimestampMicrosecondType, value_as_datetime)
            }
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                time!(TimestampNanosecondType, value_as_datetime)
            }
            _ => {}
        }
    }
}
