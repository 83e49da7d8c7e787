//! Arrays that cannot be taken are refused with the place, the value and a way out: one test for each
//! fault, none with a panic, none with memory of the size that the array claims.

use linsep_data::door::{
    Array, ArrayOptions, Column, ColumnsArray, CsrArray, DenseArray, Labels, Matrix,
};
use linsep_data::{Code, Dataset, Error, Features, Problem};

fn refused_with<'a>(array: impl Into<Matrix<'a>>, options: &ArrayOptions) -> Problem {
    match Features::from_array(array, options) {
        Err(Error::Data(mut data)) => data.problems.remove(0),
        other => panic!("{other:?}"),
    }
}

fn refused<'a>(array: impl Into<Matrix<'a>>) -> Problem {
    refused_with(array, &ArrayOptions::default())
}

/// Code, 0-based row, 1-based column and value of a problem; help is never missing.
fn reported(problem: &Problem) -> (Code, Option<u64>, Option<u64>, Option<&str>) {
    assert!(problem.help.is_some(), "{problem:?}");
    assert!(problem.place.file.is_none() && problem.place.line.is_none(), "{problem:?}");
    let column = problem.place.field.as_ref().map(|(number, _)| *number);
    (problem.code, problem.place.row, column, problem.value.as_deref())
}

#[test]
fn nan_and_infinities_are_refused_at_their_place_in_every_order() {
    for (bad, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        let mut values = vec![0.5; 12];
        values[7] = bad;
        let expected = (Code::NOT_FINITE, Some(1), Some(4), Some(text));
        assert_eq!(reported(&refused(DenseArray::row_major(&values, 3, 4))), expected);
        let single: Vec<f32> = values.iter().map(|x| *x as f32).collect();
        assert_eq!(reported(&refused(DenseArray::row_major(&single, 3, 4))), expected);
        let transposed: Vec<f64> = (0..12).map(|k| values[k % 3 * 4 + k / 3]).collect();
        assert_eq!(reported(&refused(DenseArray::column_major(&transposed, 3, 4))), expected);
        let columns = ColumnsArray::new(transposed.chunks(3).map(Column::new));
        assert_eq!(reported(&refused(columns)), expected);
        let entries = [1.0, bad, 2.0];
        let csr = CsrArray::new(&[0, 1, 3, 3], &[2, 3, 0], &entries, 4);
        assert_eq!(reported(&refused(csr)), expected);
    }
}

#[test]
fn a_column_is_named_where_it_has_a_name() {
    let options = ArrayOptions::default().names(["a", "b"]);
    let problem = refused_with(DenseArray::row_major(&[1.0, f64::NAN], 1, 2), &options);
    assert_eq!(problem.place.to_string(), "input  (row 0, column 2 \"b\")");
}

#[test]
fn the_first_fault_is_reported_whatever_the_threads() {
    let (rows, columns) = (200_000, 3);
    let mut values = vec![1.5; rows * columns];
    for at in [599_998, 400_001, 150_002, 150_001, 450_000] {
        values[at] = f64::NAN;
    }
    for threads in [1, 2, 3, 8] {
        let options = ArrayOptions::default().threads(threads);
        let problem = refused_with(DenseArray::row_major(&values, rows, columns), &options);
        let place = (150_001 / 3, 150_001 % 3 + 1);
        assert_eq!(
            reported(&problem),
            (Code::NOT_FINITE, Some(place.0), Some(place.1), Some("NaN"))
        );
    }
}

#[test]
fn no_rows_and_no_columns_are_refused() {
    let none: [f64; 0] = [];
    for array in [
        Matrix::from(DenseArray::row_major(&none, 0, 3)),
        CsrArray::new(&[0i32], &[0i32; 0], &none, 3).into(),
        CsrArray::new(&[0i32; 0], &[0i32; 0], &none, 3).into(),
        ColumnsArray::new([Column::new(&none)]).into(),
        ColumnsArray::new([]).into(),
    ] {
        assert_eq!(refused(array).code, Code::HEADER_ONLY);
    }
    for array in [
        Matrix::from(DenseArray::row_major(&none, 3, 0)),
        CsrArray::new(&[0i32, 0], &[0i32; 0], &none, 0).into(),
    ] {
        assert_eq!(reported(&refused(array)), (Code::NO_FEATURES, None, None, None));
    }
}

