//! What becomes of the coefficients of a maximum-likelihood fit.
//!
//! Let z be the rows of a question and C the weak planes: all w with z·w ≥ 0 for every row. Sequences of
//! weights that maximise the likelihood go away along C, so the claim speaks of C alone
//! (`docs/theory/theorems.md`, section 6). The weights of aliased columns are 0 throughout; *kept* are the
//! other coordinates.
//!
//! ```text
//! aliased       a relation n with n·(1, x) = 0 for every row, whose last coordinate is the column; or
//!               there are no more different rows than kept coordinates before it
//! kept          as many rows as kept coordinates, independent in these coordinates
//! tied rows     Σ λ z = 0 with λ > 0: every w in C has z·w = 0
//! directions    w with z·w ≥ 0 for every row
//! finite        the complement spans all that is orthogonal to the tied rows, and is 0 in the coordinate;
//!               so w_j = 0 for every w in C
//! +inf          Σ μ z = k e_j in the kept coordinates, k > 0 and μ ≥ 0 but on tied rows, so w_j ≥ 0 for
//!               every w in C; and a direction with w_j > 0
//! undetermined  a direction with w_j > 0 and one with w_j < 0
//! ```
//!
//! The complement spans everything if its vectors are independent, orthogonal to the tied rows and, with
//! the rank of the tied rows, as many as there are kept coordinates.

use super::side::Side;
use super::{Checked, Checker, Signs, difference};
use crate::claim::Question;
use crate::coefficients::{Estimate, Estimates, Multiple, SparseVector};
use crate::exact::{Scaled, power_of_five, scaled_sum, whole, whole_vector};
use crate::rank::rank_at_least;
use crate::rows::RowBuffer;
use dashu_int::IBig;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

impl Checker<'_> {
    /// The coefficients of one plane for two classes.
    pub(super) fn coefficients(&self, problem: &Question, e: &Estimates) -> Checked<String> {
        if !e.classes.is_empty() {
            return Err("two classes have no reference class".into());
        }
        let signs = self.signs(problem)?;
        Stack { checker: self, signs, classes: Vec::new() }.check(e)
    }

    /// The coefficients of a plane for each class but the last, as differences against it.
    pub(super) fn joint_coefficients(&self, e: &Estimates) -> Checked<String> {
        let mut named: Vec<&str> = e.classes.iter().map(String::as_str).collect();
        named.sort_unstable();
        let mut found: Vec<&str> = (0..self.rows.len()).map(|row| self.rows.label(row)).collect();
        found.sort_unstable();
        found.dedup();
        if named != found || named.len() < 2 {
            return Err("the classes are not those of the data".into());
        }
        let classes = e.classes.iter().map(String::as_str).collect();
        Stack { checker: self, signs: Signs::all(self.rows), classes }.check(e)
    }
}

/// The rows of a question as vectors over coordinates.
struct Stack<'a> {
    checker: &'a Checker<'a>,
    signs: Signs,
    /// None for two classes; else all, the reference last.
    classes: Vec<&'a str>,
}

/// A vector of whole numbers, without zeros.
type Whole = BTreeMap<u32, IBig>;

/// Which vector: a row, and for all classes at once the class that it is against.
type Key<'b> = (u64, Option<&'b str>);

