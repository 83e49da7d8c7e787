//! What a file is, by its first bytes: svmlight or a table, the delimiter, the decimal mark, the header.

use super::blanks;
use super::csv;
use super::forms::Form;
use super::number;
use super::options::{Format, ReadOptions};
use super::other::{not_columnar, other_format};
use super::svmlight;
use crate::error::{self, Code, Error, Place, Problem};
use crate::table::labels::is_missing;
use std::collections::HashSet;

/// Records that are looked at to find types.
pub(super) const SAMPLE: usize = 1000;

/// What was found out.
pub(crate) struct Sniffed {
    /// Bytes and lines before the first data record: byte-order mark, blank lines, header.
    pub(crate) skip: usize,
    pub(crate) skip_lines: u64,
    pub(crate) kind: SniffedKind,
    /// Fields are parted by blanks, which become tabs before anything else is done.
    pub(crate) blanks: bool,
}

pub(crate) enum SniffedKind {
    Svmlight {
        /// 0 or 1, and whether it was only guessed.
        base: (u8, bool),
    },
    Table(Table),
}

/// A delimited table.
pub(crate) struct Table {
    pub(crate) delimiter: u8,
    pub(crate) header: Option<Vec<String>>,
    pub(crate) width: usize,
    /// Numbers are written as `0,59`.
    pub(crate) decimal_comma: bool,
    /// A number in which a comma may part thousands as well.
    pub(crate) unclear_comma: Option<String>,
    /// The names as they are written; `header` has a name once only.
    pub(crate) written_names: Vec<String>,
    /// The line of the first record, if the table is text.
    pub(crate) first_line: Option<u64>,
    /// The first records, as text.
    pub(crate) sample: Vec<Vec<String>>,
    /// Why a column is neither numbers nor text, by column; empty for text.
    pub(crate) foreign: Vec<Option<String>>,
}

