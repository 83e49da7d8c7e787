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
    Question, form,
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
            Claim::Separable { plane, .. } if Numbers::from(plane).have_fractions() => {
                Subject::Exact
            }
            Claim::JointSeparable { planes }
                if planes.iter().any(|plane| Numbers::from(plane).have_fractions()) =>
            {
                Subject::Exact
            }
            Claim::Separable { problem, plane } | Claim::Mistakes { problem, plane, .. } => {
                one(model, problem, &plane.into())
            }
            Claim::JointSeparable { planes } => {
                all(model, planes.iter().map(|plane| (Some(&plane.class), plane.into())))
            }
            Claim::Optimal { planes, .. }
            | Claim::Stationary { planes, .. }
            | Claim::Counts { planes, .. } => match planes {
                Planes::Two { problem, plane } => one(model, problem, &plane.into()),
                Planes::Each(planes) => {
                    all(model, planes.iter().map(|plane| (plane.class.as_ref(), plane.into())))
                }
            },
            _ => Subject::Data,
        }
    }
}

fn one<N: Number>(model: &LinearModel, problem: &Question, plane: &Numbers<'_, N>) -> Subject {
    match place(model, problem) {
        Some(k) if plane.are_of(&model.planes[k]) => Subject::Plane(k),
        _ => Subject::Others,
    }
}

fn all<'a, N: Number + 'a>(
    model: &LinearModel,
    planes: impl ExactSizeIterator<Item = (Option<&'a String>, Numbers<'a, N>)>,
) -> Subject {
    let right = matches!(model.rule, Rule::ArgMax | Rule::Rest)
        && planes.len() == model.planes.len()
        && planes
            .zip(model.classes.iter().zip(&model.planes))
            .all(|((name, claimed), (class, own))| name == Some(class) && claimed.are_of(own));
    if right { Subject::Planes } else { Subject::Others }
}

