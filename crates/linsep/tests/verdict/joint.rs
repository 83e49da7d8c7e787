//! All classes at once: what the joint question owes to pairs and to one-versus-rest, and sets whose
//! pairs are all separable although no planes separate all classes together.

use crate::files::Files;
use crate::proofs::{finding, judge, never, proofs_hold, proved, repository};
use linsep::proof::Claim;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Decision, Judge, Verdict};
use linsep::{Code, DatasetBuilder};

type Points = (Vec<[f64; 2]>, Vec<&'static str>);

/// `each` points of every class on a grid; overlap is common and so is order.
fn draw(stream: &mut Stream, classes: &[&'static str], each: usize, grid: u64) -> Points {
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..each {
        for class in classes {
            rows.push([stream.below(grid) as f64, stream.below(grid) as f64]);
            labels.push(*class);
        }
    }
    (rows, labels)
}

/// Three classes of two points that wind around a middle, each point moved a little.
fn pinwheel(stream: &mut Stream) -> Points {
    let middle = [[4, 4], [2, 7], [3, 5], [0, 0], [2, 3], [7, 5]];
    let mut moved = |x: i32| f64::from(10 * x) + stream.below(9) as f64 - 4.0;
    let rows = middle.map(|[x, y]| [moved(x), moved(y)]).to_vec();
    (rows, vec!["a", "a", "b", "b", "c", "c"])
}

fn pairs(judge: &Judge) -> Vec<Decision> {
    let classes = judge.data.classes();
    let of =
        |i: usize| classes[..i].iter().map(move |b| judge.pair(&classes[i], b, &never).unwrap());
    (0..classes.len()).flat_map(of).collect()
}

fn rests(judge: &Judge) -> Vec<Decision> {
    judge.data.classes().iter().map(|class| judge.class(class, &never).unwrap()).collect()
}

fn all_separable(decisions: &[Decision]) -> bool {
    decisions.iter().all(|decision| decision.verdict == Verdict::Separable)
}

#[test]
fn a_set_can_be_separable_pair_by_pair_and_still_not_jointly() {
    let mut stream = Stream::new(1, Purpose::Generate(51));
    let (mut refuted, mut separable) = (0, 0);
    for round in 0..300 {
        let (rows, labels) = match round % 2 {
            0 => draw(&mut stream, &["a", "b", "c"], 2, 8),
            _ => pinwheel(&mut stream),
        };
        let judge = judge(&rows, &labels).with_joint_kind(false);
        let pairs = pairs(&judge);
        if !all_separable(&pairs) {
            continue;
        }
        let joint = judge.joint(&pairs, &never).unwrap();
        proofs_hold(&judge, std::slice::from_ref(&joint));
        match &joint.claim {
            Claim::JointSeparable { planes } => {
                assert_eq!(planes.len(), 3);
                separable += 1;
            }
            Claim::JointInseparable { witness } => {
                // No two classes alone can be the reason: all three have rows in the witness.
                let mut named: Vec<&str> = witness
                    .iter()
                    .flat_map(|e| [judge.data.label_text(e.row as usize), e.against.as_str()])
                    .collect();
                named.sort_unstable();
                named.dedup();
                assert_eq!(named, ["a", "b", "c"], "{witness:?}");
                assert!(witness.len() <= 2 * 3 + 1);
                refuted += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(refuted >= 20 && separable >= 50, "{refuted} refuted, {separable} separable");
}

#[test]
fn the_hand_made_set_is_refuted_although_its_pairs_are_separable() {
    let path = repository("testdata/certificates/joint-inseparable.csv");
    let data = linsep::data::read::read(&[path], &Default::default()).unwrap().data;
    let judge = Judge::new(data).with_joint_kind(false);
    let pairs = pairs(&judge);
    proofs_hold(&judge, &pairs);
    assert!(all_separable(&pairs));
    let joint = judge.joint(&pairs, &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&joint));
    assert_eq!(joint.verdict, Verdict::Inseparable);
}

#[test]
fn one_versus_rest_implies_joint_and_joint_implies_every_pair() {
    let mut stream = Stream::new(2, Purpose::Generate(51));
    let (mut by_rest, mut joint_only, mut refuted) = (0, 0, 0);
    for round in 0..200 {
        let classes = &["a", "b", "c", "d"][..3 + round % 2];
        let (rows, labels) = draw(&mut stream, classes, 1 + round % 3, 10);
        let judge = judge(&rows, &labels);
        let (pairs, rests) = (pairs(&judge), rests(&judge));
        let known = judge.joint(&pairs, &never).unwrap();
        let alone = judge.joint(&[], &never).unwrap();
        proofs_hold(&judge, &[known.clone(), alone.clone()]);
        assert_eq!(known.verdict, alone.verdict, "{rows:?} {labels:?}");
        let joint = known.verdict == Verdict::Separable;
        assert!(joint || !all_separable(&rests), "{rows:?} {labels:?}");
        assert!(!joint || all_separable(&pairs), "{rows:?} {labels:?}");
        match (all_separable(&rests), joint) {
            (true, _) => by_rest += 1,
            (false, true) => joint_only += 1,
            (false, false) => refuted += 1,
        }
    }
    let seen = [by_rest, joint_only, refuted];
    assert!(seen.iter().all(|&count| count >= 10), "{seen:?}");
}

#[test]
fn two_classes_are_jointly_separable_exactly_when_they_are_separable() {
    let mut stream = Stream::new(3, Purpose::Generate(51));
    let mut seen = [0; 2];
    for round in 0..150 {
        let (rows, labels) = draw(&mut stream, &["a", "b"], 2 + round % 3, 5);
        let mut judge = judge(&rows, &labels);
        judge.bias = round % 3 > 0;
        let pair = judge.pair("a", "b", &never).unwrap();
        for known in [&[][..], std::slice::from_ref(&pair)] {
            let joint = judge.joint(known, &never).unwrap();
            proofs_hold(&judge, std::slice::from_ref(&joint));
            assert_eq!(joint.verdict == Verdict::Separable, pair.verdict == Verdict::Separable);
        }
        seen[usize::from(pair.verdict == Verdict::Separable)] += 1;
    }
    assert!(seen.iter().all(|&count| count >= 20), "{seen:?}");
}

#[test]
fn a_refuted_pair_settles_the_joint_question_with_its_own_rows() {
    let rows = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [9.0, 9.0]];
    let judge = judge(&rows, &["a", "a", "b", "b", "c"]).with_joint_kind(false);
    let pairs = pairs(&judge);
    let joint = judge.joint(&pairs, &never).unwrap();
    proofs_hold(&judge, std::slice::from_ref(&joint));
    let Claim::JointInseparable { witness } = &joint.claim else { panic!("{joint:?}") };
    assert!(witness.iter().all(|entry| entry.row < 4));
    assert_eq!(joint.passes, 0, "nothing was searched");
    // Decisions of another kind among the known ones do no harm.
    let mut mixed = rests(&judge);
    mixed.push(joint.clone());
    mixed.extend(pairs);
    assert_eq!(proved(&judge, judge.joint(&mixed, &never)), Verdict::Inseparable);
}

#[test]
fn a_pair_refuted_by_many_rows_settles_two_classes_jointly() {
    // Every point stands in both classes: the proof that they overlap takes two rows for each of the
    // dimensions, more than a joint witness of two classes may have.
    let points = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let rows: Vec<[f64; 2]> = points.iter().chain(&points).copied().collect();
    let judge = judge(&rows, &["a", "a", "a", "b", "b", "b"]).with_joint_kind(false);
    let pair = judge.pair("a", "b", &never).unwrap();
    assert_eq!((pair.verdict, pair.witness_rows()), (Verdict::Overlapping, 6));
    assert_eq!(proved(&judge, judge.joint(&[pair], &never)), Verdict::Inseparable);
}

#[test]
fn threads_change_no_bit_of_a_joint_claim() {
    let mut stream = Stream::new(4, Purpose::Generate(51));
    let mut rows: Vec<[f64; 2]> =
        (0..6_000).map(|_| [stream.below(1_000) as f64, stream.below(1_000) as f64]).collect();
    // Three bands with room between them.
    rows.retain(|row| (row[0] + row[1]) % 700.0 > 100.0);
    let class = |row: &[f64; 2]| ["x", "y", "z"][((row[0] + row[1]) / 700.0) as usize];
    let labels: Vec<&str> = rows.iter().map(class).collect();
    let answers = [1, 2, 3].map(|threads| {
        let mut judge = judge(&rows, &labels);
        judge.threads = threads;
        let joint = judge.joint(&[], &never).unwrap();
        proofs_hold(&judge, std::slice::from_ref(&joint));
        (joint.verdict, joint.claim, joint.passes)
    });
    assert!(answers[0] == answers[1] && answers[0] == answers[2]);
    assert_eq!(answers[0].0, Verdict::Separable);
}

#[test]
fn rows_of_weight_zero_take_no_part_jointly() {
    let rows = [
        ([0.0, 0.0], "a", 1.0),
        ([1.0, 0.0], "b", 1.0),
        ([0.0, 1.0], "c", 1.0),
        ([0.0, 0.0], "b", 0.0),
        ([1.0, 0.0], "c", 0.0),
    ];
    let with = |zero: f64| {
        let mut builder = DatasetBuilder::new(2);
        for (row, label, weight) in rows {
            builder.dense_row(&row, label).unwrap();
            builder.weight(if weight == 0.0 { zero } else { weight }).unwrap();
        }
        Judge::new(builder.finish().unwrap())
    };
    let (without, all) = (with(0.0), with(1.0));
    assert_eq!(proved(&without, without.joint(&[], &never)), Verdict::Separable);
    for (joint_kind, verdict) in [(false, Verdict::Inseparable), (true, Verdict::Touching)] {
        let refuted = all.clone().with_joint_kind(joint_kind).joint(&[], &never).unwrap();
        proofs_hold(&all, std::slice::from_ref(&refuted));
        assert_eq!(refuted.verdict, verdict);
        assert!(!finding(&without, &refuted.claim).holds(), "a witness of rows that do not count");
    }
}

#[test]
fn joint_witnesses_of_several_files_name_file_and_line() {
    // Pairwise separable: the witness comes from the joint search, not from a pair.
    let parts = Files::new(&[
        ("one.csv", b"x1,x2,class\n4,4,a\n2,7,a\n3,5,b\n"),
        ("two.csv", b"x1,x2,class\n0,0,b\n2,3,c\n7,5,c\n"),
    ]);
    let judge = Judge::new(parts.read(|_| ()).unwrap().data);
    let pairs = pairs(&judge);
    assert!(all_separable(&pairs));
    let joint = judge.joint(&pairs, &never).unwrap();
    let short = judge.clone().with_joint_kind(false).joint(&pairs, &never).unwrap();
    proofs_hold(&judge, &[joint.clone(), short.clone()]);
    let Claim::JointInseparable { witness } = &short.claim else { panic!("{short:?}") };
    let (Claim::JointTouching { witness: other, .. }
    | Claim::JointOverlapping { witness: other, .. }) = &joint.claim
    else {
        panic!("{joint:?}")
    };
    for entry in witness.iter().chain(other) {
        let part = usize::from(entry.row >= 3);
        let file = entry.file.as_ref().expect("several files have names");
        assert!(file.ends_with(["one.csv", "two.csv"][part]), "{file}");
        assert_eq!(entry.line, Some(entry.row - 3 * part as u64 + 2));
    }
}

#[test]
fn unknown_classes_and_equal_classes_are_refused() {
    let judge = judge(&[[0.0], [1.0], [2.0]], &["a", "b", "c"]);
    for error in [
        judge.class("d", &never).unwrap_err(),
        judge.pair("a", "d", &never).unwrap_err(),
        judge.pair("b", "b", &never).unwrap_err(),
    ] {
        assert_ne!(error.code(), Code::ONE_CLASS);
        assert!(error.to_string().len() > 10, "{error}");
    }
}
