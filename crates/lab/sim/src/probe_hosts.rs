//! The two hosts of a probing: one sends trains as a [`Prober`](firstflight::probe::Prober) determines, the other answers every packet.

use firstflight::Time;
use firstflight::probe::{Event, Train};
use firstflight_tcp::Role;

use crate::fabric::Fabric;
use crate::packet::{FlowId, Packet, Payload};
use crate::probe::{ProbeSpec, Probing};
use crate::quantity::PACKET_LIMIT;
use crate::recorder::Recorder;
use crate::stats::End;

/// The hosts of a probing.
#[derive(Clone, Debug)]
pub(crate) struct ProbeFlow {
    id: FlowId,
    answer: u32,
    probing: Probing,
    /// The newest train, the number of its packets that were sent, and the time of the next packet.
    train: Option<(Train, u16, Time)>,
}

/// Bits of a packet's number that hold its place in the train. The bits above hold the train's number.
const PLACE: u32 = u16::BITS;

impl ProbeFlow {
    pub(crate) fn new(id: FlowId, spec: ProbeSpec) -> Self {
        let ProbeSpec { prober, answer } = spec;
        let probing = Probing { prober, trains: Vec::new(), began: None, ended: None };
        Self { id, answer, probing, train: None }
    }

    pub(crate) fn probing(&self) -> &Probing {
        &self.probing
    }

    /// Handles the client's event: packets of a train are due, or the prober is to be woken.
    pub(crate) fn on_timer<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        fabric.flows[self.id.index()].started.get_or_insert(now);
        self.probing.began.get_or_insert(now);
        self.tell(&Event::Woken, now);
        self.proceed(now, fabric, recorder);
    }

    /// Handles a datagram that arrived. The server answers it; an answer is passed to the prober.
    pub(crate) fn receive<W: Recorder>(
        &mut self,
        now: Time,
        packet: &Packet,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        if packet.from == Role::Client {
            fabric.flows[self.id.index()].delivered_bytes += u64::from(packet.wire);
            let answer = Packet { from: Role::Server, wire: self.answer, sent_at: now, ..*packet };
            return fabric.send_to_host(now, answer, recorder);
        }
        let (train, place) = (packet.number >> PLACE, packet.number & ((1 << PLACE) - 1));
        let (Ok(train), Ok(place)) = (u16::try_from(train), u16::try_from(place)) else { return };
        // The server sent the answer when the packet arrived.
        self.tell(&Event::Arrived { train, packet: place, at: packet.sent_at }, now);
        self.proceed(now, fabric, recorder);
    }

    fn tell(&mut self, event: &Event, now: Time) {
        let measured = self.probing.prober.on(event, now);
        self.probing.trains.extend(measured);
    }

    /// Sends what is due, and arms the timer.
    fn proceed<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        while let Some(train) = self.probing.prober.plan().train {
            let (train, left, due) = match self.train {
                Some((known, left, due)) if known.number == train.number => (known, left, due),
                _ => (train, 0, now),
            };
            self.train = Some((train, left, due));
            if left >= train.packets || due > now {
                break;
            }
            let number = u64::from(train.number) << PLACE | u64::from(left);
            let wire = u32::try_from(self.probing.prober.setting().wire.get()).unwrap_or(PACKET_LIMIT);
            let packet = Packet {
                flow: self.id,
                from: Role::Client,
                retransmission: false,
                wire: wire.min(PACKET_LIMIT),
                number,
                sent_at: now,
                payload: Payload::Datagram,
            };
            fabric.send_to_host(now, packet, recorder);
            self.train = Some((train, left + 1, due + train.gap));
            self.tell(&Event::Sent { train: train.number, packet: left }, now);
        }
        let plan = self.probing.prober.plan();
        if plan.train.is_none() {
            self.probing.ended.get_or_insert(now);
            fabric.flows[self.id.index()].end.get_or_insert(End::Delivered(now));
        }
        let due = self.train.filter(|(train, left, _)| plan.train.is_some() && *left < train.packets);
        let next = Time::earlier(due.map(|(_, _, due)| due), plan.wake);
        fabric.wake(self.id, Role::Client, next.map(|next| next.max(now)));
    }
}
