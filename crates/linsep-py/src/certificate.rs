//! `Certificate`: claims with their evidence, and what the checker finds of them.

use crate::data::Data;
use crate::errors::rows_of;
use crate::waiting::wait;
use linsep::Claim;
use linsep::proof::{CertificateFile, FileError, Finding, check_file};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// What is proved of data or of a model, with the evidence. Anybody can check it.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct Certificate {
    pub(crate) file: CertificateFile,
}

/// One claim as the checker found it.
#[derive(IntoPyObject)]
pub(crate) struct Checked {
    claim: &'static str,
    about: String,
    finding: &'static str,
    words: String,
}

impl Checked {
    /// The claims of a certificate with what was found of them.
    pub(crate) fn all(file: &CertificateFile, findings: &[Finding]) -> Vec<Checked> {
        let one = |(claim, finding): (&Claim, &Finding)| {
            let (finding, words) = match finding {
                Finding::Holds(words) => ("true", words),
                Finding::Nothing(words) => ("unproved", words),
                Finding::Fails(words) => ("false", words),
            };
            Checked { claim: claim.name(), about: about(claim), finding, words: words.clone() }
        };
        file.claims.iter().zip(findings).map(one).collect()
    }
}

#[pymethods]
impl Certificate {
    /// Reads a certificate.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Certificate> {
        let file = CertificateFile::from_json(text.as_bytes());
        let refuse = |error: FileError| PyValueError::new_err(error.to_string());
        Ok(Certificate { file: file.map_err(refuse)? })
    }

    /// The certificate as text.
    fn to_json(&self) -> String {
        self.file.to_json()
    }

    /// The kinds of its claims and what each is about.
    #[getter]
    fn kinds(&self) -> Vec<(&'static str, String)> {
        kinds(&self.file)
    }

    /// Rows of the first proof that no plane separates, in their order; empty where there is none.
    #[getter]
    fn witness(&self) -> Vec<u64> {
        witness(&self.file)
    }

    /// The largest gap that is proved, with the least bound and the objective: (primal, bound, gap).
    #[getter]
    fn optimality(&self) -> Vec<(f64, f64, f64)> {
        let each = |claim: &Claim| match claim {
            Claim::Optimal { optimality, .. } => {
                Some((optimality.primal, optimality.bound, optimality.gap))
            }
            _ => None,
        };
        self.file.claims.iter().filter_map(each).collect()
    }

    /// Why nothing is proved, claim by claim where that is so.
    #[getter]
    fn unproved(&self) -> Vec<String> {
        let reason = |claim: &Claim| match claim {
            Claim::Unproved { reason } => Some(reason.clone()),
            _ => None,
        };
        self.file.claims.iter().filter_map(reason).collect()
    }

    /// Checks every claim against data, in exact arithmetic.
    #[pyo3(signature = (data, threads=1))]
    fn verify(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Vec<Checked>> {
        let (file, table) = (self.file.clone(), Arc::clone(&data.table));
        wait(py, move || {
            let digest = table.digest_of(file.data.digest, threads);
            let findings = check_file(&file, table.as_ref(), &digest, threads);
            Ok(Checked::all(&file, &findings))
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((py.get_type::<Certificate>().getattr("from_json")?, (self.to_json(),)))
    }
}

/// The kinds of the claims of a certificate and what each is about.
pub(crate) fn kinds(file: &CertificateFile) -> Vec<(&'static str, String)> {
    file.claims.iter().map(|claim| (claim.name(), about(claim))).collect()
}

/// Rows of the first proof that no plane separates; empty where there is none.
pub(crate) fn witness(file: &CertificateFile) -> Vec<u64> {
    let mut rows = file.claims.iter().map(rows_of);
    rows.find(|rows| !rows.is_empty()).unwrap_or_default()
}

/// What a claim is about, such as `pair b | a`.
fn about(claim: &Claim) -> String {
    match claim.problem() {
        Some(problem) => format!(
            "{} {} | {}",
            problem.scheme.word(),
            problem.positive.join(", "),
            problem.negative.join(", ")
        ),
        None if matches!(claim, Claim::Unproved { .. }) => String::new(),
        None => "joint".to_owned(),
    }
}
