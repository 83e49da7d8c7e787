//! Text in bulk: where its marks stand, and the numbers between them, many at a time.
//!
//! A parser that reads number after number waits for each: where one ends decides where the next begins,
//! and every digit for the one before. Here all ends are known beforehand ([`find_marks`],
//! [`list_marks`]). A first loop fetches the characters of each number as one word, a second works on the
//! words alone, without branches, so that the compiler makes it wide:
//!
//! - characters less `0` each, moved to the top of the word, and 0 in front of them;
//! - the byte of the point is found as the zero byte of the word ⊕ points, and what stands before it moves
//!   up by one byte;
//! - eight digits become an integer by sums of neighbours: d₀·10 + d₁, then by hundreds.
//!
//! A sign and one zero in front of the number are left out beforehand, so a word holds all that most files
//! write: `-0.1234567`. What does not fit is listed for the caller, who reads it in another way.

use crate::number::tiny_whole;

/// Bytes of text that one word of marks covers.
pub const SPAN: usize = 64;

/// A text has a double quote.
pub const QUOTE: u8 = 1;
/// A text has a NUL byte.
pub const NUL: u8 = 2;
/// A text has a byte beyond ASCII.
pub const BEYOND_ASCII: u8 = 0x80;

/// So many bytes have to follow the last mark of a run.
pub const BEHIND: usize = 16;

/// Numbers that are read at a time; runs may be shorter.
pub const MOST: usize = 128;

/// Where numbers are put together; it serves run after run.
#[derive(Clone, Debug)]
pub struct Scratch {
    words: [u64; MOST],
    minus: [u64; MOST],
    indices: [u64; MOST],
    columns: [u32; MOST],
    values: [f64; MOST],
    places: [u8; MOST],
    /// The numbers of the last run that were too long.
    pub odd: Vec<u32>,
}

impl Default for Scratch {
    fn default() -> Scratch {
        let none = [0; MOST];
        Scratch {
            words: none,
            minus: none,
            indices: none,
            columns: [0; MOST],
            values: [0.0; MOST],
            places: [0; MOST],
            odd: Vec::new(),
        }
    }
}

impl Findings {
    const WRONG: Findings = Findings { wrong: true, unread: false, zero: false, padded: false };
    const UNREAD: Findings = Findings { wrong: false, unread: true, zero: false, padded: false };
}

/// What the numbers of a run are like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The run is not made of what it should be made of.
    pub wrong: bool,
    /// A text is not a short decimal: no value of the run counts.
    pub unread: bool,
    /// There is a 0.
    pub zero: bool,
    /// There is a decimal with a zero at its end.
    pub padded: bool,
}

#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
#[inline]
fn has_wide() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
}

/// CPUs before those with `vbmi2` lower their clock for long vectors.
#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
#[inline]
fn has_widest() -> bool {
    std::arch::is_x86_feature_detected!("avx512vbmi2")
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && has_wide()
}

/// One bit for each byte that is one of `marks` or ends a line, and in `lines` those that end one; returns
/// what other kinds of bytes there are.
#[inline]
pub fn find_marks(
    blocks: &[[u8; SPAN]],
    marks: [u8; 2],
    words: &mut [u64],
    lines: &mut [u64],
) -> u8 {
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if has_widest() {
        // SAFETY: the CPU has what calling it asks for.
        return unsafe { avx512::find_marks(blocks, marks, words, lines) };
    }
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if has_wide() {
        // SAFETY: the CPU has AVX2.
        return unsafe { avx2::find_marks(blocks, marks, words, lines) };
    }
    find_marks_portable(blocks, marks, words, lines)
}

