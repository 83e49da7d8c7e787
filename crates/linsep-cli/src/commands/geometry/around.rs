//! Rows around the planes: how far, on which side, how sure.

use super::View;
use super::export::into_files;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::output::{Facts, aligned, counted, grouped};
use clap::ArgMatches;
use linsep::data::read::Chunk;
use linsep::{Code, Error, LinearModel, Place, Problem, Result, printable};
use linsep_teach::geometry::{Distances, Shape, angle, boundary, score_rounding};
use serde_json::{Value, json};
use std::path::PathBuf;

/// One row as it stands to the boundaries.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) row: u64,
    pub(super) place: Place,
    pub(super) class: u32,
    pub(super) predicted: u32,
    /// The signed distance: from the plane, or into the region of its own class.
    pub(super) distance: f64,
    /// The class across the nearest boundary, where there are several.
    pub(super) across: Option<u32>,
    /// Whether the score is at least 0: of the plane, or of the own class's lead.
    positive: bool,
    /// The angle of (b, w) and (1, x) in degrees, of the rows that are listed.
    angle: Option<f64>,
    pub(super) label: String,
}

/// The rows of one side: a class, or everything but one.
#[derive(Default)]
struct Side {
    name: String,
    rows: u64,
    least: f64,
    sum: f64,
    most: f64,
    wrong: u64,
    closest: Vec<Placed>,
}

/// What was found around the planes.
#[derive(Default)]
pub(super) struct Around {
    sides: Vec<Side>,
    rows: u64,
    wrong: u64,
    /// Rows whose side rounding could decide.
    unsure: u64,
    on_plane: u64,
    /// The smallest distance on the right side, negative if some row is on the wrong one.
    margin: Option<f64>,
    written: Vec<String>,
}

pub(super) fn measure(
    view: &View<'_>,
    inputs: &[PathBuf],
    closest: usize,
    matches: &ArgMatches,
    context: &Context,
) -> std::result::Result<Around, Failure> {
    let path = |name: &str| matches.get_one::<Output>(name);
    let exports = [path("distances"), path("reflected")];
    export_flags(view, exports)?;
    let options = input::options(matches, context)?;
    let mut around = Around { sides: sides(view), ..Around::default() };
    into_files(exports, |mut export| {
        let look = Pass::new(view);
        let mut row = 0;
        let mut scorer = view.model.chunk_scorer();
        input::source_of(inputs, &options).blocks(&view.model.input, true, |_, chunk| {
            let mut found = Ok(());
            scorer.for_each(&chunk, |at, scores| {
                if found.is_ok() {
                    found = look.row(&chunk, at, row, scores, |placed, entries, sure| {
                        around.add(view, &placed, entries, sure, closest);
                        export.row(view, &placed, scores, entries)
                    });
                }
                row += 1;
            });
            found
        })?;
        export.finish()
    })?;
    around.written = exports.into_iter().flatten().map(|p| p.display().to_string()).collect();
    Ok(around)
}

fn export_flags(view: &View<'_>, [distances, reflected]: [Option<&Output>; 2]) -> Result<()> {
    if reflected.is_some() && view.one.is_none() {
        return Err(Error::usage(
            "--reflected is for two sides: with more than two classes choose one with --class",
        ));
    }
    for path in [distances, reflected].into_iter().flatten() {
        if path.is_stdout() {
            return Err(Error::usage(
                "the report goes to standard output; give a file for the rows",
            ));
        }
    }
    match (distances, reflected) {
        (Some(a), Some(b)) if a == b => {
            Err(Error::usage("--distances and --reflected name the same file"))
        }
        _ => Ok(()),
    }
}

fn sides(view: &View<'_>) -> Vec<Side> {
    let side = |name: &str| Side { name: name.to_owned(), ..Side::default() };
    let classes = &view.model.classes;
    match view.one {
        Some(one) if classes.len() > 2 => vec![side("rest"), side(&classes[one])],
        _ => classes.iter().map(|class| side(class)).collect(),
    }
}

/// Places rows.
struct Pass<'a> {
    view: &'a View<'a>,
    distances: Option<Distances<'a>>,
    /// ‖w‖ of the one plane.
    norm: f64,
}

