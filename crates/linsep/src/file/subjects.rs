//! What the claims of a model file are about. A claim binds the thing that it stands beside: the planes of
//! the model, or the data alone.
//!
//! In a file of version 2 a claim about the model's planes refers to them: `"plane": 0` is the plane of this
//! number, `"planes": "model"` are all of them, one for each class in their order. Only exact planes of
//! fractions, which no model can hold, stand in their claims. A plane has its part: the model's rule says
//! which classes it tells apart, and a claim that says otherwise is not about it.

use crate::claim::planes::{class_planes, float_plane};
use crate::model::{LinearModel, Plane, Rule};
use linsep_proof::{
    CertificateFile, Claim, ClassPlane, ExactNumber, ExactPlane, FORMAT_2, FloatPlane, Planes,
    Problem, form,
};
use serde_json::{Value, json};

/// What a claim in a model file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// The data: whatever planes it has are evidence.
    Data,
    /// Exact planes of fractions of its own, which the model's planes are near to at best.
    Exact,
    /// The plane of this number.
    Plane(usize),
    /// All planes, one for each class.
    Planes,
    /// Planes that are not the model's.
    Others,
}

impl Subject {
    /// What a claim beside this model is about.
    pub(super) fn of(model: &LinearModel, claim: &Claim) -> Subject {
        match claim {
            Claim::Separable { plane, .. } if has_fractions(numbers_of(plane)) => Subject::Exact,
            Claim::Separable { problem, plane } | Claim::Mistakes { problem, plane, .. } => {
                let found = FloatPlane::try_from(plane.clone());
                found.map_or(Subject::Others, |plane| one(model, problem, &plane))
            }
            Claim::JointSeparable { planes } => {
                let bare = |plane: &ClassPlane| {
                    let ClassPlane { weights, sparse, bias, .. } = plane.clone();
                    ExactPlane { weights, sparse, bias }
                };
                if planes.iter().any(|plane| has_fractions(numbers_of(&bare(plane)))) {
                    return Subject::Exact;
                }
                let planes: Result<Vec<FloatPlane>, _> =
                    planes.iter().cloned().map(FloatPlane::try_from).collect();
                planes.map_or(Subject::Others, |planes| all(model, &planes))
            }
            Claim::Optimal { planes, .. }
            | Claim::Stationary { planes, .. }
            | Claim::Counts { planes, .. } => match planes {
                Planes::Two { problem, plane } => one(model, problem, plane),
                Planes::Each(planes) => all(model, planes),
            },
            _ => Subject::Data,
        }
    }
}

fn one(model: &LinearModel, problem: &Problem, plane: &FloatPlane) -> Subject {
    match place(model, problem) {
        Some(k) if is_plane(&model.planes[k], plane) => Subject::Plane(k),
        _ => Subject::Others,
    }
}

fn all(model: &LinearModel, planes: &[FloatPlane]) -> Subject {
    let own = || model.classes.iter().zip(&model.planes);
    let right = matches!(model.rule, Rule::ArgMax | Rule::Rest)
        && planes.len() == model.planes.len()
        && planes.iter().zip(own()).all(|(claimed, (class, own))| {
            claimed.class.as_ref() == Some(class) && is_plane(own, claimed)
        });
    if right { Subject::Planes } else { Subject::Others }
}

/// The number of the plane that tells apart what the problem does.
fn place(model: &LinearModel, problem: &Problem) -> Option<usize> {
    let number = |name: &String| model.classes.iter().position(|class| class == name);
    let [positive] = &problem.positive[..] else { return None };
    let (positive, negative) = (number(positive)?, &problem.negative);
    let others = || negative.iter().all(|name| number(name).is_some_and(|k| k != positive));
    let score = match model.rule.on_scores() {
        // The first class stands for every label that is not the second.
        Rule::Sign if model.input.rest => {
            (positive == 1 && !negative.contains(&model.classes[1])).then_some(0)
        }
        Rule::Sign => (positive == 1 && others()).then_some(0),
        Rule::Rest | Rule::RestLast => others().then_some(positive),
        Rule::Vote => match &negative[..] {
            [negative] => {
                let negative = number(negative).filter(|negative| *negative < positive)?;
                Some(crate::model::rule::duel_place(model.classes.len(), (negative, positive)))
            }
            _ => None,
        },
        _ => None,
    }?;
    let plane = match &model.rule {
        // The plane with more than half of the votes decides alone.
        Rule::Ballot(ballot) => {
            let before: usize = ballot.votes.get(..score)?.iter().map(Vec::len).sum();
            let votes = ballot.votes.get(score)?;
            let total: u128 = votes.iter().map(|&held| u128::from(held)).sum();
            before + votes.iter().position(|&held| 2 * u128::from(held) > total)?
        }
        _ => score,
    };
    (plane < model.planes.len()).then_some(plane)
}

/// Whether a claimed plane is the model's: the same numbers in every column.
fn is_plane(own: &Plane, claimed: &FloatPlane) -> bool {
    let numbers = match (&claimed.weights, &claimed.sparse) {
        (Some(weights), None) => *weights == own.weights,
        (None, Some(pairs)) => {
            let mut pairs = pairs.iter().filter(|(_, w)| *w != 0.0);
            let mut own = own.weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
            own.all(|(j, own)| {
                pairs.next().is_some_and(|(column, w)| *column as usize == j && w == own)
            }) && pairs.next().is_none()
        }
        _ => false,
    };
    numbers && claimed.bias == Some(own.bias)
}

