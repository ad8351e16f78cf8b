//! Harm until it is over, compared with an independent count: the neighbour's goodput in a window of 20 s, with and without the flow.

use std::sync::Mutex;

use firstflight_lab::{How, populations, race};
use firstflight_measure::{HarmFields, Recording, Row};
use firstflight_scenario::{Options, Scenario, parse_choices};

/// 50 Mbit/s, 40 ms, a queue of one BDP.
const PATH: [(&str, &str); 4] =
    [("rate", "50mbit"), ("rtt", "40ms"), ("avoidance", "own"), ("timer-noise", "none")];

/// Bytes that the flow carries.
const SIZE: f64 = 2e6;

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in PATH.iter().chain(options) {
        set.set(key, text).unwrap_or_else(|error| panic!("{key}={text}: {error}"));
    }
    Scenario::resolve(&set).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

fn raced(scheme: &str, options: &[(&str, &str)]) -> (Row, Recording) {
    let recordings = Mutex::new(Vec::new());
    let take = |recording: &Recording| recordings.lock().expect("no panic").push(recording.clone());
    let how = How { record: Some(&take), ..How::default() };
    let choices = parse_choices(scheme).expect(scheme);
    let row = race(&scenario(options), &choices, &how).expect("a race")[0].rows[0].clone();
    (row, recordings.into_inner().expect("no panic").remove(0))
}

/// Returns the bytes that the neighbour, which begins at once, delivers in 20 s from `at` on, with the flow that begins at `at` or
/// without a flow.
fn neighbour(scheme: Option<&str>, at: u64) -> f64 {
    let windows = format!("{at}ns..{}ns", at + 20_000_000_000);
    let own = scheme.map_or_else(String::new, |_| format!(";start={at}ns,size=2MB"));
    let flows = format!("scheme=hystart-linux,avoidance=cubic,as=neighbour{own}");
    let options = [("flow", flows.as_str()), ("duration", "45s"), ("windows", &windows)];
    let choices = parse_choices(scheme.unwrap_or("slow-start")).expect("a scheme");
    let results = populations(&scenario(&options), &choices, false, &How::default()).expect("populations");
    let result = results.iter().find(|result| result.name == "neighbour").expect("the neighbour");
    result.rows[0].windows.0[0].goodput_bps.expect("the run is longer") * 20.0 / 8.0
}

/// Returns the harm for each byte next to neighbours of seven ages, as the race reports it and as the windows count it.
fn both(scheme: &str) -> Vec<[f64; 2]> {
    let of = |seed: u32| {
        let seed = seed.to_string();
        let hosts = ("receiver-access-rate", "500mbit");
        let options = [("size", "2MB"), ("cross", "tcp:1,hystart-linux,cubic"), ("seed", &*seed), hosts];
        let (row, recording) = raced(scheme, &options);
        // The available rate halves when the neighbour begins.
        let at = recording.syn_at - recording.available.last().expect("a rate").0;
        let counted = (neighbour(None, at) - neighbour(Some(scheme), at)) / SIZE;
        [row.harm.harm_per_byte.flatten().expect("it ended"), counted]
    };
    (1..=7).map(of).collect()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Flows of a script have other numbers than flows of a race, and so other random draws. At some ages of the neighbour one packet decides
/// whether the neighbour reduces its window again. Single counts therefore differ, and the medians are compared.
#[test]
fn harm_is_what_a_neighbour_lacks_after_twenty_seconds() {
    for (scheme, harms) in [("hystart++", 0.95..1.05), ("bbr", 1.5..7.0)] {
        let both = both(scheme);
        let ratio = median(both.iter().map(|[harm, counted]| harm / counted));
        assert!((ratio - 1.0).abs() < 0.1, "{scheme}: {both:?}");
        assert!(both.iter().all(|[harm, _]| harms.contains(harm)), "{scheme}: {both:?}");
    }
}

#[test]
fn harm_after_the_flow_is_for_transfers_beside_others_that_end() {
    let of = |options: &[(&str, &str)]| raced("slow-start", options).0.harm;
    let alone = of(&[("size", "100kB")]);
    let endless = of(&[("duration", "2s"), ("cross", "tcp:1")]);
    assert_eq!((alone, endless), (HarmFields::default(), HarmFields::default()));
    let given_up = of(&[("size", "10MB"), ("limit", "1s"), ("cross", "tcp:1")]);
    assert_eq!(given_up, HarmFields::UNDEFINED);
}

#[test]
fn transfers_beside_deliver_all_in_the_end_and_take_longer() {
    let choices = parse_choices("slow-start").expect("a scheme");
    let path = scenario(&[("size", "10MB"), ("cross", "poisson:10mbit,100kB"), ("runs", "3")]);
    let rows = |jobs| {
        let how = How { jobs: Some(jobs), ..How::default() };
        race(&path, &choices, &how).expect("a race").remove(0).rows
    };
    let once = rows(1);
    assert_eq!(once, rows(3), "on any threads");
    for row in once {
        let share = row.harm.harm_share.flatten().expect("others deliver");
        assert!(share < 0.2, "a constant load gives way for a time only: {row:?}");
        assert!(row.harm.others_fct_ratio.flatten().is_some_and(|ratio| ratio > 1.0), "{row:?}");
    }
}
