//! `plot` and `compare` refuse what cannot be drawn or compared, and leave nothing behind.

use super::Room;

const LINE: &str = "x,label\n1,a\n2,a\n4,b\n5,b\n";

#[track_caller]
fn refused(room: &Room, line: &str, code: i32, says: &[&str]) {
    let before = room.names();
    let run = room.run(line).exits(code).says(says);
    assert_eq!(run.out, "", "stdout of {line}");
    assert_eq!(room.names(), before, "{line} left something behind");
}

#[test]
fn axes_that_name_no_column() {
    let room = Room::with_model();
    for (axes, code, says) in [
        ("a,zz", 3, &["error[E0118]", "no column \"zz\""][..]),
        ("#0,a", 3, &["error[E0118]", "#0"]),
        ("a", 2, &["error[E0201]", "--axes"]),
        ("a,a", 2, &["error[E0201]", "the same"]),
        ("a,", 3, &["error[E0118]"]),
    ] {
        refused(&room, &format!("plot two.csv --axes {axes}"), code, says);
        refused(&room, &format!("plot two.csv two.linsep --axes {axes}"), code, says);
    }
}

#[test]
fn views_that_the_data_do_not_allow() {
    let room = Room::with_model();
    room.write("three.csv", "a,b,label\n1,2,x\n2,1,y\n4,5,z\n1,1,x\n");
    room.write("wide.csv", "a,b,c,label\n1,2,3,x\n2,1,0,y\n");
    room.write("empty.csv", "");
    room.write("header.csv", "a,b,label\n");
    room.write("one.csv", "a,b,label\n1,2,x\n");
    for (line, code, says) in [
        ("plot wide.csv --view weight", 2, &["3 features", "--features"][..]),
        ("plot wide.csv --view criterion", 2, &["3 features"]),
        ("plot three.csv --view weight", 2, &["two classes", "--positive"]),
        ("plot three.csv --view curves", 2, &["two classes", "--positive"]),
        ("plot three.csv --view histogram", 2, &["two classes"]),
        ("plot empty.csv", 3, &["error[E0101]"]),
        ("plot header.csv", 3, &["error[E0102]"]),
        ("plot one.csv", 3, &["error[E0116]"]),
        ("plot nowhere.csv", 6, &["error[E0601]"]),
        ("plot two.csv nowhere.linsep", 6, &["error[E0601]"]),
        ("plot two.csv wide.csv", 4, &["error[E0401]"]),
        ("plot wide.csv two.linsep --view neuron --learner lda", 2, &["the model settles it"]),
        ("plot two.csv two.linsep --view weight", 2, &["takes no model"]),
        ("plot two.csv --view weight --bias on --start 1,2", 2, &["--start is for two weights"]),
        ("plot two.linsep --view coefficients", 2, &["needs the data too"]),
        ("plot three.csv two.linsep", 3, &["error[E0128]", "\"z\""]),
    ] {
        refused(&room, line, code, says);
    }
}

#[test]
fn flags_that_are_wrong_or_change_nothing() {
    let room = Room::holding("line.csv", LINE);
    for (flags, says) in [
        ("--view no", "invalid value"),
        ("--width 10", "--width"),
        ("--width 1e3", "--width"),
        ("--width 99999999999", "--width"),
        ("--view weight --learner lda", "perceptron or batch-perceptron"),
        ("--view weight --eta nan", "--eta"),
        ("--view weight --eta 0", "--eta"),
        ("--view weight --start 1", "--start"),
        ("--view weight --start 1,inf", "--start"),
        ("--view weight --updates -1", "--updates"),
        ("--view weight --updates 99999999999", "--updates"),
        ("--criterion mse", "--view criterion"),
        ("--direction means", "--view histogram"),
        ("--order shuffle", "--view curves"),
        ("--view curves --axes x,x", "--view pattern"),
        ("--view curves --ambiguous", "--view pattern"),
        ("--view curves --learner lda", "--learner"),
        ("--view confusion --learner none", "needs a model"),
        ("--json -o -", "--json needs -o FILE"),
        ("--bias on", "--view weight"),
        ("--view weight --bias maybe", "invalid value"),
        ("--view weight --bias off", "--bias: one feature without a bias"),
    ] {
        refused(&room, &format!("plot line.csv {flags}"), 2, &[says]);
    }
}

#[test]
fn names_of_other_formats_are_refused_before_anything_is_read() {
    let room = Room::holding("line.csv", LINE);
    for (name, says) in [
        ("p.png", "pictures are SVG, not PNG; name it p.svg"),
        ("P.PNG", "name it P.svg"),
        ("a.b.pdf", "pictures are SVG, not PDF; name it a.b.svg"),
        ("p.jpeg", "name it p.svg"),
    ] {
        for data in ["line.csv", "nowhere.csv"] {
            refused(&room, &format!("plot {data} -o {name}"), 2, &["error[E0201]", says]);
        }
    }
    room.run("plot line.csv -o picture").exits(0);
    assert!(room.read("picture").starts_with("<svg"));
}

#[test]
fn a_picture_or_a_table_that_cannot_be_written() {
    let room = Room::holding("line.csv", LINE);
    room.write("file", "a file, not a folder");
    for line in
        ["plot line.csv -o file/p.svg", "plot line.csv -o nowhere/p.svg", "plot line.csv -o ."]
    {
        refused(&room, line, 6, &["error[E0601]: cannot write "]);
    }
    // The table itself is not lost with its copy.
    let line = "compare line.csv --cv 2 --learners lda --export-markdown nowhere/t.md";
    let run = room.run(line).exits(6).says(&["error[E0601]: cannot write nowhere/t.md"]);
    assert!(run.out.contains("lda"), "{}", run.out);
    room.shell("exec linsep plot line.csv -o - > /dev/full").exits(6).says(&["No space left"]);
    assert_eq!(room.read("file"), "a file, not a folder");
}

#[test]
fn comparisons_that_make_no_sense() {
    let room = Room::holding("line.csv", LINE);
    room.write("one.csv", "a,label\n1,x\n2,x\n");
    room.write("lone.csv", "a,label\n1,x\n2,x\n3,y\n");
    for (line, code, says) in [
        (
            "compare line.csv --learners percepton",
            2,
            &["--learners", "no learner \"percepton\""][..],
        ),
        ("compare line.csv --learners lda,,fisher", 2, &["--learners"]),
        ("compare line.csv --cv 1", 2, &["--cv", "at least 2"]),
        ("compare line.csv --cv 0", 2, &["--cv"]),
        ("compare line.csv --cv x", 2, &["--cv"]),
        ("compare line.csv --cv 5", 2, &["5 folds cannot be made of 4 rows"]),
        ("compare line.csv --cv 99999999999999999999", 2, &["--cv"]),
        ("compare line.csv --knn -1", 2, &["--knn"]),
        ("compare lone.csv --cv 2", 3, &["error[E0131]"]),
        ("compare one.csv --cv 2", 3, &["error[E0116]"]),
        ("compare nowhere.csv", 6, &["error[E0601]"]),
    ] {
        refused(&room, line, code, says);
    }
}
