//! Touching or overlapping: the kind of inseparable rows, by facial reduction.
//!
//! Rows S with λ > 0 and Σ λ z = 0 force every weak plane (z·w ≥ 0 for all rows) to contain them:
//! z·w = 0 on their span L. So the question goes on in the orthogonal complement of L: with N a
//! whole basis of it, the rows z N that are not 0 either have a strict plane w', and then w = N w'
//! is a weak plane with exactly those rows off it (touching); or rows of them balance too, and they
//! join S. When no row is left outside L, no weak plane exists (overlapping).
//!
//! With fewer rows than dimensions the rows are cut down to as many columns as they have rank: these span all
//! columns, so no sum of rows that is 0 and no weak plane is lost, and the dimension is that of the rows.
//!
//! Small questions are reduced in whole numbers throughout. In larger ones floats choose the rows
//! and the plane ([`Span`]), and whole numbers make them exact.

use super::complement::{free_coordinates, orthogonal_complement};
use super::conflict::equal_pairs;
use super::exactly::{Exactly, decide};
use super::lift::{Combination, combination, eliminate, sums_to_zero};
use super::proposal::{gcd, raw_whole, weighted};
use super::search::{Effort, EffortSpent};
use super::signed::{Signed, WholeRows};
use super::span::{Outside, Span};
use super::{Escape, Verdict};
use dashu_int::IBig;
use linsep_proof::{Claim, ExactNumber, ExactPlane, ReadingField, Weighted, check_claim};

/// Up to this many numbers the exact method needs no help.
const FEW_NUMBERS: usize = 1000;

/// Up to this many dimensions all columns are taken, so that the claim says the rank, too.
const FEW_DIMENSIONS: usize = 64;

/// Beyond this many numbers the exact method alone would take too long.
pub(crate) const MANY_NUMBERS: usize = 2_000_000;

/// Beyond this many numbers the whole rows take too much memory.
const MOST_NUMBERS: usize = 8_000_000;

/// What the reduction found out.
pub(crate) struct Refined {
    pub(crate) verdict: Verdict,
    pub(crate) claim: Claim,
    pub(crate) escape: Option<Escape>,
    /// Tied rows that span all of them, with their weights, where the rows touch.
    pub(crate) face: Vec<(usize, IBig)>,
    pub(crate) work: EffortSpent,
}

/// Tells the kind of rows that are proved not separable. What cannot be told stays inseparable.
pub(crate) fn refine(
    view: &Signed,
    reading: ReadingField,
    effort: &Effort<'_>,
    claim: Claim,
) -> Refined {
    let mut work = EffortSpent::default();
    let mut proving = 0.0;
    let mut holds = |claim: &Claim| {
        let started = (effort.clock)();
        let data = view.data.as_ref();
        let holds = check_claim(claim, data, &reading, view.bias, effort.threads).holds();
        proving += (effort.clock)() - started;
        holds
    };
    let found = match &claim {
        Claim::Inseparable { witness, .. } => kind_of(view, witness, effort, &mut work, &mut holds),
        _ => None,
    };
    work.proving = proving;
    match found {
        Some(Found { verdict, claim, escape, face }) => {
            Refined { verdict, claim, escape, face, work }
        }
        None => {
            let (verdict, face) = (Verdict::Inseparable, Vec::new());
            Refined { verdict, claim, escape: None, face, work }
        }
    }
}

/// A kind and its proof.
struct Found {
    verdict: Verdict,
    claim: Claim,
    escape: Option<Escape>,
    face: Vec<(usize, IBig)>,
}

