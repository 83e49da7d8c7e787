//! Arrays and text are two doors to one table: whatever the type, the order and the sparsity of an
//! array, it is held in the same encoding, the same bytes and the same bits as the CSV file with the
//! shortest text of each value, and has the same digest.

use linsep_data::door::{
    Array, ArrayOptions, Column, ColumnsArray, CsrArray, DenseArray, Indices, Labels, Matrix,
};
use linsep_data::read::{ColumnRef, Format, ReadOptions, ReadingChoice, read};
use linsep_data::rng::{Purpose, Stream};
use linsep_data::{Dataset, Features};
use std::fmt::Write as _;

/// A number type: how values are drawn, and their text in a file.
trait Number: Copy + Default + PartialEq {
    fn of(value: f64) -> Self;
    fn text(self) -> String;
    fn array(values: &[Self]) -> Array<'_>;
}

macro_rules! numbers {
    ($($type:ty: $of:expr, $text:expr;)*) => {$(
        impl Number for $type {
            fn of(value: f64) -> Self {
                let of: fn(f64) -> Self = $of;
                of(value)
            }
            fn text(self) -> String {
                let text: fn(Self) -> String = $text;
                text(self)
            }
            fn array(values: &[Self]) -> Array<'_> {
                values.into()
            }
        }
    )*};
}

numbers! {
    f64: |x| x, shortest;
    f32: |x| x as f32, |x| shortest(f64::from(x));
    i8: |x| x as i8, |x| x.to_string();
    i16: |x| x as i16, |x| x.to_string();
    i32: |x| x as i32, |x| x.to_string();
    i64: |x| x.clamp(-9e18, 9e18) as i64, |x| x.to_string();
    u8: |x| x.abs() as u8, |x| x.to_string();
    u16: |x| x.abs() as u16, |x| x.to_string();
    u32: |x| x.abs() as u32, |x| x.to_string();
    u64: |x| x.abs().min(18e18) as u64, |x| x.to_string();
    bool: |x| x as i64 % 2 != 0, |x| u8::from(x).to_string();
}

