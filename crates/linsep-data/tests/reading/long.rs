//! Numbers that the decimal reading does not cover: where the first is, what it says, how many there are.

use crate::files::{Files, read_text, read_with};
use linsep_data::read::{BadRows, LongColumn, Missing, ReadingChoice};

#[test]
fn a_long_number_is_found_with_its_place_and_its_digits() {
    let text =
        "u,v,x,label\n0,0,0.1,1\n1,1,0.2,1\n0,1,0.3,-1\n1,0,0,-1\n9,9,9.00000000000000001,1\n";
    let read = read_text(text);
    let [column] = &read.choices.long[..] else { panic!("{:?}", read.choices.long) };
    assert_eq!((column.feature, column.name.as_str()), (2, "x"));
    // A zero means the same in both readings, so it is no short number.
    assert_eq!((column.long, column.numbers), (1, 4));
    assert!(column.is_mixed() && column.is_complete());
    assert_eq!((column.kept[0].row, column.kept[0].digits()), (4, 18));
    assert_eq!(column.kept[0].text, "9.00000000000000001");
    assert_eq!(read.data.origin().line(4), Some(6));
    assert_eq!(read.data.reading().binary64, [2]);
}

#[test]
fn columns_that_a_program_wrote_are_not_mixed() {
    let text =
        "a,b,label\n0.1234567890123456,0.1,x\n0.30000000000000004,0.2,y\n0.5,0.3,x\n0,0.4,y\n";
    let read = read_text(text);
    let [column] = &read.choices.long[..] else { panic!("{:?}", read.choices.long) };
    assert_eq!((column.long, column.is_mixed()), (2, false));
    assert!(
        read_with(text, |o| o.reading = ReadingChoice::Binary64).unwrap().choices.long.is_empty()
    );
}

#[test]
fn rows_that_are_not_data_turn_no_column() {
    let long = "0.12345678901234567";
    let text = format!("a,b,label\n1,2,x\n{long},NA,y\n3,4,y\n");
    let read = read_with(&text, |o| o.missing = Missing::DropRow).unwrap();
    assert!(read.choices.long.is_empty() && read.data.reading().binary64.is_empty());
    let text = format!("a,b,label\n1,2,x\n{long},oops,y\n3,4,y\n");
    let skip = |o: &mut linsep_data::read::ReadOptions| {
        o.bad_rows = BadRows::Skip;
        o.allow_bad = Some(1);
    };
    assert!(read_with(&text, skip).unwrap().choices.long.is_empty());
}

#[test]
fn a_filled_gap_can_be_the_reason() {
    let text = "a,label\n1,x\n,y\n2,x\n2,y\n3,x\n3,y\n4,y\n1,x\n";
    let read = read_with(text, |o| o.missing = Missing::Mean).unwrap();
    let [column] = &read.choices.long[..] else { panic!("{:?}", read.choices.long) };
    assert_eq!((column.long, column.filled), (0, Some((16.0 / 7.0, 1))));
    assert!(column.is_mixed());
}

#[test]
fn threads_and_formats_change_nothing() {
    let long = |i: u64| format!("0.{}", 12_345_678_901_234_567 + 10 * i);
    let (mut table, mut pairs) = ("label,a,b,c\n".to_owned(), String::new());
    for i in 0..60_000u64 {
        let a = if i % 9000 == 77 { long(i) } else { "0.5".into() };
        // The careful way is taken now and then.
        let quote = if i % 11 == 0 { "\"" } else { "" };
        table.push_str(&format!("{quote}k{}{quote},{a},{},{i}\n", i % 2, long(3 * i)));
        pairs.push_str(&format!("k{} 1:{a} 2:{} 3:{i}\n", i % 2, long(3 * i)));
    }
    let summary = |column: &LongColumn| {
        let kept: Vec<_> = column.kept.iter().map(|n| (n.row, n.text.clone())).collect();
        (column.feature, column.long, column.numbers, kept)
    };
    let mut found = Vec::new();
    for text in [&table, &pairs] {
        for threads in [1, 2, 5] {
            let files = Files::new(&[("data.txt", text.as_bytes())]);
            let long = files.read(|o| o.threads = threads).unwrap().choices.long;
            found.push(long.iter().map(summary).collect::<Vec<_>>());
        }
    }
    assert_eq!(found[0].len(), 2);
    assert_eq!((found[0][0].1, found[0][0].3[0].0), (7, 77));
    assert_eq!((found[0][1].1, found[0][1].3.len()), (60_000, 1000));
    assert!(found.iter().all(|other| *other == found[0]));
}

#[test]
fn a_wild_index_costs_no_memory() {
    let text = "a 1:0.5 4000000000:0.12345678901234567\nb 1:0.25\n";
    let long = read_text(text).choices.long;
    assert_eq!((long[0].feature, long[0].name.as_str()), (3_999_999_999, "x4000000000"));
    assert!(!long[0].is_mixed());
}
