//! `linsep evaluate MODEL DATA`: predictions against labels.

use super::{costs, json_number};
use crate::context::Context;
use crate::exit::Failure;
use crate::input;
use crate::output::{aligned, note, print, print_json};
use clap::ArgMatches;
use linsep::Error;
use linsep::metrics::{
    Ambiguous, Averages, Bin, Calibration, Evaluation, Measure, Metric, Predictions, Resampling,
    SHOWN_CLASSES,
};
use linsep::model::Costs;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) fn run(matches: &ArgMatches, context: &Context) -> Result<ExitCode, Failure> {
    crate::context::end_at_once();
    let plan = Plan::new(matches, context)?;
    let Some(path) = &input::subject(matches) else { return Ok(ExitCode::from(2)) };
    let model = super::load_model(path, context)?;
    plan.check(model.classes.len())?;
    let costs = matches.get_one::<PathBuf>("cost-matrix");
    let costs = costs.map(|path| costs::read(path, &model.classes, context)).transpose()?;
    let mut tally = match plan.needs_rows() {
        true => model.tally().keeping_rows(),
        false => model.tally(),
    };
    tally = model.tally_source(input::source(matches, context)?, tally)?;
    let rows = tally.take_rows();
    let evaluation = tally.finish();
    let cost = costs.and_then(|costs| mean_cost(&evaluation, &costs));
    let found = rows.map(|rows| Found::new(&plan, &rows));
    if context.json {
        let mut value = serde_json::to_value(&evaluation).unwrap_or_default();
        value["schema"] = "linsep.result/1".into();
        value["command"] = "evaluate".into();
        if let Some(cost) = cost {
            value["mean_cost"] = json_number(cost);
        }
        if let Some(found) = &found {
            found.add_to(&mut value);
        }
        print_json(&value)?;
    } else if context.plain {
        let cost = cost.map_or(String::new(), |cost| format!("mean_cost\t{cost}\n"));
        print(&(plain(&evaluation) + &cost + &found.as_ref().map_or(String::new(), Found::plain)))?;
    } else {
        let mut text = evaluation.to_text();
        if evaluation.classes.len() > SHOWN_CLASSES {
            text = format!("{}; use --json to get all\n", text.trim_end());
        }
        let cost = cost.map_or(String::new(), |cost| format!("\nmean cost of a row {cost:.6}\n"));
        print(&(text + &cost + &found.as_ref().map_or(String::new(), Found::text)))?;
    }
    let measures = found.map_or_else(Vec::new, |found| found.bars);
    let mut code = ExitCode::SUCCESS;
    for (bar, measure) in plan.bars.iter().zip(measures) {
        let name = bar.metric;
        let Some(value) = measure.value else {
            let reason = measure.note.unwrap_or_default();
            let words = format!("--fail-under: there is no {name} here: {reason}");
            return Err(Error::usage(words).into());
        };
        if bar.metric.is_better(bar.limit, value) {
            let side = if name.is_loss() { "above" } else { "below" };
            note(context, &format!("{name} is {value}, {side} the bar of {}", bar.limit));
            code = ExitCode::from(1);
        }
    }
    Ok(code)
}

/// What the predictions cost, by weight; none without rows.
fn mean_cost(evaluation: &Evaluation, costs: &Costs) -> Option<f64> {
    let pairs = evaluation.confusion.pairs();
    let (sum, rows) = pairs.fold((0.0, 0.0), |(sum, rows), (truth, predicted, weight)| {
        (sum + weight * costs.of(truth as usize, predicted as usize), rows + weight)
    });
    (rows > 0.0).then(|| sum / rows)
}

/// Beyond so many classes only counts are kept: the probabilities of all rows would fill memory.
const MOST_CLASSES: usize = 512;

/// What the flags ask for beside the usual.
struct Plan {
    metrics: Vec<Metric>,
    bars: Vec<Bar>,
    /// The bins of the calibration, if its table is asked for.
    bins: Option<usize>,
    resampling: Option<Resampling>,
}

