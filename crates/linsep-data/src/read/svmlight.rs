//! svmlight text (`label index:value index:value # comment`) to blocks.

mod quick;

use super::block::{Block, BlockBuilder, Buffers, Fault};
use super::csv::number_fault;
use super::number;
use crate::error::Code;
use crate::matrix::{Planes, Stage, Staging};
use crate::table::labels::label_name;
use quick::QuickLine;

/// How svmlight lines are to be understood.
#[derive(Clone, Debug)]
pub(crate) struct SvmPlan {
    /// 0 or 1: the index of the first feature.
    pub(crate) base: u32,
    /// The base was guessed, so an index 0 is a reason to start over rather than a fault.
    pub(crate) base_guessed: bool,
    /// Columns to keep; `None` keeps all.
    pub(crate) selection: Option<Selection>,
    /// Columns from this one on are left out (they have no weight in the model).
    pub(crate) width: Option<usize>,
    /// Lines may start with a pair: there are no labels.
    pub(crate) labels_optional: bool,
    pub(crate) allow_lossy: bool,
    pub(crate) keep_rejects: bool,
}

/// A choice of columns, as ranges with the new number of their first column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection(pub Vec<(std::ops::Range<u32>, u32)>);

impl Selection {
    /// The choice of these ranges [from, to); none for an empty list.
    pub(crate) fn of_ranges(ranges: &[(u32, u32)]) -> Option<Selection> {
        let mut next = 0;
        let mut number = |&(from, to): &(u32, u32)| {
            let first = next;
            next += to - from;
            (from..to, first)
        };
        let ranges: Vec<_> = ranges.iter().map(&mut number).collect();
        (!ranges.is_empty()).then_some(Selection(ranges))
    }

    /// The ranges [from, to) that are kept.
    pub(crate) fn ranges(&self) -> Vec<(u32, u32)> {
        self.0.iter().map(|(range, _)| (range.start, range.end)).collect()
    }

    /// The new number of a column, if it is kept.
    fn map(&self, column: u32) -> Option<u32> {
        let at = self.0.partition_point(|(range, _)| range.end <= column);
        let (range, first) = self.0.get(at)?;
        range.contains(&column).then(|| first + (column - range.start))
    }
}

/// The largest index that is accepted: column numbers and widths must fit 32 bits.
const MAX_INDEX: u64 = u32::MAX as u64 - 1;

/// Parses at most `limit` rows of a piece, which starts at a line and ends with one. With planes the rows are
/// scored and not kept.
pub(crate) fn parse(
    piece: &[u8],
    plan: &SvmPlan,
    planes: Option<Planes<'_>>,
    limit: usize,
    buffers: &mut Buffers,
) -> Block {
    let Buffers { pairs, marks, scratch, products, .. } = buffers;
    marks.find(piece, *b" :");
    let suspicious = marks.nul || (marks.beyond_ascii && std::str::from_utf8(piece).is_err());
    let mut out = BlockBuilder::new(pairs, 0, 0);
    let (mut at, mut line) = (0, 0);
    // The first mark of the line.
    let mut first = 0;
    while at < piece.len() && out.staging.rows() < limit && !out.block.index_zero {
        let last = marks.end_of_line(line).filter(|_| !suspicious);
        let quick = last.and_then(|last| {
            let marks = marks.places().get_mut(first..=last)?;
            first = last + 1;
            let next = *marks.last()? as usize + 1;
            QuickLine { piece, plan, scratch }.read(at, marks, &mut out).map(|()| next)
        });
        at = match quick {
            Some(next) => {
                out.block.records += 1;
                out.end_row(line as u64);
                next
            }
            None => {
                out.forget_row();
                careful_line(piece, at, line as u64, suspicious, plan, &mut out)
            }
        };
        line += 1;
    }
    out.block.line_count = line as u64;
    match planes {
        Some(planes) => out.finish_scored(planes, products),
        None => out.finish(),
    }
}

type Out<'a> = BlockBuilder<'a, Staging>;

/// Handles the line at `at` with care and returns where the next one starts.
fn careful_line(
    piece: &[u8],
    at: usize,
    line: u64,
    suspicious: bool,
    plan: &SvmPlan,
    out: &mut Out<'_>,
) -> usize {
    let end = memchr::memchr(b'\n', &piece[at..]).map_or(piece.len(), |len| at + len);
    if !is_blank(&piece[at..end]) {
        let row = out.block.records;
        out.block.records += 1;
        let checked = if suspicious { check_bytes(piece, at..end) } else { Ok(()) };
        match checked.and_then(|()| parse_line(piece, at..end, plan, out)) {
            Ok(()) => out.end_row(line),
            Err(fault) => {
                out.forget_row();
                out.block.bad.push(fault, piece, at..end, line, row, plan.keep_rejects);
            }
        }
    }
    (end + 1).min(piece.len())
}