fn kind_of(
    view: &Signed,
    witness: &[Weighted],
    effort: &Effort<'_>,
    work: &mut EffortSpent,
    holds: &mut dyn FnMut(&Claim) -> bool,
) -> Option<Found> {
    let numbers = view.len().saturating_mul(view.dimension());
    let floats_first = numbers > FEW_NUMBERS;
    let wide = view.dimension() > view.len().max(FEW_DIMENSIONS) && numbers <= MOST_NUMBERS;
    let columns = wide.then(|| pivot_columns(view));
    let numbers = columns.as_ref().map_or(numbers, |columns| view.len() * (columns.len() + 1));
    if numbers > MOST_NUMBERS {
        return None;
    }
    let mut reduction = Reduction::new(view, witness, columns)?;
    for floats in [true, false] {
        if (floats && !floats_first) || (!floats && numbers > MANY_NUMBERS) {
            continue;
        }
        // Where floats give up, whole numbers go on with the rows that are known to balance.
        let proposal = match floats {
            true => reduction.run_with_floats(effort, work),
            false => reduction.run(effort, work),
        };
        let Some(proposal) = proposal else { continue };
        work.visits += view.len() as u64;
        if holds(&proposal) {
            let claim = proposal;
            if !matches!(claim, Claim::Touching { .. }) {
                let (escape, face) = (None, Vec::new());
                return Some(Found { verdict: Verdict::Overlapping, claim, escape, face });
            }
            let escape = Some(reduction.escape());
            reduction.thin_out();
            return Some(Found {
                verdict: Verdict::Touching,
                claim,
                escape,
                face: reduction.balanced,
            });
        }
    }
    None
}

/// A witness of full rank leaves no room for a weak plane.
pub(crate) fn spanning(view: &Signed, witness: &[Weighted]) -> Option<Claim> {
    let position = |entry: &Weighted| view.rows.binary_search(&u32::try_from(entry.row).ok()?).ok();
    let chosen: Option<Vec<usize>> = witness.iter().map(position).collect();
    let rank = eliminate(&view.whole_rows(&chosen?).rows).len();
    let (problem, witness) = (view.problem.clone(), witness.to_vec());
    (rank == view.dimension()).then_some(Claim::Overlapping { problem, witness, null: Vec::new() })
}

/// Columns that are independent in the rows and span all of them, modulo a prime: what they lead to is checked.
fn pivot_columns(view: &Signed) -> Vec<u32> {
    let whole = view.whole_rows(&(0..view.len()).collect::<Vec<_>>());
    let shift = usize::from(view.bias);
    let used = eliminate(&whole.rows).into_iter().filter_map(|(_, at)| at.checked_sub(shift));
    let mut columns: Vec<u32> = used.map(|at| whole.columns[at]).collect();
    columns.sort_unstable();
    columns
}

/// The state of the reduction: the rows known to balance.
struct Reduction<'b> {
    view: &'b Signed,
    /// The columns that are enough, where there are fewer rows than dimensions.
    columns: Option<Vec<u32>>,
    first_witness: Vec<Weighted>,
    /// (row of the question, λ) with Σ λ z = 0, λ > 0.
    balanced: Vec<(usize, IBig)>,
    /// All rows of the question as whole vectors.
    whole: WholeRows,
}

impl<'b> Reduction<'b> {
    fn new(view: &'b Signed, witness: &[Weighted], columns: Option<Vec<u32>>) -> Option<Self> {
        let mut balanced = Vec::new();
        for entry in witness {
            let at = view.rows.binary_search(&u32::try_from(entry.row).ok()?).ok()?;
            balanced.push((at, entry.lambda.parse().ok()?));
        }
        let all: Vec<usize> = (0..view.len()).collect();
        let whole = match &columns {
            None => view.whole_rows(&all),
            Some(columns) => view.whole_rows_over(&all, columns),
        };
        Some(Reduction { view, columns, first_witness: witness.to_vec(), balanced, whole })
    }

    /// Whole numbers throughout.
    fn run(&mut self, effort: &Effort<'_>, work: &mut EffortSpent) -> Option<Claim> {
        loop {
            if (effort.stop)() {
                return None;
            }
            let complement = self.complement();
            let outside = projected(&self.whole.rows, &complement);
            if outside.is_empty() {
                return self.overlapping(&complement);
            }
            match decide_growing(&outside, complement.len(), effort, work)? {
                Exactly::Separated(reduced) => return Some(self.touching(&complement, &reduced)),
                Exactly::Balanced(lambda) => {
                    let support: Vec<usize> = lambda.iter().map(|(j, _)| outside[*j].0).collect();
                    self.join(&support)?;
                }
            }
        }
    }

