//! A data set of some columns and rows of another.

use super::{Dataset, DatasetBuilder, Reading};
use crate::error::Result;

impl Dataset {
    /// The same data with these rows (all when `None`), rising, and these columns in this order. Classes and the reading of
    /// numbers stay as they are; places in files and products of a basis are lost.
    #[doc(hidden)]
    pub fn selected(&self, rows: Option<&[u32]>, columns: &[u32]) -> Result<Dataset> {
        let mut builder = DatasetBuilder::new(columns.len());
        let all = self.input().feature_names();
        builder.names(columns.iter().map(|column| all[*column as usize].clone()).collect());
        let mut entries = Vec::new();
        let rising = columns.is_sorted();
        let mut sorted: Vec<(u32, usize)> = columns.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let place = |column: u32| {
            let at = sorted.binary_search_by_key(&column, |entry| entry.0).ok()?;
            Some(sorted[at].1)
        };
        let count = rows.map_or(self.n_rows(), <[u32]>::len);
        for k in 0..count {
            let row = rows.map_or(k, |rows| rows[k] as usize);
            entries.clear();
            self.for_each(row, |column, value| {
                if let Some(at) = place(column) {
                    entries.push((at as u32, value));
                }
            });
            if !rising {
                entries.sort_unstable_by_key(|entry| entry.0);
            }
            builder.sparse_row(&entries, &self.classes[self.targets[row] as usize])?;
            if self.weights.is_some() {
                builder.weight(self.weight(row))?;
            }
        }
        let mut data = builder.finish()?.with_classes(&self.classes, false)?;
        let binary64 =
            |at: &u32| self.reading().binary64.binary_search(&columns[*at as usize]).is_ok();
        let binary64 = (0..columns.len() as u32).filter(binary64).collect();
        data.features.reading = Reading { decimal: self.reading().decimal, binary64 };
        Ok(data)
    }

    /// The same data without the 0/1 feature of the first level of each text column: with a bias it is what the
    /// others are compared with. Columns that have features for all of their levels only.
    #[doc(hidden)]
    pub fn without_first_levels(&self) -> Result<Dataset> {
        let (mut first, mut dropped) = (0, Vec::new());
        for column in &self.input().columns {
            let width = column.n_features() as u32;
            let all = column.reference.is_none()
                && column.levels.as_ref().is_some_and(|levels| levels.len() as u32 == width);
            if all && width > 1 {
                dropped.push(first);
            }
            first += width;
        }
        let kept = (0..self.n_features() as u32).filter(|j| dropped.binary_search(j).is_err());
        match dropped.is_empty() || self.input().basis.is_some() {
            true => Ok(self.clone()),
            false => self.selected(None, &kept.collect::<Vec<u32>>()),
        }
    }
}
