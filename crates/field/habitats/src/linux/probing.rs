//! Probes with trains from a UDP socket at host A to a reflector at host B.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::time::Duration;

use firstflight_emulate::B;
use firstflight_measure::Probed;
use firstflight_scenario::{Options, Scenario};
use firstflight_udp::{By, Probing, Reflector, probe};

use super::words::{PORT, Words, command, start_word, wait_for_start};

/// The names of the programs' roles in their arguments.
pub(super) const SENDER: &str = "probe";
pub(super) const RECEIVER: &str = "reflect";

/// The maximum time for the reflector's first answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Returns the commands of the programs at the two hosts.
pub(super) fn commands(scenario: &Scenario) -> [Vec<OsString>; 2] {
    let search = scenario.probe.map_or_else(String::new, |probe| probe.to_string());
    let words = [format!("probe={search}"), format!("packet={}", scenario.packet()), start_word(scenario)];
    [command(SENDER, words), command(RECEIVER, [])]
}

/// Runs the program at host A. It probes, and writes the row to its standard output.
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
    let noted = Probed {
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
    println!("{}", serde_json::to_string(&noted.row()).map_err(|error| error.to_string())?);
    Ok(())
}

/// Runs the program at host B, the reflector.
pub(super) fn reflect(_: &[OsString]) -> Result<(), String> {
    let reflector = Reflector::bind((B.v4, PORT).into()).map_err(|error| error.to_string())?;
    reflector.run(&|| false, &|_| {});
    Ok(())
}
