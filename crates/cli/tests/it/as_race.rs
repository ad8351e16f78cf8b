//! The command that `inspect --as-race` prints can be run, and describes the path of the capture.

use std::process::Output;

use serde_json::Value;

use crate::common::{folder, run, status, stderr, stdout, text};

fn said(output: &Output) -> String {
    assert_eq!(status(output), 0, "{}", stderr(output));
    stdout(output)
}

/// Races one scheme over a path. Returns its completion time, and the output of `--as-race` for the capture at its sender.
fn seen(name: &str, path: &[&str]) -> (f64, String) {
    let place = folder(&format!("as-race-{name}"));
    let race = run(&[&["race", "--json", "--pcap", text(&place)], path].concat());
    let row: Value = serde_json::from_str(&said(&race)).expect("a row");
    let scheme = row["scheme"].as_str().expect("a name");
    let capture = place.join(format!("{scheme}-client.pcapng"));
    (row["fct_s"].as_f64().unwrap_or(f64::NAN), said(&run(&["inspect", "--as-race", text(&capture)])))
}

/// The last line: the command's arguments.
fn arguments(output_of: &str) -> Vec<&str> {
    let command = output_of.lines().last().expect("a command");
    assert!(output_of.lines().all(|line| line.starts_with("# ") || line == command), "{output_of}");
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
fn race_options_are_recovered_from_a_capture_and_reproduce_the_transfer() {
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
        let (fct, output_of) = seen(&at.to_string(), &path);
        let found = arguments(&output_of);
        let off = |option: &str, right: &str| {
            quantity(value(&found, option).unwrap_or_else(|| panic!("{option}: {output_of}")))
                / quantity(right)
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
        assert!(rate_off.abs() < 0.05, "{path:?}: {output_of}");
        assert!(rtt_off.abs() < 0.001, "{path:?}: {output_of}");
        assert_eq!(value(&found, "--ack"), Some(ack), "{path:?}: {output_of}");
        assert_eq!(
            value(&found, "--iw"),
            Some(value(more, "--iw").unwrap_or("10p")),
            "{path:?}: {output_of}"
        );
        assert_eq!(
            value(&found, "--mss"),
            Some(value(more, "--mss").unwrap_or("1460")),
            "{path:?}: {output_of}"
        );
        assert_eq!(found.contains(&"--timestamps"), more.contains(&"--timestamps"), "{path:?}: {output_of}");
        assert_eq!(value(&found, "--size"), value(more, "--size"), "{path:?}: {output_of}");
        assert_eq!(found.contains(&"--rwnd"), more.contains(&"--rwnd"), "{path:?}: {output_of}");
        assert!(fct_off.abs() < 0.01, "{path:?}: {fct_off}: {output_of}");
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
    let output_of = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-client.pcapng"))]));
    let found = arguments(&output_of);
    assert_eq!(
        (value(&found, "--rounds"), value(&found, "--size")),
        (Some("3"), Some("100kB")),
        "{output_of}"
    );
    let idle = quantity(value(&found, "--idle").expect("an idle time"));
    assert!((idle / 10.0 - 1.0).abs() < 0.001, "{output_of}");
    assert!(!output_of.contains("--app"), "the idle times say why rounds ended: {output_of}");
    said(&run(&[&found[..], &["--json", "--schemes", "slow-start"]].concat()));
}

#[test]
fn the_capture_of_what_is_printed_prints_the_same() {
    let paths: [(&str, &str); 7] = [
        // A timer sends a segment of new data before the first acknowledgement.
        ("hystart-linux", "--rate 575100bit --rtt 13100us --size 100kB --queue 200p --iw 20p --mss 1200"),
        ("paced", "--rate 9956kbit --rtt 297300us --size 2161012B --queue 4bdp --ack every --iw 10p"),
        ("slow-start", "--rate 1mbit --rtt 20ms --size 150kB --queue 30p --iw 4p --timestamps"),
        (
            "slow-start",
            "--rate 2896kbit --rtt 14280us --size 100kB --queue 12p --iw 32p --rounds 4 --idle 26.1s",
        ),
        (
            "hystart-linux",
            "--rate 84mbit --rtt 40ms --size 1500kB --queue 0.5bdp --ack linux --iw 32p --timestamps",
        ),
        ("bbr", "--rate 700kbit --rtt 400ms --size 170kB --mss 8960 --rwnd 64kB --rounds 2 --idle 2.12s"),
        ("slow-start", "--rate 600mbit --rtt 5ms --size 4MB --queue 50p --ack every --rounds 3 --idle 2s"),
    ];
    for (at, (scheme, path)) in paths.into_iter().enumerate() {
        let path: Vec<&str> = path.split(' ').chain(["--schemes", scheme]).collect();
        let (_, first) = seen(&format!("first-{at}"), &path);
        let printed = arguments(&first)[1..].to_vec();
        let (_, second) = seen(&format!("second-{at}"), &[&printed[..], &["--schemes", scheme]].concat());
        assert_eq!(arguments(&second)[1..], printed, "{path:?}: {first}{second}");
        if let Some(window) = value(&path, "--iw") {
            assert_eq!(value(&printed, "--iw"), Some(window), "{path:?}: {first}");
        }
        if let Some(idle) = value(&path, "--idle").filter(|_| value(&printed, "--rate").is_some()) {
            assert!(
                (quantity(value(&printed, "--idle").expect("an idle time")) / quantity(idle) - 1.0).abs()
                    < 0.001
            );
        }
    }
}

#[test]
fn undetermined_options_are_left_to_the_default_with_a_reason() {
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
    let output_of = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-client.pcapng"))]));
    for words in [
        "# --rate is left to its default: too little was delivered",
        "# --queue is left to its default: ",
        "# --ack is left to its default: too few",
        "# --iw is left to its default: the application bounded",
    ] {
        assert!(output_of.contains(words), "{words}: {output_of}");
    }
    let found = arguments(&output_of);
    assert_eq!(value(&found, "--size"), Some("5kB"));
    said(&run(&[&found[..], &["--json", "--schemes", "slow-start"]].concat()));
    let receiver = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-server.pcapng"))]));
    assert!(receiver.contains("# --queue is left to its default: "), "{receiver}");
}

#[test]
fn application_limited_rate_is_not_reported_as_the_path_rate() {
    let place = folder("as-race-app");
    let path = ["--rate", "20mbit", "--rtt", "50ms", "--app", "5kB,200ms", "--size", "100kB", "--timestamps"];
    let race = ["race", "--schemes", "slow-start", "--pcap", text(&place)];
    said(&run(&[&race[..], &path].concat()));
    let output_of = said(&run(&["inspect", "--as-race", text(&place.join("slow-start-client.pcapng"))]));
    let why = "# --rate is left to its default: no queue was seen, and the application set the rate that was";
    let asked = arguments(&output_of);
    assert!(output_of.contains(why) && value(&asked, "--rate").is_none(), "{output_of}");
    assert!((quantity(value(&asked, "--rtt").expect("a round trip")) - 0.05).abs() < 1e-4, "{output_of}");
}