impl Stack<'_> {
    fn check(&self, e: &Estimates) -> Checked<String> {
        let size = self.checker.dimension();
        let aliased = self.listed(e, size)?;
        let kept: Vec<u32> = (0..size as u32).filter(|c| !aliased[*c as usize]).collect();
        self.aliases(e, &aliased, &kept)?;
        let all: Vec<u32> = (0..self.blocks() as u32)
            .flat_map(|b| kept.iter().map(move |c| b * size as u32 + c))
            .collect();
        let tied = self.tied(e)?;
        let complement = self.complement(e, &all, &tied)?;
        let directions = self.directions(e, &all)?;
        let mut counts = [0u64; 6];
        for (at, coefficient) in (0u32..).zip(&e.coefficients) {
            let goes = |sign: Ordering| {
                directions.iter().any(|w| w.get(&at).is_some_and(|x| x.cmp(&IBig::ZERO) == sign))
            };
            let (evidence, estimate) = (&coefficient.combination, coefficient.estimate);
            let forced = matches!(estimate, Estimate::PlusInfinity | Estimate::MinusInfinity);
            if !forced && !evidence.is_empty() {
                return Err(format!("coefficient {at} has a combination without need"));
            }
            let shown = match estimate {
                Estimate::Aliased | Estimate::Undecided => true,
                Estimate::Finite => complement
                    .as_ref()
                    .is_some_and(|vectors| vectors.iter().all(|vector| !vector.contains_key(&at))),
                Estimate::PlusInfinity => {
                    goes(Ordering::Greater)
                        && self.forces(evidence, &all, &tied, at)? == Ordering::Greater
                }
                Estimate::MinusInfinity => {
                    goes(Ordering::Less)
                        && self.forces(evidence, &all, &tied, at)? == Ordering::Less
                }
                Estimate::Undetermined => goes(Ordering::Greater) && goes(Ordering::Less),
            };
            if !shown {
                return Err(format!("coefficient {at} is not shown to be {}", estimate.word()));
            }
            counts[estimate as usize] += 1;
        }
        Ok(sentence(&counts))
    }

    /// Blocks of coordinates.
    fn blocks(&self) -> usize {
        self.classes.len().saturating_sub(1).max(1)
    }

    /// Whether the list has every coordinate once, in order, and which coordinates of a block are aliased.
    fn listed(&self, e: &Estimates, size: usize) -> Checked<Vec<bool>> {
        let shift = usize::from(self.checker.bias);
        if e.coefficients.len() != self.blocks() * size {
            return Err(format!(
                "{} coefficients are listed, not {}",
                e.coefficients.len(),
                self.blocks() * size
            ));
        }
        let mut aliased = vec![false; size];
        for (at, coefficient) in e.coefficients.iter().enumerate() {
            let (block, c) = (at / size, at % size);
            let column = c.checked_sub(shift).map(|j| j as u32);
            let class = self.classes.get(block).copied();
            if coefficient.column != column || coefficient.class.as_deref() != class {
                return Err(format!("coefficient {at} is of another column or class"));
            }
            let is_aliased = coefficient.estimate == Estimate::Aliased;
            if block == 0 {
                aliased[c] = is_aliased;
            } else if aliased[c] != is_aliased {
                return Err("a column is aliased in one class and not in another".into());
            }
        }
        Ok(aliased)
    }

    /// Aliased columns are sums of those before, and no others are.
    fn aliases(&self, e: &Estimates, aliased: &[bool], kept: &[u32]) -> Checked<()> {
        let mut shown = vec![false; aliased.len()];
        // By coordinate, because rows have few of very many columns: relation and number there.
        let mut parts: BTreeMap<u32, Vec<(usize, IBig)>> = BTreeMap::new();
        for (at, relation) in e.relations.iter().enumerate() {
            let vector = whole_vector(relation, aliased.len())?;
            let Some((last, _)) = vector.last().filter(|(last, _)| aliased[*last as usize]) else {
                return Err("a relation is about no aliased column".into());
            };
            shown[*last as usize] = true;
            vector.into_iter().for_each(|(c, x)| parts.entry(c).or_default().push((at, x)));
        }
        self.checker.every_row(&self.signs, |row, _, _| self.satisfies(row, &parts))?;
        if let Some(c) = (0..aliased.len()).find(|&c| aliased[c] && !shown[c]) {
            let before = kept.iter().filter(|k| (**k as usize) < c).count();
            if before < self.different_rows() {
                return Err(format!("coordinate {c} is not shown to be aliased"));
            }
        }
        let different: HashSet<u64> = e.independent.iter().copied().collect();
        if different.len() != kept.len() || e.independent.len() != kept.len() {
            return Err(format!("{} different independent rows are needed", kept.len()));
        }
        let mut matrix = Vec::new();
        for &row in &e.independent {
            self.checker.check_row(row)?;
            self.signs.of(row).ok_or_else(|| format!("row {row} does not take part"))?;
            let mut terms = BTreeMap::new();
            self.add_block(&mut terms, row, 0, &IBig::ONE)?;
            matrix.push(whole_row(&terms, kept));
        }
        match rank_at_least(&matrix) == kept.len() {
            true => Ok(()),
            false => Err("the independent rows are not independent".into()),
        }
    }

    /// Whether (1, x) of a row is orthogonal to every relation.
    fn satisfies(&self, row: u64, parts: &BTreeMap<u32, Vec<(usize, IBig)>>) -> Checked<()> {
        let (mut terms, mut sums) = (BTreeMap::new(), BTreeMap::<usize, Vec<Scaled>>::new());
        self.add_block(&mut terms, row, 0, &IBig::ONE)?;
        for (c, values) in &terms {
            for (relation, x) in parts.get(c).into_iter().flatten() {
                let products = values.iter().map(|value: &Scaled| value.times(x));
                sums.entry(*relation).or_default().extend(products);
            }
        }
        match sums.values().all(|terms| scaled_sum(terms) == IBig::ZERO) {
            true => Ok(()),
            false => Err(format!("row {row} does not satisfy a relation")),
        }
    }

    /// How many rows are different: the rank is not larger.
    fn different_rows(&self) -> usize {
        let mut seen = HashSet::new();
        for row in (0..self.checker.rows.len()).filter(|row| self.signs.of(*row).is_some()) {
            let mut values = Vec::new();
            self.checker.rows.for_each(row, &mut |column, x| values.push((column, x.to_bits())));
            seen.insert(values);
        }
        seen.len()
    }

    /// The tied rows, after their sum was found to be 0.
    fn tied<'b>(&self, e: &'b Estimates) -> Checked<HashSet<Key<'b>>> {
        let most = 2 * self.blocks() * self.checker.dimension();
        if e.tied.len() > most {
            return Err(format!("{} tied rows, at most {most} are allowed", e.tied.len()));
        }
        let (sum, keys) = self.sum(&e.tied, |_, factor| *factor > IBig::ZERO)?;
        match sum.values().all(|x| *x == IBig::ZERO) {
            true => Ok(keys),
            false => Err("the tied rows do not add up to 0".into()),
        }
    }

    /// The complement, if there is one, after it was found to be all of it.
    fn complement(
        &self,
        e: &Estimates,
        all: &[u32],
        tied: &HashSet<Key<'_>>,
    ) -> Checked<Option<Vec<Whole>>> {
        let vectors: Checked<Vec<Whole>> =
            e.complement.iter().map(|vector| self.within(vector, all)).collect();
        let vectors = vectors?;
        let needed = e.coefficients.iter().any(|c| c.estimate == Estimate::Finite);
        if vectors.is_empty() && !needed {
            return Ok(None);
        }
        let mut keys: Vec<&Key<'_>> = tied.iter().collect();
        keys.sort_unstable();
        let mut matrix = Vec::new();
        for (row, against) in keys {
            let mut terms = BTreeMap::new();
            self.add(&mut terms, (*row, *against), &IBig::ONE)?;
            for vector in &vectors {
                let used = vector.iter().filter_map(|(c, x)| Some((terms.get(c)?, x)));
                let products: Vec<Scaled> = used
                    .flat_map(|(list, x)| list.iter().map(move |term: &Scaled| term.times(x)))
                    .collect();
                if scaled_sum(&products) != IBig::ZERO {
                    return Err(format!("the complement is not orthogonal to the tied row {row}"));
                }
            }
            matrix.push(whole_row(&terms, all));
        }
        let dense = |vector: &Whole| {
            all.iter().map(|c| vector.get(c).cloned().unwrap_or(IBig::ZERO)).collect::<Vec<IBig>>()
        };
        let dense: Vec<Vec<IBig>> = vectors.iter().map(dense).collect();
        if rank_at_least(&dense) < vectors.len() {
            return Err("the vectors of the complement are not independent".into());
        }
        if rank_at_least(&matrix) + vectors.len() < all.len() {
            return Err("the complement is not all of it".into());
        }
        Ok(Some(vectors))
    }

    /// The directions, after every row was found on the right side of each or on it.
    fn directions(&self, e: &Estimates, all: &[u32]) -> Checked<Vec<Whole>> {
        let mut found = Vec::new();
        for direction in &e.directions {
            let whole = self.within(direction, all)?;
            let sides = self.sides(direction, &whole)?;
            self.checker.every_row(&self.signs, |row, sign, buffer| {
                self.not_against(&sides, row, sign, buffer)
            })?;
            found.push(whole);
        }
        Ok(found)
    }

    /// Whether a row has z·w ≥ 0 for all of its vectors.
    fn not_against(
        &self,
        sides: &[Side],
        row: u64,
        sign: i8,
        buffer: &mut RowBuffer,
    ) -> Checked<()> {
        let checker = self.checker;
        let refusal = || Err(format!("row {row} is on the wrong side of a direction"));
        if self.classes.is_empty() {
            let wrong = if sign > 0 { Ordering::Less } else { Ordering::Greater };
            let side = checker.side(&sides[0], row, buffer)?;
            return if side == wrong { refusal() } else { Ok(()) };
        }
        let own = self.class_of(checker.rows.label(row))?;
        // The reference scores 0.
        let terms = |k: usize| sides.get(k).map_or(Ok(Vec::new()), |side| checker.terms(side, row));
        let mine = terms(own)?;
        for other in (0..self.classes.len()).filter(|&other| other != own) {
            let filtered = sides.get(own).zip(sides.get(other));
            if let Some((own, other)) = filtered
                && checker.filter_greater(own, other, row, buffer)
            {
                continue;
            }
            if difference(&mine, &terms(other)?) < IBig::ZERO {
                return refusal();
            }
        }
        Ok(())
    }

    /// The sign of k in Σ μ z = k e_j; an error if the sum has another part or a μ the wrong sign.
    fn forces(
        &self,
        combination: &[Multiple],
        all: &[u32],
        tied: &HashSet<Key<'_>>,
        at: u32,
    ) -> Checked<Ordering> {
        let (sum, _) = self.sum(combination, |key, factor| {
            *factor > IBig::ZERO || *factor < IBig::ZERO && tied.contains(key)
        })?;
        let zero = |c: &u32| *c == at || sum.get(c).is_none_or(|x| *x == IBig::ZERO);
        match all.iter().all(zero) {
            true => Ok(sum.get(&at).map_or(Ordering::Equal, |x| x.cmp(&IBig::ZERO))),
            false => Err(format!("the combination of coefficient {at} has other parts")),
        }
    }

    /// Σ factor z over different vectors, each coordinate times a positive number of its own.
    fn sum<'b>(
        &self,
        list: &'b [Multiple],
        allowed: impl Fn(&Key<'b>, &IBig) -> bool,
    ) -> Checked<(Whole, HashSet<Key<'b>>)> {
        let (mut terms, mut keys) = (BTreeMap::new(), HashSet::new());
        for Multiple { row, against, factor } in list {
            let key = (*row, against.as_deref());
            let factor = whole(factor)?;
            self.checker.check_row(*row)?;
            if !allowed(&key, &factor) {
                return Err(format!("row {row} has a factor of the wrong sign"));
            }
            if !keys.insert(key) {
                return Err(format!("row {row} stands twice"));
            }
            self.add(&mut terms, key, &factor)?;
        }
        let sum = terms.iter().map(|(c, terms)| (*c, scaled_sum(terms))).collect();
        Ok((sum, keys))
    }

    /// Adds a multiple of a vector.
    fn add(
        &self,
        terms: &mut BTreeMap<u32, Vec<Scaled>>,
        (row, against): Key<'_>,
        factor: &IBig,
    ) -> Checked<()> {
        let sign = self.signs.of(row).ok_or_else(|| format!("row {row} does not take part"))?;
        match (against, self.classes.is_empty()) {
            (None, true) => self.add_block(terms, row, 0, &(factor * IBig::from(sign))),
            (Some(against), false) => {
                let own = self.class_of(self.checker.rows.label(row))?;
                let other = self.class_of(against)?;
                if own == other {
                    return Err(format!("row {row} is against its own class"));
                }
                self.add_block(terms, row, own, factor)?;
                self.add_block(terms, row, other, &-factor.clone())
            }
            _ => Err(format!("row {row} is against a class, or against none")),
        }
    }

    /// Adds a multiple of (1, x) to a block; the reference has none.
    fn add_block(
        &self,
        terms: &mut BTreeMap<u32, Vec<Scaled>>,
        row: u64,
        block: usize,
        factor: &IBig,
    ) -> Checked<()> {
        if block >= self.blocks() {
            return Ok(());
        }
        let shift = u32::from(self.checker.bias);
        let from = (block * self.checker.dimension()) as u32;
        if self.checker.bias {
            terms.entry(from).or_default().push(Scaled::whole(factor.clone()));
        }
        for (column, value) in self.checker.values(row)? {
            terms.entry(from + shift + column).or_default().push(value.times(factor));
        }
        Ok(())
    }

    fn class_of(&self, label: &str) -> Checked<usize> {
        let found = self.classes.iter().position(|class| *class == label);
        found.ok_or_else(|| format!("there is no class {label}"))
    }

    /// A vector of whole numbers that has no part outside of the kept coordinates.
    fn within(&self, vector: &SparseVector, all: &[u32]) -> Checked<Whole> {
        let size = self.blocks() * self.checker.dimension();
        let whole: Whole = whole_vector(vector, size)?.into_iter().collect();
        match whole.keys().all(|c| all.binary_search(c).is_ok()) {
            true => Ok(whole),
            false => Err("a vector has a part in an aliased column".into()),
        }
    }

    /// The planes of a direction, one for each block: of binary64 if all numbers are, else whole.
    fn sides(&self, direction: &SparseVector, whole: &Whole) -> Checked<Vec<Side>> {
        let size = self.checker.dimension();
        let blocks = 0..self.blocks();
        match Side::binary64_blocks(direction, size, blocks.len(), self.checker.bias) {
            Some(sides) => Ok(sides),
            None => {
                let pairs: Vec<(u32, IBig)> = whole.iter().map(|(c, x)| (*c, x.clone())).collect();
                Ok(blocks.map(|block| self.side(&pairs, block)).collect())
            }
        }
    }

    /// The plane of whole numbers in a block.
    fn side(&self, vector: &[(u32, IBig)], block: usize) -> Side {
        let size = self.checker.dimension();
        let mut numbers = vec![IBig::ZERO; size];
        for (c, x) in vector.iter().filter(|(c, _)| *c as usize / size == block) {
            numbers[*c as usize % size] = x.clone();
        }
        Side::whole(&numbers, self.checker.bias)
    }
}

