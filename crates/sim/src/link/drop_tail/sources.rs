//! Constant-rate sources whose datagrams come to a link and end at its far end: the link lets them in when it looks, and no
//! packet is made of them.

use std::collections::VecDeque;

use firstflight::Time;

use super::super::inbox::Expected;
use super::DropTail;
use crate::packet::{DropCause, FlowId, Packet, PacketId, Step};
use crate::parcel::{Fate, Parcel, Passage};
use crate::recorder::Recorder;
use crate::source::Cbr;
use crate::stats::FlowStats;

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
pub(super) const FAR: u64 = 2_048;

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
    /// Datagrams on the link that came in a row, in their order.
    rows: VecDeque<Row>,
}

/// Datagrams that are on a link, or were: those of a source as it is heard at the far end.
#[derive(Clone, Debug)]
struct Row {
    source: Cbr,
    /// How many have not been counted at their sink.
    left: u64,
}

/// As many datagrams as are cheaper let in at once than one by one.
const ROW: u64 = 8;

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

    /// Whether none is on the link of those that came in a row.
    pub(super) fn have_sunk(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts what of the rows has reached its sink by `now`.
    pub(super) fn sink_rows(&mut self, now: Time, flows: &mut [FlowStats]) {
        while let Some(row) = self.rows.front_mut()
            && let Some((arrived, _)) = row.source.advance_through(now)
        {
            let arrived = arrived.min(row.left);
            flows[row.source.flow().index()].delivered_bytes += arrived * u64::from(row.source.wire());
            row.left -= arrived;
            if row.left > 0 {
                break;
            }
            self.rows.pop_front();
        }
    }

    /// When the next datagram but `count` comes, or one before it.
    fn after(&self, count: u64) -> Option<Time> {
        let each = count / self.list.len().max(1) as u64;
        self.list.iter().filter_map(|source| source.after(each)).min()
    }
}

impl DropTail {
    /// Whether a datagram of a source comes by `at`, which may be the last instant that there is.
    #[inline]
    pub(super) fn datagram_comes_by(&self, at: Time) -> bool {
        self.datagram <= at && self.datagram != NEVER
    }

    /// When the first of what comes is in doubt, sources' datagrams included, and its place among the events of that instant.
    #[inline]
    pub(super) fn first_in_doubt_with_sources(&mut self) -> Option<(Time, u64)> {
        let entered = self.accepted() - self.sources.let_in + self.inbox.len();
        match self.sources.doubt {
            Some(doubt) if entered <= self.sources.room && self.datagram < doubt => Some((doubt, 0)),
            Some(_) | None => self.find_first_in_doubt_with_sources(),
        }
    }

    /// The same, looked for: of those that are sure to find room, half are for datagrams, so that nothing is to be
    /// looked at until so many of one kind have come.
    #[cold]
    #[inline(never)]
    fn find_first_in_doubt_with_sources(&mut self) -> Option<(Time, u64)> {
        let half = self.sure().min(2 * FAR) / 2;
        self.sources.doubt = self.sources.after(half);
        self.sources.room = self.accepted() - self.sources.let_in + half;
        self.trust_sources();
        let expected =
            if self.inbox.len() <= half { None } else { self.inbox.get(half).map(Expected::place) };
        let datagram = self.sources.doubt.map(|datagram| (datagram, 0));
        expected.min(datagram).or(datagram).or(expected)
    }

    /// What was found to be in doubt stays so as long as there is room for what else is expected or waits.
    #[inline]
    pub(super) fn trust_sources(&mut self) {
        let entered = self.accepted() - self.sources.let_in + self.inbox.len();
        self.unsure_from = (self.inbox.count() + self.sources.room + 1).saturating_sub(entered);
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
        self.unsure_from = 0;
        Ok(())
    }

