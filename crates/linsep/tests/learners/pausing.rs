//! Every training is a state machine: it can be paused, saved, restored, watched and limited
//! without a trace in the result. Looped over the registry like `conformance.rs`.

use crate::support::{Variant, bits, epochs, fit, overlapping, table, tables, variants_of};
use linsep::rng::{Purpose, Stream};
use linsep::{
    Budget, Dataset, Learner, Limits, Progress, State, Status, Stop, Task, Training, drive,
};
use serde_json::json;
use std::ops::ControlFlow;

/// The settings that decide how a run moves. The schemes that are reductions like one-versus-rest
/// are not tried with every start and weight once more.
fn movers() -> Vec<Variant> {
    let settings = ["order", "scale", "multiclass", "init", "class-weight", "shrinkage"];
    let plain = |v: &Variant| v.is("init", &["zero"]) && v.is("class-weight", &["none"]);
    let new = |v: &Variant| plain(v) || v.is("multiclass", &["joint", "ovr"]);
    let short = |v: &Variant| v.value("most").is_some_and(|most| most != "500");
    let ballots = variants_of(&["most", "multiclass"]).into_iter().filter(short);
    let stopping = variants_of(&["order", "stop", "multiclass", "verdict"]);
    variants_of(&settings).into_iter().filter(new).chain(ballots).chain(stopping).collect()
}

/// Those that take the data of a task.
fn movers_on(task: &Task) -> Vec<Variant> {
    movers().into_iter().filter(|variant| variant.accepts(task)).collect()
}

/// Those that visit rows one at a time and have limits to keep.
fn online_movers() -> Vec<Variant> {
    movers().into_iter().filter(Variant::is_online).collect()
}

/// Everything there is to see of a run.
fn sight(training: &dyn Training) -> (Vec<u64>, Progress, String) {
    let state = serde_json::to_string(&training.save()).unwrap();
    (bits(&training.model()), training.progress(), state)
}

fn advance_to(training: &mut dyn Training, visits: u64) -> Status {
    training.advance(Budget::visits(visits - training.progress().visits))
}

#[test]
fn many_small_steps_are_one_large_step() {
    for table in tables() {
        let task = table.task();
        for variant in movers_on(&task) {
            let words = format!("{}, {}", table.name, variant.words());
            let [mut large, mut small] = [(); 2].map(|()| variant.learner().start(&task).unwrap());
            let visits = 2 * large.epoch_rows() + 5;
            let end = large.advance(Budget::visits(visits));
            let steps: Vec<Status> =
                (0..visits).map(|_| small.advance(Budget::visits(1))).collect();
            assert_eq!(steps.last(), Some(&end), "{words}");
            assert_eq!(sight(large.as_ref()), sight(small.as_ref()), "{words}");
        }
    }
}

/// Saves after every slice and goes on in a training that has seen nothing but the state.
fn interrupted_run(learner: &dyn Learner, task: &Task, visits: u64) -> Box<dyn Training> {
    let mut stream = Stream::new(visits, Purpose::Generate(1));
    let mut training = learner.start(task).unwrap();
    loop {
        let left = visits - training.progress().visits.min(visits);
        let status = training.advance(Budget::visits(left.min(stream.below(40))));
        if left == 0 || status != Status::Running {
            return training;
        }
        let kept = State::from_bytes(training.save().as_bytes().to_vec());
        training = learner.start(task).unwrap();
        training.restore(&kept).unwrap();
        assert_eq!(training.save(), kept);
    }
}

#[test]
fn a_run_that_is_saved_and_restored_again_and_again_is_the_same_run() {
    for table in tables() {
        let task = table.task();
        for variant in movers_on(&task) {
            let learner = variant.learner();
            let mut whole = learner.start(&task).unwrap();
            let visits = 4 * whole.epoch_rows() + 3;
            whole.advance(Budget::visits(visits));
            let pieces = interrupted_run(learner.as_ref(), &task, visits);
            let words = format!("{}, {}", table.name, variant.words());
            assert_eq!(sight(whole.as_ref()), sight(pieces.as_ref()), "{words}");
        }
    }
}

#[test]
fn a_restored_run_goes_back() {
    let task = overlapping().task();
    for variant in movers_on(&task) {
        let mut training = variant.learner().start(&task).unwrap();
        advance_to(training.as_mut(), 50);
        let (before, state) = (sight(training.as_ref()), training.save());
        advance_to(training.as_mut(), 200);
        let after = sight(training.as_ref());
        assert_ne!(before, after, "{}", variant.words());
        training.restore(&state).unwrap();
        assert_eq!(sight(training.as_ref()), before, "{}", variant.words());
        advance_to(training.as_mut(), 200);
        assert_eq!(sight(training.as_ref()), after, "{}", variant.words());
    }
}

