//! Pattern space: the rows as points, and what a model makes of the plane.
//!
//! A linear model of one or two features cuts the picture by straight lines. Rows of more features are
//! shown along directions for which the picture is true: the signed distance from the one plane, or
//! discriminant axes of several (see `project`).
//!
//! Two columns of more that are asked for are a section: the others stand at their means, so a plane
//! w·x + b is drawn as the line w₁x₁ + w₂x₂ + (b + Σ w_j m_j) = 0. The rows are projected, not cut, so a row
//! may stand in a region that is not its own; a ring marks a row that the model gets wrong with all of its
//! features. A model that is not linear in the raw columns is drawn from its scores on a grid.
//!
//! The margin band goes through the closest row of each class and is drawn where it is true: two
//! classes without mistakes, and no section.

use super::axes::{Axis, Entry, Frame, Page, Sample, class_entries, room};
use super::columns::{chosen_axes, moments};
use super::cut::Line;
use super::project::{Columns, Projected, projected};
use super::regions::{boundaries, can_be_drawn_from_a_grid};
use super::svg::{Area, INK, number};
use super::{Style, counted, numbered, short, thinning};
use linsep::model::{LinearModel, Rule};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};

/// The picture of pattern space.
///
/// ```
/// use linsep_teach::plot::{Style, Pattern};
/// use linsep::Dataset;
/// let data = Dataset::from_rows(&[[0., 0.], [1., 1.]], &["no", "yes"])?;
/// let svg = Pattern::of(&data).draw(&Style::new("two points"))?;
/// assert!(svg.starts_with("<svg"));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pattern<'a> {
    /// The rows.
    pub data: &'a Dataset,
    /// The model whose regions are shown, with the features of the data.
    pub model: Option<&'a LinearModel>,
    /// The features that are shown; chosen when `None`.
    pub axes: Option<[usize; 2]>,
    /// Hatch where no machine or several machines claim a point.
    pub ambiguous: bool,
    /// What the model is, in words.
    pub about: String,
}

impl<'a> Pattern<'a> {
    /// The rows alone.
    pub fn of(data: &'a Dataset) -> Pattern<'a> {
        Pattern { data, model: None, axes: None, ambiguous: false, about: String::new() }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        let scene = Scene::new(self)?;
        Ok(scene.draw(style))
    }
}

/// Whether the highest score of one plane for each class wins.
pub(super) fn is_argmax(model: &LinearModel) -> bool {
    matches!(model.rule, Rule::ArgMax | Rule::Rest)
}

/// What the two axes are.
pub(super) enum Chart {
    /// All columns there are, one or two.
    Whole,
    /// Two columns of more; the others stand at their means.
    Section,
    /// Directions.
    Projected(Projected),
}

/// Everything that the drawing needs.
pub(super) struct Scene<'a> {
    pub(super) pattern: &'a Pattern<'a>,
    pub(super) classes: &'a [String],
    /// The class of every row, as a number of `classes`, and that which the model says.
    pub(super) truth: Vec<usize>,
    pub(super) said: Vec<usize>,
    pub(super) chart: Chart,
    /// The columns that are shown as they are.
    axes: Vec<usize>,
    pub(super) means: Vec<f64>,
    pub(super) points: Vec<[f64; 2]>,
    frame_axes: [Axis; 2],
    /// The planes as lines in the picture, if the model is linear in it.
    pub(super) lines: Option<Vec<Line>>,
    /// The extreme scores of both classes.
    pub(super) closest: [f64; 2],
}

/// Units of the sheet for the frame and its axes.
const HEIGHT: f64 = 540.0;

/// Numbers beyond which differences may leave the range of binary64.
const MOST_SIZE: f64 = 1e300;

/// What a picture must use of both lengths of the frame for units to be equally long.
const LEAST_USE: f64 = 0.6;

