//! Many lists that are made side by side and are long together.
//!
//! A copy of the rows in another layout is made of thousands of pieces, each on the thread that has time.
//! One of them is short, all of them are as long as the data. So who makes them says first how long they
//! will be together; in a file they then stand one behind the other, which takes one file and not thousands.

use super::mapped::{Mapped, Plain, bytes, temporary};
use super::{Buffer, Held, done};
use crate::memory;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Where lists go that are long together.
pub struct Pool(Option<Mutex<Shared>>);

struct Shared {
    file: File,
    end: u64,
}

/// Mappings start at multiples of this on every system.
const STEP: u64 = 1 << 16;

impl Pool {
    /// A pool for lists of so many bytes in all.
    pub fn new(bytes: u64) -> Pool {
        Pool((bytes > memory::share()).then(|| {
            let file = done(temporary());
            Mutex::new(Shared { file, end: 0 })
        }))
    }

    /// The list, in memory or in the file of the pool.
    pub fn keep<T: Plain>(&self, list: Vec<T>) -> Buffer<T> {
        match &self.0 {
            None => Buffer(Held::Memory(list)),
            Some(shared) => {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                Buffer(Held::File(done(shared.add(&list))))
            }
        }
    }
}

impl Shared {
    fn add<T: Plain>(&mut self, list: &[T]) -> io::Result<Mapped<T>> {
        let start = self.end;
        self.file.seek(SeekFrom::Start(start))?;
        self.file.write_all(bytes(list))?;
        self.end = (start + size_of_val(list) as u64).next_multiple_of(STEP);
        Mapped::part(&self.file, start, list.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::with_share;
    use super::*;
    use crate::parallel::parallel_map;

    #[test]
    fn lists_of_a_pool_are_what_was_put_in() {
        for share in [u64::MAX, 1 << 10] {
            with_share(share, || {
                let pool = Pool::new(1 << 20);
                let list = |k: usize| (0..k * 100).map(|i| (i * k) as f32).collect::<Vec<_>>();
                let mut kept = parallel_map(50, 4, |k| pool.keep(list(k)));
                drop(pool);
                assert!(kept.iter().enumerate().all(|(k, kept)| kept[..] == list(k)));
                assert!((kept[7].file_bytes() > 0) == (share < u64::MAX));
                // One that grows leaves the file to the others.
                kept[7].extend_from_slice(&[1.0, 2.0]);
                assert_eq!(kept[7][700..], [1.0, 2.0]);
                assert!(kept[7][..700] == list(7) && kept[8][..] == list(8));
            });
        }
    }
}
