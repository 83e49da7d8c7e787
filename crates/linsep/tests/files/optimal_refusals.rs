//! The checker of the claim `optimal`: honest claims of every loss, intercept and penalty are accepted,
//! and whatever makes one false is refused. What is true is computed by a slow solver and plain sums
//! that share nothing with the checker.

use crate::optimal::{Numbers, Trial, vectors};
use linsep::proof::{
    Basis, BiasInterval, Claim, Entries, Finding, Intercept, Loss, Objective, Optimality, Planes,
    Reading, ReadingField, RowBuffer, Rows, WeightLimit, check_claim,
};
use proptest::prelude::*;

const LOSSES: [Loss; 6] = [
    Loss::Logistic,
    Loss::Hinge,
    Loss::SquaredHinge,
    Loss::Softmax,
    Loss::CrammerSinger,
    Loss::Squared,
];

/// Multiply and add (Knuth, MMIX).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// Tenths from −3 to 3.
    fn tenth(&mut self) -> f64 {
        (self.below(61) as f64 - 30.0) / 10.0
    }
}

struct Case {
    words: String,
    trial: Trial,
    names: Vec<&'static str>,
    objective: Objective,
    reading: ReadingField,
    claim: Claim,
}

impl Case {
    fn finding(&self, claim: &Claim, trial: &Trial) -> Finding {
        check_claim(claim, trial, &self.reading, true, 1)
    }

    fn holds(&self, claim: &Claim, trial: &Trial) -> bool {
        matches!(self.finding(claim, trial), Finding::Holds(_))
    }

    /// Whether a claim is true by plain sums; none where it is too close to tell.
    fn truth(&self, claim: &Claim, trial: &Trial) -> Option<bool> {
        let Claim::Optimal { planes, optimality } = claim else { panic!("another claim") };
        let numbers = Numbers::new(trial, &self.names, &optimality.objective);
        let (shown, _) = numbers.shown(&vectors(planes), &optimality.dual, [0.0; 2]);
        let free = optimality.objective.intercept == Intercept::Free && self.names.len() > 2;
        let doubt = if free { 1e-7 } else { 1e-12 } * shown.size;
        let spare = (optimality.primal - shown.primal).min(shown.bound - optimality.bound);
        if spare.abs() < doubt { None } else { Some(spare > 0.0) }
    }

    fn optimality(&self) -> &Optimality {
        let Claim::Optimal { optimality, .. } = &self.claim else { panic!("another claim") };
        optimality
    }

    /// The claim with a part of it changed.
    fn with(&self, change: impl FnOnce(&mut Optimality)) -> Claim {
        let mut claim = self.claim.clone();
        if let Claim::Optimal { optimality, .. } = &mut claim {
            change(optimality);
        }
        claim
    }

    fn refused(&self, claim: &Claim, what: &str) {
        let found = self.finding(claim, &self.trial);
        assert!(matches!(found, Finding::Fails(_)), "{what}: {}: {found:?}", self.words);
    }
}

/// Every loss with every intercept and penalty; weights, scales, limits, readings and a basis in turn.
fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    for loss in LOSSES {
        for intercept in [Intercept::Free, Intercept::Penalised, Intercept::None] {
            for (l1, l2) in [(0.0, 1.0), (0.0, 0.05), (0.8, 0.0), (0.3, 0.5)] {
                all.push(case(loss, intercept, (l1, l2), all.len()));
            }
        }
    }
    all
}

