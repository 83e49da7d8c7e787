//! All classes at once as one question of two: Kesler's construction.
//!
//! A row x of class c and another class k become a vector over blocks of D coordinates, one block for each
//! class: (1, x) in the block of c, −(1, x) in that of k, 0 elsewhere. Planes for all classes have the row
//! higher on its own class exactly if their numbers, one block after the other, have the vector on the
//! positive side. One plane may be added to all without a change, so that of the first class, the
//! *reference*, is fixed at 0 and its block left out.
//!
//! The vectors are made rows of a data set without a bias (every other one with its sign turned, so that there
//! are two classes), and everything that is known about two classes is asked of it: the kind, and what
//! becomes of the coefficients of the maximum-likelihood fit of softmax, which are differences against the
//! reference. The answers are carried back, and checked against the data itself.

use super::coefficients::Coefficients;
use super::rank::independence;
use super::recession::sparse_vector;
use super::signed::Signed;
use super::{Decision, Judge, Verdict};
use dashu_int::IBig;
use linsep_data::door::{ArrayOptions, CsrArray, Labels};
use linsep_data::read::ReadingChoice;
use linsep_data::{Dataset, Features};
use linsep_proof::{
    Against, Claim, ClassPlane, Estimates, ExactNumber, ExactPlane, Multiple, Question, Scheme,
    Weighted,
};
use std::sync::Arc;

/// Numbers that the vectors may have, those that are 0 not counted.
const MOST_NUMBERS: usize = 30_000_000;

/// The question of two classes.
pub(crate) struct Stacked<'a> {
    judge: &'a Judge,
    stacked: Judge,
    /// The classes, the reference last.
    classes: Vec<String>,
    /// (row, place of the class that it is against) of each vector.
    vectors: Vec<(u32, u32)>,
}

