//! Rows for training and rows for testing: seeded, and with every class in its share in each part.

use super::Dataset;
use crate::error::{Code, Error, Place, Problem, Result};
use crate::rng::{Purpose, Stream};

/// Two disjoint lists of rows, each rising.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Split {
    /// Rows to learn from.
    pub train: Vec<u32>,
    /// Rows to test on.
    pub test: Vec<u32>,
}

impl Split {
    /// Rows to learn from and rows to test on.
    pub fn new(train: Vec<u32>, test: Vec<u32>) -> Split {
        Split { train, test }
    }
}

/// Sets `share` of the rows of every class aside for testing.
pub fn holdout(data: &Dataset, share: f64, seed: u64) -> Result<Split> {
    if !(share > 0.0 && share < 1.0) {
        return Err(Error::usage(format!("the test share {share} is not between 0 and 1")));
    }
    let mut is_test = vec![false; data.n_rows()];
    for rows in shuffled_classes(data, seed) {
        let wanted = (rows.len() as f64 * share).round() as usize;
        // At least one row of a class stays for learning.
        let count = wanted.min(rows.len().saturating_sub(1));
        rows[..count].iter().for_each(|&row| is_test[row as usize] = true);
    }
    let split = parts(&is_test);
    if split.test.is_empty() {
        return Err(too_few(data, format!("a share of {share} leaves no row for testing")));
    }
    Ok(split)
}

/// Every split lists all rows, so leaving out one of very many at a time would fill the memory.
const MOST_BYTES: u64 = 1 << 32;

/// Deals the rows of every class to `folds` parts; each part is the test rows of one split.
pub fn folds(data: &Dataset, folds: usize, seed: u64) -> Result<Vec<Split>> {
    if folds < 2 || folds > data.n_rows() {
        return Err(Error::usage(format!(
            "{folds} folds cannot be made of {} rows: at least 2, at most one for each row",
            data.n_rows()
        )));
    }
    let needed = 4 * folds as u64 * data.n_rows() as u64;
    if needed > MOST_BYTES {
        let purpose = format!("the row numbers of {folds} folds");
        return Err(Error::Memory { purpose, needed, limit: MOST_BYTES });
    }
    let mut fold_of = vec![0; data.n_rows()];
    let mut next = 0;
    for (class, rows) in shuffled_classes(data, seed).into_iter().enumerate() {
        if rows.len() < 2 {
            let name = &data.classes()[class];
            return Err(too_few(
                data,
                format!("class \"{name}\" has one row, so the fold that tests it cannot learn it"),
            ));
        }
        for row in rows {
            fold_of[row as usize] = next;
            next = (next + 1) % folds;
        }
    }
    let split = |fold| parts(&fold_of.iter().map(|&f| f == fold).collect::<Vec<_>>());
    Ok((0..folds).map(split).collect())
}

fn too_few(data: &Dataset, words: String) -> Error {
    let place = data.origin().files().next().map_or_else(Place::default, Place::file);
    Problem::new(Code::FOLD, words, place)
        .help("use fewer folds, a larger share, or more rows of the class")
        .into()
}

fn shuffled_classes(data: &Dataset, seed: u64) -> Vec<Vec<u32>> {
    let mut classes = vec![Vec::new(); data.n_classes()];
    for (row, &class) in data.targets().iter().enumerate() {
        classes[class as usize].push(row as u32);
    }
    let mut stream = Stream::new(seed, Purpose::Split);
    classes.iter_mut().for_each(|rows| stream.shuffle(rows));
    classes
}

fn parts(is_test: &[bool]) -> Split {
    let rows = |wanted| {
        let kept = is_test.iter().enumerate().filter(move |(_, test)| **test == wanted);
        kept.map(|(row, _)| row as u32).collect()
    };
    Split { train: rows(false), test: rows(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(counts: &[usize]) -> Dataset {
        let labels: Vec<String> = counts
            .iter()
            .enumerate()
            .flat_map(|(class, &count)| std::iter::repeat_n(class.to_string(), count))
            .collect();
        let rows: Vec<[f64; 1]> = (0..labels.len()).map(|i| [i as f64]).collect();
        Dataset::from_rows(&rows, &labels).unwrap()
    }

    #[test]
    fn every_row_is_tested_once_and_classes_keep_their_share() {
        let data = data(&[40, 20]);
        let splits = folds(&data, 4, 1).unwrap();
        let mut seen = vec![0; 60];
        for split in &splits {
            assert_eq!(split.train.len() + split.test.len(), 60);
            split.test.iter().for_each(|&row| seen[row as usize] += 1);
            let ones = split.test.iter().filter(|&&row| data.class_of(row as usize) == 1).count();
            assert_eq!((split.test.len(), ones), (15, 5));
        }
        assert!(seen.iter().all(|&count| count == 1));
        assert_eq!(folds(&data, 4, 1).unwrap(), splits);
        assert_ne!(folds(&data, 4, 2).unwrap(), splits);
    }

    #[test]
    fn a_holdout_is_stratified_and_leaves_rows_to_learn_from() {
        let data = data(&[50, 10, 1]);
        let split = holdout(&data, 0.2, 0).unwrap();
        assert_eq!(split.test.len(), 12);
        assert!(split.train.contains(&60));
    }

    #[test]
    fn impossible_splits_are_refused() {
        assert!(holdout(&data(&[5, 5]), 1.0, 0).is_err());
        assert!(holdout(&data(&[5, 5]), f64::NAN, 0).is_err());
        assert_eq!(holdout(&data(&[2, 2]), 0.1, 0).unwrap_err().code(), Code::FOLD);
        assert!(folds(&data(&[5, 5]), 1, 0).is_err());
        assert!(folds(&data(&[5, 5]), 11, 0).is_err());
        let many = data(&[20_000, 20_000]);
        assert_eq!(folds(&many, 40_000, 0).unwrap_err().code(), Code::MEMORY);
        assert_eq!(folds(&data(&[5, 1]), 2, 0).unwrap_err().code(), Code::FOLD);
    }
}
