//! `--figure` and `--report` with flows: a panel for each flow of a script, or for one flow of each scheme of a population.

use std::sync::{Mutex, PoisonError};

use firstflight_export::Record;
use firstflight_lab::PopulationFlow;
use firstflight_measure::{Recording, VERSION};
use firstflight_report::{BasePath, Drawn, FlowOf, Report, Subject, html};
use firstflight_scenario::{Scenario, SchemeChoice, show_choices};

use crate::drawings::{base_path, queue_packets};
use crate::failure::Failure;
use crate::figures::{Look, figure_of};
use crate::options::OutputOptions;
use crate::output;
use crate::results::write;

/// The maximum number of flows that a report draws.
const MAX_PANELS: usize = 24;

/// The data of flows for the plots of the figure and the report. It is taken when a run ends.
pub(crate) struct FlowDrawings {
    report: bool,
    figure: bool,
    path: BasePath,
    taken: Mutex<Vec<Taken>>,
}

/// The data kept of one flow.
struct Taken {
    /// The index of the flow's group, and the flow's number.
    place: (usize, u32),
    /// The data for the report's plots; `None` without a report.
    drawn: Option<Drawn>,
    /// The recording for the figure; `None` without a figure.
    recording: Option<Recording>,
}

impl FlowDrawings {
    /// Creates an empty collection for these outputs.
    pub(crate) fn new(to: &OutputOptions, scenario: &Scenario) -> Self {
        let (report, figure) = (to.report.is_some(), to.figure.is_some());
        Self { report, figure, path: base_path(scenario), taken: Mutex::default() }
    }

    /// Returns whether recordings are needed.
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

    /// Writes the figure and the report. The flows are in the order of their groups, and then of their arrivals.
    ///
    /// # Errors
    /// Fails if there are more flows than a figure can have, or if a file cannot be written.
    pub(crate) fn write(
        self,
        (scenario, choices): (&Scenario, &[SchemeChoice]),
        (rows, verdict): (&[Record], &str),
        (to, look): (&OutputOptions, Look),
        program: &str,
    ) -> Result<(), Failure> {
        let mut taken = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        taken.sort_by_key(|one| one.place);
        let (drawn, recordings): (Vec<_>, Vec<_>) =
            taken.into_iter().map(|one| (one.drawn, one.recording)).unzip();
        let mut drawn: Vec<Drawn> = drawn.into_iter().flatten().collect();
        let recordings: Vec<Recording> = recordings.into_iter().flatten().collect();
        let flows = drawn.len();
        drawn.truncate(MAX_PANELS);
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
            queue_packets: queue_packets(scenario),
        };
        if let Some(path) = to.figure.as_ref().filter(|_| !recordings.is_empty()) {
            let is_one_run = !scenario.script.is_empty();
            let frame = look.frame(self.path, is_one_run);
            write(path, &figure_of(&report, &recordings, &frame, path)?)?;
        }
        if let Some(path) = &to.report {
            write(path, html::render(&report).map_err(Failure::write)?.as_bytes())?;
            if flows > MAX_PANELS {
                output::note(&[format!("--report: it draws the first {MAX_PANELS} of {flows} flows")]);
            }
        }
        Ok(())
    }
}
