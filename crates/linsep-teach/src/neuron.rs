//! The neurons of the lectures: Boolean inputs, a threshold, and what they can and cannot compute.
//!
//! **McCulloch and Pitts, 1943.** Inputs are 0 or 1 and there are no weights: the neuron fires when at
//! least θ of them are 1. An input may also be inhibitory: while it is 1 the neuron is silent, whatever
//! the others say. The lectures show the form without inhibition, which cannot compute NOT.
//!
//! **Threshold logic neuron.** Inputs have weights, and the neuron fires when w·x ≥ θ. With w₀ = −θ that
//! is w·x + w₀ ≥ 0, the plane that every model of this library has ([`ThresholdNeuron::plane`]). Both
//! forms give the same answer in binary64 too, since a difference of two doubles is 0 only if they are
//! equal and rounding never changes its sign.
//!
//! **Signals.** A step (0 or 1), a sign (−1 or +1) or the logistic function of w·x + w₀ differ in what
//! they put out, not in where they change: each has its middle at a score of 0, so the boundary is the
//! same plane whatever the signal ([`Activation`]).
//!
//! **What is decided.** [`TruthTable::mcculloch_pitts`] finds every θ or two rows that rule all of them
//! out. If a neuron exists at all, an input i is inhibitory exactly if the function is 0 wherever
//! x_i = 1 (unless the function is 0 everywhere): an input that adds cannot silence the row in which all
//! others that add are 1 as well. So one look at the table finds the inhibitory inputs, and one more the
//! thresholds. [`TruthTable::realise`] decides the same for weights: the neuron comes with the claim that
//! its plane separates the rows strictly, the refusal with rows that prove that no plane does; both
//! passed the exact checker.
//!
//! Reference: McCulloch and Pitts 1943; Minsky and Papert, Perceptrons, 1969; Haykin, 1.

mod gate;

pub use gate::Gate;

use linsep::model::Plane;
use linsep::verdict::{Judge, Method, Verdict, separable};
use linsep_data::error::{Code, Error, Result};
use linsep_data::{Dataset, DatasetBuilder};
use linsep_proof::{Claim, ExactNumber, ExactPlane, check_claim};

/// What a neuron makes of its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// 1 from a score of 0 on, else 0.
    Step,
    /// +1 from a score of 0 on, else −1.
    Sign,
    /// 1/(1 + exp(−score)): at least ½ from a score of 0 on.
    Logistic,
}

impl Activation {
    /// The signal of a score.
    ///
    /// ```
    /// use linsep_teach::neuron::Activation;
    /// assert_eq!(Activation::Step.signal(0.0), 1.0);
    /// assert_eq!(Activation::Sign.signal(-2.0), -1.0);
    /// assert_eq!(Activation::Logistic.signal(0.0), 0.5);
    /// ```
    pub fn signal(self, score: f64) -> f64 {
        let fires = score >= 0.0;
        match self {
            Activation::Step => f64::from(u8::from(fires)),
            Activation::Sign if fires => 1.0,
            Activation::Sign => -1.0,
            Activation::Logistic => 1.0 / (1.0 + (-score).exp()),
        }
    }
}

/// A neuron with weights that fires when w·x ≥ θ.
///
/// ```
/// use linsep_teach::neuron::{Gate, TruthTable};
/// let and = TruthTable::of_gate(Gate::And, 2)?.realise()?.neuron.unwrap();
/// assert_eq!((&and.weights[..], and.theta), (&[1.0, 1.0][..], 1.5));
/// assert_eq!(and.plane().bias, -1.5);
/// assert!(and.fires(&[1.0, 1.0]) && !and.fires(&[1.0, 0.0]));
/// # Ok::<(), linsep::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ThresholdNeuron {
    /// w, one weight for each input.
    pub weights: Vec<f64>,
    /// θ.
    pub theta: f64,
}

impl ThresholdNeuron {
    /// Weights and threshold.
    pub fn new(weights: Vec<f64>, theta: f64) -> ThresholdNeuron {
        ThresholdNeuron { weights, theta }
    }
}

impl ThresholdNeuron {
    /// The neuron of a plane w·x + w₀: θ = −w₀.
    pub fn from_plane(plane: &Plane) -> ThresholdNeuron {
        ThresholdNeuron { weights: plane.weights.clone(), theta: 0.0 - plane.bias }
    }

    /// The plane w·x + w₀ with w₀ = −θ.
    pub fn plane(&self) -> Plane {
        Plane::new(self.weights.clone(), 0.0 - self.theta)
    }

    /// Whether w·x ≥ θ. Inputs that are not given are 0.
    pub fn fires(&self, inputs: &[f64]) -> bool {
        self.sum(inputs) >= self.theta
    }

    /// w·x − θ.
    pub fn score(&self, inputs: &[f64]) -> f64 {
        self.sum(inputs) - self.theta
    }

    fn sum(&self, inputs: &[f64]) -> f64 {
        self.weights.iter().zip(inputs).map(|(w, x)| w * x).sum()
    }
}

