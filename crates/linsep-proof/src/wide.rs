//! The same safe code compiled for the registers of more than one processor.
//!
//! Loops over columns add and multiply many numbers that do not depend on each other. The baseline of x86-64 has
//! registers of two numbers of binary64, a CPU with AVX-512 of eight. [`widest`] runs a closure as it was
//! compiled for the CPU at hand. No product is fused with a sum, and no sum is put in another order, so
//! every CPU gives the same bits.
//!
//! A closure is compiled for each CPU only where it is inlined here, so it says `#[inline(always)]`, and so does what
//! it calls.

#![allow(unsafe_code)]

/// What a closure gives, compiled for this CPU.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    {
        #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw")]
        fn avx512<R>(work: impl FnOnce() -> R) -> R {
            work()
        }

        #[target_feature(enable = "avx2")]
        fn avx2<R>(work: impl FnOnce() -> R) -> R {
            work()
        }

        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vl")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512bw")
        {
            // SAFETY: the CPU has all that calling `avx512` asks for.
            return unsafe { avx512(work) };
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has all that calling `avx2` asks for.
            return unsafe { avx2(work) };
        }
    }
    work()
}

/// Codes are packed in groups of so many.
const GROUP: usize = 8;

/// Writes numbers of which only the bytes up to the highest that is not 0 count, after its place was added to
/// the lowest three bits: as many groups of eight as there are before a number below 256, if this CPU can pack
/// them. How many numbers were written, and how many bytes.
#[inline(always)]
pub(crate) fn packed(codes: &[u64], bytes: &mut [u8]) -> (usize, usize) {
    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
    if codes.len() >= GROUP
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512cd")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512vbmi2")
    {
        // SAFETY: the CPU has all that calling `groups` asks for.
        return unsafe { groups(codes, bytes) };
    }
    let _ = (codes, bytes, GROUP);
    (0, 0)
}

#[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
#[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512vbmi2")]
fn groups(codes: &[u64], bytes: &mut [u8]) -> (usize, usize) {
    use std::arch::x86_64::*;
    let (mut entries, mut at) = (0, 0);
    let (one, least) = (_mm512_set1_epi64(1), _mm512_set1_epi64(256));
    for group in codes.as_chunks::<GROUP>().0 {
        // Room for eight numbers of eight bytes.
        let Some(room) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<64>()) else {
            break;
        };
        // SAFETY: eight numbers are 64 bytes.
        let codes = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        if _mm512_cmplt_epu64_mask(codes, least) != 0 {
            break;
        }
        // The highest byte is the (63 - zeros) / 8-th, and one more counts.
        let zeros = _mm512_lzcnt_epi64(codes);
        let length = _mm512_srli_epi64::<3>(_mm512_sub_epi64(_mm512_set1_epi64(63), zeros));
        let counted = _mm512_sllv_epi64(_mm512_add_epi64(one, one), length);
        let counted = _mm512_cvtepi64_epi8(_mm512_sub_epi64(counted, one));
        let counted = _mm_cvtsi128_si64(counted) as u64;
        let packed = _mm512_maskz_compress_epi8(counted, _mm512_or_si512(codes, length));
        // SAFETY: the room has 64 bytes.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), packed) };
        at += counted.count_ones() as usize;
        entries += GROUP;
    }
    (entries, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_numbers_are_those_of_one_at_a_time() {
        let mut state = 7u64;
        let mut draw = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state >> (state >> 59)
        };
        for count in 0..40 {
            let mut codes: Vec<u64> =
                (0..count).map(|_| (draw() & !7 & (u64::MAX >> 1)).max(256)).collect();
            if count > 20 {
                codes[draw() as usize % 20] = draw() % 256;
            }
            let mut bytes = vec![0xaa; 8 * count];
            let (entries, length) = packed(&codes, &mut bytes);
            let whole = codes.iter().take_while(|code| **code >= 256).count() / GROUP * GROUP;
            assert!(entries == whole || (entries, length) == (0, 0), "{count}");
            let one = |code: &u64| {
                let length = code.ilog2() / 8;
                let bytes = (code | u64::from(length)).to_le_bytes();
                bytes[..length as usize + 1].to_vec()
            };
            let expected: Vec<u8> = codes[..entries].iter().flat_map(one).collect();
            assert_eq!(bytes[..length], expected, "{count}");
        }
    }

    #[test]
    fn every_width_gives_the_same_bits() {
        let values: Vec<f64> = (0..100).map(|k| f64::from(k * 37 % 41) / 7.0 - 2.0).collect();
        let sums = || {
            values.iter().scan(0.1, |sum, x| {
                *sum = *sum * 0.5 + x * x;
                Some(*sum)
            })
        };
        let plain: Vec<u64> = sums().map(f64::to_bits).collect();
        let wide: Vec<u64> = widest(
            #[inline(always)]
            || sums().map(f64::to_bits).collect(),
        );
        assert_eq!(plain, wide);
    }
}
