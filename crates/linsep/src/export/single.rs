//! The operator `LinearClassifier` of ONNX (ai.onnx.ml), which works in float32.
//!
//! Rounding to binary32 makes another model, and nothing that was proved of the planes is proved of the
//! rounded ones. So [`Rounded`] asks again: the checker about the claims, and every row of a data set
//! whether it keeps its class.
//!
//! **Rows.** A runtime adds in an order of its own, with or without fused steps. Whatever it does, the
//! computed score of n terms and a bias is within γ (Σ|xⱼwⱼ| + |b|) of x·w + b, with γ = (n+1)u/(1 − (n+1)u)
//! and u = 2⁻²⁴ (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), and a little for what
//! falls below the normal range. A row keeps its class if the least value of the score of its class is above
//! the largest of every other. Where all terms are multiples of a power of two q and Σ|xⱼwⱼ| + |b| is at most
//! 2²⁴q, no sum is rounded at all, and ties are decided as linsep decides them.
//!
//! **Two classes** have two planes here, that of the second class first: the operator takes the first of equal
//! scores, and a score of 0 is of the second class.

use super::onnx::{FLOAT, Graph, STRING, finish, node, value};
use super::protobuf::{Message, Value, all, fields};
use super::{refusal, refuse_more_than_planes, with_parts};
use crate::file::ModelFile;
use crate::model::{LinearModel, Plane, Rule};
use linsep_data::Dataset;
use linsep_data::error::{Result, printable};
use linsep_proof::{CertificateFile, Claim, Finding, check_file, measure_optimal};

/// A model whose planes were rounded to binary32.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rounded {
    /// The model with the rounded planes.
    pub model: LinearModel,
    /// Classes and planes as the file lists them.
    listed: Vec<(usize, Plane)>,
}

/// Rounds the planes of a model to binary32. A model that is more than planes is refused, and so are weights
/// outside the range of binary32.
pub fn round_to_single(model: &LinearModel) -> Result<Rounded> {
    refuse_more_than_planes(model, "the operator LinearClassifier")?;
    let round = |x: f64| f64::from(x as f32);
    let mut rounded = model.clone();
    for plane in &mut rounded.planes {
        plane.weights.iter_mut().for_each(|w| *w = round(*w));
        plane.bias = round(plane.bias);
    }
    let numbers =
        |model: &LinearModel| model.planes.iter().map(|plane| plane.bias).collect::<Vec<_>>();
    let before = model.planes.iter().flat_map(|plane| &plane.weights).copied();
    let after = rounded.planes.iter().flat_map(|plane| &plane.weights).copied();
    let all_before = before.chain(numbers(model));
    let lost = |(was, is): &(f64, f64)| !is.is_finite() || (*is == 0.0 && *was != 0.0);
    if let Some((was, _)) = all_before.zip(after.chain(numbers(&rounded))).find(lost) {
        let words = format!("the weight {was:?} is outside the range of binary32");
        return Err(refusal(words, "export to onnx, which is float64, or rescale the columns"));
    }
    let listed = match rounded.clone().with_plane_for_each_class()? {
        LinearModel { rule: Rule::Sign, mut planes, .. } => {
            let plane = planes.swap_remove(0);
            let turned = Plane::new(plane.weights.iter().map(|w| -w).collect(), -plane.bias);
            vec![(1, plane), (0, turned)]
        }
        each => each.planes.into_iter().enumerate().collect(),
    };
    Ok(Rounded { model: rounded, listed })
}

impl Rounded {
    /// Whether every evaluation in binary32 gives a row this class; the row has the values of some features,
    /// which are rounded too, and 0 elsewhere.
    pub fn keeps(&self, row: &[(u32, f64)], class: u32) -> bool {
        let scores: Vec<(usize, Score)> =
            self.listed.iter().map(|(k, plane)| (*k, Score::of(plane, row))).collect();
        let Some(own) = scores.iter().position(|(k, _)| *k == class as usize) else { return false };
        let (_, best) = &scores[own];
        best.error.is_finite()
            && scores.iter().enumerate().filter(|(place, _)| *place != own).all(
                |(place, (_, other))| match best.error == 0.0 && other.error == 0.0 {
                    // The operator takes the first of equal scores.
                    true if own < place => best.value >= other.value,
                    _ => best.value - best.error > other.value + other.error,
                },
            )
    }

