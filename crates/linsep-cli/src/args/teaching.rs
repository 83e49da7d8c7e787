//! The grammar of the commands that show how things work: gate, geometry, explain, criterion, sample.

use super::{data, flag, force, output, path, switch, target};
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use linsep_teach::neuron::{Gate, MOST_INPUTS};

/// The commands, in the order in which they are listed.
pub(super) fn commands() -> [Command; 5] {
    [geometry(), explain(), criterion(), sample(), gate()]
}

fn model() -> Arg {
    path("model", "MODEL", "The model file").required(true)
}

fn gate() -> Command {
    let gates: Vec<String> =
        Gate::LIST.iter().map(|(name, words)| format!("  {name:10} {words}")).collect();
    Command::new("gate")
        .about("Shows a logic gate as a table, as neurons and as a plane, or proves that no neuron computes it")
        .after_help(format!(
            "Gates:\n{}\n\nExit code: 0 a neuron with weights computes it, 1 proved that none does.\n\nExamples:\n  linsep gate and --inputs 3\n  linsep gate xor --cert xor.json --table xor.csv && linsep verify xor.json xor.csv",
            gates.join("\n")
        ))
        .arg(Arg::new("gate").value_name("NAME").required(true).help("The gate"))
        .arg(flag("inputs", "N", "Inputs of the gate [default: 2, not 1, majority 3, at-least:K K + 1]").long_help(
            format!("Inputs of the gate, 1 to {MOST_INPUTS} [default: 2, not 1, majority 3, at-least:K K + 1]"),
        ))
        .arg(target("table", "FILE", "Where to write the truth table as data").long("table"))
        .arg(target("cert", "FILE", "Where to write the certificate, of the plane or of the refusal").long("cert"))
        .arg(force())
}

fn geometry() -> Command {
    Command::new("geometry")
        .about("Prints the geometry of a model's planes, and of data around them")
        .after_help("Examples:\n  linsep geometry flowers.linsep\n  linsep geometry flowers.linsep flowers.csv --closest 3 --distances distances.csv")
        .arg(model())
        .arg(data().required(false))
        .arg(flag("class", "CLASS", "Only the plane of this class, against all others").allow_hyphen_values(true))
        .arg(flag("closest", "N", "Rows to list on each side, the closest first [default: 1]"))
        .arg(target("distances", "FILE", "Where to write the distance of every row").long("distances"))
        .arg(target("reflected", "FILE", "Where to write every row as z(1, x), z = +1 or -1, so that all belong on one side").long("reflected"))
        .args(input::flags_for_model())
}

fn explain() -> Command {
    Command::new("explain")
        .about("Takes one prediction apart: contributions, distance, the smallest changes that flip it")
        .after_help("Examples:\n  linsep explain flowers.linsep flowers.csv --line 72\n  linsep explain flowers.linsep flowers.csv --row 70 --why-not virginica")
        .arg(model())
        .arg(data())
        .arg(flag("row", "N", "The row, counted from 0 over all data rows as in certificates").conflicts_with("line"))
        .arg(flag("line", "N", "The line of the file, counted from 1, where the row begins"))
        .arg(flag("why-not", "CLASS", "Compare with this class instead of the closest one").allow_hyphen_values(true))
        .arg(flag("top", "N", "At most N entries of each list [default: 20]"))
        .args(input::flags_for_model())
}

fn criterion() -> Command {
    Command::new("criterion")
        .about("Prints every criterion of the lectures at a model's planes, with the length of its gradient")
        .after_help("Example:\n  linsep criterion flowers.linsep flowers.csv")
        .arg(model())
        .arg(data())
        .args(input::flags_for_model())
}

fn sample() -> Command {
    Command::new("sample")
        .about("Draws labelled rows from the density of a generative model: lda or naive Bayes")
        .after_help("Examples:\n  linsep train flowers.csv --learner lda\n  linsep sample flowers.linsep -n 1000 -o more.csv")
        .arg(model())
        .arg(flag("rows", "N", "Rows to draw [default: 100]").short('n'))
        .arg(flag("length", "L", "Counts in a row of a multinomial-nb model [default: the mean of its class]"))
        .arg(output())
        .arg(
            flag("format", "FORMAT", "Format to write [default: by the name, else csv]")
                .value_parser(PossibleValuesParser::new(super::FORMATS)),
        )
        .arg(switch("dry-run", "Check the model, write nothing"))
}
