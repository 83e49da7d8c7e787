//! Two directions for rows of more than two features, chosen so that the picture is true.
//!
//! **One plane.** The first axis is the signed distance from it, (w·x + b)/‖w‖, so the boundary is the
//! line at 0 and every row stands on the side where the model puts it, as far from the line as from the
//! plane. The second is the direction of the largest variance along the boundary, which leaves the score as
//! it is. So that it does not only tell which column has the smallest unit, it is found for columns in
//! standard deviations.
//!
//! **Several planes.** What they say about a row depends only on its place along the directions in which
//! they differ, w_j − w_k. Among these the picture shows Fisher's discriminant axes, for which
//!
//! ```text
//! a·S_b a / a·S_w a
//! ```
//!
//! is largest, with the scatter S_b between and S_w within the classes; a unit is one standard
//! deviation within the classes. Three classes have two such directions, so nothing is left out and the
//! regions are exact; of more than two directions some are not shown, and no region can be.
//!
//! Without a model the directions are those in which the means of the classes differ.
//!
//! References: Fisher 1936; Rao 1948; Hastie, Tibshirani and Friedman, 4.3.3.

use super::canonical::{Spread, canonical};
use super::cut::Line;
use super::pattern::{Pattern, is_argmax};
use linsep::model::{LinearModel, Plane, Rule};
use linsep_data::Dataset;
use linsep_data::sort::places;

/// Rows as points along two directions.
pub(super) struct Projected {
    pub(super) points: Vec<[f64; 2]>,
    pub(super) names: [String; 2],
    /// What the caption says about the directions.
    pub(super) note: String,
    /// The planes as lines, if nothing that they look at is left out. Lines of rivals lack what is
    /// common to all of them.
    pub(super) lines: Option<Vec<Line>>,
    /// Whether the first axis is the distance from the one plane.
    pub(super) is_distance: bool,
}

/// What is known about the columns.
pub(super) struct Columns<'a> {
    pub(super) data: &'a Dataset,
    pub(super) means: &'a [f64],
    pub(super) deviations: &'a [f64],
}

/// The directions of a picture; `None` if there are none, or if the model is not linear in the columns.
/// `scores` are those of the one plane.
pub(super) fn projected(
    pattern: &Pattern<'_>,
    columns: &Columns<'_>,
    truth: &[usize],
    classes: usize,
    scores: &[f64],
) -> Option<Projected> {
    match pattern.model {
        Some(model) if !is_linear(model) => None,
        Some(model) if model.rule == Rule::Sign => distance(columns, model.planes.first()?, scores),
        model => discriminant(columns, model, truth, classes),
    }
}

/// Whether every score is a sum of the columns, each with its weight.
fn is_linear(model: &LinearModel) -> bool {
    model.input.basis.is_none()
        && model.input.binarize.is_none()
        && !matches!(model.rule, Rule::Ballot(_))
        && model.planes.iter().all(|plane| plane.weights.len() == model.n_features())
}

fn distance(columns: &Columns<'_>, plane: &Plane, scores: &[f64]) -> Option<Projected> {
    let length = norm(&plane.weights);
    if !(length > 0.0 && length.is_finite()) {
        return None;
    }
    let scale = inverse(columns.deviations);
    let sized: Vec<f64> =
        plane.weights.iter().zip(columns.deviations).map(|(w, s)| w * s).collect();
    let normal = orthonormal(std::iter::once(&sized));
    let across = Axis::most_variance(columns, &scale, &normal);
    let mut points: Vec<[f64; 2]> = scores.iter().map(|score| [score / length, 0.0]).collect();
    let (name, words) = match &across {
        None => ("nothing varies along the boundary".to_owned(), String::new()),
        Some(across) => {
            across.fill(columns, &mut points, 1);
            let name = format!("most variance along the boundary; {}", across.largest(columns));
            let varying = scale.iter().filter(|s| **s > 0.0).count() as f64;
            let share = percent(across.variance / varying);
            let words = format!(
                " Up: the largest variance along the boundary, for columns in standard deviations; {share} of \
                 all variance."
            );
            (name, words)
        }
    };
    Some(Projected {
        points,
        names: ["signed distance from the boundary, (w·x + b)/‖w‖".to_owned(), name],
        note: format!(
            "Across: the signed distance from the boundary, so every row is on its true side.{words}"
        ),
        lines: Some(vec![Line { a: length, b: 0.0, c: 0.0 }]),
        is_distance: true,
    })
}

/// Directions up to which they are all looked at.
const MOST_DIRECTIONS: usize = 60;

