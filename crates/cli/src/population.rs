//! `firstflight race` and `run` with flows between hosts: a row for each scheme, or for each flow.

use std::ops::Range;

use firstflight_export::{Record, records};
use firstflight_lab::{
    Completed, How, PopulationFlow, RunError, TakeFlowRecording, cast_of, group_count, population_references,
    populations_until_interrupted,
};
use firstflight_measure::{PopulationResult, Reference, population_verdict, rank_populations};
use firstflight_report::{Rows, TableStyle, markdown, prose, table, windows_table};
use firstflight_scenario::{CastError, FlowPlace, Scenario, SchemeChoice, is_named, show_choices};

use crate::checks::{CheckOptions, Form};
use crate::contest::{Order, Raced, Ran, carry_out, refuse_trains};
use crate::failure::{Failure, Place};
use crate::figures::Look;
use crate::flow_drawings::FlowDrawings;
use crate::options::{OutputOptions, RunOptions};
use crate::output;
use crate::partial::{Partial, WITHOUT_REFERENCES};
use crate::reading;
use crate::results::to_parquet;
use crate::session;
use crate::taps::{Logs, flow_name};
use crate::targets::Input;

/// Selects the schemes that can run between hosts. Schemes that need saved values are left out, unless `list` names them explicitly.
/// Returns the selected schemes, and a note for each that is left out.
pub(crate) fn can_run(list: Option<&str>, choices: &[SchemeChoice]) -> (Vec<SchemeChoice>, Vec<String>) {
    let is_named = |choice: &SchemeChoice| list.is_some_and(|list| is_named(list, choice));
    let (left_out, kept): (Vec<_>, Vec<_>) =
        choices.iter().cloned().partition(|choice| choice.lacks_saved() && !is_named(choice));
    let lacks = |choice: &SchemeChoice| RunError::NothingSaved(choice.name().to_owned());
    (kept, left_out.iter().map(|choice| format!("left out: {}", lacks(choice))).collect())
}

/// Runs the populations of a scenario and writes the requested outputs.
pub(crate) fn run(
    scenario: &Scenario,
    choices: &[SchemeChoice],
    (runs, checks, to): (&RunOptions, &CheckOptions, &OutputOptions),
    inputs: &[Input<'_>],
    notes: Vec<String>,
    arguments: &[String],
) -> Result<(), Failure> {
    refuse_trains(runs, arguments)?;
    let jobs = runs.jobs(arguments)?;
    let rows = if runs.each_flow { Rows::Flows } else { Rows::Population };
    let style = to.table.style(rows, &scenario.window_fields(), arguments)?;
    let cast = cast_of(scenario, choices).map_err(|error| match &error {
        RunError::Cast(error) => cast_failure(error, scenario, inputs, arguments),
        _ => Failure::usage(&error),
    })?;
    let groups = group_count(scenario, choices).map_err(Failure::run)?;
    // A population has one flow in a plot for each row. A script has all of its flows in plots.
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
    let look = Look::of(to, drawn, arguments)?;
    // A scheme's flows are alone or mixed with those of other schemes.
    let names = choices.iter().flat_map(|choice| {
        let name = choice.name();
        [name.to_owned(), format!("{name} mixed")]
    });
    let checks = checks.open(&names.collect::<Vec<_>>(), inputs, arguments)?;
    let order = Order { scenario, choices, runs, checks, to, style, look, arguments };
    let flows = Flows { order: &order, cast, groups, drawings: FlowDrawings::new(to, scenario) };
    carry_out(flows, &order, jobs, notes)
}

/// Flows between hosts: those of a script, or a population of them.
struct Flows<'a> {
    order: &'a Order<'a>,
    /// The schemes of the flows.
    cast: Vec<SchemeChoice>,
    groups: usize,
    drawings: FlowDrawings,
}

impl Raced for Flows<'_> {
    type Result = PopulationResult;

    fn groups(&self) -> usize {
        self.groups
    }

    fn logged(&self) -> &[SchemeChoice] {
        &self.cast
    }

    fn race(&self, how: How<'_>, logs: &Logs<'_>) -> Result<Ran<PopulationResult>, RunError> {
        let &Order { scenario, choices, runs, .. } = self.order;
        let flow_tap = |flow: PopulationFlow<'_>| logs.of_flow(flow);
        let record_flow = |flow: PopulationFlow<'_>, recording| self.drawings.take(flow, recording);
        let how = How {
            record_flow: self.drawings.are_wanted().then_some(&record_flow as TakeFlowRecording<'_>),
            flow_tap: if logs.are_wanted() { Some(&flow_tap) } else { None },
            ..how
        };
        let results = populations_until_interrupted(scenario, choices, runs.each_flow, &how)?;
        let references = match &results {
            Completed::Whole(results) => population_references(scenario, choices, results, &how),
            Completed::Partial { .. } => Err(RunError::Interrupted),
        };
        Ok((results, references))
    }

    fn finished(&self, _: &[PopulationResult], missing: Option<(u64, u64)>) -> String {
        match missing {
            None => WITHOUT_REFERENCES.to_owned(),
            Some((missing, total)) => format!("{} of {total} runs are finished", total - missing),
        }
    }

    fn write(
        self,
        mut results: Vec<PopulationResult>,
        references: Vec<Reference<PopulationResult>>,
        partial: Option<Partial>,
    ) -> Result<(), Failure> {
        let &Order { scenario, runs, ref checks, to, look, .. } = self.order;
        let style = &self.order.style;
        rank_populations(&mut results);
        let shown = shown(&results, runs)?;
        if let Some(partial) = partial {
            if !shown.is_empty() {
                let style = (to, style, checks.is_markdown);
                to_stdout(scenario, &partial.sentence(), &shown, Some(&partial), style)?;
            }
            return Err(partial.failure());
        }
        let flows = scenario.population.as_ref().map_or(0, |population| population.flows);
        let verdict = population_verdict(flows, &results, &references);
        let program = self.order.program();
        let rows: Vec<_> = results.iter().flat_map(|result| &result.rows).collect();
        let rows = records(&rows).map_err(Failure::write);
        session::table("runs", || rows.as_deref().unwrap_or_default().to_vec());
        session::text("verdict", || verdict.clone());
        session::selected(|| table::selected(&shown, style));
        session::text("title", || scenario.describe());
        session::text("command", || scenario.command(program, &show_choices(self.order.choices)));
        let form = Form::of(checks.is_markdown, to.json || to.csv);
        let outputs = [
            to_stdout(scenario, &verdict, &shown, None, (to, style, checks.is_markdown)),
            to_parquet(to, &shown),
            self.drawings.write((scenario, &self.cast), (&shown, &verdict), (to, look), program),
            rows.and_then(|rows| checks.carry_out(rows, form, style)),
        ];
        outputs.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    }
}

/// Returns the failure for a script whose flows cannot have their schemes. The failure points at the option or the file with the script.
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
    partial: Option<&Partial>,
    (to, style, is_markdown): (&OutputOptions, &TableStyle, bool),
) -> Result<(), Failure> {
    if output::print_records(shown, partial, (to.json, to.csv))? {
        return Ok(());
    }
    if is_markdown {
        let title = format!("### {}\n\n", markdown::text(&scenario.describe()));
        return output::print(&(title + &table::markdown(shown, verdict, style)));
    }
    let title = prose::fold(&format!("{}\n\n", scenario.describe()), style.width, 0);
    output::print(&(title + &table::render(shown, verdict, style) + &windows_table(shown, style.width)))
}