/// A neuron without weights: it fires when no inhibitory input is on and at least θ others are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct McCullochPitts {
    /// Whether each input is inhibitory.
    pub inhibitory: Vec<bool>,
    /// θ.
    pub theta: i64,
}

impl McCullochPitts {
    /// Which inputs inhibit, and the threshold.
    pub fn new(inhibitory: Vec<bool>, theta: i64) -> McCullochPitts {
        McCullochPitts { inhibitory, theta }
    }
}

impl McCullochPitts {
    /// The output for Boolean inputs. Inputs that are not given are off.
    pub fn fires(&self, inputs: &[bool]) -> bool {
        let wires = || self.inhibitory.iter().zip(inputs).filter(|(_, on)| **on);
        let vetoed = wires().any(|(inhibitory, _)| *inhibitory);
        !vetoed && wires().count() as i64 >= self.theta
    }
}

/// Every McCulloch-Pitts neuron of a function: the inhibitory inputs, and the whole thresholds that
/// work, from `lowest` to `highest`; where a bound is missing, so is its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thresholds {
    /// Whether each input is inhibitory.
    pub inhibitory: Vec<bool>,
    /// The least θ.
    pub lowest: Option<i64>,
    /// The greatest θ.
    pub highest: Option<i64>,
}

impl Thresholds {
    /// The neuron with the greatest θ, or the least where there is no greatest.
    pub fn neuron(&self) -> McCullochPitts {
        let theta = self.highest.or(self.lowest).unwrap_or(0);
        McCullochPitts { inhibitory: self.inhibitory.clone(), theta }
    }
}

/// Two rows that no McCulloch-Pitts neuron has both right: of the inputs that add, as many or more are
/// on in the row that must stay silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Obstacle {
    /// A row whose output is 1.
    pub fires: usize,
    /// A row whose output is 0.
    pub silent: usize,
}

/// What was found out about a neuron with weights.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Realisation {
    /// The neuron, unless it is proved that there is none.
    pub neuron: Option<ThresholdNeuron>,
    /// The proof, accepted by the checker; a constant function needs none.
    pub claim: Option<Claim>,
}

/// A Boolean function by its outputs. Row r has the digits of r in base 2 as inputs, the first input
/// being the highest digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthTable {
    inputs: usize,
    outputs: Vec<bool>,
}

/// Tables with more inputs are refused: 2^inputs rows.
pub const MOST_INPUTS: usize = 10;

/// Epochs that the integer perceptron may take to find weights for a function that has some.
const EPOCHS: u64 = 1_000_000;

impl TruthTable {
    /// The table of a gate.
    pub fn of_gate(gate: Gate, inputs: usize) -> Result<TruthTable> {
        gate.check(inputs)?;
        let rows = 0..1usize << inputs;
        let outputs = rows.map(|row| gate.value(row.count_ones() as usize, inputs)).collect();
        Ok(TruthTable { inputs, outputs })
    }

