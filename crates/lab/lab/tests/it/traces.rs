//! Races along traces: opportunities, repetition, starts that the seed selects, delay over time.

use std::path::PathBuf;

use firstflight_lab::{How, race};
use firstflight_measure::Row;
use firstflight_scenario::{Options, Scenario, parse_choices};

/// A file of mahimahi's format that is removed at the end of a test.
struct File(PathBuf);

impl File {
    fn new(name: &str, millis: impl IntoIterator<Item = u32>) -> Self {
        let path = std::env::temp_dir().join(format!("firstflight-lab-{}-{name}", std::process::id()));
        let lines: String = millis.into_iter().fold(String::new(), |lines, at| lines + &format!("{at}\n"));
        std::fs::write(&path, lines).expect("a file");
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn rows(options: &[(&str, &str)]) -> Vec<Row> {
    let mut all = Options::default();
    for (key, text) in options {
        all.set(key, text).expect(text);
    }
    let scenario = Scenario::resolve(&all).expect("a scenario");
    let choices = parse_choices("slow-start,paced").expect("schemes");
    let results = race(&scenario, &choices, &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

fn fcts(rows: &[Row]) -> Vec<f64> {
    rows.iter().map(|row| row.fct_s.flatten().expect("complete")).collect()
}

#[test]
fn an_opportunity_each_millisecond_is_a_link_of_12_mbit_to_within_a_millisecond() {
    let file = File::new("steady", 1..=1000);
    let common =
        [("rtt", "40ms"), ("size", "500kB"), ("packet", "1500B"), ("queue", "1000p"), ("rate", "12mbit")];
    let steady = rows(&common);
    let trace = rows(&[&common[..], &[("rate-trace", file.0.to_str().expect("a name"))]].concat());
    for (steady, trace) in steady.iter().zip(&trace) {
        let ideals = [steady, trace].map(|row| row.ideal_fct_s.flatten().expect("an ideal"));
        // A packet waits for the next millisecond.
        assert!((ideals[0] - ideals[1]).abs() <= 0.001, "{ideals:?}");
        let fcts = fcts(&[steady.clone(), trace.clone()]);
        assert!((fcts[0] - fcts[1]).abs() <= 0.02 * fcts[0], "{fcts:?}");
    }
}

#[test]
fn no_scheme_is_faster_than_the_ideal_over_opportunities() {
    // Silent for 300 ms, then some packets in each millisecond, as a cellular link.
    let bursts = (1..2_000_u32).filter(|at| at % 700 > 300).flat_map(|at| vec![at; (at % 4) as usize]);
    let file = File::new("bursts", bursts);
    let name = format!("{},start=random", file.0.display());
    for size in ["20kB", "300kB", "2MB"] {
        let rows = rows(&[("rtt", "50ms"), ("size", size), ("rate-trace", &name), ("runs", "4")]);
        assert_eq!(rows.len(), 8);
        for row in &rows {
            let (fct, ideal) =
                (row.fct_s.flatten().expect("complete"), row.ideal_fct_s.flatten().expect("an ideal"));
            assert!(fct >= ideal && fct < 4.0 * ideal, "{size}: {fct} {ideal}");
        }
        let ideals: Vec<_> = rows.iter().map(|row| row.ideal_fct_s.flatten().map(f64::to_bits)).collect();
        assert_eq!(ideals[..4], ideals[4..], "each scheme meets the same part of the trace");
        assert!(ideals[..4].windows(2).any(|pair| pair[0] != pair[1]), "the seed selects the part");
    }
}

#[test]
fn a_trace_that_repeats_is_its_list_repeated() {
    let common = [("rtt", "40ms"), ("size", "1MB")];
    let looped =
        rows(&[&common[..], &[("rate-trace", "0s=10mbit,100ms=2mbit,loop=300ms,start=100ms")]].concat());
    let listed = "0s=2mbit,200ms=10mbit,300ms=2mbit,500ms=10mbit,600ms=2mbit,800ms=10mbit,900ms=2mbit,1100ms=10mbit,1200ms=2mbit,\
                  1400ms=10mbit,1500ms=2mbit,1700ms=10mbit,1800ms=2mbit,2s=10mbit,2100ms=2mbit,2300ms=10mbit,2400ms=2mbit,\
                  2600ms=10mbit,2700ms=2mbit,2900ms=10mbit";
    let listed = rows(&[&common[..], &[("rate-trace", listed)]].concat());
    assert_eq!(fcts(&looped), fcts(&listed));
    assert_eq!(looped[0].ideal_fct_s, listed[0].ideal_fct_s);
}

#[test]
fn a_delay_over_time_is_added_to_the_round_trip_and_the_ideal_stays_a_bound() {
    let common = [("rtt", "40ms"), ("size", "200kB"), ("rate", "20mbit")];
    let plain = rows(&common);
    let longer = rows(&[&common[..], &[("rtt", "60ms")]].concat());
    let traced = rows(&[&common[..], &[("delay-trace", "0s=20ms")]].concat());
    let stepped = rows(&[&common[..], &[("delay-trace", "0s=0,60ms=20ms")]].concat());
    for place in 0..plain.len() {
        let fct = |rows: &[Row]| fcts(rows)[place];
        assert!((fct(&traced) - fct(&longer)).abs() < 0.02, "{} {}", fct(&traced), fct(&longer));
        assert!(fct(&plain) < fct(&stepped) && fct(&stepped) < fct(&traced));
        assert!(traced[place].ideal_fct_s.flatten() <= traced[place].fct_s.flatten());
    }
    let rows = rows(&[
        ("rtt", "30ms"),
        ("size", "1MB"),
        ("rate-trace", "leo"),
        ("delay-trace", "leo"),
        ("runs", "3"),
    ]);
    assert!(rows.iter().all(|row| row.ideal_fct_s.flatten() <= row.fct_s.flatten()));
}
