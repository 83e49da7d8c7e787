//! Rows with signs: the vectors z = ±(1, x) of one two-class question, in floats and in whole
//! numbers. Nothing is copied.

use crate::claim::part::{Part, marks};
use dashu_int::{IBig, UBig};
use linsep_data::Dataset;
use linsep_data::cancel;
use linsep_data::matrix::{Row, Rows, with_rows};
use linsep_data::parallel::parallel_map;
use linsep_proof::{Claim, Entries, Question, ReadingField, check_claim};
use std::sync::Arc;

/// One two-class question on some rows of a data set.
pub struct Signed {
    pub(crate) data: Arc<Dataset>,
    pub(crate) problem: Question,
    /// The rows that take part.
    pub(crate) rows: Vec<u32>,
    /// +1 or −1 for each of them.
    pub(crate) signs: Vec<i8>,
    pub(crate) bias: bool,
    /// Which rows of the data may take part, where not all of them do.
    part: Option<Vec<bool>>,
}

/// m · 2^two · 5^five.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exact {
    pub(crate) m: IBig,
    pub(crate) two: i32,
    pub(crate) five: i32,
}

impl Exact {
    /// `p/q`, as claims write it.
    pub(crate) fn fraction(&self) -> String {
        let five = |exponent: i32| IBig::from(UBig::from(5u8).pow(exponent.max(0) as usize));
        let p = (&self.m * five(self.five)) << self.two.max(0) as usize;
        let q = five(-self.five) << (-self.two).max(0) as usize;
        format!("{p}/{q}")
    }
}

impl Signed {
    /// The positive classes against the negative ones, by their labels.
    #[doc(hidden)]
    pub fn new(data: Arc<Dataset>, problem: Question, bias: bool) -> Signed {
        Signed::on(data, problem, bias, None)
    }

    /// The same on some rows of the data only.
    pub(crate) fn on(
        data: Arc<Dataset>,
        problem: Question,
        bias: bool,
        part: Option<&[u32]>,
    ) -> Signed {
        let part = part.map(|rows| marks(&data, rows));
        let side: Vec<i8> = data
            .label_names()
            .iter()
            .map(|name| {
                i8::from(problem.positive.contains(name))
                    - i8::from(problem.negative.contains(name))
            })
            .collect();
        let (mut rows, mut signs) = (Vec::new(), Vec::new());
        for row in 0..data.n_rows() {
            let sign = side[data.label_id(row) as usize];
            let takes_part = part.as_ref().is_none_or(|part| part[row]);
            if sign != 0 && takes_part && data.weight(row) > 0.0 {
                rows.push(row as u32);
                signs.push(sign);
            }
        }
        Signed { data, problem, rows, signs, bias, part }
    }

    /// Whether the checker accepts a claim about these rows.
    pub(crate) fn holds(&self, claim: &Claim, reading: &ReadingField, threads: usize) -> bool {
        accepts(claim, &self.data, self.part.as_deref(), reading, self.bias, threads)
    }

    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// D: the columns, and one for the bias.
    pub(crate) fn dimension(&self) -> usize {
        self.data.n_features() + usize::from(self.bias)
    }

    /// z·(b, w) of the k-th row.
    pub(crate) fn margin(&self, k: usize, weights: &[f64], bias: f64) -> f64 {
        let row = self.rows[k] as usize;
        let score = with_rows!(self.data.store(), rows => rows.dot(row, weights)) + bias;
        f64::from(self.signs[k]) * score
    }

    /// The margins of some rows.
    pub(crate) fn margins(
        &self,
        rows: std::ops::Range<usize>,
        weights: &[f64],
        bias: f64,
        threads: usize,
    ) -> Vec<f64> {
        const BLOCK: usize = 4096;
        let blocks = parallel_map(rows.len().div_ceil(BLOCK), threads, |block| {
            let from = rows.start + block * BLOCK;
            let range = from..(from + BLOCK).min(rows.end);
            range.map(|k| self.margin(k, weights, bias)).collect::<Vec<f64>>()
        });
        blocks.concat()
    }

    /// Calls `each` with the non-zero features of the k-th row, without its sign.
    pub(crate) fn for_each(&self, k: usize, scratch: &mut Vec<f64>, each: impl FnMut(u32, f64)) {
        cancel::check();
        let row = self.rows[k] as usize;
        with_rows!(self.data.store(), rows => rows.row(row, scratch).for_each(each));
    }

    /// The features of the k-th row, without its sign: all of them or those that are not 0.
    pub(crate) fn entries<'a>(&'a self, k: usize, scratch: &'a mut Vec<f64>) -> Entries<'a> {
        cancel::check();
        self.data.store().entries(self.rows[k] as usize, scratch)
    }

