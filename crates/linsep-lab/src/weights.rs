//! Weight space of two or three weights: a half-plane for every row, and the cone of solutions.
//!
//! Two weights are drawn as they are. Of three, (w₁, w₂, b), only the direction matters, so the page draws a
//! chart of directions: the plane that touches the unit sphere at a point c inside the cone, in which a
//! direction w is the point (w·e₁, w·e₂)/(w·c). There the half-space of a row is a half-plane and the cone a
//! convex polygon; directions on the far side of the sphere are not on the chart. Cones are decided in whole
//! numbers (`linsep_teach::plot`).

use crate::answer::Wrong;
use crate::limits;
use crate::run::Run;
use crate::spec::TWO_WEIGHTS;
use linsep_teach::plot::{cone, edges_of_cone};
use serde_json::{Value, json};

/// Rows beyond which the exact cone of three weights takes too long for a page.
const EXACT_ROWS: usize = 2_000;

/// What weight space looks like, the same for all updates.
pub(crate) fn space(run: &Run) -> Result<Value, Wrong> {
    let data = &run.data;
    if data.n_classes() != 2 {
        return Ok(none("weight space is drawn for two classes; each plane has one of its own"));
    }
    match (data.n_features(), run.spec.learner == TWO_WEIGHTS) {
        (1, _) => two(run, true),
        (2, true) => two(run, false),
        (2, false) => three(run),
        (features, _) => {
            let weights = features + 1;
            Ok(none(&format!("there are {weights} weights, and a picture has room for three")))
        }
    }
}

fn none(reason: &str) -> Value {
    json!({ "mode": "none", "reason": reason })
}

/// y(1, x), or y x without a bias, of a row, bias last.
fn reflected(run: &Run, row: u32, bias: bool) -> Vec<f64> {
    let y = if run.data.class_of(row as usize) == 1 { 1.0 } else { -1.0 };
    let mut z: Vec<f64> = run.data.row(row as usize).iter().map(|x| y * x).collect();
    if bias {
        z.push(y);
    }
    z
}

fn half_planes(run: &Run, bias: bool) -> Vec<Value> {
    let step = run.shown.len().div_ceil(limits::HALF_PLANES).max(1);
    let rows = run.shown.iter().enumerate().step_by(step);
    rows.map(|(i, row)| json!({ "i": i, "row": row, "z": reflected(run, *row, bias) })).collect()
}

fn two(run: &Run, bias: bool) -> Result<Value, Wrong> {
    let found = cone(&run.data)?;
    let rays = found.map(|cone| {
        json!({
            "rays": [cone.direction(0), cone.direction(1)],
            "names": [cone.text(0), cone.text(1)],
        })
    });
    let name = |j: usize| format!("weight of {}", run.data.input().feature_name(j));
    // With one feature the weights are (w, b): the bias stands upright.
    let axes = if bias { [name(0), "bias".to_owned()] } else { [name(0), name(1)] };
    Ok(json!({
        "mode": "two",
        "bias": bias,
        "axes": axes,
        "cone": rays.map(|mut rays| {
            if bias {
                // The exact cone has the bias first.
                for ray in 0..2 {
                    let turned = [rays["rays"][ray][1].clone(), rays["rays"][ray][0].clone()];
                    rays["rays"][ray] = json!(turned);
                }
            }
            rays
        }),
        "lines": half_planes(run, bias),
    }))
}

