//! Problems of a few rows whose optimum is found slowly, and what a claim `optimal` about them says,
//! computed in the plainest way: no code is shared with the checker or with the learners.
#![allow(dead_code)] // Each test file uses its own part of this one.

use linsep::proof::{
    Basis, Claim, DualPoint, FloatPlane, Intercept, Loss, Objective, Optimality, Planes, Question,
    Rows, Scheme,
};

/// A table with labels and weights of rows.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) labels: Vec<String>,
    pub(crate) weights: Vec<f64>,
    pub(crate) basis: Option<Basis>,
}

impl Rows for Trial {
    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn width(&self) -> usize {
        self.rows[0].len()
    }

    fn label(&self, row: u64) -> &str {
        &self.labels[row as usize]
    }

    fn for_each(&self, row: u64, each: &mut dyn FnMut(u32, f64)) {
        let values = self.rows[row as usize].iter().enumerate();
        values.filter(|(_, x)| **x != 0.0).for_each(|(j, &x)| each(j as u32, x));
    }

    fn takes_part(&self, row: u64) -> bool {
        self.weights[row as usize] > 0.0
    }

    fn weight(&self, row: u64) -> f64 {
        self.weights[row as usize]
    }

    fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }
}

impl Trial {
    /// φ(x) of a row, and 1 for the bias.
    fn vector(&self, row: usize) -> Vec<f64> {
        let x = &self.rows[row];
        let mut all = x.clone();
        if let Some(Basis::Terms(terms)) = &self.basis {
            let power = |&(j, k): &(u32, u32)| x[j as usize].powi(k as i32);
            all.extend(terms.iter().map(|term| term.iter().map(power).product::<f64>()));
        }
        all.push(1.0);
        all
    }
}

/// A problem in numbers: rows (x, 1), their class and factor; two classes have the numbers 0 and 1.
pub(crate) struct Numbers<'a> {
    x: Vec<Vec<f64>>,
    class: Vec<usize>,
    c: Vec<f64>,
    rows: Vec<u64>,
    names: Vec<String>,
    objective: &'a Objective,
}

/// A dual point after its repairs, and what it shows.
pub(crate) struct Shown {
    pub(crate) primal: f64,
    pub(crate) bound: f64,
    /// Σ of the sizes of all terms, by which rounding is measured.
    pub(crate) size: f64,
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(trial: &Trial, names: &[&str], objective: &'a Objective) -> Numbers<'a> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut numbers =
            Numbers { x: vec![], class: vec![], c: vec![], rows: vec![], names, objective };
        for row in 0..trial.rows.len() {
            let label = &trial.labels[row];
            let class = numbers.names.iter().position(|name| name == label);
            let (Some(class), true) = (class, trial.weights[row] > 0.0) else { continue };
            let factor = objective.class_weights.iter().find(|(name, _)| name == label);
            numbers.x.push(trial.vector(row));
            numbers.class.push(class);
            numbers.c.push(objective.c * trial.weights[row] * factor.map_or(1.0, |(_, f)| *f));
            numbers.rows.push(row as u64);
        }
        numbers
    }

    fn planes(&self) -> usize {
        if self.names.len() == 2 { 1 } else { self.names.len() }
    }

    fn width(&self) -> usize {
        self.x[0].len()
    }

    /// (scale, least, most) of a coordinate.
    fn shape(&self, j: usize) -> (f64, f64, f64) {
        let scale = self.objective.scale.get(j).copied().unwrap_or(1.0);
        let limit = self.objective.limits.iter().find(|limit| limit.column as usize == j);
        let least = limit.and_then(|limit| limit.least).unwrap_or(f64::NEG_INFINITY);
        (scale, least, limit.and_then(|limit| limit.most).unwrap_or(f64::INFINITY))
    }

    fn is_penalised(&self, j: usize) -> bool {
        j + 1 < self.width() || self.objective.intercept == Intercept::Penalised
    }

    fn is_fixed(&self, j: usize) -> bool {
        j + 1 == self.width() && self.objective.intercept == Intercept::None
    }

    fn penalty(&self, j: usize, w: f64) -> f64 {
        let v = w * self.shape(j).0;
        0.5 * self.objective.l2 * v * v + self.objective.l1 * v.abs()
    }

    /// max over allowed w of g w − r(w), by its corners and by where its slope is 0.
    fn conjugate(&self, j: usize, g: f64) -> f64 {
        let (scale, least, most) = self.shape(j);
        let mut candidates = vec![least, most, 0.0];
        for sign in [-1.0, 1.0] {
            let w = (g / scale - sign * self.objective.l1) / (self.objective.l2 * scale);
            if w * sign > 0.0 {
                candidates.push(w);
            }
        }
        let allowed = |w: &f64| w.is_finite() && *w >= least && *w <= most;
        let candidates = candidates.into_iter().filter(allowed);
        candidates.map(|w| g * w - self.penalty(j, w)).fold(f64::NEG_INFINITY, f64::max)
    }