impl<'a> Stacked<'a> {
    /// A question that asks for the kind, or only for a verdict. `None` where there is too much, or the numbers
    /// cannot be carried over as they are.
    pub(crate) fn new(judge: &'a Judge, kind: bool) -> Option<Stacked<'a>> {
        let data = judge.data.as_ref();
        let mut classes = data.classes().to_vec();
        let mut known = data.label_names().to_vec();
        classes.rotate_left(1);
        known.sort_unstable();
        let mut sorted = classes.clone();
        sorted.sort_unstable();
        if known != sorted || classes.len() < 2 || data.input().basis.is_some() {
            return None;
        }
        let place = |name: &String| classes.iter().position(|class| class == name);
        let places: Option<Vec<usize>> = data.label_names().iter().map(place).collect();
        let (places, blocks) = (places?, classes.len() - 1);
        let (shift, size) = (usize::from(judge.bias), data.n_features() + usize::from(judge.bias));
        let numbers = data.nonzeros() as usize + data.n_rows() * shift;
        if numbers.saturating_mul(2 * blocks) > MOST_NUMBERS {
            return None;
        }
        let (mut offsets, mut indices, mut values) = (vec![0u64], Vec::new(), Vec::new());
        let (mut vectors, mut labels) = (Vec::new(), Vec::new());
        for row in (0..data.n_rows()).filter(|&row| data.weight(row) > 0.0) {
            let own = places[data.label_id(row) as usize];
            let mut entries: Vec<(usize, f64)> = (0..shift).map(|c| (c, 1.0)).collect();
            data.for_each(row, |j, x| entries.push((j as usize + shift, x)));
            for against in (0..classes.len()).filter(|&k| k != own) {
                let turned = vectors.len() % 2 == 1;
                for (block, sign) in [(own, 1.0), (against, -1.0)] {
                    let sign = if turned { -sign } else { sign };
                    if block < blocks {
                        indices.extend(entries.iter().map(|(c, _)| (block * size + c) as u64));
                        values.extend(entries.iter().map(|(_, x)| sign * x));
                    }
                }
                offsets.push(indices.len() as u64);
                vectors.push((row as u32, against as u32));
                labels.push(!turned);
            }
        }
        let exceptions = (0..blocks).flat_map(|block| {
            let column = move |j: &u32| (block * size + shift) as u32 + j;
            data.reading().binary64.iter().map(column)
        });
        let arrays = (&offsets[..], &indices[..], &values[..]);
        let features = features_like(data, arrays, blocks * size, exceptions, judge.threads)?;
        let stacked = Dataset::new(features, Labels::numbers(&labels[..]).ok()?, None).ok()?;
        let stacked = Judge {
            bias: false,
            kind,
            threads: judge.threads,
            clock: judge.clock,
            ..Judge::new(stacked)
        };
        Some(Stacked { judge, stacked, classes, vectors })
    }

    /// The decision on the vectors, and the claim that it makes about the classes.
    pub(crate) fn decide(&self, stop: &dyn Fn() -> bool) -> Option<(Decision, Claim)> {
        let decision = self.stacked.class("true", stop).ok()?;
        let claim = match (&decision.verdict, &decision.claim) {
            (Verdict::Separable, Claim::Separable { plane, .. }) => {
                Claim::JointSeparable { planes: self.planes(plane) }
            }
            (Verdict::Touching, Claim::Touching { witness, plane, .. }) => {
                Claim::JointTouching { witness: self.witness(witness), planes: self.planes(plane) }
            }
            (Verdict::Overlapping, Claim::Overlapping { witness, null, .. }) => {
                let null = self.null(null)?;
                Claim::JointOverlapping { witness: self.witness(witness), null }
            }
            (Verdict::Inseparable, Claim::Inseparable { witness, .. }) => {
                Claim::JointInseparable { witness: self.witness(witness) }
            }
            _ => return None,
        };
        Some((decision, claim))
    }

    /// What becomes of the coefficients, as differences against the reference.
    pub(crate) fn coefficients(
        &self,
        decision: &Decision,
        stop: &dyn Fn() -> bool,
    ) -> Option<Coefficients> {
        let found = super::coefficients::of(&self.stacked, decision, stop)?;
        let Claim::Coefficients { estimates, .. } = found.claim else { return None };
        let names = self.classes.clone();
        let question = Question::new(Scheme::Rest, names.clone(), Vec::new());
        let view = Signed::new(Arc::clone(&self.judge.data), question, self.judge.bias);
        let columns = independence(&view, self.judge.threads, stop)?;
        let Estimates { mut coefficients, mut tied, complement, directions, .. } = estimates;
        let (size, shift) = (view.dimension(), u32::from(self.judge.bias));
        for (at, coefficient) in coefficients.iter_mut().enumerate() {
            coefficient.class = Some(names[at / size].clone());
            coefficient.column = ((at % size) as u32).checked_sub(shift);
            coefficient.combination.iter_mut().for_each(|multiple| self.carry_back(multiple));
        }
        tied.iter_mut().for_each(|multiple| self.carry_back(multiple));
        let mut independent: Vec<u64> =
            columns.rows.iter().map(|&k| u64::from(view.rows[k])).collect();
        independent.sort_unstable();
        let relations = columns.relations.into_iter();
        let estimates = Estimates::default()
            .with_classes(names)
            .with_coefficients(coefficients)
            .with_independent(independent)
            .with_relations(relations.map(|n| sparse_vector(self.judge.bias, n)).collect())
            .with_tied(tied)
            .with_complement(complement)
            .with_directions(directions);
        Coefficients::checked(self.judge, &view, Claim::JointCoefficients { estimates })
    }

    fn carry_back(&self, multiple: &mut Multiple) {
        let (row, against) = self.vectors[multiple.row as usize];
        multiple.row = u64::from(row);
        multiple.against = Some(self.classes[against as usize].clone());
    }

    fn witness(&self, witness: &[Weighted]) -> Vec<Against> {
        let origin = self.judge.data.origin();
        let several = origin.files().count() > 1;
        let entry = |entry: &Weighted| {
            let (row, against) = self.vectors[entry.row as usize];
            let row = u64::from(row);
            let file = origin.file(row).filter(|_| several).map(str::to_owned);
            Against::new(row, self.classes[against as usize].clone(), entry.lambda.clone())
                .with_line(origin.line(row))
                .with_file(file)
        };
        witness.iter().map(entry).collect()
    }

    /// One plane for each class, in the order of the data.
    fn planes(&self, plane: &ExactPlane) -> Vec<ClassPlane> {
        let (bias, width) = (self.judge.bias, self.judge.data.n_features());
        let size = width + usize::from(bias);
        let sparse: Vec<(u32, ExactNumber)> = match (&plane.weights, &plane.sparse) {
            (Some(weights), _) => (0..).zip(weights.iter().cloned()).collect(),
            (None, sparse) => sparse.clone().unwrap_or_default(),
        };
        let float = |(_, x): &(u32, ExactNumber)| matches!(x, ExactNumber::Binary64(_));
        let zero = match sparse.iter().all(float) {
            true => ExactNumber::Binary64(0.0),
            false => ExactNumber::Ratio("0".into()),
        };
        let of_class = |name: &String| {
            let block = self.classes.iter().position(|class| class == name).unwrap_or(0);
            let own = sparse.iter().filter(|(c, _)| *c as usize / size == block);
            let mut constant = bias.then(|| zero.clone());
            let mut weights = Vec::new();
            for (c, x) in own {
                match (*c as usize % size).checked_sub(usize::from(bias)) {
                    Some(j) => weights.push((j as u32, x.clone())),
                    None => constant = Some(x.clone()),
                }
            }
            ClassPlane::new(name.clone()).with_sparse(Some(weights)).with_bias(constant)
        };
        self.judge.data.classes().iter().map(of_class).collect()
    }

    /// The vectors of one block; the others say the same.
    fn null(&self, null: &[Vec<String>]) -> Option<Vec<Vec<String>>> {
        let (size, blocks) =
            (self.judge.data.n_features() + usize::from(self.judge.bias), self.classes.len() - 1);
        let nothing = |text: &String| text.parse::<IBig>().is_ok_and(|x| x == IBig::ZERO);
        let first = null.iter().filter(|vector| vector[size..].iter().all(nothing));
        let first: Vec<Vec<String>> = first.map(|vector| vector[..size].to_vec()).collect();
        (first.len() * blocks == null.len()).then_some(first)
    }
}

/// Compressed sparse rows (offsets, columns, values) with the reading of some data, `exceptions` being the
/// columns that are binary64 all the same. `None` if the values call for more of them.
pub(crate) fn features_like(
    data: &Dataset,
    (offsets, indices, values): (&[u64], &[u64], &[f64]),
    columns: usize,
    exceptions: impl Iterator<Item = u32>,
    threads: usize,
) -> Option<Features> {
    let reading = match data.reading().decimal {
        true => ReadingChoice::Decimal,
        false => ReadingChoice::Auto,
    };
    let options = ArrayOptions::default().reading(reading).threads(threads);
    let array = CsrArray::new(offsets, indices, values, columns);
    let features = Features::from_array(array, &options).ok()?;
    // A long text may have become a short number, so exceptions cannot be seen in the values.
    features.with_binary64(exceptions.collect())
}
