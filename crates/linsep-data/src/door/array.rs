//! Arrays as callers have them: borrowed slices of any number type, with a shape.

/// An enum of slices, how slices become it, and the one way back to their types.
macro_rules! arrays {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident($type:ty),)* } $with:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub enum $name<'a> { $($(#[$vdoc])* $variant(&'a [$type]),)* }

        impl $name<'_> {
            /// The number of values.
            pub fn len(&self) -> usize {
                match self { $($name::$variant(values) => values.len(),)* }
            }

            /// Whether there is no value.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        $(
            impl<'a> From<&'a [$type]> for $name<'a> {
                fn from(values: &'a [$type]) -> Self {
                    $name::$variant(values)
                }
            }

            impl<'a> From<&'a Vec<$type>> for $name<'a> {
                fn from(values: &'a Vec<$type>) -> Self {
                    $name::$variant(values)
                }
            }

            impl<'a, const N: usize> From<&'a [$type; N]> for $name<'a> {
                fn from(values: &'a [$type; N]) -> Self {
                    $name::$variant(values)
                }
            }
        )*

        /// Runs `$body` with `$values` bound to the slice of its own type.
        macro_rules! $with {
            ($array:expr, $values:ident => $body:expr) => {
                match $array { $($crate::door::array::$name::$variant($values) => $body,)* }
            };
        }
        pub(super) use $with;
    };
}

arrays! {
    /// Borrowed numbers of one type.
    ///
    /// ```
    /// use linsep_data::door::Array;
    /// let counts = [3u16, 0, 7];
    /// assert_eq!(Array::from(&counts).len(), 3);
    /// ```
    Array {
        /// binary64.
        F64(f64),
        /// binary32; a value counts as the binary64 that equals it.
        F32(f32),
        /// Signed, 8 bits.
        I8(i8),
        /// Signed, 16 bits.
        I16(i16),
        /// Signed, 32 bits.
        I32(i32),
        /// Signed, 64 bits.
        I64(i64),
        /// Unsigned, 8 bits.
        U8(u8),
        /// Unsigned, 16 bits.
        U16(u16),
        /// Unsigned, 32 bits.
        U32(u32),
        /// Unsigned, 64 bits.
        U64(u64),
        /// True counts as 1, false as 0.
        Bool(bool),
    }
    with_array
}

arrays! {
    /// Row offsets or column indices of a sparse array.
    Indices {
        /// Signed, 32 bits.
        I32(i32),
        /// Signed, 64 bits.
        I64(i64),
        /// Unsigned, 32 bits.
        U32(u32),
        /// Unsigned, 64 bits.
        U64(u64),
        /// As wide as the machine addresses.
        Usize(usize),
    }
    with_indices
}

/// A number type of arrays.
pub(super) trait Element: Copy + Send + Sync {
    /// Whether its values are whole numbers, whose text has no exponent.
    const WHOLE: bool;

    /// The binary64 that equals the value; NaN where there is none.
    fn exact(self) -> f64;

    /// The nearest binary64.
    fn nearest(self) -> f64;

    /// The value as people write it.
    fn text(self) -> String;

    /// Bits that equal values share and no others.
    fn bits(self) -> u64;
}

