//! Data that is large enough for the quick ways: epochs in binary32, products in bytes, many machines in
//! one sweep. What holds of small data has to hold of it: threads change no bit, a run can be saved and
//! restored anywhere, and what is claimed agrees with what the plain ways prove.

use crate::support::{bits, epochs, same_best};
use linsep::proof::Claim;
use linsep::recipe::{Recipe, Settings};
use linsep::rng::{Purpose, Stream};
use linsep::{Budget, Dataset, DatasetBuilder, Fit, Learner, Limits, State, Status, Task};
use std::sync::Arc;

/// Rows of a few columns out of many; the label follows from the columns, and one in ten is wrong.
fn wide(rows: usize, columns: u64, entries: usize, classes: u64) -> Arc<Dataset> {
    let mut stream = Stream::new(5, Purpose::Generate(7));
    let mut builder = DatasetBuilder::new(columns as usize);
    for _ in 0..rows {
        let class = stream.below(classes);
        // The square makes some columns common and most of them rare.
        let mut drawn: Vec<u64> = (0..entries)
            .map(|_| {
                let at = stream.unit();
                let column = (at * at * columns as f64) as u64;
                if stream.below(4) == 0 { (class * 37 + column % 29) % columns } else { column }
            })
            .collect();
        drawn.sort_unstable();
        drawn.dedup();
        let row: Vec<(u32, f64)> =
            drawn.iter().map(|&j| (j as u32, (1.0 + stream.below(900) as f64) / 1000.0)).collect();
        let label = if stream.below(10) == 0 { stream.below(classes) } else { class };
        builder.sparse_row(&row, &label.to_string()).unwrap();
    }
    Arc::new(builder.finish().unwrap())
}

/// Points about two centres, some columns on a grid of 256 levels and some not.
fn tall(rows: usize, columns: usize) -> Arc<Dataset> {
    let mut stream = Stream::new(6, Purpose::Generate(8));
    let mut builder = DatasetBuilder::new(columns);
    for _ in 0..rows {
        let class = stream.below(2);
        let row: Vec<f64> = (0..columns)
            .map(|j| {
                let x = stream.normal() + 0.2 * class as f64 * (j % 3) as f64;
                if j % 2 == 0 { (x * 1e4).round() / 1e4 } else { (x * 40.0).round() / 40.0 }
            })
            .collect();
        builder.dense_row(&row, &class.to_string()).unwrap();
    }
    Arc::new(builder.finish().unwrap())
}

fn learner(name: &str, settings: &[(&str, &str)]) -> Box<dyn Learner> {
    let mut all = Settings::default();
    settings.iter().for_each(|(flag, value)| all.set(flag, value));
    Recipe::find(name).unwrap().build(&all).unwrap()
}

fn fit(learner: &dyn Learner, data: &Arc<Dataset>, threads: usize) -> Fit {
    let task = Task::new(data.clone()).with_threads(threads);
    learner.fit(&task, &Limits::default(), &mut ()).unwrap()
}

fn gaps(fit: &Fit) -> Vec<f64> {
    let gap = |claim: &Claim| match claim {
        Claim::Optimal { optimality, .. } => optimality.gap,
        other => panic!("nothing optimal is claimed: {}", other.name()),
    };
    fit.certificate.claims.iter().map(gap).collect()
}

/// Every slice of a run in a training that has seen nothing but the state of the last one.
fn in_slices(learner: &dyn Learner, data: &Arc<Dataset>) -> Vec<u64> {
    let task = Task::new(data.clone());
    let mut training = learner.start(&task).unwrap();
    loop {
        let slice = training.epoch_rows() / 2 + 1;
        if training.advance(Budget::visits(slice)) != Status::Running {
            return bits(&training.model());
        }
        let kept = State::from_bytes(training.save().as_bytes().to_vec());
        training = learner.start(&task).unwrap();
        training.restore(&kept).unwrap();
    }
}

