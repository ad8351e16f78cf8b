//! The end of start-up as a log's own events show it.

use firstflight_qlog::{Metrics, State};

use crate::exit::{Cause, Exit};
use crate::found::Found;

/// Maximum time from a loss, a mark or a timeout to the entry that shows the controller's response, in nanoseconds. Stacks write both when
/// they handle an ACK.
const RESPONSE: u64 = 2_000_000;

/// What the log reported about its controller so far.
#[derive(Debug, Default)]
pub(super) struct Ending {
    state: Option<State>,
    window: Option<u64>,
    ssthresh: Option<u64>,
    lost: Option<u64>,
    marked: Option<u64>,
    exit: Option<(Exit, &'static str, Option<u64>)>,
}

/// The end of start-up in the log.
#[derive(Debug)]
pub(super) enum Ended {
    /// The log shows it: in an event of this kind, with this congestion window before.
    At { exit: Exit, shown_by: &'static str, window: Option<u64> },
    /// The log's controller stayed in slow start.
    Never,
    /// The log does not show it. Its packets may.
    Unknown,
}

impl Ending {
    pub(super) fn lost(&mut self, at: u64) {
        self.lost = Some(at);
    }

    pub(super) fn marked(&mut self, at: u64) {
        self.marked = Some(at);
    }

    /// Takes a new state of the controller. `is_timeout` and `is_mark` say whether the log gives this cause. `flight` has the bytes in flight
    /// once data was sent.
    pub(super) fn state(
        &mut self,
        at: u64,
        state: State,
        (is_timeout, is_mark): (bool, bool),
        flight: Option<u64>,
    ) {
        if state == State::ApplicationLimited {
            return;
        }
        let before = self.state.replace(state);
        if state != State::SlowStart && before.is_none_or(|before| before == State::SlowStart) {
            let cause = match state {
                _ if is_timeout => Cause::Timeout,
                _ if is_mark => Cause::Mark,
                _ => self.cause(at, if state == State::Recovery { Cause::Loss } else { Cause::Reported }),
            };
            self.end(at, cause, "state", flight);
        }
    }

    /// Takes new values of the controller.
    pub(super) fn metrics(&mut self, at: u64, metrics: &Metrics, flight: Option<u64>) {
        if let Some(ssthresh) = metrics.ssthresh
            && self.ssthresh.replace(ssthresh).is_none()
        {
            self.end(at, self.cause(at, Cause::Reported), "ssthresh", flight);
        }
        let Some(window) = metrics.window else { return };
        let is_reduced = self.window.is_some_and(|before| window < before);
        let has_better = self.state.is_some() || self.ssthresh.is_some();
        let cause = self.cause(at, Cause::Reported);
        if is_reduced && !has_better && cause != Cause::Reported {
            self.end(at, cause, "window", flight);
        }
        self.window = Some(window);
    }

    /// Returns the cause of a response at `at`: a loss or a mark just before, or `otherwise`.
    fn cause(&self, at: u64, otherwise: Cause) -> Cause {
        let is_recent = |then: Option<u64>| then.is_some_and(|then| at.saturating_sub(then) <= RESPONSE);
        if is_recent(self.lost) {
            Cause::Loss
        } else if is_recent(self.marked) {
            Cause::Mark
        } else {
            otherwise
        }
    }

    /// Records the first end. Before the first data there is none: a threshold or a state is then the initial one.
    fn end(&mut self, at: u64, cause: Cause, shown_by: &'static str, flight: Option<u64>) {
        if let Some(flight) = flight.filter(|_| self.exit.is_none()) {
            self.exit = Some((Exit::new(cause, at, flight), shown_by, self.window));
        }
    }

    pub(super) fn finish(self) -> Ended {
        match (self.exit, self.state) {
            (Some((exit, shown_by, window)), _) => Ended::At { exit, shown_by, window },
            (None, Some(State::SlowStart)) => Ended::Never,
            (None, _) => Ended::Unknown,
        }
    }
}

impl Ended {
    /// Adds what only a log shows to the results.
    pub(super) fn tell(&self, found: &mut Found) {
        match *self {
            Self::At { shown_by, window, .. } => {
                (found.exit_shown_by, found.exit_window_bytes) = (Some(shown_by), window);
            }
            Self::Never => {
                found.exit_cause = Some("none");
                found.exit_shown_by = Some("state");
                found.undefined.remove("exit_cause");
                (found.exit_time_s, found.exit_round, found.exit_flight_bytes) = (None, None, None);
                found.overshoot_segments = None;
                let fields = ["exit_time_s", "exit_round", "exit_flight_bytes", "overshoot_segments"];
                found.lacks(fields, "the log's controller did not leave slow start");
            }
            Self::Unknown => {
                found.exit_shown_by = found.exit_cause.is_some().then_some("packets");
            }
        }
    }
}
