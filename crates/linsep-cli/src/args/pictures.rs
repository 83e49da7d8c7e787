//! The grammar of `plot` and `compare`.

use super::{flag, force, path, switch, target};
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use linsep::learn::discriminant::FISHER;
use linsep::loss::Criterion;
use linsep::recipe;

/// The views of `plot`, with what they show.
pub(crate) const VIEWS: [(&str, &str); 12] = [
    (
        "pattern",
        "rows, regions, boundary, normal, margin; many features by distance or discriminant",
    ),
    (
        "weight",
        "two weights, or two and a bias: a half-plane for each row, the cone of solutions, a run",
    ),
    ("criterion", "two weights: level curves of a criterion, gradient, descent"),
    ("curves", "a run of the perceptron against its bounds and against batch learning"),
    (
        "axes",
        "rows on the first two discriminant axes LD1 and LD2 of lda, with the regions of the model",
    ),
    ("histogram", "rows projected on a direction, by class"),
    ("confusion", "true against predicted classes"),
    ("roc", "true against false positive rate over all thresholds, with the area"),
    (
        "precision-recall",
        "precision against recall over all thresholds, with the average precision",
    ),
    ("calibration", "frequency against probability in bins, with intervals"),
    ("neuron", "the model as a neuron with its numbers"),
    ("coefficients", "weights times the deviations of their columns, the largest first"),
];

pub(super) fn plot() -> Command {
    let views: Vec<String> =
        VIEWS.iter().map(|(name, words)| format!("  {name:16} {words}")).collect();
    let learners: Vec<&str> =
        recipe::ALL.iter().map(|recipe| recipe.name).chain(["none"]).collect();
    let heading = "Picture";
    Command::new("plot")
        .about("Draws data, a model or a run as an SVG picture")
        .after_help(format!(
            "Views:\n{}\n\nWithout a model one is trained: by --learner, with its defaults.\n\nExamples:\n  linsep plot flowers.csv flowers.linsep\n  linsep plot flowers.csv --axes width,length --learner lda\n  linsep plot and.csv --view curves -o curves.svg\n  linsep plot flowers.csv --positive setosa --view histogram",
            views.join("\n")
        ))
        .arg(path("data", "DATA", "The data; a model alone will do for --view neuron").required(true))
        .arg(path("model", "MODEL", "The model file to draw"))
        .arg(
            target("output-file", "FILE", "Where to write; - is standard output [default: the data's name with .svg]")
                .short('o')
                .long("output-file"),
        )
        .arg(force())
        .arg(
            flag("view", "VIEW", "What to draw [default: pattern]")
                .value_parser(PossibleValuesParser::new(VIEWS.map(|(name, _)| name)))
                .help_heading(heading),
        )
        .arg(flag("axes", "A,B", "Two features for a section in pattern: names or #N [default: distance or discriminant axes]").help_heading(heading))
        .arg(switch("ambiguous", "Hatch where no binary classifier or several claim a point").help_heading(heading))
        .arg(
            Arg::new("learner")
                .long("learner")
                .value_name("NAME")
                .help(format!(
                    "Who trains where no model is given, or none [default: {}]",
                    recipe::DEFAULT.name
                ))
                .value_parser(PossibleValuesParser::new(learners))
                .help_heading(heading),
        )
        .arg(
            flag("criterion", "J", "The criterion of --view criterion [default: jp]")
                .value_parser(PossibleValuesParser::new(Criterion::WORDS))
                .help_heading(heading),
        )
        .arg(flag("eta", "RATE", "Learning rate of the run in weight and criterion [default: by the view]").visible_alias("lr").help_heading(heading))
        .arg(
            flag("bias", "on|off", "Whether planes of two features have a bias in weight [default: where they need one]")
                .value_parser(PossibleValuesParser::new(["on", "off"]))
                .help_heading(heading),
        )
        .arg(flag("start", "A,B", "Weights at the start of that run [default: by the view]").allow_hyphen_values(true).help_heading(heading))
        .arg(
            flag("order", "ORDER", "Order of the rows in curves [default: cyclic]")
                .value_parser(PossibleValuesParser::new(linsep::learn::perceptron::Order::WORDS))
                .help_heading(heading),
        )
        .arg(flag("updates", "N", "At most N updates of a run [default: by the view]").help_heading(heading))
        .arg(
            flag("direction", "WHICH", "Directions of histogram: means, fisher or both [default: both]")
                .value_parser(PossibleValuesParser::new(["means", FISHER, "both"]))
                .help_heading(heading),
        )
        .arg(flag("bins", "N", "Bins of calibration [default: 10]").help_heading(heading))
        .arg(flag("title", "TEXT", "The words above the picture").allow_hyphen_values(true).help_heading(heading))
        .arg(flag("width", "PIXELS", "Width of the picture, 200 to 8000 [default: 800]").help_heading(heading))
        .args(input::flags())
}

pub(super) fn compare() -> Command {
    Command::new("compare")
        .about("Cross-validates every learner on the same folds, with a paired test against the best")
        .after_help("Examples:\n  linsep compare flowers.csv\n  linsep compare spam.svm --learners perceptron,lda,least-squares --cv 10\n  linsep compare flowers.csv --export-markdown table.md")
        .arg(super::data())
        .arg(flag("learners", "A,B,..", "The learners to compare, by name [default: all]"))
        .arg(flag("cv", "K", "Number of folds, at least 2 [default: 5]"))
        .arg(flag("metric", "NAME", "Rank and test by a metric, as evaluate --metrics names them [default: accuracy]"))
        .arg(flag("knn", "K", "Neighbours of the baseline that votes; 0 leaves it out [default: 5]"))
        .arg(target("export-markdown", "FILE", "Write the table as Markdown too").long("export-markdown"))
        .arg(switch("assumptions", "Say what each learner assumes"))
        .arg(switch("no-time", "Leave times out, so that the output repeats to the byte"))
        .args(input::flags())
}
