//! The recorder: observes the events of a run.

use firstflight::{Bytes, Sent, Time, TraceRecord};
use firstflight_tcp::{EndpointEvent, Role, Segment, Snapshot};

use crate::arrivals::Arrived;
use crate::foreign::Congestion;
use crate::packet::{DropCause, FlowId, LinkId, Packet};

/// Observes the events of a run. A recorder implements the methods that it needs. Every other method passes its call on to the recorders
/// inside this one, and does nothing if there are none, so a run without a recorder pays nothing.
///
/// Calls come in order of time, with two exceptions: [`Recorder::queue`], and [`Recorder::dropped`] where
/// [`Recorder::NEEDS_DROPS_IN_ORDER`] is false.
///
/// `()` records nothing. An `Option` of a recorder records if it is present, and of a pair both record.
pub trait Recorder {
    /// Whether [`Recorder::queue`] is called. Without these calls a link need not follow each packet that leaves its queue: it catches up
    /// when something depends on the queue.
    const NEEDS_QUEUES: bool = true;

    /// Whether [`Recorder::dropped`] is called in order of time. If not, a link reports the drops of its full queue when it next catches
    /// up. The call then has the instant of the drop, and other calls with later instants may have come before. Links then catch up less
    /// often: not whenever a packet arrives that may find no room.
    const NEEDS_DROPS_IN_ORDER: bool = true;

    /// Whether [`Recorder::congestion`] is called.
    const NEEDS_CONGESTION: bool = true;

    /// Returns the recorders inside this one, in the order of their calls. A method that this recorder does not implement passes its call
    /// on to them. Most recorders have none inside.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it decides at compile time that nothing is to be done")]
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (None::<&mut ()>, None::<&mut ()>)
    }

    /// Reports a flow that arrived, whose client sends over `forward`. Flows of the network's description are not reported.
    fn flow_arrived(&mut self, at: Time, flow: FlowId, arrived: Arrived, forward: &[LinkId]) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.flow_arrived(at, flow, arrived, forward);
        }
        if let Some(inner) = second {
            inner.flow_arrived(at, flow, arrived, forward);
        }
    }

    /// Reports that a TCP host sent a packet. `number` counts the packets of this host from zero. `sent` is the sender's record of the
    /// data, if the packet has data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and of most kinds of packets little is done")]
    fn sent(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        number: u64,
        segment: &Segment,
        sent: Option<&Sent>,
    ) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.sent(at, flow, side, number, segment, sent);
        }
        if let Some(inner) = second {
            inner.sent(at, flow, side, number, segment, sent);
        }
    }

    /// Reports a segment that arrived at the TCP host `side`, which has not handled it yet.
    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.arrived(at, flow, side, segment);
        }
        if let Some(inner) = second {
            inner.arrived(at, flow, side, segment);
        }
    }

    /// Reports that a link dropped a packet. The instant depends on the cause: a policer or a full queue drops a packet on arrival; a
    /// discipline also when it would leave the queue, or while it waits; a packet lost at random is reported when it would have arrived at
    /// the far end.
    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.dropped(at, link, packet, cause);
        }
        if let Some(inner) = second {
            inner.dropped(at, link, packet, cause);
        }
    }

    /// Reports that the queue of a link marks a packet as having met congestion (RFC 3168), on arrival or when it left the queue. The
    /// packet is in its state before the mark, so [`Packet::is_marked`] shows whether a queue marked it before.
    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.marked(at, link, packet);
        }
        if let Some(inner) = second {
            inner.marked(at, link, packet);
        }
    }

    /// Reports that an on/off source offers `bps` IP bits per second from `at` on.
    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.offered(at, flow, bps);
        }
        if let Some(inner) = second {
            inner.offered(at, flow, bps);
        }
    }

    /// Reports the queue of a link from `at` on, without the packet in transmission. For one link the calls are in order of time, but they
    /// may come later than calls about other things.
    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.queue(at, link, bytes, packets);
        }
        if let Some(inner) = second {
            inner.queue(at, link, bytes, packets);
        }
    }

    /// Reports that a host of a TCP flow has handled an event, and sent what it could. `snapshot` gives its state.
    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot + Copy) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.state(at, flow, side, snapshot);
        }
        if let Some(inner) = second {
            inner.state(at, flow, side, snapshot);
        }
    }

    /// Reports the congestion state of the client of a foreign flow, which has handled an event and sent what it could.
    fn congestion(&mut self, at: Time, flow: FlowId, congestion: &Congestion) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.congestion(at, flow, congestion);
        }
        if let Some(inner) = second {
            inner.congestion(at, flow, congestion);
        }
    }

    /// Reports an event inside an endpoint. `snapshot` gives its state after that.
    fn event(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        event: &EndpointEvent,
        snapshot: impl Fn() -> Snapshot + Copy,
    ) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.event(at, flow, side, event, snapshot);
        }
        if let Some(inner) = second {
            inner.event(at, flow, side, event, snapshot);
        }
    }

    /// Returns whether [`Recorder::record`] is to be called for the client of `flow`. Called once, before the flow starts.
    fn wants_trace(&self, flow: FlowId) -> bool {
        let _ = flow;
        false
    }

    /// Reports that the controller of a flow's client handled a call. `record` has the call and the controller's answer.
    fn record(&mut self, flow: FlowId, record: &TraceRecord) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.record(flow, record);
        }
        if let Some(inner) = second {
            inner.record(flow, record);
        }
    }

    /// Reports the payload bytes that the server of a TCP flow has in order.
    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.delivered(at, flow, bytes);
        }
        if let Some(inner) = second {
            inner.delivered(at, flow, bytes);
        }
    }

    /// Reports that the client's application began a round, counted from zero: its reply is written.
    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.round_began(at, flow, round);
        }
        if let Some(inner) = second {
            inner.round_began(at, flow, round);
        }
    }

    /// Reports that the last byte of a round's reply was delivered.
    fn round_ended(&mut self, at: Time, flow: FlowId, round: u32) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.round_ended(at, flow, round);
        }
        if let Some(inner) = second {
            inner.round_ended(at, flow, round);
        }
    }
}

