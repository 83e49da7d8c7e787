//! What two classes make small, as an objective over the rows of a task and as the claim about it.

use super::{ConvexSettings, OptimisingRun, Solver};
use crate::engine::closed_form::class_factors;
use crate::engine::row_weights::label_factors;
use crate::loss::Loss;
use crate::objective::box_constraints::Ranges;
use crate::objective::{Intercept, Objective, Penalty, worthwhile};
use crate::run::{ClassWeights, Solves, Task, Training};
use linsep_data::Dataset;
use linsep_data::buffer::Buffer;
use linsep_data::error::{Code, Error, Place, Result};
use linsep_data::scale::{Scaler, Scaling};
use std::sync::Arc;

/// What two classes make small, and how near to the best is near enough.
#[derive(Clone, Debug)]
pub(crate) struct ConvexProblem {
    pub(crate) loss: Loss,
    pub(crate) settings: ConvexSettings,
}

impl ConvexProblem {
    /// A run of the class `positive` against the others.
    pub(crate) fn start(&self, task: &Task, positive: u32) -> Result<Box<dyn Training>> {
        Ok(Box::new(OptimisingRun::new(self.clone(), task, positive)?))
    }

    /// Whether dual coordinates are the right solver for the rows of a task.
    pub(crate) fn prefers_dual(&self, task: &Task) -> bool {
        let rows = task.rows.as_ref().map_or(task.data.n_rows(), |rows| rows.len());
        match self.settings.solver {
            Solver::Newton => false,
            Solver::Dual => true,
            _ => self.loss == Loss::Hinge || task.data.n_features() > rows / 2,
        }
    }

    /// Refuses what no solver can do.
    pub(super) fn check(&self) -> Result<()> {
        let limited = self.settings.has_limits();
        let words = match self.settings.solver {
            _ if self.loss == Loss::Hinge && (self.settings.l1 > 0.0 || limited) => {
                "`loss=hinge`: a penalty with corners, or limits, needs a smooth loss; use `loss=squared-hinge`"
            }
            _ if self.loss == Loss::Hinge && self.settings.l2 == 0.0 => {
                "`penalty=none`: the plain hinge needs a penalty; use `loss=squared-hinge` or `penalty=l2`"
            }
            Solver::Newton | Solver::Coordinates if self.loss == Loss::Hinge => {
                "`solver`: the hinge has no second derivative; use dual"
            }
            Solver::Newton | Solver::Dual if self.settings.l1 > 0.0 => {
                "`solver`: the penalty has corners; use coordinates or auto"
            }
            Solver::Newton | Solver::Dual if limited => {
                "`solver`: weights with limits are for coordinates; use that or auto"
            }
            Solver::Dual | Solver::Coordinates
                if self.settings.l2 == 0.0 && self.settings.l1 == 0.0 && !limited =>
            {
                "`solver`: without a penalty there is only newton; use that or auto"
            }
            _ => return Ok(()),
        };
        Err(Error::usage(words))
    }

    fn limits(&self, task: &Task) -> Result<Option<Ranges>> {
        let data = task.data.as_ref();
        let Some(limits) = Ranges::between(&self.settings.lower, &self.settings.upper, data)?
        else {
            return Ok(None);
        };
        let open = |j: &usize| {
            let (least, most) = limits.of(*j);
            least == f64::NEG_INFINITY || most == f64::INFINITY
        };
        if self.settings.l1 == 0.0
            && self.settings.l2 == 0.0
            && let Some(column) = (0..data.n_features()).find(open)
        {
            return Err(Error::usage(format!(
                "`penalty=none`: the weight of {} has no limit on one side, and nothing else bounds it; give `lower` and `upper` for all columns, or a penalty",
                data.input().feature_name(column)
            )));
        }
        Ok(Some(limits))
    }

    pub(crate) fn objective(&self, task: &Task, positive: u32) -> Result<Objective> {
        let Terms { rows, costs, penalty } = self.terms(task)?;
        let data = &task.data;
        let sign = |&row: &u32| if data.class_of(row as usize) == positive { 1.0 } else { -1.0 };
        Ok(Objective {
            data: Arc::clone(data),
            sparse_copy: data.sparse_copy(task.threads),
            signs: rows.iter().map(sign).collect(),
            costs,
            loss: self.loss,
            penalty,
            intercept: self.intercept(),
            threads: worthwhile(task.threads, data.store().nonzeros()),
            rows,
        })
    }

