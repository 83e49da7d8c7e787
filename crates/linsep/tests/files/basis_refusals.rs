//! Claims about basis functions with one thing changed: the basis, the data, a multiplier, a weight, or
//! a bit of the file. None may be accepted.

use crate::files::read_text;
use linsep::data::basis::{Basis, BasisSpec, Degree};
use linsep::file::ModelFile;
use linsep::learn::perceptron::Deciding;
use linsep::learn::perceptron::Perceptron;
use linsep::proof::{
    Basis as Claimed, CertificateFile, Claim, ExactNumber, Finding, check_file, digest,
};
use linsep::verdict::{Decision, Judge, certificate};
use linsep::{Code, Dataset, Learner, Limits, Task};
use std::path::Path;

const XOR: &str = "x1,x2,label\n0.1,0.1,0\n0.1,1.3,1\n1.3,0.1,1\n1.3,1.3,0\n";
/// With the product the four corners and the middle of a square still balance.
const CROSS: &str = "x1,x2,label\n0,0,a\n0.2,0,b\n0.4,0,a\n0,0.3,a\n0.2,0.3,b\n0.4,0.3,a\n";

struct Case {
    raw: Dataset,
    file: CertificateFile,
}

impl Case {
    fn new(text: &str, spec: &str, margins: bool) -> Case {
        let raw = read_text(text).data;
        let spec: BasisSpec = spec.parse().unwrap();
        let data = raw.clone().with_basis(&spec, None, 0, None).unwrap();
        let judge = Judge::new(data.clone());
        let positive = data.classes().last().unwrap().clone();
        let decision: Decision = judge.class(&positive, &|| false).unwrap();
        let mut claims = certificate(std::slice::from_ref(&decision));
        if margins {
            let margin = judge.augmented_margin(&decision, 1, &|| false).unwrap();
            claims.claims.push(margin.claim.clone());
            let margin = judge.geometric_margin(&decision, &|| false).unwrap();
            claims.claims.push(margin.claim.clone());
        }
        let identity = raw.identity(1);
        let mut file = CertificateFile::new(identity, raw.reading_field(), true, claims);
        file.basis = data.input().basis.as_ref().map(Basis::claimed);
        Case { raw, file }
    }

    fn findings(&self) -> Vec<Finding> {
        check_file(&self.file, &self.raw, &digest::digest(&self.raw), 1)
    }

    #[track_caller]
    fn refused(&self, what: &str) {
        for (finding, claim) in self.findings().iter().zip(&self.file.claims) {
            assert!(matches!(finding, Finding::Fails(_)), "{what}: {finding:?} {claim:?}");
        }
    }
}

