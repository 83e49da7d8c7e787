//! Tests of the generators.

use super::*;

fn spec(kind: Kind, change: impl Fn(&mut GenerateSpec)) -> GenerateSpec {
    let mut spec = GenerateSpec::new(kind);
    change(&mut spec);
    spec
}

/// All labels and rows; a sparse row as id, value, id, value, …
fn all(spec: &GenerateSpec) -> Vec<(String, Vec<f64>)> {
    let mut generator = Generator::new(spec).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = generator.next_row() {
        let values = match row.values {
            Values::Dense(values) => values.to_vec(),
            Values::Sparse(pairs) => pairs.iter().flat_map(|p| [f64::from(p.0), p.1]).collect(),
        };
        rows.push((row.label.to_string(), values));
    }
    assert_eq!(rows.len() as u64, generator.rows());
    rows
}

fn sign(label: &str) -> f64 {
    label.parse().unwrap()
}

#[test]
fn a_seed_names_the_rows_and_noise_changes_only_labels() {
    for &kind in Kind::ALL {
        assert_eq!(Kind::parse(kind.name()), Some(kind));
        let rows = all(&spec(kind, |_| ()));
        assert_eq!(rows, all(&spec(kind, |_| ())));
        assert_eq!(rows == all(&spec(kind, |s| s.seed = 1)), rows.len() == 4, "{kind:?}");
        assert!(rows.iter().any(|(label, _)| *label != rows[0].0));
        let decimals = |v: &f64| v.to_string().split_once('.').map_or(0, |(_, tail)| tail.len());
        assert!(rows.iter().flat_map(|(_, row)| row).all(|v| decimals(v) <= 6));
        let noisy = all(&spec(kind, |s| s.noise = 0.2));
        assert!(rows.iter().zip(&noisy).all(|(a, b)| a.1 == b.1));
        let changed = rows.iter().zip(&noisy).filter(|(a, b)| a.0 != b.0).count();
        assert!(rows.len() < 1000 || (150..250).contains(&changed), "{changed}");
    }
}

#[test]
fn gates_are_truth_tables() {
    for (kind, inputs) in Kind::ALL[1..5].iter().flat_map(|&k| (2..5).map(move |n| (k, n))) {
        let rows = all(&spec(kind, |s| s.features = Some(inputs)));
        for (i, (label, row)) in rows.iter().enumerate() {
            assert_eq!(row.iter().fold(0, |n, v| 2 * n + *v as usize), i);
            let truth = match kind {
                Kind::And => row.iter().all(|&v| v == 1.0),
                Kind::Or => row.contains(&1.0),
                _ => row.iter().sum::<f64>() % 2.0 == 1.0,
            };
            assert_eq!(*label, u8::from(truth).to_string());
        }
    }
}

#[test]
fn the_hidden_plane_separates_with_the_margin() {
    for (kind, features, margin) in [
        (Kind::Blobs, 1, 0.0),
        (Kind::Blobs, 2, 0.3),
        (Kind::Blobs, 5000, 2.0),
        (Kind::Outlier, 3, 1e6),
        (Kind::Gaussian, 1, 0.0),
        (Kind::Gaussian, 50, 0.0),
    ] {
        let spec = spec(kind, |s| (s.features, s.margin) = (Some(features), Some(margin)));
        let generator = Generator::new(&spec).unwrap();
        for (label, row) in all(&spec) {
            let distance = sign(&label) * dot(&row, generator.hidden_plane().unwrap());
            assert!(distance > 0.0 && distance >= margin / 2.0, "{kind:?} {distance}");
        }
    }
}

#[test]
fn bisectors_of_many_classes_are_half_the_margin_away() {
    for (k, n) in [(3, 1), (3, 2), (5, 2), (7, 40), (40, 3)] {
        let spec = spec(Kind::Blobs, |s| (s.classes, s.features) = (Some(k), Some(n)));
        let generator = Generator::new(&spec).unwrap();
        let centre = |class| {
            let flat = (0..n).map(|axis| generator.centre(class, axis).unwrap_or(0.0));
            let flat: Vec<f64> = flat.collect();
            let twice = 2.0 * dot(&flat, &generator.normal);
            flat.iter().zip(&generator.normal).map(|(c, u)| c - twice * u).collect()
        };
        let centres: Vec<Vec<f64>> = (0..k).map(centre).collect();
        for (label, row) in all(&spec) {
            let own = &centres[label.parse::<usize>().unwrap() - 1];
            for other in centres.iter().filter(|other| *other != own) {
                let weights: Vec<f64> = own.iter().zip(other).map(|(a, b)| a - b).collect();
                let gap = dot(&weights, &row) - (dot(own, own) - dot(other, other)) / 2.0;
                assert!(gap / dot(&weights, &weights).sqrt() >= 0.25, "{k} {n}");
            }
        }
    }
}

