//! `Verdict`: separable or not, with the proof.

use crate::certificate::Certificate;
use crate::data::Data;
use crate::errors::{exception, rows_of};
use crate::waiting::wait;
use linsep::data::basis::Basis;
use linsep::model::Plane;
use linsep::proof::{CertificateFile, DataIdentity, InputField};
use linsep::verdict::{self as judge, Coefficients, Decision, Interval, Judge};
use linsep::{Claim, Dataset, LinearModel, Result, Rule};
use linsep_teach::plot::{Pattern, Style};
use pyo3::prelude::*;
use std::sync::Arc;

/// A class, a column and what becomes of its coefficient.
type Named = (Option<String>, Option<u32>, &'static str);

/// The answer to whether planes separate the classes.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct Verdict {
    table: Arc<Dataset>,
    decisions: Vec<Decision>,
    margin: Interval,
    coefficients: Option<Coefficients>,
    certificate: CertificateFile,
}

/// Decides whether planes separate the classes of data: of two classes one plane, else all classes at once.
#[pyfunction]
#[pyo3(signature = (data, *, fit_intercept=true, threads=1))]
pub(crate) fn separable(
    py: Python<'_>,
    data: &Data,
    fit_intercept: bool,
    threads: usize,
) -> PyResult<Verdict> {
    let table = Arc::clone(&data.table);
    wait(py, move || {
        let judge = Judge::new(Arc::clone(&table)).with_bias(fit_intercept).with_threads(threads);
        Verdict::of(&judge, table)
    })
}

impl Verdict {
    fn of(judge: &Judge, table: Arc<Dataset>) -> Result<Verdict> {
        let decisions = decide(judge)?;
        let last = decisions.last();
        let margin = last.map_or_else(Interval::default, |last| judge.margin(last));
        let coefficients = last.and_then(|last| judge.coefficients(last, &|| false));
        let mut claims = judge::certificate(&decisions);
        claims.claims.extend(coefficients.iter().map(|found| found.claim.clone()));
        let identity = DataIdentity::new(table.digest(judge.threads), table.n_rows() as u64);
        let mut file = CertificateFile::new(identity, judge.reading(), judge.bias, claims);
        file.basis = table.input().basis.as_ref().map(Basis::claimed);
        file.input = InputField::of(table.input());
        Ok(Verdict { table, decisions, margin, coefficients, certificate: file })
    }

    fn last(&self) -> Option<&Decision> {
        self.decisions.last()
    }
}

/// Of two classes one question; of more every pair, then all at once.
fn decide(judge: &Judge) -> Result<Vec<Decision>> {
    let stop = || false;
    let classes = judge.data.classes();
    if let [_, positive] = classes {
        return Ok(vec![judge.class(positive, &stop)?]);
    }
    judge.data.require_two_classes()?;
    let mut decisions = Vec::new();
    for (i, a) in classes.iter().enumerate() {
        for b in &classes[i + 1..] {
            decisions.push(judge.pair(b, a, &stop)?);
        }
    }
    decisions.push(judge.joint(&decisions, &stop)?);
    Ok(decisions)
}

#[pymethods]
impl Verdict {
    /// One word: separable, touching, overlapping, inseparable or undecided.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.last().map_or("undecided", |decision| decision.verdict.word())
    }

    fn __bool__(&self) -> bool {
        self.last().is_some_and(|decision| decision.verdict == judge::Verdict::Separable)
    }

    /// The words for every pair of classes: (class, other class, verdict).
    #[getter]
    fn pairs(&self) -> Vec<(String, String, &'static str)> {
        let pair = |decision: &Decision| {
            let problem = decision.problem.as_ref()?;
            let (a, b) = (problem.negative.join(", "), problem.positive.join(", "));
            Some((a, b, decision.verdict.word()))
        };
        self.decisions.iter().filter_map(pair).collect()
    }

    /// The proof.
    #[getter]
    fn certificate(&self) -> Certificate {
        Certificate { file: self.certificate.clone() }
    }

    /// Rows that refute every plane: (row, multiplier as text). Empty for separable rows.
    #[getter]
    fn witness(&self) -> Vec<(u64, String)> {
        match self.last().map(|decision| &decision.claim) {
            Some(
                Claim::Inseparable { witness, .. }
                | Claim::Touching { witness, .. }
                | Claim::Overlapping { witness, .. },
            ) => witness.iter().map(|entry| (entry.row, entry.lambda.clone())).collect(),
            Some(
                Claim::JointInseparable { witness }
                | Claim::JointTouching { witness, .. }
                | Claim::JointOverlapping { witness, .. },
            ) => witness.iter().map(|entry| (entry.row, entry.lambda.clone())).collect(),
            _ => Vec::new(),
        }
    }

    /// The rows of the witness.
    #[getter]
    fn rows(&self) -> Vec<u64> {
        self.last().map_or_else(Vec::new, |decision| rows_of(&decision.claim))
    }

    /// Between which numbers the largest margin of a plane of unit length (w, b) lies.
    #[getter]
    fn margin(&self) -> (Option<f64>, Option<f64>) {
        (self.margin.lower, self.margin.upper)
    }

    /// What becomes of each coefficient of a logistic fit: (class, column, word). The column of the bias
    /// is `None`.
    #[getter]
    fn coefficients(&self) -> Option<Vec<Named>> {
        let list = &self.coefficients.as_ref()?.list;
        Some(list.iter().map(|(class, column, e)| (class.clone(), *column, e.word())).collect())
    }

    /// Weights and bias of a plane that separates two classes, positive on the side of the second.
    #[getter]
    fn plane(&self) -> Option<(Vec<f64>, f64)> {
        let plane = self.last()?.plane(self.table.n_features())?;
        Some((plane.weights, plane.bias))
    }

    /// A picture of the rows, with the plane if there is one, as SVG.
    #[pyo3(signature = (title=None))]
    fn plot(&self, py: Python<'_>, title: Option<&str>) -> PyResult<String> {
        let model = self.plane().map(|(weights, bias)| {
            let (classes, input) = (self.table.classes().to_vec(), self.table.input().clone());
            LinearModel::new(vec![Plane::new(weights, bias)], Rule::Sign, classes, input)
        });
        let mut pattern = Pattern::of(&self.table);
        pattern.model = model.as_ref();
        pattern.draw(&Style::new(title.unwrap_or_default())).map_err(|error| exception(py, error))
    }

    fn __repr__(&self) -> String {
        let (rows, word) = (self.table.n_rows(), self.verdict());
        match self.rows().len() {
            0 => format!("<linsep verdict: {word}, {rows} rows>"),
            some => format!("<linsep verdict: {word}, {some} of {rows} rows prove it>"),
        }
    }
}
