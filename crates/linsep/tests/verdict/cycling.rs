//! The perceptron that notices when it goes round: it agrees with the search wherever it decides, and
//! says why where it does not.

use crate::files::read_text;
use crate::proofs::{example, finding, judge, never, proofs_hold};
use linsep::proof::{Claim, Finding};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Cycle, Decision, Judge, Limit, Method, Verdict};
use std::cell::Cell;

fn cycling(mut judge: Judge) -> Judge {
    judge.by = Method::CYCLING;
    judge
}

fn cycle(decision: &Decision) -> Cycle {
    decision.cycle.expect("a run of the perceptron")
}

#[test]
fn xor_is_refuted_by_one_pass_that_comes_back_to_zero() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let judge = cycling(judge(&rows, &["0", "1", "1", "0"]));
    let decision = judge.class("1", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!((decision.verdict, decision.witness_rows()), (Verdict::Inseparable, 4));
    let cycle = cycle(&decision);
    assert_eq!((cycle.epochs, cycle.corrections, cycle.scale), (1, 4, 1));
    assert_eq!((cycle.length, cycle.corrections_of_cycle), (Some(1), 4));
}

#[test]
fn and_ends_with_the_plane_and_the_corrections_of_the_textbook() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let judge = cycling(judge(&rows, &["0", "0", "0", "1"]));
    let decision = judge.class("1", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Separable);
    // docs/theory/theorems.md, section 7: 18 corrections, ending in −4 + 3 x1 + 2 x2.
    assert_eq!((cycle(&decision).corrections, cycle(&decision).length), (18, None));
    let Claim::Separable { plane, .. } = &decision.claim else { panic!() };
    let text = serde_json::to_value(plane).unwrap();
    assert_eq!(text["bias"], -4.0);
    assert_eq!(text["weights"], serde_json::json!([3.0, 2.0]));
}

#[test]
fn decimals_and_the_constant_are_made_whole_by_one_scale() {
    let text = "u,v,label\n0.25,1,a\n0.5,3.1,a\n-0.25,-1,b\n";
    let judge = cycling(Judge::new(read_text(text).data));
    let decision = judge.class("a", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(cycle(&decision).scale, 100);
}

#[test]
fn two_of_the_irises_are_refuted_with_the_bias_at_ten() {
    let judge = cycling(Judge::new(example("iris.csv")));
    let decision = judge.pair("versicolor", "virginica", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Inseparable);
    assert!((2..=6).contains(&decision.witness_rows()));
    let cycle = cycle(&decision);
    assert_eq!(cycle.scale, 10);
    assert!(cycle.length.is_some() && cycle.epochs < 1_000_000);
    let decision = judge.class("setosa", &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Separable);
    // All classes at once are searched, with what the pairs have refuted.
    let pair = judge.pair("versicolor", "virginica", &never).unwrap();
    let joint = judge.joint(&[pair], &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&joint));
    assert_eq!((joint.verdict, joint.cycle), (Verdict::Touching, None));
}

#[test]
fn tiny_sets_are_decided_as_by_the_search() {
    let mut stream = Stream::new(11, Purpose::Generate(31));
    let (mut separable, mut refuted) = (0, 0);
    for set in 0..800 {
        let (count, width) = (3 + stream.below(7) as usize, 1 + stream.below(3) as usize);
        let rows: Vec<Vec<f64>> = (0..count)
            .map(|_| (0..width).map(|_| (stream.below(9) as f64 - 4.0) / 2.0).collect())
            .collect();
        let mut labels: Vec<&str> =
            (0..count).map(|_| ["a", "b"][stream.below(2) as usize]).collect();
        (labels[0], labels[1]) = ("a", "b");
        let mut search = judge(&rows, &labels);
        search.bias = set % 3 > 0;
        search.kind = false;
        let by_cycling = cycling(search.clone());
        let (found, known) =
            (by_cycling.class("a", &never).unwrap(), search.class("a", &never).unwrap());
        assert_eq!(found.verdict, known.verdict, "{rows:?} {labels:?}");
        proofs_hold(&by_cycling, std::slice::from_ref(&found));
        assert_eq!(cycle(&found).length.is_some(), found.verdict == Verdict::Inseparable);
        match found.verdict {
            Verdict::Separable => separable += 1,
            _ => refuted += 1,
        }
    }
    assert!(separable > 100 && refuted > 100, "{separable} {refuted}");
}

/// Why the decision is open; whatever it still claims must hold.
fn limit(judge: &Judge, stop: &dyn Fn() -> bool) -> (Limit, Decision) {
    let decision = judge.class("a", stop).unwrap();
    assert_eq!(decision.verdict, Verdict::Undecided);
    match finding(judge, &decision.claim) {
        Finding::Holds(_) => assert!(matches!(decision.claim, Claim::Bracket { .. })),
        Finding::Nothing(reason) => assert_eq!(reason, decision.limit.unwrap().words()),
        other => panic!("{other:?}"),
    }
    (decision.limit.unwrap(), decision)
}

#[test]
fn a_run_that_may_not_go_on_is_undecided_and_says_why() {
    // Needs some passes: 41 rows a hair apart.
    let rows: Vec<[f64; 1]> = (0..41).map(|i| [f64::from(i)]).collect();
    let labels: Vec<&str> = (0..41).map(|i| if i < 20 { "a" } else { "b" }).collect();
    let mut short = judge(&rows, &labels);
    short.by = Method::Cycling { epochs: 3 };
    let (reason, decision) = limit(&short, &never);
    assert_eq!((reason, cycle(&decision).epochs), (Limit::Epochs, 3));
    assert!(matches!(decision.claim, Claim::Bracket { .. }), "corrections bound the margin");
    short.by = Method::Cycling { epochs: 0 };
    assert_eq!(limit(&short, &never).0, Limit::Epochs);
    let asked = Cell::new(0);
    let stop = || asked.replace(asked.get() + 1) >= 2;
    let (reason, decision) = limit(&cycling(short), &stop);
    assert_eq!((reason, cycle(&decision).epochs), (Limit::Stopped, 2));
}

#[test]
fn numbers_that_do_not_fit_are_refused_and_long_ones_that_do_are_exact() {
    let apart = judge(&[[1e300], [1e-300]], &["a", "b"]);
    assert_eq!(limit(&cycling(apart), &never).0, Limit::Overflow);
    // Whole numbers near the end of 64 bits: their products need 128.
    let large = 2f64.powi(59);
    let rows = [[large, 1.0], [large, 3.0], [-large, 2.0], [-large, 5.0]];
    let wide = cycling(judge(&rows, &["a", "a", "b", "b"]));
    let decision = wide.class("a", &never).unwrap();
    proofs_hold(&wide, std::slice::from_ref(&decision));
    assert_eq!(decision.verdict, Verdict::Separable);
    // The second correction would bring a weight to 2^63.
    let largest = 2f64.powi(62);
    let rows = [[largest, largest], [largest, -largest - 1024.0], [-1.0, 0.0]];
    let growing = cycling(judge(&rows, &["a", "a", "b"]));
    assert_eq!(limit(&growing, &never).0, Limit::Overflow);
}
