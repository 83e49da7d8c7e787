//! The weights of a model, comparable and the largest first.
//!
//! A weight w_j speaks of one unit of its column, and units can be anything. Times the standard deviation
//! of the column,
//!
//! ```text
//! w_j s_j
//! ```
//!
//! it says how far the score moves for a row one deviation off. Where the highest of several scores
//! wins, only differences decide: of each weight the mean over the classes is taken away.

use super::axes::{Axis, Entry, Frame, Page, Sample, class_entries, stroke};
use super::columns::moments;
use super::pattern::is_argmax;
use super::svg::{Anchor, Area, GREY, PALE, Svg, Type, colour};
use super::{Style, numbered, short};
use linsep::model::{LinearModel, Rule};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};
use linsep_data::sort::places;

/// The picture of the weights.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Coefficients<'a> {
    /// The model.
    pub model: &'a LinearModel,
    /// The rows whose columns give the standard deviations.
    pub data: &'a Dataset,
    /// What the model is, in words.
    pub about: String,
}

/// Weights that are shown, and series of them.
const MOST_WEIGHTS: usize = 24;
const MOST_SERIES: usize = 26;

/// Numbers beyond which differences may leave the range of binary64.
const MOST_SIZE: f64 = 1e300;

/// Units for the names of columns.
const NAMES: f64 = 170.0;
/// Units from one weight to the next: many are close, few have room.
fn pitch(weights: usize) -> f64 {
    (400.0 / weights.max(1) as f64).clamp(21.0, 36.0)
}

