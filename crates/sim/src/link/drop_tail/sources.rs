//! Constant-rate sources whose datagrams come to a link and end at its far end: the link lets them in when it looks, and no
//! packet is made of them.

use firstflight::Time;

use super::super::inbox::Expected;
use super::super::passage::{Fate, Parcel};
use super::DropTail;
use crate::packet::{DropCause, Packet, PacketId};
use crate::recorder::Recorder;
use crate::routes::Step;
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
        let expected =
            if self.inbox.len() <= half { None } else { self.inbox.get(half).map(Expected::place) };
        let datagram = self.sources.doubt.map(|datagram| (datagram, 0));
        expected.min(datagram).or(datagram).or(expected)
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
                self.make_room(came, flows, recorder);
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
