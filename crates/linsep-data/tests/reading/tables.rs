//! Reading tables: RFC 4180, header, delimiter, label and classes, each against expectations
//! written by hand.

use crate::files::{Files, error_of, labels_of, pack, read_text, read_with, rows_of};
use linsep_data::Code;
use linsep_data::read::{ColumnRef, Format, LabelChoice};
use linsep_data::write::Packing;

fn names(data: &linsep_data::Dataset) -> Vec<String> {
    data.input().feature_names()
}

#[test]
fn quoted_fields_hold_delimiters_quotes_and_line_breaks() {
    let text = "\"a, 1\",\"b \"\"q\"\"\",\"class\"\r\n\
                1,\"2.5\",\"x\r\ny\"\r\n\
                \"-3\", \"4e1\" ,\"say \"\"hi\"\", twice\"\r\n";
    let result = read_text(text);
    assert_eq!(names(&result.data), ["a, 1", "b \"q\""]);
    assert_eq!(rows_of(&result.data), [[1.0, 2.5], [-3.0, 40.0]]);
    assert_eq!(labels_of(&result.data), ["x\r\ny", "say \"hi\", twice"]);
    assert_eq!(result.data.origin().line(0), Some(2));
    assert_eq!(result.data.origin().line(1), Some(4), "the quoted line break counts");
}

#[test]
fn the_end_of_the_last_line_does_not_matter() {
    for end in ["", "\n", "\r\n", "\n\n", "\r\n  \r\n", "  "] {
        let result = read_text(&format!("a,b,label\n1,2,x\n3,4,y{end}"));
        assert_eq!(rows_of(&result.data), [[1.0, 2.0], [3.0, 4.0]], "{end:?}");
        assert_eq!(labels_of(&result.data), ["x", "y"], "{end:?}");
    }
}

