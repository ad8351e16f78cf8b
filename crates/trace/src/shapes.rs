//! The seam's values as a trace writes them: plain integers with their unit in the name.

use firstflight::{
    Ack, Advice, Ask, Bytes, Call, Cause, Delivered, Event, Exit, Heard, Learned, Loss, LostPacket, Note,
    Origin, Pacing, Path, Phase, Plan, Rate, RttSample, SendLimit, Sent, Span, Tag, Time,
};
use serde::{Deserialize, Serialize};

use crate::delta::delta;

delta! {
    /// The connection, but for the time.
    PathShape, PathDelta {
        plain {
            mss: u64,
            wire: u64,
            cwnd: u64,
            flight: u64,
            rwnd: u64,
            delivered: u64,
            una: u64,
            nxt: u64,
            rto_ns: u64,
            limit: LimitShape,
            recovering: bool,
        }
        maybe {
            srtt_ns: u64,
            latest_rtt_ns: u64,
            min_rtt_ns: u64,
            backlog: u64,
            last_sent_ns: u64,
            last_received_ns: u64,
            wake_ns: u64,
        }
    }
}

delta! {
    /// A plan.
    PlanShape, PlanDelta {
        plain { window: u64, pacing: PacingShape, tag: u16 }
        maybe { ask: AskShape, wake_ns: u64, ssthresh: u64 }
    }
}

impl From<&Path> for PathShape {
    fn from(path: &Path) -> Self {
        Self {
            mss: path.mss.get(),
            wire: path.wire.get(),
            cwnd: path.cwnd.get(),
            flight: path.flight.get(),
            rwnd: path.rwnd.get(),
            delivered: path.delivered.get(),
            una: path.una,
            nxt: path.nxt,
            rto_ns: path.rto.nanos(),
            limit: path.limit.into(),
            recovering: path.recovering,
            srtt_ns: path.srtt.map(Span::nanos),
            latest_rtt_ns: path.latest_rtt.map(Span::nanos),
            min_rtt_ns: path.min_rtt.map(Span::nanos),
            backlog: path.backlog.map(Bytes::get),
            last_sent_ns: path.last_sent.map(Time::nanos),
            last_received_ns: path.last_received.map(Time::nanos),
            wake_ns: path.wake.map(Time::nanos),
        }
    }
}

impl PathShape {
    pub(crate) fn at(&self, now: Time) -> Path {
        Path {
            now,
            mss: Bytes::new(self.mss),
            wire: Bytes::new(self.wire),
            cwnd: Bytes::new(self.cwnd),
            flight: Bytes::new(self.flight),
            srtt: self.srtt_ns.map(Span::from_nanos),
            latest_rtt: self.latest_rtt_ns.map(Span::from_nanos),
            min_rtt: self.min_rtt_ns.map(Span::from_nanos),
            rwnd: Bytes::new(self.rwnd),
            backlog: self.backlog.map(Bytes::new),
            delivered: Bytes::new(self.delivered),
            una: self.una,
            nxt: self.nxt,
            rto: Span::from_nanos(self.rto_ns),
            limit: self.limit.into(),
            recovering: self.recovering,
            last_sent: self.last_sent_ns.map(Time::from_nanos),
            last_received: self.last_received_ns.map(Time::from_nanos),
            wake: self.wake_ns.map(Time::from_nanos),
        }
    }
}

impl From<&Plan> for PlanShape {
    fn from(plan: &Plan) -> Self {
        Self {
            window: plan.window.get(),
            pacing: plan.pacing.into(),
            tag: plan.tag.0,
            ask: plan.ask.map(AskShape::from),
            wake_ns: plan.wake.map(Time::nanos),
            ssthresh: plan.ssthresh.map(Bytes::get),
        }
    }
}

impl From<&PlanShape> for Plan {
    fn from(shape: &PlanShape) -> Self {
        Self {
            window: Bytes::new(shape.window),
            pacing: shape.pacing.into(),
            tag: Tag(shape.tag),
            ask: shape.ask.map(Ask::from),
            wake: shape.wake_ns.map(Time::from_nanos),
            ssthresh: shape.ssthresh.map(Bytes::new),
        }
    }
}

/// Defines a shape of an enum or struct that converts both ways by the same rules.
macro_rules! names {
    ($shape:ident of $seam:ident { $($name:ident),+ $(,)? }) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $shape { $($name),+ }

        impl From<$seam> for $shape {
            fn from(seam: $seam) -> Self {
                match seam { $($seam::$name => Self::$name),+ }
            }
        }

        impl From<$shape> for $seam {
            fn from(shape: $shape) -> Self {
                match shape { $($shape::$name => Self::$name),+ }
            }
        }
    };
}

