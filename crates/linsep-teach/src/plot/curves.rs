//! A run of the perceptron against the bounds of its convergence proofs, and against batch learning.
//!
//! From the start 0 with η = 1, after k corrections of rows ±(1, x):
//!
//! ```text
//! k γ  ≤  ‖(b, w)‖  ≤  √k R        R the longest row, γ the largest margin
//! ```
//!
//! The upper curve holds for any rows, the lower one where a plane separates them; they meet at
//! k = (R/γ)², so no run is longer (Novikoff 1962). γ is exact and proved, as in
//! `linsep separable` with `margin`.

use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::svg::Area;
use super::{Style, counted, require_two, short};
use linsep::engine::perceptron::{Order, Perceptron};
use linsep::learn::descent::Descent;
use linsep::loss::Criterion;
use linsep::run::{Learner, Limits, Stop, Task, Training, drive};
use linsep::verdict::{Judge, Verdict};
use linsep_data::Dataset;
use linsep_data::error::Result;
use linsep_data::scale::Scaling;
use std::sync::Arc;

/// The picture of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Curves {
    /// Rows of two classes.
    pub data: Arc<Dataset>,
    /// The order of the rows.
    pub order: Order,
    /// The seed of that order.
    pub seed: u64,
    /// Corrections after which the runs are given up.
    pub updates: u64,
    /// Threads for the margin; never changes a bit.
    pub threads: usize,
}

const SINGLE: &str = "#0072B2";
const BATCH: &str = "#D55E00";
const BOUND: &str = "#000000";

/// Points of a curve at most.
const MOST_POINTS: usize = 400;

/// Numbers in the data beyond which the margin is not looked for.
const MOST_NUMBERS: usize = 2_000_000;

impl Curves {
    /// The run in the order of the file.
    pub fn of(data: Arc<Dataset>) -> Curves {
        Curves { data, order: Order::Cyclic, seed: 0, updates: 2000, threads: 1 }
    }

    /// The SVG text. `stop` is asked while the margin is looked for; true gives it up.
    pub fn draw(&self, style: &Style, stop: &dyn Fn() -> bool) -> Result<String> {
        require_two(&self.data, "curves")?;
        let task = Task::new(Arc::clone(&self.data));
        let mut perceptron = Perceptron::default();
        (perceptron.order, perceptron.seed, perceptron.scale) =
            (self.order, self.seed, Scaling::None);
        let single = self.follow(perceptron.start(&task)?)?;
        let mut batch = Descent::on(Criterion::Perceptron);
        (batch.scale, batch.rate) = (Scaling::None, Some(linsep::engine::rate::Rate::default()));
        let batch = self.follow(batch.start(&task)?)?;
        let (radius, margin) = (self.radius(), self.margin(stop)?);
        let gamma = margin.as_ref().map(|(gamma, _)| *gamma);
        let mut page =
            Page::new(&style.title, &notes(&single, &batch, radius, margin), &legend(gamma), 720.0);
        let panel =
            |k: usize| Area { y: page.room.y + 240.0 * k as f64, height: 240.0, ..page.room };
        let panels = [panel(0), panel(1), panel(2)];
        let svg = &mut page.svg;
        // The length of the weights between its bounds.
        let last = single.length.last().map_or(1.0, |point| point[0]).max(1.0);
        let top = single.length.iter().map(|point| point[1]).fold(0.0f64, f64::max);
        let highest = top.max(radius * last.sqrt()) * 1.05;
        let frame = Frame::within(
            panels[0],
            Axis { low: 0.0, high: last },
            Axis::around([0.0, highest], 0.0),
        );
        let clipped = |points: Vec<[f64; 2]>| -> Vec<[f64; 2]> {
            let kept = points.into_iter().filter(|point| frame.holds(*point));
            kept.map(|point| frame.at(point)).collect()
        };
        let share = |k: usize| last * k as f64 / 200.0;
        let upper = (0..=200).map(|k| [share(k), radius * share(k).sqrt()]).collect();
        svg.path(
            &[clipped(upper)],
            false,
            &format!("class=\"upper\" {}", stroke(BOUND, 1.6, "6 4")),
        );
        if let Some(gamma) = gamma {
            let end = if gamma > 0.0 { (highest / gamma).min(last) } else { last };
            let lower = vec![[0.0, 0.0], [end * 0.999, gamma * end * 0.999]];
            svg.path(
                &[clipped(lower)],
                false,
                &format!("class=\"lower\" {}", stroke(BOUND, 1.6, "2 3")),
            );
        }
        let length = single.length.iter().map(|point| frame.at(*point)).collect();
        svg.path(&[length], false, &format!("class=\"length\" {}", stroke(SINGLE, 2.2, "")));
        frame.draw(svg, "updates k", "‖(b, w)‖");
        // Mistakes of each pass, and rows wrong after each correction.
        race(
            svg,
            panels[1],
            [&single.passes, &batch.passes],
            ["pass over the rows", "mistakes in it"],
        );
        race(svg, panels[2], [&single.wrong, &batch.wrong], ["updates k", "rows wrong"]);
        Ok(page.finish(style.width))
    }

