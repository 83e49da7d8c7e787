//! What becomes of each column of a table that is learned from: the label, features, one-hot levels, or
//! nothing. Whatever was not asked for is noted, so that nothing is decided silently.

use super::chosen::{self, Chosen, References};
use super::columns::{ColumnType, Look};
use super::csv::{Action, TablePlan};
use super::forms::Form;
use super::options::{
    BadRows, Categorical, ColumnRange, ColumnRef, Missing, ReadOptions, UnknownLevel,
};
use super::plan::{LabelChoice, ParserPlan, Plan};
use super::sniff::{LABEL_NAMES, Table};
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::{ColumnOrder, InputColumn, InputMap, SourceColumn, find_name, no_column};
use crate::table::labels::is_missing;

/// What was decided about a column without being asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnNote {
    /// The name of the column, or its number.
    pub name: String,
    /// Its 0-based position.
    pub position: usize,
    /// Whether it is a feature.
    pub used: bool,
    /// What was decided, and why.
    pub words: String,
}

impl ColumnNote {
    pub(crate) fn left_out(name: &str, position: usize, why: &str) -> ColumnNote {
        let words = format!(
            "column \"{name}\" is left out: {why} (use it all the same with `keep` {})",
            spelled(name, position)
        );
        ColumnNote { name: name.to_owned(), position, used: false, words }
    }

    pub(crate) fn one_hot(name: &str, position: usize, levels: usize) -> ColumnNote {
        let words = format!(
            "column \"{name}\" holds text: one 0/1 feature for each of its {levels} levels (decide with `categorical`)"
        );
        ColumnNote { name: name.to_owned(), position, used: true, words }
    }
}

/// How a shell takes the name of a column.
fn spelled(name: &str, position: usize) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    match !name.is_empty() && name.bytes().all(plain) {
        true => name.to_owned(),
        false => format!("'#{}'", position + 1),
    }
}

