//! Penalties with corners, weights with limits, and no penalty at all: what the optimisers find
//! against conditions and a slow reference that share no code with them.

use linsep::learn::logistic::{Intercept, Logistic};
use linsep::learn::optimising::Bound;
use linsep::learn::svm::Svm;
use linsep::proof::{Claim, Optimality};
use linsep::rng::{Purpose, Stream};
use linsep::{Budget, Dataset, DatasetBuilder, Fit, Learner, Limits, Plane, Status, Stop, Task};

/// A problem of two classes in numbers.
#[derive(Clone, Debug)]
struct Trial {
    rows: Vec<Vec<f64>>,
    positive: Vec<bool>,
    weights: Vec<f64>,
    squared: bool,
    c: f64,
    l1: f64,
    l2: f64,
    intercept: Intercept,
    limits: Option<(f64, f64)>,
    gap: f64,
}

const LIMITS: Limits = Limits::new(Some(500), None);

impl Trial {
    fn draw(stream: &mut Stream, number: usize) -> Trial {
        let tall = !number.is_multiple_of(3);
        let (count, width) = match tall {
            true => (20 + stream.below(60) as usize, 1 + stream.below(6) as usize),
            false => (10 + stream.below(10) as usize, 12 + stream.below(20) as usize),
        };
        let sparse = stream.below(2) == 0;
        let value = |stream: &mut Stream| match sparse && stream.below(3) > 0 {
            true => 0.0,
            false => stream.below(2001) as f64 / 500.0 - 2.0,
        };
        let mut rows: Vec<Vec<f64>> =
            (0..count).map(|_| (0..width).map(|_| value(stream)).collect()).collect();
        if width > 2 && number.is_multiple_of(5) {
            // A constant column, and one that is the sum of two others.
            rows.iter_mut().for_each(|row| (row[0], row[1]) = (3.0, row[1] + row[2]));
        }
        let noise = |stream: &mut Stream| stream.below(1001) as f64 / 250.0 - 2.0;
        let mut positive: Vec<bool> =
            rows.iter().map(|row| row[0] - 0.5 * row[width - 1] + noise(stream) > 0.3).collect();
        (positive[0], positive[1]) = (true, false);
        let weights = (0..count)
            .map(|_| if number.is_multiple_of(4) { 0.5 + stream.below(5) as f64 } else { 1.0 })
            .collect();
        let (l1, l2) = [(1.0, 0.0), (0.5, 0.5), (0.9, 0.1), (1.0, 0.0)][number % 4];
        let limits = [None, None, Some((0.0, f64::INFINITY)), Some((-0.1, 0.3)), Some((0.05, 0.2))];
        Trial {
            rows,
            positive,
            weights,
            squared: number % 2 == 1,
            c: [0.02, 0.3, 1.0, 10.0][stream.below(4) as usize],
            l1,
            l2,
            intercept: [Intercept::Free, Intercept::Penalised, Intercept::None][number % 3],
            limits: limits[stream.below(5) as usize],
            gap: 1e-9,
        }
    }

    fn data(&self) -> Dataset {
        let mut builder = DatasetBuilder::new(self.rows[0].len());
        for ((row, positive), weight) in self.rows.iter().zip(&self.positive).zip(&self.weights) {
            builder.dense_row(row, if *positive { "p" } else { "n" }).unwrap();
            builder.weight(*weight).unwrap();
        }
        builder.finish().unwrap()
    }

    fn learner(&self) -> Box<dyn Learner> {
        let (lower, upper) = match self.limits {
            None => (Bound::default(), Bound::default()),
            Some((least, most)) if most.is_infinite() => (Bound::on_all(least), Bound::default()),
            Some((least, most)) => (Bound::on_all(least), Bound::on_all(most)),
        };
        if self.squared {
            let mut svm = Svm::default();
            (svm.settings.c, svm.settings.l1, svm.settings.l2, svm.settings.gap) =
                (self.c, self.l1, self.l2, self.gap);
            (svm.settings.intercept, svm.settings.lower, svm.settings.upper) =
                (self.intercept, lower, upper);
            return Box::new(svm);
        }
        let mut logistic = Logistic::default();
        (logistic.settings.c, logistic.settings.l1, logistic.settings.l2, logistic.settings.gap) =
            (self.c, self.l1, self.l2, self.gap);
        (logistic.settings.intercept, logistic.settings.lower, logistic.settings.upper) =
            (self.intercept, lower, upper);
        Box::new(logistic)
    }

