//! `linsep verify CERT|MODEL DATA`: checks every claim in exact arithmetic. Only the readers and the
//! checker take part; no solver does.

use super::check_width;
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, counted, print, print_json};
use clap::ArgMatches;
use linsep::data::basis::Basis;
use linsep::data::input::{InputMap, SourceColumn};
use linsep::file::{ModelFile, Subject};
use linsep::proof::{self, CertificateFile, Claim, FileError, Finding, check_file};
use linsep::{Code, Dataset, Error};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = matches.get_one::<PathBuf>("certificate") else {
        return Ok(ExitCode::from(2));
    };
    let Loaded { certificate, mut map, subjects } = load(path, context)?;
    // The checker multiplies out the basis itself, from raw rows.
    if let Some(map) = &mut map {
        map.basis = None;
    }
    refuse_what_is_settled(matches, map.is_some())?;
    let data = input::source(matches, context)?.read(map.as_ref())?.data;
    check_width(&data, 64, context)?;
    let digest = data.digest_of(certificate.data.digest, context.threads);
    let findings = check_file(&certificate, &data, &digest, context.threads);
    if context.json {
        print_json(&as_json(&certificate, &subjects, &findings, &data, &digest))?;
    } else {
        print(&as_text(&certificate, &subjects, &findings, &data, context))?;
    }
    let holds = !findings.is_empty() && findings.iter().all(Finding::holds);
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Refuses flags that would change nothing. The file says which columns it speaks of and how they are
/// read, so a flag that says otherwise would only look as if it had been obeyed.
fn refuse_what_is_settled(matches: &ArgMatches, has_map: bool) -> Result<(), Failure> {
    const BY_FILE: [&str; 2] = ["reading", "positive"];
    const BY_MAP: [&str; 5] = ["features", "drop", "weight", "categorical", "unknown-level"];
    let mut settled = BY_FILE.iter().chain(BY_MAP.iter().filter(|_| has_map));
    let value = |flag: &str| matches.get_one::<String>(flag).map(String::as_str);
    if let Some(flag) = settled.find(|flag| value(flag).is_some()) {
        let words = format!("--{flag} would change nothing: the file that is verified settles it");
        return Err(Error::usage(words).into());
    }
    // Rows that were left out are not part of the map; what fills a gap is.
    if has_map && value("missing").is_some_and(|word| word != "drop-row") {
        let words = "--missing would change nothing but with drop-row: \
                     the file that is verified holds what fills a gap";
        return Err(Error::usage(words).into());
    }
    if input::rejects(matches).is_some() {
        return Err(Error::usage("--bad-rows rejects=FILE writes nothing here; use skip").into());
    }
    Ok(())
}

/// What is verified, with the columns that it speaks of.
struct Loaded {
    certificate: CertificateFile,
    map: Option<InputMap>,
    /// What each claim of a model is about; nothing for a certificate that stands alone.
    subjects: Vec<Subject>,
}

/// A certificate file, or the certificate inside a model file.
fn load(path: &Path, context: &Context) -> Result<Loaded, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let refuse = |code, reason| Error::Model { code, path: path.to_path_buf(), reason };
    if ModelFile::is_one(&bytes) {
        let limit = context.max_memory.unwrap_or(u64::MAX);
        let file = ModelFile::from_bytes(&bytes, path, limit)?;
        let subjects = file.subjects();
        let (certificate, map) = (file.certificate, Some(file.model.input));
        return Ok(Loaded { certificate, map, subjects });
    }
    let certificate = CertificateFile::from_json(&bytes).map_err(|error| match error {
        FileError::Version(_) => refuse(Code::MODEL_VERSION, error.to_string()),
        _ => refuse(Code::MODEL_SYNTAX, error.to_string()),
    })?;
    let map = match &certificate.input {
        None => None,
        Some(value) => Some(
            InputMap::of_certificate(value)
                .map_err(|reason| refuse(Code::MODEL_CONTENT, reason))?,
        ),
    };
    if map.as_ref().is_some_and(|map| map.basis.as_ref().map(Basis::claimed) != certificate.basis) {
        let words = "the basis of the claims is not that of the input".to_owned();
        return Err(refuse(Code::MODEL_CONTENT, words).into());
    }
    Ok(Loaded { certificate, map, subjects: Vec::new() })
}

