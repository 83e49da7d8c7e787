//! Pictures of many features, many classes and many rows: what they show is true and can be read.

use crate::plot::{and, example, fit, rows, style, xor};
use crate::xml::{Element, elements};
use linsep::learn::discriminant::Lda;
use linsep::learn::perceptron::Perceptron;
use linsep::{Dataset, Learner, LinearModel};
use linsep_teach::plot::{Coefficients, Confusion, Neuron, Pattern, Weight};
use std::sync::Arc;

fn pattern(data: &Dataset, model: &LinearModel, axes: Option<[usize; 2]>) -> Vec<Element> {
    let mut pattern = Pattern::of(data);
    (pattern.model, pattern.axes) = (Some(model), axes);
    elements(&pattern.draw(&style()).unwrap())
}

fn says(all: &[Element], words: &str) -> bool {
    let texts: Vec<&str> =
        all.iter().filter(|e| e.name == "text").map(|e| e.text.as_str()).collect();
    texts.join(" ").contains(words)
}

fn inside<'a>(all: &'a [Element], class: &'a str) -> impl Iterator<Item = &'a Element> {
    all.iter().filter(move |e| e.within.last().is_some_and(|within| within == class))
}

#[test]
fn the_boundary_of_many_features_is_the_line_at_0() {
    let data = example("iris.csv", Some("versicolor"));
    let model = fit(&Lda::default(), &data);
    let all = pattern(&data, &model, None);
    let boundaries: Vec<&Element> = all.iter().filter(|e| e.is("boundary")).collect();
    assert_eq!(boundaries.len(), 1);
    let ends: Vec<f64> =
        boundaries[0].get("data-ends").unwrap().split(' ').map(|x| x.parse().unwrap()).collect();
    assert!(ends[0].abs() < 1e-12 && ends[2].abs() < 1e-12, "{ends:?}");
    assert!(says(&all, "signed distance from the boundary"));
    // Every row stands on the side where the model puts it.
    let line = boundaries[0].number("x1");
    let mut sides = [0, 0];
    for circle in inside(&all, "wrong") {
        sides[usize::from(circle.number("cx") > line)] += 1;
    }
    let evaluation = model.evaluate(&data, None, 1);
    let counts: Vec<Vec<f64>> = (0..2).map(|c| evaluation.confusion.line(c).collect()).collect();
    assert_eq!(sides.map(f64::from), [counts[1][0], counts[0][1]]);
    assert!(sides[0] > 0 && sides[1] > 0);
}

#[test]
fn a_pair_of_columns_says_that_it_is_a_section() {
    let data = example("wine.csv", None);
    let model = fit(&Lda::default(), &data);
    let all = pattern(&data, &model, Some([0, 4]));
    assert!(says(&all, "Section at the means of the other 11 columns."));
    assert!(says(&all, "of 178 stand in a region that is not the model's answer"));
    let all = pattern(&data, &model, None);
    assert!(!says(&all, "Section") && says(&all, "regions and boundaries are exact"));
    assert_eq!(all.iter().filter(|e| e.is("region")).count(), 3);
    // The model makes no mistake, so neither does the picture.
    assert_eq!(model.evaluate(&data, None, 1).errors, 0);
    assert_eq!(inside(&all, "wrong").count(), 0);
}

#[test]
fn ten_classes_have_names_and_no_false_regions() {
    let data = example("digits.csv", None);
    let model = fit(&Lda::default(), &data);
    let all = pattern(&data, &model, None);
    assert!(!all.iter().any(|e| e.is("region") || e.is("boundary")));
    assert!(says(&all, "regions need all of them and are not drawn"));
    assert!(says(&all, "its colour is that of the answer"));
    let mut colours: Vec<&str> = all
        .iter()
        .filter(|e| e.name == "g" && e.is("rows"))
        .map(|e| e.get("fill").unwrap())
        .collect();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), 10);
    let rings = inside(&all, "wrong").count() as u64;
    assert_eq!(rings, model.evaluate(&data, None, 1).errors);
}

#[test]
fn many_rows_shine_through_and_few_do_not() {
    for (count, shines) in [(500, false), (3000, true)] {
        let many: Vec<[f64; 2]> =
            (0..count).map(|i| [f64::from(i % 83), f64::from(i % 71)]).collect();
        let labels: Vec<&str> = (0..count).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        let all = elements(&Pattern::of(&rows(&many, &labels)).draw(&style()).unwrap());
        let groups: Vec<&Element> = all.iter().filter(|e| e.name == "g" && e.is("rows")).collect();
        assert!(groups.iter().all(|g| g.get("fill-opacity").is_some() == shines), "{count}");
        assert_eq!(inside(&all, "rows").count() as i32, count);
    }
}

#[test]
fn a_picture_uses_the_page() {
    // Three times as wide as high: equal units would leave much of it empty.
    for stretch in [1.0, 3.0, 300.0] {
        let many: Vec<[f64; 2]> =
            (0..100).map(|i| [stretch * f64::from(i % 10), f64::from(i / 10)]).collect();
        let labels: Vec<&str> = (0..100).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
        let all = elements(&Pattern::of(&rows(&many, &labels)).draw(&style()).unwrap());
        let at: Vec<[f64; 2]> = inside(&all, "rows")
            .filter(|e| e.name == "circle")
            .map(|e| [e.number("cx"), e.number("cy")])
            .collect();
        for k in 0..2 {
            let (low, high) = at.iter().fold((f64::MAX, f64::MIN), |(low, high), point| {
                (low.min(point[k]), high.max(point[k]))
            });
            assert!(high - low > 270.0, "{stretch}: {low} to {high}");
        }
    }
}

