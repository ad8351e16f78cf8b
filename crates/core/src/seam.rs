//! The seam: what a host tells a scheme, and what a scheme answers.
//!
//! Two functions, one event enum, one plan value. A host calls [`Startup::on`] for every event and then
//! [`Startup::plan`]; the plan says how much may be in flight and how packets leave. Both are total, pure and
//! never fail: with the same events a scheme makes the same plans in every habitat.
//!
//! Times of events are [`Path::now`]: the exact arrival for ACKs, the exact departure for [`Event::Sent`].
//! Windows count payload bytes; rates and gaps count IP bytes ([`Path::wire`] for a full segment).
//!
//! # What a stream host says, and what a packet host says
//!
//! A stream host numbers bytes and sends a lost byte again under its number (TCP). A packet host numbers packets and sends
//! lost data again in a new packet (QUIC, RFC 9002). The offsets of a packet host count the payload bytes of all packets
//! in the order in which they left, those that carry lost data again included.
//!
//! | Value | A stream host | A packet host |
//! |---|---|---|
//! | [`Path::nxt`] | SND.NXT | payload bytes of all packets sent |
//! | [`Path::una`] | SND.UNA | where the newest acknowledged packet ends; `nxt` when nothing is in flight |
//! | [`Path::flight`] | SND.NXT - SND.UNA (RFC 5681 `FlightSize`) | `bytes_in_flight` (RFC 9002 appendix B.2); of [`Event::Lost`] and [`Event::Marked`] what it was before the ACK that told of it, for a law halves that |
//! | [`Path::pipe`] | RFC 6675 `pipe` | `bytes_in_flight` |
//! | [`Path::min_rtt`] | the least of the connection | the same, or since persistent congestion (RFC 9002 section 5.2) |
//! | [`Path::recovering`] | SND.UNA is below the recovery point (RFC 6675 section 5) | the newest acknowledged packet left before the last reduction (RFC 9002 section 7.3.2); not after persistent congestion |
//! | [`Path::rto`] | RFC 6298 | the probe timeout (RFC 9002 section 6.2.1) |
//! | [`Ack::advanced`] | bytes by which SND.UNA moved | as [`Ack::bytes`] |
//! | [`Ack::sacked`], [`Delivered::selectively`] | of the SACK blocks | nothing, and no |
//! | [`Ack::segments`] | segments below the new SND.UNA | ack-eliciting packets newly acknowledged |
//! | [`Ack::duplicate`] | RFC 5681 section 2, or RFC 6675 | no |
//! | [`Loss::sent_at`], [`Event::Marked`] | unknown: `recovering` tells what an episode answers | when the newest of the packets left; of a mark, the newest packet that the ACK acknowledged |
//! | [`Loss::persistent`] | no: it says [`Event::TimedOut`] | RFC 9002 section 7.6.2 |
//! | [`Event::TimedOut`] | at each retransmission timeout | never: a probe timeout is no congestion |
//! | [`Sent::packet`] | transmissions, counted from zero | packets that the controller was told of, counted from zero: packet numbers of QUIC may skip |
//! | [`Ack::packets`] | in order of sequence | in the order in which they left: the ranges of a QUIC ACK go the other way |
//! | [`Sent::retransmission`] | sent before under this number | no |
//! | a round trip ends | with the first ACK above what was SND.NXT at its begin | with the first ACK of a packet sent after its begin |
//! | idle | SND.UNA = SND.NXT, and nothing sent for longer than the RTO | nothing in flight, and nothing sent for longer than the PTO |
//!
//! A host that shakes hands under congestion control (QUIC) says [`Event::Established`] when the handshake is over, and counts
//! `una` and `nxt` from there. Data before that (QUIC's 0-RTT, TCP Fast Open) has no event yet. Until then the plan is [`Pacing::Hold`], which holds application data only:
//! what the handshake sends leaves within [`Plan::window`], the initial window, and is not told. [`Event::Established`] says
//! whether any of it was lost.

use crate::hears::Hears;
use crate::units::{Bytes, Rate, Span, Time};

