//! Data of unusual shape: constant columns, repeated and empty rows, dependent columns, far more
//! columns than rows, one row for each class, rows of weight 0, rare categories, every storage.

use crate::files::read_with;
use crate::proofs::{class, judge, never, proofs_hold, proved};
use linsep::data::read::Categorical;
use linsep::proof::{Claim, ExactNumber, ExactPlane};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::{Code, Dataset, DatasetBuilder};

fn gates() -> [(&'static str, [&'static str; 4], Verdict); 2] {
    [
        ("and", ["0", "0", "0", "1"], Verdict::Separable),
        ("xor", ["0", "1", "1", "0"], Verdict::Overlapping),
    ]
}

const SQUARE: [[f64; 2]; 4] = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];

#[test]
fn constant_columns_decide_nothing() {
    for constant in [0.0, 1.0, -7.25, 1e12, 1e-12] {
        for (name, labels, verdict) in gates() {
            let rows: Vec<[f64; 4]> =
                SQUARE.iter().map(|[a, b]| [constant, *a, constant, *b]).collect();
            assert_eq!(class(&judge(&rows, &labels), "1"), verdict, "{name} {constant}");
        }
    }
    // Nothing but constants: all rows are one point.
    let rows = [[2.0, 5.0]; 4];
    let all = judge(&rows, &["a", "b", "a", "b"]);
    assert_eq!(class(&all, "a"), Verdict::Overlapping);
}

#[test]
fn without_a_bias_a_constant_column_takes_its_place() {
    for (name, labels, verdict) in gates() {
        let rows: Vec<[f64; 3]> = SQUARE.iter().map(|[a, b]| [*a, *b, 3.0]).collect();
        let mut judge = judge(&rows, &labels);
        judge.bias = false;
        assert_eq!(class(&judge, "1"), verdict, "{name}");
    }
    // Without either, (1, 1) is the sum of the two others.
    let mut bare = judge(&SQUARE[1..], &["0", "0", "1"]);
    bare.bias = false;
    assert_eq!(class(&bare, "1"), Verdict::Overlapping);
}

#[test]
fn an_empty_row_without_a_bias_is_its_own_witness() {
    let mut empty = judge(&[[1.0, 2.0], [-1.0, 0.5], [0.0, 0.0]], &["a", "b", "b"]);
    assert_eq!(class(&empty, "a"), Verdict::Separable);
    empty.bias = false;
    let decision = empty.class("a", &never).unwrap();
    proofs_hold(&empty, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Touching);
    assert_eq!(decision.witness_rows(), 1);
}

#[test]
fn an_empty_row_with_a_bias_is_a_row_like_others() {
    let empty = [vec![0.0; 3], vec![1.0, 0.0, 2.0], vec![0.0; 3]];
    assert_eq!(class(&judge(&empty, &["a", "b", "a"]), "a"), Verdict::Separable);
    assert_eq!(class(&judge(&empty, &["a", "b", "b"]), "a"), Verdict::Touching);
    let text = "1 1:1 3:2\n-1\n1 2:5\n-1 1:-1\n";
    let judge = Judge::new(read_with(text, |_| ()).unwrap().data);
    assert_eq!(class(&judge, "1"), Verdict::Separable);
}

#[test]
fn repeated_rows_on_one_side_decide_nothing_and_on_both_refute() {
    for (name, labels, verdict) in gates() {
        let rows: Vec<[f64; 2]> = (0..400).map(|i| SQUARE[i % 4]).collect();
        let labels: Vec<&str> = (0..400).map(|i| labels[i % 4]).collect();
        assert_eq!(class(&judge(&rows, &labels), "1"), verdict, "{name}");
    }
    let rows = [[0.1, 0.7], [0.1, 0.7], [3.0, 1.0], [-2.0, -2.0]];
    let mut judge = judge(&rows, &["a", "b", "a", "b"]);
    assert_eq!(class(&judge, "a"), Verdict::Touching);
    judge.kind = false;
    let decision = judge.class("a", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!((decision.verdict, decision.witness_rows()), (Verdict::Inseparable, 2));
}

#[test]
fn columns_that_depend_on_others_change_no_verdict() {
    for (name, labels, verdict) in gates() {
        let wide = |[a, b]: &[f64; 2]| [*a, a + b, *b, a - 2.0 * b, 0.0, 3.0 * a + 1.0];
        let rows: Vec<[f64; 6]> = SQUARE.iter().map(wide).collect();
        let judge = judge(&rows, &labels);
        let decision = judge.class("1", &never).unwrap();
        assert_eq!(decision.verdict, verdict, "{name}");
        proofs_hold(&judge, std::slice::from_ref(&decision));
        if let Claim::Overlapping { null, .. } = &decision.claim {
            assert_eq!(null.len(), 4, "seven dimensions, rank three");
        }
    }
}

#[test]
fn far_more_columns_than_rows_are_separable_whatever_the_labels() {
    let mut stream = Stream::new(5, Purpose::Generate(9));
    for (rows, width) in [(12, 150), (8, 550), (10, 900), (10, 3_000)] {
        let values: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..width).map(|_| stream.normal()).collect()).collect();
        let labels: Vec<&str> = (0..rows).map(|i| ["a", "b"][i % 2]).collect();
        assert_eq!(class(&judge(&values, &labels), "a"), Verdict::Separable, "{width} columns");
    }
}