fn case(loss: Loss, intercept: Intercept, (l1, l2): (f64, f64), k: usize) -> Case {
    let joint = matches!(loss, Loss::Softmax | Loss::CrammerSinger);
    let names: Vec<&str> = if joint { vec!["a", "b", "c"] } else { vec!["no", "yes"] };
    let mut dice = Dice(k as u64 * 7919 + 17);
    let (n, width) = (12 + dice.below(20) as usize, 1 + dice.below(3) as usize);
    let mut trial = Trial { rows: vec![], labels: vec![], weights: vec![], basis: None };
    for i in 0..n {
        let class = if i < names.len() { i } else { dice.below(names.len() as u64) as usize };
        let mut row: Vec<f64> = (0..width).map(|_| dice.tenth()).collect();
        row[class % width] += class as f64;
        trial.rows.push(row.iter().map(|x| (x * 10.0).round() / 10.0).collect());
        trial.labels.push(names[class].to_owned());
        trial.weights.push(if k % 3 == 1 { [1.0, 0.5, 2.25, 0.0][i % 4] } else { 1.0 });
    }
    let mut columns = width;
    if k % 5 == 2 {
        trial.basis = Some(Basis::Terms(vec![vec![(0, 2)]]));
        columns += 1;
    }
    let scale = |j: usize| [1.0, 0.7, 1.9, 3.0, 0.2][(j + k) % 5];
    let limit = |column| {
        WeightLimit::new(
            column,
            [Some(-0.1), None, Some(0.05)][k % 3],
            [Some(0.3), Some(0.2), None][k % 3],
        )
    };
    let objective = Objective::new(loss, [1.0, 0.3, 2.5][k % 3])
        .with_l2(l2)
        .with_l1(l1)
        .with_intercept(intercept)
        .with_class_weights(if k % 4 == 3 { vec![(names[1].to_owned(), 1.75)] } else { vec![] })
        .with_scale(if k % 2 == 1 { (0..columns).map(scale).collect() } else { vec![] })
        .with_limits(if k % 7 < 3 && !joint { vec![limit(0)] } else { vec![] });
    let default = if k.is_multiple_of(2) { Reading::Decimal } else { Reading::Binary64 };
    let reading = ReadingField::new(default, vec![]);
    let numbers = Numbers::new(&trial, &names, &objective);
    let mu = if matches!(loss, Loss::Hinge | Loss::CrammerSinger) { 0.02 } else { 0.0 };
    let planes = numbers.solve(mu, 6000);
    let claim = numbers.claim(&planes, mu, 1e-11);
    let words = format!("{loss:?} {intercept:?} l1 {l1} l2 {l2}, case {k}");
    Case { words, trial, names, objective, reading, claim }
}

#[test]
fn honest_claims_are_accepted_and_close() {
    for case in cases() {
        let found = case.finding(&case.claim, &case.trial);
        assert!(found.holds(), "{}: {found:?}", case.words);
        let smooth = !matches!(case.objective.loss, Loss::Hinge | Loss::CrammerSinger);
        let most = if smooth { 1e-5 } else { 0.05 };
        assert!(case.optimality().gap < most, "{}: gap {}", case.words, case.optimality().gap);
        for threads in [2, 3, 8] {
            let again = check_claim(&case.claim, &case.trial, &case.reading, true, threads);
            assert_eq!(again, found, "{}", case.words);
        }
    }
}

/// What is changed in a claim or in its data.
type Change = (String, Claim, Trial);

/// Weights, labels, values, row weights, multipliers and settings, each moved a little.
fn changes(case: &Case) -> Vec<Change> {
    let mut all = Vec::new();
    let Claim::Optimal { planes, .. } = &case.claim else { panic!("another claim") };
    let width = vectors(planes)[0].len();
    for plane in 0..vectors(planes).len() {
        for column in 0..width {
            for step in [1e-3, -1e-3, 1e-6, -1e-6, 0.1] {
                let claim = with_weight(&case.claim, plane, column, step);
                all.push((format!("weight {plane} {column} {step}"), claim, case.trial.clone()));
            }
        }
    }
    for row in 0..case.trial.rows.len() {
        let mut trial = case.trial.clone();
        let at = case.names.iter().position(|name| *name == trial.labels[row]).unwrap();
        trial.labels[row] = case.names[(at + 1) % case.names.len()].to_owned();
        all.push((format!("label {row}"), case.claim.clone(), trial));
        let mut trial = case.trial.clone();
        trial.rows[row][0] += [0.5, -0.25, 1e-3][row % 3];
        all.push((format!("value {row}"), case.claim.clone(), trial));
        let mut trial = case.trial.clone();
        trial.weights[row] *= 1.01;
        all.push((format!("row weight {row}"), case.claim.clone(), trial));
    }
    let Optimality { dual, .. } = case.optimality();
    for at in 0..dual.alpha.len() {
        let claim = case.with(|claimed| claimed.dual.alpha[at].1 *= 0.9);
        all.push((format!("alpha {at}"), claim, case.trial.clone()));
    }
    for at in (0..dual.shares.len()).filter(|at| !dual.shares[*at].1.is_empty()) {
        let claim = case.with(|claimed| claimed.dual.shares[at].1[0].1 *= 0.7);
        all.push((format!("share {at}"), claim, case.trial.clone()));
    }
    type Change = fn(&mut Objective);
    let settings: [(&str, Change); 6] = [
        ("c", |objective| objective.c *= 1.001),
        ("less c", |objective| objective.c *= 0.999),
        ("l1", |objective| objective.l1 = objective.l1 * 1.01 + 1e-4),
        ("l2", |objective| objective.l2 *= 1.01),
        ("class weights", |objective| objective.class_weights.clear()),
        ("scale", |objective| objective.scale.iter_mut().for_each(|scale| *scale *= 1.01)),
    ];
    for (name, change) in settings {
        let claim = case.with(|claimed| {
            change(&mut claimed.objective);
            let l2 = claimed.objective.l2;
            claimed.radius =
                (l2 > 0.0).then(|| (2.0 * (claimed.primal - claimed.bound) / l2).sqrt());
        });
        all.push((name.to_owned(), claim, case.trial.clone()));
    }
    all
}

