//! Tests of the verdict on populations.

use super::*;
use crate::population_row::PopulationRow;
use crate::result::PopulationResult;

/// Returns a scheme's populations of ten flows, one for each throughput. In each, `left` flows left start-up.
fn population(name: &str, counts: &str, left: u64, mbps: &[f64]) -> PopulationResult {
    let row = |(seed, mbps): (u64, &f64)| PopulationRow {
        scheme: name.to_owned(),
        population: "only".to_owned(),
        avoidance: "reno".to_owned(),
        deploy: "alone".to_owned(),
        flows: 10,
        throughput_mean_bps: Some(mbps * 1e6),
        su_counts: counts.to_owned(),
        exited_flows: left,
        seed,
        ..PopulationRow::default()
    };
    PopulationResult { name: name.to_owned(), rows: (1..).zip(mbps).map(row).collect(), flows: Vec::new() }
}

fn beside(of: &[&str], mbps: &[f64]) -> [Reference<PopulationResult>; 1] {
    let of = of.iter().map(|name| (*name).to_owned()).collect();
    [Reference { of, result: population("slow-start", "bytes", 0, mbps) }]
}

#[test]
fn a_byte_counting_population_is_compared_with_byte_counting_slow_start() {
    let ranked = [population("h", "bytes", 0, &[9.0, 9.2]), population("s", "acks", 0, &[6.0, 6.1])];
    assert_eq!(populations_want_reference(&ranked), ["h"]);
    assert_eq!(
        population_verdict(10, &ranked, &beside(&["h"], &[9.0, 9.2])),
        "No scheme beats byte-counting slow start by a flow's throughput, each scheme by itself: h (reno), a mean of 9.100 \
         Mbit/s per flow. Worst: s (reno), a mean of 6.050 Mbit/s per flow.\n\
         note: h never exited start-up and is no better than byte-counting slow start (a mean of 9.100 Mbit/s per flow).\n\
         note: s counts ACKs; --slow-start-counts bytes makes all schemes count bytes."
    );
    let line = population_verdict(10, &ranked, &beside(&["h"], &[7.0, 7.2]));
    assert!(
        line.starts_with("Best by a flow's throughput, each scheme by itself: h (reno)")
            && line.contains("note: byte-counting slow start: a mean of 7.100 Mbit/s per flow."),
        "{line}"
    );
}

#[test]
fn a_reference_of_populations_is_wanted_by_the_rule_of_races() {
    let wants =
        |one: PopulationResult| populations_want_reference(&[one, population("s", "acks", 0, &[6.0])]).len();
    assert_eq!(wants(population("h", "bytes", 10, &[9.0])), 1, "it left, and is the best alone");
    assert_eq!(wants(population("h", "beyond", 0, &[9.0])), 1);
    assert_eq!(wants(population("h", "beyond", 1, &[9.0])), 0, "its exit decided, too");
    assert_eq!(wants(population("h", "either", 0, &[9.0])), 0);
    assert_eq!(wants(population("h", "bytes", 0, &[5.0])), 0, "it gained nothing");
    let mut mixed = population("h", "bytes", 0, &[9.0]);
    mixed.rows[0].population = "mixed".to_owned();
    assert_eq!(wants(mixed), 0, "in a mix each gains at the others' cost");
}

#[test]
fn the_first_note_says_that_one_run_decides_nothing() {
    let ranked = [population("a", "acks", 0, &[9.0]), population("b", "acks", 0, &[6.0])];
    let line = population_verdict(10, &ranked, &[]);
    assert!(
        line.starts_with("Best by a flow's throughput in this run, each scheme by itself: a (reno), "),
        "{line}"
    );
}
