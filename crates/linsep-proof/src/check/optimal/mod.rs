//! How a claim `optimal` is checked: the objective of the planes from above, a dual point from below.
//!
//! Every dual point bounds the objective of every model (weak duality; Fenchel and Rockafellar), so the
//! checker may make one in any way and only has to evaluate it honestly. It takes the multipliers that
//! the claim lists and computes the others from the slope of the loss at the planes; what it computes is
//! a point of the domain, however it was rounded. Points that break a condition are repaired: factors
//! balance the sides or the classes where biases are free, and shrink all multipliers where the
//! conjugate of the penalty is infinite. The modules `two` and `joint` have the formulas.
//!
//! **Rounding.** Sums run in binary64 with bounds of their errors, u = 2^-53, that are proved where they
//! are computed: scores in `rows`, sums over columns in `sums` and `joint`, exponentials and logarithms in
//! `functions`, penalties in `penalty`. Losses fall with the margin, so the loss of a margin that is
//! lowered by its error bounds the loss (the squared loss has a least value and takes the larger of both
//! ends); conjugates are convex in g, so one end of the interval of g bounds them. Sums over rows run in [`Double`](crate::double::Double), whose errors of n·2^-98 are
//! covered with the others. What is too small for binary64 is covered by 2^-600 for each row and column:
//! factors of the objective are from 1e-100 to 1e100, so that no product of theirs comes near.
//!
//! `primal`, `bound` and the ends of the interval of the bias are true as real numbers. `gap` and `radius`
//! follow from the first two by one formula each, which binary64 computes to within 2^-51. Losses and
//! penalties are never negative, so a bound below 0 is raised to 0.
//!
//! **The radius.** With l2 > 0 the objective grows by at least l2/2 |v − v*|² away from the best weights,
//! so primal − bound ≥ l2/2 |v − v*|².

mod columns;
mod functions;
mod joint;
mod penalty;
mod rows;
mod sentence;
mod shares;
mod sums;
mod two;
mod unpenalised;

use super::{Checked, Checker};
use crate::basis::Products;
use crate::claim::Question;
use crate::file::ReadingField;
use crate::fitted::{FloatPlane, Planes};
use crate::optimal::{DualPoint, Intercept, Loss, Objective, Optimality};
use crate::rows::Rows;
use crate::threads::{Known, by_rows};
use joint::Joint;
use penalty::{Penalty, UNIT};
use std::collections::HashMap;
use std::ops::Range;
use two::Two;

pub(super) use functions::exp;
pub(super) use rows::Linear;
pub use sentence::percent_above;

/// A claim `optimal` with its numbers as the checker shows them in one pass; the words say why there are
/// none. The gap that it comes with says how careful the sums have to be.
pub fn measure_optimal(
    planes: &Planes,
    optimality: &Optimality,
    rows: &dyn Rows,
    reading: &ReadingField,
    threads: usize,
) -> Result<Optimality, String> {
    let products = Products::new(rows.basis(), rows.width())?;
    let checker = Checker { rows, products, reading, bias: true, threads, elsewhere: None };
    checker.measured(planes, optimality)
}

