//! What `train` prints at the end.

use super::auto_cost::AutoCost;
use super::calibration;
use super::flips::Flips;
use super::held::Held;
use super::missed_gap;
use super::plan::Plan;
use super::runs::Runs;
use super::support::Support;
use super::trace::{self, Chosen};
use crate::commands::data_lines::{DataLines, label_json};
use crate::commands::sentences::ExactMargin;
use crate::commands::{json_number, rules, sentences};
use crate::context::Context;
use crate::output::{Facts, counted, grouped};
use crate::spelling::{json_of, spelled};
use linsep::data::read::LabelChoice;
use linsep::data::sort::sort_by_key;
use linsep::file::checkpoint::Earlier;
use linsep::metrics::{CrossValidation, Evaluation};
use linsep::proof::Optimality;
use linsep::recipe::Kind;
use linsep::verdict::Ratio;
use linsep::{Claim, Fit, Stop};
use serde_json::{Value, json};
use std::path::Path;

/// What is printed at the end.
pub(super) struct Report<'a> {
    pub(super) lines: &'a DataLines,
    pub(super) plan: &'a Plan,
    pub(super) fit: &'a Fit,
    /// None of a run that was stopped before its errors were counted.
    pub(super) evaluation: Option<Evaluation>,
    pub(super) test: Option<Evaluation>,
    pub(super) validation: Option<CrossValidation>,
    pub(super) runs: Option<Runs>,
    /// What was done on other data before.
    pub(super) earlier: Earlier,
    /// The file that the run goes on from, and whether it is the same run.
    pub(super) resumed: Option<(&'a Path, bool)>,
    pub(super) digest: String,
    pub(super) seconds: Seconds,
    pub(super) held: Held,
    pub(super) features: usize,
    pub(super) rows: usize,
    pub(super) label: LabelChoice,
    pub(super) traced: Option<linsep_teach::trace::Summary>,
    pub(super) flips: Option<Flips>,
    pub(super) support: Option<Support>,
    pub(super) auto_cost: Option<AutoCost>,
    pub(super) tuned: Option<super::tune::Tuned>,
    pub(super) threshold: Option<super::threshold::Found>,
}

/// What took how long.
#[derive(Clone, Copy)]
pub(super) struct Seconds {
    /// From the start of the program to the first look at the data.
    pub(super) start: f64,
    pub(super) read: f64,
    /// The search of settings.
    pub(super) tune: f64,
    /// The name of the data.
    pub(super) digest: f64,
    /// From the start of a run to its end.
    pub(super) train: f64,
    /// What is proved of the planes after it.
    pub(super) prove: f64,
    /// Predictions of the rows that were learned from and of those for testing.
    pub(super) evaluate: f64,
    pub(super) write: f64,
    /// Everything else, so that the parts add up to the command.
    pub(super) rest: f64,
}

impl Seconds {
    /// With the rest of all that has passed.
    pub(super) fn of(self, all: f64) -> Seconds {
        let named: f64 = self.parts().iter().map(|(_, seconds)| seconds).sum();
        Seconds { rest: (all - named).max(0.0), ..self }
    }

