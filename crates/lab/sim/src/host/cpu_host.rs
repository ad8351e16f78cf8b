//! Hosts whose processors take time: arrivals are handled when the processor is free.
//!
//! The processor handles one segment to its end. Next it handles a timer of the host that is due, before the segments that wait. An
//! interrupt only puts a segment in the queue, which has no limit.

use firstflight::{Avoidance, Startup, Time};
use firstflight_tcp::{Role, Segment};

use super::{Hardware, TcpFlow};
use crate::cpu::{Cpu, Function};
use crate::fabric::Fabric;
use crate::packet::{PacketId, Payload};
use crate::recorder::Recorder;

impl<S: Startup, R: Startup, A: Avoidance> TcpFlow<S, R, A> {
    /// Does the work of [`TcpFlow::receive`] for a host whose processor takes time.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_later<W: Recorder>(
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
        let segment = *segment;
        recorder.arrived(now, self.id, side, &segment);
        fabric.forget(name);
        if let Some(cpu) = self.cpu(side) {
            cpu.queue(segment);
        }
        self.begin_next(now, side);
        self.arm_later(now, side, fabric);
    }

    /// Does the work of [`TcpFlow::on_timer`] for a host whose processor takes time, once the flow is open.
    #[cold]
    #[inline(never)]
    pub(super) fn work<W: Recorder>(&mut self, now: Time, side: Role, fabric: &mut Fabric, recorder: &mut W) {
        let before = self.endpoint(side).stats();
        if let Some(segment) = self.cpu(side).and_then(|cpu| cpu.take(now)) {
            self.host(side).endpoint.on_segment(now, &segment);
            if side == Role::Server {
                self.note_delivery(now, fabric, recorder);
                // The client's application may have something to do.
                self.arm_later(now, Role::Client, fabric);
            }
            self.serve_woken((now, now), side, fabric, recorder);
        }
        let in_hand = self.cpu(side).is_some_and(|cpu| cpu.done().is_some());
        let next = self.next_act(side);
        if !in_hand && self.host(side).timer(next).is_some_and(|timer| timer <= now) {
            self.host(side).endpoint.on_timer(now);
            if side == Role::Client {
                self.act(now, recorder);
                self.stop(now, fabric);
            }
            self.serve_woken((now, now), side, fabric, recorder);
        }
        let after = self.endpoint(side).stats();
        if after.retransmissions > before.retransmissions || after.timeouts > before.timeouts {
            let outstanding = if after.timeouts > before.timeouts { self.outstanding(side) } else { 0 };
            if let Some(cpu) = self.cpu(side) {
                cpu.walk(Function::Fastretrans, after.retransmissions - before.retransmissions);
                cpu.walk(Function::Other, outstanding);
            }
        }
        self.begin_next(now, side);
        self.arm_later(now, side, fabric);
    }

    /// Returns the number of packets in the retransmission queue of a host.
    fn outstanding(&self, side: Role) -> u64 {
        let snapshot = self.endpoint(side).snapshot();
        (snapshot.nxt - snapshot.una).div_ceil(self.mss())
    }

    fn mss(&self) -> u64 {
        match self.hardware.as_deref() {
            Some(Hardware::Processors(both)) => both.mss(),
            Some(Hardware::Departures(_)) | None => 1,
        }
    }

    /// Starts to serve the next segment if the processor is idle.
    fn begin_next(&mut self, now: Time, side: Role) {
        let Some(segment) = self.cpu(side).and_then(|cpu| cpu.next().copied()) else { return };
        let mss = self.mss();
        let queued = self.looked_at(&segment, side, mss);
        if let Some(cpu) = self.cpu(side) {
            cpu.begin(now, mss, queued);
        }
    }

    /// Returns the number of packets of the out-of-order queue that a host looks at for a segment: none for an in-order segment until it is
    /// inserted, otherwise the packets after the segment's position.
    fn looked_at(&self, segment: &Segment, side: Role, mss: u64) -> u64 {
        let endpoint = self.endpoint(side);
        if segment.len == 0 || segment.seq == endpoint.next_expected() {
            return 0;
        }
        endpoint.segments_beyond(segment.seq, mss)
    }

    /// Sets the event of a host: the completion of its segment in service, or else its next timer.
    fn arm_later(&mut self, now: Time, side: Role, fabric: &mut Fabric) {
        let (id, next) = (self.id, self.next_act(side));
        let done = self.cpu(side).and_then(|cpu| cpu.done());
        let host = self.host(side);
        let timer = done.or_else(|| host.timer(next).map(|at| at.max(now.after_nanos(1))));
        if host.armed != timer {
            host.arm((id, side), timer, fabric);
        }
    }

    fn cpu(&mut self, side: Role) -> Option<&mut Cpu> {
        match self.hardware.as_deref_mut()? {
            Hardware::Processors(both) => Some(both.of(side)),
            Hardware::Departures(_) => None,
        }
    }
}
