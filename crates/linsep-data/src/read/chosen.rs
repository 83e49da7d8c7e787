//! What a formula and reference levels ask of a table: which columns are read, and which level of each has no feature.

use super::choose::{describe, find_column};
use super::options::ReadOptions;
use super::sniff::Table;
use crate::error::{Code, Error, Place, Problem, Result, printable};
use crate::input::no_column;
use crate::table::columns::ColumnRef;
use crate::table::terms::{
    Expanded, Reference, Terms, default_reference, missing_column, no_factor, no_level,
};

/// The columns of a table that a formula needs.
pub(super) struct Chosen {
    pub(super) expanded: Expanded,
    /// For each column, whether nothing needs it.
    pub(super) left_out: Vec<bool>,
}

impl Chosen {
    /// `used` says which columns `.` may stand for, `taken` which ones have another meaning.
    pub(super) fn new(
        terms: &Terms,
        named: &[usize],
        used: impl Fn(usize) -> bool,
        taken: &[(usize, &str)],
        table: &Table,
        file: &str,
    ) -> Result<Chosen> {
        for (name, position) in terms.names().iter().zip(named) {
            if let Some((_, what)) = taken.iter().find(|(at, _)| at == position) {
                let column = printable(table.column_name(*position).as_bytes(), 40);
                let words = format!("\"{column}\" is the column of the {what}, so it is no term");
                return Err(terms.fault(&name.at, &words));
            }
        }
        let mut beside = Vec::new();
        for column in terms.beside() {
            beside.push(find_column(table, column, Code::NO_COLUMN, file)?);
        }
        let all: Vec<usize> =
            (0..table.width).filter(|j| used(*j) && !beside.contains(j)).collect();
        let expanded = terms.expand(named, &all)?;
        let mut left_out = vec![true; table.width];
        expanded.columns().into_iter().chain(beside).for_each(|j| left_out[j] = false);
        Ok(Chosen { expanded, left_out })
    }
}

/// The position of each name of a formula.
pub(super) fn named(terms: &Terms, table: &Table, file: &str) -> Result<Vec<usize>> {
    let find = |name: &crate::table::terms::Named| match &name.column {
        ColumnRef::Number(number) if *number < table.width => Ok(*number),
        ColumnRef::Name(text) if table.header.is_none() => {
            // What features of columns without names are called.
            let number = text.strip_prefix('x').and_then(|n| n.parse::<usize>().ok());
            let number = number.filter(|n| (1..=table.width).contains(n)).map(|n| n - 1);
            number.ok_or_else(|| missing_column(terms, name, &[], file))
        }
        ColumnRef::Name(text) => match crate::input::find_name(&table.written_names, text, file)? {
            Some(at) => Ok(at),
            None => Err(missing_column(terms, name, table.names(), file)),
        },
        ColumnRef::Number(_) => Err(missing_column(terms, name, table.names(), file)),
    };
    terms.names().iter().map(find).collect()
}

/// Refuses a formula that names what is to be left out.
pub(super) fn check_dropped(terms: &Terms, named: &[usize], dropped: &[usize]) -> Result<()> {
    let both = terms.names().iter().zip(named).find(|(_, at)| dropped.contains(at));
    match both {
        Some((name, _)) => Err(terms.fault(&name.at, "the column is left out by `drop`")),
        None => Ok(()),
    }
}

/// Refuses what needs the columns of a table.
pub(super) fn check_indices(options: &ReadOptions, file: &str) -> Result<()> {
    if options.terms.is_some() {
        return Err(Error::usage(
            "`terms` is about the columns of a table, and svmlight has none: write the data as a table, with linsep convert, or use `basis`",
        ));
    }
    match options.references.iter().find(|reference| !reference.may_be_class()) {
        Some(reference) => Err(no_column(Code::NO_COLUMN, reference.text(), &[], file)),
        None => Ok(()),
    }
}

