//! `linsep predict MODEL DATA`: one prediction for each row, streamed.

use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{counted, grouped, note, stdout};
use clap::ArgMatches;
use linsep::data::read::{Choices, Chunk};
use linsep::data::write::quote;
use linsep::density::Axes;
use linsep::file::ModelFile;
use linsep::model::{ChunkScorer, StreamModel};
use linsep::{Error, Leads, LinearModel, Link};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let what = matches.get_one::<String>("output").map_or("label", String::as_str);
    let mut axes = None;
    let loaded: StreamModel = match matches.get_one::<String>("abstain") {
        _ if what == "axes" => {
            let (model, found) = load_axes(path, context)?;
            axes = Some(found);
            model.into()
        }
        // Distances from boundaries need the planes.
        Some(_) => super::load_model(path, context)?.into(),
        None => super::load_stream_model(path, context)?,
    };
    let model = loaded.head();
    if what == "proba" && model.link == Link::None {
        return Err(Error::usage(
            "this model has scores but no probabilities; use --output scores",
        )
        .into());
    }
    let layout = Layout {
        scores: matches!(what, "scores" | "all"),
        probabilities: matches!(what, "proba" | "all") && model.link != Link::None,
        axes: axes.as_ref(),
        keep_columns: matches.get_flag("keep-columns"),
        ndjson: matches.get_flag("ndjson") || context.json,
    };
    let doubt = Doubt::new(matches, model)?;
    let mut options = input::options(matches, context)?;
    let refused = matches.get_one::<String>("incomplete").is_some_and(|word| word == "error");
    // Where a class has the name that would stand for none, such rows are refused.
    options.mark_gaps = !refused && model.classes.iter().all(|class| class != OPEN);
    options.keep_fields = layout.keep_columns;
    let source = input::source_of(&input::paths(matches), &options);
    let mut choices = None;
    let mut counts = [0, 0];
    let mut incomplete = 0;
    let write_to = |out: &mut dyn Write| -> Result<(), Error> {
        let mut writer = Writer {
            out,
            layout,
            model,
            score_names: model.score_names(),
            doubt: doubt.as_ref(),
            counts: [0, 0],
            incomplete: 0,
            header_done: false,
            line: Vec::new(),
        };
        let mut scorer = loaded.chunk_scorer();
        let read = loaded.with_planes(|planes| {
            source.scored_blocks(&model.input, false, planes, |choices, chunk| {
                writer.chunk(choices, &chunk, &mut scorer)
            })
        })?;
        choices = Some(read);
        counts = writer.counts;
        incomplete = writer.incomplete;
        writer.out.flush().map_err(write_failed)
    };
    match matches.get_one::<Output>("output-file").filter(|output| !output.is_stdout()) {
        None => {
            crate::context::end_at_once();
            write_to(&mut stdout())?;
        }
        Some(output) => {
            let mut failed = None;
            let written = output.write(|out| {
                write_to(out).map_err(|error| {
                    failed = Some(error);
                    io::Error::other("prediction ended early")
                })
            });
            match failed {
                // The writer knows the path; the callback only knew that writing failed.
                Some(Error::Io { action: "write", source, .. }) => {
                    return Err(Error::io("write", output.path(), source).into());
                }
                Some(error) => return Err(error.into()),
                None => {}
            }
            written?;
        }
    }
    if choices.as_ref().is_some_and(|choices| choices.by_position && choices.delimiter.is_some()) {
        note(context, "the columns were matched with those of the model by position");
    }
    if incomplete > 0 {
        let rows = counted(incomplete, "row");
        note(
            context,
            &format!(
                "{rows} with missing values left open (?): the model was trained without such rows"
            ),
        );
    }
    if let Some(choices) = choices.filter(|choices| choices.outside > 0) {
        note(
            context,
            &format!("{} entries with an index outside the model were left out", choices.outside),
        );
    }
    if doubt.is_some() {
        let [open, rows] = counts;
        note(context, &format!("{} of {} left open (?)", grouped(open), counted(rows, "row")));
    }
    Ok(ExitCode::SUCCESS)
}

