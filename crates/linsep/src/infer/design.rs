//! The rows of a fit as plain numbers: one observation for each row, or for each group of counts.

use super::lines::Lines;
use crate::run::Task;
use linsep_data::error::{Code, Error, Problem, Result};
use linsep_data::memory;
use linsep_kernels::dot_f64;
use std::sync::Arc;

/// What a column, with its part in the columns before it, has to keep of its length to count as independent
/// where only binary64 is at hand.
const INDEPENDENT: f64 = 1e-9;

/// Observations in rows, the bias first if there is one.
#[derive(Clone, Debug)]
pub(super) struct Design {
    /// Row after row; what is fitted mostly shares them with the data.
    pub(super) x: Arc<Lines>,
    pub(super) width: usize,
    pub(super) classes: usize,
    /// Of two classes the share of successes, else the number of the class.
    pub(super) y: Vec<f64>,
    /// How often each observation counts, or the trials of a group.
    pub(super) weight: Vec<f64>,
    /// Added to the score; empty where nothing is.
    pub(super) offset: Vec<f64>,
    /// The first data row of each observation.
    pub(super) row: Vec<u32>,
}

/// How the rows of a task become observations.
pub(super) struct Plan<'a> {
    pub(super) task: &'a Task,
    pub(super) bias: bool,
    pub(super) offset: Option<&'a [f64]>,
    pub(super) groups: Option<&'a [u32]>,
    /// What a weight is multiplied by.
    pub(super) factor: f64,
    /// The place of each class: the last is the reference of several, the second the success of two.
    pub(super) places: Vec<usize>,
}

impl Plan<'_> {
    pub(super) fn design(&self, rows: &[u32]) -> Result<Design> {
        let data = &self.task.data;
        let width = data.n_features() + usize::from(self.bias);
        let bytes = (rows.len() as u64).saturating_mul(8 * (width as u64 + 4));
        memory::ask("a copy of the rows", bytes)?;
        let classes = data.n_classes();
        let mut design = Design {
            x: Arc::default(),
            width,
            classes,
            y: Vec::new(),
            weight: Vec::new(),
            offset: Vec::new(),
            row: Vec::new(),
        };
        let mut last = None;
        for &row in rows {
            let at = row as usize;
            let weight = self.factor * data.weight(at);
            let group = self.groups.map(|groups| groups[at]);
            let class = self.places[data.class_of(at) as usize] as f64;
            if group.is_some() && group == last {
                // The other outcome of the same trials.
                let (k, before) = (design.y.len() - 1, design.weight[design.y.len() - 1]);
                design.y[k] = (design.y[k] * before + class * weight) / (before + weight);
                design.weight[k] = before + weight;
                continue;
            }
            last = group;
            design.y.push(class);
            design.weight.push(weight);
            design.row.push(row);
            if let Some(offset) = self.offset {
                design.offset.push(offset[at]);
            }
        }
        design.x = Arc::new(self.lines(&design.row, width));
        design.refuse_extremes(self)?;
        Ok(design)
    }

    /// The values of some rows, the bias first.
    fn lines(&self, rows: &[u32], width: usize) -> Lines {
        let (shift, store) = (usize::from(self.bias), self.task.data.store());
        Lines::new(rows.len(), width, self.task.threads, |at, line, scratch| {
            if self.bias {
                line[0] = 1.0;
            }
            let set = |column: u32, value: f64| line[column as usize + shift] = value;
            store.for_each(rows[at] as usize, scratch, set);
        })
    }
}

impl Design {
    pub(super) fn len(&self) -> usize {
        self.y.len()
    }

    #[inline]
    pub(super) fn line(&self, row: usize) -> &[f64] {
        self.x.row(row)
    }

    pub(super) fn offset_of(&self, row: usize) -> f64 {
        if self.offset.is_empty() { 0.0 } else { self.offset[row] }
    }

