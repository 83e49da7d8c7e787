//! The largest margin and the bounds that follow from it, against brute force and known answers.

use crate::brute::{shortest_square, signed};
use crate::proofs::{accepts, example, judge, never};
use linsep::model::Plane;
use linsep::proof::Claim;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Decision, Judge, Margin, Verdict};

/// γ² with a constant, after its proof was checked again.
fn augmented(judge: &Judge, decision: &Decision, constant: u64) -> Margin {
    let margin = judge.augmented_margin(decision, constant, &never).expect("an exact margin");
    let Claim::Margin { gamma2, constant: stated, .. } = &margin.claim else { panic!() };
    assert_eq!((gamma2, stated), (&margin.gamma2.to_string(), &constant.to_string()));
    checked(judge, margin)
}

fn geometric(judge: &Judge, decision: &Decision) -> Margin {
    let margin = judge.geometric_margin(decision, &never).expect("an exact margin");
    let Claim::GeometricMargin { gamma2, .. } = &margin.claim else { panic!() };
    assert_eq!(*gamma2, margin.gamma2.to_string());
    checked(judge, margin)
}

fn checked(judge: &Judge, margin: Margin) -> Margin {
    assert!(accepts(judge, &margin.claim), "{:?}", margin.claim);
    assert!(!margin.support().is_empty());
    let (low, high) = (margin.gamma.lower.unwrap(), margin.gamma.upper.unwrap());
    assert!(0.0 < low && low <= high && high <= low.next_up());
    margin
}

/// A small separable set of whole numbers.
struct Small {
    rows: Vec<Vec<i64>>,
    positive: Vec<bool>,
    judge: Judge,
    decision: Decision,
}

/// `count` random separable sets of 2 to 8 rows in one to three columns.
fn small_sets(seed: u64, count: usize) -> Vec<Small> {
    let mut stream = Stream::new(seed, Purpose::Generate(0));
    let mut sets = Vec::new();
    while sets.len() < count {
        let (n, width) = (2 + stream.below(7) as usize, 1 + stream.below(3) as usize);
        let range = 3 + stream.below(12);
        let mut cell = || stream.below(range) as i64 - (range / 2) as i64;
        let rows: Vec<Vec<i64>> = (0..n).map(|_| (0..width).map(|_| cell()).collect()).collect();
        let positive: Vec<bool> = (0..n).map(|_| stream.below(2) == 1).collect();
        if positive.iter().all(|p| *p) || !positive.iter().any(|p| *p) {
            continue;
        }
        let floats: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|&x| x as f64).collect()).collect();
        let labels: Vec<&str> = positive.iter().map(|&p| if p { "p" } else { "n" }).collect();
        let judge = judge(&floats, &labels);
        let decision = judge.class("p", &never).unwrap();
        if decision.verdict == Verdict::Separable {
            sets.push(Small { rows, positive, judge, decision });
        }
    }
    sets
}

fn fraction((p, q): (i128, i128)) -> String {
    if q == 1 { p.to_string() } else { format!("{p}/{q}") }
}

#[test]
fn the_irises_have_the_margins_that_are_known() {
    let judge = Judge::new(example("iris.csv"));
    for (other, gamma2) in [("versicolor", "678213/1208555"), ("virginica", "7393093/4451875")] {
        let decision = judge.pair("setosa", other, &never).unwrap();
        let margin = augmented(&judge, &decision, 1);
        assert_eq!(margin.gamma2.to_string(), gamma2);
        let widest = geometric(&judge, &decision);
        assert!(widest.gamma2 > margin.gamma2);
        assert!(augmented(&judge, &decision, 10).gamma2 > margin.gamma2);
        let bracket = judge.margin(&decision);
        assert!(bracket.lower.unwrap() <= margin.gamma.lower.unwrap());
        assert!(bracket.upper.unwrap() >= margin.gamma.upper.unwrap());
    }
}