fn three(run: &Run) -> Result<Value, Wrong> {
    let exact = run.data.n_rows() <= EXACT_ROWS;
    let edges = if exact { edges_of_cone(&run.data)? } else { None };
    let inner = edges
        .as_ref()
        .map(|edges| edges.iter().fold([0.0; 3], |s, e| [s[0] + e[0], s[1] + e[1], s[2] + e[2]]));
    // A cone with few edges has its middle elsewhere: any direction that every row accepts.
    let centre = inner.map(|inner| match square(inner) > 1e-18 && accepts(run, inner) {
        true => inner,
        false => balanced(run).unwrap_or(inner),
    });
    let c = unit(centre.unwrap_or([0.0, 0.0, 1.0]));
    let e1 = unit(cross(if c[2].abs() < 0.9 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] }, c));
    let e2 = cross(c, e1);
    let on_chart = |e1: [f64; 3], e2: [f64; 3]| -> Vec<[f64; 2]> {
        let seen = edges.iter().flatten().filter(|e| dot(**e, c) > 1e-9);
        seen.map(|e| [dot(*e, e1) / dot(*e, c), dot(*e, e2) / dot(*e, c)]).collect()
    };
    // The chart is turned so that a long cone lies along its first axis, and each axis has its own scale.
    let corners = on_chart(e1, e2);
    let sum = |of: &dyn Fn(&[f64; 2]) -> f64| corners.iter().map(of).sum::<f64>();
    let angle = (2.0 * sum(&|p| p[0] * p[1])).atan2(sum(&|p| p[0] * p[0] - p[1] * p[1])) / 2.0;
    let turned = |s: f64, t: f64| [0, 1, 2].map(|j| s * e1[j] + t * e2[j]);
    let (cos, sin) = (angle.cos(), angle.sin());
    let (e1, e2) = (turned(cos, sin), turned(-sin, cos));
    let corners = on_chart(e1, e2);
    let reach = [0, 1].map(|j| {
        let farthest = corners.iter().map(|p| p[j].abs()).fold(0.0, f64::max);
        if farthest > 0.0 { (2.2 * farthest).clamp(1e-3, 4.0) } else { 2.0 }
    });
    let polygon = edges.is_some().then(|| polygon(run, [c, e1, e2], reach));
    let names: Vec<String> = (0..2).map(|j| run.data.input().feature_name(j)).collect();
    Ok(json!({
        "mode": "three",
        "exact": exact,
        "axes": [format!("weight of {}", names[0]), format!("weight of {}", names[1]), "bias".to_owned()],
        "empty": exact && edges.is_none(),
        "chart": { "centre": c, "e1": e1, "e2": e2, "reach": reach, "polygon": polygon },
        "edges": edges,
        "lines": half_planes(run, true),
    }))
}

fn accepts(run: &Run, w: [f64; 3]) -> bool {
    (0..run.data.n_rows() as u32).all(|row| {
        let z = reflected(run, row, true);
        z[0] * w[0] + z[1] * w[1] + z[2] * w[2] > 0.0
    })
}

/// A direction that every row accepts, if a few passes of the library's perceptron find one.
fn balanced(run: &Run) -> Option<[f64; 3]> {
    use linsep::{Learner, Limits, Task};
    let task = Task::new(std::sync::Arc::clone(&run.data));
    let fit = linsep::learn::perceptron::Perceptron::default()
        .fit(&task, &Limits::default().with_epochs(Some(1000)), &mut ())
        .ok()?;
    let plane = fit.model.planes.first()?;
    let w = [plane.weights[0], plane.weights[1], plane.bias];
    accepts(run, w).then_some(w)
}

/// The cone within the shown part of the chart.
fn polygon(run: &Run, [c, e1, e2]: [[f64; 3]; 3], reach: [f64; 2]) -> Vec<[f64; 2]> {
    let [x, y] = reach;
    let mut left = vec![[-x, -y], [x, -y], [x, y], [-x, y]];
    for row in 0..run.data.n_rows() as u32 {
        let z = reflected(run, row, true);
        let z = [z[0], z[1], z[2]];
        let (a, b, d) = (dot(z, e1), dot(z, e2), dot(z, c));
        let at = |p: [f64; 2]| a * p[0] + b * p[1] + d;
        let mut kept = Vec::with_capacity(left.len() + 1);
        for (k, &from) in left.iter().enumerate() {
            let to = left[(k + 1) % left.len()];
            let (s, t) = (at(from), at(to));
            if s >= 0.0 {
                kept.push(from);
            }
            if (s > 0.0 && t < 0.0) || (s < 0.0 && t > 0.0) {
                let share = s / (s - t);
                kept.push([0, 1].map(|j| from[j] + share * (to[j] - from[j])));
            }
        }
        left = kept;
    }
    left
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn square(a: [f64; 3]) -> f64 {
    dot(a, a)
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = square(a).sqrt();
    if length > 0.0 { a.map(|x| x / length) } else { [0.0, 0.0, 1.0] }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
