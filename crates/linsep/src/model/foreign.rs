//! Models of other programs: weights that are to be compared with the best there are.
//!
//! Two forms are read. A model file of LIBLINEAR is text: `solver_type`, `nr_class`, `label`,
//! `nr_feature`, `bias`, then `w` with a line for each column and, where `bias` is not negative, one
//! more for the bias. Of two classes it has one plane, and the *first* label is that of positive scores.
//! The other form is JSON:
//!
//! ```text
//! {"weights": [0.5, -1], "bias": 0.25, "classes": ["no", "yes"]}
//! {"weights": [[…], […], […]], "bias": [0, 1, 2], "classes": ["a", "b", "c"]}
//! ```
//!
//! Of two classes the *second* is that of positive scores, and the bias is 0 where it is left out. A JSON
//! that linsep itself exported has a `format` and says the rest as well: features, rule, link and input.
//!
//! Reference: Fan, Chang, Hsieh, Wang, Lin, LIBLINEAR, 2008, and the README of its sources.

use crate::model::parts::check_model;
use crate::model::{Decision, LinearModel, Link, Plane, Rule, Sigmoid};
use linsep_data::error::{Code, Error, Result, printable};
use linsep_data::input::InputMap;
use linsep_proof::Loss;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The format of a JSON that linsep exports.
pub(crate) const FORMAT: &str = "linsep.export/1";

/// A model of another program.
#[derive(Clone, Debug)]
pub struct ForeignModel {
    path: PathBuf,
    /// What it is, in words.
    pub form: String,
    /// One plane for two classes, of which the second has positive scores; else one for each class.
    planes: Vec<Plane>,
    classes: Vec<String>,
    /// Settings of the learner that makes the same objective small, as far as the file tells.
    pub settings: Vec<(&'static str, &'static str)>,
    /// The loss that the model makes small; [`crate::recipe::Recipe::minimising`] finds that learner.
    pub loss: Option<Loss>,
    /// Whether columns that are 0 everywhere may be missing at the end.
    ends_early: bool,
    /// The whole model, where the file says all of it.
    complete: Option<LinearModel>,
}

impl ForeignModel {
    /// Reads a file of at most so many bytes.
    pub fn load(path: &Path, limit: Option<u64>) -> Result<ForeignModel> {
        let size = std::fs::metadata(path).map_err(|e| Error::io("read", path, e))?.len();
        // The text and the numbers in it.
        let needed = size.saturating_mul(5);
        if let Some(limit) = limit.filter(|limit| needed > *limit) {
            return Err(Error::Memory {
                purpose: format!("reading {}", path.display()),
                needed,
                limit,
            });
        }
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        ForeignModel::parse(&bytes, path)
    }

