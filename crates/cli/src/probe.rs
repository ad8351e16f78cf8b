//! `firstflight probe`: measures the bandwidth available on a path, by packet trains.

use firstflight::registry::Registry;
use firstflight_export::{Record, records};
use firstflight_lab::{Completed, How, probe_until_interrupted};
use firstflight_measure::{ProbeResult, ProbeRow};
use firstflight_report::{Rows, TableStyle, probed, prose, table};
use firstflight_scenario::{ByName, Scenario};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::keys::SCHEMES;
use crate::options::{OutputOptions, RunOptions};
use crate::output;
use crate::partial::Partial;
use crate::pictures;
use crate::progress::Progress;
use crate::reading;
use crate::results::{to_parquet, write};
use crate::targets::Input;

mod live;
mod options;

pub(crate) use options::Probe;
use options::{is_refused, of_flows, refuse_what_is_of_flows};

/// The default search of a path.
const SEARCH: &str = "bracket";

/// Carries out `firstflight probe`.
pub(crate) fn from_options(command: &Probe, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let Probe { path, runs, output, real } = command;
    if let Some(peer) = &real.peer {
        return live::from_options(command, peer, registry, arguments);
    }
    let given = path.given.iter().chain(&runs.keys.given);
    let refused = given.clone().map(|(name, _)| *name).find(|name| is_refused(name));
    if let Some(name) = refused.or(path.schemes.as_ref().map(|_| SCHEMES)) {
        return Err(of_flows(&format!("--{name}"), arguments));
    }
    let mut options = registry.options();
    let search = ("probe", SEARCH.to_owned());
    let is_said = path.given.iter().any(|(name, text)| *name == "probe" && text != "none");
    let all = given.filter(|(name, _)| *name != "probe" || is_said);
    reading::set(&mut options, all.chain((!is_said).then_some(&search)), arguments)?;
    let scenario = reading::resolve(&options, arguments)?;
    let inputs = reading::traces(&options);
    run(&scenario, runs, output, &inputs, &[], arguments)
}

/// Probes the scenario's path and writes the requested outputs.
pub(crate) fn run(
    scenario: &Scenario,
    runs: &RunOptions,
    to: &OutputOptions,
    inputs: &[Input<'_>],
    notes: &[String],
    arguments: &[String],
) -> Result<(), Failure> {
    refuse_what_is_of_flows(runs, to, arguments)?;
    let jobs = runs.jobs(arguments)?;
    let rows = if runs.each_train { Rows::Trains } else { Rows::Probings };
    let style = to.table.style(rows, &[], arguments)?;
    to.check(&[], &[], inputs, arguments)?;
    output::note(notes);
    let interrupt = Interrupt::listen();
    let progress = Progress::new(u64::from(scenario.runs));
    let how = How {
        jobs,
        progress: &|done, _, name| progress.show(done, name),
        interrupted: &|| interrupt.happened(),
        ..How::default()
    };
    let probed = probe_until_interrupted(scenario, &how).map_err(Failure::run)?;
    drop(progress);
    match probed {
        Completed::Whole(result) => {
            let shown = shown(&result, runs)?;
            let outputs = [
                to_stdout(scenario, (&result, None), &shown, (runs, to, &style)),
                to_parquet(to, &shown),
                to_figure(scenario, &result, to),
            ];
            outputs.into_iter().find(Result::is_err).unwrap_or(Ok(()))
        }
        Completed::Partial { finished, .. } => {
            let partial = Partial::of_probings(finished.rows.len(), scenario.runs, to.file_options());
            let shown = shown(&finished, runs)?;
            if !shown.is_empty() {
                to_stdout(scenario, (&finished, Some(&partial)), &shown, (runs, to, &style))?;
            }
            Err(partial.failure())
        }
    }
}

fn shown(result: &ProbeResult, runs: &RunOptions) -> Result<Vec<Record>, Failure> {
    if result.rows.is_empty() {
        return Ok(Vec::new());
    }
    if runs.each_train {
        return records(&result.trains).map_err(Failure::write);
    }
    if runs.each_run {
        return records(&result.rows).map_err(Failure::write);
    }
    let of = if runs.extremes { ProbeResult::object_with_spread } else { ProbeResult::object };
    Ok(vec![of(result)])
}

fn to_stdout(
    scenario: &Scenario,
    (result, partial): (&ProbeResult, Option<&Partial>),
    shown: &[Record],
    (runs, to, style): (&RunOptions, &OutputOptions, &TableStyle),
) -> Result<(), Failure> {
    if output::print_records(shown, partial, (to.json, to.csv))? {
        return Ok(());
    }
    let mut text = prose::fold(&format!("{}\n\n", scenario.describe()), style.width, 0);
    // A single probing is shown with its trains.
    if result.rows.len() == 1 && !runs.each_train && to.table.columns.is_none() {
        let trains = records(&result.trains).map_err(Failure::write)?;
        text += &table::render(&trains, "", style);
        text.push('\n');
    }
    let sentence = partial.map_or_else(|| probed::sentence(result), Partial::sentence);
    output::print(&(text + &table::render(shown, &sentence, style)))
}

/// Writes the figure with the trains of the first run.
fn to_figure(scenario: &Scenario, result: &ProbeResult, to: &OutputOptions) -> Result<(), Failure> {
    let (Some(path), Some(row)) = (&to.figure, result.rows.first()) else { return Ok(()) };
    let trains: Vec<_> = result.trains.iter().filter(|train| train.seed == row.seed).cloned().collect();
    let gap = |row: &ProbeRow| {
        let available = row.available_bps.filter(|bps| *bps > 0.0)?;
        Some(f64::from(scenario.packet()) * 8.0 / available)
    };
    let svg = probed::drawing(&trains, &scenario.describe(), gap(row));
    write(path, &pictures::converted(svg, path)?)
}
