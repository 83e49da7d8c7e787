//! Basis functions that cannot be used: exit code 2 for what is no basis, 3 for what the data does not
//! have or cannot hold; nothing written.

use super::Room;
use super::common::TWO;

/// `train` and `separable` refuse the basis with this exit code, and say this.
#[track_caller]
fn refused_on(table: &str, spec: &str, code: i32, says: &[&str]) {
    let room = Room::holding("two.csv", table);
    let basis = format!("--basis={spec}");
    for command in [&["train", "two.csv", "-o", "out.linsep"][..], &["separable", "two.csv"]] {
        let words: Vec<&str> = command.iter().copied().chain([basis.as_str()]).collect();
        let run = room.run_args(&words).exits(code).says(says);
        assert_eq!(run.out, "", "{spec}");
        assert_eq!(room.names(), ["two.csv"], "{spec}");
    }
}

#[track_caller]
fn refused(spec: &str, code: i32, says: &[&str]) {
    refused_on("x1,x2,label\n0,0,a\n0,1,b\n1,0,b\n1,1,a\n", spec, code, says);
}

#[test]
fn what_is_no_basis_is_a_usage_error() {
    refused("", 2, &["error[E0201]: --basis: there is nothing in it", "poly:2"]);
    refused("  ", 2, &["--basis: there is nothing in it"]);
    for bad in ["poly:1", "poly:0", "poly:7", "poly:99", "poly:x", "poly:", "poly:2.5", "poly:-2"] {
        refused(bad, 2, &["error[E0201]: --basis: ", bad, "from 2 to 6"]);
    }
    for bad in [
        "rbf:0,1",
        "rbf:5,-1",
        "rbf:5,0",
        "rbf:5,nan",
        "rbf:5,inf",
        "rbf:5",
        "rbf:",
        "rbf:x,1",
        "rbf:-3,1",
        "rbf:999999999,1",
    ] {
        refused(bad, 2, &["error[E0201]: --basis: ", bad, "rbf:M,SIGMA"]);
    }
    refused("x1^0", 2, &["\"x1^0\" has the exponent 0"]);
    refused("x1*x2,x2^0*x1", 2, &["\"x2^0*x1\" has the exponent 0"]);
    for bad in ["x1^-1", "x1^0.5", "x1^x2", "x1^", "x1^nan"] {
        refused(bad, 2, &[bad, "no whole number of at least 1"]);
    }
    for bad in ["x1*", "*x2", "x1**x2", "^2", "x1*x2,", ",x1*x2"] {
        refused(bad, 2, &["error[E0201]: --basis: ", "without a name"]);
    }
    refused("x1^7", 2, &["has the degree 7, at most 6"]);
    refused("x1^4*x2^3", 2, &["has the degree 7, at most 6"]);
    refused("x1^4000000000*x2^4000000000", 2, &["at most 6"]);
    refused("#0*x1", 2, &["the first column is #1"]);
    refused("#x*x1", 2, &["no column number"]);
}

#[test]
fn terms_that_say_nothing_new_are_usage_errors() {
    refused("x1*x2,x2*x1", 2, &["\"x1*x2\" stands twice"]);
    refused("x1^2,x1*x1", 2, &["\"x1^2\" stands twice"]);
    refused("x1*x2,#1*#2", 2, &["\"x1*x2\" stands twice"]);
    refused("x1,x1,x1*x2", 2, &["\"x1\" stands twice"]);
    refused("x2", 2, &["only columns that are there already"]);
    refused("rbf:5,1", 2, &["5 centres need as many different rows, there are only 4"]);
}

#[test]
fn a_name_that_is_no_column_is_an_error_of_the_data() {
    refused("x1*x3", 3, &["error[E0118]: no column \"x3\"", "did you mean"]);
    refused("label*x1", 3, &["error[E0118]: no column \"label\""]);
    refused("#3*x1", 3, &["error[E0118]: no column \"#3\""]);
    refused("#77^2", 3, &["error[E0118]: no column \"#77\""]);
}

#[test]
fn products_outside_of_binary64_name_row_column_and_term() {
    refused_on(
        "u,v,label\n1,2,a\n1e200,3,b\n",
        "u^2",
        3,
        &[
            "error[E0106]: the product u^2 leaves the range of binary64",
            "two.csv:3",
            "column 1 \"u\"",
            "1e200",
            "rescale",
        ],
    );
    refused_on(
        "u,v,label\n1e-200,1e-200,a\n1,3,b\n",
        "poly:2",
        3,
        &["error[E0106]: the product u^2 leaves", "two.csv:2"],
    );
}

#[test]
fn gaussians_prove_nothing_so_there_is_no_verdict() {
    let room = Room::holding("two.csv", TWO);
    room.run("separable two.csv --basis rbf:2,1").exits(2).says(&[
        "error[E0201]",
        "no exact values",
        "poly:2",
    ]);
}

#[test]
fn a_basis_that_is_too_wide_is_refused_with_its_count() {
    let header: Vec<String> = (0..500).map(|j| format!("c{j}")).collect();
    let row = |label: &str, x: i32| format!("{},{label}\n", vec![x.to_string(); 500].join(","));
    let table = format!("{},label\n{}{}", header.join(","), row("a", 1), row("b", 2));
    refused_on(&table, "poly:2", 2, &["125250 new ones", "at most 100000", "--features"]);
    let room = Room::holding("wide.csv", &table);
    room.run("train wide.csv --basis poly:2 --features #1-#400 --max-memory 300000")
        .exits(6)
        .says(&["error[E0602]", "80600 features needs at least"]);
    assert_eq!(room.names(), ["wide.csv"]);
}

#[test]
fn rows_for_a_model_with_a_basis_are_checked_too() {
    let room = Room::holding("two.csv", "u,v,label\n1,2,a\n2,3,b\n");
    room.run("train two.csv --basis u*v").exits(0);
    room.write("far.csv", "u,v,label\n1,2,a\n1e200,1e200,b\n");
    let says = ["error[E0106]: the product u*v leaves", "far.csv:3"];
    room.run("predict two.linsep far.csv").exits(3).says(&says);
    room.run("evaluate two.linsep far.csv").exits(3).says(&says);
    room.write("short.csv", "u,label\n1,a\n");
    room.run("predict two.linsep short.csv").exits(3).says(&["error[E0118]", "\"v\""]);
    // The flag belongs to training: a model has its basis.
    room.run("predict two.linsep two.csv --basis u*v").exits(2);
    room.run("verify two.linsep two.csv --basis u*v").exits(2);
}