/// Which levels of text columns have no feature.
#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    /// The position of a column and the level that was asked for.
    asked: Vec<(usize, String)>,
    /// Whether there is a formula.
    terms: bool,
    /// Whether some term of it needs all levels.
    all_levels: bool,
    /// Columns whose levels are numbers.
    of_numbers: Vec<usize>,
}

impl References {
    pub(super) fn new(
        options: &ReadOptions,
        chosen: Option<&Chosen>,
        table: &Table,
        (label, file): (usize, &str),
        is_factor: impl Fn(usize) -> bool,
        is_used: impl Fn(usize) -> bool,
    ) -> Result<References> {
        let mut references = References { terms: chosen.is_some(), ..References::default() };
        if let Some(chosen) = chosen {
            let coding = chosen.expanded.coding(&is_factor);
            references.all_levels = coding.iter().flatten().any(|all| *all);
            references.of_numbers =
                (0..table.width).filter(|j| chosen.expanded.is_factor(*j)).collect();
        }
        for reference in &options.references {
            let Some((at, level)) = find(reference, table, file)? else {
                if reference.may_be_class() {
                    continue;
                }
                let wanted = reference.readings().next().map_or("", |(column, _)| column);
                return Err(no_column(Code::NO_COLUMN, wanted, table.names(), file));
            };
            let name = table.column_name(at);
            if at == label {
                if reference.may_be_class() {
                    continue;
                }
                let words = format!(
                    "`reference`: \"{}\" is the label; `positive` says which of its classes counts",
                    printable(name.as_bytes(), 40)
                );
                return Err(Error::usage(words));
            }
            if !is_used(at) {
                let words = format!(
                    "column \"{}\" has a reference level but is not used",
                    printable(name.as_bytes(), 40)
                );
                let problem = Problem::new(Code::NO_COLUMN, words, Place::file(file));
                return Err(problem.help("use it with `keep`, or name it in `terms`").into());
            }
            if !is_factor(at) {
                return Err(no_factor(&name, level, file));
            }
            if references.asked.iter().any(|(other, _)| *other == at) {
                let name = printable(name.as_bytes(), 40);
                let words = format!("`reference`: \"{name}\" has two reference levels");
                return Err(Error::usage(words));
            }
            references.asked.push((at, level.to_owned()));
        }
        Ok(references)
    }

    /// Whether something was asked for that decides about the levels of a column.
    pub(super) fn concern(&self, position: usize) -> bool {
        self.terms || self.asked.iter().any(|(at, _)| *at == position)
    }

    /// The place of the level of a column that has no feature; `first` where that is the first unasked.
    pub(super) fn place(
        &self,
        position: usize,
        levels: &[String],
        first: bool,
        name: &str,
        file: &str,
    ) -> Result<Option<usize>> {
        if let Some((_, level)) = self.asked.iter().find(|(at, _)| *at == position) {
            return match levels.iter().position(|own| own == level) {
                None => Err(no_level(name, level, levels, file)),
                Some(_) if self.all_levels => Ok(None),
                found => Ok(found),
            };
        }
        let drops = first || self.terms && !self.all_levels;
        Ok(match drops {
            true => default_reference(levels, self.of_numbers.contains(&position)),
            false => None,
        })
    }
}

/// The column and the level that are meant, if there is such a column.
fn find<'a>(
    reference: &'a Reference,
    table: &Table,
    file: &str,
) -> Result<Option<(usize, &'a str)>> {
    for (column, level) in reference.readings() {
        let found = match column.parse()? {
            ColumnRef::Number(number) if number < table.width => Some(number),
            column @ ColumnRef::Number(_) => {
                return Err(no_column(Code::NO_COLUMN, &describe(&column), table.names(), file));
            }
            ColumnRef::Name(name) => crate::input::find_name(&table.written_names, &name, file)?,
        };
        if let Some(at) = found {
            return Ok(Some((at, level)));
        }
    }
    Ok(None)
}
