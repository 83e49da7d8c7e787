//! What can be asked. No address names a file: files have the opaque name that the server gave them.

use crate::answer::{Wrong, json_response, refuse, whole};
use crate::guard::{self, Guard};
use crate::pattern::{self, Grid};
use crate::run::Run;
use crate::spec::{Goal, RunSpec};
use crate::{Lab, assets, catalogue, field, histogram, limits, surface, verdict, weights};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, RawQuery, State};
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, post};
use linsep::data::cancel::Request;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Semaphore;

/// What all requests share.
struct Shared {
    lab: Lab,
    runs: Mutex<Runs>,
    workers: Arc<Semaphore>,
}

#[derive(Default)]
struct Runs {
    next: u64,
    /// (when it was asked for last, the run) by its name.
    open: BTreeMap<u64, (u64, Arc<Mutex<Run>>)>,
    clock: u64,
}

type Answer = Result<Response, Wrong>;

/// The whole server.
pub(crate) fn app(guard: Guard, lab: Lab) -> Router {
    let workers = Arc::new(Semaphore::new(limits::WORKERS));
    let shared = Arc::new(Shared { lab, runs: Mutex::default(), workers });
    Router::new()
        .route("/api/catalogue", get(list))
        .route("/api/runs", post(open))
        .route("/api/runs/{id}", get(describe).delete(close))
        .route("/api/runs/{id}/step", post(step))
        .route("/api/runs/{id}/choose", post(choose))
        .route("/api/runs/{id}/at", post(at))
        .route("/api/runs/{id}/frames", get(frames))
        .route("/api/runs/{id}/curves", get(curves))
        .route("/api/runs/{id}/state", get(state))
        .route("/api/runs/{id}/weights", get(weight_space))
        .route("/api/runs/{id}/surface", get(criterion))
        .route("/api/runs/{id}/projected", get(projected))
        .route("/api/runs/{id}/rows", get(rows))
        .route("/api/runs/{id}/regions", get(regions))
        .route("/api/runs/{id}/scores", get(scores))
        .route("/api/runs/{id}/lift", get(lift))
        .route("/api/runs/{id}/walk", get(walk))
        .route("/api/runs/{id}/verdict", get(judge))
        .route("/api/runs/{id}/trace", get(trace))
        .route("/api/runs/{id}/data", get(data))
        .fallback(asset)
        .method_not_allowed_fallback(no_method)
        .layer(DefaultBodyLimit::max(limits::BODY))
        .layer(from_fn_with_state(Arc::new(guard), guard::check))
        .with_state(shared)
}

type Ctx = State<Arc<Shared>>;

async fn no_method() -> Response {
    refuse(StatusCode::METHOD_NOT_ALLOWED, "method", "this address has no such method")
}

async fn asset(uri: Uri) -> Response {
    match assets::find(uri.path()) {
        Some((kind, bytes)) => whole(StatusCode::OK, kind, bytes.to_vec()),
        None => refuse(StatusCode::NOT_FOUND, "missing", "there is no such address"),
    }
}

async fn list(State(shared): Ctx) -> Response {
    json_response(&catalogue::catalogue(&shared.lab))
}

/// Asks for the end of the work when the request that wants it is gone.
struct AskOnDrop(Request);

impl Drop for AskOnDrop {
    fn drop(&mut self) {
        self.0.ask();
    }
}

/// Work for a thread of its own, with few at a time.
async fn work(shared: &Arc<Shared>, job: impl FnOnce() -> Answer + Send + 'static) -> Response {
    work_or(shared, job, || ()).await
}

