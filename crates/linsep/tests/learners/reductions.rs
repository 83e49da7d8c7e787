//! K classes by separate machines: each scheme against its definition, written out again by brute
//! force, and against what it is a reduction to.

use crate::support::{Table, bits, epochs, fit, table, tables, variants_of};
use linsep::learn::perceptron::Perceptron;
use linsep::learn::voted::Voted;
use linsep::proof::{Scheme, check_claim};
use linsep::rng::{Purpose, Stream};
use linsep::run::reduction::{OneVsOne, OneVsRest, OneVsRestLast};
use linsep::{
    Ballot, Budget, Claim, Dataset, Learner, Limits, LinearModel, Plane, Rule, State, Status, Stop,
    Task, Training, drive,
};
use std::collections::BTreeMap;

fn model(rule: Rule, planes: &[(&[f64], f64)], classes: &[&str]) -> LinearModel {
    let width = planes[0].0.len();
    LinearModel::new(
        planes.iter().map(|(w, b)| Plane::new(w.to_vec(), *b)).collect(),
        rule,
        classes.iter().map(|class| (*class).to_owned()).collect(),
        linsep::data::input::InputMap::plain(width),
    )
}

/// A model whose scores are given directly: only its rule is used.
fn rule_only(rule: Rule, classes: usize) -> LinearModel {
    let names: Vec<String> = (0..classes).map(|k| format!("c{k}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let scores = rule.n_scores(classes);
    model(rule, &vec![(&[][..], 0.0); scores], &names)
}

/// Scores among which ties are common.
fn coarse(stream: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| stream.below(7) as f64 - 3.0).collect()
}

#[test]
fn votes_are_counted_as_by_hand() {
    let mut stream = Stream::new(1, Purpose::Generate(9));
    let (mut ties, mut open) = (0, 0);
    for round in 0..4000 {
        let classes = 3 + round % 4;
        let model = rule_only(Rule::Vote, classes);
        let scores = coarse(&mut stream, classes * (classes - 1) / 2);
        // By how much the first class of a pair is ahead of the second.
        let mut ahead = BTreeMap::new();
        let pairs = (0..classes).flat_map(|i| (i + 1..classes).map(move |j| (i, j)));
        for ((i, j), score) in pairs.zip(&scores) {
            ahead.insert((j, i), *score);
            ahead.insert((i, j), -score);
        }
        let rivals = |i: usize| (0..classes).filter(move |&j| j != i);
        let beats = |i: usize, j: usize| {
            if i > j { ahead[&(i, j)] >= 0.0 } else { ahead[&(i, j)] > 0.0 }
        };
        let won = |i: usize| rivals(i).filter(|&j| beats(i, j)).count();
        let sum = |i: usize| rivals(i).map(|j| ahead[&(i, j)]).sum::<f64>();
        let most = (0..classes).map(won).max().unwrap();
        let leaders: Vec<usize> = (0..classes).filter(|&i| won(i) == most).collect();
        let largest = leaders.iter().map(|&i| sum(i)).fold(f64::NEG_INFINITY, f64::max);
        let expected = leaders.iter().copied().find(|&i| sum(i) == largest).unwrap();
        assert_eq!(model.class_of(&scores) as usize, expected, "{scores:?}");
        let all_duels = (0..classes).any(|i| won(i) == classes - 1);
        assert_eq!(model.is_ambiguous(&scores), !all_duels, "{scores:?}");
        assert!(all_duels || most < classes - 1);
        ties += u32::from(leaders.len() > 1);
        open += u32::from(!all_duels);
    }
    assert!(ties > 100 && open > 100, "{ties} ties, {open} open: the test tests little");
}

#[test]
fn machines_against_the_rest_claim_as_by_hand() {
    // (scores, class of ovr, ambiguous, class of K - 1 machines, ambiguous)
    let cases: [(&[f64], u32, bool, u32, bool); 8] = [
        (&[1.0, -1.0, -2.0], 0, false, 0, false),
        (&[-1.0, -2.0, 0.5], 2, false, 3, false),
        (&[-3.0, -1.0, -2.0], 1, true, 3, false),
        (&[1.0, 2.0, -1.0], 1, true, 1, true),
        (&[0.0, -1.0, -1.0], 0, false, 0, false),
        (&[2.0, 2.0, 2.0], 0, true, 0, true),
        (&[-0.0, -1.0, -1.0], 0, false, 0, false),
        (&[f64::NAN, 1.0, -1.0], 0, true, 0, true),
    ];
    let (rest, last) = (rule_only(Rule::Rest, 3), rule_only(Rule::RestLast, 4));
    for (scores, class, open, class_of_fewer, open_of_fewer) in cases {
        if !scores[0].is_nan() {
            assert_eq!((rest.class_of(scores), rest.is_ambiguous(scores)), (class, open));
            if scores != [-1.0, -2.0, 0.5] {
                let found = (last.class_of(scores), last.is_ambiguous(scores));
                assert_eq!(found, (class_of_fewer, open_of_fewer), "{scores:?}");
            }
        }
        assert_eq!(rest.is_ambiguous(scores), open, "{scores:?}");
        assert_eq!(last.is_ambiguous(scores), open_of_fewer, "{scores:?}");
    }
    assert_eq!(last.class_of(&[-1.0, -2.0, 0.5]), 2);
    let (one, joint) = (rule_only(Rule::Sign, 2), rule_only(Rule::ArgMax, 3));
    assert!(one.is_ambiguous(&[0.0]) && one.is_ambiguous(&[-0.0]) && !one.is_ambiguous(&[1e-300]));
    assert!(joint.is_ambiguous(&[1.0, 2.0, 2.0]) && !joint.is_ambiguous(&[1.0, 1.0, 2.0]));
    assert!(joint.is_ambiguous(&[f64::NAN, 1.0, 2.0]));
}

/// Three machines on a line: x ≥ 4, x ≤ -4, and |x| ≤ 1 is claimed by none of them.
#[test]
fn ambiguous_rows_are_counted_and_resolved() {
    let machines =
        model(Rule::Rest, &[(&[1.0], -4.0), (&[-1.0], -4.0), (&[1.0], -8.0)], &["a", "b", "c"]);
    let rows = [[5.0], [-5.0], [9.0], [0.0], [-0.5], [2.0]];
    // 5: a alone. -5: b alone. 9: a and c, a wins. 0: none, a. -0.5: none, b. 2: none, a.
    let data = Dataset::from_rows(&rows, &["a", "b", "c", "a", "a", "c"]).unwrap();
    let found = machines.evaluate(&data, None, 1);
    let ambiguous = found.ambiguous.unwrap();
    assert_eq!((found.errors, ambiguous.rows, ambiguous.errors), (3, 4, 3));
    assert_eq!(machines.evaluate(&data, None, 3), found);
    let joint = machines.clone().with_rule(Rule::ArgMax);
    let same = joint.evaluate(&data, None, 1);
    assert_eq!((same.errors, same.ambiguous), (3, None));
    let fewer = model(Rule::RestLast, &[(&[1.0], -4.0), (&[-1.0], -4.0)], &["a", "b", "c"]);
    let found = fewer.evaluate(&data, None, 1);
    // 9 goes to a; 0, -0.5 and 2 to the last class.
    assert_eq!((found.errors, found.ambiguous.unwrap().rows), (3, 0));
}

/// Every scheme of two classes is the learner itself, and a duel of K classes is the learner on a
/// table that holds these two classes only.
#[test]
fn a_duel_is_the_learner_on_its_two_classes() {
    let uneven = uneven();
    for table in tables().iter().chain([&uneven]) {
        let task = table.task();
        let classes = task.data.classes().to_vec();
        for variant in variants_of(&["multiclass", "order", "scale", "class-weight", "verdict"]) {
            let scheme = variant.value("multiclass");
            if !variant.accepts(&task) {
                continue;
            }
            // The machine of Crammer and Singer has a loss of its own, also for two classes.
            let own = ["joint", "crammer-singer"];
            if classes.len() == 2 && scheme.is_some_and(|scheme| !own.contains(&scheme)) {
                let joint = !["voted", "romma", "logistic", "svm", "hard-margin"]
                    .contains(&variant.recipe.name);
                let alone = if joint { "joint" } else { "ovr" };
                let plain = fit(variant.learner_with("multiclass", alone).as_ref(), &task);
                let found = fit(variant.learner().as_ref(), &task);
                assert_eq!(bits(&found.model), bits(&plain.model), "{}", variant.words());
                assert_eq!(found.model.rule, plain.model.rule, "{}", variant.words());
            }
            if classes.len() == 2 || scheme != Some("ovo") {
                continue;
            }
            let found = fit(variant.learner().as_ref(), &task).model;
            let mut planes = Vec::new();
            for i in 0..classes.len() {
                for j in i + 1..classes.len() {
                    let pair =
                        |row: usize| [&classes[i], &classes[j]].contains(&&table.labels[row]);
                    let part = table.filter(pair).task();
                    planes.extend(fit(variant.learner().as_ref(), &part).model.planes);
                }
            }
            let expected = found.clone().with_planes(planes);
            assert_eq!(
                crate::support::numbers(&found, |x| x),
                crate::support::numbers(&expected, |x| x),
                "{}, {}",
                table.name,
                variant.words()
            );
        }
    }
}

/// Classes of 30, 12 and 5 rows.
fn uneven() -> Table {
    let mut table = table("uneven", (47, 3, 3), 0.4, |s| s.below(31) as f64 - 15.0);
    let mut order: Vec<usize> = (0..47).collect();
    order.sort_by_key(|&i| table.labels[i].clone());
    for (place, row) in order.into_iter().enumerate() {
        table.labels[row] =
            ["ant", "bee", "cat"][usize::from(place >= 30) + usize::from(place >= 42)].into();
    }
    table
}

fn sight(training: &dyn Training) -> (Vec<u64>, linsep::Progress, Vec<u8>) {
    (bits(&training.model()), training.progress(), training.save().as_bytes().to_vec())
}

/// Machines with few rows wait for those with many; that must not show in pauses, in saved states or
/// in limits.
#[test]
fn machines_of_different_size_keep_step() {
    let task = uneven().task();
    for variant in variants_of(&["multiclass", "order", "verdict"]) {
        if variant.value("multiclass").is_none() || !variant.accepts(&task) {
            continue;
        }
        let (learner, words) = (variant.learner(), variant.words());
        let start = || learner.start(&task).unwrap();
        let mut large = start();
        let mut small = start();
        let visits = 3 * large.epoch_rows() + 7;
        let end = large.advance(Budget::visits(visits));
        let steps: Vec<Status> = (0..visits).map(|_| small.advance(Budget::visits(1))).collect();
        assert_eq!(steps.last(), Some(&end), "{words}");
        assert_eq!(sight(large.as_ref()), sight(small.as_ref()), "{words}");
        let (mut pieces, mut stream) = (start(), Stream::new(3, Purpose::Generate(1)));
        loop {
            let left = visits - pieces.progress().visits.min(visits);
            let status = pieces.advance(Budget::visits(left.min(stream.below(40))));
            if left == 0 || status != Status::Running {
                break;
            }
            let kept = State::from_bytes(pieces.save().as_bytes().to_vec());
            pieces = start();
            pieces.restore(&kept).unwrap();
        }
        assert_eq!(sight(large.as_ref()), sight(pieces.as_ref()), "{words}");
        for limit in [0, 1, 3] {
            let found = learner.fit(&task, &epochs(limit), &mut ()).unwrap();
            if found.stop == Stop::Epochs {
                assert_eq!(found.progress.epochs, limit, "{words}");
            }
        }
        for limit in [0, 1, 2, 7, 19] {
            let limits = Limits::default().with_epochs(Some(1000)).with_updates(Some(limit));
            let found = learner.fit(&task, &limits, &mut ()).unwrap();
            if found.stop == Stop::Updates {
                assert_eq!(found.progress.updates, limit, "{words}");
            }
        }
    }
}

/// On a line the middle class cannot be separated from the rest, but every pair can, and says so.
#[test]
fn duels_are_proved_as_pairs() {
    let rows: Vec<[f64; 1]> = (0..30).map(|i| [f64::from(i) + f64::from(i / 10) * 5.0]).collect();
    let labels: Vec<&str> = (0..30).map(|i| ["low", "middle", "top"][i / 10]).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let task = Task::new(data.clone());
    let rest = OneVsRest(Perceptron::default()).fit(&task, &Limits::default(), &mut ()).unwrap();
    assert_eq!(rest.stop, Stop::Epochs);
    let fit = OneVsOne(Perceptron::default()).fit(&task, &epochs(5000), &mut ()).unwrap();
    assert_eq!((fit.stop, fit.model.rule.clone()), (Stop::Finished, Rule::Vote));
    let found = fit.model.evaluate(&data, None, 1);
    assert_eq!((found.errors, found.ambiguous.unwrap().rows), (0, 0));
    let mut pairs = Vec::new();
    for claim in &fit.certificate.claims {
        assert!(matches!(claim, Claim::Separable { .. }), "{claim:?}");
        assert!(check_claim(claim, &data, &data.reading_field(), true, 1).holds());
        let problem = claim.problem().unwrap();
        assert_eq!(problem.scheme, Scheme::Pair);
        pairs.push((problem.negative[0].as_str(), problem.positive[0].as_str()));
    }
    assert_eq!(pairs, [("low", "middle"), ("low", "top"), ("middle", "top")]);
}

/// A pair that no plane separates is refuted as a pair, whatever the other classes do.
#[test]
fn a_duel_that_cannot_be_won_is_refuted_as_a_pair() {
    let rows = [[0., 0.], [1., 1.], [0., 1.], [1., 0.], [9., 9.], [9., 8.]];
    let data = Dataset::from_rows(&rows, &["a", "a", "b", "b", "c", "c"]).unwrap();
    let learner = OneVsOne(linsep::learn::perceptron::Deciding(Perceptron::default()));
    let fit = learner.fit(&Task::new(data.clone()), &Limits::default(), &mut ()).unwrap();
    let kinds: Vec<&str> = fit.certificate.claims.iter().map(Claim::name).collect();
    assert_eq!(kinds, ["inseparable", "separable", "separable"]);
    for claim in &fit.certificate.claims {
        assert_eq!(claim.problem().unwrap().scheme, Scheme::Pair);
        assert!(check_claim(claim, &data, &data.reading_field(), true, 1).holds());
    }
    let part = Task::new(data.clone()).with_rows(Some([0u32, 2, 4, 5].into()));
    let fit = learner.fit(&part, &Limits::default(), &mut ()).unwrap();
    // Of rows that were not learned from nothing is claimed, unless it holds for them too.
    for claim in &fit.certificate.claims {
        let finding = check_claim(claim, &data, &data.reading_field(), true, 1);
        assert!(finding.holds() || matches!(claim, Claim::Unproved { .. }), "{claim:?}");
    }
    assert!(matches!(fit.certificate.claims[0], Claim::Unproved { .. }));
}

/// A pair without rows has nothing to learn and stands in nobody's way.
#[test]
fn a_duel_without_rows_is_harmless() {
    let rows = [[0.], [1.], [5.], [6.], [9.], [12.]];
    let data = Dataset::from_rows(&rows, &["a", "a", "b", "b", "c", "d"]).unwrap();
    let task = Task::new(data).with_rows(Some([0u32, 1, 2, 3].into()));
    for variant in variants_of(&["multiclass", "order", "scale", "verdict", "class-weight"]) {
        if variant.value("multiclass").is_some() && variant.accepts(&task) {
            let found = fit(variant.learner().as_ref(), &task);
            let planes = found.model.planes.iter();
            let mut numbers = planes.flat_map(|plane| plane.weights.iter().chain([&plane.bias]));
            assert!(numbers.all(|x| x.is_finite()), "{}", variant.words());
            assert_eq!(found.model.predict(&[0.5]).unwrap(), found.model.predict(&[0.25]).unwrap());
            let ends = variant.is("multiclass", &["ovo"]) && variant.recipe.name == "perceptron";
            if ends {
                let found = variant.learner().fit(&task, &epochs(2000), &mut ()).unwrap();
                assert_eq!(found.stop, Stop::Finished, "{}", variant.words());
            }
        }
    }
}

#[test]
fn one_versus_one_has_a_limit_on_classes() {
    let rows: Vec<[f64; 1]> = (0..300).map(|i| [f64::from(i)]).collect();
    let labels: Vec<String> = (0..300).map(|i| format!("c{i}")).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let error = OneVsOne(Perceptron::default()).start(&Task::new(data.clone())).err().unwrap();
    assert!(error.to_string().contains("44850 planes"), "{error}");
    assert!(OneVsRestLast(Perceptron::default()).start(&Task::new(data)).is_ok());
}

/// The regions of an argmax are convex: on the way between two points of a class nothing changes.
/// Small whole numbers and sixteenths of the way make every score exact.
#[test]
fn the_label_is_constant_between_two_points_of_a_region() {
    let mut stream = Stream::new(5, Purpose::Generate(81));
    let mut small = |count: usize| -> Vec<f64> {
        (0..count).map(|_| 16.0 * (stream.below(19) as f64 - 9.0)).collect()
    };
    let (mut walks, mut bent) = (0, 0);
    for round in 0..300 {
        let (width, classes) = (1 + round % 3, 3 + round % 4);
        let names = ["a", "b", "c", "d", "e", "f"];
        let planes: Vec<(Vec<f64>, f64)> =
            (0..classes).map(|_| (small(width), small(1)[0])).collect();
        let planes: Vec<(&[f64], f64)> = planes.iter().map(|(w, b)| (&w[..], *b)).collect();
        let argmax = model(Rule::ArgMax, &planes, &names[..classes]);
        let rest = argmax.clone().with_rule(Rule::Rest);
        let ends: Vec<Vec<f64>> = (0..20).map(|_| small(width)).collect();
        let open = |model: &LinearModel, x: &[f64]| model.is_ambiguous(&model.scores(x).unwrap());
        for (p, q) in ends.iter().zip(&ends[1..]) {
            let way = |k: u32| -> Vec<f64> {
                let part = f64::from(k) / 16.0;
                p.iter().zip(q).map(|(a, b)| a + part * (b - a)).collect()
            };
            if argmax.predict(p).unwrap() == argmax.predict(q).unwrap() {
                walks += 1;
                assert!(
                    (0..=16)
                        .all(|k| argmax.predict(&way(k)).unwrap() == argmax.predict(p).unwrap())
                );
            }
            let clear = !open(&rest, p)
                && !open(&rest, q)
                && rest.predict(p).unwrap() == rest.predict(q).unwrap();
            bent += u32::from(clear && (0..=16).any(|k| open(&rest, &way(k))));
        }
    }
    assert!(walks > 1000, "only {walks} walks");
    // What one machine alone claims is an intersection of half-spaces too.
    assert_eq!(bent, 0);
}

#[test]
fn a_boundary_is_where_two_scores_are_equal() {
    let names = ["a", "b", "c"];
    let planes: [(&[f64], f64); 3] = [(&[1.0, 0.0], 0.0), (&[0.0, 2.0], 1.0), (&[-1.0, -1.0], 5.0)];
    let argmax = model(Rule::ArgMax, &planes, &names);
    let boundary = argmax.boundary((0, 2)).unwrap();
    assert_eq!(boundary, Plane::new(vec![-2.0, -1.0], 5.0));
    let fewer = model(Rule::RestLast, &planes[..2], &names);
    assert_eq!(fewer.boundary((1, 2)), Some(Plane::new(vec![0.0, -2.0], -1.0)));
    let duels = model(Rule::Vote, &planes, &names);
    assert_eq!(duels.boundary((1, 2)), Some(duels.planes[2].clone()));
    let ballot = Rule::Ballot(Ballot::new(vec![vec![1]; 3], Rule::Rest));
    assert_eq!(model(ballot, &planes, &names).boundary((0, 1)), None);
}

/// As far as its lead a row keeps its class, in every direction.
#[test]
fn a_lead_is_a_distance_within_which_nothing_changes() {
    let mut stream = Stream::new(6, Purpose::Generate(82));
    for round in 0..400 {
        let classes = 3 + round % 3;
        let names = ["a", "b", "c", "d", "e"];
        for rule in [Rule::ArgMax, Rule::Rest, Rule::RestLast, Rule::Vote] {
            let mut number = || stream.normal();
            let planes: Vec<([f64; 2], f64)> =
                (0..rule.n_scores(classes)).map(|_| ([number(), number()], number())).collect();
            let planes: Vec<(&[f64], f64)> = planes.iter().map(|(w, b)| (&w[..], *b)).collect();
            let model = model(rule.clone(), &planes, &names[..classes]);
            let (leads, x) = (model.leads().unwrap(), [number(), number()]);
            let lead = leads.of(&model.scores(&x).unwrap());
            assert!(lead.is_finite());
            if lead <= 0.0 {
                assert!(rule == Rule::Vote && model.is_ambiguous(&model.scores(&x).unwrap()));
                continue;
            }
            let around = |distance: f64| {
                (0..720)
                    .map(move |k| (f64::from(k) * std::f64::consts::PI / 360.0).sin_cos())
                    .map(move |(s, c)| [x[0] + distance * c, x[1] + distance * s])
            };
            assert!(
                around(0.999 * lead)
                    .all(|y| model.predict(&y).unwrap() == model.predict(&x).unwrap())
            );
            if rule != Rule::Vote {
                assert!(
                    around(1.02 * lead)
                        .any(|y| model.predict(&y).unwrap() != model.predict(&x).unwrap())
                );
            }
        }
    }
    let one = model(Rule::Sign, &[(&[3.0, 4.0], 5.0)], &["no", "yes"]);
    let leads = one.leads().unwrap();
    assert_eq!(leads.of(&one.scores(&[1.0, 1.0]).unwrap()), 12.0 / 5.0);
    assert_eq!(leads.of(&[-10.0]), 2.0);
    let flat = model(Rule::Sign, &[(&[0.0, 0.0], 5.0)], &["no", "yes"]);
    assert_eq!(flat.leads().unwrap().of(&[5.0]), f64::INFINITY);
    let huge = model(Rule::Sign, &[(&[3e300, 4e300], 0.0)], &["no", "yes"]);
    assert_eq!(huge.leads().unwrap().of(&[5e300]), 1.0);
}

/// The planes after every visit, one vote each, as Freund and Schapire count them.
#[test]
fn the_ballot_is_the_vote_of_all_planes_that_there_were() {
    for table in tables().into_iter().filter(|table| table.labels.iter().all(|l| l.as_str() < "c"))
    {
        let task = table.task();
        let mut voted = Voted::default();
        voted.most = 100_000;
        let mut ballot = voted.start(&task).unwrap();
        let mut plain = voted.run.start(&task).unwrap();
        let mut planes: Vec<LinearModel> = Vec::new();
        for _ in 0..3 * plain.epoch_rows() + 11 {
            let before = plain.progress().visits;
            plain.advance(Budget::visits(1));
            ballot.advance(Budget::visits(1));
            if plain.progress().visits > before {
                planes.push(plain.model());
            }
            let model = ballot.model();
            let Rule::Ballot(Ballot { votes, .. }) = &model.rule else { panic!() };
            assert_eq!(votes[0].iter().sum::<u64>(), planes.len() as u64, "{}", table.name);
        }
        let model = ballot.model();
        for row in &table.rows {
            let sign =
                |plane: &LinearModel| if plane.scores(row).unwrap()[0] >= 0.0 { 1.0 } else { -1.0 };
            let lead: f64 = planes.iter().map(sign).sum();
            assert_eq!(model.scores(row).unwrap(), [lead / planes.len() as f64], "{}", table.name);
        }
    }
}

#[test]
fn a_short_ballot_keeps_the_planes_with_the_most_votes() {
    let task = crate::support::overlapping().task();
    let ballot = |most| {
        let mut voted = Voted::default();
        voted.most = most;
        let fit = voted.fit(&task, &epochs(7), &mut ()).unwrap();
        let Rule::Ballot(Ballot { votes, .. }) = fit.model.rule else { panic!() };
        votes[0].iter().copied().zip(fit.model.planes).collect::<Vec<(u64, Plane)>>()
    };
    let all = ballot(100_000);
    assert!(all.len() > 30);
    for most in [1, 2, 5, 30] {
        // Newest first among equals, then back into the order of their making.
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&k| std::cmp::Reverse((all[k].0, k)));
        order.truncate(most);
        order.sort_unstable();
        let expected: Vec<(u64, Plane)> = order.iter().map(|&k| all[k].clone()).collect();
        assert_eq!(ballot(most), expected, "{most} planes");
    }
}