    /// Reads the content of a file; its name is for messages.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<ForeignModel> {
        let refuse = |reason: String| Error::Model {
            code: Code::FOREIGN_MODEL,
            path: path.to_path_buf(),
            reason,
        };
        if memchr::memmem::find(&bytes[..bytes.len().min(200)], b"linsep.model/").is_some() {
            let words = "this is a model of linsep; linsep verify checks what is proved of it";
            return Err(refuse(words.to_owned()));
        }
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let line = 1 + bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count();
            refuse(format!(
                "line {line}: these bytes are no text; give a LIBLINEAR model or a JSON of weights"
            ))
        })?;
        let model = match text.trim_start().starts_with('{') {
            true => json(text, path),
            false => liblinear(text, path),
        };
        model.map_err(refuse)
    }

    /// The same predictions as a model of plain columns. A logistic model has probabilities as its program
    /// gives them: of K classes one logistic function for each, divided by their sum. A score of 0 is that
    /// of the second class here and of the other one in LIBLINEAR.
    pub fn to_model(&self) -> LinearModel {
        if let Some(model) = &self.complete {
            return model.clone();
        }
        let width = self.planes.first().map_or(0, |plane| plane.weights.len());
        // Columns of LIBLINEAR are counted from 1.
        let input = InputMap::plain(width).with_index_base(self.ends_early.then_some(1));
        let (rule, link) = match (self.classes.len(), self.loss) {
            (2, Some(Loss::Logistic)) => (Rule::Sign, Link::Softmax),
            (2, _) => (Rule::Sign, Link::None),
            (count, Some(Loss::Logistic)) => {
                (Rule::ArgMax, Link::Sigmoids(vec![Sigmoid::new(1.0, 0.0); count]))
            }
            _ => (Rule::ArgMax, Link::None),
        };
        LinearModel::new(self.planes.clone(), rule, self.classes.clone(), input).with_link(link)
    }

    /// The planes in the order of these classes, on so many columns.
    pub fn planes_for(&self, classes: &[String], width: usize) -> Result<Vec<Plane>> {
        let refuse = |reason: String| Error::Model {
            code: Code::FOREIGN_MODEL,
            path: self.path.clone(),
            reason,
        };
        let shown = |names: &[String]| {
            let names = names.iter().take(12).map(|name| printable(name.as_bytes(), 30));
            names.collect::<Vec<_>>().join(", ")
        };
        let is_more = |model: &LinearModel| {
            model.rule == Rule::Vote
                || matches!(model.rule, Rule::RestLast | Rule::Ballot(_))
                || model.input.basis.is_some()
                || model.input.binarize.is_some()
        };
        if self.complete.as_ref().is_some_and(is_more) {
            let words = "it is more than one plane for each class: votes, basis functions or a threshold; linsep verify checks what is proved of the model that it was exported from";
            return Err(refuse(words.to_owned()));
        }
        if self.classes.len() != classes.len() {
            return Err(refuse(format!(
                "it has the classes {}, the data has {}; give the data that it was learned from",
                shown(&self.classes),
                shown(classes)
            )));
        }
        let mut order = Vec::with_capacity(classes.len());
        for class in classes {
            let place = self.classes.iter().position(|own| same_class(own, class));
            let place = place.filter(|place| !order.contains(place)).ok_or_else(|| {
                refuse(format!(
                    "class {} of the data is none of its classes {}; give the data that it was learned from, or rename the classes",
                    printable(class.as_bytes(), 30),
                    shown(&self.classes)
                ))
            })?;
            order.push(place);
        }
        let mut planes = match (&self.planes[..], &order[..]) {
            ([plane], [0, 1]) => vec![plane.clone()],
            ([plane], _) => vec![Plane {
                weights: plane.weights.iter().map(|w| -w).collect(),
                bias: -plane.bias,
            }],
            (planes, _) => order.iter().map(|&place| planes[place].clone()).collect(),
        };
        for plane in &mut planes {
            let own = plane.weights.len();
            let beyond = plane.weights.iter().skip(width).any(|w| *w != 0.0);
            if beyond || (own != width && !self.ends_early) {
                return Err(refuse(format!(
                    "it has {own} weights, the data has {width} features; give the data that it was learned from"
                )));
            }
            plane.weights.resize(width, 0.0);
        }
        Ok(planes)
    }
}