fn find_marks_portable(
    blocks: &[[u8; SPAN]],
    marks: [u8; 2],
    words: &mut [u64],
    lines: &mut [u64],
) -> u8 {
    let mut seen = 0u8;
    let bits = |block: &[u8; SPAN], is: &dyn Fn(u8) -> bool| {
        block.iter().rev().fold(0, |word, &byte| word << 1 | u64::from(is(byte)))
    };
    for ((block, word), line) in blocks.iter().zip(words).zip(lines) {
        *line = bits(block, &|byte| byte == b'\n');
        *word = *line | bits(block, &|byte| byte == marks[0] || byte == marks[1]);
        for &byte in block {
            let quote = u8::from(byte == b'"') * QUOTE;
            seen |= quote | (u8::from(byte == 0) * NUL) | (byte & BEYOND_ASCII);
        }
    }
    seen
}

/// The places of all marks, and the numbers of those among them that end lines, in rising order. There
/// must be room for 16 places more than there are marks; returns how many there are.
#[inline]
pub fn list_marks(words: &[u64], lines: &[u64], places: &mut [u32], ends: &mut Vec<u32>) -> usize {
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if has_widest() {
        // SAFETY: the CPU has what calling it asks for.
        return unsafe { avx512::list(words, lines, places, ends) };
    }
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if has_wide() {
        // SAFETY: the CPU has what calling it asks for.
        return unsafe { avx2::list(words, lines, places, ends) };
    }
    list(words, lines, places, ends)
}

/// Reads `index:value index:value …` between marks: a blank, a colon, a blank, and so on, up to
/// [`MOST`] pairs, one for each of `columns`. The text goes on [`BEHIND`] bytes behind the last mark.
/// Indices have one to eight digits and rise. A value is `values` / 10^`places`; those that are too long
/// for this are listed in the scratch.
#[inline]
pub fn read_pairs(
    text: &[u8],
    marks: &[u32],
    columns: &mut [u32],
    values: &mut [f64],
    places: &mut [u8],
    scratch: &mut Scratch,
) -> Findings {
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if has_widest() {
        // SAFETY: the CPU has what calling it asks for.
        return unsafe { avx512::pairs(text, marks, columns, values, places, &mut scratch.odd) };
    }
    let count = columns.len();
    let found = if marks.len() != 2 * count + 1 {
        Findings::WRONG
    } else {
        #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
        if has_wide() {
            // SAFETY: the CPU has what calling it asks for.
            unsafe { avx2::pairs(text, marks, scratch) }
        } else {
            pairs(text, marks, scratch)
        }
        #[cfg(not(all(target_arch = "x86_64", not(linsep_portable))))]
        pairs(text, marks, scratch)
    };
    if !found.wrong {
        columns.copy_from_slice(&scratch.columns[..count]);
        values.copy_from_slice(&scratch.values[..count]);
        places.copy_from_slice(&scratch.places[..count]);
    }
    found
}

/// Reads numbers between marks, one for each of `values`, up to [`MOST`]. The text goes on [`BEHIND`]
/// bytes behind the last mark. A number is `values` / 10^`places`; those that are too long for this are
/// listed in the scratch.
#[inline]
pub fn read_numbers(
    text: &[u8],
    marks: &[u32],
    values: &mut [f64],
    places: &mut [u8],
    scratch: &mut Scratch,
) -> Findings {
    let count = values.len();
    if let Some(zero) = read_tiny(text, marks, values) {
        scratch.odd.clear();
        places.fill(0);
        return Findings { zero, ..Findings::default() };
    }
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if has_widest() {
        // SAFETY: the CPU has what calling it asks for.
        return unsafe { avx512::numbers(text, marks, values, places, &mut scratch.odd) };
    }
    let found = if marks.len() != count + 1 {
        Findings::WRONG
    } else {
        #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
        if has_wide() {
            // SAFETY: the CPU has what calling it asks for.
            unsafe { avx2::numbers(text, marks, scratch) }
        } else {
            numbers(text, marks, scratch)
        }
        #[cfg(not(all(target_arch = "x86_64", not(linsep_portable))))]
        numbers(text, marks, scratch)
    };
    if !found.wrong {
        values.copy_from_slice(&scratch.values[..count]);
        places.copy_from_slice(&scratch.places[..count]);
    }
    found
}

