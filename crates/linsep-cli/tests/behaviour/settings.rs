//! Where settings come from: default, then `--config FILE`, then the environment, then the flags.

use crate::common::{Room, TWO};

fn room() -> Room {
    let room = Room::holding("two.csv", TWO);
    room.write("c.toml", "seed = 7\nquiet = true\n[train]\neta = 0.5\norder = \"cyclic\"\n");
    room
}

/// The seed and the learning rate that a model was trained with.
#[track_caller]
fn trained(room: &Room) -> (u64, String) {
    let shown = room.run("show two.linsep --json").exits(0).json();
    let eta = shown["parameters"]["eta"].as_str().expect("a text").to_owned();
    (shown["seed"].as_u64().expect("a number"), eta)
}

#[test]
fn without_settings_the_defaults_hold() {
    let room = room();
    room.run("train two.csv").exits(0);
    assert_eq!(trained(&room), (0, "1".into()), "no file is looked for unasked");
}

#[test]
fn the_configuration_file_beats_the_defaults() {
    let room = room();
    for line in ["train two.csv --config c.toml", "--config=c.toml train two.csv"] {
        room.run(line).exits(0);
        assert_eq!(trained(&room), (7, "0.5".into()));
    }
    room.run_env(&[("LINSEP_CONFIG", "c.toml")], "train two.csv").exits(0);
    assert_eq!(trained(&room), (7, "0.5".into()));
    let shown = room.run("show two.linsep --json").exits(0).json();
    assert_eq!(shown["parameters"]["order"], "cyclic");
}

#[test]
fn the_environment_beats_the_configuration_file() {
    let room = room();
    room.run_env(&[("LINSEP_SEED", "9")], "train two.csv --config c.toml").exits(0);
    assert_eq!(trained(&room), (9, "0.5".into()));
}

#[test]
fn flags_beat_everything() {
    let room = room();
    let line = "train two.csv --config c.toml --seed 11 --eta 2";
    room.run_env(&[("LINSEP_SEED", "9")], line).exits(0);
    assert_eq!(trained(&room), (11, "2".into()));
}

#[test]
fn a_section_counts_for_its_command_only() {
    let room = room();
    room.write("c.toml", "[evaluate]\nfail-under = \"accuracy=1\"\n[train]\nlimit = 5\n");
    let run = room.run("train two.csv --config c.toml").exits(0);
    assert!(run.fact("two.csv").starts_with("5 rows"), "{}", run.out);
    room.write("wrong.csv", "a,b,label\n1,1,y\n5,5,y\n");
    room.run("evaluate two.linsep wrong.csv --config c.toml").exits(1);
    room.run("evaluate two.linsep wrong.csv").exits(0);
}

#[test]
fn switches_can_be_set_in_the_file() {
    let room = room();
    room.write("c.toml", "json = true\n");
    let result = room.run("train two.csv --config c.toml").exits(0).json();
    assert_eq!(result["rows"], 6);
    room.write("c.toml", "json = false\n");
    let run = room.run("train two.csv --config c.toml").exits(0);
    assert!(run.out.starts_with("two.csv"), "{}", run.out);
}

#[test]
fn a_limit_from_the_file_is_a_limit_of_the_user() {
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    room.write("c.toml", "[train]\nepochs = 3\n");
    let run = room.run("train f.csv --config c.toml").exits(5);
    assert!(run.fact("stopped").starts_with("the epoch limit (3 epochs"), "{}", run.out);
}

