//! Learning without steps: statistics of blocks of rows, merged, then a small dense solve.
//!
//! With f the factor of a row (its weight, times that of its class) and y = x − shift, a block gives
//!
//! ```text
//! weights_c = Σ f        sums_c = Σ f y        scatter = Σ f y yᵀ   (or only its diagonal, by class)
//! ```
//!
//! Sums of blocks are added in the order of the rows, whoever computed them, so threads and workers
//! change no bit; on whole numbers the sums are exact while they stay below 2^53, and then the cut
//! into blocks does not matter either. The shift is a short number near the values of a column, 0 for
//! a column that has values on both sides of 0 or at it, so sparse rows stay sparse. Centring happens
//! once, at the end, in numbers of twice the length: scatter − Σ_c sums_c sums_cᵀ / weights_c.
//!
//! Reference: Chan, Golub, LeVeque, Algorithms for computing the sample variance, 1983.

use super::gram::Gram;
use crate::rounds::{self, Rounds, Wire};
use linsep_data::Dataset;
use linsep_data::error::Result;
use linsep_data::matrix::{Dense, Row, Rows, Shape, Sparse, kernel};
use linsep_data::parallel::parallel_map;

/// Rows in a block: the unit of work and of merging.
const BLOCK: usize = 4096;
/// Bytes of statistics that may wait to be merged, however many threads there are.
const WAITING: usize = 64 << 20;

/// What to collect of the rows beside weights and sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing.
    Sums,
    /// Squares, by class.
    Squares,
    /// The scatter matrix of all rows.
    Scatter,
}

/// The rows to look at and how: what every worker has to know.
pub struct Spec<'a> {
    pub data: &'a Dataset,
    pub rows: &'a [u32],
    /// The factor of each class beside the weight of a row.
    pub factors: Vec<f64>,
    pub shift: Vec<f64>,
    pub want: Want,
}

impl<'a> Spec<'a> {
    /// With a shift near the first rows' values, unless nothing will be centred.
    pub fn new(data: &'a Dataset, rows: &'a [u32], factors: Vec<f64>, want: Want) -> Spec<'a> {
        let shift = match want {
            Want::Sums => vec![0.0; data.n_features()],
            _ => Spec::shift_near(data, rows),
        };
        Spec { data, rows, factors, shift, want }
    }

    /// Short numbers near the values of the first block: what [`Spec::new`] takes for the shift.
    pub fn shift_near(data: &Dataset, rows: &[u32]) -> Vec<f64> {
        shift_of(data, &rows[..rows.len().min(BLOCK)])
    }

    /// The statistics of the rows at some places of `rows`.
    fn statistics(&self, places: std::ops::Range<usize>) -> Statistics {
        let mut all = Statistics::zero(self);
        match &self.data.store().shape {
            Shape::Dense(rows) => all.add_dense(self, rows, &self.rows[places]),
            Shape::Sparse(rows) => all.add_sparse(self, rows, &self.rows[places]),
        }
        all
    }

    /// The statistics of all rows, block by block.
    pub fn collect(&self, threads: usize) -> Statistics {
        // Each block may hold a matrix.
        let together = (WAITING / (8 * Statistics::numbers(self)).max(1)).clamp(1, 64);
        rounds::collect(self, &(), threads, together)
    }

    /// What `make` makes of the weight and the sums of each class; of statistics without a shift.
    pub fn map_classes<T: Send>(
        &self,
        threads: usize,
        make: impl Fn(f64, Vec<f64>) -> T + Sync,
    ) -> Vec<T> {
        match &self.data.store().shape {
            Shape::Sparse(rows) if self.blocks() == 1 => self.by_class(rows, threads, make),
            _ => {
                let Statistics { weights, sums, .. } = self.collect(threads);
                weights.into_iter().zip(sums).map(|(weight, sums)| make(weight, sums)).collect()
            }
        }
    }

    /// The same of one block: classes have sums of their own, so they are added side by side, and used while
    /// the cache has them.
    fn by_class<T: Send>(
        &self,
        rows: &Sparse,
        threads: usize,
        make: impl Fn(f64, Vec<f64>) -> T + Sync,
    ) -> Vec<T> {
        let mut members = vec![Vec::new(); self.factors.len()];
        for &row in self.rows {
            members[self.data.class_of(row as usize) as usize].push(row);
        }
        let class = |class: usize| {
            let (mut weight, mut sums) = (0.0, vec![0.0; self.shift.len()]);
            let mut scratch = Vec::new();
            for &row in &members[class] {
                let row = row as usize;
                let factor = self.factor(row, class);
                weight += factor;
                rows.row(row, &mut scratch).for_each(|j, x| sums[j as usize] += factor * x);
            }
            make(weight, sums)
        };
        parallel_map(members.len(), threads, class)
    }

    /// Places of rows that make up a block.
    fn places(&self, block: usize) -> std::ops::Range<usize> {
        match self.blocks() {
            1 => 0..self.rows.len(),
            _ => block * BLOCK..((block + 1) * BLOCK).min(self.rows.len()),
        }
    }

    /// Calls `each` with the place of a row in `rows`, its factor, its class and x − shift.
    pub fn for_rows(
        &self,
        places: std::ops::Range<usize>,
        mut each: impl FnMut(usize, f64, usize, &[f64]),
    ) {
        let zeros: Vec<f64> = self.shift.iter().map(|shift| 0.0 - shift).collect();
        let mut values = zeros.clone();
        let mut scratch = Vec::new();
        for place in places {
            let row = self.rows[place] as usize;
            values.copy_from_slice(&zeros);
            self.data.store().for_each(row, &mut scratch, |j, x| {
                values[j as usize] = x - self.shift[j as usize];
            });
            let class = self.data.class_of(row) as usize;
            each(place, self.factor(row, class), class, &values);
        }
    }

    /// `work` on every block of places, results in order.
    pub fn by_blocks<T: Send>(
        &self,
        threads: usize,
        work: impl Fn(std::ops::Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        let range = |k: usize| k * BLOCK..((k + 1) * BLOCK).min(self.rows.len());
        parallel_map(self.rows.len().div_ceil(BLOCK), threads, |k| work(range(k)))
    }

    pub fn factor(&self, row: usize, class: usize) -> f64 {
        self.data.weight(row) * self.factors[class]
    }
}

