//! Own data, row by row: names of columns, weights of rows, sparse rows. The same table gives the same
//! data set, whichever way it came.

#![allow(clippy::print_stdout)]

use linsep::learn::svm::{HingeLoss, Svm};
use linsep::{Dataset, DatasetBuilder, Learner, Limits, Task};

/// (words that occur, how often each; the label; the weight of the row).
type Message = (&'static [(u32, f64)], &'static str, f64);

const WORDS: [&str; 4] = ["offer", "free", "meeting", "minutes"];

const MESSAGES: [Message; 4] = [
    (&[(0, 2.0), (1, 3.0)], "spam", 1.0),
    (&[(1, 1.0)], "spam", 2.0),
    (&[(2, 1.0), (3, 2.0)], "ham", 1.0),
    (&[(0, 1.0), (2, 1.0)], "ham", 1.0),
];

fn sparse() -> linsep::Result<Dataset> {
    let mut builder = DatasetBuilder::new(WORDS.len());
    builder.names(WORDS.map(str::to_owned).to_vec());
    for (counts, label, weight) in MESSAGES {
        builder.sparse_row(counts, label)?;
        builder.weight(weight)?;
    }
    builder.finish()
}

fn dense() -> linsep::Result<Dataset> {
    let mut builder = DatasetBuilder::new(WORDS.len());
    builder.names(WORDS.map(str::to_owned).to_vec());
    for (counts, label, weight) in MESSAGES {
        let mut row = [0.0; WORDS.len()];
        counts.iter().for_each(|(word, count)| row[*word as usize] = *count);
        builder.dense_row(&row, label)?;
        builder.weight(weight)?;
    }
    builder.finish()
}

pub(crate) fn main() -> linsep::Result<()> {
    let data = sparse()?;
    // The digest names a table by its content.
    assert_eq!(data.digest(1), dense()?.digest(1));

    let svm = Svm::default().with_loss(HingeLoss::Plain).with_c(10.0);
    let fit = svm.fit(&Task::new(data), &Limits::default(), &mut ())?;
    for (word, weight) in WORDS.iter().zip(&fit.model.planes[0].weights) {
        println!("{word:8} {weight:+.3}");
    }
    println!("bias     {:+.3}", fit.model.planes[0].bias);
    assert_eq!(fit.model.predict(&[0.0, 2.0, 0.0, 0.0]), "spam");
    Ok(())
}
