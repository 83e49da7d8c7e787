//! Bytes against the words of the definition.

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
            let mut guesses = Guesses { heads: [places << 3; SLOTS], tens: [ten; SLOTS] };
            let mut codes = [1; SLOTS];
            coded(&[value], &guesses, &mut codes);
            let found = by_code(codes[0]);
            let most = if places == 0 { 1 } else { 2 };
            let zeros = places.wrapping_sub(u64::from(expected.0));
            assert!(found.is_some() || zeros >= most - 1, "{value:?} with {places}");
            let found = found.unwrap_or_else(|| guesses.corrected(3, ten, value, codes[0]));
            assert_eq!((found.head >> 3 & 7, found.n, found.length), expected, "{value:?}");
            assert_eq!(found.head & 7, expected.2 % 8, "{value:?}");
            assert_eq!(found.head & 64 != 0, value < 0.0, "{value:?}");
        }
    }
}

#[test]
fn what_was_written_before_changes_no_byte() {
    // Columns 0, 32, 64, … share a guess, and all of a chunk are coded before the first one is corrected.
    let values = values();
    let columns: Vec<u32> = (0..values.len() as u32).map(|k| 32 * k).collect();
    let mut together = Bytes::default();
    write_row("", &columns, &values, &mut together);
    let mut apart = vec![0];
    for (k, value) in values.iter().enumerate() {
        let mut bytes = Bytes::default();
        // The gap before a column: 31 others, and none before the first.
        write_row("", &[if k == 0 { 0 } else { 31 }], &[*value], &mut bytes);
        let row = bytes.written();
        apart.extend_from_slice(&row[1..row.len() - 1]);
    }
    apart.push(0);
    assert!(together.written() == apart);
}

#[test]
fn rows_of_ones_are_written_like_ones_among_other_values() {
    let gaps = [0, 0, 1, 126, 127, 128, 129, 16_383, 16_384, 2_097_151, 2_097_152, 5];
    let columns: Vec<u32> = gaps
        .iter()
        .scan(0, |next, gap| {
            let column = *next + gap;
            *next = column + 1;
            Some(column)
        })
        .collect();
    let mut values = vec![1.0; columns.len()];
    let (mut ones, mut mixed) = (Bytes::default(), Bytes::default());
    write_row("set", &columns, &values, &mut ones);
    *values.last_mut().unwrap() = -1.0;
    write_row("set", &columns, &values, &mut mixed);
    let (ones, mixed) = (ones.written(), mixed.written());
    let last = ones.len() - 3;
    assert_eq!((ones.len(), &ones[..last - 1]), (mixed.len(), &mixed[..last - 1]));
    assert_eq!(read_back(ones)[0].1.len(), columns.len());
    assert!(read_back(ones)[0].1.iter().zip(&columns).all(|(a, b)| *a == (u64::from(*b), 1.0)));
}

#[test]
fn decimals_are_written_like_the_values_they_stand_for() {
    let wholes = [0, 1, -1, 7, 10, -100, 1000, 1_000_000, 255, -256, 65_536, i32::MAX, i32::MIN];
    let mut numbers: Vec<i32> = (0..40).map(|k| k * 7_654_321).collect();
    wholes.iter().for_each(|n| numbers.extend([0, *n, n.wrapping_add(1), n.wrapping_sub(1)]));
    let mixed: Vec<f64> = (0..numbers.len()).map(|j| TENS[j % 7]).collect();
    let (mut heads, mut by_number, mut by_value) =
        (Heads::default(), Bytes::default(), Bytes::default());
    for tens in TENS.iter().map(std::slice::from_ref).chain([&mixed[..]]) {
        assert!(heads.prepare(tens, numbers.len()));
        let value = |(j, n): (usize, &i32)| f64::from(*n) / tens[j % tens.len()];
        let values: Vec<f64> = numbers.iter().enumerate().map(value).collect();
        write_decimals("λ", &numbers, &heads, &mut by_number);
        write_row("λ", &[], &values, &mut by_value);
        assert!(by_number.written() == by_value.written(), "{tens:?}");
    }
    assert!(!heads.prepare(&[1e7], 3) && !heads.prepare(&[1.0, 10.0], 3));
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
