//! Where rows come from: files, readers or memory, behind one type.
//!
//! Whoever reads, predicts, evaluates or checks takes a [`RowSource`] and knows neither formats nor files.
//! It gives its rows in one of three ways: all of them as a data set ([`RowSource::read`]), block by block
//! for a model ([`RowSource::blocks`]), or part by part for a learner that sees each row once
//! ([`RowSource::parts`]).

use super::source::{self, Part};
use super::waiting::Waiting;
use super::{Choices, Chunk, ReadOptions, ReadResult, Survey, chunk, parts, read_once, survey};
use crate::buffer;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::InputMap;
use crate::matrix::Planes;
use crate::table::{Dataset, Features};
use crate::{Held, RowsView};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Rows with or without labels, wherever they are.
///
/// ```
/// use linsep_data::input::InputMap;
/// use linsep_data::read::{ReadOptions, RowSource};
/// use linsep_data::RowsView;
/// let map = InputMap::plain(2);
/// let options = ReadOptions::default();
/// let count = |source: RowSource<'_>| {
///     let mut rows = 0;
///     source.blocks(&map, false, |_, chunk| {
///         rows += chunk.n_rows();
///         Ok(())
///     })?;
///     Ok::<usize, linsep_data::Error>(rows)
/// };
/// assert_eq!(count(RowSource::reader("a 1:2\nb 2:3\n".as_bytes(), "text", &options))?, 2);
/// assert_eq!(count(RowsView::dense(&[0.5; 6], 3, 2)?.into())?, 3);
/// # Ok::<(), linsep_data::Error>(())
/// ```
pub struct RowSource<'a> {
    rows: Rows<'a>,
    options: ReadOptions,
}

enum Rows<'a> {
    Texts(Vec<Input<'a>>),
    Memory(RowsView<'a>),
}

/// A text to read rows from.
pub struct Input<'a>(Text<'a>);

enum Text<'a> {
    Path(PathBuf),
    Reader(String, Box<dyn Read + Send + 'a>),
    /// A reader that may keep others waiting.
    Slow(String, Box<dyn Read + Send>),
}

impl<'a> Input<'a> {
    /// A file, a folder of parts or a glob.
    pub fn path(path: impl Into<PathBuf>) -> Input<'a> {
        Input(Text::Path(path.into()))
    }

    /// Any reader; errors call it `name`.
    pub fn reader(reader: impl Read + Send + 'a, name: &str) -> Input<'a> {
        Input(Text::Reader(name.to_owned(), Box::new(reader)))
    }

    /// A reader that may have nothing to give for a long time, such as standard input: where the options
    /// have a `stop`, the waiting ends with it. Errors call it `name`.
    pub fn slow_reader(reader: impl Read + Send + 'static, name: &str) -> Input<'a> {
        Input(Text::Slow(name.to_owned(), Box::new(reader)))
    }

    /// What errors call it.
    pub(super) fn name(&self) -> String {
        match &self.0 {
            Text::Path(path) => path.display().to_string(),
            Text::Reader(name, _) | Text::Slow(name, _) => name.clone(),
        }
    }

    pub(super) fn open(self, stop: Option<&Arc<AtomicBool>>) -> Result<Part<'a>> {
        match self.0 {
            Text::Path(path) => Part::open(&path, stop),
            Text::Reader(name, reader) => {
                Part::from_reader(&name, reader).map_err(|error| source::begin_error(&name, error))
            }
            Text::Slow(name, reader) => {
                let reader: std::io::Result<Box<dyn Read + Send>> = match stop {
                    Some(stop) => Waiting::new(move || Ok(reader), Arc::clone(stop))
                        .map(|reader| Box::new(reader) as Box<dyn Read + Send>),
                    None => Ok(reader),
                };
                reader
                    .and_then(|reader| Part::from_reader(&name, reader))
                    .map_err(|error| source::begin_error(&name, error))
            }
        }
    }
}

