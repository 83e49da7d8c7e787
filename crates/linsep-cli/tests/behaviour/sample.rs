//! `sample`: rows that read back, repeat by their seed, and teach the same model again.

use crate::common::Room;

#[test]
fn a_sample_can_be_learned_from_and_gives_about_the_same_answers() {
    let room = Room::with_examples();
    for learner in ["lda", "shared-variance-nb", "bernoulli-nb --binarize 2", "multinomial-nb"] {
        room.run(&format!("train examples/iris.csv --learner {learner} -o m.linsep")).exits(0);
        room.run("sample m.linsep -n 5000 -o s.csv -q").exits(0).silent();
        room.run(&format!("train s.csv --learner {learner} -o again.linsep")).exits(0);
        let error = |model: &str| {
            let line = format!("evaluate {model}.linsep examples/iris.csv --json");
            room.run(&line).exits(0).json()["errors"].as_f64().unwrap()
        };
        let (first, again) = (error("m"), error("again"));
        assert!((first - again).abs() <= 12.0, "{learner}: {first} and {again} of 150");
        // The model that made the rows classifies them about as well as its own data.
        room.run("evaluate m.linsep s.csv").exits(0);
    }
}

#[test]
fn a_seed_gives_the_same_rows_in_every_format() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner lda -o m.linsep").exits(0);
    let run = room.run("sample m.linsep -n 20").exits(0).silent();
    assert_eq!(run.out.lines().count(), 21);
    assert!(
        run.out.starts_with("sepal_length,sepal_width,petal_length,petal_width,species\n"),
        "{}",
        run.out
    );
    assert_eq!(run.out, room.run("sample m.linsep -n 20 --seed 0").exits(0).out);
    assert_ne!(run.out, room.run("sample m.linsep -n 20 --seed 1").exits(0).out);
    let more = room.run("sample m.linsep -n 30").exits(0).out;
    assert!(more.starts_with(&run.out), "a short sample begins a long one");
    room.write("a.csv", &run.out);
    room.run("sample m.linsep -n 20 -o b.svm.gz").exits(0);
    let digest = |file: &str| room.run(&format!("inspect {file} --json")).json()["digest"].clone();
    assert_eq!(digest("a.csv"), digest("b.svm.gz"));
    assert_eq!(room.run("sample m.linsep").exits(0).out.lines().count(), 101);
}

#[test]
fn counts_have_the_length_that_was_asked_for() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner multinomial-nb -o m.linsep").exits(0);
    let run = room.run("sample m.linsep -n 50 --length 7 -q").exits(0).silent();
    for line in run.out.lines().skip(1) {
        let sum: f64 = line.split(',').take(4).map(|x| x.parse::<f64>().unwrap()).sum();
        assert_eq!(sum, 7.0, "{line}");
    }
    let counts = "note: counts in a row: setosa 10, versicolor 14, virginica 17";
    room.run("sample m.linsep -n 5").exits(0).says(&[counts]);
}

#[test]
fn the_density_stands_in_the_model_and_show_counts_its_parameters() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --learner lda -o m.linsep").exits(0);
    let run = room.run("show m.linsep").exits(0);
    assert!(
        run.fact("density").starts_with("normal, 24 parameters behind 15 numbers"),
        "{}",
        run.out
    );
    room.run("train examples/iris.csv --learner fisher -o f.linsep").exits(0);
    assert!(!room.run("show f.linsep").exits(0).out.contains("density"));
    assert!(!String::from_utf8_lossy(&room.bytes("f.linsep")).contains("\"density\""));
    assert!(String::from_utf8_lossy(&room.bytes("m.linsep")).contains("\"density\""));
    let value = room.run("sample m.linsep -n 3 -o s.csv --json").exits(0).json();
    assert_eq!((&value["family"], &value["parameters"]), (&"normal".into(), &24.into()));
}
