//! Numbers held in the narrowest encoding that loses nothing.
//!
//! | kind | a code means | bytes |
//! |---|---|---|
//! | `ones` | 1 | 0 |
//! | `table8` | the entry of a table of at most 256 values, code 0 = 0.0 | 1 |
//! | `int32` | code / 10^places of the column, correctly rounded, which is the decimal's binary64 | 4 |
//! | `f32` | itself | 4 |
//! | `f64` | itself | 8 |
//!
//! In every kind the all-zero bit pattern means 0.0, so rows can be laid out densely by scattering
//! codes into zeroed memory.

use super::profile::Profile;
use crate::buffer::{Buffer, Plain};

/// The names of the encodings, narrowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Every stored value is 1; only for sparse rows.
    Ones,
    /// One-byte codes into a table.
    Table8,
    /// Integers with a decimal exponent for each column.
    Int32,
    /// binary32.
    F32,
    /// binary64.
    F64,
}

impl Kind {
    /// The name as it stands in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Ones => "ones",
            Kind::Table8 => "table8",
            Kind::Int32 => "int32",
            Kind::F32 => "f32",
            Kind::F64 => "f64",
        }
    }

    /// Bytes for one stored value.
    pub fn bytes(self) -> u64 {
        match self {
            Kind::Ones => 0,
            Kind::Table8 => 1,
            Kind::Int32 | Kind::F32 => 4,
            Kind::F64 => 8,
        }
    }
}

/// The codes of some values.
#[derive(Clone, Debug)]
pub enum Codes {
    Ones(usize),
    Table8(Buffer<u8>),
    Int32(Buffer<i32>),
    F32(Buffer<f32>),
    F64(Buffer<f64>),
}

/// Codes with what they mean. `tens` holds one divisor for each column of dense rows, or a single
/// one; the divisor of position p is `tens[p % tens.len()]`.
#[derive(Clone, Debug)]
pub struct Values {
    pub codes: Codes,
    pub table: Vec<f64>,
    pub tens: Vec<f64>,
    /// Integer codes of which every divisor is 1.
    pub whole: bool,
    /// The divisor, where there is only one.
    pub ten: Option<f64>,
}

/// The one number of a list that holds no other.
fn the_only_one(tens: &[f64]) -> Option<f64> {
    tens.first().copied().filter(|first| tens.iter().all(|ten| ten == first))
}

impl Values {
    /// `len` zeros (ones for [`Kind::Ones`]) in the given encoding.
    pub fn zeros(kind: Kind, len: usize, table: Vec<f64>, tens: Vec<f64>) -> Values {
        let codes = match kind {
            Kind::Ones => Codes::Ones(len),
            Kind::Table8 => Codes::Table8(Buffer::zeros(len)),
            Kind::Int32 => Codes::Int32(Buffer::zeros(len)),
            Kind::F32 => Codes::F32(Buffer::zeros(len)),
            Kind::F64 => Codes::F64(Buffer::zeros(len)),
        };
        let whole = tens.iter().all(|&t| t == 1.0);
        let ten = the_only_one(&tens);
        Values { codes, table, tens, whole, ten }
    }

    #[inline]
    pub fn kind(&self) -> Kind {
        match self.codes {
            Codes::Ones(_) => Kind::Ones,
            Codes::Table8(_) => Kind::Table8,
            Codes::Int32(_) => Kind::Int32,
            Codes::F32(_) => Kind::F32,
            Codes::F64(_) => Kind::F64,
        }
    }

    /// Bytes of the codes in a temporary file.
    pub fn file_bytes(&self) -> u64 {
        match &self.codes {
            Codes::Ones(_) => 0,
            Codes::Table8(codes) => codes.file_bytes(),
            Codes::Int32(codes) => codes.file_bytes(),
            Codes::F32(codes) => codes.file_bytes(),
            Codes::F64(codes) => codes.file_bytes(),
        }
    }

    #[inline]
    pub fn len(&self) -> usize {
        match &self.codes {
            Codes::Ones(len) => *len,
            Codes::Table8(codes) => codes.len(),
            Codes::Int32(codes) => codes.len(),
            Codes::F32(codes) => codes.len(),
            Codes::F64(codes) => codes.len(),
        }
    }

    /// No magnitude is above this; only binary64 is looked through.
    pub fn largest(&self) -> f64 {
        match &self.codes {
            Codes::Ones(_) => 1.0,
            Codes::Table8(_) => self.table.iter().fold(0.0, |most, x| x.abs().max(most)),
            Codes::Int32(_) => 2f64.powi(31),
            Codes::F32(_) => f64::from(f32::MAX),
            Codes::F64(codes) => codes.iter().fold(0.0, |most, x| x.abs().max(most)),
        }
    }

