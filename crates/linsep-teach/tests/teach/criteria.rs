//! The criteria of a model: gradients against differences, weights against repeated rows, and the values
//! of small sets by hand.

use linsep::loss::Criterion;
use linsep::rng::{Purpose, Stream};
use linsep::{Dataset, DatasetBuilder, Learner, Limits, Plane, Task};
use linsep_teach::measure::{measure, measure_model};

fn cloud(rows: usize) -> Dataset {
    let mut stream = Stream::new(2, Purpose::Generate(8));
    let values: Vec<[f64; 3]> =
        (0..rows).map(|_| std::array::from_fn(|_| stream.normal())).collect();
    let labels: Vec<&str> = (0..rows).map(|i| ["a", "b", "c"][i % 3]).collect();
    Dataset::from_rows(&values, &labels).unwrap()
}

fn values(data: &Dataset, plane: &Plane) -> Vec<Option<f64>> {
    measure(data, plane, Some(1), 1).into_iter().map(|found| found.value).collect()
}

/// Away from kinks a gradient is what differences say, of the criterion that is divided by |w| too.
#[test]
fn gradients_are_those_of_the_values() {
    let data = cloud(60);
    let plane = Plane::new(vec![0.7, -1.3, 0.4], 0.2);
    let h = 1e-6;
    for found in measure(&data, &plane, Some(1), 1) {
        let gradient = found.gradient.clone().unwrap();
        let mut square = 0.0;
        for column in 0..4 {
            let moved = |by: f64| {
                let mut plane = plane.clone();
                match column {
                    3 => plane.bias += by,
                    column => plane.weights[column] += by,
                }
                let all = measure(&data, &plane, Some(1), 1);
                all.into_iter()
                    .find(|other| other.criterion == found.criterion)
                    .unwrap()
                    .value
                    .unwrap()
            };
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            let stated = if column == 3 { gradient.bias } else { gradient.weights[column] };
            assert!((slope - stated).abs() < 1e-4 * (1.0 + slope.abs()), "{:?}", found.criterion);
            square += stated * stated;
        }
        assert!((found.gradient_norm().unwrap() - square.sqrt()).abs() <= 1e-12 * square.sqrt());
    }
}

#[test]
fn cards_say_what_holds() {
    let data = cloud(60);
    let plane = Plane::new(vec![0.7, -1.3, 0.4], 0.2);
    let twice = Plane::new(plane.weights.iter().map(|w| 2.0 * w).collect(), 0.4);
    let other = Plane::new(vec![-0.2, 0.9, 1.4], -1.0);
    let (mut convex, pairs) = ([true; 7], 200);
    let mut stream = Stream::new(4, Purpose::Generate(9));
    for _ in 0..pairs {
        let mut draw = || Plane::new((0..3).map(|_| stream.normal()).collect(), stream.normal());
        let (a, b) = (draw(), draw());
        let middle = Plane::new(
            a.weights.iter().zip(&b.weights).map(|(a, b)| (a + b) / 2.0).collect(),
            (a.bias + b.bias) / 2.0,
        );
        let (at, left, right) = (values(&data, &middle), values(&data, &a), values(&data, &b));
        for k in 0..7 {
            let chord = (left[k].unwrap() + right[k].unwrap()) / 2.0;
            convex[k] &= at[k].unwrap() <= chord * (1.0 + 1e-12);
        }
    }
    for (k, criterion) in Criterion::ALL.into_iter().enumerate() {
        let card = criterion.card();
        assert_eq!(card.convex, convex[k], "{criterion:?}");
        let (one, two) = (values(&data, &plane)[k].unwrap(), values(&data, &twice)[k].unwrap());
        assert_eq!(card.scale_invariant, (one - two).abs() <= 1e-12 * one, "{criterion:?}");
        assert!(card.bounded_below && values(&data, &other)[k].unwrap() >= 0.0);
        assert_eq!(criterion.is_differentiable(), card.differentiable.starts_with("everywhere"));
    }
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    let rows = [([0.5, 1.0], "a"), ([2.0, -1.0], "b"), ([0.1, 0.3], "b")];
    let (mut weighted, mut repeated) = (DatasetBuilder::new(2), DatasetBuilder::new(2));
    for (k, (row, label)) in rows.iter().enumerate() {
        weighted.dense_row(row, label).unwrap();
        weighted.weight(k as f64).unwrap();
        (0..k).for_each(|_| repeated.dense_row(row, label).unwrap());
    }
    // Without its first row the repeated set has one class, which a criterion does not mind.
    let (weighted, repeated) = (weighted.finish().unwrap(), repeated.finish().unwrap());
    let plane = Plane::new(vec![1.0, 0.5], -1.0);
    let found = measure(&weighted, &plane, Some(1), 1);
    let wanted = measure(&repeated, &plane, Some(0), 1);
    for (found, wanted) in found.iter().zip(&wanted) {
        let off = (found.value.unwrap() - wanted.value.unwrap()).abs();
        assert!(off < 1e-12, "{:?}", found.criterion);
    }
}

#[test]
fn a_plane_without_weights_has_no_distances() {
    let data = cloud(9);
    let all = measure(&data, &Plane::new(vec![0.0; 3], 1.0), Some(0), 1);
    assert_eq!((all[1].value, all[1].gradient_norm()), (None, None));
    assert_eq!(all[0].value, Some(6.0));
}

#[test]
fn planes_of_a_model_are_judged_alone_and_together() {
    let data = cloud(90);
    let learner = linsep::learn::discriminant::Lda::default();
    let fit = learner.fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap();
    let found = measure_model(&fit.model, &data, 1).unwrap();
    assert_eq!((found.planes.len(), found.rows), (3, 90));
    let joint = found.joint.unwrap();
    let errors = fit.model.evaluate(&data, None, 1).errors;
    assert_eq!(joint[0], Some(errors as f64), "no ties here");
    let log_loss: f64 = (0..90)
        .map(|row| {
            let shares = fit
                .model
                .probabilities_of_scores(&fit.model.scores(&data.row(row)).unwrap())
                .unwrap();
            -shares[data.class_of(row) as usize].ln()
        })
        .sum();
    assert!((joint[6].unwrap() - log_loss).abs() < 1e-9);
    assert_eq!(joint[1], None);
    assert!(found.joint_gradient.unwrap() > 1.0);
    let stranger = Dataset::from_rows(&[[1.0, 2.0, 3.0]], &["z"]).unwrap();
    assert!(measure_model(&fit.model, &stranger, 1).is_err());
}

#[test]
fn the_squared_error_of_least_squares_is_flat_at_its_planes() {
    let data = cloud(90);
    let learner = linsep::learn::least_squares::LeastSquares::default();
    let fit = learner.fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap();
    let found = measure_model(&fit.model, &data, 1).unwrap();
    let sum: f64 = (0..90)
        .map(|row| {
            let scores = fit.model.scores(&data.row(row)).unwrap();
            let target = |k: usize| f64::from(u8::from(k == data.class_of(row) as usize));
            scores.iter().enumerate().map(|(k, s)| (s - target(k)).powi(2)).sum::<f64>()
        })
        .sum();
    assert!((found.joint.unwrap()[3].unwrap() - sum).abs() < 1e-9);
    assert!(found.joint_gradient.unwrap() < 1e-9, "{:?}", found.joint_gradient);
    // Against +1 and -1 the same planes are not at their minimum.
    assert!(found.planes[0].measured[3].gradient_norm().unwrap() > 1.0);
}
