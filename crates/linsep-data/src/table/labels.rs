//! Labels: their normal form, their numbers, the order of classes, and a data set put together from its
//! parts.

use super::{Dataset, Features, InputMap, MergedLabels, Origin, Reading};
use crate::error::{Code, Error, Place, Problem, Result};
use crate::matrix::{RowCopies, Store};
use crate::sort::places;
use linsep_kernels::number;
use std::collections::HashMap;

/// More distinct labels than this are not classes.
pub(crate) const MAX_CLASSES: usize = 50_000;

/// Whether a field means that there is no value.
pub(crate) fn is_missing(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.is_empty()
        || text == b"?"
        || [&b"na"[..], b"n/a", b"null"].iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// The normal form of a label: shortest form for a number, trimmed text otherwise.
pub(crate) fn label_name(text: &[u8]) -> String {
    match number::parse(text) {
        Ok(number) => number::shortest(number.value),
        Err(_) => String::from_utf8_lossy(text.trim_ascii()).into_owned(),
    }
}

/// Texts numbered in the order of their first appearance, and the number of each row.
#[derive(Default)]
pub(crate) struct Dictionary {
    pub(crate) codes: Vec<u32>,
    pub(crate) names: Vec<String>,
    by_name: HashMap<Vec<u8>, u32>,
    /// Short raw texts as words, with their numbers, each at the place that its word gives: most label
    /// columns have few values.
    recent: Vec<(u64, u32)>,
}

impl Dictionary {
    /// Places for short texts.
    const RECENT: usize = 256;

    /// A text of one to seven bytes as a word that no other text has.
    #[inline]
    fn word(raw: &[u8]) -> Option<u64> {
        let bytes =
            |raw: &[u8]| raw.iter().rev().fold(raw.len() as u64, |w, &b| w << 8 | u64::from(b));
        (1..=7).contains(&raw.len()).then(|| bytes(raw))
    }

    fn place(word: u64) -> usize {
        (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
    }

    /// The number of a raw text; `name` gives its normal form when it is seen for the first time.
    #[inline]
    pub(crate) fn number(&mut self, raw: &[u8], name: impl FnOnce(&[u8]) -> String) -> u32 {
        let word = Self::word(raw);
        if let (Some(word), Some(recent)) = (word, self.recent.get(word.map_or(0, Self::place)))
            && recent.0 == word
        {
            return recent.1;
        }
        let code = self.find_or_enter(raw, name);
        if let Some(word) = word {
            self.recent.resize(Self::RECENT, (0, 0));
            self.recent[Self::place(word)] = (word, code);
        }
        code
    }

    fn find_or_enter(&mut self, raw: &[u8], name: impl FnOnce(&[u8]) -> String) -> u32 {
        if let Some(&code) = self.by_name.get(raw) {
            return code;
        }
        let name = name(raw);
        let code = match self.by_name.get(name.as_bytes()) {
            Some(&code) => code,
            None => {
                let code = self.names.len() as u32;
                self.by_name.insert(name.as_bytes().to_vec(), code);
                self.names.push(name);
                code
            }
        };
        self.by_name.insert(raw.to_vec(), code);
        code
    }

    /// Adds the rows of `other`, giving its texts the numbers they have here. A text that no row
    /// uses leaves no trace.
    pub(crate) fn append(&mut self, other: &Dictionary) {
        let mut translation = vec![None; other.names.len()];
        for &code in &other.codes {
            let translated = match translation.get_mut(code as usize) {
                // Not a text but the mark of a missing one.
                None => code,
                Some(known) => *known.get_or_insert_with(|| {
                    let name = &other.names[code as usize];
                    self.number(name.as_bytes(), |_| name.clone())
                }),
            };
            self.codes.push(translated);
        }
    }
}

pub(crate) fn too_many_classes(count: usize, file: &str) -> Error {
    Problem::new(
        Code::MANY_CLASSES,
        format!("the label has more than {} distinct values", count - 1),
        Place::file(file),
    )
    .help("choose another label with `label`; linsep does not fit regressions")
    .into()
}

/// What a data set is made of, before its classes are numbered.
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) labels: Dictionary,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) input: InputMap,
    pub(crate) reading: Reading,
    pub(crate) origin: Origin,
    pub(crate) positive: Option<String>,
    pub(crate) file: String,
    /// A part of a longer table may have no row that counts.
    pub(crate) is_part: bool,
}

/// Numbers the classes and makes the last choice of storage.
pub(crate) fn assemble(mut parts: Parts) -> Result<Dataset> {
    let no_weight = |weights: &Vec<f64>| weights.iter().all(|&weight| weight == 0.0);
    if !parts.is_part && parts.weights.as_ref().is_some_and(no_weight) {
        let place = Place::file(parts.file);
        return Err(Error::data(Code::BAD_WEIGHT, "every row has weight 0", place));
    }
    let (classes, order) = sort_classes(&parts.labels.names);
    let mut targets: Vec<u32> =
        parts.labels.codes.iter().map(|&code| order[code as usize]).collect();
    parts.store.finish();
    let features = Features {
        store: RowCopies::new(parts.store),
        expansion: None,
        input: parts.input,
        reading: parts.reading,
        origin: parts.origin,
    };
    let weights = parts.weights;
    let mut data = Dataset { features, classes, targets: Vec::new(), merged: None, weights };
    if let Some(positive) = &parts.positive {
        choose_positive(&mut data, &mut targets, positive, &parts.file)?;
    }
    data.targets = targets;
    Ok(data)
}

/// The sorted class names and the place of each given name among them.
pub(crate) fn sort_classes(names: &[String]) -> (Vec<String>, Vec<u32>) {
    let numbers: Option<Vec<f64>> =
        names.iter().map(|name| number::parse(name.as_bytes()).ok().map(|n| n.value)).collect();
    let order = match numbers {
        Some(numbers) => places(names.len(), &mut |a, b| numbers[a].total_cmp(&numbers[b])),
        None => places(names.len(), &mut |a, b| names[a].as_bytes().cmp(names[b].as_bytes())),
    };
    let mut rank = vec![0; names.len()];
    order.iter().enumerate().for_each(|(place, &name)| rank[name] = place as u32);
    (order.iter().map(|&name| names[name].clone()).collect(), rank)
}

/// Makes one class the positive one; of more than two, the others become the class `rest`.
pub(crate) fn choose_positive(
    data: &mut Dataset,
    targets: &mut [u32],
    positive: &str,
    file: &str,
) -> Result<()> {
    let name = label_name(positive.as_bytes());
    let Some(chosen) = data.classes.iter().position(|class| *class == name) else {
        return Err(Problem::new(
            Code::UNKNOWN_CLASS,
            format!("no class \"{name}\""),
            Place::file(file),
        )
        .value(positive.as_bytes())
        .help(format!("the classes are {}", data.classes.join(", ")))
        .into());
    };
    let chosen = chosen as u32;
    if data.classes.len() > 2 {
        let rest = if name == "rest" { "other" } else { "rest" };
        let names = std::mem::replace(&mut data.classes, vec![rest.to_owned(), name]);
        data.features.input.rest = true;
        data.merged = Some(MergedLabels { names, codes: targets.to_vec() });
        targets.iter_mut().for_each(|target| *target = u32::from(*target == chosen));
    } else if data.classes.len() == 2 && chosen == 0 {
        data.classes.swap(0, 1);
        targets.iter_mut().for_each(|target| *target = 1 - *target);
    }
    Ok(())
}
