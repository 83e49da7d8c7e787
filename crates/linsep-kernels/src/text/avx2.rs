//! Text in vectors of AVX2: 32 bytes, or four words. Sums of neighbours are one instruction there.

use super::{
    BEYOND_ASCII, Findings, MOST, NUL, ONES, QUOTE, SPAN, Scratch, fetch_numbers, fetch_pairs, rise,
};
use std::arch::x86_64::*;

/// Words in a vector.
const LANES: usize = 4;

#[target_feature(enable = "avx2")]
pub(super) fn find_marks(
    blocks: &[[u8; SPAN]],
    marks: [u8; 2],
    words: &mut [u64],
    lines: &mut [u64],
) -> u8 {
    let all = |byte: u8| _mm256_set1_epi8(byte as i8);
    let (first, second, end) = (all(marks[0]), all(marks[1]), all(b'\n'));
    let (quote, nul) = (all(b'"'), _mm256_setzero_si256());
    let (mut quotes, mut nuls, mut high) = (nul, nul, nul);
    for ((block, word), line) in blocks.iter().zip(words).zip(lines) {
        let (mut marked, mut ended) = (0, 0);
        for half in 0..2 {
            // SAFETY: 32 bytes at 0 and at 32 of a block of 64, at any alignment.
            let bytes = unsafe { _mm256_loadu_si256(block.as_ptr().add(32 * half).cast()) };
            let ends = _mm256_cmpeq_epi8(bytes, end);
            let either =
                _mm256_or_si256(_mm256_cmpeq_epi8(bytes, first), _mm256_cmpeq_epi8(bytes, second));
            let hits = _mm256_or_si256(either, ends);
            marked |= u64::from(_mm256_movemask_epi8(hits) as u32) << (32 * half);
            ended |= u64::from(_mm256_movemask_epi8(ends) as u32) << (32 * half);
            quotes = _mm256_or_si256(quotes, _mm256_cmpeq_epi8(bytes, quote));
            nuls = _mm256_or_si256(nuls, _mm256_cmpeq_epi8(bytes, nul));
            high = _mm256_or_si256(high, bytes);
        }
        (*word, *line) = (marked, ended);
    }
    let any = |bytes| u8::from(_mm256_movemask_epi8(bytes) != 0);
    (any(quotes) * QUOTE) | (any(nuls) * NUL) | (any(high) * BEYOND_ASCII)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn list(words: &[u64], lines: &[u64], places: &mut [u32], ends: &mut Vec<u32>) -> usize {
    super::list(words, lines, places, ends)
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn numbers(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> Findings {
    match fetch_numbers(text, marks, scratch) {
        true => decode(scratch, marks.len() - 1),
        false => Findings::WRONG,
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) fn pairs(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> Findings {
    let count = marks.len() / 2;
    if !fetch_pairs(text, marks, scratch) {
        return Findings::WRONG;
    }
    let mut most = _mm256_setzero_si256();
    // What stands behind the last index is not looked at.
    scratch.indices[count..count.next_multiple_of(LANES)].fill(0);
    let low_halves = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    for (indices, columns) in scratch
        .indices
        .as_chunks::<LANES>()
        .0
        .iter()
        .zip(scratch.columns.as_chunks_mut::<LANES>().0)
        .take(count.div_ceil(LANES))
    {
        // SAFETY: four words, and four halves of words, at any alignment.
        unsafe {
            let digits = _mm256_loadu_si256(indices.as_ptr().cast());
            most = _mm256_max_epu8(most, digits);
            let numbers = _mm256_permutevar8x32_epi32(eight_digits(digits), low_halves);
            _mm_storeu_si128(columns.as_mut_ptr().cast(), _mm256_castsi256_si128(numbers));
        }
    }
    match are_digits(most) && rise(&scratch.columns[..count]) {
        true => decode(scratch, count),
        false => Findings::WRONG,
    }
}

/// Eight digits of each word, the first in the lowest byte, as a number.
#[inline]
#[target_feature(enable = "avx2")]
fn eight_digits(digits: __m256i) -> __m256i {
    let pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(0x010a));
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064));
    let high = _mm256_mul_epu32(fours, _mm256_set1_epi64x(10_000));
    _mm256_add_epi64(high, _mm256_srli_epi64::<32>(fours))
}

/// Whether no byte is above 9.
#[inline]
#[target_feature(enable = "avx2")]
fn are_digits(bytes: __m256i) -> bool {
    let most = _mm256_max_epu8(bytes, _mm256_set1_epi8(9));
    _mm256_movemask_epi8(_mm256_cmpeq_epi8(most, _mm256_set1_epi8(9))) == -1
}

#[inline]
#[target_feature(enable = "avx2")]
fn decode(scratch: &mut Scratch, count: usize) -> Findings {
    // Behind the last number stand ones.
    let end = count.next_multiple_of(LANES).min(MOST);
    scratch.words[count..end].fill(1 << 56);
    scratch.minus[count..end].fill(0);
    let nothing = _mm256_setzero_si256();
    let ones = _mm256_set1_epi64x(ONES as i64);
    let all = _mm256_set1_epi8(-1);
    // A binary64 of this exponent has a whole number in its low bits.
    let whole_bits = _mm256_set1_epi64x(0x4330_0000_0000_0000);
    let [mut most, mut points, mut twice] = [nothing; 3];
    let [mut padded, mut zero] = [nothing; 2];
    for at in (0..end).step_by(LANES) {
        // SAFETY: four words each from the lists, which are longer than `end`, at any alignment.
        unsafe {
            let text = _mm256_loadu_si256(scratch.words.as_ptr().add(at).cast());
            let minus = _mm256_loadu_si256(scratch.minus.as_ptr().add(at).cast());
            let point = _mm256_cmpeq_epi8(text, _mm256_set1_epi8(0x1e));
            let one = _mm256_and_si256(point, ones);
            let below = _mm256_add_epi64(one, all);
            let above = _mm256_andnot_si256(_mm256_or_si256(below, point), all);
            let is_whole = _mm256_cmpeq_epi64(point, nothing);
            let before = _mm256_slli_epi64::<8>(_mm256_and_si256(text, below));
            let closed = _mm256_or_si256(before, _mm256_and_si256(text, above));
            let digits = _mm256_blendv_epi8(closed, text, is_whole);
            most = _mm256_max_epu8(most, digits);
            // A point at the very end, or a second one, is not for this way.
            points = _mm256_or_si256(points, point);
            twice = _mm256_or_si256(twice, _mm256_and_si256(one, below));
            let last = _mm256_cmpeq_epi64(_mm256_srli_epi64::<56>(digits), nothing);
            padded = _mm256_or_si256(padded, _mm256_andnot_si256(is_whole, last));
            let whole = eight_digits(digits);
            zero = _mm256_or_si256(zero, _mm256_cmpeq_epi64(whole, nothing));
            let bits = _mm256_castsi256_pd(_mm256_or_si256(whole, whole_bits));
            let value = _mm256_sub_pd(bits, _mm256_castsi256_pd(whole_bits));
            let sign = _mm256_castsi256_pd(_mm256_slli_epi64::<63>(minus));
            // Zero has no sign.
            let value = _mm256_add_pd(_mm256_xor_pd(value, sign), _mm256_setzero_pd());
            _mm256_storeu_pd(scratch.values.as_mut_ptr().add(at), value);
            let places = _mm256_sad_epu8(_mm256_and_si256(above, ones), nothing);
            let narrow =
                _mm256_shuffle_epi8(places, _mm256_set1_epi64x(0x8080_8080_8080_0800u64 as i64));
            let low = _mm256_castsi256_si128(narrow);
            let high = _mm256_extracti128_si256::<1>(narrow);
            let four = _mm_cvtsi128_si32(_mm_unpacklo_epi16(low, high));
            scratch.places.as_mut_ptr().add(at).cast::<i32>().write_unaligned(four);
        }
    }
    let at_end = _mm256_movemask_pd(_mm256_castsi256_pd(points)) != 0;
    let unread = !are_digits(most) || at_end || any_bit(twice);
    if unread {
        return Findings::UNREAD;
    }
    Findings { wrong: false, unread, zero: any_bit(zero), padded: any_bit(padded) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn any_bit(bits: __m256i) -> bool {
    _mm256_testz_si256(bits, bits) == 0
}
