//! Weight space of two features and a bias, in a section.
//!
//! A reflected row asks for s (w₁x₁ + w₂x₂ + b) > 0. If (w₁, w₂, b) is a solution, so is every positive
//! multiple of it, so every solution with b < 0 is one point of the section b = −1,
//!
//! ```text
//! (w₁ / |b|, w₂ / |b|)
//! ```
//!
//! and those with b > 0 are the points of the section b = 1. The cone of solutions is open, so if there is
//! one at all it meets one of the two; the picture shows that. In the section a row is a half-plane
//! again, and the cone a polygon, bounded or not.
//!
//! Whether the cone is empty, and its edges, are found in whole numbers: each octant of weight space is
//! cut by the rows, as a polygon is cut by lines. An octant holds solutions exactly if the sum of the
//! edges that are left satisfies every row.

use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::cut::{Line, inside, keep};
use super::svg::{Anchor, Area, INK, Svg, Type, colour, number};
use super::weight::{CONE, MOST_DOTS, MOST_LINES, MOST_NAMES, WALK, Weight, walk_line, whole_rows};
use super::{Style, counted};
use crate::two_weights::followed;
use dashu_int::IBig;
use dashu_int::ops::Gcd;
use linsep::engine::rate::Rate;
use linsep::learn::descent::Descent;
use linsep::learn::perceptron::{Order, Perceptron};
use linsep::run::{Learner, Task};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::scale::Scaling;
use std::sync::Arc;

/// The picture of three weights.
pub(super) struct Biased<'a> {
    weight: &'a Weight,
    /// The edges of the cone on the sides b < 0 and b > 0, where there are solutions.
    cones: [Option<Vec<Ray>>; 2],
    /// The shown side: −1 or 1.
    side: f64,
    walk: Vec<[f64; 3]>,
    ended: bool,
    /// Whether nobody asked for the bias.
    chosen: bool,
}

/// (w₁, w₂, b) without a common divisor.
type Ray = [IBig; 3];

