//! Margins and the bound on updates: `separable --margin`, `train --trace` and the learner `hard-margin`.

use crate::common::{Room, Run};
use crate::exact::{Q, dot, named, shortest};
use crate::tables::{Table, config, tables};
use proptest::prelude::*;

/// The exact numbers of a table that a plane separates.
struct Truth {
    /// γ² of the rows (1, x), and of the plain distance.
    augmented: Q,
    geometric: Q,
    radius2: Q,
}

impl Truth {
    /// None where no plane separates the classes.
    fn of(table: &Table) -> Option<Truth> {
        let signed = table.signed();
        let augmented = shortest(&signed, &vec![0; signed.len()]);
        if augmented.is_zero() {
            return None;
        }
        let plain: Vec<Vec<Q>> = signed.iter().map(|row| row[1..].to_vec()).collect();
        let groups: Vec<usize> =
            table.positive.iter().map(|positive| usize::from(*positive)).collect();
        let geometric = &shortest(&plain, &groups) / &Q::whole(4);
        let radius2 = signed.iter().map(|row| dot(row, row)).max().expect("a row");
        Some(Truth { augmented, geometric, radius2 })
    }
}

/// What stands between two texts.
#[track_caller]
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no \"{before}\" in {text}"));
    let rest = &text[start + before.len()..];
    let end = rest.find(after).unwrap_or_else(|| panic!("no \"{after}\" in {rest}"));
    &rest[..end]
}

/// The value of a line of the report with its further lines.
#[track_caller]
fn fact(run: &Run, name: &str) -> String {
    let mut lines = run.out.lines().skip_while(|line| !line.starts_with(name));
    let first = lines.next().unwrap_or_else(|| panic!("no {name} in\n{}", run.out));
    let more = lines.take_while(|line| line.starts_with(' '));
    std::iter::once(first).chain(more).collect::<Vec<_>>().join("\n")
}

/// A printed root is not above the true one, and six digits of it are there. `=` is exact.
#[track_caller]
fn root_holds(line: &str, square: &Q) {
    let sign = if line.contains("γ = ") { "=" } else { "≈" };
    let start = between(line, &format!("γ {sign} "), "γ²");
    let text = start.split([':', ',']).next().unwrap_or_default();
    let root = Q::parse(text);
    assert!(root.square() <= *square, "{text} is above the root of {square:?}: {line}");
    let more = &root + &(&root.abs() * &Q::parse("1e-5"));
    assert!(more.square() >= *square, "{text} is far below the root of {square:?}: {line}");
    assert!(sign == "≈" || root.square() == *square, "{line}");
}

fn separable(room: &Room, truth: Option<&Truth>) {
    let run = room.run("separable f.csv --margin");
    let Some(truth) = truth else {
        assert_eq!(run.code, 1, "{}", run.out);
        return;
    };
    let run = run.exits(0);
    let (margin, distance) = (fact(&run, "margin"), fact(&run, "distance"));
    assert_eq!(Q::parse(between(&margin, "γ² = ", ", held")), truth.augmented, "{margin}");
    assert_eq!(Q::parse(between(&distance, "γ² = ", ", held")), truth.geometric, "{distance}");
    root_holds(&margin, &truth.augmented);
    root_holds(&distance, &truth.geometric);
    let bounds = fact(&run, "bounds");
    let most = Q::parse(between(&bounds, "at most ", " update"));
    let radius2 = between(&bounds, "R² = ", "\n");
    assert_eq!(Q::parse(radius2), truth.radius2, "{bounds}");
    assert_eq!(most, whole(&(&truth.radius2 / &truth.augmented)), "{bounds}");
    let perceptron = fact(&run, "perceptron");
    let made = perceptron.split_whitespace().nth(1).expect("a number");
    assert!(Q::parse(made) <= most, "{perceptron}");
}

/// The whole number below.
fn whole(number: &Q) -> Q {
    Q::new(number.floor(), 1.into())
}

fn traced(room: &Room, truth: Option<&Truth>) {
    let line = "train f.csv --verdict off --scale none --order cyclic --trace t.ndjson -o t.linsep";
    let run = room.run(line);
    let bound = run.out.lines().find(|line| line.starts_with("bound "));
    let (Some(truth), Some(bound)) = (truth, bound) else {
        assert!(bound.is_none(), "a bound where no plane separates: {}", run.out);
        return;
    };
    let gamma = Q::parse(between(bound, "γ ≥ ", " in"));
    assert!(gamma.square() <= truth.augmented, "{bound}");
    let quotient = &truth.radius2 / &truth.augmented;
    let most = Q::parse(between(bound, "at most ", " update"));
    assert!(most >= whole(&quotient), "{bound}: R²/γ² is {quotient:?}");
    assert!(most <= &quotient * &Q::parse("1.000001"), "{bound}: R²/γ² is {quotient:?}");
    let end = bound.rsplit_once("the run; ").map_or("", |(_, end)| end);
    let made = end.strip_prefix("converged after ").or(end.strip_prefix("not converged: "));
    let made = made.unwrap_or_else(|| panic!("no number of updates in {bound}"));
    assert!(Q::parse(made.trim()) <= most, "{bound}");
    let replayed = room.run("replay t.ndjson f.csv").exits(0);
    let gamma = between(replayed.fact("margin"), "γ ≥ ", " in").to_owned();
    assert!(Q::parse(&gamma).square() <= truth.augmented, "{gamma}");
}

fn hard(room: &Room, table: &Table, truth: Option<&Truth>) {
    let run = room.run("train f.csv --learner hard-margin -o h.linsep");
    let Some(truth) = truth else {
        assert_ne!(run.code, 0, "{}", run.out);
        return;
    };
    let run = run.exits(0);
    let proved = run.fact("proved");
    assert_eq!(Q::parse(between(proved, "γ² = ", " exactly")), truth.geometric, "{proved}");
    root_holds(proved, &truth.geometric);
    let distance = run.fact("distance");
    let shown = room.run("show h.linsep --json").exits(0).json();
    let plane = &shown["planes"][0];
    let number = |value: &serde_json::Value| Q::binary64(value.as_f64().expect("a number"));
    let weights: Vec<Q> =
        plane["weights"].as_array().expect("weights").iter().map(number).collect();
    let (bias, length2) = (number(&plane["bias"]), dot(&weights, &weights));
    let least = named(between(distance, "at least ", " from"));
    for row in &table.rows {
        let score = &dot(&weights, row) + &bias;
        assert!(score.square() >= &least.square() * &length2, "{distance}\n{}", table.text);
    }
    let most = distance.rsplit(' ').next().expect("a number");
    assert!(named(most).square() >= truth.geometric, "{distance}");
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn margins_and_bounds_on_updates_are_true(table in tables()) {
        let room = Room::holding("f.csv", &table.text);
        let truth = Truth::of(&table);
        separable(&room, truth.as_ref());
        traced(&room, truth.as_ref());
        hard(&room, &table, truth.as_ref());
    }
}
