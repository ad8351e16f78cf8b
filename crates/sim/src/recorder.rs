//! Watching a run.

use firstflight::{Bytes, Sent, Time, Told};
use firstflight_tcp::{Happening, Segment, Snapshot};

use crate::packet::{DropCause, FlowId, LinkId, Packet, Side};

/// Hears what happens in a run. Every method does nothing unless it is written, so a run that nobody watches
/// pays nothing.
///
/// Calls come in order of time, but for [`Recorder::queue`] and, to who does not mind, [`Recorder::dropped`].
pub trait Recorder {
    /// Whether [`Recorder::queue`] is called: who does not mind spares links to follow what leaves their queues, which they
    /// then look at when something depends on it.
    const HEARS_QUEUES: bool = true;

    /// Whether [`Recorder::dropped`] is called in its turn. Who does not mind is told later of what a full queue dropped, when
    /// the link looks, with the instant of the drop, by which it is to be judged: what happened since was told before. That spares
    /// links to look whenever a packet comes that may find no room.
    const HEARS_DROPS_IN_TURN: bool = true;

    /// A TCP host sent a packet, whose number among its packets is `number`. `sent` is what the sender says of data.
    fn sent(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        number: u64,
        segment: &Segment,
        sent: Option<&Sent>,
    ) {
        let _ = (at, flow, side, number, segment, sent);
    }

    /// A segment arrived at a TCP host, `side`, which has not looked at it yet.
    fn arrived(&mut self, at: Time, flow: FlowId, side: Side, segment: &Segment) {
        let _ = (at, flow, side, segment);
    }

    /// A link dropped a packet: at its arrival if the policer or the queue did; as it would have left the queue, or
    /// while it waited, if the discipline says so then; if it was lost at random, when it would have arrived at
    /// the far end.
    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        let _ = (at, link, packet, cause);
    }

    /// A link's queue marked a packet as having met congestion (RFC 3168), as it came or as it left the queue.
    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        let _ = (at, link, packet);
    }

    /// Since `at`, an on/off source offers this many IP bits per second.
    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        let _ = (at, flow, bps);
    }

    /// Since `at`, this much waits in a link's queue, the packet in transmission not counted. For one link the
    /// calls are in order of time, but they may come later than calls about other things.
    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        let _ = (at, link, bytes, packets);
    }

    /// A host of a TCP flow has handled an event, and sent what it could. `snapshot` gives its state.
    fn state(&mut self, at: Time, flow: FlowId, side: Side, snapshot: impl Fn() -> Snapshot) {
        let _ = (at, flow, side, snapshot);
    }

    /// Something happened inside an endpoint. `snapshot` gives its state by then.
    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        happening: &Happening,
        snapshot: impl Fn() -> Snapshot,
    ) {
        let _ = (at, flow, side, happening, snapshot);
    }

    /// Whether [`Recorder::told`] is wanted of a flow's client. Asked once, before the flow starts.
    fn wants_told(&self, flow: FlowId) -> bool {
        let _ = flow;
        false
    }

    /// The controller of a flow's client was told something, and decided.
    fn told(&mut self, flow: FlowId, told: &Told) {
        let _ = (flow, told);
    }

    /// The server of a TCP flow has this many payload bytes in order.
    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        let _ = (at, flow, bytes);
    }

    /// The client's application began a round, counted from zero: its reply is written.
    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        let _ = (at, flow, round);
    }

    /// The last byte of a round's reply was delivered.
    fn round_ended(&mut self, at: Time, flow: FlowId, round: u32) {
        let _ = (at, flow, round);
    }
}

/// Nobody watches.
impl Recorder for () {
    const HEARS_QUEUES: bool = false;
    const HEARS_DROPS_IN_TURN: bool = false;
}

/// Someone watches, who can be asked afterwards.
impl<T: Recorder> Recorder for &mut T {
    const HEARS_QUEUES: bool = T::HEARS_QUEUES;
    const HEARS_DROPS_IN_TURN: bool = T::HEARS_DROPS_IN_TURN;

    fn sent(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        number: u64,
        segment: &Segment,
        sent: Option<&Sent>,
    ) {
        (**self).sent(at, flow, side, number, segment, sent);
    }

    fn arrived(&mut self, at: Time, flow: FlowId, side: Side, segment: &Segment) {
        (**self).arrived(at, flow, side, segment);
    }

    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        (**self).dropped(at, link, packet, cause);
    }

    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        (**self).marked(at, link, packet);
    }

    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        (**self).offered(at, flow, bps);
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        (**self).queue(at, link, bytes, packets);
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Side, snapshot: impl Fn() -> Snapshot) {
        (**self).state(at, flow, side, snapshot);
    }

    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        happening: &Happening,
        snapshot: impl Fn() -> Snapshot,
    ) {
        (**self).happening(at, flow, side, happening, snapshot);
    }

    fn wants_told(&self, flow: FlowId) -> bool {
        (**self).wants_told(flow)
    }

    fn told(&mut self, flow: FlowId, told: &Told) {
        (**self).told(flow, told);
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        (**self).delivered(at, flow, bytes);
    }

    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        (**self).round_began(at, flow, round);
    }

    fn round_ended(&mut self, at: Time, flow: FlowId, round: u32) {
        (**self).round_ended(at, flow, round);
    }
}

