//! Columns that are binary64 because of long numbers: every report says so, and `separable` says whether it
//! matters.

use crate::common::Room;

/// Overlapping as decimals, since 0.1 + 0.2 = 0.3; not so in binary64.
const TIE: &str = "u,v,x,label\n0,0,0.1,1\n1,1,0.2,1\n0,1,0.3,-1\n1,0,0,-1\n";
const LONG: &str = "9,9,9.00000000000000001,1\n";
const REASON: &str =
    "decimal, but binary64 for x, because of line 6: 9.00000000000000001 needs 18 digits";

#[test]
fn a_row_that_turns_the_verdict_by_its_digits_is_named() {
    let room = Room::holding("f.csv", TIE);
    let run = room.run("separable f.csv").exits(1);
    assert!(run.fact("verdict").starts_with("overlapping"), "{}", run.out);
    assert!(!run.out.contains("reading"), "{}", run.out);
    room.write("f.csv", format!("{TIE}{LONG}"));
    let run = room.run("separable f.csv").exits(0);
    assert!(run.fact("verdict").starts_with("separable"), "{}", run.out);
    assert_eq!(run.fact("reading"), REASON);
    assert_eq!(
        run.fact("readings"),
        "the verdict depends on the reading: with x exactly as written the classes are not separable; \
         shorten long numbers to 15 digits, or choose --reading binary64"
    );
    let json = room.run("separable f.csv --json").exits(0).json();
    assert_eq!(json["readings"]["depends"], true);
    assert_eq!(json["readings"]["separable"][0], false);
    assert_eq!(json["reading"]["binary64"][0], 2);
    let reason = &json["reading"]["exceptions"][0];
    assert_eq!((&reason["line"], &reason["digits"]), (&6.into(), &18.into()));
    assert_eq!((&reason["name"], &reason["mixed"]), (&"x".into(), &true.into()));
    // The number that it is taken for, written short.
    room.write("f.csv", format!("{TIE}9,9,9,1\n"));
    room.run("separable f.csv").exits(1);
}

#[test]
fn a_long_number_that_changes_nothing_is_said_to() {
    let room = Room::holding("f.csv", "x,label\n0.1,a\n0.2,a\n0.3000000000000000001,b\n0.4,b\n");
    let run = room.run("separable f.csv").exits(0);
    assert_eq!(run.fact("readings"), "the same with x exactly as written: separable");
    let text = "x,label\n0.1,a\n0.2,b\n0.3000000000000000001,a\n0.4,b\n";
    room.write("f.csv", text);
    let run = room.run("separable f.csv").exits(1);
    assert_eq!(run.fact("readings"), "the same with x exactly as written: not separable");
    assert_eq!(room.run("separable f.csv --json").exits(1).json()["readings"]["depends"], false);
    let run = room.run("separable f.csv --without 0").exits(1);
    assert!(run.fact("readings").starts_with("not found out"), "{}", run.out);
}

#[test]
fn every_report_on_data_says_which_columns_are_binary64() {
    let room = Room::holding("f.csv", format!("{TIE}{LONG}"));
    for command in [
        "inspect f.csv",
        "train f.csv",
        "train f.csv --dry-run",
        "forced f.csv --row 1,2,3",
        "compare f.csv --learners perceptron --cv 2",
        "verify f.linsep f.csv",
    ] {
        let run = room.run(command);
        assert_eq!(run.fact("reading"), REASON, "{command}\n{}", run.out);
    }
    for command in ["inspect f.csv", "train f.csv", "forced f.csv --row 1,2,3"] {
        let json = room.run(&format!("{command} --json")).json();
        assert_eq!(json["reading"]["exceptions"][0]["text"], "9.00000000000000001", "{command}");
    }
    room.run("separable f.csv --cert c.json").exits(0);
    let run = room.run("verify c.json f.csv").exits(0);
    assert!(run.fact("data").ends_with("decimal reading, but binary64 for x"), "{}", run.out);
    assert_eq!(run.fact("reading"), REASON);
    let run = room.run("inspect f.csv --reading binary64").exits(0);
    assert_eq!(run.fact("reading"), "binary64");
}

#[test]
fn columns_that_a_program_wrote_share_one_note() {
    let row = |i: u32| {
        let x = f64::from(i) / 7.0;
        format!("{x},{},{},{}\n", x / 3.0, x / 11.0, if i < 6 { "p" } else { "q" })
    };
    let text: String = (1..12).map(row).collect();
    let room = Room::holding("f.csv", format!("a,b,c,label\n{text}"));
    let run = room.run("separable f.csv").exits(0);
    assert_eq!(
        run.fact("reading"),
        "binary64 for 3 columns (most of their numbers have more than 15 digits)"
    );
    assert!(!run.out.contains("readings"), "{}", run.out);
}

#[test]
fn several_mixed_columns_are_listed_and_counted() {
    let long = |j: usize| format!("0.1{j}345678901234567");
    let mut text = "a,b,c,d,e,label\n".to_owned();
    for i in 0..20 {
        let cell = |j: usize| if i == 2 * j { long(j) } else { "0.5".to_owned() };
        let cells: Vec<String> = (0..5).map(cell).collect();
        text.push_str(&format!("{},{}\n", cells.join(","), ["p", "q"][i % 2]));
    }
    let room = Room::holding("f.csv", text);
    let run = room.run("inspect f.csv").exits(0);
    assert_eq!(
        run.fact("reading"),
        "decimal, but binary64 for 5 columns: a (line 2: 0.10345678901234567 needs 17 digits), \
         b (line 4: 0.11345678901234567 needs 17 digits), c (line 6: 0.12345678901234567 needs 17 digits), \
         and 2 more"
    );
}
