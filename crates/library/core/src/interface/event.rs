//! Events: what happened on a connection.

use super::{Ack, Loss, PathEstimate, Tag};
use crate::units::{Bytes, Rate, Span, Time};

/// An event of the connection.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A start-up or restart begins. [`Origin::Fresh`] comes before the SYN, and the plan is
    /// [`Pacing::Hold`](super::Pacing::Hold) until [`Event::Established`].
    Begin(Origin),
    /// The handshake is over.
    Established {
        /// The handshake's round-trip time, if it could be measured.
        rtt: Option<Span>,
        /// Whether the SYN or SYN-ACK had to be retransmitted (RFC 5681 section 3.1).
        syn_lost: bool,
    },
    /// A data packet was sent.
    Sent(Sent),
    /// An acknowledgement arrived.
    Acked(Ack<'a>),
    /// Packets were found lost.
    Lost(Loss<'a>),
    /// The peer echoed a congestion mark (ECN).
    Marked {
        /// Transmission time of the newest packet that the ACK with the mark acknowledged, from a host with packet
        /// numbers. A mark of a packet sent before the last reduction needs no further answer (RFC 9002 section
        /// 7.3.2). A host that gives `None` reports at most one mark per window of data.
        sent_at: Option<Time>,
    },
    /// The retransmission timer fired.
    TimedOut {
        /// Whether the same segment timed out before: the threshold is then kept (RFC 5681 section 3.1).
        repeated: bool,
    },
    /// The last reduction answered a loss that did not happen. The state from before the reduction has been restored.
    SpuriousLoss,
    /// The answer to an [`Ask`](super::Ask), given once: whether the host could do it.
    Asked(bool),
    /// Advice from the network.
    Advice(Advice),
    /// The train of this tag could not start, or could not be completed: no data was left to send, or the receive
    /// window was full.
    TrainCut(Tag),
    /// The requested wake-up is due.
    Woken,
    /// The size of a full segment changed to [`Path::mss`](super::Path::mss).
    MssChanged,
}

/// Why a start-up begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A new connection.
    Fresh,
    /// There is data to send after nothing was sent for longer than the retransmission timeout.
    AfterIdle {
        /// Time without a transmission.
        idle: Span,
        /// State of the connection before the idle time.
        was: PathEstimate,
    },
    /// The retransmission timer fired.
    AfterTimeout {
        /// The law's answer to the timeout: `ssthresh` is the threshold at which slow start should end.
        was: PathEstimate,
    },
    /// The connection moved to another path. From here on the host reports no acknowledgement, loss, mark or timeout of
    /// packets sent before the move.
    PathChange,
}

/// The transmission of a data packet, or of several packets if the host learns of transmissions afterwards (a kernel's
/// congestion control).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The packet's number: every transmission has its own number, counted from zero. For several packets it is the
    /// number of the newest.
    pub packet: u64,
    /// Payload bytes.
    pub bytes: Bytes,
    /// Tag of the plan under which the packet was sent.
    pub tag: Tag,
    /// Whether the packet is a retransmission.
    pub retransmission: bool,
}

impl Sent {
    /// Returns the number of packets sent: one, or as many as `mss` makes of the bytes if that is more.
    pub fn packets(&self, mss: Bytes) -> u64 {
        if self.bytes <= mss { 1 } else { self.bytes.get().div_ceil(mss.get().max(1)) }
    }
}

/// Advice from the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// The answer to a Quick-Start request (RFC 4782): the rate that every router approved, or none.
    QuickStart {
        /// The approved rate.
        approved: Option<Rate>,
    },
    /// From a scheme to the scheme inside it: continue in slow start from this window. A scheme whose window does not
    /// grow by ACKs (one that measures with trains) ignores the advice.
    Window {
        /// The window.
        window: Bytes,
        /// The threshold at which slow start ends; `None` leaves the threshold unchanged.
        ssthresh: Option<Bytes>,
    },
}
