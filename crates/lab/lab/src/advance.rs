//! Continues a run in slices, between which a user may interrupt it.

use firstflight::{Span, Time};
use firstflight_sim::{Recorder, Stop};

use crate::build_network::AnySim;
use crate::error::RunError;
use crate::work;

/// The simulated time between two checks whether the user has interrupted.
pub(crate) const SLICE: Span = Span::from_secs(1);

/// Continues the run to `until`, unless the user interrupts.
pub(crate) fn advance<W: Recorder>(
    sim: &mut AnySim<W>,
    until: Time,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let mut reached = sim.now();
    while reached < until {
        if interrupted() {
            return Err(RunError::Interrupted);
        }
        reached = (reached + SLICE).min(until);
        match sim.run(reached) {
            Stop::Idle => break,
            stop => work::check(stop, sim.most_events(), sim.now())?,
        }
    }
    Ok(())
}

/// Continues the run by one step to `until`, as [`advance`] does. It checks for an interrupt only once in each simulated second.
pub(crate) fn step<W: Recorder>(
    sim: &mut AnySim<W>,
    (step, until): (Span, Time),
    interrupted: &dyn Fn() -> bool,
) -> Result<(), RunError> {
    let second = |nanos: u64| nanos / SLICE.nanos();
    let is_new = second(until.nanos()) > second(until.nanos().saturating_sub(step.nanos()));
    advance(sim, until, &|| is_new && interrupted())
}
