//! `linsep verify CERT|MODEL DATA`: checks every claim in exact arithmetic. Only the readers and the
//! checker take part; no solver does.

use super::{check_width, data_lines};
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{Facts, counted, print, print_json};
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::data::basis::Basis;
use linsep::data::input::{InputMap, SourceColumn};
use linsep::data::read::{Choices, Missing, ReadResult};
use linsep::file::{ModelFile, Subject};
use linsep::proof::{self, CertificateFile, Claim, FileError, Finding, check_file};
use linsep::recipe::{Recipe, Settings};
use linsep::{Code, Dataset, Error, Task, verify};
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let Some(path) = &input::subject(matches) else {
        return Ok(ExitCode::from(2));
    };
    let Loaded { certificate, mut map, model } = load(path, context)?;
    // The checker multiplies out the basis itself, from raw rows; only limits and scales are of features.
    if let Some(map) = map.as_mut().filter(|_| !needs_features(&certificate)) {
        map.basis = None;
    }
    refuse_what_is_settled(matches, map.is_some())?;
    let mut options = input::options(matches, context)?;
    if map.as_ref().is_some_and(|map| map.drop_missing) {
        options.missing = Missing::DropRow;
    }
    let source = input::source_of(&input::paths(matches), &options);
    let ReadResult { data, choices, .. } = source.read(map.as_ref())?;
    check_width(&data, 64, context)?;
    let digest = data.digest_of(certificate.data.digest, context.threads);
    let mut findings = check_file(&certificate, &data, &digest, context.threads);
    // Of one class against the rest the model knows two classes, the file many labels.
    let data = match (&model, &map) {
        (Some(model), Some(map)) if map.rest => {
            data.with_classes(&model.file.model.classes, true)?
        }
        _ => data,
    };
    let task = Task::new(data).with_threads(context.threads);
    if let Some(model) = &model {
        verify::bind(&model.file, &task, &mut findings)?;
    }
    let found = Found {
        certificate: &certificate,
        model: model.as_ref(),
        findings: &findings,
        data: &task.data,
        choices: &choices,
        digest: &digest,
    };
    match context.json {
        true => print_json(&found.json())?,
        false => print(&found.text(context))?,
    }
    Ok(if found.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Whether a claim speaks of features that basis functions make.
fn needs_features(certificate: &CertificateFile) -> bool {
    certificate.claims.iter().any(|claim| match claim {
        Claim::Optimal { optimality, .. } => {
            let objective = &optimality.objective;
            !objective.scale.is_empty() || !objective.limits.is_empty()
        }
        _ => false,
    })
}

/// Refuses flags that would change nothing. The file says which columns it speaks of and how they are
/// read, so a flag that says otherwise would only look as if it had been obeyed.
fn refuse_what_is_settled(matches: &ArgMatches, has_map: bool) -> Result<(), Failure> {
    const BY_FILE: [&str; 2] = ["reading", "positive"];
    const BY_MAP: [&str; 7] =
        ["features", "drop", "keep", "weight", "categorical", "reference", "unknown-level"];
    let mut settled = BY_FILE.iter().chain(BY_MAP.iter().filter(|_| has_map));
    let value = |flag: &str| matches.get_one::<String>(flag).map(String::as_str);
    if let Some(flag) = settled.find(|flag| value(flag).is_some()) {
        let words = format!("--{flag} would change nothing: the file that is verified settles it");
        return Err(Error::usage(words).into());
    }
    if has_map && matches.get_flag("missing-indicator") {
        let words =
            "--missing-indicator would change nothing: the file that is verified settles it";
        return Err(Error::usage(words).into());
    }
    // Files of the first version do not say that rows were left out.
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
    /// The model that the claims stand beside; nothing for a certificate that stands alone.
    model: Option<Beside>,
}

/// The model that claims stand beside.
struct Beside {
    recipe: &'static Recipe,
    settings: Settings,
    file: ModelFile,
    /// What each claim is about.
    subjects: Vec<Subject>,
}

impl Beside {
    fn planes(&self) -> usize {
        self.file.model.planes.len()
    }

    /// Planes that claims are about.
    fn claimed(&self) -> usize {
        match self.subjects.contains(&Subject::Planes) {
            true => self.planes(),
            false => {
                let planes = self.subjects.iter().filter_map(|subject| match subject {
                    Subject::Plane(k) => Some(k),
                    _ => None,
                });
                planes.collect::<std::collections::BTreeSet<_>>().len()
            }
        }
    }

    /// The learner, and how many planes something is claimed of.
    fn words(&self) -> String {
        let name = self.recipe.name;
        let settings: Vec<String> = self
            .recipe
            .parameters
            .iter()
            .filter(|parameter| self.settings.has(parameter.name))
            .map(|parameter| format!("{} {}", parameter.name, self.settings.get(parameter)))
            .collect();
        let name = match settings.is_empty() {
            true => name.to_owned(),
            false => format!("{name} ({})", settings.join(", ")),
        };
        match (self.claimed(), self.planes()) {
            (0, _) => {
                format!("{name}; nothing is claimed of its planes, the claims are about the data")
            }
            (some, all) if some < all => {
                format!("{name}; the claims are about {some} of its {all} planes")
            }
            (_, 1) => format!("{name}; the claims are about its own plane"),
            (_, all) => format!("{name}; the claims are about its own {all} planes"),
        }
    }
}

/// A certificate file, or the certificate inside a model file.
fn load(path: &Path, context: &Context) -> Result<Loaded, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let refuse = |code, reason| Error::Model { code, path: path.to_path_buf(), reason };
    if ModelFile::is_one(&bytes) {
        let limit = context.max_memory.unwrap_or(u64::MAX);
        let file = ModelFile::from_bytes(&bytes, path, limit)?;
        let recipe = Recipe::find(&file.learner)
            .map_err(|error| refuse(Code::MODEL_CONTENT, spelled(&error.to_string())))?;
        let settings = recipe.settings_of(&file.parameters, file.seed);
        let subjects = file.subjects();
        let (certificate, map) = (file.certificate.clone(), Some(file.model.input.clone()));
        let model = Some(Beside { recipe, settings, file, subjects });
        return Ok(Loaded { certificate, map, model });
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
    Ok(Loaded { certificate, map, model: None })
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

/// What is said in the end.
struct Found<'a> {
    certificate: &'a CertificateFile,
    model: Option<&'a Beside>,
    findings: &'a [Finding],
    data: &'a Dataset,
    choices: &'a Choices,
    digest: &'a str,
}

impl Found<'_> {
    fn holds(&self) -> bool {
        !self.findings.is_empty() && self.findings.iter().all(Finding::holds)
    }

    fn subject(&self, number: usize) -> Option<&Subject> {
        self.model.and_then(|model| model.subjects.get(number))
    }

    fn text(&self, context: &Context) -> String {
        let Found { certificate, data, .. } = self;
        let mut facts = Facts::default();
        facts.add("data", format!("{}, {}", counted(data.n_rows() as u64, "row"), self.reading()));
        let exceptions = data_lines::exceptions(&self.choices.long, data);
        if data.reading_field() == certificate.reading {
            exceptions.iter().for_each(|line| facts.add("reading", line));
        }
        facts.add("columns", columns(data));
        for (name, words) in input_words(data, self.choices) {
            facts.add(name, words);
        }
        if let Some(basis) = &certificate.basis {
            let words = basis_words(basis, data);
            facts.add("basis", format!("{words}: the claims are about phi(x)"));
        }
        if let Some(model) = self.model {
            facts.add("model", model.words());
        }
        for (number, (claim, finding)) in certificate.claims.iter().zip(self.findings).enumerate() {
            let (word, words) = words(finding);
            let note = match self.subject(number) {
                Some(Subject::Exact) => {
                    "; this is an exact plane of the claim, not the plane of the model"
                }
                None if finding.holds() && has_planes(claim) => {
                    "; this is the plane in the certificate"
                }
                _ => "",
            };
            facts.add(word, format!("{}: {words}{note}", title(claim)));
        }
        if self.findings.is_empty() {
            facts.add("unproved", "the certificate claims nothing");
        }
        facts.text(context)
    }

    /// What the numbers mean, with every column that is an exception.
    fn reading(&self) -> String {
        const SHOWN: usize = 8;
        let reading = &self.certificate.reading;
        match reading.default {
            proof::Reading::Binary64 => "binary64 reading".to_owned(),
            proof::Reading::Decimal if reading.binary64.is_empty() => "decimal reading".to_owned(),
            proof::Reading::Decimal => {
                let name = |&column: &u32| {
                    linsep::printable(
                        self.data.input().feature_name(column as usize).as_bytes(),
                        30,
                    )
                };
                let mut names: Vec<String> =
                    reading.binary64.iter().take(SHOWN).map(name).collect();
                if reading.binary64.len() > SHOWN {
                    names.push(format!("and {} more", reading.binary64.len() - SHOWN));
                }
                format!("decimal reading, but binary64 for {}", names.join(", "))
            }
        }
    }

    fn json(&self) -> serde_json::Value {
        let Found { certificate, data, choices, .. } = self;
        let claims: Vec<_> = certificate
            .claims
            .iter()
            .zip(self.findings)
            .enumerate()
            .map(|(number, (claim, finding))| {
                let (word, words) = words(finding);
                let mut value = json!({
                    "claim": claim.name(),
                    "about": title(claim),
                    "finding": word.to_lowercase(),
                    "words": words,
                });
                if let Some(subject) = self.subject(number) {
                    value["subject"] = subject_word(subject).into();
                }
                value
            })
            .collect();
        let columns = data.input().has_names().then(|| data.input().feature_names());
        let filled: Vec<_> = choices
            .filled
            .iter()
            .map(
                |gaps| json!({ "feature": gaps.feature, "value": gaps.value, "count": gaps.count }),
            )
            .collect();
        let mut value = json!({
            "schema": "linsep.result/1",
            "command": "verify",
            "holds": self.holds(),
            "digest": self.digest,
            "reading": certificate.reading,
            "basis": certificate.basis,
            "columns": columns,
            "weight": weight_column(data),
            "filled": filled,
            "dropped_rows": choices.dropped_rows,
            "bad_rows": choices.bad_rows,
            "claims": claims,
        });
        if let Some(model) = self.model {
            let (planes, claimed) = (model.planes(), model.claimed());
            let parameters = model.recipe.effective(&model.settings);
            value["model"] = json!({
                "learner": model.recipe.name, "parameters": parameters, "planes": planes, "claimed": claimed,
            });
        }
        value
    }
}

