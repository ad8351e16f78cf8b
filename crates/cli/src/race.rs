//! `firstflight race` and `firstflight run`: reads the options, runs the race, and writes all outputs.

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::Args;
use firstflight::registry::Registry;
use firstflight_lab::{
    Completed, How, MakeClientTap, RecordFurther, RunError, race_until_interrupted, references,
    under_one_law, without_ideal,
};
use firstflight_measure::{Recording, Reference, Row, SchemeResult, ranked_under};
use firstflight_report::Rows;
use firstflight_scenario::{
    ByName, CastError, Replaced, SUBJECTS, Scenario, ScenarioError, ScenarioFault, SchemeChoice,
    over_restarts,
};

use crate::checks::CheckOptions;
use crate::contest::{Order, Raced, Ran, carry_out, refuse_trains};
use crate::drawings::{Drawings, base_path};
use crate::failure::{Failure, Place};
use crate::figures::Look;
use crate::keys::{PathKeys, SCHEMES};
use crate::options::{OutputOptions, RunOptions};
use crate::output;
use crate::partial::{Partial, WITHOUT_REFERENCES};
use crate::population;
use crate::probe;
use crate::quic;
use crate::reading;
use crate::results::Results;
use crate::taps::{Logs, flow_name};
use crate::targets::Input;

#[derive(Args, Debug)]
pub(crate) struct Race {
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) checks: CheckOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The scenario: the options of `race` as TOML keys, and `schemes = […]`. An option on the command line replaces the file's, and any
    /// that it excludes.
    pub(crate) scenario: PathBuf,
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) checks: CheckOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// Carries out `firstflight race`.
pub(crate) fn from_options(race: &Race, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let mut options = registry.options();
    reading::set(&mut options, race.path.given.iter().chain(&race.runs.keys.given), arguments)?;
    let list = race.path.schemes.as_deref();
    let choices = reading::schemes(registry, list).map_err(|error| {
        let place = list.and_then(|list| Place::value(arguments, "--schemes", reading::fault(&error, list)));
        Failure::usage(format!("--schemes: {error}")).at(place)
    })?;
    let choices = over_restarts(choices, &options).map_err(|error| Failure::usage(error.to_string()))?;
    let scenario = reading::resolve(&options, arguments)?;
    let inputs = reading::traces(&options);
    let notes = Vec::new();
    run(&scenario, (list, &choices), (&race.runs, &race.checks, &race.output), &inputs, notes, arguments)
}

