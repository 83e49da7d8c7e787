//! Terms by name: the right side of a formula, as R and statsmodels write it.
//!
//! `age + sex + age:sex + poly(bmi, 2)` says which columns of a design there are. `a + b` has both,
//! `a:b` their product, `a*b` is `a + b + a:b`, `(a + b + c)^2` every product of two, `.` all columns,
//! `- a:b` takes a term away. `I(x^2)` is a power, and `poly(x, 2)` stands for `x + I(x^2)`: **raw**
//! powers, which are exact in proofs, where R's own are orthogonal on the rows unless `raw = TRUE` is
//! said. Text columns are factors, as is `factor(x)`.
//!
//! **Coding.** A factor f with levels ℓ₀ (the reference), ℓ₁, … is coded in a term T by the 0/1 columns
//! of ℓ₁, … where T without f is a term too (or nothing, which the intercept stands for), and by those of
//! all its levels elsewhere: R's rule, which makes the columns of a formula independent.
//!
//! A product of 0/1 columns and numbers is a basis function ([`crate::basis`]), so proofs multiply it out
//! from the columns of the file. They are about (x, products of x), so every column has to be a term of
//! its own there; [`crate::Dataset::design`] makes the columns of any formula.
//!
//! References: Wilkinson and Rogers 1973 (formulas); Chambers and Hastie 1992, section 2.4.1 (coding).

mod design;
mod expand;
mod parse;

pub(crate) use design::{default_reference, missing_column, no_factor, no_level};
pub(crate) use expand::Expanded;

use super::columns::ColumnRef;
use crate::error::{Error, Excerpt, Result, printable};
use parse::Node;
use std::ops::Range;

/// Terms as people write them.
///
/// ```
/// use linsep_data::terms::Terms;
/// use linsep_data::Dataset;
/// let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
/// let xor = Dataset::from_rows(&rows, &["0", "1", "1", "0"])?;
/// let terms: Terms = "x1 * x2".parse()?;
/// let curved = xor.with_terms(&terms, &[], None)?;
/// assert_eq!(curved.input().feature_names(), ["x1", "x2", "x1*x2"]);
/// assert_eq!(curved.row(3), [1., 1., 1.]);
/// # Ok::<(), linsep_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    text: String,
    /// Every name that stands in it.
    names: Vec<Named>,
    root: Node,
    /// Columns that are read for another purpose.
    beside: Vec<ColumnRef>,
}

/// A column in a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) column: ColumnRef,
    /// What its values have to be.
    pub(crate) role: Role,
    /// Where it stands, in characters.
    pub(crate) at: Range<usize>,
}

/// What the values of a column have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Numbers or texts.
    Any,
    /// Numbers, because there is a power of them.
    Number,
    /// Levels, also where they are written as numbers.
    Factor,
}

/// The level of a text column that the others are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    text: String,
    may_be_class: bool,
}

impl Terms {
    /// The formula as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// With columns that are read for another purpose, such as an offset: `.` does not stand for them.
    pub fn with_beside(mut self, columns: Vec<ColumnRef>) -> Terms {
        self.beside = columns;
        self
    }

    /// Whether there are powers of a column.
    pub fn has_powers(&self) -> bool {
        self.names.iter().any(|name| name.role == Role::Number)
    }

    /// Whether `.` stands in it.
    pub(crate) fn has_dot(&self) -> bool {
        self.root.has_dot()
    }

    /// Columns that are read for another purpose.
    pub(crate) fn beside(&self) -> &[ColumnRef] {
        &self.beside
    }

    pub(crate) fn names(&self) -> &[Named] {
        &self.names
    }

    /// The formula with a part of it marked.
    pub(crate) fn excerpt(&self, at: &Range<usize>) -> Excerpt {
        excerpt(&self.text, at)
    }

    /// What is wrong with a part of the formula.
    pub(crate) fn fault(&self, at: &Range<usize>, words: &str) -> Error {
        fault(&self.text, at, words)
    }
}

impl Reference {
    /// `COLUMN=LEVEL`, which may as well be a class that has `=` in its name if `may_be_class`.
    pub fn new(text: impl Into<String>, may_be_class: bool) -> Result<Reference> {
        let text = text.into();
        match text.split_once('=') {
            Some((column, level)) if !column.is_empty() && !level.is_empty() => {
                Ok(Reference { text, may_be_class })
            }
            _ => Err(Error::usage(format!(
                "`reference`: \"{}\" is not COLUMN=LEVEL",
                printable(text.as_bytes(), 40)
            ))),
        }
    }

    /// A level of a column by its name.
    pub fn of(column: &str, level: &str) -> Result<Reference> {
        Reference::new(format!("{column}={level}"), false)
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it may name a class.
    pub(crate) fn may_be_class(&self) -> bool {
        self.may_be_class
    }

    /// Every way to take it apart into a column and a level; names may have `=` in them.
    #[doc(hidden)]
    pub fn readings(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text.match_indices('=').filter_map(|(at, _)| {
            let (column, level) = (self.text[..at].trim(), self.text[at + 1..].trim());
            (!column.is_empty() && !level.is_empty()).then_some((column, level))
        })
    }
}

/// Characters of a formula that are shown.
const SHOWN: usize = 100;

fn excerpt(text: &str, at: &Range<usize>) -> Excerpt {
    let from = at.start.saturating_sub(SHOWN / 2);
    let part: String = text.chars().skip(from).take(SHOWN).collect();
    let len = at.len().clamp(1, SHOWN);
    // One character stays one, so that the marks stand below what they mean.
    let plain = |c: char| if crate::error::is_unprintable(c) { '\u{fffd}' } else { c };
    Excerpt { text: part.chars().map(plain).collect(), start: at.start - from, len }
}

fn fault(text: &str, at: &Range<usize>, words: &str) -> Error {
    let Excerpt { text, start, len } = excerpt(text, at);
    let (gap, marks) = (" ".repeat(start), "^".repeat(len));
    Error::usage(format!("`terms`: {words}\n   |  {text}\n   |  {gap}{marks}"))
}
