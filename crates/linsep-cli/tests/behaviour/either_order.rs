//! A model and its data in either order, and models of other programs where one of linsep is expected.

use crate::common::{Room, TWO};

#[test]
fn a_model_and_its_data_may_come_in_either_order() {
    let room = Room::with_model();
    room.run("separable two.csv --cert two.json").exits(0);
    for (first, second) in [
        ("predict two.linsep two.csv", "predict two.csv two.linsep"),
        ("evaluate two.linsep two.csv", "evaluate two.csv two.linsep"),
        ("verify two.linsep two.csv", "verify two.csv two.linsep"),
        ("verify two.json two.csv", "verify two.csv two.json"),
        ("criterion two.linsep two.csv", "criterion two.csv two.linsep"),
        ("geometry two.linsep two.csv", "geometry two.csv two.linsep"),
        ("explain two.linsep two.csv --row 1", "explain two.csv two.linsep --row 1"),
        ("plot two.csv two.linsep -o -", "plot two.linsep two.csv -o -"),
        ("predict two.linsep two.csv two.csv", "predict two.csv two.csv two.linsep"),
    ] {
        let wanted = room.run(first).exits(0);
        let run = room.run(second).exits(0);
        assert_eq!((run.out, run.err), (wanted.out, wanted.err), "{second}");
    }
    let run = room.run_on(TWO, "predict - two.linsep").exits(0);
    assert_eq!(run.out, room.run("predict two.linsep two.csv").exits(0).out);
    // Two tables or a model that is not there are what they were.
    room.run("predict two.csv two.csv").exits(4);
    room.run("predict none.linsep two.csv").exits(6);
    // No output takes the place of an input, wherever that stands.
    room.run("predict two.csv two.linsep -o two.csv").exits(2);
}

const LIBLINEAR: &str =
    "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-2 \n0.25 \n";

#[test]
fn a_model_of_liblinear_is_used_as_any_other() {
    let room = Room::holding("m.model", LIBLINEAR);
    room.write("d.svm", "+1 1:4 2:1\n-1 1:1 2:3\n+1 2:1\n-1 1:1\n");
    assert_eq!(room.run("predict m.model d.svm").exits(0).out, "prediction\n1\n-1\n-1\n1\n");
    let run = room.run("predict d.svm m.model --output proba").exits(0);
    assert_eq!(run.out.lines().next(), Some("prediction,proba:-1,proba:1"));
    // +1 of the data is 1 of the model.
    let found = room.run("evaluate m.model d.svm --json").exits(0).json();
    assert_eq!((&found["rows"], &found["errors"]), (&4.into(), &2.into()));
    let run = room.run("show m.model").exits(0);
    assert!(run.fact("file").starts_with("LIBLINEAR L2R_LR"), "{}", run.out);
    assert!(run.out.contains("(bias)  0.25\n"), "{}", run.out);
    let shown = room.run("show m.model --json").exits(0).json();
    assert_eq!(shown["planes"][0]["weights"], serde_json::json!([0.5, -2.0]));
    assert_eq!(shown["classes"], serde_json::json!(["-1", "1"]));
    room.write("w.json", r#"{"weights": [0.5, -2], "bias": 0.25, "classes": ["-1", "1"]}"#);
    let wanted = room.run("predict m.model d.svm").exits(0).out;
    assert_eq!(room.run("predict w.json d.svm").exits(0).out, wanted);
    // A file that is cut short is refused as ever.
    room.write("cut.model", &LIBLINEAR[..LIBLINEAR.len() - 8]);
    room.run("predict cut.model d.svm").exits(4).says(&["error[E0"]);
    room.run("evaluate m.model d.svm --fail-under accuracy=0.9").exits(1);
    room.write("bad.svm", "2 1:1\n");
    room.run("evaluate m.model bad.svm").exits(3).says(&["no class \"2\""]);
}
