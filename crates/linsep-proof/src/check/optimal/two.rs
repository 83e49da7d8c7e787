//! Two classes: one plane, one multiplier α for each row.
//!
//! With m_i = y_i (w·x_i + b), every allowed (w, b) and every α in the domain of ψ,
//!
//! ```text
//! Σ c loss(m) + r(w) ≥ Σ ψ(α) − Σ α m + r(w) ≥ Σ ψ(α) − r*(g) − b Σ y α,   g = Σ α y x
//! ```
//!
//! by Fenchel's inequality, with ψ(α) = c H(α/c), α and α − α²/(4c) for the logistic, hinge and squared hinge
//! loss, and H the entropy of two outcomes. The squared loss has the ψ of the squared hinge, for α of either sign. A free
//! bias needs Σ y α = 0: the multipliers of the heavier side are multiplied by t = lighter/heavier, a real number
//! of which binary64 knows the first digits. Without it the same inequality bounds b.
//!
//! **Multipliers of either sign** may cancel in Σ α. Its error is then one of the size Σ |α|, which every bound
//! takes in its place; and t is known to its first digits only if Σ α is not too small beside it, see [`Two::balance`].
//!
//! The sums g of the columns are in the module `sums`. References: Fan et al., LIBLINEAR (2008); Rockafellar,
//! Convex Analysis, section 31.

use super::functions::{entropy_below, exp, ln_one_plus};
use super::penalty::{BIAS, GROUP, UNIT};
use super::rows::Linear;
use super::sums::{Columns, Totals, each};
use super::unpenalised;
use super::{Care, MOST_HELD, Members, Reach, Setting, TINY, above, below};
use crate::check::elsewhere::{Reader, Sums};
use crate::check::{Checked, Checker};
use crate::double::Double;
use crate::optimal::{Intercept, Loss};
use crate::rows::{Entries, RowBuffer};
use std::ops::Range;

/// Two classes with the sums over their rows.
pub(super) struct Two<'a> {
    checker: &'a Checker<'a>,
    setting: &'a Setting<'a>,
    members: &'a Members,
    planes: Evaluated<'a>,
    care: Care,
    /// The multipliers of each block; none where the rows are elsewhere.
    held: Vec<Held>,
    loss: Double,
    sums: Columns,
    /// Σ α of the negative and of the positive rows.
    alpha: [f64; 2],
    /// Σ |α| of them.
    size: [f64; 2],
    /// Σ α²/(4c) of them.
    square: [f64; 2],
    /// Σ ψ of the logistic loss with factors of the sides.
    entropies: Vec<([f64; 2], f64)>,
}

/// The plane of the claim, and that of the dual point if it has one of its own.
struct Evaluated<'a> {
    own: Linear<'a>,
    dual: Option<Linear<'a>>,
}

/// What a block of rows adds up to.
struct Part {
    loss: Double,
    alpha: [Double; 2],
    size: [Double; 2],
    square: [Double; 2],
    sums: Columns,
    held: Held,
}

/// α of each row of a block, where its entropy will be needed.
#[derive(Default)]
struct Held {
    range: Range<u64>,
    alphas: Vec<f64>,
}

impl Part {
    /// The sums of all blocks, and what each holds.
    fn merged(mut parts: Vec<Part>) -> (Part, Vec<Held>) {
        let total = |of: fn(&Part) -> [Double; 2]| {
            [0, 1].map(|side| parts.iter().fold(Double::ZERO, |sum, part| sum.plus(of(part)[side])))
        };
        let (alpha, size) = (total(|part| part.alpha), total(|part| part.size));
        let square = total(|part| part.square);
        let loss = parts.iter().fold(Double::ZERO, |sum, part| sum.plus(part.loss));
        let mut sums = Columns::Plain(Vec::new());
        for (number, part) in parts.iter_mut().enumerate() {
            let more = std::mem::replace(&mut part.sums, Columns::Plain(Vec::new()));
            match number {
                0 => sums = more,
                _ => sums.merge(&more),
            }
        }
        let held = parts.into_iter().map(|part| part.held).collect();
        (Part { loss, alpha, size, square, sums, held: Held::default() }, held)
    }

    fn pack(self) -> Sums {
        let Part { loss, alpha, size, square, sums, .. } = self;
        sums.pack(Sums::default().long([[loss, loss], alpha, size, square].concat()))
    }

