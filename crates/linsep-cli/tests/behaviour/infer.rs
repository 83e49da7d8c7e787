//! `infer`: counts, offsets, residuals and corrections as files and flags say them, and tables without a NaN.

use crate::common::Room;
use serde_json::Value;

/// Doses with the counts of those that died of them and of those that did not.
const COUNTS: [(f64, usize, usize); 5] =
    [(1.0, 1, 9), (2.0, 3, 7), (3.0, 4, 6), (4.0, 8, 2), (5.0, 9, 1)];

fn estimates(found: &Value) -> Vec<f64> {
    let list = found["coefficients"].as_array().unwrap();
    list.iter().map(|one| one["estimate"].as_f64().unwrap()).collect()
}

#[test]
fn counts_are_the_fit_of_single_rows() {
    let room = Room::new();
    let (mut grouped, mut single) = ("dose,died,alive\n".to_owned(), "dose,state\n".to_owned());
    for (dose, died, alive) in COUNTS {
        grouped.push_str(&format!("{dose},{died},{alive}\n"));
        single.push_str(&format!("{dose},alive\n").repeat(alive));
        single.push_str(&format!("{dose},died\n").repeat(died));
    }
    room.write("grouped.csv", &grouped);
    room.write("single.csv", &single);
    let counts = "infer grouped.csv --success died --failure alive";
    let a = room.run(&format!("{counts} --residuals r.csv --json")).exits(0).json();
    let b = room.run("infer single.csv --label state --positive died --json").exits(0).json();
    for (a, b) in estimates(&a).iter().zip(estimates(&b)) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
    // One line of residuals for each group, and leverages add up to the number of coefficients.
    let text = room.read("r.csv");
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let at = head.iter().position(|name| *name == "leverage").unwrap();
    let leverage = |line: &str| line.split(',').nth(at).unwrap().parse::<f64>().unwrap();
    let all: Vec<f64> = text.lines().skip(1).map(leverage).collect();
    assert!(all.len() == COUNTS.len() && (all.iter().sum::<f64>() - 2.0).abs() < 1e-8, "{text}");
    // Zero counts of one outcome are rows; a file without one outcome is refused (see `axes`).
    room.write("zero.csv", "dose,died,alive\n1,0,9\n2,3,7\n3,4,0\n");
    room.run("infer zero.csv --success died --failure alive").exits(0);
}

#[test]
fn an_offset_takes_its_column_out_of_the_fit() {
    let room = Room::new();
    let mut text = "x,shift,y\n".to_owned();
    for k in 0..40 {
        text.push_str(&format!(
            "{},{},{}\n",
            k % 7,
            k % 3,
            ["a", "b"][usize::from((k * 5) % 11 > 4)]
        ));
    }
    room.write("t.csv", &text);
    let names = |found: &Value| found["coefficients"].as_array().unwrap().len();
    let plain = room.run("infer t.csv --label y --json").exits(0).json();
    let offset = room.run("infer t.csv --label y --offset shift --json").exits(0).json();
    assert_eq!((names(&plain), names(&offset)), (3, 2));
    let firth = "infer t.csv --label y --penalty firth";
    let [flic, flac] = ["flic", "flac"]
        .map(|how| room.run(&format!("{firth} --correction {how} --json")).exits(0).json());
    assert_ne!(estimates(&flic)[0], estimates(&flac)[0]);
    room.run("infer t.csv --label y --correction flic").exits(2).says(&["--penalty firth"]);
    room.run("infer t.csv --label y --se robust --penalty firth").exits(2).says(&["--se"]);
}

#[test]
fn no_table_has_a_nan() {
    let room = Room::new();
    room.write("separated.csv", "x,z,y\n1,0,a\n2,1,a\n3,0,b\n4,1,b\n");
    room.write("touching.csv", "x,z,y\n1,0,a\n2,0,b\n1,0,b\n2,0,a\n3,1,b\n4,1,b\n");
    room.write("rank.csv", "x,z,u,y\n1,2,0,a\n2,4,0,b\n3,6,0,a\n4,8,0,b\n");
    room.write("few.csv", "x,z,u,y\n1,2,0,a\n2,4,7,b\n1,5,0,c\n");
    room.write("pair.csv", "x,y\n1,a\n1,b\n");
    for file in ["separated", "touching", "rank", "few", "pair"] {
        for flags in ["", " --penalty firth", " --penalty firth --correction flic", " --wald"] {
            for form in ["", " --json"] {
                let run = room.run(&format!("infer {file}.csv{flags}{form}"));
                assert!(
                    !run.out.contains("NaN") && !run.out.contains("nan"),
                    "{file}{flags}\n{}",
                    run.out
                );
                match run.code {
                    0 => assert!(!run.out.is_empty()),
                    // Of three classes without a fit the remedy is named.
                    _ => assert!(run.err.contains("firth"), "{file}{flags}: {}", run.err),
                }
            }
        }
    }
    let run = room.run("infer rank.csv").exits(0);
    assert!(run.out.contains("NA") && run.out.contains("2 x"), "{}", run.out);
    let run = room.run("infer few.csv --penalty firth").exits(0);
    // As many coefficients as log-odds: nothing is left, and less than nothing never.
    for words in ["3 observations for 6", "deviance 3.0650 on 0 degrees of freedom"] {
        assert!(run.out.contains(words), "{}", run.out);
    }
    room.write("one.csv", "x,y\n1,a\n2,a\n");
    room.run("infer one.csv").exits(3).says(&["class"]);
    room.write("weights.csv", "x,n,y\n1,1,a\n2,1.5,b\n3,2,a\n4,1,b\n");
    let run = room.run("infer weights.csv --weight n").exits(3);
    run.says(&["weights.csv:3", "1.5 is no count", "--weights-as analytic"]);
    room.run("infer weights.csv --weight n --weights-as analytic").exits(0);
}
