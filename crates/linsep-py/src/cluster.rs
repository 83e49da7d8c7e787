//! What workers and drivers of a cluster call: blocks of rows that are `Data` of their own, answers as bytes,
//! and models whose rows nobody holds in one place (`linsep::worker`).

use crate::certificate::Certificate;
use crate::data::Data;
use crate::errors::exception;
use crate::learn::made;
use crate::model::{Findings, Model};
use crate::waiting::wait;
use linsep::data::input::InputMap;
use linsep::file::ModelFile;
use linsep::learn::bayes::{BernoulliBayes, MultinomialBayes, SharedVarianceBayes};
use linsep::learn::discriminant::{Fisher, Lda, Shrinkage};
use linsep::learn::least_squares::LeastSquares;
use linsep::learn::logistic::Intercept;
use linsep::model::{Link, Plane};
use linsep::proof::Certificate as Proved;
use linsep::recipe::Recipe;
use linsep::worker::{ClosedLearner, SmoothDriver, SmoothLoss, SoftmaxDriver, SoftmaxLoss, Sums};
use linsep::{Error, LinearModel, Progress, Result, Rule, Stop};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Weights and biases of planes.
pub(crate) type Planes = (Vec<Vec<f64>>, Vec<f64>);

/// A loss, its C, and whether there is an intercept.
pub(crate) type Problem = (String, f64, bool);

/// A learner that is made of sums over the rows.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct ClosedForm(pub(crate) ClosedLearner);

#[pymethods]
impl ClosedForm {
    /// Least squares on coded classes.
    #[staticmethod]
    fn least_squares(py: Python<'_>, l2: f64) -> PyResult<ClosedForm> {
        let learner = || ClosedLearner::LeastSquares(LeastSquares::default().with_l2(l2));
        ClosedForm::within(py, ("l2", l2), (0.0..=f64::MAX).contains(&l2), learner)
    }

    /// Fisher's discriminant.
    #[staticmethod]
    fn fisher(py: Python<'_>, shrinkage: f64) -> PyResult<ClosedForm> {
        let learner = || ClosedLearner::Fisher(Fisher::default().with_shrinkage(share(shrinkage)));
        ClosedForm::within(py, ("shrinkage", shrinkage), (0.0..=1.0).contains(&shrinkage), learner)
    }

    /// Linear discriminant analysis.
    #[staticmethod]
    fn lda(py: Python<'_>, shrinkage: f64) -> PyResult<ClosedForm> {
        let learner = || ClosedLearner::Lda(Lda::default().with_shrinkage(share(shrinkage)));
        ClosedForm::within(py, ("shrinkage", shrinkage), (0.0..=1.0).contains(&shrinkage), learner)
    }

    /// Naive Bayes of normal features whose variances the classes share.
    #[staticmethod]
    fn shared_variance_nb(py: Python<'_>, var_smoothing: f64) -> PyResult<ClosedForm> {
        let learner = || {
            let bayes = SharedVarianceBayes::default().with_smoothing(var_smoothing);
            ClosedLearner::SharedVariance(bayes)
        };
        let is_good = (0.0..=f64::MAX).contains(&var_smoothing);
        ClosedForm::within(py, ("var_smoothing", var_smoothing), is_good, learner)
    }

    /// Naive Bayes of counts.
    #[staticmethod]
    fn multinomial_nb(py: Python<'_>, alpha: f64) -> PyResult<ClosedForm> {
        let learner = || ClosedLearner::Multinomial(MultinomialBayes::default().with_alpha(alpha));
        ClosedForm::within(py, ("alpha", alpha), alpha > 0.0 && alpha.is_finite(), learner)
    }

    /// Naive Bayes of values that are on above a threshold.
    #[staticmethod]
    fn bernoulli_nb(py: Python<'_>, alpha: f64, binarize: f64) -> PyResult<ClosedForm> {
        let learner = || {
            let bayes = BernoulliBayes::default().with_alpha(alpha).with_binarize(binarize);
            ClosedLearner::Bernoulli(bayes)
        };
        let is_good = alpha > 0.0 && alpha.is_finite() && binarize.is_finite();
        ClosedForm::within(py, ("alpha", alpha), is_good, learner)
    }

