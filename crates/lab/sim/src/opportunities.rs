//! A transmitter that sends at the opportunities of a trace, by mahimahi's rule.

use firstflight::Time;

use crate::trace::RateTrace;

/// The state of a transmitter that sends at opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    trace: RateTrace,
    /// The first opportunity that has not come, counted over all periods of the trace.
    next: u64,
    /// The bytes of the newest opportunity used that no packet has used.
    left: u32,
}

impl Opportunities {
    /// Returns the state at the run's time zero.
    pub(crate) fn new(trace: &RateTrace) -> Self {
        Self { trace: trace.clone(), next: trace.first_after(0, Time::ZERO), left: 0 }
    }

    pub(crate) fn trace(&self) -> &RateTrace {
        &self.trace
    }

    /// Sends a packet of `wire` IP bytes that arrived at `now`, after all packets before it, the last of which was sent at `free_at`.
    /// Returns the opportunity at which it starts and the one at which it ends.
    pub(crate) fn send(&mut self, free_at: Time, now: Time, wire: u32) -> (Time, Time) {
        let mut ends = free_at;
        if !self.has_left(free_at, now) {
            self.next = self.trace.first_after(self.next, now);
            ends = self.open();
        }
        let starts = ends;
        let mut wire = wire.saturating_add(RateTrace::OVERHEAD);
        while wire > self.left {
            wire -= self.left;
            ends = self.open();
        }
        self.left -= wire;
        (starts, ends)
    }

    /// Returns the opportunity at which [`Opportunities::send`] would start a packet that arrived at `now`.
    pub(crate) fn opens(&self, free_at: Time, now: Time) -> Time {
        if self.has_left(free_at, now) {
            return free_at;
        }
        self.trace.opportunity(self.trace.first_after(self.next, now))
    }

    /// Returns whether a packet that arrived at `now` may use what is left of the newest opportunity: it came before that.
    fn has_left(&self, free_at: Time, now: Time) -> bool {
        self.left > 0 && now < free_at
    }

    /// Takes the next opportunity, and returns its instant.
    fn open(&mut self) -> Time {
        let at = self.trace.opportunity(self.next);
        self.next += 1;
        self.left = RateTrace::OPPORTUNITY;
        at
    }
}
