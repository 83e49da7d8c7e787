//! Pictures: well-formed, finite, with the elements that belong there in the places where they belong,
//! and no text on top of another.

use crate::xml::{Element, elements};
use linsep::data::read::{ReadOptions, read};
use linsep::learn::discriminant::Lda;
use linsep::learn::least_squares::LeastSquares;
use linsep::learn::perceptron::Perceptron;
use linsep::loss::Criterion;
use linsep::{Dataset, DatasetBuilder, Learner, Limits, LinearModel, Task};
use linsep_teach::plot::{
    Coefficients, Confusion, CriterionView, Curves, Direction, Histogram, MOST_ROWS, Neuron,
    Pattern, Style, Weight, axes_named, cone,
};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn example(name: &str, positive: Option<&str>) -> Arc<Dataset> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut options = ReadOptions::default();
    options.positive = positive.map(str::to_owned);
    Arc::new(read(&[folder.join(name)], &options).unwrap().data)
}

pub(crate) fn rows<const D: usize>(rows: &[[f64; D]], labels: &[&str]) -> Arc<Dataset> {
    Arc::new(Dataset::from_rows(rows, labels).unwrap())
}

pub(crate) fn and() -> Arc<Dataset> {
    rows(&[[0., 0.], [0., 1.], [1., 0.], [1., 1.]], &["0", "0", "0", "1"])
}

pub(crate) fn xor() -> Arc<Dataset> {
    rows(&[[0., 0.], [0., 1.], [1., 0.], [1., 1.]], &["0", "1", "1", "0"])
}

pub(crate) fn line() -> Arc<Dataset> {
    rows(&[[1.], [2.], [2.5], [4.], [5.], [7.]], &["a", "a", "a", "b", "b", "b"])
}

/// The four patterns of a lecture's weight space.
fn four() -> Arc<Dataset> {
    rows(&[[2., 1.], [1., 3.], [-1., 2.], [-2., -1.]], &["a", "a", "b", "b"])
}

fn long_names() -> Arc<Dataset> {
    let mut builder = DatasetBuilder::new(2);
    builder.names(vec![
        "a \"column\" & <its> name that goes on and on and on and on".into(),
        "y".into(),
    ]);
    for (x, label) in [
        (1.0, "a class with a very long name & <b>tags</b>"),
        (2.0, "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW\u{7}"),
        (3.0, "a class with a very long name & <b>tags</b>"),
        (9.0, "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW\u{7}"),
    ] {
        builder.dense_row(&[x, 5.0], label).unwrap();
    }
    Arc::new(builder.finish().unwrap())
}

pub(crate) fn fit(learner: &dyn Learner, data: &Arc<Dataset>) -> LinearModel {
    learner.fit(&Task::new(Arc::clone(data)), &Limits::default(), &mut ()).unwrap().model
}

pub(crate) fn style() -> Style {
    Style::new("a title & <more>")
}

/// Every view that this data allows, by name.
fn views(data: &Arc<Dataset>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, svg: linsep::Result<String>| {
        if let Ok(svg) = svg {
            all.push((name.to_owned(), svg));
        }
    };
    add("rows alone", Pattern::of(data).draw(&style()));
    if data.n_classes() < 2 {
        return all;
    }
    for (name, learner) in [
        ("perceptron", &Perceptron::default() as &dyn Learner),
        ("least-squares", &LeastSquares::default()),
        ("bernoulli-nb", &linsep::learn::bayes::BernoulliBayes::default()),
    ] {
        let model = fit(learner, data);
        let mut pattern = Pattern::of(data);
        pattern.model = Some(&model);
        pattern.about = format!("{name}, trained on these rows");
        pattern.ambiguous = name == "least-squares";
        add(&format!("pattern of {name}"), pattern.draw(&style()));
        add(&format!("neuron of {name}"), Neuron::of(&model).draw(&style()));
        add(&format!("coefficients of {name}"), Coefficients::of(&model, data).draw(&style()));
        let evaluation = model.evaluate(data, None, 1);
        add(&format!("confusion of {name}"), Confusion::of(&evaluation).draw(&style()));
        if let Ok(histogram) = Histogram::of_model(data, name, &model) {
            add(&format!("histogram of {name}"), histogram.draw(&style()));
        }
    }
    add("weight", Weight::of(Arc::clone(data)).draw(&style()));
    for criterion in Criterion::ALL {
        let view = CriterionView::of(Arc::clone(data), criterion);
        add(criterion.word(), view.draw(&style()));
    }
    add("curves", Curves::of(Arc::clone(data)).draw(&style(), &|| false));
    if let Ok(means) = Direction::of_means(data) {
        add("histogram", Histogram::of(data, vec![means.clone(), means]).draw(&style()));
    }
    all
}

