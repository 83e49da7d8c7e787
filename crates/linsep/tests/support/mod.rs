//! What several test files need: variants of every learner, small data sets, bits of models.
#![allow(dead_code)] // Each test file uses its own part of this one.

use linsep::recipe::{Kind, Parameter, Recipe, Settings};
use linsep::rng::{Purpose, Stream};
use linsep::{Code, Dataset, DatasetBuilder, Fit, Learner, Limits, LinearModel, Rule, Task};

/// A learner with settings, and the words that say which.
pub(crate) struct Variant {
    pub(crate) recipe: &'static Recipe,
    pub(crate) settings: Settings,
}

impl Variant {
    /// The value of a setting; `None` if the learner has no such setting.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let parameter = self.recipe.parameters.iter().find(|p| p.name == name)?;
        Some(self.settings.get(parameter))
    }

    /// Whether the setting has one of these values or does not exist at all.
    pub(crate) fn is(&self, name: &str, values: &[&str]) -> bool {
        self.value(name).is_none_or(|value| values.contains(&value))
    }

    /// Starting from zero, with a rule that treats both classes alike.
    pub(crate) fn is_even_handed(&self) -> bool {
        // The pocket counts a score of 0 as the positive class, as prediction does.
        let pocket = self.recipe.name == "pocket" || self.value("criterion") == Some("jn");
        let even = self.is("init", &["zero"]) && !pocket;
        even && self.is("ties", &["strict", "000", "002", "004"])
            && self.is("threshold", &["midpoint", "prior"])
    }

    /// Whether planes and steps from a start of 0 are proportional to the rate: no setting names a
    /// length of its own, and none asks for the verdict.
    pub(crate) fn is_proportional(&self) -> bool {
        let absolute = ["b", "c", "rest"].iter().any(|name| self.value(name).is_some());
        !absolute
            && self.takes_any_rate()
            && self.is("init", &["zero"])
            && self.is("verdict", &["off"])
    }

    /// Whether the rate may be any number above 0.
    pub(crate) fn takes_any_rate(&self) -> bool {
        self.recipe.name != "ho-kashyap"
    }

    /// Whether a step is made for all rows together.
    pub(crate) fn is_batch(&self) -> bool {
        let by_pace = self.value("pace") == Some("batch") && self.value("criterion") != Some("jn");
        by_pace || ["batch-perceptron", "batch-adaline", "ho-kashyap"].contains(&self.recipe.name)
    }

    /// Whether the seed has a say. A batch knows no order.
    pub(crate) fn draws(&self) -> bool {
        let has_order = self.is("pace", &["row"]) || self.value("criterion") == Some("jn");
        let order = self.value("order").filter(|_| has_order);
        order.is_some_and(|order| ["shuffle", "blocks", "random"].contains(&order))
            || self.value("init") == Some("random")
    }

    /// Whether it may end by its own rule although rows are wrong.
    pub(crate) fn may_rest(&self) -> bool {
        self.value("rest").is_some() || self.recipe.name == "ho-kashyap"
    }

    /// Whether it visits rows one at a time.
    pub(crate) fn is_online(&self) -> bool {
        self.recipe.kind == Kind::Online
    }

    /// Whether it ends at a certified gap. Such a run promises how good its planes are, not their bits:
    /// what it proposes may go another way where rows are stored or counted in another way.
    pub(crate) fn is_certified(&self) -> bool {
        self.recipe.kind == Kind::Optimising
    }

    /// Whether it looks at the rows once and solves.
    pub(crate) fn is_direct(&self) -> bool {
        self.recipe.kind == Kind::Direct
    }

    /// Whether the learner takes such data at all: counts are not negative, and some settings are for
    /// two classes.
    pub(crate) fn accepts(&self, task: &Task) -> bool {
        // A hard margin is only for rows of both sides that planes separate, with exact values.
        if self.recipe.name == "hard-margin" {
            let refused = self.learner().fit(task, &epochs(1), &mut ()).err();
            return refused.is_none_or(|error| {
                let known = [Code::NOT_SEPARABLE, Code::ONE_CLASS, Code::FOLD, Code::SETTING];
                assert!(known.contains(&error.code()), "{error}");
                false
            });
        }
        match self.learner().start(task) {
            Ok(_) => true,
            Err(error) => {
                let two_only = self.value("threshold") == Some("error");
                let counts = self.recipe.name == "multinomial-nb";
                // Not every solver is for every penalty, and without one there may be no answer.
                let unsolved = self.recipe.kind == Kind::Optimising
                    && !(self.is("penalty", &["l2"]) && self.is("solver", &["auto"]));
                assert!(two_only || counts || unsolved, "{}: {error}", self.words());
                assert!([Code::SETTING, Code::NEGATIVE_COUNT].contains(&error.code()));
                false
            }
        }
    }

    pub(crate) fn learner(&self) -> Box<dyn Learner> {
        self.recipe.build(&self.settings).unwrap()
    }

    /// The learner with another value of one setting.
    pub(crate) fn learner_with(&self, name: &str, value: &str) -> Box<dyn Learner> {
        self.learner_with_all(&[(name, value)])
    }

    /// The learner with other values of some settings.
    pub(crate) fn learner_with_all(&self, values: &[(&str, &str)]) -> Box<dyn Learner> {
        let mut settings = self.settings.clone();
        values.iter().for_each(|(name, value)| settings.set(name, value));
        self.recipe.build(&settings).unwrap()
    }

    pub(crate) fn learner_with_seed(&self, seed: u64) -> Box<dyn Learner> {
        let mut settings = self.settings.clone();
        settings.seed = seed;
        self.recipe.build(&settings).unwrap()
    }

    pub(crate) fn words(&self) -> String {
        let values = self.recipe.effective(&self.settings);
        let pairs: Vec<String> = values.iter().map(|(k, v)| format!("`{k}={v}`")).collect();
        format!("{} {}", self.recipe.name, pairs.join(" "))
    }
}

