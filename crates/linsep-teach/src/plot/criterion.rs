//! A criterion over two weights: its level curves, its gradient at the start, and a descent.
//!
//! The gradient is perpendicular to the level curve and points where the criterion grows fastest; a
//! step of the descent goes the other way. The levels lie at equal shares of the values in the picture,
//! so steep and flat parts both show. J_N has steps and no slope: it is one number in each sector between
//! the lines of the rows, and those lines are drawn.

use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::contour::Grid;
use super::cut::{Line, inside};
use super::svg::{Anchor, Area, Svg, Type, number};
use super::{Style, counted, require_two, short};
use crate::two_weights::{Path, Reflected, TwoWeights, criterion_at, path};
use linsep::loss::Criterion;
use linsep::run::Task;
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::sort::sort_by;
use std::f64::consts::PI;
use std::sync::Arc;

/// The picture of a criterion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CriterionView {
    /// Rows of two classes with one feature, or with two and no bias.
    pub data: Arc<Dataset>,
    /// What is drawn.
    pub criterion: Criterion,
    /// Where the descent starts; a bad place when `None`.
    pub start: Option<[f64; 2]>,
    /// The learning rate; from criterion and rows when `None`.
    pub rate: Option<f64>,
    /// Steps after which the descent is given up.
    pub updates: u64,
}

const WALK: &str = "#D55E00";
const GRADIENT: &str = "#CC79A7";

/// Work that a grid may take: corners times rows.
const MOST_WORK: usize = 200_000_000;

impl CriterionView {
    /// This criterion on these rows.
    pub fn of(data: Arc<Dataset>, criterion: Criterion) -> CriterionView {
        CriterionView { data, criterion, start: None, rate: None, updates: 60 }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        require_two(&self.data, "criterion")?;
        let z = Reflected::new(&self.data)?.z;
        let start = self.start.unwrap_or_else(|| bad_start(self.criterion, &z));
        if start.iter().any(|w| !w.is_finite()) {
            return Err(Error::usage("the start is no pair of numbers"));
        }
        let task = Task::new(Arc::clone(&self.data));
        let settings = TwoWeights { batch: Some(self.criterion), rate: self.rate, start };
        let walk = path(&settings, &task, self.updates)?;
        let (value, slope) = criterion_at(self.criterion, &z, start);
        let notes = self.notes(&walk, &z, value);
        let mut page = Page::new(&style.title, &notes, &self.legend(&walk), 560.0);
        let along = |k: usize| walk.points.iter().map(move |w| w[k]).chain([0.0]);
        let (mut x, mut y) = (Axis::around(along(0), 0.3), Axis::around(along(1), 0.3));
        if self.criterion == Criterion::Mistakes {
            // It only depends on the direction of w, so 0 is the middle of the picture.
            let reach = 1.5 * start[0].hypot(start[1]).max(f64::MIN_POSITIVE);
            (x, y) = (Axis { low: -reach, high: reach }, Axis { low: -reach, high: reach });
        }
        // A walk along one axis would otherwise leave the other without room.
        let widest = x.span().max(y.span());
        for axis in [&mut x, &mut y] {
            let more = (0.5 * widest - axis.span()).max(0.0) / 2.0;
            *axis = Axis { low: axis.low - more, high: axis.high + more };
        }
        let frame = Frame::within(page.room, x, y).even();
        let labels = match self.criterion {
            Criterion::Mistakes => sectors(&mut page.svg, &frame, &z),
            _ => self.contours(&mut page.svg, &frame, &z),
        };
        let places: Vec<[f64; 2]> = walk.points.iter().map(|w| frame.at(*w)).collect();
        let line = format!("class=\"walk\" {} stroke-linejoin=\"round\"", stroke(WALK, 1.8, ""));
        page.svg.path(std::slice::from_ref(&places), false, &line);
        for place in places.iter().take(200) {
            let [x, y] = place.map(number);
            let dot = format!("class=\"step\" cx=\"{x}\" cy=\"{y}\" r=\"2.8\" fill=\"{WALK}\"");
            page.svg.element("circle", &dot);
            page.svg.reserve(Area {
                x: place[0] - 2.5,
                y: place[1] - 2.5,
                width: 5.0,
                height: 5.0,
            });
        }
        let length = slope[0].hypot(slope[1]);
        if length > 0.0 && length.is_finite() {
            let head =
                [places[0][0] + 48.0 * slope[0] / length, places[0][1] - 48.0 * slope[1] / length];
            page.svg.arrow(places[0], head, GRADIENT, "gradient");
            for part in [0.3, 0.6, 0.9] {
                let at = [0, 1].map(|k| places[0][k] + part * (head[k] - places[0][k]));
                page.svg.reserve(Area { x: at[0] - 4.0, y: at[1] - 4.0, width: 8.0, height: 8.0 });
            }
            let style = Type { bold: true, halo: true, ..Type::new(12.5, Anchor::Start) };
            page.svg.text_near(head, 8.0, style, "∇J", frame.area);
        }
        let mark = Type { halo: true, bold: true, ..Type::new(12.0, Anchor::Start) };
        page.svg.text_near(places[0], 9.0, mark, "start", frame.area);
        if places.len() > 1 {
            let last = places[places.len() - 1];
            page.svg.text_near(last, 9.0, mark, &(places.len() - 1).to_string(), frame.area);
        }
        for Label { places, text } in labels {
            let style = Type { halo: true, ..Type::new(11.0, Anchor::Start) };
            places.iter().any(|at| page.svg.text_near(*at, 3.0, style, &text, frame.area));
        }
        let names = self.data.input();
        let [across, up] = match self.data.n_features() {
            1 => ["bias".to_owned(), format!("weight of {}", names.feature_name(0))],
            _ => [0, 1].map(|k| format!("weight of {}", names.feature_name(k))),
        };
        frame.draw(&mut page.svg, &across, &up);
        Ok(page.finish(style.width))
    }

