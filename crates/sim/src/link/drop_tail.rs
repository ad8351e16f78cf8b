//! A link with a drop-tail FIFO queue, a transmitter and a wire, as one ring of packets whose times are all known
//! when they enter.
//!
//! A FIFO that drops only at its tail decides a packet's whole future on arrival, so the link needs no event for
//! the start or end of a transmission: it catches up with those whenever it is touched.

use std::collections::VecDeque;

use firstflight::{Bytes, Time};

use super::parts::{Meter, Transmitter, Wire};
use super::{Entry, Fate, Passage};
use crate::network::{LinkSpec, QueueLimit};
use crate::packet::{DropCause, LinkId, Packet};
use crate::policer::Policer;
use crate::recorder::Recorder;
use crate::stats::LinkStats;

#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    id: LinkId,
    queue: QueueLimit,
    policer: Option<Policer>,
    ring: VecDeque<Passage>,
    /// How many of the ring's first packets have started transmission.
    started: usize,
    /// How many of the ring's packets are not quiet.
    loud: usize,
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
            ring: VecDeque::new(),
            started: 0,
            loud: 0,
            transmitter: Transmitter::new(spec),
            wire: Wire::new(id, spec, seed),
            waiting_bytes: 0,
            freed: None,
            meter: Meter::default(),
        }
    }

    /// A packet comes to the near end. `quiet` says that nothing depends on when it arrives.
    pub(crate) fn enter<W: Recorder>(
        &mut self,
        now: Time,
        packet: Packet,
        quiet: bool,
        sequence: u64,
        recorder: &mut W,
    ) -> Entry {
        self.catch_up(now, recorder);
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, packet.wire)) {
            self.meter.stats.dropped_by_policer += 1;
            return Entry::Dropped(DropCause::Policer);
        }
        if !self.has_room(now, packet.wire) {
            self.meter.stats.dropped_by_queue += 1;
            return Entry::Dropped(DropCause::Queue);
        }
        self.meter.accept(packet.wire);
        let starts = self.transmitter.transmit(now, packet.wire);
        let (arrives, lost) = self.wire.carry(packet.flow.index(), self.transmitter.free_at());
        let quiet = quiet && !lost;
        let fate = match (lost, quiet) {
            (true, _) => Fate::Lost,
            (false, true) => Fate::Quiet,
            (false, false) => Fate::Arrives,
        };
        self.count_to(now);
        self.ring.push_back(Passage::new(packet, starts, arrives, sequence, fate));
        self.loud += usize::from(!quiet);
        if starts > now {
            self.waiting_bytes += u64::from(packet.wire);
            self.meter.peak(self.waiting(), self.waiting_bytes);
            recorder.queue(now, self.id, Bytes::new(self.waiting_bytes), self.waiting());
        } else {
            // Nothing can wait ahead of a packet that starts at once.
            self.started += 1;
        }
        if !quiet && self.loud == 1 { Entry::Next(arrives, sequence) } else { Entry::Behind }
    }

    /// The next arrival that something depends on.
    pub(crate) fn next_arrival(&self) -> Option<(Time, u64)> {
        if self.loud == 0 {
            return None;
        }
        self.ring
            .iter()
            .find(|passage| !passage.is_quiet())
            .map(|passage| (passage.arrives, passage.sequence()))
    }

    /// When the last packet so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        self.wire.last_arrival()
    }

    /// Takes the first packet that has arrived by `now`, quiet or not.
    pub(crate) fn arrival<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Passage> {
        self.ring.front().filter(|passage| passage.arrives <= now)?;
        self.catch_up(now, recorder);
        let passage = self.ring.pop_front()?;
        self.started -= 1;
        self.loud -= usize::from(!passage.is_quiet());
        self.meter.stats.dropped_at_random += u64::from(passage.is_lost());
        Some(passage)
    }

    /// Whether the first packet is one on whose arrival nothing depends.
    #[inline]
    pub(crate) fn begins_quietly(&self) -> bool {
        self.ring.front().is_some_and(Passage::is_quiet)
    }

    /// Takes the first packet if it has arrived by `now` and nothing depended on when.
    pub(crate) fn quiet_arrival<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Passage> {
        if self.begins_quietly() { self.arrival(now, recorder) } else { None }
    }

    /// Lets the transmissions start that are due by `now`.
    pub(crate) fn catch_up<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        while let Some(passage) = self.ring.get(self.started) {
            let Passage { starts, packet: Packet { wire, .. }, .. } = *passage;
            if starts > now {
                break;
            }
            self.count_to(starts);
            self.started += 1;
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
        u32::try_from(self.ring.len() - self.started).unwrap_or(u32::MAX)
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