impl Checker<'_> {
    pub(super) fn optimal(&self, planes: &Planes, claimed: &Optimality) -> Checked<String> {
        follows(claimed)?;
        let mut care = Care::of(claimed.gap);
        loop {
            let shown = self.shown(planes, claimed, care)?;
            match shown.confirms(claimed) {
                Ok(()) => return Ok(self.sentence(claimed)),
                // Light sums may show less than the claim was measured with.
                Err(_) if care == Care::Light => care = Care::Plain,
                Err(reason) => return Err(reason),
            }
        }
    }

    /// The claim with the numbers that the checker shows, and a little room for the order of its sums,
    /// which follows the storage of the rows.
    pub(super) fn measured(&self, planes: &Planes, claimed: &Optimality) -> Checked<Optimality> {
        let mut care = Care::of(claimed.gap);
        loop {
            let shown = self.shown(planes, claimed, care)?;
            // What is not a number is too loose as well.
            let is_sharp = shown.looseness <= LOOSE * (shown.primal - shown.bound);
            if care == Care::Light && !is_sharp {
                care = Care::Plain;
                continue;
            }
            let room = ROOM * (shown.primal - shown.bound).max(0.0);
            let rounding = ROUNDING * shown.primal;
            let mut measured = claimed.clone();
            measured.primal = shown.primal + (room + rounding);
            measured.bound = (shown.bound - room.min(ROOM * shown.bound) - rounding).max(0.0);
            let distance = measured.primal - measured.bound;
            if !(measured.primal.is_finite() && (measured.bound > 0.0 || distance == 0.0)) {
                (measured.primal, measured.bound) = (shown.primal, shown.bound);
                return Err(measured.vacuous());
            }
            let gap = if distance > 0.0 { distance / measured.bound } else { 0.0 };
            measured.gap = gap * (1.0 + ROUNDING);
            let l2 = claimed.objective.l2;
            measured.radius = (l2 > 0.0).then(|| (2.0 * distance / l2).sqrt() * (1.0 + ROUNDING));
            if let (Some(interval), Some(ends)) = (&mut measured.bias, shown.bias) {
                // The ends follow from the primal that is claimed, and are as uncertain as the bound.
                let [least, most] = ends.map(|end| end.at(measured.primal + (room + rounding)));
                (interval.least, interval.most) = (-least, most);
            }
            // Plain sums show less: once the gap is seen to be wide, they are what is checked.
            match measured.gap > WIDE_GAP && care == Care::Careful {
                true => care = Care::Plain,
                false => return Ok(measured),
            }
        }
    }

    /// What one pass over the rows shows.
    fn shown(&self, planes: &Planes, claimed: &Optimality, care: Care) -> Checked<Shown> {
        let objective = &claimed.objective;
        let penalty = Penalty::new(objective, self.width())?;
        if !in_range(objective.c) {
            return Err(format!("c is {:?}, not from 1e-100 to 1e100", objective.c));
        }
        if !self.bias && objective.intercept != Intercept::None {
            return Err("planes without a bias have the intercept none".into());
        }
        let bare = objective.l1 == 0.0 && objective.l2 == 0.0 && objective.limits.is_empty();
        let DualPoint { correction, moves, .. } = &claimed.dual;
        if bare == (correction.is_empty() && moves.is_empty()) {
            return Err("corrections go with an objective without a penalty or limits".into());
        }
        if claimed.dual.names_rows() {
            self.in_one_place()?;
        }
        let roundings = self.products.roundings();
        let needs_care = bare || objective.intercept == Intercept::Free || claimed.bias.is_some();
        let care = if needs_care { Care::Careful } else { care };
        let setting = Setting { objective, dual: &claimed.dual, penalty, roundings, care };
        match planes {
            Planes::Two { problem, plane } => self.optimal_two(problem, plane, &setting, claimed),
            Planes::Each(planes) => self.optimal_joint(planes, &setting, claimed),
        }
    }

    fn optimal_two(
        &self,
        problem: &Question,
        plane: &FloatPlane,
        setting: &Setting<'_>,
        claimed: &Optimality,
    ) -> Checked<Shown> {
        let loss = setting.objective.loss;
        if matches!(loss, Loss::Softmax | Loss::CrammerSinger) {
            return Err("this loss is one of a plane for each class".into());
        }
        let DualPoint { planes, shares, moves, .. } = &claimed.dual;
        if planes.is_some() || !shares.is_empty() || !moves.is_empty() {
            return Err("the dual point of two classes has a plane and alpha".into());
        }
        let own = self.linear(plane)?;
        let dual = claimed.dual.plane.as_ref().map(|plane| self.linear(plane)).transpose()?;
        if let Some(column) = setting.penalty.beyond_limits(&own.weights) {
            return Err(format!("the weight of column {column} is beyond its limits"));
        }
        setting.allows_bias(own.bias)?;
        let classes: Vec<&str> =
            problem.negative.iter().chain(&problem.positive).map(String::as_str).collect();
        let signs = self.signs(problem)?;
        let side = |class: usize| u32::from(class >= problem.negative.len());
        let place = |row, class: Option<usize>| Ok(signs.of(row).and(class).map(side));
        let members = self.members(&classes, setting.objective, place)?;
        for pair in &claimed.dual.alpha {
            let (row, alpha) = *pair;
            let Some((_, cost)) = members.of(row) else {
                return Err(format!("row {row} of the dual point does not take part"));
            };
            let [least, most] = match loss {
                Loss::Squared => [-1e100, 1e100],
                Loss::SquaredHinge => [0.0, 1e100],
                _ => [0.0, cost],
            };
            if !(alpha >= least && alpha <= most) {
                return Err(format!(
                    "row {row}: the multiplier {alpha:?} is not from {least:?} to {most:?}"
                ));
            }
        }
        rising(claimed.dual.alpha.iter().map(|pair| pair.0))?;
        let mut two = Two::new(self, setting, &members, own, dual)?;
        two.prepare(claimed.bias.as_ref().map(|interval| interval.tilt))?;
        let bound = match &claimed.dual.correction[..] {
            [] => two.dual(two.balance()?)?.0,
            correction => two.corrected(correction)?,
        };
        let bias = match &claimed.bias {
            None => None,
            Some(_) if setting.objective.intercept != Intercept::Free => {
                return Err("only a free bias has an interval".into());
            }
            Some(interval) => Some(two.bias_reach(interval.tilt)?),
        };
        let looseness = two.looseness();
        Ok(Shown { primal: two.primal(), bound: bound.max(0.0), bias, looseness })
    }

    fn optimal_joint(
        &self,
        planes: &[FloatPlane],
        setting: &Setting<'_>,
        claimed: &Optimality,
    ) -> Checked<Shown> {
        if !matches!(setting.objective.loss, Loss::Softmax | Loss::CrammerSinger) {
            return Err("this loss is one of two classes".into());
        }
        if claimed.dual.plane.is_some() || !claimed.dual.alpha.is_empty() {
            return Err("the dual point of planes for each class has planes and shares".into());
        }
        if !setting.objective.limits.is_empty()
            || claimed.bias.is_some()
            || !claimed.dual.correction.is_empty()
        {
            return Err(
                "limits, correction rows and the interval of the bias are for two classes".into()
            );
        }
        let classes: Checked<Vec<&str>> = planes.iter().map(FloatPlane::class).collect();
        let classes = classes?;
        let own = self.linears(planes)?;
        own.iter().try_for_each(|plane| setting.allows_bias(plane.bias))?;
        let dual = match &claimed.dual.planes {
            None => None,
            Some(dual)
                if dual
                    .iter()
                    .map(|plane| plane.class.as_deref())
                    .eq(classes.iter().copied().map(Some)) =>
            {
                Some(self.linears(dual)?)
            }
            Some(_) => return Err("the dual planes are not of the same classes".into()),
        };
        let place = |row, class: Option<usize>| match (self.rows.takes_part(row), class) {
            (false, _) => Ok(None),
            (true, Some(class)) => Ok(Some(class as u32)),
            (true, None) => Err(format!("row {row} is of a class without a plane")),
        };
        let members = self.members(&classes, setting.objective, place)?;
        rising(claimed.dual.shares.iter().map(|pair| pair.0))?;
        let joint = Joint::new(self, setting, &members, &own, dual.as_deref())?;
        let bound = match &claimed.dual.moves[..] {
            [] => joint.dual()?,
            moves => joint.corrected(moves)?,
        };
        let primal = joint.primal(&own);
        Ok(Shown { primal, bound: bound.max(0.0), bias: None, looseness: 0.0 })
    }

    fn linear<'b>(&self, plane: &'b FloatPlane) -> Checked<Linear<'b>> {
        let (weights, bias) = plane.dense(self.width(), self.bias)?;
        Ok(Linear { weights, bias })
    }

    fn linears<'b>(&self, planes: &'b [FloatPlane]) -> Checked<Vec<Linear<'b>>> {
        planes.iter().map(|plane| self.linear(plane)).collect()
    }

    /// The class and the factor c of every row. `place` turns the number of a row's label into its
    /// class, if the row takes part.
    fn members(
        &self,
        classes: &[&str],
        objective: &Objective,
        place: impl Fn(u64, Option<usize>) -> Checked<Option<u32>> + Sync,
    ) -> Checked<Members> {
        let mut numbers = HashMap::new();
        for (number, class) in classes.iter().enumerate() {
            if numbers.insert(*class, number).is_some() {
                return Err(format!("class {class} stands twice"));
            }
        }
        let mut factors = vec![None; classes.len()];
        for (class, factor) in &objective.class_weights {
            let Some(number) = numbers.get(class.as_str()) else {
                return Err(format!("there is no class {class} to be weighted"));
            };
            if !in_range(*factor) || factors[*number].replace(*factor).is_some() {
                return Err(format!("class {class} is weighted twice or out of range"));
            }
        }
        let block = |rows: Range<u64>| -> Checked<Members> {
            let count = (rows.end - rows.start) as usize;
            let (class, cost) = (Vec::with_capacity(count), Vec::with_capacity(count));
            let (mut members, mut known) = (Members { class, cost }, Known::new());
            for row in rows {
                let label = self.rows.label(row);
                let number = known.or_find(label, |label| numbers.get(label).copied());
                let class = place(row, number)?;
                let factor = number.and_then(|number: usize| factors[number]).unwrap_or(1.0);
                let cost = objective.c * self.rows.weight(row) * factor;
                if class.is_some() && !in_range(cost) {
                    return Err(format!(
                        "row {row}: its factor {cost:?} is not from 1e-100 to 1e100"
                    ));
                }
                members.class.push(class.unwrap_or(NO_CLASS));
                members.cost.push(cost);
            }
            Ok(members)
        };
        let count = self.rows_at_hand();
        let (class, cost) =
            (Vec::with_capacity(count as usize), Vec::with_capacity(count as usize));
        let mut members = Members { class, cost };
        for block in by_rows(self.threads, count, &block) {
            let block = block?;
            members.class.extend(block.class);
            members.cost.extend(block.cost);
        }
        Ok(members)
    }
}

