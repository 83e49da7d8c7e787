//! From what a file is and what was asked for to what the parser does with every column.

use super::csv::{Action, TablePlan};
use super::options::{Categorical, ColumnRange, ColumnRef, Missing, ReadOptions};
use super::sniff::{ColumnType, LABEL_NAMES, Sniffed, SniffedKind, Table};
use super::svmlight::{Selection, SvmPlan};
use crate::error::{Code, Error, Place, Problem, Result};
use crate::input::{
    ColumnOrder, InputColumn, InputMap, Layout, SourceColumn, find_name, no_column,
};

/// What the parser does, and what that choice was.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) parser: ParserPlan,
    /// The columns that become features. Levels and fill values are still open after reading.
    pub(crate) map: InputMap,
    /// How the label was chosen.
    pub(crate) label: LabelChoice,
    /// Levels and fill values are in the map already.
    pub(crate) settled: bool,
    /// The order of the file's columns, where it is not that of the map.
    pub(crate) order: ColumnOrder,
    /// The names of the file's columns.
    pub(crate) header: Option<Vec<String>>,
}

impl Plan {
    /// Where parsed columns go.
    pub(crate) fn layout(&self) -> Layout {
        self.map.layout().in_order(&self.order)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum ParserPlan {
    Table(TablePlan),
    Svmlight(SvmPlan),
}

/// How the label column was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelChoice {
    /// There is none.
    None,
    /// The format has a fixed place for it.
    First,
    /// By `label`.
    Asked(String),
    /// By its name.
    Named(String),
    /// The last column, because nothing else was said.
    Last(String),
}

impl std::fmt::Display for LabelChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LabelChoice::None => f.write_str("no label"),
            LabelChoice::First => f.write_str("label first in each line"),
            LabelChoice::Asked(name) => write!(f, "label \"{name}\" (as asked)"),
            LabelChoice::Named(name) => {
                write!(f, "label \"{name}\" (by its name; change with `label`)")
            }
            LabelChoice::Last(name) => {
                write!(f, "label \"{name}\" (last column; change with `label`)")
            }
        }
    }
}

/// Plans for learning: everything is decided from the file and the options.
pub(crate) fn for_training(sniffed: &Sniffed, file: &str, options: &ReadOptions) -> Result<Plan> {
    match &sniffed.kind {
        SniffedKind::Table(table) => plan_table(table, file, options),
        SniffedKind::Svmlight { base } => plan_svmlight(*base, file, options),
    }
}

/// Plans for using a model: the map says which columns are needed.
pub(crate) fn for_model(
    sniffed: &Sniffed,
    file: &str,
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
) -> Result<Plan> {
    match &sniffed.kind {
        SniffedKind::Table(table) => plan_table_for_model(table, file, options, map, need_label),
        SniffedKind::Svmlight { base } => {
            if map.columns.iter().any(|column| column.levels.is_some()) {
                return Err(Problem::new(
                    Code::WRONG_FORMAT,
                    "the model has text columns, which svmlight cannot hold",
                    Place::file(file),
                )
                .help("give the data as a table with the columns of training")
                .into());
            }
            let base = match (options.index_base, map.index_base) {
                (Some(base), _) => (base, false),
                (None, Some(stored)) => (stored, false),
                (None, None) => *base,
            };
            let parser = SvmPlan {
                base: u32::from(base.0),
                base_guessed: base.1,
                selection: Selection::of_ranges(&map.kept),
                width: Some(map.features),
                labels_optional: !need_label,
                allow_lossy: options.allow_lossy,
                keep_rejects: options.bad_rows == super::options::BadRows::Reject,
            };
            Ok(Plan {
                parser: ParserPlan::Svmlight(parser),
                map: map.clone(),
                label: LabelChoice::First,
                settled: true,
                order: ColumnOrder::default(),
                header: None,
            })
        }
    }
}

fn plan_svmlight(base: (u8, bool), file: &str, options: &ReadOptions) -> Result<Plan> {
    let first = |column: &ColumnRef| {
        *column == ColumnRef::Number(0) || *column == ColumnRef::Name("first".into())
    };
    if let Some(label) = options.label.as_ref().filter(|label| !first(label)) {
        let wanted = describe(label);
        return Err(no_column(Code::NO_LABEL, &wanted, &[], file));
    }
    if let Some(weight) = &options.weight {
        return Err(no_column(Code::NO_COLUMN, &describe(weight), &[], file));
    }
    let parser = SvmPlan {
        base: u32::from(base.0),
        base_guessed: base.1,
        selection: select_indices(file, options)?,
        width: None,
        labels_optional: false,
        allow_lossy: options.allow_lossy,
        keep_rejects: options.bad_rows == super::options::BadRows::Reject,
    };
    let kept = parser.selection.as_ref().map_or_else(Vec::new, Selection::ranges);
    let map = InputMap { index_base: Some(base.0), kept, ..InputMap::plain(0) };
    Ok(Plan {
        parser: ParserPlan::Svmlight(parser),
        map,
        label: LabelChoice::First,
        settled: false,
        order: ColumnOrder::default(),
        header: None,
    })
}

