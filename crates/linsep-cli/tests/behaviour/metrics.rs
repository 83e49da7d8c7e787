//! Metrics of `evaluate` and `compare`, thresholds and costs of `train`.

use crate::common::Room;
use serde_json::Value;

/// Rows with one feature x and the class yes where it is large, one row in five against it; few are yes.
fn rare(room: &Room) {
    let row = |k: u32| {
        let class = if (k > 170) != k.is_multiple_of(11) { "yes" } else { "no" };
        format!("{},{class}\n", f64::from(k) / 10.0)
    };
    room.write("rare.csv", &("x,class\n".to_owned() + &(0..200).map(row).collect::<String>()));
}

fn metric<'a>(json: &'a Value, name: &str) -> &'a Value {
    json["metrics"].as_array().unwrap().iter().find(|m| m["metric"] == name).unwrap()
}

#[test]
fn all_metrics_have_values_and_intervals_of_two_and_of_three_classes() {
    let room = Room::with_examples();
    for (data, none) in [("breast_cancer", 0), ("iris", 3)] {
        room.run(&format!("train examples/{data}.csv --learner logistic")).exits(0);
        let line = format!(
            "evaluate {data}.linsep examples/{data}.csv --metrics all --intervals --draws 50 --bins 5 --json"
        );
        let found = room.run(&line).exits(0).json();
        let all = found["metrics"].as_array().unwrap();
        assert_eq!(all.len(), 21);
        assert_eq!(all.iter().filter(|m| m["value"].is_null()).count(), none, "{data}");
        for m in all.iter().filter(|m| !m["value"].is_null()) {
            let [low, value, high] = [&m["interval"][0], &m["value"], &m["interval"][1]];
            let [low, value, high] = [low, value, high].map(|n| n.as_f64().unwrap());
            assert!(low <= value && value <= high, "{m}");
        }
        for m in all.iter().filter(|m| m["value"].is_null()) {
            assert!(m["note"].as_str().unwrap().contains("-macro"), "{m}");
        }
        let auc = metric(&found, "auc");
        assert_eq!(auc["method"], if none == 0 { "delong" } else { "bootstrap" });
        assert_eq!(found["calibration"]["bins"].as_array().unwrap().len(), 5);
        assert_eq!(metric(&found, "accuracy")["value"], found["accuracy"]);
        assert_eq!(metric(&found, "mcc")["value"], found["mcc"]);
        assert_eq!(found["one_vs_rest"].as_array().map_or(0, Vec::len), none);
        // No bit depends on the number of threads, and text and lines say the same.
        let again = room.run(&format!("{line} --threads 1")).exits(0).json();
        assert_eq!(found["metrics"], again["metrics"]);
        let text = room.run(&line.replace("--json", "")).exits(0).out;
        assert!(
            text.contains("balanced-accuracy") && text.contains("calibration error in 5 bins"),
            "{text}"
        );
        assert!(!text.contains("NaN"), "{text}");
        let plain = room.run(&line.replace("--json", "--plain")).exits(0).out;
        assert_eq!(plain.lines().filter(|line| line.starts_with("metric\t")).count(), 21);
    }
}

#[test]
fn data_of_one_class_and_certain_errors_are_told_and_never_nan() {
    let room = Room::with_examples();
    rare(&room);
    room.run("train rare.csv --learner logistic").exits(0);
    room.write("one.csv", "x,class\n1,no\n2,no\n");
    let run = room.run("evaluate rare.linsep one.csv --metrics all --bins 3").exits(0);
    assert!(run.out.contains("auc         none: every row is of class \"no\""), "{}", run.out);
    assert!(run.out.contains("auc: every row is of class \"no\""), "{}", run.out);
    assert!(!run.out.contains("NaN"), "{}", run.out);
    room.write("sure.csv", "x,class\n-1e9,yes\n1,no\n");
    let run = room.run("evaluate rare.linsep sure.csv --metrics log-loss").exits(0);
    assert!(run.out.contains("else infinite: 1 row of a class of probability 0"), "{}", run.out);
    assert!(run.out.contains("1 of 2 rows are of a class of probability 0"), "{}", run.out);
}

