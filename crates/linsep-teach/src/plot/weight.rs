//! Weight space of two weights: what a row is to a plane in pattern space, a plane is to a row here.
//!
//! A reflected row z asks for w·z > 0, a half-plane whose edge goes through 0. What all rows ask for is
//! the cone of solutions, an angle below 180° or nothing. Its edges are found in whole numbers: of the
//! rows z the two that lie farthest apart are kept, r on the right and l on the left; the cone is not
//! empty exactly if all rows lie in the angle from r to l and that angle is below 180°, and then its
//! rays are r turned by 90° to the left and l turned by 90° to the right.
//!
//! The perceptron walks from row to row, w += z at every row with w·z ≤ 0, and stops when it has
//! entered the cone: inside it no row asks for a step.
//!
//! Two features with a bias have three weights; `biased` shows a section of their space.

use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::biased::Biased;
use super::cut::{Line, inside, keep};
use super::svg::{Anchor, Area, INK, Svg, Type, colour, number};
use super::{Style, counted, require_two};
use crate::two_weights::{Path, Reflected, TwoWeights, path};
use dashu_int::IBig;
use dashu_int::ops::{BitTest, Gcd};
use linsep::run::Task;
use linsep::verdict::{Signed, problem_of};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use std::sync::Arc;

/// The picture of weight space.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Weight {
    /// Rows of two classes with one or two features.
    pub data: Arc<Dataset>,
    /// The run that is shown.
    pub run: TwoWeights,
    /// Updates after which the run is given up.
    pub updates: u64,
    /// Whether the planes of two features have a bias. When `None` they have one if no plane through 0
    /// separates the classes and the run starts at 0. Planes of one feature always have one.
    pub bias: Option<bool>,
}

/// The weights that classify every row rightly: an angle at 0 without its edges.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cone {
    /// The rays at its right and left edge, in whole numbers without a common divisor.
    pub rays: [[IBig; 2]; 2],
}

impl Cone {
    /// A ray as a unit vector.
    pub fn direction(&self, ray: usize) -> [f64; 2] {
        let [x, y] = &self.rays[ray];
        let bits = size(x).max(size(y)).saturating_sub(60);
        let float = |v: &IBig| i64::try_from(v.clone() >> bits).unwrap_or(0) as f64;
        let (x, y) = (float(x), float(y));
        let length = x.hypot(y);
        [x / length, y / length]
    }

    /// A ray as text, such as `(3, 2)`.
    pub fn text(&self, ray: usize) -> String {
        let [x, y] = &self.rays[ray];
        format!("({x}, {y})")
    }
}

fn size(x: &IBig) -> usize {
    if *x < IBig::ZERO { (-x.clone()).bit_len() } else { x.bit_len() }
}

/// The cone of solutions of data with two weights, decided exactly; `None` if it is empty.
pub fn cone(data: &Arc<Dataset>) -> Result<Option<Cone>> {
    let has_bias = Reflected::new(data)?.has_bias;
    let z = whole_rows(data, has_bias).into_iter().map(|z| match &z[..] {
        [first, second] => [first.clone(), second.clone()],
        _ => [IBig::ZERO, IBig::ZERO],
    });
    Ok(angle(z).map(|[right, left]| {
        let [[rx, ry], [lx, ly]] = [right, left];
        Cone { rays: [lowest([ly, -lx]), lowest([-ry, rx])] }
    }))
}

/// The reflected rows in whole numbers, the constant of the bias first.
pub(super) fn whole_rows(data: &Arc<Dataset>, has_bias: bool) -> Vec<Vec<IBig>> {
    let problem = problem_of(data, &data.classes()[1], None);
    let view = Signed::new(Arc::clone(data), problem, has_bias);
    let rows: Vec<usize> = (0..view.len()).collect();
    let whole = view.alike_rows(&rows, has_bias.then_some(1));
    let shift = usize::from(has_bias);
    // Columns without any value other than 0 are left out by the view.
    let at = |row: &[IBig], weight: usize| match weight.checked_sub(shift) {
        None => row[0].clone(),
        Some(column) => match whole.columns.binary_search(&(column as u32)) {
            Ok(k) => row[k + shift].clone(),
            Err(_) => IBig::ZERO,
        },
    };
    let weights = data.n_features() + shift;
    whole.rows.iter().map(|row| (0..weights).map(|k| at(row, k)).collect()).collect()
}

