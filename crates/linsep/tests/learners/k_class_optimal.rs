//! The machines of K classes against plain sums: their objectives, their gaps, their bits.

use crate::support::{Table, bits, table};
use linsep::learn::logistic::Logistic;
use linsep::learn::svm::{CrammerSinger, Svm};
use linsep::proof::{Claim, Intercept, Loss, Optimality};
use linsep::rng::{Purpose, Stream};
use linsep::{Budget, Fit, Learner, Limits, LinearModel, Link, Plane, Rule, State, Status, Task};

/// What is minimised, as a user would write it down.
#[derive(Clone, Copy, Debug)]
struct Setting {
    softmax: bool,
    c: f64,
    intercept: Intercept,
    balanced: bool,
    gap: f64,
}

impl Setting {
    fn learner(&self) -> Box<dyn Learner> {
        let Setting { softmax, c, intercept, balanced, gap } = *self;
        if softmax {
            let mut logistic = Logistic::default();
            (logistic.settings.c, logistic.settings.intercept) = (c, intercept);
            (logistic.settings.class_weights, logistic.settings.gap) = (balanced.into(), gap);
            return Box::new(logistic);
        }
        let mut svm = Svm::default();
        (svm.settings.c, svm.settings.intercept) = (c, intercept);
        (svm.settings.class_weights, svm.settings.gap) = (balanced.into(), gap);
        Box::new(CrammerSinger(svm))
    }

    fn fit(&self, task: &Task) -> Fit {
        let limits = Limits::default().with_epochs(Some(20_000));
        self.learner().fit(task, &limits, &mut ()).unwrap()
    }

    /// P of planes, and its slopes.
    fn primal(&self, table: &Table, names: &[String], planes: &[Plane]) -> (f64, Vec<Plane>) {
        let weights = table.weights_or_ones();
        let own = |i: usize| names.iter().position(|name| *name == table.labels[i]).unwrap();
        let total: f64 = weights.iter().sum();
        let of_class = |k: usize| -> f64 {
            (0..weights.len()).filter(|i| own(*i) == k).map(|i| weights[i]).sum()
        };
        let mut sum = 0.0;
        let mut slopes: Vec<Plane> = planes.to_vec();
        for (plane, slope) in planes.iter().zip(&mut slopes) {
            sum += 0.5 * plane.weights.iter().map(|w| w * w).sum::<f64>();
            match self.intercept {
                Intercept::Penalised => sum += 0.5 * plane.bias * plane.bias,
                _ => slope.bias = 0.0,
            }
        }
        for (i, x) in table.rows.iter().enumerate() {
            let k = own(i);
            let factor =
                if self.balanced { total / (names.len() as f64 * of_class(k)) } else { 1.0 };
            let cost = self.c * weights[i] * factor;
            let score =
                |p: &Plane| p.bias + p.weights.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
            let scores: Vec<f64> = planes.iter().map(score).collect();
            let (loss, shares) = loss_of(self.softmax, &scores, k);
            sum += cost * loss;
            for (l, slope) in slopes.iter_mut().enumerate() {
                let a = cost * (shares[l] - f64::from(u8::from(l == k)));
                slope.weights.iter_mut().zip(x).for_each(|(s, x)| *s += a * x);
                slope.bias += if self.intercept == Intercept::None { 0.0 } else { a };
            }
        }
        (sum, slopes)
    }
}

fn loss_of(softmax: bool, scores: &[f64], own: usize) -> (f64, Vec<f64>) {
    let lift = |k: usize| scores[k] - scores[own] + f64::from(u8::from(!softmax && k != own));
    let lifted: Vec<f64> = (0..scores.len()).map(lift).collect();
    if softmax {
        let sum: f64 = lifted.iter().map(|s| s.exp()).sum();
        return (sum.ln(), lifted.iter().map(|s| s.exp() / sum).collect());
    }
    let best = (0..lifted.len()).max_by(|a, b| lifted[*a].total_cmp(&lifted[*b])).unwrap();
    let mut shares = vec![0.0; scores.len()];
    shares[best] = 1.0;
    (lifted[best], shares)
}

fn settings() -> Vec<Setting> {
    let mut all = Vec::new();
    for softmax in [true, false] {
        for intercept in [Intercept::Free, Intercept::Penalised, Intercept::None] {
            for (c, balanced, gap) in [(0.3, false, 1e-6), (2.0, true, 1e-3)] {
                all.push(Setting { softmax, c, intercept, balanced, gap });
            }
        }
    }
    all
}

