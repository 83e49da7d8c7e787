//! The flags of `train` about models with a proof of how near the best they are.

use super::path;
use clap::Arg;

/// The flags in the order of the help.
pub(super) fn train_flags() -> Vec<Arg> {
    const HEADING: &str = "Proof";
    vec![
        path("flips", "FILE", "Write which predictions no better solution can change (.csv, .tsv or .ndjson), with a smaller gap if that takes one; logistic and svm")
            .long("flips")
            .help_heading(HEADING),
    ]
}
