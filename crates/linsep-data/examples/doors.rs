//! How fast arrays become features, beside a copy of the same bytes, and how much memory that takes.
//!
//! It takes the size of an array in megabytes and the number of threads, 256 and 2 if nothing is given;
//! `docs/reference/arrays.md` has the command.
//!
//! Each line is an array of about so many bytes: gigabytes of input a second (the best of three), and
//! for each second of one processor (of all three); the same two for a copy into fresh memory on as many
//! threads; the encoding that was found; the most memory that was held beside the input and the result.
//! On a machine that does other things at the same time only the figures for a processor mean much. The
//! digest is not part of the time; what it adds stands in the last column, in seconds.
#![allow(clippy::print_stdout)]

use linsep_data::door::{ArrayOptions, Column, ColumnsArray, CsrArray, DenseArray, Labels, Matrix};
use linsep_data::rng::{Purpose, Stream};
use linsep_data::{Dataset, Features, Result};
use std::time::Instant;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let bytes = arguments.next().unwrap_or(256) << 20;
    let threads = arguments.next().unwrap_or(2);
    println!("{} MB, {threads} threads", bytes >> 20);
    println!(
        "{:<36} {:>6} {:>6} {:>6} {:>6} {:>7} {:>9} {:>9}",
        "array", "GB/s", "/cpu", "copy", "/cpu", "held", "beside", "digest"
    );
    let bench = Bench { threads };

    let columns = 50;
    let rows = bytes / 8 / columns;
    let shape = |name: &str| format!("{name}, {columns} columns");
    let draw = |draw: &dyn Fn(&mut Stream) -> f64| {
        let mut stream = Stream::new(1, Purpose::Generate(1));
        // Drawing is slow, so that a long piece is used again and again.
        let piece: Vec<f64> = (0..1_000_003).map(|_| draw(&mut stream)).collect();
        piece.iter().copied().cycle().take(rows * columns).collect::<Vec<f64>>()
    };
    let normal = draw(&|s| s.normal());
    bench.run(&shape("f64 normal, row-major"), 8 * normal.len(), &|| {
        DenseArray::row_major(&normal, rows, columns).into()
    })?;
    bench.run(&shape("f64 normal, column-major"), 8 * normal.len(), &|| {
        DenseArray::column_major(&normal, rows, columns).into()
    })?;
    bench.run(&shape("f64 normal, columns"), 8 * normal.len(), &|| {
        ColumnsArray::new(normal.chunks(rows).map(Column::new)).into()
    })?;
    let single: Vec<f32> =
        normal.iter().map(|x| *x as f32).chain(normal.iter().map(|x| *x as f32)).collect();
    drop(normal);
    bench.run(&shape("f32 normal, row-major"), 4 * single.len(), &|| {
        DenseArray::row_major(&single, 2 * rows, columns).into()
    })?;
    bench.run(&shape("f32 normal, column-major"), 4 * single.len(), &|| {
        DenseArray::column_major(&single, 2 * rows, columns).into()
    })?;
    bench.run("f32 normal, 3 columns", 4 * single.len(), &|| {
        DenseArray::row_major(&single, single.len() / 3, 3).into()
    })?;
    drop(single);
    let decimals = draw(&|s| s.below(100_000) as f64 / 100.0);
    bench.run(&shape("f64 with two decimals"), 8 * decimals.len(), &|| {
        DenseArray::row_major(&decimals, rows, columns).into()
    })?;
    drop(decimals);
    let whole = draw(&|s| s.below(100_000) as f64);
    bench.run(&shape("f64 whole numbers"), 8 * whole.len(), &|| {
        DenseArray::row_major(&whole, rows, columns).into()
    })?;
    drop(whole);
    let few = draw(&|s| s.below(100) as f64);
    bench.run(&shape("f64 of 100 values"), 8 * few.len(), &|| {
        DenseArray::row_major(&few, rows, columns).into()
    })?;
    let bytes_of: Vec<u8> = few.iter().map(|x| *x as u8).collect();
    drop(few);
    bench.run(&shape("u8 of 100 values"), bytes_of.len(), &|| {
        DenseArray::row_major(&bytes_of, rows, columns).into()
    })?;
    drop(bytes_of);

    let (wide, by_row) = (20_000, 40);
    let rows = bytes / 12 / by_row;
    let offsets: Vec<i64> = (0..=rows).map(|row| (row * by_row) as i64).collect();
    let step = wide / by_row;
    let indices: Vec<i32> =
        (0..rows * by_row).map(|k| (k % by_row * step + k * 7919 % step) as i32).collect();
    let mut stream = Stream::new(2, Purpose::Generate(1));
    let piece: Vec<f64> = (0..1_000_003).map(|_| stream.normal()).collect();
    let values: Vec<f64> = piece.iter().copied().cycle().take(rows * by_row).collect();
    bench.run("CSR f64, i32 indices, 40 in a row", 12 * values.len(), &|| {
        CsrArray::new(&offsets, &indices, &values, wide).into()
    })?;
    let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
    bench.run("CSR f32, i32 indices, 40 in a row", 8 * values.len(), &|| {
        CsrArray::new(&offsets, &indices, &values, wide).into()
    })?;
    let values = vec![true; values.len()];
    bench.run("CSR bool, i32 indices, 40 in a row", 5 * values.len(), &|| {
        CsrArray::new(&offsets, &indices, &values, wide).into()
    })
}

