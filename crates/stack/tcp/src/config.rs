//! The settings of an endpoint.

use firstflight::Span;

/// The method of loss detection and loss repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// SACK with the loss marking of RFC 6675, RACK-TLP (RFC 8985) and PRR (RFC 9937).
    #[default]
    Rack,
    /// SACK exactly as in RFC 6675: with its pipe, a window that is set to the threshold at once, and the flight size of RFC 5681.
    Sack,
    /// NewReno without SACK, in the impatient variant: only the first partial ACK restarts the timer (RFC 6582).
    NewReno,
    /// NewReno without SACK, in the slow-but-steady variant: every partial ACK restarts the timer (RFC 6582).
    NewRenoSteady,
    /// Reno: fast recovery ends with the first new ACK (RFC 5681 section 3.2).
    Reno,
    /// Reno with the fine-grained timeouts of Vegas (Brakmo and Peterson 1995, section 3.1). The first duplicate ACK, and each of the first
    /// two new ACKs after a retransmission, check the first unacknowledged segment. If it is older than this timeout, it is lost.
    Vegas,
    /// The `Sack1` agent of ns-2, for comparison: its pipe counts ACKs, and its threshold is half of cwnd.
    Ns2Sack1,
}

impl Recovery {
    /// Checks whether SACK blocks are used.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Rack | Self::Sack | Self::Ns2Sack1)
    }
}

/// The TCP stack whose sender is modelled. Stacks differ where the RFCs say nothing or leave a choice. `docs/reference/stacks.md` lists the
/// differences, and `sender/dialect.rs` implements each in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stack {
    /// The RFCs as written, except for the clock granularity of RFC 6298: see [`RtoFloor::Timeout`].
    #[default]
    Rfc,
    /// Linux, as the packetdrill scripts test it.
    Linux,
}

impl Stack {
    /// Returns the stack's minimum RTO: a second (RFC 6298 section 2.4), or 200 ms (`TCP_RTO_MIN`).
    pub const fn min_rto(self) -> Span {
        match self {
            Self::Rfc => Span::from_secs(1),
            Self::Linux => Span::from_millis(200),
        }
    }

    /// Returns which part of the RTO the minimum bounds.
    pub const fn rto_floor(self) -> RtoFloor {
        match self {
            Self::Rfc => RtoFloor::Timeout,
            Self::Linux => RtoFloor::Variation,
        }
    }

    /// Returns the stack's rule for the growth of the window while the window is not the limit.
    pub const fn growth(self) -> Growth {
        match self {
            Self::Rfc => Growth::Validated,
            Self::Linux => Growth::Used,
        }
    }

    /// Returns the quantity of an ACK that the stack's slow start uses.
    pub const fn slow_start_counts(self) -> SlowStartCounts {
        match self {
            Self::Rfc => SlowStartCounts::Acks,
            Self::Linux => SlowStartCounts::Bytes,
        }
    }
}

impl Growth {
    /// Checks whether the sender decides if the window was the limit, in place of the controller. The sender then reports in
    /// [`firstflight::Ack::advanced`] the bytes by which the window may grow ([`firstflight::Controller::host_limits_growth`]).
    pub const fn judges_growth(self) -> bool {
        !matches!(self, Self::Validated)
    }
}

/// The part of the RTO that the minimum RTO bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RtoFloor {
    /// The whole RTO (RFC 6298 section 2.4). The term that the RTO adds to the smoothed RTT is also bounded, by the minimum RTO but at most
    /// Linux's 200 ms; the RFC bounds it only by the clock's granularity. For example, on a steady path of 600 ms a minimum RTO of 200 ms
    /// gives an RTO of 800 ms.
    Timeout,
    /// Only the term that the RTO adds to the smoothed RTT for its variation (Linux `tcp_rtt_estimator`, `tcp_rto_min`). The RTO is the
    /// smoothed RTT plus at least the minimum.
    Variation,
    /// The whole RTO, as in ns-2. The term that the RTO adds to the smoothed RTT is at least three ticks of ns-2's clock, 30 ms: its
    /// variation is kept in whole quarters of a tick, and falls no lower than three of them. On a steady path of 160 ms a minimum RTO of
    /// 200 ms gives an RTO of 200 ms, where [`RtoFloor::Timeout`] gives 360 ms.
    Ns2,
}