    fn follow(&self, mut training: Box<dyn Training>) -> Result<CurveRun> {
        let mut run = CurveRun::default();
        let work = self.data.n_rows().saturating_mul(self.data.n_features().max(1));
        // Every row is looked at after a correction, so large data are looked at less often.
        let looks = (100_000_000 / work.max(1)).clamp(20, MOST_POINTS) as u64;
        let pace = self.updates.div_ceil(looks).max(1);
        run.look(&self.data, training.as_ref());
        let mut updates = 0;
        let mut stop = Stop::Updates;
        while stop == Stop::Updates && updates < self.updates {
            updates += if updates < 40 { 1 } else { pace };
            let limits = Limits::default()
                .with_epochs(Some(10_000))
                .with_updates(Some(updates.min(self.updates)));
            let mut passes = Vec::new();
            let mut seen = training.progress().epochs;
            let mut watch = |now: &dyn Training| {
                let progress = now.progress();
                if progress.epochs > seen && passes.len() < 10_000 {
                    seen = progress.epochs;
                    passes.push([seen as f64, progress.last_mistakes.unwrap_or(0) as f64]);
                }
                std::ops::ControlFlow::Continue(())
            };
            stop = drive(training.as_mut(), &limits, &mut watch);
            run.passes.append(&mut passes);
            run.look(&self.data, training.as_ref());
        }
        let end = training.progress();
        if run.passes.last().is_none_or(|pass| pass[0] < end.epochs as f64)
            && let Some(mistakes) = end.last_mistakes
        {
            run.passes.push([end.epochs as f64, mistakes as f64]);
        }
        (run.updates, run.ended) = (end.updates, stop == Stop::Finished);
        Ok(run)
    }

    /// R, the length of the longest row (1, x).
    fn radius(&self) -> f64 {
        let square = |row: usize| {
            let mut sum = 1.0;
            self.data.for_each(row, |_, value| sum += value * value);
            sum
        };
        (0..self.data.n_rows()).map(square).fold(1.0, f64::max).sqrt()
    }

    /// γ and the whole part of (R/γ)², where they are known exactly.
    fn margin(&self, stop: &dyn Fn() -> bool) -> Result<Option<(f64, String)>> {
        if self.data.n_rows().saturating_mul(self.data.n_features()) > MOST_NUMBERS {
            return Ok(None);
        }
        let mut judge = Judge::new(Arc::clone(&self.data));
        (judge.kind, judge.threads) = (false, self.threads);
        let decision = judge.class(&self.data.classes()[1], stop)?;
        if decision.verdict != Verdict::Separable {
            return Ok(None);
        }
        let known = judge.augmented_margin(&decision, 1, stop).and_then(|margin| {
            let bounds = judge.mistake_bounds(&decision, &margin, stop)?;
            let digits = bounds.from_zero.floor();
            let most = match digits.len() {
                0..16 => digits,
                length => format!("about 10^{}", length - 1),
            };
            Some((margin.gamma.lower?, most))
        });
        Ok(known)
    }
}