/// The same, with what is to be done if the work is given up in the middle.
async fn work_or(
    shared: &Arc<Shared>,
    job: impl FnOnce() -> Answer + Send + 'static,
    given_up: impl FnOnce() + Send + 'static,
) -> Response {
    let Ok(permit) = Arc::clone(&shared.workers).acquire_owned().await else {
        return Wrong::Busy("the server is ending").response();
    };
    // Nobody waits for the answer any more when this future is dropped.
    let request = Request::default();
    let _asks = AskOnDrop(request.clone());
    let working = tokio::task::spawn_blocking(move || {
        // The place is free when the work has ended, not when somebody stops waiting for it.
        let _permit = permit;
        let answer = request.catch(job);
        if answer.is_none() {
            given_up();
        }
        answer
    });
    match working.await {
        Ok(Some(answer)) => answer.unwrap_or_else(Wrong::response),
        Ok(None) => Wrong::Busy("the work was given up").response(),
        Err(_) => refuse(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "the run has failed; this is a fault of linsep, please report it",
        ),
    }
}

fn read<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Wrong> {
    serde_json::from_slice(bytes)
        .map_err(|error| Wrong::usage(format!("this request makes no sense: {error}")))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a failed request left behind is whole enough to be looked at.
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

impl Shared {
    fn find(&self, id: &str) -> Result<Arc<Mutex<Run>>, Wrong> {
        let mut runs = lock(&self.runs);
        runs.clock += 1;
        let now = runs.clock;
        let found = id.parse().ok().and_then(|id: u64| runs.open.get_mut(&id));
        let found = found.ok_or(Wrong::Missing("this run is closed; start it again"))?;
        found.0 = now;
        Ok(Arc::clone(&found.1))
    }

    fn remove(&self, id: &str) -> Option<Arc<Mutex<Run>>> {
        let id: u64 = id.parse().ok()?;
        lock(&self.runs).open.remove(&id).map(|(_, run)| run)
    }

    fn add(&self, run: Run) -> u64 {
        let mut runs = lock(&self.runs);
        while runs.open.len() >= limits::RUNS {
            let oldest = runs.open.iter().min_by_key(|(_, (used, _))| *used).map(|(id, _)| *id);
            oldest.and_then(|id| runs.open.remove(&id));
        }
        (runs.next, runs.clock) = (runs.next + 1, runs.clock + 1);
        let (id, used) = (runs.next, runs.clock);
        runs.open.insert(id, (used, Arc::new(Mutex::new(run))));
        id
    }
}

/// Work on one run.
async fn on_run(
    shared: Arc<Shared>,
    id: String,
    job: impl FnOnce(&mut Run) -> Result<Value, Wrong> + Send + 'static,
) -> Response {
    answer_of(shared, id, move |run| job(run).map(|value| json_response(&value))).await
}

async fn answer_of(
    shared: Arc<Shared>,
    id: String,
    job: impl FnOnce(&mut Run) -> Answer + Send + 'static,
) -> Response {
    let run = match shared.find(&id) {
        Ok(run) => run,
        Err(wrong) => return wrong.response(),
    };
    let own = Arc::clone(&shared);
    // A run that was given up in the middle of a step is not whole.
    let given_up = move || drop(own.remove(&id));
    work_or(&shared, move || job(&mut lock(&run)), given_up).await
}

async fn open(State(shared): Ctx, body: Bytes) -> Response {
    let own = Arc::clone(&shared);
    work(&shared, move || {
        let spec: RunSpec = read(&body)?;
        let loaded = spec.data.load(own.lab.subject.as_ref(), own.lab.max_memory)?;
        let lab = &own.lab;
        let mut run = Run::open(spec, loaded, lab.max_memory, lab.threads.max(1))?;
        let description = pattern::describe(&run);
        let first = pattern::frames(&mut run, 0, 0)?;
        let header = json!(run.log.header);
        let summary = run.summary();
        let id = own.add(run);
        Ok(json_response(&json!({
            "id": id.to_string(),
            "data": description,
            "summary": summary,
            "frames": first,
            "header": header,
        })))
    })
    .await
}

async fn describe(State(shared): Ctx, Path(id): Path<String>) -> Response {
    on_run(shared, id, |run| {
        Ok(json!({ "data": pattern::describe(run), "summary": run.summary() }))
    })
    .await
}

async fn close(State(shared): Ctx, Path(id): Path<String>) -> Response {
    match shared.remove(&id) {
        Some(_) => json_response(&json!({ "closed": true })),
        None => Wrong::Missing("this run is closed").response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepSpec {
    by: Goal,
    #[serde(default = "one")]
    count: u64,
}

fn one() -> u64 {
    1
}

/// Frames that come with the answer to a step.
const AT_ONCE: u64 = 60;

async fn step(State(shared): Ctx, Path(id): Path<String>, body: Bytes) -> Response {
    on_run(shared, id, move |run| {
        let StepSpec { by, count } = read(&body)?;
        let stepped = run.advance(by, count)?;
        with_frames(run, stepped)
    })
    .await
}

fn with_frames(run: &mut Run, mut stepped: Value) -> Result<Value, Wrong> {
    let before = stepped["before"].as_u64().unwrap_or(0);
    let to = run.log.known().min(before + AT_ONCE);
    stepped["frames"] = match to > before {
        true => pattern::frames(run, before + 1, to)?,
        false => json!([]),
    };
    Ok(stepped)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChooseSpec {
    row: u32,
}

async fn choose(State(shared): Ctx, Path(id): Path<String>, body: Bytes) -> Response {
    on_run(shared, id, move |run| {
        let ChooseSpec { row } = read(&body)?;
        let stepped = run.choose(row)?;
        with_frames(run, stepped)
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AtSpec {
    planes: Vec<Vec<f64>>,
    #[serde(default)]
    view: String,
}

async fn at(State(shared): Ctx, Path(id): Path<String>, body: Bytes) -> Response {
    on_run(shared, id, move |run| {
        let AtSpec { planes, view } = read(&body)?;
        pattern::state_of(run, &planes, &view)
    })
    .await
}

/// The parts of a query, each of which has to be known.
struct Query(BTreeMap<String, String>);

impl Query {
    fn of(raw: Option<String>, known: &[&str]) -> Result<Query, Wrong> {
        let raw = raw.unwrap_or_default();
        let mut parts = BTreeMap::new();
        for part in raw.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            if !known.contains(&name) || parts.insert(name.to_owned(), value.to_owned()).is_some() {
                return Err(Wrong::usage("this address has a part that makes no sense"));
            }
        }
        Ok(Query(parts))
    }

    fn get<T: FromStr>(&self, name: &str) -> Result<T, Wrong> {
        let text = self.0.get(name).map(String::as_str).unwrap_or_default();
        let text = decoded(text).ok_or_else(|| Wrong::usage(format!("`{name}` makes no sense")))?;
        text.parse().map_err(|_| Wrong::usage(format!("`{name}` makes no sense")))
    }

    fn grid(&self) -> Result<Grid, Wrong> {
        let [x0, x1, y0, y1] = ["x0", "x1", "y0", "y1"].map(|name| self.get::<f64>(name));
        let (x, y, cells) = ([x0?, x1?], [y0?, y1?], self.get::<usize>("cells")?);
        let fine = |[low, high]: [f64; 2]| low.is_finite() && high.is_finite() && low < high;
        if !fine(x) || !fine(y) || !(2..=128).contains(&cells) {
            return Err(Wrong::usage("this is no grid"));
        }
        Ok(Grid { x, y, cells })
    }
}

/// A value with its `%XX` decoded, as far as it is text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                (16 * digit(rest.next())? + digit(rest.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

const GRID: [&str; 5] = ["x0", "x1", "y0", "y1", "cells"];

async fn frames(State(shared): Ctx, Path(id): Path<String>, RawQuery(raw): RawQuery) -> Response {
    on_run(shared, id, move |run| {
        let query = Query::of(raw, &["from", "to"])?;
        pattern::frames(run, query.get("from")?, query.get("to")?)
    })
    .await
}

async fn curves(State(shared): Ctx, Path(id): Path<String>) -> Response {
    on_run(shared, id, |run| {
        let target = run.target();
        pattern::curves(run, target.as_deref())
    })
    .await
}

async fn state(State(shared): Ctx, Path(id): Path<String>, RawQuery(raw): RawQuery) -> Response {
    on_run(shared, id, move |run| {
        let query = Query::of(raw, &["k", "view"])?;
        let view: String = query.get("view")?;
        pattern::state(run, query.get("k")?, &view)
    })
    .await
}

async fn weight_space(State(shared): Ctx, Path(id): Path<String>) -> Response {
    on_run(shared, id, |run| weights::space(run)).await
}

async fn criterion(
    State(shared): Ctx,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response {
    on_run(shared, id, move |run| {
        let query = Query::of(raw, &[&GRID[..], &["criterion", "bias"]].concat())?;
        let bias: f64 = query.get("bias")?;
        surface::surface(run, &query.get::<String>("criterion")?, query.grid()?, bias)
    })
    .await
}

async fn regions(ctx: Ctx, id: Path<String>, raw: RawQuery) -> Response {
    on_grid(ctx, id, raw, field::regions).await
}

async fn scores(ctx: Ctx, id: Path<String>, raw: RawQuery) -> Response {
    on_grid(ctx, id, raw, field::scores).await
}

async fn lift(ctx: Ctx, id: Path<String>, raw: RawQuery) -> Response {
    on_grid(ctx, id, raw, field::lift).await
}

/// What is asked of an update over a grid of places.
async fn on_grid(
    State(shared): Ctx,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
    job: fn(&mut Run, u64, Grid) -> Result<Value, Wrong>,
) -> Response {
    on_run(shared, id, move |run| {
        let query = Query::of(raw, &[&GRID[..], &["k"]].concat())?;
        job(run, query.get("k")?, query.grid()?)
    })
    .await
}

async fn walk(State(shared): Ctx, Path(id): Path<String>, RawQuery(raw): RawQuery) -> Response {
    on_run(shared, id, move |run| {
        let query = Query::of(raw, &["k", "x0", "y0", "x1", "y1"])?;
        let from = [query.get("x0")?, query.get("y0")?];
        field::walk(run, query.get("k")?, from, [query.get("x1")?, query.get("y1")?])
    })
    .await
}

async fn projected(
    State(shared): Ctx,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response {
    on_run(shared, id, move |run| {
        let query = Query::of(raw, &["share", "bins"])?;
        histogram::projected(run, query.get("share")?, query.get("bins")?)
    })
    .await
}

async fn rows(State(shared): Ctx, Path(id): Path<String>) -> Response {
    on_run(shared, id, |run| {
        let data = &run.loaded.data;
        if run.shown.len().saturating_mul(data.n_features()) > limits::MADE_ROWS as usize {
            return Err(Wrong::Missing("there are too many numbers to show them all"));
        }
        Ok(json!(run.shown.iter().map(|row| data.row(*row as usize)).collect::<Vec<_>>()))
    })
    .await
}

async fn judge(State(shared): Ctx, Path(id): Path<String>) -> Response {
    let run = match shared.find(&id) {
        Ok(run) => run,
        Err(wrong) => return wrong.response(),
    };
    let data = Arc::clone(&lock(&run).data);
    // The run itself goes on meanwhile.
    work(&shared, move || {
        let (value, rows) = verdict::of(&data)?;
        lock(&run).notable = rows;
        Ok(json_response(&value))
    })
    .await
}

async fn trace(State(shared): Ctx, Path(id): Path<String>) -> Response {
    bytes_of(shared, id, "application/x-ndjson", |run| run.trace()).await
}

async fn data(State(shared): Ctx, Path(id): Path<String>) -> Response {
    bytes_of(shared, id, "text/csv; charset=utf-8", |run| match &run.loaded.text {
        Some(text) => Ok(text.clone().into_bytes()),
        None => Err(Wrong::Missing("the file is yours already")),
    })
    .await
}

async fn bytes_of(
    shared: Arc<Shared>,
    id: String,
    kind: &'static str,
    job: impl FnOnce(&mut Run) -> Result<Vec<u8>, Wrong> + Send + 'static,
) -> Response {
    answer_of(shared, id, move |run| job(run).map(|bytes| whole(StatusCode::OK, kind, bytes))).await
}