/// Every learner with every pair of words that two of its settings take, the others as they are by
/// themselves: what goes wrong between settings goes wrong between two of them.
pub(crate) fn every_variant() -> Vec<Variant> {
    let mut all: Vec<Variant> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for recipe in linsep::recipe::ALL {
        let names: Vec<&str> = recipe.parameters.iter().map(|p| p.name).collect();
        for (i, a) in names.iter().enumerate() {
            for b in &names[i..] {
                let pair = combine(recipe, |parameter| [*a, *b].contains(&parameter.name));
                all.extend(pair.into_iter().filter(|variant| seen.insert(variant.words())));
            }
        }
    }
    all
}

/// Every learner with every combination of the words of these settings only.
pub(crate) fn variants_of(names: &[&str]) -> Vec<Variant> {
    let all = linsep::recipe::ALL.iter();
    all.flat_map(|recipe| combine(recipe, |parameter| names.contains(&parameter.name))).collect()
}

fn combine(recipe: &'static Recipe, wanted: impl Fn(&Parameter) -> bool) -> Vec<Variant> {
    let mut defaults = Settings::default();
    defaults.seed = 7;
    let mut all = vec![defaults];
    for parameter in recipe.parameters.iter().filter(|parameter| wanted(parameter)) {
        let words: &[&str] = match parameter.name {
            "class-weight" => &["none", "balanced"],
            "priors" => &["data", "uniform"],
            "init" => &["zero", "random"],
            "stop" => &["clean-epoch", "empty", "clean-window"],
            "l2" => &["0", "0.5"],
            "shrinkage" => &["none", "0.3", "oas", "ledoit-wolf"],
            "binarize" => &["0", "-0.5", "1"],
            "most" => &["500", "3"],
            _ => parameter.words,
        };
        let with = |word: &&str, settings: &Settings| {
            let mut settings = settings.clone();
            settings.set(parameter.name, word);
            settings
        };
        if !words.is_empty() {
            all = all.iter().flat_map(|s| words.iter().map(move |w| with(w, s))).collect();
        }
    }
    all.into_iter().map(|settings| Variant { recipe, settings }).collect()
}

/// Rows and labels from which data sets and their relatives are made.
#[derive(Clone)]
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: Vec<String>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Table {
    pub(crate) fn data(&self) -> Dataset {
        let mut builder = DatasetBuilder::new(self.rows[0].len());
        for (i, (row, label)) in self.rows.iter().zip(&self.labels).enumerate() {
            builder.dense_row(row, label).unwrap();
            if let Some(weights) = &self.weights {
                builder.weight(weights[i]).unwrap();
            }
        }
        builder.finish().unwrap()
    }

    pub(crate) fn task(&self) -> Task {
        Task::new(self.data())
    }

    pub(crate) fn weights_or_ones(&self) -> Vec<f64> {
        self.weights.clone().unwrap_or(vec![1.0; self.rows.len()])
    }

    /// Only the rows that `keep` accepts.
    pub(crate) fn filter(&self, keep: impl Fn(usize) -> bool) -> Table {
        let kept: Vec<usize> = (0..self.rows.len()).filter(|&i| keep(i)).collect();
        Table {
            name: self.name,
            rows: kept.iter().map(|&i| self.rows[i].clone()).collect(),
            labels: kept.iter().map(|&i| self.labels[i].clone()).collect(),
            weights: self.weights.as_ref().map(|w| kept.iter().map(|&i| w[i]).collect()),
        }
    }
}

