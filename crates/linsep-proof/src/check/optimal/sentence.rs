//! The one sentence about an optimum, made from numbers that were checked.

use crate::check::Checker;
use crate::exact::{Scaled, scaled_sum};
use crate::optimal::{Intercept, Loss, Objective, Optimality};
use dashu_int::IBig;
use std::cmp::Ordering;

impl Optimality {
    /// How far the objective can be above the optimum: (primal − bound)/bound in per cent, rounded up.
    pub fn distance(&self) -> String {
        match (self.primal > self.bound, self.bound > 0.0) {
            (false, _) => "exactly at the optimum".into(),
            (true, true) => format!("at most {} above the optimum", percent_above(self.gap)),
            (true, false) => "at an unknown distance from the optimum".into(),
        }
    }
}

impl Objective {
    /// Loss, factors and intercept by their names. `name` gives the name of a column.
    pub fn words(&self, name: impl Fn(u32) -> String) -> String {
        let loss = match self.loss {
            Loss::Logistic => "logistic loss",
            Loss::Hinge => "hinge loss",
            Loss::SquaredHinge => "squared hinge loss",
            Loss::Squared => "squared loss of targets +1 and -1",
            Loss::Softmax => "softmax loss",
            Loss::CrammerSinger => "Crammer-Singer loss",
        };
        let mut parts = vec![format!("{loss}, C = {}", self.c)];
        match (self.l2 > 0.0, self.l1 > 0.0) {
            (false, false) => parts.push("no penalty".into()),
            (true, false) => parts.push(format!("penalty {}/2 |w|^2", self.l2)),
            (false, true) => parts.push(format!("penalty {} |w|_1", self.l1)),
            (true, true) => {
                parts.push(format!("penalty {}/2 |w|^2 + {} |w|_1", self.l2, self.l1));
            }
        }
        parts.push(
            match self.intercept {
                Intercept::Free => "free intercept",
                Intercept::Penalised => "penalised intercept",
                Intercept::None => "no intercept",
            }
            .into(),
        );
        if !self.class_weights.is_empty() {
            parts.push(format!(
                "class weights {}",
                listed(&self.class_weights, |(class, weight)| { format!("{class} = {weight}") })
            ));
        }
        if !self.scale.is_empty() {
            parts.push("weights penalised in the scale of their columns".into());
        }
        if let Some(words) = self.restriction(name) {
            parts.push(words);
        }
        parts.join(", ")
    }

    /// The planes that the optimum is one of, where weights have limits.
    pub fn restriction(&self, name: impl Fn(u32) -> String) -> Option<String> {
        let range = |limit: &crate::WeightLimit| {
            let name = name(limit.column);
            match (limit.least, limit.most) {
                (Some(least), Some(most)) if least == most => format!("{name} = {least}"),
                (Some(least), Some(most)) => format!("{least} <= {name} <= {most}"),
                (Some(least), None) => format!("{name} >= {least}"),
                (None, Some(most)) => format!("{name} <= {most}"),
                (None, None) => format!("{name} free"),
            }
        };
        (!self.limits.is_empty())
            .then(|| format!("among planes with {}", listed(&self.limits, range)))
    }
}

impl Checker<'_> {
    /// What was proved, once the numbers of the claim were shown.
    pub(super) fn sentence(&self, claimed: &Optimality) -> String {
        let Optimality { objective, primal, bound, .. } = claimed;
        let mut words = objective.words(|column| self.rows.column_name(column));
        if self.has_weights() {
            words.push_str(", row weights");
        }
        format!(
            "{}; the objective is at most {primal}, the optimum at least {bound} ({words})",
            claimed.distance()
        )
    }
}

/// The first few items of a list.
fn listed<T>(items: &[T], words: impl Fn(&T) -> String) -> String {
    const SHOWN: usize = 8;
    let mut texts: Vec<String> = items.iter().take(SHOWN).map(words).collect();
    if items.len() > SHOWN {
        texts.push(format!("and {} more", items.len() - SHOWN));
    }
    texts.join(", ")
}

/// A share in per cent with two digits, or as a whole number from 10 on; never less than the share.
pub fn percent_above(share: f64) -> String {
    if !share.is_finite() {
        return "any share".into();
    }
    if share <= 0.0 {
        return "0 %".into();
    }
    let text = format!("{:.1e}", 100.0 * share);
    let Some((mut exponent, mut digits)) = text.split_once('e').and_then(|(mantissa, exponent)| {
        Some((exponent.parse::<i32>().ok()?, mantissa.replace('.', "").parse::<i64>().ok()?))
    }) else {
        return "any share".into();
    };
    // digits · 10^(exponent − 1) is the candidate; whole numbers tell whether it is below the share.
    if is_below(digits, exponent - 1, share) {
        digits += 1;
    }
    if digits == 100 {
        (digits, exponent) = (10, exponent + 1);
    }
    match exponent {
        -6..=0 => {
            let places = (1 - exponent) as usize;
            format!("{:0>width$} %", digits, width = places + 1)
                .split_at_checked(1)
                .map_or_else(String::new, |(whole, rest)| format!("{whole}.{rest}"))
        }
        1..=14 => {
            let mut whole = (100.0 * share).floor() as i64;
            while is_below(whole, 0, share) {
                whole += 1;
            }
            format!("{whole} %")
        }
        _ => format!("{}.{}e{exponent} %", digits / 10, digits % 10),
    }
}

/// Whether digits · 10^exponent < 100 · share.
fn is_below(digits: i64, exponent: i32, share: f64) -> bool {
    let candidate = Scaled { m: digits.into(), two: exponent, five: exponent };
    let share = Scaled::binary64(share).times(&IBig::from(-100));
    scaled_sum(&[candidate, share]).cmp(&IBig::ZERO) == Ordering::Less
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_never_below_the_share() {
        for (share, text) in [
            (0.0, "0 %"),
            // The binary64 next to 1/100 is above it.
            (0.01, "1.1 %"),
            (0.01f64.next_down(), "1.0 %"),
            (0.00991, "1.0 %"),
            (6.8512, "686 %"),
            (0.0999999, "10 %"),
            (0.125, "13 %"),
            (0.5, "50 %"),
            (7.0, "700 %"),
            (2f64.powi(-30), "9.4e-8 %"),
            (1e300, "1.1e302 %"),
        ] {
            assert_eq!(percent_above(share), text, "{share}");
        }
    }

    #[test]
    fn printed_percentages_bound_every_share_and_are_near_it() {
        let mut share = 3e-12;
        while share < 1e10 {
            let text = percent_above(share);
            let number = text.trim_end_matches(" %");
            let (mantissa, exponent) = number.split_once('e').unwrap_or((number, "0"));
            let places = mantissa.split_once('.').map_or(0, |(_, places)| places.len() as i32);
            let digits: i64 = mantissa.replace('.', "").parse().unwrap();
            let ten = exponent.parse::<i32>().unwrap() - places;
            assert!(!is_below(digits, ten, share), "{share} printed as {text}");
            let printed: f64 = number.parse().unwrap();
            assert!(printed <= 111.0 * share, "{share} printed as {text}");
            share *= 1.037;
        }
    }
}
