//! A link: a drop-tail FIFO queue, a transmitter and a wire, as one ring of packets whose times are all known
//! when they enter.
//!
//! A FIFO that drops only at its tail decides a packet's whole future on arrival, so the link needs no event for
//! the start or end of a transmission: it catches up with those whenever it is touched.

use std::collections::VecDeque;

use firstflight::{Bytes, Rate, Span, Time};

use crate::network::{LinkSpec, QueueLimit};
use crate::packet::{LinkId, Packet};
use crate::random::{Purpose, Stream};
use crate::recorder::Recorder;
use crate::stats::LinkStats;

/// Bits times nanoseconds per second.
const BIT_NANOS: u64 = 8_000_000_000;

/// A packet on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub(crate) packet: Packet,
    /// When its transmission starts: until then it waits in the queue.
    starts: Time,
    /// When it arrives at the far end.
    pub(crate) arrives: Time,
    /// Its place in the order of all events.
    sequence: u64,
    /// Whether it is lost on the wire.
    pub(crate) lost: bool,
    /// Whether nothing depends on the instant of its arrival: a datagram that reaches its sink.
    quiet: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Link {
    id: LinkId,
    spec: LinkSpec,
    ring: VecDeque<Passage>,
    /// How many of the ring's first packets have started transmission.
    started: usize,
    /// How many of the ring's packets are not quiet.
    loud: usize,
    /// When the transmitter is free: `free_at` and `remainder / rate` nanoseconds.
    free_at: Time,
    remainder: u64,
    last_arrival: Time,
    waiting_bytes: u64,
    /// The instant at which a packet last left the queue for the transmitter, and its size.
    freed: Option<(Time, u64)>,
    /// Since when the integrals of `stats` have to be continued.
    counted_to: Time,
    stats: LinkStats,
    /// For each flow, if the link loses packets.
    loss: Vec<Stream>,
    /// For each flow, if the link has jitter.
    jitter: Vec<Stream>,
}

/// What came of a packet's entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// The queue was full.
    Dropped,
    /// It goes through, and the link's next event need not change.
    Behind,
    /// It goes through, and is the first whose arrival is an event: then.
    First(Time),
}

impl Link {
    pub(crate) fn new(id: LinkId, spec: LinkSpec, flows: u32, seed: u64) -> Self {
        let streams = |wanted: bool, purpose| {
            let flows = if wanted { 0..flows } else { 0..0 };
            flows.map(|flow| Stream::new(seed, purpose, id.0, flow)).collect()
        };
        Self {
            id,
            spec,
            ring: VecDeque::new(),
            started: 0,
            loud: 0,
            free_at: Time::ZERO,
            remainder: 0,
            last_arrival: Time::ZERO,
            waiting_bytes: 0,
            freed: None,
            counted_to: Time::ZERO,
            stats: LinkStats::default(),
            loss: streams(!spec.loss.is_never(), Purpose::Loss),
            jitter: streams(!spec.jitter.is_zero(), Purpose::Jitter),
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
        if !self.has_room(now, packet.wire) {
            self.stats.dropped_by_queue += 1;
            return Entry::Dropped;
        }
        self.stats.packets += 1;
        self.stats.bytes += u64::from(packet.wire);
        let starts = self.transmit(now, packet.wire);
        let flow = packet.flow.index();
        let lost = self.loss.get_mut(flow).is_some_and(|stream| self.spec.loss.covers(stream.bits()));
        let jitter =
            self.jitter.get_mut(flow).map_or(0, |s| s.below(self.spec.jitter.nanos().saturating_add(1)));
        let arrives = self.free_at + self.spec.delay + Span::from_nanos(jitter);
        let arrives = arrives.max(self.last_arrival);
        self.last_arrival = arrives;
        let quiet = quiet && !lost;
        self.count_to(now);
        self.ring.push_back(Passage { packet, starts, arrives, sequence, lost, quiet });
        self.loud += usize::from(!quiet);
        if starts > now {
            self.waiting_bytes += u64::from(packet.wire);
            self.stats.peak_bytes = self.stats.peak_bytes.max(self.waiting_bytes);
            self.stats.peak_packets = self.stats.peak_packets.max(self.waiting());
            recorder.queue(now, self.id, Bytes::new(self.waiting_bytes), self.waiting());
        } else {
            // Nothing can wait ahead of a packet that starts at once.
            self.started += 1;
        }
        if !quiet && self.loud == 1 { Entry::First(arrives) } else { Entry::Behind }
    }

    /// The next arrival that something depends on.
    pub(crate) fn next_arrival(&self) -> Option<(Time, u64)> {
        if self.loud == 0 {
            return None;
        }
        self.ring.iter().find(|passage| !passage.quiet).map(|passage| (passage.arrives, passage.sequence))
    }

    /// When the last packet so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    /// Takes the first packet that has arrived by `now`, quiet or not.
    pub(crate) fn arrival<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Passage> {
        self.ring.front().filter(|passage| passage.arrives <= now)?;
        self.catch_up(now, recorder);
        let passage = self.ring.pop_front()?;
        self.started -= 1;
        self.loud -= usize::from(!passage.quiet);
        self.stats.dropped_at_random += u64::from(passage.lost);
        Some(passage)
    }

    /// Takes the first packet if it has arrived by `now` and nothing depended on when.
    pub(crate) fn quiet_arrival<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Passage> {
        self.ring.front().filter(|passage| passage.quiet)?;
        self.arrival(now, recorder)
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
        let mut copy = self.stats;
        let nanos = u128::from(now.since(self.counted_to).nanos());
        copy.packet_nanos += nanos * u128::from(self.waiting());
        copy.byte_nanos += nanos * u128::from(self.waiting_bytes);
        copy
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
        if self.spec.rate.is_none() || self.free_at < now || self.stats.packets == 0 {
            return true;
        }
        let (freed, bytes) = self.freed.filter(|(at, _)| *at == now).map_or((0, 0), |(_, bytes)| (1, bytes));
        match self.spec.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting() + freed + 1 < limit,
            QueueLimit::Bytes(limit) => self.waiting_bytes + bytes + u64::from(wire) <= limit.get(),
        }
    }

    /// Transmits after all that came before, and says when that starts. `free_at` is then its end.
    fn transmit(&mut self, now: Time, wire: u32) -> Time {
        if self.free_at < now {
            self.free_at = now;
            self.remainder = 0;
        }
        let starts = self.free_at;
        if let Some(rate) = self.spec.rate {
            let (nanos, remainder) = transmission(rate, wire, self.remainder);
            self.remainder = remainder;
            self.free_at = starts + Span::from_nanos(nanos);
        }
        starts
    }

    /// Continues the integrals to `at`, before what waits changes.
    fn count_to(&mut self, at: Time) {
        let nanos = u128::from(at.since(self.counted_to).nanos());
        self.stats.packet_nanos += nanos * u128::from(self.waiting());
        self.stats.byte_nanos += nanos * u128::from(self.waiting_bytes);
        self.counted_to = at;
    }
}

/// Whole nanoseconds for `wire` bytes at `rate`, begun `remainder / rate` of a nanosecond late, and the new
/// remainder.
pub(crate) fn transmission(rate: Rate, wire: u32, remainder: u64) -> (u64, u64) {
    let rate = rate.bps().max(1);
    // At most 2^32 × 8·10^9 + 10^15, beyond 64 bits only for packets that no network carries.
    let work = u64::from(wire).saturating_mul(BIT_NANOS).saturating_add(remainder);
    (work / rate, work % rate)
}

#[cfg(test)]
mod tests;
