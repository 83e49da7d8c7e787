//! The hot kernels are vector code: they are compiled as they are published and taken apart.
//!
//! Whether the compiler makes a loop wide is decided anew by every version of it and by every change of a
//! line, and no result tells: only time does. So the crate is compiled once more, with the settings of a
//! release whatever the profile of the test is (checks for overflow keep loops scalar), and `objdump` lists
//! its instructions. A jump back closes a loop; an instruction belongs to the shortest loop around it. A loop
//! is wide if it computes with packed numbers and never with single ones, and scalar if it computes with
//! single ones. What is left over of a row that is no multiple of a vector may take scalar loops, so a
//! kernel passes if it has wide loops and, for each of them, no more scalar ones than it has rows.
//!
//! Without `objdump` (of binutils, which every compiler of C brings along) there is nothing to be seen, and
//! the test says so.

#![cfg(all(target_arch = "x86_64", target_os = "linux", not(linsep_portable)))]
#![allow(clippy::print_stderr)] // Who reads the output of a skipped test is to know.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel, as its symbol ends, and how many rows it works on side by side.
const HOT: [(&str, usize); 26] = [
    ("linsep_kernels::dot_f64::wide", 1),
    ("linsep_kernels::dot_f32::wide", 1),
    ("linsep_kernels::dot_whole::wide", 1),
    ("linsep_kernels::dot_decimal::wide", 1),
    ("linsep_kernels::dot_decimals::wide", 1),
    ("linsep_kernels::dot_table8::wide", 1),
    ("linsep_kernels::dot_four::wide", 4),
    ("linsep_kernels::dots_sparse::wide", 1),
    ("linsep_kernels::axpy_dense::wide", 1),
    ("linsep_kernels::axpy_table8::wide", 1),
    ("linsep_kernels::load_decimal::wide", 1),
    ("linsep_kernels::panel_scores_f32::wide", 1),
    ("linsep_kernels::panel_scores_f64::wide", 1),
    ("linsep_kernels::panel_add_f32::wide", 1),
    ("linsep_kernels::panel_add_f64::wide", 1),
    ("linsep_kernels::blocks::gram_pair::wide", 1),
    ("linsep_kernels::blocks::dot_twelve::wide", 1),
    ("linsep_kernels::lanes::dot_16::wide", 1),
    ("linsep_kernels::lanes::add_16::wide", 1),
    ("linsep_kernels::quantised::wide::dot", 1),
    ("linsep_kernels::quantised::wide::add", 1),
    ("linsep_kernels::text::avx2::find_marks", 1),
    ("linsep_kernels::text::avx2::pairs", 1),
    ("linsep_kernels::text::avx512::find_marks", 1),
    ("linsep_kernels::text::avx512::numbers", 1),
    ("linsep_kernels::text::avx512::pairs", 1),
];

#[test]
fn the_loops_of_hot_kernels_are_wide() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs");
    let Some(functions) = disassembly("linsep_kernels", &source) else { return };
    let broken: Vec<String> =
        HOT.iter().filter_map(|(name, rows)| fault(&functions, name, *rows)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_scalar_loop_is_found_out() {
    // Each sum waits for the one before, and no other order gives the same bits.
    const SUM: &str = "pub fn sum(x: &[f64], w: &[f64]) -> f64 {
        x.iter().zip(w).fold(0.0, |sum, (x, w)| sum + x * w)
    }
    pub fn scaled(a: f64, x: &mut [f64]) {
        x.iter_mut().for_each(|x| *x *= a);
    }";
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scalar.rs");
    std::fs::write(&source, SUM).unwrap();
    let Some(functions) = disassembly("scalar", &source) else { return };
    let words = fault(&functions, "scalar::sum", 1);
    assert!(words.as_ref().is_some_and(|words| words.contains("0 wide")), "{words:?}");
    assert_eq!(fault(&functions, "scalar::scaled", 1), None);
    assert!(fault(&functions, "scalar::nothing", 1).is_some());
}

/// What is wrong with the loops of a kernel.
fn fault(
    functions: &BTreeMap<String, Vec<Instruction>>,
    name: &str,
    rows: usize,
) -> Option<String> {
    let Some(code) = functions.get(name) else {
        return Some(format!("{name} is not in the program"));
    };
    let (wide, scalar) = count_loops(code);
    (wide == 0 || scalar > rows * wide)
        .then(|| format!("{name} has {wide} wide and {scalar} scalar loops"))
}

