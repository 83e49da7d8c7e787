//! The grammar of `linsep infer`.

use super::{data, flag, force, switch, target};
use crate::input;
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Command};
use linsep::infer::{InterceptCorrection, StandardErrors, WeightsAs};

/// `linsep infer`.
pub(super) fn command() -> Command {
    Command::new("infer")
        .about("Fits a logistic regression without a ridge and judges its coefficients: errors, tests, intervals")
        .after_help("Of two classes the odds are those of the positive one, of more those of each class against the first.\nThe first level of a text column is left out, as in R; --reference chooses another one, --categorical says otherwise.\nWhere no fit exists, infinite coefficients have the one finite end of their interval; --penalty firth has finite estimates.\n\nExit code: 0 answered, also where coefficients are infinite.\n\nExamples:\n  linsep infer trial.csv --label cured\n  linsep infer trial.csv --label cured --penalty firth\n  linsep infer beetles.csv --success died --failure survived\n  linsep infer trial.csv --label cured --terms 'age * sex + poly(dose, 2)' --reference sex=male\n  linsep infer survey.csv --label vote --reference none --se robust --json")
        .arg(data())
        .arg(
            flag("penalty", "P", "none: maximum likelihood; firth: with Jeffreys' prior, always finite [default: none]")
                .value_parser(PossibleValuesParser::new(["none", "firth"])),
        )
        .arg(
            flag("correction", "WORD", "The intercept of firth: flic has the mean of the data, flac adds data [default: none]")
                .value_parser(PossibleValuesParser::new(InterceptCorrection::WORDS)),
        )
        .arg(
            flag("se", "WORD", "Standard errors from the expected information or the sandwich [default: expected]")
                .value_parser(PossibleValuesParser::new(StandardErrors::WORDS)),
        )
        .arg(flag("confidence", "SHARE", "How sure intervals are [default: 0.95]").visible_alias("level"))
        .arg(switch("wald", "Wald intervals alone: no profiles and no likelihood-ratio tests of coefficients"))
        .arg(
            flag("weights-as", "WORD", "What --weight holds: how many rows each stands for, or relative precisions [default: frequency]")
                .value_parser(PossibleValuesParser::new(WeightsAs::WORDS)),
        )
        .arg(flag("offset", "COLUMN", "Column that is added to the log-odds with the coefficient 1"))
        .arg(flag("success", "COLUMN", "Grouped data: column with the number of successes").requires("failure").conflicts_with_all(["label", "positive", "weight"]))
        .arg(flag("failure", "COLUMN", "Grouped data: column with the number of failures").requires("success"))
        .arg(flag("reference", "CLASS|COLUMN=LEVEL", "Of more than two classes the one that the others are compared with, of a text column its level; may be repeated [default: the first]").action(ArgAction::Append))
        .arg(
            flag("intercept", "WORD", "Whether there is an intercept: free or none [default: free]")
                .value_parser(PossibleValuesParser::new(["free", "none"])),
        )
        .arg(target("residuals", "FILE", "Deviance and Pearson residuals, leverage and Cook's distance of each row: .csv, .tsv or .ndjson").long("residuals"))
        .arg(target("picture", "FILE", "Draw the coefficients with their intervals as SVG").long("picture"))
        .arg(target("cert", "FILE", "Where to write the certificate of Firth's fit: the modified score is next to 0").long("cert"))
        .arg(force())
        .args(input::flags().into_iter().filter(|flag| flag.get_id() != "reference"))
        .args(input::basis_flags())
}
