//! `firstflight race` and `run` with flows between hosts: a row a scheme, or a row a flow.

use std::ops::Range;

use firstflight_lab::{
    How, LinkSlot, PopulationFlow, RunError, Slots, TakeFlowRecording, cast_of, group_count,
    population_references, populations,
};
use firstflight_measure::{PopulationResult, population_verdict, rank_populations};
use firstflight_report::{Record, Rows, TableStyle, parquet, prose, records, table, windows_table};
use firstflight_scenario::{CastError, FlowPlace, Scenario, SchemeChoice, is_named};

use crate::args::{OutputOptions, RunOptions};
use crate::failure::{Failure, Place};
use crate::flow_drawings::FlowDrawings;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::race::figure_until;
use crate::reading;
use crate::results::write;
use crate::taps::{Logs, flow_name};
use crate::targets::Input;

/// Of all schemes, which nobody named one by one, those that need not be told more to run between hosts.
/// Gives those schemes, and a note for each that is left out.
pub(crate) fn can_run(list: Option<&str>, choices: &[SchemeChoice]) -> (Vec<SchemeChoice>, Vec<String>) {
    let is_named = |choice: &SchemeChoice| list.is_some_and(|list| is_named(list, choice));
    let (left_out, kept): (Vec<_>, Vec<_>) =
        choices.iter().cloned().partition(|choice| choice.lacks_saved() && !is_named(choice));
    let lacks = |choice: &SchemeChoice| RunError::NothingSaved(choice.name().to_owned());
    (kept, left_out.iter().map(|choice| format!("left out: {}", lacks(choice))).collect())
}

