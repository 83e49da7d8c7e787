//! One table has one digest and, trained with one seed, one model bit for bit: in every format,
//! packed or not, in one file or in parts, on any number of threads.

use crate::common::{Room, gzip, zstd};
use serde_json::Value;

/// The digest, and the planes of the model trained on it.
#[track_caller]
fn digest_and_planes(room: &Room, input: &str, flags: &str) -> (Value, Value) {
    let line = format!("train {input} {flags} --seed 5 --epochs 20 --json -o m.linsep");
    let run = room.run(&line);
    assert!(run.code == 0 || run.code == 5, "{line}: {}", run.err);
    let shown = room.run("show m.linsep --json").exits(0).json();
    let digest = run.json()["digest"].clone();
    assert_eq!(shown["data"]["sha256"], digest);
    let inspected = room.run(&format!("inspect {input} --json")).exits(0).json();
    assert_eq!(inspected["digest"], digest, "{input}");
    (digest, shown["planes"].clone())
}

/// The same table in every form, under names in `room`.
fn write_forms(room: &Room, csv: &str) -> Vec<&'static str> {
    let lines: Vec<&str> = csv.lines().collect();
    let label =
        lines[0].split(',').position(|name| ["label", "species"].contains(&name)).expect("a label");
    // Zeros are left out unless indices start at 0: an index 0 has to be there to show that.
    let svmlight_from = |base: usize| -> String {
        let line = |line: &&str| {
            let mut fields: Vec<&str> = line.split(',').collect();
            let mut text = fields.remove(label).to_owned();
            for (j, value) in fields.iter().enumerate().filter(|(_, v)| base == 0 || **v != "0") {
                text.push_str(&format!(" {}:{value}", base + j));
            }
            text + "\n"
        };
        lines[1..].iter().map(line).collect()
    };
    let (svmlight, zero_based) = (svmlight_from(1), svmlight_from(0));
    let tsv = csv.replace(',', "\t").replace('\n', "\r\n");
    room.write("t.csv", csv);
    room.write("semicolon.csv", csv.replace(',', ";"));
    room.write("t.tsv", &tsv);
    room.write("t.svm", &svmlight);
    room.write("zero.svm", &zero_based);
    room.write("spaced.csv", format!("\u{feff}{}\n\n", csv.replace(',', " , ")));
    room.write("t.csv.gz", gzip(csv.as_bytes()));
    room.write("t.csv.zst", zstd(csv.as_bytes()));
    room.write("t.tsv.gz", gzip(tsv.as_bytes()));
    room.write("t.svm.zst", zstd(svmlight.as_bytes()));
    let half = lines.len() / 2;
    room.write("parts/1.csv", format!("{}\n", lines[..half].join("\n")));
    room.write("parts/2.csv", format!("{}\n{}\n", lines[0], lines[half..].join("\n")));
    room.write("parts/_SUCCESS", "");
    vec![
        "semicolon.csv",
        "t.tsv",
        "t.svm",
        "zero.svm",
        "spaced.csv",
        "t.csv.gz",
        "t.csv.zst",
        "t.tsv.gz",
        "t.svm.zst",
        "parts",
        "parts/*.csv",
        "parts/1.csv parts/2.csv",
    ]
}

#[track_caller]
fn all_forms_agree(csv: &str) {
    let room = Room::new();
    let forms = write_forms(&room, csv);
    let wanted = digest_and_planes(&room, "t.csv", "");
    for form in forms {
        assert!(digest_and_planes(&room, form, "") == wanted, "{form}");
    }
    for threads in [1, 2, 3] {
        let flags = format!("--threads {threads}");
        assert_eq!(digest_and_planes(&room, "t.csv", &flags), wanted, "{threads} threads");
        assert_eq!(digest_and_planes(&room, "t.svm", &flags), wanted, "{threads} threads");
    }
}

#[test]
fn iris_is_the_same_in_every_format_and_on_any_number_of_threads() {
    let room = Room::with_examples();
    all_forms_agree(&room.read("examples/iris.csv"));
}

#[test]
fn sparse_rows_are_the_same_in_every_format_and_on_any_number_of_threads() {
    let room = Room::new();
    let rows = "generate zipf --rows 400 --features 60 --nonzeros 6 --format csv";
    all_forms_agree(&room.run(rows).exits(0).out);
}

