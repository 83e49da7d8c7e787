//! Text in vectors of AVX-512: 64 bytes, or eight words. Words are gathered from the text, so nothing is put
//! down between the marks and the numbers; the comparisons of bytes are masks, and the marks of 64 bytes
//! become a list by one compression.

use super::{BEYOND_ASCII, Findings, LEADING, NUL, ONES, QUOTE, SPAN, ZEROS, is_within};
use std::arch::x86_64::*;

/// Words in a vector.
const LANES: usize = 8;

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn find_marks(
    blocks: &[[u8; SPAN]],
    marks: [u8; 2],
    words: &mut [u64],
    lines: &mut [u64],
) -> u8 {
    let all = |byte: u8| _mm512_set1_epi8(byte as i8);
    let (first, second, end, quote) = (all(marks[0]), all(marks[1]), all(b'\n'), all(b'"'));
    let (mut least, mut high, mut quotes) = (all(0xff), all(0), 0);
    for ((block, word), line) in blocks.iter().zip(words).zip(lines) {
        // SAFETY: the 64 bytes of a block, at any alignment.
        let bytes = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let ends = _mm512_cmpeq_epi8_mask(bytes, end);
        *line = ends;
        *word = ends | _mm512_cmpeq_epi8_mask(bytes, first) | _mm512_cmpeq_epi8_mask(bytes, second);
        quotes |= _mm512_cmpeq_epi8_mask(bytes, quote);
        least = _mm512_min_epu8(least, bytes);
        high = _mm512_or_si512(high, bytes);
    }
    let nuls = _mm512_testn_epi8_mask(least, least);
    let any = |bits: u64| u8::from(bits != 0);
    (any(quotes) * QUOTE) | (any(nuls) * NUL) | (any(_mm512_movepi8_mask(high)) * BEYOND_ASCII)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn list(words: &[u64], lines: &[u64], places: &mut [u32], ends: &mut Vec<u32>) -> usize {
    const AT_ONCE: usize = 16;
    let numbers: [u8; SPAN] = std::array::from_fn(|k| k as u8);
    // SAFETY: 64 bytes, at any alignment.
    let numbers = unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) };
    let mut count = 0;
    for (k, (&word, &line)) in words.iter().zip(lines).enumerate() {
        super::list_ends(word, line, count, ends);
        let base = _mm512_set1_epi32((k * SPAN) as i32);
        let mut within = _mm512_maskz_compress_epi8(word, numbers);
        let mut at = count;
        count += word.count_ones() as usize;
        // Some too many are written and written over again.
        while at < count {
            let Some(room) = places[at..].first_chunk_mut::<AT_ONCE>() else { break };
            let some = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(within));
            // SAFETY: 16 places, at any alignment.
            unsafe {
                _mm512_storeu_si512(room.as_mut_ptr().cast(), _mm512_add_epi32(base, some));
            }
            within = _mm512_alignr_epi64::<2>(within, within);
            at += AT_ONCE;
        }
    }
    count
}

/// Reads numbers between marks into `values` and `places`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn numbers(
    text: &[u8],
    marks: &[u32],
    values: &mut [f64],
    places: &mut [u8],
    odd: &mut Vec<u32>,
) -> Findings {
    let count = values.len();
    if marks.len() != count + 1 || places.len() != count || !is_within(text, marks) {
        return Findings::WRONG;
    }
    odd.clear();
    let mut run = Run::new(text, values, places, odd);
    for at in (0..count).step_by(LANES) {
        let live = first_lanes(count - at);
        // SAFETY: the live lanes are within the list, and all marks far enough before the end of the text.
        unsafe {
            let marks = marks.as_ptr().add(at).cast();
            let before = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(live, marks));
            let end = _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(live, marks.add(1)));
            run.read(at, live, before, gather(text, live, before), end);
        }
    }
    run.findings()
}

