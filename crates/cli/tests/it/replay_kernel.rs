//! Traces of Linux's TCP, replayed to the native schemes: a start-up alone and a restart policy alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{folder, run, status, stderr, stdout, text};

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/kernel").join(name)
}

/// Replaces `from` by `to` in the first line of the recorded trace that has it and comes after `behind`. Returns that line's number and the
/// new file.
fn changed(name: &str, behind: &str, from: &str, to: &str) -> (usize, PathBuf) {
    let log = fs::read_to_string(recorded(name)).expect("a trace");
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    let begin = lines.iter().position(|line| line.contains(behind)).expect("where it begins");
    let at = (begin..lines.len()).find(|&at| lines[at].contains(from)).expect("such a line");
    lines[at] = lines[at].replacen(from, to, 1);
    let other = folder(&format!("replay-kernel-{}-{name}", to.len())).join(name);
    fs::write(&other, lines.join("\n")).expect("a file");
    (at + 1, other)
}

#[test]
fn kernel_decisions_replay_identically_in_native_schemes() {
    let all = [
        ("hystart.jsonl", "hystart alone\n"),
        ("paced.jsonl", "paced alone\n"),
        ("rbp-cwnd.jsonl", "restart rbp-cwnd alone\n"),
    ];
    for (name, title) in all {
        let output = run(&["replay", text(&recorded(name))]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let said = stdout(&output);
        assert!(said.starts_with(title), "{said}");
        assert!(said.ends_with(" calls; every decision as recorded\n"), "{said}");
    }
    let exits = stdout(&run(&["replay", text(&recorded("hystart.jsonl"))]));
    assert_eq!(exits.matches("exit start-up by ").count(), 1, "{exits}");
    let exits = stdout(&run(&["replay", text(&recorded("rbp-cwnd.jsonl"))]));
    assert!(exits.contains("exit restart by ") && exits.contains("train "), "{exits}");
}

#[test]
fn a_replay_of_a_kernels_trace_is_the_same_trace() {
    for name in ["hystart.jsonl", "paced.jsonl", "rbp-cwnd.jsonl"] {
        let output = run(&["replay", text(&recorded(name)), "--json"]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert_eq!(stdout(&output), fs::read_to_string(recorded(name)).expect("a trace"));
    }
}

#[test]
fn another_decision_of_the_kernel_is_found_and_told_with_its_line() {
    let window = r#""plan":{"window":"#;
    for (name, behind) in [("hystart.jsonl", "\"acked\""), ("rbp-cwnd.jsonl", "\"after-idle\"")] {
        let (line, other) = changed(name, behind, window, r#""plan":{"window":1"#);
        let output = run(&["replay", text(&other)]);
        assert_eq!(status(&output), 1);
        let said = stderr(&output);
        assert!(said.contains(&format!("jsonl: line {line}: it decides a window of ")), "{said}");
    }
}

#[test]
fn kernel_trace_violations_are_reported_with_law_and_line() {
    // Sent bytes are compared with `nxt` at the ACK, two lines later: a line of the plan is between them.
    let broken = [
        (r#""advanced":"#, r#""advanced":1"#, 0, "una: una is "),
        (r#""sent":{"packet":0,"bytes":"#, r#""sent":{"packet":0,"bytes":1"#, 2, "nxt: nxt is "),
        (r#""sent_at_ns":"#, r#""sent_at_ns":1"#, 0, "packet-as-sent: the newest packet has sent_at "),
        (r#""rtt_ns":"#, r#""rtt_ns":1"#, 0, "rtt: latest_rtt is "),
    ];
    for (from, to, on, law) in broken {
        let (line, other) = changed("hystart.jsonl", "\"acked\"", from, to);
        let output = run(&["replay", text(&other)]);
        assert_eq!(status(&output), 1, "{law}");
        let said = stderr(&output);
        assert!(said.contains(&format!("jsonl: line {}: {law}", line + on)), "{said}");
    }
}

#[test]
fn start_up_only_trace_refuses_an_avoidance_law_and_replays_another_scheme() {
    let (_, other) = changed("hystart.jsonl", "\"trace\"", r#""avoidance":"none""#, r#""avoidance":"reno""#);
    let output = run(&["replay", text(&other)]);
    assert_eq!(status(&output), 2);
    let said = stderr(&output);
    assert!(
        said.contains("a host of the start-up alone has no avoidance law; `none` is wanted there"),
        "{said}"
    );
    let output = run(&["replay", text(&recorded("hystart.jsonl")), "--scheme", "slow-start"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(stdout(&output).contains("the first decision that hystart did not make is on line "));
    let output = run(&["replay", text(&recorded("rbp-cwnd.jsonl")), "--scheme", "slow-start"]);
    assert_eq!(status(&output), 2);
}
