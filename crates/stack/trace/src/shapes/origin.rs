//! The JSON form of the reason why a start-up or restart begins, and of the values learned before it.

use firstflight::{Bytes, Origin, PathEstimate, Rate, Span};
use serde::{Deserialize, Serialize};

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
#[serde(deny_unknown_fields)]
pub(crate) struct LearnedShape {
    window: u64,
    ssthresh: Option<u64>,
    rate_bps: Option<u64>,
}

impl From<PathEstimate> for LearnedShape {
    fn from(learned: PathEstimate) -> Self {
        Self {
            window: learned.window.get(),
            ssthresh: learned.ssthresh.map(Bytes::get),
            rate_bps: learned.rate.map(Rate::bps),
        }
    }
}

impl From<LearnedShape> for PathEstimate {
    fn from(shape: LearnedShape) -> Self {
        Self {
            window: Bytes::new(shape.window),
            ssthresh: shape.ssthresh.map(Bytes::new),
            rate: shape.rate_bps.map(Rate::from_bps),
        }
    }
}
