//! Gates by name: Boolean functions in which only the number of inputs that are on counts.

use super::MOST_INPUTS;
use linsep_data::error::{Error, Result};

/// A gate. How many of its inputs are on decides its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// 1 if all inputs are on.
    And,
    /// 1 if any input is on.
    Or,
    /// 1 if its only input is off.
    Not,
    /// 1 unless all inputs are on.
    Nand,
    /// 1 if no input is on.
    Nor,
    /// 1 if more than half of the inputs are on.
    Majority,
    /// 1 if an odd number of inputs is on.
    Xor,
    /// The same as [`Gate::Xor`].
    Parity,
    /// 1 if at least so many inputs are on.
    AtLeast(usize),
}

impl Gate {
    /// The gates as they are listed to users, with what they compute.
    pub const LIST: [(&'static str, &'static str); 9] = [
        ("and", "1 if all inputs are on"),
        ("or", "1 if any input is on"),
        ("not", "1 if its one input is off"),
        ("nand", "1 unless all inputs are on"),
        ("nor", "1 if no input is on"),
        ("majority", "1 if more than half of the inputs are on"),
        ("xor", "1 if an odd number of inputs is on: no neuron from 2 inputs on"),
        ("parity", "the same as xor"),
        ("at-least:K", "1 if at least K inputs are on"),
    ];

    /// The output when `ones` of the inputs are on.
    pub fn value(self, ones: usize, inputs: usize) -> bool {
        match self {
            Gate::And => ones == inputs,
            Gate::Or => ones > 0,
            Gate::Not | Gate::Nor => ones == 0,
            Gate::Nand => ones < inputs,
            Gate::Majority => 2 * ones > inputs,
            Gate::Xor | Gate::Parity => ones % 2 == 1,
            Gate::AtLeast(least) => ones >= least,
        }
    }

    /// The inputs of the gate unless it is told otherwise.
    pub fn usual_inputs(self) -> usize {
        match self {
            Gate::Not => 1,
            Gate::Majority => 3,
            Gate::AtLeast(least) => least.saturating_add(1).clamp(2, MOST_INPUTS),
            _ => 2,
        }
    }

    /// Refuses numbers of inputs that the gate does not have.
    pub(super) fn check(self, inputs: usize) -> Result<()> {
        if inputs == 0 {
            return Err(Error::usage(format!(
                "a gate of 0 inputs has nothing to decide on; give 1 to {MOST_INPUTS}"
            )));
        }
        if inputs > MOST_INPUTS {
            return Err(Error::usage(format!(
                "{inputs} inputs are too many: the table has a row for each of 2^{inputs} inputs, and the limit is {MOST_INPUTS}"
            )));
        }
        match self {
            Gate::Not if inputs != 1 => Err(Error::usage(format!(
                "not has 1 input, not {inputs}; nor and nand are its forms with more"
            ))),
            Gate::AtLeast(least) if least == 0 || least > inputs => Err(Error::usage(format!(
                "at-least:{least} of {inputs} inputs is always the same; K is from 1 to the number of inputs"
            ))),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = match self {
            Gate::And => "and",
            Gate::Or => "or",
            Gate::Not => "not",
            Gate::Nand => "nand",
            Gate::Nor => "nor",
            Gate::Majority => "majority",
            Gate::Xor => "xor",
            Gate::Parity => "parity",
            Gate::AtLeast(least) => return write!(f, "at-least:{least}"),
        };
        f.write_str(word)
    }
}

impl std::str::FromStr for Gate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Gate> {
        const PLAIN: [Gate; 8] = [
            Gate::And,
            Gate::Or,
            Gate::Not,
            Gate::Nand,
            Gate::Nor,
            Gate::Majority,
            Gate::Xor,
            Gate::Parity,
        ];
        if let Some(gate) = PLAIN.into_iter().find(|gate| gate.to_string() == text) {
            return Ok(gate);
        }
        if let Some(least) = text.strip_prefix("at-least:") {
            let wrong = || Error::usage(format!("\"{text}\": \"{least}\" is no whole number"));
            return Ok(Gate::AtLeast(least.parse().map_err(|_| wrong())?));
        }
        let names: Vec<&str> = Gate::LIST.iter().map(|(name, _)| *name).collect();
        Err(Error::usage(format!("\"{text}\" is no gate; the gates are {}", names.join(", "))))
    }
}
