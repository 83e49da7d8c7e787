//! Rounds over blocks in separate processes give the bits of one process, whoever works on which block.
//!
//! The test starts itself again as a worker: the environment says where the task and the answers are.

use linsep::data::read::{ReadOptions, read};
use linsep::learn::logistic::Logistic;
use linsep::rng::{Purpose, Stream};
use linsep::verdict::{Judge, Verdict};
use linsep::worker::{
    ActiveRows, Collected, Coordinator, NewtonStep, Statistics, Violators, Worker,
};
use linsep::{Learner, Limits, Task};
use std::path::Path;
use std::process::Command;

const TABLE: &str = "LINSEP_TEST_TABLE";
const KIND: &str = "LINSEP_TEST_KIND";
const BLOCKS: &str = "LINSEP_TEST_BLOCKS";
const ANSWERS: &str = "LINSEP_TEST_ANSWERS";

/// 20,000 rows of six columns: decimals, integers and many digits. A plane separates them, or the first two
/// rows are one point with both labels.
fn write_table(path: &Path, separable: bool) {
    let mut stream = Stream::new(11, Purpose::Generate(3));
    let mut text = String::from("a,b,c,d,e,f,label\n");
    if !separable {
        text += "0.5,0.25,0,1,0,0,up\n0.5,0.25,0,1,0,0,down\n";
    }
    for _ in 0..20_000 {
        let x: Vec<f64> = (0..6).map(|_| stream.normal()).collect();
        let [a, b, c] = [x[0], x[1], x[2]].map(|x| (100.0 * x).round() / 100.0);
        let score = a - 2.0 * b + 0.5 * c + 0.3;
        // Rows next to the plane go away from it.
        let (label, a) = if score > 0.0 { ("up", a + 0.05) } else { ("down", a - 0.05) };
        text += &format!("{a:.2},{b},{c},{},{},{},{label}\n", (10.0 * x[3]).round(), x[4], x[5]);
    }
    std::fs::write(path, text).unwrap();
}

fn task_of(table: &Path) -> Task {
    Task::new(read(&[table.to_path_buf()], &ReadOptions::default()).unwrap().data)
}

fn worker_of(kind: &str, task: &Task) -> Box<dyn Worker> {
    match kind {
        "statistics" => Box::new(Statistics::new(task).unwrap()),
        "newton" => Box::new(NewtonStep::new(&Logistic::default(), task, 1).unwrap()),
        _ => Box::new(Violators::new(task, 1).unwrap()),
    }
}

/// The part of a worker: answers for some blocks, one file for each.
fn answer_elsewhere(table: &str) {
    let var = |name: &str| std::env::var(name).unwrap();
    let folder = var(ANSWERS);
    let worker = worker_of(&var(KIND), &task_of(Path::new(table)));
    let broadcast = std::fs::read(format!("{folder}/broadcast")).unwrap();
    for block in var(BLOCKS).split(',') {
        let answer = worker.partial(block.parse().unwrap(), &broadcast).unwrap();
        std::fs::write(format!("{folder}/{block}"), answer).unwrap();
    }
}

/// One round by so many other processes, which take blocks in turns.
fn round_elsewhere(
    kind: &str,
    table: &Path,
    worker: &dyn Worker,
    broadcast: &[u8],
    processes: usize,
) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("broadcast"), broadcast).unwrap();
    let start = |process: usize| {
        let blocks: Vec<String> =
            (process..worker.blocks()).step_by(processes).map(|block| block.to_string()).collect();
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "rounds::processes_and_threads_give_the_same_bits"])
            .env(TABLE, table)
            .env(KIND, kind)
            .env(BLOCKS, blocks.join(","))
            .env(ANSWERS, folder.path())
            .output()
            .unwrap()
    };
    for process in 0..processes.min(worker.blocks()) {
        let output = start(process);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let answer = |block: usize| std::fs::read(folder.path().join(block.to_string())).unwrap();
    (1..worker.blocks()).fold(answer(0), |all, block| worker.merge(&all, &answer(block)).unwrap())
}

/// One round in this process.
fn round_here(worker: &dyn Worker, broadcast: &[u8]) -> Vec<u8> {
    let answer = |block: usize| worker.partial(block, broadcast).unwrap();
    (1..worker.blocks()).fold(answer(0), |all, block| worker.merge(&all, &answer(block)).unwrap())
}

/// Rounds to the end; those elsewhere are held against those here.
fn drive(kind: &str, table: &Path, worker: &dyn Worker, asks: &mut dyn Coordinator) -> usize {
    for round in 0..100 {
        let broadcast = asks.broadcast();
        let here = round_here(worker, &broadcast);
        // Processes are slow to start: the first rounds show what there is to see.
        if round < 3 {
            for processes in [1, 3] {
                let elsewhere = round_elsewhere(kind, table, worker, &broadcast, processes);
                assert_eq!(elsewhere, here, "{kind}, round {round}, {processes} processes");
            }
        }
        if !asks.step(&here).unwrap() {
            return round + 1;
        }
    }
    panic!("{kind} has no end");
}

