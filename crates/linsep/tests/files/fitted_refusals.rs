//! The checker refuses claims about fitted models that are not true: weights moved so that the scores
//! move by a millionth of their norm, a cell, a label, a setting, the digest, a class altered.

use crate::support::{Table, Variant, fit, table, variants_of};
use linsep::learn::bayes::MultinomialBayes;
use linsep::proof::{
    CertificateFile, Claim, ClassWeight, Equations, Finding, FloatPlane, Offset, Planes, Priors,
    Statistics, check_claim, check_file,
};
use linsep::{Dataset, Task};

/// A claim with the table that it is about.
struct Case {
    words: String,
    table: Table,
    claim: Claim,
}

fn cases() -> Vec<Case> {
    let mut all = Vec::new();
    let mut weighted = table("weighted counts", (60, 4, 2), 1.0, |s| s.below(9) as f64);
    weighted.weights = Some((0..60).map(|i| [1.0, 0.5, 3.0][i % 3]).collect());
    let far = table("far from 0", (50, 3, 2), 1.0, |s| 1000.0 + s.normal());
    let three = table("three", (60, 4, 3), 0.5, |s| s.below(7) as f64);
    for table in [weighted, far, three] {
        let task = table.task();
        let settings = ["l2", "class-weight", "threshold", "shrinkage", "priors"];
        // The exact margin is no fit of equations or counts; its claims are altered in hard_margin.rs.
        let fitted = |v: &Variant| v.is_direct() && v.recipe.name != "hard-margin";
        for variant in variants_of(&settings).into_iter().filter(fitted) {
            if variant.accepts(&task) {
                all.push(case(&variant, &table, &task));
            }
        }
    }
    all
}

fn case(variant: &Variant, table: &Table, task: &Task) -> Case {
    let certificate = fit(variant.learner().as_ref(), task).certificate;
    let words = format!("{}, {}", table.name, variant.words());
    assert!(certificate.proves_something(), "{words}: {certificate:?}");
    Case { words, table: table.clone(), claim: certificate.claims[0].clone() }
}

fn finding(claim: &Claim, data: &Dataset) -> Finding {
    check_claim(claim, data, &data.reading_field(), true, 2)
}

fn refused(case: &Case, claim: &Claim, table: &Table, what: &str) {
    let found = finding(claim, &table.data());
    assert!(matches!(found, Finding::Fails(_)), "{what} in {}: {found:?}", case.words);
}

/// Every plane of a claim, as (weights, bias), changed by `change`.
fn with_plane(claim: &Claim, plane: usize, change: impl Fn(&mut [f64], &mut f64)) -> Claim {
    let edit = |plane: &mut FloatPlane| {
        change(plane.weights.as_mut().unwrap(), plane.bias.as_mut().unwrap());
    };
    let mut claim = claim.clone();
    match planes_of(&mut claim) {
        Planes::Two { plane, .. } => edit(plane),
        Planes::Each(planes) => edit(&mut planes[plane]),
    }
    claim
}

fn planes_of(claim: &mut Claim) -> &mut Planes {
    match claim {
        Claim::Stationary { planes, .. } | Claim::Counts { planes, .. } => planes,
        _ => panic!("no claim of a fitted model: {claim:?}"),
    }
}

fn plane_count(claim: &Claim) -> usize {
    match planes_of(&mut claim.clone()) {
        Planes::Two { .. } => 1,
        Planes::Each(planes) => planes.len(),
    }
}

/// √Σ f (a·x + b)² over the rows, f their weights.
fn norm(table: &Table, weights: &[f64], bias: f64) -> f64 {
    let score = |row: &[f64]| row.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>() + bias;
    let rows = table.rows.iter().zip(table.weights_or_ones());
    rows.map(|(row, f)| f * score(row) * score(row)).sum::<f64>().sqrt()
}

