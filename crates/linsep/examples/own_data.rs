//! Own data by arrays: numbers that are in memory become a data set without text, dense or sparse, in one
//! pass. The same table gives the same data set, whichever way it came.

#![allow(clippy::print_stdout)]

use linsep::data::door::{ArrayOptions, CsrArray, DenseArray, Labels};
use linsep::data::{Features, RowsView};
use linsep::learn::svm::{HingeLoss, Svm};
use linsep::{Dataset, Learner, Limits, Task};

const WORDS: [&str; 4] = ["offer", "free", "meeting", "minutes"];

pub(crate) fn main() -> linsep::Result<()> {
    // Four messages: how often each word occurs, as compressed sparse rows.
    let (offsets, indices) = ([0i64, 2, 3, 5, 7], [0i32, 1, 1, 2, 3, 0, 2]);
    let counts = [2u8, 3, 1, 1, 2, 1, 1];
    let options = ArrayOptions::default().names(WORDS).threads(2);
    let sparse = CsrArray::new(&offsets, &indices, &counts, WORDS.len());
    let sparse = Features::from_array(sparse, &options)?;

    // Classes as places in a list of names, and a weight for each row.
    let labels = Labels::ids(&[1u8, 1, 0, 0], &["ham", "spam"])?;
    let weights = [1.0, 2.0, 1.0, 1.0];
    let data = Dataset::new(sparse, labels.clone(), Some((&weights).into()))?;

    // The same table, every value written down, one column after the other, in another number type.
    let columns =
        [2.0f32, 0.0, 0.0, 1.0, 3.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 2.0, 0.0];
    let dense = DenseArray::column_major(&columns, 4, WORDS.len());
    let dense =
        Dataset::new(Features::from_array(dense, &options)?, labels, Some((&weights).into()))?;
    // The digest names a table by its content.
    assert_eq!(data.digest(1), dense.digest(1));

    let svm = Svm::default().with_loss(HingeLoss::Plain).with_c(10.0);
    let fit = svm.fit(&Task::new(data), &Limits::default(), &mut ())?;
    for (word, weight) in WORDS.iter().zip(&fit.model.planes[0].weights) {
        println!("{word:8} {weight:+.3}");
    }
    println!("bias     {:+.3}", fit.model.planes[0].bias);

    // Predictions in bulk: two rows at once, without an allocation for each row.
    let new = [0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
    let mut classes = [0; 2];
    fit.model.predict_into(RowsView::dense(&new, 2, WORDS.len())?, 1, &mut classes)?;
    assert_eq!(classes.map(|class| fit.model.classes[class as usize].as_str()), ["spam", "ham"]);
    Ok(())
}
