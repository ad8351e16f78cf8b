//! Captures and event logs agree with the rows, as an independent reader of packets counts.

mod common;

use std::path::Path;
use std::process::Command;

use common::{folder, names, run, status, stderr, stdout, text};
use serde_json::Value;

/// A race with losses: a queue of a fifth of what is needed.
const LOSSY: [&str; 11] = [
    "race",
    "--rate",
    "20mbit",
    "--rtt",
    "40ms",
    "--size",
    "2MB",
    "--queue",
    "20p",
    "--schemes",
    "slow-start,paced:as=mine",
];

fn rows(more: &[&str]) -> Vec<Value> {
    let output = run(&[&LOSSY[..], &["--json"], more].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn row<'a>(rows: &'a [Value], name: &str) -> &'a Value {
    let named = |row: &&Value| row.get("label").or(row.get("scheme")).is_some_and(|found| found == name);
    rows.iter().find(named).unwrap_or_else(|| panic!("{name} in {rows:?}"))
}

#[test]
fn a_capture_is_named_after_its_row_and_end() {
    let place = folder("capture-names");
    rows(&["--pcap", text(&place.join("made/here")), "--runs", "2"]);
    assert_eq!(
        names(&place.join("made/here")),
        ["mine-client.pcapng", "mine-server.pcapng", "slow-start-client.pcapng", "slow-start-server.pcapng"]
    );
}

#[test]
fn a_snap_length_keeps_the_headers_only() {
    let place = folder("capture-snap");
    rows(&["--pcap", text(&place.join("all"))]);
    rows(&["--pcap", text(&place.join("snapped")), "--snap", "100B"]);
    let size = |folder: &str| {
        std::fs::metadata(place.join(folder).join("slow-start-client.pcapng")).expect("a capture").len()
    };
    assert!(size("all") > 2_000_000, "it holds the payload");
    assert!(size("snapped") < size("all") / 4);
}

#[test]
fn the_event_log_counts_what_the_row_counts() {
    let place = folder("event-counts");
    let rows = rows(&["--events", text(&place)]);
    for name in ["slow-start", "mine"] {
        let log = std::fs::read_to_string(place.join(format!("{name}.jsonl"))).expect("UTF-8");
        let events: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let count = |is: &dyn Fn(&Value) -> bool| events.iter().filter(|event| is(event)).count() as u64;
        let sent =
            |event: &Value| event["event"] == "sent" && event["end"] == "client" && event["bytes"] != 0;
        let row = row(&rows, name);
        assert_eq!(row["packets_sent"], count(&sent), "{name}");
        assert_eq!(
            row["retransmissions"],
            count(&|event| sent(event) && event["retransmission"] == true),
            "{name}"
        );
        assert_eq!(
            row["timeouts"],
            count(&|event| event["event"] == "timed-out" && event["end"] == "client")
        );
        assert_eq!(events[0]["event"], "trace", "{name}: the first line is the header of the trace");
        let times: Vec<u64> =
            events.iter().skip(1).map(|event| event["at_ns"].as_u64().expect("a time")).collect();
        assert!(times.is_sorted(), "{name}: events come in order of time");
        let exit = events.iter().find(|event| event["event"] == "exit" && event["end"] == "client");
        match exit {
            Some(exit) => assert_eq!(row["exit_cause"], exit["cause"], "{name}"),
            None => assert_eq!(row["exit_cause"], "none", "{name}"),
        }
    }
}

/// The lines that tshark gives for a filter.
fn packets(capture: &Path, filter: &str) -> u64 {
    let output = Command::new("tshark")
        .args([
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
            "-r",
            text(capture),
            "-Y",
            filter,
        ])
        .output()
        .expect("tshark runs");
    assert!(output.status.success(), "{}", stderr(&output));
    stdout(&output).lines().count() as u64
}

#[test]
fn tshark_finds_the_captures_sound_and_counts_as_the_sender_does() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let place = folder("tshark");
    let rows = rows(&["--pcap", text(&place)]);
    assert!(row(&rows, "slow-start")["retransmissions"].as_u64() > Some(0), "the race must have losses");
    for name in ["slow-start", "mine"] {
        let client = place.join(format!("{name}-client.pcapng"));
        let server = place.join(format!("{name}-server.pcapng"));
        for capture in [&client, &server] {
            let faults = "_ws.malformed || tcp.checksum.status != 1 || ip.checksum.status != 1";
            assert_eq!(packets(capture, faults), 0, "{}", capture.display());
        }
        let row = row(&rows, name);
        let data = "ip.src == 10.0.0.1 && tcp.len > 0";
        assert_eq!(row["packets_sent"], packets(&client, data), "{name}");
        let arrived = packets(&server, data);
        let lost = row["packets_lost"].as_u64().expect("a count");
        // A sized run ends with its last byte: what is still under way then neither arrives nor is lost.
        assert!(arrived + lost <= packets(&client, data), "{name}");
        // tshark calls a repeat out of order where it comes soon after; all of them repeat bytes seen before.
        let repeats = "tcp.analysis.retransmission || tcp.analysis.spurious_retransmission || \
                       tcp.analysis.out_of_order";
        assert_eq!(row["retransmissions"], packets(&client, &format!("({data}) && ({repeats})")), "{name}");
    }
}
