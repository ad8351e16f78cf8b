//! The units of `contrib/systemd`: what systemd says of them, and whether their capabilities suffice.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{PROGRAM, can_run, comes, is_registered};
use crate::common::{folder, status, stderr, stdout, text};

const UNITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/systemd");

fn unit(name: &str) -> String {
    fs::read_to_string(Path::new(UNITS).join(name)).expect("a unit")
}

#[test]
fn systemd_accepts_the_units() {
    let test = "systemd_accepts_the_units";
    if !can_run(test, &["systemd-analyze"]) {
        return;
    }
    let place = folder("kernel-units");
    for name in ["firstflight-load@.service", "firstflight-watch.service"] {
        let path = place.join(name);
        fs::write(&path, unit(name).replace("/usr/local/bin/firstflight", PROGRAM)).expect("a file");
        let output = Command::new("systemd-analyze").args(["verify", text(&path)]).output().expect("it runs");
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{name}: {}", stdout(&output));
    }
}

#[test]
fn the_capabilities_of_the_units_suffice_for_load_and_watch() {
    let test = "the_capabilities_of_the_units_suffice_for_load_and_watch";
    if !can_run(test, &["timeout"]) {
        return;
    }
    let runs = [
        (
            "firstflight-load@.service",
            "kernel load slow-start --name ff_test_caps --to 192.0.2.0/24",
            "ff_test_caps is registered",
        ),
        ("firstflight-watch.service", "watch --plain", "connections opened"),
    ];
    for (name, words, wanted) in runs {
        let unit = unit(name);
        let given = |key: &str| unit.lines().find_map(|line| line.strip_prefix(key)).expect(key).to_owned();
        let capabilities = given("AmbientCapabilities=");
        assert_eq!(capabilities, given("CapabilityBoundingSet="), "{name}");
        let set: Vec<String> = capabilities
            .split(' ')
            .map(|one| format!("+{}", one.trim_start_matches("CAP_").to_lowercase()))
            .collect();
        let set = format!("--bounding-set=-all,{}", set.join(","));
        let mut command = Command::new("timeout");
        command.args(["-s", "INT", "4", "setpriv", &set, "--inh-caps=-all", "--no-new-privs", PROGRAM]);
        let output = command.args(words.split(' ')).stdin(Stdio::null()).output().expect("timeout runs");
        let said = stdout(&output) + &stderr(&output);
        assert!(said.contains(wanted) && !said.contains("error"), "{name}: {said}");
    }
    comes("it is unregistered", || !is_registered("ff_test_caps"));
}
