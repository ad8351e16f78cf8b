//! The events of a connection, as a scheme in Python receives them: a class for each.

use firstflight::{
    Ack, Advice as Advised, Bytes, Delivered, Event, Loss, LostPacket, Origin, OwnedEvent, PathEstimate,
    Rate, Sent as SentPacket, Span, Tag, Time,
};
use pyo3::prelude::*;

use super::path::limit;

/// A start-up or restart begins.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Begin(Origin);

#[pymethods]
impl Begin {
    /// Why it begins: `fresh`, `after-idle`, `after-timeout` or `path-change`.
    #[getter]
    fn origin(&self) -> &'static str {
        match self.0 {
            Origin::Fresh => "fresh",
            Origin::AfterIdle { .. } => "after-idle",
            Origin::AfterTimeout { .. } => "after-timeout",
            Origin::PathChange => "path-change",
        }
    }

    /// The time without a transmission, in nanoseconds; `None` unless the origin is `after-idle`.
    #[getter]
    fn idle(&self) -> Option<u64> {
        match self.0 {
            Origin::AfterIdle { idle, .. } => Some(idle.nanos()),
            _ => None,
        }
    }

    /// The window from which to continue, in bytes; `None` for a new connection or path.
    #[getter]
    fn window(&self) -> Option<u64> {
        self.was().map(|was| was.window.get())
    }

    /// The slow-start threshold from before, in bytes; `None` if there is none.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        self.was()?.ssthresh.map(Bytes::get)
    }

    fn __repr__(&self) -> String {
        format!("Begin(origin='{}')", self.origin())
    }
}

impl Begin {
    fn was(&self) -> Option<PathEstimate> {
        match self.0 {
            Origin::AfterIdle { was, .. } | Origin::AfterTimeout { was } => Some(was),
            Origin::Fresh | Origin::PathChange => None,
        }
    }
}

/// The handshake is over.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Established {
    /// The RTT of the handshake in nanoseconds; `None` if it could not be measured.
    rtt: Option<u64>,
    /// Whether the SYN or SYN-ACK had to be retransmitted.
    syn_lost: bool,
}

/// A data packet was sent.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Sent {
    /// The number of the transmission, from zero.
    packet: u64,
    /// The payload bytes.
    bytes: u64,
    /// The tag of the plan under which the packet was sent.
    tag: u16,
    /// Whether the packet is a retransmission.
    retransmission: bool,
}

/// A packet that an ACK newly acknowledges.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Packet(Delivered);

#[pymethods]
impl Packet {
    /// The number of the packet's last transmission.
    #[getter]
    fn packet(&self) -> u64 {
        self.0.packet
    }

    /// The payload bytes.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    /// The instant of the transmission in nanoseconds.
    #[getter]
    fn sent_at(&self) -> u64 {
        self.0.sent_at.nanos()
    }

    /// The tag of the plan under which the packet was sent.
    #[getter]
    fn tag(&self) -> u16 {
        self.0.tag.0
    }

    /// The bytes that were delivered when the packet left.
    #[getter]
    fn delivered_at_send(&self) -> u64 {
        self.0.delivered_at_send.get()
    }

    /// The limit on sending when the packet was sent: `app`, `window`, `pacing` or `receiver`.
    #[getter]
    fn limit(&self) -> &'static str {
        limit(self.0.limit)
    }

    /// Whether the packet was sent more than once.
    #[getter]
    fn retransmitted(&self) -> bool {
        self.0.retransmitted
    }

    /// Whether the packet was acknowledged selectively.
    #[getter]
    fn selectively(&self) -> bool {
        self.0.selectively
    }

    fn __repr__(&self) -> String {
        format!("Packet(packet={}, bytes={})", self.packet(), self.bytes())
    }
}

/// An acknowledgement arrived.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Acked {
    event: OwnedEvent,
    slow_start_growth: u64,
}

impl Acked {
    fn ack(&self) -> Ack<'_> {
        match self.event.event() {
            Event::Acked(ack) => ack,
            _ => Ack::of_stream(&[]),
        }
    }
}

