//! A row in version 2 of the digest: short, quick to write, and the same from every storage.
//!
//! A row is the length of its label, the label in UTF-8, the values that are not 0 with columns rising,
//! and a byte 0. A value x is one head byte, the gap before its column if there is one, and a whole
//! number n of L bytes, 1 ≤ L ≤ 8, the lowest byte first:
//!
//! ```text
//! head   bits 0-2  L modulo 8        bit 6  x < 0
//!        bits 3-5  places p          bit 7  columns were passed over: their number follows
//! ```
//!
//! Lengths and gaps are written seven bits at a time, the lowest first, with 128 added to all bytes but
//! the last. n and p follow from |x| alone:
//!
//! - **A short decimal.** Let m be the whole number next to fl(|x| · 10^6), ties to even, where that is
//!   below 2^51. If fl(m / 10^6) = |x|, then m = n · 10^(6 − p) with the least p ≥ 0 for which n is whole.
//!   Whole numbers have p = 0. L is as small as n allows; n ≤ 2^51, so L ≤ 7.
//! - **Any other binary64.** p = 7, and n is the upper L bytes of the 64 bits of |x|: all but the zero
//!   bytes at their low end.
//!
//! **No two tables give the same bytes**, because the table can be read back. The first length says where
//! the label ends. After it stands the 0 that ends the row or a head, which is never 0: L modulo 8 is 0
//! only for L = 8, and then p = 7. The head says whether a gap follows, which ends at its first byte
//! below 128, and how long n is. Then |x| is fl(n · 10^(6 − p) / 10^6) or, for p = 7, has the bits
//! n · 2^(64 − 8 L); bit 6 is the sign, and the gap gives the column. Rows follow each
//! other until the block ends.
//!
//! A pixel of dense rows takes two bytes, a decimal such as 5.1 two, 12.345 three, any binary32 at most
//! six, any binary64 at most nine.

use crate::wide::{packed, widest};

/// The most bytes of an entry: head, gap and number, which is written as eight bytes at first.
const MOST: usize = 1 + 5 + 8;

/// Writes a row: values with their columns, or all values without any columns.
pub(super) fn write_row(label: &str, columns: &[u32], values: &[f64], bytes: &mut Bytes) {
    let (mut room, guesses) = bytes.begun(label, values.len());
    let (mut next, mut codes) = (0, [0; SLOTS]);
    if columns.is_empty() {
        for (part, values) in values.chunks(SLOTS).enumerate() {
            coded(values, guesses, &mut codes);
            room.dense(part * SLOTS, &codes[..values.len()], &mut next, |k| {
                (values[k] != 0.0)
                    .then(|| guesses.corrected(k, guesses.tens[k], values[k], codes[k]))
            });
        }
    } else if values.iter().all(|value| *value == 1.0) {
        room.ones(columns, &mut next);
    } else {
        for (columns, values) in columns.chunks(SLOTS).zip(values.chunks(SLOTS)) {
            let own = guesses.of_columns(columns);
            coded(values, &own, &mut codes);
            room.sparse((columns, values), (&codes, &own.tens), &mut next, guesses);
        }
    }
    let at = room.ended();
    bytes.end(at);
}

/// Writes a row of which value j is the binary64 next to n_j / 10^p with a whole n_j. `heads` has p of each
/// column where a head has it.
///
/// These are the bytes of those values: with m = |n_j| · 10^(6 − p), which is below 2^31 · 10^6 < 2^51, the
/// product fl(|x| · 10^6) is off from m by less than 2^-52 · m < 0.48, so m is the whole number next to it,
/// and fl(m / 10^6) = |x| because it is the same quotient.
pub(super) fn write_decimals(label: &str, numbers: &[i32], heads: &Heads, bytes: &mut Bytes) {
    let (mut room, _) = bytes.begun(label, numbers.len());
    let (mut next, mut codes) = (0, [0; SLOTS]);
    for (part, numbers) in numbers.chunks(SLOTS).enumerate() {
        let heads = heads.from(part * SLOTS);
        coded_decimals(numbers, heads, &mut codes);
        room.dense(part * SLOTS, &codes[..numbers.len()], &mut next, |k| {
            (numbers[k] != 0).then(|| shortened(numbers[k], heads[k]))
        });
    }
    let at = room.ended();
    bytes.end(at);
}

/// 10^p for the places p of decimals.
const TENS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

/// How many columns have a guess of their own, and how many values are coded at once.
const SLOTS: usize = 32;

/// The places of columns, for [`write_decimals`].
#[derive(Clone, Default)]
pub(crate) struct Heads {
    /// 10^p of each column, or one for all of them.
    tens: Vec<f64>,
    /// p of each column where a head has it, or [`SLOTS`] that are the same for all; none if a power is not
    /// among 10^0 to 10^6.
    heads: Vec<u64>,
}