fn data_sets() -> Vec<(&'static str, Arc<Dataset>)> {
    vec![
        ("and", and()),
        ("xor", xor()),
        ("line", line()),
        ("four", four()),
        ("long names", long_names()),
        ("one point", rows(&[[3.0, 4.0]], &["only"])),
        ("equal points", rows(&[[3.0, 4.0], [3.0, 4.0]], &["a", "b"])),
        ("zeros", rows(&[[0.0, 0.0], [0.0, 0.0]], &["a", "b"])),
        ("huge", rows(&[[1e299, 1.0], [-1e299, 2.0]], &["a", "b"])),
        ("tiny", rows(&[[1e-300], [-1e-300]], &["a", "b"])),
        ("iris", example("iris.csv", None)),
        ("setosa", example("iris.csv", Some("setosa"))),
        ("wine", example("wine.csv", None)),
        ("digits", example("digits.csv", None)),
    ]
}

#[test]
fn every_picture_is_well_formed_and_all_its_numbers_are_finite() {
    let mut count = 0;
    for (set, data) in data_sets() {
        for (view, svg) in views(&data) {
            count += 1;
            let all = elements(&svg);
            assert_eq!(all[0].name, "svg", "{view} of {set}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{view} of {set}");
            for element in &all {
                for name in ["x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height"] {
                    if element.get(name).is_some() {
                        assert!(element.number(name).is_finite(), "{view} of {set}");
                    }
                }
                let numbers = |text: &str| {
                    let words = text.split(|c: char| "MLZ ".contains(c)).filter(|w| !w.is_empty());
                    words.map(|word| word.parse::<f64>().unwrap()).collect::<Vec<_>>()
                };
                let d = numbers(element.get("d").unwrap_or(""));
                assert!(d.iter().all(|x| x.abs() <= 1e5) && d.len().is_multiple_of(2), "{view}");
            }
        }
    }
    assert!(count > 120, "only {count} pictures were drawn");
}

/// About the box of a text, from below: what overlaps here overlaps on a screen.
fn text_box(element: &Element) -> [f64; 4] {
    let letter = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ' ' | '\'' | '|' => 0.28,
        'f' | 't' | 'r' | '(' | ')' | '-' => 0.36,
        'm' | 'w' | 'M' | 'W' => 0.85,
        'A'..='Z' => 0.65,
        _ => 0.55,
    };
    let size = element.number("font-size");
    let width = size * element.text.chars().map(letter).sum::<f64>();
    let (x, y) = (element.number("x"), element.number("y"));
    let start = match element.get("text-anchor") {
        Some("middle") => -width / 2.0,
        Some("end") => -width,
        _ => 0.0,
    };
    match element.get("transform") {
        Some(_) => [x - 0.7 * size, y - start - width, x + 0.15 * size, y - start],
        None => [x + start, y - 0.7 * size, x + start + width, y + 0.15 * size],
    }
}

#[test]
fn no_text_stands_on_another_or_leaves_the_sheet() {
    for (set, data) in data_sets() {
        for (view, svg) in views(&data) {
            let all = elements(&svg);
            let view_box: Vec<f64> =
                all[0].get("viewBox").unwrap().split(' ').map(|x| x.parse().unwrap()).collect();
            let texts: Vec<&Element> = all.iter().filter(|e| e.name == "text").collect();
            assert!(texts.len() >= 2, "{view} of {set}");
            for (k, text) in texts.iter().enumerate() {
                let a = text_box(text);
                assert!(
                    a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= view_box[2] && a[3] <= view_box[3],
                    "\"{}\" leaves the sheet in {view} of {set}: {a:?}",
                    text.text
                );
                for other in &texts[..k] {
                    let b = text_box(other);
                    let apart = a[0] >= b[2] || b[0] >= a[2] || a[1] >= b[3] || b[1] >= a[3];
                    assert!(
                        apart,
                        "\"{}\" stands on \"{}\" in {view} of {set}",
                        text.text, other.text
                    );
                }
            }
        }
    }
}

pub(crate) fn points(all: &[Element]) -> usize {
    all.iter().filter(|e| e.within.last().is_some_and(|class| class == "rows")).count()
}

