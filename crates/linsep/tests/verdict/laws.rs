//! Laws that hold whatever the data: another order of rows or columns, another scale, exchanged sides,
//! repeated rows, several files or threads change no verdict, and the proof of one table is the proof
//! of the other.

use crate::claims::{
    with_columns, with_names_exchanged, with_planes_negated, with_rows, with_scale, without_places,
};
use crate::files::{Files, rows_of};
use crate::proofs::{example, finding, judge, never, proofs_hold};
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Decision, Judge, Verdict};

/// A table of two classes.
#[derive(Clone, Debug)]
struct Table {
    rows: Vec<Vec<f64>>,
    labels: Vec<String>,
    bias: bool,
}

impl Table {
    /// Separable, touching and overlapping tables of up to 30 rows and 5 columns, some of them of
    /// dependent columns and equal rows.
    fn draw(stream: &mut Stream) -> Table {
        let (count, width) = (3 + stream.below(28) as usize, 1 + stream.below(5) as usize);
        let reach = 1 + stream.below(4) as i64;
        let hidden: Vec<f64> = (0..width).map(|_| stream.below(5) as f64 - 2.0).collect();
        let noise = [0.0, 0.0, 0.0, 3.0][stream.below(4) as usize];
        let mut table = Table { rows: Vec::new(), labels: Vec::new(), bias: true };
        for _ in 0..count {
            let mut row: Vec<f64> = (0..width)
                .map(|_| stream.below(2 * reach as u64 + 1) as f64 / 4.0 - reach as f64 / 4.0)
                .collect();
            if width > 3 {
                row[3] = row[0] - row[1];
            }
            let score: f64 = row.iter().zip(&hidden).map(|(x, w)| x * w).sum();
            let score = score + noise * stream.normal();
            let positive = if score == 0.0 { stream.below(2) == 0 } else { score > 0.0 };
            table.rows.push(row);
            table.labels.push(if positive { "p".into() } else { "n".into() });
        }
        (table.labels[0], table.labels[1]) = ("p".into(), "n".into());
        table.bias = stream.below(4) > 0;
        table
    }

    fn judge(&self) -> Judge {
        let mut judge = judge(&self.rows, &self.labels);
        judge.bias = self.bias;
        judge
    }

    fn width(&self) -> usize {
        self.rows[0].len()
    }
}

fn decide(judge: &Judge) -> Decision {
    let decision = judge.class("p", &never).unwrap();
    proofs_hold(judge, std::slice::from_ref(&decision));
    decision
}

/// Runs a law on many tables. The law changes a table; its second part carries the claim back.
fn law(
    seed: u64,
    mut change: impl FnMut(&mut Stream, &Table) -> (Table, Box<dyn Fn(&Decision) -> linsep::Claim>),
) {
    let mut stream = Stream::new(seed, Purpose::Generate(41));
    let mut seen = Vec::new();
    for _ in 0..250 {
        let table = Table::draw(&mut stream);
        let (other, back) = change(&mut stream, &table);
        let (original, changed) = (table.judge(), other.judge());
        let (first, second) = (decide(&original), decide(&changed));
        assert_eq!(first.verdict, second.verdict, "{table:?}");
        let claim = back(&second);
        let finding = finding(&original, &claim);
        assert!(finding.holds(), "{finding:?}\n{claim:?}\n{table:?}");
        seen.push(first.verdict);
    }
    for verdict in [Verdict::Separable, Verdict::Touching, Verdict::Overlapping] {
        let count = seen.iter().filter(|v| **v == verdict).count();
        assert!(count >= 20, "{verdict:?} {count} times of {}", seen.len());
    }
}

#[test]
fn permuted_rows_give_the_same_verdict_and_witnesses_that_map() {
    law(1, |stream, table| {
        let mut order: Vec<usize> = (0..table.rows.len()).collect();
        stream.shuffle(&mut order);
        let rows = order.iter().map(|&i| table.rows[i].clone()).collect();
        let labels = order.iter().map(|&i| table.labels[i].clone()).collect();
        let back = move |d: &Decision| with_rows(&d.claim, |row| order[row as usize] as u64);
        (Table { rows, labels, bias: table.bias }, Box::new(back))
    });
}

