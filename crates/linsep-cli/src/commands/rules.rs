//! The rule of a model in words, and the boundaries that it draws.

use crate::output::{counted, grouped};
use linsep::data::sort::largest_first;
use linsep::model::Decision;
use linsep::model::rule::duels;
use linsep::{Ballot, LinearModel, Plane, Rule};

/// How many planes there are and what they do, for one line of a report.
pub(super) fn summary(model: &LinearModel) -> String {
    let planes = counted(model.planes.len() as u64, "plane");
    let machines = match &model.rule {
        Rule::Ballot(Ballot { votes, .. }) if votes.len() == 1 => format!("a ballot of {planes}"),
        Rule::Ballot(Ballot { votes, .. }) => {
            format!("{} of {planes}", counted(votes.len() as u64, "ballot"))
        }
        Rule::Sign => "one plane".to_owned(),
        _ => planes,
    };
    match model.rule.on_scores() {
        Rule::Sign => machines,
        Rule::Rest => format!("{machines}, each against the rest, the highest score wins"),
        Rule::RestLast => {
            format!("{machines}, each against the rest, the last class if none claims")
        }
        Rule::Vote => format!("{machines}, one for each pair of classes, majority vote"),
        _ => format!("{machines}, the highest score wins"),
    }
}

/// The whole rule.
pub(super) fn sentence(model: &LinearModel) -> String {
    let name = |k: usize| name_of(model, k);
    let last = model.classes.len() - 1;
    let words = match model.rule.on_scores() {
        Rule::Sign => format!("score >= 0 means {}, below means {}", name(1), name(0)),
        Rule::Rest => "each score >= 0 claims the row; the class with the highest score, \
                       the earlier one on a tie"
            .to_owned(),
        Rule::RestLast => format!(
            "each score >= 0 claims the row; of those the highest, the earlier class on a tie; {} \
             if none does",
            name(last)
        ),
        Rule::Vote => {
            "score >= 0 is a vote for the class named first; majority vote, ties by the larger sum \
                       of scores, then the earlier class"
                .to_owned()
        }
        _ => "the class with the highest score; the earlier one on a tie".to_owned(),
    };
    match model.rule {
        Rule::Ballot(_) => {
            format!("score = share of the votes at or above 0 less the rest; {words}")
        }
        _ => words,
    }
}

/// What decides instead of the rule, if something does.
pub(super) fn decision(model: &LinearModel) -> Option<String> {
    Some(match model.decision.as_ref()? {
        Decision::Threshold(threshold) => {
            let share =
                threshold.probability.map_or(String::new(), |p| format!(" (probability {p})"));
            let rows = threshold.rows.as_deref().unwrap_or("other rows");
            let by = match threshold.by.as_str() {
                "value" => "given".to_owned(),
                "costs" => "the least expected cost".to_owned(),
                goal => {
                    format!("chosen by {} on {rows}", linsep::printable(goal.as_bytes(), 40))
                }
            };
            let score = threshold.score;
            format!("{} from a score of {score} on{share}: {by}", name_of(model, 1))
        }
        Decision::Costs(_) => {
            "the class of least expected cost, by the probabilities and the costs of errors"
                .to_owned()
        }
        _ => "of a kind that this program does not know".to_owned(),
    })
}

/// The name of a class, printable.
pub(super) fn name_of(model: &LinearModel, class: usize) -> String {
    linsep::printable(model.classes[class].as_bytes(), 40)
}

/// One score of a model, for the headline above its plane.
pub(super) fn titles(model: &LinearModel) -> Vec<String> {
    match model.rule.on_scores() {
        Rule::Vote => duels(model.classes.len())
            .map(|(i, j)| format!("score of {} against {}", name_of(model, j), name_of(model, i)))
            .collect(),
        _ => {
            let names = model.score_names();
            names
                .iter()
                .map(|c| format!("score of {}", linsep::printable(c.as_bytes(), 40)))
                .collect()
        }
    }
}

/// Each pair of classes with the plane between them: later class, earlier class, plane that is
/// positive on the side of the later one.
pub(super) fn boundaries(model: &LinearModel) -> impl Iterator<Item = (usize, usize, Plane)> + '_ {
    duels(model.classes.len())
        .filter_map(|(i, j)| model.boundary((i, j)).map(|plane| (j, i, plane)))
}

/// How many boundaries there are between more than two classes; `None` where ballots decide.
pub(super) fn boundaries_count(model: &LinearModel) -> Option<u64> {
    let classes = model.classes.len() as u64;
    let planes = !matches!(model.rule, Rule::Ballot(_));
    (planes && classes > 2).then(|| classes * (classes - 1) / 2)
}

/// The columns whose weight is not 0, the largest weights first.
pub(super) fn largest_weights(plane: &Plane) -> Vec<usize> {
    let mut order = largest_first(&plane.weights);
    order.retain(|&j| plane.weights[j] != 0.0);
    order
}

/// `1.5 f0 - 2 f1 + 3 = 0`, the largest weights first, at most `top` of them.
pub(super) fn equation(plane: &Plane, names: &[String], top: usize) -> String {
    let order = largest_weights(plane);
    let mut text = String::new();
    let mut term = |x: f64, name: &str| {
        let sign = match (text.is_empty(), x < 0.0) {
            (true, false) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (false, true) => " - ",
        };
        let space = if name.is_empty() { "" } else { " " };
        text.push_str(&format!("{sign}{}{space}{name}", x.abs()));
    };
    for &j in order.iter().take(top) {
        term(plane.weights[j], &linsep::printable(names[j].as_bytes(), 40));
    }
    if plane.bias != 0.0 || order.is_empty() {
        term(plane.bias, "");
    }
    let more = order.len().saturating_sub(top) as u64;
    match more {
        0 => format!("{text} = 0"),
        more => format!("{text} + ({} smaller) = 0", grouped(more)),
    }
}
