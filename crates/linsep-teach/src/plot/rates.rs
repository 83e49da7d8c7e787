//! How good scores and probabilities are over all thresholds: ROC, precision against recall, calibration.
//!
//! Of two classes there is one curve, that of the second class; of more one for each class against the rest. Rows of
//! the same score change sides together, so ties are a straight piece of the ROC curve. Calibration shows the share of
//! rows that are so in bins of their probability, with Wilson's intervals and the diagonal where both agree.

use super::Style;
use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::svg::{GREY, Svg, colour, fit, number};
use linsep::metrics::{CurvePoint, Predictions};
use linsep_data::error::{Error, Result};

/// What is drawn of the predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RatesOf {
    /// True against false positive rate.
    Roc,
    /// Precision against recall.
    PrecisionRecall,
    /// Frequency against probability, in so many bins.
    Calibration(usize),
}

/// The picture of rates over all thresholds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rates<'a> {
    /// The rows with what a model says of them.
    pub rows: &'a Predictions,
    /// What is drawn.
    pub of: RatesOf,
    /// What the model is, for the line below the title.
    pub about: String,
}

/// Classes beyond which curves cannot be told apart.
const MOST: usize = 10;

/// Points of a curve at most; beyond, those in between are left out.
const MOST_POINTS: usize = 1500;

impl<'a> Rates<'a> {
    /// A picture of these rows.
    pub fn of(rows: &'a Predictions, of: RatesOf) -> Rates<'a> {
        Rates { rows, of, about: String::new() }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        let wrong = |reason: String| Error::usage(format!("there is nothing to draw: {reason}"));
        match self.of {
            RatesOf::Calibration(bins) => self.calibration(bins, style),
            _ => self.curves(style),
        }
        .map_err(wrong)
    }

    fn note(&self) -> String {
        let rows = super::counted(self.rows.n_rows(), "row");
        if self.about.is_empty() { format!("{rows}.") } else { format!("{}; {rows}.", self.about) }
    }

    fn curves(&self, style: &Style) -> std::result::Result<String, String> {
        let classes = self.rows.classes();
        let (roc, two) = (self.of == RatesOf::Roc, classes.len() == 2);
        if classes.len() > MOST {
            return Err(format!(
                "curves of at most {MOST} classes can be told apart, and there are {}; evaluate with metrics all has the areas",
                classes.len()
            ));
        }
        let shown = if two { 1..2 } else { 0..classes.len() };
        let (mut curves, mut legend, mut reason) = (Vec::new(), Vec::new(), None);
        let measure = if roc { "area" } else { "average precision" };
        legend.push(Entry::words(Sample::Nothing, format!("class, {measure}")));
        for class in shown {
            let curve = match roc {
                true => self.rows.roc(class),
                false => self.rows.precision_recall(class),
            };
            match (curve, self.rows.areas(class)) {
                (Ok(curve), Ok((area, precision))) => {
                    let value = if roc { area } else { precision };
                    let name = fit(&classes[class], 12.5, 80.0);
                    let line = Sample::Line(colour(class), dash(class, two));
                    legend.push(Entry::name(line, &format!("{name} {value:.4}")));
                    curves.push((class, thinned(curve)));
                }
                (Err(words), _) | (_, Err(words)) => reason = Some(words),
            }
        }
        if curves.is_empty() {
            return Err(reason.unwrap_or_else(|| "there are no classes".to_owned()));
        }
        let mut notes = vec![self.note()];
        notes.push(match (two, roc) {
            (true, true) => format!("Positive: {}. The diagonal is chance.", classes[1]),
            (true, false) => {
                format!("Positive: {}. The dotted line is its share of the rows.", classes[1])
            }
            (false, true) => "Each class against the rest. The diagonal is chance.".to_owned(),
            (false, false) => "Each class against the rest.".to_owned(),
        });
        notes.extend(reason);
        let mut page = Page::new(&style.title, &notes, &legend, 560.0);
        let frame = unit_frame(&page);
        let svg = &mut page.svg;
        if roc {
            diagonal(svg, &frame);
        } else if two && let Some(last) = curves[0].1.last() {
            let ends = [[0.0, last.y], [1.0, last.y]].map(|point| frame.at(point));
            svg.line(ends[0], ends[1], &format!("class=\"share\" {}", stroke(GREY, 1.2, "2 3")));
        }
        for (class, curve) in &curves {
            let mut points: Vec<[f64; 2]> = Vec::new();
            for point in curve {
                // The area is that of steps, each as high as the precision at its end.
                if !roc {
                    let before = points.last().map_or(frame.at([0.0, 0.0])[0], |last| last[0]);
                    points.push([before, frame.at([0.0, point.y])[1]]);
                }
                points.push(frame.at([point.x, point.y]));
            }
            let look = stroke(colour(*class), 2.2, dash(*class, two));
            svg.path(
                &[points],
                false,
                &format!("class=\"curve\" {look} stroke-linejoin=\"round\""),
            );
        }
        match roc {
            true => frame.draw(svg, "false positive rate", "true positive rate (recall)"),
            false => frame.draw(svg, "recall", "precision"),
        }
        Ok(page.finish(style.width))
    }

    fn calibration(&self, bins: usize, style: &Style) -> std::result::Result<String, String> {
        let found = self.rows.calibration(bins)?;
        let (Some(error), Some(largest)) = (found.error, found.largest) else {
            return Err("there are no rows".to_owned());
        };
        let classes = self.rows.classes();
        let what = match classes {
            [_, second] => format!("probability of {second}"),
            _ => "probability of the most probable class".to_owned(),
        };
        let notes = [
            self.note(),
            format!("Calibration error {error:.4}, largest {largest:.4}, in {bins} bins."),
        ];
        let legend = [
            Entry::words(Sample::Line(CURVE, ""), "share of rows that are so"),
            Entry::words(Sample::Line(GREY, "6 4"), "as the model says"),
            Entry::words(Sample::Patch(CURVE, 0.3), "rows in the bin, the tallest has most"),
        ];
        let mut page = Page::new(&style.title, &notes, &legend, 560.0);
        let frame = unit_frame(&page);
        let svg = &mut page.svg;
        let most = found.bins.iter().map(|bin| bin.weight).fold(0.0, f64::max);
        for bin in found.bins.iter().filter(|bin| bin.weight > 0.0) {
            let tall = 0.15 * bin.weight / most;
            let corners = [[bin.low, 0.0], [bin.high, 0.0], [bin.high, tall], [bin.low, tall]];
            let look = format!("class=\"rows\" fill=\"{CURVE}\" fill-opacity=\"0.3\"");
            svg.path(&[frame.polygon(&corners)], true, &look);
        }
        diagonal(svg, &frame);
        let mut points = Vec::new();
        for bin in &found.bins {
            let (Some(p), Some(y)) = (bin.probability, bin.frequency) else { continue };
            if let Some([low, high]) = bin.interval {
                let ends = [[p, low], [p, high]].map(|point| frame.at(point));
                svg.line(
                    ends[0],
                    ends[1],
                    &format!("class=\"interval\" {}", stroke(CURVE, 1.4, "")),
                );
            }
            points.push(frame.at([p, y]));
        }
        for [x, y] in &points {
            let (x, y) = (number(*x), number(*y));
            svg.element(
                "circle",
                &format!("class=\"bin\" cx=\"{x}\" cy=\"{y}\" r=\"4.5\" fill=\"{CURVE}\""),
            );
        }
        svg.path(&[points], false, &format!("class=\"curve\" {}", stroke(CURVE, 2.0, "")));
        frame.draw(svg, &what, "share of rows that are so");
        Ok(page.finish(style.width))
    }
}

const CURVE: &str = "#0072B2";

/// So that curves differ without colours.
const DASHES: [&str; 4] = ["", "8 3", "2 3", "9 3 2 3"];

fn dash(class: usize, alone: bool) -> &'static str {
    if alone { "" } else { DASHES[class % DASHES.len()] }
}

