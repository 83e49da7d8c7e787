//! The signs that a coordinate has in the cone of the weak planes, C = { w : z·w ≥ 0 for every row }.
//!
//! The tied rows lie on every weak plane, and L is their span. So C lies in the complement of L, and has an
//! interior there: planes with every other row strictly off themselves. A coordinate j with a part in the
//! complement has w_j > 0 somewhere in C exactly if it has so in the interior, that is, if the rows outside
//! of L and the vector e_j together have a strict plane. If they have none, a sum of rows with factors μ ≥ 0
//! and of e_j lies in L: then −k e_j = Σ μ z + (tied rows), k > 0, and w_j ≤ 0 for all of C. So each sign of
//! each coordinate is one more question of the kind that a verdict answers, with one more vector.
//!
//! Floats choose the rows and the plane, and whole numbers make them exact. A plane that is found for one
//! coordinate shows a sign of many others, and the rows that mattered for one are where the search for the
//! next begins. If the checker does not accept the outcome, whole numbers do the work from the start.

use super::complement::{free_coordinates, orthogonal_complement};
use super::exactly::Exactly;
use super::kind::{MANY_NUMBERS, decide_growing};
use super::lift::{Combination, combination, eliminate};
use super::proposal::{gcd, raw_whole};
use super::rank::Independence;
use super::search::{Effort, EffortSpent};
use super::signed::{Signed, WholeRows};
use super::span::{Outside, RowsOutside, Span};
use dashu_int::IBig;
use linsep_proof::{Coefficient, Estimate, Estimates, ExactNumber, Multiple, SparseVector};

/// Multiplications after which the coordinates that are left stay undecided. A count, not a time, so that
/// the outcome is the same everywhere.
const MOST_WORK: u64 = 2_000_000_000;

/// The search for the signs of all coordinates.
pub(crate) struct Recession<'a> {
    view: &'a Signed,
    independence: &'a Independence,
    face: &'a [(usize, IBig)],
    /// Independent tied rows that span all of them, as rows of the question.
    basis: Vec<usize>,
    /// The scale of the coordinates: of these rows, or of all rows if whole numbers do all the work.
    whole: WholeRows,
    /// Whole vectors that span the complement of the tied rows.
    complement: Vec<Vec<IBig>>,
    method: Method,
    directions: Vec<Direction>,
    /// What exact sums took, in multiplications.
    exact_work: u64,
}

enum Method {
    Floats {
        span: Box<Span>,
        outside: Box<RowsOutside>,
    },
    /// The rows outside with what they are in the complement.
    Exact {
        outside: Vec<(usize, Vec<IBig>)>,
    },
}

/// A weak plane, in the coordinates of claims, and its signs in the kept coordinates.
struct Direction {
    vector: SparseVector,
    signs: Vec<i8>,
}

/// What one question found.
enum Answer {
    /// Rows with factors that add up to a multiple of the unit vector.
    Forced(Vec<Multiple>),
    /// Another direction, which has the sign.
    Goes,
}

/// The same before it is made exact.
enum Raw {
    /// A plane of floats.
    Plane(Vec<f64>),
    /// How much of each vector of the complement a plane has.
    Amounts(Vec<IBig>),
    /// Rows that balance with the unit vector.
    Balance(Vec<usize>),
}

