//! Lists of numbers that may be longer than the memory.
//!
//! What grows with rows times columns (codes of values, column numbers, copies of them in other layouts)
//! is held in a [`Buffer`], which reads like a slice. It is a `Vec` until it is longer than the share of
//! the memory that the accountant grants to one list ([`memory::share`]); then it moves to a temporary
//! file that is mapped, and goes on there. Who reads it sees no difference, and neither do the bits.
//!
//! A temporary file has no name: the system frees it when the process ends, however it ends. It is made
//! longer by writing, never by touching memory, so a full disk is an error and not a signal. That error
//! unwinds to the [`catch`] around the work: a list that cannot be made longer in the middle of a parser or
//! of a product of rows leaves nothing that could be gone on with.

mod mapped;
mod pool;

pub use mapped::Plain;
pub use pool::Pool;

use crate::error::Error;
use crate::memory;
use mapped::Mapped;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A list of numbers in memory or in a temporary file.
pub struct Buffer<T: Plain>(Held<T>);

enum Held<T: Plain> {
    Memory(Vec<T>),
    File(Mapped<T>),
}

/// Numbers that are written to a file at a time.
const AT_ONCE: usize = 1 << 16;

impl<T: Plain> Buffer<T> {
    /// No numbers.
    pub fn new() -> Buffer<T> {
        Buffer(Held::Memory(Vec::new()))
    }

    /// No numbers yet, and room for so many in the place where they will be.
    pub fn with_capacity(len: usize) -> Buffer<T> {
        let mut buffer = Buffer::new();
        buffer.reserve(len);
        buffer
    }

    /// So many zeros.
    pub fn zeros(len: usize) -> Buffer<T> {
        if is_long::<T>(len) {
            let mut buffer = Buffer(Held::File(Mapped::empty()));
            buffer.resize(len);
            return buffer;
        }
        Buffer(Held::Memory(vec![T::ZERO; len]))
    }

    /// Bytes in memory, spare ones among them.
    pub fn memory_bytes(&self) -> u64 {
        match &self.0 {
            Held::Memory(list) => (size_of::<T>() * list.capacity()) as u64,
            Held::File(_) => 0,
        }
    }

    /// Bytes in a temporary file.
    pub fn file_bytes(&self) -> u64 {
        match &self.0 {
            Held::Memory(_) => 0,
            Held::File(list) => size_of_val(list.as_slice()) as u64,
        }
    }

    /// Adds a number at the end; many are better added together.
    #[inline]
    pub fn push(&mut self, number: T) {
        match &mut self.0 {
            Held::Memory(list) if list.len() < list.capacity() => list.push(number),
            _ => self.extend_from_slice(&[number]),
        }
    }

    /// Adds numbers at the end.
    pub fn extend_from_slice(&mut self, more: &[T]) {
        self.grow(more.len());
        match &mut self.0 {
            Held::Memory(list) => {
                memory::make_room(list, more.len());
                list.extend_from_slice(more);
            }
            Held::File(list) => done(list.append(more)),
        }
    }

    /// Adds numbers at the end.
    pub fn extend(&mut self, more: impl Iterator<Item = T>) {
        self.grow(more.size_hint().0);
        match &mut self.0 {
            Held::Memory(list) => list.extend(more),
            Held::File(list) => {
                let mut more = more.peekable();
                let mut some = Vec::new();
                while more.peek().is_some() {
                    some.clear();
                    some.extend(more.by_ref().take(AT_ONCE));
                    done(list.append(&some));
                }
            }
        }
        // An iterator may not know how many there will be.
        self.grow(0);
    }

    /// Makes room for so many numbers more, in the place where all of them will be.
    pub fn reserve(&mut self, more: usize) {
        self.grow(more);
        if let Held::Memory(list) = &mut self.0 {
            list.reserve(more);
        }
    }

    /// Makes room for so many times the numbers that there are. This is a guess, so it moves nothing to a file
    /// and does not ask for what may not be there.
    pub(crate) fn expect(&mut self, times: f64) {
        /// The most bytes that a guess may ask for.
        const MOST: u64 = 1 << 33;
        let len = (self.len() as f64 * times) as u64;
        let bytes = len.saturating_mul(size_of::<T>() as u64);
        if let Held::Memory(list) = &mut self.0
            && bytes <= MOST.min(memory::share() / 2)
        {
            let more = (len as usize).saturating_sub(list.len());
            // Without that much memory it grows as it can.
            let _ = list.try_reserve_exact(more);
        }
    }

    /// Adds zeros at the end, or cuts.
    pub fn resize(&mut self, len: usize) {
        if len <= self.len() {
            return self.truncate(len);
        }
        let more = len - self.len();
        self.grow(more);
        match &mut self.0 {
            Held::Memory(list) => list.resize(len, T::ZERO),
            Held::File(list) => {
                let zeros = vec![T::ZERO; AT_ONCE.min(more)];
                let mut left = more;
                while left > 0 {
                    let now = left.min(AT_ONCE);
                    done(list.append(&zeros[..now]));
                    left -= now;
                }
            }
        }
    }

    /// Cuts; the system gets back what is no longer needed.
    pub fn truncate(&mut self, len: usize) {
        match &mut self.0 {
            Held::Memory(list) => {
                list.truncate(len);
                list.shrink_to_fit();
            }
            Held::File(list) => done(list.truncate(len)),
        }
    }

    /// Gives back spare memory.
    pub fn shrink_to_fit(&mut self) {
        if let Held::Memory(list) = &mut self.0 {
            list.shrink_to_fit();
        }
    }

