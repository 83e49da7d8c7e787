//! The flags that say how data is read. `convert FILE - --to-format csv` shows what was understood.

use crate::common::{Room, TWO};

/// What the program understands of a file, as CSV, where a label of that name comes first.
#[track_caller]
fn understood(content: &str, flags: &str) -> String {
    let room = Room::holding("f.csv", content);
    room.run(&format!("convert f.csv - --to-format csv {flags}")).exits(0).out
}

#[test]
fn limit_reads_the_first_rows_only_and_nothing_behind_them() {
    assert_eq!(understood(TWO, "--limit 2"), "label,a,b\nx,1,2\nx,2,1\n");
    let broken = "a,b,label\n1,2,x\n2,1,y\n1,oops,x\n";
    assert_eq!(understood(broken, "--limit 2"), "label,a,b\nx,1,2\ny,2,1\n");
}

#[test]
fn features_and_drop_choose_columns_by_name_number_and_range() {
    let text = "a,b,c,d,label\n1,2,3,4,x\n5,6,7,8,y\n";
    let cases = [
        ("--features b", "label,b\nx,2\ny,6\n"),
        ("--features d,a", "label,a,d\nx,1,4\ny,5,8\n"),
        ("--features #2-#3", "label,b,c\nx,2,3\ny,6,7\n"),
        ("--features a,#3-#4", "label,a,c,d\nx,1,3,4\ny,5,7,8\n"),
        ("--drop a,c", "label,b,d\nx,2,4\ny,6,8\n"),
        ("--drop #1-#3", "label,d\nx,4\ny,8\n"),
        ("--features #1-#3 --drop b", "label,a,c\nx,1,3\ny,5,7\n"),
    ];
    for (flags, wanted) in cases {
        assert_eq!(understood(text, flags), wanted, "{flags}");
    }
    let room = Room::holding("f.svm", "x 1:1 2:2 3:3 4:4\ny 1:5 4:8\n");
    let convert = |flags: &str| room.run(&format!("convert f.svm - --to-format svmlight {flags}"));
    assert_eq!(convert("--features #2-#3").exits(0).out, "x 1:2 2:3\ny\n");
    assert_eq!(convert("--drop #1").exits(0).out, "x 1:2 2:3 3:4\ny 3:8\n");
}

#[test]
fn the_label_is_found_by_name_or_place_and_the_choice_is_printed() {
    let cases = [
        ("a,b,label\n1,2,x\n2,1,y\n", "", "label: label (auto-detected by its name)"),
        ("Class,b,c\nx,2,3\ny,1,3\n", "", "label: Class (auto-detected by its name)"),
        ("a,b,kind\n1,2,x\n2,1,y\n", "", "label: kind (auto-detected: the last column)"),
        ("1,2,x\n2,1,y\n", "", "label: #3 (auto-detected: the last column)"),
        ("a,b,label\n1,2,x\n2,1,y\n", "--label a --drop label", "label: a,"),
        ("a,b,label\n1,2,3\n2,1,4\n", "--label #2", "label: b,"),
        ("a,b,label\n1,2,3\n2,1,4\n", "--label first", "label: a,"),
        ("a,b,y,label\n1,2,3,7\n2,1,4,8\n", "--label last", "label: label,"),
    ];
    for (text, flags, choice) in cases {
        let room = Room::holding("f.csv", text);
        for command in ["inspect f.csv", "train f.csv"] {
            let run = room.run(&format!("{command} {flags}")).exits(0);
            assert!(run.fact("f.csv").contains(choice), "{choice} is not in\n{}", run.out);
        }
    }
}

#[test]
fn each_rule_for_missing_values_does_what_it_says() {
    let text = "a,b,label\n1,,x\n2,5,y\n3,NA,x\n4,7,y\nnan,9,x\n";
    let cases = [
        ("drop-row", "label,a,b\ny,2,5\ny,4,7\n"),
        ("zero", "label,a,b\nx,1,0\ny,2,5\nx,3,0\ny,4,7\nx,0,9\n"),
        ("mean", "label,a,b\nx,1,7\ny,2,5\nx,3,7\ny,4,7\nx,2.5,9\n"),
    ];
    for (rule, wanted) in cases {
        assert_eq!(understood(text, &format!("--missing {rule}")), wanted, "{rule}");
    }
    Room::holding("f.csv", text).run("train f.csv --missing error").exits(3);
}