/// The number of the plane that tells apart what the problem does.
fn place(model: &LinearModel, problem: &Question) -> Option<usize> {
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

/// A number of a claimed plane.
trait Number {
    /// The binary64 that it is; nothing for a fraction.
    fn binary64(&self) -> Option<f64>;
}

impl Number for f64 {
    fn binary64(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Number for ExactNumber {
    fn binary64(&self) -> Option<f64> {
        match self {
            ExactNumber::Binary64(x) => Some(*x),
            ExactNumber::Ratio(_) => None,
        }
    }
}

/// The numbers of a claimed plane.
struct Numbers<'a, N> {
    weights: Option<&'a [N]>,
    sparse: Option<&'a [(u32, N)]>,
    bias: Option<&'a N>,
}

macro_rules! numbers_of {
    ($($plane:ty: $number:ty),*) => {$(
        impl<'a> From<&'a $plane> for Numbers<'a, $number> {
            fn from(plane: &'a $plane) -> Self {
                let (weights, sparse) = (plane.weights.as_deref(), plane.sparse.as_deref());
                Numbers { weights, sparse, bias: plane.bias.as_ref() }
            }
        }
    )*};
}
numbers_of!(FloatPlane: f64, ExactPlane: ExactNumber, ClassPlane: ExactNumber);

impl<N: Number> Numbers<'_, N> {
    /// Whether they are those of the model's plane in every column.
    fn are_of(&self, own: &Plane) -> bool {
        let same = |claimed: &N, own: f64| claimed.binary64() == Some(own);
        let weights = match (self.weights, self.sparse) {
            (Some(weights), None) => {
                weights.len() == own.weights.len()
                    && weights.iter().zip(&own.weights).all(|(w, own)| same(w, *own))
            }
            (None, Some(pairs)) => {
                let mut pairs = pairs.iter().filter(|(_, w)| w.binary64() != Some(0.0));
                let mut own = own.weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
                own.all(|(j, own)| {
                    pairs.next().is_some_and(|(column, w)| *column as usize == j && same(w, *own))
                }) && pairs.next().is_none()
            }
            _ => false,
        };
        weights && self.bias.is_some_and(|bias| same(bias, own.bias))
    }

    fn have_fractions(&self) -> bool {
        let dense = self.weights.into_iter().flatten();
        let sparse = self.sparse.into_iter().flatten().map(|(_, number)| number);
        dense.chain(sparse).chain(self.bias).any(|number| number.binary64().is_none())
    }
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
pub(super) fn refer(model: &LinearModel, certificate: &CertificateFile) -> String {
    let CertificateFile { data, reading, basis, claims, .. } = certificate;
    let head = json!({ "format": FORMAT_2, "data": data, "reading": reading, "bias": true, "basis": basis });
    // Claims may list a number for each row: they become text at once.
    let claims: Vec<String> = claims.iter().map(|claim| referring(model, claim)).collect();
    let head = head.to_string();
    let head = head.strip_suffix('}').unwrap_or(&head);
    format!("{head},\"claims\":[{}]}}", claims.join(","))
}

/// The word for all planes of the model.
const MODEL: &str = "model";

/// A claim as it stands in a file of version 2.
fn referring(model: &LinearModel, claim: &Claim) -> String {
    let text = |claim: &Claim| serde_json::to_string(claim).unwrap_or_default();
    let bare = || text(&without_planes(claim));
    // A quote inside of a text is escaped, so that no name of a class looks like a field.
    match Subject::of(model, claim) {
        Subject::Data | Subject::Exact => text(claim),
        Subject::Others => text(&unproved(claim)),
        Subject::Plane(k) => bare().replacen("\"plane\":{}", &format!("\"plane\":{k}"), 1),
        Subject::Planes => bare().replacen("\"planes\":[]", &format!("\"planes\":\"{MODEL}\""), 1),
    }
}

/// A claim without its planes. They are not copied only to be left out: those of many classes are the larger
/// part of what a run holds.
fn without_planes(claim: &Claim) -> Claim {
    let bare = |planes: &Planes| match planes {
        Planes::Two { problem, .. } => {
            Planes::Two { problem: problem.clone(), plane: FloatPlane::default() }
        }
        Planes::Each(_) => Planes::Each(Vec::new()),
    };
    match claim {
        Claim::Separable { problem, .. } => {
            Claim::Separable { problem: problem.clone(), plane: ExactPlane::default() }
        }
        Claim::JointSeparable { .. } => Claim::JointSeparable { planes: Vec::new() },
        Claim::Optimal { planes, optimality } => {
            Claim::Optimal { planes: bare(planes), optimality: optimality.clone() }
        }
        Claim::Counts { planes, statistics } => {
            Claim::Counts { planes: bare(planes), statistics: statistics.clone() }
        }
        _ => {
            let mut claim = claim.clone();
            put(&mut claim, FloatPlane::default(), Vec::new());
            claim
        }
    }
}

/// Makes claims about the planes of a model about those of another with the same classes and columns.
pub(super) fn turn_to(other: &LinearModel, model: &LinearModel, claims: &mut [Claim]) {
    for claim in claims {
        match Subject::of(model, claim) {
            Subject::Plane(k) => {
                let plane = &other.planes[k];
                put(claim, float_plane(&plane.weights, Some(plane.bias)), Vec::new());
            }
            Subject::Planes => {
                put(claim, FloatPlane::default(), class_planes(&other.classes, &other.planes));
            }
            Subject::Others => *claim = unproved(claim),
            Subject::Data | Subject::Exact => {}
        }
    }
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
    let mut value: Value = form::parsed(bytes)?;
    let claims = value.get_mut("claims").and_then(Value::as_array_mut);
    let references: Vec<Option<Subject>> =
        claims.into_iter().flatten().map(take_reference).collect();
    let mut file: CertificateFile = form::typed(&value)?;
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
                *plane = float_plane(&own.weights, Some(own.bias)).with_class(class);
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
