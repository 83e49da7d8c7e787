//! Matrices of other libraries at the door: `ndarray` and `sprs`, each behind the feature of its name.
//! Nothing is copied on the way: an adapter finds the slices and the order in which they stand.

#[cfg(feature = "ndarray")]
mod with_ndarray {
    use crate::door::{Array, DenseArray};
    use crate::error::{Code, Error, Place, Problem};
    use ndarray::ArrayView2;

    /// Rows of an array that is contiguous in memory, by rows or by columns.
    ///
    /// ```
    /// use linsep_data::Features;
    /// use linsep_data::door::{ArrayOptions, DenseArray};
    /// let array = ndarray::array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
    /// let rows = DenseArray::try_from(array.view())?;
    /// let features = Features::from_array(rows, &ArrayOptions::default())?;
    /// assert_eq!(features.row(2), [5.0, 6.0]);
    /// # Ok::<(), linsep_data::Error>(())
    /// ```
    impl<'a, T> TryFrom<ArrayView2<'a, T>> for DenseArray<'a>
    where
        &'a [T]: Into<Array<'a>>,
    {
        type Error = Error;

        fn try_from(view: ArrayView2<'a, T>) -> Result<DenseArray<'a>, Error> {
            let (rows, columns) = view.dim();
            if let Some(values) = view.to_slice() {
                return Ok(DenseArray::row_major(values, rows, columns));
            }
            if let Some(values) = view.reversed_axes().to_slice() {
                return Ok(DenseArray::column_major(values, rows, columns));
            }
            let words = "the rows of the array have gaps between them or stand in reverse";
            Err(Problem::new(Code::SHAPE, words, Place::default())
                .help("give the array that as_standard_layout makes")
                .into())
        }
    }
}

#[cfg(feature = "sprs")]
mod with_sprs {
    use crate::door::{Array, CsrArray, Indices};
    use crate::error::{Code, Error, Place, Problem};
    use sprs::{CsMatViewI, SpIndex};

    /// Rows of a compressed matrix that is stored by rows.
    ///
    /// ```
    /// use linsep_data::Features;
    /// use linsep_data::door::{ArrayOptions, CsrArray};
    /// let matrix = sprs::CsMat::new((2, 3), vec![0, 1, 3], vec![2, 0, 1], vec![7.0, 1.0, 2.0]);
    /// let rows = CsrArray::try_from(matrix.view())?;
    /// let features = Features::from_array(rows, &ArrayOptions::default())?;
    /// assert_eq!((features.row(0), features.row(1)), (vec![0.0, 0.0, 7.0], vec![1.0, 2.0, 0.0]));
    /// # Ok::<(), linsep_data::Error>(())
    /// ```
    impl<'a, T, I: SpIndex, O: SpIndex> TryFrom<CsMatViewI<'a, T, I, O>> for CsrArray<'a>
    where
        &'a [T]: Into<Array<'a>>,
        &'a [I]: Into<Indices<'a>>,
        &'a [O]: Into<Indices<'a>>,
    {
        type Error = Error;

        fn try_from(matrix: CsMatViewI<'a, T, I, O>) -> Result<CsrArray<'a>, Error> {
            let refuse = |words: &str, help: &str| {
                Err(Problem::new(Code::SHAPE, words, Place::default()).help(help).into())
            };
            if !matrix.is_csr() {
                return refuse(
                    "the matrix is stored by columns",
                    "give the matrix that to_csr makes",
                );
            }
            if !matrix.indptr().is_proper() {
                let help = "give the matrix that to_owned makes";
                return refuse("the matrix is a part of another one", help);
            }
            let columns = matrix.cols();
            let (offsets, indices, values) = matrix.into_raw_storage();
            Ok(CsrArray::new(offsets, indices, values, columns))
        }
    }
}

#[cfg(all(test, feature = "ndarray"))]
mod ndarray_tests {
    use crate::Features;
    use crate::door::{ArrayOptions, DenseArray};
    use crate::error::Code;
    use ndarray::{Array2, s};

    #[test]
    fn both_orders_give_the_same_table_and_gaps_are_refused() {
        let array = Array2::from_shape_fn((5, 3), |(i, j)| (10 * i + j) as f32);
        let of = |dense: DenseArray<'_>| Features::from_array(dense, &ArrayOptions::default());
        let by_rows = of(array.view().try_into().unwrap()).unwrap();
        let turned = array.t().as_standard_layout().into_owned();
        let by_columns = of(turned.t().try_into().unwrap()).unwrap();
        for row in 0..5 {
            let wanted: Vec<f64> = (0..3).map(|j| (10 * row + j) as f64).collect();
            assert_eq!((by_rows.row(row), by_columns.row(row)), (wanted.clone(), wanted));
        }
        for gaps in [array.slice(s![..;2, ..;2]), array.slice(s![..;-1, ..])] {
            assert_eq!(DenseArray::try_from(gaps).unwrap_err().code(), Code::SHAPE);
        }
    }
}

#[cfg(all(test, feature = "sprs"))]
mod sprs_tests {
    use crate::Features;
    use crate::door::{ArrayOptions, CsrArray};
    use crate::error::Code;

    #[test]
    fn matrices_by_rows_are_taken_and_others_refused() {
        let matrix = sprs::CsMatI::<u8, i32, u64>::new(
            (3, 4),
            vec![0u64, 2, 2, 3],
            vec![0i32, 3, 1],
            vec![5, 6, 7],
        );
        let rows = CsrArray::try_from(matrix.view()).unwrap();
        let features = Features::from_array(rows, &ArrayOptions::default()).unwrap();
        assert_eq!(features.row(0), [5.0, 0.0, 0.0, 6.0]);
        assert_eq!(features.row(1), [0.0; 4]);
        assert_eq!(features.row(2), [0.0, 7.0, 0.0, 0.0]);
        let by_columns = matrix.to_csc();
        assert_eq!(CsrArray::try_from(by_columns.view()).unwrap_err().code(), Code::SHAPE);
        let part = matrix.slice_outer(1..3);
        assert_eq!(CsrArray::try_from(part).unwrap_err().code(), Code::SHAPE);
    }
}
