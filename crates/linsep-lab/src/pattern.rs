//! Pattern space as the page draws it: points, planes and mistakes after each update.

use crate::answer::{Wrong, number};
use crate::limits;
use crate::run::Run;
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
    let mut before = match from.checked_sub(1) {
        Some(k) => wrong_at(run, k)?,
        None => vec![false; run.shown.len()],
    };
    let mut frames = Vec::new();
    for k in from..=to {
        let planes = run.planes_at(k)?;
        let (wrong, band) = wrong_of(run, &planes);
        let where_ = |is: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..wrong.len()).filter(|i| is(*i)).collect()
        };
        let mut frame = json!({
            "k": k,
            "planes": planes_json(&planes),
            "broken": if k == 0 { Vec::new() } else { where_(&|i| wrong[i] && !before[i]) },
            "fixed": if k == 0 { Vec::new() } else { where_(&|i| !wrong[i] && before[i]) },
            "band": band,
            "line": k.checked_sub(1).map(|at| &run.lines[at as usize]),
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
    let step = run.last().div_ceil(CURVE).max(1);
    let mut points = Vec::new();
    let mut k = 0;
    while k <= run.last() {
        let distance = match target {
            Some(target) => run.planes_at(k)?.first().map(|plane| {
                let now = std::iter::once(plane.bias).chain(plane.weights.iter().copied());
                now.zip(target).map(|(x, t)| (x - t).powi(2)).sum::<f64>()
            }),
            None => None,
        };
        let line = k.checked_sub(1).map(|at| &run.lines[at as usize]);
        points.push(json!({
            "k": k,
            "norm": line.and_then(|line| line.norm),
            "upper": line.and_then(|line| line.bound_upper),
            "lower": line.and_then(|line| line.bound_lower),
            "mistakes": line.map_or(0, |line| line.mistakes),
            "distance": distance.and_then(|x| x.is_finite().then_some(x)),
        }));
        k = if k < run.last() { (k + step).min(run.last()) } else { k + 1 };
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

/// y·score of each row; of K classes what the score of the own class is ahead of the best other, and for votes
/// 1 or −1.
fn margins_of(model: &LinearModel, data: &Dataset, rows: &[u32]) -> Vec<f64> {
    let mut scorer = model.scorer(data);
    let margin = |row: &u32| {
        let truth = data.class_of(*row as usize);
        let scores = scorer.row(*row as usize);
        match model.rule {
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
        }
    };
    rows.iter().map(margin).collect()
}

/// How many dimensions a view has to choose from.
const VIEWED: usize = 512;

/// Everything about update `k` that a frame does not have: the model of the learner, errors on all rows,
/// margins, and where points of more than two features are drawn.
pub(crate) fn state(run: &mut Run, k: u64, view: &str) -> Result<Value, Wrong> {
    if k > run.last() {
        return Err(Wrong::Missing("the run has not made this update yet"));
    }
    let planes = run.planes_at(k)?;
    let model = run.model_at(k)?;
    Ok(described(run, k, planes, &model, view))
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
    Ok(described(run, 0, planes, &model, view))
}

fn described(run: &Run, k: u64, planes: Vec<Plane>, model: &LinearModel, view: &str) -> Value {
    let walking = run.walking(planes);
    let margins = margins_of(&walking, &run.data, &run.shown);
    let same = model.planes == walking.planes;
    // Rows on the plane count as in training, and all rows count, not only the drawn ones.
    let all = match run.shown.len() == run.data.n_rows() {
        true => margins.clone(),
        false => {
            let rows: Vec<u32> = (0..run.data.n_rows() as u32).collect();
            margins_of(&walking, &run.data, &rows)
        }
    };
    let errors = all.iter().filter(|margin| **margin <= 0.0).count();
    let wrong: Vec<usize> = (0..margins.len()).filter(|i| margins[*i] <= 0.0).collect();
    let plane = walking.deciding_plane().cloned();
    let seen = (run.loaded.data.n_features() > 2).then(|| projected(run, plane.as_ref(), view));
    json!({
        "k": k,
        "planes": planes_json(&walking.planes),
        "model": (!same && model.planes.len() == walking.planes.len()).then(|| planes_json(&model.planes)),
        "errors": errors,
        "wrong": wrong,
        "band": band_of(&margins),
        "margins": margins.into_iter().map(number).collect::<Vec<_>>(),
        "view": seen,
    })
}

/// Where points of many features are drawn.
///
/// The first axis of `distance` is the signed distance from the plane, so that the boundary is the exact line 0;
/// the second is the direction of most variance at a right angle to it. `pca` has the two directions of most
/// variance, `means` the difference of the means of two classes first, and `columns:i,j` two features.
fn projected(run: &Run, plane: Option<&Plane>, view: &str) -> Value {
    let data = &run.loaded.data;
    let width = data.n_features();
    let rows: Vec<Vec<f64>> = run.shown.iter().map(|row| data.row(*row as usize)).collect();
    let mean = mean_of(rows.iter(), width);
    let total: f64 = rows.iter().map(|x| square(&minus(x, &mean))).sum();
    let usable = plane.filter(|p| run.data.n_features() == width && square(&p.weights) > 0.0);
    let chosen = view.strip_prefix("columns:").and_then(|pair| {
        let (i, j) = pair.split_once(',')?;
        let (i, j): (usize, usize) = (i.parse().ok()?, j.parse().ok()?);
        (i < width && j < width && i != j).then_some((i, j))
    });
    let (first, kind) = match (view, chosen, usable) {
        _ if width > VIEWED => (axis(0, width), "columns"),
        (_, Some((i, _)), _) => (axis(i, width), "columns"),
        ("means", _, _) if data.n_classes() == 2 => {
            let of = |class: u32| {
                let own = rows.iter().zip(&run.shown);
                let own = own.filter(|(_, row)| data.class_of(**row as usize) == class);
                mean_of(own.map(|(x, _)| x), width)
            };
            (unit(minus(&of(1), &of(0))), "means")
        }
        ("pca", _, _) | (_, _, None) => (leading(&rows, &mean, None), "pca"),
        (_, _, Some(plane)) => (unit(plane.weights.clone()), "distance"),
    };
    let second = match chosen {
        Some((_, j)) => axis(j, width),
        None if width > VIEWED => axis(1, width),
        None => leading(&rows, &mean, Some(&first)),
    };
    let (offset, along) = match (kind, usable) {
        ("distance", Some(plane)) => (plane.bias / square(&plane.weights).sqrt(), [0.0, 0.0]),
        ("columns", _) => (0.0, [0.0, 0.0]),
        _ => (0.0, [dot(&mean, &first), dot(&mean, &second)]),
    };
    let place = |x: &Vec<f64>| {
        let u = dot(x, &first) + offset - along[0];
        [number(u), number(dot(x, &second) - along[1])]
    };
    let spread =
        |axis: &[f64]| rows.iter().map(|x| dot(&minus(x, &mean), axis).powi(2)).sum::<f64>();
    let share = (spread(&first) + spread(&second)) / total;
    json!({
        "kind": kind,
        "points": rows.iter().map(place).collect::<Vec<_>>(),
        "variance": number(share.min(1.0)),
        "boundary": (kind == "distance").then_some(0.0),
        "columns": chosen.map(|(i, j)| [i, j]),
    })
}

fn axis(j: usize, width: usize) -> Vec<f64> {
    (0..width).map(|k| f64::from(u8::from(k == j))).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn square(a: &[f64]) -> f64 {
    dot(a, a)
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn unit(a: Vec<f64>) -> Vec<f64> {
    let length = square(&a).sqrt();
    if length > 0.0 { a.into_iter().map(|x| x / length).collect() } else { axis(0, a.len()) }
}

fn mean_of<'a>(rows: impl Iterator<Item = &'a Vec<f64>>, width: usize) -> Vec<f64> {
    let (mut sum, mut count) = (vec![0.0; width], 0.0);
    for row in rows {
        sum.iter_mut().zip(row).for_each(|(s, x)| *s += x);
        count += 1.0;
    }
    sum.into_iter().map(|s| if count > 0.0 { s / count } else { 0.0 }).collect()
}

/// The direction of most variance, at a right angle to another one if there is one.
fn leading(rows: &[Vec<f64>], mean: &[f64], beside: Option<&[f64]>) -> Vec<f64> {
    let width = mean.len();
    let clear = |mut v: Vec<f64>| {
        if let Some(other) = beside {
            let along = dot(&v, other);
            v.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
        }
        v
    };
    let rows: Vec<Vec<f64>> = rows.iter().map(|x| clear(minus(x, mean))).collect();
    // No symmetric start: it could be at a right angle to the answer.
    let mut v = unit(clear((0..width).map(|j| 1.0 + 0.618 * j as f64).collect()));
    for _ in 0..60 {
        let mut next = vec![0.0; width];
        for x in &rows {
            let along = dot(x, &v);
            next.iter_mut().zip(x).for_each(|(n, x)| *n += along * x);
        }
        if square(&next) == 0.0 {
            break;
        }
        v = unit(clear(next));
    }
    v
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
