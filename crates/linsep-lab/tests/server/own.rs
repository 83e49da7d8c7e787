//! The user's own data: samples of many rows, views of many features, models that were learned elsewhere.

use crate::client::Server;
use crate::runs::{get, open, step, to_end};
use linsep::learn::perceptron::Perceptron;
use linsep::{Dataset, Learner, Limits, Task};
use linsep_lab::{Lab, Opening, Subject};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

fn lab_of(data: &Arc<Dataset>, opening: Option<Opening>) -> Server {
    let mut lab = Lab::default();
    let mut subject = Subject::new("own.csv", Arc::clone(data));
    subject.opening = opening;
    lab.subject = Some(subject);
    Server::start(lab)
}

fn own(learner: &str, settings: Value) -> Value {
    json!({ "data": { "kind": "file", "id": "own" }, "learner": learner, "settings": settings, "seed": 5 })
}

/// Rows around two corners of a cube, of which every `wrong`th is of the other class; with 1 none.
fn many(rows: usize, wrong: usize, width: usize) -> Arc<Dataset> {
    let mut state = 1u64;
    let mut noise = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24) - 0.5
    };
    let made: Vec<Vec<f64>> = (0..rows)
        .map(|i| {
            let side = if i % 2 == 0 { 1.0 } else { -1.0 };
            (0..width).map(|j| side * f64::from(u8::from(j == 0)) + noise()).collect()
        })
        .collect();
    let labels: Vec<&str> =
        (0..rows).map(|i| if (i % 2 == 0) == (i % wrong != 1) { "b" } else { "a" }).collect();
    Arc::new(Dataset::from_rows(&made, &labels).unwrap())
}

fn plain() -> Value {
    json!({ "order": "cyclic", "scale": "none", "verdict": "off" })
}

#[test]
fn a_sample_is_drawn_and_no_mistake_is_missed() {
    let data = many(20_000, 100, 3);
    let server = lab_of(&data, None);
    let (id, opened) = open(&server, &own("perceptron", plain()));
    let shown = opened["data"]["shown"].as_array().unwrap();
    assert_eq!(shown.len(), 4_000);
    assert_eq!(opened["data"]["sampled"], json!(true));
    step(&server, &id, "epoch", 1);
    let last = get(&server, &format!("/api/runs/{id}"))["summary"]["last"].as_u64().unwrap();
    let state = get(&server, &format!("/api/runs/{id}/state?k={last}"));
    // Margins by hand, over all rows.
    let plane = &state["planes"][0];
    let score = |row: usize| {
        let x = data.row(row);
        let terms = (0..3).map(|j| x[j] * plane[j + 1].as_f64().unwrap());
        let y = if data.class_of(row) == 1 { 1.0 } else { -1.0 };
        y * (terms.sum::<f64>() + plane[0].as_f64().unwrap())
    };
    let wrong: BTreeSet<u64> =
        (0..20_000).filter(|row| score(*row) <= 0.0).map(|row| row as u64).collect();
    assert_eq!(state["errors"].as_u64().unwrap(), wrong.len() as u64);
    assert!((200..900).contains(&wrong.len()), "{}", wrong.len());
    assert_eq!(state["also"]["left"], json!(0));
    let drawn =
        state["wrong"].as_array().unwrap().iter().map(|i| &shown[i.as_u64().unwrap() as usize]);
    let beside = state["also"]["rows"].as_array().unwrap().iter().map(|one| &one["row"]);
    let seen: BTreeSet<u64> = drawn.chain(beside).map(|row| row.as_u64().unwrap()).collect();
    assert_eq!(seen, wrong, "every wrong row is drawn, and no other one is called wrong");
    assert!(state["also"]["rows"].as_array().unwrap().len() + shown.len() <= 5_000);
    // The margin of the sample is no margin of the rows.
    assert_eq!(state["band"], Value::Null);
    let again = lab_of(&data, None);
    let (_, second) = open(&again, &own("perceptron", plain()));
    assert_eq!(&second["data"]["shown"], &opened["data"]["shown"], "the seed decides");
}

