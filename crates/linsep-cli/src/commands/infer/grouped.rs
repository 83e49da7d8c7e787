//! Counts of successes and failures as rows of two classes with frequencies.

use linsep::data::error::Problem;
use linsep::{Code, Dataset, DatasetBuilder, Error, Place};

/// Two rows for each group, next to each other; those of a count of 0 are left out.
pub(super) struct Counts {
    pub(super) data: Dataset,
    /// The row of the file that each row comes from.
    pub(super) rows: Vec<u32>,
}

impl Counts {
    /// The labels of the data are the successes; `original` knows where its rows stand.
    pub(super) fn of(
        data: &Dataset,
        original: &Dataset,
        names: [&str; 2],
        failures: &[f64],
    ) -> Result<Counts, Error> {
        let mut builder = DatasetBuilder::new(data.n_features());
        builder.names(data.input().feature_names());
        let (mut rows, mut entries, mut totals) = (Vec::new(), Vec::new(), [0.0; 2]);
        for (row, failed) in failures.iter().enumerate() {
            let text = data.label_text(row);
            let succeeded: f64 =
                text.parse().map_err(|_| not_a_count(original, row, names[0], text))?;
            for (count, name) in [(succeeded, names[0]), (*failed, names[1])] {
                if !(count >= 0.0 && count.fract() == 0.0 && count <= 9e15) {
                    return Err(not_a_count(original, row, name, &count.to_string()));
                }
            }
            entries.clear();
            data.for_each(row, |column, value| entries.push((column, value)));
            for (k, count) in [*failed, succeeded].into_iter().enumerate() {
                totals[k] += count;
                if count > 0.0 {
                    builder.sparse_row(&entries, ["failure", "success"][k])?;
                    builder.weight(count)?;
                    rows.push(row as u32);
                }
            }
        }
        if let Some(empty) = totals.iter().position(|total| *total == 0.0) {
            let what = ["failures", "successes"][empty];
            return Err(Problem::new(
                Code::ONE_CLASS,
                format!("all counts of {what} are 0"),
                original.origin().files().next().map_or_else(Place::default, Place::file),
            )
            .help("odds need successes and failures: check --success and --failure")
            .into());
        }
        Ok(Counts { data: builder.finish()?, rows })
    }
}

fn not_a_count(data: &Dataset, row: usize, name: &str, value: &str) -> Error {
    Problem::new(Code::BAD_WEIGHT, format!("{name} is no count here"), data.place_of(row))
        .value(value.as_bytes())
        .help("counts are whole numbers of at least 0")
        .into()
}
