//! The seam: what a host tells a scheme, and what a scheme answers.
//!
//! Two functions, one event enum, one plan value. A host calls [`Startup::on`] for every event and then
//! [`Startup::plan`]; the plan says how much may be in flight and how packets leave. Both are total, pure and
//! never fail: with the same events a scheme makes the same plans in every habitat.
//!
//! Times of events are [`Path::now`]: the exact arrival for ACKs, the exact departure for [`Event::Sent`].
//! Windows count payload bytes; rates and gaps count IP bytes ([`Path::wire`] for a full segment).

use crate::brief::Hears;
use crate::units::{Bytes, Rate, Span, Time};

/// A start-up or restart scheme: two functions.
pub trait Startup: Clone {
    /// What the scheme minds, for hosts that would rather not say the rest. The default, everything, is always right.
    const HEARS: Hears<Self> = Hears::ALL;

    /// Hears one event. After `Done` the scheme is not called again until the next [`Event::Begin`].
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step;

    /// What to do now. Asked after every event; must not depend on how often it is asked.
    fn plan(&self, path: &Path) -> Plan;

    /// A restart policy hears one event while a start-up or law governs, before that hears it: for policies that
    /// restart from what they measured before (rate-based pacing), or that say what a window used in part is still
    /// worth (RFC 2861 section 3): what this returns, if it is less than the window in force, takes its place. A
    /// start-up scheme never does either.
    fn overhear(&mut self, _event: &Event<'_>, _path: &Path) -> Option<Learned> {
        None
    }
}

/// A congestion-avoidance law: hears the same events once start-up is over.
///
/// At the first loss or mark of an episode, and at a timeout, the law reduces its window; the reduced window
/// is the target that the host's recovery steers to. A law that keeps its window keeps it then too.
pub trait Avoidance: Clone {
    /// What the law minds, for hosts that would rather not say the rest. The default, everything, is always right.
    const HEARS: Hears<Self> = Hears::ALL;

    /// Takes over from a start-up that left with `exit`. For an exit by [`Cause::Loss`], [`Cause::Mark`] or
    /// [`Cause::Timeout`] this is also the law's response to that congestion, unless the scheme itself
    /// answered with a threshold ([`Learned::ssthresh`]).
    fn enter(&mut self, exit: &Exit, path: &Path);

    /// Hears one event while it governs.
    fn on(&mut self, event: &Event<'_>, path: &Path);

    /// What to do now.
    fn plan(&self, path: &Path) -> Plan;

    /// The connection goes on over another path, by a start-up: what was learnt of the old one is forgotten (RFC 9000
    /// section 9.4), and the law is as one that has not taken over yet.
    fn forget_path(&mut self);

    /// Hears one event while a start-up or restart governs, before that hears it: for laws that measure the
    /// path all the time (Westwood's rate, BBR's bandwidth). Nothing that it changes governs yet.
    fn overhear(&mut self, _event: &Event<'_>, _path: &Path) {}
}

/// The connection as its sender sees it: the context of every call.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// The instant of the event.
    pub now: Time,
    /// Payload of a full segment (SMSS).
    pub mss: Bytes,
    /// IP bytes of a full segment.
    pub wire: Bytes,
    /// The window in force before this event.
    pub cwnd: Bytes,
    /// Bytes sent and not yet cumulatively acknowledged, those selectively acknowledged included: the flight size
    /// (`FlightSize`, RFC 5681 section 2), half of which a law may keep. Before [`Event::Sent`] without the packet that leaves.
    pub flight: Bytes,
    /// Bytes believed to be in the network, so without what was delivered in any way or found lost and not sent again
    /// (`pipe`, RFC 6675 section 2): what sending is held to the window by. Before [`Event::Sent`] without the packet that
    /// leaves, sent again or not.
    pub pipe: Bytes,
    /// Smoothed round-trip time (RFC 6298).
    pub srtt: Option<Span>,
    /// The newest round-trip sample.
    pub latest_rtt: Option<Span>,
    /// The least round-trip sample of the connection.
    pub min_rtt: Option<Span>,
    /// The receive window offered by the peer.
    pub rwnd: Bytes,
    /// Bytes ready to send and not yet sent; `None` when the host cannot know.
    pub backlog: Option<Bytes>,
    /// Bytes delivered so far, selectively acknowledged ones included.
    pub delivered: Bytes,
    /// First byte not cumulatively acknowledged (`SND.UNA`), as an offset in the stream.
    pub una: u64,
    /// Next new byte to send (`SND.NXT`), as an offset in the stream.
    pub nxt: u64,
    /// The retransmission timeout.
    pub rto: Span,
    /// What limited sending last.
    pub limit: SendLimit,
    /// Whether a loss episode is being repaired.
    pub recovering: bool,
    /// When a data packet last left.
    pub last_sent: Option<Time>,
    /// When a segment last arrived from the peer.
    pub last_received: Option<Time>,
    /// The wake-up that the host has granted.
    pub wake: Option<Time>,
}

/// What kept a sender from sending more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SendLimit {
    /// The application had no more to send.
    #[default]
    App,
    /// The congestion window was full.
    Window,
    /// The pacer held the next packet back.
    Pacing,
    /// The peer's receive window was full.
    Receiver,
}

