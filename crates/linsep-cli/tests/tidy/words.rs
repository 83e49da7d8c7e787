//! Reports, help and lessons use the words of the field. Phrases that were given up do not come back.

use crate::sources::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is no longer said, and what is said instead.
const RETIRED: [(&str, &str); 25] = [
    ("change with --label)", "(auto-detected ...)"),
    ("(as asked)", "label: NAME"),
    (" corrections", "updates"),
    ("average of all visits", "averaged-perceptron weights"),
    ("the gap is small enough", "converged (duality gap ...)"),
    ("the best of all", "optimum"),
    ("verdict     touching", "quasi-separable (touching)"),
    ("nothing bounds", "the coefficient ... is unbounded, or diverges"),
    ("solved directly", "closed form"),
    ("one look at the rows", "one pass over the rows"),
    ("by the plane of the others", "leave-one-out errors"),
    ("duels", "majority vote"),
    ("the duel", "vote"),
    ("has a kink", "non-smooth loss"),
    ("machines separate", "binary classifiers separate"),
    ("no machine or several", "no binary classifier or several"),
    ("one machine for all", "all classes at once"),
    ("nobody knows", "existence not determined"),
    ("longest row ", "max row norm"),
    ("no best plane", "no optimum exists"),
    ("looks like a measurement", "looks continuous"),
    ("weak planes", "planes that put no row wrong"),
    ("(wanted ", "(tolerance ...)"),
    ("table8 values", "one-byte codes"),
    ("of the other rows nothing is claimed", "no claim for held-out rows"),
];

#[test]
fn transcripts_lessons_and_help_have_none_of_the_retired_phrases() {
    let mut found = Vec::new();
    let mut look = |place: &str, text: &str| {
        for (number, line) in text.lines().enumerate() {
            for (phrase, instead) in RETIRED {
                if line.contains(phrase) {
                    found.push(format!("{place}:{}: \"{phrase}\": say {instead}", number + 1));
                }
            }
        }
    };
    let mut files = vec![root().join("README.md")];
    for folder in ["docs/learn", "docs/reference", "docs/pictures", "testdata/transcripts"] {
        pages(&root().join(folder), &mut files);
    }
    assert!(files.len() > 40, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a page of text");
        look(&file.display().to_string(), &text);
    }
    let mut subjects = vec![String::new(), "learners".to_owned()];
    subjects.extend(COMMANDS.map(str::to_owned));
    subjects.extend(linsep::recipe::ALL.iter().map(|recipe| recipe.name.to_owned()));
    for subject in subjects {
        let help = help(&subject);
        assert!(help.len() > 100, "{subject}: {help}");
        look(&format!("help {subject}"), &help);
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The commands with pages of help.
const COMMANDS: [&str; 24] = [
    "lab",
    "separable",
    "forced",
    "infer",
    "verify",
    "certify",
    "train",
    "replay",
    "predict",
    "evaluate",
    "show",
    "geometry",
    "explain",
    "criterion",
    "sample",
    "gate",
    "plot",
    "compare",
    "inspect",
    "convert",
    "export",
    "generate",
    "completions",
    "man",
];

fn help(subject: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linsep"));
    let output = command.arg("help").args(subject.split_whitespace()).output();
    String::from_utf8_lossy(&output.expect("the program runs").stdout).into_owned()
}

/// All pages in a folder.
fn pages(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    files.extend(paths.filter(|path| path.extension().is_some_and(|end| end == "md")));
}
