//! Datagrams of a link's own sources, admitted in order among the packets that arrive.

use firstflight::Time;

use super::super::arrival_queue::Expected;
use super::DropTail;
use super::sources::{DroppedDatagram, FAR, NEVER, Row};
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::packet::{FlowId, PacketId, Position};
use crate::recorder::Recorder;
use crate::source::Cbr;
use crate::stats::FlowStats;

/// Minimum number of datagrams for a row that is admitted at once.
const ROW: u64 = 8;

impl DropTail {
    /// Returns whether a datagram of a source arrives by `at`. `at` may be [`Time::MAX`], which also represents no
    /// datagram.
    #[inline]
    pub(super) fn datagram_comes_by(&self, at: Time) -> bool {
        self.datagram <= at && self.datagram != NEVER
    }

    /// Returns the arrival of the first packet or datagram that may find no room, and its sequence number.
    #[inline]
    pub(super) fn first_in_doubt_with_sources(&mut self) -> Option<(Time, u64)> {
        let entered = self.accepted() - self.sources.admitted + self.arrivals.len();
        match self.sources.doubt {
            Some(doubt) if entered <= self.sources.room && self.datagram < doubt => Some((doubt, 0)),
            Some(_) | None => self.find_first_in_doubt_with_sources(),
        }
    }

    /// Computes [`DropTail::first_in_doubt_with_sources`] anew. Half of the room is reserved for datagrams, so that the
    /// link need not process arrivals until this many of one kind have arrived.
    #[cold]
    #[inline(never)]
    fn find_first_in_doubt_with_sources(&mut self) -> Option<(Time, u64)> {
        let half = self.sure().min(2 * FAR) / 2;
        self.sources.doubt = self.sources.after(half);
        self.sources.room = self.accepted() - self.sources.admitted + half;
        self.trust_sources();
        let expected =
            if self.arrivals.len() <= half { None } else { self.arrivals.get(half).map(Expected::place) };
        let datagram = self.sources.doubt.map(|datagram| (datagram, 0));
        expected.min(datagram).or(datagram).or(expected)
    }

    /// Sets `unsure_from` so that the instant found for datagrams stays valid while there is room for other packets.
    #[inline]
    pub(super) fn trust_sources(&mut self) {
        let entered = self.accepted() - self.sources.admitted + self.arrivals.len();
        self.unsure_from = (self.arrivals.count() + self.sources.room + 1).saturating_sub(entered);
    }

    /// Takes on a source whose datagrams enter here and leave the network here. Returns the source if a datagram
    /// needs more than admission, or if the wire loses packets.
    pub(crate) fn take_on(&mut self, source: Cbr) -> Result<(), Cbr> {
        if !self.expects || self.wire.may_lose() {
            return Err(source);
        }
        self.sources.list.push(source);
        self.datagram = self.sources.next();
        // The first datagrams of the new source may arrive before the datagram found so far.
        self.sources.doubt = None;
        self.unsure_from = 0;
        Ok(())
    }

