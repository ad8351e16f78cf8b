//! Carries out a race, of connections or of flows between hosts: runs it, and writes its outputs and logs.

use firstflight_lab::{Completed, How, LinkSlot, RunError, Slots};
use firstflight_measure::Reference;
use firstflight_report::TableStyle;
use firstflight_scenario::{Scenario, SchemeChoice};

use crate::checks::Checks;
use crate::failure::{Failure, Place};
use crate::figures::Look;
use crate::interrupt::Interrupt;
use crate::options::{OutputOptions, RunOptions};
use crate::output;
use crate::partial::Partial;
use crate::progress::Progress;
use crate::taps::Logs;

/// A race as the command line requests it.
pub(crate) struct Order<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) choices: &'a [SchemeChoice],
    pub(crate) runs: &'a RunOptions,
    pub(crate) checks: Checks,
    pub(crate) to: &'a OutputOptions,
    pub(crate) style: TableStyle,
    /// The look of the figure.
    pub(crate) look: Look,
    /// The command line.
    pub(crate) arguments: &'a [String],
}

impl Order<'_> {
    /// Returns the name of the program.
    pub(crate) fn program(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }
}

/// The results of a race, and those of its references.
pub(crate) type Ran<R> = (Completed<Vec<R>>, Result<Vec<Reference<R>>, RunError>);

/// The object of a race: one connection per scheme, or a population.
pub(crate) trait Raced: Sized {
    /// The result of a scheme.
    type Result;

    /// Returns the number of runs with one seed.
    fn groups(&self) -> usize;

    /// Returns the schemes whose flows have logs.
    fn logged(&self) -> &[SchemeChoice];

    /// Runs the race, and its references if the race is whole. Adds its own observers to `how`.
    fn race(&self, how: How<'_>, logs: &Logs<'_>) -> Result<Ran<Self::Result>, RunError>;

    /// Describes which runs of an interrupted race are finished. `missing` has the missing runs and all runs, if the race lacks any.
    fn finished(&self, results: &[Self::Result], missing: Option<(u64, u64)>) -> String;

    /// Writes the requested outputs. Partial results are only printed, and the command then fails.
    fn write(
        self,
        results: Vec<Self::Result>,
        references: Vec<Reference<Self::Result>>,
        partial: Option<Partial>,
    ) -> Result<(), Failure>;
}

/// Refuses `--each-train`, because a race sends no trains.
pub(crate) fn refuse_trains(runs: &RunOptions, arguments: &[String]) -> Result<(), Failure> {
    if !runs.each_train {
        return Ok(());
    }
    let place = Place::value(arguments, "--each-train", "--each-train");
    Err(Failure::usage("--each-train: flows are raced; trains are sent with --probe").at(place))
}

/// Carries out a race whose options have been checked.
pub(crate) fn carry_out(
    raced: impl Raced,
    order: &Order<'_>,
    jobs: Option<usize>,
    mut notes: Vec<String>,
) -> Result<(), Failure> {
    let &Order { scenario, to, .. } = order;
    let cast = raced.logged().to_vec();
    let logs = Logs::new(scenario, &cast, to, order.arguments)?;
    notes.extend(scenario.ineffective(order.choices));
    output::note(&notes);
    let interrupt = Interrupt::listen();
    let total = u64::from(scenario.runs) * raced.groups() as u64;
    let progress = Progress::new(total);
    let take_slot = |slot: LinkSlot<'_>| logs.take_slot(slot);
    let show = |done, _, name: &str| progress.show(done, name);
    let interrupted = || interrupt.happened();
    let how = How {
        jobs,
        progress: &show,
        interrupted: &interrupted,
        slots: logs.slot().map(|length| Slots { length, take: &take_slot }),
        ..How::default()
    };
    let (results, references) = raced.race(how, &logs).map_err(Failure::run)?;
    drop(progress);
    let (results, missing) = match results {
        Completed::Whole(results) => (results, None),
        Completed::Partial { finished, missing } => (finished, Some((missing, total))),
    };
    let (references, partial) = match references {
        Err(RunError::Interrupted) => {
            let finished = raced.finished(&results, missing);
            (Vec::new(), Some(Partial::new(finished, to.file_options())))
        }
        references => (references.map_err(Failure::run)?, None),
    };
    let is_whole = partial.is_none();
    let written = raced.write(results, references, partial);
    logs.finish(to, is_whole).and(written)
}
