//! A graph of float64 operators of ONNX (opset 13) that gives the scores of linsep to the last bit.
//!
//! `MatMul` adds in whatever order a runtime likes, so it is not used for scores. The features are padded
//! with zeros to B blocks of eight, and a `Scan` over the blocks adds x·w of each block to eight lanes for
//! each plane, as the kernels do; three `Split` and `Add` are their tree:
//!
//! ```text
//! x [n, d] ── Pad, Reshape ──> [n, 1, B, 8] ── Scan: lanes + block · weights ──> [n, P, 8]
//!    [n, P, 8] ── halves added: 8, 4, 2, 1 ──> [n, P] ── Add bias ──> scores of the planes
//! ```
//!
//! Values that count as 0 or 1 are added one after the other, in blocks of one. What follows is exact in any
//! order: votes are whole numbers below 2^53. Multiplications and additions are operators of their own, so
//! no runtime joins them into one rounding.

use super::protobuf::{Message, all};
use super::{duels_of_classes, products, refusal, refuse_gaussians, with_parts};
use crate::model::{Ballot, LinearModel, Plane, Rule};
use linsep_data::error::Result;

/// Lanes of a dot product, and their tree by halves.
const LANES: usize = 8;

/// Numbers of the element types.
pub(super) const FLOAT: i64 = 1;
const INT64: i64 = 7;
pub(super) const STRING: i64 = 8;
const BOOL: i64 = 9;
const DOUBLE: i64 = 11;

/// Names of initializers that are read back.
const WEIGHTS: &str = "weights";
const BIAS: &str = "bias";
const CLASSES: &str = "classes";

pub(super) fn write(model: &LinearModel) -> Result<Vec<u8>> {
    refuse_gaussians(model)?;
    let mut graph = Graph::default();
    let planes = plane_scores(model, &mut graph);
    let (scores, names) = (polled(model, &mut graph, planes), model.score_names().len());
    let class = class_of(model, &mut graph, scores);
    graph.texts(CLASSES, &model.classes);
    graph.node("Gather", &[CLASSES, class], "label", vec![whole_attribute("axis", 0)]);
    graph.node("Identity", &[scores], "scores", Vec::new());
    let graph = graph
        .finish("linsep")
        .message(11, &value("x", DOUBLE, &[None, Some(model.n_features())]))
        .message(12, &value("label", STRING, &[None]))
        .message(12, &value("scores", DOUBLE, &[None, Some(names)]));
    finish(model, &graph, &[("", 13)])
}

