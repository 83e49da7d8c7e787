//! `plot`: every view, where the picture goes, and the pictures of the documentation.

use crate::common::{Room, repository};

const LINE: &str = "x,label\n1,a\n2,a\n2.5,a\n4,b\n5,b\n7,b\n";

#[test]
fn the_picture_goes_beside_or_where_it_is_told() {
    let room = Room::with_model();
    let run = room.run("plot two.csv two.linsep").exits(0).silent();
    assert_eq!(run.fact("picture"), "two.svg (pattern, 6 rows)");
    let svg = room.read("two.svg");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("perceptron from two.linsep: 0 of 6 rows wrong."), "{svg}");
    let run = room.run("plot two.csv two.linsep -o -").exits(0).silent();
    assert_eq!(run.out, svg);
    room.run("plot two.csv two.linsep -o other.svg --width 400 --title A&B").exits(0);
    let other = room.read("other.svg");
    assert!(other.contains("width=\"400\"") && other.contains("<title>A&amp;B</title>"), "{other}");
    let value = room.run("plot two.csv --json -o j.svg --view curves").exits(0).json();
    assert_eq!((&value["view"], &value["rows"]), (&"curves".into(), &6.into()));
    assert_eq!(value["output"], "j.svg");
    let run = room.run_on("a,b,label\n1,2,x\n4,5,y\n", "plot -").exits(0);
    assert_eq!(run.fact("picture"), "picture.svg (pattern, 2 rows)");
}

#[test]
fn every_view_draws_what_it_names() {
    let room = Room::holding("line.csv", LINE);
    for (view, words) in [
        ("pattern", "trained on these rows"),
        ("weight", "entered the cone at step 7"),
        ("criterion", "scores of rows on the wrong side"),
        ("curves", "at most 1027 updates"),
        ("histogram", "direction of Fisher"),
        ("confusion", "Shares are of the true class"),
        ("neuron", "sum ≥ 0"),
        ("coefficients", "The weights, the largest first."),
    ] {
        let svg = room.run(&format!("plot line.csv --view {view} -o -")).exits(0).silent().out;
        assert!(svg.contains(words), "{view}: no \"{words}\" in\n{svg}");
    }
    for criterion in ["jn", "jd", "jp", "mse", "hinge", "squared-hinge", "logistic"] {
        let line = format!("plot line.csv --view criterion --criterion {criterion} -o -");
        let svg = room.run(&line).exits(0).silent().out;
        assert!(svg.contains(&format!(">{criterion}: ")), "{criterion}");
    }
    let batch =
        room.run("plot line.csv --view weight --learner batch-perceptron -o -").exits(0).out;
    assert!(batch.contains("batch perceptron"));
    let start = room.run("plot line.csv --view weight --start -3,1 -o -").exits(0).out;
    assert!(start.contains("entered the cone at step 0"), "{start}");
    let one = room.run("plot line.csv --view histogram --direction means -o -").exits(0).out;
    assert!(!one.contains("Fisher"));
}

#[test]
fn a_model_draws_other_rows_with_its_own_columns() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --positive setosa -o m.linsep --drop sepal_length").exits(0);
    room.run("plot examples/iris.csv m.linsep -o p.svg").exits(0).silent();
    assert!(room.read("p.svg").contains(">rest (100)<"));
    room.run("plot examples/iris.csv m.linsep --view confusion -o c.svg").exits(0).silent();
    assert!(room.read("c.svg").contains("0 of 150 wrong"));
    room.run("plot m.linsep --view neuron -o n.svg").exits(0).silent();
    let neuron = room.read("n.svg");
    assert!(neuron.contains(">petal_width<") && !neuron.contains(">sepal_length<"));
    room.run("plot examples/iris.csv m.linsep --view histogram -o h.svg").exits(0).silent();
    let run =
        room.run("plot examples/iris.csv --learner none --axes sepal_length,#2 -o -").exits(0);
    assert!(run.out.contains("150 rows, no model") && run.out.contains(">sepal_width<"));
}

#[test]
fn captions_say_what_the_axes_are() {
    let room = Room::with_examples();
    for (flags, words) in [
        ("--positive setosa", "Across: the signed distance from the boundary"),
        ("--learner lda", "regions and boundaries are exact"),
        (
            "--learner lda --axes sepal_length,sepal_width",
            "Section at the means of the other 2 columns.",
        ),
        ("--learner none", "The discriminant axes of both directions"),
        ("--learner none --axes sepal_length,sepal_width", "2 columns are not shown."),
    ] {
        let svg = room.run(&format!("plot examples/iris.csv {flags} -o -")).exits(0).silent().out;
        assert!(svg.contains(words), "{flags}: no \"{words}\" in\n{svg}");
    }
}

#[test]
fn weight_space_has_a_bias_where_it_needs_one_or_is_told_to() {
    let room = Room::holding("p.csv", "x1,x2,label\n2,1,a\n1,3,a\n-1,2,b\n-2,-1,b\n");
    room.run("generate and -o and.csv").exits(0);
    for (line, words, not) in [
        ("and.csv", "No plane through 0 separates, so planes have a bias", "empty"),
        ("and.csv --learner batch-perceptron", "entered the cone at step", "empty"),
        ("and.csv --bias on", ">Planes have a bias: the section b = −1", "No plane"),
        ("and.csv --bias off", "because there is none", "have a bias"),
        ("p.csv", "Planes have no bias.", "empty"),
        ("p.csv --bias on", ">Planes have a bias: the section b", "empty"),
    ] {
        let svg = room.run(&format!("plot {line} --view weight -o -")).exits(0).silent().out;
        assert!(svg.contains(words) && !svg.contains(not), "{line}: {svg}");
    }
}

#[test]
fn threads_change_no_byte_of_a_picture() {
    let room = Room::with_examples();
    for view in ["pattern", "curves", "confusion"] {
        let line = format!("plot examples/iris.csv --positive setosa --view {view} -o - --threads");
        assert_eq!(room.run(&format!("{line} 1")).out, room.run(&format!("{line} 5")).out);
    }
}

#[test]
fn the_pictures_of_the_documentation_are_those_that_its_commands_draw() {
    let folder = repository().join("docs/pictures");
    let text = std::fs::read_to_string(folder.join("README.md")).expect("the list of pictures");
    let script = text.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let room = Room::with_examples();
    room.shell(&format!("set -e\n{}", script.expect("the commands"))).exits(0);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if name.ends_with(".svg") {
            let kept = std::fs::read_to_string(&path).expect("a picture");
            assert!(kept.len() < 60_000, "{name} is large");
            assert!(kept == room.read(&name), "{name} is not what the command draws");
            assert!(text.contains(&format!("]({name})")), "{name} is not in the list");
            count += 1;
        }
    }
    assert!(count >= 4, "{count} pictures");
}
