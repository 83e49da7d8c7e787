//! The arrows between rooms: the table of ARCHITECTURE.md against the paths that the sources use.
//!
//! A room is a path below the `src` folder of a crate; a file belongs to the longest one that fits. Every
//! `crate::` and `super::` path of a file leads to a room, and that room must stand in the row of the
//! file's room. The rows of one crate must have no cycle.

use crate::sources::{Source, report, root, rust_files};
use std::collections::{BTreeMap, BTreeSet};

/// The rooms of a crate with those that each may use.
type Rooms = BTreeMap<String, BTreeSet<String>>;

/// The tables of ARCHITECTURE.md: a heading `### \`crate\`` and rows `| \`room\` | what | \`room\`, … |`.
fn tables() -> BTreeMap<String, Rooms> {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut tables: BTreeMap<String, Rooms> = BTreeMap::new();
    let mut name = None;
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("### ") {
            name = quoted(title).pop();
        } else if line.starts_with('#') {
            name = None;
        }
        let (Some(name), true) = (&name, line.starts_with("| `")) else { continue };
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").collect();
        let [rooms, _, uses] = cells[..] else { panic!("not three cells: {line}") };
        for room in quoted(rooms) {
            let uses = quoted(uses).into_iter().collect();
            assert!(tables.entry(name.clone()).or_default().insert(room, uses).is_none(), "{line}");
        }
    }
    assert!(tables.len() >= 3, "the tables were not found");
    tables
}

/// The module path of a source below `src`, or nothing for the root of the crate.
fn module_of(path: &str) -> Vec<String> {
    let below = path.split_once("/src/").map_or("", |(_, below)| below);
    let mut parts: Vec<String> =
        below.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

fn room_of<'a>(rooms: &'a Rooms, module: &[String]) -> Option<&'a str> {
    let path = module.join("/");
    let fits = |room: &&String| path == **room || path.starts_with(&format!("{room}/"));
    rooms.keys().filter(fits).max_by_key(|room| room.len()).map(String::as_str)
}

/// Every path that begins with `crate::` or `super::`, with its line, as a module path. Of a group in
/// braces every member counts.
fn paths(module: &[String], code: &[String]) -> Vec<(usize, Vec<String>)> {
    let mut found = Vec::new();
    for (number, line) in code.iter().enumerate() {
        for start in ["crate::", "super::"] {
            for (at, _) in line.match_indices(start) {
                let before = line[..at].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                    continue;
                }
                let mut rest = line[at + start.len()..].to_owned();
                let mut base = match start {
                    "crate::" => Vec::new(),
                    _ => module[..module.len().saturating_sub(1)].to_vec(),
                };
                while let Some(further) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = further.to_owned();
                }
                if rest.starts_with('{') {
                    let tail = rest.clone() + &code[number + 1..].concat();
                    rest = tail.split(';').next().unwrap_or("").to_owned();
                }
                for member in members(&rest) {
                    found.push((number + 1, [base.clone(), member].concat()));
                }
            }
        }
    }
    found
}

/// `a::b::{c, d::e}` as `a/b/c` and `a/b/d/e`.
fn members(text: &str) -> Vec<Vec<String>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let name: String = text.trim_start().chars().take_while(|&c| is_name(c)).collect();
    let rest = text.trim_start()[name.len()..].to_owned();
    let with = |mut tail: Vec<String>| {
        if !name.is_empty() {
            tail.insert(0, name.clone());
        }
        tail
    };
    if let Some(inner) = rest.strip_prefix("::").or(name.is_empty().then_some(rest.as_str())) {
        if let Some(group) = inner.strip_prefix('{') {
            let (mut depth, mut part, mut parts) = (0, String::new(), Vec::new());
            for c in group.chars() {
                match c {
                    '}' if depth == 0 => break,
                    ',' if depth == 0 => parts.push(std::mem::take(&mut part)),
                    _ => {
                        depth += i32::from(c == '{') - i32::from(c == '}');
                        part.push(c);
                    }
                }
            }
            parts.push(part);
            let full = parts.iter().filter(|part| !part.trim().is_empty());
            return full.flat_map(|part| members(part)).map(with).collect();
        }
        if !name.is_empty() {
            return members(inner).into_iter().map(with).collect();
        }
    }
    if name.is_empty() { Vec::new() } else { vec![vec![name]] }
}

