//! The command that `inspect --as-race` prints runs, and is of the path that the capture is of.

use std::process::Output;

use serde_json::Value;

use crate::common::{folder, run, status, stderr, stdout, text};

fn said(output: &Output) -> String {
    assert_eq!(status(output), 0, "{}", stderr(output));
    stdout(output)
}

/// Races one scheme over a path, and gives back its completion time and what `--as-race` prints for the capture at its sender.
fn seen(name: &str, path: &[&str]) -> (f64, String) {
    let place = folder(&format!("as-race-{name}"));
    let race = run(&[&["race", "--json", "--pcap", text(&place)], path].concat());
    let row: Value = serde_json::from_str(&said(&race)).expect("a row");
    let scheme = row["scheme"].as_str().expect("a name");
    let capture = place.join(format!("{scheme}-client.pcapng"));
    (row["fct_s"].as_f64().expect("a time"), said(&run(&["inspect", "--as-race", text(&capture)])))
}

/// The last line: the command's arguments.
fn arguments(told: &str) -> Vec<&str> {
    let command = told.lines().last().expect("a command");
    assert!(told.lines().all(|line| line.starts_with("# ") || line == command), "{told}");
    command.strip_prefix("firstflight ").expect("the program").split(' ').collect()
}

fn value<'a>(arguments: &[&'a str], option: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|one| *one == option)?;
    arguments.get(at + 1).copied()
}

fn quantity(text: &str) -> f64 {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match &text[at..] {
        "gbit" => 1e9,
        "mbit" => 1e6,
        "kbit" => 1e3,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        "ns" => 1e-9,
        unit => panic!("{unit}"),
    };
    text[..at].parse::<f64>().expect("a number") * unit
}

#[test]
fn the_path_of_a_race_is_recovered_from_its_capture_and_races_alike() {
    let paths: [(&str, &str, &str, &[&str]); 8] = [
        ("20mbit", "50ms", "delayed", &["--size", "2MB", "--schemes", "slow-start"]),
        (
            "20mbit",
            "50ms",
            "every",
            &["--size", "2MB", "--queue", "40p", "--schemes", "slow-start", "--iw", "4p"],
        ),
        ("100mbit", "80ms", "linux", &["--size", "5MB", "--schemes", "hystart-linux", "--timestamps"]),
        (
            "5mbit",
            "20ms",
            "linux",
            &["--size", "1MB", "--queue", "100p", "--schemes", "slow-start", "--iw", "20p"],
        ),
        ("50mbit", "200ms", "every", &["--size", "10MB", "--queue", "2bdp", "--schemes", "bbr"]),
        ("1mbit", "100ms", "delayed", &["--size", "300kB", "--queue", "30p", "--schemes", "hystart++"]),
        (
            "200mbit",
            "30ms",
            "delayed",
            &["--size", "8MB", "--queue", "0.5bdp", "--schemes", "slow-start", "--mss", "1200"],
        ),
        ("30mbit", "60ms", "linux", &["--size", "3MB", "--rwnd", "64kB", "--schemes", "slow-start"]),
    ];
    for (at, (rate, rtt, ack, more)) in paths.into_iter().enumerate() {
        let path = [&["--rate", rate, "--rtt", rtt, "--ack", ack], more].concat();
        let (fct, told) = seen(&at.to_string(), &path);
        let found = arguments(&told);
        let off = |option: &str, right: &str| {
            quantity(value(&found, option).unwrap_or_else(|| panic!("{option}: {told}"))) / quantity(right)
                - 1.0
        };
        let (rate_off, rtt_off) = (off("--rate", rate), off("--rtt", rtt));
        let again =
            [&found[..], &["--json", "--schemes", value(more, "--schemes").expect("a scheme")]].concat();
        let row: Value = serde_json::from_str(&said(&run(&again))).expect("a row");
        let fct_off = row["fct_s"].as_f64().expect("a time") / fct - 1.0;
        println!(
            "{rate} {rtt} {ack} {more:?}: rate {:+.2} %, RTT {:+.2} %, FCT {:+.2} %: {}",
            rate_off * 100.0,
            rtt_off * 100.0,
            fct_off * 100.0,
            found.join(" ")
        );
        assert!(rate_off.abs() < 0.05, "{path:?}: {told}");
        assert!(rtt_off.abs() < 0.05, "{path:?}: {told}");
        assert_eq!(value(&found, "--ack"), Some(ack), "{path:?}: {told}");
        assert_eq!(value(&found, "--iw"), Some(value(more, "--iw").unwrap_or("10p")), "{path:?}: {told}");
        assert_eq!(value(&found, "--mss"), Some(value(more, "--mss").unwrap_or("1460")), "{path:?}: {told}");
        assert_eq!(found.contains(&"--timestamps"), more.contains(&"--timestamps"), "{path:?}: {told}");
        assert_eq!(value(&found, "--size"), value(more, "--size"), "{path:?}: {told}");
        assert_eq!(found.contains(&"--rwnd"), more.contains(&"--rwnd"), "{path:?}: {told}");
        assert!(fct_off.abs() < 0.01, "{path:?}: {fct_off}: {told}");
    }
}

