//! `separable`: the triangle of pairs, the lines that conflict, where the hulls meet, what it means for
//! logistic fits, and the perceptron that goes round. `verify`: what the certificate settles.

use crate::common::{Room, Run};

/// Every line of the report that belongs to a name, continued lines included.
fn block<'a>(run: &'a Run, name: &str) -> Vec<&'a str> {
    let mut lines = run.out.lines().skip_while(|line| !line.starts_with(name));
    let first = lines.next().unwrap_or_else(|| panic!("no line \"{name}\" in\n{}", run.out));
    let rest = lines.take_while(|line| line.starts_with(' '));
    [&first[name.len()..]].into_iter().chain(rest).map(str::trim_end).collect()
}

#[test]
fn many_classes_are_summed_up_in_a_triangle() {
    let room = Room::with_examples();
    let run = room.run("separable examples/iris.csv").exits(1).silent();
    assert_eq!(run.fact("pairs"), "2 of 3 pairs separable; overlapping: virginica | versicolor");
    let words = |line: &&str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let triangle: Vec<String> = block(&run, "pairs").iter().skip(1).map(words).collect();
    assert_eq!(triangle.len(), 4);
    assert!(triangle[0].starts_with("setosa versicol"), "{triangle:?}");
    assert!(triangle[1].starts_with("versicol") && triangle[1].ends_with(" s"), "{triangle:?}");
    assert!(triangle[2].starts_with("virginic") && triangle[2].ends_with(" s o"), "{triangle:?}");
    assert_eq!(triangle[3], "s separable, o overlapping");
    let rest = "1 of 3 separable from the rest; overlapping: versicolor, virginica";
    assert_eq!(run.fact("rest"), rest);
    assert!(
        run.fact("joint")
            .starts_with("quasi-separable (touching); 6 rows show that no planes separate")
    );
    assert!(run.fact("proved").contains("exact checker"));
}

#[test]
fn above_twenty_classes_there_is_no_triangle_but_a_count() {
    let mut text = "x,label\n".to_owned();
    (0..22).for_each(|class| text.push_str(&format!("{class},c{class:02}\n")));
    let room = Room::holding("line.csv", text);
    let run = room.run("separable line.csv").exits(0);
    assert_eq!(block(&run, "pairs").len(), 1);
    assert_eq!(run.fact("pairs"), "231 of 231 pairs separable");
    // The ends of the line can be cut off, and no class between.
    let rest = run.fact("rest");
    assert!(rest.starts_with("2 of 22 separable from the rest; overlapping: c01, "), "{rest}");
    assert!(rest.ends_with(" and 12 more"), "{rest}");
}

#[test]
fn conflicting_lines_are_named_with_their_file() {
    let rows = "u,v,label\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n";
    let room = Room::holding("folder/xor.csv", rows);
    let run = room.run("separable folder/xor.csv").exits(1);
    let lines = block(&run, "conflict");
    assert_eq!(lines[0].trim(), "these 4 lines of your file conflict");
    assert_eq!(lines.len(), 5);
    assert!(lines[1].trim().starts_with("xor.csv:2  class no   weight 1"), "{lines:?}");
    assert!(lines[2].ends_with("(v 1)"), "{lines:?}");
    assert!(!run.out.contains("meeting"), "the common point is for --witness");
    let witness = room.run("separable folder/xor.csv --witness").exits(1);
    let meeting: Vec<&str> =
        block(&witness, "meeting").into_iter().skip(1).map(str::trim).collect();
    assert_eq!(meeting, ["u  0.5", "v  0.5"]);
    // Of several files the paths are given.
    room.write("folder/more.csv", "u,v,label\n9,9,no\n");
    let run = room.run("separable folder/more.csv folder/xor.csv").exits(1);
    assert!(block(&run, "conflict")[0].contains("of your files"));
    assert!(run.out.contains(" folder/xor.csv:2 "), "{}", run.out);
}

#[test]
fn the_meaning_for_logistic_fits_is_printed_and_in_the_json() {
    // The level "rare" stands in one class only.
    let mut text = "x,c,label\n".to_owned();
    for (x, c, label) in [(1, "usual", 0), (2, "usual", 1), (3, "usual", 0), (4, "usual", 1)] {
        text.push_str(&format!("{x},{c},{label}\n"));
    }
    text.push_str("3,rare,1\n2,rare,1\n");
    let room = Room::holding("rare.csv", &text);
    let line = "separable rare.csv --categorical onehot --bias off";
    let run = room.run(line).exits(1);
    assert_eq!(
        run.fact("logistic"),
        "no maximum-likelihood fit exists, because of 2 rows (lines 6, 7): the \
         coefficient of c=rare is unbounded; the others are finite"
    );
    let claim = &room.run(&format!("{line} --json")).exits(1).json()["claims"][0];
    let logistic = &claim["logistic"];
    assert_eq!((&logistic["exists"], &logistic["unique"]), (&false.into(), &false.into()));
    assert_eq!(logistic["infinite"], serde_json::json!(["c=rare"]));
    assert_eq!(logistic["rows"], serde_json::json!([4, 5]));
    assert_eq!(logistic["row_count"], 2);
    let full = serde_json::json!({ "rank": 3, "dimension": 3, "dependent": [] });
    assert_eq!(claim["rank"], full);
    // With the constant, the levels depend on it.
    let claim =
        &room.run("separable rare.csv --categorical onehot --json").exits(1).json()["claims"][0];
    let dependent = serde_json::json!(["(bias)", "c=rare", "c=usual"]);
    assert_eq!(claim["rank"]["dependent"], dependent);
    assert_eq!(claim["rank"]["rank"], 3);
    let run = room.run("separable rare.csv --categorical onehot").exits(1);
    let words = "3 of 4: a weighted sum of c=rare, c=usual and the bias is 0 in every row";
    assert_eq!(run.fact("rank"), words);
}

