//! Every flag that asks for an ability is refused by every learner that lacks it, with the names of
//! learners that have it, and taken by the others.

use crate::common::Room;
use linsep::recipe::{ALL, Ability};

/// Counts of three kinds of rows, which planes separate; `other` has other rows.
fn room() -> Room {
    let table = |from: usize| {
        let row = |i: usize| {
            let mut values = [i % 3, i / 3 % 3, 1];
            values[i % 2] += 12;
            format!("{},{},{},{}\n", values[0], values[1], values[2], ["ant", "bee"][i % 2])
        };
        (from..from + 24).fold("a,b,c,label\n".to_owned(), |text, i| text + &row(i))
    };
    let room = Room::holding("f.csv", table(0));
    room.write("other.csv", table(9));
    room
}

/// The flags that ask `train` for an ability.
fn flags(ability: Ability) -> Option<&'static str> {
    Some(match ability {
        Ability::Joint => "--multiclass joint",
        Ability::Ovr => "--multiclass ovr",
        Ability::OvrK1 => "--multiclass ovr-k-1",
        Ability::Ovo => "--multiclass ovo",
        Ability::ClassWeights => "--class-weight balanced",
        Ability::BoxConstraints => "--lower 0",
        Ability::Stream => "--stream",
        Ability::WarmStart => "--c auto",
        Ability::Trace => "--trace t.ndjson",
        Ability::Calibrate => "--probabilities platt",
        Ability::Support => "--support s.csv",
        Ability::Flips => "--flips f.flips",
        _ => return None,
    })
}

#[test]
fn flags_are_refused_by_learners_that_cannot() {
    let room = room();
    let mut refused = 0;
    for recipe in ALL {
        for &ability in Ability::ALL.iter().filter(|ability| !recipe.has(**ability)) {
            let Some(flags) = flags(ability) else { continue };
            let line = format!("train f.csv --learner {} {flags} -o m.linsep", recipe.name);
            let able = format!("learners that can: {}", ability.learners().join(", "));
            room.run(&line).exits(2).says(&[&able]);
            assert!(!room.exists("m.linsep"), "{line}");
            refused += 1;
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn models_are_refused_by_commands_that_need_an_ability() {
    let room = room();
    for recipe in ALL {
        room.run(&format!("train f.csv --learner {} -o m.linsep", recipe.name));
        assert!(room.exists("m.linsep"), "{}", recipe.name);
        let sampled = room.run("sample m.linsep -n 5 -o s.csv");
        let resumed = room.run("train --resume m.linsep other.csv -o n.linsep");
        for (run, ability) in [(sampled, Ability::Sample), (resumed, Ability::CarryOn)] {
            match recipe.has(ability) {
                true => assert_eq!(run.code, 0, "{} {ability:?}: {}", recipe.name, run.err),
                false => {
                    let able = format!("learners that can: {}", ability.learners().join(", "));
                    assert_ne!(run.code, 0, "{} {ability:?}", recipe.name);
                    run.says(&[&able]);
                }
            }
        }
        let line = format!("certify m.json f.csv --learner {}", recipe.name);
        room.write(
            "m.json",
            "{\"weights\": [0.5, -1, 0], \"bias\": 0.25, \"classes\": [\"ant\", \"bee\"]}",
        );
        let certified = room.run(&line);
        match recipe.has(Ability::Certify) {
            true => assert_eq!(certified.code, 0, "{line}: {}", certified.err),
            false => drop(certified.exits(2).says(&[&Ability::Certify.learners().join(", ")])),
        }
    }
}
