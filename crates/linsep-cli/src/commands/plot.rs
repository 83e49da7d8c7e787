//! `linsep plot DATA [MODEL]`: SVG pictures of data, models and runs.

use super::train::plan::stem;
use super::{axes, check_width, read_data, tell_about};
use crate::args::pictures::VIEWS;
use crate::context::Context;
use crate::exit::Failure;
use crate::files::Output;
use crate::input;
use crate::kinds::FileKind;
use crate::output::{Facts, counted, print, print_json};
use crate::progress::Watch;
use clap::ArgMatches;
use linsep::file::ModelFile;
use linsep::learn::descent::BATCH_PERCEPTRON;
use linsep::learn::discriminant::{FISHER, LDA};
use linsep::learn::perceptron;
use linsep::loss::Criterion;
use linsep::recipe::{self, Recipe, Settings};
use linsep::{Dataset, Error, Fit, Limits, LinearModel, Stop, Task};
use linsep_teach::plot::{
    Coefficients, Confusion, CriterionView, Curves, Direction, Histogram, Neuron, Pattern, Rates,
    RatesOf, Style, Weight, axes_named,
};
use linsep_teach::two_weights::TwoWeights;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let plan = Plan::new(matches, context)?;
    let (svg, rows) = plan.draw(matches, context)?;
    if context.stopped() {
        return Err(Error::Interrupted.into());
    }
    let Some(target) = &plan.target else {
        print(&svg)?;
        return Ok(ExitCode::SUCCESS);
    };
    target.write(|out| out.write_all(svg.as_bytes()))?;
    let output = target.display().to_string();
    if context.json {
        print_json(&serde_json::json!({
            "schema": "linsep.result/1",
            "command": "plot",
            "view": plan.view,
            "rows": rows,
            "width": plan.width,
            "bytes": svg.len(),
            "output": output,
        }))?;
    } else {
        let mut facts = Facts::default();
        let rows = rows.map_or(String::new(), |rows| format!(", {}", counted(rows as u64, "row")));
        facts.add("picture", format!("{output} ({}{rows})", plan.view));
        print(&facts.text(context))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What the flags ask for.
struct Plan {
    data: PathBuf,
    model: Option<PathBuf>,
    view: String,
    /// Where the picture goes; `None` is stdout.
    target: Option<Output>,
    width: u32,
    learner: String,
    learner_given: bool,
    title: Option<String>,
    rate: Option<f64>,
    start: Option<[f64; 2]>,
    updates: Option<u64>,
}

impl Plan {
    fn new(matches: &ArgMatches, context: &Context) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let Some(data) = input::paths(matches).into_iter().next() else {
            return Err(Error::usage("there is nothing to draw").into());
        };
        let width = match text("width").unwrap_or("800").parse() {
            Ok(width @ 200..=8000) => width,
            _ => {
                let words = format!(
                    "--width: \"{}\" is no whole number from 200 to 8000",
                    text("width").unwrap_or("")
                );
                return Err(Error::usage(words).into());
            }
        };
        let target = match matches.get_one::<Output>("output-file") {
            Some(output) if output.is_stdout() => None,
            Some(output) => Some(output.clone()),
            None => {
                let mut name = stem(std::slice::from_ref(&data), "picture");
                name.push(".svg");
                Some(context.files.output("the picture", name.into())?)
            }
        };
        if let Some(target) = &target {
            refuse_other_pictures(target)?;
            target.check(FileKind::Picture, matches)?;
        }
        if context.json && target.is_none() {
            let words = "--json needs -o FILE: the picture itself goes to standard output";
            return Err(Error::usage(words).into());
        }
        let start = text("start").map(pair).transpose()?;
        let rate = text("eta").map(|text| match text.parse::<f64>() {
            Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
            _ => Err(Error::usage(format!("--eta: \"{text}\" is no number above 0"))),
        });
        let updates = text("updates").map(|n| input::whole("updates", n)).transpose()?;
        if updates.is_some_and(|n| n > 1_000_000) {
            return Err(Error::usage("--updates: a picture shows at most 1000000").into());
        }
        let plan = Plan {
            data,
            model: input::subject(matches),
            view: text("view").unwrap_or("pattern").to_owned(),
            target,
            width,
            learner: text("learner").unwrap_or(recipe::DEFAULT.name).to_owned(),
            learner_given: text("learner").is_some(),
            title: text("title").map(str::to_owned),
            rate: rate.transpose()?,
            start,
            updates,
        };
        plan.refuse_idle_flags(matches)?;
        Ok(plan)
    }

    /// Refuses flags that would change nothing in this view.
    fn refuse_idle_flags(&self, matches: &ArgMatches) -> Result<(), Failure> {
        let view = self.view.as_str();
        const OF_VIEW: [(&str, &[&str]); 9] = [
            ("bins", &["calibration"]),
            ("axes", &["pattern"]),
            ("bias", &["weight"]),
            ("criterion", &["criterion"]),
            ("eta", &["weight", "criterion"]),
            ("start", &["weight", "criterion"]),
            ("updates", &["weight", "criterion", "curves"]),
            ("order", &["curves"]),
            ("direction", &["histogram"]),
        ];
        let given = |flag: &str| matches.get_one::<String>(flag).is_some();
        let idle = |(flag, views): &(&str, &[&str])| given(flag) && !views.contains(&view);
        if let Some((flag, views)) = OF_VIEW.iter().find(|entry| idle(entry)) {
            let words = format!("--{flag} is for --view {}, not {view}", views.join(" or "));
            return Err(Error::usage(words).into());
        }
        if matches.get_flag("ambiguous") && view != "pattern" {
            return Err(
                Error::usage(format!("--ambiguous is for --view pattern, not {view}")).into()
            );
        }
        if self.model.is_some() {
            if matches!(view, "weight" | "criterion" | "curves") {
                let words = format!("--view {view} shows a run of its own and takes no model");
                return Err(Error::usage(words).into());
            }
            let settled = [
                "positive",
                "features",
                "drop",
                "weight",
                "categorical",
                "reference",
                "unknown-level",
                "learner",
                "direction",
            ];
            if let Some(flag) = settled.iter().find(|flag| given(flag)) {
                let words = format!("--{flag} would change nothing: the model settles it");
                return Err(Error::usage(words).into());
            }
        }
        let untaught = matches!(view, "criterion" | "curves" | "histogram");
        if untaught && self.learner_given {
            return Err(Error::usage(format!("--learner is not for --view {view}")).into());
        }
        Ok(())
    }

    /// The picture, and how many rows there are.
    fn draw(
        &self,
        matches: &ArgMatches,
        context: &Context,
    ) -> Result<(String, Option<usize>), Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let style = self.style();
        if self.view == "neuron"
            && let Some(path) = self.lone_model()
        {
            let mut file = ModelFile::load(path, context.max_memory)?;
            if file.model.decision.is_some() {
                file.model = file.model.with_plane_for_each_class()?;
            }
            let mut neuron = Neuron::of(&file.model);
            neuron.about = format!("{} from {}", file.learner, shown(path));
            return Ok((neuron.draw(&style)?, None));
        }
        if self.view == "coefficients" && self.lone_model().is_some() {
            let words =
                "--view coefficients needs the data too: deviations of columns come from there";
            return Err(Error::usage(words).into());
        }
        let (data, model) = self.load(matches, context)?;
        check_width(&data, 64, context)?;
        let rows = Some(data.n_rows());
        let svg = match self.view.as_str() {
            "weight" => {
                let mut weight = Weight::of(Arc::clone(&data));
                weight.run = self.two_weights()?;
                weight.updates = self.updates.unwrap_or(weight.updates);
                weight.bias = text("bias").map(|word| word == "on");
                weight.draw(&style)?
            }
            "criterion" => {
                let criterion: Criterion = text("criterion").unwrap_or("jp").parse()?;
                let mut view = CriterionView::of(Arc::clone(&data), criterion);
                (view.start, view.rate) = (self.start, self.rate);
                view.updates = self.updates.unwrap_or(view.updates);
                view.draw(&style)?
            }
            "curves" => {
                let mut curves = Curves::of(Arc::clone(&data));
                curves.order = text("order").unwrap_or("cyclic").parse()?;
                (curves.seed, curves.threads) = (context.seed, context.threads);
                curves.updates = self.updates.unwrap_or(curves.updates);
                curves.draw(&style, &|| context.stopped())?
            }
            "histogram" => match &model {
                Some((model, about)) => Histogram::of_model(&data, about, model)?.draw(&style)?,
                None => {
                    let directions =
                        self.directions(&data, text("direction").unwrap_or("both"), context)?;
                    Histogram::of(&data, directions).draw(&style)?
                }
            },
            "axes" => self.draw_axes(&data, model, &style, context)?,
            view => {
                let model = match model {
                    None if self.learner == "none" && view == "pattern" => None,
                    None if self.learner == "none" => {
                        let words = format!("--view {view} needs a model or a learner");
                        return Err(Error::usage(words).into());
                    }
                    None => {
                        let fit = self.fit(&self.learner, &data, context)?;
                        Some((fit.model, format!("{}, trained on these rows", self.learner)))
                    }
                    model => model,
                };
                match (view, &model) {
                    ("confusion", Some((model, _))) => {
                        let evaluation = self.evaluate(model, &data, matches, context)?;
                        Confusion::of(&evaluation).draw(&style)?
                    }
                    ("roc" | "precision-recall" | "calibration", Some((model, about))) => {
                        let bins = text("bins").map_or(Ok(10), |n| input::whole("bins", n))?;
                        if !(1..=100).contains(&bins) {
                            let words = "--bins: a number from 1 to 100 is needed";
                            return Err(Error::usage(words).into());
                        }
                        let of = match view {
                            "roc" => RatesOf::Roc,
                            "precision-recall" => RatesOf::PrecisionRecall,
                            _ => RatesOf::Calibration(bins as usize),
                        };
                        let rows = self.predictions(model, &data, matches, context)?;
                        let mut rates = Rates::of(&rows, of);
                        rates.about.clone_from(about);
                        rates.draw(&style)?
                    }
                    ("neuron", Some((model, about))) => {
                        let mut neuron = Neuron::of(model).with_rows(&data);
                        neuron.about.clone_from(about);
                        neuron.draw(&style)?
                    }
                    ("coefficients", Some((model, about))) => {
                        let mut coefficients = Coefficients::of(model, &data);
                        coefficients.about.clone_from(about);
                        coefficients.draw(&style)?
                    }
                    _ => {
                        let mut pattern = Pattern::of(&data);
                        pattern.axes =
                            text("axes").map(|text| axes_named(&data, text)).transpose()?;
                        pattern.ambiguous = matches.get_flag("ambiguous");
                        if let Some((model, about)) = &model {
                            pattern.model = Some(model);
                            pattern.about.clone_from(about);
                        }
                        pattern.draw(&style)?
                    }
                }
            }
        };
        Ok((svg, rows))
    }

    /// Rows on discriminant axes, and the regions of the model there.
    fn draw_axes(
        &self,
        data: &Arc<Dataset>,
        model: Option<(LinearModel, String)>,
        style: &Style,
        context: &Context,
    ) -> Result<String, Failure> {
        let (axes, model, about) = match (model, &self.model) {
            (Some((model, about)), Some(path)) => {
                (axes::of_file(&ModelFile::load(path, context.max_memory)?)?, model, about)
            }
            _ => {
                let learner = if self.learner_given { self.learner.as_str() } else { LDA };
                let fit = self.fit(learner, data, context)?;
                let rows = data.n_rows() as u64;
                let axes = axes::of_fit(&fit.model, fit.density.as_ref(), learner, rows)?;
                (axes, fit.model, format!("{learner}, trained on these rows"))
            }
        };
        let (table, flat) = axes::projected(data, &model, &axes)?;
        let mut pattern = Pattern::of(&table);
        // Of more than two axes a section at the mean of all: regions are exact for two.
        pattern.axes = (table.n_features() > 2).then_some([0, 1]);
        (pattern.model, pattern.about) = (Some(&flat), about);
        Ok(pattern.draw(style)?)
    }

    fn style(&self) -> Style {
        let words = match self.view.as_str() {
            "pattern" => "pattern space",
            "weight" => "weight space",
            "criterion" => "a criterion over two weights",
            "curves" => "the perceptron and its bounds",
            "axes" => "discriminant axes",
            "histogram" => "projected rows",
            "confusion" => "confusion matrix",
            "roc" => "ROC curve",
            "precision-recall" => "precision and recall",
            "calibration" => "calibration",
            "neuron" => "the model as a neuron",
            "coefficients" => "weights for columns in standard deviations",
            view => VIEWS.iter().find(|(name, _)| *name == view).map_or("", |(_, words)| words),
        };
        let title = self.title.clone().unwrap_or_else(|| format!("{}: {words}", shown(&self.data)));
        let mut style = Style::new(title);
        style.width = self.width;
        style
    }

    /// The model, where nothing else was given.
    fn lone_model(&self) -> Option<&Path> {
        let is_model = self.data.extension().is_some_and(|ending| ending == "linsep");
        (self.model.is_none() && is_model).then_some(self.data.as_path())
    }

    /// The data, with the columns of the model where there is one.
    #[allow(clippy::type_complexity)]
    fn load(
        &self,
        matches: &ArgMatches,
        context: &Context,
    ) -> Result<(Arc<Dataset>, Option<(LinearModel, String)>), Failure> {
        let Some(path) = &self.model else {
            return Ok((Arc::new(read_data(matches, context)?.data), None));
        };
        let mut file = ModelFile::load(path, context.max_memory)?;
        if file.model.decision.is_some() {
            file.model = file.model.with_plane_for_each_class()?;
        }
        let mut options = input::options(matches, context)?;
        if file.model.input.rest {
            options.positive = file.model.classes.get(1).cloned();
        }
        let inputs = std::slice::from_ref(&self.data);
        // Pictures show the columns themselves; the model makes its basis functions of them.
        let mut columns = file.model.input.clone();
        columns.basis = None;
        let read = input::source_of(inputs, &options).read(Some(&columns))?;
        tell_about(&read, matches, context)?;
        let about = format!("{} from {}", file.learner, shown(path));
        Ok((Arc::new(read.data), Some((file.model, about))))
    }

    fn fit(&self, learner: &str, data: &Arc<Dataset>, context: &Context) -> Result<Fit, Failure> {
        let recipe = Recipe::find(learner)?;
        let mut settings = Settings::default();
        settings.seed = context.seed;
        let planes = if data.n_classes() > 2 { data.n_classes() as u64 } else { 1 };
        let more = recipe.bytes_per_feature(data.n_features() as u64);
        check_width(data, 8 * (2 * planes + 2) + more, context)?;
        let task = Task::new(Arc::clone(data)).with_threads(context.threads);
        let watch = &mut Watch::new(context);
        let fit = recipe.build(&settings)?.fit(&task, &Limits::default(), watch)?;
        match fit.stop {
            Stop::Diverged => Err(Error::usage(
                "the weights left the range of binary64; choose another --learner",
            )
            .into()),
            Stop::Time | Stop::Interrupted => Err(Error::Interrupted.into()),
            _ => Ok(fit),
        }
    }

    fn evaluate(
        &self,
        model: &LinearModel,
        data: &Dataset,
        matches: &ArgMatches,
        context: &Context,
    ) -> Result<linsep::metrics::Evaluation, Failure> {
        match self.model {
            None => Ok(model.evaluate(data, None, context.threads)),
            Some(_) => {
                let options = input::options(matches, context)?;
                let source = input::source_of(std::slice::from_ref(&self.data), &options);
                Ok(model.evaluate_source(source)?)
            }
        }
    }

    fn predictions(
        &self,
        model: &LinearModel,
        data: &Dataset,
        matches: &ArgMatches,
        context: &Context,
    ) -> Result<linsep::metrics::Predictions, Failure> {
        match self.model {
            None => {
                let all: Vec<u32> = (0..data.n_rows() as u32).collect();
                Ok(model.predictions(data, &all))
            }
            Some(_) => {
                let options = input::options(matches, context)?;
                let source = input::source_of(std::slice::from_ref(&self.data), &options);
                let mut tally = model.tally_source(source, model.tally().keeping_rows())?;
                Ok(tally.take_rows().unwrap_or_default())
            }
        }
    }

    fn directions(
        &self,
        data: &Arc<Dataset>,
        which: &str,
        context: &Context,
    ) -> Result<Vec<Direction>, Failure> {
        let mut directions = Vec::new();
        // It refuses other than two classes, so it comes first in any case.
        let means = Direction::of_means(data)?;
        if which != FISHER {
            directions.push(means);
        }
        if which != "means" {
            let fisher = self.fit(FISHER, data, context)?;
            directions.push(Direction::of_model("direction of Fisher", &fisher.model)?);
        }
        Ok(directions)
    }

    fn two_weights(&self) -> Result<TwoWeights, Failure> {
        let mut run = TwoWeights::default();
        run.batch = match self.learner.as_str() {
            perceptron::NAME => None,
            BATCH_PERCEPTRON => Some(Criterion::Perceptron),
            other => {
                let words = format!(
                    "--learner: the view weight shows {} or {BATCH_PERCEPTRON}, not {other}",
                    perceptron::NAME
                );
                return Err(Error::usage(words).into());
            }
        };
        run.rate = self.rate.or(Some(1.0));
        run.start = self.start.unwrap_or([0.0; 2]);
        Ok(run)
    }
}