#[test]
fn equal_busy_periods_become_rounds() {
    let path = [
        "--rate",
        "10mbit",
        "--rtt",
        "100ms",
        "--size",
        "100kB",
        "--rounds",
        "3",
        "--idle",
        "10s",
        "--schemes",
        "slow-start",
    ];
    let place = folder("as-race-rounds");
    said(&run(&[&["race", "--json", "--pcap", text(&place)], &path[..]].concat()));
    let told = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-client.pcapng"))]));
    let found = arguments(&told);
    assert_eq!((value(&found, "--rounds"), value(&found, "--size")), (Some("3"), Some("100kB")), "{told}");
    let idle = quantity(value(&found, "--idle").expect("an idle time"));
    assert!((idle / 10.0 - 1.0).abs() < 0.1, "{told}");
    said(&run(&[&found[..], &["--json", "--schemes", "slow-start"]].concat()));
}

#[test]
fn what_cannot_be_told_is_left_to_the_default_and_says_why() {
    let place = folder("as-race-untold");
    let race = [
        "race",
        "--json",
        "--rate",
        "20mbit",
        "--rtt",
        "50ms",
        "--size",
        "5kB",
        "--schemes",
        "slow-start",
        "--pcap",
    ];
    said(&run(&[&race[..], &[text(&place)]].concat()));
    let told = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-client.pcapng"))]));
    for words in [
        "# --rate is left to its default: too little was delivered",
        "# --queue is left to its default: ",
        "# --ack is left to its default: too few",
        "# --iw is left to its default: the application bounded",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let found = arguments(&told);
    assert_eq!(value(&found, "--size"), Some("5kB"));
    said(&run(&[&found[..], &["--json", "--schemes", "slow-start"]].concat()));
    let receiver = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-server.pcapng"))]));
    assert!(receiver.contains("# --queue is left to its default: "), "{receiver}");
}

#[test]
fn the_rate_of_an_application_that_writes_now_and_then_is_not_the_paths() {
    let place = folder("as-race-app");
    let path = ["--rate", "20mbit", "--rtt", "50ms", "--app", "5kB,200ms", "--size", "100kB", "--timestamps"];
    let race = ["race", "--schemes", "slow-start", "--pcap", text(&place)];
    said(&run(&[&race[..], &path].concat()));
    let told = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-client.pcapng"))]));
    let why = "# --rate is left to its default: no queue was seen, and the application set the rate that was";
    let asked = arguments(&told);
    assert!(told.contains(why) && value(&asked, "--rate").is_none(), "{told}");
    assert!((quantity(value(&asked, "--rtt").expect("a round trip")) - 0.05).abs() < 1e-4, "{told}");
}
