//! A task that names rows which the data does not have is refused by every learner.

use crate::support::variants_of;
use linsep::{Dataset, DatasetBuilder, Task};

#[test]
fn rows_beyond_the_data_are_an_error_of_every_learner() {
    let rows = [[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]];
    let labels = ["b", "b", "a", "a"];
    let plain = Dataset::from_rows(&rows, &labels).unwrap();
    let mut builder = DatasetBuilder::new(2);
    for (row, label) in rows.iter().zip(labels) {
        builder.dense_row(row, label).unwrap();
        builder.weight(2.0).unwrap();
    }
    for data in [plain, builder.finish().unwrap()] {
        let mut task = Task::new(data);
        for bad in [vec![0, 2, 4], vec![u32::MAX], vec![4]] {
            task.rows = Some(bad.clone().into());
            for variant in variants_of(&[]) {
                let Err(error) = variant.learner().start(&task).map(drop) else {
                    panic!("{} takes the rows {bad:?}", variant.words());
                };
                assert!(error.to_string().contains("4 rows"), "{}: {error}", variant.words());
            }
        }
    }
}