    /// Whether any value is below 0; a table counts with all its values, used or not.
    pub fn has_negative(&self) -> bool {
        match &self.codes {
            Codes::Ones(_) => false,
            Codes::Table8(_) => self.table.iter().any(|x| *x < 0.0),
            Codes::Int32(codes) => any_negative(codes),
            Codes::F32(codes) => any_negative(codes),
            Codes::F64(codes) => any_negative(codes),
        }
    }

    /// The value at a position.
    #[inline]
    pub fn at(&self, position: usize) -> f64 {
        match &self.codes {
            Codes::Ones(_) => 1.0,
            Codes::Table8(codes) => self.table[usize::from(codes[position])],
            Codes::Int32(codes) => {
                f64::from(codes[position]) / self.tens[position % self.tens.len()]
            }
            Codes::F32(codes) => f64::from(codes[position]),
            Codes::F64(codes) => codes[position],
        }
    }

    /// Puts a value, which the encoding must hold exactly, at a position of column `column`.
    pub fn set(&mut self, position: usize, value: f64, profile: &mut Profile) {
        let tens = self.tens.get(position % self.tens.len().max(1)).copied().unwrap_or(1.0);
        match &mut self.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => codes[position] = code_of(value, profile),
            Codes::Int32(codes) => codes[position] = integer_code(value, tens),
            Codes::F32(codes) => codes[position] = value as f32,
            Codes::F64(codes) => codes[position] = value,
        }
    }

    /// Moves to the encoding that the profile now asks for; never narrows.
    pub fn widen(&mut self, kind: Kind, tens: Vec<f64>, profile: &mut Profile) {
        if self.kind() == kind {
            if let Codes::Int32(codes) = &mut self.codes {
                rescale(codes, &self.tens, &tens);
            }
        } else {
            let mut wider = Values::zeros(kind, 0, profile.table(), tens.clone());
            wider.reserve(self.len());
            wider.recode(self, profile);
            self.codes = wider.codes;
        }
        self.table = profile.table();
        self.whole = tens.iter().all(|&t| t == 1.0);
        self.ten = the_only_one(&tens);
        self.tens = tens;
    }

    /// Appends `other`, whose values the encoding must hold exactly. `translation` maps the table
    /// codes of `other`. Both are cut into columns in the same way.
    pub fn append(
        &mut self,
        other: &Values,
        translation: Option<&[u8; 256]>,
        profile: &mut Profile,
    ) {
        match (&mut self.codes, &other.codes, translation) {
            (Codes::Ones(len), Codes::Ones(more), _) => *len += more,
            (Codes::Table8(codes), Codes::Table8(more), Some(translation)) => {
                let start = codes.len();
                codes.extend_from_slice(more);
                translate(&mut codes[start..], translation);
            }
            (Codes::Int32(codes), Codes::Int32(more), _) => {
                let start = codes.len();
                codes.extend_from_slice(more);
                rescale(&mut codes[start..], &other.tens, &self.tens);
            }
            (Codes::F32(codes), Codes::F32(more), _) => codes.extend_from_slice(more),
            (Codes::F64(codes), Codes::F64(more), _) => codes.extend_from_slice(more),
            _ => self.recode(other, profile),
        }
    }

    /// Appends `other` from another encoding, value by value.
    fn recode(&mut self, other: &Values, profile: &mut Profile) {
        const AT_ONCE: usize = 1024;
        // A run of dense rows has its columns in step with the divisors.
        let run = if self.tens.len() > 1 { self.tens.len() } else { AT_ONCE };
        let mut scratch = Vec::new();
        let mut start = 0;
        while start < other.len() {
            let end = (start + run).min(other.len());
            self.push_all(other.load(start..end, &mut scratch), profile);
            start = end;
        }
    }

    /// Appends values, which the encoding must hold exactly: any of sparse rows, a whole dense one.
    pub(super) fn push_all(&mut self, values: &[f64], profile: &mut Profile) {
        match &mut self.codes {
            Codes::Ones(len) => *len += values.len(),
            Codes::Table8(codes) => codes.extend(values.iter().map(|&v| code_of(v, profile))),
            Codes::Int32(codes) => {
                if let [ten] = self.tens[..] {
                    codes.extend(values.iter().map(|&value| integer_code(value, ten)));
                } else {
                    let pairs = values.iter().zip(&self.tens);
                    codes.extend(pairs.map(|(&value, &ten)| integer_code(value, ten)));
                }
            }
            Codes::F32(codes) => codes.extend(values.iter().map(|&value| value as f32)),
            Codes::F64(codes) => codes.extend_from_slice(values),
        }
    }

    /// Makes room for `more` values in one go.
    pub fn reserve(&mut self, more: usize) {
        match &mut self.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => codes.reserve(more),
            Codes::Int32(codes) => codes.reserve(more),
            Codes::F32(codes) => codes.reserve(more),
            Codes::F64(codes) => codes.reserve(more),
        }
    }

    /// Makes room for so many times the values that there are, as [`Buffer::expect`] does.
    pub(crate) fn expect(&mut self, times: f64) {
        match &mut self.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => codes.expect(times),
            Codes::Int32(codes) => codes.expect(times),
            Codes::F32(codes) => codes.expect(times),
            Codes::F64(codes) => codes.expect(times),
        }
    }

    /// Grows with zeros or cuts; memory of a long cut goes back to the system.
    pub fn resize(&mut self, len: usize) {
        match &mut self.codes {
            Codes::Ones(n) => *n = len,
            Codes::Table8(codes) => codes.resize(len),
            Codes::Int32(codes) => codes.resize(len),
            Codes::F32(codes) => codes.resize(len),
            Codes::F64(codes) => codes.resize(len),
        }
    }

    /// Gives back spare capacity.
    pub fn trim(&mut self) {
        match &mut self.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => codes.shrink_to_fit(),
            Codes::Int32(codes) => codes.shrink_to_fit(),
            Codes::F32(codes) => codes.shrink_to_fit(),
            Codes::F64(codes) => codes.shrink_to_fit(),
        }
    }

    /// Moves rows of `old` columns to rows of `new` ≥ `old` columns, in place, last row first.
    pub fn restride(&mut self, rows: usize, old: usize, new: usize) {
        fn spread<T: Plain>(codes: &mut Buffer<T>, rows: usize, old: usize, new: usize) {
            codes.resize(rows * new);
            let codes = &mut codes[..];
            for row in (0..rows).rev() {
                codes.copy_within(row * old..row * old + old, row * new);
                codes[row * new + old..(row + 1) * new].fill(T::ZERO);
            }
        }
        match &mut self.codes {
            Codes::Ones(_) => {}
            Codes::Table8(codes) => spread(codes, rows, old, new),
            Codes::Int32(codes) => spread(codes, rows, old, new),
            Codes::F32(codes) => spread(codes, rows, old, new),
            Codes::F64(codes) => spread(codes, rows, old, new),
        }
        if self.tens.len() == old {
            self.tens.resize(new, 1.0);
            self.ten = the_only_one(&self.tens);
        }
    }
}