    fn score(&self, i: usize, w: &[f64]) -> f64 {
        self.x[i].iter().zip(w).map(|(x, w)| x * w).sum()
    }

    fn sign(&self, i: usize) -> f64 {
        2.0 * self.class[i] as f64 - 1.0
    }

    /// Σ c loss + Σ r.
    pub(crate) fn primal(&self, w: &[Vec<f64>]) -> f64 {
        let loss = |i: usize| {
            let own = self.class[i];
            if w.len() == 1 {
                let m = self.sign(i) * self.score(i, &w[0]);
                return match self.objective.loss {
                    Loss::Logistic if m < 0.0 => m.exp().ln_1p() - m,
                    Loss::Logistic => (-m).exp().ln_1p(),
                    Loss::Hinge => (1.0 - m).max(0.0),
                    Loss::Squared => (1.0 - m).powi(2),
                    _ => (1.0 - m).max(0.0).powi(2),
                };
            }
            let s: Vec<f64> = w.iter().map(|w| self.score(i, w)).collect();
            match self.objective.loss {
                Loss::Softmax => {
                    let others = (0..s.len()).filter(|k| *k != own).map(|k| (s[k] - s[own]).exp());
                    others.sum::<f64>().ln_1p()
                }
                _ => (0..s.len())
                    .map(|k| s[k] - s[own] + f64::from(u8::from(k != own)))
                    .fold(0.0, f64::max),
            }
        };
        let losses: f64 = (0..self.x.len()).map(|i| self.c[i] * loss(i)).sum();
        let penalties = w.iter().flat_map(|w| {
            let penalised = w.iter().enumerate().filter(|(j, _)| self.is_penalised(*j));
            penalised.map(|(j, w)| self.penalty(j, *w))
        });
        losses + penalties.sum::<f64>()
    }

    /// Multipliers or shares where the loss, smoothed over a width of `mu`, has its slope: α/c of each
    /// row for two classes, else the share of each class.
    fn slopes(&self, w: &[Vec<f64>], mu: f64) -> Vec<Vec<f64>> {
        let row = |i: usize| {
            let own = self.class[i];
            if w.len() == 1 {
                let m = self.sign(i) * self.score(i, &w[0]);
                return vec![match self.objective.loss {
                    Loss::Logistic => 1.0 / (1.0 + m.exp()),
                    Loss::Hinge if mu == 0.0 => f64::from(u8::from(m < 1.0)),
                    Loss::Hinge => ((1.0 - m) / mu).clamp(0.0, 1.0),
                    Loss::Squared => 2.0 * (1.0 - m),
                    _ => 2.0 * (1.0 - m).max(0.0),
                }];
            }
            let mut s: Vec<f64> = w.iter().map(|w| self.score(i, w)).collect();
            if self.objective.loss == Loss::CrammerSinger {
                (0..s.len()).filter(|k| *k != own).for_each(|k| s[k] += 1.0);
            }
            let most = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mu = match (self.objective.loss, mu) {
                (Loss::Softmax, _) => 1.0,
                (_, 0.0) => 1e-300,
                (_, mu) => mu,
            };
            let p: Vec<f64> = s.iter().map(|s| ((s - most) / mu).exp()).collect();
            let sum: f64 = p.iter().sum();
            p.iter().map(|p| p / sum).collect()
        };
        (0..self.x.len()).map(row).collect()
    }

    /// The slope of the smoothed losses.
    fn gradient(&self, w: &[Vec<f64>], mu: f64) -> Vec<Vec<f64>> {
        let mut g = self.blend(&self.slopes(w, mu));
        g.iter_mut().flatten().for_each(|g| *g = -*g);
        g
    }

    /// g_k: Σ α y x, or Σ c (δ − p) x.
    fn blend(&self, a: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut g = vec![vec![0.0; self.width()]; self.planes()];
        #[allow(clippy::needless_range_loop)]
        for i in 0..self.x.len() {
            for (k, g) in g.iter_mut().enumerate() {
                let factor = match self.planes() {
                    1 => self.sign(i) * a[i][0],
                    _ => f64::from(u8::from(k == self.class[i])) - a[i][k],
                };
                g.iter_mut().zip(&self.x[i]).for_each(|(g, x)| *g += self.c[i] * factor * x);
            }
        }
        g
    }

