//! Blocks become one data set: classes are numbered, categories become columns, gaps are filled.

use super::Categorical;
use super::block::Block;
use super::choose::ColumnNote;
use super::chosen::References;
use super::columns::MOST_LEVELS;
use super::csv::NO_LEVEL;
use super::long::{LongColumn, LongColumns};
use super::number;
use super::options::{BadRows, Missing, ReadOptions, ReadingChoice};
use super::plan::{LabelChoice, Plan};
use super::{FilledGaps, fill};
use crate::error::{Code, DataError, Error, Place, Problem, Result, printable};
use crate::input::{InputColumn, InputMap, Layout};
use crate::matrix::profile::NO_PLACES;
use crate::matrix::{Stage, Staging, Store};
use crate::table::labels::{Dictionary, MAX_CLASSES, Parts, assemble};
use crate::{Dataset, Origin, Reading};
use std::collections::{BTreeMap, BTreeSet};

/// More distinct numbers than this in a label that nobody asked for are not classes.
const MAX_GUESSED_CLASSES: usize = 50;

/// After this many bad rows nobody needs an exact count.
const MAX_BAD: u64 = 10_000;

/// Rows are numbered with 32 bits.
const MAX_ROWS: u64 = u32::MAX as u64 - 1;

/// Columns whose long numbers are described; of more, nobody reads the rest.
const DESCRIBED: usize = 1 << 16;

/// Rows that are put together in one go when columns are made anew.
const ROWS_AT_ONCE: usize = 4096;

/// Everything that has been read so far.
pub(crate) struct Collector {
    store: Store,
    categories: Vec<Dictionary>,
    missing: Vec<(u64, u32)>,
    labels: Dictionary,
    weights: Vec<f64>,
    long_columns: LongColumns,
    origin: Origin,
    lines: u64,
    facts: Facts,
    problems: Vec<Problem>,
    rejects: Vec<u8>,
    file: String,
    /// Whether there are rows before or behind these.
    is_part: bool,
}

/// Counts of what happened while reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) records: u64,
    pub(crate) bad: u64,
    /// Those of them that only lack values.
    pub(crate) bad_missing: u64,
    /// The gaps of each field in such rows.
    pub(crate) gaps: BTreeMap<usize, u64>,
    pub(crate) dropped: u64,
    pub(crate) query_ids: bool,
    /// Entries outside the columns of a given map.
    pub(crate) outside: u64,
    pub(crate) filled: Vec<FilledGaps>,
    /// Columns that are binary64 because of numbers that the decimal reading does not cover.
    pub(crate) long: Vec<LongColumn>,
    /// What was decided about columns when all rows had been read.
    pub(crate) columns: Vec<ColumnNote>,
}

impl Collector {
    pub(crate) fn new(categories: usize) -> Collector {
        Collector {
            store: Store::empty(),
            categories: (0..categories).map(|_| Dictionary::default()).collect(),
            missing: Vec::new(),
            labels: Dictionary::default(),
            weights: Vec::new(),
            long_columns: LongColumns::default(),
            origin: Origin::default(),
            lines: 0,
            facts: Facts::default(),
            problems: Vec::new(),
            rejects: Vec::new(),
            file: String::new(),
            is_part: false,
        }
    }

    /// The next blocks come from this file, whose data starts after `skipped` lines.
    pub(crate) fn start_file(&mut self, name: &str, skipped: u64) {
        self.origin.start_file(self.store.rows() as u64, name);
        self.file = name.to_owned();
        self.lines = skipped;
    }

    /// There will be so many times as many entries as there are.
    pub(crate) fn expect(&mut self, times: f64) {
        self.store.expect(times);
    }

