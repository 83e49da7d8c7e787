//! The verdict against the whole truth: every Boolean function of up to four inputs, and thousands of
//! tiny sets decided a second time by brute force.

use crate::brute::{Kind, kesler, kind_of, signed};
use crate::proofs::{accepts, judge, never, proofs_hold, verdict_of};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::{Code, Dataset};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// All inputs of a function of `inputs` Boolean variables.
fn cube(inputs: usize) -> Vec<Vec<f64>> {
    (0..1usize << inputs)
        .map(|point| (0..inputs).map(|j| (point >> j & 1) as f64).collect())
        .collect()
}

/// A function as data: bit k of the number is its value at the k-th input.
fn gate(cube: &[Vec<f64>], function: u64) -> Dataset {
    let labels: Vec<&str> =
        (0..cube.len()).map(|k| if function >> k & 1 == 1 { "1" } else { "0" }).collect();
    Dataset::from_rows(cube, &labels).unwrap()
}

/// How many of the functions are separable; every claim of `checked` functions is checked again.
fn count_separable(
    inputs: usize,
    functions: impl Iterator<Item = u64>,
    checked: impl Fn(u64) -> bool,
) -> usize {
    let cube = cube(inputs);
    let mut separable = 0;
    for function in functions {
        let mut judge = Judge::new(gate(&cube, function));
        judge.kind = checked(function);
        let decision = judge.class("1", &never).unwrap();
        assert_ne!(decision.verdict, Verdict::Undecided, "{function:#b}");
        assert_eq!(decision.verdict == Verdict::Inseparable, {
            !judge.kind && decision.verdict != Verdict::Separable
        });
        assert_eq!(verdict_of(&decision.claim), decision.verdict, "{function:#b}");
        if checked(function) {
            proofs_hold(&judge, std::slice::from_ref(&decision));
        } else {
            assert!(accepts(&judge, &decision.claim), "{function:#b}");
        }
        separable += usize::from(decision.verdict == Verdict::Separable);
    }
    separable
}

/// The functions that are not constant.
fn functions(inputs: usize) -> std::ops::Range<u64> {
    1..(1 << (1 << inputs)) - 1
}

#[test]
fn twelve_functions_of_two_inputs_are_separable() {
    assert_eq!(functions(2).count(), 14);
    assert_eq!(count_separable(2, functions(2), |_| true), 12);
}

#[test]
fn a_hundred_and_two_functions_of_three_inputs_are_separable() {
    assert_eq!(functions(3).count(), 254);
    assert_eq!(count_separable(3, functions(3), |_| true), 102);
}

#[test]
fn one_thousand_eight_hundred_and_eighty_functions_of_four_inputs_are_separable() {
    assert_eq!(functions(4).count(), 65_534);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8) as u64;
    let separable: usize = std::thread::scope(|scope| {
        let share = |k: u64| functions(4).filter(move |f| f % threads == k);
        let work = |k| move || count_separable(4, share(k), |function| function % 97 == 5);
        let handles: Vec<_> = (0..threads).map(|k| scope.spawn(work(k))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum()
    });
    assert_eq!(separable, 1_880);
}

#[test]
fn constant_functions_are_refused_as_one_class() {
    for inputs in 2..=4 {
        let cube = cube(inputs);
        for function in [0, (1 << cube.len()) - 1] {
            let judge = Judge::new(gate(&cube, function));
            let class = if function == 0 { "0" } else { "1" };
            let error = judge.class(class, &never).unwrap_err();
            assert_eq!(error.code(), Code::ONE_CLASS, "{error}");
            assert_eq!(judge.class("1", &never).unwrap_err().code(), Code::ONE_CLASS);
            assert_eq!(judge.pair("0", "1", &never).unwrap_err().code(), Code::ONE_CLASS);
            assert_eq!(judge.joint(&[], &never).unwrap_err().code(), Code::ONE_CLASS);
        }
    }
}

/// Rows of small whole numbers with classes 0.., all of them present.
struct Tiny {
    rows: Vec<Vec<i64>>,
    classes: Vec<usize>,
}

