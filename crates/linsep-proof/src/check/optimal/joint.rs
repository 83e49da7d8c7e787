//! K classes at once: one plane and one share for each class and row.
//!
//! With scores s_k = w_k·x + b_k, δ = 1 for a row's own class, and any shares p ≥ 0 with Σ_k p_k = 1,
//!
//! ```text
//! loss ≥ ψ(p) + Σ_k (p_k − δ_k) s_k,    ψ = −Σ p ln p (softmax), Σ_{k≠own} p (Crammer-Singer)
//! Σ c loss + Σ r(w) ≥ Σ c ψ − Σ_k r*(g_k) − Σ_k b_k Σ c (δ_k − p_k),    g_k = Σ c (δ_k − p_k) x
//! ```
//!
//! Free biases need d_k = Σ c (δ_k − p_k) = 0 for every k. All rows are mixed with one distribution:
//! p′ = (1 − θ) p + θ q with N q_k = Π_k + d_k/θ, where Π_k = Σ c p_k = n_k − d_k, n_k = Σ c over the rows
//! of class k and N = Σ n. Then Σ c (δ − p′) = (1 − θ) d + θ (n − N q) = 0, Σ q = 1, and q ≥ 0 once
//! θ ≥ −d_k/Π_k for every k. θ is a binary64; q is a real number that is known to within a bound. Where
//! the conjugate has walls, p″ = σ p′ + (1 − σ) δ shrinks every g by σ.
//!
//! The share of the own class is what the others leave of 1, so that shares add up to 1 however the
//! others were rounded. Sums over columns run as in the module `two`, plain where the gap is wide, with one bound
//! for all classes of a column, Σ c max_k |δ − p| |x|. References: Crammer and Singer (2001); Keerthi et al.
//! (2008); Shalev-Shwartz and Zhang (2014).

use super::columns::{Columns, LANES, Line};
use super::penalty::{BIAS, UNIT};
use super::rows::{Linear, Nonzeros, nonzeros, pairs, rounding};
use super::shares::{Mixing, Shares};
use super::unpenalised::{self, MOST_ORDER};
use super::{MOST_HELD, Members, Setting, TINY, above, below};
use crate::check::elsewhere::{Reader, Sums};
use crate::check::{Checked, Checker};
use crate::double::Double;
use crate::optimal::{Intercept, Loss};
use crate::rows::RowBuffer;
use std::collections::BTreeMap;
use std::ops::Range;

/// K classes with the sums over their rows.
pub(super) struct Joint<'a> {
    checker: &'a Checker<'a>,
    setting: &'a Setting<'a>,
    members: &'a Members,
    own: Scores,
    dual: Option<Scores>,
    sums: Added,
}

/// A row on its turn: its values, class and factor c, and its loss from above.
struct Visit<'a> {
    row: u64,
    values: Nonzeros<'a>,
    class: usize,
    cost: f64,
    lost: f64,
}

/// Planes side by side: the weights of a column stand together.
struct Scores {
    weights: Vec<f64>,
    /// The largest weight of each column.
    most: Vec<f64>,
    biases: Vec<f64>,
}

/// What rows add up to.
struct Added {
    loss: Double,
    /// Σ c ψ before any mixing.
    psi: Double,
    /// d_k = Σ c (δ − p).
    d: Vec<Double>,
    /// n_k = Σ c over the rows of a class.
    n: Vec<Double>,
    columns: Columns,
}

/// Columns whose weights are laid out together.
const NEAR: usize = 64;

