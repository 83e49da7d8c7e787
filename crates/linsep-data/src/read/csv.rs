//! Delimited text (CSV, TSV and their relatives, RFC 4180) to blocks.

mod field;
mod quick;

pub use field::quote;
pub(crate) use field::{blank_line, missing_fault, number_fault};

use super::block::{Block, BlockBuilder, Buffers, Fault};
use super::number;
use super::options::Missing;
use crate::error::Code;
use crate::matrix::{Stage, TableStaging};
use crate::table::labels::{is_missing, label_name};
use field::{End, Field, field_end, number_at, record_end, skip_blanks};
use std::borrow::Cow;

/// What to do with each field of a record.
#[derive(Clone, Debug)]
pub(crate) struct TablePlan {
    pub(crate) delimiter: u8,
    /// Numbers are written as `0,59`.
    pub(crate) decimal_comma: bool,
    pub(crate) actions: Vec<Action>,
    pub(crate) numeric: usize,
    pub(crate) categories: usize,
    pub(crate) missing: Missing,
    pub(crate) allow_lossy: bool,
    pub(crate) keep_rejects: bool,
    pub(crate) keep_spans: bool,
}

/// The use of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Skip,
    Label,
    Weight,
    /// The numeric column with this number.
    Number(u32),
    /// The category column with this number.
    Category(u32),
}

/// The code of a category that is missing and has a rule that allows it: no level at all.
pub(crate) const NO_LEVEL: u32 = u32::MAX;

/// Parses at most `limit` rows of a piece, which starts at a record and ends with one.
pub(crate) fn parse(piece: &[u8], plan: &TablePlan, limit: usize, buffers: &mut Buffers) -> Block {
    let Buffers { table, marks, scratch, .. } = buffers;
    marks.find(piece, [plan.delimiter; 2]);
    let mut parser = Parser {
        piece,
        plan,
        suspicious: marks.nul || (marks.beyond_ascii && std::str::from_utf8(piece).is_err()),
        quotes: marks.quotes,
        out: BlockBuilder::new(table, plan.numeric, plan.categories),
        gaps: Vec::new(),
        line: 0,
    };
    let mut quick = quick::Quick::new(&parser, marks, scratch);
    let mut at = 0;
    while at < piece.len() && parser.out.staging.rows() < limit {
        at = match quick.record(&mut parser, at) {
            Some(next) => next,
            None => parser.record(at),
        };
    }
    parser.out.block.line_count = parser.line;
    parser.out.finish()
}

/// The fields of the record at the start of `bytes`, trimmed, and where the next record starts.
pub(crate) fn fields(bytes: &[u8], delimiter: u8) -> Result<(Vec<String>, usize), Fault> {
    let mut fields = Vec::new();
    let next = fields_into(bytes, delimiter, &mut fields)?;
    Ok((fields.into_iter().map(Cow::into_owned).collect(), next))
}

/// Appends the fields of the record at the start of `bytes`, trimmed, and tells where the next record starts.
pub(crate) fn fields_into<'a>(
    bytes: &'a [u8],
    delimiter: u8,
    fields: &mut Vec<Cow<'a, str>>,
) -> Result<usize, Fault> {
    let (before, mut at) = (fields.len(), 0);
    loop {
        let field = Field::read(bytes, at, delimiter, fields.len() - before)?;
        fields.push(trimmed(field.text));
        at = field.end.next;
        if field.end.last {
            return Ok(at);
        }
    }
}

fn trimmed(text: Cow<'_, [u8]>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => match String::from_utf8_lossy(text) {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        },
        Cow::Owned(text) => Cow::Owned(String::from_utf8_lossy(&text).trim().to_owned()),
    }
}

/// The number of fields of the record at the start of `bytes`, and where the next record starts.
pub(crate) fn count_fields(bytes: &[u8], delimiter: u8) -> Result<(usize, usize), Fault> {
    let (mut count, mut at) = (0, 0);
    loop {
        let end = Field::read(bytes, at, delimiter, count)?.end;
        count += 1;
        at = end.next;
        if end.last {
            return Ok((count, at));
        }
    }
}

struct Parser<'a> {
    piece: &'a [u8],
    plan: &'a TablePlan,
    /// The piece holds NUL bytes or invalid UTF-8 somewhere, so every record is looked at.
    suspicious: bool,
    quotes: bool,
    out: BlockBuilder<'a, TableStaging>,
    /// Fields of the open row without a value, where there is no rule for them.
    gaps: Vec<(usize, std::ops::Range<usize>)>,
    line: u64,
}

/// What a record says about its row besides the features.
struct RowFacts {
    label: Option<u32>,
    weight: Option<f64>,
    drop: bool,
    next: usize,
}

