//! From the tree of a formula to its terms: sums, products and what is taken away, written out.

use super::parse::{Node, Part};
use super::{Role, Terms};
use crate::error::{Error, Result};
use linsep_proof::{MOST_DEGREE, MOST_TERMS};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Products that are made on the way, of which most may be one and the same.
const MOST_STEPS: usize = 4 * MOST_TERMS;

/// A formula on columns that have numbers.
#[derive(Clone, Debug)]
pub(crate) struct Expanded {
    /// Terms, those of one column first, then those of two.
    pub(crate) terms: Vec<Term>,
    /// What is said of the values of columns, with the place.
    pub(crate) roles: HashMap<usize, (Role, Range<usize>)>,
}

/// A product of columns.
#[derive(Clone, Debug)]
pub(crate) struct Term {
    /// (column, power), rising; a column may stand with several powers, as `x:I(x^2)` has it.
    pub(crate) atoms: Vec<(usize, u32)>,
    /// Where it stands in the formula, in characters.
    pub(crate) at: Range<usize>,
}

impl Expanded {
    /// The columns that any term has, rising.
    pub(crate) fn columns(&self) -> Vec<usize> {
        let atoms = self.terms.iter().flat_map(|term| &term.atoms);
        let mut columns: Vec<usize> = atoms.map(|atom| atom.0).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether a column has levels although they are numbers.
    pub(crate) fn is_factor(&self, column: usize) -> bool {
        self.roles.get(&column).is_some_and(|(role, _)| *role == Role::Factor)
    }

    /// For each term, whether each of its atoms has all levels, given which columns are factors: those of
    /// which the rest of the term is no term.
    pub(crate) fn coding(&self, is_factor: impl Fn(usize) -> bool) -> Vec<Vec<bool>> {
        let known: HashSet<&[(usize, u32)]> =
            self.terms.iter().map(|term| &term.atoms[..]).collect();
        let all_levels = |term: &Term, at: usize| {
            let mut rest = term.atoms.clone();
            rest.remove(at);
            is_factor(term.atoms[at].0) && !rest.is_empty() && !known.contains(&rest[..])
        };
        let of_term = |term: &Term| (0..term.atoms.len()).map(|at| all_levels(term, at)).collect();
        self.terms.iter().map(of_term).collect()
    }
}

impl Terms {
    /// The terms, given the column of each name and those that `.` stands for.
    pub(crate) fn expand(&self, columns: &[usize], all: &[usize]) -> Result<Expanded> {
        let mut roles: HashMap<usize, (Role, Range<usize>)> = HashMap::new();
        for (name, &column) in self.names().iter().zip(columns) {
            let known = roles.get(&column).map(|(role, _)| *role);
            let is_factor = name.role == Role::Factor;
            if known.is_some_and(|role| (role == Role::Factor) != is_factor) {
                let words = "the column is a factor in one place and a number in another: write factor() in both; . follows it";
                return Err(self.fault(&name.at, words));
            }
            if matches!(known, None | Some(Role::Any)) {
                roles.insert(column, (name.role, name.at.clone()));
            }
        }
        let mut work = Work { formula: self, columns, all, steps: 0 };
        let whole = 0..self.text.chars().count();
        let mut terms = work.node(&self.root, &whole)?;
        if terms.is_empty() {
            return Err(self.fault(&whole, "no term is left"));
        }
        let degree =
            |term: &Term| term.atoms.iter().fold(0u32, |sum, atom| sum.saturating_add(atom.1));
        if let Some(term) = terms.iter().find(|term| degree(term) > MOST_DEGREE) {
            let words = format!(
                "this makes a product of degree {}, at most {MOST_DEGREE} is allowed",
                degree(term)
            );
            return Err(self.fault(&term.at, &words));
        }
        terms.sort_by_key(|term| term.atoms.len());
        Ok(Expanded { terms, roles })
    }
}

struct Work<'a> {
    formula: &'a Terms,
    columns: &'a [usize],
    all: &'a [usize],
    steps: usize,
}

impl Work<'_> {
    fn part(&mut self, part: &Part) -> Result<Vec<Term>> {
        self.node(&part.node, &part.at)
    }

    fn node(&mut self, node: &Node, at: &Range<usize>) -> Result<Vec<Term>> {
        match node {
            Node::One => Ok(Vec::new()),
            Node::Dot => {
                let term = |column: &usize| Term { atoms: vec![(*column, 1)], at: at.clone() };
                Ok(self.all.iter().map(term).collect())
            }
            Node::Products(products) => {
                let atoms = |product: &Vec<(usize, u32)>| {
                    // In I(x*x) the powers add up.
                    let mut powers: Vec<(usize, u32)> = Vec::new();
                    for &(name, power) in product {
                        let column = self.columns[name];
                        match powers.iter_mut().find(|atom| atom.0 == column) {
                            Some(atom) => atom.1 = atom.1.saturating_add(power),
                            None => powers.push((column, power)),
                        }
                    }
                    powers.sort_unstable();
                    Term { atoms: powers, at: at.clone() }
                };
                Ok(products.iter().map(atoms).collect())
            }
            Node::Sum(parts) => self.sum(parts),
            Node::Colon(parts) => {
                let mut made = self.part(&parts[0])?;
                for part in &parts[1..] {
                    let other = self.part(part)?;
                    made = self.cross(&made, &other, at)?;
                }
                Ok(made)
            }
            Node::Star(parts) => {
                let mut made = self.part(&parts[0])?;
                for part in &parts[1..] {
                    let other = self.part(part)?;
                    let both = self.cross(&made, &other, at)?;
                    made = distinct(made.into_iter().chain(other).chain(both));
                }
                Ok(made)
            }
            Node::Power(base, power) => {
                let base = self.part(base)?;
                let mut made = base.clone();
                for _ in 1..*power {
                    let before = made.len();
                    let more = self.cross(&made, &base, at)?;
                    made = distinct(made.into_iter().chain(more));
                    if made.len() == before {
                        break;
                    }
                }
                Ok(made)
            }
        }
    }

    fn sum(&mut self, parts: &[(bool, Part)]) -> Result<Vec<Term>> {
        let mut made: Vec<Term> = Vec::new();
        for (adds, part) in parts {
            let terms = self.part(part)?;
            if *adds {
                made = distinct(made.into_iter().chain(terms));
                continue;
            }
            for term in terms {
                let before = made.len();
                made.retain(|other| other.atoms != term.atoms);
                if made.len() == before {
                    let words = "there is no such term to take away";
                    return Err(self.formula.fault(&part.at, words));
                }
            }
        }
        Ok(made)
    }

    /// Every term of one with every term of the other.
    fn cross(&mut self, one: &[Term], other: &[Term], at: &Range<usize>) -> Result<Vec<Term>> {
        self.steps = self.steps.saturating_add(one.len().saturating_mul(other.len()));
        if self.steps > MOST_STEPS {
            return Err(self.too_many(at));
        }
        let products = one.iter().flat_map(|a| {
            other.iter().map(|b| {
                let mut atoms = [&a.atoms[..], &b.atoms].concat();
                atoms.sort_unstable();
                atoms.dedup();
                Term { atoms, at: at.clone() }
            })
        });
        Ok(distinct(products))
    }

    fn too_many(&self, at: &Range<usize>) -> Error {
        self.formula.fault(at, &format!("this makes more than {MOST_TERMS} terms"))
    }
}

/// Each term once, where it stands first.
fn distinct(terms: impl Iterator<Item = Term>) -> Vec<Term> {
    let mut seen = HashSet::new();
    terms.filter(|term| seen.insert(term.atoms.clone())).collect()
}