#[test]
fn brute_force_finds_the_same_margins() {
    for (k, small) in small_sets(1, 400).iter().enumerate() {
        let Small { rows, positive, judge, decision } = small;
        let constant = [1, 2, 5, 10][k % 4];
        let points: Vec<Vec<i128>> = rows
            .iter()
            .zip(positive)
            .map(|(row, &p)| {
                let mut z = signed(row, p, true);
                z[0] *= i128::from(constant);
                z
            })
            .collect();
        let margin = augmented(judge, decision, constant);
        assert_eq!(margin.gamma2.to_string(), fraction(shortest_square(&points)), "set {k}");
        // The differences of rows of the two sides: their hull is the difference of the hulls.
        let mut differences: Vec<Vec<i128>> = Vec::new();
        for (a, _) in rows.iter().zip(positive).filter(|(_, p)| **p) {
            for (b, _) in rows.iter().zip(positive).filter(|(_, p)| !**p) {
                differences.push(a.iter().zip(b).map(|(a, b)| i128::from(a - b)).collect());
            }
        }
        differences.sort();
        differences.dedup();
        let (p, q) = shortest_square(&differences);
        let widest = geometric(judge, decision);
        assert_eq!(widest.gamma2.to_string(), reduced(p, 4 * q), "set {k}");
    }
}

fn reduced(p: i128, q: i128) -> String {
    let divisor = crate::brute::gcd(p, q);
    fraction((p / divisor, q / divisor))
}

#[test]
fn twice_the_rows_have_four_times_the_squared_margin() {
    for small in small_sets(2, 60) {
        let double: Vec<Vec<f64>> =
            small.rows.iter().map(|row| row.iter().map(|&x| 2.0 * x as f64).collect()).collect();
        let labels: Vec<&str> = small.positive.iter().map(|&p| if p { "p" } else { "n" }).collect();
        let twice = judge(&double, &labels);
        let decision = twice.class("p", &never).unwrap();
        let four = |large: &Margin, small: &Margin| {
            assert_eq!(large.gamma2.over(&small.gamma2).unwrap().to_string(), "4");
        };
        four(&geometric(&twice, &decision), &geometric(&small.judge, &small.decision));
        // The constant is a column like any other.
        for constant in [1, 5] {
            let large = augmented(&twice, &decision, 2 * constant);
            four(&large, &augmented(&small.judge, &small.decision, constant));
        }
    }
}

#[test]
fn far_rows_and_columns_of_very_different_size_have_exact_margins() {
    for (k, small) in small_sets(6, 60).iter().enumerate() {
        let labels: Vec<&str> = small.positive.iter().map(|&p| if p { "p" } else { "n" }).collect();
        let moved = |change: &dyn Fn(usize, f64) -> f64| {
            let row = |row: &Vec<i64>| -> Vec<f64> {
                row.iter().enumerate().map(|(j, &x)| change(j, x as f64)).collect()
            };
            let judge = judge(&small.rows.iter().map(row).collect::<Vec<_>>(), &labels);
            let decision = judge.class("p", &never).unwrap();
            (judge, decision)
        };
        // Distances do not change when all rows are moved together.
        let (far, decision) = moved(&|_, x| x + 3e6);
        let here = geometric(&small.judge, &small.decision);
        assert_eq!(geometric(&far, &decision).gamma2, here.gamma2, "set {k}");
        assert!(augmented(&far, &decision, 1).gamma2 < here.gamma2);
        let (uneven, decision) = moved(&|j, x| x * [1e-8, 1e8, 1.0][j]);
        assert!(augmented(&uneven, &decision, 1).gamma2 <= geometric(&uneven, &decision).gamma2);
    }
}

#[test]
fn a_larger_constant_never_makes_the_margin_smaller_nor_larger_than_the_geometric_one() {
    for small in small_sets(3, 60) {
        let widest = geometric(&small.judge, &small.decision);
        let mut before = None;
        for constant in [1, 2, 5, 10, 1000] {
            let margin = augmented(&small.judge, &small.decision, constant).gamma2;
            assert!(margin <= widest.gamma2);
            assert!(before.is_none_or(|before| before <= margin));
            before = Some(margin);
        }
    }
}

#[test]
fn the_perceptron_keeps_to_its_bounds() {
    for small in small_sets(4, 300) {
        let Small { judge, decision, .. } = &small;
        let margin = augmented(judge, decision, 1);
        let bounds = judge.mistake_bounds(decision, &margin, &never).unwrap();
        let most: u64 = bounds.from_zero.floor().parse().unwrap();
        let run = judge.corrections(decision, 1_000_000, &never).unwrap();
        assert!(run.ended && run.corrections <= most, "{run:?} {most}");
        let square = |row: &Vec<i64>| row.iter().map(|x| x * x).sum::<i64>() + 1;
        let longest = small.rows.iter().map(square).max().unwrap();
        assert_eq!(bounds.radius2.to_string(), longest.to_string());
        assert_eq!(bounds.radius2.over(&margin.gamma2).unwrap(), bounds.from_zero);
        // γ/R is a margin of rows of length at most 1, and the best of length 1 is no smaller.
        let sphere = bounds.unit_sphere.unwrap();
        assert!(sphere <= bounds.from_zero.bounds().upper.unwrap() * (1.0 + 1e-6), "{sphere}");
        assert!(sphere >= 1.0);
    }
}

