//! Input that is meant to hurt: pipes, names that are no text, long records, many parts, limits of the system.

use super::{Room, common::Run};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// An index 0 that comes late cannot be read again from a pipe, whatever its name.
#[test]
fn a_pipe_is_read_once_under_every_name() {
    let room = Room::new();
    let early: String =
        (0..60_000).map(|i| format!("a {}:1\nb {}:2\n", i % 9 + 1, i % 7 + 1)).collect();
    room.write("f.svm", format!("{early}c 0:3 4:1\n"));
    let from_file = room.run("inspect f.svm").exits(0);
    assert!(
        from_file.out.contains("120,001 rows") && from_file.out.contains("3 classes"),
        "{}",
        from_file.out
    );
    let commands = [
        "cat f.svm | exec linsep inspect -",
        "cat f.svm | exec linsep inspect /dev/stdin",
        "mkfifo p; cat f.svm > p & exec linsep inspect p",
    ];
    for script in commands {
        let run = room.shell(script).exits(3);
        run.says(&["error[E01", "an index 0 came late", "--index-base 0"]);
    }
    for script in [
        "cat f.svm | linsep inspect /dev/stdin --index-base 0",
        "rm -f p; mkfifo p; cat f.svm > p & exec linsep inspect p --index-base 0",
    ] {
        let run = room.shell(script).exits(0);
        assert!(run.out.contains("120,001 rows"), "{}", run.out);
    }
}

#[test]
fn lossy_numbers_are_rounded_and_never_made_up() {
    for (name, text) in [
        ("f.csv", "a,label\n9007199254740993abc,x\n1,y\n"),
        ("f.csv", "a,label\n9007199254740993 7,x\n1,y\n"),
        ("f.svm", "x 1:9007199254740993abc\ny 1:1\n"),
        ("f.svm", "x 1:9007199254740993e\ny 1:1\n"),
    ] {
        for flag in ["", "--allow-lossy"] {
            let room = Room::holding(name, text);
            room.run(&format!("convert {name} out.tsv {flag}")).exits(3);
            assert_eq!(room.names(), [name], "{text}");
        }
    }
    for (name, text) in [
        ("f.csv", "a,label\n9007199254740993,x\n-9007199254740993 ,y\n"),
        ("f.svm", "x 1:9007199254740993\ny 1:-9007199254740993#tail\n"),
    ] {
        let room = Room::holding(name, text);
        room.run(&format!("convert {name} out.tsv")).exits(3).says(&["--allow-lossy"]);
        room.run(&format!("convert {name} out.tsv --allow-lossy")).exits(0);
        let out = room.read("out.tsv");
        assert!(out.contains("9007199254740992") && out.contains("-9007199254740992"), "{out}");
    }
}

#[test]
fn names_that_are_no_text_are_files_like_others() {
    let room = Room::new();
    for (k, name) in [&b"part-\xff.csv"[..], b"part-b.csv"].iter().enumerate() {
        std::fs::write(
            room.path("").join(OsStr::from_bytes(name)),
            format!("a,label\n{k},x\n{},y\n", k + 5),
        )
        .expect("a file");
    }
    for data in ["part-*.csv", "part-?.csv", "."] {
        let run = room.run(&format!("inspect {data}")).exits(0);
        assert!(run.out.contains("4 rows"), "{data}: {}", run.out);
    }
    // A model takes its name from the data, whatever that is.
    let mut command = room.command();
    command.arg("train").arg(OsStr::from_bytes(b"part-\xff.csv"));
    Run::new(command.output().expect("the program starts"), "train").exits(0);
    assert!(room.path("").join(OsStr::from_bytes(b"part-\xff.linsep")).exists());
    // Rejected rows go to such a file too.
    room.write("bad.csv", "a,label\n1,x\noops,y\n2,y\n");
    let mut command = room.command();
    command.args(["inspect", "bad.csv", "--bad-rows"]).arg(OsStr::from_bytes(b"rejects=r\xff"));
    Run::new(command.output().expect("the program starts"), "inspect").exits(0);
    assert!(room.path("").join(OsStr::from_bytes(b"r\xff")).exists());
}

#[test]
fn any_number_of_empty_parts_is_passed_over() {
    let room = Room::new();
    for k in 0..6000 {
        room.write(&format!("parts/{k:05}.csv"), "");
    }
    room.write("parts/99999.csv", "a,label\n1,x\n2,y\n");
    let run = room.run("inspect parts").exits(0);
    assert!(run.out.contains("2 rows"), "{}", run.out);
    std::fs::remove_file(room.path("parts/99999.csv")).expect("a file");
    room.run("inspect parts").exits(3);
}