/// The outermost of the rows if all lie within an angle below 180°.
fn angle(rows: impl Iterator<Item = [IBig; 2]>) -> Option<[[IBig; 2]; 2]> {
    let cross = |a: &[IBig; 2], b: &[IBig; 2]| &a[0] * &b[1] - &a[1] * &b[0];
    let dot = |a: &[IBig; 2], b: &[IBig; 2]| &a[0] * &b[0] + &a[1] * &b[1];
    let mut found: Option<[[IBig; 2]; 2]> = None;
    for z in rows {
        if z[0] == IBig::ZERO && z[1] == IBig::ZERO {
            return None;
        }
        let Some([right, left]) = &mut found else {
            found = Some([z.clone(), z]);
            continue;
        };
        let (of_right, of_left) = (cross(right, &z), cross(left, &z));
        let within = match cross(right, left) == IBig::ZERO {
            true => dot(right, &z) > IBig::ZERO,
            false => of_right >= IBig::ZERO && of_left <= IBig::ZERO,
        };
        if of_left > IBig::ZERO && of_right > IBig::ZERO {
            *left = z;
        } else if of_left < IBig::ZERO && of_right < IBig::ZERO {
            *right = z;
        } else if !within {
            return None;
        }
    }
    found
}

fn lowest([x, y]: [IBig; 2]) -> [IBig; 2] {
    let divisor = IBig::from((&x).gcd(&y));
    if divisor == IBig::ZERO { [x, y] } else { [&x / &divisor, &y / &divisor] }
}

/// Rows whose lines are drawn, lines with names, steps with numbers.
pub(super) const MOST_LINES: usize = 60;
pub(super) const MOST_NAMES: usize = 16;
pub(super) const MOST_DOTS: usize = 80;

pub(super) const CONE: &str = "#009E73";
pub(super) const WALK: &str = "#D55E00";

impl Weight {
    /// The lecture's perceptron on these rows: from 0, in the order of the file, η = 1.
    pub fn of(data: Arc<Dataset>) -> Weight {
        Weight { data, run: TwoWeights::default(), updates: 1000, bias: None }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        require_two(&self.data, "weight")?;
        if self.data.n_features() == 1 && self.bias == Some(false) {
            return Err(Error::usage("`bias`: one feature without a bias is only one weight"));
        }
        let at_zero = self.run.start == [0.0; 2];
        if self.bias == Some(true) && self.data.n_features() == 2 {
            return Biased::new(self, false)?.draw(style);
        }
        let reflected = Reflected::new(&self.data)?;
        let cone = cone(&self.data)?;
        let needs_bias = cone.is_none() && self.bias.is_none() && at_zero;
        if needs_bias && !reflected.has_bias {
            return Biased::new(self, true)?.draw(style);
        }
        let walk = path(&self.run, &Task::new(Arc::clone(&self.data)), self.updates)?;
        let lengths = walk.points.iter().map(|[x, y]| x.hypot(*y));
        let reach = lengths.fold(0.0f64, f64::max);
        let reach = if reach > 0.0 && reach.is_finite() { 1.25 * reach } else { 1.0 };
        let mut page = Page::new(
            &style.title,
            &self.notes(&walk, cone.as_ref(), &reflected.z),
            &self.legend(cone.as_ref(), &walk),
            560.0,
        );
        let axis = Axis { low: -reach, high: reach };
        let frame = Frame::within(page.room, axis.clone(), axis).even();
        self.half_planes(&mut page.svg, &frame, &reflected.z);
        if let Some(cone) = &cone {
            draw_cone(&mut page.svg, &frame, cone);
        }
        draw_walk(&mut page.svg, &frame, &walk);
        let names = self.data.input();
        match reflected.has_bias {
            true => {
                let weight = format!("weight of {}", names.feature_name(0));
                frame.draw(&mut page.svg, "bias", &weight);
            }
            false => {
                let [x, y] = [0, 1].map(|k| format!("weight of {}", names.feature_name(k)));
                frame.draw(&mut page.svg, &x, &y);
            }
        }
        Ok(page.finish(style.width))
    }