impl Tiny {
    fn draw(stream: &mut Stream, most_rows: u64, most_columns: u64, classes: usize) -> Tiny {
        let count = classes + stream.below(most_rows + 1 - classes as u64) as usize;
        let width = 1 + stream.below(most_columns) as usize;
        let reach = 1 + stream.below(3) as i64;
        let mut value = || stream.below(2 * reach as u64 + 1) as i64 - reach;
        let rows = (0..count).map(|_| (0..width).map(|_| value()).collect()).collect();
        let mut labels: Vec<usize> = (0..count)
            .map(|i| if i < classes { i } else { stream.below(classes as u64) as usize })
            .collect();
        stream.shuffle(&mut labels);
        Tiny { rows, classes: labels }
    }

    fn judge(&self) -> Judge {
        let float = |row: &Vec<i64>| row.iter().map(|&x| x as f64).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = self.rows.iter().map(float).collect();
        let labels: Vec<String> = self.classes.iter().map(|c| format!("c{c}")).collect();
        judge(&rows, &labels)
    }

    /// The truth about the second class against the first.
    fn truth(&self, bias: bool) -> Verdict {
        let vectors = self.rows.iter().zip(&self.classes);
        word(kind_of(&vectors.map(|(row, &c)| signed(row, c == 1, bias)).collect::<Vec<_>>()))
    }
}

fn word(kind: Kind) -> Verdict {
    match kind {
        Kind::Separable => Verdict::Separable,
        Kind::Touching => Verdict::Touching,
        Kind::Overlapping => Verdict::Overlapping,
    }
}

/// Decides tiny sets twice and counts the kinds and the sets in which the exact method had a part.
fn agree(
    seed: u64,
    sets: usize,
    bias: bool,
    wanted: impl Fn(&Tiny) -> bool,
) -> (HashMap<&'static str, usize>, usize) {
    let mut stream = Stream::new(seed, Purpose::Generate(31));
    let (mut counts, mut exact, mut done) = (HashMap::new(), 0, 0);
    while done < sets {
        let tiny = Tiny::draw(&mut stream, 8, 3, 2);
        if !wanted(&tiny) {
            continue;
        }
        let mut judge = tiny.judge();
        judge.bias = bias;
        let words = format!("{:?} {:?} bias {bias}", tiny.rows, tiny.classes);
        let decision = catch_unwind(AssertUnwindSafe(|| judge.class("c1", &never)))
            .unwrap_or_else(|_| panic!("broke off: {words}"))
            .unwrap();
        let truth = tiny.truth(bias);
        assert_eq!(decision.verdict, truth, "{words}");
        assert!(accepts(&judge, &decision.claim), "{words}");
        if done % 16 == 0 {
            proofs_hold(&judge, std::slice::from_ref(&decision));
        }
        *counts.entry(truth.word()).or_default() += 1;
        exact += usize::from(decision.exact_decisions > 0);
        done += 1;
    }
    (counts, exact)
}

fn has_an_empty_row(tiny: &Tiny) -> bool {
    tiny.rows.iter().any(|row| row.iter().all(|&x| x == 0))
}

#[test]
fn ten_thousand_tiny_sets_are_decided_as_by_brute_force() {
    let (counts, exact) = agree(1, 10_000, true, |_| true);
    assert_eq!(counts.len(), 3, "{counts:?}");
    assert!(counts.values().all(|&count| count >= 500), "{counts:?}");
    assert!(exact >= 100, "the exact method decided in {exact} sets only");
}

#[test]
fn tiny_sets_without_a_bias_are_decided_as_by_brute_force() {
    let (counts, _) = agree(2, 3_000, false, |tiny| !has_an_empty_row(tiny));
    assert_eq!(counts.len(), 3, "{counts:?}");
    assert!(counts.values().all(|&count| count >= 200), "{counts:?}");
}

#[test]
fn without_a_bias_an_empty_row_alone_refutes() {
    // 0·w > 0 for no w: one row is the whole witness.
    let (counts, _) = agree(5, 1_000, false, has_an_empty_row);
    assert_eq!(counts.get("separable"), None, "{counts:?}");
    assert!(counts["touching"] >= 100 && counts["overlapping"] >= 100, "{counts:?}");
}