impl Plan {
    fn new(matches: &ArgMatches, context: &Context) -> Result<Plan, Failure> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let named =
            |text: &str| text.parse().map_err(|error| Error::usage(format!("--metrics: {error}")));
        let metrics: Vec<Metric> = match text("metrics") {
            None => Vec::new(),
            Some("all") => Metric::all().collect(),
            Some(list) => list.split(',').map(named).collect::<Result<_, Error>>()?,
        };
        let bars = matches.get_many::<String>("fail-under").into_iter().flatten();
        let bars = bars.map(|text| Bar::parse(text)).collect::<Result<_, _>>()?;
        let bins = text("bins").map(|n| input::whole("bins", n)).transpose()?;
        if bins.is_some_and(|bins| !(1..=1000).contains(&bins)) {
            return Err(Error::usage("--bins: a number from 1 to 1000 is needed").into());
        }
        let draws = text("draws").map(|n| input::whole("draws", n)).transpose()?;
        if draws.is_some_and(|draws| !(20..=1_000_000).contains(&draws)) {
            return Err(Error::usage("--draws: a number from 20 to 1000000 is needed").into());
        }
        let intervals = matches.get_flag("intervals");
        if (intervals || draws.is_some()) && metrics.is_empty() {
            let flag = if intervals { "intervals" } else { "draws" };
            return Err(Error::usage(format!("--{flag} is for --metrics")).into());
        }
        let how = Resampling::new(draws.unwrap_or(1000) as usize, context.seed);
        Ok(Plan {
            metrics,
            bars,
            bins: bins.map(|bins| bins as usize),
            resampling: (intervals || draws.is_some()).then(|| how.with_threads(context.threads)),
        })
    }

    fn needs_rows(&self) -> bool {
        !self.metrics.is_empty() || !self.bars.is_empty() || self.bins.is_some()
    }

    fn check(&self, classes: usize) -> Result<(), Failure> {
        match self.needs_rows() && classes > MOST_CLASSES {
            true => Err(Error::usage(format!(
                "--metrics, --bins and --fail-under keep every row with its scores; of {classes} classes \
                 that is too much (at most {MOST_CLASSES}); --json has the averages of all classes"
            ))
            .into()),
            false => Ok(()),
        }
    }
}

/// What was asked for.
struct Found {
    measures: Vec<Measure>,
    bars: Vec<Measure>,
    calibration: Option<Result<Calibration, String>>,
    /// Each class against the rest.
    areas: Vec<(String, Areas)>,
}

/// Area under the ROC curve and average precision, or why there are none.
type Areas = Result<(f64, f64), String>;

impl Found {
    fn new(plan: &Plan, rows: &Predictions) -> Found {
        let measure = |metric: &Metric| rows.measure(*metric, plan.resampling);
        let areas =
            |metric: &Metric| matches!(metric, Metric::Auc(_) | Metric::AveragePrecision(_));
        let classes = rows.classes();
        let of_class = |class: usize| (classes[class].clone(), rows.areas(class));
        let several = plan.metrics.iter().any(areas) && classes.len() > 2;
        Found {
            measures: plan.metrics.iter().map(measure).collect(),
            bars: plan.bars.iter().map(|bar| rows.measure(bar.metric, None)).collect(),
            calibration: plan.bins.map(|bins| rows.calibration(bins)),
            areas: if several { (0..classes.len()).map(of_class).collect() } else { Vec::new() },
        }
    }

    fn add_to(&self, value: &mut Value) {
        if !self.measures.is_empty() {
            value["metrics"] = json!(self.measures);
        }
        if !self.areas.is_empty() {
            let class = |(class, areas): &(String, Result<(f64, f64), String>)| match areas {
                Ok((auc, precision)) => {
                    json!({ "class": class, "auc": json_number(*auc), "average_precision": json_number(*precision) })
                }
                Err(reason) => {
                    json!({ "class": class, "auc": null, "average_precision": null, "note": reason })
                }
            };
            value["one_vs_rest"] = self.areas.iter().map(class).collect();
        }
        match &self.calibration {
            Some(Ok(calibration)) => value["calibration"] = json!(calibration),
            Some(Err(reason)) => value["calibration"] = json!({ "note": reason }),
            None => {}
        }
    }

    fn plain(&self) -> String {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let mut text = String::new();
        for measure in &self.measures {
            let [low, high] = [0, 1].map(|end| number(measure.interval.map(|ends| ends[end])));
            let (name, value) = (&measure.metric, number(measure.value));
            let method = measure.method.unwrap_or("");
            text.push_str(&format!("metric\t{name}\t{value}\t{low}\t{high}\t{method}\n"));
        }
        if let Some(Ok(calibration)) = &self.calibration {
            for Bin { low, high, rows, probability, frequency, .. } in &calibration.bins {
                let [p, y] = [probability, frequency].map(|share| number(*share));
                text.push_str(&format!("bin\t{low}\t{high}\t{rows}\t{p}\t{y}\n"));
            }
        }
        text
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if !self.measures.is_empty() {
            let intervals = self.measures.iter().any(|measure| measure.interval.is_some());
            let mut head = vec!["metric", "value"];
            if intervals {
                head.extend(["95 % interval", "by"]);
            }
            let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
            for measure in &self.measures {
                let value = measure.value.map_or("none".to_owned(), |value| format!("{value:.6}"));
                let mut row = vec![measure.metric.clone(), value];
                if intervals {
                    let ends = measure.interval;
                    row.push(ends.map_or("-".to_owned(), |[a, b]| format!("[{a:.4}, {b:.4}]")));
                    row.push(measure.method.unwrap_or("-").to_owned());
                }
                rows.push(row);
            }
            let lines = aligned(&rows, |column| column == 1 || column == 2);
            text.push_str(&format!("\n{}\n", lines.join("\n")));
            for measure in &self.measures {
                if let Some(note) = &measure.note {
                    text.push_str(&format!("{}: {note}\n", measure.metric));
                }
            }
        }
        if !self.areas.is_empty() {
            let head = ["class against the rest", "auc", "average precision"].map(str::to_owned);
            let mut rows = vec![head.to_vec()];
            for (class, areas) in &self.areas {
                let class = linsep::printable(class.as_bytes(), 24);
                let (auc, precision) = match areas {
                    Ok((auc, precision)) => (format!("{auc:.6}"), format!("{precision:.6}")),
                    Err(reason) => ("none".to_owned(), reason.clone()),
                };
                rows.push(vec![class, auc, precision]);
            }
            text.push_str(&format!("\n{}\n", aligned(&rows, |column| column > 0).join("\n")));
        }
        match &self.calibration {
            None => {}
            Some(Err(reason)) => text.push_str(&format!("\ncalibration: {reason}\n")),
            Some(Ok(calibration)) => text.push_str(&bins(calibration)),
        }
        text
    }
}

