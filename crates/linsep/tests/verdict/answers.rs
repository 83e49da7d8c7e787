//! The verdict on the data sets of `examples/`: what is known of them, each with its proof.

use crate::proofs::{class, example, finding, judge, never, proofs_hold, proved, verdict_of};
use linsep::proof::{Claim, Finding, Scheme};
use linsep::verdict::{Decision, Judge, Verdict, scheme_of};
use std::cell::Cell;

/// Every pair of classes, in the order of the classes.
fn all_pairs(judge: &Judge) -> Vec<Decision> {
    let classes = judge.data.classes();
    let mut decisions = Vec::new();
    for (i, a) in classes.iter().enumerate() {
        for b in &classes[..i] {
            decisions.push(judge.pair(a, b, &never).unwrap());
        }
    }
    decisions
}

/// Every class against the rest.
fn all_rests(judge: &Judge) -> Vec<Decision> {
    judge.data.classes().iter().map(|class| judge.class(class, &never).unwrap()).collect()
}

fn verdicts(decisions: &[Decision]) -> Vec<Verdict> {
    decisions.iter().map(|decision| decision.verdict).collect()
}

#[test]
fn two_of_the_irises_cannot_be_told_apart_and_the_first_can() {
    let judge = Judge::new(example("iris.csv"));
    let pairs = all_pairs(&judge);
    proofs_hold(&judge, &pairs);
    let expected = [Verdict::Separable, Verdict::Separable, Verdict::Overlapping];
    assert_eq!(verdicts(&pairs), expected);
    assert!(pairs.iter().all(|pair| scheme_of(pair) == Scheme::Pair));
    assert!(pairs[2].witness_rows() >= 2 && pairs[2].witness_rows() <= 10);
    let rests = all_rests(&judge);
    proofs_hold(&judge, &rests);
    let expected = [Verdict::Separable, Verdict::Overlapping, Verdict::Overlapping];
    assert_eq!(verdicts(&rests), expected);
    assert!(rests.iter().all(|rest| scheme_of(rest) == Scheme::Rest));
    // The refuted pair settles the joint question with its own rows; the kind says more.
    let joint = judge.joint(&pairs, &never).unwrap();
    let short = judge.clone().with_joint_kind(false).joint(&pairs, &never).unwrap();
    proofs_hold(&judge, &[joint.clone(), short.clone()]);
    assert_eq!((short.verdict, scheme_of(&short)), (Verdict::Inseparable, Scheme::Joint));
    assert!(short.problem.is_none() && short.witness_rows() >= 2);
    assert_eq!((joint.verdict, scheme_of(&joint)), (Verdict::Touching, Scheme::Joint));
}

#[test]
fn a_witness_of_the_irises_is_short_when_the_kind_is_not_asked() {
    let mut judge = Judge::new(example("iris.csv"));
    judge.kind = false;
    let decision = judge.pair("versicolor", "virginica", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Inseparable);
    assert!((2..=6).contains(&decision.witness_rows()), "{}", decision.witness_rows());
    let Claim::Inseparable { witness, .. } = &decision.claim else { panic!() };
    for entry in witness {
        // A header, then the rows: line and row differ by two.
        assert_eq!(entry.line, Some(entry.row + 2));
        assert_ne!(judge.data.label_text(entry.row as usize), "setosa");
    }
}

#[test]
fn the_tumours_are_separable() {
    let judge = Judge::new(example("breast_cancer.csv"));
    assert_eq!(class(&judge, "0"), Verdict::Separable);
    assert_eq!(class(&judge, "1"), Verdict::Separable);
}

#[test]
fn mines_and_rocks_are_separable() {
    let judge = Judge::new(example("sonar.csv"));
    assert_eq!(class(&judge, "1"), Verdict::Separable);
    assert_eq!(class(&judge, "-1"), Verdict::Separable);
}

#[test]
fn every_wine_is_separable_from_the_others_and_so_all_are_jointly() {
    let judge = Judge::new(example("wine.csv"));
    let (pairs, rests) = (all_pairs(&judge), all_rests(&judge));
    proofs_hold(&judge, &pairs);
    proofs_hold(&judge, &rests);
    assert!(verdicts(&pairs).iter().chain(&verdicts(&rests)).all(|v| *v == Verdict::Separable));
    assert_eq!(proved(&judge, judge.joint(&pairs, &never)), Verdict::Separable);
    assert_eq!(proved(&judge, judge.joint(&[], &never)), Verdict::Separable);
}

