//! The flags that say how data is read, the same on every command that reads data.

use crate::context::Context;
use crate::files::{OnBadRows, Output};
use crate::kinds::FileKind;
use clap::{Arg, ArgAction, ArgMatches};
use linsep::data::basis::BasisSpec;
use linsep::data::read::{
    BadRows, Categorical, ColumnRange, Format, Input, Missing, ReadOptions, ReadingChoice,
    RowSource, UnknownLevel,
};
use linsep::data::terms::{Reference, Terms};
use linsep::{Dataset, Error, Result};
use std::io::Read;
use std::path::PathBuf;

const HEADING: &str = "Input";

/// The flags that matter when a model says what it needs: how the file is to be understood.
pub(crate) fn flags_for_model() -> Vec<Arg> {
    const NAMES: [&str; 9] = [
        "format",
        "label",
        "no-header",
        "header",
        "delimiter",
        "decimal",
        "index-base",
        "limit",
        "allow-lossy",
    ];
    flags().into_iter().filter(|flag| NAMES.contains(&flag.get_id().as_str())).collect()
}

/// The same for a command that counts rows by their weights.
pub(crate) fn flags_for_counting() -> Vec<Arg> {
    let weight = flags().into_iter().filter(|flag| flag.get_id() == "weight");
    flags_for_model().into_iter().chain(weight).collect()
}

/// The input flags.
pub(crate) fn flags() -> Vec<Arg> {
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        let arg = Arg::new(name).long(name).value_name(value).help(help).help_heading(HEADING);
        arg.allow_negative_numbers(true)
    };
    let word = |name: &'static str, words: &'static [&'static str], help: &'static str| {
        value(name, "WORD", help).value_parser(clap::builder::PossibleValuesParser::new(words))
    };
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help).help_heading(HEADING)
    };
    vec![
        word("format", Format::WORDS, "File format [default: by content]"),
        value("label", "COLUMN", "Label column: a name, #N, first or last").visible_alias("target"),
        value(
            "positive",
            "CLASS",
            "Class that counts as positive; of more than two, the rest become one",
        ),
        value("features", "COLUMNS", "Columns to use: names, #3, #3-#7, separated by commas"),
        value("drop", "COLUMNS", "Columns to leave out"),
        value("keep", "COLUMNS", "Columns to use although they look like an index, dates or names"),
        value("weight", "COLUMN", "Column with row weights"),
        switch("no-header", "The first record is data"),
        switch("header", "The first record is a header").conflicts_with("no-header"),
        value(
            "delimiter",
            "CHAR",
            "Delimiter of a table, or 'tab', or 'space' for any number of blanks [default: by content]",
        ),
        value("decimal", "CHAR", "Decimal mark of a table: . or , [default: by content]"),
        word("missing", Missing::WORDS, "What to do where a value is missing [default: error]"),
        switch(
            "missing-indicator",
            "Add a 0/1 feature for each column with missing values that says where they were filled",
        ),
        word(
            "categorical",
            Categorical::WORDS,
            "What to do with text columns: auto makes at most 50 levels 0/1 features and leaves out dates and names; onehot-drop leaves the first level out [default: auto]",
        ),
        value(
            "reference",
            "COLUMN=LEVEL",
            "Level of a text column that has no feature, so that the others are compared with it; may be repeated",
        )
        .action(ArgAction::Append),
        word(
            "unknown-level",
            UnknownLevel::WORDS,
            "What the model does with a category not seen in training [default: error]",
        ),
        value(
            "bad-rows",
            "error|skip|rejects=FILE",
            "What to do with rows that cannot be used [default: error]",
        )
        .value_parser(OnBadRows::parser()),
        value("allow-bad", "N", "Accept up to N bad rows that are skipped"),
        word("index-base", &["auto", "0", "1"], "Where svmlight indices start [default: auto]"),
        value("limit", "N", "Read at most N rows"),
        word(
            "reading",
            ReadingChoice::WORDS,
            "How exact proofs understand the numbers [default: auto]",
        ),
        switch("allow-lossy", "Accept what cannot be held exactly"),
    ]
}

/// The flags of commands that can work on functions of the columns.
pub(crate) fn basis_flags() -> [Arg; 2] {
    let flag = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).help_heading(HEADING)
    };
    [
        flag("basis", "SPEC")
            .help("Work on phi(x): poly:2, products such as x1*x2,x1^2 added to the columns, or rbf:M,SIGMA"),
        flag("terms", "FORMULA")
            .help("Use the terms of a formula, as R writes its right side: 'age + sex + age:sex + poly(bmi, 2)'; powers are raw")
            .allow_hyphen_values(true)
            .conflicts_with_all(["basis", "features"]),
    ]
}

