//! The rank of the rows (1, x) of a question, exactly.
//!
//! Elimination modulo a prime never finds more independent rows than there are, so it proves
//! rank ≥ r. If r is below D, each coordinate outside the eliminated ones gives a relation: a whole
//! vector n ≠ 0 with n·(1, x) = 0 for the r rows, found by p-adic lifting ([`super::lift`]). The
//! relations are independent, each being alone in its coordinate. When every row of the question
//! satisfies them exactly, the rank is at most D minus their number, which is r. Rows that do not
//! satisfy them join, and the rank grows. A column depends on others exactly if some relation has a
//! part in it.
//!
//! Some rows are enough to begin with; data of full rank, the common case, costs no pass at all.

use super::lift::{eliminate, null_vectors};
use super::proposal::raw_whole;
use super::signed::{Signed, WholeRows};
use super::{Decision, Judge};
use crate::claim::planes::problem_of;
use crate::run::Task;
use dashu_int::{IBig, UBig};
use linsep_data::parallel::parallel_map;
use linsep_proof::Claim;
use std::sync::Arc;

/// Beyond this many numbers it is not looked for.
const MOST_NUMBERS: usize = 50_000_000;

/// Beyond this many dimensions neither: elimination takes the cube of it.
const MOST_DIMENSIONS: usize = 501;

/// Up to this many dimensions relations are always looked for.
const FEW_DIMENSIONS: usize = 64;

/// Steps that all relations together may take.
const MOST_STEPS: usize = 1_000_000_000;

/// The rank of the rows of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rank {
    /// Independent rows.
    pub rank: usize,
    /// D: the columns, and one for the bias. The difference is the number of relations.
    pub dimension: usize,
    /// Columns with a part in a relation that every row satisfies, `None` being the bias; absent when
    /// only the rank was found.
    pub dependent: Option<Vec<Option<u32>>>,
}

/// The columns that are sums of the bias and of columns before them in all rows of a task, or nothing where
/// that is too much work. Without a penalty their weights may be chosen at will.
pub(crate) fn aliased(task: &Task, bias: bool, stop: &dyn Fn() -> bool) -> Option<Vec<u32>> {
    let data = &task.data;
    let problem = problem_of(data, data.classes().first()?, None);
    let view = Signed::on(Arc::clone(data), problem, bias, task.rows.as_deref());
    if too_large(&view) {
        return None;
    }
    let kept = independence(&view, task.threads, stop)?.columns;
    let columns = 0..data.n_features() as u32;
    Some(columns.filter(|column| kept.binary_search(column).is_err()).collect())
}

/// A column and the sum that it is: (column, factor), `None` being the bias.
pub(crate) type Alias = (u32, Vec<(Option<u32>, f64)>);

/// The same with the sum that each of them is.
pub(crate) fn aliases(task: &Task, bias: bool, stop: &dyn Fn() -> bool) -> Option<Vec<Alias>> {
    let data = &task.data;
    let problem = problem_of(data, data.classes().first()?, None);
    let view = Signed::on(Arc::clone(data), problem, bias, task.rows.as_deref());
    if too_large(&view) {
        return None;
    }
    let found = independence(&view, task.threads, stop)?;
    let number = |x: &IBig| x.to_f64().value();
    let sum = |column: u32| {
        let is_it = |n: &Vec<(u32, IBig)>| n.last().is_some_and(|(last, _)| *last == column);
        let Some((terms, constant)) = found.relations.iter().find(|(n, _)| is_it(n)) else {
            return Vec::new();
        };
        let whole = terms.last().map_or(1.0, |(_, own)| -number(own));
        let first = (*constant != IBig::ZERO).then(|| (None, number(constant) / whole));
        let rest = terms[..terms.len() - 1].iter().map(|(j, n)| (Some(*j), number(n) / whole));
        first.into_iter().chain(rest).collect()
    };
    let columns = 0..data.n_features() as u32;
    let dependent = columns.filter(|column| found.columns.binary_search(column).is_err());
    Some(dependent.map(|column| (column, sum(column))).collect())
}

