//! Tables as programs and people write them: an index, text, dates, gaps, other marks and other forms.

use crate::files::{error_of, labels_of, read_text, read_with, rows_of};
use linsep_data::read::{Categorical, ColumnRange, LabelChoice, Missing, ReadOptions, RowSource};
use linsep_data::{Code, Dataset};

fn names(data: &Dataset) -> Vec<String> {
    data.input().feature_names()
}

fn columns(list: &str) -> Vec<ColumnRange> {
    list.split(',').map(|name| name.parse().unwrap()).collect()
}

#[test]
fn an_index_is_left_out_and_kept_on_request() {
    let body = "0,1.5,x\n1,2.5,y\n2,2,x\n";
    for header in [",a,kind", "id,a,kind", "Index,a,kind", "ROW,a,kind", "Unnamed: 0,a,kind"] {
        let text = format!("{header}\n{body}");
        let read = read_text(&text);
        assert_eq!(
            (names(&read.data), labels_of(&read.data)),
            (vec!["a".into()], vec!["x", "y", "x"])
        );
        let [note] = &read.choices.columns[..] else { panic!("{:?}", read.choices.columns) };
        assert!(!note.used && note.position == 0, "{note:?}");
        assert_eq!(read_with(&text, |o| o.keep = columns("#1")).unwrap().data.n_features(), 2);
        assert_eq!(
            read_with(&text, |o| o.features = columns("#1-#2")).unwrap().data.n_features(),
            2
        );
    }
    // Values that repeat are no index, other names are none either, and something has to remain.
    assert_eq!(read_text("id,a,kind\n0,1.5,x\n0,2.5,y\n").data.n_features(), 2);
    assert_eq!(read_text("n,a,kind\n0,1.5,x\n1,2.5,y\n").data.n_features(), 2);
    assert_eq!(read_text("id,kind\n0,x\n1,y\n").data.n_features(), 1);
}

#[test]
fn a_header_may_lack_the_name_of_the_rows() {
    let read = read_text("\"a\",\"kind\"\n\"1\",1.5,\"x\"\n\"2\",2.5,\"y\"\n");
    assert_eq!(
        (names(&read.data), rows_of(&read.data)),
        (vec!["a".into()], vec![vec![1.5], vec![2.5]])
    );
    // Not names of rows, but decimal commas.
    assert_eq!(error_of("a,kind\n0,5,x\n1,5,y\n", |_| ()).code(), Code::RAGGED);
}

#[test]
fn text_becomes_levels_and_what_differs_in_every_row_is_left_out() {
    let mut text = "colour,name,day,town,x,label\n".to_owned();
    for i in 0..120 {
        let (colour, town, label) = (["red", "blue"][i % 2], i % 60, ["p", "q"][i / 60]);
        let day = format!("2024-{:02}-{:02}", i % 12 + 1, i % 28 + 1);
        text.push_str(&format!("{colour},name{i},{day},town{town},{i},{label}\n"));
    }
    let read = read_text(&text);
    assert_eq!(names(&read.data), ["colour=blue", "colour=red", "x"]);
    let noted = |name: &str| read.choices.columns.iter().find(|note| note.name == name).unwrap();
    assert!(noted("colour").used && noted("x").used);
    for (name, words) in [("name", "120 different"), ("day", "dates"), ("town", "60 different")] {
        assert!(!noted(name).used && noted(name).words.contains(words), "{:?}", noted(name));
    }
    let kept = read_with(&text, |o| o.keep = columns("day,town")).unwrap();
    assert!(kept.data.n_features() > 3 + 60);
    let refused = error_of(&text, |o| o.categorical = Categorical::Error);
    assert_eq!(refused.code(), Code::TEXT_COLUMN);
}