/// A label that a plan puts on the packets sent under it, given back when they are acknowledged or lost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Tag(pub u16);

/// What happened.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A start-up begins. For [`Origin::Fresh`] this comes before the SYN, and the plan is [`Pacing::Hold`]
    /// until [`Event::Established`].
    Begin(Origin),
    /// The handshake is over.
    Established {
        /// The handshake's round-trip time, if it could be measured.
        rtt: Option<Span>,
        /// Whether the SYN or SYN-ACK had to be retransmitted (RFC 5681 section 3.1).
        syn_lost: bool,
    },
    /// A data packet left.
    Sent(Sent),
    /// An acknowledgement arrived.
    Acked(Ack<'a>),
    /// Packets were found lost.
    Lost(Loss<'a>),
    /// The peer echoed a congestion mark (ECN), at most once per window of data.
    Marked,
    /// The retransmission timer fired.
    TimedOut {
        /// Whether the same segment timed out before: the threshold is then kept (RFC 5681 section 3.1).
        repeated: bool,
    },
    /// The last reduction answered a loss that did not happen; its state has been restored.
    SpuriousLoss,
    /// The answer to an [`Ask`], given once: whether the host could do it.
    Asked(bool),
    /// Advice from the network.
    Advice(Advice),
    /// The train of this tag could not start, or could not end, whole: nothing was left to send, or the
    /// receive window was full.
    TrainCut(Tag),
    /// The wake-up asked for is due.
    Woken,
    /// The size of a full segment changed to [`Path::mss`].
    MssChanged,
}

/// Why a start-up begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A new connection.
    Fresh,
    /// Data to send after nothing was sent for longer than the retransmission timeout.
    AfterIdle {
        /// How long nothing was sent.
        idle: Span,
        /// What the connection knew before.
        was: Learned,
    },
    /// The retransmission timer fired.
    AfterTimeout {
        /// The law's answer to the timeout: `ssthresh` is where slow start should end.
        was: Learned,
    },
    /// The connection moved to another path. From here on its host tells of no loss, mark or timeout of what left before.
    PathChange,
}

/// What a scheme or law knows of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Learned {
    /// The congestion window.
    pub window: Bytes,
    /// Where the next slow start should end; `None` if nothing is known.
    pub ssthresh: Option<Bytes>,
    /// The rate found, in IP bits per second, if the scheme finds one.
    pub rate: Option<Rate>,
}

/// A data packet left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sent {
    /// The packet's number: every transmission has its own, counted from zero.
    pub packet: u64,
    /// Payload bytes.
    pub bytes: Bytes,
    /// The tag of the plan it was sent under.
    pub tag: Tag,
    /// Whether its data was sent before.
    pub retransmission: bool,
}

/// A round-trip sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttSample {
    /// The sample; never from a retransmitted packet (Karn), unless timestamps tell them apart.
    pub rtt: Span,
    /// Whether it is the handshake's.
    pub handshake: bool,
}

