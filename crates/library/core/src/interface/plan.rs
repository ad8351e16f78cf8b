//! The plan: what a scheme wants of its host.

use crate::units::{Bytes, Rate, Span, Time};

/// The instructions of a scheme or law to the host, in force until the next plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Maximum payload bytes in flight.
    pub window: Bytes,
    /// Pacing of packets.
    pub pacing: Pacing,
    /// The tag for packets sent under this plan.
    pub tag: Tag,
    /// A standing request to the host.
    pub ask: Option<Ask>,
    /// Time at which to report [`Event::Woken`](super::Event::Woken).
    pub wake: Option<Time>,
    /// The slow-start threshold, for the record.
    pub ssthresh: Option<Bytes>,
}

impl Plan {
    /// Returns a plan that sends on the ACK clock within `window`.
    pub const fn ack_clocked(window: Bytes, ssthresh: Option<Bytes>) -> Self {
        Self { window, pacing: Pacing::AckClock, tag: Tag(0), ask: None, wake: None, ssthresh }
    }
}

/// The pacing of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// As soon as the window allows.
    AckClock,
    /// At a rate of IP bits per second, with bursts of at most `burst` IP bytes.
    Rate {
        /// The rate.
        rate: Rate,
        /// The largest burst.
        burst: Bytes,
    },
    /// A train: `packets` packets, one every `gap` from start to start, the first at once; then hold. The plan's tag
    /// identifies the train: a plan with the same tag is the same train, and the host counts its packets down.
    /// Retransmissions wait until after the train. The window must hold the whole train.
    Train {
        /// Number of packets.
        packets: u32,
        /// From the start of one packet to the start of the next.
        gap: Span,
    },
    /// Send no new data. Before [`Event::Established`](super::Event::Established) a handshake under congestion
    /// control continues within the window.
    Hold,
}

/// A label that a plan puts on the packets sent under it. The host returns the tag when a packet is acknowledged or
/// lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tag(pub u16);

/// A request of a scheme to its host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Request this rate of the routers (RFC 4782 section 4.1).
    QuickStart {
        /// The rate to request.
        rate: Rate,
    },
    /// Report the approved rate (RFC 4782 section 4.4).
    ReportApproved {
        /// The rate that was approved; zero if none.
        rate: Rate,
    },
}
