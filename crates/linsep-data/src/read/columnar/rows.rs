//! Rows of decoded columns to blocks, with the same rules for gaps, labels, weights and categories as rows of text.

use super::Batch;
use super::cells::{Cell, Cells};
use crate::error::Code;
use crate::matrix::decimals::{facts_of, is_decimal};
use crate::matrix::profile::{NO_PLACES, power_of_ten};
use crate::matrix::{Stage, TableStaging};
use crate::read::block::{Block, BlockBuilder, Buffers, Fault};
use crate::read::csv::{Action, NO_LEVEL, TablePlan, missing_fault, number_fault};
use crate::read::number;
use crate::read::options::Missing;
use crate::table::labels::{is_missing, label_name};

/// What else is wanted of the rows.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Numbers that the decimal reading does not cover are noted.
    pub(super) long: bool,
    /// The rows are also given as lines of a table.
    pub(super) lines: bool,
    /// At most so many rows.
    pub(super) limit: usize,
}

/// Makes a block of the rows of a batch, with their lines.
pub(super) fn block(
    batch: &Batch,
    plan: &TablePlan,
    wanted: Wanted,
    buffers: &mut Buffers,
) -> (Block, Vec<u8>) {
    let fields = plan.actions.iter().enumerate().filter(|(_, action)| **action != Action::Skip);
    let fields = fields.filter_map(|(f, &action)| {
        let cells = batch.columns.get(f)?.as_ref()?;
        Some(Field { f, action, cells, places: 0 })
    });
    let mut fields: Vec<Field<'_>> = fields.collect();
    let out = BlockBuilder::new(&mut buffers.table, plan.numeric, plan.categories);
    let (gaps, text, lines) = (Vec::new(), String::new(), Vec::new());
    let mut maker = Maker { plan, wanted, out, gaps, text, lines };
    let mut row = 0;
    while row < batch.rows && maker.out.staging.rows() < wanted.limit {
        maker.record(batch, row, &mut fields);
        row += 1;
    }
    (maker.out.finish(), maker.lines)
}

/// A column that is used.
struct Field<'a> {
    f: usize,
    action: Action,
    cells: &'a Cells,
    /// The most places of its numbers in this block.
    places: u8,
}

struct Maker<'a> {
    plan: &'a TablePlan,
    wanted: Wanted,
    out: BlockBuilder<'a, TableStaging>,
    /// Fields of the open row without a value, where there is no rule for them.
    gaps: Vec<usize>,
    text: String,
    lines: Vec<u8>,
}

/// What a record says about its row besides the features.
#[derive(Default)]
struct Facts {
    label: Option<u32>,
    weight: Option<f64>,
    drop: bool,
}

