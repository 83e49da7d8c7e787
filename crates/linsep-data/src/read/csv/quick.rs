//! The quick way through a record: its ends are known beforehand, its numbers are short. Whatever is
//! unusual ends the quick way, and the record is then read with care from its start, so that there is
//! one place that judges faults. What the quick way accepts, the careful one reads in the same way.

use super::{Action, Parser, RowFacts, number_at};
use crate::matrix::{OpenRow, Stage};
use crate::read::scan::Marks;
use crate::table::labels::{is_missing, label_name};
use linsep_kernels::number;
use linsep_kernels::text::{self as kernel, BEHIND, MOST, Scratch};
use std::ops::Range;

/// Where the quick way stands in a piece.
pub(super) struct Quick<'a> {
    marks: &'a mut Marks,
    scratch: &'a mut Scratch,
    /// The line of the record that starts at `at`.
    line: usize,
    at: usize,
    /// Four fields of one zero each.
    zeros: [u8; 8],
    /// For each field how many numbers follow, itself included, in columns that follow one another.
    numbers: Vec<u32>,
    /// Many fields are zeros, so that numbers are read in short runs.
    mostly_zeros: bool,
    /// The first quote at or after the last record looked at.
    quote: usize,
    /// Nothing in this piece can be read quickly.
    closed: bool,
}

/// Numbers that are read at a time where many fields are zeros.
const SHORT_RUN: usize = 8;

impl<'a> Quick<'a> {
    pub(super) fn new(
        parser: &Parser<'_>,
        marks: &'a mut Marks,
        scratch: &'a mut Scratch,
    ) -> Quick<'a> {
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
            marks,
            scratch,
            line: 0,
            at: 0,
            zeros: [b'0', d, b'0', d, b'0', d, b'0', d],
            numbers,
            mostly_zeros: false,
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
            self.line = self.marks.line_at(start);
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
        self.line += 1;
        self.at = next;
        Some(next)
    }

    /// Reads the record at `start`, which must be one line with as many marks as there are fields.
    #[inline]
    fn row(&mut self, parser: &mut Parser<'_>, start: usize) -> Option<RowFacts> {
        let (piece, plan) = (parser.piece, parser.plan);
        let fields = plan.actions.len();
        let last = self.marks.end_of_line(self.line)?;
        let first = match self.line.checked_sub(1) {
            None => 0,
            Some(before) => self.marks.end_of_line(before)? + 1,
        };
        if last + 1 - first != fields {
            return None;
        }
        let places = self.marks.places();
        let end = places[last] as usize;
        let next = end + 1;
        if fields == 1 && end == start {
            return None;
        }
        // A line break of two bytes begins with its first; a line begins behind the break before.
        if end > start && piece[end - 1] == b'\r' {
            places[last] -= 1;
        }
        if let Some(before) = first.checked_sub(1) {
            places[before] = (start as u32).checked_sub(1)?;
        }
        let mut facts = RowFacts { label: None, weight: None, drop: false, next };
        let mut f = 0;
        while f < fields {
            let is_run = self.numbers[f] > 0 && (f > 0 || first > 0);
            if let (Action::Number(column), true) = (plan.actions[f], is_run) {
                self.numbers(parser, first, f, column as usize, &mut facts)?;
                f += self.numbers[f] as usize;
                continue;
            }
            let (at, end) = self.field(first, f, start);
            match plan.actions[f] {
                Action::Number(column) => {
                    other_number(parser, column as usize, f, at..end, &mut facts.drop)?;
                }
                Action::Skip => {}
                action => text(parser, action, piece[at..end].trim_ascii(), &mut facts)?,
            }
            f += 1;
        }
        Some(facts)
    }

    /// Where a field of the record at `start` begins and ends.
    #[inline(always)]
    fn field(&mut self, first: usize, f: usize, start: usize) -> (usize, usize) {
        let places = self.marks.places();
        let at = if f == 0 { start } else { places[first + f - 1] as usize + 1 };
        (at, places[first + f] as usize)
    }

    /// Reads the numbers from field `f` on, which go to columns that follow one another. A mark stands
    /// before the first.
    #[inline]
    fn numbers(
        &mut self,
        parser: &mut Parser<'_>,
        first: usize,
        f: usize,
        column: usize,
        facts: &mut RowFacts,
    ) -> Option<()> {
        let piece = parser.piece;
        let count = self.numbers[f] as usize;
        let marks = &self.marks.places()[first + f - 1..first + f + count];
        if *marks.last()? as usize + BEHIND > piece.len() {
            // What is behind the numbers may be looked at, but is not there.
            return (0..count).try_for_each(|k| {
                let field = marks[k] as usize + 1..marks[k + 1] as usize;
                other_number(parser, column + k, f + k, field, &mut facts.drop)
            });
        }
        let most = if self.mostly_zeros { SHORT_RUN } else { MOST };
        let (mut done, mut skipped) = (0, 0);
        while done < count {
            // Zeros are in place already.
            let (eights, _) = piece[marks[done] as usize + 1..].as_chunks::<8>();
            let zeros = eights.iter().take((count - done) / 4);
            let zeros = 4 * zeros.take_while(|eight| **eight == self.zeros).count();
            if zeros > 0 {
                (done, skipped) = (done + zeros, skipped + zeros);
                continue;
            }
            let end = (done + most).min(count);
            let run = Run { marks: &marks[done..=end], field: f + done, column: column + done };
            run.read(parser, self.scratch, &mut facts.drop)?;
            done = end;
        }
        self.mostly_zeros = 2 * skipped > count;
        Some(())
    }
}

/// Numbers that stand side by side.
struct Run<'a> {
    /// The marks before, between and behind them.
    marks: &'a [u32],
    /// The field and the column of the first.
    field: usize,
    column: usize,
}

impl Run<'_> {
    #[inline]
    fn read(&self, parser: &mut Parser<'_>, scratch: &mut Scratch, drop: &mut bool) -> Option<()> {
        let columns = self.column..self.column + self.marks.len() - 1;
        let OpenRow { values, places, divide } = parser.out.staging.open();
        let (values, places) = (&mut values[columns.clone()], &mut places[columns.clone()]);
        let found = kernel::read_numbers(parser.piece, self.marks, values, places, scratch);
        if found.wrong {
            return None;
        }
        divide[columns].copy_from_slice(places);
        if found.unread {
            scratch.odd.clear();
            scratch.odd.extend(0..values.len() as u32);
        }
        for &k in &scratch.odd {
            let k = k as usize;
            let OpenRow { values, places, divide } = parser.out.staging.open();
            let column = self.column + k;
            (values[column], places[column], divide[column]) = (0.0, 0, 0);
            let field = self.marks[k] as usize + 1..self.marks[k + 1] as usize;
            other_number(parser, column, self.field + k, field, drop)?;
        }
        Some(())
    }
}

/// A number that is not short, or a gap, as the careful way takes it.
#[inline]
fn other_number(
    parser: &mut Parser<'_>,
    column: usize,
    f: usize,
    field: Range<usize>,
    drop: &mut bool,
) -> Option<()> {
    let (at, column) = (field.start, column as u32);
    let short = number::window(parser.piece, at).map(|window| number::short(window, field.len()));
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
        None => parser.odd_number(column, f, at, drop).ok()?,
    };
    if !parser.gaps.is_empty() {
        return None;
    }
    let has_return = parser.piece.get(field.end) == Some(&b'\r');
    (end.next == field.end + 1 + usize::from(has_return)).then_some(())
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
