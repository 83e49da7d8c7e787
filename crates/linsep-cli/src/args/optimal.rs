//! The flags of `train` about models with a proof of how near the best they are.

use super::train::{LEARNER, OUTPUT};
use super::{flag, path, target};
use clap::Arg;
use clap::builder::PossibleValuesParser;

/// What a learner adds to its model.
pub(super) fn learner_flags() -> Vec<Arg> {
    vec![
        flag("probabilities", "HOW", "Probabilities for svm: none, or platt (a logistic function of scores of rows held out, 5 folds; of K classes one for each, divided by their sum) [default: none]")
            .value_parser(PossibleValuesParser::new(["none", "platt"]))
            .help_heading(LEARNER),
        path("cost-matrix", "FILE", "What errors cost: a table with a line for each true class and a column for each predicted one; the class of least expected cost is predicted")
            .long("cost-matrix")
            .help_heading(LEARNER),
    ]
}

/// What is written beside the model, in the order of the help.
pub(super) fn output_flags() -> Vec<Arg> {
    vec![
        target("flips", "FILE", "Write which predictions no better solution can change (.csv, .tsv or .ndjson), with a smaller gap if that takes one; logistic and svm")
            .long("flips")
            .help_heading(OUTPUT),
        target("support", "FILE", "Write the support rows with their multipliers (.csv, .tsv or .ndjson); svm, hard-margin")
            .long("support")
            .help_heading(OUTPUT),
    ]
}