impl Table {
    /// The name of a column, or its number.
    pub(crate) fn column_name(&self, column: usize) -> String {
        match &self.header {
            Some(names) if !names[column].is_empty() => names[column].clone(),
            _ => format!("#{}", column + 1),
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        self.header.as_deref().unwrap_or(&[])
    }

    /// The number in a field, with a decimal comma where the table has those.
    pub(crate) fn number(&self, field: &str) -> Result<number::Number, number::Fault> {
        match self.decimal_comma {
            false => number::parse(field.as_bytes()),
            true if field.contains('.') => Err(number::Fault::NotANumber),
            true => number::parse(field.replace(',', ".").as_bytes()),
        }
    }
}

/// Looks at the first bytes of the part named `file`; `whole` says that there are no more. `None` where
/// more of them are needed to tell.
pub(super) fn sniff(
    head: &[u8],
    whole: bool,
    file: &str,
    options: &ReadOptions,
) -> error::Result<Option<Sniffed>> {
    let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    if let Some((words, help)) = other_format(&head[mark..]) {
        return Err(Problem::new(Code::WRONG_FORMAT, words, Place::file(file)).help(help).into());
    }
    let (mut blank, mut blank_lines) = skip_blank_lines(&head[mark..]);
    // A first line by which spreadsheets say what parts the fields.
    let said = separator_line(&head[mark + blank..]);
    let own;
    let options = match said {
        Some((delimiter, len)) => {
            (blank, blank_lines) = (blank + len, blank_lines + 1);
            own =
                ReadOptions { delimiter: options.delimiter.or(Some(delimiter)), ..options.clone() };
            &own
        }
        None => options,
    };
    let text = &head[mark + blank..];
    if text.is_empty() && !whole {
        return Ok(None);
    }
    if text.is_empty() {
        let problem = Problem::new(Code::EMPTY, "the input is empty", Place::file(file));
        return Err(problem
            .help("check the path, and that what writes the file has finished")
            .into());
    }
    // The end of the head may cut a line.
    let lines = match memchr::memrchr(b'\n', text) {
        _ if whole => text,
        Some(end) => &text[..=end],
        None => return Ok(None),
    };
    let Some(is_svmlight) = is_svmlight(lines, whole, file, options)? else { return Ok(None) };
    let mut sniffed = if is_svmlight {
        let base = match options.index_base {
            Some(base) => (base, false),
            None => (u8::from(svmlight::smallest_index(text) != Some(0)), true),
        };
        let kind = SniffedKind::Svmlight { base };
        Sniffed { skip: 0, skip_lines: 0, kind, blanks: false }
    } else {
        let sniffed = match options.delimiter {
            Some(b' ') => sniff_blanks(text, whole, file, options)?,
            None if options.format == Format::Auto && is_parted_by_blanks(lines) => {
                sniff_blanks(text, whole, file, options)?
            }
            _ => sniff_table(text, whole, file, options)?,
        };
        match sniffed {
            Some(sniffed) => sniffed,
            None => return Ok(None),
        }
    };
    sniffed.skip += mark + blank;
    sniffed.skip_lines += blank_lines;
    if let SniffedKind::Table(table) = &mut sniffed.kind {
        table.first_line = table.first_line.map(|line| line + blank_lines);
    }
    Ok(Some(sniffed))
}

/// The delimiter in a line such as `sep=;`, and the length of the line.
fn separator_line(text: &[u8]) -> Option<(u8, usize)> {
    let rest = text.strip_prefix(b"sep=").or(text.strip_prefix(b"SEP="))?;
    match rest {
        [b',' | b';' | b'|' | b'\t', b'\n', ..] => Some((rest[0], 6)),
        [b',' | b';' | b'|' | b'\t', b'\r', b'\n', ..] => Some((rest[0], 7)),
        _ => None,
    }
}

/// Whether these lines are svmlight; `None` where they are nothing but comments and more are to come.
fn is_svmlight(
    text: &[u8],
    whole: bool,
    file: &str,
    options: &ReadOptions,
) -> error::Result<Option<bool>> {
    match options.format {
        Format::Svmlight => return Ok(Some(true)),
        Format::Csv | Format::Tsv => return Ok(Some(false)),
        // Those are known by their first bytes, and this is none of them.
        Format::Parquet | Format::Arrow => return Err(not_columnar(options.format, file)),
        Format::Auto => {}
    }
    let is_comment = |line: &[u8]| {
        let line = line.trim_ascii();
        line.is_empty() || line.starts_with(b"#")
    };
    let mut lines = text.split(|&b| b == b'\n').filter(|line| !is_comment(line)).peekable();
    let only_comments = lines.peek().is_none();
    if only_comments && !whole {
        return Ok(None);
    }
    let looks: Vec<bool> = lines.take(50).filter_map(svmlight::looks_like).collect();
    let svm_name = has_svmlight_name(file);
    // One damaged line among good ones must not turn svmlight into a table.
    let pairs = looks.iter().filter(|&&look| look).count();
    if pairs > 0 {
        return Ok(Some(svm_name || 2 * pairs >= looks.len()));
    }
    if !looks.is_empty() {
        return Ok(Some(first_line_has_pair(text)));
    }
    if only_comments && svm_name {
        let words = "the input holds only comments";
        return Err(Error::data(Code::EMPTY, words, Place::file(file)));
    }
    Ok(Some(svm_name))
}

/// `data.svm`, `data.libsvm.gz` and the like.
fn has_svmlight_name(file: &str) -> bool {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(name);
    [".svm", ".svmlight", ".libsvm"].iter().any(|end| name.ends_with(end))
}

/// A damaged svmlight line such as `1 0:x` still shows what it wants to be.
fn first_line_has_pair(text: &[u8]) -> bool {
    let line = text.split(|&b| b == b'\n').next().unwrap_or(b"");
    let mut tokens =
        line.split(|b| b.is_ascii_whitespace()).filter(|t| !t.is_empty()).skip(1).peekable();
    tokens.peek().is_some()
        && tokens.all(|token| {
            memchr::memchr(b':', token)
                .is_some_and(|at| at > 0 && token[..at].iter().all(|b| b.is_ascii_digit()))
        })
}

fn skip_blank_lines(text: &[u8]) -> (usize, u64) {
    let (mut at, mut lines) = (0, 0);
    while at < text.len() {
        match csv::blank_line(text, at) {
            Some(next) => (at, lines) = (next, lines + 1),
            None => break,
        }
    }
    (at, lines)
}

/// Whether lines have no delimiter, but the same number of fields between blanks.
fn is_parted_by_blanks(text: &[u8]) -> bool {
    if find_delimiter(text).is_some() {
        return false;
    }
    let lines = text.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let counts: Vec<usize> = lines.take(20).map(blanks::count).collect();
    let Some((&first, rest)) = counts.split_first() else { return false };
    even_count(first, rest) > Some(1)
}

/// The fields of nearly all records: as many as the first has, or one more than a header has names.
fn even_count(first: usize, rest: &[usize]) -> Option<usize> {
    let like = |wanted: usize| rest.iter().filter(|&&count| count == wanted).count();
    if 10 * (like(first) + 1) >= 8 * (rest.len() + 1) {
        return Some(first);
    }
    (!rest.is_empty() && 10 * like(first + 1) >= 9 * rest.len()).then_some(first + 1)
}

/// The same for fields that are parted by blanks.
fn sniff_blanks(
    text: &[u8],
    whole: bool,
    file: &str,
    options: &ReadOptions,
) -> error::Result<Option<Sniffed>> {
    let tabs = blanks::with_tabs(text);
    let options = ReadOptions { delimiter: Some(b'\t'), ..options.clone() };
    let Some(mut sniffed) = sniff_table(&tabs, whole, file, &options)? else { return Ok(None) };
    // Tabs stand for blanks, line breaks for themselves.
    let breaks = memchr::memchr_iter(b'\n', &tabs[..sniffed.skip]).count();
    let end = memchr::memchr_iter(b'\n', text).take(breaks).last();
    sniffed.skip = end.map_or(0, |at| at + 1);
    sniffed.blanks = true;
    Ok(Some(sniffed))
}

/// What a table is like; `None` where the head ends within its first two records.
fn sniff_table(
    text: &[u8],
    whole: bool,
    file: &str,
    options: &ReadOptions,
) -> error::Result<Option<Sniffed>> {
    let delimiter = match (options.delimiter, options.format) {
        (Some(delimiter), _) => delimiter,
        (None, Format::Tsv) => b'\t',
        _ => find_delimiter(text).unwrap_or(b','),
    };
    let mut records = Vec::new();
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() && records.len() <= SAMPLE {
        if let Some(next) = csv::blank_line(text, at) {
            at = next;
            continue;
        }
        let Ok((fields, len)) = csv::fields(&text[at..], delimiter) else { break };
        at += len;
        records.push(fields);
        ends.push(at);
    }
    if !whole && at >= text.len() {
        // The end of the head may cut the last record.
        records.pop();
    }
    if !whole && records.len() < 2 {
        return Ok(None);
    }
    let Some(first) = records.first() else {
        // The very first record is broken; the parser says how.
        let (header, written_names) = (None, Vec::new());
        let sample = Vec::new();
        let table = Table {
            delimiter,
            header,
            width: 1,
            decimal_comma: false,
            unclear_comma: None,
            written_names,
            first_line: Some(1),
            sample,
            foreign: Vec::new(),
        };
        let kind = SniffedKind::Table(table);
        return Ok(Some(Sniffed { skip: 0, skip_lines: 0, kind, blanks: false }));
    };
    // R names its columns, but not the one with the names of the rows.
    let shifted = options.header != Some(false) && lacks_a_name(&records);
    let width = first.len() + usize::from(shifted);
    let has_header = options.header.unwrap_or_else(|| shifted || looks_like_header(&records));
    let (mut skip, mut skip_lines, mut header) = (0, 0, None);
    if has_header {
        let mut names = records.remove(0);
        if shifted {
            names.insert(0, String::new());
        }
        check_header(&text[..ends[0]], file)?;
        skip = ends[0];
        skip_lines = memchr::memchr_iter(b'\n', &text[..skip]).count() as u64;
        header = Some(names);
    }
    let written_names = header.clone().unwrap_or_default();
    let header = header.map(unique_names);
    let first_line = Some(skip_lines + 1);
    let sample = records;
    let (decimal_comma, unclear_comma) = match options.decimal {
        Some(decimal) => (decimal == b',', None),
        None => decimal_commas(&sample, delimiter),
    };
    let table = Table {
        delimiter,
        header,
        width,
        decimal_comma,
        unclear_comma,
        written_names,
        first_line,
        sample,
        foreign: Vec::new(),
    };
    Ok(Some(Sniffed { skip, skip_lines, kind: SniffedKind::Table(table), blanks: false }))
}

/// Whether all records have one field more than the first, which has only words, and begin with a name of
/// the row or its number.
fn lacks_a_name(records: &[Vec<String>]) -> bool {
    let Some((first, rest)) = records.split_first() else { return false };
    let is_word = |field: &String| number::parse(field.as_bytes()).is_err();
    let longer = |record: &Vec<String>| record.len() == first.len() + 1;
    // Records that end with a delimiter are another thing, and so are decimal commas.
    let ended = rest.iter().all(|record| record.last().is_some_and(String::is_empty));
    let names = rest.iter().filter_map(|record| record.first());
    let counted = names.clone().zip(1u64..).all(|(name, row)| *name == row.to_string());
    !rest.is_empty()
        && !ended
        && rest.iter().all(longer)
        && first.iter().all(is_word)
        && (counted || names.clone().all(is_word))
}

/// Whether numbers are written with a decimal comma, or a number in which the comma may part thousands as
/// well, so that a person has to say.
fn decimal_commas(sample: &[Vec<String>], delimiter: u8) -> (bool, Option<String>) {
    let (mut commas, mut points, mut groups) = (0, 0, None);
    for field in sample.iter().flatten() {
        // Most fields have no comma, and it takes long to tell what a text looks like.
        let form = field.contains(',').then(|| Form::of(field)).flatten();
        match form {
            Some(Form::DecimalComma) => commas += 1,
            Some(Form::Thousands) if field.matches(',').count() == 1 && !field.contains('.') => {
                groups = groups.or(Some(field));
            }
            _ if points > 0 => {}
            _ => {
                let number = || number::parse(field.as_bytes()).is_ok();
                points += usize::from(field.contains('.') && number());
            }
        }
    }
    match (commas, points) {
        (1.., 0) => (true, None),
        // Where commas part the fields, a number in quotes has separators.
        (0, 0) if delimiter != b',' => (false, groups.cloned()),
        _ => (false, None),
    }
}

/// A name that stood before gets the number of its column: `a`, `a#2`.
pub(super) fn unique_names(mut names: Vec<String>) -> Vec<String> {
    let mut before = HashSet::new();
    for (at, name) in names.iter_mut().enumerate() {
        if before.contains(name) {
            *name = format!("{}#{}", name, at + 1);
        }
        before.insert(name.clone());
    }
    names
}

fn check_header(bytes: &[u8], file: &str) -> error::Result<()> {
    let place = || Place { line: Some(1), ..Place::file(file) };
    if memchr::memchr(0, bytes).is_some() {
        return Err(Error::data(Code::NUL_BYTE, "the header holds a NUL byte", place()));
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(()),
        Err(e) => Err(Error::data(
            Code::NOT_UTF8,
            "the header is not valid UTF-8",
            Place { column: Some(e.valid_up_to() as u64 + 1), ..place() },
        )),
    }
}

/// The delimiter that cuts the first records into the same number of fields, the most fields first.
fn find_delimiter(text: &[u8]) -> Option<u8> {
    let score = |delimiter: u8| {
        let mut at = 0;
        let mut counts = Vec::new();
        while at < text.len() && counts.len() < 20 {
            if let Some(next) = csv::blank_line(text, at) {
                at = next;
                continue;
            }
            let Ok((fields, len)) = csv::count_fields(&text[at..], delimiter) else { break };
            counts.push(fields);
            at += len;
        }
        // The last record of the sample may be cut.
        if counts.len() > 2 && at >= text.len() {
            counts.pop();
        }
        let first = counts.first().copied().unwrap_or(0);
        let fields = counts.split_first().and_then(|(first, rest)| even_count(*first, rest));
        let several = fields > Some(1);
        (several, several && fields == Some(first), fields.unwrap_or(first))
    };
    let found = [b',', b';', b'\t', b'|']
        .into_iter()
        .rev()
        .map(|delimiter| (score(delimiter), delimiter))
        .max_by_key(|&(score, _)| score)
        .filter(|&((_, _, fields), _)| fields > 1)
        .map(|(_, delimiter)| delimiter);
    match found {
        Some(b',') if score(b';').1 && has_decimal_commas(text, b';') => Some(b';'),
        found => found,
    }
}

/// Whether every comma of the first records is the decimal mark of a field between these delimiters.
fn has_decimal_commas(text: &[u8], delimiter: u8) -> bool {
    let (mut at, mut commas) = (0, 0);
    for _ in 0..20 {
        if let Some(next) = csv::blank_line(text, at) {
            at = next;
        }
        let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else { break };
        let Ok((fields, len)) = csv::fields(rest, delimiter) else { break };
        for field in fields.iter().filter(|field| field.contains(',')) {
            // The last record of the sample may be cut.
            let whole = at + len < text.len() || text.ends_with(b"\n");
            if whole && Form::of(field) != Some(Form::DecimalComma) {
                return false;
            }
            commas += 1;
        }
        at += len;
    }
    commas > 0
}

/// A header names columns: where the next record has numbers, the first one has none, or it names
/// a label.
fn looks_like_header(records: &[Vec<String>]) -> bool {
    let first = &records[0];
    let is_number = |field: &String| number::parse(field.as_bytes()).is_ok();
    let is_word = |field: &String| !is_number(field) && !is_missing(field.as_bytes());
    if first.iter().any(|field| LABEL_NAMES.iter().any(|name| field.eq_ignore_ascii_case(name))) {
        return true;
    }
    if records.len() == 1 {
        return first.iter().all(is_word);
    }
    // The first value below that is not missing tells what a column holds.
    let below = |j: usize| {
        let values = records[1..].iter().take(50).filter_map(|record| record.get(j));
        values.into_iter().find(|field| !is_missing(field.as_bytes()))
    };
    let numeric: Vec<usize> = (0..first.len())
        .filter(|&j| below(j).is_some_and(|field| starts_like_number(field)))
        .collect();
    // An index may have no name.
    let may_be_name = |field: &String| is_word(field) || field.is_empty();
    numeric.iter().any(|&j| is_word(&first[j])) && numeric.iter().all(|&j| may_be_name(&first[j]))
}

/// `1,5` is no number here, but it is no column name either.
fn starts_like_number(field: &str) -> bool {
    field.trim_start_matches(['+', '-', '.']).starts_with(|c: char| c.is_ascii_digit())
}

/// Names by which a label column is known.
pub(crate) const LABEL_NAMES: [&str; 4] = ["label", "target", "class", "y"];

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> (Table, usize, u64) {
        let sniffed = sniff(text.as_bytes(), true, "t", &ReadOptions::default()).unwrap().unwrap();
        match sniffed.kind {
            SniffedKind::Table(table) => (table, sniffed.skip, sniffed.skip_lines),
            SniffedKind::Svmlight { .. } => panic!("{text} is a table"),
        }
    }

