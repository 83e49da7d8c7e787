//! The grammar of the command line. Learners' flags come from the registry.

pub(crate) mod certified;
mod infer;
mod online;
mod optimal;
pub(crate) mod pictures;
mod teaching;
pub(crate) mod trace;
mod train;

pub(crate) use train::{learner_help, learner_parameters, learners};

use crate::files::Output;
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, value_parser};
use linsep::data::generate::Kind;
use linsep::data::write::Packing;
use linsep::export::Target;
use std::path::PathBuf;

/// What the bare program prints.
pub(crate) const FIRST_SCREEN: &str = "\
linsep: linear classification with proof

  linsep inspect flowers.csv               what is in the file, and what is wrong with it
  linsep separable flowers.csv             can planes separate the classes? with a proof either way
  linsep train flowers.csv                 learn a model, write flowers.linsep
  linsep evaluate flowers.linsep new.csv   errors, confusion, precision and recall
  linsep predict flowers.linsep new.csv    one prediction for each row
  linsep show flowers.linsep               the weights by name

CSV, TSV, svmlight, Parquet and Arrow, plain, gzip or zstd, files, folders or - for standard input.
linsep help explains a COMMAND, the learners, one learner (svm) or an error code (E0104).
";

/// The words for formats to write.
pub(crate) const FORMATS: [&str; 5] = ["csv", "tsv", "svmlight", "parquet", "arrow"];

/// The whole grammar.
pub(crate) fn command() -> Command {
    Command::new("linsep")
        .about("Linear classification with proof")
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .args(global_flags())
        .subcommand(separable())
        .subcommand(forced())
        .subcommand(train::command())
        .subcommand(predict())
        .subcommand(evaluate())
        .subcommand(show())
        .subcommand(infer::command())
        .subcommands(teaching::commands())
        .subcommand(pictures::plot())
        .subcommand(pictures::compare())
        .subcommand(inspect())
        .subcommand(verify())
        .subcommand(certified::command())
        .subcommand(convert())
        .subcommand(export())
        .subcommand(generate())
        .subcommand(trace::replay())
        .subcommands(lab())
        .subcommand(
            Command::new("help")
                .about("Explains a command, a learner or an error code; help learners lists those")
                .arg(Arg::new("topic").value_name("COMMAND|LEARNER|CODE")),
        )
        .subcommand(
            Command::new("completions").about("Prints shell completions").arg(
                Arg::new("shell")
                    .required(true)
                    .value_name("SHELL")
                    .value_parser(value_parser!(clap_complete::Shell)),
            ),
        )
        .subcommand(
            Command::new("man")
                .about("Prints the manual page of linsep or of one command")
                .arg(Arg::new("topic").value_name("COMMAND")),
        )
}

/// The version, and with `--verbose` what it was built for.
pub(crate) fn version(verbose: bool) -> String {
    let mut text = format!("linsep {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        let packings = Packing::ALL.iter().filter(|p| **p != Packing::Plain && p.is_there());
        let packed: String = packings.map(|packing| format!(" {}", packing.name())).collect();
        let simd = if cfg!(target_arch = "x86_64") && has_avx2() { "avx2" } else { "baseline" };
        text.push_str(&format!(
            "target {}-{}\nsimd {simd}\nformats csv tsv svmlight{packed}\n",
            std::env::consts::ARCH,
            std::env::consts::OS,
        ));
    }
    text
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

fn flag(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help).allow_negative_numbers(true)
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).help(help).value_parser(value_parser!(PathBuf))
}

/// A file to write. Its type is what keeps it from being an input as well.
fn target(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).help(help).value_parser(Output::parser())
}

/// What lets a command write over a file that is something else.
fn force() -> Arg {
    switch("force", "Write over a file that is something else than what is written")
}

fn data() -> Arg {
    path("data", "DATA", "Files, folders of parts, globs, or - for standard input")
        .num_args(1..)
        .required(true)
}

fn output() -> Arg {
    target("output-file", "FILE", "Where to write; - is standard output")
        .short('o')
        .long("output-file")
}

fn global_flags() -> Vec<Arg> {
    let global = |arg: Arg| arg.global(true).help_heading("Global");
    vec![
        global(switch("json", "One JSON object on stdout; predict writes one for each row")),
        global(switch("plain", "Tab-separated lines instead of aligned ones")),
        global(switch("quiet", "No notes on stderr").short('q')),
        global(switch("verbose", "More notes on stderr").short('v')),
        global(
            flag("color", "WHEN", "Colours in messages [default: auto]")
                .value_parser(PossibleValuesParser::new(["auto", "always", "never"])),
        ),
        global(
            flag("progress", "HOW", "Progress on stderr [default: auto]")
                .value_parser(PossibleValuesParser::new(["auto", "never", "json"])),
        ),
        global(flag("threads", "N", "Threads; never changes a bit of a result [default: all]")),
        global(flag(
            "max-memory",
            "SIZE",
            "Most memory to use, such as 4GiB [default: the machine's]",
        )),
        global(flag("time-limit", "TIME", "Stop after this time, such as 60s or 2m")),
        global(flag("seed", "N", "Seed of everything random [default: 0]")),
        global(
            flag("config", "FILE", "TOML file with defaults for flags")
                .value_parser(value_parser!(PathBuf)),
        ),
        switch("version", "Prints the version").short('V').help_heading("Global"),
    ]
}

