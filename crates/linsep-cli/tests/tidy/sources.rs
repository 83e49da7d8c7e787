//! Rules about single sources: their length, their words, what they may mention.

use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn root() -> PathBuf {
    let mut folder = Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf();
    while !folder.join("Cargo.lock").exists() {
        assert!(folder.pop(), "no workspace above the manifest");
    }
    folder
}

/// A text file with its path from the root.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// Lines of code only: comments and the insides of strings are blank.
    pub(crate) fn code(&self) -> Vec<String> {
        code_of(&self.text).lines().map(str::to_owned).collect()
    }

    pub(crate) fn is_under(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

/// Everything that is, or is about to be, in the repository; without git every file there is.
fn tracked() -> Vec<String> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").args(list).current_dir(root()).output();
    let mut paths: Vec<String> = match listed {
        Ok(output) if output.status.success() && !output.stdout.is_empty() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
        }
        _ => {
            let mut found = Vec::new();
            walk(&root(), &root(), &mut found);
            found
        }
    };
    paths.sort();
    paths.dedup();
    paths
}

fn walk(root: &Path, folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != ".git" {
            walk(root, &path, found);
        } else if path.is_file() {
            found.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
}

/// The tracked files that `wanted` accepts and that are text.
fn sources(wanted: impl Fn(&str) -> bool) -> Vec<Source> {
    let paths = tracked().into_iter().filter(|path| wanted(path));
    let read = |path: String| {
        let text = std::fs::read_to_string(root().join(&path)).ok()?;
        Some(Source { path, text })
    };
    paths.filter_map(read).collect()
}

pub(crate) fn rust_files() -> Vec<Source> {
    let files = sources(|path| path.ends_with(".rs"));
    assert!(files.len() > 50, "only {} sources were found", files.len());
    files
}

/// The sources of the libraries, which neither print nor parse flags.
pub(crate) fn library_files() -> Vec<Source> {
    let is_library = |file: &Source| {
        file.is_under("crates/")
            && !file.is_under("crates/linsep-cli/")
            && file.path.contains("/src/")
    };
    rust_files().into_iter().filter(is_library).collect()
}

pub(crate) fn report(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "{rule}:\n  {}", broken.join("\n  "));
}

/// `path:line: text` for every line that `bad` accepts.
fn lines_where(path: &str, lines: &[String], bad: impl Fn(&str) -> bool) -> Vec<String> {
    let numbered = lines.iter().enumerate().filter(|(_, line)| bad(line));
    numbered.map(|(i, line)| format!("{path}:{}: {}", i + 1, line.trim())).collect()
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether `word` stands in `line` and is not part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_name);
        let after = line[at + word.len()..].chars().next().is_some_and(is_name);
        let open_end = !word.ends_with(is_name);
        !before && (open_end || !after)
    })
}

/// The text with comments and the insides of string and character literals replaced by blanks.
fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let blank = |c: char| if c == '\n' { '\n' } else { ' ' };
    let starts = |at: usize, what: &str| {
        what.chars().enumerate().all(|(k, c)| chars.get(at + k) == Some(&c))
    };
    while at < chars.len() {
        let end = if starts(at, "//") {
            (at..chars.len()).find(|&k| chars[k] == '\n').unwrap_or(chars.len())
        } else if starts(at, "/*") {
            (at + 2..chars.len()).find(|&k| starts(k, "*/")).map_or(chars.len(), |k| k + 2)
        } else if let Some(hashes) =
            raw_string(&chars[at..]).filter(|_| at == 0 || !is_name(chars[at - 1]))
        {
            let close = format!("\"{}", "#".repeat(hashes));
            let from = at + hashes + 2;
            (from..chars.len()).find(|&k| starts(k, &close)).map_or(chars.len(), |k| k + 1 + hashes)
        } else if chars[at] == '"' {
            literal_end(&chars, at, '"')
        } else if chars[at] == '\'' && is_character(&chars[at..]) {
            literal_end(&chars, at, '\'')
        } else {
            out.push(chars[at]);
            at += 1;
            continue;
        };
        out.extend(chars[at..end].iter().map(|&c| blank(c)));
        at = end;
    }
    out
}

/// The number of hashes of a raw string that starts here.
fn raw_string(chars: &[char]) -> Option<usize> {
    let hashes = chars.strip_prefix(&['r'])?.iter().take_while(|&&c| c == '#').count();
    (chars.get(hashes + 1) == Some(&'"')).then_some(hashes)
}

