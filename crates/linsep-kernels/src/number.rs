//! Decimal text to binary64, correctly rounded, with the facts that narrow storage and exact
//! readings need.
//!
//! A number of at most 19 digits is first an integer m and an exponent e. When m ≤ 2^53 and
//! |e| ≤ 22 the value m · 10^e is one correctly rounded operation on exact numbers; the rest goes to
//! the standard library's parser.
//!
//! Most numbers in files are short. [`short`] reads a minus and up to 15 characters as one or
//! two words of eight: a shift drops the characters that do not belong, another closes the gap of the
//! point, and eight digits become an integer by three multiplications, which
//! add neighbours in pairs (d₀·10 + d₁, then by hundreds, then by ten thousands).

/// Marks a value that is no decimal of at most 15 digits and 22 places.
pub const NO_PLACES: u8 = u8::MAX;

/// 10^places, exact for the places that [`NO_PLACES`] does not mark.
#[inline]
pub fn power_of_ten(places: u8) -> f64 {
    const TENS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    TENS[usize::from(places.min(22))]
}

/// A parsed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The nearest binary64.
    pub value: f64,
    /// Decimal places without trailing zeros, or `NO_PLACES` when it is no short decimal.
    pub places: u8,
    /// More than 15 significant digits, or a subnormal: the decimal reading does not apply.
    pub long: bool,
}

/// Why a text is not a usable number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Other characters than those of a number.
    NotANumber,
    /// An infinity or no number at all, in words.
    NotFinite,
    /// Beyond the range of binary64.
    OutOfRange,
    /// An integer beyond 2^53 that binary64 does not hold.
    InexactInteger,
}

/// Reads the number at the start of `text`; the second part is how many bytes it takes. What
/// follows the number is the caller's business.
#[inline]
pub fn parse_prefix(text: &[u8]) -> Result<(Number, usize), Fault> {
    let mut at = 0;
    let negative = match text.first() {
        Some(b'-') => {
            at = 1;
            true
        }
        Some(b'+') => {
            at = 1;
            false
        }
        _ => false,
    };
    let mut mantissa: u64 = 0;
    let digits_start = at;
    while let Some(digit) = digit_at(text, at) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
        at += 1;
    }
    let mut digits = at - digits_start;
    let mut fraction = 0;
    let is_integer = text.get(at) != Some(&b'.');
    if !is_integer {
        at += 1;
        let start = at;
        while let Some(digit) = digit_at(text, at) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
            at += 1;
        }
        fraction = at - start;
        digits += fraction;
    }
    if digits == 0 {
        return Err(if names_non_finite(&text[digits_start..]) {
            Fault::NotFinite
        } else {
            Fault::NotANumber
        });
    }
    let mut exponent = 0i64;
    let mut has_exponent = false;
    if let Some(b'e' | b'E') = text.get(at) {
        let (value, len) = parse_exponent(&text[at + 1..]).ok_or(Fault::NotANumber)?;
        has_exponent = true;
        exponent = value;
        at += 1 + len;
    }
    let exponent = exponent - fraction as i64;
    if digits <= 19 && (-22..=0).contains(&exponent) && mantissa <= 1 << 53 {
        let mut places = -exponent as u8;
        let mut short = mantissa;
        if short == 0 {
            places = 0;
        }
        while places > 0 && short.is_multiple_of(10) {
            short /= 10;
            places -= 1;
        }
        let value = short as f64 / power_of_ten(places);
        let long = short >= FIFTEEN_DIGITS && short_of_zeros(short) >= FIFTEEN_DIGITS;
        let number = Number {
            value: if negative { -value } else { value },
            places: if long && places > 0 { places_of_long(value) } else { places },
            long,
        };
        return Ok((number, at));
    }
    parse_slow(&text[..at], is_integer && !has_exponent).map(|number| (number, at))
}