#[test]
fn bars_work_for_every_metric_and_losses_are_bounded_from_above() {
    let room = Room::with_examples();
    rare(&room);
    room.run("train rare.csv --learner logistic").exits(0);
    for (bars, code) in [
        ("--fail-under log-loss=9", 0),
        ("--fail-under log-loss=0.0001", 1),
        ("--fail-under brier=0.5 --fail-under accuracy=0.5", 0),
        ("--fail-under brier=0.5 --fail-under f1=0.999", 1),
        ("--fail-under balanced_accuracy=0.999", 1),
        ("--fail-under mcc=-1", 0),
    ] {
        room.run(&format!("evaluate rare.linsep rare.csv {bars}")).exits(code);
    }
}

#[test]
fn compare_ranks_and_tests_by_a_metric() {
    let room = Room::with_examples();
    rare(&room);
    let line = "compare rare.csv --learners logistic,lda,perceptron --knn 0 --no-time";
    let plain = room.run(line).exits(0).out;
    assert!(plain.contains("balanced  wrong"), "{plain}");
    for (name, test) in [
        ("log-loss", "randomisation"),
        ("auc", "delong"),
        ("mcc", "randomisation"),
        ("f1", "randomisation"),
    ] {
        let line = format!("{line} --metric {name} --json");
        let found = room.run(&line).exits(0).json();
        let entries = found["entries"].as_array().unwrap();
        assert_eq!(found["metric"], name);
        let values: Vec<f64> =
            entries.iter().filter_map(|entry| entry["metric"]["value"].as_f64()).collect();
        let falls =
            |pair: &[f64]| if name == "log-loss" { pair[0] <= pair[1] } else { pair[0] >= pair[1] };
        assert!(values.len() >= 2 && values.windows(2).all(falls), "{name} {values:?}");
        assert_eq!(found["test"], test);
        assert!(entries[0]["p"].is_null() && entries[1]["p"].as_f64().unwrap() <= 1.0);
        assert_eq!(found, room.run(&format!("{line} --threads 1")).exits(0).json());
    }
    let text = room.run(&format!("{line} --metric log-loss")).exits(0).out;
    assert!(text.contains("less is better"), "{text}");
}

#[test]
fn a_threshold_is_chosen_on_rows_held_out_and_used_everywhere() {
    let room = Room::with_examples();
    rare(&room);
    room.write("costs.csv", "true,no,yes\nno,0,1\nyes,20,0\n");
    let train = "train rare.csv --learner logistic";
    room.run(&format!("{train} -o plain.linsep")).exits(0);
    for asked in ["0.2", "cost --cost-matrix costs.csv", "f1", "youden", "rate=0.05"] {
        let trained = room.run(&format!("{train} --threshold {asked} --json")).exits(0).json();
        let decision = &trained["threshold"]["decision"]["threshold"];
        let score = decision["score"].as_f64().unwrap();
        assert_eq!(decision["rows"].is_null(), asked == "0.2", "{decision}");
        let shown = room.run("show rare.linsep").exits(0).out;
        assert!(shown.contains(&format!("yes from a score of {score}")), "{shown}");
        // Predictions follow the scores, and so do evaluation and exports.
        let out = room.run("predict rare.linsep rare.csv --output scores").exits(0).out;
        let mut yes = 0;
        for line in out.lines().skip(1) {
            let (class, found) = line.split_once(',').unwrap();
            assert_eq!(class == "yes", found.parse::<f64>().unwrap() >= score, "{line}");
            yes += u64::from(class == "yes");
        }
        let judged = room.run("evaluate rare.linsep rare.csv --json").exits(0).json();
        let counted: u64 = (0..2).map(|t| judged["confusion"][t][1].as_u64().unwrap()).sum();
        assert_eq!(counted, yes, "{asked}");
        // The planes are those without a threshold, and what is proved of them holds.
        let [a, b] = ["rare.linsep", "plain.linsep"]
            .map(|file| room.run(&format!("show {file} --json")).exits(0).json()["planes"].clone());
        assert_eq!(a, b);
        room.run("verify rare.linsep rare.csv").exits(0);
        for target in ["c", "json"] {
            room.run(&format!("export rare.linsep --to {target} --check rare.csv --force"))
                .exits(0);
        }
        for target in ["onnx", "onnx-f32", "liblinear"] {
            let run = room.run(&format!("export rare.linsep --to {target}"));
            assert!(run.exits(4).err.contains("threshold"), "{target}");
        }
        let again = room.run("predict rare.json rare.csv").exits(0).out;
        assert_eq!(again.matches("yes").count() as u64, yes, "{asked}");
    }
    let trained = room.run(&format!("{train} --threshold rate=0.05 --json")).exits(0).json();
    assert!(trained["threshold"]["held_out"]["false_positive_rate"].as_f64().unwrap() <= 0.05);
    room.run("plot rare.csv rare.linsep -o rare.svg").exits(0);
}

