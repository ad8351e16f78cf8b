//! The minimum round-trip time (`BBR.min_rtt`), and when the next probe for it is due.

use crate::units::{Span, Time};

/// `BBR.MinRTTFilterLen` and `BBR.ProbeRTTInterval`, which have one value.
const WINDOW: Span = Span::from_secs(10);

/// The minimum round-trip time of the last ten seconds (section "ProbeRTT Logic").
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    minimum: Option<Span>,
    stamp: Time,
    expired: bool,
}

impl MinRtt {
    /// Creates a filter without samples.
    pub(crate) const fn new() -> Self {
        Self { minimum: None, stamp: Time::ZERO, expired: false }
    }

    /// Initializes the filter (`OnInit`) with the smoothed round-trip time of the handshake, if it is known.
    pub(crate) const fn begin(&mut self, now: Time, srtt: Option<Span>) {
        *self = Self { minimum: srtt, stamp: now, expired: false };
    }

    /// Returns whether the minimum is older than ten seconds at `now`.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.minimum.is_some() && now > self.stamp + WINDOW
    }

    /// Adds the round-trip sample of an ACK at `now`, if the ACK has one (`UpdateMinRTT`).
    pub(crate) fn sampled(&mut self, now: Time, rtt: Option<Span>) {
        self.expired = self.is_due(now);
        let Some(rtt) = rtt else { return };
        if self.expired || self.minimum.is_none_or(|minimum| rtt < minimum) {
            (self.minimum, self.stamp) = (Some(rtt), now);
        }
    }

    /// Returns `BBR.min_rtt`; `None` before the first sample.
    pub(crate) const fn get(&self) -> Option<Span> {
        self.minimum
    }

    /// Returns whether the minimum had expired at the newest ACK (`BBR.min_rtt_expired`).
    pub(crate) const fn has_expired(&self) -> bool {
        self.expired
    }

    /// Schedules the next probe an interval after `now`.
    pub(crate) const fn probed(&mut self, now: Time) {
        self.stamp = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn a_probe_is_due_after_ten_seconds_without_a_lower_sample() {
        let mut minimum = MinRtt::new();
        minimum.sampled(at(1), Some(ms(40)));
        minimum.sampled(at(4), Some(ms(50)));
        assert!(!minimum.has_expired());
        minimum.sampled(at(5), Some(ms(39)));
        minimum.sampled(at(15), Some(ms(50)));
        assert!(!minimum.has_expired(), "the lower sample began a new interval");
        assert_eq!(minimum.get(), Some(ms(39)));
        minimum.sampled(at(16), Some(ms(50)));
        assert!(minimum.has_expired());
        assert_eq!(minimum.get(), Some(ms(50)), "a longer path is believed after ten seconds");
    }

    #[test]
    fn a_probe_that_was_made_is_not_due_for_ten_seconds() {
        let mut minimum = MinRtt::new();
        minimum.begin(at(0), Some(ms(40)));
        assert!(minimum.is_due(at(11)));
        minimum.probed(at(11));
        minimum.sampled(at(21), Some(ms(60)));
        assert!(!minimum.has_expired());
    }
}
