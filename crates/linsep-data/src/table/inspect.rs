//! What there is to know about a data set before learning from it: columns, classes, and problems
//! that would make learning fail or mislead.

use super::Dataset;
use crate::error::readable;
use std::collections::HashMap;

/// The findings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Inspection {
    /// One entry for each feature.
    pub columns: Vec<ColumnSummary>,
    /// Rows of each class, in the order of the classes.
    pub class_counts: Vec<u64>,
    /// Groups of equal columns (two or more), by position.
    pub duplicate_columns: Vec<Vec<u32>>,
    /// Equal rows with different classes.
    pub contradictions: Contradictions,
    /// The largest length of a row (without the constant 1).
    pub radius: f64,
}

/// One feature.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnSummary {
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// Rows in which it is not zero.
    pub nonzeros: u64,
    /// Whether every value is a whole number.
    pub whole: bool,
}

impl ColumnSummary {
    /// Whether there is only one value.
    pub fn is_constant(&self) -> bool {
        self.min == self.max
    }

    /// The type in one word.
    pub fn type_word(&self) -> &'static str {
        if self.is_constant() {
            "constant"
        } else if self.whole && self.min >= 0.0 && self.max <= 1.0 {
            "0/1"
        } else if self.whole {
            "integer"
        } else {
            "real"
        }
    }
}

/// Equal rows with different classes: such data cannot be separated by any plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contradictions {
    /// Groups of equal rows that have more than one class.
    pub groups: u64,
    /// Rows in those groups.
    pub rows: u64,
    /// Two rows of the first such group.
    pub example: Option<(u64, u64)>,
}

/// Looks through all rows.
pub fn inspect(data: &Dataset) -> Inspection {
    let mut class_counts = vec![0; data.n_classes()];
    data.targets().iter().for_each(|&class| class_counts[class as usize] += 1);
    let (columns, radius) = summarise(data);
    let duplicate_columns = find_duplicate_columns(data, &columns);
    Inspection {
        columns,
        class_counts,
        duplicate_columns,
        contradictions: contradictions(data),
        radius,
    }
}

impl Dataset {
    /// A warning where the label looks continuous: many numbers that are not whole.
    pub fn looks_measured(&self) -> Option<String> {
        const MANY: usize = 10;
        let names = self.label_names();
        let number = |name: &String| name.parse::<f64>().ok();
        let numbers: Option<Vec<f64>> = names.iter().map(number).collect();
        let broken = numbers?.iter().filter(|x| x.fract() != 0.0).count();
        (names.len() > MANY && 2 * broken > names.len()).then(|| {
            format!(
                "the label has {} different numbers, most of them not whole: it looks continuous, and linsep classifies, it does not fit regressions",
                names.len()
            )
        })
    }
}

