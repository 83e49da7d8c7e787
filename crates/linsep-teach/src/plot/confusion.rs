//! A confusion matrix: rows by their true class, columns by the predicted one, with counts and the
//! share of each true class.

use super::Style;
use super::axes::Page;
use super::svg::{Anchor, Area, GREY, INK, Type, fit, number};
use linsep::metrics::Evaluation;
use linsep_data::error::{Error, Result};

/// The picture of a confusion matrix.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Confusion<'a> {
    /// The counts.
    pub evaluation: &'a Evaluation,
}

/// Classes beyond which cells are too small to read.
const MOST: usize = 26;

impl<'a> Confusion<'a> {
    /// The matrix of an evaluation.
    pub fn of(evaluation: &'a Evaluation) -> Confusion<'a> {
        Confusion { evaluation }
    }

    /// The SVG text.
    pub fn draw(&self, style: &Style) -> Result<String> {
        let Evaluation { classes, confusion, rows, .. } = self.evaluation;
        let k = classes.len();
        if k == 0 || k > MOST {
            return Err(Error::usage(format!(
                "the view confusion has cells for at most {MOST} classes and there are {k}; \
                 linsep evaluate `json` has all numbers"
            )));
        }
        let notes = match rows {
            0 => vec!["No rows.".to_owned()],
            _ => vec![format!("{}. Shares are of the true class.", self.evaluation.summary())],
        };
        let names = 128.0;
        // The cells of few classes are large, so that the page is used.
        let cell = (784.0 - names - 46.0) / k as f64;
        let tall = cell.min(if k <= 3 { 110.0 } else { 64.0 });
        // Names of columns stand upright where they would not fit side by side.
        let widest = classes.iter().map(|c| super::svg::text_width(c, 12.5)).fold(0.0, f64::max);
        let upright = widest > cell - 6.0;
        let head = if upright { widest.min(110.0) + 12.0 } else { 24.0 };
        let mut page = Page::new(&style.title, &notes, &[], head + 26.0 + tall * k as f64 + 10.0);
        let left = 46.0 + names;
        let top = page.room.y + head + 24.0;
        let svg = &mut page.svg;
        let axis = Type { bold: true, ..Type::new(13.0, Anchor::Middle) };
        let width = cell * k as f64;
        svg.text([left + (width / 2.0).max(40.0), page.room.y + 12.0], axis, "predicted");
        svg.upright_text([28.0, top + (tall * k as f64 / 2.0).max(20.0)], axis, "true");
        for (j, class) in classes.iter().enumerate() {
            let middle = left + cell * (j as f64 + 0.5);
            match upright {
                true => {
                    let style = Type::new(12.5, Anchor::Start);
                    svg.upright_text([middle + 4.0, top - 8.0], style, &fit(class, 12.5, 110.0));
                }
                false => svg.text([middle, top - 8.0], Type::new(12.5, Anchor::Middle), class),
            }
            let style = Type::new(12.5, Anchor::End);
            svg.cut_text(
                [left - 8.0, top + tall * (j as f64 + 0.5) + 4.5],
                style,
                class,
                names - 12.0,
            );
        }
        for i in 0..k {
            let counts: Vec<f64> = confusion.line(i as u32).collect();
            let total: f64 = counts.iter().sum();
            for (j, count) in counts.iter().enumerate() {
                let share = if total == 0.0 { 0.0 } else { count / total };
                let area = Area {
                    x: left + cell * j as f64,
                    y: top + tall * i as f64,
                    width: cell,
                    height: tall,
                };
                let fill = if i == j { "#0072B2" } else { "#D55E00" };
                let strength = if *count == 0.0 { 0.0 } else { 0.12 + 0.68 * share };
                svg.rect(
                    area,
                    &format!(
                        "class=\"cell\" data-count=\"{count}\" fill=\"{fill}\" fill-opacity=\"{}\" stroke=\"#999999\"",
                        number(strength)
                    ),
                );
                let ink = if *count == 0.0 { GREY } else { INK };
                let middle = [area.x + cell / 2.0, area.y + tall / 2.0];
                let both = cell >= 50.0 && tall >= 40.0 && *count > 0.0;
                let room = cell - 6.0;
                let text = count.to_string();
                let mut size: f64 = match cell {
                    _ if k <= 3 => 24.0,
                    50.0.. => 15.0,
                    _ => 11.5,
                };
                while size > 5.0 && super::svg::text_width(&text, size) > room {
                    size -= 0.5;
                }
                let style = Type { fill: ink, ..Type::new(size, Anchor::Middle) };
                let lift = if both { -3.0 } else { 0.36 * size };
                svg.text([middle[0], middle[1] + lift], style, &text);
                if both {
                    let size = if k <= 3 { 14.0 } else { 11.0 };
                    let style = Type { fill: ink, ..Type::new(size, Anchor::Middle) };
                    svg.text([middle[0], middle[1] + 3.0 + size], style, &percent(share));
                }
            }
        }
        Ok(page.finish(style.width))
    }
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    // A share below 1 does not look like all.
    if text == "100.0" && share < 1.0 {
        "99.9 %".to_owned()
    } else {
        format!("{} %", text.trim_end_matches(".0"))
    }
}
