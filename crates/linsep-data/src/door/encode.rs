//! The second pass: values go straight to their places in the final layout.

use super::load::{Block, Source};
use super::survey::Survey;
use crate::buffer::Buffer;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::matrix::profile::{Distinct, Profile};
use crate::matrix::values::{Codes, Values, integer_code};
use crate::matrix::{Dense, Offsets, Shape, Sparse, Store};
use crate::parallel::parallel_map;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The rows of an array in the encoding that its values ask for, and the columns that a decimal reading
/// does not cover, if it is asked for.
pub(super) fn store(
    source: &Source<'_>,
    decimal: bool,
    threads: usize,
    max_memory: Option<u64>,
) -> Result<(Store, Vec<u32>)> {
    let mut survey = survey(source, decimal, threads)?;
    survey.nonzeros.sort_unstable_by_key(|(chunk, _)| *chunk);
    let counts: Vec<usize> = survey.nonzeros.iter().map(|(_, count)| *count as usize).collect();
    let nonzeros = counts.iter().map(|count| *count as u64).sum();
    let long = survey.long_columns();
    let mut store = Store::shell(source.rows, source.columns, nonzeros, survey.profile());
    drop(survey);
    let is_dense = store.prefers_dense();
    let bytes = match is_dense {
        true => source.rows as u64 * source.columns as u64 * store.profile.dense_kind().bytes(),
        false => nonzeros * (4 + store.profile.sparse_kind().bytes()) + 4 * source.rows as u64,
    };
    if let Some(limit) = max_memory.filter(|limit| bytes > *limit) {
        return Err(Error::Memory { purpose: "the data".into(), needed: bytes, limit });
    }
    store.shape = match is_dense {
        true => Shape::Dense(dense(source, &store.profile, threads)?),
        false => Shape::Sparse(sparse(source, &store.profile, &counts, threads)?),
    };
    Ok((store, long))
}

/// The first pass over all chunks. Of all faults that of the first chunk is reported:
/// chunks are begun in order and finished once begun.
fn survey(source: &Source<'_>, decimal: bool, threads: usize) -> Result<Survey> {
    let workers = threads.clamp(1, source.chunks());
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let learned = parallel_map(workers, workers, |_| {
        let mut survey = Survey::new(source, decimal);
        let mut block = Block::default();
        while !failed.load(Ordering::Relaxed) {
            let chunk = next.fetch_add(1, Ordering::Relaxed);
            if chunk >= source.chunks() {
                break;
            }
            let see = |block: &mut Block, rows: Range<usize>| {
                source.check_finite(block, rows.start)?;
                survey.see(chunk, block);
                Ok(())
            };
            if let Err(error) = source.for_each_block(source.chunk(chunk), &mut block, see) {
                failed.store(true, Ordering::Relaxed);
                return Err((chunk, error));
            }
        }
        Ok(survey)
    });
    let mut whole: Option<Survey> = None;
    let mut first: Option<(usize, Error)> = None;
    for part in learned {
        match (part, &mut whole) {
            (Ok(part), None) => whole = Some(part),
            (Ok(part), Some(whole)) => whole.merge(part),
            (Err(fault), _) if first.as_ref().is_none_or(|(chunk, _)| fault.0 < *chunk) => {
                first = Some(fault);
            }
            (Err(_), _) => {}
        }
    }
    match (first, whole) {
        (Some((_, error)), _) => Err(error),
        (None, Some(whole)) => Ok(whole),
        (None, None) => Ok(Survey::new(source, decimal)),
    }
}