    /// Calls `each` with the exact values of the k-th row that are not 0, without its sign, columns
    /// rising. With basis functions they are products of exact values, not of rounded ones.
    pub(crate) fn for_each_exact(
        &self,
        k: usize,
        scratch: &mut Vec<f64>,
        mut each: impl FnMut(u32, Exact),
    ) {
        cancel::check();
        let row = self.rows[k] as usize;
        let raw = self.data.raw_store();
        let Some(basis) = &self.data.input().basis else {
            return raw
                .for_each(row, scratch, |column, value| each(column, self.exact(column, value)));
        };
        let mut values: Vec<(u32, Exact)> = Vec::new();
        raw.for_each(row, scratch, |column, value| {
            values.push((column, self.exact(column, value)))
        });
        values.iter().for_each(|(column, value)| each(*column, value.clone()));
        let mut next = self.data.input().features as u32;
        basis.for_products(self.data.input().features, |factors| {
            let find = |column: &u32| values.binary_search_by_key(column, |(at, _)| *at).ok();
            let factors: Option<Vec<usize>> = factors.iter().map(find).collect();
            if let Some(factors) = factors {
                let product = factors[1..].iter().fold(values[factors[0]].1.clone(), |p, &at| {
                    let x = &values[at].1;
                    Exact { m: p.m * &x.m, two: p.two + x.two, five: p.five + x.five }
                });
                each(next, product);
            }
            next += 1;
        });
    }

    fn exact(&self, column: u32, value: f64) -> Exact {
        exact_value(&self.data, column, value)
    }

    /// The rows `chosen` as whole vectors z = ±(c, x), all coordinates scaled by one number, so that
    /// lengths and angles stay what they are; without the constant if there is none.
    #[doc(hidden)]
    pub fn alike_rows(&self, chosen: &[usize], constant: Option<u64>) -> AlikeRows {
        let mut scratch = Vec::new();
        // The constant is a column of its own, and the first one.
        let (mut entries, mut columns) = (Vec::new(), Vec::new());
        let (mut two, mut five) = (i32::MAX, i32::MAX);
        if constant.is_some() {
            (two, five) = (0, 0);
        }
        for &k in chosen {
            let mut row = Vec::new();
            self.for_each_exact(k, &mut scratch, |column, exact| {
                (two, five) = (two.min(exact.two), five.min(exact.five));
                row.push((column, exact));
            });
            columns.extend(row.iter().map(|(column, _)| *column));
            entries.push(row);
        }
        columns.sort_unstable();
        columns.dedup();
        if two == i32::MAX {
            (two, five) = (0, 0);
        }
        let whole = |m: &IBig, exact: (i32, i32)| {
            let five = UBig::from(5u8).pow((exact.1 - five) as usize);
            (m * IBig::from(five)) << (exact.0 - two) as usize
        };
        let shift = usize::from(constant.is_some());
        let constant = whole(&IBig::from(constant.unwrap_or(0)), (0.max(two), 0.max(five)));
        let rows = entries.iter().zip(chosen).map(|(entries, &k)| {
            let mut row = vec![IBig::ZERO; columns.len() + shift];
            if shift == 1 {
                row[0] = &constant * IBig::from(self.signs[k]);
            }
            for (column, exact) in entries {
                let at = columns.binary_search(column).unwrap_or(0);
                let m = &exact.m * IBig::from(self.signs[k]);
                row[at + shift] = whole(&m, (exact.two, exact.five));
            }
            row
        });
        AlikeRows { rows: rows.collect(), columns, two, five }
    }

    /// The rows `chosen` as whole vectors over the coordinates in which any of them is not 0. Each
    /// coordinate is scaled by a positive number of its own, which changes no sum that is 0.
    pub(crate) fn whole_rows(&self, chosen: &[usize]) -> WholeRows {
        let entries = self.exact_rows(chosen, |_| true);
        let mut columns: Vec<u32> = entries.iter().flatten().map(|(column, _)| *column).collect();
        columns.sort_unstable();
        columns.dedup();
        self.whole_of(chosen, entries, columns)
    }

    /// The same over given columns, rising.
    pub(crate) fn whole_rows_over(&self, chosen: &[usize], columns: &[u32]) -> WholeRows {
        let entries = self.exact_rows(chosen, |column| columns.binary_search(&column).is_ok());
        self.whole_of(chosen, entries, columns.to_vec())
    }

    fn exact_rows(&self, chosen: &[usize], wanted: impl Fn(u32) -> bool) -> Vec<Vec<(u32, Exact)>> {
        let mut scratch = Vec::new();
        let mut entries = Vec::new();
        for &k in chosen {
            let mut row = Vec::new();
            self.for_each_exact(k, &mut scratch, |column, exact| {
                if wanted(column) {
                    row.push((column, exact));
                }
            });
            entries.push(row);
        }
        entries
    }