/// A quote starts a character, not a lifetime.
fn is_character(chars: &[char]) -> bool {
    chars.get(1) == Some(&'\\') || chars.get(2) == Some(&'\'')
}

fn literal_end(chars: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

#[test]
fn the_reader_of_sources_tells_code_from_words() {
    let text = "let a = \"unsafe // no\"; // unsafe\n\
                let b = r#\"todo!(\"\")\"#; /* dbg!\n\
                */ 'x' b'\\'' &'a c;";
    let code = code_of(text);
    for word in ["unsafe", "todo", "dbg", "no"] {
        assert!(!code.contains(word), "{word} in {code}");
    }
    assert_eq!(code.lines().count(), 3);
    assert!(code.contains("let a =") && code.contains("let b =") && code.ends_with("&'a c;"));
    assert!(has_word("unsafe { x }", "unsafe") && !has_word("unsafe_code", "unsafe"));
    assert!(has_word("a, clap::Arg", "clap") && !has_word("clapper", "clap"));
}

#[test]
fn no_source_is_longer_than_600_lines() {
    let long = rust_files().into_iter().filter(|file| file.text.lines().count() > 600);
    let broken: Vec<String> =
        long.map(|file| format!("{}:{}", file.path, file.text.lines().count())).collect();
    report("sources of more than 600 lines", &broken);
}

#[test]
fn unsafe_code_stands_in_the_kernels_and_at_the_system_only() {
    // How often each file has the word: its calls, and the allocators with their methods.
    let counted = [
        ("crates/linsep-proof/src/wide.rs", 5),
        ("crates/linsep-data/src/buffer/mapped.rs", 5),
        ("crates/linsep-data/src/read/source.rs", 1),
        ("crates/linsep-data/tests/columnar/damage.rs", 7),
        ("crates/linsep-cli/src/heap.rs", 19),
        ("crates/linsep-cli/src/system.rs", 3),
        ("crates/linsep-py/src/arrow_table.rs", 1),
    ];
    let is_allowed = |path: &str| {
        counted.iter().any(|(file, _)| *file == path)
            || path.starts_with("crates/linsep-kernels/src/")
    };
    let mut broken = Vec::new();
    for file in rust_files().iter().filter(|file| !is_allowed(&file.path)) {
        broken.extend(lines_where(&file.path, &file.code(), |line| {
            has_word(line, "unsafe") || line.contains("allow(unsafe_code)")
        }));
    }
    report("unsafe code outside the kernels and the calls of the system", &broken);
    for (file, expected) in counted {
        let source = sources(|path| path == file).remove(0);
        let uses = source.code().iter().filter(|line| has_word(line, "unsafe")).count();
        assert_eq!(uses, expected, "uses of unsafe in {file}");
    }
}

/// Files are opened for writing by one type, which looks at all of them together.
#[test]
fn the_program_writes_files_in_one_place() {
    let opens = ["write_atomic(", "File::create", "OpenOptions", "fs::write("];
    let is_elsewhere = |path: &str| {
        path.starts_with("crates/linsep-cli/src/") && path != "crates/linsep-cli/src/files.rs"
    };
    let mut broken = Vec::new();
    for file in sources(is_elsewhere) {
        broken.extend(lines_where(&file.path, &file.code(), |line| {
            opens.iter().any(|word| line.contains(word))
                // A model or a checkpoint is saved where an output says.
                || (line.contains(".save(") && !line.contains(".save()") && !line.contains(".path())") && !line.contains("save(to)"))
        }));
    }
    report("files that are written past `Output`", &broken);
}

#[test]
fn libraries_neither_print_nor_put_off() {
    let macros = ["print!", "println!", "eprint!", "eprintln!", "dbg!", "todo!", "unimplemented!"];
    let mut broken = Vec::new();
    for file in library_files() {
        let code = file.code();
        broken.extend(lines_where(&file.path, &code, |line| {
            macros.iter().any(|word| has_word(line, word))
        }));
        let all: Vec<String> = file.text.lines().map(str::to_owned).collect();
        broken.extend(lines_where(&file.path, &all, |line| {
            has_word(line, "TODO") || has_word(line, "FIXME")
        }));
    }
    report("printing or unfinished code in a library", &broken);
}

#[test]
fn the_checker_knows_nothing_of_the_rest() {
    let ours = ["linsep", "linsep_data", "linsep_kernels", "linsep_teach", "linsep_cli"];
    let mut broken = Vec::new();
    for file in sources(|path| path.starts_with("crates/linsep-proof/")) {
        let lines: Vec<String> = match file.path.ends_with(".rs") {
            true => file.code(),
            false => file.text.lines().map(str::to_owned).collect(),
        };
        broken.extend(lines_where(&file.path, &lines, |line| {
            let uses_ours = |name: &str| has_word(line, &format!("{name}::"));
            let depends = file.path.ends_with(".toml")
                && (line.starts_with("linsep ")
                    || line.starts_with("linsep.")
                    || line.contains("path ="));
            ours.iter().any(|name| uses_ours(name)) || depends
        }));
    }
    report("linsep-proof uses another crate of the workspace", &broken);
}

#[test]
fn the_library_does_not_know_the_command_line() {
    let mut broken = Vec::new();
    for file in library_files() {
        let lines: Vec<String> = file.text.lines().map(str::to_owned).collect();
        broken.extend(lines_where(&file.path, &lines, |line| has_word(line, "clap")));
    }
    report("a library mentions clap", &broken);
}

/// Whether a flag of a command line stands in the line: two dashes and a letter.
fn has_flag(line: &str) -> bool {
    line.as_bytes().windows(3).any(|w| w.starts_with(b"--") && w[2].is_ascii_lowercase())
}

#[test]
fn only_the_program_spells_parameters_as_flags() {
    assert!(has_flag("use --label") && has_flag("---x") && !has_flag("a -- b, --> 1 --1"));
    // Tests and examples may run programs.
    let wanted = |file: &Source| {
        file.is_under("crates/")
            && !file.is_under("crates/linsep-cli/")
            && file.path.contains("/src/")
    };
    let mut broken = Vec::new();
    for file in rust_files().into_iter().filter(wanted) {
        let lines: Vec<String> = file.text.lines().map(str::to_owned).collect();
        broken.extend(lines_where(&file.path, &lines, has_flag));
    }
    report("flags outside crates/linsep-cli; the library says `name` or `name=value`", &broken);
}

/// The sources whose public items users see: no program, and no room that is hidden from the
/// documentation.
fn documented_files() -> Vec<Source> {
    let shown =
        ["crates/linsep/", "crates/linsep-proof/", "crates/linsep-data/", "crates/linsep-teach/"];
    let hidden = [
        "crates/linsep-data/src/matrix/",
        "crates/linsep/src/claim/",
        "crates/linsep/src/engine/",
        "crates/linsep/src/objective/",
    ];
    let wanted = |file: &Source| {
        file.path.contains("/src/")
            && shown.iter().any(|folder| file.is_under(folder))
            && !hidden.iter().any(|folder| file.is_under(folder))
    };
    rust_files().into_iter().filter(wanted).collect()
}

/// The names of public structs that another crate can write down whole, so that a new field breaks it.
fn closed_structs(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("pub struct ").filter(|_| line.ends_with('{')) else {
            continue;
        };
        let attributes: Vec<&&str> =
            lines[..i].iter().rev().take_while(|l| l.starts_with('#')).collect();
        let open = |word: &str| attributes.iter().any(|attribute| attribute.contains(word));
        let body = lines[i + 1..].iter().take_while(|line| **line != "}");
        let fields = body.filter(|line| {
            let word = line.trim_start().split([':', ' ', '(']).next().unwrap_or("");
            line.starts_with("    ") && !line.starts_with("     ") && word.starts_with(is_name)
        });
        let all_public = fields.clone().all(|line| line.trim_start().starts_with("pub "));
        if fields.count() > 0 && all_public && !open("non_exhaustive") && !open("doc(hidden)") {
            found.push(format!("{}: {name}", i + 1));
        }
    }
    found
}

