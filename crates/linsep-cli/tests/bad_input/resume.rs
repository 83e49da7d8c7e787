//! Checkpoints and models that a run cannot go on from, and flags that contradict them: the exact exit
//! code, a message, and nothing written.

use super::Room;
use super::common::TWO;

/// A folder with `two.csv`, a model `m.linsep` that a limit ended, and its checkpoint.
fn room() -> Room {
    let room = Room::holding("two.csv", TWO);
    room.run("train two.csv --order cyclic --epochs 1 --checkpoint-every 1s -o m.linsep").exits(5);
    room.write("other.csv", TWO.replace("5,5,y", "5,6,y"));
    room
}

/// `train two.csv` with these flags ends with this code, says this, and leaves everything as it was.
#[track_caller]
fn refused(room: &Room, flags: &str, code: i32, says: &[&str]) {
    let before: Vec<(String, Vec<u8>)> = contents(room);
    let run = room.run(&format!("train {flags}")).exits(code).says(says);
    assert_eq!(run.out, "", "{flags}");
    assert!(contents(room) == before, "{flags} changed something in the folder");
}

fn contents(room: &Room) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| {
        let bytes = std::fs::read(room.path(&name)).expect("a file");
        (name, bytes)
    };
    room.names().into_iter().map(read).collect()
}

#[test]
fn a_checkpoint_of_other_data_is_refused() {
    let room = room();
    let says = ["error[E0404]: m.linsep.checkpoint: the checkpoint belongs to other data (6 rows"];
    refused(&room, "other.csv --resume m.linsep.checkpoint", 4, &says);
    room.write("five.csv", TWO.trim_end().rsplit_once('\n').map_or("", |(most, _)| most));
    refused(&room, "five.csv --resume m.linsep.checkpoint", 4, &says);
    // A model goes on with other data, but not with other columns or classes.
    room.run("train other.csv --resume m.linsep -o n.linsep").exits(0);
    room.write("more.csv", format!("{TWO}9,9,z\n"));
    let says = ["error[E0128]: the model has no class \"z\"", "more.csv:8", "its classes are x, y"];
    refused(&room, "more.csv --resume m.linsep", 3, &says);
    refused(&room, "more.csv --resume m.linsep.checkpoint", 3, &says[..1]);
    room.write("columns.csv", "a,c,label\n1,2,x\n4,5,y\n");
    refused(&room, "columns.csv --resume m.linsep", 3, &["error[E0118]", "\"b\""]);
}

#[test]
fn a_file_that_is_no_checkpoint_and_no_model_is_refused() {
    let room = room();
    for text in ["", "{}", "[]", "a,b\n1,2\n", "\0\0", "{\"format\": \"linsep.checkpoint\"}"] {
        room.write("c", text);
        refused(&room, "two.csv --resume c -o out.linsep", 4, &["error[E0401]: c: "]);
    }
    refused(&room, "two.csv --resume nowhere", 6, &["error[E0601]", "nowhere"]);
    room.run("train two.csv --learner fisher -o f.linsep").exits(0);
    let says = ["error[E0201]: --resume: f.linsep holds no run to go on with", "--init"];
    refused(&room, "two.csv --resume f.linsep", 2, &says);
}

#[test]
fn a_checkpoint_that_was_cut_is_refused_at_every_length() {
    let room = room();
    let whole = room.bytes("m.linsep.checkpoint");
    for length in (1..whole.len()).step_by(53) {
        room.write("c", &whole[..length]);
        refused(&room, "two.csv --resume c -o out.linsep", 4, &["error[E0401]: c: "]);
    }
}