    fn whole_of(
        &self,
        chosen: &[usize],
        entries: Vec<Vec<(u32, Exact)>>,
        columns: Vec<u32>,
    ) -> WholeRows {
        let place = |column: u32| columns.binary_search(&column).unwrap_or(0);
        let mut scale = vec![(i32::MAX, i32::MAX); columns.len()];
        for (column, exact) in entries.iter().flatten() {
            let (two, five) = &mut scale[place(*column)];
            *two = (*two).min(exact.two);
            *five = (*five).min(exact.five);
        }
        scale.iter_mut().filter(|scale| scale.0 == i32::MAX).for_each(|scale| *scale = (0, 0));
        let shift = usize::from(self.bias);
        let rows = entries.iter().zip(chosen).map(|(entries, &k)| {
            let mut row = vec![IBig::ZERO; columns.len() + shift];
            if self.bias {
                row[0] = IBig::from(self.signs[k]);
            }
            for (column, exact) in entries {
                let at = place(*column);
                let (two, five) = scale[at];
                let five = UBig::from(5u8).pow((exact.five - five) as usize);
                let m = &exact.m * IBig::from(self.signs[k]);
                row[at + shift] = (m * IBig::from(five)) << (exact.two - two) as usize;
            }
            row
        });
        let rows = rows.collect();
        WholeRows { rows, columns, scale, bias: self.bias }
    }
}

/// Whether the checker accepts a claim about some rows of a data set, or about all of them.
pub(crate) fn holds(
    claim: &Claim,
    data: &Dataset,
    rows: Option<&[u32]>,
    bias: bool,
    threads: usize,
) -> bool {
    let part = rows.map(|rows| marks(data, rows));
    accepts(claim, data, part.as_deref(), &data.reading_field(), bias, threads)
}

fn accepts(
    claim: &Claim,
    data: &Dataset,
    part: Option<&[bool]>,
    reading: &ReadingField,
    bias: bool,
    threads: usize,
) -> bool {
    let finding = match part {
        None => check_claim(claim, data, reading, bias, threads),
        Some(part) => check_claim(claim, &Part::new(data, part), reading, bias, threads),
    };
    finding.holds()
}

/// Some rows as vectors of whole numbers: the constant first if there is a bias, then `columns`.
pub(crate) struct WholeRows {
    pub(crate) rows: Vec<Vec<IBig>>,
    pub(crate) columns: Vec<u32>,
    /// Column j was divided by 2^two · 5^five.
    pub(crate) scale: Vec<(i32, i32)>,
    pub(crate) bias: bool,
}

/// Some rows as vectors of whole numbers: the constant first if there is one, then `columns`. The
/// vectors times 2^two · 5^five are the rows.
#[non_exhaustive]
pub struct AlikeRows {
    pub rows: Vec<Vec<IBig>>,
    pub columns: Vec<u32>,
    pub two: i32,
    pub five: i32,
}

/// The exact value of a stored number in a raw column, under the data's reading.
pub(crate) fn exact_value(data: &Dataset, column: u32, value: f64) -> Exact {
    let reading = data.reading();
    let decimal = reading.decimal && reading.binary64.binary_search(&column).is_err();
    if decimal && let Some(exact) = as_decimal(value) {
        return exact;
    }
    as_binary64(value)
}

/// The exact value of a finite binary64.
pub(crate) fn as_binary64(value: f64) -> Exact {
    let bits = value.to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i64;
    let (m, two) =
        if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    let zeros = if m == 0 { 0 } else { m.trailing_zeros() };
    let m = m >> zeros;
    let m = IBig::from(if value < 0.0 { -m } else { m });
    Exact { m, two: two + zeros as i32, five: 0 }
}

/// The decimal of at most 15 digits that rounds to the value, if there is one.
pub(crate) fn as_decimal(value: f64) -> Option<Exact> {
    if value.is_subnormal() {
        return None;
    }
    // Most values have few places. A decimal of at most 15 digits that rounds to the value is the
    // only one, however it is found.
    for (places, ten) in [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].into_iter().enumerate() {
        let m = (value * ten).round();
        if m.abs() < 1e15 && m / ten == value {
            let ten = -(places as i32);
            return Some(Exact { m: IBig::from(m as i64), two: ten, five: ten });
        }
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e')?;
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
    let digits = mantissa.replace('.', "");
    if digits.trim_start_matches('-').len() > 15 {
        return None;
    }
    let ten = exponent.parse::<i32>().ok()? - fraction;
    let m: i64 = digits.parse().ok()?;
    Some(Exact { m: m.into(), two: ten, five: ten })
}