/// Reads numbers of one to four digits, one by one, which takes less than half of the work; says whether
/// there is a 0. `None` where others are among them.
#[inline]
fn read_tiny(text: &[u8], marks: &[u32], values: &mut [f64]) -> Option<bool> {
    if marks.len() != values.len() + 1 {
        return None;
    }
    let mut zero = false;
    for (value, ends) in values.iter_mut().zip(marks.windows(2)) {
        let start = ends[0] as usize + 1;
        let len = (ends[1] as usize).wrapping_sub(start);
        let number = tiny_whole(text.get(start..)?.first_chunk()?, len)?;
        *value = f64::from(number);
        zero |= number == 0;
    }
    Some(zero)
}

#[inline(always)]
fn list(words: &[u64], lines: &[u64], places: &mut [u32], ends: &mut Vec<u32>) -> usize {
    const AT_ONCE: usize = 8;
    let mut count = 0;
    for (k, (&word, &line)) in words.iter().zip(lines).enumerate() {
        let base = (k * SPAN) as u32;
        list_ends(word, line, count, ends);
        let mut rest = word;
        let mut at = count;
        count += word.count_ones() as usize;
        // Some too many are written and written over again.
        while at < count {
            let Some(room) = places[at..].first_chunk_mut::<AT_ONCE>() else { break };
            for place in room {
                *place = base + rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
            }
            at += AT_ONCE;
        }
    }
    count
}

/// Lists which of the marks in `word`, before which there are `count`, end lines.
#[inline(always)]
fn list_ends(word: u64, mut line: u64, count: usize, ends: &mut Vec<u32>) {
    while line != 0 {
        let before = word & (line & line.wrapping_neg()).wrapping_sub(1);
        ends.push(count as u32 + before.count_ones());
        line &= line - 1;
    }
}

const ZEROS: u64 = 0x3030_3030_3030_3030;
const TOPS: u64 = 0x8080_8080_8080_8080;
/// `0.`, of which the 0 is left out.
const LEADING: u16 = u16::from_le_bytes(*b"0.");
const ONES: u64 = 0x0101_0101_0101_0101;

/// Eight bytes at `at`.
///
/// # Safety
/// They must be within the text.
#[inline(always)]
unsafe fn word_at(text: &[u8], at: usize) -> u64 {
    // SAFETY: the caller's.
    u64::from_le_bytes(unsafe { text.as_ptr().add(at).cast::<[u8; 8]>().read() })
}

/// The first `len` characters of a word less `0` each, moved to the top, and 0 in front of them.
#[inline(always)]
fn aligned(word: u64, len: usize) -> u64 {
    (word ^ ZEROS) << (len.wrapping_neg().wrapping_mul(8) & 63)
}

/// Fetches the number between two marks. Those that are too long are listed.
///
/// # Safety
/// The text goes on [`BEHIND`] bytes behind `before` and `end`.
#[inline(always)]
unsafe fn fetch(text: &[u8], before: u32, end: u32, k: usize, out: &mut Scratch) {
    let start = before as usize + 1;
    // SAFETY: at most three bytes and a word behind a mark.
    let byte = |at: usize| unsafe { *text.get_unchecked(at) };
    let minus = usize::from(byte(start) == b'-');
    let start = start + minus;
    let long = (end as usize).wrapping_sub(start);
    let zero = usize::from(u16::from_le_bytes([byte(start), byte(start + 1)]) == LEADING);
    let (start, len) = (start + zero, long.wrapping_sub(zero));
    // SAFETY: as above.
    let word = unsafe { word_at(text, start) };
    out.words[k] = aligned(word, len);
    out.minus[k] = minus as u64;
    if len.wrapping_sub(1) >= 8 {
        out.words[k] = 0;
        out.odd.push(k as u32);
    }
}

/// Eight digits, the first in the lowest byte, as a number: only products of short factors, which every
/// CPU has in wide form.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    (pairs & 0xff) * 1_000_000
        + (pairs >> 16 & 0xff) * 10_000
        + (pairs >> 32 & 0xff) * 100
        + (pairs >> 48 & 0xff)
}

