//! `--figure` and `--report` with flows: a panel for each flow of a script, or for a flow of each scheme of a population.

use std::sync::{Mutex, PoisonError};

use firstflight_lab::PopulationFlow;
use firstflight_measure::{Recording, VERSION};
use firstflight_report::svg::figure::{self, Frame};
use firstflight_report::{BasePath, Drawn, FlowOf, Record, Report, Subject, html};
use firstflight_scenario::{Scenario, SchemeChoice, show_choices};

use crate::args::OutputOptions;
use crate::drawings::base_path;
use crate::failure::Failure;
use crate::output;
use crate::results::write;

/// The most flows that a report draws.
const MOST_PANELS: usize = 24;

/// What the figure and the report need of the flows that are drawn, taken as each run ends.
pub(crate) struct FlowDrawings {
    report: bool,
    figure: bool,
    path: BasePath,
    taken: Mutex<Vec<Taken>>,
}

/// What is kept of a flow.
struct Taken {
    /// The place of its group, and its number.
    place: (usize, u32),
    /// For the report.
    drawn: Option<Drawn>,
    /// For the figure.
    recording: Option<Recording>,
}

impl FlowDrawings {
    /// Takes what these outputs need.
    pub(crate) fn new(to: &OutputOptions, scenario: &Scenario) -> Self {
        let (report, figure) = (to.report.is_some(), to.figure.is_some());
        Self { report, figure, path: base_path(scenario), taken: Mutex::default() }
    }

    /// Whether recordings are wanted at all.
    pub(crate) const fn are_wanted(&self) -> bool {
        self.report || self.figure
    }

    /// Takes the recording of a flow.
    pub(crate) fn take(&self, of: PopulationFlow<'_>, mut recording: Recording) {
        let PopulationFlow { choice, group, population, flow, .. } = of;
        let beside = match population.strip_prefix("with ") {
            Some(row) if row != choice.name() => format!(" beside {row}"),
            None if population == "mixed" => ", mixed".to_owned(),
            _ => String::new(),
        };
        recording.label = format!("{}, flow {flow}{beside}", choice.name());
        let (scheme, population) = (choice.name().to_owned(), population.to_owned());
        let of = FlowOf { scheme, population, number: flow };
        let drawn = self.report.then(|| Drawn::of_flow(&recording, Some(&self.path), of));
        let recording = self.figure.then_some(recording);
        let taken = Taken { place: (group, flow), drawn, recording };
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push(taken);
    }

    /// Writes the figure and the report: the flows in the order of their groups and arrivals.
    ///
    /// # Errors
    /// More flows than a figure has, a file that cannot be written.
    pub(crate) fn write(
        self,
        (scenario, choices): (&Scenario, &[SchemeChoice]),
        (rows, verdict): (&[Record], &str),
        (to, until): (&OutputOptions, Option<u64>),
        program: &str,
    ) -> Result<(), Failure> {
        let mut taken = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        taken.sort_by_key(|one| one.place);
        let (drawn, recordings): (Vec<_>, Vec<_>) =
            taken.into_iter().map(|one| (one.drawn, one.recording)).unzip();
        let mut drawn: Vec<Drawn> = drawn.into_iter().flatten().collect();
        let recordings: Vec<Recording> = recordings.into_iter().flatten().collect();
        let flows = drawn.len();
        drawn.truncate(MOST_PANELS);
        let report = Report {
            subject: Subject::Race,
            title: scenario.describe(),
            command: scenario.command(program, &show_choices(choices)),
            version: VERSION.to_owned(),
            seed: scenario.seed,
            scenario_hash: scenario.hash(),
            scenario_text: scenario.canonical(),
            verdict: verdict.to_owned(),
            rows: rows.to_vec(),
            drawn,
            ideal: Vec::new(),
            summary: None,
        };
        if let Some(path) = to.figure.as_ref().filter(|_| !recordings.is_empty()) {
            let is_one_run = !scenario.script.is_empty();
            let frame = Frame { path: self.path, until, is_one_run };
            let svg = figure::render(&report, &recordings, &frame).map_err(Failure::usage)?;
            write(path, svg.as_bytes())?;
        }
        if let Some(path) = &to.report {
            write(path, html::render(&report).map_err(Failure::write)?.as_bytes())?;
            if flows > MOST_PANELS {
                output::note(&[format!("--report: it draws the first {MOST_PANELS} of {flows} flows")]);
            }
        }
        Ok(())
    }
}
