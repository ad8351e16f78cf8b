//! What a drop-tail link knows of what will come to it, and when it has to look.
//!
//! What it expects is let in when something depends on it, each packet with the instant of its coming. That changes
//! nothing but the order of calls: drops are told of at their instant, because the link looks before a packet comes that
//! may find no room.

use firstflight::Time;

use super::super::inbox::Expected;
use super::super::passage::{Fate, Parcel, Passage};
use super::DropTail;
use crate::network::QueueLimit;
use crate::packet::{DropCause, Packet, PacketId};
use crate::prefetch::fetch;
use crate::recorder::Recorder;
use crate::routes::Step;
use crate::source::Cbr;
use crate::stats::FlowStats;

/// What came of expecting a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expectation {
    /// The link does not expect packets, or not this one: it has to be told when it comes.
    Refused,
    /// It will look at it in time.
    Taken,
    /// It will, but its next event may be another now.
    EventMoved,
}

/// A datagram that was dropped as it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turned {
    pub(crate) at: Time,
    pub(crate) packet: Packet,
    pub(crate) cause: DropCause,
}

/// When a datagram comes that does not.
pub(super) const NEVER: Time = Time::MAX;

/// How many datagrams of a source may come before the link looks at them, however much room it has.
const FAR: u64 = 2_048;

/// Packets that are expected where one may find no room: from so many on they are let in as soon as they have come.
const CROWD: u64 = 4;
/// How many of them are looked at one by one.
const MOST: u64 = 8;

/// How many others of what is expected are in a cache by then: two or three lie in each line.
const LATER: u64 = 6;

/// Constant-rate sources whose datagrams come to a link and end at its far end.
#[derive(Clone, Debug, Default)]
pub(super) struct Sources {
    list: Vec<Cbr>,
    /// Datagrams that were let in.
    let_in: u64,
    /// The datagrams before this instant find room, as long as no more other packets than `room` were ever let in or are
    /// expected.
    doubt: Option<Time>,
    room: u64,
}

impl Sources {
    /// Whether there are any.
    #[cfg(test)]
    pub(super) fn are_there(&self) -> bool {
        !self.list.is_empty()
    }

    /// When the next of their datagrams comes, if one does.
    #[inline]
    fn next(&self) -> Time {
        let next = match &*self.list {
            [source] => source.next(),
            list => list.iter().filter_map(Cbr::next).min(),
        };
        next.unwrap_or(NEVER)
    }

    /// When the next datagram but `count` comes, or one before it.
    fn after(&self, count: u64) -> Option<Time> {
        let each = count / self.list.len().max(1) as u64;
        self.list.iter().filter_map(|source| source.after(each)).min()
    }
}

