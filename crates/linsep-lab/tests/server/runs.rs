//! Runs over the wire: what the page gets is what the library does.

use crate::client::Server;
use linsep::data::read::{ReadOptions, RowSource};
use linsep::recipe::{Recipe, Settings};
use linsep::{Dataset, Limits, Task};
use linsep_lab::{Lab, Subject};
use linsep_teach::trace::{Tracer, margin_of_run};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) fn open(server: &Server, spec: &Value) -> (String, Value) {
    let answer = server.post("/api/runs", spec);
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    let answer = answer.json();
    (answer["id"].as_str().unwrap().to_owned(), answer)
}

pub(crate) fn step(server: &Server, id: &str, by: &str, count: u64) -> Value {
    let answer = server.post(&format!("/api/runs/{id}/step"), &json!({ "by": by, "count": count }));
    assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

pub(crate) fn to_end(server: &Server, id: &str) -> Value {
    for _ in 0..400 {
        let answer = step(server, id, "end", 1);
        if answer["more"] == json!(false) {
            return answer;
        }
    }
    panic!("the run does not end");
}

pub(crate) fn get(server: &Server, path: &str) -> Value {
    let answer = server.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

fn bundled(name: &str, learner: &str, settings: Value) -> Value {
    json!({ "data": { "kind": "bundled", "name": name }, "learner": learner, "settings": settings, "seed": 0 })
}

/// What `train` writes, by the same observer.
fn traced(data: &Arc<Dataset>, learner: &str, settings: &Value, seed: u64, epochs: u64) -> Vec<u8> {
    let recipe = Recipe::find(learner).unwrap();
    let mut all = Settings::default();
    all.seed = seed;
    for (name, value) in settings.as_object().unwrap() {
        all.set(name, value.as_str().unwrap());
    }
    let mut training = recipe.build(&all).unwrap().start(&Task::new(Arc::clone(data))).unwrap();
    let (mut file, mut nobody) = (Vec::new(), ());
    let mut tracer = Tracer::new(data, recipe.name, &mut file, &mut nobody);
    tracer.parameters = recipe.effective(&all);
    tracer.seed = seed;
    tracer.gamma = Box::new(|start| margin_of_run(data, start, false, 1, &|| false));
    linsep::drive(training.as_mut(), &Limits::default().with_epochs(Some(epochs)), &mut tracer);
    let of_model = training.remarks().into_iter().find(|remark| remark.name == "weights");
    tracer.model = of_model.map(|remark| remark.words);
    tracer.finish().unwrap();
    file
}

#[test]
fn the_trace_is_the_one_that_train_writes() {
    let plain = json!({ "order": "cyclic", "scale": "none", "verdict": "off" });
    let recipes = [
        ("iris-setosa", "perceptron", plain.clone()),
        ("blobs", "perceptron", json!({})),
        ("xor", "perceptron", json!({ "verdict": "off", "order": "random" })),
        ("outlier", "batch-perceptron", json!({ "eta": "1/k" })),
        ("iris-virginica", "pocket", json!({ "order": "shuffle" })),
        ("blobs", "averaged", json!({})),
        ("touching", "margin-perceptron", json!({ "b": "0.5", "scale": "pow2" })),
        ("and", "passive-aggressive", json!({ "rule": "pa2" })),
        ("iris-sepals", "adaline", json!({ "eta": "0.01" })),
        ("classes", "perceptron", json!({ "verdict": "off", "multiclass": "joint" })),
        (
            "classes",
            "perceptron",
            json!({ "verdict": "off", "multiclass": "ovr", "order": "cyclic" }),
        ),
        ("or3", "relaxation", json!({ "order": "worst-first" })),
    ];
    let server = Server::start(Lab::default());
    for (set, learner, settings) in recipes {
        let mut spec = bundled(set, learner, settings.clone());
        spec["epochs"] = json!(40);
        spec["seed"] = json!(3);
        let (id, _) = open(&server, &spec);
        // By different steps, so that none of them may change a bit.
        step(&server, &id, "update", 3);
        step(&server, &id, "epoch", 2);
        to_end(&server, &id);
        let trace = server.get(&format!("/api/runs/{id}/trace")).body;
        let csv = server.get(&format!("/api/runs/{id}/data")).body;
        let read = RowSource::reader(&csv[..], "data.csv", &ReadOptions::default()).read(None);
        let read = read.unwrap();
        let wanted = traced(&Arc::new(read.data), learner, &settings, 3, 40);
        assert!(
            trace == wanted,
            "{set} {learner}:\n{}\n{}",
            String::from_utf8_lossy(&trace[..trace.len().min(3000)]),
            String::from_utf8_lossy(&wanted[..wanted.len().min(3000)])
        );
    }
}

#[test]
fn back_and_forward_again_is_the_same_state() {
    let server = Server::start(Lab::default());
    for (set, settings) in [
        ("iris-virginica", json!({ "order": "shuffle", "verdict": "off" })),
        // Planes of 25 numbers are kept as well; of 800 features they are rebuilt (below).
        ("retina", json!({ "order": "cyclic", "verdict": "off" })),
    ] {
        let (id, _) = open(&server, &bundled(set, "perceptron", settings));
        step(&server, &id, "update", 120);
        let last = get(&server, &format!("/api/runs/{id}"))["summary"]["last"].as_u64().unwrap();
        let states: Vec<Value> =
            (0..=last).map(|k| get(&server, &format!("/api/runs/{id}/state?k={k}"))).collect();
        for k in (0..=last).rev() {
            assert_eq!(
                get(&server, &format!("/api/runs/{id}/state?k={k}")),
                states[k as usize],
                "{k}"
            );
        }
    }
}

#[test]
fn wide_planes_are_rebuilt_to_the_last_bit() {
    // 400 features: too many numbers to keep for every update.
    let rows: Vec<Vec<f64>> = (0..60)
        .map(|i| (0..400).map(|j| f64::from((i * 37 + j * 11 + i * j) % 17) - 8.0).collect())
        .collect();
    let labels: Vec<&str> = (0..60).map(|i| if i * i % 7 < 3 { "a" } else { "b" }).collect();
    let data = Arc::new(Dataset::from_rows(&rows, &labels).unwrap());
    let mut lab = Lab::default();
    lab.subject = Some(Subject::new("wide.csv", Arc::clone(&data)));
    let server = Server::start(lab);
    let settings = json!({ "order": "shuffle", "verdict": "off", "scale": "none" });
    let spec = json!({ "data": { "kind": "file", "id": "own" }, "learner": "perceptron", "settings": settings });
    let (id, _) = open(&server, &spec);
    let mut on_the_way = Vec::new();
    for _ in 0..150 {
        let answer = step(&server, &id, "update", 1);
        let Some(frame) = answer["frames"].as_array().unwrap().last() else { break };
        on_the_way.push(frame["planes"].clone());
    }
    assert!(on_the_way.len() > 70, "only {} updates", on_the_way.len());
    for k in (1..=on_the_way.len()).rev().step_by(7) {
        let state = get(&server, &format!("/api/runs/{id}/state?k={k}"));
        assert_eq!(state["planes"], on_the_way[k - 1], "{k}");
    }
    let state = get(&server, &format!("/api/runs/{id}/state?k=5"));
    assert_eq!(state["view"]["kind"], json!("distance"));
    assert_eq!(state["view"]["points"].as_array().unwrap().len(), 60);
}

#[test]
fn the_verdict_comes_with_its_rows() {
    let server = Server::start(Lab::default());
    let verdict = |set: &str| {
        let (id, _) = open(&server, &bundled(set, "perceptron", json!({})));
        get(&server, &format!("/api/runs/{id}/verdict"))
    };
    let xor = verdict("xor");
    assert_eq!(xor["verdict"], json!("overlapping"));
    assert_eq!(xor["witness"].as_array().unwrap().len(), 4);
    assert_eq!(xor["common"]["at"], json!([0.5, 0.5]));
    let and = verdict("and");
    assert_eq!(and["verdict"], json!("separable"));
    assert!(and["distance"]["lower"].as_f64().unwrap() > 0.35);
    assert_eq!(and["support"].as_array().unwrap().len(), 3);
    assert_eq!(verdict("touching")["verdict"], json!("touching"));
    assert_eq!(verdict("classes")["verdict"], json!("separable"));
}

#[test]
fn weight_space_has_the_exact_cone() {
    let server = Server::start(Lab::default());
    let (id, _) = open(&server, &bundled("patterns", "two-weights", json!({})));
    let space = get(&server, &format!("/api/runs/{id}/weights"));
    assert_eq!(space["mode"], json!("two"));
    assert_eq!(space["cone"]["names"], json!(["(-3, 1)", "(-2, -1)"]));
    let end = to_end(&server, &id);
    assert_eq!(end["summary"]["last"], json!(4), "the walk of lecture 000 has four updates");
    let frames = get(&server, &format!("/api/runs/{id}/frames?from=0&to=4"));
    assert_eq!(frames[4]["planes"], json!([[0.0, -5.0, 0.0]]));
    assert_eq!(frames[4]["line"]["row"], json!(2));
    let (id, _) = open(&server, &bundled("and", "perceptron", json!({})));
    let space = get(&server, &format!("/api/runs/{id}/weights"));
    assert_eq!(space["mode"], json!("three"));
    assert!(space["edges"].as_array().unwrap().len() >= 3);
    assert!(space["chart"]["polygon"].as_array().unwrap().len() >= 3);
    let (id, _) = open(&server, &bundled("xor", "perceptron", json!({})));
    assert_eq!(get(&server, &format!("/api/runs/{id}/weights"))["empty"], json!(true));
}

#[test]
fn chosen_rows_are_visited_and_right_ones_change_nothing() {
    let server = Server::start(Lab::default());
    let mut spec = bundled("and", "perceptron", json!({ "scale": "none", "verdict": "off" }));
    spec["choose"] = json!(true);
    let (id, _) = open(&server, &spec);
    let choose = |row: u32| {
        let answer = server.post(&format!("/api/runs/{id}/choose"), &json!({ "row": row }));
        assert_eq!(answer.status, 200);
        answer.json()
    };
    let first = choose(3);
    assert_eq!(first["frames"][0]["planes"], json!([[1.0, 1.0, 1.0]]));
    assert_eq!(choose(3)["frames"], json!([]));
    assert_eq!(choose(0)["frames"][0]["planes"], json!([[0.0, 1.0, 1.0]]));
    assert_eq!(server.post(&format!("/api/runs/{id}/choose"), &json!({ "row": 4 })).status, 404);
    assert_eq!(
        server.post(&format!("/api/runs/{id}/step"), &json!({ "by": "update" })).status,
        422
    );
}

#[test]
fn every_learner_opens_on_a_bundled_set() {
    let server = Server::start(Lab::default());
    let catalogue = get(&server, "/api/catalogue");
    let learners = catalogue["learners"].as_array().unwrap();
    assert!(learners.len() > 20);
    for learner in learners {
        let name = learner["name"].as_str().unwrap();
        let (id, _) = open(&server, &bundled("and", name, json!({})));
        let end = to_end(&server, &id);
        let last = end["summary"]["last"].as_u64().unwrap();
        assert!(last >= 1, "{name}");
        let state = get(&server, &format!("/api/runs/{id}/state?k={last}"));
        assert!(state["errors"].as_u64().is_some(), "{name}");
        get(&server, &format!("/api/runs/{id}/curves"));
    }
}

#[test]
fn old_runs_give_way_and_say_so() {
    let server = Server::start(Lab::default());
    let ids: Vec<String> =
        (0..14).map(|_| open(&server, &bundled("and", "perceptron", json!({}))).0).collect();
    assert_eq!(server.get(&format!("/api/runs/{}", ids[0])).status, 404);
    assert_eq!(server.get(&format!("/api/runs/{}", ids[13])).status, 200);
    let message = server.get(&format!("/api/runs/{}", ids[1])).json();
    assert!(message["error"]["message"].as_str().unwrap().contains("start it again"));
}

#[test]
fn bad_settings_get_the_words_of_the_program() {
    let server = Server::start(Lab::default());
    let refused = |spec: &Value, words: &str| {
        let answer = server.post("/api/runs", spec);
        assert_eq!(answer.status, 422, "{spec}");
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(words), "{message}");
    };
    refused(&bundled("and", "nobody", json!({})), "no learner");
    refused(&bundled("and", "perceptron", json!({ "eta": "-1" })), "eta");
    refused(&bundled("and", "perceptron", json!({ "bogus": "1" })), "has no setting");
    let points = json!([[0, 0, "a"], [1, 1, "a"]]);
    let spec = json!({ "data": { "kind": "points", "points": points }, "learner": "perceptron" });
    refused(&spec, "class");
    let mut start = bundled("and", "perceptron", json!({}));
    start["start"] = json!([[1.0]]);
    refused(&start, "start");
}
