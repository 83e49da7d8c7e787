//! The files that a pattern such as `parts/*.csv` means.
//!
//! `*` is any text, `?` one character, `[a-c]` one of some, `[!a-c]` one of all others, and a component `**`
//! any number of folders. Nothing of these crosses a `/`, and a name that begins with a point is meant only
//! by a pattern that begins with one, as in a shell. Names need not be text: bytes that are no UTF-8 are
//! characters of one byte.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The files that match, in the order of their names. A folder that cannot be read is an error, not a gap.
pub(super) fn matching(pattern: &Path) -> io::Result<Vec<PathBuf>> {
    let mut places = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = match component {
            Component::Normal(name) => name,
            other => {
                places.iter_mut().for_each(|place| place.push(other));
                continue;
            }
        };
        if !is_pattern(name) {
            places.iter_mut().for_each(|place| place.push(name));
            places.retain(|place| place.symlink_metadata().is_ok());
        } else if name == "**" {
            let mut all = Vec::new();
            places.into_iter().try_for_each(|place| folders_below(place, &mut all))?;
            places = all;
        } else {
            let wanted = bytes(name);
            let mut found = Vec::new();
            for place in places {
                for name in names(&place)? {
                    if fits(&wanted, &bytes(&name)) {
                        found.push(place.join(name));
                    }
                }
            }
            places = found;
        }
    }
    places.retain(|place| place.is_file());
    places.sort();
    places.dedup();
    Ok(places)
}

/// Whether a name has characters that stand for others.
pub(super) fn is_pattern(name: &OsStr) -> bool {
    bytes(name).iter().any(|byte| b"*?[".contains(byte))
}

#[cfg(unix)]
fn bytes(name: &OsStr) -> Vec<u8> {
    std::os::unix::ffi::OsStrExt::as_bytes(name).to_vec()
}

#[cfg(not(unix))]
fn bytes(name: &OsStr) -> Vec<u8> {
    name.to_string_lossy().into_owned().into_bytes()
}

/// The names in a folder; none where there is no folder.
fn names(place: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let folder = if place.as_os_str().is_empty() { Path::new(".") } else { place };
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
}

/// A folder and all below it, without those that a point hides and without following links.
fn folders_below(top: PathBuf, all: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut waiting = vec![top];
    while let Some(place) = waiting.pop() {
        for name in names(&place)? {
            let below = place.join(&name);
            let is_folder = below.symlink_metadata().is_ok_and(|data| data.is_dir());
            if is_folder && !bytes(&name).starts_with(b".") {
                waiting.push(below);
            }
        }
        all.push(place);
    }
    Ok(())
}

/// Whether a name fits a pattern of one component.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    if name.starts_with(b".") && !pattern.starts_with(b".") {
        return false;
    }
    let (mut p, mut n) = (0, 0);
    // Where the last star stands, and what of the name it has taken: one more is the way back.
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some((p, n));
        } else if let Some((after, taken)) = one(&pattern[p..], &name[n..]) {
            p += after;
            n += taken;
        } else if let Some((after, taken)) = star {
            let next = taken + character(&name[taken..]);
            star = Some((after, next));
            (p, n) = (after, next);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// How much of pattern and name one character takes, if it fits.
fn one(pattern: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let taken = character(name);
    match pattern.first()? {
        b'?' => Some((1, taken)),
        b'[' => match class(pattern) {
            Some((members, len)) => members.holds(&name[..taken]).then_some((len, taken)),
            // A bracket without its end is a bracket.
            None => (name[0] == b'[').then_some((1, 1)),
        },
        byte => (name[0] == *byte).then_some((1, 1)),
    }
}

/// The length of the first character; a byte that is no text counts as one.
fn character(text: &[u8]) -> usize {
    let start = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or(""),
    };
    valid.chars().next().map_or(1, char::len_utf8)
}

/// `[a-z_]` or `[!a-z_]`.
struct Class<'a> {
    negated: bool,
    members: &'a str,
}

fn class(pattern: &[u8]) -> Option<(Class<'_>, usize)> {
    let negated = pattern.get(1) == Some(&b'!');
    let start = if negated { 2 } else { 1 };
    // The first member may be the closing bracket itself.
    let len = memchr::memchr(b']', pattern.get(start + 1..)?)? + 1;
    let members = std::str::from_utf8(&pattern[start..start + len]).ok()?;
    Some((Class { negated, members }, start + len + 1))
}

impl Class<'_> {
    fn holds(&self, name: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(name) else { return self.negated };
        let Some(character) = text.chars().next() else { return false };
        let members: Vec<char> = self.members.chars().collect();
        let mut at = 0;
        let mut found = false;
        while at < members.len() {
            match members[at..] {
                [from, '-', to, ..] => {
                    found |= (from..=to).contains(&character);
                    at += 3;
                }
                [one, ..] => {
                    found |= one == character;
                    at += 1;
                }
                [] => break,
            }
        }
        found != self.negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_mean_in_a_shell() {
        for (pattern, name, expected) in [
            ("*", "a", true),
            ("*", "", true),
            ("*", ".a", false),
            (".*", ".a", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("a?c", "abc", true),
            ("a?c", "aöc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[a-c]x", "dx", false),
            ("[!a-c]x", "dx", true),
            ("[]]x", "]x", true),
            ("[-a]", "-", true),
            ("[ab", "[ab", true),
            ("part-*.csv", "part-1.csv", true),
            ("part-*.csv", "part-1.csv.gz", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
        assert!(fits(b"a*.csv", b"a\xff\xfe.csv") && fits(b"a?", b"a\xff"));
        assert!(fits(b"[!x]", b"\xff") && !fits(b"[x]", b"\xff"));
        // No pattern takes longer than the square of the name.
        assert!(!fits(&b"*a".repeat(500), &[b'a'; 400]));
    }

    #[test]
    fn folders_are_walked_by_components() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a/1.csv", "a/2.csv", "b/1.csv", "b/c/3.csv", ".h/9.csv", "x.csv"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let found = |pattern: &str| -> Vec<String> {
            let files = matching(&folder.path().join(pattern)).unwrap();
            let name =
                |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().display().to_string();
            files.iter().map(name).collect()
        };
        assert_eq!(found("*/1.csv"), ["a/1.csv", "b/1.csv"]);
        assert_eq!(found("**/*.csv"), ["a/1.csv", "a/2.csv", "b/1.csv", "b/c/3.csv", "x.csv"]);
        assert_eq!(found("b/**/*.csv"), ["b/1.csv", "b/c/3.csv"]);
        assert_eq!(found(".h/*"), [".h/9.csv"]);
        assert!(found("none/*").is_empty() && found("x.csv/*").is_empty());
    }
}
