//! Models for other programs: ONNX, C, JSON and LIBLINEAR.
//!
//! An export takes what the model takes behind its input map: one number for each feature, in the order of
//! [`LinearModel::input`], columns of categories as 0 and 1. It predicts what the model predicts.
//!
//! Scores have the same bits where the target lets us say in which order to add: the C function and the
//! graph of [`Target::Onnx`] add as [`LinearModel::scores`] does, the term of feature j in lane j mod 8 and
//! the lanes in one tree. LIBLINEAR and a runtime for [`Target::OnnxF32`] add in an order of their own, so
//! a row whose scores are as near to each other as rounding can get another class there.
//!
//! What a target cannot hold is refused with the reason, never left out.

mod c;
mod json;
mod liblinear;
mod onnx;
mod protobuf;
mod single;

pub use single::{Rounded, round_to_single};

use crate::model::parts::check_model;
use crate::model::rule::duels;
use crate::model::{Decision, LinearModel, Link, Plane, Rule};
use linsep_data::basis::Basis;
use linsep_data::cancel;
use linsep_data::error::{Code, Error, Place, Problem, Result};
use linsep_data::matrix::Store;
use linsep_data::words;

words! {
    /// What a model is written for.
    Target: "to" {
        /// A graph of float64 operators that adds as linsep does.
        Onnx = "onnx",
        /// The operator `LinearClassifier` of float32. What is proved of the planes has to be checked
        /// again: [`round_to_single`].
        OnnxF32 = "onnx-f32",
        /// JSON with every part of the model, which linsep reads.
        Json = "json",
        /// One file of C99 without dependencies.
        C = "c",
        /// The text file of LIBLINEAR.
        Liblinear = "liblinear",
    }
}

impl Target {
    /// How names of such files end, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Target::Onnx | Target::OnnxF32 => "onnx",
            Target::Json => "json",
            Target::C => "c",
            Target::Liblinear => "model",
        }
    }
}

/// The content of a file for another program, or why it cannot hold the model.
///
/// ```
/// use linsep::data::input::InputMap;
/// use linsep::export::{Target, export};
/// use linsep::{LinearModel, Plane, Rule};
/// let classes = vec!["no".to_owned(), "yes".to_owned()];
/// let plane = Plane::new(vec![1.0, 1.0], -1.5);
/// let model = LinearModel::new(vec![plane], Rule::Sign, classes, InputMap::plain(2));
/// let source = String::from_utf8(export(&model, Target::C)?).unwrap();
/// assert!(source.contains("int linsep_predict(const double *x)"));
/// // Labels of LIBLINEAR are whole numbers.
/// assert!(export(&model, Target::Liblinear).is_err());
/// # Ok::<(), linsep::Error>(())
/// ```
pub fn export(model: &LinearModel, target: Target) -> Result<Vec<u8>> {
    let model = &in_parts(model);
    check_model(model).map_err(|words| refusal(words, "train the model again"))?;
    if model.n_features() == 0 {
        return Err(refusal("the model has no features", "train it on data with some"));
    }
    match (&model.decision, target) {
        (None, _) | (Some(_), Target::Json) => {}
        (Some(Decision::Threshold(_)), Target::C) => {}
        (Some(Decision::Threshold(_)), _) => {
            return Err(refusal(
                "this model has a threshold, and the target decides at a score of 0",
                "export to c or json, or train without `threshold`",
            ));
        }
        (Some(Decision::Costs(_)), _) => {
            return Err(refusal(
                "this model decides by the costs of errors, and the target by the highest score",
                "export to json, or train without `cost-matrix`",
            ));
        }
    }
    match target {
        Target::Onnx => onnx::write(model),
        Target::OnnxF32 => single::write(model),
        Target::Json => json::write(model),
        Target::C => c::write(model),
        Target::Liblinear => liblinear::write(model),
    }
}

/// What was written, read back: [`Exported::check`] predicts with it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exported {
    /// What it was written for.
    pub target: Target,
    /// The model that the file holds: its own planes and class names, and where it does not state its rule
    /// and its features, those of the model that it was made from.
    pub model: LinearModel,
    /// The bounds of [`Target::OnnxF32`].
    rounded: Option<Rounded>,
}

