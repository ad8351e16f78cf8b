//! The JSON form of the controller's plan.

use firstflight::{Ask, Bytes, Pacing, Plan, Rate, Span, Tag, Time};
use serde::{Deserialize, Serialize};

use crate::delta::delta;

delta! {
    /// A plan of the controller.
    PlanShape, PlanDelta {
        plain { window: u64, pacing: PacingShape, tag: u16 }
        maybe { ask: AskShape, wake_ns: u64, ssthresh: u64 }
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
