//! The two files that `geometry` can write: distances, and reflected rows.

use super::View;
use super::around::Placed;
use crate::files::Output;
use linsep::data::write::{OutputFormat, Packer, quote};
use linsep::{Error, Result};
use std::io::{self, Write};
use std::path::Path;

/// Where rows go while they are looked at.
pub(super) struct Export<'a, 'b> {
    distances: Option<Table<'a>>,
    reflected: Option<Table<'b>>,
    started: bool,
    line: Vec<u8>,
}

/// A table that is being written. It knows its path, because that is what an error is to name.
struct Table<'a> {
    out: &'a mut (dyn Write + 'a),
    path: &'a Path,
    delimiter: u8,
}

impl Table<'_> {
    fn write(&mut self, line: &[u8]) -> Result<()> {
        self.out.write_all(line).map_err(|error| Error::io("write", self.path, error))
    }

    fn flush(&mut self) -> Result<()> {
        self.out.flush().map_err(|error| Error::io("write", self.path, error))
    }
}

/// Runs `work` with the files that were asked for; each is written whole or not at all.
pub(super) fn into_files(
    [distances, reflected]: [Option<&Output>; 2],
    work: impl FnOnce(Export<'_, '_>) -> Result<()>,
) -> Result<()> {
    let delimiters = [delimiter(distances)?, delimiter(reflected)?];
    into_file(distances, delimiters[0], |distances| {
        into_file(reflected, delimiters[1], |reflected| {
            work(Export { distances, reflected, started: false, line: Vec::new() })
        })
    })
}

/// Tables only, by the name of the file.
fn delimiter(path: Option<&Output>) -> Result<u8> {
    match path.map(|path| (path, OutputFormat::of_path(path.path()).0)) {
        None => Ok(b','),
        Some((_, Some(OutputFormat::Table(delimiter)))) => Ok(delimiter),
        Some((path, _)) => Err(Error::usage(format!(
            "{} is to be a table; end its name in .csv or .tsv, with .gz or .zst behind it if it is to be packed",
            path.display()
        ))),
    }
}

fn into_file(
    path: Option<&Output>,
    delimiter: u8,
    work: impl FnOnce(Option<Table<'_>>) -> Result<()>,
) -> Result<()> {
    let Some(path) = path else { return work(None) };
    let mut failed = None;
    let written = path.write(|out| {
        let mut out = Packer::new(out, OutputFormat::of_path(path.path()).1)?;
        if let Err(error) = work(Some(Table { out: &mut out, path: path.path(), delimiter })) {
            failed = Some(error);
            return Err(io::Error::other("ended early"));
        }
        out.finish()
    });
    match failed {
        Some(error) => Err(error),
        None => written,
    }
}

impl Export<'_, '_> {
    pub(super) fn row(
        &mut self,
        view: &View<'_>,
        placed: &Placed,
        scores: &[f64],
        entries: &[(u32, f64)],
    ) -> Result<()> {
        if !self.started {
            self.header(view)?;
            self.started = true;
        }
        self.distance(view, placed, scores)?;
        self.reflect(view, placed, entries)
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        let distances = self.distances.as_mut().map_or(Ok(()), Table::flush);
        let reflected = self.reflected.as_mut().map_or(Ok(()), Table::flush);
        distances.and(reflected)
    }

    fn header(&mut self, view: &View<'_>) -> Result<()> {
        let model = view.model;
        if self.distances.is_some() {
            let mut names: Vec<String> =
                ["row", "file", "line", "label", "prediction"].map(String::from).to_vec();
            names.extend(model.score_names().iter().map(|class| format!("score:{class}")));
            names.push("distance".into());
            if view.one.is_none() {
                names.push("across".into());
            }
            self.distance_record(&names)?;
        }
        if let Some(table) = &mut self.reflected {
            let mut names = model.input.feature_names();
            names.insert(0, free("x0", &names));
            names.insert(0, free("label", &names));
            table.write(record(&names, table.delimiter, &mut self.line))?;
        }
        Ok(())
    }

    fn distance(&mut self, view: &View<'_>, placed: &Placed, scores: &[f64]) -> Result<()> {
        if self.distances.is_none() {
            return Ok(());
        }
        let class = |class: u32| view.model.classes[class as usize].clone();
        let mut fields = vec![
            placed.row.to_string(),
            placed.place.file.clone().unwrap_or_default(),
            placed.place.line.map_or(String::new(), |line| line.to_string()),
            placed.label.clone(),
            class(placed.predicted),
        ];
        fields.extend(scores.iter().map(f64::to_string));
        fields.push(placed.distance.to_string());
        fields.extend(placed.across.map(class));
        self.distance_record(&fields)
    }

    fn distance_record(&mut self, fields: &[String]) -> Result<()> {
        let Some(table) = &mut self.distances else { return Ok(()) };
        table.write(record(fields, table.delimiter, &mut self.line))
    }

    /// z(1, x) with z = +1 or −1, so that every row belongs on the positive side.
    fn reflect(&mut self, view: &View<'_>, placed: &Placed, entries: &[(u32, f64)]) -> Result<()> {
        let Some(table) = &mut self.reflected else { return Ok(()) };
        let z = placed.sign(view);
        self.line.clear();
        let delimiter = table.delimiter;
        quote(&placed.label, delimiter, &mut self.line);
        self.line.extend_from_slice(format!("{}{z}", char::from(delimiter)).as_bytes());
        let mut next = entries.iter().peekable();
        for column in 0..view.model.input.width() as u32 {
            self.line.push(delimiter);
            match next.next_if(|(j, _)| *j == column) {
                Some((_, value)) => self.line.extend_from_slice((z * value).to_string().as_bytes()),
                None => self.line.push(b'0'),
            }
        }
        self.line.push(b'\n');
        table.write(&self.line)
    }
}

/// One line of a table.
fn record<'a>(fields: &[String], delimiter: u8, line: &'a mut Vec<u8>) -> &'a [u8] {
    line.clear();
    for (k, field) in fields.iter().enumerate() {
        if k > 0 {
            line.push(delimiter);
        }
        quote(field, delimiter, line);
    }
    line.push(b'\n');
    line
}

/// The name with as many underscores before it as it needs to be free.
fn free(wanted: &str, names: &[String]) -> String {
    let mut name = wanted.to_owned();
    while names.contains(&name) {
        name.insert(0, '_');
    }
    name
}