impl Heads {
    /// Gets ready for rows of so many numbers with these powers of ten, one for each column or one for all;
    /// false if they are not of use.
    #[inline]
    pub(crate) fn prepare(&mut self, tens: &[f64], width: usize) -> bool {
        if self.tens != tens {
            let head = |ten: &f64| Some((TENS.iter().position(|one| one == ten)? as u64) << 3);
            self.heads = tens.iter().map(head).collect::<Option<_>>().unwrap_or_default();
            if let [one] = self.heads[..] {
                self.heads = vec![one; SLOTS];
            }
            self.tens = tens.to_vec();
        }
        !self.heads.is_empty() && (tens.len() == 1 || tens.len() == width)
    }

    /// Those of the columns from `first` on.
    #[inline]
    fn from(&self, first: usize) -> &[u64] {
        if self.tens.len() == 1 { &self.heads } else { &self.heads[first..] }
    }
}

/// Codes that are packed together.
const TOGETHER: usize = 8;

/// The code of an entry that is still to be found: see [`coded`].
const UNFIT: u64 = 1;

/// Where codes of values begin: n is at least 1.
const FOUND: u64 = 256;

/// For some decimals that are not 0 n · 256 and the head without L, or less than [`FOUND`] where they are 0
/// or end in more than one zero. Without a branch, so that the compiler works on several at a time.
fn coded_decimals(numbers: &[i32], heads: &[u64], codes: &mut [u64; SLOTS]) {
    widest(
        #[inline(always)]
        || {
            for ((&number, &head), code) in numbers.iter().zip(heads).zip(codes) {
                let number = f64::from(number);
                let (whole, sign) = (number.abs(), number.to_bits() >> 63 << 6);
                let (tenth, _) = rounded(whole * 0.1);
                let (hundredth, _) = rounded(tenth * 0.1);
                let ends = (tenth * 10.0 == whole) & (head != 0);
                let again = ends & (hundredth * 10.0 == tenth);
                let shorter = if ends { tenth } else { whole };
                let (_, n) = rounded(if again { 0.0 } else { shorter });
                let head = head.wrapping_sub(if ends { 8 } else { 0 });
                *code = n << 8 | head | sign;
            }
        },
    );
}

/// What is written of a decimal that is not 0.
#[inline]
fn shortened(number: i32, head: u64) -> Found {
    let n = number.unsigned_abs();
    // Independent of each other, so that none waits for the one before.
    let ends = |ten: u32| u32::from(n.is_multiple_of(ten));
    let zeros = ends(10) + ends(100) + ends(1000) + ends(10_000) + ends(100_000) + ends(1_000_000);
    let zeros = zeros.min(head as u32 >> 3);
    let n = u64::from(n) / 10u64.pow(zeros);
    let length = bytes(n);
    Found { head: (head as u32 - 8 * zeros) | length | u32::from(number < 0) << 6, n, length }
}

/// What is written of a value.
struct Found {
    head: u32,
    n: u64,
    length: u32,
}

/// For each column modulo [`SLOTS`] the most places p that a short decimal in it had, which mostly do for the
/// next one, too. A guess saves time and changes nothing.
#[derive(Clone)]
struct Guesses {
    /// p where a head has it.
    heads: [u64; SLOTS],
    /// 10^p, or 0, which no value fits, before the first one.
    tens: [f64; SLOTS],
}

impl Default for Guesses {
    fn default() -> Guesses {
        Guesses { heads: [0; SLOTS], tens: [0.0; SLOTS] }
    }
}

impl Guesses {
    /// Those of some columns.
    #[inline]
    fn of_columns(&self, columns: &[u32]) -> Guesses {
        let mut own = Guesses::default();
        for ((ten, head), &column) in own.tens.iter_mut().zip(&mut own.heads).zip(columns) {
            let slot = column as usize % SLOTS;
            (*ten, *head) = (self.tens[slot], self.heads[slot]);
        }
        own
    }

    /// What is written of a value that is not 0 where its guess gave no code. `ten` is that guess: the slot may
    /// have another one since, from an earlier value.
    #[inline]
    fn corrected(&mut self, slot: usize, ten: f64, value: f64, code: u64) -> Found {
        let (places, n, length) = if code == UNFIT && ten == 1e6 {
            binary(value.abs())
        } else {
            self.searched(slot, value.abs())
        };
        let head = (length % 8) | (places << 3) | (u32::from(value < 0.0) << 6);
        Found { head, n, length }
    }

    /// [`search`], which the next guess goes by.
    fn searched(&mut self, slot: usize, size: f64) -> (u32, u64, u32) {
        let found = search(size);
        // Where not even the first value is short, one look tells that others are not.
        let places = if self.tens[slot] == 0.0 { found.0.min(6) } else { found.0 };
        if let Some(&ten) = TENS.get(places as usize)
            && ten > self.tens[slot]
        {
            self.heads[slot] = u64::from(places) << 3;
            self.tens[slot] = ten;
        }
        found
    }
}