/// Plans what the parser does with a table that is learned from.
pub(super) fn plan_table(table: &Table, file: &str, options: &ReadOptions) -> Result<Plan> {
    if table.width == 1 && table.sample.len() > 1 {
        return Err(Problem::new(
            Code::NO_FEATURES,
            "the table has one column only",
            Place::file(file),
        )
        .help("the delimiter may be another one: see `delimiter`")
        .into());
    }
    if options.missing_indicator && matches!(options.missing, Missing::Error | Missing::DropRow) {
        let words = "`missing-indicator` says where a value was filled, so it needs `missing=median`, mean, mode or zero";
        return Err(Error::usage(words));
    }
    check_comma(table, file)?;
    let looks: Vec<Look> = (0..table.width).map(|j| Look::new(table, j)).collect();
    let (label, label_choice) = choose_label(table, &looks, file, options)?;
    let weight = match &options.weight {
        Some(column) => Some(find_column(table, column, Code::NO_COLUMN, file)?),
        None => None,
    };
    let wanted = find_columns(table, &options.features, file)?;
    let dropped = find_columns(table, &options.drop, file)?;
    let kept = find_columns(table, &options.keep, file)?;
    let is_feature = |j: usize| {
        j != label
            && Some(j) != weight
            && (wanted.is_empty() || wanted.contains(&j))
            && !dropped.contains(&j)
    };
    if options.terms.is_some() && !options.features.is_empty() {
        let words = "`features` and `terms` both say which columns are used; leave one out";
        return Err(Error::usage(words));
    }
    let named = match &options.terms {
        Some(terms) => chosen::named(terms, table, file)?,
        None => Vec::new(),
    };
    let asked = |j: usize| wanted.contains(&j) || kept.contains(&j) || named.contains(&j);
    let mut notes = Vec::new();
    let mut left_out = vec![false; table.width];
    for j in (0..table.width).filter(|&j| is_feature(j) && !asked(j)) {
        let foreign = table.foreign.get(j).cloned().flatten();
        if let Some(why) = foreign.or_else(|| reason_to_leave_out(&looks[j], options)) {
            left_out[j] = true;
            notes.push(ColumnNote::left_out(&table.column_name(j), j, &why));
        }
    }
    if (0..table.width).all(|j| !is_feature(j) || left_out[j]) {
        // Without it there would be nothing to learn from.
        left_out.fill(false);
        notes.clear();
    }
    let expanded = match &options.terms {
        Some(terms) => {
            let used = |j: usize| is_feature(j) && !left_out[j];
            let taken = [(label, "label"), (weight.unwrap_or(usize::MAX), "row weights")];
            let found = Chosen::new(terms, &named, used, &taken, table, file)?;
            chosen::check_dropped(terms, &named, &dropped)?;
            let was_left_out = std::mem::replace(&mut left_out, found.left_out.clone());
            // Of columns that nobody asked for nothing need be said.
            notes.retain(|note: &ColumnNote| terms.has_dot() && was_left_out[note.position]);
            Some(found)
        }
        None => None,
    };
    let mut actions = vec![Action::Skip; table.width];
    let mut columns = Vec::new();
    let (mut numeric, mut categories) = (0, 0);
    for (j, action) in actions.iter_mut().enumerate() {
        if j == label {
            *action = Action::Label;
        } else if Some(j) == weight {
            *action = Action::Weight;
        } else if is_feature(j) && !left_out[j] {
            let forced = expanded.as_ref().is_some_and(|found| found.expanded.is_factor(j));
            let category = forced || is_category(table, &looks[j], j, asked(j), file, options)?;
            if category {
                *action = Action::Category(categories);
                categories += 1;
            } else {
                *action = Action::Number(numeric);
                numeric += 1;
                if looks[j].counts_rows && looks[j].values >= COUNTED_ROWS && !asked(j) {
                    notes.push(counts_rows(table, j));
                }
            }
            let fills = !matches!(options.missing, Missing::Error | Missing::DropRow);
            columns.push(InputColumn {
                name: table.header.as_ref().map(|names| names[j].clone()),
                position: j,
                missing: fills.then_some(0.0),
                levels: category.then(Vec::new),
                reference: None,
                missing_level: None,
                unknown_as_zeros: category && options.unknown_level == UnknownLevel::Zeros,
                indicator: false,
            });
        }
    }
    if columns.is_empty() {
        let problem = Problem::new(Code::NO_FEATURES, Code::NO_FEATURES.title(), Place::file(file));
        return Err(problem.help("look at `features`, `drop`, `label` and `weight`").into());
    }
    let is_factor =
        |j: usize| columns.iter().any(|c: &InputColumn| c.position == j && c.levels.is_some());
    let references =
        References::new(options, expanded.as_ref(), table, (label, file), is_factor, |j| {
            columns.iter().any(|column| column.position == j)
        })?;
    let source = |position: usize| SourceColumn {
        name: table.header.as_ref().map(|names| names[position].clone()),
        position,
    };
    let map = InputMap {
        features: columns.len(),
        label: Some(source(label)),
        source_columns: Some(table.width),
        index_base: None,
        rest: false,
        drop_missing: options.missing == Missing::DropRow,
        kept: Vec::new(),
        weight: weight.map(source),
        columns,
        binarize: None,
        basis: None,
    };
    let parser = TablePlan {
        delimiter: table.delimiter,
        decimal_comma: table.decimal_comma,
        actions,
        numeric: numeric as usize,
        categories: categories as usize,
        missing: match options.missing {
            // Which cells are filled has to be known.
            Missing::Zero if options.missing_indicator => Missing::Mean,
            rule => rule,
        },
        allow_lossy: options.allow_lossy,
        keep_rejects: options.bad_rows == BadRows::Reject,
        keep_spans: false,
    };
    Ok(Plan {
        parser: ParserPlan::Table(parser),
        map,
        label: label_choice,
        settled: false,
        order: ColumnOrder::default(),
        binary64: table.first_line.is_none(),
        header: table.header.clone(),
        notes,
        by_position: false,
        marks_gaps: false,
        // Levels are counted when all rows have been read.
        few_levels: (options.categorical == Categorical::Auto)
            .then(|| (0..table.width).filter(|&j| asked(j)).collect()),
        references,
    })
}

/// Refuses a table in which a comma may be one thing or the other.
pub(super) fn check_comma(table: &Table, file: &str) -> Result<()> {
    let Some(number) = &table.unclear_comma else { return Ok(()) };
    let words = "a comma may be a decimal comma or a separator between thousands";
    Err(Problem::new(Code::NOT_A_NUMBER, words, Place::file(file))
        .value(number.as_bytes())
        .help("say `decimal=,` if it is a decimal comma, else write numbers without separators")
        .into())
}

/// Rows from which on a column that counts them is worth a word.
const COUNTED_ROWS: usize = 20;

