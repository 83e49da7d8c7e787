//! The two convergence proofs of the lectures, step by step and in whole numbers: on rows of whole
//! numbers with η = 1 every weight vector is whole, and the plane of the largest margin is a fraction.

use linsep::data::scale::Scaling;
use linsep::learn::perceptron::{Init, Order, Perceptron};
use linsep::proof::Claim;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::{Budget, Dataset, Learner, Plane, Status, Task};

/// Rows z = ±(1, x), and X = Σ λ z with L = Σ λ: X/L is the shortest point of their hull, γ² = X·X/L².
struct Proved {
    data: Dataset,
    z: Vec<Vec<i128>>,
    x: Vec<i128>,
    l: i128,
}

fn dot(a: &[i128], b: &[i128]) -> i128 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Separable sets of small whole numbers, each with the exact margin that the judge proved.
fn sets() -> Vec<Proved> {
    let mut found = Vec::new();
    for seed in 0..120 {
        let mut stream = Stream::new(seed, Purpose::Generate(8));
        let width = 1 + stream.below(3) as usize;
        let count = 4 + stream.below(9) as usize;
        let rows: Vec<Vec<f64>> = (0..count)
            .map(|_| (0..width).map(|_| stream.below(9) as f64 - 4.0).collect())
            .collect();
        let labels: Vec<&str> = rows
            .iter()
            .map(|row| if row.iter().sum::<f64>() > 0.5 { "up" } else { "down" })
            .collect();
        let data = Dataset::from_rows(&rows, &labels).unwrap();
        if data.n_classes() < 2 {
            continue;
        }
        let judge = Judge::new(data.clone());
        let decision = judge.class("up", &|| false).unwrap();
        assert_eq!(decision.verdict, Verdict::Separable);
        let margin = judge.augmented_margin(&decision, 1, &|| false).expect("an exact margin");
        let Claim::Margin { support, .. } = &margin.claim else { panic!() };
        let z: Vec<Vec<i128>> = rows
            .iter()
            .zip(&labels)
            .map(|(row, label)| {
                let y = if *label == "up" { 1 } else { -1 };
                [1.0].iter().chain(row).map(|x| y * *x as i128).collect()
            })
            .collect();
        let (mut x, mut l) = (vec![0; width + 1], 0);
        for weighted in support {
            let lambda: i128 = weighted.lambda.parse().unwrap();
            l += lambda;
            x.iter_mut().zip(&z[weighted.row as usize]).for_each(|(x, z)| *x += lambda * z);
        }
        found.push(Proved { data, z, x, l });
    }
    assert!(found.len() > 80);
    found
}

/// (b, w) as whole numbers.
fn whole(plane: &Plane) -> Vec<i128> {
    let numbers = [plane.bias].into_iter().chain(plane.weights.iter().copied());
    numbers.inspect(|x| assert_eq!(x.fract(), 0.0)).map(|x| x as i128).collect()
}

fn perceptron(start: Option<Vec<f64>>, order: Order) -> Perceptron {
    let mut perceptron = Perceptron::default();
    perceptron.scale = Scaling::None;
    perceptron.order = order;
    if let Some(start) = start {
        perceptron.init = Init::Given(vec![Plane::new(start[1..].to_vec(), start[0])]);
    }
    perceptron
}

#[test]
fn every_correction_keeps_what_the_two_proofs_say_of_it() {
    let mut corrections = 0;
    for (number, Proved { data, z, x, l }) in sets().into_iter().enumerate() {
        let beta2 = z.iter().map(|z| dot(z, z)).max().unwrap();
        let square = dot(&x, &x);
        let mut stream = Stream::new(number as u64, Purpose::Generate(9));
        let random = |stream: &mut Stream| -> Vec<f64> {
            (0..x.len()).map(|_| stream.below(41) as f64 - 20.0).collect()
        };
        for start in [None, Some(random(&mut stream)), Some(random(&mut stream))] {
            for order in [Order::Cyclic, Order::Shuffle, Order::Blocks, Order::WorstFirst] {
                let learner = perceptron(start.clone(), order);
                let mut run = learner.start(&Task::new(data.clone())).unwrap();
                let first = whole(&run.model().planes[0]);
                // With a = α â = (β² L / X·X) X, q = X·X makes q w − β² L X whole.
                let away = |w: &[i128]| {
                    let part = w.iter().zip(&x).map(|(w, x)| square * w - beta2 * l * x);
                    part.map(|d| d * d).sum::<i128>()
                };
                let (mut k, mut before) = (0, first.clone());
                loop {
                    let status = run.advance(Budget::new(u64::MAX, 1));
                    let now = whole(&run.model().planes[0]);
                    if now == before {
                        assert_eq!(status, Status::Finished);
                        break;
                    }
                    k += 1;
                    // Proof 1 (lecture 000): the squared distance to αâ falls by β² or more.
                    assert!(away(&now) <= away(&before) - beta2 * square * square);
                    // Proof 2 (lecture 002): |w|² ≤ |w₀|² + k R², (w − w₀)·ŵ ≥ k γ.
                    assert!(dot(&now, &now) <= dot(&first, &first) + k * beta2);
                    let moved: Vec<i128> = now.iter().zip(&first).map(|(a, b)| a - b).collect();
                    assert!(dot(&moved, &x) * l >= k * square);
                    before = now;
                }
                // k₀ = |a₁ − αâ|²/β², and from 0 that is R²/γ².
                assert!(k * beta2 * square * square <= away(&first), "{k}");
                if start.is_none() {
                    assert!(k * square <= beta2 * l * l);
                }
                corrections += k;
            }
        }
    }
    assert!(corrections > 3000, "{corrections}");
}

/// On rows divided by their lengths: the bound that the judge proves for the unit sphere.
#[test]
fn unit_rows_need_no_more_corrections_than_their_own_margin_allows() {
    let mut seen = 0;
    for Proved { data, z, .. } in sets() {
        let judge = Judge::new(data.clone());
        let decision = judge.class("up", &|| false).unwrap();
        let margin = judge.augmented_margin(&decision, 1, &|| false).unwrap();
        let bounds = judge.mistake_bounds(&decision, &margin, &|| false).unwrap();
        let mut learner = perceptron(None, Order::Cyclic);
        learner.scale = Scaling::Unit;
        let mut run = learner.start(&Task::new(data)).unwrap();
        while run.advance(Budget::visits(z.len() as u64)) == Status::Running {}
        let corrections = run.progress().updates;
        assert!(corrections as f64 <= bounds.unit_sphere.unwrap(), "{corrections}");
        seen += corrections;
    }
    assert!(seen > 200, "{seen}");
}