/// A start-up or restart scheme: two functions.
///
/// ```
/// use firstflight::{Bytes, Cause, Event, Exit, Learned, Path, Plan, Startup, Step};
///
/// /// Keeps one window for ever, and leaves at a loss.
/// #[derive(Clone, Debug)]
/// struct Fixed(Bytes);
///
/// impl Startup for Fixed {
///     fn on(&mut self, event: &Event<'_>, _path: &Path) -> Step {
///         let learned = Learned { window: self.0, ..Learned::default() };
///         match event {
///             Event::Lost(_) => Step::Done(Exit { cause: Cause::Loss, learned }),
///             _ => Step::Stay,
///         }
///     }
///
///     fn plan(&self, _path: &Path) -> Plan {
///         Plan::ack_clocked(self.0, None)
///     }
/// }
/// ```
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
    /// First byte not cumulatively acknowledged (`SND.UNA`), as an offset in the stream; of a packet host see the
    /// [table](crate::seam#what-a-stream-host-says-and-what-a-packet-host-says).
    pub una: u64,
    /// Next new byte to send (`SND.NXT`), as an offset in the stream; of a packet host see the
    /// [table](crate::seam#what-a-stream-host-says-and-what-a-packet-host-says).
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

impl Path {
    /// A path of which nothing is known but the instant and the size of a full segment, `mss` bytes of payload in `wire` bytes
    /// of IP. Nothing was sent, and the receive window is no limit. The rest is to be overwritten:
    /// `Path { cwnd, nxt, ..Path::new(now, mss, wire) }`.
    pub const fn new(now: Time, mss: Bytes, wire: Bytes) -> Self {
        Self {
            now,
            mss,
            wire,
            cwnd: Bytes::ZERO,
            flight: Bytes::ZERO,
            pipe: Bytes::ZERO,
            srtt: None,
            latest_rtt: None,
            min_rtt: None,
            rwnd: Bytes::MAX,
            backlog: None,
            delivered: Bytes::ZERO,
            una: 0,
            nxt: 0,
            // RFC 6298 section 2.1.
            rto: Span::from_secs(1),
            limit: SendLimit::App,
            recovering: false,
            last_sent: None,
            last_received: None,
            wake: None,
        }
    }
}

impl Path {
    /// Keeps account of a packet with `bytes` of new data that left now. [`Event::Sent`] comes before.
    pub fn sent(&mut self, bytes: Bytes) {
        self.flight += bytes;
        self.pipe += bytes;
        self.nxt += bytes.get();
        self.last_sent = Some(self.now);
    }

    /// Keeps account of an ACK that arrived now, with its round-trip sample. [`Event::Acked`] comes after.
    pub fn acked(&mut self, ack: &Ack<'_>) {
        self.una += ack.advanced.get();
        self.flight -= ack.advanced;
        self.pipe -= ack.bytes;
        self.delivered += ack.bytes;
        self.last_received = Some(self.now);
        if let Some(sample) = ack.rtt {
            self.sampled(sample.rtt);
        }
    }

