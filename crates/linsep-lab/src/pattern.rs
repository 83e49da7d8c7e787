//! Pattern space as the page draws it: points, planes and mistakes after each update.

use crate::answer::{Wrong, number};
use crate::limits;
use crate::run::Run;
use crate::sample;
use crate::view::{Seen, View};
use linsep::data::parallel::parallel_map;
use linsep::{Dataset, LinearModel, Plane, Rule};
use serde_json::{Value, json};

/// Rows of three features that are drawn in three dimensions, at most.
const CUBE: usize = 64;

/// What does not change while a run goes on.
pub(crate) fn describe(run: &Run) -> Value {
    let data = &run.data;
    let plain = &run.loaded.data;
    let flat = plain.n_features() <= 2;
    let place = |row: &u32| {
        let x = plain.row(*row as usize);
        [number(x[0]), number(x.get(1).copied().unwrap_or(0.0))]
    };
    let shown = run.shown.iter();
    json!({
        "name": run.loaded.name,
        "rows": data.n_rows(),
        "features": plain.n_features(),
        "expanded": data.n_features(),
        "names": (0..plain.n_features()).take(64).map(|j| plain.input().feature_name(j)).collect::<Vec<_>>(),
        "classes": data.classes(),
        "shown": shown.clone().collect::<Vec<_>>(),
        "lines": shown.clone().map(|row| data.origin().line(u64::from(*row))).collect::<Vec<_>>(),
        "class": shown.clone().map(|row| data.class_of(*row as usize)).collect::<Vec<_>>(),
        "points": flat.then(|| shown.map(place).collect::<Vec<_>>()),
        "cube": (plain.n_features() == 3 && plain.n_rows() <= CUBE).then(|| {
            run.shown.iter().map(|row| plain.row(*row as usize)).collect::<Vec<_>>()
        }),
        "sampled": data.n_rows() > run.shown.len(),
        "rule": rule_word(&run.template.rule),
        "csv": run.loaded.text.is_some(),
    })
}

fn rule_word(rule: &Rule) -> &'static str {
    match rule {
        Rule::Sign => "sign",
        Rule::ArgMax => "argmax",
        Rule::Rest => "rest",
        Rule::RestLast => "rest-last",
        Rule::Vote => "vote",
        _ => "ballot",
    }
}

/// Planes and mistakes after the updates `from` to `to`. The first frame has all wrong points, each other one
/// what changed.
pub(crate) fn frames(run: &mut Run, from: u64, to: u64) -> Result<Value, Wrong> {
    let to = to.min(run.last()).min(from.saturating_add(limits::FRAMES - 1));
    if from > to {
        return Err(Wrong::Missing("the run has not made this update yet"));
    }
    // The end of a run is there before its log is.
    let pending = from == to && to == run.last() && to > run.log.known();
    if !pending {
        run.know(to)?;
    }
    let mut before = match from.checked_sub(1) {
        Some(k) if !pending => wrong_at(run, k)?,
        _ => vec![false; run.shown.len()],
    };
    let mut frames = Vec::new();
    for k in from..=to {
        let planes = run.planes_at(k)?;
        let (wrong, band) = wrong_of(run, &planes);
        // What a sample has is no measure of all rows.
        let band = band.filter(|_| run.shown.len() == run.data.n_rows());
        let is_first = k == 0 || pending;
        let where_ = |is: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..wrong.len()).filter(|i| is(*i)).collect()
        };
        let mut frame = json!({
            "k": k,
            "planes": planes_json(&planes),
            "broken": if is_first { Vec::new() } else { where_(&|i| wrong[i] && !before[i]) },
            "fixed": if is_first { Vec::new() } else { where_(&|i| !wrong[i] && before[i]) },
            "band": band,
            "line": k.checked_sub(1).and_then(|at| run.log.lines.get(at as usize)),
            "pending": pending,
        });
        if k == from {
            frame["wrong"] = json!(where_(&|i| wrong[i]));
        }
        before = wrong;
        frames.push(frame);
    }
    Ok(Value::Array(frames))
}

/// Points of a curve, at most.
const CURVE: u64 = 1500;

