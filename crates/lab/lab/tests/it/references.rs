//! Byte-counting slow start as the reference of a race, and what runs owe to counting bytes or to the seed.

use std::sync::atomic::{AtomicU64, Ordering};

use firstflight_lab::{How, population_references, populations, race, references};
use firstflight_measure::{
    Reference, Row, SchemeResult, population_verdict, rank, rank_populations, verdict,
};
use firstflight_scenario::{Options, Scenario, SchemeChoice, parse_choices};

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

/// The results of a race, best first, and its references.
fn raced(options: &[(&str, &str)], schemes: &str) -> (Scenario, Vec<SchemeResult>, Vec<Reference>) {
    let (path, choices) = (scenario(options), parse_choices(schemes).expect(schemes));
    let mut results = race(&path, &choices, &How::default()).expect("a race");
    let references = references(&path, &choices, &results, &How::default()).expect("references");
    rank(&path.contest(), &mut results);
    (path, results, references)
}

const FAR: [(&str, &str); 5] =
    [("rate", "1gbit"), ("rtt", "100ms"), ("size", "1MB"), ("queue", "4bdp"), ("avoidance", "own")];

/// With delayed ACKs and no exit, the schemes differ only in what an ACK counts.
#[test]
fn schemes_without_an_exit_are_compared_with_byte_counting_slow_start() {
    let (path, results, references) = raced(&FAR, "slow-start,search,hystart-linux,hystart++");
    let counts = |name: &str| {
        let result = results.iter().find(|result| result.name == name).expect(name);
        (result.rows[0].su_counts.as_str(), result.rows[0].exit_cause.as_str())
    };
    assert_eq!([counts("slow-start"), counts("search")], [("acks", "none"); 2]);
    assert_eq!([counts("hystart-linux"), counts("hystart++")], [("bytes", "none"); 2]);
    let [Reference { of, result }] = &references[..] else { panic!("one slow start for both") };
    assert_eq!(
        (of.len(), result.name.as_str(), &result.rows[0].fct_s),
        (2, "slow-start", &results[0].rows[0].fct_s)
    );
    let line = verdict(&path.contest(), &results, &references);
    assert!(
        line.starts_with(
            "No scheme beats byte-counting slow start by cost: hystart-linux (cubic) and hystart++ (reno)"
        ) && line.contains(" never exited start-up and are no better than byte-counting slow start ("),
        "{line}"
    );
}

#[test]
fn gain_over_byte_counting_slow_start_is_credited_to_the_scheme() {
    let (path, results, references) = raced(&FAR, "slow-start,suss");
    let line = verdict(&path.contest(), &results, &references);
    assert!(
        line.starts_with("Best by cost: suss (cubic)") && line.contains("note: byte-counting slow start: "),
        "{line}"
    );
}

/// Where every ACK is for one segment, or all schemes count bytes, counting bytes gains nothing.
#[test]
fn a_reference_runs_only_where_it_is_needed() {
    let needed = |more: &[(&str, &str)], schemes| raced(&[&FAR[..], more].concat(), schemes).2.len();
    assert_eq!(needed(&[], "slow-start,hystart++"), 1);
    assert_eq!(needed(&[("ack", "every")], "slow-start,hystart++"), 0);
    assert_eq!(needed(&[("slow-start-counts", "bytes")], "slow-start,hystart++"), 0);
    assert_eq!(needed(&[], "slow-start,search"), 0);
    assert_eq!(needed(&[], "hystart-linux,hystart++"), 0);
    assert_eq!(needed(&[], "slow-start,hystart++,hystart-linux:iw=20p"), 2, "an initial window each");
}

#[test]
fn a_slow_start_of_the_race_that_counts_bytes_is_the_reference() {
    let (path, choices) =
        (scenario(&FAR), parse_choices("slow-start,slow-start:slow-start-counts=bytes,as=b,hystart++"));
    let choices = choices.expect("schemes");
    let results = race(&path, &choices, &How::default()).expect("a race");
    let made = AtomicU64::new(0);
    let tap = |_: &SchemeChoice, _| {
        made.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    };
    let found =
        references(&path, &choices, &results, &How { tap: &tap, ..How::default() }).expect("references");
    let names: Vec<_> = found.iter().map(|found| found.result.name.as_str()).collect();
    assert_eq!((names, made.into_inner()), (vec!["b"], 0));
}

