//! svmlight files that cannot be used.

use super::{Room, refused, refused_by, refused_for_a_model};

#[test]
fn index_0_is_refused_where_indices_are_said_to_start_at_1() {
    let says = [
        "error[E0120]: index 0 although indices start at 1\n",
        "--> f.svm:2:4  (row 1)\n",
        "\"0:2\"\n",
        "help: use --index-base 0",
    ];
    refused("f.svm", "1 1:3\n-1 0:2 1:3\n", "--index-base 1", &says);
}

#[test]
fn an_absurd_index_is_refused_without_room_being_made_for_it() {
    let says = [
        "error[E0122]: feature index too large\n",
        "--> f.svm:2:4  (row 1)\n",
        "\"999999999999:1\"\n",
        "help: indices go up to 4294967294",
    ];
    refused("f.svm", "1 1:2\n-1 999999999999:1\n", "", &says);
    refused("f.svm", "1 1:2\n-1 99999999999999999999999:1\n", "", &["error[E0122]", "f.svm:2:4"]);
    let room = Room::holding("f.svm", "1 1:2\n-1 999999999999:1\n");
    room.shell("ulimit -v 2000000; exec linsep train f.svm --threads 2").exits(3);
}

#[test]
fn a_huge_index_that_could_be_right_ends_at_the_memory_limit() {
    let room = Room::holding("f.svm", "1 1:2\n-1 4000000000:1\n");
    for command in ["train f.svm -o out.linsep", "inspect f.svm", "convert f.svm out.csv"] {
        // The shell's own limit shows that the memory is not even asked for.
        let script =
            format!("ulimit -v 2000000; exec linsep {command} --max-memory 1GiB --threads 2");
        room.shell(&script).exits(6).says(&[
            "error[E0602]",
            "4000000000",
            "help: raise --max-memory",
        ]);
        assert_eq!(room.names(), ["f.svm"], "{command}");
    }
}

#[test]
fn repeated_and_unsorted_indices_are_refused_with_their_place() {
    for (line, value) in [("-1 2:1 2:3", "\"2:3\""), ("-1 3:1 2:3", "\"2:3\"")] {
        let says = ["error[E0121]", "--> f.svm:2:8  (row 1)\n", value, "help: sort the pairs"];
        refused("f.svm", format!("1 1:2\n{line}\n"), "", &says);
    }
}

#[test]
fn broken_pairs_are_refused_with_their_place() {
    for (line, code, place) in [
        ("-1 x:1", "error[E0120]", "f.svm:2:4"),
        ("-1 -3:1", "error[E0120]", "f.svm:2:4"),
        ("-1 2", "error[E0123]", "f.svm:2:4"),
        ("-1 1:1 2", "error[E0123]", "f.svm:2:8"),
        ("2:1 3:1", "error[E0119]", "f.svm:2:1"),
    ] {
        let text = format!("1 1:2\n{line}\n1 2:3\n1 3:3\n");
        refused("f.svm", text, "--format svmlight", &[code, place, "(row 1", "help: write"]);
    }
}

#[test]
fn values_that_are_no_finite_numbers_are_refused_with_their_place() {
    for (value, code) in [
        ("x", "error[E0104]"),
        ("1,5", "error[E0104]"),
        ("nan", "error[E0105]"),
        ("-inf", "error[E0105]"),
        ("1e400", "error[E0106]"),
        ("9007199254740993", "error[E0107]"),
    ] {
        let mark = format!("\"{value}\"\n");
        let says = [code, "--> f.svm:2:6  (row 1", &mark, "help: "];
        refused("f.svm", format!("1 1:2\n-1 2:{value}\n1 2:3\n"), "--format svmlight", &says);
    }
}

#[test]
fn invalid_utf8_and_nul_bytes_are_refused_with_their_place() {
    refused("f.svm", b"1 1:2\n-1\xff 2:1\n", "", &["error[E0109]", "--> f.svm:2:3  (row 1"]);
    refused("f.svm", b"1 1:2\n-1\x00 2:1\n", "", &["error[E0110]", "--> f.svm:2:3  (row 1"]);
}

#[test]
fn a_file_without_rows_is_refused() {
    refused("f.svm", "", "", &["error[E0101]", "--> f.svm"]);
    refused("f.svm", "# a comment\n\n", "", &["error[E0101]", "--> f.svm"]);
}

#[test]
fn one_class_is_too_few_to_learn_from() {
    refused_by(&["train"], "f.svm", "1 1:2\n1 2:2\n", "", &["error[E0116]", "--> f.svm", "help: "]);
}

#[test]
fn a_late_index_0_in_a_stream_is_refused_because_it_cannot_be_read_twice() {
    let mut text: String = (0..200_000).map(|i| format!("{} 1:{i} 2:1\n", i % 2)).collect();
    text.push_str("1 0:1\n");
    assert!(text.len() > 2_000_000, "more than one piece of the stream");
    let room = Room::holding("f.svm", &text);
    room.run_on(&text, "inspect -").exits(3).says(&["error[E0120]", "<stdin>", "--index-base 0"]);
    assert!(room.run("inspect f.svm").exits(0).out.contains("indices from 0"));
}

#[test]
fn predict_and_evaluate_refuse_the_same_lines() {
    for (line, says) in [
        ("y 2:1 2:3", ["error[E0121]", "--> f.svm:2:7"]),
        ("y 0:1", ["error[E0120]", "f.svm"]),
        ("y 999999999999:1", ["error[E0122]", "--> f.svm:2:3"]),
        ("y 1:x", ["error[E0104]", "--> f.svm:2:5"]),
        ("y 1:nan", ["error[E0105]", "--> f.svm:2:5"]),
    ] {
        let room = Room::holding("two.svm", "x 1:1\nx 2:1\ny 1:5 2:5\n");
        room.run("train two.svm").exits(0);
        room.write("f.svm", format!("x 1:2\n{line}\nx 1:1\n"));
        for command in ["predict two.linsep f.svm -o out.csv", "evaluate two.linsep f.svm"] {
            room.run(&format!("{command} --format svmlight")).exits(3).says(&says);
        }
        assert_eq!(room.names(), ["f.svm", "two.linsep", "two.svm"]);
    }
}

#[test]
fn a_model_with_text_columns_refuses_svmlight() {
    let room = Room::holding("t.csv", "a,colour,label\n1,red,x\n2,blue,y\n3,red,x\n");
    room.run("train t.csv --categorical onehot").exits(0);
    room.write("f.svm", "x 1:2\ny 2:1\n");
    let run = room.run("predict t.linsep f.svm -o out.csv").exits(3);
    run.says(&["error[E0132]", "--> f.svm", "help: "]);
    assert!(!room.exists("out.csv"));
}

#[test]
fn labels_outside_the_model_are_refused_by_evaluate_with_their_line() {
    let room = Room::with_model();
    room.write("f.svm", "x 1:2\nz 1:1\n");
    let run = room.run("evaluate two.linsep f.svm").exits(3);
    run.says(&[
        "error[E0128]: the model has no class \"z\"",
        "--> f.svm:2",
        "help: its classes are x, y",
    ]);
    refused_for_a_model("g.svm", "", &["error[E0101]", "--> g.svm"]);
}
