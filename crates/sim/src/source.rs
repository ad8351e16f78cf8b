//! Unresponsive traffic.

use firstflight::{Span, Time};

use crate::link::transmission;
use crate::network::CbrSpec;
use crate::packet::{FlowId, Packet, Payload, Side};
use crate::random::{Purpose, Stream};

/// A source of datagrams at a constant bit rate.
#[derive(Clone, Debug)]
pub(crate) struct Cbr {
    id: FlowId,
    spec: CbrSpec,
    packets: u64,
    /// When the next datagram leaves, unless the source has stopped.
    next: Option<Time>,
    /// What a datagram takes at the rate: whole nanoseconds, and the rest over the rate.
    interval: (u64, u64),
    /// The next datagram is due this part of a nanosecond after its event, over the rate.
    remainder: u64,
}

impl Cbr {
    /// A source that starts at `start`.
    pub(crate) fn new(id: FlowId, spec: CbrSpec, start: Time, seed: u64) -> Self {
        let interval = transmission(spec.rate, spec.packet, 0);
        let phase = Stream::new(seed, Purpose::Phase, id.0, 0).below(interval.0);
        let mut source = Self { id, spec, packets: 0, next: None, interval, remainder: 0 };
        source.next = source.unless_stopped(start + Span::from_nanos(phase));
        source
    }

    /// When the next datagram leaves; `None` once it has stopped.
    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// When the next datagram but `count` leaves, or one before it.
    pub(crate) fn after(&self, count: u64) -> Option<Time> {
        let next = self.next?;
        let later = next + Span::from_nanos(self.interval.0.saturating_mul(count));
        Some(self.unless_stopped(later).unwrap_or(next))
    }

    /// The flow of the datagrams.
    #[inline]
    pub(crate) fn flow(&self) -> FlowId {
        self.id
    }

    /// IP bytes of a datagram.
    #[inline]
    pub(crate) fn wire(&self) -> u32 {
        self.spec.packet
    }

    /// Whether no datagram has left.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        self.packets == 0
    }

    /// The datagram that leaves next.
    pub(crate) fn packet(&self) -> Packet {
        self.datagram(self.packets, self.next.unwrap_or_default())
    }

    /// The datagram that left last, at this instant.
    pub(crate) fn packet_before(&self, sent_at: Time) -> Packet {
        self.datagram(self.packets - 1, sent_at)
    }

    fn datagram(&self, number: u64, sent_at: Time) -> Packet {
        Packet {
            flow: self.id,
            from: Side::Client,
            retransmission: false,
            wire: self.spec.packet,
            number,
            sent_at,
            payload: Payload::Datagram,
        }
    }

    /// The next datagram has left.
    pub(crate) fn advance(&mut self) {
        match self.next {
            Some(now) => self.advance_from(now),
            None => self.packets += 1,
        }
    }

    /// The same, which left now.
    #[inline]
    pub(crate) fn advance_from(&mut self, now: Time) {
        self.packets += 1;
        let (nanos, remainder) = self.interval;
        let remainder = self.remainder.saturating_add(remainder);
        let carry = u64::from(remainder >= self.spec.rate.bps());
        self.remainder = remainder - carry * self.spec.rate.bps();
        // At a rate so high that packets are less than a nanosecond apart, several leave at one instant.
        self.next = self.unless_stopped(now.after_nanos(nanos + carry));
    }

    fn unless_stopped(&self, at: Time) -> Option<Time> {
        self.spec.stop.is_none_or(|stop| at < stop).then_some(at)
    }
}