#[test]
fn rows_of_the_verdict_are_drawn_and_what_has_no_room_is_told() {
    let server = lab_of(&many(20_000, 3, 2), None);
    let (id, _) = open(&server, &own("perceptron", plain()));
    let verdict = get(&server, &format!("/api/runs/{id}/verdict"));
    let witness = verdict["witness"].as_array().unwrap();
    assert!(!witness.is_empty(), "{verdict}");
    step(&server, &id, "update", 5);
    let state = get(&server, &format!("/api/runs/{id}/state?k=5"));
    let rows = state["also"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1_000);
    let left = state["also"]["left"].as_u64().unwrap();
    assert!(left > 1_000, "{left}");
    let described = get(&server, &format!("/api/runs/{id}"));
    let shown = described["data"]["shown"].as_array().unwrap();
    for one in witness {
        let beside =
            rows.iter().any(|row| row["row"] == one["row"] && row["notable"] == json!(true));
        assert!(beside || shown.contains(&one["row"]), "{one}");
    }
}

#[test]
fn a_section_cuts_the_boundary_in_an_exact_line() {
    let data = many(60, 1, 5);
    let server = lab_of(&data, None);
    let (id, _) = open(&server, &own("perceptron", plain()));
    to_end(&server, &id);
    let last = get(&server, &format!("/api/runs/{id}"))["summary"]["last"].as_u64().unwrap();
    let view = |words: &str| get(&server, &format!("/api/runs/{id}/state?k={last}&view={words}"));
    // As the page writes it, and as a person does.
    let state = view("section%3A0%2C2%3A7");
    assert_eq!(state, view("section:0,2:7"));
    let (plane, section) = (&state["planes"][0], &state["view"]["section"]);
    assert_eq!(state["view"]["kind"], json!("section"));
    assert_eq!((&section["row"], &state["view"]["columns"]), (&json!(7), &json!([0, 2])));
    let anchor = data.row(7);
    let w = |j: usize| plane[j + 1].as_f64().unwrap();
    let c = plane[0].as_f64().unwrap() + w(1) * anchor[1] + w(3) * anchor[3] + w(4) * anchor[4];
    let line = &section["lines"][0];
    assert_eq!((line[0].as_f64().unwrap(), line[1].as_f64().unwrap()), (w(0), w(2)));
    assert!((line[2].as_f64().unwrap() - c).abs() < 1e-12);
    for row in 0..60 {
        let x = data.row(row);
        assert_eq!(state["view"]["points"][row], json!([x[0], x[2]]));
        let apart = section["apart"][row].as_f64().unwrap();
        assert_eq!(apart == 0.0, row == 7, "row {row} is {apart} away");
    }
    // The score of the anchor is the same on the line's terms.
    let own: f64 = (0..5).map(|j| w(j) * anchor[j]).sum::<f64>() + plane[0].as_f64().unwrap();
    assert!((w(0) * anchor[0] + w(2) * anchor[2] + c - own).abs() < 1e-12);
    let by_itself = view("section:0,2");
    assert!(by_itself["view"]["section"]["row"].as_u64().is_some_and(|row| row < 60));
    for wrong in ["section:0,9", "section:0,1:60", "columns:5,0", "tsne", "section:0,1:%2e%2e"] {
        let answer = server.get(&format!("/api/runs/{id}/state?k=0&view={wrong}"));
        assert_eq!(answer.status, 422, "{wrong}");
    }
}

