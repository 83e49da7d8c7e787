//! `criterion`: values by hand, weights, classes of the model only.

use crate::common::Room;
use linsep::Plane;
use linsep::file::ModelFile;

#[test]
fn every_criterion_has_the_value_that_can_be_worked_out_by_hand() {
    let room = Room::with_model();
    let mut file = ModelFile::load(&room.path("two.linsep"), None).expect("a model");
    file.model.planes = vec![Plane::new(vec![3.0, 4.0], -10.0)];
    file.save(&room.path("m.linsep")).expect("a model file");
    // Margins 10, 0, 20, -4: the second is on the plane, which counts as a mistake.
    room.write("rows.csv", "a,b,label\n0,0,x\n2,1,y\n4,4.5,y\n2,2,x\n");
    let value = room.run("criterion m.linsep rows.csv --json").exits(0).silent().json();
    let at = |name: &str| value["planes"][0]["criteria"][name]["value"].as_f64().unwrap();
    assert_eq!(at("jn"), 2.0);
    assert_eq!(at("jp"), 4.0);
    assert_eq!(at("jd"), 0.8);
    assert_eq!(at("mse"), 81.0 + 1.0 + 361.0 + 25.0);
    assert_eq!(at("hinge"), 1.0 + 5.0);
    assert_eq!(at("squared-hinge"), 1.0 + 25.0);
    let logistic: f64 = [10f64, 0.0, 20.0, -4.0].iter().map(|m| (1.0 + (-m).exp()).ln()).sum();
    assert!((at("logistic") - logistic).abs() < 1e-12);
    assert_eq!(value["cards"]["jd"]["convex"], false);
    assert_eq!(value["cards"]["jp"]["convex"], true);
    assert_eq!(value["cards"]["jn"]["scale_invariant"], true);
    assert!(value["joint"].is_null(), "there is one plane");
    let run = room.run("criterion m.linsep rows.csv").exits(0).silent();
    assert!(run.fact("jp").starts_with('4'), "{}", run.out);
}

#[test]
fn rows_count_by_the_weights_that_the_model_was_trained_with() {
    let room = Room::holding("w.csv", "a,w,label\n1,2,x\n2,1,x\n4,1,y\n5,3,y\n");
    room.run("train w.csv --weight w").exits(0);
    room.write("again.csv", "a,w,label\n1,1,x\n1,1,x\n2,1,x\n4,1,y\n5,1,y\n5,1,y\n5,1,y\n");
    let once = room.run("criterion w.linsep w.csv --json").exits(0).json();
    let again = room.run("criterion w.linsep again.csv --json").exits(0).json();
    assert_eq!((&once["weight"], &once["rows"]), (&again["weight"], &4.into()));
    let value = |value: &serde_json::Value, name: &str| {
        value["planes"][0]["criteria"][name]["value"].as_f64().unwrap()
    };
    for name in ["jn", "mse", "hinge", "logistic"] {
        let (a, b) = (value(&once, name), value(&again, name));
        assert!((a - b).abs() <= 1e-12 * a.abs(), "{name}: {a} {b}");
    }
}

#[test]
fn planes_where_the_highest_score_wins_are_judged_together_too() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv -o k.linsep").exits(0);
    let value = room.run("criterion k.linsep examples/iris.csv --json").exits(0).json();
    assert_eq!(value["planes"].as_array().unwrap().len(), 3);
    let errors = room.run("evaluate k.linsep examples/iris.csv --json").exits(0).json();
    assert_eq!(value["joint"]["jn"].as_f64(), errors["errors"].as_f64());
    assert!(value["joint"]["jd"].is_null());
    let one = room.run("criterion k.linsep examples/iris.csv --threads 1 --json").exits(0);
    let many = room.run("criterion k.linsep examples/iris.csv --threads 7 --json").exits(0);
    assert_eq!(one.out, many.out);
}

#[test]
fn values_that_are_on_or_off_are_judged_as_such() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner bernoulli-nb --binarize 2 -o b.linsep").exits(0);
    let value = room.run("criterion b.linsep examples/iris.csv --json").exits(0).json();
    let errors = room.run("evaluate b.linsep examples/iris.csv --json").exits(0).json();
    // A tie counts as a mistake here and may be right by the rule, so there are at least as many.
    assert!(value["joint"]["jn"].as_f64().unwrap() >= errors["errors"].as_f64().unwrap());
    let loss = errors["log_loss"].as_f64();
    if let Some(loss) = loss {
        assert!((value["joint"]["logistic"].as_f64().unwrap() - 150.0 * loss).abs() < 1e-6);
    }
}