#[test]
fn the_label_is_no_date_no_id_and_nothing_that_differs_in_every_row() {
    let guess = |text: &str| read_text(text).choices.label;
    let rows = |row: &dyn Fn(usize) -> String| (0..12).map(row).collect::<String>();
    let two = |i: usize| ["x", "y"][i % 2];
    let text =
        format!("kind,a,day\n{}", rows(&|i| format!("{},1.5,2024-01-{:02}\n", two(i), i + 1)));
    assert_eq!(guess(&text), LabelChoice::Only("kind".into()));
    let text = format!("kind,a,id\n{}", rows(&|i| format!("{},1.5,{}\n", two(i), i + 1)));
    assert_eq!(guess(&text), LabelChoice::Only("kind".into()));
    let text = format!("kind,a,name\n{}", rows(&|i| format!("{},1.5,name{i}\n", two(i))));
    assert_eq!(guess(&text), LabelChoice::Only("kind".into()));
    let text = format!("kind,a,y\n{}", rows(&|i| format!("{},1.5,{}.25\n", two(i), i)));
    assert_eq!(guess(&text), LabelChoice::Only("kind".into()));
    let text = format!("a,b,y\n{}", rows(&|i| format!("1.5,{i}.5,{}\n", i % 2)));
    assert_eq!(guess(&text), LabelChoice::Named("y".into()));
    let error = error_of("a,b\n1.5,2.5\n3.5,4.5\n", |_| ());
    assert_eq!(error.code(), Code::AMBIGUOUS_LABEL);
}

#[test]
fn gaps_are_counted_by_column_in_one_message() {
    let text = "a,b,label\n1,,x\n,NA,y\n3,4,x\n5,?,y\n";
    let linsep_data::Error::Data(error) = error_of(text, |_| ()) else { panic!() };
    let [problem] = &error.problems[..] else { panic!("{:?}", error.problems) };
    assert_eq!(problem.code, Code::MISSING);
    assert_eq!(problem.message, "values are missing in 3 of 4 rows: a (1), b (3)");
    assert_eq!((problem.place.line, problem.place.column), (Some(2), Some(3)));
    let linsep_data::Error::Data(error) = error_of("a,label\n1,x\n2,\n", |_| ()) else { panic!() };
    assert!(error.problems[0].help.as_ref().unwrap().contains("labels cannot be filled"));
}

#[test]
fn gaps_are_filled_with_the_median_or_the_mode() {
    let text = "a,b,label\n1,0,x\n5,0,y\n,7,x\n2,,y\n2,3,x\n";
    let filled = |rule| rows_of(&read_with(text, |o| o.missing = rule).unwrap().data);
    assert_eq!((filled(Missing::Median)[2][0], filled(Missing::Median)[3][1]), (2.0, 1.5));
    assert_eq!((filled(Missing::Mode)[2][0], filled(Missing::Mode)[3][1]), (2.0, 0.0));
}

#[test]
fn an_indicator_says_where_a_value_was_filled() {
    let text = "a,c,b,label\n1,u,0,x\n5,v,0,y\n,u,7,x\n3,,2,y\n";
    for rule in [Missing::Mean, Missing::Zero] {
        let set = |o: &mut ReadOptions| {
            o.missing = rule;
            o.missing_indicator = true;
        };
        let data = read_with(text, set).unwrap().data;
        let fill = if rule == Missing::Mean { 3.0 } else { 0.0 };
        assert_eq!(names(&data), ["a", "missing(a)", "c=u", "c=v", "missing(c)", "b"]);
        assert!((0..6).all(|j| data.input().feature_name(j) == names(&data)[j]));
        assert_eq!(rows_of(&data)[2], [fill, 1.0, 1.0, 0.0, 0.0, 7.0]);
        assert_eq!(rows_of(&data)[3], [3.0, 0.0, 0.0, 0.0, 1.0, 2.0]);
    }
    let refused = error_of(text, |o| o.missing_indicator = true);
    assert_eq!(refused.code(), Code::SETTING);
}

#[test]
fn decimal_commas_are_found_or_asked_about() {
    let read = read_text("a;b;k\n0,59;1;x\n-1,5;2;y\n");
    assert_eq!(rows_of(&read.data), [[0.59, 1.0], [-1.5, 2.0]]);
    assert!(read.choices.decimal_comma && read.data.reading().decimal);
    let read = read_text("a,k\n\"0,59\",x\n\"1,5\",y\n");
    assert_eq!(rows_of(&read.data), [[0.59], [1.5]]);
    let text = "a;k\n1,234;x\n2,345;y\n";
    assert_eq!(error_of(text, |_| ()).code(), Code::NOT_A_NUMBER);
    let read = read_with(text, |o| o.decimal = Some(b',')).unwrap();
    assert_eq!(rows_of(&read.data), [[1.234], [2.345]]);
    // A point would be a separator there.
    let point = error_of("a;k\n0,5;x\n1.234;y\n", |o| o.decimal = Some(b','));
    assert_eq!(point.code(), Code::NOT_A_NUMBER);
    // Long numbers are as they are written, with a point.
    let read = read_text("a;k\n0,5;x\n0,12345678901234567;y\n0,7;x\n");
    assert_eq!(read.choices.long[0].kept[0].text, "0.12345678901234567");
}

