//! Every cell of the table learner × ability: it works, or it is refused with a message that names
//! learners which can. What a run states is what the registry declares, under every setting.

use crate::support::{
    Table, bits, epochs, every_variant, overlapping, same_best, table, tables, variants_of,
};
use linsep::data::split::folds;
use linsep::density::Sampler;
use linsep::recipe::{ALL, Ability, Recipe, Settings};
use linsep::run::update::Beginning;
use linsep::select::flips::final_rows;
use linsep::select::platt::calibrate;
use linsep::select::stream::OnePass;
use linsep::select::support::support_rows;
use linsep::{
    Budget, Dataset, Fit, Learner, Limits, Link, Plane, Progress, Rule, Status, Stop, Task,
    Training, drive,
};
use std::ops::ControlFlow;

/// What a run can do by what it states.
fn stated(run: &mut dyn Training, ability: Ability) -> Option<bool> {
    match ability {
        Ability::Trace => Some(run.traces().is_some()),
        Ability::CarryOn => Some(run.carries_on().is_some()),
        Ability::WarmStart => Some(run.warm_starts().is_some()),
        Ability::MarginBound => Some(run.bounds_margin().is_some()),
        Ability::Certify => Some(run.bounds_objective().is_some()),
        Ability::Sample => Some(run.generates().is_some()),
        Ability::Probabilities => Some(run.model().link != Link::None),
        _ => None,
    }
}

