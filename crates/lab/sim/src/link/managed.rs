//! A link whose queue is under a discipline, which selects the next packet when the transmitter is free.
//!
//! The link's event is the earlier of two: a packet arrives at the far end, or the transmitter is free and a packet
//! waits. The second comes last of all events at its instant, because a place freed at an instant is free only after
//! it.

use std::collections::VecDeque;

use firstflight::{Bytes, Time};

use super::queue_meter::QueueMeter;
use super::wire::Wire;
use crate::agenda::SEQUENCE;
use crate::aqm::{Aqm, Arrival, Outbox, Waiting};
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::packet::{DropCause, LinkId};
use crate::policer::Policer;
use crate::quantity::QueueLimit;
use crate::recorder::Recorder;
use crate::spec::LinkSpec;
use crate::stats::LinkStats;
use crate::transmitter::Transmitter;

/// Events with a sequence number from this on come last at their instant.
pub(super) const LATE: u64 = 1 << (SEQUENCE - 1);

#[derive(Clone, Debug)]
pub(crate) struct Managed {
    id: LinkId,
    queue: QueueLimit,
    policer: Option<Policer>,
    aqm: Aqm,
    transmitter: Transmitter,
    /// The opportunity at which the next packet leaves the queue, if packets are sent at opportunities and one waits.
    opens: Time,
    wire: Wire,
    /// Packets in transmission or on the wire.
    ring: VecDeque<Transit>,
    out: Outbox,
    /// IP bytes of packets that the discipline dropped after it had accepted them.
    dropped_bytes: u64,
    meter: QueueMeter,
}

impl Managed {
    pub(crate) fn new(id: LinkId, spec: &LinkSpec, aqm: Aqm, seed: u64) -> Self {
        Self {
            id,
            queue: spec.queue,
            policer: spec.policer.map(Policer::new),
            aqm,
            transmitter: Transmitter::new(spec.rate, spec.rates.as_ref()),
            opens: Time::ZERO,
            wire: Wire::new(id, spec, seed),
            ring: VecDeque::new(),
            out: Outbox::default(),
            dropped_bytes: 0,
            meter: QueueMeter::default(),
        }
    }

