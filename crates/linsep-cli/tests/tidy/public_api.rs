//! The public API of the libraries against `docs/reference/public-api.txt`.
//!
//! The list has every item that the documentation shows, with its fields, variants and methods, and every
//! item that is public but hidden from the documentation. It is made from the pages that rustdoc writes,
//! so it knows what macros and re-exports make. A change of the API shows as a change of the list:
//! `LINSEP_UPDATE_API=1 cargo nextest run -p linsep-cli --test tidy public_api` writes it anew; look at
//! the difference before it is committed. The list has names, not signatures.

use crate::sources::{library_files, root};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

const LIST: &str = "docs/reference/public-api.txt";

const CRATES: [&str; 4] = ["linsep", "linsep-data", "linsep-proof", "linsep-teach"];

/// Where on a page the items of the type itself end.
const ENDS: [&str; 6] = [
    "id=\"trait-implementations\"",
    "id=\"synthetic-implementations\"",
    "id=\"blanket-implementations\"",
    "id=\"foreign-impls\"",
    "id=\"implementors\"",
    "id=\"deref-methods",
];

/// What rustdoc calls the parts of an item, and what the list calls them.
const PARTS: [(&str, &str); 6] = [
    ("structfield.", "field"),
    ("variant.", "variant"),
    ("associatedconstant.", "constant"),
    ("associatedtype.", "type"),
    ("tymethod.", "method"),
    ("method.", "method"),
];

/// Everything between `before` and the next quote, at each place.
fn quoted<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let after = move |(at, _): (usize, &str)| &text[at + before.len()..];
    text.match_indices(before).map(after).filter_map(|rest| rest.split('"').next())
}

/// The parts of the item of a page, in the order of their names.
fn parts(page: &str) -> Vec<String> {
    let end = ENDS.iter().filter_map(|mark| page.find(mark)).min().unwrap_or(page.len());
    let name = |id: &str| {
        PARTS.iter().find_map(|(start, word)| Some(format!("{} {word}", id.strip_prefix(start)?)))
    };
    // Rustdoc has one more mark around all fields of a variant.
    let ids = quoted(&page[..end], "id=\"").filter(|id| !id.ends_with(".fields"));
    let mut found: Vec<String> = ids.filter_map(name).collect();
    // A field of a variant is `Variant.field.name` of rustdoc.
    found.iter_mut().for_each(|line| *line = line.replace(".field.", "."));
    found.sort();
    found.dedup();
    found
}

/// The items of a crate whose documentation stands in `folder`.
fn items(name: &str, folder: &Path) -> String {
    let read = |path: &str| {
        let path = folder.join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let all = read("all.html");
    // `run/struct.Limits.html`: the folders are modules, then the kind and the name.
    let mut lines: Vec<(String, String)> = Vec::new();
    for address in quoted(&all, "<li><a href=\"") {
        let (modules, file) = address.rsplit_once('/').unwrap_or(("", address));
        let Some((kind, item)) = file.trim_end_matches(".html").split_once('.') else { continue };
        let modules = modules.split('/').filter(|module| !module.is_empty());
        let path: Vec<&str> = [name].into_iter().chain(modules).chain([item]).collect();
        let parts = parts(&read(address)).into_iter().map(|part| format!("    {part}\n"));
        lines.push((format!("{} {kind}\n", path.join("::")), parts.collect()));
    }
    assert!(lines.len() > 10, "{name} shows {} items only", lines.len());
    lines.sort();
    lines.into_iter().map(|(item, parts)| item + &parts).collect()
}

/// The items that are public for other crates of the workspace and hidden from users.
fn hidden() -> String {
    let mut text = String::new();
    for file in library_files() {
        let lines: Vec<&str> = file.text.lines().collect();
        for (i, _) in lines.iter().enumerate().filter(|(_, l)| l.trim() == "#[doc(hidden)]") {
            let item = lines[i + 1..].iter().find(|line| !line.trim().starts_with('#'));
            let item = item.map_or("", |line| line.trim()).split(['(', '{', ';', '<']).next();
            let _ = writeln!(text, "{} {}", file.path, item.unwrap_or("").trim());
        }
    }
    text
}

fn documentation() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public-api");
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    command.args(["doc", "--quiet", "--no-deps", "--offline", "--all-features", "--target-dir"]);
    command.arg(&target).current_dir(root());
    CRATES.iter().for_each(|name| {
        command.args(["-p", name]);
    });
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("doc")
}

#[test]
fn the_public_items_are_those_of_the_list() {
    let folder = documentation();
    let mut found = String::from(
        "# The public API, item by item: LINSEP_UPDATE_API=1 writes this list (see\n\
         # crates/linsep-cli/tests/tidy/public_api.rs). A line that goes or changes breaks users.\n",
    );
    for name in CRATES.map(|name| name.replace('-', "_")) {
        let _ = write!(found, "\n## {name}\n\n{}", items(&name, &folder.join(&name)));
    }
    let _ = write!(
        found,
        "\n## Public for other crates of the workspace, not for users\n\n{}",
        hidden()
    );
    let path = root().join(LIST);
    if std::env::var_os("LINSEP_UPDATE_API").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let missing = |a: &str, b: &str, sign: char| -> Vec<String> {
        let (a, b) = (with_paths(a), with_paths(b));
        a.into_iter()
            .filter(|line| !b.contains(line))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    let mut changes = missing(&listed, &found, '-');
    changes.extend(missing(&found, &listed, '+'));
    assert!(
        changes.is_empty(),
        "{LIST} is not the public API; LINSEP_UPDATE_API=1 writes it anew:\n{}",
        changes.join("\n")
    );
}

/// The lines, each part with the item that it belongs to.
fn with_paths(list: &str) -> std::collections::BTreeSet<String> {
    let mut item = "";
    let mut lines = std::collections::BTreeSet::new();
    for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("    ") {
            Some(part) => lines.insert(format!("{item}: {part}")),
            None => {
                item = line;
                lines.insert(line.to_owned())
            }
        };
    }
    lines
}

#[test]
fn parts_are_read_from_pages() {
    let page = "<a id=\"structfield.b\"><a id=\"method.new\"><a id=\"variant.A.field.x\">\
                <h2 id=\"trait-implementations\"><a id=\"method.clone\">";
    assert_eq!(parts(page), ["A.x variant", "b field", "new method"]);
    let list = "# words\nlinsep::A struct\n    new method\nlinsep::f fn\n";
    let lines: Vec<String> = with_paths(list).into_iter().collect();
    assert_eq!(lines, ["linsep::A struct", "linsep::A struct: new method", "linsep::f fn"]);
}
