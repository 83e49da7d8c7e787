//! Flags that do not exist and values that cannot be used: exit code 2, nothing written.

use super::Room;
use super::common::TWO;

/// A run of `train` with these flags is a usage error that mentions `word`.
#[track_caller]
fn refused(flags: &str, word: &str) {
    let room = Room::holding("two.csv", TWO);
    let run = room.run(&format!("train two.csv -o out.linsep {flags}")).exits(2).says(&[word]);
    assert_eq!(run.out, "", "{flags}");
    assert_eq!(room.names(), ["two.csv"], "{flags}");
}

#[test]
fn unknown_flags_commands_and_words_are_usage_errors() {
    refused("--nope", "--nope");
    refused("--order sideways", "possible values: cyclic, shuffle, blocks, random");
    refused("--learner oracle", "possible values: perceptron");
    refused("--missing guess", "possible values: error, drop-row, mean, median, mode, zero");
    refused("--format xls", "possible values: auto, csv");
    refused("--index-base 2", "possible values: auto, 0, 1");
    refused("--color sometimes", "possible values: auto, always, never");
    refused("--header --no-header", "cannot be used with");
    let room = Room::new();
    room.run("trian two.csv").exits(2).says(&["'trian'", "'train'"]);
    room.run("train").exits(2).says(&["<DATA>"]);
    room.run("predict two.linsep").exits(2).says(&["<DATA>"]);
    room.run("generate cheese").exits(2).says(&["blobs", "xor"]);
    room.run("completions tcsh").exits(2).says(&["bash"]);
    room.run("help cheese").exits(2).says(&["error[E0201]", "\"cheese\"", "train, predict"]);
    room.run("help E9999").exits(2).says(&["error[E0201]", "\"E9999\""]);
    room.run("man cheese").exits(2).says(&["error[E0201]"]);
}

/// Flags as other programs spell them are answered by what they mean.
#[test]
fn flags_of_other_programs_name_ours() {
    for (flag, says) in [
        ("--C 1", "'--C' is written --c"),
        ("-c 1", "'-c' is written --c"),
        ("--max_iter 5", "'--max_iter' is written --epochs"),
        ("--class_weight balanced", "is written --class-weight"),
        ("--regularization 0.1", "'--regularization' is --c C"),
        ("--learning-rate 0.1", "'--learning-rate' is --eta RATE"),
        ("--n-jobs 4", "'--n-jobs' is --threads N"),
        ("--n_jobs=4", "is --threads N"),
        ("--random-state 1", "'--random-state' is --seed N"),
        ("--test-size 0.2", "'--test-size' is --test SHARE"),
        ("--fit-intercept", "'--fit-intercept' is --intercept"),
        ("--tol 0.1", "'--tol' is --gap G"),
        ("--lable x", "a similar argument exists: '--label'"),
    ] {
        refused(flag, says);
    }
    let room = Room::with_model();
    room.run("evaluate two.linsep two.csv --cv 5").exits(2).says(&["of linsep train"]);
    room.run("predict two.linsep two.csv --predict-proba").exits(2).says(&["--output proba"]);
    room.run("classify two.linsep two.csv").exits(2).says(&["is linsep predict here"]);
    for learner in ["perceptron", "logistic", "svm", "least-squares", "hard-margin"] {
        refused(&format!("--learner {learner} --alpha 1"), "--l2 of least-squares, or by --c of");
    }
    room.run("train two.csv --learner multinomial-nb --alpha 1 -o nb.linsep").exits(0);
}

#[test]
fn values_that_cannot_be_used_are_usage_errors() {
    for value in ["0", "nan", "inf", "x", ""] {
        refused(&format!("--eta={value}"), "error[E0201]: --eta: ");
    }
    refused("--eta=-1", "--eta: \"-1\" is no number above 0");
    for value in ["0", "x", "1025", "1.5"] {
        refused(&format!("--threads={value}"), "error[E0201]: --threads: ");
    }
    for value in ["1", "0", "7"] {
        refused(&format!("--cv={value}"), "error[E0201]");
    }
    for value in ["1.5", "0", "1", "-0.5", "nan", "inf", "150%", "0%", "100%", "-5%"] {
        refused(&format!("--test={value}"), "error[E0201]");
    }
    for flag in ["seed", "epochs", "updates", "limit", "allow-bad", "cv"] {
        for value in ["x", "-1", "1.5", ""] {
            refused(&format!("--{flag}={value}"), &format!("error[E0201]: --{flag}: "));
        }
    }
    for value in ["x", "0", "-1", "4GB4"] {
        refused(&format!("--max-memory={value}"), "is not a size such as");
        refused(&format!("--time-limit={value}"), "is not a time such as");
    }
    refused("--bad-rows ignore", "error[E0201]: --bad-rows: ");
    refused("--bad-rows rejects=", "error[E0201]: --bad-rows: ");
    refused("--delimiter ab", "error[E0201]: --delimiter: ");
    refused("--label=", "error[E0201]");
    refused("--label #0", "the first column is #1");
    refused("--features #3-#1", "runs backwards");
    refused("--eta 1e308 --scale none", "error[E0201]: the weights left the range");
}

