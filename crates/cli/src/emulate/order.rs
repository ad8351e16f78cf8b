//! The options of `firstflight emulate`, and the run that they request.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use firstflight::Span;
use firstflight::registry::Registry;
use firstflight_emulate::PathError;
use firstflight_scenario::keys::{Heading, key};
use firstflight_scenario::topology::Topology;
use firstflight_scenario::{ByName, Options, Scenario};

use super::beside::Beside;
use crate::failure::{Failure, Place};
use crate::keys::RealKeys;
use crate::reading;
use crate::targets::{check_file, is_same};

#[derive(Args, Debug)]
#[command(
    override_usage = "firstflight emulate [OPTIONS] -- CMD_A... -- CMD_B...\n       firstflight emulate [OPTIONS] --shell",
    after_help = "In the commands {A}, {B}, {A6} and {B6} are the addresses of the hosts: 10.0.0.1, 10.0.0.2, fd00:ff::1, \
    fd00:ff::2. The run ends with host A's command."
)]
pub(crate) struct Emulate {
    #[command(flatten)]
    pub(crate) path: RealKeys,
    /// The host that sends: the forward way, with the bottleneck, begins there.
    #[arg(long, value_name = "HOST", default_value = "a", help_heading = "Hosts", ignore_case = true)]
    pub(crate) sender: Sender,
    /// A shell at host A instead of commands; says how another terminal gets one at host B.
    #[arg(long, conflicts_with = "commands", help_heading = "Hosts")]
    pub(crate) shell: bool,
    /// The command at host A, `--`, and the command at host B, which starts first.
    #[arg(last = true, value_name = "CMD", hide = true)]
    pub(crate) commands: Vec<OsString>,
    /// Print only JSON, one line; the commands' standard output goes to standard error.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write each packet at both ends as pcapng, with what became of it.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) log: Option<PathBuf>,
    /// Write a report of the log's connections: one HTML file that opens offline.
    #[arg(long, value_name = "FILE", requires = "log", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

/// A host of an emulated path.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// Host A.
    A,
    /// Host B.
    B,
}

/// The run that the command line requests.
pub(super) struct Order<'a> {
    pub(super) scenario: Scenario,
    pub(super) commands: [Vec<OsString>; 2],
    pub(super) duration: Option<Span>,
    pub(super) limit: Option<Span>,
    /// The congestion control that is the sending host's default; `None` for the machine's default.
    pub(super) congestion_control: Option<String>,
    /// An attachment to the hosts; `None` if there is none.
    pub(super) beside: Option<&'a dyn Beside>,
}

/// Reads the run from the options.
pub(super) fn order(
    options: &Emulate,
    registry: Registry,
    arguments: &[String],
) -> Result<Order<'static>, Failure> {
    let Emulate { path, log, report, shell, commands, .. } = options;
    if path.schemes.is_some() {
        let place = Place::value(arguments, "--schemes", "--schemes");
        return Err(Failure::usage(
            "--schemes: the programs bring their own start-up; race compares schemes",
        )
        .at(place));
    }
    if let Some((name, why)) = path.given.iter().find_map(|(name, _)| Some((name, refusal(name)?))) {
        let option = format!("--{name}");
        return Err(Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, &option, &option)));
    }
    let mut all = registry.options();
    reading::set(&mut all, path.given.iter(), arguments)?;
    if all.duration.is_some() && all.limit.is_some() {
        let message = "--limit: a run with a duration ends with it";
        return Err(Failure::usage(message).at(Place::value(arguments, "--limit", "--limit")));
    }
    if matches!(all.plain.topology, Topology::Hosts(_)) {
        return Err(impossible(&PathError::Hosts, arguments));
    }
    let scenario = reading::resolve(&of_the_links(registry, &path.given, arguments)?, arguments)?;
    let inputs = reading::traces(&all);
    for (option, file) in [("--log", log), ("--report", report)] {
        if let Some(file) = file {
            check_file(option, file, &inputs, arguments)?;
        }
    }
    if let (Some(log), Some(report)) = (log, report)
        && is_same(log, report)
    {
        let message = format!("--report: {} is --log's file too", report.display());
        return Err(Failure::usage(message).at(Place::value(
            arguments,
            "--report",
            &report.to_string_lossy(),
        )));
    }
    Ok(Order {
        scenario,
        commands: if *shell { [shell_of_user(), Vec::new()] } else { two(commands)? },
        duration: all.duration,
        limit: all.limit,
        congestion_control: None,
        beside: None,
    })
}