/// `features` and `drop` on plain indices.
fn select_indices(file: &str, options: &ReadOptions) -> Result<Option<Selection>> {
    if options.features.is_empty() && options.drop.is_empty() {
        return Ok(None);
    }
    let ranges = |list: &[ColumnRange]| -> Result<Vec<std::ops::Range<u32>>> {
        let mut ranges = Vec::new();
        for range in list {
            let (from, to) = match range {
                ColumnRange::Numbers(from, to) => (*from, *to),
                ColumnRange::One(ColumnRef::Number(number)) => (*number, *number),
                ColumnRange::One(name) => {
                    return Err(no_column(Code::NO_COLUMN, &describe(name), &[], file));
                }
            };
            let end = u32::try_from(to).unwrap_or(u32::MAX - 1).saturating_add(1);
            ranges.push(u32::try_from(from).unwrap_or(u32::MAX - 1)..end);
        }
        ranges.sort_by_key(|range| range.start);
        Ok(ranges)
    };
    let wanted = ranges(&options.features)?;
    let dropped = ranges(&options.drop)?;
    // The ends of all ranges cut the line of columns into stretches that are kept or not as a whole.
    let mut cuts: Vec<u32> =
        wanted.iter().chain(&dropped).flat_map(|range| [range.start, range.end]).collect();
    cuts.extend([0, u32::MAX]);
    cuts.sort_unstable();
    cuts.dedup();
    let mut kept = Vec::new();
    let mut next = 0;
    for pair in cuts.windows(2) {
        let inside = |ranges: &[std::ops::Range<u32>]| ranges.iter().any(|r| r.contains(&pair[0]));
        if (wanted.is_empty() || inside(&wanted)) && !inside(&dropped) {
            kept.push((pair[0]..pair[1], next));
            next += pair[1] - pair[0];
        }
    }
    Ok(Some(Selection(kept)))
}

fn plan_table(table: &Table, file: &str, options: &ReadOptions) -> Result<Plan> {
    if table.width == 1 && table.sample.len() > 1 {
        return Err(Problem::new(
            Code::NO_FEATURES,
            "the table has one column only",
            Place::file(file),
        )
        .help("the delimiter may be another one: see `delimiter`")
        .into());
    }
    let (label, label_choice) = choose_label(table, file, options)?;
    let weight = match &options.weight {
        Some(column) => Some(find_column(table, column, Code::NO_COLUMN, file)?),
        None => None,
    };
    let wanted = find_columns(table, &options.features, file)?;
    let dropped = find_columns(table, &options.drop, file)?;
    let mut actions = vec![Action::Skip; table.width];
    let mut columns = Vec::new();
    let (mut numeric, mut categories) = (0, 0);
    for (j, action) in actions.iter_mut().enumerate() {
        if j == label {
            *action = Action::Label;
        } else if Some(j) == weight {
            *action = Action::Weight;
        } else if (wanted.is_empty() || wanted.contains(&j)) && !dropped.contains(&j) {
            let column_type = table.column_type(j);
            let is_text = matches!(column_type, ColumnType::Text | ColumnType::Mixed);
            let category = is_text && options.categorical == Categorical::OneHot;
            if column_type == ColumnType::Text && !category {
                return Err(text_column(table, j, file));
            }
            if category {
                *action = Action::Category(categories);
                categories += 1;
            } else {
                *action = Action::Number(numeric);
                numeric += 1;
            }
            columns.push(InputColumn {
                name: table.header.as_ref().map(|names| names[j].clone()),
                position: j,
                missing: matches!(options.missing, Missing::Zero | Missing::Mean).then_some(0.0),
                levels: category.then(Vec::new),
                unknown_as_zeros: category
                    && options.unknown_level == super::options::UnknownLevel::Zeros,
            });
        }
    }
    if columns.is_empty() {
        let problem = Problem::new(Code::NO_FEATURES, Code::NO_FEATURES.title(), Place::file(file));
        return Err(problem.help("look at `features`, `drop`, `label` and `weight`").into());
    }
    let map = InputMap {
        features: columns.len(),
        label: Some(SourceColumn {
            name: table.header.as_ref().map(|names| names[label].clone()),
            position: label,
        }),
        source_columns: Some(table.width),
        index_base: None,
        rest: false,
        drop_missing: options.missing == Missing::DropRow,
        kept: Vec::new(),
        weight: weight.map(|position| SourceColumn {
            name: table.header.as_ref().map(|names| names[position].clone()),
            position,
        }),
        columns,
        binarize: None,
        basis: None,
    };
    let parser = TablePlan {
        delimiter: table.delimiter,
        actions,
        numeric: numeric as usize,
        categories: categories as usize,
        missing: options.missing,
        allow_lossy: options.allow_lossy,
        keep_rejects: options.bad_rows == super::options::BadRows::Reject,
        keep_spans: false,
    };
    Ok(Plan {
        parser: ParserPlan::Table(parser),
        map,
        label: label_choice,
        settled: false,
        order: ColumnOrder::default(),
        header: table.header.clone(),
    })
}