fn with_weight(claim: &Claim, plane: usize, column: usize, step: f64) -> Claim {
    let mut claim = claim.clone();
    let Claim::Optimal { planes, .. } = &mut claim else { panic!("another claim") };
    let (weights, bias) = match planes {
        Planes::Two { plane, .. } => (&mut plane.weights, &mut plane.bias),
        Planes::Each(planes) => {
            let plane = &mut planes[plane];
            (&mut plane.weights, &mut plane.bias)
        }
    };
    let all = weights.iter_mut().flatten().chain(bias.iter_mut());
    if let Some(weight) = all.into_iter().nth(column) {
        *weight += step;
    }
    claim
}

/// Whether the weights are such that the objective allows them at all.
fn is_allowed(claim: &Claim) -> bool {
    let Claim::Optimal { planes, optimality } = claim else { panic!("another claim") };
    let objective = &optimality.objective;
    vectors(planes).iter().all(|plane| {
        let (bias, weights) = plane.split_last().unwrap();
        let within = |limit: &WeightLimit| {
            let weight = weights[limit.column as usize];
            limit.least.is_none_or(|least| least <= weight)
                && limit.most.is_none_or(|most| weight <= most)
        };
        objective.limits.iter().all(within)
            && (*bias == 0.0 || objective.intercept != Intercept::None)
    })
}

/// Whether every multiplier is in its domain.
fn is_in_domain(case: &Case, claim: &Claim, trial: &Trial) -> bool {
    let Claim::Optimal { optimality, .. } = claim else { panic!("another claim") };
    let Objective { c, class_weights, loss, .. } = &optimality.objective;
    let fits = |(row, alpha): &(u64, f64)| {
        let label = &trial.labels[*row as usize];
        let factor = class_weights.iter().find(|(name, _)| name == label).map_or(1.0, |f| f.1);
        let most = c * trial.weights[*row as usize] * factor;
        matches!(loss, Loss::SquaredHinge | Loss::Squared) || *alpha <= most
    };
    // The own class has no share of its own in the list.
    let names = |(row, shares): &(u64, Vec<(u32, f64)>)| {
        shares.iter().all(|(k, _)| case.names[*k as usize] != trial.labels[*row as usize])
    };
    optimality.dual.alpha.iter().all(fits) && optimality.dual.shares.iter().all(names)
}

#[test]
fn changed_claims_are_accepted_just_when_they_are_still_true() {
    let (mut refused, mut accepted, mut close) = (0, 0, 0);
    for case in cases() {
        let mut refused_here = 0;
        for (what, claim, trial) in changes(&case) {
            let truth = match is_allowed(&claim) && is_in_domain(&case, &claim, &trial) {
                true => case.truth(&claim, &trial),
                false => Some(false),
            };
            // A value that is moved may have no short decimal; such data is refused elsewhere.
            match (truth, case.holds(&claim, &trial)) {
                (Some(truth), found) => {
                    assert_eq!(found, truth, "{what} in {}", case.words);
                    refused_here += i32::from(!found);
                    accepted += i32::from(found);
                }
                (None, _) => close += 1,
            }
        }
        assert!(refused_here > 20, "{}: {refused_here} changes refused", case.words);
        refused += refused_here;
    }
    assert!(
        refused > 4000 && accepted > 100,
        "{refused} refused, {accepted} accepted, {close} close"
    );
    assert!(close < (refused + accepted) / 10, "{close} of {refused} too close to tell");
}

