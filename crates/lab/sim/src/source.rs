//! A constant-rate source of unresponsive traffic.

use firstflight::{Rate, Span, Time};

use firstflight_tcp::Role;

use crate::fault::FlowFault;
use crate::packet::{FlowId, Packet, Payload};
use crate::quantity::{PACKET_LIMIT, RATE_LIMIT};
use crate::random::{Purpose, Stream};
use crate::transmitter::transmission;

/// Unresponsive datagrams at a constant bit rate. The first datagram is sent a random phase after the start of the
/// flow, which is drawn uniformly from zero to the time between packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CbrSpec {
    /// IP bits per second. The fraction of a nanosecond between packets is carried over, so the long-run rate is
    /// exact.
    pub rate: Rate,
    /// IP bytes of a packet.
    pub packet: u32,
    /// The instant from which no packet is sent; `None` for no end.
    pub stop: Option<Time>,
}

impl CbrSpec {
    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        match (self.rate, self.packet) {
            (Rate::ZERO, _) => Err(FlowFault::ZeroRate),
            (_, 0) => Err(FlowFault::ZeroPacket),
            (rate, _) if rate > RATE_LIMIT => Err(FlowFault::HugeRate),
            (_, packet) if packet > PACKET_LIMIT => Err(FlowFault::HugePacket),
            (_, _) => Ok(()),
        }
    }
}

/// A source of datagrams at a constant bit rate.
#[derive(Clone, Debug)]
pub(crate) struct Cbr {
    id: FlowId,
    spec: CbrSpec,
    packets: u64,
    /// The instant at which the next datagram is sent; `None` once the source has stopped.
    next: Option<Time>,
    /// The time of a datagram at the rate: whole nanoseconds, and the remainder in units of 1 / rate ns.
    interval: (u64, u64),
    /// The part of a nanosecond, in units of 1 / rate ns, by which the next datagram is due later than its event.
    remainder: u64,
}

impl Cbr {
    /// Returns a source that starts at `start`.
    pub(crate) fn new(id: FlowId, spec: CbrSpec, start: Time, seed: u64) -> Self {
        let interval = transmission(spec.rate, spec.packet, 0);
        let phase = Stream::new(seed, Purpose::Phase, id.0, 0).below(interval.0);
        let mut source = Self { id, spec, packets: 0, next: None, interval, remainder: 0 };
        source.next = source.unless_stopped(start + Span::from_nanos(phase));
        source
    }

