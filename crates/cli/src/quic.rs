//! What races with flows in a QUIC stack refuse, and what they report.

use firstflight_scenario::{Scenario, SchemeChoice};

use crate::failure::{Failure, Place};
use crate::options::OutputOptions;

/// The controller whose random numbers come from the system.
const UNSEEDED: &str = "noq:bbr3";

/// Refuses the logs that a QUIC flow cannot have.
pub(crate) fn refuse_logs(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    to: &OutputOptions,
    arguments: &[String],
) -> Result<(), Failure> {
    let Some(choice) = choices.iter().find(|choice| scenario.for_scheme(choice).quic.is_some()) else {
        return Ok(());
    };
    let logs =
        [("--pcap", &to.pcap), ("--events", &to.events), ("--qlog", &to.qlog), ("--series", &to.series)];
    let Some((option, _)) = logs.iter().find(|(_, path)| path.is_some()) else { return Ok(()) };
    let message = format!("{option}: {} runs in a QUIC stack, and only TCP senders have it", choice.name());
    Err(Failure::usage(message).at(Place::value(arguments, option, option)))
}

/// Returns a note if a controller is among the schemes whose long runs cannot be repeated.
pub(crate) fn note(choices: &[SchemeChoice]) -> Option<String> {
    let is_there = choices.iter().any(|choice| choice.entry.name == UNSEEDED);
    is_there.then(|| {
        format!(
            "{UNSEEDED} seeds its probes for bandwidth from the system: once it has probed, seconds after start-up, its rows differ \
             from run to run"
        )
    })
}
