//! Texts that are no numbers but nearly: dates, percentages, amounts of money, numbers with separators.
//!
//! People and spreadsheets write them; what they mean is for a person to say, so they are named and not
//! repaired.

use std::fmt;

/// What a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Date,
    Percent,
    Currency,
    /// `1,234` or `1 234.5`.
    Thousands,
    /// `0,59`.
    DecimalComma,
}

impl Form {
    /// What the text looks like, if it is one of these.
    pub(crate) fn of(text: &str) -> Option<Form> {
        let text = text.trim();
        // Nothing that is this long is written by hand.
        if text.is_empty() || text.len() > 60 {
            return None;
        }
        if is_date(text) {
            return Some(Form::Date);
        }
        if let Some(number) = text.strip_suffix('%') {
            return is_amount(number.trim()).then_some(Form::Percent);
        }
        if let Some(amount) = without_currency(text) {
            return is_amount(amount.trim()).then_some(Form::Currency);
        }
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if let Some((whole, fraction)) = digits.split_once(',') {
            let plain = all_digits(whole) && all_digits(fraction);
            if plain && (fraction.len() != 3 || whole.len() > 3 || whole.starts_with('0')) {
                return Some(Form::DecimalComma);
            }
        }
        has_thousands(digits).then_some(Form::Thousands)
    }

    /// Several of them.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Form::Date => "dates",
            Form::Percent => "percentages",
            Form::Currency => "amounts of money",
            Form::Thousands => "numbers with separators between thousands",
            Form::DecimalComma => "numbers with a decimal comma",
        }
    }

    /// What to do about it; `name` is the column.
    pub(crate) fn help(self, name: &str) -> String {
        match self {
            Form::Date => format!(
                "leave the column out with `drop` {name}, or give year, month or weekday columns of their own"
            ),
            Form::Percent => {
                format!("take the percent signs away, or leave the column out with `drop` {name}")
            }
            Form::Currency => format!(
                "take the signs of currencies away, or leave the column out with `drop` {name}"
            ),
            Form::Thousands => format!(
                "write numbers without separators between thousands; if the comma is a decimal comma, say so with `decimal=,`; or leave the column out with `drop` {name}"
            ),
            Form::DecimalComma => {
                "say that the comma is a decimal comma with `decimal=,`".to_owned()
            }
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Date => "a date",
            Form::Percent => "a percentage",
            Form::Currency => "an amount of money",
            Form::Thousands => "a number with separators between thousands",
            Form::DecimalComma => "a number with a decimal comma",
        })
    }
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Digits with a sign, separators and a point or comma.
fn is_amount(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text).trim();
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.chars().all(|c| c.is_ascii_digit() || ".,' \u{a0}\u{202f}".contains(c))
}

fn without_currency(text: &str) -> Option<&str> {
    const SIGNS: [&str; 12] =
        ["$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "kr", "zł"];
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let rest = rest.trim();
    SIGNS
        .iter()
        .find_map(|s| rest.strip_prefix(s).or_else(|| rest.strip_suffix(s)))
        .filter(|_| !sign || !rest.is_empty())
}

/// Groups of three digits behind the first, and perhaps a fraction.
fn has_thousands(digits: &str) -> bool {
    for separator in [',', '.', ' ', '\'', '\u{a0}', '\u{202f}'] {
        let (whole, fraction) = match separator {
            '.' => digits.split_once(',').unwrap_or((digits, "0")),
            _ => digits.split_once('.').unwrap_or((digits, "0")),
        };
        let mut groups = whole.split(separator);
        let first = groups.next().unwrap_or("");
        let rest: Vec<&str> = groups.collect();
        let grouped = !rest.is_empty() && rest.iter().all(|g| g.len() == 3 && all_digits(g));
        // One point with three digits behind it is a plain number.
        let plain = separator == '.' && rest.len() == 1 && !digits.contains(',');
        if grouped && !plain && first.len() <= 3 && all_digits(first) && all_digits(fraction) {
            return true;
        }
    }
    false
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

fn is_date(text: &str) -> bool {
    let day = match text.find(['T', ' ']) {
        // A time of day behind the date.
        Some(at) if text[at + 1..].contains(':') => &text[..at],
        _ => text,
    };
    numeric_date(day) || named_date(day) || is_time(text)
}

/// `2024-01-31`, `31.01.2024`, `1/31/24`.
fn numeric_date(text: &str) -> bool {
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = text.split(separator).collect();
        let [a, b, c] = parts[..] else { return false };
        if ![a, b, c].iter().all(|part| all_digits(part) && part.len() <= 4) {
            return false;
        }
        let number = |part: &str| part.parse::<u32>().unwrap_or(0);
        let is_year = |part: &str| part.len() == 4 && (1000..3000).contains(&number(part));
        let is_day = |part: &str| part.len() <= 2 && (1..=31).contains(&number(part));
        let (first, last) = (is_year(a), is_year(c) || c.len() == 2);
        let (p, q) = if first { (b, c) } else { (a, b) };
        (first || last) && is_day(p) && is_day(q) && number(p).min(number(q)) <= 12
    })
}

