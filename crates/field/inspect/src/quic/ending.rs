//! The end of start-up as a log's own events show it.

use firstflight_qlog::{Metrics, State};

use crate::exit::{Cause, Exit};
use crate::found::Found;

/// Maximum time between the entry of a loss or a mark and that of the controller's response, in nanoseconds. Stacks write both when they
/// handle an ACK, in either order.
const RESPONSE: u64 = 2_000_000;

/// What the log reported about its controller so far.
#[derive(Debug, Default)]
pub(super) struct Ending {
    state: Option<State>,
    /// The last window, and the time of its entry.
    window: Option<(u64, u64)>,
    /// The window before the last reduction, and the time of the reduction's entry.
    before: Option<(u64, u64)>,
    ssthresh: Option<u64>,
    lost: Option<u64>,
    marked: Option<u64>,
    exit: Option<Shown>,
    /// A reduced window without a cause so far.
    reduced: Option<Shown>,
}

/// An end of start-up, the kind of entry that shows it, and the congestion window before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub(super) exit: Exit,
    by: &'static str,
    window: Option<u64>,
}

/// The end of start-up in the log.
#[derive(Debug)]
pub(super) enum Ended {
    /// The log shows it.
    At(Shown),
    /// The log's controller stayed in slow start.
    Never,
    /// The log does not show it. Its packets may.
    Unknown,
}

impl Ending {
    /// Takes a loss of data.
    pub(super) fn lost(&mut self, at: u64) {
        self.lost = Some(at);
        self.explain(at, Cause::Loss);
    }

    /// Takes an ACK that reports a congestion mark.
    pub(super) fn marked(&mut self, at: u64) {
        self.marked = Some(at);
        self.explain(at, Cause::Mark);
    }

    /// Gives the response that came just before its cause this cause.
    fn explain(&mut self, at: u64, cause: Cause) {
        let is_its = |shown: &Shown| at.saturating_sub(shown.exit.at) <= RESPONSE;
        if let Some(reduced) = self.reduced.take().filter(is_its) {
            self.exit.get_or_insert(Shown { exit: Exit { cause, ..reduced.exit }, ..reduced });
        }
        if let Some(shown) = self.exit.as_mut().filter(|shown| is_its(shown))
            && shown.exit.cause == Cause::Reported
        {
            shown.exit.cause = cause;
        }
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
            let (cause, at) = match self.cause(at) {
                _ if is_timeout => (Cause::Timeout, at),
                _ if is_mark => (Cause::Mark, at),
                Some(found) => found,
                None if state == State::Recovery => (Cause::Loss, at),
                None => (Cause::Reported, at),
            };
            self.end(at, cause, "state", flight);
        }
    }

    /// Takes new values of the controller. A log with states does not need them: a controller may set its threshold before it leaves slow
    /// start.
    pub(super) fn metrics(&mut self, at: u64, metrics: &Metrics, flight: Option<u64>) {
        let found = self.cause(at);
        let last = self.window.map(|(window, _)| window);
        let is_reduced = last.zip(metrics.window).is_some_and(|(before, window)| window < before);
        if let Some(ssthresh) = metrics.ssthresh {
            let before = self.ssthresh.replace(ssthresh);
            // A first threshold above a window that was not reduced is the initial one, whenever the log has it.
            let is_above = metrics.window.or(last).is_some_and(|window| window < ssthresh);
            let is_initial = before.is_none() && is_above && !is_reduced && found.is_none();
            if before != Some(ssthresh) && !is_initial && self.state.is_none() {
                let (cause, at) = found.unwrap_or((Cause::Reported, at));
                self.end(at, cause, "ssthresh", flight);
            }
        }
        let Some(window) = metrics.window else { return };
        if is_reduced && self.state.is_none() && self.ssthresh.is_none() {
            match found {
                Some((cause, at)) => self.end(at, cause, "window", flight),
                None => self.reduced = self.shown(at, Cause::Reported, "window", flight),
            }
        }
        if let Some((before, _)) = self.window.filter(|_| is_reduced) {
            self.before = Some((before, at));
        }
        self.window = Some((window, at));
    }

    /// Returns the cause of a response at `at`, and its time: a loss or a mark just before, or since the last entry of a window.
    fn cause(&self, at: u64) -> Option<(Cause, u64)> {
        let since = self.window.map_or(at, |(_, at)| at).min(at.saturating_sub(RESPONSE));
        let is_recent = |then: &u64| *then >= since;
        let lost = self.lost.filter(is_recent).map(|at| (Cause::Loss, at));
        lost.or_else(|| self.marked.filter(is_recent).map(|at| (Cause::Mark, at)))
    }

    /// Records the first end.
    fn end(&mut self, at: u64, cause: Cause, by: &'static str, flight: Option<u64>) {
        self.exit = self.exit.or_else(|| self.shown(at, cause, by, flight));
    }

    /// Returns an end; `None` before the first data: a threshold or a state is then the initial one.
    fn shown(&self, at: u64, cause: Cause, by: &'static str, flight: Option<u64>) -> Option<Shown> {
        let reduced_now = self.before.filter(|(_, then)| at.saturating_sub(*then) <= RESPONSE);
        let window = reduced_now.or(self.window).map(|(window, _)| window);
        flight.map(|flight| Shown { exit: Exit::new(cause, at, flight), by, window })
    }

    pub(super) fn finish(self) -> Ended {
        match (self.exit, self.state) {
            (Some(shown), _) => Ended::At(shown),
            (None, Some(State::SlowStart)) => Ended::Never,
            (None, _) => Ended::Unknown,
        }
    }
}

impl Ended {
    /// Adds what only a log shows to the results.
    pub(super) fn tell(&self, found: &mut Found) {
        match *self {
            Self::At(shown) => {
                (found.exit_shown_by, found.exit_window_bytes) = (Some(shown.by), shown.window);
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