/// `#N` is the N-th column of the file wherever it is written, whatever stands in the columns before.
#[test]
fn a_bound_counts_the_columns_of_the_file() {
    let room = Room::new();
    room.write("t.csv", "label,skip,a,b\nx,9,1,2\ny,9,2,1\nx,9,0,3\ny,9,3,0\n");
    let flags = "--drop skip --learner descent --criterion logistic --epochs 5 -o m.linsep";
    room.run(&format!("train t.csv {flags} --lower #4=7 --upper #4=7"));
    let shown = room.run("show m.linsep --json").exits(0).json();
    assert_eq!(shown["planes"][0]["weights"][1], 7.0, "{shown}");
    assert_ne!(shown["planes"][0]["weights"][0], 7.0, "{shown}");
    // The label and a column that was dropped make no feature.
    for place in ["#1", "#2", "#5"] {
        let run = room.run(&format!("train t.csv {flags} --lower {place}=0")).exits(3);
        assert!(run.err.contains(&format!("no column \"{place}\"")), "{}", run.err);
    }
    // A basis function is bounded by its name.
    room.run(&format!("train t.csv {flags} --basis a*b --lower a*b=7 --upper a*b=7"));
    let shown = room.run("show m.linsep --json").exits(0).json();
    assert_eq!(shown["planes"][0]["weights"][2], 7.0, "{shown}");
}

#[test]
fn names_of_other_programs_are_the_same_commands_and_flags() {
    let room = Room::holding("two.csv", TWO);
    let ours = "train two.csv --label label --epochs 100 --eta 0.5 -o a.linsep --json";
    let theirs = "fit two.csv --target label --max-iter 100 --lr 0.5 -o b.linsep --json";
    let [ours, theirs] = [ours, theirs].map(|line| room.run(line).exits(0).json());
    assert_eq!(
        (&theirs["command"], &theirs["parameters"]),
        (&ours["command"], &ours["parameters"])
    );
    assert_eq!(room.bytes("a.linsep"), room.bytes("b.linsep"));
    let wanted = room.run("evaluate a.linsep two.csv").exits(0).out;
    for name in ["test", "score"] {
        assert_eq!(room.run(&format!("{name} a.linsep two.csv")).exits(0).out, wanted);
    }
    room.run("help fit").exits(0);
}

#[test]
fn a_share_of_rows_is_a_number_or_a_percentage() {
    let room = Room::with_examples();
    let test = |share: &str| {
        let line =
            format!("train examples/iris.csv --learner lda --test {share} -o m.linsep --json");
        room.run(&line).exits(0).json()["test"].clone()
    };
    assert_eq!(test("20%")["rows"], 30);
    assert_eq!(test("20%"), test("0.2"));
    assert_eq!(test("12.5%"), test("0.125"));
}

#[test]
fn the_number_of_rows_to_make_has_one_letter_in_both_commands() {
    let room = Room::new();
    let made = room.run("generate blobs -n 12").exits(0).out;
    assert_eq!(made, room.run("generate blobs --rows 12").exits(0).out);
    assert_eq!(made.lines().count(), 13);
    room.write("d.csv", made);
    room.run("train d.csv --learner lda").exits(0);
    let drawn = room.run("sample d.linsep -n 7").exits(0).out;
    assert_eq!(drawn, room.run("sample d.linsep --rows 7").exits(0).out);
    assert_eq!(drawn.lines().count(), 8);
}

#[test]
fn json_has_the_name_of_the_label_and_how_it_was_found() {
    let room = Room::holding("two.csv", TWO);
    room.write("two.svm", "x 1:1\ny 1:4\n");
    room.write("last.csv", "a,b,kind\n1.5,2.5,x\n4.5,5.5,y\n1.25,2.25,x\n");
    for (data, label, source) in [
        ("two.csv", "label".into(), "by its name"),
        ("two.csv --label label", "label".into(), "asked"),
        ("two.svm", serde_json::Value::Null, "first in each line"),
    ] {
        for command in ["train -o m.linsep", "inspect"] {
            let found = room.run(&format!("{command} --json {data}")).exits(0).json();
            assert_eq!(found["label"], label, "{command} {data}");
            assert_eq!(found["label_source"], source, "{command} {data}");
        }
    }
    let found = room.run("inspect last.csv --json").exits(0).json();
    assert_eq!(found["label"], "kind");
}