#[test]
fn projections_say_how_much_of_the_variance_they_show() {
    let iris = std::fs::File::open(concat!(env!("CARGO_MANIFEST_DIR"), "/iris.csv")).unwrap();
    let options = linsep::data::read::ReadOptions::default();
    let read =
        linsep::data::read::RowSource::reader(iris, "iris.csv", &options).read(None).unwrap();
    let server = lab_of(&Arc::new(read.data), None);
    let (id, _) = open(&server, &own("perceptron", plain()));
    let share = |view: &str| {
        let state = get(&server, &format!("/api/runs/{id}/state?k=0&view={view}"));
        assert_eq!(state["view"]["kind"], json!(view));
        assert_eq!(state["view"]["measured"], json!(150));
        state["view"]["variance"].as_f64().unwrap()
    };
    // The two principal components of iris: 92.46 % and 5.31 % of the variance.
    assert!((share("pca") - 0.9777).abs() < 1e-4, "{}", share("pca"));
    let lda = share("lda");
    assert!(lda > 0.1 && lda < share("pca"), "{lda}");
    // The classes lie apart along the first axis of the discriminant analysis.
    let state = get(&server, &format!("/api/runs/{id}/state?k=0&view=lda"));
    let first: Vec<f64> =
        (0..150).map(|i| state["view"]["points"][i][0].as_f64().unwrap()).collect();
    let mean = |from: usize| first[from..from + 50].iter().sum::<f64>() / 50.0;
    let apart = (mean(0) - mean(50)).abs();
    assert!((mean(50) - mean(100)).abs() > 0.2 * apart);
    let reach = |from: usize| {
        let part = &first[from..from + 50];
        (
            part.iter().copied().fold(f64::INFINITY, f64::min),
            part.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ((low, high), (low2, high2)) = (reach(0), reach(50));
    assert!(high < low2 || high2 < low, "setosa is apart from versicolor");
}

#[test]
fn a_model_is_drawn_without_updates_and_its_learner_can_be_run() {
    let data = many(100, 1, 2);
    let task = Task::new(Arc::clone(&data));
    let model = Perceptron::default().fit(&task, &Limits::default(), &mut ()).unwrap().model;
    let mut opening = Opening::default();
    opening.learner = "perceptron".into();
    opening.model = Some(model.clone());
    let server = lab_of(&data, Some(opening));
    let catalogue = get(&server, "/api/catalogue");
    assert_eq!(catalogue["learners"][0]["name"], json!("model"));
    assert_eq!(catalogue["sets"]["own"]["opening"]["model"], json!(true));
    let (id, opened) = open(&server, &own("model", json!({})));
    assert_eq!(opened["summary"]["ended"], json!("finished"));
    let plane = &model.planes[0];
    let wanted = json!([[plane.bias, plane.weights[0], plane.weights[1]]]);
    assert_eq!(opened["frames"][0]["planes"], wanted);
    assert_eq!(step(&server, &id, "update", 1)["summary"]["last"], json!(0));
    let state = get(&server, &format!("/api/runs/{id}/state?k=0"));
    assert_eq!(state["errors"], json!(0));
    let mut spec = own("perceptron", json!({}));
    spec["seed"] = json!(0);
    let (id, _) = open(&server, &spec);
    let end = to_end(&server, &id);
    let last = end["summary"]["last"].as_u64().unwrap();
    let state = get(&server, &format!("/api/runs/{id}/state?k={last}"));
    assert_eq!(state["planes"], wanted, "the same settings, the same planes");
    // Only who named a model has one, and it takes no settings.
    let refused = server.post("/api/runs", &own("model", json!({ "eta": "1" })));
    assert_eq!(refused.status, 422);
    let bundled = json!({ "data": { "kind": "bundled", "name": "and" }, "learner": "model" });
    assert_eq!(server.post("/api/runs", &bundled).status, 404);
}

#[test]
fn the_end_comes_before_the_log_and_both_are_those_of_single_steps() {
    let data = many(3_000, 7, 4);
    let server = lab_of(&data, None);
    for settings in [plain(), json!({ "order": "shuffle", "verdict": "off" })] {
        let mut spec = own("perceptron", settings);
        spec["epochs"] = json!(12);
        let (slow, _) = open(&server, &spec);
        let mut summary = json!({});
        for _ in 0..12 {
            summary = step(&server, &slow, "epoch", 1)["summary"].clone();
        }
        step(&server, &slow, "update", 1);
        let (fast, _) = open(&server, &spec);
        step(&server, &fast, "update", 3);
        let end = to_end(&server, &fast);
        assert_eq!(end["summary"]["ended"], json!("epoch-limit"));
        assert_eq!(end["summary"]["last"], summary["last"]);
        assert_eq!(end["summary"]["perEpoch"].as_array().unwrap().len(), 12);
        let last = summary["last"].as_u64().unwrap();
        assert!(last > 1_000, "{last}");
        let both = |path: String| {
            let found = get(&server, &format!("/api/runs/{fast}/{path}"));
            assert_eq!(found, get(&server, &format!("/api/runs/{slow}/{path}")), "{path}");
            found
        };
        both(format!("state?k={last}"));
        both(format!("frames?from={}&to={last}", last - 30));
        both("frames?from=2&to=40".into());
        both("state?k=77".into());
        both("curves".into());
        let trace = |id: &str| server.get(&format!("/api/runs/{id}/trace")).body;
        assert!(trace(&fast) == trace(&slow));
    }
}