    /// Adds a block; false when there is no point in going on.
    pub(crate) fn add(&mut self, block: Block, plan: &Plan, options: &ReadOptions) -> Result<bool> {
        let row = self.store.rows() as u64;
        for mut problem in block.bad.problems {
            if self.problems.len() < 5 {
                locate(&mut problem, &self.file, self.lines, self.facts.records, plan);
                self.problems.push(problem);
            }
        }
        for (first, line) in block.lines {
            self.origin.jump(row + first, self.lines + line + 1);
        }
        self.lines += block.line_count;
        self.facts.records += block.records;
        self.facts.bad += block.bad.count;
        self.facts.bad_missing += block.bad.missing;
        for (field, count) in block.gaps {
            *self.facts.gaps.entry(field).or_default() += count;
        }
        self.facts.dropped += block.dropped;
        self.facts.query_ids |= block.query_ids;
        self.facts.outside += block.outside;
        self.rejects.extend_from_slice(&block.bad.text);
        if self.facts.bad > 0 && options.bad_rows == BadRows::Error {
            // Only the count is still of interest.
            return Ok(self.facts.bad < MAX_BAD);
        }
        self.missing.extend(block.missing.iter().map(|&(r, column)| (row + r as u64, column)));
        self.labels.append(&block.labels);
        self.weights.extend_from_slice(&block.weights);
        for (mine, theirs) in self.categories.iter_mut().zip(&block.categories) {
            mine.append(theirs);
        }
        self.long_columns.append(&block.long_columns, row);
        self.store.append(block.store);
        if self.store.rows() as u64 > MAX_ROWS {
            let words = format!("there are more than {MAX_ROWS} rows");
            let problem = Problem::new(Code::SHAPE, words, Place::file(self.file.clone()));
            return Err(problem.help("take a part of them with `limit`").into());
        }
        if self.labels.names.len() > MAX_CLASSES {
            return Err(many_classes(&plan.label, &self.file));
        }
        check_memory(self.bytes(), options)?;
        Ok(true)
    }

    /// The next blocks are a part of this file, after so many lines and with what happened before.
    pub(crate) fn start_part(&mut self, name: &str, lines: u64, facts: Facts) {
        self.start_file(name, lines);
        self.facts = facts;
        self.is_part = true;
    }

    pub(crate) fn rows(&self) -> usize {
        self.store.rows()
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What all of it takes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        let categories: usize = self.categories.iter().map(|c| 4 * c.codes.len()).sum();
        let small = 4 * self.labels.codes.len() + 8 * self.weights.len() + categories;
        self.store.memory_bytes() + (small + 16 * self.missing.len() + self.rejects.len()) as u64
    }

