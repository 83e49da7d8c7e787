//! Basis functions: what becomes separable, what stays the same, and that products are exact.

use crate::brute::Kind;
use crate::files::{Files, options, read_text, read_with};
use crate::support::{Variant, bits, variants_of};
use linsep::data::basis::BasisSpec;
use linsep::data::read::{ReadingChoice, stream};
use linsep::file::ModelFile;
use linsep::proof::{CertificateFile, Claim, Finding, check_file};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Decision, Judge, Verdict, certificate};
use linsep::{Code, Dataset, Fit, Limits, LinearModel, Task};

const XOR: &str = "x1,x2,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n";

fn with(data: Dataset, spec: &str) -> Dataset {
    let spec: BasisSpec = spec.parse().unwrap();
    data.with_basis(&spec, None, 0, None).unwrap_or_else(|e| panic!("{e}"))
}

fn decide(data: &Dataset) -> Decision {
    let judge = Judge::new(data.clone());
    let positive = data.classes().last().unwrap().clone();
    judge.class(&positive, &|| false).unwrap()
}

/// A certificate as the program writes it, read back from its text.
fn file_of(data: &Dataset, decision: &Decision) -> CertificateFile {
    let identity = data.identity(1);
    let claims = certificate(std::slice::from_ref(decision));
    let mut file = CertificateFile::new(identity, data.reading_field(), true, claims);
    file.basis = data.input().basis.as_ref().map(|basis| basis.claimed());
    CertificateFile::from_json(file.to_json().as_bytes()).unwrap()
}

/// Whether a file holds on raw data, which knows nothing of a basis.
fn holds(file: &CertificateFile, raw: &Dataset) -> bool {
    assert!(raw.input().basis.is_none());
    check_file(file, raw, &raw.digest(1), 2).iter().all(Finding::holds)
}

#[test]
fn xor_is_separable_with_the_product_and_a_stranger_can_check_it() {
    let raw = read_text(XOR).data;
    assert_eq!(decide(&raw).verdict, Verdict::Overlapping);
    for spec in ["x1*x2", "poly:2", "#1*#2", "x2, x1*x2 ,x1", "x1*x2^3"] {
        let data = with(raw.clone(), spec);
        assert_eq!(data.digest(1), raw.digest(1), "the digest covers the raw table");
        let decision = decide(&data);
        assert_eq!(decision.verdict, Verdict::Separable, "{spec}");
        assert!(holds(&file_of(&data, &decision), &raw), "{spec}");
    }
    assert_eq!(decide(&with(raw, "x1^2,x2^3")).verdict, Verdict::Overlapping, "0 and 1 stay");
}

/// Points inside and outside of a circle, with decimals.
fn ring(seed: u64) -> String {
    let mut stream = Stream::new(seed, Purpose::Generate(77));
    let mut text = "u,v,label\n".to_owned();
    let mut kept = 0;
    while kept < 300 {
        let mut draw = || (stream.below(4001) as f64 - 2000.0) / 1000.0;
        let (u, v) = (draw(), draw());
        let square = u * u + v * v;
        if (0.95..1.05).contains(&square) {
            continue;
        }
        text += &format!("{u},{v},{}\n", if square < 1.0 { "in" } else { "out" });
        kept += 1;
    }
    text
}

#[test]
fn a_ring_is_separable_with_squares() {
    for seed in 0..3 {
        let text = ring(seed);
        let raw = read_text(&text).data;
        assert_ne!(decide(&raw).verdict, Verdict::Separable);
        for spec in ["poly:2", "u^2,v^2", "poly:3"] {
            let data = with(raw.clone(), spec);
            let decision = decide(&data);
            assert_eq!(decision.verdict, Verdict::Separable, "{spec}");
            assert!(holds(&file_of(&data, &decision), &raw), "{spec}");
        }
        // The product alone does not see the radius.
        let data = with(raw.clone(), "u*v");
        let decision = decide(&data);
        assert_ne!(decision.verdict, Verdict::Separable);
        assert!(holds(&file_of(&data, &decision), &raw));
    }
}

/// Small whole numbers, and the same with a column for the product.
fn two_ways(seed: u64) -> (Dataset, Dataset) {
    let mut stream = Stream::new(seed, Purpose::Generate(78));
    let (mut plain, mut by_hand) = ("a,b,label\n".to_owned(), "a,b,p,label\n".to_owned());
    for row in 0..24 {
        let (a, b) = (stream.below(9), stream.below(9));
        let label = if row < 2 { row } else { u64::from(a * b > 14 + stream.below(6)) };
        plain += &format!("{a},{b},{label}\n");
        by_hand += &format!("{a},{b},{},{label}\n", a * b);
    }
    (with(read_text(&plain).data, "a*b"), read_text(&by_hand).data)
}