impl Parser<'_> {
    /// Handles the record at `start` and returns where the next one starts.
    fn record(&mut self, start: usize) -> usize {
        if let Some(next) = blank_line(self.piece, start) {
            self.line += 1;
            return next;
        }
        let (line, row) = (self.line, self.out.block.records);
        self.out.block.records += 1;
        let checked = if self.suspicious { self.check_bytes(start) } else { Ok(()) };
        let next = match checked.and_then(|()| self.row(start)) {
            Ok(facts) if !facts.drop => {
                let next = facts.next;
                self.keep(facts, start, line);
                next
            }
            Ok(facts) => {
                self.forget_row();
                self.out.block.dropped += 1;
                facts.next
            }
            Err(fault) => {
                if fault.code == Code::MISSING {
                    self.out.block.bad.missing += 1;
                    for (field, _) in &self.gaps {
                        *self.out.block.gaps.entry(*field).or_default() += 1;
                    }
                }
                let fault = self.ragged(start).filter(|_| fault.field.is_some()).unwrap_or(fault);
                self.forget_row();
                let next = record_end(self.piece, start, self.plan.delimiter);
                let keep = self.plan.keep_rejects;
                self.out.block.bad.push(fault, self.piece, start..next, line, row, keep);
                next
            }
        };
        let breaks = if self.quotes {
            memchr::memchr_iter(b'\n', &self.piece[start..next]).count().max(1)
        } else {
            1
        };
        self.line += breaks as u64;
        next
    }

    #[inline]
    fn keep(&mut self, facts: RowFacts, start: usize, line: u64) {
        if let Some(label) = facts.label {
            self.out.block.labels.codes.push(label);
        }
        if let Some(weight) = facts.weight {
            self.out.block.weights.push(weight);
        }
        if self.plan.keep_spans {
            self.out.block.spans.push(start..facts.next);
        }
        self.out.end_row(line);
    }

    fn forget_row(&mut self) {
        self.gaps.clear();
        self.out.forget_row();
    }

    fn row(&mut self, start: usize) -> Result<RowFacts, Fault> {
        let mut facts = RowFacts { label: None, weight: None, drop: false, next: start };
        let (plan, piece) = (self.plan, self.piece);
        for (f, &action) in plan.actions.iter().enumerate() {
            let end = match action {
                Action::Number(column) => match self.plain_number(facts.next) {
                    Some((number, end)) if !plan.decimal_comma => {
                        self.take(column, number, || number_at(piece, facts.next));
                        end
                    }
                    _ => self.odd_number(column, f, facts.next, &mut facts.drop)?,
                },
                Action::Skip => Field::read(self.piece, facts.next, plan.delimiter, f)?.end,
                _ => self.text_field(action, f, &mut facts)?,
            };
            facts.next = end.next;
            if end.last != (f + 1 == plan.actions.len()) {
                let odd = Fault::new(Code::RAGGED, None, start..facts.next);
                return Err(self.ragged(start).unwrap_or(odd));
            }
        }
        // Every gap of the row counts, the first one is shown.
        match self.gaps.first() {
            Some((field, span)) => Err(missing_fault(*field, span.clone())),
            None => Ok(facts),
        }
    }

    /// The common case: a number, perhaps with blanks around it, and the end of the field.
    #[inline]
    fn plain_number(&self, at: usize) -> Option<(number::Number, End)> {
        let start = skip_blanks(self.piece, at);
        let (number, len) = number::parse_prefix(&self.piece[start..]).ok()?;
        let end = field_end(self.piece, skip_blanks(self.piece, start + len), self.plan.delimiter)?;
        Some((number, end))
    }

    fn take<'t>(&mut self, column: u32, number: number::Number, text: impl Fn() -> &'t [u8]) {
        if number.long {
            self.out.long_text(column, text());
        }
        self.out.staging.push(column, number.value, number.places);
    }

    /// Everything else in a numeric column: quoted numbers, gaps, faults.
    fn odd_number(
        &mut self,
        column: u32,
        f: usize,
        at: usize,
        drop: &mut bool,
    ) -> Result<End, Fault> {
        let field = Field::read(self.piece, at, self.plan.delimiter, f)?;
        let missing_rule = self.plan.missing;
        let text = self.with_point(&field.text);
        let parsed = text.as_deref().map_or(Err(number::Fault::NotANumber), number::parse);
        let gap = is_missing(&field.text)
            || (missing_rule != Missing::Error
                && field.text.trim_ascii().eq_ignore_ascii_case(b"nan"));
        if gap {
            match missing_rule {
                Missing::Error => self.gaps.push((f, field.span)),
                Missing::DropRow => *drop = true,
                Missing::Zero => {}
                Missing::Mean | Missing::Median | Missing::Mode => {
                    self.out.block.missing.push((self.out.staging.rows(), column));
                }
            }
            return Ok(field.end);
        }
        match parsed {
            Ok(number) => {
                let text = text.as_deref().unwrap_or_default();
                self.take(column, number, || text.trim_ascii());
            }
            Err(number::Fault::InexactInteger) if self.plan.allow_lossy => {
                let Some(value) = number::rounded(field.text.trim_ascii()) else {
                    return Err(number_fault(
                        number::Fault::NotANumber,
                        &field.text,
                        f,
                        field.span,
                    ));
                };
                self.out.long_text(column, field.text.trim_ascii());
                self.out.staging.push(column, value, 0);
            }
            Err(fault) => return Err(number_fault(fault, &field.text, f, field.span)),
        }
        Ok(field.end)
    }

    /// The text of a number with a decimal point; none where a point already stands for something else.
    fn with_point<'t>(&self, text: &'t [u8]) -> Option<Cow<'t, [u8]>> {
        match self.plan.decimal_comma {
            false => Some(Cow::Borrowed(text)),
            true if text.contains(&b'.') => None,
            true => {
                let point = |&b: &u8| if b == b',' { b'.' } else { b };
                Some(Cow::Owned(text.iter().map(point).collect()))
            }
        }
    }

    fn text_field(&mut self, action: Action, f: usize, facts: &mut RowFacts) -> Result<End, Fault> {
        let field = Field::read(self.piece, facts.next, self.plan.delimiter, f)?;
        let text = field.text.trim_ascii();
        let gap = is_missing(text);
        if gap && self.plan.missing == Missing::DropRow {
            facts.drop = true;
        }
        let block = &mut self.out.block;
        match action {
            Action::Label if gap && !facts.drop => self.gaps.push((f, field.span)),
            Action::Label => {
                let name = if self.plan.decimal_comma { comma_label_name } else { label_name };
                facts.label = Some(block.labels.number(text, name));
            }
            Action::Weight => {
                let number = self.with_point(text).and_then(|text| number::parse(&text).ok());
                let weight = number.map_or(-1.0, |number| number.value);
                if weight < 0.0 && !facts.drop {
                    return Err(Fault::new(Code::BAD_WEIGHT, Some(f), field.span)
                        .help("weights are finite numbers of at least 0"));
                }
                facts.weight = Some(weight);
            }
            Action::Category(_) if gap && self.plan.missing == Missing::Error => {
                self.gaps.push((f, field.span));
            }
            Action::Category(c) => {
                let dictionary = &mut block.categories[c as usize];
                let code = if gap {
                    NO_LEVEL
                } else {
                    dictionary.number(text, |raw| String::from_utf8_lossy(raw).into_owned())
                };
                dictionary.codes.push(code);
            }
            Action::Skip | Action::Number(_) => {}
        }
        Ok(field.end)
    }

    /// The fault of a record with a wrong number of fields, which explains every other fault in it.
    fn ragged(&self, start: usize) -> Option<Fault> {
        let wanted = self.plan.actions.len();
        let end = record_end(self.piece, start, self.plan.delimiter);
        let line = self.piece[start..end].trim_ascii_end();
        let found = fields(&self.piece[start..end], self.plan.delimiter).ok()?.0.len();
        let message = format!("wrong number of fields: {found} here, {wanted} in the first record");
        (found != wanted).then(|| {
            Fault::new(Code::RAGGED, None, start..start + line.len())
                .message(message)
                .help("look for a missing quote, a decimal comma or a line that was cut")
        })
    }

    fn check_bytes(&self, start: usize) -> Result<(), Fault> {
        let end = record_end(self.piece, start, self.plan.delimiter);
        let record = &self.piece[start..end];
        let bad = |code, at: usize, len| {
            let field = record[..at].iter().filter(|b| **b == self.plan.delimiter).count();
            let help = match code {
                Code::NUL_BYTE => {
                    "the file is binary or damaged, or UTF-16: convert it to UTF-8 text"
                }
                _ => "convert the file to UTF-8, for example with iconv -f latin1 -t utf-8",
            };
            Err(Fault::new(code, Some(field), start + at..start + at + len).help(help))
        };
        if let Some(at) = memchr::memchr(0, record) {
            return bad(Code::NUL_BYTE, at, 1);
        }
        match std::str::from_utf8(record) {
            Ok(_) => Ok(()),
            Err(e) => bad(Code::NOT_UTF8, e.valid_up_to(), e.error_len().unwrap_or(1)),
        }
    }
}

