//! No output of any command is one of its inputs or another of its outputs, under whatever name, link or
//! default; what is there stays as it was.

use super::Room;
use std::os::unix::fs::symlink;

/// A table with one bad row, a model of it and links to both.
fn room() -> Room {
    let room = Room::holding("d.csv", "a,label\n1,x\n2,x\noops,y\n4,y\n5,y\n");
    room.run("train d.csv -o m.linsep --bad-rows skip --allow-bad 1").exits(0);
    symlink("d.csv", room.path("soft.csv")).expect("a link");
    std::fs::hard_link(room.path("d.csv"), room.path("hard.csv")).expect("a link");
    symlink("later.out", room.path("dangling")).expect("a link");
    room
}

#[track_caller]
fn refused(room: &Room, line: &str, says: &str) {
    let files = |room: &Room| -> Vec<(String, Vec<u8>)> {
        let names = room.names().into_iter().filter(|name| room.path(name).is_file());
        names.map(|name| (name.clone(), room.bytes(&name))).collect()
    };
    let before = files(room);
    room.run(line).exits(2).says(&["error[E0201]", says]);
    assert_eq!(files(room), before, "{line}");
}

#[test]
fn rejected_rows_do_not_destroy_the_data_or_the_model() {
    let room = room();
    for name in ["d.csv", "./d.csv", "soft.csv", "hard.csv"] {
        for command in ["train d.csv", "separable d.csv", "inspect d.csv", "convert d.csv o.csv"] {
            let line = format!("{command} --bad-rows rejects={name}");
            refused(&room, &line, "is read by this command");
        }
    }
    refused(&room, "train d.csv -o n.linsep --bad-rows rejects=n.linsep", "both write to");
    refused(&room, "train d.csv -o ./n.linsep --bad-rows rejects=n.linsep", "both write to");
    // The model has its default name here.
    refused(&room, "train d.csv --bad-rows rejects=d.linsep", "both write to");
}

#[test]
fn every_name_of_an_input_is_refused_as_an_output() {
    let room = room();
    for name in ["d.csv", "soft.csv", "hard.csv"] {
        refused(&room, &format!("train d.csv -o {name}"), "is read by this command");
        refused(&room, &format!("train {name} -o d.csv"), "is read by this command");
        let line = format!("predict m.linsep d.csv -o {name}");
        refused(&room, &line, "is read by this command");
    }
    refused(&room, "train d.csv --init m.linsep -o m.linsep", "is read by this command");
    room.write("rates", "0.5 0.25");
    refused(&room, "train d.csv --eta table:rates -o rates", "is read by this command");
    room.write("c.toml", "seed = 1");
    refused(&room, "train d.csv --config c.toml -o c.toml", "is read by this command");
    refused(&room, "train d.csv --test hard.csv -o n.linsep --trace hard.csv", "is read by");
}

#[test]
fn files_of_a_folder_or_a_pattern_are_inputs() {
    let room = Room::new();
    room.write("parts/1.csv", "a,label\n1,x\n4,y\n");
    room.write("parts/2.csv", "a,label\n2,x\n5,y\n");
    for data in ["parts", "parts/*.csv", "parts/[12].csv"] {
        room.run(&format!("train {data} -o parts/2.csv")).exits(2).says(&["is read by"]);
    }
    assert_eq!(room.read("parts/2.csv"), "a,label\n2,x\n5,y\n");
}

#[test]
fn outputs_with_default_names_are_looked_at_too() {
    // A table may be called as its model would be.
    let room = Room::holding("d.linsep", "a,label\n1,x\n4,y\n");
    refused(&room, "train d.linsep --format csv", "is read by this command");
    let room = Room::holding("d.svg", "a,b,label\n1,2,x\n4,5,y\n");
    refused(&room, "plot d.svg --format csv", "is read by this command");
}

