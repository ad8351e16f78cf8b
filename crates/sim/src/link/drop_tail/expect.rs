//! What a drop-tail link knows of what will come to it, and when it has to look.
//!
//! What it expects is let in when something depends on it, each packet with the instant of its coming. That changes
//! nothing but the order of calls. To who hears of drops in their turn they are told of at their instant, because the link
//! looks before a packet comes that may find no room; to others when it looks, and it looks as soon as what is behind one
//! that is dropped could arrive.

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

/// Packets that are expected where one may find no room, and somebody minds: from so many on they are let in as soon as they
/// have come.
const CROWD: u64 = 4;
/// How many of them are looked at one by one.
const MOST: u64 = 8;

/// How many others of what is expected are in a cache by then: two or three lie in each line.
const LATER: u64 = 6;

impl DropTail {
    /// The link before says that a packet comes at `at`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn expect(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        if self.sole_upstream {
            return self.let_in_early(at, descriptor);
        }
        self.expect_in_order(at, descriptor)
    }

    /// The same at a link that one other feeds: what need not wait is let in, unless it would come before something else.
    #[inline(never)]
    fn let_in_early(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        self.let_in_early_here(at, descriptor)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn let_in_early_here(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        let passes = self.arrivals.len() == 0 && !self.ring.is_full() && self.short == descriptor.kind();
        let Some(arrives) = (if passes { self.admit_at_once(at, descriptor) } else { None }) else {
            return self.expect_at_length(at, descriptor);
        };
        let first = self.append_started(at, descriptor, arrives);
        if first { Expectation::EventMoved } else { Expectation::Taken }
    }

    /// The same of any packet.
    #[inline(never)]
    fn expect_at_length(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        // What asks comes by an event of the link before, and what comes behind it is known sooner.
        self.sole_upstream &= !descriptor.asks();
        let passes = if self.arrivals.len() == 0 { self.admit_at_once(at, descriptor) } else { None };
        match passes {
            Some(arrives) if self.append_started(at, descriptor, arrives) => Expectation::EventMoved,
            Some(_) => Expectation::Taken,
            None => self.expect_in_order(at, descriptor),
        }
    }

    /// The same, of a packet that is let in when it has come.
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

    /// Whether what comes first of all at `at` may arrive at the far end before the event that the agenda has.
    #[inline]
    fn is_sooner(&self, at: Time) -> bool {
        self.event.is_none_or(|(event, _)| event > self.wire.soonest(at))
    }

    /// Whether so many packets are expected that it is cheaper to let those in that have come than to ask of each again
    /// whether it will find room.
    pub(crate) fn is_crowded(&self) -> bool {
        let may_doubt = self.drops_in_turn && !matches!(self.queue, QueueLimit::Unlimited);
        self.arrivals.len() >= CROWD && (may_doubt || self.datagram != NEVER)
    }

    /// Whether nothing that was expected may have come by `now`, no datagram of a source is yet to come, and what is in
    /// doubt stays so if a packet passes that need not wait.
    #[inline]
    pub(crate) fn is_calm(&self, now: Time) -> bool {
        let stays = |expected: &Expected| expected.at > now && !matches!(self.queue, QueueLimit::Bytes(_));
        self.datagram == NEVER && self.arrivals.first().is_none_or(stays)
    }

    /// Whether nothing is on it, expected, or on the agenda.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.event.is_none()
            && self.arrivals.len() == 0
            && self.ring.head() == self.ring.end()
            && self.sources.have_sunk()
            && self.datagram == NEVER
    }

    /// Whether something that was expected may have come by `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.arrivals.first().is_some_and(|expected| expected.at <= now) || self.datagram_comes_by(now)
    }

    /// Lets in what was expected before `now` and, at that instant, by the `sequence`-th event, as long as it goes on to one
    /// other link, which expects it then, and nothing else is to be done. Says whether the other's next event may be another
    /// now, and whether more is to be done with what comes next.
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
                match other.expect_here(arrives, advanced) {
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
            let expectation = other.expect_here(schedule.arrives, advanced);
            let fate = if expectation == Expectation::Refused { Fate::Arrives } else { Fate::HandedOn };
            self.take(at, descriptor, schedule, fate, recorder);
            moved |= expectation == Expectation::EventMoved;
        }
        (moved, false)
    }

    /// [`DropTail::expect`] where it is asked of many packets in a row.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    fn expect_here(&mut self, at: Time, descriptor: Descriptor) -> Expectation {
        if self.sole_upstream {
            return self.let_in_early_here(at, descriptor);
        }
        self.expect_in_order(at, descriptor)
    }

    /// Whether datagrams of sources come.
    #[inline]
    pub(crate) fn has_sources(&self) -> bool {
        self.datagram != NEVER
    }

    /// Where the first packet goes on to that was expected before `now` and, at that instant, by the `sequence`-th event.
    #[inline]
    pub(crate) fn first_goes_to(&self, now: Time, sequence: u64) -> Option<Position> {
        Some(self.arrivals.first_by(now, sequence)?.descriptor.advanced().position())
    }

    /// Takes the first packet that was expected by `at` and, at that instant, by the `sequence`-th event. It is to be let in at
    /// the instant that comes with it, and no datagram of a source comes sooner.
    #[inline]
    pub(crate) fn take_expected(&mut self, at: Time, sequence: u64) -> Option<(Time, Descriptor)> {
        self.arrivals.take(at, sequence).map(|expected| (expected.at, expected.descriptor))
    }

    /// Takes the first packet that has arrived by `now`, behind those that are counted, if it is a segment at its last link
    /// and nothing else is to be done. Says what arrives next, too, as [`DropTail::next_arrival`].
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

    /// Lets the transmissions start that are due by `now` and come ahead of all that is expected or that a source sends, if
    /// nobody hears of it.
    #[inline]
    pub(crate) fn catch_up_before_expected<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        if !W::HEARS_QUEUES && self.unstarted <= self.loud {
            let expected = self.arrivals.first().map_or(NEVER, |expected| expected.at);
            self.catch_up(now.min(expected).min(self.datagram), recorder);
        }
    }

    /// Lets the first packet that is expected by `now` in, if it is a segment at its last link and passes at once. Gives it
    /// if it has arrived, too; it is on no list then.
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

    /// What arrives behind so many others, or is expected behind so many if nothing has entered; `None` also if that is quiet,
    /// for there is no packet then that the link knows.
    #[inline]
    pub(crate) fn upcoming(&self, others: u64) -> Option<PacketId> {
        if self.loud < self.ring.end() {
            let transit = self.ring.get(self.loud + others).filter(|transit| !transit.is_quiet());
            return transit.map(|transit| transit.descriptor.packet());
        }
        self.arrivals.get(others).map(|expected| expected.descriptor.packet())
    }

    /// What is expected later, or arrives later, is needed soon: a few others come first.
    #[inline]
    pub(crate) fn fetch_later(&self) {
        if let Some(transit) = self.ring.get(self.loud + LATER) {
            fetch(transit);
        } else if let Some(expected) = self.arrivals.get(LATER) {
            fetch(expected);
        }
    }

    /// What arrives next, on which something depends, or may arrive if what is expected is looked at; and when.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<(Time, Descriptor)> {
        match self.ring.get(self.loud) {
            Some(transit) => Some((transit.arrives, transit.descriptor)),
            None => self.next_expected(),
        }
    }

    /// The same if nothing has entered. What may be dropped without a look at its coming may let a shorter packet arrive in its
    /// place, and a look is then called for as soon as any could.
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

    /// The next event, and its place among those of its instant: the next arrival, or one that is expected may find the
    /// queue full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn event_with(&mut self, next: Option<(Time, Descriptor)>) -> Option<(Time, u64)> {
        let arrival = next.map(|(arrives, descriptor)| (arrives, descriptor.sequence()));
        match self.first_in_doubt() {
            None => arrival,
            Some(doubt) => Some(arrival.map_or(doubt, |arrival| arrival.min(doubt))),
        }
    }

    /// When the first of the packets comes that are expected and may find no room, if somebody minds when it is dropped,
    /// and its place among the events of that instant.
    #[inline]
    fn first_in_doubt(&mut self) -> Option<(Time, u64)> {
        if self.datagram != NEVER {
            return self.first_in_doubt_with_sources();
        }
        if self.arrivals.count() < self.unsure_from { None } else { self.find_first_in_doubt() }
    }

    /// The same, looked for.
    #[inline(never)]
    fn find_first_in_doubt(&mut self) -> Option<(Time, u64)> {
        if !self.drops_in_turn {
            // The last datagram of a source has come.
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

    /// The same of those behind the first `sure`, each of which is looked at with what will have left the queue when it
    /// comes. One too far behind is taken to be in doubt.
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

    /// Whether of those that were let in fewer than `count` will not have left the queue before `at`.
    fn fewer_wait(&self, at: Time, count: u64) -> bool {
        match self.ring.end().checked_sub(count) {
            _ if count == 0 => false,
            None => true,
            Some(name) if name < self.unstarted => self.freed.is_none_or(|(freed, _)| freed < at),
            Some(name) => self.ring.get(name).is_none_or(|transit| transit.starts < at),
        }
    }

    /// How many packets are sure to find room, whatever their sizes are.
    #[inline]
    pub(super) fn sure(&self) -> u64 {
        match self.queue {
            QueueLimit::Unlimited => FAR,
            // Even if none leaves, one was freed at that very instant, and one is transmitted.
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(self.waiting() + 2),
            QueueLimit::Bytes(_) => 0,
        }
    }

    /// Whether one of the packets that are expected may find no room before the event that the agenda has.
    #[inline]
    pub(crate) fn doubts(&mut self) -> bool {
        self.arrivals.count() >= self.unsure_from && self.has_sooner_doubt()
    }

    /// The same after a packet came that was not expected: it may have taken the room of the first that is.
    #[inline]
    pub(crate) fn doubts_since_entry(&mut self) -> bool {
        self.doubts() || self.may_drop_unseen() && self.may_come_sooner()
    }

    /// Whether the first packet that is expected may find no room, and be dropped without a look at its coming.
    #[inline]
    fn may_drop_unseen(&self) -> bool {
        !self.drops_in_turn && self.sure() == 0
    }

    /// Whether what is expected may arrive before the event that the agenda has, if the first of it is dropped.
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

    /// The next event, which is then what the agenda has.
    #[inline]
    pub(crate) fn set_event(&mut self) -> Option<(Time, u64)> {
        self.set_event_with(self.next_arrival())
    }

    /// The same, of what was said to arrive next.
    #[inline]
    pub(crate) fn set_event_with(&mut self, next: Option<(Time, Descriptor)>) -> Option<(Time, u64)> {
        self.event = self.event_with(next);
        self.event
    }
}
