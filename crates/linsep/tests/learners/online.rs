//! Online use of every learner of the registry: runs that carry on with other data, streams, saved
//! states that nobody wrote, and stop rules that are put to the test by hand.

use crate::support::{Table, Variant, bits, epochs, overlapping, table, tables, variants_of};
use linsep::learn::perceptron::{Order, Perceptron, StopRule};
use linsep::proof::digest::{Digester, digest};
use linsep::select::stream::OnePass;
use linsep::{Budget, Dataset, Learner, Limits, State, Status, Stop, Task, Training, drive};
use std::ops::ControlFlow;

/// The settings under which a row is needed only while it is visited.
fn row_by_row() -> Vec<Variant> {
    let mut all = variants_of(&["multiclass", "rule", "ties", "normalised"]);
    all.retain(|v| v.value("order").is_some() && v.recipe.name != "pocket");
    for variant in &mut all {
        variant.settings.set("order", "cyclic");
        variant.settings.set("scale", "none");
        if variant.value("verdict").is_some() {
            variant.settings.set("verdict", "off");
        }
        if variant.value("pace").is_some() {
            variant.settings.set("pace", "row");
        }
        let eta = if variant.recipe.name == "adaline" { "0.01" } else { "3/(3+k)" };
        if variant.value("eta").is_some() {
            variant.settings.set("eta", eta);
        }
    }
    all
}

fn part(table: &Table, rows: std::ops::Range<usize>, classes: &[String]) -> Dataset {
    table.filter(|row| rows.contains(&row)).data().with_classes(classes, false).unwrap()
}

/// One epoch over all rows is an epoch over the first, carried on with the others, wherever it is cut.
#[test]
fn carrying_on_is_one_epoch_over_all_rows() {
    for table in tables() {
        let task = table.task();
        let (n, classes) = (table.rows.len(), task.data.classes().to_vec());
        for variant in row_by_row() {
            let whole = variant.learner().fit(&task, &epochs(1), &mut ()).unwrap();
            for cut in [1, 7, n / 2, n - 1] {
                let (mut state, mut updates, mut model) = (None::<State>, 0, None);
                for rows in [0..cut, cut..n] {
                    let part = Task::new(part(&table, rows, &classes));
                    let mut training = variant.learner().start(&part).unwrap();
                    if let Some(state) = &state {
                        training.carries_on().unwrap().carry_on(state).unwrap();
                    }
                    drive(training.as_mut(), &epochs(1), &mut ());
                    updates += training.progress().updates;
                    state = Some(training.save());
                    model = Some(training.model());
                }
                let words = format!("{}, cut at {cut}, {}", table.name, variant.words());
                assert_eq!(bits(&model.unwrap()), bits(&whole.model), "{words}");
                assert_eq!(updates, whole.progress.updates, "{words}");
            }
        }
    }
}

#[test]
fn a_stream_is_one_epoch_whatever_its_parts() {
    for table in tables() {
        let task = table.task();
        let (n, classes) = (table.rows.len(), task.data.classes().to_vec());
        // Machines of pairs see rows of their own, so their epochs do not end together.
        for variant in row_by_row().into_iter().filter(|v| v.value("multiclass") != Some("ovo")) {
            let whole = variant.learner().fit(&task, &epochs(1), &mut ()).unwrap();
            let mut states = Vec::new();
            for size in [2, 9, n] {
                let mut pass = OnePass::new(variant.learner(), None, 1);
                pass.expect_classes(&classes).unwrap();
                for from in (0..n).step_by(size) {
                    let rows = part(&table, from..(from + size).min(n), &classes);
                    assert_eq!(pass.feed(rows, &mut ()).unwrap(), ControlFlow::Continue(()));
                }
                let passed = pass.finish(Stop::Epochs).unwrap();
                let words = format!("{}, parts of {size}, {}", table.name, variant.words());
                assert_eq!(bits(&passed.fit.model), bits(&whole.model), "{words}");
                assert_eq!(passed.fit.progress, whole.progress, "{words}");
                assert_eq!(passed.data, (n as u64, task.data.digest(1)), "{words}");
                states.push(passed.state);
            }
            assert!(states.windows(2).all(|pair| pair[0] == pair[1]), "{}", variant.words());
        }
    }
}