#[test]
fn permuted_columns_give_the_same_verdict_and_planes_that_map() {
    law(2, |stream, table| {
        let width = table.width();
        let mut order: Vec<usize> = (0..width).collect();
        stream.shuffle(&mut order);
        let moved = |row: &Vec<f64>| order.iter().map(|&j| row[j]).collect();
        let rows = table.rows.iter().map(moved).collect();
        let mut inverse = vec![0; width];
        order.iter().enumerate().for_each(|(new, &old)| inverse[old] = new);
        let bias = table.bias;
        let back = move |d: &Decision| with_columns(&d.claim, &inverse, bias);
        (Table { rows, ..table.clone() }, Box::new(back))
    });
}

#[test]
fn columns_scaled_by_powers_of_two_give_the_same_verdict_and_planes_that_map() {
    law(3, |stream, table| {
        let powers: Vec<i32> = (0..table.width()).map(|_| stream.below(61) as i32 - 30).collect();
        let scaled =
            |row: &Vec<f64>| row.iter().zip(&powers).map(|(x, p)| x * 2f64.powi(*p)).collect();
        let rows = table.rows.iter().map(scaled).collect();
        let bias = table.bias;
        let back = move |d: &Decision| with_scale(&d.claim, &powers, bias);
        (Table { rows, ..table.clone() }, Box::new(back))
    });
}

#[test]
fn flipped_labels_give_the_same_verdict_and_claims_with_their_names_exchanged() {
    law(4, |_, table| {
        let flip = |label: &String| if label == "p" { "n".to_owned() } else { "p".to_owned() };
        let labels = table.labels.iter().map(flip).collect();
        // Where the flipped table says p the other says n: the rows of each side are the same.
        let back = |d: &Decision| with_names_exchanged(&d.claim);
        (Table { labels, ..table.clone() }, Box::new(back))
    });
}

#[test]
fn the_other_class_as_positive_gives_the_same_verdict_and_the_mirrored_claim() {
    let mut stream = Stream::new(5, Purpose::Generate(41));
    for _ in 0..100 {
        let judge = Table { bias: true, ..Table::draw(&mut stream) }.judge();
        let (p, n) = (decide(&judge), judge.class("n", &never).unwrap());
        assert_eq!(p.verdict, n.verdict);
        for (claim, problem) in [(&p.claim, &n.problem), (&n.claim, &p.problem)] {
            let mirrored = with_planes_negated(&with_names_exchanged(claim));
            assert_eq!(mirrored.problem(), problem.as_ref());
            assert!(finding(&judge, &mirrored).holds(), "{mirrored:?}");
        }
    }
}

#[test]
fn repeated_rows_give_the_same_verdict_and_witnesses_that_fold() {
    law(6, |stream, table| {
        let count = table.rows.len() as u64;
        let mut origin: Vec<u64> = (0..count).collect();
        origin.extend((0..1 + stream.below(40)).map(|_| stream.below(count)));
        stream.shuffle(&mut origin);
        let rows = origin.iter().map(|&i| table.rows[i as usize].clone()).collect();
        let labels = origin.iter().map(|&i| table.labels[i as usize].clone()).collect();
        let back = move |d: &Decision| with_rows(&d.claim, |row| origin[row as usize]);
        (Table { rows, labels, bias: table.bias }, Box::new(back))
    });
}

#[test]
fn the_irises_and_wines_in_any_order_keep_their_verdicts() {
    let mut stream = Stream::new(7, Purpose::Generate(41));
    for name in ["iris.csv", "wine.csv"] {
        let data = example(name);
        let (rows, count) = (rows_of(&data), data.n_rows());
        let labels: Vec<&str> = (0..count).map(|row| data.label_text(row)).collect();
        let original = judge(&rows, &labels);
        let mut classes = labels.clone();
        classes.sort_unstable();
        classes.dedup();
        let [a, b, c] = classes[..] else { panic!("{name}: {classes:?}") };
        let mut order: Vec<usize> = (0..count).collect();
        stream.shuffle(&mut order);
        let rows: Vec<Vec<f64>> = order.iter().map(|&i| rows[i].clone()).collect();
        let labels: Vec<&str> = order.iter().map(|&i| labels[i]).collect();
        let shuffled = judge(&rows, &labels);
        let ask = |judge: &Judge| -> Vec<Decision> {
            let mut all: Vec<Decision> = Vec::new();
            for (first, second) in [(a, b), (a, c), (b, c)] {
                all.push(judge.pair(first, second, &never).unwrap());
            }
            all.push(judge.joint(&all, &never).unwrap());
            all.extend([a, b, c].map(|class| judge.class(class, &never).unwrap()));
            proofs_hold(judge, &all);
            all
        };
        for (first, second) in ask(&original).iter().zip(ask(&shuffled)) {
            assert_eq!(first.verdict, second.verdict, "{name}");
            let mapped = with_rows(&second.claim, |row| order[row as usize] as u64);
            assert!(finding(&original, &mapped).holds(), "{name}: {mapped:?}");
        }
    }
}

