//! The delivery rate (draft-cheng-iccrg-delivery-rate-estimation): the lower of the send rate and the ACK rate during the flight of a
//! packet.

use firstflight::{Bytes, Rate, Span, Time};

/// The state of a connection's delivery-rate samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSampler {
    delivered_at: Time,
    first_sent_at: Time,
}

/// The state of the sampler when a packet was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AtSend {
    since_delivery: Span,
    since_first_sent: Span,
}

impl RateSampler {
    /// Records a transmission; if `idle` (nothing is in flight), a new sampling interval begins.
    pub(crate) fn on_send(&mut self, now: Time, idle: bool) -> AtSend {
        if idle {
            (self.first_sent_at, self.delivered_at) = (now, now);
        }
        AtSend {
            since_delivery: now.since(self.delivered_at),
            since_first_sent: now.since(self.first_sent_at),
        }
    }

    /// Records an ACK whose newest packet was sent at `newest`.
    pub(crate) fn on_ack(&mut self, now: Time, newest: Time) {
        (self.delivered_at, self.first_sent_at) = (now, newest);
    }

    /// Returns the rate at which `carried` bytes were delivered during the flight of the packet sent at `sent_at`.
    pub(crate) fn sample(now: Time, sent_at: Time, at_send: AtSend, carried: Bytes) -> Option<Rate> {
        let ack_elapsed = now.since(sent_at) + at_send.since_delivery;
        carried.per(at_send.since_first_sent.max(ack_elapsed))
    }
}
