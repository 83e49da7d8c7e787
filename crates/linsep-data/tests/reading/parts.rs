//! Reading files as wholes: several parts, large files on threads, limits, bad rows, index bases,
//! and the way values are held.

use crate::files::{Files, error_of, labels_of, options, read_text, read_with, rows_of};
use linsep_data::Encoding;
use linsep_data::read::{Format, ReadOptions, read};
use linsep_data::{Code, Dataset, DatasetBuilder, Error};

#[test]
fn the_index_base_is_found_or_given() {
    for (text, base, row) in [
        ("a 1:5 3:6\nb 2:1\n", 1, vec![5.0, 0.0, 6.0]),
        ("a 2:5 3:6\nb 3:1\n", 1, vec![0.0, 5.0, 6.0]),
        ("a 1:5 2:6\nb 0:1\n", 0, vec![0.0, 5.0, 6.0]),
    ] {
        let result = read_text(text);
        assert_eq!((result.choices.index_base, result.data.row(0)), (Some(base), row), "{text}");
        assert_eq!(result.data.input().index_base, Some(base));
    }
    let text = "a 1:5 2:6\nb 2:1\n";
    let zero = read_with(text, |o| o.index_base = Some(0)).unwrap().data;
    assert_eq!(rows_of(&zero), [[0.0, 5.0, 6.0], [0.0, 0.0, 1.0]]);
    let claimed = error_of("a 1:5\nb 0:6\n", |o| o.index_base = Some(1));
    assert_eq!((claimed.code(), claimed.place().unwrap().line), (Code::BAD_INDEX, Some(2)));
}

#[test]
fn an_index_zero_that_comes_late_starts_the_reading_over() {
    let mut text = "a 1:5 2:6\nb 2:1 3:0.25\n".repeat(60_000);
    assert!(text.len() > 1 << 20);
    text += "a 0:9\n";
    for threads in [1, 3] {
        let result = read_with(&text, |o| o.threads = threads).unwrap();
        assert_eq!(result.choices.index_base, Some(0));
        assert_eq!((result.data.n_rows(), result.data.n_features()), (120_001, 4));
        assert_eq!(result.data.row(0), [0.0, 5.0, 6.0, 0.0]);
        assert_eq!(result.data.row(120_000), [9.0, 0.0, 0.0, 0.0]);
        assert_eq!(result.data.origin().line(120_000), Some(120_001));
    }
    let parts = Files::new(&[("1.svm", b"a 1:5\nb 2:1\n"), ("2.svm", b"a 0:7\nb 1:1\n")]);
    let result = parts.read(|_| ()).unwrap();
    assert_eq!(rows_of(&result.data)[2], [7.0, 0.0, 0.0], "found in the second part");
}

fn three_parts() -> Files {
    Files::new(&[
        ("b.csv", b"a,label\n1,x\n\n2,y\n"),
        ("a.csv", b"a,label\r\n3,x\r\n"),
        ("c.csv", b"\n\na,label\n4,z\n5,x"),
    ])
}