    /// Some rows with some columns.
    pub(super) fn part(&self, rows: &[usize], columns: &[usize]) -> Design {
        let pick = |from: &[f64]| match from.is_empty() {
            true => Vec::new(),
            false => rows.iter().map(|&row| from[row]).collect(),
        };
        let x = Lines::new(rows.len(), columns.len(), 1, |at, part, _| {
            let line = self.line(rows[at]);
            part.iter_mut().zip(columns).for_each(|(x, &j)| *x = line[j]);
        });
        Design {
            x: Arc::new(x),
            width: columns.len(),
            classes: self.classes,
            y: pick(&self.y),
            weight: pick(&self.weight),
            offset: pick(&self.offset),
            row: rows.iter().map(|&row| self.row[row]).collect(),
        }
    }

    /// Every row with some columns.
    pub(super) fn columns(self, columns: &[usize]) -> Design {
        if columns.len() == self.width {
            return self;
        }
        let rows: Vec<usize> = (0..self.len()).collect();
        self.part(&rows, columns)
    }

    /// Those of some columns, in this order, that are no sum of earlier ones.
    pub(super) fn independent(&self, order: &[usize]) -> Vec<usize> {
        let (mut basis, mut kept): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
        for &column in order {
            let root = |row: usize| self.weight[row].sqrt();
            let take = |row: usize| root(row) * self.line(row)[column];
            let mut vector: Vec<f64> = (0..self.len()).map(take).collect();
            let length = dot_f64(&vector, &vector).sqrt();
            for _ in 0..2 {
                for other in &basis {
                    let along = dot_f64(other, &vector);
                    vector.iter_mut().zip(other).for_each(|(v, o)| *v -= along * o);
                }
            }
            let left = dot_f64(&vector, &vector).sqrt();
            if left > INDEPENDENT * length && left > 0.0 {
                vector.iter_mut().for_each(|v| *v /= left);
                basis.push(vector);
                kept.push(column);
            }
        }
        kept
    }

    /// Σ of the weights.
    pub(super) fn total(&self) -> f64 {
        self.weight.iter().sum()
    }

    fn refuse_extremes(&self, plan: &Plan<'_>) -> Result<()> {
        const MOST: f64 = 1e100;
        let Some((row, at)) = self.x.find(|x| x.abs() > MOST) else { return Ok(()) };
        let (column, value) = (at - usize::from(plan.bias), self.line(row)[at]);
        let data = &plan.task.data;
        let (name, place) =
            (data.input().feature_name(column), data.place_of(self.row[row] as usize));
        Err(Problem::new(
            Code::OUT_OF_RANGE,
            format!("{name} is {value:e}, and products of numbers above {MOST:e} leave the range of binary64"),
            place,
        )
        .help("divide the column by its size, or leave it out with `drop`")
        .into())
    }
}

/// Refuses weights that are no counts where they are asked to be.
pub(super) fn require_counts(task: &Task, rows: &[u32]) -> Result<()> {
    let data = &task.data;
    let bad = |row: &&u32| {
        let weight = data.weight(**row as usize);
        weight.fract() != 0.0 || weight > 9e15
    };
    let Some(&row) = rows.iter().find(bad) else { return Ok(()) };
    let weight = data.weight(row as usize);
    Err(Problem::new(
        Code::BAD_WEIGHT,
        format!("the weight {weight} is no count, and frequencies say how many rows one stands for"),
        data.place_of(row as usize),
    )
    .value(weight.to_string().as_bytes())
    .help("with `weights-as=analytic` weights are relative precisions; their sum is then the number of rows")
    .into())
}

/// Refuses an offset that is missing or no number.
pub(super) fn require_offset(task: &Task, offset: Option<&[f64]>) -> Result<()> {
    let Some(offset) = offset else { return Ok(()) };
    let rows = task.data.n_rows();
    if offset.len() != rows {
        return Err(Error::usage(format!(
            "`offset`: there are {} numbers for {rows} rows",
            offset.len()
        )));
    }
    match offset.iter().position(|x| !x.is_finite() || x.abs() > 1e100) {
        None => Ok(()),
        Some(row) => Err(Error::data(
            Code::NOT_FINITE,
            format!("the offset of this row is {}", offset[row]),
            task.data.place_of(row),
        )),
    }
}
