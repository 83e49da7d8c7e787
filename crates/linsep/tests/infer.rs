//! Inference agrees with R: `glm`, `confint`, `logistf` and `brglm2`, as recorded in testdata/statistics/reference.json.

use linsep::infer::{
    Inference, InferenceSummary, InterceptCorrection, StandardErrors, Standing, WeightsAs,
};
use linsep::{Dataset, DatasetBuilder, Task};
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/statistics")
}

/// The columns of a table by name.
fn table(file: &str) -> Vec<(String, Vec<String>)> {
    let mut path = folder().join(file);
    if !path.exists() {
        path = folder().join(format!("{file}.gz"));
    }
    let mut text = String::new();
    let bytes = std::fs::File::open(&path).unwrap();
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => {
            flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
        }
        false => {
            std::io::BufReader::new(bytes).read_to_string(&mut text).unwrap();
        }
    }
    let mut lines =
        text.lines().map(|line| line.split(',').map(|cell| cell.trim_matches('"').to_owned()));
    let mut columns: Vec<(String, Vec<String>)> =
        lines.next().unwrap().map(|name| (name, Vec::new())).collect();
    for line in lines {
        columns.iter_mut().zip(line).for_each(|(column, cell)| column.1.push(cell));
    }
    columns
}

/// A column of a design as R names it: `age`, or a level such as `raceblack`.
fn column(table: &[(String, Vec<String>)], name: &str) -> Vec<f64> {
    if let Some((_, cells)) = table.iter().find(|(column, _)| column == name)
        && cells.iter().all(|cell| cell.parse::<f64>().is_ok())
    {
        return cells.iter().map(|cell| cell.parse().unwrap()).collect();
    }
    let (factor, cells) = table
        .iter()
        .filter(|(column, _)| name.starts_with(column.as_str()))
        .max_by_key(|c| c.0.len())
        .unwrap();
    let level = &name[factor.len()..];
    cells.iter().map(|cell| f64::from(u8::from(cell == level))).collect()
}

fn data(entry: &Value) -> Dataset {
    let table = table(entry["file"].as_str().unwrap());
    let response = entry["formula"].as_str().unwrap().split(" ~").next().unwrap();
    let (_, labels) = table.iter().find(|(name, _)| name == response).unwrap();
    let names = entry["names"].as_array().unwrap()[1..].iter().map(|name| name.as_str().unwrap());
    let names: Vec<String> = names.map(str::to_owned).collect();
    let columns: Vec<Vec<f64>> = names.iter().map(|name| column(&table, name)).collect();
    let mut builder = DatasetBuilder::new(names.len());
    builder.names(names);
    for (row, label) in labels.iter().enumerate() {
        let values: Vec<f64> = columns.iter().map(|column| column[row]).collect();
        builder.dense_row(&values, label).unwrap();
    }
    builder.finish().unwrap()
}

fn reference() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("reference.json")).unwrap())
        .unwrap()
}

fn summary(data: &Dataset, inference: &Inference) -> InferenceSummary {
    inference.of(&Task::new(data.clone()).with_threads(2), &|| false).unwrap()
}

#[track_caller]
fn near(found: f64, right: &Value, share: f64, about: &str) {
    let right = right.as_f64().unwrap();
    let off = (found - right).abs() / right.abs().max(1e-300);
    assert!(off <= share, "{about}: {found:?} is not {right:?} ({off:e})");
}

