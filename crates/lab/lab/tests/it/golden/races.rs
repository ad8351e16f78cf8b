//! The golden races and their hashes.

#![allow(unreachable_pub, reason = "tests and the example use it each in its own way")]

use std::path::{Path, PathBuf};

use firstflight_lab::{How, populations, race};
use firstflight_scenario::{Scenario, over_restarts, parse_choices, parse_file};
use serde::Serialize;

/// The races, in order of name.
pub const RACES: [&str; 5] = ["built-in", "lossy", "managed", "population", "restart"];

/// The folder of the golden results.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../golden").canonicalize().expect("the folder golden")
}

/// The hash of a race's rows as `--json` prints them, but in the order of the list, and of each flow's where there are
/// many: FNV-1a of 64 bits.
pub fn hash(name: &str, jobs: usize) -> String {
    let text = std::fs::read_to_string(root().join(format!("races/{name}.toml"))).expect("a race");
    let file = parse_file(&text).expect("a scenario");
    let (list, _) = file.schemes.expect("schemes");
    let scenario = Scenario::resolve(&file.options).expect("a scenario");
    let choices = over_restarts(parse_choices(&list).expect("schemes"), &file.options).expect("policies");
    let how = How { jobs: Some(jobs), ..How::default() };
    let mut rows = Vec::new();
    if scenario.population.is_some() {
        for result in populations(&scenario, &choices, true, &how).expect("a race") {
            rows.push(line(&result.object()));
            rows.extend(result.flows.iter().map(line));
        }
    } else {
        let results = race(&scenario, &choices, &how).expect("a race");
        rows.extend(results.iter().map(|result| line(&result.object())));
    }
    let bytes = rows.into_iter().flat_map(String::into_bytes);
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn line<T: Serialize>(row: &T) -> String {
    serde_json::to_string(row).expect("a row") + "\n"
}
