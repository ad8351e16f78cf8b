use super::assert_decimals;
use crate::Train;
use crate::ptr::{Control, Probing};

/// Returns a probing by the program with gaps in microseconds. At capacity, 500 bytes at 10 Mbit/s take 400.
fn program(available: f64) -> Probing {
    let train = Train::new(400.0, available).unwrap();
    Probing { train, control: Control::Program, tolerance: 0.0, slack: 5.0, jumps: false }
}

fn paper(available: f64) -> Probing {
    Probing { control: Control::Paper, tolerance: 0.1, slack: 0.0, ..program(available) }
}

#[test]
fn choice_10_program_stops_at_the_second_equal_gap_reporting_the_first() {
    // The gaps tried are the burst, 300, 400, 500, 600 (which arrives with 616), 700 and 800.
    let turn = program(0.64).turn().unwrap();
    assert_eq!((turn.source_gap, turn.destination_gap), (700.0, 700.0));
    assert_eq!((turn.gaps, turn.trains), (7, 21));
    // On an idle path, the gaps tried are the burst, 300, 400 and 500.
    let turn = program(1.0).turn().unwrap();
    assert_eq!((turn.source_gap, turn.gaps), (400.0, 4));
}

#[test]
fn choice_10_the_paper_stops_at_the_first_gap_within_a_tenth() {
    // Figure 1 has 10 Mbit/s with 3.6 of cross traffic, so that 6.4 are available. The paper's search found 6.8. In the model, the gap of
    // 500 µs arrives with 580. The first gap within a tenth is 550 µs, which arrives with 598.
    let turn = paper(0.64).turn().unwrap();
    assert_decimals(turn.source_gap, 550.0, 9, "the gap found");
    assert_decimals(turn.destination_gap, 598.0, 9, "the gap of arrival");
    assert_decimals(500.0 * 8.0 / turn.destination_gap, 6.69, 2, "Mbit/s");
    // After g_B, the gaps tried are 200, 250, 300, …, 550.
    assert_eq!((turn.gaps, turn.trains), (9, 9));
}

#[test]
fn choice_10_the_tolerance_is_a_parameter_of_both() {
    let exact = Probing { tolerance: 0.0, ..paper(0.64) };
    assert_decimals(exact.turn().unwrap().source_gap, 650.0, 9, "with no tolerance");
    let tolerant = Probing { tolerance: 0.1, ..program(0.64) };
    assert_decimals(tolerant.turn().unwrap().source_gap, 600.0, 9, "with a tenth");
    for tolerance in [-0.1, 1.0, f64::NAN] {
        let error = Probing { tolerance, ..program(0.64) }.turn().unwrap_err();
        assert_eq!(error.parameter(), "tolerance");
    }
}

#[test]
fn the_intended_jump_skips_gaps_that_are_far_too_small() {
    // The gap of 300 arrives with 670, which is more than 1.5 times as large. The search jumps to 485 and adds a step.
    let jumping = Probing { jumps: true, ..program(0.1) };
    let (with, without) = (jumping.turn().unwrap(), program(0.1).turn().unwrap());
    assert!(with.gaps < without.gaps, "{with:?}, {without:?}");
    // The last step may exceed the gap of the available rate, 4000.
    assert!((3_950.0..4_100.0).contains(&with.source_gap), "{with:?}");
    assert_decimals(without.source_gap, 4_000.0, 9, "step by step");
}

#[test]
fn the_program_finds_the_capacity_when_packets_are_shorter_than_slack() {
    let train = Train::new(4.0, 0.5).unwrap();
    let turn = Probing { train, ..program(0.5) }.turn().unwrap();
    assert_eq!((turn.source_gap, turn.destination_gap, turn.gaps), (0.0, 4.0, 2));
}

#[test]
fn next_to_nothing_available_is_refused() {
    assert_eq!(program(0.000_09).turn().unwrap_err().parameter(), "available");
    assert!(program(0.000_1).turn().is_ok());
}