#[test]
fn costs_decide_by_expected_cost_and_are_counted() {
    let room = Room::with_examples();
    rare(&room);
    room.write("costs.csv", "true,no,yes\nno,0,1\nyes,20,0\n");
    let cost = |flags: &str| {
        room.run(&format!("train rare.csv --learner logistic {flags}")).exits(0);
        let line = "evaluate rare.linsep rare.csv --cost-matrix costs.csv --json";
        room.run(line).exits(0).json()["mean_cost"].as_f64().unwrap()
    };
    assert!(cost("--cost-matrix costs.csv") < cost(""));
    let species = ["setosa", "versicolor", "virginica"];
    room.write(
        "iris-costs.csv",
        "true,setosa,versicolor,virginica\nsetosa,0,1,1\nversicolor,1,0,1\nvirginica,50,50,0\n",
    );
    let cost = |flags: &str| {
        room.run(&format!("train examples/iris.csv --learner logistic {flags}")).exits(0);
        let line = "evaluate iris.linsep examples/iris.csv --cost-matrix iris-costs.csv --json";
        let found = room.run(line).exits(0).json();
        (found["mean_cost"].as_f64().unwrap(), found["confusion"].clone())
    };
    let (plain, _) = cost("");
    let (less, confusion) = cost("--cost-matrix iris-costs.csv");
    assert!(less < plain && confusion[2][2] == 50, "{less} {plain} {confusion}");
    assert!(room.run("show iris.linsep").exits(0).out.contains("least expected cost"));
    room.run("export iris.linsep --to json").exits(0);
    assert!(room.run("export iris.linsep --to c").exits(4).err.contains("costs"));
    assert!(
        room.run("evaluate iris.json examples/iris.csv --json").exits(0).json()["confusion"]
            == confusion
    );
    assert!(
        species.iter().all(|name| room
            .run("predict iris.linsep examples/iris.csv")
            .exits(0)
            .out
            .contains(name))
    );
}

#[test]
fn thresholds_and_costs_that_cannot_be_are_refused_before_any_work() {
    let room = Room::with_examples();
    rare(&room);
    room.write("wrong.csv", "true,no,maybe\nno,0,1\nmaybe,1,0\n");
    room.write("costs.csv", "true,no,yes\nno,0,1\nyes,20,0\n");
    for (flags, words) in [
        ("rare.csv --learner logistic --threshold 1.5", "probability from 0 to 1"),
        ("rare.csv --learner logistic --threshold rate=2", "number from 0 to 1"),
        ("rare.csv --learner logistic --threshold often", "neither a probability"),
        ("rare.csv --learner logistic --threshold cost", "--cost-matrix FILE"),
        ("rare.csv --learner logistic --threshold f1 --cost-matrix costs.csv", "only cost"),
        (
            "rare.csv --learner logistic --cost-matrix wrong.csv",
            "line 1, column 3: there is no class \"maybe\"",
        ),
        ("rare.csv --learner logistic --cost-matrix missing.csv", "missing.csv"),
        ("examples/iris.csv --learner logistic --threshold f1", "two classes apart"),
        ("rare.csv --learner svm --threshold 0.5", "--probabilities platt"),
        ("rare.csv --learner svm --cost-matrix costs.csv", "--probabilities platt"),
        ("rare.csv --learner logistic --threshold midpoint", "threshold"),
    ] {
        let run = room.run(&format!("train {flags} -o m.linsep"));
        assert!(run.err.contains(words), "{flags}: {}", run.err);
        assert!(!room.names().contains(&"m.linsep".to_owned()), "{flags}");
    }
    room.run("train rare.csv --learner svm --probabilities platt --threshold 0.5").exits(0);
    room.run("train rare.csv --learner svm --threshold f1").exits(0);
    room.run("train rare.csv --learner fisher --threshold prior").exits(0);
    room.run("train rare.csv --learner fisher --threshold youden").exits(0);
}