fn too_large(view: &Signed) -> bool {
    let dimension = view.dimension();
    view.len().saturating_mul(dimension) > MOST_NUMBERS || dimension > MOST_DIMENSIONS
}

/// The exact rank, or nothing.
pub(crate) fn of(judge: &Judge, decision: &Decision, stop: &dyn Fn() -> bool) -> Option<Rank> {
    let problem = decision.problem.as_ref()?;
    let shift = usize::from(judge.bias);
    let dimension = judge.data.n_features() + shift;
    let view = Signed::new(Arc::clone(&judge.data), problem.clone(), judge.bias);
    if let Claim::Overlapping { null, witness, .. } = &decision.claim
        && (witness.len() < view.len() || dimension <= view.len())
    {
        // The checker has seen these relations, and that there are no others.
        let has_part = |j: usize| null.iter().any(|relation| relation[j] != "0");
        let dependent = (0..dimension).filter(|&j| has_part(j));
        let dependent = dependent.map(|j| j.checked_sub(shift).map(|j| j as u32)).collect();
        let rank = dimension - null.len();
        return Some(Rank { rank, dimension, dependent: Some(dependent) });
    }
    if too_large(&view) {
        return None;
    }
    rank_of(&view, judge.threads, stop)
}

fn rank_of(view: &Signed, threads: usize, stop: &dyn Fn() -> bool) -> Option<Rank> {
    let (dimension, found) = (view.dimension(), explore(view, threads, stop)?);
    let rank = found.pivots.len();
    let dependent = match found.relations {
        _ if rank == dimension => Some(Vec::new()),
        None => None,
        Some(list) => Some(Relations { list, whole: &found.whole }.dependent(view)),
    };
    Some(Rank { rank, dimension, dependent })
}

/// Columns in the order of R: a column is kept unless it is a sum of the bias and of columns before it.
pub(crate) struct Independence {
    /// The kept columns, rising; a bias is always kept.
    pub(crate) columns: Vec<u32>,
    /// As many rows of the question as there are kept columns (and a bias), independent in them.
    pub(crate) rows: Vec<usize>,
    /// For each column that is not kept a sum of columns and the bias that is 0 in every row, the column
    /// being the last; left out where as many columns are kept before as there are different rows.
    pub(crate) relations: Vec<(Vec<(u32, IBig)>, IBig)>,
}

/// Which columns are kept, or nothing.
pub(crate) fn independence(
    view: &Signed,
    threads: usize,
    stop: &dyn Fn() -> bool,
) -> Option<Independence> {
    let Explored { whole, chosen, pivots, relations } = explore(view, threads, stop)?;
    let shift = usize::from(view.bias);
    let rows = pivots.iter().map(|(vector, _)| chosen[*vector]).collect();
    let mut kept: Vec<usize> = pivots.iter().map(|(_, at)| *at).collect();
    kept.sort_unstable();
    let columns: Vec<u32> =
        kept.iter().filter(|at| **at >= shift).map(|at| whole.columns[at - shift]).collect();
    let relations = match relations {
        Some(list) => list,
        None => {
            let before = |at: usize| kept.partition_point(|k| *k < at);
            let width = whole.columns.len() + shift;
            let free = (0..width).filter(|at| kept.binary_search(at).is_err());
            let free: Vec<usize> = free.filter(|&at| before(at) < kept.len()).collect();
            relations_at(&whole, &pivots, &free, stop)?
        }
    };
    let mut relations: Vec<_> = relations.iter().map(|n| raw_whole(&whole, &n.exact)).collect();
    let as_rows = kept.len() < view.dimension() && kept.len() == different_rows(view);
    // A column that is 0 in every row is a relation by itself.
    let zeros = (0..view.data.n_features() as u32)
        .filter(|column| whole.columns.binary_search(column).is_err());
    relations.extend(zeros.map(|column| (vec![(column, IBig::ONE)], IBig::ZERO)));
    let before_last = |j: u32| columns.last().is_some_and(|last| j < *last);
    relations.retain(|(n, _)| !as_rows || n.last().is_some_and(|(j, _)| before_last(*j)));
    Some(Independence { columns, rows, relations })
}

