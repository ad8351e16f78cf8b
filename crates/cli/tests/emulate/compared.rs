//! Schemes on real packets, compared with the simulator.

use serde_json::Value;

use crate::common::{firstflight, stderr, stdout};
use crate::machine::can_run;

/// Returns the rows of a comparison, and its exit status. Rows whose runs all stayed invalid have no numbers.
fn compared(options: &str) -> (Vec<Value>, Option<i32>) {
    let words = options.split_whitespace();
    let output = firstflight().arg("compare").args(words).arg("--json").output().expect("it runs");
    let rows = stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    (rows, output.status.code())
}

fn row<'a>(rows: &'a [Value], scheme: &str, habitat: &str) -> &'a Value {
    let found = rows.iter().find(|row| row["scheme"] == scheme && row["habitat"] == habitat);
    found.unwrap_or_else(|| panic!("{scheme} in {habitat}: {rows:?}"))
}

/// Checks whether the row has valid runs; prints a line if it has none.
fn counts(row: &Value) -> bool {
    let is_there = row["runs"] != 0;
    if !is_there {
        println!("skipped emulate::compared: {} in {} stayed invalid", row["scheme"], row["habitat"]);
    }
    is_there
}

#[test]
fn a_transfer_takes_as_many_packets_and_starts_alike_in_every_habitat() {
    if !can_run("compared::a_transfer_takes_as_many_packets_and_starts_alike_in_every_habitat", &[]) {
        return;
    }
    let path = "--rate 20mbit --rtt 40ms --queue 50p --ack every --size 1MB";
    let (rows, status) = compared(&format!("{path} --schemes slow-start,paced"));
    let habitats = ["sim-rfc", "live-rfc", "sim-linux", "live-linux"];
    let void = rows.iter().any(|row| row["void"] != 0);
    assert_eq!(status, Some(i32::from(void)));
    for row in habitats.iter().map(|habitat| row(&rows, "slow-start", habitat)).filter(|row| counts(row)) {
        let of = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"));
        assert_eq!(row["exit_cause"], "loss", "{row}");
        // 1 MB are 685 packets, which all arrive, some after a retransmission. Some retransmissions are spurious.
        assert!(of("packets_sent") >= 685.0 + of("packets_lost") - 1.0, "{row}");
        assert!(of("packets_lost") > 0.0 && of("fct_s") > 0.5 && of("fct_s") < 5.0, "{row}");
    }
    for row in habitats.iter().map(|habitat| row(&rows, "paced", habitat)).filter(|row| counts(row)) {
        assert!(row["exit_rate_bps"].as_f64().is_some_and(|rate| rate > 1e6), "{row}");
    }
    let reno = row(&rows, "slow-start", "kernel");
    assert_eq!(reno["congestion_control"], "reno");
    let cubic = row(&rows, "kernel-cubic", "kernel");
    assert_eq!((&cubic["congestion_control"], &cubic["avoidance"]), (&"cubic".into(), &"cubic-linux".into()));
    if counts(reno) {
        assert!(reno["exit_rate_bps"].is_null() && reno["overshoot_lost_packets"].is_null(), "{reno}");
        assert!(reno["packets_lost"].as_f64().is_some_and(|lost| lost > 0.0), "{reno}");
    }
}

#[test]
fn the_endpoints_keys_reach_the_ends() {
    if !can_run("compared::the_endpoints_keys_reach_the_ends", &[]) {
        return;
    }
    // A window of 14 packets fills no queue and loses nothing, however fast the path.
    let path = "--rate 20mbit --rtt 20ms --size 300kB --rwnd 20kB --iw 4 --timestamps --mss 1000";
    let (rows, _) = compared(&format!("{path} --schemes slow-start"));
    let kernel = rows.iter().filter(|row| row["habitat"] == "kernel").count();
    assert_eq!((rows.len(), kernel), (5, 0), "the kernel cannot hold its window to it");
    for row in rows.iter().filter(|row| counts(row)) {
        let of = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"));
        assert_eq!(of("packets_lost"), 0.0, "{row}");
        // If a reader is slow, the window ends within a segment, and some packets are shorter.
        assert!((300.0..=330.0).contains(&of("packets_sent")), "{row}");
        // 20 kB a round trip of 20 ms are 8 Mbit/s.
        assert!(of("throughput_bps") < 8.1e6, "{row}");
    }
}

#[test]
fn a_scheme_unsupported_by_sockets_is_reported_and_the_others_are_run() {
    if !can_run("compared::a_scheme_unsupported_by_sockets_is_reported_and_the_others_are_run", &[]) {
        return;
    }
    let options = "compare --rate 20mbit --rtt 10ms --size 50kB --schemes quick-start,limited --habitats sim-rfc,live-rfc";
    let output = firstflight().args(options.split(' ')).arg("--csv").output().expect("it runs");
    assert!(stderr(&output).contains("quick-start is not in live-rfc: "), "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 4, "{}", stdout(&output));
}

#[test]
fn the_limit_ends_a_transfer_in_every_habitat() {
    if !can_run("compared::the_limit_ends_a_transfer_in_every_habitat", &[]) {
        return;
    }
    // 2 MB take at least 0.8 s; the loss is long before the limit.
    let path =
        "--rate 20mbit --rtt 40ms --queue 50p --ack every --size 2MB --limit 700ms --schemes slow-start";
    let (rows, _) = compared(path);
    assert_eq!(rows.len(), 7, "{rows:?}");
    for row in rows.iter().filter(|row| counts(row)) {
        assert_eq!((&row["runs"], &row["finished"]), (&1.into(), &0.into()), "{row}");
        assert!(row["fct_s"].is_null(), "{row}");
        let of = |field: &str| row[field].as_f64().unwrap_or_else(|| panic!("{field} of {row}"));
        assert!(of("packets_sent") > 700.0 && of("packets_sent") < 1370.0, "{row}");
        assert!(of("throughput_bps") > 5e6 && of("throughput_bps") < 20e6, "{row}");
        assert!(of("exit_time_s") < 0.7, "the inside of the sender is known, too: {row}");
    }
}

#[test]
fn a_transfer_begins_as_long_after_cross_traffic_as_in_a_race() {
    if !can_run("compared::a_transfer_begins_as_long_after_cross_traffic_as_in_a_race", &[]) {
        return;
    }
    // The races begin a second after the datagrams, and times of a trace count from the datagrams. The slow rate would take 2.4 s.
    let path =
        "--rate-trace 0s=1mbit,900ms=20mbit --rtt 20ms --size 300kB --cross 100kbit --schemes slow-start";
    let (rows, _) = compared(path);
    assert_eq!(rows.len(), 7, "{rows:?}");
    for row in rows.iter().filter(|row| counts(row)) {
        assert!(row["fct_s"].as_f64().is_some_and(|fct| fct < 0.5), "{row}");
    }
}