    /// Floats choose the rows that join and the weak plane; whole numbers make them exact.
    fn run_with_floats(&mut self, effort: &Effort<'_>, work: &mut EffortSpent) -> Option<Claim> {
        let mut span = match &self.columns {
            None => Span::new(self.view),
            Some(columns) => Span::over(self.view, columns),
        };
        self.balanced.iter().for_each(|(at, _)| {
            span.add(self.view, *at);
        });
        // Equal rows of both signs balance two by two: the cheapest way to a large span.
        work.visits += self.view.len() as u64;
        for (a, b) in equal_pairs(self.view) {
            if span.add(self.view, a) {
                self.balanced.extend([(a, IBig::ONE), (b, IBig::ONE)]);
            }
        }
        loop {
            if (effort.stop)() {
                return None;
            }
            match span.search(self.view, effort, work)? {
                Outside::Nothing => {
                    let complement = self.complement();
                    return self.overlapping(&complement);
                }
                Outside::Plane(plane) => {
                    let complement = self.complement();
                    return Some(self.nearest_weak_plane(&complement, &plane));
                }
                Outside::Balance(rows) => {
                    self.join(&rows)?;
                    rows.iter().for_each(|&at| {
                        span.add(self.view, at);
                    });
                }
            }
        }
    }

    fn rows_of(&self, chosen: impl Iterator<Item = usize>) -> Vec<Vec<IBig>> {
        chosen.map(|at| self.whole.rows[at].clone()).collect()
    }

    /// Positions in `balanced` of independent rows that span all of them.
    fn basis(&self) -> Vec<usize> {
        let rows = self.rows_of(self.balanced.iter().map(|(at, _)| *at));
        eliminate(&rows).into_iter().map(|(vector, _)| vector).collect()
    }

    /// A whole basis of the complement of the balanced rows.
    fn complement(&self) -> Vec<Vec<IBig>> {
        let rows = self.rows_of(self.basis().into_iter().map(|k| self.balanced[k].0));
        orthogonal_complement(&rows, self.whole.rows[0].len())
    }

    /// Adds rows of which a positive combination lies in the span, and balances them all.
    fn join(&mut self, support: &[usize]) -> Option<()> {
        let basis = self.basis();
        let vectors =
            self.rows_of(basis.iter().map(|&k| self.balanced[k].0).chain(support.iter().copied()));
        let lambda = match combination(&vectors) {
            Combination::One(lambda) => lambda,
            Combination::None => return None,
            Combination::Many => return self.join_some(support),
        };
        let (c, l) = lambda.split_at(basis.len());
        let sign = if l.iter().any(|l| *l < IBig::ZERO) { IBig::from(-1) } else { IBig::ONE };
        let pairs = support.iter().zip(l).map(|(&at, l)| (at, l * &sign));
        let joined: Vec<(usize, IBig)> = pairs.filter(|(_, l)| *l != IBig::ZERO).collect();
        if joined.is_empty() || joined.iter().any(|(_, l)| *l < IBig::ZERO) {
            return None;
        }
        // Σ joined + Σ added z = 0; the least multiple t of the old weights makes all positive.
        let mut added = vec![IBig::ZERO; self.balanced.len()];
        basis.iter().zip(c).for_each(|(&k, c)| added[k] = c * &sign);
        let mut t = IBig::ONE;
        for ((_, l), c) in self.balanced.iter().zip(&added) {
            if *c <= IBig::ZERO {
                t = t.max((-c.clone()) / l + IBig::ONE);
            }
        }
        let old = std::mem::replace(&mut self.balanced, joined).into_iter().zip(added);
        self.balanced.extend(old.map(|((at, l), c)| (at, l * &t + c)));
        Some(())
    }

