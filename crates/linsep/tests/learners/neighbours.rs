//! k nearest neighbours against a plain search, ties included, and the majority class.

use linsep::rng::{Purpose, Stream};
use linsep::select::neighbours::{Neighbours, majority};
use linsep::{Dataset, DatasetBuilder};

fn grid(rows: usize, width: usize, levels: u64, seed: u64) -> Dataset {
    let mut stream = Stream::new(seed, Purpose::Split);
    let mut builder = DatasetBuilder::new(width);
    for _ in 0..rows {
        let row: Vec<f64> = (0..width).map(|_| stream.below(levels) as f64).collect();
        builder.dense_row(&row, ["a", "b", "c"][stream.below(3) as usize]).unwrap();
    }
    builder.finish().unwrap()
}

/// Sorts all rows by distance and number, then counts.
fn plainly(data: &Dataset, train: &[u32], row: u32, k: usize) -> u32 {
    let width = data.n_features();
    let n = train.len() as f64;
    let column = |j: usize| train.iter().map(move |r| data.row(*r as usize)[j]);
    let spread: Vec<f64> = (0..width)
        .map(|j| {
            let mean = column(j).sum::<f64>() / n;
            (column(j).map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
        })
        .collect();
    let point = data.row(row as usize);
    let distance = |other: u32| -> f64 {
        let other = data.row(other as usize);
        (0..width)
            .filter(|j| spread[*j] > 0.0)
            .map(|j| ((other[j] - point[j]) / spread[j]).powi(2))
            .sum()
    };
    let mut order: Vec<(u64, usize)> = train
        .iter()
        .enumerate()
        // Distances on a grid differ by far more than this or not at all.
        .map(|(at, other)| ((distance(*other) * 1e9).round() as u64, at))
        .collect();
    order.sort_unstable();
    let classes: Vec<u32> =
        order.iter().take(k).map(|(_, at)| data.class_of(train[*at] as usize)).collect();
    let votes = |class: u32| classes.iter().filter(|c| **c == class).count();
    let most = (0..3).map(votes).max().unwrap();
    *classes.iter().find(|class| votes(**class) == most).unwrap()
}

#[test]
fn neighbours_are_those_of_a_plain_search_and_threads_change_nothing() {
    for seed in 0..6 {
        let data = grid(60, 2, 4, seed);
        let train: Vec<u32> = (0..40).collect();
        let test: Vec<u32> = (40..60).collect();
        for k in [1, 2, 3, 5, 40, 100] {
            let found = Neighbours::new(k).predict(&data, &train, &test, 1).unwrap();
            let expected: Vec<u32> =
                test.iter().map(|row| plainly(&data, &train, *row, k)).collect();
            assert_eq!(found, expected, "k {k}, seed {seed}");
            assert_eq!(found, Neighbours::new(k).predict(&data, &train, &test, 7).unwrap());
        }
    }
}

#[test]
fn ties_go_to_the_earlier_row_and_the_closer_class() {
    let rows = [[0.0], [2.0], [1.0], [1.0], [5.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "c", "a", "b"]).unwrap();
    let predict =
        |k, train: &[u32], test| Neighbours::new(k).predict(&data, train, &[test], 1).unwrap()[0];
    // Rows 0 and 1 are equally far from row 2: the earlier one counts.
    assert_eq!(predict(1, &[0, 1], 2), 0);
    assert_eq!(predict(1, &[1, 0], 2), 1);
    // One vote each: the closest decides.
    assert_eq!(predict(3, &[4, 0, 2], 1), 2);
    assert_eq!(predict(2, &[4, 2], 1), 2);
}

#[test]
fn columns_are_scaled_constants_do_not_count_and_weights_vote() {
    let rows = [[0.0, 0.0, 7.0], [1.0, 1000.0, 7.0], [0.9, 0.0, 7.0], [0.0, 900.0, 7.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "a", "b"]).unwrap();
    let found = Neighbours::new(1).predict(&data, &[0, 1], &[2, 3], 1).unwrap();
    assert_eq!(found.len(), 2);
    let mut builder = DatasetBuilder::new(1);
    for (x, label, weight) in
        [(0.0, "a", 1.0), (1.0, "b", 3.0), (2.0, "a", 1.0), (0.5, "b", 0.0), (0.6, "a", 1.0)]
    {
        builder.dense_row(&[x], label).unwrap();
        builder.weight(weight).unwrap();
    }
    let data = builder.finish().unwrap();
    // Two votes of 1 against one of 3; the row of weight 0 is not there.
    assert_eq!(Neighbours::new(3).predict(&data, &[0, 1, 2, 3], &[4], 1).unwrap(), [1]);
    assert_eq!(majority(&data, &[0, 1, 2]), 1);
    assert_eq!(majority(&data, &[0, 2, 3]), 0);
}

#[test]
fn too_much_work_is_refused_before_it_begins() {
    let data = grid(10, 1, 3, 0);
    let rows: Vec<u32> = (0..10).cycle().take(200_000).collect();
    let error = Neighbours::new(1).predict(&data, &rows, &rows, 1).unwrap_err().to_string();
    assert!(error.contains("too many pairs"), "{error}");
    assert!(Neighbours::new(0).predict(&data, &[0], &[1], 1).is_err());
    assert!(Neighbours::new(1).predict(&data, &[], &[1], 1).is_err());
}
