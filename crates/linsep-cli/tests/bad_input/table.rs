//! Tables that cannot be used.

use super::{Room, refused, refused_by, refused_for_a_model};

#[test]
fn a_row_with_too_few_fields_is_refused_with_its_place() {
    refused(
        "f.csv",
        "a,b,label\n1,2,x\n3,4\n5,6,y\n",
        "",
        &[
            "error[E0103]: wrong number of fields: 2 here, 3 in the first record\n",
            "--> f.csv:3:1  (row 1)\n",
            "\"3,4\"\n",
            "help: look for a missing quote",
            "more: linsep help E0103\n",
        ],
    );
}

#[test]
fn a_row_with_too_many_fields_is_refused_with_its_place() {
    refused(
        "f.csv",
        "a,b,label\n1,2,x\n3,4,5,y\n5,6,y\n",
        "",
        &["error[E0103]: wrong number of fields: 4 here", "--> f.csv:3:1  (row 1)", "help: "],
    );
}

#[test]
fn text_in_a_number_column_is_refused_with_place_column_value_and_remedy() {
    let room = Room::holding("f.csv", "a,b,label\n1,2,x\n30,oops,y\n5,6,y\n");
    let run = room.run("train f.csv -o out.linsep").exits(3);
    let wanted = "error[E0104]: not a number in a feature column\n  \
         --> f.csv:3:4  (row 1, column 2 \"b\")\n   \
         |  30,oops,y\n   \
         |     ^^^^ \"oops\"\n  \
         help: skip such rows with --bad-rows skip --allow-bad N, or save them with --bad-rows rejects=FILE\n  \
         more: linsep help E0104\n";
    assert_eq!(run.err, wanted);
    assert_eq!(room.names(), ["f.csv"]);
}

#[test]
fn nan_and_infinity_are_refused_with_their_place() {
    for value in ["nan", "NaN", "inf", "-Inf", "+infinity"] {
        let text = format!("a,b,label\n1,2,x\n3,{value},y\n");
        let mark = format!("\"{value}\"\n");
        let says =
            ["error[E0105]", "--> f.csv:3:3  (row 1, column 2 \"b\")", &mark, "help: repair"];
        refused("f.csv", text, "", &says);
    }
}

#[test]
fn numbers_outside_the_range_of_binary64_are_refused() {
    for value in ["1e400", "-1e400", "1e-400", &"9".repeat(400)] {
        let text = format!("a,b,label\n1,2,x\n3,{value},y\n");
        let says =
            ["error[E0106]", "--> f.csv:3:3  (row 1, column 2 \"b\")", "help: rescale the column"];
        refused("f.csv", text, "", &says);
    }
}

#[test]
fn an_integer_that_binary64_would_round_is_refused_unless_that_is_allowed() {
    let text = "a,label\n9007199254740993,x\n2,y\n";
    let says =
        ["error[E0107]", "f.csv:2:1  (row 0, column 1 \"a\")", "\"9007199254740993\"", "help"];
    refused("f.csv", text, "", &says);
    Room::holding("f.csv", text).run("inspect f.csv --allow-lossy").exits(0);
}

#[test]
fn a_missing_value_is_refused_with_its_place() {
    for value in ["", "NA", "n/a", "null", "?"] {
        let text = format!("a,b,label\n1,2,x\n3,{value},y\n");
        let says = [
            "error[E0108]: values are missing in 1 of 2 rows: b (1)\n",
            "--> f.csv:3:3  (row 1, column 2 \"b\")",
            "help: leave such rows out with --missing drop-row, or fill them with --missing median, mean, mode or zero",
        ];
        refused("f.csv", text, "", &says);
    }
}

#[test]
fn an_empty_file_is_refused() {
    for text in ["", "\n\n", "\u{feff}", "\r\n \r\n"] {
        refused("f.csv", text, "", &["error[E0101]: the input is empty\n", "--> f.csv\n"]);
    }
    Room::new().run_on("", "inspect -").exits(3).says(&["error[E0101]", "--> <stdin>"]);
}

#[test]
fn a_header_without_rows_is_refused() {
    refused("f.csv", "a,b,label\n", "", &["error[E0102]: there are no data rows\n", "--> f.csv\n"]);
    refused("f.csv", "a,b,label\n1,2,x\n2,1,y\n", "--limit 0", &["error[E0102]"]);
}

