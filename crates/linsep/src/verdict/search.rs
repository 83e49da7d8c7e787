//! Floats propose, exact arithmetic disposes: one two-class question from the cheap tries to the
//! last resort, in rounds of about one pass each.
//!
//! 1. An active set: the point of least length in the hull of a few rows. Length 0 proposes a short
//!    list of rows that balance; otherwise the plane is tried on all rows, and those it gets wrong
//!    join ([`ActiveSet`]). It starts from a sample, so rows that no plane separates by far are
//!    refuted without a single pass.
//! 2. A look at every row, if that did not settle it, if rows repeat in the sample or if there are
//!    very many columns: equal rows on both sides are two rows that cancel ([`ColumnScan`]).
//! 3. Dual coordinate descent: a plane that gets every row right, soon or not at all ([`Descent`]).
//! 4. The active set again, with all columns measured and the rows that the descent found heavy.
//! 5. The exact decision ([`super::exactly`]) on all rows, or on those that matter with rows joining in the
//!    same way.
//!
//! Nothing leaves this file that the exact checker has not accepted.

use super::active::{ActiveSet, Round};
use super::column_scan::ColumnScan;
use super::descent::Descent;
use super::exactly::{Exactly, decide};
use super::kind::spanning;
use super::lift::{Combination, combination};
use super::min_norm::MinNorm;
use super::newton::{FiniteNewton, Found};
use super::proposal::{exact_plane, rounded, weighted};
use super::signed::Signed;
use crate::claim::planes::float_plane;
use dashu_int::IBig;
use linsep_proof::{Claim, ReadingField};

/// Up to this many dimensions the active set works with dense points.
const MAX_DENSE: usize = 2000;

/// Up to this many numbers it does so in any dimension.
const FEW_NUMBERS: usize = 10_000_000;

/// Up to this many dimensions the exact simplex method is tried.
const MAX_EXACT: usize = 600;

/// Up to this many multiplications the exact decision is asked about all rows at once.
const FEW_PRODUCTS: usize = 10_000_000;

/// Rounds of the active set after which floats are given up on.
const MAX_ROUNDS: u64 = 200;

/// Rounds of the Newton method on many sparse rows.
const MAX_NEWTON: u64 = 20;

/// Passes of the descent where the active set can follow, and where it cannot.
const PASSES_NARROW: u64 = 1;
const PASSES_WIDE: u64 = 60;

/// Rows that the last try on wide data looks at.
const HEAVIEST: usize = 300;

/// What a search may use.
pub(crate) struct Effort<'a> {
    pub(crate) threads: usize,
    /// Asked now and then; true ends the search undecided.
    pub(crate) stop: &'a dyn Fn() -> bool,
    /// Seconds; only used to tell how long proving took.
    pub(crate) clock: fn() -> f64,
}

/// The end of a search.
// One of them at a time; a box would save nothing.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Answer {
    /// A proved claim: separable, inseparable, or overlapping where that was seen at once.
    Proved(Claim),
    /// Nothing was proved within the limits.
    Open,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EffortSpent {
    /// Visits of a row.
    pub(crate) visits: u64,
    /// Decisions by the exact simplex method.
    pub(crate) exact: u64,
    /// Seconds spent in the checker.
    pub(crate) proving: f64,
}

/// One question on its way to an answer.
pub(crate) struct Search {
    pub(crate) view: Signed,
    reading: ReadingField,
    /// Whether a witness that spans all rows is to be claimed as overlapping at once.
    kind: bool,
    pub(crate) work: EffortSpent,
    /// (row, share) of a blend of rows: its length bounds the margin.
    pub(crate) blend: Vec<(usize, f64)>,
    stage: Stage,
}

enum Stage {
    Start,
    Scan,
    Descent { scan: Box<ColumnScan>, descent: Box<Descent>, passes: u64 },
    ActiveSet { set: Box<ActiveSet>, rounds: u64, sampled: bool },
    Newton { newton: Box<FiniteNewton>, rounds: u64 },
    Exact { active: Vec<usize> },
    Ended,
}

/// What a stage says at the end of a round.
#[allow(clippy::large_enum_variant)]
enum Next {
    Go(Stage),
    End(Answer),
}

impl From<Option<Claim>> for Next {
    fn from(claim: Option<Claim>) -> Next {
        Next::End(claim.map_or(Answer::Open, Answer::Proved))
    }
}

