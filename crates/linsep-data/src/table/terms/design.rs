//! Terms on data: which products of features they are, and the data that has them.

use super::expand::{Expanded, Term};
use super::{Named, Reference, Role, Terms};
use crate::Dataset;
use crate::basis::Basis;
use crate::error::{Code, Error, Place, Problem, Result, printable};
use crate::input::{InputColumn, no_column};
use crate::table::columns::ColumnRef;
use linsep_proof::MOST_TERMS;
use std::collections::{HashMap, HashSet};

/// (feature, power) of each factor, features rising.
type Product = Vec<(u32, u32)>;

/// A column of the data as formulas see it.
struct Column {
    /// Its first feature.
    first: u32,
    /// The levels of a factor, those without a feature apart.
    levels: Option<Vec<String>>,
    /// Whether the reference level has no feature.
    has_reference: bool,
    indicator: bool,
    position: usize,
}

impl Dataset {
    /// The columns that the terms name, and behind them the products: what planes of learners and proofs
    /// are about. Every column has to be a term of its own.
    ///
    /// Where a table is read for a model, give the reader the same terms
    /// ([`ReadOptions::terms`](crate::read::ReadOptions::terms)): then the model needs the columns of the table. From data
    /// that has more columns than the terms name, the others are taken out, and rows lose their places in files.
    pub fn with_terms(
        self,
        terms: &Terms,
        references: &[Reference],
        max_memory: Option<u64>,
    ) -> Result<Dataset> {
        let design = Design::new(terms, references, &self)?;
        design.check_whole(terms, &self)?;
        let mut kept = design.features();
        kept.sort_unstable();
        self.with_products(&design, &kept, max_memory)
    }

    /// The columns of the terms alone, in the order of the formula, also where a product stands without
    /// its columns; then products are the rounded ones, and nothing is proved of such data.
    pub fn design(
        &self,
        terms: &Terms,
        references: &[Reference],
        max_memory: Option<u64>,
    ) -> Result<Dataset> {
        let design = Design::new(terms, references, self)?;
        if design.check_whole(terms, self).is_ok() {
            return self.clone().with_products(&design, &design.features(), max_memory);
        }
        let products: Vec<Product> =
            design.products.iter().filter(|product| !is_feature(product)).cloned().collect();
        let mut next = self.input().features as u32;
        let order = design.products.iter().map(|product| match is_feature(product) {
            true => product[0].0,
            false => {
                next += 1;
                next - 1
            }
        });
        let order: Vec<u32> = order.collect();
        self.clone().expanded(Basis::Terms(products), max_memory)?.selected(None, &order)
    }

    /// These features in this order, and behind them the products of a design, all of whose features they are.
    fn with_products(
        self,
        design: &Design,
        kept: &[u32],
        max_memory: Option<u64>,
    ) -> Result<Dataset> {
        let place: HashMap<u32, u32> = kept.iter().copied().zip(0..).collect();
        let moved = |product: &Product| -> Product {
            let mut moved: Product = product
                .iter()
                .map(|(f, power)| (place.get(f).copied().unwrap_or(0), *power))
                .collect();
            moved.sort_unstable();
            moved
        };
        let products: Vec<Product> =
            design.products.iter().filter(|product| !is_feature(product)).map(moved).collect();
        let all = kept.len() == self.input().features && kept.is_sorted();
        let data = if all { self } else { self.selected(None, kept)? };
        match products.is_empty() {
            true => Ok(data),
            false => data.expanded(Basis::Terms(products), max_memory),
        }
    }
}

fn is_feature(product: &Product) -> bool {
    matches!(product[..], [(_, 1)])
}

/// The columns of a design: products of features.
struct Design {
    expanded: Expanded,
    products: Vec<Product>,
    /// The term of each product.
    owners: Vec<usize>,
    /// Atoms with all levels.
    coding: Vec<Vec<bool>>,
}