/// The normal form of a label in a table of decimal commas: `1,0` is the class `1`.
fn comma_label_name(text: &[u8]) -> String {
    let point = |&b: &u8| if b == b',' { b'.' } else { b };
    let pointed: Vec<u8> = text.iter().map(point).collect();
    let is_number = !text.contains(&b'.') && number::parse(&pointed).is_ok();
    label_name(if is_number { &pointed } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(actions: Vec<Action>) -> TablePlan {
        let numeric = actions.iter().filter(|a| matches!(a, Action::Number(_))).count();
        let categories = actions.iter().filter(|a| matches!(a, Action::Category(_))).count();
        TablePlan {
            delimiter: b',',
            decimal_comma: false,
            actions,
            numeric,
            categories,
            missing: Missing::Error,
            allow_lossy: false,
            keep_rejects: true,
            keep_spans: false,
        }
    }

    fn rows(block: &Block) -> Vec<Vec<(u32, f64)>> {
        let mut scratch = Vec::new();
        (0..block.store.rows())
            .map(|i| {
                let mut row = Vec::new();
                block.store.for_each(i, &mut scratch, |j, v| row.push((j, v)));
                row
            })
            .collect()
    }

    const XYL: [Action; 3] = [Action::Number(0), Action::Number(1), Action::Label];

    #[test]
    fn quotes_blanks_and_line_endings() {
        let text = b"1, 2 ,a\r\n\r\n\"3\",+.5,\"b, \"\"c\"\"\nd\"\n1e1,0,a";
        let block = parse(text, &plan(XYL.to_vec()), usize::MAX, &mut Buffers::default());
        assert_eq!(block.bad.count, 0);
        assert_eq!(
            rows(&block),
            [vec![(0, 1.0), (1, 2.0)], vec![(0, 3.0), (1, 0.5)], vec![(0, 10.0)]]
        );
        assert_eq!(block.labels.names, ["a", "b, \"c\"\nd"]);
        assert_eq!(block.labels.codes, [0, 1, 0]);
        assert_eq!(block.lines, [(0, 0), (1, 2), (2, 4)]);
    }

    #[test]
    fn faults_know_their_place_and_leave_no_trace() {
        let text = "1,2,a\n1,x,a\n1,2\n1,2,a,4\n,2,a\n1,nan,a\n\u{e4},1,a\n7,8,b\n";
        let block =
            parse(text.as_bytes(), &plan(XYL.to_vec()), usize::MAX, &mut Buffers::default());
        assert_eq!(rows(&block).len(), 2);
        assert_eq!(block.bad.count, 6);
        assert_eq!(block.bad.text, &text.as_bytes()[6..text.len() - 6]);
        let codes: Vec<Code> = block.bad.problems.iter().map(|p| p.code).collect();
        assert_eq!(
            codes,
            [Code::NOT_A_NUMBER, Code::RAGGED, Code::RAGGED, Code::MISSING, Code::NOT_FINITE]
        );
        let place = &block.bad.problems[0].place;
        assert_eq!((place.line, place.column, place.row), (Some(1), Some(3), Some(1)));
        assert_eq!(block.bad.problems[0].value.as_deref(), Some("x"));
        assert_eq!(block.labels.codes, [0, 1]);
        assert_eq!(block.lines, [(0, 0), (1, 7)]);
    }

    #[test]
    fn damaged_text_is_found() {
        for (text, code) in [
            (&b"1,2,\"a\n1,2,b\n"[..], Code::OPEN_QUOTE),
            (b"1,2,\"a\"x\n", Code::STRAY_QUOTE),
            (b"1,2,a\0b\n", Code::NUL_BYTE),
            (b"1,2,a\xff\n", Code::NOT_UTF8),
            (b"1e400,2,a\n", Code::OUT_OF_RANGE),
            (b"9007199254740993,2,a\n", Code::INEXACT_INTEGER),
        ] {
            let block = parse(text, &plan(XYL.to_vec()), usize::MAX, &mut Buffers::default());
            assert_eq!(block.bad.problems[0].code, code, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn gaps_follow_the_rule() {
        let text = b"1,NA,a\n3,4,b\n";
        let mut plan = plan(XYL.to_vec());
        for (rule, expected_rows, gaps) in
            [(Missing::DropRow, 1, 0), (Missing::Zero, 2, 0), (Missing::Mean, 2, 1)]
        {
            plan.missing = rule;
            let block = parse(text, &plan, usize::MAX, &mut Buffers::default());
            assert_eq!((block.store.rows(), block.missing.len()), (expected_rows, gaps));
            assert_eq!(block.labels.codes.len(), expected_rows);
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let alphabet = b"1,\"\n\r .-ea\0\xff;";
        let mut state = 1u64;
        for _ in 0..20_000 {
            let text: Vec<u8> = (0..12)
                .map(|_| {
                    state =
                        state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    alphabet[(state >> 33) as usize % alphabet.len()]
                })
                .collect();
            let block = parse(&text, &plan(XYL.to_vec()), usize::MAX, &mut Buffers::default());
            assert_eq!(block.records, block.bad.count + block.store.rows() as u64 + block.dropped);
        }
    }
}