/// The rule for the growth of the window by an ACK while the window is not the limit, because the application has no more to send or the
/// peer's window has no more room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// No growth once the window exceeds twice the data that was in flight within two RTTs (draft-ietf-ccwg-ratelimited-increase; RFC 7661
    /// section 4.3 gives the reason). The controller checks this.
    Validated,
    /// No growth unless the window was full in this RTT or, in slow start, more than half full (Linux `tcp_is_cwnd_limited`,
    /// `tcp_cwnd_validate`). The sender checks this.
    Used,
    /// Growth by the bytes that the ACK acknowledges, as in RFC 5681 and ns-2.
    Always,
    /// As [`Growth::Always`], and a loss halves the congestion window, not the flight, as in `TcpAgent::slowdown` of ns-2. At the end of
    /// what an application wrote the flight is less than the window, so that the flight's half is the lower one.
    AlwaysHalved,
    /// No growth while more than three segments of the window are unused after the ACK, as in Vegas of ns-2 (`cwnd_ - (t_seqno_ -
    /// last_ack_) <= 2`, where the difference includes the segment that is sent next). The sender checks this.
    NearlyFull,
}

/// The segment that limited transmit sends on each of the first two consecutive duplicate ACKs. It is used if losses are detected without
/// SACK, or with the method of ns-2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LimitedTransmit {
    /// New data (limited transmit, RFC 3042). After an RTO nothing is sent, because all data above SND.UNA is then to be retransmitted.
    #[default]
    New,
    /// The next segment, as `TcpAgent::send_one` of ns-2 sends it. While a timeout is repaired, this is the next retransmission. Duplicate
    /// ACKs for data that the receiver has then lead to more go-back-N retransmissions.
    Next,
}

/// The quantity of an ACK that slow start uses. It applies to the schemes that leave the choice to the host. `hystart-linux`, `suss` and
/// `vegas` use acknowledged bytes on any host, as in Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowStartCounts {
    /// The ACK itself: the window grows by at most one segment (RFC 5681 section 3.1).
    Acks,
    /// The acknowledged bytes (RFC 9002 section 7.3.1; Linux `tcp_slow_start`). Even with delayed ACKs, the window doubles in each round.
    Bytes,
}

/// A limit for the bytes in flight, in addition to the congestion window and the peer's window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InflightLimit {
    /// No additional limit.
    #[default]
    None,
    /// The bandwidth measured from ACKs times the RTT, plus two segments (FreeBSD 7, `net.inet.tcp.inflight`; `tcp_xmit_bandwidth_limit`).
    FreeBsd,
}

/// Which part of the host paces a flow if its scheme requests a pacing rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PacedBy {
    /// The sender. A segment is sent when the pacer allows it.
    #[default]
    Sender,
    /// The device after the sender, as Linux's `fq`. The sender passes a segment on as soon as the window allows it.
    Device,
}

/// Settings of Linux's segmentation offload, which divides written data into bursts of segments. `sender/offload.rs` implements it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload {
    /// `tcp_min_tso_segs`: the minimum number of segments of a burst, if the windows allow it.
    pub min_segments: u16,
    /// `tcp_tso_win_divisor`: a burst is sent without waiting for more data once it has the window divided by this number.
    pub window_divisor: u16,
    /// Whether the send buffer grows with the window (`tcp_sndbuf_expand`, without the limit of `tcp_wmem`). If so, a stream without end
    /// fills it with at most twice the window. If not, only [`crate::LinuxSocket::set_send_limit`] limits it.
    pub buffer_follows_window: bool,
}

impl Offload {
    /// Returns Linux's defaults, for an application that always has more to send.
    pub fn of_an_endless_buffer() -> Self {
        Self { buffer_follows_window: true, ..Self::default() }
    }
}

impl Default for Offload {
    fn default() -> Self {
        Self { min_segments: 2, window_divisor: 3, buffer_follows_window: false }
    }
}

/// When a receiver sends an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckPolicy {
    /// At once for every segment.
    Every,
    /// After more than one full segment, or after the delay (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).
    #[default]
    Delayed,
    /// As in Linux: quick ACKs at first, then delayed ACKs.
    Linux,
    /// As in FreeBSD 7: for every second segment, or after a delay of 100 ms.
    FreeBsd,
    /// As in Windows XP: delayed by up to 200 ms, and without SACK blocks if there are more than a limited number of out-of-order ranges.
    WindowsXp,
    /// For every this many full segments, at least one, or after a delay of 25 ms, the default `max_ack_delay` of QUIC (RFC 9000 section
    /// 18.2). More than two are fewer ACKs than RFC 5681 section 4.2 allows, as with QUIC's extension for the frequency of ACKs.
    Packets(u16),
}

