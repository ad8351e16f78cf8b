//! What to race: from the command line, or a scenario file, to a scenario and a list of schemes.

use std::path::Path;

use firstflight::registry::Registry;
use firstflight_scenario::{
    ByName, ChoiceError, OptionError, Options, Scenario, ScenarioError, ScenarioFault, ScenarioFile,
    SchemeChoice, quantity, read_text,
};

use crate::args::RunOptions;
use crate::failure::{Failure, Place};

impl RunOptions {
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
    given: impl Iterator<Item = &'a (&'static str, String)>,
    arguments: &[String],
) -> Result<(), Failure> {
    for (key, text) in given {
        options.set(key, text).map_err(|error| {
            let option = format!("--{key}");
            // Of a list, the first entry that cannot be read by itself.
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

/// Fills in what is unset.
pub(crate) fn resolve(options: &Options, arguments: &[String]) -> Result<Scenario, Failure> {
    Scenario::resolve(options).map_err(|error| {
        if options.given(error.key).is_none() {
            return Failure::usage(error);
        }
        Failure::usage(format!("--{error}")).at(place(&error, arguments))
    })
}

/// The option of the command line that a scenario's error blames; of several flows, the flow.
pub(crate) fn place(error: &ScenarioError, arguments: &[String]) -> Option<Place> {
    let option = format!("--{}", error.key);
    match error.fault {
        ScenarioFault::OfFlow { number, .. } => Place::entry(arguments, &option, number, ""),
        _ => Place::value(arguments, &option, &option),
    }
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

/// A list of schemes over a file's: one that begins by taking away takes away from the file's list, or from all.
pub(crate) fn over(of_file: Option<&str>, list: &str) -> String {
    match of_file {
        Some(of_file) if list.trim_start().starts_with('-') => format!("{of_file},{list}"),
        _ => list.to_owned(),
    }
}

/// Reads the list of schemes; without one, all race.
pub(crate) fn schemes(registry: Registry, list: Option<&str>) -> Result<Vec<SchemeChoice>, ChoiceError> {
    registry.parse_choices(list.unwrap_or("all"))
}
