//! Rows that a command makes one by one, written to a file or to standard output in constant memory.

use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::output::stdout;
use clap::ArgMatches;
use linsep::Error;
use linsep::data::write::{OutputFormat, Packer, Packing, RowWriter};
use std::io::{self, Write};

/// Where the rows go and in what form.
pub(super) struct Target<'a> {
    pub(super) output: Option<&'a Output>,
    pub(super) format: OutputFormat,
    packing: Packing,
}

impl<'a> Target<'a> {
    /// As it was asked for; `natural` is the format where neither the flag nor the file name tells one.
    pub(super) fn of(
        matches: &'a ArgMatches,
        context: &Context,
        natural: OutputFormat,
    ) -> Result<Target<'a>, Failure> {
        let output = matches.get_one::<Output>("output-file").filter(|output| !output.is_stdout());
        let asked = matches.get_one::<String>("format");
        let path = output.map(Output::path);
        let (format, packing) = match (path, asked.map(String::as_str)) {
            (Some(path), None) if path.extension().is_none() => (natural, Packing::Plain),
            (Some(path), _) => super::convert::target(asked, path)?,
            (None, Some(word)) => (super::convert::named(word), Packing::Plain),
            (None, None) => (natural, Packing::Plain),
        };
        if context.json && path.is_none() {
            let words = "--json needs -o FILE: the rows themselves go to standard output";
            return Err(Error::usage(words).into());
        }
        Ok(Target { output, format, packing })
    }

    /// Whether the rows begin with the names of their columns.
    pub(super) fn has_names(&self) -> bool {
        self.format.has_names()
    }

    /// Writes rows until `next` has none or a signal comes.
    pub(super) fn write(
        &self,
        context: &Context,
        label: &str,
        names: &[String],
        next: &mut dyn FnMut(&mut RowWriter<'_>) -> io::Result<bool>,
    ) -> Result<(), Failure> {
        let mut rows = |out: &mut dyn Write| {
            let mut writer = RowWriter::new(out, self.format, label, names, None)?;
            while next(&mut writer)? {
                if context.stopped() {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
            }
            writer.finish()
        };
        let written = match self.output {
            None => rows(&mut stdout()).map_err(Failure::from),
            Some(output) => output
                .write(|out| {
                    let mut out = Packer::new(out, self.packing)?;
                    rows(&mut out)?;
                    out.finish()
                })
                .map_err(Failure::from),
        };
        if context.stopped() {
            return Err(Error::Interrupted.into());
        }
        written
    }
}