impl<'a> Biased<'a> {
    pub(super) fn new(weight: &'a Weight, chosen: bool) -> Result<Biased<'a>> {
        if weight.run.start != [0.0; 2] {
            return Err(Error::usage("`start` is for two weights, and a bias is the third"));
        }
        let cones = cones(&rays_of(&weight.data));
        let (walk, ended) = walk(weight)?;
        let last = walk.last().map_or(0.0, |w| w[2]);
        let side = match &cones {
            [Some(_), None] => -1.0,
            [None, Some(_)] => 1.0,
            _ if last > 0.0 => 1.0,
            _ => -1.0,
        };
        Ok(Biased { weight, cones, side, walk, ended, chosen })
    }

    /// The SVG text.
    pub(super) fn draw(&self, style: &Style) -> Result<String> {
        let data = &self.weight.data;
        let frame = self.frame(super::axes::room(560.0));
        let is_seen = |w: &[f64; 3]| self.place(w).is_some_and(|place| frame.holds(place));
        let seen: Vec<bool> = self.walk.iter().map(is_seen).collect();
        let mut page = Page::new(&style.title, &self.notes(&seen), &self.legend(&seen), 560.0);
        let frame = self.frame(page.room);
        if self.corners().is_some() {
            let cut = |polygon: Vec<[f64; 2]>, row| keep(&polygon, &self.line(row));
            let region = (0..data.n_rows()).fold(frame.corners(), cut);
            let attributes = format!("class=\"cone\" fill=\"{CONE}\" fill-opacity=\"0.28\"");
            page.svg.path(&[frame.polygon(&region)], true, &attributes);
        }
        self.half_planes(&mut page.svg, &frame);
        self.draw_corners(&mut page.svg, &frame);
        self.draw_walk(&mut page.svg, &frame);
        let unit = if self.side < 0.0 { " / |b|" } else { " / b" };
        let [x, y] = [0, 1].map(|k| format!("weight of {}{unit}", data.input().feature_name(k)));
        frame.draw(&mut page.svg, &x, &y);
        Ok(page.finish(style.width))
    }

    /// The edges of the cone on the shown side.
    fn corners(&self) -> Option<&Vec<Ray>> {
        self.cones[usize::from(self.side > 0.0)].as_ref()
    }

    /// A row in the section.
    fn line(&self, row: usize) -> Line {
        let x = self.weight.data.row(row);
        let s = if self.weight.data.class_of(row) == 1 { 1.0 } else { -1.0 };
        Line { a: s * x[0], b: s * x[1], c: s * self.side }
    }

    /// Where weights are in the section.
    fn place(&self, [u, v, b]: &[f64; 3]) -> Option<[f64; 2]> {
        (b * self.side > 0.0).then(|| [u / b.abs(), v / b.abs()])
    }

    /// The corners of the polygon: edges of the cone that are not at infinity.
    fn finite(&self) -> Vec<(&Ray, [f64; 2])> {
        let place = |ray: &'_ Ray| self.place(&as_floats(ray));
        let all = self.corners().into_iter().flatten();
        all.filter_map(|ray| place(ray).map(|at| (ray, at))).collect()
    }

    fn frame(&self, room: Area) -> Frame {
        let mut points: Vec<[f64; 2]> = self.finite().into_iter().map(|(_, at)| at).collect();
        points.extend(self.walk.last().and_then(|w| self.place(w)));
        if points.len() < 3 {
            // The point of each line that is closest to 0.
            let rows = self.weight.data.n_rows().min(MOST_LINES);
            let lines = (0..rows).map(|row| self.line(row)).filter(Line::is_line);
            points.extend(lines.map(|Line { a, b, c }| {
                let square = a * a + b * b;
                [-c * a / square, -c * b / square]
            }));
        }
        points.retain(|point| point.iter().all(|x| x.is_finite()));
        let along = |k: usize| Axis::around(points.iter().map(|point| point[k]), 0.4);
        let (mut x, mut y) = (along(0), along(1));
        let widest = x.span().max(y.span());
        for axis in [&mut x, &mut y] {
            let more = (0.6 * widest - axis.span()).max(0.0) / 2.0;
            *axis = Axis { low: axis.low - more, high: axis.high + more };
        }
        Frame::within(room, x, y).even()
    }

    fn notes(&self, seen: &[bool]) -> Vec<String> {
        let (here, there) =
            if self.side < 0.0 { ("b = −1", "b > 0") } else { ("b = 1", "b < 0") };
        let mut notes = Vec::new();
        let why = if self.chosen {
            "No plane through 0 separates, so planes have a bias"
        } else {
            "Planes have a bias"
        };
        notes.push(format!(
            "{why}: the section {here} of (w₁, w₂, b), in which each w stands for all its positive multiples."
        ));
        let steps = self.walk.len() - 1;
        let way = if self.weight.run.batch.is_some() {
            "batch perceptron"
        } else {
            "perceptron, row by row"
        };
        let end = match (self.ended, &self.cones) {
            (true, _) => format!("entered the cone at step {steps}"),
            (false, [None, None]) => {
                format!("found no cone in {}, because there is none", counted(steps, "step"))
            }
            _ => format!("was outside the cone after {}", counted(steps, "step")),
        };
        let lost = match seen.iter().filter(|seen| !**seen).count() {
            0 => String::new(),
            hidden => format!("; {hidden} of its {} points are not in this picture", steps + 1),
        };
        notes.push(format!("The {way}, {end}{lost}."));
        if self.cones.iter().all(Option::is_some) {
            notes.push(format!(
                "There are solutions with {there} too; they are not in this section."
            ));
        }
        let plain: Vec<String> = (0..self.weight.data.n_rows())
            .filter(|row| !self.line(*row).is_line())
            .map(|row| (row + 1).to_string())
            .collect();
        if !plain.is_empty() && plain.len() <= 8 {
            let (rows, ask) =
                if plain.len() == 1 { ("Row", "is 0 and asks") } else { ("Rows", "are 0 and ask") };
            notes.push(format!("{rows} {} {ask} for a sign of b only.", plain.join(", ")));
        }
        if self.weight.data.n_rows() > MOST_LINES {
            let rows = self.weight.data.n_rows();
            notes.push(format!(
                "Lines of {MOST_LINES} of the {rows} rows; the cone is that of all."
            ));
        }
        notes
    }

    fn legend(&self, seen: &[bool]) -> Vec<Entry> {
        let mut legend = vec![Entry::words(Sample::Nothing, "w·z = 0 of a row")];
        for (class, name) in self.weight.data.classes().iter().enumerate() {
            let dash = if class == 0 { "7 4" } else { "" };
            legend.push(Entry::name(Sample::Line(colour(class), dash), name));
        }
        legend.push(Entry::words(Sample::Nothing, "ticks point to the side that the row asks for"));
        match self.corners() {
            None => {
                legend.push(Entry::words(Sample::Patch("none", 1.0), "cone of solutions: empty"))
            }
            Some(rays) => {
                legend.push(Entry::words(Sample::Patch(CONE, 0.28), "cone of solutions"));
                legend.push(Entry::words(Sample::Nothing, "its edges (w₁, w₂, b)"));
                for ray in rays.iter().take(8) {
                    legend.push(Entry::name(Sample::Dot(CONE), &text(ray)));
                }
                if rays.len() > 8 {
                    legend.push(Entry::words(
                        Sample::Nothing,
                        format!("and {} more", rays.len() - 8),
                    ));
                }
            }
        }
        if seen.contains(&true) {
            legend.push(Entry::words(Sample::Dot(WALK), "w after each step"));
        }
        if self.ended && seen.last() == Some(&true) {
            legend.push(Entry::words(Sample::Ring, "enters the cone"));
        }
        legend
    }

    fn half_planes(&self, svg: &mut Svg, frame: &Frame) {
        let data = &self.weight.data;
        let sheet = frame.corners();
        let step = data.n_rows().div_ceil(MOST_LINES).max(1);
        for row in (0..data.n_rows()).step_by(step) {
            let class = data.class_of(row) as usize;
            let line = self.line(row);
            let Some([from, to]) = inside(&sheet, &line) else { continue };
            let dash = if class == 0 { "7 4" } else { "" };
            let ends = [frame.at(from), frame.at(to)];
            let attributes = format!("class=\"half-plane\" {}", stroke(colour(class), 1.3, dash));
            svg.line(ends[0], ends[1], &attributes);
            let length = line.a.hypot(line.b);
            let side = [line.a / length, -line.b / length];
            for (near, far) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let foot =
                    [near[0] + 0.04 * (far[0] - near[0]), near[1] + 0.04 * (far[1] - near[1])];
                let tip = [foot[0] + 9.0 * side[0], foot[1] + 9.0 * side[1]];
                svg.line(foot, tip, &stroke(colour(class), 1.6, ""));
            }
            if data.n_rows() <= MOST_NAMES {
                let style =
                    Type { fill: colour(class), halo: true, ..Type::new(11.5, Anchor::Start) };
                let at =
                    [0.12 * ends[1][0] + 0.88 * ends[0][0], 0.12 * ends[1][1] + 0.88 * ends[0][1]];
                svg.text_near(at, 5.0, style, &format!("row {}", row + 1), frame.area);
            }
        }
    }