/// One acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// The packets that it newly acknowledges, cumulatively or selectively, in order of sequence.
    pub packets: &'a [Delivered],
    /// Payload bytes newly delivered: cumulatively and selectively acknowledged, each byte once.
    pub bytes: Bytes,
    /// Bytes by which the cumulative acknowledgement advanced.
    pub advanced: Bytes,
    /// Bytes newly acknowledged selectively.
    pub sacked: Bytes,
    /// Segments by which the cumulative acknowledgement advanced: 1 or 2 tell an immediate ACK from a
    /// delayed one.
    pub segments: u32,
    /// Whether it is a duplicate ACK (RFC 5681 section 2, or RFC 6675 with SACK).
    pub duplicate: bool,
    /// The round-trip sample, if one could be made.
    pub rtt: Option<RttSample>,
    /// The delivery rate at this ACK, if a sample could be made.
    pub delivery_rate: Option<Rate>,
    /// Whether a round trip ended with this ACK. The [`crate::Controller`] fills this in.
    pub round_ended: bool,
    /// New data sent in the round trip that ended with this ACK, what this ACK releases not among it; zero if none
    /// ended. The [`crate::Controller`] fills this in.
    pub round_sent: Bytes,
    /// Bytes by which a window may count this ACK as evidence for growth: none while a loss is repaired or
    /// when the window was not the limit, else the cumulative advance. The [`crate::Controller`] fills this
    /// in, so that no scheme judges it by itself.
    pub growth: Bytes,
}

impl Ack<'_> {
    /// Packets with data that are now acknowledged whole, as Linux counts deliveries. A packet whose acknowledgement is
    /// divided counts once, with its last byte (RFC 3465 section 1 tells of receivers that divide). One that a
    /// duplicate ACK without SACK told of before, so that [`bytes`](Self::bytes) leaves it out, does not count again.
    pub fn whole_packets(&self) -> u64 {
        let sizes = || self.packets.iter().map(|packet| packet.bytes).filter(|bytes| !bytes.is_zero());
        let mut told = sizes().fold(Bytes::ZERO, |sum, bytes| sum + bytes) - self.bytes;
        let fresh = sizes().filter(|&bytes| {
            let before = told >= bytes;
            told -= if before { bytes } else { Bytes::ZERO };
            !before
        });
        fresh.count() as u64
    }
}

/// A packet newly acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivered {
    /// The number of its last transmission.
    pub packet: u64,
    /// Payload bytes.
    pub bytes: Bytes,
    /// When it left, exactly.
    pub sent_at: Time,
    /// The tag it was sent with.
    pub tag: Tag,
    /// [`Path::delivered`] when it left.
    pub delivered_at_send: Bytes,
    /// What limited sending when it left.
    pub limit: SendLimit,
    /// Whether it was sent more than once.
    pub retransmitted: bool,
    /// Whether it was acknowledged selectively rather than cumulatively.
    pub selectively: bool,
}

/// Packets found lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// The packets newly found lost.
    pub packets: &'a [LostPacket],
    /// Their payload bytes.
    pub bytes: Bytes,
    /// How many separate ranges of the stream they make.
    pub ranges: u32,
    /// Whether this opens a loss episode. The [`crate::Controller`] fills this in.
    pub opens_episode: bool,
    /// Whether everything in flight was lost for longer than the persistence threshold (RFC 9002
    /// section 7.6); hosts without that notion say no.
    pub persistent: bool,
}

/// A packet found lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostPacket {
    /// The number of the lost transmission.
    pub packet: u64,
    /// Payload bytes.
    pub bytes: Bytes,
    /// The tag it was sent with.
    pub tag: Tag,
}

/// Advice from the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// The answer to a Quick-Start request (RFC 4782): the rate that every router approved, or none.
    QuickStart {
        /// The approved rate.
        approved: Option<Rate>,
    },
    /// From a scheme built around another to the one inside: go on in slow start from this window. A scheme that
    /// grows no window from ACKs (one that measures with trains) takes no notice.
    Window {
        /// The window.
        window: Bytes,
        /// Where slow start ends; `None` where it would have.
        ssthresh: Option<Bytes>,
    },
    /// A ceiling on the rate.
    Ceiling {
        /// The ceiling.
        rate: Rate,
    },
}

/// What a scheme asks of its host.
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

