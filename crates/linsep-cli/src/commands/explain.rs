//! `linsep explain MODEL DATA --row N`: one prediction taken apart.

use super::geometry::{place, position};
use super::json_number;
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, aligned, counted, print, print_json};
use clap::ArgMatches;
use linsep::{Code, Error, LinearModel, Place, Problem, Rule, printable};
use linsep_teach::explain::Explanation;
use linsep_teach::geometry::Shape;
use serde_json::{Value, json};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let wanted = match (text("row"), text("line")) {
        (Some(row), _) => Wanted::Row(input::whole("row", row)?),
        (None, Some(line)) => match input::whole("line", line)? {
            0 => return Err(Error::usage("--line: lines are counted from 1").into()),
            line => Wanted::Line(line),
        },
        (None, None) => {
            return Err(Error::usage(
                "which row? --row N counts data rows from 0, --line N lines of the file from 1",
            )
            .into());
        }
    };
    let top = match text("top") {
        Some(text) => input::whole("top", text)? as usize,
        None => 20,
    };
    let model = super::load_model(path, context)?.with_plane_for_each_class()?;
    let rival = text("why-not").map(|class| position(&model, "why-not", class)).transpose()?;
    let row = find(&model, wanted, matches, context)?;
    let rival = rival.map(|class| class as u32);
    let explanation = Explanation::of(&model, &row.entries, &row.scores, rival)?;
    let report = Report { model: &model, row: &row, explanation: &explanation, top };
    if context.json {
        print_json(&report.json())?;
    } else {
        print(&report.facts().text(context))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Copy)]
enum Wanted {
    Row(u64),
    Line(u64),
}

/// The row that was asked for.
struct Found {
    row: u64,
    place: Place,
    label: Option<String>,
    entries: Vec<(u32, f64)>,
    scores: Vec<f64>,
}

fn find(
    model: &LinearModel,
    wanted: Wanted,
    matches: &ArgMatches,
    context: &Context,
) -> Result<Found, Failure> {
    let mut options = input::options(matches, context)?;
    if let Wanted::Row(row) = wanted {
        // Nothing behind the row is of interest, and errors there are not either.
        let limit = row.saturating_add(1);
        options.limit = Some(options.limit.map_or(limit, |given| given.min(limit)));
    }
    let mut found: Option<Found> = None;
    let (mut rows, mut several, mut last) = (0, 0, None);
    let mut scorer = model.chunk_scorer();
    let source = input::source_of(&input::paths(matches), &options);
    source.blocks(&model.input, false, |_, chunk| {
        scorer.for_each(&chunk, |at, scores| {
            let is_wanted = match wanted {
                Wanted::Row(row) => row == rows,
                Wanted::Line(line) => chunk.place(at).line == Some(line),
            };
            if is_wanted {
                several += 1;
                found.get_or_insert_with(|| Found {
                    row: rows,
                    place: chunk.place(at),
                    label: chunk.label(at).map(str::to_owned),
                    entries: model.features(&chunk, at),
                    scores: scores.to_vec(),
                });
            }
            rows += 1;
        });
        last = chunk.n_rows().checked_sub(1).map(|at| chunk.place(at));
        Ok(())
    })?;
    match (found, wanted) {
        (Some(_), Wanted::Line(_)) if several > 1 => Err(Error::usage(
            "--line: several files have this line; use --row, which counts over all of them",
        )
        .into()),
        (Some(found), _) => Ok(found),
        (None, Wanted::Row(row)) => Err(Error::usage(format!(
            "--row: there is no row {row}; the data has {}, counted from 0",
            counted(rows, "row")
        ))
        .into()),
        (None, Wanted::Line(line)) => {
            let words = format!("no data row begins in line {line}");
            let place = last.unwrap_or_default().with_line(Some(line));
            let problem = Problem::new(Code::SETTING, words, place).help(
                "headers, blank lines and comments are no data rows; --row N counts rows from 0",
            );
            Err(Error::from(problem).into())
        }
    }
}

