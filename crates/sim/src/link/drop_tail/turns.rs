//! What a drop-tail link does with the datagrams of its sources, each in its turn among the packets that come.

use firstflight::Time;

use super::super::arrival_queue::Expected;
use super::DropTail;
use super::sources::{DroppedDatagram, FAR, NEVER, Row};
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::packet::{FlowId, PacketId, Position};
use crate::recorder::Recorder;
use crate::source::Cbr;
use crate::stats::FlowStats;

/// As many datagrams as are cheaper let in at once than one by one.
const ROW: u64 = 8;

impl DropTail {
    /// Whether a datagram of a source comes by `at`, which may be the last instant that there is.
    #[inline]
    pub(super) fn datagram_comes_by(&self, at: Time) -> bool {
        self.datagram <= at && self.datagram != NEVER
    }

    /// When the first of what comes is in doubt, sources' datagrams included, and its place among the events of that instant.
    #[inline]
    pub(super) fn first_in_doubt_with_sources(&mut self) -> Option<(Time, u64)> {
        let entered = self.accepted() - self.sources.let_in + self.arrivals.len();
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
            if self.arrivals.len() <= half { None } else { self.arrivals.get(half).map(Expected::place) };
        let datagram = self.sources.doubt.map(|datagram| (datagram, 0));
        expected.min(datagram).or(datagram).or(expected)
    }

    /// What was found to be in doubt stays so as long as there is room for what else is expected or waits.
    #[inline]
    pub(super) fn trust_sources(&mut self) {
        let entered = self.accepted() - self.sources.let_in + self.arrivals.len();
        self.unsure_from = (self.arrivals.count() + self.sources.room + 1).saturating_sub(entered);
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

    /// Lets in at once the datagrams of the only source that come by `by`, each before anything else comes and to a free
    /// transmitter, if they are many.
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
            self.admit_row_here(by, ends + self.wire.delay(), now, flows);
        }
    }

    /// The same of those that pass, the first of which arrives at this instant.
    #[inline(never)]
    fn admit_row_here(&mut self, by: Time, arrives: Time, now: Time, flows: &mut [FlowStats]) {
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
        let expected = self.arrivals.first().is_some_and(|one| one.at == came);
        self.ties |= expected || self.last_entry == Some(came);
    }

    /// Lets the next datagram of a source in, which comes now.
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
        self.sources.let_in += 1;
        self.make_room(came, flows, recorder);
        self.take(came, descriptor, schedule, Fate::Sinks(flow.0), recorder);
        Ok(())
    }

    /// Takes a datagram that was let in by [`DropTail::admit_alike_at_once`] and ends at the far end.
    #[inline]
    fn append_sinking(&mut self, came: Time, descriptor: Descriptor, arrives: Time, flow: FlowId) {
        self.sources.let_in += 1;
        self.sinking += 1;
        self.loud += u64::from(self.loud == self.ring.end());
        self.ring.push(Transit::new(descriptor, came, arrives, Fate::Sinks(flow.0)));
        self.unstarted = self.ring.end();
    }

    /// From now on nothing is expected. Gives the sources back.
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
