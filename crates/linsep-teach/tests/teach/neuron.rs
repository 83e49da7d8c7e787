//! Neurons against truth tables: every gate of up to four inputs, every Boolean function of up to three.

use linsep::Plane;
use linsep::rng::{Purpose, Stream};
use linsep_teach::neuron::{
    Activation, Gate, MOST_INPUTS, McCullochPitts, ThresholdNeuron, TruthTable,
};

/// What each gate computes, said once more in other words.
fn expected(gate: &str, inputs: &[bool]) -> bool {
    let on = inputs.iter().filter(|on| **on).count();
    let off = inputs.len() - on;
    match gate {
        "and" => inputs.iter().all(|on| *on),
        "or" => inputs.iter().any(|on| *on),
        "not" => !inputs[0],
        "nand" => !inputs.iter().all(|on| *on),
        "nor" => !inputs.iter().any(|on| *on),
        "majority" => on > off,
        "xor" | "parity" => inputs.iter().fold(false, |odd, on| odd != *on),
        other => on >= other.strip_prefix("at-least:").unwrap().parse::<usize>().unwrap(),
    }
}

fn every_gate(inputs: usize) -> Vec<String> {
    let mut gates: Vec<String> =
        ["and", "or", "nand", "nor", "majority", "xor", "parity"].map(String::from).to_vec();
    gates.extend((1..=inputs).map(|least| format!("at-least:{least}")));
    gates.extend((inputs == 1).then(|| "not".to_owned()));
    gates
}

fn table(gate: &str, inputs: usize) -> TruthTable {
    TruthTable::of_gate(gate.parse().unwrap(), inputs).unwrap()
}

/// Every function of so many inputs.
fn every_function(inputs: usize) -> impl Iterator<Item = TruthTable> {
    let rows = 1usize << inputs;
    (0..1u64 << rows).map(move |code| {
        let outputs = (0..rows).map(|row| code >> row & 1 == 1).collect();
        TruthTable::from_outputs(inputs, outputs).unwrap()
    })
}

#[test]
fn every_gate_has_its_truth_table_and_its_neurons_compute_it() {
    for inputs in 1..=4 {
        for gate in every_gate(inputs) {
            let table = table(&gate, inputs);
            let wanted: Vec<bool> =
                (0..1 << inputs).map(|row| expected(&gate, &table.row(row))).collect();
            assert_eq!(table.outputs(), wanted, "{gate} of {inputs}");
            let found = table.realise().unwrap();
            let no_plane = matches!(gate.as_str(), "xor" | "parity") && inputs > 1;
            assert_eq!(found.neuron.is_none(), no_plane, "{gate} of {inputs}");
            assert_eq!(found.claim.unwrap().name() == "separable", !no_plane);
            for (row, wanted) in wanted.iter().enumerate() {
                if let Some(neuron) = &found.neuron {
                    assert_eq!(neuron.fires(&table.values(row)), *wanted, "{gate} of {inputs}");
                }
                if let Ok(all) = table.mcculloch_pitts() {
                    assert_eq!(all.neuron().fires(&table.row(row)), *wanted, "{gate} of {inputs}");
                }
            }
        }
    }
}

#[test]
fn gates_have_the_thresholds_of_the_lectures() {
    for inputs in 2..=10 {
        for (gate, theta) in [("or", 1), ("and", inputs), ("majority", inputs / 2 + 1)] {
            let all = table(gate, inputs).mcculloch_pitts().unwrap();
            assert_eq!((all.lowest, all.highest), (Some(theta as i64), Some(theta as i64)));
            assert!(!all.inhibitory.contains(&true));
        }
        let all = table("nor", inputs).mcculloch_pitts().unwrap();
        assert_eq!((all.lowest, all.highest), (None, Some(0)));
        assert!(!all.inhibitory.contains(&false));
        assert!(table("nand", inputs).mcculloch_pitts().is_err());
        assert!(table("xor", inputs).mcculloch_pitts().is_err());
    }
    let not = table("not", 1).mcculloch_pitts().unwrap();
    assert_eq!((not.inhibitory.as_slice(), not.highest), (&[true][..], Some(0)));
}

