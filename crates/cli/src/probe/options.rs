//! The options of `firstflight probe`, and those of `race` that it refuses.

use clap::{Arg, Args, ValueEnum};
use firstflight_scenario::keys::{Key, key};

use crate::failure::{Failure, Place};
use crate::keys::{PathKeys, SCHEMES};
use crate::options::{OutputOptions, RunOptions};

#[derive(Args, Debug)]
#[command(mut_args(of_probe))]
pub(crate) struct Probe {
    #[command(flatten)]
    pub(crate) real: Real,
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// Returns an option of `probe`. An option that `probe` refuses is hidden from the help.
fn of_probe(option: Arg) -> Arg {
    let name = option.get_id().as_str().to_owned();
    let option = option.hide(is_refused(&name));
    match name.as_str() {
        "probe" => option.help(
            "How trains search for the turning point: bracket, paper, program, or gap:TIME for one gap, then any of \
             packets=N,repeats=N,trains=N,tolerance=SHARE,slack=TIME [bracket]",
        ),
        "figure" => {
            option.help("Write gap difference over source gap as a figure, the first run's trains: SVG, or PNG or PDF by the ending")
        }
        _ => option,
    }
}

/// The peer of a real path, and the source of arrival times.
#[derive(Args, Debug)]
pub(crate) struct Real {
    /// A real path instead of a simulated one: where `reflect` or `serve` listens.
    #[arg(value_name = "HOST:PORT")]
    pub(super) peer: Option<String>,
    /// The source of arrival times: a reflector, a server's ACKs, or whichever answers.
    #[arg(long, value_name = "WHO", default_value = "any", help_heading = "Real paths", requires = "peer")]
    pub(super) by: Who,
    /// How long the peer may take to answer at all.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5s",
        help_heading = "Real paths",
        requires = "peer",
        allow_hyphen_values = true
    )]
    pub(super) timeout: String,
}

/// Who is to say when packets arrive.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    /// Whichever answers.
    Any,
    /// `firstflight reflect`.
    Reflector,
    /// A server, by its ACKs.
    Acks,
}

/// The outputs that only flows have.
const OUTPUTS: [&str; 12] = [
    "report",
    "figure_until",
    "figure_overlay",
    "figure_size",
    "figure_font",
    "series",
    "pcap",
    "snap",
    "events",
    "qlog",
    "qlog_schema",
    "each_flow",
];

/// Checks whether an option of `race`, given by its identifier, is refused because it does not apply to trains.
pub(super) fn is_refused(name: &str) -> bool {
    key(name).is_some_and(Key::is_of_flows) || name == SCHEMES || OUTPUTS.contains(&name)
}

/// Returns the failure for an option that only flows have.
pub(super) fn of_flows(option: &str, arguments: &[String]) -> Failure {
    Failure::usage(format!("{option}: it is of flows, and a probing sends trains; `firstflight race` has it"))
        .at(Place::value(arguments, option, option))
}

/// Refuses the options that only flows have.
pub(super) fn refuse_what_is_of_flows(
    runs: &RunOptions,
    to: &OutputOptions,
    arguments: &[String],
) -> Result<(), Failure> {
    let given = [
        ("--report", to.report.is_some()),
        ("--figure-until", to.look.until.is_some()),
        ("--figure-overlay", to.look.overlay),
        ("--figure-size", to.look.size.size.is_some()),
        ("--figure-font", to.look.size.font.is_some()),
        ("--series", to.series.is_some()),
        ("--pcap", to.pcap.is_some()),
        ("--snap", to.snap.is_some()),
        ("--events", to.events.is_some()),
        ("--qlog", to.qlog.is_some()),
        ("--each-flow", runs.each_flow),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(of_flows(option, arguments)),
        None => Ok(()),
    }
}
