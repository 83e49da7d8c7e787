//! The digest of a data set, computed on several threads. What enters it is defined in
//! [`linsep_proof::digest`], where the checker has it too.

use super::Dataset;
use crate::cancel;
use crate::parallel::parallel_map;
use linsep_proof::digest::{BLOCK_ROWS, Version, block_hash, combine};
use linsep_proof::{Entries, RowBuffer, Rows};

/// The digest in hexadecimal, blocks of rows side by side.
pub(crate) fn digest(data: &Dataset, version: Version, threads: usize) -> String {
    let blocks = data.len().div_ceil(BLOCK_ROWS) as usize;
    let hash = |block: usize| block_hash(version, data, block as u64);
    combine(version, &parallel_map(blocks, threads, hash))
}

/// The rows before basis functions: what the digest names, and what proofs start from.
impl Rows for Dataset {
    fn len(&self) -> u64 {
        self.n_rows() as u64
    }

    fn width(&self) -> usize {
        self.raw_store().width()
    }

    fn label(&self, row: u64) -> &str {
        self.label_text(row as usize)
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        cancel::check();
        self.raw_store().for_each_entry(row as usize, each);
    }

    fn entries<'a>(&'a self, row: u64, buffer: &'a mut RowBuffer) -> Entries<'a> {
        cancel::check();
        self.raw_store().entries(row as usize, &mut buffer.values)
    }

    fn load(&self, row: u64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        cancel::check();
        self.raw_store().load(row as usize, columns, values);
    }

    fn takes_part(&self, row: u64) -> bool {
        Dataset::weight(self, row as usize) > 0.0
    }

    fn weight(&self, row: u64) -> f64 {
        Dataset::weight(self, row as usize)
    }

    fn column_name(&self, column: u32) -> String {
        match (column as usize) < self.input().width() {
            true => self.input().feature_name(column as usize),
            false => format!("column {column}"),
        }
    }

    fn basis(&self) -> Option<&linsep_proof::Basis> {
        self.expansion.as_ref().map(|expansion| &expansion.claimed)
    }
}