/// `5 Jan 2024`, `Jan 5, 2024`, `05-Jan-24`.
fn named_date(text: &str) -> bool {
    let words: Vec<&str> =
        text.split([' ', '-', '/', ',', '.']).filter(|word| !word.is_empty()).collect();
    if !(2..=3).contains(&words.len()) {
        return false;
    }
    let is_month = |word: &&&str| {
        let lower = word.to_ascii_lowercase();
        lower.len() >= 3
            && lower.bytes().all(|b| b.is_ascii_alphabetic())
            && MONTHS.iter().any(|month| lower.starts_with(month))
            && lower.len() <= 9
    };
    let is_number = |word: &&&str| all_digits(word) && word.len() <= 4;
    words.iter().filter(is_month).count() == 1
        && words.iter().filter(is_number).count() == words.len() - 1
}

/// `12:30`, `12:30:05.5`.
fn is_time(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: &str, most: f64| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.parse::<f64>().is_ok_and(|x| x < most)
    };
    match parts[..] {
        [hour, minute] => {
            all_digits(hour) && number(hour, 25.0) && minute.len() == 2 && number(minute, 60.0)
        }
        [hour, minute, second] => {
            all_digits(hour) && number(hour, 25.0) && number(minute, 60.0) && number(second, 61.0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_apart() {
        use Form::*;
        for (text, form) in [
            ("2024-01-31", Some(Date)),
            ("2024-01-31T10:20:30Z", Some(Date)),
            ("2024-01-31 10:20", Some(Date)),
            ("31/01/2024", Some(Date)),
            ("1/31/24", Some(Date)),
            ("31.1.2024", Some(Date)),
            ("5 Jan 2024", Some(Date)),
            ("March 5, 2024", Some(Date)),
            ("05-Jan-24", Some(Date)),
            ("12:30", Some(Date)),
            ("12:30:05.5", Some(Date)),
            ("12%", Some(Percent)),
            ("-1.5 %", Some(Percent)),
            ("$1,234.50", Some(Currency)),
            ("12,50 €", Some(Currency)),
            ("EUR 12", Some(Currency)),
            ("-$5", Some(Currency)),
            ("1,234", Some(Thousands)),
            ("1,234,567.5", Some(Thousands)),
            ("1.234.567", Some(Thousands)),
            ("1.234,5", Some(Thousands)),
            ("1 234", Some(Thousands)),
            ("1'234", Some(Thousands)),
            ("0,59", Some(DecimalComma)),
            ("-12,5", Some(DecimalComma)),
            ("0,590", Some(DecimalComma)),
            ("1.5", None),
            ("red", None),
            ("a-b-c", None),
            ("1-2-3", None),
            ("1.2.3", None),
            ("99-99-9999", None),
            ("may", None),
            ("mayor 5 7 9", None),
            ("%", None),
            ("$", None),
            ("1:99", None),
            ("", None),
            ("1.234", None),
            ("192.168.10.1", None),
        ] {
            assert_eq!(Form::of(text), form, "{text}");
        }
    }
}
