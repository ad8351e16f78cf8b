//! `run FILE` with the options of `race` over the file's.

use std::path::PathBuf;

use crate::common::{folder, refused, run, status, stderr, stdout, text};

const FILE: &str =
    "rate = \"10mbit\"\nrtt = \"20ms\"\nsize = \"50kB\"\nschemes = [\"slow-start\", \"paced\", \"vegas\"]\n";

fn scenario(name: &str, contents: &str) -> PathBuf {
    let file = folder(name).join("path.toml");
    std::fs::write(&file, contents).expect("a file");
    file
}

/// The rows as JSON, and the notes.
fn json(arguments: &[&str]) -> (String, String) {
    let output = run(&[arguments, &["--json"]].concat());
    assert_eq!(status(&output), 0, "{arguments:?}: {}", stderr(&output));
    (stdout(&output), stderr(&output))
}

#[test]
fn an_option_replaces_the_file_key_and_rows_equal_the_race() {
    let file = scenario("run-over-own", FILE);
    let more =
        ["--rate", "20mbit", "--iw", "4p", "--runs", "2", "--seed", "5", "--schemes", "slow-start,bbr"];
    let over = json(&[&["run", text(&file)], &more[..]].concat());
    let raced = json(&[&["race", "--rtt", "20ms", "--size", "50kB"], &more[..]].concat());
    assert_eq!(over, raced, "rows with their hash, and no note");
}

#[test]
fn an_option_replaces_an_excluded_file_key_with_a_note() {
    let file = scenario("run-over-excluded", FILE);
    let trace = "0s=10mbit,1s=5mbit";
    for (given, race, key, by) in [
        (["--duration", "1s"], vec!["--rate", "10mbit", "--duration", "1s"], "size", "duration"),
        (["--rate-trace", trace], vec!["--rate-trace", trace, "--size", "50kB"], "rate", "rate-trace"),
    ] {
        let (rows, notes) = json(&[&["run", text(&file)], &given[..]].concat());
        assert_eq!(notes, format!("note: --{by} replaces `{key}` of {}\n", file.display()));
        let race = [&["race", "--rtt", "20ms", "--schemes", "slow-start,paced,vegas"], &race[..]].concat();
        assert_eq!(rows, json(&race).0, "{given:?}");
    }
}

#[test]
fn the_report_shows_the_command_and_the_hash_of_what_ran() {
    let file = scenario("run-over-report", FILE);
    let report = file.with_file_name("report.html");
    let arguments =
        ["run", text(&file), "--rate", "20mbit", "--schemes", "-vegas", "--report", text(&report)];
    let (rows, _) = json(&arguments);
    let page = std::fs::read_to_string(&report).expect("a report");
    let row: serde_json::Value = serde_json::from_str(rows.lines().next().expect("a row")).expect("JSON");
    let hash = row["scenario_hash"].as_str().expect("a hash");
    assert!(page.contains(hash), "{hash}");
    assert!(page.contains("--rate 20mbit") && page.contains("--schemes slow-start,paced "), "the command");
}

#[test]
fn schemes_over_a_file_replace_its_list_or_take_away_from_it() {
    let file = scenario("run-over-schemes", FILE);
    let names = |list: &str| -> Vec<String> {
        let (rows, _) = json(&["run", text(&file), "--schemes", list]);
        let name = |line: &str| -> String {
            let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
            row["scheme"].as_str().expect("a name").to_owned()
        };
        let mut names: Vec<String> = rows.lines().map(name).collect();
        names.sort();
        names
    };
    assert_eq!(names("bbr"), ["bbr"]);
    assert_eq!(names("-vegas"), ["paced", "slow-start"]);
    assert_eq!(names("-vegas,bbr"), ["bbr", "paced", "slow-start"]);
    let line = refused(&["run", text(&file), "--schemes", "-bbr"]);
    assert!(line.starts_with("error: --schemes: `-bbr` takes nothing away"), "{line}");
    let line = refused(&["run", text(&file), "--schemes", "-vegas,-paced,-slow-start"]);
    assert!(line.starts_with("error: --schemes: nothing is left to race"), "{line}");
}

#[test]
fn invalid_options_over_a_file_are_refused_in_one_line() {
    let flows = "rate = \"20mbit\"\nrtt = \"40ms\"\ntopology = \"dumbbell:hosts=4\"\nflows = 5\nwarm-up = \"none\"\n\
                 size = \"20kB\"\nschemes = [\"slow-start\"]\n";
    let flows = scenario("run-over-flows", flows);
    let rounds = "rate = \"2mbit\"\nrtt = \"20ms\"\nrounds = 2\nidle = \"1s\"\nschemes = [\"slow-start\"]\n";
    let rounds = scenario("run-over-rounds", rounds);
    for (file, more, says) in [
        (&flows, &["--rounds", "3"][..], "`--flows none` takes it away"),
        (&flows, &["--ack-aggregation", "5ms"], "--ack-aggregation: it and flows exclude each other"),
        (&flows, &["--topology", "single"], "flows run between hosts"),
        (&rounds, &["--duration", "5s"], "`--rounds none` takes it away"),
        (&rounds, &["--flows", "5", "--topology", "dumbbell:hosts=4"], "`--rounds none` takes it away"),
        (&rounds, &["--each-flow"], "--each-flow: one flow is measured"),
        (&rounds, &["--rate", "fast"], "--rate: `fast` does not begin with a decimal number"),
        (&rounds, &["--schemes", "newreno"], "--schemes: unknown scheme `newreno`"),
    ] {
        let line = refused(&[&["run", text(file)], more].concat());
        assert!(line.contains(says), "{more:?}: {line}");
    }
    let (rows, notes) = json(&["run", text(&rounds), "--rounds", "none", "--size", "20kB"]);
    assert!(notes.contains("--rounds replaces `idle` of"), "{notes}");
    let race = ["race", "--rate", "2mbit", "--rtt", "20ms", "--size", "20kB", "--schemes", "slow-start"];
    assert_eq!(rows, json(&race).0);
    let (rows, _) = json(&["run", text(&flows), "--flows", "7", "--seed", "2"]);
    let race =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--topology", "dumbbell:hosts=4", "--flows", "7"];
    let more = ["--warm-up", "none", "--size", "20kB", "--schemes", "slow-start", "--seed", "2"];
    assert_eq!(rows, json(&[&race[..], &more[..]].concat()).0, "options over a population's");
}

#[test]
fn a_file_is_read_as_before_without_options_over_it() {
    let file = scenario("run-over-none", FILE);
    let race = [
        "race",
        "--rate",
        "10mbit",
        "--rtt",
        "20ms",
        "--size",
        "50kB",
        "--schemes",
        "slow-start,paced,vegas",
    ];
    assert_eq!(json(&["run", text(&file)]), json(&race));
}