    fn fit(&self) -> Fit {
        self.learner().fit(&Task::new(self.data()), &LIMITS, &mut ()).unwrap()
    }

    /// The sign of the plane's side: which class the fitted plane is positive for.
    fn sign(&self, fit: &Fit, row: usize) -> f64 {
        let name = if self.positive[row] { "p" } else { "n" };
        if fit.model.classes[1] == name { 1.0 } else { -1.0 }
    }

    fn loss(&self, m: f64) -> (f64, f64) {
        match self.squared {
            true => ((1.0 - m).max(0.0).powi(2), -2.0 * (1.0 - m).max(0.0)),
            false => ((-m).exp().ln_1p(), -1.0 / (1.0 + m.exp())),
        }
    }

    fn penalty(&self, v: f64) -> f64 {
        0.5 * self.l2 * v * v + self.l1 * v.abs()
    }

    fn objective(&self, signs: &[f64], plane: &Plane) -> f64 {
        let mut sum: f64 = plane.weights.iter().map(|w| self.penalty(*w)).sum();
        if self.intercept == Intercept::Penalised {
            sum += self.penalty(plane.bias);
        }
        for (i, row) in self.rows.iter().enumerate() {
            sum += self.c * self.weights[i] * self.loss(signs[i] * score(row, plane)).0;
        }
        sum
    }

    /// The derivatives of the losses.
    fn slopes(&self, signs: &[f64], plane: &Plane) -> Plane {
        let mut slopes = Plane::new(vec![0.0; plane.weights.len()], 0.0);
        for (i, row) in self.rows.iter().enumerate() {
            let slope = self.loss(signs[i] * score(row, plane)).1;
            let a = self.c * self.weights[i] * signs[i] * slope;
            slopes.weights.iter_mut().zip(row).for_each(|(s, x)| *s += a * x);
            slopes.bias += a;
        }
        slopes
    }

    /// Small steps down the slope, each followed by the corners and the limits.
    fn slow(&self, signs: &[f64]) -> Plane {
        let square: f64 = self
            .rows
            .iter()
            .zip(&self.weights)
            .map(|(row, w)| w * (1.0 + row.iter().map(|x| x * x).sum::<f64>()))
            .sum();
        let step = 1.0 / (self.c * square * if self.squared { 2.0 } else { 0.25 } + self.l2);
        let mut plane = Plane::new(vec![0.0; self.rows[0].len()], 0.0);
        let (mut ahead, mut pace) = (plane.clone(), 1.0f64);
        let mut last = f64::INFINITY;
        for _ in 0..20_000 {
            let slopes = self.slopes(signs, &ahead);
            let (least, most) = self.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let prox = |w: f64, slope: f64| {
                let w = w - step * slope;
                (w.abs() - step * self.l1).max(0.0).copysign(w) / (1.0 + step * self.l2)
            };
            let weights = ahead.weights.iter().zip(&slopes.weights);
            let next = Plane::new(
                weights.map(|(w, s)| prox(*w, *s).max(least).min(most)).collect(),
                match self.intercept {
                    Intercept::Free => ahead.bias - step * slopes.bias,
                    Intercept::Penalised => prox(ahead.bias, slopes.bias),
                    Intercept::None => 0.0,
                },
            );
            let value = self.objective(signs, &next);
            // Momentum that starts anew whenever it went too far.
            pace = if value > last { 1.0 } else { 0.5 + (0.25 + pace * pace).sqrt() };
            let more = if value > last { 0.0 } else { (pace - 1.5) / pace }.max(0.0);
            last = value;
            ahead = Plane::new(
                next.weights
                    .iter()
                    .zip(&plane.weights)
                    .map(|(n, w)| (n + more * (n - w)).max(least).min(most))
                    .collect(),
                next.bias + more * (next.bias - plane.bias),
            );
            plane = next;
        }
        plane
    }
}

fn score(row: &[f64], plane: &Plane) -> f64 {
    row.iter().zip(&plane.weights).map(|(x, w)| x * w).sum::<f64>() + plane.bias
}

