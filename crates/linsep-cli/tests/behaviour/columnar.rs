//! Parquet and Arrow in every command: the same answers as from CSV.

use crate::common::{Room, repository};

/// A folder with the irises in four forms.
fn irises() -> Room {
    let room = Room::with_examples();
    for form in ["iris.parquet", "iris.arrow", "iris.svm"] {
        room.run(&format!("convert examples/iris.csv {form}")).exits(0);
    }
    room
}

#[test]
fn every_form_has_one_digest_and_one_model() {
    let room = irises();
    let digest =
        |name: &str| room.run(&format!("inspect {name} --json")).exits(0).json()["digest"].clone();
    let planes = |name: &str, threads: u32| {
        let line = format!(
            "train {name} --seed 3 --epochs 30 --threads {threads} --json -o m.linsep --force"
        );
        let run = room.run(&line);
        assert!(run.code == 0 || run.code == 5, "{}", run.err);
        room.run("show m.linsep --json").exits(0).json()["planes"].clone()
    };
    for form in ["iris.parquet", "iris.arrow"] {
        assert_eq!(digest(form), digest("examples/iris.csv"));
        for threads in [1, 2] {
            assert_eq!(planes(form, threads), planes("examples/iris.csv", 1));
        }
    }
    room.run("convert iris.parquet back.csv").exits(0);
    assert_eq!(digest("back.csv"), digest("iris.parquet"));
}

#[test]
fn what_is_proved_from_one_form_holds_for_the_others() {
    let room = irises();
    let forms = ["examples/iris.csv", "iris.parquet", "iris.arrow"];
    for (k, from) in forms.iter().enumerate() {
        room.run(&format!("separable {from} --positive setosa --cert c{k}.json"));
        assert!(room.exists(&format!("c{k}.json")));
        room.run(&format!("train {from} --learner logistic -o m{k}.linsep")).exits(0);
        for to in forms {
            room.run(&format!("verify c{k}.json {to}")).exits(0);
            room.run(&format!("verify m{k}.linsep {to}")).exits(0);
            room.run(&format!("evaluate m{k}.linsep {to}")).exits(0);
        }
    }
}

#[test]
fn predictions_keep_the_columns() {
    let room = irises();
    room.run("train examples/iris.csv --learner logistic -o m.linsep").exits(0);
    for flags in ["", "--output all", "--keep-columns"] {
        let predict =
            |name: &str| room.run(&format!("predict m.linsep {name} {flags}")).exits(0).out;
        let wanted = predict("examples/iris.csv");
        assert_eq!(wanted.lines().count(), 151);
        for form in ["iris.parquet", "iris.arrow"] {
            let found = predict(form);
            let last = |text: &str| -> Vec<String> {
                text.lines().map(|line| line.rsplit(',').next().unwrap_or("").to_owned()).collect()
            };
            assert_eq!(last(&found), last(&wanted), "{form} {flags}");
            let fields = |text: &str| text.lines().map(|line| line.split(',').count()).max();
            assert_eq!(fields(&found), fields(&wanted), "{form} {flags}");
        }
    }
}

#[test]
fn the_other_commands_take_them() {
    let room = irises();
    for command in [
        "compare DATA --learners logistic,lda --cv 3 --seed 1 --no-time",
        "separable DATA --positive setosa",
        "criterion m.linsep DATA",
    ] {
        room.run("train iris.parquet --learner logistic -o m.linsep --force").exits(0);
        let answer = |name: &str| {
            let run = room.run(&command.replace("DATA", name));
            let out = run.out.replace("examples/", "").replace("iris.parquet", "iris.csv");
            (run.code, out)
        };
        let (found, wanted) = (answer("iris.parquet"), answer("examples/iris.csv"));
        assert!(wanted.0 < 2 && !wanted.1.is_empty(), "{command}: {wanted:?}");
        // The reading is the only thing that may differ.
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.contains("reading"));
            // Names of other lengths move the columns.
            lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        assert_eq!((found.0, lines(&found.1)), (wanted.0, lines(&wanted.1)), "{command}");
    }
    room.run("generate blobs -n 500 --seed 2 -o blobs.parquet").exits(0);
    room.run("generate blobs -n 500 --seed 2 -o blobs.csv").exits(0);
    let digest =
        |name: &str| room.run(&format!("inspect {name} --json")).exits(0).json()["digest"].clone();
    assert_eq!(digest("blobs.parquet"), digest("blobs.csv"));
    let run = room.run_on(room.bytes("blobs.parquet"), "inspect - --json").exits(0);
    assert_eq!(run.json()["digest"], digest("blobs.csv"));
}

#[test]
fn damage_is_an_error_with_its_place() {
    let room = irises();
    let bytes = room.bytes("iris.parquet");
    room.write("cut.parquet", &bytes[..bytes.len() - 1]);
    room.run("inspect cut.parquet").exits(3).says(&[
        "error[E0137]",
        "the file ends early",
        "cut.parquet",
    ]);
    let mut changed = bytes.clone();
    changed[30..90].fill(0xff);
    room.write("bad.parquet", &changed);
    room.run("train bad.parquet").exits(3).says(&["error[E0137]", "row group 0", "bad.parquet"]);
    // Every byte of a small file changed: an answer or an error, and no fault inside.
    room.write("t.csv", "a,b,label\n1,0.5,x\n2,4,y\n3,5,x\n");
    room.run("convert t.csv t.parquet").exits(0);
    let bytes = room.bytes("t.parquet");
    for at in (0..bytes.len()).step_by(23) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        room.write("changed.parquet", &changed);
        let run = room.run("inspect changed.parquet");
        assert!(run.code == 0 || run.code == 3, "byte {at}: {}", run.err);
    }
}

#[test]
fn files_of_other_programs_are_read() {
    let room = Room::new();
    let folder = repository().join("testdata/columnar");
    let digest = |name: &str| {
        let line = folder.join(name).display().to_string();
        room.run_args(&["inspect", &line, "--json"]).exits(0).json()["digest"].clone()
    };
    for name in ["table-pandas.parquet", "table-polars.arrow", "table-stream.arrows"] {
        assert_eq!(digest(name), digest("table.csv"), "{name}");
    }
}