#[test]
fn every_row_is_a_point_and_every_mistake_has_a_ring() {
    let data = example("iris.csv", None);
    let model = fit(&Lda::default(), &data);
    let mut pattern = Pattern::of(&data);
    pattern.model = Some(&model);
    let all = elements(&pattern.draw(&style()).unwrap());
    assert_eq!(points(&all), 150);
    let rings = all.iter().filter(|e| e.within.last().is_some_and(|class| class == "wrong"));
    assert_eq!(rings.count() as u64, model.evaluate(&data, None, 1).errors);
    assert_eq!(all.iter().filter(|e| e.is("region")).count(), 3);
}

#[test]
fn many_rows_are_thinned_and_the_caption_says_so() {
    let many: Vec<[f64; 2]> = (0..7001).map(|i| [f64::from(i % 83), f64::from(i % 71)]).collect();
    let labels: Vec<&str> = (0..7001).map(|i| if i % 2 == 0 { "a" } else { "b" }).collect();
    let data = rows(&many, &labels);
    let svg = Pattern::of(&data).draw(&style()).unwrap();
    let all = elements(&svg);
    assert_eq!(points(&all), MOST_ROWS);
    assert!(all.iter().any(|e| e.text.contains("5000 of the 7001 rows are drawn")));
}

#[test]
fn the_boundary_lies_on_the_plane_and_the_band_on_the_closest_rows() {
    let data = and();
    let model = fit(&Perceptron::default(), &data);
    let mut pattern = Pattern::of(&data);
    pattern.model = Some(&model);
    let all = elements(&pattern.draw(&style()).unwrap());
    let boundary = all.iter().find(|e| e.is("boundary")).expect("a boundary");
    let ends: Vec<f64> =
        boundary.get("data-ends").unwrap().split(' ').map(|x| x.parse().unwrap()).collect();
    for end in ends.chunks(2) {
        assert!(model.scores(end).unwrap()[0].abs() < 1e-9, "{end:?}");
    }
    // The ticks give the way back from the sheet to the data.
    let tick = |text: &str, axis: &str| {
        let found = all.iter().filter(|e| e.name == "text" && e.text == text);
        let mut at: Vec<f64> = found.map(|e| e.number(axis)).collect();
        at.sort_by(f64::total_cmp);
        at
    };
    let (x0, x1) = (tick("0", "x"), tick("1.0", "x"));
    let (y0, y1) = (tick("0", "y"), tick("1.0", "y"));
    let unit = x1[1] - x0[1];
    assert!((unit - (y0[0] - y1[0])).abs() < 0.1, "units are equally long");
    let value = |x: f64, y: f64| [(x - x0[1]) / unit, (y0[0] - 4.2 - y) / unit];
    for (class, sign) in [("negative", -1.0), ("positive", 1.0)] {
        let band = all.iter().find(|e| e.is(class)).expect("a margin");
        let scores: Vec<f64> =
            (0..4).map(|row| model.scores(&data.row(row)).unwrap()[0] * sign).collect();
        let closest = scores.into_iter().filter(|s| *s > 0.0).fold(f64::INFINITY, f64::min);
        for end in [["x1", "y1"], ["x2", "y2"]] {
            let at = value(band.number(end[0]), band.number(end[1]));
            let length = model.planes[0].weights[0].hypot(model.planes[0].weights[1]);
            let off = (model.scores(&at).unwrap()[0] * sign - closest) / length;
            assert!(off.abs() < 0.01, "{class}: {off}");
        }
    }
}

#[test]
fn hatching_covers_exactly_what_is_not_claimed_once() {
    let data = example("iris.csv", None);
    let model = fit(&LeastSquares::default(), &data);
    let mut pattern = Pattern::of(&data);
    (pattern.model, pattern.ambiguous) = (Some(&model), true);
    let all = elements(&pattern.draw(&style()).unwrap());
    assert!(all.iter().any(|e| e.is("ambiguous")));
    assert_eq!(model.claimants(&[1.0, -1.0, -2.0]), 1);
    assert_eq!(model.claimants(&[1.0, 0.0, -2.0]), 2);
    assert_eq!(model.claimants(&[-1.0, -0.5, -2.0]), 0);
    // One machine answers for two classes, so there is nothing to hatch.
    let data = and();
    let model = fit(&Perceptron::default(), &data);
    assert_eq!(model.claimants(&[-3.0]), 1);
    let mut pattern = Pattern::of(&data);
    (pattern.model, pattern.ambiguous) = (Some(&model), true);
    let all = elements(&pattern.draw(&style()).unwrap());
    assert!(!all.iter().any(|e| e.is("ambiguous")));
}