fn cases() -> Vec<Case> {
    let cases = vec![
        Case::new(XOR, "x1*x2", true),
        Case::new(XOR, "poly:2", true),
        Case::new(XOR, "x1*x2^2,x1^3", true),
        Case::new(CROSS, "x1*x2", false),
        Case::new(CROSS, "x2^2*x1,x2^2", false),
    ];
    for case in &cases {
        assert!(case.findings().iter().all(Finding::holds), "{:?}", case.findings());
    }
    let kinds: Vec<&str> = cases.iter().flat_map(|c| &c.file.claims).map(Claim::name).collect();
    for kind in ["separable", "margin", "geometric-margin"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert!(kinds.iter().any(|kind| ["inseparable", "touching", "overlapping"].contains(kind)));
    cases
}

#[test]
fn another_basis_is_refused() {
    let terms = |terms: &[&[(u32, u32)]]| {
        Some(Claimed::Terms(terms.iter().map(|term| term.to_vec()).collect()))
    };
    let others = [
        terms(&[&[(0, 2)]]),
        terms(&[&[(1, 2)], &[(0, 2)]]),
        terms(&[&[(0, 3)], &[(1, 3)]]),
        Some(Claimed::Named("poly:3".into())),
        Some(Claimed::Named("rbf:1,1".into())),
        Some(Claimed::Named("poly:1".into())),
        terms(&[&[(0, 1), (2, 1)]]),
        terms(&[&[(0, u32::MAX), (1, u32::MAX)]]),
        terms(&[]),
    ];
    for mut case in cases() {
        for other in &others {
            case.file.basis.clone_from(other);
            case.refused(&format!("{other:?}"));
        }
        if matches!(case.file.claims[0], Claim::Separable { .. }) {
            case.file.basis = None;
            case.refused("no basis");
        }
    }
}

#[test]
fn a_multiplier_or_a_weight_that_is_changed_is_refused() {
    for case in cases() {
        for k in 0..case.file.claims.len() {
            let mut claim = case.file.claims[k].clone();
            match &mut claim {
                Claim::Separable { plane, .. } => {
                    let weights = plane.weights.as_mut().unwrap();
                    let product = weights.last_mut().unwrap();
                    let ExactNumber::Binary64(x) = product else { panic!() };
                    *product = ExactNumber::Binary64(-*x);
                }
                Claim::Inseparable { witness, .. }
                | Claim::Touching { witness, .. }
                | Claim::Overlapping { witness, .. } => witness[0].lambda.push('7'),
                Claim::Margin { gamma2, .. } | Claim::GeometricMargin { gamma2, .. } => {
                    gamma2.push('1');
                }
                other => panic!("{other:?}"),
            }
            let file = case.file.clone().with_claims(vec![claim]);
            Case { raw: case.raw.clone(), file }.refused("a changed number");
        }
    }
}

#[test]
fn data_that_is_changed_is_refused_even_with_a_new_digest() {
    for (text, changed, spec) in [
        (CROSS, CROSS.replace("0.2,0.3,b", "0.2,0.30000000000001,b"), "x1*x2"),
        (XOR, XOR.replace("1.3,1.3,0", "1.3,0,0"), "x1*x2"),
    ] {
        let mut case = Case::new(text, spec, false);
        case.raw = read_text(&changed).data;
        case.refused("other data");
        case.file.data.sha256 = case.raw.digest(1);
        case.refused("other data with its digest");
    }
}

fn model() -> ModelFile {
    let spec: BasisSpec = "x1*x2".parse().unwrap();
    let data = read_text(XOR).data.with_basis(&spec, None, 0, None).unwrap();
    let identity = data.identity(1);
    let reading = data.reading_field();
    let learner = Deciding(Perceptron::default());
    let fit = learner.fit(&Task::new(data), &Limits::default(), &mut ()).unwrap();
    let effort = (fit.stop, fit.progress);
    let parameters = Default::default();
    let (model, proof) = (fit.model, fit.certificate);
    ModelFile::new(model, proof, "perceptron", parameters, 0, effort, (identity, reading))
}

fn read(bytes: &[u8]) -> linsep::Result<ModelFile> {
    ModelFile::from_bytes(bytes, Path::new("m.linsep"), u64::MAX)
}

#[test]
fn every_bit_of_a_model_with_a_basis_counts() {
    let text = model().to_bytes().unwrap();
    assert_eq!(read(&text).unwrap(), model());
    for at in 0..text.len() {
        let mut changed = text.clone();
        changed[at] ^= 1 << (at % 7);
        assert!(read(&changed).is_err(), "byte {at}: {}", String::from_utf8_lossy(&changed));
    }
}

#[test]
fn a_model_whose_basis_is_not_that_of_its_certificate_is_refused() {
    let other = |basis: Option<Basis>| {
        let mut file = model();
        file.model.input.basis = basis;
        read(&file.to_bytes().unwrap()).unwrap_err()
    };
    for basis in [
        None,
        Some(Basis::Powers(Degree(2))),
        Some(Basis::Powers(Degree(9))),
        Some(Basis::Terms(vec![vec![(0, 2)]])),
        Some(Basis::Terms(vec![vec![(0, 1), (7, 1)]])),
        Some(Basis::Terms(vec![])),
    ] {
        assert_eq!(other(basis.clone()).code(), Code::MODEL_CONTENT, "{basis:?}");
    }
    let mut file = model();
    file.certificate.basis = None;
    assert_eq!(read(&file.to_bytes().unwrap()).unwrap_err().code(), Code::MODEL_CONTENT);
    let mut file = model();
    file.model.planes[0].weights.pop();
    assert_eq!(read(&file.to_bytes().unwrap()).unwrap_err().code(), Code::MODEL_CONTENT);
}