#[test]
fn far_more_columns_than_rows_are_decided_without_a_bias_too() {
    let mut stream = Stream::new(6, Purpose::Generate(9));
    for (rows, width) in [(12, 150), (8, 550), (10, 900), (10, 3_000)] {
        let values: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..width).map(|_| stream.normal()).collect()).collect();
        let labels: Vec<&str> = (0..rows).map(|i| ["a", "b"][i % 2]).collect();
        let mut judge = judge(&values, &labels);
        judge.bias = false;
        let decision = judge.class("a", &never).unwrap();
        assert_eq!(decision.verdict, Verdict::Separable, "{width} columns");
        proofs_hold(&judge, std::slice::from_ref(&decision));
    }
}

#[test]
fn far_more_columns_than_rows_are_refuted_where_rows_balance() {
    // The last row is the mean of three others of the other class.
    let mut stream = Stream::new(7, Purpose::Generate(9));
    for width in [150, 550, 900, 3_000] {
        let whole = |stream: &mut Stream| stream.below(2_001) as f64 - 1_000.0;
        let mut rows: Vec<Vec<f64>> =
            (0..6).map(|_| (0..width).map(|_| 3.0 * whole(&mut stream)).collect()).collect();
        let mean = (0..width).map(|j| (rows[0][j] + rows[1][j] + rows[2][j]) / 3.0).collect();
        rows.push(mean);
        let labels = ["a", "a", "a", "b", "a", "b", "b"];
        let mut judge = judge(&rows, &labels);
        judge.kind = false;
        let decision = judge.class("a", &never).unwrap();
        assert_eq!(decision.verdict, Verdict::Inseparable, "{width} columns");
        assert_eq!(decision.witness_rows(), 4);
        proofs_hold(&judge, std::slice::from_ref(&decision));
    }
}

#[test]
fn the_kind_is_asked_for_up_to_500_columns() {
    let of = |width: usize| judge(&[vec![1.0; width], vec![1.0; width]], &["a", "b"]);
    assert_eq!([1, 499, 500, 501].map(|width| of(width).kind), [true, true, true, false]);
    assert_eq!(class(&of(20), "a"), Verdict::Overlapping);
    assert_eq!(class(&of(501), "a"), Verdict::Inseparable);
}

