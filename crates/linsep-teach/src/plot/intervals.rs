//! Numbers with their intervals, one below the other.
//!
//! **Coefficients** of a logistic regression stand for columns in standard deviations, so that they can be compared:
//! the estimate and both ends are multiplied by the deviation of the column, which changes no test. An end that is
//! infinite is an arrow to the edge; what has no number has no line. The intercept is left out.
//!
//! **Scores** of a grid of settings stand with one standard error to each side.

use super::axes::{Axis, Entry, Frame, Page, Sample, stroke};
use super::columns::moments;
use super::svg::{Anchor, Area, GREY, INK, PALE, Svg, Type, colour};
use super::{Style, short};
use linsep::infer::{InferenceSummary, Standing};
use linsep_data::Dataset;
use linsep_data::error::{Error, Result};

/// A number with the ends of its interval.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Interval {
    /// What it is of.
    pub name: String,
    /// The number; infinite or not a number where there is none.
    pub value: f64,
    /// The ends; infinite where there is none.
    pub ends: [f64; 2],
    /// Whether it is the one to look at.
    pub is_marked: bool,
}

impl Interval {
    /// A number with its ends.
    pub fn new(name: impl Into<String>, value: f64, ends: [f64; 2]) -> Interval {
        Interval { name: name.into(), value, ends, is_marked: false }
    }

    /// The same, marked or not.
    #[must_use]
    pub fn marked(self, is_marked: bool) -> Interval {
        Interval { is_marked, ..self }
    }
}

/// The picture of numbers with their intervals.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Intervals {
    /// From top to bottom.
    pub list: Vec<Interval>,
    /// What the numbers are.
    pub axis: String,
    /// A number at which a line stands.
    pub zero: Option<f64>,
    /// What is said above the picture.
    pub notes: Vec<String>,
    /// What a mark means, if something is marked.
    pub mark: String,
}

/// Lines that are shown.
const MOST: usize = 60;
/// Units for the names.
const NAMES: f64 = 190.0;
/// Numbers beyond which differences may leave the range of binary64.
const MOST_SIZE: f64 = 1e300;

impl Intervals {
    /// Numbers in this order.
    pub fn of(list: Vec<Interval>, axis: impl Into<String>) -> Intervals {
        Intervals { list, axis: axis.into(), zero: None, notes: Vec::new(), mark: String::new() }
    }

    /// The coefficients of a logistic regression on its rows, in the order of the columns.
    pub fn of_coefficients(summary: &InferenceSummary, data: &Dataset) -> Intervals {
        let (_, deviations) = moments(data);
        let mut is_wald = false;
        let mut list = Vec::new();
        for one in &summary.coefficients {
            let Some(column) = one.column else { continue };
            let size = deviations.get(column as usize).copied().unwrap_or(f64::NAN);
            let name = data.input().feature_name(column as usize);
            let name = one.class.as_ref().map_or(name.clone(), |class| format!("{class}: {name}"));
            let ends = match (&one.profile, one.wald(summary.confidence)) {
                (Some(ends), _) => ends.map(|end| end.value),
                (None, Some(ends)) => {
                    is_wald = true;
                    ends
                }
                _ => [f64::NEG_INFINITY, f64::INFINITY],
            };
            let name = match one.standing {
                Standing::Aliased(_) => format!("{name} (NA)"),
                _ => name,
            };
            let known = one.estimate.is_finite() || ends.iter().any(|end| end.is_finite());
            let ends = if known { ends } else { [f64::NAN; 2] };
            // 0 · ∞ is no number: a column without deviation is aliased and has none.
            list.push(Interval::new(name, one.estimate * size, ends.map(|end| end * size)));
        }
        let odds = match &summary.classes[..] {
            [negative, positive] => format!("of {positive} against {negative}"),
            _ => format!("of each class against {}", summary.reference),
        };
        let which = if is_wald { "Wald" } else { "profile-likelihood" };
        let fit = if summary.firth { "Firth's penalised likelihood" } else { "Maximum likelihood" };
        let mut notes = vec![format!(
            "{fit}: log-odds {odds}, with {which} intervals of {} %; an interval that holds 0 is drawn hollow.",
            short(100.0 * summary.confidence)
        )];
        if list.iter().any(|one| one.ends.iter().any(|end| end.is_infinite())) {
            notes.push("Arrows have no end.".to_owned());
        }
        let axis = "change of the log-odds by one standard deviation of the column";
        Intervals { zero: Some(0.0), notes, ..Intervals::of(list, axis) }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        if self.list.is_empty() {
            return Err(Error::usage("there is nothing with an interval to draw"));
        }
        let shown = &self.list[..self.list.len().min(MOST)];
        let numbers = || shown.iter().flat_map(|one| [one.value, one.ends[0], one.ends[1]]);
        if numbers().any(|x| x.is_finite() && x.abs() > MOST_SIZE) {
            let words =
                format!("a picture has no room for values beyond {MOST_SIZE:e}; scale the columns");
            return Err(Error::usage(words));
        }
        let mut notes = self.notes.clone();
        if let more @ 1.. = self.list.len() - shown.len() {
            notes.push(format!("{more} more are not shown."));
        }
        let pitch = (420.0 / shown.len() as f64).clamp(17.0, 36.0);
        let high = pitch * shown.len() as f64 + 6.0;
        let mut page = Page::new(&style.title, &notes, &self.legend(), high + 56.0);
        let x = Axis::around(numbers().filter(|x| x.is_finite()).chain(self.zero), 0.1);
        let area = Area {
            x: NAMES,
            y: page.room.y + 6.0,
            width: page.room.width - NAMES - 10.0,
            height: high,
        };
        let frame = Frame { area, x, y: Axis { low: 0.0, high: 1.0 } };
        if let Some(zero) = self.zero {
            let at = frame.at([zero, 0.0])[0];
            page.svg.line([at, frame.area.y], [at, frame.area.bottom()], &stroke(GREY, 1.2, ""));
        }
        for (k, one) in shown.iter().enumerate() {
            let y = frame.area.y + 3.0 + pitch * (k as f64 + 0.5);
            self.line(&mut page.svg, &frame, one, y);
        }
        frame.draw_below(&mut page.svg);
        frame.finish_axes(&mut page.svg, &self.axis, "");
        Ok(page.finish(style.width))
    }

