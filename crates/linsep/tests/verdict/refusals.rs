//! The checker refuses claims that are not true: every kind of claim with one multiplier, one row or one
//! weight altered. The same is done to claims of the judge and to claims made by hand.

use crate::claims::{dense, for_planes, for_witness, negative};
use crate::proven::{Proven, by_judge, by_reading, hand_made};
use crate::refused::{
    PLANES, Tally, WITNESSES, all_kinds, clearly_wrong, everything, excess, sign, weights,
};
use linsep::proof::{Claim, ExactNumber, Finding, Rows};
use std::collections::BTreeSet;

/// Every multiplier of the claim, one after the other, replaced by `new`.
fn each_lambda(case: &Proven, new: impl Fn(&str) -> String) -> Vec<Proven> {
    let mut all = Vec::new();
    let count = {
        let mut count = 0;
        for_witness(&mut case.claim().clone(), |w| count = w.len());
        if let Claim::JointInseparable { witness } = case.claim() {
            count = witness.len();
        }
        count
    };
    for k in 0..count {
        let mut altered = case.clone();
        let claim = &mut altered.file.claims[0];
        for_witness(claim, |w| w[k].lambda = new(&w[k].lambda));
        if let Claim::JointInseparable { witness } = claim {
            witness[k].lambda = new(&witness[k].lambda);
        }
        all.push(altered);
    }
    all
}

#[test]
fn every_claim_holds_before_it_is_altered_and_no_reason_is_a_proof() {
    let mut kinds = BTreeSet::new();
    for case in by_judge().into_iter().chain(by_reading()).chain(hand_made()) {
        match (case.check(), case.kind()) {
            (Finding::Nothing(_), "unproved") => (),
            (Finding::Holds(_), kind) => drop(kinds.insert(kind)),
            (other, kind) => panic!("{} ({kind}): {other:?}", case.name),
        }
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all_kinds());
}

#[test]
fn a_multiplier_that_is_changed_is_refused() {
    let mut tally = Tally::default();
    for case in everything() {
        for wrong in ["0", "-1", "", "1.5", "1e3", "x", " 1", "+1", "1/2"] {
            for altered in each_lambda(&case, |_| wrong.to_owned()) {
                tally.refused(&altered, &format!("lambda {wrong:?}"));
            }
        }
        for altered in each_lambda(&case, |l| format!("-{l}")) {
            tally.refused(&altered, "lambda negated");
        }
    }
    tally.covers(&WITNESSES);
    let mut tally = Tally::default();
    for case in everything() {
        let longer = each_lambda(&case, |l| format!("{l}7"));
        let more = each_lambda(&case, |l| (l.parse::<u128>().unwrap_or(0) + 1).to_string());
        for (k, altered) in longer.into_iter().chain(more).enumerate() {
            let applies = match case.claim() {
                // A side with one row alone has the same blend whatever its weight.
                Claim::GeometricMargin { problem, support, .. } => {
                    let side =
                        |k: usize| sign(problem, &case, support[k % support.len()].row as usize);
                    (0..support.len()).filter(|&other| side(other) == side(k)).count() > 1
                }
                // Another blend may be as short.
                Claim::Bracket { .. } => excess(&altered) > 1.0 + 1e-9,
                _ => true,
            };
            if applies {
                tally.refused(&altered, "another lambda");
            }
        }
    }
    tally.covers(&WITNESSES);
}

#[test]
fn a_margin_that_is_changed_is_refused() {
    let mut tally = Tally::default();
    for case in everything() {
        let changes: [&dyn Fn(&str) -> String; 6] = [
            &|p| format!("{p}1"),
            &|p| format!("-{p}"),
            &|p| format!("1{p}"),
            &|_| "0".to_owned(),
            &|_| String::new(),
            &|p| p.replace('/', "/-"),
        ];
        for change in changes {
            let mut altered = case.clone();
            match &mut altered.file.claims[0] {
                Claim::Margin { gamma2, .. } | Claim::GeometricMargin { gamma2, .. }
                    if change(gamma2) != *gamma2 =>
                {
                    *gamma2 = change(gamma2);
                }
                _ => continue,
            }
            tally.refused(&altered, "another margin");
        }
        // Rows with another constant have another blend.
        if let Claim::Margin { constant, .. } = case.claim() {
            let mut altered = case.clone();
            let new = format!("{constant}1");
            if let Claim::Margin { constant, .. } = &mut altered.file.claims[0] {
                *constant = new;
            }
            tally.refused(&altered, "another constant");
        }
    }
    tally.covers(&["margin", "geometric-margin"]);
}