/// For some values n · 256 and the head without L, or less than [`FOUND`]: [`UNFIT`] where they have more
/// places than guessed, 0 where they are 0 or have two places less. Without a branch, so that the compiler
/// works on several values at a time.
fn coded(values: &[f64], guesses: &Guesses, codes: &mut [u64; SLOTS]) {
    widest(
        #[inline(always)]
        || {
            let guessed = guesses.tens.iter().zip(&guesses.heads);
            for ((value, (&ten, &head)), code) in values.iter().zip(guessed).zip(codes) {
                let size = value.abs();
                let (whole, n) = rounded(size * ten);
                let fits = (size * 1e6 < LIMIT) & (whole / ten == size);
                // A tenth of a multiple of ten is a whole number but for its rounding, and ten times it is exact.
                let (tenth, fewer) = rounded(whole * 0.1);
                let ends = (tenth * 10.0 == whole) & (ten > 1.0);
                let (hundredth, _) = rounded(tenth * 0.1);
                let again = ends & (hundredth * 10.0 == tenth);
                let n = if ends { fewer } else { n };
                let head = if ends { head.wrapping_sub(8) } else { head };
                let found = (n << 8) | head | (value.to_bits() >> 63 << 6);
                let found = if again { 0 } else { found };
                *code = if fits { found } else { UNFIT };
            }
        },
    );
}

/// p, n and L of the size of a value that is not 0, as the module says.
fn search(size: f64) -> (u32, u64, u32) {
    let scaled = size * 1e6;
    if scaled < LIMIT {
        let (whole, m) = rounded(scaled);
        if whole / 1e6 == size {
            // Independent of each other, so that none waits for the one before.
            let ends = |ten: u64| usize::from(m.is_multiple_of(ten));
            let zeros = ends(10) + ends(100) + ends(1000) + ends(10_000) + ends(100_000);
            let places = 6 - zeros - ends(1_000_000);
            // n · 10^-p is m / 10^6, so |x| is as near to it, and the product rounds to n.
            let (_, n) = rounded(size * TENS[places]);
            return (places as u32, n, bytes(n));
        }
    }
    binary(size)
}

/// The same of a value that is no short decimal.
#[inline]
fn binary(size: f64) -> (u32, u64, u32) {
    let bits = size.to_bits();
    let zeros = bits.trailing_zeros() / 8;
    (7, bits >> (8 * zeros), 8 - zeros)
}

/// Where short decimals end: below it, fl(|x| · 10^6) is rounded to a whole number.
const LIMIT: f64 = (1u64 << 51) as f64;

/// The whole number next to a number in 0..2^51, ties to even: from 2^52 on the last bit counts ones.
#[inline(always)]
fn rounded(number: f64) -> (f64, u64) {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52
    let sum = number + SHIFT;
    (sum - SHIFT, sum.to_bits().wrapping_sub(SHIFT.to_bits()))
}

/// The least number of bytes that hold a number.
#[inline]
fn bytes(number: u64) -> u32 {
    (71 - number.leading_zeros()) / 8
}

/// Bytes on their way to the hash.
#[derive(Clone, Default)]
pub(super) struct Bytes {
    bytes: Vec<u8>,
    len: usize,
    guesses: Guesses,
}

impl Bytes {
    /// What was written since it was cleared.
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Takes over what was written into the room up to `at`.
    pub(super) fn end(&mut self, at: usize) {
        self.len = at;
    }

    /// Room for `more` bytes.
    pub(super) fn room(&mut self, more: usize) -> Room<'_> {
        self.room_and_guesses(more).0
    }

    fn room_and_guesses(&mut self, more: usize) -> (Room<'_>, &mut Guesses) {
        if self.bytes.len() < self.len + more {
            self.bytes.resize(self.len + more, 0);
        }
        (Room { bytes: &mut self.bytes, at: self.len }, &mut self.guesses)
    }

    /// Room for a row of so many values at most, its label written.
    fn begun(&mut self, label: &str, values: usize) -> (Room<'_>, &mut Guesses) {
        let (mut room, guesses) = self.room_and_guesses(11 + label.len() + MOST * values);
        room.varint(label.len() as u64);
        room.push(label.as_bytes());
        (room, guesses)
    }
}

/// Where the next bytes go.
pub(super) struct Room<'a> {
    bytes: &'a mut [u8],
    /// Kept here and not behind a reference, so that it stays in a register.
    pub(super) at: usize,
}