    /// Every part by its name, in the order of the work.
    fn parts(self) -> [(&'static str, f64); 9] {
        let Seconds { start, read, tune, digest, train, prove, evaluate, write, rest } = self;
        [
            ("start", start),
            ("read", read),
            ("tune", tune),
            ("digest", digest),
            ("train", train),
            ("prove", prove),
            ("evaluate", evaluate),
            ("write", write),
            ("rest", rest),
        ]
    }

    fn json(self) -> serde_json::Value {
        self.parts().into_iter().map(|(name, seconds)| (name.to_owned(), json!(seconds))).collect()
    }
}

impl Report<'_> {
    pub(super) fn text(&self, context: &Context) -> String {
        let mut facts = Facts::default();
        self.lines.add_to(&mut facts);
        let name = |class: &str| linsep::printable(class.as_bytes(), 30);
        let classes: Vec<String> = match &self.evaluation {
            Some(evaluation) => evaluation
                .per_class
                .iter()
                .map(|c| format!("{} ({})", name(&c.class), grouped(c.rows)))
                .collect(),
            None => self.fit.model.classes.iter().map(|class| name(class)).collect(),
        };
        let shown = classes.len().min(12);
        let more = if classes.len() > shown {
            format!(", and {} more", classes.len() - shown)
        } else {
            String::new()
        };
        facts.add("classes", format!("{}{more}", classes[..shown].join(", ")));
        if self.fit.model.input.basis.is_some() {
            facts.add("form", format!("linear in {}", self.fit.model.input.linear_in()));
        }
        facts.add("learner", self.learner());
        if let Some(chosen) = &self.plan.algorithm_box {
            facts.add("box", chosen.words());
        }
        if let Some((path, same)) = self.resumed {
            let how =
                if same { "the same run goes on" } else { "its planes go on with other data" };
            facts.add("resumed", format!("{}: {how}", path.display()));
        }
        facts.add("stopped", self.stop());
        facts.add("proved", self.proved());
        for remark in self.fit.remarks.iter().filter(|remark| remark.name != "stop") {
            facts.add(remark.name, spelled(&remark.words));
        }
        let not_counted = || "errors were not counted: the program was stopped".to_owned();
        facts.add("training", self.evaluation.as_ref().map_or_else(not_counted, errors));
        if let Some(test) = &self.test {
            facts.add("test", errors(test));
        }
        if let Some(cv) = &self.validation {
            facts.add(
                "cv",
                format!(
                    "{} in {} folds, accuracy {:.2} %{}, sd {:.2}",
                    cv.summary(),
                    cv.folds,
                    100.0 * cv.accuracy,
                    cv.accuracy_interval.map_or(String::new(), |[low, high]| format!(
                        " [{:.2}, {:.2}]",
                        100.0 * low,
                        100.0 * high
                    )),
                    100.0 * cv.accuracy_sd
                ),
            );
        }
        if let Some(runs) = &self.runs {
            runs.add_to(&mut facts);
        }
        if let (Some(flips), Some(table)) = (&self.flips, &self.plan.flips) {
            flips.add_to(&mut facts, table);
        }
        if let (Some(support), Some(table)) = (&self.support, &self.plan.support) {
            support.add_to(&mut facts, table);
        }
        calibration::add_to(&mut facts, self.fit);
        if let Some(tuned) = &self.tuned {
            tuned.add_to(&mut facts);
        }
        if let Some(threshold) = &self.threshold {
            threshold.add_to(&mut facts, &self.fit.model);
        }
        if let Some(auto_cost) = &self.auto_cost {
            auto_cost.add_to(&mut facts);
        }
        facts.add("model", self.plan.model.display().to_string());
        if let (Some(to), Some(traced)) = (&self.plan.trace, &self.traced) {
            let converged = self.fit.progress.last_mistakes == Some(0);
            trace::report(&mut facts, to, traced, converged);
        }
        if context.verbose {
            let parts = self.seconds.parts().map(|(name, seconds)| format!("{name} {seconds:.3}"));
            facts.add("seconds", parts.join(", "));
            facts.add("memory", self.held.words());
            facts.add("digest", &self.digest);
            if let Some(pairs) = rules::boundaries_count(&self.fit.model) {
                let (model, pairs) = (self.plan.model.display(), counted(pairs, "pair"));
                facts.add("boundaries", format!("{pairs} of classes: linsep show {model} --pairs"));
            }
        }
        facts.text(context)
    }

    fn learner(&self) -> String {
        self.plan.learner_in_words(&self.fit.model)
    }