impl Design {
    fn new(terms: &Terms, references: &[Reference], data: &Dataset) -> Result<Design> {
        if data.input().basis.is_some() {
            return Err(Error::usage("`terms`: the data has basis functions already"));
        }
        let columns = columns(data);
        // A column that the formula takes away was not read from a file: it gets a number of its own.
        let (mut names, mut absent) = (Vec::new(), Vec::new());
        for name in terms.names() {
            let found = place(&name.column, data);
            let unread = || match absent.iter().position(|other| *other == &name.column) {
                Some(at) => columns.len() + at,
                None => {
                    absent.push(&name.column);
                    columns.len() + absent.len() - 1
                }
            };
            names.push(found.unwrap_or_else(unread));
        }
        let beside: Vec<usize> =
            terms.beside().iter().filter_map(|column| place(column, data)).collect();
        let of_file = data.input().source_columns.is_some();
        let all = 0..columns.len() + if of_file { absent.len() } else { 0 };
        let all: Vec<usize> = all.filter(|j| !beside.contains(j)).collect();
        let missing = |column: usize| names.iter().position(|at| *at == column);
        if let Some(at) = names.iter().position(|at| *at >= columns.len()).filter(|_| !of_file) {
            return Err(absent_column(terms, &terms.names()[at], data));
        }
        let expanded = terms.expand(&names, &all)?;
        let unread = expanded.columns().into_iter().find(|column| *column >= columns.len());
        if let Some(at) = unread.and_then(missing) {
            return Err(absent_column(terms, &terms.names()[at], data));
        }
        for (column, (role, at)) in &expanded.roles {
            let Some(own) = columns.get(*column) else { continue };
            let is_text = own.levels.is_some();
            match role {
                Role::Number if is_text => {
                    return Err(
                        terms.fault(at, "the column holds text, of which there are no powers")
                    );
                }
                Role::Factor if !is_text => {
                    return Err(terms.fault(at, "the column was read as numbers, not as levels"));
                }
                _ => {}
            }
        }
        let alone = expanded.columns().into_iter().find(|column| {
            let own = &columns[*column];
            let count = |levels: &Vec<String>| levels.len() + usize::from(own.has_reference);
            own.levels.as_ref().is_some_and(|levels| count(levels) < 2)
        });
        if let Some(column) = alone {
            let position = columns[column].position;
            let name = data.input().columns.get(column).and_then(|column| column.name.clone());
            let name = name.unwrap_or_else(|| format!("#{}", position + 1));
            let at = expanded
                .roles
                .get(&column)
                .map_or(0..terms.text().chars().count(), |(_, at)| at.clone());
            let words = format!(
                "the factor \"{}\" has one level only, which leaves nothing to compare: take it out",
                printable(name.as_bytes(), 40)
            );
            return Err(terms.fault(&at, &words));
        }
        let left_out = levels_left_out(references, &columns, data, &expanded)?;
        let coding = expanded.coding(|column| columns[column].levels.is_some());
        let mut design = Design { expanded, products: Vec::new(), owners: Vec::new(), coding };
        let mut seen = HashSet::new();
        for k in 0..design.expanded.terms.len() {
            for product in design.of_term(k, terms, &columns, &left_out)? {
                if seen.insert(product.clone()) {
                    design.products.push(product);
                    design.owners.push(k);
                }
            }
        }
        Ok(design)
    }

    /// The products that a term is; the levels of its first column change fastest.
    fn of_term(
        &self,
        k: usize,
        terms: &Terms,
        columns: &[Column],
        left_out: &[Option<u32>],
    ) -> Result<Vec<Product>> {
        let term = &self.expanded.terms[k];
        let mut made: Vec<Product> = vec![Vec::new()];
        for (&(column, power), &all) in term.atoms.iter().zip(&self.coding[k]) {
            let own = &columns[column];
            let features: Vec<u32> = match &own.levels {
                None => vec![own.first],
                Some(_) if all && own.has_reference => {
                    return Err(lacks(
                        terms,
                        term,
                        "a term that leaves its columns out needs all levels of a factor, and one was left out when the data was read",
                    ));
                }
                Some(levels) => (own.first..own.first + levels.len() as u32)
                    .filter(|feature| all || left_out[column] != Some(*feature))
                    .collect(),
            };
            if made.len().saturating_mul(features.len()) > MOST_TERMS {
                let words = format!("this makes more than {MOST_TERMS} columns");
                return Err(terms.fault(&term.at, &words));
            }
            made = features
                .iter()
                .flat_map(|&feature| {
                    made.iter().map(move |product| {
                        let mut product = product.clone();
                        match product.iter_mut().find(|factor| factor.0 == feature) {
                            Some(factor) => factor.1 += power,
                            None => product.push((feature, power)),
                        }
                        product
                    })
                })
                .collect();
        }
        made.iter_mut().for_each(|product| product.sort_unstable());
        if let [(column, 1)] = term.atoms[..]
            && columns[column].indicator
        {
            let own = &columns[column];
            let width = own.levels.as_ref().map_or(1, Vec::len) as u32;
            made.push(vec![(own.first + width, 1)]);
        }
        Ok(made)
    }