fn discriminant(
    columns: &Columns<'_>,
    model: Option<&LinearModel>,
    truth: &[usize],
    classes: usize,
) -> Option<Projected> {
    // Everything is counted in standard deviations of the columns; constant ones say nothing.
    let scale = inverse(columns.deviations);
    let sized = |weights: &[f64]| -> Vec<f64> {
        weights.iter().zip(columns.deviations).map(|(w, s)| w * s).collect()
    };
    let rivals = model.is_some_and(is_argmax);
    let wanted: Vec<Vec<f64>> = match model {
        Some(model) => {
            let mut all: Vec<Vec<f64>> = model.planes.iter().map(|p| sized(&p.weights)).collect();
            if rivals {
                let first = all.remove(0);
                all.iter_mut().flatten().zip(first.iter().cycle()).for_each(|(w, f)| *w -= f);
            }
            all
        }
        None => mean_differences(columns, &scale, truth, classes),
    };
    let basis = orthonormal(wanted.iter().take(MOST_DIRECTIONS));
    if basis.is_empty() || basis.iter().flatten().any(|b| !b.is_finite()) {
        return None;
    }
    let within: Vec<Axis> = basis.iter().map(|b| Axis::of(columns, b.clone(), &scale)).collect();
    let mut spread = Spread::new(basis.len(), classes);
    let mut place = vec![0.0; basis.len()];
    for (row, &class) in truth.iter().enumerate() {
        within.iter().zip(&mut place).for_each(|(axis, t)| *t = axis.at(columns.data, row));
        spread.add(class, &place);
    }
    let found = canonical(&spread);
    let mut axes: Vec<Axis> = Vec::new();
    let mut turned: Vec<Vec<f64>> = Vec::new();
    for mut steps in found.directions.iter().take(2).cloned() {
        let mut whole = combined(&basis, &steps);
        // The largest weight points to the right or up.
        if largest(&whole) < 0.0 {
            whole.iter_mut().chain(&mut steps).for_each(|w| *w = -*w);
        }
        axes.push(Axis::of(columns, whole, &scale));
        turned.push(steps);
    }
    let several = axes.len() == 2;
    let mut names = Vec::new();
    for (k, axis) in axes.iter().enumerate() {
        let which = if several {
            format!("discriminant axis {}", k + 1)
        } else {
            "discriminant axis".into()
        };
        names.push(format!("{which}; {}", axis.largest(columns)));
    }
    if !several {
        match Axis::most_variance(columns, &scale, &basis) {
            Some(axis) => {
                names.push(format!("most variance across it; {}", axis.largest(columns)));
                axes.push(axis);
            }
            None => names.push("nothing varies across it".to_owned()),
        }
    }
    let mut points = vec![[0.0; 2]; truth.len()];
    axes.iter().enumerate().for_each(|(k, axis)| axis.fill(columns, &mut points, k));
    let lines = model.filter(|_| basis.len() <= 2).map(|model| {
        let planes: Vec<Line> = model
            .planes
            .iter()
            .map(|plane| line(columns, plane, &sized, &basis, &turned))
            .collect();
        match rivals {
            true => planes.iter().map(|plane| plane.minus(&planes[0])).collect(),
            false => planes,
        }
    });
    let source = if model.is_some() { "planes" } else { "means of the classes" };
    let unit = match found.has_units {
        true => " A unit is one standard deviation within the classes.",
        false => "",
    };
    let note = match (basis.len(), &lines) {
        (1, _) => format!("Across: the one direction in which the {source} differ."),
        (2, Some(_)) => format!(
            "Both directions in which the planes differ are shown, so regions and boundaries are exact.{unit}"
        ),
        (2, None) => {
            format!("The discriminant axes of both directions in which the {source} differ.{unit}")
        }
        (count, _) => format!(
            "The two discriminant axes with {} of the scatter between the classes, of {count} directions in \
             which the {source} differ{}.{unit}",
            percent(found.share),
            if model.is_some() { "; regions need all of them and are not drawn" } else { "" }
        ),
    };
    let [across, up] = [0, 1].map(|k| names.get(k).cloned().unwrap_or_default());
    Some(Projected { points, names: [across, up], note, lines, is_distance: false })
}

/// A plane as a line over the shown directions, of which its weights are a sum.
fn line(
    columns: &Columns<'_>,
    plane: &Plane,
    sized: &dyn Fn(&[f64]) -> Vec<f64>,
    basis: &[Vec<f64>],
    turned: &[Vec<f64>],
) -> Line {
    let weights = sized(&plane.weights);
    let p: Vec<f64> = basis.iter().map(|b| dot(b, &weights)).collect();
    let c = plane.bias + dot(&plane.weights, columns.means);
    match (&p[..], turned) {
        ([p], [e]) => Line { a: p / e[0], b: 0.0, c },
        ([p, q], [e, f]) => {
            // p = a e + b f.
            let det = e[0] * f[1] - e[1] * f[0];
            Line { a: (p * f[1] - q * f[0]) / det, b: (q * e[0] - p * e[1]) / det, c }
        }
        _ => Line { a: 0.0, b: 0.0, c },
    }
}