/// The nearest binary64 to a whole number of any length, which is the entire text.
pub fn rounded(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let whole = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let value: f64 = std::str::from_utf8(text).ok().filter(|_| whole)?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// The text from the start of a number on, with room for every short form.
pub type Window = [u8; 24];

/// The window at `start`, if the text is long enough.
#[inline(always)]
pub fn window(piece: &[u8], start: usize) -> Option<&Window> {
    piece.get(start..)?.first_chunk()
}

/// The number whole / 10^places, or none when the places are [`Short::NONE`]. Two plain words, so that
/// it stays in registers on its way from the parser to the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Short {
    /// The digits as an integer.
    pub whole: i64,
    /// How many of them stand behind the point.
    pub places: u64,
}

impl Short {
    const NONE: Short = Short { whole: 0, places: u64::MAX };

    #[inline(always)]
    fn new(negative: bool, mantissa: u64, places: usize) -> Short {
        let whole = mantissa as i64;
        Short { whole: if negative { -whole } else { whole }, places: places as u64 }
    }

    /// Whether the text is not of a short form.
    #[inline(always)]
    pub fn is_none(self) -> bool {
        self.places == Short::NONE.places
    }
}

/// The number that fills the first `len` characters of a window, if it is one of the short forms that
/// most numbers have: a minus or none, at most 15 characters, at most one point with a digit behind it.
/// None says only that another way must be taken. Zero has no sign. The division is left to a loop that
/// has nothing else to wait for.
#[inline(always)]
pub fn short(window: &Window, len: usize) -> Short {
    let sign_len = usize::from(window[0] == b'-');
    let len = len.wrapping_sub(sign_len);
    let text = word(window, sign_len);
    if (text >> 8) as u8 == b'.' {
        // One digit before the point, as in most measurements, and no zero at the end.
        let whole = text & 0xff ^ 0x30;
        let places = len.wrapping_sub(2);
        let fraction = aligned(word(window, sign_len + 2), places);
        if whole <= 9 && (1..=8).contains(&places) && are_digits(fraction) && fraction >> 56 != 0 {
            let mantissa = whole * WHOLE_TENS[places] + eight_digits(fraction);
            return Short::new(sign_len > 0, mantissa, places);
        }
    } else {
        let digits = aligned(text, len);
        if (1..=8).contains(&len) && are_digits(digits) {
            return Short::new(sign_len > 0, eight_digits(digits), 0);
        }
    }
    other_short(window, sign_len, len)
}

/// The rarer short forms: more than one digit before the point, or more than eight in all, or zeros at
/// the end.
#[inline(never)]
fn other_short(window: &Window, sign_len: usize, len: usize) -> Short {
    if !(1..=15).contains(&len) {
        return Short::NONE;
    }
    let text = u128::from(word(window, sign_len + 8)) << 64 | u128::from(word(window, sign_len));
    let characters = (text ^ u128::from_le_bytes([b'0'; 16])) << (128 - 8 * len);
    let (head, tail) = (characters as u64, (characters >> 64) as u64);
    let behind = last_point(tail)
        .map(|point| 7 - point)
        .or_else(|| last_point(head).map(|point| 15 - point));
    let digits = match behind {
        None => characters,
        // Nothing behind the point.
        Some(0) => return Short::NONE,
        Some(behind) => {
            let before = (1u128 << (120 - 8 * behind)) - 1;
            characters & !(before << 8 | 0xff) | (characters & before) << 8
        }
    };
    let (head, tail) = (digits as u64, (digits >> 64) as u64);
    if !are_digits(head) || !are_digits(tail) {
        return Short::NONE;
    }
    let mut mantissa = eight_digits(head) * WHOLE_TENS[8] + eight_digits(tail);
    if mantissa >= FIFTEEN_DIGITS {
        return Short::NONE;
    }
    let mut places = behind.unwrap_or(0);
    while places > 0 && mantissa.is_multiple_of(10) {
        mantissa /= 10;
        places -= 1;
    }
    Short::new(sign_len > 0, mantissa, places)
}

