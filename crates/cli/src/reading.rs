//! Reads the race to run, from the command line or a scenario file. The result is a scenario and a list of schemes.

use std::path::Path;
use std::sync::Arc;

use firstflight::registry::Registry;
use firstflight_scenario::{
    ByName, ChoiceError, OptionError, Options, Scenario, ScenarioError, ScenarioFault, ScenarioFile,
    SchemeChoice, quantity, read_text,
};

use firstflight_stacks::QuicStacks;

use crate::failure::{Failure, Place};
use crate::options::RunOptions;
use crate::targets::Input;

impl RunOptions {
    /// Returns the number of runs at a time; `None` for the number of processors.
    pub(crate) fn jobs(&self, arguments: &[String]) -> Result<Option<usize>, Failure> {
        jobs(self.jobs.as_deref(), arguments)
    }
}

/// Returns the files from which the options read rates and delays over time.
pub(crate) fn traces(options: &Options) -> Vec<Input<'_>> {
    let rates = options.rate_trace_file.as_deref().map(|path| Input { what: "rate trace", path });
    let delays = options.delay_trace_file.as_deref().map(|path| Input { what: "delay trace", path });
    rates.into_iter().chain(delays).collect()
}

/// Returns the value of `--jobs`; `None` if it was not given.
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

/// Sets the options given on the command line.
pub(crate) fn set<'a>(
    options: &mut Options,
    given: impl Iterator<Item = &'a (&'static str, String)>,
    arguments: &[String],
) -> Result<(), Failure> {
    for (key, text) in given {
        options.set(key, text).map_err(|error| {
            let option = format!("--{key}");
            // The fault is in the first entry of a list that cannot be parsed alone.
            let entry = text.split(';').position(|entry| options.clone().set(key, entry).is_err());
            let found = match &error {
                OptionError::Value { error, .. } => error.found.as_str(),
                OptionError::UnknownKey { .. } => text,
            };
            let place = entry.and_then(|entry| Place::entry(arguments, &option, entry + 1, found));
            Failure::usage(format!("--{error}")).at(place.or_else(|| Place::value(arguments, &option, found)))
        })?;
    }
    Ok(())
}

/// Returns the scenario of these options, with defaults for the others.
pub(crate) fn resolve(options: &Options, arguments: &[String]) -> Result<Scenario, Failure> {
    Scenario::resolve(options).map_err(|error| {
        if options.given(error.key).is_none() {
            return Failure::usage(error);
        }
        Failure::usage(format!("--{error}")).at(place(&error, arguments))
    })
}

/// Returns the place of the option that caused a scenario's error. If the option lists flows, this is the place of the faulty flow.
pub(crate) fn place(error: &ScenarioError, arguments: &[String]) -> Option<Place> {
    let option = format!("--{}", error.key);
    match error.fault {
        ScenarioFault::OfFlow { number, .. } => Place::entry(arguments, &option, number, ""),
        _ => Place::value(arguments, &option, &option),
    }
}

/// Reads a scenario file. Also returns its text, so that errors can show the faulty place.
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

/// Combines a list of schemes with the list in a file. A list that starts with a removal removes from the file's list, or from all schemes
/// if the file has none.
pub(crate) fn over(of_file: Option<&str>, list: &str) -> String {
    match of_file {
        Some(of_file) if list.trim_start().starts_with('-') => format!("{of_file},{list}"),
        _ => list.to_owned(),
    }
}

/// Reads a list of schemes. Without a list, returns all schemes.
pub(crate) fn schemes(registry: Registry, list: Option<&str>) -> Result<Vec<SchemeChoice>, ChoiceError> {
    Ok(with_stacks(registry.parse_choices(list.unwrap_or("all"))?))
}

/// Returns the choices with the QUIC stacks in which their flows may run.
pub(crate) fn with_stacks(choices: Vec<SchemeChoice>) -> Vec<SchemeChoice> {
    choices.into_iter().map(|choice| choice.with_stacks(Arc::new(QuicStacks))).collect()
}

/// Returns the part of a list of schemes in which the error is.
pub(crate) fn fault<'a>(error: &'a ChoiceError, list: &'a str) -> &'a str {
    match error {
        ChoiceError::Unknown { found, .. }
        | ChoiceError::Stray { found }
        | ChoiceError::NotAParameter { found }
        | ChoiceError::TakenWithParameters { found }
        | ChoiceError::Label { found } => found,
        ChoiceError::Value { error, .. }
        | ChoiceError::Own { error: OptionError::Value { error, .. }, .. } => &error.found,
        ChoiceError::Own { error: OptionError::UnknownKey { key, .. }, .. } => key,
        ChoiceError::Twice { name } | ChoiceError::NotListed { name } => name,
        ChoiceError::NothingLeft | ChoiceError::Empty | ChoiceError::Parameter(_) | ChoiceError::Host(_) => {
            list
        }
    }
}
