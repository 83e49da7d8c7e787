//! `--cost-matrix FILE`: what errors cost, a table with the names of the classes.
//!
//! The first line has the predicted classes, each other line a true class and its costs:
//!
//! ```text
//! true,no,yes
//! no,0,1
//! yes,10,0
//! ```

use crate::context::Context;
use crate::exit::Failure;
use linsep::model::Costs;
use linsep::{Error, printable};
use std::path::Path;

/// Files of more bytes are no tables of costs.
const MOST_BYTES: u64 = 16 << 20;

/// The costs of a file, in the order of these classes.
pub(super) fn read(path: &Path, classes: &[String], context: &Context) -> Result<Costs, Failure> {
    context.files.read(path)?;
    let size = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
    if size > MOST_BYTES {
        return Err(wrong(path, "is too large for a table of costs").into());
    }
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let text = String::from_utf8_lossy(&bytes);
    table(text.trim_start_matches('\u{feff}'), classes).map_err(|words| wrong(path, &words).into())
}

fn wrong(path: &Path, words: &str) -> Error {
    Error::usage(format!("--cost-matrix: {} {words}", path.display()))
}

/// The costs, or what is wrong and where.
fn table(text: &str, classes: &[String]) -> Result<Costs, String> {
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or("is empty")?;
    let delimiter = [',', ';', '\t'].into_iter().find(|mark| head.contains(*mark)).unwrap_or(',');
    let cells = |line: &str| -> Vec<String> {
        line.split(delimiter).map(|cell| cell.trim().trim_matches('"').to_owned()).collect()
    };
    let known = classes.join(", ");
    let class = |name: &str, line: usize, column: usize| {
        classes.iter().position(|class| class == name).ok_or_else(|| {
            let name = printable(name.as_bytes(), 40);
            format!("line {line}, column {column}: there is no class \"{name}\"; the classes are {known}")
        })
    };
    let twice = |name: &str, line: usize| format!("line {line}: class \"{name}\" stands twice");
    let missing = |places: &[Option<usize>], what: &str| -> Result<(), String> {
        match places.iter().position(Option::is_none) {
            Some(class) => Err(format!("has no {what} for class \"{}\"", classes[class])),
            None => Ok(()),
        }
    };
    let head = cells(head);
    let mut columns = vec![None; classes.len()];
    for (column, name) in head.iter().enumerate().skip(1) {
        let place = class(name, 1, column + 1)?;
        if columns[place].replace(column).is_some() {
            return Err(twice(name, 1));
        }
    }
    missing(&columns, "column")?;
    let mut rows: Vec<Option<usize>> = vec![None; classes.len()];
    let mut costs = vec![Vec::new(); classes.len()];
    for (number, line) in lines {
        let line = cells(line);
        let truth = class(&line[0], number, 1)?;
        if rows[truth].replace(number).is_some() {
            return Err(twice(&line[0], number));
        }
        if line.len() != head.len() {
            return Err(format!(
                "line {number} has {} fields, line 1 has {}",
                line.len(),
                head.len()
            ));
        }
        for column in columns.iter().flatten() {
            let cell = &line[*column];
            match cell.parse::<f64>() {
                Ok(cost) if cost.is_finite() => costs[truth].push(cost),
                _ => {
                    let cell = printable(cell.as_bytes(), 40);
                    let column = column + 1;
                    return Err(format!("line {number}, column {column}: \"{cell}\" is no number"));
                }
            }
        }
    }
    missing(&rows, "line")?;
    Costs::new(costs).map_err(|error| match error.to_string() {
        words if words.starts_with("line ") => {
            let line = words.split(' ').nth(1).and_then(|n| n.parse::<usize>().ok());
            let class = line.and_then(|line| classes.get(line - 1)).map_or("", String::as_str);
            let number = line.and_then(|line| rows.get(line - 1).copied().flatten()).unwrap_or(0);
            format!(
                "line {number}: an error on class \"{class}\" costs no more than the right answer"
            )
        }
        words => words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_by_name_and_errors_say_where() {
        let classes = ["no", "yes"].map(String::from);
        let costs = table("true,yes,no\nyes,0,10\nno,1,0\n", &classes).unwrap();
        assert_eq!((costs.of(0, 1), costs.of(1, 0), costs.of(0, 0)), (1.0, 10.0, 0.0));
        assert_eq!(
            table("\"t\";\"no\";\"yes\"\r\n\"no\";0;1\r\n\r\n\"yes\";2;0", &classes)
                .unwrap()
                .of(1, 0),
            2.0
        );
        for (text, words) in [
            ("", "empty"),
            ("true,no\nno,0\n", "no column for class \"yes\""),
            (
                "true,no,maybe\nno,0,1\n",
                "line 1, column 3: there is no class \"maybe\"; the classes are no, yes",
            ),
            ("true,no,no\n", "line 1: class \"no\" stands twice"),
            ("true,no,yes\nno,0,1\n", "no line for class \"yes\""),
            ("true,no,yes\nno,0,1\nno,0,1\n", "line 3: class \"no\" stands twice"),
            ("true,no,yes\nno,0,1\nyes,x,0\n", "line 3, column 2: \"x\" is no number"),
            ("true,no,yes\nno,0,1\nyes,nan,0\n", "line 3, column 2"),
            ("true,no,yes\nno,0\nyes,1,0\n", "line 2 has 2 fields, line 1 has 3"),
            ("true,no,yes\nno,0,1\nyes,0,0\n", "line 3: an error on class \"yes\""),
        ] {
            let error = table(text, &classes).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