fn counts_rows(table: &Table, column: usize) -> ColumnNote {
    let name = table.column_name(column);
    let words = format!(
        "column \"{name}\" counts the rows; if it is an index, leave it out with `drop` {}",
        spelled(&name, column)
    );
    ColumnNote { name, position: column, used: true, words }
}

/// Why a column had better be no feature, if there is a reason.
fn reason_to_leave_out(look: &Look, options: &ReadOptions) -> Option<String> {
    if look.is_nothing() {
        return Some("it is empty and has no name".into());
    }
    if look.stored_index {
        return Some("it is the index of a pandas data frame".into());
    }
    if look.is_index() {
        let what = if look.is_text() { "name" } else { "number" };
        return Some(format!("it looks like an index, with a different {what} in every row"));
    }
    if options.categorical != Categorical::Auto || !look.is_text() {
        return None;
    }
    if look.is_date() {
        return Some("it holds dates".into());
    }
    let amounts = look.form.is_some();
    (look.is_near_unique() && !amounts)
        .then(|| format!("it holds text, {} different ones in {} rows", look.distinct, look.values))
}

/// Whether a column becomes levels; an error where it is text without a rule.
fn is_category(
    table: &Table,
    look: &Look,
    column: usize,
    asked: bool,
    file: &str,
    options: &ReadOptions,
) -> Result<bool> {
    let is_text = look.is_text();
    let may_be = is_text || look.kind == ColumnType::Mixed;
    match options.categorical {
        Categorical::OneHot | Categorical::OneHotDrop => Ok(may_be),
        Categorical::Error if is_text => Err(text_column(table, look, column, file)),
        Categorical::Auto if is_text => match look.form.filter(|_| !asked) {
            Some(form) => Err(column_of(form, table, column, file)),
            None => Ok(true),
        },
        _ => Ok(false),
    }
}

/// Why the values of a column are no classes.
fn why_no_label(look: &Look) -> String {
    match look.kind {
        ColumnType::Empty => "is empty".into(),
        ColumnType::Real => "has numbers that are not whole".into(),
        _ if look.is_index() => "looks like an index".into(),
        ColumnType::Text if look.form.is_some() => {
            format!("holds {}", look.form.map_or("", Form::plural))
        }
        _ => format!("has {} different values in {} rows", look.distinct, look.values),
    }
}

/// The first value of a column and its place.
fn first_value(table: &Table, column: usize, file: &str) -> (String, Place) {
    let first = table
        .sample
        .iter()
        .position(|record| record.get(column).is_some_and(|field| !is_missing(field.as_bytes())));
    let value = first.map(|row| table.sample[row][column].clone()).unwrap_or_default();
    let place = Place {
        line: first.and_then(|row| Some(table.first_line? + row as u64)),
        row: first.map(|row| row as u64),
        field: Some((column as u64 + 1, table.header.as_ref().map(|names| names[column].clone()))),
        ..Place::file(file)
    };
    (value, place)
}

/// A column of texts that stand for numbers, which are not for us to take apart.
fn column_of(form: Form, table: &Table, column: usize, file: &str) -> Error {
    let (value, place) = first_value(table, column, file);
    let name = table.column_name(column);
    let words = format!("column \"{name}\" holds {}", form.plural());
    Problem::new(Code::TEXT_COLUMN, words, place)
        .value(value.as_bytes())
        .help(form.help(&spelled(&name, column)))
        .into()
}

fn text_column(table: &Table, look: &Look, column: usize, file: &str) -> Error {
    let (value, place) = first_value(table, column, file);
    let name = table.column_name(column);
    let problem = Problem::new(Code::TEXT_COLUMN, format!("column \"{name}\" holds text"), place)
        .value(value.as_bytes());
    let shell = spelled(&name, column);
    // One feature for each row would separate anything.
    let help = match (look.form, look.is_near_unique()) {
        (Some(form), _) => form.help(&shell),
        (None, true) => format!(
            "nearly every row has another text here, so it is no feature: leave it out with `drop` {shell}"
        ),
        (None, false) => {
            format!("encode it with `categorical=onehot`, or leave it out with `drop` {shell}")
        }
    };
    problem.help(help).into()
}

