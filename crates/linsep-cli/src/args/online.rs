//! The flags of `train` for runs that are saved, resumed, repeated or fed by a stream.

use crate::files::{Output, Resumed};
use clap::{Arg, ArgAction};

/// The flags in the order of the help.
pub(super) fn flags() -> Vec<Arg> {
    const HEADING: &str = "Online use";
    let value = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name(value)
            .help(help)
            .help_heading(HEADING)
            .allow_hyphen_values(true)
    };
    vec![
        value(
            "checkpoint-every",
            "TIME|Nvisits",
            "Save the run on its way, such as every 30s, 5m or 100000visits",
        ),
        value(
            "checkpoint",
            "FILE",
            "Where it is saved [default: the model's name with .checkpoint]",
        )
        .value_parser(Output::parser()),
        value(
            "resume",
            "FILE",
            "Go on with the run of a checkpoint, or of a model: the same run on the same data, else with its planes on new data",
        )
        .value_parser(Resumed::parser()),
        Arg::new("stream")
            .long("stream")
            .action(ArgAction::SetTrue)
            .help("See every row once, in order, in constant memory (cyclic order, no scaling)")
            .help_heading(HEADING),
        value("classes", "A,B,...", "The classes of a stream [default: those of its first part]")
            .requires("stream"),
        value(
            "runs",
            "N",
            "Run N times from other seeds and starts, and say how the models differ",
        ),
    ]
}
