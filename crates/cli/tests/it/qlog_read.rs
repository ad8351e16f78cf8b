//! qlogs that the command reads: its own, and those of other programs, in the style of their stacks.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{folder, run, status, stderr, stdout, text};

/// A race with losses, in which every scheme leaves start-up.
const RACE: [&str; 12] = [
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
    "slow-start,paced,hystart++",
    "--json",
];

/// Races with qlogs, and returns the rows with the files.
fn race(place: &str, more: &[&str]) -> Vec<(Value, PathBuf)> {
    let place = folder(place);
    let output = run(&[&RACE[..], &["--qlog", text(&place)], more].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let rows = stdout(&output);
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    rows.map(|row| {
        let file = place.join(format!("{}.sqlog", row["scheme"].as_str().expect("a name")));
        (row, file)
    })
    .collect()
}

/// Returns the connections that `inspect` finds in a file.
fn inspected(file: &Path) -> Vec<Value> {
    let output = run(&["inspect", text(file), "--json"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn close(one: &Value, other: &Value, by: f64) -> bool {
    one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| (one - other).abs() <= by)
}

#[test]
fn our_qlogs_are_read_back_with_the_exits_of_the_race() {
    for (number, schema) in ["0.3", "draft"].into_iter().enumerate() {
        for (row, file) in race(&format!("qlog-back-{number}"), &["--qlog-schema", schema]) {
            let found = inspected(&file);
            assert_eq!(found.len(), 1);
            let found = &found[0];
            assert!(close(&found["exit_time_s"], &row["exit_time_s"], 1e-6), "{schema}: {found} {row}");
            let is_loss = row["exit_cause"] == "loss";
            assert_eq!(found["exit_cause"], if is_loss { "loss" } else { "reported" }, "{row}");
            // A loss is found before the scheme exits, so the window is the one before the reduction.
            let window = row["exit_cwnd_packets"].as_f64().expect("a window") * 1_460.0;
            let shown = found["exit_window_bytes"].as_f64().expect("a window");
            assert!(!is_loss || (shown - window).abs() <= 2.0 * 1_460.0, "{shown} {window}");
            assert_eq!(found["data_segments_sent"], row["packets_sent"]);
            assert_eq!(found["initial_window_segments"], 10);
        }
    }
}

#[test]
fn a_qlog_and_a_capture_of_a_flow_have_the_same_rounds() {
    let captures = folder("qlog-captures");
    for (row, file) in race("qlog-rounds", &["--pcap", text(&captures)]) {
        let name = row["scheme"].as_str().expect("a name");
        let [of_log, of_capture] =
            [file, captures.join(format!("{name}-client.pcapng"))].map(|file| inspected(&file).remove(0));
        for field in ["bytes_sent", "data_segments_sent", "retransmitted_segments", "initial_window_bytes"] {
            assert_eq!(of_log[field], of_capture[field], "{name}: {field}");
        }
        let rounds = |found: &Value| found["rounds"].as_array().expect("rounds").len();
        assert!(rounds(&of_log).abs_diff(rounds(&of_capture)) <= 1, "{name}");
        if row["exit_cause"] == "loss" {
            assert_eq!(of_log["exit_cause"], of_capture["exit_cause"], "{name}");
            assert_eq!(of_log["overshoot_segments"], of_capture["overshoot_segments"], "{name}");
        }
    }
}

#[test]
fn a_compressed_qlog_has_the_same_results() {
    for (_, file) in race("qlog-gzip", &[]) {
        let packed = file.with_extension("sqlog.gz");
        let mut gzip = Command::new("gzip")
            .arg("-c")
            .stdin(Stdio::piped())
            .stdout(std::fs::File::create(&packed).expect("a file"))
            .spawn()
            .expect("gzip");
        let bytes = std::fs::read(&file).expect("a file");
        gzip.stdin.take().expect("a pipe").write_all(&bytes).expect("gzip reads");
        assert!(gzip.wait().expect("gzip ends").success());
        assert_eq!(inspected(&file), inspected(&packed));
    }
}

#[test]
fn a_replay_of_a_qlog_says_open_loop_and_both_exits() {
    let (_, file) = race("qlog-replay", &[]).remove(0);
    let output = run(&["replay", text(&file), "--scheme", "search"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.starts_with("open loop: "), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("search leaves start-up at ") && said.contains("the log's controller at "),
        "{said}"
    );
    assert!(said.contains("(shown by its state)"), "{said}");
    // The scheme of the log, which responds to the same loss, leaves start-up at the same time.
    let output = run(&["replay", text(&file), "--scheme", "slow-start"]);
    let said = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let at = |from: &str| {
        said.split_once(from).and_then(|(_, rest)| rest.split_once(' ')).map(|(at, _)| at.to_owned())
    };
    assert_eq!(at("slow-start leaves start-up at "), at("the log's controller at "), "{said}");
    // As a trace it has the calls of a packet host, and the note is not in it.
    let output = run(&["replay", text(&file), "--scheme", "search", "--json"]);
    let trace = stdout(&output);
    assert!(trace.lines().next().is_some_and(|line| line.contains("\"scheme\":\"search\"")));
    assert!(stderr(&output).contains("open loop: "), "{}", stderr(&output));
}

#[test]
fn a_replay_of_a_qlog_needs_a_scheme_and_packets() {
    let (_, file) = race("qlog-refused", &[]).remove(0);
    let output = run(&["replay", text(&file)]);
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("a qlog has no recorded scheme; choose one with --scheme"));
    let empty = file.with_file_name("empty.qlog");
    std::fs::write(&empty, "{\"qlog_version\":\"0.3\",\"traces\":[]}").expect("a file");
    for (command, said) in [
        (vec!["replay", text(&empty), "--scheme", "search"], "there is nothing to replay"),
        (vec!["inspect", text(&empty)], "no connection is in the files"),
    ] {
        let output = run(&command);
        assert_eq!(status(&output), 1, "{command:?}");
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
}

#[test]
fn notes_say_what_a_log_lacks() {
    let place = folder("qlog-notes");
    let file = place.join("early.qlog");
    let text_of = "{\"qlog_version\":\"draft-01\",\"traces\":[{\"event_fields\":[\"time\",\"category\",\"event\",\"data\"],\
         \"events\":[[1,\"transport\",\"packet_sent\",{\"packet_type\":\"1RTT\",\"header\":{\"packet_number\":0,\
         \"packet_size\":1200}}],[2,\"transport\",\"packet_sent\",{\"packet_type\":\"1RTT\",\"header\":{\"packet_number\":1}}],";
    std::fs::write(&file, text_of).expect("a file");
    let output = run(&["inspect", text(&file)]);
    let said = stderr(&output);
    assert_eq!(status(&output), 0, "{said}");
    for line in [
        "the file ends within a JSON text; what came before is used",
        "1 packets have no length and are left out",
        "it has no acknowledgements of its packets",
        "the frames of 1 packets are not listed: each counts as data",
        "it has no congestion window, no slow-start threshold, no state of the congestion controller",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

/// Returns the lines of a log: an acknowledged packet, then 11 of which the last ten are acknowledged and the first is lost at 70 ms, with these
/// events around the loss.
fn loss(before: &str, after: &str) -> String {
    let event = |time: u32, name: &str, number: u32, more: &str| {
        format!(
            "{{\"time\":{time},\"name\":\"{name}\",\"data\":{{\"header\":{{\"packet_type\":\"1RTT\",\"packet_number\":{number}}}{more}}}}}\n"
        )
    };
    let sent = |time, number| event(time, "transport:packet_sent", number, ",\"raw\":{\"length\":1200}");
    let acked = |time, ranges: &str| {
        let frames = format!(",\"frames\":[{{\"frame_type\":\"ack\",\"acked_ranges\":{ranges}}}]");
        event(time, "transport:packet_received", 1, &frames)
    };
    let mut log = "{\"qlog_version\":\"0.3\",\"trace\":{}}\n".to_owned();
    log += &(sent(0, 0) + &acked(20, "[[0]]"));
    log.extend((1..12).map(|number| sent(20, number)));
    log + &acked(70, "[[2,11]]") + before + &event(70, "recovery:packet_lost", 1, "") + after
}

#[test]
fn a_replay_passes_persistent_congestion_of_the_log() {
    let place = folder("qlog-persistent");
    let state = |time: u32, name: &str| {
        format!(
            "{{\"time\":{time},\"name\":\"recovery:congestion_state_updated\",\"data\":{{\"new\":\"{name}\"}}}}\n"
        )
    };
    let collapse = state(70, "persistent_congestion");
    let cases = [
        ("before", loss(&collapse, ""), true),
        ("after", loss("", &collapse), true),
        ("in-recovery", loss(&state(60, "recovery"), &collapse), true),
        ("later", loss("", &state(71, "persistent_congestion")), false),
        ("none", loss("", &state(70, "recovery")), false),
        ("at-the-end", loss("", ""), false),
    ];
    for (name, log, is_persistent) in cases {
        let file = place.join(format!("{name}.qlog"));
        std::fs::write(&file, log).expect("a file");
        let output = run(&["replay", text(&file), "--scheme", "slow-start", "--json"]);
        assert_eq!(status(&output), 0, "{name}: {}", stderr(&output));
        let trace = stdout(&output);
        let losses: Vec<&str> = trace.lines().filter(|line| line.contains("\"lost\"")).collect();
        assert_eq!(losses.len(), 1, "{name}: {trace}");
        assert_eq!(losses[0].contains("\"persistent\":true"), is_persistent, "{name}: {}", losses[0]);
    }
}