#[test]
fn and_has_a_cone_with_its_bias_and_xor_has_none() {
    for data in [and(), rows(&[[0., 0.], [0., 1.], [1., 0.], [1., 1.]], &["0", "1", "1", "1"])] {
        let all = elements(&Weight::of(Arc::clone(&data)).draw(&style()).unwrap());
        assert!(!says(&all, "empty") && says(&all, "entered the cone at step"));
        assert_eq!(all.iter().filter(|e| e.is("cone")).count(), 1);
        assert_eq!(all.iter().filter(|e| e.is("enters")).count(), 1);
        let edges: Vec<Vec<i64>> = all
            .iter()
            .filter_map(|e| e.text.strip_prefix('(')?.strip_suffix(')'))
            .map(|text| text.split(", ").map(|x| x.parse().unwrap()).collect())
            .collect();
        assert_eq!(edges.len(), 3, "{edges:?}");
        assert!(all.iter().any(|e| e.is("edge")));
        for row in 0..4 {
            let x = data.row(row);
            let s = if data.class_of(row) == 1 { 1 } else { -1 };
            let product = |w: &[i64]| s * (w[0] * x[0] as i64 + w[1] * x[1] as i64 + w[2]);
            assert!(edges.iter().all(|w| product(w) >= 0), "row {row}: {edges:?}");
            let sum: Vec<i64> = (0..3).map(|k| edges.iter().map(|w| w[k]).sum()).collect();
            assert!(product(&sum) > 0, "row {row}: {edges:?}");
        }
    }
    let all = elements(&Weight::of(xor()).draw(&style()).unwrap());
    assert!(says(&all, "cone of solutions: empty") && says(&all, "because there is none"));
    let mut weight = Weight::of(and());
    weight.bias = Some(false);
    let all = elements(&weight.draw(&style()).unwrap());
    assert!(says(&all, "Planes have no bias") && says(&all, "without a bias"));
}

#[test]
fn the_largest_inputs_of_a_neuron_are_shown() {
    let data = example("digits.csv", None);
    let model = fit(&Lda::default(), &data);
    let all = elements(&Neuron::of(&model).with_rows(&data).draw(&style()).unwrap());
    assert!(says(&all, "Of 64 inputs the 11 with the largest") && says(&all, "53 more"));
    assert_eq!(all.iter().filter(|e| e.is("synapse")).count(), 12 * 10);
}

#[test]
fn two_classes_fill_the_page_of_a_confusion_matrix() {
    let data = example("iris.csv", Some("versicolor"));
    let model = fit(&Perceptron::default(), &data);
    let evaluation = model.evaluate(&data, None, 1);
    let all = elements(&Confusion::of(&evaluation).draw(&style()).unwrap());
    let right = all.iter().filter(|e| e.is("cell")).map(|e| e.number("x") + e.number("width"));
    assert!(right.fold(0.0, f64::max) > 750.0);
}

#[test]
fn coefficients_are_weights_times_deviations_the_largest_first() {
    let data = example("wine.csv", Some("1"));
    let model = fit(&Lda::default(), &data);
    let all = elements(&Coefficients::of(&model, &data).draw(&style()).unwrap());
    let value = |e: &Element| e.get("data-value").unwrap().parse::<f64>().unwrap();
    let drawn: Vec<f64> = all.iter().filter(|e| e.is("coefficient")).map(value).collect();
    assert_eq!(drawn.len(), 13);
    assert!(drawn.windows(2).all(|pair| pair[0].abs() >= pair[1].abs()), "{drawn:?}");
    let n = data.n_rows() as f64;
    let mut expected: Vec<f64> = (0..13)
        .map(|j| {
            let column = || (0..data.n_rows()).map(|row| data.row(row)[j]);
            let mean = column().sum::<f64>() / n;
            let variance = column().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            model.planes[0].weights[j] * variance.sqrt()
        })
        .collect();
    expected.sort_by(|a, b| b.abs().total_cmp(&a.abs()));
    for (a, b) in drawn.iter().zip(&expected) {
        assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} and {b}");
    }
    // Of several classes only the differences decide.
    let data = example("wine.csv", None);
    let model = fit(&Lda::default() as &dyn Learner, &data);
    let all = elements(&Coefficients::of(&model, &data).draw(&style()).unwrap());
    let drawn: Vec<f64> = all.iter().filter(|e| e.is("coefficient")).map(value).collect();
    assert_eq!(drawn.len(), 39);
    for of_column in drawn.chunks(3) {
        assert!(of_column.iter().sum::<f64>().abs() < 1e-9, "{of_column:?}");
    }
    let digits = example("digits.csv", None);
    let model = fit(&Lda::default(), &digits);
    let all = elements(&Coefficients::of(&model, &digits).draw(&style()).unwrap());
    assert!(says(&all, "The 24 largest of 64 weights"));
}
