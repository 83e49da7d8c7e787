//! Conjugate gradients towards a bound of gᵀ(M + τ²)⁻¹g, for one plane of a `stationary` claim.
//!
//! For any z and ρ = g − (M + τ²)z,
//!
//! ```text
//! z·g + z·ρ ≤ gᵀ(M + τ²)⁻¹g ≤ z·g + z·ρ + |ρ|²/(τ² + φ)
//! ```
//!
//! where no eigenvalue of M is below φ ≥ 0. If there is a φ above 0, τ is 0 and the bound is one of
//! gᵀM⁻¹g itself: of the distance from the exact answer.
//!
//! Only `drift`, a bound of how far the running remainder is from ρ, has to be right; z and the directions
//! may be anything. It grows by the error that each image comes with and by what the additions of a step
//! round off.

use super::fitted::{SCORE_FLOOR, SCORE_SHARE};

/// Directions whose singular value is below this are treated as dependent.
const DEPENDENT: f64 = 1e-8;
/// Half a unit in the last place of 1.
pub(super) const UNIT: f64 = f64::EPSILON / 2.0;

/// The way to a bound for one plane: z and ρ, as they are better and better.
pub(super) struct Search {
    pub(super) plane: usize,
    g: Vec<f64>,
    pub(super) tau: f64,
    /// √(τ² + φ).
    least: f64,
    pub(super) z: Vec<f64>,
    rest: Vec<f64>,
    pub(super) direction: Vec<f64>,
    /// At most this far is `rest` from ρ.
    drift: f64,
    /// What the scores may change by, and what is sure to be counted: by 1, and by all scores.
    limit: f64,
    fixed: f64,
    moved: f64,
    /// What rounding adds to the change.
    slack: f64,
    reach: f64,
    /// 1 if no direction is small, else 2.
    share: f64,
}

/// How far a search is.
pub(super) enum Standing {
    Near,
    Far,
    /// Rounding alone exceeds the limit.
    Hopeless,
    Unknown,
}

impl Search {
    /// With |θ|, the error of the bias and the sum of all factors, and φ.
    pub(super) fn new(
        residual: Residual,
        (size, moved, total): (f64, f64, f64),
        reach: f64,
        floor: f64,
    ) -> Search {
        let root = total.sqrt();
        let limit = SCORE_SHARE * residual.norm + SCORE_FLOOR * root;
        let sure = floor > 0.0;
        let tau = match size > 0.0 {
            _ if sure => 0.0,
            true => DEPENDENT.min(0.4 * limit / size / reach),
            false => DEPENDENT,
        };
        let least = (tau * tau + floor).sqrt();
        let share = if sure { 1.0 } else { 2.0 };
        let mut scores_off = residual.scores_off;
        let mut rounding = f64::EPSILON * vector_length(&residual.g) + residual.sums_off;
        if sure {
            scores_off += residual.reading.0;
            rounding += residual.reading.1;
        }
        Search {
            plane: residual.plane,
            tau,
            least,
            z: vec![0.0; residual.g.len()],
            rest: residual.g.clone(),
            direction: residual.g.clone(),
            g: residual.g,
            drift: 0.0,
            limit,
            fixed: tau * size,
            moved: moved * root,
            slack: f64::sqrt(share) * (rounding / least + scores_off),
            reach,
            share,
        }
    }

    fn within(&self, square: f64, slack: f64) -> bool {
        let change = (self.share * square.max(0.0)).sqrt() + slack + self.fixed;
        1.001 * (self.reach * change + self.moved) <= self.limit
    }

    pub(super) fn standing(&self) -> Standing {
        let (along, cross) = (dot(&self.z, &self.g), dot(&self.z, &self.rest));
        let off = vector_length(&self.z) * self.drift;
        let rest = (vector_length(&self.rest) + self.drift) / self.least;
        if self.within(along + cross.abs() + off + rest * rest, self.slack) {
            return Standing::Near;
        }
        // The same from below, since 2 z·g − zᵀ(M + τ²)z = z·g + z·ρ is largest at the answer.
        if !self.within(along + cross - off, 0.0) {
            return Standing::Far;
        }
        let drift = self.drift / self.least;
        match self.within(drift * drift, self.slack) {
            true => Standing::Unknown,
            false => Standing::Hopeless,
        }
    }

    /// One step of conjugate gradients along the direction whose image this is.
    pub(super) fn step(&mut self, image: &Image) {
        let before = dot(&self.rest, &self.rest);
        let far = before / dot(&self.direction, &image.values);
        if !far.is_finite() {
            self.drift = f64::INFINITY;
            return;
        }
        add(&mut self.z, far, &self.direction);
        let moved = far.abs() * vector_length(&image.values);
        let rounding =
            vector_length(&self.rest) + moved + self.g.len() as f64 * vector_length(&self.z);
        self.drift += far.abs() * image.error + 4.0 * UNIT * rounding;
        add(&mut self.rest, -far, &image.values);
        let turn = dot(&self.rest, &self.rest) / before;
        for (d, r) in self.direction.iter_mut().zip(&self.rest) {
            *d = r + turn * *d;
        }
    }

    /// Starts again at z, whose image this is.
    pub(super) fn restart(&mut self, image: &Image) {
        self.rest = self.g.iter().zip(&image.values).map(|(g, image)| g - image).collect();
        let sizes = vector_length(&self.g) + vector_length(&image.values);
        self.drift = image.error + 4.0 * UNIT * sizes;
        self.direction.clone_from(&self.rest);
    }
}

/// g of a plane.
#[derive(Clone)]
pub(super) struct Residual {
    pub(super) plane: usize,
    pub(super) g: Vec<f64>,
    /// At most this much of it is errors of scores, and this much errors of sums.
    pub(super) scores_off: f64,
    pub(super) sums_off: f64,
    /// The same for stored values instead of those that they stand for.
    pub(super) reading: (f64, f64),
    /// The norm of the scores, and |M^½ θ| of a discriminant.
    pub(super) norm: f64,
    pub(super) within: f64,
}

impl Residual {
    /// At most |g| is this share of the norm of the scores.
    pub(super) fn share(&self) -> f64 {
        // The trace bounds every eigenvalue of M.
        let scores = (1.1 * self.g.len() as f64).sqrt() * self.scores_off;
        let most = vector_length(&self.g) + self.sums_off + scores;
        if most > 0.0 { most / self.norm } else { 0.0 }
    }
}

/// A direction times M + τ², and a bound of its error.
pub(super) struct Image {
    pub(super) values: Vec<f64>,
    pub(super) error: f64,
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn vector_length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn add(a: &mut [f64], factor: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += factor * b);
}