    /// Short numbers near the values of the first block.
    fn shift(&self, block: &Data) -> Vec<f64> {
        self.0.sums().shift(&block.table)
    }

    /// The sums of a block.
    fn partial<'py>(
        &self,
        py: Python<'py>,
        block: &Data,
        shift: Vec<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (sums, block) = (self.0.sums(), Arc::clone(&block.table));
        bytes(py, wait(py, move || sums.partial(&block, &shift)))
    }

    /// The sums of some blocks and of those that follow.
    fn merge<'py>(
        &self,
        py: Python<'py>,
        all: &[u8],
        next: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let sums: Sums = self.0.sums();
        bytes(py, sums.merge(all, next).map_err(|error| exception(py, error)))
    }

    /// The planes of the sums of all blocks.
    fn planes(&self, py: Python<'_>, shift: Vec<f64>, merged: Vec<u8>) -> PyResult<Planes> {
        let learner = self.0.clone();
        let planes = wait(py, move || learner.planes(&shift, &merged))?;
        Ok(planes.into_iter().map(|plane| (plane.weights, plane.bias)).unzip())
    }
}

/// Newton's method on a smooth loss of two classes, a round for each step.
#[pyclass(module = "linsep._linsep")]
pub(crate) struct NewtonRounds {
    loss: SmoothLoss,
    driver: SmoothDriver,
}

#[pymethods]
impl NewtonRounds {
    /// For `logistic` or `squared-hinge`, until a step promises less than the share `tol` of the objective.
    #[new]
    fn new(py: Python<'_>, problem: Problem, width: usize, tol: f64) -> PyResult<NewtonRounds> {
        let loss = smooth(&problem).map_err(|error| exception(py, error))?;
        let driver = loss.driver(width, tol);
        Ok(NewtonRounds { loss, driver })
    }

    /// What a block answers at a plane, with second derivatives or without; `positive` is against the other classes.
    #[staticmethod]
    #[pyo3(signature = (block, problem, weights, bias, positive=1, second=true))]
    fn partial<'py>(
        py: Python<'py>,
        block: &Data,
        problem: Problem,
        weights: Vec<f64>,
        bias: f64,
        positive: u32,
        second: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (block, plane) = (Arc::clone(&block.table), Plane::new(weights, bias));
        let work = move || {
            let loss = smooth(&problem)?.against_rest(positive);
            if second { loss.partial(&block, &plane) } else { loss.slope(&block, &plane) }
        };
        bytes(py, wait(py, work))
    }

    /// Σ ψ of a block, for the bound.
    #[staticmethod]
    #[pyo3(signature = (block, problem, weights, bias, factors, positive=1))]
    fn dual_part(
        py: Python<'_>,
        block: &Data,
        problem: Problem,
        weights: Vec<f64>,
        bias: f64,
        factors: [f64; 2],
        positive: u32,
    ) -> PyResult<f64> {
        let block = Arc::clone(&block.table);
        let plane = Plane::new(weights, bias);
        wait(py, move || {
            smooth(&problem)?.against_rest(positive).dual_part(&block, &plane, factors)
        })
    }

    /// The answers of some blocks and of those that follow.
    #[staticmethod]
    fn merge<'py>(py: Python<'py>, all: &[u8], next: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let loss = SmoothLoss::logistic(1.0, Intercept::Free);
        bytes(py, loss.merge(all, next).map_err(|error| exception(py, error)))
    }

    /// Begins at a plane in place of zeros.
    fn begin(&mut self, py: Python<'_>, weights: Vec<f64>, bias: f64) -> PyResult<()> {
        self.driver.begin(Plane::new(weights, bias)).map_err(|error| exception(py, error))
    }

    /// Whether the next round asks for second derivatives.
    #[getter]
    fn wants_second(&self) -> bool {
        self.driver.wants_second()
    }

    /// What the gap is likely to be, as a share of the objective.
    #[getter]
    fn likely_gap(&self) -> f64 {
        self.driver.likely_gap()
    }

    /// The plane that the next round asks about.
    #[getter]
    fn candidate(&self) -> (Vec<f64>, f64) {
        let plane = self.driver.candidate();
        (plane.weights.clone(), plane.bias)
    }

    /// Takes the merged answers. Whether there is another round.
    fn step(&mut self, py: Python<'_>, merged: &[u8]) -> PyResult<bool> {
        self.driver.step(merged).map_err(|error| exception(py, error))
    }

    /// The best plane so far.
    #[getter]
    fn plane(&self) -> (Vec<f64>, f64) {
        let plane = self.driver.plane();
        (plane.weights.clone(), plane.bias)
    }

    /// The objective at the plane.
    #[getter]
    fn objective(&self) -> f64 {
        self.driver.objective()
    }

    /// Rounds so far.
    #[getter]
    fn rounds(&self) -> u64 {
        self.driver.rounds()
    }

    /// The factors of the sides for the round of the bound.
    #[getter]
    fn factors(&self) -> [f64; 2] {
        self.driver.factors()
    }

    /// The lower bound of the optimum with Σ ψ of all blocks, in binary64.
    fn bound(&self, psi: f64) -> f64 {
        self.driver.bound(psi)
    }

    fn __repr__(&self) -> String {
        format!("<linsep newton: {:?}, {} rounds>", self.loss, self.driver.rounds())
    }
}

