//! Parameters as flags. The library names a parameter in backticks, `` `label` ``, and one with a
//! value `` `multiclass=ovo` ``: it does not know that there is a command line. Everything that the
//! program prints in the library's words goes through [`spelled`].

use crate::args;
use clap::Command;
use linsep::Datum;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The text with `--label` for `` `label` `` and `--multiclass ovo` for `` `multiclass=ovo` ``.
///
/// Only words that are flags of some command are spelled so. Other text in backticks stays, and so
/// does what stands in double quotes: there messages repeat names and values of the user's files.
pub(crate) fn spelled(text: &str) -> String {
    spell(text, |_| true)
}

/// The same for parameters with a value only: what is wrong with a file is said in the words of its
/// parser, whose backticks mark fields of that file.
pub(crate) fn spelled_with_values(text: &str) -> String {
    spell(text, |word| word.contains('='))
}

fn spell(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find(['`', '"']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let Some(length) = from[1..].find(&from[..1]) else {
            rest = from;
            break;
        };
        let (whole, after) = from.split_at(length + 2);
        let word = &whole[1..=length];
        match flag(word).filter(|_| whole.starts_with('`') && wanted(word)) {
            Some(flag) => out.push_str(&flag),
            None => out.push_str(whole),
        }
        rest = after;
    }
    out + rest
}

/// A finding of a learner as JSON, its texts spelled.
pub(crate) fn json_of(data: &Datum) -> Value {
    match data {
        Datum::Count(count) => (*count).into(),
        Datum::Number(number) => (*number).into(),
        Datum::Text(text) => spelled(text).into(),
        Datum::Names(names) => names.clone().into(),
        Datum::Fields(fields) => {
            let fields = fields.iter().map(|(name, data)| ((*name).to_owned(), json_of(data)));
            Value::Object(fields.collect())
        }
        _ => Value::Null,
    }
}

/// `label` or `label=value` as a flag, if it is one.
fn flag(word: &str) -> Option<String> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    let is_flag = flags().contains(name);
    is_flag.then(|| value.map_or(format!("--{name}"), |value| format!("--{name} {value}")))
}

/// The long flags of all commands.
fn flags() -> &'static BTreeSet<String> {
    static FLAGS: OnceLock<BTreeSet<String>> = OnceLock::new();
    FLAGS.get_or_init(|| {
        let mut names = BTreeSet::new();
        collect(&args::command(), &mut names);
        names
    })
}

fn collect(command: &Command, names: &mut BTreeSet<String>) {
    names.extend(command.get_arguments().filter_map(|arg| arg.get_long()).map(str::to_owned));
    command.get_subcommands().for_each(|sub| collect(sub, names));
}

/// An argument as a shell takes it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_.-/+:=@%,#".contains(&b);
    match !text.is_empty() && !text.starts_with('#') && text.bytes().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep::{Code, recipe};
    use serde_json::json;

    #[test]
    fn parameters_are_spelled_as_flags_and_other_words_are_left() {
        for (text, printed) in [
            ("use `label`", "use --label"),
            ("`multiclass=ovo` only", "--multiclass ovo only"),
            ("`bad-rows=rejects=FILE`", "--bad-rows rejects=FILE"),
            ("`bad-rows=skip` `allow-bad=N`, or", "--bad-rows skip --allow-bad N, or"),
            ("`c=0.5`: no", "--c 0.5: no"),
            ("`nothing` and `x=1` and ``", "`nothing` and `x=1` and ``"),
            ("one ` alone, `label", "one ` alone, `label"),
            ("column \"`label`\", see `label`", "column \"`label`\", see --label"),
            ("5\" and `label`", "5\" and `label`"),
            ("ü`label`ü", "ü--labelü"),
            ("", ""),
        ] {
            assert_eq!(spelled(text), printed, "{text}");
        }
    }

    #[test]
    fn fields_that_a_parser_names_are_no_flags() {
        let text = "missing field `classes`; give `loss=hinge`";
        assert_eq!(spelled_with_values(text), "missing field `classes`; give --loss hinge");
    }

    #[test]
    fn findings_become_json_with_their_words_spelled() {
        let data = Datum::from([
            ("rows", 3_u64.into()),
            ("rate", f64::NAN.into()),
            ("why", "a larger `c`".into()),
            ("more", [("share", 0.5.into()), ("none", Datum::Unknown)].into()),
        ]);
        let more = json!({ "share": 0.5, "none": null });
        let wanted = json!({ "rows": 3, "rate": null, "why": "a larger --c", "more": more });
        assert_eq!(json_of(&data), wanted);
    }

    #[test]
    fn every_setting_of_a_learner_is_a_flag() {
        for parameter in recipe::ALL.iter().flat_map(|recipe| recipe.parameters) {
            assert_eq!(spelled(&format!("`{}`", parameter.name)), format!("--{}", parameter.name));
        }
    }

    #[test]
    fn no_explanation_names_a_parameter_that_is_no_flag() {
        for code in Code::ALL {
            assert!(!spelled(code.explanation()).contains('`'), "{code}");
        }
    }
}
