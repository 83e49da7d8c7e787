//! The lab: one page on loopback that shows learning in pattern space and weight space.
//!
//! Problem: what a lecture draws once with chalk has to be seen many times, on many rows, forwards and
//! backwards. Idea: the program serves a page that asks for runs of the library's own [`Training`] objects
//! and draws what they did. The page holds no arithmetic of learning: planes, margins, mistakes, cones,
//! criteria and verdicts all come from here.
//!
//! The server listens on loopback only and answers nobody who has not the token of the printed address; the
//! rules stand in `guard.rs`, the limits in `limits.rs`.
//!
//! [`Training`]: linsep::Training

mod answer;
mod assets;
mod catalogue;
mod field;
mod guard;
mod histogram;
mod limits;
mod listen;
mod log;
mod pattern;
mod routes;
mod run;
mod sample;
mod sets;
mod spec;
mod spread;
mod still;
mod surface;
mod vector;
mod verdict;
mod view;
mod weights;

use linsep::{Dataset, Error, LinearModel, Result};
use std::collections::BTreeMap;
use std::future::{IntoFuture, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// What the page is opened with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Lab {
    /// The port; 0 takes any that is free.
    pub port: u16,
    /// The lesson to begin with.
    pub lesson: Option<String>,
    /// The user's own data.
    pub subject: Option<Subject>,
    /// Bytes that readers may use.
    pub max_memory: Option<u64>,
    /// Threads that a run may use; 0 is 1. Never changes a bit of what is shown.
    pub threads: usize,
}

/// The user's own data, which the page knows by a name that is no path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Subject {
    /// What it is called on the page.
    pub name: String,
    /// The rows.
    pub data: Arc<Dataset>,
    /// The class that was chosen as positive, if one was.
    pub positive: Option<String>,
    /// The run that a model or a trace tells of.
    pub opening: Option<Opening>,
}

/// A run to begin with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Opening {
    /// The learner.
    pub learner: String,
    /// Its settings.
    pub settings: BTreeMap<String, String>,
    /// The seed.
    pub seed: u64,
    /// The model, to be drawn as it is; its features and classes are those of the data.
    pub model: Option<LinearModel>,
}

impl Subject {
    /// Data under a name.
    pub fn new(name: &str, data: Arc<Dataset>) -> Subject {
        Subject { name: name.to_owned(), data, positive: None, opening: None }
    }
}

impl Lab {
    /// Serves the page until `stopped` says so. `ready` gets the address, token included, once the server
    /// listens.
    pub fn serve(self, ready: &mut dyn FnMut(&str), stopped: &dyn Fn() -> bool) -> Result<()> {
        catalogue::check_lesson(self.lesson.as_deref())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(limits::WORKERS + 2)
            .build()
            .map_err(|error| failed("start", error))?;
        let served = runtime.block_on(async move {
            let listener =
                listen::Loopback::bind(self.port).map_err(|error| failed("listen on", error))?;
            let port = listener.port();
            let guard = guard::Guard::new(port)?;
            let lesson = self.lesson.as_deref().map(|name| format!("#lesson={name}"));
            ready(&format!("{}{}", guard.address(), lesson.unwrap_or_default()));
            let app = routes::app(guard, self);
            let mut serving = pin!(axum::serve(listener, app).into_future());
            let mut ending = pin!(async {
                while !stopped() {
                    tokio::time::sleep(limits::LOOK).await;
                }
            });
            let either = poll_fn(|context| match ending.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Ok(())),
                Poll::Pending => serving.as_mut().poll(context),
            });
            either.await.map_err(|error| failed("serve", error))
        });
        // Nobody waits for what is still computed.
        runtime.shutdown_background();
        served
    }
}

fn failed(action: &'static str, error: std::io::Error) -> Error {
    Error::io(action, std::path::Path::new("loopback"), error)
}
