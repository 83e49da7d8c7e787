//! How each claim is checked, in whole numbers.
//!
//! A binary64 filter spares most rows the exact sum (module `filter`).

mod answer;
mod approach;
mod class_counts;
mod coefficients;
mod columns;
mod counts;
pub mod elsewhere;
mod filter;
mod fitted;
mod floor;
mod forced;
mod independent;
mod joint;
mod margin;
mod mistakes;
mod modified_score;
mod normal;
mod optimal;
mod rearranged;
mod side;
mod stationary;
mod sweep;
mod system;
mod whole;

pub use answer::{ExactAnswer, exact_answer};
pub use independent::columns_are_independent;
pub use modified_score::measure_modified_score;

pub use optimal::{measure_optimal, percent_above};

use crate::basis::{Products, Stated};
use crate::claim::{Claim, ExactPlane, Question, Scheme, Weighted};
use crate::digest::Heads;
use crate::exact::{Scaled, are_short_decimals, has_decimal, positive, scaled_sum, whole};
use crate::file::{CertificateFile, ReadingField};
use crate::rank::rank_at_least;
use crate::rows::{Decimals, Reading, RowBuffer, Rows};
use crate::threads::{Known, by_rows, side_by_side};
use dashu_int::IBig;
use rearranged::Rearranged;
use side::Side;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// What the checker says of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It is true; the words say what was proved.
    Holds(String),
    /// It claims nothing; the words are its reason.
    Nothing(String),
    /// It is not true, or not shown by its evidence.
    Fails(String),
}

impl Finding {
    /// Whether the claim is true.
    pub fn holds(&self) -> bool {
        matches!(self, Finding::Holds(_))
    }
}

/// Checks every claim of a file against data whose digest, in the version that the file names, the caller
/// computed with [`crate::digest`]. Where the digest is another and the file has one of the rows in any order, that
/// decides; rows that claims name are then found by their hashes.
pub fn check_file(
    file: &CertificateFile,
    rows: &dyn Rows,
    digest: &str,
    threads: usize,
) -> Vec<Finding> {
    let is_other = file.data.sha256 != digest;
    let rearranged = if is_other { Rearranged::new(rows, &file.data, threads) } else { None };
    let rows: &dyn Rows = rearranged.as_ref().map_or(rows, |rows| rows);
    let wrong_data = if is_other && rearranged.is_none() {
        Some(format!(
            "the data has digest {digest}, the certificate speaks of {}",
            file.data.sha256
        ))
    } else if file.data.rows != rows.len() {
        Some(format!("the data has {} rows, the certificate {}", rows.len(), file.data.rows))
    } else {
        None
    };
    let wrong_data = wrong_data.or_else(|| unreadable(rows, &file.reading, threads));
    let stated = Stated { rows, basis: file.basis.as_ref() };
    let check = |claim| match &wrong_data {
        Some(words) => Finding::Fails(words.clone()),
        None => match check_claim(claim, &stated, &file.reading, file.bias, threads) {
            Finding::Holds(words) if is_other => Finding::Holds(words + ANOTHER_ORDER),
            Finding::Fails(words) if is_other => Finding::Fails(words + ANOTHER_ORDER),
            finding => finding,
        },
    };
    file.claims.iter().map(check).collect()
}

/// Said of tables whose rows are those of the certificate, but stand elsewhere.
const ANOTHER_ORDER: &str = "; the rows are those of the certificate in another order";