#[test]
fn the_model_fills_gaps_with_the_values_of_training() {
    let train = "a,b,label\n1,,x\n2,5,y\n3,7,x\n4,9,y\n";
    for (rule, value) in [("mean", "7"), ("zero", "0")] {
        let room = Room::holding("f.csv", train);
        room.run(&format!("train f.csv --missing {rule}")).exits(0);
        room.write("gap.csv", "a,b\n3,\n3,NA\n");
        room.write("full.csv", format!("a,b\n3,{value}\n3,{value}\n"));
        let filled = room.run("predict f.linsep gap.csv --output scores").exits(0).out;
        let full = room.run("predict f.linsep full.csv --output scores").exits(0).out;
        assert_eq!(filled, full, "{rule}");
    }
    let room = Room::holding("f.csv", train);
    room.run("train f.csv --missing drop-row").exits(0);
    room.write("gap.csv", "a,b\n3,\n4,9\n");
    let run = room.run("predict f.linsep gap.csv --output scores").exits(0);
    let run = run.says(&["note: 1 row with missing values left open (?)"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[1] == "?," && lines[2].starts_with("y,"), "{}", run.out);
    let run = room.run("predict f.linsep gap.csv --incomplete error").exits(3);
    run.says(&["error[E0108]", "gap.csv:2:3"]);
}

#[test]
fn text_columns_become_one_column_for_each_level() {
    let text = "a,colour,label\n1,red,x\n2,blue,y\n3,red,x\n";
    let wanted = "label,a,colour=blue,colour=red\nx,1,0,1\ny,2,1,0\nx,3,0,1\n";
    assert_eq!(understood(text, "--categorical onehot"), wanted);
}

#[test]
fn levels_that_training_did_not_see_follow_the_rule_in_the_model() {
    let text = "a,colour,label\n1,red,x\n2,blue,y\n3,red,x\n";
    let room = Room::holding("f.csv", text);
    room.write("new.csv", "a,colour\n2,green\n");
    room.run("train f.csv --categorical onehot").exits(0);
    room.run("predict f.linsep new.csv").exits(3).says(&["error[E0129]", "--> new.csv:2"]);
    room.run("train f.csv --categorical onehot --unknown-level zeros").exits(0);
    let run = room.run("predict f.linsep new.csv --output scores").exits(0).silent();
    let plane = room.run("show f.linsep --json").exits(0).json()["planes"][0].clone();
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    let wanted = number(&plane["bias"]) + 2.0 * number(&plane["weights"][0]);
    let score = run.out.trim().rsplit(',').next().expect("a score");
    assert_eq!(score.parse::<f64>().expect("a number"), wanted, "no level counts");
    assert_eq!(room.run("predict f.linsep f.csv").exits(0).out, "prediction\nx\ny\nx\n");
}

#[test]
fn bad_rows_are_skipped_up_to_the_number_that_is_allowed() {
    let text = "a,b,label\n1,2,x\n2,oops,y\n3,1,x\n4,4\n5,5,y\n";
    let room = Room::holding("f.csv", text);
    room.run("train f.csv --bad-rows skip").exits(3).says(&["2 of 5 rows are bad"]);
    room.run("train f.csv --bad-rows skip --allow-bad 1").exits(3);
    let run = room.run("convert f.csv - --to-format csv --bad-rows skip --allow-bad 2").exits(0);
    assert_eq!(run.out, "label,a,b\nx,1,2\nx,3,1\ny,5,5\n");
    assert_eq!(run.err, "note: 2 bad rows skipped\n");
}

#[test]
fn a_row_that_is_left_out_leaves_no_class_and_no_level_behind() {
    for (text, flags) in [
        ("label,a,b\nx,1,2\nz,3,oops\ny,2,5\n", "--bad-rows skip --allow-bad 1"),
        ("label,a,b\nx,1,2\nz,3,\ny,2,5\n", "--missing drop-row"),
        ("x 1:1 2:2\nz 1:oops\ny 1:2 2:5\n", "--bad-rows skip --allow-bad 1 --format svmlight"),
    ] {
        let room = Room::holding("f.csv", text);
        let run = room.run(&format!("train f.csv {flags}")).exits(0);
        assert_eq!(run.fact("classes"), "x (1), y (1)", "{flags}");
    }
    let room = Room::holding("f.csv", "a,label\n1,x\n,y\n2,x\n");
    room.run("train f.csv --missing drop-row").exits(3).says(&["error[E0116]"]);
    let text = "colour,a,label\nred,1,x\ngreen,,y\nblue,2,y\n";
    let wanted = "label,colour=blue,colour=red,a\nx,0,1,1\ny,1,0,2\n";
    assert_eq!(understood(text, "--categorical onehot --missing drop-row"), wanted);
}

#[test]
fn rejected_rows_are_kept_apart_as_they_were_under_the_header() {
    let text = "a,b,label\n1,2,x\n2,oops,y\n3,1,x\n4,4\n5,5,y\n";
    let room = Room::holding("f.csv", text);
    let run = room.run("train f.csv --bad-rows rejects=bad.csv").exits(0);
    assert_eq!(run.err, "note: 2 bad rows went to bad.csv\n");
    assert_eq!(room.read("bad.csv"), "a,b,label\n2,oops,y\n4,4\n");
    assert!(run.fact("f.csv").starts_with("3 rows x 2 features"));
    room.run("train f.csv --bad-rows rejects=none.csv --allow-bad 1").exits(3);
    assert!(!room.exists("none.csv"), "too many bad rows: nothing is written");
}

#[test]
fn weights_count_rows_and_are_no_feature() {
    let weighted = "a,w,label\n1,2,x\n2,0,x\n3,1,y\n";
    assert_eq!(understood(weighted, "--weight w"), "label,a,weight\nx,1,2\nx,2,0\ny,3,1\n");
    // A row of weight 0 is as good as absent.
    let room = Room::holding("f.csv", "a,w,label\n1,1,x\n2,0,x\n3,1,y\n4,1,y\n");
    room.write("g.csv", "a,w,label\n1,1,x\n3,1,y\n4,1,y\n");
    let weights = |name: &str| {
        room.run(&format!("train {name}.csv --weight w --order cyclic")).exits(0);
        room.run(&format!("show {name}.linsep --json")).exits(0).json()["planes"].clone()
    };
    assert_eq!(weights("f"), weights("g"));
}

#[test]
fn delimiters_headers_and_number_forms_are_understood() {
    let wanted = "label,a,b\nx,1,0.5\ny,-200,5\n";
    for (text, flags) in [
        ("a,b,label\n1,.5,x\n-2e2,+5,y\n", ""),
        ("a;b;label\n1;.5;x\n-2e2;+5;y\n", ""),
        ("a\tb\tlabel\r\n1\t.5\tx\r\n-2e2\t+5\ty\r\n", ""),
        ("a|b|label\n1|.5|x\n-2e2|+5|y", ""),
        ("\u{feff}a,b,label\n\n 1 , 0.50 ,x\n\n\"-200\",5.0,\"y\"\n", ""),
        ("a~b~label\n1~.5~x\n-2e2~+5~y\n", "--delimiter ~"),
    ] {
        assert_eq!(understood(text, flags), wanted, "{text}");
    }
    assert_eq!(understood("1,2\n3,4\n", "--no-header"), "label,x1\n2,1\n4,3\n");
    assert_eq!(understood("1,2\n3,4\n5,6\n", "--header"), "1,2\n3,4\n5,6\n");
    let quoted = "a,label\n1,\"two\nlines\"\n2,\"say \"\"hi\"\"\"\n";
    assert_eq!(understood(quoted, ""), "label,a\n\"two\nlines\",1\n\"say \"\"hi\"\"\",2\n");
}

#[test]
fn classes_sort_as_numbers_if_all_are_numbers() {
    let room = Room::new();
    for (labels, classes) in [
        (["10", "9", "-1"], ["-1", "9", "10"]),
        (["+1", "0", "1.0"], ["0", "1", ""]),
        (["b", "10", "9"], ["10", "9", "b"]),
    ] {
        room.write(
            "f.csv",
            format!("a,label\n1,{}\n2,{}\n3,{}\n", labels[0], labels[1], labels[2]),
        );
        let result = room.run("inspect f.csv --json").exits(0).json();
        let names: Vec<&str> = result["classes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|class| class["name"].as_str().expect("a name"))
            .collect();
        let wanted: Vec<&str> = classes.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(names, wanted);
    }
}

#[test]
fn svmlight_comments_queries_and_index_bases_are_understood() {
    let room = Room::holding("f.svm", "# head\n1 qid:3 1:2 # note\n-1 qid:4 2:0.5\n\n");
    let run = room.run("convert f.svm - --to-format csv").exits(0);
    assert_eq!(run.out, "label,x1,x2\n1,2,0\n-1,0,0.5\n");
    assert_eq!(run.err, "note: qid: entries were skipped\n");
    room.write("zero.svm", "1 1:2\n-1 0:0.5\n");
    assert!(room.run("inspect zero.svm").exits(0).out.contains("indices from 0"));
    let run = room.run("convert f.svm - --to-format csv --index-base 0 -q").exits(0);
    assert_eq!(run.out, "label,x1,x2,x3\n1,0,2,0\n-1,0,0,0.5\n");
}

#[test]
fn a_label_that_looks_measured_is_named() {
    let room = Room::new();
    let rows: Vec<String> = (0..40).map(|k| format!("{k},{}.{}", 100 + k, 1 + k % 9)).collect();
    room.write("prices.csv", format!("size,price\n{}\n", rows.join("\n")));
    let found = room.run("inspect prices.csv --label price").exits(0);
    assert!(found.out.contains("looks continuous"), "{}", found.out);
    let trained = room.run("train prices.csv --label price --epochs 1").exits(5);
    assert!(trained.err.contains("looks continuous"), "{}", trained.err);
    // Whole numbers and few values are names.
    let rows: Vec<String> = (0..40).map(|k| format!("{k},{}", k % 12)).collect();
    room.write("months.csv", format!("size,month\n{}\n", rows.join("\n")));
    let found = room.run("inspect months.csv --label month").exits(0);
    assert!(!found.out.contains("continuous"), "{}", found.out);
    // A telling name is not believed of a column in which nearly every row has a value of its own.
    let rows: Vec<String> = (0..300).map(|k| format!("{k},0.{:03}", 7 * k % 997)).collect();
    room.write("target.csv", format!("size,target\n{}\n", rows.join("\n")));
    let run = room.run("train target.csv").exits(3);
    assert!(run.err.contains("the label column \"target\" looks continuous"), "{}", run.err);
    room.run("train target.csv --label target --epochs 1").exits(5);
}
