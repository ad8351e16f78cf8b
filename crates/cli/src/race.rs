//! `firstflight race` and `firstflight run`: order, race, and everything that is written.

use std::num::NonZeroU32;

use firstflight::registry::Registry;
use firstflight_lab::{How, LinkSlot, MakeClientTap, RunError, Slots, race, references, without_ideal};
use firstflight_measure::{Recording, Row, SchemeResult};
use firstflight_report::Rows;
use firstflight_report::svg::figure;
use firstflight_scenario::{
    ByName, CastError, ChoiceError, OptionError, Replaced, SUBJECTS, Scenario, ScenarioError, ScenarioFault,
    SchemeChoice, over_restarts, quantity,
};

use crate::args::{OutputOptions, Race, Run, RunOptions};
use crate::drawings::{Drawings, base_path};
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::keys::SCHEMES;
use crate::output;
use crate::population;
use crate::probe;
use crate::progress::Progress;
use crate::reading;
use crate::results::Results;
use crate::taps::{Logs, flow_name};
use crate::targets::Input;

/// `firstflight race`.
pub(crate) fn from_options(race: &Race, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let mut options = registry.options();
    reading::set(&mut options, race.path.given.iter().chain(&race.runs.keys.given), arguments)?;
    let list = race.path.schemes.as_deref();
    let choices = reading::schemes(registry, list).map_err(|error| {
        let place = list.and_then(|list| Place::value(arguments, "--schemes", fault(&error, list)));
        Failure::usage(format!("--schemes: {error}")).at(place)
    })?;
    let choices = over_restarts(choices, &options).map_err(|error| Failure::usage(error.to_string()))?;
    let scenario = reading::resolve(&options, arguments)?;
    let trace = options.rate_trace_file.as_deref();
    let inputs: Vec<_> = trace.map(|path| Input { what: "rate trace", path }).into_iter().collect();
    let notes = Vec::new();
    run(&scenario, (list, &choices), &race.runs, &race.output, &inputs, notes, arguments)
}

/// `firstflight run SCENARIO.toml`, with options over the file's.
pub(crate) fn from_file(file: &Run, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let name = file.scenario.display().to_string();
    let (text, said) = reading::read(registry, &file.scenario)?;
    let given: Vec<_> = file.path.given.iter().chain(&file.runs.keys.given).cloned().collect();
    reading::set(&mut registry.options(), given.iter(), arguments)?;
    let (options, replaced) = said.options.with(&given).map_err(Failure::usage)?;
    let of_file = said.schemes.as_ref().map(|(list, _)| list.as_str());
    let list = file.path.schemes.as_deref().map(|over| reading::over(of_file, over));
    let choices = reading::schemes(registry, list.as_deref().or(of_file)).map_err(|error| {
        if let Some(list) = &list {
            let place = Place::value(arguments, "--schemes", fault(&error, list));
            return Failure::usage(format!("--schemes: {error}")).at(place);
        }
        let place = said.schemes.as_ref().and_then(|(list, span)| {
            let found = fault(&error, list);
            let inside =
                text.get(span.clone()).and_then(|value| value.rfind(found)).map(|at| span.start + at);
            let (from, to) = inside.map_or((span.start, span.end), |from| (from, from + found.len()));
            Place::text(&name, &text, from, to)
        });
        Failure::usage(format!("{name}: schemes: {error}")).at(place)
    })?;
    let choices = over_restarts(choices, &options).map_err(|error| Failure::usage(error.to_string()))?;
    let scenario = Scenario::resolve(&options).map_err(|error| {
        let away = of_subject(&error, &given).map_or_else(String::new, |key| {
            format!("; `{key}` is what {name} is about, and `--{key} none` takes it away")
        });
        if given.iter().any(|(key, _)| *key == error.key) {
            return Failure::usage(format!("--{error}{away}")).at(reading::place(&error, arguments));
        }
        let place = match error.fault {
            ScenarioFault::OfFlow { number, .. } => said
                .flows
                .get(number - 1)
                .and_then(|flow| Place::text(&name, &text, flow.whole.start, flow.whole.end)),
            _ => Place::key(&name, &text, error.key),
        };
        Failure::usage(format!("{name}: {error}{away}")).at(place)
    })?;
    if let Some((key, why)) = options.not_of_trains() {
        let option = format!("--{}", key.name);
        if given.iter().any(|(given, _)| *given == key.name) {
            return Err(Failure::usage(format!("--{why}")).at(Place::value(arguments, &option, &option)));
        }
        return Err(Failure::usage(format!("{name}: {why}")).at(Place::key(&name, &text, key.name)));
    }
    if scenario.probe.is_some() && said.schemes.is_some() {
        let why = format!("{name}: schemes: a probing sends trains, and no scheme runs");
        return Err(Failure::usage(why).at(Place::key(&name, &text, SCHEMES)));
    }
    let notes = replaced.iter().map(|Replaced { key, by }| format!("--{by} replaces `{key}` of {name}"));
    let trace = options.rate_trace_file.as_deref();
    let mut inputs = vec![Input { what: "scenario", path: &file.scenario }];
    inputs.extend(trace.map(|path| Input { what: "rate trace", path }));
    let list = list.as_deref().or(of_file);
    run(&scenario, (list, &choices), &file.runs, &file.output, &inputs, notes.collect(), arguments)
}

