//! `train --stop RULE`: the stop rules of the lectures, each with its own end.

use crate::common::{Room, Run};

/// Two rows of one class and one of the other on a line. In the order of the file the perceptron of the
/// lectures makes its last mistake within an epoch.
const THREE: &str = "x,label\n1,a\n2,b\n-1,a\n";

fn run(room: &Room, flags: &str) -> Run {
    let run = room.run(&format!(
        "train f.csv --verdict off --order cyclic --scale none {flags} --json -o m.linsep"
    ));
    run.exits(0)
}

fn visits(room: &Room) -> u64 {
    let file = linsep::file::ModelFile::load(&room.path("m.linsep"), None).expect("a model");
    file.run.expect("a run").visits
}

/// The clean window ends in the middle of an epoch, the clean epoch at the end of it, the empty error set
/// an epoch before; all with the same planes.
#[test]
fn the_rules_end_the_same_run_at_different_steps() {
    let room = Room::holding("f.csv", THREE);
    let ends = ["clean-epoch", "empty", "clean-window"].map(|rule| {
        let result = run(&room, &format!("--stop {rule}")).json();
        assert_eq!(result["stop"], "finished", "{rule}");
        assert_eq!(result["certificate"]["claim"], "separable", "{rule}");
        let planes = room.run("show m.linsep --json").exits(0).json()["planes"].clone();
        (visits(&room), result["updates"].clone(), planes)
    });
    let [(clean, updates, planes), (empty, ..), (window, ..)] = ends.clone();
    for (_, other_updates, other_planes) in &ends {
        assert_eq!((other_updates, other_planes), (&updates, &planes));
    }
    assert_eq!(clean % 3, 0, "a whole number of epochs");
    assert_eq!(empty, clean - 3, "a look at all rows saves the epoch that only confirms");
    assert!(window < clean && window % 3 != 0, "{window} is within the epoch that ends at {clean}");
}

/// By hand: every visit of the run above, and the presentations since the last mistake.
#[test]
fn a_clean_window_ends_after_as_many_presentations_as_there_are_rows() {
    let rows = [(1.0, -1.0), (2.0, 1.0), (-1.0, -1.0)];
    let (mut w, mut b, mut unbroken, mut visits) = (0.0f64, 0.0f64, 0, 0u64);
    while unbroken < 3 {
        let (x, y) = rows[visits as usize % 3];
        visits += 1;
        if y * (w * x + b) <= 0.0 {
            (w, b, unbroken) = (w + y * x, b + y, 0);
        } else {
            unbroken += 1;
        }
    }
    let room = Room::holding("f.csv", THREE);
    run(&room, "--stop clean-window");
    assert_eq!(self::visits(&room), visits);
    let plane = room.run("show m.linsep --json").exits(0).json()["planes"][0].clone();
    assert_eq!((plane["weights"][0].as_f64(), plane["bias"].as_f64()), (Some(w), Some(b)));
}

#[test]
fn the_report_names_the_rule() {
    let room = Room::holding("f.csv", THREE);
    for (rule, words) in [
        ("empty", "the error set is empty ("),
        ("clean-window", "no mistake in as many presentations as there are rows ("),
        ("below:0.5", "the criterion is below 0.5 ("),
        ("clean-epoch", "a pass without mistakes ("),
        ("limit", "the default limit on epochs, the stop rule was not met (100 epochs"),
    ] {
        for verdict in ["on", "off"] {
            let run = room.run(&format!("train f.csv --verdict {verdict} --stop {rule}")).exits(0);
            let found = run.fact("stopped");
            // The verdict may find a plane first, or instead.
            let by_verdict =
                verdict == "on" && found.starts_with("the exact search found a separating plane");
            assert!(found.starts_with(words) || by_verdict, "{rule}: {found}");
        }
    }
}

/// The criterion may be small while a row is wrong: the run ends, and nothing is proved.
#[test]
fn a_criterion_below_its_bound_proves_nothing_by_itself() {
    let room = Room::new();
    room.run("generate xor -o f.csv").exits(0);
    for (learner, below) in [
        ("perceptron", "5"),
        ("margin-perceptron", "20"),
        ("relaxation", "20"),
        ("passive-aggressive", "20"),
    ] {
        let learner = match learner {
            "perceptron" => "perceptron --verdict off",
            other => other,
        };
        let line =
            format!("train f.csv --learner {learner} --stop below:{below} --json -o m.linsep");
        let result = room.run(&line).exits(0).json();
        assert_eq!(
            (&result["stop"], &result["epochs"]),
            (&"finished".into(), &1.into()),
            "{learner}"
        );
        assert_eq!(result["certificate"]["claim"], "unproved", "{learner}");
        assert_eq!(result["remarks"]["stop"]["rule"], format!("below:{below}"), "{learner}");
    }
    // A bound that is never met.
    let line = "train f.csv --learner margin-perceptron --stop below:0.5 --json";
    assert_eq!(room.run(line).exits(0).json()["stop"], "epoch-limit");
}

#[test]
fn only_limits_end_a_run_without_a_rule_and_what_it_found_is_checked_all_the_same() {
    let room = Room::holding("f.csv", THREE);
    let line = "train f.csv --verdict off --scale none --stop limit --epochs 30 --json";
    let result = room.run(line).exits(5).json();
    assert_eq!((&result["stop"], &result["epochs"]), (&"epoch-limit".into(), &30.into()));
    assert_eq!(result["certificate"]["claim"], "separable");
    let result = run(&room, "--stop limit").json();
    assert_eq!(result["epochs"], 100);
}
