//! Copies of rows are made once for all binary problems of a run, change no bit, and are freed with the
//! last run that uses them.

use crate::support::bits;
use linsep::recipe::{Recipe, Settings};
use linsep::rng::{Purpose, Stream};
use linsep::{Budget, Dataset, DatasetBuilder, Learner, Limits, Task, Training};
use std::sync::Arc;

const CLASSES: u64 = 5;

/// Rows of which `share` of the values are not 0; they are one of `levels` numbers, and higher in every
/// fifth column of the row's class.
fn data(rows: usize, columns: usize, share: f64, levels: u64) -> Arc<Dataset> {
    let mut stream = Stream::new(3, Purpose::Generate(11));
    let mut builder = DatasetBuilder::new(columns);
    for _ in 0..rows {
        let class = stream.below(CLASSES);
        let row: Vec<f64> = (0..columns as u64)
            .map(|j| match stream.unit() < share {
                true => (1 + stream.below(levels) + 20 * u64::from(j % CLASSES == class)) as f64,
                false => 0.0,
            })
            .collect();
        let label = if stream.below(8) == 0 { stream.below(CLASSES) } else { class };
        builder.dense_row(&row, &label.to_string()).unwrap();
    }
    Arc::new(builder.finish().unwrap())
}

/// Dense rows with so few values that are not 0 that a sparse copy pays.
fn mostly_zeros() -> Arc<Dataset> {
    let data = data(1200, 40, 0.2, 200);
    assert!(data.is_dense() && data.layouts().held().is_empty());
    data
}

fn logistic(settings: &[(&str, &str)]) -> Box<dyn Learner> {
    seeded(settings, 0)
}

fn seeded(settings: &[(&str, &str)], seed: u64) -> Box<dyn Learner> {
    let mut all = Settings::default();
    all.seed = seed;
    settings.iter().for_each(|(flag, value)| all.set(flag, value));
    Recipe::find("logistic").unwrap().build(&all).unwrap()
}

const OVR: (&str, &str) = ("multiclass", "ovr");

/// A run after one epoch of every binary classifier.
fn begun(learner: &dyn Learner, task: &Task) -> Box<dyn Training> {
    let mut training = learner.start(task).unwrap();
    training.advance(Budget::visits(training.epoch_rows()));
    training
}

fn names(data: &Dataset) -> Vec<&'static str> {
    data.layouts().held().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn five_binary_problems_share_one_sparse_copy() {
    let data = mostly_zeros();
    for threads in [1, 2] {
        let task = Task::new(data.clone()).with_threads(threads);
        let run = begun(logistic(&[OVR]).as_ref(), &task);
        assert_eq!(names(&data), ["sparse copy"]);
        // The cache, this test and each of the five.
        let copy = data.sparse_copy(1).unwrap();
        assert_eq!(Arc::strong_count(&copy), 2 + CLASSES as usize);
        drop(run);
        assert_eq!(Arc::strong_count(&copy), 2);
    }
    // Folds, and clones of the data, read the same copy.
    let copy = data.sparse_copy(1).unwrap();
    let half: Arc<[u32]> = (0..600).collect();
    let clone = Arc::new(Dataset::clone(&data));
    let task = Task::new(clone).with_rows(Some(half));
    let run = begun(logistic(&[OVR]).as_ref(), &task);
    assert_eq!(Arc::strong_count(&copy), 2 + CLASSES as usize);
    drop(run);
    // Entries of one-byte codes and their columns, one row start for each row and each 4,096 rows, and
    // the places and the largest value of each column.
    let rows = data.n_rows() as u64;
    let bytes = 5 * data.nonzeros() + 4 * (rows + 1) + 8 + 16 * data.n_features() as u64;
    assert_eq!(data.layouts().held(), [("sparse copy", bytes)]);
}

/// Runs of one class against the rest, each on data that shares nothing with that of the others.
fn apart(make: impl Fn() -> Arc<Dataset>, learner: &dyn Learner) -> Vec<u64> {
    let one = |class: u64| {
        let data = Dataset::clone(&make()).with_positive(&class.to_string()).unwrap();
        let fit = learner.fit(&Task::new(data), &Limits::default(), &mut ()).unwrap();
        bits(&fit.model)
    };
    (0..CLASSES).flat_map(one).collect()
}

fn together(make: impl Fn() -> Arc<Dataset>, learner: &dyn Learner, threads: usize) -> Vec<u64> {
    let task = Task::new(make()).with_threads(threads);
    bits(&learner.fit(&task, &Limits::default(), &mut ()).unwrap().model)
}

#[test]
fn shared_copies_change_no_bit() {
    let dense = || data(19_000, 56, 0.9, 180);
    let wide = || data(400, 1200, 0.16, 150);
    let agree = |make: &dyn Fn() -> Arc<Dataset>, settings: &[(&str, &str)]| {
        let learner = logistic(settings);
        let expected = apart(make, learner.as_ref());
        for threads in [1, 2] {
            assert_eq!(together(make, learner.as_ref(), threads), expected, "{settings:?}");
        }
    };
    let dual = [OVR, ("intercept", "none"), ("solver", "dual")];
    agree(&mostly_zeros, &[OVR]);
    agree(&wide, &[OVR, ("gap", "1e-2")]);
    agree(&wide, &dual);
    agree(&dense, &[OVR]);
}

#[test]
fn five_binary_problems_share_one_permuted_copy() {
    let data = data(600, 1500, 0.1, 150);
    assert!(data.nonzeros() > 1 << 16 && !data.is_dense(), "too small for a copy");
    let settings = [OVR, ("intercept", "none"), ("solver", "dual")];
    let learner = logistic(&settings);
    let run = learner.start(&Task::new(data.clone())).unwrap();
    let held = data.layouts().held();
    assert_eq!(names(&data), ["permuted rows"]);
    // A column and a value for each entry; its start, its square and its position for each row.
    let rows = data.n_rows() as u64;
    let least = 8 * data.nonzeros() + 16 * rows + 4 * data.n_features() as u64;
    assert!((least..least + least / 6).contains(&held[0].1), "{held:?}, not {least}");

    // Another run on these rows needs no other copy; one on other rows or with another seed does.
    let same = learner.start(&Task::new(data.clone())).unwrap();
    assert_eq!(data.layouts().held(), held);
    let half: Arc<[u32]> = (0..300).collect();
    let fold = learner.start(&Task::new(data.clone()).with_rows(Some(half))).unwrap();
    assert_eq!(names(&data), ["permuted rows"; 2]);
    let other = seeded(&settings, 9).start(&Task::new(data.clone())).unwrap();
    assert_eq!(names(&data), ["permuted rows"; 3]);
    // Each is freed with the last of its runs.
    drop((fold, other, run));
    assert_eq!(data.layouts().held(), held);
    drop(same);
    assert!(data.layouts().held().is_empty());
}

#[test]
fn five_binary_problems_share_one_quantised_copy() {
    let data = data(20_000, 56, 0.9, 200);
    for threads in [1, 2] {
        let task = Task::new(data.clone()).with_threads(threads);
        let run = begun(logistic(&[OVR]).as_ref(), &task);
        let held = data.layouts().held();
        assert_eq!(names(&data), ["quantised rows"]);
        // A byte for each value and a unit for each column, and a little for each piece of the rows.
        let least = (data.n_rows() * data.n_features() + 8 * data.n_features()) as u64;
        assert!((least..least + least / 100).contains(&held[0].1), "{held:?}, not {least}");
        drop(run);
        assert!(data.layouts().held().is_empty());
    }
}