#[test]
fn a_file_of_several_pieces_is_the_same_on_any_number_of_threads() {
    let room = Room::new();
    room.run("generate gaussian --rows 15000 --features 20 -o t.csv").exits(0);
    assert!(room.read("t.csv").len() > 2_500_000, "more than one piece");
    let wanted = digest_and_planes(&room, "t.csv", "--threads 1");
    for threads in [2, 3] {
        let got = digest_and_planes(&room, "t.csv", &format!("--threads {threads}"));
        assert_eq!(got, wanted, "{threads} threads");
    }
}

#[test]
fn one_against_the_rest_is_the_same_on_any_number_of_threads() {
    let room = Room::with_examples();
    let wanted = digest_and_planes(&room, "examples/wine.csv", "--multiclass ovr --threads 1");
    for threads in [2, 3] {
        let flags = format!("--multiclass ovr --threads {threads}");
        assert_eq!(digest_and_planes(&room, "examples/wine.csv", &flags), wanted);
    }
}

#[test]
fn what_convert_writes_has_the_digest_of_what_it_read() {
    let room = Room::with_examples();
    let digest =
        |name: &str| room.run(&format!("inspect {name} --json")).exits(0).json()["digest"].clone();
    for name in ["iris.csv", "wine.csv", "banknote.csv", "digits.csv", "heart_scale.svm"] {
        let wanted = digest(&format!("examples/{name}"));
        for target in ["out.csv", "out.tsv", "out.svm", "out.csv.gz", "out.tsv.zst", "out.svm.gz"] {
            room.run(&format!("convert examples/{name} {target} -q")).exits(0).silent();
            assert_eq!(digest(target), wanted, "{name} as {target}");
        }
    }
}

#[test]
fn what_convert_writes_has_the_same_label_without_being_asked() {
    let room = Room::new();
    for text in
        ["a,b,kind\n1,2,0\n3,4,1\n5,1,0\n", "kind,target,b\n1,x,2\n3,y,4\n", "1,2,x\n3,4,y\n"]
    {
        room.write("t.csv", text);
        for target in ["out.csv", "out.tsv", "out.svm"] {
            room.run(&format!("convert t.csv {target} -q")).exits(0);
            let inspect = |name: &str| room.run(&format!("inspect {name} --json")).exits(0).json();
            let (before, after) = (inspect("t.csv"), inspect(target));
            assert_eq!(after["classes"], before["classes"], "{text} as {target}");
            assert_eq!(after["digest"], before["digest"], "{text} as {target}");
        }
    }
}

#[test]
fn another_value_label_or_order_is_another_digest() {
    let room = Room::new();
    let digest = |text: &str| {
        room.write("t.csv", text);
        room.run("inspect t.csv --json").exits(0).json()["digest"].clone()
    };
    let table = digest("a,label\n1,x\n2,y\n");
    assert_eq!(digest("b,kind\n1.0,x\n2e0,y\n"), table, "names and forms of numbers do not count");
    for other in ["a,label\n1,x\n3,y\n", "a,label\n1,x\n2,z\n", "a,label\n2,y\n1,x\n"] {
        assert_ne!(digest(other), table, "{other}");
    }
}

#[test]
fn generated_data_is_the_same_for_the_same_seed_in_every_format() {
    let room = Room::new();
    let generate = |line: &str| room.run(&format!("generate {line}")).exits(0).silent().out;
    for kind in ["blobs", "touching", "outlier", "gaussian", "zipf", "xor"] {
        assert_eq!(generate(&format!("{kind} --seed 1")), generate(&format!("{kind} --seed 1")));
        if kind != "xor" {
            assert_ne!(generate(kind), generate(&format!("{kind} --seed 1")), "{kind}");
        }
        room.run(&format!("generate {kind} -o t.csv")).exits(0).silent();
        room.run(&format!("generate {kind} -o t.svm.gz")).exits(0).silent();
        let digest = |name: &str| room.run(&format!("inspect {name} --json")).json();
        assert_eq!(digest("t.csv")["rows"], digest("t.svm.gz")["rows"], "{kind}");
    }
}