fn samples() -> Vec<Table> {
    let mut weighted = table("weighted", (50, 4, 3), 1.0, |s| s.below(200) as f64 / 100.0);
    weighted.weights = Some((0..50).map(|i| [1.0, 0.5, 3.0, 0.0][i % 4]).collect());
    let mut five = table("five classes", (60, 6, 4), 1.0, |s| s.normal());
    for i in (0..60).step_by(7) {
        five.labels[i] = "eel".to_owned();
    }
    vec![
        weighted,
        five,
        table("sparse", (48, 30, 4), 0.0, |s| f64::from(s.unit() < 0.15)),
        table("wide", (30, 90, 3), 0.5, |s| if s.unit() < 0.8 { 0.0 } else { s.normal() }),
    ]
}

fn optimality(fit: &Fit, words: &str) -> Optimality {
    match &fit.certificate.claims[..] {
        [Claim::Optimal { optimality, .. }] => optimality.clone(),
        others => panic!("{words}: {others:?}"),
    }
}

#[test]
fn the_certificate_says_what_plain_sums_say() {
    for table in samples() {
        let task = table.task();
        for setting in settings() {
            let words = format!("{}, {setting:?}", table.name);
            let fit = setting.fit(&task);
            let claimed = optimality(&fit, &words);
            let loss = if setting.softmax { Loss::Softmax } else { Loss::CrammerSinger };
            assert_eq!(claimed.objective.loss, loss, "{words}");
            assert!(claimed.gap <= 1.001 * setting.gap, "{words}: gap {}", claimed.gap);
            assert_eq!(fit.model.rule, Rule::ArgMax, "{words}");
            let link = if setting.softmax { Link::Softmax } else { Link::None };
            assert_eq!(fit.model.link, link, "{words}");
            let (primal, _) = setting.primal(&table, &fit.model.classes, &fit.model.planes);
            assert!((primal - claimed.primal).abs() <= 1e-6 * primal, "{words}: {primal}");
        }
    }
}

/// A slow way to small objectives: subgradients with falling steps, the best of all seen.
fn slow_best(setting: &Setting, table: &Table, model: &LinearModel) -> f64 {
    let zero = Plane::new(vec![0.0; table.rows[0].len()], 0.0);
    let mut planes = vec![zero; model.classes.len()];
    let mut best = f64::INFINITY;
    for step in 0..4000 {
        let (primal, slopes) = setting.primal(table, &model.classes, &planes);
        best = best.min(primal);
        let square = |p: &Plane| p.weights.iter().chain([&p.bias]).map(|x| x * x).sum::<f64>();
        let size = slopes.iter().map(square).sum::<f64>().sqrt();
        let rate = 0.5 / (size * (1.0 + f64::from(step)).sqrt());
        for (plane, slope) in planes.iter_mut().zip(&slopes) {
            plane.weights.iter_mut().zip(&slope.weights).for_each(|(w, s)| *w -= rate * s);
            plane.bias -= rate * slope.bias;
        }
    }
    best
}

#[test]
fn no_planes_are_below_the_bound_and_slow_ways_come_no_lower() {
    for table in samples() {
        let task = table.task();
        for setting in settings() {
            let words = format!("{}, {setting:?}", table.name);
            let fit = setting.fit(&task);
            let claimed = optimality(&fit, &words);
            let slow = slow_best(&setting, &table, &fit.model);
            assert!(slow >= claimed.bound, "{words}: {slow} is below {}", claimed.bound);
            assert!(claimed.primal <= slow * (1.0 + setting.gap), "{words}: {slow}");
            assert!(slow <= 1.05 * claimed.primal, "{words}: the slow way ended at {slow}");
            let mut stream = Stream::new(3, Purpose::Generate(5));
            for power in 0..60 {
                let mut planes = fit.model.planes.clone();
                let size = 10f64.powf(1.0 - f64::from(power) / 8.0);
                for plane in &mut planes {
                    plane.weights.iter_mut().for_each(|w| *w += size * stream.normal());
                    if setting.intercept != Intercept::None {
                        plane.bias += size * stream.normal();
                    }
                }
                let (near, _) = setting.primal(&table, &fit.model.classes, &planes);
                assert!(near >= claimed.bound, "{words}: {near} is below {}", claimed.bound);
            }
        }
    }
}