    /// Joins rows of which several combinations lie in the span: outside the span the exact decision finds some
    /// that balance in one way only, and then others, until none is left that does.
    fn join_some(&mut self, support: &[usize]) -> Option<()> {
        let complement = self.complement();
        let outside = projected(&self.rows_of(support.iter().copied()), &complement);
        let points: Vec<Vec<IBig>> = outside.iter().map(|(_, point)| point.clone()).collect();
        if points.is_empty() {
            return support.iter().try_for_each(|&at| self.join(&[at]));
        }
        let Some(Exactly::Balanced(lambda)) = decide(&points, &|| false) else { return None };
        let chosen: Vec<usize> = lambda.iter().map(|(j, _)| support[outside[*j].0]).collect();
        let rest: Vec<usize> = support.iter().copied().filter(|at| !chosen.contains(at)).collect();
        if rest.is_empty() {
            return None;
        }
        self.join(&chosen)?;
        self.join(&rest)
    }

    fn overlapping(&mut self, complement: &[Vec<IBig>]) -> Option<Claim> {
        if self.columns.is_some() {
            return self.all_balanced();
        }
        self.thin_out()?;
        let rows = self.rows_of(self.balanced.iter().map(|(at, _)| *at));
        let lambda: Vec<IBig> = self.balanced.iter().map(|(_, l)| l.clone()).collect();
        if !sums_to_zero(&rows, &lambda) {
            return None;
        }
        let mut null: Vec<Vec<String>> = complement.iter().map(|n| self.raw_vector(n)).collect();
        // Columns that are 0 in every row are orthogonal to all of them too.
        let shift = usize::from(self.view.bias);
        for column in 0..self.view.data.n_features() as u32 {
            if self.whole.columns.binary_search(&column).is_err() {
                let mut unit = vec!["0".to_owned(); self.view.dimension()];
                unit[column as usize + shift] = "1".to_owned();
                null.push(unit);
            }
        }
        let witness = weighted(self.view, &self.balanced);
        Some(Claim::Overlapping { problem: self.view.problem.clone(), witness, null })
    }

    /// Every row in one sum that is 0: then nothing has to be said about the rank.
    fn all_balanced(&mut self) -> Option<Claim> {
        self.merge_repeats();
        for at in 0..self.view.len() {
            if !self.balanced.iter().any(|(known, _)| *known == at) {
                self.join(&[at])?;
            }
        }
        let witness = weighted(self.view, &self.balanced);
        let (problem, null) = (self.view.problem.clone(), Vec::new());
        Some(Claim::Overlapping { problem, witness, null })
    }

    /// Keeps at most twice as many balanced rows as dimensions, of the same span.
    fn thin_out(&mut self) -> Option<()> {
        self.merge_repeats();
        while self.balanced.len() > 2 * self.view.dimension() {
            let basis = self.basis();
            let extras = (0..self.balanced.len()).filter(|k| !basis.contains(k));
            let mut fewer = extras.filter_map(|extra| self.without(&basis, extra));
            let rank = |balanced: &[(usize, IBig)]| {
                eliminate(&self.rows_of(balanced.iter().map(|(at, _)| *at))).len()
            };
            let found = fewer.find(|balanced| rank(balanced) == basis.len())?;
            self.balanced = found;
        }
        Some(())
    }

    /// The balance with less weight: a row besides a basis makes a circuit with it, and moving weight
    /// along the circuit brings some weight to 0. (When several vanish at once the span may shrink.)
    fn without(&self, basis: &[usize], extra: usize) -> Option<Vec<(usize, IBig)>> {
        let members: Vec<usize> = basis.iter().copied().chain([extra]).collect();
        let vectors = self.rows_of(members.iter().map(|&k| self.balanced[k].0));
        let Combination::One(mut circuit) = combination(&vectors) else { return None };
        if !circuit.iter().any(|c| *c > IBig::ZERO) {
            circuit.iter_mut().for_each(|c| *c = -c.clone());
        }
        // The least λ/c over positive c.
        let mut least: Option<(IBig, IBig)> = None;
        for (&k, c) in members.iter().zip(&circuit).filter(|(_, c)| **c > IBig::ZERO) {
            let l = &self.balanced[k].1;
            if least.as_ref().is_none_or(|(p, q)| l * q < p * c) {
                least = Some((l.clone(), c.clone()));
            }
        }
        let (p, q) = least?;
        let mut balanced = self.balanced.clone();
        balanced.iter_mut().for_each(|(_, l)| *l *= &q);
        for (&k, c) in members.iter().zip(&circuit) {
            balanced[k].1 -= c * &p;
        }
        balanced.retain(|(_, l)| *l > IBig::ZERO);
        Some(balanced)
    }