#[test]
fn a_finished_run_stays_as_it_is() {
    let task = table("apart", (30, 3, 2), 0.0, |s| s.normal()).task();
    for variant in variants_of(&["order", "multiclass", "scale"]) {
        if !variant.accepts(&task) {
            continue;
        }
        let mut training = variant.learner().start(&task).unwrap();
        let stop = drive(training.as_mut(), &epochs(5000), &mut ());
        if variant.value("rest").is_some() && stop == Stop::Epochs {
            continue;
        }
        assert_eq!(stop, Stop::Finished, "{}", variant.words());
        let end = sight(training.as_ref());
        assert_eq!(training.advance(Budget::visits(1000)), Status::Finished);
        assert_eq!(sight(training.as_ref()), end, "{}", variant.words());
        let mut restored = variant.learner().start(&task).unwrap();
        restored.restore(&training.save()).unwrap();
        assert_eq!(restored.advance(Budget::visits(1)), Status::Finished);
        assert_eq!(sight(restored.as_ref()), end, "{}", variant.words());
    }
}

#[test]
fn an_observer_changes_nothing_and_may_end_the_run() {
    for table in tables() {
        let task = table.task();
        for variant in movers_on(&task) {
            let learner = variant.learner();
            let unwatched = fit(learner.as_ref(), &task);
            let mut seen = Vec::new();
            let mut watch = |now: &dyn Training| {
                seen.push((now.progress().visits, now.model().planes.len()));
                assert!(!now.save().as_bytes().is_empty() && !now.certificate().claims.is_empty());
                ControlFlow::Continue(())
            };
            let watched = learner.fit(&task, &epochs(6), &mut watch).unwrap();
            let words = format!("{}, {}", table.name, variant.words());
            assert_eq!(bits(&watched.model), bits(&unwatched.model), "{words}");
            assert_eq!((watched.progress, watched.stop), (unwatched.progress, unwatched.stop));
            assert!(seen.is_sorted() && (!seen.is_empty() || watched.stop == Stop::Finished));
        }
    }
    let mut calls = 0;
    let mut impatient = |_: &dyn Training| {
        calls += 1;
        if calls == 3 { ControlFlow::Break(Stop::Time) } else { ControlFlow::Continue(()) }
    };
    let task = overlapping().task();
    let ended = variants_of(&[])[0].learner().fit(&task, &epochs(100), &mut impatient).unwrap();
    assert_eq!((ended.stop, calls), (Stop::Time, 3));
}

#[test]
fn the_epoch_limit_is_kept_exactly() {
    let task = overlapping().task();
    for variant in online_movers() {
        for limit in [0, 1, 2, 5] {
            let found = variant.learner().fit(&task, &epochs(limit), &mut ()).unwrap();
            if variant.may_rest() && found.stop == Stop::Finished {
                continue;
            }
            assert_eq!((found.stop, found.progress.epochs), (Stop::Epochs, limit));
            assert_eq!(found.progress.visits, limit * 60, "{}", variant.words());
            assert_eq!(found.progress.last_mistakes.is_some(), limit > 0, "{}", variant.words());
        }
    }
}

/// Also for several planes together, whose updates are counted as one sum.
#[test]
fn the_update_limit_is_kept_exactly() {
    for table in tables().into_iter().filter(|t| ["overlapping", "three classes"].contains(&t.name))
    {
        let task = table.task();
        for variant in online_movers() {
            for limit in [0, 1, 2, 7, 30] {
                let limits = Limits::default().with_epochs(Some(1000)).with_updates(Some(limit));
                let found = variant.learner().fit(&task, &limits, &mut ()).unwrap();
                let words = format!("{limit} updates, {}, {}", table.name, variant.words());
                if variant.may_rest() && found.stop == Stop::Finished {
                    assert!(found.progress.updates <= limit, "{words}");
                    continue;
                }
                assert_eq!((found.stop, found.progress.updates), (Stop::Updates, limit), "{words}");
            }
        }
    }
}

#[test]
fn a_budget_of_updates_is_kept_exactly() {
    for table in tables() {
        let task = table.task();
        for variant in movers_on(&task) {
            let mut training = variant.learner().start(&task).unwrap();
            for updates in [0, 1, 3, 2] {
                let before = training.progress();
                let status = training.advance(Budget::new(500, updates));
                let now = training.progress();
                let words = format!("{}, {}", table.name, variant.words());
                assert!(now.updates - before.updates <= updates, "{words}");
                assert!(now.visits - before.visits <= 500, "{words}");
                let used_up = now.updates - before.updates == updates
                    || now.visits - before.visits == 500
                    || status != Status::Running;
                assert!(used_up, "stopped early: {words}");
            }
        }
    }
}

