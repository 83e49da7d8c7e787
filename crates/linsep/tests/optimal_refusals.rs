//! The checker of the claim `optimal`: honest claims of every loss, intercept and penalty are accepted,
//! and whatever makes one false is refused. What is true is computed by a slow solver and plain sums
//! that share nothing with the checker.

#[path = "support/optimal.rs"]
mod optimal;

use linsep::proof::{
    Basis, BiasInterval, Claim, ExactNumber, Finding, Intercept, Loss, Objective, Optimality,
    Planes, Reading, ReadingField, WeightLimit, check_claim,
};
use optimal::{Numbers, Trial, vectors};

const LOSSES: [Loss; 5] =
    [Loss::Logistic, Loss::Hinge, Loss::SquaredHinge, Loss::Softmax, Loss::CrammerSinger];

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
    let limit = |column| WeightLimit {
        column,
        least: [Some(-0.1), None, Some(0.05)][k % 3],
        most: [Some(0.3), Some(0.2), None][k % 3],
    };
    let objective = Objective {
        loss,
        c: [1.0, 0.3, 2.5][k % 3],
        l2,
        l1,
        intercept,
        class_weights: if k % 4 == 3 { vec![(names[1].to_owned(), 1.75)] } else { vec![] },
        scale: if k % 2 == 1 { (0..columns).map(scale).collect() } else { vec![] },
        limits: if k % 7 < 3 && !joint { vec![limit(0)] } else { vec![] },
    };
    let default = if k % 2 == 0 { Reading::Decimal } else { Reading::Binary64 };
    let reading = ReadingField { default, binary64: vec![] };
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
