//! `help`, `completions` and `man`: the grammar explains itself.

use crate::args;
use crate::exit::{Failure, code_of};
use crate::output::print;
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::recipe::Recipe;
use linsep::{Code, Error};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let Some(topic) = matches.get_one::<String>("topic") else {
        print(args::FIRST_SCREEN)?;
        print("\n")?;
        print(&args::command().render_help().to_string())?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(code) = Code::parse(topic) {
        print(&format!(
            "{code}: {}\nexit code {}\n\n{}\n",
            code.title(),
            code_of(code),
            spelled(code.explanation())
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    if topic == "learners" {
        print(&args::learners())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Ok(recipe) = Recipe::find(topic) {
        print(&args::learner_help(recipe).render_long_help().to_string())?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&command_named(topic)?.render_long_help().to_string())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn completions(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    if let Some(&shell) = matches.get_one::<clap_complete::Shell>("shell") {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut args::command(), "linsep", &mut text);
        print(&String::from_utf8_lossy(&text))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(matches: &ArgMatches) -> Result<ExitCode, Failure> {
    let command = match matches.get_one::<String>("topic") {
        Some(topic) => command_named(topic)?,
        None => args::command(),
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// A command with the global flags it would have.
fn command_named(name: &str) -> Result<clap::Command, Failure> {
    let mut whole = args::command();
    whole.build();
    match whole.find_subcommand(name) {
        Some(command) => Ok(command.clone()),
        None => {
            let names: Vec<&str> = whole.get_subcommands().map(clap::Command::get_name).collect();
            let message = format!(
                "\"{name}\" is no command, learner or error code; linsep help learners lists learners, the commands are {}",
                names.join(", ")
            );
            Err(Error::usage(message).into())
        }
    }
}
