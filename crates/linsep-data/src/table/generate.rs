//! Synthetic labelled data: seeded, made row by row, in memory of the order of one row.
//!
//! Points, label noise and hidden planes have streams of their own: noise never changes values, and
//! a short set begins a long one. Every class comes early, under noise too (but gates stand in the
//! order of their truth table). Continuous values have six decimals, short text that reads back to
//! the same bits. What is promised about planes holds without noise.

use crate::error::{Error, Result};
use crate::rng::{Purpose, Stream};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $summary:literal;)*) => {
        /// Every kind of data set that can be generated, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// All kinds, in the order in which they are listed to users.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];
            /// The name by which the kind is chosen.
            pub fn name(self) -> &'static str { match self { $(Kind::$kind => $name,)* } }
            /// One line that says what the set is like.
            pub fn summary(self) -> &'static str { match self { $(Kind::$kind => $summary,)* } }
            /// The kind with this name.
            pub fn parse(text: &str) -> Option<Kind> {
                match text { $($name => Some(Kind::$kind),)* _ => None }
            }
        }
    };
}

kinds! {
    /// Gaussian classes with a gap. Two classes: no row is nearer than margin/2 to the hidden plane
    /// through the origin. More: centres c stand on a reflected grid and no row is nearer than
    /// margin/2 to a bisector of its own and another centre: the scores c·x - |c|²/2 separate.
    Blobs, "blobs", "Gaussian classes with a set gap between them";
    /// All corners of the Boolean cube, labelled 1 where all inputs are 1.
    And, "and", "truth table of AND, separable";
    /// All corners of the Boolean cube, labelled 1 where any input is 1.
    Or, "or", "truth table of OR, separable";
    /// All corners of the Boolean cube, labelled 1 where an odd number of inputs is 1.
    Xor, "xor", "truth table of XOR (odd parity), not separable from 2 inputs on";
    /// The same as [`Kind::Xor`].
    Parity, "parity", "truth table of odd parity, not separable from 2 inputs on";
    /// Integer rows, weakly but not strictly separable: class +1 has x1 + … + xn >= 0 and -1 has
    /// <= 0, both with rows off that plane (rows 4 and 5), but rows 0 to 3 are p and -p of +1 and q
    /// and -q of -1, all on it. Their z = y(x, 1) sum to 0, so no plane has y(w·x + b) > 0 on all.
    /// The hulls meet only in the plane; with two or more features no point carries both labels.
    Touching, "touching", "two classes that touch: weakly but not strictly separable";
    /// Two separable classes where a tenth of the rows lies far out on the right side of +1. With
    /// many more rows than features they pull the least squares plane across near rows of +1.
    Outlier, "outlier", "separable, with far rows that mislead least squares";
    /// Standard normal rows, labelled by their side of a hidden plane through the origin, no gap.
    Gaussian, "gaussian", "tall dense normal rows cut by a plane, no gap";
    /// Sparse rows like counted and weighted words of texts: ids by Zipf's law, about unit length,
    /// labelled by the sign of a sparse hidden weight vector without threshold.
    Zipf, "zipf", "sparse text-like rows, ids by Zipf's law";
}

/// What to generate. `None` means the default of the kind.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GenerateSpec {
    /// The kind of data set.
    pub kind: Kind,
    /// Rows: 200, gaussian and zipf 1000; gates always have 2^features.
    pub rows: Option<u64>,
    /// Features: 2, gaussian 20, zipf 10000.
    pub features: Option<usize>,
    /// Classes: 2; only blobs can have more.
    pub classes: Option<usize>,
    /// The gap between the classes: 0.5 for blobs and outlier; the others have none.
    pub margin: Option<f64>,
    /// The chance, in [0, 1), that a row gets another label.
    pub noise: f64,
    /// Distinct features in a row of zipf, about: 20, or all if fewer; other kinds have all.
    pub nonzeros: Option<usize>,
    /// The seed of everything random.
    pub seed: u64,
}