/// What is wrong with the reading of the first row at fault: a decimal column must hold short decimals only,
/// also in rows that no proof looks at.
fn unreadable(rows: &dyn Rows, reading: &ReadingField, threads: usize) -> Option<String> {
    const BLOCK: u64 = 1 << 12;
    if reading.default != Reading::Decimal {
        return None;
    }
    let wrong =
        |column: u32, value: f64| reading.of(column) == Reading::Decimal && !has_decimal(value);
    let block = |block: u64| {
        let RowBuffer { mut columns, mut values } = RowBuffer::default();
        let mut heads = Heads::default();
        (block * BLOCK..(block * BLOCK + BLOCK).min(rows.len())).find_map(|row| {
            // A number of 31 bits over 10^6 or less has at most ten digits.
            let is_decimal = |row: Decimals<'_>| heads.prepare(row.tens, row.numbers.len());
            if rows.decimals(row).is_some_and(is_decimal) {
                return None;
            }
            rows.load(row, &mut columns, &mut values);
            if are_short_decimals(&values) {
                return None;
            }
            let column = |k: usize| columns.get(k).copied().unwrap_or(k as u32);
            let mut entries = values.iter().enumerate().map(|(k, value)| (column(k), *value));
            let (column, value) = entries.find(|(column, value)| wrong(*column, *value))?;
            Some(format!(
                "row {row}, column {column}: {value:?} has no decimal of at most 15 digits"
            ))
        })
    };
    side_by_side(threads, 0..rows.len().div_ceil(BLOCK), &block).into_iter().flatten().next()
}

/// Checks one claim.
pub fn check_claim(
    claim: &Claim,
    rows: &dyn Rows,
    reading: &ReadingField,
    bias: bool,
    threads: usize,
) -> Finding {
    if let Claim::Unproved { reason } = claim {
        return Finding::Nothing(reason.clone());
    }
    let products = match Products::new(rows.basis(), rows.width()) {
        Ok(products) => products,
        Err(words) => return Finding::Fails(words),
    };
    let checker = Checker { rows, products, reading, bias, threads, elsewhere: None };
    let result = match claim {
        Claim::Unproved { reason } => return Finding::Nothing(reason.clone()),
        Claim::Separable { problem, plane } => checker.separable(problem, plane),
        Claim::Inseparable { problem, witness } => checker.inseparable(problem, witness),
        Claim::Touching { problem, witness, plane } => checker.touching(problem, witness, plane),
        Claim::Overlapping { problem, witness, null } => {
            checker.overlapping(problem, witness, null)
        }
        Claim::Margin { problem, constant, support, gamma2 } => {
            checker.margin(problem, constant, support, gamma2)
        }
        Claim::GeometricMargin { problem, support, gamma2 } => {
            checker.geometric_margin(problem, support, gamma2)
        }
        Claim::Bracket { problem, weights, bound } => checker.bracket(problem, weights, bound),
        Claim::JointSeparable { planes } => checker.joint_separable(planes),
        Claim::JointInseparable { witness } => checker.joint_inseparable(witness),
        Claim::JointTouching { witness, planes } => checker.joint_touching(witness, planes),
        Claim::JointOverlapping { witness, null } => checker.joint_overlapping(witness, null),
        Claim::Mistakes { problem, plane, mistakes, conflicts } => {
            checker.mistakes(problem, plane, *mistakes, conflicts)
        }
        Claim::Coefficients { problem, estimates } => checker.coefficients(problem, estimates),
        Claim::JointCoefficients { estimates } => checker.joint_coefficients(estimates),
        Claim::Forced { problem, forced } => checker.forced(problem, forced),
        Claim::Stationary { planes, equations } => checker.stationary(planes, equations),
        Claim::Counts { planes, statistics } => checker.counts(planes, statistics),
        Claim::Optimal { planes, optimality } => checker.optimal(planes, optimality),
        Claim::ModifiedScore { planes, modified_score } => {
            checker.modified_score(planes, modified_score)
        }
    };
    match result {
        Ok(words) => Finding::Holds(words),
        Err(words) => Finding::Fails(words),
    }
}

type Checked<T> = Result<T, String>;

/// A vector of D numbers: the constant first (key `None`), then the columns.
type Vector = BTreeMap<Option<u32>, Scaled>;

/// The terms of such a vector before they are added up.
type Terms = BTreeMap<Option<u32>, Vec<Scaled>>;

struct Checker<'a> {
    /// The rows before the basis.
    rows: &'a dyn Rows,
    products: Products,
    reading: &'a ReadingField,
    bias: bool,
    threads: usize,
    /// Where the rows are elsewhere, what is known of them.
    elsewhere: Option<&'a elsewhere::Course>,
}