/// Each array is taken so many times.
const TIMES: usize = 3;

struct Bench {
    threads: usize,
}

impl Bench {
    fn run<'a>(&self, name: &str, bytes: usize, array: &dyn Fn() -> Matrix<'a>) -> Result<()> {
        let options = ArrayOptions::default().threads(self.threads);
        let (mut best, mut beside, mut kept) = (f64::INFINITY, 0, None);
        let cpu = processor_seconds();
        for _ in 0..TIMES {
            drop(kept.take());
            forget_peak();
            let before = status("VmRSS:");
            let start = Instant::now();
            let features = Features::from_array(array(), &options)?;
            best = best.min(start.elapsed().as_secs_f64());
            // Memory that the allocator kept from an earlier run hides some of the need: the most counts.
            let peak = status("VmHWM:").saturating_sub(before + features.feature_bytes() / 1024);
            beside = beside.max(peak / 1024);
            kept = Some(features);
        }
        let cpu = (processor_seconds() - cpu) / TIMES as f64;
        let Some(features) = kept else { return Ok(()) };
        let held = features.encoding().name();
        let labels = Labels::numbers(&vec![false; features.n_rows()])?;
        let data = Dataset::new(features, labels, None)?;
        let start = Instant::now();
        let digest = data.digest(self.threads);
        let digest_seconds = start.elapsed().as_secs_f64();
        drop((data, digest));
        let from = vec![1u8; bytes];
        let copy_cpu = processor_seconds();
        let copy = (0..TIMES).map(|_| self.copy(&from)).fold(f64::INFINITY, f64::min);
        let copy_cpu = (processor_seconds() - copy_cpu) / TIMES as f64;
        let [best, cpu, copy, copy_cpu] =
            [best, cpu, copy, copy_cpu].map(|seconds| bytes as f64 / seconds / 1e9);
        println!(
            "{name:<36} {best:>6.2} {cpu:>6.2} {copy:>6.2} {copy_cpu:>6.2} {held:>7} {beside:>6} MB {digest_seconds:>8.2}s"
        );
        Ok(())
    }

    /// The seconds of copying bytes to fresh memory.
    fn copy(&self, from: &[u8]) -> f64 {
        let bytes = from.len();
        let start = Instant::now();
        let mut to = vec![0u8; bytes];
        let part = bytes.div_ceil(self.threads);
        std::thread::scope(|scope| {
            for (to, from) in to.chunks_mut(part).zip(from.chunks(part)) {
                scope.spawn(move || to.copy_from_slice(from));
            }
        });
        std::hint::black_box(&to);
        start.elapsed().as_secs_f64()
    }
}

/// The seconds that processors worked for this process, as the system counts them; 0 without a count.
fn processor_seconds() -> f64 {
    let report = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, which may hold blanks, ends with a bracket.
    let fields = report.rsplit(')').next().unwrap_or("").split_whitespace().skip(11).take(2);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// A line of the system's report on this process, in kB; 0 where there is no such report.
fn status(name: &str) -> u64 {
    let report = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = report.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Lets the system measure the most memory anew.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
