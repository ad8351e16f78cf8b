//! Series of runs and flows over time, and logs of a population's flows.

use crate::common::{folder, names, run, status, stderr, stdout};

const FLOWS: [&str; 17] = [
    "race",
    "--rate",
    "20mbit",
    "--rtt",
    "40ms",
    "--topology",
    "dumbbell:hosts=10",
    "--flows",
    "12",
    "--size",
    "50p",
    "--sizes",
    "exponential",
    "--schemes",
    "slow-start,paced",
    "--mixed",
    "--json",
];

/// The lines of a CSV as cells, without the header.
fn cells(path: &std::path::Path) -> Vec<Vec<String>> {
    let table = std::fs::read_to_string(path).expect("a table");
    table.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn a_series_has_every_run_and_ends_with_what_was_delivered_whatever_the_number_of_threads() {
    let place = folder("series-of-a-race");
    let race =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "300kB", "--cross", "tcp:1", "--runs", "3"];
    let mut tables = Vec::new();
    for jobs in ["1", "3"] {
        let path = place.join(format!("series-{jobs}.csv"));
        let to = [
            "--schemes",
            "slow-start,paced",
            "--json",
            "--jobs",
            jobs,
            "--series",
            path.to_str().expect("text"),
        ];
        let output = run(&[&race[..], &to].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        tables.push((stdout(&output), std::fs::read(&path).expect("a table")));
    }
    assert_eq!(tables[0], tables[1]);
    let plain = stdout(&run(&[&race[..], &["--schemes", "slow-start,paced", "--json"]].concat()));
    assert_eq!(tables[0].0, plain, "recording changes no row");
    let rows = cells(&place.join("series-1.csv"));
    for (scheme, seed) in [("slow-start", "1"), ("slow-start", "3"), ("paced", "1"), ("paced", "3")] {
        let own: Vec<_> = rows.iter().filter(|row| row[1] == scheme && row[3] == seed).collect();
        let number = |row: &[String], at: usize| row[at].parse::<f64>().expect("a number");
        assert!(own.windows(2).all(|pair| number(pair[0], 0) <= number(pair[1], 0)), "{scheme} {seed}");
        assert_eq!(own.last().expect("rows")[11], "300000", "{scheme} {seed}");
        assert!(own.iter().any(|row| number(row, 10) > 0.0), "a queue, {scheme} {seed}");
        assert!(
            own.iter().all(|row| row[9].is_empty() || number(row, 9) >= 0.04),
            "round trips, {scheme} {seed}"
        );
    }
    assert_eq!(names(&place), ["series-1.csv", "series-3.csv"], "nothing else is left");
}

#[test]
fn each_flow_of_a_population_has_its_series_its_capture_and_a_log_that_replays() {
    let place = folder("logs-of-flows");
    let to = |name: &str| place.join(name).to_str().expect("text").to_owned();
    let (series, pcap, events, qlog) = (to("s.csv"), to("pcap"), to("events"), to("qlog"));
    let logs = ["--series", &series, "--pcap", &pcap, "--events", &events, "--qlog", &qlog];
    let output = run(&[&FLOWS[..], &logs].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&run(&FLOWS)), "recording changes no row");
    let rows = cells(&place.join("s.csv"));
    let flows = stdout(&run(&[&FLOWS[..], &["--each-flow"]].concat()));
    let mut files = 0;
    for line in flows.lines() {
        let flow: serde_json::Value = serde_json::from_str(line).expect("an object");
        let (scheme, population) =
            (flow["scheme"].as_str().expect("text"), flow["population"].as_str().expect("text"));
        let number = flow["flow"].to_string();
        let mut own = rows.iter().filter(|row| row[1] == scheme && row[2] == population && row[4] == number);
        let last = own.next_back().expect("rows of every flow");
        if flow["fct_s"].is_number() {
            assert_eq!(last[11], flow["size_bytes"].to_string(), "{line}");
        }
        let mix = if population == "mixed" { "mixed-" } else { "" };
        let name = format!("{mix}{scheme}-flow{:05}", flow["flow"].as_u64().expect("a number"));
        for file in ["pcap/N-client.pcapng", "pcap/N-server.pcapng", "events/N.jsonl", "qlog/N.sqlog"] {
            let file = place.join(file.replace('N', &name));
            assert!(file.is_file(), "{}", file.display());
        }
        files += 1;
        if files <= 3 {
            let log = place.join(format!("events/{name}.jsonl"));
            let replayed = run(&["replay", log.to_str().expect("text")]);
            assert_eq!(status(&replayed), 0, "{}", stderr(&replayed));
            let capture = place.join(format!("pcap/{name}-client.pcapng"));
            let told = stdout(&run(&["inspect", "--json", capture.to_str().expect("text")]));
            let sender: serde_json::Value =
                serde_json::from_str(told.lines().next().expect("a sender")).expect("an object");
            assert_eq!(sender["bytes_acked"], flow["size_bytes"], "{name}");
        }
    }
    assert_eq!(names(&place.join("events")).len(), files);
}
