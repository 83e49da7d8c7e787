//! A trace changes no bit of a run, and a replay rebuilds every weight vector of it to the last bit.

use crate::support::{Table, Variant, bits, epochs, table, tables, variants_of};
use linsep::learn::perceptron::{Order, Perceptron};
use linsep::loss::Criterion;
use linsep::recipe::{Recipe, Settings};
use linsep::{Budget, Code, Error, Fit, Learner, Limits, Plane, Status, Stop, Task};
use linsep_teach::trace::{Header, Line, Replay, Summary, Tracer, margin_of_run};
use std::path::Path;
use std::sync::Arc;

/// A learner by name with some settings.
fn learner(name: &str, settings: &[(&str, &str)]) -> Box<dyn Learner> {
    let mut all = Settings::default();
    all.seed = 3;
    settings.iter().for_each(|(name, value)| all.set(name, value));
    Recipe::find(name).unwrap().build(&all).unwrap()
}

fn traced(learner: &dyn Learner, task: &Task, limits: &Limits) -> (Fit, Summary, Vec<u8>) {
    traced_with(learner, task, limits, false)
}

fn traced_with(
    learner: &dyn Learner,
    task: &Task,
    limits: &Limits,
    with_gamma: bool,
) -> (Fit, Summary, Vec<u8>) {
    let mut file = Vec::new();
    let mut nobody = ();
    let mut tracer = Tracer::new(&task.data, "learner", &mut file, &mut nobody);
    if with_gamma {
        tracer.gamma = Box::new(|start| margin_of_run(&task.data, start, false, 1, &|| false));
    }
    let fit = learner.fit(task, limits, &mut tracer).unwrap();
    let summary = tracer.finish().unwrap();
    (fit, summary, file)
}

fn replay<'a>(file: &'a [u8], task: &Task) -> Replay<&'a [u8]> {
    let mut replay = Replay::open(Path::new("t.ndjson"), file, None).unwrap();
    replay.on(Arc::clone(&task.data), 1).unwrap();
    replay
}

fn plane_bits(planes: &[Plane]) -> Vec<u64> {
    planes.iter().flat_map(|p| p.weights.iter().chain([&p.bias])).map(|x| x.to_bits()).collect()
}

/// The header and the updates; the last line has to name the last update.
fn lines(file: &[u8]) -> (Header, Vec<Line>) {
    let text = String::from_utf8(file.to_vec()).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut rest: Vec<&str> = rest.lines().collect();
    let end = rest.pop().unwrap();
    let lines: Vec<Line> = rest.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(end, format!("{{\"updates\":{}}}", lines.last().map_or(0, |line| line.k)));
    (serde_json::from_str(first).unwrap(), lines)
}

/// Every learner that visits rows, with the settings that decide how it moves, two or three at a time.
fn movers() -> Vec<Variant> {
    let groups: [&[&str]; 4] = [
        &["scale", "class-weight"],
        &["order", "multiclass"],
        &["init"],
        &["criterion", "rule", "normalised"],
    ];
    let mut seen = std::collections::HashSet::new();
    let all = groups.into_iter().flat_map(variants_of).filter(Variant::is_online);
    all.filter(|variant| seen.insert(variant.words())).collect()
}

/// Whether the model is the planes in motion, and not an average, a pocket or a verdict.
fn shows_its_planes(variant: &Variant) -> bool {
    !["averaged", "pocket", "voted"].contains(&variant.recipe.name)
        && variant.is("verdict", &["off"])
}

#[test]
fn a_trace_changes_no_bit_of_a_run() {
    for table in tables() {
        let task = table.task();
        for variant in movers() {
            let words = format!("{}, {}", table.name, variant.words());
            let learner = variant.learner();
            if linsep_teach::trace::traceable(learner.start(&task).unwrap().as_ref()).is_err() {
                continue;
            }
            let plain = learner.fit(&task, &epochs(4), &mut ()).unwrap();
            let (fit, summary, file) = traced(learner.as_ref(), &task, &epochs(4));
            assert_eq!(bits(&fit.model), bits(&plain.model), "{words}");
            assert_eq!((fit.stop, fit.progress), (plain.stop, plain.progress), "{words}");
            let mut replay = replay(&file, &task);
            let mut made = 0;
            while replay.next_step(true).unwrap_or_else(|e| panic!("{words}: {e}")).is_some() {
                made += 1;
            }
            assert_eq!((made, replay.k()), (summary.updates, summary.updates), "{words}");
            assert!(summary.updates >= plain.progress.updates, "{words}");
            if shows_its_planes(&variant) {
                assert_eq!(bits(&replay.model()), bits(&plain.model), "{words}");
            }
        }
    }
}