/// Whether a claim is about planes.
fn has_planes(claim: &Claim) -> bool {
    matches!(
        claim,
        Claim::Mistakes { .. }
            | Claim::Optimal { .. }
            | Claim::Stationary { .. }
            | Claim::Counts { .. }
    )
}

/// What of the input map changes the numbers that the claims are about.
fn input_words(data: &Dataset, choices: &Choices) -> Vec<(&'static str, String)> {
    const SHOWN: usize = 8;
    let short = |text: &str| linsep::printable(text.as_bytes(), 40);
    let listed = |mut items: Vec<String>| {
        let more = items.len().saturating_sub(SHOWN);
        items.truncate(SHOWN);
        if more > 0 {
            items.push(format!("and {more} more"));
        }
        items.join(", ")
    };
    let input = data.input();
    let mut words = Vec::new();
    let levels: Vec<String> = input
        .columns
        .iter()
        .filter_map(|column| Some((column, column.levels.as_ref()?)))
        .map(|(column, levels)| {
            let name = column.name.clone().unwrap_or_else(|| format!("x{}", column.position + 1));
            let shown = listed(levels.iter().map(|level| short(level)).collect());
            let others = if column.unknown_as_zeros { "; others are all 0" } else { "" };
            let reference = column.reference.as_ref();
            let reference =
                reference.map_or(String::new(), |level| format!(" or, all 0, {}", short(level)));
            let gap = column.missing_level.as_ref();
            let gap =
                gap.map_or(String::new(), |level| format!("; a missing one is {}", short(level)));
            format!("{} is one of {shown}{reference}{others}{gap}", short(&name))
        })
        .collect();
    if !levels.is_empty() {
        words.push(("levels", listed(levels)));
    }
    if !choices.filled.is_empty() {
        let gaps = choices.filled.iter().map(|gaps| {
            format!("{} = {} in {}", short(&gaps.feature), gaps.value, counted(gaps.count, "row"))
        });
        words.push(("filled", listed(gaps.collect())));
    }
    if choices.dropped_rows > 0 {
        let rows = counted(choices.dropped_rows, "row");
        words.push(("left out", format!("{rows} with a missing value")));
    }
    if choices.bad_rows > 0 {
        let rows = counted(choices.bad_rows, "row");
        words.push(("skipped", format!("{rows} that could not be read (--bad-rows)")));
    }
    if let Some(threshold) = input.binarize {
        words.push(("values", format!("1 above {threshold}, else 0")));
    }
    if input.rest {
        words.push(("classes", "the first stands for every label but the second".to_owned()));
    }
    if let Some(weight) = weight_column(data).filter(|_| data.weights().is_none()) {
        let said = format!("{} is not in the file, so every row has the weight 1", short(&weight));
        words.push(("weights", said));
    } else if let Some(weight) = weight_column(data) {
        let zero = (0..data.n_rows()).filter(|&row| data.weight(row) == 0.0).count() as u64;
        let zero = match zero {
            0 => "no row has the weight 0".to_owned(),
            1 => "1 row of weight 0 takes no part".to_owned(),
            some => format!("{} of weight 0 take no part", counted(some, "row")),
        };
        words.push(("weights", format!("{}; {zero}", short(&weight))));
    }
    words
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
