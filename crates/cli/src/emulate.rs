//! `firstflight emulate`: programs at the two ends of a path, over real packets.

use std::ffi::OsString;
use std::process::ExitCode;

use firstflight::Span;
use firstflight::registry::Registry;
use firstflight_emulate::PathError;
use firstflight_scenario::keys::{Heading, key};
use firstflight_scenario::topology::Topology;
use firstflight_scenario::{ByName, Options, Scenario};

use crate::args::Emulate;
use crate::failure::{Failure, Place};
use crate::reading;
use crate::targets::{Input, check_file, is_same};

mod beside;
#[cfg(target_os = "linux")]
mod results;
#[cfg(target_os = "linux")]
mod running;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use beside::Asked;
pub(crate) use beside::Beside;

/// If this process was started as one of an emulated host, is that and gives its exit code.
pub(crate) fn inside() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        let mut arguments = std::env::args_os().skip(1);
        let first = arguments.next()?;
        (first == firstflight_emulate::linux::INSIDE).then(|| firstflight_emulate::linux::inside(arguments))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// What is to be run, read from the command line.
struct Order<'a> {
    scenario: Scenario,
    /// What was given of the path.
    given: Vec<(&'static str, String)>,
    commands: [Vec<OsString>; 2],
    duration: Option<Span>,
    limit: Option<Span>,
    /// The congestion control that is the sending host's default, in place of the machine's.
    congestion_control: Option<String>,
    /// What is attached to the hosts.
    beside: Option<&'a dyn Beside>,
}

/// `firstflight emulate`.
pub(crate) fn emulate(options: &Emulate, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let order = order(options, registry, arguments)?;
    #[cfg(target_os = "linux")]
    return running::run(options, order, arguments);
    #[cfg(not(target_os = "linux"))]
    {
        drop(order);
        Err(Failure::usage("emulate: real packets are emulated on Linux only; `race` simulates the path"))
    }
}

/// `firstflight emulate` with a congestion control as the sending host's default. `load` gives its name, and what is kept until
/// the run is over; it is called once the options have been found good. `end` gets that, however the run ended.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) fn emulate_with<Kept>(
    options: &Emulate,
    registry: Registry,
    arguments: &[String],
    load: impl FnOnce() -> Result<(String, Kept), Failure>,
    end: impl FnOnce(Kept) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let order = order(options, registry, arguments)?;
    let (name, kept) = load()?;
    let result = running::run(options, Order { congestion_control: Some(name), ..order }, arguments);
    result.and(end(kept))
}

/// `firstflight emulate` with something attached to the hosts.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) fn emulate_beside(
    options: &Emulate,
    registry: Registry,
    arguments: &[String],
    beside: &dyn Beside,
) -> Result<(), Failure> {
    let order = order(options, registry, arguments)?;
    running::run(options, Order { beside: Some(beside), ..order }, arguments)
}

fn order(options: &Emulate, registry: Registry, arguments: &[String]) -> Result<Order<'static>, Failure> {
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
    let trace = all.rate_trace_file.as_deref();
    let inputs: Vec<_> = trace.map(|path| Input { what: "rate trace", path }).into_iter().collect();
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
        given: path.given.clone(),
        commands: if *shell { [shell_of_user(), Vec::new()] } else { two(commands)? },
        duration: all.duration,
        limit: all.limit,
        congestion_control: None,
        beside: None,
    })
}

/// The options without those that end a run: the goal of a race is none of the path.
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

/// A path that real packets cannot have.
fn impossible(error: &PathError, arguments: &[String]) -> Failure {
    let Some(key) = error.key() else { return Failure::usage(error) };
    let option = format!("--{key}");
    Failure::usage(format!("--{error}")).at(Place::value(arguments, &option, &option))
}

/// Why a key is refused; `None` if it is taken.
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

/// The user's shell.
fn shell_of_user() -> Vec<OsString> {
    let own = std::env::var_os("SHELL").filter(|shell| !shell.is_empty());
    vec![own.unwrap_or_else(|| "/bin/sh".into())]
}

/// The two commands, which `--` parts.
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
    fn what_simulated_hosts_do_is_refused_and_the_path_is_not() {
        for name in ["size", "flows", "iw", "stack", "runs", "app"] {
            assert!(refusal(name).is_some(), "{name}");
        }
        for name in ["rate", "queue", "loss", "jitter", "seed", "duration", "limit", "qs-router", "topology"]
        {
            assert_eq!(refusal(name), None, "{name}");
        }
    }
}