    /// The features that are terms of their own.
    fn features(&self) -> Vec<u32> {
        self.products
            .iter()
            .filter(|product| is_feature(product))
            .map(|product| product[0].0)
            .collect()
    }

    /// Refuses products of columns that are no terms themselves.
    fn check_whole(&self, terms: &Terms, data: &Dataset) -> Result<()> {
        let own: HashSet<u32> = self.features().into_iter().collect();
        for (product, &owner) in self.products.iter().zip(&self.owners) {
            let term = &self.expanded.terms[owner];
            if let Some((feature, _)) = product.iter().find(|(feature, _)| !own.contains(feature)) {
                let name = data.input().feature_name(*feature as usize);
                return Err(lacks(
                    terms,
                    term,
                    &format!("\"{}\" is no term", printable(name.as_bytes(), 40)),
                ));
            }
        }
        let all_levels = |k: &usize| self.coding[*k].iter().any(|all| *all);
        match (0..self.coding.len()).find(all_levels) {
            Some(k) => Err(lacks(terms, &self.expanded.terms[k], "a part of it is no term")),
            None => Ok(()),
        }
    }
}

/// That a product stands without its columns.
fn lacks(terms: &Terms, term: &Term, words: &str) -> Error {
    let words = format!(
        "{words}; planes and proofs are of columns and their products, so each part of a product has to be a term, too: a*b has a, b and a:b"
    );
    terms.fault(&term.at, &words)
}

fn columns(data: &Dataset) -> Vec<Column> {
    let input = data.input();
    let plain = |feature: usize| Column {
        first: feature as u32,
        levels: None,
        has_reference: false,
        indicator: false,
        position: feature,
    };
    if input.columns.is_empty() {
        return (0..input.features).map(plain).collect();
    }
    let mut first = 0;
    let column = |column: &InputColumn| {
        let own = Column {
            first,
            levels: column.levels.clone(),
            has_reference: column.reference.is_some(),
            indicator: column.indicator,
            position: column.position,
        };
        first += column.n_features() as u32;
        own
    };
    input.columns.iter().map(column).collect()
}

/// The column that is meant, if it is there.
fn place(column: &ColumnRef, data: &Dataset) -> Option<usize> {
    let input = data.input();
    match column {
        ColumnRef::Name(name) if input.columns.is_empty() => {
            input.feature_called(name).map(|feature| feature as usize)
        }
        ColumnRef::Number(position) if input.columns.is_empty() => {
            input.feature_at(*position).map(|feature| feature as usize)
        }
        ColumnRef::Name(name) => input.columns.iter().position(|column| {
            let unnamed = format!("x{}", column.position + 1);
            column.name.as_ref().unwrap_or(&unnamed) == name
        }),
        ColumnRef::Number(position) => {
            input.columns.iter().position(|column| column.position == *position)
        }
    }
}

fn absent_column(terms: &Terms, name: &Named, data: &Dataset) -> Error {
    let input = data.input();
    let names: Vec<String> = match input.columns.is_empty() {
        true if input.features <= 1000 => input.feature_names(),
        true => Vec::new(),
        false => {
            let name =
                |c: &InputColumn| c.name.clone().unwrap_or_else(|| format!("x{}", c.position + 1));
            input.columns.iter().map(name).collect()
        }
    };
    let file = data.origin().files().next().unwrap_or("data");
    missing_column(terms, name, &names, file)
}