/// What elimination found.
struct Explored {
    whole: WholeRows,
    /// The rows of `whole`, as rows of the question.
    chosen: Vec<usize>,
    /// Independent rows and coordinates of `whole`. The coordinates are the first that are independent.
    pivots: Vec<(usize, usize)>,
    /// A relation for each coordinate of `whole` that is left; absent where there are many, and no more
    /// different rows than independent ones.
    relations: Option<Vec<Relation>>,
}

fn explore(view: &Signed, threads: usize, stop: &dyn Fn() -> bool) -> Option<Explored> {
    let dimension = view.dimension();
    let wanted = 2 * dimension + 16;
    let step = (view.len() / wanted).max(1);
    let mut chosen: Vec<usize> = (0..view.len()).step_by(step).collect();
    chosen.truncate(2 * wanted);
    let mut last = None;
    loop {
        let whole = view.whole_rows(&chosen);
        let pivots = eliminate(&whole.rows);
        let rank = pivots.len();
        if rank == dimension {
            return Some(Explored { whole, chosen, pivots, relations: Some(Vec::new()) });
        }
        if last == Some(rank) || stop() {
            return None;
        }
        last = Some(rank);
        let width = whole.columns.len() + usize::from(view.bias);
        let wide = dimension > view.len().max(FEW_DIMENSIONS);
        if wide && rank == different_rows(view) {
            return Some(Explored { whole, chosen, pivots, relations: None });
        }
        if (width - rank).saturating_mul(rank * rank * rank) > MOST_STEPS {
            // All rows are independent: that much is sure.
            let all = rank == view.len();
            return all.then_some(Explored { whole, chosen, pivots, relations: None });
        }
        let free: Vec<usize> =
            (0..width).filter(|j| !pivots.iter().any(|(_, used)| used == j)).collect();
        let list = relations_at(&whole, &pivots, &free, stop)?;
        let relations = Relations { list, whole: &whole };
        let against = relations.violations(view, threads);
        if against.is_empty() {
            let relations = Some(relations.list);
            return Some(Explored { whole, chosen, pivots, relations });
        }
        chosen = pivots.iter().map(|(vector, _)| chosen[*vector]).collect();
        chosen.extend(against);
    }
}

/// How many rows (1, x) are different.
fn different_rows(view: &Signed) -> usize {
    let mut scratch = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for k in 0..view.len() {
        let mut row = Vec::new();
        view.for_each(k, &mut scratch, |j, x| row.push((j, x.to_bits())));
        seen.insert(row);
    }
    seen.len()
}

/// One relation for each of these coordinates that elimination left over, over the coordinates of `whole`.
fn relations_at(
    whole: &WholeRows,
    pivots: &[(usize, usize)],
    free: &[usize],
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Relation>> {
    let found = null_vectors(&whole.rows, pivots, free, stop)?;
    let relation = |exact: Vec<IBig>| {
        let small = exact.iter().map(|x| i64::try_from(x).ok()).collect();
        Relation { exact, small }
    };
    Some(found.into_iter().map(relation).collect())
}

/// A vector that should be orthogonal to every row.
struct Relation {
    exact: Vec<IBig>,
    /// The same in machine words, where it fits.
    small: Option<Vec<i64>>,
}

struct Relations<'a> {
    list: Vec<Relation>,
    whole: &'a WholeRows,
}