names! { LimitShape of SendLimit { App, Window, Pacing, Receiver } }
names! { PhaseShape of Phase { Startup, Restart, Avoidance } }
names! {
    CauseShape of Cause {
        Threshold, Delay, AckTrain, CssEnd, Dispersion, RateFlat, Loss, Timeout, Mark, Advice, Resumed, App,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PacingShape {
    AckClock,
    Rate { rate_bps: u64, burst: u64 },
    Train { packets: u32, gap_ns: u64 },
    Hold,
}

impl From<Pacing> for PacingShape {
    fn from(pacing: Pacing) -> Self {
        match pacing {
            Pacing::AckClock => Self::AckClock,
            Pacing::Rate { rate, burst } => Self::Rate { rate_bps: rate.bps(), burst: burst.get() },
            Pacing::Train { packets, gap } => Self::Train { packets, gap_ns: gap.nanos() },
            Pacing::Hold => Self::Hold,
        }
    }
}

impl From<PacingShape> for Pacing {
    fn from(shape: PacingShape) -> Self {
        match shape {
            PacingShape::AckClock => Self::AckClock,
            PacingShape::Rate { rate_bps, burst } => {
                Self::Rate { rate: Rate::from_bps(rate_bps), burst: Bytes::new(burst) }
            }
            PacingShape::Train { packets, gap_ns } => Self::Train { packets, gap: Span::from_nanos(gap_ns) },
            PacingShape::Hold => Self::Hold,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AskShape {
    QuickStart { rate_bps: u64 },
    ReportApproved { rate_bps: u64 },
}

impl From<Ask> for AskShape {
    fn from(ask: Ask) -> Self {
        match ask {
            Ask::QuickStart { rate } => Self::QuickStart { rate_bps: rate.bps() },
            Ask::ReportApproved { rate } => Self::ReportApproved { rate_bps: rate.bps() },
        }
    }
}

impl From<AskShape> for Ask {
    fn from(shape: AskShape) -> Self {
        match shape {
            AskShape::QuickStart { rate_bps } => Self::QuickStart { rate: Rate::from_bps(rate_bps) },
            AskShape::ReportApproved { rate_bps } => Self::ReportApproved { rate: Rate::from_bps(rate_bps) },
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LearnedShape {
    window: u64,
    ssthresh: Option<u64>,
    rate_bps: Option<u64>,
}

impl From<Learned> for LearnedShape {
    fn from(learned: Learned) -> Self {
        Self {
            window: learned.window.get(),
            ssthresh: learned.ssthresh.map(Bytes::get),
            rate_bps: learned.rate.map(Rate::bps),
        }
    }
}

impl From<LearnedShape> for Learned {
    fn from(shape: LearnedShape) -> Self {
        Self {
            window: Bytes::new(shape.window),
            ssthresh: shape.ssthresh.map(Bytes::new),
            rate: shape.rate_bps.map(Rate::from_bps),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OriginShape {
    Fresh,
    AfterIdle { idle_ns: u64, was: LearnedShape },
    AfterTimeout { was: LearnedShape },
    PathChange,
}

impl From<Origin> for OriginShape {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::Fresh => Self::Fresh,
            Origin::AfterIdle { idle, was } => Self::AfterIdle { idle_ns: idle.nanos(), was: was.into() },
            Origin::AfterTimeout { was } => Self::AfterTimeout { was: was.into() },
            Origin::PathChange => Self::PathChange,
        }
    }
}

impl From<OriginShape> for Origin {
    fn from(shape: OriginShape) -> Self {
        match shape {
            OriginShape::Fresh => Self::Fresh,
            OriginShape::AfterIdle { idle_ns, was } => {
                Self::AfterIdle { idle: Span::from_nanos(idle_ns), was: was.into() }
            }
            OriginShape::AfterTimeout { was } => Self::AfterTimeout { was: was.into() },
            OriginShape::PathChange => Self::PathChange,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AdviceShape {
    QuickStart { approved_bps: Option<u64> },
    Window { window: u64, ssthresh: Option<u64> },
    Ceiling { rate_bps: u64 },
}

impl From<Advice> for AdviceShape {
    fn from(advice: Advice) -> Self {
        match advice {
            Advice::QuickStart { approved } => Self::QuickStart { approved_bps: approved.map(Rate::bps) },
            Advice::Window { window, ssthresh } => {
                Self::Window { window: window.get(), ssthresh: ssthresh.map(Bytes::get) }
            }
            Advice::Ceiling { rate } => Self::Ceiling { rate_bps: rate.bps() },
        }
    }
}

impl From<AdviceShape> for Advice {
    fn from(shape: AdviceShape) -> Self {
        match shape {
            AdviceShape::QuickStart { approved_bps } => {
                Self::QuickStart { approved: approved_bps.map(Rate::from_bps) }
            }
            AdviceShape::Window { window, ssthresh } => {
                Self::Window { window: Bytes::new(window), ssthresh: ssthresh.map(Bytes::new) }
            }
            AdviceShape::Ceiling { rate_bps } => Self::Ceiling { rate: Rate::from_bps(rate_bps) },
        }
    }
}

/// The call. What the controller fills in by itself (round ends, growth, episodes) is not written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallShape {
    Begin(OriginShape),
    Established { rtt_ns: Option<u64>, syn_lost: bool },
    Sent(SentShape),
    Acked(AckShape),
    Lost(LossShape),
    Marked,
    TimedOut { repeated: bool },
    SpuriousLoss,
    Asked(bool),
    Advice(AdviceShape),
    TrainCut(u16),
    Woken,
    MssChanged,
    NewData,
    Plan,
}

impl From<&Call> for CallShape {
    fn from(call: &Call) -> Self {
        let heard = match call {
            Call::On(heard) => heard,
            Call::NewData => return Self::NewData,
            Call::Plan => return Self::Plan,
        };
        match heard.event() {
            Event::Begin(origin) => Self::Begin(origin.into()),
            Event::Established { rtt, syn_lost } => {
                Self::Established { rtt_ns: rtt.map(Span::nanos), syn_lost }
            }
            Event::Sent(sent) => Self::Sent(sent.into()),
            Event::Acked(ack) => Self::Acked(AckShape::new(&ack)),
            Event::Lost(loss) => Self::Lost(LossShape::new(&loss)),
            Event::Marked => Self::Marked,
            Event::TimedOut { repeated } => Self::TimedOut { repeated },
            Event::SpuriousLoss => Self::SpuriousLoss,
            Event::Asked(done) => Self::Asked(done),
            Event::Advice(advice) => Self::Advice(advice.into()),
            Event::TrainCut(tag) => Self::TrainCut(tag.0),
            Event::Woken => Self::Woken,
            Event::MssChanged => Self::MssChanged,
        }
    }
}

impl From<&CallShape> for Call {
    fn from(shape: &CallShape) -> Self {
        let on = |event: Event<'_>| Self::On(Heard::new(&event));
        match shape {
            CallShape::Begin(origin) => on(Event::Begin((*origin).into())),
            CallShape::Established { rtt_ns, syn_lost } => {
                on(Event::Established { rtt: rtt_ns.map(Span::from_nanos), syn_lost: *syn_lost })
            }
            CallShape::Sent(sent) => on(Event::Sent((*sent).into())),
            CallShape::Acked(ack) => {
                let packets: Vec<Delivered> = ack.packets.iter().map(|packet| (*packet).into()).collect();
                on(Event::Acked(ack.with(&packets)))
            }
            CallShape::Lost(loss) => {
                let packets: Vec<LostPacket> = loss.packets.iter().map(|packet| (*packet).into()).collect();
                on(Event::Lost(loss.with(&packets)))
            }
            CallShape::Marked => on(Event::Marked),
            CallShape::TimedOut { repeated } => on(Event::TimedOut { repeated: *repeated }),
            CallShape::SpuriousLoss => on(Event::SpuriousLoss),
            CallShape::Asked(done) => on(Event::Asked(*done)),
            CallShape::Advice(advice) => on(Event::Advice((*advice).into())),
            CallShape::TrainCut(tag) => on(Event::TrainCut(Tag(*tag))),
            CallShape::Woken => on(Event::Woken),
            CallShape::MssChanged => on(Event::MssChanged),
            CallShape::NewData => Self::NewData,
            CallShape::Plan => Self::Plan,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SentShape {
    packet: u64,
    bytes: u64,
    tag: u16,
    #[serde(default, skip_serializing_if = "is_false")]
    retransmission: bool,
}

impl From<Sent> for SentShape {
    fn from(sent: Sent) -> Self {
        let Sent { packet, bytes, tag, retransmission } = sent;
        Self { packet, bytes: bytes.get(), tag: tag.0, retransmission }
    }
}

impl From<SentShape> for Sent {
    fn from(shape: SentShape) -> Self {
        let SentShape { packet, bytes, tag, retransmission } = shape;
        Self { packet, bytes: Bytes::new(bytes), tag: Tag(tag), retransmission }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AckShape {
    packets: Vec<DeliveredShape>,
    bytes: u64,
    advanced: u64,
    sacked: u64,
    segments: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    duplicate: bool,
    rtt_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "is_false")]
    rtt_of_handshake: bool,
    delivery_rate_bps: Option<u64>,
}

impl AckShape {
    fn new(ack: &Ack<'_>) -> Self {
        Self {
            packets: ack.packets.iter().map(|packet| (*packet).into()).collect(),
            bytes: ack.bytes.get(),
            advanced: ack.advanced.get(),
            sacked: ack.sacked.get(),
            segments: ack.segments,
            duplicate: ack.duplicate,
            rtt_ns: ack.rtt.map(|sample| sample.rtt.nanos()),
            rtt_of_handshake: ack.rtt.is_some_and(|sample| sample.handshake),
            delivery_rate_bps: ack.delivery_rate.map(Rate::bps),
        }
    }

    fn with<'a>(&self, packets: &'a [Delivered]) -> Ack<'a> {
        let handshake = self.rtt_of_handshake;
        Ack {
            packets,
            bytes: Bytes::new(self.bytes),
            advanced: Bytes::new(self.advanced),
            sacked: Bytes::new(self.sacked),
            segments: self.segments,
            duplicate: self.duplicate,
            rtt: self.rtt_ns.map(|rtt| RttSample { rtt: Span::from_nanos(rtt), handshake }),
            delivery_rate: self.delivery_rate_bps.map(Rate::from_bps),
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeliveredShape {
    packet: u64,
    bytes: u64,
    sent_at_ns: u64,
    tag: u16,
    delivered_at_send: u64,
    limit: LimitShape,
    #[serde(default, skip_serializing_if = "is_false")]
    retransmitted: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    selectively: bool,
}

impl From<Delivered> for DeliveredShape {
    fn from(packet: Delivered) -> Self {
        Self {
            packet: packet.packet,
            bytes: packet.bytes.get(),
            sent_at_ns: packet.sent_at.nanos(),
            tag: packet.tag.0,
            delivered_at_send: packet.delivered_at_send.get(),
            limit: packet.limit.into(),
            retransmitted: packet.retransmitted,
            selectively: packet.selectively,
        }
    }
}

impl From<DeliveredShape> for Delivered {
    fn from(shape: DeliveredShape) -> Self {
        Self {
            packet: shape.packet,
            bytes: Bytes::new(shape.bytes),
            sent_at: Time::from_nanos(shape.sent_at_ns),
            tag: Tag(shape.tag),
            delivered_at_send: Bytes::new(shape.delivered_at_send),
            limit: shape.limit.into(),
            retransmitted: shape.retransmitted,
            selectively: shape.selectively,
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LossShape {
    packets: Vec<LostShape>,
    bytes: u64,
    ranges: u32,
    #[serde(default, skip_serializing_if = "is_false")]
    persistent: bool,
}

impl LossShape {
    fn new(loss: &Loss<'_>) -> Self {
        Self {
            packets: loss.packets.iter().map(|packet| (*packet).into()).collect(),
            bytes: loss.bytes.get(),
            ranges: loss.ranges,
            persistent: loss.persistent,
        }
    }

    fn with<'a>(&self, packets: &'a [LostPacket]) -> Loss<'a> {
        Loss {
            packets,
            bytes: Bytes::new(self.bytes),
            ranges: self.ranges,
            opens_episode: false,
            persistent: self.persistent,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LostShape {
    packet: u64,
    bytes: u64,
    tag: u16,
}

impl From<LostPacket> for LostShape {
    fn from(LostPacket { packet, bytes, tag }: LostPacket) -> Self {
        Self { packet, bytes: bytes.get(), tag: tag.0 }
    }
}

impl From<LostShape> for LostPacket {
    fn from(LostShape { packet, bytes, tag }: LostShape) -> Self {
        Self { packet, bytes: Bytes::new(bytes), tag: Tag(tag) }
    }
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoteShape {
    Began(OriginShape),
    Exited { cause: CauseShape, phase: PhaseShape, learned: LearnedShape, cwnd: u64, flight: u64 },
    Continued,
    Reduced { from: u64 },
    Undone { exit: bool },
}

impl From<Note> for NoteShape {
    fn from(note: Note) -> Self {
        match note {
            Note::Began(origin) => Self::Began(origin.into()),
            Note::Exited { exit, phase, cwnd, flight } => Self::Exited {
                cause: exit.cause.into(),
                phase: phase.into(),
                learned: exit.learned.into(),
                cwnd: cwnd.get(),
                flight: flight.get(),
            },
            Note::Continued => Self::Continued,
            Note::Reduced { from } => Self::Reduced { from: from.get() },
            Note::Undone { exit } => Self::Undone { exit },
        }
    }
}

impl From<NoteShape> for Note {
    fn from(shape: NoteShape) -> Self {
        match shape {
            NoteShape::Began(origin) => Self::Began(origin.into()),
            NoteShape::Exited { cause, phase, learned, cwnd, flight } => Self::Exited {
                exit: Exit { cause: cause.into(), learned: learned.into() },
                phase: phase.into(),
                cwnd: Bytes::new(cwnd),
                flight: Bytes::new(flight),
            },
            NoteShape::Continued => Self::Continued,
            NoteShape::Reduced { from } => Self::Reduced { from: Bytes::new(from) },
            NoteShape::Undone { exit } => Self::Undone { exit },
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
