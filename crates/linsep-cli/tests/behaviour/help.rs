//! Help: learners and their flags come from the registry, and the examples that are shown run.

use crate::common::{Room, TWO};
use linsep::recipe;

#[test]
fn every_learner_is_listed_and_has_a_page_of_its_own_flags() {
    let room = Room::holding("flowers.csv", TWO);
    let list = room.run("help learners").exits(0).out;
    for recipe in recipe::ALL {
        assert!(list.contains(&format!("  {:20} {}\n", recipe.name, recipe.summary)), "{list}");
        let page = room.run(&format!("help {}", recipe.name)).exits(0).silent().out;
        assert!(page.starts_with(&format!("{}: ", recipe.name)), "{page}");
        for other in recipe::ALL.iter().flat_map(|recipe| recipe.parameters) {
            let own = recipe.parameters.iter().any(|parameter| parameter.name == other.name);
            let shown = page.contains(&format!("--{} <", other.name));
            assert_eq!(shown, own, "--{} in\n{page}", other.name);
        }
        for parameter in recipe.parameters {
            // Long lines are folded.
            let words: Vec<&str> = page.split_whitespace().collect();
            let default = format!("[default: {}]", parameter.default);
            assert!(words.join(" ").contains(&default), "{default} in\n{page}");
        }
        let example = page.lines().find_map(|line| line.strip_prefix("  linsep train "));
        let example = example.unwrap_or_else(|| panic!("no example in\n{page}"));
        assert!(example.contains(&format!("--learner {}", recipe.name)), "{page}");
        // A limit may end a run; the model is there all the same.
        let run = room.run(&format!("train {example}"));
        assert!(matches!(run.code, 0 | 5), "{example}\n{}", run.err);
    }
}

#[test]
fn the_flags_of_train_stand_in_five_groups() {
    let page = Room::new().run("help train").exits(0).out;
    let headings: Vec<&str> = page
        .lines()
        .filter(|line| line.ends_with(':') && line.split(' ').count() == 1)
        .map(|line| line.trim_end_matches(':'))
        .collect();
    let wanted = ["Input", "Learner", "Limits", "Validation", "Output", "Global"];
    let groups: Vec<&str> = headings.into_iter().filter(|word| wanted.contains(word)).collect();
    assert_eq!(groups, wanted, "{page}");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in\n{page}"));
    for (flag, group) in
        [("--label <", 0), ("--learner <", 1), ("--epochs <", 2), ("--cv <", 3), ("--trace <", 4)]
    {
        let [begin, end] =
            [wanted[group], wanted[group + 1]].map(|word| place(&format!("\n{word}:\n")));
        assert!((begin..end).contains(&place(flag)), "{flag} in {}", wanted[group]);
    }
    // The flags of each learner stand under it.
    assert!(page.contains("--loss --c --gap --penalty"), "{page}");
}
