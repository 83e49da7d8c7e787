//! The grammar of traces, of their replay and of the algorithm boxes.

use super::train::{LEARNER, OUTPUT};
use super::{data, flag, force, path, switch, target};
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use linsep_teach::boxes;

/// What `train` has for boxes.
pub(super) fn box_flags() -> Vec<Arg> {
    let names: Vec<&str> = boxes::ALL.iter().map(|one| one.name).collect();
    vec![
        flag(
            "box",
            "NAME",
            "An algorithm box of the lectures: fixes learner, ties, order, start, rate and end",
        )
        .value_parser(PossibleValuesParser::new(names))
        .help_heading(LEARNER),
        switch("literal", "The box as it is printed, with its errors (001 and 003)")
            .requires("box")
            .help_heading(LEARNER),
    ]
}

/// What `train` has for traces.
pub(super) fn train_flags() -> Vec<Arg> {
    vec![
        target("trace", "FILE", "Write one line for every update; linsep replay reads it")
            .long("trace")
            .help_heading(OUTPUT),
        flag("trace-criteria", "LIST", "Criteria over all rows in every line: jn, jd, jp, mse, hinge, squared-hinge, logistic")
            .requires("trace")
            .help_heading(OUTPUT),
        flag("trace-margin", "WHEN", "Find the largest margin first, for the lower curve of the bound: on small data, always, or never [default: auto]")
            .value_parser(PossibleValuesParser::new(["auto", "on", "off"]))
            .requires("trace")
            .help_heading(OUTPUT),
    ]
}

/// `linsep replay`.
pub(crate) fn replay() -> Command {
    // The trace says which columns the run used; rows are chosen as they were then.
    const INPUT: [&str; 11] = [
        "format",
        "label",
        "no-header",
        "header",
        "delimiter",
        "index-base",
        "limit",
        "allow-lossy",
        "missing",
        "bad-rows",
        "allow-bad",
    ];
    let wanted = |flag: &Arg| INPUT.contains(&flag.get_id().as_str());
    Command::new("replay")
        .about("Rebuilds every weight vector of a traced run from its rows, and checks the trace")
        .after_help("Examples:\n  linsep train gates.csv --box 002 --trace t.ndjson\n  linsep replay t.ndjson gates.csv --from 5 --to 10 --broken\n  linsep replay t.ndjson gates.csv --at 7 -o after7.linsep")
        .arg(path("trace", "TRACE", "The trace that train --trace wrote").required(true))
        .arg(data())
        .arg(flag("at", "K", "Stop after update K; 0 is the start [default: the last]"))
        .arg(flag("from", "K", "Show updates from K on"))
        .arg(flag("to", "K", "Show updates up to K [default: 20 of them]"))
        .arg(switch("check", "Check angles, bounds and criteria too, and show no updates"))
        .arg(switch("broken", "List the rows that each shown update made wrong"))
        .arg(target("output-file", "MODEL", "Where to write the model at that point").short('o').long("output-file"))
        .arg(force())
        .args(input::flags().into_iter().filter(wanted))
}
