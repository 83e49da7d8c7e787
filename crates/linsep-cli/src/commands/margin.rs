//! `linsep separable DATA --margin`: the largest margins of what is separable, exactly, and how many
//! corrections of the perceptron they allow, against how many it makes.

use super::inspect::short;
use super::sentences::{ExactMargin, UpdateBound, whole};
use crate::context::Context;
use crate::exit::Failure;
use crate::output::{Facts, counted, grouped};
use clap::ArgMatches;
use linsep::data::cancel;
use linsep::proof::{Claim, Weighted};
use linsep::verdict::{Corrections, Decision, Interval, Judge, Margin, MistakeBounds, Verdict};
use linsep::{Dataset, Error};
use serde_json::{Value, json};

/// What the report says of its own lines where it has margins and bounds.
pub(super) const PROVED: &str = "every verdict and every γ² of rows above passed the exact checker, \
    except what says undecided;\nR²/γ² is exact too, other bounds are floats rounded outward, \
    the run is a count";

/// What `--margin` found out about one question.
pub(super) struct Margins {
    constant: u64,
    augmented: Option<Margin>,
    geometric: Option<Margin>,
    bounds: Option<MistakeBounds>,
    run: Option<Corrections>,
    /// Passes that the run was allowed.
    epochs: u64,
    /// What is proved where the exact margin was not found.
    bracket: Interval,
    bias: bool,
}

/// The constant of the margins that are asked for, if they are.
pub(super) fn asked(matches: &ArgMatches) -> Result<Option<u64>, Failure> {
    let constant = match matches.get_one::<String>("constant") {
        None => 1,
        Some(text) => match text.parse::<u64>() {
            Ok(constant) if constant > 0 => constant,
            _ => {
                let words = format!("--constant: \"{text}\" is no whole number above 0");
                return Err(Error::usage(words).into());
            }
        },
    };
    Ok(matches.get_flag("margin").then_some(constant))
}

/// The largest margins of a question; `None` if it is not a separable question of two classes.
pub(super) fn find(
    judge: &Judge,
    decision: &Decision,
    constant: u64,
    context: &Context,
) -> Option<Margins> {
    if decision.verdict != Verdict::Separable || decision.problem.is_none() {
        return None;
    }
    let stop = || context.stopped();
    let augmented = || judge.augmented_margin(decision, constant, &stop);
    let augmented = cancel::catch(augmented).flatten();
    let geometric = cancel::catch(|| judge.geometric_margin(decision, &stop)).flatten();
    let bounds = |margin| judge.mistake_bounds(decision, margin, &stop);
    let bounds = cancel::catch(|| augmented.as_ref().and_then(bounds)).flatten();
    // Enough to see an end on small data, and a matter of seconds on large data.
    let epochs = (10_000_000 / judge.data.n_rows().max(1) as u64).clamp(10, 100_000);
    let run = match constant {
        1 => cancel::catch(|| judge.corrections(decision, epochs, &stop)).flatten(),
        _ => None,
    };
    let bracket = match augmented {
        Some(_) => Interval::default(),
        None => judge.margin(decision),
    };
    let bias = judge.bias;
    Some(Margins { constant, augmented, geometric, bounds, run, epochs, bracket, bias })
}

impl Margins {
    /// The claims that go into a certificate.
    pub(super) fn claims(&self) -> impl Iterator<Item = Claim> {
        let found = [&self.augmented, &self.geometric].into_iter().flatten();
        found.map(|margin| margin.claim.clone())
    }

    /// Whether the report has lines that the checker does not know.
    pub(super) fn has_bounds(&self) -> bool {
        self.bias
    }

    /// Whether something that was asked for is missing.
    pub(super) fn is_incomplete(&self) -> bool {
        self.bias && (self.augmented.is_none() || self.geometric.is_none())
    }

    pub(super) fn text(&self, facts: &mut Facts, data: &Dataset) {
        if !self.bias {
            facts.add("margin", "not defined here without a bias; leave out --bias off");
            return;
        }
        let c = self.constant;
        facts.add(
            "margin",
            match &self.augmented {
                Some(margin) => {
                    let what = if c == 1 { "(b, w)".into() } else { format!("(b/{c}, w)") };
                    let words = format!(
                        "the largest margin of a plane {what} of length 1 on rows ({c}, x)"
                    );
                    self.found(margin, &words, data)
                }
                None => format!("the exact margin was not found; {}", self.proved()),
            },
        );
        facts.add(
            "distance",
            match &self.geometric {
                Some(margin) => {
                    let words = "the farthest that a plane stays from every row, |w| = 1";
                    self.found(margin, words, data)
                }
                None => "the exact geometric margin was not found".into(),
            },
        );
        if let Some(bounds) = &self.bounds {
            facts.add("bounds", self.predicted(bounds));
        }
        if let Some(actual) = self.actual() {
            facts.add("perceptron", actual);
        }
    }

