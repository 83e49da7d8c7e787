//! The grammar of `linsep certify`.

use super::{data, flag, force, path, target};
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use linsep::recipe::{self, Ability, Parameter};

/// What says which objective a model is compared on; the same as for `train`.
pub(crate) fn parameters() -> Vec<&'static Parameter> {
    let mut parameters: Vec<&'static Parameter> = Vec::new();
    let optimisers = recipe::ALL.iter().filter(|recipe| recipe.has(Ability::Certify));
    for parameter in optimisers.flat_map(|recipe| recipe.parameters) {
        let known = parameters.iter().any(|known| known.name == parameter.name);
        if !known && parameter.name != "multiclass" {
            parameters.push(parameter);
        }
    }
    parameters
}

/// `linsep certify`.
pub(super) fn command() -> Command {
    let names = Ability::Certify.learners();
    let flags = parameters().into_iter().map(|parameter| {
        let default = match parameter.name {
            "gap" => "1e-6",
            "intercept" | "loss" | "penalty" => "as the file says, else that of train",
            _ => parameter.default,
        };
        let arg = Arg::new(parameter.name)
            .long(parameter.name)
            .value_name(parameter.value)
            .help(format!("{} [default: {default}]", parameter.help))
            .allow_negative_numbers(true)
            .help_heading("Objective");
        match parameter.words.is_empty() {
            true => arg,
            false => arg.value_parser(PossibleValuesParser::new(parameter.words)),
        }
    });
    Command::new("certify")
        .about("Proves how near the best a model of another program is")
        .after_help("FOREIGN is a model file of LIBLINEAR, or a JSON of weights:\n  {\"weights\": [0.5, -1], \"bias\": 0.25, \"classes\": [\"no\", \"yes\"]}\nwith the class of positive scores last; of K classes weights and bias are lists with an entry for each class (one versus rest, unless --multiclass says otherwise).\n\nExit code: 0 proved, 4 the file cannot be used, 5 nothing could be proved.\n\nExamples:\n  linsep certify a9a.model a9a.svm --c 1\n  linsep certify weights.json flowers.csv --learner svm --loss hinge --cert proof.json")
        .arg(path("foreign", "FOREIGN", "The model: LIBLINEAR's file, or JSON").required(true))
        .arg(data())
        .arg(
            flag("learner", "NAME", "What it makes small [default: as the file says]")
                .value_parser(PossibleValuesParser::new(names))
                .help_heading("Objective"),
        )
        .args(flags)
        .arg(
            flag("multiclass", "SCHEME", "K classes: a binary classifier for each (ovr), or one loss for all: crammer-singer of svm, softmax of logistic [default: as the file says, else ovr]")
                .value_parser(PossibleValuesParser::new(["ovr", "crammer-singer", "softmax"]))
                .help_heading("Objective"),
        )
        .arg(flag("epochs", "N", "At most N passes over the data [default: 1000]").visible_alias("max-iter"))
        .arg(target("cert", "FILE", "Where to write the certificate").long("cert"))
        .arg(force())
        .args(input::flags())
}
