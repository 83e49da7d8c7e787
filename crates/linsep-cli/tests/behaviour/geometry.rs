//! `geometry`: lengths that can be checked by hand, and the files it writes.

use crate::common::Room;
use linsep::file::ModelFile;
use linsep::{Plane, Rule};

/// A folder with `m.linsep`, the plane 3a + 4b - 10 = 0 of the classes x and y, and rows around it.
fn room() -> Room {
    let room = Room::with_model();
    let mut file = ModelFile::load(&room.path("two.linsep"), None).expect("a model");
    file.model.planes = vec![Plane::new(vec![3.0, 4.0], -10.0)];
    file.save(&room.path("m.linsep")).expect("a model file");
    room.write("rows.csv", "a,b,label\n0,0,x\n2,1,y\n4,4.5,y\n2,0,x\n2,2,x\n");
    room
}

#[test]
fn a_plane_has_its_lengths_angles_and_line() {
    let run = room().run("geometry m.linsep").exits(0).silent();
    for words in [
        "3 a + 4 b - 10 = 0",
        "w = (3, 4)",
        "w/|w| = (0.6, 0.8)",
        "|w| = 5",
        "-b/|w| = 2,",
        "a 53.1301, b 36.8699",
        "b = -0.75 a + 2.5",
        "a = (b, w) = (-10, 3, 4)",
        "through the origin of 3 dimensions",
    ] {
        assert!(run.out.contains(words), "{words}\n{}", run.out);
    }
}

#[test]
fn rows_have_distances_sides_and_closest_ones() {
    let value = room().run("geometry m.linsep rows.csv --json").exits(0).silent().json();
    let data = &value["data"];
    assert_eq!((&data["rows"], &data["wrong"]), (&5.into(), &1.into()));
    assert_eq!((&data["on_boundary"], &data["unsure"]), (&1.into(), &1.into()));
    assert!(data["margin"].is_null(), "a row is on the wrong side");
    let [x, y] = [&data["sides"][0], &data["sides"][1]];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    assert_eq!([number(&x["least"]), number(&x["most"])], [-2.0, 0.8]);
    assert!((number(&x["mean"]) - (-2.0 - 0.8 + 0.8) / 3.0).abs() < 1e-15);
    assert_eq!([number(&y["least"]), number(&y["most"])], [0.0, 4.0]);
    assert_eq!((&x["wrong"], &y["wrong"]), (&1.into(), &0.into()), "a score of 0 is positive");
    assert_eq!(x["closest"][0]["line"], 5);
    assert_eq!(y["closest"][0]["line"], 3);
    assert!((number(&y["closest"][0]["angle"]) - 90.0).abs() < 1e-12);
    let run = room().run("geometry m.linsep rows.csv --closest 9").exits(0);
    assert!(run.out.contains("rows.csv:6  class x  distance 0.8"), "{}", run.out);
    assert!(run.out.contains("wrong side"), "{}", run.out);
}

#[test]
fn distances_and_reflected_rows_are_written() {
    let room = room();
    room.run("geometry m.linsep rows.csv --distances d.csv --reflected r.tsv").exits(0);
    let wanted = "row,file,line,label,prediction,score:y,distance\n\
                  0,rows.csv,2,x,x,-10,-2\n1,rows.csv,3,y,y,0,0\n2,rows.csv,4,y,y,20,4\n\
                  3,rows.csv,5,x,x,-4,-0.8\n4,rows.csv,6,x,y,4,0.8\n";
    assert_eq!(room.read("d.csv"), wanted);
    let wanted =
        "label\tx0\ta\tb\nx\t-1\t0\t0\ny\t1\t2\t1\ny\t1\t4\t4.5\nx\t-1\t-2\t0\nx\t-1\t-2\t-2\n";
    assert_eq!(room.read("r.tsv"), wanted);
    // Reflected rows of a separating plane are all on its positive side.
    room.run("geometry two.linsep two.csv --reflected r.csv --distances d.csv").exits(0);
    let plane = ModelFile::load(&room.path("two.linsep"), None).unwrap().model.planes.remove(0);
    for line in room.read("r.csv").lines().skip(1) {
        let z: Vec<f64> = line.split(',').skip(1).map(|x| x.parse().unwrap()).collect();
        let score: f64 = z[1..].iter().zip(&plane.weights).map(|(x, w)| w * x).sum();
        assert!(score + z[0] * plane.bias > 0.0, "{line}");
    }
    let printed = room.run("predict two.linsep two.csv --output scores").exits(0);
    let scores = |text: &str, column: usize| -> Vec<String> {
        text.lines().skip(1).map(|l| l.split(',').nth(column).unwrap().to_owned()).collect()
    };
    assert_eq!(scores(&room.read("d.csv"), 5), scores(&printed.out, 1), "the bits of predict");
}

#[test]
fn classes_meet_in_the_boundaries_of_pairs() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv -o k.linsep").exits(0);
    let value = room.run("geometry k.linsep examples/iris.csv --json").exits(0).json();
    assert_eq!(value["boundaries"].as_array().unwrap().len(), 3);
    let (a, b) = (&value["planes"][0]["bias"], &value["planes"][2]["bias"]);
    let difference = a.as_f64().unwrap() - b.as_f64().unwrap();
    assert_eq!(value["boundaries"][1]["bias"].as_f64().unwrap(), difference);
    let errors = room.run("evaluate k.linsep examples/iris.csv --json").exits(0).json();
    assert_eq!(value["data"]["wrong"], errors["errors"]);
    let one = room.run("geometry k.linsep examples/iris.csv --class setosa --json").exits(0).json();
    assert_eq!(one["planes"].as_array().unwrap().len(), 1);
    assert_eq!(one["boundaries"].as_array().unwrap().len(), 2);
    assert_eq!(one["data"]["sides"][0]["class"], "rest");
    assert_eq!(one["data"]["sides"][0]["rows"], 100);
}

#[test]
fn a_model_without_weights_has_no_plane_and_says_so() {
    let room = room();
    let mut file = ModelFile::load(&room.path("m.linsep"), None).unwrap();
    file.model.planes = vec![Plane::new(vec![0.0, 0.0], -1.0)];
    assert_eq!(file.model.rule, Rule::Sign);
    file.save(&room.path("flat.linsep")).unwrap();
    let run = room.run("geometry flat.linsep rows.csv").exits(0).silent();
    assert!(run.out.contains("none: every weight is 0"), "{}", run.out);
    assert!(run.out.contains("2 on the wrong side"), "{}", run.out);
}