/// z·w for the reflected rows, in whole numbers.
fn products(data: &Dataset, w: [i128; 2]) -> Vec<i128> {
    let product = |row: usize| {
        let x = data.row(row);
        let y = if data.class_of(row) == 1 { 1 } else { -1 };
        let z = if x.len() == 1 { [1, x[0] as i128] } else { [x[0] as i128, x[1] as i128] };
        y * (z[0] * w[0] + z[1] * w[1])
    };
    (0..data.n_rows()).map(product).collect()
}

#[test]
fn the_cone_is_exactly_the_set_of_solutions() {
    // Every labelling of some whole points, against all directions of a grid.
    let grid = [[2., 1.], [1., 3.], [-1., 2.], [-2., -1.], [3., -1.]];
    let mut found = [0, 0];
    for labels in 1..31 {
        let names: Vec<&str> =
            (0..5).map(|k| if labels >> k & 1 == 1 { "b" } else { "a" }).collect();
        let data = rows(&grid, &names);
        let cone = cone(&data).unwrap();
        let solutions: Vec<[i128; 2]> = (-30..=30)
            .flat_map(|x| (-30..=30).map(move |y| [x, y]))
            .filter(|w| products(&data, *w).iter().all(|p| *p > 0))
            .collect();
        found[usize::from(cone.is_some())] += 1;
        assert_eq!(cone.is_some(), !solutions.is_empty(), "{names:?}");
        let Some(cone) = cone else { continue };
        let ray = |k: usize| -> [i128; 2] {
            [0, 1].map(|c| cone.rays[k][c].to_string().parse().unwrap())
        };
        let [right, left] = [ray(0), ray(1)];
        for ray in [right, left] {
            let products = products(&data, ray);
            assert!(products.iter().all(|p| *p >= 0) && products.contains(&0), "{names:?} {ray:?}");
        }
        // The middle solves, and what solves lies between the rays.
        let middle = [right[0] + left[0], right[1] + left[1]];
        assert!(products(&data, middle).iter().all(|p| *p > 0));
        for w in solutions {
            assert!(right[0] * w[1] - right[1] * w[0] > 0 && w[0] * left[1] - w[1] * left[0] > 0);
        }
        let svg = Weight::of(data).draw(&style()).unwrap();
        let drawn: Vec<Element> = elements(&svg).into_iter().filter(|e| e.is("ray")).collect();
        assert_eq!(drawn.len(), 2);
        assert_eq!(drawn[0].get("data-ray"), Some(cone.text(0).as_str()));
    }
    assert!(found[0] > 3 && found[1] > 3, "{found:?}");
}

#[test]
fn the_cone_of_decimals_is_exact_and_half_a_plane_is_a_cone_too() {
    // 0.1 + 0.2 is not 0.3 in binary64; read as decimals these rows are parallel.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("d.csv");
    std::fs::write(&file, "u,v,label\n0.1,0.3,b\n0.2,0.6,b\n-0.3,-0.9,a\n").unwrap();
    let data = Arc::new(read(&[file], &ReadOptions::default()).unwrap().data);
    let cone = cone(&data).unwrap().expect("a half-plane");
    assert_eq!([cone.text(0), cone.text(1)], ["(3, -1)", "(-3, 1)"]);
}

#[test]
fn the_walk_enters_the_cone_at_its_last_step() {
    let all = elements(&Weight::of(four()).draw(&style()).unwrap());
    let steps = all.iter().filter(|e| e.is("step")).count();
    let said = all.iter().find(|e| e.text.contains("entered the cone at step")).expect("a note");
    assert!(said.text.ends_with(&format!("step {}.", steps - 1)), "{}", said.text);
    assert_eq!(all.iter().filter(|e| e.is("enters")).count(), 1);
    let all = elements(&Weight::of(xor()).draw(&style()).unwrap());
    assert!(all.iter().any(|e| e.text.contains("empty")));
    assert!(!all.iter().any(|e| e.is("ray") || e.is("enters") || e.is("cone")));
}

#[test]
fn bars_count_every_row_and_cells_every_prediction() {
    let data = example("iris.csv", Some("setosa"));
    let means = Direction::of_means(&data).unwrap();
    let all = elements(&Histogram::of(&data, vec![means]).draw(&style()).unwrap());
    let count = |e: &Element| e.get("data-count").map_or(0, |n| n.parse::<u64>().unwrap());
    assert_eq!(all.iter().map(count).sum::<u64>(), 150);
    assert_eq!(all.iter().filter(|e| e.is("threshold")).count(), 1);
    let data = example("wine.csv", None);
    let model = fit(&Perceptron::default(), &data);
    let evaluation = model.evaluate(&data, None, 1);
    let all = elements(&Confusion::of(&evaluation).draw(&style()).unwrap());
    let cells: Vec<f64> = all.iter().filter(|e| e.is("cell")).map(|e| count(e) as f64).collect();
    let k = evaluation.classes.len() as u32;
    let counts = (0..k).flat_map(|class| evaluation.confusion.line(class));
    assert_eq!(cells, counts.collect::<Vec<_>>());
}

