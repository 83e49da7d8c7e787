//! From what a file is and what was asked for to what the parser does with every column.

use super::choose::{ColumnNote, check_comma, describe, find_column, plan_table};
use super::chosen::References;
use super::csv::{Action, TablePlan};
use super::options::{ColumnRange, ColumnRef, Missing, ReadOptions};
use super::sniff::{LABEL_NAMES, Sniffed, SniffedKind, Table};
use super::svmlight::{Selection, SvmPlan};
use crate::error::{Code, Place, Problem, Result, printable};
use crate::input::{ColumnOrder, InputMap, Layout, SourceColumn, find_name, no_column};

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
    /// The file holds binary numbers, so that their reading is binary64 unless another is asked for.
    pub(crate) binary64: bool,
    /// The names of the file's columns.
    pub(crate) header: Option<Vec<String>>,
    /// What was decided about columns without being asked.
    pub(crate) notes: Vec<ColumnNote>,
    /// Columns were matched by position with those of a model.
    pub(crate) by_position: bool,
    /// Rows with gaps are handed on and marked, though the model has nothing to fill them with.
    pub(crate) marks_gaps: bool,
    /// Text columns with many levels are left out, but for those at these positions.
    pub(crate) few_levels: Option<Vec<usize>>,
    /// Which levels of text columns have no feature.
    pub(crate) references: References,
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
    /// The only column that may hold classes.
    Only(String),
}

impl LabelChoice {
    /// The column that holds the labels, if it has a name.
    pub fn column(&self) -> Option<&str> {
        match self {
            LabelChoice::None | LabelChoice::First => None,
            LabelChoice::Asked(name)
            | LabelChoice::Named(name)
            | LabelChoice::Last(name)
            | LabelChoice::Only(name) => Some(name),
        }
    }
}

impl std::fmt::Display for LabelChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = |name: &str| printable(name.as_bytes(), 40);
        match self {
            LabelChoice::None => f.write_str("no label"),
            LabelChoice::First => f.write_str("label: first in each line"),
            LabelChoice::Asked(name) => write!(f, "label: {}", shown(name)),
            LabelChoice::Named(name) => {
                write!(f, "label: {} (auto-detected by its name)", shown(name))
            }
            LabelChoice::Last(name) => {
                write!(f, "label: {} (auto-detected: the last column)", shown(name))
            }
            LabelChoice::Only(name) => {
                write!(
                    f,
                    "label: {} (auto-detected: the only column that looks like classes)",
                    shown(name)
                )
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
                binary64: false,
                header: None,
                notes: Vec::new(),
                few_levels: None,
                references: References::default(),
                by_position: false,
                marks_gaps: false,
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
    super::chosen::check_indices(options, file)?;
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
        binary64: false,
        header: None,
        notes: Vec::new(),
        few_levels: None,
        references: References::default(),
        by_position: false,
        marks_gaps: false,
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

fn plan_table_for_model(
    table: &Table,
    file: &str,
    options: &ReadOptions,
    map: &InputMap,
    need_label: bool,
) -> Result<Plan> {
    check_comma(table, file)?;
    let mut label = match (&options.label, &map.label) {
        (Some(column), _) => Some(find_column(table, column, Code::NO_LABEL, file)?),
        (None, Some(SourceColumn { name: Some(name), .. })) if table.header.is_some() => {
            find_name(table.names(), name, file)?
        }
        _ => None,
    };
    let by_names = map.has_names() && table.header.is_some();
    let positions = if by_names {
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
        let told = options.label.is_some() || need_label;
        by_position(table, file, map, &mut label, (need_label, told))?
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
    let weight = match &options.weight {
        Some(column) => Some(find_column(table, column, Code::NO_COLUMN, file)?),
        None => weight_position(table, map, need_label),
    };
    if let Some(at) = weight {
        if actions[at] != Action::Skip {
            let words = "the column of row weights is a feature or the label of the model";
            return Err(Problem::new(Code::BAD_WEIGHT, words, Place::file(file)).into());
        }
        actions[at] = Action::Weight;
    }
    let marks_gaps = options.mark_gaps && map.drop_missing && !need_label;
    let fills = map.columns.iter().any(|column| column.missing.is_some());
    let parser = TablePlan {
        delimiter: table.delimiter,
        decimal_comma: table.decimal_comma,
        actions,
        numeric,
        categories,
        // Every gap is noted, and filled with the value that the model holds.
        missing: match options.missing {
            Missing::DropRow => Missing::DropRow,
            _ if fills || marks_gaps => Missing::Mean,
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
        binary64: table.first_line.is_none(),
        header: table.header.clone(),
        notes: Vec::new(),
        few_levels: None,
        references: References::default(),
        by_position: !by_names,
        marks_gaps,
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
    (need_label, told): (bool, bool),
) -> Result<Vec<usize>> {
    let trained_label = map.label.as_ref().map(|label| label.position);
    let used: Vec<usize> = if map.columns.is_empty() {
        (0..map.features).collect()
    } else {
        map.columns.iter().map(|column| column.position).collect()
    };
    let source = map.source_columns.unwrap_or(map.features + usize::from(label.is_some()));
    if let Some(at) = trained_label
        && map.source_columns == Some(table.width)
        && !told
    {
        let words =
            format!("the {} columns fit the model only if the label is among them", table.width);
        return Err(Problem::new(Code::WIDTH, words, Place::file(file))
            .help(format!(
                "columns without names are matched by position: say where the label is with `label` '#{}', or leave it out of the file",
                at + 1
            ))
            .into());
    }
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