fn text_column(table: &Table, column: usize, file: &str) -> Error {
    let first = table.sample.iter().position(|record| {
        record.get(column).is_some_and(|field| !crate::table::labels::is_missing(field.as_bytes()))
    });
    let value = first.map(|row| table.sample[row][column].clone()).unwrap_or_default();
    let place = Place {
        line: first.map(|row| table.first_line + row as u64),
        row: first.map(|row| row as u64),
        field: Some((column as u64 + 1, table.header.as_ref().map(|names| names[column].clone()))),
        ..Place::file(file)
    };
    let name = table.column_name(column);
    Problem::new(Code::TEXT_COLUMN, format!("column \"{name}\" holds text"), place)
        .value(value.as_bytes())
        .help(format!("encode it with `categorical=onehot`, or leave it out with `drop` {name}"))
        .into()
}

fn choose_label(table: &Table, file: &str, options: &ReadOptions) -> Result<(usize, LabelChoice)> {
    if let Some(column) = &options.label {
        let at = find_column(table, column, Code::NO_LABEL, file)?;
        return Ok((at, LabelChoice::Asked(table.column_name(at))));
    }
    let named: Vec<usize> = (0..table.names().len())
        .filter(|&j| LABEL_NAMES.iter().any(|name| table.names()[j].eq_ignore_ascii_case(name)))
        .collect();
    let ambiguous = |words: &str, candidates: &[usize]| {
        let names: Vec<String> = candidates.iter().map(|&j| table.column_name(j)).collect();
        Problem::new(Code::AMBIGUOUS_LABEL, words, Place::file(file))
            .help(format!("choose with `label`; candidates: {}", names.join(", ")))
    };
    match named[..] {
        [] => {}
        [at] => return Ok((at, LabelChoice::Named(table.column_name(at)))),
        _ => return Err(ambiguous("several columns could be the label", &named).into()),
    }
    let last = table.width - 1;
    match table.column_type(last) {
        ColumnType::Text | ColumnType::Integer | ColumnType::Mixed => {
            Ok((last, LabelChoice::Last(table.column_name(last))))
        }
        _ => {
            let candidates: Vec<usize> = (0..table.width)
                .filter(|&j| matches!(table.column_type(j), ColumnType::Text | ColumnType::Integer))
                .take(12)
                .collect();
            Err(ambiguous("no column is clearly the label", &candidates).into())
        }
    }
}

