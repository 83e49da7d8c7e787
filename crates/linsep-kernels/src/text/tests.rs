//! What the kernels of text promise, and that all of them say the same.

use super::*;
use crate::number;
use proptest::prelude::*;

proptest! {
    #[test]
    fn marks_are_found_and_listed(
        text in prop::collection::vec(prop::sample::select(b"0123,;\n:\"\0 \xc3".to_vec()), 0..40),
    ) {
        let text: Vec<u8> = text.iter().copied().cycle().take(128 * usize::from(!text.is_empty())).collect();
        let (blocks, _) = text.as_chunks::<SPAN>();
        let (mut words, mut lines) = (vec![0; blocks.len()], vec![0; blocks.len()]);
        let seen = find_marks(blocks, *b",:", &mut words, &mut lines);
        let (mut words2, mut lines2) = (words.clone(), lines.clone());
        prop_assert_eq!(find_marks_portable(blocks, *b",:", &mut words2, &mut lines2), seen);
        prop_assert_eq!((&words, &lines), (&words2, &lines2));
        prop_assert_eq!(with_avx2::find_marks(blocks, *b",:", &mut words2, &mut lines2), seen);
        prop_assert_eq!((&words, &lines), (&words2, &lines2));
        let mut places = vec![0; text.len() + 16];
        let mut ends = Vec::new();
        let count = list_marks(&words, &lines, &mut places, &mut ends);
        let expected: Vec<u32> =
            (0..text.len()).filter(|&at| b",:\n".contains(&text[at])).map(|at| at as u32).collect();
        prop_assert_eq!(&places[..count], &expected[..]);
        let (mut places2, mut ends2) = (vec![0; text.len() + 16], Vec::new());
        prop_assert_eq!(list(&words, &lines, &mut places2, &mut ends2), count);
        prop_assert_eq!((&places2[..count], &ends2), (&places[..count], &ends));
        let expected: Vec<u32> =
            (0..).zip(&expected).filter(|(_, at)| text[**at as usize] == b'\n').map(|(k, _)| k).collect();
        prop_assert_eq!(ends, expected);
        prop_assert_eq!(seen & QUOTE != 0, text.contains(&b'"'));
        prop_assert_eq!(seen & NUL != 0, text.contains(&0));
        prop_assert_eq!(seen & BEYOND_ASCII != 0, !text.is_ascii());
    }

    #[test]
    fn many_numbers_are_read_like_each_of_them(
        fields in prop::collection::vec("-?[0-9]{0,4}[.]?[0-9]{0,5}|[-+0-9.e]{0,12}", 1..100),
    ) {
        let text = format!(",{},{}", fields.join(","), "0".repeat(BEHIND));
        let marks: Vec<u32> =
            (0..).zip(text.bytes()).filter(|(_, byte)| *byte == b',').map(|(at, _)| at).collect();
        let (mut values, mut places) = (vec![0.0; fields.len()], vec![0; fields.len()]);
        let mut scratch = Scratch::default();
        let found = read_numbers(text.as_bytes(), &marks, &mut values, &mut places, &mut scratch);
        let odd = scratch.odd;
        prop_assert!(!found.wrong);
        let mut plain = Scratch::default();
        prop_assert_eq!(numbers(text.as_bytes(), &marks, &mut plain), found);
        let mut wide = Scratch::default();
        prop_assert_eq!(with_avx2::numbers(text.as_bytes(), &marks, &mut wide), found);
        for other in [&plain, &wide] {
            prop_assert_eq!(&other.odd, &odd);
            if !found.unread {
                let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                prop_assert_eq!(bits(&other.values[..fields.len()]), bits(&values));
                prop_assert_eq!(&other.places[..fields.len()], &places[..]);
            }
        }
        if found.unread {
            let usual = |field: &String| !field.is_empty() && number::parse(field.as_bytes()).is_ok()
                && !field.ends_with('.') && !field.contains(['e', '+']);
            prop_assert!(!fields.iter().all(usual));
            return Ok(());
        }
        let (mut zero, mut padded) = (false, false);
        for (k, field) in fields.iter().enumerate() {
            if odd.contains(&(k as u32)) {
                prop_assert!(field.is_empty() || field == "-" || field.len() > 8);
                zero = true;
                continue;
            }
            let read = number::parse(field.as_bytes());
            prop_assert!(read.is_ok(), "{}", field);
            let read = read.unwrap();
            prop_assert_eq!((read.value + 0.0).to_bits(), (values[k] / number::power_of_ten(places[k]) + 0.0).to_bits());
            prop_assert!(values[k] != 0.0 || values[k].is_sign_positive());
            zero |= values[k] == 0.0;
            padded |= read.places != places[k];
        }
        prop_assert_eq!(found.zero, zero);
        prop_assert!(found.padded || !padded);
    }

    #[test]
    fn pairs_are_indices_and_numbers(
        pairs in prop::collection::vec((1u32..780_000, "-?[0-9]{1,3}[.]?[0-9]{1,4}"), 1..=MOST),
        damage in 0usize..400, byte in prop::sample::select(b":x \n".to_vec()),
    ) {
        let mut index = 0;
        let mut text = Vec::new();
        let mut expected = Vec::new();
        for (step, value) in &pairs {
            index += step;
            text.extend_from_slice(format!(" {index}:{value}").as_bytes());
            expected.push(index);
        }
        text.push(b'\n');
        let whole = damage >= text.len();
        if !whole {
            text[damage] = byte;
        }
        let marks: Vec<u32> =
            (0..).zip(&text).filter(|(_, byte)| b" :\n".contains(byte)).map(|(at, _)| at).collect();
        text.extend_from_slice(&[b'0'; BEHIND]);
        let count = pairs.len();
        let (mut columns, mut values, mut places) = (vec![0; count], vec![0.0; count], vec![0; count]);
        let mut scratch = Scratch::default();
        let found = read_pairs(&text, &marks, &mut columns, &mut values, &mut places, &mut scratch);
        let odd = scratch.odd;
        prop_assert!(!whole || !found.wrong && !found.unread && odd.is_empty());
        let mut plain = Scratch::default();
        if marks.len() == 2 * count + 1 {
            prop_assert_eq!(super::pairs(&text, &marks, &mut plain), found);
            prop_assert!(found.wrong || plain.columns[..count] == columns);
            let mut wide = Scratch::default();
            prop_assert_eq!(with_avx2::pairs(&text, &marks, &mut wide), found);
            prop_assert!(found.wrong || wide.columns[..count] == columns);
            for other in [&plain, &wide] {
                prop_assert!(found.wrong || other.odd == odd);
                if !found.wrong && !found.unread {
                    prop_assert_eq!(&other.values[..count], &values[..]);
                    prop_assert_eq!(&other.places[..count], &places[..]);
                }
            }
        }
        if whole {
            prop_assert_eq!(columns, expected);
            for ((_, text), (value, places)) in pairs.iter().zip(values.iter().zip(places)) {
                let read = number::parse(text.as_bytes()).unwrap().value;
                prop_assert_eq!(read, value / number::power_of_ten(places));
            }
        }
    }
}

/// The kernels of AVX2, which a CPU with longer vectors would not choose, or the plain ones without it.
mod with_avx2 {
    use super::super::*;

    macro_rules! either {
        ($(fn $name:ident($($arg:ident: $type:ty),*) -> $out:ty, else $plain:ident;)*) => {
            $(
                pub(super) fn $name($($arg: $type),*) -> $out {
                    #[cfg(all(target_arch = "x86_64", not(linsep_portable)))]
                    if has_wide() {
                        // SAFETY: the CPU has what calling it asks for.
                        return unsafe { avx2::$name($($arg),*) };
                    }
                    $plain($($arg),*)
                }
            )*
        };
    }

    either! {
        fn find_marks(blocks: &[[u8; SPAN]], marks: [u8; 2], words: &mut [u64], lines: &mut [u64])
            -> u8, else find_marks_portable;
        fn numbers(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> Findings, else plain_numbers;
        fn pairs(text: &[u8], marks: &[u32], scratch: &mut Scratch) -> Findings, else plain_pairs;
    }

    use super::super::{numbers as plain_numbers, pairs as plain_pairs};
}