    /// The data set, what happened, and the text of rejected rows.
    pub(crate) fn finish(
        mut self,
        plan: Plan,
        options: &ReadOptions,
    ) -> Result<(Dataset, Facts, Vec<u8>)> {
        self.check_bad_rows(&plan, options)?;
        if self.store.rows() == 0 {
            return Err(no_rows(&self.file));
        }
        check_guessed_label(&plan.label, &self.labels, &self.file)?;
        let (order, plan_binary64) = (plan.order.clone(), plan.binary64);
        let mut map = plan.map;
        if let Some(kept) = &plan.few_levels {
            self.settle_levels(&mut map, kept, &plan.references)?;
        }
        let long = std::mem::take(&mut self.long_columns);
        let mut kept = long.numbers();
        let mut describe = |column: u32, feature: u32| {
            let numbers = kept.remove(&column).unwrap_or_default();
            LongColumn::new(feature, long.count(column), numbers)
        };
        let (binary64, columns): (Vec<u32>, Vec<LongColumn>);
        if map.columns.is_empty() {
            map.features = map.features.max(self.store.width());
            self.store.widen_to(map.features);
            binary64 = long.iter().collect();
            columns = long.iter().take(DESCRIBED).map(|column| describe(column, column)).collect();
        } else {
            if !plan.settled {
                self.fill_map(&mut map, options, &plan.references)?;
            }
            let layout = map.layout().in_order(&order);
            let feature =
                |column: u32| Some((column, layout.numeric.get(column as usize)?.feature));
            let features = long.iter().filter_map(feature);
            let mut exceptions: BTreeMap<u32, LongColumn> =
                features.map(|(column, feature)| (feature, describe(column, feature))).collect();
            let mut filled: BTreeMap<u32, u64> = BTreeMap::new();
            for &(_, column) in &self.missing {
                *filled.entry(column).or_default() += 1;
            }
            for (column, count) in filled {
                let column = &layout.numeric[column as usize];
                let feature = map.feature_name(column.feature as usize);
                let value = column.missing.unwrap_or(0.0);
                self.facts.filled.push(FilledGaps { feature, value, count });
                // A mean is seldom a short decimal; its column is then read as binary64.
                if number::places_of(value) == NO_PLACES {
                    let fresh = || LongColumn::new(column.feature, 0, Vec::new());
                    let exception = exceptions.entry(column.feature).or_insert_with(fresh);
                    exception.filled = Some((value, count));
                }
            }
            binary64 = exceptions.keys().copied().collect();
            columns = exceptions.into_values().take(DESCRIBED).collect();
            let categories = std::mem::take(&mut self.categories);
            let store = std::mem::replace(&mut self.store, Store::empty());
            self.store = lay_out(store, &categories, &self.missing, &layout)
                .map_err(|fault| fault.problem(&map, Place::file(self.file.clone())))?;
            self.store.widen_to(map.features);
        }
        let reading = match options.reading {
            ReadingChoice::Auto if plan_binary64 => {
                Reading { decimal: false, binary64: Vec::new() }
            }
            ReadingChoice::Binary64 => Reading { decimal: false, binary64: Vec::new() },
            _ => Reading { decimal: true, binary64 },
        };
        if reading.decimal {
            self.facts.long = described(columns, &self.store, &map);
        }
        let parts = Parts {
            store: self.store,
            labels: self.labels,
            weights: (!self.weights.is_empty()).then_some(self.weights),
            input: map,
            reading,
            origin: self.origin,
            positive: options.positive.clone(),
            file: self.file,
            is_part: self.is_part,
        };
        Ok((assemble(parts)?, self.facts, self.rejects))
    }

    /// Leaves out text columns with many levels, but for those that were asked for; says of the others that
    /// they became levels.
    fn settle_levels(
        &mut self,
        map: &mut InputMap,
        kept: &[usize],
        references: &References,
    ) -> Result<()> {
        let mut categories = std::mem::take(&mut self.categories).into_iter();
        let mut columns = Vec::new();
        for column in std::mem::take(&mut map.columns) {
            let texts = column.levels.as_ref().and_then(|_| categories.next());
            let Some(texts) = texts else {
                columns.push(column);
                continue;
            };
            let (count, position) = (texts.names.len(), column.position);
            let name = column.name.clone().filter(|name| !name.is_empty());
            let name = name.unwrap_or_else(|| format!("#{}", position + 1));
            if count <= MOST_LEVELS || kept.contains(&position) {
                if !references.concern(position) {
                    self.facts.columns.push(ColumnNote::one_hot(&name, position, count));
                }
                self.categories.push(texts);
                columns.push(column);
            } else {
                let why = format!("it holds text, {count} different ones");
                self.facts.columns.push(ColumnNote::left_out(&name, position, &why));
            }
        }
        if columns.is_empty() {
            let words = "no column is left: all others hold text with many levels";
            let problem = Problem::new(Code::NO_FEATURES, words, Place::file(self.file.clone()));
            return Err(problem.help("use one all the same with `keep`").into());
        }
        map.columns = columns;
        Ok(())
    }

