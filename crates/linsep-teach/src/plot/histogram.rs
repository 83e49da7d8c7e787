//! Rows projected on a direction, as overlaid histograms of two classes.
//!
//! The lectures ask for the direction w that shows two classes best. The difference of the means takes
//! them far apart but forgets how far each class spreads; Fisher's direction makes
//!
//! ```text
//! J(w) = (m₂ − m₁)² / (s₁² + s₂²)
//! ```
//!
//! largest, with m the means and s² the scatter of the projected classes. Directions have length 1, so
//! the axis is in the units of the data. Reference: Bishop, 4.1.4.

use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::svg::{Area, INK, Svg, colour};
use super::{Style, counted, numbered, short};
use linsep::model::{LinearModel, Plane, Rule};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};

/// A direction with the threshold between the classes.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Direction {
    /// What it is, in words.
    pub name: String,
    /// The plane w·x + b = 0, whose w is the direction.
    pub plane: Plane,
}

impl Direction {
    /// The direction from the mean of the first class to that of the second, with the threshold in the
    /// middle of the projected means.
    pub fn of_means(data: &Dataset) -> Result<Direction> {
        super::require_two(data, "histogram")?;
        let mut means = vec![vec![0.0; data.n_features()]; 2];
        let mut counts = [0.0f64; 2];
        data.targets().iter().for_each(|class| counts[*class as usize] += 1.0);
        for row in 0..data.n_rows() {
            let class = data.class_of(row) as usize;
            let share = counts[class].max(1.0);
            data.for_each(row, |column, value| means[class][column as usize] += value / share);
        }
        let weights: Vec<f64> = means[1].iter().zip(&means[0]).map(|(a, b)| a - b).collect();
        let middle = means[1].iter().zip(&means[0]).map(|(a, b)| (a + b) / 2.0);
        let bias = -weights.iter().zip(middle).map(|(w, m)| w * m).sum::<f64>();
        Ok(Direction {
            name: "difference of the means".to_owned(),
            plane: Plane::new(weights, bias),
        })
    }

    /// The plane of a model of two classes.
    pub fn of_model(name: &str, model: &LinearModel) -> Result<Direction> {
        match (&model.rule, model.planes.first()) {
            (Rule::Sign, Some(plane))
                if model.input.binarize.is_none() && plane.weights.len() == model.n_features() =>
            {
                Ok(Direction { name: name.to_owned(), plane: plane.clone() })
            }
            (Rule::Sign, _) => Err(Error::usage(
                "the model is not linear in its columns, so rows cannot be projected on its direction",
            )),
            _ => Err(Error::usage(format!(
                "the view histogram needs a model of two classes and this one has {}",
                model.classes.len()
            ))),
        }
    }
}

/// The picture of projected rows: a panel for each direction.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histogram<'a> {
    /// Rows of two classes.
    pub data: &'a Dataset,
    /// The directions, one below the other.
    pub directions: Vec<Direction>,
    /// The names of the classes in the order in which the planes know them.
    pub classes: Vec<String>,
}

impl<'a> Histogram<'a> {
    /// Directions that know the classes as the data does.
    pub fn of(data: &'a Dataset, directions: Vec<Direction>) -> Histogram<'a> {
        Histogram { data, directions, classes: data.classes().to_vec() }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        if self.directions.is_empty() || self.classes.len() != 2 {
            return Err(Error::usage("the view histogram needs a direction and two classes"));
        }
        let truth = self.truth()?;
        let panels: Vec<Panel> = self
            .directions
            .iter()
            .map(|direction| Panel::new(self.data, &truth, direction))
            .collect();
        let mut counts = [0; 2];
        truth.iter().for_each(|class| counts[*class] += 1);
        let mut legend = vec![Entry::words(Sample::Nothing, "class (rows)")];
        for (class, name) in self.classes.iter().enumerate() {
            let text = super::svg::fit(name, 12.5, 80.0);
            let text = format!("{text} ({})", counts[class]);
            legend.push(Entry::name(Sample::Patch(colour(class), 0.5), &text));
        }
        legend.push(Entry::words(Sample::Line(INK, ""), "threshold"));
        legend.push(Entry::words(Sample::Line(INK, "2 3"), "means of the classes"));
        let notes = panels.iter().map(Panel::words).collect::<Vec<_>>();
        let height = if panels.len() == 1 { 460.0 } else { 290.0 };
        let mut page = Page::new(&style.title, &notes, &legend, height * panels.len() as f64);
        for (k, panel) in panels.iter().enumerate() {
            let room = Area { y: page.room.y + height * k as f64, height, ..page.room };
            panel.draw(&mut page.svg, room);
        }
        Ok(page.finish(style.width))
    }

    fn truth(&self) -> Result<Vec<usize>> {
        let number = |name: &String| {
            self.classes
                .iter()
                .position(|class| class == name)
                .ok_or_else(|| Error::usage(format!("the directions know no class \"{name}\"")))
        };
        let numbers: Vec<usize> = self.data.classes().iter().map(number).collect::<Result<_>>()?;
        Ok(self.data.targets().iter().map(|class| numbers[*class as usize]).collect())
    }
}

/// A direction with the rows on it.
struct Panel {
    name: String,
    /// Projected rows of each class, and the threshold.
    values: [Vec<f64>; 2],
    threshold: Option<f64>,
    wrong: usize,
}

impl Panel {
    fn new(data: &Dataset, truth: &[usize], direction: &Direction) -> Panel {
        let Plane { weights, bias, .. } = &direction.plane;
        let length = weights.iter().fold(0.0f64, |sum, w| sum.hypot(*w));
        let scale = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
        let mut values = [Vec::new(), Vec::new()];
        let mut wrong = 0;
        for (row, class) in truth.iter().enumerate() {
            let mut score = 0.0;
            data.for_each(row, |column, value| {
                score += value * weights.get(column as usize).copied().unwrap_or(0.0);
            });
            wrong += usize::from(usize::from(score + bias >= 0.0) != *class);
            values[*class].push(score * scale);
        }
        let threshold = (scale > 0.0).then_some(-bias * scale);
        Panel { name: direction.name.clone(), values, threshold, wrong }
    }

