//! The data of a run: a bundled set, points that were drawn, or the file that was named at the start.
//!
//! Every set but the file is first written as text and then read by the library's own reader: so the page,
//! the data that it hands out and the program that reads it again speak of the same rows, to the last bit,
//! and what is wrong with drawn points is told as it is told of a file.

use crate::Subject;
use crate::answer::Wrong;
use crate::limits;
use linsep::data::generate::{GenerateSpec, Generator, Kind, Values};
use linsep::data::read::{ReadOptions, RowSource};
use linsep::data::write::RowWriter;
use linsep::{Dataset, Error, LinearModel};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the page asks for.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum DataSpec {
    /// A set by its name, with its sliders.
    Bundled {
        name: String,
        #[serde(default)]
        rows: Option<u64>,
        #[serde(default)]
        margin: Option<f64>,
        #[serde(default)]
        noise: Option<f64>,
        #[serde(default)]
        classes: Option<usize>,
        #[serde(default)]
        seed: u64,
    },
    /// Points that were drawn: two numbers and a class each.
    Points { points: Vec<(f64, f64, String)> },
    /// The file that was named at the start, by the name that the server gave it.
    File { id: String },
}

/// A set that comes with the lab.
pub(crate) struct Bundled {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The sliders that it has.
    pub(crate) sliders: &'static [&'static str],
    source: Origin,
}