/// The known numbers of linearly separable Boolean functions of 1, 2 and 3 inputs.
#[test]
fn as_many_functions_have_weights_as_are_known_to() {
    for (inputs, known) in [(1, 4), (2, 14), (3, 104)] {
        let mut count = 0;
        for table in every_function(inputs) {
            let found = table.realise().unwrap();
            let Some(neuron) = found.neuron else {
                assert_ne!(found.claim.unwrap().name(), "separable");
                continue;
            };
            count += 1;
            for (row, output) in table.outputs().iter().enumerate() {
                assert_eq!(neuron.fires(&table.values(row)), *output, "{table:?}");
            }
        }
        assert_eq!(count, known, "{inputs} inputs");
    }
    let xor = table("xor", 2);
    let without: Vec<TruthTable> =
        every_function(2).filter(|table| table.realise().unwrap().neuron.is_none()).collect();
    let equal: Vec<bool> = xor.outputs().iter().map(|on| !on).collect();
    assert_eq!(without.len(), 2);
    assert!(without.contains(&xor));
    assert!(without.contains(&TruthTable::from_outputs(2, equal).unwrap()));
}

/// Against every choice of inhibitory inputs and thresholds.
#[test]
fn a_neuron_without_weights_is_found_exactly_where_there_is_one() {
    for table in every_function(3) {
        let computes = |neuron: &McCullochPitts| {
            (0..8).all(|row| neuron.fires(&table.row(row)) == table.outputs()[row])
        };
        let choices = (0..8usize).flat_map(|mask| {
            (-2..=5).map(move |theta| {
                McCullochPitts::new((0..3).map(|j| mask >> j & 1 == 1).collect(), theta)
            })
        });
        let works: Vec<McCullochPitts> = choices.filter(computes).collect();
        match table.mcculloch_pitts() {
            Err(obstacle) => {
                assert!(works.is_empty(), "{table:?} {works:?}");
                assert!(table.outputs()[obstacle.fires] && !table.outputs()[obstacle.silent]);
            }
            Ok(all) => {
                assert!(computes(&all.neuron()), "{table:?}");
                let same = works.iter().filter(|neuron| neuron.inhibitory == all.inhibitory);
                let found: Vec<i64> = same.map(|neuron| neuron.theta).collect();
                let within = |theta: &i64| {
                    all.lowest.is_none_or(|low| low <= *theta)
                        && all.highest.is_none_or(|high| *theta <= high)
                };
                let wanted: Vec<i64> = (-2..=5).filter(within).collect();
                assert_eq!(found, wanted, "{table:?}");
            }
        }
    }
}

#[test]
fn both_forms_of_a_neuron_and_every_signal_have_the_same_boundary() {
    let mut stream = Stream::new(11, Purpose::Generate(0));
    for _ in 0..2000 {
        // Few digits, so that sums land on the threshold often.
        let mut number = || (stream.below(9) as f64 - 4.0) / 4.0;
        let weights: Vec<f64> = (0..3).map(|_| number()).collect();
        let row: Vec<f64> = (0..3).map(|_| number()).collect();
        let neuron = ThresholdNeuron::new(weights, number());
        let plane = neuron.plane();
        assert_eq!(ThresholdNeuron::from_plane(&plane), neuron, "there and back");
        let score: f64 =
            plane.weights.iter().zip(&row).map(|(w, x)| w * x).sum::<f64>() + plane.bias;
        assert_eq!(neuron.fires(&row), score >= 0.0);
        assert_eq!(neuron.score(&row), score);
        assert_eq!(Activation::Step.signal(score) == 1.0, score >= 0.0);
        assert_eq!(Activation::Sign.signal(score) == 1.0, score >= 0.0);
        assert_eq!(Activation::Logistic.signal(score) >= 0.5, score >= 0.0);
    }
    let zero = ThresholdNeuron::from_plane(&Plane::new(vec![1.0], 0.0));
    assert_eq!(zero.theta.to_bits(), 0, "no negative zero is shown to anybody");
}

#[test]
fn gates_that_make_no_sense_are_refused() {
    let refused = |gate: Gate, inputs| TruthTable::of_gate(gate, inputs).unwrap_err().to_string();
    assert!(refused(Gate::And, 0).contains("0 inputs"));
    assert!(refused(Gate::Or, MOST_INPUTS + 1).contains("too many"));
    assert!(refused(Gate::Or, usize::MAX).contains("too many"));
    assert!(refused(Gate::Not, 2).contains("1 input"));
    assert!(refused(Gate::AtLeast(0), 2).contains("always the same"));
    assert!(refused(Gate::AtLeast(3), 2).contains("always the same"));
    for text in ["", "andd", "at-least", "at-least:", "at-least:x", "at-least:-1", "AND"] {
        assert!(text.parse::<Gate>().is_err(), "{text}");
    }
    assert!(TruthTable::from_outputs(2, vec![true; 3]).is_err());
    assert!(TruthTable::from_outputs(0, vec![true]).is_err());
}