#[test]
fn maximum_likelihood_agrees_with_glm() {
    let ends = &recorded()["profile_ends"];
    for (name, entry) in reference().as_object().unwrap() {
        let found = summary(&data(entry), &Inference::default());
        near(found.deviance, &entry["deviance"], 1e-6, name);
        near(found.null_deviance, &entry["null_deviance"], 1e-9, name);
        near(found.aic(), &entry["aic"], 1e-6, name);
        near(found.bic(), &entry["bic"], 1e-6, name);
        near(found.log_likelihood, &entry["loglik"], 1e-6, name);
        for (j, one) in found.coefficients.iter().enumerate() {
            let about = format!("{name}, coefficient {j}");
            if entry["infinite"][j] == "inf" {
                assert_eq!(one.standing, Standing::PlusInfinity, "{about}");
                let [lower, upper] = one.profile.unwrap();
                near(lower.value, &ends[name][j][0], 1e-5, &about);
                assert!(lower.found && upper.value == f64::INFINITY, "{about}: {lower:?}");
                continue;
            }
            assert_eq!(one.standing, Standing::Finite, "{about}");
            near(one.estimate, &entry["coef"][j], 1e-6, &about);
            near(one.standard_error.unwrap(), &entry["se"][j], 1e-6, &about);
            near(one.z().unwrap(), &entry["z"][j], 1e-6, &about);
            // glm() ends at 1e-8, and an error of z counts z² times in p.
            let z = one.z().unwrap();
            near(one.p().unwrap(), &entry["p"][j], 1e-6 + 4e-9 * z * z, &about);
            for (side, key) in ["profile_lower", "profile_upper"].into_iter().enumerate() {
                let end = one.profile.unwrap()[side];
                let reach = (end.value - one.estimate).abs();
                assert!(end.found && end.width < 1e-6 * reach, "{about}: {end:?}");
                near(end.value, &ends[name][j][side], 1e-5, &about);
                // confint() interpolates between points of the profile.
                let spline = entry[key][j].as_f64().unwrap();
                assert!((end.value - spline).abs() < 1e-3 * reach, "{about}: {spline}");
            }
        }
    }
}

#[test]
fn firth_agrees_with_logistf_and_brglm2() {
    for (name, entry) in reference().as_object().unwrap() {
        let found = summary(&data(entry), &Inference::default().with_firth(true));
        for (j, one) in found.coefficients.iter().enumerate() {
            let about = format!("{name}, coefficient {j}");
            near(one.estimate, &entry["brglm2_coef"][j], 1e-6, &about);
            near(one.standard_error.unwrap(), &entry["brglm2_se"][j], 1e-6, &about);
            let [lower, upper] = one.profile.unwrap();
            near(lower.value, &entry["logistf_lower"][j], 1e-5, &about);
            near(upper.value, &entry["logistf_upper"][j], 1e-5, &about);
            let right = entry["logistf_p"][j].as_f64().unwrap();
            // logistf takes 1 − F(x), which has lost all digits below 1e-16.
            let off = (one.test.unwrap().p - right).abs();
            assert!(off < 1e-5 * right + 1e-15, "{about}: p {off:e}");
        }
    }
}

fn recorded() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("recorded.json")).unwrap()).unwrap()
}

#[test]
fn several_classes_agree_with_multinom_and_brmultinom() {
    let entry = &recorded()["alligators"];
    let table = table("alligators.csv");
    let names: Vec<String> = entry["names"].as_array().unwrap()[1..]
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let columns: Vec<Vec<f64>> = names.iter().map(|name| column(&table, name)).collect();
    let mut builder = DatasetBuilder::new(names.len());
    builder.names(names.clone());
    for (row, label) in table[0].1.iter().enumerate() {
        let values: Vec<f64> = columns.iter().map(|column| column[row]).collect();
        builder.dense_row(&values, label).unwrap();
        builder.weight(table[4].1[row].parse().unwrap()).unwrap();
    }
    let data = builder.finish().unwrap();
    for (firth, coef, se) in [(false, "coef", "se"), (true, "firth_coef", "firth_se")] {
        let asked = Inference::default().with_firth(firth).with_profile(!firth);
        let found = summary(&data, &asked);
        let width = names.len() + 1;
        for (at, one) in found.coefficients.iter().enumerate() {
            let (k, j) = (at / width, at % width);
            let about = format!("class {k}, coefficient {j}");
            // Rows of R stand in the order of its levels, which is ours.
            near(one.estimate, &entry[coef][k][j], 1e-6, &about);
            near(one.standard_error.unwrap(), &entry[se][k][j], 1e-6, &about);
            if let Some([lower, upper]) = one.profile {
                assert!(lower.found && upper.found, "{about}");
                assert!(lower.value < one.estimate && one.estimate < upper.value, "{about}");
            }
        }
        if !firth {
            near(found.deviance, &entry["deviance"], 1e-8, "deviance");
            near(found.aic(), &entry["aic"], 1e-8, "aic");
            assert_eq!(found.columns.len(), width);
            assert_eq!(found.columns[1].1.freedom, data.n_classes() - 1);
        }
    }
}

