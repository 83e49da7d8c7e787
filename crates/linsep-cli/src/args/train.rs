//! The grammar of `train`. Learners' flags come from the registry; the help has five groups: input, learner,
//! limits, validation, output.

use super::{data, flag, force, online, optimal, switch, target, trace};
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, value_parser};
use linsep::recipe::{self, Kind, Parameter, Recipe};
use std::path::PathBuf;

pub(super) const LEARNER: &str = "Learner";
pub(super) const LIMITS: &str = "Limits";
pub(super) const VALIDATION: &str = "Validation";
pub(super) const OUTPUT: &str = "Output";

/// Fisher's discriminant has a threshold as a setting; every model of two classes can have one that decides.
const THRESHOLD: &str = "Two classes: predict the second from this probability on; or a goal, by which the threshold is chosen on rows held out in folds (5, or --cv): cost (with --cost-matrix), f1, youden, rate=R (a false positive rate of at most R). For fisher also where it lies: midpoint, prior or error [default: no threshold beside the planes; fisher: midpoint]";

pub(super) fn command() -> Command {
    let model_file = target(
        "output-file",
        "FILE",
        "The model file to write [default: the data's name with .linsep]",
    );
    let names: Vec<&str> = recipe::ALL.iter().map(|recipe| recipe.name).collect();
    Command::new("train")
        .visible_alias("fit")
        .about("Learns a model from data and writes it")
        .after_help(format!(
            "Learners, each with its flags; linsep help NAME has defaults and an example:\n{}\n\nExamples:\n  linsep train flowers.csv\n  linsep train spam.svm.gz --test 20% --epochs 20 -o spam.linsep\n  linsep train parts/ --label y --categorical onehot --cv 5",
            learners_with_flags()
        ))
        .arg(data())
        .args(input::flags())
        .args(input::basis_flags())
        .args(online::input_flags())
        .arg(
            flag("learner", "NAME", "How to learn [default: perceptron]")
                .value_parser(PossibleValuesParser::new(names))
                .help_heading(LEARNER),
        )
        .args(learner_parameters().into_iter().map(|parameter| {
            let help = format!("{} [default: {}]", parameter.help, parameter.default);
            match parameter.name {
                "threshold" => parameter_flag(parameter, THRESHOLD.to_owned())
                    .value_name("VALUE|GOAL"),
                name => with_words(parameter_flag(parameter, help), &words_of(name)),
            }
        }))
        .args(optimal::learner_flags())
        .args(trace::box_flags())
        .arg(
            flag("epochs", "N", "At most N passes over the data [default: 100]")
                .visible_alias("max-iter")
                .help_heading(LIMITS),
        )
        .arg(flag("updates", "N", "At most N updates").help_heading(LIMITS))
        .arg(
            flag("test", "FILE|SHARE", "Test on a file, or on a share of the rows such as 20%")
                .value_parser(value_parser!(PathBuf))
                .help_heading(VALIDATION),
        )
        .arg(flag("cv", "K", "Cross-validate with K folds").help_heading(VALIDATION))
        .arg(flag("tune", "GRID", "Choose settings by cross-validation (5 folds, or --cv): NAME=VALUES with commas, VALUES as a|b|c, log:LOW..HIGH:N or lin:LOW..HIGH:N").help_heading(VALIDATION))
        .arg(flag("metric", "NAME", "What --tune makes best, as evaluate --metrics names it [default: accuracy]").help_heading(VALIDATION))
        .arg(
            flag("tune-rule", "RULE", "The best point, or the simplest within one standard error of it [default: best]")
                .value_parser(PossibleValuesParser::new(["best", "1se"]))
                .help_heading(VALIDATION),
        )
        .arg(target("tune-picture", "FILE", "Draw the scores of --tune with their standard errors as SVG").long("tune-picture").help_heading(VALIDATION))
        .arg(switch("nested", "Estimate what --tune finds on folds that had no say in the choice").help_heading(VALIDATION))
        .arg(online::runs().help_heading(VALIDATION))
        .arg(model_file.short('o').long("output-file").help_heading(OUTPUT))
        .arg(force().help("Write the model over a file that is none").help_heading(OUTPUT))
        .args(online::output_flags())
        .args(trace::train_flags())
        .args(optimal::output_flags())
        .arg(
            switch("dry-run", "Read and check everything, learn and write nothing")
                .help_heading(OUTPUT),
        )
}