    /// Enters a packet at the near end.
    #[inline(never)]
    pub(crate) fn enter<W: Recorder>(&mut self, waiting: Waiting, recorder: &mut W) -> Result<(), DropCause> {
        let Waiting { descriptor, since: now, .. } = waiting;
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, descriptor.wire())) {
            self.meter.stats.dropped_by_policer += 1;
            return Err(DropCause::Policer);
        }
        if self.transmitter.waits_for_opportunities() {
            self.open_by(now, recorder);
        }
        let never = self.meter.stats.packets == 0;
        let free = self.transmitter.free_at();
        let idle = (never || free < now) && self.aqm.packets() == 0;
        let arrival = Arrival {
            now,
            room: idle || !self.transmitter.takes_time() || self.has_room(descriptor.wire()),
            idle_since: idle.then_some(free),
            rate: self.transmitter.rate_at(now),
        };
        self.count_to(now);
        let is_first = self.aqm.packets() == 0;
        if !self.aqm.arrive(arrival, waiting, &mut self.out) {
            self.meter.stats.dropped_by_queue += 1;
            return Err(DropCause::Queue);
        }
        self.meter.accept(descriptor.wire());
        if self.transmitter.waits_for_opportunities() {
            if is_first {
                self.opens = self.transmitter.opens(now);
            }
            self.meter.peak(self.aqm.packets().into(), self.aqm.bytes());
            self.tell(now, recorder);
        } else if idle || !self.transmitter.takes_time() {
            self.start(now);
        } else {
            self.meter.peak(self.aqm.packets().into(), self.aqm.bytes());
            self.tell(now, recorder);
        }
        Ok(())
    }

    /// Returns the next event: its time and its sequence number.
    #[inline(never)]
    pub(crate) fn next_event(&self) -> Option<(Time, u64)> {
        let arrival = self.ring.front().map(|transit| (transit.arrives, transit.descriptor.sequence()));
        let departure = (self.aqm.packets() > 0).then(|| (self.free_at(), LATE | u64::from(self.id.0)));
        match (arrival, departure) {
            (Some(arrival), Some(departure)) => Some(arrival.min(departure)),
            (one, other) => one.or(other),
        }
    }

    /// Handles the event: returns a packet that has arrived by `now`, or else begins the next transmission.
    #[inline(never)]
    pub(crate) fn event<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Transit> {
        let (at, place) = self.next_event().filter(|(at, _)| *at <= now)?;
        if place < LATE {
            let transit = self.ring.pop_front()?;
            self.meter.stats.dropped_at_random += u64::from(transit.is_lost());
            return Some(transit);
        }
        self.count_to(at);
        self.start(at);
        self.tell(at, recorder);
        None
    }

    pub(crate) fn take_dropped(&mut self) -> Option<Descriptor> {
        let descriptor = self.out.dropped.pop_front()?;
        self.meter.stats.dropped_by_queue += 1;
        self.dropped_bytes += u64::from(descriptor.wire());
        Some(descriptor)
    }

    pub(crate) fn take_marked(&mut self) -> Option<Descriptor> {
        let descriptor = self.out.marked.pop_front()?;
        self.meter.stats.marked += 1;
        Some(descriptor)
    }

    pub(crate) fn last_arrival(&self) -> Time {
        self.wire.last_arrival()
    }

    pub(crate) fn stats(&self, now: Time) -> LinkStats {
        let mut stats = self.meter.stats(now, self.aqm.packets(), self.aqm.bytes());
        let left = stats.bytes.saturating_sub(self.aqm.bytes() + self.dropped_bytes) * 8;
        stats.sent_bits = left.saturating_sub(self.transmitter.bits_between(now, self.transmitter.free_at()));
        stats
    }

    /// Returns when the next packet may leave the queue.
    fn free_at(&self) -> Time {
        if self.transmitter.waits_for_opportunities() { self.opens } else { self.transmitter.free_at() }
    }

    /// Uses the opportunities up to `now`: a packet that enters at the instant of one comes after it.
    #[cold]
    fn open_by<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        while self.aqm.packets() > 0 && self.opens <= now {
            let at = self.opens;
            self.count_to(at);
            self.start(at);
            self.tell(at, recorder);
        }
    }

    /// Moves the next packet from the queue to the transmitter, unless the discipline drops all waiting packets.
    fn start(&mut self, now: Time) {
        if let Some(Waiting { descriptor, flow, since, .. }) = self.aqm.depart(now, &mut self.out) {
            let entered = if self.transmitter.waits_for_opportunities() { since } else { now };
            let starts = self.transmitter.transmit(entered, descriptor.wire());
            let (arrives, lost) = self.wire.carry(|| flow.stream as usize, self.transmitter.free_at());
            let fate = if lost { Fate::Lost } else { Fate::Arrives };
            self.ring.push_back(Transit::new(descriptor, starts, arrives, fate));
        }
        if self.transmitter.waits_for_opportunities() {
            // All packets that wait came before this opportunity.
            self.opens = self.transmitter.opens(Time::from_nanos(now.nanos().saturating_sub(1)));
        }
    }

    /// Returns whether the queue has room. The packet in transmission counts as well: see [`QueueLimit::Packets`].
    fn has_room(&self, wire: u32) -> bool {
        match self.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => {
                self.aqm.packets() + u32::from(!self.transmitter.waits_for_opportunities()) < limit
            }
            QueueLimit::Bytes(limit) => self.aqm.bytes() + u64::from(wire) <= limit.get(),
        }
    }

    fn count_to(&mut self, at: Time) {
        self.meter.count_to(at, self.aqm.packets(), self.aqm.bytes());
    }

    fn tell<W: Recorder>(&self, at: Time, recorder: &mut W) {
        recorder.queue(at, self.id, Bytes::new(self.aqm.bytes()), self.aqm.packets());
    }
}