#[test]
fn counts_of_groups_and_their_residuals_agree_with_glm() {
    let entry = &recorded()["beetles"];
    let list = |name: &str| -> Vec<f64> {
        entry[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let mut builder = DatasetBuilder::new(1);
    let mut groups = Vec::new();
    for (group, dose) in list("dose").into_iter().enumerate() {
        for (label, name) in [("failure", "survived"), ("success", "died")] {
            let count = list(name)[group];
            if count > 0.0 {
                builder.dense_row(&[dose], label).unwrap();
                builder.weight(count).unwrap();
                groups.push(group as u32);
            }
        }
    }
    let data = builder.finish().unwrap();
    let asked = Inference::default().with_groups(Some(groups)).with_residuals(true);
    let found = summary(&data, &asked);
    for (j, one) in found.coefficients.iter().enumerate() {
        near(one.estimate, &entry["coef"][j], 1e-8, "coef");
        near(one.standard_error.unwrap(), &entry["se"][j], 1e-8, "se");
    }
    near(found.deviance, &entry["deviance"], 1e-8, "deviance");
    near(found.null_deviance, &entry["null_deviance"], 1e-8, "null deviance");
    near(found.aic(), &entry["aic"], 1e-8, "aic");
    near(found.bic(), &entry["bic"], 1e-8, "bic");
    for (i, one) in found.residuals.iter().enumerate() {
        near(one.deviance, &entry["deviance_residuals"][i], 1e-8, "deviance residual");
        near(one.pearson, &entry["pearson"][i], 1e-8, "Pearson residual");
        near(one.leverage, &entry["leverage"][i], 1e-8, "leverage");
        near(one.cook, &entry["cook"][i], 1e-8, "Cook");
    }
}

/// infert with the offset of `record.R`.
fn shifted() -> (Dataset, Vec<f64>) {
    let table = table("infert.csv");
    let (spontaneous, induced) = (column(&table, "spontaneous"), column(&table, "induced"));
    let (_, labels) = table.iter().find(|(name, _)| name == "case").unwrap();
    let rows: Vec<[f64; 1]> = spontaneous.iter().map(|x| [*x]).collect();
    let offset = induced.iter().map(|x| 0.3 * x - 0.5).collect();
    (Dataset::from_rows(&rows, labels).unwrap(), offset)
}

#[test]
fn offsets_and_the_sandwich_agree_with_r() {
    let entry = &recorded()["offset"];
    let (data, offset) = shifted();
    let asked = Inference::default().with_offset(Some(offset));
    let (plain, robust) =
        (summary(&data, &asked), summary(&data, &asked.clone().with_se(StandardErrors::Robust)));
    for j in 0..2 {
        near(plain.coefficients[j].estimate, &entry["coef"][j], 1e-8, "coef");
        near(plain.coefficients[j].standard_error.unwrap(), &entry["se"][j], 1e-8, "se");
        let se = robust.coefficients[j].standard_error.unwrap();
        near(se, &entry["robust_se"][j], 1e-8, "robust se");
    }
    near(plain.deviance, &entry["deviance"], 1e-8, "deviance");
    near(plain.null_deviance, &entry["null_deviance"], 1e-8, "null deviance");
}

#[test]
fn frequencies_are_rows_and_analytic_weights_are_not() {
    let rows = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]];
    let labels = ["no", "no", "yes", "no", "yes", "yes"];
    let counts = [2usize, 1, 3, 1, 2, 4];
    let (mut weighted, mut repeated) = (DatasetBuilder::new(1), DatasetBuilder::new(1));
    for ((row, label), count) in rows.iter().zip(labels).zip(counts) {
        weighted.dense_row(row, label).unwrap();
        weighted.weight(count as f64).unwrap();
        (0..count).for_each(|_| repeated.dense_row(row, label).unwrap());
    }
    let (weighted, repeated) = (weighted.finish().unwrap(), repeated.finish().unwrap());
    for firth in [false, true] {
        for se in [StandardErrors::Expected, StandardErrors::Robust] {
            if firth && se == StandardErrors::Robust {
                continue;
            }
            let asked = Inference::default().with_firth(firth).with_se(se);
            let (a, b) = (summary(&weighted, &asked), summary(&repeated, &asked));
            assert!((a.deviance - b.deviance).abs() < 1e-9 && (a.bic() - b.bic()).abs() < 1e-9);
            for (a, b) in a.coefficients.iter().zip(&b.coefficients) {
                assert!((a.estimate - b.estimate).abs() < 1e-9);
                let (a, b) = (a.standard_error.unwrap(), b.standard_error.unwrap());
                assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
            }
        }
    }
    let analytic = summary(&weighted, &Inference::default().with_weights_as(WeightsAs::Analytic));
    let plain = summary(&weighted, &Inference::default());
    let ratio = analytic.coefficients[1].standard_error.unwrap()
        / plain.coefficients[1].standard_error.unwrap();
    // 13 rows by frequency, 6 by analytic weights.
    assert!((ratio - (13f64 / 6.0).sqrt()).abs() < 1e-9 && analytic.observations == 6.0, "{ratio}");
}