/// A table of probabilities against frequencies.
fn bins(calibration: &Calibration) -> String {
    let head = ["probability", "rows", "mean", "frequency", "95 % Wilson"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.4}"));
    for bin in calibration.bins.iter().filter(|bin| bin.rows > 0) {
        let ends = bin.interval.map_or("-".to_owned(), |[a, b]| format!("[{a:.4}, {b:.4}]"));
        rows.push(vec![
            format!("{:.3} to {:.3}", bin.low, bin.high),
            bin.rows.to_string(),
            share(bin.probability),
            share(bin.frequency),
            ends,
        ]);
    }
    let (error, largest) = (share(calibration.error), share(calibration.largest));
    format!(
        "\n{}\ncalibration error in {} bins {error}, largest {largest}\n",
        aligned(&rows, |column| column > 0).join("\n"),
        calibration.bins.len()
    )
}

/// Of more classes than this only pairs that occur are listed.
const SHOWN_PAIRS: usize = 512;

/// Tab-separated lines.
fn plain(evaluation: &Evaluation) -> String {
    let mut text = format!("rows\t{}\nerrors\t{}\n", evaluation.rows, evaluation.errors);
    if let Some(weighted) = evaluation.weighted {
        text.push_str(&format!(
            "weight\t{}\nweighted_errors\t{}\n",
            weighted.rows, weighted.errors
        ));
    }
    text.push_str(&format!("accuracy\t{}\n", evaluation.accuracy));
    let Averages { balanced_accuracy, mcc, kappa, over_classes, .. } = evaluation.averages;
    let averages = [
        ("balanced_accuracy", balanced_accuracy),
        ("mcc", mcc),
        ("kappa", kappa),
        ("f1_macro", over_classes.f1),
    ];
    if let Some(majority) = &evaluation.majority {
        text.push_str(&format!("majority_accuracy\t{}\n", majority.accuracy));
    }
    let more =
        [("auc", evaluation.auc), ("log_loss", evaluation.log_loss), ("brier", evaluation.brier)];
    for (name, value) in averages.into_iter().chain(more) {
        if let Some(value) = value {
            text.push_str(&format!("{name}\t{value}\n"));
        }
    }
    if let Some(Ambiguous { rows, errors, .. }) = evaluation.ambiguous {
        text.push_str(&format!("ambiguous\t{rows}\nambiguous_errors\t{errors}\n"));
    }
    let name = |class: u32| linsep::escaped(&evaluation.classes[class as usize]);
    let mut add = |truth: u32, predicted: u32, count: f64| {
        let (truth, predicted) = (name(truth), name(predicted));
        text.push_str(&format!("confusion\t{truth}\t{predicted}\t{count}\n"));
    };
    let classes = evaluation.classes.len() as u32;
    match evaluation.classes.len() > SHOWN_PAIRS {
        true => evaluation.confusion.pairs().for_each(|(t, p, count)| add(t, p, count)),
        false => {
            for truth in 0..classes {
                (0..classes)
                    .zip(evaluation.confusion.line(truth))
                    .for_each(|(p, n)| add(truth, p, n));
            }
        }
    }
    text
}

/// `accuracy=0.9`.
struct Bar {
    metric: Metric,
    limit: f64,
}

impl Bar {
    fn parse(text: &str) -> Result<Bar, Error> {
        let wrong = |why: String| Error::usage(format!("--fail-under: \"{text}\" {why}"));
        let Some((metric, limit)) = text.split_once('=') else {
            return Err(wrong("is not METRIC=X, such as accuracy=0.9".into()));
        };
        let metric: Metric =
            metric.parse().map_err(|error| Error::usage(format!("--fail-under: {error}")))?;
        let [low, high] = metric.range();
        match limit.parse::<f64>() {
            Ok(limit) if limit.is_finite() && (low..=high).contains(&limit) => {
                Ok(Bar { metric, limit })
            }
            _ if high.is_infinite() => Err(wrong(format!("needs a number of at least {low}"))),
            _ => Err(wrong(format!("needs a number from {low} to {high}"))),
        }
    }
}