impl Rounds for Spec<'_> {
    type Broadcast = ();
    type Local = ();
    type Partial = Statistics;

    /// Where a block would hold more sums than the rows have values, there is only one.
    fn blocks(&self) -> usize {
        let values = self.data.store().held_values();
        let wide = Statistics::numbers(self) as u64 > values / 8;
        match self.want == Want::Sums && !self.data.is_dense() && wide {
            true => 1,
            false => self.rows.len().div_ceil(BLOCK),
        }
    }

    fn accepts(&self, (): &()) -> bool {
        true
    }

    fn fits(&self, found: &Statistics) -> bool {
        let (width, classes) = (self.shift.len(), self.factors.len());
        let lists = found.sums.iter().chain(&found.squares);
        let numbers = found.weights.len() + found.scatter.len();
        found.weights.len() == classes
            && found.sums.len() == classes
            && lists.clone().all(|list| list.len() == width)
            && numbers + lists.map(Vec::len).sum::<usize>() == Statistics::numbers(self)
    }

    fn empty(&self) -> Statistics {
        Statistics::zero(self)
    }

    fn open(&self, (): &()) {}

    fn partial(&self, block: usize, (): &()) -> Statistics {
        self.statistics(self.places(block))
    }

    fn merge(&self, all: &mut Statistics, next: Statistics) {
        all.merge(&next);
    }
}

/// Short numbers near the values of each column.
fn shift_of(data: &Dataset, rows: &[u32]) -> Vec<f64> {
    let width = data.n_features();
    let mut low = vec![f64::INFINITY; width];
    let mut high = vec![f64::NEG_INFINITY; width];
    let mut seen = vec![0usize; width];
    let mut scratch = Vec::new();
    for &row in rows {
        data.store().for_each(row as usize, &mut scratch, |j, x| {
            let j = j as usize;
            low[j] = low[j].min(x);
            high[j] = high[j].max(x);
            seen[j] += 1;
        });
    }
    let shift = |j: usize| {
        let spans_zero = seen[j] < rows.len() || (low[j] <= 0.0 && high[j] >= 0.0);
        if spans_zero {
            0.0
        } else if low[j] == high[j] {
            low[j]
        } else {
            // A multiple of a power of two near the range: whole numbers stay whole.
            let unit = 2f64.powi((high[j] - low[j]).log2().floor().clamp(-900.0, 900.0) as i32);
            let middle = ((low[j] / 2.0 + high[j] / 2.0) / unit).round() * unit;
            if middle.is_finite() { middle } else { 0.0 }
        }
    };
    (0..width).map(shift).collect()
}

