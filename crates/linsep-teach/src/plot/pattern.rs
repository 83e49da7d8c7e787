//! Pattern space: the rows as points over two features, and what a model makes of the plane.
//!
//! A linear model cuts the picture by straight lines. With features beyond the two that are shown the
//! picture is a slice: the others stand at their means, so a plane w·x + b is drawn as the line
//! w₁x₁ + w₂x₂ + (b + Σ w_j m_j) = 0. The rows are projected, not sliced; a ring marks a row that the
//! model gets wrong with all of its features. A model that is not linear in the raw columns is drawn
//! from its scores on a grid.
//!
//! The margin band goes through the closest row of each class and is drawn where it is true: two
//! classes without mistakes, and no feature beyond those shown.

use super::axes::{Axis, Entry, Frame, Page, Sample, class_entries, room, stroke};
use super::columns::{chosen_axes, moments};
use super::contour::Grid;
use super::cut::{Line, inside, keep, keep_segment, middle, pieces};
use super::svg::{Anchor, Area, INK, Svg, Type, colour, number};
use super::{Style, counted, drawn_rows, numbered, short, thinning};
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
fn is_argmax(model: &LinearModel) -> bool {
    matches!(model.rule, Rule::ArgMax | Rule::Rest)
}

/// Everything that the drawing needs.
struct Scene<'a> {
    pattern: &'a Pattern<'a>,
    classes: &'a [String],
    /// The class of every row, as a number of `classes`.
    truth: Vec<usize>,
    axes: Vec<usize>,
    means: Vec<f64>,
    frame_axes: [Axis; 2],
    /// The planes as lines in the picture, if the model is linear in it.
    lines: Option<Vec<Line>>,
    /// The rows that the model gets wrong, and the extreme scores of both classes.
    wrong: Vec<bool>,
    closest: [f64; 2],
}

/// Features and planes up to which a curved model is drawn from a grid.
const MOST_CURVED: usize = 20_000;

/// Units of the sheet for the frame and its axes.
const HEIGHT: f64 = 540.0;

/// Numbers beyond which differences may leave the range of binary64.
const MOST_SIZE: f64 = 1e300;

/// Classes up to which boundaries of pairs are drawn.
const MOST_PAIRED: usize = 60;

