//! Watching a run.

use firstflight::{Bytes, Sent, Time, TraceRecord};
use firstflight_tcp::{Happening, Role, Segment, Snapshot};

use crate::arrivals::Arrived;
use crate::packet::{DropCause, FlowId, LinkId, Packet};

/// Hears what happens in a run. A recorder writes the methods that it wants. Every other method passes its call on to the
/// recorders inside this one, and does nothing if there are none, so a run without a recorder pays nothing.
///
/// Calls come in order of time, with two exceptions: [`Recorder::queue`], and [`Recorder::dropped`] where
/// [`Recorder::HEARS_DROPS_IN_TURN`] is false.
///
/// `()` records nothing. An `Option` of a recorder records if it is there, and of a pair both record.
pub trait Recorder {
    /// Whether [`Recorder::queue`] is called. Without these calls a link need not follow each packet that leaves its
    /// queue: it catches up when something depends on the queue.
    const HEARS_QUEUES: bool = true;

    /// Whether [`Recorder::dropped`] is called in order of time. If not, a link reports what its full queue dropped when
    /// it next catches up. The call then has the instant of the drop, and other calls with later instants may have come
    /// before. Links catch up less often that way: they need not whenever a packet comes that may find no room.
    const HEARS_DROPS_IN_TURN: bool = true;

    /// The recorders inside this one, in the order in which they hear. A method that this recorder does not write
    /// passes its call on to them. Most recorders have none inside.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it decides at compile time that nothing is to be done")]
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (None::<&mut ()>, None::<&mut ()>)
    }

    /// A flow arrived, whose client sends over `forward`. Flows of the network's
    /// description are not told of.
    fn flow_arrived(&mut self, at: Time, flow: FlowId, arrived: Arrived, forward: &[LinkId]) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.flow_arrived(at, flow, arrived, forward);
        }
        if let Some(inner) = second {
            inner.flow_arrived(at, flow, arrived, forward);
        }
    }

    /// A TCP host sent a packet. `number` counts the packets of this host from zero. `sent` is the sender's record of
    /// the data, if the packet has data.
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

    /// A segment arrived at the TCP host `side`, which has not handled it yet.
    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.arrived(at, flow, side, segment);
        }
        if let Some(inner) = second {
            inner.arrived(at, flow, side, segment);
        }
    }

    /// A link dropped a packet. The instant depends on the cause: a policer or a full queue drops a packet as it comes; a
    /// discipline also as it would leave the queue, or while it waits; a packet lost at random is reported when it would
    /// have arrived at the far end.
    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.dropped(at, link, packet, cause);
        }
        if let Some(inner) = second {
            inner.dropped(at, link, packet, cause);
        }
    }

    /// The queue of a link marks a packet as having met congestion (RFC 3168), as it came or as it left the queue. The packet is as it
    /// was before, so that [`Packet::is_marked`] tells whether a queue marked it already.
    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.marked(at, link, packet);
        }
        if let Some(inner) = second {
            inner.marked(at, link, packet);
        }
    }

    /// From `at` on, an on/off source offers `bps` IP bits per second.
    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.offered(at, flow, bps);
        }
        if let Some(inner) = second {
            inner.offered(at, flow, bps);
        }
    }

    /// From `at` on, this much waits in the queue of a link, the packet in transmission not counted. For one link the calls
    /// are in order of time, but they may come later than calls about other things.
    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.queue(at, link, bytes, packets);
        }
        if let Some(inner) = second {
            inner.queue(at, link, bytes, packets);
        }
    }

    /// A host of a TCP flow has handled an event, and sent what it could. `snapshot` gives its state.
    fn state(&mut self, at: Time, flow: FlowId, side: Role, snapshot: impl Fn() -> Snapshot + Copy) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.state(at, flow, side, snapshot);
        }
        if let Some(inner) = second {
            inner.state(at, flow, side, snapshot);
        }
    }

    /// Something happened inside an endpoint. `snapshot` gives its state after that.
    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Role,
        happening: &Happening,
        snapshot: impl Fn() -> Snapshot + Copy,
    ) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.happening(at, flow, side, happening, snapshot);
        }
        if let Some(inner) = second {
            inner.happening(at, flow, side, happening, snapshot);
        }
    }

    /// Whether [`Recorder::told`] is wanted for the client of `flow`. Asked once, before the flow starts.
    fn wants_told(&self, flow: FlowId) -> bool {
        let _ = flow;
        false
    }

    /// The controller of a flow's client handled a call; the record has the call and the controller's answer.
    fn told(&mut self, flow: FlowId, told: &TraceRecord) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.told(flow, told);
        }
        if let Some(inner) = second {
            inner.told(flow, told);
        }
    }

    /// The server of a TCP flow has this many payload bytes in order.
    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.delivered(at, flow, bytes);
        }
        if let Some(inner) = second {
            inner.delivered(at, flow, bytes);
        }
    }

    /// The client's application began a round, counted from zero: its reply is written.
    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        let (first, second) = self.inner();
        if let Some(inner) = first {
            inner.round_began(at, flow, round);
        }
        if let Some(inner) = second {
            inner.round_began(at, flow, round);
        }
    }

    /// The last byte of a round's reply was delivered.
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
    const HEARS_QUEUES: bool = false;
    const HEARS_DROPS_IN_TURN: bool = false;
}

/// Records if it is there.
impl<T: Recorder> Recorder for Option<T> {
    const HEARS_QUEUES: bool = T::HEARS_QUEUES;
    const HEARS_DROPS_IN_TURN: bool = T::HEARS_DROPS_IN_TURN;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it decides at compile time who hears")]
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (self.as_mut(), None::<&mut ()>)
    }

    fn wants_told(&self, flow: FlowId) -> bool {
        self.as_ref().is_some_and(|one| one.wants_told(flow))
    }
}

/// Both record, the first before the second.
impl<T: Recorder, U: Recorder> Recorder for (T, U) {
    const HEARS_QUEUES: bool = T::HEARS_QUEUES || U::HEARS_QUEUES;
    const HEARS_DROPS_IN_TURN: bool = T::HEARS_DROPS_IN_TURN || U::HEARS_DROPS_IN_TURN;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it decides at compile time who hears")]
    fn inner(&mut self) -> (Option<&mut impl Recorder>, Option<&mut impl Recorder>) {
        (Some(&mut self.0), Some(&mut self.1))
    }

    fn wants_told(&self, flow: FlowId) -> bool {
        self.0.wants_told(flow) || self.1.wants_told(flow)
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