impl Search {
    pub(crate) fn new(view: Signed, reading: ReadingField, kind: bool) -> Search {
        // The middle between two rows is a blend too, and known before any work.
        let first = |sign: i8| view.signs.iter().position(|s| *s == sign);
        let blend = first(1).into_iter().chain(first(-1)).map(|k| (k, 1.0)).collect();
        Search { view, reading, kind, work: EffortSpent::default(), blend, stage: Stage::Start }
    }

    /// Rounds until the end.
    pub(crate) fn run(&mut self, effort: &Effort<'_>) -> Answer {
        loop {
            if let Some(answer) = self.round(effort) {
                return answer;
            }
            if (effort.stop)() {
                return Answer::Open;
            }
        }
    }

    /// One round; `None` when another one is needed.
    pub(crate) fn round(&mut self, effort: &Effort<'_>) -> Option<Answer> {
        let next = match std::mem::replace(&mut self.stage, Stage::Ended) {
            Stage::Start => self.start(effort),
            Stage::Scan => self.scan_columns(effort),
            Stage::Descent { scan, descent, passes } => self.descend(scan, descent, passes, effort),
            Stage::ActiveSet { set, rounds, sampled } => {
                self.active_round(set, rounds, sampled, effort)
            }
            Stage::Newton { newton, rounds } => self.newton_round(newton, rounds, effort),
            Stage::Exact { active } => self.exact_round(active, effort),
            Stage::Ended => Next::End(Answer::Open),
        };
        match next {
            Next::Go(stage) => {
                self.stage = stage;
                None
            }
            Next::End(answer) => Some(answer),
        }
    }

    fn start(&mut self, effort: &Effort<'_>) -> Next {
        if !self.is_narrow() {
            return Next::Go(Stage::Scan);
        }
        let (scan, repeats) = ColumnScan::at_sample(&self.view);
        if let Some(claim) = self.by_equal_rows(&scan, effort) {
            return Next::End(Answer::Proved(claim));
        }
        if repeats {
            // Where rows repeat, a pair of them may stand on both sides: the shortest proof.
            return Next::Go(Stage::Scan);
        }
        let set = Box::new(ActiveSet::new(&self.view, &scan, &[]));
        Next::Go(Stage::ActiveSet { set, rounds: 0, sampled: true })
    }

    fn by_equal_rows(&mut self, scan: &ColumnScan, effort: &Effort<'_>) -> Option<Claim> {
        let &(a, b) = scan.equal.first()?;
        self.propose_witness(vec![(a, IBig::ONE), (b, IBig::ONE)], effort)
    }

    /// Whether the active set can hold its points.
    fn is_narrow(&self) -> bool {
        self.view.dimension() <= MAX_DENSE
            || self.view.len().saturating_mul(self.view.dimension()) <= FEW_NUMBERS
    }

    /// Whether the exact decision can look at all rows.
    fn is_small(&self) -> bool {
        let (rows, size) = (self.view.len(), self.view.dimension());
        rows.saturating_mul(size).saturating_mul(size) <= FEW_PRODUCTS
    }

    fn scan_columns(&mut self, effort: &Effort<'_>) -> Next {
        let scan = ColumnScan::new(&self.view, effort.threads);
        self.work.visits += self.view.len() as u64;
        if let Some(claim) = self.by_equal_rows(&scan, effort) {
            return Next::End(Answer::Proved(claim));
        }
        let descent = Box::new(Descent::new(&self.view, &scan));
        Next::Go(Stage::Descent { scan: Box::new(scan), descent, passes: 0 })
    }

    fn descend(
        &mut self,
        scan: Box<ColumnScan>,
        mut descent: Box<Descent>,
        passes: u64,
        effort: &Effort<'_>,
    ) -> Next {
        let rows = self.view.len() as u64;
        let narrow = self.is_narrow();
        let wrong = descent.full_pass(&self.view);
        self.work.visits += rows;
        self.work.visits += descent.settle(&self.view, rows / 2);
        let limit = if narrow { PASSES_NARROW } else { PASSES_WIDE };
        self.blend = descent.blend();
        if wrong * 100 < rows
            && self.all_right(&descent, effort)
            && let Some(claim) = self.propose_plane(&descent.weights, descent.bias, effort)
        {
            return Next::End(Answer::Proved(claim));
        }
        if passes + 1 < limit {
            return Next::Go(Stage::Descent { scan, descent, passes: passes + 1 });
        }
        if narrow {
            let seeds = descent.heaviest(4 * self.view.dimension());
            let set = Box::new(ActiveSet::new(&self.view, &scan, &seeds));
            return Next::Go(Stage::ActiveSet { set, rounds: 0, sampled: false });
        }
        self.among_heaviest(&descent, effort).into()
    }

