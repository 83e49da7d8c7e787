//! `linsep verify CERT|MODEL DATA`: checks every claim in exact arithmetic. Only the readers and the
//! checker take part; no solver does.

use super::check_width;
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, counted, print, print_json};
use clap::ArgMatches;
use linsep::data::input::InputMap;
use linsep::data::read::read_with_map;
use linsep::model_file::ModelFile;
use linsep::proof::{CertificateFile, Claim, FileError, Finding, check_file};
use linsep::{Code, Dataset, Error};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = matches.get_one::<PathBuf>("certificate") else {
        return Ok(ExitCode::from(2));
    };
    let (certificate, map) = load(path, context)?;
    let options = input::options(matches, context)?;
    let data = read_with_map(&input::paths(matches), &options, map.as_ref())?.data;
    check_width(&data, 64, context)?;
    let digest = data.digest(context.threads);
    let findings = check_file(&certificate, &data, &digest, context.threads);
    if context.json {
        print_json(&as_json(&certificate, &findings, &digest))?;
    } else {
        print(&as_text(&certificate, &findings, &data, context))?;
    }
    let holds = !findings.is_empty() && findings.iter().all(Finding::holds);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// A certificate file, or the certificate inside a model file, with the columns it speaks of.
fn load(path: &Path, context: &Context) -> Result<(CertificateFile, Option<InputMap>), Failure> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let refuse = |code, reason| Error::Model { code, path: path.to_path_buf(), reason };
    if looks_like_model(&bytes) {
        let limit = context.max_memory.unwrap_or(u64::MAX);
        let file = ModelFile::from_json(&bytes, path, limit)?;
        return Ok((file.certificate, Some(file.model.input)));
    }
    let certificate = CertificateFile::from_json(&bytes).map_err(|error| match error {
        FileError::Version(_) => refuse(Code::MODEL_VERSION, error.to_string()),
        _ => refuse(Code::MODEL_SYNTAX, error.to_string()),
    })?;
    let map = match &certificate.input {
        None => None,
        Some(value) => Some(
            InputMap::from_value(value).map_err(|reason| refuse(Code::MODEL_CONTENT, reason))?,
        ),
    };
    Ok((certificate, map))
}

fn looks_like_model(bytes: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
    head.contains("linsep.model/")
}

fn words(finding: &Finding) -> (&'static str, &str) {
    match finding {
        Finding::Holds(words) => ("true", words),
        Finding::Nothing(words) => ("unproved", words),
        Finding::Fails(words) => ("FALSE", words),
    }
}

/// The claim and what it is about, such as `inseparable (pair 1 | 2)`.
pub(super) fn title(claim: &Claim) -> String {
    let about = match claim.problem() {
        Some(problem) => format!(
            "{} {} | {}",
            problem.scheme.word(),
            problem.positive.join(", "),
            problem.negative.join(", ")
        ),
        None if matches!(claim, Claim::Unproved { .. }) => return claim.name().to_owned(),
        None => "joint".to_owned(),
    };
    format!("{} ({})", claim.name(), linsep::printable(about.as_bytes(), 60))
}

fn as_text(
    file: &CertificateFile,
    findings: &[Finding],
    data: &Dataset,
    context: &Context,
) -> String {
    let mut facts = Facts::default();
    facts.add(
        "data",
        format!(
            "{}, {} reading",
            counted(data.n_rows() as u64, "row"),
            match file.reading.default {
                linsep::proof::Reading::Decimal => "decimal",
                linsep::proof::Reading::Binary64 => "binary64",
            }
        ),
    );
    for (claim, finding) in file.claims.iter().zip(findings) {
        let (word, words) = words(finding);
        facts.add(word, format!("{}: {words}", title(claim)));
    }
    if findings.is_empty() {
        facts.add("unproved", "the certificate claims nothing");
    }
    facts.text(context)
}

fn as_json(file: &CertificateFile, findings: &[Finding], digest: &str) -> serde_json::Value {
    let claims: Vec<_> = file
        .claims
        .iter()
        .zip(findings)
        .map(|(claim, finding)| {
            let (word, words) = words(finding);
            json!({ "claim": claim.name(), "about": title(claim), "finding": word.to_lowercase(), "words": words })
        })
        .collect();
    let holds = !findings.is_empty() && findings.iter().all(Finding::holds);
    json!({ "schema": "linsep.result/1", "command": "verify", "holds": holds, "digest": digest, "claims": claims })
}