/// So many rows that a fit begins on some of them.
#[test]
fn many_rows_have_the_fit_of_half_as_many_that_count_twice() {
    for classes in [2, 3] {
        let mut uniform = Uniform(5);
        let (mut weighted, mut repeated) = (DatasetBuilder::new(3), DatasetBuilder::new(3));
        for _ in 0..10_000 {
            let row: [f64; 3] = std::array::from_fn(|_| uniform.next() - 0.5);
            let drawn = row[0] - 2.0 * row[1] + 3.0 * (uniform.next() - 0.4);
            let label =
                ["b", "a", "c"][(usize::from(drawn > 0.0) + usize::from(drawn > 0.8)) % classes];
            weighted.dense_row(&row, label).unwrap();
            weighted.weight(2.0).unwrap();
            (0..2).for_each(|_| repeated.dense_row(&row, label).unwrap());
        }
        let repeated = Task::new(repeated.finish().unwrap());
        let asked = Inference::default().with_profile(false);
        let [one, three] = [1, 3]
            .map(|threads| asked.of(&repeated.clone().with_threads(threads), &|| false).unwrap());
        let few = summary(&weighted.finish().unwrap(), &asked);
        assert_eq!(one.covariance, three.covariance);
        assert!((one.deviance / few.deviance - 1.0).abs() < 1e-12);
        for ((a, b), same) in
            one.coefficients.iter().zip(&few.coefficients).zip(&three.coefficients)
        {
            let (error, right) = (a.standard_error.unwrap(), b.standard_error.unwrap());
            assert!((a.estimate - b.estimate).abs() < 1e-8 * right && a.estimate == same.estimate);
            assert!((error / right - 1.0).abs() < 1e-9, "{error} {right}");
        }
    }
}

#[test]
fn sums_of_columns_have_no_number_and_say_what_they_are() {
    let rows: Vec<[f64; 3]> = (0..12)
        .map(|i| {
            let (a, b) = (f64::from(i), f64::from(i * i % 7));
            [a, b, 2.0 * a - b + 3.0]
        })
        .collect();
    let labels: Vec<&str> =
        (0..12).map(|i| if [1, 4, 6, 8, 9, 11].contains(&i) { "b" } else { "a" }).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    for firth in [false, true] {
        let found = summary(&data, &Inference::default().with_firth(firth));
        assert_eq!(found.rank, 3);
        let Standing::Aliased(aliased) = &found.coefficients[3].standing else { panic!() };
        assert_eq!(aliased.sum, [(None, 3.0), (Some(0), 2.0), (Some(1), -1.0)]);
        assert!(found.coefficients[3].estimate.is_nan());
        assert!(found.coefficients[..3].iter().all(|one| one.standard_error.is_some()));
    }
}