#[test]
fn a_model_is_not_written_to_standard_output() {
    let room = Room::holding("two.csv", TWO);
    room.run("train two.csv -o -").exits(2).says(&["error[E0201]", "-o needs a name"]);
    assert_eq!(room.names(), ["two.csv"]);
}

#[test]
fn settings_of_generate_that_cannot_be_used_are_usage_errors() {
    let room = Room::new();
    for flags in [
        "blobs --rows 0",
        "blobs --rows x",
        "blobs --classes 1",
        "blobs --features 0",
        "blobs --margin x",
        "blobs --noise 1",
        "blobs --noise=-0.1",
        "xor --rows 3",
        "blobs --seed x",
        "blobs --format xls",
        "blobs -o data.unknown",
    ] {
        room.run(&format!("generate {flags}")).exits(2);
        assert_eq!(room.names(), [""; 0], "{flags}");
    }
}

#[test]
fn settings_of_the_other_commands_that_cannot_be_used_are_usage_errors() {
    let room = Room::with_model();
    for line in [
        "evaluate two.linsep two.csv --fail-under accuracy",
        "evaluate two.linsep two.csv --fail-under accuracy=2",
        "evaluate two.linsep two.csv --fail-under rmse=0.5",
        "evaluate two.linsep two.csv --fail-under log-loss=-1",
        "evaluate two.linsep two.csv --metrics accuracy,rmse",
        "evaluate two.linsep two.csv --metrics neg_log_loss",
        "evaluate two.linsep two.csv --intervals",
        "evaluate two.linsep two.csv --metrics mcc --draws 3",
        "evaluate two.linsep two.csv --bins 0",
        "compare two.csv --metric nothing",
        "predict two.linsep two.csv --output proba",
        "predict two.linsep two.csv --output everything",
        "show two.linsep --top x",
        "convert two.csv out.unknown",
        "convert two.csv -",
    ] {
        room.run(line).exits(2);
        assert_eq!(room.names(), ["two.csv", "two.linsep"], "{line}");
    }
    room.write("two.svm", "x 1:1 2:2\ny 1:4 2:4\n");
    room.run("predict two.linsep two.svm --keep-columns -o out.csv").exits(2);
    assert!(!room.exists("out.csv"));
}

#[test]
fn configuration_files_that_cannot_be_used_are_usage_errors() {
    for (text, word) in [
        ("cheese = 1", "there is no flag --cheese"),
        ("[cheese]\na = 1", "section [cheese] names no command"),
        ("[train]\ncheese = 1", "train has no flag --cheese"),
        ("seed = = 1", "not valid TOML"),
        ("seed = [1]", "seed needs"),
        ("seed = \"x\"", "--seed: \"x\""),
        ("order = \"sideways\"", "possible values: cyclic"),
    ] {
        let room = Room::holding("two.csv", TWO);
        room.write("c.toml", text);
        let run = room.run("train two.csv -o out.linsep --config c.toml").exits(2);
        run.says(&[word]);
        assert!(!room.exists("out.linsep"), "{text}");
    }
}

#[test]
fn columns_that_are_not_there_are_errors_of_the_data() {
    let room = Room::holding("two.csv", TWO);
    for flags in
        ["--drop nope", "--features nope", "--features #9", "--features #1-#9", "--weight nope"]
    {
        let run = room.run(&format!("train two.csv -o out.linsep {flags}")).exits(3);
        run.says(&["error[E0118]: no column ", "--> two.csv\n", "help: "]);
    }
    let run = room.run("train two.csv -o out.linsep --positive z").exits(3);
    run.says(&["error[E0128]: no class \"z\"", "help: the classes are x, y"]);
    room.run("train two.csv -o out.linsep --drop a,b").exits(3).says(&["error[E0127]"]);
    room.run("train two.csv -o out.linsep --test 0.01").exits(3).says(&["error[E0131]", "help: "]);
    assert_eq!(room.names(), ["two.csv"]);
}

#[test]
fn a_limit_that_ends_the_run_early_is_exit_code_5_and_the_model_is_written() {
    for flags in ["--epochs 1", "--updates 1", "--epochs 0"] {
        let room = Room::holding("two.csv", TWO);
        let run = room.run(&format!("train two.csv --order cyclic {flags}")).exits(5);
        run.says(&["error[E0501]", "the model is in two.linsep"]);
        room.run("show two.linsep").exits(0);
        room.run("predict two.linsep two.csv").exits(0);
    }
}