/// Some coordinates of a vector, times one factor that makes them whole.
fn whole_row(terms: &BTreeMap<u32, Vec<Scaled>>, coordinates: &[u32]) -> Vec<IBig> {
    let used = || terms.values().flatten().filter(|term| term.m != IBig::ZERO);
    let two = used().map(|term| term.two).min().unwrap_or(0);
    let five = used().map(|term| term.five).min().unwrap_or(0);
    let number = |term: &Scaled| {
        (&term.m * power_of_five((term.five - five).max(0) as usize))
            << (term.two - two).max(0) as usize
    };
    let entry = |c: &u32| {
        let list = terms.get(c).map_or(&[][..], Vec::as_slice);
        list.iter().fold(IBig::ZERO, |sum, term| sum + number(term))
    };
    coordinates.iter().map(entry).collect()
}

/// `2 coefficients are finite, 1 goes to +inf`, in words.
fn sentence(counts: &[u64; 6]) -> String {
    let total: u64 = counts.iter().sum();
    let kinds = [
        Estimate::Finite,
        Estimate::PlusInfinity,
        Estimate::MinusInfinity,
        Estimate::Undetermined,
        Estimate::Aliased,
        Estimate::Undecided,
    ];
    let parts: Vec<String> = kinds
        .iter()
        .zip(counts)
        .filter(|(_, count)| **count > 0)
        .map(|(kind, count)| format!("{count} {}", kind.word()))
        .collect();
    format!("coefficients of the maximum-likelihood fit, {total} in all: {}", parts.join(", "))
}