impl<'a> Pass<'a> {
    fn new(view: &'a View<'a>) -> Pass<'a> {
        let plane = view.one.map(|one| &view.model.planes[one]);
        Pass {
            view,
            distances: view.one.is_none().then(|| Distances::new(view.model)),
            norm: plane.and_then(Shape::of).map_or(0.0, |shape| shape.norm),
        }
    }

    fn row(
        &self,
        chunk: &Chunk<'_>,
        at: usize,
        row: u64,
        scores: &[f64],
        each: impl FnOnce(Placed, &[(u32, f64)], bool) -> Result<()>,
    ) -> Result<()> {
        let model = self.view.model;
        let label = chunk.label(at).unwrap_or_default().to_owned();
        let class = class_of(model, &label, || chunk.place(at))?;
        let entries = model.features(chunk, at);
        let predicted = model.class_of(scores);
        let rounding = |plane: usize| score_rounding(&model.planes[plane], &entries);
        let (score, unsure, distance, across) = match (self.view.one, &self.distances) {
            (Some(one), _) => (scores[one], rounding(one), scores[one] / self.norm, None),
            (None, Some(distances)) => {
                let (distance, across) = distances.inside(scores, class).unwrap_or((0.0, class));
                let (own, other) = (class as usize, across as usize);
                let lead = scores[own] - scores[other];
                let unsure = rounding(own) + rounding(other) + f64::EPSILON * lead.abs();
                (lead, unsure, distance, Some(across))
            }
            (None, None) => (0.0, 0.0, 0.0, None),
        };
        let placed = Placed {
            row,
            place: chunk.place(at),
            class,
            predicted,
            // Without a plane there is no distance.
            distance: if distance.is_finite() { distance } else { 0.0 },
            across,
            positive: score >= 0.0,
            angle: None,
            label,
        };
        each(placed, &entries, score.abs() > unsure)
    }
}

/// The class of a label.
fn class_of(model: &LinearModel, label: &str, place: impl FnOnce() -> Place) -> Result<u32> {
    let found = model.classes.iter().position(|class| class == label).map(|at| at as u32);
    // A model of one class against the rest takes every other label as the rest.
    if let Some(class) = found.or(model.input.rest.then_some(0)) {
        return Ok(class);
    }
    let words = format!("the model has no class \"{label}\"");
    Err(Problem::new(Code::UNKNOWN_CLASS, words, place())
        .value(label.as_bytes())
        .help(format!("its classes are {}", model.classes.join(", ")))
        .into())
}

impl Placed {
    /// The side that the row belongs on, by its number among the sides.
    fn side(&self, view: &View<'_>) -> usize {
        match view.one {
            Some(one) if view.model.classes.len() > 2 => usize::from(self.class as usize == one),
            _ => self.class as usize,
        }
    }

    /// +1 or −1 where there are two sides; distances count into the own region where there are more.
    pub(super) fn sign(&self, view: &View<'_>) -> f64 {
        match view.one {
            Some(_) if self.side(view) == 0 => -1.0,
            _ => 1.0,
        }
    }

    fn is_wrong(&self, view: &View<'_>) -> bool {
        match view.one {
            Some(_) => self.positive != (self.sign(view) > 0.0),
            None => self.predicted != self.class,
        }
    }

    /// The angle of the row with the plane that it is measured from.
    fn angle(&self, view: &View<'_>, entries: &[(u32, f64)]) -> Option<f64> {
        let planes = &view.model.planes;
        match (view.one, self.across) {
            (Some(one), _) => angle(&planes[one], entries),
            (None, Some(across)) => {
                angle(&boundary(&planes[self.class as usize], &planes[across as usize]), entries)
            }
            (None, None) => None,
        }
    }
}

impl Around {
    fn add(
        &mut self,
        view: &View<'_>,
        placed: &Placed,
        entries: &[(u32, f64)],
        sure: bool,
        closest: usize,
    ) {
        let wrong = placed.is_wrong(view);
        self.rows += 1;
        self.wrong += u64::from(wrong);
        self.unsure += u64::from(!sure);
        self.on_plane += u64::from(placed.distance == 0.0);
        let margin = placed.sign(view) * placed.distance;
        self.margin = Some(self.margin.map_or(margin, |least| least.min(margin)));
        let Some(side) = self.sides.get_mut(placed.side(view)) else { return };
        let first = side.rows == 0;
        side.rows += 1;
        side.wrong += u64::from(wrong);
        side.sum += placed.distance;
        side.least = if first { placed.distance } else { side.least.min(placed.distance) };
        side.most = if first { placed.distance } else { side.most.max(placed.distance) };
        let size = |placed: &Placed| placed.distance.abs();
        let at = side.closest.partition_point(|other| size(other) <= size(placed));
        if at < closest {
            let angle = placed.angle(view, entries);
            side.closest.insert(at, Placed { angle, ..placed.clone() });
            side.closest.truncate(closest);
        }
    }

