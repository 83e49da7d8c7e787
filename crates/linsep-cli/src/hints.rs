//! What users of other programs mean by a flag or a command that linsep does not have.

use crate::args;
use clap::Command;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;

/// Puts a hint by meaning into a complaint about an unknown flag or command, in place of one by letters.
pub(crate) fn add_to(error: &mut clap::Error, arguments: &[OsString]) {
    let (given, similar) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        ErrorKind::InvalidSubcommand => {
            (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand)
        }
        _ => return,
    };
    let Some(ContextValue::String(word)) = error.get(given) else { return };
    let tip = match given {
        ContextKind::InvalidArg => {
            let mut whole = args::command();
            whole.build();
            flag_hint(word, &whole, arguments, error.get(similar).is_some())
        }
        _ => command_hint(word),
    };
    if let Some(tip) = tip {
        error.remove(similar);
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
}

/// Names that other programs use, and what they are called here. Every `--name` in the words is a flag; of
/// several lines for a name the first one counts whose flags the command has.
const MEANINGS: &[(&[&str], &str)] = &[
    (&["learning-rate", "learning-rate-init", "eta0", "step-size", "rate"], "--eta RATE"),
    (
        &["regularization", "regularisation", "reg", "lambda", "l2-penalty", "weight-decay"],
        "--c C (the smaller, the stronger the penalty), or --l2 L of least-squares",
    ),
    (&["alpha"], "--c C (the smaller, the stronger the penalty), or --l2 L of least-squares"),
    (&["l1", "l2", "elastic-net", "elasticnet"], "--penalty l1, l2 or elastic-net"),
    (&["n-jobs", "jobs", "num-threads", "n-threads", "nthreads", "workers"], "--threads N"),
    (&["random-state", "random-seed", "rng"], "--seed N"),
    (
        &["test-size", "test-share", "holdout", "hold-out", "split", "validation-split"],
        "--test SHARE, such as --test 20%",
    ),
    (&["folds", "n-folds", "n-splits", "kfold", "k-fold", "cross-validate"], "--cv K"),
    (
        &["iterations", "iter", "n-iter", "max-epochs", "n-epochs", "num-epochs", "passes"],
        "--epochs N",
    ),
    (
        &["tol", "tolerance", "eps", "epsilon", "e"],
        "--gap G of optimisers, or --stop RULE of the others",
    ),
    (&["sample-weight", "sample-weights", "row-weights", "weights"], "--weight COLUMN"),
    (&["balanced", "class-weights"], "--class-weight balanced"),
    (
        &["fit-intercept", "no-intercept", "bias", "no-bias", "B"],
        "--intercept free, penalised or none",
    ),
    (&["bias", "intercept", "fit-intercept", "no-intercept"], "--bias on or off"),
    (
        &["model", "algorithm", "algo", "method", "classifier", "estimator", "type", "s"],
        "--learner NAME; linsep help learners lists them",
    ),
    (&["multi-class", "strategy"], "--multiclass SCHEME"),
    (&["standardize", "standardise", "normalize", "normalise", "scaler", "scaling"], "--scale HOW"),
    (&["shuffle", "no-shuffle"], "--order ORDER"),
    (&["early-stopping"], "--stop RULE"),
    (&["warm-start"], "--resume FILE"),
    (&["dual", "primal"], "--solver SOLVER"),
    (&["kernel", "degree", "gamma", "polynomial"], "--basis SPEC, such as poly:2"),
    (
        &["formula", "interaction", "interactions", "interaction-only", "model-formula"],
        "--terms FORMULA, such as 'age * sex'",
    ),
    (&["ref", "relevel", "baseline", "base-level"], "--reference COLUMN=LEVEL"),
    (&["probability", "proba", "predict-proba"], "--output proba"),
    (&["probability", "proba", "predict-proba", "calibrate"], "--probabilities platt"),
    (&["out", "outfile", "save", "save-model", "model-out"], "-o FILE (--output-file)"),
    (
        &["label-column", "labels", "target-column", "class-column", "response", "y"],
        "--label COLUMN",
    ),
    (&["sep", "separator", "field-separator"], "--delimiter CHAR"),
    (&["exclude", "ignore", "drop-columns"], "--drop COLUMNS"),
    (&["columns", "cols", "usecols", "include", "x"], "--features COLUMNS"),
    (&["na", "na-values", "impute", "imputer", "fillna", "missing-values"], "--missing HOW"),
    (&["one-hot", "onehot", "dummies", "get-dummies", "encode"], "--categorical onehot"),
    (&["n-samples", "samples", "nrows", "n-rows", "n"], "--rows N"),
    (&["nrows", "n-rows", "rows", "max-rows", "head", "n"], "--limit N"),
    (&["n-features"], "--features N"),
    (&["n-classes", "centers"], "--classes K"),
    (&["timeout", "max-time"], "--time-limit TIME"),
    (&["memory", "mem"], "--max-memory SIZE"),
    (&["overwrite", "clobber", "yes", "f"], "--force"),
];

