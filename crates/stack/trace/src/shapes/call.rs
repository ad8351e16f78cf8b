//! The JSON form of a call of the host.

use firstflight::{Advice, Bytes, Call, Delivered, Event, LostPacket, OwnedEvent, Rate, Span, Tag, Time};
use serde::{Deserialize, Serialize};

use super::origin::OriginShape;
use super::packets::{AckShape, LossShape, SentShape};

/// A call of the host. The values that the controller adds (round ends, growth, recovery episodes) are not here, but in the line's optional
/// `judged`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CallShape {
    Begin(OriginShape),
    Established {
        rtt_ns: Option<u64>,
        syn_lost: bool,
    },
    Sent(SentShape),
    Acked(AckShape),
    Lost(LossShape),
    Marked,
    /// A congestion mark (ECN), reported by a host that knows when the marked packet was sent.
    MarkedPacket {
        sent_at_ns: u64,
    },
    TimedOut {
        repeated: bool,
    },
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
            Event::Marked { sent_at: None } => Self::Marked,
            Event::Marked { sent_at: Some(at) } => Self::MarkedPacket { sent_at_ns: at.nanos() },
            Event::TimedOut { repeated } => Self::TimedOut { repeated },
            Event::SpuriousLoss => Self::SpuriousLoss,
            Event::Asked(done) => Self::Asked(done),
            Event::Advice(advice) => Self::Advice(advice.into()),
            Event::TrainCut(tag) => Self::TrainCut(tag.0),
            Event::Woken => Self::Woken,
            Event::MssChanged => Self::MssChanged,
            other => unreachable!("a trace has no {other:?}, and is of the same version as the library"),
        }
    }
}

impl From<&CallShape> for Call {
    fn from(shape: &CallShape) -> Self {
        let on = |event: Event<'_>| Self::On(OwnedEvent::new(&event));
        match shape {
            CallShape::Begin(origin) => on(Event::Begin((*origin).into())),
            CallShape::Established { rtt_ns, syn_lost } => {
                on(Event::Established { rtt: rtt_ns.map(Span::from_nanos), syn_lost: *syn_lost })
            }
            CallShape::Sent(sent) => on(Event::Sent((*sent).into())),
            CallShape::Acked(ack) => {
                let packets: Vec<Delivered> = ack.packets.iter().map(|packet| (*packet).into()).collect();
                let newest = ack.newest.map(Delivered::from);
                on(Event::Acked(ack.with(&packets, newest.as_ref())))
            }
            CallShape::Lost(loss) => {
                let packets: Vec<LostPacket> = loss.packets.iter().map(|packet| (*packet).into()).collect();
                on(Event::Lost(loss.with(&packets)))
            }
            CallShape::Marked => on(Event::Marked { sent_at: None }),
            CallShape::MarkedPacket { sent_at_ns } => {
                on(Event::Marked { sent_at: Some(Time::from_nanos(*sent_at_ns)) })
            }
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
#[serde(rename_all = "kebab-case")]
pub(crate) enum AdviceShape {
    QuickStart { approved_bps: Option<u64> },
    Window { window: u64, ssthresh: Option<u64> },
}

impl From<Advice> for AdviceShape {
    fn from(advice: Advice) -> Self {
        match advice {
            Advice::QuickStart { approved } => Self::QuickStart { approved_bps: approved.map(Rate::bps) },
            Advice::Window { window, ssthresh } => {
                Self::Window { window: window.get(), ssthresh: ssthresh.map(Bytes::get) }
            }
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
        }
    }
}
