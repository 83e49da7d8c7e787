//! What the tests of the verdict share: example files, and decisions whose proofs are checked again.
#![allow(dead_code)] // Each test file uses its own part of this one.

use linsep::data::read::{ReadOptions, read};
use linsep::proof::{CertificateFile, Claim, Finding, check_claim, check_file};
use linsep::verdict::{Decision, Judge, Verdict, certificate};
use linsep::{Dataset, Result};
use std::path::{Path, PathBuf};

/// A search without a limit.
pub(crate) fn never() -> bool {
    false
}

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A data set of `examples/`.
pub(crate) fn example(name: &str) -> Dataset {
    let path = repository("examples").join(name);
    read(&[path], &ReadOptions::default()).unwrap_or_else(|e| panic!("{name}: {e}")).data
}

/// A judge of rows with labels.
pub(crate) fn judge<R: AsRef<[f64]>, L: AsRef<str>>(rows: &[R], labels: &[L]) -> Judge {
    Judge::new(Dataset::from_rows(rows, labels).unwrap())
}

/// Whether the checker accepts a claim about the data of a judge.
pub(crate) fn accepts(judge: &Judge, claim: &Claim) -> bool {
    finding(judge, claim).holds()
}

pub(crate) fn finding(judge: &Judge, claim: &Claim) -> Finding {
    check_claim(claim, judge.data.as_ref(), &judge.reading(), judge.bias, judge.threads)
}

/// Decisions as the content of a certificate file.
pub(crate) fn file_of(judge: &Judge, decisions: &[Decision]) -> CertificateFile {
    let identity = judge.data.identity(1);
    CertificateFile::new(identity, judge.reading(), judge.bias, certificate(decisions))
}

/// The verdict that a claim is the proof of.
pub(crate) fn verdict_of(claim: &Claim) -> Verdict {
    match claim {
        Claim::Separable { .. } | Claim::JointSeparable { .. } => Verdict::Separable,
        Claim::Inseparable { .. } | Claim::JointInseparable { .. } => Verdict::Inseparable,
        Claim::Touching { .. } | Claim::JointTouching { .. } => Verdict::Touching,
        Claim::Overlapping { .. } | Claim::JointOverlapping { .. } => Verdict::Overlapping,
        _ => Verdict::Undecided,
    }
}

/// The verdict of a decision after its proof was checked and sent through a file.
pub(crate) fn proved(judge: &Judge, decision: Result<Decision>) -> Verdict {
    let decision = decision.unwrap();
    proofs_hold(judge, std::slice::from_ref(&decision));
    decision.verdict
}

/// One class against the rest, proved.
pub(crate) fn class(judge: &Judge, positive: &str) -> Verdict {
    proved(judge, judge.class(positive, &never))
}

/// Checks the claim of every decision, alone and as part of a file.
pub(crate) fn proofs_hold(judge: &Judge, decisions: &[Decision]) {
    for decision in decisions {
        let claim = &decision.claim;
        assert_eq!(verdict_of(claim), decision.verdict, "{claim:?}");
        assert_eq!(claim.problem(), decision.problem.as_ref(), "{claim:?}");
        assert_ne!(decision.verdict, Verdict::Undecided, "{claim:?}");
        let finding = finding(judge, claim);
        assert!(finding.holds(), "{finding:?} of {claim:?}");
    }
    let file = file_of(judge, decisions);
    let text = file.to_json();
    let back = CertificateFile::from_json(text.as_bytes()).unwrap();
    assert_eq!(back, file);
    assert_eq!(back.to_json(), text);
    let findings = check_file(&back, judge.data.as_ref(), &judge.data.digest(1), judge.threads);
    assert_eq!(findings.len(), decisions.len());
    assert!(findings.iter().all(Finding::holds), "{findings:?}");
}
