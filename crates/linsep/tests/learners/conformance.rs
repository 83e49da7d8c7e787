//! The laws that every learner keeps, looped over the registry: a new learner in `recipe::ALL` is
//! under all of them at once. Equality means equality of bits unless a comment says why not.

use crate::support::{
    Table, Variant, bits, every_variant, fit, numbers, overlapping, same_best, table, tables,
    variants_of,
};
use linsep::file::ModelFile;
use linsep::proof::{Finding, check_claim};
use linsep::{Code, Dataset, DatasetBuilder, Fit, Learner, LinearModel, Plane, Stop, Task};

/// Calls `check` with every learner on two relatives of every small table.
fn compare(
    one: impl Fn(&Table) -> Table,
    other: impl Fn(&Table) -> Table,
    check: impl Fn(&Case<'_>, &Task, &Task),
) {
    let variants = every_variant();
    assert!(variants.len() >= linsep::recipe::ALL.len());
    for table in &tables() {
        let (one, other) = (one(table).task(), other(table).task());
        let takes = |variant: &&Variant| variant.accepts(&one) && variant.accepts(&other);
        for variant in variants.iter().filter(takes) {
            let words = format!("{}, {}", table.name, variant.words());
            let case = Case { variant, table, learner: variant.learner(), words };
            check(&case, &one, &other);
        }
    }
}

struct Case<'a> {
    variant: &'a Variant,
    table: &'a Table,
    learner: Box<dyn Learner>,
    words: String,
}

impl Case<'_> {
    fn fit(&self, task: &Task) -> Fit {
        fit(self.learner.as_ref(), task)
    }
}