/// What a run shows.
#[derive(Default)]
struct CurveRun {
    /// (k, ‖(b, w)‖) and (k, rows wrong).
    length: Vec<[f64; 2]>,
    wrong: Vec<[f64; 2]>,
    /// (pass, mistakes in it).
    passes: Vec<[f64; 2]>,
    updates: u64,
    ended: bool,
}

impl CurveRun {
    fn look(&mut self, data: &Dataset, training: &dyn Training) {
        let k = training.progress().updates as f64;
        if self.length.last().is_some_and(|point| point[0] == k) {
            return;
        }
        let model = training.model();
        let plane = &model.planes[0];
        let length = plane.weights.iter().fold(plane.bias.abs(), |sum, w| sum.hypot(*w));
        if !length.is_finite() {
            return;
        }
        let mut scorer = model.scorer(data);
        // A row on the plane is a mistake of these learners.
        let wrong = (0..data.n_rows()).filter(|&row| {
            let score = scorer.row(row)[0];
            if data.class_of(row) == 1 { score <= 0.0 } else { score >= 0.0 }
        });
        self.length.push([k, length]);
        self.wrong.push([k, wrong.count() as f64]);
    }
}

fn race(svg: &mut super::svg::Svg, room: Area, runs: [&Vec<[f64; 2]>; 2], names: [&str; 2]) {
    let all = || runs.iter().flat_map(|run| run.iter());
    let last = all().map(|point| point[0]).fold(1.0, f64::max);
    let most = all().map(|point| point[1]).fold(1.0, f64::max);
    let frame =
        Frame::within(room, Axis { low: 0.0, high: last }, Axis { low: 0.0, high: 1.08 * most });
    for (run, (tone, dash)) in runs.iter().zip([(SINGLE, ""), (BATCH, "8 3")]) {
        let mut points: Vec<[f64; 2]> = run.iter().map(|point| frame.at(*point)).collect();
        if let [only] = points[..] {
            points.push([only[0] + 0.1, only[1]]);
        }
        svg.path(
            &[points],
            false,
            &format!("class=\"race\" {} stroke-linejoin=\"round\"", stroke(tone, 2.0, dash)),
        );
    }
    frame.draw(svg, names[0], names[1]);
}

fn notes(
    single: &CurveRun,
    batch: &CurveRun,
    radius: f64,
    margin: Option<(f64, String)>,
) -> Vec<String> {
    let words = |run: &CurveRun| {
        let end = if run.ended { "a clean pass" } else { "no clean pass" };
        format!("{end} after {}", counted(run.updates as usize, "update"))
    };
    let bound = match margin {
        Some((gamma, most)) => format!(
            "R = {}, γ = {}: at most {most} updates, row by row.",
            short(radius),
            short(gamma)
        ),
        None => format!("R = {}; γ is not known, or there is none: no bound on k.", short(radius)),
    };
    vec![format!("Row by row: {}. Batch: {}.", words(single), words(batch)), bound]
}

fn legend(gamma: Option<f64>) -> Vec<Entry> {
    let mut legend = vec![
        Entry::words(Sample::Line(SINGLE, ""), "row by row"),
        Entry::words(Sample::Line(BATCH, "8 3"), "batch"),
        Entry::words(Sample::Line(BOUND, "6 4"), "√k·R, from above"),
    ];
    if gamma.is_some() {
        legend.push(Entry::words(Sample::Line(BOUND, "2 3"), "k·γ, from below"));
    }
    legend
}