#[test]
fn one_class_is_too_few_to_learn_from() {
    let says = [
        "error[E0116]: every row is of class \"x\" (label \"label\")\n",
        "--> f.csv\n",
        "\"x\"\n",
        "help: ",
    ];
    refused_by(&["train"], "f.csv", "a,b,label\n1,2,x\n3,4,x\n", "", &says);
}

#[test]
fn a_label_column_that_is_not_there_is_refused_and_the_nearest_name_offered() {
    let text = "a,b,label\n1,2,x\n3,4,y\n";
    let says =
        ["error[E0114]: no column \"nope\"\n", "--> f.csv\n", "help: the columns are a, b, label"];
    refused("f.csv", text, "--label nope", &says);
    refused("f.csv", text, "--label lable", &["error[E0114]", "help: did you mean \"label\"?"]);
    refused("f.csv", text, "--label #4", &["error[E0114]: no column \"#4\""]);
}

#[test]
fn a_label_column_that_is_not_clear_is_refused_with_the_candidates() {
    let says = [
        "error[E0115]",
        "--> f.csv\n",
        "help: choose with --label; candidates: label (2 values), class (2 values)\n",
    ];
    refused("f.csv", "a,label,class\n1,2,3\n3,4,5\n", "", &says);
    refused(
        "f.csv",
        "a,b,c\n1,2,0.5\n3,4,1.5\n",
        "",
        &["error[E0115]", "help: choose with --label"],
    );
    let many: String = (0..60).map(|i| format!("1,{i}\n")).collect();
    let says = ["error[E0115]", "60 different values in 60 rows", "help: choose with --label"];
    refused("f.csv", format!("a,b\n{many}"), "", &says);
}

#[test]
fn a_quote_that_never_closes_is_refused_where_it_opens() {
    let says =
        ["error[E0111]", "--> f.csv:2:3  (row 0, column 2 \"b\")", "help: double every quote"];
    refused("f.csv", "a,b,label\n1,\"2,x\n3,4,y\n", "", &says);
    let says = ["error[E0111]", "--> f.csv:3:5  (row 1, column 3 \"label\")"];
    refused("f.csv", "a,b,label\n1,2,x\n3,4,\"y\n5,6,x\n", "", &says);
}

#[test]
fn text_behind_a_closing_quote_is_refused() {
    let says =
        ["error[E0112]", "--> f.csv:2:3  (row 0, column 2 \"b\")", "help: double every quote"];
    refused("f.csv", "a,b,label\n1,\"2\"z,x\n3,4,y\n", "", &says);
}

#[test]
fn invalid_utf8_is_refused_with_its_place() {
    let says = ["error[E0109]: invalid UTF-8\n", "--> f.csv:3:6  (row 1"];
    refused("f.csv", b"a,b,label\n1,2,x\n3,4,y\xff\n", "", &says);
    refused("f.csv", b"a,b\xff,label\n1,2,x\n3,4,y\n", "", &["error[E0109]", "--> f.csv:1:4"]);
    // UTF-16 with one half of a pair.
    let half = b"\xff\xfe1\0,\0x\0\n\x002\0,\0\0\xd8\n\0";
    refused("f.csv", half, "", &["error[E0109]", "--> f.csv:2:3"]);
}

#[test]
fn nul_bytes_are_refused_with_their_place() {
    let says = ["error[E0110]: NUL byte\n", "--> f.csv:3:3  (row 1"];
    refused("f.csv", b"a,b,label\n1,2,x\n3,\x004,y\n", "", &says);
    refused("f.csv", b"a,\0b,label\n1,2,x\n3,4,y\n", "", &["error[E0110]", "--> f.csv:1"]);
    refused("f.csv", [0u8; 64], "", &["error[E0110]", "--> f.csv:1"]);
}

#[test]
fn a_text_column_without_a_rule_is_refused_with_its_name() {
    let says = [
        "error[E0113]: column \"b\" holds text\n",
        "column 2 \"b\"",
        "\"red\"\n",
        "help: encode it with --categorical onehot, or leave it out with --drop b\n",
    ];
    let text = "a,b,label\n1,red,x\n3,blue,y\n";
    refused("f.csv", text, "--categorical error", &says);
    // A feature for each row would separate anything, so that is not what help leads to.
    let rows: String = (0..9).map(|i| format!("{i},name{i},{}\n", i % 2)).collect();
    let says = ["error[E0113]", "nearly every row has another text here", "--drop b\n"];
    refused("f.csv", format!("a,b,label\n{rows}"), "--categorical error", &says);
}

