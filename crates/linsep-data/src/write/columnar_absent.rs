//! What stands for `columnar` in a build without the feature `arrow`: a writer that there never is.

use super::OutputFormat;
use std::io::{self, Write};

/// Nothing that could be written to.
pub(super) struct Columns<'a> {
    never: std::convert::Infallible,
    out: std::marker::PhantomData<&'a mut dyn Write>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        _: &'a mut dyn Write,
        format: OutputFormat,
        _: &str,
        _: &[String],
        _: Option<&str>,
        _: bool,
    ) -> io::Result<Columns<'a>> {
        let words = format!(
            "{format:?} is not in this build of linsep: build it with the feature arrow, or write CSV"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, words))
    }

    pub(super) fn row(&mut self, _: &str, _: &[(u32, f64)], _: Option<f64>) -> io::Result<()> {
        match self.never {}
    }

    pub(super) fn finish(self) -> io::Result<()> {
        let _ = self.out;
        match self.never {}
    }
}
