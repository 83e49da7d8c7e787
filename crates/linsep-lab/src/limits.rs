//! How much of the machine the page may use. Everything that a request could make large is bounded here.

use std::time::Duration;

/// Connections at a time; one more is told so and closed.
pub(crate) const CONNECTIONS: usize = 64;

/// A connection on which nothing comes for so long is closed.
pub(crate) const IDLE: Duration = Duration::from_secs(60);

/// How long the lines before the body of a request may take.
pub(crate) const HEAD: Duration = Duration::from_secs(10);

/// Between two looks at whether the server is to end.
pub(crate) const LOOK: Duration = Duration::from_millis(100);

/// Requests at once, and in each second after that.
pub(crate) const BURST: f64 = 600.0;
pub(crate) const RATE: f64 = 300.0;

/// Bytes of a request's body.
pub(crate) const BODY: usize = 1 << 20;

/// Runs at a time; the one that was not asked for longest gives way.
pub(crate) const RUNS: usize = 12;

/// Requests that compute at a time.
pub(crate) const WORKERS: usize = 4;

/// How long one request may advance a run; the page asks again for more.
pub(crate) const SLICE: Duration = Duration::from_millis(250);

/// How long the exact judge may take.
pub(crate) const JUDGE: Duration = Duration::from_secs(10);

/// Updates that a run keeps, bytes of its trace, numbers of its kept planes.
pub(crate) const UPDATES: u64 = 500_000;
pub(crate) const TRACE: usize = 64 << 20;
pub(crate) const NUMBERS: usize = 8 << 20;

/// Planes of more numbers than this are rebuilt from saved states and not kept one by one.
pub(crate) const KEPT_WIDTH: usize = 256;

/// Updates between two saved states.
pub(crate) const STRIDE: u64 = 64;

/// Visits between two saved states, where updates are rarer than that.
pub(crate) const STRIDE_VISITS: u64 = 500_000;

/// Frames in one answer.
pub(crate) const FRAMES: u64 = 400;

/// Points that are drawn.
pub(crate) const SHOWN: usize = 5_000;

/// Rows that the page may ask to be made, and points that it may send.
pub(crate) const MADE_ROWS: u64 = 20_000;
pub(crate) const POINTS: usize = 5_000;

/// Lines in weight space.
pub(crate) const HALF_PLANES: usize = 400;

/// Multiplications for which all rows are measured, and not only those that are drawn.
pub(crate) const MEASURED: usize = 500_000_000;

/// Of the drawn points those that are kept free for wrong rows and rows of proofs that the sample has not.
pub(crate) const ALSO: usize = 1_000;
