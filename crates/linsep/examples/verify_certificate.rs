//! Write a certificate file and check it as a stranger would: from its text and the data alone.

#![allow(clippy::print_stdout)]

use linsep::learn::perceptron::{Deciding, Perceptron};
use linsep::proof::{CertificateFile, DataIdentity, check_file};
use linsep::{Dataset, Learner, Limits, Task};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = [[2.0, 1.0], [3.0, 4.0], [-1.0, -2.0], [-3.0, 0.5]];
    let data = Dataset::from_rows(&rows, &["warm", "warm", "cold", "cold"])?;
    let task = Task::new(data);
    let fit = Deciding(Perceptron::default()).fit(&task, &Limits::default(), &mut ())?;

    // The file names the data by its digest and its number of rows.
    let identity = DataIdentity::new(task.data.digest(1), task.data.n_rows() as u64);
    let file = CertificateFile::new(identity, task.data.reading_field(), true, fit.certificate);
    let text = file.to_json();
    println!("{text}");

    let read = CertificateFile::from_json(text.as_bytes())?;
    let findings = check_file(&read, task.data.as_ref(), &task.data.digest(1), 1);
    assert!(!findings.is_empty() && findings.iter().all(|finding| finding.holds()));

    // Of other data nothing is claimed.
    let others = Dataset::from_rows(&[[0.0, 0.0], [1.0, 1.0]], &["warm", "cold"])?;
    let findings = check_file(&read, &others, &others.digest(1), 1);
    assert!(findings.iter().all(|finding| !finding.holds()));
    println!("of other data: {:?}", findings[0]);
    Ok(())
}
