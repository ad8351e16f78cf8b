//! A scheme from outside the tree works wherever a built-in one does.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const PAGE: &str = include_str!("../../../docs/guide/own-scheme.md");
const RACE: [&str; 9] =
    ["race", "--rate", "20mbit", "--rtt", "60ms", "--size", "2MB", "--schemes", "slow-start,step-back"];

/// Makes an empty folder for this test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder");
    path
}

/// Runs the example with `arguments` in `folder`.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-scheme"));
    command.current_dir(folder).args(arguments).output().expect("the example runs")
}

/// Runs the example, which must succeed. Returns its standard output.
fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn objects(lines: &str) -> Vec<Value> {
    lines.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// Returns the text of the page's blocks of this language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let after = PAGE.split(&format!("```{language}\n")).skip(1).collect::<Vec<_>>();
    after.into_iter().filter_map(|rest| rest.split("```\n").next()).collect()
}

#[test]
fn the_page_shows_the_example_and_its_commands_run() {
    let source = include_str!("../src/main.rs");
    assert!(source.lines().count() <= 60, "an example is one screen");
    assert_eq!(blocks("rust"), [source], "the page shows another main.rs");
    let place = folder("page");
    fs::write(place.join("sweep.toml"), blocks("toml")[1]).expect("a file");
    let commands: Vec<&str> = blocks("sh").into_iter().flat_map(str::lines).collect();
    assert!(commands.len() >= 6);
    for command in commands {
        let arguments: Vec<&str> = command.split(' ').collect();
        assert_eq!(arguments[0], "own-scheme");
        assert!(!said(&place, &arguments[1..]).is_empty(), "{command}");
    }
}

#[test]
fn own_scheme_appears_next_to_slow_start_in_table_and_rows() {
    let place = folder("race");
    let table = said(&place, &RACE);
    let line =
        |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{table}"));
    assert!(line("step-back").contains("delay @ ") && line("slow-start").contains("loss @ "), "{table}");
    let rows = objects(&said(&place, &[&RACE[..], &["--json"]].concat()));
    assert_eq!(rows.len(), 2);
    let own = rows.iter().find(|row| row["scheme"] == "step-back").expect("its row");
    assert_eq!((&own["exit_cause"], &own["avoidance"]), (&Value::from("delay"), &Value::from("cubic")));
    assert!(own["qs_asked"].is_null(), "it asks no routers: {own}");
}

#[test]
fn rows_of_the_own_scheme_have_the_hash_of_its_source() {
    let place = folder("source");
    let rows = objects(&said(&place, &[&RACE[..], &["--json"]].concat()));
    // FNV-1a, 64 bits.
    let hash = include_bytes!("../src/main.rs").iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    for row in &rows {
        let wanted =
            if row["scheme"] == "step-back" { Value::from(format!("{hash:016x}")) } else { Value::Null };
        assert_eq!(row["source_hash"], wanted, "{row}");
    }
}

#[test]
fn the_report_shows_it_with_a_command_that_knows_it() {
    let place = folder("report");
    said(&place, &[&RACE[..], &["--report", "race.html", "--pcap", "pcap", "--qlog", "qlog"]].concat());
    let page = fs::read_to_string(place.join("race.html")).expect("a report");
    assert!(page.contains("step-back"));
    assert!(page.contains("own-scheme race --rate 20mbit"), "the command that makes it again");
    for file in ["pcap/step-back-client.pcapng", "qlog/step-back.sqlog"] {
        assert!(fs::metadata(place.join(file)).is_ok_and(|file| file.len() > 0), "{file}");
    }
}

#[test]
fn a_recorded_trace_replays_to_every_decision() {
    let place = folder("replay");
    said(&place, &[&RACE[..7], &["--schemes", "step-back:rise=50%", "--json", "--events", "logs"]].concat());
    let text = said(&place, &["replay", "logs/step-back.jsonl"]);
    assert!(text.ends_with("every decision as recorded\n"), "{text}");
    let other = said(&place, &["replay", "logs/step-back.jsonl", "--scheme", "slow-start"]);
    assert!(other.contains("the first decision that step-back:rise=50% did not make"), "{other}");
}