/// Whether a number is below 0: many at once, with an end after some thousands.
fn any_negative<T: PartialOrd + Default + Copy>(codes: &[T]) -> bool {
    let in_piece =
        |piece: &[T]| piece.iter().fold(false, |found, code| found | (*code < T::default()));
    codes.chunks(1 << 12).any(in_piece)
}

/// Replaces table codes. Zeros stay zeros, and tables may be mostly zeros, which go by in runs.
fn translate(codes: &mut [u8], translation: &[u8; 256]) {
    let translate = |code: &mut u8| *code = translation[usize::from(*code)];
    let (runs, rest) = codes.as_chunks_mut::<8>();
    for run in runs {
        if *run != [0; 8] {
            run.iter_mut().for_each(translate);
        }
    }
    rest.iter_mut().for_each(translate);
}

fn code_of(value: f64, profile: &mut Profile) -> u8 {
    if value == 0.0 {
        return 0;
    }
    // The profile has seen the value, so it is in the table.
    profile.distinct.as_mut().and_then(|distinct| distinct.insert(value)).unwrap_or(0)
}

/// The integer m with m / tens = value; exact because the value is the binary64 of that decimal. Near
/// 1.5 · 2^52 the last bit of a binary64 counts ones, so the sum rounds and its low half is m.
#[inline(always)]
pub(crate) fn integer_code(value: f64, tens: f64) -> i32 {
    (value * tens + 6_755_399_441_055_744.0).to_bits() as i32
}

fn rescale(codes: &mut [i32], old: &[f64], new: &[f64]) {
    if old == new {
        return;
    }
    let factor: Vec<i32> =
        old.iter().zip(new).map(|(old, new)| (new / old).round() as i32).collect();
    for row in codes.chunks_mut(factor.len()) {
        row.iter_mut().zip(&factor).for_each(|(code, factor)| *code *= factor);
    }
}
