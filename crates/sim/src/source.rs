//! Unresponsive traffic.

use firstflight::{Span, Time};

use crate::fabric::Fabric;
use crate::link::transmission;
use crate::network::CbrSpec;
use crate::packet::{FlowId, Packet, Payload, Side};
use crate::random::{Purpose, Stream};
use crate::recorder::Recorder;

/// A source of datagrams at a constant bit rate.
#[derive(Clone, Debug)]
pub(crate) struct Cbr {
    id: FlowId,
    spec: CbrSpec,
    packets: u64,
    /// What a datagram takes at the rate: whole nanoseconds, and the rest over the rate.
    interval: (u64, u64),
    /// The next datagram is due this part of a nanosecond after its event, over the rate.
    remainder: u64,
}

impl Cbr {
    /// A source that starts at `start`, and when its first datagram leaves.
    pub(crate) fn new(id: FlowId, spec: CbrSpec, start: Time, seed: u64) -> (Self, Option<Time>) {
        let interval = transmission(spec.rate, spec.packet, 0);
        let phase = Stream::new(seed, Purpose::Phase, id.0, 0).below(interval.0);
        let source = Self { id, spec, packets: 0, interval, remainder: 0 };
        let first = source.unless_stopped(start + Span::from_nanos(phase));
        (source, first)
    }

    /// A datagram is due.
    pub(crate) fn on_timer<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        fabric.flows[self.id.index()].started.get_or_insert(now);
        let packet = Packet {
            flow: self.id,
            from: Side::Client,
            retransmission: false,
            wire: self.spec.packet,
            number: self.packets,
            sent_at: now,
            payload: Payload::Datagram,
            hop: 0,
        };
        self.packets += 1;
        fabric.send_datagram(now, packet, recorder);
        let (nanos, remainder) = self.interval;
        let remainder = self.remainder.saturating_add(remainder);
        let carry = u64::from(remainder >= self.spec.rate.bps());
        self.remainder = remainder - carry * self.spec.rate.bps();
        // At a rate so high that packets are less than a nanosecond apart, several leave at one instant.
        let next = self.unless_stopped(now + Span::from_nanos(nanos + carry));
        fabric.wake(self.id, Side::Client, next);
    }

    fn unless_stopped(&self, at: Time) -> Option<Time> {
        self.spec.stop.is_none_or(|stop| at < stop).then_some(at)
    }
}