    /// Level curves; each with its value.
    fn contours(&self, svg: &mut Svg, frame: &Frame, z: &[[f64; 2]]) -> Vec<Label> {
        let side = ((MOST_WORK / z.len().max(1)) as f64).sqrt().clamp(24.0, 110.0) as usize;
        let value = |w| criterion_at(self.criterion, z, w).0;
        let grid = Grid::new(&frame.x, &frame.y, side, side, value);
        let levels = levels(grid.values());
        let mut labels = Vec::new();
        for (k, level) in levels.iter().enumerate() {
            let curves: Vec<Vec<[f64; 2]>> =
                grid.curves(*level).iter().map(|curve| frame.polygon(curve)).collect();
            let tone = shade(k as f64 / (levels.len().max(2) - 1) as f64);
            svg.path(&curves, false, &format!("class=\"level\" {}", stroke(&tone, 1.4, "")));
            if let Some(longest) = curves.iter().max_by_key(|curve| curve.len()) {
                let at = |part: usize| longest[(longest.len() - 1) * part / 8];
                let mut places = [3, 5, 2, 6, 1, 7, 4].map(at).to_vec();
                if self.criterion == Criterion::Distance {
                    // Its levels are rays that meet at 0; there is more room away from it.
                    let [x, y] = frame.at([0.0, 0.0]);
                    sort_by(&mut places, |p, q| {
                        let far = |p: &[f64; 2]| (p[0] - x).hypot(p[1] - y);
                        far(q).total_cmp(&far(p))
                    });
                }
                labels.push(Label { places, text: short(*level) });
            }
        }
        labels
    }

    fn notes(&self, walk: &Path, z: &[[f64; 2]], start: f64) -> Vec<String> {
        let convex = if self.criterion.is_convex() { "convex" } else { "not convex" };
        let smooth = match self.criterion.is_differentiable() {
            true => "differentiable",
            false => "not differentiable everywhere",
        };
        let meaning = match self.criterion {
            Criterion::Distance => "distances of rows on the wrong side, added up",
            Criterion::Perceptron => "scores of rows on the wrong side, added up",
            criterion => criterion.meaning(),
        };
        let end = walk.points.last().map(|w| criterion_at(self.criterion, z, *w).0);
        let steps = counted(walk.points.len() - 1, "step");
        let descent = match self.criterion {
            Criterion::Mistakes => {
                "It is flat between its steps: there is no slope to go down.".to_owned()
            }
            _ => format!(
                "Descent: {steps}, from {} to {}{}.",
                short(start),
                short(end.unwrap_or(start)),
                if walk.ended { ", where it ends" } else { "" }
            ),
        };
        vec![format!("{}: {meaning}; {convex}, {smooth}.", self.criterion.word()), descent]
    }