    /// The table with these outputs, 2^inputs of them.
    pub fn from_outputs(inputs: usize, outputs: Vec<bool>) -> Result<TruthTable> {
        if inputs == 0 || inputs > MOST_INPUTS || outputs.len() != 1 << inputs {
            return Err(Error::usage(format!(
                "a table of n inputs has 2^n outputs, n from 1 to {MOST_INPUTS}; there are {} outputs for {inputs}",
                outputs.len()
            )));
        }
        Ok(TruthTable { inputs, outputs })
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The output of every row.
    pub fn outputs(&self) -> &[bool] {
        &self.outputs
    }

    /// The inputs of a row.
    pub fn row(&self, row: usize) -> Vec<bool> {
        (0..self.inputs).rev().map(|digit| row >> digit & 1 == 1).collect()
    }

    /// The inputs of a row as numbers.
    pub fn values(&self, row: usize) -> Vec<f64> {
        self.row(row).into_iter().map(|on| f64::from(u8::from(on))).collect()
    }

    /// The table as data: columns x1, x2, … and the classes 0 and 1.
    pub fn dataset(&self) -> Result<Dataset> {
        let mut builder = DatasetBuilder::new(self.inputs);
        builder.names((1..=self.inputs).map(|j| format!("x{j}")).collect());
        for (row, output) in self.outputs.iter().enumerate() {
            builder.dense_row(&self.values(row), if *output { "1" } else { "0" })?;
        }
        builder.finish()
    }

    /// Every McCulloch-Pitts neuron of the function, or two rows that rule out all of them.
    pub fn mcculloch_pitts(&self) -> std::result::Result<Thresholds, Obstacle> {
        let rows = || self.outputs.iter().enumerate().map(|(row, on)| (row, self.row(row), *on));
        let silences = |j: usize| rows().all(|(_, inputs, on)| !(inputs[j] && on));
        let inhibitory: Vec<bool> = (0..self.inputs).map(silences).collect();
        let count = |inputs: &[bool]| inputs.iter().filter(|on| **on).count() as i64;
        // (inputs on, row) of the fewest that fire and of the most that stay silent.
        let mut fires: Option<(i64, usize)> = None;
        let mut silent: Option<(i64, usize)> = None;
        for (row, inputs, on) in rows() {
            if inputs.iter().zip(&inhibitory).any(|(on, inhibitory)| *on && *inhibitory) {
                continue;
            }
            let sum = count(&inputs);
            match on {
                true if fires.is_none_or(|(least, _)| sum < least) => fires = Some((sum, row)),
                false if silent.is_none_or(|(most, _)| sum > most) => silent = Some((sum, row)),
                _ => {}
            }
        }
        match (fires, silent) {
            (Some((least, fires)), Some((most, silent))) if most >= least => {
                Err(Obstacle { fires, silent })
            }
            _ => Ok(Thresholds {
                inhibitory,
                lowest: silent.map(|(most, _)| most + 1),
                highest: fires.map(|(least, _)| least),
            }),
        }
    }

    /// A neuron with weights, or the proof that there is none.
    ///
    /// ```
    /// use linsep_teach::neuron::{Gate, TruthTable};
    /// let xor = TruthTable::of_gate(Gate::Xor, 2)?.realise()?;
    /// assert!(xor.neuron.is_none());
    /// assert_eq!(xor.claim.unwrap().name(), "overlapping");
    /// # Ok::<(), linsep::Error>(())
    /// ```
    pub fn realise(&self) -> Result<Realisation> {
        if let Some(constant) = self.constant() {
            let theta = if constant { 0.0 } else { 1.0 };
            let neuron = ThresholdNeuron { weights: vec![0.0; self.inputs], theta };
            return Ok(Realisation { neuron: Some(neuron), claim: None });
        }
        let data = self.dataset()?;
        if let Some(neuron) = self.by_count() {
            let claim = separable(&data, "1", &neuron.plane());
            if check_claim(&claim, &data, &data.reading_field(), true, 1).holds() {
                return Ok(Realisation { neuron: Some(neuron), claim: Some(claim) });
            }
        }
        let mut judge = Judge::new(data);
        let decision = judge.class("1", &|| false)?;
        match decision.verdict {
            Verdict::Separable => {}
            Verdict::Undecided => return Err(undecided()),
            _ => return Ok(Realisation { neuron: None, claim: Some(decision.claim) }),
        }
        // Weights by the perceptron are whole numbers, which are easier to read than the search's.
        judge.by = Method::Cycling { epochs: EPOCHS };
        let learned = judge.class("1", &|| false)?;
        for claim in [learned.claim, decision.claim] {
            let plane = match &claim {
                Claim::Separable { plane, .. } => plane_of(plane, self.inputs),
                _ => None,
            };
            if let Some(plane) = plane {
                let neuron = ThresholdNeuron::from_plane(&plane);
                return Ok(Realisation { neuron: Some(neuron), claim: Some(claim) });
            }
        }
        Err(undecided())
    }

    /// The output, if it is the same in every row.
    fn constant(&self) -> Option<bool> {
        let first = self.outputs.first().copied()?;
        self.outputs.iter().all(|on| *on == first).then_some(first)
    }

    /// The neuron whose weights are all 1 or all −1, if the number of inputs that are on decides.
    fn by_count(&self) -> Option<ThresholdNeuron> {
        let mut by_count = vec![None; self.inputs + 1];
        for (row, on) in self.outputs.iter().enumerate() {
            let seen = &mut by_count[row.count_ones() as usize];
            if seen.is_some_and(|seen| seen != *on) {
                return None;
            }
            *seen = Some(*on);
        }
        let values: Vec<bool> = by_count.into_iter().flatten().collect();
        let changes: Vec<usize> =
            (1..values.len()).filter(|&k| values[k] != values[k - 1]).collect();
        let [change] = changes[..] else { return None };
        let sign = if values[change] { 1.0 } else { -1.0 };
        // Half way between the two counts, so that no row is on the plane.
        let theta = sign * (change as f64 - 0.5);
        Some(ThresholdNeuron { weights: vec![sign; self.inputs], theta })
    }
}

fn undecided() -> Error {
    let message = "the search ended before it was decided whether a neuron exists".to_owned();
    Error::Limit { code: Code::LIMIT, message }
}

/// A plane of a claim in binary64, if it is one.
pub fn plane_of(plane: &ExactPlane, features: usize) -> Option<Plane> {
    let number = |number: &ExactNumber| match number {
        ExactNumber::Binary64(value) => Some(*value),
        // Whole numbers below 2^53 are the same in binary64.
        ExactNumber::Ratio(text) => {
            text.parse::<i64>().ok().filter(|n| n.unsigned_abs() < 1 << 53).map(|n| n as f64)
        }
    };
    let mut weights = vec![0.0; features];
    for (j, weight) in plane.weights.iter().flatten().enumerate() {
        *weights.get_mut(j)? = number(weight)?;
    }
    for (j, weight) in plane.sparse.iter().flatten() {
        *weights.get_mut(*j as usize)? = number(weight)?;
    }
    let bias = plane.bias.as_ref().map_or(Some(0.0), number)?;
    Some(Plane::new(weights, bias))
}
