//! `train --support FILE`: the rows that hold the planes of a support vector machine or of a hard margin.

use super::row_table::RowTable;
use crate::exit::Failure;
use crate::files::Output;
use crate::output::{Facts, counted};
use clap::ArgMatches;
use linsep::recipe::{Ability, Recipe};
use linsep::select::support::{SupportRow, support_rows};
use linsep::{Error, Fit, Task};
use serde_json::{Value, json};

/// The table that the flags ask for.
pub(super) fn asked(matches: &ArgMatches, recipe: &Recipe) -> Result<Option<RowTable>, Failure> {
    let Some(path) = matches.get_one::<Output>("support") else { return Ok(None) };
    if !recipe.has(Ability::Support) {
        return Err(Error::usage(format!("--support: {}", recipe.cannot(Ability::Support))).into());
    }
    RowTable::asked("support", path).map(Some)
}

/// The rows that were found.
pub(super) struct Support(Vec<SupportRow>);

impl Support {
    /// Finds them and writes the table.
    pub(super) fn write(
        table: Option<&RowTable>,
        fit: &Fit,
        task: &Task,
    ) -> Result<Option<Support>, Failure> {
        let Some(table) = table else { return Ok(None) };
        let rows = support_rows(&fit.certificate.claims, task)
            .map_err(|error| Error::usage(format!("--support: {error}")))?;
        let lines = rows.iter().map(|found| {
            let side = if found.positive { "positive" } else { "negative" };
            let alpha = Value::from(found.alpha);
            (found.row, vec![Value::from(found.machine.as_str()), Value::from(side), alpha])
        });
        table.write(&task.data, &["classifier", "side", "alpha"], lines)?;
        Ok(Some(Support(rows)))
    }

    pub(super) fn add_to(&self, facts: &mut Facts, table: &RowTable) {
        let rows = counted(self.0.len() as u64, "support row");
        facts.add("support", format!("{rows}; {}", table.output.display()));
    }

    pub(super) fn json(&self, table: &RowTable) -> Value {
        json!({ "file": table.output.display().to_string(), "rows": self.0.len() })
    }
}