#[test]
fn without_the_kind_tiny_sets_are_only_told_separable_or_not() {
    let mut stream = Stream::new(3, Purpose::Generate(31));
    let mut seen = [0; 2];
    for _ in 0..1_000 {
        let tiny = Tiny::draw(&mut stream, 8, 3, 2);
        let mut judge = tiny.judge();
        judge.kind = false;
        let decision = judge.class("c1", &never).unwrap();
        proofs_hold(&judge, std::slice::from_ref(&decision));
        let separable = decision.verdict == Verdict::Separable;
        assert!(separable || decision.verdict == Verdict::Inseparable);
        assert_eq!(separable, tiny.truth(true) == Verdict::Separable, "{:?}", tiny.rows);
        seen[usize::from(separable)] += 1;
    }
    assert!(seen.iter().all(|&count| count >= 100), "{seen:?}");
}

#[test]
fn the_exact_method_itself_decides_where_floats_cannot() {
    // Twelve digits before the one that matters: (x, x + e) with e = −1, 0 or 1.
    let mut stream = Stream::new(6, Purpose::Generate(31));
    let (mut counts, mut exact) = (HashMap::<_, usize>::new(), 0);
    while counts.values().sum::<usize>() < 600 {
        let noisy = stream.below(2) == 0;
        let (mut rows, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..4 + stream.below(5) {
            let (x, e) = (stream.below(1 << 40) as i64, stream.below(3) as i64 - 1);
            let by_chance = e == 0 || noisy;
            classes.push(if by_chance { stream.below(2) as usize } else { usize::from(e > 0) });
            rows.push(vec![x, x + e]);
        }
        if !classes.contains(&0) || !classes.contains(&1) {
            continue;
        }
        let tiny = Tiny { rows, classes };
        let mut judge = tiny.judge();
        judge.kind = false;
        let first = judge.class("c1", &never).unwrap();
        exact += usize::from(first.exact_decisions > 0);
        judge.kind = true;
        let decision = judge.class("c1", &never).unwrap();
        let truth = tiny.truth(true);
        assert_eq!(decision.verdict, truth, "{:?} {:?}", tiny.rows, tiny.classes);
        assert_eq!(first.verdict == Verdict::Separable, truth == Verdict::Separable);
        assert!(accepts(&judge, &first.claim) && accepts(&judge, &decision.claim));
        *counts.entry(truth.word()).or_insert(0) += 1;
    }
    assert!(exact >= 100, "the exact method decided in {exact} sets only");
    assert_eq!(counts.len(), 3, "{counts:?}");
    assert!(counts.values().all(|&count| count >= 30), "{counts:?}");
}

#[test]
fn tiny_sets_of_three_classes_are_decided_jointly_as_by_brute_force() {
    let mut stream = Stream::new(4, Purpose::Generate(31));
    for bias in [true, false] {
        let mut seen = [0; 3];
        for _ in 0..200 {
            let tiny = Tiny::draw(&mut stream, 6, 2, 3);
            let mut judge = tiny.judge();
            judge.bias = bias;
            let words = format!("{:?} {:?} bias {bias}", tiny.rows, tiny.classes);
            let decision = judge.joint(&[], &never).unwrap();
            judge.joint_kind = false;
            let short = judge.joint(&[], &never).unwrap();
            proofs_hold(&judge, &[decision.clone(), short.clone()]);
            let kind = kind_of(&kesler(&tiny.rows, &tiny.classes, 3, bias));
            let (expected, plain) = match kind {
                Kind::Separable => (Verdict::Separable, Verdict::Separable),
                Kind::Touching => (Verdict::Touching, Verdict::Inseparable),
                Kind::Overlapping => (Verdict::Overlapping, Verdict::Inseparable),
            };
            assert_eq!((decision.verdict, short.verdict), (expected, plain), "{words}");
            seen[kind as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count >= 10), "{seen:?} bias {bias}");
    }
}