#[test]
fn numbers_that_say_too_much_are_refused() {
    for case in cases() {
        // Free biases of more classes leave a choice of the mixture, which the plain sums make otherwise.
        let free = case.objective.intercept == Intercept::Free && case.names.len() > 2;
        let doubt = if free { 1e-6 } else { 1e-9 } * case.optimality().primal;
        case.refused(&case.with(|claimed| claimed.primal -= doubt), "primal");
        case.refused(
            &case.with(|claimed| {
                claimed.bound += doubt;
                claimed.primal += doubt;
            }),
            "bound",
        );
        case.refused(&case.with(|claimed| claimed.gap *= 1.0 - 1e-12), "gap");
        if let Some(radius) = case.optimality().radius {
            case.refused(
                &case.with(|claimed| claimed.radius = Some(radius * (1.0 - 1e-12))),
                "radius",
            );
            case.refused(&case.with(|claimed| claimed.radius = None), "no radius");
        } else {
            case.refused(&case.with(|claimed| claimed.radius = Some(1e9)), "a radius");
        }
        // Looser numbers are true as well.
        let looser = case.with(|claimed| {
            claimed.primal *= 1.25;
            claimed.bound *= 0.5;
            claimed.gap = 100.0;
            claimed.radius = claimed.radius.map(|_| 1e9);
        });
        assert!(case.holds(&looser, &case.trial), "{}", case.words);
    }
}

#[test]
fn what_no_correct_writer_makes_is_refused() {
    for case in cases() {
        let joint = case.names.len() > 2;
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            case.refused(&case.with(|claimed| claimed.primal = bad), "primal");
            case.refused(&case.with(|claimed| claimed.bound = bad), "bound");
            case.refused(&case.with(|claimed| claimed.gap = bad), "gap");
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
            case.refused(&case.with(|claimed| claimed.objective.c = bad), "c");
            let weights = vec![(case.names[0].to_owned(), bad)];
            case.refused(&case.with(|claimed| claimed.objective.class_weights = weights), "class");
            let scale = vec![bad; 5];
            case.refused(&case.with(|claimed| claimed.objective.scale = scale), "scale");
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            case.refused(&case.with(|claimed| claimed.objective.l1 = bad), "l1");
            case.refused(&case.with(|claimed| claimed.objective.l2 = bad), "l2");
        }
        let nothing = |claimed: &mut Optimality| {
            (claimed.objective.l1, claimed.objective.l2, claimed.radius) = (0.0, 0.0, None);
            claimed.objective.limits.clear();
        };
        case.refused(&case.with(nothing), "no penalty");
        let unknown = vec![("nobody".to_owned(), 1.0)];
        case.refused(&case.with(|claimed| claimed.objective.class_weights = unknown), "class");
        let twice = vec![(case.names[0].to_owned(), 1.0); 2];
        case.refused(&case.with(|claimed| claimed.objective.class_weights = twice), "class");
        for loss in LOSSES {
            let other = matches!(loss, Loss::Softmax | Loss::CrammerSinger) != joint;
            if other {
                case.refused(&case.with(|claimed| claimed.objective.loss = loss), "loss");
            }
        }
        let past = case.trial.rows.len() as u64;
        for row in [past, u64::MAX] {
            match joint {
                true => case.refused(&case.with(|c| c.dual.shares.push((row, vec![]))), "row"),
                false => case.refused(&case.with(|c| c.dual.alpha.push((row, 0.0))), "row"),
            }
        }
        if joint {
            let own = case.names.iter().position(|name| *name == case.trial.labels[0]).unwrap();
            let other = u32::from(own == 0);
            for shares in [
                vec![(own as u32, 0.1)],
                vec![(other, 1.1)],
                vec![(other, -0.1)],
                vec![(other, f64::NAN)],
                vec![(7, 0.1)],
                vec![(other, 0.1), (other, 0.1)],
                (0..3).filter(|k| *k != own as u32).map(|k| (k, 0.6)).collect(),
            ] {
                let claim = case.with(|claimed| claimed.dual.shares = vec![(0, shares.clone())]);
                case.refused(&claim, "shares");
            }
            case.refused(&case.with(|c| c.dual.alpha.push((0, 0.0))), "alpha");
            case.refused(&case.with(|c| c.bias = Some(interval(-1e9, 1e9))), "interval");
        } else {
            // The squared loss has multipliers of either sign.
            let least = if case.objective.loss == Loss::Squared { -1e101 } else { -1e-9 };
            for bad in [least, f64::NAN, f64::INFINITY, 1e300] {
                case.refused(&case.with(|claimed| claimed.dual.alpha = vec![(0, bad)]), "alpha");
            }
            let twice = vec![(0, 0.0), (0, 0.0)];
            case.refused(&case.with(|claimed| claimed.dual.alpha = twice), "alpha");
            case.refused(&case.with(|c| c.dual.shares.push((0, vec![]))), "shares");
            if case.objective.intercept != Intercept::Free {
                case.refused(&case.with(|c| c.bias = Some(interval(-1e9, 1e9))), "interval");
            }
        }
    }
}