/// That a formula names a column that is not there.
pub(crate) fn missing_column(terms: &Terms, name: &Named, names: &[String], file: &str) -> Error {
    let wanted = match &name.column {
        ColumnRef::Name(name) => name.clone(),
        ColumnRef::Number(number) => format!("#{}", number + 1),
    };
    let mut error = no_column(Code::NO_COLUMN, &wanted, names, file);
    if let Error::Data(data) = &mut error {
        let problem = &mut data.problems[0];
        problem.message.push_str(" for `terms`");
        problem.value = None;
        problem.place.excerpt = Some(terms.excerpt(&name.at));
    }
    error
}

/// The feature of the reference level of each column that has one: the one that was asked for, else the first.
fn levels_left_out(
    references: &[Reference],
    columns: &[Column],
    data: &Dataset,
    expanded: &Expanded,
) -> Result<Vec<Option<u32>>> {
    let mut left_out: Vec<Option<u32>> = columns
        .iter()
        .enumerate()
        .map(|(j, column)| {
            let levels = column.levels.as_ref().filter(|_| !column.has_reference)?;
            let first = default_reference(levels, expanded.is_factor(j))?;
            Some(column.first + first as u32)
        })
        .collect();
    let file = data.origin().files().next().unwrap_or("data");
    for reference in references {
        let mut known = reference.readings().filter_map(|(name, level)| {
            let column = name.parse::<ColumnRef>().ok()?;
            Some((place(&column, data)?, level))
        });
        // What comes from a table was seen to when that was read.
        let of_file = data.input().source_columns.is_some();
        let Some((at, level)) = known.next() else {
            if of_file || reference.may_be_class() {
                continue;
            }
            let wanted = reference.readings().next().map_or("", |(column, _)| column);
            return Err(no_column(Code::NO_COLUMN, wanted, &data.input().feature_names(), file));
        };
        let column = &columns[at];
        let Some(levels) = column.levels.as_ref().filter(|_| !column.has_reference) else {
            match of_file {
                true => continue,
                false => return Err(no_factor(&data.input().feature_name(at), level, file)),
            }
        };
        match levels.iter().position(|own| own == level) {
            Some(found) => left_out[at] = Some(column.first + found as u32),
            None => {
                let name = data.input().columns.get(at).and_then(|column| column.name.clone());
                let name = name.unwrap_or_else(|| format!("#{}", column.position + 1));
                return Err(no_level(&name, level, levels, file));
            }
        }
    }
    Ok(left_out)
}

/// The place of the level that is the reference where none was asked for: the first, of numbers the smallest.
pub(crate) fn default_reference(levels: &[String], by_number: bool) -> Option<usize> {
    let numbers: Option<Vec<f64>> = match by_number {
        true => levels.iter().map(|level| level.trim().parse().ok()).collect(),
        false => None,
    };
    let Some(numbers) = numbers else { return (!levels.is_empty()).then_some(0) };
    (0..levels.len()).min_by(|&a, &b| numbers[a].total_cmp(&numbers[b]))
}

/// That a column has no such level, with those that it has.
pub(crate) fn no_level(column: &str, level: &str, levels: &[String], file: &str) -> Error {
    let mut error = no_column(Code::NO_LEVEL, level, levels, file);
    if let Error::Data(data) = &mut error {
        let problem = &mut data.problems[0];
        problem.message = format!(
            "column \"{}\" has no level \"{}\"",
            printable(column.as_bytes(), 40),
            printable(level.as_bytes(), 40)
        );
        problem.help =
            problem.help.take().map(|help| help.replace("the columns are", "its levels are"));
    }
    error
}

/// That levels were asked of a column without any.
pub(crate) fn no_factor(column: &str, level: &str, file: &str) -> Error {
    let name = printable(column.as_bytes(), 40);
    let words = format!("column \"{name}\" holds numbers, so it has no levels");
    Problem::new(Code::NO_LEVEL, words, Place::file(file))
        .value(level.as_bytes())
        .help(format!("with `terms` factor({name}) takes its numbers for levels"))
        .into()
}