#[test]
fn a_product_is_the_column_that_one_would_add_by_hand() {
    for seed in 0..6 {
        let (made, by_hand) = two_ways(seed);
        assert_eq!((made.encoding(), made.is_dense()), (by_hand.encoding(), by_hand.is_dense()));
        for row in 0..made.n_rows() {
            assert_eq!(made.row(row), by_hand.row(row));
        }
        let (a, b) = (decide(&made), decide(&by_hand));
        assert_eq!((a.verdict, &a.claim), (b.verdict, &b.claim));
        let takes = |variant: &Variant| variant.accepts(&Task::new(made.clone()));
        for variant in variants_of(&[]).into_iter().filter(takes) {
            let fit = |data: &Dataset| {
                let task = Task::new(data.clone());
                variant.learner().fit(&task, &Limits::default(), &mut ()).unwrap()
            };
            let (a, b) = (fit(&made), fit(&by_hand));
            assert_eq!(bits(&a.model), bits(&b.model), "{}", variant.words());
            // The checker allows for the rounding of products, so optima are bounded a little less closely.
            let plain = |fit: &Fit| -> Vec<Claim> {
                let claims = fit.certificate.claims.iter().cloned();
                claims.map(without_last_digits).collect()
            };
            assert_eq!(plain(&a), plain(&b), "{}", variant.words());
        }
    }
}

/// A claim with the numbers of an optimum in six digits.
fn without_last_digits(mut claim: Claim) -> Claim {
    let short = |x: f64| format!("{x:.5e}").parse().unwrap();
    if let Claim::Optimal { optimality, .. } = &mut claim {
        optimality.primal = short(optimality.primal);
        optimality.bound = short(optimality.bound);
        (optimality.gap, optimality.radius, optimality.bias) = (0.0, None, None);
    }
    claim
}

/// (a, b) with its products up to degree 2, in the order of `poly:2`.
fn powers(row: &[i64]) -> Vec<i64> {
    vec![row[0], row[1], row[0] * row[0], row[0] * row[1], row[1] * row[1]]
}

#[test]
fn verdicts_with_squares_are_those_of_brute_force() {
    let mut stream = Stream::new(5, Purpose::Generate(79));
    let mut seen = [0; 3];
    for round in 0..120 {
        // Few places make many conflicts, which take all rows in.
        let (count, places) = if round % 3 == 0 { (12, 2) } else { (7 + round % 4, 5) };
        let mut draw = |n: u64| stream.below(n) as i64;
        let rows: Vec<Vec<i64>> =
            (0..count).map(|_| vec![draw(places) - 2, draw(places) - 1]).collect();
        let labels: Vec<bool> =
            (0..count).map(|i| if i < 2 { i == 0 } else { draw(2) == 1 }).collect();
        let vector =
            |(row, label): (&Vec<i64>, &bool)| crate::brute::signed(&powers(row), *label, true);
        let expected =
            crate::brute::kind_of(&rows.iter().zip(&labels).map(vector).collect::<Vec<_>>());
        let floats: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(|x| *x as f64).collect()).collect();
        let names: Vec<&str> = labels.iter().map(|label| if *label { "b" } else { "a" }).collect();
        let raw = Dataset::from_rows(&floats, &names).unwrap();
        let data = with(raw.clone(), "poly:2");
        let decision = decide(&data);
        let verdict = match expected {
            Kind::Separable => Verdict::Separable,
            Kind::Touching => Verdict::Touching,
            Kind::Overlapping => Verdict::Overlapping,
        };
        assert_eq!(decision.verdict, verdict, "{rows:?} {labels:?}");
        assert!(holds(&file_of(&data, &decision), &raw), "{rows:?} {labels:?}");
        seen[verdict as usize] += 1;
    }
    assert!(seen.iter().all(|count| *count >= 5), "{seen:?}");
}

#[test]
fn products_of_decimals_are_exact_and_not_their_rounded_values() {
    // Along a line of constant x2 the product is linear, so the middle row is the mean of the others.
    // The rounded products are not: 0.06999999999999999, 0.13999999999999999 and 0.21.
    let text = "x1,x2,label\n0.1,0.7,a\n0.2,0.7,b\n0.3,0.7,a\n";
    assert_eq!([0.1, 0.2, 0.3].map(|x| x * 0.7), [0.06999999999999999, 0.13999999999999999, 0.21]);
    let raw = read_text(text).data;
    for spec in ["x1*x2", "x1*x2^2", "x1*x2,x1*x2^5"] {
        let data = with(raw.clone(), spec);
        let decision = decide(&data);
        let (Claim::Inseparable { witness, .. }
        | Claim::Touching { witness, .. }
        | Claim::Overlapping { witness, .. }) = &decision.claim
        else {
            panic!("{spec}: {:?}", decision.claim)
        };
        let lambda: Vec<&str> = witness.iter().map(|entry| entry.lambda.as_str()).collect();
        assert!(lambda == ["1", "2", "1"] || lambda == ["2", "1", "1"], "{lambda:?}");
        assert!(holds(&file_of(&data, &decision), &raw), "{spec}");
    }
    // The same numbers as binary64 are three other points on a line, and the same is true of them.
    let raw = read_with(text, |o| o.reading = ReadingChoice::Binary64).unwrap().data;
    let data = with(raw.clone(), "x1*x2");
    let decision = decide(&data);
    assert_ne!(decision.verdict, Verdict::Separable);
    assert!(holds(&file_of(&data, &decision), &raw));
}

