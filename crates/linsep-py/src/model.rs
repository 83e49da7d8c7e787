//! `Model`: what was learned, with everything that is known about how.

use crate::arrays::Borrowed;
use crate::certificate::{self, Certificate, Checked};
use crate::data::{Data, Entries, SparseRows, TABLE, options};
use crate::errors::{exception, wrong_type};
use crate::waiting::wait;
use linsep::data::door::ArrayRows;
use linsep::data::read::{ReadOptions, RowSource};
use linsep::density::Family;
use linsep::export::{Exported, Target, export, round_to_single};
use linsep::file::ModelFile;
use linsep::{Fit, LinearModel, Remark, Rule, Task, verify};
use linsep_teach::plot::{Pattern, Style};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// A linear classifier with its certificate; the content of a file `.linsep`.
#[pyclass(frozen, module = "linsep._linsep")]
pub(crate) struct Model {
    pub(crate) file: ModelFile,
    pub(crate) findings: Findings,
}

/// What a run told and a file does not hold.
#[derive(Clone, Default)]
pub(crate) struct Findings {
    objective: Option<f64>,
    gap: Option<f64>,
    mistakes: Option<u64>,
    remarks: Vec<Remark>,
    shortfall: Option<String>,
    seconds: Option<f64>,
}

impl Findings {
    pub(crate) fn new(fit: &Fit, gap: Option<f64>) -> Findings {
        Findings {
            seconds: None,
            objective: fit.progress.objective,
            gap: gap.or(fit.progress.gap),
            mistakes: fit.progress.last_mistakes,
            remarks: fit.remarks.clone(),
            shortfall: fit.shortfall.clone(),
        }
    }

    /// The same, with the time that the library has taken since `began`.
    pub(crate) fn timed(mut self, began: Instant) -> Findings {
        self.seconds = Some(began.elapsed().as_secs_f64());
        self
    }
}

