//! A link with a drop-tail FIFO queue, a transmitter and a wire: one ring of packets whose times are all known when
//! they enter.
//!
//! In a FIFO that drops only at its tail, a packet's whole future is known on arrival. The link therefore needs no
//! event for the start or the end of a transmission: it catches up with them whenever it is called. For the same
//! reason it can announce each packet to the next link at once. The next link keeps announced packets in its
//! [`ArrivalQueue`] and processes them when something depends on them: when one would arrive at the far end, or when
//! one may find the queue full and the recorder observes drops in order of time.
//!
//! If a link has a sole upstream link and is the last on every route, no other packet can come before an announced one.
//! The link therefore admits a packet that need not wait as soon as the packet is announced. That ends with the first
//! Quick-Start request, which is never announced.

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

mod announced;
mod counters;
mod local_sources;
mod sources;

use sources::{NEVER, Sources};

/// A drop-tail link. The fields that an unqueued packet touches come first, then those that a queued packet touches:
/// with many links, few of them are in a cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct DropTail {
    /// Whether packets may be announced: they need only admission when they arrive.
    expects: bool,
    /// Whether all packets come from one other link, which announces them in order, and leave the network here.
    sole_upstream: bool,
    /// Whether a packet needs only room in the queue: no policer, router, loss or jitter.
    plain: bool,
    /// Whether drops are reported in order of time. While sources send datagrams they always are.
    drops_in_turn: bool,
    /// The [`Descriptor::kind`] of packets that may take the fast paths: plain segments as large as the previous
    /// packet.
    short: u32,
    arrivals: ArrivalQueue,
    /// Arrival of the next datagram of a source.
    datagram: Time,
    ring: Ring<Transit>,
    /// The first packet of the ring that has not started transmission, or the ring's end. Until the link catches up,
    /// later packets may have started too.
    unstarted: u64,
    /// The first packet of the ring that needs an arrival event, or the ring's end.
    loud: u64,
    /// Number of packets that took the fast paths and are not in the meter yet.
    uncounted: u64,
    /// Number of packets of the ring that reach their sink at the far end.
    sinking: u64,
    /// The sequence number of the last packet's arrival.
    last_place: u64,
    /// As long as fewer packets than this were ever announced, no announced packet needs an early check: each of them,
    /// and each datagram of a source before the link's event, finds room, or no recorder needs drops in order of time.
    /// The number may be too low.
    unsure_from: u64,
    /// The link's event on the agenda: its time and sequence number.
    event: Option<(Time, u64)>,
    wire: Wire,
    transmitter: Transmitter,
    queue: QueueLimit,
    /// IP bytes of the packets that have not started.
    waiting_bytes: u64,
    /// Time at which a packet last left the queue for the transmitter, and its IP bytes.
    freed: Option<(Time, u64)>,
    /// The largest packet so far, in IP bytes.
    largest: u64,
    /// The counters. They contain the whole wait of a packet as soon as that is known.
    meter: QueueMeter,
    id: LinkId,
    sources: Sources,
    policer: Option<Box<Policer>>,
    /// Time of the newest entry, and whether a datagram of a source ever entered at the same instant as another
    /// packet.
    #[cfg(test)]
    last_entry: Option<Time>,
    #[cfg(test)]
    pub(crate) ties: bool,
}

/// The times of an admitted packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Schedule {
    starts: Time,
    pub(crate) arrives: Time,
    pub(crate) lost: bool,
    /// The sequence number of the packet's arrival.
    pub(crate) place: u64,
}

impl DropTail {
    /// Returns a link at rest. `sole_upstream` says that all packets come from one other link, and that this link is
    /// the last on their routes.
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

    /// Makes the link report drops in order of time from now on. If `in_turn` is false, the link reports drops whenever
    /// it catches up.
    pub(crate) fn set_drops_in_turn(&mut self, in_turn: bool) {
        self.drops_in_turn = in_turn;
        self.unsure_from = if in_turn || self.has_sources() { 0 } else { u64::MAX };
    }