/// The scores of the planes, [n, P].
fn plane_scores(model: &LinearModel, graph: &mut Graph) -> &'static str {
    let mut rows = expanded(model, graph);
    let (mut lanes, mut sign) = (LANES, 1.0);
    let mut start = vec![0.0; model.planes.len()];
    if let Some(threshold) = model.input.binarize {
        lanes = 1;
        graph.double("threshold", threshold);
        graph.node("Greater", &[rows, "threshold"], "above", Vec::new());
        let mut counted = "above";
        if threshold < 0.0 {
            // Zeros count, so what does not is taken away from the sum of all.
            sign = -1.0;
            for (start, plane) in start.iter_mut().zip(&model.planes) {
                *start = plane.weights.iter().sum();
            }
            graph.node("Not", &["above"], "below", Vec::new());
            counted = "below";
        }
        graph.node("Cast", &[counted], "counted", vec![whole_attribute("to", DOUBLE)]);
        rows = "counted";
    }
    let (count, width) = (model.planes.len(), model.input.width());
    let blocks = width.div_ceil(lanes);
    let gap = blocks * lanes - width;
    if gap > 0 {
        graph.whole("gap", &[4], &[0, 0, 0, gap as i64]);
        graph.node("Pad", &[rows, "gap"], "padded", Vec::new());
        rows = "padded";
    }
    graph.whole("block_shape", &[4], &[0, 1, blocks as i64, lanes as i64]);
    graph.node("Reshape", &[rows, "block_shape"], "blocks", Vec::new());
    graph.doubles(WEIGHTS, &[blocks, count, lanes], &blocked(model, lanes, sign));
    graph.doubles("start", &[1, count, 1], &start);
    graph.node("Shape", &["x"], "shape", Vec::new());
    graph.whole("zero", &[1], &[0]);
    graph.node("Gather", &["shape", "zero"], "count", vec![whole_attribute("axis", 0)]);
    graph.whole("lane_shape", &[2], &[count as i64, lanes as i64]);
    graph.node("Concat", &["count", "lane_shape"], "sum_shape", vec![whole_attribute("axis", 0)]);
    graph.node("Expand", &["start", "sum_shape"], "sums", Vec::new());
    let mut body = Graph::default();
    body.node("Mul", &["block", "block_weights"], "terms", Vec::new());
    body.node("Add", &["lanes_before", "terms"], "lanes_after", Vec::new());
    let body = body
        .finish("add_block")
        .messages(11, &["lanes_before", "block", "block_weights"].map(untyped_shape))
        .message(12, &untyped_shape("lanes_after"));
    let attributes = vec![
        graph_attribute("body", &body),
        whole_attribute("num_scan_inputs", 2),
        wholes_attribute("scan_input_axes", &[2, 0]),
    ];
    graph.node("Scan", &["sums", "blocks", WEIGHTS], "lanes", attributes);
    let mut sums = "lanes";
    if lanes == LANES {
        for (half, names) in [(4, TREE[0]), (2, TREE[1]), (1, TREE[2])] {
            let [sizes, left, right, sum] = names;
            graph.whole(sizes, &[2], &[half, half]);
            let axis = vec![whole_attribute("axis", 2)];
            graph.nodes("Split", &[sums, sizes], &[left, right], axis);
            graph.node("Add", &[left, right], sum, Vec::new());
            sums = sum;
        }
    }
    graph.whole("last_axis", &[1], &[2]);
    graph.node("Squeeze", &[sums, "last_axis"], "products", Vec::new());
    let biases: Vec<f64> = model.planes.iter().map(|plane| plane.bias).collect();
    graph.doubles(BIAS, &[count], &biases);
    graph.node("Add", &["products", BIAS], "plane_scores", Vec::new());
    "plane_scores"
}

/// The names of the halves of the tree.
const TREE: [[&str; 4]; 3] = [
    ["halves_of_8", "left_4", "right_4", "lanes_4"],
    ["halves_of_4", "left_2", "right_2", "lanes_2"],
    ["halves_of_2", "left_1", "right_1", "lanes_1"],
];

/// The features of the planes: x, or x with its products. A factor that a product lacks is 1, and a
/// product with a factor 0 is 0, whatever the others are.
fn expanded(model: &LinearModel, graph: &mut Graph) -> &'static str {
    let products = products(model);
    let Some(degree) = products.iter().map(Vec::len).max() else { return "x" };
    let one = model.n_features() as i64;
    graph.whole("one_more", &[4], &[0, 0, 0, 1]);
    graph.double("one", 1.0);
    graph.double("nothing", 0.0);
    graph.node("Pad", &["x", "one_more", "one"], "x_and_1", Vec::new());
    graph.node("Sign", &["x_and_1"], "signs", Vec::new());
    let axis = || vec![whole_attribute("axis", 1)];
    let mut so_far: Option<[String; 2]> = None;
    for place in 0..degree {
        let factor = |factors: &Vec<u32>| factors.get(place).map_or(one, |j| i64::from(*j));
        let factors: Vec<i64> = products.iter().map(factor).collect();
        let name = |what: &str| format!("{what}_{}", place + 1);
        graph.whole(&name("factors"), &[factors.len()], &factors);
        let mut next = [String::new(), String::new()];
        for (k, from) in ["x_and_1", "signs"].into_iter().enumerate() {
            let taken = name(&format!("{from}_of_factor"));
            graph.node("Gather", &[from, &name("factors")], &taken, axis());
            next[k] = taken;
            if let Some(so_far) = &so_far {
                let product = name(&format!("{from}_product"));
                graph.node("Mul", &[&so_far[k], &next[k]], &product, Vec::new());
                next[k] = product;
            }
        }
        so_far = Some(next);
    }
    let [product, sign] = so_far.unwrap_or_default();
    graph.node("Equal", &[&sign, "nothing"], "has_zero", Vec::new());
    graph.node("Where", &["has_zero", "nothing", &product], "terms_of_x", Vec::new());
    graph.node("Concat", &["x", "terms_of_x"], "phi", axis());
    "phi"
}

