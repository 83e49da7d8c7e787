//! No command writes over what it reads, nor twice to the same place.

use crate::exit::Failure;
use clap::ArgMatches;
use linsep::Error;
use std::path::{Path, PathBuf};

/// The arguments that name a file to write.
const WRITTEN: [&str; 11] = [
    "output-file",
    "to",
    "cert",
    "trace",
    "flips",
    "support",
    "checkpoint",
    "table",
    "distances",
    "reflected",
    "export-markdown",
];

/// The arguments that name a file to read. A run that is resumed goes on in its place.
const READ: [&str; 5] = ["data", "model", "certificate", "foreign", "points"];

/// Refuses an output that is an input of the same command, under whatever name.
pub(super) fn refuse(command: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let is_replay = command == "replay";
    let mut inputs = Vec::new();
    let mut outputs: Vec<(&str, PathBuf)> = Vec::new();
    for id in matches.ids() {
        let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id.as_str()) else { continue };
        // A trace is written by train and read by replay.
        let read = READ.contains(&id.as_str()) || (is_replay && id.as_str() == "trace");
        for path in paths.filter(|path| path.as_os_str() != "-") {
            if read {
                inputs.push(real(path));
            } else if let Some(flag) = WRITTEN.iter().find(|flag| **flag == id.as_str()) {
                outputs.push((flag, path.clone()));
            }
        }
    }
    let test = matches.try_get_one::<String>("test").ok().flatten();
    inputs.extend(test.map(|path| real(Path::new(path))));
    for (k, (flag, path)) in outputs.iter().enumerate() {
        let place = real(path);
        let name = if *flag == "to" { "the output".to_owned() } else { format!("--{flag}") };
        if inputs.contains(&place) {
            let words = format!(
                "{name}: {} is read by this command; write to another file",
                path.display()
            );
            return Err(Error::usage(words).into());
        }
        if let Some((other, _)) = outputs[..k].iter().find(|(_, earlier)| real(earlier) == place) {
            let words =
                format!("{name} and --{other} both write to {}; give two names", path.display());
            return Err(Error::usage(words).into());
        }
    }
    Ok(())
}

/// The file behind a name: links and detours taken out, also where only the folder exists yet.
fn real(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_path_buf(),
    }
}