    fn check_bad_rows(&mut self, plan: &Plan, options: &ReadOptions) -> Result<()> {
        let allowed = match options.bad_rows {
            BadRows::Error => 0,
            BadRows::Skip => options.allow_bad.unwrap_or(0),
            BadRows::Reject => options.allow_bad.unwrap_or(u64::MAX),
        };
        if self.facts.bad <= allowed {
            return Ok(());
        }
        if self.facts.bad == self.facts.bad_missing
            && let Some(first) = self.problems.first_mut()
        {
            name_gaps(first, &self.facts, plan);
            self.problems.truncate(1);
        }
        Err(Error::Data(Box::new(DataError {
            problems: std::mem::take(&mut self.problems),
            bad_rows: self.facts.bad,
            rows: self.facts.records,
            more: options.bad_rows == BadRows::Error && self.facts.bad >= MAX_BAD,
        })))
    }

    /// Puts the levels and the fill values, known only now, into the map.
    fn fill_map(
        &self,
        map: &mut InputMap,
        options: &ReadOptions,
        references: &References,
    ) -> Result<()> {
        let fills = fill::values(options.missing, &self.store, &self.missing);
        let gaps: BTreeSet<u32> = self.missing.iter().map(|(_, column)| *column).collect();
        let mut categories = self.categories.iter();
        let mut numeric = 0;
        for column in &mut map.columns {
            if let Some(levels) = &mut column.levels {
                let texts = categories.next();
                levels.extend(texts.into_iter().flat_map(|c| c.names.iter().cloned()));
                levels.sort_unstable();
                let drops = options.categorical == Categorical::OneHotDrop;
                let name = column.name.clone().filter(|name| !name.is_empty());
                let name = name.unwrap_or_else(|| format!("#{}", column.position + 1));
                if let Some(at) =
                    references.place(column.position, levels, drops, &name, &self.file)?
                {
                    column.reference = Some(levels.remove(at));
                }
                if options.missing == Missing::Mode {
                    column.missing_level = texts.and_then(most_frequent);
                }
                let lacks = texts.is_some_and(|texts| texts.codes.contains(&NO_LEVEL));
                column.indicator = options.missing_indicator && lacks;
            } else {
                if let Some(value) = fills.as_ref().and_then(|fills| fills.get(numeric)) {
                    column.missing = Some(*value);
                }
                column.indicator = options.missing_indicator && gaps.contains(&(numeric as u32));
                numeric += 1;
            }
        }
        map.features = map.columns.iter().map(InputColumn::n_features).sum();
        Ok(())
    }
}

/// The level that most rows have; the first in the alphabet of several.
fn most_frequent(texts: &Dictionary) -> Option<String> {
    let mut counts = vec![0u64; texts.names.len()];
    for code in texts.codes.iter().filter(|code| **code != NO_LEVEL) {
        counts[*code as usize] += 1;
    }
    let most = counts.iter().copied().max()?;
    let often = texts.names.iter().zip(counts).filter(|(_, count)| *count == most);
    often.map(|(name, _)| name.clone()).min()
}

fn many_classes(label: &LabelChoice, file: &str) -> Error {
    let words = format!("more than {MAX_CLASSES} distinct values in the {label}");
    Problem::new(Code::MANY_CLASSES, words, Place::file(file))
        .help("choose another label with `label`; linsep does not fit regressions")
        .into()
}

/// Says of the first gap how many there are in each column, and what to do.
fn name_gaps(first: &mut Problem, facts: &Facts, plan: &Plan) {
    const SHOWN: usize = 12;
    let name = |field: usize| {
        let name = plan.header.as_ref().and_then(|names| names.get(field)).cloned();
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("#{}", field + 1))
    };
    let mut listed: Vec<String> = facts
        .gaps
        .iter()
        .take(SHOWN)
        .map(|(field, count)| format!("{} ({count})", printable(name(*field).as_bytes(), 30)))
        .collect();
    if facts.gaps.len() > SHOWN {
        listed.push(format!("and {} more columns", facts.gaps.len() - SHOWN));
    }
    let least = if facts.bad >= MAX_BAD { "at least " } else { "" };
    first.message = format!(
        "values are missing in {least}{} of {} rows: {}",
        facts.bad,
        facts.records,
        listed.join(", ")
    );
    let label = plan.map.label.as_ref().map(|label| label.position);
    let of_label = label.is_some_and(|label| facts.gaps.contains_key(&label));
    first.help = Some(match of_label {
        true => "labels cannot be filled: leave such rows out with `missing=drop-row`".to_owned(),
        false => "leave such rows out with `missing=drop-row`, or fill them with `missing=median`, mean, mode or zero; what is proved is then about the remaining or filled rows".to_owned(),
    });
}

