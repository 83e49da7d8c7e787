//! The flags of `train` for runs that are saved, resumed, repeated or fed by a stream.

use super::train::OUTPUT;
use crate::files::{Output, Resumed};
use clap::{Arg, ArgAction};

/// What says where rows and a start come from, in the order of the help.
pub(super) fn input_flags() -> Vec<Arg> {
    const HEADING: &str = "Input";
    vec![
        value(
            "resume",
            "FILE",
            "Go on with the run of a checkpoint, or of a model: the same run on the same data, else with its planes on new data",
        )
        .value_parser(Resumed::parser())
        .help_heading(HEADING),
        Arg::new("stream")
            .long("stream")
            .action(ArgAction::SetTrue)
            .help("See every row once, in order, in constant memory (cyclic order, no scaling)")
            .help_heading(HEADING),
        value("classes", "A,B,...", "The classes of a stream [default: those of its first part]")
            .requires("stream")
            .help_heading(HEADING),
    ]
}

/// What is saved on the way.
pub(super) fn output_flags() -> Vec<Arg> {
    vec![
        value(
            "checkpoint-every",
            "TIME|Nvisits",
            "Save the run on its way, such as every 30s, 5m or 100000visits",
        )
        .help_heading(OUTPUT),
        value(
            "checkpoint",
            "FILE",
            "Where it is saved [default: the model's name with .checkpoint]",
        )
        .value_parser(Output::parser())
        .help_heading(OUTPUT),
    ]
}

/// Runs that are repeated.
pub(super) fn runs() -> Arg {
    value("runs", "N", "Run N times from other seeds and starts, and say how the models differ")
}

fn value(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help).allow_hyphen_values(true)
}