/// Calls `check` with every learner on every small table.
fn for_all(check: impl Fn(&Case<'_>, &Task)) {
    compare(Table::clone, Table::clone, |case, task, _| check(case, task));
}

#[test]
fn the_same_seed_gives_the_same_model() {
    compare(Table::clone, Table::clone, |case, task, equal_task| {
        let (first, second) = (case.fit(task), case.fit(equal_task));
        assert_eq!(bits(&first.model), bits(&second.model), "{}", case.words);
        assert_eq!((first.progress, first.stop), (second.progress, second.stop), "{}", case.words);
    });
}

#[test]
fn another_seed_gives_another_model_only_where_something_is_drawn() {
    let task = overlapping().task();
    for variant in every_variant().into_iter().filter(|variant| variant.accepts(&task)) {
        // The search for few mistakes may come to the same plane from wherever it starts.
        if variant.value("criterion") == Some("jn") || variant.is_certified() {
            continue;
        }
        let model = |seed| bits(&fit(variant.learner_with_seed(seed).as_ref(), &task).model);
        assert_eq!(model(1) != model(2), variant.draws(), "{}", variant.words());
    }
}

/// The lanes of a dot product are the same for both storages, and a zero term changes no lane.
#[test]
fn dense_and_sparse_storage_give_the_same_bits() {
    for_all(|case, task| {
        let other = Task::new(task.data.with_other_storage());
        assert_ne!(task.data.is_dense(), other.data.is_dense());
        let (a, b) = (case.fit(task), case.fit(&other));
        if case.variant.is_certified() {
            assert!(same_best(&a, &b), "{}", case.words);
            return;
        }
        assert_eq!(bits(&a.model), bits(&b.model), "{}", case.words);
        assert_eq!((a.progress, a.stop), (b.progress, b.stop), "{}", case.words);
    });
}

/// Behind an overflow 0 · ∞ is not 0, so from there to the end of the epoch the two storages may
/// differ; they must still come to the same end at the same place.
#[test]
fn dense_and_sparse_storage_diverge_together() {
    let rows = [[1e300, 0.0], [1e300, 1.0], [0.0, 1.0], [-1e300, 0.0], [0.0, -3.0], [0.0, 2.0]];
    let data = Dataset::from_rows(&rows, &["a", "b", "a", "b", "a", "b"]).unwrap();
    let (task, other) = (Task::new(data.clone()), Task::new(data.with_other_storage()));
    for variant in variants_of(&["order", "multiclass"]) {
        if variant.recipe.name == "perceptron" {
            let learner = variant.learner_with_all(&[("eta", "1e10"), ("scale", "none")]);
            let (a, b) = (fit(learner.as_ref(), &task), fit(learner.as_ref(), &other));
            assert_eq!((a.stop, b.stop), (Stop::Diverged, Stop::Diverged), "{}", variant.words());
            assert_eq!(a.progress.visits, b.progress.visits, "{}", variant.words());
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for table in tables() {
        let task = table.task();
        for variant in variants_of(&["order", "scale", "multiclass", "shrinkage"]) {
            if !variant.accepts(&task) {
                continue;
            }
            let run =
                |threads| fit(variant.learner().as_ref(), &task.clone().with_threads(threads));
            let (one, words) = (run(1), format!("{}, {}", table.name, variant.words()));
            for many in [run(2), run(5)] {
                assert_eq!(bits(&one.model), bits(&many.model), "{words}");
                assert_eq!((one.progress, one.stop), (many.progress, many.stop), "{words}");
            }
        }
    }
}

/// Scores, steps and rounding are symmetric in sign, whatever the scaling and the order, as long as
/// the start is 0 and a score of 0 is a mistake for both classes.
#[test]
fn exchanging_two_labels_negates_the_plane() {
    let exchanged = |table: &Table| {
        let mut table = table.clone();
        for label in table.labels.iter_mut().filter(|label| *label != "cat" && *label != "dog") {
            *label = if label == "ant" { "bee" } else { "ant" }.to_owned();
        }
        table
    };
    compare(Table::clone, exchanged, |case, task, other| {
        if task.data.n_classes() == 2 && case.variant.is_even_handed() {
            let (model, negative) = (case.fit(task), case.fit(other));
            if case.variant.is_certified() {
                assert!(same_best(&model, &negative), "{}", case.words);
                return;
            }
            if !case.variant.is_online() || case.variant.recipe.name == "ho-kashyap" {
                // Matrices are added up in tiles, which do not treat both signs alike.
                let mut back = negative.model.clone();
                for plane in &mut back.planes {
                    plane.weights.iter_mut().for_each(|w| *w = -*w);
                    plane.bias = -plane.bias;
                }
                let far = apart(&model.model, &back, case.table);
                assert!(far < 1e-9, "{}: {far:e}", case.words);
                return;
            }
            let (minus, plus) = (numbers(&model.model, |x| -x), numbers(&negative.model, |x| x));
            assert_eq!(minus, plus, "{}", case.words);
            assert_eq!(model.progress, negative.progress, "{}", case.words);
        }
    });
}

/// Scaling by columns takes the unit of a column away: a column in other units, a power of two
/// apart, gets a weight that makes up for it and nothing else changes. (Without scaling, and with
/// `unit`, which scales rows, learning depends on the units.)
#[test]
fn scaled_learning_does_not_depend_on_units() {
    let factor = |column: usize| 2f64.powi(7 * (column as i32 % 3) - 9);
    let in_other_units = |table: &Table| {
        let mut table = table.clone();
        for row in &mut table.rows {
            row.iter_mut().enumerate().for_each(|(j, x)| *x *= factor(j));
        }
        table
    };
    compare(Table::clone, in_other_units, |case, task, other| {
        let scale = case.variant.value("scale");
        if scale.is_some_and(|scale| ["pow2", "maxabs", "standard"].contains(&scale)) {
            if case.variant.is_certified() {
                assert!(same_best(&case.fit(task), &case.fit(other)), "{}", case.words);
                return;
            }
            let mut back = case.fit(other).model;
            for plane in &mut back.planes {
                plane.weights.iter_mut().enumerate().for_each(|(j, w)| *w *= factor(j));
            }
            assert_eq!(bits(&case.fit(task).model), bits(&back), "{}", case.words);
        }
    });
}

/// From the start 0 every weight is the rate times a sum that does not depend on it.
#[test]
fn twice_the_rate_gives_twice_the_planes_from_zero() {
    for_all(|case, task| {
        if case.variant.value("eta").is_some() && case.variant.is_proportional() {
            let twice = fit(case.variant.learner_with("eta", "2").as_ref(), task).model;
            let once = case.fit(task).model;
            assert_eq!(numbers(&once, |x| 2.0 * x), numbers(&twice, |x| x), "{}", case.words);
        }
    });
}

/// Online a weight scales the rate; a power of two does so exactly, also in weighted means.
#[test]
fn weight_two_on_every_row_is_twice_the_rate() {
    let heavy = |table: &Table| {
        let weights = table.weights_or_ones().iter().map(|weight| 2.0 * weight).collect();
        Table { weights: Some(weights), ..table.clone() }
    };
    compare(Table::clone, heavy, |case, task, heavy| {
        // A rate that follows from the data does not know of weights.
        let given = case.variant.value("eta").is_some_and(|eta| eta != "auto");
        if given && case.variant.takes_any_rate() {
            let by_rate = fit(case.variant.learner_with("eta", "2").as_ref(), task).model;
            assert_eq!(bits(&case.fit(heavy).model), bits(&by_rate), "{}", case.words);
        }
    });
}

/// How far the scores of two models are apart on the rows of a table, by the norm of the scores.
fn apart(one: &LinearModel, other: &LinearModel, table: &Table) -> f64 {
    let (mut difference, mut norm) = (0.0, 1e-300);
    for row in &table.rows {
        for (a, b) in one.scores(row).unwrap().iter().zip(other.scores(row).unwrap()) {
            difference += (a - b) * (a - b);
            norm += a * a;
        }
    }
    f64::sqrt(difference / norm)
}

/// What sums over rows give does not tell a row of weight 2 from a row that stands twice. (Row by row a
/// weight scales the rate; see above.)
#[test]
fn weight_two_is_the_row_twice_for_direct_and_batch_learners() {
    let plain = |table: &Table| Table { weights: None, ..table.clone() };
    let heavy = |table: &Table| {
        let weights = (0..table.rows.len()).map(|i| [1.0, 2.0][i % 2]).collect();
        Table { weights: Some(weights), ..table.clone() }
    };
    let twice = |table: &Table| {
        let order = (0..table.rows.len()).flat_map(|i| std::iter::repeat_n(i, 1 + i % 2));
        let (rows, labels) =
            order.map(|i| (table.rows[i].clone(), table.labels[i].clone())).unzip();
        Table { rows, labels, ..plain(table) }
    };
    compare(heavy, twice, |case, heavy, twice| {
        if case.variant.is_certified() {
            assert!(same_best(&case.fit(heavy), &case.fit(twice)), "{}", case.words);
        } else if !case.variant.is_online() || case.variant.is_batch() {
            let far = apart(&case.fit(heavy).model, &case.fit(twice).model, case.table);
            assert!(far < 1e-9, "{}: {far:e}", case.words);
        }
    });
}

#[test]
fn the_order_of_the_rows_does_not_matter_to_direct_learners() {
    let turned = |table: &Table| {
        let mut table = table.clone();
        table.rows.reverse();
        table.labels.reverse();
        table.weights.iter_mut().for_each(|weights| weights.reverse());
        table
    };
    compare(Table::clone, turned, |case, task, turned| {
        if case.variant.is_certified() {
            assert!(same_best(&case.fit(task), &case.fit(turned)), "{}", case.words);
        } else if !case.variant.is_online() {
            let far = apart(&case.fit(task).model, &case.fit(turned).model, case.table);
            assert!(far < 1e-9, "{}: {far:e}", case.words);
        }
    });
}

fn is_absent(row: usize) -> bool {
    row % 3 == 1
}

/// Also for the measuring of scales and of class sizes, and in drawn orders too: rows are drawn
/// among those that take part.
#[test]
fn a_row_of_weight_zero_is_absent() {
    let light = |table: &Table| {
        let weights = table.weights_or_ones().into_iter().enumerate();
        let weights = weights.map(|(i, weight)| if is_absent(i) { 0.0 } else { weight }).collect();
        Table { weights: Some(weights), ..table.clone() }
    };
    let without = |table: &Table| table.filter(|i| !is_absent(i));
    compare(light, without, |case, light, without| {
        assert_eq!(light.data.classes(), without.data.classes(), "bad test data");
        let (a, b) = (case.fit(light), case.fit(without));
        if case.variant.is_certified() {
            assert!(same_best(&a, &b), "{}", case.words);
            return;
        }
        assert_eq!(bits(&a.model), bits(&b.model), "{}", case.words);
        assert_eq!(a.progress, b.progress, "{}", case.words);
    });
}

#[test]
fn rows_that_are_not_chosen_are_absent() {
    let without = |table: &Table| table.filter(|i| !is_absent(i));
    compare(Table::clone, without, |case, task, without| {
        let all = 0..task.data.n_rows() as u32;
        let chosen: Vec<u32> = all.filter(|&i| !is_absent(i as usize)).collect();
        let chosen = task.clone().with_rows(Some(chosen.into()));
        let (a, b) = (case.fit(&chosen), case.fit(without));
        if case.variant.is_certified() {
            // Of some of the rows nothing is claimed; the objective that was reached is told.
            let reached = |fit: &Fit| {
                let told = fit.remarks.iter().find(|remark| remark.name == "objective");
                told.and_then(|remark| remark.data.get("primal")?.as_f64()).unwrap_or(0.0)
            };
            let (one, two) = (reached(&a), reached(&b));
            assert!((one - two).abs() <= 2e-3 * one.abs().max(two.abs()), "{}", case.words);
            return;
        }
        assert_eq!(bits(&a.model), bits(&b.model), "{}", case.words);
        assert_eq!(a.progress, b.progress, "{}", case.words);
    });
}

/// n / (K · rows of the class) is exactly 1 for classes of one size.
#[test]
fn balancing_equal_classes_changes_nothing() {
    let table = table("equal", (40, 4, 2), 1.0, |s| s.normal());
    assert_eq!(table.labels.iter().filter(|label| *label == "ant").count(), 20);
    let task = table.task();
    for variant in every_variant() {
        if variant.value("class-weight") == Some("none") && variant.accepts(&task) {
            let balanced = fit(variant.learner_with("class-weight", "balanced").as_ref(), &task);
            let plain = fit(variant.learner().as_ref(), &task);
            assert_eq!(bits(&balanced.model), bits(&plain.model), "{}", variant.words());
        }
    }
}

/// A model that makes no mistake is where its own learner stops without a step.
#[test]
fn starting_from_a_finished_model_changes_nothing() {
    let mut finished = 0;
    for table in tables() {
        let task = table.task();
        for mut variant in variants_of(&["order", "scale", "verdict"]) {
            // Rules with a margin ask again for what rounding took from it.
            if variant.value("ties").is_none() {
                continue;
            }
            let found =
                variant.learner().fit(&task, &crate::support::epochs(300), &mut ()).unwrap();
            let errors = found.model.evaluate(&task.data, None, 1).errors;
            if found.stop != Stop::Finished || errors > 0 {
                continue;
            }
            finished += 1;
            variant.settings.set("init", "a file");
            variant.settings.start = Some(found.model.planes.clone());
            let again = fit(variant.learner().as_ref(), &task);
            let words = format!("{} {}", table.name, variant.words());
            assert_eq!(again.progress.updates, 0, "{words}");
            assert_eq!(bits(&again.model), bits(&found.model), "{words}");
        }
    }
    assert!(finished > 10);
}

#[test]
fn data_that_cannot_be_learned_from_is_refused_with_its_code() {
    let one = Dataset::from_rows(&[[1.0], [2.0]], &["a", "a"]).unwrap();
    let none = DatasetBuilder::new(2).finish().unwrap();
    for variant in every_variant() {
        for data in [&one, &none] {
            let error = variant.learner().start(&Task::new(data.clone())).err().unwrap();
            assert_eq!(error.code(), Code::ONE_CLASS, "{}", variant.words());
        }
    }
    let error = Dataset::from_rows(&[[1.0, 2.0], [3.0, f64::NAN]], &["a", "b"]).unwrap_err();
    assert_eq!(error.code(), Code::NOT_FINITE);
    let place = error.place().unwrap();
    assert_eq!((place.row, place.field.clone()), (Some(1), Some((2, None))));
    let error = Dataset::from_rows(&[vec![1.0], vec![1.0, 2.0]], &["a", "b"]).unwrap_err();
    assert_eq!(error.code(), Code::RAGGED);
}

/// Constant and empty columns have no scale of their own; they must not become NaN or infinite.
#[test]
fn constant_and_empty_columns_are_harmless() {
    let rows: Vec<[f64; 3]> = (0..20).map(|i| [f64::from(i) - 9.5, 0.1, 0.0]).collect();
    let labels: Vec<&str> = (0..20).map(|i| if i < 10 { "a" } else { "b" }).collect();
    let data = Dataset::from_rows(&rows, &labels).unwrap();
    for variant in every_variant() {
        if !variant.accepts(&Task::new(data.clone())) {
            continue;
        }
        let found = fit(variant.learner().as_ref(), &Task::new(data.clone()));
        let finite = |plane: &Plane| plane.weights.iter().all(|w| w.is_finite());
        assert!(found.model.planes.iter().all(finite), "{}", variant.words());
        assert!(found.model.planes[0].weights[2] == 0.0, "{}", variant.words());
    }
}

/// A run that ends by its own rule has a proof; every other one says that it has none, and why.
#[test]
fn every_claim_holds_or_says_that_nothing_is_proved_and_why() {
    let proved = std::cell::Cell::new(0);
    for_all(|case, task| {
        let fit = case.fit(task);
        assert!(!fit.certificate.claims.is_empty());
        let data = task.data.as_ref();
        for claim in &fit.certificate.claims {
            match check_claim(claim, data, &data.reading_field(), true, 1) {
                Finding::Holds(_) => proved.set(proved.get() + 1),
                Finding::Nothing(reason) => assert!(reason.len() > 10, "{}: {reason}", case.words),
                Finding::Fails(words) => panic!("{}: {words}", case.words),
            }
        }
        // Least squares rests where it does, and an average or a vote need not separate what its parts
        // do. A clean window need not have seen every row.
        let promises = !["adaline", "averaged", "voted"].contains(&case.variant.recipe.name)
            && case.variant.is("stop", &["clean-epoch", "empty"])
            && case.variant.is("penalty", &["l2", "l1", "elastic-net"]);
        if fit.stop == Stop::Finished && promises {
            assert!(fit.certificate.proves_something(), "{}", case.words);
        }
    });
    assert!(proved.get() > 0, "no run proved anything");
}

fn file_of(model: LinearModel, data: &Dataset) -> ModelFile {
    let identity = data.identity(1);
    let end = (Stop::Epochs, linsep::Progress::default());
    let certificate = linsep::Certificate::unproved("a test of files");
    let about = (identity, data.reading_field());
    ModelFile::new(model, certificate, "any", Default::default(), 7, end, about)
}

#[test]
fn a_model_is_the_same_after_saving_and_loading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.linsep");
    for table in tables() {
        let task = table.task();
        for variant in variants_of(&["scale", "multiclass"]) {
            if !variant.accepts(&task) {
                continue;
            }
            let model = fit(variant.learner().as_ref(), &task).model;
            file_of(model.clone(), &task.data).save(&path).unwrap();
            let loaded = ModelFile::load(&path, None).unwrap();
            assert_eq!(bits(&loaded.model), bits(&model), "{}", variant.words());
            assert_eq!(loaded, file_of(model.clone(), &task.data));
            for row in &table.rows {
                let scores =
                    |m: &LinearModel| m.scores(row).unwrap().iter().map(|s| s.to_bits()).collect();
                let [before, after]: [Vec<u64>; 2] = [scores(&model), scores(&loaded.model)];
                assert_eq!(before, after);
            }
        }
    }
}

/// What `save` accepts, `load` accepts: a model with numbers out of range is refused at once.
#[test]
fn a_model_that_could_not_be_read_back_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.linsep");
    let task = overlapping().task();
    let model = fit(variants_of(&[])[0].learner().as_ref(), &task).model;
    for bad in [f64::NAN, f64::INFINITY] {
        let mut model = model.clone();
        model.planes[0].weights[3] = bad;
        assert!(file_of(model, &task.data).save(&path).is_err(), "{bad} was written");
        assert!(!path.exists());
    }
}

fn errors_one_by_one(model: &LinearModel, table: &Table) -> u64 {
    let pairs = table.rows.iter().zip(&table.labels);
    pairs.filter(|(row, label)| model.predict(row).unwrap() != label.as_str()).count() as u64
}

#[test]
fn one_prediction_and_the_evaluation_of_all_agree() {
    for_all(|case, task| {
        let model = case.fit(task).model;
        let expected = (case.table.rows.len() as u64, errors_one_by_one(&model, case.table));
        for (data, threads) in [(&task.data.with_other_storage(), 1), (&*task.data, 3)] {
            let found = model.evaluate(data, None, threads);
            assert_eq!((found.rows, found.errors), expected, "{}", case.words);
        }
    });
}

/// Cancellation makes the order of a sum decide the sign: every road to a score has to take the
/// same order.
#[test]
fn predictions_agree_where_rounding_decides() {
    let mut table = overlapping().filter(|i| i < 8);
    table.rows.iter_mut().for_each(|row| *row = vec![1.0; 11]);
    let mut model = fit(variants_of(&[])[0].learner().as_ref(), &table.task()).model;
    let mut weights = vec![0.0; 11];
    for (big, small) in [(0, 1), (8, 3), (2, 10)] {
        (weights[big], weights[small]) = (1e16, 1.0);
        weights[5] = -1e16;
        model.planes[0] = Plane::new(weights.clone(), -0.5);
        let expected = errors_one_by_one(&model, &table);
        assert_eq!(model.evaluate(&table.data(), None, 1).errors, expected, "{weights:?}");
        weights.fill(0.0);
    }
}