/// The shortest text that reads back as the value.
fn shortest(value: f64) -> String {
    if value == 0.0 {
        "0".into()
    } else if (1e-5..1e15).contains(&value.abs()) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Draws a value of column j.
type Draw = fn(&mut Stream, usize) -> f64;

/// Tables of every encoding, and of values at the limits of what encodings hold.
const DRAWS: [(&str, Draw); 16] = [
    ("zeros", |_, _| 0.0),
    ("ones", |s, _| f64::from(u8::from(s.unit() < 0.05))),
    ("few", |s, _| s.below(40) as f64 - 20.0),
    ("few, mostly zeros", |s, _| if s.unit() < 0.04 { s.below(9) as f64 * 0.1 } else { 0.0 }),
    ("integers", |s, _| s.below(60_000) as f64 - 30_000.0),
    ("integers, mostly zeros", |s, _| if s.unit() < 0.1 { s.below(1 << 40) as f64 } else { -0.0 }),
    ("large integers", |s, _| s.below(1 << 53) as f64 - (1u64 << 52) as f64),
    ("the largest int32", |s, _| 2_147_483_640.0 + s.below(8) as f64 + s.below(300) as f64 / 1e3),
    ("decimals", |s, j| s.below(100_000) as f64 / 10f64.powi(j as i32 % 4)),
    ("decimals, mostly zeros", |s, j| match s.unit() < 0.1 {
        true => s.below(100_000) as f64 / 10f64.powi(j as i32 % 4),
        false => 0.0,
    }),
    ("decimals beside others", |s, j| match j % 5 {
        0 => s.normal(),
        1 => s.below(3) as f64 * 1e-12 + s.below(1 << 20) as f64,
        _ => s.below(1_000_000) as f64 / 1e4,
    }),
    ("fifteen digits", |s, j| s.below(1_000_000_000_000_000) as f64 / 10f64.powi(j as i32)),
    ("binary32", |s, _| f64::from(s.normal() as f32)),
    ("normal", |s, _| s.normal()),
    ("every size", |s, _| {
        let x = f64::from_bits((s.below(1 << 32) << 32) | s.below(1 << 32));
        if x.is_finite() { x } else { -0.0 }
    }),
    ("tiny decimals and subnormals", |s, j| match j % 3 {
        0 => s.below(1000) as f64 * 1e-30,
        1 => f64::from_bits(s.below(1 << 40)),
        _ => s.below(1000) as f64 / 1e18,
    }),
];

/// A table of one type, with its text.
struct Table<T> {
    rows: usize,
    columns: usize,
    /// Row after row.
    values: Vec<T>,
}

impl<T: Number> Table<T> {
    fn draw(rows: usize, columns: usize, draw: Draw, seed: u64) -> Table<T> {
        let mut stream = Stream::new(seed, Purpose::Generate(3));
        let mut value = |k| {
            let value = T::of(draw(&mut stream, k % columns));
            // A cast to binary32 may overflow.
            if value.text().contains("inf") { T::default() } else { value }
        };
        let values = (0..rows * columns).map(&mut value).collect();
        Table { rows, columns, values }
    }

    fn texts(&self) -> Vec<String> {
        self.values.iter().map(|value| value.text()).collect()
    }

    fn transposed(&self) -> Vec<T> {
        let at = |k| self.values[k % self.rows * self.columns + k / self.rows];
        (0..self.values.len()).map(at).collect()
    }

    /// Spread out, with other values between.
    fn strided(&self, row_stride: usize, column_stride: usize) -> Vec<T> {
        let last = (self.rows - 1) * row_stride + (self.columns - 1) * column_stride;
        let mut spread = vec![T::of(77.0); last + 1];
        for (k, value) in self.values.iter().enumerate() {
            spread[k / self.columns * row_stride + k % self.columns * column_stride] = *value;
        }
        spread
    }

    /// Offsets, indices and values of the entries; every seventh zero is written down, too.
    fn sparse(&self, in_order: bool, seed: u64) -> (Vec<u64>, Vec<u64>, Vec<T>) {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut stream = Stream::new(seed, Purpose::Generate(4));
        for (i, row) in self.values.chunks(self.columns).enumerate() {
            let kept = |(j, value): &(usize, &T)| **value != T::default() || (i + j) % 7 == 0;
            let mut entries: Vec<(usize, &T)> = row.iter().enumerate().filter(kept).collect();
            if !in_order {
                for k in (1..entries.len()).rev() {
                    entries.swap(k, stream.below(k as u64 + 1) as usize);
                }
            }
            indices.extend(entries.iter().map(|(j, _)| *j as u64));
            values.extend(entries.iter().map(|(_, value)| **value));
            offsets.push(indices.len() as u64);
        }
        (offsets, indices, values)
    }
}

/// The data set that the CSV file with these texts holds.
fn from_csv(texts: &[String], columns: usize, reading: ReadingChoice) -> Dataset {
    let mut csv: String = (0..columns).map(|j| format!("c{j},")).collect();
    csv.push_str("label\n");
    for (i, row) in texts.chunks(columns).enumerate() {
        row.iter().for_each(|text| write!(csv, "{text},").unwrap());
        writeln!(csv, "{}", i % 3).unwrap();
    }
    read_text(&csv, |options| {
        options.label = Some(ColumnRef::Name("label".into()));
        options.header = Some(true);
        options.reading = reading;
    })
}

/// The data set that the svmlight file with these texts holds; the last column must not be empty.
fn from_svmlight(texts: &[String], columns: usize, reading: ReadingChoice) -> Dataset {
    let mut lines = String::new();
    for (i, row) in texts.chunks(columns).enumerate() {
        write!(lines, "{}", i % 3).unwrap();
        for (j, text) in row.iter().enumerate().filter(|(_, text)| *text != "0") {
            write!(lines, " {}:{text}", j + 1).unwrap();
        }
        lines.push('\n');
    }
    read_text(&lines, |options| {
        options.format = Format::Svmlight;
        options.index_base = Some(1);
        options.reading = reading;
    })
}

fn read_text(text: &str, set: impl FnOnce(&mut ReadOptions)) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("table.txt");
    std::fs::write(&file, text).unwrap();
    let mut options = ReadOptions::default();
    set(&mut options);
    read(&[file], &options).unwrap().data
}

fn from_array<'a>(array: impl Into<Matrix<'a>>, options: &ArrayOptions) -> Dataset {
    let features = Features::from_array(array, options).unwrap();
    let labels: Vec<i32> = (0..features.n_rows() as i32).map(|i| i % 3).collect();
    Dataset::new(features, Labels::numbers(&labels).unwrap(), None).unwrap()
}