    fn stop(&self) -> String {
        if self.fit.stop == Stop::Finished && self.plan.recipe.kind == Kind::Direct {
            return match (self.seeks_margin(), &self.fit.shortfall) {
                (true, None) => "the largest margin was found and checked".to_owned(),
                (true, Some(_)) => "the largest margin was not found".to_owned(),
                _ => "closed form (one pass over the rows)".to_owned(),
            };
        }
        let progress = self.fit.progress;
        let effort_of = |epochs: u64, updates: u64| match self.plan.recipe.kind {
            Kind::Optimising => counted(epochs, "epoch"),
            _ => format!("{}, {}", counted(epochs, "epoch"), counted(updates, "update")),
        };
        let mut effort = effort_of(progress.epochs, progress.updates);
        if !self.earlier.is_nothing() {
            effort.push_str(&format!(
                "; before that {} on other data",
                effort_of(self.earlier.epochs, self.earlier.updates)
            ));
        }
        let other_rule = self
            .plan
            .recipe
            .parameters
            .iter()
            .any(|p| p.name == "stop" && self.plan.settings.get(p) != p.default);
        let by_rule = self.fit.remarks.iter().find(|remark| remark.name == "stop");
        let why = match self.fit.stop {
            Stop::Finished if by_rule.is_some() => {
                by_rule.map(|r| spelled(&r.words)).unwrap_or_default()
            }
            Stop::Finished if self.rests() => match self.plan.settings.has("below") {
                true => "at rest, or below the value asked for".to_owned(),
                false => "at rest".to_owned(),
            },
            Stop::Finished if progress.last_mistakes == Some(0) && !other_rule => {
                "a pass without mistakes".to_owned()
            }
            Stop::Finished if self.machines().is_some() => {
                "every binary classifier ended by its own rule".to_owned()
            }
            Stop::Finished if self.plan.algorithm_box.as_ref().is_some_and(Chosen::is_printed) => {
                "the loop of the box ended".to_owned()
            }
            Stop::Finished if self.refuted().is_some() => {
                "proved that no planes separate".to_owned()
            }
            Stop::Finished => match () {
                () if self.setting("verdict").is_some() => {
                    "the exact search found a separating plane".to_owned()
                }
                () if self.is_search() => match self.fit.certificate.claims[..] {
                    [Claim::Mistakes { mistakes, ref conflicts, .. }]
                        if mistakes == conflicts.len() as u64 =>
                    {
                        "proved that no plane makes fewer mistakes".to_owned()
                    }
                    _ => "no move that was tried leads to fewer mistakes".to_owned(),
                },
                () if self.setting("below").is_some() => "below the value asked for".to_owned(),
                () if self.plan.recipe.kind == Kind::Optimising => self.converged(),
                () => "planes without mistakes were found".to_owned(),
            },
            Stop::Epochs if self.plan.epochs_given => "the epoch limit".to_owned(),
            Stop::Epochs if self.plan.recipe.parameters.iter().any(|p| p.name == "rest") => {
                "the default limit on epochs, not at rest".to_owned()
            }
            Stop::Epochs if self.plan.recipe.kind == Kind::Optimising => {
                "the default limit on epochs, not converged: the gap is larger than asked for"
                    .to_owned()
            }
            Stop::Epochs if other_rule => {
                "the default limit on epochs, the stop rule was not met".to_owned()
            }
            Stop::Epochs => "the default limit on epochs, no pass without mistakes".to_owned(),
            Stop::Updates => "the limit on updates".to_owned(),
            Stop::Time => "the time limit".to_owned(),
            Stop::Interrupted => "interrupted".to_owned(),
            _ => self.fit.stop.word().to_owned(),
        };
        format!("{why} ({effort})")
    }

    /// How a learner with a gap ended that has no words of its own for it, as those of K classes.
    fn converged(&self) -> String {
        let gaps = self.fit.certificate.claims.iter().filter_map(optimality).map(|o| o.gap);
        match (gaps.reduce(f64::max), missed_gap(self.fit, self.plan)) {
            (Some(worst), None) => format!("converged (duality gap {})", sentences::gap(worst)),
            (Some(_), Some(_)) => "rounding leaves nothing to gain".to_owned(),
            (None, _) => "converged, or rounding leaves nothing to gain".to_owned(),
        }
    }