#[test]
fn rows_and_columns_are_counted_with_32_bits() {
    let many = 1 << 32;
    for array in [
        Matrix::from(DenseArray::row_major(&[1.0], many, 1)),
        DenseArray::row_major(&[1.0], 1, many).into(),
        DenseArray::strided(&[1.0], usize::MAX, usize::MAX, usize::MAX, usize::MAX).into(),
        CsrArray::new(&[0, 1], &[0], &[1.0], many).into(),
    ] {
        let problem = refused(array);
        assert_eq!(reported(&problem), (Code::SHAPE, None, None, None));
        assert!(problem.message.starts_with("the array has "), "{}", problem.message);
    }
    // The largest number of columns that is taken costs nothing by itself.
    let wide = CsrArray::new(&[0, 1], &[4_294_967_294u32], &[1.5], many - 1);
    let features = Features::from_array(wide, &ArrayOptions::default().threads(2)).unwrap();
    assert_eq!((features.n_features(), features.nonzeros()), (many - 1, 1));
}

#[test]
fn strides_that_leave_the_slice_are_refused() {
    let values = [1.0; 12];
    for (rows, columns, down, across) in [
        (3, 5, 5, 1),
        (4, 4, 4, 1),
        (3, 4, 5, 1),
        (2, 2, 11, 1),
        (2, 2, usize::MAX, 1),
        (3, 3, usize::MAX / 2 + 1, usize::MAX / 2 + 1),
        (2, 2, usize::MAX - 1, 3),
    ] {
        let problem = refused(DenseArray::strided(&values, rows, columns, down, across));
        assert_eq!(reported(&problem), (Code::SHAPE, None, None, None));
        assert!(problem.message.contains("reach beyond the 12 values"), "{}", problem.message);
    }
    assert!(
        Features::from_array(DenseArray::strided(&values, 2, 2, 10, 1), &ArrayOptions::default())
            .is_ok()
    );
    assert!(Features::dense(&values, 3, 4).is_ok());
}

/// Else a few bytes could claim any number of rows.
#[test]
fn strides_that_use_values_twice_are_refused() {
    for (rows, columns, down, across) in
        [(1_000_000_000, 3, 0, 1), (3, 4_000_000_000, 1, 0), (4, 4, 1, 1)]
    {
        let problem = refused(DenseArray::strided(&[1.0; 12], rows, columns, down, across));
        assert_eq!(problem.code, Code::SHAPE);
        assert!(problem.message.contains("more than once"), "{}", problem.message);
    }
}

#[test]
fn columns_of_unequal_length_are_refused() {
    let array = ColumnsArray::new([Column::new(&[1.0, 2.0]), Column::new(&[1u8, 2, 3])]);
    assert_eq!(reported(&refused(array)), (Code::SHAPE, None, Some(2), None));
}

#[test]
fn marks_of_validity_must_be_as_many_as_values() {
    for column in [
        Column::new(&[1.0, 2.0, 3.0]).validity(&[true, true]),
        Column::new(&[1.0, 2.0, 3.0]).validity(&[true; 4]),
        Column::new(&[1.0, 2.0, 3.0]).validity_bits(&[0xff], 6),
        Column::new(&[1.0, 2.0, 3.0]).validity_bits(&[0xff], usize::MAX),
        Column::new(&[1.0, 2.0, 3.0]).validity_bits(&[], 0),
    ] {
        let array = ColumnsArray::new([Column::new(&[true, true, false]), column]);
        assert_eq!(reported(&refused(array)), (Code::SHAPE, None, Some(2), None));
    }
}

#[test]
fn packed_booleans_must_be_as_many_as_values() {
    for (offset, len) in [(0, 9), (7, 2), (usize::MAX, 1)] {
        let array = ColumnsArray::new([Column::bits(&[0xff], offset, len)]);
        assert_eq!(reported(&refused(array)), (Code::SHAPE, None, Some(1), None));
    }
    assert!(
        Features::from_array(
            ColumnsArray::new([Column::bits(&[1], 0, 8)]),
            &ArrayOptions::default()
        )
        .is_ok()
    );
}

#[test]
fn a_missing_value_without_a_fill_is_refused() {
    let columns = || {
        ColumnsArray::new([
            Column::new(&[1, 2, 3]),
            Column::new(&[4, 5, 6]).validity_bits(&[0b0010_1000], 3),
        ])
    };
    assert_eq!(reported(&refused(columns())), (Code::MISSING, Some(1), Some(2), None));
    let filled = Features::from_array(columns(), &ArrayOptions::default().fill(9.5)).unwrap();
    assert_eq!([filled.row(0), filled.row(1)], [[1.0, 4.0], [2.0, 9.5]]);
}