fn predict() -> Command {
    Command::new("predict")
        .about("Predicts the class of each row, in order and in constant memory")
        .after_help("Examples:\n  linsep predict flowers.linsep new.csv\n  cat new.csv | linsep predict flowers.linsep - --output scores --keep-columns")
        .arg(path("model", "MODEL", "The model file").required(true))
        .arg(data())
        .arg(output())
        .arg(
            flag("output", "WHAT", "What to write: label; with it scores, proba (probabilities), axes (discriminant axes LD1, LD2, .. of lda) or all (scores and probabilities) [default: label]")
                .value_parser(PossibleValuesParser::new(["label", "scores", "proba", "axes", "all"])),
        )
        .arg(
            flag("abstain", "margin=X", "Write ? where no binary classifier or several claim a row, or the highest score is tied; with margin=X also where the row is closer than X to the boundary of its class")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("ambiguous"),
        )
        .arg(
            flag("incomplete", "WORD", "Rows with missing values, of a model that was trained without such rows: write ? for them, or refuse them [default: open]")
                .value_parser(PossibleValuesParser::new(["open", "error"])),
        )
        .arg(switch("keep-columns", "The input columns first (tables only)"))
        .arg(switch("ndjson", "One JSON object for each row instead of CSV"))
        .args(input::flags_for_model())
}

fn evaluate() -> Command {
    Command::new("evaluate")
        .visible_aliases(["test", "score"])
        .about("Compares predictions with the labels of the data")
        .after_help("Examples:\n  linsep evaluate flowers.linsep test.csv\n  linsep evaluate spam.linsep test.svm --fail-under balanced-accuracy=0.95\n  linsep evaluate flowers.linsep test.csv --metrics all --intervals")
        .arg(path("model", "MODEL", "The model file").required(true))
        .arg(data())
        .arg(flag("metrics", "LIST", "Metrics with commas, or all: accuracy, balanced-accuracy, mcc, kappa, precision, recall, f1 (each also with -macro or -weighted), auc, average-precision (also with -weighted), log-loss, brier, calibration-error, top-2 and so on"))
        .arg(switch("intervals", "95 % intervals for --metrics: exact or standard ones, else by a seeded bootstrap"))
        .arg(flag("draws", "N", "Draws of the bootstrap [default: 1000]"))
        .arg(flag("bins", "N", "Probabilities against frequencies in N bins"))
        .arg(path("cost-matrix", "FILE", "What errors cost: a table with a line for each true class and a column for each predicted one; prints the mean cost").long("cost-matrix"))
        .arg(flag("fail-under", "METRIC=X", "Exit 1 if a metric is worse than X: below it, or above it for log-loss, brier and calibration-error; may be repeated").action(ArgAction::Append))
        .args(input::flags_for_counting())
}

fn show() -> Command {
    Command::new("show")
        .about("Prints a model: classes, rule, weights by name")
        .arg(path("model", "MODEL", "The model file").required(true))
        .arg(flag("top", "N", "At most N weights of each plane, the largest first [default: 20]"))
        .arg(switch("pairs", "The boundary of each pair of classes instead of the planes"))
        .arg(switch("axes", "Discriminant axes LD1, LD2, .. of lda instead of the planes, with proportions of trace").conflicts_with("pairs"))
}

fn inspect() -> Command {
    Command::new("inspect")
        .about("Prints what is in the data: columns, classes, encoding, problems")
        .after_help("Example:\n  linsep inspect flowers.csv")
        .arg(data())
        .args(input::flags())
}