    fn draw_corners(&self, svg: &mut Svg, frame: &Frame) {
        for (ray, at) in self.finite() {
            let [x, y] = frame.at(at).map(number);
            svg.element(
                "circle",
                &format!(
                    "class=\"edge\" data-ray=\"{}\" cx=\"{x}\" cy=\"{y}\" r=\"6\" fill=\"{CONE}\"",
                    text(ray)
                ),
            );
        }
    }

    fn draw_walk(&self, svg: &mut Svg, frame: &Frame) {
        let places: Vec<Option<[f64; 2]>> = self
            .walk
            .iter()
            .map(|w| self.place(w).filter(|p| frame.holds(*p)).map(|p| frame.at(p)))
            .collect();
        let legs = places.split(Option::is_none);
        let legs: Vec<Vec<[f64; 2]>> =
            legs.map(|leg| leg.iter().flatten().copied().collect()).collect();
        svg.path(&legs, false, &walk_line(self.walk.len()));
        let Some(last) = places.len().checked_sub(1) else { return };
        if let (true, Some([x, y])) = (self.ended, places[last].map(|p| p.map(number))) {
            let ring =
                format!("class=\"enters\" cx=\"{x}\" cy=\"{y}\" r=\"8\" {}", stroke(INK, 1.8, ""));
            svg.element("circle", &ring);
        }
        for place in places.iter().take(MOST_DOTS).chain([&places[last]]).flatten() {
            let [x, y] = place.map(number);
            let dot = format!("class=\"step\" cx=\"{x}\" cy=\"{y}\" r=\"3.4\" fill=\"{WALK}\"");
            svg.element("circle", &dot);
            svg.reserve(Area { x: place[0] - 3.0, y: place[1] - 3.0, width: 6.0, height: 6.0 });
        }
        // The end first: if there is room for few numbers, its number is one of them.
        let mut named: Vec<[f64; 2]> = Vec::new();
        for step in std::iter::once(last).chain(0..last.min(MOST_DOTS)) {
            // A run that comes back has one number at each place.
            if let Some(place) = places[step].filter(|place| !named.contains(place)) {
                named.push(place);
                let style =
                    Type { bold: step == last, halo: true, ..Type::new(12.0, Anchor::Start) };
                svg.text_near(place, 9.0, style, &step.to_string(), frame.area);
            }
        }
    }
}