/// The planes after every update of a run that goes on visit by visit.
fn every_plane(learner: &dyn Learner, task: &Task, visits: u64) -> Vec<Vec<u64>> {
    let mut run = learner.start(task).unwrap();
    let mut all: Vec<Vec<u64>> = Vec::new();
    let mut updates = 0;
    for _ in 0..visits {
        let status = run.advance(Budget::visits(1));
        if run.progress().updates > updates {
            updates = run.progress().updates;
            all.push(bits(&run.model()));
        }
        if status != Status::Running {
            break;
        }
    }
    all
}

#[test]
fn every_weight_vector_is_rebuilt_to_the_last_bit() {
    let mut several: Vec<Table> = tables();
    several.push(table("whole numbers apart", (30, 3, 2), 0.0, |s| s.below(11) as f64 - 5.0));
    // More rows than a block of the batch engine has.
    several.push(table("two blocks", (5000, 2, 2), 0.1, |s| s.normal()));
    let learners: &[(&str, &[(&str, &str)])] = &[
        ("perceptron", &[("verdict", "off")]),
        ("perceptron", &[("verdict", "off"), ("eta", "1/k"), ("init", "random")]),
        ("batch-perceptron", &[("eta", "0.3")]),
        ("margin-perceptron", &[("b", "0.5")]),
        ("relaxation", &[("rho", "1.7")]),
        ("passive-aggressive", &[("rule", "pa2"), ("c", "0.7")]),
        ("adaline", &[]),
    ];
    for table in &several {
        let task = table.task();
        for (name, settings) in learners {
            for scale in ["none", "pow2", "standard", "maxabs", "unit"] {
                if *name == "batch-perceptron" && ["standard", "unit"].contains(&scale) {
                    continue;
                }
                let settings: Vec<(&str, &str)> =
                    settings.iter().copied().chain([("scale", scale)]).collect();
                let words = format!("{}, {name} {settings:?}", table.name);
                let learner = learner(name, &settings);
                let (_, _, file) = traced(learner.as_ref(), &task, &epochs(3));
                // One-versus-rest moves several planes at a visit: only the end is the same.
                if task.data.n_classes() > 2 && ["adaline", "batch-perceptron"].contains(name) {
                    continue;
                }
                let visits = 3 * learner.start(&task).unwrap().epoch_rows();
                let expected = every_plane(learner.as_ref(), &task, visits);
                let mut replay = replay(&file, &task);
                let mut found = Vec::new();
                while replay.next_step(false).unwrap().is_some() {
                    found.push(plane_bits(&replay.planes()));
                }
                assert_eq!(found.len(), expected.len(), "{words}");
                assert!(found == expected, "{words}");
            }
        }
    }
}

#[test]
fn a_part_of_the_rows_and_of_the_weights_is_replayed_too() {
    for table in tables() {
        let data = Arc::new(table.data());
        let rows: Vec<u32> = (0..data.n_rows() as u32).filter(|row| row % 3 != 1).collect();
        let task = Task::new(Arc::clone(&data)).with_rows(Some(rows.into()));
        for name in ["perceptron", "batch-perceptron", "relaxation"] {
            let learner = learner(name, &[]);
            let (_, summary, file) = traced(learner.as_ref(), &task, &epochs(3));
            let mut replay = replay(&file, &task);
            while let Some(step) = replay.next_step(true).unwrap() {
                assert!(step.line.row.is_none_or(|row| row % 3 != 1));
            }
            assert_eq!(replay.k(), summary.updates);
        }
    }
}