    fn legend(&self) -> Vec<Entry> {
        match self.list.iter().any(|one| one.is_marked) {
            true => vec![Entry::words(Sample::Patch(colour(1), 0.9), self.mark.clone())],
            false => Vec::new(),
        }
    }

    fn line(&self, svg: &mut Svg, frame: &Frame, one: &Interval, y: f64) {
        svg.cut_text([NAMES - 8.0, y + 4.3], Type::new(12.5, Anchor::End), &one.name, NAMES - 22.0);
        let (left, right) = (frame.area.x, frame.area.x + frame.area.width);
        svg.line([left, y], [right, y], &stroke(PALE, 1.0, ""));
        let [low, high] = one.ends;
        if low.is_nan() || high.is_nan() {
            return;
        }
        let ink = if one.is_marked { colour(1) } else { INK };
        svg.group(&format!(
            "class=\"interval\" data-value=\"{:?}\" data-low=\"{:?}\" data-high=\"{:?}\"",
            known(one.value),
            known(low),
            known(high)
        ));
        let place = |x: f64| frame.at([x, 0.0])[0];
        let inner = |x: f64| if x.is_finite() { place(x) } else { place(one.value) };
        let middle = match (one.value.is_finite(), low.is_finite(), high.is_finite()) {
            (true, ..) => place(one.value),
            (_, true, _) => place(low),
            (_, _, true) => place(high),
            _ => 0.5 * (left + right),
        };
        for (end, edge) in [(low, left + 4.0), (high, right - 4.0)] {
            match end.is_finite() {
                true => {
                    let at = inner(end);
                    svg.line([middle, y], [at, y], &stroke(ink, 2.0, ""));
                    svg.line([at, y - 5.0], [at, y + 5.0], &stroke(ink, 2.0, ""));
                }
                false => svg.arrow([middle, y], [edge, y], ink, "endless"),
            }
        }
        if one.value.is_finite() {
            let hollow = self.zero.is_some_and(|zero| low <= zero && zero <= high);
            let fill = if hollow { "#ffffff" } else { ink };
            svg.element(
                "circle",
                &format!("cx=\"{:.2}\" cy=\"{y:.2}\" r=\"4.5\" fill=\"{fill}\" stroke=\"{ink}\" stroke-width=\"1.6\"", place(one.value)),
            );
        }
        svg.close();
    }
}

/// A number to nine digits: the ends of intervals are not known to more.
fn known(x: f64) -> f64 {
    format!("{x:.8e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep::Task;
    use linsep::infer::Inference;

    #[test]
    fn ends_stand_where_they_are_and_infinite_ones_are_arrows() {
        let rows = [[1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [4.0, 0.0], [5.0, 1.0], [2.5, 1.0]];
        let data = Dataset::from_rows(&rows, &["a", "b", "a", "b", "b", "b"]).unwrap();
        let summary = Inference::default().of(&Task::new(data.clone()), &|| false).unwrap();
        let picture = Intervals::of_coefficients(&summary, &data);
        assert_eq!(picture.list.len(), 2);
        // The second column is 1 for rows of b only.
        assert!(picture.list[1].value == f64::INFINITY && picture.list[1].ends[1] == f64::INFINITY);
        let (_, deviations) = moments(&data);
        let ends = summary.coefficients[1].profile.unwrap().map(|end| end.value * deviations[0]);
        assert_eq!(picture.list[0].ends, ends);
        let svg = picture.draw(&Style::new("coefficients")).unwrap();
        assert_eq!(
            (svg.matches("class=\"interval\"").count(), svg.matches("endless").count()),
            (2, 1)
        );
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn a_marked_score_is_in_the_legend() {
        let list = vec![
            Interval::new("c 1", 0.9, [0.88, 0.92]),
            Interval::new("c 2", 0.95, [0.93, 0.97]).marked(true),
        ];
        let mut picture = Intervals::of(list, "accuracy");
        picture.mark = "chosen".to_owned();
        let svg = picture.draw(&Style::new("grid")).unwrap();
        assert!(svg.contains("chosen") && svg.matches("<circle").count() == 2, "{svg}");
        assert!(Intervals::of(Vec::new(), "x").draw(&Style::new("none")).is_err());
    }
}
