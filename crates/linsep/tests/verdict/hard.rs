//! Numbers on which floating point alone answers wrongly: very small and very large ones, far means,
//! hairline gaps, near-duplicates, ties that exist in decimals only. Each case by its name.

use crate::files::read_with;
use crate::proofs::{accepts, class, example, judge, never, proved, repository};
use linsep::data::read::ReadingChoice;
use linsep::proof::{Claim, Reading};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::{Dataset, Error};

/// The table of an example with every number of a row changed as text.
fn rewritten(name: &str, mut change: impl FnMut(usize, &str) -> String) -> Dataset {
    let text = std::fs::read_to_string(repository("examples").join(name)).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let is_label = |name: &str| name == "label" || name == "species";
    let label = head.split(',').position(is_label).unwrap();
    let mut out = format!("{head}\n");
    for line in lines {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        let numbers = fields.iter_mut().enumerate().filter(|(k, _)| *k != label);
        for (j, (_, number)) in numbers.enumerate() {
            *number = change(j, number);
        }
        out += &format!("{}\n", fields.join(","));
    }
    read_with(out, |_| ()).unwrap().data
}

fn decided(data: Result<Dataset, Error>, positive: &str) -> Verdict {
    class(&Judge::new(data.unwrap()), positive)
}

/// Rows on a line: one column.
fn line(points: &[(f64, &str)]) -> Judge {
    let rows: Vec<[f64; 1]> = points.iter().map(|(x, _)| [*x]).collect();
    let labels: Vec<&str> = points.iter().map(|(_, label)| *label).collect();
    judge(&rows, &labels)
}