fn unit_frame(page: &Page) -> Frame {
    let unit = || Axis { low: 0.0, high: 1.0 };
    Frame::within(page.room, unit(), Axis { low: 0.0, high: 1.02 })
}

fn diagonal(svg: &mut Svg, frame: &Frame) {
    let ends = [[0.0, 0.0], [1.0, 1.0]].map(|point| frame.at(point));
    svg.line(ends[0], ends[1], &format!("class=\"chance\" {}", stroke(GREY, 1.2, "6 4")));
}

/// Evenly spaced points of a long curve, its ends among them.
fn thinned(curve: Vec<CurvePoint>) -> Vec<CurvePoint> {
    let last = curve.len().saturating_sub(1);
    if last <= MOST_POINTS {
        return curve;
    }
    (0..=MOST_POINTS).map(|k| curve[k * last / MOST_POINTS]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(classes: &[&str]) -> Predictions {
        let k = classes.len();
        let names: Vec<String> = classes.iter().map(|name| (*name).to_owned()).collect();
        let mut found = Predictions::new(&names);
        for n in 0..60u32 {
            let truth = n as usize % k;
            let mut p: Vec<f64> =
                (0..k).map(|c| 1.0 + f64::from((n * 7 + 5 * c as u32) % 11)).collect();
            p[truth] += 4.0;
            let sum: f64 = p.iter().sum();
            p.iter_mut().for_each(|p| *p /= sum);
            let scores = if k == 2 { vec![(p[1] / p[0]).ln()] } else { p.clone() };
            found.add(truth as u32, 0, &scores, &p, 1.0);
        }
        found
    }

    #[test]
    fn each_picture_has_its_curves() {
        let style = Style::new("title");
        for (classes, curves) in [(&["no", "yes"][..], 1), (&["a", "b", "c"], 3)] {
            let rows = rows(classes);
            for of in [RatesOf::Roc, RatesOf::PrecisionRecall] {
                let svg = Rates::of(&rows, of).draw(&style).unwrap();
                assert_eq!(svg.matches("class=\"curve\"").count(), curves);
                assert!(!svg.contains("NaN") && svg.contains("0."));
                assert_eq!(svg, Rates::of(&rows, of).draw(&style).unwrap());
            }
            let svg = Rates::of(&rows, RatesOf::Calibration(5)).draw(&style).unwrap();
            assert!(svg.matches("class=\"bin\"").count() >= 2 && !svg.contains("NaN"));
        }
    }

    #[test]
    fn rows_of_one_class_and_models_without_probabilities_say_why() {
        let style = Style::new("title");
        let mut alone = Predictions::new(&["a".to_owned(), "b".to_owned()]);
        alone.add(0, 0, &[1.0], &[], 1.0);
        for (of, words) in [
            (RatesOf::Roc, "no row is of class \"b\""),
            (RatesOf::PrecisionRecall, "no row is of class"),
            (RatesOf::Calibration(10), "no probabilities"),
        ] {
            let error = Rates::of(&alone, of).draw(&style).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let many: Vec<String> = (0..30).map(|k| k.to_string()).collect();
        let many = Predictions::new(&many);
        assert!(Rates::of(&many, RatesOf::Roc).draw(&style).is_err());
    }
}