#[test]
fn integers_without_a_binary64_are_refused_or_rounded() {
    let odd = (1u64 << 53) + 1;
    let expected = |text| (Code::INEXACT_INTEGER, Some(1), Some(1), Some(text));
    let problem = refused(DenseArray::row_major(&[1u64, odd], 2, 1));
    assert_eq!(reported(&problem), expected("9007199254740993"));
    let problem = refused(DenseArray::column_major(&[1i64, -(odd as i64)], 2, 1));
    assert_eq!(reported(&problem), expected("-9007199254740993"));
    for extreme in [i64::MAX, i64::MIN + 1] {
        let text = extreme.to_string();
        let problem = refused(CsrArray::new(&[0, 1, 2], &[0, 0], &[5, extreme], 1));
        assert_eq!(reported(&problem), (Code::INEXACT_INTEGER, Some(1), Some(1), Some(&*text)));
    }
    assert_eq!(refused(DenseArray::row_major(&[u64::MAX], 1, 1)).code, Code::INEXACT_INTEGER);
    let exact = [i64::MIN, 1 << 53, (1 << 53) + 2, 3 << 60, -(1 << 62)];
    let features = Features::dense(&exact, 5, 1).unwrap();
    exact.iter().enumerate().for_each(|(i, x)| assert_eq!(features.row(i), [*x as f64]));
    let lossy = ArrayOptions::default().allow_lossy(true);
    let rounded = Features::from_array(DenseArray::row_major(&[odd], 1, 1), &lossy).unwrap();
    assert_eq!(rounded.row(0), [9_007_199_254_740_992.0]);
}

#[test]
fn csr_offsets_must_rise_within_the_entries() {
    let (indices, values) = ([0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]);
    for (offsets, row, value) in [
        (vec![0i64, 2, 1, 4], 1, "1"),
        (vec![0, 2, 5], 1, "5"),
        (vec![0, i64::MAX, 4], 0, "9223372036854775807"),
        (vec![-1, 2, 4], 0, "-1"),
        (vec![9, 9], 0, "9"),
        (vec![3, 2], 0, "2"),
    ] {
        let problem = refused(CsrArray::new(&offsets, &indices, &values, 2));
        assert_eq!(reported(&problem), (Code::SHAPE, Some(row), None, Some(value)), "{offsets:?}");
    }
    let large = CsrArray::new(&[0, u64::MAX], &indices, &values, 2);
    assert_eq!(reported(&refused(large)).3, Some("18446744073709551615"));
    // A part of longer arrays is taken.
    let part = CsrArray::new(&[1, 2, 3], &indices, &values, 2);
    let part = Features::from_array(part, &ArrayOptions::default()).unwrap();
    assert_eq!([part.row(0), part.row(1)], [[0.0, 2.0], [3.0, 0.0]]);
}

#[test]
fn csr_indices_must_be_columns() {
    let offsets = [0, 1, 3];
    let fault = |row, text| (Code::BAD_INDEX, Some(row), None, Some(text));
    assert_eq!(
        reported(&refused(CsrArray::new(&offsets, &[0, 1, 2], &[1.0; 3], 2))),
        fault(1, "2")
    );
    assert_eq!(
        reported(&refused(CsrArray::new(&offsets, &[-1, 1, 0], &[1.0; 3], 2))),
        fault(0, "-1")
    );
    let far = [0, 1, u64::MAX];
    let expected = fault(1, "18446744073709551615");
    assert_eq!(reported(&refused(CsrArray::new(&offsets, &far, &[1.0; 3], 2))), expected);
    let far = [0, u32::MAX, 1];
    let expected = fault(1, "4294967295");
    assert_eq!(
        reported(&refused(CsrArray::new(&offsets, &far, &[1.0; 3], 4_294_967_295))),
        expected
    );
}

#[test]
fn csr_columns_may_stand_in_any_order_but_not_twice() {
    let sorted = CsrArray::new(&[0, 3], &[4, 0, 2], &[1.5, 2.5, 3.5], 5);
    let features = Features::from_array(sorted, &ArrayOptions::default()).unwrap();
    assert_eq!(features.row(0), [2.5, 0.0, 3.5, 0.0, 1.5]);
    // Twice is refused even where both are 0.
    for values in [[1.0, 2.0, 3.0, 4.0], [1.0, 0.0, 3.0, 0.0]] {
        let array = CsrArray::new(&[0, 1, 4], &[0, 3, 1, 3], &values, 5);
        let expected = (Code::INDEX_ORDER, Some(1), Some(4), Some("3"));
        assert_eq!(reported(&refused(array)), expected);
    }
}