#[track_caller]
fn assert_same(array: &Dataset, csv: &Dataset, what: &str) {
    assert_eq!((array.n_rows(), array.n_features()), (csv.n_rows(), csv.n_features()), "{what}");
    assert_eq!(array.encoding(), csv.encoding(), "{what}");
    assert_eq!(array.is_dense(), csv.is_dense(), "{what}");
    assert_eq!(array.feature_bytes(), csv.feature_bytes(), "{what}");
    assert_eq!(array.nonzeros(), csv.nonzeros(), "{what}");
    assert_eq!(array.reading(), csv.reading(), "{what}");
    assert_eq!(array.targets(), csv.targets(), "{what}");
    assert_eq!(array.classes(), csv.classes(), "{what}");
    let bits = |data: &Dataset, i| data.row(i).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for i in 0..csv.n_rows() {
        assert_eq!(bits(array, i), bits(csv, i), "row {i} of {what}");
    }
    assert_eq!(array.digest(2), csv.digest(1), "{what}");
}

/// Every order of a table of this type, and every type of offsets and indices.
fn every_door<T: Number>(name: &str) {
    let options = ArrayOptions::default();
    for (seed, (kind, draw)) in DRAWS.into_iter().enumerate() {
        for (rows, columns) in [(1, 1), (3, 2), (90, 11), (9, 300)] {
            let table = Table::<T>::draw(rows, columns, draw, seed as u64);
            let csv = from_csv(&table.texts(), columns, ReadingChoice::Binary64);
            let what = |door: &str| format!("{rows} × {columns} {kind} in {name}, {door}");
            let check = |array: Matrix<'_>, door: &str| {
                assert_same(&from_array(array, &options), &csv, &what(door));
            };
            let values = T::array(&table.values);
            check(DenseArray::row_major(values, rows, columns).into(), "row-major");
            let transposed = table.transposed();
            let array = DenseArray::column_major(T::array(&transposed), rows, columns);
            check(array.into(), "column-major");
            for (down, across) in
                [(columns + 3, 1), (2 * columns + 1, 2), (1, rows + 2), (3, 3 * rows)]
            {
                let spread = table.strided(down, across);
                let array = DenseArray::strided(T::array(&spread), rows, columns, down, across);
                check(array.into(), &format!("strides {down} and {across}"));
            }
            let slices: Vec<&[T]> = transposed.chunks(rows).collect();
            let array = ColumnsArray::new(slices.iter().map(|c| Column::new(T::array(c))));
            check(array.into(), "columns");
            for in_order in [true, false] {
                let (offsets, indices, values) = table.sparse(in_order, seed as u64);
                for_index_types(&offsets, |offsets, o| {
                    for_index_types(&indices, |indices, i| {
                        let array = CsrArray::new(offsets, indices, T::array(&values), columns);
                        check(array.into(), &format!("CSR of {o} and {i}, in order: {in_order}"));
                    });
                });
            }
        }
    }
}

