//! libFuzzer on the target that LINSEP_TARGET names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

static RUN: OnceLock<fn(&[u8])> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let run = RUN.get_or_init(|| {
        let name = std::env::var("LINSEP_TARGET").expect("LINSEP_TARGET names a target");
        linsep_fuzz::TARGETS.iter().find(|target| target.name == name).expect("a target of that name").run
    });
    run(bytes);
});
