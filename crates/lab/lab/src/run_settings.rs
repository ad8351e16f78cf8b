//! Settings of a race that do not affect its numbers: threads, progress, interrupts, observers.

use firstflight::{Span, Time};
use firstflight_measure::{Recording, Tap};
use firstflight_scenario::SchemeChoice;

use crate::error::RunError;
use crate::window_meter::LinkSlots;

/// Makes the observer of the run of a scheme with a seed; `None` if the run has none.
pub type MakeTap<'a> = &'a (dyn Fn(&SchemeChoice, u64) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// Makes the observer of one client in a run of rounds; `None` if the client has none. Clients are numbered from zero.
pub type MakeClientTap<'a> =
    &'a (dyn Fn(&SchemeChoice, u64, u32) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// A measured flow of a population.
#[derive(Clone, Copy, Debug)]
pub struct PopulationFlow<'a> {
    /// The scheme of the flow.
    pub choice: &'a SchemeChoice,
    /// The place of the population: the place of its scheme among the schemes of the command, or the place after them for the mixed
    /// population.
    pub group: usize,
    /// The population's name in rows: `only`, `mixed`, `scripted`, or `with NAME`.
    pub population: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The number of the flow in order of arrival, from zero.
    pub flow: u32,
}

/// Makes the observer of one flow of a population; `None` if the flow has none.
pub type MakeFlowTap<'a> = &'a (dyn Fn(PopulationFlow<'_>) -> std::io::Result<Option<Box<dyn Tap>>> + Sync);

/// The bits that a link sent in one slot of time of a run.
#[derive(Clone, Copy, Debug)]
pub struct LinkSlot<'a> {
    /// The scheme of the run's flows; `None` if they have different schemes.
    pub choice: Option<&'a SchemeChoice>,
    /// The place of the population, as [`PopulationFlow::group`]; zero in a race.
    pub group: usize,
    /// The population's name in rows; empty in a race.
    pub population: &'a str,
    /// The seed of the run.
    pub seed: u64,
    /// The place of the link among [`firstflight_scenario::Scenario::slot_links`].
    pub link: usize,
    /// When the slot starts.
    pub from: Time,
    /// The bits that the link's transmitter sent, with headers and all traffic. Of a packet in transmission, only the part that was sent
    /// counts.
    pub bits: u64,
}

/// The measurement of links in slots of time.
#[derive(Clone, Copy)]
pub struct Slots<'a> {
    /// The length of a slot. The first slot starts with the run.
    pub length: Span,
    /// Receives each slot of each link after the run, on the thread that made the run. In a race, slots that start before the measured flow
    /// are left out.
    pub take: &'a (dyn Fn(LinkSlot<'_>) -> std::io::Result<()> + Sync),
}

impl Slots<'_> {
    /// Passes all slots of a run to [`Slots::take`].
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

/// Receives the recording of a finished run, on the thread that made the run. Runs finish in any order.
pub type TakeRecording<'a> = &'a (dyn Fn(&Recording) + Sync);

/// Full recordings of a scheme's runs after the first.
#[derive(Clone, Copy)]
pub struct RecordFurther<'a> {
    /// The number of runs of a scheme that are recorded, with the first.
    pub runs: u64,
    /// Receives the seed and the recording of a finished run, on the thread that made the run. Runs finish in any order.
    pub take: &'a (dyn Fn(u64, &Recording) + Sync),
}

/// Receives the recording of a flow of a population whose run is over, on the thread that made the run. Runs finish in any order.
pub type TakeFlowRecording<'a> = &'a (dyn Fn(PopulationFlow<'_>, Recording) + Sync);

/// Settings of a race that do not affect its numbers.
#[derive(Clone, Copy)]
pub struct How<'a> {
    /// The number of runs at a time; `None` for as many as there are processors.
    pub jobs: Option<usize>,
    /// Receives a full recording of each scheme's first run, even if an interrupt leaves the run without a row.
    pub record: Option<TakeRecording<'a>>,
    /// Receives full recordings of the runs after the first; `None` if only the first is recorded.
    pub record_further: Option<RecordFurther<'a>>,
    /// Called after each run with the number of finished runs, the number of all runs, and the row's name.
    pub progress: &'a (dyn Fn(u64, u64, &str) + Sync),
    /// Returns whether the user has interrupted the race. Then no more runs are started, and the runs in progress are dropped.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Makes the observers that write captures and event logs.
    pub tap: MakeTap<'a>,
    /// Makes the observers of a scheme's clients of rounds, except the first client, whose observer [`How::tap`] makes; `None` if no other
    /// client has one.
    pub client_tap: Option<MakeClientTap<'a>>,
    /// Makes the observers of a population's flows, which write captures and logs; `None` if no flow has one.
    pub flow_tap: Option<MakeFlowTap<'a>>,
    /// Receives full recordings from the first run of each group of flows: of each flow of a script, or of the first measured flow of each
    /// scheme of a population. `None` if no recording is needed.
    pub record_flow: Option<TakeFlowRecording<'a>>,
    /// Measures links in slots of time; `None` if no slots are needed.
    pub slots: Option<Slots<'a>>,
}

impl How<'_> {
    /// Returns an error if the user has interrupted. Called before a run is set up.
    ///
    /// # Errors
    /// Fails with [`RunError::Interrupted`] after an interrupt.
    pub(crate) fn go_on(&self) -> Result<(), RunError> {
        if (self.interrupted)() { Err(RunError::Interrupted) } else { Ok(()) }
    }
}

impl Default for How<'_> {
    fn default() -> Self {
        Self {
            jobs: None,
            record: None,
            record_further: None,
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

/// Returns the threads of a race.
pub(crate) fn pool(how: &How<'_>) -> Result<rayon::ThreadPool, RunError> {
    let mut builder = rayon::ThreadPoolBuilder::new();
    if let Some(jobs) = how.jobs {
        builder = builder.num_threads(jobs);
    }
    builder.build().map_err(|error| RunError::Threads(error.to_string()))
}