macro_rules! elements {
    ($($type:ty: $whole:literal, $text:expr;)*) => {$(
        impl Element for $type {
            const WHOLE: bool = $whole;

            #[inline(always)]
            fn exact(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn nearest(self) -> f64 {
                f64::from(self)
            }

            fn text(self) -> String {
                let text: fn($type) -> String = $text;
                text(self)
            }

            fn bits(self) -> u64 {
                // Adding 0 makes 0 of −0.
                (f64::from(self) + 0.0).to_bits()
            }
        }
    )*};
}

elements! {
    f64: false, |x| super::number::shortest(x);
    f32: false, |x| super::number::shortest(f64::from(x));
    i8: true, |x| x.to_string();
    i16: true, |x| x.to_string();
    i32: true, |x| x.to_string();
    u8: true, |x| x.to_string();
    u16: true, |x| x.to_string();
    u32: true, |x| x.to_string();
    bool: true, |x| x.to_string();
}

macro_rules! long_elements {
    ($($type:ty: $magnitude:expr;)*) => {$(
        impl Element for $type {
            const WHOLE: bool = true;

            #[inline(always)]
            fn exact(self) -> f64 {
                let magnitude: u64 = $magnitude(self);
                // Up to 2^53 every whole number is a binary64; above, those whose last bits are 0.
                let fits = magnitude <= 1 << 53
                    || magnitude.leading_zeros() + magnitude.trailing_zeros() >= 11;
                if fits { self as f64 } else { f64::NAN }
            }

            #[inline(always)]
            fn nearest(self) -> f64 {
                self as f64
            }

            fn text(self) -> String {
                self.to_string()
            }

            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}

long_elements! {
    i64: i64::unsigned_abs;
    u64: std::convert::identity;
}

/// A dense array: entry (i, j) is `values[i · row_stride + j · column_stride]`.
#[derive(Clone, Copy, Debug)]
pub struct DenseArray<'a> {
    pub(super) values: Array<'a>,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) row_stride: usize,
    pub(super) column_stride: usize,
}

impl<'a> DenseArray<'a> {
    /// Row after row, as C and numpy lay out arrays.
    pub fn row_major(values: impl Into<Array<'a>>, rows: usize, columns: usize) -> DenseArray<'a> {
        DenseArray::strided(values, rows, columns, columns, 1)
    }

    /// Column after column, as Fortran, R and Julia lay out arrays.
    pub fn column_major(
        values: impl Into<Array<'a>>,
        rows: usize,
        columns: usize,
    ) -> DenseArray<'a> {
        DenseArray::strided(values, rows, columns, 1, rows)
    }

    /// With any distance, counted in values, from one row to the next and from one column to the next.
    pub fn strided(
        values: impl Into<Array<'a>>,
        rows: usize,
        columns: usize,
        row_stride: usize,
        column_stride: usize,
    ) -> DenseArray<'a> {
        DenseArray { values: values.into(), rows, columns, row_stride, column_stride }
    }
}

/// Compressed sparse rows: row i has the columns `indices[offsets[i]..offsets[i + 1]]` with the values
/// at the same places; every other value is 0. Columns of a row may stand in any order, none twice.
#[derive(Clone, Copy, Debug)]
pub struct CsrArray<'a> {
    pub(super) offsets: Indices<'a>,
    pub(super) indices: Indices<'a>,
    pub(super) values: Array<'a>,
    pub(super) columns: usize,
}

impl<'a> CsrArray<'a> {
    /// An array of `columns` columns and one row less than there are offsets.
    pub fn new(
        offsets: impl Into<Indices<'a>>,
        indices: impl Into<Indices<'a>>,
        values: impl Into<Array<'a>>,
        columns: usize,
    ) -> CsrArray<'a> {
        let (offsets, indices, values) = (offsets.into(), indices.into(), values.into());
        CsrArray { offsets, indices, values, columns }
    }
}

/// One column of a table held by columns.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub(super) values: Values<'a>,
    pub(super) validity: Option<Validity<'a>>,
}

/// The values of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values<'a> {
    Array(Array<'a>),
    /// Booleans, packed like marks of validity.
    Bits {
        bits: &'a [u8],
        offset: usize,
        len: usize,
    },
}

impl Values<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Values::Array(array) => array.len(),
            Values::Bits { len, .. } => *len,
        }
    }
}

/// Which values of a column are there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Validity<'a> {
    /// Bits from the lowest of the first byte on, from this bit on; 1 means there.
    Bits(&'a [u8], usize),
    Bools(&'a [bool]),
}

impl<'a> Column<'a> {
    /// A column with no missing value.
    pub fn new(values: impl Into<Array<'a>>) -> Column<'a> {
        Column { values: Values::Array(values.into()), validity: None }
    }

    /// A column of `len` booleans packed as Arrow has them: value i is bit `offset + i`, counted from
    /// the lowest bit of the first byte.
    pub fn bits(bits: &'a [u8], offset: usize, len: usize) -> Column<'a> {
        Column { values: Values::Bits { bits, offset, len }, validity: None }
    }

    /// With a bitmap as Arrow has it: bit `offset + i`, counted from the lowest bit of the first byte,
    /// is 1 where value i is there.
    pub fn validity_bits(self, bits: &'a [u8], offset: usize) -> Column<'a> {
        Column { validity: Some(Validity::Bits(bits, offset)), ..self }
    }

    /// With true where a value is there.
    pub fn validity(self, valid: &'a [bool]) -> Column<'a> {
        Column { validity: Some(Validity::Bools(valid)), ..self }
    }
}

/// A table held by columns, which may be of different types.
#[derive(Clone, Debug)]
pub struct ColumnsArray<'a> {
    pub(super) columns: Vec<Column<'a>>,
}

impl<'a> ColumnsArray<'a> {
    /// A table of these columns.
    pub fn new(columns: impl IntoIterator<Item = Column<'a>>) -> ColumnsArray<'a> {
        ColumnsArray { columns: columns.into_iter().collect() }
    }
}

/// An array of any shape.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Matrix<'a> {
    /// Every value is there.
    Dense(DenseArray<'a>),
    /// Compressed sparse rows.
    Csr(CsrArray<'a>),
    /// One slice for each column.
    Columns(ColumnsArray<'a>),
}

impl<'a> From<DenseArray<'a>> for Matrix<'a> {
    fn from(array: DenseArray<'a>) -> Matrix<'a> {
        Matrix::Dense(array)
    }
}

impl<'a> From<CsrArray<'a>> for Matrix<'a> {
    fn from(array: CsrArray<'a>) -> Matrix<'a> {
        Matrix::Csr(array)
    }
}

impl<'a> From<ColumnsArray<'a>> for Matrix<'a> {
    fn from(array: ColumnsArray<'a>) -> Matrix<'a> {
        Matrix::Columns(array)
    }
}
