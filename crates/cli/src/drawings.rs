//! What the report and the figure need of a race's runs, taken as each run ends: its recording is large, and the next
//! run is written in its room.

use std::sync::{Mutex, PoisonError};

use firstflight_measure::{Recording, SchemeResult};
use firstflight_report::{BasePath, Drawn};
use firstflight_scenario::Scenario;

use crate::args::OutputOptions;

/// What is needed, and what there is of it so far.
pub(crate) struct Drawings {
    report: bool,
    figure: bool,
    path: BasePath,
    taken: Mutex<Vec<Drawing>>,
}

/// What is kept of one run.
pub(crate) struct Drawing {
    pub(crate) label: String,
    pub(crate) syn_at: u64,
    pub(crate) ended_at: u64,
    /// The ideal sender's stream as it comes to the receiver, as steps.
    pub(crate) ideal: Vec<(u64, u64)>,
    /// For the report.
    pub(crate) drawn: Option<Drawn>,
    /// For the figure, whose panels share scales that all of its runs decide. There are few of them.
    pub(crate) recording: Option<Recording>,
}

/// The path of the race, for the bandwidth-delay product.
pub(crate) fn base_path(scenario: &Scenario) -> BasePath {
    BasePath { base_rtt: scenario.rtt.nanos(), packet: scenario.packet() }
}

impl Drawings {
    /// Takes what these outputs need.
    pub(crate) fn new(to: &OutputOptions, path: BasePath) -> Self {
        Self { report: to.report.is_some(), figure: to.figure.is_some(), path, taken: Mutex::default() }
    }

    /// Whether recordings are wanted at all.
    pub(crate) fn are_wanted(&self) -> bool {
        self.report || self.figure
    }

    /// Takes what is needed of a run that is over.
    pub(crate) fn take(&self, recording: &Recording) {
        let drawing = Drawing {
            label: recording.label.clone(),
            syn_at: recording.syn_at,
            ended_at: recording.ended_at,
            ideal: recording.ideal.clone(),
            drawn: self.report.then(|| Drawn::new(recording, Some(&self.path))),
            recording: self.figure.then(|| recording.clone()),
        };
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).push(drawing);
    }

    /// Those of the results, in their order; a run that lost its row to an interrupt has none.
    pub(crate) fn of(self, results: &[SchemeResult], seed: u64) -> Vec<Drawing> {
        let mut taken = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        let own = |result: &SchemeResult| {
            result.rows.iter().find(|row| row.seed == seed)?;
            let at = taken.iter().position(|drawing| drawing.label == result.name)?;
            Some(taken.swap_remove(at))
        };
        results.iter().filter_map(own).collect()
    }
}
