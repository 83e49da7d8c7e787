//! Progress on stderr: one line that is wiped at the end, or JSON lines for programs. Nothing is
//! shown in the first half second.

use crate::context::{Context, ProgressMode, timed_out};
use crate::exit::eprint_all;
use crate::output::grouped;
use linsep::{Observer, Stop, Training};
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
        match self.context.progress {
            ProgressMode::Never => {}
            ProgressMode::Line => {
                let mistakes = match progress.last_mistakes {
                    Some(mistakes) => format!("{} mistakes in the last pass", grouped(mistakes)),
                    None => "first pass".to_owned(),
                };
                let ceiling = match now.margin_ceiling() {
                    Some(ceiling) => format!(", margin at most {}", rounded_up(ceiling)),
                    None => String::new(),
                };
                eprint_all(&format!(
                    "\r\x1b[Kepoch {}, {mistakes}, {} updates{ceiling}",
                    grouped(progress.epochs),
                    grouped(progress.updates)
                ));
            }
            ProgressMode::Json => {
                let line = serde_json::json!({
                    "epochs": progress.epochs,
                    "visits": progress.visits,
                    "updates": progress.updates,
                    "last_mistakes": progress.last_mistakes,
                    "margin_ceiling": now.margin_ceiling(),
                    "seconds": self.started.elapsed().as_secs_f64(),
                });
                eprint_all(&format!("{line}\n"));
            }
        }
        self.shown = true;
    }
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
            eprint_all("\r\x1b[K");
        }
    }
}
