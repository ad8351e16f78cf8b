//! `--figure` with a script: a panel for each flow.

use std::sync::{Mutex, PoisonError};

use firstflight_lab::PopulationFlow;
use firstflight_measure::{Recording, VERSION};
use firstflight_report::svg::figure::{self, Frame};
use firstflight_report::{Report, Subject};
use firstflight_scenario::{Scenario, SchemeChoice, show_choices};

use crate::args::OutputOptions;
use crate::drawings::base_path;
use crate::failure::Failure;
use crate::results::write;

/// The recordings of a script's flows.
#[derive(Default)]
pub(crate) struct FlowFigure {
    /// The recordings, each with the place of its group and the number of its flow.
    taken: Mutex<Vec<((usize, u32), Recording)>>,
}

impl FlowFigure {
    /// Takes the recording of a flow.
    pub(crate) fn take(&self, of: PopulationFlow<'_>, mut recording: Recording) {
        let PopulationFlow { choice, group, population, flow, .. } = of;
        let beside = population.strip_prefix("with ").filter(|row| *row != choice.name());
        let beside = beside.map_or_else(String::new, |row| format!(" beside {row}"));
        recording.label = format!("{}, flow {flow}{beside}", choice.name());
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push(((group, flow), recording));
    }

    /// Writes the figure: the flows in the order of their groups and arrivals.
    ///
    /// # Errors
    /// More flows than a figure has, a file that cannot be written.
    pub(crate) fn write(
        self,
        (scenario, choices): (&Scenario, &[SchemeChoice]),
        (to, until): (&OutputOptions, Option<u64>),
        program: &str,
    ) -> Result<(), Failure> {
        let Some(path) = &to.figure else { return Ok(()) };
        let mut taken = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        taken.sort_by_key(|(place, _)| *place);
        let recordings: Vec<Recording> = taken.into_iter().map(|(_, recording)| recording).collect();
        if recordings.is_empty() {
            return Ok(());
        }
        let report = Report {
            subject: Subject::Race,
            title: scenario.describe(),
            command: scenario.command(program, &show_choices(choices)),
            version: VERSION.to_owned(),
            seed: scenario.seed,
            scenario_hash: scenario.hash(),
            scenario_text: scenario.canonical(),
            verdict: String::new(),
            rows: Vec::new(),
            drawn: Vec::new(),
            ideal: Vec::new(),
            summary: None,
        };
        let frame = Frame { path: base_path(scenario), until, is_one_run: true };
        write(path, figure::render(&report, &recordings, &frame).map_err(Failure::usage)?.as_bytes())
    }
}