    /// Whether the plane of the descent gets every row right; looks until one is wrong.
    fn all_right(&mut self, descent: &Descent, effort: &Effort<'_>) -> bool {
        const GROUP: usize = 1 << 10;
        for from in (0..self.view.len()).step_by(GROUP) {
            let rows = from..(from + GROUP).min(self.view.len());
            self.work.visits += rows.len() as u64;
            let margins = self.view.margins(rows, &descent.weights, descent.bias, effort.threads);
            if margins.iter().any(|m| m.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater)) {
                return false;
            }
        }
        true
    }

    /// Wide data that the descent did not settle: the rows with the largest multipliers are those
    /// that stand against each other. They are few, so only their own columns count.
    fn among_heaviest(&mut self, descent: &Descent, effort: &Effort<'_>) -> Option<Claim> {
        let heaviest = descent.heaviest(HEAVIEST);
        let (mut entries, mut scratch) = (Vec::new(), Vec::new());
        let mut columns = Vec::new();
        for &k in &heaviest {
            let mut row = Vec::new();
            self.view.for_each(k, &mut scratch, |j, x| row.push((j, x)));
            columns.extend(row.iter().map(|(j, _)| *j));
            entries.push(row);
        }
        columns.sort_unstable();
        columns.dedup();
        let mut search = MinNorm::new(columns.len() + 1);
        for (row, &k) in entries.iter().zip(&heaviest) {
            let mut point = vec![0.0; columns.len() + 1];
            let sign = f64::from(self.view.signs[k]);
            point[0] = if self.view.bias { sign } else { 0.0 };
            for (j, x) in row {
                point[columns.binary_search(j).map_or(0, |at| at + 1)] = sign * x;
            }
            let length = point.iter().map(|x| x * x).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            point.iter_mut().for_each(|x| *x /= length);
            search.push(&point);
        }
        search.run(20 * heaviest.len() + 1000);
        let support: Vec<usize> = search.support().map(|(j, _)| heaviest[j]).collect();
        match search.square() < 1e-16 {
            true => self.by_support(&support, effort),
            false => None,
        }
    }

    fn active_round(
        &mut self,
        mut set: Box<ActiveSet>,
        rounds: u64,
        sampled: bool,
        effort: &Effort<'_>,
    ) -> Next {
        let round = set.round(&self.view, effort.threads, &mut self.work.visits);
        self.blend = set.blend(&self.view);
        let active = match round {
            // Rows that many others agree with are worth more at once.
            Round::More if sampled && rounds == 1 && FiniteNewton::suits(&self.view) => {
                let newton = Box::new(FiniteNewton::new(&self.view, set.rows()));
                return Next::Go(Stage::Newton { newton, rounds: 0 });
            }
            Round::More if rounds < MAX_ROUNDS => {
                return Next::Go(Stage::ActiveSet { set, rounds: rounds + 1, sampled });
            }
            Round::More => None,
            Round::Plane(weights, bias) => match self.propose_plane(&weights, bias, effort) {
                Some(claim) => return Next::End(Answer::Proved(claim)),
                None => Some(self.rows_next_to(&weights, bias, effort)),
            },
            Round::Balance(support) => match self.by_support(&support, effort) {
                Some(claim) => return Next::End(Answer::Proved(claim)),
                None => Some(set.around(&support)),
            },
            Round::Stuck(rows) => Some(rows),
        };
        match active {
            _ if sampled => Next::Go(Stage::Scan),
            Some(_) if self.is_small() => {
                Next::Go(Stage::Exact { active: (0..self.view.len()).collect() })
            }
            Some(active) if self.view.dimension() <= MAX_EXACT => Next::Go(Stage::Exact { active }),
            _ => Next::End(Answer::Open),
        }
    }

    /// Many sparse rows; what this cannot settle goes the usual way.
    fn newton_round(
        &mut self,
        mut newton: Box<FiniteNewton>,
        rounds: u64,
        effort: &Effort<'_>,
    ) -> Next {
        match newton.round(&self.view, effort.threads, &mut self.work.visits) {
            Found::More if rounds < MAX_NEWTON => {
                Next::Go(Stage::Newton { newton, rounds: rounds + 1 })
            }
            Found::Plane(plane) => match self.propose_plane(&plane.weights, plane.bias, effort) {
                Some(claim) => Next::End(Answer::Proved(claim)),
                None => Next::Go(Stage::Scan),
            },
            Found::More | Found::Nothing => Next::Go(Stage::Scan),
        }
    }

    fn rows_next_to(&mut self, weights: &[f64], bias: f64, effort: &Effort<'_>) -> Vec<usize> {
        let n = self.view.len();
        self.work.visits += n as u64;
        let margins = self.view.margins(0..n, weights, bias, effort.threads);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by(|&a, &b| margins[a].total_cmp(&margins[b]).then(a.cmp(&b)));
        order.truncate(4 * self.view.dimension());
        order
    }

    /// Whole multipliers for a support that floats found.
    fn by_support(&mut self, chosen: &[usize], effort: &Effort<'_>) -> Option<Claim> {
        let whole = self.view.whole_rows(chosen);
        let Combination::One(lambda) = combination(&whole.rows) else { return None };
        let lambda = if lambda.iter().any(|l| *l < IBig::ZERO) {
            lambda.into_iter().map(|l| -l).collect()
        } else {
            lambda
        };
        if lambda.iter().any(|l| *l < IBig::ZERO) {
            return None;
        }
        let used = chosen.iter().copied().zip(lambda).filter(|(_, l)| *l > IBig::ZERO);
        self.propose_witness(used.collect(), effort)
    }

    /// The last resort: the exact simplex method on a growing set of rows.
    fn exact_round(&mut self, mut active: Vec<usize>, effort: &Effort<'_>) -> Next {
        self.work.exact += 1;
        let view = &self.view;
        let whole = view.whole_rows(&active);
        match decide(&whole.rows, effort.stop) {
            None => Next::End(Answer::Open),
            Some(Exactly::Balanced(lambda)) => {
                let lambda = lambda.into_iter().map(|(j, l)| (active[j], l)).collect();
                self.propose_witness(lambda, effort).into()
            }
            Some(Exactly::Separated(w)) => {
                let (weights, bias) = rounded(&whole, &w, view.data.n_features());
                if let Some(claim) = self.propose_plane(&weights, bias, effort) {
                    return Next::End(Answer::Proved(claim));
                }
                let (problem, plane) = (self.view.problem.clone(), exact_plane(&whole, &w));
                if let Some(claim) = self.proved(Claim::Separable { problem, plane }, effort) {
                    return Next::End(Answer::Proved(claim));
                }
                let view = &self.view;
                self.work.visits += view.len() as u64;
                let margins = view.margins(0..view.len(), &weights, bias, effort.threads);
                let mut is_active = vec![false; view.len()];
                active.iter().for_each(|&k| is_active[k] = true);
                let mut order: Vec<usize> = (0..view.len()).filter(|&k| !is_active[k]).collect();
                if order.is_empty() {
                    return Next::End(Answer::Open);
                }
                order.sort_unstable_by(|a, b| margins[*a].total_cmp(&margins[*b]).then(a.cmp(b)));
                active.extend(order.into_iter().take(2 * view.dimension() + 2));
                Next::Go(Stage::Exact { active })
            }
        }
    }

    fn propose_plane(&mut self, weights: &[f64], bias: f64, effort: &Effort<'_>) -> Option<Claim> {
        if weights.iter().any(|w| !w.is_finite()) || !bias.is_finite() {
            return None;
        }
        let plane = float_plane(weights, self.view.bias.then_some(bias));
        let (problem, plane) = (self.view.problem.clone(), plane.into());
        self.proved(Claim::Separable { problem, plane }, effort)
    }

    fn propose_witness(
        &mut self,
        lambda: Vec<(usize, IBig)>,
        effort: &Effort<'_>,
    ) -> Option<Claim> {
        let witness = weighted(&self.view, &lambda);
        // A spanning witness says more, and checking it once is enough.
        if self.kind
            && let Some(claim) = spanning(&self.view, &witness)
            && let Some(claim) = self.proved(claim, effort)
        {
            return Some(claim);
        }
        self.proved(Claim::Inseparable { problem: self.view.problem.clone(), witness }, effort)
    }

    /// Accepts a claim only if the checker does.
    fn proved(&mut self, claim: Claim, effort: &Effort<'_>) -> Option<Claim> {
        if matches!(claim, Claim::Separable { .. }) {
            self.work.visits += self.view.len() as u64;
        }
        let started = (effort.clock)();
        let holds = self.view.holds(&claim, &self.reading, effort.threads);
        self.work.proving += (effort.clock)() - started;
        holds.then_some(claim)
    }
}
