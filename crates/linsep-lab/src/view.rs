//! Where rows of more than two features are drawn, and what is true there.
//!
//! `distance` has the signed distance from the plane as its first axis, so that the boundary is the exact line
//! 0, and as its second the direction of most variance at a right angle to it. `pca`, `means` and `lda` are
//! projections: the boundary is no line there. `columns:i,j` are two features as they are. `section:i,j:row`
//! are two features, too, with all others held at those of an anchor row: the boundary is cut by that plane
//! in an exact line, and each row has a distance from it.

use crate::answer::{Wrong, number};
use crate::run::Run;
use crate::vector::{axis, beside, dot, minus, unit};
use linsep::Plane;
use linsep::learn::discriminant::LDA;
use serde_json::{Value, json};
use std::str::FromStr;

/// How many features a view may have to choose from.
const VIEWED: usize = 512;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Distance,
    Pca,
    Means,
    Lda,
    Columns(usize, usize),
    Section(usize, usize, Option<u32>),
}

impl FromStr for View {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<View, Wrong> {
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let found = match (word, rest) {
            ("" | "distance", "") => Some(View::Distance),
            ("pca", "") => Some(View::Pca),
            ("means", "") => Some(View::Means),
            (LDA, "") => Some(View::Lda),
            ("columns", pair) => two(pair).map(|(i, j)| View::Columns(i, j)),
            ("section", rest) => match rest.split_once(':') {
                None => two(rest).map(|(i, j)| View::Section(i, j, None)),
                Some((pair, row)) => two(pair)
                    .zip(row.parse().ok())
                    .map(|((i, j), row)| View::Section(i, j, Some(row))),
            },
            _ => None,
        };
        found.ok_or_else(|| {
            Wrong::usage(
                "there is no such view; there are distance, pca, means, lda, columns:I,J and section:I,J:ROW",
            )
        })
    }
}

fn two(pair: &str) -> Option<(usize, usize)> {
    let (i, j) = pair.split_once(',')?;
    Some((i.parse().ok()?, j.parse().ok()?)).filter(|(i, j)| i != j)
}

/// A view of one run: every row has a place in it.
pub(crate) struct Seen {
    kind: &'static str,
    axes: [Vec<f64>; 2],
    /// What is added to the products of a row with the axes.
    offset: [f64; 2],
    share: f64,
    /// Rows of which that is the share.
    measured: usize,
    columns: Option<[usize; 2]>,
    section: Option<Section>,
}

/// Two features, the others held.
struct Section {
    row: u32,
    held: Vec<f64>,
    /// 1/σ of every feature that is held, 0 for the two that are not and for those that never change.
    scale: Vec<f64>,
    /// a, b, c of a x + b y + c = 0 for each plane.
    lines: Vec<[f64; 3]>,
}

impl Seen {
    /// The view of the rows of a run when these are its planes, `deciding` the one whose sign is the answer.
    pub(crate) fn of(
        run: &Run,
        planes: &[Plane],
        deciding: Option<&Plane>,
        view: View,
    ) -> Result<Seen, Wrong> {
        let data = &run.loaded.data;
        let width = data.n_features();
        if let View::Columns(i, j) | View::Section(i, j, _) = view
            && i.max(j) >= width
        {
            return Err(Wrong::usage(format!("there are {width} features, counted from 0")));
        }
        if width > VIEWED {
            let (i, j) = match view {
                View::Columns(i, j) | View::Section(i, j, _) => (i, j),
                _ => (0, 1),
            };
            return Ok(Seen::columns(run, i, j));
        }
        let spread = run.spread();
        let usable = deciding
            .filter(|p| p.weights.len() == width && p.weights.iter().any(|weight| *weight != 0.0));
        let kind = match view {
            View::Distance if usable.is_none() => View::Pca,
            View::Means if data.n_classes() != 2 => View::Pca,
            view => view,
        };
        let (kind, first) = match (kind, usable) {
            (View::Columns(i, j), _) => return Ok(Seen::columns(run, i, j)),
            (View::Section(i, j, row), _) => return Seen::section(run, planes, i, j, row),
            (View::Lda, _) => match spread.discriminant(data) {
                Some([first, second]) => {
                    let flat = unit(beside(second.clone(), &first));
                    return Ok(Seen::projection(run, LDA, [first, second], Some(&flat)));
                }
                None => return Err(Wrong::usage("the discriminant analysis finds no axes here")),
            },
            (View::Distance, Some(plane)) => ("distance", unit(plane.weights.clone())),
            (View::Means, _) => ("means", unit(spread.between_means(data).to_vec())),
            _ => ("pca", spread.leading(None)),
        };
        let second = spread.leading(Some(&first));
        let mut seen = Seen::projection(run, kind, [first, second], None);
        if let ("distance", Some(plane)) = (kind, usable) {
            let length = dot(&plane.weights, &plane.weights).sqrt();
            seen.offset = [plane.bias / length, 0.0];
        }
        Ok(seen)
    }