#[test]
fn weights_that_move_the_scores_by_a_millionth_are_refused() {
    let mut count = 0;
    for case in cases() {
        assert!(finding(&case.claim, &case.table.data()).holds(), "{}", case.words);
        let free = matches!(
            case.claim,
            Claim::Stationary { equations: Equations::Discriminant { bias: Offset::Free, .. }, .. }
        );
        // With classes weighted alike the norm counts them alike too; the margin covers that.
        let share = if case.words.contains("balanced") || case.words.contains("uniform") {
            3e-6
        } else {
            1.05e-6
        };
        let seen = seen_by(&case);
        for plane in 0..plane_count(&case.claim) {
            let width = case.table.rows[0].len();
            for column in (0..width).map(Some).chain((!free).then_some(None)) {
                for sign in [1.0, -1.0] {
                    let altered = with_plane(&case.claim, plane, |weights, bias| {
                        let size = share * norm(&seen, weights, *bias);
                        let mut unit = vec![0.0; width];
                        match column {
                            Some(j) => {
                                unit[j] = 1.0;
                                // With a bias that makes up for the mean, so that little else moves.
                                let mean = weighted_mean(&seen, j);
                                if matches!(case.claim, Claim::Counts { .. }) {
                                    weights[j] += sign * size / norm(&seen, &unit, 0.0);
                                } else {
                                    let step = sign * size / norm(&seen, &unit, -mean);
                                    weights[j] += step;
                                    *bias -= step * mean;
                                }
                            }
                            None => *bias += sign * size / norm(&seen, &unit, 1.0),
                        }
                    });
                    // Scores that are 0 throughout have no millionth.
                    if altered != case.claim {
                        refused(&case, &altered, &case.table, "a weight");
                        count += 1;
                    }
                }
            }
        }
    }
    assert!(count > 500, "{count} changes");
}

/// The table as the model sees it: on or off where values are binarised.
fn seen_by(case: &Case) -> Table {
    let mut table = case.table.clone();
    let statistics = match &case.claim {
        Claim::Counts { statistics, .. } => statistics.clone(),
        _ => return table,
    };
    if let Statistics::Bernoulli { binarize, .. } = statistics {
        let on = |x: &mut f64| *x = f64::from(u8::from(*x > binarize));
        table.rows.iter_mut().flatten().for_each(on);
    }
    table
}

fn weighted_mean(table: &Table, column: usize) -> f64 {
    let weights = table.weights_or_ones();
    let sum: f64 = table.rows.iter().zip(&weights).map(|(row, f)| f * row[column]).sum();
    sum / weights.iter().sum::<f64>()
}

#[test]
fn sentences_name_the_settings() {
    let mut seen = std::collections::BTreeSet::new();
    for case in cases() {
        let Finding::Holds(words) = finding(&case.claim, &case.table.data()) else { panic!() };
        let settings = match &case.claim {
            Claim::Stationary { equations, .. } => equations.words(),
            Claim::Counts { statistics, .. } => statistics.words(),
            _ => panic!("{}", case.words),
        };
        let weights = if case.table.weights.is_some() { ", row weights" } else { "" };
        assert!(words.ends_with(&format!(" ({settings}{weights})")), "{words}");
        seen.insert(settings);
    }
    for part in ["l2 = 0,", "balanced", "shrinkage = 0,", "uniform priors", "midpoint of the means"]
    {
        assert!(seen.iter().any(|words| words.contains(part)), "{part}: {seen:?}");
    }
    for part in
        ["midpoint and priors", "nothing claimed of the bias", "alpha = ", "smoothing = 1e-9"]
    {
        assert!(seen.iter().any(|words| words.contains(part)), "{part}: {seen:?}");
    }
}

#[test]
fn a_cell_or_a_label_that_is_changed_is_refused() {
    for case in cases() {
        let classes =
            ["ant", "bee", "cat"].iter().filter(|c| case.table.labels.iter().any(|l| l == *c));
        let classes: Vec<&&str> = classes.collect();
        for row in [0, 7, 31] {
            for column in 0..case.table.rows[0].len() {
                let mut altered = case.table.clone();
                // Across every threshold, so that a value that is on or off changes too.
                let x = &mut altered.rows[row][column];
                *x = if *x > 0.0 && case.table.name != "far from 0" { 0.0 } else { *x + 3.0 };
                let binary = case.words.contains("bernoulli-nb");
                if !(binary && case.table.name == "far from 0") {
                    refused(&case, &case.claim, &altered, "a cell");
                }
            }
            let mut altered = case.table.clone();
            let other = classes.iter().find(|class| ***class != altered.labels[row]).unwrap();
            altered.labels[row] = (**other).to_string();
            refused(&case, &case.claim, &altered, "a label");
        }
    }
}

