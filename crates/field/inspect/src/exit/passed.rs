//! Handles a paced sender that ignores losses and continues as before, for example BBR. Its exit from start-up is only known to lie within
//! an interval, and the cause is not visible.

use super::cause::{Cause, Exit, Unsure};
use super::start::Start;
use crate::events::Resent;

/// Number of rounds after a round with a low flight in which the flight is checked. If it is as high as before in one of them, start-up
/// continued.
const BACK_WITHIN: usize = 8;

impl Start<'_> {
    /// Returns the interval in which a sender that ignored this loss ended start-up. The interval begins when the flight stopped growing.
    /// It ends with the first round after the loss whose flight is below three quarters of the maximum, if the flight stays lower after it.
    /// If there is no such round, the interval has no end.
    pub(super) fn passed(&self, one: &Resent) -> Exit {
        let rounds = self.rounds;
        let mut greatest = 0;
        let fall = rounds.iter().enumerate().position(|(at, round)| {
            greatest = greatest.max(round.peak);
            let is_low = round.began > one.at && round.peak < greatest - greatest / 4;
            let mut later = rounds[at + 1..].iter().take(BACK_WITHIN);
            is_low && !later.any(|later| later.peak >= greatest - greatest / 8)
        });
        let until = fall.and_then(|at| rounds[at].ended);
        Exit { until, unsure: Some(Unsure::Passed), ..self.stopped(Cause::Flat, greatest) }
    }
}