impl Relations<'_> {
    /// The columns with a part in a relation; a column that is 0 everywhere is a relation by itself.
    fn dependent(&self, view: &Signed) -> Vec<Option<u32>> {
        let shift = usize::from(view.bias);
        let has_part = |j: usize| self.list.iter().any(|n| n.exact[j] != IBig::ZERO);
        let constant = (view.bias && has_part(0)).then_some(None);
        let columns = (0..view.data.n_features() as u32).filter(|column| {
            self.whole.columns.binary_search(column).map_or(true, |at| has_part(at + shift))
        });
        constant.into_iter().chain(columns.map(Some)).collect()
    }

    /// Rows that do not satisfy every relation, a few from each part of the data.
    fn violations(&self, view: &Signed, threads: usize) -> Vec<usize> {
        const BLOCK: usize = 4096;
        let most = (4 * view.dimension()).div_ceil(view.len().div_ceil(BLOCK)).max(4);
        let blocks = parallel_map(view.len().div_ceil(BLOCK), threads, |block| {
            let rows = block * BLOCK..((block + 1) * BLOCK).min(view.len());
            let mut scratch = Vec::new();
            // Rows with the same new column say the same; one of them is enough for now.
            let mut new_columns = std::collections::HashSet::new();
            let violates = |&k: &usize| match self.entries(view, k, &mut scratch) {
                Ok(entries) => !self.list.iter().all(|n| n.is_orthogonal(&entries)),
                Err(column) => new_columns.insert(column),
            };
            rows.filter(violates).take(most).collect::<Vec<usize>>()
        });
        blocks.concat()
    }

    /// A row in the coordinates of the relations, times a number that makes it whole; or a column in
    /// which it is not 0 although all rows before were.
    fn entries(&self, view: &Signed, k: usize, scratch: &mut Vec<f64>) -> Result<Vec<Entry>, u32> {
        let shift = usize::from(view.bias);
        let (mut raw, mut new) = (Vec::new(), None);
        if view.bias {
            raw.push((0, IBig::ONE, 0, 0));
        }
        view.for_each_exact(k, scratch, |column, exact| {
            match self.whole.columns.binary_search(&column) {
                Ok(at) => {
                    let (two, five) = self.whole.scale[at];
                    raw.push((at + shift, exact.m, exact.two - two, exact.five - five));
                }
                Err(_) => new = Some(column),
            }
        });
        if let Some(column) = new {
            return Err(column);
        }
        let two = raw.iter().map(|(_, _, two, _)| *two).min().unwrap_or(0).min(0);
        let five = raw.iter().map(|(_, _, _, five)| *five).min().unwrap_or(0).min(0);
        let entry = |(at, m, twos, fives): (usize, IBig, i32, i32)| {
            let (twos, fives) = ((twos - two) as u32, (fives - five) as u32);
            let factor = 1i64.checked_shl(twos).filter(|x| *x > 0);
            let factor = factor.and_then(|x| x.checked_mul(5i64.checked_pow(fives)?));
            match factor.and_then(|x| x.checked_mul(i64::try_from(&m).ok()?)) {
                Some(value) => Entry::Small(at, value),
                None => {
                    let five = IBig::from(UBig::from(5u8).pow(fives as usize));
                    Entry::Large(at, (m * five) << twos as usize)
                }
            }
        };
        Ok(raw.into_iter().map(entry).collect())
    }
}

/// A coordinate of a row and its whole value.
enum Entry {
    Small(usize, i64),
    Large(usize, IBig),
}

impl Relation {
    fn is_orthogonal(&self, row: &[Entry]) -> bool {
        self.small_sum(row).map_or_else(|| self.exact_sum(row) == IBig::ZERO, |sum| sum == 0)
    }

    /// `None` if machine words are too short.
    fn small_sum(&self, row: &[Entry]) -> Option<i128> {
        let small = self.small.as_ref()?;
        row.iter().try_fold(0i128, |sum, entry| match entry {
            Entry::Small(at, x) => sum.checked_add(i128::from(*x) * i128::from(small[*at])),
            Entry::Large(..) => None,
        })
    }

    fn exact_sum(&self, row: &[Entry]) -> IBig {
        row.iter().fold(IBig::ZERO, |sum, entry| match entry {
            Entry::Small(at, x) => sum + &self.exact[*at] * IBig::from(*x),
            Entry::Large(at, x) => sum + &self.exact[*at] * x,
        })
    }
}
