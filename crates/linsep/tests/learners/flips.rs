//! Which rows are final: no row that is called so has another class at a solution that is as good as
//! rounding allows.

use linsep::learn::logistic::{Intercept, Logistic};
use linsep::learn::svm::{HingeLoss, Svm};
use linsep::rng::{Purpose, Stream};
use linsep::select::flips::{Bound, final_rows};
use linsep::{Claim, Dataset, DatasetBuilder, Fit, Learner, Limits, Task};

/// Rows of two noisy classes; every third problem is sparse, every other weighted.
fn problem(number: u64) -> Task {
    let mut stream = Stream::new(number, Purpose::Generate(0));
    let rows = 60 + 10 * (number as usize % 7);
    let width = 2 + number as usize % 9;
    let mut builder = DatasetBuilder::new(width);
    let mut next = || 2.0 * stream.unit() - 1.0;
    for row in 0..rows {
        let values: Vec<f64> = (0..width)
            .map(|j| match number.is_multiple_of(3) && (row + j).is_multiple_of(2) {
                true => 0.0,
                false => 3.0 * next(),
            })
            .collect();
        let score = values[0] - 0.5 * values[1] + 0.3 + 2.0 * next();
        let label = if score > 0.0 { "up" } else { "down" };
        builder.dense_row(&values, label).unwrap();
        if number.is_multiple_of(2) {
            builder.weight(0.5 + (row % 3) as f64).unwrap();
        }
    }
    Task::new(builder.finish().unwrap())
}

const INTERCEPTS: [Intercept; 3] = [Intercept::Free, Intercept::Penalised, Intercept::None];

fn logistic(number: u64, gap: f64) -> Logistic {
    let mut logistic = Logistic::default();
    logistic.settings.c = [0.1, 1.0, 10.0][number as usize % 3];
    logistic.settings.intercept = INTERCEPTS[number as usize / 2 % 3];
    logistic.settings.class_weights = number.is_multiple_of(5).into();
    logistic.settings.gap = gap;
    logistic
}

fn svm(number: u64, gap: f64, loss: HingeLoss) -> Svm {
    let mut svm = Svm::default();
    svm.loss = loss;
    svm.settings.c = [0.1, 1.0, 10.0][number as usize % 3];
    svm.settings.intercept = INTERCEPTS[number as usize / 2 % 3];
    svm.settings.class_weights = number.is_multiple_of(5).into();
    svm.settings.gap = gap;
    svm
}

fn fit(learner: &dyn Learner, task: &Task) -> Fit {
    let limits = Limits::default().with_epochs(Some(50_000));
    learner.fit(task, &limits, &mut ()).unwrap()
}

/// The rows that are final, by each bound; none of them differs from the best model's.
fn settled(found: &Fit, best: &Fit, task: &Task, words: &str) -> [usize; 2] {
    let rows = final_rows(&found.certificate.claims, &found.model, task).unwrap();
    let all: Vec<u32> = (0..task.data.n_rows() as u32).collect();
    let classes = best.model.predict_rows(&task.data, &all);
    let mut counts = [0, 0];
    for (row, (class, by)) in rows.iter().enumerate() {
        if let Some(by) = by {
            assert_eq!(*class, classes[row], "{words}: row {row}, by {}", by.word());
            counts[usize::from(*by == Bound::Ball)] += 1;
        }
    }
    counts
}

#[test]
fn no_row_that_is_called_final_changes_at_a_better_solution() {
    let mut counts = [0, 0];
    let mut all = 0;
    for number in 0..20 {
        let task = problem(number);
        let best = fit(&logistic(number, 1e-12), &task);
        for gap in [1e-2, 1e-4, 1e-8] {
            let words = format!("logistic {number}, gap {gap}");
            let found = settled(&fit(&logistic(number, gap), &task), &best, &task, &words);
            counts = [counts[0] + found[0], counts[1] + found[1]];
            all += task.data.n_rows();
            if gap == 1e-8 {
                assert!(found[0] + found[1] >= task.data.n_rows() * 98 / 100, "{words}: {found:?}");
            }
        }
        let squared = |gap| svm(number, gap, HingeLoss::Squared);
        let best = fit(&squared(1e-12), &task);
        for gap in [1e-3, 1e-8] {
            let words = format!("squared hinge {number}, gap {gap}");
            settled(&fit(&squared(gap), &task), &best, &task, &words);
        }
    }
    assert!(counts[0] + counts[1] > all / 2, "{counts:?} of {all}");
}

#[test]
fn the_ball_alone_settles_rows_of_the_plain_hinge() {
    let mut final_ones = 0;
    for number in [2, 4, 8, 10] {
        let task = problem(number);
        let plain = |gap| svm(number, gap, HingeLoss::Plain);
        let best = fit(&plain(1e-9), &task);
        let [dual, ball] =
            settled(&fit(&plain(1e-6), &task), &best, &task, &format!("hinge {number}"));
        assert_eq!(dual, 0);
        final_ones += ball;
    }
    assert!(final_ones > 100, "{final_ones}");
}

#[test]
fn a_free_bias_has_an_interval_that_narrows_around_the_best_one() {
    for number in 0..12 {
        let task = problem(number);
        let run = |gap| {
            let mut logistic = logistic(number, gap);
            logistic.settings.intercept = Intercept::Free;
            fit(&logistic, &task)
        };
        let best = run(1e-13).model.planes[0].bias;
        let mut last = f64::INFINITY;
        for gap in [1e-2, 1e-5, 1e-9] {
            let found = run(gap);
            let [Claim::Optimal { optimality, .. }] = &found.certificate.claims[..] else {
                panic!("{:?}", found.certificate.claims)
            };
            let interval = optimality.bias.expect("an interval of the bias");
            assert!(
                interval.least <= best && best <= interval.most,
                "{number}: {interval:?} {best}"
            );
            let width = interval.most - interval.least;
            assert!(width <= last, "{number}: {width} after {last}");
            // About as wide as the root of the gap, however small it is.
            let distance = optimality.primal - optimality.bound;
            assert!(width <= 6.0 * distance.sqrt(), "{number}: {width} {distance}");
            last = width;
        }
    }
}

#[test]
fn machines_side_by_side_are_final_where_the_winner_leads_everywhere() {
    let mut stream = Stream::new(3, Purpose::Generate(0));
    let mut next = || 2.0 * stream.unit() - 1.0;
    let names = ["a", "b", "c"];
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for row in 0..120 {
        let class = row % 3;
        let centre = [[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]][class];
        rows.push([centre[0] + 1.5 * next(), centre[1] + 1.5 * next()]);
        labels.push(names[class]);
    }
    let task = Task::new(Dataset::from_rows(&rows, &labels).unwrap());
    let run = |gap| {
        let mut svm = Svm::default();
        svm.settings.gap = gap;
        let machines = linsep::run::reduction::OneVsRest(svm);
        fit(&machines, &task)
    };
    let best = run(1e-12);
    let [dual, ball] = settled(&run(1e-8), &best, &task, "three classes");
    assert_eq!(dual, 0);
    assert!(ball > 100, "{ball}");
    let early = Logistic::default();
    let early = early.fit(&task, &Limits::default().with_epochs(Some(0)), &mut ()).unwrap();
    let error = final_rows(&early.certificate.claims, &early.model, &task).unwrap_err();
    assert!(error.to_string().contains("proved"), "{error}");
}