linsep_proof::setters! {
    GenerateSpec {
        with_kind => kind: Kind,
        with_rows => rows: Option<u64>,
        with_features => features: Option<usize>,
        with_classes => classes: Option<usize>,
        with_margin => margin: Option<f64>,
        with_noise => noise: f64,
        with_nonzeros => nonzeros: Option<usize>,
        with_seed => seed: u64,
    }
}

impl GenerateSpec {
    /// The defaults of `kind`, without noise, with seed 0.
    pub fn new(kind: Kind) -> GenerateSpec {
        let (rows, features, classes, margin, nonzeros) = (None, None, None, None, None);
        GenerateSpec { kind, rows, features, classes, margin, noise: 0.0, nonzeros, seed: 0 }
    }
}

/// The values of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values<'a> {
    /// One value per feature.
    Dense(&'a [f64]),
    /// Pairs of 0-based feature and value, features rising; all others are 0.
    Sparse(&'a [(u32, f64)]),
}

/// One row; it borrows the generator's buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct GeneratedRow<'a> {
    /// The class.
    pub label: &'a str,
    /// The features.
    pub values: Values<'a>,
}

/// Rows that were made in one go, so that one thread can write them while another makes more.
#[derive(Clone, Debug, Default)]
pub struct RowBlock {
    ends: Vec<usize>,
    labels: Vec<u32>,
    entries: Vec<(u32, f64)>,
}

/// Entries of a block, about.
const BLOCK_ENTRIES: usize = 1 << 13;

impl RowBlock {
    /// The rows: the class and the entries that are not 0, features rising.
    pub fn rows(&self) -> impl Iterator<Item = (u32, &[(u32, f64)])> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, &end)| &self.entries[start..end]);
        self.labels.iter().copied().zip(ranges)
    }
}

/// Makes the rows of one data set, one after the other.
pub struct Generator {
    spec: GenerateSpec,
    rows: u64,
    features: usize,
    nonzeros: usize,
    half: f64, // of the gap, plus what rounding can take away
    labels: Vec<String>,
    points: Stream,
    flips: Stream,
    normal: Vec<f64>, // of the plane, or of the mirror of the grid
    dense: Vec<f64>,
    sparse: Vec<(u32, f64)>,
    next: u64,
    last: usize,  // the class of the row before, without noise
    class: usize, // the same with noise
}

/// Rows of more than two blobs stay this near to their centre along each axis of the grid.
const REACH: f64 = 2.0;

