//! What some runs can do and others cannot.
//!
//! Every run is a [`Training`](super::Training). What only some of them can do is a trait of its own, reached through
//! one accessor of `Training` each: `run.traces()` is `Some` for a run whose updates can be followed
//! and `None` for any other. No accessor has a default, so a run, and a wrapper around a run, states
//! each of them; [`training_has!`](crate::training_has), [`training_lacks!`](crate::training_lacks) and
//! [`training_forwards!`](crate::training_forwards) are short for the three things to state. What the
//! registry says of a learner ([`crate::recipe::Abilities`]) is compared with what its runs state, cell
//! by cell (`tests/abilities.rs`).

use super::update::{Beginning, Update};
use super::{Certificate, Claim, State};
use crate::density::Density;
use crate::model::Plane;
use linsep_data::error::{Error, Result};
use std::any::Any;

/// A run whose updates can be followed from outside.
pub trait Traces {
    /// Where each binary classifier of the run stands, so that what [`Traces::last_updates`] gives from
    /// now on rebuilds its planes.
    fn beginnings(&self) -> Vec<Beginning>;

    /// The last update of each binary classifier. Only after slices of one visit is it certain that
    /// none was missed; one that was given before may be given again.
    fn last_updates(&self) -> Vec<Update>;
}

/// A run that can go on with other data.
pub trait CarriesOn {
    /// Takes over what a run of the same learner has learned on other data with the same classes and
    /// columns (or fewer of them): its planes, the average so far, and the counters on which rates and
    /// orders depend. [`super::Training::progress`] counts from here. Only for a run that has just
    /// started.
    fn carry_on(&mut self, state: &State) -> Result<()>;
}

/// A run that can begin near the optimum of a run with another C.
pub trait WarmStarts {
    /// Begins where a run of the same learner on the same rows has ended, C of this one being `factor`
    /// times as large. Only for a run that has just started. False where the state is of no use, being
    /// that of another solver or of other rows: the run then begins from nothing.
    fn warm_start(&mut self, state: &State, factor: f64) -> bool;

    /// What is known of the rows where the run has ended and no state keeps, for [`WarmStarts::take_over`]; nothing where
    /// it has to be found again.
    fn hand_over(&mut self) -> Option<Box<dyn Any + Send>> {
        None
    }

    /// Takes what the run with the state of [`WarmStarts::warm_start`] knew, which saves a pass over the rows.
    fn take_over(&mut self, _known: Box<dyn Any + Send>, _factor: f64) {}
}

/// A run that bounds the largest margin from above while it lasts.
pub trait BoundsMargin {
    /// No plane of unit length has a larger margin, in the coordinates of the run. `None` while nothing
    /// is known.
    fn margin_ceiling(&self) -> Option<f64>;
}

/// A run that bounds the objective of every model from below. Its objective and gap stand in
/// [`super::Progress`].
pub trait BoundsObjective {
    /// What is proved of other planes in the place of its own, one for each binary classifier, with the
    /// bound that the run has found.
    fn certificate_of(&self, planes: &[Plane]) -> Certificate;

    /// The relative gap of the model as it is now, measured anew where that is needed; the largest of
    /// all binary classifiers. `None` while nothing is known.
    fn gap(&self) -> Option<f64>;
}

/// A run that finds how rows come about.
pub trait Generates {
    /// The density of the rows; `None` before the run has ended, and where it has too many numbers.
    fn density(&self) -> Option<Density>;
}

/// A run that seeks something that need not exist.
pub trait Seeks {
    /// Why a run that has ended has no model to give: the rows rule out what the learner seeks.
    fn refusal(&self) -> Option<Error>;

    /// What the run was to find and has not found although it has ended by its own rule. The model is
    /// the best there is.
    fn shortfall(&self) -> Option<String>;

    /// What is proved of the rows of the task alone, the positive class against all others: for whoever
    /// knows which problem of the whole data these rows are.
    fn claims_on_rows(&self) -> Vec<Claim>;
}

/// Inside `impl Training`: the run has these abilities itself.
#[macro_export]
macro_rules! training_has {
    ($($name:ident),+ $(,)?) => { $($crate::training_ability!($name, this => Some(this));)+ };
}

/// Inside `impl Training`: the run has none of these abilities.
#[macro_export]
macro_rules! training_lacks {
    ($($name:ident),+ $(,)?) => { $($crate::training_ability!($name, _this => None);)+ };
}

/// Inside `impl Training` of a wrapper: these methods and abilities are those of the run inside, in this
/// field.
#[macro_export]
macro_rules! training_forwards {
    ($field:ident: $($name:ident),+ $(,)?) => {
        $($crate::training_forward!($name, $field);)+
    };
}

/// One method of the run inside.
#[doc(hidden)]
#[macro_export]
macro_rules! training_forward {
    (advance, $field:ident) => {
        fn advance(&mut self, budget: $crate::run::Budget) -> $crate::run::Status {
            self.$field.advance(budget)
        }
    };
    (epoch_rows, $field:ident) => {
        fn epoch_rows(&self) -> u64 {
            self.$field.epoch_rows()
        }
    };
    (progress, $field:ident) => {
        fn progress(&self) -> $crate::run::Progress {
            self.$field.progress()
        }
    };
    (model, $field:ident) => {
        fn model(&self) -> $crate::model::LinearModel {
            self.$field.model()
        }
    };
    (remarks, $field:ident) => {
        fn remarks(&self) -> ::std::vec::Vec<$crate::run::Remark> {
            self.$field.remarks()
        }
    };
    (save, $field:ident) => {
        fn save(&self) -> $crate::run::State {
            self.$field.save()
        }
    };
    (restore, $field:ident) => {
        fn restore(&mut self, state: &$crate::run::State) -> $crate::Result<()> {
            self.$field.restore(state)
        }
    };
    ($ability:ident, $field:ident) => {
        $crate::training_ability!($ability, this => this.$field.$ability());
    };
}

/// One accessor with its type; the list of all abilities.
#[doc(hidden)]
#[macro_export]
macro_rules! training_ability {
    (traces, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@read traces Traces, $this => $($body)+);
    };
    (bounds_margin, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@read bounds_margin BoundsMargin, $this => $($body)+);
    };
    (bounds_objective, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@read bounds_objective BoundsObjective, $this => $($body)+);
    };
    (generates, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@read generates Generates, $this => $($body)+);
    };
    (seeks, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@read seeks Seeks, $this => $($body)+);
    };
    (carries_on, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@write carries_on CarriesOn, $this => $($body)+);
    };
    (warm_starts, $this:ident => $($body:tt)+) => {
        $crate::training_ability!(@write warm_starts WarmStarts, $this => $($body)+);
    };
    (@read $name:ident $ability:ident, $this:ident => $($body:tt)+) => {
        fn $name(&self) -> ::core::option::Option<&dyn $crate::run::ability::$ability> {
            let $this = self;
            $($body)+
        }
    };
    (@write $name:ident $ability:ident, $this:ident => $($body:tt)+) => {
        fn $name(&mut self) -> ::core::option::Option<&mut dyn $crate::run::ability::$ability> {
            let $this = self;
            $($body)+
        }
    };
}