#[test]
fn features_scaled_by_1e_minus_8_and_by_1e8_change_no_verdict() {
    let plain = Judge::new(example("iris.csv"));
    let scales: [&dyn Fn(usize) -> &'static str; 3] =
        [&|_| "e-8", &|_| "e8", &|j| if j % 2 == 0 { "e-8" } else { "e8" }];
    for scale in scales {
        let scaled = Judge::new(rewritten("iris.csv", |j, x| format!("{x}{}", scale(j))));
        assert_eq!(scaled.reading().default, Reading::Decimal);
        assert!(scaled.reading().binary64.is_empty());
        assert_eq!(class(&scaled, "setosa"), Verdict::Separable);
        assert_eq!(class(&scaled, "versicolor"), class(&plain, "versicolor"));
        let pair = scaled.pair("versicolor", "virginica", &never).unwrap();
        assert_eq!(pair.verdict, Verdict::Overlapping);
        // Scaling a column changes no sum that is 0: the witness is one of the plain file too.
        assert!(accepts(&plain, &pair.claim));
        assert_eq!(proved(&scaled, Ok(pair)), Verdict::Overlapping);
    }
}

#[test]
fn binary64_features_scaled_by_1e_minus_8_and_by_1e8_stay_separable() {
    for name in ["breast_cancer.csv", "sonar.csv"] {
        for scale in [1e-8, 1e8] {
            let data = example(name);
            let rows: Vec<Vec<f64>> = (0..data.n_rows())
                .map(|row| data.row(row).iter().map(|x| x * scale).collect())
                .collect();
            let labels: Vec<&str> = (0..data.n_rows()).map(|row| data.label_text(row)).collect();
            assert_eq!(class(&judge(&rows, &labels), "1"), Verdict::Separable, "{name} {scale}");
        }
    }
}

#[test]
fn means_1e6_standard_deviations_away_change_no_verdict() {
    let plain = Judge::new(example("iris.csv"));
    // No column of the irises has a standard deviation above 1.8.
    let far = |number: &str| {
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        format!("{}.{fraction}", 2_000_000 + whole.parse::<u64>().unwrap())
    };
    let shifted = Judge::new(rewritten("iris.csv", |_, number| far(number)));
    assert_eq!(class(&shifted, "setosa"), Verdict::Separable);
    let pair = shifted.pair("versicolor", "virginica", &never).unwrap();
    assert_eq!(pair.verdict, Verdict::Overlapping);
    assert!(accepts(&plain, &pair.claim), "a shift changes no balance");
    assert_eq!(proved(&shifted, Ok(pair)), Verdict::Overlapping);
    for (positive, verdict) in
        [("setosa", Verdict::Separable), ("versicolor", Verdict::Overlapping)]
    {
        assert_eq!(class(&shifted, positive), verdict);
    }
    let wine = Judge::new(rewritten("wine.csv", |_, number| {
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        format!("{}.{fraction}", 400_000_000 + whole.parse::<u64>().unwrap())
    }));
    for positive in ["0", "1", "2"] {
        assert_eq!(class(&wine, positive), Verdict::Separable, "{positive}");
    }
}

#[test]
fn a_gap_of_1e_minus_15_separates_and_a_gap_of_zero_touches() {
    let gap = 1.0 + 1e-15;
    assert!(gap > 1.0 && gap - 1.0 < 1.2e-15);
    let a = [(0.0, "a"), (0.5, "a"), (1.0, "a")];
    let case = |from: f64| line(&[a[0], a[1], a[2], (from, "b"), (2.0, "b"), (3.0, "b")]);
    assert_eq!(class(&case(gap), "b"), Verdict::Separable);
    assert_eq!(class(&case(1.0), "b"), Verdict::Touching);
    assert_eq!(class(&case(1.0 - 1e-15), "b"), Verdict::Overlapping);
}

#[test]
fn a_gap_of_1e_minus_15_between_parallel_lines_separates() {
    // y = x against y = x + 1e-15, and one row moved across.
    let at = [0.0, 0.25, 0.5, 0.75, 1.0];
    let mut rows: Vec<[f64; 2]> = at.iter().map(|&x| [x, x]).collect();
    rows.extend(at.iter().map(|&x| [x, x + 1e-15]));
    let labels: Vec<&str> = (0..10).map(|i| if i < 5 { "low" } else { "high" }).collect();
    assert_eq!(class(&judge(&rows, &labels), "high"), Verdict::Separable);
    rows[7] = [0.5, 0.5];
    assert_eq!(class(&judge(&rows, &labels), "high"), Verdict::Touching);
    rows[7] = [0.5, 0.5 - 1e-15];
    assert_eq!(class(&judge(&rows, &labels), "high"), Verdict::Overlapping);
}

#[test]
fn a_decimal_gap_of_1e_minus_15_is_seen_between_written_numbers() {
    // (1e-15, 1) lies on the line from (0, 0) to (3e-15, 3), as decimals.
    let text = "x,z,label\n0,0,a\n3e-15,3,a\n1e-15,1,b\n3e-15,0,b\n";
    assert_eq!(decided(read_with(text, |_| ()).map(|r| r.data), "b"), Verdict::Touching);
    let text = "x,z,label\n0,0,a\n3e-15,3,a\n1.00000000000001e-15,1,b\n3e-15,0,b\n";
    assert_eq!(decided(read_with(text, |_| ()).map(|r| r.data), "b"), Verdict::Separable);
    let text = "x,label\n1e-15,b\n0,a\n2e-15,b\n9.99999999999999e-16,a\n";
    assert_eq!(decided(read_with(text, |_| ()).map(|r| r.data), "b"), Verdict::Separable);
}

#[test]
fn near_duplicate_rows_are_told_apart_by_their_last_bit() {
    let next = |x: f64| f64::from_bits(x.to_bits() + 1);
    let mut rows: Vec<[f64; 2]> = Vec::new();
    let mut labels = Vec::new();
    for i in 1..=50 {
        let x = f64::from(i) / 7.0;
        rows.extend([[x, x], [x, next(x)]]);
        labels.extend(["on", "above"]);
    }
    assert_eq!(class(&judge(&rows, &labels), "above"), Verdict::Separable);
    // One twin below instead of above.
    rows[51][1] = f64::from_bits(rows[50][1].to_bits() - 1);
    assert_eq!(class(&judge(&rows, &labels), "above"), Verdict::Overlapping);
}

#[test]
fn near_duplicate_rows_in_many_columns_are_decided() {
    let mut stream = Stream::new(11, Purpose::Generate(5));
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for i in 0..60 {
        let row: Vec<f64> = (0..5).map(|_| stream.normal()).collect();
        let mut twin = row.clone();
        twin[i % 5] = f64::from_bits(twin[i % 5].to_bits() + 1);
        rows.extend([row, twin]);
        labels.extend(["a", "b"]);
    }
    assert_eq!(class(&judge(&rows, &labels), "b"), Verdict::Overlapping);
    // Twins of the same class decide nothing.
    let by_side: Vec<&str> = rows
        .chunks(2)
        .flat_map(|pair| [if pair[0][0] - pair[0][3] > 0.1 { "a" } else { "b" }; 2])
        .collect();
    assert_eq!(class(&judge(&rows, &by_side), "b"), Verdict::Separable);
}

const TIE: &str = "u,v,x,label\n0,0,0.1,1\n1,1,0.2,1\n0,1,0.3,-1\n1,0,0,-1\n";

#[test]
fn ties_of_0_1_0_2_and_0_3_exist_in_decimals_and_not_in_binary64() {
    let read = |reading| Judge::new(read_with(TIE, |o| o.reading = reading).unwrap().data);
    for reading in [ReadingChoice::Auto, ReadingChoice::Decimal] {
        let decimal = read(reading);
        assert_eq!(decimal.reading().default, Reading::Decimal);
        assert_eq!(class(&decimal, "1"), Verdict::Overlapping);
    }
    let binary = read(ReadingChoice::Binary64);
    assert_eq!(binary.reading().default, Reading::Binary64);
    assert_eq!(class(&binary, "1"), Verdict::Separable);
    // Neither proof is one under the other reading.
    let decimal = read(ReadingChoice::Decimal);
    let by_decimal = decimal.class("1", &never).unwrap().claim;
    let by_binary = binary.class("1", &never).unwrap().claim;
    assert!(!accepts(&binary, &by_decimal) && !accepts(&decimal, &by_binary));
}

#[test]
fn a_touching_tie_of_decimals_comes_apart_in_binary64() {
    // 0.3 = 0.1 + 0.2 on a line of two columns; 0.1 + 0.2 > 0.3 in binary64.
    let text = "s,t,label\n0.1,0.2,high\n0.3,0,low\n0,0.3,low\n1,1,high\n0,0,low\n";
    let read = |reading| Judge::new(read_with(text, |o| o.reading = reading).unwrap().data);
    assert_eq!(class(&read(ReadingChoice::Decimal), "high"), Verdict::Touching);
    assert_eq!(class(&read(ReadingChoice::Binary64), "high"), Verdict::Separable);
}

#[test]
fn one_column_as_binary64_beside_decimals_keeps_both_meanings() {
    // The second column has numbers of 17 digits, so it means its binary64: three in a row, of which
    // the second is the exact mean. The first column has its tie as decimals only.
    let text = "x,z,label\n0.1,0.1,a\n0.2,0.10000000000000002,b\n0.3,0.10000000000000003,a\n";
    let read = |reading| Judge::new(read_with(text, |o| o.reading = reading).unwrap().data);
    let mixed = read(ReadingChoice::Auto);
    assert_eq!(mixed.reading().default, Reading::Decimal);
    assert_eq!(mixed.reading().binary64, [1]);
    assert_eq!(class(&mixed, "a"), Verdict::Overlapping);
    assert_eq!(class(&read(ReadingChoice::Binary64), "a"), Verdict::Separable);
}

#[test]
fn integers_up_to_2_to_the_53_are_exact() {
    let top = 9_007_199_254_740_992.0;
    assert_eq!(class(&line(&[(top - 1.0, "a"), (top, "b")]), "b"), Verdict::Separable);
    let between = [(top - 2.0, "a"), (top, "a"), (top - 1.0, "b")];
    assert_eq!(class(&line(&between), "b"), Verdict::Overlapping);
    let edge = [(top - 2.0, "a"), (top - 1.0, "a"), (top - 1.0, "b"), (top, "b")];
    assert_eq!(class(&line(&edge), "b"), Verdict::Touching);
    let written = "x,z,label\n9007199254740992,-9007199254740991,a\n\
                   9007199254740990,-9007199254740992,a\n\
                   9007199254740991,-9007199254740990,b\n1,9007199254740991,b\n";
    let judge = Judge::new(read_with(written, |_| ()).unwrap().data);
    let decision = judge.class("a", &never).unwrap();
    assert_eq!(proved(&judge, Ok(decision)), Verdict::Separable);
}

#[test]
fn large_integers_on_one_line_are_collinear_to_the_last_unit() {
    // (k, 3k) with k near 2^51, one row one unit off.
    let at =
        |k: f64, off: f64| [2_251_799_813_685_000.0 + k, 6_755_399_441_055_000.0 + 3.0 * k + off];
    let on = [at(1.0, 0.0), at(50.0, 0.0), at(99.0, 0.0)];
    let labels = ["a", "a", "a", "b"];
    let with = |off: f64| judge(&[on[0], on[1], on[2], at(20.0, off)], &labels);
    assert_eq!(class(&with(0.0), "b"), Verdict::Overlapping);
    assert_eq!(class(&with(1.0), "b"), Verdict::Separable);
    assert_eq!(class(&with(-1.0), "b"), Verdict::Separable);
}

#[test]
fn subnormals_are_numbers_like_others() {
    let tiny = f64::from_bits(1);
    let units = |n: f64| n * tiny;
    assert_eq!(class(&line(&[(tiny, "a"), (units(2.0), "b")]), "b"), Verdict::Separable);
    let between = [(0.0, "a"), (units(2.0), "a"), (tiny, "b")];
    assert_eq!(class(&line(&between), "b"), Verdict::Overlapping);
    let touching = [(0.0, "a"), (tiny, "a"), (tiny, "b"), (units(7.0), "b")];
    assert_eq!(class(&line(&touching), "b"), Verdict::Touching);
    // The sign of a subnormal decides beside an ordinary column that does not.
    let rows = [[1.0, tiny], [2.0, tiny], [1.0, -tiny], [2.0, -tiny]];
    assert_eq!(class(&judge(&rows, &["a", "a", "b", "b"]), "a"), Verdict::Separable);
    let text = "x,z,label\n5e-324,1,a\n1e-323,2,a\n-5e-324,1,b\n-1e-323,2,b\n";
    let judge = Judge::new(read_with(text, |_| ()).unwrap().data);
    assert_eq!(judge.reading().binary64, [0]);
    assert_eq!(class(&judge, "a"), Verdict::Separable);
}

#[test]
fn the_ends_of_the_range_stand_beside_each_other() {
    let rows = [[1e308, 1e-308], [-1e308, 2e-308], [1.7e308, -1e-308], [-1.7e308, -2e-308]];
    assert_eq!(class(&judge(&rows, &["a", "a", "b", "b"]), "a"), Verdict::Separable);
    let rows = [[1e308, 1e-308], [-1e308, -1e-308], [0.0, 0.0], [1e300, 1e-300]];
    let decision = judge(&rows, &["a", "a", "b", "b"]);
    assert_eq!(class(&decision, "a"), Verdict::Touching);
}

#[test]
fn a_weak_plane_may_need_numbers_that_no_float_holds() {
    // Touching along a direction whose weights differ by 30 powers of ten.
    let text = "x,z,label\n1e15,1e-15,a\n2e15,2e-15,b\n3e15,3e-15,a\n1e15,2e-15,a\n2e15,1e-15,b\n";
    let judge = Judge::new(read_with(text, |_| ()).unwrap().data);
    let decision = judge.class("a", &never).unwrap();
    assert_eq!(decision.verdict, Verdict::Touching);
    assert!(matches!(decision.claim, Claim::Touching { .. }));
    assert_eq!(proved(&judge, Ok(decision)), Verdict::Touching);
}