    /// Whether the learner is to prove a largest margin.
    fn seeks_margin(&self) -> bool {
        self.plan.recipe.abilities.claims.contains(&"geometric-margin")
    }

    /// Whether mistakes were searched, not descended.
    fn is_search(&self) -> bool {
        self.setting("criterion") == Some("jn")
    }

    /// Whether the run ends at rest, and not with an empty error set.
    fn rests(&self) -> bool {
        let only_mistakes = ["jp", "jd", "jn"].map(Some).contains(&self.setting("criterion"));
        self.setting("rest").is_some() && !only_mistakes
    }

    /// The value of a setting, if the learner has it.
    fn setting(&self, name: &str) -> Option<&str> {
        let parameter = self.plan.recipe.parameters.iter().find(|p| p.name == name)?;
        Some(self.plan.settings.get(parameter))
    }

    /// How many machines separate their rows, how many are proved not to, and how many there are, if
    /// they differ.
    fn machines(&self) -> Option<[usize; 3]> {
        let claims = &self.fit.certificate.claims;
        let count = |is: fn(&Claim) -> bool| claims.iter().filter(|claim| is(claim)).count();
        let separate = count(|claim| matches!(claim, Claim::Separable { .. }));
        let cannot = count(|claim| matches!(claim, Claim::Inseparable { .. }));
        // A machine may have two claims, one about its plane and one about all planes.
        let beside = count(|claim| matches!(claim, Claim::GeometricMargin { .. }));
        let all = claims.len() - beside;
        let mixed = separate < all && cannot < all && separate + cannot > 0;
        (self.fit.model.rule.has_machines() && mixed).then_some([separate, cannot, all])
    }

    /// The number of rows that refute a plane, if that is what was proved.
    fn refuted(&self) -> Option<usize> {
        self.fit.certificate.claims.iter().find_map(|claim| match claim {
            Claim::Inseparable { witness, .. } => Some(witness.len()),
            Claim::JointInseparable { witness } => Some(witness.len()),
            _ => None,
        })
    }

    /// What is claimed, with the numbers of optima: of several planes each has its own, and the gap is the
    /// largest.
    fn certificate(&self) -> Value {
        let claims = &self.fit.certificate.claims;
        let mut value = json!({ "claim": claims.first().map_or("unproved", Claim::name) });
        if claims.len() > 1 {
            value["claims"] = claims.iter().map(Claim::name).collect();
        }
        if let Some(Claim::Unproved { reason }) = claims.first() {
            value["reason"] = spelled(reason).into();
        }
        let optima: Vec<&Optimality> = claims.iter().filter_map(optimality).collect();
        match &optima[..] {
            [] => {}
            [one] => {
                value["primal"] = one.primal.into();
                value["dual"] = one.bound.into();
                value["gap"] = one.gap.into();
                value["objective"] = json!(one.objective);
            }
            all => {
                let numbers =
                    |o: &&Optimality| json!({ "primal": o.primal, "dual": o.bound, "gap": o.gap });
                value["planes"] = all.iter().map(numbers).collect();
                value["gap"] = all.iter().map(|o| o.gap).fold(0.0, f64::max).into();
                value["objective"] = json!(all[0].objective);
            }
        }
        value
    }

