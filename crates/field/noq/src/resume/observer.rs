//! Observation of the path's capacity (RFC 9959 sections 3.1 and 4.1).

use std::time::{Duration, Instant};

/// The smallest observation worth saving, in initial windows (section 3.1).
pub const MIN_INITIAL_WINDOWS: u64 = 4;

/// An observer of the bytes acknowledged in a round trip.
///
/// A round trip ends with the ACK of a packet that was sent after the round trip began. It counts if the application
/// was never the limit in it: a sender without data measures itself, not the path.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    min_rtt: Option<Duration>,
    began: Option<Instant>,
    acked: u64,
    ended: bool,
    limited: bool,
}

impl Observer {
    /// Returns the smallest time between the transmission of a packet and its ACK.
    pub fn min_rtt(&self) -> Option<Duration> {
        self.min_rtt
    }

    /// Counts an acknowledged packet.
    pub fn on_acked(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool) {
        let sample = now.saturating_duration_since(sent);
        self.min_rtt = Some(self.min_rtt.map_or(sample, |min| min.min(sample)));
        self.acked += bytes;
        self.limited |= app_limited;
        self.ended |= self.began.is_some_and(|began| sent >= began);
    }

    /// Ends the processing of an ACK frame. Returns the bytes acknowledged in the round trip that it ends, unless the
    /// application was the limit.
    pub fn on_end_acks(&mut self, now: Instant, app_limited: bool) -> Option<u64> {
        self.limited |= app_limited;
        if self.began.is_some() && !self.ended {
            return None;
        }
        let whole = self.began.is_some() && !self.limited;
        let acked = std::mem::take(&mut self.acked);
        self.began = Some(now);
        self.ended = false;
        self.limited = app_limited;
        whole.then_some(acked)
    }
}