    fn found(&self, margin: &Margin, words: &str, data: &Dataset) -> String {
        let rows = margin.support();
        let Margin { gamma, gamma2, .. } = margin;
        let exact = ExactMargin { gamma: *gamma, gamma2, rows: rows.len() as u64 };
        let root = exact.root().map_or_else(String::new, |root| format!("{root}: "));
        format!("{root}{words}\n{}, {}: {}", exact.square(), exact.held(), places(rows, data))
    }

    /// The interval that is proved without the exact margin.
    fn proved(&self) -> String {
        if self.constant != 1 {
            return "nothing is proved with this constant".into();
        }
        let bound = |bound: Option<f64>| bound.map_or_else(|| "?".into(), |x| format!("{x}"));
        format!("proved: {} ≤ γ ≤ {}", bound(self.bracket.lower), bound(self.bracket.upper))
    }

    fn predicted(&self, bounds: &MistakeBounds) -> String {
        let number = |interval: Interval| interval.upper.map_or_else(|| "?".into(), short);
        let most = bounds.from_zero.floor();
        let bound = UpdateBound::Exact { most: &most, radius2: &bounds.radius2 };
        let mut text = bound.words();
        text.push_str(&format!(
            "\nfrom any start a: |a - αâ|²/β² with β = R, α = β²/γ ≈ {}; from 0 that is the same",
            number(bounds.alpha)
        ));
        if let Some(sphere) = bounds.unit_sphere {
            let most = match sphere < 9e15 {
                true => grouped(sphere as u64),
                false => format!("about {}", short(sphere)),
            };
            text.push_str(&format!(
                "\nat most {most} on rows divided by their lengths: 1/γ² of those rows"
            ));
        }
        text
    }

    /// Predicted against actual.
    fn actual(&self) -> Option<String> {
        let Some(run) = self.run else {
            let words = "not run: its constant is 1; leave out --constant to compare";
            return (self.constant != 1).then(|| words.into());
        };
        let made = counted(run.corrections, "update");
        let end = match run.ended {
            true => format!("in {}", counted(run.epochs, "epoch")),
            false => format!("and no end after {}", counted(run.epochs, "epoch")),
        };
        let most = self.bounds.as_ref().map(|bounds| whole(&bounds.from_zero.floor()));
        let most = most.map_or_else(String::new, |most| format!(", of at most {most}"));
        Some(format!("{made} {end}{most} (from 0, rows in order, raw columns, η = 1)"))
    }

    /// Adds what was found to the JSON of the question.
    pub(super) fn add_to(&self, claim: &mut Value) {
        if let Some(margin) = &self.augmented {
            claim["margin"] = interval(margin.gamma);
            if self.constant != 1 {
                claim["margin"]["constant"] = json!(self.constant);
            }
        }
        let object = |margin: &Margin| {
            json!({
                "gamma2": margin.gamma2.to_string(),
                "gamma": interval(margin.gamma),
                "support_rows": margin.support().len(),
                "support": margin.support(),
            })
        };
        claim["augmented"] = self.augmented.as_ref().map_or(Value::Null, |margin| {
            let mut value = object(margin);
            value["constant"] = json!(self.constant);
            value
        });
        claim["geometric"] = self.geometric.as_ref().map_or(Value::Null, object);
        claim["bounds"] = self.bounds.as_ref().map_or(Value::Null, |bounds| {
            json!({
                "radius2": bounds.radius2.to_string(),
                "radius": interval(bounds.radius),
                "from_zero": bounds.from_zero.to_string(),
                "updates_at_most": bounds.from_zero.floor(),
                "alpha": interval(bounds.alpha),
                "beta2": bounds.radius2.to_string(),
                "unit_sphere": bounds.unit_sphere,
            })
        });
        claim["perceptron"] = self.run.map_or(Value::Null, |run| {
            json!({
                "updates": run.corrections,
                "epochs": run.epochs,
                "epoch_limit": self.epochs,
                "ended": run.ended,
            })
        });
    }
}

/// {lower, upper} of an interval, null where nothing is known.
pub(super) fn interval(interval: Interval) -> Value {
    json!({ "lower": interval.lower, "upper": interval.upper })
}

/// What is proved of the margin of a question without `--margin`.
pub(super) fn proved_interval(judge: &Judge, decision: &Decision) -> Value {
    let known = judge.margin(decision);
    // Of all classes at once only a refutation says something.
    let refuted = !matches!(decision.verdict, Verdict::Separable | Verdict::Undecided);
    let upper = if refuted { Some(0.0) } else { known.upper };
    interval(known.with_upper(upper))
}

/// The first few rows by their places; a file is named where it is another than before.
fn places(rows: &[Weighted], data: &Dataset) -> String {
    const SHOWN: usize = 6;
    let (mut places, mut before) = (Vec::new(), None);
    for entry in rows.iter().take(SHOWN) {
        let file = data.origin().file(entry.row);
        places.push(match (file, entry.line) {
            (Some(_), Some(line)) if file == before => format!(":{line}"),
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("row {}", entry.row),
        });
        before = file;
    }
    let mut text = places.join(", ");
    if rows.len() > SHOWN {
        text.push_str(&format!(" and {} more", rows.len() - SHOWN));
    }
    text
}