impl Generator {
    /// Checks `spec` and gets ready to make the first row.
    pub fn new(spec: &GenerateSpec) -> Result<Generator> {
        let (kind, name) = (spec.kind, spec.kind.name());
        let take = |what: &str, given: Option<f64>, default: f64, low: f64, high: f64| {
            let value = given.unwrap_or(default);
            if (low..=high).contains(&value) {
                return Ok(value);
            }
            let accepted = match high {
                f64::INFINITY => format!("at least {low}"),
                _ if low == high => format!("{low}"),
                _ => format!("from {low} to {high}"),
            };
            Err(Error::usage(format!("{what} of {name} must be {accepted}, not {value}")))
        };
        let gap = matches!(kind, Kind::Blobs | Kind::Outlier);
        let (rows, least, features, fewest, most) = match kind {
            Kind::Blobs => (200.0, 1.0, 2.0, 1.0, 1e6),
            Kind::Touching => (200.0, 6.0, 2.0, 1.0, 1e6),
            Kind::Outlier => (200.0, 10.0, 2.0, 2.0, 1e6),
            Kind::Gaussian => (1000.0, 1.0, 20.0, 1.0, 1e6),
            Kind::Zipf => (1000.0, 1.0, 10_000.0, 1.0, 1e7),
            Kind::And | Kind::Or | Kind::Xor | Kind::Parity => (0.0, 0.0, 2.0, 1.0, 24.0),
        };
        let width = take("features", spec.features.map(|n| n as f64), features, fewest, most)?;
        let (gate, all) = (rows == 0.0, 2f64.powi(width as i32));
        let (rows, least, most) = if gate { (all, all, all) } else { (rows, least, f64::INFINITY) };
        let rows = take("rows", spec.rows.map(|n| n as f64), rows, least, most)? as u64;
        let most = if kind == Kind::Blobs { 1000.0 } else { 2.0 };
        let classes = take("classes", spec.classes.map(|n| n as f64), 2.0, 2.0, most)? as usize;
        let (usual, most) = if gap { (0.5, 1e6) } else { (0.0, 0.0) };
        let margin = take("margin", spec.margin, usual, 0.0, most)?;
        if !(0.0..1.0).contains(&spec.noise) {
            let text = format!("noise must be at least 0 and below 1, not {}", spec.noise);
            return Err(Error::usage(text));
        }
        let zipf = kind == Kind::Zipf;
        let (usual, least) = if zipf { (width.min(20.0), 1.0) } else { (width, width) };
        let nonzeros = take("nonzeros", spec.nonzeros.map(|n| n as f64), usual, least, width)?;

        let stream = |part| Stream::new(spec.seed, Purpose::Generate(part));
        let (mut plane, mut normal, features) = (stream(1), Vec::new(), width as usize);
        if kind == Kind::Touching {
            normal.resize(features, 1.0);
        } else if gap || kind == Kind::Gaussian {
            normal.extend((0..features).map(|_| plane.normal() + 1e-99)); // not all can be 0
            let length = dot(&normal, &normal).sqrt();
            normal.iter_mut().for_each(|v| *v /= length);
        }
        Ok(Generator {
            spec: spec.clone(),
            rows: spec.rows.unwrap_or(rows),
            features,
            nonzeros: nonzeros as usize,
            // Rounding moves a row by at most half a millionth times the root of its width.
            half: margin / 2.0 + 1e-6 * width.sqrt(),
            labels: match classes {
                2 if gate => vec!["0".into(), "1".into()],
                2 => vec!["-1".into(), "+1".into()],
                _ => (1..=classes).map(|class| class.to_string()).collect(),
            },
            points: stream(0),
            flips: stream(2),
            normal,
            dense: vec![0.0; if zipf { 0 } else { features }],
            sparse: Vec::new(),
            next: 0,
            last: 0,
            class: 0,
        })
    }

    /// How many rows there are altogether.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// How many features a row has.
    pub fn features(&self) -> usize {
        self.features
    }

    /// True when rows are mostly zeros and come as [`Values::Sparse`].
    pub fn is_sparse(&self) -> bool {
        self.spec.kind == Kind::Zipf
    }

    /// The name of the 0-based feature `j`: x1, x2, …
    pub fn feature_name(&self, j: usize) -> String {
        format!("x{}", j.saturating_add(1))
    }

    /// The weights of the plane through the origin that separates the two classes, if one is known:
    /// strictly for blobs, outlier and gaussian, weakly for touching. Positive means class +1.
    pub fn hidden_plane(&self) -> Option<&[f64]> {
        (self.labels.len() == 2 && !self.normal.is_empty()).then_some(&self.normal)
    }