    /// Admits a segment that need not wait, and returns its arrival. Returns `None`, and does nothing, if the segment
    /// needs more: [`DropTail::admit`] handles every packet.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn admit_at_once(&mut self, now: Time, descriptor: Descriptor) -> Option<Time> {
        self.admit_alike_at_once(now, (descriptor.kind(), descriptor.sequence()))
    }

    /// Does the work of [`DropTail::admit_at_once`] for any packet of this kind and sequence number.
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

    /// Admits a segment that may have to wait. Returns `None` if it needs more than room: [`DropTail::admit`] handles
    /// every packet.
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

    /// Does the work of [`DropTail::admit_to_wait`] for any packet of this kind and sequence number.
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
        if W::NEEDS_QUEUES || !self.waits_unnoticed(now, wire) {
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

    /// Returns true if a packet of `wire` IP bytes waits, finds room, and makes no new peak, even if no packet left the
    /// queue since the link last caught up. The link can then catch up later, with many packets at once.
    #[inline]
    fn waits_unnoticed(&self, now: Time, wire: u32) -> bool {
        let stats = &self.meter.stats;
        // A peak never exceeds the room. The addition of `largest` allows for a packet that leaves at this instant.
        self.transmitter.free_at() > now
            && self.waiting() + 1 < u64::from(stats.peak_packets)
            && self.waiting_bytes + self.largest + u64::from(wire) <= stats.peak_bytes
    }

    /// Returns the number of packets that have not started transmission.
    #[inline]
    fn waiting(&self) -> u64 {
        self.ring.end() - self.unstarted
    }

    /// Returns [`DropTail::waiting`] in the type that recorders take.
    #[inline]
    fn waiting_count(&self) -> u32 {
        u32::try_from(self.waiting()).unwrap_or(u32::MAX)
    }

    /// Sets the kind of packets that may take the fast paths. Returns false if packets of this kind may not.
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

    /// Lets plain segments of `wire` IP bytes take the fast paths from now on.
    #[inline]
    fn shorten(&mut self, wire: u32) {
        if self.plain && self.short != Descriptor::plain_kind(wire) {
            self.meter.stats.packets += self.uncounted;
            self.meter.stats.bytes += self.uncounted * u64::from(Descriptor::wire_of_kind(self.short));
            self.uncounted = 0;
            self.short = Descriptor::plain_kind(wire);
        }
    }

    /// Adds to the ring a packet that [`DropTail::admit_at_once`] admitted and that needs an arrival event. Returns
    /// whether it is the first packet that needs one.
    #[inline]
    pub(crate) fn append_started(&mut self, now: Time, descriptor: Descriptor, arrives: Time) -> bool {
        let first = self.loud == self.ring.end();
        self.ring.push(Transit::new(descriptor, now, arrives, Fate::Arrives));
        self.unstarted = self.ring.end();
        first
    }

    /// Admits a packet of `wire` IP bytes, or drops it. All announced packets that arrive before it have been handled.
    /// `sequence` is its sequence number so far; `flow` returns the number of its flow.
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
        // Of two packets that arrive together, the first to enter comes first, even if its host sent it after the
        // other.
        self.last_place = if arrives == before { sequence.max(self.last_place + 1) } else { sequence };
        Ok(Schedule { starts, arrives, lost, place: self.last_place })
    }

    /// Adds an admitted packet to the ring. Returns whether it is the first packet that needs an arrival event.
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
            // One packet fewer is sure to find room, unless this packet itself was announced.
            self.unsure_from = self.unsure_from.saturating_sub(1);
            self.meter.peak(self.waiting(), self.waiting_bytes);
            recorder.queue(now, self.id, Bytes::new(self.waiting_bytes), self.waiting_count());
        } else {
            // No packet can wait ahead of a packet that starts at once.
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

    /// Records that a packet enters at `now`.
    #[cfg(test)]
    fn note_entry(&mut self, now: Time) {
        self.ties |= self.sources.are_there() && self.last_entry == Some(now);
        self.last_entry = Some(now);
    }

    /// Makes room before a packet is added. If the ring is full, removes packets that have reached their sink or were
    /// handed on, so that the ring need not grow.
    #[inline]
    pub(crate) fn make_room<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        if self.ring.is_full() {
            self.clear_out(now, flows, recorder);
        }
    }

    #[inline(never)]
    fn clear_out<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        if !W::NEEDS_QUEUES {
            self.catch_up(now, recorder);
        }
        self.sink(now, flows);
    }

    /// Returns when the last packet so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        self.wire.last_arrival()
    }

    /// Removes and returns the first packet that needs an arrival event, if it has arrived by `now`, and counts the
    /// packets before it. Returns `None` if no packet has arrived, or if the link has to process announced packets
    /// first.
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

    /// Removes the first packet, which had an arrival event. Returns the next packet that needs one, and its arrival.
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

    /// Returns whether the wire loses no packet.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        !self.wire.may_lose()
    }

    /// Counts the packets that have reached their sink by `now`, and removes handed-on packets, up to the first packet
    /// that needs an arrival event. The link has caught up with `now`, or with the start of that packet.
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

    /// Brings everything up to `now`: transmissions, datagrams at their sinks, and datagrams of the link's own sources.
    pub(crate) fn settle<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        self.catch_up(now, recorder);
        self.sink(now, flows);
        self.sources.sink_rows(now, flows);
    }

    /// Starts the transmissions that are due by `now`.
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

    /// Does the work of [`DropTail::catch_up`], for a caller that mostly finds an empty queue.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place")]
    pub(crate) fn start_due<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        if self.unstarted != self.ring.end() {
            self.catch_up(now, recorder);
        }
    }

    /// Returns the number of packets ever admitted, including those admitted before their arrival.
    #[inline]
    fn accepted(&self) -> u64 {
        self.meter.stats.packets + self.uncounted
    }

    /// Returns whether a packet may enter. A packet that finds the transmitter free need not wait and always may
    /// enter.
    ///
    /// A place freed at an instant is free after that instant: if an arrival and the end of a transmission coincide,
    /// the arrival comes first. (An event simulator has this order if the source scheduled the packet before the
    /// transmission began, as a constant-rate source does. Cross traffic in step with the transmitter makes these
    /// ties the rule, and the other order would give it every place.)
    fn has_room(&self, now: Time, wire: u32) -> bool {
        // The limit is lowered for a place that was freed at this instant.
        if matches!(self.queue, QueueLimit::Packets(limit) if self.waiting() + 2 < u64::from(limit))
            || !self.transmitter.takes_time()
            || self.transmitter.free_at() < now
            || self.accepted() == 0
        {
            return true;
        }
        // At opportunities no packet is in transmission between two, and those of this instant come before the arrival.
        let (places, freed) = if self.transmitter.waits_for_opportunities() {
            (0, None)
        } else {
            (1, self.freed.filter(|(at, _)| *at == now))
        };
        let (freed, bytes) = freed.map_or((0, 0), |(_, bytes)| (1, bytes));
        match self.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting() + freed + places < u64::from(limit),
            QueueLimit::Bytes(limit) => self.waiting_bytes + bytes + u64::from(wire) <= limit.get(),
        }
    }
}

#[cfg(test)]
mod tests;