    fn notes(&self, walk: &Path, cone: Option<&Cone>, z: &[[f64; 2]]) -> Vec<String> {
        let steps = walk.points.len() - 1;
        let way = match self.run.batch {
            None => "perceptron, row by row",
            Some(_) => "batch perceptron",
        };
        let end = match (walk.ended, cone) {
            (true, _) => format!("entered the cone at step {steps}"),
            (false, Some(_)) => format!("was outside the cone after {}", counted(steps, "step")),
            (false, None) => {
                format!("found no cone in {}, because there is none", counted(steps, "step"))
            }
        };
        let bias = match self.data.n_features() {
            1 => "Rows are (1, x).",
            _ => "Planes have no bias.",
        };
        let mut notes = vec![format!("{bias} The {way}, {end}.")];
        if let Some(row) = z.iter().position(|z| *z == [0.0, 0.0]) {
            notes.push(format!("Row {} is 0 and has no line: no w makes w·z > 0.", row + 1));
        }
        if self.data.n_rows() > MOST_LINES {
            notes.push(format!(
                "Lines of {MOST_LINES} of the {} rows; the cone is that of all.",
                self.data.n_rows()
            ));
        }
        notes
    }

    fn legend(&self, cone: Option<&Cone>, walk: &Path) -> Vec<Entry> {
        let mut legend = vec![Entry::words(Sample::Nothing, "w·z = 0 of a row")];
        for (class, name) in self.data.classes().iter().enumerate() {
            let dash = if class == 0 { "7 4" } else { "" };
            legend.push(Entry::name(Sample::Line(colour(class), dash), name));
        }
        legend.push(Entry::words(Sample::Nothing, "ticks point to the side that the row asks for"));
        match cone {
            None => {
                let words = match self.data.n_features() {
                    1 => "cone of solutions: empty",
                    _ => "cone of solutions: empty without a bias",
                };
                legend.push(Entry::words(Sample::Patch("none", 1.0), words));
            }
            Some(cone) => {
                legend.push(Entry::words(Sample::Patch(CONE, 0.28), "cone of solutions"));
                for ray in 0..2 {
                    let text = format!("ray {}", cone.text(ray));
                    legend.push(Entry::name(Sample::Line(CONE, ""), &text));
                }
            }
        }
        legend.push(Entry::words(Sample::Dot(WALK), "w after each step"));
        if walk.ended {
            legend.push(Entry::words(Sample::Ring, "enters the cone"));
        }
        legend
    }

    fn half_planes(&self, svg: &mut Svg, frame: &Frame, z: &[[f64; 2]]) {
        let sheet = frame.corners();
        let names: Vec<usize> =
            if z.len() <= MOST_NAMES { (0..z.len()).collect() } else { Vec::new() };
        let step = z.len().div_ceil(MOST_LINES).max(1);
        for row in (0..z.len()).step_by(step) {
            let class = self.data.class_of(row) as usize;
            let line = Line { a: z[row][0], b: z[row][1], c: 0.0 };
            let Some([from, to]) = inside(&sheet, &line) else { continue };
            let dash = if class == 0 { "7 4" } else { "" };
            let attributes = format!("class=\"half-plane\" {}", stroke(colour(class), 1.3, dash));
            let ends = [frame.at(from), frame.at(to)];
            svg.line(ends[0], ends[1], &attributes);
            let length = z[row][0].hypot(z[row][1]);
            let side = [z[row][0] / length, -z[row][1] / length];
            for (near, far) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                let foot =
                    [near[0] + 0.04 * (far[0] - near[0]), near[1] + 0.04 * (far[1] - near[1])];
                let tip = [foot[0] + 9.0 * side[0], foot[1] + 9.0 * side[1]];
                svg.line(foot, tip, &stroke(colour(class), 1.6, ""));
            }
            if names.contains(&row) {
                let style =
                    Type { fill: colour(class), halo: true, ..Type::new(11.5, Anchor::Start) };
                let at =
                    [0.12 * ends[1][0] + 0.88 * ends[0][0], 0.12 * ends[1][1] + 0.88 * ends[0][1]];
                svg.text_near(at, 5.0, style, &format!("row {}", row + 1), frame.area);
            }
        }
    }
}