#[test]
fn two_outputs_that_are_still_to_be_made_need_two_places() {
    let room = room();
    let line = "train d.csv --bad-rows skip --allow-bad 1 -o dangling --trace later.out";
    refused(&room, line, "both write to");
    room.write("sub/x", "");
    symlink("sub", room.path("link")).expect("a link");
    refused(&room, "gate and --table sub/t.csv --cert link/t.csv", "both write to");
    // Devices may be shared.
    room.run("gate and --table /dev/null --cert /dev/null").exits(2);
    let line = "train d.csv --bad-rows skip --allow-bad 1 -o n.linsep --trace /dev/null";
    room.run(line).exits(0);
}

#[test]
fn a_redirected_report_is_an_output() {
    let room = room();
    let before = room.read("d.csv");
    for script in [
        "exec linsep inspect d.csv --bad-rows skip --allow-bad 1 >> d.csv",
        "exec linsep inspect - --bad-rows skip --allow-bad 1 < d.csv >> hard.csv",
    ] {
        room.shell(script).exits(2).says(&["standard output", "is read by this command"]);
        assert_eq!(room.read("d.csv"), before, "{script}");
    }
    let run = room.shell("exec linsep gate and --cert report > report");
    run.exits(2).says(&["both write to report"]);
}

/// A run that goes on takes the place of what it was, and of nothing else.
#[test]
fn a_resumed_run_takes_its_own_place_only() {
    let room = Room::new();
    room.run("generate xor -o d.csv").exits(0);
    let train = "train d.csv --verdict off";
    room.run(&format!("{train} --epochs 3 -o m.linsep --checkpoint c")).exits(5);
    refused(&room, "train d.csv --resume c -o c", "is read by this command");
    refused(&room, "train d.csv --resume m.linsep --trace m.linsep -o n.linsep", "is read by");
    refused(&room, "train d.csv --resume m.linsep --checkpoint m.linsep", "m.linsep");
    room.run("train d.csv --resume m.linsep --epochs 5").exits(5);
    assert!(room.exists("m.linsep"));
    room.run("train d.csv --resume c --epochs 5 -o n.linsep").exits(5);
    assert!(room.exists("n.linsep") && room.exists("c"));
}

/// What a command did not write is written over by request only; what it wrote before is, as scripts expect.
#[test]
fn a_file_of_another_kind_is_written_over_by_force_only() {
    let room = Room::holding("d.csv", "a,b,label\n1,1,x\n2,1,x\n4,2,y\n5,2,y\n");
    let other = "the only copy of my notes";
    for (line, target, says) in [
        ("train d.csv", "d.linsep", "is not a model of linsep"),
        ("train d.csv -o m", "m", "is not a model of linsep"),
        ("plot d.csv", "d.svg", "is not an SVG picture"),
        ("plot d.csv -o p.svg", "p.svg", "is not an SVG picture"),
        ("separable d.csv --cert c.json", "c.json", "is not a certificate"),
        ("gate and --cert g.json", "g.json", "is not a certificate"),
    ] {
        room.write(target, other);
        let run = room.run(line).exits(2);
        run.says(&["error[E0201]", target, says, "--force"]);
        assert_eq!(room.read(target), other, "{line}");
        room.run(&format!("{line} --force")).exits(0);
        assert_ne!(room.bytes(target), other.as_bytes(), "{line}");
        // The same command again, as a script would run it.
        room.run(line).exits(0);
        // An empty file is a place that somebody has made.
        room.write(target, "");
        room.run(line).exits(0);
    }
    // A model is no place for a picture, nor a picture for a model.
    room.run("train d.csv").exits(0);
    room.run("plot d.csv -o d.linsep").exits(2);
    room.run("train d.csv -o d.svg").exits(2);
    room.run("convert d.linsep d.svg").exits(2);
    room.run("convert d.linsep new.linsep").exits(0);
    room.run("show d.linsep").exits(0);
    room.run_env(&[("LINSEP_FORCE", "true")], "train d.csv -o d.svg").exits(0);
}
