//! Observes the measured flow, for its recording and its metrics.

mod queue;
mod recent;
mod surroundings;

use firstflight::{Bytes, Note, Phase, Rate, Sent, Span, Tag, Time, TraceRecord};
use firstflight_measure::{
    Drop, Evidence, ExitSeen, Inside, Recording, Send, State, Tally, Tap, Waits, early_instants, mark,
};
use firstflight_scenario::quantity::humane_rate;
use firstflight_sim::{Congestion, DropCause, FlowId, LinkId, Packet, Recorder};
use firstflight_tcp::{EndpointEvent, Flags, Role, Segment, Snapshot, Transmit};

pub(crate) use self::recent::{Last, Recent};
pub(crate) use self::surroundings::Surroundings;
use crate::growth::GrowthWatch;

/// The settings of the observation of a run.
#[derive(Default)]
pub(crate) struct Watching {
    /// Whether to record the series that figures need.
    pub(crate) full: bool,
    /// An observer for captures and logs, if there is one.
    pub(crate) tap: Option<Box<dyn Tap>>,
    /// The observers of the other clients of rounds, from the second client on; `None` for a client without one.
    pub(crate) clients: Vec<Option<Box<dyn Tap>>>,
    /// The history of the flow's last round trips, if it is needed.
    pub(crate) recent: Option<Recent>,
    /// The length of the slots in which links are measured; `None` without slots.
    pub(crate) slot: Option<Span>,
    /// An empty recording to write to. It may have buffers from an earlier run.
    pub(crate) buffers: Recording,
}

/// The recorder of the measured flow.
pub(crate) struct Observer {
    flow: FlowId,
    /// Whether to record the series that figures need.
    full: bool,
    /// Whether the server's segments and arriving segments are needed too, for figures, a tap or `recent`.
    needs_events: bool,
    evidence: Evidence,
    /// Counts packets. Without figures, the counts replace the lists of packets.
    tally: Tally,
    waits: Waits,
    recent: Option<Recent>,
    /// Number of RTT samples that `recent` has received, modulo 2^32.
    rtt_samples: u32,
    /// Number of RTT samples of a QUIC flow that the recording has considered.
    quic_rtt_samples: u64,
    sequences: [Sequence; 2],
    /// Whether new data was sent during the current event.
    new_data: bool,
    growth: GrowthWatch,
    /// The tag of the newest data sent, and whether this tag was first sent in the current event.
    tag: (Tag, bool),
    /// Recorder of the sender's state (windows, phases, RTTs) for figures.
    inside: Inside,
    /// The number of exits when the window was last reduced. Undoing that reduction also undoes later exits.
    exits_at_cut: usize,
    /// Whether su-time had ended when the window was last reduced. If it had, undoing the reduction does not affect it.
    su_over_at_cut: bool,
    /// The number of reductions that the evidence leaves out. Without figures it has only the first and the newest one.
    cuts_left_out: usize,
    surroundings: Surroundings,
    tap: Option<Box<dyn Tap>>,
}

impl Observer {
    /// Creates the observer of a flow that has not started. `surroundings` has the observations so far, `base_rtt` is the path's base RTT,
    /// and `mss` is the payload of a full segment in bytes.
    pub(crate) fn new(
        flow: FlowId,
        mut surroundings: Surroundings,
        (base_rtt, mss): (Span, u32),
        watching: Watching,
    ) -> Self {
        let Watching { full, tap, mut buffers, recent, .. } = watching;
        surroundings.queues.iter_mut().for_each(|queue| queue.full = full);
        if let Some(first) = surroundings.queues.first_mut() {
            first.series = std::mem::take(&mut buffers.queue);
        }
        let recording = Recording { mss, syn_at: surroundings.start, ..buffers };
        Self {
            flow,
            full,
            needs_events: full || tap.is_some() || recent.is_some(),
            evidence: Evidence { recording, ..Evidence::default() },
            tally: Tally::new(base_rtt.nanos(), early_instants(surroundings.start, base_rtt.nanos())),
            waits: Waits::default(),
            recent,
            rtt_samples: 0,
            quic_rtt_samples: 0,
            sequences: [Sequence::default(); 2],
            new_data: false,
            growth: GrowthWatch::default(),
            tag: (Tag::default(), false),
            inside: Inside::default(),
            exits_at_cut: 0,
            su_over_at_cut: false,
            cuts_left_out: 0,
            surroundings,
            tap,
        }
    }

