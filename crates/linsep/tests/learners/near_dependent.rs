//! Columns that are dependent but for their last digits: least squares and discriminants find the exact answer,
//! and no other weights pass.

use crate::support::{fit, variants_of};
use linsep::data::read::ReadingChoice;
use linsep::learn::discriminant::{Fisher, Lda, Shrinkage};
use linsep::learn::least_squares::LeastSquares;
use linsep::proof::{
    Claim, ClassWeight, Equations, Finding, FloatPlane, Planes, check_claim, exact_answer,
};
use linsep::rng::{Purpose, Stream};
use linsep::{Dataset, Datum, Fit, Learner, Limits, Task};

const READINGS: [ReadingChoice; 2] = [ReadingChoice::Decimal, ReadingChoice::Binary64];

/// b − a has the sign of the class, and nothing else does.
const TABLES: [&str; 3] = [
    "a,b,label\n4e15,4000000000000001,1\n-4e15,-4000000000000001,-1\n4e15,3999999999999999,-1\n-4e15,-3999999999999999,1\n",
    "a,b,label\n0.4,0.400000000000001,1\n-0.4,-0.400000000000001,-1\n0.4,0.399999999999999,-1\n-0.4,-0.399999999999999,1\n",
    "a,b,label\n0.4,0.400000001,1\n0.7,0.699999999,-1\n0.4,0.399999999,-1\n0.1,0.100000001,1\n0.3,0.300000002,1\n",
];

fn read(text: &str, reading: ReadingChoice) -> Dataset {
    let file = crate::files::Files::new(&[("data.csv", text.as_bytes())]);
    file.read(|o| o.reading = reading).unwrap().data
}

fn run(learner: &dyn Learner, data: &Dataset) -> Fit {
    learner.fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap()
}

fn remark(fit: &Fit, name: &str) -> Datum {
    fit.remarks.iter().find(|remark| remark.name == name).unwrap().data.clone()
}

fn finding(claim: &Claim, data: &Dataset) -> Finding {
    check_claim(claim, data, &data.reading_field(), true, 2)
}

#[test]
fn the_exact_answer_is_found_and_its_rank_is_exact() {
    for (number, text) in TABLES.into_iter().enumerate() {
        for reading in READINGS {
            if number == 0 && reading == ReadingChoice::Decimal {
                continue; // 4000000000000001 has 16 digits, and no decimal reading.
            }
            let data = read(text, reading);
            for balanced in [false, true] {
                let learner = LeastSquares::default().with_class_weights(balanced.into());
                let fit = run(&learner, &data);
                let words = format!("table {number}, {reading:?}, balanced {balanced}");
                assert_eq!(fit.model.evaluate(&data, None, 1).errors, 0, "{words}");
                assert_eq!(fit.certificate.claims[0].name(), "stationary", "{words}");
                let columns = remark(&fit, "columns");
                assert_eq!(columns.get("independent").unwrap().as_u64(), Some(2), "{words}");
                assert_eq!(columns.get("rank").unwrap(), &Datum::from("exact"), "{words}");
                assert!(columns.get("condition_at_least").unwrap().as_f64().unwrap() > 1e6);
                if number == 0 {
                    assert_eq!(fit.model.planes[0].weights, [-1.0, 1.0], "{words}");
                    assert_eq!(fit.model.planes[0].bias, 0.0, "{words}");
                }
            }
        }
    }
}

/// Every bit of every number of the plane: what moves the scores by more than a millionth is refused.
#[test]
fn a_bit_that_moves_the_scores_is_refused() {
    for (number, text) in TABLES.into_iter().enumerate() {
        let data = read(text, ReadingChoice::Binary64);
        let fit = run(&LeastSquares::default(), &data);
        let Claim::Stationary { planes: Planes::Two { problem, plane }, equations } =
            &fit.certificate.claims[0]
        else {
            panic!()
        };
        let (weights, bias) = (plane.weights.clone().unwrap(), plane.bias.unwrap());
        let rows: Vec<[f64; 2]> =
            (0..data.n_rows()).map(|i| [data.row(i)[0], data.row(i)[1]]).collect();
        let (mut refused, mut kept) = (0, 0);
        for place in 0..3 {
            for bit in 0..64 {
                let (mut other, mut other_bias) = (weights.clone(), bias);
                let value = if place < 2 { &mut other[place] } else { &mut other_bias };
                let before = *value;
                *value = f64::from_bits(value.to_bits() ^ (1 << bit));
                if !value.is_finite() {
                    continue;
                }
                // One number is changed, so the change of each score is one product.
                let change = *value - before;
                let moved = |row: &[f64; 2]| if place < 2 { change * row[place] } else { change };
                let moved = rows.iter().map(|row| moved(row).powi(2)).sum::<f64>().sqrt();
                // The scores of the answer are +1 and -1 or less, so their norm is at most this.
                let norm = (rows.len() as f64).sqrt();
                let plane =
                    FloatPlane::default().with_weights(Some(other)).with_bias(Some(other_bias));
                let planes = Planes::Two { problem: problem.clone(), plane };
                let found =
                    finding(&Claim::Stationary { planes, equations: equations.clone() }, &data);
                if moved > 1e-6 * norm {
                    assert!(!found.holds(), "table {number}, number {place}, bit {bit}: {found:?}");
                    refused += 1;
                } else if moved < 1e-8 * norm {
                    assert!(found.holds(), "table {number}, number {place}, bit {bit}: {found:?}");
                    kept += 1;
                }
            }
        }
        assert!(refused > 60 && kept > 10, "{refused} {kept}");
    }
}

