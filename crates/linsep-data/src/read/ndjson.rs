//! Lines of JSON objects as a table: the keys of the first lines are the header, every object is a record.
//!
//! Numbers stay as they are written, so exact readings see the same decimals as in a table of text.

use super::csv::quote;
use crate::error::{Code, Place, Problem};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

/// Lines that are looked at for keys, and bytes of them.
const LINES: usize = 1000;
const BYTES: usize = 1 << 18;

/// A reader of objects that gives records.
pub(super) struct Objects<R> {
    lines: BufReader<R>,
    keys: Vec<String>,
    /// Objects that were read for their keys.
    waiting: std::collections::VecDeque<Vec<u8>>,
    line: u64,
    out: io::Cursor<Vec<u8>>,
    started: bool,
    ended: bool,
}

/// What is wrong with an object. It travels as an error of the system's kind.
#[derive(Debug)]
pub(super) struct ObjectFault(Problem);

impl fmt::Display for ObjectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ObjectFault {}

/// The problem in an error of reading, if it is one of objects; `file` is where.
pub(super) fn problem_of(error: &io::Error, file: &str) -> Option<Problem> {
    let ObjectFault(problem) = error.get_ref()?.downcast_ref()?;
    let mut problem = problem.clone();
    problem.place.file = Some(file.to_owned());
    Some(problem)
}

impl<R: Read> Objects<R> {
    pub(super) fn new(reader: R) -> Objects<R> {
        Objects {
            lines: BufReader::new(reader),
            keys: Vec::new(),
            waiting: std::collections::VecDeque::new(),
            line: 0,
            out: io::Cursor::default(),
            started: false,
            ended: false,
        }
    }

    /// The next line; empty at the end.
    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        // A line without an end must not take all memory.
        let most = super::source::MAX_RECORD as u64;
        self.lines.by_ref().take(most).read_until(b'\n', &mut line)?;
        Ok(line)
    }

    fn start(&mut self) -> io::Result<()> {
        self.started = true;
        let mut bytes = 0;
        while self.waiting.len() < LINES && bytes < BYTES {
            let line = self.next_line()?;
            if line.is_empty() {
                break;
            }
            bytes += line.len();
            let number = self.waiting.len() as u64 + 1;
            for (key, _) in fields(&line, number)? {
                if !self.keys.contains(&key) {
                    self.keys.push(key);
                }
            }
            self.waiting.push_back(line);
        }
        for (k, key) in self.keys.iter().enumerate() {
            if k > 0 {
                self.out.get_mut().push(b',');
            }
            quote(key, b',', self.out.get_mut());
        }
        self.out.get_mut().push(b'\n');
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.out.get_mut().clear();
        self.out.set_position(0);
        if !self.started {
            return self.start();
        }
        let line = match self.waiting.pop_front() {
            Some(line) => line,
            None => self.next_line()?,
        };
        self.ended = line.is_empty();
        if self.ended {
            return Ok(());
        }
        self.line += 1;
        let values = fields(&line, self.line)?;
        if values.is_empty() {
            self.out.get_mut().push(b'\n');
            return Ok(());
        }
        let stranger = values.iter().find(|(key, _)| !self.keys.contains(key));
        if let Some((key, _)) = stranger {
            let words = format!("the key \"{key}\" does not occur in the first objects");
            return Err(fault(Code::RAGGED, words, self.line, "put an object with all keys first"));
        }
        for (k, key) in self.keys.iter().enumerate() {
            if k > 0 {
                self.out.get_mut().push(b',');
            }
            if let Some((_, value)) = values.iter().find(|(known, _)| known == key) {
                quote(value, b',', self.out.get_mut());
            }
        }
        self.out.get_mut().push(b'\n');
        Ok(())
    }
}

impl<R: Read> Read for Objects<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.out.position() == self.out.get_ref().len() as u64 && !self.ended {
            self.fill()?;
        }
        self.out.read(into)
    }
}

fn fault(code: Code, words: impl Into<String>, line: u64, help: &str) -> io::Error {
    let place = Place { line: Some(line), ..Place::default() };
    io::Error::new(
        io::ErrorKind::InvalidData,
        ObjectFault(Problem::new(code, words, place).help(help)),
    )
}

/// The keys of the object in a line and the texts of their values; a null is a missing one. None for a
/// blank line.
fn fields(line: &[u8], number: u64) -> io::Result<Vec<(String, String)>> {
    let one = "write one object without nested values in each line, or export a table";
    let broken = |words: String| fault(Code::WRONG_FORMAT, words, number, one);
    let text = std::str::from_utf8(line).map_err(|_| {
        fault(Code::NOT_UTF8, Code::NOT_UTF8.title(), number, "convert the file to UTF-8")
    })?;
    let text = text.trim().trim_start_matches('\u{feff}');
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let object: Flat = serde_json::from_str(text).map_err(|error| {
        broken(format!("this line is not one JSON object ({})", short(&error.to_string())))
    })?;
    let mut fields = Vec::with_capacity(object.0.len());
    for (key, value) in object.0 {
        let value = value.get();
        let text = match value.as_bytes().first() {
            Some(b'"') => serde_json::from_str(value).map_err(|e| broken(e.to_string()))?,
            Some(b'{' | b'[') => {
                return Err(broken(format!("the value of \"{key}\" is not one number or text")));
            }
            _ if value == "null" => String::new(),
            _ => value.to_owned(),
        };
        if fields.iter().any(|(known, _)| *known == key) {
            return Err(broken(format!("the key \"{key}\" stands twice in an object")));
        }
        fields.push((key, text));
    }
    Ok(fields)
}

/// The words of a parser without the place, which is that within the line.
fn short(words: &str) -> &str {
    words.split(" at line ").next().unwrap_or(words)
}

/// The fields of an object in their order, values as they are written.
struct Flat(Vec<(String, Box<serde_json::value::RawValue>)>);

impl<'de> serde::Deserialize<'de> for Flat {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Flat, D::Error> {
        struct Fields;
        impl<'de> serde::de::Visitor<'de> for Fields {
            type Value = Flat;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Flat, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Flat(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Result<String, String> {
        let mut out = String::new();
        match Objects::new(text.as_bytes()).read_to_string(&mut out) {
            Ok(_) => Ok(out),
            Err(error) => {
                let problem = problem_of(&error, "f").unwrap();
                Err(format!("{}:{}", problem.place.line.unwrap(), problem.message))
            }
        }
    }

    #[test]
    fn objects_become_records_with_numbers_as_written() {
        let text = "{\"a\": 0.10, \"k\": \"x, y\"}\n\n{\"k\":\"q\\\"\",\"a\":1e3,\"b\":null}\n{\"b\":true}";
        assert_eq!(table(text).unwrap(), "a,k,b\n0.10,\"x, y\",\n\n1e3,\"q\"\"\",\n,,true\n");
    }

    #[test]
    fn what_is_no_flat_object_is_named_with_its_line() {
        for (text, words) in [
            ("{\"a\":1}\n{\"a\":[1]}\n", "2:the value of \"a\" is not one number or text"),
            ("{\"a\":1}\n[1]\n", "2:this line is not one JSON object"),
            ("{\"a\":1,\"a\":2}\n", "1:the key \"a\" stands twice in an object"),
            ("{\"a\":1\n", "1:this line is not one JSON object"),
        ] {
            let found = table(text).unwrap_err();
            assert!(found.starts_with(words), "{found}");
        }
        let late = format!("{}{{\"b\":1}}\n", "{\"a\":1}\n".repeat(LINES));
        assert!(table(&late).unwrap_err().starts_with("1001:the key \"b\""));
    }
}