    /// Returns the evidence of a flow that ended at `end`, and the observer. From then on the observer only serves the tap.
    pub(crate) fn close(self, end: u64) -> (Evidence, Self) {
        let mut observer = self;
        if let Some(tap) = &mut observer.tap {
            tap.surroundings(delivered(&observer.tally), observer.surroundings.longest_queue());
        }
        let Self {
            mut evidence,
            tally,
            waits,
            surroundings: Surroundings { start, mut queues, .. },
            growth,
            ..
        } = observer;
        evidence.longest_wait = Some(waits.longest());
        evidence.waited = Some(waits.total());
        evidence.su_counts = growth.counts();
        evidence.recording.first_data_at = tally.first_data_at();
        evidence.counted = Some(tally.finish());
        for queue in &mut queues {
            queue.until(end);
        }
        evidence.queue_peak = queues.iter().map(|queue| queue.peak).max().unwrap_or(0);
        // The queue with the greatest mean; the first of several.
        if let Some(busiest) = queues.into_iter().rev().max_by_key(|queue| queue.packet_nanos) {
            evidence.queue_packet_nanos = busiest.packet_nanos;
            evidence.recording.queue = busiest.series;
        }
        evidence.recording.ended_at = end;
        if let Some(last) = evidence.recording.phases.last_mut() {
            last.to = end;
        }
        let surroundings = Surroundings::new(&[], Time::from_nanos(start));
        let mut tally = Tally::default();
        tally.intervals(None);
        (
            evidence,
            Self { full: false, evidence: Evidence::default(), tally, waits, surroundings, ..observer },
        )
    }

    /// Returns when the first data packet was sent; `None` before that, and after [`Observer::intervals`] was called.
    pub(crate) const fn wants_intervals(&self) -> Option<u64> {
        self.tally.wants_intervals()
    }

    /// Sets the length of the scorecard's intervals ([`Tally::intervals`]).
    pub(crate) fn intervals(mut self, length: Option<u64>) -> Self {
        self.tally.intervals(length);
        self
    }

    /// Takes the record of the flow's last round trips, if there is one. Nothing more is recorded in it.
    pub(crate) const fn take_recent(&mut self) -> Option<Recent> {
        self.recent.take()
    }

    /// Ends the observation and the tap.
    ///
    /// # Errors
    /// Fails with the tap's error.
    pub(crate) fn finish(mut self) -> std::io::Result<()> {
        self.tap.as_mut().map_or(Ok(()), |tap| tap.finish())
    }

    /// Returns the rates offered by on/off sources, each as (from when, which flow, IP bits per second).
    pub(crate) fn offered(&self) -> &[(u64, FlowId, u64)] {
        &self.surroundings.offered
    }

    fn is_mine(&self, flow: FlowId, side: Role) -> bool {
        flow == self.flow && side == Role::Client
    }

    fn note(&mut self, at: Time, note: &Note) {
        match *note {
            Note::Began(_) => {}
            Note::Exited { exit, phase, cwnd, .. } => {
                if phase == Phase::Startup {
                    let rate = exit.learned.rate.map(Rate::bps);
                    let seen = ExitSeen { at: at.nanos(), cause: exit.cause, cwnd: cwnd.get(), rate };
                    self.evidence.exits.push(seen);
                }
            }
            Note::Continued => self.keep_exits(self.evidence.exits.len().saturating_sub(1)),
            Note::Reduced { from } => {
                self.exits_at_cut = self.evidence.exits.len();
                self.su_over_at_cut = self.evidence.su_end.is_some();
                self.cut(at, from);
            }
            Note::Undone { exit } => {
                if self.cuts_left_out == 0 {
                    self.evidence.cuts.pop();
                }
                self.cuts_left_out = self.cuts_left_out.saturating_sub(1);
                if exit {
                    self.keep_exits(self.exits_at_cut);
                }
                if exit && !self.su_over_at_cut {
                    self.tally.su_goes_on();
                    self.evidence.su_end = None;
                    self.evidence.recording.marks.retain(|mark| mark.kind != "su-end");
                }
            }
        }
    }