/// The measures of all updates for the curves, evenly thinned out where there are many, with the squared
/// distance from αâ where the widest plane â is known.
pub(crate) fn curves(run: &mut Run, target: Option<&[f64]>) -> Result<Value, Wrong> {
    // What is written down is drawn; a limit of the log is no reason to draw nothing.
    let _ = run.know(run.last());
    let last = run.log.known();
    let step = last.div_ceil(CURVE).max(1);
    let mut points = Vec::new();
    let mut k = 0;
    while k <= last {
        let distance = match target {
            Some(target) => run.planes_at(k)?.first().map(|plane| {
                let now = std::iter::once(plane.bias).chain(plane.weights.iter().copied());
                now.zip(target).map(|(x, t)| (x - t).powi(2)).sum::<f64>()
            }),
            None => None,
        };
        let line = k.checked_sub(1).map(|at| &run.log.lines[at as usize]);
        points.push(json!({
            "k": k,
            "norm": line.and_then(|line| line.norm),
            "upper": line.and_then(|line| line.bound_upper),
            "lower": line.and_then(|line| line.bound_lower),
            "mistakes": line.map_or(0, |line| line.mistakes),
            "distance": distance.and_then(|x| x.is_finite().then_some(x)),
        }));
        k = if k < last { (k + step).min(last) } else { k + 1 };
    }
    Ok(Value::Array(points))
}

/// Planes as the page has them: bias first. Those of very many numbers are not sent.
pub(crate) fn planes_json(planes: &[Plane]) -> Value {
    let flat = |plane: &Plane| {
        let numbers = std::iter::once(plane.bias).chain(plane.weights.iter().copied());
        numbers.map(number).collect::<Vec<_>>()
    };
    match planes.iter().map(|plane| plane.weights.len()).sum::<usize>() {
        0..=1024 => json!(planes.iter().map(flat).collect::<Vec<_>>()),
        _ => Value::Null,
    }
}

fn wrong_at(run: &mut Run, k: u64) -> Result<Vec<bool>, Wrong> {
    let planes = run.planes_at(k)?;
    Ok(wrong_of(run, &planes).0)
}

/// Which of the drawn points are wrong: on the other side or on the plane, or of another class; and the
/// smallest margin, where none is.
fn wrong_of(run: &Run, planes: &[Plane]) -> (Vec<bool>, Option<f64>) {
    let model = run.walking(planes.to_vec());
    let margins = margins_of(&model, &run.data, &run.shown);
    let wrong = margins.iter().map(|margin| *margin <= 0.0).collect();
    (wrong, band_of(&margins))
}

fn band_of(margins: &[f64]) -> Option<f64> {
    let least = margins.iter().copied().fold(f64::INFINITY, f64::min);
    (least > 0.0 && least.is_finite()).then_some(least)
}

/// What all rows say of a model.
struct Survey {
    /// Rows that are wrong, rising.
    wrong: Vec<u32>,
    /// The smallest margin.
    least: f64,
}

/// Goes over all rows, in pieces on all threads.
fn survey(model: &LinearModel, data: &Dataset, threads: usize) -> Survey {
    let pieces = if threads > 1 { 4 * threads } else { 1 };
    let size = data.n_rows().div_ceil(pieces).max(1);
    let found = parallel_map(pieces, threads, |piece| {
        let rows = (piece * size).min(data.n_rows())..((piece + 1) * size).min(data.n_rows());
        let (mut wrong, mut least) = (Vec::new(), f64::INFINITY);
        each_margin(model, data, rows.map(|row| row as u32), |row, margin| {
            least = least.min(margin);
            if margin <= 0.0 {
                wrong.push(row);
            }
        });
        Survey { wrong, least }
    });
    let least = found.iter().map(|part| part.least).fold(f64::INFINITY, f64::min);
    Survey { wrong: found.into_iter().flat_map(|part| part.wrong).collect(), least }
}

/// y·score of each row; of K classes what the score of the own class is ahead of the best other, and for votes
/// 1 or −1.
fn margins_of(model: &LinearModel, data: &Dataset, rows: &[u32]) -> Vec<f64> {
    let mut margins = Vec::with_capacity(rows.len());
    each_margin(model, data, rows.iter().copied(), |_, margin| margins.push(margin));
    margins
}

fn each_margin(
    model: &LinearModel,
    data: &Dataset,
    rows: impl Iterator<Item = u32>,
    mut each: impl FnMut(u32, f64),
) {
    let mut scorer = model.scorer(data);
    for row in rows {
        let truth = data.class_of(row as usize);
        let scores = scorer.row(row as usize);
        let margin = match model.rule {
            Rule::Sign => scores[0] * if truth == 1 { 1.0 } else { -1.0 },
            Rule::ArgMax | Rule::Rest if scores.len() > truth as usize => {
                let own = scores[truth as usize];
                let others = scores.iter().enumerate().filter(|(k, _)| *k != truth as usize);
                own - others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
            }
            _ => match model.class_of(scores) == truth {
                true => 1.0,
                false => -1.0,
            },
        };
        each(row, margin);
    }
}