#[test]
fn csr_has_an_index_for_each_value() {
    let array = CsrArray::new(&[0, 2], &[0, 1], &[1.0, 2.0, 3.0], 2);
    assert_eq!(reported(&refused(array)), (Code::SHAPE, None, None, None));
}

#[test]
fn names_and_fills_that_do_not_fit_are_refused() {
    let array = || DenseArray::row_major(&[1.0, 2.0], 1, 2);
    let options = ArrayOptions::default().names(["a"]);
    let error = Features::from_array(array(), &options).unwrap_err();
    assert_eq!(error.to_string(), "names: there are 1 names for 2 columns");
    let options = ArrayOptions::default().names(["a", "a"]);
    assert_eq!(refused_with(array(), &options).code, Code::DUPLICATE_NAME);
    let error = Features::from_array(array(), &ArrayOptions::default().fill(f64::NAN)).unwrap_err();
    assert_eq!(error.code(), Code::SETTING);
}

#[test]
fn a_limit_on_memory_is_kept() {
    let values: Vec<f64> = (0..1000).map(|x| f64::from(x).sqrt()).collect();
    let array = || DenseArray::row_major(&values, 100, 10);
    let error = Features::from_array(array(), &ArrayOptions::default().max_memory(7999));
    assert_eq!(error.unwrap_err().code(), Code::MEMORY);
    assert!(Features::from_array(array(), &ArrayOptions::default().max_memory(8000)).is_ok());
}

fn two_rows() -> Features {
    Features::dense(&[1.0, 2.0], 2, 1).unwrap()
}

fn refused_set(labels: &[&str], weights: Option<Array<'_>>) -> Problem {
    match Dataset::new(two_rows(), Labels::text(labels).unwrap(), weights) {
        Err(Error::Data(mut data)) => data.problems.remove(0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn labels_and_weights_must_be_as_many_as_rows() {
    let expected = (Code::SHAPE, None, None, None);
    assert_eq!(reported(&refused_set(&["a"], None)), expected);
    assert_eq!(reported(&refused_set(&["a", "b", "a"], None)), expected);
    for weights in [&[1.0][..], &[1.0; 3]] {
        assert_eq!(reported(&refused_set(&["a", "b"], Some(weights.into()))), expected);
    }
}

#[test]
fn weights_must_be_finite_and_not_negative() {
    for (bad, text) in [(-0.5, "-0.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let weights = [1.0, bad];
        let problem = refused_set(&["a", "b"], Some((&weights).into()));
        assert_eq!(reported(&problem), (Code::BAD_WEIGHT, Some(1), None, Some(text)));
    }
    let problem = refused_set(&["a", "b"], Some((&[0u8, 0]).into()));
    assert_eq!(reported(&problem), (Code::BAD_WEIGHT, None, None, None));
}

#[test]
fn labels_that_cannot_be_used_are_refused() {
    let problem = |labels: Result<Labels, Error>| match labels {
        Err(Error::Data(mut data)) => data.problems.remove(0),
        other => panic!("{other:?}"),
    };
    for missing in ["", "  ", "NA", "?"] {
        let expected = (Code::MISSING, Some(1), None, Some(missing.trim()));
        assert_eq!(reported(&problem(Labels::text(&["a", missing]))), expected);
    }
    let expected = (Code::LABEL_VALUE, Some(2), None, Some("NaN"));
    assert_eq!(reported(&problem(Labels::numbers(&[1.0, 2.0, f64::NAN]))), expected);
    let expected = (Code::LABEL_VALUE, Some(1), None, Some("inf"));
    assert_eq!(reported(&problem(Labels::numbers(&[1.0, f32::INFINITY]))), expected);
    for (bad, text) in [(2, "2"), (-1, "-1")] {
        let expected = (Code::LABEL_VALUE, Some(1), None, Some(text));
        assert_eq!(reported(&problem(Labels::ids(&[0, bad], &["a", "b"]))), expected);
    }
    assert_eq!(problem(Labels::ids(&[0, 1], &["1", "1.0"])).code, Code::DUPLICATE_NAME);
    assert_eq!(problem(Labels::ids(&[0, 1], &["a", ""])).code, Code::MISSING);
    let many: Vec<u32> = (0..50_001).collect();
    assert_eq!(problem(Labels::numbers(&many)).code, Code::MANY_CLASSES);
}
