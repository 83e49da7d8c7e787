//! Text of users made safe for a terminal.
//!
//! Names, labels and paths come from files. Control characters in them (ESC, U+009B) begin sequences that
//! move the cursor or rename the window, and marks of direction (U+202E) show text other than it is. All
//! that a person is to read goes through here, whatever command prints it.

/// Whether a character does something to a terminal rather than show there.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with everything unprintable written as `\u{1b}`; line breaks stay.
pub fn escaped(text: &str) -> String {
    escaped_but(text, &['\n'])
}

/// The same for lines of fields: the tabs between them stay, too.
pub fn escaped_lines(text: &str) -> String {
    escaped_but(text, &['\n', '\t'])
}

fn escaped_but(text: &str, kept: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unprintable(c) && !kept.contains(&c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    out
}

/// JSON text with everything unprintable written as `\u001b`, so that it means the same.
pub fn escaped_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c if is_unprintable(c) => {
                let mut units = [0; 2];
                out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => out.push(c),
        }
    }
    out
}

/// Text from a file on one line, cut after `limit` characters.
pub fn printable(bytes: &[u8], limit: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * limit)]);
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            out.push('…');
            break;
        }
        match c {
            '\t' => out.push(' '),
            c if is_unprintable(c) => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_files_cannot_steer_a_terminal() {
        assert_eq!(printable(b"a\x1b[31mb\n", 60), "a\\u{1b}[31mb\\n");
        assert_eq!(printable("äöü€".as_bytes(), 3), "äöü…");
        assert_eq!(printable(&[0xff, b'x'], 60), "\u{fffd}x");
        assert_eq!(printable("a\u{202e}b\u{9b}c".as_bytes(), 60), "a\\u{202e}b\\u{9b}c");
        assert_eq!(escaped("a\u{202e}\x1b\u{9b}\tb\nc\r"), "a\\u{202e}\\u{1b}\\u{9b}\\tb\nc\\r");
        assert_eq!(escaped_lines("a\tb\nc\r"), "a\tb\nc\\r");
        // Escaping twice is escaping once.
        assert_eq!(escaped(&escaped("\x1b")), escaped("\x1b"));
    }

    #[test]
    fn escaped_json_means_the_same() {
        for text in ["plain", "\u{202e}\u{9b}\u{1b}", "\u{2067}x\u{61c}"] {
            let json = serde_json::to_string(text).unwrap();
            let escaped = escaped_json(&json);
            assert!(!escaped.chars().any(is_unprintable), "{escaped}");
            assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }
    }
}