/// A model with its discriminant axes.
fn load_axes(path: &Path, context: &Context) -> Result<(LinearModel, Axes), Failure> {
    if FileKind::of(path) == Some(FileKind::Foreign) {
        return Err(super::axes::foreign().into());
    }
    let file = ModelFile::load(path, context.max_memory)?;
    let axes = super::axes::of_file(&file)?;
    Ok((file.model, axes))
}

/// What stands where no class is predicted.
const OPEN: &str = "?";

/// When no class is predicted: on rows that the model leaves open, and on those that are too close to
/// the boundary of their class.
struct Doubt<'a> {
    leads: Option<(Leads<'a>, f64)>,
}

impl<'a> Doubt<'a> {
    fn new(matches: &ArgMatches, model: &'a LinearModel) -> Result<Option<Doubt<'a>>, Error> {
        let Some(word) = matches.get_one::<String>("abstain") else { return Ok(None) };
        if model.classes.iter().any(|class| class == OPEN) {
            return Err(Error::usage(format!(
                "--abstain: a class of this model is called \"{OPEN}\", which would mean that \
                 none is predicted"
            )));
        }
        match word.as_str() {
            // A configuration file says true or false.
            "ambiguous" | "true" => return Ok(Some(Doubt { leads: None })),
            "false" => return Ok(None),
            _ => {}
        }
        let margin = word.strip_prefix("margin=").and_then(|text| text.parse::<f64>().ok());
        match margin.filter(|margin| margin.is_finite() && *margin > 0.0) {
            Some(margin) => Ok(Some(Doubt { leads: Some((model.leads()?, margin)) })),
            None => Err(Error::usage(format!(
                "--abstain: \"{word}\" is not margin=X with a number X above 0"
            ))),
        }
    }

    fn leaves_open(&self, model: &LinearModel, scores: &[f64]) -> bool {
        // A lead that is not a number is none.
        let close = |(leads, margin): &(Leads<'_>, f64)| {
            let clear = leads.of(scores) >= *margin;
            !clear
        };
        model.is_ambiguous(scores) || self.leads.as_ref().is_some_and(close)
    }
}

fn write_failed(error: io::Error) -> Error {
    Error::io("write", Path::new("<output>"), error)
}

#[derive(Clone, Copy)]
struct Layout<'a> {
    scores: bool,
    probabilities: bool,
    axes: Option<&'a Axes>,
    keep_columns: bool,
    ndjson: bool,
}

struct Writer<'a> {
    out: &'a mut dyn Write,
    layout: Layout<'a>,
    model: &'a LinearModel,
    score_names: Vec<String>,
    doubt: Option<&'a Doubt<'a>>,
    /// Rows without a prediction, and all rows.
    counts: [u64; 2],
    /// Rows that lack values.
    incomplete: u64,
    header_done: bool,
    line: Vec<u8>,
}