#[test]
fn separated_classes_have_one_finite_end_and_firth_has_all() {
    let rows = [[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]];
    let labels = ["no", "no", "no", "yes", "yes", "yes"];
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let found = summary(&data, &Inference::default());
    assert!(found.separation.as_ref().is_some_and(|s| s.complete && s.rows == 6));
    assert_eq!((found.deviance, found.coefficients[1].estimate), (0.0, f64::INFINITY));
    let [lower, upper] = found.coefficients[1].profile.unwrap();
    assert!(lower.found && lower.value > 0.0 && upper.value == f64::INFINITY, "{lower:?}");
    // At the end the largest likelihood is lower by half of 3.84: a grid of intercepts says so.
    let best = |slope: f64| {
        let value = |bias: f64| -> f64 {
            let loss = |(x, y): (&[f64; 1], &&str)| {
                let s = bias + slope * x[0];
                -(1.0 + if **y == *"yes" { (-s).exp() } else { s.exp() }).ln()
            };
            rows.iter().zip(&labels).map(loss).sum()
        };
        (0..40_000).map(|k| value(-0.0005 * f64::from(k))).fold(f64::NEG_INFINITY, f64::max)
    };
    assert!((2.0 * -best(lower.value) - 3.841_458_820_694_124).abs() < 1e-5);
    let firth = summary(&data, &Inference::default().with_firth(true));
    for one in &firth.coefficients {
        let [lower, upper] = one.profile.unwrap();
        assert!(lower.found && upper.found && one.estimate.is_finite() && one.test.is_some());
    }
}

#[test]
fn flic_has_the_mean_of_the_data_and_flac_is_between() {
    let entry = &reference()["sex2"];
    let data = data(entry);
    let mean = (0..data.n_rows()).filter(|&row| data.class_of(row) == 1).count() as f64
        / data.n_rows() as f64;
    for correction in [InterceptCorrection::Flic, InterceptCorrection::Flac] {
        let asked =
            Inference::default().with_firth(true).with_correction(correction).with_residuals(true);
        let found = summary(&data, &asked);
        assert_eq!(found.coefficients.len(), 7);
        let fitted: f64 = found.residuals.iter().map(|one| one.fitted).sum();
        // Both predict the mean: FLAC's score of the intercept and of the mark have the same zeros.
        assert!((fitted / data.n_rows() as f64 - mean).abs() < 1e-9, "{correction:?}");
        if correction == InterceptCorrection::Flic {
            near(found.coefficients[1].estimate, &entry["brglm2_coef"][1], 1e-6, "flic");
        }
    }
}

#[test]
fn what_cannot_be_judged_is_refused_with_its_place() {
    let rows = [[1.0], [2.0], [3.0], [4.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "a", "b"]).unwrap();
    let said = |data: &Dataset, asked: &Inference| {
        asked.of(&Task::new(data.clone()), &|| false).unwrap_err().to_string()
    };
    let one = Dataset::from_rows(&rows, &["a"; 4]).unwrap();
    assert!(said(&one, &Inference::default()).contains("every row is of class"));
    let wide = Inference::default().with_confidence(1.0);
    assert!(said(&data, &wide).contains("between 0 and 1"));
    let short = Inference::default().with_offset(Some(vec![0.0; 3]));
    assert!(said(&data, &short).contains("3 numbers for 4 rows"));
    let odd = Inference::default().with_offset(Some(vec![0.0, f64::NAN, 0.0, 0.0]));
    assert!(said(&data, &odd).contains("the offset of this row is NaN"));
    let robust = Inference::default().with_firth(true).with_se(StandardErrors::Robust);
    assert!(said(&data, &robust).contains("the sandwich is for maximum likelihood"));
    let flic = Inference::default().with_correction(InterceptCorrection::Flic);
    assert!(said(&data, &flic).contains("is for the intercept of `penalty=firth`"));
    let mut builder = DatasetBuilder::new(1);
    for (k, row) in rows.iter().enumerate() {
        builder.dense_row(row, ["a", "b"][k % 2]).unwrap();
        builder.weight(if k == 2 { 1.5 } else { 1.0 }).unwrap();
    }
    let weighted = builder.finish().unwrap();
    let error = Inference::default().of(&Task::new(weighted.clone()), &|| false).unwrap_err();
    assert!(error.to_string().contains("1.5 is no count"), "{error}");
    assert_eq!(error.place().and_then(|place| place.row), Some(2));
    assert!(
        Inference::default()
            .with_weights_as(WeightsAs::Analytic)
            .of(&Task::new(weighted), &|| false)
            .is_ok()
    );
    let three = Dataset::from_rows(&rows, &["a", "b", "c", "b"]).unwrap();
    let refused = said(&three, &Inference::default());
    assert!(
        refused.contains("no optimum exists") && refused.contains("`penalty=firth`"),
        "{refused}"
    );
    let few = Inference::default().with_firth(true).of(&Task::new(three), &|| false).unwrap();
    assert!(few.notes.iter().any(|note| note.contains("4 observations for 4 coefficients")));
}