impl Checker<'_> {
    fn separable(&self, problem: &Question, plane: &ExactPlane) -> Checked<String> {
        let signs = self.signs(problem)?;
        let plane = Side::new(plane, self)?;
        let count = self.every_row(&signs, |row, sign, buffer| {
            match self.side(&plane, row, buffer)?
                == if sign > 0 { Ordering::Greater } else { Ordering::Less }
            {
                true => Ok(()),
                false => Err(format!("row {row} is not strictly on its side")),
            }
        })?;
        Ok(format!("every one of {count} rows is strictly on its side of the plane"))
    }

    fn inseparable(&self, problem: &Question, witness: &[Weighted]) -> Checked<String> {
        let signs = self.signs(problem)?;
        self.zero_sum(&signs, witness, self.dimension() + 1)?;
        Ok(format!(
            "{} rows with positive weights add up to 0, so no plane separates",
            witness.len()
        ))
    }

    fn touching(
        &self,
        problem: &Question,
        witness: &[Weighted],
        plane: &ExactPlane,
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        self.zero_sum(&signs, witness, self.dimension() + 1)?;
        let plane = Side::new(plane, self)?;
        let off = std::sync::atomic::AtomicU64::new(0);
        self.every_row(&signs, |row, sign, buffer| {
            let side = self.side(&plane, row, buffer)?;
            let wrong = if sign > 0 { Ordering::Less } else { Ordering::Greater };
            if side == wrong {
                return Err(format!("row {row} is on the wrong side of the weak plane"));
            }
            if side != Ordering::Equal {
                off.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(())
        })?;
        match off.into_inner() {
            0 => Err("every row lies on the weak plane".into()),
            off => Ok(format!("no plane separates strictly; a weak one has {off} rows off it")),
        }
    }

    fn overlapping(
        &self,
        problem: &Question,
        witness: &[Weighted],
        null: &[Vec<String>],
    ) -> Checked<String> {
        let signs = self.signs(problem)?;
        let dimension = self.dimension();
        self.zero_sum(&signs, witness, 2 * dimension)?;
        let vectors = self.null_vectors(&signs, null)?;
        let all = self.every_row(&signs, |_, _, _| Ok(()))?;
        if witness.len() as u64 == all && witness.len() < dimension {
            return Ok(format!("all {all} rows add up to 0, so no plane separates even weakly"));
        }
        let rank = rank_at_least(&self.rows_of(witness.iter().map(|entry| entry.row))?);
        if rank + vectors.len() < dimension {
            return Err(format!(
                "the witness rows have rank {rank}, {} is needed",
                dimension - vectors.len()
            ));
        }
        Ok(format!(
            "{} rows add up to 0 and span all rows, so no plane separates even weakly",
            witness.len()
        ))
    }

    /// Independent vectors of D whole numbers, orthogonal to every row.
    fn null_vectors(&self, signs: &Signs, null: &[Vec<String>]) -> Checked<Vec<Vec<IBig>>> {
        let dimension = self.dimension();
        let mut vectors = Vec::new();
        for vector in null {
            let numbers: Checked<Vec<IBig>> = vector.iter().map(|n| whole(n)).collect();
            let numbers = numbers?;
            if numbers.len() != dimension {
                return Err(format!(
                    "a null vector has {} numbers, not {dimension}",
                    numbers.len()
                ));
            }
            vectors.push(numbers);
        }
        if rank_at_least(&vectors) < vectors.len() {
            return Err("the null vectors are not independent".into());
        }
        for vector in &vectors {
            let plane = Side::whole(vector, self.bias);
            self.every_row(signs, |row, _, _| match self.exact_side(&plane, row)? {
                Ordering::Equal => Ok(()),
                _ => Err(format!("row {row} is not orthogonal to a null vector")),
            })?;
        }
        Ok(vectors)
    }

    /// D: the columns, and one for the bias.
    fn dimension(&self) -> usize {
        self.width() + usize::from(self.bias)
    }

    /// The columns of φ(x).
    fn width(&self) -> usize {
        self.products.width()
    }

    /// φ(x) of a row in binary64; false if a product has no normal number.
    fn floats(&self, row: u64, each: &mut dyn FnMut(u32, f64)) -> bool {
        self.products.floats(self.rows, row, each)
    }

    fn signs(&self, problem: &Question) -> Checked<Signs> {
        let mut signs = HashMap::new();
        for (labels, sign) in [(&problem.positive, 1), (&problem.negative, -1)] {
            if labels.is_empty() {
                return Err("a side has no class".into());
            }
            for label in labels {
                if signs.insert(label.clone(), sign).is_some() {
                    return Err(format!("class {label} stands twice"));
                }
            }
        }
        if let Some(signs) = self.signs_elsewhere(problem, &signs) {
            return signs;
        }
        let all_rows = problem.scheme != Scheme::Pair;
        let block = |rows: Range<u64>| -> Checked<(Vec<i8>, [bool; 2], HashSet<&str>)> {
            let mut of_row = Vec::with_capacity((rows.end - rows.start) as usize);
            let (mut seen, mut met, mut known) = ([false; 2], HashSet::new(), Known::new());
            for row in rows {
                let label = self.rows.label(row);
                let sign = known.or_find(label, |label| {
                    met.insert(label);
                    signs.get(label).copied()
                });
                let takes_part = self.rows.takes_part(row);
                match sign {
                    Some(sign) if takes_part => seen[usize::from(sign > 0)] = true,
                    None if takes_part && all_rows => {
                        return Err(format!("row {row} of class {label} belongs to no side"));
                    }
                    _ => {}
                }
                of_row.push(sign.filter(|_| takes_part).unwrap_or(0));
            }
            Ok((of_row, seen, met))
        };
        let mut unseen: HashSet<&str> = signs.keys().map(String::as_str).collect();
        let mut of_row = Vec::with_capacity(self.rows.len() as usize);
        let mut seen = [false; 2];
        for block in by_rows(self.threads, self.rows.len(), &block) {
            let (signs, sides, met) = block?;
            of_row.extend(signs);
            (0..2).for_each(|side| seen[side] |= sides[side]);
            met.iter().for_each(|label| _ = unseen.remove(label));
        }
        // The least, so that the words are the same every time.
        if let Some(label) = unseen.iter().min() {
            return Err(format!("there is no class {label}"));
        }
        if seen != [true; 2] {
            return Err("a side has no row".into());
        }
        Ok(Signs(of_row))
    }

    fn check_row(&self, row: u64) -> Checked<()> {
        match row < self.rows.len() && self.rows.takes_part(row) {
            true => Ok(()),
            false => Err(format!("row {row} is not in the data")),
        }
    }

    /// Σ λ z = 0 for a witness of at most `most` different rows.
    fn zero_sum(&self, signs: &Signs, witness: &[Weighted], most: usize) -> Checked<()> {
        if witness.len() > most {
            return Err(format!(
                "the witness has {} rows, at most {most} are allowed",
                witness.len()
            ));
        }
        let (sum, _) = self.blend(signs, witness, &IBig::ONE)?;
        if is_zero(&sum) { Ok(()) } else { Err("the weighted rows do not add up to 0".into()) }
    }

    /// Σ λ z and Σ λ over different rows, z = ±(constant, x).
    fn blend(&self, signs: &Signs, rows: &[Weighted], constant: &IBig) -> Checked<(Vector, IBig)> {
        if rows.is_empty() {
            return Err("there are no rows".into());
        }
        let mut seen = HashSet::new();
        let (mut terms, mut total) = (Terms::new(), IBig::ZERO);
        for entry in rows {
            self.check_row(entry.row)?;
            if !seen.insert(entry.row) {
                return Err(format!("row {} stands twice", entry.row));
            }
            let lambda = positive(&entry.lambda)?;
            let sign = signs
                .of(entry.row)
                .ok_or_else(|| format!("row {} does not take part", entry.row))?;
            total += &lambda;
            self.add_row(&mut terms, entry.row, &(lambda * IBig::from(sign)), constant)?;
        }
        Ok((added_up(terms), total))
    }

    fn add_row(&self, terms: &mut Terms, row: u64, factor: &IBig, constant: &IBig) -> Checked<()> {
        if self.bias {
            terms.entry(None).or_default().push(Scaled::whole(constant * factor));
        }
        for (column, value) in self.values(row)? {
            terms.entry(Some(column)).or_default().push(value.times(factor));
        }
        Ok(())
    }

    /// The exact values of a row.
    fn values(&self, row: u64) -> Checked<Vec<(u32, Scaled)>> {
        let mut values = Vec::new();
        let mut failed = None;
        self.rows.for_each(row, &mut |column, value| match Scaled::read(
            value,
            self.reading.of(column),
        ) {
            Ok(value) => values.push((column, value)),
            Err(words) => failed = Some(format!("row {row}, column {column}: {words}")),
        });
        if let Some(words) = failed {
            return Err(words);
        }
        self.products.extend(&mut values);
        Ok(values)
    }

    /// Some rows (1, x) as whole numbers, each row by a factor of its own.
    fn rows_of(&self, rows: impl Iterator<Item = u64>) -> Checked<Vec<Vec<IBig>>> {
        let shift = usize::from(self.bias);
        rows.map(|row| {
            let values = self.values(row)?;
            let two = values.iter().map(|(_, v)| v.two).min().unwrap_or(0).min(0);
            let five = values.iter().map(|(_, v)| v.five).min().unwrap_or(0).min(0);
            let whole = |v: &Scaled| {
                (&v.m * crate::exact::power_of_five((v.five - five) as usize))
                    << (v.two - two) as usize
            };
            let mut row = vec![IBig::ZERO; self.dimension()];
            if self.bias {
                row[0] = whole(&Scaled::whole(1));
            }
            values.iter().for_each(|(column, v)| row[*column as usize + shift] = whole(v));
            Ok(row)
        })
        .collect()
    }

    /// The exact terms of a row on a plane.
    fn terms(&self, side: &Side, row: u64) -> Checked<Vec<Scaled>> {
        let mut terms = vec![side.bias.clone()];
        for (column, value) in self.values(row)? {
            if let Some(weight) = side.weight(column) {
                terms.push(value.product(&weight));
            }
        }
        Ok(terms)
    }

    fn exact_side(&self, side: &Side, row: u64) -> Checked<Ordering> {
        Ok(scaled_sum(&self.terms(side, row)?).cmp(&IBig::ZERO))
    }
}