#[test]
fn touching_is_weakly_but_not_strictly_separable() {
    for features in [1, 2, 3, 30] {
        let rows = all(&spec(Kind::Touching, |s| s.features = Some(features)));
        // z = y(x, 1) in whole numbers.
        let z = |(label, row): &(String, Vec<f64>)| -> Vec<i64> {
            row.iter().chain(&[1.0]).map(|v| (sign(label) * v) as i64).collect()
        };
        let side = |row| z(row)[..features].iter().sum::<i64>();
        assert!(rows.iter().all(|row| side(row) >= 0) && side(&rows[4]) > 0);
        assert!(side(&rows[5]) > 0 && rows[4].0 != rows[5].0);
        let witness = (0..=features).map(|j| rows[..4].iter().map(|row| z(row)[j]).sum::<i64>());
        assert!(witness.eq(vec![0; features + 1]));
        let clash = rows.iter().any(|a| rows.iter().any(|b| a.1 == b.1 && a.0 != b.0));
        assert_eq!(clash, features == 1);
    }
}

#[test]
fn least_squares_fails_on_outlier() {
    for (seed, rows) in (0..20).flat_map(|seed| [(seed, 50), (seed, 201)]) {
        let data = all(&spec(Kind::Outlier, |s| (s.seed, s.rows) = (seed, Some(rows))));
        let mean = |f: &dyn Fn(f64, &[f64]) -> f64| {
            data.iter().map(|(label, row)| f(sign(label), row)).sum::<f64>() / rows as f64
        };
        let (y, p, q) = (mean(&|y, _| y), mean(&|_, x| x[0]), mean(&|_, x| x[1]));
        let (pp, qq) = (mean(&|_, x| (x[0] - p).powi(2)), mean(&|_, x| (x[1] - q).powi(2)));
        let pq = mean(&|_, x| (x[0] - p) * (x[1] - q));
        let (py, qy) = (mean(&|y, x| y * (x[0] - p)), mean(&|y, x| y * (x[1] - q)));
        let (u, v) = (py * qq - qy * pq, qy * pp - py * pq);
        let level = y * (pp * qq - pq * pq) - u * p - v * q;
        let wrong = mean(&|s, x| f64::from(s * (u * x[0] + v * x[1] + level) <= 0.0));
        assert!(wrong > 0.1, "{seed} {rows} {wrong}");
    }
}

#[test]
fn zipf_rows_are_sparse_sorted_and_distinct() {
    for (n, nonzeros) in [(1, 1), (2, 2), (50, 50), (10_000, 20), (10_000_000, 300)] {
        let sizes = (Some(n), Some(nonzeros));
        let rows = all(&spec(Kind::Zipf, |s| (s.features, s.nonzeros) = sizes));
        for (_, row) in &rows {
            let (ids, values): (Vec<f64>, Vec<f64>) = row.chunks(2).map(|p| (p[0], p[1])).unzip();
            assert!(ids.is_sorted_by(|a, b| a < b) && ids[ids.len() - 1] < n as f64);
            assert!(values.iter().all(|&v| v > 0.0));
            assert!((dot(&values, &values) - 1.0).abs() < 1e-3);
        }
        let mean = rows.iter().map(|(_, row)| row.len() / 2).sum::<usize>() as f64 / 1000.0;
        assert!(n < 100 || (mean / nonzeros as f64 - 1.0).abs() < 0.1, "{mean}");
        assert_eq!(rows[0].0 == rows[1].0, n == 1);
    }
}

#[test]
fn bad_parameters_are_usage_errors() {
    let bad = |kind, change: &dyn Fn(&mut GenerateSpec), message: &str| {
        let error = Generator::new(&spec(kind, change)).err().unwrap();
        assert!(matches!(error, Error::Usage { .. }));
        assert_eq!(error.to_string(), message);
    };
    bad(Kind::Blobs, &|s| s.rows = Some(0), "rows of blobs must be at least 1, not 0");
    bad(Kind::Xor, &|s| s.rows = Some(5), "rows of xor must be 4, not 5");
    bad(Kind::Touching, &|s| s.rows = Some(5), "rows of touching must be at least 6, not 5");
    bad(Kind::And, &|s| s.features = Some(25), "features of and must be from 1 to 24, not 25");
    bad(Kind::Zipf, &|s| s.classes = Some(3), "classes of zipf must be 2, not 3");
    bad(Kind::Gaussian, &|s| s.margin = Some(1.0), "margin of gaussian must be 0, not 1");
    let message = "margin of blobs must be from 0 to 1000000, not NaN";
    bad(Kind::Blobs, &|s| s.margin = Some(f64::NAN), message);
    let message = "nonzeros of zipf must be from 1 to 10000, not 0";
    bad(Kind::Zipf, &|s| s.nonzeros = Some(0), message);
    for noise in [1.0, -0.1, f64::NAN] {
        let message = format!("noise must be at least 0 and below 1, not {noise}");
        bad(Kind::Or, &|s| s.noise = noise, &message);
    }
}
