//! Races of flows that run in QUIC stacks, next to TCP.

use serde_json::Value;

use crate::common::{refused, run, status, stderr, stdout};

const PATH: [&str; 9] = ["race", "--rate", "20mbit", "--rtt", "40ms", "--queue", "50p", "--size", "2MB"];

/// The controllers whose rows are the same in every run.
const SEEDED: &str = "noq:cubic,noq:newreno,quinn:cubic,quinn:newreno,quinn:bbr";

fn race(more: &[&str]) -> Vec<Value> {
    let output = run(&[&PATH[..], more, &["--json"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn rows_of_stacks_stand_next_to_rows_of_tcp() {
    let schemes = format!("hystart++,noq:bbr3,{SEEDED}");
    let rows = race(&["--schemes", &schemes]);
    assert_eq!(rows.len(), 7);
    for row in rows {
        let scheme = row["scheme"].as_str().expect("a scheme");
        let stack = scheme.split_once(':').map(|(stack, _)| stack);
        assert_eq!(row["stack"].as_str(), stack, "{row}");
        assert!(row["cost"].as_f64().expect("a cost") > 1.0, "the ideal is never beaten: {row}");
        assert!(row["cost"].as_f64() < Some(1.5), "{row}");
        if stack.is_some() {
            assert!(row["su_time_s"].is_null() && row["exit_cause"] == "", "{row}");
            assert!(row["packets_sent"].as_u64() >= Some(1_400), "{row}");
            assert!(row["packets_lost"].as_u64() <= row["packets_sent"].as_u64(), "{row}");
        }
    }
}

#[test]
fn a_race_of_stacks_is_the_same_with_any_number_of_threads() {
    let of = |jobs: &str| {
        let more = ["--cross", "poisson:5,50kB", "--loss", "0.5%", "--runs", "3", "--jobs", jobs, "--csv"];
        let output = run(&[&PATH[..], &["--schemes", SEEDED], &more[..]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        stdout(&output)
    };
    let first = of("1");
    assert_eq!(first, of("2"));
    assert_eq!(first, of("1"));
}

#[test]
fn transfers_over_lossy_paths_complete_and_short_limits_stop_them() {
    let lossy = ["--loss", "2%", "--duplicate", "1%", "--jitter", "3ms", "--schemes", SEEDED];
    for row in race(&lossy) {
        assert!(row["fct_s"].is_number() && row["retransmissions"].as_u64() > Some(10), "{row}");
    }
    for row in race(&["--limit", "300ms", "--schemes", SEEDED]) {
        assert!(row["fct_s"].is_null() && row["throughput_bps"].as_f64() > Some(1e6), "{row}");
    }
}

#[test]
fn what_a_stack_cannot_do_is_refused_in_one_line() {
    let refuse = |more: &[&str]| refused(&[&PATH[..], more].concat());
    assert!(
        refuse(&["--schemes", "noq:vegas"])
            .contains("controllers of noq are noq:cubic, noq:newreno, noq:bbr3")
    );
    assert!(
        refuse(&["--schemes", "quinn:cubic", "--pcap", "captures"])
            .contains("--pcap: quinn:cubic runs in a QUIC stack")
    );
    for (more, why) in [
        (&["--schemes", "noq:cubic", "--rounds", "3"][..], "`rounds` is only for the simulator's TCP"),
        (
            &["--schemes", "noq:cubic", "--restart", "ssr"],
            "restart policies are only for the simulator's TCP",
        ),
        (&["--schemes", "noq:cubic:iw=4"], "`iw` is a key of TCP senders"),
        (&["--schemes", "noq:cubic:stack=quinn"], "this controller is not of quinn"),
        (&["--schemes", "quick-start:stack=noq"], "Quick-Start asks routers"),
        (&["--schemes", "noq:cubic", "--mss", "900"], "too small for QUIC"),
    ] {
        let output = run(&[&PATH[..], more].concat());
        assert_ne!(status(&output), 0, "{more:?}");
        assert!(stderr(&output).contains(why) && stderr(&output).lines().count() == 1, "{}", stderr(&output));
    }
}

#[test]
fn only_long_runs_of_bbr3_come_with_a_note() {
    let output = run(&[&PATH[..], &["--schemes", "noq:bbr3"]].concat());
    assert!(
        stderr(&output).contains("seeds its probes for bandwidth from the system"),
        "{}",
        stderr(&output)
    );
    let output = run(&[&PATH[..], &["--schemes", SEEDED]].concat());
    assert!(!stderr(&output).contains("seeds"), "{}", stderr(&output));
}