    fn projection(
        run: &Run,
        kind: &'static str,
        axes: [Vec<f64>; 2],
        flat: Option<&[f64]>,
    ) -> Seen {
        let spread = run.spread();
        let second = flat.unwrap_or(&axes[1]);
        let share = (spread.along(&axes[0]) + spread.along(second)) / spread.total();
        let offset = [-dot(&spread.mean, &axes[0]), -dot(&spread.mean, &axes[1])];
        Seen { kind, axes, offset, share, measured: spread.rows, columns: None, section: None }
    }

    /// Two features; of very many the share in the variance is not known.
    fn columns(run: &Run, i: usize, j: usize) -> Seen {
        let width = run.loaded.data.n_features();
        let (share, measured) = match width > VIEWED {
            true => (f64::NAN, 0),
            false => (run.share_of(i, j), run.spread().rows),
        };
        let axes = [axis(i, width), axis(j, width)];
        Seen {
            kind: "columns",
            axes,
            offset: [0.0; 2],
            share,
            measured,
            columns: Some([i, j]),
            section: None,
        }
    }

    fn section(
        run: &Run,
        planes: &[Plane],
        i: usize,
        j: usize,
        row: Option<u32>,
    ) -> Result<Seen, Wrong> {
        let data = &run.loaded.data;
        let width = data.n_features();
        if row.is_some_and(|row| row as usize >= data.n_rows()) {
            return Err(Wrong::usage(format!("the anchor is none of the {} rows", data.n_rows())));
        }
        let spread = run.spread();
        let scale: Vec<f64> = (0..width)
            .map(|k| {
                let deviation = spread.of_feature(k).sqrt();
                if k == i || k == j || deviation == 0.0 { 0.0 } else { 1.0 / deviation }
            })
            .collect();
        let row = row.unwrap_or_else(|| middle(run, &scale));
        let held = data.row(row as usize);
        let line = |plane: &Plane| {
            let others = (0..width).filter(|k| *k != i && *k != j);
            let rest: f64 = others.map(|k| plane.weights[k] * held[k]).sum();
            [plane.weights[i], plane.weights[j], plane.bias + rest]
        };
        let lines = match run.data.n_features() == width {
            true => planes.iter().map(line).collect(),
            // Basis functions cut a section in curves.
            false => Vec::new(),
        };
        let mut seen = Seen::columns(run, i, j);
        (seen.kind, seen.section) = ("section", Some(Section { row, held, scale, lines }));
        Ok(seen)
    }

    /// Where a row is drawn.
    pub(crate) fn place(&self, x: &[f64]) -> [Value; 2] {
        [0, 1].map(|side| number(dot(x, &self.axes[side]) + self.offset[side]))
    }

    /// The view as the page gets it, with the places of the drawn rows.
    pub(crate) fn told(&self, run: &Run) -> Value {
        let data = &run.loaded.data;
        let rows: Vec<Vec<f64>> = run.shown.iter().map(|row| data.row(*row as usize)).collect();
        let mut told = json!({
            "kind": self.kind,
            "points": rows.iter().map(|x| self.place(x)).collect::<Vec<_>>(),
            "variance": number(self.share.min(1.0)),
            "measured": self.measured,
            "boundary": (self.kind == "distance").then_some(0.0),
            "columns": self.columns,
        });
        if let Some(section) = &self.section {
            let apart: Vec<Value> = rows.iter().map(|x| number(section.distance(x))).collect();
            told["section"] = json!({
                "row": section.row,
                "line": data.origin().line(u64::from(section.row)),
                "held": section.held.iter().copied().map(number).collect::<Vec<_>>(),
                "lines": section.lines.iter().map(|abc| abc.map(number)).collect::<Vec<_>>(),
                "apart": apart,
            });
        }
        told
    }
}

impl Section {
    /// How far a row is from the section, in standard deviations of the features that are held.
    fn distance(&self, x: &[f64]) -> f64 {
        let parts = minus(x, &self.held);
        parts.iter().zip(&self.scale).map(|(d, s)| (d * s).powi(2)).sum::<f64>().sqrt()
    }
}

/// The drawn row that is nearest to the mean in the features that are held.
fn middle(run: &Run, scale: &[f64]) -> u32 {
    let mean = &run.spread().mean;
    let away = |row: u32| {
        let parts = minus(&run.loaded.data.row(row as usize), mean);
        parts.iter().zip(scale).map(|(d, s)| (d * s).powi(2)).sum::<f64>()
    };
    let all = run.shown.iter().map(|row| (away(*row), *row));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, row)| row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_words_and_nothing_else() {
        assert_eq!("".parse::<View>().ok(), Some(View::Distance));
        assert_eq!("lda".parse::<View>().ok(), Some(View::Lda));
        assert_eq!("section:2,0".parse::<View>().ok(), Some(View::Section(2, 0, None)));
        assert_eq!("section:2,0:17".parse::<View>().ok(), Some(View::Section(2, 0, Some(17))));
        for text in ["columns:1,1", "section:0", "section:0,1:", "section:0,-1", "pca:1", "tsne"] {
            assert!(text.parse::<View>().is_err(), "{text}");
        }
    }
}