/// Settings of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Payload bytes of a full segment without timestamps. Its IP packet has `mss + 40` bytes. Timestamps take 12 more bytes.
    pub mss: u16,
    /// Whether to offer SACK.
    pub sack: bool,
    /// Whether the receiver reports SACK blocks if both sides agreed on SACK. If it does not, a sender that relies on them has only
    /// duplicate ACKs.
    pub sack_blocks: bool,
    /// Whether to offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether to negotiate and use ECN (RFC 3168).
    pub ecn: bool,
    /// Whether to offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Size of the receive buffer in bytes. It limits the window that is offered.
    pub receive_buffer: u64,
    /// Whether the application reads data as soon as it is in order. If not, the host calls [`crate::Endpoint::read`].
    pub reads_at_once: bool,
    /// When to acknowledge.
    pub ack_policy: AckPolicy,
    /// The delay of a delayed ACK, if it differs from the policy's.
    pub ack_delay: Option<Span>,
    /// The method of loss repair. Linux has only two of these: see [`Config::stack`].
    pub recovery: Recovery,
    /// The minimum RTO ([`Stack::min_rto`]). [`Config::rto_floor`] says which part of the RTO it bounds.
    pub min_rto: Span,
    /// The initial sequence number.
    pub initial_sequence: u32,
    /// The stack that the sender follows where Linux differs from the RFCs. [`Stack::Linux`] models Linux only with [`Recovery::Rack`] or
    /// [`Recovery::NewReno`], the two methods that Linux has. Other methods are accepted. They repair losses as with [`Stack::Rfc`], but
    /// with Linux's timers and order of steps.
    pub stack: Stack,
    /// Which part of the host paces if the scheme requests a pacing rate.
    pub pacing: PacedBy,
    /// The part of the RTO that [`Config::min_rto`] bounds. `None` for the stack's rule.
    pub rto_floor: Option<RtoFloor>,
    /// The rule for the growth of the window while the window is not the limit. `None` for the stack's rule.
    pub growth: Option<Growth>,
    /// The quantity of an ACK that slow start uses. `None` for the stack's rule.
    pub slow_start_counts: Option<SlowStartCounts>,
    /// A limit for the bytes in flight, in addition to the windows.
    pub inflight_limit: InflightLimit,
    /// The segment that each of the first two consecutive duplicate ACKs sends.
    pub limited_transmit: LimitedTransmit,
    /// The RTO before the first RTT sample (RFC 6298 section 2.1: one second). It applies to a SYN and, if it is not below the minimum RTO,
    /// to data. A SYN with a Quick-Start request waits for at least three seconds (RFC 4782 section 4.7.2).
    pub initial_rto: Span,
    /// Whether RACK sends tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Whether F-RTO (RFC 5682) checks if a timeout was spurious.
    pub frto: bool,
    /// Number of segments that must be delivered above a hole to show its loss (RFC 5681 section 3.2: three; Linux `tcp_reordering`). Used
    /// only with [`Stack::Linux`].
    pub reordering: u32,
    /// Maximum number of retransmissions of a SYN or SYN-ACK before the endpoint gives up.
    pub syn_retries: u32,
    /// Number of SYN retransmissions at equal intervals before the intervals double (Linux `tcp_syn_linear_timeouts`).
    pub linear_syns: u32,
    /// The window scale to offer. `None` for the smallest with which the whole receive buffer can be offered.
    pub window_scale: Option<u8>,
    /// Whether the options of a segment reduce its payload (RFC 6691), so that `mss` bounds payload and options together. If not, every
    /// full segment has `mss` bytes of payload whatever its options.
    pub options_in_mss: bool,
    /// Settings of segmentation offload as in Linux, which divides writes into bursts and sets PSH. If `None`, segments are independent and
    /// PSH is never set.
    pub offload: Option<Offload>,
    /// A secret from which the nonces and TTLs of Quick-Start are derived. An attacker who knows it can forge a response (RFC 4782 section
    /// 9.4).
    pub secret: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1460,
            sack: true,
            sack_blocks: true,
            timestamps: false,
            ecn: false,
            window_scaling: true,
            receive_buffer: 1 << 30,
            reads_at_once: true,
            ack_policy: AckPolicy::Delayed,
            ack_delay: None,
            recovery: Recovery::Rack,
            min_rto: Stack::Rfc.min_rto(),
            initial_sequence: 0,
            stack: Stack::Rfc,
            pacing: PacedBy::Sender,
            rto_floor: None,
            growth: None,
            slow_start_counts: None,
            inflight_limit: InflightLimit::None,
            limited_transmit: LimitedTransmit::New,
            initial_rto: Span::from_secs(1),
            tail_loss_probe: true,
            frto: true,
            reordering: 3,
            syn_retries: 6,
            linear_syns: 0,
            window_scale: None,
            options_in_mss: false,
            offload: None,
            secret: 0,
        }
    }
}