fn separable() -> Command {
    Command::new("separable")
        .about("Decides whether planes separate the classes, with a proof either way")
        .after_help("Exit code: 0 separable, 1 proved not separable, 5 undecided.\n\nExamples:\n  linsep separable flowers.csv\n  linsep separable flowers.csv --pair versicolor,virginica --cert proof.json\n  linsep separable flowers.csv --pair setosa,virginica --margin")
        .arg(data())
        .arg(flag("pair", "A,B", "One class against another").allow_hyphen_values(true).conflicts_with_all(["class", "joint"]))
        // Not the input flag of this name: that one merges classes, this one asks a question.
        .arg(Arg::new("class").long("positive").value_name("CLASS").help("One class against all others").allow_hyphen_values(true).conflicts_with("joint"))
        .arg(switch("joint", "All classes at once: one plane each, the highest score wins"))
        .arg(switch("kind", "Tell quasi-separable (touching) from overlapping, however many columns [default: up to 500]"))
        .arg(
            flag("bias", "on|off", "Whether planes have a bias [default: on]")
                .value_parser(PossibleValuesParser::new(["on", "off"])),
        )
        .arg(
            flag("by", "HOW", "How to decide: search, or cycling (the integer perceptron in file order until it ends or comes back) [default: search]")
                .value_parser(PossibleValuesParser::new(["search", "cycling"])),
        )
        .arg(flag("epochs", "N", "At most N passes with --by cycling [default: 1000000]").visible_alias("max-iter"))
        .arg(switch("margin", "The largest margins exactly, and the updates that they allow the perceptron"))
        .arg(flag("constant", "C", "Rows are (C, x) for --margin: the larger, the cheaper a bias [default: 1]").requires("margin"))
        .arg(target("cert", "FILE", "Where to write the certificate").long("cert"))
        .arg(force())
        .arg(flag("without", "ROWS", "What if these rows were not there, such as 3,7-9, counted from 0"))
        .arg(flag("relabel", "ROW=CLASS", "What if this row were of this class; may be repeated").action(ArgAction::Append))
        .arg(switch("removal", "Rows without which a plane separates the others, none of which can stay"))
        .arg(switch("coefficients", "Say which coefficients of the maximum-likelihood fit are finite, however large the data [default: up to 2 million values]"))
        .arg(switch("witness", "List the rows that prove it, for every question, and where the hulls of the classes meet"))
        .args(input::flags().into_iter().filter(|flag| flag.get_id() != "positive"))
        .args(input::basis_flags())
}

fn forced() -> Command {
    Command::new("forced")
        .about("Asks whether all planes that separate two classes agree on new points, with a proof either way")
        .after_help("Exit code: 0 answered, 1 proved not separable, 5 undecided.\n\nExamples:\n  linsep forced flowers.csv --pair setosa,virginica --row 5.1,3.5,1.4,0.2\n  linsep forced flowers.csv --positive setosa --points new.csv --cert proof.json")
        .arg(data())
        .arg(flag("row", "VALUES", "A point: one number for each feature, with commas; may be repeated").allow_hyphen_values(true).action(ArgAction::Append))
        .arg(path("points", "FILE", "A file of points with the columns of the data; labels are not needed").long("points"))
        .arg(flag("pair", "A,B", "One class against another").allow_hyphen_values(true).conflicts_with("class"))
        .arg(Arg::new("class").long("positive").value_name("CLASS").help("One class against all others").allow_hyphen_values(true))
        .arg(
            flag("bias", "on|off", "Whether planes have a bias [default: on]")
                .value_parser(PossibleValuesParser::new(["on", "off"])),
        )
        .arg(target("cert", "FILE", "Where to write the certificate").long("cert"))
        .arg(force())
        .args(input::flags().into_iter().filter(|flag| flag.get_id() != "positive"))
}

fn verify() -> Command {
    Command::new("verify")
        .about("Checks every claim of a certificate or a model against the data, in exact arithmetic")
        .after_help("Examples:\n  linsep verify flowers.json flowers.csv\n  linsep verify flowers.linsep flowers.csv")
        .arg(path("certificate", "CERT|MODEL", "The certificate or model file").required(true))
        .arg(data())
        .args(input::flags())
}

fn convert() -> Command {
    Command::new("convert")
        .about("Writes data in another format; values, labels and order are kept or it refuses. A model is written in the newest version of its format")
        .after_help("Examples:\n  linsep convert flowers.csv flowers.svm\n  linsep convert parts/ all.csv.zst\n  linsep convert flowers.csv flowers.parquet\n  linsep convert old.linsep new.linsep")
        .arg(path("data", "DATA|MODEL", "What to read").required(true))
        .arg(target("to", "OUT", "What to write; the name gives format and compression").required(true))
        .arg(
            flag("to-format", "FORMAT", "Format to write [default: by the name]")
                .value_parser(PossibleValuesParser::new(FORMATS)),
        )
        .arg(switch("dry-run", "Read and check, write nothing"))
        .arg(force().help("Write a model over a file that is none"))
        .args(input::flags())
}