impl Exported {
    /// Reads the content of a file that [`export`] made of a model.
    pub fn read(bytes: &[u8], target: Target, model: &LinearModel) -> Result<Exported> {
        let read = match target {
            Target::Onnx => onnx::read(bytes, model),
            Target::OnnxF32 => single::read(bytes, model),
            Target::Json => json::read(bytes),
            Target::C => c::read(bytes, model),
            Target::Liblinear => liblinear::read(bytes, model),
        };
        let lost = |words: String| {
            let words = format!("what was written does not read back: {words}");
            refusal(words, "please report this")
        };
        let read = in_parts(&read.map_err(lost)?);
        check_model(&read).map_err(lost)?;
        let rounded = match target {
            Target::OnnxF32 => Some(round_to_single(model)?),
            _ => None,
        };
        Ok(Exported { target, model: read, rounded })
    }

    /// Whether the file gives every row of a store the class that `model` gives it: in linsep's order of
    /// sums, in that of LIBLINEAR, or in every order of binary32, as the target has it. Calls `each` with
    /// the number of each row.
    #[doc(hidden)]
    pub fn check(&self, model: &LinearModel, store: &Store, mut each: impl FnMut(usize, bool)) {
        let (mut before, mut after) = (model.store_scorer(), self.model.store_scorer());
        let mut standing = Vec::new();
        for row in 0..store.rows() {
            cancel::check();
            let class = model.class_of(before.row(store, row));
            let kept = match (self.target, &self.rounded) {
                (Target::OnnxF32, Some(rounded)) => {
                    rounded.keeps(&model.stored_features(store, row), class)
                }
                (Target::Liblinear, _) => {
                    let features = self.model.stored_features(store, row);
                    class == liblinear::class_of(&self.model, &features, &mut standing)
                }
                _ => class == self.model.class_of(after.row(store, row)),
            };
            each(row, kept && model.classes[class as usize] == self.model.classes[class as usize]);
        }
    }
}

/// A model of another program may have one logistic function for each class of the highest score; as planes
/// that claim rows it gives the same classes.
fn in_parts(model: &LinearModel) -> LinearModel {
    match (&model.rule, &model.link) {
        (Rule::ArgMax, Link::Sigmoids(_)) => model.clone().with_rule(Rule::Rest),
        _ => model.clone(),
    }
}

/// A model that a target cannot hold, and what to do.
fn refusal(words: impl Into<String>, help: impl Into<String>) -> Error {
    Problem::new(Code::EXPORT, words, Place::default()).help(help).into()
}

/// Refuses Gaussian basis functions: exp has other last bits in other programs.
fn refuse_gaussians(model: &LinearModel) -> Result<()> {
    match &model.input.basis {
        Some(Basis::Gaussians(_)) => Err(refusal(
            "Gaussian basis functions need exp, whose last bits differ between programs",
            "export to json, or train with products such as poly:2",
        )),
        _ => Ok(()),
    }
}

/// Refuses what a bare list of planes cannot say: features that are made of others, values that count as 0
/// or 1, and classes by votes.
fn refuse_more_than_planes(model: &LinearModel, target: &str) -> Result<()> {
    let help = "export to onnx, c or json";
    if model.input.basis.is_some() {
        return Err(refusal(format!("{target} has no basis functions"), help));
    }
    if model.input.binarize.is_some() {
        let words = format!("{target} cannot count values above a threshold as 1, others as 0");
        return Err(refusal(words, help));
    }
    match model.rule {
        Rule::Vote | Rule::Ballot(_) => {
            let words = format!("{target} takes the highest score; this model counts votes");
            Err(refusal(words, help))
        }
        _ => Ok(()),
    }
}

/// The factors of each product of the basis, features that stand as often as their exponent says.
fn products(model: &LinearModel) -> Vec<Vec<u32>> {
    let mut products = Vec::new();
    if let Some(basis) = &model.input.basis {
        basis.for_products(model.n_features(), |factors| products.push(factors.to_vec()));
    }
    products
}

/// For each class the scores of its duels, opponents rising, and whether a positive score is in its favour.
/// In this order the sums of [`Rule::Vote`] are added.
fn duels_of_classes(classes: usize) -> Vec<Vec<(usize, bool)>> {
    let mut all = vec![Vec::with_capacity(classes.saturating_sub(1)); classes];
    for (place, (i, j)) in duels(classes).enumerate() {
        all[i].push((place, false));
        all[j].push((place, true));
    }
    all
}

/// The same model with these planes and classes.
fn with_parts(model: &LinearModel, planes: Vec<Plane>, classes: Vec<String>) -> LinearModel {
    model.clone().with_planes(planes).with_classes(classes)
}
