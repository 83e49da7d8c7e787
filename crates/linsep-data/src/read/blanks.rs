//! Tables whose fields are parted by blanks, as R and people by hand write them, made into tables with
//! tabs: any number of blanks parts two fields, those at the ends of a line mean nothing, and quoted
//! fields keep theirs. Line breaks stay where they are.

/// The text with one tab between fields.
pub(super) fn with_tabs(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    // Whether a field has ended and another may follow.
    let mut pending = false;
    let mut line_start = true;
    while at < text.len() {
        let byte = text[at];
        match byte {
            b' ' | b'\t' => {
                pending = !line_start;
                at += 1;
            }
            b'\n' | b'\r' => {
                out.push(byte);
                (pending, line_start) = (false, true);
                at += 1;
            }
            _ => {
                if pending {
                    out.push(b'\t');
                }
                let end = field_end(text, at);
                out.extend_from_slice(&text[at..end]);
                (pending, line_start) = (false, false);
                at = end;
            }
        }
    }
    out
}

/// One past the field at `at`, quotes included.
fn field_end(text: &[u8], at: usize) -> usize {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
    if text[at] != b'"' {
        return text[at..].iter().position(is_blank).map_or(text.len(), |len| at + len);
    }
    let mut end = at + 1;
    while let Some(len) = memchr::memchr(b'"', &text[end..]) {
        end += len + 1;
        // R writes a quote inside of quotes as \", tables double it.
        match text.get(end) {
            Some(b'"') => end += 1,
            _ => return end,
        }
    }
    text.len()
}

/// The number of fields of a line.
pub(super) fn count(line: &[u8]) -> usize {
    let line = with_tabs(line);
    match line.is_empty() {
        true => 0,
        false => memchr::memchr_iter(b'\t', &line).count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_blanks_part_fields_and_quotes_keep_theirs() {
        let text = "  a   b\tc \r\n\"x  y\" 1  2\n\n 3 \"q \"\"r\"\" s\"";
        let wanted = "a\tb\tc\r\n\"x  y\"\t1\t2\n\n3\t\"q \"\"r\"\" s\"";
        assert_eq!(String::from_utf8(with_tabs(text.as_bytes())).unwrap(), wanted);
        assert_eq!((count(b" 1 2  3 \n"), count(b""), count(b"\"a b\" c")), (3, 0, 2));
        assert_eq!(with_tabs(b"\"open  quote"), b"\"open  quote");
    }
}