/// The word for what a claim of a model is about.
fn subject_word(subject: &Subject) -> &'static str {
    match subject {
        Subject::Data => "data",
        Subject::Plane(_) | Subject::Planes => "model",
        _ => "exact plane",
    }
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
    subjects: &[Subject],
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
    facts.add("columns", columns(data));
    if let Some(basis) = &file.basis {
        facts.add("basis", format!("{}: the claims are about phi(x)", basis_words(basis, data)));
    }
    if let Some(weight) = weight_column(data) {
        let words = "rows of weight 0 do not take part";
        facts.add("weights", format!("{}; {words}", linsep::printable(weight.as_bytes(), 40)));
    }
    for (number, (claim, finding)) in file.claims.iter().zip(findings).enumerate() {
        let (word, words) = words(finding);
        let note = match subjects.get(number) {
            Some(Subject::Exact) => "; of an exact plane, which the model has rounded",
            _ => "",
        };
        facts.add(word, format!("{}: {words}{note}", title(claim)));
    }
    if findings.is_empty() {
        facts.add("unproved", "the certificate claims nothing");
    }
    facts.text(context)
}

/// The basis functions in words.
fn basis_words(basis: &proof::Basis, data: &Dataset) -> String {
    const SHOWN: usize = 8;
    let terms = match basis {
        proof::Basis::Named(name) => return name.clone(),
        proof::Basis::Terms(terms) => terms,
    };
    let power = |&(column, exponent): &(u32, u32)| {
        let name = data.input().feature_name(column as usize);
        let name = linsep::printable(name.as_bytes(), 30);
        if exponent == 1 { name } else { format!("{name}^{exponent}") }
    };
    let name = |term: &Vec<(u32, u32)>| term.iter().map(power).collect::<Vec<_>>().join("*");
    let mut names: Vec<String> = terms.iter().take(SHOWN).map(name).collect();
    if terms.len() > SHOWN {
        names.push("…".into());
    }
    names.join(", ")
}

/// The columns that were used, the label among them, as the file that is verified names them.
fn columns(data: &Dataset) -> String {
    const SHOWN: usize = 8;
    let input = data.input();
    let count = counted(data.n_features() as u64, "feature");
    let label = match &input.label {
        Some(SourceColumn { name: Some(name), .. }) => format!("label \"{name}\""),
        Some(SourceColumn { position, .. }) => format!("label in column {}", position + 1),
        None => "label in its fixed place".to_owned(),
    };
    if !input.has_names() {
        return format!("{count} by their numbers, {label}");
    }
    let mut names: Vec<String> = (0..data.n_features().min(SHOWN))
        .map(|j| linsep::printable(input.feature_name(j).as_bytes(), 30))
        .collect();
    if data.n_features() > SHOWN {
        names.push("…".into());
    }
    format!("{count}: {}; {}", names.join(", "), linsep::printable(label.as_bytes(), 40))
}

fn weight_column(data: &Dataset) -> Option<String> {
    let SourceColumn { name, position, .. } = data.input().weight.as_ref()?;
    Some(name.clone().unwrap_or_else(|| format!("column {}", position + 1)))
}

fn as_json(
    file: &CertificateFile,
    subjects: &[Subject],
    findings: &[Finding],
    data: &Dataset,
    digest: &str,
) -> serde_json::Value {
    let claims: Vec<_> = file
        .claims
        .iter()
        .zip(findings)
        .enumerate()
        .map(|(number, (claim, finding))| {
            let (word, words) = words(finding);
            let mut value = json!({ "claim": claim.name(), "about": title(claim), "finding": word.to_lowercase(), "words": words });
            if let Some(subject) = subjects.get(number) {
                value["subject"] = subject_word(subject).into();
            }
            value
        })
        .collect();
    let holds = !findings.is_empty() && findings.iter().all(Finding::holds);
    let columns = data.input().has_names().then(|| data.input().feature_names());
    json!({
        "schema": "linsep.result/1",
        "command": "verify",
        "holds": holds,
        "digest": digest,
        "basis": file.basis,
        "columns": columns,
        "weight": weight_column(data),
        "claims": claims,
    })
}