/// A wrapper that forgets to pass an ability on, and an entry that promises too much, both fail here.
#[test]
fn runs_state_what_the_registry_declares() {
    let mut compared = 0;
    for table in tables() {
        let task = table.task();
        for mut variant in every_variant() {
            if !variant.accepts(&task) {
                continue;
            }
            let classes = task.data.n_classes();
            let mut compare = |recipe: &Recipe, settings: &Settings, words: &str| {
                let mut run = recipe.build(settings).unwrap().start(&task).unwrap();
                for &ability in Ability::ALL {
                    if let Some(stated) = stated(run.as_mut(), ability) {
                        let declared = recipe.can(ability, settings, classes);
                        assert_eq!(stated, declared, "{ability:?}: {} {words}", table.name);
                        let required = recipe.require(ability, settings, classes);
                        assert_eq!(required.is_ok(), declared);
                        compared += 1;
                    }
                }
            };
            compare(variant.recipe, &variant.settings, &variant.words());
            // With bounds on the weights, where these settings take them.
            if variant.recipe.can(Ability::BoxConstraints, &variant.settings, classes) {
                variant.settings.set("lower", "-1");
                if variant.recipe.build(&variant.settings).is_ok_and(|l| l.start(&task).is_ok()) {
                    compare(variant.recipe, &variant.settings, &variant.words());
                }
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

/// Settings under which a learner has an ability.
fn settings_for(recipe: &Recipe, ability: Ability, classes: usize) -> Settings {
    let mut settings = Settings::default();
    for only in recipe.abilities.only.iter().filter(|only| only.ability == ability) {
        let parameter = recipe.parameters.iter().find(|p| p.name == only.setting).unwrap();
        if (classes > 2 || !only.many) && !only.values.contains(&settings.get(parameter)) {
            settings.set(only.setting, only.values[0]);
        }
    }
    settings
}

fn build(recipe: &Recipe, settings: &Settings) -> Box<dyn Learner> {
    recipe.build(settings).unwrap_or_else(|e| panic!("{}: {e}", recipe.name))
}

/// Counts in three classes that every scheme separates; the first two with `classes` 2.
fn clusters(classes: usize) -> Table {
    let mut rows = Vec::new();
    let mut labels = Vec::new();
    for i in 0..8 * classes {
        let class = i % classes;
        let mut row = vec![(i % 3) as f64, (i / 3 % 3) as f64, (i / 9) as f64, 1.0];
        row[class] += 12.0;
        rows.push(row);
        labels.push(["ant", "bee", "cat"][class].to_owned());
    }
    Table { name: "clusters", rows, labels, weights: None }
}

/// Two classes of unequal size that overlap, counts.
fn unequal() -> Table {
    table("unequal", (60, 5, 2), 6.0, |s| s.below(9) as f64).filter(|i| i % 3 > 0 || i % 2 == 0)
}

#[test]
fn every_cell_works_or_is_refused_with_learners_that_can() {
    let (mut cells, mut broken) = (0, Vec::new());
    for recipe in ALL {
        for &ability in Ability::ALL {
            let able = ability.learners();
            assert!(!able.is_empty(), "{ability:?} is nobody's");
            assert_eq!(able.contains(&recipe.name), recipe.has(ability));
            let cell = || match recipe.has(ability) {
                true => work(recipe, ability),
                false => refuse(recipe, ability, &able),
            };
            cells += 1;
            if std::panic::catch_unwind(cell).is_err() {
                broken.push(format!("{} × {}", recipe.name, ability.word()));
            }
        }
    }
    assert_eq!(cells, ALL.len() * Ability::ALL.len());
    assert!(broken.is_empty(), "cells that are not what the table says: {broken:#?}");
}

/// The ability is put to use and its result checked.
fn work(recipe: &'static Recipe, ability: Ability) {
    let words = format!("{} {ability:?}", recipe.name);
    match ability {
        Ability::Joint | Ability::Ovr | Ability::OvrK1 | Ability::Ovo => scheme(recipe, ability),
        Ability::RowWeights => row_weights(recipe),
        Ability::ClassWeights => class_weights(recipe),
        Ability::BoxConstraints => box_constraints(recipe),
        Ability::Stream => stream(recipe),
        Ability::CarryOn => carry_on(recipe),
        Ability::WarmStart => warm_start(recipe),
        Ability::Trace => trace(recipe),
        Ability::MarginBound => margin_bound(recipe),
        Ability::CountMistakes => mistakes(recipe),
        Ability::Probabilities => probabilities(recipe),
        Ability::Calibrate => {
            let (task, learner) = (unequal().task(), build(recipe, &Settings::default()));
            let splits = folds(&task.data, 3, 1).unwrap();
            let link = calibrate(learner.as_ref(), &task, &splits, &epochs(50), &|| false).unwrap();
            assert!(matches!(link, Link::Sigmoid { .. }), "{words}");
        }
        Ability::Support => {
            let (fit, task) = finished(recipe, ability, 3);
            let rows = support_rows(&fit.certificate.claims, &task).unwrap();
            assert!(!rows.is_empty() && rows.iter().all(|row| row.alpha > 0.0), "{words}");
        }
        Ability::Flips => {
            let (fit, task) = finished(recipe, ability, 3);
            let rows = final_rows(&fit.certificate.claims, &fit.model, &task).unwrap();
            assert_eq!(rows.len(), task.data.n_rows(), "{words}");
            assert!(rows.iter().any(|(_, by)| by.is_some()), "{words}");
        }
        Ability::Sample => {
            let (fit, _) = finished(recipe, ability, 3);
            let density = fit.density.unwrap();
            let mut sampler = Sampler::new(&fit.model, &density, None, 1).unwrap();
            let drawn: Vec<u32> = (0..60).map(|_| sampler.draw().0).collect();
            assert!((0..3).all(|class| drawn.contains(&class)), "{words}");
        }
        Ability::Certify => certify(recipe),
        other => panic!("no test puts {other:?} to use"),
    }
}

/// The ability is asked for all the same, and nothing but a refusal comes of it.
fn refuse(recipe: &'static Recipe, ability: Ability, able: &[&str]) {
    let words = recipe.require(ability, &Settings::default(), 2).unwrap_err().to_string();
    assert!(words.starts_with(recipe.name), "{words}");
    assert!(words.ends_with(&able.join(", ")), "{words}");
    let words = format!("{} {ability:?}", recipe.name);
    let set = |name: &str, value: &str| {
        let mut settings = Settings::default();
        settings.set(name, value);
        let error = recipe.build(&settings).err().unwrap_or_else(|| panic!("{words}"));
        assert!(error.to_string().ends_with(&able.join(", ")), "{words}: {error}");
    };
    match ability {
        Ability::Joint | Ability::Ovr | Ability::OvrK1 | Ability::Ovo => {
            set("multiclass", ability.word());
        }
        Ability::ClassWeights => set("class-weight", "balanced"),
        Ability::BoxConstraints => {
            set("lower", "0");
            set("upper", "1");
        }
        Ability::CountMistakes => mistakes(recipe),
        Ability::Flips => {
            let (fit, task) = finished(recipe, ability, 2);
            assert!(final_rows(&fit.certificate.claims, &fit.model, &task).is_err(), "{words}");
        }
        Ability::Stream if !recipe.has(Ability::CarryOn) => {
            let data = clusters(2).data();
            let mut pass = OnePass::new(build(recipe, &Settings::default()), None, 1);
            pass.expect_classes(&["ant".into(), "bee".into()]).unwrap();
            let first = pass.feed(data.clone(), &mut ());
            assert!(first.is_err() || pass.feed(data, &mut ()).is_err(), "{words}");
        }
        _ => {
            for classes in [2, 3] {
                let task = clusters(classes).task();
                let mut run = build(recipe, &Settings::default()).start(&task).unwrap();
                assert_ne!(stated(run.as_mut(), ability), Some(true), "{words}");
                if ability == Ability::Certify {
                    drive(run.as_mut(), &epochs(2), &mut ());
                    let Progress { objective, gap, .. } = run.progress();
                    assert_eq!((objective, gap), (None, None), "{words}");
                }
            }
        }
    }
}

/// A run on clusters with settings for an ability.
fn finished(recipe: &Recipe, ability: Ability, classes: usize) -> (Fit, Task) {
    let task = clusters(classes).task();
    let learner = build(recipe, &settings_for(recipe, ability, classes));
    (learner.fit(&task, &epochs(300), &mut ()).unwrap(), task)
}

fn scheme(recipe: &Recipe, ability: Ability) {
    let mut settings = Settings::default();
    if let Some(parameter) = recipe.parameters.iter().find(|p| p.name == "multiclass") {
        let asked = |word: &&&str| Ability::of_scheme(word) == Some(ability);
        settings.set("multiclass", parameter.words.iter().find(asked).unwrap());
    }
    let task = clusters(3).task();
    let fit = build(recipe, &settings).fit(&task, &epochs(300), &mut ()).unwrap();
    let (rule, machines) = match fit.model.rule {
        Rule::Ballot(ref ballot) => (ballot.rule.as_ref(), ballot.votes.len()),
        ref rule => (rule, fit.model.planes.len()),
    };
    let expected = match ability {
        Ability::Joint => (&Rule::ArgMax, 3),
        Ability::Ovr => (&Rule::Rest, 3),
        Ability::OvrK1 => (&Rule::RestLast, 2),
        _ => (&Rule::Vote, 3),
    };
    assert_eq!((rule, machines), expected, "{} {ability:?}", recipe.name);
    let errors = fit.model.evaluate(&task.data, None, 1).errors;
    assert!(errors <= task.data.n_rows() as u64 / 2, "{} {ability:?}: {errors}", recipe.name);
}

/// Rows of weight 0 are absent, whatever their label is.
fn row_weights(recipe: &Recipe) {
    let plain = clusters(2);
    let mut weighted = plain.clone();
    weighted.rows.push(vec![1.0, 14.0, 0.0, 1.0]);
    weighted.labels.push("ant".into());
    weighted.weights = Some((0..weighted.rows.len()).map(|i| f64::from(i < 16)).collect());
    let learner = build(recipe, &Settings::default());
    let fit = |table: &Table| learner.fit(&table.task(), &epochs(50), &mut ()).unwrap();
    let (a, b) = (fit(&plain), fit(&weighted));
    match recipe.has(Ability::Certify) {
        true => assert!(same_best(&a, &b), "{}", recipe.name),
        false => assert_eq!(bits(&a.model), bits(&b.model), "{}", recipe.name),
    }
}

fn class_weights(recipe: &Recipe) {
    let task = unequal().task();
    let fit = |rule: &str| {
        let mut settings = Settings::default();
        settings.set("class-weight", rule);
        build(recipe, &settings).fit(&task, &epochs(5), &mut ()).unwrap()
    };
    assert_ne!(bits(&fit("none").model), bits(&fit("balanced").model), "{}", recipe.name);
    // Numbers by class are what row weights would be.
    let mut weighted = unequal();
    let factor = |label: &str| [2.0, 0.5, 4.0][label.bytes().map(usize::from).sum::<usize>() % 3];
    let rule: Vec<String> =
        task.data.classes().iter().map(|class| format!("{class}={}", factor(class))).collect();
    weighted.weights = Some(weighted.labels.iter().map(|label| factor(label)).collect());
    // Scales in standard deviations count rows by their weights, and not by those of classes.
    let mut unscaled = Settings::default();
    if recipe.name == "adaline" {
        unscaled.set("scale", "none");
    }
    let by_rows = build(recipe, &unscaled).fit(&weighted.task(), &epochs(5), &mut ()).unwrap();
    unscaled.set("class-weight", &rule.join(","));
    let by_class = build(recipe, &unscaled).fit(&task, &epochs(5), &mut ()).unwrap();
    assert_eq!(bits(&by_class.model), bits(&by_rows.model), "{}", recipe.name);
}

fn box_constraints(recipe: &Recipe) {
    for classes in [2, 3] {
        let mut settings = settings_for(recipe, Ability::BoxConstraints, classes);
        settings.set("lower", "-0.01");
        settings.set("upper", "0.02");
        let task = clusters(classes).task();
        let fit = build(recipe, &settings).fit(&task, &epochs(50), &mut ()).unwrap();
        let mut weights = fit.model.planes.iter().flat_map(|plane| &plane.weights);
        assert!(weights.all(|w| (-0.01..=0.02).contains(w)), "{}", recipe.name);
    }
}

/// Settings under which nothing has to be known of all rows beforehand.
fn row_by_row(recipe: &Recipe) -> Settings {
    let mut settings = Settings::default();
    let values = [("order", "cyclic"), ("scale", "none"), ("verdict", "off"), ("eta", "0.01")];
    for (name, value) in values {
        if recipe.parameters.iter().any(|parameter| parameter.name == name) {
            settings.set(name, value);
        }
    }
    settings
}

fn stream(recipe: &Recipe) {
    let table = unequal();
    let settings = row_by_row(recipe);
    let whole = build(recipe, &settings).fit(&table.task(), &epochs(1), &mut ()).unwrap();
    let mut pass = OnePass::new(build(recipe, &settings), None, 1);
    pass.expect_classes(&["ant".into(), "bee".into()]).unwrap();
    for row in 0..table.rows.len() {
        let part = table.filter(|i| i == row).data();
        assert_eq!(pass.feed(part, &mut ()).unwrap(), ControlFlow::Continue(()));
    }
    let passed = pass.finish(Stop::Epochs).unwrap();
    assert_eq!(bits(&passed.fit.model), bits(&whole.model), "{}", recipe.name);
}

fn carry_on(recipe: &Recipe) {
    for classes in [2, 3] {
        let learner = build(recipe, &Settings::default());
        let mut first = learner.start(&clusters(classes).task()).unwrap();
        drive(first.as_mut(), &epochs(2), &mut ());
        let other = clusters(classes).filter(|i| i % 5 != 0).task();
        let mut second = learner.start(&other).unwrap();
        assert!(second.model().planes.iter().all(|plane| plane.weights.iter().all(|w| *w == 0.0)));
        second.carries_on().unwrap().carry_on(&first.save()).unwrap();
        let moved = |plane: &Plane| plane.weights.iter().any(|w| *w != 0.0);
        assert!(second.model().planes.iter().any(moved), "{}", recipe.name);
        assert_eq!(second.progress().visits, 0, "{}", recipe.name);
    }
}

/// Every scheme and solver: from its own optimum a run has next to nothing to do.
fn warm_start(recipe: &Recipe) {
    for variant in variants_of(&["multiclass", "loss", "solver", "penalty"]) {
        for table in [clusters(2), overlapping(), clusters(3), tables().remove(2)] {
            let task = table.task();
            if variant.recipe.name != recipe.name || !variant.accepts(&task) {
                continue;
            }
            let words = format!("{}: {}", table.name, variant.words());
            let limits = epochs(2000);
            let mut cold = variant.learner_with("c", "2").start(&task).unwrap();
            let mut before = variant.learner_with("c", "2").start(&task).unwrap();
            if drive(cold.as_mut(), &limits, &mut ()) != Stop::Finished {
                continue;
            }
            drive(before.as_mut(), &limits, &mut ());
            let mut warm = variant.learner_with("c", "2").start(&task).unwrap();
            let run = warm.warm_starts().unwrap_or_else(|| panic!("{words}"));
            assert!(run.warm_start(&before.save(), 1.0), "{words}");
            drive(warm.as_mut(), &limits, &mut ());
            let (warm, cold) = (warm.progress(), cold.progress());
            assert!(warm.epochs <= cold.epochs.max(3), "{words}: {warm:?} {cold:?}");
            if cold.epochs >= 20 {
                assert!(warm.epochs <= cold.epochs / 2, "{words}: {warm:?} {cold:?}");
            }
            // A state of another run is told, and harms nothing.
            let other = table.filter(|i| i % 4 != 1).task();
            let mut run = variant.learner().start(&other).unwrap();
            assert!(!run.warm_starts().unwrap().warm_start(&before.save(), 2.0), "{words}");
            assert_ne!(run.advance(Budget::visits(1)), Status::Diverged);
        }
    }
}

/// Start and updates, added up by hand, are the planes in motion.
fn trace(recipe: &Recipe) {
    for classes in [2, 3] {
        let task = clusters(classes).task();
        let mut settings = settings_for(recipe, Ability::Trace, classes);
        settings.set("scale", "none");
        let mut run = build(recipe, &settings).start(&task).unwrap();
        let mut followed = run.traces().unwrap().beginnings();
        let mut seen = vec![0; followed.len()];
        for _ in 0..3 * task.data.n_rows() {
            let status = run.advance(Budget::visits(1));
            for update in run.traces().unwrap().last_updates() {
                if update.number <= seen[update.machine] {
                    continue;
                }
                seen[update.machine] = update.number;
                let planes = &mut followed[update.machine].planes;
                for step in &update.moves {
                    // The rate of a batch belongs to the sum of its rows.
                    let size = step.step * update.rate.unwrap_or(1.0);
                    let row = task.data.row(step.row as usize);
                    let mut add = |plane: u32, size: f64| {
                        let plane = &mut planes[plane as usize];
                        plane.weights.iter_mut().zip(&row).for_each(|(w, x)| *w += size * x);
                        plane.bias += size;
                    };
                    add(step.plane, size);
                    if let Some(rival) = step.rival {
                        add(rival, -size);
                    }
                }
            }
            if status != Status::Running {
                break;
            }
        }
        assert!(seen.iter().all(|updates| *updates > 0), "{}", recipe.name);
        let planes = |all: &[Beginning]| -> Vec<f64> {
            let planes = all.iter().flat_map(|one| &one.planes);
            planes.flat_map(|plane| plane.weights.iter().chain([&plane.bias]).copied()).collect()
        };
        let now = planes(&run.traces().unwrap().beginnings());
        let size = now.iter().fold(1e-9, |most: f64, w| most.max(w.abs()));
        let far = planes(&followed).into_iter().zip(&now).map(|(a, b)| (a - b).abs());
        assert!(far.fold(0.0, f64::max) < 1e-9 * size, "{}", recipe.name);
    }
}

/// The bound is above the margin of a plane that separates, in the coordinates of the run.
fn margin_bound(recipe: &Recipe) {
    let task = clusters(2).task();
    let mut settings = row_by_row(recipe);
    settings.set("eta", "1");
    let mut run = build(recipe, &settings).start(&task).unwrap();
    assert_eq!(run.bounds_margin().unwrap().margin_ceiling(), None);
    drive(run.as_mut(), &epochs(2), &mut ());
    let ceiling = run.bounds_margin().unwrap().margin_ceiling().unwrap();
    let widest = Recipe::find("hard-margin").unwrap().build(&Settings::default()).unwrap();
    let plane = widest.fit(&task, &Limits::default(), &mut ()).unwrap().model.planes.remove(0);
    let length = plane.weights.iter().map(|w| w * w).sum::<f64>() + plane.bias * plane.bias;
    let margins = (0..task.data.n_rows()).map(|row| margin(&plane, &task.data, row));
    let reached = margins.fold(f64::INFINITY, f64::min) / length.sqrt();
    assert!(ceiling >= reached && reached > 0.0, "{}: {ceiling} {reached}", recipe.name);
}

/// y (w·x + b) of a row.
fn margin(plane: &Plane, data: &Dataset, row: usize) -> f64 {
    let score: f64 = plane.weights.iter().zip(&data.row(row)).map(|(w, x)| w * x).sum();
    if data.class_of(row) == 1 { score + plane.bias } else { -(score + plane.bias) }
}

/// With every criterion and rule the mistakes are counted where the registry says so, and by no learner
/// of which it does not.
fn mistakes(recipe: &Recipe) {
    for variant in variants_of(&["criterion", "pace", "rule", "normalised"]) {
        if variant.recipe.name == recipe.name {
            let mut settings = row_by_row(recipe);
            for name in ["criterion", "pace", "rule", "normalised"] {
                variant.value(name).inspect(|value| settings.set(name, value));
            }
            if variant.value("criterion") == Some("jn") {
                settings.set("eta", "auto");
            }
            let declared = recipe.can(Ability::CountMistakes, &settings, 2);
            let counts = counts_mistakes(recipe, &settings);
            assert!(counts || !declared, "{}", variant.words());
            assert!(!counts || recipe.has(Ability::CountMistakes), "{}", variant.words());
        }
    }
}

/// Whether the mistakes of a pass are those that are counted by hand, visit by visit.
fn counts_mistakes(recipe: &Recipe, settings: &Settings) -> bool {
    let task = unequal().task();
    let mut run = build(recipe, settings).start(&task).unwrap();
    let mut counted = 0;
    // The second pass, whose planes are not 0.
    for row in (0..task.data.n_rows()).chain(0..task.data.n_rows()) {
        let plane = match run.traces() {
            Some(traces) => {
                let mut planes = traces.beginnings().remove(0).planes;
                let plane = planes.remove(0);
                Plane::new(plane.weights, plane.bias)
            }
            None => run.model().planes.remove(0),
        };
        counted += u64::from(run.progress().epochs == 1 && margin(&plane, &task.data, row) <= 0.0);
        run.advance(Budget::visits(1));
    }
    run.progress().last_mistakes == Some(counted)
}

fn probabilities(recipe: &Recipe) {
    for classes in [2, 3] {
        let settings = match recipe.can(Ability::Probabilities, &Settings::default(), classes) {
            true => Settings::default(),
            false if classes == 3 => continue,
            false => settings_for(recipe, Ability::Probabilities, classes),
        };
        let task = clusters(classes).task();
        let model = build(recipe, &settings).fit(&task, &epochs(50), &mut ()).unwrap().model;
        let shares = model.probabilities(&clusters(classes).rows[0]).unwrap().unwrap();
        let sum: f64 = shares.iter().sum();
        assert!((sum - 1.0).abs() < 1e-12 && shares[0] > 0.5, "{}: {shares:?}", recipe.name);
    }
}

/// Every scheme at wide and narrow gaps: other planes are proved to be as far off as they are.
fn certify(recipe: &Recipe) {
    for variant in variants_of(&["multiclass", "loss", "solver", "intercept"]) {
        for (table, gap) in [(clusters(2), "0.01"), (clusters(3), "0.01"), (clusters(3), "1e-6")] {
            let task = table.task();
            if variant.recipe.name != recipe.name {
                continue;
            }
            let learner = variant.learner_with("gap", gap);
            if learner.start(&task).is_err() {
                continue;
            }
            let words = format!("{} gap {gap}: {}", table.name, variant.words());
            let mut run = learner.start(&task).unwrap();
            assert_eq!(drive(run.as_mut(), &epochs(5000), &mut ()), Stop::Finished, "{words}");
            let Progress { objective, gap: found, .. } = run.progress();
            assert!(found.unwrap() <= gap.parse::<f64>().unwrap(), "{words}: {found:?}");
            let mut planes = run.model().planes;
            planes[0].weights[0] += 0.5;
            let bound = run.bounds_objective().unwrap();
            assert!(bound.gap().unwrap() <= gap.parse::<f64>().unwrap(), "{words}");
            let certificate = bound.certificate_of(&planes);
            assert!(certificate.proves_something(), "{words}: {certificate:?}");
            let reached: f64 = certificate.claims.iter().map(|claim| primal(claim, &words)).sum();
            assert!(reached > objective.unwrap(), "{words}: {reached} {objective:?}");
            let others = bound.certificate_of(&planes[1..]);
            assert!(!others.proves_something(), "{words}");
        }
    }
}

fn primal(claim: &linsep::Claim, words: &str) -> f64 {
    match claim {
        linsep::Claim::Optimal { optimality, .. } => optimality.primal,
        other => panic!("{words}: {other:?}"),
    }
}

/// Runs make the claims that the registry names, and each of them somewhere.
#[test]
fn claims_are_of_the_kinds_that_the_registry_names() {
    let mut made: Vec<(&str, &str)> = Vec::new();
    let clusters = [clusters(2), clusters(3)];
    for table in tables().iter().chain(&clusters) {
        let task = table.task();
        for variant in variants_of(&["criterion", "multiclass", "verdict"]) {
            if !variant.accepts(&task) {
                continue;
            }
            let fit = variant.learner().fit(&task, &epochs(100), &mut ()).unwrap();
            for claim in fit.certificate.claims.iter().filter(|claim| claim.name() != "unproved") {
                let (name, kind) = (variant.recipe.name, claim.name());
                let declared = variant.recipe.abilities.claims;
                assert!(declared.contains(&kind), "{kind}: {}", variant.words());
                if !made.contains(&(name, kind)) {
                    made.push((name, kind));
                }
            }
        }
    }
    for recipe in ALL {
        for kind in recipe.abilities.claims {
            assert!(made.contains(&(recipe.name, kind)), "{} never claims {kind}", recipe.name);
        }
    }
}
