//! A link with a drop-tail FIFO queue, a transmitter and a wire, as one ring of packets whose times are all known
//! when they enter.
//!
//! A FIFO that drops only at its tail decides a packet's whole future on arrival, so the link needs no event for
//! the start or end of a transmission: it catches up with those whenever it is touched. For the same reason it can
//! say at once when a packet comes to the next link, which puts that into its [`ArrivalQueue`] and looks at it when
//! something depends on it: when the packet would arrive at the far end, or could find the queue full and somebody minds
//! when it is dropped. If only that one
//! link feeds the next, and what it carries ends there, a packet that need not wait is let in as soon as it is known to
//! come: nothing can come before it, until a request for Quick-Start comes, which is not expected.

use firstflight::{Bytes, Time};

use super::arrival_queue::ArrivalQueue;
use super::queue_meter::QueueMeter;
use super::wire::Wire;
use crate::descriptor::{Descriptor, Fate, Transit};
use crate::packet::{DropCause, LinkId};
use crate::policer::Policer;
use crate::quantity::QueueLimit;
use crate::recorder::Recorder;
use crate::ring::Ring;
use crate::spec::LinkSpec;
use crate::stats::FlowStats;
use crate::transmitter::Transmitter;

pub(crate) use sources::DroppedDatagram;

mod counters;
mod expect;
mod sources;
mod turns;

use sources::{NEVER, Sources};

/// What a packet touches that passes stands first, then what one touches that waits: of many links few are in a cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct DropTail {
    /// Whether packets may be put into the arrivals: nothing else is to happen when they come.
    expects: bool,
    /// Whether all of it comes from one other link, which says so in the order of its coming, and goes no further.
    sole_upstream: bool,
    /// Whether nothing but the queue stands in the way of packets.
    plain: bool,
    /// Whether drops are told of in their turn. They are anyway while datagrams of sources come.
    drops_in_turn: bool,
    /// Which packets may take the short ways, by [`Descriptor::kind`]: plain segments as large as the packet before.
    short: u32,
    arrivals: ArrivalQueue,
    /// When the next datagram of a source comes.
    datagram: Time,
    ring: Ring<Transit>,
    /// The ring's first packet that has not started transmission, or its end. Those behind it may have started, too, unless
    /// the link has caught up.
    unstarted: u64,
    /// The ring's first packet that is not quiet, or its end.
    loud: u64,
    /// How many packets took the short ways that the meter has not counted.
    uncounted: u64,
    /// How many packets of the ring reach their sink at the far end.
    sinking: u64,
    /// The place of the last packet in the order of events.
    last_place: u64,
    /// What is expected, and each datagram of a source before the event that the agenda has, finds room, or nobody minds when
    /// it is dropped, as long as fewer packets than this were ever put into the arrivals. It may be more.
    unsure_from: u64,
    /// When the event comes that the agenda has, and its place in the order.
    event: Option<(Time, u64)>,
    wire: Wire,
    transmitter: Transmitter,
    queue: QueueLimit,
    /// IP bytes of the packets that have not started.
    waiting_bytes: u64,
    /// The instant at which a packet last left the queue for the transmitter, and its size.
    freed: Option<(Time, u64)>,
    /// The greatest packet that was ever let in, in IP bytes.
    largest: u64,
    /// The integrals in it count each packet's whole wait as soon as it is known.
    meter: QueueMeter,
    id: LinkId,
    sources: Sources,
    policer: Option<Box<Policer>>,
    /// When a packet last came, and whether a datagram of a source ever came at the same instant as another packet.
    #[cfg(test)]
    last_entry: Option<Time>,
    #[cfg(test)]
    pub(crate) ties: bool,
}

/// The times of a packet that was let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Schedule {
    starts: Time,
    pub(crate) arrives: Time,
    pub(crate) lost: bool,
    /// Its arrival's place in the order of events.
    pub(crate) place: u64,
}