/// Returns the options without those that end a run, because the goal of a race is not a property of the path.
fn of_the_links(
    registry: Registry,
    given: &[(&'static str, String)],
    arguments: &[String],
) -> Result<Options, Failure> {
    let mut options = registry.options();
    let of_links = given.iter().filter(|(name, _)| !["duration", "limit"].contains(name));
    reading::set(&mut options, of_links, arguments)?;
    Ok(options)
}

/// Returns the failure for a path that cannot be emulated with real packets.
pub(super) fn impossible(error: &PathError, arguments: &[String]) -> Failure {
    let Some(key) = error.key() else { return Failure::usage(error) };
    let option = format!("--{key}");
    Failure::usage(format!("--{error}")).at(Place::value(arguments, &option, &option))
}

/// Returns why a key is refused; `None` if it is accepted.
fn refusal(name: &str) -> Option<&'static str> {
    let key = key(name).filter(|key| !key.real)?;
    Some(match key.heading {
        Heading::Path => "the programs decide what is sent and when",
        Heading::Endpoints | Heading::Schemes => {
            "the hosts' own transport decides; set it in the command, as with sysctl, which is a host's own"
        }
        Heading::Runs => "one run is emulated at a time",
    })
}

/// Returns the user's shell.
fn shell_of_user() -> Vec<OsString> {
    let own = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    vec![own.unwrap_or_else(|| "/bin/sh".into())]
}

/// Splits the words at `--` into the commands of the two hosts.
fn two(words: &[OsString]) -> Result<[Vec<OsString>; 2], Failure> {
    const WANTED: &str = "two commands are wanted: `emulate OPTIONS -- CMD_A -- CMD_B`, or --shell";
    let commands: Vec<_> = words.split(|word| word == "--").map(<[OsString]>::to_vec).collect();
    match <[Vec<OsString>; 2]>::try_from(commands) {
        Ok([a, b]) if !a.is_empty() && !b.is_empty() => Ok([a, b]),
        Ok(_) => Err(Failure::usage(format!("a command is empty; {WANTED}"))),
        Err(commands) if commands.len() < 2 => {
            Err(Failure::usage(format!("one command or none is given; {WANTED}")))
        }
        Err(_) => Err(Failure::usage(format!(
            "`--` stands more than once between the commands; {WANTED}; a command that has `--` goes into `sh -c '…'`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn two_commands_are_parted_by_dashes() {
        let [a, b] = two(&words("curl -o x -- nginx -p y")).expect("two");
        assert_eq!((a, b), (words("curl -o x"), words("nginx -p y")));
        for wrong in ["", "a", "a --", "-- b", "--", "a -- b -- c"] {
            let failure = two(&words(wrong)).expect_err(wrong).to_string();
            assert!(failure.contains("CMD_A -- CMD_B"), "{wrong}: {failure}");
        }
    }

    #[test]
    fn options_of_simulated_hosts_are_refused_and_options_of_the_path_accepted() {
        for name in ["size", "flows", "iw", "stack", "runs", "app"] {
            assert!(refusal(name).is_some(), "{name}");
        }
        for name in ["rate", "queue", "loss", "jitter", "seed", "duration", "limit", "qs-router", "topology"]
        {
            assert_eq!(refusal(name), None, "{name}");
        }
    }
}