    /// What is proved, each statement once.
    fn proved(&self) -> String {
        if let Some([separate, cannot, all]) = self.machines() {
            let mut words = format!("{separate} of {all} binary classifiers separate their rows");
            if cannot > 0 {
                words.push_str(&format!(", {cannot} provably cannot"));
            }
            let claims = &self.fit.certificate.claims;
            let (mut erring, mut wrong, mut least) = (0, 0, 0);
            for claim in claims {
                if let Claim::Mistakes { mistakes, conflicts, .. } = claim {
                    (erring, wrong) = (erring + 1, wrong + mistakes);
                    least += conflicts.len();
                }
            }
            if erring > 0 {
                let mistakes = counted(wrong, "mistake");
                words.push_str(&format!(
                    ", {erring} make {mistakes}, at least {least} by any planes"
                ));
            }
            let open = claims.iter().find_map(|claim| match claim {
                Claim::Unproved { reason } => Some(reason),
                _ => None,
            });
            if let Some(reason) = open {
                let left = all - separate - cannot - erring;
                words.push_str(&format!(", of {left} nothing is proved: {}", spelled(reason)));
            }
            return words;
        }
        let mut lines: Vec<String> = Vec::new();
        for claim in &self.fit.certificate.claims {
            let line = match claim {
                Claim::Unproved { reason } => format!("nothing: {}", spelled(reason)),
                Claim::Separable { .. } | Claim::JointSeparable { .. } => {
                    "separable: every row is strictly on its side, checked in exact arithmetic"
                        .to_owned()
                }
                Claim::Inseparable { .. } | Claim::JointInseparable { .. } => {
                    let rows = counted(self.refuted().unwrap_or(0) as u64, "row");
                    format!("not separable: {rows} prove it")
                }
                Claim::Mistakes { mistakes, conflicts, .. } => format!(
                    "{} of this plane, counted in exact arithmetic; at least {} of any plane",
                    counted(*mistakes, "mistake"),
                    conflicts.len()
                ),
                // `verify` has the bound: of the scores, or of the residual alone.
                Claim::Stationary { equations, .. } => format!(
                    "stationary: the equations hold, recomputed from the rows\n{}",
                    equations.words()
                ),
                Claim::Counts { statistics, .. } => format!(
                    "counts: the weights are what the counts make them, counted again\n{}",
                    statistics.words()
                ),
                Claim::Optimal { optimality, .. } => self.optimum(optimality),
                Claim::GeometricMargin { .. } => self.largest_margin(),
                claim => claim.name().to_owned(),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        // Of several planes the one that falls short decides what can be said.
        sort_by_key(&mut lines, |line| !line.contains("before a pass"));
        let shown = if self.seeks_margin() { lines.len() } else { 1 };
        lines.truncate(shown);
        if lines.is_empty() { "nothing".to_owned() } else { lines.join("\n") }
    }

    /// How far the plane that is worst off can be from its optimum, and of which objective.
    fn optimum(&self, any: &Optimality) -> String {
        let claims = self.fit.certificate.claims.iter().filter_map(optimality);
        let worst = claims.max_by(|a, b| a.gap.total_cmp(&b.gap)).unwrap_or(any);
        let word = match missed_gap(self.fit, self.plan) {
            None => "optimal",
            Some(_) => "not converged",
        };
        let input = &self.fit.model.input;
        let name = |column| linsep::printable(input.feature_name(column as usize).as_bytes(), 30);
        format!(
            "{word}: {}, recomputed from the rows\n{}",
            worst.distance(),
            worst.objective.words(name)
        )
    }

    /// The exact margin; of several machines the least.
    fn largest_margin(&self) -> String {
        let of_claim = |claim: &'_ Claim| match claim {
            Claim::GeometricMargin { gamma2, support, .. } => {
                Some((Ratio::parse(gamma2)?, support.len() as u64))
            }
            _ => None,
        };
        let margins = self.fit.certificate.claims.iter().filter_map(of_claim);
        let all = margins.clone().count();
        let Some((gamma2, rows)) = margins.min() else { return String::new() };
        let exact = ExactMargin { gamma: gamma2.root(), gamma2: &gamma2, rows };
        let root = exact.root().unwrap_or_else(|| "γ ≈ ?".to_owned());
        let what = match all {
            1 => "the largest margin of any plane".to_owned(),
            _ => format!("the largest margin of each of {all} binary classifiers; the least"),
        };
        format!("{what}: {root}, {} exactly, {}", exact.square(), exact.held())
    }

    pub(super) fn json(
        &self,
        parameters: std::collections::BTreeMap<String, String>,
    ) -> serde_json::Value {
        let (label, label_source) = label_json(&self.label);
        let mut value = json!({
            "schema": "linsep.result/1",
            "command": "train",
            "rows": self.rows,
            "features": self.features,
            "classes": self.fit.model.classes,
            "label": label,
            "label_source": label_source,
            "learner": self.plan.recipe.name,
            "parameters": parameters,
            "stop": self.fit.stop.word(),
            "epochs": self.fit.progress.epochs,
            "updates": self.fit.progress.updates,
            "training": self.evaluation.as_ref().map(short_json),
            "certificate": self.certificate(),
            "seconds": self.seconds.json(),
            "memory": self.held.json(),
            "model": self.plan.model.display().to_string(),
            "digest": self.digest,
            "reading": self.lines.reading_json,
        });
        if let Some(basis) = &self.fit.model.input.basis {
            value["basis"] = json!(basis.claimed());
        }
        if let Some(test) = &self.test {
            value["test"] = short_json(test);
        }
        for remark in &self.fit.remarks {
            value["remarks"][remark.name] = json_of(&remark.data);
        }
        if let Some(chosen) = &self.plan.algorithm_box {
            value["box"] = chosen.json();
        }
        if let (Some(to), Some(traced)) = (&self.plan.trace, &self.traced) {
            value["trace"] = trace::json(to, traced);
        }
        if let (Some(flips), Some(table)) = (&self.flips, &self.plan.flips) {
            value["flips"] = flips.json(table);
        }
        if let (Some(support), Some(table)) = (&self.support, &self.plan.support) {
            value["support"] = support.json(table);
        }
        if let Some(link) = calibration::json(self.fit) {
            value["probability"] = link;
        }
        if let Some(tuned) = &self.tuned {
            value["tuned"] = tuned.json();
        }
        if let Some(threshold) = &self.threshold {
            value["threshold"] = threshold.json(&self.fit.model);
        }
        if let Some(auto_cost) = &self.auto_cost {
            value["c"] = auto_cost.json();
        }
        if let Some((path, same)) = self.resumed {
            value["resumed"] = json!({ "from": path.display().to_string(), "same_run": same });
        }
        if !self.earlier.is_nothing() {
            value["earlier"] = serde_json::to_value(self.earlier).unwrap_or_default();
        }
        if let Some(runs) = &self.runs {
            value["spread"] = runs.json();
        }
        if let Some(cv) = &self.validation {
            value["cv"] = serde_json::to_value(cv).unwrap_or_default();
        }
        value
    }
}

pub(super) fn short_json(evaluation: &Evaluation) -> serde_json::Value {
    let mut value = json!({
        "rows": evaluation.rows,
        "errors": evaluation.errors,
        "accuracy": json_number(evaluation.accuracy),
        "accuracy_interval": evaluation.accuracy_interval,
        "majority": evaluation.majority,
    });
    if let Some(weighted) = evaluation.weighted {
        value["weighted"] = json!(weighted);
    }
    if let Some(ambiguous) = evaluation.ambiguous {
        value["ambiguous"] = json!({ "rows": ambiguous.rows, "errors": ambiguous.errors });
    }
    value
}

pub(super) fn errors(evaluation: &Evaluation) -> String {
    let ambiguous = evaluation
        .ambiguous
        .map_or(String::new(), |ambiguous| format!(", {} ambiguous", grouped(ambiguous.rows)));
    let majority = evaluation.against_majority().map_or(String::new(), |text| format!("; {text}"));
    format!("{}{ambiguous}{majority}", evaluation.summary())
}

/// The numbers of a claim about an optimum.
pub(super) fn optimality(claim: &Claim) -> Option<&Optimality> {
    match claim {
        Claim::Optimal { optimality, .. } => Some(optimality),
        _ => None,
    }
}