#[test]
fn variables_that_are_no_text_are_no_fault() {
    let room = Room::holding("f.csv", super::common::TWO);
    let run = |name: &[u8], value: &[u8]| {
        let mut command = room.command();
        command.args(["inspect", "f.csv"]).env(OsStr::from_bytes(name), OsStr::from_bytes(value));
        Run::new(command.output().expect("the program starts"), "inspect f.csv")
    };
    run(b"UNRELATED", b"\xff").exits(0);
    run(b"\xff\xfe", b"x").exits(0);
    run(b"LINSEP_\xff", b"x").exits(0);
    run(b"LINSEP_SEED", b"\xff").exits(2);
}

#[test]
fn a_first_record_or_comments_may_be_as_long_as_any_record() {
    let names: Vec<String> = (0..40_000).map(|k| format!("feature_{k:05}")).collect();
    let row =
        |x: usize| (0..40_000).map(|k| ((k + x) % 10).to_string()).collect::<Vec<_>>().join(",");
    let table = format!("{},label\n{},x\n{},y\n", names.join(","), row(0), row(3));
    let comments = "# nothing but words\n".repeat(30_000);
    let pairs = |x: usize| {
        (1..60_000).map(|k| format!("{k}:{}", (k + x) % 9 + 1)).collect::<Vec<_>>().join(" ")
    };
    for (name, text, says) in [
        ("f.csv", table, "40,000 features"),
        ("f.data", format!("{comments}1 1:2 3:4\n-1 2:1\n"), "3 features"),
        ("f.data", format!("1 {}\n-1 {}\n", pairs(0), pairs(1)), "59,999 features"),
        ("f.csv", format!("{}a,b,label\n1,2,x\n3,4,y\n", "\n".repeat(300_000)), "2 features"),
    ] {
        let room = Room::holding(name, &text);
        for run in [room.run(&format!("inspect {name}")), room.run_on(&text, "inspect -")] {
            let run = run.exits(0);
            assert!(run.out.contains(says), "{says}: {}", &run.out[..run.out.len().min(300)]);
        }
    }
}