#[test]
fn public_structs_can_grow() {
    let closed = "#[derive(Debug)]\npub struct A {\n    /// x\n    pub x: f64,\n}\n";
    assert_eq!(closed_structs(closed), ["2: A {"]);
    assert!(closed_structs(&closed.replace("pub x", "x")).is_empty());
    assert!(closed_structs(&closed.replace("derive(Debug)", "non_exhaustive")).is_empty());
    let files = documented_files();
    assert!(files.len() > 80, "only {} sources were found", files.len());
    let of = |file: &Source| {
        let found = closed_structs(&file.text).into_iter();
        found.map(|what| format!("{}:{what}", file.path)).collect::<Vec<_>>()
    };
    let broken: Vec<String> = files.iter().flat_map(of).collect();
    report("public structs that are not non_exhaustive and have no private field", &broken);
}

#[test]
fn no_public_item_names_a_type_of_the_json_parser() {
    let mut broken = Vec::new();
    for file in documented_files() {
        // An item may go over several lines, up to its body or its end.
        let code = file.code();
        for (i, line) in code.iter().enumerate().filter(|(_, line)| line.trim().starts_with("pub "))
        {
            let whole = code[i..].concat();
            let head = whole.split(['{', ';']).next().unwrap_or("");
            // The field of a tuple is private unless it says otherwise.
            let tuple = head.trim().starts_with("pub struct") && !head.contains("(pub ");
            let head = if tuple { head.split('(').next().unwrap_or("") } else { head };
            if has_word(head, "serde_json") || has_word(head, "Value") {
                broken.push(format!("{}:{}: {}", file.path, i + 1, line.trim()));
            }
        }
    }
    report("public items with types of serde_json", &broken);
}