/// Whether the line looks like svmlight with at least one pair; `None` if it says nothing.
pub(crate) fn looks_like(line: &[u8]) -> Option<bool> {
    let line = line.split(|&b| b == b'#').next().unwrap_or(b"").trim_ascii();
    if line.is_empty() {
        return None;
    }
    let mut tokens = line.split(|b| b.is_ascii_whitespace()).filter(|t| !t.is_empty());
    let first = tokens.next()?;
    let is_pair = |token: &[u8]| match memchr::memchr(b':', token) {
        None => false,
        Some(at) => {
            let (index, value) = (&token[..at], &token[at + 1..]);
            index == b"qid" || index.iter().all(u8::is_ascii_digit) && number::parse(value).is_ok()
        }
    };
    let mut pairs = usize::from(is_pair(first));
    for token in tokens {
        if !is_pair(token) {
            return Some(false);
        }
        pairs += 1;
    }
    // A label alone is a row of zeros, or the one field of a table.
    match pairs {
        0 if first.iter().any(|byte| b",;|\"".contains(byte)) => Some(false),
        0 => None,
        _ => Some(true),
    }
}

/// The smallest index of a piece of text, as far as it can be read.
pub(crate) fn smallest_index(text: &[u8]) -> Option<u64> {
    text.split(|&b| b == b'\n')
        .flat_map(|line| {
            let line = line.split(|&b| b == b'#').next().unwrap_or(b"");
            line.split(|b| b.is_ascii_whitespace()).filter_map(|token| {
                let at = memchr::memchr(b':', token)?;
                std::str::from_utf8(&token[..at]).ok()?.parse::<u64>().ok()
            })
        })
        .min()
}

fn is_blank(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line[0] == b'#'
}

fn check_bytes(piece: &[u8], line: std::ops::Range<usize>) -> Result<(), Fault> {
    let bytes = &piece[line.clone()];
    if let Some(at) = memchr::memchr(0, bytes) {
        return Err(Fault::new(Code::NUL_BYTE, None, line.start + at..line.start + at + 1)
            .help("the file is binary or damaged"));
    }
    std::str::from_utf8(bytes).map(|_| ()).map_err(|e| {
        let at = line.start + e.valid_up_to();
        Fault::new(Code::NOT_UTF8, None, at..at + e.error_len().unwrap_or(1))
            .help("convert the file to UTF-8")
    })
}

fn parse_line(
    piece: &[u8],
    line: std::ops::Range<usize>,
    plan: &SvmPlan,
    out: &mut Out<'_>,
) -> Result<(), Fault> {
    let end = line.end;
    let mut at = skip_blanks(piece, line.start, end);
    let token = token_end(piece, at, end);
    let label = &piece[at..token];
    if memchr::memchr(b':', label).is_none() {
        let code = out.block.labels.number(label, label_name);
        out.block.labels.codes.push(code);
        at = token;
    } else if !plan.labels_optional {
        return Err(Fault::new(Code::LABEL_VALUE, Some(0), at..token)
            .message("the line starts with a pair where the label should stand")
            .help("write the label first, without a colon"));
    }
    let mut last = None;
    loop {
        at = skip_blanks(piece, at, end);
        if at >= end || piece[at] == b'#' {
            return Ok(());
        }
        at = parse_pair(piece, at, end, plan, &mut last, out)?;
        if out.block.index_zero {
            return Ok(());
        }
    }
}

