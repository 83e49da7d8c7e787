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

/// The most bytes of an entry: head, gap and number, which is written as eight bytes at first.
const MOST: usize = 1 + 5 + 8;

/// Writes a row: values with their columns, or all values without any columns.
pub(super) fn write_row(label: &str, columns: &[u32], values: &[f64], bytes: &mut Bytes) {
    let mut room = bytes.room(11 + label.len() + MOST * values.len());
    room.varint(label.len() as u64);
    room.push(label.as_bytes());
    let mut next = 0;
    for (part, values) in values.chunks(SLOTS).enumerate() {
        let first = part * SLOTS;
        if columns.is_empty() {
            room.entries(|k| (first + k) as u64, values, &mut next);
        } else {
            let columns = &columns[first..first + values.len()];
            room.entries(|k| u64::from(columns[k]), values, &mut next);
        }
    }
    room.push(&[0]);
    let at = room.at;
    bytes.end(at);
}

/// 10^p for the places p of decimals.
const TENS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

/// How many columns have a guess of their own, and how many values are coded at once.
const SLOTS: usize = 32;

/// For each column modulo [`SLOTS`] the most places p that a short decimal in it had, which mostly do for the
/// next one, too. A guess saves time and changes nothing.
#[derive(Clone)]
struct Guesses {
    places: [u8; SLOTS],
    /// 10^p.
    tens: [f64; SLOTS],
}

impl Default for Guesses {
    fn default() -> Guesses {
        Guesses { places: [0; SLOTS], tens: [1.0; SLOTS] }
    }
}

/// The whole numbers that guesses make of some values, and whether |x| is that number over 10^p. Without a
/// branch, so that the compiler works on several values at a time.
fn guessed(values: &[f64], tens: &[f64; SLOTS]) -> ([u64; SLOTS], [bool; SLOTS]) {
    let (mut numbers, mut fits) = ([0; SLOTS], [false; SLOTS]);
    let places = values.iter().zip(tens).zip(numbers.iter_mut().zip(&mut fits));
    for ((value, &ten), (number, fit)) in places {
        let size = value.abs();
        let (whole, n) = rounded(size * ten);
        *number = n;
        *fit = (size * 1e6 < LIMIT) & (whole / ten == size);
    }
    (numbers, fits)
}

/// The same decimal with as few places as will do: its last digit is not 0.
#[inline]
fn shortened(mut places: u32, mut number: u64) -> (u32, u64, u32) {
    while places > 0 && number.is_multiple_of(10) {
        (places, number) = (places - 1, number / 10);
    }
    (places, number, bytes(number))
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
    let bits = size.to_bits();
    let zeros = bits.trailing_zeros() / 8;
    (7, bits >> (8 * zeros), 8 - zeros)
}

/// Where short decimals end: below it, fl(|x| · 10^6) is rounded to a whole number.
const LIMIT: f64 = (1u64 << 51) as f64;

/// The whole number next to a number in 0..2^51, ties to even: from 2^52 on the last bit counts ones.
#[inline]
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
        if self.bytes.len() < self.len + more {
            self.bytes.resize(self.len + more, 0);
        }
        Room { bytes: &mut self.bytes, at: self.len, guesses: &mut self.guesses }
    }
}

/// Where the next bytes go.
pub(super) struct Room<'a> {
    bytes: &'a mut [u8],
    /// Kept here and not behind a reference, so that it stays in a register.
    pub(super) at: usize,
    guesses: &'a mut Guesses,
}