/// What the root of a crate re-exports, by name: `crate::Plane` leads to the room of `Plane`.
fn re_exports(lib: &Source) -> BTreeMap<String, Vec<String>> {
    let code = lib.code();
    let mut found = BTreeMap::new();
    for (number, line) in code.iter().enumerate() {
        let Some((_, path)) =
            line.split_once("use ").filter(|(before, _)| before.starts_with("pub"))
        else {
            continue;
        };
        let tail = path.to_owned() + &code[number + 1..].concat();
        for member in members(tail.split(';').next().unwrap_or("")) {
            if let Some(last) = member.last() {
                found.insert(last.clone(), member.clone());
            }
        }
    }
    found
}

/// A source without its unit tests, which may use whatever they like.
fn without_tests(code: Vec<String>) -> Vec<String> {
    let end = code.iter().position(|line| line.starts_with("#[cfg(test)]"));
    let end = end.unwrap_or(code.len());
    code.into_iter().take(end).collect()
}

#[test]
fn every_path_follows_the_table_of_rooms() {
    let files = rust_files();
    let mut broken = Vec::new();
    for (name, rooms) in tables() {
        let folder = format!("crates/{name}/src/");
        let inside: Vec<&Source> = files.iter().filter(|file| file.is_under(&folder)).collect();
        let lib = inside.iter().find(|file| file.path == format!("{folder}lib.rs")).unwrap();
        let exports = re_exports(lib);
        let mut seen = BTreeSet::new();
        for file in &inside {
            let module = module_of(&file.path);
            if module.is_empty() {
                continue;
            }
            let Some(room) = room_of(&rooms, &module) else {
                broken.push(format!("{}:1: in no room of ARCHITECTURE.md", file.path));
                continue;
            };
            seen.insert(room.to_owned());
            for (line, mut path) in paths(&module, &without_tests(file.code())) {
                if let Some(real) = path.first().and_then(|first| exports.get(first)) {
                    path = real.clone();
                }
                let Some(other) = room_of(&rooms, &path) else { continue };
                if other != room && !rooms[room].contains(other) {
                    broken.push(format!("{}:{line}: {room} uses {other}", file.path));
                }
            }
        }
        let empty = rooms.keys().filter(|room| !seen.contains(*room));
        broken.extend(empty.map(|room| format!("ARCHITECTURE.md: {name} has no room {room}")));
    }
    report("paths against the arrows of ARCHITECTURE.md", &broken);
}

#[test]
fn the_table_of_rooms_has_no_cycle() {
    for (name, mut rooms) in tables() {
        for (room, uses) in &rooms {
            for other in uses {
                assert!(rooms.contains_key(other), "{name}: {room} uses {other}, which is no room");
            }
        }
        while !rooms.is_empty() {
            let free: Vec<String> = rooms
                .iter()
                .filter(|(_, uses)| uses.iter().all(|other| !rooms.contains_key(other)))
                .map(|(room, _)| room.clone())
                .collect();
            assert!(!free.is_empty(), "{name}: a cycle among {:?}", rooms.keys());
            free.iter().for_each(|room| drop(rooms.remove(room)));
        }
    }
}

#[test]
fn the_reader_of_paths_follows_groups_and_parents() {
    let lines = ["use crate::a::{b, c::{d, E}};", "super::super::f();", "use super::{", "g,", "};"];
    let code: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    let module = ["x", "y", "z"].map(str::to_owned);
    let found: Vec<(usize, String)> =
        paths(&module, &code).into_iter().map(|(line, path)| (line, path.join("/"))).collect();
    let expected = [(1, "a/b"), (1, "a/c/d"), (1, "a/c/E"), (2, "x/f"), (3, "x/y/g")];
    assert_eq!(found, expected.map(|(line, path)| (line, path.to_owned())));
}