fn assert_refuses(training: &mut dyn Training, state: &State, words: &str) {
    let before = sight(training);
    let error = training.restore(state).err().unwrap_or_else(|| panic!("accepted: {words}"));
    assert!(error.to_string().contains("saved state"), "{words}: {error}");
    assert_eq!(sight(training), before, "a refused state left a trace: {words}");
}

#[test]
fn the_state_of_another_run_is_refused() {
    let wide = table("wide", (60, 12, 2), 2.0, |s| s.normal()).task();
    let more_classes = table("classes", (60, 11, 4), 2.0, |s| s.normal()).task();
    let task = overlapping().task();
    for variant in movers_on(&task) {
        let start = |task: &Task| {
            let mut training = variant.learner().start(task).unwrap();
            training.advance(Budget::visits(30));
            training
        };
        let mut training = start(&task);
        for (foreign, words) in [(&wide, "other width"), (&more_classes, "other classes")] {
            let foreign = start(foreign).save();
            assert_refuses(training.as_mut(), &foreign, words);
        }
        for bytes in [&b""[..], b"{}", b"[]", b"null", b"\xff\x00", b"{\"epoch\":1}"] {
            assert_refuses(training.as_mut(), &State::from_bytes(bytes.to_vec()), "no state");
        }
        let mut cut = training.save().as_bytes().to_vec();
        cut.pop();
        assert_refuses(training.as_mut(), &State::from_bytes(cut), "a cut state");
    }
}

/// The number of rows and the seed belong to a run as much as the number of its weights. (Whether
/// the values are the same is for whoever keeps the state: a digest would cost a pass.)
#[test]
fn the_state_of_a_run_on_fewer_rows_or_with_another_seed_is_refused() {
    let whole = overlapping();
    let part = whole.filter(|i| i < 40).task();
    for variant in variants_of(&["order", "multiclass"]) {
        if !variant.accepts(&whole.task()) {
            continue;
        }
        let mut training = variant.learner().start(&whole.task()).unwrap();
        let mut foreign = |learner: &dyn Learner, task: &Task, words: &str| {
            let mut other = learner.start(task).unwrap();
            other.advance(Budget::visits(30));
            assert_refuses(training.as_mut(), &other.save(), words);
        };
        foreign(variant.learner().as_ref(), &part, "fewer rows");
        if variant.is("pace", &["row"]) && variant.value("order").is_some() {
            foreign(variant.learner_with_seed(8).as_ref(), &whole.task(), "another seed");
        }
    }
}

/// One-versus-rest restores plane after plane; a fault in a late one must not leave half a state.
#[test]
fn a_state_that_is_damaged_in_one_plane_leaves_no_trace() {
    let task = table("three", (60, 5, 3), 0.5, |s| s.normal()).task();
    for variant in variants_of(&["multiclass", "verdict"]) {
        if !variant.accepts(&task) {
            continue;
        }
        let mut later = variant.learner().start(&task).unwrap();
        // One machine for all classes has no planes that are restored one after the other.
        let saved = |run: &dyn Training| serde_json::to_value(run.save()).unwrap();
        if variant.is_certified() && !saved(later.as_ref()).is_array() {
            continue;
        }
        later.advance(Budget::visits(100));
        let mut value = saved(later.as_ref());
        match &mut value {
            // A list of states: the last one becomes `{}`.
            serde_json::Value::Array(states) => *states.last_mut().unwrap() = json!({}),
            state if state["run"].is_object() && state["planes"].is_null() => {
                state["run"] = json!({});
            }
            state => *state["planes"].as_array_mut().unwrap().last_mut().unwrap() = json!({}),
        }
        let damaged = State::from_bytes(value.to_string().into_bytes());
        let mut training = variant.learner().start(&task).unwrap();
        assert_refuses(training.as_mut(), &damaged, &variant.words());
    }
}

/// A run whose numbers left the range of binary64 can be kept like any other.
#[test]
fn a_run_that_diverged_can_be_saved_and_restored() {
    let rows = [[1e300, 1.0], [1.7e300, -1.0], [-1e300, 1.0], [1e300, 1.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "a", "b"]).unwrap();
    let task = Task::new(data);
    let mut diverged = 0;
    for variant in variants_of(&["order", "multiclass"]) {
        if variant.value("eta").is_none() || variant.value("scale").is_none() {
            continue;
        }
        let learner = variant.learner_with_all(&[("eta", "1e10"), ("scale", "none")]);
        let mut training = learner.start(&task).unwrap();
        let stop = drive(training.as_mut(), &epochs(50), &mut ());
        diverged += u32::from(stop == Stop::Diverged);
        let mut again = learner.start(&task).unwrap();
        let words = variant.words();
        again.restore(&training.save()).unwrap_or_else(|e| panic!("{words}, {stop:?}: {e}"));
        assert_eq!(sight(again.as_ref()), sight(training.as_ref()), "{words}");
    }
    assert!(diverged > 0);
}
