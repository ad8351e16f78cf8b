//! A recorded trace, replayed to a scheme.

use std::path::{Path, PathBuf};

use crate::common::{folder, refused, run, status, stderr, stdout, text};

/// The event logs of a race with losses, one a scheme.
fn logs(place: &Path) -> Vec<PathBuf> {
    let path = "race --rate 20mbit --rtt 40ms --queue 20p --size 600kB --schemes all --json --events";
    let arguments: Vec<&str> = path.split(' ').chain([text(place)]).collect();
    let output = run(&arguments);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let mut logs: Vec<PathBuf> =
        std::fs::read_dir(place).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    logs.sort();
    logs
}

#[test]
fn a_replay_makes_every_decision_again() {
    let logs = logs(&folder("replay-again"));
    assert!(logs.len() > 10);
    for log in &logs {
        let output = run(&["replay", text(log)]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert!(stdout(&output).ends_with("calls; every decision as recorded\n"), "{}", log.display());
    }
}

#[test]
fn a_replay_of_a_replay_is_the_same_trace() {
    let place = folder("replay-twice");
    let log = place.join("paced.jsonl");
    logs(&place);
    let once = run(&["replay", text(&log), "--json"]);
    let again = place.join("again.jsonl");
    std::fs::write(&again, &once.stdout).expect("a file");
    let twice = run(&["replay", text(&again), "--json"]);
    assert_eq!(once.stdout, twice.stdout);
    let only_calls: String = std::fs::read_to_string(&log)
        .expect("a log")
        .lines()
        .filter(|line| line.contains("\"event\":\"t"))
        .map(|line| line.to_owned() + "\n")
        .filter(|line| line.contains("\"event\":\"told\"") || line.contains("\"event\":\"trace\""))
        .collect();
    assert_eq!(stdout(&once), only_calls);
}

#[test]
fn a_trace_with_a_differing_decision_fails_the_check_with_its_line() {
    let place = folder("replay-other");
    logs(&place);
    let log = std::fs::read_to_string(place.join("hystart.jsonl")).expect("a log");
    let lines: Vec<&str> = log.lines().collect();
    let last = lines.iter().rposition(|line| line.contains("\"plan\":{\"window\":")).expect("a plan");
    let mut changed: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    changed[last] = changed[last].replace("\"plan\":{\"window\":", "\"plan\":{\"window\":1");
    let other = place.join("other.jsonl");
    std::fs::write(&other, changed.join("\n")).expect("a file");
    let output = run(&["replay", text(&other)]);
    assert_eq!(status(&output), 1);
    assert!(
        stderr(&output).contains(&format!("other.jsonl: line {}: it decides", last + 1)),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_trace_that_breaks_a_host_law_fails_with_law_and_line() {
    let place = folder("replay-host");
    logs(&place);
    let log = std::fs::read_to_string(place.join("slow-start.jsonl")).expect("a log");
    let broken = |from: &str, to: &str| {
        let line = log.lines().position(|line| line.contains(from)).expect("such a line") + 1;
        let other = place.join("other.jsonl");
        std::fs::write(&other, log.replacen(from, to, 1)).expect("a file");
        (line, other)
    };
    let (line, other) = broken(r#""sent":{"packet":3,"#, r#""sent":{"packet":4,"#);
    let law = format!("other.jsonl: line {line}: packet-numbers: packet 4 leaves; the next one is 3 (");
    // Every decision is as recorded; another scheme still receives input that no host may give.
    for more in [&[][..], &["--json"], &["--scheme", "hystart"]] {
        let output = run(&[&["replay", text(&other)], more].concat());
        assert_eq!(status(&output), 1);
        let said = stderr(&output);
        assert!(said.contains(&law) && !said.contains("it decides"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        if more == ["--json"] {
            assert!(
                stdout(&output).lines().all(|line| line.starts_with("{\"event\":\"t")),
                "one object a line"
            );
        }
    }
    // Both faults are reported, in their order.
    let record = std::fs::read_to_string(&other).expect("a file");
    let (before, last) = record.rsplit_once(r#""plan":{"window":"#).expect("a plan");
    std::fs::write(&other, format!(r#"{before}"plan":{{"window":1{last}"#)).expect("a file");
    let output = run(&["replay", text(&other)]);
    assert_eq!(status(&output), 1);
    let decides = format!("; besides, line {}: it decides ", before.lines().count());
    let said = stderr(&output);
    assert!(said.contains(&law) && said.contains(&decides), "{said}");
}

#[test]
fn another_scheme_hears_the_same_and_may_decide_otherwise() {
    let place = folder("replay-scheme");
    logs(&place);
    let log = place.join("slow-start.jsonl");
    let output = run(&["replay", text(&log), "--scheme", "limited:max-ssthresh=10"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.starts_with("limited:max-ssthresh=10, then reno; restart rfc5681\n"), "{text}");
    assert!(text.contains("the first decision that slow-start did not make is on line "), "{text}");
}

#[test]
fn an_invalid_trace_is_refused_with_its_line() {
    let place = folder("replay-no-trace");
    let log = place.join("x.jsonl");
    let write = |text: &str| std::fs::write(&log, text).expect("a file");
    let header = concat!(
        r#"{"event":"trace","format":2,"version":"0.1.0","scheme":"slow-start","restart":"rfc5681","#,
        r#""avoidance":"reno","iw_segments":2,"ssthresh_bytes":null}"#,
        "\n"
    );
    write("");
    assert!(refused(&["replay", text(&log)]).contains("it is no trace"));
    write("{}\n");
    assert!(refused(&["replay", text(&log)]).contains("line 1: column 2: missing field `event`"));
    write(&header.replace("\"format\":2", "\"format\":9"));
    assert!(refused(&["replay", text(&log)]).contains("line 1: the trace is of format 9"));
    write(&header.replace("slow-start", "slow-strat"));
    assert!(refused(&["replay", text(&log)]).contains("is `slow-start` meant?"));
    write(&header.replace("\"iw_segments\":2", "\"iw_segments\":0"));
    assert!(refused(&["replay", text(&log)]).contains("iw_segments: 0 is not allowed"));
    write(header);
    assert!(refused(&["replay", text(&log), "--scheme", "all"]).contains("--scheme: one scheme"));
    let output_of = |line: &str| {
        write(&(header.to_owned() + line));
        let output = run(&["replay", text(&log)]);
        assert_eq!(status(&output), 2);
        stderr(&output)
    };
    assert!(
        output_of(r#"{"event":"told","at_ns":0,"end":"client","call":"plan"}"#)
            .contains("line 2: the first call must")
    );
    assert!(output_of(r#"{"event":"told","at_ns":0,"end":"client","call":"dance"}"#).contains("line 2: "));
    assert!(refused(&["replay", "/nowhere/x.jsonl"]).contains("/nowhere/x.jsonl: No such file"));
}

#[test]
fn a_byte_order_mark_before_a_log_is_ignored() {
    let place = folder("replay-mark");
    logs(&place);
    let log = place.join("paced.jsonl");
    let marked = place.join("marked.jsonl");
    std::fs::write(&marked, [&b"\xef\xbb\xbf"[..], &std::fs::read(&log).expect("a log")].concat())
        .expect("a file");
    let [one, other] = [log, marked].map(|log| run(&["replay", text(&log)]));
    assert_eq!((status(&other), other.stdout), (0, one.stdout), "{}", String::from_utf8_lossy(&other.stderr));
}