#[test]
fn a_hosts_own_judgement_is_held_to_the_scheme() {
    let place = folder("judged");
    said(&place, &[&RACE[..7], &["--schemes", "step-back", "--json", "--events", "logs"]].concat());
    let log = fs::read_to_string(place.join("logs/step-back.jsonl")).expect("a log");
    let line = log.lines().find(|line| line.contains("\"acked\"")).expect("an ACK");
    let judged = line.strip_suffix('}').expect("an object").to_owned()
        + ",\"judged\":{\"round_ended\":true,\"round_sent\":0,\"growth\":0}}";
    fs::write(place.join("judged.jsonl"), log.replacen(line, &judged, 1)).expect("a file");
    let output = run(&place, &["replay", "judged.jsonl"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the controller judges"), "{text}");
}

#[test]
fn own_scheme_is_scored_in_a_sweep() {
    let place = folder("sweep");
    fs::write(place.join("sweep.toml"), blocks("toml")[1]).expect("a file");
    said(&place, &["sweep", "sweep.toml", "--out", "rows", "--jobs", "2"]);
    assert!(said(&place, &["sweep", "sweep.toml", "--show", "3"]).starts_with("own-scheme race --rate "));
    assert!(said(&place, &["score", "rows"]).lines().any(|line| line.starts_with("step-back ")));
    let rows = objects(&said(&place, &["score", "rows", "--json"]));
    assert!(rows.iter().any(|row| row["scheme"] == "step-back"), "{rows:?}");
    said(&place, &["score", "rows", "--report", "score.html"]);
    assert!(fs::read_to_string(place.join("score.html")).expect("a page").contains("step-back"));
}

#[test]
fn own_scheme_is_listed_with_its_parameter_and_needs() {
    let place = folder("listed");
    let listed = objects(&said(&place, &["schemes", "step-back", "--json"]));
    let own = &listed[0];
    assert_eq!((&own["kind"], &own["avoidance"]), (&Value::from("scheme"), &Value::from("reno")));
    assert_eq!(own["parameters"][0]["name"], "rise");
    assert_eq!(own["parameters"][0]["default"], "25%");
    assert_eq!(own["needs"][0], "sending on the ACK clock");
    // The state that governs a connection, without the box that holds it.
    assert_eq!(own["state_bytes"], 56);
    let all = said(&place, &["schemes"]);
    assert!(all.contains("\nstep-back ") && all.contains("\nslow-start "), "{all}");
}

#[test]
fn errors_know_its_name_and_its_parameters() {
    let place = folder("errors");
    for (schemes, wanted) in [
        ("step-bak", "is `step-back` meant?"),
        ("step-back:rise=200%", "step-back: rise is 200%, allowed is a fraction from 1% to 100%"),
        ("step-back:fall=1", "step-back has no parameter fall: it has rise"),
    ] {
        let output = run(&place, &["race", "--schemes", schemes]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(wanted), "{text}");
    }
}

#[test]
fn own_scheme_sends_files_over_sockets() {
    let place = folder("transfer");
    fs::create_dir(place.join("there")).expect("a folder");
    fs::write(place.join("f"), vec![7; 100_000]).expect("a file");
    let mut receiver = Command::new(env!("CARGO_BIN_EXE_own-scheme"))
        .args(["serve", "there", "--uploads", "--port", "0"])
        .current_dir(&place)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example runs");
    let mut address = String::new();
    let mut said_there = BufReader::new(receiver.stderr.take().expect("a pipe"));
    said_there.read_line(&mut address).expect("an address");
    let sent = run(&place, &["put", "f", address.trim(), "--schemes", "step-back,hystart++", "--json"]);
    receiver.kill().expect("it is killed");
    receiver.wait().expect("it ends");
    let rows = objects(&String::from_utf8(sent.stdout).expect("UTF-8"));
    assert_eq!(
        rows.iter().map(|row| row["scheme"].as_str()).collect::<Vec<_>>(),
        [Some("step-back"), Some("hystart++")]
    );
    for name in ["f.step-back", "f.hystart++"] {
        assert!(fs::read(place.join("there").join(name)).expect("a file") == vec![7; 100_000], "{name}");
    }
}