/// There is a header, or nothing, but no row.
pub(crate) fn no_rows(file: &str) -> Error {
    Problem::new(Code::HEADER_ONLY, "there are no data rows", Place::file(file))
        .help("check the file, and `missing` and `limit` if they were given")
        .into()
}

/// Gives a problem of a block its file and its place in the whole.
pub(crate) fn locate(problem: &mut Problem, file: &str, lines: u64, records: u64, plan: &Plan) {
    let place = &mut problem.place;
    place.file = Some(file.to_owned());
    place.line = place.line.map(|line| lines + line + 1);
    place.row = place.row.map(|row| records + row);
    if let Some((number, name)) = &mut place.field {
        let at = *number as usize - 1;
        *name = plan.header.as_ref().and_then(|names| names.get(at).cloned());
        let called = name.clone().filter(|name| !name.is_empty());
        let called = called.unwrap_or_else(|| format!("#{number}"));
        problem.help = problem.help.take().map(|help| help.replace("{column}", &called));
    }
}

/// Refuses to go on when more memory is held than allowed.
pub(crate) fn check_memory(bytes: u64, options: &ReadOptions) -> Result<()> {
    match options.max_memory {
        Some(limit) if bytes > limit => {
            Err(Error::Memory { purpose: "the data".into(), needed: bytes, limit })
        }
        _ => Ok(()),
    }
}

fn check_guessed_label(choice: &LabelChoice, labels: &Dictionary, file: &str) -> Result<()> {
    // Who asks for a label gets it; a telling name is believed unless nearly every row has a value of its own.
    let (name, named) = match choice {
        LabelChoice::Last(name) | LabelChoice::Only(name) => (name, false),
        LabelChoice::Named(name) => (name, true),
        _ => return Ok(()),
    };
    let numbers: Vec<f64> = labels
        .names
        .iter()
        .filter_map(|n| number::parse(n.as_bytes()).ok())
        .map(|n| n.value)
        .collect();
    let real = numbers.iter().any(|value| value.fract() != 0.0);
    let all_numbers = numbers.len() == labels.names.len();
    let many = labels.names.len() > MAX_GUESSED_CLASSES;
    let near_unique = 2 * labels.names.len() > labels.codes.len();
    let is_doubtful = match named {
        true => many && near_unique,
        false => real || many && (all_numbers || near_unique),
    };
    if is_doubtful {
        let count = labels.names.len();
        let words = match real {
            true => format!(
                "the label column \"{name}\" looks continuous: {count} distinct values, not all whole numbers"
            ),
            false => format!(
                "the label column \"{name}\" has {count} distinct values and does not look like a class"
            ),
        };
        return Err(Problem::new(Code::AMBIGUOUS_LABEL, words, Place::file(file))
            .help("choose the label with `label`; linsep classifies, it does not fit regressions")
            .into());
    }
    Ok(())
}

