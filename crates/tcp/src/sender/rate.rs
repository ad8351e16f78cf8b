//! The delivery rate (draft-cheng-iccrg-delivery-rate-estimation): the slower of the send and the ACK rate over
//! a packet's flight.

use firstflight::{Bytes, Rate, Span, Time};

/// The sampler's connection state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSampler {
    /// Bytes delivered so far.
    delivered: Bytes,
    delivered_at: Time,
    first_sent_at: Time,
}

/// What was kept of a packet as it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    pub(crate) sent_at: Time,
    pub(crate) delivered_at_send: Bytes,
    pub(crate) since_delivery: u32,
    pub(crate) since_first_sent: u32,
}

impl RateSampler {
    pub(crate) fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// A packet leaves; with nothing in flight a new sampling interval begins. Gives the spans to keep with the
    /// packet: since the newest delivery, and since the interval's first transmission.
    #[inline]
    pub(crate) fn on_send(&mut self, now: Time, idle: bool) -> (u32, u32) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        (short(now.nanos_since(self.delivered_at)), short(now.nanos_since(self.first_sent_at)))
    }

    /// One ACK delivered `bytes`. Of the packets delivered whole, the `newest` left then.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, bytes: Bytes, newest: Option<Time>) {
        if bytes.is_zero() {
            return;
        }
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = newest.unwrap_or(self.first_sent_at);
    }

    /// The sample that the ACK just heard gives. Of the packets that it delivered, `newest` left last.
    pub(crate) fn sample(&self, now: Time, newest: &Flight) -> Option<Rate> {
        let send_elapsed = long(newest.since_first_sent)?;
        let ack_elapsed = now.since(newest.sent_at) + long(newest.since_delivery)?;
        let carried = self.delivered - newest.delivered_at_send;
        carried.per(send_elapsed.max(ack_elapsed))
    }
}

/// Nanoseconds in 32 bits; longer spans than 4 s give no sample.
fn short(nanos: u64) -> u32 {
    u32::try_from(nanos).unwrap_or(u32::MAX)
}

fn long(nanos: u32) -> Option<Span> {
    (nanos != u32::MAX).then(|| Span::from_nanos(u64::from(nanos)))
}
