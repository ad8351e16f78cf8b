//! A link that holds packets back and releases them together.

use std::collections::VecDeque;

use firstflight::{Span, Time};

use crate::batch::Batch;
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::packet::LinkId;
use crate::random::{Purpose, Stream};
use crate::stats::LinkStats;

#[derive(Clone, Debug)]
pub(crate) struct Batcher {
    batch: Batch,
    delay: Span,
    /// The first release instant of [`Batch::Every`].
    phase: Time,
    ring: VecDeque<Transit>,
    /// Number of packets at the end of the ring that wait for their batch to fill.
    open: usize,
    last_arrival: Time,
    stats: LinkStats,
}

impl Batcher {
    pub(crate) fn new(id: LinkId, batch: Batch, delay: Span, seed: u64) -> Self {
        let phase = match batch {
            Batch::Every(span) => Stream::new(seed, Purpose::Release, id.0, 0).below(span.nanos()),
            Batch::Of { .. } => 0,
        };
        Self {
            batch,
            delay,
            phase: Time::from_nanos(phase),
            ring: VecDeque::new(),
            open: 0,
            last_arrival: Time::ZERO,
            stats: LinkStats::default(),
        }
    }

    #[inline(never)]
    pub(crate) fn enter(&mut self, now: Time, descriptor: Descriptor) {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(descriptor.wire());
        let released = match self.batch {
            Batch::Every(span) => self.next_release(now, span),
            Batch::Of { packets, hold } => self.join(now, packets, hold),
        };
        let arrives = released + self.delay;
        self.last_arrival = self.last_arrival.max(arrives);
        self.ring.push_back(Transit::new(descriptor, now, arrives, Fate::Arrives));
        self.close_if_full(arrives);
    }

    pub(crate) fn next_arrival(&self) -> Option<(Time, u64)> {
        self.ring.front().map(|transit| (transit.arrives, transit.descriptor.sequence()))
    }

    /// Returns whether the next arrival is of a batch that a packet may still join at that instant.
    pub(crate) fn releases_open_batch_next(&self) -> bool {
        self.delay.is_zero() && self.open > 0 && self.open == self.ring.len()
    }

    #[inline(never)]
    pub(crate) fn arrival(&mut self, now: Time) -> Option<Transit> {
        self.ring.front().filter(|transit| transit.arrives <= now)?;
        if self.open == self.ring.len() {
            // The open batch has been held for the maximum time.
            self.open = 0;
        }
        self.ring.pop_front()
    }

    pub(crate) fn last_arrival(&self) -> Time {
        self.last_arrival
    }

    pub(crate) fn stats(&self) -> LinkStats {
        LinkStats { sent_bits: self.stats.bytes * 8, ..self.stats }
    }

    /// Returns the first release at `now` or later.
    fn next_release(&self, now: Time, span: Span) -> Time {
        let late = now.since(self.phase).nanos();
        self.phase + Span::from_nanos(late.div_ceil(span.nanos().max(1)).saturating_mul(span.nanos()))
    }

    /// Adds a packet to the open batch. Returns the latest release of the batch: `now` if the packet fills it.
    fn join(&mut self, now: Time, packets: u32, hold: Span) -> Time {
        let first = self.ring.len().checked_sub(self.open).and_then(|first| self.ring.get(first));
        let latest = first.filter(|_| self.open > 0).map(|first| first.starts + hold);
        // A batch that was released earlier may still be on the wire.
        let latest = latest.filter(|latest| *latest >= now).unwrap_or_else(|| {
            self.open = 0;
            now + hold
        });
        self.open += 1;
        if self.open >= packets as usize { now } else { latest }
    }

    /// Releases a full batch together with its last packet, which arrives at `arrives`.
    fn close_if_full(&mut self, arrives: Time) {
        let Batch::Of { packets, .. } = self.batch else { return };
        if self.open < packets as usize {
            return;
        }
        let first = self.ring.len() - self.open.min(self.ring.len());
        for transit in self.ring.iter_mut().skip(first) {
            transit.arrives = arrives;
        }
        self.open = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{PacketId, Position};

    fn packet(number: u32) -> Descriptor {
        Descriptor::segment(PacketId(number), Position::default(), 40, false).in_place(u64::from(number))
    }

    /// Returns number and arrival of packets that enter at the instants `offers`, with an event for every arrival.
    fn offer(link: &mut Batcher, offers: &[u64]) -> Vec<(u32, u64)> {
        let mut arrived = Vec::new();
        for (number, when) in (0..).zip(offers) {
            // An arrival precedes a release at the same instant.
            until(link, *when, &mut arrived);
            link.enter(Time::from_nanos(*when), packet(number));
        }
        until(link, u64::MAX, &mut arrived);
        arrived
    }

    fn until(link: &mut Batcher, end: u64, arrived: &mut Vec<(u32, u64)>) {
        while let Some((at, _)) = link.next_arrival().filter(|(at, _)| at.nanos() < end) {
            let transit = link.arrival(at).expect("the link said so");
            arrived.push((transit.descriptor.packet().0, at.nanos()));
        }
    }

    fn batcher(batch: Batch, delay: u64) -> Batcher {
        Batcher::new(LinkId(0), batch, Span::from_nanos(delay), 1)
    }

    #[test]
    fn releases_come_at_instants_a_span_apart_whose_phase_the_seed_moves() {
        let mut link = batcher(Batch::Every(Span::from_nanos(100)), 7);
        let phase = link.phase.nanos();
        assert!(phase < 100);
        let offers = [phase, phase + 1, phase + 100, phase + 101, phase + 350];
        let released = [phase, phase + 100, phase + 100, phase + 200, phase + 400];
        let expected: Vec<(u32, u64)> = (0..).zip(released.map(|at| at + 7)).collect();
        assert_eq!(offer(&mut link, &offers), expected);
        let phases: std::collections::BTreeSet<u64> = (0..20)
            .map(|seed| {
                let every = Batch::Every(Span::from_nanos(1 << 40));
                Batcher::new(LinkId(0), every, Span::ZERO, seed).phase.nanos()
            })
            .collect();
        assert_eq!(phases.len(), 20);
    }

    #[test]
    fn a_full_batch_leaves_immediately_and_no_packet_exceeds_the_hold() {
        let of = Batch::Of { packets: 3, hold: Span::from_nanos(50) };
        // Three packets fill a batch at 20. Two wait for a third from 30 to 80. The next three fill a batch at 102.
        let arrived = offer(&mut batcher(of, 0), &[0, 10, 20, 30, 40, 100, 101, 102]);
        assert_eq!(arrived, [(0, 20), (1, 20), (2, 20), (3, 80), (4, 80), (5, 102), (6, 102), (7, 102)]);
        // A packet that enters at the instant of a release is released with the others.
        assert_eq!(offer(&mut batcher(of, 0), &[0, 50, 51]), [(0, 50), (1, 50), (2, 101)]);
    }

    #[test]
    fn with_a_delay_batches_follow_one_another_on_the_wire() {
        let of = Batch::Of { packets: 2, hold: Span::from_nanos(10) };
        let arrived = offer(&mut batcher(of, 1_000), &[0, 100, 105, 106, 200]);
        assert_eq!(arrived, [(0, 1_010), (1, 1_105), (2, 1_105), (3, 1_116), (4, 1_210)]);
    }

    #[test]
    fn a_batch_of_one_holds_nothing_back() {
        let of = Batch::Of { packets: 1, hold: Span::from_nanos(10) };
        assert_eq!(offer(&mut batcher(of, 0), &[1, 1, 5]), [(0, 1), (1, 1), (2, 5)]);
    }
}
