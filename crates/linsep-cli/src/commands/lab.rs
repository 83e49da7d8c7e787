//! `linsep lab`: the page that shows learning, served on loopback until the program is ended.

use super::{load_model, tell_about};
use crate::context::{Context, end_at_once};
use crate::exit::{Failure, eprint_all};
use crate::input;
use crate::kinds::FileKind;
use clap::ArgMatches;
use linsep::data::input::InputMap;
use linsep::file::ModelFile;
use linsep::{Code, Error};
use linsep_lab::{Lab, Opening, Subject};
use linsep_teach::trace::{Header, Replay};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    end_at_once();
    let mut lab = Lab::default();
    let port = matches.get_one::<String>("port").map_or("0", String::as_str);
    lab.port = port
        .parse()
        .map_err(|_| Error::usage(format!("--port: \"{port}\" is not between 0 and 65535")))?;
    lab.lesson = matches.get_one::<String>("lesson").cloned();
    (lab.max_memory, lab.threads) = (context.max_memory, context.threads);
    lab.subject = subject(matches, context)?;
    let opens = !matches.get_flag("no-open");
    let ready = &mut |address: &str| {
        eprint_all(&format!("lab         {address}\n"));
        if !context.quiet {
            eprint_all(
                "            Ctrl-C ends it; the address holds the key, so keep it to yourself\n",
            );
        }
        if opens {
            open(address);
        }
    };
    lab.serve(ready, &|| context.stopped())?;
    let message = "--time-limit was reached; the lab has ended".to_owned();
    Err(Error::Limit { code: Code::LIMIT, message }.into())
}

/// The data, with the run that a model or a trace tells of.
fn subject(matches: &ArgMatches, context: &Context) -> Result<Option<Subject>, Failure> {
    let given = input::paths(matches);
    let is_story = |path: &PathBuf| {
        matches!(FileKind::of(path), Some(FileKind::Model | FileKind::Foreign | FileKind::Trace))
    };
    let (stories, data): (Vec<PathBuf>, Vec<PathBuf>) = given.into_iter().partition(is_story);
    if let Some(second) = stories.get(1) {
        let words = format!("{} is a second model or trace; the lab opens one", second.display());
        return Err(Error::usage(words).into());
    }
    if input::rejects(matches).is_some() {
        return Err(Error::usage("--bad-rows rejects=FILE writes nothing here; use skip").into());
    }
    let mut options = input::options(matches, context)?;
    let mut story = None;
    if let Some(path) = stories.first() {
        if data.is_empty() {
            return Err(Error::usage(format!(
                "{} holds no rows; name its data too: linsep lab {} DATA",
                path.display(),
                path.display()
            ))
            .into());
        }
        let told = Story::of(path, context)?;
        options.positive = options.positive.or_else(|| told.positive.clone());
        story = Some(told);
    }
    let Some(first) = data.first() else { return Ok(None) };
    let map = story.as_ref().map(|story| &story.map);
    let mut read = input::source_of(&data, &options).read(map)?;
    // The classes of a model have their order; a trace says itself whether the data is its own.
    if let Some(model) = story.as_ref().and_then(|story| story.opening.model.as_ref()) {
        read.data = read.data.with_classes(&model.classes, model.input.rest)?;
    }
    tell_about(&read, matches, context)?;
    let name = first.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut subject = Subject::new(&name, Arc::new(read.data));
    if let Some(story) = story {
        if let Some(mut replay) = story.replay {
            replay.on(Arc::clone(&subject.data), context.threads)?;
        }
        subject.opening = Some(story.opening);
    }
    subject.positive = options.positive;
    Ok(Some(subject))
}

/// What a model or a trace tells of the run that made it.
struct Story {
    opening: Opening,
    positive: Option<String>,
    map: InputMap,
    replay: Option<Replay<BufReader<File>>>,
}

impl Story {
    fn of(path: &Path, context: &Context) -> Result<Story, Failure> {
        let mut opening = Opening::default();
        if FileKind::of(path) == Some(FileKind::Trace) {
            let file = File::open(path).map_err(|error| Error::io("read", path, error))?;
            let replay = Replay::open(path, BufReader::new(file), context.max_memory)?;
            let Header { learner, parameters, seed, positive, input, .. } = &replay.header;
            (opening.learner, opening.settings) = (learner.clone(), parameters.clone());
            opening.seed = *seed;
            let (positive, map) = (positive.clone(), input.clone());
            return Ok(Story { opening, positive, map, replay: Some(replay) });
        }
        let mut model = load_model(path, context)?;
        if model.decision.is_some() {
            // The page draws planes: a threshold moves the bias.
            model = model.with_plane_for_each_class()?;
        }
        let map = model.input.clone();
        if FileKind::of(path) == Some(FileKind::Model) {
            let file = ModelFile::load(path, context.max_memory)?;
            (opening.learner, opening.settings, opening.seed) =
                (file.learner, file.parameters, file.seed);
        }
        opening.model = Some(model);
        Ok(Story { opening, positive: None, map, replay: None })
    }
}

/// Asks the system for a browser. Without one the printed address is enough.
fn open(address: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(before)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut browser) = started {
        // It may live as long as the browser does.
        std::thread::spawn(move || browser.wait());
    }
}
