//! What the commands that show how things work refuse: gates that make no sense, rows that are not
//! there, models that do not fit, densities that are none.

use super::Room;
use linsep::density::Family;
use linsep::file::ModelFile;

/// The run is refused with this exit code and these texts, prints nothing and leaves nothing behind.
#[track_caller]
fn refused(room: &Room, line: &str, code: i32, says: &[&str]) {
    let before = room.names();
    let run = room.run(line).exits(code).says(says);
    assert_eq!(run.out, "", "{line}");
    assert_eq!(room.names(), before, "{line}");
}

#[test]
fn gates_that_make_no_sense_are_refused() {
    let room = Room::new();
    for (line, says) in [
        ("gate and --inputs 0", "0 inputs has nothing to decide on"),
        ("gate and --inputs 11", "11 inputs are too many"),
        ("gate xor --inputs 99", "99 inputs are too many"),
        ("gate xor --inputs 99999999999999999999", "is no whole number"),
        ("gate xor --inputs -1", "\"-1\" is no whole number"),
        ("gate xor --inputs two", "\"two\" is no whole number"),
        ("gate not --inputs 2", "not has 1 input"),
        ("gate cheese", "\"cheese\" is no gate; the gates are and, or, not"),
        ("gate at-least:x", "\"x\" is no whole number"),
        ("gate at-least:0", "always the same"),
        ("gate at-least:3 --inputs 2", "always the same"),
        ("gate at-least:99", "always the same"),
        ("gate and --table -", "give a file"),
        ("gate and --table t.xls", "does not tell the format"),
    ] {
        refused(&room, line, 2, &["error[E0201]", says]);
    }
    refused(&room, "gate", 2, &["<NAME>"]);
    refused(&room, "gate and --cert nowhere/p.json", 6, &["error[E0601]", "nowhere/p.json"]);
}

#[test]
fn geometry_refuses_what_does_not_fit() {
    let room = Room::with_model();
    room.write("other.csv", "c,d,label\n1,2,x\n");
    room.write("z.csv", "a,b,label\n1,2,z\n");
    room.write("three.csv", "a,label\n1,x\n2,y\n9,z\n8,z\n");
    room.run("train three.csv").exits(0);
    for (line, code, says) in [
        ("geometry two.linsep --distances d.csv", 2, "--distances needs DATA"),
        ("geometry two.linsep --reflected d.csv", 2, "--reflected needs DATA"),
        ("geometry two.linsep --closest 2", 2, "--closest needs DATA"),
        ("geometry two.linsep two.csv --closest 0", 2, "from 1 to 1000"),
        ("geometry two.linsep two.csv --closest 1001", 2, "from 1 to 1000"),
        ("geometry two.linsep two.csv --class x", 2, "that of \"y\""),
        ("geometry three.linsep --class w", 2, "no class \"w\"; its classes are x, y, z"),
        ("geometry three.linsep three.csv --reflected r.csv", 2, "choose one with --class"),
        (
            "geometry two.linsep two.csv --distances o.csv --reflected o.csv",
            2,
            "both write to o.csv",
        ),
        ("geometry two.linsep two.csv --distances o.svm", 2, "end its name in .csv or .tsv"),
        ("geometry two.linsep two.csv --distances -", 2, "give a file"),
        ("geometry two.linsep other.csv --distances o.csv", 3, "error[E0118]"),
        ("geometry two.linsep z.csv --distances o.csv", 3, "error[E0128]"),
        ("geometry two.linsep none.csv", 6, "error[E0601]"),
        ("geometry none.linsep", 6, "error[E0601]"),
        ("geometry two.csv", 4, "error[E0401]"),
        ("geometry two.linsep two.csv --distances nowhere/o.csv", 6, "nowhere/o.csv"),
    ] {
        refused(&room, line, code, &[says]);
    }
}

#[test]
fn explain_refuses_rows_that_are_not_there() {
    let room = Room::with_model();
    room.write("other.csv", "c,d,label\n1,2,x\n");
    room.write("folder/1.csv", "a,b\n1,2\n");
    room.write("folder/2.csv", "a,b\n1,2\n");
    for (line, code, says) in [
        ("explain two.linsep two.csv", 2, "which row?"),
        ("explain two.linsep two.csv --row 6", 2, "no row 6; the data has 6 rows, counted from 0"),
        ("explain two.linsep two.csv --row -1", 2, "\"-1\" is no whole number"),
        ("explain two.linsep two.csv --row 18446744073709551615", 2, "no row 18446744073709551615"),
        ("explain two.linsep two.csv --row x", 2, "\"x\" is no whole number"),
        ("explain two.linsep two.csv --line 0", 2, "lines are counted from 1"),
        ("explain two.linsep two.csv --line 1", 2, "no data row begins in line 1"),
        ("explain two.linsep two.csv --line 8", 2, "no data row begins in line 8"),
        ("explain two.linsep two.csv --row 1 --line 1", 2, "cannot be used with"),
        ("explain two.linsep folder --line 2", 2, "several files have this line"),
        (
            "explain two.linsep two.csv --row 0 --why-not z",
            2,
            "no class \"z\"; its classes are x, y",
        ),
        ("explain two.linsep two.csv --row 0 --why-not x", 2, "the prediction is \"x\""),
        ("explain two.linsep two.csv --row 0 --top x", 2, "--top: "),
        ("explain two.linsep other.csv --row 0", 3, "error[E0118]"),
        ("explain two.csv two.csv --row 0", 4, "error[E0401]"),
    ] {
        refused(&room, line, code, &[says]);
    }
    room.run("explain two.linsep folder --row 1").exits(0);
}