    /// The next row, or `None` after the last.
    pub fn next_row(&mut self) -> Option<GeneratedRow<'_>> {
        if self.next == self.rows {
            return None;
        }
        // Both of two classes come first. In outlier both come in each pair: then the mean of the
        // labels is 0 and the least squares plane meets the mean of the rows, far over at +1.
        let wanted = match self.next {
            row if row > 1 && self.spec.kind != Kind::Outlier => None,
            row if row % 2 == 0 => Some(self.points.below(2) as usize),
            _ => Some(usize::from(self.last == 0)),
        };
        self.last = match self.spec.kind {
            Kind::Blobs if self.labels.len() > 2 => self.cell(),
            Kind::Blobs | Kind::Outlier | Kind::Gaussian => self.side(wanted),
            Kind::Touching => self.touching(),
            Kind::Zipf => self.zipf(wanted),
            gate => {
                let inputs = self.dense.iter_mut().rev().enumerate();
                inputs.for_each(|(j, value)| *value = (self.next >> j & 1) as f64);
                match (gate, self.next.count_ones() as usize) {
                    (Kind::And, ones) => usize::from(ones == self.features),
                    (Kind::Or, ones) => ones.min(1),
                    (_, ones) => ones % 2,
                }
            }
        };
        let (mut class, classes) = (self.last, self.labels.len() as u64);
        if self.flips.unit() < self.spec.noise && self.next >= classes {
            class = (class + 1 + self.flips.below(classes - 1) as usize) % self.labels.len();
        }
        self.next += 1;
        self.class = class;
        let sparse = self.is_sparse();
        let values = if sparse { Values::Sparse(&self.sparse) } else { Values::Dense(&self.dense) };
        Some(GeneratedRow { label: &self.labels[class], values })
    }

    /// Fills a block with the next rows; false when there are none.
    pub fn next_block(&mut self, block: &mut RowBlock) -> bool {
        block.ends.clear();
        block.labels.clear();
        block.entries.clear();
        while block.entries.len() < BLOCK_ENTRIES && block.ends.len() < BLOCK_ENTRIES {
            let Some(row) = self.next_row() else { break };
            match row.values {
                Values::Sparse(values) => block.entries.extend_from_slice(values),
                Values::Dense(values) => {
                    let used = (0..).zip(values).filter(|(_, value)| **value != 0.0);
                    block.entries.extend(used.map(|(j, &value)| (j, value)));
                }
            }
            block.ends.push(block.entries.len());
            block.labels.push(self.class as u32);
        }
        !block.ends.is_empty()
    }

    /// The names of the classes, by which blocks number them.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// A normal row on one side of the plane, pushed away from it unless it is to have no gap.
    fn side(&mut self, wanted: Option<usize>) -> usize {
        // A row so near to the plane that rounding could decide its side is drawn again.
        let (near, mut height) = (1e-9 * (self.features as f64).sqrt(), 0f64);
        while height.abs() <= near {
            self.dense.iter_mut().for_each(|v| *v = round(self.points.normal()));
            height = dot(&self.dense, &self.normal);
        }
        let class = wanted.unwrap_or(usize::from(height > 0.0));
        let turn = if class == usize::from(height > 0.0) { 1.0 } else { -1.0 };
        let push = match (self.spec.kind, class) {
            (Kind::Gaussian, _) => 0.0,
            (_, 0) => -self.half,
            (Kind::Outlier, _) if self.next / 2 % 5 == 2 => 20.0 * (self.half + 1.0),
            _ => self.half,
        };
        for (value, normal) in self.dense.iter_mut().zip(&self.normal) {
            *value = round(turn * *value + push * normal);
        }
        class
    }

    /// A row of one of more than two blobs: normal around its centre, cut at REACH, reflected.
    fn cell(&mut self) -> usize {
        let classes = self.labels.len() as u64;
        let forced = self.next < classes;
        let class = if forced { self.next } else { self.points.below(classes) } as usize;
        for axis in 0..self.features {
            let (centre, mut offset) = (self.centre(class, axis), self.points.normal());
            while centre.is_some() && offset.abs() > REACH {
                offset = self.points.normal();
            }
            self.dense[axis] = centre.unwrap_or(0.0) + offset;
        }
        let twice = 2.0 * dot(&self.dense, &self.normal);
        for (value, normal) in self.dense.iter_mut().zip(&self.normal) {
            *value = round(*value - twice * normal);
        }
        class
    }

    /// The centre of a class before the reflection, on the axes that the grid has: the digits of
    /// its number are its cell in the smallest cube with enough cells. On an axis, cells are the
    /// same or the gap and twice REACH apart: bisectors are half the gap away from all rows.
    fn centre(&self, class: usize, axis: usize) -> Option<f64> {
        let classes = self.labels.len();
        let axes = self.features.min(classes.next_power_of_two().ilog2() as usize);
        if axis >= axes {
            return None;
        }
        let enough = |side: &usize| side.saturating_pow(axes as u32) >= classes;
        let side = (2..classes).find(enough).unwrap_or(classes);
        let place = (class / side.pow(axis as u32) % side) as f64 - (side - 1) as f64 / 2.0;
        Some(place * 2.0 * (self.half + REACH))
    }

    /// A row of integers on the plane or 1 to 5 steps off it, see [`Kind::Touching`].
    fn touching(&mut self) -> usize {
        if matches!(self.next, 1 | 3) {
            self.dense.iter_mut().for_each(|v| *v = 0.0 - *v);
            return self.last;
        }
        let mut draw = |bound| self.points.below(bound) as i64;
        let (class, off) = match self.next {
            row @ 0..6 => (i64::from(row % 4 == 0), row >= 4),
            _ => (draw(2), draw(4) > 0),
        };
        let mut first = if off { (2 * class - 1) * (1 + draw(5)) } else { 0 };
        for (j, value) in self.dense.iter_mut().enumerate().skip(1) {
            // On the plane x2 is even for +1 and odd for -1: no point has both labels.
            let whole = if j > 1 || off { draw(11) - 5 } else { 2 * draw(5) - 3 - class };
            *value = whole as f64;
            first -= whole;
        }
        self.dense[0] = first as f64;
        class as usize
    }

    /// A sparse row. One without a clear side, or not of the wanted class, is drawn again; the
    /// bound is for a single feature, where there is no other class.
    fn zipf(&mut self, wanted: Option<usize>) -> usize {
        let mut class = 0;
        for _ in 0..100 {
            self.words();
            let score: f64 = self.sparse.iter().map(|&(id, v)| v * self.weight(id)).sum();
            class = usize::from(score > 0.0);
            if score.abs() > 1e-6 && wanted.unwrap_or(class) == class {
                break;
            }
        }
        class
    }

    /// The hidden weight of a feature of zipf. Half of the pairs of neighbours have none; in the
    /// first and in the other half the two have opposite signs, so that both classes occur.
    fn weight(&self, id: u32) -> f64 {
        let pair = (1 << 32) + u64::from(id / 2);
        let mut stream = Stream::new(self.spec.seed, Purpose::Generate(pair));
        let bits = stream.bits() >> 62;
        let size = if bits & 2 == 2 || id < 2 { 0.1 + stream.normal().abs() } else { 0.0 };
        if (bits & 1 == 1) == (id % 2 == 1) { size } else { -size }
    }

    /// Fills the sparse buffer with about `nonzeros` distinct ids and their values.
    fn words(&mut self) {
        let half = self.nonzeros / 2;
        let count = self.nonzeros - half + self.points.below(2 * half as u64 + 1) as usize;
        let scale = (self.features as f64 + 1.0).ln();
        self.sparse.clear();
        for _ in 0..6 {
            // Repeated ids are counted and leave room for more.
            for _ in self.sparse.len()..count.min(self.features) {
                let id = (self.points.unit() * scale).exp() as usize;
                self.sparse.push((id.clamp(1, self.features) as u32 - 1, 1.0));
            }
            self.sparse.sort_unstable_by_key(|&(id, _)| id);
            self.sparse.dedup_by(|gone, kept| {
                kept.1 += if gone.0 == kept.0 { gone.1 } else { 0.0 };
                gone.0 == kept.0
            });
        }
        let word = |(id, count): (u32, f64)| (1.0 + count.ln()) * (2.0 + f64::from(id)).ln();
        let length = self.sparse.iter().map(|&pair| word(pair).powi(2)).sum::<f64>().sqrt();
        self.sparse.iter_mut().for_each(|pair| pair.1 = round(word(*pair) / length).max(1e-6));
    }
}

/// The nearest number with six decimals, never -0.
#[inline]
fn round(value: f64) -> f64 {
    /// Adding and taking away 1.5 · 2^52 rounds to a whole number, halves to an even one.
    const ROUNDING: f64 = 6_755_399_441_055_744.0;
    let millionths = value * 1e6;
    let near = (millionths + ROUNDING) - ROUNDING;
    // Halves go away from 0, and beyond 2^51 the sum does not round.
    let rare = (millionths - near).abs() == 0.5 || millionths.abs() >= 1e15;
    (if rare { millionths.round() } else { near }) / 1e6 + 0.0
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests;