/// The run: the weights at the start and after each step, and whether it ended by its own rule.
fn walk(weight: &Weight) -> Result<(Vec<[f64; 3]>, bool)> {
    let rate = weight.run.rate.map(Rate::Constant);
    let task = Task::new(Arc::clone(&weight.data));
    let mut training = match weight.run.batch {
        None => {
            let mut perceptron = Perceptron::default();
            (perceptron.order, perceptron.scale) = (Order::Cyclic, Scaling::None);
            perceptron.rate = rate.unwrap_or(perceptron.rate);
            perceptron.start(&task)?
        }
        Some(criterion) => {
            let mut descent = Descent::on(criterion);
            (descent.scale, descent.rate) = (Scaling::None, rate);
            descent.start(&task)?
        }
    };
    Ok(followed(training.as_mut(), weight.updates, |plane| {
        [plane.weights[0], plane.weights[1], plane.bias]
    }))
}

/// The edges of the cone of solutions of two features and a bias, as (w₁, w₂, b) of length 1, found in whole
/// numbers; `None` if it is empty. A cone that holds whole lines has fewer than three.
pub fn edges_of_cone(data: &Arc<Dataset>) -> Result<Option<Vec<[f64; 3]>>> {
    if data.n_features() != 2 {
        return Err(Error::usage("three weights are those of two features and a bias"));
    }
    super::require_two(data, "weight")?;
    let cones = cones(&rays_of(data));
    if cones.iter().all(Option::is_none) {
        return Ok(None);
    }
    let mut edges: Vec<Ray> = cones.into_iter().flatten().flatten().collect();
    edges.sort();
    edges.dedup();
    let unit = |ray: &Ray| {
        let ray = as_floats(ray);
        let length = ray.iter().map(|x| x * x).sum::<f64>().sqrt();
        ray.map(|x| x / length)
    };
    Ok(Some(edges.iter().map(unit).filter(|ray| ray.iter().all(|x| x.is_finite())).collect()))
}

/// The reflected rows as (x₁, x₂, 1).
fn rays_of(data: &Arc<Dataset>) -> Vec<Ray> {
    let rows = whole_rows(data, true).into_iter();
    rows.map(|row| [row[1].clone(), row[2].clone(), row[0].clone()]).collect()
}

/// The edges of the cones with b < 0 and with b > 0.
fn cones(rows: &[Ray]) -> [Option<Vec<Ray>>; 2] {
    [-1, 1].map(|b| {
        let mut found: Option<Vec<Ray>> = None;
        for [u, v] in [[1, 1], [-1, 1], [-1, -1], [1, -1]] {
            let axis = |k: usize, sign: i32| {
                let mut ray = [IBig::ZERO, IBig::ZERO, IBig::ZERO];
                ray[k] = IBig::from(sign);
                ray
            };
            let octant = vec![axis(0, u), axis(1, v), axis(2, b)];
            let left = rows.iter().fold(octant, |rays, row| cut(&rays, row));
            let inner = left.iter().fold([IBig::ZERO, IBig::ZERO, IBig::ZERO], |sum, ray| {
                [&sum[0] + &ray[0], &sum[1] + &ray[1], &sum[2] + &ray[2]]
            });
            if !left.is_empty() && rows.iter().all(|row| dot(row, &inner) > IBig::ZERO) {
                let edges = found.get_or_insert_default();
                // What only the octant cuts off is no edge of the cone.
                edges.extend(left.into_iter().filter(|ray| is_edge(ray, rows)));
            }
        }
        found.map(|mut edges| {
            edges.sort();
            edges.dedup();
            edges
        })
    })
}