fn optimality(fit: &Fit) -> &Optimality {
    match &fit.certificate.claims[..] {
        [Claim::Optimal { optimality, .. }] => optimality,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_answer_meets_the_conditions_and_the_bound_is_below_a_slow_reference() {
    let mut stream = Stream::new(5, Purpose::Generate(1));
    for number in 0..60 {
        let trial = Trial::draw(&mut stream, number);
        let fit = trial.fit();
        let words = format!("{number}: {trial:?}\n{:?}", fit.remarks);
        assert_eq!(fit.stop, Stop::Finished, "{words}");
        let signs: Vec<f64> = (0..trial.rows.len()).map(|row| trial.sign(&fit, row)).collect();
        let plane = &fit.model.planes[0];
        let claim = optimality(&fit);
        let value = trial.objective(&signs, plane);
        assert!(claim.gap <= 1e-8, "{} {words}", claim.gap);
        assert!(value <= claim.primal && claim.bound <= value, "{value} {claim:?} {words}");
        let reference = trial.objective(&signs, &trial.slow(&signs));
        let hair = 1e-12 * reference;
        assert!(claim.bound <= reference + hair, "{reference} {claim:?} {words}");
        assert!(value <= reference * (1.0 + 1e-8) + hair, "{value} {reference} {words}");

        // At the best, no weight can move and gain.
        let slopes = trial.slopes(&signs, plane);
        let size = trial.c * trial.rows.len() as f64;
        let (least, most) = trial.limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        for (w, slope) in plane.weights.iter().zip(&slopes.weights) {
            assert!(least <= *w && *w <= most, "{words}");
            let slope = slope + trial.l2 * w;
            let right = if *w >= 0.0 { slope + trial.l1 } else { slope - trial.l1 };
            let left = if *w > 0.0 { slope + trial.l1 } else { slope - trial.l1 };
            let small = 1e-3 * (1.0 + size);
            assert!(*w == most || right >= -small, "{w} {slope} {words}");
            assert!(*w == least || left <= small, "{w} {slope} {words}");
        }
        match trial.intercept {
            Intercept::Free => assert!(slopes.bias.abs() <= 1e-3 * (1.0 + size), "{words}"),
            Intercept::None => assert_eq!(plane.bias, 0.0),
            Intercept::Penalised => {}
        }
    }
}

/// Rows of many columns, few of which say anything.
fn wide(seed: u64) -> Trial {
    let mut stream = Stream::new(seed, Purpose::Generate(2));
    let (count, width) = (120, 2000);
    let mut rows = vec![vec![0.0; width]; count];
    for row in &mut rows {
        for _ in 0..40 {
            row[stream.below(width as u64) as usize] = stream.below(100) as f64 / 50.0;
        }
        for x in &mut row[..5] {
            *x = stream.below(100) as f64 / 50.0 - 1.0;
        }
    }
    let noise = |stream: &mut Stream| stream.below(100) as f64 / 100.0 - 0.5;
    let positive = rows.iter().map(|r| r[0] + r[1] - r[2] + noise(&mut stream) > 0.1).collect();
    Trial {
        weights: vec![1.0; count],
        rows,
        positive,
        squared: false,
        c: 2.0,
        l1: 1.0,
        l2: 0.0,
        intercept: Intercept::Free,
        limits: None,
        gap: 1e-8,
    }
}

#[test]
fn a_working_set_finds_the_few_columns_that_count() {
    for (seed, squared) in [(1, false), (2, true)] {
        for intercept in [Intercept::Free, Intercept::Penalised, Intercept::None] {
            let trial = Trial { squared, intercept, ..wide(seed) };
            let fit = trial.fit();
            let plane = &fit.model.planes[0];
            let used: Vec<usize> = (0..2000).filter(|&j| plane.weights[j] != 0.0).collect();
            assert!(used.len() < 150 && used[..3] == [0, 1, 2], "{used:?}");
            let signs: Vec<f64> = (0..120).map(|row| trial.sign(&fit, row)).collect();
            let (value, claim) = (trial.objective(&signs, plane), optimality(&fit));
            assert!(value <= claim.primal && claim.bound <= value && claim.gap < 1e-7);
            let slopes = trial.slopes(&signs, plane);
            for (w, slope) in plane.weights.iter().zip(&slopes.weights) {
                let rests =
                    if *w == 0.0 { slope.abs() <= 1.001 } else { (slope.abs() - 1.0).abs() < 1e-3 };
                assert!(rests, "{w} {slope}");
            }
        }
    }
}

#[test]
fn threads_and_pauses_change_no_bit() {
    let mut stream = Stream::new(8, Purpose::Generate(3));
    let mut trials: Vec<Trial> = (0..8).map(|k| Trial::draw(&mut stream, k)).collect();
    trials.push(wide(3));
    for trial in trials {
        let data = trial.data();
        let learner = trial.learner();
        let mut task = Task::new(data);
        let whole = learner.fit(&task, &LIMITS, &mut ()).unwrap();
        task.threads = 3;
        let threaded = learner.fit(&task, &LIMITS, &mut ()).unwrap();
        assert_eq!(whole.model.planes, threaded.model.planes);
        assert_eq!(whole.certificate, threaded.certificate);
        let mut run = learner.start(&task).unwrap();
        let rows = run.epoch_rows();
        loop {
            let status = run.advance(Budget::visits(rows));
            let mut next = learner.start(&task).unwrap();
            next.restore(&run.save()).unwrap();
            run = next;
            if status != Status::Running {
                break;
            }
        }
        assert_eq!(whole.model.planes, run.model().planes);
        assert_eq!(whole.progress, run.progress());
    }
}

#[test]
fn a_strong_penalty_leaves_no_weight_and_the_best_constant() {
    for squared in [false, true] {
        let trial = Trial { c: 1e-4, squared, ..wide(4) };
        let fit = trial.fit();
        let plane = &fit.model.planes[0];
        assert!(plane.weights.iter().all(|w| *w == 0.0));
        let up = (0..120).filter(|&row| trial.sign(&fit, row) > 0.0).count() as f64;
        let best = if squared { (2.0 * up - 120.0) / 120.0 } else { (up / (120.0 - up)).ln() };
        assert!((plane.bias - best).abs() < 1e-6, "{} {best}", plane.bias);
        assert!(optimality(&fit).gap < 1e-7);
        assert!(fit.remarks.iter().any(|r| r.words.contains("the penalty leaves no weight")));
    }
}

fn without_a_penalty(rows: &[[f64; 2]], labels: &[&str]) -> linsep::Result<Fit> {
    let mut logistic = Logistic::default();
    (logistic.settings.l1, logistic.settings.l2, logistic.settings.gap) = (0.0, 0.0, 1e-10);
    let data = Dataset::from_rows(rows, labels)?;
    logistic.fit(&Task::new(data), &LIMITS, &mut ())
}

#[test]
fn without_a_penalty_only_overlapping_rows_have_an_answer() {
    let rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.5], [3.0, 2.0], [1.5, 0.5], [0.5, 2.0]];
    let separable = without_a_penalty(&rows, &["a", "a", "b", "b", "b", "a"]).unwrap_err();
    assert!(separable.to_string().contains("a plane separates"), "{separable}");
    // Rows on both sides share a point and are apart otherwise.
    let touching = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [-1.0, 0.0]];
    let refused = without_a_penalty(&touching, &["a", "b", "a", "b"]).unwrap_err();
    assert!(refused.to_string().contains("a plane touches"), "{refused}");
    let labels = ["a", "b", "b", "a", "a", "b"];
    let fit = without_a_penalty(&rows, &labels).unwrap();
    assert_eq!(fit.stop, Stop::Finished);
    match &fit.certificate.claims[..] {
        [Claim::Optimal { optimality, .. }] => {
            assert!(optimality.gap < 1e-7 && optimality.objective.l2 == 0.0, "{optimality:?}");
            assert_eq!(optimality.dual.correction.len(), 3);
        }
        other => panic!("{other:?}"),
    }
    let plane = &fit.model.planes[0];
    let mut slopes = [0.0; 3];
    for (row, label) in rows.iter().zip(labels) {
        let sign = if fit.model.classes[1] == label { 1.0 } else { -1.0 };
        let a = -sign / (1.0 + (sign * score(row, plane)).exp());
        slopes[0] += a * row[0];
        slopes[1] += a * row[1];
        slopes[2] += a;
    }
    assert!(slopes.iter().all(|s| s.abs() < 1e-4), "{slopes:?}");
}

