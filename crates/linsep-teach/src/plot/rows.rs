//! Rows as marks: shape and colour tell the class, a ring tells a mistake.
//!
//! Of many rows the marks are small and let each other shine through, and the classes are drawn in turns,
//! so that the last one does not hide the others. Rows that are wrong lie on top. Where there are many,
//! their rings are thin and close. Where no regions
//! are drawn, a ring has the colour of the class that the model says, and every class has its name at
//! the mean of its rows.

use super::axes::Frame;
use super::drawn_rows;
use super::pattern::{Chart, Scene};
use super::svg::{Anchor, INK, Svg, Type, colour, number};

/// Rows beyond which marks let each other shine through.
const MOST_OPAQUE: usize = 1000;

/// Turns in which many rows are drawn.
const TURNS: usize = 10;

/// Classes up to which they have names in the picture.
const MOST_NAMED: usize = 30;

impl Scene<'_> {
    pub(super) fn rows(&self, svg: &mut Svg, frame: &Frame) {
        let rows = drawn_rows(self.truth.len());
        let r = match rows.len() {
            0..=300 => 4.6,
            301..=1500 => 3.4,
            _ => 2.6,
        };
        let many = rows.len() > MOST_OPAQUE;
        let opacity = (MOST_OPAQUE as f64 / rows.len().max(1) as f64).sqrt().clamp(0.3, 1.0);
        let look = match many {
            false => " stroke=\"#ffffff\" stroke-width=\"0.6\"".to_owned(),
            true => format!(" fill-opacity=\"{}\"", number(opacity)),
        };
        let turns = if many { TURNS } else { 1 };
        for turn in 0..turns {
            for class in 0..self.classes.len() {
                let mut of_class = rows
                    .iter()
                    .enumerate()
                    .filter(|(k, row)| k % turns == turn && self.truth[**row] == class)
                    .map(|(_, row)| *row)
                    .filter(|row| !self.is_wrong(*row))
                    .peekable();
                if of_class.peek().is_some() {
                    svg.group(&format!("class=\"rows\" fill=\"{}\"{look}", colour(class)));
                    of_class.for_each(|row| svg.marker(class, frame.at(self.points[row]), r, ""));
                    svg.close();
                }
            }
        }
        self.rings(svg, frame, &rows, r);
        self.names(svg, frame);
    }

    fn rings(&self, svg: &mut Svg, frame: &Frame, rows: &[usize], r: f64) {
        let wrong: Vec<usize> = rows.iter().copied().filter(|row| self.is_wrong(*row)).collect();
        let (width, more, opacity) = match wrong.len() {
            0..=60 => (1.6, 2.6, ""),
            61..=400 => (0.9, 1.2, ""),
            _ => (0.6, 0.6, " stroke-opacity=\"0.6\""),
        };
        let coloured = matches!(self.chart, Chart::Projected(_)) && self.lines.is_none();
        for class in 0..self.classes.len() {
            let mut of_class =
                wrong.iter().filter(|row| self.truth[**row] == class).copied().peekable();
            if of_class.peek().is_some() {
                svg.group(&format!("class=\"rows\" fill=\"{}\"", colour(class)));
                of_class.for_each(|row| svg.marker(class, frame.at(self.points[row]), r, ""));
                svg.close();
            }
        }
        for class in 0..if coloured { self.classes.len() } else { 1 } {
            let of_class = || wrong.iter().filter(|row| !coloured || self.said[**row] == class);
            if of_class().next().is_none() {
                continue;
            }
            let ink = if coloured { colour(class) } else { INK };
            svg.group(&format!(
                "class=\"wrong\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"{}\"{opacity}",
                number(width)
            ));
            for row in of_class() {
                let [x, y] = frame.at(self.points[*row]).map(number);
                svg.element("circle", &format!("cx=\"{x}\" cy=\"{y}\" r=\"{}\"", number(r + more)));
            }
            svg.close();
        }
    }

    /// The names of the classes at the means of their rows, where there are no regions to tell them.
    fn names(&self, svg: &mut Svg, frame: &Frame) {
        let bare = matches!(self.chart, Chart::Projected(_)) && self.lines.is_none();
        if !bare || self.classes.len() > MOST_NAMED {
            return;
        }
        let mut sums = vec![[0.0; 3]; self.classes.len()];
        for (point, class) in self.points.iter().zip(&self.truth) {
            let [x, y, count] = &mut sums[*class];
            (*x, *y, *count) = (*x + point[0], *y + point[1], *count + 1.0);
        }
        for (class, [x, y, count]) in sums.into_iter().enumerate().filter(|(_, sum)| sum[2] > 0.0) {
            let style = Type { bold: true, halo: true, ..Type::new(13.0, Anchor::Start) };
            let at = frame.at([x / count, y / count]);
            let name = super::svg::fit(&self.classes[class], 13.0, 90.0);
            svg.text_near(at, 1.0, style, &name, frame.area);
        }
    }
}