/// The help of one learner: what it does, its flags with their defaults, an example.
pub(crate) fn learner_help(recipe: &Recipe) -> Command {
    let limits = match recipe.kind {
        Kind::Online => "\n\nIt goes over the rows up to --epochs times [default: 100].",
        Kind::Optimising => "\n\nIt goes over the rows until the --gap is proved.",
        _ => "",
    };
    Command::new("train")
        .bin_name("linsep train")
        .disable_help_flag(true)
        .about(format!("{}: {}", recipe.name, recipe.summary))
        .long_about(format!(
            "{}: {}\n\nIt assumes {}.{limits}",
            recipe.name, recipe.summary, recipe.assumes
        ))
        .override_usage(format!("linsep train <DATA>... --learner {} [OPTIONS]", recipe.name))
        .after_help(format!(
            "linsep help train has the flags that all learners share.\n\nExample:\n  {}",
            example(recipe)
        ))
        .args(recipe.parameters.iter().map(|parameter| {
            let help = format!("{} [default: {}]", parameter.help, parameter.default);
            with_words(parameter_flag(parameter, help).help_heading("Flags"), parameter.words)
        }))
}

/// A command that sets the first parameter that a value can be shown for.
fn example(recipe: &Recipe) -> String {
    let shown = |parameter: &Parameter| {
        let other = parameter.words.iter().find(|word| **word != parameter.default);
        let number = Some(parameter.default).filter(|value| value.parse::<f64>().is_ok());
        // Words that stand beside numbers are part of the value.
        let beside = parameter.value.split('|').find(|word| {
            *word != parameter.default && word.bytes().all(|byte| byte.is_ascii_lowercase())
        });
        let value = other.copied().or(number).or(beside)?;
        Some(format!(" --{} {value}", parameter.name))
    };
    let set = recipe.parameters.iter().find_map(shown).unwrap_or_default();
    format!("linsep train flowers.csv --learner {}{set}", recipe.name)
}

/// All learners, in groups.
pub(crate) fn learners() -> String {
    let kinds = [
        (Kind::Online, "They visit rows and update weights (online)"),
        (Kind::Direct, "They solve in closed form (direct)"),
        (Kind::Optimising, "They minimise an objective up to a proved gap (optimising)"),
    ];
    let mut text = String::new();
    for (kind, title) in kinds {
        text.push_str(&format!("{title}:\n"));
        for recipe in recipe::ALL.iter().filter(|recipe| recipe.kind == kind) {
            text.push_str(&format!("  {:20} {}\n", recipe.name, recipe.summary));
        }
        text.push('\n');
    }
    text.push_str(&format!(
        "linsep help NAME has the flags of a learner, their defaults and an example; without --learner it is {}.\n",
        recipe::DEFAULT.name
    ));
    text
}

fn learners_with_flags() -> String {
    let mut lines = Vec::new();
    for recipe in recipe::ALL {
        lines.push(format!("  {:20} {}", recipe.name, recipe.summary));
        let flags: Vec<String> =
            recipe.parameters.iter().map(|parameter| format!("--{}", parameter.name)).collect();
        lines.push(format!("  {:20} {}", "", flags.join(" ")));
    }
    lines.join("\n")
}

/// The parameters of all learners, each once.
pub(crate) fn learner_parameters() -> Vec<&'static Parameter> {
    let mut parameters: Vec<&'static Parameter> = Vec::new();
    for parameter in recipe::ALL.iter().flat_map(|recipe| recipe.parameters) {
        if !parameters.iter().any(|known| known.name == parameter.name) {
            parameters.push(parameter);
        }
    }
    parameters
}

/// The words that some learner takes for a parameter; which of them, the learner says.
fn words_of(name: &str) -> Vec<&'static str> {
    let parameters = recipe::ALL.iter().flat_map(|recipe| recipe.parameters);
    let mut words = Vec::new();
    for word in parameters.filter(|p| p.name == name).flat_map(|p| p.words) {
        if !words.contains(word) {
            words.push(*word);
        }
    }
    words
}

fn parameter_flag(parameter: &Parameter, help: String) -> Arg {
    let arg = Arg::new(parameter.name)
        .long(parameter.name)
        .value_name(parameter.value)
        .help(help)
        .allow_negative_numbers(true)
        .help_heading(LEARNER);
    match parameter.name {
        "eta" => arg.visible_alias("lr"),
        _ => arg,
    }
}

fn with_words(arg: Arg, words: &[&'static str]) -> Arg {
    match words.is_empty() {
        true => arg,
        false => arg.value_parser(PossibleValuesParser::new(words.to_vec())),
    }
}
