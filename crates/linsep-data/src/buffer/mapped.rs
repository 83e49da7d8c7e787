//! A temporary file that reads like a slice of numbers.
//!
//! This is the one place that maps what linsep writes. Three things make it safe:
//!
//! - The file has no name, so no other program can cut or change it.
//! - Bytes are written through the file before they are part of the slice, so every page of the slice is on
//!   the disk or promised by it. The mapping may be longer than the file; what is behind the slice is
//!   never touched.
//! - Writing through the file takes `&mut self`, so nobody looks at the slice meanwhile.

#![allow(unsafe_code)]

use crate::memory;
use memmap2::{MmapMut, MmapOptions};
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::marker::PhantomData;

/// Numbers of which every pattern of bits is one, and zero bits are 0.
pub trait Plain:
    Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static + Sealed
{
    /// 0.
    const ZERO: Self;
}

/// Nothing else is plain: the bytes of a file are taken for numbers.
pub trait Sealed {}

macro_rules! plain {
    ($($number:ty),*) => { $(
        impl Sealed for $number {}
        impl Plain for $number {
            const ZERO: $number = 0 as $number;
        }
    )* };
}
plain!(u8, u32, i32, u64, f32, f64);

/// Numbers in a temporary file.
pub(super) struct Mapped<T: Plain> {
    /// None before the first number, and where others have a part of the same file.
    file: Option<File>,
    map: Option<MmapMut>,
    len: usize,
    numbers: PhantomData<T>,
}

impl<T: Plain> Mapped<T> {
    pub(super) fn empty() -> Mapped<T> {
        Mapped { file: None, map: None, len: 0, numbers: PhantomData }
    }

    /// The numbers that a file has from a byte on; its own for ever after.
    pub(super) fn part(file: &File, offset: u64, len: usize) -> io::Result<Mapped<T>> {
        let mut part = Mapped::empty();
        if len > 0 {
            let options = MmapOptions::new().offset(offset).len(size_of::<T>() * len).to_owned();
            // SAFETY: as in `map`; the pool that the file belongs to gives each part once.
            part.map = Some(unsafe { options.map_mut(file)? });
            part.len = len;
            memory::to_file(part.bytes());
        }
        Ok(part)
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[T] {
        match &self.map {
            // SAFETY: the mapping starts at a page, has `len` numbers of the file and lives as long as
            // `self`. Any bytes are numbers of a plain type.
            Some(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), self.len) },
            None => &[],
        }
    }

    #[inline]
    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        match &mut self.map {
            // SAFETY: as above, and `self` is borrowed alone.
            Some(map) => unsafe {
                std::slice::from_raw_parts_mut(map.as_mut_ptr().cast(), self.len)
            },
            None => &mut [],
        }
    }

    /// Adds numbers at the end.
    pub(super) fn append(&mut self, more: &[T]) -> io::Result<()> {
        if more.is_empty() {
            return Ok(());
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            // A part of a file that others use becomes a file of its own.
            None => {
                let mut file = temporary()?;
                file.write_all(bytes(self.as_slice()))?;
                self.map = None;
                file
            }
        };
        file.seek(SeekFrom::Start(self.bytes()))?;
        file.write_all(bytes(more))?;
        let len = self.len + more.len();
        let mapped = self.map.as_ref().map_or(0, |map| map.len());
        if mapped < size_of::<T>() * len {
            self.map = Some(map(&file, size_of::<T>() * (len + len / 4))?);
        }
        self.file = Some(file);
        memory::to_file(size_of_val(more) as u64);
        self.len = len;
        Ok(())
    }

    /// Cuts, and gives the rest of the file back.
    pub(super) fn truncate(&mut self, len: usize) -> io::Result<()> {
        if len < self.len {
            memory::out_of_file(self.bytes());
            self.len = len;
            memory::to_file(self.bytes());
            if let Some(file) = &self.file {
                self.map = None;
                file.set_len(self.bytes())?;
                if len > 0 {
                    self.map = Some(map(file, size_of::<T>() * len)?);
                }
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        size_of::<T>() as u64 * self.len as u64
    }
}

impl<T: Plain> Drop for Mapped<T> {
    fn drop(&mut self) {
        memory::out_of_file(self.bytes());
    }
}

/// A new file without a name.
pub(super) fn temporary() -> io::Result<File> {
    tempfile::tempfile_in(memory::temporary_folder())
}

fn map(file: &File, len: usize) -> io::Result<MmapMut> {
    // SAFETY: the file has no name and its handle does not leave this module, so nobody else changes it.
    unsafe { MmapOptions::new().len(len).map_mut(file) }
}

/// The memory of numbers.
pub(super) fn bytes<T: Plain>(numbers: &[T]) -> &[u8] {
    // SAFETY: plain numbers have no padding, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
}