/// The means of the classes less that of the first one, in standard deviations.
fn mean_differences(
    columns: &Columns<'_>,
    scale: &[f64],
    truth: &[usize],
    classes: usize,
) -> Vec<Vec<f64>> {
    let known = classes.min(MOST_DIRECTIONS + 1);
    let mut sums = vec![vec![0.0; scale.len()]; known];
    let mut counts = vec![0.0f64; known];
    for (row, &class) in truth.iter().enumerate().filter(|(_, class)| **class < known) {
        counts[class] += 1.0;
        columns.data.for_each(row, |column, value| sums[class][column as usize] += value);
    }
    let mut means =
        sums.iter().zip(&counts).filter(|(_, count)| **count > 0.0).map(|(sum, count)| {
            sum.iter().zip(scale).map(|(x, s)| x / count * s).collect::<Vec<f64>>()
        });
    let Some(first) = means.next() else { return Vec::new() };
    means.map(|mean| mean.iter().zip(&first).map(|(a, b)| a - b).collect()).collect()
}

/// A direction: a row's place on it is Σ weights_j (x_j − means_j).
struct Axis {
    weights: Vec<f64>,
    offset: f64,
    /// The weights for columns in the units in which the direction was found.
    unit: Vec<f64>,
    variance: f64,
}

impl Axis {
    fn of(columns: &Columns<'_>, unit: Vec<f64>, scale: &[f64]) -> Axis {
        let weights: Vec<f64> = unit.iter().zip(scale).map(|(u, s)| u * s).collect();
        let offset = dot(&weights, columns.means);
        Axis { weights, offset, unit, variance: f64::NAN }
    }

    fn at(&self, data: &Dataset, row: usize) -> f64 {
        let mut sum = -self.offset;
        data.for_each(row, |column, value| sum += self.weights[column as usize] * value);
        sum
    }

    fn fill(&self, columns: &Columns<'_>, points: &mut [[f64; 2]], k: usize) {
        points.iter_mut().enumerate().for_each(|(row, p)| p[k] = self.at(columns.data, row));
    }

    /// The direction of the largest variance at right angles to `taken`, in columns times `scale`: by
    /// powers of the covariance, which no one has to write down.
    fn most_variance(columns: &Columns<'_>, scale: &[f64], taken: &[Vec<f64>]) -> Option<Axis> {
        const MOST_STEPS: usize = 100;
        let clear = |v: &mut Vec<f64>| {
            for _ in 0..2 {
                for t in taken {
                    let along = dot(t, v);
                    v.iter_mut().zip(t).for_each(|(v, t)| *v -= along * t);
                }
            }
            let length = norm(v);
            let whole = length > 0.0 && length.is_finite();
            if whole {
                v.iter_mut().for_each(|v| *v /= length);
            }
            whole.then_some(length)
        };
        let rows = columns.data.n_rows();
        let spreads = columns.deviations.iter().zip(scale).map(|(s, k)| s * k);
        // Signs that follow no pattern, so that nothing is likely to cancel.
        let mut v: Vec<f64> = spreads
            .enumerate()
            .map(|(j, s)| {
                s * (1.0 + 0.3 * (2.4 * j as f64).sin()) * if j * j % 3 == 1 { -1.0 } else { 1.0 }
            })
            .collect();
        let size = norm(&v);
        let mut variance = 0.0;
        clear(&mut v)?;
        for _ in 0..MOST_STEPS {
            let axis = Axis::of(columns, v.clone(), scale);
            let (mut next, mut total, mut square) = (vec![0.0; v.len()], 0.0, 0.0);
            for row in 0..rows {
                let t = axis.at(columns.data, row);
                (total, square) = (total + t, square + t * t);
                columns.data.for_each(row, |column, value| next[column as usize] += t * value);
            }
            for (j, x) in next.iter_mut().enumerate() {
                *x = (*x - total * columns.means[j]) * scale[j];
            }
            variance = square / rows.max(1) as f64;
            // Rounding is not a direction.
            if variance <= 1e-20 * size * size {
                return None;
            }
            clear(&mut next)?;
            let turned = 1.0 - dot(&v, &next).abs();
            v = next;
            if turned < 1e-12 {
                break;
            }
        }
        if largest(&v) < 0.0 {
            v.iter_mut().for_each(|v| *v = -*v);
        }
        Some(Axis { variance, ..Axis::of(columns, v, scale) })
    }