    #[test]
    fn delimiters_and_headers_are_found() {
        for (text, delimiter, header) in [
            ("a,b,c\n1,2,x\n", b',', true),
            ("1,2,x\n3,4,y\n", b',', false),
            ("a;b;c\n1,5;2,5;x\n", b';', true),
            ("a\tb\tlabel\n1\t2\tx,y\n", b'\t', true),
            ("1|2|x\n", b'|', false),
            ("label,0,1\n5,0,3\n", b',', true),
            ("\"a,b\";c\n\"1,2\";3\n", b';', true),
            ("NA,2,x\n3,4,y\n", b',', false),
            (",a,k\n0,1,x\n1,2,y\n", b',', true),
            (",2,k\n0,1,x\n1,2,y\n", b',', false),
            ("a;k\n1;0,5;x\n2;1,5;y\n", b';', true),
            ("5,1;3,5;0\n4,2;2,5;1\n", b';', false),
            ("5,1;3\n4,x;2\n", b',', false),
        ] {
            let (table, ..) = table(text);
            assert_eq!(table.delimiter, delimiter, "{text}");
            assert_eq!(table.header.is_some(), header, "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_blank_lines_are_skipped() {
        let (table, skip, lines) = table("\u{feff}\n\na,b\n1,x\n2,y\n");
        assert_eq!(table.header.unwrap(), ["a", "b"]);
        assert_eq!((skip, lines), (3 + 2 + 4, 3));
    }

    #[test]
    fn types_come_from_the_sample() {
        let (table, ..) = table("a,b,c,d,e\n1,1.5,x,1,\n2,2,y,z,NA\n");
        use crate::read::columns::{ColumnType::*, Look};
        let types: Vec<_> = (0..5).map(|j| Look::new(&table, j).kind).collect();
        assert_eq!(types, [Integer, Real, Text, Mixed, Empty]);
    }

    #[test]
    fn svmlight_is_found_by_content() {
        for text in ["1 1:2 3:4\n", "# c\n-1 2:0.5\n", "1\n1 7:1\n", "1 0:x\n"] {
            let sniffed = sniff(text.as_bytes(), true, "t.csv", &ReadOptions::default()).unwrap();
            assert!(matches!(sniffed.unwrap().kind, SniffedKind::Svmlight { .. }), "{text}");
        }
        for (text, code) in
            [("", Code::EMPTY), ("\n\n", Code::EMPTY), ("PAR1xx", Code::WRONG_FORMAT)]
        {
            assert_eq!(
                sniff(text.as_bytes(), true, "t", &ReadOptions::default()).err().unwrap().code(),
                code
            );
        }
    }
}