/// Carries out `firstflight run SCENARIO.toml`, whose options override those of the file.
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
            let place = Place::value(arguments, "--schemes", reading::fault(&error, list));
            return Failure::usage(format!("--schemes: {error}")).at(place);
        }
        let place = said.schemes.as_ref().and_then(|(list, span)| {
            let found = reading::fault(&error, list);
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
    let mut inputs = vec![Input { what: "scenario", path: &file.scenario }];
    inputs.extend(reading::traces(&options));
    let list = list.as_deref().or(of_file);
    run(
        &scenario,
        (list, &choices),
        (&file.runs, &file.checks, &file.output),
        &inputs,
        notes.collect(),
        arguments,
    )
}

/// Returns the key in the file that an exclusion error is about, if this key determines the subject of the file.
fn of_subject(error: &ScenarioError, given: &[(&'static str, String)]) -> Option<&'static str> {
    let ScenarioFault::Excluded { other, .. } = error.fault else { return None };
    let in_file = |key: &&&str| !given.iter().any(|(given, _)| given == *key);
    [error.key, other].iter().filter(in_file).find(|key| SUBJECTS.contains(key)).copied()
}

fn run(
    scenario: &Scenario,
    (list, choices): (Option<&str>, &[SchemeChoice]),
    (runs, checks, to): (&RunOptions, &CheckOptions, &OutputOptions),
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
        return population::run(scenario, &choices, (runs, checks, to), inputs, notes, arguments);
    }
    if scenario.probe.is_some() {
        checks.refuse(arguments)?;
        return probe::run(scenario, runs, to, inputs, &notes, arguments);
    }
    refuse_trains(runs, arguments)?;
    if runs.each_flow {
        let place = Place::value(arguments, "--each-flow", "--each-flow");
        return Err(Failure::usage(EACH_FLOW).at(place));
    }
    quic::refuse_logs(scenario, choices, to, arguments)?;
    notes.extend(quic::note(choices));
    let jobs = runs.jobs(arguments)?;
    let mut further = scenario.window_fields();
    further.extend(runs.spread_fields());
    let style = to.table.style(Rows::Race, &further, arguments)?;
    let look = Look::of(to, choices.len(), arguments)?;
    let clients = scenario.rounds.map_or(1, |rounds| rounds.clients);
    let of_flows: Vec<String> =
        choices.iter().filter(|_| clients > 1).map(|choice| flow_name("", choice)).collect();
    to.check(choices, &of_flows, inputs, arguments)?;
    let names: Vec<String> = choices.iter().map(|choice| choice.name().to_owned()).collect();
    let checks = checks.open(&names, inputs, arguments)?;
    let order = Order { scenario, choices, runs, checks, to, style, look, arguments };
    let raced = Connections {
        order: &order,
        drawings: Drawings::new(to, base_path(scenario)),
        under_one_law: OnceLock::new(),
    };
    carry_out(raced, &order, jobs, notes)
}

/// Connections of which each run has one, or several clients of one scheme.
struct Connections<'a> {
    order: &'a Order<'a>,
    drawings: Drawings,
    /// The note on the ranking under one law, if the laws of the schemes differ.
    under_one_law: OnceLock<String>,
}

impl Raced for Connections<'_> {
    type Result = SchemeResult;

    fn groups(&self) -> usize {
        self.order.choices.len()
    }

    fn logged(&self) -> &[SchemeChoice] {
        self.order.choices
    }

    fn race(&self, how: How<'_>, logs: &Logs<'_>) -> Result<Ran<SchemeResult>, RunError> {
        let &Order { scenario, choices, .. } = self.order;
        let record = |recording: &Recording| self.drawings.take(recording);
        let further = |seed: u64, recording: &Recording| self.drawings.take_further(seed, recording);
        let tap = |choice: &SchemeChoice, seed| logs.of_run(choice, seed);
        let client_tap = |choice: &SchemeChoice, seed, client| logs.of_client(choice, seed, client);
        let how = How {
            record: if self.drawings.are_wanted() { Some(&record) } else { None },
            record_further: self.drawings.further().map(|runs| RecordFurther { runs, take: &further }),
            tap: &tap,
            client_tap: logs.are_wanted().then_some(&client_tap as MakeClientTap<'_>),
            ..how
        };
        let raced = race_until_interrupted(scenario, choices, &how)?;
        let references = match &raced {
            Completed::Whole(raced) => references(scenario, choices, raced, &how),
            Completed::Partial { .. } => Err(RunError::Interrupted),
        };
        let under_one_law = match (&raced, &references) {
            (Completed::Whole(raced), Ok(_)) => under_one_law(scenario, choices, raced, &how),
            _ => Ok(None),
        };
        match under_one_law {
            Ok(None) => Ok((raced, references)),
            Ok(Some((law, results))) => {
                // A race is run once.
                let _ = self.under_one_law.set(ranked_under(law, &scenario.contest(), results));
                Ok((raced, references))
            }
            Err(error) => Ok((raced, Err(error))),
        }
    }

    fn finished(&self, results: &[SchemeResult], _: Option<(u64, u64)>) -> String {
        finished(self.order.scenario, self.order.choices, results)
    }

    fn write(
        self,
        results: Vec<SchemeResult>,
        references: Vec<Reference>,
        partial: Option<Partial>,
    ) -> Result<(), Failure> {
        let &Order { scenario, choices, runs, to, look, .. } = self.order;
        // This tests the ideal, not the cost. A finished transfer lacks a cost only if there is no ideal, but an unfinished one may lack it
        // as well.
        let lacks_ideal = |row: &Row| row.ideal_fct_s == Some(None);
        let without = results.iter().flat_map(|result| &result.rows).any(lacks_ideal);
        let results = (results, references, self.under_one_law.into_inner());
        let program = self.order.program();
        let results = Results::new((scenario, choices), results, runs, partial, self.drawings, program);
        let written = results.write(to, (&self.order.style, &self.order.checks), look);
        if without {
            output::note(&[without_ideal(scenario)]);
        }
        written
    }
}

/// Returns the schemes of a script if each of its flows has its own scheme; `None` otherwise.
fn scripted(scenario: &Scenario) -> Result<Option<Vec<SchemeChoice>>, CastError> {
    if scenario.script.is_empty() || scenario.has_row_scheme() {
        return Ok(None);
    }
    Ok(Some(scenario.cast(None)?.choices))
}

const EACH_FLOW: &str = "--each-flow: one flow is measured; for a row a flow say how many are with --flows";

/// Describes which runs of an interrupted race are finished. Names the schemes that lack runs. If none does, only runs of references are
/// missing.
fn finished(scenario: &Scenario, choices: &[SchemeChoice], raced: &[SchemeResult]) -> String {
    let wanted = scenario.runs as usize;
    let of = |choice: &SchemeChoice| {
        let rows = raced.iter().find(|result| result.name == choice.name()).map_or(0, |one| one.rows.len());
        (rows < wanted).then(|| format!("{} {rows} of {wanted}", choice.name()))
    };
    let lacking: Vec<String> = choices.iter().filter_map(of).collect();
    if lacking.is_empty() {
        WITHOUT_REFERENCES.to_owned()
    } else {
        format!("runs finished: {}", lacking.join(", "))
    }
}
