//! The kind of all classes at once, and what becomes of the coefficients of a softmax fit, against brute
//! force.

use crate::brute::{Kind, kesler, kind_of};
use crate::coefficients::estimates;
use crate::proofs::{accepts, finding, judge, never, proofs_hold};
use linsep::proof::{Against, Claim, Estimate, Estimates};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use std::collections::BTreeMap;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Small whole rows of three or four classes, all present.
fn draw(stream: &mut Stream) -> (Vec<Vec<i64>>, Vec<usize>, usize) {
    let count = if stream.below(4) == 0 { 4 } else { 3 };
    let rows = if count == 4 { 4 } else { 3 + stream.below(3) as usize };
    let width = 1 + stream.below(2) as usize;
    let spread = 2 + stream.below(3);
    let aliased = stream.below(4) == 0;
    let row = |stream: &mut Stream| {
        let mut row: Vec<i64> = (0..width).map(|_| stream.below(spread) as i64).collect();
        if aliased {
            row[width - 1] = if width > 1 { 1 - row[0] } else { 2 };
        }
        row
    };
    let table: Vec<Vec<i64>> = (0..rows).map(|_| row(stream)).collect();
    let classes: Vec<usize> = (0..rows)
        .map(|i| if i < count { i } else { stream.below(count as u64) as usize })
        .collect();
    (table, classes, count)
}

fn judge_of(rows: &[Vec<i64>], classes: &[usize], bias: bool) -> Judge {
    let float = |row: &Vec<i64>| row.iter().map(|&x| x as f64).collect::<Vec<f64>>();
    let rows: Vec<Vec<f64>> = rows.iter().map(float).collect();
    let labels: Vec<&str> = classes.iter().map(|&c| NAMES[c]).collect();
    let mut judge = judge(&rows, &labels);
    judge.bias = bias;
    judge
}

/// What becomes of each coordinate of the classes but the first, by brute force.
fn truth(vectors: &[Vec<i128>], size: usize) -> Vec<Estimate> {
    // The plane of the first class is 0.
    let vectors: Vec<Vec<i128>> = vectors.iter().map(|z| z[size..].to_vec()).collect();
    estimates(&vectors)
}

#[test]
fn small_sets_are_told_apart_as_by_brute_force() {
    let mut stream = Stream::new(71, Purpose::Generate(45));
    let (mut kinds, mut words) = (BTreeMap::new(), BTreeMap::new());
    for set in 0..250 {
        let (rows, classes, count) = draw(&mut stream);
        let bias = set % 4 > 0;
        let judge = judge_of(&rows, &classes, bias);
        let said = format!("{rows:?} {classes:?} bias {bias}");
        let joint = judge.joint(&[], &never).unwrap();
        proofs_hold(&judge, std::slice::from_ref(&joint));
        let vectors = kesler(&rows, &classes, count, bias);
        let expected = match kind_of(&vectors) {
            Kind::Separable => Verdict::Separable,
            Kind::Touching => Verdict::Touching,
            Kind::Overlapping => Verdict::Overlapping,
        };
        assert_eq!(joint.verdict, expected, "{said}");
        *kinds.entry(joint.verdict.word()).or_insert(0) += 1;
        let found = judge.coefficients(&joint, &never).unwrap();
        assert_eq!(found.reference.as_deref(), Some("a"));
        assert!(finding(&judge, &found.claim).holds(), "{said}");
        let size = rows[0].len() + usize::from(bias);
        let estimates: Vec<Estimate> = found.list.iter().map(|(_, _, e)| *e).collect();
        assert_eq!(estimates, truth(&vectors, size), "{said}");
        let listed = found.list.iter().map(|(class, ..)| class.clone().unwrap());
        assert!(listed.eq((0..found.list.len()).map(|at| NAMES[1 + at / size].to_owned())));
        estimates.iter().for_each(|e| *words.entry(e.word()).or_insert(0) += 1);
        refuses_other_words(&judge, &found.claim);
    }
    assert!(kinds.len() == 3 && kinds.values().all(|&count| count > 15), "{kinds:?}");
    assert!(words.len() == 5 && words.values().all(|&count| count > 30), "{words:?}");
}