#[test]
fn another_setting_is_refused() {
    for case in cases() {
        let mut altered = case.claim.clone();
        let mut others: Vec<Claim> = Vec::new();
        match &mut altered {
            Claim::Stationary {
                equations: Equations::LeastSquares { l2, class_weight }, ..
            } => {
                *l2 += 0.01;
                let balanced = *class_weight == ClassWeight::Balanced;
                others.push(altered.clone());
                if let Claim::Stationary {
                    equations: Equations::LeastSquares { l2, class_weight },
                    ..
                } = &mut altered
                {
                    *l2 = -1.0;
                    *class_weight =
                        if balanced { ClassWeight::None } else { ClassWeight::Balanced };
                    others.push(altered.clone());
                }
            }
            Claim::Stationary { equations: Equations::Discriminant { shrinkage, .. }, .. } => {
                *shrinkage += 0.01;
                others.push(altered.clone());
            }
            Claim::Counts { statistics, .. } => {
                match statistics {
                    Statistics::Multinomial { alpha, .. } | Statistics::Bernoulli { alpha, .. } => {
                        *alpha += 0.01;
                    }
                    Statistics::Gaussian { smoothing, .. } => *smoothing += 0.01,
                    _ => panic!(),
                }
                others.push(altered.clone());
            }
            _ => panic!(),
        }
        // The rows of these tables are not spread evenly over the classes.
        if let (Claim::Counts { statistics, .. }, true) = (&mut altered, case.table.name != "three")
        {
            if let Statistics::Multinomial { alpha, priors } = statistics {
                *alpha -= 0.01;
                *priors = turned(priors);
            }
            others.push(altered);
        }
        for other in others {
            if !matches!((&other, case.table.name), (Claim::Counts { .. }, "far from 0")) {
                refused(&case, &other, &case.table, "a setting");
            }
        }
    }
}

fn turned(priors: &Priors) -> Priors {
    match priors {
        Priors::Data => Priors::Uniform,
        _ => Priors::Data,
    }
}

#[test]
fn numbers_by_class_are_part_of_the_claim() {
    let table = table("three", (60, 4, 3), 0.5, |s| s.below(7) as f64);
    let (data, task) = (table.data(), table.task());
    let names = task.data.classes().to_vec();
    let numbers = |list: [f64; 3]| {
        names.iter().zip(list).map(|(n, x)| format!("{n}={x}")).collect::<Vec<_>>().join(",")
    };
    for learner in ["lda", "shared-variance-nb", "multinomial-nb", "bernoulli-nb", "least-squares"]
    {
        let recipe = linsep::recipe::Recipe::find(learner).unwrap();
        let mut settings = linsep::recipe::Settings::default();
        match learner {
            "least-squares" => settings.set("class-weight", &numbers([3.0, 0.25, 1.5])),
            _ => settings.set("priors", &numbers([0.2, 0.5, 0.3])),
        };
        let built = recipe.build(&settings).unwrap();
        let claim = fit(built.as_ref(), &task).certificate.claims[0].clone();
        assert!(finding(&claim, &data).holds(), "{learner}: {:?}", finding(&claim, &data));
        assert_eq!(built.solves(&task).unwrap().check(&claim), Ok(()), "{learner}");
        let changes: [fn(&mut Vec<f64>); 4] =
            [|x| x[1] *= 1.01, |x| x[2] = -x[2], |x| x.swap(0, 1), |x| x.truncate(2)];
        for change in changes {
            let mut altered = claim.clone();
            match &mut altered {
                Claim::Stationary {
                    equations:
                        Equations::LeastSquares { class_weight: ClassWeight::Given(list), .. },
                    ..
                }
                | Claim::Stationary {
                    equations: Equations::Discriminant { priors: Priors::Given(list), .. },
                    ..
                }
                | Claim::Counts {
                    statistics:
                        Statistics::Multinomial { priors: Priors::Given(list), .. }
                        | Statistics::Bernoulli { priors: Priors::Given(list), .. }
                        | Statistics::Gaussian { priors: Priors::Given(list), .. },
                    ..
                } => change(list),
                other => panic!("{learner}: {other:?}"),
            }
            assert!(
                matches!(finding(&altered, &data), Finding::Fails(_)),
                "{learner}: {altered:?}"
            );
            assert!(built.solves(&task).unwrap().check(&altered).is_err(), "{learner}");
        }
    }
}

