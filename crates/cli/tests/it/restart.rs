//! Restart policies on the command line.

use crate::common::{refused, run, status, stderr, stdout};

const PATH: [&str; 7] = ["race", "--rate", "10mbit", "--rtt", "40ms", "--schemes", "slow-start"];

#[test]
fn restart_all_gives_a_row_per_policy_with_reply_costs() {
    let rounds = ["--restart", "all", "--rounds", "3", "--idle", "120s", "--size", "24kB", "--runs", "2"];
    let output = run(&[&PATH[..], &rounds[..], &["--json"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let mut restarts: Vec<&str> = rows.iter().map(|row| row["restart"].as_str().expect("a policy")).collect();
    restarts.sort_unstable();
    assert_eq!(restarts, ["cwv", "nssr", "quick-start", "rbp-cwnd", "rbp-rate", "rfc5681", "ssr"]);
    let elapsed: Vec<f64> = rows.iter().map(|row| row["elapsed_s"].as_f64().expect("a time")).collect();
    assert!(elapsed.is_sorted(), "best first: {elapsed:?}");
    for row in &rows {
        for field in ["elapsed_s", "elapsed_acked_s", "drops", "burst_packets", "ack_clock_s"] {
            assert!(row[field].is_number() && row[format!("{field}_ci95")].is_number(), "{field} in {row}");
        }
        assert!(row.get("fct_s").is_none(), "several replies have no completion time");
    }
}

#[test]
fn the_table_shows_rounds_and_not_what_belongs_to_one_transfer() {
    let rounds = ["--restart", "ssr,rbp-cwnd/scale=100%", "--rounds", "2", "--idle", "9s"];
    let output = run(&[&PATH[..], &rounds[..]].concat());
    let table = stdout(&output);
    assert_eq!(status(&output), 0);
    for word in
        ["elapsed", "ACK clock", "slow-start+ssr", "rbp-cwnd/scale=100%", "2 rounds of 24 kB, 9 s idle"]
    {
        assert!(table.contains(word), "{word} in {table}");
    }
    assert!(!table.contains("su-time"), "{table}");
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let refuse = |more: &[&str]| refused(&[&PATH[..], more].concat());
    assert!(refuse(&["--idle", "9s"]).contains("idle: there are no rounds"));
    assert!(refuse(&["--rounds", "-1"]).contains("rounds are a whole number"));
    assert!(
        refuse(&["--rounds", "2", "--duration", "5s"])
            .contains("--rounds: it and duration exclude each other")
    );
    assert!(refuse(&["--restart", "rbp-rat"]).contains("is `rbp-rate` meant?"));
    assert!(refuse(&["--restart", "rbp-rate/scale=0%"]).contains("allowed is a fraction from 1% to 100%"));
    assert!(refuse(&["--clients", "3"]).contains("clients: there are no rounds"));
}
