//! Busy periods, the idle times between them, and the end of start-up within one.

use super::{FIRST, Sender};
use crate::curve::{Curve, Period};
use crate::events::Restart;
use crate::exit::{self, Exit, Start};
use crate::trace::Trace;

/// Idle restarts listed; more are counted.
const MOST_RESTARTS: usize = 64;

impl Sender {
    /// The busy period that brought at least nine tenths of all that was delivered.
    pub(crate) fn main_period(&self) -> Option<&Period> {
        let all = self.board.delivered().saturating_sub(FIRST);
        let largest = self.largest_period.as_deref().filter(|one| one.bytes() > self.period.bytes());
        Some(largest.unwrap_or(&self.period)).filter(|one| one.bytes() >= all - all / 10)
    }

    /// The end of start-up, as far as it can be seen.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit.as_deref().copied().or_else(|| self.exit_of_period())
    }

    /// The end of start-up within the current busy period, judged by the period's own rounds. A start-up that an idle time
    /// interrupts continues after the idle time.
    fn exit_of_period(&self) -> Option<Exit> {
        let first = self.resent.partition_point(|one| one.at < self.period.began);
        let first_mark = self.marks.partition_point(|one| one.at < self.period.began);
        let exit = exit::find(&Start {
            rounds: self.rounds.of_period(),
            climbs: &self.climbs,
            resent: &self.resent[first..],
            marks: &self.marks[first_mark..],
            has_sack: self.board.has_sack,
            peak_before: self.restarts.iter().map(|restart| restart.flight_before).max(),
            mss: self.mss(),
        })?;
        let before = usize::try_from(self.rounds.before).unwrap_or(usize::MAX);
        Some(Exit { round: exit.round.saturating_add(before), ..exit })
    }

    /// New data with nothing in flight: a restart if the time since the last data is longer than the timer.
    pub(super) fn starts_again(&mut self, at: u64, start: u64, new: u64) {
        let idle = at.saturating_sub(self.last_data.unwrap_or(at));
        if idle <= self.rtt.timeout() {
            return;
        }
        self.counts.restarts += 1;
        if let Some(path) = &mut self.path {
            path.again(at);
        }
        self.rounds.finish(at);
        self.forget_raw_windows();
        self.exit = self.exit().map(Box::new);
        self.begin_period(at);
        self.sent_before = self.new_bytes().saturating_sub(new);
        self.rounds.begin(at, start, true);
        if self.restarts.len() < MOST_RESTARTS {
            let round = self.rounds.kept.len();
            self.restarts.push(Restart { at, idle, flight_before: self.last_peak, round });
        }
        self.last_peak = 0;
        self.mark(
            at,
            Trace::RESTART,
            format!("data again after {}.{:03} s", idle / 1_000_000_000, idle / 1_000_000 % 1000),
        );
    }

    fn begin_period(&mut self, at: u64) {
        let mut curve = Curve::default();
        curve.step(at, self.board.delivered().saturating_sub(FIRST));
        let over = std::mem::replace(&mut self.period, Period { began: at, curve });
        if self.largest_period.as_ref().is_none_or(|largest| over.bytes() > largest.bytes()) {
            self.largest_period = Some(Box::new(over));
        }
        self.climbs.clear();
        (self.greatest_flight, self.held_at) = (0, at);
    }
}