/// A table of random values drawn by `value`; the label follows a hidden direction with some noise.
pub(crate) fn table(
    name: &'static str,
    (rows, width, classes): (usize, usize, usize),
    noise: f64,
    mut value: impl FnMut(&mut Stream) -> f64,
) -> Table {
    let mut stream = Stream::new(rows as u64 * 31 + width as u64, Purpose::Generate(77));
    let hidden: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
    let mut table = Table { name, rows: Vec::new(), labels: Vec::new(), weights: None };
    let mut scores = Vec::new();
    for _ in 0..rows {
        let row: Vec<f64> = (0..width).map(|_| value(&mut stream)).collect();
        let score: f64 = row.iter().zip(&hidden).map(|(x, w)| x * w).sum();
        scores.push(score + noise * stream.normal());
        table.rows.push(row);
    }
    let mut order = scores.clone();
    order.sort_by(f64::total_cmp);
    for score in scores {
        let rank = order.partition_point(|&other| other < score);
        table.labels.push(["ant", "bee", "cat", "dog"][rank * classes / rows].to_owned());
    }
    table
}

/// Two classes that overlap, eleven real columns, some values zero.
pub(crate) fn overlapping() -> Table {
    table("overlapping", (60, 11, 2), 2.0, |s| if s.unit() < 0.3 { 0.0 } else { s.normal() })
}

/// Small tables of every kind that storage and learning tell apart.
pub(crate) fn tables() -> Vec<Table> {
    let mut thirds = table("weighted", (45, 6, 2), 1.0, |s| s.below(9) as f64 / 3.0);
    thirds.weights = Some((0..45).map(|i| [1.0, 0.5, 3.0, 0.0][i % 4]).collect());
    vec![
        overlapping(),
        table("whole numbers", (40, 3, 2), 0.0, |s| s.below(21) as f64 - 10.0),
        table("three classes", (60, 5, 3), 0.5, |s| s.below(2000) as f64 / 100.0),
        table("sparse", (50, 40, 2), 0.3, |s| if s.unit() < 0.9 { 0.0 } else { s.normal() }),
        table("four sparse classes", (48, 30, 4), 0.0, |s| f64::from(s.unit() < 0.15)),
        table("wide range", (40, 9, 2), 1.0, |s| s.normal() * 10f64.powi(s.below(13) as i32 - 6)),
        thirds,
    ]
}

/// A short run.
pub(crate) fn fit(learner: &dyn Learner, task: &Task) -> Fit {
    learner.fit(task, &epochs(6), &mut ()).unwrap()
}

pub(crate) fn epochs(epochs: u64) -> Limits {
    Limits::default().with_epochs(Some(epochs))
}

/// Every number of a model, bit for bit, and the votes of its planes.
/// Whether two certified runs speak of the same best: neither proves that the other cannot be.
pub(crate) fn same_best(a: &Fit, b: &Fit) -> bool {
    use linsep::proof::{Claim, VACUOUS};
    let interval = |claim: &Claim| match claim {
        Claim::Optimal { optimality, .. } => Some((optimality.bound, optimality.primal)),
        // A run that ended far from its optimum knows no more than that the optimum is not negative.
        Claim::Unproved { reason } if reason.starts_with(VACUOUS) => Some((0.0, f64::INFINITY)),
        _ => None,
    };
    let pairs = a.certificate.claims.iter().zip(&b.certificate.claims);
    a.certificate.claims.len() == b.certificate.claims.len()
        && pairs.map(|(a, b)| (interval(a), interval(b))).all(|pair| match pair {
            (Some((low, high)), Some((other_low, other_high))) => {
                low <= other_high && other_low <= high
            }
            // Without a penalty nothing is claimed by either.
            (None, None) => true,
            _ => false,
        })
}

pub(crate) fn bits(model: &LinearModel) -> Vec<u64> {
    let planes = model.planes.iter().flat_map(|p| p.weights.iter().chain([&p.bias]));
    let votes = match &model.rule {
        Rule::Ballot(ballot) => ballot.votes.concat(),
        _ => Vec::new(),
    };
    planes.map(|x| x.to_bits()).chain(votes).collect()
}

/// The numbers of a model with a change to each; −0 counts as 0.
pub(crate) fn numbers(model: &LinearModel, change: impl Fn(f64) -> f64) -> Vec<u64> {
    let planes = model.planes.iter();
    let all = planes.flat_map(|p| p.weights.iter().chain([&p.bias]));
    all.map(|&x| (change(x) + 0.0).to_bits()).collect()
}
