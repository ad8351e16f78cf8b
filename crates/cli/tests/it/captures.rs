//! Captures and event logs agree with the rows, according to an independent reader of packets.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{folder, names, run, status, stderr, stdout, text};

/// A race with losses: a queue of a fifth of the necessary size.
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
fn each_client_of_rounds_writes_its_own_logs_named_by_number() {
    let place = folder("captures-of-rounds");
    let flows = ["scheme=slow-start,restart=ssr", "scheme=vegas", "scheme=slow-start,restart=ssr"];
    let flows: Vec<&str> = flows.iter().flat_map(|flow| ["--flow", *flow]).collect();
    let race = [
        "race", "--rate", "2mbit", "--rtt", "100ms", "--rounds", "2", "--idle", "5s", "--size", "24kB",
        "--json",
    ];
    let race = [&race[..], &flows].concat();
    let logs = ["--pcap", text(&place), "--events", text(&place), "--qlog", text(&place)];
    let output = run(&[&race[..], &logs].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&run(&race)), "logging changes no row");
    let of = |name: &str| {
        ["-client.pcapng", "-server.pcapng", ".jsonl", ".sqlog"].map(|end| format!("{name}{end}"))
    };
    let clients = ["slow-start+ssr-flow00000", "slow-start+ssr-flow00002", "vegas-flow00001"];
    let wanted: Vec<String> = clients.into_iter().flat_map(of).collect();
    assert_eq!(names(&place), wanted);
    for client in clients {
        let log = place.join(format!("{client}.jsonl"));
        let replayed = run(&["replay", text(&log)]);
        assert_eq!(status(&replayed), 0, "{}", stderr(&replayed));
    }
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

/// Counts the lines that tshark prints for a filter.
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
        // A sized run ends with its last byte: packets still on their way neither arrive nor are lost.
        assert!(arrived + lost <= packets(&client, data), "{name}");
        // tshark reports a retransmission as out of order if it comes soon after; all of them repeat bytes seen before.
        let repeats = "tcp.analysis.retransmission || tcp.analysis.spurious_retransmission || \
                       tcp.analysis.out_of_order";
        assert_eq!(row["retransmissions"], packets(&client, &format!("({data}) && ({repeats})")), "{name}");
    }
}

#[test]
fn packet_comments_after_an_exit_state_its_cause_and_window() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let place = folder("comments");
    let rows = rows(&["--pcap", text(&place), "--events", text(&place)]);
    for name in ["slow-start", "mine"] {
        let log = std::fs::read_to_string(place.join(format!("{name}.jsonl"))).expect("UTF-8");
        let events: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let mut exits = Vec::new();
        for (at, exit) in events.iter().enumerate().filter(|(_, event)| event["event"] == "exit") {
            let is_data =
                |event: &&Value| event["event"] == "sent" && event["end"] == "client" && event["bytes"] != 0;
            let packet = events[at..].iter().find(is_data).expect("data follows the exit");
            exits.push((exit, packet));
        }
        assert!(!exits.is_empty(), "{name} has an exit");
        let output = Command::new("tshark")
            .args(["-r", text(&place.join(format!("{name}-client.pcapng"))), "-Y", "frame.comment"])
            .args(["-o", "tcp.relative_sequence_numbers:FALSE", "-T", "fields"])
            .args(["-e", "frame.time_epoch", "-e", "tcp.seq", "-e", "tcp.len", "-e", "frame.comment"])
            .output()
            .expect("tshark runs");
        let said = stdout(&output);
        let comments: Vec<Vec<&str>> = said.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(comments.len(), exits.len(), "{name}: {said}");
        for (comment, (exit, packet)) in comments.iter().zip(&exits) {
            let nanos = packet["at_ns"].as_u64().expect("a time");
            assert_eq!(
                comment[..3],
                [
                    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000),
                    packet["seq"].to_string(),
                    packet["bytes"].to_string()
                ],
                "{name}"
            );
            let words = format!(
                "{} left by {} at ",
                exit["phase"].as_str().expect("words"),
                exit["cause"].as_str().expect("words")
            );
            let then = match exit["cause"].as_str() {
                Some("loss" | "timeout" | "mark") => "the window is reduced for it".to_owned(),
                _ => format!("goes on with {} bytes", exit["window_bytes"]),
            };
            let numbers =
                format!(" s: cwnd {} bytes, {} in flight; {then}", exit["cwnd_bytes"], exit["flight_bytes"]);
            assert!(comment[3].starts_with(&words) && comment[3].contains(&numbers), "{comment:?} of {exit}");
        }
        assert_eq!(row(&rows, name)["exit_cause"], exits[0].0["cause"]);
        // The other end cannot know.
        assert_eq!(packets(&place.join(format!("{name}-server.pcapng")), "frame.comment"), 0);
    }
}