/// Has top bits where a byte is above 9. A carry out of a byte spoils only bytes above one that is refused.
#[inline(always)]
fn no_digits(bytes: u64) -> u64 {
    (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & TOPS
}

/// Words of characters to numbers.
fn decode(scratch: &mut Scratch, count: usize) -> Findings {
    const LOW: u64 = !TOPS;
    let (mut bad, mut found) = (0, Findings::default());
    for k in 0..count {
        let text = scratch.words[k];
        let other = text ^ 0x1e1e_1e1e_1e1e_1e1e;
        let point = !(((other & LOW) + LOW) | other | LOW);
        // A point at the very end, or a second one, is not for this way.
        bad |= point & 1 << 63 | point & point.wrapping_sub(1);
        let below = (point >> 7).wrapping_sub(1);
        let above = !(below << 8 | 0xff);
        let closed = (text & below) << 8 | (text & above);
        let digits = if point == 0 { text } else { closed };
        bad |= no_digits(digits);
        let whole = eight_digits(digits);
        found.padded |= point != 0 && digits >> 56 == 0;
        found.zero |= whole == 0;
        scratch.places[k] = (above & ONES).count_ones() as u8;
        let value = f64::from(whole as u32);
        scratch.values[k] = if scratch.minus[k] == 0 { value } else { 0.0 - value };
    }
    if bad == 0 { found } else { Findings::UNREAD }
}

/// Fetches what stands between marks; false where the text is too short or the run too long.
#[inline(always)]
fn fetch_numbers(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> bool {
    scratch.odd.clear();
    let count = marks.len() - 1;
    if count > MOST || !is_within(text, marks) {
        return false;
    }
    for k in 0..count {
        // SAFETY: all marks are far enough before the end.
        unsafe { fetch(text, marks[k], marks[k + 1], k, scratch) };
    }
    true
}

/// The same of pairs; false also where the marks are others.
#[inline(always)]
fn fetch_pairs(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> bool {
    scratch.odd.clear();
    let count = marks.len() / 2;
    if count > MOST || !is_within(text, marks) {
        return false;
    }
    let mut faults = 0;
    for (k, marks) in marks.windows(3).step_by(2).enumerate() {
        let [blank, colon, end] = [marks[0], marks[1], marks[2]];
        let start = blank as usize + 1;
        let len = (colon as usize).wrapping_sub(start);
        // SAFETY: all marks are far enough before the end.
        unsafe {
            let parts = (text.get_unchecked(blank as usize), text.get_unchecked(colon as usize));
            faults |= usize::from(parts.0 ^ b' ') | usize::from(parts.1 ^ b':');
            scratch.indices[k] = aligned(word_at(text, start), len);
            fetch(text, colon, end, k, scratch);
        }
        faults |= len.wrapping_sub(1) & !7;
    }
    faults == 0
}

#[inline(always)]
fn rise(columns: &[u32]) -> bool {
    let falls = |two: &[u32]| u8::from(two[1] as i32 <= two[0] as i32);
    columns.windows(2).fold(0, |any, two| any | falls(two)) == 0
}

fn numbers(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> Findings {
    match fetch_numbers(text, marks, scratch) {
        true => decode(scratch, marks.len() - 1),
        false => Findings::WRONG,
    }
}

fn pairs(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> Findings {
    let count = marks.len() / 2;
    if !fetch_pairs(text, marks, scratch) {
        return Findings::WRONG;
    }
    let mut bad = 0;
    for (column, index) in scratch.columns[..count].iter_mut().zip(&scratch.indices) {
        bad |= no_digits(*index);
        *column = eight_digits(*index) as u32;
    }
    match bad == 0 && rise(&scratch.columns[..count]) {
        true => decode(scratch, count),
        false => Findings::WRONG,
    }
}

#[inline(always)]
fn is_within(text: &[u8], marks: &[u32]) -> bool {
    let last = marks.iter().fold(0, |last, mark| last.max(*mark));
    last as usize + BEHIND <= text.len()
}

#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
mod avx512;
#[cfg(test)]
mod tests;
