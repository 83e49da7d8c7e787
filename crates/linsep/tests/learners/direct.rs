//! What the lectures say about learners that need no steps, tried out on small tables.

use crate::support::{Table, overlapping, table};
use linsep::learn::discriminant::{Fisher, Lda, Shrinkage, Threshold};
use linsep::learn::least_squares::{LeastSquares, blame};
use linsep::recipe::{Recipe, Settings};
use linsep::{Dataset, Datum, Fit, Learner, Limits, LinearModel, Task};

fn run(learner: &dyn Learner, table: &Table) -> Fit {
    learner.fit(&table.task(), &Limits::default(), &mut ()).unwrap()
}

fn built(name: &str, settings: &[(&str, &str)]) -> Box<dyn Learner> {
    let mut all = Settings::default();
    settings.iter().for_each(|(name, value)| all.set(name, value));
    Recipe::find(name).unwrap().build(&all).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn cosine(a: &LinearModel, b: &LinearModel) -> f64 {
    let (a, b) = (&a.planes[0].weights, &b.planes[0].weights);
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

fn remark(fit: &Fit, name: &str) -> Datum {
    fit.remarks.iter().find(|remark| remark.name == name).unwrap().data.clone()
}

/// With targets N/N₁ and −N/N₂ least squares gives Fisher's direction (Bishop 4.1.5); targets +1 and −1
/// are these up to a factor and a shift, which change the length of w and the bias only.
#[test]
fn least_squares_finds_the_direction_of_fisher() {
    let uneven = overlapping().filter(|i| i % 5 != 1 && i != 7);
    let (squares, fisher) =
        (run(&LeastSquares::default(), &uneven), run(&Fisher::default(), &uneven));
    assert!((cosine(&squares.model, &fisher.model) - 1.0).abs() < 1e-12);
    assert!((cosine(&fisher.model, &run(&Lda::default(), &uneven).model) - 1.0).abs() < 1e-12);
}

fn criterion(table: &Table, w: &[f64]) -> f64 {
    let mean = |class: &str| {
        let scores = table.rows.iter().zip(&table.labels).filter(|(_, label)| *label == class);
        let scores: Vec<f64> = scores.map(|(row, _)| dot(row, w)).collect();
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        (mean, scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>())
    };
    let ((a, spread_a), (b, spread_b)) = (mean("ant"), mean("bee"));
    (b - a) * (b - a) / (spread_a + spread_b)
}

#[test]
fn no_other_direction_has_a_larger_criterion() {
    let table = overlapping();
    let fit = run(&Fisher::default(), &table);
    let best = criterion(&table, &fit.model.planes[0].weights);
    assert!((remark(&fit, "J").as_f64().unwrap() - best).abs() < 1e-12 * best);
    for j in 0..11 {
        for step in [-0.3, 0.01, 0.2] {
            let mut other = fit.model.planes[0].weights.clone();
            other[j] += step;
            assert!(criterion(&table, &other) < best);
        }
    }
}

#[test]
fn the_threshold_of_fewest_errors_has_no_more_than_any_other() {
    let table = overlapping().filter(|i| i % 7 != 2);
    let errors = |model: &LinearModel| model.evaluate(&table.data(), None, 1).errors;
    let fit = run(built("fisher", &[("threshold", "error")]).as_ref(), &table);
    let mut shifted = fit.model.clone();
    for k in -400..400 {
        shifted.planes[0].bias = fit.model.planes[0].bias + f64::from(k) * 0.05;
        assert!(errors(&fit.model) <= errors(&shifted));
    }
    for threshold in [Threshold::Midpoint, Threshold::Prior] {
        let other = run(built("fisher", &[("threshold", threshold.word())]).as_ref(), &table);
        assert!(errors(&fit.model) <= errors(&other.model));
    }
}

/// One fit instead of as many as there are rows.
#[test]
fn errors_of_rows_left_out_are_those_of_fits_without_them() {
    for (settings, table) in [
        (&[("l2", "0.7")][..], overlapping()),
        (&[][..], table("three", (40, 3, 3), 0.8, |s| s.normal())),
    ] {
        let learner = built("least-squares", settings);
        let found = remark(&run(learner.as_ref(), &table), "left out");
        let (mut errors, mut squares) = (0, 0.0);
        for row in 0..table.rows.len() {
            let all = table.data();
            let others: Vec<u32> =
                (0..all.n_rows() as u32).filter(|&i| i as usize != row).collect();
            let task = Task::new(all).with_rows(Some(others.into()));
            let model = learner.fit(&task, &Limits::default(), &mut ()).unwrap().model;
            errors += u64::from(model.predict(&table.rows[row]).unwrap() != table.labels[row]);
            let class = ["ant", "bee", "cat"].iter().position(|c| *c == table.labels[row]).unwrap();
            for (plane, score) in model.scores(&table.rows[row]).unwrap().into_iter().enumerate() {
                let target = match model.planes.len() {
                    1 => 2.0 * class as f64 - 1.0,
                    _ => f64::from(u8::from(plane == class)),
                };
                squares += (score - target) * (score - target);
            }
        }
        assert_eq!(found.get("errors").unwrap().as_u64(), Some(errors));
        let left_out = found.get("squared_error").unwrap().as_f64().unwrap();
        assert!((left_out - squares).abs() < 1e-9 * squares, "{left_out} {squares}");
    }
}

/// A row far on its right side turns the plane, and the report says that it is to blame.
#[test]
fn rows_that_are_too_correct_are_blamed() {
    let rows = [[0.0], [1.0], [2.0], [3.0], [40.0]];
    let data = Dataset::from_rows(&rows, &["a", "a", "b", "b", "b"]).unwrap();
    let model = LeastSquares::default()
        .fit(&Task::new(data.clone()), &Limits::default(), &mut ())
        .unwrap()
        .model;
    let found = blame(&model, &data, None);
    let errors: Vec<f64> = (0..5)
        .map(|i| model.scores(&rows[i]).unwrap()[0] - if i < 2 { -1.0 } else { 1.0 })
        .collect();
    assert!(errors[4] > 0.0 && found.too_correct_rows == 1);
    let total = dot(&errors, &errors);
    assert!((found.squared_error - total).abs() < 1e-12);
    assert!((found.too_correct - errors[4] * errors[4] / total).abs() < 1e-12);
    assert!(model.evaluate(&data, None, 1).errors > 0, "the far row costs a row that is near");
}

#[test]
fn equal_columns_share_the_weight_and_constant_ones_get_none() {
    let single = table("plain", (30, 3, 2), 0.5, |s| s.normal());
    let mut double = single.clone();
    for row in &mut double.rows {
        let first = row[0];
        row.extend([first, 7.5]);
    }
    let [one, two] = [&single, &double].map(|t| run(&LeastSquares::default(), t));
    let (one_w, two_w) = (&one.model.planes[0].weights, &two.model.planes[0].weights);
    assert!((two_w[0] - one_w[0] / 2.0).abs() < 1e-12 && (two_w[3] - two_w[0]).abs() < 1e-12);
    assert!((two_w[1] - one_w[1]).abs() < 1e-12 && two_w[4] == 0.0);
    assert!(two.certificate.proves_something());
}

/// More columns than rows: of the planes that meet every target the shortest is a blend of rows.
#[test]
fn the_shortest_plane_is_found_where_there_are_many() {
    let wide = table("wide", (12, 30, 2), 0.5, |s| s.normal());
    let fit = run(&LeastSquares::default(), &wide);
    assert!(fit.certificate.proves_something());
    let mean: Vec<f64> =
        (0..30).map(|j| wide.rows.iter().map(|row| row[j]).sum::<f64>() / 12.0).collect();
    let mut rest = fit.model.planes[0].weights.clone();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in &wide.rows {
        let mut row: Vec<f64> = row.iter().zip(&mean).map(|(x, m)| x - m).collect();
        for _ in 0..2 {
            for unit in &basis {
                let part = dot(unit, &row);
                row.iter_mut().zip(unit).for_each(|(x, u)| *x -= part * u);
            }
        }
        let length = dot(&row, &row).sqrt();
        if length > 1e-9 {
            basis.push(row.iter().map(|x| x / length).collect());
        }
    }
    let length = dot(&rest, &rest).sqrt();
    for unit in &basis {
        let part = dot(unit, &rest);
        rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= part * u);
    }
    assert!(dot(&rest, &rest).sqrt() < 1e-9 * length);
    assert_eq!(fit.model.evaluate(&wide.data(), None, 1).errors, 0);
}

/// Where a direction has no spread within the classes and tells them apart, nothing beats it.
#[test]
fn classes_that_are_points_in_a_direction_are_told_apart_by_it() {
    let rows = [[0.0, 1.0], [3.0, 1.0], [1.0, 2.0], [5.0, 2.0]];
    let data = Dataset::from_rows(&rows, &["a", "a", "b", "b"]).unwrap();
    let fit = |learner: &dyn Learner| {
        learner.fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap()
    };
    let points = fit(&Fisher::default());
    assert_eq!(points.model.planes[0].weights[0], 0.0);
    assert_eq!(points.model.evaluate(&data, None, 1).errors, 0);
    assert!(!points.certificate.proves_something());
    assert_eq!(remark(&points, "J"), Datum::from("infinite"));
    let mut shrunk = Lda::default();
    shrunk.shrinkage = Shrinkage::Share(0.1);
    assert!(fit(&shrunk).certificate.proves_something());
}

#[test]
fn posteriors_are_probabilities_and_the_largest_is_the_class() {
    let table = table("counts", (60, 5, 3), 0.5, |s| s.below(6) as f64);
    for name in ["lda", "shared-variance-nb", "multinomial-nb", "bernoulli-nb"] {
        let model = run(built(name, &[]).as_ref(), &table).model;
        for row in &table.rows {
            let scores = model.scores(row).unwrap();
            let all = model.probabilities_of_scores(&scores).unwrap();
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let class = model.class_of(&scores) as usize;
            assert!(all.iter().all(|p| (0.0..=1.0).contains(p) && *p <= all[class]));
        }
    }
    let model = run(&Fisher::default(), &table).model;
    assert_eq!(model.probabilities_of_scores(&[1.0, 2.0, 3.0]), None);
}

/// Posteriors of the smallest example: one column, one value in each class.
#[test]
fn counts_give_the_posteriors_that_paper_gives() {
    let data = Dataset::from_rows(&[[3.0, 1.0], [0.0, 2.0]], &["a", "b"]).unwrap();
    let model = built("multinomial-nb", &[])
        .fit(&Task::new(data.clone()), &Limits::default(), &mut ())
        .unwrap()
        .model;
    // a: (3+1)/(4+2), (1+1)/(4+2); b: (0+1)/(2+2), (2+1)/(2+2).
    let odds = (0.25 / (4.0 / 6.0)) * (0.75 / (2.0 / 6.0));
    let found = model.probabilities_of_scores(&model.scores(&[1.0, 1.0]).unwrap()).unwrap();
    assert!((found[1] - odds / (1.0 + odds)).abs() < 1e-15);
    let on = built("bernoulli-nb", &[]).fit(&Task::new(data), &Limits::default(), &mut ()).unwrap();
    // Column 1 is on in a only: 2/3 and 1/3; column 2 in both: 2/3 and 2/3.
    let found = on.model.probabilities_of_scores(&on.model.scores(&[1.0, 9.0]).unwrap()).unwrap();
    assert!((found[1] - 1.0 / 3.0).abs() < 1e-15);
}

/// Rows that fill several blocks, about a third of their values 0, three classes.
fn many_rows(middle: f64) -> Dataset {
    let mut state = 7u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let classes = ["ant", "bee", "cat"];
    let row = |i: usize, draw: &mut dyn FnMut() -> f64| -> Vec<f64> {
        let value = |j: usize| match draw() {
            zero if zero < 0.3 => middle,
            x => middle + x + 0.2 * f64::from(u8::from(j % 3 == i % 3)),
        };
        (0..13).map(value).collect()
    };
    let rows: Vec<Vec<f64>> = (0..20_000).map(|i| row(i, &mut draw)).collect();
    let labels: Vec<&str> = (0..20_000).map(|i| classes[i % 3]).collect();
    Dataset::from_rows(&rows, &labels).unwrap()
}

#[test]
fn threads_change_no_bit_where_rows_fill_many_blocks() {
    let data = std::sync::Arc::new(many_rows(0.0));
    for name in ["least-squares", "lda", "fisher", "multinomial-nb", "shared-variance-nb"] {
        let bits = |threads: usize, data: &std::sync::Arc<Dataset>| {
            let task = Task::new(data.clone()).with_threads(threads);
            let fit = built(name, &[]).fit(&task, &Limits::default(), &mut ()).unwrap();
            assert_ne!(fit.certificate.claims[0].name(), "unproved", "{name}");
            let planes = fit.model.planes.iter();
            let numbers = planes.flat_map(|plane| plane.weights.iter().chain([&plane.bias]));
            numbers.map(|x| x.to_bits()).collect::<Vec<u64>>()
        };
        let one = bits(1, &data);
        assert_eq!(one, bits(2, &data), "{name}");
        assert_eq!(one, bits(3, &data), "{name}");
        let other = std::sync::Arc::new(data.with_other_storage());
        assert_eq!(one, bits(2, &other), "{name}");
    }
}

/// Columns whose values agree to seven digits: plain sums would drown the differences.
#[test]
fn columns_far_from_zero_are_solved_and_proved() {
    let (near, far) = (many_rows(0.0), many_rows((1u64 << 24) as f64));
    for name in ["least-squares", "lda"] {
        let fit = |data: &Dataset| {
            let task = Task::new(data.clone()).with_threads(2);
            built(name, &[]).fit(&task, &Limits::default(), &mut ()).unwrap()
        };
        let (near, far) = (fit(&near), fit(&far));
        assert_eq!(far.certificate.claims[0].name(), "stationary", "{name}");
        for (a, b) in near.model.planes.iter().zip(&far.model.planes) {
            // The values themselves lose their last bits next to 2^24.
            let off =
                a.weights.iter().zip(&b.weights).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let size = a.weights.iter().map(|w| w.abs()).fold(0.0, f64::max);
            assert!(off < 1e-6 * size, "{name}: {off} of {size}");
        }
    }
}

#[test]
fn rows_left_out_are_counted_when_asked_for() {
    let table = overlapping();
    let run_with = |when: &str| run(built("least-squares", &[("left-out", when)]).as_ref(), &table);
    let (auto, always, never) = (run_with("auto"), run_with("always"), run_with("never"));
    assert_eq!(remark(&auto, "left out"), remark(&always, "left out"));
    assert!(never.remarks.iter().all(|remark| remark.name != "left out"));
    assert_eq!(auto.model, never.model);
    let mut settings = Settings::default();
    settings.set("left-out", "sometimes");
    let error = Recipe::find("least-squares").unwrap().build(&settings).err().unwrap();
    assert!(error.to_string().contains("sometimes"), "{error}");
}
