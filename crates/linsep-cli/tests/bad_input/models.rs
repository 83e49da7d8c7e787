//! Model files that cannot be trusted: exit code 4, whatever the command.

use super::Room;
use linsep::Rule;
use linsep::file::ModelFile;

/// Every command that reads a model refuses `m.linsep` with this code and leaves nothing behind.
#[track_caller]
fn refused(room: &Room, code: &str) {
    let before = room.names();
    for line in [
        "show m.linsep",
        "predict m.linsep two.csv -o out.csv",
        "evaluate m.linsep two.csv",
        "train two.csv -o out.linsep --init m.linsep",
    ] {
        let error = format!("error[{code}]: m.linsep: ");
        let run = room.run(line).exits(4).says(&[&error, "help: train the model again"]);
        assert_eq!(run.out, "", "{line}");
        assert_eq!(room.names(), before, "{line}");
    }
}

#[test]
fn files_that_are_no_models_are_refused() {
    let room = Room::with_model();
    for text in ["", "a,b,label\n1,2,x\n", "{}", "[]", "null", "{\"format\": 1}", "\0\0\0\0"] {
        room.write("m.linsep", text);
        refused(&room, "E0401");
    }
}

#[test]
fn a_model_that_was_cut_is_refused_at_every_length() {
    let room = Room::with_model();
    let whole = room.bytes("two.linsep");
    for length in (1..whole.len()).step_by(97) {
        room.write("m.linsep", &whole[..length]);
        room.run("show m.linsep").exits(4).says(&["error[E0401]: m.linsep: "]);
    }
    room.write("m.linsep", &whole[..whole.len() / 2]);
    refused(&room, "E0401");
    room.write("m.linsep", &whole[..whole.len() - 1]);
    refused(&room, "E0401");
}

#[test]
fn a_model_that_was_edited_is_refused() {
    let room = Room::with_model();
    for change in [
        (r#"\"seed\":0"#, r#"\"seed\":1"#),
        (r#"\"scale\":"#, r#"\"scald\":"#),
        ("[\"x\",\"y\"]", "[\"x\",\"z\"]"),
        ("[\"x\",\"y\"]", "[\"y\",\"x\"]"),
    ] {
        room.patch("two.linsep", "m.linsep", change);
        refused(&room, "E0403");
    }
    let mut bytes = room.bytes("two.linsep");
    let weights = bytes.len() - 32;
    bytes[weights] ^= 1;
    room.write("m.linsep", bytes);
    refused(&room, "E0403");
}

#[test]
fn a_model_with_bytes_behind_it_or_parts_that_nobody_knows_is_refused() {
    let room = Room::with_model();
    let whole = room.bytes("two.linsep");
    for more in ["x", "{}"] {
        room.write("m.linsep", [&whole, more.as_bytes()].concat());
        refused(&room, "E0401");
    }
    for change in [
        // The same name twice, a type of numbers that no model has, a tensor outside of the file.
        ("\"classes\":{", "\"bias\"   :{"),
        ("\"dtype\":\"F64\"", "\"dtype\":\"F32\""),
        ("\"data_offsets\":[0,", "\"data_offsets\":[9,"),
        ("__metadata__", "--metadata--"),
        ("{\"linsep\":", "{\"linseq\":"),
    ] {
        room.patch("two.linsep", "m.linsep", change);
        refused(&room, "E0401");
    }
}

#[test]
fn a_model_of_a_newer_format_is_refused() {
    let room = Room::with_model();
    room.patch("two.linsep", "m.linsep", ("linsep.model/2", "linsep.model/3"));
    refused(&room, "E0402");
    room.run("show m.linsep").says(&["linsep.model/3", "not of the version", "linsep.model/2"]);
}

#[test]
fn a_model_that_contradicts_itself_is_refused_although_its_checksum_fits() {
    let room = Room::with_model();
    let load = || ModelFile::load(&room.path("two.linsep"), None).expect("a model");
    type Change = fn(&mut ModelFile);
    let changes: [(&str, Change); 4] = [
        ("rule", |file| file.model.rule = Rule::ArgMax),
        ("weights", |file| file.model.planes[0].weights.truncate(1)),
        ("classes", |file| file.model.classes[1] = file.model.classes[0].clone()),
        ("planes", |file| file.model.planes.clear()),
    ];
    for (what, change) in changes {
        let mut file = load();
        change(&mut file);
        file.save(&room.path("m.linsep")).unwrap_or_else(|e| panic!("{what}: {e}"));
        refused(&room, "E0404");
    }
}

#[test]
fn a_model_larger_than_the_memory_limit_is_not_read() {
    let room = Room::with_model();
    room.run("show two.linsep --max-memory 100").exits(6).says(&["error[E0602]", "the model file"]);
}

#[test]
fn a_start_with_the_planes_of_other_data_is_refused() {
    let room = Room::with_model();
    room.write("three.csv", "a,b,c,label\n1,2,3,x\n2,1,1,y\n3,3,3,x\n");
    let run = room.run("train three.csv --init two.linsep").exits(2);
    run.says(&["error[E0201]", "1 plane(s) of 3 weights"]);
    assert!(!room.exists("three.linsep"));
}
