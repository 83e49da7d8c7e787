//! `linsep certify FOREIGN DATA`: how near the best a model of another program is.
//!
//! The same objective is solved here, and the dual point of that run bounds every model from below. What
//! is said of the foreign model is what the checker confirms.

use super::data_lines::DataLines;
use super::verify::title;
use super::{check_width, read_data};
use crate::args::certified;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, note, print, print_json};
use crate::progress::Watch;
use crate::spelling::spelled;
use clap::ArgMatches;
use linsep::model::foreign::ForeignModel;
use linsep::proof::{Certificate, CertificateFile, Claim, InputField, Optimality};
use linsep::recipe::{Ability, Recipe, Settings};
use linsep::{Code, Dataset, Error, Limits, Stop, Task};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let foreign = ForeignModel::load(path, context.max_memory)?;
    let (recipe, settings) = objective(&foreign, matches, context)?;
    let learner = recipe.build(&settings)?;
    let read = read_data(matches, context)?;
    let lines = DataLines::new(&input::paths(matches), &read);
    let data = Arc::new(read.data);
    refuse_other_weights(&foreign, &settings, &data)?;
    // Planes, the dual point and the sums of the checker.
    check_width(&data, 64 * data.n_classes() as u64, context)?;
    let planes = foreign.planes_for(data.classes(), data.n_features())?;
    let task = Task::new(Arc::clone(&data)).with_threads(context.threads);
    let mut training = learner.start(&task)?;
    let epochs = text("epochs").map(|epochs| input::whole("epochs", epochs)).transpose()?;
    let limits = Limits::default().with_epochs(Some(epochs.unwrap_or(1000)));
    let stop = linsep::drive(training.as_mut(), &limits, &mut Watch::new(context));
    match stop {
        Stop::Interrupted => return Err(Error::Interrupted.into()),
        Stop::Diverged => {
            let words = "the weights of the best model left the range of binary64; choose a smaller --c or another --scale";
            return Err(Error::usage(words).into());
        }
        Stop::Finished => {}
        _ => note(
            context,
            "the limit was reached before the gap: the bound may be far from the best",
        ),
    }
    let certificate = match training.bounds_objective() {
        Some(run) => run.certificate_of(&planes),
        None => return Err(recipe.cannot(Ability::Certify).into()),
    };
    let proved = certificate.claims.iter().all(|claim| optimality(claim).is_some());
    // What was found is printed even if the certificate cannot be written.
    let mut written = Ok(());
    if let Some(to) = matches.get_one::<Output>("cert").filter(|_| proved) {
        let file = certificate_file(&task, certificate.clone());
        written = to
            .check(FileKind::Certificate, matches)
            .and_then(|()| to.write(|out| out.write_all(file.to_json().as_bytes())));
    }
    let found = Found {
        data: &data,
        foreign: &foreign,
        certificate: &certificate,
        recipe,
        settings: &settings,
    };
    if context.json {
        let mut value = found.json(path, stop);
        value["reading"] = lines.reading_json;
        print_json(&value)?;
    } else {
        let mut facts = Facts::default();
        lines.add_to(&mut facts);
        found.add_to(&mut facts, path);
        if let Some(to) = matches.get_one::<Output>("cert").filter(|_| proved && written.is_ok()) {
            facts.add("certificate", to.display().to_string());
        }
        print(&facts.text(context))?;
    }
    written?;
    if !proved {
        let message = "nothing could be proved of some plane; try a smaller --gap or more --epochs"
            .to_owned();
        return Err(Error::Limit { code: Code::LIMIT, message }.into());
    }
    Ok(ExitCode::SUCCESS)
}

/// The objective that the file tells of, flags first.
fn objective(
    foreign: &ForeignModel,
    matches: &ArgMatches,
    context: &Context,
) -> Result<(&'static Recipe, Settings), Failure> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let of_file = foreign.loss.and_then(Recipe::minimising).map(|recipe| recipe.name);
    let Some(learner) = text("learner").or(of_file) else {
        let able = Ability::Certify.learners().join(" or ");
        let words = format!("the file does not say what it makes small; give --learner {able}");
        return Err(Error::usage(words).into());
    };
    let recipe = Recipe::find(learner)?;
    let mut settings = Settings::default();
    settings.seed = context.seed;
    settings.set("gap", "1e-6");
    settings.set("multiclass", "ovr");
    for (name, value) in foreign.settings.iter().filter(|_| of_file == Some(learner)) {
        settings.set(name, value);
    }
    let names = certified::parameters().into_iter().map(|parameter| parameter.name);
    for name in names.chain(["multiclass"]) {
        if let Some(value) = text(name) {
            settings.set(name, value);
        }
    }
    Ok((recipe, settings))
}