/// The sign of each row; 0 for rows that do not take part.
struct Signs(Vec<i8>);

impl Signs {
    /// Every row that takes part has the sign +.
    fn all(rows: &dyn Rows) -> Signs {
        Signs((0..rows.len()).map(|row| i8::from(rows.takes_part(row))).collect())
    }

    fn of(&self, row: u64) -> Option<i8> {
        self.0.get(usize::try_from(row).ok()?).copied().filter(|sign| *sign != 0)
    }
}

/// Each coordinate added up once, so that large sums are not carried from term to term.
fn added_up(terms: Terms) -> Vector {
    terms.into_iter().map(|(key, terms)| (key, total(&terms))).collect()
}

/// Σ of the terms.
fn total(terms: &[Scaled]) -> Scaled {
    let used = || terms.iter().filter(|term| term.m != IBig::ZERO);
    Scaled {
        m: scaled_sum(terms),
        two: used().map(|term| term.two).min().unwrap_or(0),
        five: used().map(|term| term.five).min().unwrap_or(0),
    }
}

fn add(sum: &mut Vector, key: Option<u32>, value: Scaled) {
    let entry = sum.entry(key).or_insert_with(|| Scaled::whole(0));
    *entry = plus(entry, &value);
}

fn plus(a: &Scaled, b: &Scaled) -> Scaled {
    if a.m == IBig::ZERO {
        return b.clone();
    }
    if b.m == IBig::ZERO {
        return a.clone();
    }
    Scaled {
        m: scaled_sum(&[a.clone(), b.clone()]),
        two: a.two.min(b.two),
        five: a.five.min(b.five),
    }
}

fn is_zero(sum: &Vector) -> bool {
    sum.values().all(|value| value.m == IBig::ZERO)
}

fn square(vector: &Vector) -> Scaled {
    vector
        .values()
        .map(|value| value.product(value))
        .fold(Scaled::whole(0), |sum, x| plus(&sum, &x))
}

/// Σ a − Σ b, times a positive factor.
fn difference(a: &[Scaled], b: &[Scaled]) -> IBig {
    let mut terms = a.to_vec();
    terms.extend(b.iter().map(|term| term.times(&IBig::from(-1))));
    scaled_sum(&terms)
}