    /// A row that was balanced twice has the sum of its weights.
    fn merge_repeats(&mut self) {
        self.balanced.sort_by_key(|(at, _)| *at);
        self.balanced.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += &later.1;
            }
            same
        });
    }

    /// The vector of the complement next to a float plane, as a weak plane. In reduced form each
    /// basis vector is alone in its free coordinate, so the plane's value there says how much of it
    /// is needed.
    fn nearest_weak_plane(&self, complement: &[Vec<IBig>], plane: &[f64]) -> Claim {
        let shift = usize::from(self.view.bias);
        let value = |coordinate: usize| {
            if coordinate < shift {
                return plane[0];
            }
            let column = self.whole.columns[coordinate - shift] as usize;
            let (two, five) = self.whole.scale[coordinate - shift];
            plane[column + shift] * 2f64.powi(two) * 5f64.powi(five)
        };
        let free = free_coordinates(complement);
        let amounts = free.iter().zip(complement);
        let amounts: Vec<f64> = amounts.map(|(&j, n)| value(j) / n[j].to_f64().value()).collect();
        let largest = amounts.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let whole = |x: &f64| IBig::try_from((x / largest * 2f64.powi(45)).round());
        let reduced: Vec<IBig> = amounts.iter().map(|x| whole(x).unwrap_or(IBig::ZERO)).collect();
        self.touching(complement, &reduced)
    }

    fn touching(&self, complement: &[Vec<IBig>], reduced: &[IBig]) -> Claim {
        let mut w = vec![IBig::ZERO; self.whole.rows[0].len()];
        for (n, factor) in complement.iter().zip(reduced) {
            w.iter_mut().zip(n).for_each(|(w, n)| *w += n * factor);
        }
        let (weights, bias) = raw_whole(&self.whole, &w);
        let numbers = weights.iter().map(|(_, w)| w).chain([&bias]);
        let divisor = numbers.fold(IBig::ZERO, |g, x| gcd(g, x.clone())).max(IBig::ONE);
        let number = |x: &IBig| ExactNumber::Ratio((x / &divisor).to_string());
        let plane = ExactPlane::default()
            .with_sparse(Some(weights.iter().map(|(j, w)| (*j, number(w))).collect()))
            .with_bias(self.view.bias.then(|| number(&bias)));
        let (problem, witness) = (self.view.problem.clone(), self.first_witness.clone());
        Claim::Touching { problem, witness, plane }
    }

    /// What the rows outside the span push away. Every weak plane lies in the complement of the
    /// span, and some weak plane has every row outside off itself: so a coefficient is finite just
    /// when its unit vector lies in the span, that is, when the complement has no part of it.
    fn escape(&self) -> Escape {
        let complement = self.complement();
        let shift = usize::from(self.view.bias);
        let has_part = |j: usize| complement.iter().any(|n| n[j] != IBig::ZERO);
        let bias = (self.view.bias && has_part(0)).then_some(None);
        // A column that is 0 in every row is in no span of rows; of the columns that were left out some sum
        // with others is 0 in every row.
        let columns = (0..self.view.data.n_features() as u32).filter(|column| {
            self.whole.columns.binary_search(column).map_or(true, |at| has_part(at + shift))
        });
        let mut coefficients: Vec<Option<u32>> =
            bias.into_iter().chain(columns.map(Some)).collect();
        if self.columns.is_some() {
            self.add_unspanned(&mut coefficients);
        }
        let is_outside = |row: &[IBig]| complement.iter().any(|n| dot(row, n) != IBig::ZERO);
        let outside =
            self.whole.rows.iter().zip(&self.view.rows).filter(|(row, _)| is_outside(row));
        Escape { coefficients, rows: outside.map(|(_, &row)| u64::from(row)).collect() }
    }

    /// Adds the coefficients whose unit vector is spanned in the columns that are enough, but not in all.
    fn add_unspanned(&self, coefficients: &mut Vec<Option<u32>>) {
        let rows: Vec<usize> = self.basis().into_iter().map(|k| self.balanced[k].0).collect();
        let full = self.view.whole_rows(&rows);
        let shift = usize::from(self.view.bias);
        let all = (0..self.view.data.n_features() as u32).map(Some);
        let bias = self.view.bias.then_some(None);
        for column in
            bias.into_iter().chain(all).filter(|c| !coefficients.contains(c)).collect::<Vec<_>>()
        {
            let at = column.map_or(Ok(0), |c| full.columns.binary_search(&c).map(|at| at + shift));
            let spanned = at.is_ok_and(|at| {
                let mut vectors = full.rows.clone();
                let mut unit = vec![IBig::ZERO; full.columns.len() + shift];
                unit[at] = IBig::ONE;
                vectors.push(unit);
                matches!(combination(&vectors), Combination::One(_))
            });
            if !spanned {
                coefficients.push(column);
            }
        }
        coefficients.sort_unstable();
    }

    /// A vector in the scaled coordinates as a raw vector of D whole numbers.
    fn raw_vector(&self, vector: &[IBig]) -> Vec<String> {
        let (weights, bias) = raw_whole(&self.whole, vector);
        let shift = usize::from(self.view.bias);
        let mut raw = vec![IBig::ZERO; self.view.dimension()];
        if self.view.bias {
            raw[0] = bias;
        }
        weights.into_iter().for_each(|(j, w)| raw[j as usize + shift] = w);
        raw.iter().map(ToString::to_string).collect()
    }
}

