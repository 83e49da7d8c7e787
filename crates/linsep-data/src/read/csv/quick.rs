//! The quick way through a record: its ends are known beforehand, its numbers are short. Whatever is
//! unusual ends the quick way, and the record is then read with care from its start, so that there is
//! one place that judges faults. What the quick way accepts, the careful one reads in the same way.

use super::{Action, Parser, RowFacts, number_at};
use crate::matrix::{OpenRow, Stage};
use crate::read::scan::{Marks, Walk};
use crate::table::labels::{is_missing, label_name};
use linsep_kernels::number;

/// Where the quick way stands in a piece.
pub(super) struct Quick<'a> {
    walk: Walk<'a>,
    /// Where the walk stands.
    at: usize,
    /// Four fields of one zero each.
    zeros: [u8; 8],
    /// For each field how many numbers follow, itself included, in columns that follow one another.
    numbers: Vec<u32>,
    /// The first quote at or after the last record looked at.
    quote: usize,
    /// Nothing in this piece can be read quickly.
    closed: bool,
}

impl<'a> Quick<'a> {
    pub(super) fn new(parser: &Parser<'_>, marks: &'a Marks) -> Quick<'a> {
        let plan = parser.plan;
        let mut numbers = vec![0; plan.actions.len()];
        for f in (0..numbers.len()).rev() {
            numbers[f] = match (plan.actions[f], plan.actions.get(f + 1)) {
                (Action::Number(a), Some(Action::Number(b))) if *b == a + 1 => numbers[f + 1] + 1,
                (Action::Number(_), _) => 1,
                _ => 0,
            };
        }
        let d = plan.delimiter;
        // A delimiter that could stand in a number or be taken for a blank needs care.
        let clear = d.is_ascii_punctuation() && !b"+-.\"".contains(&d) || d == b'\t';
        Quick {
            walk: marks.from(0),
            at: 0,
            zeros: [b'0', d, b'0', d, b'0', d, b'0', d],
            numbers,
            quote: if parser.quotes { 0 } else { usize::MAX },
            closed: parser.suspicious || !clear || plan.decimal_comma,
        }
    }

    /// Reads the record at `start` and returns where the next one starts. `None` leaves no trace.
    #[inline]
    pub(super) fn record(&mut self, parser: &mut Parser<'_>, start: usize) -> Option<usize> {
        if self.closed {
            return None;
        }
        if self.at != start {
            self.walk.skip_to(start);
        }
        if self.quote < start {
            let quote = memchr::memchr(b'"', &parser.piece[start..]);
            self.quote = quote.map_or(usize::MAX, |len| start + len);
        }
        // The place of a record that is not finished is no start of another.
        self.at = usize::MAX;
        let Some(facts) = self.row(parser, start).filter(|facts| facts.next <= self.quote) else {
            parser.forget_row();
            return None;
        };
        let next = facts.next;
        parser.out.block.records += 1;
        if facts.drop {
            parser.forget_row();
            parser.out.block.dropped += 1;
        } else {
            parser.keep(facts, start, parser.line);
        }
        parser.line += 1;
        self.at = next;
        Some(next)
    }

    #[inline]
    fn row(&mut self, parser: &mut Parser<'_>, start: usize) -> Option<RowFacts> {
        let (piece, plan) = (parser.piece, parser.plan);
        let last = plan.actions.len().checked_sub(1)?;
        let mut facts = RowFacts { label: None, weight: None, drop: false, next: start };
        let mut f = 0;
        loop {
            if let (Action::Number(column), more @ 1..) = (plan.actions[f], self.numbers[f]) {
                let OpenRow { values, places, divide } = parser.out.staging.open();
                let columns = column as usize..(column + more) as usize;
                let slots = OpenRow {
                    values: &mut values[columns.clone()],
                    places: &mut places[columns.clone()],
                    divide: &mut divide[columns],
                };
                // How many have a delimiter behind them: the last field of a record has none.
                let inner = more as usize - usize::from(f + more as usize > last);
                let done = self.numbers(piece, &mut facts.next, inner, slots);
                f += done;
                if f > last {
                    return Some(facts);
                }
                if done == more as usize {
                    continue;
                }
            }
            let at = facts.next;
            let mut end = self.walk.next()?;
            let is_last = piece[end] == b'\n';
            if is_last != (f == last) {
                return None;
            }
            facts.next = end + 1;
            if is_last && end > at && piece[end - 1] == b'\r' {
                end -= 1;
            }
            match plan.actions[f] {
                Action::Number(column) => other_number(parser, column, f, at, end, &mut facts)?,
                Action::Skip => {}
                action => text(parser, action, piece[at..end].trim_ascii(), &mut facts)?,
            }
            if is_last {
                return Some(facts);
            }
            f += 1;
        }
    }

    /// Reads short numbers, one for each slot, until something else comes; tells how many there were.
    /// The first `inner` end with a delimiter, another one with the line.
    #[inline(always)]
    fn numbers(
        &mut self,
        piece: &[u8],
        next: &mut usize,
        inner: usize,
        slots: OpenRow<'_>,
    ) -> usize {
        let count = slots.values.len();
        let (places, divide) = (&mut slots.places[..count], &mut slots.divide[..count]);
        let mut walk = self.walk.clone();
        let mut at = *next;
        let mut done = 0;
        while done < count {
            let Some(window) = number::window(piece, at) else { break };
            if window[..8] == self.zeros && done + 4 <= inner {
                // Zeros are in place already.
                (done, at) = self.skip_zeros(piece, done, inner, at);
                walk.skip_to(at);
                continue;
            }
            let Some(end) = walk.peek() else { break };
            if (piece[end] == b'\n') != (done == inner) {
                break;
            }
            if let Some(whole) = number::tiny_whole(window, end - at) {
                slots.values[done] = f64::from(whole);
            } else {
                let number = number::short(window, end - at);
                if number.is_none() {
                    break;
                }
                slots.values[done] = number.whole as f64;
                (places[done], divide[done]) = (number.places as u8, number.places as u8);
            }
            walk.pass();
            done += 1;
            at = end + 1;
        }
        self.walk = walk;
        *next = at;
        done
    }

    /// Goes past fields of one zero each, four by four.
    #[inline]
    fn skip_zeros(
        &self,
        piece: &[u8],
        mut done: usize,
        inner: usize,
        mut at: usize,
    ) -> (usize, usize) {
        while done + 4 <= inner && piece.get(at..at + 8) == Some(&self.zeros) {
            done += 4;
            at += 8;
        }
        (done, at)
    }
}