impl Room<'_> {
    #[inline]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    fn varint(&mut self, mut number: u64) {
        while number > 127 {
            self.push(&[number as u8 | 128]);
            number >>= 7;
        }
        self.push(&[number as u8]);
    }

    /// Writes the values of some columns that are not 0; `next` is the column after the last one written.
    #[inline]
    fn entries(&mut self, column: impl Fn(usize) -> u64, values: &[f64], next: &mut u64) {
        let slot = |k: usize| column(k) as usize % SLOTS;
        let tens: [f64; SLOTS] =
            std::array::from_fn(
                |k| if k < values.len() { self.guesses.tens[slot(k)] } else { 1.0 },
            );
        let (numbers, fits) = guessed(values, &tens);
        for (k, &value) in values.iter().enumerate() {
            if value == 0.0 {
                continue;
            }
            let (places, number, length) = if fits[k] {
                shortened(u32::from(self.guesses.places[slot(k)]), numbers[k])
            } else {
                let found = search(value.abs());
                if let Some(&ten) = TENS.get(found.0 as usize) {
                    self.guesses.places[slot(k)] = found.0 as u8;
                    self.guesses.tens[slot(k)] = ten;
                }
                found
            };
            let head = (length % 8) | (places << 3) | (u32::from(value < 0.0) << 6);
            let gap = column(k) - *next;
            *next = column(k) + 1;
            if gap == 0 {
                self.bytes[self.at] = head as u8;
                self.at += 1;
            } else {
                self.push(&[head as u8 | 128]);
                self.varint(gap);
            }
            self.bytes[self.at..self.at + 8].copy_from_slice(&number.to_le_bytes());
            self.at += length as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows that bytes stand for, by the words of the module.
    fn read_back(mut bytes: &[u8]) -> Vec<(String, Vec<(u64, f64)>)> {
        fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
            let (taken, rest) = bytes.split_at(count);
            *bytes = rest;
            taken
        }
        fn varint(bytes: &mut &[u8]) -> u64 {
            let (mut number, mut shift) = (0, 0);
            loop {
                let byte = take(bytes, 1)[0];
                number |= u64::from(byte & 127) << shift;
                if byte < 128 {
                    return number;
                }
                shift += 7;
            }
        }
        let mut rows = Vec::new();
        while !bytes.is_empty() {
            let length = varint(&mut bytes) as usize;
            let label = String::from_utf8(take(&mut bytes, length).to_vec()).unwrap();
            let (mut entries, mut column) = (Vec::new(), 0);
            loop {
                let head = take(&mut bytes, 1)[0];
                if head == 0 {
                    break;
                }
                column += if head & 128 != 0 { varint(&mut bytes) } else { 0 };
                let length = if head & 7 == 0 { 8 } else { usize::from(head & 7) };
                let mut eight = [0; 8];
                eight[..length].copy_from_slice(take(&mut bytes, length));
                let (n, places) = (u64::from_le_bytes(eight), u32::from(head >> 3 & 7));
                let size = match places {
                    7 => f64::from_bits(n << (8 * (8 - length))),
                    _ => (n * 10u64.pow(6 - places)) as f64 / 1e6,
                };
                entries.push((column, if head & 64 != 0 { -size } else { size }));
                column += 1;
            }
            rows.push((label, entries));
        }
        rows
    }

    /// Values of every kind: whole, decimal, binary32, any bits, and neighbours of each of them.
    fn values() -> Vec<f64> {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state ^ state >> 29
        };
        let mut values = vec![1.0, 255.0, 256.0, 0.1, 5.1, 1e-6, 1e-7, 5e-324, f64::MAX, 2.5e-308];
        values.extend([2147483647.0, 2251799813.685247, 2251799813.6852474, 2251799814.0, 1e15]);
        for _ in 0..20_000 {
            let (a, b) = (next(), next());
            values.push((a % 100_000) as f64 / 10f64.powi((b % 9) as i32));
            values.push((a >> (b % 60)) as f64);
            values.push(f64::from(f32::from_bits(a as u32 & 0x7f7f_ffff)));
            values.push(f64::from_bits(a & 0x7fef_ffff_ffff_ffff));
        }
        let near = values.iter().flat_map(|x| [*x, x.next_up(), x.next_down()]);
        let both = near.flat_map(|x| [x, -x]);
        both.filter(|x| *x != 0.0 && x.is_finite()).collect()
    }

    #[test]
    fn bytes_are_read_back_as_the_rows_they_stand_for() {
        let values = values();
        let mut bytes = Bytes::default();
        write_row("dense", &[], &values, &mut bytes);
        let gaps = [0, 1, 127, 128, 20_000, u32::MAX];
        write_row(&"λ".repeat(100), &gaps, &values[..6], &mut bytes);
        write_row("", &[], &[0.0, 0.0, -3.0, 0.0], &mut bytes);
        write_row("none", &[], &[], &mut bytes);
        let rows = read_back(bytes.written());
        assert_eq!(rows.len(), 4);
        let dense: Vec<(u64, f64)> = (0..).zip(values.iter().copied()).collect();
        for (found, wanted) in rows[0].1.iter().zip(&dense) {
            assert_eq!((found.0, found.1.to_bits()), (wanted.0, wanted.1.to_bits()), "{wanted:?}");
        }
        let sparse: Vec<(u64, f64)> =
            gaps.iter().map(|&j| u64::from(j)).zip(values.iter().copied()).collect();
        assert_eq!((rows[0].1.len(), &rows[1].1), (dense.len(), &sparse));
        assert_eq!(rows[1].0, "λ".repeat(100));
        assert_eq!(rows[2], (String::new(), vec![(2, -3.0)]));
        assert_eq!(rows[3], ("none".to_owned(), Vec::new()));
    }

    #[test]
    fn the_code_of_a_value_is_that_of_its_definition() {
        for value in values() {
            let size = value.abs();
            let m = (size * 1e6).round_ties_even();
            let expected = if size * 1e6 < (1u64 << 51) as f64 && m / 1e6 == size {
                let (mut n, mut places) = (m as u64, 6);
                while places > 0 && n.is_multiple_of(10) {
                    (n, places) = (n / 10, places - 1);
                }
                (places, n, (1..).find(|&length| n >> (8 * length) == 0).unwrap())
            } else {
                let (mut n, mut length) = (size.to_bits(), 8);
                while n.is_multiple_of(256) {
                    (n, length) = (n >> 8, length - 1);
                }
                (7, n, length)
            };
            assert_eq!(search(size), expected, "{value:?}");
            for (places, ten) in (0..).zip(TENS) {
                let (numbers, fits) = guessed(&[value], &[ten; SLOTS]);
                assert_eq!(fits[0], places >= expected.0, "{value:?} with {places}");
                assert!(!fits[0] || shortened(places, numbers[0]) == expected, "{value:?}");
            }
        }
    }

    #[test]
    fn common_values_are_short() {
        let length = |value: f64| {
            let mut bytes = Bytes::default();
            write_row("", &[], &[value], &mut bytes);
            bytes.written().len() - 2
        };
        let cases = [(1.0, 2), (255.0, 2), (-256.0, 3), (5.1, 2), (12.345, 3), (0.000_001, 2)];
        for (value, expected) in cases.into_iter().chain([(0.1f64.sqrt(), 9)]) {
            assert_eq!(length(value), expected, "{value}");
        }
        assert!(values().iter().all(|value| length(*value) <= 9));
        assert!(length(f64::from(0.3f32)) <= 6);
    }
}