/// Perhaps someone watches.
impl<T: Recorder> Recorder for Option<T> {
    const HEARS_QUEUES: bool = T::HEARS_QUEUES;
    const HEARS_DROPS_IN_TURN: bool = T::HEARS_DROPS_IN_TURN;

    fn sent(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        number: u64,
        segment: &Segment,
        sent: Option<&Sent>,
    ) {
        if let Some(one) = self {
            one.sent(at, flow, side, number, segment, sent);
        }
    }

    fn arrived(&mut self, at: Time, flow: FlowId, side: Side, segment: &Segment) {
        if let Some(one) = self {
            one.arrived(at, flow, side, segment);
        }
    }

    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        if let Some(one) = self {
            one.dropped(at, link, packet, cause);
        }
    }

    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        if let Some(one) = self {
            one.marked(at, link, packet);
        }
    }

    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        if let Some(one) = self {
            one.offered(at, flow, bps);
        }
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        if let Some(one) = self {
            one.queue(at, link, bytes, packets);
        }
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Side, snapshot: impl Fn() -> Snapshot) {
        if let Some(one) = self {
            one.state(at, flow, side, snapshot);
        }
    }

    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        happening: &Happening,
        snapshot: impl Fn() -> Snapshot,
    ) {
        if let Some(one) = self {
            one.happening(at, flow, side, happening, snapshot);
        }
    }

    fn wants_told(&self, flow: FlowId) -> bool {
        self.as_ref().is_some_and(|one| one.wants_told(flow))
    }

    fn told(&mut self, flow: FlowId, told: &Told) {
        if let Some(one) = self {
            one.told(flow, told);
        }
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        if let Some(one) = self {
            one.delivered(at, flow, bytes);
        }
    }

    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        if let Some(one) = self {
            one.round_began(at, flow, round);
        }
    }

    fn round_ended(&mut self, at: Time, flow: FlowId, round: u32) {
        if let Some(one) = self {
            one.round_ended(at, flow, round);
        }
    }
}

/// Two watch, the first before the second.
impl<T: Recorder, U: Recorder> Recorder for (T, U) {
    const HEARS_QUEUES: bool = T::HEARS_QUEUES || U::HEARS_QUEUES;
    const HEARS_DROPS_IN_TURN: bool = T::HEARS_DROPS_IN_TURN || U::HEARS_DROPS_IN_TURN;

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and of most kinds of packets little is done")]
    fn sent(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        number: u64,
        segment: &Segment,
        sent: Option<&Sent>,
    ) {
        self.0.sent(at, flow, side, number, segment, sent);
        self.1.sent(at, flow, side, number, segment, sent);
    }

    fn arrived(&mut self, at: Time, flow: FlowId, side: Side, segment: &Segment) {
        self.0.arrived(at, flow, side, segment);
        self.1.arrived(at, flow, side, segment);
    }

    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        self.0.dropped(at, link, packet, cause);
        self.1.dropped(at, link, packet, cause);
    }

    fn marked(&mut self, at: Time, link: LinkId, packet: &Packet) {
        self.0.marked(at, link, packet);
        self.1.marked(at, link, packet);
    }

    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        self.0.offered(at, flow, bps);
        self.1.offered(at, flow, bps);
    }

    fn queue(&mut self, at: Time, link: LinkId, bytes: Bytes, packets: u32) {
        self.0.queue(at, link, bytes, packets);
        self.1.queue(at, link, bytes, packets);
    }

    fn state(&mut self, at: Time, flow: FlowId, side: Side, snapshot: impl Fn() -> Snapshot) {
        self.0.state(at, flow, side, &snapshot);
        self.1.state(at, flow, side, &snapshot);
    }

    fn happening(
        &mut self,
        at: Time,
        flow: FlowId,
        side: Side,
        happening: &Happening,
        snapshot: impl Fn() -> Snapshot,
    ) {
        self.0.happening(at, flow, side, happening, &snapshot);
        self.1.happening(at, flow, side, happening, &snapshot);
    }

    fn wants_told(&self, flow: FlowId) -> bool {
        self.0.wants_told(flow) || self.1.wants_told(flow)
    }

    fn told(&mut self, flow: FlowId, told: &Told) {
        self.0.told(flow, told);
        self.1.told(flow, told);
    }

    fn delivered(&mut self, at: Time, flow: FlowId, bytes: u64) {
        self.0.delivered(at, flow, bytes);
        self.1.delivered(at, flow, bytes);
    }

    fn round_began(&mut self, at: Time, flow: FlowId, round: u32) {
        self.0.round_began(at, flow, round);
        self.1.round_began(at, flow, round);
    }

    fn round_ended(&mut self, at: Time, flow: FlowId, round: u32) {
        self.0.round_ended(at, flow, round);
        self.1.round_ended(at, flow, round);
    }
}