/// Reads pairs between marks into `columns`, `values` and `places`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn pairs(
    text: &[u8],
    marks: &[u32],
    columns: &mut [u32],
    values: &mut [f64],
    places: &mut [u8],
    odd: &mut Vec<u32>,
) -> Findings {
    let count = columns.len();
    let is_room = values.len() == count && places.len() == count;
    if marks.len() != 2 * count + 1 || !is_room || !is_within(text, marks) {
        return Findings::WRONG;
    }
    odd.clear();
    let mut run = Run::new(text, values, places, odd);
    let mut most = words(0);
    // The index before is in the last lane.
    let mut last = words(u64::MAX);
    let mut faults = 0;
    for at in (0..count).step_by(LANES) {
        let live = first_lanes(count - at);
        // SAFETY: the live lanes are within the lists, and all marks far enough before the end of the text.
        unsafe {
            // Each word has the marks of a pair: that before it, and its colon.
            let marks = marks.as_ptr().add(2 * at);
            let two = _mm512_maskz_loadu_epi64(live, marks.cast());
            let blank = _mm512_and_si512(two, words(u64::from(u32::MAX)));
            let colon = _mm512_srli_epi64::<32>(two);
            let ends = 0x5555 & ((1u32 << (2 * (count - at).min(LANES))) - 1) as u16;
            let end = _mm512_maskz_loadu_epi32(ends, marks.add(2).cast());
            let index = gather(text, live, blank);
            let value = gather(text, live, colon);
            let start = _mm512_add_epi64(blank, words(1));
            let len = _mm512_sub_epi64(colon, start);
            let eight = live & _mm512_cmpeq_epi64_mask(len, words(8));
            let mut digits = _mm512_srli_epi64::<8>(index);
            if eight != 0 {
                digits = gather_some(text, digits, eight, start);
            }
            let digits = aligned(live, digits, len);
            most = _mm512_max_epu8(most, digits);
            let column = eight_digits(digits);
            let before = _mm512_alignr_epi64::<7>(column, last);
            let is_right = starts_with(index, b' ')
                & starts_with(value, b':')
                & fits(len)
                & _mm512_cmpgt_epi64_mask(column, before);
            faults |= live & !is_right;
            last = column;
            let narrow = _mm512_cvtepi64_epi32(column);
            _mm256_mask_storeu_epi32(columns.as_mut_ptr().add(at).cast(), live, narrow);
            run.read(at, live, colon, value, end);
        }
    }
    match faults == 0 && are_digits(most) {
        true => run.findings(),
        false => Findings::WRONG,
    }
}

/// Numbers on their way from words to the lists.
struct Run<'a> {
    text: &'a [u8],
    values: &'a mut [f64],
    places: &'a mut [u8],
    odd: &'a mut Vec<u32>,
    /// The largest of all digits.
    most: __m512i,
    /// The bytes that were points somewhere, and the words with two of them.
    points: u64,
    twice: __m512i,
    padded: u8,
    zero: u8,
}

