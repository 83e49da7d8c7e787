//! Sums over the columns of two classes, g = Σ α y x, as exact as a gap asks for.
//!
//! Where the gap is wide, g is a plain sum beside one of the sizes of its terms, of
//! which it errs by n u. Where it is wider still and rows are sparse, one number stands for the sizes of all
//! columns: with e_j the error of g_j, |g_j| ≤ G, and Σ_j e_j ≤ E = 2 n u Σ_i α_i Σ_j |x_ij|, the conjugate
//! φ(g) = ((|g| − l1)₊)²/(2 l2) of the penalty is larger by
//!
//! ```text
//! Σ_j φ(|g_j| + e_j) − φ(|g_j|) ≤ Σ_j e_j (|g_j| + e_j)/l2 ≤ E (G + E)/l2
//! ```
//!
//! at most, and g stands beside the weights: each entry of a row then costs one line of a cache, not two or
//! three. Where the gap is narrow, or the sides have
//! factors of their own, g is added up with what each addition drops (`two_sum`), so that n additions
//! err by n² u² of Σ α|x| instead of n u; a product, the reading and the last rounding err by u each. The
//! part of the negative rows is kept beside it in plain binary64: with factors f₊ and f₋ of the sides
//!
//! ```text
//! f₊ g₊ − f₋ g₋ = f₊ g − (f₋ − f₊) g₋
//! ```
//!
//! and f₋ − f₊ is small where the model is good.

use super::Care;
use super::penalty::UNIT;
use super::rows::Linear;
use crate::check::elsewhere::{Reader, Sums};
use crate::double::two_sum;
use crate::rows::Entries;
use crate::wide::widest;

/// What is known of g in each column.
pub(super) enum Columns {
    /// The weight of the plane and Σ y α x; and for all columns together Σ α|x|.
    Light(Vec<[f64; 2]>, f64),
    /// Σ y α x and Σ α|x|.
    Plain(Vec<[f64; 2]>),
    /// Σ y α x, what its additions dropped, Σ α|x|, and Σ y α x of negative rows.
    Careful(Vec<[f64; 4]>),
}

impl Columns {
    pub(super) fn new(care: Care, plane: &Linear<'_>) -> Columns {
        let width = plane.weights.len();
        // Zeros of the system would be mapped by the first reading and copied by the first writing.
        match care {
            Care::Light => Columns::Light(plane.weights.iter().map(|w| [*w, -0.0]).collect(), 0.0),
            Care::Plain => Columns::Plain(vec![[-0.0; 2]; width]),
            Care::Careful => Columns::Careful(vec![[-0.0; 4]; width]),
        }
    }

    /// The score of a row on the plane, and a bound on its error.
    pub(super) fn score(
        &self,
        plane: &Linear<'_>,
        entries: Entries<'_>,
        roundings: f64,
    ) -> (f64, f64) {
        match self {
            Columns::Light(pairs, _) => plane.score_beside(pairs, entries, roundings),
            _ => plane.score(entries, roundings),
        }
    }

    /// Adds y α x of a row.
    pub(super) fn add(&mut self, entries: Entries<'_>, sign: f64, alpha: f64) {
        widest(
            #[inline(always)]
            || self.added(entries, sign, alpha),
        );
    }

    #[inline(always)]
    fn added(&mut self, entries: Entries<'_>, sign: f64, alpha: f64) {
        let factor = sign * alpha;
        match self {
            Columns::Light(pairs, size) => {
                *size += alpha.abs() * norm(entries);
                each(pairs, entries, |pair, value| pair[1] += factor * value);
            }
            Columns::Plain(sums) => each(sums, entries, |sum, value| {
                let product = factor * value;
                *sum = [sum[0] + product, sum[1] + product.abs()];
            }),
            Columns::Careful(sums) => {
                let negative = f64::from(u8::from(sign < 0.0));
                each(sums, entries, |sum, value| {
                    let product = factor * value;
                    let (total, dropped) = two_sum(sum[0], product);
                    *sum = [
                        total,
                        sum[1] + dropped,
                        sum[2] + product.abs(),
                        sum[3] + negative * product,
                    ];
                });
            }
        }
    }

    /// As sums that travel; light ones do not.
    pub(super) fn pack(self, all: Sums) -> Sums {
        match self {
            Columns::Light(..) => all,
            Columns::Plain(sums) => all.plain(sums.into_flattened()),
            Columns::Careful(sums) => {
                let list = |k: usize| sums.iter().map(|sum| sum[k]).collect::<Vec<f64>>();
                all.kept(list(0), list(1)).plain(list(2)).plain(list(3))
            }
        }
    }

