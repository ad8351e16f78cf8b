//! The times of a connection's events, as nanoseconds since its first event.

use crate::head::Head;

/// The latest time, 36 years.
const LATEST: u64 = 1 << 60;

/// The clock of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    /// The first time, in units; `None` before it.
    first: Option<f64>,
    /// The last time returned.
    pub(crate) last: u64,
    /// Number of events that were earlier than the event before.
    pub(crate) set_back: u64,
}

impl Clock {
    /// Returns the time of an event at `time` by the log's clock. Time does not go back: an event that is earlier than the event before has
    /// that event's time.
    pub(crate) fn at(&mut self, time: f64, head: &Head) -> u64 {
        let since = (time - *self.first.get_or_insert(time)) * head.unit();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let at = (since.round() as u64).min(LATEST);
        self.set_back += u64::from(at < self.last || since < 0.0);
        self.last = self.last.max(at);
        self.last
    }

    /// Returns the time of the first event by the log's clock, in seconds; `None` before it, or if the number is too large.
    pub(crate) fn began(&self, head: &Head) -> Option<f64> {
        let is_relative = head.time_format().is_some_and(|format| format.starts_with("relative"));
        let is_relative = is_relative || head.has_differences() || !head.event_fields.is_empty();
        let reference = head.reference().filter(|_| is_relative).unwrap_or(0.0);
        let began = (self.first? + reference) * head.unit() / 1e9;
        began.is_finite().then_some(began)
    }
}
