//! A short run of every target, the same inputs every time.

use linsep_fuzz::{Mutator, TARGETS};

const INPUTS: usize = 1500;

fn short(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    for seed in (target.seeds)() {
        (target.run)(&seed);
    }
    let mut mutator = Mutator::new((target.seeds)(), 7);
    for number in 0..INPUTS {
        let input = mutator.input();
        let run = std::panic::catch_unwind(|| (target.run)(&input));
        assert!(run.is_ok(), "{name}: input {number}: {:?}", String::from_utf8_lossy(&input));
    }
}

macro_rules! targets {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            short(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            let tested = [$(stringify!($name)),*];
            assert!(TARGETS.iter().map(|target| target.name).eq(tested));
        }
    };
}

targets! { csv svmlight packed columnar model certificate checkpoint trace foreign expressions verdict checker }