fn for_index_types(values: &[u64], mut each: impl FnMut(Indices<'_>, &str)) {
    let (a, b): (Vec<i32>, Vec<i64>) = values.iter().map(|v| (*v as i32, *v as i64)).unzip();
    let c: Vec<u32> = values.iter().map(|v| *v as u32).collect();
    each((&a).into(), "i32");
    each((&b).into(), "i64");
    each((&c).into(), "u32");
    each(values.into(), "u64");
}

macro_rules! every_type {
    ($($test:ident: $type:ty,)*) => {$(
        #[test]
        fn $test() {
            every_door::<$type>(stringify!($type));
        }
    )*};
}

every_type! {
    every_door_for_f64_is_that_of_text: f64,
    every_door_for_f32_is_that_of_text: f32,
    every_door_for_i8_is_that_of_text: i8,
    every_door_for_i16_is_that_of_text: i16,
    every_door_for_i32_is_that_of_text: i32,
    every_door_for_i64_is_that_of_text: i64,
    every_door_for_u8_is_that_of_text: u8,
    every_door_for_u16_is_that_of_text: u16,
    every_door_for_u32_is_that_of_text: u32,
    every_door_for_u64_is_that_of_text: u64,
    every_door_for_bool_is_that_of_text: bool,
}

/// Tables of several chunks: work is shared, and narrow, wide and very wide rows are cut differently.
#[test]
fn threads_change_nothing_and_long_tables_are_those_of_text() {
    let shapes = [(45_000, 3), (1_400, 100), (2, 70_000)];
    for (seed, (kind, draw)) in DRAWS.into_iter().enumerate() {
        let (rows, columns) = shapes[seed % 3];
        let mut table = Table::<f64>::draw(rows, columns, draw, seed as u64);
        table.values[columns - 1] = 3.0;
        // The reader of tables searches for a header in the first bytes only.
        let read = if columns > 1000 { from_svmlight } else { from_csv };
        let csv = read(&table.texts(), columns, ReadingChoice::Binary64);
        let transposed = table.transposed();
        let (offsets, indices, values) = table.sparse(false, seed as u64);
        for threads in [1, 3] {
            let options = ArrayOptions::default().threads(threads);
            let arrays: [Matrix<'_>; 3] = [
                DenseArray::row_major(&table.values, rows, columns).into(),
                DenseArray::column_major(&transposed, rows, columns).into(),
                CsrArray::new(&offsets, &indices, &values, columns).into(),
            ];
            for array in arrays {
                let what = format!("{rows} × {columns} {kind} on {threads} threads");
                assert_same(&from_array(array, &options), &csv, &what);
            }
        }
    }
}

/// The decimal reading of an array is that of the text, column by column.
#[test]
fn the_decimal_reading_is_that_of_text() {
    let options = ArrayOptions::default().reading(ReadingChoice::Decimal).threads(2);
    fn check<T: Number>(options: &ArrayOptions) {
        for (seed, (kind, draw)) in DRAWS.into_iter().enumerate() {
            let (rows, columns) = (40, 9);
            let table = Table::<T>::draw(rows, columns, draw, seed as u64);
            let csv = from_csv(&table.texts(), columns, ReadingChoice::Decimal);
            let array = DenseArray::row_major(T::array(&table.values), rows, columns);
            assert_same(&from_array(array, options), &csv, kind);
            let (offsets, indices, values) = table.sparse(true, 0);
            let array = CsrArray::new(&offsets, &indices, T::array(&values), columns);
            assert_same(&from_array(array, options), &csv, kind);
        }
    }
    check::<f64>(&options);
    check::<f32>(&options);
    check::<i64>(&options);
    // Columns so far out that their places are not counted one by one.
    let far = CsrArray::new(
        &[0, 2, 4],
        &[70_000, 70_001, 70_001, 3],
        &[0.5, 0.1 + 0.2, 2.0, 1e-30],
        70_002,
    );
    let features = Features::from_array(far, &options).unwrap();
    assert_eq!(features.reading().binary64, [70_001]);
}

/// Columns of different types, some with missing values and a fill.
#[test]
fn columns_of_several_types_with_missing_values_are_those_of_text() {
    let mut stream = Stream::new(1, Purpose::Generate(5));
    for rows in [1usize, 7, 8, 9, 500] {
        let a: Vec<f64> = (0..rows).map(|_| stream.below(5000) as f64 / 100.0).collect();
        let b: Vec<i16> = (0..rows).map(|_| stream.below(700) as i16 - 350).collect();
        let c: Vec<bool> = (0..rows).map(|_| stream.unit() < 0.5).collect();
        let d: Vec<f32> = (0..rows).map(|_| stream.normal() as f32).collect();
        let valid: Vec<bool> = (0..rows).map(|_| stream.unit() < 0.8).collect();
        let offset = 5;
        let mut bits = vec![0u8; (rows + offset).div_ceil(8)];
        for (row, _) in valid.iter().enumerate().filter(|(_, valid)| **valid) {
            bits[(row + offset) / 8] |= 1 << ((row + offset) % 8);
        }
        // What stands in place of a missing value does not matter.
        let holed: Vec<f64> =
            a.iter().zip(&valid).map(|(a, ok)| if *ok { *a } else { f64::NAN }).collect();
        let array = ColumnsArray::new([
            Column::new(&holed).validity(&valid),
            Column::new(&b).validity_bits(&bits, offset),
            Column::new(&c),
            Column::new(&d),
            Column::bits(&bits, offset, rows),
        ]);
        let data = from_array(array, &ArrayOptions::default().fill(-1.25));
        let mut texts = Vec::new();
        for i in 0..rows {
            let filled = |text: String| if valid[i] { text } else { "-1.25".into() };
            texts.extend([filled(a[i].text()), filled(b[i].text()), c[i].text(), d[i].text()]);
            texts.push(valid[i].text());
        }
        let csv = from_csv(&texts, 5, ReadingChoice::Binary64);
        assert_same(&data, &csv, &format!("{rows} rows"));
        assert!(data.input().columns.iter().all(|column| column.missing == Some(-1.25)));
    }
}