#[test]
fn processes_and_threads_give_the_same_bits() {
    if let Ok(table) = std::env::var(TABLE) {
        return answer_elsewhere(&table);
    }
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.csv");
    write_table(&table, true);
    let task = task_of(&table);

    let worker = worker_of("statistics", &task);
    assert!(worker.blocks() > 1);
    let mut collected = Collected::new();
    assert_eq!(drive("statistics", &table, worker.as_ref(), &mut collected), 2);
    let (means, scatter) = collected.means_and_scatter().unwrap();
    let mean = |class: u32, column: usize| {
        let rows = (0..task.data.n_rows()).filter(|&row| task.data.class_of(row) == class);
        let values: Vec<f64> = rows.map(|row| task.data.row(row)[column]).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    for (class, column) in [(0, 0), (1, 4)] {
        assert!((means[class as usize][column] - mean(class, column)).abs() < 1e-12);
    }
    assert!((0..6).all(|j| scatter[j * 6 + j] > 0.0));

    let worker = worker_of("newton", &task);
    assert!(worker.blocks() > 1);
    let mut newton = NewtonStep::new(&Logistic::default(), &task, 1).unwrap().driver(1e-12);
    drive("newton", &table, worker.as_ref(), &mut newton);
    let mut exact = Logistic::default();
    exact.settings.gap = 1e-9;
    let fit = exact.fit(&task, &Limits::default(), &mut ()).unwrap();
    let (found, expected) = (newton.plane(), &fit.model.planes[0]);
    for (a, b) in found.weights.iter().zip(&expected.weights) {
        assert!((a - b).abs() <= 1e-4 * (1.0 + b.abs()), "{found:?} is not {expected:?}");
    }

    let worker = worker_of("verdict", &task);
    assert!(worker.blocks() > 1);
    let mut rows = ActiveRows::new(&task, 1).unwrap();
    drive("verdict", &table, worker.as_ref(), &mut rows);
    let plane = rows.plane().expect("a plane of separable rows");
    let score = |row: usize| {
        let x = task.data.row(row);
        x.iter().zip(&plane.weights).map(|(x, w)| x * w).sum::<f64>() + plane.bias
    };
    let right = |row: usize| (score(row) > 0.0) == (task.data.class_of(row) == 1);
    assert!((0..task.data.n_rows()).all(right));
}

#[test]
fn rows_that_no_plane_separates_end_in_a_balance() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.csv");
    write_table(&table, false);
    let task = task_of(&table);
    let worker = worker_of("verdict", &task);
    let mut rows = ActiveRows::new(&task, 1).unwrap();
    loop {
        let here = round_here(worker.as_ref(), &rows.broadcast());
        if !rows.step(&here).unwrap() {
            break;
        }
    }
    assert!(rows.plane().is_none());
    // The rows of the balance alone are proved to have no plane.
    let balance: Vec<usize> = rows.balance().into_iter().map(|row| row as usize).collect();
    let values: Vec<Vec<f64>> = balance.iter().map(|&row| task.data.row(row)).collect();
    let labels: Vec<&str> = balance.iter().map(|&row| task.data.label_text(row)).collect();
    let alone = linsep::Dataset::from_rows(&values, &labels).unwrap();
    let verdict = Judge::new(alone).class("up", &|| false).unwrap().verdict;
    assert!(!matches!(verdict, Verdict::Separable | Verdict::Undecided), "{verdict:?}");
}

#[test]
fn classes_and_sides_that_are_not_there_are_refused() {
    let data = linsep::Dataset::from_rows(&[[1.0], [2.0], [-1.0]], &["b", "b", "a"]).unwrap();
    let mut task = Task::new(data);
    let words = |error: linsep::Error| error.to_string();
    assert!(words(Violators::new(&task, 2).err().unwrap()).contains("class number 2"));
    assert!(words(ActiveRows::new(&task, 7).err().unwrap()).contains("class number 7"));
    let newton = NewtonStep::new(&Logistic::default(), &task, 2);
    assert!(words(newton.err().unwrap()).contains("class number 2"));
    task.rows = Some(vec![0, 1].into());
    assert!(words(ActiveRows::new(&task, 1).err().unwrap()).contains("one side"));
}

#[test]
fn messages_of_other_rounds_are_refused() {
    let data = linsep::Dataset::from_rows(&[[1.0], [2.0], [-1.0]], &["b", "b", "a"]).unwrap();
    let task = Task::new(data);
    for kind in ["statistics", "newton", "verdict"] {
        let worker = worker_of(kind, &task);
        for bytes in [&[][..], &[2], &[9; 7], &[255; 64]] {
            assert!(worker.partial(0, bytes).is_err(), "{kind} takes {bytes:?}");
        }
        assert!(worker.merge(&[255; 40], &[1]).is_err());
        assert!(worker.partial(worker.blocks(), &[]).is_err());
        // A plane of one more column, and a shift of one more.
        let wide = [&2u64.to_le_bytes()[..], &[0; 24]].concat();
        assert!(worker.partial(0, &wide).is_err(), "{kind}");
        assert!(worker.partial(0, &[&[1][..], &wide[..24]].concat()).is_err(), "{kind}");
    }
}
