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
    distances: Option<&'a mut (dyn Write + 'a)>,
    reflected: Option<&'b mut (dyn Write + 'b)>,
    delimiters: [u8; 2],
    started: bool,
    line: Vec<u8>,
}

/// Runs `work` with the files that were asked for; each is written whole or not at all.
pub(super) fn into_files(
    [distances, reflected]: [Option<&Output>; 2],
    work: impl FnOnce(Export<'_, '_>) -> Result<()>,
) -> Result<()> {
    let delimiters = [delimiter(distances)?, delimiter(reflected)?];
    into_file(distances, |distances| {
        into_file(reflected, |reflected| {
            work(Export { distances, reflected, delimiters, started: false, line: Vec::new() })
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
    work: impl FnOnce(Option<&mut dyn Write>) -> Result<()>,
) -> Result<()> {
    let Some(path) = path else { return work(None) };
    let mut failed = None;
    let written = path.write(|out| {
        let mut out = Packer::new(out, OutputFormat::of_path(path.path()).1)?;
        if let Err(error) = work(Some(&mut out)) {
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

fn write_failed(error: io::Error) -> Error {
    Error::io("write", Path::new("<output>"), error)
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
            self.header(view).map_err(write_failed)?;
            self.started = true;
        }
        self.distance(view, placed, scores).map_err(write_failed)?;
        self.reflect(view, placed, entries).map_err(write_failed)
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        let distances = self.distances.as_mut().map_or(Ok(()), |out| out.flush());
        let reflected = self.reflected.as_mut().map_or(Ok(()), |out| out.flush());
        distances.and(reflected).map_err(write_failed)
    }

    fn header(&mut self, view: &View<'_>) -> io::Result<()> {
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
        if let Some(out) = &mut self.reflected {
            let mut names = model.input.feature_names();
            names.insert(0, free("x0", &names));
            names.insert(0, free("label", &names));
            out.write_all(record(&names, self.delimiters[1], &mut self.line))?;
        }
        Ok(())
    }

    fn distance(&mut self, view: &View<'_>, placed: &Placed, scores: &[f64]) -> io::Result<()> {
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

    fn distance_record(&mut self, fields: &[String]) -> io::Result<()> {
        let Some(out) = &mut self.distances else { return Ok(()) };
        out.write_all(record(fields, self.delimiters[0], &mut self.line))
    }

    /// z(1, x) with z = +1 or −1, so that every row belongs on the positive side.
    fn reflect(
        &mut self,
        view: &View<'_>,
        placed: &Placed,
        entries: &[(u32, f64)],
    ) -> io::Result<()> {
        let Some(out) = &mut self.reflected else { return Ok(()) };
        let z = placed.sign(view);
        self.line.clear();
        let delimiter = self.delimiters[1];
        quote(&placed.label, delimiter, &mut self.line);
        write!(self.line, "{}{z}", char::from(delimiter))?;
        let mut next = entries.iter().peekable();
        for column in 0..view.model.input.width() as u32 {
            self.line.push(delimiter);
            match next.next_if(|(j, _)| *j == column) {
                Some((_, value)) => write!(self.line, "{}", z * value)?,
                None => self.line.push(b'0'),
            }
        }
        self.line.push(b'\n');
        out.write_all(&self.line)
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