impl Model {
    fn model(&self) -> &LinearModel {
        &self.file.model
    }
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let file = ModelFile::load(&path, None).map_err(|error| exception(py, error))?;
        Ok(Model { file, findings: Findings::default() })
    }

    /// Whether the first bytes of a file are those of a model.
    #[staticmethod]
    fn is_one(start: &[u8]) -> bool {
        ModelFile::is_one(start)
    }

    /// Reads the content of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, content: &[u8]) -> PyResult<Model> {
        let file = ModelFile::from_bytes(content, Path::new("<bytes>"), u64::MAX);
        let file = file.map_err(|error| exception(py, error))?;
        Ok(Model { file, findings: Findings::default() })
    }

    /// The content of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let content = self.file.to_bytes().map_err(|words| wrong_type(&words))?;
        Ok(PyBytes::new(py, &content))
    }

    /// Writes a model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.file.save(&path).map_err(|error| exception(py, error))
    }

    /// The model for another program: onnx, json, c or liblinear.
    fn export<'py>(&self, py: Python<'py>, to: &str) -> PyResult<Bound<'py, PyBytes>> {
        let written = to.parse::<Target>().and_then(|target| match target {
            Target::OnnxF32 => Err(linsep::Error::usage(
                "float32 rounds the planes, so it needs the data to check it on: see `to_onnx_float32`",
            )),
            target => export(self.model(), target),
        });
        written.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| exception(py, error))
    }

    /// The operator LinearClassifier of ONNX in float32, and what is proved of the rounded planes, if something is
    /// proved of the model. Refused where a row may get another class, or a claim does not hold of the planes.
    #[pyo3(signature = (data, threads=1))]
    fn export_single<'py>(
        &self,
        py: Python<'py>,
        data: &Data,
        threads: usize,
    ) -> PyResult<(Bound<'py, PyBytes>, Option<Certificate>)> {
        let (file, table) = (self.file.clone(), Arc::clone(&data.table));
        let (bytes, certificate) = wait(py, move || {
            let bytes = export(&file.model, Target::OnnxF32)?;
            let claims = file.certificate.claims.clone();
            let certificate = match linsep::Certificate::new(claims).proves_something() {
                true => Some(round_to_single(&file.model)?.certificate(&file, &table, threads)?),
                false => None,
            };
            let (mut lost, mut first) = (0, None);
            let exported = Exported::read(&bytes, Target::OnnxF32, &file.model)?;
            exported.check(&file.model, table.store(), |row, kept| {
                if !kept {
                    lost += 1;
                    first.get_or_insert(row);
                }
            });
            match first {
                None => Ok((bytes, certificate)),
                Some(row) => Err(linsep::Error::usage(format!(
                    "{lost} of {} rows may get another class in float32; X[{row}] is the first of them. Use `to_onnx`, which is float64",
                    table.n_rows()
                ))),
            }
        })?;
        Ok((PyBytes::new(py, &bytes), certificate.map(|file| Certificate { file })))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Model>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    /// The weights of the planes, a row for each.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let planes = &self.model().planes;
        let width = planes.first().map_or(0, |plane| plane.weights.len());
        let all: Vec<f64> = planes.iter().flat_map(|plane| plane.weights.iter().copied()).collect();
        PyArray1::from_vec(py, all).reshape([planes.len(), width])
    }

    /// The biases of the planes.
    #[getter]
    fn biases<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_iter(py, self.model().planes.iter().map(|plane| plane.bias))
    }

    /// The names of the classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model().classes.clone()
    }

    /// How scores become a class: sign, argmax, rest, rest-last or vote.
    #[getter]
    fn rule(&self) -> &'static str {
        match self.model().rule.on_scores() {
            Rule::ArgMax => "argmax",
            Rule::Rest => "rest",
            Rule::RestLast => "rest-last",
            Rule::Vote => "vote",
            _ => "sign",
        }
    }

    /// Whether several planes vote for each score, so that no plane is the model.
    #[getter]
    fn is_ballot(&self) -> bool {
        matches!(self.model().rule, Rule::Ballot(_))
    }

    /// Whether scores become probabilities.
    #[getter]
    fn has_probabilities(&self) -> bool {
        let zeros = vec![0.0; self.model().n_scores()];
        self.model().probabilities_of_scores(&zeros).is_some()
    }

    /// Number of raw features.
    #[getter]
    fn features(&self) -> usize {
        self.model().n_features()
    }

    /// The names of the raw features, if they have names.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        let input = &self.model().input;
        input.has_names().then(|| input.feature_names())
    }

    /// Whether its rows come from a table with columns of texts, which have to be encoded first.
    #[getter]
    fn takes_tables(&self) -> bool {
        self.model().input.columns.iter().any(|column| column.levels.is_some())
    }

    /// The rows of a table, given as an Arrow stream, as the model takes them: compressed sparse rows.
    #[pyo3(signature = (content, threads=1))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        content: &[u8],
        threads: usize,
    ) -> PyResult<SparseRows<'py>> {
        let options = ReadOptions::default().with_threads(threads);
        let model = self.model();
        let mut rows = Entries::default();
        let source = RowSource::reader(content, TABLE, &options);
        let read = source.blocks(&model.input, false, |_, chunk| {
            rows.add(chunk.store());
            Ok(())
        });
        read.map_err(|error| exception(py, error))?;
        Ok(rows.into_arrays(py, model.n_features()))
    }

    /// The name of the learner in the registry.
    #[getter]
    fn learner(&self) -> &str {
        &self.file.learner
    }

    /// Every parameter of the learner with its value.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (name, value) in &self.file.parameters {
            dict.set_item(name, value)?;
        }
        Ok(dict)
    }

    /// Full passes over the rows.
    #[getter]
    fn epochs(&self) -> u64 {
        self.file.epochs
    }

    /// Corrections of the weights.
    #[getter]
    fn updates(&self) -> u64 {
        self.file.updates
    }

    /// Why training ended.
    #[getter]
    fn stop(&self) -> &'static str {
        self.file.stop.word()
    }

    /// The objective as it was measured last.
    #[getter]
    fn objective(&self) -> Option<f64> {
        self.findings.objective
    }

    /// The relative gap to the optimum.
    #[getter]
    fn gap(&self) -> Option<f64> {
        self.findings.gap
    }

    /// Mistakes in the last full pass.
    #[getter]
    fn mistakes(&self) -> Option<u64> {
        self.findings.mistakes
    }

    /// What the run was to find and has not found.
    #[getter]
    fn shortfall(&self) -> Option<String> {
        self.findings.shortfall.clone()
    }

    /// Seconds that the library took to learn, without the door and without Python.
    #[getter]
    fn seconds(&self) -> Option<f64> {
        self.findings.seconds
    }

    /// What the learner found out on its way: name and words.
    #[getter]
    fn remarks(&self) -> Vec<(&'static str, String)> {
        self.findings.remarks.iter().map(|remark| (remark.name, remark.words.clone())).collect()
    }

    /// How rows of each class come about, where the learner knows: arrays by name. Of a covariance there is
    /// the upper triangle.
    #[getter]
    fn density<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(density) = &self.file.density else { return Ok(None) };
        let dict = PyDict::new(py);
        let line = |name, values: &[f64]| dict.set_item(name, PyArray1::from_slice(py, values));
        line("priors", &density.priors)?;
        let (name, table) = match &density.family {
            Family::Normal { means, covariance } => {
                line("covariance", covariance)?;
                ("means", means)
            }
            Family::NormalColumns { means, variances } => {
                line("variances", variances)?;
                ("means", means)
            }
            Family::Multinomial { chances, .. } | Family::Bernoulli { chances } => {
                ("chances", chances)
            }
            _ => return Ok(None),
        };
        dict.set_item(name, PyArray2::from_vec2(py, table)?)?;
        Ok(Some(dict))
    }

    /// The kinds of what is proved, and what each is about.
    #[getter]
    fn kinds(&self) -> Vec<(&'static str, String)> {
        certificate::kinds(&self.file.certificate)
    }

    /// Rows that prove that no plane separates; empty where there is no such proof.
    #[getter]
    fn witness(&self) -> Vec<u64> {
        certificate::witness(&self.file.certificate)
    }

    /// What is proved.
    #[getter]
    fn certificate(&self) -> Certificate {
        Certificate { file: self.file.certificate.clone() }
    }

    /// Checks every claim against data, in exact arithmetic: claim, word and words of each.
    #[pyo3(signature = (data, threads=1))]
    fn verify(&self, py: Python<'_>, data: &Data, threads: usize) -> PyResult<Vec<Checked>> {
        let (file, table) = (self.file.clone(), Arc::clone(&data.table));
        wait(py, move || {
            let rest = file.model.input.rest;
            let table = table.as_ref().clone().with_classes(&file.model.classes, rest)?;
            let task = Task::new(table).with_threads(threads);
            let findings = verify::findings(&file, &task)?;
            Ok(Checked::all(&file.certificate, &findings))
        })
    }

    /// The place of the class of every row.
    #[pyo3(signature = (matrix, threads=1))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let classes = self
            .over(py, matrix, 1, 0u32, |model, rows, out| model.predict_into(rows, threads, out))?;
        Ok(PyArray1::from_vec(py, classes))
    }

    /// The scores of every row.
    #[pyo3(signature = (matrix, threads=1))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let each = self.model().n_scores();
        let scores = self.over(py, matrix, each, 0.0, |model, rows, out| {
            model.scores_into(rows, threads, out)
        })?;
        let rows = scores.len() / each.max(1);
        PyArray1::from_vec(py, scores).reshape([rows, each])
    }

    /// The probability of each class for every row.
    #[pyo3(signature = (matrix, threads=1))]
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let each = self.model().classes.len();
        let likely = self.over(py, matrix, each, 0.0, |model, rows, out| {
            model.probabilities_into(rows, threads, out)
        })?;
        let rows = likely.len() / each.max(1);
        PyArray1::from_vec(py, likely).reshape([rows, each])
    }

    /// The place of the class of one row.
    fn predict_one(&self, py: Python<'_>, row: &Bound<'_, PyAny>) -> PyResult<u32> {
        let model = self.model();
        let class = |row: &[f64]| {
            let scores = model.scores(row).map_err(|error| exception(py, error))?;
            Ok(model.class_of(&scores))
        };
        if let Ok(array) = row.extract::<PyReadonlyArray1<'_, f64>>()
            && let Ok(values) = array.as_slice()
        {
            return class(values);
        }
        class(&row.extract::<Vec<f64>>()?)
    }

    /// A picture of data and model as SVG.
    #[pyo3(signature = (data, title=None))]
    fn plot(&self, py: Python<'_>, data: &Data, title: Option<&str>) -> PyResult<String> {
        let mut pattern = Pattern::of(&data.table);
        pattern.model = Some(self.model());
        pattern.about = self.file.learner.clone();
        pattern.draw(&Style::new(title.unwrap_or_default())).map_err(|error| exception(py, error))
    }

    fn __repr__(&self) -> String {
        let model = self.model();
        let (classes, features) = (model.classes.len(), model.n_features());
        format!("<linsep model: {}, {classes} classes, {features} features>", self.file.learner)
    }
}

impl Model {
    /// Room for every row, filled by `fill`. Python is held meanwhile, so that no other thread of it
    /// changes the rows.
    fn over<T: Clone>(
        &self,
        py: Python<'_>,
        matrix: &Bound<'_, PyAny>,
        each: usize,
        zero: T,
        fill: impl FnOnce(&LinearModel, &ArrayRows<'_>, &mut [T]) -> linsep::Result<()>,
    ) -> PyResult<Vec<T>> {
        let borrowed = Borrowed::of(matrix)?;
        let mut marks = Vec::new();
        let rows = ArrayRows::new(borrowed.matrix(&mut marks)?, &options(None, 1, None));
        let rows = rows.map_err(|error| exception(py, error))?;
        let mut out = vec![zero; rows.n_rows() * each];
        fill(self.model(), &rows, &mut out).map_err(|error| exception(py, error))?;
        Ok(out)
    }
}