fn numbers_of(plane: &ExactPlane) -> impl Iterator<Item = &ExactNumber> {
    let dense = plane.weights.iter().flatten();
    let sparse = plane.sparse.iter().flatten().map(|(_, number)| number);
    dense.chain(sparse).chain(&plane.bias)
}

fn has_fractions<'a>(mut numbers: impl Iterator<Item = &'a ExactNumber>) -> bool {
    numbers.any(|number| matches!(number, ExactNumber::Ratio(_)))
}

/// Claims about other planes than the model's prove nothing of it.
pub(super) fn bind(model: &LinearModel, claims: &mut [Claim]) {
    for claim in claims {
        if Subject::of(model, claim) == Subject::Others {
            *claim = unproved(claim);
        }
    }
}

fn unproved(claim: &Claim) -> Claim {
    let name = claim.name();
    let reason = format!("the claim \"{name}\" is about other planes than those of the model");
    Claim::Unproved { reason }
}

/// The certificate as it stands in a file of version 2.
pub(super) fn refer(model: &LinearModel, certificate: &CertificateFile) -> Value {
    let CertificateFile { data, reading, basis, claims, .. } = certificate;
    let written: Vec<Value> = claims
        .iter()
        .map(|claim| match Subject::of(model, claim) {
            Subject::Data | Subject::Exact => json!(claim),
            Subject::Others => json!(unproved(claim)),
            Subject::Plane(k) => with_reference(claim, "plane", json!(k)),
            Subject::Planes => with_reference(claim, "planes", json!(MODEL)),
        })
        .collect();
    json!({
        "format": FORMAT_2, "data": data, "reading": reading, "bias": true, "basis": basis, "claims": written,
    })
}

/// The word for all planes of the model.
const MODEL: &str = "model";

fn with_reference(claim: &Claim, field: &str, reference: Value) -> Value {
    let mut bare = claim.clone();
    put(&mut bare, FloatPlane::default(), Vec::new());
    let mut value = json!(bare);
    value[field] = reference;
    value
}

/// Puts planes into a claim that has some: one plane, or one for each class.
fn put(claim: &mut Claim, one: FloatPlane, each: Vec<FloatPlane>) {
    match claim {
        Claim::Separable { plane, .. } | Claim::Mistakes { plane, .. } => *plane = one.into(),
        Claim::JointSeparable { planes } => *planes = each.into_iter().map(Into::into).collect(),
        Claim::Optimal { planes, .. }
        | Claim::Stationary { planes, .. }
        | Claim::Counts { planes, .. } => match planes {
            Planes::Two { plane, .. } => *plane = one,
            Planes::Each(planes) => *planes = each,
        },
        _ => {}
    }
}

/// The certificate of a file of version 2, with the planes that its claims refer to.
pub(super) fn resolve(model: &LinearModel, bytes: &[u8]) -> Result<CertificateFile, String> {
    let mut value = form::parse(bytes)?;
    let claims = value.get_mut("claims").and_then(Value::as_array_mut);
    let references: Vec<Option<Subject>> =
        claims.into_iter().flatten().map(take_reference).collect();
    let mut file: CertificateFile = form::typed(value)?;
    if file.format != FORMAT_2 || !file.bias {
        return Err(format!("the certificate is not a {FORMAT_2} with biases"));
    }
    for (claim, reference) in file.claims.iter_mut().zip(references) {
        match reference {
            Some(Subject::Plane(k)) => {
                let own =
                    model.planes.get(k).ok_or("a claim is about a plane that is not there")?;
                put(claim, float_plane(&own.weights, Some(own.bias)), Vec::new());
            }
            Some(_) => {
                put(claim, FloatPlane::default(), class_planes(&model.classes, &model.planes));
            }
            None => {}
        }
        let found = Subject::of(model, claim);
        let right = match reference {
            Some(reference) => found == reference,
            None => matches!(found, Subject::Data | Subject::Exact),
        };
        if !right {
            let name = claim.name();
            return Err(format!("a claim \"{name}\" is not about the planes that it refers to"));
        }
    }
    Ok(file)
}

/// Takes the reference out of a claim as it is written.
fn take_reference(claim: &mut Value) -> Option<Subject> {
    if let Some(plane) = claim.get_mut("plane")
        && let Some(k) = plane.as_u64()
    {
        *plane = json!({});
        return Some(Subject::Plane(k as usize));
    }
    let planes = claim.get_mut("planes").filter(|planes| *planes == MODEL)?;
    *planes = json!([]);
    Some(Subject::Planes)
}

/// Puts back the planes that version 1 leaves out: a claim `optimal`, `stationary` or `counts` without
/// numbers is about the plane of its own number, or about all of them.
pub(super) fn put_back(model: &LinearModel, claims: &mut [Claim]) {
    for (number, claim) in claims.iter_mut().enumerate() {
        let (Claim::Optimal { planes, .. }
        | Claim::Stationary { planes, .. }
        | Claim::Counts { planes, .. }) = claim
        else {
            continue;
        };
        let fill = |plane: &mut FloatPlane, own: &Plane| {
            if plane.weights.is_none() && plane.sparse.is_none() {
                let class = plane.class.take();
                *plane = FloatPlane { class, ..float_plane(&own.weights, Some(own.bias)) };
            }
        };
        match planes {
            Planes::Two { plane, .. } => {
                let own = match &model.planes[..] {
                    [plane] => Some(plane),
                    planes => planes.get(number),
                };
                own.into_iter().for_each(|own| fill(plane, own));
            }
            Planes::Each(all) if all.len() == model.planes.len() => {
                all.iter_mut().zip(&model.planes).for_each(|(plane, own)| fill(plane, own));
            }
            Planes::Each(_) => {}
        }
    }
}
