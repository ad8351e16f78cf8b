//! Trains from a UDP socket at host A to a reflector at host B.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use firstflight_emulate::B;
use firstflight_live::{By, Probing, Reflector, probe};
use firstflight_measure::Probed;
use firstflight_scenario::{Options, Scenario};

use super::words::{PORT, Words, command, start_word, wait_for_start};

/// The roles in the arguments.
pub(super) const SENDER: &str = "probe";
pub(super) const RECEIVER: &str = "reflect";

/// How long the reflector may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The programs of a run.
pub(super) fn commands(scenario: &Scenario) -> [Vec<OsString>; 2] {
    let search = scenario.probe.map_or_else(String::new, |probe| probe.to_string());
    let words = [format!("probe={search}"), format!("packet={}", scenario.packet()), start_word(scenario)];
    [command(SENDER, words), command(RECEIVER, [])]
}

/// The program at host A: probes, and writes the row to its standard output.
pub(super) fn send(words: &[OsString]) -> Result<(), String> {
    let words = Words::new(words)?;
    let mut options = Options::default();
    options.set("probe", words.of("probe")?).map_err(|error| error.to_string())?;
    let choice = options.plain.probe.ok_or("no trains")?;
    let setting = choice.setting(words.number("packet")?);
    wait_for_start(&words)?;
    let probing = Probing { setting, by: Some(By::Reflector), patience: PATIENCE };
    let probed =
        probe(SocketAddr::from((B.v4, PORT)), &probing, &|| false).map_err(|error| error.to_string())?;
    let told = Probed {
        search: choice.to_string(),
        wire: probed.setting.wire,
        estimate: &probed.estimate,
        began: probed.began,
        ended: probed.ended,
        rtt: probed.rtt,
        available: None,
        least_truth: 0.0,
        seed: 0,
        scenario_hash: String::new(),
    };
    println!("{}", serde_json::to_string(&told.row()).map_err(|error| error.to_string())?);
    Ok(())
}

/// The program at host B.
pub(super) fn reflect(_: &[OsString]) -> Result<(), String> {
    let reflector = Reflector::bind((B.v4, PORT).into()).map_err(|error| error.to_string())?;
    reflector.run(&|| false, &|_| {});
    Ok(())
}
