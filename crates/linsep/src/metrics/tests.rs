//! Tests of the table of counts and what follows from it.

use super::*;

fn tally(classes: &str, counts: &[(u32, u32, u64)]) -> Tally {
    let classes: Vec<String> = classes.split(' ').map(String::from).collect();
    let mut tally = Tally::new(&classes);
    for &(truth, predicted, n) in counts {
        (0..n).for_each(|_| tally.add(truth, predicted, &[], None, 1.0));
    }
    tally
}

#[test]
fn counts_rates_and_text_by_hand() {
    let found = tally("no yes ?", &[(0, 0, 99), (1, 1, 48), (1, 0, 2), (2, 0, 1)]).finish();
    assert_eq!((found.rows, found.errors, found.accuracy), (150, 3, 0.98));
    let lines: Vec<Vec<f64>> = (0..3).map(|c| found.confusion.line(c).collect()).collect();
    assert_eq!(lines, [[99.0, 0.0, 0.0], [2.0, 48.0, 0.0], [1.0, 0.0, 0.0]]);
    let [no, yes, rare] = &found.per_class[..] else { panic!() };
    assert_eq!((no.rows, no.precision, no.recall), (99, Some(99.0 / 102.0), Some(1.0)));
    assert_eq!((yes.rows, yes.recall, yes.f1), (50, Some(0.96), Some(96.0 / 98.0)));
    assert_eq!((rare.precision, rare.recall, rare.f1), (None, Some(0.0), Some(0.0)));
    assert_eq!((found.auc, found.log_loss, found.weighted), (None, None, None));
    assert_eq!(found.majority, Some(Majority { class: "no".into(), accuracy: 0.66 }));
    let expected = "\
errors      3 of 150 wrong, accuracy 98.00 % [94.29, 99.32] (95 % Wilson)
balanced    accuracy 65.33 %, MCC 0.9559, kappa 0.9550

true \\ predicted  no  yes  ?
no                99    0  0
yes                2   48  0
?                  1    0  0

class          rows  precision  recall      f1
no               99     0.9706  1.0000  0.9851
yes              50     1.0000  0.9600  0.9796
?                 1          -  0.0000  0.0000
macro mean      150     0.6569  0.6533  0.6549
weighted mean   150     0.9739  0.9800  0.9767
";
    assert_eq!(found.to_text(), expected);
    let many = tally("a b c d e f g h i j k l m n o", &[]).finish();
    assert!(many.to_text().ends_with("\n3 more classes\n"));
    assert_eq!(many.to_text().lines().count(), 31);
    let json = serde_json::to_value(&many).unwrap();
    assert!(json["accuracy"].is_null() && json["per_class"][14]["f1"].is_null());
    assert!(Tally::new(&[]).finish().to_text().starts_with("errors      0 of 0 wrong\n"));
}

#[test]
fn wilson_intervals() {
    let cases = [(147, 150, 0.9429, 0.9932), (5, 10, 0.2366, 0.7634), (0, 10, 0.0, 0.2775)];
    for (successes, n, low, high) in cases {
        let [a, b] = wilson(successes, n);
        assert!((a - low).abs() < 5e-5 && (b - high).abs() < 5e-5, "{successes} of {n}");
        assert!((wilson(n - successes, n)[0] - (1.0 - b)).abs() < 1e-15);
    }
    assert_eq!(wilson(0, 0), [0.0, 1.0]);
}

#[test]
fn auc_is_the_share_of_pairs_won_and_merging_changes_nothing() {
    let mut state = 1u64;
    let mut draw = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    for _ in 0..200 {
        let [mut whole, a, b] = [(); 3].map(|()| tally("- +", &[]));
        let (mut parts, mut scores) = ([a, b], [vec![], vec![]]);
        for _ in 0..draw(30) {
            let (truth, score) = (draw(2), [-1.0, -0.0, 0.0, 0.5, f64::INFINITY][draw(5)]);
            let p = 1.0 / (1.0 + f64::exp(-score));
            let (class, guess, both) = (truth as u32, u32::from(score > 0.0), [1.0 - p, p]);
            for tally in [&mut whole, &mut parts[draw(2)]] {
                tally.add(class, guess, &[score], Some(&both), 1.0);
            }
            scores[truth].push(score);
        }
        let [negative, positive] = &scores;
        let win = |a: f64, b: f64| (f64::from(a > b) + f64::from(a >= b)) / 2.0;
        let wins = positive.iter().flat_map(|&a| negative.iter().map(move |&b| win(a, b)));
        let merged = parts.into_iter().rev().reduce(Tally::merge).unwrap().finish();
        let pairs = negative.len() * positive.len();
        assert_eq!(merged.auc, ratio(wins.sum(), pairs as f64));
        assert_eq!(format!("{merged:?}"), format!("{:?}", whole.finish()));
    }
}