impl<'a> Run<'a> {
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn new(
        text: &'a [u8],
        values: &'a mut [f64],
        places: &'a mut [u8],
        odd: &'a mut Vec<u32>,
    ) -> Run<'a> {
        let (most, twice) = (words(0), words(0));
        Run { text, values, places, odd, most, points: 0, twice, padded: 0, zero: 0 }
    }

    /// Reads the numbers between the marks `before` and `end`, of which `behind` has the first and what
    /// follows it.
    ///
    /// # Safety
    /// The live lanes are within the lists from `at` on, and the text goes on 16 bytes behind their marks.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn read(&mut self, at: usize, live: u8, before: __m512i, behind: __m512i, end: __m512i) {
        let one = words(1);
        let minus = starts_with(_mm512_srli_epi64::<8>(behind), b'-');
        let characters = _mm512_srli_epi64::<8>(behind);
        let characters = _mm512_mask_srli_epi64::<8>(characters, minus, characters);
        let leading = _mm512_and_si512(characters, words(0xffff));
        let zero = _mm512_cmpeq_epi64_mask(leading, words(LEADING.into()));
        let characters = _mm512_mask_srli_epi64::<8>(characters, zero, characters);
        let start = _mm512_add_epi64(before, one);
        let start = _mm512_mask_add_epi64(start, minus, start, one);
        let start = _mm512_mask_add_epi64(start, zero, start, one);
        let len = _mm512_sub_epi64(end, start);
        let short = live & fits(len);
        // Where the mark and seven characters are not all, the rest is fetched, too.
        let more = short & _mm512_cmpgt_epi64_mask(end, _mm512_add_epi64(before, words(8)));
        let characters = match more {
            0 => characters,
            // SAFETY: at most three bytes behind the mark.
            _ => unsafe { gather_some(self.text, characters, more, start) },
        };
        let mut long = live & !short;
        while long != 0 {
            self.odd.push(at as u32 + long.trailing_zeros());
            long &= long - 1;
        }
        let (value, places) = self.decode(aligned(short, characters, len), live);
        // Zero has no sign.
        let value = _mm512_mask_sub_pd(value, minus, _mm512_setzero_pd(), value);
        // SAFETY: the caller's.
        unsafe {
            _mm512_mask_storeu_pd(self.values.as_mut_ptr().add(at), live, value);
            let narrow = _mm512_cvtepi64_epi8(places);
            _mm_mask_storeu_epi8(self.places.as_mut_ptr().add(at).cast(), live.into(), narrow);
        }
    }

    /// Words of characters to numbers and places.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
    fn decode(&mut self, text: __m512i, live: u8) -> (__m512d, __m512i) {
        let ones = words(ONES);
        let point = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8(0x1e));
        let one = _mm512_maskz_mov_epi8(point, ones);
        let has_point = _mm512_test_epi64_mask(one, one);
        let below = _mm512_add_epi64(one, words(u64::MAX));
        let before = _mm512_and_si512(text, below);
        let before = _mm512_mask_slli_epi64::<8>(before, has_point, before);
        let above = _mm512_andnot_si512(below, _mm512_maskz_mov_epi8(!point, text));
        let digits = _mm512_or_si512(before, above);
        self.most = _mm512_max_epu8(self.most, digits);
        self.points |= point;
        self.twice = _mm512_or_si512(self.twice, _mm512_and_si512(one, below));
        self.padded |= has_point & _mm512_testn_epi64_mask(digits, words(0xff << 56));
        let whole = eight_digits(digits);
        self.zero |= live & _mm512_testn_epi64_mask(whole, whole);
        let places = _mm512_andnot_si512(below, _mm512_sub_epi64(ones, one));
        (_mm512_cvtepu64_pd(whole), _mm512_sad_epu8(places, words(0)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn findings(&self) -> Findings {
        // A point at the very end, or a second one, is not for this way.
        let at_end = self.points & super::TOPS != 0;
        let twice = _mm512_test_epi64_mask(self.twice, self.twice) != 0;
        match at_end || twice || !are_digits(self.most) {
            true => Findings::UNREAD,
            false => Findings {
                wrong: false,
                unread: false,
                zero: self.zero != 0,
                padded: self.padded != 0,
            },
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

/// The first `count` lanes, or all.
#[inline]
fn first_lanes(count: usize) -> u8 {
    (0xff_u16 >> (LANES - count.min(LANES))) as u8
}

/// Eight bytes of the text from each place on.
///
/// # Safety
/// They must be within the text, for each live lane.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn gather(text: &[u8], live: u8, at: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { gather_some(text, words(0), live, at) }
}

/// The same of some lanes, and what was there of the others.
///
/// # Safety
/// As above.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn gather_some(text: &[u8], other: __m512i, some: u8, at: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe { _mm512_mask_i64gather_epi64::<1>(other, some, at, text.as_ptr().cast()) }
}

/// The lanes whose lowest byte is this.
#[inline]
#[target_feature(enable = "avx512f")]
fn starts_with(bytes: __m512i, byte: u8) -> u8 {
    _mm512_cmpeq_epi64_mask(_mm512_and_si512(bytes, words(0xff)), words(byte.into()))
}

/// The lanes with one to eight characters.
#[inline]
#[target_feature(enable = "avx512f")]
fn fits(len: __m512i) -> u8 {
    _mm512_cmplt_epu64_mask(_mm512_sub_epi64(len, words(1)), words(8))
}

/// The first `len` characters of each of some words less `0` each, moved to the top, and 0 in front of them.
#[inline]
#[target_feature(enable = "avx512f")]
fn aligned(some: u8, characters: __m512i, len: __m512i) -> __m512i {
    let shift = _mm512_sub_epi64(words(64), _mm512_slli_epi64::<3>(len));
    _mm512_maskz_sllv_epi64(some, _mm512_xor_si512(characters, words(ZEROS)), shift)
}

/// Eight digits of each word, the first in the lowest byte, as a number.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn eight_digits(digits: __m512i) -> __m512i {
    let pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010a));
    let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x0001_0064));
    let high = _mm512_mul_epu32(fours, words(10_000));
    _mm512_add_epi64(high, _mm512_srli_epi64::<32>(fours))
}

/// Whether no byte is above 9.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn are_digits(bytes: __m512i) -> bool {
    _mm512_cmpgt_epu8_mask(bytes, _mm512_set1_epi8(9)) == 0
}