/// Only a plane that outvotes all others together can speak for the ballot.
#[test]
fn a_ballot_is_proved_only_through_the_plane_that_decides_it() {
    let rows: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i % 8), f64::from(i % 5)]).collect();
    let side = |row: &[f64; 2]| if row[0] + row[1] > 5.5 { "yes" } else { "no" };
    let labels: Vec<&str> = rows.iter().map(side).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    let mut training = Voted::default().start(&Task::new(data.clone())).unwrap();
    let (mut proved, mut open) = (0, 0);
    for _ in 0..5000 {
        let status = training.advance(Budget::visits(10));
        let model = training.model();
        let claims = training.certificate().claims;
        match (&claims[0], model.deciding_plane()) {
            (Claim::Separable { .. }, Some(_)) => {
                assert_eq!(model.evaluate(&data, None, 1).errors, 0);
                proved += 1;
            }
            (Claim::Unproved { reason }, plane) => {
                assert_eq!(reason.contains("more than half"), plane.is_none());
                open += 1;
            }
            (claim, plane) => panic!("{claim:?} {plane:?}"),
        }
        if status != Status::Running {
            break;
        }
    }
    assert!(open > 0 && proved + open > 3, "{proved} proved, {open} open");
    let votes = Rule::Ballot(Ballot::new(vec![vec![3, 1, 1]], Rule::Sign));
    let planes: [(&[f64], f64); 3] = [(&[1.0], 0.0), (&[2.0], 0.0), (&[3.0], 0.0)];
    let decided = model(votes, &planes, &["a", "b"]);
    assert_eq!(decided.deciding_plane(), Some(&decided.planes[0]));
    let votes = Rule::Ballot(Ballot::new(vec![vec![2, 1, 1]], Rule::Sign));
    assert_eq!(decided.with_rule(votes).deciding_plane(), None);
}

