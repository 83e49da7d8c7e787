//! The tables of the documentation that come from the registry. With `LINSEP_WRITE_TABLES` set they are
//! written; without it they are compared.

use linsep::recipe::{ALL, Ability, Kind, Only, Recipe};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A cell: yes, no, or yes under the conditions of a note.
fn cell(recipe: &Recipe, ability: Ability, notes: &mut Vec<String>) -> String {
    if !recipe.has(ability) {
        return "·".to_owned();
    }
    let conditions: Vec<String> =
        recipe.abilities.only.iter().filter(|o| o.ability == ability).map(Only::words).collect();
    if conditions.is_empty() {
        return "yes".to_owned();
    }
    let note = conditions.join(", and ");
    let number = notes.iter().position(|known| *known == note).unwrap_or_else(|| {
        notes.push(note);
        notes.len() - 1
    });
    format!("yes ({})", number + 1)
}

fn markdown() -> String {
    let mut text = String::from(
        "# What learners can do\n\n\
         This page comes from the registry (`crates/linsep/src/recipe`). A learner that lacks an ability \
         refuses it with the names of\nlearners that have it; every cell is tested \
         (`crates/linsep/tests/learners/abilities.rs`).\n\n\
         | learner | kind | claims | what it does | what it takes for granted |\n\
         |---|---|---|---|---|\n",
    );
    for recipe in ALL {
        let kind = match recipe.kind {
            Kind::Online => "online",
            Kind::Direct => "direct",
            _ => "optimising",
        };
        let claims = recipe.abilities.claims.join(", ");
        let Recipe { name, summary, assumes, .. } = recipe;
        text.push_str(&format!("| `{name}` | {kind} | {claims} | {summary} | {assumes} |\n"));
    }
    let mut notes = Vec::new();
    let abilities = [
        ("Classes and weights", &Ability::ALL[..7]),
        ("Runs", &Ability::ALL[7..13]),
        ("Models", &Ability::ALL[13..]),
    ];
    for (title, abilities) in abilities {
        let words: Vec<&str> = abilities.iter().map(|ability| ability.word()).collect();
        text.push_str(&format!("\n## {title}\n\n| learner | {} |\n", words.join(" | ")));
        text.push_str(&format!("|---|{}\n", "---|".repeat(abilities.len())));
        for recipe in ALL {
            let cells: Vec<String> =
                abilities.iter().map(|ability| cell(recipe, *ability, &mut notes)).collect();
            text.push_str(&format!("| `{}` | {} |\n", recipe.name, cells.join(" | ")));
        }
    }
    text.push_str("\nNotes:\n\n");
    for (number, note) in notes.iter().enumerate() {
        text.push_str(&format!("{}. {note}\n", number + 1));
    }
    text.push_str("\nThe words of the tables:\n\n");
    for ability in Ability::ALL {
        text.push_str(&format!("- {}: {}\n", ability.word(), ability.meaning()));
    }
    text
}

#[test]
fn the_table_of_abilities_is_that_of_the_registry() {
    let path = root().join("docs/reference/abilities.md");
    let text = markdown();
    if std::env::var_os("LINSEP_WRITE_TABLES").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/reference/abilities.md: write it anew with LINSEP_WRITE_TABLES=1");
}