#[test]
fn softmax_without_a_penalty_is_proved_where_its_fit_exists() {
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for i in 0..36 {
        let (x, y) = (f64::from(i % 6), f64::from(i / 6));
        rows.push([x, y]);
        labels.push(
            ["p", "q", "r"][((x > 2.0) as usize + (y > 2.0) as usize + (i % 7 == 0) as usize) % 3],
        );
    }
    let fit = without_a_penalty(&rows, &labels).unwrap();
    assert_eq!(fit.stop, Stop::Finished);
    let [claim @ Claim::Optimal { optimality, .. }] = &fit.certificate.claims[..] else {
        panic!("{:?}", fit.certificate.claims)
    };
    assert!(optimality.gap < 1e-9 && optimality.objective.l2 == 0.0, "{optimality:?}");
    assert_eq!(optimality.dual.moves.len(), 6);
    // At the optimum the shares of every class have the sums of its rows.
    let mut slopes = [[0.0; 3]; 3];
    for (row, label) in rows.iter().zip(&labels) {
        let scores: Vec<f64> = fit.model.planes.iter().map(|plane| score(row, plane)).collect();
        let total: f64 = scores.iter().map(|s| s.exp()).sum();
        for (k, s) in scores.iter().enumerate() {
            let own = f64::from(u8::from(fit.model.classes[k] == *label));
            let pull = s.exp() / total - own;
            [1.0, row[0], row[1]].iter().zip(&mut slopes[k]).for_each(|(x, sum)| *sum += pull * x);
        }
    }
    assert!(slopes.iter().flatten().all(|s| s.abs() < 1e-4), "{slopes:?}");
    // The checker refuses the claim with other moves, a lower objective or a higher bound.
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let holds = |claim: &Claim| {
        linsep::proof::check_claim(claim, &data, &data.reading_field(), true, 1).holds()
    };
    assert!(holds(claim));
    type Change = fn(&mut linsep::proof::Optimality);
    let changes: [Change; 6] = [
        |o| o.dual.moves.truncate(5),
        |o| o.dual.moves.reverse(),
        |o| o.dual.moves[0].2 = o.dual.moves[0].1,
        |o| o.dual.moves[0].2 = 3,
        |o| o.primal = o.bound,
        |o| o.bound = o.primal,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut claim = claim.clone();
        let Claim::Optimal { optimality, .. } = &mut claim else { panic!() };
        change(optimality);
        assert!(!holds(&claim), "change {number}");
    }
    // Classes in a row are apart.
    let apart: Vec<&str> = (0..36).map(|i| ["p", "q", "r"][i % 6 / 2]).collect();
    let refused = without_a_penalty(&rows, &apart).unwrap_err().to_string();
    assert!(refused.contains("planes separate the classes"), "{refused}");
}

#[test]
fn what_cannot_be_solved_is_refused_with_what_to_use() {
    let rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.5], [3.0, 2.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "a", "b"]).unwrap();
    let refused = |learner: &dyn Learner| {
        learner.start(&Task::new(data.clone())).err().expect("a refusal").to_string()
    };
    let mut svm = Svm::default();
    svm.loss = "hinge".parse().unwrap();
    (svm.settings.l1, svm.settings.l2) = (1.0, 0.0);
    assert!(refused(&svm).contains("use `loss=squared-hinge`"));
    (svm.settings.l1, svm.settings.l2) = (0.0, 0.0);
    assert!(refused(&svm).contains("use `loss=squared-hinge` or `penalty=l2`"));
    let mut logistic = Logistic::default();
    logistic.settings.solver = "newton".parse().unwrap();
    logistic.settings.l1 = 1.0;
    assert!(refused(&logistic).contains("use coordinates or auto"));
    let mut logistic = Logistic::default();
    (logistic.settings.l2, logistic.settings.lower) = (0.0, Bound::on_all(0.0));
    assert!(refused(&logistic).contains("has no limit on one side"));
    logistic.settings.upper = Bound::on_all(-1.0);
    assert!(refused(&logistic).contains("no weight of"));
}
