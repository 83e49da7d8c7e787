//! The first minutes with a file of one's own: an index, text, gaps and other marks, from `inspect` to
//! `predict` and `verify`.

use crate::common::Room;

/// The example with an index in front, as pandas writes it by default.
fn iris_of_pandas(room: &Room) -> String {
    let text = room.read("examples/iris.csv");
    let mut lines = text.lines();
    let mut table = format!(",{}\n", lines.next().expect("a header"));
    lines.enumerate().for_each(|(row, line)| table.push_str(&format!("{row},{line}\n")));
    table
}

#[test]
fn the_index_of_pandas_does_not_separate_iris() {
    let room = Room::with_examples();
    let plain = room.run("separable examples/iris.csv --json").exits(1).json();
    room.write("iris.csv", iris_of_pandas(&room));
    let run = room.run("separable iris.csv --json").exits(1);
    assert_eq!(run.json()["digest"], plain["digest"], "the same data");
    let run = run.says(&["note: column \"#1\" is left out: it looks like an index", "--keep '#1'"]);
    assert_ne!(run.json()["verdict"], "separable");
    // The rows are sorted by class, so their numbers separate them.
    room.run("separable iris.csv --keep #1").exits(0);
}

#[test]
fn a_model_and_a_certificate_hold_what_was_decided_about_columns() {
    let mut text = "id,colour,name,day,x,kind\n".to_owned();
    for i in 0..12 {
        let (colour, kind) = (["red", "blue"][i % 2], ["a", "b"][i / 6]);
        text.push_str(&format!("{i},{colour},n{i},2024-03-{:02},{},{kind}\n", i + 1, i * 10));
    }
    let room = Room::holding("f.csv", &text);
    let run = room.run("train f.csv").exits(0);
    let noted =
        ["\"id\" is left out", "\"name\" is left out", "\"day\" is left out: it holds dates"];
    let run =
        run.says(&noted).says(&["\"colour\" holds text: one 0/1 feature for each of its 2 levels"]);
    assert!(run.fact("f.csv").starts_with("12 rows x 3 features"), "{}", run.out);
    let run = room.run("verify f.linsep f.csv").exits(0);
    assert!(
        run.fact("columns").starts_with("3 features: colour=blue, colour=red, x"),
        "{}",
        run.out
    );
    room.run("separable f.csv --cert c.json").exits(0);
    room.run("verify c.json f.csv").exits(0);
    room.write("new.csv", "x,colour\n0,red\n110,blue\n");
    assert_eq!(room.run("predict f.linsep new.csv").exits(0).out, "prediction\na\nb\n");
    let run = room.run("train f.csv --keep id,day -o kept.linsep").exits(0);
    assert!(run.fact("f.csv").starts_with("12 rows x 16 features"), "{}", run.out);
    room.run("train f.csv --categorical error").exits(3).says(&["error[E0113]"]);
}

#[test]
fn inspect_tells_the_columns_of_what_cannot_be_learned_from_yet() {
    let text = "name,age,share,town,bought\nAnn,31,12%,Ulm,yes\nBob,,9%,Ulm,no\nCleo,44,7%,Bonn,yes\nDan,28,3%,,no\nEve,,8%,Bonn,no\n";
    let room = Room::holding("f.csv", text);
    room.run("train f.csv").exits(3).says(&["error[E0113]: column \"share\" holds percentages"]);
    let run = room.run("inspect f.csv").exits(0);
    assert!(run.fact("problem").starts_with("column \"share\" holds percentages"), "{}", run.out);
    assert_eq!(run.fact("label"), "could be town (2 classes), bought (2 classes)");
    let command = run.fact("train");
    assert_eq!(command, "linsep train f.csv --label bought --drop share --missing median");
    let age = run.fact("age").split_whitespace().collect::<Vec<_>>();
    assert_eq!(age, ["integer", "2", "3", "28", "34.3333", "44"]);
    assert!(run.fact("share").starts_with("percent"), "{}", run.out);
    let json = room.run("inspect f.csv --json").exits(0).json();
    assert_eq!((&json["code"], &json["train"]), (&"E0113".into(), &command.into()));
    assert_eq!(json["file_columns"][3]["missing"], 1);
    // The command that is printed works.
    room.run(command.strip_prefix("linsep ").expect("a command")).exits(0);
}

#[test]
fn inspect_takes_one_class_no_label_and_standard_input() {
    let room = Room::holding("f.csv", "a,b,label\n1,2,x\n3,4,x\n");
    assert!(room.run("inspect f.csv").exits(0).out.contains("only one class"));
    room.write("f.csv", "a,b\n1.5,2.5\n3.5,4.5\n");
    let run = room.run("inspect f.csv").exits(0);
    assert_eq!(run.fact("train"), "linsep train f.csv --label COLUMN");
    let run = room.run_on("a,k\n1,x\n,y\n2,x\n", "inspect -").exits(0);
    assert_eq!(run.fact("train"), "linsep train - --missing drop-row");
}