impl<'a> Recession<'a> {
    /// `None` if there is too much for whole numbers alone.
    pub(crate) fn new(
        view: &'a Signed,
        independence: &'a Independence,
        face: &'a [(usize, IBig)],
        exactly: bool,
    ) -> Option<Recession<'a>> {
        let columns = &independence.columns;
        if exactly && view.len().saturating_mul(columns.len() + 1) > MANY_NUMBERS {
            return None;
        }
        let tied: Vec<usize> = face.iter().map(|(at, _)| *at).collect();
        let chosen: Vec<usize> = if exactly { (0..view.len()).collect() } else { tied.clone() };
        let whole = view.whole_rows_over(&chosen, columns);
        let row = |k: usize| if exactly { tied[k] } else { k };
        let rows: Vec<Vec<IBig>> = (0..tied.len()).map(|k| whole.rows[row(k)].clone()).collect();
        let kept: Vec<usize> = eliminate(&rows).into_iter().map(|(k, _)| k).collect();
        let basis_rows: Vec<Vec<IBig>> = kept.iter().map(|&k| rows[k].clone()).collect();
        let width = columns.len() + usize::from(view.bias);
        let complement = orthogonal_complement(&basis_rows, width);
        let basis: Vec<usize> = kept.iter().map(|&k| tied[k]).collect();
        let method = match exactly {
            true => Method::Exact { outside: super::kind::projected(&whole.rows, &complement) },
            false => {
                let mut span = Span::over(view, columns);
                tied.iter().for_each(|&at| {
                    span.add(view, at);
                });
                let outside = Box::new(RowsOutside::new(&span, view));
                Method::Floats { span: Box::new(span), outside }
            }
        };
        let (directions, exact_work) = (Vec::new(), 0);
        Some(Recession {
            view,
            independence,
            face,
            basis,
            whole,
            complement,
            method,
            directions,
            exact_work,
        })
    }

    /// The estimates of all coefficients, or nothing.
    pub(crate) fn run(&mut self, effort: &Effort<'_>) -> Option<Estimates> {
        let mut found = Vec::new();
        for at in 0..self.independence.columns.len() + usize::from(self.view.bias) {
            if self.complement.iter().all(|n| n[at] == IBig::ZERO) {
                found.push((Estimate::Finite, Vec::new()));
                continue;
            }
            if self.directions.is_empty() {
                self.interior(effort)?;
            }
            found.push(self.estimate(at, effort)?);
        }
        Some(self.estimates(found))
    }

    fn estimate(&mut self, at: usize, effort: &Effort<'_>) -> Option<(Estimate, Vec<Multiple>)> {
        let mut forced: Option<(i8, Vec<Multiple>)> = None;
        loop {
            let goes = |sign: i8| self.directions.iter().any(|d| d.signs[at] == sign);
            let wanted = match (goes(1), goes(-1), &mut forced) {
                (true, true, _) => return Some((Estimate::Undetermined, Vec::new())),
                (true, _, Some((1, rows))) => {
                    return Some((Estimate::PlusInfinity, std::mem::take(rows)));
                }
                (_, true, Some((-1, rows))) => {
                    return Some((Estimate::MinusInfinity, std::mem::take(rows)));
                }
                // A sign that is proved away is not there, whatever floats say.
                (true, _, Some(_)) | (_, true, Some(_)) => return None,
                _ if self.is_exhausted() => return Some((Estimate::Undecided, Vec::new())),
                (true, false, None) => -1,
                (false, true, None) => 1,
                (false, false, Some((sign, _))) => *sign,
                (false, false, None) => 1,
            };
            match self.ask(Some((at, wanted)), effort)? {
                Answer::Forced(rows) if forced.is_none() => forced = Some((-wanted, rows)),
                Answer::Goes if self.directions.last()?.signs[at] == wanted => {}
                _ => return None,
            }
        }
    }

    /// Whether the work that is allowed is done.
    fn is_exhausted(&self) -> bool {
        let floats = match &self.method {
            Method::Floats { outside, .. } => outside.work,
            Method::Exact { .. } => 0,
        };
        floats + self.exact_work > MOST_WORK
    }

    /// A first direction, with every row outside strictly off itself.
    fn interior(&mut self, effort: &Effort<'_>) -> Option<()> {
        self.ask(None, effort).map(|_| ())
    }

    /// Whether some plane of the interior has this sign in this coordinate.
    fn ask(&mut self, unit: Option<(usize, i8)>, effort: &Effort<'_>) -> Option<Answer> {
        let coordinate = unit.map(|(at, sign)| (self.coordinate(at) as usize, f64::from(sign)));
        let Recession { view, method, complement, .. } = self;
        let mut work = EffortSpent::default();
        let raw = match method {
            Method::Floats { span, outside } => {
                match outside.search(span, view, coordinate, effort, &mut work)? {
                    Outside::Plane(plane) => Raw::Plane(plane),
                    Outside::Balance(rows) => Raw::Balance(rows),
                    Outside::Nothing => return None,
                }
            }
            Method::Exact { outside } => {
                if let Some((at, sign)) = unit {
                    let part = complement.iter().map(|n| &n[at] * IBig::from(sign));
                    outside.push((usize::MAX, part.collect()));
                }
                let answer = decide_growing(outside, complement.len(), effort, &mut work);
                if unit.is_some() {
                    outside.pop();
                }
                match answer? {
                    Exactly::Separated(amounts) => Raw::Amounts(amounts),
                    Exactly::Balanced(lambda) => {
                        let rows = lambda.iter().filter_map(|(k, _)| outside.get(*k));
                        Raw::Balance(rows.map(|(row, _)| *row).collect())
                    }
                }
            }
        };
        let direction = match raw {
            Raw::Balance(rows) => {
                let (at, sign) = unit?;
                return self.combine(at, -sign, &rows).map(Answer::Forced);
            }
            Raw::Plane(plane) => self.nearest(&plane)?,
            Raw::Amounts(amounts) => self.combined(&amounts),
        };
        self.directions.push(direction);
        Some(Answer::Goes)
    }

    /// The coordinate of claims.
    fn coordinate(&self, at: usize) -> u32 {
        let shift = usize::from(self.view.bias);
        match at.checked_sub(shift) {
            Some(k) => self.independence.columns[k] + shift as u32,
            None => 0,
        }
    }

    /// Σ μ z = k e_j with k of the given sign, μ > 0 on `rows` and any sign on the tied rows.
    fn combine(&mut self, at: usize, sign: i8, rows: &[usize]) -> Option<Vec<Multiple>> {
        let chosen: Vec<usize> = self.basis.iter().chain(rows).copied().collect();
        let mut vectors = self.view.whole_rows_over(&chosen, &self.independence.columns).rows;
        let mut unit =
            vec![IBig::ZERO; self.independence.columns.len() + usize::from(self.view.bias)];
        unit[at] = IBig::from(-sign);
        vectors.push(unit);
        self.exact_work += 8 * chosen.len().pow(3) as u64;
        let Combination::One(mut factors) = combination(&vectors) else { return None };
        if factors.last().is_some_and(|k| *k < IBig::ZERO) {
            factors.iter_mut().for_each(|factor| *factor = -factor.clone());
        }
        let (tied, outside) = factors[..chosen.len()].split_at(self.basis.len());
        if factors[chosen.len()] == IBig::ZERO || outside.iter().any(|mu| *mu < IBig::ZERO) {
            return None;
        }
        let all = tied.iter().chain(outside);
        let divisor = all.clone().fold(IBig::ZERO, |g, x| gcd(g, x.clone())).max(IBig::ONE);
        let multiple = |(row, factor): (&usize, &IBig)| {
            Multiple::new(u64::from(self.view.rows[*row]), (factor / &divisor).to_string())
        };
        let used = chosen.iter().zip(all).filter(|(_, factor)| **factor != IBig::ZERO);
        let mut combination: Vec<Multiple> = used.map(multiple).collect();
        combination.sort_by_key(|multiple| multiple.row);
        Some(combination)
    }

    /// The vector of the complement next to a plane of floats. Where nothing is tied, it is the plane
    /// itself.
    fn nearest(&self, plane: &[f64]) -> Option<Direction> {
        if plane.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let width = self.independence.columns.len() + usize::from(self.view.bias);
        if self.basis.is_empty() {
            let value = |at: usize| plane[self.coordinate(at) as usize];
            let signs = (0..width).map(|at| sign_of(value(at))).collect();
            let used = (0..width).filter(|&at| value(at) != 0.0);
            let number = |at| (self.coordinate(at), ExactNumber::Binary64(value(at)));
            return Some(Direction { vector: used.map(number).collect(), signs });
        }
        // Each basis vector is alone in its free coordinate, so the plane's value there says how much of
        // it is needed.
        let shift = usize::from(self.view.bias);
        let value = |at: usize| {
            let (two, five) = at.checked_sub(shift).map_or((0, 0), |k| self.whole.scale[k]);
            plane[self.coordinate(at) as usize] * 2f64.powi(two) * 5f64.powi(five)
        };
        let free = free_coordinates(&self.complement);
        let amount = |(&at, n): (&usize, &Vec<IBig>)| value(at) / n[at].to_f64().value();
        let amounts: Vec<f64> = free.iter().zip(&self.complement).map(amount).collect();
        let largest = amounts.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        let whole = |x: &f64| IBig::try_from((x / largest * 2f64.powi(45)).round()).ok();
        let amounts: Option<Vec<IBig>> = amounts.iter().map(whole).collect();
        Some(self.combined(&amounts?))
    }

    /// A sum of the vectors of the complement.
    fn combined(&self, amounts: &[IBig]) -> Direction {
        let mut w = vec![IBig::ZERO; self.independence.columns.len() + usize::from(self.view.bias)];
        for (n, amount) in self.complement.iter().zip(amounts) {
            w.iter_mut().zip(n).for_each(|(w, n)| *w += n * amount);
        }
        let signs =
            w.iter().map(|x| i8::from(*x > IBig::ZERO) - i8::from(*x < IBig::ZERO)).collect();
        Direction { vector: self.sparse(raw_whole(&self.whole, &w)), signs }
    }

    fn sparse(&self, plane: (Vec<(u32, IBig)>, IBig)) -> SparseVector {
        sparse_vector(self.view.bias, plane)
    }

    /// What was found, as the evidence of a claim.
    fn estimates(&self, found: Vec<(Estimate, Vec<Multiple>)>) -> Estimates {
        let finite = found.iter().any(|(estimate, _)| *estimate == Estimate::Finite);
        let directions = self.needed(&found);
        let shift = u32::from(self.view.bias);
        let mut coefficients: Vec<Coefficient> = (0..self.view.dimension() as u32)
            .map(|c| Coefficient::new(c.checked_sub(shift), Estimate::Aliased))
            .collect();
        for (at, (estimate, combination)) in found.into_iter().enumerate() {
            let coefficient = &mut coefficients[self.coordinate(at) as usize];
            (coefficient.estimate, coefficient.combination) = (estimate, combination);
        }
        let row = |k: usize| u64::from(self.view.rows[k]);
        let divisor = self.face.iter().fold(IBig::ZERO, |g, (_, l)| gcd(g, l.clone()));
        let mut tied: Vec<Multiple> = self
            .face
            .iter()
            .map(|(k, l)| Multiple::new(row(*k), (l / &divisor).to_string()))
            .collect();
        tied.sort_by_key(|multiple| multiple.row);
        let complement = self.complement.iter().filter(|_| finite);
        let complement = complement.map(|n| self.sparse(raw_whole(&self.whole, n))).collect();
        let relations = self.independence.relations.iter().cloned();
        let mut independent: Vec<u64> = self.independence.rows.iter().map(|&k| row(k)).collect();
        independent.sort_unstable();
        Estimates::default()
            .with_coefficients(coefficients)
            .with_independent(independent)
            .with_relations(relations.map(|relation| self.sparse(relation)).collect())
            .with_tied(tied)
            .with_complement(complement)
            .with_directions(directions)
    }

    /// Few directions that have every sign that a claim needs: always the one that shows most.
    fn needed(&self, found: &[(Estimate, Vec<Multiple>)]) -> Vec<SparseVector> {
        let mut open: Vec<(usize, i8)> = Vec::new();
        for (at, (estimate, _)) in found.iter().enumerate() {
            match estimate {
                Estimate::PlusInfinity => open.push((at, 1)),
                Estimate::MinusInfinity => open.push((at, -1)),
                Estimate::Undetermined => open.extend([(at, 1), (at, -1)]),
                _ => {}
            }
        }
        let mut chosen = Vec::new();
        while !open.is_empty() {
            let shows =
                |d: &Direction| open.iter().filter(|(at, sign)| d.signs[*at] == *sign).count();
            let most = self.directions.iter().max_by_key(|direction| shows(direction));
            let Some(best) = most.filter(|direction| shows(direction) > 0) else { break };
            open.retain(|(at, sign)| best.signs[*at] != *sign);
            chosen.push(best.vector.clone());
        }
        chosen
    }
}

/// Weights and a bias as a vector of claims, in lowest terms.
pub(crate) fn sparse_vector(
    has_bias: bool,
    (weights, bias): (Vec<(u32, IBig)>, IBig),
) -> SparseVector {
    let constant = Some((0, bias)).filter(|(_, bias)| has_bias && *bias != IBig::ZERO);
    let weights = weights.into_iter().map(|(j, w)| (j + u32::from(has_bias), w));
    let numbers: Vec<(u32, IBig)> = constant.into_iter().chain(weights).collect();
    let divisor = numbers.iter().fold(IBig::ZERO, |g, (_, x)| gcd(g, x.clone())).max(IBig::ONE);
    let number = |(c, x): (u32, IBig)| (c, ExactNumber::Ratio((x / &divisor).to_string()));
    numbers.into_iter().map(number).collect()
}

fn sign_of(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}