#[test]
fn a_checkpoint_that_was_edited_is_refused() {
    let room = room();
    let changed = |change: (&str, &str), says: &[&str]| {
        room.patch("m.linsep.checkpoint", "c", change);
        refused(&room, "two.csv --resume c -o out.linsep", 4, says);
    };
    for change in [
        (r#"\"seed\":0"#, r#"\"seed\":1"#),
        (r#"\"learner\":\"perceptron\""#, r#"\"learner\":\"perceptrom\""#),
        (r#"\"order\":\"cyclic\""#, r#"\"order\":\"random\""#),
        (r#"\"epochs\":1"#, r#"\"epochs\":2"#),
        ("[\"x\",\"y\"]", "[\"y\",\"x\"]"),
    ] {
        changed(change, &["error[E0403]: c: "]);
    }
    for change in [
        ("\"classes\":{", "\"state\"  :{"),
        ("\"dtype\":\"U8\"", "\"dtype\":\"I8\""),
        ("{\"linsep\":", "{\"linseq\":"),
    ] {
        changed(change, &["error[E0401]: c: "]);
    }
    let says = ["error[E0402]: c: ", "linsep.checkpoint/3", "linsep.checkpoint/2"];
    changed(("linsep.checkpoint/2", "linsep.checkpoint/3"), &says);
    room.write("c", [&room.bytes("m.linsep.checkpoint")[..], b"x"].concat());
    refused(&room, "two.csv --resume c -o out.linsep", 4, &["error[E0401]: c: "]);
}

/// Whatever byte is damaged, the file is refused: letters, digits, quotes, brackets, blanks, line ends.
#[test]
fn no_byte_of_a_checkpoint_can_be_flipped() {
    let room = room();
    let whole = std::fs::read(room.path("m.linsep.checkpoint")).expect("a checkpoint");
    let mut seen = std::collections::BTreeSet::new();
    for (at, byte) in whole.iter().enumerate() {
        // Each kind of byte in each of sixteen stretches of the file.
        if !seen.insert((byte, at * 16 / whole.len())) {
            continue;
        }
        for bit in [1, 4, 64] {
            let mut flipped = whole.clone();
            flipped[at] ^= bit;
            let error = linsep::file::checkpoint::Checkpoint::from_bytes(&flipped, "c".as_ref());
            assert!(error.is_err(), "bit {bit} of byte {at} ({byte})");
        }
    }
    assert!(seen.len() > 200);
    for at in [whole.len() / 3, whole.len() / 2, whole.len() - 20] {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        room.write("c", flipped);
        refused(&room, "two.csv --resume c -o out.linsep", 4, &["]: c: "]);
    }
}

/// A checksum that fits is not enough: the parts have to fit together.
#[test]
fn a_checkpoint_that_contradicts_itself_is_refused_although_its_checksum_fits() {
    use linsep::file::checkpoint::Checkpoint;
    let room = room();
    let bytes = std::fs::read(room.path("m.linsep.checkpoint")).expect("a checkpoint");
    type Change = fn(&mut Checkpoint);
    let changes: [(&str, Change); 7] = [
        ("learner", |c| c.learner = "oracle".into()),
        ("parameters", |c| drop(c.parameters.insert("order".into(), "sideways".into()))),
        ("setting", |c| drop(c.parameters.insert("gamma".into(), "1".into()))),
        ("seed", |c| c.seed = 5),
        ("state", |c| c.run.state = linsep::State::from_bytes(b"{}".to_vec())),
        ("classes", |c| c.classes.truncate(1)),
        ("features", |c| c.input.features = 1 << 40),
    ];
    for (what, change) in changes {
        let mut checkpoint = Checkpoint::from_bytes(&bytes, "c".as_ref()).expect("a checkpoint");
        change(&mut checkpoint);
        checkpoint.save(&room.path("c")).unwrap_or_else(|e| panic!("{what}: {e}"));
        refused(&room, "two.csv --resume c -o out.linsep", 4, &["error[E0404]: c: "]);
    }
}

#[test]
fn flags_that_contradict_a_run_are_usage_errors() {
    let room = room();
    for file in ["m.linsep", "m.linsep.checkpoint"] {
        for flags in [
            "--learner pocket",
            "--order shuffle",
            "--eta 2",
            "--scale none",
            "--stop empty",
            "--seed 1",
            "--b 2",
            "--label b",
            "--positive x",
            "--features a",
            "--drop a",
            "--weight a",
            "--categorical onehot",
            "--missing mean",
            "--reading binary64",
            "--runs 3",
        ] {
            let flag = flags.split_whitespace().next().unwrap_or("");
            let words = format!("error[E0201]: {flag} contradicts {file}, which has ");
            refused(&room, &format!("two.csv --resume {file} {flags}"), 2, &[&words]);
        }
        // What says the same is no contradiction.
        let same = "--learner perceptron --order cyclic --seed 0 --eta 1";
        room.run(&format!("train two.csv --resume {file} {same} --dry-run")).exits(0);
    }
    let words = ["error[E0201]: --test contradicts m.linsep, which learned from all"];
    refused(&room, "two.csv --resume m.linsep --test 0.4", 2, &words);
    refused(&room, "other.csv --resume m.linsep --cv 2", 2, &["error[E0201]: --cv "]);
}

#[test]
fn settings_of_checkpoints_and_runs_that_cannot_be_used_are_usage_errors() {
    let room = Room::holding("two.csv", TWO);
    for value in ["0", "NaN", "-1s", "0visits", "visits", "1.5visits", "-3visits", "soon", "", "1y"]
    {
        let says = ["error[E0201]: --checkpoint-every: ", "100000visits"];
        refused(&room, &format!("two.csv --checkpoint-every={value}"), 2, &says);
    }
    for value in ["0", "1001", "-1", "x", "1.5", ""] {
        refused(&room, &format!("two.csv --runs={value}"), 2, &["error[E0201]: --runs: "]);
    }
    let says = ["error[E0201]: --runs makes runs that are not saved"];
    refused(&room, "two.csv --runs 2 --checkpoint-every 1s", 2, &says);
    let says = ["error[E0201]: lda solves in one go"];
    refused(&room, "two.csv --learner lda --checkpoint-every 1s", 2, &says);
    let says = ["both write to m; give two names"];
    refused(&room, "two.csv -o m --checkpoint m", 2, &says);
    for rule in ["empty-ish", "below", "below:", "below:0", "below:-1", "below:NaN", "window", ""] {
        let flags = format!("two.csv --stop={rule}");
        refused(&room, &flags, 2, &["error[E0201]: --stop: "]);
    }
    refused(&room, "two.csv --learner pocket --stop empty", 2, &["has no setting \"stop\""]);
    // A place that cannot be written to is found before the work.
    let says = ["error[E0601]", "nowhere/c"];
    refused(&room, "two.csv --checkpoint-every 1s --checkpoint nowhere/c", 6, &says);
}

#[test]
fn what_a_stream_cannot_do_is_a_usage_error() {
    let room = room();
    for flags in [
        "--learner pocket",
        "--learner batch-perceptron",
        "--learner lda",
        "--learner adaline",
        "--verdict on",
        "--order shuffle",
        "--scale pow2",
        "--scale standard",
        "--class-weight balanced",
        "--init random",
        "--stop clean-window",
        "--epochs 2",
        "--updates 5",
        "--cv 3",
        "--runs 2",
        "--test 0.2",
        "--checkpoint-every 1s",
        "--categorical onehot",
        "--missing mean",
        "--bad-rows skip --allow-bad 3",
        "--classes a",
        "--classes a,,b",
        "--resume m.linsep.checkpoint",
        "--resume m.linsep",
    ] {
        refused(&room, &format!("two.csv --stream {flags} -o out.linsep"), 2, &["error[E0201]: "]);
    }
    refused(&room, "two.csv --classes x,y", 2, &["--stream"]);
    refused(&room, "two.csv --stream --classes x,z", 3, &["error[E0128]", "\"y\"", "two.csv:5"]);
    room.write("bad.csv", TWO.replace("4,5", "4,five"));
    refused(
        &room,
        "bad.csv --stream -o out.linsep",
        3,
        &["error[E0104]", "bad.csv:5:3", "\"five\""],
    );
    room.write("one.csv", "a,label\n1,x\n2,x\n");
    refused(&room, "one.csv --stream -o out.linsep", 3, &["error[E0116]", "--classes"]);
}