#[pymethods]
impl Acked {
    /// The payload bytes newly delivered.
    #[getter]
    fn bytes(&self) -> u64 {
        self.ack().bytes.get()
    }

    /// The bytes by which the cumulative acknowledgement advanced.
    #[getter]
    fn advanced(&self) -> u64 {
        self.ack().advanced.get()
    }

    /// The bytes newly acknowledged selectively.
    #[getter]
    fn sacked(&self) -> u64 {
        self.ack().sacked.get()
    }

    /// The segments by which the cumulative acknowledgement advanced.
    #[getter]
    fn segments(&self) -> u32 {
        self.ack().segments
    }

    /// Whether the ACK is a duplicate.
    #[getter]
    fn duplicate(&self) -> bool {
        self.ack().duplicate
    }

    /// The RTT sample in nanoseconds; `None` if there is none.
    #[getter]
    fn rtt(&self) -> Option<u64> {
        self.ack().rtt.map(|sample| sample.rtt.nanos())
    }

    /// The delivery rate in bits per second; `None` if there is no sample.
    #[getter]
    fn delivery_rate(&self) -> Option<u64> {
        self.ack().delivery_rate.map(Rate::bps)
    }

    /// Whether an RTT ended with this ACK.
    #[getter]
    fn round_ended(&self) -> bool {
        self.ack().round_ended
    }

    /// The bytes of new data sent in the RTT that this ACK ended; zero if it ended none.
    #[getter]
    fn round_sent(&self) -> u64 {
        self.ack().round_sent.get()
    }

    /// The bytes by which this ACK may widen a window: zero during loss recovery, or if the window was not the limit.
    #[getter]
    fn growth(&self) -> u64 {
        self.ack().growth.get()
    }

    /// The bytes by which slow start widens its window: `growth`, or at most a segment if slow start counts ACKs.
    #[getter]
    fn slow_start_growth(&self) -> u64 {
        self.slow_start_growth
    }

    /// The packets that the ACK newly acknowledges, in order of sequence.
    #[getter]
    fn packets(&self) -> Vec<Packet> {
        self.ack().packets.iter().copied().map(Packet).collect()
    }

    /// The newest packet that the ACK acknowledges; `None` if the host does not know it.
    #[getter]
    fn newest(&self) -> Option<Packet> {
        self.ack().newest_packet().copied().map(Packet)
    }

    /// The number of packets that the ACK completes.
    #[getter]
    fn whole_packets(&self) -> u64 {
        self.ack().whole_packets()
    }

    fn __repr__(&self) -> String {
        let ack = self.ack();
        format!(
            "Acked(bytes={}, growth={}, rtt={}, round_ended={})",
            ack.bytes.get(),
            ack.growth.get(),
            ack.rtt.map_or("None".to_owned(), |sample| sample.rtt.nanos().to_string()),
            if ack.round_ended { "True" } else { "False" },
        )
    }
}

/// A packet found lost.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Missing {
    /// The number of the lost transmission.
    packet: u64,
    /// The payload bytes.
    bytes: u64,
    /// The tag of the plan under which the packet was sent.
    tag: u16,
}

/// Packets were found lost.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Lost(OwnedEvent);

impl Lost {
    fn loss(&self) -> Loss<'_> {
        match self.0.event() {
            Event::Lost(loss) => loss,
            _ => Loss::of(Bytes::ZERO),
        }
    }
}

#[pymethods]
impl Lost {
    /// The payload bytes of the lost packets.
    #[getter]
    fn bytes(&self) -> u64 {
        self.loss().bytes.get()
    }

    /// The number of separate ranges of the stream that the packets form.
    #[getter]
    fn ranges(&self) -> u32 {
        self.loss().ranges
    }

    /// The instant in nanoseconds at which the newest of the packets was sent; `None` from a host of streams.
    #[getter]
    fn sent_at(&self) -> Option<u64> {
        self.loss().sent_at.map(Time::nanos)
    }