/// AND in the order of the table, from 0, with η = 1: checked by hand.
#[test]
fn the_measures_are_those_of_a_hand_calculation() {
    let rows = [[0., 0.], [0., 1.], [1., 0.], [1., 1.]];
    let and = linsep::Dataset::from_rows(&rows, &["0", "0", "0", "1"]).unwrap();
    let task = Task::new(and);
    let learner =
        learner("perceptron", &[("verdict", "off"), ("order", "cyclic"), ("scale", "none")]);
    let (fit, summary, file) = traced_with(learner.as_ref(), &task, &Limits::default(), true);
    assert_eq!((fit.stop, fit.progress.updates), (Stop::Finished, 18));
    let (header, lines) = lines(&file);
    assert_eq!((header.rows, header.features, header.r2), (4, 2, 3.0));
    let gamma = header.gamma.unwrap();
    let exact = 1.0 / 17f64.sqrt();
    assert!(gamma.lower <= exact && exact <= gamma.upper && gamma.upper - gamma.lower < 1e-15);
    assert!((summary.bound.unwrap() - 51.0).abs() < 1e-9);
    // The first: (0, 0) of class 0 at w = 0.
    let first = &lines[0];
    assert_eq!((first.k, first.epoch, first.row, first.step), (1, 1, Some(0), -1.0));
    assert_eq!((first.margin_before, first.margin_after), (Some(0.0), Some(1.0)));
    assert_eq!((first.angle_before, first.angle_after), (None, Some(0.0)));
    assert_eq!((first.norm, first.mistakes), (Some(1.0), 1));
    assert_eq!(first.bound_upper, Some(3f64.sqrt()));
    assert_eq!(first.bound_lower, Some(gamma.lower));
    // The second: (1, 1) of class 1 at (b, w) = (-1, 0, 0): -1, then 2; (-1, 0, 0) + (1, 1, 1).
    let second = &lines[1];
    assert_eq!((second.k, second.epoch, second.row, second.step), (2, 1, Some(3), 1.0));
    assert_eq!((second.margin_before, second.margin_after), (Some(-1.0), Some(2.0)));
    assert_eq!(second.norm, Some(2f64.sqrt()));
    assert!((second.angle_before.unwrap() - (-1.0 / 3f64.sqrt()).acos()).abs() < 1e-12);
    assert!((second.angle_after.unwrap() - (2.0 / 6f64.sqrt()).acos()).abs() < 1e-12);
    assert_eq!(second.bound_upper, Some(6f64.sqrt()));
}

/// Both curves of the convergence proof, at every update and for every learner that has them.
#[test]
fn the_length_stays_between_the_two_curves() {
    let (mut with_lower, mut all) = (0, 0);
    for table in tables() {
        let task = table.task();
        for variant in movers() {
            let learner = variant.learner();
            if linsep_teach::trace::traceable(learner.start(&task).unwrap().as_ref()).is_err() {
                continue;
            }
            let (_, _, file) = traced_with(learner.as_ref(), &task, &epochs(3), true);
            for line in lines(&file).1 {
                let (Some(norm), Some(upper)) = (line.norm, line.bound_upper) else { continue };
                let room = 1e-9 * (1.0 + norm);
                assert!(norm <= upper + room, "{norm} {upper}: {}", variant.words());
                all += 1;
                if let Some(lower) = line.bound_lower {
                    assert!(norm >= lower - room, "{norm} {lower}: {}", variant.words());
                    with_lower += 1;
                }
            }
        }
    }
    assert!(all > 1000 && with_lower > 200, "{all} {with_lower}");
}