    /// The way back, for so many columns.
    pub(super) fn unpack(reader: &mut Reader, care: Care, width: usize) -> Option<Columns> {
        match care {
            Care::Light => None,
            Care::Plain => {
                let numbers = reader.plain(2 * width)?;
                Some(Columns::Plain(numbers.as_chunks::<2>().0.to_vec()))
            }
            Care::Careful => {
                let (sums, dropped) = reader.kept(width)?;
                let (sizes, negatives) = (reader.plain(width)?, reader.plain(width)?);
                let column = |j: usize| [sums[j], dropped[j], sizes[j], negatives[j]];
                Some(Columns::Careful((0..width).map(column).collect()))
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Columns) {
        match (self, other) {
            (Columns::Light(pairs, size), Columns::Light(others, other_size)) => {
                *size += other_size;
                pairs.iter_mut().zip(others).for_each(|(pair, other)| pair[1] += other[1]);
            }
            (Columns::Plain(sums), Columns::Plain(others)) => {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = [sum[0] + other[0], sum[1] + other[1]];
                }
            }
            (Columns::Careful(sums), Columns::Careful(others)) => {
                for (sum, other) in sums.iter_mut().zip(others) {
                    let (total, dropped) = two_sum(sum[0], other[0]);
                    let low = (sum[1] + other[1]) + dropped;
                    *sum = [total, low, sum[2] + other[2], sum[3] + other[3]];
                }
            }
            // All blocks are of one claim.
            _ => {}
        }
    }

    /// f₊ g₊ − f₋ g₋ of the columns with bounds on their errors, in `roundings` of products and n additions.
    pub(super) fn totals(
        &self,
        [negative, positive]: [f64; 2],
        roundings: f64,
        n: f64,
    ) -> Totals<'_> {
        let turn = negative - positive;
        let sum_error = match self {
            Columns::Light(..) | Columns::Plain(_) if turn == 0.0 => 2.0 * n * UNIT,
            // Sides that turn apart are not told apart by plain sums.
            Columns::Light(..) | Columns::Plain(_) => f64::INFINITY,
            Columns::Careful(_) => (n * UNIT) * (n * UNIT) * 1.1 + turn.abs() * 2.0 * n * UNIT,
        };
        Totals {
            columns: self,
            positive,
            turn,
            unit: (roundings + 24.0) * UNIT + sum_error,
            grows: 1.0 + 4.0 * n * UNIT,
            tiny: n * 8.0 * f64::from_bits(1),
        }
    }
}

/// f₊ g₊ − f₋ g₋ of each column.
pub(super) struct Totals<'a> {
    columns: &'a Columns,
    /// f₊, and f₋ − f₊.
    positive: f64,
    turn: f64,
    /// What the error is of the size of a sum, and what is added whatever that is.
    unit: f64,
    grows: f64,
    tiny: f64,
}

impl Totals<'_> {
    /// What the errors of all columns together may add to Σ r*(g), where columns do not have errors of their own.
    pub(super) fn looseness(&self, l2: f64) -> f64 {
        let Columns::Light(pairs, size) = self.columns else { return 0.0 };
        let largest = pairs.iter().fold(0.0, |most: f64, [_, sum]| most.max(sum.abs()));
        // A thousandth covers the rounding of all these sums.
        let errors = 1.001 * self.unit * size * self.grows + pairs.len() as f64 * self.tiny;
        1.001 * errors * (self.positive * largest + errors) / l2
    }

    /// Of one column, and a bound on its error.
    pub(super) fn of(&self, column: usize) -> (f64, f64) {
        let (mut g, mut error) = ([0.0], [0.0]);
        self.fill(column, &mut g, &mut error);
        (g[0], error[0])
    }

    /// Of as many columns from `start` on as there are places. What kind of sums they are is asked once.
    pub(super) fn fill(&self, start: usize, g: &mut [f64], errors: &mut [f64]) {
        let Totals { positive, turn, unit, grows, tiny, .. } = *self;
        let places = g.iter_mut().zip(errors);
        match self.columns {
            // Their errors are bounded all together.
            Columns::Light(pairs, _) => {
                for ((g, error), [_, sum]) in places.zip(&pairs[start..]) {
                    *g = positive * sum;
                    *error = 0.0;
                }
            }
            Columns::Plain(sums) => {
                for ((g, error), [sum, size]) in places.zip(&sums[start..]) {
                    *g = positive * sum;
                    *error = unit * size * grows + tiny;
                }
            }
            Columns::Careful(sums) => {
                for ((g, error), [sum, dropped, size, negative]) in places.zip(&sums[start..]) {
                    *g = positive * (sum + dropped) + turn * negative;
                    *error = unit * size * grows + tiny;
                }
            }
        }
    }
}

/// Σ |x| of a row, in lanes that do not wait for each other.
fn norm(entries: Entries<'_>) -> f64 {
    let (Entries::Dense(values) | Entries::Sparse(_, values)) = entries;
    let (blocks, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for block in blocks {
        lanes.iter_mut().zip(block).for_each(|(sum, value)| *sum += value.abs());
    }
    rest.iter().chain(&lanes).map(|value| value.abs()).sum()
}

/// Calls `add` with the sum and the value of each entry.
#[inline(always)]
pub(super) fn each<T>(sums: &mut [T], entries: Entries<'_>, add: impl Fn(&mut T, f64)) {
    match entries {
        Entries::Dense(values) => {
            sums.iter_mut().zip(values).for_each(|(sum, value)| add(sum, *value));
        }
        Entries::Sparse(columns, values) => {
            let pairs = columns.iter().zip(values);
            pairs.for_each(|(column, value)| add(&mut sums[*column as usize], *value));
        }
    }
}