/// Whether two labels are the same word or the same number.
pub(super) fn same_class(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|x| x.is_finite());
    a == b || matches!((number(a), number(b)), (Some(a), Some(b)) if a == b)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(f64),
    More(Vec<f64>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Weights {
    One(Vec<f64>),
    More(Vec<Vec<f64>>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    Number(serde_json::Number),
    Truth(bool),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    weights: Weights,
    #[serde(default)]
    bias: Option<OneOrMore>,
    classes: Vec<Name>,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    features: Option<Vec<String>>,
    #[serde(default)]
    rule: Option<Rule>,
    #[serde(default)]
    link: Option<Link>,
    #[serde(default)]
    input: Option<InputMap>,
    #[serde(default)]
    decision: Option<Decision>,
}

type Parsed<T> = std::result::Result<T, String>;

fn json(text: &str, path: &Path) -> Parsed<ForeignModel> {
    const SHAPE: &str =
        "{\"weights\": [...], \"bias\": 0, \"classes\": [\"no\", \"yes\"]} is expected";
    let written: Written =
        serde_json::from_slice(text.as_bytes()).map_err(|error| format!("{error}; {SHAPE}"))?;
    let name = |name: Name| match name {
        Name::Text(text) => text,
        Name::Number(number) => number.to_string(),
        Name::Truth(truth) => truth.to_string(),
    };
    let classes: Vec<String> = written.classes.into_iter().map(name).collect();
    let weights = match written.weights {
        Weights::One(weights) => vec![weights],
        Weights::More(planes) => planes,
    };
    let biases = match written.bias {
        None => vec![0.0; weights.len()],
        Some(OneOrMore::One(bias)) => vec![bias],
        Some(OneOrMore::More(biases)) => biases,
    };
    if biases.len() != weights.len() {
        return Err(format!("\"bias\" has {} numbers for {} planes", biases.len(), weights.len()));
    }
    let planes: Vec<Plane> =
        weights.into_iter().zip(biases).map(|(weights, bias)| Plane { weights, bias }).collect();
    let form = format!("JSON, {}", planes_in_words(planes.len(), classes.len()));
    let mut model = ForeignModel {
        path: path.to_path_buf(),
        form,
        planes,
        classes,
        settings: Vec::new(),
        loss: None,
        ends_early: false,
        complete: None,
    };
    let more = (written.format, written.features, written.rule, written.link, written.input);
    match more {
        (None, None, None, None, None) if written.decision.is_none() => whole(model),
        (Some(format), Some(features), Some(rule), Some(link), Some(input)) => {
            if format != FORMAT {
                let format = printable(format.as_bytes(), 30);
                return Err(format!("format \"{format}\" is not {FORMAT}"));
            }
            let (planes, classes) = (model.planes.clone(), model.classes.clone());
            let complete = LinearModel::new(planes, rule, classes, input)
                .with_link(link)
                .with_decision(written.decision);
            check_model(&complete)?;
            if complete.input.feature_names() != features {
                return Err("\"features\" are not those that \"input\" makes".into());
            }
            model.complete = Some(complete);
            Ok(model)
        }
        _ => {
            let words =
                "format, features, rule, link and input go together; leave them all out, or none";
            Err(words.to_owned())
        }
    }
}

fn planes_in_words(planes: usize, classes: usize) -> String {
    match planes {
        1 => format!("one plane for {classes} classes"),
        _ => format!("{planes} planes for {classes} classes"),
    }
}

/// A model whose parts fit together.
fn whole(model: ForeignModel) -> Parsed<ForeignModel> {
    let (planes, classes) = (model.planes.len(), model.classes.len());
    let fits = if classes == 2 { planes == 1 } else { planes == classes };
    if classes < 2 || !fits {
        return Err(format!(
            "{planes} planes for {classes} classes; two classes have one plane, more have one each"
        ));
    }
    if model.planes.iter().any(|plane| plane.weights.len() != model.planes[0].weights.len()) {
        return Err("its planes have different numbers of weights".into());
    }
    Ok(model)
}

/// A solver of LIBLINEAR: its name, its loss and the other settings of the learner that makes the same
/// small.
type Known = (&'static str, Loss, &'static [(&'static str, &'static str)]);

/// What the solvers of LIBLINEAR make small.
const SOLVERS: &[Known] = &[
    ("L2R_LR", Loss::Logistic, &[]),
    ("L2R_LR_DUAL", Loss::Logistic, &[]),
    ("L1R_LR", Loss::Logistic, &[("penalty", "l1")]),
    ("L2R_L2LOSS_SVC", Loss::SquaredHinge, &[("loss", "squared-hinge")]),
    ("L2R_L2LOSS_SVC_DUAL", Loss::SquaredHinge, &[("loss", "squared-hinge")]),
    ("L2R_L1LOSS_SVC_DUAL", Loss::Hinge, &[("loss", "hinge")]),
    ("L1R_L2LOSS_SVC", Loss::SquaredHinge, &[("loss", "squared-hinge"), ("penalty", "l1")]),
    (CRAMMER_SINGER, Loss::CrammerSinger, &[("multiclass", "crammer-singer")]),
];

/// The one solver whose planes are learned together.
const CRAMMER_SINGER: &str = "MCSVM_CS";

fn liblinear(text: &str, path: &Path) -> Parsed<ForeignModel> {
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
    let (mut solver, mut labels, mut bias) = (None, Vec::new(), None);
    let (mut features, mut classes) = (None, None);
    let begins = "a LIBLINEAR model begins with solver_type, a JSON of weights with {";
    loop {
        let Some((number, line)) = lines.next() else {
            return Err(format!("the file ends before its weights; {begins}"));
        };
        let (key, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let wrong = |what: &str| {
            let value = printable(value.as_bytes(), 30);
            format!("line {number}: {key} is \"{value}\", not {what}")
        };
        let count = || value.trim().parse::<u32>().map_err(|_| wrong("a whole number"));
        match key {
            "solver_type" => solver = Some(solver_of(value.trim(), number)?),
            "nr_class" => classes = Some(count()?),
            "nr_feature" => features = Some(count()?),
            "label" => labels = value.split_whitespace().map(str::to_owned).collect(),
            "bias" => {
                let number = value.trim().parse::<f64>().ok().filter(|x| x.is_finite());
                bias = Some(number.ok_or_else(|| wrong("a number"))?);
            }
            "w" => break,
            _ => {
                let key = printable(key.as_bytes(), 30);
                return Err(format!(
                    "line {number}: \"{key}\" is no part of a LIBLINEAR model; {begins}"
                ));
            }
        }
    }
    let missing = |what: &str| format!("there is no {what} before the weights; {begins}");
    let (name, loss, known) = solver.ok_or_else(|| missing("solver_type"))?;
    let features = features.ok_or_else(|| missing("nr_feature"))? as usize;
    let classes = classes.ok_or_else(|| missing("nr_class"))? as usize;
    let bias = bias.ok_or_else(|| missing("bias"))?;
    if labels.len() != classes {
        return Err(format!("nr_class is {classes}, and label has {} labels", labels.len()));
    }
    if classes == 2 && name == CRAMMER_SINGER {
        return Err(format!(
            "{name} has two planes of two classes, w and v, which are the one plane w - v with the plain hinge and twice the C; give w - v as a JSON of weights, with `learner=svm` `loss=hinge`"
        ));
    }
    if bias >= 0.0 && bias != 1.0 {
        return Err(format!(
            "bias is {bias}: the penalty of a bias column other than 1 is not known here; train it with -B 1 or -B -1"
        ));
    }
    let planes = if classes == 2 { 1 } else { classes };
    let wanted = features + usize::from(bias == 1.0);
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); planes];
    let mut last = 0;
    for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
        last = number;
        let mut words = line.split_whitespace();
        for column in &mut columns {
            let word = words.next().unwrap_or_default();
            let weight = word.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| {
                let word = printable(word.as_bytes(), 30);
                format!("line {number}: \"{word}\" is no weight; {planes} numbers are expected")
            })?;
            column.push(weight);
        }
        if words.next().is_some() {
            return Err(format!("line {number}: more than {planes} weights for {classes} classes"));
        }
        if columns[0].len() > wanted {
            return Err(format!(
                "line {number}: more weights than the {wanted} that the file announces"
            ));
        }
    }
    if columns[0].len() < wanted {
        return Err(format!(
            "line {last}: the file ends after {} of {wanted} weights; it was cut short",
            columns[0].len()
        ));
    }
    let planes: Vec<Plane> = columns
        .into_iter()
        .map(|mut weights| {
            let bias = if bias == 1.0 { weights.pop().unwrap_or(0.0) } else { 0.0 };
            Plane { weights, bias }
        })
        .collect();
    if classes == 2 {
        // Positive scores are of the first label there, of the second here.
        labels.reverse();
    }
    let mut settings = known.to_vec();
    settings.push(("intercept", if bias == 1.0 { "penalised" } else { "none" }));
    let form = format!("LIBLINEAR {name}, {}", planes_in_words(planes.len(), classes));
    whole(ForeignModel {
        path: path.to_path_buf(),
        form,
        planes,
        classes: labels,
        settings,
        loss: Some(loss),
        ends_early: true,
        complete: None,
    })
}

