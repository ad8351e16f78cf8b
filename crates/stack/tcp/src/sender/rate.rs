//! The delivery rate (draft-cheng-iccrg-delivery-rate-estimation): the lower of the send rate and the ACK rate during the flight of a
//! packet.

use firstflight::{Bytes, Rate, Span, Time};

/// The connection's state for delivery-rate samples.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateSampler {
    /// Number of bytes delivered so far.
    delivered: Bytes,
    delivered_at: Time,
    first_sent_at: Time,
}

/// The state that was recorded when a packet was sent.
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

    /// Records a transmission. If `idle` (nothing is in flight), a new sampling interval begins. Returns two spans to store with the
    /// packet: the time since the newest delivery, and the time since the first transmission of the interval.
    #[inline]
    pub(crate) fn on_send(&mut self, now: Time, idle: bool) -> (u32, u32) {
        if idle {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        (short(now.nanos_since(self.delivered_at)), short(now.nanos_since(self.first_sent_at)))
    }

    /// Records an ACK that delivered `bytes` bytes. `newest` is the transmission time of the newest packet that is now fully delivered.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, bytes: Bytes, newest: Option<Time>) {
        if bytes.is_zero() {
            return;
        }
        self.delivered += bytes;
        self.delivered_at = now;
        self.first_sent_at = newest.unwrap_or(self.first_sent_at);
    }

    /// Returns the rate sample of the last ACK. `newest` is the state of the last sent packet among those that the ACK delivered. `None` if
    /// there is no valid sample.
    pub(crate) fn sample(&self, now: Time, newest: &Flight) -> Option<Rate> {
        let send_elapsed = long(newest.since_first_sent)?;
        let ack_elapsed = now.since(newest.sent_at) + long(newest.since_delivery)?;
        let carried = self.delivered - newest.delivered_at_send;
        carried.per(send_elapsed.max(ack_elapsed))
    }
}

/// Returns nanoseconds in 32 bits. Spans longer than 4 s are limited, and give no sample.
fn short(nanos: u64) -> u32 {
    u32::try_from(nanos).unwrap_or(u32::MAX)
}

fn long(nanos: u32) -> Option<Span> {
    (nanos != u32::MAX).then(|| Span::from_nanos(u64::from(nanos)))
}
