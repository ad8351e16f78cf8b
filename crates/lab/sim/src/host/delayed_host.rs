//! Rough hosts: hosts whose packets are not sent at the instant that the endpoint reports ([`crate::departures`]).
//!
//! Only the sender is rough. Its first packet, the SYN, is sent at once, so that every flow begins at its start time.

use firstflight::{Avoidance, Startup, Time};
use firstflight_tcp::{Departure, Role};

use super::{Hardware, TcpFlow};
use crate::departures::Departures;
use crate::fabric::Fabric;
use crate::packet::{Label, PacketId, Payload};
use crate::recorder::Recorder;

impl<S: Startup, R: Startup, A: Avoidance> TcpFlow<S, R, A> {
    /// Does the work of [`TcpFlow::receive`] for a rough host, whose packets may be sent late.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_at_rough_host<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        name: PacketId,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let Payload::Segment(segment) = &fabric.packet(name).payload else {
            return fabric.forget(name);
        };
        recorder.arrived(now, self.id, side, segment);
        self.host(side).endpoint.on_segment(now, segment);
        fabric.forget(name);
        if side == Role::Server {
            self.note_delivery(now, fabric, recorder);
            // The client's application may have something to do.
            self.arm_rough(now, Role::Client, fabric);
        }
        let waits = side == Role::Client && self.departures().is_some_and(|waiting| waiting.holds_any());
        self.send_roughly(now, side, waits, fabric, recorder);
    }

    /// Does the work of [`TcpFlow::on_timer`] for a rough host, whose packets may be sent late, once the flow is open.
    #[cold]
    #[inline(never)]
    pub(super) fn on_timer_of_rough_host<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        if side == Role::Client {
            self.release(now, fabric, recorder);
        }
        let next = self.next_act(side);
        if self.host(side).timer(next).is_none_or(|timer| timer > now) {
            return self.arm_rough(now, side, fabric);
        }
        self.host(side).endpoint.on_timer(now);
        if side == Role::Client {
            self.act(now, recorder);
            self.stop(now, fabric);
        }
        self.send_roughly(now, side, side == Role::Client, fabric, recorder);
    }

    /// Lets the endpoint send its packets, over the first link at once, or later if `waits` is true. Sets the host's
    /// event.
    fn send_roughly<W: Recorder>(
        &mut self,
        now: Time,
        side: Role,
        waits: bool,
        fabric: &mut Fabric,
        recorder: &mut W,
    ) {
        let id = self.id;
        self.host(side).tell(now, (id, side), fabric, recorder);
        loop {
            let host = self.host(side);
            let segment = fabric.next_segment();
            let departure = host.endpoint.fast().transmit_into(now, segment);
            let Some(Departure { sent, last, ip_length, asks }) = departure else { break };
            recorder.sent(now, id, side, host.packets, segment, sent.as_ref());
            let retransmission = sent.as_ref().is_some_and(|sent| sent.retransmission);
            let label = host.label(id, side, ip_length, segment.len > 0);
            let label = Label { retransmission, asks, ..label };
            let segment = *segment;
            match self.departures().filter(|_| waits) {
                Some(departures) => departures.hold(now, segment, label),
                None => fabric.send_segment(now, label, recorder),
            }
            if last {
                break;
            }
        }
        self.host(side).tell(now, (id, side), fabric, recorder);
        if side == Role::Client {
            self.release(now, fabric, recorder);
        }
        self.arm_rough(now, side, fabric);
        let endpoint = &self.endpoint(side);
        recorder.state(now, id, side, || endpoint.snapshot());
    }

    /// Puts the packets that have waited long enough on the first link.
    fn release<W: Recorder>(&mut self, now: Time, fabric: &mut Fabric, recorder: &mut W) {
        while let Some((segment, label)) = self.departures().and_then(|waiting| waiting.take(now)) {
            *fabric.next_segment() = segment;
            fabric.send_segment(now, label, recorder);
        }
    }

    /// Sets the event of a host: the transmission of a waiting packet, or a timer.
    fn arm_rough(&mut self, now: Time, side: Role, fabric: &mut Fabric) {
        let (id, next) = (self.id, self.next_act(side));
        let leaves =
            if side == Role::Client { self.departures().and_then(|waiting| waiting.next()) } else { None };
        let host = self.host(side);
        // A timer in the past would stop the clock for ever.
        let timer = host.timer(next).map(|at| at.max(now.after_nanos(1)));
        let timer = Time::earlier(timer, leaves);
        if host.armed != timer {
            host.arm((id, side), timer, fabric);
        }
    }

    fn departures(&mut self) -> Option<&mut Departures> {
        match self.hardware.as_deref_mut()? {
            Hardware::Departures(departures) => Some(departures),
            Hardware::Processors(_) => None,
        }
    }
}