enum Origin {
    Generated(Kind, usize),
    Text(&'static str),
    Iris { classes: [&'static str; 2], columns: [usize; 2] },
    Retina,
}

const GATE: &[&str] = &[];
const DRAWN: &[&str] = &["rows", "margin", "noise", "seed"];

const fn text(name: &'static str, title: &'static str, text: &'static str) -> Bundled {
    Bundled { name, title, sliders: GATE, source: Origin::Text(text) }
}

const fn made(
    name: &'static str,
    title: &'static str,
    sliders: &'static [&'static str],
    kind: Kind,
    features: usize,
) -> Bundled {
    Bundled { name, title, sliders, source: Origin::Generated(kind, features) }
}

const fn iris(
    name: &'static str,
    title: &'static str,
    classes: [&'static str; 2],
    columns: [usize; 2],
) -> Bundled {
    Bundled { name, title, sliders: GATE, source: Origin::Iris { classes, columns } }
}

/// Every bundled set.
pub(crate) const SETS: &[Bundled] = &[
    text(
        "patterns",
        "four patterns of lecture 000 (no bias)",
        "x1,x2,label\n2,1,a\n1,3,a\n-1,2,b\n-2,-1,b\n",
    ),
    made("and", "AND", GATE, Kind::And, 2),
    made("or", "OR", GATE, Kind::Or, 2),
    text("nand", "NAND", "x1,x2,label\n0,0,1\n0,1,1\n1,0,1\n1,1,0\n"),
    made("xor", "XOR: no plane separates it", GATE, Kind::Xor, 2),
    made("and3", "AND of three inputs, on the cube", GATE, Kind::And, 3),
    made("or3", "OR of three inputs, on the cube", GATE, Kind::Or, 3),
    text(
        "line",
        "one feature and a bias: two weights",
        "x,label\n-2,a\n-1,a\n-0.5,a\n0.5,b\n1,b\n2.5,b\n",
    ),
    made("blobs", "two blobs with a margin", DRAWN, Kind::Blobs, 2),
    made(
        "classes",
        "three and more blobs",
        &["rows", "margin", "noise", "classes", "seed"],
        Kind::Blobs,
        2,
    ),
    made("touching", "touching classes", &["rows", "seed"], Kind::Touching, 2),
    made("outlier", "far rows against least squares", DRAWN, Kind::Outlier, 2),
    made("gaussian", "five features cut by a plane", &["rows", "seed"], Kind::Gaussian, 5),
    iris(
        "iris-setosa",
        "iris: setosa against versicolor (petals)",
        ["setosa", "versicolor"],
        [2, 3],
    ),
    iris(
        "iris-sepals",
        "iris: setosa against versicolor (sepals)",
        ["setosa", "versicolor"],
        [0, 1],
    ),
    iris(
        "iris-virginica",
        "iris: versicolor against virginica (petals)",
        ["versicolor", "virginica"],
        [2, 3],
    ),
    Bundled {
        name: "retina",
        title: "Rosenblatt's left-or-right task",
        sliders: GATE,
        source: Origin::Retina,
    },
];

/// Cells of the retina, across and down.
const RETINA: [usize; 2] = [6, 4];

const IRIS: &str = include_str!("../iris.csv");

/// Data with the text that it was read from, where it was text.
pub(crate) struct Loaded {
    pub(crate) data: Arc<Dataset>,
    pub(crate) text: Option<String>,
    pub(crate) name: String,
    pub(crate) positive: Option<String>,
    /// The model that was named beside the data.
    pub(crate) model: Option<LinearModel>,
}

impl DataSpec {
    /// The rows.
    pub(crate) fn load(
        &self,
        subject: Option<&Subject>,
        max: Option<u64>,
    ) -> Result<Loaded, Wrong> {
        let (text, name) = match self {
            DataSpec::File { id } => {
                let Some(subject) = subject.filter(|_| id == FILE_ID) else {
                    return Err(Wrong::Missing("no file was named at the start"));
                };
                return Ok(Loaded {
                    data: Arc::clone(&subject.data),
                    text: None,
                    name: subject.name.clone(),
                    positive: subject.positive.clone(),
                    model: subject.opening.as_ref().and_then(|opening| opening.model.clone()),
                });
            }
            DataSpec::Points { points } => (drawn(points)?, "drawn".to_owned()),
            DataSpec::Bundled { name, .. } => (self.bundled(name)?, name.clone()),
        };
        let mut options = ReadOptions::default();
        options.max_memory = max;
        let read =
            RowSource::reader(text.as_bytes(), &format!("{name}.csv"), &options).read(None)?;
        Ok(Loaded {
            data: Arc::new(read.data),
            text: Some(text),
            name,
            positive: None,
            model: None,
        })
    }

    fn bundled(&self, wanted: &str) -> Result<String, Wrong> {
        let DataSpec::Bundled { rows, margin, noise, classes, seed, .. } = self else {
            return Err(Wrong::Missing("no such set"));
        };
        let set = SETS.iter().find(|set| set.name == wanted);
        let set = set.ok_or(Wrong::Missing("no such set"))?;
        let given = [
            ("rows", rows.is_some()),
            ("margin", margin.is_some()),
            ("noise", noise.is_some()),
            ("classes", classes.is_some()),
        ];
        if let Some((name, _)) = given.iter().find(|(n, is)| *is && !set.sliders.contains(n)) {
            return Err(Wrong::usage(format!("the set {wanted} has no `{name}`")));
        }
        match &set.source {
            Origin::Text(text) => Ok((*text).to_owned()),
            Origin::Retina => Ok(retina()),
            Origin::Iris { classes, columns } => Ok(iris_rows(*classes, *columns)),
            Origin::Generated(kind, features) => {
                let gate = set.sliders.is_empty();
                let rows = rows.unwrap_or(if wanted == "gaussian" { 200 } else { 60 });
                if rows > limits::MADE_ROWS {
                    let most = limits::MADE_ROWS;
                    return Err(Wrong::usage(format!("`rows`: {rows} is more than {most}")));
                }
                let many = if wanted == "classes" { Some(3) } else { None };
                let mut spec = GenerateSpec::new(*kind)
                    .with_rows((!gate).then_some(rows))
                    .with_features(Some(*features))
                    .with_classes(classes.or(many))
                    .with_margin(*margin)
                    .with_seed(*seed);
                spec.noise = noise.unwrap_or(0.0);
                Ok(generated(&spec)?)
            }
        }
    }
}

/// The name of the file that was named at the start.
pub(crate) const FILE_ID: &str = "own";

/// The text that the program would write.
fn generated(spec: &GenerateSpec) -> Result<String, Error> {
    let mut generator = Generator::new(spec)?;
    let names: Vec<String> = (0..generator.features()).map(|j| generator.feature_name(j)).collect();
    let mut bytes = Vec::new();
    let written = (|| {
        let mut writer = RowWriter::table(&mut bytes, b',', "label", &names, None)?;
        let mut entries = Vec::new();
        while let Some(row) = generator.next_row() {
            entries.clear();
            match row.values {
                Values::Sparse(values) => entries.extend_from_slice(values),
                Values::Dense(values) => {
                    let used = values.iter().enumerate().filter(|(_, value)| **value != 0.0);
                    entries.extend(used.map(|(j, &value)| (j as u32, value)));
                }
            }
            writer.row(row.label, &entries, None)?;
        }
        writer.flush()
    })();
    written.map_err(|error| Error::io("write", std::path::Path::new("the rows"), error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Two classes and two columns of iris.
fn iris_rows(classes: [&str; 2], columns: [usize; 2]) -> String {
    let mut text = String::new();
    for (number, line) in IRIS.lines().enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let Some(class) = fields.last() else { continue };
        if number == 0 || classes.iter().any(|wanted| class.ends_with(wanted)) {
            let (x, y) = (fields[columns[0]], fields[columns[1]]);
            text.push_str(&format!("{x},{y},{class}\n"));
        }
    }
    text
}

/// Marks of one cell and of two by two, wholly on one half of the retina.
fn retina() -> String {
    let [across, down] = RETINA;
    let names: Vec<String> = (1..=across * down).map(|cell| format!("cell{cell}")).collect();
    let mut text = format!("{},side\n", names.join(","));
    for size in [1, 2] {
        for top in 0..=down - size {
            for left in (0..=across - size).filter(|x| x / 3 == (x + size - 1) / 3) {
                for cell in 0..across * down {
                    let (x, y) = (cell % across, cell / across);
                    let on = (left..left + size).contains(&x) && (top..top + size).contains(&y);
                    text.push_str(if on { "1," } else { "0," });
                }
                text.push_str(if left < 3 { "left\n" } else { "right\n" });
            }
        }
    }
    text
}

/// The points as a table.
fn drawn(points: &[(f64, f64, String)]) -> Result<String, Wrong> {
    if points.len() > limits::POINTS {
        let (n, most) = (points.len(), limits::POINTS);
        return Err(Wrong::usage(format!("{n} points are more than {most}")));
    }
    let mut text = String::from("x1,x2,label\n");
    for (x, y, label) in points {
        let fine = label.len() <= 16
            && !label.is_empty()
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '+');
        if !fine {
            return Err(Wrong::usage("a class of drawn points has 1 to 16 letters or digits"));
        }
        text.push_str(&format!("{x},{y},{label}\n"));
    }
    Ok(text)
}

/// The sets as the page lists them.
pub(crate) fn listed(subject: Option<&Subject>) -> Value {
    let sets = SETS
        .iter()
        .map(|set| json!({ "name": set.name, "title": set.title, "sliders": set.sliders }));
    let own = subject.map(|subject| {
        json!({
            "id": FILE_ID,
            "name": subject.name,
            "rows": subject.data.n_rows(),
            "features": subject.data.n_features(),
            "classes": subject.data.classes(),
            "positive": subject.positive,
            "opening": subject.opening.as_ref().map(|opening| json!({
                "learner": opening.learner,
                "settings": opening.settings,
                "seed": opening.seed,
                "model": opening.model.is_some(),
            })),
        })
    });
    json!({ "bundled": sets.collect::<Vec<_>>(), "own": own })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_set_is_read_and_has_classes() {
        for set in SETS {
            let spec = DataSpec::Bundled {
                name: set.name.to_owned(),
                rows: None,
                margin: None,
                noise: None,
                classes: None,
                seed: 0,
            };
            let Ok(loaded) = spec.load(None, None) else { panic!("{} is not read", set.name) };
            let wanted = if set.name == "classes" { 3 } else { 2 };
            assert_eq!(loaded.data.n_classes(), wanted, "{}", set.name);
            assert!(loaded.data.n_rows() >= 4, "{}", set.name);
        }
    }

    #[test]
    fn wild_requests_are_refused() {
        let class = |label: &str| DataSpec::Points { points: vec![(0.0, 0.0, label.to_owned())] };
        for spec in [
            class("a,b"),
            class("=1+1\n"),
            class(""),
            DataSpec::Points { points: vec![(0.0, 0.0, "a".to_owned()); limits::POINTS + 1] },
            DataSpec::Points { points: vec![(f64::INFINITY, 0.0, "a".to_owned())] },
            DataSpec::File { id: "../../etc/passwd".to_owned() },
            DataSpec::File { id: FILE_ID.to_owned() },
        ] {
            assert!(spec.load(None, None).is_err(), "{spec:?}");
        }
    }
}