#[test]
fn the_bound_from_any_start_holds_and_is_that_from_zero_at_zero() {
    use linsep::data::scale::Scaling;
    use linsep::learn::perceptron::{Init, Order, Perceptron};
    use linsep::{Learner, Limits, Task};
    let mut stream = Stream::new(5, Purpose::Generate(0));
    for small in small_sets(5, 100) {
        let Small { judge, decision, .. } = &small;
        let margin = augmented(judge, decision, 1);
        let bounds = judge.mistake_bounds(decision, &margin, &never).unwrap();
        let width = judge.data.n_features();
        let zero = Plane::new(vec![0.0; width], 0.0);
        let from_zero = judge.bound_from(decision, &margin, &bounds, &zero).unwrap();
        assert_eq!(from_zero, bounds.from_zero);
        let mut number = || stream.below(41) as f64 - 20.0;
        let start = Plane::new((0..width).map(|_| number()).collect(), number());
        let most: u64 =
            judge.bound_from(decision, &margin, &bounds, &start).unwrap().floor().parse().unwrap();
        let mut learner = Perceptron::default();
        learner.order = Order::Cyclic;
        learner.scale = Scaling::None;
        // The positive side of the question is the later class.
        learner.init = Init::Given(vec![start]);
        let limits = Limits::default().with_epochs(None);
        let fit = learner.fit(&Task::new(judge.data.clone()), &limits, &mut ()).unwrap();
        assert!(fit.progress.updates <= most, "{} {most}", fit.progress.updates);
    }
}

#[test]
fn the_table_of_and_is_as_the_theorems_say() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let and = judge(&rows, &["0", "0", "0", "1"]);
    let decision = and.class("1", &never).unwrap();
    let margin = augmented(&and, &decision, 1);
    assert_eq!(margin.gamma2.to_string(), "1/17");
    assert_eq!(geometric(&and, &decision).gamma2.to_string(), "1/8");
    let bounds = and.mistake_bounds(&decision, &margin, &never).unwrap();
    assert_eq!(bounds.radius2.to_string(), "3");
    assert_eq!(bounds.from_zero.to_string(), "51");
    let run = and.corrections(&decision, 1000, &never).unwrap();
    assert_eq!((run.corrections, run.ended), (18, true));
    let short = and.corrections(&decision, 2, &never).unwrap();
    assert!(!short.ended && short.epochs == 2);
}

#[test]
fn there_is_no_margin_without_a_plane_or_a_bias_or_a_constant() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let xor = judge(&rows, &["0", "1", "1", "0"]);
    let decision = xor.class("1", &never).unwrap();
    assert!(xor.augmented_margin(&decision, 1, &never).is_none());
    assert!(xor.geometric_margin(&decision, &never).is_none());
    let mut and = judge(&rows, &["0", "0", "0", "1"]);
    let decision = and.class("1", &never).unwrap();
    assert!(and.augmented_margin(&decision, 0, &never).is_none());
    assert!(and.augmented_margin(&decision, 1, &|| true).is_none());
    and.bias = false;
    assert!(and.augmented_margin(&decision, 1, &never).is_none());
    assert!(and.geometric_margin(&decision, &never).is_none());
    assert!(and.corrections(&decision, 1, &never).is_none());
}

#[test]
fn the_examples_have_exact_margins() {
    for (name, class) in [("breast_cancer.csv", "1"), ("sonar.csv", "1"), ("wine.csv", "0")] {
        let mut judge = Judge::new(example(name));
        judge.threads = 2;
        let decision = judge.class(class, &never).unwrap();
        let margin = augmented(&judge, &decision, 1);
        let widest = geometric(&judge, &decision);
        assert!(margin.gamma2 <= widest.gamma2, "{name}");
        assert!(judge.mistake_bounds(&decision, &margin, &never).is_some(), "{name}");
    }
}

#[test]
fn threads_do_not_change_a_margin() {
    let mut judge = Judge::new(example("wine.csv"));
    let decision = judge.class("1", &never).unwrap();
    let one = augmented(&judge, &decision, 3);
    judge.threads = 4;
    assert_eq!(augmented(&judge, &decision, 3).claim, one.claim);
}