/// What a scheme wants of its host from now on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// How many payload bytes may be in flight.
    pub window: Bytes,
    /// How packets leave.
    pub pacing: Pacing,
    /// The tag for packets sent under this plan.
    pub tag: Tag,
    /// A standing request to the host.
    pub ask: Option<Ask>,
    /// When to say [`Event::Woken`].
    pub wake: Option<Time>,
    /// The slow-start threshold, for the record.
    pub ssthresh: Option<Bytes>,
}

impl Plan {
    /// A plan that sends on the ACK clock within `window`.
    pub const fn ack_clocked(window: Bytes, ssthresh: Option<Bytes>) -> Self {
        Self { window, pacing: Pacing::AckClock, tag: Tag(0), ask: None, wake: None, ssthresh }
    }
}

/// How packets leave.
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
    /// `packets` packets, one every `gap` from start to start, the first at once; then hold. The train is
    /// named by the plan's tag: the same tag is the same train, and the host counts it down. Retransmissions
    /// wait behind it. The window must hold the whole train.
    Train {
        /// How many packets.
        packets: u32,
        /// From the start of one packet to the start of the next.
        gap: Span,
    },
    /// Send no new data.
    Hold,
}

/// A scheme's answer to an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Start-up goes on.
    Stay,
    /// Start-up is over.
    Done(Exit),
}

/// Leaving start-up: why, and with what numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// Why.
    pub cause: Cause,
    /// What was learned.
    pub learned: Learned,
}

impl Exit {
    /// Whether congestion ended the start-up, so that the law that takes over must reduce.
    pub fn is_congestion(&self) -> bool {
        matches!(self.cause, Cause::Loss | Cause::Mark | Cause::Timeout)
    }
}

/// Why a start-up ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The window reached the slow-start threshold.
    Threshold,
    /// The round-trip time rose.
    Delay,
    /// The ACK train became as long as the forward path.
    AckTrain,
    /// Conservative slow start ran its rounds (RFC 9406).
    CssEnd,
    /// The dispersion of packet trains gave the rate.
    Dispersion,
    /// The delivery rate stopped growing.
    RateFlat,
    /// A packet was lost.
    Loss,
    /// The retransmission timer fired.
    Timeout,
    /// A packet was marked (ECN).
    Mark,
    /// The network gave a rate.
    Advice,
    /// The ACK clock is back after an idle time, and the window is what it was: from a restart policy this gives
    /// control back to the start-up or law that the idle time interrupted. A policy that changed the window leaves
    /// by another cause.
    Resumed,
    /// The application had too little to send for the scheme to go on.
    App,
}

impl Cause {
    /// The name used in results and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Delay => "delay",
            Self::AckTrain => "ack-train",
            Self::CssEnd => "css-end",
            Self::Dispersion => "dispersion",
            Self::RateFlat => "rate-flat",
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Mark => "mark",
            Self::Advice => "advice",
            Self::Resumed => "resumed",
            Self::App => "app",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(packet: u64, bytes: u64) -> Delivered {
        Delivered {
            packet,
            bytes: Bytes::new(bytes),
            sent_at: Time::ZERO,
            tag: Tag::default(),
            delivered_at_send: Bytes::ZERO,
            limit: SendLimit::Window,
            retransmitted: false,
            selectively: false,
        }
    }

    fn whole_packets(packets: &[Delivered], bytes: u64) -> u64 {
        let ack = Ack {
            packets,
            bytes: Bytes::new(bytes),
            advanced: Bytes::new(bytes),
            sacked: Bytes::ZERO,
            segments: 1,
            duplicate: false,
            rtt: None,
            delivery_rate: None,
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        };
        ack.whole_packets()
    }

    #[test]
    fn packets_that_duplicates_told_of_are_not_counted_twice() {
        let three = [delivered(0, 1_000), delivered(1, 1_000), delivered(2, 400)];
        assert_eq!(whole_packets(&three, 2_400), 3);
        assert_eq!(whole_packets(&three, 400), 1);
        // The second half of a packet, and a part of the next.
        assert_eq!(whole_packets(&[delivered(0, 500)], 700), 1);
        assert_eq!(whole_packets(&[], 700), 0);
    }
}