#[test]
fn a_digest_of_parts_is_that_of_the_whole() {
    let table = table("long", (9000, 2, 2), 0.0, |s| s.below(100) as f64);
    let whole = table.data();
    for size in [1000, 4096, 5000, 9000] {
        let mut digester = Digester::default();
        for from in (0..9000).step_by(size) {
            digester.add(&part(&table, from..(from + size).min(9000), whole.classes()));
        }
        assert_eq!(digester.finish(), (9000, digest(&whole)));
    }
}

/// Planes, averages and counters of every online learner are taken over; limits count from there.
#[test]
fn every_online_learner_carries_on_and_no_other_does() {
    let task = overlapping().task();
    let other = table("other", (40, 11, 2), 1.0, |s| s.normal()).task();
    for variant in variants_of(&["multiclass", "verdict", "scale"]) {
        if !variant.accepts(&task) {
            continue;
        }
        let mut before = variant.learner().start(&task).unwrap();
        drive(before.as_mut(), &epochs(3), &mut ());
        let mut after = variant.learner().start(&other).unwrap();
        let words = variant.words();
        if !variant.is_online() || variant.recipe.name == "ho-kashyap" {
            assert!(after.carries_on().is_none(), "{words}");
            continue;
        }
        let run = after.carries_on().unwrap_or_else(|| panic!("{words}"));
        run.carry_on(&before.save()).unwrap_or_else(|e| panic!("{words}: {e}"));
        assert_eq!(after.progress().visits, 0, "{words}");
        // What moved in the first run is where the second begins; centring changes the last digits.
        if variant.recipe.name != "pocket" {
            let pairs = bits(&before.model()).into_iter().zip(bits(&after.model()));
            for (a, b) in pairs.map(|(a, b)| (f64::from_bits(a), f64::from_bits(b))) {
                assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{words}: {a} {b}");
            }
        }
        let ceiling = after.bounds_margin().and_then(|run| run.margin_ceiling());
        assert_eq!(ceiling, None, "{words}: nothing is known about other data");
        drive(after.as_mut(), &epochs(2), &mut ());
        assert!(after.progress().epochs <= 2, "{words}");
        // It can be saved and restored like any other run.
        let mut again = variant.learner().start(&other).unwrap();
        again.restore(&after.save()).unwrap();
        assert_eq!(bits(&again.model()), bits(&after.model()), "{words}");
        assert_eq!(again.save(), after.save(), "{words}");
    }
}