    /// Mean and scatter of a class.
    fn spread(&self, class: usize) -> (f64, f64) {
        let values = &self.values[class];
        let count = values.len().max(1) as f64;
        let mean = values.iter().map(|x| x / count).sum::<f64>();
        (mean, values.iter().map(|x| (x - mean).powi(2)).sum())
    }

    fn words(&self) -> String {
        let rows = self.values[0].len() + self.values[1].len();
        let ((m1, s1), (m2, s2)) = (self.spread(0), self.spread(1));
        let ratio = (m2 - m1).powi(2) / (s1 + s2);
        let ratio = match (self.threshold, s1 + s2 > 0.0) {
            (None, _) => "it is 0, there is nothing to project on".to_owned(),
            (_, true) => format!("J(w) = {}", short(ratio)),
            _ => "J(w) is not defined, no class spreads".to_owned(),
        };
        format!(
            "{}: {ratio}; {} of {} on the wrong side.",
            self.name,
            self.wrong,
            counted(rows, "row")
        )
    }

    fn draw(&self, svg: &mut Svg, room: Area) {
        let all = || self.values.iter().flatten().copied();
        let x = Axis::around(all().chain(self.threshold), 0.04);
        let rows = self.values[0].len() + self.values[1].len();
        // Sturges' number, doubled, because two shapes are to be told apart.
        let bins = (2.0 * ((rows.max(1) as f64).log2() + 1.0)).clamp(8.0, 40.0) as usize;
        let mut counts = [vec![0usize; bins], vec![0usize; bins]];
        for (class, counts) in counts.iter_mut().enumerate() {
            for value in &self.values[class] {
                let bin = (x.share(*value) * bins as f64).clamp(0.0, bins as f64 - 1.0) as usize;
                counts[bin] += 1;
            }
        }
        let most = counts.iter().flatten().copied().max().unwrap_or(0).max(1);
        let y = Axis { low: 0.0, high: 1.08 * most as f64 };
        let frame = Frame::within(room, x.clone(), y);
        for (class, counts) in counts.iter().enumerate() {
            svg.group(&format!(
                "class=\"bars\" fill=\"{0}\" fill-opacity=\"0.5\" stroke=\"{0}\"",
                colour(class)
            ));
            for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                let edge = |k: usize| x.low + x.span() * k as f64 / bins as f64;
                let [left, top] = frame.at([edge(bin), *count as f64]);
                let right = frame.at([edge(bin + 1), 0.0])[0];
                let bar = Area {
                    x: left,
                    y: top,
                    width: right - left,
                    height: frame.area.bottom() - top,
                };
                svg.rect(bar, &format!("data-count=\"{count}\""));
            }
            svg.close();
        }
        for class in 0..2 {
            let mean = frame.at([self.spread(class).0, 0.0])[0];
            let line = stroke(colour(class), 2.0, "2 3");
            svg.line([mean, frame.area.y], [mean, frame.area.bottom()], &line);
        }
        if let Some(threshold) = self.threshold.filter(|t| frame.holds([*t, 0.0])) {
            let at = frame.at([threshold, 0.0])[0];
            let line = format!("class=\"threshold\" {}", stroke(INK, 2.0, ""));
            svg.line([at, frame.area.y], [at, frame.area.bottom()], &line);
        }
        frame.draw(svg, &format!("rows projected on the {}", self.name), "rows");
    }
}

impl<'a> Histogram<'a> {
    /// The plane of a model on rows with its features.
    pub fn of_model(data: &'a Dataset, name: &str, model: &LinearModel) -> Result<Histogram<'a>> {
        numbered(data, model)?;
        let directions = vec![Direction::of_model(name, model)?];
        Ok(Histogram { data, directions, classes: model.classes.clone() })
    }
}