impl Inspection {
    /// Everything that deserves attention, in words.
    pub fn problems(&self, data: &Dataset) -> Vec<String> {
        let name = |column: u32| data.input().feature_name(column as usize);
        let mut problems = Vec::new();
        if data.n_classes() < 2 {
            problems.push("there is only one class".to_owned());
        }
        if let Some(words) = data.looks_measured() {
            problems.push(words);
        }
        if let Some((a, b)) = self.contradictions.example {
            let place = |row| match data.origin().line(row) {
                Some(line) => format!("line {line}"),
                None => format!("row {row}"),
            };
            problems.push(format!(
                "{} rows in {} groups are equal but differ in class (first: {} and {}), so no plane separates the classes",
                self.contradictions.rows, self.contradictions.groups, place(a), place(b)
            ));
        }
        let constant: Vec<u32> = (0..self.columns.len() as u32)
            .filter(|&j| data.n_rows() > 1 && self.columns[j as usize].is_constant())
            .collect();
        if !constant.is_empty() {
            problems.push(format!(
                "{} constant: {}",
                count(constant.len(), "column is", "columns are"),
                list(&constant, name)
            ));
        }
        for group in self.duplicate_columns.iter().take(5) {
            problems.push(format!("columns with the same values: {}", list(group, name)));
        }
        if self.duplicate_columns.len() > 5 {
            problems
                .push(format!("{} more groups of equal columns", self.duplicate_columns.len() - 5));
        }
        let sizes =
            self.columns.iter().map(|c| c.min.abs().max(c.max.abs())).filter(|&size| size > 0.0);
        let (small, large) = sizes.fold((f64::INFINITY, 0.0f64), |(s, l), x| (s.min(x), l.max(x)));
        if large > 1e4 * small {
            problems.push(format!(
                "the columns' largest magnitudes reach from {} to {}: scaling matters (see `scale`)",
                readable(small, 4),
                readable(large, 4)
            ));
        }
        let smallest = self.class_counts.iter().min().copied().unwrap_or(0);
        let largest = self.class_counts.iter().max().copied().unwrap_or(0);
        if smallest * 20 < largest {
            problems.push(format!(
                "the smallest class has {smallest} rows, the largest {largest} (see `class-weight=balanced`)"
            ));
        }
        problems
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn list(columns: &[u32], name: impl Fn(u32) -> String) -> String {
    let mut text: Vec<String> = columns.iter().take(8).map(|&column| name(column)).collect();
    if columns.len() > 8 {
        text.push("…".into());
    }
    text.join(", ")
}

fn summarise(data: &Dataset) -> (Vec<ColumnSummary>, f64) {
    let fresh = ColumnSummary {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
        mean: 0.0,
        nonzeros: 0,
        whole: true,
    };
    let mut columns = vec![fresh; data.n_features()];
    let mut scratch = Vec::new();
    let mut radius_square = 0.0f64;
    for row in 0..data.n_rows() {
        let mut square = 0.0;
        data.store.for_each(row, &mut scratch, |j, x| {
            let column = &mut columns[j as usize];
            column.min = column.min.min(x);
            column.max = column.max.max(x);
            column.mean += x;
            column.nonzeros += 1;
            column.whole &= x.fract() == 0.0;
            square += x * x;
        });
        radius_square = radius_square.max(square);
    }
    for column in &mut columns {
        if column.nonzeros < data.n_rows() as u64 {
            column.min = column.min.min(0.0);
            column.max = column.max.max(0.0);
        }
        column.mean /= data.n_rows() as f64;
    }
    (columns, radius_square.sqrt())
}

/// Spreads 64 bits; equal columns and rows get equal sums of these.
fn spread(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ b.rotate_left(29);
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

fn find_duplicate_columns(data: &Dataset, columns: &[ColumnSummary]) -> Vec<Vec<u32>> {
    let mut hashes = vec![0u64; columns.len()];
    let mut scratch = Vec::new();
    for row in 0..data.n_rows() {
        data.store.for_each(row, &mut scratch, |j, x| {
            let hash = &mut hashes[j as usize];
            *hash = hash.wrapping_add(spread(row as u64 + 1, x.to_bits()));
        });
    }
    let mut groups: HashMap<u64, Vec<u32>> = HashMap::new();
    for (j, column) in columns.iter().enumerate() {
        if !column.is_constant() {
            groups.entry(hashes[j]).or_default().push(j as u32);
        }
    }
    let candidates: Vec<Vec<u32>> = groups.into_values().filter(|group| group.len() > 1).collect();
    // Equal hashes only suggest; every value is compared before it is said.
    let mut place = vec![u32::MAX; columns.len()];
    candidates.iter().flatten().enumerate().for_each(|(k, &j)| place[j as usize] = k as u32);
    let mut contents: Vec<Content> = vec![Vec::new(); candidates.iter().map(Vec::len).sum()];
    for row in 0..data.n_rows() {
        data.store.for_each(row, &mut scratch, |j, x| {
            if let Some(content) = contents.get_mut(place[j as usize] as usize) {
                content.push((row as u32, x.to_bits()));
            }
        });
    }
    let mut content = |j: u32| (std::mem::take(&mut contents[place[j as usize] as usize]), j);
    let equal = |group: Vec<u32>| equal_contents(group.into_iter().map(&mut content).collect());
    let mut groups: Vec<Vec<u32>> =
        candidates.into_iter().flat_map(equal).filter(|group| group.len() > 1).collect();
    groups.sort();
    groups
}

fn contradictions(data: &Dataset) -> Contradictions {
    let mut scratch = Vec::new();
    let mut hashes: Vec<(u64, u32)> = (0..data.n_rows())
        .map(|row| {
            let mut hash = 0u64;
            data.store.for_each(row, &mut scratch, |j, x| {
                hash = hash.wrapping_add(spread(u64::from(j) + 1, x.to_bits()));
            });
            (hash, row as u32)
        })
        .collect();
    hashes.sort_unstable();
    let mut found = Contradictions::default();
    let mut first = u32::MAX;
    for same_hash in hashes.chunk_by(|a, b| a.0 == b.0) {
        let class = |&(_, row): &(u64, u32)| data.class_of(row as usize);
        if same_hash.iter().all(|row| class(row) == class(&same_hash[0])) {
            continue;
        }
        for group in equal_rows(data, same_hash) {
            let other = group
                .iter()
                .find(|&&row| data.class_of(row as usize) != data.class_of(group[0] as usize));
            if let Some(&other) = other {
                found.groups += 1;
                found.rows += group.len() as u64;
                if group[0] < first {
                    first = group[0];
                    found.example = Some((u64::from(group[0]), u64::from(other)));
                }
            }
        }
    }
    found
}

/// Rows of one hash, put together by equality of every value. They are sorted by their values, so that
/// nobody gains by rows whose hashes collide.
fn equal_rows(data: &Dataset, rows: &[(u64, u32)]) -> Vec<Vec<u32>> {
    let content = |&(_, row): &(u64, u32)| {
        let mut entries: Content = Vec::new();
        data.for_each(row as usize, |j, x| entries.push((j, x.to_bits())));
        (entries, row)
    };
    equal_contents(rows.iter().map(content).collect())
}

/// The bits of the non-zero values of a row or a column, by the number of the other one.
type Content = Vec<(u32, u64)>;

/// Puts together what is equal, each group in order.
fn equal_contents(mut all: Vec<(Content, u32)>) -> Vec<Vec<u32>> {
    all.sort_unstable();
    let groups = all.chunk_by(|a, b| a.0 == b.0);
    groups.map(|group| group.iter().map(|(_, number)| *number).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_found_and_named() {
        let data = Dataset::from_rows(
            &[
                [1.0, 5.0, 1.0, 9e6],
                [2.0, 5.0, 2.0, 1.0],
                [1.0, 5.0, 1.0, 9e6],
                [0.5, 5.0, 0.5, 3.0],
            ],
            &["a", "b", "b", "a"],
        )
        .unwrap();
        let found = inspect(&data);
        assert_eq!(found.class_counts, [2, 2]);
        assert_eq!(found.duplicate_columns, [vec![0, 2]]);
        assert_eq!(
            found.contradictions,
            Contradictions { groups: 1, rows: 2, example: Some((0, 2)) }
        );
        assert_eq!(found.columns[0].type_word(), "real");
        assert_eq!(found.columns[1].type_word(), "constant");
        assert_eq!(found.columns[3].type_word(), "integer");
        let problems = found.problems(&data).join("\n");
        for words in ["no plane", "1 column is constant: x2", "x1, x3", "scaling matters"] {
            assert!(problems.contains(words), "{words} not in {problems}");
        }
    }

    #[test]
    fn clean_data_has_no_problems() {
        let data = Dataset::from_rows(&[[1.0, 2.0], [2.0, 1.0]], &["a", "b"]).unwrap();
        assert!(inspect(&data).problems(&data).is_empty());
    }
}