    /// Planes near the best: proximal gradients with momentum and restarts.
    pub(crate) fn solve(&self, mu: f64, steps: usize) -> Vec<Vec<f64>> {
        let curvature = match self.objective.loss {
            Loss::Logistic => 0.25,
            Loss::Softmax => 0.5,
            Loss::SquaredHinge | Loss::Squared => 2.0,
            _ => 1.0 / mu,
        };
        let squares =
            self.x.iter().zip(&self.c).map(|(x, c)| c * x.iter().map(|x| x * x).sum::<f64>());
        let top = self.objective.scale.iter().copied().fold(1.0, f64::max);
        let length = 1.0 / (curvature * squares.sum::<f64>() + self.objective.l2 * top * top);
        let mut w = vec![vec![0.0; self.width()]; self.planes()];
        let (mut y, mut t) = (w.clone(), 1.0f64);
        for _ in 0..steps {
            let gradient = self.gradient(&y, mu);
            let step = |k: usize, j: usize| {
                let (scale, least, most) = self.shape(j);
                if self.is_fixed(j) {
                    return 0.0;
                }
                if !self.is_penalised(j) {
                    return y[k][j] - length * gradient[k][j];
                }
                let slope = gradient[k][j] + self.objective.l2 * scale * scale * y[k][j];
                let moved = y[k][j] - length * slope;
                let soft = (moved.abs() - length * self.objective.l1 * scale).max(0.0);
                soft.copysign(moved).clamp(least, most)
            };
            let next: Vec<Vec<f64>> =
                (0..w.len()).map(|k| (0..self.width()).map(|j| step(k, j)).collect()).collect();
            let uphill: f64 = (0..w.len())
                .flat_map(|k| (0..self.width()).map(move |j| (k, j)))
                .map(|(k, j)| (y[k][j] - next[k][j]) * (next[k][j] - w[k][j]))
                .sum();
            let t_next = if uphill > 0.0 { 1.0 } else { 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt()) };
            let momentum = if uphill > 0.0 { 0.0 } else { (t - 1.0) / t_next };
            for k in 0..w.len() {
                for j in 0..self.width() {
                    y[k][j] = next[k][j] + momentum * (next[k][j] - w[k][j]);
                }
            }
            (w, t) = (next, t_next);
        }
        w
    }

    /// Multipliers as a claim means them: those listed, the others by the slope at the planes.
    fn multipliers(&self, w: &[Vec<f64>], dual: &DualPoint) -> Vec<Vec<f64>> {
        let mut a = match (&dual.plane, &dual.planes) {
            (Some(plane), _) => self.slopes(&[vector_of(plane)], 0.0),
            (_, Some(planes)) => {
                let planes: Vec<Vec<f64>> = planes.iter().map(vector_of).collect();
                self.slopes(&planes, 0.0)
            }
            _ => self.slopes(w, 0.0),
        };
        for (row, alpha) in &dual.alpha {
            if let Some(i) = self.rows.iter().position(|r| r == row) {
                a[i] = vec![alpha / self.c[i]];
            }
        }
        for (row, shares) in &dual.shares {
            if let Some(i) = self.rows.iter().position(|r| r == row) {
                a[i].fill(0.0);
                shares.iter().for_each(|(k, share)| a[i][*k as usize] = *share);
                a[i][self.class[i]] = 1.0 - shares.iter().map(|(_, share)| share).sum::<f64>();
            }
        }
        a
    }

    /// Both bounds of a claim, tilted as for the interval of the bias.
    pub(crate) fn shown(&self, w: &[Vec<f64>], dual: &DualPoint, tilt: [f64; 2]) -> (Shown, f64) {
        let mut a = self.multipliers(w, dual);
        let free = self.objective.intercept == Intercept::Free;
        let mut light = 0.0;
        if free && self.planes() == 1 {
            let side = |a: &[Vec<f64>], class: usize| -> f64 {
                let of = (0..a.len()).filter(|i| self.class[*i] == class);
                of.map(|i| self.c[i] * a[i][0]).sum()
            };
            let sums = [side(&a, 0), side(&a, 1)];
            light = sums[0].min(sums[1]);
            for i in 0..a.len() {
                a[i][0] *= light / sums[self.class[i]] * (1.0 - tilt[self.class[i]]);
            }
        } else if free {
            self.balance(&mut a);
        }
        let mut g = self.blend(&a);
        let mut sigma = 1f64;
        if self.objective.l2 == 0.0 {
            for g in &g {
                for j in (0..g.len()).filter(|j| self.is_penalised(*j)) {
                    let (scale, least, most) = self.shape(j);
                    let wall = self.objective.l1 * scale;
                    if (g[j] > wall && most.is_infinite()) || (g[j] < -wall && least.is_infinite())
                    {
                        sigma = sigma.min(wall / g[j].abs());
                    }
                }
            }
            for i in 0..a.len() {
                a[i].iter_mut().for_each(|a| *a *= sigma);
                if self.planes() > 1 {
                    a[i][self.class[i]] += 1.0 - sigma;
                }
            }
            g.iter_mut().flatten().for_each(|g| *g *= sigma);
        }
        let psi: f64 = (0..a.len()).map(|i| self.c[i] * self.psi(i, &a[i])).sum();
        let mut conjugates = 0.0;
        for g in &g {
            for j in (0..g.len()).filter(|j| self.is_penalised(*j)) {
                conjugates += self.conjugate(j, g[j]);
            }
        }
        let primal = self.primal(w);
        let size = primal.abs() + psi.abs() + conjugates.abs();
        (Shown { primal, bound: psi - conjugates, size }, sigma * light)
    }

    fn psi(&self, i: usize, a: &[f64]) -> f64 {
        let term = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        match self.objective.loss {
            Loss::Logistic => term(a[0]) + term(1.0 - a[0]),
            Loss::Hinge => a[0],
            Loss::SquaredHinge | Loss::Squared => a[0] - a[0] * a[0] / 4.0,
            Loss::Softmax => a.iter().map(|p| term(*p)).sum(),
            _ => 1.0 - a[self.class[i]],
        }
    }

    /// Mixes all shares with one distribution so that Σ c (δ − p) = 0 for every class.
    fn balance(&self, a: &mut [Vec<f64>]) {
        let n_classes = self.names.len();
        let total: f64 = self.c.iter().sum();
        let (mut pi, mut n) = (vec![0.0; n_classes], vec![0.0; n_classes]);
        for i in 0..a.len() {
            n[self.class[i]] += self.c[i];
            (0..n_classes).for_each(|k| pi[k] += self.c[i] * a[i][k]);
        }
        let theta = (0..n_classes).map(|k| 1.0 - n[k] / pi[k]).fold(1e-9, f64::max).min(1.0);
        for shares in a {
            for k in 0..n_classes {
                let q = (pi[k] / total + (n[k] - pi[k]) / (theta * total)).max(0.0);
                shares[k] = (1.0 - theta) * shares[k] + theta * q;
            }
        }
    }

    /// A claim about planes with multipliers of the given smoothing, listed unless `mu` is 0, true by a
    /// share of `slack`.
    pub(crate) fn claim(&self, w: &[Vec<f64>], mu: f64, slack: f64) -> Claim {
        let mut dual = DualPoint::default();
        if mu > 0.0 {
            for (i, a) in self.slopes(w, mu).into_iter().enumerate() {
                let own = self.class[i];
                if w.len() == 1 {
                    dual.alpha.push((self.rows[i], (a[0] * self.c[i]).min(self.c[i])));
                } else {
                    let others = a.iter().enumerate().filter(|(k, p)| *k != own && **p > 0.0);
                    let others: Vec<(u32, f64)> = others.map(|(k, p)| (k as u32, *p)).collect();
                    dual.shares.push((self.rows[i], others));
                }
            }
        }
        let (shown, _) = self.shown(w, &dual, [0.0; 2]);
        let primal = shown.primal + slack * shown.size;
        let bound = (shown.bound - slack * shown.size).max(-1e300);
        let l2 = self.objective.l2;
        let optimality =
            Optimality::new(self.objective.clone(), dual, primal, bound, (primal - bound) / bound)
                .with_radius((l2 > 0.0).then(|| (2.0 * (primal - bound) / l2).sqrt()));
        Claim::Optimal { planes: self.planes_of(w), optimality }
    }

    fn planes_of(&self, w: &[Vec<f64>]) -> Planes {
        let plane = |w: &[f64]| {
            let (bias, weights) = w.split_last().unwrap();
            FloatPlane::default().with_weights(Some(weights.to_vec())).with_bias(Some(*bias))
        };
        match w {
            [w] => Planes::Two {
                problem: Question::new(
                    Scheme::Binary,
                    vec![self.names[1].clone()],
                    vec![self.names[0].clone()],
                ),
                plane: plane(w),
            },
            _ => Planes::Each(
                w.iter()
                    .zip(&self.names)
                    .map(|(w, name)| plane(w).with_class(Some(name.clone())))
                    .collect(),
            ),
        }
    }
}

/// (weights, bias) of a plane as one vector.
pub(crate) fn vector_of(plane: &FloatPlane) -> Vec<f64> {
    let mut all = plane.weights.clone().unwrap_or_default();
    all.push(plane.bias.unwrap_or(0.0));
    all
}

/// The planes of a claim as vectors.
pub(crate) fn vectors(planes: &Planes) -> Vec<Vec<f64>> {
    match planes {
        Planes::Two { plane, .. } => vec![vector_of(plane)],
        Planes::Each(planes) => planes.iter().map(vector_of).collect(),
    }
}
