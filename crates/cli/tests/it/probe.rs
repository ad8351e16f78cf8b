//! What `probe` prints, and what it refuses.

use std::fs;

use serde_json::Value;

use crate::common::{folder, refused, run, status, stderr, stdout, text};

const PATH: [&str; 7] = ["probe", "--rate", "10mbit", "--rtt", "40ms", "--cross", "3.6mbit"];

fn rows(more: &[&str]) -> Vec<Value> {
    let output = run(&[&PATH[..], more, &["--json"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn the_trains_of_one_probing_come_before_what_they_say_beside_the_truth() {
    let output = run(&PATH);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let table = stdout(&output);
    for word in
        ["trains of 16 packets", "source", "burst", "congested", "equal", "PTR", "truly available were 6."]
    {
        assert!(table.contains(word), "{word} in {table}");
    }
}

#[test]
fn an_object_is_the_mean_of_all_runs_or_each_run_or_each_train() {
    let [all] = rows(&["--runs", "3"]).try_into().expect("one object");
    assert_eq!((&all["runs"], &all["scheme"]), (&Value::from(3), &Value::from("probe")));
    assert!(all["ptr_bps"].is_number() && all["ptr_bps_ci95"].is_number(), "{all}");
    let each = rows(&["--runs", "3", "--each-run"]);
    assert_eq!(each.len(), 3);
    let trains: u64 = each.iter().filter_map(|row| row["trains"].as_u64()).sum();
    assert_eq!(rows(&["--runs", "3", "--each-train"]).len() as u64, trains);
}

#[test]
fn the_truth_is_what_constant_traffic_leaves() {
    let [row] = rows(&["--probe", "paper"]).try_into().expect("one object");
    let available = row["available_bps"].as_f64().expect("a number");
    assert!((available / 6.4e6 - 1.0).abs() < 0.01, "{row}");
    let ptr = row["ptr_bps"].as_f64().expect("a number");
    assert!((ptr / available - 1.0 - row["ptr_error"].as_f64().expect("a number")).abs() < 1e-12, "{row}");
}

#[test]
fn what_is_of_flows_is_refused() {
    for (option, value) in [("--schemes", "paced"), ("--iw", "4p"), ("--size", "1MB"), ("--pcap", "captures")]
    {
        let said = refused(&[&PATH[..], &[option, value]].concat());
        assert!(said.contains(&format!("{option}: it is of flows")), "{said}");
    }
    for (line, says) in [
        ("size = '1MB'", "size: it is of flows, and a probing sends trains"),
        ("iw = '4p'", "iw: it is of flows, and a probing sends trains"),
        ("schemes = ['paced']", "schemes: a probing sends trains, and no scheme runs"),
        ("[[flow]]\nscheme = 'paced'", "probe: it and flow exclude each other"),
    ] {
        let file = folder("probe-of-flows").join("path.toml");
        fs::write(&file, format!("rate = '10mbit'\nrtt = '40ms'\nprobe = 'bracket'\n{line}\n"))
            .expect("a file");
        let said = refused(&["run", text(&file)]);
        assert!(said.contains(says), "{said}");
        let first = said.lines().next().unwrap_or_default();
        assert!(first.starts_with("error: ") && first.contains("path.toml: "), "{said}");
    }
    let said = refused(&[&PATH[..], &["--probe", "quick"]].concat());
    assert!(said.contains("--probe") && said.contains("bracket"), "{said}");
    let said = refused(&["race", "--rate", "10mbit", "--each-train"]);
    assert!(said.contains("--each-train"), "{said}");
}