    /// What the claims of a run on a task state.
    pub(crate) fn solves(&self, task: &Task, loss: linsep_proof::Loss) -> Result<Solves> {
        let Terms { rows, penalty, .. } = self.terms(task)?;
        let claimed = self.claimed(loss, &task.data, &rows, &penalty);
        Ok(Solves::Objective(claimed))
    }

    /// The rows of a task with their costs, and the penalty.
    pub(crate) fn terms(&self, task: &Task) -> Result<Terms> {
        let data = &task.data;
        let limits = self.limits(task)?;
        refuse_extremes(data)?;
        let rows = task.active_rows()?;
        if rows.is_empty() {
            return Err(Error::data(Code::BAD_WEIGHT, "no row has a weight", Place::default()));
        }
        let factors = self.label_factors(data, &rows);
        let cost = |&row: &u32| {
            let factor = factors[data.label_id(row as usize) as usize];
            (self.settings.c * data.weight(row as usize)) * factor
        };
        let costs: Buffer<f64> = rows.iter().map(cost).collect();
        if let Some(at) = costs.iter().position(|cost| !(cost.is_finite() && *cost > 0.0)) {
            return Err(Error::usage(format!(
                "`c={}`: row {} of the data would cost {}; choose another C or other weights",
                self.settings.c, rows[at], costs[at]
            )));
        }
        let scale = match self.settings.scale {
            Scaling::None => None,
            scaling => {
                let scaler = Scaler::new(scaling, data, &rows);
                scaler.check()?;
                Some((0..data.n_features()).map(|j| 1.0 / scaler.scale(j)).collect())
            }
        };
        Ok(Terms {
            rows,
            costs,
            penalty: Penalty { l1: self.settings.l1, l2: self.settings.l2, scale, limits },
        })
    }

    /// What the rows with each label of the file count. Claims speak of labels, of which one class may have several.
    fn label_factors(&self, data: &Dataset, rows: &[u32]) -> Vec<f64> {
        let class_weights = &self.settings.class_weights;
        if *class_weights != ClassWeights::Balanced {
            return label_factors(data, class_weights);
        }
        let factors = class_factors(data, rows, class_weights);
        let mut of_label = vec![1.0; data.label_names().len()];
        for row in 0..data.n_rows() {
            of_label[data.label_id(row) as usize] = factors[data.class_of(row) as usize];
        }
        of_label
    }

    /// The objective as it is claimed.
    pub(crate) fn claimed(
        &self,
        loss: linsep_proof::Loss,
        data: &Dataset,
        rows: &[u32],
        penalty: &Penalty,
    ) -> linsep_proof::Objective {
        let class_weights = match self.settings.class_weights.is_none() {
            true => Vec::new(),
            false => {
                let factors = self.label_factors(data, rows);
                data.label_names().iter().cloned().zip(factors).collect()
            }
        };
        linsep_proof::Objective::new(loss, self.settings.c)
            .with_l2(self.settings.l2)
            .with_l1(self.settings.l1)
            .with_intercept(self.intercept())
            .with_class_weights(class_weights)
            .with_scale(penalty.scale.clone().unwrap_or_default())
            .with_limits(penalty.claimed_limits(data.n_features()))
    }

    /// Where nothing is penalised, a penalised bias is a free one.
    fn intercept(&self) -> Intercept {
        match self.settings.intercept {
            Intercept::Penalised if self.settings.l1 == 0.0 && self.settings.l2 == 0.0 => {
                Intercept::Free
            }
            intercept => intercept,
        }
    }
}

/// The rows of a task with their costs, and the penalty.
pub(crate) struct Terms {
    pub(crate) rows: Vec<u32>,
    pub(crate) costs: Buffer<f64>,
    pub(crate) penalty: Penalty,
}

/// Refuses values whose squares would leave the range of binary64.
fn refuse_extremes(data: &Dataset) -> Result<()> {
    const MOST: f64 = 1e140;
    if data.store().largest() <= MOST {
        return Ok(());
    }
    let mut found = None;
    for row in 0..data.n_rows() {
        data.store().for_each_entry(row, &mut |j, x| {
            if x.abs() > MOST && found.is_none() {
                found = Some((row, j, x));
            }
        });
        if let Some((row, column, x)) = found {
            let name = data.input().feature_name(column as usize);
            return Err(Error::data(
                Code::OUT_OF_RANGE,
                format!(
                    "{name} is {x:e}, and the squares of numbers above {MOST:e} leave the range of binary64; divide the column by its size, or leave it out with `drop`"
                ),
                data.place_of(row),
            ));
        }
    }
    Ok(())
}
