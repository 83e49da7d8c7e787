//! Sums of blocks as lists of numbers that can be added up without knowing what they are sums of.
//!
//! As bytes: 0 or 1 for sums or words of refusal; then for each list its kind, its length and its numbers, all
//! little-endian. Reading makes no room for more numbers than there are bytes.

use super::FOREIGN;
use crate::double::{Double, two_sum};

/// Sums, or why there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::check) struct Sums {
    lists: Vec<List>,
    refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum List {
    /// Plain sums.
    Plain(Vec<f64>),
    /// Sums of twice the length, high and low parts.
    Long(Vec<f64>, Vec<f64>),
    /// Sums, and what their additions dropped.
    Kept(Vec<f64>, Vec<f64>),
}

impl Sums {
    pub(super) fn refused(words: String) -> Sums {
        Sums { lists: Vec::new(), refused: Some(words) }
    }

    pub(in crate::check) fn plain(mut self, numbers: Vec<f64>) -> Sums {
        self.lists.push(List::Plain(numbers));
        self
    }

    pub(in crate::check) fn long(mut self, numbers: impl IntoIterator<Item = Double>) -> Sums {
        let (high, low) = numbers.into_iter().map(Double::parts).unzip();
        self.lists.push(List::Long(high, low));
        self
    }

    pub(in crate::check) fn kept(mut self, sums: Vec<f64>, dropped: Vec<f64>) -> Sums {
        self.lists.push(List::Kept(sums, dropped));
        self
    }

    /// Adds the sums of blocks that follow; the first refusal stays.
    pub(super) fn add(&mut self, next: &Sums) -> Result<(), String> {
        if self.refused.is_some() {
            return Ok(());
        }
        if next.refused.is_some() {
            *self = next.clone();
            return Ok(());
        }
        if self.lists.len() != next.lists.len() {
            return Err(FOREIGN.into());
        }
        self.lists.iter_mut().zip(&next.lists).try_for_each(|(mine, theirs)| mine.add(theirs))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        if let Some(words) = &self.refused {
            return [&[1], words.as_bytes()].concat();
        }
        let mut out = vec![0];
        for list in &self.lists {
            let (kind, first, second): (u8, _, &[f64]) = match list {
                List::Plain(numbers) => (0, numbers, &[]),
                List::Long(high, low) => (1, high, low),
                List::Kept(sums, dropped) => (2, sums, dropped),
            };
            out.push(kind);
            out.extend((first.len() as u64).to_le_bytes());
            first.iter().chain(second).for_each(|number| out.extend(number.to_le_bytes()));
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Sums, String> {
        let sums = match bytes.split_first() {
            Some((0, lists)) => lists_of(lists).map(|lists| Sums { lists, refused: None }),
            Some((1, words)) => std::str::from_utf8(words).ok().map(|w| Sums::refused(w.into())),
            _ => None,
        };
        sums.ok_or_else(|| FOREIGN.into())
    }

    /// The lists one after the other, or the words of whoever refused.
    pub(super) fn reader(self) -> Result<Reader, String> {
        match self.refused {
            Some(words) => Err(words),
            None => Ok(Reader(self.lists.into_iter())),
        }
    }
}

fn lists_of(mut bytes: &[u8]) -> Option<Vec<List>> {
    let mut lists = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?.checked_mul(8)?;
        let (first, rest) = rest.split_at_checked(length)?;
        let (second, rest) = rest.split_at_checked(if *kind == 0 { 0 } else { length })?;
        let numbers = |bytes: &[u8]| -> Vec<f64> {
            bytes.as_chunks::<8>().0.iter().map(|number| f64::from_le_bytes(*number)).collect()
        };
        lists.push(match kind {
            0 => List::Plain(numbers(first)),
            1 => List::Long(numbers(first), numbers(second)),
            2 => List::Kept(numbers(first), numbers(second)),
            _ => return None,
        });
        bytes = rest;
    }
    Some(lists)
}

impl List {
    fn add(&mut self, next: &List) -> Result<(), String> {
        match (self, next) {
            (List::Plain(mine), List::Plain(theirs)) if mine.len() == theirs.len() => {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
            }
            (List::Long(high, low), List::Long(highs, lows)) if high.len() == highs.len() => {
                let mine = high.iter_mut().zip(low);
                for ((high, low), (next_high, next_low)) in mine.zip(highs.iter().zip(lows)) {
                    let sum = Double::pair(*high, *low).plus(Double::pair(*next_high, *next_low));
                    (*high, *low) = sum.parts();
                }
            }
            (List::Kept(sums, dropped), List::Kept(others, lost)) if sums.len() == others.len() => {
                let mine = sums.iter_mut().zip(dropped);
                for ((sum, dropped), (other, lost)) in mine.zip(others.iter().zip(lost)) {
                    let (total, more) = two_sum(*sum, *other);
                    (*sum, *dropped) = (total, (*dropped + lost) + more);
                }
            }
            _ => return Err(FOREIGN.into()),
        }
        Ok(())
    }
}

/// Lists as they were packed. A list of another kind or length is none.
pub(in crate::check) struct Reader(std::vec::IntoIter<List>);

impl Reader {
    pub(in crate::check) fn plain(&mut self, length: usize) -> Option<Vec<f64>> {
        match self.0.next()? {
            List::Plain(numbers) => (numbers.len() == length).then_some(numbers),
            _ => None,
        }
    }

    pub(in crate::check) fn long(&mut self, length: usize) -> Option<Vec<Double>> {
        match self.0.next()? {
            List::Long(high, low) if high.len() == length => {
                Some(high.into_iter().zip(low).map(|(high, low)| Double::pair(high, low)).collect())
            }
            _ => None,
        }
    }

    pub(in crate::check) fn kept(&mut self, length: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        match self.0.next()? {
            List::Kept(sums, dropped) if sums.len() == length => Some((sums, dropped)),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }
}
