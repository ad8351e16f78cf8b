//! Announced packets at a drop-tail link, and the times at which the link has to process them.
//!
//! An announced packet is admitted when something depends on it, with the instant of its arrival. That changes only
//! the order of calls. If the recorder observes drops in order of time, the link processes packets before one arrives
//! that may find no room. Otherwise it reports drops when it processes packets, as soon as a packet after a dropped
//! one could arrive at the far end.

use firstflight::Time;

use super::super::arrival_queue::{Expectation, Expected};
use super::DropTail;
use super::sources::{FAR, NEVER};
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::packet::{PacketId, Position};
use crate::prefetch::fetch;
use crate::quantity::QueueLimit;
use crate::recorder::Recorder;
use crate::stats::FlowStats;

/// Number of announced packets from which those that have arrived are admitted at once, if packets may be dropped.
const CROWD: u64 = 4;
/// Maximum number of packets that are checked one by one for whether they find room.
const MOST: u64 = 8;

/// Number of packets to fetch ahead: a cache line holds two or three.
const LATER: u64 = 6;

impl DropTail {
    /// Takes the upstream link's announcement of a packet that arrives at `at`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn expect(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        if self.sole_upstream {
            return self.admit_early(at, descriptor);
        }
        self.expect_in_order(at, descriptor)
    }

    /// Does the work of [`DropTail::expect`] at a link with a sole upstream link: admits a packet that need not wait,
    /// unless others are announced before it.
    #[inline(never)]
    fn admit_early(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        self.admit_early_inline(at, descriptor)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn admit_early_inline(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        let passes = self.arrivals.len() == 0 && !self.ring.is_full() && self.short == descriptor.kind();
        let Some(arrives) = (if passes { self.admit_at_once(at, descriptor) } else { None }) else {
            return self.expect_at_length(at, descriptor);
        };
        let first = self.append_started(at, descriptor, arrives);
        if first { Expectation::EventMoved } else { Expectation::Taken }
    }

    /// Does the work of [`DropTail::admit_early`] for a packet of any kind.
    #[inline(never)]
    fn expect_at_length(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        // A Quick-Start request enters by an event, and packets after it would be announced before it enters.
        self.sole_upstream &= !descriptor.asks();
        let passes = if self.arrivals.len() == 0 { self.admit_at_once(at, descriptor) } else { None };
        match passes {
            Some(arrives) if self.append_started(at, descriptor, arrives) => Expectation::EventMoved,
            Some(_) => Expectation::Taken,
            None => self.expect_in_order(at, descriptor),
        }
    }

    /// Does the work of [`DropTail::expect`] for a packet that is admitted after its arrival.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn expect_in_order(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        if !self.expects || descriptor.asks() {
            return Expectation::Refused;
        }
        let Some(place) = self.arrivals.put(at, descriptor) else { return Expectation::Refused };
        let moved = place == 0 && self.is_sooner(at) || self.doubts();
        if moved { Expectation::EventMoved } else { Expectation::Taken }
    }

    /// Returns whether an announced packet that arrives first, at `at`, may reach the far end before the link's
    /// event.
    #[inline]
    fn is_sooner(&self, at: Time) -> bool {
        self.event.is_none_or(|(event, _)| event > self.wire.soonest(at))
    }

    /// Returns whether so many packets are announced that admitting those that have arrived costs less than checking
    /// again for each whether it will find room.
    pub(crate) fn is_crowded(&self) -> bool {
        let may_doubt = self.drops_in_turn && !matches!(self.queue, QueueLimit::Unlimited);
        self.arrivals.len() >= CROWD && (may_doubt || self.datagram != NEVER)
    }

    /// Returns whether the link need not process packets before a packet that enters at `now` without a wait. That is
    /// so if no announced packet has arrived, no source sends datagrams, and the packet does not change which packets
    /// may find no room.
    #[inline]
    pub(crate) fn fast_path_ok(&self, now: Time) -> bool {
        let stays = |expected: &Expected| expected.at > now && !matches!(self.queue, QueueLimit::Bytes(_));
        self.datagram == NEVER && self.arrivals.first().is_none_or(stays)
    }

    /// Returns whether the link has no packet, no announced packet, and no event.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.event.is_none()
            && self.arrivals.len() == 0
            && self.ring.head() == self.ring.end()
            && self.sources.have_sunk()
            && self.datagram == NEVER
    }

    /// Returns whether an announced packet or a datagram of a source has arrived by `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.arrivals.first().is_some_and(|expected| expected.at <= now) || self.datagram_comes_by(now)
    }

    /// Admits announced packets up to `now` and `sequence`, and announces each to `other`, its next link. Stops at the
    /// first packet that has another next link or needs more than that. Returns whether the event of `other` may have
    /// changed, and whether this function stopped because of a packet that needs more.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    pub(crate) fn hand_on<W: Recorder>(
        &mut self,
        other: &mut Self,
        (now, sequence): (Time, u64),
        goes_there: impl Fn(Position) -> bool,
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> (bool, bool) {
        let mut moved = false;
        while let Some(&Expected { at, descriptor }) = self.arrivals.first_by(now, sequence) {
            let advanced = descriptor.advanced();
            if !goes_there(advanced.position()) {
                return (moved, false);
            }
            if let Some(arrives) = self.admit_at_once(at, descriptor) {
                self.arrivals.drop_first(descriptor.wire());
                match other.expect_inline(arrives, advanced) {
                    Expectation::Taken => {}
                    Expectation::EventMoved => moved = true,
                    Expectation::Refused => {
                        self.append_started(at, descriptor, arrives);
                    }
                }
                continue;
            }
            let Some(schedule) = self.admit_to_wait(at, descriptor, recorder) else {
                return (moved, true);
            };
            self.arrivals.drop_first(descriptor.wire());
            self.make_room(at, flows, recorder);
            let expectation = other.expect_inline(schedule.arrives, advanced);
            let fate = if expectation == Expectation::Refused { Fate::Arrives } else { Fate::HandedOn };
            self.take(at, descriptor, schedule, fate, recorder);
            moved |= expectation == Expectation::EventMoved;
        }
        (moved, false)
    }

    /// Does the work of [`DropTail::expect`], inlined where many consecutive packets are announced.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn expect_inline(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        if self.sole_upstream {
            return self.admit_early_inline(at, descriptor);
        }
        self.expect_in_order(at, descriptor)
    }

    /// Returns whether a source of this link still sends datagrams.
    #[inline]
    pub(crate) fn has_sources(&self) -> bool {
        self.datagram != NEVER
    }

    /// Returns the position after this link on the route of the first announced packet up to `now` and `sequence`.
    #[inline]
    pub(crate) fn first_goes_to(&self, now: Time, sequence: u64) -> Option<Position> {
        Some(self.arrivals.first_by(now, sequence)?.descriptor.advanced().position())
    }

    /// Removes and returns the first announced packet up to `at` and `sequence`. The caller admits it at its arrival,
    /// before which no datagram of a source arrives.
    #[inline]
    pub(crate) fn take_expected(&mut self, at: Time, sequence: u64) -> Option<(Time, Descriptor)> {
        self.arrivals.take(at, sequence).map(|expected| (expected.at, expected.descriptor))
    }

    /// Removes and returns the first packet that needs an arrival event, if it has arrived by `now`, is a plain segment
    /// and leaves the network here. Also returns the next arrival, as [`DropTail::next_arrival`] does.
    #[inline]
    pub(crate) fn arrival_of_segment(
        &mut self,
        now: Time,
        is_last: impl FnOnce(Position) -> bool,
        flows: &mut [FlowStats],
    ) -> Option<(PacketId, Option<(Time, Descriptor)>)> {
        if self.ring.head() != self.loud {
            self.sink(now, flows);
        }
        let Some(&Transit { descriptor, arrives, .. }) = self.ring.get(self.loud) else {
            return self.arrival_in_passing(now, is_last).map(|packet| (packet, self.next_arrival()));
        };
        if arrives > now
            || self.unstarted <= self.loud
            || descriptor.has_flags()
            || !(self.sole_upstream || is_last(descriptor.advanced().position()))
        {
            return None;
        }
        let next = self.let_go();
        Some((descriptor.packet(), next.or_else(|| self.next_expected())))
    }

    /// Starts the transmissions that are due by `now` and before any announced packet or datagram of a source, unless
    /// the recorder observes queues.
    #[inline]
    pub(crate) fn catch_up_before_expected<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        if !W::NEEDS_QUEUES && self.unstarted <= self.loud {
            let expected = self.arrivals.first().map_or(NEVER, |expected| expected.at);
            self.catch_up(now.min(expected).min(self.datagram), recorder);
        }
    }

    /// Admits the first announced packet if it has arrived at this link by `now`, is a segment that leaves the
    /// network here, and need not wait. Returns the packet if it has also reached the far end; it then never enters
    /// the ring.
    #[inline]
    fn arrival_in_passing(&mut self, now: Time, is_last: impl FnOnce(Position) -> bool) -> Option<PacketId> {
        let &Expected { at, descriptor } = self.arrivals.first()?;
        let sooner = self.datagram_comes_by(at);
        if at > now || sooner || self.loud != self.ring.end() || !is_last(descriptor.advanced().position()) {
            return None;
        }
        let arrives = self.admit_at_once(at, descriptor)?;
        self.arrivals.drop_first(descriptor.wire());
        if arrives > now {
            self.append_started(at, descriptor, arrives);
            return None;
        }
        Some(descriptor.packet())
    }

    /// Returns the packet that reaches the far end after `others` others. If no packet has entered, returns the packet
    /// that was announced after `others` others. Returns `None` if there is none, or if it needs no arrival event,
    /// because its index is then not stored here.
    #[inline]
    pub(crate) fn upcoming(&self, others: u64) -> Option<PacketId> {
        if self.loud < self.ring.end() {
            let transit = self.ring.get(self.loud + others).filter(|transit| !transit.is_quiet());
            return transit.map(|transit| transit.descriptor.packet());
        }
        self.arrivals.get(others).map(|expected| expected.descriptor.packet())
    }

    /// Fetches a packet that will be handled after a few others.
    #[inline]
    pub(crate) fn fetch_later(&self) {
        if let Some(transit) = self.ring.get(self.loud + LATER) {
            fetch(transit);
        } else if let Some(expected) = self.arrivals.get(LATER) {
            fetch(expected);
        }
    }

    /// Returns the next packet to reach the far end that needs an arrival event, and its arrival. If none has entered,
    /// returns the first announced packet and the earliest instant at which any announced packet can arrive.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<(Time, Descriptor)> {
        match self.ring.get(self.loud) {
            Some(transit) => Some((transit.arrives, transit.descriptor)),
            None => self.next_expected(),
        }
    }

    /// Does the work of [`DropTail::next_arrival`] if no packet has entered. If the first announced packet may be
    /// dropped unseen, a shorter one after it may arrive in its place, so the link processes packets at the earliest
    /// instant possible for any.
    #[inline]
    fn next_expected(&self) -> Option<(Time, Descriptor)> {
        let &Expected { at, descriptor } = self.arrivals.first()?;
        if self.may_drop_unseen() {
            return Some((self.wire.soonest(self.transmitter.free_at().max(at)), descriptor));
        }
        let alike = if descriptor.kind() == self.short { self.transmitter.would_end_alike(at) } else { None };
        let arrives = match alike {
            Some(ends) => ends + self.wire.delay(),
            None => self.wire.soonest(self.transmitter.would_end(at, descriptor.wire())),
        };
        Some((arrives, descriptor))
    }

    /// Returns the link's next event: the next arrival at the far end, or an announced packet that may find the queue
    /// full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn event_with(&mut self, next: Option<(Time, Descriptor)>) -> Option<(Time, u64)> {
        let arrival = next.map(|(arrives, descriptor)| (arrives, descriptor.sequence()));
        match self.first_in_doubt() {
            None => arrival,
            Some(doubt) => Some(arrival.map_or(doubt, |arrival| arrival.min(doubt))),
        }
    }

    /// Returns the arrival of the first announced packet that may find no room, and its sequence number. `None` if
    /// the recorder does not observe drops in order of time.
    #[inline]
    fn first_in_doubt(&mut self) -> Option<(Time, u64)> {
        if self.datagram != NEVER {
            return self.first_in_doubt_with_sources();
        }
        if self.arrivals.count() < self.unsure_from { None } else { self.find_first_in_doubt() }
    }

    /// Does the work of [`DropTail::first_in_doubt`] without the shortcut of `unsure_from`.
    #[inline(never)]
    fn find_first_in_doubt(&mut self) -> Option<(Time, u64)> {
        if !self.drops_in_turn {
            // The last datagram of a source has entered.
            self.unsure_from = u64::MAX;
            return None;
        }
        let sure = match self.queue {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(_) => self.sure(),
            QueueLimit::Bytes(limit) => {
                let room = limit.get().saturating_sub(self.waiting_bytes + self.largest);
                if self.arrivals.bytes() <= room { u64::MAX } else { 0 }
            }
        };
        if !matches!(self.queue, QueueLimit::Bytes(_)) {
            self.unsure_from = (self.arrivals.count() - self.arrivals.len() + 1).saturating_add(sure);
        }
        if self.arrivals.len() <= sure { None } else { self.first_not_sure(sure) }
    }

    /// Returns the first packet after the first `sure` ones that may find no room. Each packet is compared with the
    /// packets that will have left the queue by its arrival. From [`MOST`] packets on, a packet counts as one that may
    /// find no room.
    #[inline(never)]
    fn first_not_sure(&self, sure: u64) -> Option<(Time, u64)> {
        let mut free = self.transmitter.free_at();
        for place in sure..self.arrivals.len().min(sure + MOST) {
            let expected = self.arrivals.get(place)?;
            let (at, wire) = (expected.at, expected.descriptor.wire());
            let finds_room = match self.queue {
                QueueLimit::Unlimited => true,
                QueueLimit::Packets(limit) => self.fewer_wait(at, u64::from(limit).saturating_sub(1 + place)),
                QueueLimit::Bytes(limit) => self.transmitter.leaves_room(at, free, wire, limit),
            };
            if !finds_room {
                return Some(expected.place());
            }
            free = self.transmitter.ends_by(at, free, wire);
        }
        self.arrivals.get(sure + MOST).map(Expected::place)
    }

    /// Returns whether fewer than `count` of the admitted packets will still be in the queue at `at`.
    fn fewer_wait(&self, at: Time, count: u64) -> bool {
        match self.ring.end().checked_sub(count) {
            _ if count == 0 => false,
            None => true,
            Some(name) if name < self.unstarted => self.freed.is_none_or(|(freed, _)| freed < at),
            Some(name) => self.ring.get(name).is_none_or(|transit| transit.starts < at),
        }
    }

    /// Returns the number of packets that are sure to find room, whatever their sizes.
    #[inline]
    pub(super) fn sure(&self) -> u64 {
        match self.queue {
            QueueLimit::Unlimited => FAR,
            // This holds even if no packet leaves, one place was freed at this instant, and one packet is in
            // transmission.
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(self.waiting() + 2),
            QueueLimit::Bytes(_) => 0,
        }
    }

    /// Returns whether an announced packet may find no room before the link's event.
    #[inline]
    pub(crate) fn doubts(&mut self) -> bool {
        self.arrivals.count() >= self.unsure_from && self.has_sooner_doubt()
    }

    /// Does the work of [`DropTail::doubts`] after a packet entered that was not announced: it may have taken the
    /// room of the first announced packet.
    #[inline]
    pub(crate) fn doubts_since_entry(&mut self) -> bool {
        self.doubts() || self.may_drop_unseen() && self.may_come_sooner()
    }

    /// Returns whether the first announced packet may find no room, and be dropped without being processed at its
    /// arrival.
    #[inline]
    fn may_drop_unseen(&self) -> bool {
        !self.drops_in_turn && self.sure() == 0
    }

    /// Returns whether an announced packet may reach the far end before the link's event, if the first one is
    /// dropped.
    #[inline(never)]
    fn may_come_sooner(&self) -> bool {
        self.arrivals.first().is_some_and(|first| self.is_sooner(self.transmitter.free_at().max(first.at)))
    }

    #[inline(never)]
    fn has_sooner_doubt(&mut self) -> bool {
        let doubt = self.first_in_doubt();
        if self.has_sources() {
            self.trust_sources();
        }
        doubt.is_some_and(|doubt| self.event.is_none_or(|event| doubt < event))
    }

    /// Computes the next event, which the caller puts on the agenda.
    #[inline]
    pub(crate) fn set_event(&mut self) -> Option<(Time, u64)> {
        self.set_event_with(self.next_arrival())
    }

    /// Does the work of [`DropTail::set_event`] if the next arrival is known.
    #[inline]
    pub(crate) fn set_event_with(&mut self, next: Option<(Time, Descriptor)>) -> Option<(Time, u64)> {
        self.event = self.event_with(next);
        self.event
    }
}