    fn legend(&self, walk: &Path) -> Vec<Entry> {
        let mut legend = match self.criterion {
            Criterion::Mistakes => {
                vec![Entry::words(Sample::Line("#446e9a", ""), "w·z = 0 of a row")]
            }
            _ => vec![
                Entry::words(Sample::Line("#08306b", ""), "low level"),
                Entry::words(Sample::Line("#9ecae1", ""), "high level"),
            ],
        };
        if self.criterion != Criterion::Mistakes {
            legend.push(Entry::words(Sample::Arrow(GRADIENT), "gradient at the start"));
        }
        if walk.points.len() > 1 {
            legend.push(Entry::words(Sample::Dot(WALK), "descent"));
        } else {
            legend.push(Entry::words(Sample::Dot(WALK), "start"));
        }
        legend.push(Entry::words(Sample::Nothing, "numbers are values of the criterion"));
        legend
    }
}

/// A text and the places that would suit it, the best first.
struct Label {
    places: Vec<[f64; 2]>,
    text: String,
}

/// The sectors between the lines of the rows, in each of which J_N is one number.
fn sectors(svg: &mut Svg, frame: &Frame, z: &[[f64; 2]]) -> Vec<Label> {
    const MOST_SECTORS: usize = 400;
    let step = z.len().div_ceil(MOST_SECTORS / 2).max(1);
    let mut angles: Vec<f64> = Vec::new();
    for z in z.iter().step_by(step) {
        let line = Line { a: z[0], b: z[1], c: 0.0 };
        if let Some([from, to]) = inside(&frame.corners(), &line) {
            let attributes = format!("class=\"level\" {}", stroke(&shade(0.4), 1.4, ""));
            svg.line(frame.at(from), frame.at(to), &attributes);
            let angle = z[0].atan2(-z[1]);
            angles.extend([angle, if angle > 0.0 { angle - PI } else { angle + PI }]);
        }
    }
    angles.sort_unstable_by(f64::total_cmp);
    angles.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    let next = angles.iter().cycle().skip(1);
    let middle = |(from, to): (&f64, &f64)| {
        let width = if to > from { to - from } else { to - from + 2.0 * PI };
        let (sine, cosine) = (from + width / 2.0).sin_cos();
        let value = criterion_at(Criterion::Mistakes, z, [cosine, sine]).0;
        let reach = frame.x.span().min(frame.y.span()) / 2.0;
        let at = |share: f64| frame.at([share * reach * cosine, share * reach * sine]);
        Label { places: [0.6, 0.75, 0.45, 0.9].map(at).to_vec(), text: short(value) }
    };
    angles.iter().zip(next).map(middle).collect()
}

/// Weights that have most rows on the wrong side, of a length that suits the criterion.
fn bad_start(criterion: Criterion, z: &[[f64; 2]]) -> [f64; 2] {
    let count = z.len().max(1) as f64;
    let mean = [0, 1].map(|k| z.iter().map(|z| z[k] / count).sum::<f64>());
    let length = mean[0].hypot(mean[1]);
    if !(length > 0.0 && length.is_finite()) {
        return [-1.0, 1.0];
    }
    let reach = match criterion {
        Criterion::Mistakes | Criterion::Distance | Criterion::Perceptron => 2.0 * length,
        _ => 1.5 / length,
    };
    // Not straight away from the mean, where some pictures would be symmetric and dull.
    let turned = [mean[0] * 0.8 - mean[1] * 0.6, mean[1] * 0.8 + mean[0] * 0.6];
    turned.map(|w| -reach * w / length)
}

/// About a dozen levels.
fn levels(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let two_digits = |x: f64| match x {
        0.0 => 0.0,
        x => {
            let power = 10f64.powi((x.abs().log10().floor() - 1.0).clamp(-300.0, 300.0) as i32);
            (x / power).round() * power
        }
    };
    let at = |k: usize| two_digits(sorted[(sorted.len() - 1) * k / 13]);
    let mut levels: Vec<f64> = (1..13).map(at).filter(|x| *x > low && *x < high).collect();
    levels.dedup();
    levels
}

/// From dark at the low levels to pale at the high ones.
fn shade(share: f64) -> String {
    let mix = |from: f64, to: f64| (from + share.clamp(0.0, 1.0) * (to - from)).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(8.0, 158.0), mix(48.0, 202.0), mix(107.0, 225.0))
}