/// Rows of both classes with one and the same sum of hashes, which anyone can make who reads the sources:
/// the second value of a row is chosen by running the hash of an entry backwards.
#[test]
fn rows_made_to_collide_do_not_slow_down_the_report() {
    let offset = |column: u64| column.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = |column: u64, value: f64| {
        let z = offset(column) ^ value.to_bits().rotate_left(29);
        let z = (z ^ (z >> 32)).wrapping_mul(FACTOR);
        z ^ (z >> 32)
    };
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    // The inverse of an odd factor modulo 2^64, by Newton's rule.
    let inverse =
        (0..6).fold(FACTOR, |x, _| x.wrapping_mul(2u64.wrapping_sub(FACTOR.wrapping_mul(x))));
    assert_eq!(FACTOR.wrapping_mul(inverse), 1);
    let value = |column: u64, hash: u64| {
        let z = (hash ^ (hash >> 32)).wrapping_mul(inverse);
        f64::from_bits((z ^ (z >> 32) ^ offset(column)).rotate_right(29))
    };
    let mut text = String::from("a,b,label\n");
    for k in 1..=80_000 {
        let a = f64::from(k);
        let b = value(2, 12_345u64.wrapping_sub(hash(1, a)));
        if b.is_normal() {
            assert_eq!(hash(1, a).wrapping_add(hash(2, b)), 12_345);
            text.push_str(&format!("{a},{b:e},{}\n", if k % 2 == 0 { "x" } else { "y" }));
        }
    }
    let room = Room::holding("f.csv", text);
    let started = std::time::Instant::now();
    room.run("inspect f.csv").exits(0);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn a_table_of_zeros_survives_svmlight() {
    for labels in [["a", "b"], ["1", "-1"]] {
        let text = format!("u,v,label\n0,0,{}\n0,0,{}\n0,0,{}\n", labels[0], labels[1], labels[0]);
        let room = Room::holding("f.csv", text);
        room.run("convert f.csv out.svm").exits(0);
        let packed = room.read("out.svm");
        for run in [room.run("inspect out.svm"), room.run_on(&packed, "inspect -")] {
            let run = run.exits(0);
            assert!(run.out.contains("3 rows") && run.out.contains("2 classes"), "{}", run.out);
        }
    }
    // Rows of zeros among others say nothing about the format.
    let room = Room::holding("f.data", "spam\nham\nspam\nham 3:1\nspam 1:2\n");
    assert!(room.run("inspect f.data").exits(0).out.contains("5 rows"));
}

const HOSTILE: &str = "a\u{202e}b\u{9b}31mc\u{1b}]0;x\u{7}";

fn is_safe(text: &str) -> bool {
    let unsafe_ = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    !text.chars().any(unsafe_)
}

#[test]
fn no_name_from_a_file_reaches_a_report_as_it_is() {
    let room = Room::new();
    let table = format!(
        "{HOSTILE}_1,{HOSTILE}_2,label\n1,2,{HOSTILE}x\n2,1,{HOSTILE}x\n5,4,{HOSTILE}y\n4,5,{HOSTILE}y\n"
    );
    let name = format!("{HOSTILE}.csv");
    room.write(&name, &table);
    let model = "m.linsep";
    let run = |arguments: &[&str]| {
        let run = room.run_args(arguments);
        assert!(is_safe(&run.err), "{arguments:?}: {:?}", run.err);
        assert!(is_safe(&run.out), "{arguments:?}: {:?}", run.out);
        run
    };
    run(&["train", &name, "-o", model]).exits(0);
    for json in [&[][..], &["--json"], &["--plain"]] {
        let with = |more: &[&str]| {
            let all: Vec<&str> = more.iter().chain(json).copied().collect();
            run(&all);
        };
        with(&["inspect", &name]);
        with(&["show", model]);
        with(&["show", model, "--pairs"]);
        with(&["evaluate", model, &name]);
        with(&["separable", &name, "--margin", "--witness"]);
        with(&["verify", model, &name]);
        with(&["geometry", model, &name]);
        with(&["explain", model, &name, "--row", "1"]);
        with(&["criterion", model, &name]);
        with(&["compare", &name, "--cv", "2", "--learners", "fisher,perceptron", "--knn", "0"]);
        with(&["train", &name, "-o", model, "--verdict", "off"]);
        with(&["train", &name, "-o", &format!("{HOSTILE}.linsep"), "--dry-run"]);
    }
    // Errors and complaints too.
    run(&["train", &format!("{HOSTILE}none.csv")]).exits(6);
    run(&["train", &name, "--label", HOSTILE]).exits(3);
    run(&["train", &name, "--learner", HOSTILE]).exits(2);
    run(&["train", &name, "--positive", HOSTILE]).exits(3);
    run(&["explain", model, &name, "--row", "0", "--why-not", HOSTILE]);
    room.write("bad.csv", format!("{HOSTILE},label\n{HOSTILE},x\n1,y\n"));
    run(&["train", "bad.csv"]).exits(3);
}

/// Rows are data: they leave the program as they are unless a terminal shows them.
#[test]
fn predictions_are_the_labels_to_the_byte() {
    let room = Room::holding("f.csv", "a,label\n1,p\u{202e}q\n9,\u{9b}r\n");
    room.run("train f.csv").exits(0);
    let run = room.run("predict f.linsep f.csv").exits(0);
    assert!(run.out.contains("p\u{202e}q") && run.out.contains("\u{9b}r"), "{:?}", run.out);
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_leaves_nothing() {
    let room = Room::with_model();
    let rows: String = (0..40_000).map(|i| format!("{},{},x\n", i % 9, i % 7)).collect();
    room.write("many.csv", format!("a,b,label\n{rows}"));
    let before = room.names();
    for line in [
        "convert many.csv out.tsv",
        "predict two.linsep many.csv -o out.csv",
        "generate blobs --rows 100000 -o out.csv",
        "train many.csv --bad-rows skip -o out.linsep --trace out.ndjson --verdict off",
    ] {
        // Without a trap: the signal would end the program.
        let run = room.shell(&format!("ulimit -f 1; exec linsep {line}"));
        assert_eq!(room.names(), before, "{line}");
        assert!(run.code == 6 || run.code == 3, "{line}: {}", run.code);
    }
}

/// The system gives no more memory or no more threads: an error, no crash.
#[test]
fn limits_of_the_system_are_errors() {
    let room = Room::new();
    let rows: String =
        (0..200_000).map(|i| format!("{},{},{}.5,{}\n", i, i % 7, i % 11, i % 2)).collect();
    room.write("f.csv", format!("a,b,c,label\n{rows}"));
    let mut refused = 0;
    for kib in [40_000, 60_000, 80_000, 120_000, 200_000, 400_000, 1_000_000] {
        for line in [
            "train f.csv --learner svm --epochs 3 -o m.linsep",
            "separable f.csv --threads 8",
            "inspect f.csv --threads 16",
        ] {
            let run = room.shell(&format!("ulimit -v {kib}; exec linsep {line}"));
            assert!([0, 1, 5, 6].contains(&run.code), "{line} at {kib}: {} {}", run.code, run.err);
            if run.code == 6 {
                assert!(run.err.contains("error[E060"), "{}", run.err);
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "no limit was low enough to be felt");
}