/// An instruction: where it stands, what it does, and where it may jump to.
struct Instruction {
    at: u64,
    name: String,
    target: Option<u64>,
}

/// How many loops of a function are wide, and how many scalar.
fn count_loops(code: &[Instruction]) -> (usize, usize) {
    let start = code.first().map_or(0, |first| first.at);
    let back = |jump: &Instruction| {
        let target = jump.target.filter(|target| (start..=jump.at).contains(target))?;
        Some((target, jump.at))
    };
    // For each loop whether there is packed arithmetic, and scalar one.
    let mut loops: BTreeMap<(u64, u64), (bool, bool)> =
        code.iter().filter_map(back).map(|span| (span, (false, false))).collect();
    for instruction in code {
        let around = |span: &&(u64, u64)| (span.0..=span.1).contains(&instruction.at);
        let shortest = loops.keys().filter(around).min_by_key(|span| span.1 - span.0).copied();
        if let Some((packed, single)) = shortest.and_then(|span| loops.get_mut(&span)) {
            *packed |= is_packed(&instruction.name);
            *single |= is_single(&instruction.name);
        }
    }
    let count =
        |is: &dyn Fn(&(bool, bool)) -> bool| loops.values().filter(|kinds| is(kinds)).count();
    (count(&|(packed, single)| *packed && !*single), count(&|(_, single)| *single))
}

/// The operation without the letters of its form: `vfmadd231pd` is `fmadd` and `pd`.
fn arithmetic(name: &str, forms: [&str; 2]) -> bool {
    let name = name.strip_prefix('v').unwrap_or(name);
    let Some(operation) = forms.iter().find_map(|form| name.strip_suffix(form)) else {
        return false;
    };
    let operation = operation.trim_end_matches(|digit: char| digit.is_ascii_digit());
    ["add", "sub", "mul", "div", "fmadd", "fmsub", "fnmadd", "fnmsub"].contains(&operation)
}

/// Whether it computes with a whole vector of numbers, or of bytes of text.
fn is_packed(name: &str) -> bool {
    const OF_TEXT: [&str; 4] = ["vpmaddubsw", "vpmaddwd", "vpcmpeqb", "vpcompressb"];
    arithmetic(name, ["pd", "ps"]) || OF_TEXT.contains(&name)
}

/// Whether it computes with one number.
fn is_single(name: &str) -> bool {
    arithmetic(name, ["sd", "ss"])
}

/// The functions of a crate by their names; nothing, and words that say so, where they cannot be seen.
fn disassembly(name: &str, source: &Path) -> Option<BTreeMap<String, Vec<Instruction>>> {
    if Command::new("objdump").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no objdump, so nobody looks whether kernels are vector code");
        return None;
    }
    let object = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).with_extension("o");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compile = Command::new(compiler);
    compile.args(["--edition", "2024", "--crate-type", "lib", "--cap-lints", "allow"]);
    compile.args(["-C", "opt-level=3", "-C", "codegen-units=1", "--emit", "obj"]);
    compile.args(["--crate-name", name, "-o"]).arg(&object).arg(source);
    let compiled = compile.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let words = ["--disassemble", "--no-show-raw-insn", "--demangle"];
    let output = Command::new("objdump").args(words).arg(&object).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut functions: BTreeMap<String, Vec<Instruction>> = BTreeMap::new();
    let mut name = String::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(title) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
            name = without_hash(title.1).to_owned();
        } else if let Some(instruction) = instruction(line) {
            functions.entry(name.clone()).or_default().push(instruction);
        }
    }
    Some(functions)
}

/// `a::b::h0123456789abcdef` is `a::b`.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 => path,
        _ => name,
    }
}

fn instruction(line: &str) -> Option<Instruction> {
    let (at, rest) = line.trim_start().split_once(":\t")?;
    let at = u64::from_str_radix(at, 16).ok()?;
    let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_jump = name.starts_with('j');
    let place = operands.trim_start().split(' ').next().filter(|_| is_jump);
    let target = place.and_then(|place| u64::from_str_radix(place, 16).ok());
    Some(Instruction { at, name: name.trim().to_owned(), target })
}
