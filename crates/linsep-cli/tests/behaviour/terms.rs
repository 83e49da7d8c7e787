//! `--terms` and `--reference`: from a formula to coefficients, to a verdict, to a model that needs raw columns alone.

use crate::common::Room;
use serde_json::Value;

/// Nobody of the smoking men is well; ages and doses overlap elsewhere.
const TRIAL: &str = "id,sex,age,dose,smoker,state
1,male,34,1.5,no,well
2,female,51,2.5,yes,ill
3,male,47,0.5,yes,ill
4,female,29,1.0,no,ill
5,male,62,2.0,no,ill
6,female,38,3.5,yes,well
7,male,55,3.0,no,well
8,female,44,0.5,no,well
9,male,41,2.5,yes,ill
10,female,60,1.5,yes,ill
11,male,36,1.0,no,ill
12,female,49,3.0,no,well
13,male,58,0.5,no,well
14,female,33,2.0,yes,well
15,male,52,3.5,yes,ill
16,female,57,2.5,no,ill
17,male,45,1.5,no,well
18,female,40,1.0,yes,ill
";

fn names(value: &Value) -> Vec<&str> {
    value["coefficients"]
        .as_array()
        .expect("coefficients")
        .iter()
        .map(|one| one["column"].as_str().expect("a name"))
        .collect()
}

#[test]
fn a_formula_chooses_columns_levels_and_products() {
    let room = Room::holding("trial.csv", TRIAL);
    let of = |terms: &str, more: &[&str]| -> Value {
        let words =
            ["infer", "trial.csv", "--label", "state", "--wald", "--json", "--terms", terms];
        room.run_args(&[&words[..], more].concat()).exits(0).silent().json()
    };
    let value = of("age * sex + poly(dose, 2)", &["--reference", "sex=male"]);
    let all = ["(bias)", "age", "sex=female", "dose", "dose^2", "age*sex=female"];
    assert_eq!(names(&value), all);
    assert_eq!(value["terms"], "age * sex + poly(dose, 2)");
    let value = of("age * sex", &[]);
    assert_eq!(names(&value), ["(bias)", "age", "sex=male", "age*sex=male"]);
    // A term without its parts has R's coding; nothing is proved of it, but it can be fitted.
    assert_eq!(names(&of("age:sex", &[])), ["(bias)", "sex=female*age", "sex=male*age"]);
    assert_eq!(names(&of(". - id - smoker", &[])), ["(bias)", "sex=male", "age", "dose"]);
    // An offset is no term of `.`.
    let value = of(".", &["--offset", "dose", "--drop", "id"]);
    assert_eq!(names(&value), ["(bias)", "sex=male", "age", "smoker=yes"]);
    let table = room
        .run_args(&["infer", "trial.csv", "--label", "state", "--terms", "age + I(age^2)"])
        .exits(0);
    assert_eq!(table.fact("terms"), "age + I(age^2) (powers are raw)");
}

#[test]
fn the_level_of_comparison_changes_signs_and_nothing_else() {
    let room = Room::holding("trial.csv", TRIAL);
    let of = |flags: &str| {
        let value = room
            .run(&format!("infer trial.csv --label state --wald --json --drop id,smoker {flags}"));
        let value = value.exits(0).json();
        let at = names(&value).iter().position(|name| name.starts_with("sex=")).expect("sex");
        let one = &value["coefficients"][at];
        (one["column"].clone(), one["estimate"].as_f64().unwrap(), value["deviance"].as_f64())
    };
    let (male, up, deviance) = of("");
    let (female, down, same) = of("--reference sex=male");
    assert_eq!((male, female), ("sex=male".into(), "sex=female".into()));
    assert!((up + down).abs() < 1e-9 * up.abs(), "{up} {down}");
    assert!((deviance.unwrap() - same.unwrap()).abs() < 1e-9);
}

#[test]
fn a_class_of_comparison_is_named_alone_or_by_the_label() {
    let text = "x,vote\n1,a=b\n2,c\n3,d\n2,a=b\n1,c\n4,d\n3,c\n1,d\n4,a=b\n";
    let room = Room::holding("vote.csv", text);
    let of = |reference: &str| {
        let words = ["infer", "vote.csv", "--wald", "--json", "--reference", reference];
        let value = room.run_args(&words).exits(0).json();
        value["coefficients"][0]["class"].as_str().unwrap().to_owned()
    };
    assert_eq!(of("a=b"), "c");
    assert_eq!(of("vote=a=b"), "c");
    assert_eq!(of("c"), "a=b");
    assert_eq!(of("vote=c"), "a=b");
    assert_eq!(of("#2=c"), "a=b");
    let refused = |flags: &str, code: i32, says: &[&str]| {
        room.run(&format!("infer vote.csv {flags}")).exits(code).says(says);
    };
    refused("--reference b=c", 3, &["error[E0118]: no column \"b\""]);
    refused("--reference x=1", 3, &["error[E0138]", "holds numbers"]);
    refused("--reference c --reference d", 2, &["--reference", "\"c\" and \"d\""]);
}

