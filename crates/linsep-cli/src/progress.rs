//! Progress on stderr: one line that is wiped at the end, or JSON lines for programs. Nothing is
//! shown in the first half second.

use crate::context::{Context, ProgressMode, timed_out};
use crate::exit::eprint_raw;
use crate::output::grouped;
use linsep::data::error::readable;
use linsep::{Observer, Progress, Stop, Training};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Shows progress and enforces the time limit and Ctrl-C.
pub(crate) struct Watch<'a> {
    context: &'a Context,
    started: Instant,
    next: Duration,
    shown: bool,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(context: &'a Context) -> Watch<'a> {
        Watch { context, started: Instant::now(), next: Duration::from_millis(500), shown: false }
    }

    fn show(&mut self, now: &dyn Training) {
        let progress = now.progress();
        let ceiling = now.bounds_margin().and_then(|run| run.margin_ceiling());
        match self.context.progress {
            ProgressMode::Never => {}
            ProgressMode::Line => {
                eprint_raw(&format!("\r\x1b[K{}", line(&progress, ceiling)));
            }
            ProgressMode::Json => {
                let line = serde_json::json!({
                    "epochs": progress.epochs,
                    "visits": progress.visits,
                    "updates": progress.updates,
                    "last_mistakes": progress.last_mistakes,
                    "objective": progress.objective,
                    "gap": progress.gap,
                    "margin_ceiling": ceiling,
                    "seconds": self.started.elapsed().as_secs_f64(),
                });
                eprint_raw(&format!("{line}\n"));
            }
        }
        self.shown = true;
    }
}

/// What is known of a run, in one line.
fn line(progress: &Progress, ceiling: Option<f64>) -> String {
    let mut parts = vec![format!("epoch {}", grouped(progress.epochs))];
    match (progress.objective, progress.last_mistakes) {
        (Some(objective), _) => {
            parts.push(format!("objective {}", readable(objective, 7)));
            parts.extend(progress.gap.map(|gap| format!("gap {gap:.1e}")));
        }
        (None, Some(mistakes)) => {
            parts.push(format!("{} mistakes in the last pass", grouped(mistakes)));
        }
        (None, None) => parts.push("first pass".to_owned()),
    }
    if progress.objective.is_none() {
        parts.push(format!("{} updates", grouped(progress.updates)));
    }
    parts.extend(ceiling.map(|ceiling| format!("margin at most {}", rounded_up(ceiling))));
    parts.join(", ")
}

/// Three digits, never less than the number.
fn rounded_up(x: f64) -> String {
    let unit = 10f64.powi(x.log10().floor() as i32 - 2);
    format!("{:.3e}", ((x / unit).ceil() + 1.0) * unit)
}

impl Observer for Watch<'_> {
    fn on_step(&mut self, now: &dyn Training) -> ControlFlow<Stop> {
        if self.context.stopped() {
            let why = if timed_out() { Stop::Time } else { Stop::Interrupted };
            return ControlFlow::Break(why);
        }
        if self.context.progress != ProgressMode::Never && self.started.elapsed() >= self.next {
            self.next = self.started.elapsed() + Duration::from_millis(100);
            self.show(now);
        }
        ControlFlow::Continue(())
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.shown && self.context.progress == ProgressMode::Line {
            eprint_raw("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_is_known() {
        let online =
            Progress::default().with_epochs(3).with_updates(1234).with_last_mistakes(Some(7));
        let words = "epoch 3, 7 mistakes in the last pass, 1,234 updates";
        assert_eq!(line(&online, None), words);
        assert!(line(&online, Some(0.5)).starts_with(&format!("{words}, margin at most 5.0")));
        assert_eq!(line(&Progress::default(), None), "epoch 0, first pass, 0 updates");
        let optimiser =
            Progress::default().with_epochs(9).with_objective(Some(12.5)).with_gap(Some(0.003));
        assert_eq!(line(&optimiser, None), "epoch 9, objective 12.5, gap 3.0e-3");
        let unbounded = optimiser.with_gap(None);
        assert_eq!(line(&unbounded, None), "epoch 9, objective 12.5");
    }
}