    /// Whether this loss opens an episode. Start-up answers these losses.
    #[getter]
    fn opens_episode(&self) -> bool {
        self.loss().opens_episode
    }

    /// Whether everything in flight was lost for longer than the persistence threshold (RFC 9002 section 7.6).
    #[getter]
    fn persistent(&self) -> bool {
        self.loss().persistent
    }

    /// The packets newly found lost.
    #[getter]
    fn packets(&self) -> Vec<Missing> {
        let missing = |packet: &LostPacket| Missing {
            packet: packet.packet,
            bytes: packet.bytes.get(),
            tag: packet.tag.0,
        };
        self.loss().packets.iter().map(missing).collect()
    }

    fn __repr__(&self) -> String {
        let opens = if self.opens_episode() { "True" } else { "False" };
        format!("Lost(bytes={}, opens_episode={opens})", self.bytes())
    }
}

/// The peer echoed a congestion mark (ECN).
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Marked {
    /// The instant in nanoseconds at which the newest acknowledged packet was sent; `None` from a host of streams.
    sent_at: Option<u64>,
}

/// The retransmission timer fired.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct TimedOut {
    /// Whether the same segment timed out before.
    repeated: bool,
}

/// The last reduction answered a loss that did not happen. The state from before the reduction is restored.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct SpuriousLoss;

/// The answer to a plan's request: whether the host could do it.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct Asked {
    /// Whether the host could do it.
    done: bool,
}

/// Advice from the network, or from the scheme around this one.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Advice(Advised);

#[pymethods]
impl Advice {
    /// The kind: `quick-start` (the routers answered a request) or `window` (continue from a window).
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            Advised::QuickStart { .. } => "quick-start",
            Advised::Window { .. } => "window",
        }
    }

    /// The approved rate in bits per second; `None` if the routers approved none.
    #[getter]
    fn approved(&self) -> Option<u64> {
        match self.0 {
            Advised::QuickStart { approved } => approved.map(Rate::bps),
            Advised::Window { .. } => None,
        }
    }

    /// The window from which to continue, in bytes; `None` for the other kind.
    #[getter]
    fn window(&self) -> Option<u64> {
        match self.0 {
            Advised::Window { window, .. } => Some(window.get()),
            Advised::QuickStart { .. } => None,
        }
    }

    /// The slow-start threshold, in bytes; `None` leaves it unchanged.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        match self.0 {
            Advised::Window { ssthresh, .. } => ssthresh.map(Bytes::get),
            Advised::QuickStart { .. } => None,
        }
    }
}

/// The train of a tag could not start, or could not be completed.
#[pyclass(frozen, get_all, module = "firstflight._native")]
pub(crate) struct TrainCut {
    /// The tag of the train.
    tag: u16,
}

/// The requested wake-up is due.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct Woken;

/// The size of a full segment changed to `path.mss`.
#[pyclass(frozen, module = "firstflight._native")]
pub(crate) struct MssChanged;