fn draw_cone(svg: &mut Svg, frame: &Frame, cone: &Cone) {
    let sheet = frame.corners();
    let rays = [0, 1].map(|ray| cone.direction(ray));
    // Inside lies what is to the left of the right ray and to the right of the left one.
    let left_of = |[x, y]: [f64; 2]| Line { a: -y, b: x, c: 0.0 };
    let region = keep(&keep(&sheet, &left_of(rays[0])), &left_of(rays[1]).turned());
    let attributes = format!("class=\"cone\" fill=\"{CONE}\" fill-opacity=\"0.28\"");
    svg.path(&[frame.polygon(&region)], true, &attributes);
    let reach = frame.x.span() + frame.y.span();
    for (ray, direction) in rays.iter().enumerate() {
        let end = [direction[0] * reach, direction[1] * reach];
        let whole = inside(&sheet, &left_of(*direction));
        let forward = whole.and_then(|ends| {
            let ahead = Line { a: direction[0], b: direction[1], c: 0.0 };
            super::cut::keep_segment(ends, &ahead)
        });
        let [from, to] = forward.unwrap_or([[0.0, 0.0], end]);
        let attributes =
            format!("class=\"ray\" data-ray=\"{}\" {}", cone.text(ray), stroke(CONE, 3.0, ""));
        svg.line(frame.at(from), frame.at(to), &attributes);
    }
}

/// The line of a walk: thin where many steps would cover the sheet.
pub(crate) fn walk_line(steps: usize) -> String {
    let width = if steps > 200 { 0.6 } else { 1.8 };
    format!("class=\"walk\" {} stroke-linejoin=\"round\"", stroke(WALK, width, ""))
}

fn draw_walk(svg: &mut Svg, frame: &Frame, walk: &Path) {
    let places: Vec<[f64; 2]> = walk.points.iter().map(|point| frame.at(*point)).collect();
    svg.path(std::slice::from_ref(&places), false, &walk_line(places.len()));
    let last = places.len() - 1;
    if walk.ended {
        let [x, y] = places[last].map(number);
        let ring =
            format!("class=\"enters\" cx=\"{x}\" cy=\"{y}\" r=\"8\" {}", stroke(INK, 1.8, ""));
        svg.element("circle", &ring);
    }
    if places.len() > MOST_DOTS {
        let style = Type { bold: true, halo: true, ..Type::new(12.0, Anchor::Start) };
        svg.text_near(places[last], 11.0, style, &last.to_string(), frame.area);
        return;
    }
    for place in &places {
        let [x, y] = place.map(number);
        svg.element(
            "circle",
            &format!("class=\"step\" cx=\"{x}\" cy=\"{y}\" r=\"3.4\" fill=\"{WALK}\""),
        );
        let dot = Area { x: place[0] - 3.0, y: place[1] - 3.0, width: 6.0, height: 6.0 };
        svg.reserve(dot);
    }
    // The end first: if there is room for few numbers, its number is one of them.
    for step in std::iter::once(last).chain(0..last) {
        let style = Type { bold: step == last, halo: true, ..Type::new(12.0, Anchor::Start) };
        svg.text_near(places[step], 9.0, style, &step.to_string(), frame.area);
    }
}
