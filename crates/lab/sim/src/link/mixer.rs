//! A link that displaces a share of its packets, and delivers a share twice. It has neither queue nor rate.

use std::collections::VecDeque;

use firstflight::{Span, Time};

use super::flow_streams::FlowStreams;
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::disorder::{Disorder, Displacement};
use crate::quantity::Probability;
use crate::random::{Purpose, Stream};
use crate::stats::LinkStats;

/// Every flow has its own random streams, as for loss and jitter. They do not depend on the link's number, which optional links move: a path
/// has one such link. The packets that overtake a displaced one are those of any flow.
#[derive(Clone, Debug)]
pub(crate) struct Mixer {
    seed: u64,
    disorder: Disorder,
    delay: Span,
    reorder_of: FlowStreams,
    duplicate_of: FlowStreams,
    /// Packets that arrive in order, and those that enough packets have overtaken.
    passing: VecDeque<Passing>,
    /// Displaced packets. An earlier one arrives first.
    held: VecDeque<Held>,
    /// Number of packets so far that were not displaced.
    passed: u64,
    /// The packet that arrived last, if it arrives twice.
    twice: Option<Descriptor>,
    stats: LinkStats,
}

/// A packet on the link.
#[derive(Clone, Copy, Debug)]
struct Passing {
    transit: Transit,
    is_twice: bool,
}

/// A displaced packet. Its arrival is the latest possible one.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Passing,
    /// The packet arrives once this many undisplaced packets have entered.
    overtaken_at: u64,
}

impl Mixer {
    pub(crate) fn new(disorder: Disorder, delay: Span, seed: u64) -> Self {
        Self {
            seed,
            disorder,
            delay,
            reorder_of: FlowStreams::default(),
            duplicate_of: FlowStreams::default(),
            passing: VecDeque::new(),
            held: VecDeque::new(),
            passed: 0,
            twice: None,
            stats: LinkStats::default(),
        }
    }

    #[inline(never)]
    pub(crate) fn enter(&mut self, now: Time, flow: usize, descriptor: Descriptor) {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(descriptor.wire());
        let Self { seed, disorder, .. } = *self;
        let draw = |streams: &mut FlowStreams, purpose, share: Probability| {
            !share.is_never()
                && share.covers(streams.of(flow, |minor| Stream::new(seed, purpose, 0, minor)).bits())
        };
        let is_twice = draw(&mut self.duplicate_of, Purpose::Duplicate, disorder.duplicate);
        let by = disorder
            .reorder
            .filter(|reorder| draw(&mut self.reorder_of, Purpose::Reorder, reorder.share))
            .map(|reorder| reorder.by);
        let at = now + self.delay;
        let packet =
            |arrives| Passing { transit: Transit::new(descriptor, now, arrives, Fate::Arrives), is_twice };
        match by {
            Some(Displacement::Time(span)) => {
                self.held.push_back(Held { packet: packet(at + span), overtaken_at: u64::MAX });
            }
            Some(Displacement::Packets { count, hold }) => {
                let overtaken_at = self.passed + u64::from(count);
                self.held.push_back(Held { packet: packet(at + hold), overtaken_at });
            }
            None => {
                self.passing.push_back(packet(at));
                self.passed += 1;
                self.release(at);
            }
        }
    }

    /// Lets the displaced packets that have been overtaken arrive at `at`.
    fn release(&mut self, at: Time) {
        while let Some(Held { mut packet, .. }) =
            self.held.pop_front_if(|held| held.overtaken_at <= self.passed)
        {
            packet.transit.arrives = at;
            self.passing.push_back(packet);
        }
    }

    /// Adds the second copy of the packet that arrived at `now`, which has a separate index in the pool.
    pub(crate) fn enter_copy(&mut self, now: Time, descriptor: Descriptor) {
        let transit = Transit::new(descriptor, now, now, Fate::Arrives);
        self.passing.push_front(Passing { transit, is_twice: false });
    }

    /// Removes and returns the packet that arrived last, if it arrives twice.
    pub(crate) fn take_twice(&mut self) -> Option<Descriptor> {
        self.twice.take()
    }

    pub(crate) fn next_arrival(&self) -> Option<(Time, u64)> {
        let arrival = |packet: &Passing| (packet.transit.arrives, packet.transit.descriptor.sequence());
        let passing = self.passing.front().map(arrival);
        let held = self.held.front().map(|held| arrival(&held.packet));
        passing.into_iter().chain(held).min()
    }

    #[inline(never)]
    pub(crate) fn arrival(&mut self, now: Time) -> Option<Transit> {
        let next = self.next_arrival().filter(|(at, _)| *at <= now)?;
        let is_next =
            |packet: &Passing| (packet.transit.arrives, packet.transit.descriptor.sequence()) == next;
        let Passing { transit, is_twice } = match self.passing.pop_front_if(|packet| is_next(packet)) {
            Some(packet) => packet,
            None => self.held.pop_front()?.packet,
        };
        self.twice = is_twice.then_some(transit.descriptor);
        Some(transit)
    }

    pub(crate) fn last_arrival(&self) -> Time {
        let passing = self.passing.back().map(|packet| packet.transit.arrives);
        let held = self.held.back().map(|held| held.packet.transit.arrives);
        passing.max(held).unwrap_or(Time::ZERO)
    }

    pub(crate) fn stats(&self) -> LinkStats {
        LinkStats { sent_bits: self.stats.bytes * 8, ..self.stats }
    }
}

#[cfg(test)]
mod tests;