    fn unpack(reader: &mut Reader, care: Care, width: usize) -> Option<Part> {
        let doubles = reader.long(8)?;
        let pair = |k: usize| [doubles[k], doubles[k + 1]];
        let (loss, alpha, size, square) = (doubles[0], pair(2), pair(4), pair(6));
        let sums = Columns::unpack(reader, care, width)?;
        Some(Part { loss, alpha, size, square, sums, held: Held::default() })
    }
}

impl<'a> Two<'a> {
    /// One pass over the rows.
    pub(super) fn new(
        checker: &'a Checker<'a>,
        setting: &'a Setting<'a>,
        members: &'a Members,
        own: Linear<'a>,
        dual: Option<Linear<'a>>,
    ) -> Checked<Two<'a>> {
        let planes = Evaluated { own, dual };
        let width = checker.width();
        if width > MOST_HELD / 4 {
            return Err(format!("{width} columns are more than can be checked"));
        }
        let care = match setting.care {
            // Blocks that are stored in different ways have to agree.
            Care::Light if checker.in_one_place().is_err() => Care::Plain,
            Care::Light if !setting.penalty.is_uniform() || !are_sparse(checker)? => Care::Plain,
            care => care,
        };
        let compute = || {
            let part = |range| block(checker, setting, care, members, &planes, range);
            Ok(Part::merged(checker.blocks(4 * width, part)?))
        };
        let unpack = |reader: &mut Reader| Some((Part::unpack(reader, care, width)?, Vec::new()));
        let (part, held) = checker.pass(compute, |(part, _)| part.pack(), unpack)?;
        let Part { loss, sums, .. } = part;
        let [alpha, size, square] =
            [part.alpha, part.size, part.square].map(|sides| sides.map(Double::value));
        let entropies = Vec::new();
        Ok(Two {
            checker,
            setting,
            members,
            planes,
            care,
            held,
            loss,
            sums,
            alpha,
            size,
            square,
            entropies,
        })
    }

    /// No less than the objective of the plane.
    pub(super) fn primal(&self) -> f64 {
        let Linear { weights, bias } = &self.planes.own;
        let penalty = &self.setting.penalty;
        let mut sum = penalty.values_above(weights);
        if self.setting.objective.intercept == Intercept::Penalised {
            sum = sum.plus(Double::of(penalty.value_above(BIAS, *bias)));
        }
        above(self.loss.value() + sum.value()) + self.slack()
    }

    /// The factors of the negative and the positive rows that make Σ y α = 0, where that is needed. They have
    /// to be known to within 8 u.
    pub(super) fn balance(&self) -> Checked<[f64; 2]> {
        let [negative, positive] = self.alpha;
        if self.setting.objective.intercept != Intercept::Free {
            return Ok([1.0, 1.0]);
        }
        // The sums err by n·2^-98 of their sizes.
        let errs = self.checker.n_rows() as f64 * 2f64.powi(-98);
        let known = |side: usize| errs * self.size[side] <= UNIT * self.alpha[side];
        if !(known(0) && known(1)) {
            return Err(
                "the multipliers of a side cancel, so that the sides cannot be balanced".into()
            );
        }
        Ok(match () {
            () if negative > positive => [positive / negative, 1.0],
            () if positive > negative => [1.0, negative / positive],
            () => [1.0, 1.0],
        })
    }

    /// No more than Σ ψ(α) − r*(g), the sides multiplied by factors that are known to within 8 u, and
    /// both by a second factor, which comes back too: with walls in r* it may have to be below 1.
    pub(super) fn dual(&self, factors: [f64; 2]) -> Checked<(f64, f64)> {
        let penalty = &self.setting.penalty;
        let n = self.checker.n_rows() as f64;
        let width = self.checker.width();
        let sums = self.sums.totals(factors, self.setting.roundings, n);
        let bias = match self.setting.objective.intercept {
            Intercept::Penalised => {
                let g = self.alpha[1] - self.alpha[0];
                Some((g, 8.0 * UNIT * (self.size[1] + self.size[0])))
            }
            Intercept::Free | Intercept::None => None,
        };
        let mut shrink = 1.0;
        if penalty.has_walls() {
            let factors = (0..width).map(|j| {
                let (g, error) = sums.of(j);
                penalty.shrink(penalty.column(j), g, error)
            });
            let factors = factors.chain(bias.map(|(g, error)| penalty.shrink(BIAS, g, error)));
            shrink =
                factors.fold(1.0, |least: f64, x| if x < least || x.is_nan() { x } else { least });
            if shrink.is_nan() {
                return Err("the sums over the columns are out of range".into());
            }
        }
        // What is left of a g that is known to within an error.
        let shrunk = |(g, error): (f64, f64)| match shrink < 1.0 {
            true => (shrink * g, (shrink * error + UNIT * g.abs()) * (1.0 + 8.0 * UNIT)),
            false => (g, error),
        };
        let mut conjugates = self.conjugates(&sums, |g, errors| {
            if shrink < 1.0 {
                let pairs = g.iter_mut().zip(errors);
                pairs.for_each(|(g, error)| (*g, *error) = shrunk((*g, *error)));
            }
        });
        conjugates = conjugates.plus(Double::of(sums.looseness(self.setting.objective.l2)));
        if let Some((g, error)) = bias.map(shrunk) {
            conjugates = conjugates.plus(Double::of(penalty.conjugate_above(BIAS, g, error)));
        }
        let conjugates = conjugates.value();
        let psi = self.psi(factors.map(|factor| factor * shrink))?;
        let bound = (psi - conjugates) - 8.0 * UNIT * (psi.abs() + conjugates.abs()) - self.slack();
        Ok((bound, shrink))
    }

    /// No less than Σ r*(g), after `change` of the sums and errors of each group of columns.
    fn conjugates(&self, sums: &Totals<'_>, change: impl Fn(&mut [f64], &mut [f64])) -> Double {
        let width = self.checker.width();
        let mut total = Double::ZERO;
        let (mut g, mut errors) = ([0.0; GROUP], [0.0; GROUP]);
        for start in (0..width).step_by(GROUP) {
            let count = (width - start).min(GROUP);
            let (g, errors) = (&mut g[..count], &mut errors[..count]);
            sums.fill(start, g, errors);
            change(g, errors);
            total = total.plus(self.setting.penalty.conjugates_above(start, g, errors));
        }
        total
    }

    /// How much lower the bound is because the errors of all columns are bounded together.
    pub(super) fn looseness(&self) -> f64 {
        let n = self.checker.n_rows() as f64;
        self.sums.totals([1.0; 2], self.setting.roundings, n).looseness(self.setting.objective.l2)
    }

    /// No more than Σ ψ, the sides multiplied by factors that are known to within 12 u.
    fn psi(&self, factors: [f64; 2]) -> Checked<f64> {
        let linear = factors[0] * self.alpha[0] + factors[1] * self.alpha[1];
        match self.setting.objective.loss {
            Loss::SquaredHinge | Loss::Squared => {
                let square = |side: usize| factors[side] * factors[side] * self.square[side];
                let square = square(0) + square(1);
                let size = factors[0] * self.size[0] + factors[1] * self.size[1];
                Ok((linear - square) - 64.0 * UNIT * (size + square))
            }
            Loss::Logistic => self.entropies(factors),
            _ => Ok(linear * (1.0 - 64.0 * UNIT)),
        }
    }

    /// Goes over the rows once for all factors that the bound and the reach of the bias are going to need.
    pub(super) fn prepare(&mut self, cuts: Option<[f64; 2]>) -> Checked<()> {
        if self.setting.objective.loss == Loss::Logistic
            && let (Some(cuts), Ok(whole)) = (cuts, self.balance())
        {
            let all = [whole, cut(whole, 0, cuts), cut(whole, 1, cuts)];
            self.entropies = all.into_iter().zip(self.entropies_of(all)?).collect();
        }
        Ok(())
    }

    fn entropies(&self, factors: [f64; 2]) -> Checked<f64> {
        match self.entropies.iter().find(|(known, _)| *known == factors) {
            Some((_, sum)) => Ok(*sum),
            None => Ok(self.entropies_of([factors])?[0]),
        }
    }

    fn entropies_of<const N: usize>(&self, all: [[f64; 2]; N]) -> Checked<[f64; N]> {
        self.total_entropy(|row, alpha, cost| {
            let positive = self.members.of(row).map_or(0, |(positive, _)| positive);
            Ok(all.map(|factors| cost * entropy_below(factors[positive] * alpha / cost)))
        })
    }

    /// No more than the sum of the terms of all rows with their multipliers and costs.
    fn total_entropy<const N: usize>(
        &self,
        term: impl Fn(u64, f64, f64) -> Checked<[f64; N]> + Sync,
    ) -> Checked<[f64; N]> {
        let plus = |a: [Double; N], b: [Double; N]| std::array::from_fn(|k| a[k].plus(b[k]));
        // The blocks are those of the first pass, whose multipliers are at hand.
        let sum = |range: Range<u64>| {
            let again;
            let held = match self.held.iter().find(|held| held.range == range) {
                Some(held) => held,
                None => {
                    let Two { checker, setting, members, planes, care, .. } = self;
                    again = block(checker, setting, *care, members, planes, range.clone())?.held;
                    &again
                }
            };
            let mut sum = [Double::ZERO; N];
            for (row, alpha) in range.zip(&held.alphas) {
                if let Some((_, cost)) = self.members.of(row) {
                    sum = plus(sum, term(row, *alpha, cost)?.map(Double::of));
                }
            }
            Ok(sum)
        };
        let compute = || {
            let sums = self.checker.blocks(4 * self.checker.width(), sum)?;
            Ok(sums.into_iter().fold([Double::ZERO; N], plus))
        };
        let unpack = |reader: &mut Reader| reader.long(N)?.try_into().ok();
        let all = self.checker.pass(compute, |sums| Sums::default().long(sums), unpack)?;
        Ok(all.map(|sum: Double| below(sum.value())))
    }

    /// No more than Σ ψ of the point that a correction on these rows makes feasible, see `unpenalised`.
    pub(super) fn corrected(&self, correction: &[u64]) -> Checked<f64> {
        let Setting { objective, roundings, .. } = self.setting;
        if objective.loss != Loss::Logistic || objective.intercept == Intercept::Penalised {
            return Err(
                "without a penalty only the logistic loss has a bound, its bias free or none"
                    .into(),
            );
        }
        if !correction.is_sorted_by(|a, b| a < b) {
            return Err("the correction rows are not rising".into());
        }
        let free = objective.intercept == Intercept::Free;
        let (width, n) = (self.checker.width(), self.checker.n_rows() as f64);
        let order = width + usize::from(free);
        if correction.len() != order || order > unpenalised::MOST_ORDER {
            return Err(format!("{} correction rows for {order} columns", correction.len()));
        }
        let column = self.sums.totals([1.0; 2], *roundings, n);
        let bias = (self.alpha[1] - self.alpha[0], 8.0 * UNIT * (self.alpha[0] + self.alpha[1]));
        let sums: Vec<(f64, f64)> =
            (0..width).map(|j| column.of(j)).chain(free.then_some(bias)).collect();
        let mut lines = vec![0.0; order * order];
        let mut buffer = RowBuffer::default();
        for (row, line) in correction.iter().zip(lines.chunks_exact_mut(order)) {
            let Some((positive, _)) = self.members.of(*row) else {
                return Err(format!("the correction row {row} does not take part"));
            };
            let sign = 2.0 * positive as f64 - 1.0;
            each(line, self.checker.row(*row, &mut buffer)?, |number, value| {
                *number = sign * value
            });
            if free {
                line[width] = sign;
            }
        }
        let reach = unpenalised::reach(lines, &sums, *roundings)?;
        let bound =
            self.total_entropy(|row, alpha, cost| match correction.binary_search(&row) {
                Err(_) => Ok([cost * entropy_below(alpha / cost)]),
                Ok(_) => {
                    let (low, high) = (alpha - reach, alpha + reach);
                    let room = 4.0 * UNIT * cost;
                    if !(low >= room && high <= cost - room) {
                        return Err(format!(
                            "row {row}: its multiplier may have to leave its domain"
                        ));
                    }
                    Ok([cost * entropy_below(low / cost).min(entropy_below(high / cost))])
                }
            })?;
        let [bound] = bound;
        Ok(bound - self.slack())
    }

    /// How far below and above 0 the best bias can be, by the multipliers of either side cut by a share.
    pub(super) fn bias_reach(&self, cuts: [f64; 2]) -> Checked<[Reach; 2]> {
        let factors = self.balance()?;
        let side = |side: usize| -> Checked<Reach> {
            let tilt = cuts[side];
            if !(tilt > 0.0 && tilt <= 1.0) {
                return Err(format!("the tilt {tilt:?} is not above 0 and at most 1"));
            }
            let (bound, shrink) = self.dual(cut(factors, side, cuts))?;
            Ok(Reach { bound, beta: shrink * tilt * self.alpha[0].min(self.alpha[1]) })
        };
        Ok([side(0)?, side(1)?])
    }

    /// What numbers too small for binary64 may add up to.
    fn slack(&self) -> f64 {
        (self.checker.n_rows() as f64 + self.checker.width() as f64) * TINY
    }
}