/// Records nothing.
impl Recorder for () {
    const NEEDS_QUEUES: bool = false;
    const NEEDS_DROPS_IN_ORDER: bool = false;
    const NEEDS_CONGESTION: bool = false;
}

/// Records if a recorder is present.
impl<T: Recorder> Recorder for Option<T> {
    const NEEDS_QUEUES: bool = T::NEEDS_QUEUES;
    const NEEDS_DROPS_IN_ORDER: bool = T::NEEDS_DROPS_IN_ORDER;
    const NEEDS_CONGESTION: bool = T::NEEDS_CONGESTION;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it decides at compile time who hears")]
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (self.as_mut(), None::<&mut ()>)
    }

    fn wants_trace(&self, flow: FlowId) -> bool {
        self.as_ref().is_some_and(|one| one.wants_trace(flow))
    }
}

/// Records with both recorders, with the first before the second.
impl<T: Recorder, U: Recorder> Recorder for (T, U) {
    const NEEDS_QUEUES: bool = T::NEEDS_QUEUES || U::NEEDS_QUEUES;
    const NEEDS_DROPS_IN_ORDER: bool = T::NEEDS_DROPS_IN_ORDER || U::NEEDS_DROPS_IN_ORDER;
    const NEEDS_CONGESTION: bool = T::NEEDS_CONGESTION || U::NEEDS_CONGESTION;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it decides at compile time who hears")]
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (Some(&mut self.0), Some(&mut self.1))
    }

    fn wants_trace(&self, flow: FlowId) -> bool {
        self.0.wants_trace(flow) || self.1.wants_trace(flow)
    }

    // [`Recorder::inner`] cannot pass a reference on to recorders inside: each level of it would be another type.
    #[expect(
        clippy::needless_borrows_for_generic_args,
        reason = "by value it takes more instructions a packet"
    )]
    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot + Copy) {
        self.0.state(at, flow, side, &snapshot);
        self.1.state(at, flow, side, &snapshot);
    }
}