/// What learners work on instead of the columns.
#[derive(Clone, Debug)]
pub(crate) enum Expansion {
    Basis(BasisSpec),
    Terms(Terms, Vec<Reference>),
}

/// The basis functions or terms that were asked for.
pub(crate) fn basis(matches: &ArgMatches) -> Result<Option<Expansion>> {
    if let Some(terms) = terms(matches)? {
        return Ok(Some(Expansion::Terms(terms, references(matches)?)));
    }
    let spec = matches.get_one::<String>("basis").map(|spec| spec.parse()).transpose()?;
    Ok(spec.map(Expansion::Basis))
}

/// The formula, on commands that have one.
pub(crate) fn terms(matches: &ArgMatches) -> Result<Option<Terms>> {
    let text = matches.try_get_one::<String>("terms").ok().flatten();
    text.map(|text| text.parse()).transpose()
}

/// The reference levels that were asked for; a word without = is a class, where commands have such.
pub(crate) fn references(matches: &ArgMatches) -> Result<Vec<Reference>> {
    let given = matches.try_get_many::<String>("reference").ok().flatten();
    // `infer` has a class for reference, too.
    let may_be_class = matches.try_contains_id("success").is_ok();
    let levels = given.into_iter().flatten().filter(|text| !may_be_class || text.contains('='));
    levels.map(|text| Reference::new(text.as_str(), may_be_class)).collect()
}

/// Data with its basis functions or terms. Centres come from `rows`, all when `None`.
pub(crate) fn expand(
    data: Dataset,
    expansion: Option<&Expansion>,
    rows: Option<&[u32]>,
    context: &Context,
) -> Result<Dataset> {
    match expansion {
        None => Ok(data),
        Some(Expansion::Basis(spec)) => {
            data.with_basis(spec, rows, context.seed, context.max_memory)
        }
        Some(Expansion::Terms(terms, references)) => {
            data.with_terms(terms, references, context.max_memory)
        }
    }
}

/// The data files of a command.
pub(crate) fn paths(matches: &ArgMatches) -> Vec<PathBuf> {
    subject_and_data(matches).1
}

/// The model, certificate or trace of a command.
pub(crate) fn subject(matches: &ArgMatches) -> Option<PathBuf> {
    subject_and_data(matches).0
}

/// What a command works with and the data for it. They may be given in either order where the files tell:
/// the first is nothing that the command works with, and one of the others is.
fn subject_and_data(matches: &ArgMatches) -> (Option<PathBuf>, Vec<PathBuf>) {
    const SUBJECTS: [(&str, &[FileKind]); 4] = [
        ("model", &[FileKind::Model, FileKind::Foreign]),
        ("certificate", &[FileKind::Certificate, FileKind::Model]),
        ("foreign", &[FileKind::Foreign]),
        ("trace", &[FileKind::Trace]),
    ];
    let data = matches.try_get_many::<PathBuf>("data").ok().flatten();
    let mut data: Vec<PathBuf> = data.into_iter().flatten().cloned().collect();
    // In other commands these may be files to write.
    let given = |id: &str| matches.try_get_one::<PathBuf>(id).ok().flatten().cloned();
    let found = SUBJECTS.into_iter().find_map(|(id, kinds)| Some((given(id)?, kinds)));
    let Some((mut subject, kinds)) = found else { return (None, data) };
    let is_one = |path: &PathBuf| FileKind::of(path).is_some_and(|kind| kinds.contains(&kind));
    if FileKind::of(&subject).is_none()
        && let Some(at) = data.iter().position(is_one)
    {
        let model = data.remove(at);
        data.insert(0, std::mem::replace(&mut subject, model));
    }
    (Some(subject), data)
}

/// The rows of the data files of a command, as the flags say.
pub(crate) fn source(matches: &ArgMatches, context: &Context) -> Result<RowSource<'static>> {
    Ok(source_of(&paths(matches), &options(matches, context)?))
}

/// The rows of files; `-` is standard input.
pub(crate) fn source_of(paths: &[PathBuf], options: &ReadOptions) -> RowSource<'static> {
    let input = |path: &PathBuf| match path.as_os_str() == "-" {
        true => Input::slow_reader(std::io::stdin(), "<stdin>"),
        false => Input::path(path),
    };
    RowSource::new(paths.iter().map(input).collect(), options)
}