#[test]
fn genuine_and_forged_banknotes_are_not_separable() {
    let judge = Judge::new(example("banknote.csv"));
    let decision = judge.class("1", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Overlapping);
    assert_eq!(scheme_of(&decision), Scheme::Binary);
}

#[test]
fn sick_and_healthy_hearts_are_not_separable() {
    let judge = Judge::new(example("heart_scale.svm"));
    assert_eq!(class(&judge, "1"), Verdict::Overlapping);
}

#[test]
fn every_pair_of_digits_is_separable() {
    let judge = Judge::new(example("digits.csv"));
    let pairs = all_pairs(&judge);
    assert_eq!(pairs.len(), 45);
    proofs_hold(&judge, &pairs);
    assert!(pairs.iter().all(|pair| pair.verdict == Verdict::Separable));
}

/// The sampled rounds may refute a9a by more rows; two equal ones of both labels are enough, and a
/// weak plane shows that the classes only touch.
#[test]
fn adults_touch_and_some_are_equal_on_both_sides() {
    let judge = Judge::new(example("a9a.svm.gz"));
    let decision = judge.class("1", &never).unwrap();
    assert_eq!(decision.verdict, Verdict::Touching);
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(decision.witness_rows(), 2);
    let escape = decision.escape.as_ref().unwrap();
    assert!(!escape.rows.is_empty() && escape.rows.len() < 32_561);
    assert!(!escape.coefficients.is_empty());
}

#[test]
fn eights_and_nines_only_touch_the_other_digits() {
    let judge = Judge::new(example("digits.csv"));
    for digit in ["8", "9"] {
        assert_eq!(class(&judge, digit), Verdict::Touching, "{digit}");
    }
    for digit in ["0", "1"] {
        assert_eq!(class(&judge, digit), Verdict::Separable, "{digit}");
    }
    for digit in ["2", "3", "4", "5", "6", "7"] {
        assert_ne!(class(&judge, digit), Verdict::Inseparable, "the kind of {digit} is told");
    }
}

#[test]
fn one_plane_for_each_digit_separates_all_of_them_at_once() {
    let judge = Judge::new(example("digits.csv"));
    let joint = judge.joint(&[], &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&joint));
    assert_eq!(joint.verdict, Verdict::Separable);
    let Claim::JointSeparable { planes } = &joint.claim else { panic!() };
    let classes: Vec<&str> = planes.iter().map(|plane| plane.class.as_str()).collect();
    assert_eq!(classes, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
    let width = |weights: &Vec<_>| weights.len() == 64;
    assert!(planes.iter().all(|plane| plane.weights.as_ref().is_none_or(width)));
    assert!(planes.iter().all(|plane| plane.bias.is_some()));
}

#[test]
fn a_search_that_is_stopped_at_any_time_says_only_what_it_proved() {
    let iris = Judge::new(example("iris.csv"));
    let digits = Judge::new(example("digits.csv"));
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i), f64::from(i) + 1e-15]).collect();
    let labels: Vec<&str> = (0..40).map(|i| ["a", "b"][i % 2]).collect();
    let hairline = judge(&rows, &labels);
    let mut undecided = 0;
    for (judge, positive) in
        [(&iris, "versicolor"), (&digits, "8"), (&hairline, "a"), (&iris, "setosa")]
    {
        let full = judge.class(positive, &never).unwrap().verdict;
        for limit in [0, 1, 2, 3, 5, 8, 13, 50, 1_000_000] {
            let asked = Cell::new(0);
            let stop = || asked.replace(asked.get() + 1) >= limit;
            let decision = judge.class(positive, &stop).unwrap();
            assert_eq!(verdict_of(&decision.claim), decision.verdict);
            match (decision.verdict, finding(judge, &decision.claim)) {
                (Verdict::Undecided, Finding::Nothing(reason)) => assert!(reason.len() > 10),
                (_, Finding::Holds(_)) => (),
                (verdict, other) => panic!("{verdict:?}: {other:?}"),
            }
            match decision.verdict {
                Verdict::Undecided => undecided += 1,
                Verdict::Inseparable => assert_ne!(full, Verdict::Separable),
                verdict => assert_eq!(verdict, full),
            }
            assert!(limit < 1_000_000 || decision.verdict == full);
        }
    }
    assert!(undecided >= 4, "{undecided}");
}
