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

/// How many datagrams of a source may come before the link looks at them, however much room it has.
const FAR: u64 = 2_048;

impl DropTail {
    /// The link before says that a packet comes at `at`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn expect(&mut self, at: Time, parcel: Parcel) -> Expectation {
        if !self.expects || parcel.asks() {
            return Expectation::Refused;
        }
        let Some(place) = self.inbox.put(at, parcel) else { return Expectation::Refused };
        if place == 0 || self.doubts() { Expectation::EventMoved } else { Expectation::Taken }
    }

    /// Whether something that was expected may have come by `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.inbox.first().is_some_and(|expected| expected.at <= now)
            || self.next_datagram.is_some_and(|datagram| datagram <= now)
    }

    /// Takes the first packet that was expected by `at` and, at that instant, by the `sequence`-th event, ahead of any
    /// datagram of a source. It is to be let in at the instant that comes with it.
    #[inline]
    pub(crate) fn take_expected(&mut self, at: Time, sequence: u64) -> Option<(Time, Parcel)> {
        let (at, sequence) = match self.next_datagram {
            // Of the two at one instant the datagram comes first: its source decided on it a whole interval before.
            Some(datagram) if datagram <= at => (datagram, 0),
            Some(_) | None => (at, sequence),
        };
        self.inbox.take(at, sequence).map(|expected| (expected.at, expected.parcel))
    }

    /// Takes the first packet that is expected if it is at its last link, passes at once and has arrived by `now`; it is
    /// on no list then.
    #[inline]
    pub(crate) fn arrival_in_passing(
        &mut self,
        now: Time,
        is_last: impl FnOnce(Step) -> bool,
    ) -> Option<Passage> {
        let &Expected { at, parcel } = self.inbox.first()?;
        let sooner = self.next_datagram.is_some_and(|datagram| datagram <= at);
        if at > now || sooner || self.loud != self.ring.end() || !is_last(parcel.ahead().step) {
            return None;
        }
        if self.transmitter.would_end(at, parcel.wire()) + self.wire.delay() > now {
            return None;
        }
        let arrives = self.pass(at, parcel)?;
        self.inbox.take(at, u64::MAX);
        Some(Passage::new(parcel, at, arrives, Fate::Arrives))
    }

    /// The next event, and its place among those of its instant: a packet on which something depends arrives, or may
    /// arrive if what is expected is looked at, or one that is expected may find the queue full.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<(Time, u64)> {
        let arrival = match self.ring.get(self.loud) {
            Some(passage) => Some((passage.arrives, passage.parcel.sequence())),
            None => self.inbox.first().map(|expected| {
                let ends = self.transmitter.would_end(expected.at, expected.parcel.wire());
                (self.wire.soonest(ends), expected.parcel.sequence())
            }),
        };
        match self.first_in_doubt() {
            None => arrival,
            Some(doubt) => Some(arrival.map_or(doubt, |arrival| arrival.min(doubt))),
        }
    }

    /// When the first of the packets comes that are expected and may find no room, and its place among the events of
    /// that instant.
    #[inline]
    fn first_in_doubt(&self) -> Option<(Time, u64)> {
        let sure = match self.queue {
            QueueLimit::Unlimited if self.next_datagram.is_none() => return None,
            QueueLimit::Unlimited => FAR,
            // As many as find room even if none leaves, one was freed at that very instant, and one is transmitted.
            QueueLimit::Packets(limit) => u64::from(limit).saturating_sub(u64::from(self.waiting) + 2),
            QueueLimit::Bytes(limit) => {
                let room = limit.get().saturating_sub(self.waiting_bytes + self.largest);
                if self.inbox.bytes() <= room && self.next_datagram.is_none() { u64::MAX } else { 0 }
            }
        };
        let sure = if self.next_datagram.is_none() { sure } else { sure / 2 };
        let expected =
            if self.inbox.len() <= sure { None } else { self.inbox.get(sure).map(Expected::place) };
        if self.next_datagram.is_none() {
            return expected;
        }
        match (expected, self.datagram_in_doubt(sure)) {
            (Some(expected), Some(datagram)) => Some(expected.min((datagram, 0))),
            (expected, datagram) => expected.or(datagram.map(|datagram| (datagram, 0))),
        }
    }

    /// When the first datagram comes that may find no room, if `sure` others do.
    fn datagram_in_doubt(&self, sure: u64) -> Option<Time> {
        let each = sure.min(FAR) / self.sources.len() as u64;
        self.sources.iter().filter_map(|source| source.after(each)).min()
    }

    /// Whether one of the packets that are expected may find no room before the event that the agenda has.
    #[inline]
    pub(crate) fn doubts(&self) -> bool {
        self.first_in_doubt().is_some_and(|(doubt, _)| self.event.is_none_or(|event| doubt <= event))
    }

    /// The same as [`DropTail::next_event`], which is then what the agenda has.
    #[inline]
    pub(crate) fn set_event(&mut self) -> Option<(Time, u64)> {
        let next = self.next_event();
        self.event = next.map(|(at, _)| at);
        next
    }

    /// Takes on a source whose datagrams come here and end at the far end, if nothing else is to happen when they come
    /// and none is lost; or gives it back.
    pub(crate) fn take_on(&mut self, source: Cbr) -> Result<(), Cbr> {
        if !self.expects || self.wire.may_lose() {
            return Err(source);
        }
        self.sources.push(source);
        self.next_datagram = self.sources.iter().filter_map(Cbr::next).min();
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
        let came = self.next_datagram.filter(|datagram| *datagram <= at)?;
        let place = self.sources.iter().position(|source| source.next() == Some(came))?;
        #[cfg(test)]
        {
            let expected = self.inbox.first().is_some_and(|one| one.at == came);
            self.ties |= expected || self.last_entry == Some(came);
        }
        let (flow, wire) = (self.sources[place].flow(), self.sources[place].wire());
        let stats = &mut flows[flow.index()];
        stats.started.get_or_insert(came);
        stats.first_data.get_or_insert(came);
        stats.data_sent += 1;
        let turned = match self.admit(came, (wire, 0), || flow.index(), recorder) {
            Ok(trip) => {
                if self.is_full() {
                    self.sink(came, flows);
                }
                let parcel = Parcel::datagram(PacketId::default(), Step::default(), wire);
                self.take(came, parcel, trip, Fate::Sinks(flow.0), recorder);
                Ok((came, wire))
            }
            Err(cause) => Err(Turned { at: came, packet: self.sources[place].packet(), cause }),
        };
        self.sources[place].advance();
        self.next_datagram = self.sources.iter().filter_map(Cbr::next).min();
        Some(turned)
    }

    /// From now on nothing is expected. Gives the sources back.
    #[cfg(test)]
    pub(crate) fn look_at_once(&mut self) -> Vec<Cbr> {
        self.expects = false;
        self.next_datagram = None;
        std::mem::take(&mut self.sources)
    }
}