    /// What is proved of the rounded planes: the claims of the model's file, made about them and confirmed
    /// by the checker on the data that the model was trained on; the gap of an optimum is measured anew.
    /// Refused where a claim does not hold of them.
    pub fn certificate(
        &self,
        file: &ModelFile,
        data: &Dataset,
        threads: usize,
    ) -> Result<CertificateFile> {
        let mut certificate = file.certificate_about(&self.model);
        let reading = certificate.reading.clone();
        let help = "export to onnx, which is float64 and keeps the planes";
        for claim in &mut certificate.claims {
            let Claim::Optimal { planes, optimality } = claim else { continue };
            match measure_optimal(planes, optimality, data, &reading, threads) {
                Ok(measured) => *optimality = measured,
                Err(words) => {
                    let words = format!("nothing is proved of the planes in binary32: {words}");
                    return Err(refusal(words, help));
                }
            }
        }
        let digest = data.digest_of(certificate.data.digest, threads);
        let findings = check_file(&certificate, data, &digest, threads);
        for (claim, finding) in certificate.claims.iter().zip(findings) {
            if let Finding::Fails(words) = finding {
                let (name, words) = (claim.name(), printable(words.as_bytes(), 300));
                let words = format!("\"{name}\" does not hold of the planes in binary32: {words}");
                return Err(refusal(words, help));
            }
        }
        Ok(certificate)
    }
}

/// A score as any evaluation in binary32 gives it: value ± error. The error is not finite where there may be
/// an overflow.
struct Score {
    value: f64,
    error: f64,
}

impl Score {
    fn of(plane: &Plane, row: &[(u32, f64)]) -> Score {
        const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
        /// The least normal number of binary32.
        const LEAST: f64 = f32::MIN_POSITIVE as f64;
        let (mut value, mut size, mut grain) = (plane.bias, plane.bias.abs(), grain(plane.bias));
        for &(j, x) in row {
            // A product of two numbers of 24 bits is exact in binary64.
            let term = f64::from(x as f32) * plane.weights.get(j as usize).copied().unwrap_or(0.0);
            value += term;
            size += term.abs();
            grain = grain.min(self::grain(term));
        }
        if size <= grain / UNIT && grain >= LEAST {
            return Score { value, error: 0.0 };
        }
        let roundings = (row.len() + 2) as f64 * UNIT;
        if !(size < f64::from(f32::MAX) / 2.0 && roundings < 0.5) {
            return Score { value, error: f64::INFINITY };
        }
        // The sums here are rounded too, far below the last factor.
        let relative = roundings / (1.0 - roundings) * (1.0 + UNIT);
        let underflow = 4.0 * (row.len() + 2) as f64 * LEAST;
        Score { value, error: relative * size + underflow }
    }
}

/// The largest power of two that divides a number; ∞ for 0.
fn grain(x: f64) -> f64 {
    if x == 0.0 {
        return f64::INFINITY;
    }
    if !x.is_normal() {
        return 0.0;
    }
    let bits = x.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let last =
        if fraction == 0 { exponent } else { exponent - 52 + fraction.trailing_zeros() as i32 };
    2f64.powi(last)
}

pub(super) fn write(model: &LinearModel) -> Result<Vec<u8>> {
    let Rounded { model: rounded, listed } = round_to_single(model)?;
    let numbers = |name: &str, numbers: &mut dyn Iterator<Item = f64>| {
        let start = Message::default().text(1, name);
        numbers.fold(start, |attribute, x| attribute.single(7, x as f32)).whole(20, 6)
    };
    let labels = listed.iter().fold(Message::default().text(1, LABELS), |attribute, (k, _)| {
        attribute.text(9, &rounded.classes[*k])
    });
    let weights = &mut listed.iter().flat_map(|(_, plane)| plane.weights.iter().copied());
    let attributes = [
        labels.whole(20, 8),
        numbers(WEIGHTS, weights),
        numbers(BIAS, &mut listed.iter().map(|(_, plane)| plane.bias)),
        Message::default().text(1, "post_transform").text(4, "NONE").whole(20, 3),
    ];
    let classifier = node("LinearClassifier", &["x"], &["label", "scores"], &attributes);
    let mut graph = Graph::default();
    graph.add(classifier.text(7, DOMAIN));
    let graph = graph
        .finish("linsep")
        .message(11, &value("x", FLOAT, &[None, Some(rounded.n_features())]))
        .message(12, &value("label", STRING, &[None]))
        .message(12, &value("scores", FLOAT, &[None, Some(listed.len())]));
    finish(&rounded, &graph, &[("", 13), (DOMAIN, 1)])
}

const DOMAIN: &str = "ai.onnx.ml";
const WEIGHTS: &str = "coefficients";
const BIAS: &str = "intercepts";
const LABELS: &str = "classlabels_strings";

/// The model of a file that [`write`] wrote: the highest score wins, or the sign of the first of two.
pub(super) fn read(bytes: &[u8], model: &LinearModel) -> std::result::Result<LinearModel, String> {
    parts(bytes, model).ok_or_else(|| "its planes or its classes are damaged".to_owned())
}