#[test]
fn a_row_that_is_left_out_or_stands_twice_is_refused() {
    let mut tally = Tally::default();
    for case in everything() {
        let alter = |change: &dyn Fn(usize) -> usize| {
            let mut altered = case.clone();
            let claim = &mut altered.file.claims[0];
            for_witness(claim, |w| {
                *w = (0..w.len() + 1).map(change).filter_map(|k| w.get(k).cloned()).collect()
            });
            if let Claim::JointInseparable { witness: w } = claim {
                *w = (0..w.len() + 1).map(change).filter_map(|k| w.get(k).cloned()).collect();
            }
            altered
        };
        if !WITNESSES.contains(&case.kind()) {
            continue;
        }
        // The first row once more at the end: a joint witness may have it twice, but then the sum is
        // another.
        let twice = alter(&|k| if k == 0 { 0 } else { k - 1 });
        tally.refused(&twice, "the first row twice");
        let without = alter(&|k| k + 1);
        let applies = match case.claim() {
            Claim::Bracket { .. } => excess(&without) > 1.0 + 1e-9,
            _ => true,
        };
        if applies {
            tally.refused(&without, "without the first row");
        }
    }
    tally.covers(&WITNESSES);
}

#[test]
fn a_weight_that_turns_a_sign_is_refused() {
    let mut tally = Tally::default();
    for case in everything() {
        let planes = weights(&case).len();
        for plane in 0..planes {
            let class = weights(&case)[plane].0.clone();
            let row_of_class =
                |row: &usize| class.as_ref().is_none_or(|c| case.table.labels[*row] == *c);
            for row in 0..case.table.rows.len() {
                let sign = case.claim().problem().map_or(1.0, |p| sign(p, &case, row));
                if sign == 0.0 || !row_of_class(&row) || !case.table.takes_part(row as u64) {
                    continue;
                }
                for (j, &x) in case.table.rows[row].iter().enumerate().filter(|(_, x)| **x != 0.0) {
                    let mut altered = case.clone();
                    set_weight(&mut altered, plane, Some(j), -sign * x.signum() * 2f64.powi(80));
                    tally.refused(&altered, "a weight");
                }
                if case.file.bias {
                    let mut altered = case.clone();
                    set_weight(&mut altered, plane, None, -sign * 2f64.powi(80));
                    tally.refused(&altered, "the bias");
                }
            }
        }
    }
    tally.covers(&PLANES);
}

#[test]
fn a_weight_with_its_sign_turned_is_refused_where_a_row_changes_sides() {
    let mut tally = Tally::default();
    for case in everything() {
        for plane in 0..weights(&case).len() {
            for column in (0..case.table.width()).map(Some).chain([None]) {
                let mut altered = case.clone();
                change_weight(&mut altered, plane, column, negative);
                if clearly_wrong(&altered) {
                    tally.refused(&altered, "a weight negated");
                }
            }
        }
    }
    tally.covers(&PLANES);
}

/// Sets a weight of a plane, or its bias.
fn set_weight(case: &mut Proven, plane: usize, column: Option<usize>, value: f64) {
    change_weight(case, plane, column, |_| ExactNumber::Binary64(value));
}

fn change_weight(
    case: &mut Proven,
    plane: usize,
    column: Option<usize>,
    new: impl Fn(&ExactNumber) -> ExactNumber,
) {
    let width = case.table.width();
    let mut at = 0;
    for_planes(&mut case.file.claims[0], |_, exact| {
        if at == plane {
            let mut numbers = dense(exact, width);
            match column {
                Some(j) => numbers[j] = new(&numbers[j]),
                None => exact.bias = exact.bias.as_ref().map(&new),
            }
            (exact.weights, exact.sparse) = (Some(numbers), None);
        }
        at += 1;
    });
}
