//! Probabilities of K classes by calibration: they add up to 1, are better than those of raw scores on rows
//! that took no part, come back from a file, and are refused where there is no machine for each class.

use crate::proofs::example;
use linsep::data::split::{Split, folds};
use linsep::file::ModelFile;
use linsep::learn::svm::{CrammerSinger, Svm};
use linsep::model::Sigmoid;
use linsep::run::reduction::{OneVsOne, OneVsRestLast};
use linsep::select::platt::calibrate;
use linsep::{
    Certificate, Code, Dataset, Learner, Limits, LinearModel, Link, Progress, Stop, Task,
};

/// A model learned from two rows of three, with its link, and the rows that are left.
fn learned(name: &str, most: u32) -> (LinearModel, Dataset, Vec<u32>) {
    let data = example(name);
    let rows = (data.n_rows() as u32).min(most);
    let (train, test): (Vec<u32>, Vec<u32>) = (0..rows).partition(|row| row % 3 != 0);
    let task = Task::new(data.clone()).with_rows(Some(train.clone().into()));
    let svm = Svm::default();
    let mut model = svm.fit(&task, &limits(), &mut ()).unwrap().model;
    let inside = |list: Vec<u32>| list.into_iter().filter(|r| train.binary_search(r).is_ok());
    let splits: Vec<Split> = folds(&data, 5, 0)
        .unwrap()
        .into_iter()
        .map(|Split { train, test, .. }| {
            Split::new(inside(train).collect(), inside(test).collect())
        })
        .collect();
    model.link = calibrate(&svm, &task, &splits, &limits(), &|| false).unwrap();
    (model, data, test)
}

fn limits() -> Limits {
    Limits::default().with_epochs(Some(300))
}

/// The mean of −ln p of the true class, which calibration is to make small.
fn surprise(model: &LinearModel, data: &Dataset, rows: &[u32]) -> f64 {
    let mut sum = 0.0;
    for &row in rows {
        let truth = data.class_of(row as usize) as usize;
        let p =
            model.probabilities_of_scores(&model.scores(&data.row(row as usize)).unwrap()).unwrap();
        assert_eq!(p.len(), model.classes.len());
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{p:?}");
        assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
        sum -= p[truth].max(1e-300).ln();
    }
    sum / rows.len() as f64
}

#[test]
fn they_add_up_to_one_and_beat_the_softmax_of_raw_scores() {
    for (name, most) in [("iris.csv", u32::MAX), ("digits.csv", 900), ("letter.csv.gz", 1800)] {
        let (model, data, test) = learned(name, most);
        let Link::Sigmoids(each) = &model.link else { panic!("{name}: {:?}", model.link) };
        assert_eq!(each.len(), data.n_classes());
        // A higher score speaks for the class, but for classes that no plane tells from the rest.
        assert!(each.iter().filter(|s| s.slope > 0.0).count() + 1 >= each.len(), "{each:?}");
        let raw = model.clone().with_link(Link::Softmax);
        let (own, of_raw) = (surprise(&model, &data, &test), surprise(&raw, &data, &test));
        let of_nothing = (data.n_classes() as f64).ln();
        assert!(own < of_raw && own < of_nothing, "{name}: {own} {of_raw} {of_nothing}");
        // The mean probability of a class is about its share of the rows.
        for class in 0..model.classes.len().min(3) {
            let mean = |f: &dyn Fn(u32) -> f64| {
                test.iter().map(|row| f(*row)).sum::<f64>() / test.len() as f64
            };
            let expected = mean(&|row| {
                let scores = model.scores(&data.row(row as usize)).unwrap();
                model.probabilities_of_scores(&scores).unwrap()[class]
            });
            let share = mean(&|row| f64::from(data.class_of(row as usize) == class as u32));
            assert!((expected - share).abs() < 0.1, "{name}, {class}: {expected} {share}");
        }
    }
}

#[test]
fn they_come_back_from_a_file_and_files_that_contradict_themselves_are_refused() {
    let (model, data, test) = learned("iris.csv", u32::MAX);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.linsep");
    let file_of = |model: &LinearModel| {
        let identity = data.identity(1);
        let (end, about) =
            ((Stop::Finished, Progress::default()), (identity, data.reading_field()));
        let unproved = Certificate::unproved("a test of files");
        ModelFile::new(model.clone(), unproved, "svm", Default::default(), 0, end, about)
    };
    file_of(&model).save(&path).unwrap();
    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
    assert!(text.contains(r#"\"link\":{\"sigmoids\":[{\"slope\":"#), "{text}");
    let loaded = ModelFile::load(&path, None).unwrap().model;
    assert_eq!(loaded, model);
    for &row in &test {
        let scores = model.scores(&data.row(row as usize)).unwrap();
        assert_eq!(loaded.probabilities_of_scores(&scores), model.probabilities_of_scores(&scores));
    }
    let Link::Sigmoids(each) = &model.link else { panic!() };
    let one = Sigmoid::new(1.0, 0.0);
    let fewer = model.clone().with_link(Link::Sigmoids(each[1..].to_vec()));
    let more = model.clone().with_link(Link::Sigmoids(vec![one; 4]));
    let single = model.clone().with_link(Link::Sigmoid { slope: 1.0, offset: 0.0 });
    let joint = model.clone().with_rule(linsep::Rule::ArgMax);
    for wrong in [fewer, more, single, joint] {
        file_of(&wrong).save(&path).unwrap();
        let error = ModelFile::load(&path, None).unwrap_err();
        assert_eq!(error.code(), Code::MODEL_CONTENT, "{error}");
    }
}

#[test]
fn two_classes_have_the_link_they_had() {
    let data = example("heart_scale.svm");
    let splits = folds(&data, 5, 0).unwrap();
    let link = calibrate(&Svm::default(), &Task::new(data), &splits, &limits(), &|| false).unwrap();
    let Link::Sigmoid { slope, .. } = link else { panic!("{link:?}") };
    assert!(slope > 0.0);
    let text = serde_json::to_string(&link).unwrap();
    assert!(text.starts_with("{\"sigmoid\":{\"slope\":"), "{text}");
}

#[test]
fn without_a_machine_for_each_class_there_are_none() {
    let data = example("iris.csv");
    let splits = folds(&data, 3, 0).unwrap();
    let task = Task::new(data);
    let learners: [&dyn Learner; 3] = [
        &CrammerSinger(Svm::default()),
        &OneVsRestLast(Svm::default()),
        &OneVsOne(linsep::learn::hard_margin::HardMargin),
    ];
    for learner in learners {
        let error = calibrate(learner, &task, &splits, &limits(), &|| false).unwrap_err();
        let words = error.to_string();
        assert!(words.contains("`multiclass=ovr`") || words.contains("no plane"), "{words}");
    }
    let stopped = calibrate(&Svm::default(), &task, &splits, &limits(), &|| true).unwrap_err();
    assert_eq!(stopped.code(), Code::INTERRUPTED);
}
