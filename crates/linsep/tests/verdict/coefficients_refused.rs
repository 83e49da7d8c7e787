//! Claims about coefficients that are changed in one place are refused, and what is accepted is true.

use crate::coefficients::{draw, judge_of, truth};
use crate::proofs::{accepts, never};
use linsep::proof::{
    CertificateFile, Claim, Coefficient, Estimate, Estimates, ExactNumber, Multiple,
};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::Judge;
use std::collections::BTreeMap;

const WORDS: [Estimate; 5] = [
    Estimate::Finite,
    Estimate::PlusInfinity,
    Estimate::MinusInfinity,
    Estimate::Undetermined,
    Estimate::Aliased,
];

/// A proved claim with its data.
struct Case {
    judge: Judge,
    rows: Vec<Vec<i64>>,
    positive: Vec<bool>,
    claim: Claim,
}

impl Case {
    fn draw(stream: &mut Stream, bias: bool) -> Case {
        let (rows, positive) = draw(stream);
        let judge = judge_of(&rows, &positive, bias);
        let decision = judge.class("p", &never).unwrap();
        let claim = judge.coefficients(&decision, &never).unwrap().claim;
        assert!(accepts(&judge, &claim));
        Case { judge, rows, positive, claim }
    }

    fn estimates(&self) -> &Estimates {
        let Claim::Coefficients { estimates, .. } = &self.claim else { panic!() };
        estimates
    }

    /// The claim with other evidence.
    fn with(&self, change: impl FnOnce(&mut Estimates)) -> Claim {
        let mut claim = self.claim.clone();
        let Claim::Coefficients { estimates, .. } = &mut claim else { panic!() };
        change(estimates);
        claim
    }

    fn refuses(
        &self,
        what: &str,
        tally: &mut BTreeMap<String, usize>,
        change: impl FnOnce(&mut Estimates),
    ) {
        let changed = self.with(change);
        assert_ne!(changed, self.claim, "{what}");
        assert!(!accepts(&self.judge, &changed), "{what}: {:?}\n{changed:?}", self.claim);
        *tally.entry(what.to_owned()).or_default() += 1;
    }
}

fn add_one(number: &mut ExactNumber) {
    *number = match number {
        ExactNumber::Ratio(text) => ExactNumber::Ratio(raised(text)),
        ExactNumber::Binary64(x) => ExactNumber::Binary64(*x + 1.0),
    }
}

fn raised(text: &str) -> String {
    (text.parse::<dashu_int::IBig>().unwrap() + dashu_int::IBig::ONE).to_string()
}

fn negated(number: &mut ExactNumber) {
    *number = crate::claims::negative(number);
}

