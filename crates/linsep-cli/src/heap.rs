//! How the program keeps and counts its memory.
//!
//! Every allocation is counted, so that `--max-memory` holds for the whole program whatever takes the memory:
//! what the accountant was not asked for ends the program with the error of a memory limit, exit code 6, and
//! so does an allocation that the system refuses. Neither is a crash, and no half-written file stays.

#![allow(unsafe_code)]

use crate::system;
use linsep::data::memory;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The system's allocator with an account; the program makes it the global one.
#[derive(Debug)]
pub struct Counted;

/// What all allocations together may come to: the limit, with some room for buffers that nobody counts.
static MOST: AtomicU64 = AtomicU64::new(u64::MAX);

/// Whether dropped memory is kept, and pages of it may be large: nobody has set a limit to what is in use.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// The program itself needs so much, whatever the limit.
const LEAST: u64 = 32 << 20;

/// Under a limit, one list of numbers may have this part of it; a longer one goes to a temporary file. The
/// rows may have two lists, and a run a few numbers for each row beside them.
const SHARE: u64 = 8;

/// The same of the machine's memory where there is no limit.
const SHARE_OF_MACHINE: u64 = 2;

/// Holds all allocations to a limit. Dropped memory goes back to the system, so that what the system sees
/// is what is in use.
pub(crate) fn limit_memory(limit: u64) {
    memory::set_limit(limit);
    memory::set_share((limit / SHARE).max(LEAST / SHARE));
    MOST.store((limit.saturating_add(limit / 16)).max(LEAST), Ordering::Relaxed);
}

/// Keeps dropped memory for later, where there is no limit to hold.
///
/// A run makes and drops vectors of many megabytes. The allocator of the GNU C library gives each of them
/// back to the system at once and asks for it again, and the system fills every page with zeros: on wide
/// data that was a quarter of the time. Without the GNU C library there is nothing to set.
///
/// Threads share that memory, some eight of them: what one has dropped another need not ask the system for. Short
/// lists come from a store of each thread, so they hardly ever wait for each other.
pub(crate) fn keep_memory(machine: Option<u64>, threads: usize) {
    // More than the machine has cannot be had.
    MOST.store(machine.unwrap_or(u64::MAX), Ordering::Relaxed);
    memory::set_share(machine.map_or(u64::MAX, |machine| machine / SHARE_OF_MACHINE));
    KEEPS.store(true, Ordering::Relaxed);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Vectors up to this size come from memory that is kept.
        const LARGEST: libc::c_int = 1 << 30;
        let stores = (threads / 8).clamp(1, 64) as libc::c_int;
        for (setting, value) in [
            (libc::M_MMAP_THRESHOLD, LARGEST),
            (libc::M_TRIM_THRESHOLD, LARGEST),
            (libc::M_ARENA_MAX, stores),
        ] {
            // SAFETY: mallopt takes two whole numbers and touches no memory of ours. A setting that it
            // does not take is left as it was.
            let _ = unsafe { libc::mallopt(setting, value) };
        }
        // What is dropped is kept, so this is where the next lists come from; until then no page of it is in use.
        // SAFETY: the memory is ours until it is freed, and has this size.
        unsafe {
            let memory = libc::malloc(IN_LARGE_PAGES);
            if !memory.is_null() {
                ask_for_large_pages(memory.cast(), IN_LARGE_PAGES);
                libc::free(memory);
            }
        }
    }
}

/// How much of the memory that is kept comes in large pages, whatever the size of the lists in it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const IN_LARGE_PAGES: usize = 1 << 29;