    /// Lets in what was expected before `now` and, at that instant, by the `sequence`-th event, as long as nothing but to let
    /// it in is to be done, and each datagram of a source that comes by `now` in its turn: of the two at one instant the
    /// datagram comes first, for its source decided on it a whole interval before. Says which datagram was dropped; more
    /// may come then. `carried` is told of what a router has to count.
    #[inline]
    pub(crate) fn take_turns<W: Recorder>(
        &mut self,
        (now, sequence): (Time, u64),
        is_last: impl Fn(Step) -> bool,
        mut carried: impl FnMut(Time, u32),
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> Option<Turned> {
        loop {
            let first = self.inbox.first_by(now, sequence).copied();
            let by = first.map_or(now, |first| first.at);
            self.take_row(by, now, flows);
            while self.datagram_comes_by(by) {
                if let Err(turned) = self.take_datagram(&mut carried, (flows, recorder)) {
                    return Some(turned);
                }
            }
            let Expected { at, parcel } = first.filter(|first| is_last(first.parcel.ahead().step()))?;
            if let Some(arrives) = self.pass(at, parcel) {
                self.inbox.drop_first(parcel.wire());
                self.take_passing(at, parcel, arrives);
                continue;
            }
            let trip = self.wait(at, parcel, recorder)?;
            self.inbox.drop_first(parcel.wire());
            self.make_room(at, flows, recorder);
            self.take(at, parcel, trip, Fate::Arrives, recorder);
        }
    }

    /// Lets in at once the datagrams of the only source that come by `by`, each before anything else comes and to a free
    /// transmitter, if they are many.
    #[inline]
    fn take_row(&mut self, by: Time, now: Time, flows: &mut [FlowStats]) {
        let [source] = &*self.sources.list else { return };
        if by.nanos_since(self.datagram) >= ROW.saturating_mul(source.interval())
            && self.short == Parcel::plain_kind(source.wire())
            && self.unstarted == self.ring.end()
            && let Some(ends) = self.transmitter.would_end_alike(self.datagram)
            && ends.nanos_since(self.datagram) < source.interval()
            && !source.is_first()
        {
            self.take_row_here(by, ends + self.wire.delay(), now, flows);
        }
    }

    /// The same of those that pass, the first of which arrives at this instant.
    #[inline(never)]
    fn take_row_here(&mut self, by: Time, arrives: Time, now: Time, flows: &mut [FlowStats]) {
        let first = self.datagram;
        let [source] = &mut *self.sources.list else { return };
        let heard = source.heard_later(arrives.since(first));
        let Some((count, last)) = source.advance_through(by) else { return };
        #[cfg(test)]
        for came in [first, last] {
            self.note_datagram(came);
            self.last_entry = Some(came);
        }
        self.datagram = self.sources.next();
        let stats = &mut flows[heard.flow().index()];
        stats.data_sent += count;
        if let Some(ends) = self.transmitter.transmit_alike(last) {
            self.wire.carry_surely(ends);
        }
        self.uncounted += count;
        self.last_place = 0;
        self.sources.let_in += count;
        self.sources.sink_rows(now, flows);
        self.sources.rows.push_back(Row { source: heard, left: count });
    }

    /// A datagram comes.
    #[cfg(test)]
    fn note_datagram(&mut self, came: Time) {
        let expected = self.inbox.first().is_some_and(|one| one.at == came);
        self.ties |= expected || self.last_entry == Some(came);
    }

    /// Lets the next datagram of a source in, which comes now.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a datagram, and from one place")]
    fn take_datagram<W: Recorder>(
        &mut self,
        carried: &mut impl FnMut(Time, u32),
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> Result<(), Turned> {
        let came = self.datagram;
        let place = match &*self.sources.list {
            [_] => 0,
            list => list.iter().position(|source| source.next() == Some(came)).unwrap_or(0),
        };
        #[cfg(test)]
        self.note_datagram(came);
        let source = &mut self.sources.list[place];
        let (flow, wire, is_first) = (source.flow(), source.wire(), source.is_first());
        source.advance_from(came);
        self.datagram = self.sources.next();
        let stats = &mut flows[flow.index()];
        stats.data_sent += 1;
        if is_first {
            stats.started.get_or_insert(came);
            stats.first_data.get_or_insert(came);
        }
        let parcel = Parcel::datagram(PacketId::default(), Step::default(), wire);
        let kind = (Parcel::plain_kind(wire), 0);
        if let Some(arrives) = self.pass_alike(came, kind) {
            self.make_room(came, flows, recorder);
            self.take_sinking(came, parcel, arrives, flow);
            return Ok(());
        }
        let trip = match self.wait_alike(came, kind, recorder) {
            Some(trip) => trip,
            None => match self.admit(came, (wire, 0), || flow.index(), recorder) {
                Ok(trip) => {
                    carried(came, wire);
                    trip
                }
                Err(cause) => {
                    let packet = self.sources.list[place].packet_before(came);
                    return Err(Turned { at: came, packet, cause });
                }
            },
        };
        self.sources.let_in += 1;
        self.make_room(came, flows, recorder);
        self.take(came, parcel, trip, Fate::Sinks(flow.0), recorder);
        Ok(())
    }

    /// Takes a datagram that was let in by [`DropTail::pass_alike`] and ends at the far end.
    #[inline]
    fn take_sinking(&mut self, came: Time, parcel: Parcel, arrives: Time, flow: FlowId) {
        self.sources.let_in += 1;
        self.sinking += 1;
        self.loud += u64::from(self.loud == self.ring.end());
        self.ring.push(Passage::new(parcel, came, arrives, Fate::Sinks(flow.0)));
        self.unstarted = self.ring.end();
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

#[cfg(test)]
mod tests;