#[test]
fn every_source_begins_with_what_it_is() {
    let without = rust_files().into_iter().filter(|file| {
        let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
        !first.starts_with("//! ") || first.len() < 12
    });
    report(
        "sources without a module doc",
        &without.map(|file| format!("{}:1", file.path)).collect::<Vec<_>>(),
    );
}

#[test]
fn no_test_is_ignored() {
    let mut broken = Vec::new();
    for file in rust_files() {
        broken.extend(lines_where(&file.path, &file.code(), |line| {
            line.contains("#[ignore") || (line.contains("cfg_attr") && has_word(line, "ignore"))
        }));
    }
    report("ignored tests", &broken);
}

#[test]
fn every_dependency_is_justified_in_the_design() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap_or_default();
    let (manifest, design) = (read("Cargo.toml"), read("DESIGN.md"));
    assert!(!design.is_empty(), "DESIGN.md is missing");
    let mut inside = false;
    let mut broken = Vec::new();
    let mut count = 0;
    for (i, line) in manifest.lines().enumerate() {
        inside = if line.starts_with('[') { line == "[workspace.dependencies]" } else { inside };
        let name = line.split(['=', '.', ' ']).next().unwrap_or("");
        if !inside || name.is_empty() || name.starts_with(['#', '[']) || name.starts_with("linsep")
        {
            continue;
        }
        count += 1;
        if !design.contains(&format!("`{name}`")) {
            broken.push(format!("Cargo.toml:{}: `{name}`", i + 1));
        }
    }
    assert!(count > 10, "the list of dependencies was not found");
    report("dependencies that DESIGN.md does not mention", &broken);
}

#[test]
fn no_text_names_a_folder_of_one_machine() {
    let folders = ["work", "root", "home", "tmp"].map(|name| format!("/{name}/"));
    let mut broken = Vec::new();
    for file in sources(|path| !path.starts_with("target/")) {
        let is_test = file.path.contains("/tests/") || file.path.starts_with("testdata/");
        let lines: Vec<String> = file.text.lines().map(str::to_owned).collect();
        broken.extend(lines_where(&file.path, &lines, |line| {
            let named = |folder: &String| {
                line.match_indices(folder.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back();
                    !before.is_some_and(|c| is_name(c) || ".-~*}/".contains(c))
                })
            };
            folders.iter().any(|folder| !(is_test && folder.contains("tmp")) && named(folder))
        }));
    }
    report("paths of one machine", &broken);
}