    /// Keeps the first `count` exits and discards the others.
    fn keep_exits(&mut self, count: usize) {
        let had_one = !self.evidence.exits.is_empty();
        self.evidence.exits.truncate(count);
        if had_one && self.evidence.exits.is_empty() {
            self.tally.exits_undone();
        }
    }

    /// Records that the window was reduced from `from`.
    fn cut(&mut self, at: Time, from: Bytes) {
        let cuts = &mut self.evidence.cuts;
        if let Some(newest) = cuts.get_mut(1).filter(|_| !self.full) {
            *newest = (at.nanos(), from.get());
            self.cuts_left_out += 1;
        } else {
            cuts.push((at.nanos(), from.get()));
        }
    }

    /// Records the end of a loss episode. Without figures, only the episodes are kept that can extend the overshoot of an exit.
    fn recovered(&mut self, at: Time) {
        let Evidence { exits, recoveries, .. } = &mut self.evidence;
        let Some((from, end @ None)) = recoveries.last_mut() else { return };
        *end = Some(at.nanos());
        let may_be_of = |exit: &ExitSeen| self.tally.is_soon_after(*from, exit.at);
        if !self.full && !exits.first().is_some_and(may_be_of) {
            recoveries.pop();
        }
    }

    /// Records that a data packet of the flow was sent.
    #[inline]
    fn data_left(&mut self, at: Time, offset: u64, len: u16, retransmission: bool) {
        self.new_data |= !retransmission;
        let (at, len) = (at.nanos(), u32::from(len));
        self.tally.sent(at, offset, len, retransmission);
        if let Some(recent) = &mut self.recent {
            recent.sent(at, len);
        }
        if self.full {
            self.evidence.recording.sends.push(Send { at, offset, len, retransmission });
        }
    }

    /// Records that data was sent under this tag.
    #[inline]
    fn tagged(&mut self, tag: Tag) {
        if self.tag.0 != tag {
            self.tag = (tag, true);
        }
    }

    /// Records a sent segment of any kind, which the tap may need.
    #[inline(never)]
    fn sent_any(&mut self, at: Time, side: Role, segment: &Segment, sent: Option<&Sent>) {
        let offset = self.sequences[usize::from(side == Role::Server)].sent(segment);
        if let Some(tap) = &mut self.tap {
            tap.sent(at, side, &Transmit { segment: *segment, sent: sent.copied(), offset }, offset);
        }
        if side == Role::Client && segment.len > 0 {
            if let Some(sent) = sent {
                self.tagged(sent.tag);
            }
            self.data_left(at, offset, segment.len, sent.is_some_and(|sent| sent.retransmission));
        }
    }

    /// Records an arrived segment, which figures or a tap need.
    fn on_segment(&mut self, at: Time, side: Role, segment: &Segment) {
        let [client, server] = &self.sequences;
        let (from, to) = if side == Role::Client { (server, client) } else { (client, server) };
        let offset = from.offset(segment.seq);
        if side == Role::Client && (self.full || self.recent.is_some()) && segment.flags.has(Flags::ACK) {
            let acked = to.offset(segment.ack);
            if let Some(recent) = &mut self.recent {
                recent.acked(at.nanos(), acked);
            }
            let acks = &mut self.evidence.recording.acks;
            if self.full && acked > 0 && acks.last().is_none_or(|(_, last)| acked > *last) {
                acks.push((at.nanos(), acked));
            }
        }
        if let Some(tap) = &mut self.tap {
            tap.arrived(at, side, segment, offset);
        }
    }