#[test]
fn threads_change_no_bit() {
    let data = data(&reference()["SAheart"]);
    for firth in [false, true] {
        let asked = Inference::default().with_firth(firth);
        let [one, four] = [1, 4].map(|threads| {
            let found =
                asked.of(&Task::new(data.clone()).with_threads(threads), &|| false).unwrap();
            found.to_json(data.input()).to_string()
        });
        assert_eq!(one, four);
    }
}

#[test]
fn the_certificate_of_firths_fit_holds_and_no_other_does() {
    use linsep::proof::{Claim, Finding, Planes, check_claim};
    let data = data(&reference()["endometrial"]);
    let found = summary(&data, &Inference::default().with_firth(true));
    let certificate = found.certificate(&data, &data, 2);
    let check = |claim: &Claim, data: &Dataset| {
        matches!(check_claim(claim, data, &data.reading_field(), true, 2), Finding::Holds(_))
    };
    let [claim @ Claim::ModifiedScore { planes, modified_score }] = &certificate.claims[..] else {
        panic!("{certificate:?}")
    };
    assert!(check(claim, &data) && modified_score.residual < 1e-8, "{modified_score:?}");
    let written = serde_json::to_string(claim).unwrap();
    assert_eq!(serde_json::from_str::<Claim>(&written).unwrap(), *claim);
    // A smaller residual is not shown.
    let mut tighter = modified_score.clone();
    tighter.residual *= 0.5;
    assert!(!check(
        &Claim::ModifiedScore { planes: planes.clone(), modified_score: tighter },
        &data
    ));
    // One bit of a weight, of those that matter at this residual.
    let Planes::Two { problem, plane } = planes else { panic!() };
    let weights = plane.weights.clone().unwrap();
    for j in 0..weights.len() {
        for bit in [30, 40, 51, 52, 62, 63] {
            let mut changed = weights.clone();
            changed[j] = f64::from_bits(changed[j].to_bits() ^ (1 << bit));
            let plane = plane.clone().with_weights(Some(changed));
            let planes = Planes::Two { problem: problem.clone(), plane };
            let claim = Claim::ModifiedScore { planes, modified_score: modified_score.clone() };
            assert!(!check(&claim, &data), "weight {j}, bit {bit}");
        }
    }
    // Another label, another value, another weight of a row, other columns.
    let rows: Vec<Vec<f64>> = (0..data.n_rows()).map(|row| data.row(row)).collect();
    let labels: Vec<String> =
        (0..data.n_rows()).map(|row| data.label_text(row).to_owned()).collect();
    for row in [0, 40, 78] {
        let mut other = labels.clone();
        other[row] = if other[row] == "0" { "1".into() } else { "0".into() };
        assert!(!check(claim, &Dataset::from_rows(&rows, &other).unwrap()), "label {row}");
        let mut moved = rows.clone();
        moved[row][1] = f64::from_bits(moved[row][1].to_bits() ^ (1 << 40));
        assert!(!check(claim, &Dataset::from_rows(&moved, &labels).unwrap()), "value {row}");
    }
    for left_out in [vec![0], vec![3], vec![1, 0]] {
        let modified_score = modified_score.clone().with_left_out(left_out);
        assert!(!check(&Claim::ModifiedScore { planes: planes.clone(), modified_score }, &data));
    }
    // Maximum likelihood is not Firth's fit.
    let other = summary(&self::data(&reference()["infert"]), &Inference::default());
    assert!(!other.certificate(&data, &data, 1).proves_something());
}