/// Every item of the lectures stands once in the table of the lessons, with a command and tests that
/// exist; every lesson that the table names does, too.
#[test]
fn every_item_of_the_lectures_has_a_command_and_a_test() {
    let table = std::fs::read_to_string(root().join("docs/learn/lectures.md")).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| line.starts_with("| L"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let names: Vec<String> = rows.iter().map(|row| row[0].to_owned()).collect();
    let wanted: Vec<String> = (1..=92).map(|k| format!("L{k}")).collect();
    assert_eq!(names, wanted);
    for row in &rows {
        let [_, _, lesson, command, api, tests] = row[..] else { panic!("{row:?}") };
        let lesson = root().join(format!("docs/learn/{lesson}.md"));
        assert!(lesson.exists() || row[2] == "README", "{row:?}");
        assert!(command.starts_with("`linsep ") && api.starts_with('`'), "{row:?}");
        for test in tests.split(", ").map(|test| test.trim_matches('`')) {
            let exists = ["linsep", "linsep-cli", "linsep-data", "linsep-proof", "linsep-teach"]
                .iter()
                .any(|name| root().join("crates").join(name).join(test).exists());
            assert!(exists, "{test} of {}", row[0]);
        }
    }
}

/// A learner is known by name in the registry and in its own file; whoever needs to know what it can do
/// asks the registry. Words that are the same and mean something else are listed with their files.
#[test]
fn no_list_of_learners_stands_outside_the_registry() {
    let others = [
        // A criterion and a loss, an activation, a file ending, lines of reports.
        ("crates/linsep/src/loss.rs", "logistic"),
        ("crates/linsep-data/src/write/mod.rs", "svm"),
        ("crates/linsep-teach/src/plot/criterion.rs", "descent"),
        ("crates/linsep-cli/src/commands/gate.rs", "perceptron"),
        ("crates/linsep-cli/src/commands/gate.rs", "logistic"),
        ("crates/linsep-cli/src/commands/margin.rs", "perceptron"),
        ("crates/linsep-cli/src/commands/separable/json.rs", "logistic"),
        ("crates/linsep-cli/src/commands/separable/report.rs", "perceptron"),
        ("crates/linsep-cli/src/commands/separable/report.rs", "logistic"),
        ("crates/linsep-py/src/cluster.rs", "logistic"),
    ];
    let mut used = Vec::new();
    let mut broken = Vec::new();
    for file in sources(|path| path.starts_with("crates/") && path.contains("/src/")) {
        let allowed = ["crates/linsep/src/recipe/", "crates/linsep/src/learn/"];
        if allowed.iter().any(|folder| file.is_under(folder)) {
            continue;
        }
        // Tests may name whom they test.
        let text = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for recipe in linsep::recipe::ALL {
                let literal = format!("\"{}\"", recipe.name);
                match others
                    .iter()
                    .position(|(path, word)| file.path == *path && *word == recipe.name)
                {
                    Some(other) if line.contains(&literal) => used.push(other),
                    None if line.contains(&literal) => {
                        broken.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
                    }
                    _ => {}
                }
            }
        }
    }
    report("names of learners outside the registry", &broken);
    let idle = (0..others.len()).filter(|k| !used.contains(k)).map(|k| format!("{:?}", others[k]));
    report("exceptions that nothing needs", &idle.collect::<Vec<_>>());
}

/// In the folder of learners a name stands in the file of its learner only.
#[test]
fn a_learner_is_named_in_its_own_file() {
    let mut places: Vec<(&str, String)> = Vec::new();
    for file in sources(|path| path.starts_with("crates/linsep/src/learn/")) {
        let text = file.text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for recipe in linsep::recipe::ALL {
            let literal = format!("\"{}\"", recipe.name);
            if lines.iter().any(|line| line.contains(&literal)) {
                places.push((recipe.name, file.path.clone()));
            }
        }
    }
    for recipe in linsep::recipe::ALL {
        let files: Vec<&String> =
            places.iter().filter(|(name, _)| *name == recipe.name).map(|(_, path)| path).collect();
        assert!(files.len() <= 1, "{} is named in {files:?}", recipe.name);
    }
    // A file names the learners that it holds, not a list of others.
    for (_, path) in &places {
        let count = places.iter().filter(|(_, other)| other == path).count();
        assert!(count <= 3, "{path} names {count} learners");
    }
}

/// Every learner of the registry is run somewhere in a lesson or a transcript.
#[test]
fn every_learner_has_an_example_in_the_shell() {
    let folders = ["docs/learn", "testdata/transcripts"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let texts: Vec<String> =
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    for recipe in linsep::recipe::ALL {
        let flag = format!("--learner {}", recipe.name);
        let ends = |at: usize, text: &str| {
            !text[at + flag.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-')
        };
        let is_run = |text: &String| {
            let mut commands = text.lines().filter(|line| line.starts_with("$ linsep"));
            let is_default =
                |line: &str| recipe.name == "perceptron" && !line.contains("--learner");
            commands.any(|line| match line.find(&flag) {
                Some(at) => ends(at, line),
                None => line.starts_with("$ linsep train") && is_default(line),
            })
        };
        assert!(texts.iter().any(is_run), "{} is nowhere run", recipe.name);
    }
}