impl<'a> Coefficients<'a> {
    /// The weights of a model on rows with its columns.
    pub fn of(model: &'a LinearModel, data: &'a Dataset) -> Coefficients<'a> {
        Coefficients { model, data, about: String::new() }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        let truth = numbered(self.data, self.model)?;
        let planes = &self.model.planes;
        let features = self.model.n_features();
        let whole = planes.iter().all(|plane| plane.weights.len() == features);
        if !whole || matches!(self.model.rule, Rule::Ballot(_)) || features == 0 {
            return Err(Error::usage(
                "the planes of the model do not weigh its columns one by one",
            ));
        }
        if planes.len() > MOST_SERIES {
            return Err(Error::usage(format!(
                "the view coefficients has room for {MOST_SERIES} planes and the model has {}; \
                 linsep show lists all weights",
                planes.len()
            )));
        }
        let (means, deviations) = self.inputs();
        let values = standardised(self.model, &deviations);
        if values.iter().flatten().any(|v| v.abs() > MOST_SIZE || v.is_nan()) {
            return Err(Error::usage(
                "a picture has no room for weights times deviations beyond the range of binary64; \
                 scale the columns",
            ));
        }
        let size = |j: usize| values.iter().map(|v| v[j].abs()).fold(0.0, f64::max);
        let order = places(features, &mut |a, b| size(b).total_cmp(&size(a)));
        let shown = &order[..features.min(MOST_WEIGHTS)];
        let rest = order.get(shown.len()).map(|&j| size(j));
        let mut counts = vec![0; self.model.classes.len()];
        truth.iter().for_each(|class| counts[*class] += 1);
        let notes = self.notes(shown.len(), rest, &means);
        let high = pitch(shown.len()) * shown.len() as f64 + 6.0;
        let mut page = Page::new(&style.title, &notes, &self.legend(&counts), high + 56.0);
        let all = shown.iter().flat_map(|j| values.iter().map(move |v| v[*j]));
        let x = Axis::around(all.chain([0.0]), 0.17);
        let area = Area {
            x: NAMES,
            y: page.room.y + 6.0,
            width: page.room.width - NAMES - 10.0,
            height: high,
        };
        let frame = Frame { area, x, y: Axis { low: 0.0, high: 1.0 } };
        self.bars(&mut page.svg, &frame, shown, &values);
        frame.draw_below(&mut page.svg);
        frame.finish_axes(&mut page.svg, "weight × standard deviation of its column", "");
        Ok(page.finish(style.width))
    }

    /// Means and deviations of the columns as the planes see them.
    fn inputs(&self) -> (Vec<f64>, Vec<f64>) {
        let Some(threshold) = self.model.input.binarize else { return moments(self.data) };
        let rows = self.data.n_rows().max(1) as f64;
        let zero = if 0.0 > threshold { 1.0 } else { 0.0 };
        let mut shares = vec![zero; self.data.n_features()];
        for row in 0..self.data.n_rows() {
            self.data.for_each(row, |column, value| {
                let one = if value > threshold { 1.0 } else { 0.0 };
                shares[column as usize] += (one - zero) / rows;
            });
        }
        let deviations = shares.iter().map(|p| (p * (1.0 - p)).max(0.0).sqrt()).collect();
        (shares, deviations)
    }

    fn notes(&self, shown: usize, rest: Option<f64>, means: &[f64]) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.about.is_empty() {
            notes.push(format!("{}.", self.about));
        }
        let features = self.model.n_features();
        let mut words = match rest {
            None => "The weights, the largest first.".to_owned(),
            Some(rest) => format!(
                "The {shown} largest of {features} weights; of the others none is larger than {}.",
                short(rest)
            ),
        };
        if is_argmax(self.model) {
            words += " The mean over the classes is taken away: only differences decide.";
        }
        notes.push(words);
        if let [plane] = &self.model.planes[..] {
            let score =
                plane.bias + plane.weights.iter().zip(means).map(|(w, m)| w * m).sum::<f64>();
            notes.push(format!("At the means of all columns the score is {}.", short(score)));
        }
        notes
    }

    fn legend(&self, counts: &[usize]) -> Vec<Entry> {
        let classes = &self.model.classes;
        if self.model.planes.len() == 1 {
            let entry = |class: usize, way: &str| {
                let name = classes.get(class).map_or("", String::as_str);
                Entry::name(Sample::Patch(colour(class), 0.8), &format!("{way} {name}"))
            };
            let head = Entry::words(Sample::Nothing, "more of it speaks for");
            return vec![head, entry(1, "→"), entry(0, "←")];
        }
        if self.model.planes.len() == classes.len() {
            let mut legend = vec![Entry::words(Sample::Nothing, "class (rows)")];
            legend.extend(class_entries(classes, counts));
            return legend;
        }
        let mut legend = vec![Entry::words(Sample::Nothing, "plane of")];
        let names = self.model.score_names();
        legend.extend(names.iter().enumerate().map(|(k, n)| Entry::name(Sample::Marker(k), n)));
        legend
    }

    fn bars(&self, svg: &mut Svg, frame: &Frame, shown: &[usize], values: &[Vec<f64>]) {
        let middle = |k: usize| frame.area.y + 3.0 + pitch(shown.len()) * (k as f64 + 0.5);
        let zero = frame.at([0.0, 0.0])[0];
        for (k, &j) in shown.iter().enumerate() {
            let y = middle(k);
            let name = self.model.input.feature_name(j);
            svg.cut_text([NAMES - 8.0, y + 4.3], Type::new(12.5, Anchor::End), &name, NAMES - 22.0);
            let line = stroke(PALE, 1.0, "");
            svg.line([frame.area.x, y], [frame.area.x + frame.area.width, y], &line);
        }
        svg.line([zero, frame.area.y], [zero, frame.area.bottom()], &stroke(GREY, 1.2, ""));
        for (k, &j) in shown.iter().enumerate() {
            let y = middle(k);
            if let [only] = values {
                let end = frame.at([only[j], 0.0])[0];
                let bar =
                    Area { x: end.min(zero), y: y - 6.5, width: (end - zero).abs(), height: 13.0 };
                let class = usize::from(only[j] > 0.0);
                svg.rect(
                    bar,
                    &format!(
                        "class=\"coefficient\" data-value=\"{:?}\" fill=\"{}\" fill-opacity=\"0.8\"",
                        only[j],
                        colour(class)
                    ),
                );
                let (at, anchor) = match only[j] < 0.0 {
                    true => (end - 5.0, Anchor::End),
                    false => (end + 5.0, Anchor::Start),
                };
                svg.text([at, y + 4.0], Type::new(11.5, anchor), &short(only[j]));
                continue;
            }
            for (series, value) in values.iter().enumerate() {
                svg.group(&format!(
                    "class=\"coefficient\" data-value=\"{:?}\" fill=\"{}\" stroke=\"#ffffff\" stroke-width=\"0.6\"",
                    value[j],
                    colour(series)
                ));
                svg.marker(series, [frame.at([value[j], 0.0])[0], y], 5.0, "");
                svg.close();
            }
        }
    }
}

/// w_j s_j of every plane, without what is common to rivals.
fn standardised(model: &LinearModel, deviations: &[f64]) -> Vec<Vec<f64>> {
    let sized = |weights: &[f64]| weights.iter().zip(deviations).map(|(w, s)| w * s).collect();
    let mut values: Vec<Vec<f64>> =
        model.planes.iter().map(|plane| sized(&plane.weights)).collect();
    if is_argmax(model) {
        let count = values.len() as f64;
        for j in 0..deviations.len() {
            let mean = values.iter().map(|v| v[j] / count).sum::<f64>();
            values.iter_mut().for_each(|v| v[j] -= mean);
        }
    }
    values
}