impl Maker<'_> {
    fn record(&mut self, batch: &Batch, row: usize, fields: &mut [Field<'_>]) {
        let record = self.out.block.records;
        self.out.block.records += 1;
        let fault = match self.row(row, fields) {
            Ok(facts) if !facts.drop => {
                self.out.block.labels.codes.extend(facts.label);
                self.out.block.weights.extend(facts.weight);
                self.out.end_row_without_line();
                if self.wanted.lines {
                    let start = self.lines.len();
                    batch.write_line(row, &mut self.lines);
                    self.out.block.spans.push(start..self.lines.len());
                }
                return;
            }
            Ok(_) => {
                self.out.block.dropped += 1;
                self.gaps.clear();
                self.out.forget_row();
                return;
            }
            Err(fault) => fault,
        };
        if fault.code == Code::MISSING {
            self.out.block.bad.missing += 1;
            for field in &self.gaps {
                *self.out.block.gaps.entry(*field).or_default() += 1;
            }
        }
        self.gaps.clear();
        self.out.forget_row();
        let mut value = String::new();
        if let Some(cells) = fault.field.and_then(|f| batch.columns.get(f)?.as_ref()) {
            cells.write_text(row, &mut value);
        }
        let mut line = Vec::new();
        if self.plan.keep_rejects {
            batch.write_line(row, &mut line);
        }
        self.out.block.bad.push_value(fault, value.as_bytes(), record, &line);
    }

    fn row(&mut self, row: usize, fields: &mut [Field<'_>]) -> Result<Facts, Fault> {
        let mut facts = Facts::default();
        for field in fields {
            match field.action {
                Action::Number(column) => self.number(column, row, field, &mut facts.drop)?,
                _ => self.other(row, field, &mut facts)?,
            }
        }
        // Every gap of the row counts, the first one is shown.
        match self.gaps.first() {
            Some(field) => Err(missing_fault(*field, 0..0)),
            None => Ok(facts),
        }
    }

    #[inline]
    fn number(
        &mut self,
        column: u32,
        row: usize,
        field: &mut Field<'_>,
        drop: &mut bool,
    ) -> Result<(), Fault> {
        let f = field.f;
        match field.cells.get(row, &mut self.text) {
            Cell::Number { value, rounded } if value.is_finite() => {
                if rounded && !self.plan.allow_lossy {
                    return Err(number_fault(number::Fault::InexactInteger, b"", f, 0..0));
                }
                if self.wanted.long || field.places != NO_PLACES {
                    self.note_places(column, value, row, field, rounded);
                }
                self.out.staging.push(column, value, field.places);
            }
            Cell::Number { value, .. } if value.is_nan() && self.plan.missing != Missing::Error => {
                self.gap(column, f, drop);
            }
            Cell::Number { .. } => {
                return Err(number_fault(number::Fault::NotFinite, b"", f, 0..0));
            }
            Cell::Missing => self.gap(column, f, drop),
            Cell::Text(text) => {
                let text = text.trim_ascii().as_bytes().to_vec();
                self.text_number(column, f, &text, drop)?;
            }
        }
        Ok(())
    }

    /// The most places so far are enough for nearly every number; where they are not, they grow.
    #[inline]
    fn note_places(
        &mut self,
        column: u32,
        value: f64,
        row: usize,
        field: &mut Field<'_>,
        rounded: bool,
    ) {
        let enough = field.places != NO_PLACES && is_decimal(value, power_of_ten(field.places));
        if enough && !rounded {
            return;
        }
        let facts = facts_of(value, field.cells.are_whole());
        field.places = field.places.max(facts.places);
        if self.wanted.long && (facts.long || rounded) {
            let mut text = String::new();
            field.cells.write_text(row, &mut text);
            self.out.long_text(column, text.as_bytes());
        }
    }

    fn gap(&mut self, column: u32, f: usize, drop: &mut bool) {
        match self.plan.missing {
            Missing::Error => self.gaps.push(f),
            Missing::DropRow => *drop = true,
            Missing::Zero => {}
            Missing::Mean | Missing::Median | Missing::Mode => {
                self.out.block.missing.push((self.out.staging.rows(), column));
            }
        }
    }

    /// A number that is text, or a decimal.
    fn text_number(
        &mut self,
        column: u32,
        f: usize,
        text: &[u8],
        drop: &mut bool,
    ) -> Result<(), Fault> {
        let fills = self.plan.missing != Missing::Error;
        if is_missing(text) || (fills && text.eq_ignore_ascii_case(b"nan")) {
            self.gap(column, f, drop);
            return Ok(());
        }
        match number::parse(text) {
            Ok(number) => {
                if self.wanted.long && number.long {
                    self.out.long_text(column, text);
                }
                self.out.staging.push(column, number.value, number.places);
            }
            Err(number::Fault::InexactInteger) if self.plan.allow_lossy => {
                let inexact = || number_fault(number::Fault::NotANumber, text, f, 0..0);
                let value = number::rounded(text).ok_or_else(inexact)?;
                if self.wanted.long {
                    self.out.long_text(column, text);
                }
                self.out.staging.push(column, value, 0);
            }
            Err(fault) => return Err(number_fault(fault, text, f, 0..0)),
        }
        Ok(())
    }

    /// A label, a weight or a category.
    fn other(&mut self, row: usize, field: &Field<'_>, facts: &mut Facts) -> Result<(), Fault> {
        let (f, action) = (field.f, field.action);
        let mut own = std::mem::take(&mut self.text);
        let mut made = String::new();
        let text = match field.cells.get(row, &mut own) {
            Cell::Missing => "",
            Cell::Text(text) => text.trim_ascii(),
            Cell::Number { .. } => {
                field.cells.write_text(row, &mut made);
                &made
            }
        };
        let gap = is_missing(text.as_bytes());
        facts.drop |= gap && self.plan.missing == Missing::DropRow;
        let block = &mut self.out.block;
        match action {
            Action::Label if gap && !facts.drop => self.gaps.push(f),
            Action::Label => facts.label = Some(block.labels.number(text.as_bytes(), label_name)),
            Action::Weight => {
                let weight = number::parse(text.as_bytes()).map_or(-1.0, |number| number.value);
                if weight < 0.0 && !facts.drop {
                    return Err(Fault::new(Code::BAD_WEIGHT, Some(f), 0..0)
                        .help("weights are finite numbers of at least 0"));
                }
                facts.weight = Some(weight);
            }
            Action::Category(_) if gap && self.plan.missing == Missing::Error => self.gaps.push(f),
            Action::Category(c) => {
                let dictionary = &mut block.categories[c as usize];
                let code = match gap {
                    true => NO_LEVEL,
                    false => dictionary.number(text.as_bytes(), |_| text.to_owned()),
                };
                dictionary.codes.push(code);
            }
            Action::Skip | Action::Number(_) => {}
        }
        self.text = own;
        Ok(())
    }
}