#[test]
fn one_row_for_each_class_is_separable_unless_the_rows_are_equal() {
    let two = |a: [f64; 3], b: [f64; 3]| class(&judge(&[a, b], &["a", "b"]), "a");
    assert_eq!(two([1.0, 2.0, 3.0], [1.0, 2.0, 3.5]), Verdict::Separable);
    assert_eq!(two([0.0; 3], [0.0, 0.0, 1e-300]), Verdict::Separable);
    assert_eq!(two([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), Verdict::Overlapping);
    assert_eq!(two([0.0; 3], [0.0; 3]), Verdict::Overlapping);
    let three = judge(&[[0.0], [1.0], [2.0]], &["a", "b", "c"]);
    assert_eq!(class(&three, "a"), Verdict::Separable);
    assert_eq!(class(&three, "b"), Verdict::Overlapping);
    assert_eq!(proved(&three, three.pair("a", "c", &never)), Verdict::Separable);
    assert_eq!(proved(&three, three.joint(&[], &never)), Verdict::Separable);
}

/// Rows with labels and weights.
fn weighted(rows: &[([f64; 2], &str, f64)]) -> Dataset {
    let mut builder = DatasetBuilder::new(2);
    for (row, label, weight) in rows {
        builder.dense_row(row, label).unwrap();
        builder.weight(*weight).unwrap();
    }
    builder.finish().unwrap()
}

#[test]
fn weight_zero_removes_a_row_and_other_weights_change_nothing() {
    let with = |weights: [f64; 5]| {
        let rows = [
            (SQUARE[0], "0", weights[0]),
            (SQUARE[1], "1", weights[1]),
            (SQUARE[2], "1", weights[2]),
            (SQUARE[3], "0", weights[3]),
            ([2.0, 2.0], "1", weights[4]),
        ];
        Judge::new(weighted(&rows))
    };
    assert_eq!(class(&with([1.0; 5]), "1"), Verdict::Overlapping);
    assert_eq!(class(&with([1e-300, 7.0, 0.5, 1e300, 2.0]), "1"), Verdict::Overlapping);
    let without = with([1.0, 1.0, 1.0, 0.0, 1.0]);
    let decision = without.class("1", &never).unwrap();
    assert_eq!(decision.verdict, Verdict::Separable);
    proofs_hold(&without, std::slice::from_ref(&decision));
    let joint = without.joint(&[], &never);
    assert_eq!(proved(&without, joint), Verdict::Separable);
    assert_eq!(class(&with([0.0, 1.0, 1.0, 1.0, 0.0]), "1"), Verdict::Separable);
    // A witness never holds a row of weight 0.
    let half = with([1.0, 1.0, 1.0, 1.0, 0.0]).class("1", &never).unwrap();
    let Claim::Overlapping { witness, .. } = &half.claim else { panic!("{half:?}") };
    assert!(witness.iter().all(|entry| entry.row < 4));
}

#[test]
fn a_class_whose_rows_all_have_weight_zero_is_no_class() {
    let rows = [(SQUARE[0], "a", 1.0), (SQUARE[1], "b", 0.0), (SQUARE[2], "a", 1.0)];
    let judge = Judge::new(weighted(&rows));
    let error = judge.class("a", &never).expect_err("one class has no rows that count");
    assert_eq!(error.code(), Code::ONE_CLASS, "{error}");
}

#[test]
fn one_rare_category_level_makes_the_classes_touch() {
    // Noise in x; level "rare" stands in class 1 only, in four of 120 rows.
    let mut stream = Stream::new(8, Purpose::Generate(9));
    let mut text = "x,level,label\n".to_owned();
    let mut rare = Vec::new();
    for row in 0..120 {
        let level = if row % 30 == 7 { "rare" } else { ["red", "green", "blue"][row % 3] };
        let label = if level == "rare" { 1 } else { stream.below(2) };
        if level == "rare" {
            rare.push(row);
        }
        text += &format!("{},{level},{label}\n", stream.below(20));
    }
    let data = read_with(&text, |o| o.categorical = Categorical::OneHot).unwrap().data;
    let judge = Judge::new(data);
    let decision = judge.class("1", &never).unwrap();
    assert_eq!(decision.verdict, Verdict::Touching);
    proofs_hold(&judge, std::slice::from_ref(&decision));
    // The weak plane tells exactly the rare rows apart.
    let Claim::Touching { plane, .. } = &decision.claim else { panic!() };
    let off = (0..120).filter(|&row| score(plane, &judge.data.row(row)) != 0);
    assert_eq!(off.collect::<Vec<_>>(), rare);
    // Without the level the classes overlap.
    let plain = text.replace("rare", "red");
    let data = read_with(plain, |o| o.categorical = Categorical::OneHot).unwrap().data;
    assert_eq!(class(&Judge::new(data), "1"), Verdict::Overlapping);
}

/// The score of a row of whole numbers on a plane of whole numbers.
fn score(plane: &ExactPlane, row: &[f64]) -> i128 {
    let whole = |number: &ExactNumber| match number {
        ExactNumber::Ratio(text) => text.parse::<i128>().unwrap(),
        ExactNumber::Binary64(x) => *x as i128,
    };
    let dense = plane.weights.iter().flatten().enumerate().map(|(j, w)| (j, whole(w)));
    let sparse = plane.sparse.iter().flatten().map(|(j, w)| (*j as usize, whole(w)));
    let bias = plane.bias.as_ref().map_or(0, whole);
    dense.chain(sparse).fold(bias, |sum, (j, w)| sum + w * row[j] as i128)
}

#[test]
fn sparse_and_dense_storage_give_the_same_claims() {
    let mut stream = Stream::new(9, Purpose::Generate(9));
    let mut seen = Vec::new();
    for case in 0..40 {
        let (rows, width) = (6 + case, 2 + case % 9);
        let mut value = || if stream.unit() < 0.6 { 0.0 } else { stream.below(9) as f64 - 4.0 };
        let values: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..width).map(|_| value()).collect()).collect();
        let labels: Vec<&str> = values
            .iter()
            .enumerate()
            .map(|(i, row)| if i % 9 == case % 2 || row[0] > row[1] { "a" } else { "b" })
            .collect();
        let mut builder = DatasetBuilder::new(width);
        for (row, label) in values.iter().zip(&labels) {
            let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
            let entries: Vec<(u32, f64)> = entries.map(|(j, &x)| (j as u32, x)).collect();
            builder.sparse_row(&entries, label).unwrap();
        }
        let one = Judge::new(builder.finish().unwrap());
        let other = Judge::new(one.data.with_other_storage());
        assert_ne!(one.data.is_dense(), other.data.is_dense());
        let decisions = [&one, &other, &judge(&values, &labels)].map(|judge| {
            let decision = judge.class("a", &never).unwrap();
            proofs_hold(judge, std::slice::from_ref(&decision));
            decision
        });
        assert!(decisions.iter().all(|d| d.claim == decisions[0].claim));
        seen.push(decisions[0].verdict);
    }
    for verdict in [Verdict::Separable, Verdict::Touching, Verdict::Overlapping] {
        assert!(seen.contains(&verdict), "{verdict:?}");
    }
}