/// What numbers too small for binary64 may cost a row or a column: 2^-600.
const TINY: f64 = f64::from_bits((1023 - 600) << 52);

/// Numbers that the sums over the columns may take: no file makes the checker ask for more memory.
const MOST_HELD: usize = 1 << 31;

/// Claims of a wider gap do with plain sums over the columns.
const WIDE_GAP: f64 = 1e-6;

/// Claims of a gap this wide may do with light ones.
const WIDEST_GAP: f64 = 1e-4;

/// The share of primal − bound that light sums may take.
const LOOSE: f64 = 1e-3;

/// How careful the sums over the columns are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    /// One number for each column; all columns share a bound of their sizes.
    Light,
    /// The sum and its size.
    Plain,
    /// What additions drop, too.
    Careful,
}

impl Care {
    /// As careful as a gap asks for.
    fn of(gap: f64) -> Care {
        match () {
            () if gap > WIDEST_GAP => Care::Light,
            () if gap > WIDE_GAP => Care::Plain,
            () => Care::Careful,
        }
    }
}

/// The class of a row that does not take part.
const NO_CLASS: u32 = u32::MAX;

/// What the sums of a claim are made with.
struct Setting<'a> {
    objective: &'a Objective,
    dual: &'a DualPoint,
    penalty: Penalty<'a>,
    roundings: f64,
    care: Care,
}