fn dense(source: &Source<'_>, profile: &Profile, threads: usize) -> Result<Dense> {
    let (rows, width) = (source.rows, source.columns);
    let kind = profile.dense_kind();
    let mut values = Values::zeros(kind, rows * width, profile.table(), profile.dense_tens(width));
    let fill = Fill { source, tens: &values.tens, threads };
    match &mut values.codes {
        Codes::Ones(_) => {}
        Codes::Table8(codes) => {
            let nothing = Distinct::new();
            let distinct = profile.distinct.as_ref().unwrap_or(&nothing);
            fill.rows(codes, |value, _| distinct.find(value))?;
        }
        Codes::Int32(codes) => fill.rows(codes, integer_code)?,
        Codes::F32(codes) => match source.plain_f32() {
            Some(plain) => fill.copy(codes, plain, |value| value + 0.0),
            None => fill.rows(codes, |value, _| (value + 0.0) as f32)?,
        },
        Codes::F64(codes) => match source.plain_f64() {
            Some(plain) => fill.copy(codes, plain, |value| value + 0.0),
            None => fill.rows(codes, |value, _| value + 0.0)?,
        },
    }
    Ok(Dense { rows, width, values })
}

/// Fills dense rows. Adding 0 makes 0 of −0.
struct Fill<'a> {
    source: &'a Source<'a>,
    tens: &'a [f64],
    threads: usize,
}

impl Fill<'_> {
    /// Fills all rows with codes; `code` takes a value and the power of ten of its column.
    fn rows<T: Send>(
        &self,
        codes: &mut [T],
        code: impl Fn(f64, f64) -> T + Copy + Sync,
    ) -> Result<()> {
        let (source, width) = (self.source, self.source.columns);
        let chunks = codes.chunks_mut(source.chunk_rows * width).enumerate().collect();
        share(self.threads, chunks, |block, (chunk, codes): (usize, &mut [T])| {
            let rows = source.chunk(chunk);
            let first = rows.start;
            source.for_each_block(rows, block, |block, rows| {
                let codes = &mut codes[(rows.start - first) * width..(rows.end - first) * width];
                if block.ends.is_empty() {
                    let table = codes.chunks_exact_mut(width).zip(block.values.chunks_exact(width));
                    for (codes, values) in table {
                        let row = codes.iter_mut().zip(values).zip(self.tens);
                        row.for_each(|((slot, value), ten)| *slot = code(*value, *ten));
                    }
                    return Ok(());
                }
                let mut start = 0;
                for (codes, &end) in codes.chunks_exact_mut(width).zip(&block.ends) {
                    for at in start..end {
                        let column = block.columns[at] as usize;
                        codes[column] = code(block.values[at], self.tens[column]);
                    }
                    start = end;
                }
                Ok(())
            })
        })
    }

    /// Fills all rows from memory that has them in the same order and type.
    fn copy<T: Copy + Send + Sync>(
        &self,
        codes: &mut [T],
        plain: &[T],
        code: impl Fn(T) -> T + Copy + Sync,
    ) {
        let run = self.source.chunk_rows * self.source.columns;
        let chunks = codes.chunks_mut(run).zip(plain.chunks(run)).collect();
        // Nothing of this can fail.
        let _ = share(self.threads, chunks, |_, (codes, plain): (&mut [T], &[T])| {
            codes.iter_mut().zip(plain).for_each(|(slot, value)| *slot = code(*value));
            Ok(())
        });
    }
}

fn sparse(
    source: &Source<'_>,
    profile: &Profile,
    counts: &[usize],
    threads: usize,
) -> Result<Sparse> {
    let nonzeros = counts.iter().sum();
    let kind = profile.sparse_kind();
    let mut values = Values::zeros(kind, nonzeros, profile.table(), profile.sparse_tens());
    let mut indices = Buffer::zeros(nonzeros);
    let mut lengths = vec![0; source.rows + 1];
    let mut gather =
        Gather { source, counts, threads, lengths: &mut lengths, indices: &mut indices };
    let ten = values.tens[0];
    match &mut values.codes {
        Codes::Ones(_) => gather.entries(&mut vec![(); nonzeros], |_| ())?,
        Codes::Table8(codes) => {
            let nothing = Distinct::new();
            let distinct = profile.distinct.as_ref().unwrap_or(&nothing);
            gather.entries(codes, |value| distinct.find(value))?;
        }
        Codes::Int32(codes) => gather.entries(codes, |value| integer_code(value, ten))?,
        Codes::F32(codes) => gather.entries(codes, |value| value as f32)?,
        Codes::F64(codes) => gather.entries(codes, |value| value)?,
    }
    let offsets = Offsets::from_lengths(lengths).ok_or_else(|| {
        let words = "4,096 rows have 2^32 values or more that are not 0";
        Problem::new(Code::SHAPE, words, Place::default()).help("take fewer columns")
    })?;
    Ok(Sparse { offsets, indices, values })
}