#[test]
fn a_face_of_a_face_of_a_face_is_found() {
    // Noise that overlaps; rows with u ≠ 0 that overlap once the noise is taken out; rows with v ≠ 0
    // that have one side each. Small and large tables take different ways.
    let mut stream = Stream::new(10, Purpose::Generate(9));
    for count in [60, 400, 6_000] {
        let mut rows = Vec::new();
        let mut labels = Vec::new();
        let mut expected = 0;
        for i in 0..count {
            let positive = stream.below(2) == 0;
            let mut row: Vec<f64> = (0..4).map(|_| stream.below(100) as f64).collect();
            let u = if i % 5 == 0 { stream.below(9) as f64 - 4.0 } else { 0.0 };
            let v = if i % 20 == 3 { 1.0 + stream.below(3) as f64 } else { 0.0 };
            expected += usize::from(v > 0.0);
            row.extend([u, if positive { v } else { -v }]);
            rows.push(row);
            labels.push(if positive { "a" } else { "b" });
        }
        let touching = judge(&rows, &labels);
        let decision = touching.class("a", &never).unwrap();
        proofs_hold(&touching, std::slice::from_ref(&decision));
        assert_eq!(decision.verdict, Verdict::Touching, "{count} rows");
        let Claim::Touching { plane, .. } = &decision.claim else { panic!() };
        let off = rows.iter().filter(|row| score(plane, row) != 0).count();
        assert_eq!(off, expected, "{count} rows");
        // One of the rows with v on the other side, and nothing is left.
        let at = labels.iter().enumerate().position(|(i, label)| i % 20 == 3 && *label == "a");
        labels[at.unwrap()] = "b";
        assert_eq!(class(&judge(&rows, &labels), "a"), Verdict::Overlapping, "{count} rows");
    }
}

#[test]
fn one_contradiction_among_dozens_of_columns_is_told_touching_in_short_time() {
    // Two equal rows of different classes in data that a plane separates otherwise.
    let mut stream = Stream::new(12, Purpose::Generate(9));
    for (count, width) in [(60, 30), (90, 60), (130, 100), (250, 100)] {
        let mut rows: Vec<Vec<f64>> =
            (0..count).map(|_| (0..width).map(|_| stream.normal()).collect()).collect();
        let side = |row: &Vec<f64>| if row[0] + row[1] > 0.1 { "a" } else { "b" };
        let mut labels: Vec<&str> = rows.iter().map(side).collect();
        labels.push(if labels[0] == "a" { "b" } else { "a" });
        rows.push(rows[0].clone());
        let judge = judge(&rows, &labels);
        let start = std::time::Instant::now();
        let decision = judge.class("a", &|| start.elapsed().as_secs_f64() > 3.0).unwrap();
        assert_eq!(decision.verdict, Verdict::Touching, "{count} rows, {width} columns");
        proofs_hold(&judge, std::slice::from_ref(&decision));
    }
}