    /// Ends su-time if new data is sent under the avoidance law: start-up has exited, recovery is over, and the window is at least the
    /// threshold.
    fn watch_su_end(&mut self, at: Time, snapshot: &Snapshot) {
        let governs = snapshot.phase == Phase::Avoidance
            && !snapshot.recovering
            && snapshot.ssthresh.is_none_or(|ssthresh| snapshot.cwnd >= ssthresh);
        if governs {
            self.evidence.su_end = Some(at.nanos());
            self.tally.su_ended(at.nanos());
            if self.full {
                Inside::su_end(&mut self.evidence.recording, at, snapshot.cwnd);
            }
        }
    }
}

impl Recorder for Observer {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and of most kinds of packets little is done")]
    fn sent(&mut self, at: Time, flow: FlowId, side: Role, _: u64, segment: &Segment, sent: Option<&Sent>) {
        if flow != self.flow {
            return;
        }
        self.waits.left(at.nanos(), side == Role::Server);
        if side == Role::Server && !self.needs_events {
            return;
        }
        match sent {
            Some(sent) if self.tap.is_none() && side == Role::Client && segment.len > 0 => {
                let offset = self.sequences[0].sent_data(segment);
                self.tagged(sent.tag);
                self.data_left(at, offset, segment.len, sent.retransmission);
            }
            Some(_) | None => self.sent_any(at, side, segment, sent),
        }
    }

    #[inline]
    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        if flow != self.flow {
            return;
        }
        self.waits.gone(at.nanos());
        if self.needs_events {
            self.on_segment(at, side, segment);
        }
    }

    fn dropped(&mut self, at: Time, _: LinkId, packet: &Packet, cause: DropCause) {
        let (Some(segment), true) = (packet.segment(), packet.flow == self.flow) else { return };
        self.waits.gone(at.nanos());
        let client = packet.from == Role::Client;
        let (offset, len) = match segment.len {
            len if client && len > 0 => (self.sequences[0].offset(segment.seq), u32::from(len)),
            _ => (0, 0),
        };
        let (at, sent_at) = (at.nanos(), packet.sent_at.nanos());
        let by_queue = cause != DropCause::Random;
        let drop = Drop { at, sent_at, offset, len, by_queue };
        let exit = self.evidence.exits.first().map(|exit| exit.at);
        self.tally.dropped(&drop, exit, &self.evidence.recoveries);
        if let Some(recent) = &mut self.recent {
            recent.dropped(sent_at, len);
        }
        if self.full {
            self.evidence.recording.drops.push(drop);
        }
    }

    fn marked(&mut self, _: Time, _: LinkId, packet: &Packet) {
        let data = packet.segment().is_some_and(|segment| segment.len > 0);
        // A packet is counted once, although a second queue may mark it again.
        if data && self.is_mine(packet.flow, packet.from) && !packet.is_marked() {
            self.evidence.packets_marked += 1;
        }
    }

    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        self.surroundings.offered(at, flow, bps);
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        self.surroundings.queue(at, link, bytes, packets);
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot) {
        if !self.is_mine(flow, side) {
            return;
        }
        let new_data = std::mem::take(&mut self.new_data);
        if new_data && self.evidence.su_end.is_none() && !self.evidence.exits.is_empty() {
            self.watch_su_end(at, &snapshot());
        }
        let left = !self.evidence.exits.is_empty();
        // Plans that are not part of a train have tags as well.
        if std::mem::take(&mut self.tag.1) && !left && snapshot().train == Some(self.tag.0) {
            self.evidence.trains += 1;
        }
        self.growth.on_ack(left, self.evidence.recording.mss, &snapshot);
        if self.full {
            self.inside.state(&mut self.evidence.recording, at, &snapshot());
        }
        if let Some(recent) = &mut self.recent {
            let snapshot = snapshot();
            if let Some(rtt) = snapshot.latest_rtt.filter(|_| snapshot.rtt_samples != self.rtt_samples) {
                self.rtt_samples = snapshot.rtt_samples;
                recent.measured(at.nanos(), rtt);
            }
        }
        if let Some(tap) = self.tap.as_mut().filter(|tap| tap.wants_state()) {
            tap.surroundings(delivered(&self.tally), self.surroundings.longest_queue());
            tap.state(at, &snapshot());
        }
    }

    fn congestion(&mut self, at: Time, flow: FlowId, congestion: &Congestion) {
        if flow != self.flow || !self.full {
            return;
        }
        let recording = &mut self.evidence.recording;
        let &Congestion { window, ssthresh, in_flight, rtt, rtt_samples } = congestion;
        let state = State { at: at.nanos(), cwnd: window, ssthresh, in_flight };
        if recording.states.last().is_none_or(|last| State { at: state.at, ..*last } != state) {
            recording.states.push(state);
        }
        if let Some(rtt) = rtt.filter(|_| rtt_samples != self.quic_rtt_samples) {
            self.quic_rtt_samples = rtt_samples;
            recording.rtts.push((at.nanos(), rtt.nanos()));
        }
    }

    fn wants_trace(&self, flow: FlowId) -> bool {
        flow == self.flow && self.tap.as_ref().is_some_and(|tap| tap.wants_trace())
    }

    fn record(&mut self, flow: FlowId, record: &TraceRecord) {
        if flow == self.flow
            && let Some(tap) = &mut self.tap
        {
            tap.record(record);
        }
    }

    fn event(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        event: &EndpointEvent,
        snapshot: impl Fn() -> Snapshot,
    ) {
        if flow != self.flow {
            return;
        }
        if let Some(tap) = &mut self.tap {
            tap.event(at, side, event);
        }
        if side == Role::Server {
            return;
        }
        if self.full {
            self.inside.event(&mut self.evidence.recording, at, event, snapshot);
        }
        match event {
            EndpointEvent::Control(note) => self.note(at, note),
            EndpointEvent::RecoveryBegan { .. } => self.evidence.recoveries.push((at.nanos(), None)),
            EndpointEvent::RecoveryEnded => self.recovered(at),
            EndpointEvent::QuickStart { approved } => {
                let evidence = &mut self.evidence;
                evidence.granted = evidence.granted.or(approved.map(Rate::bps));
                let text = approved.map_or_else(
                    || "Quick-Start: nothing approved".to_owned(),
                    |rate| format!("Quick-Start: {} approved", humane_rate(rate)),
                );
                if self.full {
                    mark(&mut self.evidence.recording, at, "quick-start", text);
                }
            }
            EndpointEvent::TimedOut => self.evidence.timeouts.push(at.nanos()),
            EndpointEvent::Established
            | EndpointEvent::AllAcknowledged
            | EndpointEvent::Closed
            | EndpointEvent::Aborted => {}
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        if flow == self.flow {
            self.tally.delivered(at.nanos(), bytes);
            if self.full {
                self.evidence.recording.delivered.push((at.nanos(), bytes));
            }
            if let Some(tap) = &mut self.tap {
                tap.delivered(at, bytes);
            }
        }
    }
}