    /// Moves to a file if so many numbers more are too many for the memory.
    #[inline]
    fn grow(&mut self, more: usize) {
        if let Held::Memory(list) = &self.0
            && is_long::<T>(list.len().saturating_add(more))
        {
            let mut file = Mapped::empty();
            done(file.append(list));
            self.0 = Held::File(file);
        }
    }
}

/// Whether a list of so many numbers belongs into a file.
#[inline]
fn is_long<T>(len: usize) -> bool {
    (len as u64).saturating_mul(size_of::<T>() as u64) > memory::share()
}

impl<T: Plain> Deref for Buffer<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Held::Memory(list) => list,
            Held::File(list) => list.as_slice(),
        }
    }
}

impl<T: Plain> DerefMut for Buffer<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Held::Memory(list) => list,
            Held::File(list) => list.as_mut_slice(),
        }
    }
}

impl<'a, T: Plain> IntoIterator for &'a Buffer<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Plain> Default for Buffer<T> {
    fn default() -> Buffer<T> {
        Buffer::new()
    }
}

impl<T: Plain> From<Vec<T>> for Buffer<T> {
    fn from(list: Vec<T>) -> Buffer<T> {
        let mut buffer = Buffer(Held::Memory(list));
        buffer.grow(0);
        buffer
    }
}

impl<T: Plain> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(numbers: I) -> Buffer<T> {
        let mut buffer = Buffer::new();
        buffer.extend(numbers.into_iter());
        buffer
    }
}

/// A copy of a file is a file.
impl<T: Plain> Clone for Buffer<T> {
    fn clone(&self) -> Buffer<T> {
        match &self.0 {
            Held::Memory(list) => Buffer(Held::Memory(list.clone())),
            Held::File(list) => {
                let mut file = Mapped::empty();
                done(file.append(list.as_slice()));
                Buffer(Held::File(file))
            }
        }
    }
}

impl<T: Plain> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// What unwinds when a temporary file cannot be made or written.
struct Refused(Error);

/// The result of `work`, or why a temporary file that it needed could not be had.
pub fn catch<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    // What the work leaves behind is dropped with it.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(cause) => match cause.downcast::<Refused>() {
            Ok(refused) => Err(refused.0.into()),
            Err(fault) => resume_unwind(fault),
        },
    }
}

/// Gives up the work if the system refuses the file.
fn done<T>(result: std::io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(cause) => {
            // No message and no hook: this is no fault of ours.
            let folder = memory::temporary_folder();
            resume_unwind(Box::new(Refused(Error::io(memory::SPILL, &folder, cause))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests share one process, so the limit is set under a lock and lifted again.
    pub(super) fn with_share<T>(bytes: u64, work: impl FnOnce() -> T) -> T {
        let _alone = memory::SHARE_OF_TESTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        memory::set_share(bytes);
        let result = catch_unwind(AssertUnwindSafe(work));
        memory::set_share(u64::MAX);
        result.unwrap_or_else(|fault| resume_unwind(fault))
    }

    /// The same steps on a list in memory and on one that moves to a file.
    fn steps(buffer: &mut Buffer<i32>) -> Vec<Vec<i32>> {
        let mut seen = Vec::new();
        for step in 0..6 {
            match step {
                0 => buffer.extend((0..100).map(|i| i - 50)),
                1 => (0..40).for_each(|k| buffer.extend_from_slice(&[k; 999])),
                2 => buffer.resize(90_000),
                3 => buffer.iter_mut().enumerate().for_each(|(i, x)| *x += i as i32),
                4 => buffer.truncate(70_001),
                _ => buffer.extend(0..200_000),
            }
            seen.push(buffer.to_vec());
        }
        seen
    }

    #[test]
    fn a_list_in_a_file_reads_like_one_in_memory() {
        let expected = steps(&mut Buffer::new());
        with_share(1000, || {
            let mut buffer = Buffer::new();
            assert!(steps(&mut buffer) == expected);
            assert_eq!((buffer.memory_bytes(), buffer.file_bytes()), (0, 4 * 270_001));
            let copy = buffer.clone();
            buffer[0] = -1;
            assert!(copy[..] == expected[5][..] && copy.file_bytes() == buffer.file_bytes());
            assert_eq!(memory::in_files(), 2 * 4 * 270_001);
            drop((buffer, copy));
            assert_eq!(memory::in_files(), 0);
        });
    }

    #[test]
    fn zeros_may_be_in_a_file_and_nothing_may_be() {
        with_share(0, || {
            let zeros = Buffer::<f64>::zeros(100_000);
            assert!(zeros.file_bytes() == 800_000 && zeros.iter().all(|x| x.to_bits() == 0));
            let mut none = Buffer::<u8>::zeros(0);
            assert!(none.is_empty());
            none.extend_from_slice(&[7]);
            assert_eq!((&none[..], none.file_bytes()), (&[7][..], 1));
            none.truncate(0);
            assert!(none.is_empty() && none.clone().is_empty());
        });
    }

    #[test]
    fn a_folder_that_takes_no_files_is_an_error_with_its_name() {
        with_share(0, || {
            memory::set_temporary_folder("/dev/null/none".into());
            let result: Result<usize, Error> = catch(|| Ok(Buffer::from(vec![1u8; 9]).len()));
            memory::set_temporary_folder(std::env::temp_dir());
            let error = result.unwrap_err().to_string();
            assert!(error.starts_with("cannot write temporary files to /dev/null/none"), "{error}");
            let result: Result<usize, Error> = catch(|| Ok(Buffer::from(vec![1u8; 9]).len()));
            assert_eq!(result.unwrap(), 9);
        });
    }
}