/// Sums over rows that can be merged.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    pub(crate) weights: Vec<f64>,
    pub(crate) sums: Vec<Vec<f64>>,
    /// Σ f y² of each class, if wanted.
    pub(crate) squares: Vec<Vec<f64>>,
    /// The upper triangle of Σ f y yᵀ, row after row, if wanted.
    pub(crate) scatter: Vec<f64>,
}

impl Wire for Statistics {
    fn write(&self, out: &mut Vec<u8>) {
        self.weights.write(out);
        self.sums.write(out);
        self.squares.write(out);
        self.scatter.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Result<Statistics> {
        Ok(Statistics {
            weights: Vec::read(bytes)?,
            sums: Vec::read(bytes)?,
            squares: Vec::read(bytes)?,
            scatter: Vec::read(bytes)?,
        })
    }
}

impl Statistics {
    fn zero(spec: &Spec<'_>) -> Statistics {
        let (width, classes) = (spec.shift.len(), spec.factors.len());
        let squares = if spec.want == Want::Squares { classes } else { 0 };
        let scatter = if spec.want == Want::Scatter { width * (width + 1) / 2 } else { 0 };
        Statistics {
            weights: vec![0.0; classes],
            sums: vec![vec![0.0; width]; classes],
            squares: vec![vec![0.0; width]; squares],
            scatter: vec![0.0; scatter],
        }
    }

    /// Adds the statistics of the rows that follow.
    pub(crate) fn merge(&mut self, next: &Statistics) {
        let add = |mine: &mut [f64], theirs: &[f64]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        };
        add(&mut self.weights, &next.weights);
        add(&mut self.scatter, &next.scatter);
        for (mine, theirs) in self.sums.iter_mut().zip(&next.sums) {
            add(mine, theirs);
        }
        for (mine, theirs) in self.squares.iter_mut().zip(&next.squares) {
            add(mine, theirs);
        }
    }

    /// Numbers in all.
    fn numbers(spec: &Spec<'_>) -> usize {
        let (width, classes) = (spec.shift.len(), spec.factors.len());
        let beside = match spec.want {
            Want::Sums => 0,
            Want::Squares => classes * width,
            Want::Scatter => width * (width + 1) / 2,
        };
        classes + classes * width + beside
    }

    fn add_dense(&mut self, spec: &Spec<'_>, rows: &Dense, chosen: &[u32]) {
        let width = spec.shift.len();
        let mut gram = (spec.want == Want::Scatter).then(|| Gram::new(width));
        let mut scratch = Vec::new();
        for &row in chosen {
            let row = row as usize;
            let class = spec.data.class_of(row) as usize;
            let factor = spec.factor(row, class);
            self.weights[class] += factor;
            let values = rows.row(row, &mut scratch).values();
            kernel::add_shifted(factor, values, &spec.shift, &mut self.sums[class]);
            if spec.want == Want::Squares {
                kernel::add_squares(factor, values, &spec.shift, &mut self.squares[class]);
            }
            if let Some(gram) = &mut gram {
                gram.add(factor, values, &spec.shift);
            }
        }
        if let Some(gram) = gram {
            self.scatter = gram.finish();
        }
    }

    fn add_sparse(&mut self, spec: &Spec<'_>, rows: &Sparse, chosen: &[u32]) {
        let width = spec.shift.len();
        let shifted: Vec<u32> =
            (0..width as u32).filter(|&j| spec.shift[j as usize] != 0.0).collect();
        let mut values: Vec<f64> = spec.shift.iter().map(|shift| 0.0 - shift).collect();
        let mut scratch = Vec::new();
        let mut columns: Vec<u32> = Vec::new();
        for &row in chosen {
            let row = row as usize;
            let class = spec.data.class_of(row) as usize;
            let factor = spec.factor(row, class);
            self.weights[class] += factor;
            let sums = &mut self.sums[class];
            if spec.want == Want::Sums {
                rows.row(row, &mut scratch).for_each(|j, x| sums[j as usize] += factor * x);
                continue;
            }
            columns.clear();
            rows.row(row, &mut scratch).for_each(|j, x| {
                values[j as usize] = x - spec.shift[j as usize];
                columns.push(j);
            });
            if !shifted.is_empty() {
                columns.extend_from_slice(&shifted);
                columns.sort_unstable();
                columns.dedup();
            }
            columns.iter().for_each(|&j| sums[j as usize] += factor * values[j as usize]);
            if spec.want == Want::Squares {
                let squares = &mut self.squares[class];
                for &j in &columns {
                    let y = values[j as usize];
                    squares[j as usize] += factor * y * y;
                }
            } else {
                self.add_products(&values, &columns, factor);
            }
            columns.iter().for_each(|&j| values[j as usize] = 0.0 - spec.shift[j as usize]);
        }
    }

