//! Checkpoints of a run: written while it lasts and where a limit or a signal ends it, removed when it
//! is done.

use super::plan::Plan;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::output::note;
use crate::progress::Watch;
use crate::units;
use linsep::data::Identifying;
use linsep::file::DataIdentity;
use linsep::file::checkpoint::{Checkpoint, Earlier, SavedLimits, SavedRun};
use linsep::{Error, Observer, State, Stop, Task, Training};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a run is saved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Every {
    Time(Duration),
    Visits(u64),
}

impl Every {
    /// `30s`, `500ms`, `5m`, or `100000visits`.
    pub(super) fn parse(text: &str) -> Result<Every, Error> {
        let wrong = || {
            Error::usage(format!(
                "--checkpoint-every: \"{text}\" is neither a time such as 30s, 500ms or 5m \
                 nor a number of visits such as 100000visits"
            ))
        };
        match text.strip_suffix("visits") {
            Some(count) => match count.trim_end().parse() {
                Ok(count) if count > 0 => Ok(Every::Visits(count)),
                _ => Err(wrong()),
            },
            None => units::duration(text).map(Every::Time).map_err(|_| wrong()),
        }
    }
}

/// What `--checkpoint-every` and `--checkpoint` ask for.
pub(super) struct Checkpoints {
    pub(super) every: Option<Every>,
    /// Where the run goes that ends before it is done, if it is to be kept.
    pub(super) to: Option<Output>,
}

/// Shows progress as [`Watch`] does, and saves the run now and then.
pub(super) struct Keeper<'a> {
    watch: Watch<'a>,
    context: &'a Context,
    checkpoints: &'a Checkpoints,
    /// Everything but the state and the identity of the data.
    base: Checkpoint,
    identifying: &'a Identifying,
    last: (Instant, u64),
}

impl<'a> Keeper<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        context: &'a Context,
        task: &Task,
        identifying: &'a Identifying,
        run: SavedRun,
    ) -> Keeper<'a> {
        let data = &task.data;
        let base = Checkpoint::new(
            (plan.recipe.name, plan.recipe.effective(&plan.settings), plan.settings.seed),
            SavedLimits::default()
                .with_epochs(plan.limits.epochs)
                .with_updates(plan.limits.updates)
                .with_given(plan.epochs_given),
            (DataIdentity::new(String::new(), 0), data.reading_field()),
            (data.classes().to_vec(), data.input().clone()),
            run,
        );
        let last = (Instant::now(), base.run.visits);
        let checkpoints = &plan.checkpoints;
        Keeper { watch: Watch::new(context), context, checkpoints, base, identifying, last }
    }

    /// The state of the run, as model files and checkpoints hold it.
    pub(super) fn saved(&self, now: &dyn Training) -> SavedRun {
        self.base.run.clone().with_visits(now.progress().visits).with_state(now.save())
    }

    /// Saves the run at once, so that a place that cannot be written to is found before the work.
    pub(super) fn begin(&mut self, now: &dyn Training) -> Result<(), Failure> {
        match self.checkpoints.every {
            Some(_) => Ok(self.write(now)?),
            None => Ok(()),
        }
    }

    /// Saves a run that ended before it was done and tells where; a run that is done needs no
    /// checkpoint any more.
    pub(super) fn end(
        &mut self,
        now: &dyn Training,
        done: bool,
        resumed: Option<&Path>,
    ) -> Result<Option<PathBuf>, Failure> {
        let own = self.checkpoints.to.as_ref().map(Output::path);
        if !done {
            self.write(now)?;
            return Ok(own.map(Path::to_path_buf));
        }
        let own = own.filter(|_| self.checkpoints.every.is_some());
        for path in own.into_iter().chain(resumed) {
            // It may be gone already, and a file that stays does no harm.
            let _ = std::fs::remove_file(path);
        }
        Ok(None)
    }

    /// Where the last checkpoint is that was written on the way.
    pub(super) fn last(&self) -> Option<PathBuf> {
        let to = self.checkpoints.to.as_ref().filter(|_| self.checkpoints.every.is_some());
        to.map(|output| output.path().to_path_buf())
    }

    fn write(&mut self, now: &dyn Training) -> Result<(), Error> {
        let Some(to) = &self.checkpoints.to else { return Ok(()) };
        self.base.data.clone_from(self.identifying.identity());
        self.base.run = self.saved(now);
        self.last = (Instant::now(), self.base.run.visits);
        self.base.save(to.path())
    }
}

impl Observer for Keeper<'_> {
    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        let due = match self.checkpoints.every {
            None => false,
            Some(Every::Time(time)) => self.last.0.elapsed() >= time,
            Some(Every::Visits(visits)) => now.progress().visits - self.last.1 >= visits,
        };
        if due && let Err(error) = self.write(now) {
            // The first one could be written, so the run goes on and tries again.
            note(self.context, &format!("no checkpoint: {error}"));
        }
        self.watch.on_step(now)
    }
}

/// What a run that starts has to remember beside its state, which is taken where it is written.
pub(super) fn first(
    plan: &Plan,
    earlier: Earlier,
    held_out: Option<f64>,
    now: &dyn Training,
) -> SavedRun {
    let mut run = SavedRun::new(now.progress().visits, State::from_bytes(Vec::new()));
    run.earlier = earlier;
    run.held_out = held_out;
    run.rates = plan.settings.rates.clone();
    run.keep_start(plan.settings.start.as_deref());
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_visits_are_read() {
        let time = |ms| Every::Time(Duration::from_millis(ms));
        for (text, every) in [
            ("30s", time(30_000)),
            ("500ms", time(500)),
            ("5m", time(300_000)),
            ("100000visits", Every::Visits(100_000)),
            ("7 visits", Every::Visits(7)),
        ] {
            assert_eq!(Every::parse(text).ok(), Some(every), "{text}");
        }
        for text in
            ["", "0", "0s", "-1s", "NaN", "inf", "visits", "0visits", "-1visits", "1.5visits"]
        {
            assert!(Every::parse(text).is_err(), "{text}");
        }
    }
}