fn interval(least: f64, most: f64) -> BiasInterval {
    BiasInterval::new(least, most, [0.01, 0.01])
}

#[test]
fn the_bias_is_where_the_interval_says() {
    let mut count = 0;
    for case in cases() {
        let free = case.objective.intercept == Intercept::Free && case.names.len() == 2;
        if !free {
            continue;
        }
        let Claim::Optimal { planes, optimality } = &case.claim else { panic!("another claim") };
        let numbers = Numbers::new(&case.trial, &case.names, &case.objective);
        let tilt = optimality.gap.sqrt().clamp(1e-4, 0.5);
        let end = |side: usize| {
            let mut tilts = [0.0; 2];
            tilts[side] = tilt;
            let (shown, light) = numbers.shown(&vectors(planes), &optimality.dual, tilts);
            (optimality.primal - shown.bound) / (light * tilt)
        };
        let (least, most) = (-end(0), end(1));
        let best = numbers.solve(1e-3, 20_000)[0].last().copied().unwrap();
        assert!(least <= best && best <= most, "{}: {least} {best} {most}", case.words);
        let doubt = 1e-6 * (1.0 + least.abs() + most.abs());
        let claim = |least: f64, most: f64| {
            let bias = Some(BiasInterval::new(least, most, [tilt; 2]));
            case.with(|claimed| claimed.bias = bias)
        };
        let found = case.finding(&claim(least - doubt, most + doubt), &case.trial);
        assert!(found.holds(), "{}: {found:?}", case.words);
        case.refused(&claim(least + doubt, most + doubt), "least");
        case.refused(&claim(least - doubt, most - doubt), "most");
        case.refused(&claim(f64::NAN, most + doubt), "no number");
        for bad in [0.0, -0.1, 1.1, f64::NAN] {
            let bias = Some(BiasInterval::new(-1e9, 1e9, [bad, 0.5]));
            case.refused(&case.with(|claimed| claimed.bias = bias), "tilt");
        }
        count += 1;
    }
    assert!(count >= 12, "{count} intervals");
}

/// A table that hands out its rows with every column.
struct Whole<'a>(&'a Trial);

impl Rows for Whole<'_> {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn width(&self) -> usize {
        self.0.width()
    }

    fn label(&self, row: u64) -> &str {
        self.0.label(row)
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        self.0.for_each(row, each);
    }

    fn entries<'a>(&'a self, row: u64, _: &'a mut RowBuffer) -> Entries<'a> {
        Entries::Dense(&self.0.rows[row as usize])
    }

    fn takes_part(&self, row: u64) -> bool {
        self.0.takes_part(row)
    }

    fn weight(&self, row: u64) -> f64 {
        self.0.weight(row)
    }
}