/// A number that is not short, or a gap, as the careful way takes it.
#[inline]
fn other_number(
    parser: &mut Parser<'_>,
    column: u32,
    f: usize,
    at: usize,
    end: usize,
    facts: &mut RowFacts,
) -> Option<()> {
    let short = number::window(parser.piece, at).map(|window| number::short(window, end - at));
    if let Some(number) = short.filter(|number| !number.is_none()) {
        parser.out.staging.push_decimal(column, number.whole, number.places as u8);
        return Some(());
    }
    let end = match parser.plain_number(at) {
        Some((number, end)) => {
            let piece = parser.piece;
            parser.take(column, number, || number_at(piece, at));
            end
        }
        None => parser.odd_number(column, f, at, &mut facts.drop).ok()?,
    };
    if !parser.gaps.is_empty() {
        return None;
    }
    (end.next == facts.next).then_some(())
}

/// A label, a weight or a category that is there.
#[inline]
fn text(parser: &mut Parser<'_>, action: Action, text: &[u8], facts: &mut RowFacts) -> Option<()> {
    let first = text.first();
    let may_be_missing = matches!(first, None | Some(b'?' | b'n' | b'N'));
    if first == Some(&b'"') || (may_be_missing && is_missing(text)) {
        return None;
    }
    let block = &mut parser.out.block;
    match action {
        Action::Label => facts.label = Some(block.labels.number(text, label_name)),
        Action::Weight => {
            let weight = number::parse(text).ok()?.value;
            facts.weight = Some((weight >= 0.0).then_some(weight)?);
        }
        Action::Category(c) => {
            let dictionary = &mut block.categories[c as usize];
            let code = dictionary.number(text, |raw| String::from_utf8_lossy(raw).into_owned());
            dictionary.codes.push(code);
        }
        Action::Skip | Action::Number(_) => {}
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::{TablePlan, parse};
    use super::*;
    use crate::read::block::{Block, Buffers};
    use crate::read::options::Missing;
    use proptest::prelude::*;

    /// Texts of numbers, gaps and faults, the usual ones more often.
    const FIELDS: [&str; 40] = [
        "0",
        "0",
        "0",
        "0",
        "0",
        "0",
        "1",
        "12",
        "123",
        "1234",
        "12345",
        "0.5",
        "-0.25",
        "3.75",
        "0.0117647",
        "-12.25",
        "-7",
        "-0",
        "-0.0",
        "1.50",
        "0.000",
        "5.",
        "-.5",
        "007",
        "+3",
        "1e3",
        "99999999",
        "123456789",
        "12345678.9",
        "1234567.12345678",
        "0.1234567890123456",
        "1234567890123456",
        " 7 ",
        "?",
        "",
        "NaN",
        "x",
        "1.2.3",
        "1:2",
        "--1",
    ];

    fn block_of(rows: &[Vec<&str>], quote: &str, end: &str, missing: Missing) -> Block {
        let actions = (0..9)
            .map(|f| match f {
                0 => Action::Label,
                4 => Action::Skip,
                f if f < 4 => Action::Number(f - 1),
                f => Action::Number(f - 2),
            })
            .collect();
        let plan = TablePlan {
            delimiter: b',',
            decimal_comma: false,
            actions,
            numeric: 7,
            categories: 0,
            missing,
            allow_lossy: false,
            keep_rejects: false,
            keep_spans: false,
        };
        let line = |(k, row): (usize, &Vec<&str>)| {
            format!("{quote}c{}{quote},{}{end}", k % 3, row.join(","))
        };
        let text: String = rows.iter().enumerate().map(line).collect();
        parse(text.as_bytes(), &plan, usize::MAX, &mut Buffers::default())
    }

    fn rows_of(block: &Block) -> Vec<Vec<(u32, u64)>> {
        let mut scratch = Vec::new();
        let mut row = |i| {
            let mut entries = Vec::new();
            block.store.for_each(i, &mut scratch, |j, value| entries.push((j, value.to_bits())));
            entries
        };
        (0..block.store.rows()).map(&mut row).collect()
    }

    proptest! {
        #[test]
        fn a_quoted_label_which_asks_for_care_changes_nothing(
            rows in prop::collection::vec(
                prop::collection::vec(prop::sample::select(FIELDS.to_vec()), 7..10), 1..40),
            end in prop::sample::select(vec!["\n", "\r\n"]),
            missing in prop::sample::select(vec![Missing::Error, Missing::DropRow, Missing::Mean]),
        ) {
            let (quick, careful) =
                (block_of(&rows, "", end, missing), block_of(&rows, "\"", end, missing));
            prop_assert_eq!(rows_of(&quick), rows_of(&careful));
            prop_assert_eq!(quick.store.kind(), careful.store.kind());
            prop_assert_eq!(quick.store.is_dense(), careful.store.is_dense());
            let places = |block: &Block| (0..7).map(|j| block.store.places(j)).collect::<Vec<_>>();
            prop_assert_eq!(places(&quick), places(&careful));
            prop_assert_eq!(&quick.missing, &careful.missing);
            // Numbers follow the order in which labels are met, also those of rows that are refused.
            let labels = |block: &Block| {
                let name = |code: &u32| block.labels.names[*code as usize].clone();
                block.labels.codes.iter().map(name).collect::<Vec<_>>()
            };
            prop_assert_eq!(labels(&quick), labels(&careful));
            prop_assert_eq!(&quick.lines, &careful.lines);
            prop_assert_eq!(&quick.long_columns, &careful.long_columns);
            let counts =
                |block: &Block| (block.line_count, block.records, block.dropped, block.bad.count);
            prop_assert_eq!(counts(&quick), counts(&careful));
            let codes = |block: &Block| {
                block.bad.problems.iter().map(|p| (p.code, p.place.line)).collect::<Vec<_>>()
            };
            prop_assert_eq!(codes(&quick), codes(&careful));
        }
    }
}