/// Fills sparse rows.
struct Gather<'a> {
    source: &'a Source<'a>,
    counts: &'a [usize],
    threads: usize,
    /// The lengths of rows behind a first 0.
    lengths: &'a mut [u32],
    indices: &'a mut [u32],
}

/// The part of the layout that belongs to a chunk.
struct Part<'a, T> {
    chunk: usize,
    lengths: &'a mut [u32],
    indices: &'a mut [u32],
    codes: &'a mut [T],
}

impl Gather<'_> {
    fn entries<T: Send>(&mut self, codes: &mut [T], code: impl Fn(f64) -> T + Sync) -> Result<()> {
        let source = self.source;
        let mut lengths = self.lengths[1..].chunks_mut(source.chunk_rows);
        let (mut indices, mut codes) = (&mut *self.indices, codes);
        let mut parts = Vec::with_capacity(self.counts.len());
        for (chunk, &count) in self.counts.iter().enumerate() {
            let (mine, rest) = indices.split_at_mut(count);
            let (my_codes, more) = codes.split_at_mut(count);
            (indices, codes) = (rest, more);
            let lengths = lengths.next().unwrap_or_default();
            parts.push(Part { chunk, lengths, indices: mine, codes: my_codes });
        }
        share(self.threads, parts, |block, part: Part<'_, T>| {
            let rows = source.chunk(part.chunk);
            let first = rows.start;
            let mut at = 0;
            source.for_each_block(rows, block, |block, rows| {
                let lengths = &mut part.lengths[rows.start - first..rows.end - first];
                if block.ends.is_empty() {
                    let rows = block.values.chunks_exact(source.columns);
                    for (length, row) in lengths.iter_mut().zip(rows) {
                        let before = at;
                        let filled = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
                        for (column, &value) in filled {
                            (part.indices[at], part.codes[at]) = (column as u32, code(value));
                            at += 1;
                        }
                        *length = (at - before) as u32;
                    }
                    return Ok(());
                }
                let entries = at..at + block.values.len();
                at = entries.end;
                part.indices[entries.clone()].copy_from_slice(&block.columns);
                let codes = part.codes[entries].iter_mut().zip(&block.values);
                codes.for_each(|(slot, value)| *slot = code(*value));
                let mut start = 0;
                for (length, &end) in lengths.iter_mut().zip(&block.ends) {
                    *length = (end - start) as u32;
                    start = end;
                }
                Ok(())
            })
        })
    }
}

/// Shares pieces of work out to threads, each with a buffer of its own.
fn share<J: Send>(
    threads: usize,
    jobs: Vec<J>,
    work: impl Fn(&mut Block, J) -> Result<()> + Sync,
) -> Result<()> {
    let workers = threads.clamp(1, jobs.len().max(1));
    let jobs = Mutex::new(jobs.into_iter());
    let done = parallel_map(workers, workers, |_| {
        let mut block = Block::default();
        loop {
            // A thread that panicked leaves nothing half done in the list.
            let job = jobs.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).next();
            match job {
                Some(job) => work(&mut block, job)?,
                None => return Ok(()),
            }
        }
    });
    done.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_starts_from_lengths_are_those_of_row_after_row() {
        for rows in [1, 2, 4095, 4096, 4097, 8191, 8192, 8193, 10_000] {
            let mut lengths = vec![0];
            let mut one_by_one = Offsets::new();
            for row in 0..rows {
                let length = (row * 7 + 3) % 5;
                lengths.push(length as u32);
                one_by_one.push(length);
            }
            let offsets = Offsets::from_lengths(lengths).unwrap();
            assert_eq!(format!("{offsets:?}"), format!("{one_by_one:?}"), "{rows} rows");
        }
    }
}
