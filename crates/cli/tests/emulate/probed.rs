//! Probing an emulated path by packet trains, and running a figure of the ledger on an emulated path.

use serde_json::Value;

use crate::common::{firstflight, stderr};
use crate::machine::can_run;
use crate::setting::run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_firstflight");

#[test]
fn trains_find_the_capacity_and_what_is_available_of_an_emulated_path() {
    if !can_run("probed::trains_find_the_capacity_and_what_is_available_of_an_emulated_path", &[]) {
        return;
    }
    let near = format!("{PROGRAM} probe 10.0.0.2:4432 --runs 3 --each-run --json");
    let far = format!("exec {PROGRAM} reflect --bind 10.0.0.2");
    let (output, _) =
        run("--rate 10mbit --rtt 40ms --cross 3.6mbit --queue 200p --packet 1500B", &near, &far);
    let rows: Vec<Value> =
        stderr(&output).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(rows.len(), 3, "{}", stderr(&output));
    let of = |field: &str| -> Vec<f64> { rows.iter().filter_map(|row| row[field].as_f64()).collect() };
    assert!(of("capacity_bps").iter().all(|bps| (bps / 10e6 - 1.0).abs() < 0.1), "{rows:?}");
    assert!(of("ptr_bps").iter().any(|bps| (bps / 6.4e6 - 1.0).abs() < 0.15), "{rows:?}");
    assert!(of("rtt_s").iter().all(|rtt| (0.04..0.06).contains(rtt)), "{rows:?}");
}

#[test]
fn a_figure_is_run_on_real_packets_and_recorded_with_the_machine() {
    if !can_run("probed::a_figure_is_run_on_real_packets_and_recorded_with_the_machine", &[]) {
        return;
    }
    let folder = std::env::temp_dir().join(format!("firstflight-udp-figure-{}", std::process::id()));
    let past = folder.join("past");
    std::fs::create_dir_all(&past).expect("a folder");
    let text = "title = 't'\nsection = '1'\nfigure = 'f'\nsetup = 'testbed'
[scenario]\nrate = '20mbit'\nrtt = '40ms'\nqueue = '50p'\nsize = '500kB'\nschemes = ['slow-start']
[[claim]]\nid = 'a'\nsays = 's'\nsource = 'text'\nmeasured = 'fct_s[slow-start]'\nexpected = 'between 0.2 and 2'\ntolerance = 'n'\nstatus = 'holds'
[habitat.live.claims]\na = { status = 'holds' }\n";
    std::fs::write(past.join("figure-1.toml"), text).expect("a file");
    let text = "title = 't'\nsection = '2'\nfigure = 'g'\nsetup = 'testbed'
[scenario]\nrate = '10mbit'\nrtt = '40ms'\nqueue = '200p'\ncross = '3.6mbit'\nprobe = 'gap:3ms'
[[claim]]\nid = 'a'\nsays = 's'\nsource = 'text'\nmeasured = 'available_bps[probe]'\nexpected = '= 6.4mbit within 1%'\ntolerance = 'n'\nstatus = 'holds'
[[claim]]\nid = 'b'\nsays = 's'\nsource = 'text'\nmeasured = 'ptr_bps[probe]'\nexpected = '= 4mbit within 20%'\ntolerance = 'n'\nstatus = 'holds'
[habitat.live.claims]\na = { status = 'holds' }\nb = { status = 'holds' }\n";
    std::fs::write(past.join("figure-2.toml"), text).expect("a file");
    let ledger = folder.to_string_lossy().into_owned();
    let output = firstflight()
        .args(["paper", "check", "--habitat", "live", "--ledger", &ledger, "--record", &ledger])
        .output()
        .expect("the command runs");
    let record = std::fs::read_to_string(folder.join("past.json"));
    drop(std::fs::remove_dir_all(&folder));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: Value = serde_json::from_str(&record.expect("a record")).expect("JSON");
    assert_eq!(
        (&record["habitat"], record["claims"].as_array().map(Vec::len)),
        (&Value::from("live"), Some(3))
    );
    assert!(record["date"].as_str().is_some_and(|date| date.len() == 10 && date >= "2026-11-26"), "{record}");
    assert!(record["load"][0].is_number() && record["kernel"].is_string(), "{record}");
}