/// Commands of other programs.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["learn", "build"], "train"),
    (&["classify", "apply"], "predict"),
    (&["validate", "eval", "metrics"], "evaluate"),
    (&["cv", "cross-validate", "crossval"], "train --cv K"),
    (&["check", "prove"], "verify"),
    (&["info", "describe", "summary", "head"], "inspect"),
    (&["coef", "weights", "print", "dump"], "show"),
    (&["draw", "picture", "visualize"], "plot"),
    (&["make", "make-blobs", "simulate"], "generate"),
    (&["benchmark"], "compare"),
];

fn command_hint(word: &str) -> Option<String> {
    let word = word.to_lowercase().replace('_', "-");
    let (_, command) = COMMANDS.iter().find(|(names, _)| names.contains(&word.as_str()))?;
    Some(format!("'{word}' is linsep {command} here"))
}

/// What an unknown flag means. Where one is `similar` in its letters, only the meaning beats it.
fn flag_hint(
    given: &str,
    whole: &Command,
    arguments: &[OsString],
    similar: bool,
) -> Option<String> {
    let given = given.split('=').next().unwrap_or(given);
    let dashed = given.trim_start_matches('-').replace('_', "-");
    let lower = dashed.to_lowercase();
    let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    let command =
        words.filter(|word| !word.starts_with('-')).find_map(|w| whole.find_subcommand(w));
    let command = command.unwrap_or(whole);
    if let Some(flag) = long_named(command, &lower) {
        return Some(format!("'{given}' is written --{flag}"));
    }
    let named = |(names, _): &&(&[&str], &str)| {
        names.contains(&dashed.as_str()) || names.contains(&lower.as_str())
    };
    let has_all = |command: &Command, words: &str| {
        flags_in(words).all(|flag| long_named(command, flag).is_some())
    };
    let mut meanings = MEANINGS.iter().filter(named).peekable();
    let first = meanings.peek().map(|(_, words)| *words);
    if let Some((_, words)) = meanings.find(|(_, words)| has_all(command, words)) {
        return Some(format!("'{given}' is {words}"));
    }
    let elsewhere = |has: &dyn Fn(&Command) -> bool| {
        let names = whole.get_subcommands().filter(|command| has(command));
        names.map(|command| format!("linsep {}", command.get_name())).next()
    };
    match first {
        Some(words) => {
            let owner = elsewhere(&|command| has_all(command, words))?;
            Some(format!("'{given}' is {words}, of {owner}"))
        }
        None if similar => None,
        None => {
            let owner = elsewhere(&|command| long_named(command, &lower).is_some())?;
            Some(format!("'{given}' is a flag of {owner}"))
        }
    }
}

/// The long flag of this name or alias.
fn long_named<'a>(command: &'a Command, name: &str) -> Option<&'a str> {
    let is_meant = |argument: &&clap::Arg| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        argument.get_long() == Some(name) || aliases.contains(&name)
    };
    command.get_arguments().find(is_meant).and_then(clap::Arg::get_long)
}

/// The names behind double dashes.
fn flags_in(words: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '-');
    words.split("--").skip(1).map(move |rest| rest.split(ends).next().unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_names_flags_and_commands_that_exist() {
        let mut whole = args::command();
        whole.build();
        for (names, words) in MEANINGS {
            let has_all = |command: &&Command| {
                flags_in(words).all(|flag| long_named(command, flag).is_some())
            };
            assert!(flags_in(words).count() > 0, "{words}");
            assert!(whole.get_subcommands().any(|command| has_all(&command)), "{names:?}: {words}");
        }
        for (names, words) in COMMANDS {
            let name = words.split(' ').next().unwrap_or(words);
            assert!(whole.find_subcommand(name).is_some(), "{words}");
            assert!(names.iter().all(|name| whole.find_subcommand(name).is_none()), "{names:?}");
        }
    }
}