/// The columns with their names, and how many numbers they have: a few long ones among many short ones
/// are another thing than a column that a program wrote.
fn described(mut columns: Vec<LongColumn>, store: &Store, map: &InputMap) -> Vec<LongColumn> {
    let names = if map.columns.is_empty() { Vec::new() } else { map.feature_names() };
    for column in &mut columns {
        let feature = column.feature as usize;
        column.name = names.get(feature).cloned().unwrap_or_else(|| map.feature_name(feature));
        column.numbers = store.rows() as u64;
    }
    // Zeros mean the same in both readings, so they are no short numbers.
    if columns.iter().any(LongColumn::is_mixed) {
        // Columns below a bound that no wild index moves are counted in a list, others in a map.
        let last = columns.iter().map(|column| column.feature as usize + 1).max().unwrap_or(0);
        let mut counts = vec![0u64; last.min(1 << 22)];
        let mut others: BTreeMap<u32, u64> = BTreeMap::new();
        let wild = columns.iter().filter(|column| column.feature as usize >= counts.len());
        others.extend(wild.map(|column| (column.feature, 0)));
        store.for_each_column(|feature| match counts.get_mut(feature as usize) {
            Some(count) => *count += 1,
            None if (feature as usize) < last => {
                others.entry(feature).and_modify(|count| *count += 1);
            }
            None => {}
        });
        for column in &mut columns {
            let count = counts.get(column.feature as usize).or(others.get(&column.feature));
            column.numbers = count.copied().unwrap_or(0);
        }
    }
    columns
}

/// A row that the map has no place for.
pub(crate) struct LayoutFault {
    code: Code,
    pub(crate) row: usize,
    /// The column of the map, if it is a category.
    category: Option<usize>,
    level: Option<String>,
}

impl LayoutFault {
    /// The error, with the column and the value.
    pub(crate) fn problem(&self, map: &InputMap, place: Place) -> Error {
        let column = self.category.and_then(|at| map.columns.get(at));
        let field = column.map(|column| (column.position as u64 + 1, column.name.clone()));
        let mut problem = Problem::new(self.code, self.code.title(), Place { field, ..place });
        if let Some(level) = &self.level {
            problem = problem.value(level.as_bytes());
        }
        problem.help("train with `unknown-level=zeros` and `missing` to accept such rows").into()
    }
}

/// Puts parsed columns where the map wants them, sets one-hot features and fills gaps. An error
/// tells the place.
pub(crate) fn lay_out(
    store: Store,
    categories: &[Dictionary],
    missing: &[(u64, u32)],
    layout: &Layout,
) -> std::result::Result<Store, LayoutFault> {
    let in_place = layout.numeric.iter().enumerate().all(|(k, c)| c.feature as usize == k);
    if categories.is_empty() && missing.is_empty() && in_place {
        return Ok(store);
    }
    let places: Vec<u8> = (0..layout.numeric.len()).map(|column| store.places(column)).collect();
    let mut result = Store::empty();
    let mut staging = Staging::new(layout.features);
    let mut scratch = Vec::new();
    let mut entries: Vec<(u32, f64, u8)> = Vec::new();
    let mut gaps = missing.iter().peekable();
    for row in 0..store.rows() {
        entries.clear();
        store.for_each(row, &mut scratch, |column, value| {
            let column = column as usize;
            entries.push((layout.numeric[column].feature, value, places[column]));
        });
        while let Some(&(_, column)) = gaps.next_if(|(gap, _)| *gap == row as u64) {
            let column = &layout.numeric[column as usize];
            let fault = || LayoutFault { code: Code::MISSING, row, category: None, level: None };
            let fill = column.missing.ok_or_else(fault)?;
            entries.push((column.feature, fill, number::places_of(fill)));
            if let Some(indicator) = column.indicator {
                entries.push((indicator, 1.0, 0));
            }
        }
        for (category, dictionary) in layout.categories.iter().zip(categories) {
            let code = dictionary.codes[row];
            let level = (code != NO_LEVEL).then(|| dictionary.names[code as usize].as_str());
            let fault = |code| LayoutFault {
                code,
                row,
                category: Some(category.column),
                level: level.map(str::to_owned),
            };
            let set = category.features_of(level).map_err(fault)?;
            entries.extend(set.into_iter().flatten().map(|feature| (feature, 1.0, 0)));
        }
        entries.sort_unstable_by_key(|entry| entry.0);
        entries.iter().for_each(|&(feature, value, places)| staging.push(feature, value, places));
        staging.end_row();
        if staging.rows() == ROWS_AT_ONCE {
            result.append(staging.pack());
        }
    }
    result.append(staging.pack());
    Ok(result)
}