/// The weights in blocks of lanes, [B, P, lanes], zeros behind the last.
fn blocked(model: &LinearModel, lanes: usize, sign: f64) -> Vec<f64> {
    let width = model.input.width();
    let blocks = width.div_ceil(lanes);
    let mut weights = Vec::with_capacity(blocks * lanes * model.planes.len());
    for from in (0..width).step_by(lanes) {
        for plane in &model.planes {
            let weight = |j: usize| plane.weights.get(j).map_or(0.0, |w| sign * w);
            weights.extend((from..from + lanes).map(weight));
        }
    }
    weights
}

/// From the scores of the planes to those of the rule: votes are counted.
fn polled(model: &LinearModel, graph: &mut Graph, planes: &'static str) -> &'static str {
    let Rule::Ballot(Ballot { votes, .. }) = &model.rule else { return planes };
    let classifiers = votes.len();
    let mut matrix = vec![0.0; model.planes.len() * classifiers];
    for (plane, (classifier, held)) in votes
        .iter()
        .enumerate()
        .flat_map(|(classifier, votes)| votes.iter().map(move |held| (classifier, *held)))
        .enumerate()
    {
        matrix[plane * classifiers + classifier] = held as f64;
    }
    let totals: Vec<f64> = votes.iter().map(|votes| votes.iter().sum::<u64>() as f64).collect();
    graph.double("no_score", 0.0);
    graph.double("for", 1.0);
    graph.double("against", -1.0);
    graph.doubles("votes", &[model.planes.len(), classifiers], &matrix);
    graph.doubles("all_votes", &[classifiers], &totals);
    graph.node("GreaterOrEqual", &[planes, "no_score"], "is_for", Vec::new());
    graph.node("Where", &["is_for", "for", "against"], "sides", Vec::new());
    graph.node("MatMul", &["sides", "votes"], "leads", Vec::new());
    graph.node("Div", &["leads", "all_votes"], "shares", Vec::new());
    "shares"
}

/// The place of the class of each row, [n].
fn class_of(model: &LinearModel, graph: &mut Graph, scores: &'static str) -> &'static str {
    let arg_max = || vec![whole_attribute("axis", 1), whole_attribute("keepdims", 0)];
    match model.rule.on_scores() {
        Rule::Sign | Rule::Ballot(_) => {
            graph.double("level", 0.0);
            graph.whole("score_axis", &[1], &[1]);
            graph.node("GreaterOrEqual", &[scores, "level"], "is_second", Vec::new());
            let to = vec![whole_attribute("to", INT64)];
            graph.node("Cast", &["is_second"], "second", to);
            graph.node("Squeeze", &["second", "score_axis"], "class", Vec::new());
        }
        Rule::ArgMax | Rule::Rest => graph.node("ArgMax", &[scores], "class", arg_max()),
        // A score of 0 for the last class: an earlier class with 0 goes first.
        Rule::RestLast => {
            graph.whole("last_class", &[4], &[0, 0, 0, 1]);
            graph.node("Pad", &[scores, "last_class"], "all_scores", Vec::new());
            graph.node("ArgMax", &["all_scores"], "class", arg_max());
        }
        Rule::Vote => {
            votes_of_duels(model, graph, scores);
            graph.node("ArgMax", &["standings"], "class", arg_max());
        }
    }
    "class"
}

/// The sums of the classes with the most duels won, −∞ for the others.
fn votes_of_duels(model: &LinearModel, graph: &mut Graph, scores: &'static str) {
    let classes = model.classes.len();
    let duels = duels_of_classes(classes);
    let flat = || duels.iter().flatten();
    let places: Vec<i64> = flat().map(|(place, _)| *place as i64).collect();
    let signs: Vec<f64> = flat().map(|(_, own)| if *own { 1.0 } else { -1.0 }).collect();
    let against: Vec<bool> = flat().map(|(_, own)| !own).collect();
    let shape = [1, classes, classes - 1];
    graph.whole("duels", &[places.len()], &places);
    graph.whole("duel_shape", &[3], &[0, classes as i64, classes as i64 - 1]);
    graph.doubles("duel_signs", &shape, &signs);
    graph.truths("duel_against", &shape, &against);
    graph.double("level", 0.0);
    graph.node("Gather", &[scores, "duels"], "listed", vec![whole_attribute("axis", 1)]);
    graph.node("Reshape", &["listed", "duel_shape"], "duel_scores", Vec::new());
    graph.node("GreaterOrEqual", &["duel_scores", "level"], "later_won", Vec::new());
    graph.node("Xor", &["later_won", "duel_against"], "won", Vec::new());
    graph.node("Cast", &["won"], "won_number", vec![whole_attribute("to", DOUBLE)]);
    graph.whole("duel_axis", &[1], &[2]);
    let kept = |keep: i64| whole_attribute("keepdims", keep);
    graph.node("ReduceSum", &["won_number", "duel_axis"], "wins", vec![kept(0)]);
    graph.node("ReduceMax", &["wins"], "most_wins", vec![wholes_attribute("axes", &[1]), kept(1)]);
    graph.node("Equal", &["wins", "most_wins"], "is_best", Vec::new());
    graph.node("Mul", &["duel_scores", "duel_signs"], "in_favour", Vec::new());
    // The sums are added opponent by opponent, as linsep does.
    graph.whole("class_count", &[1], &[classes as i64]);
    let axis = vec![whole_attribute("axis", 0)];
    graph.node("Concat", &["count", "class_count"], "favour_shape", axis);
    graph.node("Expand", &["level", "favour_shape"], "favour_start", Vec::new());
    let mut body = Graph::default();
    body.node("Add", &["favour_before", "favour"], "favour_after", Vec::new());
    let body = body
        .finish("add_duel")
        .messages(11, &["favour_before", "favour"].map(untyped_shape))
        .message(12, &untyped_shape("favour_after"));
    let attributes = vec![
        graph_attribute("body", &body),
        whole_attribute("num_scan_inputs", 1),
        wholes_attribute("scan_input_axes", &[2]),
    ];
    graph.node("Scan", &["favour_start", "in_favour"], "favours", attributes);
    graph.double("least", f64::NEG_INFINITY);
    graph.node("Where", &["is_best", "favours", "least"], "standings", Vec::new());
}

/// The whole file around a graph.
pub(super) fn finish(
    model: &LinearModel,
    graph: &Message,
    operators: &[(&str, i64)],
) -> Result<Vec<u8>> {
    /// What a reader of protocol buffers takes.
    const MOST: usize = (1 << 31) - 1;
    let operators: Vec<Message> = operators
        .iter()
        .map(|(domain, version)| Message::default().text(1, domain).whole(2, *version))
        .collect();
    let mut names = model.input.feature_names();
    names.truncate(model.n_features());
    let property = |key: &str, names: &[String]| {
        let list = serde_json::Value::from(names.to_vec()).to_string();
        Message::default().text(1, key).text(2, &list)
    };
    let properties = [
        property("linsep.features", &names),
        property("linsep.classes", &model.classes),
        property("linsep.scores", &model.score_names()),
    ];
    let bytes = Message::default()
        .whole(1, 7)
        .text(2, "linsep")
        .text(3, env!("CARGO_PKG_VERSION"))
        .message(7, graph)
        .messages(8, &operators)
        .messages(14, &properties)
        .into_bytes();
    match bytes.len() > MOST {
        true => Err(refusal(
            format!("the model takes {} bytes, an ONNX file at most {MOST}", bytes.len()),
            "export to c or json, or train with fewer features",
        )),
        false => Ok(bytes),
    }
}

/// The model of a file that [`write`] wrote.
pub(super) fn read(bytes: &[u8], model: &LinearModel) -> std::result::Result<LinearModel, String> {
    parts(bytes, model).ok_or_else(|| "its planes or its classes are damaged".to_owned())
}

fn parts(bytes: &[u8], model: &LinearModel) -> Option<LinearModel> {
    let graph = *all(bytes, 7)?.first()?;
    let tensors = all(graph, 5)?;
    let called = |name: &str| {
        let is_it = |tensor: &&&[u8]| {
            all(tensor, 8).is_some_and(|names| names.first() == Some(&name.as_bytes()))
        };
        tensors.iter().find(is_it).copied()
    };
    let doubles = |name: &str| {
        let raw = *all(called(name)?, 9)?.first()?;
        let (numbers, rest) = raw.as_chunks::<8>();
        let numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
        rest.is_empty().then(|| numbers.collect::<Vec<f64>>())
    };
    let (lanes, sign) = match model.input.binarize {
        None => (LANES, 1.0),
        Some(threshold) if threshold < 0.0 => (1, -1.0),
        Some(_) => (1, 1.0),
    };
    let (weights, biases) = (doubles(WEIGHTS)?, doubles(BIAS)?);
    let (count, width) = (biases.len(), model.input.width());
    if weights.len() != width.div_ceil(lanes) * lanes * count {
        return None;
    }
    let weight = |k: usize, j: usize| sign * weights[(j / lanes * count + k) * lanes + j % lanes];
    let plane =
        |(k, &bias): (usize, &f64)| Plane::new((0..width).map(|j| weight(k, j)).collect(), bias);
    let planes = biases.iter().enumerate().map(plane).collect();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let classes = all(called(CLASSES)?, 6)?.into_iter().map(text).collect::<Option<_>>()?;
    Some(with_parts(model, planes, classes))
}

/// Nodes and initializers in the making.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    tensors: Vec<Message>,
}

impl Graph {
    fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: Vec<Message>) {
        self.nodes(operator, inputs, &[output], attributes);
    }

    fn nodes(&mut self, operator: &str, from: &[&str], to: &[&str], attributes: Vec<Message>) {
        self.nodes.push(node(operator, from, to, &attributes));
    }

    /// Puts in a node as it is.
    pub(super) fn add(&mut self, node: Message) {
        self.nodes.push(node);
    }

    fn double(&mut self, name: &str, value: f64) {
        self.doubles(name, &[], &[value]);
    }

    fn doubles(&mut self, name: &str, shape: &[usize], values: &[f64]) {
        self.raw(name, DOUBLE, shape, values.iter().flat_map(|x| x.to_le_bytes()).collect());
    }

    fn whole(&mut self, name: &str, shape: &[usize], values: &[i64]) {
        self.raw(name, INT64, shape, values.iter().flat_map(|n| n.to_le_bytes()).collect());
    }

    fn truths(&mut self, name: &str, shape: &[usize], values: &[bool]) {
        self.raw(name, BOOL, shape, values.iter().map(|truth| u8::from(*truth)).collect());
    }

    fn texts(&mut self, name: &str, texts: &[String]) {
        let tensor = tensor(name, STRING, &[texts.len()]);
        self.tensors.push(texts.iter().fold(tensor, |tensor, text| tensor.text(6, text)));
    }

    fn raw(&mut self, name: &str, element: i64, shape: &[usize], bytes: Vec<u8>) {
        self.tensors.push(tensor(name, element, shape).bytes(9, &bytes));
    }

    /// The graph without inputs and outputs.
    pub(super) fn finish(self, name: &str) -> Message {
        Message::default().messages(1, &self.nodes).text(2, name).messages(5, &self.tensors)
    }
}