/// Everything about update `k` that a frame does not have: the model of the learner, errors on all rows,
/// margins, and where points of more than two features are drawn.
pub(crate) fn state(run: &mut Run, k: u64, view: &str) -> Result<Value, Wrong> {
    let view = view.parse()?;
    if k != run.last() {
        run.know(k)?;
    }
    let planes = run.planes_at(k)?;
    let model = run.model_at(k)?;
    described(run, k, planes, &model, view)
}

/// The same for planes that the user moved.
pub(crate) fn state_of(run: &Run, planes: &[Vec<f64>], view: &str) -> Result<Value, Wrong> {
    let wide = run.data.n_features() + 1;
    let fits = planes.len() == run.template.planes.len()
        && planes.iter().all(|plane| plane.len() == wide && plane.iter().all(|x| x.is_finite()));
    if !fits {
        return Err(Wrong::usage(format!(
            "{} planes of {wide} finite numbers are needed",
            run.template.planes.len()
        )));
    }
    let planes: Vec<Plane> = planes.iter().map(|p| Plane::new(p[1..].to_vec(), p[0])).collect();
    let model = run.walking(planes.clone());
    described(run, 0, planes, &model, view.parse()?)
}

fn described(
    run: &Run,
    k: u64,
    planes: Vec<Plane>,
    model: &LinearModel,
    view: View,
) -> Result<Value, Wrong> {
    let walking = run.walking(planes);
    let same = model.planes == walking.planes;
    let data = &run.data;
    let margins = margins_of(&walking, data, &run.shown);
    // Rows on the plane count as in training, and all rows count, not only the drawn ones.
    let sampled = run.shown.len() < data.n_rows();
    let all = sampled.then(|| survey(&walking, data, run.threads));
    let errors = match &all {
        Some(all) => all.wrong.len(),
        None => margins.iter().filter(|margin| **margin <= 0.0).count(),
    };
    let band = match &all {
        Some(all) => band_of(&[all.least]),
        None => band_of(&margins),
    };
    let wrong: Vec<usize> = (0..margins.len()).filter(|i| margins[*i] <= 0.0).collect();
    let seen = match run.loaded.data.n_features() > 2 {
        true => Some(Seen::of(run, &walking.planes, walking.deciding_plane(), view)?),
        false => None,
    };
    Ok(json!({
        "k": k,
        "planes": planes_json(&walking.planes),
        "model": (!same && model.planes.len() == walking.planes.len()).then(|| planes_json(&model.planes)),
        "errors": errors,
        "wrong": wrong,
        "band": band,
        "also": all.map(|all| also(run, &all, seen.as_ref())),
        "margins": margins.iter().copied().map(number).collect::<Vec<_>>(),
        "view": seen.map(|seen| seen.told(run)),
    }))
}

/// Rows that the sample has not and that are drawn all the same: those that the verdict rests on, and wrong
/// ones as far as there is room.
fn also(run: &Run, all: &Survey, seen: Option<&Seen>) -> Value {
    let wrong = all.wrong.iter().copied();
    let (rows, left) = sample::also(&run.shown, &run.notable, wrong, run.spec.seed);
    let data = &run.loaded.data;
    let place = |row: &u32| {
        let x = data.row(*row as usize);
        match seen {
            Some(seen) => seen.place(&x),
            None => [number(x[0]), number(x.get(1).copied().unwrap_or(0.0))],
        }
    };
    let each = rows.iter().map(|row| {
        json!({
            "row": row,
            "line": data.origin().line(u64::from(*row)),
            "class": data.class_of(*row as usize),
            "at": place(row),
            "wrong": all.wrong.binary_search(row).is_ok(),
            "notable": run.notable.binary_search(row).is_ok(),
        })
    });
    json!({ "rows": each.collect::<Vec<_>>(), "left": left })
}

/// A part of the plane, as numbers of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) x: [f64; 2],
    pub(crate) y: [f64; 2],
    pub(crate) cells: usize,
}

impl Grid {
    /// The middle of a cell.
    pub(crate) fn at(&self, i: usize, j: usize) -> [f64; 2] {
        let along = |[low, high]: [f64; 2], k: usize| {
            low + (high - low) * (k as f64 + 0.5) / self.cells as f64
        };
        [along(self.x, i), along(self.y, j)]
    }

    /// The middles of all cells, row by row from the bottom.
    pub(crate) fn places(self) -> impl Iterator<Item = [f64; 2]> {
        (0..self.cells).flat_map(move |j| (0..self.cells).map(move |i| self.at(i, j)))
    }
}
