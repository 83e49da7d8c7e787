//! Settings from a file and from the environment: default < `--config FILE` (or `LINSEP_CONFIG`) <
//! environment (`LINSEP_SEED` for `--seed`) < command line. No file is looked for unasked.

use crate::files::rest_behind;
use clap::{Arg, Command};
use linsep::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Makes the settings of the configuration file and the environment the defaults of the flags.
pub(crate) fn apply(mut command: Command, arguments: &[OsString]) -> Result<Command> {
    if let Some(path) = config_path(arguments) {
        let table = load(&path)?;
        for (key, value) in &table {
            match value {
                toml::Value::Table(section) => {
                    if command.find_subcommand(key).is_none() {
                        return Err(unknown(&path, &format!("section [{key}] names no command")));
                    }
                    for (flag, value) in section {
                        let text = text_of(&path, flag, value)?;
                        let known = command.find_subcommand(key).is_some_and(|c| has(c, flag));
                        if !known {
                            return Err(unknown(&path, &format!("{key} has no flag --{flag}")));
                        }
                        command = command
                            .mut_subcommand(key, |c| default_to(c, flag, text.clone().into()));
                    }
                }
                value => {
                    let text = text_of(&path, key, value)?;
                    if !known_anywhere(&command, key) {
                        return Err(unknown(&path, &format!("there is no flag --{key}")));
                    }
                    command = set_everywhere(command, key, OsStr::new(&text));
                }
            }
        }
    }
    for (name, value) in std::env::vars_os() {
        // A name that is no text is none of ours.
        let Some(flag) = name.to_str().and_then(|name| name.strip_prefix("LINSEP_")) else {
            continue;
        };
        let flag = flag.to_ascii_lowercase().replace('_', "-");
        if flag != "config" {
            command = set_everywhere(command, &flag, &value);
        }
    }
    Ok(command)
}

/// The configuration file that is asked for.
pub(crate) fn config_path(arguments: &[OsString]) -> Option<PathBuf> {
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        if argument == "--config" {
            return rest.next().map(PathBuf::from);
        }
        if let Some(path) = rest_behind(argument, "--config=") {
            return Some(PathBuf::from(path));
        }
    }
    std::env::var_os("LINSEP_CONFIG").map(PathBuf::from)
}

fn load(path: &Path) -> Result<toml::Table> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    text.parse()
        .map_err(|e: toml::de::Error| unknown(path, &format!("not valid TOML: {}", e.message())))
}

fn text_of(path: &Path, key: &str, value: &toml::Value) -> Result<String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(flag.to_string()),
        _ => Err(unknown(path, &format!("{key} needs a text, a number, true or false"))),
    }
}

fn unknown(path: &Path, words: &str) -> Error {
    Error::usage(format!("{}: {words}", path.display()))
}

fn has(command: &Command, flag: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(flag))
}

fn default_to(command: Command, flag: &str, value: OsString) -> Command {
    command.mut_args(|argument: Arg| {
        if argument.get_long() != Some(flag) {
            return argument;
        }
        let is_switch = matches!(argument.get_action(), clap::ArgAction::SetTrue);
        argument.default_value(match value.to_str() {
            Some("1") if is_switch => "true".into(),
            Some("0" | "") if is_switch => "false".into(),
            _ => value.clone(),
        })
    })
}

fn known_anywhere(command: &Command, flag: &str) -> bool {
    has(command, flag) || command.get_subcommands().any(|c| has(c, flag))
}

/// Sets the default of a flag wherever it exists.
fn set_everywhere(command: Command, flag: &str, value: &OsStr) -> Command {
    let command = default_to(command, flag, value.to_owned());
    command.mut_subcommands(|c| default_to(c, flag, value.to_owned()))
}