impl Room<'_> {
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    /// Ends the row; where the next one begins.
    fn ended(mut self) -> usize {
        self.push(&[0]);
        self.at
    }

    fn varint(&mut self, mut number: u64) {
        while number > 127 {
            self.push(&[number as u8 | 128]);
            number >>= 7;
        }
        self.push(&[number as u8]);
    }

    /// Writes values of the columns from `first` on by their codes; `find` has what is written where there is
    /// none, and nothing for 0. `next` is the column after the last one written.
    #[inline]
    fn dense(
        &mut self,
        first: usize,
        codes: &[u64],
        next: &mut u64,
        mut find: impl FnMut(usize) -> Option<Found>,
    ) {
        let mut k = 0;
        while k < codes.len() {
            if k.is_multiple_of(TOGETHER) && (first + k) as u64 == *next {
                let (entries, length) = packed(&codes[k..], &mut self.bytes[self.at..]);
                (self.at, k, *next) = (self.at + length, k + entries, *next + entries as u64);
            }
            let Some(&code) = codes.get(k) else { break };
            let (column, at) = ((first + k) as u64, k);
            k += 1;
            if code >= FOUND && column == *next {
                // The highest byte of a code is the L-th after its head, which gets L with it.
                let length = u64::from(code.ilog2() / 8);
                self.eight(code | length);
                self.at += length as usize + 1;
            } else if let Some(found) = by_code(code).or_else(|| find(at)) {
                self.entry(&found, column - *next);
            } else {
                continue;
            }
            *next = column + 1;
        }
    }

    /// The same of values of which the columns are listed, with the guesses that their codes were made with.
    #[inline]
    fn sparse(
        &mut self,
        (columns, values): (&[u32], &[f64]),
        (codes, tens): (&[u64; SLOTS], &[f64; SLOTS]),
        next: &mut u64,
        guesses: &mut Guesses,
    ) {
        let coded = codes.iter().zip(tens);
        for ((&value, (&code, &ten)), &column) in values.iter().zip(coded).zip(columns) {
            let slot = column as usize % SLOTS;
            let found = match by_code(code) {
                Some(found) => found,
                None if value == 0.0 => continue,
                None => guesses.corrected(slot, ten, value, code),
            };
            self.entry(&found, u64::from(column) - *next);
            *next = u64::from(column) + 1;
        }
    }

    /// Writes a 1 in each of the columns: levels of categories and words that occur have no other values.
    #[inline]
    fn ones(&mut self, columns: &[u32], next: &mut u64) {
        for &column in columns {
            let gap = u64::from(column) - *next;
            if gap < 128 {
                // The head, the gap if there is one, and the number, of which three bytes count at most.
                let passed = gap != 0;
                let bytes = if passed { 1 << 16 | (gap as u32) << 8 | 128 | 1 } else { 1 << 8 | 1 };
                self.bytes[self.at..self.at + 4].copy_from_slice(&bytes.to_le_bytes());
                self.at += 2 + usize::from(passed);
            } else {
                self.entry(&Found { head: 1, n: 1, length: 1 }, gap);
            }
            *next = u64::from(column) + 1;
        }
    }

    /// Writes a value after `gap` columns that were passed over.
    #[inline(always)]
    fn entry(&mut self, found: &Found, gap: u64) {
        let head = u64::from(found.head);
        if gap == 0 {
            self.eight(head);
            self.at += 1;
        } else if gap < 1 << 21 {
            // Up to three groups of seven bits, without a branch on how many there are.
            let groups = gap & 0x7f | (gap & 0x3f80) << 1 | (gap & 0x1f_c000) << 2;
            let more = u32::from(gap > 0x7f) + u32::from(gap > 0x3fff);
            let marks = 0x8080 & ((1u64 << (8 * more)) - 1);
            self.eight(head | 128 | (groups | marks) << 8);
            self.at += 2 + more as usize;
        } else {
            self.eight(head | 128);
            self.at = long_varint(self.bytes, self.at + 1, gap);
        }
        self.eight(found.n);
        self.at += found.length as usize;
    }

    /// Writes eight bytes, of which as many count as the caller passes over.
    #[inline(always)]
    fn eight(&mut self, number: u64) {
        self.bytes[self.at..self.at + 8].copy_from_slice(&number.to_le_bytes());
    }
}

/// Writes a number and gives back where it ends. The place is no reference, so that it stays in a register.
#[cold]
#[inline(never)]
fn long_varint(bytes: &mut [u8], at: usize, number: u64) -> usize {
    let mut room = Room { bytes, at };
    room.varint(number);
    room.at
}

/// What a code stands for.
#[inline]
fn by_code(code: u64) -> Option<Found> {
    let length = code.checked_ilog2()? / 8;
    (code >= FOUND).then_some(Found { head: code as u32 & 255 | length, n: code >> 8, length })
}

#[cfg(test)]
mod tests;
