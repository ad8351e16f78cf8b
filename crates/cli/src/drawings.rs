//! The data of a race's runs for the plots of the report and the figure. It is taken from the recording when a run ends, because a
//! recording is large and the next run overwrites it.

use std::sync::{Mutex, PoisonError};

use firstflight_measure::{Recording, SchemeResult};
use firstflight_report::{BasePath, Drawn, RunWindow};
use firstflight_scenario::Scenario;
use firstflight_scenario::quantity::QueueSize;

use crate::options::OutputOptions;

/// The outputs that need data for plots, and the data taken so far.
pub(crate) struct Drawings {
    report: bool,
    figure: bool,
    path: BasePath,
    taken: Mutex<Vec<Drawing>>,
    /// The windows of the runs after the first, each with the name of its row.
    further: Mutex<Vec<(String, RunWindow)>>,
}

/// The maximum number of runs of a scheme whose windows the report shows as a band. More runs change the band little.
const MAX_BAND_RUNS: u64 = 20;

/// The data kept of one run.
pub(crate) struct Drawing {
    pub(crate) label: String,
    pub(crate) syn_at: u64,
    pub(crate) ended_at: u64,
    /// The ideal sender's stream as it arrives at the receiver, as steps.
    pub(crate) ideal: Vec<(u64, u64)>,
    /// The data for the report's plots; `None` without a report.
    pub(crate) drawn: Option<Drawn>,
    /// The recording for the figure; `None` without a figure. It is kept because the scales of a figure depend on all of its runs, which
    /// are few.
    pub(crate) recording: Option<Recording>,
}

/// Returns the path of the race, for the bandwidth-delay product.
pub(crate) fn base_path(scenario: &Scenario) -> BasePath {
    BasePath { base_rtt: scenario.rtt.nanos(), packet: scenario.packet() }
}

/// Returns the number of full packets that the bottleneck's queue holds; `None` without a limit.
#[expect(clippy::cast_precision_loss, reason = "to draw, 53 bits are enough")]
pub(crate) fn queue_packets(scenario: &Scenario) -> Option<f64> {
    match scenario.queue {
        QueueSize::Packets(packets) => Some(f64::from(packets)),
        _ => scenario.queue_bytes().map(|bytes| bytes.get() as f64 / f64::from(scenario.packet().max(1))),
    }
}

impl Drawings {
    /// Creates an empty collection for these outputs.
    pub(crate) fn new(to: &OutputOptions, path: BasePath) -> Self {
        Self {
            report: to.report.is_some(),
            figure: to.figure.is_some(),
            path,
            taken: Mutex::default(),
            further: Mutex::default(),
        }
    }

    /// Returns whether recordings are needed.
    pub(crate) fn are_wanted(&self) -> bool {
        self.report || self.figure
    }

    /// Takes the needed data of a run that has ended.
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

    /// Returns the number of runs of a scheme whose windows are needed; `None` if only those of the first are.
    pub(crate) fn further(&self) -> Option<u64> {
        self.report.then_some(MAX_BAND_RUNS)
    }

    /// Takes the window of a run after the first.
    pub(crate) fn take_further(&self, seed: u64, recording: &Recording) {
        let window = (recording.label.clone(), RunWindow::new(seed, recording));
        self.further.lock().unwrap_or_else(PoisonError::into_inner).push(window);
    }

    /// Returns the data for the plots of the results, in their order. A run whose row an interrupt left out has none.
    pub(crate) fn of(self, results: &[SchemeResult], seed: u64) -> Vec<Drawing> {
        let mut taken = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (label, window) in self.further.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let drawing = taken.iter_mut().find(|drawing| drawing.label == label);
            if let Some(drawn) = drawing.and_then(|drawing| drawing.drawn.as_mut()) {
                drawn.add_run(window);
            }
        }
        let own = |result: &SchemeResult| {
            result.rows.iter().find(|row| row.seed == seed)?;
            let at = taken.iter().position(|drawing| drawing.label == result.name)?;
            Some(taken.swap_remove(at))
        };
        results.iter().filter_map(own).collect()
    }
}
