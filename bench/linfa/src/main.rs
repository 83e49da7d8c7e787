//! linfa's logistic regression behind the comparison's session protocol.
//!
//! `linfa-session DATA LABELS ROWS FEATURES` reads a dense row-major matrix and labels ±1 (raw
//! little-endian doubles), answers `{"load": seconds, ...}` on a line, and then trains once for every
//! line `logistic TOLERANCE OUT` on stdin: no intercept, α = 1, which is C = 1. The weights go to OUT
//! as raw doubles.

use linfa::prelude::*;
use linfa_logistic::LogisticRegression;
use ndarray::{Array1, Array2};
use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

/// Above any number of steps that the tolerance needs.
const MOST_STEPS: u64 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    let [_, data, labels, rows, features] = words.as_slice() else {
        return Err("usage: linfa-session DATA LABELS ROWS FEATURES".into());
    };
    let start = Instant::now();
    let records = Array2::from_shape_vec((rows.parse()?, features.parse()?), doubles(data)?)?;
    let targets: Array1<bool> = doubles(labels)?.into_iter().map(|label| label > 0.0).collect();
    let dataset = Dataset::new(records, targets);
    answer(&format!("{{\"load\": {:.6}, \"peak_kib\": {}}}", start.elapsed().as_secs_f64(), peak_kib()))?;

    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Vec<&str> = line.split_whitespace().collect();
        let ["logistic", tolerance, out] = request.as_slice() else {
            return Err(format!("cannot read the request {line:?}").into());
        };
        let start = Instant::now();
        let fitted = LogisticRegression::default()
            .with_intercept(false)
            .alpha(1.0)
            .max_iterations(MOST_STEPS)
            .gradient_tolerance(tolerance.parse()?)
            .fit(&dataset);
        let seconds = start.elapsed().as_secs_f64();
        match fitted {
            Ok(model) => {
                // The weights speak for the class that linfa calls positive, whichever it chose.
                let sign = if model.labels().pos.class { 1.0 } else { -1.0 };
                let bytes: Vec<u8> =
                    model.params().iter().flat_map(|weight| (sign * weight).to_le_bytes()).collect();
                std::fs::write(out, bytes)?;
                answer(&format!(
                    "{{\"seconds\": {seconds:.6}, \"peak_kib\": {}, \"planes\": 1, \"labels\": [1, -1]}}",
                    peak_kib()
                ))?;
            }
            Err(error) => answer(&format!("{{\"error\": {:?}}}", error.to_string()))?,
        }
    }
    Ok(())
}

fn answer(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

fn doubles(path: &str) -> std::io::Result<Vec<f64>> {
    let bytes = std::fs::read(path)?;
    let eight = |chunk: &[u8]| f64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"));
    Ok(bytes.chunks_exact(8).map(eight).collect())
}

/// The largest resident size so far, as Linux says it; 0 where it does not.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}