    /// The columns with the most weight, in words.
    fn largest(&self, columns: &Columns<'_>) -> String {
        let size = |j: usize| self.unit[j].abs();
        let order = places(self.unit.len(), &mut |a, b| size(b).total_cmp(&size(a)));
        let name = |j: usize| columns.data.input().feature_name(j);
        match order[..] {
            [a, ..] if size(a).powi(2) > 0.9 * dot(&self.unit, &self.unit) => {
                format!("mostly {}", name(a))
            }
            [a, b, ..] => format!("largest weights {}, {}", name(a), name(b)),
            _ => String::new(),
        }
    }
}

/// What brings columns to a standard deviation of 1; constant ones stay out.
fn inverse(deviations: &[f64]) -> Vec<f64> {
    let one = |s: &f64| if *s > 0.0 && (1.0 / s).is_finite() { 1.0 / s } else { 0.0 };
    deviations.iter().map(one).collect()
}

/// Vectors of length 1 at right angles to each other that span the same directions.
fn orthonormal<'a>(vectors: impl Iterator<Item = &'a Vec<f64>>) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        let before = norm(vector);
        if !(before > 0.0 && before.is_finite()) {
            continue;
        }
        let mut rest: Vec<f64> = vector.iter().map(|x| x / before).collect();
        for _ in 0..2 {
            for b in &basis {
                let along = dot(b, &rest);
                rest.iter_mut().zip(b).for_each(|(r, b)| *r -= along * b);
            }
        }
        let left = norm(&rest);
        if left > 1e-9 {
            basis.push(rest.iter().map(|r| r / left).collect());
        }
    }
    basis
}

fn combined(basis: &[Vec<f64>], steps: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; basis.first().map_or(0, Vec::len)];
    for (b, step) in basis.iter().zip(steps) {
        sum.iter_mut().zip(b).for_each(|(s, b)| *s += step * b);
    }
    sum
}

