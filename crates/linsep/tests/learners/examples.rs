//! The programs of `examples/` run to their end. They assert what they show.

#[path = "../../examples/custom_loss.rs"]
mod custom_loss;
#[path = "../../examples/own_data.rs"]
mod own_data;
#[path = "../../examples/progress_and_cancel.rs"]
mod progress_and_cancel;
#[path = "../../examples/train_and_predict.rs"]
mod train_and_predict;
#[path = "../../examples/verdict_with_proof.rs"]
mod verdict_with_proof;
#[path = "../../examples/verify_certificate.rs"]
mod verify_certificate;

/// Every example by its name.
type Example = fn() -> Result<(), Box<dyn std::error::Error>>;
const EXAMPLES: [(&str, Example); 6] = [
    ("custom_loss", || Ok(custom_loss::main()?)),
    ("own_data", || Ok(own_data::main()?)),
    ("progress_and_cancel", || Ok(progress_and_cancel::main()?)),
    ("train_and_predict", || Ok(train_and_predict::main()?)),
    ("verdict_with_proof", || Ok(verdict_with_proof::main()?)),
    ("verify_certificate", verify_certificate::main),
];

#[test]
fn every_example_runs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        entries.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(names, EXAMPLES.map(|(name, _)| name));
    for (name, example) in EXAMPLES {
        example().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}