impl DropTail {
    /// The link before says that a packet comes at `at`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn expect(&mut self, at: Time, parcel: Parcel) -> Expectation {
        if self.fed_by_one {
            return self.let_in_early(at, parcel);
        }
        self.expect_in_order(at, parcel)
    }

    /// The same at a link that one other feeds: what need not wait is let in, unless it would come before something else.
    #[inline(never)]
    fn let_in_early(&mut self, at: Time, parcel: Parcel) -> Expectation {
        let passes = self.inbox.len() == 0 && !self.ring.is_full() && self.short == parcel.kind();
        let Some(arrives) = (if passes { self.pass(at, parcel) } else { None }) else {
            return self.expect_at_length(at, parcel);
        };
        let first = self.take_passing(at, parcel, arrives);
        if first { Expectation::EventMoved } else { Expectation::Taken }
    }

    /// The same of any packet.
    #[inline(never)]
    fn expect_at_length(&mut self, at: Time, parcel: Parcel) -> Expectation {
        // What asks comes by an event of the link before, and what comes behind it is known sooner.
        self.fed_by_one &= !parcel.asks();
        let passes = if self.inbox.len() == 0 { self.pass(at, parcel) } else { None };
        match passes {
            Some(arrives) if self.take_passing(at, parcel, arrives) => Expectation::EventMoved,
            Some(_) => Expectation::Taken,
            None => self.expect_in_order(at, parcel),
        }
    }

    /// The same, of a packet that is let in when it has come.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn expect_in_order(&mut self, at: Time, parcel: Parcel) -> Expectation {
        if !self.expects || parcel.asks() {
            return Expectation::Refused;
        }
        let Some(place) = self.inbox.put(at, parcel) else { return Expectation::Refused };
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
        self.inbox.len() >= CROWD && (self.datagram != NEVER || !matches!(self.queue, QueueLimit::Unlimited))
    }

    /// Whether nothing that was expected may have come by `now`, no datagram of a source is yet to come, and what is in
    /// doubt stays so if a packet passes that need not wait.
    #[inline]
    pub(crate) fn is_calm(&self, now: Time) -> bool {
        let stays = |expected: &Expected| expected.at > now && !matches!(self.queue, QueueLimit::Bytes(_));
        self.datagram == NEVER && self.inbox.first().is_none_or(stays)
    }

    /// Whether nothing is on it, expected, or on the agenda.
    #[inline]
    pub(crate) fn rests(&self) -> bool {
        self.event.is_none()
            && self.inbox.len() == 0
            && self.ring.head() == self.ring.end()
            && self.datagram == NEVER
    }

    /// Whether a datagram of a source comes by `at`, which may be the last instant that there is.
    #[inline]
    fn datagram_comes_by(&self, at: Time) -> bool {
        self.datagram <= at && self.datagram != NEVER
    }

    /// Whether something that was expected may have come by `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.inbox.first().is_some_and(|expected| expected.at <= now) || self.datagram_comes_by(now)
    }

    /// Takes the first packet that was expected by `at` and, at that instant, by the `sequence`-th event, ahead of any
    /// datagram of a source. It is to be let in at the instant that comes with it.
    #[inline]
    pub(crate) fn take_expected(&mut self, at: Time, sequence: u64) -> Option<(Time, Parcel)> {
        // Of the two at one instant the datagram comes first: its source decided on it a whole interval before.
        let (at, sequence) = if self.datagram_comes_by(at) { (self.datagram, 0) } else { (at, sequence) };
        self.inbox.take(at, sequence).map(|expected| (expected.at, expected.parcel))
    }

    /// Takes the first packet that has arrived by `now`, if it is a segment at its last link and nothing else is to be done.
    /// Says what arrives next, too, as [`DropTail::next_arrival`].
    #[inline]
    pub(crate) fn arrival_of_segment(
        &mut self,
        now: Time,
        is_last: impl FnOnce(Step) -> bool,
    ) -> Option<(PacketId, Option<(Time, Parcel)>)> {
        let Some(&Passage { parcel, arrives, .. }) = self.ring.get(self.loud) else {
            return self.arrival_in_passing(now, is_last).map(|packet| (packet, self.next_arrival()));
        };
        let ahead = self.unstarted <= self.loud || self.ring.head() != self.loud;
        if arrives > now
            || ahead
            || parcel.has_flags()
            || !(self.fed_by_one || is_last(parcel.ahead().step()))
        {
            return None;
        }
        let next = self.let_go();
        Some((parcel.packet(), next.or_else(|| self.next_expected())))
    }

    /// Lets the first packet that is expected by `now` in, if it is a segment at its last link and passes at once. Gives it
    /// if it has arrived, too; it is on no list then.
    #[inline]
    fn arrival_in_passing(&mut self, now: Time, is_last: impl FnOnce(Step) -> bool) -> Option<PacketId> {
        let &Expected { at, parcel } = self.inbox.first()?;
        let sooner = self.datagram_comes_by(at);
        if at > now || sooner || self.loud != self.ring.end() || !is_last(parcel.ahead().step()) {
            return None;
        }
        let arrives = self.pass(at, parcel)?;
        self.inbox.drop_first();
        if arrives > now {
            self.take_passing(at, parcel, arrives);
            return None;
        }
        Some(parcel.packet())
    }

    /// What arrives next, or is expected if nothing has entered.
    #[inline]
    pub(crate) fn upcoming(&self) -> Option<PacketId> {
        let listed = self.ring.get(self.loud).map(|passage| passage.parcel.packet());
        listed.or_else(|| self.inbox.first().map(|expected| expected.parcel.packet()))
    }

    /// What is expected later, or arrives later, is needed soon: a few others come first.
    #[inline]
    pub(crate) fn fetch_later(&self) {
        if let Some(passage) = self.ring.get(self.loud + LATER) {
            fetch(passage);
        } else if let Some(expected) = self.inbox.get(LATER) {
            fetch(expected);
        }
    }

    /// What arrives next, on which something depends, or may arrive if what is expected is looked at; and when.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Option<(Time, Parcel)> {
        match self.ring.get(self.loud) {
            Some(passage) => Some((passage.arrives, passage.parcel)),
            None => self.next_expected(),
        }
    }

    /// The same if nothing has entered.
    #[inline]
    fn next_expected(&self) -> Option<(Time, Parcel)> {
        let &Expected { at, parcel } = self.inbox.first()?;
        let alike = if parcel.kind() == self.short { self.transmitter.would_end_alike(at) } else { None };
        let arrives = match alike {
            Some(ends) => ends + self.wire.delay(),
            None => self.wire.soonest(self.transmitter.would_end(at, parcel.wire())),
        };
        Some((arrives, parcel))
    }

    /// The next event, and its place among those of its instant: the next arrival, or one that is expected may find the
    /// queue full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn event_with(&mut self, next: Option<(Time, Parcel)>) -> Option<(Time, u64)> {
        let arrival = next.map(|(arrives, parcel)| (arrives, parcel.sequence()));
        match self.first_in_doubt() {
            None => arrival,
            Some(doubt) => Some(arrival.map_or(doubt, |arrival| arrival.min(doubt))),
        }
    }

    /// When the first of the packets comes that are expected and may find no room, and its place among the events of
    /// that instant.
    #[inline]
    fn first_in_doubt(&mut self) -> Option<(Time, u64)> {
        if self.datagram != NEVER {
            let entered = self.accepted() - self.sources.let_in + self.inbox.len();
            return match self.sources.doubt {
                Some(doubt) if entered <= self.sources.room && self.datagram < doubt => Some((doubt, 0)),
                Some(_) | None => self.first_in_doubt_beside_sources(),
            };
        }
        if self.inbox.count() <= self.sure_to {
            return None;
        }
        let sure = match self.queue {
            QueueLimit::Unlimited => u64::MAX,
            QueueLimit::Packets(_) => self.sure(),
            QueueLimit::Bytes(limit) => {
                let room = limit.get().saturating_sub(self.waiting_bytes + self.largest);
                if self.inbox.bytes() <= room { u64::MAX } else { 0 }
            }
        };
        if !matches!(self.queue, QueueLimit::Bytes(_)) {
            self.sure_to = (self.inbox.count() - self.inbox.len()).saturating_add(sure);
        }
        if self.inbox.len() <= sure { None } else { self.first_not_sure(sure) }
    }

    /// The same of those behind the first `sure`, each of which is looked at with what will have left the queue when it
    /// comes. One too far behind is taken to be in doubt.
    #[inline(never)]
    fn first_not_sure(&self, sure: u64) -> Option<(Time, u64)> {
        let mut free = self.transmitter.free_at();
        for place in sure..self.inbox.len().min(sure + MOST) {
            let expected = self.inbox.get(place)?;
            let (at, wire) = (expected.at, expected.parcel.wire());
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
        self.inbox.get(sure + MOST).map(Expected::place)
    }

    /// Whether of those that were let in fewer than `count` will not have left the queue before `at`.
    fn fewer_wait(&self, at: Time, count: u64) -> bool {
        match self.ring.end().checked_sub(count) {
            _ if count == 0 => false,
            None => true,
            Some(name) if name < self.unstarted => self.freed.is_none_or(|(freed, _)| freed < at),
            Some(name) => self.ring.get(name).is_none_or(|passage| passage.starts < at),
        }
    }

    /// How many packets are sure to find room, whatever their sizes are.
    #[inline]
    fn sure(&self) -> u64 {
        match self.queue {
            QueueLimit::Unlimited => FAR,
            // Even if none leaves, one was freed at that very instant, and one is transmitted.
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(u64::from(self.waiting) + 2),
            QueueLimit::Bytes(_) => 0,
        }
    }

    /// The same beside sources: of those that are sure to find room, half are for datagrams, so that nothing is to be
    /// looked at until so many of one kind have come.
    #[cold]
    #[inline(never)]
    fn first_in_doubt_beside_sources(&mut self) -> Option<(Time, u64)> {
        let half = self.sure().min(2 * FAR) / 2;
        self.sources.doubt = self.sources.after(half);
        self.sources.room = self.accepted() - self.sources.let_in + half;
        let expected =
            if self.inbox.len() <= half { None } else { self.inbox.get(half).map(Expected::place) };
        let datagram = self.sources.doubt.map(|datagram| (datagram, 0));
        expected.min(datagram).or(datagram).or(expected)
    }

    /// Whether one of the packets that are expected may find no room before the event that the agenda has.
    #[inline]
    pub(crate) fn doubts(&mut self) -> bool {
        (self.datagram != NEVER || self.inbox.count() > self.sure_to) && self.has_sooner_doubt()
    }

    #[inline(never)]
    fn has_sooner_doubt(&mut self) -> bool {
        self.first_in_doubt().is_some_and(|doubt| self.event.is_none_or(|event| doubt < event))
    }

    /// The next event, which is then what the agenda has.
    #[inline]
    pub(crate) fn set_event(&mut self) -> Option<(Time, u64)> {
        self.set_event_with(self.next_arrival())
    }

    /// The same, of what was said to arrive next.
    #[inline]
    pub(crate) fn set_event_with(&mut self, next: Option<(Time, Parcel)>) -> Option<(Time, u64)> {
        self.event = self.event_with(next);
        self.event
    }

    /// Takes on a source whose datagrams come here and end at the far end, if nothing else is to happen when they come
    /// and none is lost; or gives it back.
    pub(crate) fn take_on(&mut self, source: Cbr) -> Result<(), Cbr> {
        if !self.expects || self.wire.may_lose() {
            return Err(source);
        }
        self.sources.list.push(source);
        self.datagram = self.sources.next();
        // Its first datagrams may come before any of the others' that was in doubt.
        self.sources.doubt = None;
        Ok(())
    }

    /// Lets the next datagram of a source in that comes by `at`, ahead of what else is expected: says when, and its
    /// IP bytes, or that it was dropped.
    /// `None` if none comes.
    #[inline]
    pub(crate) fn take_datagram<W: Recorder>(
        &mut self,
        at: Time,
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> Option<Result<(Time, u32), Turned>> {
        let came = Some(self.datagram).filter(|_| self.datagram_comes_by(at))?;
        let place = match &*self.sources.list {
            [_] => 0,
            list => list.iter().position(|source| source.next() == Some(came))?,
        };
        #[cfg(test)]
        {
            let expected = self.inbox.first().is_some_and(|one| one.at == came);
            self.ties |= expected || self.last_entry == Some(came);
        }
        let (flow, wire) = (self.sources.list[place].flow(), self.sources.list[place].wire());
        let stats = &mut flows[flow.index()];
        stats.started.get_or_insert(came);
        stats.first_data.get_or_insert(came);
        stats.data_sent += 1;
        let trip = match self.wait_alike(came, (Parcel::plain_kind(wire), 0), recorder) {
            Some(trip) => Ok(trip),
            None => self.admit(came, (wire, 0), || flow.index(), recorder),
        };
        let turned = match trip {
            Ok(trip) => {
                self.sources.let_in += 1;
                if self.is_full() {
                    self.sink(came, flows);
                }
                let parcel = Parcel::datagram(PacketId::default(), Step::default(), wire);
                self.take(came, parcel, trip, Fate::Sinks(flow.0), recorder);
                Ok((came, wire))
            }
            Err(cause) => Err(Turned { at: came, packet: self.sources.list[place].packet(), cause }),
        };
        self.sources.list[place].advance();
        self.datagram = self.sources.next();
        Some(turned)
    }

    /// From now on nothing is expected. Gives the sources back.
    #[cfg(test)]
    pub(crate) fn look_at_once(&mut self) -> Vec<Cbr> {
        self.expects = false;
        self.fed_by_one = false;
        self.datagram = NEVER;
        std::mem::take(&mut self.sources).list
    }
}