/// Rows outside of a span, projected on its complement; equal projections once.
pub(crate) fn projected(rows: &[Vec<IBig>], complement: &[Vec<IBig>]) -> Vec<(usize, Vec<IBig>)> {
    let mut seen = std::collections::HashSet::new();
    let mut outside = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let projected: Vec<IBig> = complement.iter().map(|n| dot(row, n)).collect();
        if projected.iter().any(|x| *x != IBig::ZERO) && seen.insert(projected.clone()) {
            outside.push((at, projected));
        }
    }
    outside
}

/// The exact method on a growing set of vectors; the last is in it from the start.
pub(crate) fn decide_growing(
    vectors: &[(usize, Vec<IBig>)],
    dimension: usize,
    effort: &Effort<'_>,
    work: &mut EffortSpent,
) -> Option<Exactly> {
    let batch = 2 * dimension + 8;
    let step = (vectors.len() / batch).max(1);
    let mut active: Vec<usize> = (0..vectors.len()).step_by(step).take(2 * batch).collect();
    let mut is_active = vec![false; vectors.len()];
    if let Some(last) = vectors.len().checked_sub(1).filter(|last| !active.contains(last)) {
        active.push(last);
    }
    active.iter().for_each(|&j| is_active[j] = true);
    loop {
        work.exact += 1;
        let rows: Vec<Vec<IBig>> = active.iter().map(|&j| vectors[j].1.clone()).collect();
        match decide(&rows, effort.stop)? {
            Exactly::Balanced(lambda) => {
                let lambda = lambda.into_iter().map(|(j, l)| (active[j], l));
                return Some(Exactly::Balanced(lambda.collect()));
            }
            Exactly::Separated(w) => {
                let on_wrong_side =
                    |&j: &usize| !is_active[j] && dot(&vectors[j].1, &w) <= IBig::ZERO;
                let wrong: Vec<usize> =
                    (0..vectors.len()).filter(on_wrong_side).take(batch).collect();
                if wrong.is_empty() {
                    return Some(Exactly::Separated(w));
                }
                for j in wrong {
                    is_active[j] = true;
                    active.push(j);
                }
            }
        }
    }
}

fn dot(a: &[IBig], b: &[IBig]) -> IBig {
    a.iter().zip(b).fold(IBig::ZERO, |sum, (x, y)| {
        if *x == IBig::ZERO || *y == IBig::ZERO { sum } else { sum + x * y }
    })
}