impl<'a> Scene<'a> {
    pub(super) fn new(pattern: &'a Pattern<'a>) -> Result<Scene<'a>> {
        let data = pattern.data;
        let features = data.n_features();
        if features == 0 {
            return Err(Error::usage("there is no feature to draw"));
        }
        let (truth, classes) = match pattern.model {
            Some(model) => (numbered(data, model)?, &model.classes[..]),
            None => (data.targets().iter().map(|c| *c as usize).collect(), data.classes()),
        };
        let (means, deviations) = moments(data);
        let axes = match pattern.axes {
            Some([a, b]) if a == b || a >= features || b >= features => {
                return Err(Error::usage("the axes are two different features of the data"));
            }
            Some(axes) => axes.to_vec(),
            None => chosen_axes(pattern, &truth, classes.len(), &means, &deviations),
        };
        let mut scene = Scene {
            pattern,
            classes,
            said: truth.clone(),
            truth,
            chart: if axes.len() == features { Chart::Whole } else { Chart::Section },
            axes,
            means,
            points: Vec::new(),
            frame_axes: [Axis { low: 0.0, high: 1.0 }, Axis { low: 0.0, high: 1.0 }],
            lines: None,
            closest: [f64::NEG_INFINITY, f64::INFINITY],
        };
        let scores = scene.judge_rows();
        // Hatching asks for scores, not for their differences.
        if scene.is_section() && pattern.axes.is_none() && !scene.hatches() {
            let columns = Columns { data, means: &scene.means, deviations: &deviations };
            let count = scene.classes.len();
            let found = projected(pattern, &columns, &scene.truth, count, &scores);
            if let Some(found) = found.filter(|found| found.points.iter().flatten().all(in_range)) {
                scene.points.clone_from(&found.points);
                scene.lines.clone_from(&found.lines);
                scene.chart = Chart::Projected(found);
            }
        }
        if scene.axes.len() <= 2 && !matches!(scene.chart, Chart::Projected(_)) {
            scene.points = scene.column_points();
        }
        if !scene.points.iter().flatten().all(in_range) {
            let words =
                format!("a picture has no room for values beyond {MOST_SIZE:e}; scale the columns");
            return Err(Error::usage(words));
        }
        scene.frame_axes = scene.around();
        if !matches!(scene.chart, Chart::Projected(_)) {
            scene.lines = scene.slice();
        }
        Ok(scene)
    }

    /// Who says what; the scores of the one plane.
    fn judge_rows(&mut self) -> Vec<f64> {
        let Some(model) = self.pattern.model else { return Vec::new() };
        let mut scorer = model.scorer(self.pattern.data);
        let mut first = Vec::with_capacity(self.truth.len());
        for row in 0..self.truth.len() {
            let scores = scorer.row(row);
            self.said[row] = model.class_of(scores) as usize;
            first.extend(scores.first());
            if let ([score], [negative, positive]) = (scores, &mut self.closest) {
                match self.truth[row] {
                    0 => *negative = negative.max(*score),
                    _ => *positive = positive.min(*score),
                }
            }
        }
        first
    }

    /// The rows over the shown columns; over one column the other axis is the class.
    fn column_points(&self) -> Vec<[f64; 2]> {
        let point = |(row, class): (usize, &usize)| {
            let mut point = [0.0, if self.axes.len() == 2 { 0.0 } else { *class as f64 }];
            self.pattern.data.for_each(row, |column, value| {
                if let Some(k) = self.axes.iter().position(|axis| *axis == column as usize) {
                    point[k] = value;
                }
            });
            point
        };
        self.truth.iter().enumerate().map(point).collect()
    }

    fn around(&self) -> [Axis; 2] {
        let along = |k: usize| self.points.iter().map(move |point| point[k]);
        // The boundary of the distance is always to be seen.
        let zero = matches!(&self.chart, Chart::Projected(found) if found.is_distance);
        let x = Axis::around(along(0).chain(zero.then_some(0.0)), 0.08);
        let y = match self.axes.len() {
            1 => Axis { low: -0.7, high: self.classes.len() as f64 - 0.3 },
            _ => Axis::around(along(1), 0.08),
        };
        [x, y]
    }

    pub(super) fn is_wrong(&self, row: usize) -> bool {
        self.truth[row] != self.said[row]
    }

    pub(super) fn mistakes(&self) -> usize {
        (0..self.truth.len()).filter(|row| self.is_wrong(*row)).count()
    }

    /// The planes in the picture; `None` if the scores are not those of lines.
    fn slice(&self) -> Option<Vec<Line>> {
        let model = self.pattern.model?;
        let line = |plane: &linsep::model::Plane| {
            let shown = |k: usize| self.axes.get(k).map_or(0.0, |axis| plane.weights[*axis]);
            let terms = plane.weights.iter().zip(&self.means).enumerate();
            let rest = terms.filter(|(j, _)| !self.axes.contains(j)).map(|(_, (w, m))| w * m);
            Line { a: shown(0), b: shown(1), c: plane.bias + rest.sum::<f64>() }
        };
        if model.planes.iter().any(|plane| plane.weights.len() != self.means.len()) {
            return None;
        }
        let lines: Vec<Line> = model.planes.iter().map(line).collect();
        let [x, y] = &self.frame_axes;
        let probes = [
            [x.low, y.low],
            [x.low, y.high],
            [x.high, y.low],
            [x.low + 0.37 * x.span(), y.low + 0.61 * y.span()],
        ];
        let straight = probes.iter().all(|point| {
            let scores = self.scores_at(model, *point);
            scores.len() == lines.len()
                && scores.iter().zip(&lines).all(|(score, line)| {
                    let size =
                        line.c.abs().max((line.a * point[0]).abs()).max((line.b * point[1]).abs());
                    (score - line.at(*point)).abs() <= 1e-6 * size.max(f64::MIN_POSITIVE)
                })
        });
        straight.then_some(lines)
    }

    /// The scores of the model at a point of a picture of columns.
    pub(super) fn scores_at(&self, model: &LinearModel, point: [f64; 2]) -> Vec<f64> {
        let mut row = self.means.clone();
        for (axis, x) in self.axes.iter().zip(point) {
            row[*axis] = x;
        }
        model.scores_of(&row)
    }

    /// The class of a point by the lines of the picture.
    pub(super) fn class_by_lines(model: &LinearModel, lines: &[Line], point: [f64; 2]) -> usize {
        let scores: Vec<f64> = lines.iter().map(|line| line.at(point)).collect();
        model.class_of(&scores) as usize
    }

    pub(super) fn is_section(&self) -> bool {
        matches!(self.chart, Chart::Section)
    }

    /// Whether regions are drawn at all.
    fn has_regions(&self) -> bool {
        let curved = || match (&self.chart, self.pattern.model) {
            (Chart::Whole | Chart::Section, Some(model)) => {
                can_be_drawn_from_a_grid(model, self.means.len())
            }
            _ => false,
        };
        self.lines.is_some() || curved()
    }

    fn draw(&self, style: &Style) -> String {
        let data = self.pattern.data;
        let framed = |room: Area| {
            let [x, y] = self.frame_axes.clone();
            let frame = Frame::within(room, x, y);
            if self.is_even() { frame.even() } else { frame }
        };
        // Where the frame stands does not matter for what is to be seen in it.
        let seen = match (self.pattern.model, &self.lines) {
            (Some(model), Some(lines)) => {
                !boundaries(&framed(room(HEIGHT)).corners(), model, lines).is_empty()
            }
            _ => self.has_regions(),
        };
        let mut page = Page::new(&style.title, &self.notes(seen), &self.legend(seen), HEIGHT);
        let frame = framed(page.room);
        let clip = format!(
            "<clipPath id=\"frame\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>",
            number(frame.area.x),
            number(frame.area.y),
            number(frame.area.width),
            number(frame.area.height)
        );
        page.svg.group("class=\"picture\"");
        page.svg.raw(&clip);
        page.svg.group("clip-path=\"url(#frame)\"");
        if let Some(model) = self.pattern.model {
            match &self.lines {
                Some(lines) => self.regions(&mut page.svg, &frame, model, lines),
                None if self.has_regions() => self.curved_regions(&mut page.svg, &frame, model),
                None => {}
            }
        }
        page.svg.close();
        page.svg.close();
        self.rows(&mut page.svg, &frame);
        let name = |k: usize| match &self.chart {
            Chart::Projected(found) => Some(found.names[k].clone()),
            _ => self.axes.get(k).map(|axis| data.input().feature_name(*axis)),
        };
        let across = name(0).unwrap_or_default();
        match name(1) {
            Some(up) => frame.draw(&mut page.svg, &across, &up),
            None => {
                let every = self.classes.len().div_ceil(24);
                let ticks: Vec<(f64, String)> = (0..self.classes.len())
                    .step_by(every)
                    .map(|k| (k as f64, self.classes[k].clone()))
                    .collect();
                frame.draw_below(&mut page.svg);
                frame.left_ticks(&mut page.svg, &ticks);
                frame.finish_axes(&mut page.svg, &across, "class");
            }
        }
        if let (Some(lines), Some(model)) = (&self.lines, self.pattern.model) {
            self.normal(&mut page.svg, &frame, model, lines);
        }
        page.finish(style.width)
    }

    /// Whether units are drawn equally long on both axes: where that leaves little of the page empty.
    fn is_even(&self) -> bool {
        let [x, y] = self.frame_axes.clone();
        let area = Frame::within(room(HEIGHT), x.clone(), y.clone()).area;
        let ratio = (x.span() / area.width) / (y.span() / area.height);
        self.axes.len() == 2 && ratio.min(1.0 / ratio) >= LEAST_USE
    }

    pub(super) fn has_band(&self) -> bool {
        let one_plane = self.pattern.model.is_some_and(|model| model.rule == Rule::Sign);
        let both = self.closest.iter().all(|score| score.is_finite());
        let lines = self.lines.as_ref().is_some_and(|lines| lines[0].is_line());
        one_plane && both && lines && !self.is_section() && self.mistakes() == 0
    }

    pub(super) fn hatches(&self) -> bool {
        self.pattern.ambiguous && self.pattern.model.is_some_and(|model| model.rule != Rule::Sign)
    }

    fn notes(&self, seen: bool) -> Vec<String> {
        let rows = self.truth.len();
        let mut notes = Vec::new();
        let mistakes = self.mistakes();
        match (self.pattern.model, self.pattern.about.as_str()) {
            (None, _) => notes.push(format!("{}, no model.", counted(rows, "row"))),
            (_, "") => notes.push(format!("{mistakes} of {} wrong.", counted(rows, "row"))),
            (_, about) => {
                notes.push(format!("{about}: {mistakes} of {} wrong.", counted(rows, "row")));
            }
        }
        match &self.chart {
            Chart::Whole => {}
            Chart::Section => notes.push(self.about_section()),
            Chart::Projected(found) => notes.push(found.note.clone()),
        }
        if seen
            && self.lines.is_some()
            && self.axes.len() == 2
            && !self.is_even()
            && self.has_normal()
            && !matches!(self.chart, Chart::Projected(_))
        {
            notes.push(
                "The axes have different units of length, so w does not look perpendicular.".into(),
            );
        }
        if !seen && self.has_regions() {
            notes.push("No boundary crosses the picture.".into());
        }
        notes.extend(thinning(rows));
        notes
    }

    /// What a picture of two columns of more leaves out.
    fn about_section(&self) -> String {
        let others = self.means.len() - self.axes.len();
        let mean = match others {
            1 => "Section at the mean of the other column".to_owned(),
            others => format!("Section at the means of the other {others} columns"),
        };
        let Some(model) = self.pattern.model else {
            return format!(
                "{} not shown.",
                match others {
                    1 => "1 column is".to_owned(),
                    others => format!("{others} columns are"),
                }
            );
        };
        if !self.has_regions() {
            return format!(
                "Two of {} columns. The model is not linear in them, and they are too many for regions.",
                self.means.len()
            );
        }
        let at = |point: [f64; 2]| match &self.lines {
            Some(lines) => Scene::class_by_lines(model, lines, point),
            None => model.class_of(&self.scores_at(model, point)) as usize,
        };
        let apart =
            self.points.iter().zip(&self.said).filter(|(p, said)| at(**p) != **said).count();
        format!(
            "{mean}. Rows are projected on it: {apart} of {} stand in a region that is not the model's \
             answer for the whole row. Rings mark wrong answers.",
            self.points.len()
        )
    }

    fn legend(&self, seen: bool) -> Vec<Entry> {
        let mut counts = vec![0; self.classes.len()];
        self.truth.iter().for_each(|class| counts[*class] += 1);
        let mut legend = vec![Entry::words(Sample::Nothing, "class (rows)")];
        legend.extend(class_entries(self.classes, &counts));
        if self.mistakes() > 0 {
            let words = match self.has_regions() {
                true => "wrong",
                false => "wrong; its colour is that of the answer",
            };
            legend.push(Entry::words(Sample::Ring, words));
        }
        if seen {
            legend.push(Entry::words(Sample::Line(INK, ""), "boundary"));
        }
        if seen && self.has_normal() {
            legend.push(Entry::words(Sample::Arrow(INK), "normal w"));
        }
        if self.has_band() {
            let Some(lines) = &self.lines else { return legend };
            let length = lines[0].a.hypot(lines[0].b);
            let [negative, positive] = self.closest;
            legend.push(Entry::words(
                Sample::Line(INK, "5 4"),
                format!(
                    "through the closest rows, at {} and {}",
                    short(-negative / length),
                    short(positive / length)
                ),
            ));
        }
        if self.hatches() {
            legend.push(Entry::words(
                Sample::Patch("url(#none)", 1.0),
                "no binary classifier claims it",
            ));
            legend.push(Entry::words(
                Sample::Patch("url(#several)", 1.0),
                "several binary classifiers claim it",
            ));
        }
        legend
    }

    pub(super) fn has_normal(&self) -> bool {
        let one = self.pattern.model.is_some_and(|model| model.rule == Rule::Sign);
        one && self.lines.as_ref().is_some_and(|lines| lines[0].is_line())
    }
}

fn in_range(x: &f64) -> bool {
    x.abs() <= MOST_SIZE
}
