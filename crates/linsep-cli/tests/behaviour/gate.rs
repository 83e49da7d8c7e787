//! `gate`: tables, neurons, refusals with proofs that `verify` accepts.

use crate::common::Room;

#[test]
fn a_gate_is_a_table_a_neuron_and_a_plane() {
    let room = Room::new();
    let run = room.run("gate and").exits(0).silent();
    for words in [
        "1   1       1    0.5     1     1    0.6225",
        "fires when x1 + x2 >= 2; theta 2 is the only whole one",
        "fires when x1 + x2 >= 1.5",
        "fires when x1 + x2 - 1.5 >= 0",
        "as a line x2 = -x1 + 1.5",
        "18 updates",
        "checked in exact arithmetic",
    ] {
        assert!(run.out.contains(words), "{words}\n{}", run.out);
    }
    let value = room.run("gate majority --inputs 5 --json").exits(0).silent().json();
    assert_eq!(value["mcculloch_pitts"]["theta"], 3);
    assert_eq!(value["neuron"]["theta"], 2.5);
    assert_eq!(value["neuron"]["bias"], -2.5);
    assert_eq!(value["table"].as_array().unwrap().len(), 32);
    assert_eq!(value["claim"]["claim"], "separable");
}

#[test]
fn long_tables_are_folded_by_the_number_of_inputs_that_are_on() {
    let room = Room::new();
    let run = room.run("gate or --inputs 10").exits(0);
    assert!(run.out.contains("5 of 10   252       1    4.5"), "{}", run.out);
    assert!(run.out.lines().count() < 30, "{}", run.out);
}

#[test]
fn a_gate_that_falls_needs_inhibition_or_weights() {
    let room = Room::new();
    let run = room.run("gate not").exits(0);
    assert!(run.out.contains("silent while x1 is on"), "{}", run.out);
    assert!(run.out.contains("none without inhibition"), "{}", run.out);
    let run = room.run("gate nand").exits(0);
    assert!(run.fact("MP").starts_with("none:"), "{}", run.out);
    assert!(run.fact("TLN").starts_with("fires when -x1 - x2 >= -1.5"), "{}", run.out);
}

#[test]
fn xor_is_refused_with_a_proof_that_verify_accepts() {
    let room = Room::new();
    for inputs in [2, 3, 6] {
        let run = room.run(&format!("gate xor --inputs {inputs} --cert p.json --table t.csv"));
        let run = run.exits(1).silent();
        assert!(run.fact("MP").starts_with("none:"), "{}", run.out);
        assert!(run.fact("TLN").starts_with("none:"), "{}", run.out);
        assert!(run.fact("perceptron").starts_with("never learns it"), "{}", run.out);
        room.run("verify p.json t.csv").exits(0);
        room.run(&format!("generate xor --features {inputs} -o g.csv")).exits(0);
        assert_eq!(room.read("t.csv"), room.read("g.csv"), "the same table");
        room.run("verify p.json g.csv").exits(0);
    }
    // Of another table the proof says nothing.
    room.run("generate or --features 6 -o or.csv").exits(0);
    room.run("verify p.json or.csv").exits(1);
}

#[test]
fn every_gate_that_has_a_neuron_comes_with_its_proof() {
    let room = Room::new();
    for gate in ["and", "or", "nand", "nor", "majority --inputs 4", "at-least:3 --inputs 5", "not"]
    {
        room.run(&format!("gate {gate} --cert p.json --table t.csv")).exits(0);
        let run = room.run("verify p.json t.csv").exits(0);
        assert!(run.out.contains("true        separable"), "{gate}\n{}", run.out);
        room.run("separable t.csv").exits(0);
    }
}
