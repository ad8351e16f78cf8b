//! What to race: from the command line, or a scenario file, to a scenario and a list of schemes.

use std::path::Path;

use firstflight::registry::Registry;
use firstflight_scenario::{
    ByName, ChoiceError, KEYS, OptionError, Options, Scenario, ScenarioFile, SchemeChoice, quantity,
    read_text,
};

use crate::args::{EndOptions, PathOptions, RunOptions};
use crate::failure::{Failure, Place};

impl PathOptions {
    /// What was given, under the lab's keys.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { rate, rtt, queue, cross, mss, packet, size, duration, limit, .. } = self;
        let Self { rounds, idle, spread, clients, app, .. } = self;
        let Self { flows, arrivals, sizes, warm_up, .. } = self;
        let Self { access_rate, reverse_rate, reverse_rtt_share, loss, jitter, qs_hops, .. } = self;
        let Self { policer, rate_trace, ack_aggregation, qs_router, topology, reverse_queue, .. } = self;
        let EndOptions { avoidance, recovery, stack, restart, ack, iw, ssthresh, rwnd, min_rto, .. } =
            &self.ends;
        let flags = [("timestamps", self.ends.timestamps), ("ecn", self.ends.ecn), ("mixed", self.mixed)];
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(key, _)| (key, "true"));
        let values = [
            ("rate", rate),
            ("rtt", rtt),
            ("queue", queue),
            ("cross", cross),
            ("mss", mss),
            ("packet", packet),
            ("size", size),
            ("rounds", rounds),
            ("idle", idle),
            ("spread", spread),
            ("clients", clients),
            ("flows", flows),
            ("arrivals", arrivals),
            ("sizes", sizes),
            ("warm-up", warm_up),
            ("app", app),
            ("duration", duration),
            ("limit", limit),
            ("access-rate", access_rate),
            ("reverse-rate", reverse_rate),
            ("reverse-rtt-share", reverse_rtt_share),
            ("qs-hops", qs_hops),
            ("qs-router", qs_router),
            ("topology", topology),
            ("reverse-queue", reverse_queue),
            ("policer", policer),
            ("rate-trace", rate_trace),
            ("ack-aggregation", ack_aggregation),
            ("loss", loss),
            ("jitter", jitter),
            ("avoidance", avoidance),
            ("recovery", recovery),
            ("stack", stack),
            ("restart", restart),
            ("ack", ack),
            ("iw", iw),
            ("ssthresh", ssthresh),
            ("rwnd", rwnd),
            ("min-rto", min_rto),
        ];
        values.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?))).chain(flags)
    }
}

impl RunOptions {
    /// What was given of what the lab decides, under its keys.
    pub(crate) fn given(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [("runs", &self.runs), ("seed", &self.seed)]
            .into_iter()
            .filter_map(|(key, value)| Some((key, value.as_deref()?)))
    }

    /// Runs at a time; `None` leaves it to the machine.
    pub(crate) fn jobs(&self, arguments: &[String]) -> Result<Option<usize>, Failure> {
        jobs(self.jobs.as_deref(), arguments)
    }
}

/// The value of `--jobs`.
pub(crate) fn jobs(text: Option<&str>, arguments: &[String]) -> Result<Option<usize>, Failure> {
    const MOST: u64 = 1024;
    let Some(text) = text else { return Ok(None) };
    match quantity::count(text) {
        Ok(jobs) if jobs <= MOST => Ok(usize::try_from(jobs).ok()),
        _ => Err(Failure::usage(format!(
            "--jobs: `{text}` is not allowed; a whole number from 1 to {MOST} is"
        ))
        .at(Place::value(arguments, "--jobs", text))),
    }
}

/// Sets what was given on the command line.
pub(crate) fn set<'a>(
    options: &mut Options,
    given: impl Iterator<Item = (&'static str, &'a str)>,
    arguments: &[String],
) -> Result<(), Failure> {
    for (key, text) in given {
        options.set(key, text).map_err(|error| {
            let option = format!("--{key}");
            let found = match &error {
                OptionError::Value { error, .. } => error.found.as_str(),
                OptionError::UnknownKey { .. } => text,
            };
            Failure::usage(format!("--{error}")).at(Place::value(arguments, &option, found))
        })?;
    }
    Ok(())
}

/// Fills in what is unset.
pub(crate) fn resolve(options: &Options, arguments: &[String]) -> Result<Scenario, Failure> {
    Scenario::resolve(options).map_err(|error| {
        let message = error.to_string();
        match key_of(&message).map(|key| format!("--{key}")) {
            Some(option) if arguments.iter().any(|argument| argument.starts_with(&option)) => {
                let place = Place::value(arguments, &option, &option);
                Failure::usage(format!("--{message}")).at(place)
            }
            _ => Failure::usage(message),
        }
    })
}

/// The option that an error of a scenario is about: its message begins with the key.
pub(crate) fn key_of(message: &str) -> Option<&str> {
    message.split(':').next().filter(|key| KEYS.contains(key))
}

/// Reads a scenario file; gives its text too, for places in it.
pub(crate) fn read(registry: Registry, path: &Path) -> Result<(String, ScenarioFile), Failure> {
    let name = path.display().to_string();
    let text = read_text(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    match registry.parse_file(&text) {
        Ok(file) => Ok((text, file)),
        Err(error) => {
            let place = Place::text(&name, &text, error.span.start, error.span.end);
            Err(Failure::usage(format!("{name}: {}", error.message)).at(place))
        }
    }
}

/// Reads the list of schemes; without one, all race.
pub(crate) fn schemes(registry: Registry, list: Option<&str>) -> Result<Vec<SchemeChoice>, ChoiceError> {
    registry.parse_choices(list.unwrap_or("all"))
}