    /// Admits announced packets up to `now` and `sequence`, and datagrams of sources up to `now`, in order of time.
    /// At one instant a datagram comes first, because its source scheduled it an interval before. Stops at the first
    /// packet that needs more than admission. Returns a datagram that was dropped, after which there may be more to
    /// admit. `carried` is called with each packet that a router has to count.
    #[inline]
    pub(crate) fn admit_in_turn<W: Recorder>(
        &mut self,
        (now, sequence): (Time, u64),
        is_last: impl Fn(Position) -> bool,
        mut carried: impl FnMut(Time, u32),
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> Option<DroppedDatagram> {
        loop {
            let first = self.arrivals.first_by(now, sequence).copied();
            let by = first.map_or(now, |first| first.at);
            self.admit_row(by, now, flows);
            while self.datagram_comes_by(by) {
                if let Err(turned) = self.admit_datagram(&mut carried, (flows, recorder)) {
                    return Some(turned);
                }
            }
            let Expected { at, descriptor } =
                first.filter(|first| is_last(first.descriptor.advanced().position()))?;
            if let Some(arrives) = self.admit_at_once(at, descriptor) {
                self.arrivals.drop_first(descriptor.wire());
                self.append_started(at, descriptor, arrives);
                continue;
            }
            let schedule = self.admit_to_wait(at, descriptor, recorder)?;
            self.arrivals.drop_first(descriptor.wire());
            self.make_room(at, flows, recorder);
            self.take(at, descriptor, schedule, Fate::Arrives, recorder);
        }
    }

    /// Admits a row of consecutive datagrams of the only source up to `by`, all at once. It does so if they are many,
    /// no other packet arrives between them, and each finds the transmitter free.
    #[inline]
    fn admit_row(&mut self, by: Time, now: Time, flows: &mut [FlowStats]) {
        let [source] = &*self.sources.list else { return };
        if by.nanos_since(self.datagram) >= ROW.saturating_mul(source.interval())
            && self.short == Descriptor::plain_kind(source.wire())
            && self.unstarted == self.ring.end()
            && let Some(ends) = self.transmitter.would_end_alike(self.datagram)
            && ends.nanos_since(self.datagram) < source.interval()
            && !source.is_first()
        {
            self.admit_long_row(by, ends + self.wire.delay(), now, flows);
        }
    }

    /// Admits a row. `arrives` is the arrival of its first datagram at the far end.
    #[inline(never)]
    fn admit_long_row(&mut self, by: Time, arrives: Time, now: Time, flows: &mut [FlowStats]) {
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
        self.sources.admitted += count;
        self.sources.sink_rows(now, flows);
        self.sources.rows.push_back(Row { source: heard, left: count });
    }

    /// Records that a datagram enters at `came`.
    #[cfg(test)]
    fn note_datagram(&mut self, came: Time) {
        let expected = self.arrivals.first().is_some_and(|one| one.at == came);
        self.ties |= expected || self.last_entry == Some(came);
    }

    /// Admits the next datagram of a source, which arrives now.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a datagram, and from one place")]
    fn admit_datagram<W: Recorder>(
        &mut self,
        carried: &mut impl FnMut(Time, u32),
        (flows, recorder): (&mut [FlowStats], &mut W),
    ) -> Result<(), DroppedDatagram> {
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
        let descriptor = Descriptor::datagram(PacketId::default(), Position::default(), wire);
        let kind = (Descriptor::plain_kind(wire), 0);
        if let Some(arrives) = self.admit_alike_at_once(came, kind) {
            self.make_room(came, flows, recorder);
            self.append_sinking(came, descriptor, arrives, flow);
            return Ok(());
        }
        let schedule = match self.admit_alike_to_wait(came, kind, recorder) {
            Some(schedule) => schedule,
            None => match self.admit(came, (wire, 0), || flow.index(), recorder) {
                Ok(schedule) => {
                    carried(came, wire);
                    schedule
                }
                Err(cause) => {
                    let packet = self.sources.list[place].packet_before(came);
                    return Err(DroppedDatagram { at: came, packet, cause });
                }
            },
        };
        self.sources.admitted += 1;
        self.make_room(came, flows, recorder);
        self.take(came, descriptor, schedule, Fate::Sinks(flow.0), recorder);
        Ok(())
    }

    /// Adds to the ring a datagram that [`DropTail::admit_alike_at_once`] admitted and that leaves the network here.
    #[inline]
    fn append_sinking(&mut self, came: Time, descriptor: Descriptor, arrives: Time, flow: FlowId) {
        self.sources.admitted += 1;
        self.sinking += 1;
        self.loud += u64::from(self.loud == self.ring.end());
        self.ring.push(Transit::new(descriptor, came, arrives, Fate::Sinks(flow.0)));
        self.unstarted = self.ring.end();
    }

    /// Allows no announcements from now on. Returns the sources.
    #[cfg(test)]
    pub(crate) fn look_at_once(&mut self) -> Vec<Cbr> {
        self.expects = false;
        self.sole_upstream = false;
        self.datagram = NEVER;
        std::mem::take(&mut self.sources).list
    }
}

#[cfg(test)]
mod tests;
