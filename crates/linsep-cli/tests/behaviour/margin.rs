//! `separable --margin`: the report, the JSON, the certificate, and what is refused.

use crate::common::Room;
use serde_json::Value;

const AND: &str = "u,v,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n";

fn json(room: &Room, line: &str) -> Value {
    serde_json::from_str(&room.run(line).exits(0).silent().out).expect("one JSON object")
}

#[test]
fn the_margins_of_and_are_those_of_the_theorems() {
    let room = Room::holding("and.csv", AND);
    let run = room.run("separable and.csv --margin").exits(0).silent();
    for words in [
        "γ² = 1/17, held by 3 rows: and.csv:3, :4, :5",
        "γ² = 1/8, held by 3 rows",
        "at most 51 updates from 0",
        "R² = 3",
        "18 updates in",
        "of at most 51",
    ] {
        assert!(run.out.contains(words), "{words}\n{}", run.out);
    }
}

#[test]
fn the_json_has_the_exact_numbers() {
    let room = Room::holding("and.csv", AND);
    let value = json(&room, "separable and.csv --margin --constant 2 --json");
    let claim = &value["claims"][0];
    let augmented = &claim["augmented"];
    assert_eq!((&augmented["constant"], &augmented["support_rows"]), (&2.into(), &3.into()));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    assert_eq!(text(&augmented["gamma2"]), "4/41");
    assert_eq!(text(&claim["geometric"]["gamma2"]), "1/8");
    assert_eq!(text(&claim["bounds"]["radius2"]), "6");
    assert_eq!(text(&claim["bounds"]["updates_at_most"]), "61");
    assert!(claim["perceptron"].is_null(), "its constant is 1");
    let (low, high) = (&claim["margin"]["lower"], &claim["margin"]["upper"]);
    let (low, high) = (low.as_f64().unwrap(), high.as_f64().unwrap());
    let gamma = (4.0f64 / 41.0).sqrt();
    assert!(low <= gamma && gamma <= high && high <= low.next_up());
}

#[test]
fn without_the_flag_the_json_has_what_the_verdict_proves() {
    let room = Room::holding("and.csv", AND);
    let value = json(&room, "separable and.csv --json");
    let claim = &value["claims"][0];
    let (low, high) = (&claim["margin"]["lower"], &claim["margin"]["upper"]);
    let gamma = (1.0f64 / 17.0).sqrt();
    assert!(low.as_f64().unwrap() <= gamma && gamma <= high.as_f64().unwrap());
    assert!(claim.get("augmented").is_none());
    assert!(value["seconds"]["prove"].as_f64().unwrap() >= 0.0);
}

#[test]
fn the_certificate_has_both_margins_and_a_change_is_refused() {
    let room = Room::with_examples();
    room.run("separable examples/iris.csv --pair setosa,versicolor --margin --cert proof.json")
        .exits(0);
    let run = room.run("verify proof.json examples/iris.csv").exits(0);
    assert!(run.out.contains("is the root of 678213/1208555"), "{}", run.out);
    assert!(run.out.contains("geometric-margin (pair setosa | versicolor)"), "{}", run.out);
    let proof: Value = serde_json::from_str(&room.read("proof.json")).unwrap();
    for k in [1, 2] {
        let mut altered = proof.clone();
        altered["claims"][k]["gamma2"] = "678213/1208556".into();
        room.write("altered.json", altered.to_string());
        room.run("verify altered.json examples/iris.csv").exits(1);
        let mut altered = proof.clone();
        let rows = altered["claims"][k]["support"].as_array_mut().unwrap();
        rows.iter_mut().for_each(|row| row["lambda"] = "1".into());
        room.write("altered.json", altered.to_string());
        room.run("verify altered.json examples/iris.csv").exits(1);
    }
}

#[test]
fn a_margin_needs_a_bias_and_a_separable_question() {
    let room = Room::holding("two.csv", "u,v,label\n1,2,a\n2,5,a\n-1,-2,b\n0.5,3.5,b\n");
    let run = room.run("separable two.csv --margin --bias off --cert proof.json").exits(0);
    assert!(run.out.contains("not defined here without a bias"), "{}", run.out);
    room.run("verify proof.json two.csv").exits(0);
    room.write("xor.csv", "u,v,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n");
    let run = room.run("separable xor.csv --margin").exits(1);
    assert!(!run.out.contains("γ² ="), "{}", run.out);
}

#[test]
fn a_constant_is_a_whole_number_above_0() {
    let room = Room::holding("and.csv", AND);
    for value in ["0", "-1", "x", "1.5", "", "99999999999999999999"] {
        let run = room.run(&format!("separable and.csv --margin --constant={value}")).exits(2);
        run.says(&["error[E0201]: --constant: ", "is no whole number above 0"]);
    }
    room.run("separable and.csv --constant 2").exits(2).says(&["--margin"]);
    assert_eq!(room.names(), ["and.csv"]);
}