/// Ballots under every scheme: what a machine says is what its planes say.
#[test]
fn ballots_of_several_classes_score_machine_by_machine() {
    let task = uneven().task();
    for (name, learner) in [
        ("ovr", Box::new(OneVsRest(Voted::default())) as Box<dyn Learner>),
        ("last", Box::new(OneVsRestLast(Voted::default()))),
        ("ovo", Box::new(OneVsOne(Voted::default()))),
    ] {
        let mut training = learner.start(&task).unwrap();
        drive(training.as_mut(), &epochs(3), &mut ());
        let model = training.model();
        let Rule::Ballot(Ballot { votes, rule, .. }) = &model.rule else { panic!() };
        assert_eq!(votes.len(), rule.n_scores(3), "{name}");
        for row in &uneven().rows {
            let mut from = 0;
            let scores = model.scores(row).unwrap();
            for (votes, score) in votes.iter().zip(&scores) {
                let planes = model.planes[from..from + votes.len()].to_vec();
                let one = vec![votes.clone()];
                let part = model
                    .clone()
                    .with_planes(planes)
                    .with_rule(Rule::Ballot(Ballot::new(one, Rule::Sign)));
                assert_eq!(part.scores(row).unwrap()[0], *score, "{name}");
                assert!(score.abs() <= 1.0);
                from += votes.len();
            }
            let plain = model.clone().with_rule((**rule).clone());
            assert_eq!(model.class_of(&scores), plain.class_of(&scores), "{name}");
        }
    }
}
