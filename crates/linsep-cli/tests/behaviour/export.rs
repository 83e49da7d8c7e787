//! `export`: what is written predicts the same, in C to the last bit, or is refused.

use crate::common::{Room, TWO};
use linsep::LinearModel;
use linsep::file::ModelFile;
use std::fs::File;
use std::process::{Command, Output};

/// Reads rows of binary64 and writes the scores and the class of each.
const MAIN: &str = r#"
#include "model.c"
#include <stdio.h>

int main(void)
{
    double x[LINSEP_FEATURES], scores[LINSEP_SCORES];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        const int class = linsep_predict(x);
        linsep_scores(x, scores);
        fwrite(scores, sizeof scores, 1, stdout);
        fwrite(&class, sizeof class, 1, stdout);
    }
    return 0;
}
"#;

/// Writes the names of the features, a NUL behind each.
const NAMES: &str = r#"
#include "model.c"
#include <stdio.h>
#include <string.h>

int main(void)
{
    for (int k = 0; k < LINSEP_FEATURES; k++)
        fwrite(linsep_feature_names[k], 1, strlen(linsep_feature_names[k]) + 1, stdout);
    return 0;
}
"#;

fn compile(room: &Room, main: &str, flags: &str) -> Output {
    room.write("main.c", main);
    let mut compiler = Command::new("cc");
    compiler.args(flags.split_whitespace()).args(["main.c", "-o", "main"]);
    compiler.current_dir(room.path("."));
    compiler.output().expect("a C compiler called cc is needed to test exported C")
}

fn compiled(room: &Room, main: &str, flags: &str) {
    let output = compile(room, main, flags);
    assert!(output.status.success(), "{flags}\n{}", String::from_utf8_lossy(&output.stderr));
}

/// Measurements, numbers with one place, and small whole numbers, which meet planes and ties.
fn random_rows(count: usize, width: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let value = |row: usize, x: f64| match row % 4 {
        0 => 12.0 * x - 4.0,
        1 => ((120.0 * x).floor() - 40.0) / 10.0,
        _ => (12.0 * x).floor() - 4.0,
    };
    (0..count * width).map(|at| value(at / width, draw())).collect()
}