#[test]
fn settings_are_tuned_by_a_metric_the_same_for_any_number_of_threads() {
    let room = Room::with_examples();
    rare(&room);
    let train = "train rare.csv --learner logistic";
    let tune = "--tune c=log:1e-4..1e2:7,penalty=l1|l2 --metric log-loss --cv 4";
    let line = format!("{train} {tune} --nested --json");
    let found = room.run(&line).exits(0).json();
    let tuned = &found["tuned"];
    let points = tuned["points"].as_array().unwrap();
    assert_eq!(points.len(), 14);
    let mean = |point: &Value| point["mean"].as_f64().unwrap();
    let best = points.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap();
    assert_eq!((&tuned["chosen"], &tuned["best"]), (&best["settings"], &best["settings"]));
    assert_eq!(found["parameters"]["c"], best["settings"]["c"]);
    assert_eq!(tuned["nested"]["folds"].as_array().unwrap().len(), 4);
    let again = room.run(&format!("{line} --threads 1")).exits(0).json();
    assert_eq!(again["tuned"], found["tuned"]);
    // The simplest within one standard error has no larger C.
    let simple = room.run(&format!("{train} {tune} --tune-rule 1se --json")).exits(0).json();
    let c = |value: &Value| value["c"].as_str().unwrap().parse::<f64>().unwrap();
    assert!(c(&simple["tuned"]["chosen"]) <= c(&tuned["chosen"]));
    let text = room.run(&format!("{train} {tune} --nested")).exits(0).out;
    assert!(text.contains("tuned") && text.contains("nested") && text.contains(" *"), "{text}");
    // The model is that of the settings.
    let settings = &best["settings"];
    let own = format!(
        "{train} --c {} --penalty {} -o own.linsep",
        settings["c"].as_str().unwrap(),
        settings["penalty"].as_str().unwrap()
    );
    room.run(&line).exits(0);
    room.run(&own).exits(0);
    let planes =
        |file: &str| room.run(&format!("show {file} --json")).exits(0).json()["planes"].clone();
    assert_eq!(planes("rare.linsep"), planes("own.linsep"));
}

#[test]
fn grids_that_cannot_be_searched_are_refused() {
    let room = Room::with_examples();
    rare(&room);
    room.write("few.csv", "x,class\n1,a\n2,a\n3,a\n4,a\n5,a\n6,b\n");
    for (flags, words) in [
        ("rare.csv --learner logistic --tune depth=1|2", "has no setting \"depth\""),
        ("rare.csv --learner logistic --tune c=", "value 1 is empty"),
        ("rare.csv --learner logistic --tune c=log:0..1:3", "no logarithm"),
        ("rare.csv --learner logistic --tune c=1|2 --c 3", "set and tuned"),
        ("rare.csv --learner logistic --tune penalty=l1|l7", "l7"),
        ("rare.csv --learner logistic --tune c=1|2 --metric rmse", "no metric"),
        (
            "rare.csv --learner logistic --tune penalty=l1|l2 --tune-rule 1se",
            "how strong the penalty",
        ),
        ("rare.csv --learner svm --tune c=1|2 --metric log-loss", "no probabilities"),
        ("rare.csv --learner logistic --metric auc", "is for --tune"),
        ("rare.csv --learner logistic --nested", "is for --tune"),
        ("few.csv --learner logistic --tune c=1|2 --metric auc --cv 3", "class \"b\" has one row"),
    ] {
        let run = room.run(&format!("train {flags} -o m.linsep"));
        assert!(run.err.contains(words), "{flags}: {}", run.err);
        assert!(!room.names().contains(&"m.linsep".to_owned()), "{flags}");
    }
}
