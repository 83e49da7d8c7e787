//! ROMMA against its formulas and against what is proved of it.

use crate::support::epochs;
use linsep::data::scale::Scaling;
use linsep::learn::perceptron::Order;
use linsep::learn::romma::Romma;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::{Budget, Dataset, Learner, Plane, Status, Stop, Task};

/// Raw columns, rows in the order of the file.
fn plain() -> Romma {
    let mut romma = Romma::default();
    romma.order = Order::Cyclic;
    romma.scale = Scaling::None;
    romma
}

/// z = y (x, 1) of a row.
fn reflected(data: &Dataset, row: usize) -> Vec<f64> {
    let y = if data.class_of(row) == 1 { 1.0 } else { -1.0 };
    data.row(row).iter().chain([&1.0]).map(|x| y * x).collect()
}

fn vector(plane: &Plane) -> Vec<f64> {
    plane.weights.iter().chain([&plane.bias]).copied().collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Small whole numbers, labelled by a hidden plane.
fn separable(seed: u64) -> Dataset {
    let mut stream = Stream::new(seed, Purpose::Generate(5));
    let width = 1 + seed as usize % 4;
    let hidden: Vec<f64> = (0..=width).map(|_| stream.below(9) as f64 - 4.0).collect();
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        let row: Vec<f64> = (0..width).map(|_| stream.below(11) as f64 - 5.0).collect();
        let score = hidden[width] + dot(&row, &hidden);
        if score != 0.0 {
            labels.push(if score > 0.0 { "yes" } else { "no" });
            rows.push(row);
        }
    }
    // Both classes are there.
    let far = |side: f64| hidden[..width].iter().map(|w| side * 40.0 * w.signum()).collect();
    rows.extend([far(1.0), far(-1.0)]);
    labels.extend(["yes", "no"]);
    Dataset::from_rows(&rows, &labels).unwrap()
}

/// The hidden plane may have no weights at all; such data has one class on both far rows.
fn sets() -> impl Iterator<Item = Dataset> {
    (0..40).map(separable).filter(|data| {
        let decision = Judge::new(data.clone()).class("yes", &|| false).unwrap();
        decision.verdict == Verdict::Separable
    })
}

/// Every update by hand: c and d of the paper, and the two constraints that they meet.
#[test]
fn an_update_is_what_the_formula_says() {
    let mut updates = 0;
    for data in sets() {
        let mut run = plain().start(&Task::new(data.clone())).unwrap();
        let mut w = vec![0.0; data.n_features() + 1];
        for visit in 0..3 * data.n_rows() {
            let row = visit % data.n_rows();
            let (z, before) = (reflected(&data, row), w.clone());
            let (m, row_square, square) = (dot(&w, &z), dot(&z, &z), dot(&w, &w));
            let made = run.progress().updates;
            let status = run.advance(Budget::visits(1));
            w = vector(&run.model().planes[0]);
            // Rounding decides about rows on the plane.
            let tie = m.abs() <= 1e-12 * (row_square * square).sqrt();
            if run.progress().updates == made {
                assert!(m > 0.0 || tie, "{m}");
                assert_eq!(w, before);
                continue;
            }
            assert!(m <= 0.0 || tie, "{m}");
            updates += 1;
            let spread = row_square * square - m * m;
            let (c, d) = match square == 0.0 {
                true => (1.0, 1.0 / row_square),
                false => ((row_square * square - m) / spread, square * (1.0 - m) / spread),
            };
            let size = dot(&w, &w).sqrt();
            for ((found, old), z) in w.iter().zip(&before).zip(&z) {
                assert!((found - (c * old + d * z)).abs() <= 1e-12 * size, "{w:?}");
            }
            // The row has the margin 1, and what was learned before is kept.
            assert!((dot(&w, &z) - 1.0).abs() < 1e-9 * size * row_square.sqrt());
            assert!((dot(&w, &before) - square).abs() <= 1e-9 * size * square.sqrt());
            // Shorter than any other that does: |w| never falls.
            assert!(dot(&w, &w) >= square * (1.0 - 1e-12));
            if status != Status::Running {
                break;
            }
        }
    }
    assert!(updates > 100, "{updates}");
}

/// At most R²/γ² updates, |w| at most 1/γ, and an end with a proof.
#[test]
fn separable_rows_are_separated_within_the_bound() {
    let mut seen = 0;
    for data in sets() {
        let judge = Judge::new(data.clone());
        let decision = judge.class("yes", &|| false).unwrap();
        let gamma = judge.margin(&decision).lower.unwrap();
        let square = |row: usize| dot(&reflected(&data, row), &reflected(&data, row));
        let longest = (0..data.n_rows()).map(square).fold(0.0, f64::max);
        let limits = epochs(100_000);
        let fit = plain().fit(&Task::new(data.clone()), &limits, &mut ()).unwrap();
        assert_eq!(fit.stop, Stop::Finished);
        assert!(fit.certificate.proves_something(), "{:?}", fit.certificate);
        let bound = longest / (gamma * gamma);
        assert!(fit.progress.updates as f64 <= bound, "{} {bound}", fit.progress.updates);
        let w = vector(&fit.model.planes[0]);
        assert!(dot(&w, &w).sqrt() <= (1.0 + 1e-9) / gamma);
        seen += 1;
    }
    assert!(seen > 30, "{seen}");
}

/// Rows that no plane separates neither end the run by its own rule nor lead its numbers astray.
#[test]
fn inseparable_rows_leave_the_weights_finite() {
    let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
    let xor = Task::new(Dataset::from_rows(&rows, &["0", "1", "1", "0"]).unwrap());
    let limits = epochs(20_000);
    let fit = plain().fit(&xor, &limits, &mut ()).unwrap();
    assert_eq!(fit.stop, Stop::Epochs);
    assert!(vector(&fit.model.planes[0]).iter().all(|w| w.is_finite()));
    assert!(!fit.certificate.proves_something());
    let mut centred = plain();
    centred.scale = Scaling::Standard;
    assert!(centred.start(&xor).err().unwrap().to_string().contains("none, pow2 or maxabs"));
}