#[test]
fn a_hair_between_products_is_seen() {
    // 0.1·0.3 and 0.03 are one number in decimals and two in the binary64 of the product.
    let text = "p,q,r,label\n0.1,0.3,0.03,a\n0.1,0.3,0.03000000000001,b\n1,1,1,b\n";
    let raw = read_text(text).data;
    let data = with(raw.clone(), "p*q,r^2");
    let decision = decide(&data);
    assert_eq!(decision.verdict, Verdict::Separable);
    assert!(holds(&file_of(&data, &decision), &raw));
    // All that tells the classes apart is whether p·q is r: 1e-16 apart from what doubles say.
    let text = "p,q,label\n0.1,0.3,a\n0.3,0.1,a\n0.2,0.15,a\n0.1,0.30000000000001,b\n1,1,b\n";
    let raw = read_text(text).data;
    let data = with(raw.clone(), "p*q");
    let decision = decide(&data);
    assert_eq!(decision.verdict, Verdict::Separable);
    assert!(holds(&file_of(&data, &decision), &raw));
}

/// The scores of every row of a text, block by block.
fn streamed(model: &LinearModel, text: &str) -> Vec<Vec<f64>> {
    let files = Files::new(&[("data.txt", text.as_bytes())]);
    let mut rows = Vec::new();
    stream(&files.paths, &options(|_| ()), &model.input, true, |_, chunk| {
        model.score_chunk(&chunk, |_, scores| rows.push(scores.to_vec()));
        Ok(())
    })
    .unwrap();
    rows
}

#[test]
fn models_answer_raw_rows_alike_in_every_way() {
    let text = ring(9);
    let raw = read_text(&text).data;
    for spec in ["poly:2", "u^2,v^2", "rbf:7,0.8"] {
        let data = with(raw.clone(), spec);
        for variant in variants_of(&[]).into_iter().filter(|v| v.recipe.name != "multinomial-nb") {
            let task = Task::new(data.clone());
            if !variant.accepts(&task) {
                continue;
            }
            let fit = variant.learner().fit(&task, &Limits::default(), &mut ()).unwrap();
            let model = &fit.model;
            assert_eq!(model.n_features(), 2);
            let on_data = model.evaluate(&data, None, 2);
            assert_eq!(on_data.errors, model.evaluate(&raw, None, 1).errors, "{spec}");
            let streamed = streamed(model, &text);
            assert_eq!(streamed.len(), raw.n_rows());
            for (row, streamed) in streamed.iter().enumerate() {
                let scores = model.scores(&raw.row(row)).unwrap();
                let same = scores.iter().zip(streamed).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{spec} {} row {row}", variant.words());
            }
            let unproved = matches!(fit.certificate.claims[0], Claim::Unproved { .. });
            assert!(unproved || !spec.starts_with("rbf"), "{spec} {}", variant.words());
        }
    }
}

#[test]
fn the_certificates_of_fitted_models_hold_on_raw_rows() {
    let raw = read_text(&ring(4)).data;
    let data = with(raw.clone(), "poly:2");
    let mut proved = Vec::new();
    for variant in variants_of(&[]).into_iter().filter(|v| v.recipe.name != "multinomial-nb") {
        let task = Task::new(data.clone());
        let fit = variant.learner().fit(&task, &Limits::default(), &mut ()).unwrap();
        let identity = raw.identity(1);
        let file = ModelFile::new(
            fit.model.clone(),
            fit.certificate.clone(),
            variant.recipe.name,
            variant.recipe.effective(&variant.settings),
            0,
            (fit.stop, fit.progress),
            (identity, raw.reading_field()),
        );
        let path = std::path::Path::new("m.linsep");
        let read = ModelFile::from_bytes(&file.to_bytes().unwrap(), path, u64::MAX).unwrap();
        assert_eq!(read, file);
        for (claim, finding) in file.certificate.claims.iter().zip(check_file(
            &read.certificate,
            &raw,
            &raw.digest(1),
            1,
        )) {
            match claim {
                Claim::Unproved { .. } => assert!(!finding.holds()),
                claim => {
                    assert!(finding.holds(), "{}: {finding:?}", variant.words());
                    proved.push(claim.name());
                }
            }
        }
    }
    for name in ["separable", "stationary", "counts"] {
        assert!(proved.contains(&name), "no {name} among {proved:?}");
    }
}