/// The files and readers that inputs stand for, in order.
pub(super) fn expand(inputs: Vec<Input<'_>>) -> Result<Vec<Input<'_>>> {
    let mut all = Vec::new();
    for input in inputs {
        match input.0 {
            Text::Path(path) => all.extend(source::files_of(&path)?.into_iter().map(Input::path)),
            reader => all.push(Input(reader)),
        }
    }
    Ok(all)
}

impl<'a> RowSource<'a> {
    /// The rows of several texts, one after the other.
    pub fn new(inputs: Vec<Input<'a>>, options: &ReadOptions) -> RowSource<'a> {
        RowSource { rows: Rows::Texts(inputs), options: options.clone() }
    }

    /// The rows of files, folders of parts or globs.
    pub fn files(inputs: &[PathBuf], options: &ReadOptions) -> RowSource<'a> {
        RowSource::new(inputs.iter().map(Input::path).collect(), options)
    }

    /// The rows of any reader; errors call it `name`.
    pub fn reader(
        reader: impl Read + Send + 'a,
        name: &str,
        options: &ReadOptions,
    ) -> RowSource<'a> {
        RowSource::new(vec![Input::reader(reader, name)], options)
    }

    /// All rows as a data set. A map has the columns, levels and fill values of an earlier reading of the
    /// same table, such as a model or a certificate holds; with its basis functions, if it has any.
    pub fn read(self, map: Option<&InputMap>) -> Result<ReadResult> {
        let inputs = match self.rows {
            Rows::Texts(inputs) => inputs,
            Rows::Memory(rows) => return from_memory(rows, map),
        };
        buffer::catch(|| {
            let Some(InputMap { basis: Some(basis), .. }) = map else {
                return read_texts(inputs, &self.options, map);
            };
            let plain = map.map(|map| InputMap { basis: None, ..map.clone() });
            let mut result = read_texts(inputs, &self.options, plain.as_ref())?;
            result.data = result.data.expanded(basis.clone(), self.options.max_memory)?;
            Ok(result)
        })
    }

    /// What is in the columns of a table, whatever is wrong with it; `None` for svmlight and rows in memory.
    pub fn survey(self) -> Result<Option<Survey>> {
        match self.rows {
            Rows::Texts(inputs) => survey::of_texts(inputs, &self.options),
            Rows::Memory(_) => Ok(None),
        }
    }

    /// Hands the rows to `each` block by block, in order and in constant memory, as a model with this input
    /// map takes them. `need_label` refuses rows without labels.
    pub fn blocks(
        self,
        map: &InputMap,
        need_label: bool,
        each: impl FnMut(&Choices, Chunk<'_>) -> Result<()>,
    ) -> Result<Choices> {
        self.scored_blocks(map, need_label, None, each)
    }

    /// The same for rows that meet nothing but these planes: where that is less work, blocks hold the products
    /// in place of the rows.
    #[doc(hidden)]
    pub fn scored_blocks(
        self,
        map: &InputMap,
        need_label: bool,
        planes: Option<Planes<'_>>,
        mut each: impl FnMut(&Choices, Chunk<'_>) -> Result<()>,
    ) -> Result<Choices> {
        match self.rows {
            Rows::Texts(inputs) => {
                chunk::from_texts(inputs, &self.options, map, need_label, planes, &mut each)
            }
            Rows::Memory(rows) => chunk::from_memory(rows, map, need_label, &mut each),
        }
    }

    /// Hands labelled rows to `each` part by part, in order, every part a data set of its own. A map is that
    /// of an earlier reading of the same columns. `each` may end the reading by breaking off.
    pub fn parts(
        self,
        map: Option<&InputMap>,
        mut each: impl FnMut(&Choices, Dataset) -> Result<ControlFlow<()>>,
    ) -> Result<Choices> {
        match self.rows {
            Rows::Texts(inputs) => parts::from_texts(inputs, &self.options, map, &mut each),
            Rows::Memory(rows) => {
                let ReadResult { data, choices, .. } = from_memory(rows, map)?;
                // There is one part, so breaking off and going on are the same.
                each(&choices, data).map(|_| choices)
            }
        }
    }
}

impl<'a> From<RowsView<'a>> for RowSource<'a> {
    fn from(rows: RowsView<'a>) -> RowSource<'a> {
        RowSource { rows: Rows::Memory(rows), options: ReadOptions::default() }
    }
}

impl<'a> From<&'a Features> for RowSource<'a> {
    fn from(features: &'a Features) -> RowSource<'a> {
        RowsView::from(features).into()
    }
}

impl<'a> From<&'a Dataset> for RowSource<'a> {
    fn from(data: &'a Dataset) -> RowSource<'a> {
        RowsView::from(data).into()
    }
}

/// Reads texts, from the start again where an index 0 came after indices had been taken to start at 1.
fn read_texts(
    inputs: Vec<Input<'_>>,
    options: &ReadOptions,
    map: Option<&InputMap>,
) -> Result<ReadResult> {
    let inputs = expand(inputs)?;
    let again = |input: &Input<'_>| match &input.0 {
        // What a pipe has given is gone, under whatever name it was opened.
        Text::Path(path) if path.is_file() => Ok(Input::path(path)),
        _ => Err(input.name()),
    };
    let again: std::result::Result<Vec<Input<'_>>, String> = inputs.iter().map(again).collect();
    match (read_once(inputs, options, map)?, again) {
        (Some(result), _) => Ok(result),
        (None, Ok(again)) => {
            let options = ReadOptions { index_base: Some(0), ..options.clone() };
            read_once(again, &options, map)?.ok_or(Error::Interrupted)
        }
        (None, Err(reader)) => {
            let words =
                "an index 0 came late in the stream, after indices had been taken to start at 1";
            let problem = Problem::new(Code::BAD_INDEX, words, Place::file(reader));
            Err(problem.help("use `index-base=0`").into())
        }
    }
}

/// A data set that is in memory already.
fn from_memory(rows: RowsView<'_>, map: Option<&InputMap>) -> Result<ReadResult> {
    let Held::Data(data) = rows.held() else {
        return Err(Error::data(Code::NO_LABEL, "these rows have no labels", Place::default()));
    };
    if map.is_some_and(|map| map.features != rows.n_features()) {
        let words = format!(
            "the data has {} features, which is not the number asked for",
            rows.n_features()
        );
        return Err(Error::data(Code::WIDTH, words, Place::default()));
    }
    let basis = map.map_or(data.input().basis.clone(), |map| map.basis.clone());
    let data = match basis {
        basis if basis == data.input().basis => data.clone(),
        None => data.clone().without_basis(),
        Some(basis) => data.clone().without_basis().expanded(basis, None)?,
    };
    Ok(ReadResult { data, choices: Choices::nothing(), rejects: Vec::new() })
}
