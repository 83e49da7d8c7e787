//! Rows in temporary files are the rows in memory: every kind of value, both storages, and what changes
//! while a file is read.
//!
//! The share of memory belongs to the process, so this is a program of its own with one test.

use linsep_data::read::{Missing, ReadOptions, read_from};
use linsep_data::{Dataset, Encoding, memory};
use std::fmt::Write;

const ROWS: usize = 15_000;

/// A table of three columns and a label.
fn table(value: impl Fn(usize, usize) -> String) -> String {
    let mut text = "a,b,c,label\n".to_owned();
    for i in 0..ROWS {
        let _ = writeln!(text, "{},{},{},{}", value(i, 0), value(i, 1), value(i, 2), i % 2);
    }
    text
}

fn read(text: &str) -> Dataset {
    let mut options = ReadOptions::default();
    (options.missing, options.threads) = (Missing::Mean, 2);
    read_from(text.as_bytes(), "t", &options).unwrap().data
}

fn assert_same(name: &str, text: &str, dense: bool, kind: Encoding) {
    memory::set_share(u64::MAX);
    let in_memory = read(text);
    memory::set_share(10_000);
    let in_file = read(text);
    let (one, two) = (in_memory.store(), in_file.store());
    assert_eq!((in_memory.is_dense(), in_memory.encoding()), (dense, kind), "{name}");
    assert_eq!((in_file.is_dense(), in_file.encoding()), (dense, kind), "{name}");
    assert_eq!(one.file_bytes(), 0, "{name}");
    assert!(two.file_bytes() > two.bytes() / 3, "{name}: {} in files", two.file_bytes());
    assert_eq!(one.bytes(), two.bytes(), "{name}");
    assert_eq!(in_memory.digest(2), in_file.digest(2), "{name}");
    for row in (0..one.rows()).step_by(97) {
        assert_eq!(in_memory.row(row), in_file.row(row), "{name}, row {row}");
    }
    let copy = in_file.clone();
    assert_eq!(copy.digest(1), in_memory.digest(1), "{name}");
    assert!(copy.store().file_bytes() == two.file_bytes(), "{name}");
    let sparse = |data: &Dataset| data.sparse_copy(2).map(|copy| (copy.bytes(), copy.nonzeros()));
    assert_eq!(sparse(&in_memory), sparse(&in_file), "{name}");
}

#[test]
fn rows_in_files_are_the_rows_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    memory::set_temporary_folder(folder.path().to_owned());
    let late = |i: usize| i > ROWS - 500;
    let pixels = |i: usize, j: usize| ((i * (j + 3)) % 200).to_string();
    assert_same("pixels", &table(pixels), true, Encoding::Table8);
    let decimals = |i: usize, j: usize| format!("{}.{:02}", (i * 7 + j) % 4001, i % 100);
    assert_same("decimals", &table(decimals), true, Encoding::Int32);
    // The codes so far get another power of ten.
    let longer = |i: usize, j: usize| match late(i) {
        true => format!("{}.{:05}", i % 7, (i * 3 + j) % 99_991),
        false => format!("{}.{}", i % 977, (i + j) % 10),
    };
    assert_same("more places", &table(longer), true, Encoding::Int32);
    // One encoding after the other.
    let wider = |i: usize, j: usize| match i {
        0..5_000 => (i % 5).to_string(),
        5_000..10_000 => format!("{}.5", i + j),
        _ => format!("{}.{:09}e{}", 1 + i % 9, i * 31 + j, (i % 60) as i32 - 30),
    };
    assert_same("wider kinds", &table(wider), true, Encoding::F64);
    // A mean is no short decimal, and rows are laid out anew.
    let gaps = |i: usize, j: usize| match (i + j) % 7 {
        0 => String::new(),
        _ => format!("{}.5", (i * 11 + j) % 3001),
    };
    assert_same("gaps", &table(gaps), true, Encoding::F64);
    let words = |i: usize, j: usize| match j {
        1 => ["red", "green", "blue"][i % 3].to_owned(),
        _ => format!("{}.25", (i * 13 + j) % 5003),
    };
    assert_same("levels", &table(words), true, Encoding::Int32);
    svmlight();
    // Files without names: the folder was empty all the time.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

fn svmlight() {
    let text = |entries: &dyn Fn(usize) -> String| -> String {
        (0..ROWS).map(|i| format!("{}{}\n", i % 2, entries(i))).collect()
    };
    let list = |i: usize, width: usize, value: &dyn Fn(usize) -> String| -> String {
        let column = |k: usize| 1 + k * (width / 6) + (i * (k + 5)) % (width / 6);
        (0..6).map(|k| format!(" {}:{}", column(k), value(k))).collect()
    };
    let ones = text(&|i| list(i, 60_000, &|_| "1".to_owned()));
    assert_same("ones", &ones, false, Encoding::Ones);
    let reals = text(&|i| list(i, 60_000, &|k| format!("0.{:04}", 1 + (i * 7 + k) % 9998)));
    assert_same("sparse decimals", &reals, false, Encoding::Int32);
    // Dense rows of few columns, then rows of so many that sparse ones are better.
    let spread = text(&|i| match i < 2_000 {
        true => list(i, 6, &|k| format!("{}.5", (i + k) % 4000)),
        false => list(i, 6_000, &|k| format!("{}.5", (i + k) % 4000)),
    });
    assert_same("dense, then sparse", &spread, false, Encoding::Int32);
    // Few entries, then all of them; columns come one after the other.
    let filled = text(&|i| match i < 2_000 {
        true => format!(" {}:1", 1 + i % 8),
        false => (1..=12).map(|j| format!(" {j}:{}", (i * j) % 9001)).collect(),
    });
    assert_same("sparse, then dense", &filled, true, Encoding::Int32);
    let growing =
        text(&|i| (1..=4 + i / 1_500).map(|j| format!(" {j}:{}.125", 1 + (i * j) % 997)).collect());
    assert_same("more and more columns", &growing, true, Encoding::Int32);
}
