//! Round-trip times and the probe timeout (RFC 9002 sections 5 and 6.2.1).

use firstflight::{Path, Span};

/// The timer granularity (RFC 9002 section 6.1.2).
const GRANULARITY: Span = Span::from_millis(1);
/// The RTT before any sample (RFC 9002 section 6.2.2).
const INITIAL_RTT: Span = Span::from_millis(333);

/// The state of RTT estimation that a [`Path`] does not hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrips {
    variation: Span,
    max_ack_delay: Span,
    /// Whether the next sample replaces the minimum, after persistent congestion (RFC 9002 section 5.2).
    forgets_minimum: bool,
}

impl RoundTrips {
    pub(crate) fn new(max_ack_delay: Span) -> Self {
        Self { variation: INITIAL_RTT / 2, max_ack_delay, forgets_minimum: false }
    }

    /// Takes a sample (RFC 9002 section 5.3). The sample includes the peer's ACK delay, because the hooks of stacks do not report it.
    pub(crate) fn sample(&mut self, path: &mut Path, rtt: Span) {
        if core::mem::take(&mut self.forgets_minimum) {
            path.min_rtt = None;
        }
        self.variation = match path.srtt {
            None => rtt / 2,
            Some(srtt) => self.variation.scale(3, 4) + (srtt.max(rtt) - srtt.min(rtt)) / 4,
        };
        path.sampled(rtt);
        path.rto = self.probe_timeout(path.srtt);
    }

    /// Returns the probe timeout (RFC 9002 section 6.2.1).
    pub(crate) fn probe_timeout(&self, srtt: Option<Span>) -> Span {
        srtt.unwrap_or(INITIAL_RTT) + (self.variation * 4).max(GRANULARITY) + self.max_ack_delay
    }

    /// Returns the state for another path of the connection.
    pub(crate) fn afresh(&self) -> Self {
        Self::new(self.max_ack_delay)
    }

    pub(crate) fn set_max_ack_delay(&mut self, delay: Span) {
        self.max_ack_delay = delay;
    }

    pub(crate) fn forget_minimum(&mut self) {
        self.forgets_minimum = true;
    }
}