#[test]
fn lines_are_counted_through_blank_lines_and_quoted_line_breaks() {
    let text = "\u{feff}\n\na,b,label\r\n1,2,\"x\ny\"\r\n\r\n3,oops,y\r\n";
    refused("f.csv", text, "", &["error[E0104]", "--> f.csv:7:3  (row 1, column 2 \"b\")"]);
}

#[test]
fn a_bad_row_deep_in_a_large_file_is_found_on_any_number_of_threads() {
    let mut text = String::from("a,b,label\n");
    for i in 0..300_000 {
        text.push_str(&format!("{i},{},{}\n", i % 7, i % 2));
    }
    text.push_str("1,oops,0\n2,3,1\n");
    assert!(text.len() > 3_000_000, "more than one piece of the file");
    let room = Room::holding("f.csv", &text);
    for threads in 1..=3 {
        room.run(&format!("separable f.csv --threads {threads}"))
            .exits(3)
            .says(&["--> f.csv:300002:3  (row 300000, column 2 \"b\")", "\"oops\""]);
    }
    room.run_on(text, "separable -").exits(3).says(&["--> <stdin>:300002:3  (row 300000"]);
}

#[test]
fn all_bad_rows_are_counted_and_the_first_five_shown() {
    let rows: String =
        (0..20).map(|i| format!("{i},{},x\n", if i % 2 == 0 { "bad" } else { "1" })).collect();
    let room = Room::holding("f.csv", format!("a,b,label\n{rows}1,1,y\n"));
    let run = room.run("train f.csv").exits(3).says(&["help: 10 of 21 rows are bad\n"]);
    assert_eq!(run.err.matches("error[E0104]").count(), 5);
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    for (second, what) in [
        ("a,c,label\n1,2,x\n", "another name"),
        ("a,label\n1,x\n", "fewer columns"),
        ("a;b;label\n1;2;x\n", "another delimiter"),
        ("x 1:2\n", "another format"),
    ] {
        let room = Room::new();
        room.write("parts/1.csv", super::common::TWO);
        room.write("parts/2.csv", second);
        let run = room.run("train parts -o out.linsep").exits(3);
        let run = run.says(&["error[E0130]", "--> parts/2.csv\n", "help: all parts need the same"]);
        assert!(!room.exists("out.linsep"), "{what}: {}", run.err);
    }
}

#[test]
fn predict_and_evaluate_refuse_the_same_rows() {
    for (text, says) in [
        (&b"a,b,label\n1,2,x\n3,4\n"[..], ["error[E0103]", "--> f.csv:3:1  (row 1)"]),
        (b"a,b,label\n1,2,x\n3,oops,y\n", ["error[E0104]", "f.csv:3:3  (row 1, column 2 \"b\")"]),
        (b"a,b,label\n1,2,x\n3,nan,y\n", ["error[E0105]", "f.csv:3:3  (row 1, column 2 \"b\")"]),
        (b"a,b,label\n1,2,x\n3,1e400,y\n", ["error[E0106]", "f.csv:3:3  (row 1, column 2 \"b\")"]),
        (b"a,b,label\n1,2,x\n3,,y\n", ["error[E0108]", "f.csv:3:3  (row 1, column 2 \"b\")"]),
        (b"a,b,label\n1,2,x\n3,4,y\xff\n", ["error[E0109]", "f.csv:3:6"]),
        (b"a,b,label\n1,2,x\n3,\x004,y\n", ["error[E0110]", "f.csv:3:3"]),
        (b"a,b,label\n1,2,x\n3,\"4,y\n", ["error[E0111]", "f.csv:3:3  (row 1, column 2 \"b\")"]),
        (b"a,label\n1,x\n", ["error[E0118]: no column \"b\"", "--> f.csv"]),
        (b"a,b,b,label\n1,2,3,x\n", ["error[E0134]: two columns are named \"b\"", "--> f.csv"]),
        (b"1,2,3,4,x\n", ["error[E0133]: the table has 5 columns", "--> f.csv"]),
        (b"", ["error[E0101]", "--> f.csv"]),
    ] {
        refused_for_a_model("f.csv", text, &says);
    }
}