#[test]
fn every_other_word_and_every_other_number_is_refused() {
    let mut stream = Stream::new(61, Purpose::Generate(42));
    let mut tally = BTreeMap::new();
    for set in 0..400 {
        let case = Case::draw(&mut stream, set % 4 > 0);
        let e = case.estimates().clone();
        for (at, coefficient) in e.coefficients.iter().enumerate() {
            for word in WORDS.into_iter().filter(|word| *word != coefficient.estimate) {
                let what = format!("{} called {}", coefficient.estimate.word(), word.word());
                case.refuses(&what, &mut tally, |e| e.coefficients[at].estimate = word);
                case.refuses("another word without evidence", &mut tally, |e| {
                    e.coefficients[at] = Coefficient::new(coefficient.column, word);
                });
            }
            let rows = coefficient.combination.len();
            for k in 0..rows {
                // A single row may be taken as often as one likes.
                if rows > 1 {
                    case.refuses("a factor of a combination", &mut tally, |e| {
                        let factor = &mut e.coefficients[at].combination[k].factor;
                        *factor = raised(factor);
                    });
                    case.refuses("a row of a combination left out", &mut tally, |e| {
                        e.coefficients[at].combination.remove(k);
                    });
                }
                case.refuses("a factor turned around", &mut tally, |e| {
                    let factor = &mut e.coefficients[at].combination[k].factor;
                    *factor = format!("-{factor}").replace("--", "");
                });
                case.refuses("a row twice", &mut tally, |e| {
                    let twice = e.coefficients[at].combination[k].clone();
                    e.coefficients[at].combination.push(twice);
                });
                case.refuses("a row that is not there", &mut tally, |e| {
                    e.coefficients[at].combination[k].row = 99;
                });
            }
            if rows == 0 {
                case.refuses("a combination without need", &mut tally, |e| {
                    e.coefficients[at].combination = vec![Multiple::new(0, "1".into())];
                });
            }
            case.refuses("a coefficient left out", &mut tally, |e| {
                e.coefficients.remove(at);
            });
            case.refuses("another column", &mut tally, |e| e.coefficients[at].column = Some(77));
            case.refuses("a class", &mut tally, |e| e.coefficients[at].class = Some("p".into()));
        }
        for k in 0..e.tied.len() {
            case.refuses("a tied row against a class", &mut tally, |e| {
                e.tied[k].against = Some("n".into());
            });
            // A row of zeros is tied by itself, as often as one likes.
            if !case.judge.bias && case.rows[e.tied[k].row as usize].iter().all(|x| *x == 0) {
                continue;
            }
            case.refuses("a tied factor", &mut tally, |e| {
                e.tied[k].factor = raised(&e.tied[k].factor)
            });
            case.refuses("a tied row left out", &mut tally, |e| {
                e.tied.remove(k);
            });
        }
        for (k, vector) in e.relations.iter().enumerate() {
            for j in 0..vector.len() {
                // A column that is 0 everywhere may have any number but 0.
                if vector.len() > 1 {
                    case.refuses("a relation", &mut tally, |e| add_one(&mut e.relations[k][j].1));
                }
            }
            case.refuses("a relation left out", &mut tally, |e| {
                e.relations.remove(k);
            });
        }
        for (k, vector) in e.complement.iter().enumerate() {
            for j in 0..vector.len() {
                let free = vector.len() == 1;
                if !free {
                    case.refuses("a vector of the complement", &mut tally, |e| {
                        add_one(&mut e.complement[k][j].1);
                    });
                }
            }
            case.refuses("a vector of the complement left out", &mut tally, |e| {
                e.complement.remove(k);
            });
            case.refuses("a vector of the complement twice", &mut tally, |e| {
                e.complement.push(vector.clone());
            });
        }
        for k in 0..e.directions.len() {
            case.refuses("a direction turned around", &mut tally, |e| {
                e.directions[k].iter_mut().for_each(|(_, x)| negated(x));
            });
            case.refuses("a direction out of range", &mut tally, |e| {
                e.directions[k].push((99, ExactNumber::Ratio("1".into())));
            });
        }
        if !e.directions.is_empty() {
            case.refuses("no directions", &mut tally, |e| e.directions.clear());
        }
        for k in 0..e.independent.len() {
            case.refuses("an independent row left out", &mut tally, |e| {
                e.independent.remove(k);
            });
            case.refuses("an independent row twice", &mut tally, |e| {
                e.independent[k] = e.independent[(k + 1) % e.independent.len()];
                e.independent.push(0);
            });
        }
        case.refuses("classes of all at once", &mut tally, |e| {
            e.classes = vec!["p".into(), "n".into()]
        });
    }
    // 20 pairs of words, and each of the other changes.
    assert_eq!(tally.keys().filter(|what| what.contains(" called ")).count(), 20, "{tally:?}");
    assert!(tally.len() >= 40 && tally.values().all(|&count| count > 10), "{tally:?}");
}

#[test]
fn what_is_accepted_of_altered_data_is_true() {
    let mut stream = Stream::new(62, Purpose::Generate(43));
    let (mut accepted, mut refused) = (0, 0);
    for set in 0..600 {
        let bias = set % 4 > 0;
        let case = Case::draw(&mut stream, bias);
        let listed: Vec<Estimate> =
            case.estimates().coefficients.iter().map(|c| c.estimate).collect();
        for row in 0..case.rows.len() {
            let (mut rows, mut positive) = (case.rows.clone(), case.positive.clone());
            match set % 2 {
                0 => positive[row] = !positive[row],
                _ => rows[row][0] += stream.below(3) as i64 - 1,
            }
            if positive.iter().all(|p| *p) || !positive.contains(&true) {
                continue;
            }
            let judge = judge_of(&rows, &positive, bias);
            match accepts(&judge, &case.claim) {
                true => {
                    assert_eq!(truth(&rows, &positive, bias), listed, "{rows:?} {positive:?}");
                    accepted += 1;
                }
                false => refused += 1,
            }
        }
    }
    assert!(accepted > 100 && refused > 1000, "{accepted} {refused}");
}

#[test]
fn the_claim_goes_through_a_file_of_the_second_format_only() {
    let mut stream = Stream::new(63, Purpose::Generate(44));
    let case = Case::draw(&mut stream, true);
    let certificate = linsep::Certificate::new(vec![case.claim.clone()]);
    let identity = case.judge.data.identity(1);
    let file = CertificateFile::new(identity, case.judge.reading(), true, certificate);
    assert_eq!(file.format, "linsep.certificate/2");
    let text = file.to_json();
    assert_eq!(CertificateFile::from_json(text.as_bytes()).unwrap(), file);
    let first = text.replace("linsep.certificate/2", "linsep.certificate/1");
    let refusal = CertificateFile::from_json(first.as_bytes()).unwrap_err().to_string();
    assert!(refusal.contains("needs the format linsep.certificate/2"), "{refusal}");
}