/// The scenario says whether the seed can change a run. Where it cannot, runs of other seeds are equal to the bit.
#[test]
fn where_nothing_is_drawn_other_seeds_give_the_same_runs() {
    for more in [
        &[("queue", "20p")][..],
        &[("queue", "codel:50p")],
        &[("queue", "fq-codel:50p,ecn"), ("ecn", "true")],
        &[("policer", "5mbit,20kB")],
        &[("rounds", "3"), ("idle", "1s")],
        &[("app", "10p,200ms")],
        &[("ack-aggregation", "4")],
        &[("rate-trace", "0s=10mbit,1s=3mbit,2s=10mbit")],
        &[("topology", "parking-lot:hops=3")],
        &[("qs-hops", "1")],
    ] {
        let options =
            [&[("rate", "10mbit"), ("rtt", "40ms"), ("size", "300kB"), ("runs", "3")][..], more].concat();
        let path = scenario(&options);
        assert!(!path.seed_changes_runs(), "{more:?}");
        let choices = parse_choices("all").expect("schemes");
        for result in race(&path, &choices, &How::default()).expect("a race") {
            let of = |row: &Row| Row { seed: 0, ..row.clone() };
            assert!(
                result.rows.iter().all(|row| of(row) == of(&result.rows[0])),
                "{more:?}: {}",
                result.name
            );
        }
    }
}

/// Rows of populations say what start-ups counted, as a race's do, and the verdict credits schemes only with their own gain.
#[test]
fn populations_are_held_to_slow_start_that_counts_bytes_as_races_are() {
    let far = [
        ("rate", "1gbit"),
        ("rtt", "100ms"),
        ("size", "1MB"),
        ("queue", "4bdp"),
        ("topology", "dumbbell:hosts=4"),
        ("flows", "6"),
        ("arrivals", "every:2s"),
    ];
    let said = |more: &[(&str, &str)], schemes: &str| {
        let path = scenario(&[&far[..], more].concat());
        let choices = parse_choices(schemes).expect(schemes);
        let mut results = populations(&path, &choices, true, &How::default()).expect("populations");
        let references =
            population_references(&path, &choices, &results, &How::default()).expect("references");
        rank_populations(&mut results);
        let flows = results.iter().flat_map(|result| &result.flows).map(|flow| flow.su_counts.clone());
        let counts: Vec<String> = results.iter().map(|one| one.rows[0].su_counts.clone()).collect();
        (counts, flows.collect::<Vec<_>>(), references.len(), population_verdict(6, &results, &references))
    };
    let (counts, flows, references, line) = said(&[], "slow-start,search,hystart-linux,hystart++");
    assert_eq!(counts, ["bytes", "bytes", "acks", "acks"]);
    assert_eq!(flows, counts.iter().flat_map(|one| vec![one.clone(); 6]).collect::<Vec<_>>());
    assert_eq!(references, 1, "one slow start for both");
    assert!(
        line.starts_with("No scheme beats byte-counting slow start by a flow's throughput in this run")
            && line.contains(
                "note: hystart-linux and hystart++ never exited start-up and are no better than byte-counting slow"
            ),
        "{line}"
    );
    let (.., references, line) = said(&[], "slow-start,suss");
    assert!(
        references == 1
            && line.starts_with("Best by a flow's throughput in this run")
            && line.contains("note: byte-counting slow start: a mean of "),
        "{line}"
    );
    assert_eq!(said(&[("slow-start-counts", "bytes")], "slow-start,hystart++").2, 0, "all count alike");
    assert_eq!(said(&[("ack", "every")], "slow-start,hystart++").2, 0, "there is nothing to count otherwise");
    assert_eq!(said(&[("mixed", "true")], "slow-start,hystart++").2, 1, "the mix runs once");
}