/// Returns when the receiver last delivered, and how many bytes it has delivered.
fn delivered(tally: &Tally) -> (Time, u64) {
    let (at, bytes) = tally.newest_delivery();
    (Time::from_nanos(at), bytes)
}

/// Converts 32-bit sequence numbers to offsets in the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sequence {
    /// The sequence number of the first payload byte.
    first: u32,
    /// The largest offset sent so far.
    last: u64,
}

impl Sequence {
    /// Returns the stream offset of a segment that is sent.
    pub(crate) fn sent(&mut self, segment: &Segment) -> u64 {
        if segment.flags.has(Flags::SYN) {
            self.first = segment.seq.wrapping_add(1);
            return 0;
        }
        self.sent_data(segment)
    }

    /// Returns the offset of a segment that is not a SYN.
    #[inline]
    fn sent_data(&mut self, segment: &Segment) -> u64 {
        let offset = self.offset(segment.seq);
        self.last = self.last.max(offset + u64::from(segment.len));
        offset
    }

    /// Returns the stream offset of sequence number `number`: among the possible offsets, the one closest to the newest offset sent.
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are offsets modulo 2^32")]
    pub(crate) fn offset(&self, number: u32) -> u64 {
        let from_last = number.wrapping_sub(self.first).wrapping_sub(self.last as u32).cast_signed();
        self.last.saturating_add_signed(i64::from(from_last))
    }
}

#[cfg(test)]
mod tests;
