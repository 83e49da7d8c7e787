//! What separating planes say of new points, against brute force.

use crate::brute::{allows, signed};
use crate::coefficients::{draw, judge_of};
use crate::files::read_text;
use crate::proofs::{accepts, never};
use linsep::proof::{Claim, ExactNumber, ForcedLabel, ForcedSide};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};

fn entries(point: &[i64]) -> Vec<(u32, f64)> {
    (0..).zip(point).filter(|(_, x)| **x != 0).map(|(j, &x)| (j, x as f64)).collect()
}

#[test]
fn points_are_forced_exactly_where_brute_force_says_so() {
    let mut stream = Stream::new(81, Purpose::Generate(47));
    let mut seen = [0; 3];
    for set in 0..600 {
        let (rows, positive) = draw(&mut stream);
        let bias = set % 4 > 0;
        let judge = judge_of(&rows, &positive, bias);
        let decision = judge.class("p", &never).unwrap();
        if decision.verdict != Verdict::Separable {
            assert!(judge.forced(&decision, &[Vec::new()], &never).is_err());
            continue;
        }
        let vectors: Vec<Vec<i128>> =
            rows.iter().zip(&positive).map(|(row, p)| signed(row, *p, bias)).collect();
        let points: Vec<Vec<i64>> = (0..4)
            .map(|_| (0..rows[0].len()).map(|_| stream.below(9) as i64 - 4).collect())
            .collect();
        let asked: Vec<Vec<(u32, f64)>> = points.iter().map(|point| entries(point)).collect();
        let answers = judge.forced(&decision, &asked, &never).unwrap();
        for (point, answer) in points.iter().zip(answers) {
            let said = format!("{rows:?} {positive:?} bias {bias}: {point:?}");
            let [p, minus] = [true, false].map(|side| signed(point, side, bias));
            let expected = match (allows(&vectors, &p), allows(&vectors, &minus)) {
                (true, true) => ForcedSide::Either,
                (true, false) => ForcedSide::Positive,
                (false, true) => ForcedSide::Negative,
                (false, false) => {
                    assert!(answer.is_none() && p.iter().all(|x| *x == 0), "{said}");
                    continue;
                }
            };
            let answer = answer.unwrap_or_else(|| panic!("{said}"));
            assert_eq!(answer.side, expected, "{said}");
            seen[expected as usize] += 1;
            assert!(accepts(&judge, &answer.claim), "{said}");
            refuses_changes(&judge, &answer.claim);
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

fn refuses_changes(judge: &Judge, claim: &Claim) {
    let Claim::Forced { problem, forced } = claim else { panic!() };
    let refused = |change: &dyn Fn(&mut ForcedLabel), what: &str| {
        let mut forced = forced.clone();
        change(&mut forced);
        let changed = Claim::Forced { problem: problem.clone(), forced };
        assert!(!accepts(judge, &changed), "{what}: {changed:?}");
    };
    for side in [ForcedSide::Positive, ForcedSide::Negative, ForcedSide::Either] {
        if side != forced.side {
            refused(&|f| f.side = side, "another side");
        }
    }
    // A single row may be taken as often as one likes.
    let rows = forced.combination.len();
    for k in (0..rows).filter(|_| rows > 1) {
        refused(&|f| f.combination[k].factor.push('1'), "another factor");
        refused(&|f| drop(f.combination.remove(k)), "a row left out");
    }
    for k in 0..rows {
        refused(&|f| f.combination[k].factor.insert(0, '-'), "a negative factor");
        refused(&|f| f.combination[k].row = 99, "a row that is not there");
        refused(&|f| f.combination[k].against = Some("p".into()), "against a class");
    }
    refused(&|f| f.planes.clear(), "no planes");
    refused(&|f| f.planes.push(f.planes[0].clone()), "one plane more");
    refused(&|f| f.point.push((77, ExactNumber::Binary64(1.0))), "a column that is not there");
    if rows > 0 && judge.bias && !forced.point.is_empty() {
        refused(&|f| f.point.clear(), "another point");
    }
}

#[test]
fn decimals_of_points_are_read_as_those_of_the_data() {
    // 0.3 is the sum of 0.1 and 0.2 as decimals: the point lies on the line through rows of one class.
    let data = read_text("u,v,label\n0.1,0,p\n0.2,0,p\n1,1,n\n").data;
    let judge = Judge::new(data);
    let decision = judge.class("p", &never).unwrap();
    let answers = judge.forced(&decision, &[vec![(0, 0.15)], vec![(0, 0.1)]], &never).unwrap();
    for answer in answers {
        let answer = answer.unwrap();
        assert_eq!(answer.side, ForcedSide::Positive);
        let Claim::Forced { forced, .. } = &answer.claim else { panic!() };
        assert!(matches!(&forced.point[0].1, ExactNumber::Ratio(text) if text.contains('/')));
    }
}