/// Reads the pair at `at` and returns where it ends.
#[inline]
fn parse_pair(
    piece: &[u8],
    at: usize,
    end: usize,
    plan: &SvmPlan,
    last: &mut Option<u64>,
    out: &mut Out<'_>,
) -> Result<usize, Fault> {
    let mut index = 0u64;
    let mut colon = at;
    while colon < end && piece[colon].is_ascii_digit() {
        index = index.saturating_mul(10).saturating_add(u64::from(piece[colon] - b'0'));
        colon += 1;
    }
    let token = || at..token_end(piece, at, end);
    if colon >= end || piece[colon] != b':' || colon == at {
        if piece[at..end].starts_with(b"qid:") {
            out.block.query_ids = true;
            return Ok(token().end);
        }
        let code = if memchr::memchr(b':', &piece[token()]).is_some() {
            Code::BAD_INDEX
        } else {
            Code::BAD_PAIR
        };
        return Err(Fault::new(code, None, token()).help("write features as index:value"));
    }
    if last.is_some_and(|last| index <= last) {
        return Err(Fault::new(Code::INDEX_ORDER, None, token())
            .help("sort the pairs by index and merge repeated ones"));
    }
    *last = Some(index);
    if index < u64::from(plan.base) {
        if plan.base_guessed {
            out.block.index_zero = true;
            return Ok(end);
        }
        return Err(Fault::new(Code::BAD_INDEX, None, token())
            .message("index 0 although indices start at 1")
            .help("use `index-base=0` if the first feature has index 0"));
    }
    if index > MAX_INDEX {
        return Err(Fault::new(Code::INDEX_TOO_LARGE, None, token())
            .help(format!("indices go up to {MAX_INDEX}; this line is probably damaged")));
    }
    let start = colon + 1;
    let (number, stop) = match number::parse_prefix(&piece[start..end]) {
        Ok((number, len))
            if start + len == end
                || piece[start + len].is_ascii_whitespace()
                || piece[start + len] == b'#' =>
        {
            (number, start + len)
        }
        other => {
            let fault = other.err().unwrap_or(number::Fault::NotANumber);
            let text = &piece[start..token().end];
            let text = &text[..memchr::memchr(b'#', text).unwrap_or(text.len())];
            let is_lossy = plan.allow_lossy && fault == number::Fault::InexactInteger;
            match number::rounded(text).filter(|_| is_lossy) {
                Some(value) => {
                    (number::Number { value, places: 0, long: true }, start + text.len())
                }
                None => {
                    let fault = if is_lossy { number::Fault::NotANumber } else { fault };
                    let column = (index - u64::from(plan.base)) as usize;
                    return Err(number_fault(fault, text, column, start..token().end));
                }
            }
        }
    };
    let raw = (index - u64::from(plan.base)) as u32;
    let column = match &plan.selection {
        None => Some(raw),
        Some(selection) => selection.map(raw),
    };
    if let Some(column) = column {
        if plan.width.is_some_and(|width| column as usize >= width) {
            out.block.outside += 1;
        } else {
            if number.long {
                out.long_text(column, &piece[start..stop]);
            }
            out.staging.push(column, number.value, number.places);
        }
    }
    Ok(stop)
}

#[inline]
fn skip_blanks(piece: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && piece[at].is_ascii_whitespace() {
        at += 1;
    }
    at
}

