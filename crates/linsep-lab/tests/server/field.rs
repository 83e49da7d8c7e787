//! Places between the rows: walks, scores, and the lift by basis functions.

use crate::client::Server;
use linsep_lab::Lab;
use serde_json::{Value, json};

const LECTURE: [(&str, &str); 3] = [("order", "cyclic"), ("scale", "none"), ("verdict", "off")];

/// A run to its end, and where its addresses begin.
fn ended(server: &Server, name: &str, basis: Option<&str>, scheme: Option<&str>) -> (String, u64) {
    let mut settings: Value = LECTURE.into_iter().collect();
    if let Some(scheme) = scheme {
        settings["multiclass"] = json!(scheme);
    }
    let data = json!({ "kind": "bundled", "name": name });
    let spec =
        json!({ "data": data, "learner": "perceptron", "settings": settings, "basis": basis });
    let opened = server.post("/api/runs", &spec);
    assert_eq!(opened.status, 200, "{}", String::from_utf8_lossy(&opened.body));
    let path = format!("/api/runs/{}", opened.json()["id"].as_str().unwrap());
    loop {
        let answer = server.post(&format!("{path}/step"), &json!({ "by": "end" })).json();
        if answer["more"] == json!(false) {
            return (path, answer["summary"]["last"].as_u64().unwrap());
        }
    }
}

fn get(server: &Server, path: &str) -> Value {
    let answer = server.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    answer.json()
}

#[test]
fn scores_are_those_of_the_plane() {
    let server = Server::start(Lab::default());
    let (path, k) = ended(&server, "iris-setosa", None, None);
    let state = get(&server, &format!("{path}/state?k={k}&view="));
    let plane: Vec<f64> = serde_json::from_value(state["planes"][0].clone()).unwrap();
    let scores = get(&server, &format!("{path}/scores?k={k}&x0=0&x1=4&y0=0&y1=4&cells=2"));
    let places = [[1.0, 1.0], [3.0, 1.0], [1.0, 3.0], [3.0, 3.0]];
    for (score, [x, y]) in scores.as_array().unwrap().iter().zip(places) {
        let wanted = plane[0] + plane[1] * x + plane[2] * y;
        assert!((score.as_f64().unwrap() - wanted).abs() < 1e-12 * wanted.abs().max(1.0));
    }
}

#[test]
fn the_lift_of_a_product_is_the_product() {
    let server = Server::start(Lab::default());
    let (path, k) = ended(&server, "xor", Some("x1*x2"), None);
    let lift = get(&server, &format!("{path}/lift?k={k}&x0=0&x1=4&y0=0&y1=4&cells=2"));
    assert_eq!(lift["functions"], 1);
    assert_eq!(lift["heights"], json!([0.0, 0.0, 0.0, 1.0]));
    assert_eq!(lift["sheet"], json!([1.0, 3.0, 3.0, 9.0]));
    let state = get(&server, &format!("{path}/state?k={k}&view="));
    assert_eq!(lift["plane"], state["planes"][0]);
    // Without basis functions there is nothing to lift, and several planes have no one boundary.
    let (flat, k) = ended(&server, "and", None, None);
    assert_eq!(server.get(&format!("{flat}/lift?k={k}&x0=0&x1=1&y0=0&y1=1&cells=2")).status, 404);
    let (many, k) = ended(&server, "classes", None, Some("ovr"));
    assert_eq!(server.get(&format!("{many}/scores?k={k}&x0=0&x1=1&y0=0&y1=1&cells=2")).status, 404);
}

#[test]
fn a_walk_has_both_ends_and_only_finite_places() {
    let server = Server::start(Lab::default());
    let (path, k) = ended(&server, "and", None, None);
    let walk = get(&server, &format!("{path}/walk?k={k}&x0=0&y0=0&x1=1.01&y1=1"));
    let letters = walk.as_str().unwrap();
    assert_eq!(letters.len(), 201);
    assert!(letters.starts_with('0') && letters.ends_with('1'), "{letters}");
    // One change: the regions of one plane are half-planes.
    assert_eq!(letters.as_bytes().windows(2).filter(|pair| pair[0] != pair[1]).count(), 1);
    for bad in ["x0=inf&y0=0&x1=1&y1=1", "x0=nan&y0=0&x1=1&y1=1", "x0=0&y0=0&x1=1", "x0=0"] {
        assert_eq!(server.get(&format!("{path}/walk?k={k}&{bad}")).status, 422, "{bad}");
    }
    assert_eq!(server.get(&format!("{path}/walk?k=999999&x0=0&y0=0&x1=1&y1=1")).status, 404);
    let (wide, k) = ended(&server, "and3", None, None);
    assert_eq!(server.get(&format!("{wide}/walk?k={k}&x0=0&y0=0&x1=1&y1=1")).status, 404);
}

#[test]
fn regions_of_a_file_whose_label_has_another_name() {
    let server = Server::start(Lab::default());
    // The label of iris is called "species".
    let (path, k) = ended(&server, "iris-virginica", Some("poly:2"), None);
    let cells = get(&server, &format!("{path}/regions?k={k}&x0=2&x1=8&y0=0&y1=3&cells=8"));
    assert_eq!(cells.as_str().unwrap().len(), 64);
}
