//! What becomes of the coefficients of a maximum-likelihood fit, against brute force and against the
//! designs on which R's detectseparation was asked.

use crate::brute::{goes, kept, signed};
use crate::files::read_text;
use crate::proofs::{example, finding, judge, never, repository};
use linsep::proof::{Claim, Estimate};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Coefficients, Decision, Judge, Verdict};
use std::collections::BTreeMap;

/// Small whole rows, some columns dependent, and whether each is positive; both are present.
pub(crate) fn draw(stream: &mut Stream) -> (Vec<Vec<i64>>, Vec<bool>) {
    let (count, width) = (3 + stream.below(6) as usize, 1 + stream.below(4) as usize);
    let (shape, spread) = (stream.below(8), 2 + stream.below(3));
    let rows: Vec<Vec<i64>> = (0..count)
        .map(|_| {
            let value = |stream: &mut Stream| stream.below(2 * spread) as i64 - spread as i64 / 2;
            let mut row: Vec<i64> = (0..width).map(|_| value(stream)).collect();
            match shape {
                0 if width > 1 => row[width - 1] = 2 * row[0],
                1 if width > 2 => row[1] = 1 - row[0] - row[2],
                2 => row[0] = 0,
                3 => row[width - 1] = 2,
                _ => {}
            }
            row
        })
        .collect();
    let mut positive: Vec<bool> = match stream.below(3) {
        0 => (0..count).map(|_| stream.below(2) == 0).collect(),
        // Mostly by the first column: separable and touching sets.
        _ => rows.iter().map(|row| row[0] > 0 || row[0] == 0 && stream.below(2) == 0).collect(),
    };
    (positive[0], positive[1]) = (true, false);
    (rows, positive)
}

pub(crate) fn judge_of(rows: &[Vec<i64>], positive: &[bool], bias: bool) -> Judge {
    let float = |row: &Vec<i64>| row.iter().map(|&x| x as f64).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = rows.iter().map(float).collect();
    let labels: Vec<&str> = positive.iter().map(|p| if *p { "p" } else { "n" }).collect();
    let mut judge = judge(&rows, &labels);
    judge.bias = bias;
    judge
}

/// What becomes of each coordinate, by brute force.
pub(crate) fn truth(rows: &[Vec<i64>], positive: &[bool], bias: bool) -> Vec<Estimate> {
    let vectors: Vec<Vec<i128>> =
        rows.iter().zip(positive).map(|(row, p)| signed(row, *p, bias)).collect();
    estimates(&vectors)
}

/// What becomes of each coordinate of signed rows, by brute force.
pub(crate) fn estimates(vectors: &[Vec<i128>]) -> Vec<Estimate> {
    let kept = kept(vectors);
    let reduced: Vec<Vec<i128>> =
        vectors.iter().map(|z| kept.iter().map(|&j| z[j]).collect()).collect();
    let estimate = |j: usize| match kept.binary_search(&j) {
        Err(_) => Estimate::Aliased,
        Ok(at) => match (goes(&reduced, at, 1), goes(&reduced, at, -1)) {
            (true, true) => Estimate::Undetermined,
            (true, false) => Estimate::PlusInfinity,
            (false, true) => Estimate::MinusInfinity,
            (false, false) => Estimate::Finite,
        },
    };
    (0..vectors[0].len()).map(estimate).collect()
}

/// The coefficients of a decision, after the checker has accepted them.
fn proved(judge: &Judge, decision: &Decision) -> Coefficients {
    let found = judge.coefficients(decision, &never).unwrap();
    let verdict = finding(judge, &found.claim);
    assert!(verdict.holds(), "{verdict:?} of {:?}", found.claim);
    found
}

fn agrees_with_brute_force(seed: u64, sets: usize) {
    let mut stream = Stream::new(seed, Purpose::Generate(41));
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for set in 0..sets {
        let (rows, positive) = draw(&mut stream);
        let bias = set % 4 > 0;
        let judge = judge_of(&rows, &positive, bias);
        let decision = judge.class("p", &never).unwrap();
        let found = proved(&judge, &decision);
        let estimates: Vec<Estimate> =
            found.list.iter().map(|(_, _, estimate)| *estimate).collect();
        let expected = truth(&rows, &positive, bias);
        assert_eq!(estimates, expected, "{rows:?} {positive:?} bias {bias}");
        let columns: Vec<Option<u32>> = found.list.iter().map(|(_, column, _)| *column).collect();
        let all = (0..rows[0].len() as u32).map(Some);
        assert_eq!(columns, bias.then_some(None).into_iter().chain(all).collect::<Vec<_>>());
        estimates.iter().for_each(|e| *seen.entry(e.word()).or_default() += 1);
    }
    // Each of the five happens often.
    assert!(seen.len() == 5 && seen.values().all(|&count| count > sets / 20), "{seen:?}");
}

#[test]
fn small_sets_agree_with_brute_force() {
    agrees_with_brute_force(51, 2500);
}

#[test]
fn more_small_sets_agree_with_brute_force() {
    agrees_with_brute_force(52, 2500);
}

#[test]
fn still_more_small_sets_agree_with_brute_force() {
    agrees_with_brute_force(53, 2500);
}

#[test]
fn the_last_small_sets_agree_with_brute_force() {
    agrees_with_brute_force(54, 2500);
}