/// Returns the name of the class of an event.
pub(super) fn name(event: &Event<'_>) -> &'static str {
    match event {
        Event::Begin(_) => "Begin",
        Event::Established { .. } => "Established",
        Event::Sent(_) => "Sent",
        Event::Acked(_) => "Acked",
        Event::Lost(_) => "Lost",
        Event::Marked { .. } => "Marked",
        Event::TimedOut { .. } => "TimedOut",
        Event::SpuriousLoss => "SpuriousLoss",
        Event::Asked(_) => "Asked",
        Event::Advice(_) => "Advice",
        Event::TrainCut(_) => "TrainCut",
        Event::Woken => "Woken",
        Event::MssChanged => "MssChanged",
        _ => "an event",
    }
}

/// Makes the object of an event; `mss` is the payload of a full segment.
pub(super) fn object<'py>(py: Python<'py>, event: &Event<'_>, mss: Bytes) -> PyResult<Bound<'py, PyAny>> {
    Ok(match *event {
        Event::Begin(origin) => Bound::new(py, Begin(origin))?.into_any(),
        Event::Established { rtt, syn_lost } => {
            Bound::new(py, Established { rtt: rtt.map(Span::nanos), syn_lost })?.into_any()
        }
        Event::Sent(sent) => {
            let SentPacket { packet, bytes, tag: Tag(tag), retransmission } = sent;
            Bound::new(py, Sent { packet, bytes: bytes.get(), tag, retransmission })?.into_any()
        }
        Event::Acked(ack) => {
            let slow_start_growth = ack.slow_start_growth(mss).get();
            Bound::new(py, Acked { event: OwnedEvent::new(event), slow_start_growth })?.into_any()
        }
        Event::Lost(_) => Bound::new(py, Lost(OwnedEvent::new(event)))?.into_any(),
        Event::Marked { sent_at } => Bound::new(py, Marked { sent_at: sent_at.map(Time::nanos) })?.into_any(),
        Event::TimedOut { repeated } => Bound::new(py, TimedOut { repeated })?.into_any(),
        Event::SpuriousLoss => Bound::new(py, SpuriousLoss)?.into_any(),
        Event::Asked(done) => Bound::new(py, Asked { done })?.into_any(),
        Event::Advice(advice) => Bound::new(py, Advice(advice))?.into_any(),
        Event::TrainCut(Tag(tag)) => Bound::new(py, TrainCut { tag })?.into_any(),
        Event::MssChanged => Bound::new(py, MssChanged)?.into_any(),
        // No event after these has values.
        _ => Bound::new(py, Woken)?.into_any(),
    })
}

/// An event of a user's call, of any class.
#[derive(FromPyObject)]
pub(super) enum AnyEvent<'py> {
    Acked(Bound<'py, Acked>),
    Sent(Bound<'py, Sent>),
    Lost(Bound<'py, Lost>),
    Begin(Bound<'py, Begin>),
    Established(Bound<'py, Established>),
    Marked(Bound<'py, Marked>),
    TimedOut(Bound<'py, TimedOut>),
    SpuriousLoss(Bound<'py, SpuriousLoss>),
    Asked(Bound<'py, Asked>),
    Advice(Bound<'py, Advice>),
    TrainCut(Bound<'py, TrainCut>),
    Woken(Bound<'py, Woken>),
    MssChanged(Bound<'py, MssChanged>),
}

impl AnyEvent<'_> {
    /// Calls `take` with the library's event.
    pub(super) fn with<T>(&self, take: impl FnOnce(&Event<'_>) -> T) -> T {
        match self {
            Self::Acked(acked) => take(&acked.get().event.event()),
            Self::Lost(lost) => take(&lost.get().0.event()),
            Self::Begin(begin) => take(&Event::Begin(begin.get().0)),
            Self::Established(event) => {
                let Established { rtt, syn_lost } = *event.get();
                take(&Event::Established { rtt: rtt.map(Span::from_nanos), syn_lost })
            }
            Self::Sent(event) => {
                let Sent { packet, bytes, tag, retransmission } = *event.get();
                let bytes = Bytes::new(bytes);
                take(&Event::Sent(SentPacket { packet, bytes, tag: Tag(tag), retransmission }))
            }
            Self::Marked(event) => {
                take(&Event::Marked { sent_at: event.get().sent_at.map(Time::from_nanos) })
            }
            Self::TimedOut(event) => take(&Event::TimedOut { repeated: event.get().repeated }),
            Self::SpuriousLoss(event) => {
                let SpuriousLoss = event.get();
                take(&Event::SpuriousLoss)
            }
            Self::Asked(event) => take(&Event::Asked(event.get().done)),
            Self::Advice(event) => take(&Event::Advice(event.get().0)),
            Self::TrainCut(event) => take(&Event::TrainCut(Tag(event.get().tag))),
            Self::Woken(event) => {
                let Woken = event.get();
                take(&Event::Woken)
            }
            Self::MssChanged(event) => {
                let MssChanged = event.get();
                take(&Event::MssChanged)
            }
        }
    }
}