#[test]
fn corrections_stay_below_the_bound_that_the_trace_predicts() {
    let mut seen = 0;
    for (seed, table) in [
        table("a", (30, 2, 2), 0.0, |s| s.below(11) as f64 - 5.0),
        table("b", (25, 3, 2), 0.0, |s| s.normal()),
        table("c", (40, 2, 2), 0.0, |s| s.below(7) as f64),
    ]
    .iter()
    .enumerate()
    {
        for scale in ["none", "pow2", "maxabs"] {
            let task = table.task();
            let settings = [("verdict", "off"), ("scale", scale)];
            let limits = Limits::default().with_epochs(Some(20_000));
            let (fit, summary, _) =
                traced_with(learner("perceptron", &settings).as_ref(), &task, &limits, true);
            if let Some(bound) = summary.bound {
                assert!(fit.progress.updates as f64 <= bound, "{seed} {scale}");
                seen += 1;
            }
        }
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn criteria_are_those_of_their_definitions() {
    let task = tables()[1].task();
    let mut file = Vec::new();
    let mut nobody = ();
    let mut tracer = Tracer::new(&task.data, "perceptron", &mut file, &mut nobody);
    tracer.criteria = vec![Criterion::Mistakes, Criterion::Perceptron, Criterion::Distance];
    let learner = learner("perceptron", &[("verdict", "off"), ("scale", "none")]);
    learner.fit(&task, &epochs(3), &mut tracer).unwrap();
    tracer.finish().unwrap();
    let mut replay = replay(&file, &task);
    while let Some(step) = replay.next_step(true).unwrap() {
        let plane = replay.planes().remove(0);
        let (mut wrong, mut sum, mut square) = (0.0, 0.0, plane.bias * plane.bias);
        plane.weights.iter().for_each(|w| square += w * w);
        for row in 0..task.data.n_rows() {
            let y = if task.data.class_of(row) == 1 { 1.0 } else { -1.0 };
            let x = task.data.row(row);
            let score: f64 = x.iter().zip(&plane.weights).map(|(x, w)| x * w).sum();
            let m = y * (score + plane.bias);
            wrong += f64::from(u8::from(m <= 0.0));
            sum += (-m).max(0.0);
        }
        let criteria = step.line.criteria.unwrap();
        assert_eq!(criteria["jn"], Some(wrong));
        assert!((criteria["jp"].unwrap() - sum).abs() < 1e-9);
        let distance = if square > 0.0 { sum / square.sqrt() } else { sum };
        assert!((criteria["jd"].unwrap() - distance).abs() < 1e-9);
    }
}

#[test]
fn a_run_that_was_going_on_is_traced_from_where_it_stands() {
    let task = tables()[0].task();
    let perceptron = Perceptron::default();
    let mut run = perceptron.start(&task).unwrap();
    run.advance(Budget::visits(70));
    let before = run.progress().updates;
    let (mut file, mut nobody) = (Vec::new(), ());
    let mut tracer = Tracer::new(&task.data, "perceptron", &mut file, &mut nobody);
    linsep::drive(run.as_mut(), &epochs(4), &mut tracer);
    assert_eq!(tracer.finish().unwrap().updates, run.progress().updates - before);
    let mut replay = replay(&file, &task);
    while replay.next_step(true).unwrap().is_some() {}
    assert_eq!(replay.k(), run.progress().updates);
    assert_eq!(bits(&replay.model()), bits(&run.model()));
}

#[test]
fn what_is_no_sum_of_rows_is_not_traced() {
    let task = tables()[0].task();
    for (name, settings) in [
        ("least-squares", vec![]),
        ("fisher", vec![]),
        ("descent", vec![("criterion", "jd")]),
        ("descent", vec![("criterion", "mse"), ("lower", "-1")]),
    ] {
        let (mut file, mut nobody) = (Vec::new(), ());
        let mut tracer = Tracer::new(&task.data, name, &mut file, &mut nobody);
        learner(name, &settings).fit(&task, &epochs(2), &mut tracer).unwrap();
        let error = tracer.finish().unwrap_err();
        assert_eq!(error.code(), Code::SETTING, "{name}: {error}");
        assert!(file.is_empty());
    }
}

/// Every kind of damage is refused with the line it is in.
#[test]
fn damaged_traces_are_refused_with_their_line() {
    let task = tables()[0].task();
    let learner = Perceptron::default();
    let (_, _, file) = traced(&learner, &task, &epochs(2));
    let text = String::from_utf8(file).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let attempt = |text: &str| -> Result<(), Error> {
        let mut replay = Replay::open(Path::new("t.ndjson"), text.as_bytes(), None)?;
        replay.on(Arc::clone(&task.data), 1)?;
        while replay.next_step(false)?.is_some() {}
        Ok(())
    };
    attempt(&text).unwrap();
    // A shorter run is a trace just when its last line says so.
    let first_three = all[..4].join("\n");
    attempt(&format!("{first_three}\n{{\"updates\":3}}\n")).unwrap();
    let with = |at: usize, line: &str| {
        let mut lines: Vec<&str> = all.clone();
        lines[at] = line;
        format!("{}\n", lines.join("\n"))
    };
    let change = |at: usize, field: &str, value: serde_json::Value| {
        let mut line: serde_json::Value = serde_json::from_str(all[at]).unwrap();
        line[field] = value;
        with(at, &line.to_string())
    };
    let row = |at: usize| serde_json::from_str::<Line>(all[at]).unwrap().row.unwrap();
    let cases: Vec<(String, usize, &str)> = vec![
        (String::new(), 1, "empty"),
        ("\n".into(), 1, "no trace"),
        ("{}\n".into(), 1, "no trace"),
        (with(0, "{\"format\":\"linsep.trace/9\"}"), 1, "linsep.trace/9"),
        (change(0, "digest", "0000".into()), 1, "other data"),
        (change(0, "rows", 59.into()), 1, "rows, features or classes"),
        (change(0, "scaling", "sideways".into()), 1, "sideways"),
        (change(0, "scaling", "none".into()), 1, "r2"),
        (change(0, "start", serde_json::json!([])), 1, "start planes"),
        (change(0, "start", serde_json::json!([{"weights": [1], "bias": 0}])), 1, "weights"),
        (change(0, "machines", serde_json::json!([{"positive": 7, "planes": 1}])), 1, "machine"),
        (change(0, "criteria", serde_json::json!(["jx"])), 1, "jx"),
        (change(0, "cheese", 1.into()), 1, "cheese"),
        (text[..text.len() - 1].into(), all.len(), "cut off"),
        (text[..text.len() - 5].into(), all.len(), "cut off"),
        (text[..text.len() - 30].into(), all.len() - 1, "cut off"),
        (format!("{}\n", all[0]), 1, "cut off"),
        (format!("{first_three}\n"), 4, "cut off"),
        (format!("{}\n", all[..all.len() - 1].join("\n")), all.len() - 1, "cut off"),
        (format!("{first_three}\n{{\"updates\":2}}\n"), 5, "was to be 2, it is 3"),
        (format!("{first_three}\n{{\"updates\":4}}\n"), 5, "was to be 4, it is 3"),
        (with(3, all[all.len() - 1]), 4, "it is 2"),
        (format!("{text}{}\n", all[3]), all.len() + 1, "behind the last one"),
        (format!("{text}\n"), all.len() + 1, "behind the last one"),
        (with(3, "{"), 4, "no update"),
        (with(3, ""), 4, "no update"),
        (with(3, all[4]), 4, "k is 4, after 2 comes 3"),
        (with(3, all[2]), 4, "k is 2, after 2 comes 3"),
        (change(3, "row", (row(3) + 1).into()), 4, "the rows give"),
        (change(3, "row", 60.into()), 4, "row 60 takes no part"),
        (change(3, "row", (-1).into()), 4, "no update"),
        (change(3, "step", 0.5.into()), 4, "the rows give"),
        (change(3, "step", serde_json::Value::Null), 4, "no update"),
        (change(3, "norm", 1.0.into()), 4, "norm is 1"),
        (change(3, "mistakes", 900.into()), 4, "mistakes is 900"),
        (change(3, "rival", 0.into()), 4, "rival"),
        (change(3, "machine", 1.into()), 4, "machine"),
        (change(3, "line", 1.into()), 4, "stand in no file"),
        (change(3, "epoch", 0.into()), 4, "epoch 0"),
        (change(3, "rows", serde_json::json!([1])), 4, "neither one row"),
        (change(3, "cheese", 1.into()), 4, "cheese"),
    ];
    for (text, line, words) in cases {
        let error = attempt(&text).expect_err(words);
        assert_eq!(error.code(), Code::TRACE, "{error}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("t.ndjson:{line}: ")),
            "{message}, not {line} {words}"
        );
        assert!(message.contains(words), "{message}, not {words}");
    }
    let other = tables()[5].task();
    let mut replay = Replay::open(Path::new("t.ndjson"), text.as_bytes(), None).unwrap();
    assert!(replay.next_step(false).is_err(), "without data there is nothing to replay");
    assert!(replay.on(other.data, 1).unwrap_err().to_string().contains("other data"));
}

#[test]
fn the_order_of_visits_is_the_order_of_the_lines() {
    let task = tables()[1].task();
    for order in [Order::Cyclic, Order::Shuffle, Order::Blocks, Order::Random, Order::WorstFirst] {
        let mut perceptron = Perceptron::default();
        perceptron.order = order;
        let (fit, _, file) = traced(&perceptron, &task, &epochs(5));
        let (_, lines) = lines(&file);
        assert_eq!(lines.len() as u64, fit.progress.updates);
        assert!(lines.is_sorted_by_key(|line| line.epoch));
        assert!(lines.iter().all(|line| (1..=5).contains(&line.epoch)));
        if order == Order::Cyclic {
            assert!(lines.is_sorted_by_key(|line| (line.epoch, line.row)));
        }
    }
}