fn largest(vector: &[f64]) -> f64 {
    vector.iter().fold(0.0, |most: f64, x| if x.abs() > most.abs() { *x } else { most })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(v: &[f64]) -> f64 {
    let most = v.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if most == 0.0 || !most.is_finite() {
        return most;
    }
    most * v.iter().map(|x| (x / most).powi(2)).sum::<f64>().sqrt()
}

fn percent(share: f64) -> String {
    match 100.0 * share {
        p if !p.is_finite() => "a share".to_owned(),
        p if p >= 99.5 && share < 1.0 - 1e-9 => "more than 99 %".to_owned(),
        p if p < 0.5 => "less than 1 %".to_owned(),
        p => format!("{p:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::pattern::{Chart, Scene};

    /// Rows without any pattern, in columns of different size.
    fn rows<const D: usize>(count: usize, classes: usize) -> Dataset {
        let wave = |i: usize, j: usize| (1.7 * i as f64 + 2.9 * (i * j) as f64 + j as f64).sin();
        let row = |i: usize| std::array::from_fn(|j| 10f64.powi(j as i32) * (wave(i, j) + 0.3));
        let rows: Vec<[f64; D]> = (0..count).map(row).collect();
        let labels: Vec<String> = (0..count).map(|i| format!("c{}", i % classes)).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        Dataset::from_rows(&rows, &labels).unwrap()
    }

    fn model(data: &Dataset, planes: &[&[f64]], rule: Rule) -> LinearModel {
        let plane = |p: &&[f64]| Plane::new(p[1..].to_vec(), p[0]);
        let planes = planes.iter().map(plane).collect();
        LinearModel::new(planes, rule, data.classes().to_vec(), data.input().clone())
    }

    #[test]
    fn the_first_axis_is_the_signed_distance_and_the_second_the_most_variance_along_it() {
        let data = rows::<3>(200, 2);
        let model = model(&data, &[&[0.5, 1.0, -2.0, 2.0]], Rule::Sign);
        let pattern = Pattern { model: Some(&model), ..Pattern::of(&data) };
        let scene = Scene::new(&pattern).unwrap();
        let lines = scene.lines.as_ref().unwrap();
        for (row, point) in scene.points.iter().enumerate() {
            let x = data.row(row);
            let distance = (x[0] - 2.0 * x[1] + 2.0 * x[2] + 0.5) / 3.0;
            assert!((point[0] - distance).abs() <= 1e-12 * (1.0 + distance.abs()));
            assert_eq!(point[0] >= 0.0, scene.said[row] == 1);
            assert_eq!(Scene::class_by_lines(&model, lines, *point), scene.said[row]);
        }
        assert_eq!(lines[0].at([0.0, 7.0]), 0.0);
        // No direction along the boundary has more variance, in columns that have a deviation of 1.
        let spread = |along: &dyn Fn(usize) -> f64| {
            let mean = (0..200).map(along).sum::<f64>() / 200.0;
            ((0..200).map(|row| (along(row) - mean).powi(2)).sum::<f64>() / 200.0).sqrt()
        };
        let most = spread(&|row| scene.points[row][1]);
        let s: Vec<f64> = (0..3).map(|j| spread(&|row| data.row(row)[j])).collect();
        let w = [s[0], -2.0 * s[1], 2.0 * s[2]];
        let basis =
            orthonormal([&w.to_vec(), &vec![1.0, 0.0, 0.0], &vec![0.0, 1.0, 0.0]].into_iter());
        for k in 0..180 {
            let (sin, cos) = f64::from(k).to_radians().sin_cos();
            let v: Vec<f64> =
                (0..3).map(|j| (cos * basis[1][j] + sin * basis[2][j]) / s[j]).collect();
            assert!(spread(&|row| dot(&v, &data.row(row))) <= most * (1.0 + 1e-9));
        }
    }

    #[test]
    fn the_regions_of_three_classes_are_those_of_the_whole_rows() {
        let data = rows::<5>(300, 3);
        let planes: [&[f64]; 3] = [
            &[0.1, 1.0, 0.2, -0.01, 0.001, 0.0],
            &[-0.2, 0.3, -0.1, 0.02, 0.0, 0.0002],
            &[0.0, -1.0, 0.1, 0.005, -0.002, 0.0001],
        ];
        for rule in [Rule::ArgMax, Rule::Rest] {
            let model = model(&data, &planes, rule);
            let pattern = Pattern { model: Some(&model), ..Pattern::of(&data) };
            let scene = Scene::new(&pattern).unwrap();
            let lines = scene.lines.as_ref().expect("two directions hold everything");
            for (point, said) in scene.points.iter().zip(&scene.said) {
                assert_eq!(Scene::class_by_lines(&model, lines, *point), *said);
            }
            assert!((0..3).all(|class| scene.said.contains(&class)));
        }
    }

    #[test]
    fn planes_that_differ_in_one_direction_have_regions_beside_each_other() {
        let data = rows::<4>(120, 3);
        let planes: [&[f64]; 3] =
            [&[0.0, 0.0, 0.1, 0.0, 0.0], &[0.1, 1.0, 0.2, 0.0, 0.0], &[-0.3, 2.0, 0.3, 0.0, 0.0]];
        let model = model(&data, &planes, Rule::ArgMax);
        let pattern = Pattern { model: Some(&model), ..Pattern::of(&data) };
        let scene = Scene::new(&pattern).unwrap();
        let lines = scene.lines.as_ref().unwrap();
        assert!(lines.iter().all(|line| line.b == 0.0));
        for (point, said) in scene.points.iter().zip(&scene.said) {
            assert_eq!(Scene::class_by_lines(&model, lines, *point), *said);
        }
    }

    #[test]
    fn more_directions_than_two_have_no_regions() {
        let data = rows::<5>(200, 4);
        let planes: [&[f64]; 4] = [
            &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            &[0.0, 0.0, 0.1, 0.0, 0.0, 0.0],
            &[0.0, 0.0, 0.0, 0.01, 0.0, 0.0],
            &[0.0; 6],
        ];
        let model = model(&data, &planes, Rule::ArgMax);
        let pattern = Pattern { model: Some(&model), ..Pattern::of(&data) };
        let scene = Scene::new(&pattern).unwrap();
        assert!(scene.lines.is_none());
        let Chart::Projected(found) = &scene.chart else { panic!("no directions") };
        assert!(found.note.contains("of 3 directions"), "{}", found.note);
        // A section has regions, and says how far they are from the truth.
        let pattern = Pattern { axes: Some([1, 2]), ..pattern };
        let scene = Scene::new(&pattern).unwrap();
        assert!(scene.lines.is_some() && scene.is_section());
    }

    #[test]
    fn weights_of_zero_give_no_direction() {
        let data = rows::<3>(20, 2);
        let model = model(&data, &[&[1.0, 0.0, 0.0, 0.0]], Rule::Sign);
        let pattern = Pattern { model: Some(&model), ..Pattern::of(&data) };
        assert!(Scene::new(&pattern).unwrap().is_section());
    }
}
