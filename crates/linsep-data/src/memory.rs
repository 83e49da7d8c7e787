//! One accountant for the memory of the process.
//!
//! A limit on memory is a limit on the process, not on one table or one run in it, so it is kept in one
//! place. Whoever is about to take memory that grows with the data asks first ([`ask`]) and is refused with
//! the figure, before anything is lost. A program that counts its allocations ([`taken`], [`given_back`])
//! also knows what is in use, and may refuse what nobody asked for. Without a limit everything is granted.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
static USED: AtomicU64 = AtomicU64::new(0);

/// Sets the limit in bytes.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The limit in bytes, if there is one.
pub fn limit() -> Option<u64> {
    Some(LIMIT.load(Ordering::Relaxed)).filter(|&limit| limit < u64::MAX)
}

/// The bytes in use, as far as they are counted.
pub fn used() -> u64 {
    USED.load(Ordering::Relaxed)
}

/// Refuses `bytes` more if they do not fit beside what is in use.
pub fn ask(purpose: &str, bytes: u64) -> Result<()> {
    match limit() {
        Some(limit) if used().saturating_add(bytes) > limit => {
            let purpose = purpose.to_owned();
            let needed = used().saturating_add(bytes);
            Err(Error::Memory { purpose, needed, limit })
        }
        _ => Ok(()),
    }
}

/// Makes room for `more` entries. A list doubles when it grows, which is half of the memory for nothing; under
/// a limit a long one grows by a quarter.
pub fn make_room<T>(list: &mut Vec<T>, more: usize) {
    const LONG: usize = 1 << 24;
    let full = list.capacity() - list.len() < more;
    if full && size_of::<T>() * list.len() >= LONG && limit().is_some() {
        list.reserve_exact(more.max(list.len() / 4));
    }
}

/// Counts an allocation and gives what is in use with it.
#[inline]
pub fn taken(bytes: usize) -> u64 {
    USED.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64
}

/// Counts memory that was given back.
#[inline]
pub fn given_back(bytes: usize) {
    USED.fetch_sub(bytes as u64, Ordering::Relaxed);
}