// SAFETY: every call is handed on to the system's allocator with the same arguments; counting touches
// nothing but two numbers, and zeros are overwritten with zeros.
unsafe impl GlobalAlloc for Counted {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(footprint(layout.size()));
        // SAFETY: the caller keeps the contract of `alloc`, which is that of the system's.
        let memory = granted(unsafe { System.alloc(layout) }, layout.size());
        if KEEPS.load(Ordering::Relaxed) {
            // SAFETY: the memory was granted and has this size.
            unsafe { ask_for_large_pages(memory, layout.size()) };
        }
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(footprint(layout.size()));
        // SAFETY: as above.
        let memory = granted(unsafe { System.alloc_zeroed(layout) }, layout.size());
        if layout.size() >= TOUCHED {
            // SAFETY: the memory was granted and has this size.
            unsafe { touch(memory, layout.size()) };
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        memory::given_back(footprint(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Large blocks are moved by the system without a copy, so only the difference is new.
        let (old, new) = (footprint(layout.size()), footprint(new_size));
        match new.checked_sub(old) {
            Some(more) => count(more),
            None => memory::given_back(old - new),
        }
        // SAFETY: as above.
        let memory = granted(unsafe { System.realloc(memory, layout, new_size) }, new_size);
        if KEEPS.load(Ordering::Relaxed) {
            // SAFETY: as above.
            unsafe { ask_for_large_pages(memory, new_size) };
        }
        memory
    }
}

/// Zeros of at least this size are touched at once.
const TOUCHED: usize = 1 << 16;

/// Lists of at least this size come in large pages, if the system has them: tables of weights and sums are
/// met at random, and each small page of them is looked up by itself.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 22;

/// Writes to every page of memory that is all zeros. Sums begin with a read, and the system answers the first
/// read of a new page with a page of zeros that all programs share; the write that follows has to put
/// another in its place, on every processor that the program runs on. In a virtual machine that took up to
/// 20 µs a page, as much as the rest of naive Bayes on text.
///
/// # Safety
/// `memory` points to `size` bytes of zeros that nobody else uses.
unsafe fn touch(memory: *mut u8, size: usize) {
    const PAGE: usize = 1 << 12;
    // SAFETY: as the caller says.
    unsafe { ask_for_large_pages(memory, size) };
    for at in (0..size).step_by(PAGE) {
        // SAFETY: `at` is below the size. The write changes nothing, so it has to be volatile.
        unsafe { memory.add(at).write_volatile(0) };
    }
}

/// Asks for large pages where they serve: the system fills and maps one at a time, whatever its size, and a
/// page of 2 MB takes a quarter of the time of 512 small ones.
///
/// # Safety
/// `memory` points to `size` bytes that nobody else uses.
#[inline]
unsafe fn ask_for_large_pages(memory: *mut u8, size: usize) {
    #[cfg(target_os = "linux")]
    if size >= LARGE {
        /// What a large page covers.
        const SPAN: usize = 1 << 21;
        let first = memory.addr().next_multiple_of(SPAN) - memory.addr();
        let length = (size - first) & !(SPAN - 1);
        // SAFETY: the range lies inside of the memory; advice changes no byte of it. A system that does not
        // take it is left as it is.
        let _ = unsafe { libc::madvise(memory.add(first).cast(), length, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, size);
}

/// What an allocation takes with what the allocator keeps beside it. Millions of short lists are half of that.
#[inline]
fn footprint(size: usize) -> usize {
    const BESIDE: usize = 8;
    const STEP: usize = 16;
    (size.saturating_add(BESIDE + STEP - 1) & !(STEP - 1)).max(2 * STEP)
}

#[inline]
fn count(size: usize) {
    let used = memory::taken(size);
    if used > MOST.load(Ordering::Relaxed) {
        refuse(used, true);
    }
}

#[inline]
fn granted(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        refuse(size as u64, false);
    }
    memory
}

/// Ends the program: there is no memory to go on with. What is done here takes hardly any itself.
#[cold]
#[inline(never)]
fn refuse(bytes: u64, by_limit: bool) {
    /// The thread that ends the program, by the address of something that each thread has of its own.
    static ENDING: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static MARK: u8 = const { 0 });
    let me = MARK.try_with(|mark| std::ptr::from_ref(mark).addr()).unwrap_or(1);
    match ENDING.compare_exchange(0, me, Ordering::SeqCst, Ordering::SeqCst) {
        Ok(_) => {}
        // Even the end needs memory that is not there.
        Err(thread) if thread == me => system::end(6),
        Err(_) => loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        },
    }
    let most = MOST.swap(u64::MAX, Ordering::Relaxed);
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let mut text = [0u8; 400];
    let mut rest = &mut text[..];
    let code = linsep::Code::MEMORY;
    let most = Some(most).filter(|most| *most < u64::MAX);
    let _ = match (by_limit, memory::limit().or(most)) {
        (true, Some(limit)) => writeln!(
            rest,
            "error[{code}]: the work needs at least {} MiB but the memory limit is {} MiB\n  help: raise --max-memory, or use fewer rows with --limit\n  more: linsep help {code}",
            mebibytes(bytes),
            mebibytes(limit)
        ),
        _ => writeln!(
            rest,
            "error[{code}]: the system refuses {} MiB of memory\n  help: end other programs, raise the limit of the system (ulimit -v), or use fewer rows with --limit\n  more: linsep help {code}",
            mebibytes(bytes)
        ),
    };
    let left = rest.len();
    let _ = std::io::stderr().write_all(&text[..text.len() - left]);
    system::end(6);
}