#[test]
fn losses_and_weights() {
    let mut tally = tally("- +", &[]);
    tally.add(1, 1, &[2.0], Some(&[0.75]), 1.0);
    let (small, large) = (-0.75f64.ln(), -1e-15f64.ln());
    assert_eq!(tally.clone().finish().log_loss, Some(small));
    tally.add(0, 1, &[1.0], Some(&[0.0, 1.0]), 3.0);
    let found = tally.clone().finish();
    assert!((found.log_loss.unwrap() - (small + 3.0 * large) / 4.0).abs() < 1e-14);
    assert_eq!((found.accuracy, found.errors), (0.25, 1));
    assert_eq!(found.weighted, Some(Weighted { rows: 4.0, errors: 3.0 }));
    assert_eq!((found.per_class[1].precision, found.auc), (Some(0.25), Some(1.0)));
    tally.add(0, 0, &[f64::NAN], Some(&[f64::NAN, 0.5]), 0.0);
    let found = tally.finish();
    assert_eq!((found.rows, found.auc, found.log_loss), (3, None, None));
}

#[test]
fn whole_weights_are_repeated_rows() {
    let mut state = 7u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for _ in 0..100 {
        let [mut weighted, mut late, mut repeated] = [(); 3].map(|()| tally("- +", &[]));
        for k in 0..draw(20) {
            let (truth, score) = (draw(2) as u32, [-1.0, 0.0, 0.5][draw(3) as usize]);
            // Some rows without a weight come first, and some in another part.
            let weight = if k < 3 { 1 } else { draw(4) };
            let (guess, p) = (u32::from(score > 0.0), 1.0 / (1.0 + f64::exp(-score)));
            let part = if draw(2) == 0 { &mut weighted } else { &mut late };
            part.add(truth, guess, &[score], Some(&[1.0 - p, p]), weight as f64);
            (0..weight).for_each(|_| {
                repeated.add(truth, guess, &[score], Some(&[1.0 - p, p]), 1.0);
            });
        }
        let (found, expected) = (weighted.merge(late).finish(), repeated.finish());
        let rates = |e: &Evaluation| {
            e.per_class.iter().map(|c| (c.support, c.precision, c.recall, c.f1)).collect::<Vec<_>>()
        };
        assert_eq!(rates(&found), rates(&expected));
        assert_eq!(
            found.confusion.line(0).collect::<Vec<_>>(),
            expected.confusion.line(0).collect::<Vec<_>>()
        );
        assert_eq!(format!("{:?}", found.accuracy), format!("{:?}", expected.accuracy));
        assert_eq!(
            (found.accuracy_interval, found.auc, &found.majority),
            (expected.accuracy_interval, expected.auc, &expected.majority)
        );
        let (a, b) = (found.log_loss.unwrap_or(0.0), expected.log_loss.unwrap_or(0.0));
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn fractions_that_add_up_to_whole_numbers_have_no_interval() {
    let mut tally = tally("- +", &[]);
    (0..4).for_each(|_| tally.add(1, 1, &[1.0], None, 0.5));
    let found = tally.finish();
    assert_eq!((found.accuracy, found.accuracy_interval), (1.0, None));
}

#[test]
fn a_model_no_better_than_the_majority_is_told_so() {
    let against = |counts: &[(u32, u32, u64)]| tally("a b", counts).finish().against_majority();
    assert!(against(&[(0, 1, 2), (1, 0, 1), (1, 1, 1)]).unwrap().starts_with("worse than"));
    assert!(against(&[(0, 0, 3), (1, 0, 1)]).unwrap().starts_with("no better than"));
    assert_eq!(against(&[(0, 0, 3), (1, 1, 1)]), None);
    // All of one class, all right: nothing to say.
    assert_eq!(against(&[(0, 0, 3)]), None);
}
