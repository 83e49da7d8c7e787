//! Rows that are passed over change no bit of a run.

use super::{Kesler, OnePlane, Perceptron, Planes, run_of};
use crate::engine::moving::MovingPlanes;
use crate::engine::online::{Judge, Online, UpdateRule, Visit};
use crate::engine::pass::Standing;
use crate::engine::response::{Fixed, Respond};
use crate::run::{Budget, Status, Task, Training};
use linsep_data::Dataset;
use linsep_data::matrix::Rows;
use linsep_data::rng::{Purpose, Stream};
use linsep_data::scale::Scaling;

/// A rule of the family that has every row evaluated.
struct Plain<U>(U);

impl<U: UpdateRule> UpdateRule for Plain<U> {
    fn judge(&self) -> &dyn Judge {
        self
    }

    fn visit<R: Rows>(
        &self,
        moving: &mut MovingPlanes<'_>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        self.0.visit(moving, rows, row, class)
    }
}

impl<U: UpdateRule> Judge for Plain<U> {
    fn rests_above(&self) -> Option<f64> {
        None
    }

    fn is_wrong(&self, row: Standing) -> bool {
        self.0.judge().is_wrong(row)
    }

    fn loss(&self, m: f64, square: &mut dyn FnMut() -> f64) -> f64 {
        self.0.judge().loss(m, square)
    }
}

/// Rows of hidden planes, those close to a boundary left out, so that runs are long but end.
fn data(rows: usize, width: usize, classes: usize, density: f64, gap: f64) -> Dataset {
    let mut stream = Stream::new(8, Purpose::Generate(5));
    let mut plane = |_| (0..width).map(|_| stream.normal()).collect::<Vec<f64>>();
    let planes: Vec<Vec<f64>> = (0..classes).map(&mut plane).collect();
    let (mut table, mut labels) = (Vec::new(), Vec::new());
    while table.len() < rows {
        let mut value = |_| if stream.unit() < density { stream.normal() } else { 0.0 };
        let row: Vec<f64> = (0..width).map(&mut value).collect();
        let score = |w: &Vec<f64>| w.iter().zip(&row).map(|(w, x)| w * x).sum::<f64>();
        let mut scores: Vec<(f64, usize)> = planes.iter().map(score).zip(0..).collect();
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        if scores[0].0 - scores[1].0 > gap {
            labels.push(scores[0].1.to_string());
            table.push(row);
        }
    }
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    Dataset::from_rows(&table, &labels).unwrap()
}

/// Runs to the end in slices and tells planes, counters and the share of visits with an evaluation.
fn run(answer: impl Respond, rests: bool, task: &Task, perceptron: &Perceptron) -> (String, f64) {
    let (planes, count) = match Planes::of(task) {
        one @ Planes::One(_) => (one, 1),
        joint => (joint, task.data.n_classes()),
    };
    let setup = perceptron.setup(task, count, |k| Purpose::Start(k as u64)).unwrap();
    let mut online = match (planes, rests) {
        (_, true) => run_of(answer, setup, planes),
        (Planes::One(positive), _) => {
            Online::new(Plain(OnePlane { positive, answer }), setup, planes)
        }
        (Planes::Joint, _) => Online::new(Plain(Kesler { answer }), setup, planes),
    }
    .unwrap();
    let (mut evaluated, mut status) = (0, Status::Running);
    for _ in 0..4000 {
        status = online.advance(Budget::visits(317));
        evaluated = online.evaluations();
        if status != Status::Running {
            break;
        }
    }
    let progress = online.progress();
    let report = format!("{:?} {progress:?} {status:?}", online.save());
    (report, evaluated as f64 / progress.visits as f64)
}

#[test]
fn rows_that_are_passed_over_change_no_bit_of_a_run() {
    let mut least = 1.0f64;
    for (width, classes, density, gap) in [
        (5, 2, 1.0, 0.05),
        (40, 2, 1.0, 0.5),
        (60, 2, 0.08, 0.1),
        (6, 4, 1.0, 0.05),
        (60, 3, 0.08, 0.1),
    ] {
        let data = std::sync::Arc::new(data(600, width, classes, density, gap));
        let task = Task::new(data);
        for scale in
            [Scaling::None, Scaling::Pow2, Scaling::MaxAbs, Scaling::Unit, Scaling::Standard]
        {
            let perceptron = Perceptron { scale, ..Perceptron::default() };
            let words = format!("{width} {classes} {density} {scale:?}");
            let (plain, all) = run(Fixed { b: 0.0, strict: true }, false, &task, &perceptron);
            let (skipping, some) = run(Fixed { b: 0.0, strict: true }, true, &task, &perceptron);
            assert_eq!(all, 1.0, "{words}");
            assert!(plain == skipping, "{words}: {some}\n{plain}\n{skipping}");
            least = least.min(some);
            let (plain, _) = run(Fixed { b: 0.3, strict: true }, false, &task, &perceptron);
            let (skipping, _) = run(Fixed { b: 0.3, strict: true }, true, &task, &perceptron);
            assert!(plain == skipping, "{words}, with a margin");
        }
    }
    assert!(least < 0.5, "some run saves more than half of its evaluations: {least}");
}
