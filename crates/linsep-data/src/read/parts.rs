//! Labelled rows part by part, for learners that see each row once: constant memory however long the
//! input is. Every part is a data set of its own, with the classes and columns that it happens to have.

use super::collect::Collector;
use super::plan::{self, ParserPlan};
use super::row_source::Input;
use super::sniff::Sniffed;
use super::{Categorical, Choices, Facts, Parts, ReadOptions, note_facts};
use crate::Dataset;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::InputMap;
use std::ops::ControlFlow;

/// A part ends with the block that brings it to so many rows or bytes.
const ROWS: usize = 1 << 13;
const BYTES: u64 = 1 << 22;

/// Hands the rows of texts to `each` part by part, as [`super::RowSource::parts`] says.
pub(super) fn from_texts(
    inputs: Vec<Input<'_>>,
    options: &ReadOptions,
    map: Option<&InputMap>,
    each: &mut dyn FnMut(&Choices, Dataset) -> Result<ControlFlow<()>>,
) -> Result<Choices> {
    let first = inputs.first().map_or_else(String::new, Input::name);
    // Levels would be known at the end only.
    let categorical = match options.categorical {
        Categorical::Auto => Categorical::Error,
        other => other,
    };
    let options = &ReadOptions { categorical, ..options.clone() };
    // Which class is positive is for whoever knows all of them.
    let options_of_part = ReadOptions { positive: None, ..options.clone() };
    let planner = |sniffed: &Sniffed, file: &str| match map {
        None => plan::for_training(sniffed, file, options),
        Some(map) => plan::for_model(sniffed, file, options, map, true),
    };
    let mut parts = Parts::new(inputs, options, &planner)?;
    let mut facts = Facts::default();
    let (mut rows_left, mut rows) = (options.limit, 0);
    while let Some(mut part) = parts.next()? {
        let (plan, choices) = (part.plan.clone(), part.choices.clone());
        let (name, mut lines) = (part.name.clone(), part.skip_lines);
        let categories = match &plan.parser {
            ParserPlan::Table(table) => table.categories,
            ParserPlan::Svmlight(_) => 0,
        };
        let fresh = |lines: u64, facts: &Facts| {
            let mut collector = Collector::new(categories);
            collector.start_part(&name, lines, facts.clone());
            collector
        };
        let mut collector = fresh(lines, &facts);
        let mut hand_on = |collector: Collector, facts: &mut Facts| {
            let count = collector.rows();
            *facts = collector.facts().clone();
            if count == 0 && facts.bad == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            rows += count;
            each(&choices, collector.finish(plan.clone(), &options_of_part)?.0)
        };
        let mut flow = part.blocks(options, &mut rows_left, None, |block, _| {
            if block.index_zero {
                let words = "an index 0 came after indices had been taken to start at 1";
                let place = Place::file(name.clone());
                let problem = Problem::new(Code::BAD_INDEX, words, place);
                return Err(problem.help("use `index-base=0`").into());
            }
            lines += block.line_count;
            collector.add(block, &plan, options)?;
            if collector.rows() < ROWS && collector.bytes() < BYTES && collector.facts().bad == 0 {
                return Ok(ControlFlow::Continue(()));
            }
            let full = std::mem::replace(&mut collector, Collector::new(categories));
            let flow = hand_on(full, &mut facts)?;
            collector = fresh(lines, &facts);
            Ok(flow)
        })?;
        let ended = flow.is_break() && rows_left.is_none_or(|left| left > 0);
        if !ended {
            flow = match hand_on(collector, &mut facts)? {
                ControlFlow::Continue(()) => flow,
                broken => broken,
            };
        }
        if flow.is_break() {
            break;
        }
    }
    let (_, mut choices) = parts.finish();
    if rows == 0 {
        return Err(super::collect::no_rows(&first));
    }
    note_facts(&mut choices, &facts);
    Ok(choices)
}

/// What reading part by part cannot do: it never sees the whole.
pub fn check_for_parts(options: &ReadOptions) -> Result<()> {
    use super::{BadRows, Missing};
    let refuse = |setting: &str| {
        let words = format!("`{setting}` needs a look at all rows, which a stream does not allow");
        Err(Error::usage(words))
    };
    if matches!(options.categorical, Categorical::OneHot | Categorical::OneHotDrop) {
        return refuse("categorical=onehot");
    }
    if options.terms.is_some() {
        return refuse("terms");
    }
    if !options.references.is_empty() {
        return refuse("reference");
    }
    if matches!(options.missing, Missing::Mean | Missing::Median | Missing::Mode) {
        return refuse(&format!("missing={}", options.missing.word()));
    }
    if options.missing_indicator {
        return refuse("missing-indicator");
    }
    if options.bad_rows != BadRows::Error {
        return Err(Error::usage(
            "`bad-rows` is not for a stream: repair or remove bad rows first",
        ));
    }
    Ok(())
}