fn tensor(name: &str, element: i64, shape: &[usize]) -> Message {
    let start = Message::default();
    let tensor = shape.iter().fold(start, |tensor, length| tensor.whole(1, *length as i64));
    tensor.whole(2, element).text(8, name)
}

pub(super) fn node(operator: &str, from: &[&str], to: &[&str], attributes: &[Message]) -> Message {
    let node = from.iter().fold(Message::default(), |node, name| node.text(1, name));
    let node = to.iter().fold(node, |node, name| node.text(2, name));
    node.text(4, operator).messages(5, attributes)
}

/// An input or output; a dimension without a length is the number of rows.
pub(super) fn value(name: &str, element: i64, shape: &[Option<usize>]) -> Message {
    let dimension = |length: &Option<usize>| match length {
        Some(length) => Message::default().whole(1, *length as i64),
        None => Message::default().text(2, "rows"),
    };
    let shape: Vec<Message> = shape.iter().map(dimension).collect();
    let shape = Message::default().messages(1, &shape);
    let tensor = Message::default().whole(1, element).message(2, &shape);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

/// A value inside of a `Scan`: float64 of the shape that it gets.
fn untyped_shape(name: &str) -> Message {
    let tensor = Message::default().whole(1, DOUBLE);
    Message::default().text(1, name).message(2, &Message::default().message(1, &tensor))
}

fn whole_attribute(name: &str, value: i64) -> Message {
    Message::default().text(1, name).whole(3, value).whole(20, 2)
}

fn wholes_attribute(name: &str, values: &[i64]) -> Message {
    let start = Message::default().text(1, name);
    values.iter().fold(start, |attribute, value| attribute.whole(8, *value)).whole(20, 7)
}

fn graph_attribute(name: &str, graph: &Message) -> Message {
    Message::default().text(1, name).message(6, graph).whole(20, 5)
}