/// Compares what the compiled export says with the model itself.
fn compare(room: &Room, model: &LinearModel, count: usize, flags: &str) {
    compiled(room, MAIN, flags);
    let width = model.n_features();
    let rows = random_rows(count, width);
    room.write("rows", rows.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let mut run = Command::new(room.path("main"));
    run.stdin(File::open(room.path("rows")).expect("the rows"));
    let output = run.output().expect("the compiled export runs");
    assert!(output.status.success());
    let scores = model.n_scores();
    let records: Vec<&[u8]> = output.stdout.chunks(8 * scores + 4).collect();
    assert_eq!(records.len(), count);
    let mut classes = vec![0u64; model.classes.len()];
    for (row, record) in rows.chunks(width).zip(records) {
        let own = model.scores(row).expect("scores");
        let (found, class) = record.split_at(8 * scores);
        let found = found.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
        let bits = |x: f64| (x + 0.0).to_bits();
        assert!(found.map(bits).eq(own.iter().map(|x| bits(*x))), "{row:?}: {own:?}");
        let class = i32::from_le_bytes(class.try_into().expect("four bytes"));
        assert_eq!(class as u32, model.class_of(&own), "{row:?}: {own:?}");
        classes[class as usize] += 1;
    }
    assert!(classes.iter().filter(|count| **count > 0).count() > 1, "{classes:?}");
}

#[test]
fn c_gives_a_million_rows_the_same_bits_and_classes() {
    let room = Room::with_examples();
    for (data, flags) in
        [("banknote", ""), ("iris", ""), ("iris", "--multiclass ovr"), ("iris", "--multiclass ovo")]
    {
        room.run(&format!("train examples/{data}.csv {flags} -q -o m.linsep"));
        let line = format!("export m.linsep --to c -o model.c --check examples/{data}.csv");
        assert!(room.run(&line).exits(0).out.contains("rows keep their class"));
        let model = ModelFile::load_model(&room.path("m.linsep"), None).expect("a model");
        compare(&room, &model, 1_000_000, "-std=c99 -O2 -pedantic -Wall -Wextra -Werror");
        // Fused steps are there to be used, and are not.
        compare(&room, &model, 100_000, "-O3 -march=native");
    }
    let fast = compile(&room, MAIN, "-O2 -ffast-math");
    assert!(String::from_utf8_lossy(&fast.stderr).contains("without -ffast-math"));
}

#[test]
fn c_has_every_kind_of_model() {
    let room = Room::with_examples();
    for flags in [
        "iris.csv --multiclass ovr-k-1",
        "iris.csv --learner voted --multiclass ovo",
        "iris.csv --basis poly:3",
        "banknote.csv --learner voted",
        "banknote.csv --learner bernoulli-nb --binarize 0.5",
        "banknote.csv --learner bernoulli-nb --binarize -0.5",
    ] {
        room.run(&format!("train examples/{flags} -q -o m.linsep"));
        room.run("export m.linsep --to c -o model.c -q").exits(0);
        let model = ModelFile::load_model(&room.path("m.linsep"), None).expect("a model");
        compare(&room, &model, 50_000, "-O3 -march=native -Wall -Wextra -Werror");
    }
}

/// Names that a careless writer would let out of their place.
const WILD: [&str; 8] =
    ["a\"b", "c\\", "*/ int x; /*", "??/ ??>", "%s%n", "größe 漢字", "two\nlines", "};\n#error"];

#[test]
fn wild_names_survive_in_every_target() {
    let room = Room::new();
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let mut table = WILD.map(quoted).join(",") + ",label\n";
    for (k, name) in WILD.iter().enumerate().cycle().take(24) {
        let cells: Vec<&str> = (0..8).map(|j| if j == k { "9" } else { "1" }).collect();
        table += &format!("{},{}\n", cells.join(","), quoted(name));
    }
    room.write("wild.csv", table);
    room.run("train wild.csv --label label -q -o wild.linsep").exits(0);
    let own = room.run("predict wild.linsep wild.csv").exits(0).out;
    for target in ["onnx", "c", "json"] {
        let line = format!("export wild.linsep --to {target} --check wild.csv");
        room.run(&line).exits(0);
    }
    let onnx = room.bytes("wild.onnx");
    for name in WILD {
        let found = onnx.windows(name.len()).any(|part| part == name.as_bytes());
        assert!(found, "{name} in ONNX");
    }
    assert_eq!(room.run("predict wild.json wild.csv").exits(0).out, own);
    std::fs::copy(room.path("wild.c"), room.path("model.c")).expect("a copy");
    compiled(&room, NAMES, "-std=c99 -pedantic -Wall -Wextra -Werror -trigraphs");
    let output = Command::new(room.path("main")).output().expect("the compiled export runs");
    let names = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(names.split_terminator('\0').collect::<Vec<_>>(), WILD);
}

#[test]
fn json_is_the_whole_model() {
    let room = Room::with_examples();
    room.write("mixed.csv", "age,colour,label\n1,red,x\n2,blue,y\n,red,x\n5,green,y\n");
    for (data, flags) in [
        ("examples/iris.csv", "--multiclass ovo"),
        ("examples/iris.csv", "--learner logistic --basis rbf:4,1.5"),
        ("examples/banknote.csv", "--learner voted"),
        ("mixed.csv", "--learner logistic --missing mean --missing-indicator"),
    ] {
        room.run(&format!("train {data} {flags} -q -o m.linsep"));
        room.run(&format!("export m.linsep --to json --check {data}")).exits(0);
        let predict =
            |model: &str| room.run(&format!("predict {model} {data} --output all")).exits(0).out;
        assert_eq!(predict("m.json"), predict("m.linsep"), "{flags}");
        // What was read is exported again to the same bytes.
        room.run("export m.json --to json -o again.json -q").exits(0);
        assert_eq!(room.read("again.json"), room.read("m.json"));
    }
    let text = room.read("m.json");
    for (from, to, words) in [
        ("export/1", "export/9", "is not linsep.export/1"),
        ("\"features\":[\"age\"", "\"features\":[\"old\"", "are not those"),
        ("\"rule\":\"sign\",", "", "go together"),
        ("\"rule\":\"sign\"", "\"rule\":\"vote\"", "two classes need one"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        room.write("changed.json", text.replacen(from, to, 1));
        room.run("predict changed.json mixed.csv").exits(4).says(&["error[E0406]", words]);
    }
}

#[test]
fn liblinear_has_a_score_of_zero_on_the_same_side() {
    let room = Room::holding("and.csv", "a,b,label\n0,0,-1\n0,1,-1\n1,0,-1\n1,1,1\n");
    room.write("and.json", r#"{"weights": [1, 1], "bias": -2, "classes": [-1, 1]}"#);
    room.run("export and.json --to liblinear --check and.csv").exits(0);
    assert_eq!(
        room.read("and.model"),
        "solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel -1 1\nnr_feature 2\nbias 1\nw\n-1.0 \n-1.0 \n2.0 \n"
    );
    // Without a bias there is no line for it.
    room.write("no.json", r#"{"weights": [0.1, -0.0], "classes": [0, 7]}"#);
    let run = room.run("export no.json --to liblinear -o -").exits(0);
    assert!(run.out.ends_with("bias -1\nw\n-0.1 \n0.0 \n"), "{}", run.out);
}

#[test]
fn float32_carries_its_own_proof_or_is_refused() {
    let room = Room::with_model();
    let run = room.run("export two.linsep --to onnx-f32 --check two.csv --cert f32.json").exits(0);
    assert!(run.fact("true").contains("separable") && run.fact("true").contains("float32"));
    room.run("verify f32.json two.csv").exits(0);
    room.run("export two.linsep --to onnx-f32").exits(2).says(&["needs --check DATA"]);
    // Other data than that of the claims.
    room.write("other.csv", TWO.replace("5,5,y", "6,5,y"));
    let run = room.run("export two.linsep --to onnx-f32 --check other.csv -o other.onnx").exits(4);
    run.says(&["error[E0407]", "does not hold", "digest"]);
    assert!(!room.exists("other.onnx"));
    // Rounding moves the plane by more than the gap between the classes.
    room.write("thin.csv", "a,label\n1.00000000001,x\n1.00000000002,y\n");
    room.run("train thin.csv -q").exits(0);
    let run = room.run("export thin.linsep --to onnx-f32 --check thin.csv").exits(4);
    run.says(&["error[E0407]", "\"separable\" does not hold of the planes in binary32"]);
    // Planes that hold, and rows that are one number in binary32.
    room.write("near.csv", "a,label\n16777217,x\n16777218,y\n16777216,x\n16777219,y\n");
    room.run("train near.csv -q").exits(0);
    let run = room.run("export near.linsep --to onnx-f32 --check near.csv").exits(4);
    run.says(&["error[E0407]", "rows may get another class in float32"]);
    room.run("export near.linsep --to onnx --check near.csv").exits(0);
    // Nothing is proved of a model of another program, so rows decide.
    room.write("m.json", r#"{"weights": [1e-9, 1], "bias": -3, "classes": ["x", "y"]}"#);
    room.run("export m.json --to onnx-f32 --check two.csv --cert c.json").exits(2);
    room.run("export m.json --to onnx-f32 --check two.csv").exits(0);
    room.write("edge.csv", "a,b,label\n1,3,x\n1,2.9999999999,y\n");
    let run = room.run("export m.json --to onnx-f32 --check edge.csv").exits(4);
    run.says(&["2 of 2 rows may get another class", "edge.csv:2"]);
}

#[test]
fn what_a_target_cannot_hold_is_refused_and_nothing_is_written() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --multiclass ovo -q -o votes.linsep");
    room.run("train examples/iris.csv --learner logistic --basis rbf:3,1 -q -o bumps.linsep");
    room.run("train examples/iris.csv --basis poly:2 -q -o curved.linsep");
    room.run("train examples/iris.csv -q -o plain.linsep");
    for (line, words) in [
        ("votes.linsep --to liblinear", "counts votes"),
        ("votes.linsep --to onnx-f32 --check examples/iris.csv", "counts votes"),
        ("bumps.linsep --to onnx", "exp"),
        ("bumps.linsep --to c", "exp"),
        ("curved.linsep --to liblinear", "no basis functions"),
        ("plain.linsep --to liblinear", "whole numbers"),
    ] {
        let before = room.names();
        room.run(&format!("export {line}")).exits(4).says(&["error[E0407]", words, "help: "]);
        assert_eq!(room.names(), before, "{line}");
    }
    room.run("export plain.linsep --to c --cert p.json").exits(2).says(&["onnx-f32"]);
    room.run("export plain.linsep --to pmml").exits(2);
    room.run("export plain.linsep").exits(2);
}

#[test]
fn an_export_replaces_an_export_and_nothing_else() {
    let room = Room::with_model();
    for (target, name) in [("onnx", "two.onnx"), ("c", "two.c"), ("json", "two.json")] {
        for _ in 0..2 {
            room.run(&format!("export two.linsep --to {target} -q")).exits(0);
        }
        room.write(name, "my own text\n");
        room.run(&format!("export two.linsep --to {target}")).exits(2).says(&["--force"]);
        assert_eq!(room.read(name), "my own text\n");
        room.run(&format!("export two.linsep --to {target} --force -q")).exits(0);
        assert_ne!(room.bytes(name), b"my own text\n");
    }
    room.run("export two.linsep --to json -o two.linsep --force").exits(2);
    let run = room.run("export two.linsep --to json --json --check two.csv").exits(0);
    let value = run.json();
    assert_eq!(value["checked_rows"], 6);
    assert_eq!(value["features"], serde_json::json!(["a", "b"]));
    assert_eq!(value["output"], "two.json");
}
