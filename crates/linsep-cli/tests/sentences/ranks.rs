//! How many columns are independent: the closed forms.

use crate::common::Room;
use crate::exact::{Q, rank};
use crate::tables::{Table, config, tables};
use proptest::prelude::*;

/// The rows less the mean of their group.
fn centred(table: &Table, group: impl Fn(bool) -> bool) -> Vec<Vec<Q>> {
    let width = table.rows[0].len();
    let mean = |of: bool| -> Vec<Q> {
        let mine = || (0..table.rows.len()).filter(|&k| group(table.positive[k]) == of);
        let count = Q::whole(mine().count() as i64);
        let sum = |j: usize| mine().fold(Q::zero(), |sum, k| &sum + &table.rows[k][j]);
        (0..width).map(|j| if count.is_zero() { Q::zero() } else { &sum(j) / &count }).collect()
    };
    let means = [mean(false), mean(true)];
    let row = |k: usize| {
        let mean = &means[usize::from(group(table.positive[k]))];
        table.rows[k].iter().zip(mean).map(|(x, mean)| x - mean).collect()
    };
    (0..table.rows.len()).map(row).collect()
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn ranks_that_are_called_exact_are_exact(table in tables(), copy in any::<bool>()) {
        let mut table = table;
        if copy {
            // A column that is twice the first one.
            table = table.with_double();
        }
        let room = Room::holding("f.csv", &table.text);
        for (learner, within) in [("least-squares", false), ("lda", true)] {
            let run = room.run(&format!("train f.csv --learner {learner} -o m.linsep"));
            let Some(line) = run.out.lines().find(|line| line.starts_with("columns ")) else {
                continue;
            };
            let words: Vec<&str> = line.split_whitespace().collect();
            prop_assert_eq!(words[3], table.rows[0].len().to_string());
            let truth = match within {
                true => rank(centred(&table, |positive| positive)),
                false => rank(centred(&table, |_| true)),
            };
            if !line.contains("numerical") {
                prop_assert_eq!(words[1], truth.to_string(), "{} on\n{}", learner, table.text);
            }
            // On tables as small as these nothing is left to floats.
            prop_assert!(!line.contains("numerical"), "{}\n{}", line, table.text);
        }
    }
}