/// Newton's method on softmax regression, a round for each step.
#[pyclass(module = "linsep._linsep")]
pub(crate) struct SoftmaxRounds(SoftmaxDriver);

#[pymethods]
impl SoftmaxRounds {
    /// For so many classes, until a step promises less than the share `tol` of the objective.
    #[new]
    fn new(
        py: Python<'_>,
        problem: Problem,
        classes: usize,
        width: usize,
        tol: f64,
    ) -> PyResult<SoftmaxRounds> {
        let driver = softmax(&problem).and_then(|loss| loss.driver(classes, width, tol));
        driver.map(SoftmaxRounds).map_err(|error| exception(py, error))
    }

    /// What a block answers at planes.
    #[staticmethod]
    fn partial<'py>(
        py: Python<'py>,
        block: &Data,
        problem: Problem,
        planes: Planes,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let block = Arc::clone(&block.table);
        bytes(py, wait(py, move || softmax(&problem)?.partial(&block, &plain(planes))))
    }

    /// The answers of some blocks and of those that follow.
    #[staticmethod]
    fn merge<'py>(py: Python<'py>, all: &[u8], next: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let loss = SoftmaxLoss::new(1.0, Intercept::Free);
        bytes(py, loss.merge(all, next).map_err(|error| exception(py, error)))
    }

    /// The planes that the next round asks about.
    #[getter]
    fn candidate(&self) -> Planes {
        apart(self.0.candidate())
    }

    /// Takes the merged answers. Whether there is another round.
    fn step(&mut self, py: Python<'_>, merged: &[u8]) -> PyResult<bool> {
        self.0.step(merged).map_err(|error| exception(py, error))
    }

    /// The best planes so far.
    #[getter]
    fn planes(&self) -> Planes {
        apart(self.0.planes())
    }

    /// The objective at the planes.
    #[getter]
    fn objective(&self) -> f64 {
        self.0.objective()
    }

    /// Rounds so far.
    #[getter]
    fn rounds(&self) -> u64 {
        self.0.rounds()
    }
}

/// Weights and biases of planes.
pub(crate) fn apart(planes: &[Plane]) -> Planes {
    planes.iter().map(|plane| (plane.weights.clone(), plane.bias)).unzip()
}

