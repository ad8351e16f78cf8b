//! Busy periods, the idle times between them, and the end of start-up in a busy period.

use super::{FIRST, Sender};
use crate::curve::{Curve, Period};
use crate::events::Restart;
use crate::exit::{self, Exit, Start};
use crate::trace::Trace;

/// Time beyond the round trip of the handshake, from the acknowledgement of all data to new data, that ends the first transfer, in
/// nanoseconds.
const BETWEEN_TRANSFERS: u64 = 200_000_000;

/// Maximum number of restarts after idle times that are listed. All are counted.
const MAX_RESTARTS: usize = 64;

impl Sender {
    /// Returns the busy period in which at least nine tenths of all delivered data was delivered; `None` if there is none.
    pub(crate) fn main_period(&self) -> Option<&Period> {
        let all = self.board.delivered().saturating_sub(FIRST);
        let largest =
            self.periods.largest.as_deref().filter(|one| one.bytes() > self.periods.current.bytes());
        Some(largest.unwrap_or(&self.periods.current)).filter(|one| one.bytes() >= all - all / 10)
    }

    /// Returns the end of start-up; `None` if it is not visible.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let known = self.periods.exit.as_deref().copied();
        known.or_else(|| if self.periods.is_reported { None } else { self.exit_of_period() })
    }

    /// Sets the end of start-up, if the sender's log shows it.
    pub(crate) fn end_start_up(&mut self, exit: Exit) {
        self.periods.exit = Some(Box::new(exit));
    }

    /// Sets the end of start-up that the sender's host reports; `None` if start-up did not end. Packets are not judged.
    pub(crate) fn end_as_reported(&mut self, exit: Option<Exit>) {
        self.periods.is_reported = true;
        self.periods.exit = exit.map(Box::new);
    }

    /// Returns the end of start-up in the current busy period, judged only by the rounds of this period. A start-up that is interrupted by
    /// an idle time continues after it.
    fn exit_of_period(&self) -> Option<Exit> {
        let first = self.recovery.resent.partition_point(|one| one.at < self.periods.current.began);
        let first_mark = self.marks.kept.partition_point(|one| one.at < self.periods.current.began);
        let exit = exit::find(&Start {
            rounds: self.rounds.of_period(),
            climbs: &self.flight.climbs,
            resent: &self.recovery.resent[first..],
            marks: &self.marks.kept[first_mark..],
            has_sack: self.board.has_sack,
            peak_before: self.periods.restarts.iter().map(|restart| restart.flight_before).max(),
            mss: self.mss(),
        })?;
        let before = usize::try_from(self.rounds.before).unwrap_or(usize::MAX);
        Some(Exit { round: exit.round.saturating_add(before), ..exit })
    }

    /// Processes new data with nothing in flight. It is a restart if the time since the last data exceeds the retransmission timeout. The
    /// first transfer ends by a bound that does not depend on the sender's queue, so that it is the same one under each congestion control.
    pub(super) fn on_data_after_silence(&mut self, at: u64, start: u64, new: u64) {
        let idle = at.saturating_sub(self.instants.last_data.unwrap_or(at));
        let round_trip = self.setting.handshake.or(self.rtt.least());
        let bound = round_trip.map_or_else(|| self.rtt.timeout(), |time| time + BETWEEN_TRANSFERS);
        let silence =
            at.saturating_sub(self.instants.last_progress.max(self.instants.last_data).unwrap_or(at));
        if silence > bound {
            self.transfer.end();
        }
        if idle <= self.rtt.timeout() {
            return;
        }
        self.counts.restarts += 1;
        if let Some(path) = &mut self.drawn.path {
            path.begin_period(at);
        }
        self.rounds.finish(at);
        self.forget_raw_windows();
        self.periods.exit = self.exit().map(Box::new);
        self.begin_period(at);
        self.periods.sent_before = self.new_bytes().saturating_sub(new);
        self.rounds.begin(at, start, true);
        if self.periods.restarts.len() < MAX_RESTARTS {
            let round = self.rounds.kept.len();
            self.periods.restarts.push(Restart { at, idle, flight_before: self.periods.last_peak, round });
        }
        self.periods.last_peak = 0;
        self.mark(
            at,
            Trace::RESTART,
            format!("data again after {}.{:03} s", idle / 1_000_000_000, idle / 1_000_000 % 1000),
        );
    }

    fn begin_period(&mut self, at: u64) {
        let mut curve = Curve::default();
        curve.step(at, self.board.delivered().saturating_sub(FIRST));
        let over = std::mem::replace(&mut self.periods.current, Period { began: at, curve });
        if self.periods.largest.as_ref().is_none_or(|largest| over.bytes() > largest.bytes()) {
            self.periods.largest = Some(Box::new(over));
        }
        self.flight.climbs.clear();
        (self.flight.greatest, self.flight.held_at) = (0, at);
    }
}