impl DropTail {
    /// A link at rest; `sole_upstream` says that all it carries comes from one other link, and goes no further.
    pub(crate) fn new(id: LinkId, spec: &LinkSpec, seed: u64, sole_upstream: bool) -> Self {
        let (transmitter, wire) =
            (Transmitter::new(spec.rate, spec.rates.as_ref()), Wire::new(id, spec, seed));
        let expects = spec.policer.is_none() && transmitter.takes_time();
        Self {
            id,
            queue: spec.queue,
            policer: spec.policer.map(|policer| Box::new(Policer::new(policer))),
            expects,
            sole_upstream: sole_upstream && expects,
            sources: Sources::default(),
            datagram: NEVER,
            plain: expects && spec.quick_start.is_none() && wire.is_sure(),
            drops_in_turn: true,
            short: u32::MAX,
            uncounted: 0,
            sinking: 0,
            arrivals: ArrivalQueue::default(),
            ring: Ring::default(),
            unstarted: 0,
            loud: 0,
            transmitter,
            wire,
            waiting_bytes: 0,
            last_place: 0,
            largest: 0,
            unsure_from: 0,
            freed: None,
            meter: QueueMeter::default(),
            event: None,
            #[cfg(test)]
            last_entry: None,
            #[cfg(test)]
            ties: false,
        }
    }

    /// From now on drops are told of in their turn, or whenever the link looks.
    pub(crate) fn set_drops_in_turn(&mut self, in_turn: bool) {
        self.drops_in_turn = in_turn;
        self.unsure_from = if in_turn || self.has_sources() { 0 } else { u64::MAX };
    }

