//! Makes the runs of figures in parallel. Each scenario runs only once with each seed, however many figures need it.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use firstflight_export::{Record, RecordError, records};
use firstflight_lab::{How, PopulationFlow, RunError, populations, probe, race};
use firstflight_measure::Recording;
use firstflight_scenario::{Scenario, SchemeChoice, show_choices};
use serde_json::Value;

use crate::expression::{Expression, Of};
use crate::points::Points;
use crate::series::SERIES;

/// Settings that do not affect the results.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// The maximum number of parallel runs; `None` for the number of processors.
    pub jobs: Option<usize>,
    /// Called after each run with the number of finished runs, the total number of runs, and the figure's name.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Whether the user has interrupted. If so, no further run begins.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// The environment in which the figures run, one run at a time; `None` for the simulator.
    pub habitat: Option<&'a dyn Habitat>,
}

/// An environment other than the simulator.
pub trait Habitat: Sync {
    /// Makes one run of each scheme with the scenario's seed, or one probing if the scenario has one. Returns the results. `record`
    /// receives the recording of each scheme, with the scheme's label and the population, which is empty in a race.
    ///
    /// # Errors
    /// The reason why there are no results, in one line.
    fn rows(
        &self,
        scenario: &Scenario,
        choices: &[SchemeChoice],
        record: &dyn Fn(&Recording, &str),
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Ran, String>;
}

/// The results of runs in an environment other than the simulator.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// A row for each scheme.
    pub rows: Vec<Record>,
    /// A row for each flow of a population.
    pub flows: Vec<Record>,
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Self { jobs: None, progress: &|_, _, _| {}, interrupted: &|| false, habitat: None }
    }
}

/// Why the runs of a figure could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A run that could not be made.
    #[error("{figure}: {error}")]
    Run {
        /// The figure.
        figure: String,
        /// The fault.
        error: Box<RunError>,
    },
    /// A run failed in an environment other than the simulator.
    #[error("{figure}: {why}")]
    Elsewhere {
        /// The figure.
        figure: String,
        /// The fault.
        why: String,
    },
    /// Rows that cannot be read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The threads could not be started.
    #[error("the runs cannot be spread over threads: {0}")]
    Threads(String),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// A column of flows: the scheme's label, the population and the column's name.
pub(crate) type FlowKey = (String, String, String);

/// A series: the scheme's label, the population (empty in a race), the series' name and the width of its time slots.
pub(crate) type SeriesKey = (String, String, String, u64);

/// The results of one scenario with one seed.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// A row for each scheme, and one for each scheme of a mixed population.
    pub(crate) rows: Vec<Record>,
    /// The columns of the measured flows.
    pub(crate) flows: BTreeMap<FlowKey, Vec<Value>>,
    /// The names of the columns that flows have.
    pub(crate) flow_columns: BTreeSet<String>,
    /// The series of the run.
    pub(crate) series: AllSeries,
}

/// Series: for each key the times and values.
type AllSeries = BTreeMap<SeriesKey, Vec<(f64, f64)>>;

/// The results of one scenario with one seed, which figures share.
pub(crate) type OneRun = Arc<Outcome>;

/// The results of a figure in a set-up: for each point, the results of each seed.
pub(crate) type Outcomes = Vec<Vec<OneRun>>;

/// The runs of a figure in a set-up, and the expressions that are evaluated with their results.
pub(crate) struct Wanted<'a> {
    /// The figure's name.
    pub(crate) figure: String,
    pub(crate) points: &'a Points,
    /// The indices of the points whose results are needed.
    pub(crate) needed: BTreeSet<usize>,
    /// The width of the time slots of series, in nanoseconds.
    pub(crate) slot: u64,
    pub(crate) expressions: Vec<&'a Expression>,
}

/// The parts of a run's results that figures need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Need {
    flows: BTreeSet<String>,
    series: BTreeSet<(String, u64)>,
}

/// A run of one scenario with one seed.
struct Task {
    figure: String,
    scenario: Scenario,
    choices: Vec<SchemeChoice>,
    need: Need,
}