impl Writer<'_> {
    fn chunk(
        &mut self,
        choices: &Choices,
        chunk: &Chunk<'_>,
        scorer: &mut ChunkScorer<'_>,
    ) -> Result<(), Error> {
        if self.layout.keep_columns && choices.delimiter.is_none() {
            return Err(Error::usage(
                "--keep-columns works on tables; svmlight lines have no columns",
            ));
        }
        if !self.header_done && !self.layout.ndjson {
            self.header(choices, chunk).map_err(write_failed)?;
        }
        self.header_done = true;
        let mut failed = None;
        scorer.for_each(chunk, |row, scores| {
            if failed.is_none() {
                let columns =
                    if self.layout.keep_columns { chunk.fields(row, choices) } else { Vec::new() };
                let scores = Some(scores).filter(|_| !chunk.is_incomplete(row));
                failed = self.row(&columns, choices, scores).err();
            }
        });
        failed.map_or(Ok(()), |error| Err(write_failed(error)))
    }

    fn header(&mut self, choices: &Choices, chunk: &Chunk<'_>) -> io::Result<()> {
        let mut names: Vec<String> = Vec::new();
        if self.layout.keep_columns {
            let count = chunk.fields(0, choices).len();
            names = column_names(choices, count);
        }
        names.push("prediction".to_owned());
        if self.layout.scores {
            names.extend(self.score_names.iter().map(|name| format!("score:{name}")));
        }
        if self.layout.probabilities {
            names.extend(self.model.classes.iter().map(|class| format!("proba:{class}")));
        }
        names.extend(self.layout.axes.map_or_else(Vec::new, Axes::names));
        self.write_record(&names)
    }

    /// One row; it has no scores where values are missing.
    fn row(
        &mut self,
        columns: &[String],
        choices: &Choices,
        scores: Option<&[f64]>,
    ) -> io::Result<()> {
        let model = self.model;
        let doubtful = |scores| self.doubt.is_some_and(|doubt| doubt.leaves_open(model, scores));
        let open = scores.is_some_and(doubtful);
        self.incomplete += u64::from(scores.is_none());
        self.counts[0] += u64::from(open);
        self.counts[1] += 1;
        let class = match scores.filter(|_| !open) {
            None => OPEN,
            Some(scores) => &model.classes[model.class_of(scores) as usize],
        };
        if self.layout.ndjson {
            return self.object(columns, choices, class, scores);
        }
        self.line.clear();
        for column in columns {
            quote(column, b',', &mut self.line);
            self.line.push(b',');
        }
        quote(class, b',', &mut self.line);
        match scores {
            None => {
                let scored = usize::from(self.layout.scores) * self.score_names.len();
                let likely = usize::from(self.layout.probabilities) * model.classes.len();
                let along = self.layout.axes.map_or(0, |axes| axes.directions.len());
                self.line.resize(self.line.len() + scored + likely + along, b',');
            }
            Some(scores) => {
                for score in scores.iter().filter(|_| self.layout.scores) {
                    write!(self.line, ",{score}")?;
                }
                for probability in self.probabilities(scores) {
                    match probability > 0.0 && probability < 1e-5 {
                        true => write!(self.line, ",{probability:e}")?,
                        false => write!(self.line, ",{probability}")?,
                    }
                }
                for place in self.places(scores) {
                    write!(self.line, ",{place}")?;
                }
            }
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    /// One row as a JSON object, keys in the order of the columns.
    fn object(
        &mut self,
        columns: &[String],
        choices: &Choices,
        class: &str,
        scores: Option<&[f64]>,
    ) -> io::Result<()> {
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let names = column_names(choices, columns.len());
        let mut fields: Vec<String> = names
            .iter()
            .zip(columns)
            .map(|(name, value)| format!("{}:{}", text(name), text(value)))
            .collect();
        fields.push(format!("\"prediction\":{}", text(class)));
        if let Some(scores) = scores.filter(|_| self.layout.scores) {
            let scores = self.score_names.iter().zip(scores);
            fields.extend(scores.map(|(c, &s)| {
                format!("{}:{}", text(&format!("score:{c}")), super::json_number(s))
            }));
        }
        let probabilities = scores.map_or_else(Vec::new, |scores| self.probabilities(scores));
        fields.extend(
            self.model.classes.iter().zip(&probabilities).map(|(c, &p)| {
                format!("{}:{}", text(&format!("proba:{c}")), super::json_number(p))
            }),
        );
        if let (Some(axes), Some(scores)) = (self.layout.axes, scores) {
            let places = axes.names().into_iter().zip(axes.at(scores));
            fields.extend(
                places
                    .map(|(name, place)| format!("{}:{}", text(&name), super::json_number(place))),
            );
        }
        writeln!(self.out, "{{{}}}", fields.join(","))
    }

    /// The probabilities to write; none where they were not asked for.
    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        match self.layout.probabilities {
            true => self.model.probabilities_of_scores(scores).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    /// Where the row stands on the axes; nowhere if they were not asked for.
    fn places(&self, scores: &[f64]) -> Vec<f64> {
        self.layout.axes.map_or_else(Vec::new, |axes| axes.at(scores))
    }

    fn write_record(&mut self, fields: &[String]) -> io::Result<()> {
        self.line.clear();
        for (k, field) in fields.iter().enumerate() {
            if k > 0 {
                self.line.push(b',');
            }
            quote(field, b',', &mut self.line);
        }
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }
}

fn column_names(choices: &Choices, count: usize) -> Vec<String> {
    match &choices.header {
        Some(names) => names.clone(),
        None => (1..=count).map(|number| format!("column{number}")).collect(),
    }
}
