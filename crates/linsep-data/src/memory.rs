//! One accountant for the memory of the process.
//!
//! A limit on memory is a limit on the process, not on one table or one run in it, so it is kept in one
//! place. Whoever is about to take memory that grows with the data asks first ([`ask`]) and is refused with
//! the figure, before anything is lost. A program that counts its allocations ([`taken`], [`given_back`])
//! also knows what is in use, and may refuse what nobody asked for. Without a limit everything is granted.
//!
//! Long lists need not be refused: those beyond a share ([`set_share`]) go to temporary files, which are
//! counted apart. Their pages are the system's to keep or to drop, and no part of what is in use here.

use crate::error::{Error, Result};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);
static USED: AtomicU64 = AtomicU64::new(0);
static MOST_USED: AtomicU64 = AtomicU64::new(0);
static SHARE: AtomicU64 = AtomicU64::new(u64::MAX);
static IN_FILES: AtomicU64 = AtomicU64::new(0);
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

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

/// Sets how many bytes one list may have in memory; longer ones go to temporary files. Without it none do.
pub fn set_share(bytes: u64) {
    SHARE.store(bytes, Ordering::Relaxed);
}

/// The bytes that one list may have in memory.
#[inline]
pub fn share() -> u64 {
    SHARE.load(Ordering::Relaxed)
}

/// Sets the folder of temporary files.
pub fn set_temporary_folder(folder: PathBuf) {
    *FOLDER.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
}

/// The folder of temporary files: the one that was set, else that of `TMPDIR`, else `/var/tmp`, where the
/// system has one. `/tmp` is often held in memory, and what is there is long.
pub fn temporary_folder() -> PathBuf {
    const FOR_LONG_FILES: &str = "/var/tmp";
    if let Some(folder) = &*FOLDER.lock().unwrap_or_else(PoisonError::into_inner) {
        return folder.clone();
    }
    let on_disk = PathBuf::from(FOR_LONG_FILES);
    match std::env::var_os("TMPDIR").is_none() && on_disk.is_dir() {
        true => on_disk,
        false => std::env::temp_dir(),
    }
}

/// What could not be done where the disk has no room for a list.
pub const SPILL: &str = "write temporary files to";

/// Bytes of lists in temporary files.
pub fn in_files() -> u64 {
    IN_FILES.load(Ordering::Relaxed)
}

/// Counts bytes of a list that went to a file.
pub(crate) fn to_file(bytes: u64) {
    IN_FILES.fetch_add(bytes, Ordering::Relaxed);
}

/// Counts bytes of a list in a file that is no longer there.
pub(crate) fn out_of_file(bytes: u64) {
    IN_FILES.fetch_sub(bytes, Ordering::Relaxed);
}

/// The most that was in use at a time, as far as it is counted.
pub fn most_used() -> u64 {
    MOST_USED.load(Ordering::Relaxed)
}

/// Counts an allocation and gives what is in use with it.
#[inline]
pub fn taken(bytes: usize) -> u64 {
    let used = USED.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
    if used > MOST_USED.load(Ordering::Relaxed) {
        MOST_USED.fetch_max(used, Ordering::Relaxed);
    }
    used
}

/// Counts memory that was given back.
#[inline]
pub fn given_back(bytes: usize) {
    USED.fetch_sub(bytes as u64, Ordering::Relaxed);
}

/// The share belongs to the process, and tests of one process run side by side.
#[cfg(test)]
pub(crate) static SHARE_OF_TESTS: Mutex<()> = Mutex::new(());