impl<'a> Joint<'a> {
    pub(super) fn new(
        checker: &'a Checker<'a>,
        setting: &'a Setting<'a>,
        members: &'a Members,
        own: &[Linear<'_>],
        dual: Option<&[Linear<'_>]>,
    ) -> Checked<Joint<'a>> {
        let (n_classes, width) = (own.len(), checker.width());
        let layout = Line::new(setting, n_classes);
        let stride = layout.stride;
        if n_classes < 2 || stride.checked_mul(width).is_none_or(|numbers| numbers > MOST_HELD) {
            return Err(format!("{n_classes} planes of {width} columns cannot be checked"));
        }
        let sums = Added {
            loss: Double::ZERO,
            psi: Double::ZERO,
            d: vec![Double::ZERO; n_classes],
            n: vec![Double::ZERO; n_classes],
            columns: Columns::new(layout, 0),
        };
        let own = Scores::new(own, width);
        let dual = dual.map(|planes| Scores::new(planes, width));
        let mut joint = Joint { checker, setting, members, own, dual, sums };
        let compute = || {
            let parts = checker.blocks(stride * width, |range| joint.block(range))?;
            Ok(parts.into_iter().reduce(Added::merge))
        };
        let pack = |added: Option<Added>| added.map_or_else(Sums::default, Added::pack);
        let unpack =
            |reader: &mut Reader| Some(Some(Added::unpack(reader, layout, width, n_classes)?));
        if let Some(added) = checker.pass(compute, pack, unpack)? {
            joint.sums = added;
        }
        match joint.sums.n.iter().all(|n| n.value() > 0.0) {
            true => Ok(joint),
            false => Err("a class has no row".into()),
        }
    }

    /// No less than the objective of the planes.
    pub(super) fn primal(&self, planes: &[Linear<'_>]) -> f64 {
        let penalty = &self.setting.penalty;
        let mut sum = Double::ZERO;
        for Linear { weights, bias } in planes {
            sum = sum.plus(penalty.values_above(weights));
            if self.setting.objective.intercept == Intercept::Penalised {
                sum = sum.plus(Double::of(penalty.value_above(BIAS, *bias)));
            }
        }
        let many = 1.0 + 8.0 * UNIT * planes.len() as f64;
        above(self.sums.loss.value() * many + sum.value()) + self.slack()
    }

    /// No more than the objective of any planes.
    pub(super) fn dual(&self) -> Checked<f64> {
        let mut mixing = self.balance()?;
        let penalty = &self.setting.penalty;
        let n_classes = self.sums.d.len();
        let mut conjugates = Double::ZERO;
        if penalty.has_walls() {
            let mut sigma = 1.0;
            self.for_columns(&mixing, |column, sums, error| {
                for g in sums {
                    let factor = penalty.shrink(column, *g, error);
                    if factor < sigma || factor.is_nan() {
                        sigma = factor;
                    }
                }
            });
            if sigma.is_nan() {
                return Err("the sums over the columns are out of range".into());
            }
            mixing.sigma = sigma;
        }
        let sigma = mixing.sigma;
        self.for_columns(&mixing, |column, sums, error| {
            let group = match sigma < 1.0 {
                false => penalty.column_conjugates_above(column, sums, error),
                true => sums.iter().fold(Double::ZERO, |sum, g| {
                    let error = (sigma * error + UNIT * g.abs()) * (1.0 + 8.0 * UNIT);
                    sum.plus(Double::of(penalty.conjugate_above(column, sigma * g, error)))
                }),
            };
            conjugates = conjugates.plus(group);
        });
        let conjugates = conjugates.value();
        let psi = match self.setting.objective.loss {
            Loss::Softmax if mixing.is_nothing() => self.sums.psi.value(),
            Loss::Softmax => self.entropies(&mixing)?,
            _ => self.all_others(&mixing),
        };
        let psi = below(psi) * (1.0 - 8.0 * UNIT * n_classes as f64);
        Ok((psi - conjugates) - 8.0 * UNIT * (psi.abs() + conjugates.abs()) - self.slack())
    }

    /// Σ c Σ_{k≠own} p″: linear in p.
    fn all_others(&self, mixing: &Mixing) -> f64 {
        let Mixing { theta, q, doubt, sigma } = mixing;
        let n: Vec<f64> = self.sums.n.iter().map(|n| n.value()).collect();
        let total: f64 = n.iter().sum();
        let mixed: f64 = n.iter().zip(q).map(|(n, q)| n * (1.0 - q)).sum();
        sigma
            * ((1.0 - theta) * self.sums.psi.value() + theta * mixed
                - total * (doubt + 8.0 * UNIT * theta))
    }

    /// Calls `each` with every coordinate of every g′, those of a column at once, and their error.
    fn for_columns(
        &self,
        mixing: &Mixing,
        mut each: impl FnMut(super::penalty::Column, &[f64], f64),
    ) {
        let Columns { layout, numbers } = &self.sums.columns;
        let n_classes = self.sums.d.len();
        let rows = self.checker.n_rows() as f64;
        let sum_error = match layout.kept {
            0 => 2.0 * rows * UNIT,
            _ => (rows * UNIT) * (rows * UNIT) * 1.1,
        };
        let unit = (self.setting.roundings + 24.0) * UNIT + sum_error;
        let room = 1.0 + 4.0 * rows * UNIT;
        let rest = 1.0 - mixing.theta;
        let mut totals = vec![0.0; layout.padded];
        for (j, sums) in numbers.chunks_exact(layout.stride).enumerate() {
            let column = self.setting.penalty.column(j);
            let (high, others) = sums.split_at(layout.padded);
            let (low, others) = others.split_at(layout.kept);
            totals.copy_from_slice(high);
            totals.iter_mut().zip(low).for_each(|(total, low)| *total += low);
            let sums = &mut totals[..n_classes];
            let mut error = unit * others[0] * room + rows * 8.0 * f64::from_bits(1);
            if layout.is_free() {
                let (class_sums, size) = (&others[1..=n_classes], others[n_classes + 1]);
                let total: f64 = class_sums.iter().sum();
                let loose =
                    mixing.theta * (4.0 * rows + 4.0 * n_classes as f64) * UNIT + mixing.doubt;
                error += loose * size * room;
                for (k, g) in sums.iter_mut().enumerate() {
                    let mixed = class_sums[k] - mixing.q[k] * total;
                    *g = rest * *g + mixing.theta * mixed;
                }
            }
            each(column, sums, error);
        }
        if self.setting.objective.intercept == Intercept::Penalised {
            let sums: Vec<f64> = self.sums.d.iter().map(|d| d.value()).collect();
            let largest = sums.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
            each(BIAS, &sums, 4.0 * UNIT * largest + self.sum_error() * self.total());
        }
    }

    fn total(&self) -> f64 {
        self.sums.n.iter().fold(Double::ZERO, |sum, n| sum.plus(*n)).value()
    }

    /// What sums of rows in [`Double`] may lack, relative to the sum of sizes.
    fn sum_error(&self) -> f64 {
        (self.checker.n_rows() as f64 + 64.0) * f64::from_bits((1023 - 97) << 52)
    }

    /// θ and q that balance the classes; nothing where biases are not free.
    fn balance(&self) -> Checked<Mixing> {
        let n_classes = self.sums.d.len();
        if self.setting.objective.intercept != Intercept::Free {
            return Ok(Mixing::nothing(n_classes));
        }
        let total = self.total();
        let classes: Vec<(f64, f64)> = self
            .sums
            .d
            .iter()
            .zip(&self.sums.n)
            .map(|(d, n)| (d.value(), n.minus(*d).value()))
            .collect();
        let need = |(d, pi): &(f64, f64)| if *d < 0.0 { -d / pi } else { 0.0 };
        let most = classes.iter().map(need).fold(0.0, f64::max);
        // A hair more, so that q is not below 0 by what is not known of it.
        let mut theta = (most * (1.0 + 1e-6) + 1e-12).min(1.0);
        loop {
            let q: Vec<f64> = classes.iter().map(|(d, pi)| (pi + d / theta) / total).collect();
            let doubt = |(d, pi): &(f64, f64)| {
                (8.0 * UNIT * (theta * pi + d.abs()) + 4.0 * self.sum_error() * total) / total
            };
            let doubts: Vec<f64> = classes.iter().map(doubt).collect();
            if q.iter().zip(&doubts).all(|(q, doubt)| theta * q >= *doubt) {
                let doubt = doubts.iter().copied().fold(0.0, f64::max);
                return Ok(Mixing { theta, q, doubt, sigma: 1.0 });
            }
            if theta.is_nan() || theta >= 1.0 {
                return Err("the classes cannot be balanced".into());
            }
            theta = (2.0 * theta).min(1.0);
        }
    }

    /// No more than Σ c (−Σ p″ ln p″), but for the errors of `functions`.
    fn entropies(&self, mixing: &Mixing) -> Checked<f64> {
        let held = self.sums.columns.layout.stride * self.checker.width();
        let sum = |range| {
            let mut sum = Double::ZERO;
            self.for_shares(range, |Visit { class, cost, .. }, shares| {
                sum = sum.plus(Double::of(cost * shares.entropy_below(class, mixing)));
            })?;
            Ok(sum)
        };
        let compute =
            || Ok(self.checker.blocks(held, sum)?.into_iter().fold(Double::ZERO, Double::plus));
        let unpack = |reader: &mut Reader| Some(reader.long(1)?[0]);
        let all = self.checker.pass(compute, |sum| Sums::default().long([sum]), unpack)?;
        Ok(all.value())
    }

    /// No more than Σ c ψ of the shares that moves between classes make feasible, see `unpenalised`: a move of u/c
    /// from plane b to plane a on a row adds −u z to g_a and u z to g_b. The sums g add up to 0 over all planes, so
    /// those of the last need no equation.
    pub(super) fn corrected(&self, moves: &[(u64, u32, u32)]) -> Checked<f64> {
        let Setting { objective, roundings, .. } = self.setting;
        if objective.loss != Loss::Softmax || objective.intercept == Intercept::Penalised {
            return Err(
                "without a penalty only softmax has a bound, its biases free or none".into()
            );
        }
        if !moves.is_sorted_by(|a, b| a < b) {
            return Err("the moves are not rising".into());
        }
        let free = objective.intercept == Intercept::Free;
        let (n_classes, width) = (self.sums.d.len(), self.checker.width());
        let (blocks, size) = (n_classes - 1, width + usize::from(free));
        let order = blocks * size;
        if moves.len() != order || order > MOST_ORDER {
            return Err(format!("{} moves for {order} columns of {blocks} planes", moves.len()));
        }
        let mut sums = vec![(0.0, 0.0); n_classes * size];
        let mut column = 0;
        self.for_columns(&Mixing::nothing(n_classes), |_, g, error| {
            g.iter().enumerate().for_each(|(k, g)| sums[k * size + column] = (*g, error));
            column += 1;
        });
        if free {
            let error = |d: f64| 4.0 * UNIT * d.abs() + self.sum_error() * self.total();
            for (k, d) in self.sums.d.iter().map(|d| d.value()).enumerate() {
                sums[k * size + width] = (d, error(d));
            }
        }
        let mut lines = vec![0.0; order * order];
        let mut touched: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        let (mut buffer, mut copy) = (RowBuffer::default(), RowBuffer::default());
        for ((row, to, from), line) in moves.iter().zip(lines.chunks_exact_mut(order)) {
            let planes = [(*to as usize, -1.0), (*from as usize, 1.0)];
            if to == from || planes.iter().any(|(plane, _)| *plane >= n_classes) {
                return Err(format!("row {row}: a move is between two planes"));
            }
            if self.members.of(*row).is_none() {
                return Err(format!("row {row} of the moves does not take part"));
            }
            let values = nonzeros(self.checker.row(*row, &mut buffer)?, &mut copy);
            let counts = touched.entry(*row).or_insert_with(|| vec![0.0; n_classes]);
            for (plane, sign) in planes {
                counts[plane] += 1.0;
                if plane < blocks {
                    let block = &mut line[plane * size..][..size];
                    pairs(values).for_each(|(column, value)| block[column] = sign * value);
                    block[width..].fill(sign);
                }
            }
        }
        let reach = unpenalised::reach(lines, &sums[..order], *roundings)?;
        let whole = Mixing::nothing(n_classes);
        let held = self.sums.columns.layout.stride * width;
        let parts = self.checker.blocks(held, |range| {
            let (mut sum, mut refused) = (Double::ZERO, None);
            self.for_shares(range, |Visit { row, class, cost, .. }, shares| {
                let entropy = match touched.get(&row) {
                    None => Some(shares.entropy_below(class, &whole)),
                    Some(counts) => {
                        let unit = reach / cost * (1.0 + 8.0 * UNIT);
                        let reach: Vec<f64> = counts.iter().map(|count| count * unit).collect();
                        shares.entropy_within(class, &reach)
                    }
                };
                match entropy {
                    Some(entropy) => sum = sum.plus(Double::of(cost * entropy)),
                    None => refused = refused.or(Some(row)),
                }
            })?;
            match refused {
                None => Ok(sum),
                Some(row) => Err(format!("row {row}: a share may have to leave its domain")),
            }
        })?;
        let psi = below(parts.into_iter().fold(Double::ZERO, Double::plus).value());
        Ok(psi * (1.0 - 8.0 * UNIT * n_classes as f64) - self.slack())
    }

    fn block(&self, range: Range<u64>) -> Checked<Added> {
        let layout = self.sums.columns.layout;
        let n_classes = self.sums.d.len();
        let mut sums = Added {
            loss: Double::ZERO,
            psi: Double::ZERO,
            d: vec![Double::ZERO; n_classes],
            n: vec![Double::ZERO; n_classes],
            columns: Columns::new(layout, self.checker.width()),
        };
        let softmax = self.setting.objective.loss == Loss::Softmax;
        let whole = Mixing::nothing(n_classes);
        let free = layout.is_free();
        // Mixed shares get their entropies in a second pass.
        let now = softmax && !free && !self.setting.penalty.has_walls();
        let mut factors = vec![0.0; layout.padded];
        self.for_shares(range, |Visit { values, class, cost, lost, .. }, shares| {
            sums.loss = sums.loss.plus(Double::of(cost * lost));
            sums.n[class] = sums.n[class].plus(Double::of(cost));
            let psi = match softmax {
                true if now => Double::of(cost * shares.entropy_below(class, &whole)),
                true => Double::ZERO,
                false => shares.others.times(cost),
            };
            sums.psi = sums.psi.plus(psi);
            let size = cost * shares.others.value();
            if size > 0.0 {
                for (k, p) in shares.p.iter().enumerate() {
                    let product = Double::product(-cost, *p);
                    sums.d[k] = sums.d[k].plus(product);
                    factors[k] = product.value();
                }
                sums.d[class] = sums.d[class].plus(shares.others.times(cost));
                factors[class] = size;
                sums.columns.add(values, &factors, size);
            }
            if free {
                sums.columns.add_class(values, class, cost);
            }
        })?;
        Ok(sums)
    }

    /// Calls `each` with every row that takes part and its shares.
    fn for_shares(
        &self,
        range: Range<u64>,
        mut each: impl FnMut(Visit<'_>, &Shares),
    ) -> Checked<()> {
        let listed = &self.setting.dual.shares;
        let mut listed =
            listed[listed.partition_point(|(row, _)| *row < range.start)..].iter().peekable();
        let n_classes = self.sums.d.len();
        let mut scores = vec![0.0; self.own.biases.len()];
        let mut shares = Shares { p: vec![0.0; n_classes], others: Double::ZERO };
        let softmax = self.setting.objective.loss == Loss::Softmax;
        let (mut buffer, mut copy) = (RowBuffer::default(), RowBuffer::default());
        for row in range {
            let list = listed.next_if(|(listed, _)| *listed == row);
            let Some((class, cost)) = self.members.of(row) else {
                match list {
                    None => continue,
                    Some(_) => {
                        return Err(format!("row {row} of the dual point does not take part"));
                    }
                }
            };
            let values = nonzeros(self.checker.row(row, &mut buffer)?, &mut copy);
            let error = self.own.scores(values, self.setting.roundings, &mut scores);
            if !error.is_finite() {
                return Err(format!("row {row}: the scores are out of range"));
            }
            let lost = shares.at(&mut scores[..n_classes], class, error, softmax);
            match (list, &self.dual) {
                (Some((_, list)), _) => {
                    shares.listed(list, class).map_err(|words| format!("row {row}: {words}"))?;
                }
                (None, Some(planes)) => {
                    planes.scores(values, self.setting.roundings, &mut scores);
                    shares.at(&mut scores[..n_classes], class, 0.0, softmax);
                }
                (None, None) => {}
            }
            each(Visit { row, values, class, cost, lost }, &shares);
        }
        match listed.peek() {
            Some((row, _)) if *row >= self.checker.rows.len() => {
                Err(format!("row {row} of the dual point does not take part"))
            }
            _ => Ok(()),
        }
    }

    /// What numbers too small for binary64 may add up to.
    fn slack(&self) -> f64 {
        let columns = self.checker.width() as f64 * self.sums.d.len() as f64;
        (self.checker.n_rows() as f64 + columns) * TINY
    }
}

impl Scores {
    fn new(planes: &[Linear<'_>], width: usize) -> Scores {
        let padded = planes.len().next_multiple_of(LANES);
        let mut weights = vec![0.0; width * padded];
        let mut most = vec![0f64; width];
        let mut biases = vec![0.0; padded];
        for (k, plane) in planes.iter().enumerate() {
            biases[k] = plane.bias;
        }
        // A few columns of all planes at a time, so that their lines are written while they are near.
        let columns = weights.chunks_mut(NEAR * padded).zip(most.chunks_mut(NEAR)).enumerate();
        for (number, (lines, most)) in columns {
            for (k, plane) in planes.iter().enumerate() {
                let own = &plane.weights[number * NEAR..][..most.len()];
                for ((line, most), weight) in lines.chunks_mut(padded).zip(&mut *most).zip(own) {
                    line[k] = *weight;
                    *most = most.max(weight.abs());
                }
            }
        }
        Scores { weights, most, biases }
    }

    /// The scores of a row on every plane, and one bound on their errors.
    fn scores(&self, row: Nonzeros<'_>, roundings: f64, scores: &mut [f64]) -> f64 {
        scores.copy_from_slice(&self.biases);
        let mut size = self.biases.iter().fold(0f64, |most, bias| most.max(bias.abs()));
        let terms = row.0.len() as f64;
        let (padded, (scores, _)) = (scores.len(), scores.as_chunks_mut::<LANES>());
        for (column, value) in pairs(row) {
            let (weights, _) = self.weights[column * padded..][..padded].as_chunks::<LANES>();
            for (scores, weights) in scores.iter_mut().zip(weights) {
                for lane in 0..LANES {
                    scores[lane] += value * weights[lane];
                }
            }
            size += (value * self.most[column]).abs();
        }
        rounding(terms + 2.0 + roundings, terms, size)
    }
}

impl Added {
    fn pack(self) -> Sums {
        let Added { loss, psi, d, n, columns } = self;
        columns.pack(Sums::default().long([loss, psi]).long(d).long(n))
    }

    fn unpack(reader: &mut Reader, layout: Line, width: usize, classes: usize) -> Option<Added> {
        let both = reader.long(2)?;
        let (d, n) = (reader.long(classes)?, reader.long(classes)?);
        let columns = Columns::unpack(reader, layout, width)?;
        Some(Added { loss: both[0], psi: both[1], d, n, columns })
    }

    fn merge(mut self, other: Added) -> Added {
        self.loss = self.loss.plus(other.loss);
        self.psi = self.psi.plus(other.psi);
        for (sums, others) in [(&mut self.d, &other.d), (&mut self.n, &other.n)] {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.plus(*other));
        }
        self.columns.merge(&other.columns);
        self
    }
}