/// All that is asked of a learner on large data, and of a gap that binary32 does not reach.
fn is_sound(name: &str, settings: &[(&str, &str)], data: &Arc<Dataset>, plain: Option<&str>) {
    let words = format!("{name} {settings:?}");
    let quick = learner(name, settings);
    let [one, two] = [1, 2].map(|threads| fit(quick.as_ref(), data, threads));
    assert_eq!(bits(&one.model), bits(&two.model), "{words}: threads");
    assert!(gaps(&one).iter().all(|gap| *gap <= 1e-3), "{words}: {:?}", gaps(&one));
    assert_eq!(in_slices(quick.as_ref(), data), bits(&one.model), "{words}: slices");
    let fine = fit(learner(name, &[settings, &[("gap", "1e-7")]].concat()).as_ref(), data, 2);
    assert!(gaps(&fine).iter().all(|gap| *gap <= 1.01e-7), "{words}: {:?}", gaps(&fine));
    assert!(same_best(&one, &fine), "{words}: a finer run proves another optimum");
    if let Some(solver) = plain {
        let other =
            fit(learner(name, &[settings, &[("solver", solver)]].concat()).as_ref(), data, 2);
        assert!(same_best(&one, &other), "{words}: {solver} proves another optimum");
    }
}

#[test]
fn epochs_in_binary32_end_where_newton_does() {
    let data = wide(1500, 3000, 60, 2);
    assert!(data.nonzeros() > 1 << 16 && !data.is_dense(), "too small for what is tested here");
    for intercept in ["none", "penalised"] {
        is_sound("svm", &[("intercept", intercept)], &data, Some("newton"));
        is_sound("logistic", &[("intercept", intercept)], &data, Some("newton"));
    }
    let balanced = [("intercept", "none"), ("class-weight", "balanced"), ("c", "0.3")];
    is_sound("svm", &balanced, &data, Some("newton"));
}

#[test]
fn machines_in_one_sweep_are_each_proved() {
    for classes in [3, 10, 21] {
        let data = wide(1500, 3000, 60, classes);
        let quick = learner("svm", &[("intercept", "none")]);
        let [one, two] = [1, 2].map(|threads| fit(quick.as_ref(), &data, threads));
        assert_eq!(bits(&one.model), bits(&two.model), "{classes} classes: threads");
        assert_eq!(gaps(&one).len() as u64, classes);
        assert!(gaps(&one).iter().all(|gap| *gap <= 1e-3), "{classes}: {:?}", gaps(&one));
        assert_eq!(in_slices(quick.as_ref(), &data), bits(&one.model), "{classes}: slices");
    }
}

#[test]
fn more_machines_than_a_byte_can_count() {
    let data = wide(700, 1500, 12, 300);
    let classes = data.n_classes();
    assert!(classes > 256, "{classes}");
    let fit = fit(learner("svm", &[("intercept", "none")]).as_ref(), &data, 2);
    assert_eq!(gaps(&fit).len(), classes);
    assert!(gaps(&fit).iter().all(|gap| *gap <= 1e-3), "{:?}", gaps(&fit));
}

#[test]
fn products_in_bytes_end_where_dual_coordinates_do() {
    let data = tall(20_000, 56);
    assert!(data.is_dense() && data.n_rows() * data.n_features() > 1 << 20, "too small");
    for intercept in ["none", "free"] {
        is_sound("svm", &[("intercept", intercept)], &data, None);
        is_sound("logistic", &[("intercept", intercept)], &data, None);
    }
}

/// A sample has eight of the sixty rows of one class, and H of it is none of all rows.
#[test]
fn few_rows_of_a_class_take_few_steps() {
    let mut stream = Stream::new(9, Purpose::Generate(10));
    let mut builder = DatasetBuilder::new(20);
    for i in 0..20_000 {
        let is_rare = i % 333 == 0;
        let (centre, spread) = if is_rare { (2.0, 0.7) } else { (0.0, 2.0) };
        let mut value = || ((centre + spread * stream.normal()) * 1e4).round() / 1e4;
        let row: Vec<f64> = (0..20).map(|_| value()).collect();
        builder.dense_row(&row, if is_rare { "rare" } else { "common" }).unwrap();
    }
    let data = Arc::new(builder.finish().unwrap());
    for intercept in ["free", "penalised"] {
        let svm = learner("svm", &[("intercept", intercept), ("solver", "newton")]);
        let fit = svm.fit(&Task::new(data.clone()), &epochs(25), &mut ()).unwrap();
        assert!(gaps(&fit).iter().all(|gap| *gap <= 1e-3), "{intercept}: {:?}", gaps(&fit));
    }
}
