//! Runs the commands of `README.md`, of the lessons, of the pages of flags and of `testdata/transcripts`
//! and compares every line that they print, stdout and stderr together, and their exit codes.
//!
//! A transcript is a Markdown file. In its blocks marked `console` a line `$ command` is run by the
//! shell; the lines below it are the expected output. `? 3` states an exit code other than 0, and a
//! line `...` stands for any number of lines. All blocks of a file run in one fresh folder in which
//! `examples` is at hand. With `LINSEP_UPDATE_TRANSCRIPTS=1` the transcripts are written anew; look
//! at the difference before you keep it.

mod common;

use common::{Room, clean, path_with_program, repository};
use std::path::Path;
use std::process::{Command, Stdio};

/// One test for each transcript, and one that finds transcripts without a test.
macro_rules! transcripts {
    ($($test:ident, $file:literal;)*) => {
        $(#[test] fn $test() { check(&folder().join(concat!($file, ".md"))); })*

        #[test]
        fn every_transcript_has_a_test() {
            for entry in std::fs::read_dir(folder()).expect("the transcripts") {
                let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
                let known = [$($file),*].iter().any(|file| name == format!("{file}.md"));
                assert!(known, "{name} is not listed in transcripts.rs");
            }
        }
    };
}

transcripts! {
    basis_functions_look_as_their_transcript_shows, "basis";
    compare_prints_what_its_transcript_shows, "compare";
    convert_prints_what_its_transcript_shows, "convert";
    direct_learners_print_what_their_transcript_shows, "direct";
    the_perceptron_family_prints_what_its_transcript_shows, "family";
    errors_look_as_their_transcript_shows, "errors";
    evaluate_prints_what_its_transcript_shows, "evaluate";
    generate_prints_what_its_transcript_shows, "generate";
    geometry_and_what_is_around_it_look_as_their_transcript_shows, "geometry";
    help_prints_what_its_transcript_shows, "help";
    inspect_prints_what_its_transcript_shows, "inspect";
    machines_print_what_their_transcript_shows, "k-classes";
    margins_look_as_their_transcript_shows, "margin";
    neurons_look_as_their_transcript_shows, "neurons";
    online_use_looks_as_its_transcript_shows, "online";
    optimisers_print_what_their_transcript_shows, "optimisers";
    predict_prints_what_its_transcript_shows, "predict";
    separable_prints_what_its_transcript_shows, "separable";
    show_prints_what_its_transcript_shows, "show";
    traces_and_boxes_look_as_their_transcript_shows, "trace";
    train_prints_what_its_transcript_shows, "train";
}

#[test]
fn the_commands_of_the_readme_print_what_it_shows() {
    check(&repository().join("README.md"));
}

/// The pages of flags show the help of every command and of every learner.
#[test]
fn the_pages_of_flags_are_the_help_of_the_program() {
    let pages = ["flags", "learners"].map(|name| format!("docs/reference/{name}.md"));
    let texts = pages.map(|page| {
        let path = repository().join(page);
        check(&path);
        std::fs::read_to_string(path).expect("a page")
    });
    let help = run("linsep --help", &Room::new());
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(commands.len() > 20, "{commands:?}");
    for name in commands {
        assert!(texts[0].contains(&format!("\n$ linsep help {name}\n")), "{name} has no flags");
    }
    for recipe in linsep::recipe::ALL {
        let line = format!("\n$ linsep help {}\n", recipe.name);
        assert!(texts[1].contains(&line), "{} has no flags", recipe.name);
    }
}

/// Every lesson shows what the program prints.
#[test]
fn lessons_print_what_they_show() {
    let folder = repository().join("docs/learn");
    let entries = std::fs::read_dir(folder).expect("the lessons");
    let mut lessons: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    lessons.retain(|path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(|c: char| c.is_ascii_digit()))
    });
    lessons.sort();
    assert!(lessons.len() >= 12, "{} lessons", lessons.len());
    lessons.iter().for_each(|lesson| check(lesson));
}

#[test]
fn guides_print_what_they_show() {
    let folder = repository().join("docs/guides");
    let entries = std::fs::read_dir(folder).expect("the guides");
    let guides: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    assert!(!guides.is_empty());
    guides.iter().for_each(|guide| check(guide));
}