fn solver_of(name: &str, line: usize) -> Parsed<Known> {
    SOLVERS.iter().find(|(known, ..)| *known == name).copied().ok_or_else(|| {
        let names: Vec<&str> = SOLVERS.iter().map(|(name, ..)| *name).collect();
        let name = printable(name.as_bytes(), 30);
        format!("line {line}: solver_type {name} is none of {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: &str =
        "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-2 \n0.25 \n";

    fn parse(text: &str) -> Result<ForeignModel> {
        ForeignModel::parse(text.as_bytes(), Path::new("m"))
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_first_label_of_liblinear_has_positive_scores() {
        let model = parse(BINARY).unwrap();
        let planes = model.planes_for(&names(&["-1", "1"]), 3).unwrap();
        assert_eq!(planes, [Plane { weights: vec![0.5, -2.0, 0.0], bias: 0.25 }]);
        let planes = model.planes_for(&names(&["+1", "-1"]), 2).unwrap();
        assert_eq!(planes, [Plane { weights: vec![-0.5, 2.0], bias: -0.25 }]);
        assert!(model.planes_for(&names(&["a", "b"]), 2).is_err());
        assert!(model.planes_for(&names(&["-1", "1"]), 1).is_err());
        assert_eq!(model.settings, [("intercept", "penalised")]);
    }

    #[test]
    fn a_foreign_model_predicts_as_its_program_does() {
        let model = parse(BINARY).unwrap().to_model();
        assert_eq!(model.predict(&[4.0, 0.0]).unwrap(), "1");
        assert_eq!(model.predict(&[0.0, 4.0]).unwrap(), "-1");
        let likely = model.probabilities(&[0.0, 0.0]).unwrap().unwrap();
        assert!((likely[1] - 1.0 / (1.0 + (-0.25_f64).exp())).abs() < 1e-15);
        let text =
            "solver_type L2R_LR\nnr_class 3\nlabel 3 1 2\nnr_feature 1\nbias -1\nw\n3 -1 2\n";
        let model = parse(text).unwrap().to_model();
        assert_eq!(model.predict(&[1.0]).unwrap(), "3");
        assert_eq!(model.predict(&[-1.0]).unwrap(), "1");
        let likely = model.probabilities(&[1.0]).unwrap().unwrap();
        let each = [3.0, -1.0, 2.0].map(|z: f64| 1.0 / (1.0 + (-z).exp()));
        let sum: f64 = each.iter().sum();
        assert!(likely.iter().zip(each).all(|(p, own)| (p - own / sum).abs() < 1e-12));
    }

    #[test]
    fn several_planes_come_in_the_order_of_the_data() {
        let text = "solver_type L2R_L2LOSS_SVC\nnr_class 3\nlabel 3 1 2\nnr_feature 1\nbias -1\nw\n3 1 2\n";
        let planes = parse(text).unwrap().planes_for(&names(&["1", "2", "3"]), 1).unwrap();
        let weights: Vec<f64> = planes.iter().map(|plane| plane.weights[0]).collect();
        assert_eq!(weights, [1.0, 2.0, 3.0]);
        let text = r#"{"weights": [[1], [2], [3]], "bias": [4, 5, 6], "classes": ["c", 7, true]}"#;
        let planes = parse(text).unwrap().planes_for(&names(&["7", "c", "true"]), 1).unwrap();
        assert_eq!(planes[0], Plane { weights: vec![2.0], bias: 5.0 });
    }

    #[test]
    fn no_bytes_are_too_wild() {
        // Every cut of a good file, and every byte of it replaced, is read or refused with words.
        let json = r#"{"weights": [1, 2], "bias": 3, "classes": ["a", "b"]}"#;
        for text in [BINARY, json] {
            for at in 0..text.len() {
                let _ = parse(&text[..at]);
                for byte in [0u8, b' ', b'9', b'-', b'{', 0xff] {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes[at] = byte;
                    if let Err(error) = ForeignModel::parse(&bytes, Path::new("m")) {
                        assert!(error.to_string().len() > 10);
                    }
                }
            }
        }
        for text in [
            "",
            "w",
            "{}",
            "{\"weights\": []}",
            "{\"weights\": [], \"classes\": []}",
            "{\"weights\": [[1], [2, 3], [4]], \"classes\": [1, 2, 3]}",
            "{\"weights\": [1e999], \"classes\": [1, 2]}",
            "solver_type L2R_LR\nnr_class 4000000000\nlabel 1 2\nnr_feature 4000000000\nbias 1\nw\n",
            "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 4000000000\nbias 1\nw\n1\n",
            "solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias 3\nw\n1\n1\n",
            "solver_type MCSVM_CS\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1 -1\n",
            "solver_type MCSVM_CS\nnr_class 3\nlabel 1 2 3\nnr_feature 1\nbias -1\nw\n1 -1\n",
            "solver_type ONECLASS_SVM\nnr_class 2\n",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