/// Makes the runs that figures need in their set-ups.
///
/// # Errors
/// An interrupt, or the error of the first run, in order, that could not be made.
pub(crate) fn run(wanted: &[Wanted<'_>], settings: &Settings<'_>) -> Result<Vec<Outcomes>, RunsError> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut places: Vec<Vec<Vec<usize>>> = Vec::new();
    for wanted in wanted {
        let need = need(wanted);
        let mut of_figure = Vec::new();
        for (place, point) in wanted.points.all.iter().enumerate() {
            let mut of_point = Vec::new();
            let run = point.run.as_ref().filter(|_| wanted.needed.contains(&place));
            if let Some((scenario, choices)) = run {
                for index in 0..scenario.runs {
                    let scenario = Scenario {
                        seed: scenario.seed.wrapping_add(index.into()),
                        runs: 1,
                        ..scenario.clone()
                    };
                    // Measuring windows do not change a run and are not in the canonical text, but they add columns to its rows. The key
                    // therefore includes them.
                    let key = format!(
                        "{}\n{}\n{}\n{:?}\n{:?}",
                        scenario.canonical(),
                        scenario.seed,
                        show_choices(choices),
                        scenario.windows,
                        scenario.measured_links
                    );
                    let place = *known.entry(key).or_insert(tasks.len());
                    if place == tasks.len() {
                        let (figure, choices) = (wanted.figure.clone(), choices.clone());
                        tasks.push(Task { figure, scenario, choices, need: Need::default() });
                    }
                    let all = &mut tasks[place].need;
                    all.flows.extend(need.flows.iter().cloned());
                    all.series.extend(need.series.iter().cloned());
                    of_point.push(place);
                }
            }
            of_figure.push(of_point);
        }
        places.push(of_figure);
    }
    let outcomes = all(&tasks, settings)?;
    let of = |place: usize| Arc::clone(&outcomes[place]);
    let point = |seeds: Vec<usize>| seeds.into_iter().map(of).collect();
    Ok(places.into_iter().map(|points| points.into_iter().map(point).collect()).collect())
}

fn need(wanted: &Wanted<'_>) -> Need {
    let mut need = Need::default();
    for expression in &wanted.expressions {
        expression.columns(&mut |column| match column.of {
            Of::Run => {}
            Of::Flow => drop(need.flows.insert(column.name.clone())),
            Of::Series => drop(need.series.insert((column.name.clone(), wanted.slot))),
        });
    }
    need
}

/// Runs all tasks on plain threads. A rayon worker would start another task while it waits for a run's own thread pool, so that its stack
/// would grow with every task.
fn all(tasks: &[Task], settings: &Settings<'_>) -> Result<Vec<Arc<Outcome>>, RunsError> {
    let jobs =
        settings.jobs.or_else(|| thread::available_parallelism().ok().map(NonZeroUsize::get)).unwrap_or(1);
    // Parallel runs would delay real packets.
    let jobs = if settings.habitat.is_some() { 1 } else { jobs };
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let total = tasks.len() as u64;
    let failed = AtomicBool::new(false);
    let work = || {
        let mut outcomes = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(task) = tasks.get(place) else { break };
            let outcome =
                if (settings.interrupted)() { Err(RunsError::Interrupted) } else { task.run(settings) };
            failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
            (settings.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, total, &task.figure);
            outcomes.push((place, outcome.map(Arc::new)));
        }
        outcomes
    };
    let mut outcomes = thread::scope(|scope| -> Result<Vec<_>, RunsError> {
        let worker = |_| thread::Builder::new().spawn_scoped(scope, work);
        let workers = (0..jobs.clamp(1, tasks.len().max(1))).map(worker).collect::<Result<Vec<_>, _>>();
        let workers = workers.map_err(|error| RunsError::Threads(error.to_string()))?;
        let ended = |worker: thread::ScopedJoinHandle<'_, Vec<_>>| match worker.join() {
            Ok(outcomes) => outcomes,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        Ok(workers.into_iter().flat_map(ended).collect())
    })?;
    outcomes.sort_by_key(|(place, _)| *place);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

