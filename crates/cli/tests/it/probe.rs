//! The output and the refusals of `probe`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::common::{firstflight, folder, refused, run, status, stderr, stdout, text};

const PATH: [&str; 7] = ["probe", "--rate", "10mbit", "--rtt", "40ms", "--cross", "3.6mbit"];

fn rows(more: &[&str]) -> Vec<Value> {
    let output = run(&[&PATH[..], more, &["--json"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn table_of_one_probing_lists_trains_estimates_and_the_true_rate() {
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
fn probe_rows_are_the_mean_of_runs_or_single_runs_or_trains() {
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
fn probe_refuses_keys_and_options_of_flows() {
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

/// A command that runs until it is dropped, and the address where it listens.
struct Far {
    child: Child,
    address: String,
}

impl Far {
    fn new(arguments: &[&str]) -> Self {
        let mut child = firstflight()
            .args(arguments)
            .args(["--port", "0"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
        Self { child, address: line.trim().rsplit(' ').next().unwrap_or_default().to_owned() }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_real_path_is_probed_by_a_reflector_or_by_server_acks() {
    for (far, by) in [(Far::new(&["reflect"]), "reflector"), (Far::new(&["serve", "."]), "acks")] {
        let output = run(&["probe", &far.address, "--runs", "2", "--each-run", "--json"]);
        assert_eq!((status(&output), stderr(&output)), (0, String::new()));
        let text = stdout(&output);
        let rows: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert_eq!((&row["by"], &row["peer"]), (&Value::from(by), &Value::from(&*far.address)));
            assert_eq!((row["packet_bytes"].as_u64(), row["packets_lost"].as_u64()), (Some(1_500), Some(0)));
            assert!(row["packets"].as_u64().is_some_and(|packets| packets <= 128), "{row}");
            assert!(row["capacity_bps"].is_number() && row["rtt_s"].is_number(), "{row}");
            for unknown in ["available_bps", "ptr_error", "seed", "scenario_hash"] {
                assert_eq!(row[unknown], Value::Null, "{unknown}");
            }
        }
        let words = ["probe", &far.address, "--probe", "gap:300us", "--packet", "1000B"];
        let table =
            stdout(&firstflight().args(words).env("COLUMNS", "80").output().expect("the command runs"));
        for word in ["trains of 16 packets of 1000 bytes", "minimum RTT", "burst", "PTR says"] {
            assert!(table.replace('\n', " ").contains(word), "{word} in {table}");
        }
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }
}

#[test]
fn real_and_simulated_paths_refuse_each_others_options() {
    for (given, said) in [
        (&["127.0.0.1:4432", "--rate", "10mbit"][..], "--rate: it is of simulated paths"),
        (&["127.0.0.1:4432", "--cross", "1mbit"], "--cross: it is of simulated paths"),
        (&["127.0.0.1:4432", "--schemes", "paced"], "--schemes: it is of flows"),
        (&["127.0.0.1:4432", "--pcap", "captures"], "--pcap: it is of flows"),
        (&["127.0.0.1"], "HOST:PORT is, as in"),
        (&["127.0.0.1:70000"], "HOST:PORT is, as in"),
        (&["127.0.0.1:4432", "--timeout", "soon"], "--timeout"),
        (&["127.0.0.1:4432", "--packet", "99B"], "a packet is from 116 to 65523 IP bytes"),
        (&["--rate", "10mbit", "--by", "acks"], "HOST:PORT"),
    ] {
        let line = refused(&[&["probe"], given].concat());
        assert!(line.contains(said), "{given:?}: {line}");
    }
}

#[test]
fn a_probe_without_answer_is_one_error_line_and_no_row() {
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let address = silent.local_addr().expect("an address").to_string();
    let output = run(&["probe", &address, "--timeout", "200ms", "--json"]);
    assert_eq!((status(&output), stdout(&output)), (3, String::new()));
    assert!(stderr(&output).contains("did not answer within 0.2 s"), "{}", stderr(&output));
    drop(silent);
    let output = run(&["probe", &address]);
    assert_eq!((status(&output), stderr(&output).lines().count()), (3, 1));
    assert!(stderr(&output).contains("no one listens at"), "{}", stderr(&output));
}