impl<'a> Scene<'a> {
    fn new(pattern: &'a Pattern<'a>) -> Result<Scene<'a>> {
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
        let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(data.n_rows()); axes.len()];
        for row in 0..data.n_rows() {
            let mut point = vec![0.0; axes.len()];
            data.for_each(row, |column, value| {
                if let Some(k) = axes.iter().position(|axis| *axis == column as usize) {
                    point[k] = value;
                }
            });
            point.iter().zip(&mut values).for_each(|(x, list)| list.push(*x));
        }
        if values.iter().flatten().any(|x| x.abs() > MOST_SIZE) {
            let words =
                format!("a picture has no room for values beyond {MOST_SIZE:e}; scale the columns");
            return Err(Error::usage(words));
        }
        let x = Axis::around(values[0].iter().copied(), 0.08);
        let y = match values.get(1) {
            Some(values) => Axis::around(values.iter().copied(), 0.08),
            None => Axis { low: -0.7, high: classes.len() as f64 - 0.3 },
        };
        let mut scene = Scene {
            pattern,
            classes,
            truth,
            axes,
            means,
            frame_axes: [x, y],
            lines: None,
            wrong: vec![false; data.n_rows()],
            closest: [f64::NEG_INFINITY, f64::INFINITY],
        };
        scene.judge_rows();
        scene.lines = scene.slice();
        Ok(scene)
    }

    fn judge_rows(&mut self) {
        let Some(model) = self.pattern.model else { return };
        let mut scorer = model.scorer(self.pattern.data);
        for row in 0..self.truth.len() {
            let scores = scorer.row(row);
            self.wrong[row] = model.class_of(scores) as usize != self.truth[row];
            if let ([score], [negative, positive]) = (scores, &mut self.closest) {
                match self.truth[row] {
                    0 => *negative = negative.max(*score),
                    _ => *positive = positive.min(*score),
                }
            }
        }
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

    /// The scores of the model at a point of the picture.
    fn scores_at(&self, model: &LinearModel, point: [f64; 2]) -> Vec<f64> {
        let mut row = self.means.clone();
        for (axis, x) in self.axes.iter().zip(point) {
            row[*axis] = x;
        }
        model.scores_of(&row)
    }

    fn is_whole(&self) -> bool {
        self.axes.len() == self.pattern.data.n_features()
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
            (model, _) => model.is_some(),
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
                None => self.curved_regions(&mut page.svg, &frame, model),
            }
        }
        page.svg.close();
        page.svg.close();
        self.points(&mut page.svg, &frame);
        let name = |k: usize| self.axes.get(k).map(|axis| data.input().feature_name(*axis));
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

    /// Whether units are drawn equally long on both axes.
    fn is_even(&self) -> bool {
        let [x, y] = &self.frame_axes;
        self.axes.len() == 2 && (0.25..=4.0).contains(&(x.span() / y.span()))
    }

    fn has_band(&self) -> bool {
        let one_plane = self.pattern.model.is_some_and(|model| model.rule == Rule::Sign);
        let both = self.closest.iter().all(|score| score.is_finite());
        let lines = self.lines.as_ref().is_some_and(|lines| lines[0].is_line());
        one_plane && both && lines && self.is_whole() && !self.wrong.contains(&true)
    }

    fn hatches(&self) -> bool {
        self.pattern.ambiguous && self.pattern.model.is_some_and(|model| model.rule != Rule::Sign)
    }

    fn notes(&self, seen: bool) -> Vec<String> {
        let rows = self.truth.len();
        let mut notes = Vec::new();
        let mistakes = self.wrong.iter().filter(|wrong| **wrong).count();
        match (self.pattern.model, self.pattern.about.as_str()) {
            (None, _) => notes.push(format!("{}, no model.", counted(rows, "row"))),
            (_, "") => notes.push(format!("{mistakes} of {} wrong.", counted(rows, "row"))),
            (_, about) => {
                notes.push(format!("{about}: {mistakes} of {} wrong.", counted(rows, "row")));
            }
        }
        if !self.is_whole() {
            let others = self.pattern.data.n_features() - self.axes.len();
            let words = match others {
                1 => "The other feature stands at its mean".to_owned(),
                others => format!("The other {others} features stand at their means"),
            };
            let rings = "rings mark rows that are wrong with all features";
            notes.push(match self.pattern.model {
                Some(_) => format!("{words}; rows are projected, {rings}."),
                None => format!("{} features are not shown.", others),
            });
        }
        if seen
            && self.lines.is_some()
            && self.axes.len() == 2
            && !self.is_even()
            && self.classes.len() == 2
        {
            notes.push(
                "The axes have different units of length, so w does not look perpendicular.".into(),
            );
        }
        if !seen && self.pattern.model.is_some() {
            notes.push("No boundary crosses the picture.".into());
        }
        notes.extend(thinning(rows));
        notes
    }

    fn legend(&self, seen: bool) -> Vec<Entry> {
        let mut counts = vec![0; self.classes.len()];
        self.truth.iter().for_each(|class| counts[*class] += 1);
        let mut legend = vec![Entry::words(Sample::Nothing, "class (rows)")];
        legend.extend(class_entries(self.classes, &counts));
        if self.wrong.contains(&true) {
            legend.push(Entry::words(Sample::Ring, "wrong"));
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
            legend.push(Entry::words(Sample::Patch("url(#none)", 1.0), "no machine claims it"));
            legend.push(Entry::words(
                Sample::Patch("url(#several)", 1.0),
                "several machines claim it",
            ));
        }
        legend
    }

    fn has_normal(&self) -> bool {
        let one = self.pattern.model.is_some_and(|model| model.rule == Rule::Sign);
        one && self.lines.as_ref().is_some_and(|lines| lines[0].is_line())
    }

    /// Tinted regions, hatching, boundaries and the band of a model of straight lines.
    fn regions(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel, lines: &[Line]) {
        let sheet = frame.corners();
        let mut of_class = vec![Vec::new(); self.classes.len()];
        match is_argmax(model) {
            true => {
                for (class, line) in lines.iter().enumerate() {
                    let rivals = lines.iter().enumerate().filter(|(k, _)| *k != class);
                    let region = rivals.fold(sheet.clone(), |polygon, (_, rival)| {
                        keep(&polygon, &line.minus(rival))
                    });
                    of_class[class].push(region);
                }
            }
            false => {
                for piece in pieces(sheet.clone(), lines) {
                    let at = middle(&piece);
                    let scores: Vec<f64> = lines.iter().map(|line| line.at(at)).collect();
                    of_class[model.class_of(&scores) as usize].push(piece);
                }
            }
        }
        for (class, regions) in of_class.iter().enumerate() {
            let shapes: Vec<Vec<[f64; 2]>> = regions.iter().map(|r| frame.polygon(r)).collect();
            let attributes =
                format!("class=\"region\" fill=\"{}\" fill-opacity=\"0.16\"", colour(class));
            svg.path(&shapes, true, &attributes);
        }
        if self.hatches() {
            self.hatch(svg, frame, model, lines);
        }
        if self.has_band() {
            for (score, name) in [(self.closest[0], "negative"), (self.closest[1], "positive")] {
                if let Some([from, to]) = inside(&sheet, &lines[0].raised(-score)) {
                    let attributes = format!("class=\"margin {name}\" {}", stroke(INK, 1.3, "5 4"));
                    svg.line(frame.at(from), frame.at(to), &attributes);
                }
            }
        }
        for [from, to] in boundaries(&sheet, model, lines) {
            let ends = format!("{:?} {:?} {:?} {:?}", from[0], from[1], to[0], to[1]);
            let attributes =
                format!("class=\"boundary\" data-ends=\"{ends}\" {}", stroke(INK, 2.0, ""));
            svg.line(frame.at(from), frame.at(to), &attributes);
        }
    }

    fn hatch(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel, lines: &[Line]) {
        let mut layers = [Vec::new(), Vec::new()];
        for piece in pieces(frame.corners(), lines) {
            let at = middle(&piece);
            let scores: Vec<f64> = lines.iter().map(|line| line.at(at)).collect();
            match model.claimants(&scores) {
                0 => layers[0].push(frame.polygon(&piece)),
                1 => {}
                _ => layers[1].push(frame.polygon(&piece)),
            }
        }
        svg.hatchings();
        for (layer, name) in layers.iter().zip(["none", "several"]) {
            let attributes =
                format!("class=\"ambiguous {name}\" fill=\"url(#{name})\" fill-opacity=\"0.55\"");
            svg.path(layer, true, &attributes);
        }
    }

    /// Regions and boundaries from scores on a grid.
    fn curved_regions(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel) {
        if self.means.len() * model.planes.len() > MOST_CURVED {
            return;
        }
        const ACROSS: usize = 108;
        const UP: usize = 96;
        let class_at = |point| model.class_of(&self.scores_at(model, point)) as usize;
        let (width, height) = (frame.x.span() / ACROSS as f64, frame.y.span() / UP as f64);
        let mut of_class = vec![Vec::new(); self.classes.len()];
        for j in 0..UP {
            let y = frame.y.low + height * j as f64;
            let class =
                |i: usize| class_at([frame.x.low + width * (i as f64 + 0.5), y + height / 2.0]);
            let row: Vec<usize> = (0..ACROSS).map(class).collect();
            let mut start = 0;
            for i in 1..=ACROSS {
                if i == ACROSS || row[i] != row[start] {
                    let (low, high) =
                        (frame.x.low + width * start as f64, frame.x.low + width * i as f64);
                    let corners = [[low, y], [high, y], [high, y + height], [low, y + height]];
                    of_class[row[start]].push(frame.polygon(&corners));
                    start = i;
                }
            }
        }
        for (class, shapes) in of_class.iter().enumerate() {
            let attributes =
                format!("class=\"region\" fill=\"{}\" fill-opacity=\"0.16\"", colour(class));
            svg.path(shapes, true, &attributes);
        }
        for class in usize::from(self.classes.len() == 2)..self.classes.len() {
            // The lead of a class over its rivals changes its sign at its boundary.
            let lead = |point| {
                let scores = self.scores_at(model, point);
                let rivals = scores.iter().enumerate().filter(|(k, _)| *k != class);
                if model.rule == Rule::Sign {
                    scores[0]
                } else if is_argmax(model) {
                    scores[class] - rivals.map(|(_, s)| *s).fold(f64::NEG_INFINITY, f64::max)
                } else if model.class_of(&scores) as usize == class {
                    0.5
                } else {
                    -0.5
                }
            };
            let grid = Grid::new(&frame.x, &frame.y, ACROSS, UP, lead);
            let curves: Vec<Vec<[f64; 2]>> =
                grid.curves(0.0).iter().map(|curve| frame.polygon(curve)).collect();
            svg.path(&curves, false, &format!("class=\"boundary\" {}", stroke(INK, 1.6, "")));
        }
    }

    fn points(&self, svg: &mut Svg, frame: &Frame) {
        let rows = drawn_rows(self.truth.len());
        let r = match rows.len() {
            0..=300 => 4.6,
            301..=1500 => 3.4,
            _ => 2.4,
        };
        let mut places: Vec<(usize, [f64; 2])> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut point = [0.0, self.truth[row] as f64];
            if self.axes.len() == 2 {
                point[1] = 0.0;
            }
            self.pattern.data.for_each(row, |column, value| {
                if let Some(k) = self.axes.iter().position(|axis| *axis == column as usize) {
                    point[k] = value;
                }
            });
            places.push((row, frame.at(point)));
        }
        for class in 0..self.classes.len() {
            let of_class = places.iter().filter(|(row, _)| self.truth[*row] == class);
            svg.group(&format!(
                "class=\"rows\" fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.6\"",
                colour(class)
            ));
            of_class.for_each(|(_, at)| svg.marker(class, *at, r, ""));
            svg.close();
        }
        svg.group(&format!("class=\"wrong\" fill=\"none\" stroke=\"{INK}\" stroke-width=\"1.6\""));
        for (_, [x, y]) in places.iter().filter(|(row, _)| self.wrong[*row]) {
            let circle =
                format!("cx=\"{}\" cy=\"{}\" r=\"{}\"", number(*x), number(*y), number(r + 2.6));
            svg.element("circle", &circle);
        }
        svg.close();
    }

    /// The normal as an arrow from the middle of the boundary.
    fn normal(&self, svg: &mut Svg, frame: &Frame, model: &LinearModel, lines: &[Line]) {
        let Some([from, to]) = boundaries(&frame.corners(), model, lines).first().copied() else {
            return;
        };
        if !self.has_normal() {
            return;
        }
        let foot = frame.at([(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]);
        // Where w points in the picture: each coordinate in the units of its axis.
        let step = [
            lines[0].a / frame.x.span() * frame.area.width,
            -lines[0].b / frame.y.span() * frame.area.height,
        ];
        let size = step[0].hypot(step[1]);
        if !(size.is_finite() && size > 0.0) {
            return;
        }
        // As long as the frame allows, up to a length that can be seen.
        let space = |k: usize| {
            let (low, length) =
                [(frame.area.x, frame.area.width), (frame.area.y, frame.area.height)][k];
            let edge = if step[k] > 0.0 { low + length } else { low };
            if step[k] == 0.0 { f64::INFINITY } else { (edge - foot[k]) / step[k] * size }
        };
        let length = space(0).min(space(1)).min(56.0);
        if length < 12.0 {
            return;
        }
        let head = [foot[0] + length * step[0] / size, foot[1] + length * step[1] / size];
        svg.arrow(foot, head, INK, "normal");
        let style = Type { bold: true, halo: true, ..Type::new(14.0, Anchor::Start) };
        svg.text_near(head, 8.0, style, "w", frame.area);
    }
}

/// The lines between regions: that of the one plane, or for each pair of classes the part where both
/// are ahead of all others. Other rules have the lines of their machines.
fn boundaries(sheet: &[[f64; 2]], model: &LinearModel, lines: &[Line]) -> Vec<[[f64; 2]; 2]> {
    if !is_argmax(model) {
        return lines.iter().filter_map(|line| inside(sheet, line)).collect();
    }
    let mut found = Vec::new();
    let count = if lines.len() > MOST_PAIRED { 0 } else { lines.len() };
    for j in 0..count {
        for k in j + 1..count {
            let others = (0..count).filter(|m| *m != j && *m != k);
            let whole = inside(sheet, &lines[j].minus(&lines[k]));
            found.extend(others.fold(whole, |segment, m| {
                segment.and_then(|ends| keep_segment(ends, &lines[j].minus(&lines[m])))
            }));
        }
    }
    found.retain(|[from, to]| from != to);
    found
}
