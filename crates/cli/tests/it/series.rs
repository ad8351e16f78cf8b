//! Series of runs and flows over time, and logs of a population's flows.

use crate::common::{dumbbell, folder, names, refused, run, status, stderr, stdout};

/// Twelve flows of two schemes on a dumbbell, alone and mixed, as JSON.
fn flows() -> Vec<&'static str> {
    [&dumbbell("12")[..], &["--mixed", "--json"]].concat()
}

/// The lines of a CSV as cells, without the header.
fn cells(path: &std::path::Path) -> Vec<Vec<String>> {
    let table = std::fs::read_to_string(path).expect("a table");
    table.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn series_has_every_run_and_all_bytes_independent_of_thread_count() {
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
fn each_flow_of_a_population_has_its_series_capture_and_replayable_log() {
    let place = folder("logs-of-flows");
    let to = |name: &str| place.join(name).to_str().expect("text").to_owned();
    let (series, pcap, events, qlog) = (to("s.csv"), to("pcap"), to("events"), to("qlog"));
    let logs = ["--series", &series, "--pcap", &pcap, "--events", &events, "--qlog", &qlog];
    let output = run(&[&flows()[..], &logs].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&run(&flows())), "recording changes no row");
    let rows = cells(&place.join("s.csv"));
    let flows = stdout(&run(&[&flows()[..], &["--each-flow"]].concat()));
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
            let output_of = stdout(&run(&["inspect", "--json", capture.to_str().expect("text")]));
            let sender: serde_json::Value =
                serde_json::from_str(output_of.lines().next().expect("a sender")).expect("an object");
            assert_eq!(sender["bytes_acked"], flow["size_bytes"], "{name}");
        }
    }
    assert_eq!(names(&place.join("events")).len(), files);
}

/// Returns the rates of a table of slots, as (beginning of the slot, bit/s), of the rows with these cells from the scheme to the link.
fn rates(rows: &[Vec<String>], of: [&str; 5]) -> Vec<(f64, f64)> {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let own = rows.iter().filter(|row| row[1..6] == of);
    own.map(|row| (number(&row[0]), number(&row[6]))).collect()
}

/// Asserts that slots of 50 ms follow each other without a gap, and returns the bytes in all of them.
fn bytes_in_slots(rates: &[(f64, f64)]) -> f64 {
    assert!(rates.windows(2).all(|pair| (pair[1].0 - pair[0].0 - 0.05).abs() < 1e-9), "{rates:?}");
    rates.iter().map(|(_, bps)| bps * 0.05 / 8.0).sum()
}

#[test]
fn slots_have_flow_and_link_rates_and_account_for_all_bytes() {
    let place = folder("slots-of-a-race");
    let race = ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "2MB", "--runs", "2", "--json"];
    let mut tables = Vec::new();
    for (jobs, cross) in [("1", "none"), ("2", "none"), ("1", "tcp:1")] {
        let path = place.join(format!("{jobs}-{cross}.csv"));
        let to = path.to_str().expect("text");
        let more = [
            "--schemes",
            "slow-start,paced",
            "--cross",
            cross,
            "--jobs",
            jobs,
            "--links",
            "reverse:1,from:0/0",
        ];
        let output = run(&[&race[..], &more, &["--series", to, "--slot", "50ms"]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert_eq!(stdout(&output), stdout(&run(&[&race[..], &more[..6]].concat())), "slots change no row");
        let rows = cells(&path);
        for scheme in ["slow-start", "paced"] {
            for seed in ["1", "2"] {
                let of = |flow, link| rates(&rows, [scheme, "", seed, flow, link]);
                assert!((bytes_in_slots(&of("0", "")) - 2e6).abs() < 1.0, "{scheme} {seed}");
                let bottleneck = of("", "forward:1");
                assert!(bottleneck.iter().all(|(_, bps)| *bps <= 20e6 + 1.0), "{bottleneck:?}");
                let [link, flow] = [bottleneck[0].0, of("0", "")[0].0];
                assert!((link - flow).abs() < 1e-9, "links begin with the flow");
                // All but the last slot, during which the run ended.
                assert!(bytes_in_slots(&bottleneck) > 2e6 * 1500.0 / 1460.0 - 20e6 * 0.05 / 8.0);
                let (sent, acks) =
                    (bytes_in_slots(&of("", "from:0/0")), bytes_in_slots(&of("", "reverse:1")));
                assert!(sent > 1.9e6 && acks > 0.0 && acks < 4e5, "{sent} {acks}");
            }
        }
        tables.push(std::fs::read(&path).expect("a table"));
    }
    assert_eq!(tables[0], tables[1]);
}

#[test]
fn slots_of_a_population_have_every_flow_and_the_links_between_routers() {
    let place = folder("slots-of-flows");
    let path = place.join("slots.csv");
    let to = ["--series", path.to_str().expect("text"), "--slot", "50ms"];
    let output = run(&[&flows()[..], &to, &["--each-flow"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let rows = cells(&path);
    for line in stdout(&output).lines() {
        let flow: serde_json::Value = serde_json::from_str(line).expect("an object");
        let text = |field: &str| flow[field].as_str().expect("text").to_owned();
        let number = flow["flow"].to_string();
        let own = rates(&rows, [&text("scheme"), &text("population"), "1", &number, ""]);
        if flow["fct_s"].is_number() {
            let size = flow["size_bytes"].as_f64().expect("a number");
            assert!((bytes_in_slots(&own) - size).abs() < 1.0, "{line}");
        }
    }
    for (scheme, population) in [("slow-start", "only"), ("paced", "only"), ("", "mixed")] {
        let link = rates(&rows, [scheme, population, "1", "", "forward:1"]);
        assert!(link[0].0 == 0.0 && bytes_in_slots(&link) > 1e5, "{scheme} {population}");
    }
}

#[test]
fn a_slot_is_a_span_of_time_and_has_a_table() {
    let race = ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "20p", "--schemes", "paced"];
    let path = folder("slot").join("slots.csv");
    let series = ["--series", path.to_str().expect("text")];
    assert!(refused(&[&race[..], &["--slot", "100ms"]].concat()).contains("--series"));
    assert!(refused(&[&race[..], &series, &["--slot", "0"]].concat()).contains("--slot: "));
    let output = run(&[&race[..], &series, &["--slot"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let rows = cells(&path);
    assert!(rows.iter().filter(|row| row[4] == "0").map(|row| row[0].as_str()).eq(["0", "0.1"]), "{rows:?}");
}

#[test]
fn each_client_of_rounds_has_a_series_of_its_own() {
    let path = folder("series-of-rounds").join("s.csv");
    let race =
        ["race", "--rate", "2mbit", "--rtt", "100ms", "--rounds", "2", "--clients", "3", "--size", "24kB"];
    let schemes = ["--schemes", "slow-start", "--restart", "ssr,rbp-rate", "--json"];
    let race = [&race[..], &schemes].concat();
    let output = run(&[&race[..], &["--series", path.to_str().expect("text")]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&run(&race)), "recording changes no row");
    let rows = cells(&path);
    let mut schemes: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    schemes.dedup();
    assert_eq!(schemes.len(), 2);
    for scheme in schemes {
        for client in ["0", "1", "2"] {
            let mut own = rows.iter().filter(|row| row[1] == scheme && row[4] == client);
            // Two replies.
            let delivered = own.next_back().map(|row| row[11].as_str());
            assert_eq!(delivered, Some("48000"), "{scheme} {client}");
        }
    }
}
