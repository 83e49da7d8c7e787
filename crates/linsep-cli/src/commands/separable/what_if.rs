//! `--without ROWS` and `--relabel ROW=CLASS`: the verdict on data with some rows left out or of another class,
//! without another file.

use super::normal;
use clap::ArgMatches;
use linsep::data::door::Labels;
use linsep::{Dataset, Error, Result};

/// What is changed.
#[derive(Default)]
pub(super) struct WhatIf {
    without: Vec<usize>,
    relabelled: Vec<(usize, String)>,
}

impl WhatIf {
    pub(super) fn new(matches: &ArgMatches, rows: usize) -> Result<WhatIf> {
        let mut asked = WhatIf::default();
        if let Some(text) = matches.get_one::<String>("without") {
            for part in text.split(',') {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let [first, last] = [row("without", first, rows)?, row("without", last, rows)?];
                asked.without.extend(first..=last);
            }
        }
        for text in matches.get_many::<String>("relabel").into_iter().flatten() {
            let Some((number, class)) = text.split_once('=').filter(|(_, class)| !class.is_empty())
            else {
                let words = format!("--relabel: \"{text}\" is not a row and a class such as 3=b");
                return Err(Error::usage(words));
            };
            asked.relabelled.push((row("relabel", number, rows)?, normal(class)));
        }
        asked.without.sort_unstable();
        asked.without.dedup();
        if !asked.is_nothing() && matches.contains_id("cert") {
            return Err(Error::usage(
                "--cert: a certificate speaks of the data as it stands in the file; leave out --without and --relabel",
            ));
        }
        Ok(asked)
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.without.is_empty() && self.relabelled.is_empty()
    }

    /// The data with the changes. Rows that are left out keep their numbers.
    pub(super) fn apply(&self, data: &Dataset) -> Result<Dataset> {
        let mut weights: Vec<f64> = (0..data.n_rows()).map(|row| data.weight(row)).collect();
        self.without.iter().for_each(|&row| weights[row] = 0.0);
        let mut labels: Vec<&str> = (0..data.n_rows()).map(|row| data.label_text(row)).collect();
        for (row, class) in &self.relabelled {
            labels[*row] = class;
        }
        Dataset::new(data.features().clone(), Labels::text(&labels)?, Some((&weights[..]).into()))
    }

    /// The changes in words.
    pub(super) fn text(&self) -> String {
        let mut parts = Vec::new();
        if !self.without.is_empty() {
            let rows: Vec<String> = self.without.iter().take(8).map(usize::to_string).collect();
            let more = self.without.len().saturating_sub(8);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            parts.push(format!("without row {}{more}", rows.join(", ")));
        }
        for (row, class) in self.relabelled.iter().take(8) {
            parts.push(format!("row {row} as class {}", linsep::printable(class.as_bytes(), 30)));
        }
        if let more @ 1.. = self.relabelled.len().saturating_sub(8) {
            parts.push(format!("{more} more of another class"));
        }
        parts.join("; ")
    }
}

/// A row of the data, counted from 0.
fn row(flag: &str, text: &str, rows: usize) -> Result<usize> {
    let number = crate::input::whole(flag, text.trim())?;
    match usize::try_from(number).ok().filter(|row| *row < rows) {
        Some(row) => Ok(row),
        None => Err(Error::usage(format!(
            "--{flag}: there is no row {number}; rows are counted from 0, and the data has {rows}"
        ))),
    }
}