/// No estimate can be another, and no number of a sum.
fn refuses_other_words(judge: &Judge, claim: &Claim) {
    let Claim::JointCoefficients { estimates } = claim else { panic!() };
    let refused = |change: &dyn Fn(&mut Estimates), what: &str| {
        let mut changed = estimates.clone();
        change(&mut changed);
        let changed = Claim::JointCoefficients { estimates: changed };
        assert!(!accepts(judge, &changed), "{what}: {changed:?}");
    };
    let words = [
        Estimate::Finite,
        Estimate::PlusInfinity,
        Estimate::MinusInfinity,
        Estimate::Undetermined,
        Estimate::Aliased,
    ];
    for (at, coefficient) in estimates.coefficients.iter().enumerate() {
        for word in words.into_iter().filter(|word| *word != coefficient.estimate) {
            refused(&|e| e.coefficients[at].estimate = word, word.word());
        }
        for k in 0..coefficient.combination.len() {
            refused(&|e| e.coefficients[at].combination[k].against = None, "against nothing");
            let own = |e: &Estimates| {
                judge.data.label_text(e.coefficients[at].combination[k].row as usize).to_owned()
            };
            refused(
                &|e| e.coefficients[at].combination[k].against = Some(own(e)),
                "against its own class",
            );
        }
    }
    for k in (0..estimates.tied.len()).filter(|&k| !is_zero(judge, estimates.tied[k].row)) {
        refused(&|e| e.tied[k].factor.push('1'), "another weight");
    }
    refused(&|e| e.classes.swap(0, 1), "classes in another order");
    refused(&|e| e.classes.push("e".into()), "a class that is not there");
}

/// A row of zeros without a bias balances by itself, with any weight.
fn is_zero(judge: &Judge, row: u64) -> bool {
    !judge.bias && judge.data.row(row as usize).iter().all(|x| *x == 0.0)
}

#[test]
fn joint_kinds_with_other_numbers_are_refused() {
    let mut stream = Stream::new(72, Purpose::Generate(46));
    let mut seen = [0; 2];
    for set in 0..200 {
        let (rows, classes, _) = draw(&mut stream);
        let judge = judge_of(&rows, &classes, set % 4 > 0);
        let claim = judge.joint(&[], &never).unwrap().claim;
        let weighted = |witness: &[Against]| {
            let rows: Vec<u64> = witness.iter().map(|entry| entry.row).collect();
            (0..rows.len()).filter(|&k| !is_zero(&judge, rows[k])).collect::<Vec<usize>>()
        };
        match &claim {
            Claim::JointTouching { witness, planes } => {
                seen[0] += 1;
                for k in weighted(witness) {
                    let (mut witness, planes) = (witness.clone(), planes.clone());
                    witness[k].lambda.push('1');
                    assert!(!accepts(&judge, &Claim::JointTouching { witness, planes }));
                }
                // Weak planes that turn around are none, and neither are equal planes.
                let mut equal = planes.clone();
                equal.iter_mut().for_each(|plane| {
                    (plane.weights, plane.sparse) = (None, Some(Vec::new()));
                    plane.bias = plane.bias.as_ref().map(|_| planes_zero());
                });
                let witness = witness.clone();
                assert!(!accepts(&judge, &Claim::JointTouching { witness, planes: equal }));
            }
            Claim::JointOverlapping { witness, null } => {
                seen[1] += 1;
                for k in weighted(witness) {
                    let (mut other, null) = (witness.clone(), null.clone());
                    other[k].lambda.push('1');
                    assert!(!accepts(&judge, &Claim::JointOverlapping { witness: other, null }));
                }
                for k in 0..null.len() {
                    let (witness, mut null) = (witness.clone(), null.clone());
                    null.remove(k);
                    assert!(!accepts(&judge, &Claim::JointOverlapping { witness, null }));
                }
            }
            _ => {}
        }
    }
    assert!(seen.iter().all(|&count| count > 10), "{seen:?}");
}

fn planes_zero() -> linsep::proof::ExactNumber {
    linsep::proof::ExactNumber::Binary64(0.0)
}