#[test]
fn several_files_are_one_set_in_the_given_order() {
    let files = three_parts();
    let data = files.read(|_| ()).unwrap().data;
    assert_eq!(rows_of(&data).concat(), [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(labels_of(&data), ["x", "y", "x", "z", "x"]);
    let lines: Vec<_> = (0..5).map(|row| data.origin().line(row).unwrap()).collect();
    assert_eq!(lines, [2, 4, 2, 4, 5]);
    let names: Vec<String> = (0..5)
        .map(|row| data.origin().file(row).unwrap().rsplit('/').next().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["b.csv", "b.csv", "a.csv", "c.csv", "c.csv"]);
    assert_eq!(data.origin().files().count(), 3);
}

#[test]
fn a_folder_and_a_pattern_are_one_set_in_the_order_of_names() {
    let files = three_parts();
    std::fs::write(files.folder().join("_SUCCESS"), "").unwrap();
    std::fs::write(files.folder().join(".b.csv.crc"), "noise").unwrap();
    for input in [files.folder(), files.folder().join("?.csv")] {
        let data = read(&[input], &options(|_| ())).unwrap().data;
        assert_eq!(rows_of(&data).concat(), [3.0, 1.0, 2.0, 4.0, 5.0]);
        assert_eq!(data.origin().line(0), Some(2));
        assert!(data.origin().file(0).unwrap().ends_with("a.csv"));
    }
    let none = read(&[files.folder().join("none.csv")], &options(|_| ())).unwrap_err();
    assert_eq!(none.code(), Code::IO);
}

#[test]
fn parts_that_differ_are_refused_by_name() {
    for second in [
        &b"a,b,label\n1,2,x\n"[..],
        b"a;label\n1;x\n2;y\n",
        b"b,label\n1,x\n",
        b"1,x\n2,y\n",
        b"x 1:1\n",
    ] {
        let files = Files::new(&[("1.csv", b"a,label\n1,x\n2,y\n"), ("2.csv", second)]);
        let error = files.read(|_| ()).unwrap_err();
        let shown = String::from_utf8_lossy(second);
        assert_eq!(error.code(), Code::PARTS_DIFFER, "{shown}");
        assert!(error.place().unwrap().file.as_ref().unwrap().ends_with("2.csv"), "{shown}");
    }
}

#[test]
fn a_fault_in_a_late_part_is_named_with_its_own_lines() {
    let files =
        Files::new(&[("1.csv", b"a,label\n1,x\n2,y\n"), ("2.csv", b"a,label\n3,x\n4x,y\n")]);
    let error = files.read(|_| ()).unwrap_err();
    let place = error.place().unwrap();
    assert!(place.file.as_ref().unwrap().ends_with("2.csv"));
    assert_eq!((place.line, place.row), (Some(3), Some(3)));
}

#[test]
fn a_limit_counts_rows_over_all_parts_and_looks_no_further() {
    let files = three_parts();
    for (limit, expected) in [(1, 1), (2, 2), (3, 3), (4, 4), (99, 5)] {
        let data = files.read(|o| o.limit = Some(limit)).unwrap().data;
        assert_eq!(data.n_rows(), expected);
    }
    assert_eq!(files.read(|o| o.limit = Some(0)).unwrap_err().code(), Code::HEADER_ONLY);
    let damaged = "a,label\n1,x\n2,y\n3,oops,y\n";
    assert_eq!(read_with(damaged, |o| o.limit = Some(2)).unwrap().data.n_rows(), 2);
    assert_eq!(error_of(damaged, |o| o.limit = Some(3)).code(), Code::RAGGED);
}

/// Several mebibytes with quoted line breaks, blank lines and classes that appear late.
fn large_table() -> String {
    let mut text = String::from("u,v,w,label\n");
    for i in 0..120_000u64 {
        if i % 1000 == 7 {
            text.push('\n');
        }
        let label = match i {
            70_000.. if i % 100 == 0 => "\"late\nand \"\"quoted\"\"\"".to_owned(),
            _ => format!("c{}", i % 3),
        };
        text += &format!("{}.{:03},{},1e-{},{label}\n", i % 977, i % 1000, i * i % 7919, i % 5);
    }
    text
}

#[test]
fn threads_change_neither_values_nor_lines_nor_encoding() {
    let text = large_table();
    assert!(text.len() > 2 << 20);
    let files = Files::new(&[("large.csv", text.as_bytes())]);
    let all: Vec<Dataset> =
        [1, 2, 4].map(|threads| files.read(|o| o.threads = threads).unwrap().data).into();
    for data in &all[1..] {
        assert_eq!(data.digest(3), all[0].digest(1));
        assert_eq!(data.origin(), all[0].origin());
        assert_eq!((data.encoding(), data.is_dense()), (all[0].encoding(), all[0].is_dense()));
        assert_eq!(data.classes(), all[0].classes());
        assert_eq!(data.input(), all[0].input());
    }
    let lines: Vec<&str> = text.lines().collect();
    for row in [0, 6, 7, 69_999, 70_000, 70_001, 119_999] {
        let line = lines[all[2].origin().line(row).unwrap() as usize - 1];
        let expected = format!("{}.{:03},", row % 977, row % 1000);
        assert!(line.starts_with(&expected), "row {row} is not in line {line}");
    }
}

#[test]
fn threads_change_no_error() {
    let text = large_table().replacen("c1\n", "c1,9\n", 31_000);
    let files = Files::new(&[("large.csv", text.as_bytes())]);
    let errors = [1, 4].map(|threads| match files.read(|o| o.threads = threads).unwrap_err() {
        Error::Data(data) => *data,
        other => panic!("{other}"),
    });
    assert_eq!(errors[0].problems.len(), 5);
    for error in &errors {
        assert_eq!(format!("{:?}", error.problems), format!("{:?}", errors[0].problems));
        assert!(error.more && error.bad_rows >= 10_000);
    }
}

#[test]
fn bad_rows_are_counted_skipped_or_kept_apart() {
    let text = "a,b,label\n1,2,x\n1,oops,x\n3,4,y\n5\n6,7,x\n";
    let rule = |o: &mut ReadOptions, word: &str, allow| {
        o.bad_rows = word.parse().unwrap();
        o.allow_bad = allow;
    };
    let Error::Data(error) = error_of(text, |_| ()) else { panic!() };
    assert_eq!((error.bad_rows, error.rows, error.problems.len()), (2, 5, 2));
    let places: Vec<_> = error.problems.iter().map(|p| (p.place.line, p.place.row)).collect();
    assert_eq!(places, [(Some(3), Some(1)), (Some(5), Some(3))]);
    for allow in [None, Some(0), Some(1)] {
        assert_eq!(error_of(text, |o| rule(o, "skip", allow)).code(), Code::NOT_A_NUMBER);
    }
    let skipped = read_with(text, |o| rule(o, "skip", Some(2))).unwrap();
    assert_eq!((skipped.data.n_rows(), skipped.choices.bad_rows), (3, 2));
    let lines: Vec<_> = (0..3).map(|row| skipped.data.origin().line(row).unwrap()).collect();
    assert_eq!(lines, [2, 4, 6]);
    assert!(skipped.rejects.is_empty());
    let kept = read_with(text, |o| rule(o, "reject", None)).unwrap();
    assert_eq!(kept.rejects, b"a,b,label\n1,oops,x\n5\n");
    assert_eq!(error_of(text, |o| rule(o, "reject", Some(1))).code(), Code::NOT_A_NUMBER);
}

/// A table of `rows` rows and `width` columns whose cells are given by a function.
fn cells(rows: usize, width: usize, cell: impl Fn(usize, usize) -> String) -> Dataset {
    let row = |i: usize| (0..width).map(|j| cell(i, j) + ",").collect::<String>();
    let text: String = (0..rows).map(|i| format!("{}{}\n", row(i), ["x", "y"][i % 2])).collect();
    read_text(&text).data
}

#[test]
fn values_are_held_in_the_narrowest_exact_way() {
    let n = |i: usize, j: usize| 37 * i + j;
    let if_rare =
        |i: usize, j: usize, text: String| if n(i, j) % 19 == 0 { text } else { "0".into() };
    for (name, data, encoding, dense) in [
        ("0 and 1, few", cells(90, 37, |i, j| if_rare(i, j, "1".into())), Encoding::Ones, false),
        ("0 and 1", cells(90, 3, |i, j| (n(i, j) % 2).to_string()), Encoding::Table8, true),
        (
            "255 values",
            cells(90, 3, |i, j| ((3 * i + j) % 255 + 1).to_string()),
            Encoding::Table8,
            true,
        ),
        ("256 values", cells(90, 3, |i, j| (3 * i + j + 1).to_string()), Encoding::Int32, true),
        (
            "few texts",
            cells(90, 37, |i, j| if_rare(i, j, format!("{}.5", n(i, j) % 9))),
            Encoding::Table8,
            false,
        ),
        ("decimals", cells(90, 4, |i, j| format!("{i}.{:04}", 7 * i + j)), Encoding::Int32, true),
        (
            "decimals, few",
            cells(200, 37, |i, j| if_rare(i, j, format!("{}.25", n(i, j)))),
            Encoding::Int32,
            false,
        ),
        (
            "powers",
            cells(90, 4, |i, j| (2f64.powi(40) * (4 * i + j + 1) as f64).to_string()),
            Encoding::F32,
            true,
        ),
        (
            "roots",
            cells(90, 4, |i, j| ((4 * i + j) as f64).sqrt().to_string()),
            Encoding::F64,
            true,
        ),
        (
            "roots, few",
            cells(200, 37, |i, j| if_rare(i, j, (n(i, j) as f64).sqrt().to_string())),
            Encoding::F64,
            false,
        ),
    ] {
        assert_eq!((data.encoding(), data.is_dense()), (encoding, dense), "{name}");
        let other = data.with_other_storage();
        assert_eq!(rows_of(&other), rows_of(&data), "{name}");
        assert_eq!(other.digest(1), data.digest(1), "{name}");
    }
}

#[test]
fn a_late_wide_value_widens_all_and_changes_none() {
    let mut text = "0.5,1.5,x\n2.5,0,y\n".repeat(30_000);
    let narrow = read_text(&text).data;
    text += "0.1234567890123456,1e300,x\n";
    let wide = read_with(&text, |o| o.threads = 2).unwrap().data;
    assert_eq!((narrow.encoding(), wide.encoding()), (Encoding::Table8, Encoding::Table8));
    for row in [0, 1, 59_999] {
        assert_eq!(wide.row(row), narrow.row(row));
    }
    assert_eq!(wide.row(60_000), [0.1234567890123456, 1e300]);
    (0..300).for_each(|i| text += &format!("{i}.125,3,x\n"));
    let wider = read_with(&text, |o| o.threads = 2).unwrap().data;
    assert_eq!(wider.encoding(), Encoding::F64);
    assert_eq!((wider.row(0), wider.row(60_000)), (narrow.row(0), wide.row(60_000)));
}

#[test]
fn long_numbers_make_their_column_binary64() {
    let text = "a,b,c,d,label\n0.1,0.1234567890123456,5e-324,7,x\n2,3,1,123456789012345,y\n";
    let reading = |word: &str| {
        let choice = word.parse().unwrap();
        read_with(text, |o| o.reading = choice).unwrap().data.reading().clone()
    };
    for word in ["auto", "decimal"] {
        assert!(reading(word).decimal, "{word}");
        assert_eq!(reading(word).binary64, [1, 2], "{word}");
    }
    assert_eq!((reading("binary64").decimal, reading("binary64").binary64.len()), (false, 0));
    let sparse = read_text("x 1:0.5 3:0.30000000000000004\ny 2:1\n").data;
    assert_eq!(sparse.reading().binary64, [2]);
}

/// The reading belongs to the number, not to the way it is written.
#[test]
fn the_reading_does_not_depend_on_zeros_behind_a_number() {
    for texts in [["1000000000000000", "1e15"], ["0.5", "0.50000000000000000000"]] {
        let flags = texts.map(|text| {
            read_text(&format!("a,label\n{text},x\n1,y\n")).data.reading().binary64.clone()
        });
        assert_eq!(flags[0], flags[1], "{texts:?}");
    }
}

#[test]
fn integers_without_an_exact_binary64_are_refused_or_rounded() {
    let text = "a,label\n9007199254740993,x\n1,y\n";
    assert_eq!(error_of(text, |_| ()).code(), Code::INEXACT_INTEGER);
    let rounded = read_with(text, |o| o.allow_lossy = true).unwrap().data;
    assert_eq!(
        (rounded.row(0), &rounded.reading().binary64[..]),
        (vec![9007199254740992.0], &[0][..])
    );
    let svm = "x 1:9007199254740993\ny 2:1\n";
    assert_eq!(error_of(svm, |_| ()).code(), Code::INEXACT_INTEGER);
    assert_eq!(
        read_with(svm, |o| o.allow_lossy = true).unwrap().data.row(0)[0],
        9007199254740992.0
    );
}

/// Types come from the first bytes of a file; the last record among them may be cut in a number.
#[test]
fn a_number_that_is_cut_by_the_end_of_the_sample_is_no_word() {
    for digits in 1..13 {
        let row = format!("{},{}", "7".repeat(digits), "-1e-3,".repeat(60));
        let text: String = (0..1000).map(|i| format!("{row}{}\n", i % 2)).collect();
        let read = read_with(text, |o| o.categorical = "onehot".parse().unwrap()).unwrap();
        let levels = read.data.input().columns.iter().find_map(|column| column.levels.as_ref());
        assert_eq!(levels, None, "first number of {digits} digits");
    }
}

/// A quote inside an unquoted field is an ordinary character, in small files and in large ones.
#[test]
fn a_stray_quote_means_the_same_in_a_file_of_any_size() {
    let text = |rows: usize| {
        let mut text = String::from("a,label\n1,5\" pipe\n");
        (0..rows).for_each(|i| text += &format!("{i},\"x\ny\"\n"));
        text
    };
    assert_eq!(read_text(&text(10)).data.n_rows(), 11);
    assert_eq!(read_text(&text(60_000)).data.n_rows(), 60_001);
}

#[test]
fn a_row_that_a_builder_refuses_leaves_no_trace() {
    let mut builder = DatasetBuilder::new(2);
    builder.dense_row(&[1.0, 2.0], "x").unwrap();
    assert!(builder.dense_row(&[3.0, f64::NAN], "z").is_err());
    assert!(builder.dense_row(&[3.0], "z").is_err());
    assert!(builder.sparse_row(&[(0, 3.0), (u32::MAX, 1.0)], "z").is_err());
    assert!(builder.sparse_row(&[(1, 3.0), (0, 1.0)], "z").is_err());
    assert!(builder.weight(f64::NAN).is_err());
    builder.sparse_row(&[(1, 4.0)], "y").unwrap();
    let data = builder.finish().unwrap();
    assert_eq!(rows_of(&data), [[1.0, 2.0], [0.0, 4.0]]);
    assert_eq!(data.classes(), ["x", "y"]);
    assert_eq!(data.weights(), None);
}

#[test]
fn a_format_that_is_claimed_is_not_guessed() {
    let text = "1 1:2\n0 1:3\n";
    assert_eq!(read_with(text, |o| o.format = Format::Svmlight).unwrap().data.n_rows(), 2);
    assert!(read_with(text, |o| o.format = Format::Csv).is_err());
    assert_eq!(error_of(b"\x93NUMPY", |_| ()).code(), Code::WRONG_FORMAT);
    // Files of columns are read with the feature `arrow`, and these are none.
    let arrow = cfg!(feature = "arrow");
    let code = if arrow { Code::DAMAGED_COLUMNS } else { Code::WRONG_FORMAT };
    for magic in [&b"PAR1...."[..], b"ARROW1.."] {
        assert_eq!(error_of(magic, |_| ()).code(), code);
    }
    assert_eq!(error_of(b"\xff\xfe1\x00,\x00\x00\xd8", |_| ()).code(), Code::NOT_UTF8);
}