#[test]
fn many_rows_are_judged_alike_by_any_number_of_threads() {
    for loss in LOSSES {
        let joint = matches!(loss, Loss::Softmax | Loss::CrammerSinger);
        let names: Vec<&str> = if joint { vec!["a", "b", "c"] } else { vec!["no", "yes"] };
        let mut dice = Dice(99);
        let mut trial = Trial { rows: vec![], labels: vec![], weights: vec![], basis: None };
        for _ in 0..5000 {
            trial.rows.push((0..11).map(|_| dice.tenth()).collect());
            trial.labels.push(names[dice.below(names.len() as u64) as usize].to_owned());
            trial.weights.push([1.0, 0.25, 0.0][dice.below(3) as usize]);
        }
        let objective =
            Objective::new(loss, 0.01).with_l2(1.0).with_l1(0.0).with_intercept(Intercept::Free);
        let numbers = Numbers::new(&trial, &names, &objective);
        let mu = if matches!(loss, Loss::Hinge | Loss::CrammerSinger) { 0.5 } else { 0.0 };
        let claim = numbers.claim(&numbers.solve(mu, 300), mu, 1e-7);
        let reading = ReadingField::new(Reading::Decimal, vec![]);
        let whole = Whole(&trial);
        // Words that tell what was shown tell every digit of it.
        let mut false_one = claim.clone();
        let mut poor_one = claim.clone();
        for (claim, primal, bound) in [(&mut false_one, 1e-3, 1e-9), (&mut poor_one, 1e9, 1e8)] {
            let Claim::Optimal { optimality, .. } = claim else { panic!("another claim") };
            (optimality.primal, optimality.bound) = (primal, bound);
            (optimality.gap, optimality.radius) = (1e99, Some(1e99));
        }
        for rows in [&trial as &dyn Rows, &whole] {
            for claim in [&claim, &false_one, &poor_one] {
                let found = check_claim(claim, rows, &reading, true, 1);
                assert_eq!(found.holds(), *claim != false_one && *claim != poor_one, "{found:?}");
                for threads in [2, 3, 7, 64] {
                    assert_eq!(
                        check_claim(claim, rows, &reading, true, threads),
                        found,
                        "{loss:?}"
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    /// Weak duality in numbers: whatever the multipliers, no bound above the objective of a plane that
    /// somebody found is ever shown.
    #[test]
    fn no_dual_point_shows_more_than_a_model_reaches(
        loss in 0usize..6,
        intercept in 0usize..3,
        penalty in 0usize..3,
        k in 0usize..210,
        spread in prop_oneof![Just(0.0), Just(1e-9), Just(1e-4), Just(0.3)],
        seed in any::<u64>(),
    ) {
        let intercept = [Intercept::Free, Intercept::Penalised, Intercept::None][intercept];
        let case = case(LOSSES[loss], intercept, [(0.0, 0.4), (0.8, 0.0), (0.3, 0.5)][penalty], k);
        let Claim::Optimal { planes, optimality } = &case.claim else { panic!("another claim") };
        let numbers = Numbers::new(&case.trial, &case.names, &case.objective);
        let best = numbers.primal(&vectors(planes));
        let mut dice = Dice(seed);
        let mut moved = |x: f64, most: f64| {
            let factor = 1.0 + spread * (dice.below(2001) as f64 / 1000.0 - 1.0);
            (x * factor).clamp(most.min(0.0), most.max(0.0))
        };
        let listed = numbers.claim(&vectors(planes), 0.05, 0.0);
        let Claim::Optimal { optimality: listed, .. } = listed else { panic!("another claim") };
        let mut dual = if loss == 1 || loss == 4 { optimality.dual.clone() } else { listed.dual };
        dual.alpha.iter_mut().for_each(|(_, alpha)| *alpha = moved(*alpha, *alpha));
        for (_, shares) in &mut dual.shares {
            shares.iter_mut().for_each(|(_, share)| *share = moved(*share, *share));
        }
        // The planes of the claim may be poor as well: the bound has nothing to do with them.
        let claim = case.with(|claimed| {
            claimed.dual = dual;
            claimed.bound = best * (1.0 + 1e-9);
            claimed.primal = 1e9;
            claimed.gap = 1e99;
            claimed.radius = claimed.radius.map(|_| 1e9);
        });
        prop_assert!(!case.holds(&claim, &case.trial), "{}", case.words);
        // A dual point that shows nothing shows no 1e-12 either.
        let shows = optimality.bound > 1e-12 && case.holds(&case.claim, &case.trial);
        let true_one = case.with(|claimed| (claimed.bound, claimed.gap) = (1e-12, 1e99));
        let true_one = Case { claim: true_one, ..case };
        let loose = true_one.with(|claimed| claimed.radius = claimed.radius.map(|_| 1e99));
        let found = true_one.finding(&loose, &true_one.trial);
        prop_assert!(found.holds() || !shows, "{}: {found:?}", true_one.words);
    }
}