/// Runs the populations and writes what was asked for.
pub(crate) fn run(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    runs: &RunOptions,
    to: &OutputOptions,
    inputs: &[Input<'_>],
    mut notes: Vec<String>,
    arguments: &[String],
) -> Result<(), Failure> {
    if runs.each_train {
        let place = Place::value(arguments, "--each-train", "--each-train");
        return Err(Failure::usage("--each-train: flows are raced; trains are sent with --probe").at(place));
    }
    let jobs = runs.jobs(arguments)?;
    let rows = if runs.each_flow { Rows::Flows } else { Rows::Population };
    let style = to.table.style(rows, &scenario.window_fields(), arguments)?;
    let cast = cast_of(scenario, choices).map_err(|error| match &error {
        RunError::Cast(error) => cast_failure(error, scenario, inputs, arguments),
        _ => Failure::usage(&error),
    })?;
    let groups = group_count(scenario, choices).map_err(Failure::usage)?;
    // Of a population a flow of each row is drawn, of a script every flow.
    let is_mixed = scenario.population.as_ref().is_some_and(|population| population.mixed);
    let drawn = match scenario.script.len() {
        0 => choices.len() * if is_mixed { 2 } else { 1 },
        flows => groups * flows,
    };
    let row = choices.iter().map(SchemeChoice::name).max_by_key(|name| name.len()).unwrap_or_default();
    let mix = match scenario.script.len() {
        0 => if is_mixed { "mixed" } else { "only" }.to_owned(),
        _ if scenario.has_row_scheme() => format!("with {row}"),
        _ => "scripted".to_owned(),
    };
    let of_flows: Vec<String> = cast.iter().map(|choice| flow_name(&mix, choice)).collect();
    to.check(choices, &of_flows, inputs, arguments)?;
    let until = figure_until(to, drawn, arguments)?;
    let logs = Logs::new(scenario, &cast, to, arguments)?;
    let flow_tap = |flow: PopulationFlow<'_>| logs.of_flow(flow);
    let take_slot = |slot: LinkSlot<'_>| logs.take_slot(slot);
    notes.extend(scenario.ineffective(choices));
    output::note(&notes);
    let interrupt = Interrupt::listen();
    let progress = Progress::new(u64::from(scenario.runs) * groups as u64);
    let drawings = FlowDrawings::new(to, scenario);
    let record_flow = |flow: PopulationFlow<'_>, recording| drawings.take(flow, recording);
    let how = How {
        jobs,
        progress: &|done, _, name| progress.show(done, name),
        interrupted: &|| interrupt.happened(),
        record_flow: drawings.are_wanted().then_some(&record_flow as TakeFlowRecording<'_>),
        slots: logs.slot().map(|length| Slots { length, take: &take_slot }),
        flow_tap: if logs.are_wanted() { Some(&flow_tap) } else { None },
        ..How::default()
    };
    let results = populations(scenario, choices, runs.each_flow, &how);
    let mut results = match results {
        Err(RunError::Interrupted) => Vec::new(),
        other => other.map_err(Failure::usage)?,
    };
    let references = match population_references(scenario, choices, &results, &how) {
        Err(RunError::Interrupted) => Vec::new(),
        other => other.map_err(Failure::usage)?,
    };
    drop(progress);
    rank_populations(&mut results);
    let shown = shown(&results, runs)?;
    let mut first = Ok(());
    if !shown.is_empty() {
        let program = arguments.first().map_or("", String::as_str);
        let flows = scenario.population.as_ref().map_or(0, |population| population.flows);
        let verdict = population_verdict(flows, &results, &references);
        let outputs = [
            to_stdout(scenario, &verdict, &shown, (to, &style)),
            to_parquet(to, &shown),
            drawings.write((scenario, &cast), (&shown, &verdict), (to, until), program),
        ];
        first = outputs.into_iter().find(Result::is_err).unwrap_or(Ok(()));
    }
    first = logs.finish(to).and(first);
    if first.is_ok() && interrupt.happened() {
        let runs: usize = results.iter().map(|result| result.rows.len()).sum();
        return Err(Failure::interrupted(format!("interrupted; rows of whole runs: {runs}")));
    }
    first
}

/// The failure of a script whose flows cannot have their schemes, at the option or in the file that says the script.
pub(crate) fn cast_failure(
    error: &CastError,
    scenario: &Scenario,
    inputs: &[Input<'_>],
    arguments: &[String],
) -> Failure {
    if let Some(place) = Place::entry(arguments, "--flow", error.number, &error.said) {
        return Failure::usage(format!("--{error}")).at(Some(place));
    }
    let Some(file) = inputs.iter().find(|input| input.what == "scenario").map(|input| input.path) else {
        return Failure::usage(error);
    };
    let name = file.display().to_string();
    let place = reading::read(scenario.registry, file).ok().and_then(|(text, said)| {
        let FlowPlace { whole, scheme } = said.flows.get(error.number - 1)?;
        let Range { start, end } = scheme.as_ref().unwrap_or(whole).clone();
        Place::text(&name, &text, start, end)
    });
    Failure::usage(format!("{name}: {error}")).at(place)
}

fn shown(results: &[PopulationResult], runs: &RunOptions) -> Result<Vec<Record>, Failure> {
    if runs.each_flow {
        let flows: Vec<_> = results.iter().flat_map(|result| &result.flows).collect();
        return records(&flows).map_err(Failure::write);
    }
    if runs.each_run {
        let rows: Vec<_> = results.iter().flat_map(|result| &result.rows).collect();
        return records(&rows).map_err(Failure::write);
    }
    let of = if runs.extremes { PopulationResult::object_with_spread } else { PopulationResult::object };
    Ok(results.iter().map(of).collect())
}

fn to_stdout(
    scenario: &Scenario,
    verdict: &str,
    shown: &[Record],
    (to, style): (&OutputOptions, &TableStyle),
) -> Result<(), Failure> {
    if output::print_records(shown, to.json, to.csv)? {
        return Ok(());
    }
    let title = prose::fold(&format!("{}\n\n", scenario.describe()), style.width, 0);
    output::print(&(title + &table::render(shown, verdict, style) + &windows_table(shown, style.width)))
}

fn to_parquet(to: &OutputOptions, shown: &[Record]) -> Result<(), Failure> {
    let Some(path) = &to.parquet else { return Ok(()) };
    write(path, &parquet::to_bytes(shown).map_err(Failure::write)?)
}
