//! What stands for `columnar` in a build without the feature `arrow`: a file that there never is.

use super::block::Block;
use super::csv::TablePlan;
use super::options::{Format, ReadOptions};
use super::sniff::Sniffed;
use crate::error::Result;
use std::ops::ControlFlow;

type Sink<'a> = dyn FnMut(Block, &[u8]) -> Result<ControlFlow<()>> + 'a;

/// No file is one of columns.
pub(super) enum Columnar {}

impl Columnar {
    pub(super) fn is_one(_: &[u8]) -> bool {
        false
    }

    pub(super) fn format(&self) -> Format {
        match *self {}
    }

    pub(super) fn sniffed(&self, _: &ReadOptions) -> Result<Sniffed> {
        match *self {}
    }

    pub(super) fn records(
        &self,
        _: impl FnMut(Vec<String>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        match *self {}
    }

    pub(super) fn blocks(
        &self,
        _: &TablePlan,
        _: &ReadOptions,
        _: &mut Option<u64>,
        _: &mut Sink<'_>,
    ) -> Result<ControlFlow<()>> {
        match *self {}
    }
}