/// The picture that a flag of another command asks for, refused before the work if it cannot be written.
pub(super) fn beside(flag: &str, matches: &ArgMatches) -> Result<Option<Output>, Failure> {
    let Some(output) = matches.get_one::<Output>(flag) else { return Ok(None) };
    if output.is_stdout() {
        let words = format!("--{flag}: the picture goes to a file, - is none");
        return Err(Error::usage(words).into());
    }
    refuse_other_pictures(output)?;
    output.check(FileKind::Picture, matches)?;
    Ok(Some(output.clone()))
}

/// Refuses names that promise another format than the one that is written.
fn refuse_other_pictures(target: &Output) -> Result<(), Error> {
    const OTHERS: [&str; 10] =
        ["png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "pdf", "eps"];
    let path = target.path();
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.filter(|ending| OTHERS.contains(&ending.as_str())) {
        None => Ok(()),
        Some(ending) => Err(Error::usage(format!(
            "pictures are SVG, not {}; name it {}",
            ending.to_uppercase(),
            path.with_extension("svg").display()
        ))),
    }
}

fn pair(text: &str) -> Result<[f64; 2], Error> {
    let wrong = || Error::usage(format!("--start: \"{text}\" is not two numbers such as 1,-2"));
    let (a, b) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.filter(|x| x.abs() <= 1e100).ok_or_else(wrong)
    };
    Ok([number(a)?, number(b)?])
}

fn shown(path: &Path) -> String {
    match path.file_name() {
        _ if path.as_os_str() == "-" => "standard input".to_owned(),
        Some(name) => linsep::escaped(&name.to_string_lossy()),
        None => path.display().to_string(),
    }
}