/// All of standard input.
pub(crate) fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let failed = |error| Error::io("read", std::path::Path::new("<stdin>"), error);
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The rows of files, with these bytes for standard input.
pub(crate) fn source_with<'a>(
    paths: &[PathBuf],
    standard: Option<&'a [u8]>,
    options: &ReadOptions,
) -> RowSource<'a> {
    let input = |path: &PathBuf| match standard.filter(|_| path.as_os_str() == "-") {
        Some(bytes) => Input::reader(bytes, "<stdin>"),
        None => Input::path(path),
    };
    RowSource::new(paths.iter().map(input).collect(), options)
}

/// Where bad rows go, if they are kept apart.
pub(crate) fn rejects(matches: &ArgMatches) -> Option<&Output> {
    match matches.get_one::<OnBadRows>("bad-rows")? {
        OnBadRows::Reject(output) => Some(output),
        _ => None,
    }
}

/// The options that the flags ask for.
pub(crate) fn options(matches: &ArgMatches, context: &Context) -> Result<ReadOptions> {
    // Commands that use a model have only some of the flags.
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().map(String::as_str);
    let mut options = ReadOptions::default();
    if let Some(word) = text("format") {
        options.format = word.parse()?;
    }
    options.label = text("label").map(str::parse).transpose()?;
    options.positive = text("positive").map(str::to_owned);
    options.features = columns(text("features"))?;
    options.drop = columns(text("drop"))?;
    options.keep = columns(text("keep"))?;
    options.decimal = text("decimal").map(decimal).transpose()?;
    options.weight = text("weight").map(str::parse).transpose()?;
    if matches.get_flag("no-header") {
        options.header = Some(false);
    } else if matches.get_flag("header") {
        options.header = Some(true);
    }
    options.delimiter = text("delimiter").map(delimiter).transpose()?;
    if let Some(word) = text("missing") {
        options.missing = word.parse()?;
    }
    let indicator = matches.try_get_one::<bool>("missing-indicator").ok().flatten();
    options.missing_indicator = indicator.copied().unwrap_or(false);
    if let Some(word) = text("categorical") {
        options.categorical = word.parse()?;
    }
    options.references = references(matches)?;
    options.terms = terms(matches)?;
    if let Some(word) = text("unknown-level") {
        options.unknown_level = word.parse()?;
    }
    let on_bad_rows = matches.try_get_one::<OnBadRows>("bad-rows").ok().flatten();
    options.bad_rows = match on_bad_rows {
        None | Some(OnBadRows::Error) => BadRows::Error,
        Some(OnBadRows::Skip) => BadRows::Skip,
        Some(OnBadRows::Reject(_)) => BadRows::Reject,
        Some(OnBadRows::Unknown(rule)) => {
            return Err(Error::usage(format!(
                "--bad-rows: \"{rule}\" is none of error, skip, rejects=FILE"
            )));
        }
    };
    options.allow_bad = text("allow-bad").map(|n| whole("allow-bad", n)).transpose()?;
    options.index_base = match text("index-base") {
        Some("0") => Some(0),
        Some("1") => Some(1),
        _ => None,
    };
    options.limit = text("limit").map(|n| whole("limit", n)).transpose()?;
    if let Some(word) = text("reading") {
        options.reading = word.parse()?;
    }
    options.allow_lossy = matches.get_flag("allow-lossy");
    options.threads = context.threads;
    options.max_memory = context.max_memory;
    options.stop = Some(context.stop.clone());
    Ok(options)
}

/// A whole number of at least 0.
pub(crate) fn whole(flag: &str, text: &str) -> Result<u64> {
    text.parse()
        .map_err(|_| Error::usage(format!("--{flag}: \"{text}\" is no whole number of at least 0")))
}

fn columns(list: Option<&str>) -> Result<Vec<ColumnRange>> {
    list.map_or(Ok(Vec::new()), |list| list.split(',').map(|item| item.trim().parse()).collect())
}

fn decimal(text: &str) -> Result<u8> {
    match text {
        "," | "comma" => Ok(b','),
        "." | "point" => Ok(b'.'),
        _ => Err(Error::usage(format!("--decimal: \"{text}\" is neither . nor ,"))),
    }
}

fn delimiter(text: &str) -> Result<u8> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" | b" " => Ok(b' '),
        [byte]
            if byte.is_ascii()
                && !byte.is_ascii_alphanumeric()
                && !matches!(byte, b'"' | b'\n' | b'\r' | b'.' | b'-' | b'+' | b' ') =>
        {
            Ok(*byte)
        }
        _ => Err(Error::usage(format!(
            "--delimiter: \"{text}\" is neither one character such as ; nor tab or space"
        ))),
    }
}