struct Report<'a> {
    model: &'a LinearModel,
    row: &'a Found,
    explanation: &'a Explanation,
    top: usize,
}

impl Report<'_> {
    fn class(&self, class: u32) -> String {
        printable(self.model.classes[class as usize].as_bytes(), 40)
    }

    fn name(&self, feature: u32) -> String {
        printable(self.model.input.feature_name(feature as usize).as_bytes(), 40)
    }

    /// What the explained score is.
    fn subject(&self) -> String {
        let Explanation { predicted, rival, .. } = self.explanation;
        match self.model.rule {
            Rule::Sign => format!("score of {}", self.class(1)),
            _ => format!("lead of {} over {}", self.class(*predicted), self.class(*rival)),
        }
    }

    /// Which plane the distance is from.
    fn level(&self) -> String {
        let Explanation { predicted, rival, .. } = self.explanation;
        match self.model.rule {
            Rule::Sign => "where the score is 0".to_owned(),
            _ => format!("where {} and {} are level", self.class(*predicted), self.class(*rival)),
        }
    }

    /// The sum of the contributions and the bias, in the order in which they are listed.
    fn sum(&self) -> f64 {
        let parts = self.explanation.contributions.iter().map(|part| part.product);
        parts.sum::<f64>() + self.explanation.plane.bias
    }

    fn facts(&self) -> Facts {
        let found = self.explanation;
        let mut facts = Facts::default();
        let label = self.row.label.as_ref();
        let label =
            label.map_or(String::new(), |l| format!(", label {}", printable(l.as_bytes(), 40)));
        let at = place(&self.row.place, self.row.row);
        facts.add("row", format!("{} ({at}){label}", self.row.row));
        facts.add("prediction", self.class(found.predicted));
        if let Some(threshold) = self.model.input.binarize {
            facts.add("values", format!("above {threshold} count as 1, all others as 0"));
        }
        let scores: Vec<String> = self
            .model
            .score_names()
            .iter()
            .zip(&self.row.scores)
            .take(self.top.max(20))
            .map(|(class, score)| format!("{} {score}", printable(class.as_bytes(), 40)))
            .collect();
        facts.add("scores", format!("{} (the bits of predict)", scores.join(", ")));
        if let Some(shares) = self.model.probabilities_of_scores(&self.row.scores) {
            let share = shares.get(found.predicted as usize).copied().unwrap_or(0.0);
            facts.add(
                "posterior",
                format!("{share} for {} under the model", self.class(found.predicted)),
            );
        }
        facts.add("because", self.contributions());
        facts.add("distance", self.distance());
        if let Some(nearest) = &found.nearest {
            let mut text = format!(
                "the boundary to {} is {} away, at the point where",
                self.class(nearest.class),
                nearest.distance
            );
            let values: Vec<[String; 2]> = nearest
                .values
                .iter()
                .map(|(j, to)| [self.name(*j), format!("{} -> {to}", self.value(*j))])
                .collect();
            text.push_str(&listed(&values, self.top));
            facts.add("nearest", text);
        }
        facts.add("flips", self.flips());
        facts
    }

    fn value(&self, feature: u32) -> f64 {
        let at = self.row.entries.binary_search_by_key(&feature, |(j, _)| *j);
        at.map_or(0.0, |at| self.row.entries[at].1)
    }

    fn contributions(&self) -> String {
        let mut text =
            format!("{} is {}, weight times value:", self.subject(), self.explanation.score);
        let mut lines = vec![["(bias)".to_owned(), self.explanation.plane.bias.to_string()]];
        for part in &self.explanation.contributions {
            let words = format!("{} = {} x {}", part.product, part.weight, part.value);
            lines.push([self.name(part.feature), words]);
        }
        text.push_str(&listed(&lines, self.top.saturating_add(1)));
        text.push_str(&format!("\nsum {}", self.sum()));
        text
    }

    fn distance(&self) -> String {
        match Shape::of(&self.explanation.plane) {
            Some(shape) => format!(
                "{} from the plane {}, signed: {} / {}",
                self.explanation.score / shape.norm,
                self.level(),
                self.explanation.score,
                shape.norm
            ),
            None => "none: every weight is 0, so there is no plane".to_owned(),
        }
    }

    fn flips(&self) -> String {
        let switches = self.model.input.binarize.is_some();
        if self.model.input.basis.is_some() {
            return "not told: features are functions of the columns and do not change alone"
                .to_owned();
        }
        if self.explanation.flips.is_empty() {
            return match switches {
                true => "no single switch changes the prediction".to_owned(),
                false => "no change of a single feature changes the prediction".to_owned(),
            };
        }
        let mut text = match switches {
            true => "switching one of these changes the prediction".to_owned(),
            false => "one feature alone, beyond this value, the smallest change first".to_owned(),
        };
        let lines: Vec<[String; 2]> = self
            .explanation
            .flips
            .iter()
            .map(|flip| {
                let words = format!(
                    "{} -> {} (by {}), then {}",
                    flip.from,
                    flip.to,
                    flip.to - flip.from,
                    self.class(flip.class)
                );
                [self.name(flip.feature), words]
            })
            .collect();
        text.push_str(&listed(&lines, self.top));
        text
    }

    fn json(&self) -> Value {
        let found = self.explanation;
        let model = self.model;
        let class = |class: u32| model.classes[class as usize].clone();
        let name = |feature: u32| model.input.feature_name(feature as usize);
        let scores: Vec<Value> = model
            .score_names()
            .iter()
            .zip(&self.row.scores)
            .map(|(class, score)| json!({ "class": class, "score": json_number(*score) }))
            .collect();
        let contributions: Vec<Value> = found
            .contributions
            .iter()
            .take(self.top)
            .map(|part| {
                json!({
                    "feature": name(part.feature),
                    "value": part.value,
                    "weight": part.weight,
                    "contribution": json_number(part.product),
                })
            })
            .collect();
        let flips: Vec<Value> = found
            .flips
            .iter()
            .take(self.top)
            .map(|flip| {
                json!({
                    "feature": name(flip.feature),
                    "from": flip.from,
                    "to": json_number(flip.to),
                    "class": class(flip.class),
                })
            })
            .collect();
        let nearest = found.nearest.as_ref().map(|nearest| {
            let values: Vec<Value> = nearest
                .values
                .iter()
                .take(self.top)
                .map(|(j, to)| json!({ "feature": name(*j), "from": self.value(*j), "to": to }))
                .collect();
            json!({
                "distance": json_number(nearest.distance),
                "class": class(nearest.class),
                "values": values,
            })
        });
        let shape = Shape::of(&found.plane);
        json!({
            "schema": "linsep.result/1",
            "command": "explain",
            "row": self.row.row,
            "file": self.row.place.file,
            "line": self.row.place.line,
            "label": self.row.label,
            "prediction": class(found.predicted),
            "against": class(found.rival),
            "scores": scores,
            "probabilities": model.probabilities_of_scores(&self.row.scores),
            "score": json_number(found.score),
            "bias": found.plane.bias,
            "sum": json_number(self.sum()),
            "contributions": contributions,
            "contributions_more": found.contributions.len().saturating_sub(self.top),
            "distance": shape.map(|shape| json_number(found.score / shape.norm)),
            "nearest": nearest,
            "flips": flips,
            "flips_more": found.flips.len().saturating_sub(self.top),
        })
    }
}

/// Lines of a name and a value below a heading, at most `top` of them.
fn listed(lines: &[[String; 2]], top: usize) -> String {
    let shown = &lines[..lines.len().min(top)];
    let mut text = String::new();
    for line in aligned(shown, |_| false) {
        text.push_str(&format!("\n{line}"));
    }
    if lines.len() > shown.len() {
        text.push_str(&format!("\nand {} more; --top N lists more", lines.len() - shown.len()));
    }
    text
}
