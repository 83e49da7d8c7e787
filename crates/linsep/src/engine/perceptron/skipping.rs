//! Rows that are passed over change no bit of a run.

use crate::engine::moving::{Centring, MovingPlanes};
use crate::engine::online::{Online, UpdateRule, Visit};
use crate::engine::perceptron::Perceptron;
use crate::engine::response::{Fixed, Respond, WithMargin};
use crate::run::{Budget, Status, Task};
use linsep_data::Dataset;
use linsep_data::matrix::Rows;
use linsep_data::rng::{Purpose, Stream};
use linsep_data::scale::Scaling;

/// One plane, or the highest of several; it rests above its margin only if it is asked to.
struct Plain<A> {
    answer: A,
    rests: bool,
}

impl<A: Respond> UpdateRule for Plain<A> {
    fn rests_above(&self) -> Option<f64> {
        self.answer.rests_above().filter(|_| self.rests)
    }

    fn visit<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> Visit {
        let margin = self.margin(machine, rows, row, class);
        let Some(step) = self.answer.respond(margin, false, || 1.0) else {
            return Visit::Right;
        };
        match machine.n_planes() {
            1 => machine.correct(rows, row, 0, if class == 1 { step } else { -step }),
            count => {
                let rival = (0..count)
                    .filter(|k| *k != class as usize)
                    .max_by(|&a, &b| {
                        machine.score(rows, row, a).total_cmp(&machine.score(rows, row, b))
                    })
                    .unwrap_or(0);
                machine.correct(rows, row, class as usize, step);
                machine.correct(rows, row, rival, -step);
            }
        }
        Visit::Corrected
    }

    fn margin<R: Rows, C: Centring>(
        &self,
        machine: &mut MovingPlanes<'_, C>,
        rows: &R,
        row: usize,
        class: u32,
    ) -> f64 {
        if machine.n_planes() == 1 {
            let y = if class == 1 { 1.0 } else { -1.0 };
            return y * machine.score(rows, row, 0) * machine.row_scale(row);
        }
        let (mut own, mut other) = (f64::NAN, f64::NEG_INFINITY);
        machine.scores(rows, row, |k, score| match k == class as usize {
            true => own = score,
            false => other = other.max(score),
        });
        (own - other) * machine.row_scale(row)
    }

    fn loss<R: Rows, C: Centring>(
        &self,
        _: &mut MovingPlanes<'_, C>,
        _: &R,
        _: usize,
        _: u32,
    ) -> f64 {
        0.0
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

/// Runs to the end in slices and tells planes, counters and the share of visits with a look.
fn run<A: Respond>(answer: A, rests: bool, task: &Task, perceptron: &Perceptron) -> (String, f64) {
    let planes = if task.data.n_classes() > 2 { task.data.n_classes() } else { 1 };
    let setup = perceptron.setup(task, planes, |k| Purpose::Start(k as u64)).unwrap();
    let mut online = Online::new(Plain { answer, rests }, setup).unwrap();
    let (mut looked, mut status) = (0, Status::Running);
    for _ in 0..4000 {
        status = online.advance(Budget::visits(317));
        looked = online.looks();
        if status != Status::Running {
            break;
        }
    }
    let progress = online.progress();
    let told = format!("{:?} {progress:?} {status:?}", online.save());
    (told, looked as f64 / progress.visits as f64)
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
            let (plain, all) = run(Fixed::<true>, false, &task, &perceptron);
            let (skipping, some) = run(Fixed::<true>, true, &task, &perceptron);
            assert_eq!(all, 1.0, "{words}");
            assert!(plain == skipping, "{words}: {some}\n{plain}\n{skipping}");
            least = least.min(some);
            let (plain, _) = run(WithMargin(0.3), false, &task, &perceptron);
            let (skipping, _) = run(WithMargin(0.3), true, &task, &perceptron);
            assert!(plain == skipping, "{words}, with a margin");
        }
    }
    assert!(least < 0.5, "some run saves more than half of its looks: {least}");
}
