//! Σ f y yᵀ of dense rows, by tiles that stay in registers.
//!
//! Rows are taken up in bundles of 256 and laid out in strips of eight columns, so that a strip of a
//! bundle is one run of 16 KiB. A tile is four columns by eight: 32 sums in registers, to which each row
//! of the bundle adds 4 · 8 products. Sums stand in memory between bundles only.
//!
//! Every strip knows by one bit for each row where it is not 0 altogether (by two, one for each half).
//! A tile visits the rows that have both bits, so tables full of zeros, as images are, cost a fraction
//! of their size; what is left out is the addition of 0, which changes nothing.
//!
//! The products of each pair of columns are added row by row, in the order of the rows, as a plain loop
//! would: neither the tiles nor the width of the registers change a bit.
//!
//! Reference: Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008.

use linsep_kernels::{self as kernel, GRAM_ROWS, GRAM_STRIP, GRAM_WORDS};

/// Strips that are multiplied with all others before the next ones are: 128 KiB of a bundle.
const GROUP: usize = 8;
/// Rows of a strip in memory; one more than a bundle has, so that strips do not share cache sets.
const STRIDE: usize = GRAM_ROWS + 1;

/// Sums over the rows so far.
pub struct Gram {
    width: usize,
    strips: usize,
    /// The rows of the bundle, strip by strip.
    values: Vec<[f64; GRAM_STRIP]>,
    /// The same times the factors of the rows; empty while all of these are 1.
    heads: Vec<[f64; GRAM_STRIP]>,
    /// Rows in which the first and the second half of each strip is not 0.
    halves: Vec<[[u64; GRAM_WORDS]; 2]>,
    factors: Vec<f64>,
    /// For strip after strip, the tiles with the strips before it and with itself.
    sums: Vec<[f64; GRAM_STRIP * GRAM_STRIP]>,
}

impl Gram {
    pub fn new(width: usize) -> Gram {
        let strips = width.div_ceil(GRAM_STRIP);
        Gram {
            width,
            strips,
            values: vec![[0.0; GRAM_STRIP]; strips * STRIDE],
            heads: Vec::new(),
            halves: vec![[[0; GRAM_WORDS]; 2]; strips],
            factors: Vec::with_capacity(GRAM_ROWS),
            sums: vec![[0.0; GRAM_STRIP * GRAM_STRIP]; strips * (strips + 1) / 2],
        }
    }

    /// Adds a row y = row − shift.
    pub fn add(&mut self, factor: f64, row: &[f64], shift: &[f64]) {
        let at = self.factors.len();
        kernel::gram_lay(row, shift, at, STRIDE, &mut self.values, &mut self.halves);
        self.factors.push(factor);
        if self.factors.len() == GRAM_ROWS {
            self.flush();
        }
    }

    /// Adds rows that stand one after the other.
    pub fn add_rows(&mut self, factors: &[f64], rows: &[f64], shift: &[f64]) {
        if self.width > 0 {
            let rows = rows.chunks_exact(self.width).zip(factors);
            rows.for_each(|(row, factor)| self.add(*factor, row, shift));
        }
    }

    /// The upper triangle, row after row.
    pub fn finish(mut self) -> Vec<f64> {
        self.flush();
        let mut triangle = Vec::with_capacity(self.width * (self.width + 1) / 2);
        for j in 0..self.width {
            for k in j..self.width {
                let (strip, other) = (j / GRAM_STRIP, k / GRAM_STRIP);
                let tile = &self.sums[other * (other + 1) / 2 + strip];
                triangle.push(tile[j % GRAM_STRIP * GRAM_STRIP + k % GRAM_STRIP]);
            }
        }
        triangle
    }

    fn flush(&mut self) {
        self.scale();
        let heads = if self.heads.is_empty() { &self.values } else { &self.heads };
        for first in (0..self.strips).step_by(GROUP) {
            let group = first..(first + GROUP).min(self.strips);
            for strip in 0..group.end {
                for other in group.clone().skip(strip.saturating_sub(first)) {
                    kernel::gram_pair(
                        &self.halves[strip],
                        &self.halves[other],
                        &heads[strip * STRIDE..][..GRAM_ROWS],
                        &self.values[other * STRIDE..][..GRAM_ROWS],
                        &mut self.sums[other * (other + 1) / 2 + strip],
                    );
                }
            }
        }
        self.factors.clear();
        self.halves.fill([[0; GRAM_WORDS]; 2]);
    }

    /// The rows times their factors, where that is not the rows themselves.
    fn scale(&mut self) {
        if self.heads.is_empty() && self.factors.iter().all(|factor| *factor == 1.0) {
            return;
        }
        self.heads.resize(self.values.len(), [0.0; GRAM_STRIP]);
        let strips = self.heads.chunks_mut(STRIDE).zip(self.values.chunks(STRIDE));
        for (heads, values) in strips {
            for ((head, value), factor) in heads.iter_mut().zip(values).zip(&self.factors) {
                *head = value.map(|x| factor * x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    /// What a plain loop gives, to the last bit.
    #[test]
    fn tiles_change_no_bit() {
        let mut stream = Stream::new(8, Purpose::Generate(2));
        for (width, rows, density) in [(1, 3, 1.0), (8, 256, 1.0), (29, 700, 0.2), (83, 300, 0.7)] {
            for weighted in [false, true] {
                let shift: Vec<f64> = (0..width).map(|j| (j % 3) as f64).collect();
                let mut gram = Gram::new(width);
                let mut plain = vec![0.0; width * width];
                for i in 0..rows {
                    let mut value = |j: usize| match stream.unit() < density {
                        true => stream.normal(),
                        false => shift[j],
                    };
                    let row: Vec<f64> = (0..width).map(&mut value).collect();
                    let factor = if weighted { 1.0 + (i % 4) as f64 / 3.0 } else { 1.0 };
                    gram.add(factor, &row, &shift);
                    for j in 0..width {
                        let head = factor * (row[j] - shift[j]);
                        for k in j..width {
                            plain[j * width + k] += head * (row[k] - shift[k]);
                        }
                    }
                }
                let upper = (0..width).flat_map(|j| (j..width).map(move |k| j * width + k));
                let expected: Vec<u64> = upper.map(|at| plain[at].to_bits()).collect();
                let found: Vec<u64> = gram.finish().iter().map(|x| x.to_bits()).collect();
                assert_eq!(found, expected, "{rows} x {width}");
            }
        }
    }
}
