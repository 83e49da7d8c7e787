//! How fast a text file becomes a data set: nanoseconds for each value that the file states.
//!
//! It takes a file, the number of readings and the number of threads (5 and 2 if nothing is given). Each
//! line is one reading: the time by the clock and the time of all processors. The last line names what was read,
//! so that two builds can be compared: shape, encoding, reading and digest.
#![allow(clippy::print_stdout)]

use linsep_data::read::{ReadOptions, read};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

fn main() -> linsep_data::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, usual: usize| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (file, repeats, threads) = (arguments.first(), number(1, 5), number(2, 2));
    let file = file.map_or("examples/iris.csv", String::as_str);
    let mut options = ReadOptions::default().with_threads(threads);
    if file.ends_with(".csv") {
        options.label = Some(linsep_data::read::ColumnRef::Name("label".into()));
    }
    let mut last = None;
    for _ in 0..repeats.max(1) {
        let (clock, processors) = (Instant::now(), processor_seconds());
        let read = read(&[file.into()], &options)?;
        let (wall, used) = (clock.elapsed().as_secs_f64(), processor_seconds() - processors);
        let data = &read.data;
        let stated = match file.ends_with(".csv") {
            true => data.n_rows() as u64 * data.n_features() as u64,
            false => data.nonzeros(),
        };
        let each = 1e9 / stated as f64;
        println!(
            "{wall:.4} s, {:.2} ns a value; {:.2} ns of all processors",
            wall * each,
            used * each
        );
        last = Some(read);
    }
    if let Some(read) = last {
        let data = &read.data;
        println!(
            "{} x {}, {} non-zeros, {} classes, {} long, {} {}, profile {:x}, {}",
            data.n_rows(),
            data.n_features(),
            data.nonzeros(),
            data.n_classes(),
            read.choices.long.len(),
            data.encoding().name(),
            if data.is_dense() { "dense" } else { "sparse" },
            profile_of(data),
            data.digest(threads)
        );
    }
    Ok(())
}

/// The decimal places and bounds of all columns, and the reading, in one number.
fn profile_of(data: &linsep_data::Dataset) -> u64 {
    let mut hasher = DefaultHasher::new();
    let store = data.features().store();
    (0..store.width()).for_each(|column| store.places(column).hash(&mut hasher));
    let bounds = store.largest_by_column().unwrap_or_default();
    bounds.iter().for_each(|bound| bound.to_bits().hash(&mut hasher));
    store.bytes().hash(&mut hasher);
    data.features().reading().binary64.hash(&mut hasher);
    hasher.finish()
}

/// What this process has used of all processors so far, where the system tells.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}
