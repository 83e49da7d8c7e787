//! Small random tables of two classes.

use crate::exact::Q;
use proptest::prelude::*;

/// A table as text and as fractions.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) text: String,
    pub(crate) rows: Vec<Vec<Q>>,
    /// Whether each row is of the class `y`, the positive one.
    pub(crate) positive: Vec<bool>,
}

impl Table {
    fn new(cells: &[Vec<String>], positive: &[bool]) -> Table {
        let width = cells[0].len();
        let names: Vec<String> = (1..=width).map(|column| format!("x{column}")).collect();
        let mut text = format!("{},label\n", names.join(","));
        for (row, positive) in cells.iter().zip(positive) {
            text.push_str(&format!("{},{}\n", row.join(","), if *positive { "y" } else { "x" }));
        }
        let number = |row: &Vec<String>| row.iter().map(|cell| Q::parse(cell)).collect();
        Table { text, rows: cells.iter().map(number).collect(), positive: positive.to_vec() }
    }

    /// The table with one more column, twice the first.
    pub(crate) fn with_double(&self) -> Table {
        let mut lines = self.text.lines();
        let mut text = format!("double,{}\n", lines.next().unwrap_or_default());
        let mut rows = Vec::new();
        for (line, row) in lines.zip(&self.rows) {
            let first: f64 = line.split(',').next().unwrap_or_default().parse().expect("a number");
            // Tenths, so that the text is the number.
            let double = format!("{:.1}", 2.0 * first);
            rows.push(std::iter::once(Q::parse(&double)).chain(row.iter().cloned()).collect());
            text.push_str(&format!("{double},{line}\n"));
        }
        Table { text, rows, positive: self.positive.clone() }
    }

    /// z (1, x), z = +1 or −1.
    pub(crate) fn signed(&self) -> Vec<Vec<Q>> {
        let sign = |positive: bool| Q::whole(if positive { 1 } else { -1 });
        let signed = |(row, positive): (&Vec<Q>, &bool)| {
            let sign = sign(*positive);
            std::iter::once(&Q::whole(1)).chain(row).map(|value| &sign * value).collect()
        };
        self.rows.iter().zip(&self.positive).map(signed).collect()
    }
}

/// Whole numbers and decimals of one place, up to eight rows of up to three columns, both classes.
pub(crate) fn tables() -> impl Strategy<Value = Table> {
    let cell = prop_oneof![
        (-9i32..=9).prop_map(|number| number.to_string()),
        (-99i32..=99).prop_map(|tenths| format!("{}", f64::from(tenths) / 10.0)),
    ];
    (1usize..=3, 2usize..=8).prop_flat_map(move |(width, count)| {
        let rows = prop::collection::vec(prop::collection::vec(cell.clone(), width), count);
        (rows, prop::collection::vec(any::<bool>(), count)).prop_map(|(cells, mut positive)| {
            positive[0] = true;
            positive[1] = false;
            Table::new(&cells, &positive)
        })
    })
}

/// The settings of all properties: the tables are the same in every run.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let rng_seed = proptest::test_runner::RngSeed::Fixed(7);
    ProptestConfig {
        cases,
        rng_seed,
        failure_persistence: None,
        max_shrink_iters: 40,
        ..ProptestConfig::default()
    }
}