impl Setting<'_> {
    fn allows_bias(&self, bias: f64) -> Checked<()> {
        match self.objective.intercept == Intercept::None && bias != 0.0 {
            true => Err("the intercept is none, and the bias is not 0".into()),
            false => Ok(()),
        }
    }
}

/// The class and the factor c of every row.
struct Members {
    class: Vec<u32>,
    cost: Vec<f64>,
}

impl Members {
    fn of(&self, row: u64) -> Option<(usize, f64)> {
        let row = usize::try_from(row).ok()?;
        let class = *self.class.get(row).filter(|class| **class != NO_CLASS)?;
        Some((class as usize, self.cost[row]))
    }
}

/// Whether products of a few such factors stay far from the ends of binary64.
fn in_range(factor: f64) -> bool {
    (1e-100..1e100).contains(&factor)
}

fn rising(rows: impl Iterator<Item = u64>) -> Checked<()> {
    match rows.is_sorted_by(|a, b| a < b) {
        true => Ok(()),
        false => Err("the rows of the dual point are not rising".into()),
    }
}

/// No less than a sum of losses: 2^-45 covers the errors of `functions` and of the sums.
fn above(sum: f64) -> f64 {
    sum * (1.0 + 128.0 * f64::EPSILON)
}

/// No more than a sum of entropies.
fn below(sum: f64) -> f64 {
    sum * (1.0 - 128.0 * f64::EPSILON)
}