#[test]
fn proofs_are_of_raw_columns_and_fail_on_others() {
    let room = Room::holding("trial.csv", TRIAL);
    let words = ["--label", "state", "--terms", "age * sex + smoker + poly(dose, 2)"];
    let more = ["--reference", "sex=male", "--cert", "proof.json"];
    let run = room.run_args(&[&["separable", "trial.csv"][..], &words, &more].concat());
    assert!(
        run.out.contains("in phi(x): dose^2, sex=female*age (4 columns make 6 features)"),
        "{}",
        run.out
    );
    let run = room.run("verify proof.json trial.csv").exits(0).silent();
    assert!(run.out.contains("sex is one of female or, all 0, male"), "{}", run.out);
    room.write("other.csv", TRIAL.replace("14,female,33", "14,male,33"));
    room.run("verify proof.json other.csv").exits(1);
    // A column that is no term has no part in it.
    room.write("other.csv", TRIAL.replace("\n14,", "\n99,"));
    room.run("verify proof.json other.csv").exits(0);
    // The square of another column makes another claim of the same rows.
    let mut value: Value = serde_json::from_str(&room.read("proof.json")).unwrap();
    let of_age: Value = serde_json::from_str("[[1,2]]").unwrap();
    assert_eq!(value["basis"][0].to_string(), "[[2,2]]");
    value["basis"][0] = of_age.clone();
    value["input"]["basis"][0] = of_age;
    room.write("changed.json", value.to_string());
    room.run("verify changed.json trial.csv").exits(1);
    room.run("verify proof.json trial.csv --reference sex=male")
        .exits(2)
        .says(&["--reference would change nothing"]);
}

#[test]
fn a_model_needs_the_raw_columns_and_knows_its_levels() {
    let room = Room::holding("trial.csv", TRIAL);
    let train = |out: &str, more: &[&str]| {
        let words = ["train", "trial.csv", "--label", "state", "--learner", "logistic", "-o", out];
        let terms = ["--terms", "dose + smoker*sex", "--reference", "sex=male"];
        room.run_args(&[&words[..], &terms, more].concat()).exits(0);
    };
    train("a.linsep", &[]);
    room.run("verify a.linsep trial.csv").exits(0);
    let shown = room.run("show a.linsep").exits(0).out;
    for name in ["sex=female", "smoker=yes", "dose", "sex=female*smoker=yes"] {
        assert!(shown.contains(&format!("\n  {name} ")), "{name} in {shown}");
    }
    assert!(!shown.contains("age"), "{shown}");
    // The columns in another order, without those that are no terms.
    room.write("new.csv", "smoker,dose,sex\nyes,3,male\nno,0.5,female\n");
    let few = room.run("predict a.linsep new.csv --output scores").exits(0).out;
    let value: Value = serde_json::from_str(&room.run("show a.linsep --json").out).unwrap();
    assert_eq!(value["basis"].as_array().map(Vec::len), Some(1));
    assert_eq!(few.lines().count(), 3, "{few}");
    room.write("odd.csv", "smoker,dose,sex\nyes,3,other\n");
    room.run("predict a.linsep odd.csv").exits(3).says(&["error[E0129]", "other"]);
    train("b.linsep", &["--unknown-level", "zeros"]);
    room.run("predict b.linsep odd.csv").exits(0);
    room.write("short.csv", "dose,sex\n3,male\n");
    room.run("predict a.linsep short.csv").exits(3).says(&["no column \"smoker\""]);
    let words = ["train", "trial.csv", "--label", "state", "--terms", "age*sex", "-o", "p.linsep"];
    room.run_args(&words).exits(0);
    room.run("train trial.csv --resume p.linsep --terms age").exits(2).says(&["--terms"]);
    room.run("train trial.csv --resume p.linsep --reference sex=male")
        .exits(2)
        .says(&["--reference"]);
}

#[test]
fn what_is_no_formula_of_the_table_is_refused() {
    let room = Room::holding("trial.csv", TRIAL);
    let refused = |terms: &str, more: &[&str], code: i32, says: &[&str]| {
        for command in [&["infer"][..], &["train", "-o", "out.linsep"], &["separable"]] {
            let words = ["trial.csv", "--label", "state", "--terms", terms];
            let run = room.run_args(&[command, &words, more].concat()).exits(code).says(says);
            assert_eq!(run.out, "", "{terms}");
            assert!(!room.exists("out.linsep"));
        }
    };
    refused(
        "age + sxe",
        &[],
        3,
        &["error[E0118]: no column \"sxe\" for --terms", "   |        ^^^"],
    );
    refused("age sex", &[], 2, &["error[E0201]: --terms: an operator", "   |      ^^^"]);
    refused("state ~ age", &[], 2, &["--label", "   |        ^"]);
    refused("age - 1", &[], 2, &["--intercept none"]);
    refused("", &[], 2, &["there is nothing in it"]);
    refused("age", &["--basis", "poly:2"], 2, &["--basis"]);
    refused("age", &["--features", "age"], 2, &["--features"]);
    refused("age + sex", &["--drop", "sex"], 2, &["left out by --drop", "   |        ^^^"]);
    refused(
        "age + sex",
        &["--reference", "sex=mal"],
        3,
        &["error[E0138]", "did you mean \"male\"?"],
    );
    refused("age + sex", &["--reference", "smoker=no"], 3, &["is not used"]);
    for command in ["train", "separable"] {
        let words = [command, "trial.csv", "--label", "state", "--terms", "age:sex"];
        room.run_args(&words).exits(2).says(&["each part of a product has to be a term"]);
    }
    room.write("rows.svm", "1 1:2\n-1 2:1\n");
    room.run("train rows.svm --terms x1").exits(2).says(&["--terms", "svmlight"]);
    room.run("train trial.csv --label state --stream --terms age").exits(2).says(&["--terms"]);
}