    /// One row whose other values are 0.
    fn add_products(&mut self, values: &[f64], columns: &[u32], factor: f64) {
        let width = values.len();
        for (at, &j) in columns.iter().enumerate() {
            let j = j as usize;
            let head = factor * values[j];
            // Where row j of the triangle would begin if it had a column 0.
            let base = j * width - j * (j + 1) / 2;
            let line = &mut self.scatter[base..base + width];
            for &k in &columns[at..] {
                line[k as usize] += head * values[k as usize];
            }
        }
    }

    /// Means and centred matrices.
    pub fn finish(self, shift: &[f64]) -> Moments {
        let width = shift.len();
        let total: f64 = self.weights.iter().sum();
        let offsets: Vec<Vec<f64>> = self
            .sums
            .iter()
            .zip(&self.weights)
            .map(|(sums, weight)| sums.iter().map(|sum| sum / weight).collect())
            .collect();
        let all: Vec<f64> =
            (0..width).map(|j| self.sums.iter().map(|sums| sums[j]).sum()).collect();
        let offset: Vec<f64> = all.iter().map(|sum| sum / total).collect();
        Moments {
            shift: shift.to_vec(),
            weights: self.weights.clone(),
            total,
            offsets,
            offset,
            all,
            statistics: self,
        }
    }
}

/// What the statistics say about the rows.
pub struct Moments {
    pub shift: Vec<f64>,
    /// Σ f of each class and of all.
    pub weights: Vec<f64>,
    pub total: f64,
    /// Mean − shift of each class, and of all rows.
    pub offsets: Vec<Vec<f64>>,
    pub offset: Vec<f64>,
    all: Vec<f64>,
    statistics: Statistics,
}

impl Moments {
    /// The mean of a class.
    pub fn mean(&self, class: usize) -> Vec<f64> {
        self.shift.iter().zip(&self.offsets[class]).map(|(shift, offset)| shift + offset).collect()
    }

    /// The mean of all rows.
    pub fn mean_of_all(&self) -> Vec<f64> {
        self.shift.iter().zip(&self.offset).map(|(shift, offset)| shift + offset).collect()
    }

    /// (sum − w · Σ f x) / Σ f in twice the length of binary64: what the bias adds up to once the mean
    /// is scored.
    pub fn beside_mean(&self, sum: f64, weights: &[f64]) -> f64 {
        let less = |(mut high, mut low): (f64, f64), factors: &[f64]| {
            for (w, x) in weights.iter().zip(factors) {
                let product = w * x;
                let (next, loss) = two_sum(high, -product);
                (high, low) = (next, low + (loss - w.mul_add(*x, -product)));
            }
            (high, low)
        };
        let (high, low) = less((sum, 0.0), &self.all);
        let quotient = high / self.total;
        let rest = ((-quotient).mul_add(self.total, high) + low) / self.total;
        let (high, low) = less((quotient, rest), &self.shift);
        high + low
    }

    /// Σ f (x − mean)² of each column within a class.
    pub fn spread(&self, class: usize) -> Vec<f64> {
        let (sums, weight) = (&self.statistics.sums[class], self.weights[class]);
        let squares = self.statistics.squares[class].iter().zip(sums);
        squares.map(|(square, sum)| centred(*square, &[(*sum, *sum, weight)]).max(0.0)).collect()
    }

    /// Σ f (x − mean)² of each column over all rows.
    pub fn spread_of_all(&self) -> Vec<f64> {
        let square = |j: usize| self.statistics.squares.iter().map(|s| s[j]).sum();
        let spread = |j: usize| centred(square(j), &[(self.all[j], self.all[j], self.total)]);
        (0..self.shift.len()).map(|j| spread(j).max(0.0)).collect()
    }

