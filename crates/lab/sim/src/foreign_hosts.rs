//! The two hosts of a foreign flow, between their transports and the network.

use firstflight::{Bytes, Note, Origin, Phase, Sent, Tag, Time};
use firstflight_tcp::{EndpointEvent, Role, Snapshot};

use crate::fabric::Fabric;
use crate::foreign::{Congestion, DatagramHost, ForeignSpec};
use crate::packet::{FlowId, Label, PacketId, Payload};
use crate::recorder::Recorder;
use crate::stats::End;

/// The hosts of a foreign flow.
///
/// To recorders a datagram is a segment without flags: the stream position modulo 2^32 is its sequence number, and the stream bytes are its
/// payload.
#[derive(Debug)]
pub(crate) struct ForeignFlow {
    id: FlowId,
    spec: ForeignSpec,
    seed: u64,
    /// The hosts, the client first; `None` until the flow starts.
    hosts: Option<Box<[Side; 2]>>,
    delivered: u64,
    phase: PhaseOf,
    /// Whether the flow is silent because it is a copy of one that had started.
    is_silent: bool,
}

/// A host and its counters.
#[derive(Debug)]
struct Side {
    host: Box<dyn DatagramHost>,
    /// Packets sent.
    packets: u64,
    /// The stream position after the last byte sent.
    sent: u64,
    /// The time of the host's event on the agenda.
    armed: Option<Time>,
}

/// Copies the flow. A transport that runs cannot be copied: the copy of a flow that has started sends nothing. Runs are copied only before
/// their measured flows start.
impl Clone for ForeignFlow {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            spec: self.spec.clone(),
            seed: self.seed,
            hosts: None,
            delivered: self.delivered,
            phase: self.phase,
            is_silent: self.is_silent || self.hosts.is_some(),
        }
    }
}

impl ForeignFlow {
    pub(crate) fn new(id: FlowId, spec: ForeignSpec, seed: u64) -> Self {
        Self { id, spec, seed, hosts: None, delivered: 0, phase: PhaseOf::default(), is_silent: false }
    }