    /// Keeps account of a round-trip sample: the newest, the least, and the smoothed one of RFC 6298 section 2. The timeout is the
    /// host's.
    pub fn sampled(&mut self, rtt: Span) {
        self.latest_rtt = Some(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.srtt = Some(self.srtt.map_or(rtt, |srtt| srtt.scale(7, 8) + rtt.scale(1, 8)));
    }
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
    /// The peer echoed a congestion mark (ECN).
    Marked {
        /// When the newest packet left that the ACK with the mark acknowledged, if the host has packet numbers: a mark of a
        /// packet sent before the last reduction is answered by that (RFC 9002 section 7.3.2). Without it the host says a
        /// mark at most once per window of data.
        sent_at: Option<Time>,
    },
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
    /// The connection moved to another path. From here on its host tells of no acknowledgement, loss, mark or timeout of what left before.
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
    /// The packets that it newly acknowledges, cumulatively or selectively, in order of sequence; empty from a host that
    /// keeps no list.
    pub packets: &'a [Delivered],
    /// The newest packet that it acknowledges, from a host that keeps no list but knows that.
    pub newest: Option<&'a Delivered>,
    /// How many packets with data are now acknowledged whole, from a host that counts them; see [`Ack::whole_packets`].
    pub whole: Option<u32>,
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
    /// Whether slow start counts the bytes of this ACK (RFC 9002 section 7.3.1), and not the ACK as one (RFC 5681 section
    /// 3.1): the host's choice for a connection, see [`Ack::slow_start_growth`].
    pub counts_bytes: bool,
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

impl<'a> Ack<'a> {
    /// The acknowledgement of `packets`, each for the first time and whole. The rest is to be overwritten by a host that knows
    /// more: `Ack { rtt, ..Ack::new(&packets) }`.
    #[inline]
    pub fn new(packets: &'a [Delivered]) -> Self {
        let sum = |selectively| {
            let such = packets.iter().filter(|packet| packet.selectively == selectively);
            such.fold((0_u32, Bytes::ZERO), |(count, bytes), packet| (count + 1, bytes + packet.bytes))
        };
        let ((segments, advanced), (_, sacked)) = (sum(false), sum(true));
        let bytes = advanced + sacked;
        let duplicate = segments == 0 && !packets.is_empty();
        Self { packets, whole: None, bytes, advanced, sacked, segments, duplicate, ..Self::of(bytes, 0) }
    }

    /// The cumulative acknowledgement of `bytes` in `packets` whole packets, for a host that keeps no list of packets.
    pub const fn of(bytes: Bytes, packets: u32) -> Self {
        Self {
            packets: &[],
            newest: None,
            whole: Some(packets),
            bytes,
            advanced: bytes,
            sacked: Bytes::ZERO,
            segments: packets,
            duplicate: false,
            counts_bytes: false,
            rtt: None,
            delivery_rate: None,
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        }
    }

    /// Bytes by which slow start may widen its window at this ACK: [`Ack::growth`], and where ACKs are counted no more than a
    /// segment of `mss` (RFC 5681 section 3.1: `cwnd += min(N, SMSS)`).
    #[inline]
    pub fn slow_start_growth(&self, mss: Bytes) -> Bytes {
        if self.counts_bytes { self.growth } else { self.growth.min(mss) }
    }

    /// The newest packet acknowledged, of the list or as a host without lists says: the last in order of sequence.
    pub fn newest_packet(&self) -> Option<&Delivered> {
        self.packets.last().or(self.newest)
    }

    /// Packets with data that are now acknowledged whole, as Linux counts deliveries. A packet whose acknowledgement is
    /// divided counts once, with its last byte (RFC 3465 section 1 tells of receivers that divide). One that a
    /// duplicate ACK without SACK told of before, so that [`bytes`](Self::bytes) leaves it out, does not count again.
    pub fn whole_packets(&self) -> u64 {
        self.whole.map_or_else(|| self.listed_whole(), u64::from)
    }

    fn listed_whole(&self) -> u64 {
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
    /// When the newest of them left, if the host has packet numbers: losses of packets sent before the last reduction are
    /// answered by that, whenever they are found (RFC 9002 section 7.3.2). Without it an episode lasts as long as
    /// [`Path::recovering`].
    pub sent_at: Option<Time>,
    /// Whether this opens a loss episode. The [`crate::Controller`] fills this in.
    pub opens_episode: bool,
    /// Whether everything in flight was lost for longer than the persistence threshold (RFC 9002 section 7.6). The
    /// [`crate::Controller`] answers as to a timeout; hosts without that notion say no.
    pub persistent: bool,
}

impl<'a> Loss<'a> {
    /// The loss of `packets`, in the order in which they left. The rest is to be overwritten by a host that knows more:
    /// `Loss { persistent: true, ..Loss::new(&packets) }`.
    pub fn new(packets: &'a [LostPacket]) -> Self {
        let bytes = packets.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.bytes);
        let gaps = packets.windows(2).filter(|pair| pair[1].packet != pair[0].packet + 1).count();
        let ranges = usize::from(!packets.is_empty()) + gaps;
        Self { ranges: u32::try_from(ranges).unwrap_or(u32::MAX), packets, ..Self::of(bytes) }
    }

    /// The loss of `bytes` in one range, for a host that keeps no list of packets.
    pub const fn of(bytes: Bytes) -> Self {
        Self { packets: &[], bytes, ranges: 1, sent_at: None, opens_episode: false, persistent: false }
    }
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
    /// Send no new data. Before [`Event::Established`] a handshake under congestion control goes on within the window.
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

    #[test]
    fn slow_start_counts_an_ack_as_one_or_by_its_bytes() {
        let ack = Ack { growth: Bytes::new(2_920), ..Ack::of(Bytes::new(2_920), 2) };
        let mss = Bytes::new(1_460);
        assert_eq!(ack.slow_start_growth(mss), mss);
        assert_eq!(Ack { counts_bytes: true, ..ack }.slow_start_growth(mss), Bytes::new(2_920));
    }

    fn whole_packets(packets: &[Delivered], bytes: u64) -> u64 {
        Ack { bytes: Bytes::new(bytes), ..Ack::new(packets) }.whole_packets()
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