/// Whether the numbers of a claim follow from its primal and its bound.
fn follows(claimed: &Optimality) -> Checked<()> {
    let Optimality { objective, primal, bound, gap, radius, .. } = claimed;
    if !(primal.is_finite() && bound.is_finite() && gap.is_finite() && primal >= bound) {
        return Err(format!("the primal {primal:?} is not a number above the bound {bound:?}"));
    }
    let least = match primal > bound {
        true if *bound <= 0.0 => return Err(claimed.vacuous()),
        true => (primal - bound) / bound,
        false => 0.0,
    };
    if *gap < least {
        return Err(format!("the gap is {least:?}, more than {gap:?}"));
    }
    let least = (2.0 * (primal - bound) / objective.l2).sqrt();
    match (radius, objective.l2 > 0.0) {
        (None, false) => Ok(()),
        (Some(radius), true) if radius.is_finite() && *radius >= least => Ok(()),
        (Some(radius), true) => Err(format!("the radius is {least:?}, more than {radius:?}")),
        (Some(_), false) => Err("without an l2 term there is no radius".into()),
        (None, true) => Err("the radius is missing".into()),
    }
}

/// The share of primal − bound that a claim leaves for sums in another order.
const ROOM: f64 = 1e-4;

/// The share of the primal that rounding may take.
const ROUNDING: f64 = 1e-13;

/// What one pass over the rows shows; numbers that are none show nothing.
struct Shown {
    /// No less than the objective of the planes.
    primal: f64,
    /// No more than the objective of any planes.
    bound: f64,
    /// How far below and above 0 the best bias can be.
    bias: Option<[Reach; 2]>,
    /// How much higher the bound may be by plain sums.
    looseness: f64,
}

impl Shown {
    fn confirms(&self, claimed: &Optimality) -> Checked<()> {
        let Shown { primal, bound, bias, .. } = self;
        // Numbers that are none show nothing.
        let shows_primal = *primal <= claimed.primal;
        let shows_bound = *bound >= claimed.bound;
        if !shows_primal {
            return Err(format!(
                "the objective of the planes is shown to be at most {primal:?}, not {:?}",
                claimed.primal
            ));
        }
        if !shows_bound {
            return Err(format!(
                "the objective of every model is shown to be at least {bound:?}, not {:?}",
                claimed.bound
            ));
        }
        let (Some(interval), Some(reach)) = (&claimed.bias, bias) else { return Ok(()) };
        let [low, most] = [reach[0].at(claimed.primal), reach[1].at(claimed.primal)];
        match interval.least <= -low && most <= interval.most {
            true => Ok(()),
            false => Err(format!(
                "the best bias is shown to be between {:?} and {most:?}, not between {:?} and {:?}",
                -low, interval.least, interval.most
            )),
        }
    }
}

/// How far from 0 the best bias can be on one side: (P − bound)/β.
struct Reach {
    bound: f64,
    beta: f64,
}

impl Reach {
    /// No less than the reach for this P.
    fn at(&self, primal: f64) -> f64 {
        let reach = (primal - self.bound) / self.beta;
        reach + 64.0 * UNIT * reach.abs()
    }
}

#[cfg(test)]
mod tests;