/// Of an option that excludes what the file is about, the file's key.
fn of_subject(error: &ScenarioError, given: &[(&'static str, String)]) -> Option<&'static str> {
    let ScenarioFault::Excluded { other, .. } = error.fault else { return None };
    let in_file = |key: &&&str| !given.iter().any(|(given, _)| given == *key);
    [error.key, other].iter().filter(in_file).find(|key| SUBJECTS.contains(key)).copied()
}

fn run(
    scenario: &Scenario,
    (list, choices): (Option<&str>, &[SchemeChoice]),
    runs: &RunOptions,
    to: &OutputOptions,
    inputs: &[Input<'_>],
    mut notes: Vec<String>,
    arguments: &[String],
) -> Result<(), Failure> {
    let cast =
        scripted(scenario).map_err(|error| population::cast_failure(&error, scenario, inputs, arguments))?;
    if cast.is_some() && list.is_some() {
        notes.push("schemes: every flow has its own scheme, so nothing comes of the list".to_owned());
    }
    let choices = cast.as_deref().unwrap_or(choices);
    if scenario.population.is_some() {
        let (choices, left_out) = population::can_run(list, choices);
        notes.extend(left_out);
        return population::run(scenario, &choices, runs, to, inputs, notes, arguments);
    }
    if scenario.probe.is_some() {
        return probe::run(scenario, runs, to, inputs, &notes, arguments);
    }
    if runs.each_train {
        let place = Place::value(arguments, "--each-train", "--each-train");
        return Err(Failure::usage(EACH_TRAIN).at(place));
    }
    if runs.each_flow {
        let place = Place::value(arguments, "--each-flow", "--each-flow");
        return Err(Failure::usage(EACH_FLOW).at(place));
    }
    let jobs = runs.jobs(arguments)?;
    let style = to.table.style(Rows::Race, &scenario.window_fields(), arguments)?;
    let figure_until = figure_until(to, choices.len(), arguments)?;
    let clients = scenario.rounds.map_or(1, |rounds| rounds.clients);
    let of_flows: Vec<String> =
        choices.iter().filter(|_| clients > 1).map(|choice| flow_name("", choice)).collect();
    to.check(choices, &of_flows, inputs, arguments)?;
    let logs = Logs::new(scenario, choices, to, arguments)?;
    notes.extend(scenario.ineffective(choices));
    output::note(&notes);

    let interrupt = Interrupt::listen();
    let total = u64::from(scenario.runs) * choices.len() as u64;
    let progress = Progress::new(total);
    let drawings = Drawings::new(to, base_path(scenario));
    let record = |recording: &Recording| drawings.take(recording);
    let client_tap = |choice: &SchemeChoice, seed, client| logs.of_client(choice, seed, client);
    let take_slot = |slot: LinkSlot<'_>| logs.take_slot(slot);
    let how = How {
        jobs,
        record: if drawings.are_wanted() { Some(&record) } else { None },
        progress: &|done, _, name| progress.show(done, name),
        interrupted: &|| interrupt.happened(),
        tap: &|choice, seed| logs.of_run(choice, seed),
        client_tap: logs.are_wanted().then_some(&client_tap as MakeClientTap<'_>),
        slots: logs.slot().map(|length| Slots { length, take: &take_slot }),
        ..How::default()
    };
    let raced = race(scenario, choices, &how);
    let raced = match raced {
        Err(RunError::Interrupted) => Vec::new(),
        other => other.map_err(Failure::usage)?,
    };
    let references = match references(scenario, choices, &raced, &how) {
        Err(RunError::Interrupted) => Vec::new(),
        other => other.map_err(Failure::usage)?,
    };
    drop(progress);

    // A transfer that finished lacks a cost if there is no ideal; one that did not may lack it, too.
    let lacks_ideal = |row: &Row| row.ideal_fct_s == Some(None);
    let without = raced.iter().flat_map(|result| &result.rows).any(lacks_ideal);
    let missing = if interrupt.happened() { missing(scenario, choices, &raced) } else { Vec::new() };
    let program = arguments.first().map_or("", String::as_str);
    let results = Results::new((scenario, choices), (raced, references), runs, missing, drawings, program);
    let written = results.write(to, &style, figure_until);
    if without {
        output::note(&[without_ideal(scenario)]);
    }
    logs.finish(to).and(written)
}

/// The schemes of a script whose flows all have their own.
fn scripted(scenario: &Scenario) -> Result<Option<Vec<SchemeChoice>>, CastError> {
    if scenario.script.is_empty() || scenario.has_row_scheme() {
        return Ok(None);
    }
    Ok(Some(scenario.cast(None)?.choices))
}

const EACH_TRAIN: &str = "--each-train: flows are raced; trains are sent with --probe";

const EACH_FLOW: &str = "--each-flow: one flow is measured; for a row a flow say how many are with --flows";

/// The part of a list of schemes that is at fault.
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

/// The rows that an interrupt left without all their runs: name, and how many are there.
fn missing(scenario: &Scenario, choices: &[SchemeChoice], raced: &[SchemeResult]) -> Vec<String> {
    let wanted = scenario.runs as usize;
    let of = |choice: &SchemeChoice| {
        let rows = raced.iter().find(|result| result.name == choice.name()).map_or(0, |one| one.rows.len());
        (rows < wanted).then(|| format!("{} {rows} of {wanted}", choice.name()))
    };
    choices.iter().filter_map(of).collect()
}

/// How long the figure is to be in nanoseconds, if that was said; and that there can be one.
pub(crate) fn figure_until(
    output: &OutputOptions,
    rows: usize,
    arguments: &[String],
) -> Result<Option<u64>, Failure> {
    if let Some(file) = &output.figure {
        figure::check(rows).map_err(|error| {
            Failure::usage(format!("--figure: {error}")).at(Place::value(
                arguments,
                "--figure",
                &file.to_string_lossy(),
            ))
        })?;
    }
    let Some(text) = &output.figure_until else { return Ok(None) };
    let span = quantity::span(text).map_err(|error| {
        Failure::usage(format!("--figure-until: {error}")).at(Place::value(arguments, "--figure-until", text))
    })?;
    Ok(Some(span.nanos()))
}

/// The bytes kept of a captured packet.
pub(crate) fn snap(text: Option<&str>, arguments: &[String]) -> Result<Option<NonZeroU32>, Failure> {
    let Some(text) = text.filter(|text| *text != "all") else { return Ok(None) };
    let bytes = quantity::count(text.trim_end_matches('B')).ok().and_then(|bytes| u32::try_from(bytes).ok());
    match bytes.and_then(NonZeroU32::new).filter(|bytes| bytes.get() <= 65_535) {
        Some(bytes) => Ok(Some(bytes)),
        None => Err(Failure::usage(format!(
            "--snap: `{text}` is not allowed; bytes from 1 to 65535 are, as in `128B`, or `all`"
        ))
        .at(Place::value(arguments, "--snap", text))),
    }
}
