//! A link with a drop-tail FIFO queue, a transmitter and a wire, as one ring of packets whose times are all known
//! when they enter.
//!
//! A FIFO that drops only at its tail decides a packet's whole future on arrival, so the link needs no event for
//! the start or end of a transmission: it catches up with those whenever it is touched.

use firstflight::{Bytes, Time};

use super::parts::{Meter, Transmitter, Wire};
use super::{Entry, Fate, Passage};
use crate::network::{LinkSpec, QueueLimit};
use crate::packet::{DropCause, LinkId, PacketId};
use crate::policer::Policer;
use crate::pool::Parcel;
use crate::recorder::Recorder;
use crate::ring::Ring;
use crate::stats::{FlowStats, LinkStats};

#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    id: LinkId,
    queue: QueueLimit,
    policer: Option<Policer>,
    ring: Ring<Passage>,
    /// The ring's first packet that has not started transmission, or its end.
    unstarted: u64,
    /// The ring's first packet that is not quiet, or its end.
    loud: u64,
    transmitter: Transmitter,
    wire: Wire,
    waiting_bytes: u64,
    /// The instant at which a packet last left the queue for the transmitter, and its size.
    freed: Option<(Time, u64)>,
    meter: Meter,
}

impl DropTail {
    pub(crate) fn new(id: LinkId, spec: &LinkSpec, seed: u64) -> Self {
        Self {
            id,
            queue: spec.queue,
            policer: spec.policer.map(Policer::new),
            ring: Ring::new(),
            unstarted: 0,
            loud: 0,
            transmitter: Transmitter::new(spec),
            wire: Wire::new(id, spec, seed),
            waiting_bytes: 0,
            freed: None,
            meter: Meter::default(),
        }
    }

    /// A packet comes to the near end. `quiet` says that nothing depends on when it arrives.
    #[inline]
    pub(crate) fn enter<W: Recorder>(
        &mut self,
        now: Time,
        parcel: Parcel,
        quiet: bool,
        sequence: u64,
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> Entry {
        self.catch_up(now, recorder);
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, parcel.wire)) {
            self.meter.stats.dropped_by_policer += 1;
            return Entry::Dropped(DropCause::Policer);
        }
        if !self.has_room(now, parcel.wire) {
            self.meter.stats.dropped_by_queue += 1;
            return Entry::Dropped(DropCause::Queue);
        }
        self.meter.accept(parcel.wire);
        let starts = self.transmitter.transmit(now, parcel.wire);
        let (arrives, lost) = self.wire.carry(parcel.flow.index(), self.transmitter.free_at());
        let quiet = quiet && !lost;
        if quiet && self.ring.is_full() {
            self.sink(now, flows, recorder);
        }
        let (fate, parcel) = match (lost, quiet) {
            (true, _) => (Fate::Lost, parcel),
            (false, true) => (Fate::Quiet, Parcel { id: PacketId(parcel.flow.0), ..parcel }),
            (false, false) => (Fate::Arrives, parcel),
        };
        let name = self.ring.end();
        if starts > now {
            self.count_to(now);
            self.ring.push(Passage::new(parcel, starts, arrives, sequence, fate));
            self.waiting_bytes += u64::from(parcel.wire);
            self.meter.peak(self.waiting(), self.waiting_bytes);
            recorder.queue(now, self.id, Bytes::new(self.waiting_bytes), self.waiting());
        } else {
            // Nothing can wait ahead of a packet that starts at once.
            self.ring.push(Passage::new(parcel, starts, arrives, sequence, fate));
            self.unstarted = self.ring.end();
        }
        if quiet {
            self.loud += u64::from(self.loud == name);
            Entry::Quietly
        } else if self.loud == name {
            Entry::Next(arrives, sequence)
        } else {
            Entry::Behind
        }
    }

    /// The next arrival that something depends on.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<(Time, u64)> {
        self.ring.get(self.loud).map(|passage| (passage.arrives, passage.sequence()))
    }

    /// When the last packet so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        self.wire.last_arrival()
    }

    /// Takes the first packet that has arrived by `now`, behind those that were to be counted.
    pub(crate) fn arrival<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Passage> {
        self.ring.first().filter(|passage| passage.arrives <= now)?;
        self.catch_up(now, recorder);
        let name = self.ring.head();
        let passage = self.ring.pop()?;
        if self.loud == name {
            self.loud += 1;
            while self.ring.get(self.loud).is_some_and(Passage::is_quiet) {
                self.loud += 1;
            }
        }
        self.meter.stats.dropped_at_random += u64::from(passage.is_lost());
        Some(passage)
    }

    /// Whether no packet is lost on the wire.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        !self.wire.may_lose()
    }

    /// Counts what has reached its sink by `now`, ahead of any packet on which something depends.
    #[inline]
    pub(crate) fn sink<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        if self.ring.head() == self.loud {
            return;
        }
        self.catch_up(now, recorder);
        while self.ring.head() < self.loud
            && let Some(passage) = self.ring.first().filter(|passage| passage.arrives <= now)
        {
            flows[passage.packet.index()].delivered_bytes += u64::from(passage.wire);
            self.ring.pop();
        }
    }

    /// Lets the transmissions start that are due by `now`.
    pub(crate) fn catch_up<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        while let Some(&Passage { starts, wire, .. }) = self.ring.get(self.unstarted) {
            if starts > now {
                break;
            }
            self.count_to(starts);
            self.unstarted += 1;
            self.waiting_bytes -= u64::from(wire);
            self.freed = Some((starts, u64::from(wire)));
            recorder.queue(starts, self.id, Bytes::new(self.waiting_bytes), self.waiting());
        }
    }

    /// Counters up to `now`, which the link has caught up with.
    pub(crate) fn stats(&self, now: Time) -> LinkStats {
        self.meter.stats(now, self.waiting(), self.waiting_bytes)
    }

    /// Packets that wait for transmission.
    fn waiting(&self) -> u32 {
        u32::try_from(self.ring.end() - self.unstarted).unwrap_or(u32::MAX)
    }

    /// Whether a packet may enter. One that finds the transmitter free does not wait and always may.
    ///
    /// A place freed at an instant is free after that instant: of an arrival and the end of a transmission at one
    /// time, the arrival comes first. (An event simulator whose source decided on its packet before the
    /// transmission began, as one with a constant rate does, orders them so. Cross traffic in step with the
    /// transmitter makes such ties the rule, and the other order would give it every place.)
    fn has_room(&self, now: Time, wire: u32) -> bool {
        if !self.transmitter.takes_time() || self.transmitter.free_at() < now || self.meter.stats.packets == 0
        {
            return true;
        }
        let (freed, bytes) = self.freed.filter(|(at, _)| *at == now).map_or((0, 0), |(_, bytes)| (1, bytes));
        match self.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting() + freed + 1 < limit,
            QueueLimit::Bytes(limit) => self.waiting_bytes + bytes + u64::from(wire) <= limit.get(),
        }
    }

    /// Continues the integrals to `at`, before what waits changes.
    fn count_to(&mut self, at: Time) {
        self.meter.count_to(at, self.waiting(), self.waiting_bytes);
    }
}

#[cfg(test)]
mod tests;