#[test]
fn an_indicator_is_part_of_the_model_and_of_certificates() {
    let text = "a,c,label\n1,u,x\n2,v,x\n,u,x\n9,v,y\n8,,y\n7,u,y\n";
    let room = Room::holding("f.csv", text);
    let run = room.run("train f.csv --missing median --missing-indicator").exits(0);
    assert!(run.fact("f.csv").starts_with("6 rows x 5 features"), "{}", run.out);
    room.run("verify f.linsep f.csv").exits(0);
    room.run("separable f.csv --missing median --missing-indicator --cert c.json").exits(0);
    room.run("verify c.json f.csv").exits(0);
    room.run("verify c.json f.csv --missing-indicator").exits(2);
    room.run("train f.csv --missing-indicator").exits(2).says(&["--missing median"]);
}

#[test]
fn decimal_commas_go_all_the_way_to_predictions() {
    let room = Room::holding("f.csv", "x;k\n0,5;a\n1,5;b\n0,25;a\n1,75;b\n");
    room.run("train f.csv").exits(0).says(&["note: numbers have decimal commas"]);
    room.write("new.csv", "x\n0,5\n1,5\n");
    let run = room.run("predict f.linsep new.csv --delimiter ; --decimal ,").exits(0);
    assert_eq!(run.out, "prediction\na\nb\n");
    room.run("train f.csv --decimal .").exits(3);
    room.run("train f.csv --decimal x").exits(2);
}

#[test]
fn the_most_frequent_level_stands_for_missing_text() {
    let text =
        "colour,x,y\nred,1,a\n,2,b\nblue,,a\nred,3,b\nred,4,a\nblue,5,b\nred,9,a\nblue,7,b\n";
    let room = Room::holding("f.csv", text);
    let run = room.run("train f.csv").exits(3);
    // One message with every column, its count, and a command that works as it stands.
    let run = run.says(&["values are missing in 2 of 8 rows: colour (1), x (1)"]);
    let mut help = run.err.lines().filter_map(|line| line.strip_prefix("  help: linsep "));
    let command = help.next_back().expect("a command").to_owned();
    assert_eq!(command, "train f.csv --missing median");
    room.run(&command).exits(0);
    let json = room.run("train f.csv --json").exits(3).err;
    assert!(json.contains("\"command\":\"linsep train f.csv --json --missing median\""), "{json}");
    // As if red had been written there.
    room.write("g.csv", text.replace("\n,2", "\nred,2"));
    let digest = |line: &str| room.run(line).exits(1).json()["digest"].clone();
    let filled = digest("separable f.csv --missing mode --json");
    assert_eq!(filled, digest("separable g.csv --missing mode --json"));
    assert_ne!(filled, digest("separable f.csv --missing zero --json"));
    room.run("train f.csv --missing mode --missing-indicator -o m.linsep").exits(0);
    let run = room.run("verify m.linsep f.csv").exits(0);
    assert!(run.fact("levels").ends_with("; a missing one is red"), "{}", run.out);
    room.write("new.csv", "colour,x\n,2\nred,2\n");
    room.run("train f.csv --missing mode -o m.linsep").exits(0);
    let out = room.run("predict m.linsep new.csv").exits(0).out;
    let classes: Vec<&str> = out.lines().skip(1).collect();
    assert_eq!(classes[0], classes[1], "the gap is red");
}

#[test]
fn classes_of_a_table_with_decimal_commas_are_numbers_too() {
    let room = Room::holding("f.csv", "x;y\n0,5;1,0\n1,5;1\n2,5;2\n3,5;2,0\n4,5;2\n-1;1\n");
    let run = room.run("train f.csv").exits(0);
    assert_eq!(run.fact("classes"), "1 (3), 2 (3)");
    room.run("verify f.linsep f.csv").exits(0);
}

#[test]
fn inspect_speaks_of_labels_only_where_there_is_a_choice() {
    let room = Room::with_examples();
    let run = room.run("inspect examples/iris.csv").exits(0);
    assert!(!run.out.contains("could"), "{}", run.out);
    assert!(run.fact("memory").starts_with("dense rows, one-byte codes, "), "{}", run.out);
}

/// A file whose name is no text gets the error of its gap, without a command that would not work.
#[test]
#[cfg(unix)]
fn names_that_are_no_text_cost_only_the_remedy() {
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    let name = std::ffi::OsStr::from_bytes(b"f\xff.csv");
    std::fs::write(room.path("").join(name), "x,y\n1,a\n,b\n3,a\n").expect("a file");
    let output = room.command().arg("train").arg(name).output().expect("the program runs");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{err}");
    assert!(err.contains("values are missing") && !err.contains("help: linsep train"), "{err}");
}