    /// Lets a segment in that need not wait, and says when it arrives; `None`, and nothing is done, if more has to be
    /// looked at: [`DropTail::admit`] does then.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn admit_at_once(&mut self, now: Time, descriptor: Descriptor) -> Option<Time> {
        self.admit_alike_at_once(now, (descriptor.kind(), descriptor.sequence()))
    }

    /// The same of whatever is as large as a segment of this kind. It comes in this place in the order of events.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    fn admit_alike_at_once(&mut self, now: Time, (kind, sequence): (u32, u64)) -> Option<Time> {
        if self.unstarted != self.ring.end() || kind != self.short && !self.turn_to(kind) {
            return None;
        }
        let ends = self.transmitter.transmit_alike(now)?;
        #[cfg(test)]
        self.note_entry(now);
        self.uncounted += 1;
        self.last_place = sequence;
        Some(self.wire.carry_surely(ends))
    }

    /// Lets a segment in that may have to wait; `None` if more has to be looked at: [`DropTail::admit`] does then.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    pub(crate) fn admit_to_wait<W: Recorder>(
        &mut self,
        now: Time,
        descriptor: Descriptor,
        recorder: &mut W,
    ) -> Option<Schedule> {
        self.admit_alike_to_wait(now, (descriptor.kind(), descriptor.sequence()), recorder)
    }

    /// The same of whatever is as large as a segment of this kind. It comes in this place in the order of events.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn admit_alike_to_wait<W: Recorder>(
        &mut self,
        now: Time,
        (kind, sequence): (u32, u64),
        recorder: &mut W,
    ) -> Option<Schedule> {
        if kind != self.short && !self.turn_to(kind) {
            return None;
        }
        let wire = Descriptor::wire_of_kind(kind);
        if W::HEARS_QUEUES || !self.waits_unnoticed(now, wire) {
            self.catch_up(now, recorder);
            if !self.has_room(now, wire) {
                return None;
            }
        }
        let (starts, ends) = self.transmitter.transmit_alike_later(now)?;
        #[cfg(test)]
        self.note_entry(now);
        self.uncounted += 1;
        self.last_place = sequence;
        Some(Schedule { starts, arrives: self.wire.carry_surely(ends), lost: false, place: sequence })
    }

    /// Whether a packet of `wire` IP bytes waits, finds room, and is no new peak, even if nothing has left the queue since the
    /// link caught up last: what has is looked at later, much of it at once.
    #[inline]
    fn waits_unnoticed(&self, now: Time, wire: u32) -> bool {
        let stats = &self.meter.stats;
        // No peak was ever beyond what there is room for. One may have been freed at this very instant.
        self.transmitter.free_at() > now
            && self.waiting() + 1 < u64::from(stats.peak_packets)
            && self.waiting_bytes + self.largest + u64::from(wire) <= stats.peak_bytes
    }

    /// How many packets have not started.
    #[inline]
    fn waiting(&self) -> u64 {
        self.ring.end() - self.unstarted
    }

    /// The same as the recorder is told it.
    #[inline]
    fn waiting_count(&self) -> u32 {
        u32::try_from(self.waiting()).unwrap_or(u32::MAX)
    }

    /// Packets of this kind take the short ways from now on, if they may; says whether they do.
    #[inline(never)]
    fn turn_to(&mut self, kind: u32) -> bool {
        let wire = Descriptor::wire_of_kind(kind);
        let may = self.plain && kind == Descriptor::plain_kind(wire) && self.transmitter.turn_to(wire);
        if may {
            self.largest = self.largest.max(u64::from(wire));
            self.shorten(wire);
        }
        may
    }

    /// Plain segments as large as this take the short ways from now on.
    #[inline]
    fn shorten(&mut self, wire: u32) {
        if self.plain && self.short != Descriptor::plain_kind(wire) {
            self.meter.stats.packets += self.uncounted;
            self.meter.stats.bytes += self.uncounted * u64::from(Descriptor::wire_of_kind(self.short));
            self.uncounted = 0;
            self.short = Descriptor::plain_kind(wire);
        }
    }

    /// Takes a packet that was let in by [`DropTail::admit_at_once`], and on which something depends. Says whether it is the first.
    #[inline]
    pub(crate) fn append_started(&mut self, now: Time, descriptor: Descriptor, arrives: Time) -> bool {
        let first = self.loud == self.ring.end();
        self.ring.push(Transit::new(descriptor, now, arrives, Fate::Arrives));
        self.unstarted = self.ring.end();
        first
    }

    /// A packet of `wire` IP bytes comes to the near end, behind all that was expected before. `sequence` is its place in
    /// the order of events so far; `flow` says whose it is.
    #[inline]
    pub(crate) fn admit<W: Recorder>(
        &mut self,
        now: Time,
        (wire, sequence): (u32, u64),
        flow: impl FnOnce() -> usize,
        recorder: &mut W,
    ) -> Result<Schedule, DropCause> {
        #[cfg(test)]
        self.note_entry(now);
        self.catch_up(now, recorder);
        if self.policer.as_mut().is_some_and(|policer| !policer.passes(now, wire)) {
            self.meter.stats.dropped_by_policer += 1;
            return Err(DropCause::Policer);
        }
        if !self.has_room(now, wire) {
            self.meter.stats.dropped_by_queue += 1;
            return Err(DropCause::Queue);
        }
        self.meter.accept(wire);
        let starts = self.transmitter.transmit(now, wire);
        self.largest = self.largest.max(u64::from(wire));
        self.shorten(self.transmitter.alike());
        let before = self.wire.last_arrival();
        let (arrives, lost) = self.wire.carry(flow, self.transmitter.free_at());
        // Of two that arrive together the first to enter comes first, whichever left its host before.
        self.last_place = if arrives == before { sequence.max(self.last_place + 1) } else { sequence };
        Ok(Schedule { starts, arrives, lost, place: self.last_place })
    }

    /// Takes a packet that was let in at `now`. Says whether it is the first on whose arrival something depends.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn take<W: Recorder>(
        &mut self,
        now: Time,
        descriptor: Descriptor,
        schedule: Schedule,
        fate: Fate,
        recorder: &mut W,
    ) -> bool {
        let waits = schedule.starts > now;
        if fate == Fate::HandedOn && !waits && self.unstarted == self.ring.end() {
            return false;
        }
        let transit = Transit::new(descriptor, schedule.starts, schedule.arrives, fate);
        let name = self.ring.end();
        if waits {
            self.ring.push(transit);
            let wire = u64::from(descriptor.wire());
            self.meter.wait(schedule.starts.nanos_since(now), wire);
            self.waiting_bytes += wire;
            // Unless it was one of those that were expected.
            self.unsure_from = self.unsure_from.saturating_sub(1);
            self.meter.peak(self.waiting(), self.waiting_bytes);
            recorder.queue(now, self.id, Bytes::new(self.waiting_bytes), self.waiting_count());
        } else {
            // Nothing can wait ahead of a packet that starts at once.
            self.ring.push(transit);
            self.unstarted = self.ring.end();
        }
        self.sinking += u64::from(matches!(fate, Fate::Sinks(_)));
        let first = self.loud == name;
        if transit.is_quiet() {
            self.loud += u64::from(first);
            false
        } else {
            first
        }
    }

    /// A packet enters.
    #[cfg(test)]
    fn note_entry(&mut self, now: Time) {
        self.ties |= self.sources.are_there() && self.last_entry == Some(now);
        self.last_entry = Some(now);
    }

    /// Before another packet is taken: what has reached its sink, or left for the next link, is let go if otherwise the ring
    /// would have to grow.
    #[inline]
    pub(crate) fn make_room<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        if self.ring.is_full() {
            self.clear_out(now, flows, recorder);
        }
    }

    #[inline(never)]
    fn clear_out<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        if !W::HEARS_QUEUES {
            self.catch_up(now, recorder);
        }
        self.sink(now, flows);
    }

    /// When the last packet so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        self.wire.last_arrival()
    }

    /// Takes the first packet that has arrived by `now` and on which something depends, behind those that are counted.
    /// `None` also if the link has to take in what is expected before it can tell.
    #[inline]
    pub(crate) fn arrival(&mut self, now: Time, flows: &mut [FlowStats]) -> Option<Transit> {
        let transit = *self.ring.get(self.loud)?;
        if transit.arrives > now || self.unstarted <= self.loud {
            return None;
        }
        if self.ring.head() < self.loud {
            self.sink(now, flows);
        }
        self.let_go();
        self.meter.stats.dropped_at_random += u64::from(transit.is_lost());
        Some(transit)
    }

    /// Lets the first packet go, which is the first on whose arrival something depended, and gives the next such one with
    /// the instant of its arrival.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    fn let_go(&mut self) -> Option<(Time, Descriptor)> {
        self.ring.drop_first();
        loop {
            self.loud += 1;
            match self.ring.get(self.loud) {
                Some(transit) if transit.is_quiet() => {}
                transit => return transit.map(|transit| (transit.arrives, transit.descriptor)),
            }
        }
    }

    /// Whether no packet is lost on the wire.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        !self.wire.may_lose()
    }

    /// Counts what has reached its sink by `now`, and lets go of what has left for the next link, ahead of any packet
    /// on which something depends. The link has caught up with `now`, or with the start of that packet.
    pub(crate) fn sink(&mut self, now: Time, flows: &mut [FlowStats]) {
        let end = self.loud.min(self.unstarted);
        while self.sinking > 0
            && self.ring.head() < end
            && let Some(transit) = self.ring.first()
        {
            if !transit.is_handed_on() {
                if transit.arrives > now {
                    return;
                }
                flows[transit.descriptor.packet().index()].delivered_bytes +=
                    u64::from(transit.descriptor.wire());
                self.sinking -= 1;
            }
            self.ring.drop_first();
        }
        self.ring.drop_to(end);
    }

    /// The same, and all else that is not brought up to `now` by itself.
    pub(crate) fn settle<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        self.catch_up(now, recorder);
        self.sink(now, flows);
        self.sources.sink_rows(now, flows);
    }

    /// Lets the transmissions start that are due by `now`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from few places")]
    pub(crate) fn catch_up<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        while let Some(&Transit { starts, descriptor, .. }) = self.ring.get(self.unstarted) {
            if starts > now {
                break;
            }
            let wire = descriptor.wire();
            self.unstarted += 1;
            self.waiting_bytes -= u64::from(wire);
            self.freed = Some((starts, u64::from(wire)));
            recorder.queue(starts, self.id, Bytes::new(self.waiting_bytes), self.waiting_count());
        }
    }

    /// The same where most of the time nothing waits.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    pub(crate) fn start_due<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        if self.unstarted != self.ring.end() {
            self.catch_up(now, recorder);
        }
    }

    /// How many packets it ever let in, those that have yet to come included.
    #[inline]
    fn accepted(&self) -> u64 {
        self.meter.stats.packets + self.uncounted
    }

    /// Whether a packet may enter. One that finds the transmitter free does not wait and always may.
    ///
    /// A place freed at an instant is free after that instant: of an arrival and the end of a transmission at one
    /// time, the arrival comes first. (An event simulator whose source decided on its packet before the
    /// transmission began, as one with a constant rate does, orders them so. Cross traffic in step with the
    /// transmitter makes such ties the rule, and the other order would give it every place.)
    fn has_room(&self, now: Time, wire: u32) -> bool {
        // Even if a place was freed at this very instant.
        if matches!(self.queue, QueueLimit::Packets(limit) if self.waiting() + 2 < u64::from(limit))
            || !self.transmitter.takes_time()
            || self.transmitter.free_at() < now
            || self.accepted() == 0
        {
            return true;
        }
        let (freed, bytes) = self.freed.filter(|(at, _)| *at == now).map_or((0, 0), |(_, bytes)| (1, bytes));
        match self.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting() + freed + 1 < u64::from(limit),
            QueueLimit::Bytes(limit) => self.waiting_bytes + bytes + u64::from(wire) <= limit.get(),
        }
    }
}

#[cfg(test)]
mod tests;