/// What a factorisation in binary64 gives: the columns taken for one.
#[test]
fn the_answer_without_the_last_digits_is_refused() {
    for text in TABLES {
        let data = read(text, ReadingChoice::Binary64);
        let fit = run(&LeastSquares::default(), &data);
        let Claim::Stationary { planes: Planes::Two { problem, .. }, equations } =
            &fit.certificate.claims[0]
        else {
            panic!()
        };
        // The residual of 0 is small next to columns of this size; the answer is far.
        let plane = FloatPlane::default().with_weights(Some(vec![0.0, 0.0])).with_bias(Some(0.2));
        let planes = Planes::Two { problem: problem.clone(), plane };
        let found = finding(&Claim::Stationary { planes, equations: equations.clone() }, &data);
        assert!(
            matches!(&found, Finding::Fails(words) if words.contains("exact answer")),
            "{found:?}"
        );
    }
}

/// Squares of 1e-200 are 0 in binary64; the column counts all the same.
#[test]
fn a_column_too_small_for_squares_counts() {
    let rows: Vec<[f64; 2]> = (0..12)
        .map(|i| [f64::from(i * i % 7), if i % 3 == 0 { 1e-200 } else { -1e-200 }])
        .collect();
    let labels: Vec<&str> = (0..12).map(|i| if i % 3 == 0 { "up" } else { "down" }).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let fit = run(&LeastSquares::default(), &data);
    assert_eq!(fit.model.evaluate(&data, None, 1).errors, 0);
    let Claim::Stationary { planes: Planes::Two { problem, .. }, equations } =
        &fit.certificate.claims[0]
    else {
        panic!("{:?}", fit.certificate)
    };
    // The answer of the other column alone.
    let one: Vec<[f64; 1]> = rows.iter().map(|row| [row[0]]).collect();
    let alone = run(&LeastSquares::default(), &Dataset::from_rows(&one, &labels).unwrap());
    let plane = &alone.model.planes[0];
    let weights = vec![plane.weights[0], 0.0];
    let plane = FloatPlane::default().with_weights(Some(weights)).with_bias(Some(plane.bias));
    let planes = Planes::Two { problem: problem.clone(), plane };
    let found = finding(&Claim::Stationary { planes, equations: equations.clone() }, &data);
    assert!(!found.holds(), "{found:?}");
}

/// Weights of 1e15 have steps of an eighth, so their sum, which the common part of the columns needs, is too
/// coarse: the nearest answer is taken, and nothing is claimed.
#[test]
fn where_binary64_has_no_weights_nothing_is_claimed() {
    let text = "a,b,label\n0.4,0.400000000000001,1\n0.7,0.699999999999999,-1\n0.4,0.399999999999999,-1\n0.1,0.100000000000001,1\n0.3,0.300000000000002,1\n";
    for reading in READINGS {
        let data = read(text, reading);
        let fit = run(&LeastSquares::default(), &data);
        assert!(!fit.certificate.proves_something());
        let Claim::Unproved { reason } = &fit.certificate.claims[0] else { panic!() };
        assert!(reason.contains("nearly dependent"), "{reason}");
        assert_eq!(fit.model.evaluate(&data, None, 1).errors, 0);
    }
}

/// Without the constant part, the classes differ in a direction in which they have hardly any spread.
#[test]
fn discriminants_are_exact_too() {
    let text = "a,b,label\n0.4,0.400000001,1\n0.7,0.699999999,-1\n0.4,0.399999998,-1\n0.1,0.100000002,1\n0.3,0.300000001,1\n0.9,0.899999997,-1\n";
    for reading in READINGS {
        let data = read(text, reading);
        let fisher = Fisher::default();
        for learner in [&fisher as &dyn Learner, &Lda::default()] {
            let fit = run(learner, &data);
            assert_eq!(fit.model.evaluate(&data, None, 1).errors, 0, "{reading:?}");
            assert_eq!(fit.certificate.claims[0].name(), "stationary", "{reading:?}");
            let columns = remark(&fit, "columns");
            assert_eq!(columns.get("independent").unwrap().as_u64(), Some(2));
            assert_eq!(columns.get("rank").unwrap(), &Datum::from("exact"));
        }
        let mut shrunk = Lda::default();
        shrunk.shrinkage = Shrinkage::Share(0.25);
        assert_eq!(run(&shrunk, &data).certificate.claims[0].name(), "stationary");
    }
}