#[test]
fn blank_lines_are_passed_over_and_counted() {
    let result = read_text("\n\na,b,label\n\n1,2,x\n   \n\n3,4,y\r\n\r\n5,6,x\n");
    assert_eq!(rows_of(&result.data), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let lines: Vec<_> = (0..3).map(|row| result.data.origin().line(row)).collect();
    assert_eq!(lines, [Some(5), Some(8), Some(10)]);
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_first_name() {
    let result = read_text("\u{feff}len,label\n1,a\n2,b\n");
    assert_eq!(names(&result.data), ["len"]);
    let result = read_text("\u{feff}1 1:5\n-1 2:6\n");
    assert_eq!(result.choices.format, Format::Svmlight);
    assert_eq!(rows_of(&result.data), [[5.0, 0.0], [0.0, 6.0]]);
}

#[test]
fn numbers_are_written_in_many_ways() {
    let result = read_text("v,label\n +5 ,a\n.5,b\n5.,a\n1E+2,b\n-0,a\n\t7\t,b\n\"8\",a\n");
    let column: Vec<f64> = rows_of(&result.data).concat();
    assert_eq!(column, [5.0, 0.5, 5.0, 100.0, 0.0, 7.0, 8.0]);
    assert!(column[4].is_sign_positive(), "-0 is read as 0");
}

#[test]
fn what_breaks_the_rules_of_quoting_is_refused_at_its_place() {
    for (text, code, line) in [
        ("a,b,label\n1,2,x\n3,4,\"y\n5,6,x\n", Code::OPEN_QUOTE, 3),
        ("a,b,label\n1,2,x\n3,4,\"y\"z\n5,6,x\n", Code::STRAY_QUOTE, 3),
        ("a,b,label\n1,2,\"x\ny\"\n3,4\n", Code::RAGGED, 4),
        ("a,b,label\n1,2,x\n3,4,y,5\n", Code::RAGGED, 3),
        ("a,b,label\n1,2,x\n3,,y\n", Code::MISSING, 3),
        ("a,b,label\n1,2,x\n3,4,\n", Code::MISSING, 3),
        ("a,b,label\n1,2,x\n3,Inf,y\n", Code::NOT_FINITE, 3),
        ("a,b,label\n1,2,x\n3,1e400,y\n", Code::OUT_OF_RANGE, 3),
        ("a,b,label\n1,2,x\n3,1e-400,y\n", Code::OUT_OF_RANGE, 3),
        ("a,b,label\n1,2,x\n3,4x,y\n", Code::NOT_A_NUMBER, 3),
    ] {
        let error = error_of(text, |_| ());
        assert_eq!(error.code(), code, "{text}");
        assert_eq!(error.place().unwrap().line, Some(line), "{text}");
    }
    let error = error_of("a,b,label\n1,2,x\n\"3\n\",4x,y\n", |_| ());
    let place = error.place().unwrap();
    assert_eq!((place.line, place.column, place.row), (Some(4), Some(3), Some(1)));
    assert_eq!(place.field, Some((2, Some("b".into()))));
}

#[test]
fn empty_inputs_are_refused() {
    for text in ["", "\n", " \n\r\n", "\u{feff}"] {
        assert_eq!(error_of(text, |_| ()).code(), Code::EMPTY, "{text:?}");
    }
    assert_eq!(error_of("a,b,label\n", |_| ()).code(), Code::HEADER_ONLY);
    assert_eq!(error_of("# nothing\n", |o| o.format = Format::Svmlight).code(), Code::HEADER_ONLY);
}

#[test]
fn every_delimiter_is_found() {
    for delimiter in [',', ';', '\t', '|'] {
        let text = "a,b,label\n1,2,x\n3,4,y\n".replace(',', &delimiter.to_string());
        let result = read_text(&text);
        assert_eq!(result.choices.delimiter, Some(delimiter as u8));
        assert_eq!(rows_of(&result.data), [[1.0, 2.0], [3.0, 4.0]]);
    }
}

#[test]
fn the_delimiter_is_the_one_that_cuts_evenly() {
    for (text, delimiter) in [
        ("a;b;label\n1;2;x, y\n3;4;z, y, x\n", b';'),
        ("a\tb\tlabel\n1\t2\tx,y,z\n3\t4\tp,q,r\n", b'\t'),
        ("\"a;b;c\",label\n1,x\n2,y\n", b','),
        ("a|label\n1|x,\n2|y,\n", b'|'),
    ] {
        assert_eq!(read_text(text).choices.delimiter, Some(delimiter), "{text}");
    }
    let odd = read_with("a:b:label\n1:2:x\n3:4:y\n", |o| {
        o.delimiter = Some(b':');
        o.format = Format::Csv;
    });
    assert_eq!(rows_of(&odd.unwrap().data), [[1.0, 2.0], [3.0, 4.0]]);
    let tsv = read_with("a\tlabel\n1\tx;y\n2\tz;y\n", |o| o.format = Format::Tsv).unwrap();
    assert_eq!(labels_of(&tsv.data), ["x;y", "z;y"]);
    assert_eq!(error_of("one\ntwo\n", |_| ()).code(), Code::NO_FEATURES);
}

#[test]
fn a_header_is_words_above_numbers() {
    for (text, header) in [
        ("a,b,c\n1,2,x\n", true),
        ("1,2,x\n3,4,y\n", false),
        ("NA,2,x\n3,4,y\n", false),
        ("a,b,kind\n1,,x\n2,3,y\n", true),
        ("y,1,2\n0,5,6\n1,7,8\n", true),
        ("Class,1999,2000\na,5,6\nb,7,8\n", true),
    ] {
        let found = read_with(text, |o| o.missing = "drop-row".parse().unwrap()).unwrap();
        assert_eq!(found.choices.header.is_some(), header, "{text}");
    }
    let mixed = error_of("a,2,c\n1,2,x\n", |_| ());
    assert_eq!((mixed.code(), mixed.place().unwrap().line), (Code::NOT_A_NUMBER, Some(1)));
}

#[test]
fn a_header_can_be_claimed_or_denied() {
    let text = "1,2,7\n3,4,8\n5,6,7\n";
    let with = read_with(text, |o| o.header = Some(true)).unwrap().data;
    assert_eq!((with.n_rows(), names(&with)), (2, vec!["1".into(), "2".into()]));
    assert_eq!(with.origin().line(0), Some(2));
    let without = read_with(text, |o| o.header = Some(false)).unwrap().data;
    assert_eq!((without.n_rows(), without.origin().line(0)), (3, Some(1)));
    let denied = error_of("a,b,label\n1,2,x\n3,4,y\n", |o| o.header = Some(false));
    assert_eq!((denied.code(), denied.place().unwrap().line), (Code::NOT_A_NUMBER, Some(1)));
}

#[test]
fn a_gap_below_the_header_does_not_hide_it() {
    let text = "len,width,kind\nNA,NA,x\n1,2,y\n3,4,x\n";
    let found = read_with(text, |o| o.missing = "zero".parse().unwrap()).unwrap();
    assert_eq!(names(&found.data), ["len", "width"]);
}

#[test]
fn the_mean_of_the_largest_numbers_is_a_number() {
    let text = "x,y,label\n1e308,1,a\n1e308,2,b\n,3,b\n";
    let found = read_with(text, |o| o.missing = "mean".parse().unwrap()).unwrap();
    let mut row = Vec::new();
    found.data.for_each(2, |column, x| row.push((column, x)));
    assert_eq!(row, [(0, 1e308), (1, 3.0)]);
}

#[test]
fn the_label_is_the_column_with_a_name_for_it() {
    for name in ["label", "Target", "CLASS", "y"] {
        let result = read_text(&format!("a,{name},b\n1,0,2\n3,1,4\n"));
        assert_eq!(result.choices.label, LabelChoice::Named(name.into()));
        assert_eq!(labels_of(&result.data), ["0", "1"]);
        assert_eq!(rows_of(&result.data), [[1.0, 2.0], [3.0, 4.0]]);
    }
    let two = error_of("label,class,b\n1,0,2\n3,1,4\n", |_| ());
    assert_eq!(two.code(), Code::AMBIGUOUS_LABEL);
}

#[test]
fn without_a_name_the_label_is_a_last_column_that_looks_like_classes() {
    let last = |text: &str| read_text(text).choices.label;
    assert_eq!(last("a,kind\n1.5,x\n2.5,y\n"), LabelChoice::Last("kind".into()));
    assert_eq!(last("1.5,x\n2.5,y\n"), LabelChoice::Last("#2".into()));
    assert_eq!(last("a,b\n1.5,7\n2.5,8\n"), LabelChoice::Last("b".into()));
    let integers =
        |count: usize| -> String { (0..120).map(|i| format!("{i}.5,{}\n", i % count)).collect() };
    assert_eq!(read_text(&integers(50)).data.n_classes(), 50);
    assert_eq!(error_of(integers(51), |_| ()).code(), Code::AMBIGUOUS_LABEL);
    assert_eq!(error_of("a,b\n1,1.5\n2,2.5\n", |_| ()).code(), Code::AMBIGUOUS_LABEL);
    let late_real = format!("{}9.5,1.25\n", "1.5,0\n2.5,1\n".repeat(800));
    assert_eq!(error_of(late_real, |_| ()).code(), Code::AMBIGUOUS_LABEL);
}

/// The rule is "text, or integers with at most 50 values": the number counts for integers only.
#[test]
fn a_last_column_of_many_words_is_still_a_label() {
    let words: String = (0..120).map(|i| format!("{i}.5,w{}\n", i % 60)).collect();
    assert_eq!(read_text(&words).data.n_classes(), 60);
}

#[test]
fn the_label_that_was_asked_for_is_taken() {
    let text = "id,kind,x\n7,a,1\n8,b,2\n";
    for (wanted, labels) in [("kind", ["a", "b"]), ("#2", ["a", "b"]), ("x", ["1", "2"])] {
        let result = read_with(text, |o| {
            o.label = Some(wanted.parse().unwrap());
            o.drop = vec!["id".parse().unwrap()];
            o.categorical = "onehot".parse().unwrap();
        });
        let result = result.unwrap();
        assert_eq!(labels_of(&result.data), labels, "{wanted}");
        assert!(matches!(result.choices.label, LabelChoice::Asked(_)));
    }
    for (wanted, at) in [("first", "7"), ("last", "1")] {
        let drop_kind = |o: &mut linsep_data::read::ReadOptions| {
            o.label = Some(wanted.parse().unwrap());
            o.drop = vec!["kind".parse().unwrap()];
        };
        assert_eq!(read_with(text, drop_kind).unwrap().data.label_text(0), at);
    }
    let wrong = error_of(text, |o| o.label = Some(ColumnRef::Name("kinds".into())));
    assert_eq!(wrong.code(), Code::NO_LABEL);
    assert!(format!("{wrong:?}").contains("did you mean"));
    assert_eq!(error_of(text, |o| o.label = Some(ColumnRef::Number(3))).code(), Code::NO_LABEL);
    let twice = error_of("a,b,a\n1,x,2\n3,y,4\n", |o| o.label = Some("a".parse().unwrap()));
    assert_eq!(twice.code(), Code::DUPLICATE_NAME);
}

#[test]
fn classes_are_sorted_as_numbers_or_by_bytes_and_the_later_one_is_positive() {
    for (labels, classes) in [
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["+1", "1e1", "2.50"], ["1", "2.5", "10"]),
        (["10", "9", "x"], ["10", "9", "x"]),
        (["b", "B", "ä"], ["B", "b", "ä"]),
    ] {
        let text: String = labels.iter().map(|label| format!("1,{label}\n")).collect();
        let result = read_with(text, |o| o.label = Some("last".parse().unwrap())).unwrap();
        assert_eq!(result.data.classes(), classes);
    }
    let signs = read_text("+1 1:1\n-1 1:2\n1.0 1:3\n");
    assert_eq!(signs.data.classes(), ["-1", "1"]);
    assert_eq!(signs.data.targets(), [1, 0, 1]);
}

#[test]
fn the_positive_class_can_be_chosen() {
    let two = "v,label\n1,a\n2,b\n3,a\n";
    let plain = read_text(two).data;
    let turned = read_with(two, |o| o.positive = Some("a".into())).unwrap().data;
    assert_eq!((plain.classes(), plain.targets()), (&["a".into(), "b".into()][..], &[0, 1, 0][..]));
    assert_eq!(turned.classes(), ["b", "a"]);
    assert_eq!(turned.targets(), [1, 0, 1]);
    assert_eq!(turned.digest(1), plain.digest(1), "the choice is not part of the data");
    let kept = read_with(two, |o| o.positive = Some("b".into())).unwrap().data;
    assert_eq!(kept.classes(), ["a", "b"]);

    let three = "v,label\n1,1\n2,2\n3,3\n4,2\n";
    let rest = read_with(three, |o| o.positive = Some("2.0".into())).unwrap().data;
    assert_eq!(rest.classes(), ["rest", "2"]);
    assert_eq!(rest.targets(), [0, 1, 0, 1]);
    assert_eq!(labels_of(&rest), ["1", "2", "3", "2"], "labels stay as they stand in the file");
    assert_eq!(rest.digest(1), read_text(three).data.digest(1));
    let unknown = error_of(three, |o| o.positive = Some("7".into()));
    assert_eq!(unknown.code(), Code::UNKNOWN_CLASS);
}

/// A class that is itself called `rest` must not meet another class of that name.
#[test]
fn the_two_classes_left_by_a_positive_one_have_different_names() {
    for positive in ["rest", "a"] {
        let text = "v,label\n1,rest\n2,a\n3,b\n";
        let data = read_with(text, |o| o.positive = Some(positive.into())).unwrap().data;
        assert_eq!(data.n_classes(), 2);
        assert_ne!(data.classes()[0], data.classes()[1], "`positive={positive}`");
        assert_eq!(data.classes()[1], positive);
    }
}

#[test]
fn svmlight_is_known_by_its_content_whatever_the_name() {
    let result = read_text("# comment\nspam 1:0.5 3:2 # tail\n\nham qid:7 2:-1e-1\n");
    assert_eq!(result.choices.format, Format::Svmlight);
    assert!(result.choices.query_ids);
    assert_eq!(rows_of(&result.data), [[0.5, 0.0, 2.0], [0.0, -0.1, 0.0]]);
    assert_eq!(labels_of(&result.data), ["spam", "ham"]);
    assert_eq!(result.data.origin().line(1), Some(4));
}

/// Rows without a value are ordinary in sparse data; the name of the file settles the rest.
#[test]
fn svmlight_with_many_empty_rows_is_still_svmlight() {
    let text = b"spam\nspam\nham 1:1\nspam\n";
    let found = Files::new(&[("mail.svm", &text[..])]).read(|_| ()).unwrap();
    assert_eq!(rows_of(&found.data), [[0.0], [0.0], [1.0], [0.0]]);
}

#[test]
fn packed_files_in_several_members_are_one_and_cut_ones_are_damaged() {
    let halves = [&b"a,label\n1,x\n2,"[..], b"y\n3,x\n"];
    for packing in [Packing::Gzip, Packing::Zstd] {
        let packed = halves.map(|half| {
            let files = Files::new(&[("half", b"")]);
            pack(&files.paths[0], packing, |out| out.write_all(half).unwrap());
            std::fs::read(&files.paths[0]).unwrap()
        });
        let whole = packed.concat();
        assert_eq!(rows_of(&read_with(&whole, |_| ()).unwrap().data).concat(), [1.0, 2.0, 3.0]);
        for cut in [5, whole.len() / 4, whole.len() - 1] {
            let error = error_of(&whole[..cut], |_| ());
            assert_eq!(error.code(), Code::DAMAGED, "{packing:?} cut at {cut}");
        }
    }
}