#[test]
fn other_forms_of_text_are_tables_too() {
    let wanted = [[1.5, 2.0], [2.5, 3.0]];
    let utf16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    for text in [
        utf16("a\tb\tk\r\n1.5\t2\tx\r\n2.5\t3\ty\r\n"),
        b"a   b  k\n1.5 2  x\n2.5 3  y \n".to_vec(),
        b"{\"a\":1.5,\"b\":2,\"k\":\"x\"}\n{\"k\":\"y\",\"b\":3,\"a\":2.5}\n".to_vec(),
        b"sep=;\na;b;k\n1.5;2;x\n2.5;3;y\n".to_vec(),
        b"1.5,2,x,\n2.5,3,y,\n".to_vec(),
    ] {
        let shown = String::from_utf8_lossy(&text).into_owned();
        let read = read_with(&text, |_| ()).unwrap_or_else(|e| panic!("{e} in {shown}"));
        assert_eq!(rows_of(&read.data), wanted, "{shown}");
        assert_eq!(labels_of(&read.data), ["x", "y"], "{shown}");
    }
    // Places are those of the file.
    let error = error_of(
        "{\"a\":1,\"k\":\"x\"}\n{\"a\":\"oops\",\"k\":\"y\"}\n{\"a\":3,\"k\":\"y\"}\n",
        |_| (),
    );
    assert_eq!(error.place().unwrap().line, Some(2));
    let error = error_of("a b k\n1 2 x\n\n3 oops y\n4 5 y\n", |_| ());
    assert_eq!(error.place().unwrap().line, Some(4));
}

#[test]
fn a_survey_tells_the_columns_of_a_table_that_cannot_be_read() {
    let text = "name,age,kind\nAnn,31,a\nBob,,b\nAnn,x1,a\n";
    let survey = |text: &'static str| {
        RowSource::reader(text.as_bytes(), "t", &ReadOptions::default()).survey().unwrap()
    };
    let found = survey(text).unwrap();
    assert_eq!((found.records, found.label), (3, Some(2)));
    let age = &found.columns[1];
    assert_eq!((age.missing, age.numbers, age.texts, age.kind), (1, 1, 1, "mixed"));
    assert_eq!(age.range, Some((31.0, 31.0, 31.0)));
    assert_eq!(found.columns[0].top[0], ("Ann".to_owned(), 2));
    assert!(found.columns[2].may_be_label);
    assert!(survey("1 1:2\n-1 2:3\n").is_none());
}

#[test]
fn a_survey_of_many_pieces_is_the_same_for_any_number_of_threads() {
    // More than two batches of pieces, more different numbers than are counted, and records that are not
    // like the others.
    let mut text = String::from("number,word,kind\n");
    for i in 0..700_000 {
        match i % 100_000 {
            77 => text.push_str("1,two\n"),
            78 => text.push_str("\"open,x,a\n"),
            _ => text.push_str(&format!("{},w{},{}\n", i % 30_000, i % 7, ["a", "b"][i % 2])),
        }
    }
    let survey = |threads: usize, limit: Option<u64>| {
        let options = ReadOptions::default().with_threads(threads).with_limit(limit);
        RowSource::reader(text.as_bytes(), "t", &options).survey().unwrap().unwrap()
    };
    let found = survey(1, None);
    assert_eq!((found.records, found.uneven), (700_000, 14));
    let [number, word, kind] = &found.columns[..] else {
        panic!("{} columns", found.columns.len())
    };
    assert_eq!((number.distinct, number.more), (10_000, true));
    assert_eq!((word.distinct, kind.top.len()), (8, 2));
    assert_eq!(kind.top[0].1 + kind.top[1].1, 700_000 - 14);
    for threads in [2, 3, 8] {
        assert_eq!(
            format!("{:?}", survey(threads, None)),
            format!("{found:?}"),
            "{threads} threads"
        );
    }
    let few = survey(3, Some(250_000));
    assert_eq!((few.records, few.uneven), (250_000, 6));
}