/// One design of the collection.
struct Design {
    name: String,
    judge: Judge,
    /// What R says: `0`, `Inf`, `-Inf` or `NA`.
    answers: Vec<String>,
    truth: Option<String>,
}

fn designs() -> Vec<Design> {
    let text = std::fs::read_to_string(repository("testdata/separation/designs.txt")).unwrap();
    let mut designs = Vec::new();
    for part in text.split("\n= ").skip(1) {
        let (head, table) = part.split_once('\n').unwrap();
        let words: Vec<&str> = head.split(' ').collect();
        let mut judge = Judge::new(read_text(&format!("{table}\n")).data);
        judge.bias = words[1] == "intercept";
        designs.push(Design {
            name: words[0].to_owned(),
            judge,
            answers: words[3].split(',').map(str::to_owned).collect(),
            truth: words.get(4).map(|word| (*word).to_owned()),
        });
    }
    designs
}

#[test]
fn every_design_of_the_collection_is_decided_and_r_errs_where_it_is_known_to() {
    let all = designs();
    assert_eq!(all.len(), 250);
    let (mut separated, mut unbounded, mut forced) = (0, 0, 0);
    let (mut called_finite, mut forced_called_finite, mut wrong_sign) = (0, 0, 0);
    for Design { name, judge, answers, truth } in &all {
        let decision = judge.class("1", &never).unwrap();
        if let Some(truth) = truth {
            assert_eq!(decision.verdict.word(), truth, "{name}");
        }
        let found = proved(judge, &decision);
        let estimates = || found.list.iter().map(|(_, _, estimate)| *estimate);
        assert!(estimates().all(|e| e != Estimate::Undecided), "{name}");
        let exists = decision.verdict == Verdict::Overlapping;
        let aliased = estimates().any(|e| e == Estimate::Aliased);
        let all_finite = estimates().all(|e| matches!(e, Estimate::Finite | Estimate::Aliased));
        assert_eq!(exists, all_finite, "{name}");
        if exists || aliased {
            continue;
        }
        separated += 1;
        // Of some designs only the columns are listed.
        let answers = answers.iter().rev();
        for ((_, _, estimate), answer) in found.list.iter().rev().zip(answers) {
            let infinite = *estimate != Estimate::Finite;
            let sign = matches!(estimate, Estimate::PlusInfinity | Estimate::MinusInfinity);
            unbounded += usize::from(infinite);
            forced += usize::from(sign);
            called_finite += usize::from(infinite && answer == "0");
            forced_called_finite += usize::from(sign && answer == "0");
            let against = match estimate {
                Estimate::PlusInfinity => answer == "-Inf",
                Estimate::MinusInfinity => answer == "Inf",
                _ => false,
            };
            wrong_sign += usize::from(against);
        }
    }
    // What is infinite has R's sign, or R has stopped before.
    assert_eq!(wrong_sign, 0);
    // 22 coefficients that diverge along every sequence are called finite by R.
    assert_eq!([separated, unbounded, forced], [153, 480, 323]);
    assert_eq!([called_finite, forced_called_finite], [43, 22]);
}

#[test]
fn aliases_are_in_the_order_of_r() {
    // c = a + b, e = 2 − a, z = 0 everywhere.
    let rows: Vec<Vec<f64>> = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 0), (1, 3)]
        .iter()
        .map(|&(a, b)| [a, b, a + b, 2 - a, 0].map(f64::from).to_vec())
        .collect();
    let labels = ["n", "p", "p", "n", "p", "n", "p"];
    let judge = judge(&rows, &labels);
    let decision = judge.class("p", &never).unwrap();
    let found = proved(&judge, &decision);
    let aliased = |j: usize| found.list[j].2 == Estimate::Aliased;
    let flags: Vec<bool> = (0..6).map(aliased).collect();
    assert_eq!(flags, [false, false, false, true, true, true]);
}

#[test]
fn fewer_rows_than_columns_are_decided_with_short_relations() {
    let rows: Vec<Vec<f64>> = (0..6)
        .map(|i| (0..40).map(|j| f64::from((i * i * 7 + j * j * 3 + i * j) % 11)).collect())
        .collect();
    let judge = judge(&rows, &["a", "b", "a", "b", "b", "a"]);
    let decision = judge.class("a", &never).unwrap();
    assert_eq!(decision.verdict, Verdict::Separable);
    let found = proved(&judge, &decision);
    let aliased = found.list.iter().filter(|(_, _, e)| *e == Estimate::Aliased).count();
    assert_eq!((found.list.len(), aliased), (41, 35));
    let Claim::Coefficients { estimates, .. } = &found.claim else { panic!() };
    assert!(estimates.relations.len() < 5, "{}", estimates.relations.len());
}

#[test]
fn examples_are_decided() {
    let found = |name: &str, positive: &str| {
        let judge = Judge::new(example(name));
        let decision = judge.class(positive, &never).unwrap();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, _, estimate) in proved(&judge, &decision).list {
            *counts.entry(estimate.word()).or_default() += 1;
        }
        counts
    };
    let counts = |list: &[(&'static str, usize)]| list.iter().copied().collect::<BTreeMap<_, _>>();
    assert_eq!(found("iris.csv", "versicolor"), counts(&[("finite", 5)]));
    assert_eq!(found("iris.csv", "setosa"), counts(&[("undetermined", 5)]));
}