#[test]
fn an_overlap_has_one_fit_or_many() {
    let room = Room::holding("one.csv", "u,label\n0,a\n1,b\n2,a\n3,b\n");
    let words = "the maximum-likelihood fit exists and is unique";
    assert_eq!(room.run("separable one.csv").exits(1).fact("logistic"), words);
    room.write("many.csv", "u,v,label\n0,1,a\n1,1,b\n2,1,a\n3,1,b\n");
    let run = room.run("separable many.csv").exits(1);
    assert_eq!(run.fact("logistic"), "the maximum-likelihood fit exists but is not unique");
    assert_eq!(run.fact("rank"), "2 of 3: a weighted sum of v and the bias is 0 in every row");
    room.write("apart.csv", "u,label\n0,a\n1,a\n2,b\n");
    let run = room.run("separable apart.csv").exits(0);
    assert!(run.fact("logistic").contains("no coefficient is bounded"));
}

#[test]
fn the_perceptron_that_goes_round_decides_and_its_proof_holds() {
    let room = Room::with_examples();
    room.shell("linsep generate xor > xor.csv").exits(0);
    let run = room.run("separable xor.csv --by cycling --cert xor.json").exits(1);
    assert_eq!(run.fact("verdict"), "not separable; 4 rows prove it");
    assert!(run.fact("perceptron").contains("came back after 1 epoch"));
    room.run("verify xor.json xor.csv").exits(0);
    let result = room.run("separable examples/iris.csv --by cycling --json").exits(1).json();
    assert_eq!(result["by"], "cycling");
    let claims = result["claims"].as_array().expect("claims");
    assert_eq!(claims.len(), 7);
    let two_class = &claims[..6];
    assert!(two_class.iter().all(|claim| claim["cycling"]["scale"] == 10));
    assert!(claims[2]["cycling"]["length"].as_u64() > Some(0));
    assert!(claims[6]["cycling"].is_null(), "all classes at once are searched");
}

#[test]
fn limits_of_the_perceptron_are_reported_and_flags_without_sense_refused() {
    let room = Room::with_examples();
    let pair = "separable examples/iris.csv --pair versicolor,virginica --by cycling";
    let run = room.run(&format!("{pair} --epochs 50")).exits(5);
    let words = run.fact("pair");
    let start = "versicolor | virginica: undecided; the epochs allowed are over";
    assert!(words.starts_with(start), "{words}");
    assert!(words.contains("; if they are separable at all, the margin is at most "), "{words}");
    let claim = &room.run(&format!("{pair} --epochs 50 --json")).exits(5).json()["claims"][0];
    assert!(claim["limit"].as_str().is_some_and(|words| words.contains("epochs allowed")));
    room.run(&format!("{pair} --kind")).exits(2).says(&["--kind"]);
    room.run("separable examples/iris.csv --epochs 5").exits(2).says(&["--by cycling"]);
    room.run(&format!("{pair} --epochs many")).exits(2).says(&["--epochs", "many"]);
}

#[test]
fn verify_refuses_what_the_certificate_settles_and_prints_the_columns() {
    let room = Room::with_examples();
    room.run("separable examples/iris.csv --pair setosa,versicolor --cert iris.json").exits(0);
    let run = room.run("verify iris.json examples/iris.csv").exits(0);
    let columns = "sepal_length, sepal_width, petal_length, petal_width";
    let columns = format!("4 features: {columns}; label \"species\"");
    assert_eq!(run.fact("columns"), columns);
    let settled = [
        "--features petal_width",
        "--drop petal_width",
        "--weight petal_width",
        "--categorical onehot",
        "--unknown-level zeros",
        "--missing mean",
        "--missing zero",
        "--positive versicolor",
        "--reading binary64",
        "--bad-rows rejects=bad.csv",
    ];
    for flags in settled {
        let flag = flags.split(' ').next().expect("a flag");
        let run = room.run(&format!("verify iris.json examples/iris.csv {flags}"));
        assert_eq!(run.exits(2).says(&[flag]).out, "");
    }
    // These say how the file is to be understood, and are obeyed.
    for flags in ["--label species", "--missing drop-row", "--header", "--bad-rows skip"] {
        room.run(&format!("verify iris.json examples/iris.csv {flags}")).exits(0);
    }
    room.run("verify iris.json examples/iris.csv --label petal_width").exits(1);
}

#[test]
fn verify_says_which_column_weighs_the_rows() {
    // With its weight 0 the row that spoils it does not take part.
    let room = Room::holding("w.csv", "u,w,label\n0,1,a\n1,1,b\n2,0,a\n3,1,b\n");
    room.run("separable w.csv --weight w --cert w.json").exits(0);
    let run = room.run("verify w.json w.csv").exits(0);
    assert_eq!(run.fact("weights"), "w; 1 row of weight 0 takes no part");
    let result = room.run("verify w.json w.csv --json").exits(0).json();
    assert_eq!((&result["weight"], &result["columns"]), (&"w".into(), &serde_json::json!(["u"])));
}