    /// Handles the timer of a host. The client's first timer starts the flow.
    pub(crate) fn on_timer<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        if self.is_silent {
            return;
        }
        if let Some(hosts) = &mut self.hosts {
            hosts[place(side)].host.on_timer(now);
        } else {
            fabric.flows[self.id.index()].started = Some(now);
            let hosts = self.spec.hosts.make(self.seed, self.id, self.spec.total);
            self.hosts = Some(Box::new(hosts.map(|host| Side { host, packets: 0, sent: 0, armed: None })));
        }
        // A timer in the past, requested by a host that was just woken, would stop the clock for ever.
        self.serve((now, now.after_nanos(1)), side, fabric, recorder);
    }

    /// Handles a packet that arrived at `side`.
    pub(crate) fn receive<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        name: PacketId,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let (Some(hosts), Payload::Segment(segment)) = (&mut self.hosts, &fabric.packet(name).payload) else {
            return fabric.forget(name);
        };
        recorder.arrived(now, self.id, side, segment);
        hosts[place(side)].host.receive(now, fabric.body(name), segment.ecn);
        fabric.forget(name);
        if side == Role::Server {
            self.note_delivery(now, fabric, recorder);
        }
        self.serve((now, now), side, fabric, recorder);
    }

    /// Records the stream bytes that the server has in order.
    fn note_delivery<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        let Some([_, server]) = self.hosts.as_deref() else { return };
        let received = server.host.delivered();
        if received == self.delivered {
            return;
        }
        self.delivered = received;
        let stats = &mut fabric.flows[self.id.index()];
        stats.delivered_bytes = received;
        if self.spec.total == Some(received) {
            stats.end.get_or_insert(End::Delivered(now));
        }
        recorder.delivered(now, self.id, received);
    }

    /// Sends what a host may send, and sets its timer, to `earliest` at the earliest.
    fn serve<W: Recorder>(
        &mut self,
        (now, earliest): (Time, Time),
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let Some(hosts) = self.hosts.as_deref_mut() else { return };
        let Side { host, packets, sent, armed } = &mut hosts[place(side)];
        while let Some(carried) = host.poll_transmit(now, fabric.next_body()) {
            let wire = fabric.next_body_length() + self.spec.headers;
            let is_data = carried.len > 0;
            // Control information has the position of the next new byte, as a pure ACK of TCP has.
            let offset = if is_data { carried.offset } else { *sent };
            *sent = (*sent).max(offset + u64::from(carried.len));
            let segment = fabric.next_segment();
            *segment = firstflight_tcp::Segment {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "sequence numbers are positions modulo 2^32"
                )]
                seq: offset as u32,
                len: carried.len,
                ecn: carried.ecn,
                ..Default::default()
            };
            let record = Sent {
                packet: *packets,
                bytes: Bytes::new(carried.len.into()),
                tag: Tag::default(),
                retransmission: carried.retransmission,
            };
            recorder.sent(now, self.id, side, *packets, segment, is_data.then_some(&record));
            let label = Label {
                flow: self.id,
                from: side,
                retransmission: carried.retransmission,
                number: *packets,
                wire,
                is_data,
                asks: false,
            };
            fabric.send_segment(now, label, recorder);
            *packets += 1;
        }
        if host.has_failed() {
            fabric.flows[self.id.index()].end.get_or_insert(End::Aborted(now));
        }
        let timer = host.next_timer().map(|at| at.max(earliest));
        if *armed != timer || earliest > now {
            *armed = timer;
            fabric.wake(self.id, side, timer);
        }
        if side == Role::Client {
            while let Some(note) = host.take_note() {
                self.phase.follow(&note);
                let state = host.congestion();
                let event = EndpointEvent::Control(note);
                recorder.event(now, self.id, side, &event, || snapshot(self.phase.now, state, *sent));
            }
        }
        if side == Role::Client
            && W::NEEDS_CONGESTION
            && let Some(congestion) = host.congestion()
        {
            recorder.congestion(now, self.id, &congestion);
        }
    }
}

/// The part of a controller that is active, as its notes say.
#[derive(Clone, Copy, Debug)]
struct PhaseOf {
    now: Phase,
    /// The phase that the newest exit ended.
    ended: Phase,
}

impl Default for PhaseOf {
    fn default() -> Self {
        Self { now: Phase::Startup, ended: Phase::Startup }
    }
}

impl PhaseOf {
    fn follow(&mut self, note: &Note) {
        match note {
            Note::Began(Origin::AfterIdle { .. }) => self.now = Phase::Restart,
            Note::Began(_) | Note::Continued => self.now = Phase::Startup,
            Note::Exited { phase, .. } => (self.now, self.ended) = (Phase::Avoidance, *phase),
            Note::Undone { exit: true } => self.now = self.ended,
            Note::Undone { exit: false } | Note::Reduced { .. } => {}
        }
    }
}

/// Returns the known state of a sender. The minimum RTT and the progress of repairs are unknown, and so is SND.UNA: `una` is zero.
fn snapshot(phase: Phase, state: Option<Congestion>, sent: u64) -> Snapshot {
    let state =
        state.unwrap_or(Congestion { window: 0, ssthresh: None, in_flight: 0, rtt: None, rtt_samples: 0 });
    Snapshot {
        phase,
        cwnd: Bytes::new(state.window),
        ssthresh: state.ssthresh.map(Bytes::new),
        in_flight: Bytes::new(state.in_flight),
        srtt: None,
        latest_rtt: state.rtt,
        min_rtt: None,
        #[expect(clippy::cast_possible_truncation, reason = "the number is modulo 2^32")]
        rtt_samples: state.rtt_samples as u32,
        recovering: false,
        una: 0,
        nxt: sent,
        train: None,
    }
}

/// Returns the place of a host among the two.
const fn place(side: Role) -> usize {
    match side {
        Role::Client => 0,
        Role::Server => 1,
    }
}