#[test]
fn criterion_refuses_what_does_not_fit() {
    let room = Room::with_model();
    room.write("other.csv", "c,d,label\n1,2,x\n");
    room.write("bare.csv", "a,b\n1,2\n");
    room.write("z.csv", "a,b,label\n1,2,x\n1,2,z\n");
    for (line, code, says) in [
        ("criterion two.linsep other.csv", 3, "error[E0118]"),
        ("criterion two.linsep bare.csv", 3, "error[E01"),
        ("criterion two.linsep z.csv", 3, "error[E0128]: the model has no class \"z\""),
        ("criterion two.csv two.csv", 4, "error[E0401]"),
        ("criterion two.linsep", 2, "<DATA>"),
    ] {
        refused(&room, line, code, &[says]);
    }
    room.run("criterion two.linsep z.csv").says(&["z.csv:3"]);
}

#[test]
fn only_generative_models_can_be_sampled() {
    let room = Room::with_model();
    room.run("train two.csv --learner fisher -o f.linsep").exits(0);
    room.run("train two.csv --learner lda -o l.linsep").exits(0);
    room.run("train two.csv --learner multinomial-nb -o m.linsep").exits(0);
    let discriminative = "a discriminative model does not know how its data came about";
    for (line, code, says) in [
        ("sample two.linsep -o s.csv", 2, discriminative),
        ("sample f.linsep", 2, discriminative),
        ("sample l.linsep -n 0", 2, "0 rows are nothing to draw"),
        ("sample l.linsep -n -5", 2, "\"-5\" is no whole number"),
        ("sample l.linsep -n many", 2, "\"many\" is no whole number"),
        ("sample l.linsep --length 5", 2, "--length is for multinomial-nb"),
        ("sample m.linsep --length 0", 2, "give a length from 1 to"),
        ("sample m.linsep --length 1000001", 2, "give a length from 1 to"),
        ("sample l.linsep --json", 2, "--json needs -o FILE"),
        ("sample l.linsep -o s.xls", 2, "does not tell the format"),
        ("sample l.linsep --format xls", 2, "possible values: csv, tsv, svmlight"),
        ("sample l.linsep -o nowhere/s.csv", 6, "error[E0601]"),
        ("sample two.csv", 4, "error[E0401]"),
    ] {
        refused(&room, line, code, &[says]);
    }
    room.run("sample two.linsep").says(&["perceptron makes", "learners that can: lda"]);
    let mut old = ModelFile::load(&room.path("l.linsep"), None).unwrap();
    old.density = None;
    old.save(&room.path("old.linsep")).unwrap();
    refused(&room, "sample old.linsep", 2, &["written without its density", "train again"]);
}

#[test]
fn a_model_whose_density_is_none_is_refused() {
    let room = Room::with_model();
    room.run("train two.csv --learner lda -o l.linsep").exits(0);
    let load = || ModelFile::load(&room.path("l.linsep"), None).unwrap();
    type Change = fn(&mut Vec<f64>, &mut Vec<Vec<f64>>, &mut Vec<f64>);
    let changes: [(&str, Change); 6] = [
        ("priors", |priors, _, _| priors[0] = 0.9),
        ("no prior", |priors, _, _| priors.clear()),
        ("means", |_, means, _| means[0].truncate(1)),
        ("classes", |_, means, _| means.truncate(1)),
        ("variance", |_, _, covariance| covariance[0] = -1.0),
        ("covariance", |_, _, covariance| covariance[1] = 1e9),
    ];
    for (what, change) in changes {
        let mut file = load();
        let density = file.density.as_mut().unwrap();
        let Family::Normal { means, covariance } = &mut density.family else { panic!("{what}") };
        change(&mut density.priors, means, covariance);
        file.save(&room.path("bad.linsep")).unwrap();
        for line in ["sample bad.linsep", "show bad.linsep", "convert bad.linsep new.linsep"] {
            let run = room.run(line).exits(4).says(&["error[E0404]: bad.linsep: "]);
            assert_eq!(run.out, "", "{what}: {line}");
        }
    }
    // A change behind the checksum's back is found as well.
    room.patch("l.linsep", "bad.linsep", ("{\"priors\":[0.5,", "{\"priors\":[0.4,"));
    refused(&room, "sample bad.linsep", 4, &["error[E0403]"]);
}

#[test]
fn a_sample_that_could_not_be_read_back_is_refused() {
    let room = Room::new();
    room.write("n.csv", "x,y\n1,a b\n2,a b\n5,c\n6,c\n");
    room.run("train n.csv --learner lda -o m.linsep").exits(0);
    let run = room.run("sample m.linsep -o s.svm").exits(2);
    assert!(run.err.contains("svmlight cannot hold the label"), "{}", run.err);
    assert!(!room.exists("s.svm"));
}
