//! Watch a run from outside: print its progress, and end it when somebody asks for it. The library never
//! reads a clock; limits of time are the observer's.

#![allow(clippy::print_stdout)]

use linsep::learn::perceptron::Perceptron;
use linsep::{Budget, Dataset, Learner, Limits, Observer, Stop, Task, Training};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Watch {
    cancelled: Arc<AtomicBool>,
}

impl Observer for Watch {
    /// Between slices of at most a thousand visits of a row. Slices change no bit of the result.
    fn pace(&self) -> Budget {
        Budget::visits(1000)
    }

    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        let progress = now.progress();
        if progress.epochs.is_multiple_of(100) {
            println!("epoch {}, {} updates", progress.epochs, progress.updates);
        }
        // Another thread or a signal would do this.
        self.cancelled.store(progress.epochs >= 500, Ordering::Relaxed);
        match self.cancelled.load(Ordering::Relaxed) {
            true => ControlFlow::Break(Stop::Interrupted),
            false => ControlFlow::Continue(()),
        }
    }
}

pub(crate) fn main() -> linsep::Result<()> {
    // No plane separates these rows, so a perceptron without limits never ends by itself.
    let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let task = Task::new(Dataset::from_rows(&rows, &["no", "yes", "yes", "no"])?);
    let mut watch = Watch { cancelled: Arc::new(AtomicBool::new(false)) };
    let fit = Perceptron::default().fit(&task, &Limits::new(None, None), &mut watch)?;
    println!("ended by: {}", fit.stop.word());
    assert_eq!(fit.stop, Stop::Interrupted);
    // What was learned so far is a model all the same.
    assert_eq!(fit.model.classes, ["no", "yes"]);
    Ok(())
}