fn parts(bytes: &[u8], model: &LinearModel) -> Option<LinearModel> {
    let graph = *all(bytes, 7)?.first()?;
    let node = *all(graph, 1)?.first()?;
    let attributes = all(node, 5)?;
    let called = |name: &str| {
        let is_it = |attribute: &&&[u8]| {
            all(attribute, 1).is_some_and(|names| names.first() == Some(&name.as_bytes()))
        };
        attributes.iter().find(is_it).copied()
    };
    let numbers = |name: &str| {
        let number = |(field, value): (u32, Value<'_>)| match value {
            Value::Single(x) if field == 7 => Some(f64::from(x)),
            _ => None,
        };
        Some(fields(called(name)?)?.into_iter().filter_map(number).collect::<Vec<f64>>())
    };
    let (weights, biases) = (numbers(WEIGHTS)?, numbers(BIAS)?);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let mut classes =
        all(called(LABELS)?, 9)?.into_iter().map(text).collect::<Option<Vec<String>>>()?;
    let width = model.input.width();
    if weights.len() != width * biases.len() || biases.len() != classes.len() {
        return None;
    }
    let planes = weights.chunks(width.max(1)).zip(&biases);
    let mut planes: Vec<Plane> =
        planes.map(|(weights, bias)| Plane::new(weights.to_vec(), *bias)).collect();
    let mut rule = Rule::ArgMax;
    if model.rule == Rule::Sign {
        classes.reverse();
        planes.truncate(1);
        rule = Rule::Sign;
    }
    Some(with_parts(model, planes, classes).with_rule(rule).with_link(crate::model::Link::None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use linsep_data::input::InputMap;

    fn model(weights: &[f64], bias: f64) -> LinearModel {
        let classes = vec!["a".to_owned(), "b".to_owned()];
        let plane = Plane::new(weights.to_vec(), bias);
        LinearModel::new(vec![plane], Rule::Sign, classes, InputMap::plain(weights.len()))
    }

    #[test]
    fn the_grain_of_a_number_is_its_last_bit() {
        for (x, last) in [(1.0, 1.0), (-6.0, 2.0), (0.75, 0.25), (1.5e-3, 2f64.powi(-61))] {
            assert_eq!(grain(x), last, "{x}");
        }
        assert_eq!(grain(0.0), f64::INFINITY);
        assert_eq!(grain(5e-324), 0.0);
    }

    /// Whole numbers are added without rounding, so a score of 0 is certain; sums of tenths are not.
    #[test]
    fn a_row_keeps_its_class_where_rounding_cannot_change_it() {
        let and = round_to_single(&model(&[1.0, 1.0], -2.0)).unwrap();
        assert!(and.keeps(&[(0, 1.0), (1, 1.0)], 1));
        assert!(and.keeps(&[(0, 1.0)], 0));
        assert!(!and.keeps(&[(0, 1.0)], 1));
        let tenths = round_to_single(&model(&[0.1, 0.2], -0.3)).unwrap();
        assert!(!tenths.keeps(&[(0, 1.0), (1, 1.0)], 1));
        assert!(!tenths.keeps(&[(0, 1.0), (1, 1.0)], 0));
        assert!(tenths.keeps(&[(0, 1.001), (1, 1.0)], 1));
        assert!(!tenths.keeps(&[(0, 1e39)], 1));
    }

    /// Rows near the boundary, added in binary32 in several orders: what is kept is never lost.
    #[test]
    fn what_is_kept_holds_in_every_order() {
        use linsep_data::rng::{Purpose, Stream};
        let mut stream = Stream::new(7, Purpose::Generate(1));
        let (mut kept, mut open) = (0, 0);
        for _ in 0..2000 {
            let weights: Vec<f64> = (0..12).map(|_| stream.normal()).collect();
            let mut row: Vec<(u32, f64)> = (0..12).map(|j| (j, stream.normal())).collect();
            let sum: f64 = row.iter().zip(&weights).map(|((_, x), w)| x * w).sum();
            let away = stream.normal() * 2e-5;
            let rounded = round_to_single(&model(&weights, away - sum)).unwrap();
            let plane = &rounded.model.planes[0];
            let class = u32::from(away >= 0.0);
            let keeps = rounded.keeps(&row, class);
            *(if keeps { &mut kept } else { &mut open }) += 1;
            for turn in 0..12 {
                row.rotate_left(1);
                let (from, bias) =
                    if turn % 2 == 0 { (plane.bias as f32, 0.0) } else { (0.0, plane.bias as f32) };
                let add = |sum: f32, (j, x): &(u32, f64)| {
                    sum + *x as f32 * plane.weights[*j as usize] as f32
                };
                let score = row.iter().fold(from, add) + bias;
                assert!(!keeps || u32::from(score >= 0.0) == class, "{score}");
            }
        }
        assert!(kept > 200 && open > 200, "{kept} {open}");
    }

    #[test]
    fn numbers_outside_of_binary32_are_refused() {
        for (weight, bias) in [(1e39, 0.0), (1e-60, 0.0), (1.0, 1e300)] {
            assert!(round_to_single(&model(&[weight], bias)).is_err());
        }
    }
}