fn token_end(piece: &[u8], at: usize, end: usize) -> usize {
    piece[at..end].iter().position(|b| b.is_ascii_whitespace()).map_or(end, |len| at + len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts of values, the usual ones more often.
    const VALUES: [&str; 26] = [
        "1",
        "0",
        "0.5",
        "-0.25",
        "0.0117647",
        "3",
        "12",
        "-7",
        "1",
        "0.0450151",
        "12345678",
        "123456789",
        "12.5",
        "1.50",
        "-0",
        "1e-3",
        "+2",
        "0.1234567890123456",
        "5.",
        "x",
        "nan",
        "",
        "1e400",
        "0.00",
        "-0.1234567",
        "12.50",
    ];

    fn plan() -> SvmPlan {
        SvmPlan {
            base: 1,
            base_guessed: false,
            selection: None,
            width: None,
            labels_optional: false,
            allow_lossy: false,
            keep_rejects: false,
        }
    }

    #[test]
    fn lines_comments_and_query_ids() {
        let text = b"# head\n+1 qid:3 1:0.5 4:-2 # tail\n\n-1 2:1e1\r\nspam 3:0";
        let block = parse(text, &plan(), None, usize::MAX, &mut Buffers::default());
        assert_eq!(block.bad.count, 0);
        assert!(block.query_ids);
        assert_eq!(block.labels.names, ["1", "-1", "spam"]);
        assert_eq!(block.store.nonzeros(), 3);
        assert_eq!(block.lines, [(0, 1), (1, 3)]);
        let mut row = Vec::new();
        block.store.for_each(0, &mut Vec::new(), |j, v| row.push((j, v)));
        assert_eq!(row, [(0, 0.5), (3, -2.0)]);
    }

    #[test]
    fn faults_are_found() {
        for (text, code) in [
            ("1 0:1", Code::BAD_INDEX),
            ("1 x:1", Code::BAD_INDEX),
            ("1 -3:1", Code::BAD_INDEX),
            ("1 3", Code::BAD_PAIR),
            ("1 3:1 3:2", Code::INDEX_ORDER),
            ("1 3:1 2:2", Code::INDEX_ORDER),
            ("1 3:0 3:0", Code::INDEX_ORDER),
            ("1 999999999999:1", Code::INDEX_TOO_LARGE),
            ("1 99999999999999999999999:1", Code::INDEX_TOO_LARGE),
            ("1 3:x", Code::NOT_A_NUMBER),
            ("1 3:nan", Code::NOT_FINITE),
            ("1 3:1e400", Code::OUT_OF_RANGE),
            ("3:1 4:1", Code::LABEL_VALUE),
            ("a\0 3:1", Code::NUL_BYTE),
        ] {
            let block = parse(text.as_bytes(), &plan(), None, usize::MAX, &mut Buffers::default());
            assert_eq!(block.bad.problems.first().map(|p| p.code), Some(code), "{text}");
            assert_eq!(block.store.rows(), 0);
        }
    }

    #[test]
    fn a_guessed_base_gives_way() {
        let plan = SvmPlan { base_guessed: true, ..plan() };
        assert!(parse(b"1 0:1 1:1\n", &plan, None, usize::MAX, &mut Buffers::default()).index_zero);
        assert_eq!(smallest_index(b"1 3:1 9:2 # 0:1\n-1 2:5\n"), Some(2));
    }

    #[test]
    fn columns_can_be_chosen() {
        let selection = Selection(vec![(0..2, 0), (5..7, 2)]);
        let block = parse(
            b"1 1:1 3:2 6:3 7:4 8:5\n",
            &SvmPlan { selection: Some(selection), ..plan() },
            None,
            usize::MAX,
            &mut Buffers::default(),
        );
        let mut row = Vec::new();
        block.store.for_each(0, &mut Vec::new(), |j, v| row.push((j, v)));
        assert_eq!(row, [(0, 1.0), (2, 3.0), (3, 4.0)]);
    }

    #[test]
    fn format_is_known_by_its_look() {
        assert_eq!(looks_like(b"1 1:0.5 2:3"), Some(true));
        assert_eq!(looks_like(b"# only a comment"), None);
        assert_eq!(looks_like(b"1"), None);
        assert_eq!(looks_like(b"1,2,3"), Some(false));
        assert_eq!(looks_like(b"12:30 text"), Some(false));
        assert_eq!(looks_like(b"a b:c"), Some(false));
    }

    proptest! {
        #[test]
        fn a_comment_which_asks_for_care_changes_nothing(
            rows in prop::collection::vec(
                prop::collection::vec((0usize..9, prop::sample::select(VALUES.to_vec())), 0..12),
                1..40),
            end in prop::sample::select(vec!["\n", "\r\n", " \n"]),
            width in prop::sample::select(vec![None, Some(40)]),
            blank in prop::sample::select(vec!["", "", " "]), chosen: bool, long: bool,
        ) {
            let text = |comment: &str| -> String {
                let line = |(k, row): (usize, &Vec<(usize, &str)>)| {
                    // Mostly rising indices; a step of 0 repeats one.
                    let mut index = 1;
                    let pairs = row.iter().map(|(step, value)| {
                        index += step;
                        format!(" {index}:{value}")
                    });
                    // Longer than what is read at a time.
                    let more = if long && k % 5 == 0 { 200 } else { 0 };
                    let pairs: String = pairs.collect();
                    let more: String = (0..more).map(|j| format!(" {}:0.{j}", 300 + j)).collect();
                    format!("{}{blank}{pairs}{more}{comment}{end}", k % 3)
                };
                rows.iter().enumerate().map(line).collect()
            };
            let ranges = [(1, 30), (40, 90), (310, 450)];
            let selection = Selection::of_ranges(&ranges[..if chosen { 3 } else { 0 }]);
            let plan = SvmPlan { width, selection, ..plan() };
            let block = |text: &str| {
                parse(text.as_bytes(), &plan, None, usize::MAX, &mut Buffers::default())
            };
            let (quick, careful) = (block(&text("")), block(&text(" # x")));
            let rows_of = |block: &Block| {
                let mut rows = vec![Vec::new(); block.store.rows()];
                for (i, row) in rows.iter_mut().enumerate() {
                    block.store.for_each(i, &mut Vec::new(), |j, v| row.push((j, v.to_bits())));
                }
                rows
            };
            prop_assert_eq!(rows_of(&quick), rows_of(&careful));
            prop_assert_eq!(quick.store.kind(), careful.store.kind());
            prop_assert_eq!(quick.store.width(), careful.store.width());
            let places = |block: &Block| (0..600).map(|j| block.store.places(j)).collect::<Vec<_>>();
            prop_assert_eq!(places(&quick), places(&careful));
            prop_assert_eq!(quick.store.largest_by_column(), careful.store.largest_by_column());
            prop_assert_eq!(&quick.labels.codes, &careful.labels.codes);
            prop_assert_eq!(&quick.lines, &careful.lines);
            prop_assert_eq!(&quick.long_columns, &careful.long_columns);
            prop_assert_eq!((quick.outside, quick.records), (careful.outside, careful.records));
            prop_assert_eq!(quick.bad.count, careful.bad.count);
            let codes = |block: &Block| {
                block.bad.problems.iter().map(|p| (p.code, p.place.line)).collect::<Vec<_>>()
            };
            prop_assert_eq!(codes(&quick), codes(&careful));
        }
    }
}