/// The part of a cone, given by its edges in order around it, where a row's product is not negative.
fn cut(rays: &[Ray], row: &Ray) -> Vec<Ray> {
    let mut kept = Vec::with_capacity(rays.len() + 1);
    for (k, from) in rays.iter().enumerate() {
        let to = &rays[(k + 1) % rays.len()];
        let (s, t) = (dot(row, from), dot(row, to));
        if s >= IBig::ZERO {
            kept.push(from.clone());
        }
        let crosses = (s > IBig::ZERO && t < IBig::ZERO) || (s < IBig::ZERO && t > IBig::ZERO);
        if crosses {
            let (s, t) = (magnitude(&s), magnitude(&t));
            kept.push(lowest([0, 1, 2].map(|j| &s * &to[j] + &t * &from[j])));
        }
    }
    if kept.len() < 3 { Vec::new() } else { kept }
}

/// Whether two rows that are not parallel hold a ray.
fn is_edge(ray: &Ray, rows: &[Ray]) -> bool {
    let mut tight = rows.iter().filter(|row| dot(row, ray) == IBig::ZERO);
    let Some(first) = tight.next() else { return false };
    tight.any(|row| {
        [(0, 1), (1, 2), (2, 0)]
            .iter()
            .any(|&(i, j)| &first[i] * &row[j] - &first[j] * &row[i] != IBig::ZERO)
    })
}

fn dot(a: &Ray, b: &Ray) -> IBig {
    &a[0] * &b[0] + &a[1] * &b[1] + &a[2] * &b[2]
}

fn magnitude(x: &IBig) -> IBig {
    if *x < IBig::ZERO { -x.clone() } else { x.clone() }
}

fn lowest(ray: Ray) -> Ray {
    let divisor = ray.iter().filter(|x| **x != IBig::ZERO).fold(IBig::ZERO, |divisor, x| {
        if divisor == IBig::ZERO { magnitude(x) } else { IBig::from((&divisor).gcd(x)) }
    });
    if divisor == IBig::ZERO { ray } else { ray.map(|x| x / &divisor) }
}

fn as_floats(ray: &Ray) -> [f64; 3] {
    [0, 1, 2].map(|k| ray[k].to_f64().value())
}

fn text([u, v, b]: &Ray) -> String {
    format!("({u}, {v}, {b})")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reflected rows of a function of two inputs, bit k of `table` its value at the k-th pair.
    fn gate(table: u32) -> Arc<Dataset> {
        let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
        let labels: Vec<&str> =
            (0..4).map(|k| if table >> k & 1 == 1 { "1" } else { "0" }).collect();
        Arc::new(Dataset::from_rows(&rows, &labels).unwrap())
    }

    #[test]
    fn fourteen_gates_have_a_cone_and_its_edges_hold() {
        let mut solved = 0;
        for table in 1..15 {
            let data = gate(table);
            let rows: Vec<Ray> = (0..4)
                .map(|row| {
                    let (x, s) = (data.row(row), if table >> row & 1 == 1 { 1 } else { -1 });
                    [s * x[0] as i32, s * x[1] as i32, s].map(IBig::from)
                })
                .collect();
            let found = cones(&rows);
            solved += usize::from(found.iter().any(Option::is_some));
            for edges in found.iter().flatten() {
                let mut sum = [0; 3].map(IBig::from);
                for ray in edges {
                    assert!(rows.iter().all(|row| dot(row, ray) >= IBig::ZERO), "{}", text(ray));
                    (0..3).for_each(|k| sum[k] += &ray[k]);
                }
                if edges.len() > 2 {
                    assert!(rows.iter().all(|row| dot(row, &sum) > IBig::ZERO), "{table}");
                }
            }
        }
        // All but XOR and its opposite; the two constants have only one class.
        assert_eq!(solved, 12);
    }

    #[test]
    fn the_cone_of_and_is_a_triangle() {
        let mut weight = Weight::of(gate(0b1000));
        weight.bias = Some(true);
        let biased = Biased::new(&weight, false).unwrap();
        let texts: Vec<String> = biased.corners().unwrap().iter().map(text).collect();
        assert_eq!(texts, ["(0, 1, -1)", "(1, 0, -1)", "(1, 1, -1)"]);
        assert!(biased.cones[1].is_none() && biased.side == -1.0 && biased.ended);
        let end = biased.place(biased.walk.last().unwrap()).unwrap();
        assert!((0..4).all(|row| biased.line(row).at(end) > 0.0), "{end:?}");
    }
}