    /// Returns when the next datagram is sent; `None` once the source has stopped.
    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.next
    }

    /// Returns when the datagram after the next `count` is sent, or an earlier datagram.
    pub(crate) fn after(&self, count: u64) -> Option<Time> {
        let next = self.next?;
        let later = next + Span::from_nanos(self.interval.0.saturating_mul(count));
        Some(self.unless_stopped(later).unwrap_or(next))
    }

    /// Returns the flow of the datagrams.
    #[inline]
    pub(crate) fn flow(&self) -> FlowId {
        self.id
    }

    /// Returns the IP bytes of a datagram.
    #[inline]
    pub(crate) fn wire(&self) -> u32 {
        self.spec.packet
    }

    /// Returns whether no datagram has been sent.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        self.packets == 0
    }

    /// Returns the datagram that is sent next.
    pub(crate) fn packet(&self) -> Packet {
        self.datagram(self.packets, self.next.unwrap_or_default())
    }

    /// Returns the datagram that was sent last, at `sent_at`.
    pub(crate) fn packet_before(&self, sent_at: Time) -> Packet {
        self.datagram(self.packets - 1, sent_at)
    }

    fn datagram(&self, number: u64, sent_at: Time) -> Packet {
        Packet {
            flow: self.id,
            from: Role::Client,
            retransmission: false,
            wire: self.spec.packet,
            number,
            sent_at,
            payload: Payload::Datagram,
        }
    }

    /// Records that the next datagram was sent.
    pub(crate) fn advance(&mut self) {
        match self.next {
            Some(now) => self.advance_from(now),
            None => self.packets += 1,
        }
    }

    /// Records that the next datagram was sent at `now`.
    #[inline]
    pub(crate) fn advance_from(&mut self, now: Time) {
        self.packets += 1;
        let (nanos, remainder) = self.interval;
        let remainder = self.remainder.saturating_add(remainder);
        let carry = u64::from(remainder >= self.spec.rate.bps());
        self.remainder = remainder - carry * self.spec.rate.bps();
        // At a rate so high that packets are less than a nanosecond apart, several are sent at one instant.
        self.next = self.unless_stopped(now.after_nanos(nanos + carry));
    }

    /// Records that all datagrams up to `last` were sent. Returns their number, and when the last of them was sent;
    /// `None`, without effect, if there was none.
    pub(crate) fn advance_through(&mut self, last: Time) -> Option<(u64, Time)> {
        let next = self.next?;
        let last = self.spec.stop.map_or(last, |stop| last.min(stop - Span::from_nanos(1)));
        if last < next {
            return None;
        }
        // The k-th after the next is sent (remainder + k work) / rate nanoseconds after it.
        let rate = u128::from(self.spec.rate.bps().max(1));
        let work = u128::from(self.interval.0) * rate + u128::from(self.interval.1);
        let remainder = u128::from(self.remainder);
        let end = (u128::from(last.nanos_since(next)) + 1) * rate;
        let others = (end - 1 - remainder) / work.max(1);
        let left = |work: u128| next.after_nanos(u64::try_from(work / rate).unwrap_or(u64::MAX));
        let (latest, following) = (remainder + others * work, remainder + (others + 1) * work);
        let count = u64::try_from(others + 1).unwrap_or(u64::MAX);
        self.packets = self.packets.saturating_add(count);
        self.remainder = u64::try_from(following % rate).unwrap_or(0);
        self.next = self.unless_stopped(left(following));
        Some((count, left(latest)))
    }

    /// Returns this source as a receiver observes it, `by` later. The returned source never stops.
    pub(crate) fn heard_later(&self, by: Span) -> Self {
        let spec = CbrSpec { stop: None, ..self.spec };
        Self { spec, next: self.next.map(|next| next + by), ..self.clone() }
    }

    /// Returns the minimum number of nanoseconds between two datagrams.
    #[inline]
    pub(crate) fn interval(&self) -> u64 {
        self.interval.0
    }

    fn unless_stopped(&self, at: Time) -> Option<Time> {
        self.spec.stop.is_none_or(|stop| at < stop).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the result with that of one datagram after the other.
        #[test]
        fn datagrams_that_leave_at_once_are_those_that_leave_one_by_one(
            rate in prop_oneof![1u64..1_000, 1_000u64..100_000_000_000],
            packet in 1u32..65_536,
            seed in 0u64..4,
            stop in proptest::option::of(0u64..3_000_000_000),
            spans in proptest::collection::vec(0u64..60, 1..8),
        ) {
            let spec = CbrSpec { rate: Rate::from_bps(rate), packet, stop: stop.map(Time::from_nanos) };
            let mut at_once = Cbr::new(FlowId(0), spec, Time::from_nanos(7), seed);
            let mut one_by_one = at_once.clone();
            let mut last = at_once.next().unwrap_or_default();
            for span in spans {
                last = last + Span::from_nanos((span * at_once.interval() + span) / 4);
                let (mut count, mut latest) = (0, None);
                while let Some(next) = one_by_one.next().filter(|next| *next <= last) {
                    one_by_one.advance_from(next);
                    (count, latest) = (count + 1, Some(next));
                }
                prop_assert_eq!(at_once.advance_through(last), latest.map(|latest| (count, latest)));
                prop_assert_eq!(
                    (at_once.packets, at_once.next, at_once.remainder),
                    (one_by_one.packets, one_by_one.next, one_by_one.remainder)
                );
            }
        }
    }

    #[test]
    fn all_that_time_has_room_for_can_leave_at_once() {
        let spec = CbrSpec { rate: Rate::from_bps(100_000_000_000), packet: 1, stop: None };
        let mut source = Cbr::new(FlowId(0), spec, Time::ZERO, 1);
        let (count, latest) = source.advance_through(Time::MAX).expect("it never stops");
        assert!(count > u64::MAX / 2 && latest == Time::MAX, "{count} datagrams until {latest:?}");
    }
}
