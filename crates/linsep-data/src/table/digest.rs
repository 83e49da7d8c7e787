//! The digest of a data set, computed on several threads, or beside other work. What enters it is defined in
//! [`linsep_proof::digest`], where the checker has it too.

use super::{DataIdentity, Dataset};
use crate::cancel;
use crate::parallel::{has_idle, parallel_map};
use linsep_proof::digest::{BLOCK_ROWS, Version, block_hash, combine};
use linsep_proof::{Decimals, Entries, RowBuffer, Rows};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The identity of a data set that is computed beside other work, in the time in which that leaves a thread
/// without anything to do. Training often runs on one thread, and nobody needs the digest before the model
/// is written.
pub struct Identifying {
    work: Arc<Work>,
    worker: Mutex<Option<JoinHandle<()>>>,
    threads: usize,
    found: OnceLock<DataIdentity>,
}

struct Work {
    data: Arc<Dataset>,
    /// The hashes of blocks that are known.
    hashes: Vec<OnceLock<[u8; 32]>>,
    /// The block that nobody has begun.
    next: AtomicUsize,
    /// Somebody waits, or nobody will.
    ends: AtomicBool,
}

impl Identifying {
    /// Begins. With one thread nothing is done before somebody asks.
    pub fn start(data: &Arc<Dataset>, threads: usize) -> Identifying {
        let blocks = Rows::len(data.as_ref()).div_ceil(BLOCK_ROWS) as usize;
        let work = Arc::new(Work {
            data: Arc::clone(data),
            hashes: (0..blocks).map(|_| OnceLock::new()).collect(),
            next: AtomicUsize::new(0),
            ends: AtomicBool::new(false),
        });
        let shared = Arc::clone(&work);
        let begin = || std::thread::Builder::new().spawn(move || shared.run_while_idle(threads));
        let worker = (threads > 1 && blocks > 0).then(begin).and_then(Result::ok);
        Identifying { work, worker: Mutex::new(worker), threads, found: OnceLock::new() }
    }

    /// The identity; what is left of the work is done on all threads first.
    pub fn identity(&self) -> &DataIdentity {
        self.found.get_or_init(|| {
            self.end();
            let hash =
                |block: usize| *self.work.hashes[block].get_or_init(|| self.work.hash(block));
            let hashes = parallel_map(self.work.hashes.len(), self.threads, hash);
            let rows = Rows::len(self.work.data.as_ref());
            DataIdentity::new(combine(Version::LATEST, &hashes), rows)
        })
    }

    fn end(&self) {
        self.work.ends.store(true, Ordering::Relaxed);
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(worker) = worker {
            // It gives nothing back, and ends by itself where the work is given up.
            let _ = worker.join();
        }
    }
}

impl Drop for Identifying {
    fn drop(&mut self) {
        self.end();
    }
}

impl Work {
    fn hash(&self, block: usize) -> [u8; 32] {
        block_hash(Version::LATEST, self.data.as_ref(), block as u64)
    }

    fn run_while_idle(&self, threads: usize) {
        let rows = WhileIdle { work: self, threads };
        while !self.ends.load(Ordering::Relaxed) {
            let block = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(place) = self.hashes.get(block) else { return };
            // Work that is given up unwinds; who asks for the digest does what is missing.
            let hash = || block_hash(Version::LATEST, &rows, block as u64);
            let Ok(hash) = catch_unwind(AssertUnwindSafe(hash)) else { return };
            place.get_or_init(|| hash);
        }
    }
}

/// The rows of a data set, each given when a thread has nothing else to do or somebody waits: a map of a
/// millisecond must not find its core taken for the time of a block.
struct WhileIdle<'a> {
    work: &'a Work,
    threads: usize,
}

impl WhileIdle<'_> {
    fn wait(&self) {
        const PAUSE: Duration = Duration::from_micros(100);
        while !has_idle(self.threads) && !self.work.ends.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE);
        }
    }
}

impl Rows for WhileIdle<'_> {
    fn len(&self) -> u64 {
        Rows::len(self.work.data.as_ref())
    }

    fn width(&self) -> usize {
        Rows::width(self.work.data.as_ref())
    }

    fn label(&self, row: u64) -> &str {
        Rows::label(self.work.data.as_ref(), row)
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        Rows::for_each(self.work.data.as_ref(), row, each);
    }

    fn load(&self, row: u64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        self.wait();
        Rows::load(self.work.data.as_ref(), row, columns, values);
    }

    fn decimals(&self, row: u64) -> Option<Decimals<'_>> {
        self.wait();
        Rows::decimals(self.work.data.as_ref(), row)
    }

    fn takes_part(&self, row: u64) -> bool {
        Rows::takes_part(self.work.data.as_ref(), row)
    }
}

/// The digest in hexadecimal, blocks of rows side by side.
pub(crate) fn digest(data: &Dataset, version: Version, threads: usize) -> String {
    let blocks = data.len().div_ceil(BLOCK_ROWS) as usize;
    let hash = |block: usize| block_hash(version, data, block as u64);
    combine(version, &parallel_map(blocks, threads, hash))
}

/// The rows before basis functions: what the digest names, and what proofs start from.
impl Rows for Dataset {
    fn len(&self) -> u64 {
        self.n_rows() as u64
    }

    fn width(&self) -> usize {
        self.raw_store().width()
    }

    fn label(&self, row: u64) -> &str {
        self.label_text(row as usize)
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        cancel::check();
        self.raw_store().for_each_entry(row as usize, each);
    }

    fn entries<'a>(&'a self, row: u64, buffer: &'a mut RowBuffer) -> Entries<'a> {
        cancel::check();
        self.raw_store().entries(row as usize, &mut buffer.values)
    }

    fn load(&self, row: u64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
        cancel::check();
        self.raw_store().load(row as usize, columns, values);
    }

    fn decimals(&self, row: u64) -> Option<Decimals<'_>> {
        cancel::check();
        self.raw_store().decimals(row as usize)
    }

    fn takes_part(&self, row: u64) -> bool {
        Dataset::weight(self, row as usize) > 0.0
    }

    fn weight(&self, row: u64) -> f64 {
        Dataset::weight(self, row as usize)
    }

    fn column_name(&self, column: u32) -> String {
        match (column as usize) < self.input().width() {
            true => self.input().feature_name(column as usize),
            false => format!("column {column}"),
        }
    }

    fn basis(&self) -> Option<&linsep_proof::Basis> {
        self.expansion.as_ref().map(|expansion| &expansion.claimed)
    }
}