#[test]
fn gaussians_are_chosen_by_the_seed_and_claim_nothing() {
    let raw = read_text(&ring(2)).data;
    let spec: BasisSpec = "rbf:12,0.7".parse().unwrap();
    let with_seed = |seed| raw.clone().with_basis(&spec, None, seed, None).unwrap();
    let (one, same, other) = (with_seed(1), with_seed(1), with_seed(2));
    assert_eq!(one.input(), same.input());
    assert_ne!(one.input(), other.input());
    assert_eq!(one.n_features(), 14);
    let part: Vec<u32> = (100..130).collect();
    let of_part = raw.clone().with_basis(&spec, Some(&part), 1, None).unwrap();
    let Some(linsep::data::basis::Basis::Gaussians(gaussians)) = &of_part.input().basis else {
        panic!()
    };
    let among = |centre: &Vec<f64>| part.iter().any(|&row| raw.row(row as usize) == *centre);
    assert!(gaussians.centres.iter().all(among), "centres are training rows");
    let error = Judge::new(one.clone()).class("out", &|| false).unwrap_err();
    assert_eq!(error.code(), Code::SETTING);
    assert!(error.to_string().contains("no exact values"), "{error}");
    let decision = decide(&raw);
    let mut file = file_of(&raw, &decision);
    file.basis = one.input().basis.as_ref().map(|basis| basis.claimed());
    assert!(!holds(&file, &raw), "nothing is true of Gaussians");
}

#[test]
fn a_product_that_leaves_the_range_is_an_error_with_its_place() {
    for (text, spec, at) in [
        ("a,b,label\n1,2,x\n1e200,2,y\n", "a^2", "a^2"),
        ("a,b,label\n1,2,x\n1e-200,1e-200,y\n", "a*b", "a*b"),
        ("a,b,label\n1,2,x\n-1e100,1e100,y\n", "a^2*b^2", "a^2*b^2"),
        ("a,b,label\n1,2,x\n1e-160,1e-150,y\n", "poly:2", "a^2"),
    ] {
        let spec: BasisSpec = spec.parse().unwrap();
        let data = read_text(text).data;
        let error = data.with_basis(&spec, None, 0, None).unwrap_err();
        assert_eq!(error.code(), Code::OUT_OF_RANGE);
        let words = error.to_string();
        assert!(words.contains(&format!("the product {at} leaves")), "{words}");
        assert!(words.contains(":3  (row 1, column "), "{words}");
    }
    // Zero times anything is zero.
    let data = read_text("a,b,label\n1,2,x\n1e200,0,y\n").data;
    assert_eq!(with(data, "a^2*b").row(1), [1e200, 0.0, 0.0]);
}

#[test]
fn sparse_data_takes_products_and_refuses_what_would_explode() {
    let svm = "a 1:1 900000:2\nb 1:2 900000:3\na 900000:7\nb 5:1\n";
    let raw = read_with(svm, |o| o.format = "svmlight".parse().unwrap()).unwrap().data;
    let data = with(raw.clone(), "#1*#900000,x5^2");
    assert_eq!(data.n_features(), 900_002);
    let mut entries = Vec::new();
    data.for_each(0, |j, x| entries.push((j, x)));
    assert_eq!(entries, [(0, 1.0), (899_999, 2.0), (900_000, 2.0)]);
    entries.clear();
    data.for_each(3, |j, x| entries.push((j, x)));
    assert_eq!(entries, [(4, 1.0), (900_001, 1.0)]);
    let decision = decide(&data);
    assert!(holds(&file_of(&data, &decision), &raw));
    let spec: BasisSpec = "poly:2".parse().unwrap();
    let words = raw.with_basis(&spec, None, 0, None).unwrap_err().to_string();
    assert!(words.contains("405000450000 new ones, at most 100000"), "{words}");
}

#[test]
fn the_memory_limit_holds_for_a_basis() {
    let files = Files::new(&[("ring.csv", ring(1).as_bytes())]);
    let raw = files.read(|_| ()).unwrap().data;
    let spec: BasisSpec = "poly:6".parse().unwrap();
    let error = raw.with_basis(&spec, None, 0, Some(5_000)).unwrap_err();
    assert_eq!(error.code(), Code::MEMORY);
    assert!(error.to_string().contains("27 features"), "{error}");
}