/// With decimals 0.3 is 0.1 + 0.2, with binary64 it is not: the third column depends on the others or not.
#[test]
fn the_reading_decides_the_rank() {
    let text = "a,b,c,label\n0.1,0.2,0.3,1\n0.7,0.1,0.8,-1\n0.4,0.3,0.7,-1\n0.1,0.7,0.8,1\n0.6,0.3,0.9,1\n0.2,0.5,0.7,-1\n";
    for (reading, rank) in [(ReadingChoice::Decimal, 2), (ReadingChoice::Binary64, 3)] {
        let data = read(text, reading);
        let columns = remark(&run(&LeastSquares::default(), &data), "columns");
        assert_eq!(columns.get("independent").unwrap().as_u64(), Some(rank), "{reading:?}");
        assert_eq!(columns.get("rank").unwrap(), &Datum::from("exact"));
    }
}

/// Whole numbers and binary64 agree where nothing is nearly dependent, for every setting.
#[test]
fn exact_answers_are_those_of_the_learners() {
    let mut count = 0;
    for (seed, classes) in [(1u64, 2usize), (2, 3)] {
        let mut stream = Stream::new(seed, Purpose::Generate(9));
        let rows: Vec<Vec<f64>> =
            (0..40).map(|_| (0..4).map(|_| stream.normal()).collect()).collect();
        let names = ["ant", "bee", "cat"];
        let labels: Vec<&str> = (0..40).map(|i| names[i * i % 7 % classes]).collect();
        let data = Dataset::from_rows(&rows, &labels).unwrap();
        let settings = ["l2", "class-weight", "threshold", "shrinkage", "priors"];
        let direct = ["least-squares", "fisher", "lda"];
        for variant in variants_of(&settings) {
            let task = Task::new(data.clone());
            if !direct.contains(&variant.recipe.name) || !variant.accepts(&task) {
                continue;
            }
            let fitted = fit(variant.learner().as_ref(), &task);
            let Claim::Stationary { planes, equations } = &fitted.certificate.claims[0] else {
                panic!("{}", variant.words())
            };
            let answer = exact_answer(planes, equations, &data, &data.reading_field()).unwrap();
            assert!(
                answer.distance <= 1.0 && answer.rounded_distance <= 1.0 && answer.has_answer,
                "{}",
                variant.words()
            );
            let rounded = answer.rounded.unwrap();
            for (plane, (weights, _)) in fitted.model.planes.iter().zip(&rounded) {
                for (found, exact) in plane.weights.iter().zip(weights) {
                    let size = weights.iter().map(|w| w.abs()).fold(0.0, f64::max);
                    assert!((found - exact).abs() <= 1e-11 * size, "{}", variant.words());
                }
            }
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

/// Of many exact answers the shortest: columns a, 2a, b and a column of nearly b.
#[test]
fn the_shortest_of_many_exact_answers_is_found() {
    let text = "a,c,b,d,label\n1,2,0.4,0.400000001,1\n2,4,0.7,0.699999999,-1\n-1,-2,0.4,0.399999999,-1\n1,2,0.1,0.100000001,1\n0,0,0.3,0.300000002,1\n3,6,0.5,0.499999999,1\n";
    let data = read(text, ReadingChoice::Decimal);
    let fit = run(&LeastSquares::default(), &data);
    assert_eq!(fit.certificate.claims[0].name(), "stationary");
    let columns = remark(&fit, "columns");
    assert_eq!(columns.get("independent").unwrap().as_u64(), Some(3));
    let weights = &fit.model.planes[0].weights;
    assert!((weights[1] - 2.0 * weights[0]).abs() <= 1e-12 * weights[1].abs(), "{weights:?}");
}

/// Columns that differ by 1, by 1e-1, …, by 1e-16, and weights that are off by as little: whatever is said about the
/// exact answer is true of it, whichever way it was shown.
#[test]
fn what_is_said_of_the_exact_answer_is_true_of_it() {
    let (mut held, mut refused) = (0, 0);
    for power in 0..=16 {
        let mut stream = Stream::new(power as u64, Purpose::Generate(3));
        let rows: Vec<[f64; 3]> = (0..30)
            .map(|_| {
                let (a, b) = (stream.normal(), stream.normal());
                [a, b, a - b + 10f64.powi(-power) * stream.normal()]
            })
            .collect();
        let labels: Vec<&str> = rows
            .iter()
            .map(|row| if row[0] + stream.normal() > 0.0 { "up" } else { "down" })
            .collect();
        let data = Dataset::from_rows(&rows, &labels).unwrap();
        let fit = run(&LeastSquares::default(), &data);
        let problem = match &fit.certificate.claims[0] {
            Claim::Stationary { planes: Planes::Two { problem, .. }, .. } => problem.clone(),
            _ => continue, // The weights of the exact answer are too long for binary64.
        };
        let plane = &fit.model.planes[0];
        for column in 0..3 {
            for off in 0..=16 {
                let mut weights = plane.weights.clone();
                weights[column] *= 1.0 + 10f64.powi(-off);
                let plane =
                    FloatPlane::default().with_weights(Some(weights)).with_bias(Some(plane.bias));
                let planes = Planes::Two { problem: problem.clone(), plane };
                let equations =
                    Equations::LeastSquares { l2: 0.0, class_weight: ClassWeight::None };
                let reading = data.reading_field();
                let exact = exact_answer(&planes, &equations, &data, &reading).unwrap();
                let found = finding(&Claim::Stationary { planes, equations }, &data);
                let words = format!("1e-{power}, weight {column} by 1e-{off}: {exact:?} {found:?}");
                match found {
                    Finding::Holds(said) => {
                        assert!(said.contains("exact answer's"), "{words}");
                        assert!(exact.distance <= 1.001, "{words}");
                        held += 1;
                    }
                    _ => {
                        assert!(exact.distance > 0.3, "{words}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(held > 100 && refused > 100, "{held} {refused}");
}

/// Too large for whole numbers: only the residual is claimed, in those words.
#[test]
fn what_is_too_large_is_claimed_of_the_residual_only() {
    let mut stream = Stream::new(5, Purpose::Generate(5));
    let rows: Vec<Vec<f64>> = (0..600)
        .map(|_| {
            let mut row: Vec<f64> = (0..90).map(|_| stream.normal()).collect();
            // The sum of the others, as binary64 makes it.
            row.push(row.iter().sum());
            row
        })
        .collect();
    let labels: Vec<&str> =
        rows.iter().map(|row| if row[0] + row[1] > row[2] { "up" } else { "down" }).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let fit = run(&LeastSquares::default(), &data);
    let columns = remark(&fit, "columns");
    assert_eq!(columns.get("rank").unwrap(), &Datum::from("numerical"));
    let Finding::Holds(words) = finding(&fit.certificate.claims[0], &data) else { panic!() };
    assert!(words.starts_with("the residual of the equations is at most "), "{words}");
    assert!(words.contains("not bounded"), "{words}");
    let said: f64 = words["the residual of the equations is at most ".len()..]
        .split_once(' ')
        .and_then(|(number, _)| number.parse().ok())
        .unwrap();
    let found = residual(&fit, &rows, &labels);
    assert!(found <= said + 1e-13 && said < 1e-9, "{found} {said}");
    // A ridge makes the answer certain again.
    let ridge = run(&LeastSquares::default().with_l2(1.0), &data);
    let Finding::Holds(words) = finding(&ridge.certificate.claims[0], &data) else { panic!() };
    assert!(words.contains("exact answer's (least squares, l2 = 1, class weight none)"), "{words}");
    let wrong = match &ridge.certificate.claims[0] {
        Claim::Stationary { planes, .. } => Claim::Stationary {
            planes: planes.clone(),
            equations: Equations::LeastSquares { l2: 1.0, class_weight: ClassWeight::Balanced },
        },
        _ => panic!(),
    };
    assert!(!finding(&wrong, &data).holds());
}

/// The residual of the normal equations in columns of norm 1, as a share of the norm of the scores.
fn residual(fit: &Fit, rows: &[Vec<f64>], labels: &[&str]) -> f64 {
    let n = rows.len() as f64;
    let positive = &fit.model.classes[1];
    let scores: Vec<f64> = rows.iter().map(|row| fit.model.scores(row).unwrap()[0]).collect();
    let target = |label: &&str| if label == positive { 1.0 } else { -1.0 };
    let off: Vec<f64> = scores.iter().zip(labels).map(|(s, label)| s - target(label)).collect();
    let mut square = (off.iter().sum::<f64>() / n.sqrt()).powi(2);
    for j in 0..rows[0].len() {
        let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n;
        let norm = rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>().sqrt();
        let sum: f64 = rows.iter().zip(&off).map(|(row, off)| off * (row[j] - mean)).sum();
        square += (sum / norm).powi(2);
    }
    (square / scores.iter().map(|s| s * s).sum::<f64>()).sqrt()
}