/// `linsep lab`, if it was built in.
#[cfg(feature = "lab")]
fn lab() -> Option<Command> {
    let files = Arg::new("data")
        .value_name("DATA|MODEL|TRACE")
        .num_args(0..)
        .value_parser(value_parser!(PathBuf))
        .help("Your own rows; a model or a trace together with its data opens its run");
    let command = Command::new("lab")
        .about("Opens a page that shows learning in pattern space and weight space")
        .after_help("The page is served on loopback only, to whoever has the printed address.\n\nExamples:\n  linsep lab\n  linsep lab flowers.csv\n  linsep lab --lesson cone --no-open")
        .arg(files)
        .arg(flag("port", "PORT", "Port to listen on; 0 for any free one [default: 0]"))
        .arg(switch("no-open", "Print the address and open no browser"))
        .arg(flag("lesson", "NAME", "Begin with a lesson, such as cone or xor"))
        .args(input::flags());
    Some(command)
}

#[cfg(not(feature = "lab"))]
fn lab() -> Option<Command> {
    None
}

fn export() -> Command {
    Command::new("export")
        .about("Writes a model for other programs: ONNX, C, JSON, LIBLINEAR; it predicts the same or is refused")
        .after_help("Targets:\n  onnx       float64 operators with the scores of linsep to the last bit\n  onnx-f32   the operator LinearClassifier in float32; needs --check with the training data\n  c          one file of C99 without dependencies, the same bits\n  json       every part of the model; linsep reads it\n  liblinear  the text file of LIBLINEAR, for classes that are whole numbers\n\nExamples:\n  linsep export flowers.linsep --to onnx --check flowers.csv\n  linsep export flowers.linsep --to c -o flowers.c")
        .arg(path("model", "MODEL", "The model file").required(true))
        .arg(
            flag("target", "TARGET", "What to write")
                .long("to")
                .required(true)
                .value_parser(PossibleValuesParser::new(Target::WORDS)),
        )
        .arg(
            path("data", "DATA", "Read the file back and predict these rows: refuse if one gets another class than the model gives it")
                .long("check")
                .num_args(1..),
        )
        .arg(
            target("output-file", "FILE", "Where to write; - is standard output [default: the model's name with .onnx, .c, .json or .model]")
                .short('o')
                .long("output-file"),
        )
        .arg(target("cert", "FILE", "Where to write what is proved of the planes in float32 (onnx-f32)").long("cert"))
        .arg(force())
        .args(input::flags_for_model())
}

fn generate() -> Command {
    let kinds: Vec<String> =
        Kind::ALL.iter().map(|kind| format!("  {:10} {}", kind.name(), kind.summary())).collect();
    let names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    Command::new("generate")
        .about("Writes synthetic data, row by row in constant memory")
        .after_help(format!(
            "Kinds:\n{}\n\nExamples:\n  linsep generate blobs -n 1000 --margin 0.2\n  linsep generate xor\n  linsep generate zipf --rows 500000 --features 1000000 -o big.svm.zst",
            kinds.join("\n")
        ))
        .arg(
            Arg::new("kind")
                .value_name("KIND")
                .required(true)
                .value_parser(PossibleValuesParser::new(names)),
        )
        .arg(output())
        .arg(flag("rows", "N", "Rows").short('n'))
        .arg(flag("features", "N", "Features (inputs of a gate)"))
        .arg(flag("classes", "K", "Classes (blobs)"))
        .arg(flag("margin", "M", "Gap between the classes (blobs)"))
        .arg(flag("noise", "SHARE", "Share of rows with a wrong label [default: 0]"))
        .arg(flag("nonzeros", "N", "Non-zero values in a row, about (zipf)"))
        .arg(
            flag("format", "FORMAT", "Format to write [default: by the name, else csv; zipf svmlight]")
                .value_parser(PossibleValuesParser::new(FORMATS)),
        )
        .arg(switch("dry-run", "Check the settings, write nothing"))
}

#[cfg(test)]
#[path = "../tests/common/writers.rs"]
#[allow(dead_code)]
mod writers;

#[cfg(test)]
mod tests {
    use super::writers::WRITERS;
    use crate::files::{OnBadRows, Output};
    use std::any::TypeId;
    use std::collections::BTreeSet;

    /// So nobody can add a file to write without letting its disk fail.
    #[test]
    fn every_file_to_write_is_tried_with_failing_disks() {
        let grammar = super::command();
        let mut written = BTreeSet::new();
        for command in grammar.get_subcommands() {
            for argument in command.get_arguments() {
                let kind = argument.get_value_parser().type_id();
                if kind == TypeId::of::<Output>() || kind == TypeId::of::<OnBadRows>() {
                    written.insert((command.get_name(), argument.get_id().as_str()));
                }
            }
        }
        let tried: BTreeSet<(&str, &str)> = WRITERS
            .iter()
            .flat_map(|writer| writer.arguments.iter().map(|name| (writer.command(), *name)))
            .collect();
        assert!(written.len() > 15, "{written:?}");
        assert_eq!(written, tried);
    }
}
