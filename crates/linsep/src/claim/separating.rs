//! What is proved of planes, whatever they come from: that they separate, or nothing. Floats propose, and
//! the checker, which shares no code with the learners, has the last word.

use crate::claim::planes::{class_planes, float_plane, problem_of};
use crate::model::Plane;
use crate::run::{Certificate, Claim, Task};
use linsep_data::Dataset;
use linsep_proof::{Finding, check_claim};

/// Which planes a run moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes {
    /// The plane of this class against all others.
    One(u32),
    /// One for each class.
    Joint,
}

impl Planes {
    /// One plane for two classes, else one for each class.
    pub fn of(task: &Task) -> Planes {
        if task.data.n_classes() == 2 { Planes::One(1) } else { Planes::Joint }
    }
}

/// The claim that planes separate; not checked.
pub fn claim_of(data: &Dataset, rule: Planes, planes: &[Plane]) -> Claim {
    match rule {
        Planes::One(positive) => separable(data, &data.classes()[positive as usize], &planes[0]),
        Planes::Joint => jointly_separable(data, planes),
    }
}

/// What is proved of planes, whatever they come from: that they separate all rows, or nothing.
pub fn certificate_of(task: &Task, rule: Planes, planes: &[Plane]) -> Certificate {
    let data = task.data.as_ref();
    let claim = claim_of(data, rule, planes);
    match check_claim(&claim, data, &data.reading_field(), true, task.threads) {
        Finding::Holds(_) => Certificate::new(vec![claim]),
        _ => Certificate::unproved("some row is not strictly on its side of the planes"),
    }
}

/// The claim that a plane separates a class from all others; not checked yet.
pub fn separable(data: &Dataset, class: &str, plane: &Plane) -> Claim {
    let plane = float_plane(&plane.weights, Some(plane.bias));
    Claim::Separable { problem: problem_of(data, class, None), plane: plane.into() }
}

/// The claim that planes, one for each class, separate jointly; not checked yet.
pub fn jointly_separable(data: &Dataset, planes: &[Plane]) -> Claim {
    let planes = class_planes(data.classes(), planes);
    Claim::JointSeparable { planes: planes.into_iter().map(Into::into).collect() }
}