#[test]
fn storage_and_threads_change_no_bit() {
    // Enough rows for several pieces.
    let many = table("many", (9000, 3, 4), 0.5, |s| s.normal());
    for table in samples().into_iter().chain([many]) {
        let task = table.task();
        let few = |setting: &Setting| table.rows.len() < 9000 || setting.gap > 1e-5;
        for setting in settings().into_iter().filter(few) {
            let words = format!("{}, {setting:?}", table.name);
            let limits = Limits::default().with_epochs(Some(8));
            let run = |task: &Task| setting.learner().fit(task, &limits, &mut ()).unwrap();
            let one = run(&task);
            let threads = run(&task.clone().with_threads(2));
            let storage = run(&Task::new(task.data.with_other_storage()));
            assert_eq!(bits(&one.model), bits(&threads.model), "{words}");
            assert_eq!(bits(&one.model), bits(&storage.model), "{words}");
            assert_eq!(one.certificate.claims, threads.certificate.claims, "{words}");
        }
    }
}

#[test]
fn a_saved_run_goes_on_with_the_same_bits() {
    for table in samples() {
        let task = table.task();
        for setting in settings() {
            let words = format!("{}, {setting:?}", table.name);
            let start = || setting.learner().start(&task).unwrap();
            let (mut whole, mut parts) = (start(), start());
            let slice = Budget::visits(whole.epoch_rows() * 5 / 2);
            loop {
                let status = whole.advance(slice);
                assert_eq!(parts.advance(slice), status, "{words}");
                let state = State::from_bytes(parts.save().as_bytes().to_vec());
                parts = start();
                parts.restore(&state).unwrap();
                assert_eq!(parts.save(), state, "{words}");
                assert_eq!(bits(&whole.model()), bits(&parts.model()), "{words}");
                if status != Status::Running {
                    break;
                }
            }
            assert_eq!(whole.certificate(), parts.certificate(), "{words}");
        }
    }
}

/// Of two classes both machines are one plane; ±w/2 makes Crammer and Singer's objective the same.
#[test]
fn two_classes_are_one_plane() {
    let table = table("two", (40, 4, 2), 1.0, |s| s.normal());
    let names = ["ant".to_owned(), "bee".to_owned()];
    for softmax in [true, false] {
        let intercept = Intercept::Free;
        let setting = Setting { softmax, c: 1.0, intercept, balanced: false, gap: 1e-6 };
        let fit = setting.fit(&table.task());
        assert_eq!(fit.model.planes.len(), 1);
        let claimed = optimality(&fit, "two");
        if !softmax {
            let half = |sign: f64| {
                let plane = &fit.model.planes[0];
                let weights = plane.weights.iter().map(|w| 0.5 * sign * w).collect();
                Plane::new(weights, 0.5 * sign * plane.bias)
            };
            let (primal, _) = setting.primal(&table, &names, &[half(-1.0), half(1.0)]);
            assert!((primal - claimed.primal).abs() <= 1e-9 * primal, "{primal}");
        }
    }
}

#[test]
fn what_a_machine_of_k_classes_cannot_do_is_said() {
    let task = samples()[0].task();
    let mut logistic = Logistic::default();
    logistic.settings.solver = "dual".parse().unwrap();
    let words = |learner: &dyn Learner| learner.start(&task).err().unwrap().to_string();
    assert!(words(&logistic).contains("`solver=dual`"));
    logistic = Logistic::default();
    logistic.settings.l1 = 1.0;
    assert!(words(&logistic).contains("l2"));
    let mut svm = Svm::default();
    svm.settings.l1 = 1.0;
    assert!(words(&CrammerSinger(svm)).contains("l2"));
}

/// Empty rows, constant columns, a class of one row and values of every size end with a claim.
#[test]
fn odd_data_ends_with_a_claim() {
    let odd = |value: f64| Table {
        name: "odd",
        rows: vec![
            vec![0.0, 0.0, 5.0],
            vec![value, 0.0, 5.0],
            vec![0.0, 0.0, 0.0],
            vec![-value, 1.0, 5.0],
            vec![value, 1.0, 5.0],
        ],
        labels: ["a", "b", "a", "c", "b"].map(str::to_owned).to_vec(),
        weights: None,
    };
    for value in [1.0, 1e-5] {
        let table = odd(value);
        for mut setting in settings() {
            setting.gap = 1e-3;
            let fit = setting.fit(&table.task());
            let words = format!("{value}, {setting:?}");
            let claimed = optimality(&fit, &words);
            assert!(claimed.gap <= 1.001e-3, "{words}: {}", claimed.gap);
        }
    }
}