#[test]
fn a_wrong_line_a_missing_line_and_a_wrong_exit_code_are_noticed() {
    let room = Room::new();
    for (step, is_right) in [
        ("$ echo a; echo b\na\nb\n", true),
        ("$ echo a; echo b\n...\nb\n", true),
        ("$ echo a; echo b\na\n...\n", true),
        ("$ exit 3\n? 3\n", true),
        ("$ echo a; echo b\na\nc\n", false),
        ("$ echo a; echo b\na\n", false),
        ("$ echo a; echo b\n...\na\n", false),
        ("$ echo a\nb\n...\n", false),
        ("$ exit 3\n", false),
        ("$ true\n? 3\n", false),
    ] {
        let text = format!("```console\n{step}```\n");
        let (ran, actual) = replay(&text, &room);
        assert_eq!(ran, 1);
        assert_eq!(actual == text, is_right, "{text} became {actual}");
    }
}

fn folder() -> std::path::PathBuf {
    repository().join("testdata/transcripts")
}

/// Replays a file and compares, or writes it anew.
fn check(file: &Path) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let (ran, actual) = replay(&text, &Room::with_examples());
    assert!(ran > 0, "{} has no command in a console block", file.display());
    if actual == text {
        return;
    }
    if std::env::var_os("LINSEP_UPDATE_TRANSCRIPTS").is_some() {
        std::fs::write(file, actual).expect("the transcript can be written");
        return;
    }
    let pairs = text.lines().zip(actual.lines()).enumerate();
    let line = pairs.into_iter().find(|(_, (a, b))| a != b).map_or(0, |(line, _)| line + 1);
    panic!("{} differs from line {line} on; the program prints:\n{actual}", file.display());
}

/// The number of commands that were run, and the file with the output that they really have.
fn replay(text: &str, room: &Room) -> (usize, String) {
    let mut actual = String::new();
    let (mut ran, mut inside) = (0, false);
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        actual.push_str(line);
        actual.push('\n');
        if line.starts_with("```") {
            inside = !inside && line == "```console";
        }
        let Some(command) = line.strip_prefix("$ ").filter(|_| inside) else { continue };
        let mut expected = String::new();
        while let Some(line) =
            lines.next_if(|line| !line.starts_with("$ ") && !line.starts_with("```"))
        {
            expected.push_str(line);
            expected.push('\n');
        }
        match runnable(command) {
            None => actual.push_str(&expected),
            Some(command) => {
                ran += 1;
                let output = run(&command, room);
                actual.push_str(if matches(&expected, &output) { &expected } else { &output });
            }
        }
    }
    (ran, actual)
}

/// What the shell is to run; `None` for commands that are about the repository and not the program.
fn runnable(command: &str) -> Option<String> {
    if let Some(rest) = command.strip_prefix("cargo run --release -- ") {
        return Some(format!("linsep {rest}"));
    }
    let first = command.split_whitespace().next()?;
    let outside = ["git", "cd", "cargo", "scripts/test", "./scripts/test"];
    (!outside.contains(&first)).then(|| command.to_owned())
}

/// What a command prints, and `? code` below it unless the code is 0.
fn run(command: &str, room: &Room) -> String {
    let printed = tempfile::NamedTempFile::new().expect("a file for the output");
    let stream = || Stdio::from(printed.reopen().expect("the output once more"));
    let mut shell = Command::new("sh");
    // One stream for both, so that the lines keep their order.
    clean(&mut shell).arg("-c").arg(format!("exec 2>&1\n{command}"));
    shell.current_dir(room.path("")).env("PATH", path_with_program());
    let status = shell.stdin(Stdio::null()).stdout(stream()).status().expect("a shell");
    let mut output = std::fs::read_to_string(printed.path()).expect("the output is UTF-8");
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    match status.code() {
        Some(0) => {}
        Some(code) => output.push_str(&format!("? {code}\n")),
        None => output.push_str("? killed\n"),
    }
    output
}

/// Whether the output is the expected one, where a line `...` stands for any lines.
fn matches(expected: &str, output: &str) -> bool {
    let mut pieces = expected.split("...\n");
    let Some(mut rest) = output.strip_prefix(pieces.next().unwrap_or("")) else { return false };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}