fn find_column(table: &Table, column: &ColumnRef, code: Code, file: &str) -> Result<usize> {
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

fn describe(column: &ColumnRef) -> String {
    match column {
        ColumnRef::Name(name) => name.clone(),
        ColumnRef::Number(number) => format!("#{}", number + 1),
    }
}

fn plan_table_for_model(
    table: &Table,
    file: &str,
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
) -> Result<Plan> {
    let mut label = match (&options.label, &map.label) {
        (Some(column), _) => Some(find_column(table, column, Code::NO_LABEL, file)?),
        (None, Some(SourceColumn { name: Some(name), .. })) if table.header.is_some() => {
            find_name(table.names(), name, file)?
        }
        _ => None,
    };
    let positions = if map.has_names() && table.header.is_some() {
        let mut positions = Vec::new();
        for column in &map.columns {
            let Some(name) = &column.name else { continue };
            // A name that stands twice is clear only in a table laid out like that of training.
            let same_place = Some(table.width) == map.source_columns
                && table.names().get(column.position) == Some(name);
            if !same_place {
                find_name(&table.written_names, name, file)?;
            }
            match find_name(table.names(), name, file)? {
                Some(at) => positions.push(at),
                None => return Err(no_column(Code::NO_COLUMN, name, table.names(), file)),
            }
        }
        positions
    } else {
        by_position(table, file, map, &mut label, need_label)?
    };
    if need_label && label.is_none() {
        let wanted = map.label.as_ref().and_then(|label| label.name.clone());
        let wanted = wanted.unwrap_or_else(|| "label".into());
        return Err(no_column(Code::NO_LABEL, &wanted, table.names(), file));
    }
    let mut actions = vec![Action::Skip; table.width];
    // Columns are numbered as the file has them, so that the values of a row come in rising order.
    let is_category = |k: usize| map.columns.get(k).is_some_and(|column| column.levels.is_some());
    let mut counts = [0; 2];
    let ranks: Vec<usize> = (0..positions.len())
        .map(|k| {
            let count = &mut counts[usize::from(is_category(k))];
            *count += 1;
            *count - 1
        })
        .collect();
    let mut in_file: Vec<usize> = (0..positions.len()).collect();
    in_file.sort_by_key(|&k| positions[k]);
    let mut order = ColumnOrder::default();
    for &k in &in_file {
        let (list, action): (_, fn(u32) -> Action) = match is_category(k) {
            true => (&mut order.categories, Action::Category),
            false => (&mut order.numeric, Action::Number),
        };
        actions[positions[k]] = action(list.len() as u32);
        list.push(ranks[k]);
    }
    let (numeric, categories) = (order.numeric.len(), order.categories.len());
    if let Some(at) = label {
        actions[at] = Action::Label;
    }
    if let Some(at) = weight_position(table, map, need_label) {
        actions[at] = Action::Weight;
    }
    let fills = map.columns.iter().any(|column| column.missing.is_some());
    let parser = TablePlan {
        delimiter: table.delimiter,
        actions,
        numeric,
        categories,
        // Every gap is noted, and filled with the value that the model holds.
        missing: match options.missing {
            Missing::DropRow => Missing::DropRow,
            _ if fills => Missing::Mean,
            _ => Missing::Error,
        },
        allow_lossy: options.allow_lossy,
        keep_rejects: options.bad_rows == super::options::BadRows::Reject,
        keep_spans: true,
    };
    let label = match label {
        Some(at) => LabelChoice::Named(table.column_name(at)),
        None => LabelChoice::None,
    };
    Ok(Plan {
        parser: ParserPlan::Table(parser),
        map: map.clone(),
        label,
        settled: true,
        order,
        header: table.header.clone(),
    })
}

/// The weight column of the training file, where it is needed and still there.
fn weight_position(table: &Table, map: &InputMap, need_label: bool) -> Option<usize> {
    let weight = map.weight.as_ref().filter(|_| need_label)?;
    match &weight.name {
        Some(name) if table.header.is_some() => table.names().iter().position(|n| n == name),
        _ => Some(weight.position)
            .filter(|at| Some(table.width) == map.source_columns && *at < table.width),
    }
}

/// Matches columns by their order, where one side has no names.
fn by_position(
    table: &Table,
    file: &str,
    map: &InputMap,
    label: &mut Option<usize>,
    need_label: bool,
) -> Result<Vec<usize>> {
    let trained_label = map.label.as_ref().map(|label| label.position);
    let used: Vec<usize> = if map.columns.is_empty() {
        (0..map.features).collect()
    } else {
        map.columns.iter().map(|column| column.position).collect()
    };
    let source = map.source_columns.unwrap_or(map.features + usize::from(label.is_some()));
    if map.source_columns.is_some() && table.width == source {
        *label = label.or(trained_label);
        return Ok(used);
    }
    if map.source_columns.is_some() && table.width + 1 == source && !need_label {
        // The same table without its label column.
        let before = |at: usize| usize::from(trained_label.is_some_and(|label| label < at));
        return Ok(used.into_iter().map(|at| at - before(at)).collect());
    }
    if map.source_columns.is_none() {
        // A model of plain indices: the columns in order, the label apart from them.
        if label.is_none() && (need_label || table.width == map.features + 1) {
            *label = (0..table.names().len())
                .find(|&j| {
                    LABEL_NAMES.iter().any(|name| table.names()[j].eq_ignore_ascii_case(name))
                })
                .or((table.width == map.features + 1).then_some(0));
        }
        let columns: Vec<usize> = (0..table.width).filter(|&j| Some(j) != *label).collect();
        if columns.len() == map.features {
            return Ok(columns);
        }
    }
    Err(Problem::new(
        Code::WIDTH,
        format!("the table has {} columns, the model needs {} features", table.width, map.features),
        Place::file(file),
    )
    .help("give the columns of the training file in their order, with or without the label")
    .into())
}