impl Task {
    fn run(&self, settings: &Settings<'_>) -> Result<Outcome, RunsError> {
        let interrupted = || (settings.interrupted)();
        if let Some(habitat) = settings.habitat {
            return self.run_in(habitat, &interrupted);
        }
        let fail = |error: RunError| match error {
            RunError::Interrupted => RunsError::Interrupted,
            error => RunsError::Run { figure: self.figure.clone(), error: Box::new(error) },
        };
        let series = Mutex::new(BTreeMap::new());
        let record = |label: &str, population: &str, recording: &Recording| {
            self.record(label, population, recording, &series);
        };
        if self.scenario.population.is_some() {
            let record_flow = |flow: PopulationFlow<'_>, recording: Recording| {
                record(flow.choice.name(), flow.population, &recording);
            };
            let how = How {
                jobs: Some(1),
                record_flow: if self.need.series.is_empty() { None } else { Some(&record_flow) },
                interrupted: &interrupted,
                ..How::default()
            };
            let results = populations(&self.scenario, &self.choices, !self.need.flows.is_empty(), &how)
                .map_err(fail)?;
            let rows: Vec<_> = results.iter().flat_map(|result| &result.rows).collect();
            let mut outcome = Outcome { rows: records(&rows)?, series: taken(series), ..Outcome::default() };
            for flow in results.iter().flat_map(|result| &result.flows).filter(|flow| flow.measured == 1) {
                self.add(&mut outcome, &records(std::slice::from_ref(flow))?.pop().unwrap_or_default());
            }
            return Ok(outcome);
        }
        if self.scenario.probe.is_some() {
            let how = How { jobs: Some(1), interrupted: &interrupted, ..How::default() };
            let result = probe(&self.scenario, &how).map_err(fail)?;
            return Ok(Outcome { rows: records(&result.rows)?, ..Outcome::default() });
        }
        let record = |recording: &Recording| record(&recording.label, "", recording);
        let how = How {
            jobs: Some(1),
            record: if self.need.series.is_empty() { None } else { Some(&record) },
            interrupted: &interrupted,
            ..How::default()
        };
        let results = race(&self.scenario, &self.choices, &how).map_err(fail)?;
        let rows: Vec<_> = results.iter().flat_map(|result| &result.rows).collect();
        let rows = records(&rows)?;
        Ok(Outcome { rows, series: taken(series), ..Outcome::default() })
    }

    fn run_in(&self, habitat: &dyn Habitat, interrupted: &dyn Fn() -> bool) -> Result<Outcome, RunsError> {
        let series = Mutex::new(BTreeMap::new());
        let record = |recording: &Recording, population: &str| {
            self.record(&recording.label, population, recording, &series);
        };
        let ran = habitat.rows(&self.scenario, &self.choices, &record, interrupted);
        if interrupted() {
            return Err(RunsError::Interrupted);
        }
        let Ran { rows, flows } =
            ran.map_err(|why| RunsError::Elsewhere { figure: self.figure.clone(), why })?;
        let mut outcome = Outcome { rows, series: taken(series), ..Outcome::default() };
        for flow in &flows {
            self.add(&mut outcome, flow);
        }
        Ok(outcome)
    }

    /// Stores the needed columns of a flow's row.
    fn add(&self, outcome: &mut Outcome, row: &Record) {
        outcome.flow_columns.extend(row.keys().cloned());
        for name in &self.need.flows {
            let key = (label(row), population(row), name.clone());
            let value = row.get(name).cloned().unwrap_or(Value::Null);
            outcome.flows.entry(key).or_default().push(value);
        }
    }

    /// Stores the needed series of a recording. If several flows have the same label, only the first counts.
    fn record(&self, label: &str, population: &str, recording: &Recording, series: &Mutex<AllSeries>) {
        for (name, slot) in &self.need.series {
            let Some(one) = SERIES.iter().find(|one| one.name == name) else { continue };
            let key = (label.to_owned(), population.to_owned(), name.clone(), *slot);
            let mut series = series.lock().unwrap_or_else(PoisonError::into_inner);
            series.entry(key).or_insert_with(|| (one.of)(recording, *slot));
        }
    }
}

/// Returns the collected values once the threads have finished.
fn taken<T>(all: Mutex<T>) -> T {
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the label of a row.
pub(crate) fn label(record: &Record) -> String {
    firstflight_export::record::name(record)
}

/// Returns the population of a row; empty if the row belongs to none.
pub(crate) fn population(record: &Record) -> String {
    record.get("population").and_then(Value::as_str).unwrap_or_default().to_owned()
}