#[test]
fn claims_stand_in_files_and_another_digest_is_refused() {
    for case in cases() {
        let data = case.table.data();
        let identity = data.identity(1);
        let claims = linsep::Certificate::new(vec![case.claim.clone()]);
        let file = CertificateFile::new(identity, data.reading_field(), true, claims);
        let text = file.to_json();
        let back = CertificateFile::from_json(text.as_bytes()).unwrap();
        assert_eq!(back, file, "{}", case.words);
        assert!(check_file(&back, &data, &data.digest(1), 1)[0].holds(), "{}", case.words);
        let mut other = back.clone();
        other
            .data
            .sha256
            .replace_range(..1, if back.data.sha256.starts_with('0') { "1" } else { "0" });
        assert!(!check_file(&other, &data, &data.digest(1), 1)[0].holds(), "{}", case.words);
        for (from, to) in [
            ("\"kind\"", "\"sort\""),
            ("\"model\"", "\"sort\""),
            ("\"priors\": \"", "\"priors\": \"x"),
        ] {
            if text.contains(from) {
                let damaged = text.replacen(from, to, 1);
                assert!(CertificateFile::from_json(damaged.as_bytes()).is_err(), "{from}");
            }
        }
    }
}

#[test]
fn planes_of_too_few_or_unknown_classes_are_refused() {
    let mut seen = 0;
    for case in cases() {
        let mut fewer = case.claim.clone();
        let mut unknown = case.claim.clone();
        match (planes_of(&mut fewer), planes_of(&mut unknown)) {
            (Planes::Each(fewer), Planes::Each(unknown)) => {
                fewer.pop();
                unknown[0].class = Some("elk".into());
            }
            (Planes::Two { problem: fewer, .. }, Planes::Two { problem: unknown, .. }) => {
                fewer.negative.clear();
                unknown.positive[0] = "elk".into();
            }
            _ => panic!("two forms of one claim"),
        }
        refused(&case, &fewer, &case.table, "a class less");
        refused(&case, &unknown, &case.table, "an unknown class");
        seen += 1;
    }
    assert!(seen > 20);
}

/// Rows of few counts in so many columns that the checker takes one class after the other.
fn wide_rows(unit: f64) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let mut row = vec![0.0; 50_000];
        (0..40).for_each(|k| row[(7919 * i + 1237 * k) % 50_000] += (k % 5 + 1) as f64 * unit);
        row
    };
    (0..12).map(row).collect()
}

fn wide_data(rows: &[Vec<f64>]) -> Dataset {
    let labels: Vec<&str> = (0..rows.len()).map(|i| ["a", "b", "c"][i % 3]).collect();
    Dataset::from_rows(rows, &labels).unwrap()
}

#[test]
fn altered_counts_of_many_columns_are_refused() {
    // Whole counts, a constant that is rounded, and values that are not whole.
    for (unit, alpha) in [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0)] {
        let rows = wide_rows(unit);
        let data = wide_data(&rows);
        let learner = MultinomialBayes::default().with_alpha(alpha);
        let claim = fit(&learner, &Task::new(data.clone())).certificate.claims[0].clone();
        assert!(finding(&claim, &data).holds());
        assert!(finding(&claim, &data.with_other_storage()).holds());
        let fails = |claim: &Claim, data: &Dataset, what: &str| {
            let found = finding(claim, data);
            assert!(matches!(found, Finding::Fails(_)), "{what}, {unit} {alpha}: {found:?}");
        };
        for plane in 0..3 {
            // A column that the class has counts of, one that it has none of, and the last.
            for column in [7919 * plane, 1, 49_999] {
                for factor in [1.0 + 1e-8, 1.0 - 1e-8, -1.0, f64::NAN] {
                    let altered = with_plane(&claim, plane, |w, _| w[column] *= factor);
                    fails(&altered, &data, "a weight");
                }
            }
            let altered = with_plane(&claim, plane, |_, bias| *bias *= 1.0 + 1e-8);
            fails(&altered, &data, "a bias");
        }
        for change in [1.0, 0.5, -1.0] {
            let mut other = rows.clone();
            other[5][1] += change;
            fails(&claim, &wide_data(&other), "a count");
        }
    }
}