    pub(super) fn text(&self, view: &View<'_>, context: &Context) -> String {
        let mut facts = Facts::default();
        facts.add(
            "rows",
            format!(
                "{}, {} on the wrong side, {} on a boundary, {} so near that rounding could decide",
                grouped(self.rows),
                grouped(self.wrong),
                grouped(self.on_plane),
                grouped(self.unsure)
            ),
        );
        facts.add(
            "distances",
            match view.one {
                Some(_) => "signed, (w.x + b)/|w|: positive on the side of the class".to_owned(),
                None => "into the region of the row's own class; below 0 it is outside, and the way in at least so long".to_owned(),
            },
        );
        for side in self.sides.iter().filter(|side| side.rows > 0) {
            facts.add(
                &printable(side.name.as_bytes(), 20),
                format!(
                    "{}: least {}, mean {}, most {}; {} wrong",
                    counted(side.rows, "row"),
                    side.least,
                    side.sum / side.rows as f64,
                    side.most,
                    grouped(side.wrong)
                ),
            );
        }
        facts.add(
            "margin",
            match self.margin {
                Some(margin) if margin > 0.0 => {
                    let sure = if self.unsure > 0 { ", as far as rounding tells" } else { "" };
                    format!(
                        "{margin}: the smallest distance, every row on its side{sure} (linsep separable --margin finds the largest)"
                    )
                }
                Some(margin) => format!("none: a row is {} on the wrong side", 0.0 - margin),
                None => "none: there are no rows".to_owned(),
            },
        );
        let closest: Vec<&Placed> = self.sides.iter().flat_map(|side| &side.closest).collect();
        let cells: Vec<[String; 4]> = closest
            .iter()
            .map(|placed| {
                let across = placed.across.and_then(|c| view.model.classes.get(c as usize));
                let across = across
                    .map_or(String::new(), |c| format!(" from {}", printable(c.as_bytes(), 20)));
                let angle = placed.angle.map_or("none".to_owned(), |a| format!("{a:.4}"));
                let wrong = if placed.is_wrong(view) { ", wrong side" } else { "" };
                [
                    place(&placed.place, placed.row),
                    format!("class {}", printable(placed.label.as_bytes(), 20)),
                    format!("distance {}{across}", placed.distance),
                    format!("angle {angle}{wrong}"),
                ]
            })
            .collect();
        facts.add("closest", aligned(&cells, |_| false).join("\n"));
        for path in &self.written {
            facts.add("written", path);
        }
        facts.text(context)
    }

    pub(super) fn json(&self, view: &View<'_>) -> Value {
        let row = |placed: &Placed| {
            json!({
                "row": placed.row,
                "file": placed.place.file,
                "line": placed.place.line,
                "label": placed.label,
                "prediction": view.model.classes[placed.predicted as usize],
                "distance": placed.distance,
                "across": placed.across.map(|class| &view.model.classes[class as usize]),
                "angle": placed.angle,
                "wrong_side": placed.is_wrong(view),
            })
        };
        let side = |side: &Side| {
            let any = side.rows > 0;
            json!({
                "class": side.name,
                "rows": side.rows,
                "wrong": side.wrong,
                "least": any.then_some(side.least),
                "mean": any.then(|| side.sum / side.rows as f64),
                "most": any.then_some(side.most),
                "closest": side.closest.iter().map(row).collect::<Vec<_>>(),
            })
        };
        json!({
            "rows": self.rows,
            "wrong": self.wrong,
            "on_boundary": self.on_plane,
            "unsure": self.unsure,
            "margin": self.margin.filter(|margin| *margin > 0.0),
            "sides": self.sides.iter().map(side).collect::<Vec<_>>(),
            "written": self.written,
        })
    }
}

/// `iris.csv:72`, by the last part of the file's name.
pub(in crate::commands) fn place(place: &Place, row: u64) -> String {
    match (&place.file, place.line) {
        (Some(file), Some(line)) => {
            let name = std::path::Path::new(file).file_name();
            format!("{}:{line}", name.map_or(file.into(), |name| name.to_string_lossy()))
        }
        _ => format!("row {row}"),
    }
}