#[test]
fn the_length_of_the_weights_stays_between_its_bounds() {
    let all = elements(&Curves::of(and()).draw(&style(), &|| false).unwrap());
    let curve = |class: &str| -> Vec<[f64; 2]> {
        let path = all.iter().find(|e| e.is(class)).unwrap_or_else(|| panic!("no {class}"));
        let numbers: Vec<f64> = path
            .get("d")
            .unwrap()
            .split(|c: char| "ML ".contains(c))
            .filter(|word| !word.is_empty())
            .map(|word| word.parse().unwrap())
            .collect();
        numbers.chunks(2).map(|pair| [pair[0], pair[1]]).collect()
    };
    let at = |curve: &[[f64; 2]], x: f64| {
        let k = curve.iter().position(|point| point[0] >= x).unwrap_or(curve.len() - 1);
        let (from, to) = (curve[k.saturating_sub(1)], curve[k]);
        let share = if to[0] > from[0] { (x - from[0]) / (to[0] - from[0]) } else { 1.0 };
        from[1] + share.clamp(0.0, 1.0) * (to[1] - from[1])
    };
    let (upper, lower) = (curve("upper"), curve("lower"));
    // On a sheet up is down.
    for [x, y] in curve("length") {
        assert!(at(&upper, x) <= y + 0.6 && y <= at(&lower, x) + 0.6, "at {x}");
    }
    let note = all.iter().find(|e| e.text.contains("at most 51 updates"));
    assert!(note.is_some(), "the bound of and");
}

#[test]
fn a_neuron_has_a_line_for_every_weight() {
    let data = example("iris.csv", None);
    let model = fit(&Perceptron::default(), &data);
    let all = elements(&Neuron::of(&model).draw(&style()).unwrap());
    assert_eq!(all.iter().filter(|e| e.is("synapse")).count(), 15);
    let labels: Vec<String> = (0..11).map(|k| format!("c{k}")).collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let many: Vec<[f64; 1]> = (0..11).map(|k| [f64::from(k)]).collect();
    let model = fit(&Perceptron::default(), &rows(&many, &labels));
    let error = Neuron::of(&model).draw(&style()).unwrap_err().to_string();
    assert!(error.contains("10 planes") && error.contains("linsep show"), "{error}");
}

#[test]
fn what_cannot_be_drawn_is_refused_in_words() {
    let three = example("iris.csv", None);
    let refused = |result: linsep::Result<String>, words: &str| {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(Weight::of(Arc::clone(&three)).draw(&style()), "`positive=");
    let two = example("iris.csv", Some("setosa"));
    refused(Weight::of(Arc::clone(&two)).draw(&style()), "4 features");
    refused(CriterionView::of(two, Criterion::Squared).draw(&style()), "4 features");
    refused(Curves::of(three).draw(&style(), &|| false), "two classes");
    let huge = rows(&[[1e308, 0.0], [-1e308, 1.0]], &["a", "b"]);
    refused(Pattern::of(&huge).draw(&style()), "scale the columns");
    let mut pattern = Pattern::of(&huge);
    pattern.axes = Some([0, 7]);
    refused(pattern.draw(&style()), "axes");
}

#[test]
fn axes_are_found_by_name_and_by_number() {
    let mut builder = DatasetBuilder::new(3);
    builder.names(vec!["width".into(), "a,b".into(), "#1".into()]);
    builder.dense_row(&[1., 2., 3.], "x").unwrap();
    let data = builder.finish().unwrap();
    assert_eq!(axes_named(&data, "width,a,b").unwrap(), [0, 1]);
    assert_eq!(axes_named(&data, "a,b, width").unwrap(), [1, 0]);
    assert_eq!(axes_named(&data, "#2,#1").unwrap(), [1, 2]);
    for (text, words) in [
        ("width", "not two features"),
        ("width,width", "the same"),
        ("width,hight", "no column \"hight\""),
        ("#0,width", "no column \"#0\""),
        ("#4,width", "no column \"#4\""),
    ] {
        let error = axes_named(&data, text).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let all = || data_sets().into_iter().take(6).flat_map(|(_, data)| views(&data));
    assert!(all().eq(all()));
    let dense = and();
    let sparse = Arc::new(dense.with_other_storage());
    assert_eq!(views(&dense), views(&sparse));
}
