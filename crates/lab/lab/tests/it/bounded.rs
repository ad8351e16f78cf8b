//! The work of a race: simulated time ends, and a limit bounds it.

use std::sync::atomic::{AtomicU32, Ordering};

use firstflight_lab::{How, populations, race, run};
use firstflight_measure::SchemeResult;
use firstflight_scenario::{Options, Scenario, parse_choices};

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

/// Races two schemes. Panics once the race has checked for an interrupt `most` times, which it does each simulated second.
fn raced(path: &Scenario, most: u32) -> Vec<SchemeResult> {
    let asked = AtomicU32::new(0);
    let interrupted = || asked.fetch_add(1, Ordering::Relaxed) > most;
    let choices = parse_choices("slow-start,paced").expect("schemes");
    let how = How { jobs: Some(1), interrupted: &interrupted, ..How::default() };
    let results = race(path, &choices, &how).expect("a race");
    assert!(asked.load(Ordering::Relaxed) <= most, "the race goes on");
    results
}

#[test]
fn a_race_beside_traffic_that_stops_ends() {
    for traffic in
        ["web:10%", "web:90%", "poisson:20,5kB", "users:3,5kB", "onoff:2mbit,100ms,100ms", "tcp:2", "1mbit"]
    {
        for span in
            ["start=0s,stop=1ms", "start=500ms,stop=1s", "stop=500ms", "start=4s,stop=5s", "start=9999ms"]
        {
            let cross = format!("{traffic},{span}");
            for size in ["20kB", "500kB"] {
                let path = scenario(&[
                    ("rate", "5mbit"),
                    ("rtt", "40ms"),
                    ("limit", "10s"),
                    ("size", size),
                    ("cross", &cross),
                ]);
                let results = raced(&path, 500);
                let is_done = |result: &SchemeResult| result.rows[0].fct_s.flatten().is_some();
                assert!(results.iter().all(is_done), "{cross}: {size} need less than ten seconds");
            }
        }
    }
}

#[test]
fn the_ideal_is_known_once_the_other_traffic_has_ended() {
    let path = scenario(&[
        ("rate", "5mbit"),
        ("rtt", "40ms"),
        ("limit", "10s"),
        ("size", "500kB"),
        ("cross", "poisson:20,5kB,start=100ms,stop=200ms"),
    ]);
    for result in raced(&path, 100) {
        let ideal = result.rows[0].ideal_fct_s.flatten().expect("an ideal");
        // 500 kB and headers take 0.82 s, the handshake and the way 0.06 s, two to six transfers of 5 kB up to 0.05 s.
        assert!((0.88..0.95).contains(&ideal), "{ideal}");
    }
}

#[test]
fn the_limit_of_a_transfer_bounds_the_time_before_it() {
    let choice = parse_choices("slow-start").expect("a scheme").remove(0);
    let begins = |cross: &str, more: &[(&str, &str)]| {
        let given = [("rate", "5mbit"), ("rtt", "3s"), ("cross", cross)];
        let path = scenario(&[&given[..], more].concat());
        run(&path, &choice, 1, false, None, &|| false).expect("a run").evidence.recording.syn_at
    };
    let second = 1_000_000_000;
    for cross in ["tcp:1", "web:10%", "poisson:1,5kB", "users:1,5kB"] {
        assert_eq!(begins(cross, &[("size", "5kB"), ("limit", "20s")]), 20 * second, "{cross}");
        assert_eq!(begins(cross, &[("size", "5kB")]), 300 * second, "{cross}: a hundred round trips");
        assert_eq!(begins(cross, &[("duration", "4s")]), 300 * second, "{cross}: nobody limits a transfer");
    }
    assert_eq!(
        begins("onoff:1mbit,1s,1s", &[("size", "5kB"), ("limit", "100ms")]),
        second,
        "routers measure"
    );
}

#[test]
fn frequent_transfers_settle_in_less_than_ten_seconds() {
    let choice = parse_choices("slow-start").expect("a scheme").remove(0);
    let path =
        scenario(&[("rate", "100mbit"), ("rtt", "1ms"), ("size", "5kB"), ("cross", "poisson:10000,1kB")]);
    let run = run(&path, &choice, 1, false, None, &|| false).expect("a run");
    assert_eq!(run.evidence.recording.syn_at, 5_000_000_000, "50,000 transfers");
}

#[test]
fn a_population_that_overloads_its_path_ends_with_its_last_flow() {
    let path = scenario(&[
        ("rate", "100mbit"),
        ("rtt", "40ms"),
        ("topology", "dumbbell:hosts=10"),
        ("arrivals", "poisson:1000"),
        ("flows", "20"),
        ("size", "100kB"),
    ]);
    let choices = parse_choices("slow-start").expect("a scheme");
    let asked = AtomicU32::new(0);
    let interrupted = || asked.fetch_add(1, Ordering::Relaxed) > 60;
    let how = How { interrupted: &interrupted, ..How::default() };
    let results = populations(&path, &choices, false, &how).expect("a population");
    let row = &results[0].rows[0];
    assert_eq!((row.flows, row.unfinished), (20_u64, 0_u64));
}

#[test]
fn transfers_far_beyond_the_path_end_a_run_with_an_error() {
    let path = [("rate", "1mbit"), ("rtt", "40ms"), ("limit", "10s"), ("size", "20kB")];
    for cross in [
        "poisson:1gbit,1kB,stop=1s",
        "poisson:1gbit,1kB,way=reverse,stop=1s",
        "poisson:40000,20B,way=reverse",
    ] {
        let path = scenario(&[&path[..], &[("cross", cross)]].concat());
        let choices = parse_choices("slow-start").expect("a scheme");
        let error = race(&path, &choices, &How::default()).expect_err("no path carries that").to_string();
        assert!(error.starts_with("limit: after ") && !error.contains('\n'), "{cross}: {error}");
    }
}
