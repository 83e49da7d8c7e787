//! Discriminant axes: `show --axes`, `predict --output axes` and `plot --view axes`; pictures of intervals.

use crate::common::Room;

#[test]
fn rows_stand_on_the_axes_where_their_means_say() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner lda -o m.linsep").exits(0);
    let shown = room.run("show m.linsep --axes --json").exits(0).json()["axes"].clone();
    assert_eq!(shown["names"], serde_json::json!(["LD1", "LD2"]));
    let shares = &shown["proportion_of_trace"];
    assert!((shares[0].as_f64().unwrap() - 0.991_212_604_965).abs() < 1e-9, "{shares}");
    let out = room.run("predict m.linsep examples/iris.csv --output axes").exits(0).out;
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("prediction,LD1,LD2"));
    // The first fifty rows are setosa, and their mean is that of the class.
    let mean: f64 = lines
        .take(50)
        .map(|line| line.split(',').nth(1).unwrap().parse::<f64>().unwrap())
        .sum::<f64>()
        / 50.0;
    assert!((mean - shown["means"][0][0].as_f64().unwrap()).abs() < 1e-9, "{mean}");
    let one = room.run("predict m.linsep examples/iris.csv --output axes --ndjson").exits(0).out;
    let first: serde_json::Value = serde_json::from_str(one.lines().next().unwrap()).unwrap();
    assert!(first["LD1"].is_f64() && first["LD2"].is_f64(), "{first}");
    // A row that lacks values has no place.
    room.write("gap.csv", "sepal_length,sepal_width,petal_length,petal_width\n5,3,,1\n");
    let line = "train examples/iris.csv --learner lda --missing drop-row -o m.linsep --force";
    room.run(line).exits(0);
    let gap = room.run("predict m.linsep gap.csv --output axes").exits(0).out;
    assert_eq!(gap, "prediction,LD1,LD2\n?,,\n");
}

#[test]
fn the_picture_of_axes_has_the_regions_of_the_model() {
    let room = Room::with_examples();
    room.run("plot examples/iris.csv --view axes -o iris.svg").exits(0);
    let svg = room.read("iris.svg");
    assert!(svg.contains("LD1 (99.1 % of trace)") && svg.contains("3 of 150 rows wrong"), "{svg}");
    // Two classes have one axis, ten classes show two of nine.
    room.run("plot examples/breast_cancer.csv --view axes -o two.svg").exits(0);
    assert!(room.read("two.svg").contains("LD1 (100.0 % of trace)"));
    room.run("train examples/digits.csv --learner lda -o ten.linsep").exits(0);
    room.run("plot examples/digits.csv ten.linsep --view axes -o ten.svg").exits(0);
    let svg = room.read("ten.svg");
    assert!(svg.contains("LD2 (") && !svg.contains("LD3 ("), "nine axes, two are drawn");
}

#[test]
fn models_without_axes_say_why() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner logistic -o l.linsep").exits(0);
    for line in ["show l.linsep --axes", "predict l.linsep examples/iris.csv --output axes"] {
        let run = room.run(line).exits(2);
        assert!(run.err.contains("no discriminant axes; lda has"), "{}", run.err);
    }
    let run = room.run("plot examples/iris.csv --view axes --learner svm -o x.svg").exits(2);
    assert!(run.err.contains("no discriminant axes"), "{}", run.err);
    room.write("points.csv", "a,b,y\n1,0,u\n1,1,u\n2,0,v\n2,1,v\n");
    room.run("train points.csv --learner lda -o p.linsep").exits(0);
    let run = room.run("show p.linsep --axes");
    assert!(run.err.contains("0 in a direction in which means differ"), "{}", run.err);
}

#[test]
fn coefficients_and_scores_are_drawn_with_intervals() {
    let room = Room::with_examples();
    room.write("t.csv", "x,z,y\n1,0,a\n2,0,b\n3,0,a\n4,0,b\n5,1,b\n2.5,1,b\n");
    room.run("infer t.csv --picture t.svg").exits(0);
    let svg = room.read("t.svg");
    assert!(svg.contains("log-odds of b against a") && svg.contains("endless"), "{svg}");
    let run = room.run("infer t.csv --picture t.png --force").exits(2);
    assert!(run.err.contains("pictures are SVG"), "{}", run.err);
    let line = "train examples/iris.csv --learner logistic --tune c=0.1|1|10 --cv 3 --tune-picture tune.svg -o m.linsep";
    room.run(line).exits(0);
    let svg = room.read("tune.svg");
    assert!(svg.contains("chosen") && svg.matches("<circle").count() == 3, "{svg}");
    room.run("train examples/iris.csv --tune-picture t2.svg").exits(2);
}

#[test]
fn what_is_wrong_with_counts_and_offsets_has_its_line() {
    let room = Room::new();
    room.write("c.csv", "dose,died,alive\n1,1,2\n2,1,-2\n");
    let run = room.run("infer c.csv --success died --failure alive").exits(3);
    assert!(
        run.err.contains("alive is no count here") && run.err.contains("c.csv:3"),
        "{}",
        run.err
    );
    room.write("z.csv", "dose,died,alive\n1,0,0\n2,0,0\n");
    let run = room.run("infer z.csv --success died --failure alive").exits(3);
    assert!(
        run.err.contains("all counts of failures are 0") && run.err.contains("z.csv"),
        "{}",
        run.err
    );
    room.write("o.csv", "kind,x,y\nu,1,a\nv,2,b\nu,3,b\nv,4,a\n");
    let run = room.run("infer o.csv --offset nosuch").exits(3);
    assert!(run.err.contains("no column \"nosuch\"") && run.err.contains("o.csv"), "{}", run.err);
}
