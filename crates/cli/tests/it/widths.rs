//! Output for people fits the terminal, whose width `COLUMNS` sets.

use crate::common::{firstflight, folder, refused, run, status, stderr, stdout, text};

/// A race whose means, names and exits are wide.
const RACE: [&str; 11] = [
    "race",
    "--rate=10mbit",
    "--rtt=30ms",
    "--size=60kB",
    "--loss=1%",
    "--runs=3",
    "--schemes",
    "slow-start,paced:profile=paper,first=4,voids=3,vegas,hystart:hz=100",
    "--queue=20p",
    "--cross=tcp:1",
    "--seed=3",
];

/// Returns the output of the command on a terminal of this width.
fn printed(width: usize, arguments: &[&str]) -> String {
    let output =
        firstflight().args(arguments).env("COLUMNS", width.to_string()).output().expect("the command runs");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output)
}

fn widest(text: &str) -> usize {
    text.lines().map(|line| line.chars().count()).max().unwrap_or(0)
}

#[test]
fn whatever_a_command_prints_fits_the_terminal_from_eighty_columns_on() {
    let place = folder("widths");
    let (sweep, out) = (place.join("sweep.toml"), place.join("sweep"));
    let paths = "part = 4\nschemes = [\"slow-start\", \"paced\"]\n[path]\nrate = [\"4mbit\", \"8mbit\"]\nrtt = \"20ms\"\n\
                 size = [\"30kB\", \"60kB\"]\n";
    std::fs::write(&sweep, paths).expect("written");
    let (pcap, events) = (place.join("pcap"), place.join("events"));
    let race = ["race", "--rate=10mbit", "--rtt=30ms", "--size=60kB", "--schemes=paced", "--loss=1%"];
    printed(80, &[&race[..], &["--pcap", text(&pcap), "--events", text(&events)]].concat());
    let (capture, trace) = (pcap.join("paced-client.pcapng"), events.join("paced.jsonl"));
    let flows =
        ["race", "--rate=20mbit", "--rtt=40ms", "--topology=dumbbell:hosts=10", "--flows=20", "--size=50p"];
    let each = [&flows[..], &["--schemes=slow-start,vegas", "--each-flow"]].concat();
    for width in [80, 100, 120, 200] {
        let commands: [&[&str]; 16] = [
            &RACE,
            &[
                "race",
                "--rate=8mbit",
                "--rtt=50ms",
                "--rounds=3",
                "--idle=1s",
                "--size=24kB",
                "--schemes=vegas",
            ],
            &["run", concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/quick-start-routers.toml")],
            &flows,
            &each,
            &["sweep", text(&sweep), "--out", text(&out)],
            &["score", text(&out)],
            &["score", text(&out), "--full"],
            &["schemes"],
            &["paths"],
            &["paths", "picoquic-blackhole"],
            &["model"],
            &["model", "quick-start", "--size=250kB"],
            &["model", "quick-start", "--sweep=size=10kB..1MB", "--points=3"],
            &["inspect", text(&capture)],
            &["replay", text(&trace)],
        ];
        for command in commands {
            let text = printed(width, command);
            // The name of a file is printed in full.
            let text: String =
                text.lines().filter(|line| !line.contains("widths/")).flat_map(|line| [line, "\n"]).collect();
            assert!(!text.is_empty() || command[0] == "sweep" || command[0] == "inspect", "{command:?}");
            assert!(widest(&text) <= width, "{command:?} at {width}: {}\n{text}", widest(&text));
        }
    }
}

#[test]
fn a_narrow_table_keeps_cost_loss_and_exit_and_names_hidden_columns() {
    let text = printed(80, &RACE);
    let head = text.lines().find(|line| line.starts_with("scheme")).expect("a table");
    for word in ["cost", "su-loss", "harm", "exit cause"] {
        assert!(head.contains(word), "{text}");
    }
    assert!(text.contains("Not shown for want of width: ") && text.contains("--wide shows all"), "{text}");
    for more in [&["--wide"][..], &["--columns", "cost,exit_cause,loss,retransmissions"]] {
        let text = printed(80, &[&RACE, more].concat());
        assert!(
            !text.contains("Not shown") && text.contains("paced:profile=paper,first=4,voids=3"),
            "{text}"
        );
    }
    // If standard output is no terminal, everything is printed.
    let piped = stdout(&run(&RACE));
    assert!(!piped.contains("Not shown") && piped.contains("peak p"), "{piped}");
}

#[test]
fn unknown_columns_are_refused_before_the_run_and_records_accept_none() {
    let race = ["race", "--rate=10mbit", "--rtt=30ms"];
    let with = |more: &[&'static str]| refused(&[&race[..], more].concat());
    let line = with(&["--columns", "cost,suloss"]);
    assert!(line.contains("--columns: there is no column `suloss`; is `su_loss` meant?"), "{line}");
    with(&["--columns", "cost", "--json"]);
    with(&["--wide", "--csv"]);
    with(&["--wide", "--columns", "cost"]);
    let line = refused(&["model", "quick-start", "--sweep=size=10kB..1MB", "--columns", "transfer"]);
    assert!(line.contains("write `transfer_s`"), "{line}");
}

#[test]
fn an_error_wraps_between_words_and_marks_its_place_on_narrow_terminals() {
    let rate = format!("{}mbit", "x".repeat(100));
    let output =
        firstflight().args(["race", "--rate", &rate]).env("COLUMNS", "80").output().expect("it runs");
    let error = stderr(&output);
    let caret = error.lines().last().expect("a caret");
    assert!(error.starts_with("error: --rate:\n  `xxx") && caret.contains('^'), "{error}");
    assert!(
        error.lines().filter(|line| line.starts_with("  | ")).all(|line| line.chars().count() <= 80),
        "{error}"
    );
}