#[test]
fn several_files_are_one_table_and_their_witnesses_name_file_and_line() {
    let mut stream = Stream::new(8, Purpose::Generate(41));
    for _ in 0..40 {
        let table = Table { bias: true, ..Table::draw(&mut stream) };
        let header: Vec<String> = (0..table.width()).map(|j| format!("f{j}")).collect();
        let header = format!("{},label\n", header.join(","));
        let line = |i: usize| {
            let cells: Vec<String> = table.rows[i].iter().map(f64::to_string).collect();
            format!("{},{}\n", cells.join(","), table.labels[i])
        };
        let text =
            |range: std::ops::Range<usize>| header.clone() + &range.map(line).collect::<String>();
        let count = table.rows.len();
        let cuts = [0, 1 + stream.below(count as u64 - 1) as usize, count];
        let whole = Files::new(&[("all.csv", text(0..count).as_bytes())]);
        let parts = Files::new(&[
            ("part-a.csv", text(cuts[0]..cuts[1]).as_bytes()),
            ("part-b.csv", text(cuts[1]..cuts[2]).as_bytes()),
        ]);
        let [one, several] = [&whole, &parts].map(|f| Judge::new(f.read(|_| ()).unwrap().data));
        assert_eq!(one.data.digest(1), several.data.digest(1));
        let (first, second) = (decide(&one), decide(&several));
        assert_eq!(first.verdict, second.verdict);
        assert_eq!(without_places(&first.claim), without_places(&second.claim));
        assert!(finding(&one, &second.claim).holds() && finding(&several, &first.claim).holds());
        let mut claim = second.claim;
        crate::claims::for_witness(&mut claim, |witness| {
            for entry in witness {
                let part = usize::from(entry.row as usize >= cuts[1]);
                let file = entry.file.as_ref().expect("several files have names");
                assert!(file.ends_with(["part-a.csv", "part-b.csv"][part]), "{file}");
                assert_eq!(entry.line, Some(entry.row - cuts[part] as u64 + 2));
            }
        });
    }
}

#[test]
fn threads_change_no_bit_of_a_claim() {
    let mut stream = Stream::new(9, Purpose::Generate(41));
    let hidden: Vec<f64> = (0..6).map(|_| stream.normal()).collect();
    let rows: Vec<Vec<f64>> = (0..20_000)
        .map(|_| (0..6).map(|_| stream.below(4_001) as f64 - 2_000.0).collect())
        .collect();
    let score = |row: &Vec<f64>| row.iter().zip(&hidden).map(|(x, w)| x * w).sum::<f64>();
    let split = |row: &Vec<f64>| if score(row) > 0.0 { "p" } else { "n" };
    let clean: Vec<&str> = rows.iter().map(split).collect();
    let mut flipped = clean.clone();
    let nearest = (0..rows.len()).max_by(|&a, &b| score(&rows[a]).total_cmp(&score(&rows[b])));
    flipped[nearest.unwrap()] = "n";
    let thirds: Vec<&str> = rows
        .iter()
        .map(|row| ["x", "y", "p"][((score(row) / 2_000.0 + 1.5) as usize).min(2)])
        .collect();
    let mut verdicts = Vec::new();
    for labels in [&clean, &flipped, &thirds] {
        let answers = [1, 2, 3].map(|threads| {
            let mut judge = judge(&rows, labels);
            judge.threads = threads;
            let decision = judge.class("p", &never).unwrap();
            proofs_hold(&judge, std::slice::from_ref(&decision));
            (decision.verdict, decision.claim, decision.passes, decision.exact_decisions)
        });
        assert!(answers[0] == answers[1] && answers[0] == answers[2]);
        verdicts.push(answers[0].0);
    }
    assert_eq!(verdicts, [Verdict::Separable, Verdict::Overlapping, Verdict::Separable]);
}