/// LIBLINEAR's -w weighs the rows of a classifier's own class and leaves those of the rest alone.
fn refuse_other_weights(
    foreign: &ForeignModel,
    settings: &Settings,
    data: &Dataset,
) -> Result<(), Failure> {
    let text = |name: &str| settings.given(name).unwrap_or("none").to_owned();
    let given = !matches!(text("class-weight").as_str(), "none" | "balanced");
    let is_liblinear = foreign.loss.is_some();
    if given && is_liblinear && data.n_classes() > 2 && text("multiclass") == "ovr" {
        let words = "--class-weight: of more than two classes LIBLINEAR weighs the rows of each classifier's own class and no others, here rows count the same in all classifiers; certify a model of two classes, or one of --multiclass crammer-singer";
        return Err(Error::usage(words).into());
    }
    Ok(())
}

fn certificate_file(task: &Task, certificate: Certificate) -> CertificateFile {
    let data = &task.data;
    let identity = data.identity(task.threads);
    let mut file = CertificateFile::new(identity, data.reading_field(), true, certificate);
    file.input = InputField::of(data.input());
    file
}

fn optimality(claim: &Claim) -> Option<&Optimality> {
    match claim {
        Claim::Optimal { optimality, .. } => Some(optimality),
        _ => None,
    }
}

/// What is said at the end.
struct Found<'a> {
    data: &'a Dataset,
    foreign: &'a ForeignModel,
    certificate: &'a Certificate,
    recipe: &'static Recipe,
    settings: &'a Settings,
}

impl Found<'_> {
    fn names(&self, column: u32) -> String {
        linsep::printable(self.data.input().feature_name(column as usize).as_bytes(), 30)
    }

    fn add_to(&self, facts: &mut Facts, path: &std::path::Path) {
        facts.add("model", format!("{}: {}", path.display(), self.foreign.form));
        let settings: Vec<String> = self
            .recipe
            .parameters
            .iter()
            .filter(|p| match p.name {
                "c" => true,
                "multiclass" => self.settings.get(p) != "ovr",
                name => self.settings.has(name),
            })
            .map(|p| format!("{} {}", p.name, self.settings.get(p)))
            .collect();
        facts.add("learner", format!("{} ({})", self.recipe.name, settings.join(", ")));
        if let Some(found) = self.certificate.claims.iter().find_map(optimality) {
            facts.add("objective", found.objective.words(|column| self.names(column)));
        }
        for claim in &self.certificate.claims {
            match (claim, optimality(claim)) {
                (_, Some(found)) => {
                    let about = match self.certificate.claims.len() {
                        1 => "this model".to_owned(),
                        _ => title(claim).trim_start_matches("optimal ").to_owned(),
                    };
                    facts.add(
                        "proved",
                        format!(
                            "{about} is {}: its objective is at most {}, the optimum at least {}",
                            found.distance(),
                            found.primal,
                            found.bound
                        ),
                    );
                }
                (Claim::Unproved { reason }, None) => {
                    facts.add("proved", format!("nothing: {}", spelled(reason)))
                }
                _ => {}
            }
        }
    }

    fn json(&self, path: &std::path::Path, stop: Stop) -> Value {
        let planes: Vec<Value> = self
            .certificate
            .claims
            .iter()
            .map(|claim| match (claim, optimality(claim)) {
                (Claim::Unproved { reason }, _) => {
                    json!({ "proved": false, "reason": spelled(reason) })
                }
                (_, Some(found)) => json!({
                    "proved": true,
                    "positive": claim.problem().map(|problem| &problem.positive),
                    "objective": found.objective,
                    "primal": found.primal,
                    "bound": found.bound,
                    "gap": found.gap,
                    "radius": found.radius,
                }),
                _ => Value::Null,
            })
            .collect();
        let gaps = self.certificate.claims.iter().map(|claim| optimality(claim).map(|o| o.gap));
        let worst =
            gaps.collect::<Option<Vec<f64>>>().map(|gaps| gaps.into_iter().fold(0.0, f64::max));
        json!({
            "schema": "linsep.result/1",
            "command": "certify",
            "foreign": path.display().to_string(),
            "form": self.foreign.form,
            "learner": self.recipe.name,
            "parameters": self.recipe.effective(self.settings),
            "stop": stop.word(),
            "gap": worst,
            "planes": planes,
        })
    }
}