/// States come from files: whatever number stands in them, it is refused or it is harmless.
#[test]
fn wild_numbers_in_a_state_are_refused_or_harmless() {
    let task = overlapping().task();
    let wild = ["18446744073709551615", "9007199254740993", "4611686018427387904", "0", "1"];
    let (mut refused, mut taken) = (0, 0);
    for variant in variants_of(&["multiclass"]) {
        if !variant.accepts(&task) || !variant.is_online() {
            continue;
        }
        let mut training = variant.learner().start(&task).unwrap();
        training.advance(Budget::visits(75));
        let text = serde_json::to_string(&training.save()).unwrap();
        let names = [
            "epoch", "cursor", "updates", "mistakes", "unbroken", "visits", "rounds", "since",
            "longest", "errors", "earlier",
        ];
        for name in names {
            for value in wild {
                let key = format!("\"{name}\":");
                // Wherever the name stands, in the state or in one inside it.
                for (at, _) in text.match_indices(&key) {
                    let at = at + key.len();
                    let end = at + text[at..].find([',', '}']).unwrap();
                    if text[at..].starts_with('{') {
                        continue;
                    }
                    let changed = format!("{}{value}{}", &text[..at], &text[end..]);
                    let state = State::from_bytes(changed.into_bytes());
                    let mut run = variant.learner().start(&task).unwrap();
                    match run.restore(&state) {
                        Ok(()) => drop(run.advance(Budget::visits(200))),
                        Err(_) => refused += 1,
                    }
                    let mut run = variant.learner().start(&task).unwrap();
                    if run.carries_on().is_some_and(|run| run.carry_on(&state).is_ok()) {
                        run.advance(Budget::visits(200));
                        taken += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 30 && taken > 30, "{refused} refused, {taken} taken");
}

fn stopping(stop: StopRule) -> Perceptron {
    let mut learner = Perceptron::default();
    learner.order = Order::Cyclic;
    learner.stop = stop;
    learner
}

/// Each rule against its own words, checked from outside after every visit.
#[test]
fn stop_rules_are_met_when_they_say_so_and_not_before() {
    let table = table("apart", (40, 3, 2), 0.0, |s| s.below(21) as f64 - 10.0);
    let task = table.task();
    let wrong = |training: &dyn Training| {
        let errors = training.model().planes[0].clone();
        let rows = table.rows.iter().zip(&table.labels);
        rows.filter(|(row, label)| {
            let score: f64 = row.iter().zip(&errors.weights).map(|(x, w)| x * w).sum::<f64>();
            let y = if *label == "bee" { 1.0 } else { -1.0 };
            y * (score + errors.bias) <= 0.0
        })
        .count()
    };
    for stop in [StopRule::Empty, StopRule::CleanWindow, StopRule::CleanEpoch] {
        let mut training = stopping(stop).start(&task).unwrap();
        let (mut unbroken, mut in_epoch, mut last) = (0, 0, 0);
        for visit in 1.. {
            assert!(visit < 100_000, "{stop} never ends");
            let status = training.advance(Budget::visits(1));
            let now = training.progress();
            let mistake = now.updates > last;
            last = now.updates;
            unbroken = if mistake { 0 } else { unbroken + 1 };
            in_epoch += u64::from(mistake);
            let at_end = visit % 40 == 0;
            let met = match stop {
                StopRule::Empty => at_end && wrong(training.as_ref()) == 0,
                StopRule::CleanWindow => unbroken == 40,
                _ => at_end && in_epoch == 0,
            };
            assert_eq!(status == Status::Finished, met, "{stop} at visit {visit}");
            if met {
                break;
            }
            if at_end {
                in_epoch = 0;
            }
        }
        assert_eq!(wrong(training.as_ref()), 0, "{stop}");
        assert!(training.certificate().proves_something(), "{stop}");
    }
    let limits = Limits::default().with_epochs(Some(400));
    let fit = stopping(StopRule::Limit).fit(&task, &limits, &mut ()).unwrap();
    assert_eq!((fit.stop, fit.progress.last_mistakes), (Stop::Epochs, Some(0)));
    assert!(fit.certificate.proves_something(), "what it found is checked all the same");
}

/// J_p = Σ −m over the rows that are wrong, in the coordinates of the run.
#[test]
fn a_criterion_is_the_sum_of_the_losses() {
    let rows = [[1.0, 0.0], [0.0, 2.0], [3.0, 1.0], [2.0, 2.0]];
    let labels = ["a", "b", "b", "a"];
    let task = Task::new(Dataset::from_rows(&rows, &labels).unwrap());
    let mut learner = stopping(StopRule::Limit);
    learner.scale = linsep::data::scale::Scaling::None;
    let fit = learner.fit(&task, &epochs(1), &mut ()).unwrap();
    let plane = &fit.model.planes[0];
    let value: f64 = rows
        .iter()
        .zip(labels)
        .map(|(row, label)| {
            let score = row[0] * plane.weights[0] + row[1] * plane.weights[1] + plane.bias;
            let margin = if label == "b" { score } else { -score };
            (-margin).max(0.0)
        })
        .sum();
    assert!(value > 0.0, "bad test data: {plane:?}");
    for (bound, ended) in [(value, false), (value * 1.0001, true)] {
        learner.stop = StopRule::Below(bound);
        let fit = learner.fit(&task, &epochs(1), &mut ()).unwrap();
        assert_eq!(fit.stop == Stop::Finished, ended, "{bound} against {value}");
        assert!(!fit.certificate.proves_something());
    }
}