/// Eight characters of a window, the first in the lowest byte.
#[inline(always)]
fn word(window: &Window, at: usize) -> u64 {
    window[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// The whole number that fills the first `len` characters, if it is one of one to four digits.
#[inline(always)]
pub fn tiny_whole(text: &[u8; 4], len: usize) -> Option<u32> {
    let word = u32::from_le_bytes(*text);
    let digits = (word ^ 0x3030_3030) << (len.wrapping_neg().wrapping_mul(8) & 31);
    let are_digits = (digits.wrapping_add(0x7676_7676) | digits) & 0x8080_8080 == 0;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    ((1..=4).contains(&len) && are_digits)
        .then_some((pairs & 0xff).wrapping_mul(100).wrapping_add(pairs >> 16 & 0xff))
}

/// The first `len` (1 to 8) characters of a word less `0` each, moved to the top, and 0 in front of
/// them.
#[inline(always)]
fn aligned(word: u64, len: usize) -> u64 {
    (word ^ 0x3030_3030_3030_3030) << (len.wrapping_neg().wrapping_mul(8) & 63)
}

/// The byte of the last point among characters less `0` each.
#[inline(always)]
fn last_point(characters: u64) -> Option<usize> {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let other = characters ^ 0x1e1e_1e1e_1e1e_1e1e;
    let points = !(((other & LOW) + LOW) | other | LOW);
    (points != 0).then(|| 7 - points.leading_zeros() as usize / 8)
}

/// Whether all bytes are at most 9. A carry out of a byte spoils only bytes above one that is refused.
#[inline(always)]
fn are_digits(bytes: u64) -> bool {
    (bytes.wrapping_add(0x7676_7676_7676_7676) | bytes) & 0x8080_8080_8080_8080 == 0
}

/// Eight digits, the first in the lowest byte, as a number.
#[inline(always)]
fn eight_digits(digits: u64) -> u64 {
    const EVEN: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first = (pairs & EVEN).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & EVEN).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

const WHOLE_TENS: [u64; 9] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Reads a text that is a number as a whole, blanks around it allowed.
pub fn parse(text: &[u8]) -> Result<Number, Fault> {
    let text = text.trim_ascii();
    match parse_prefix(text)? {
        (number, len) if len == text.len() => Ok(number),
        _ => Err(Fault::NotANumber),
    }
}

/// The shortest text of a number: `1` for `+1`, `1.0` and `1e0`. Beyond 2^53 it has an exponent, so
/// that its padding zeros are not taken for digits.
pub fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        "0".to_owned()
    } else if (1e-5..=9_007_199_254_740_992.0).contains(&magnitude) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// The decimal places of a value, or `NO_PLACES` when it is no decimal of at most 15 digits.
pub fn places_of(value: f64) -> u8 {
    match parse(shortest(value).as_bytes()) {
        Ok(number) if !number.long => number.places,
        _ => NO_PLACES,
    }
}

/// The places of a value that was written with too many digits: programs that print 17 of them write 0.08561
/// as 0.08561000000000001, which is the same binary64. It is stored as the short decimal, though what was
/// written is read as binary64.
fn places_of_long(value: f64) -> u8 {
    /// More places would not fit into 32 bits.
    const MOST: u8 = 9;
    let scaled = value.abs() * power_of_ten(MOST);
    if scaled >= (1u64 << 53) as f64 {
        return NO_PLACES;
    }
    let mut whole = scaled.round_ties_even() as u64;
    if whole == 0 || whole as f64 / power_of_ten(MOST) != value.abs() {
        return NO_PLACES;
    }
    let mut places = MOST;
    while places > 0 && whole.is_multiple_of(10) {
        (whole, places) = (whole / 10, places - 1);
    }
    places
}

/// The smallest number of more than 15 digits.
const FIFTEEN_DIGITS: u64 = 1_000_000_000_000_000;

fn short_of_zeros(mut number: u64) -> u64 {
    while number.is_multiple_of(10) {
        number /= 10;
    }
    number
}

#[inline(always)]
fn digit_at(text: &[u8], at: usize) -> Option<u64> {
    let digit = text.get(at)?.wrapping_sub(b'0');
    (digit < 10).then_some(u64::from(digit))
}

fn parse_exponent(text: &[u8]) -> Option<(i64, usize)> {
    let sign_len = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let len = text[sign_len..].iter().take_while(|b| b.is_ascii_digit()).count();
    if len == 0 {
        return None;
    }
    // Beyond a million the value is far outside binary64 whatever the mantissa is.
    let magnitude = text[sign_len..sign_len + len]
        .iter()
        .fold(0i64, |e, b| (e * 10 + i64::from(b - b'0')).min(1_000_000));
    Some((if text[0] == b'-' { -magnitude } else { magnitude }, sign_len + len))
}

fn parse_slow(text: &[u8], is_integer: bool) -> Result<Number, Fault> {
    let text = std::str::from_utf8(text).map_err(|_| Fault::NotANumber)?;
    let value: f64 = text.parse().map_err(|_| Fault::NotANumber)?;
    let significant = significant_digits(text);
    if value.is_infinite() || (value == 0.0 && significant > 0) {
        return Err(Fault::OutOfRange);
    }
    if is_integer && !integer_is_exact(text, value) {
        return Err(Fault::InexactInteger);
    }
    let long = significant > 15 || value.is_subnormal();
    let places = if value == 0.0 {
        0
    } else if long {
        places_of_long(value)
    } else {
        decimal_places(text)
    };
    Ok(Number { value, places, long })
}

/// Places behind the point once trailing zeros are gone, or `NO_PLACES` when there are over 22.
fn decimal_places(text: &str) -> u8 {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = parse_exponent(exponent.as_bytes()).map_or(0, |(exponent, _)| exponent);
    let fraction = mantissa.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    let places = fraction.len() as i64 - zeros as i64 - exponent;
    match places {
        ..=0 => 0,
        1..=22 => places as u8,
        _ => NO_PLACES,
    }
}

/// Digits of the mantissa without leading and trailing zeros.
pub fn significant_digits(text: &str) -> usize {
    let mantissa = text.split(['e', 'E']).next().unwrap_or("");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_start_matches('0').trim_end_matches('0').len()
}

fn integer_is_exact(text: &str, value: f64) -> bool {
    // Below 2^126 both sides are whole numbers of 128 bits; longer texts are no measurements.
    match text.trim_start_matches(['+', '-']).parse::<u128>() {
        Ok(whole) if whole < 1 << 126 => value.abs() as u128 == whole,
        _ => false,
    }
}

fn names_non_finite(text: &[u8]) -> bool {
    let word = text.split(|b| !b.is_ascii_alphabetic()).next().unwrap_or(b"");
    [&b"nan"[..], b"inf", b"infinity"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(text: &str) -> f64 {
        parse(text.as_bytes()).unwrap().value
    }

    #[test]
    fn the_usual_forms_are_read() {
        for (text, expected) in [
            ("5", 5.0),
            ("+5", 5.0),
            ("-0.3", -0.3),
            (".5", 0.5),
            ("5.", 5.0),
            ("1e-3", 0.001),
            ("1E+2", 100.0),
            ("  7.25 ", 7.25),
            ("00012", 12.0),
            ("9007199254740992", 9007199254740992.0),
            ("1e22", 1e22),
            ("123456789012345678901234567890e-20", 1234567890.1234567),
            ("5e-324", 5e-324),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
        assert_eq!(value("-0").to_bits() << 1, 0);
    }

    #[test]
    fn what_is_no_number_is_refused_with_the_reason() {
        for (text, fault) in [
            ("", Fault::NotANumber),
            ("-", Fault::NotANumber),
            (".", Fault::NotANumber),
            ("1e", Fault::NotANumber),
            ("1.2.3", Fault::NotANumber),
            ("0x10", Fault::NotANumber),
            ("1,5", Fault::NotANumber),
            ("five", Fault::NotANumber),
            ("NaN", Fault::NotFinite),
            ("-inf", Fault::NotFinite),
            ("Infinity", Fault::NotFinite),
            ("1e400", Fault::OutOfRange),
            ("1e-400", Fault::OutOfRange),
            ("9007199254740993", Fault::InexactInteger),
        ] {
            assert_eq!(parse(text.as_bytes()), Err(fault), "{text}");
        }
        assert_eq!(value("72057594037927936"), 72057594037927936.0);
        assert_eq!(parse(b"72057594037927940"), Err(Fault::InexactInteger));
        assert!(parse(b"9007199254740994").unwrap().long);
        assert!(parse(b"1000000000000000000000").is_ok());
    }

    #[test]
    fn only_whole_numbers_are_rounded() {
        assert_eq!(rounded(b"9007199254740993"), Some(9007199254740992.0));
        assert_eq!(rounded(b"-9007199254740993"), Some(-9007199254740992.0));
        for text in ["9007199254740993abc", "", "-", "1.5", "1e3", "inf", " 1", &"9".repeat(400)] {
            assert_eq!(rounded(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn places_do_not_depend_on_the_writing() {
        for (text, places) in [
            ("5.10", 1),
            ("5.1", 1),
            ("51e-1", 1),
            ("100", 0),
            ("1e2", 0),
            ("0.000", 0),
            ("1e-3", 3),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().places, places, "{text}");
        }
        for text in ["1e15", "1000000000000000", "9e15"] {
            assert!(!parse(text.as_bytes()).unwrap().long, "{text}");
        }
        assert!(parse(b"1000000000000001").unwrap().long);
        assert_eq!(parse(b"0.30000000000000004").unwrap().places, NO_PLACES);
        for (text, places) in [
            ("0.08561000000000001", 5),
            ("-0.7213000000000001", 4),
            ("0.085610000000000005", 5),
            ("8.5610000000000005e-2", 5),
            ("123456.00000000001", NO_PLACES),
            ("0.1234567890123456", NO_PLACES),
        ] {
            let long = parse(text.as_bytes()).unwrap();
            assert_eq!((long.places, long.long), (places, true), "{text}");
            if places != NO_PLACES {
                let short = (long.value * power_of_ten(places)).round() / power_of_ten(places);
                assert_eq!(short.to_bits(), long.value.to_bits(), "{text}");
            }
        }
        assert!(parse(b"0.30000000000000004").unwrap().long);
        assert_eq!(places_of(0.1), 1);
        assert_eq!(places_of(0.1 + 0.2), NO_PLACES);
    }

    #[test]
    fn what_follows_a_number_does_not_change_its_reading() {
        for len in 1..=15 {
            for next in [b'.', b'0', b',', b'-', b':', b'e'] {
                let mut text = [next; 24];
                text[..len].fill(b'7');
                let number = short(window(&text, 0).unwrap(), len);
                let whole = std::str::from_utf8(&text[..len]).unwrap().parse().unwrap();
                assert_eq!(number, Short { whole, places: 0 }, "{len} {next}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_double_survives_writing_and_reading(bits: u64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(value(&shortest(x)).to_bits(), if x == 0.0 { 0 } else { x.to_bits() });
        }

        #[test]
        fn the_short_way_agrees_with_the_long_one(
            text in "[+-]?[0-9]{0,17}[.]?[0-9.:/]{0,9}[0-9eE]?", rest in "[0-9 ,.:\n]{0,24}",
        ) {
            let piece = format!("{text}{rest:.<24}");
            let window = window(piece.as_bytes(), 0).unwrap();
            let Short { whole, places } = short(window, text.len());
            if places != Short::NONE.places {
                let value = whole as f64 / power_of_ten(places as u8);
                let number = Number { value, places: places as u8, long: false };
                prop_assert_eq!(Ok(number), parse(text.as_bytes()));
            } else {
                // What is short is read in the short way.
                let simple = text.len() <= 15 && text.bytes().all(|b| b.is_ascii_digit());
                prop_assert!(!simple || text.is_empty());
            }
            if let Some(number) = tiny_whole(window.first_chunk().unwrap(), text.len()) {
                prop_assert_eq!(Ok(f64::from(number)), parse(text.as_bytes()).map(|n| n.value));
            }
        }

        #[test]
        fn the_value_is_the_standard_librarys(text in "[+-]?[0-9]{0,22}\\.?[0-9]{0,22}(e[+-]?[0-9]{1,3})?") {
            if let (Ok(mine), Ok(std)) = (parse(text.as_bytes()), text.parse::<f64>()) {
                prop_assert_eq!(mine.value, std);
            }
        }

        #[test]
        fn places_give_the_value_back(m in -2_000_000_000i64..2_000_000_000, places in 0u8..12) {
            let value = m as f64 / power_of_ten(places);
            let number = parse(shortest(value).as_bytes()).unwrap();
            prop_assert!(number.places <= places);
            let ten = power_of_ten(number.places);
            prop_assert_eq!((value * ten).round() / ten, value);
        }
    }
}
