//! How far an objective is above its optimum: `train` and `verify`, losses whose values are fractions.

use crate::common::Room;
use crate::exact::{Q, dot, named};
use crate::tables::{Table, config, tables};
use proptest::prelude::*;

/// |w|²/2 + C Σ loss(y (w·x + b)) with the hinge loss or its square.
fn objective(table: &Table, weights: &[Q], bias: &Q, c: &Q, squared: bool) -> Q {
    let plane: Vec<Q> = std::iter::once(bias).chain(weights).cloned().collect();
    let one = Q::whole(1);
    let loss = |row: &Vec<Q>| {
        let short = &one - &dot(&plane, row);
        let short = short.max(Q::zero());
        if squared { short.square() } else { short }
    };
    let sum = table.signed().iter().map(loss).fold(Q::zero(), |sum, loss| &sum + &loss);
    &(&dot(weights, weights) / &Q::whole(2)) + &(c * &sum)
}

/// What stands before a text, back to the last blank.
#[track_caller]
fn word_before<'a>(text: &'a str, after: &str) -> &'a str {
    let end = text.find(after).unwrap_or_else(|| panic!("no \"{after}\" in {text}"));
    text[..end].rsplit(' ').next().expect("a word")
}

/// What stands behind a text, up to the next mark.
#[track_caller]
fn word_behind<'a>(text: &'a str, before: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("no \"{before}\" in {text}"));
    let rest = &text[start + before.len()..];
    rest.split([' ', ',', ')', ';']).next().expect("a word")
}

fn optimum_holds(table: &Table, squared: bool, c: &str, gap: &str) {
    let room = Room::holding("f.csv", &table.text);
    let loss = if squared { "squared-hinge" } else { "hinge" };
    let line = format!("train f.csv --learner svm --loss {loss} --c {c} --gap {gap} -o m.linsep");
    let run = room.run(&line);
    assert!([0, 5].contains(&run.code), "{line}: {}", run.err);
    let verified = room.run("verify m.linsep f.csv --json").exits(0).json();
    let claim = &verified["claims"][0];
    if claim["claim"] != "optimal" {
        return;
    }
    let words = claim["words"].as_str().expect("words");
    let primal = named(word_behind(words, "the objective is at most "));
    let bound = named(word_behind(words, "the optimum at least "));
    let above = &(&primal - &bound) / &bound;
    let proved = run.out.lines().find(|line| line.starts_with("proved")).expect("a proof");
    match words.starts_with("exactly at the optimum") {
        true => assert!(primal <= bound && proved.contains("exactly at the optimum"), "{words}"),
        false => {
            let percent = word_before(words, " % above the optimum");
            let share = &Q::parse(percent) / &Q::whole(100);
            let unit = &Q::unit(percent) / &Q::whole(100);
            assert!(share >= above, "{percent} % is below {above:?}: {words}");
            assert!(share <= &above + &unit, "{percent} % is far above {above:?}: {words}");
            // The report and the checker say the same.
            assert!(proved.contains(&format!("at most {percent} % above the optimum")), "{proved}");
        }
    }
    if let Some((_, rest)) = run.err.split_once("(a gap of ") {
        let text = rest.split(')').next().expect("a number");
        let printed = Q::parse(text);
        assert!(printed >= above && printed <= &above + &Q::unit(text), "{text}: {}", run.err);
        assert!(above > Q::parse(gap), "{}", run.err);
    }
    let shown = room.run("show m.linsep --json").exits(0).json();
    let plane = &shown["planes"][0];
    let number = |value: &serde_json::Value| Q::binary64(value.as_f64().expect("a number"));
    let weights: Vec<Q> =
        plane["weights"].as_array().expect("weights").iter().map(number).collect();
    let c = named(c);
    let truth = objective(table, &weights, &number(&plane["bias"]), &c, squared);
    assert!(truth <= primal, "the objective is above {words}");
    // A claim leaves a thousandth of the gap for sums in another order.
    let room = &(&primal - &bound) / &Q::whole(1000);
    let near = &(&(&truth * &Q::parse("1.000000001")) + &Q::parse("1e-12")) + &room;
    assert!(primal <= near, "the objective is far below {words}");
    let zeros = vec![Q::zero(); weights.len()];
    for bias in ["0", "1", "-1", "0.25"] {
        let other = objective(table, &zeros, &Q::parse(bias), &c, squared);
        assert!(bound <= other, "a plane is below the bound of {words}");
    }
    for factor in ["0.5", "0.99", "1.01"] {
        let scaled: Vec<Q> = weights.iter().map(|w| w * &Q::parse(factor)).collect();
        let other = objective(table, &scaled, &number(&plane["bias"]), &c, squared);
        assert!(bound <= other, "a plane is below the bound of {words}");
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn distances_from_an_optimum_are_true(
        table in tables(),
        squared in any::<bool>(),
        c in prop::sample::select(vec!["0.01", "1", "30"]),
        gap in prop::sample::select(vec!["0.9", "0.05", "1e-3", "1e-7"]),
    ) {
        optimum_holds(&table, squared, c, gap);
    }
}