/// A stream of uniform numbers.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn intervals_cover_and_firth_has_less_bias() {
    const DRAWS: usize = 2000;
    let (bias, slope) = (-0.4, 1.0);
    let mut uniform = Uniform(19);
    let (mut covered, mut firth_covered, mut counted) = (0, 0, 0);
    let (mut ml_bias, mut firth_bias) = (0.0, 0.0);
    for _ in 0..DRAWS {
        let rows: Vec<[f64; 1]> = (0..60).map(|_| [4.0 * uniform.next() - 2.0]).collect();
        let draw = |row: &[f64; 1]| {
            let p = 1.0 / (1.0 + (-(bias + slope * row[0])).exp());
            if uniform.next() < p { "yes" } else { "no" }
        };
        let labels: Vec<&str> = rows.iter().map(draw).collect();
        let data = Dataset::from_rows(&rows, &labels).unwrap();
        let ml = Inference::default().of(&Task::new(data.clone()), &|| false).unwrap();
        if ml.separation.is_some() {
            continue;
        }
        let firth = Inference::default().with_firth(true).of(&Task::new(data), &|| false).unwrap();
        counted += 1;
        let holds = |summary: &InferenceSummary| {
            let [lower, upper] = summary.coefficients[1].profile.unwrap();
            usize::from(lower.value <= slope && slope <= upper.value)
        };
        covered += holds(&ml);
        firth_covered += holds(&firth);
        ml_bias += ml.coefficients[1].estimate - slope;
        firth_bias += firth.coefficients[1].estimate - slope;
    }
    assert!(counted > DRAWS - 20, "{counted}");
    for share in [covered, firth_covered].map(|n| n as f64 / counted as f64) {
        assert!((0.93..=0.97).contains(&share), "{share}");
    }
    let (ml_bias, firth_bias) = (ml_bias / counted as f64, firth_bias / counted as f64);
    assert!(firth_bias.abs() < 0.5 * ml_bias.abs(), "{firth_bias} {ml_bias}");
}

#[test]
fn as_many_coefficients_as_observations_have_a_firth_fit() {
    // Every row has shares of its own, and the prior adds half an observation to each class of each.
    let rows = [[1., 2., 3.], [2., 1., 4.], [5., 1., 2.], [2., 2., 1.]];
    for (labels, own) in [(["u", "v", "w", "u"], 1.5 / 2.5), (["u", "v", "v", "u"], 1.5 / 2.0)] {
        let data = Dataset::from_rows(&rows, &labels).unwrap();
        let found = summary(&data, &Inference::default().with_firth(true));
        let wanted = 4.0 * f64::ln(own);
        assert!((found.log_likelihood - wanted).abs() < 1e-8, "{}", found.log_likelihood);
        assert!(found.notes.iter().any(|note| note.contains("mean little")), "{:?}", found.notes);
    }
}

#[test]
fn offsets_far_from_0_change_nothing_but_what_they_add() {
    let entry = &reference()["SAheart"];
    let data = data(entry);
    let plain = summary(&data, &Inference::default());
    let age = data.n_features() - 1;
    let offset = (0..data.n_rows()).map(|row| data.row(row)[age]).collect();
    for firth in [false, true] {
        let plain = summary(&data, &Inference::default().with_firth(firth));
        let asked = Inference::default().with_firth(firth).with_offset(Some(Vec::clone(&offset)));
        let moved = summary(&data, &asked);
        for (j, (a, b)) in plain.coefficients.iter().zip(&moved.coefficients).enumerate() {
            let wanted = a.estimate - f64::from(u8::from(j == age + 1));
            assert!((b.estimate - wanted).abs() < 1e-8 * (1.0 + wanted.abs()), "{j}");
            let (a, b) = (a.standard_error.unwrap(), b.standard_error.unwrap());
            assert!((a / b - 1.0).abs() < 1e-7, "{j}: {a} {b}");
        }
        assert!((plain.deviance - moved.deviance).abs() < 1e-8);
    }
    assert!(plain.separation.is_none());
}