/// A model of planes that were found elsewhere. The certificate says which data, by which columns, and what
/// is proved. Planes that were learned `against_rest` know of no other planes.
#[pyfunction]
#[pyo3(signature = (learner, settings, classes, planes, has_probabilities, certificate, rounds, against_rest=false))]
#[expect(clippy::too_many_arguments, reason = "what a model file says, one thing after the other")]
pub(crate) fn model_of_planes(
    py: Python<'_>,
    learner: &str,
    settings: BTreeMap<String, String>,
    classes: Vec<String>,
    planes: Planes,
    has_probabilities: bool,
    certificate: &Certificate,
    rounds: u64,
    against_rest: bool,
) -> PyResult<Model> {
    let file = &certificate.file;
    let make = || -> Result<ModelFile> {
        let recipe = Recipe::find(learner)?;
        let settings = made(settings, 0);
        // Settings that the learner does not know are refused here.
        recipe.build(&settings)?;
        let input = file.input.as_ref().map(|input| input.read::<InputMap>()).transpose();
        let missing = || Error::usage("the certificate does not say which columns");
        let input = input.map_err(Error::usage)?.ok_or_else(missing)?;
        let planes = plain(planes);
        if planes.iter().any(|plane| plane.weights.len() != input.features) {
            return Err(Error::usage("planes and columns differ in number"));
        }
        let rule = match planes.len() {
            1 => Rule::Sign,
            _ if against_rest => Rule::Rest,
            _ => Rule::ArgMax,
        };
        let mut model = LinearModel::new(planes, rule, classes, input);
        if has_probabilities {
            model.link = Link::Softmax;
        }
        let mut made = ModelFile::new(
            model,
            Proved::new(file.claims.clone()),
            recipe.name,
            recipe.effective(&settings),
            settings.seed,
            (Stop::Finished, Progress::default().with_epochs(rounds)),
            (file.data.clone(), file.reading.clone()),
        );
        // Whoever checks it on a cluster has to know which columns it is about.
        made.certificate.input = file.input.clone();
        Ok(made)
    };
    let file = make().map_err(|error| exception(py, error))?;
    Ok(Model { file, findings: Findings::default() })
}

impl ClosedForm {
    /// A learner whose number is one that it can have.
    fn within(
        py: Python<'_>,
        (name, number): (&str, f64),
        is_good: bool,
        learner: impl FnOnce() -> ClosedLearner,
    ) -> PyResult<ClosedForm> {
        match is_good {
            true => Ok(ClosedForm(learner())),
            false => {
                let error = Error::usage(format!("`{name}={number}` is out of range"));
                Err(exception(py, error))
            }
        }
    }
}

fn share(shrinkage: f64) -> Shrinkage {
    if shrinkage == 0.0 { Shrinkage::None } else { Shrinkage::Share(shrinkage) }
}

/// The planes as a model has them.
pub(crate) fn plain(planes: Planes) -> Vec<Plane> {
    // A negative zero would tell one storage from the other.
    let plain = |weights: Vec<f64>| weights.into_iter().map(|w| w + 0.0).collect();
    let pairs = planes.0.into_iter().zip(planes.1);
    pairs.map(|(weights, bias)| Plane::new(plain(weights), bias + 0.0)).collect()
}

/// Softmax regression with its C.
pub(crate) fn softmax((_, c, fit_intercept): &Problem) -> Result<SoftmaxLoss> {
    if !(c.is_finite() && *c > 0.0) {
        return Err(Error::usage(format!("`c={c}` is not above 0")));
    }
    let intercept = if *fit_intercept { Intercept::Free } else { Intercept::None };
    Ok(SoftmaxLoss::new(*c, intercept))
}

pub(crate) fn smooth((loss, c, fit_intercept): &Problem) -> Result<SmoothLoss> {
    let (c, fit_intercept) = (*c, *fit_intercept);
    if !(c.is_finite() && c > 0.0) {
        return Err(Error::usage(format!("`c={c}` is not above 0")));
    }
    let intercept = if fit_intercept { Intercept::Free } else { Intercept::None };
    match loss.as_str() {
        "logistic" => Ok(SmoothLoss::logistic(c, intercept)),
        "squared-hinge" => Ok(SmoothLoss::squared_hinge(c, intercept)),
        _ => Err(Error::usage(format!("`loss={loss}` is neither logistic nor squared-hinge"))),
    }
}

pub(crate) fn bytes(py: Python<'_>, found: PyResult<Vec<u8>>) -> PyResult<Bound<'_, PyBytes>> {
    found.map(|found| PyBytes::new(py, &found))
}
