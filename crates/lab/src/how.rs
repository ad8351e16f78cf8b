//! Settings of a race that do not affect the numbers: threads, progress, interrupts, taps.

use firstflight::{Span, Time};
use firstflight_measure::{Recording, Tap};
use firstflight_scenario::SchemeChoice;

use crate::error::RunError;
use crate::meter::LinkSlots;

/// Makes the tap of one run; `None` if there is none.
pub type MakeTap<'a> = &'a (dyn Fn(&SchemeChoice, u64) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// Makes the tap of a client of one run of rounds; `None` if there is none. Clients count from zero.
pub type MakeClientTap<'a> =
    &'a (dyn Fn(&SchemeChoice, u64, u32) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// A measured flow of a population.
#[derive(Clone, Copy, Debug)]
pub struct PopulationFlow<'a> {
    /// The scheme of the flow.
    pub choice: &'a SchemeChoice,
    /// The place of the population: that of its scheme among those raced, and behind all for the mixed one.
    pub group: usize,
    /// What rows call the population: `only`, `mixed`, `scripted`, or `with NAME`.
    pub population: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the flow, by arrival from zero.
    pub flow: u32,
}

/// Makes the tap of one flow of a population; `None` if there is none.
pub type MakeFlowTap<'a> = &'a (dyn Fn(PopulationFlow<'_>) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// What a link sent in a slot of time of a run.
#[derive(Clone, Copy, Debug)]
pub struct LinkSlot<'a> {
    /// The scheme of the run's flows; `None` if they have several.
    pub choice: Option<&'a SchemeChoice>,
    /// The place of a population, as [`PopulationFlow::group`]; in a race zero.
    pub group: usize,
    /// What rows call the population; empty in a race.
    pub population: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The place of the link among [`firstflight_scenario::Scenario::slot_links`].
    pub link: usize,
    /// When the slot begins.
    pub from: Time,
    /// The bits that the link's transmitter sent, headers and all traffic included; of a packet in transmission the part that
    /// was sent.
    pub bits: u64,
}

/// Slots of time in which links are measured.
#[derive(Clone, Copy)]
pub struct Slots<'a> {
    /// How long a slot is. Slots count from the beginning of a run.
    pub length: Span,
    /// Receives each slot of each link after the run, on the thread that made it. In a race the first slot is the first that
    /// does not begin before the measured flow does.
    pub take: &'a (dyn Fn(LinkSlot<'_>) -> std::io::Result<()> + Sync),
}

impl Slots<'_> {
    /// Tells all slots of a run.
    pub(crate) fn tell(
        &self,
        (choice, group, population, seed): (Option<&SchemeChoice>, usize, &str, u64),
        slots: &[LinkSlots],
    ) -> std::io::Result<()> {
        for LinkSlots { from, bits } in slots {
            for (link, bits) in bits.iter().enumerate() {
                let (from, bits) = (*from, *bits);
                (self.take)(LinkSlot { choice, group, population, seed, link, from, bits })?;
            }
        }
        Ok(())
    }
}

/// Receives the recording of a finished run, on the thread that made it. Runs finish in any order.
pub type TakeRecording<'a> = &'a (dyn Fn(&Recording) + Sync);

/// Receives the recording of a flow of a population whose run is over, on the thread that made the run. Runs finish in any order.
pub type TakeFlowRecording<'a> = &'a (dyn Fn(PopulationFlow<'_>, Recording) + Sync);

/// Settings of a race that do not affect the numbers.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// The number of runs at a time; `None` for the number of processors.
    pub jobs: Option<usize>,
    /// Receives a full recording of each scheme's first run, even if an interrupt leaves the run without a row.
    pub record: Option<TakeRecording<'a>>,
    /// Called after each run with the number of finished runs, the number of all runs, and the row's name.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Whether the user has interrupted the race. Finished runs are then kept, and no more begin.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Makes captures and event logs.
    pub tap: MakeTap<'a>,
    /// Makes the taps of a scheme's clients of rounds but for the first, whose tap is [`How::tap`]'s; `None` if no other has any.
    pub client_tap: Option<MakeClientTap<'a>>,
    /// Makes captures and logs of a population's flows; `None` if no flow has any.
    pub flow_tap: Option<MakeFlowTap<'a>>,
    /// Receives a full recording of each flow of a script, or of the first measured flow of each scheme of a population, of the
    /// first run of each group of flows; `None` if nobody asks for them.
    pub record_flow: Option<TakeFlowRecording<'a>>,
    /// Measures links in slots of time; `None` if nobody asks for them.
    pub slots: Option<Slots<'a>>,
}

impl Default for How<'_> {
    fn default() -> Self {
        Self {
            jobs: None,
            record: None,
            progress: &|_, _, _| {},
            interrupted: &|| false,
            tap: &|_, _| Ok(None),
            client_tap: None,
            flow_tap: None,
            record_flow: None,
            slots: None,
        }
    }
}

/// The threads of a race.
pub(crate) fn pool(how: &How<'_>) -> Result<rayon::ThreadPool, RunError> {
    let mut builder = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = how.jobs {
        builder = builder.num_threads(jobs);
    }
    builder.build().map_err(|error| RunError::Threads(error.to_string()))
}

/// Leaves out an interrupted run, and keeps every other error.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}
