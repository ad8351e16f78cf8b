//! `firstflight probe`: the bandwidth available on a path, by packet trains.

use firstflight::registry::Registry;
use firstflight_lab::{How, RunError, probe};
use firstflight_measure::{ProbeResult, ProbeRow};
use firstflight_report::{Record, Rows, TableStyle, check_writable, parquet, probed, prose, records, table};
use firstflight_scenario::keys::{Key, key};
use firstflight_scenario::{ByName, Scenario};

use crate::args::{OutputOptions, Probe, RunOptions};
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::keys::SCHEMES;
use crate::output;
use crate::progress::Progress;
use crate::reading;
use crate::results::write;
use crate::targets::Input;

pub(crate) mod live;

/// How a path is probed unless it is said.
const SEARCH: &str = "bracket";

/// Outputs of flows.
const OUTPUTS: [&str; 8] =
    ["report", "figure_until", "series", "pcap", "snap", "events", "qlog", "each_flow"];

/// Whether an option of `race`, by its identifier, says nothing of trains.
pub(crate) fn is_refused(name: &str) -> bool {
    key(name).is_some_and(Key::is_of_flows) || name == SCHEMES || OUTPUTS.contains(&name)
}

/// `firstflight probe`.
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
    let trace = options.rate_trace_file.as_deref();
    let inputs: Vec<_> = trace.map(|path| Input { what: "rate trace", path }).into_iter().collect();
    run(&scenario, runs, output, &inputs, &[], arguments)
}

fn of_flows(option: &str, arguments: &[String]) -> Failure {
    Failure::usage(format!("{option}: it is of flows, and a probing sends trains; `firstflight race` has it"))
        .at(Place::value(arguments, option, option))
}

/// Probes the path and writes what was asked for.
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
    if let Some(path) = &to.figure {
        check_writable(path).map_err(|error| Failure::usage(format!("--figure: {error}")))?;
    }
    output::note(notes);
    let interrupt = Interrupt::listen();
    let progress = Progress::new(u64::from(scenario.runs));
    let how = How {
        jobs,
        progress: &|done, _, name| progress.show(done, name),
        interrupted: &|| interrupt.happened(),
        ..How::default()
    };
    let result = match probe(scenario, &how) {
        Err(RunError::Interrupted) => ProbeResult::default(),
        other => other.map_err(Failure::usage)?,
    };
    drop(progress);
    let shown = shown(&result, runs)?;
    let mut written = Ok(());
    if !shown.is_empty() {
        let outputs = [
            to_stdout(scenario, &result, &shown, (runs, to, &style)),
            to_parquet(to, &shown),
            to_figure(scenario, &result, to),
        ];
        written = outputs.into_iter().find(Result::is_err).unwrap_or(Ok(()));
    }
    if written.is_ok() && interrupt.happened() {
        return Err(Failure::interrupted(format!("interrupted; whole probings: {}", result.rows.len())));
    }
    written
}

fn refuse_what_is_of_flows(
    runs: &RunOptions,
    to: &OutputOptions,
    arguments: &[String],
) -> Result<(), Failure> {
    let given = [
        ("--report", to.report.is_some()),
        ("--figure-until", to.figure_until.is_some()),
        ("--series", to.series.is_some()),
        ("--pcap", to.pcap.is_some()),
        ("--snap", to.snap.is_some()),
        ("--events", to.events.is_some()),
        ("--qlog", to.qlog.is_some()),
        ("--each-flow", runs.each_flow),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(of_flows(option, arguments)),
        None => Ok(()),
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
    result: &ProbeResult,
    shown: &[Record],
    (runs, to, style): (&RunOptions, &OutputOptions, &TableStyle),
) -> Result<(), Failure> {
    if output::print_records(shown, to.json, to.csv)? {
        return Ok(());
    }
    let mut text = prose::fold(&format!("{}\n\n", scenario.describe()), style.width, 0);
    // One probing is its trains, too.
    if result.rows.len() == 1 && !runs.each_train && to.table.columns.is_none() {
        let trains = records(&result.trains).map_err(Failure::write)?;
        text += &table::render(&trains, "", style);
        text.push('\n');
    }
    output::print(&(text + &table::render(shown, &probed::sentence(result), style)))
}

fn to_parquet(to: &OutputOptions, shown: &[Record]) -> Result<(), Failure> {
    let Some(path) = &to.parquet else { return Ok(()) };
    write(path, &parquet::to_bytes(shown).map_err(Failure::write)?)
}

/// The trains of the first run.
fn to_figure(scenario: &Scenario, result: &ProbeResult, to: &OutputOptions) -> Result<(), Failure> {
    let (Some(path), Some(row)) = (&to.figure, result.rows.first()) else { return Ok(()) };
    let trains: Vec<_> = result.trains.iter().filter(|train| train.seed == row.seed).cloned().collect();
    let gap = |row: &ProbeRow| {
        let available = row.available_bps.filter(|bps| *bps > 0.0)?;
        Some(f64::from(scenario.packet()) * 8.0 / available)
    };
    write(path, probed::drawing(&trains, &scenario.describe(), gap(row)).as_bytes())
}