/// The factors of the sides, one of them cut by its share.
fn cut(mut factors: [f64; 2], side: usize, cuts: [f64; 2]) -> [f64; 2] {
    factors[side] *= 1.0 - cuts[side];
    factors
}

/// Whether rows list their columns, by the first one.
fn are_sparse(checker: &Checker<'_>) -> Checked<bool> {
    let mut buffer = RowBuffer::default();
    let first = (!checker.rows.is_empty()).then(|| checker.row(0, &mut buffer)).transpose()?;
    Ok(matches!(first, Some(Entries::Sparse(..))))
}

fn block(
    checker: &Checker<'_>,
    setting: &Setting<'_>,
    care: Care,
    members: &Members,
    planes: &Evaluated<'_>,
    range: Range<u64>,
) -> Checked<Part> {
    let loss = setting.objective.loss;
    let keeps = loss == Loss::Logistic;
    let listed = &setting.dual.alpha;
    let mut listed =
        listed[listed.partition_point(|(row, _)| *row < range.start)..].iter().peekable();
    let mut part = Part {
        loss: Double::ZERO,
        alpha: [Double::ZERO; 2],
        size: [Double::ZERO; 2],
        square: [Double::ZERO; 2],
        sums: Columns::new(care, &planes.own),
        held: Held { range: range.clone(), alphas: Vec::new() },
    };
    let mut buffer = RowBuffer::default();
    for row in range {
        let Some((positive, cost)) = members.of(row) else {
            part.held.alphas.extend(keeps.then_some(0.0));
            continue;
        };
        let entries = checker.row(row, &mut buffer)?;
        let sign = 2.0 * positive as f64 - 1.0;
        let (score, error) = part.sums.score(&planes.own, entries, setting.roundings);
        let margin = sign * score;
        let low = (margin - error) - 2.0 * UNIT * (margin - error).abs();
        let tail = if keeps { exp(-low.abs()) } else { 0.0 };
        let lost = match loss {
            Loss::Logistic => ln_one_plus(tail) + (-low).max(0.0),
            Loss::SquaredHinge => (1.0 - low).max(0.0) * (1.0 - low).max(0.0),
            Loss::Squared => {
                let high = (margin + error) + 2.0 * UNIT * (margin + error).abs();
                let far = (1.0 - low).abs().max((1.0 - high).abs());
                far * far
            }
            _ => (1.0 - low).max(0.0),
        };
        // max(NaN, 0) is 0, and an infinite score has an infinite error.
        if !error.is_finite() {
            return Err(format!("row {row}: the score is out of range"));
        }
        part.loss = part.loss.plus(Double::of(cost * lost));
        let alpha = match listed.next_if(|(listed, _)| *listed == row) {
            Some((_, alpha)) => *alpha,
            None => match &planes.dual {
                None => slope(loss, cost, low, tail),
                Some(plane) => {
                    let margin = sign * plane.score(entries, setting.roundings).0;
                    slope(loss, cost, margin, exp(-margin.abs()))
                }
            },
        };
        if alpha.is_nan() {
            return Err(format!("row {row}: the multiplier is out of range"));
        }
        part.held.alphas.extend(keeps.then_some(alpha));
        if alpha != 0.0 {
            part.alpha[positive] = part.alpha[positive].plus(Double::of(alpha));
            part.size[positive] = part.size[positive].plus(Double::of(alpha.abs()));
            let square = alpha * alpha / (4.0 * cost);
            part.square[positive] = part.square[positive].plus(Double::of(square));
            part.sums.add(entries, sign, alpha);
        }
    }
    Ok(part)
}

/// −c loss′(m), in the domain of ψ; `tail` is exp(−|m|) for the logistic loss.
fn slope(loss: Loss, cost: f64, margin: f64, tail: f64) -> f64 {
    match loss {
        Loss::Logistic => {
            let share = if margin > 0.0 { tail / (1.0 + tail) } else { 1.0 / (1.0 + tail) };
            (cost * share).min(cost)
        }
        Loss::SquaredHinge => 2.0 * cost * (1.0 - margin).max(0.0),
        Loss::Squared => 2.0 * cost * (1.0 - margin),
        _ if margin < 1.0 => cost,
        _ => 0.0,
    }
}