fn choose_label(
    table: &Table,
    looks: &[Look],
    file: &str,
    options: &ReadOptions,
) -> Result<(usize, LabelChoice)> {
    if let Some(column) = &options.label {
        let at = find_column(table, column, Code::NO_LABEL, file)?;
        return Ok((at, LabelChoice::Asked(table.column_name(at))));
    }
    let ambiguous = |words: &str, candidates: &[usize]| {
        let name = |&j: &usize| match looks[j].distinct {
            0 => table.column_name(j),
            1 => format!("{} (1 value)", table.column_name(j)),
            distinct => format!("{} ({distinct} values)", table.column_name(j)),
        };
        let names: Vec<String> = candidates.iter().take(12).map(name).collect();
        let help = match names.is_empty() {
            true => "choose with `label`; no column looks like classes".to_owned(),
            false => format!("choose with `label`; candidates: {}", names.join(", ")),
        };
        Problem::new(Code::AMBIGUOUS_LABEL, words, Place::file(file)).help(help)
    };
    let is_named =
        |j: usize| LABEL_NAMES.iter().any(|name| table.names()[j].eq_ignore_ascii_case(name));
    let mut named: Vec<usize> = (0..table.names().len()).filter(|&j| is_named(j)).collect();
    // y is a coordinate as often as a label, and gives way.
    let is_y = |j: usize| table.names()[j].eq_ignore_ascii_case("y");
    if named.len() > 1 || named.iter().any(|&j| looks[j].kind == ColumnType::Real) {
        named.retain(|&j| !is_y(j));
    }
    let of_two: Vec<usize> = (0..table.width)
        .filter(|&j| !named.contains(&j) && looks[j].distinct == 2 && looks[j].may_be_label())
        .collect();
    // What is called y or target but looks measured is no match for a column of two classes.
    let measured = |j: usize| looks[j].kind == ColumnType::Real && looks[j].is_near_unique();
    match (&named[..], &of_two[..]) {
        ([], _) => {}
        ([at], [other]) if measured(*at) => {
            return Ok((*other, LabelChoice::Only(table.column_name(*other))));
        }
        ([at], _) => return Ok((*at, LabelChoice::Named(table.column_name(*at)))),
        _ => return Err(ambiguous("several columns could be the label", &named).into()),
    }
    let last = looks.iter().rposition(|look| !look.is_nothing() && !look.stored_index).unwrap_or(0);
    let of_classes = |j: usize| {
        matches!(looks[j].kind, ColumnType::Text | ColumnType::Integer | ColumnType::Mixed)
            && looks[j].may_be_label()
    };
    if of_classes(last) {
        return Ok((last, LabelChoice::Last(table.column_name(last))));
    }
    let candidates: Vec<usize> =
        (0..table.width).filter(|&j| of_classes(j) && looks[j].repeats()).collect();
    match candidates[..] {
        [only] => Ok((only, LabelChoice::Only(table.column_name(only)))),
        _ => {
            let words = format!(
                "no column is clearly the label; the last one, \"{}\", {}",
                table.column_name(last),
                why_no_label(&looks[last])
            );
            Err(ambiguous(&words, &candidates).into())
        }
    }
}

pub(super) fn find_column(
    table: &Table,
    column: &ColumnRef,
    code: Code,
    file: &str,
) -> Result<usize> {
    match column {
        ColumnRef::Number(number) if *number < table.width => Ok(*number),
        ColumnRef::Number(_) => Err(no_column(code, &describe(column), table.names(), file)),
        ColumnRef::Name(name) => match find_name(&table.written_names, name, file)? {
            Some(at) => Ok(at),
            None if name == "first" => Ok(0),
            None if name == "last" => Ok(table.width - 1),
            None => Err(no_column(code, name, table.names(), file)),
        },
    }
}

fn find_columns(table: &Table, ranges: &[ColumnRange], file: &str) -> Result<Vec<usize>> {
    let mut columns = Vec::new();
    for range in ranges {
        match range {
            ColumnRange::One(column) => {
                columns.push(find_column(table, column, Code::NO_COLUMN, file)?);
            }
            ColumnRange::Numbers(from, to) if *to < table.width => columns.extend(*from..=*to),
            ColumnRange::Numbers(_, to) => {
                let wanted = describe(&ColumnRef::Number(*to));
                return Err(no_column(Code::NO_COLUMN, &wanted, table.names(), file));
            }
        }
    }
    Ok(columns)
}

pub(super) fn describe(column: &ColumnRef) -> String {
    match column {
        ColumnRef::Name(name) => name.clone(),
        ColumnRef::Number(number) => format!("#{}", number + 1),
    }
}
