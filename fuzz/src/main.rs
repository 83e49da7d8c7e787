//! `linsep-fuzz TARGET|all SECONDS [SEED]`: mutated inputs for some time. The input of a panic is kept in a file.

// This is a tool for people at a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use linsep_fuzz::{Mutator, TARGETS};
use std::time::{Duration, Instant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, seed @ ..] = &arguments[..] else {
        eprintln!("usage: linsep-fuzz TARGET|all SECONDS [SEED]");
        std::process::exit(2);
    };
    let seconds: u64 = seconds.parse().unwrap_or(10);
    let seed: u64 = seed.first().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let chosen: Vec<_> =
        TARGETS.iter().filter(|target| name == "all" || target.name == name).collect();
    if chosen.is_empty() {
        eprintln!("there is no target {name}");
        std::process::exit(2);
    }
    let each = Duration::from_secs(seconds) / chosen.len() as u32;
    for target in chosen {
        let mut mutator = Mutator::new((target.seeds)(), seed);
        let (begun, mut count) = (Instant::now(), 0u64);
        while begun.elapsed() < each {
            let input = mutator.input();
            let run = std::panic::catch_unwind(|| (target.run)(&input));
            if run.is_err() {
                let path = format!("fuzz-{}-{seed}-{count}", target.name);
                let saved = std::fs::write(&path, &input);
                eprintln!("{}: a finding, in {path} ({saved:?})", target.name);
                std::process::exit(1);
            }
            count += 1;
        }
        println!("{:<12} {count} inputs in {:.0} s", target.name, begun.elapsed().as_secs_f64());
    }
}