    /// Σ f (x − c)(x − c)ᵀ in full, with c the class's mean or the mean of all rows.
    pub fn scatter(&self, within: bool, threads: usize) -> Vec<f64> {
        let width = self.shift.len();
        let line = |j: usize| {
            // Where row j of the triangle would begin if it had a column 0.
            let base = j * width - j * (j + 1) / 2;
            let mut parts = Vec::new();
            let value = |k: usize| {
                parts.clear();
                if within {
                    let classes = self.statistics.sums.iter().zip(&self.weights);
                    parts.extend(classes.map(|(sums, weight)| (sums[j], sums[k], *weight)));
                } else {
                    parts.push((self.all[j], self.all[k], self.total));
                }
                centred(self.statistics.scatter[base + k], &parts)
            };
            (j..width).map(value).collect::<Vec<f64>>()
        };
        let mut matrix = vec![0.0; width * width];
        for (j, line) in parallel_map(width, threads, line).into_iter().enumerate() {
            for (k, value) in (j..width).zip(line) {
                matrix[j * width + k] = value;
                matrix[k * width + j] = value;
            }
        }
        matrix
    }
}

/// sum − Σ a b / weight, in twice the length of binary64 since both may be nearly equal.
fn centred(sum: f64, parts: &[(f64, f64, f64)]) -> f64 {
    // Errors and rests are summed apart, so that two parts give the same bits in either order.
    let (mut hi, mut errors, mut rests) = (0.0, 0.0, 0.0);
    for &(a, b, weight) in parts {
        let product = a * b;
        let product_rest = a.mul_add(b, -product);
        let quotient = product / weight;
        let quotient_rest = ((-quotient).mul_add(weight, product) + product_rest) / weight;
        let (next, error) = two_sum(hi, quotient);
        (hi, errors, rests) = (next, errors + error, rests + quotient_rest);
    }
    let (difference, error) = two_sum(sum, -hi);
    difference + (error - (errors + rests))
}

pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::rng::{Purpose, Stream};

    fn table(rows: usize, value: impl Fn(&mut Stream) -> f64) -> Dataset {
        let mut stream = Stream::new(3, Purpose::Generate(5));
        let values: Vec<Vec<f64>> =
            (0..rows).map(|_| (0..5).map(|_| value(&mut stream)).collect()).collect();
        let labels: Vec<&str> = (0..rows).map(|i| ["a", "b", "c"][i % 3]).collect();
        Dataset::from_rows(&values, &labels).unwrap()
    }

    fn in_shards(data: &Dataset, shards: usize, want: Want) -> Statistics {
        let rows: Vec<u32> = (0..data.n_rows() as u32).collect();
        let spec = Spec::new(data, &rows, vec![1.0; 3], want);
        let cut = |k: usize| k * rows.len() / shards;
        let mut all = Statistics::zero(&spec);
        for k in 0..shards {
            // As a worker would send it.
            let bytes = rounds::encode(&spec.statistics(cut(k)..cut(k + 1)));
            all.merge(&rounds::decode(&bytes).unwrap());
        }
        all
    }

    #[test]
    fn shards_of_whole_numbers_agree_to_the_last_bit() {
        for offset in [0, 1000] {
            let data = table(1000, |s| (s.below(201) + offset) as f64);
            for want in [Want::Sums, Want::Squares, Want::Scatter] {
                let one = in_shards(&data, 1, want);
                assert_eq!(one, in_shards(&data, 2, want));
                assert_eq!(one, in_shards(&data, 7, want));
                assert_eq!(one, in_shards(&data.with_other_storage(), 3, want));
            }
        }
    }

    #[test]
    fn shards_of_real_numbers_agree_up_to_rounding() {
        let data = table(1000, |s| 1e3 + s.normal());
        let [one, seven] = [1, 7].map(|shards| in_shards(&data, shards, Want::Scatter).scatter);
        let size = one[0].abs();
        assert!(one.iter().zip(&seven).all(|(a, b)| (a - b).abs() <= 1e-12 * size));
    }

    /// Values far from 0 next to their spread: what a plain sum of squares cannot do.
    #[test]
    fn centring_stands_large_means() {
        let data = table(900, |s| 1e9 + s.below(3) as f64);
        let rows: Vec<u32> = (0..900).collect();
        let spec = Spec::new(&data, &rows, vec![1.0; 3], Want::Scatter);
        let moments = spec.collect(2).finish(&spec.shift);
        let mean = moments.mean_of_all();
        let mut expected = 0.0;
        (0..900).for_each(|i| {
            let row = data.row(i);
            expected += (row[1] - mean[1]) * (row[2] - mean[2]);
        });
        let found = moments.scatter(false, 2)[5 + 2];
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
}
