//! The results of `inspect` for captures that the simulator wrote agree with the simulator's own.

use serde_json::Value;

use crate::common::{folder, refused, run, status, stderr, stdout, text};
use crate::memory::{ACK, Made, SYN};

/// Runs a race with captures. Returns each row, and the result of `inspect` for the capture at its sender.
fn raced(place: &str, arguments: &[&str]) -> Vec<(Value, Value)> {
    let place = folder(place);
    let output = run(&[&["race", "--json", "--pcap", text(&place)], arguments].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let rows = stdout(&output);
    let rows = rows.lines().map(|line| serde_json::from_str(line).expect("an object"));
    rows.map(|row: Value| {
        let name = row["scheme"].as_str().expect("a name");
        let found = inspected(&[text(&place.join(format!("{name}-client.pcapng")))]);
        (row, found.into_iter().next().expect("a sender"))
    })
    .collect()
}

fn inspected(arguments: &[&str]) -> Vec<Value> {
    let output = run(&[&["inspect", "--json"], arguments].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

/// Returns the class of a cause that an observer can distinguish.
fn class(cause: &str) -> &str {
    match cause {
        "threshold" | "delay" | "ack-train" | "css-end" | "dispersion" | "advice" => "flat",
        "rate-flat" => "drain",
        other => other,
    }
}

/// Returns the length of the round that contains an instant, which counts from the first data.
fn round_at(found: &Value, at: f64) -> f64 {
    let rounds = found["rounds"].as_array().expect("rounds");
    let begun = rounds.iter().rev().find(|round| number(&round["began_s"]) <= at).expect("a round");
    number(&begun["length_s"])
}

fn agree(row: &Value, found: &Value, rtt: f64, iw: Option<u64>) {
    let scheme = row["scheme"].as_str().expect("a name");
    assert_eq!(found["vantage"], "sender", "{scheme}");
    // The SYN takes its own transmission time in addition to the base RTT.
    let handshake = number(&found["handshake_rtt_s"]);
    assert!(handshake >= rtt && handshake < rtt * 1.01, "{scheme}: {handshake}");
    if let Some(iw) = iw {
        assert_eq!(found["initial_window_segments"], iw, "{scheme}");
        assert_eq!(found["initial_window_limit"], "window", "{scheme}");
    }
    assert_eq!(found["data_segments_sent"], row["packets_sent"], "{scheme}");
    assert_eq!(found["retransmitted_segments"], row["retransmissions"], "{scheme}");
    assert_eq!(found["timeouts_suspected"], row["timeouts"], "{scheme}");
    assert_eq!(found["unseen_bytes"], 0, "{scheme}");
    // The whole difference is data that was delivered but not yet acknowledged at the sender: that of one RTT.
    let (ours, theirs) = (number(&found["throughput_bps"]), number(&row["throughput_bps"]));
    assert!(ours <= theirs && ours > theirs * 0.97, "{scheme}: {ours} of {theirs}");
    assert_eq!(found["exit_cause"], class(row["exit_cause"].as_str().expect("a cause")), "{scheme}");
    let (seen, is) = (number(&found["exit_time_s"]), number(&row["exit_time_s"]));
    assert!((seen - is).abs() <= round_at(found, seen.min(is)), "{scheme}: exit at {seen}, not {is}");
    if found["exit_cause"] == "loss" {
        assert!((seen - is).abs() < 1e-6, "{scheme}: exit at {seen}, not {is}");
        assert_eq!(found["overshoot_segments"], row["overshoot_lost_packets"], "{scheme}");
    }
    let flight = number(&found["exit_flight_bytes"]) / number(&found["mss_bytes"]);
    let window = number(&row["exit_cwnd_packets"]);
    assert!((flight / window - 1.0).abs() < 0.05, "{scheme}: {flight} in flight, window {window}");
}

#[test]
fn a_capture_at_the_sender_says_what_the_simulator_recorded() {
    let path = ["--rate", "50mbit", "--rtt", "40ms", "--queue", "2bdp", "--duration", "4s"];
    let schemes = "slow-start,slow-start-paced,packet-pair,paced,hystart,hystart-linux,hystart++,suss,bbr";
    for (row, found) in raced("inspect-agrees", &[&path[..], &["--schemes", schemes]].concat()) {
        agree(&row, &found, 0.040, Some(10));
    }
    let long = ["--duration", "4s", "--schemes", "slow-start,hystart,hystart++,paced,bbr,packet-pair"];
    for (row, found) in raced("inspect-agrees-built-in", &long) {
        // BBR loses packets in start-up and continues: its exit is known within an interval.
        if row["scheme"] == "bbr" {
            let within = number(&found["exit_after_s"])..=number(&found["exit_before_s"]);
            assert!(within.contains(&number(&row["exit_time_s"])), "{within:?}");
            continue;
        }
        agree(&row, &found, 0.080, Some(2));
    }
}

/// BBR counts the losses of whole rounds. Its bytes in flight decrease up to two RTTs after the first loss, and paced slow start looks the
/// same: `exit_time_s` is that of the first loss.
#[test]
fn capture_dates_bbr_loss_exit_up_to_two_round_trips_early() {
    let path = ["--rate", "50mbit", "--rtt", "40ms", "--queue", "0.25bdp", "--duration", "2s"];
    let (row, found) = raced("inspect-bbr-losses", &[&path[..], &["--schemes", "bbr"]].concat()).remove(0);
    assert_eq!((&row["exit_cause"], &found["exit_cause"]), (&Value::from("loss"), &Value::from("loss")));
    let late = number(&row["exit_time_s"]) - number(&found["exit_time_s"]);
    assert!((0.0..0.1).contains(&late), "two round trips of 50 ms: {late}");
}

#[test]
fn bbr_does_not_leave_by_the_first_loss_before_a_short_queue() {
    for queue in ["0.5bdp", "0.75bdp"] {
        let path =
            ["--rate", "50mbit", "--rtt", "40ms", "--queue", queue, "--duration", "2s", "--schemes", "bbr"];
        let (row, found) = raced(&format!("inspect-bbr-{queue}"), &path).remove(0);
        // The scheme ignores losses, or exits by its rate while it repairs some: packets do not show which of the two caused the exit.
        assert!(found["exit_cause"].is_null(), "{}", found["exit_cause"]);
        let why = found["undefined"]["exit_cause"].as_str().expect("a reason");
        assert!(why.starts_with("BBR-like: a paced sender "), "{why}");
        if queue != "0.75bdp" {
            let exit = number(&row["exit_time_s"]);
            let within = number(&found["exit_after_s"])..=number(&found["exit_before_s"]);
            assert!(within.contains(&exit), "{queue}: exit at {exit}, not in {within:?}");
        }
    }
}

#[test]
fn quick_start_sends_what_was_approved_in_its_first_round() {
    let path = ["--rate", "50mbit", "--rtt", "40ms", "--queue", "2bdp", "--duration", "4s"];
    for (row, found) in raced("inspect-quick-start", &[&path[..], &["--schemes", "quick-start"]].concat()) {
        agree(&row, &found, 0.040, None);
        let approved = number(&row["granted_rate_bps"]) * number(&found["handshake_rtt_s"]) / 8.0 / 1500.0;
        let sent = number(&found["initial_window_segments"]);
        assert!((sent / approved - 1.0).abs() < 0.05, "{sent} sent, {approved} approved");
        assert!(number(&found["initial_window_spread"]) > 0.9, "at that rate, over the whole round trip");
    }
}

#[test]
fn pacing_is_seen_where_it_is() {
    let path = ["--rate", "50mbit", "--rtt", "40ms", "--queue", "2bdp", "--duration", "2s"];
    for (row, found) in raced(
        "inspect-pacing",
        &[&path[..], &["--schemes", "slow-start,slow-start-paced,paced,hystart"]].concat(),
    ) {
        let expected = if row["scheme"].as_str().is_some_and(|name| name.ends_with("paced")) {
            "paced"
        } else {
            "ack-clocked"
        };
        assert_eq!(found["pacing"], expected, "{}", row["scheme"]);
    }
}

#[test]
fn rounds_grow_as_the_receiver_acknowledges() {
    let every = ["--rate", "100mbit", "--rtt", "100ms", "--size", "2MB", "--schemes", "slow-start", "--ack"];
    for (policy, growth, per_ack) in [("every", 2.0, 1.0), ("delayed", 1.5, 2.0)] {
        // RFC 5681 counts bytes; a law that counts ACKs grows by half if ACKs are delayed.
        let law = ["--avoidance", "reno-acks"];
        let arguments = [&every[..], &[policy], if policy == "delayed" { &law[..] } else { &[] }].concat();
        let (_, found) = raced("inspect-growth", &arguments).remove(0);
        for round in &found["rounds"].as_array().expect("rounds")[2..6] {
            assert!((number(&round["growth"]) - growth).abs() < 0.15, "{policy}: {round}");
            assert!((number(&round["segments_per_ack"]) - per_ack).abs() < 0.15, "{policy}: {round}");
        }
    }
}

#[test]
fn the_receivers_window_is_named_where_it_bounds() {
    let path =
        ["--rate", "50mbit", "--rtt", "40ms", "--size", "5MB", "--rwnd", "64kB", "--schemes", "slow-start"];
    let (_, found) = raced("inspect-rwnd", &path).remove(0);
    assert_eq!(found["exit_cause"], "receiver-window");
    assert!(
        (number(&found["exit_flight_bytes"]) - 64_000.0).abs() < 2.0 * 1460.0,
        "{}",
        found["exit_flight_bytes"]
    );
}

#[test]
fn restarts_after_idle_times_say_how_they_began() {
    let path = ["--rate", "10mbit", "--rtt", "100ms", "--size", "100kB", "--rounds", "3", "--idle", "10s"];
    for (policy, manner) in [("nssr", "burst"), ("rbp-rate", "paced")] {
        let arguments = [&path[..], &["--schemes", "slow-start", "--restart", policy]].concat();
        let (_, found) = raced(&format!("inspect-idle-{policy}"), &arguments).remove(0);
        assert_eq!(found["idle_restarts_total"], 2, "{policy}");
        for restart in found["idle_restarts"].as_array().expect("restarts") {
            assert_eq!(restart["manner"], manner, "{policy}: {restart}");
            assert!((number(&restart["idle_s"]) - 10.0).abs() < 1.5, "{policy}: {restart}");
        }
        assert!(found["later_rate_bps"].is_null());
        assert_eq!(
            found["undefined"]["later_rate_bps"],
            "the connection was idle in between: no time between two idle times brought nine tenths of the data"
        );
    }
}

#[test]
fn receiver_capture_reports_only_fields_observable_at_the_receiver() {
    let place = folder("inspect-receiver");
    let race =
        ["race", "--rate", "50mbit", "--rtt", "40ms", "--queue", "2bdp", "--duration", "2s", "--schemes"];
    let output = run(&[&race[..], &["slow-start", "--json", "--pcap", text(&place)]].concat());
    let row: Value = serde_json::from_str(&stdout(&output)).expect("an object");
    let found = inspected(&[text(&place.join("slow-start-server.pcapng"))]).remove(0);
    assert_eq!(found["vantage"], "receiver");
    assert!((number(&found["handshake_rtt_s"]) - 0.040).abs() < 0.001);
    assert_eq!(found["retransmitted_segments"], row["retransmissions"]);
    assert_eq!(found["initial_window_segments"], 10, "{}", found["undefined"]);
    let at_sender = inspected(&[text(&place.join("slow-start-client.pcapng"))]).remove(0);
    let (ours, theirs) = (number(&found["min_rtt_s"]), number(&at_sender["min_rtt_s"]));
    assert!((ours / theirs - 1.0).abs() < 0.01, "{ours} here, {theirs} at the sender");
    // Without queues, the rounds of this capture equal those at the sender; afterwards they blur.
    for (here, there) in (0..5).map(|at| (&found["rounds"][at], &at_sender["rounds"][at])) {
        assert_eq!(here["segments"], there["segments"]);
    }
    for field in ["exit_cause", "exit_time_s", "pacing"] {
        assert!(found[field].is_null() && found["undefined"][field].is_string(), "{field}");
    }
}

#[test]
fn a_snapped_capture_says_the_same() {
    let place = folder("inspect-snap");
    let race = [
        "race",
        "--rate",
        "20mbit",
        "--rtt",
        "40ms",
        "--size",
        "1MB",
        "--queue",
        "20p",
        "--schemes",
        "slow-start",
        "--pcap",
    ];
    let said = |name: &str, more: &[&str]| {
        let to = place.join(name);
        assert_eq!(status(&run(&[&race[..], &[text(&to)], more].concat())), 0);
        inspected(&[text(&to.join("slow-start-client.pcapng"))])
    };
    assert_eq!(said("whole", &[]), said("snapped", &["--snap", "96B"]));
}

#[test]
fn a_file_that_is_no_capture_is_refused_in_one_line() {
    let place = folder("inspect-refused");
    let file = |name: &str, bytes: &[u8]| {
        let path = place.join(name);
        std::fs::write(&path, bytes).expect("written");
        path
    };
    let line = refused(&["inspect", text(&file("empty.pcap", b""))]);
    assert!(line.contains("empty.pcap: byte 0: the file has 0 bytes"), "{line}");
    let line = refused(&["inspect", text(&file("text.pcap", b"no capture at all, but text"))]);
    assert!(line.contains("byte 0: the file begins with 6e6f2063; pcap begins with"), "{line}");
    let line = refused(&["inspect", text(&file("small.pcap.gz", &[0x1F, 0x8B, 8, 0, 0]))]);
    assert!(line.contains("compressed"), "{line}");
    let line = refused(&["inspect", text(&place.join("nowhere.pcap"))]);
    assert!(line.contains("nowhere.pcap: No such file"), "{line}");
    let line = refused(&["inspect", "--report", "/nowhere/r.html", text(&place.join("empty.pcap"))]);
    assert!(line.contains("/nowhere/r.html"), "{line}");
}

#[test]
fn a_capture_that_ends_within_a_packet_is_used_up_to_there() {
    let place = folder("inspect-cut");
    let race =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "200kB", "--schemes", "slow-start", "--pcap"];
    run(&[&race[..], &[text(&place)]].concat());
    let whole = std::fs::read(place.join("slow-start-client.pcapng")).expect("a capture");
    let cut = place.join("cut.pcapng");
    std::fs::write(&cut, &whole[..whole.len() / 2]).expect("written");
    let output = run(&["inspect", "--json", text(&cut)]);
    assert_eq!(status(&output), 0);
    let warning = stderr(&output);
    assert!(warning.starts_with("warning: ") && warning.contains("cut.pcapng: byte "), "{warning}");
    assert_eq!(warning.lines().count(), 1, "{warning}");
    let found: Value =
        serde_json::from_str(stdout(&output).lines().next().expect("a sender")).expect("an object");
    assert_eq!(found["initial_window_segments"], 10);
}

#[test]
fn a_clock_that_goes_back_is_warned_of_in_a_line() {
    let place = folder("inspect-clock");
    let mut capture = Made::new();
    capture.segment(2_000_000_000, 1, true, SYN, (7_000, 0), 0);
    capture.segment(2_020_000_000, 1, false, SYN | ACK, (9_000, 7_001), 0);
    for piece in 0..40 {
        // The clock goes back by a second before the twentieth piece.
        let at = 2_030_000_000 + u64::from(piece) * 1_000_000 - u64::from(piece >= 20) * 1_000_000_000;
        capture.segment(at, 1, true, ACK, (7_001 + piece * 1_000, 9_001), 1_000);
        capture.segment(at + 500_000, 1, false, ACK, (9_001, 8_001 + piece * 1_000), 0);
    }
    let twice = place.join("twice.pcap");
    std::fs::write(&twice, capture.0).expect("written");
    let output = run(&["inspect", text(&twice)]);
    let warning = stderr(&output);
    assert!(warning.contains("twice.pcap: the clock goes back 1 time, by up to 0."), "{warning}");
    assert_eq!(warning.lines().count(), 1, "{warning}");
    assert!(stdout(&output).contains("1 before which the clock goes back"), "{}", stdout(&output));
}

#[test]
fn the_table_and_the_report_say_the_same_as_the_json() {
    let place = folder("inspect-report");
    let race =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "1MB", "--schemes", "slow-start", "--pcap"];
    run(&[&race[..], &[text(&place)]].concat());
    let (capture, page) = (place.join("slow-start-client.pcapng"), place.join("page.html"));
    let output = run(&["inspect", text(&capture), "--report", text(&page)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let table = stdout(&output);
    let found = inspected(&[text(&capture)]).remove(0);
    let exit = format!("loss @ {:.3}", number(&found["exit_time_s"]));
    assert!(table.contains("1 10.0.0.1:40000 → 10.0.0.2:5001") && table.contains(&exit), "{table}");
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains(&exit) && page.contains("Rounds") && page.contains("start-up as captured"));
}
