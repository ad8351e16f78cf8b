//! What a host chooses for an endpoint.

use firstflight::Span;

/// How losses are found and repaired.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Recovery {
    /// SACK with RFC 6675's marking, RACK-TLP (RFC 8985) and PRR (RFC 9937).
    #[default]
    Rack,
    /// SACK exactly as RFC 6675: its pipe, its window at the threshold at once, RFC 5681's flight size.
    Sack,
    /// NewReno without SACK, impatient: the timer restarts on the first partial ACK only (RFC 6582).
    NewReno,
    /// NewReno without SACK, slow but steady: the timer restarts on every partial ACK (RFC 6582).
    NewRenoSteady,
    /// Reno: fast recovery ends with the first new ACK (RFC 5681 section 3.2).
    Reno,
    /// Reno with the fine-grained timeouts of Vegas (Brakmo and Peterson 1995, section 3.1): the first duplicate ACK,
    /// or one of the first two new ACKs after a retransmission, finds a segment lost that is older than they allow.
    Vegas,
    /// ns-2's `Sack1` agent, for comparison: pipe counted by ACKs, half of cwnd as the threshold.
    Ns2Sack1,
}

impl Recovery {
    /// Whether SACK blocks are used.
    pub const fn uses_sack(self) -> bool {
        matches!(self, Self::Rack | Self::Sack | Self::Ns2Sack1)
    }
}

/// Whose sender it is: the RFCs are silent, or leave a choice, where each implementation did something. `docs/stacks.md` lists
/// what differs, and `sender/dialect.rs` has each of it in one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stack {
    /// The RFCs', as they are written, but for RFC 6298's clock granularity: see [`RtoFloor::Timeout`].
    #[default]
    Rfc,
    /// Linux's, as the packetdrill scripts prove it.
    Linux,
}

impl Stack {
    /// The least retransmission timeout: a second (RFC 6298 section 2.4), or 200 ms (`TCP_RTO_MIN`).
    pub const fn min_rto(self) -> Span {
        match self {
            Self::Rfc => Span::from_secs(1),
            Self::Linux => Span::from_millis(200),
        }
    }

    /// What the least timeout bounds.
    pub const fn rto_floor(self) -> RtoFloor {
        match self {
            Self::Rfc => RtoFloor::Timeout,
            Self::Linux => RtoFloor::Variation,
        }
    }

    /// What may widen the window while the window is not the limit.
    pub const fn growth(self) -> Growth {
        match self {
            Self::Rfc => Growth::Validated,
            Self::Linux => Growth::Used,
        }
    }

    /// What slow start counts of an ACK.
    pub const fn slow_start_counts(self) -> SlowStartCounts {
        match self {
            Self::Rfc => SlowStartCounts::Acks,
            Self::Linux => SlowStartCounts::Bytes,
        }
    }
}

impl Growth {
    /// Whether the sender says by [`firstflight::Ack::advanced`] what may widen the window, having looked itself at whether the
    /// window was the limit: its controller is told so ([`firstflight::Controller::let_host_judge`]).
    pub const fn judges_growth(self) -> bool {
        !matches!(self, Self::Validated)
    }
}

/// What the least retransmission timeout bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RtoFloor {
    /// The timeout (RFC 6298 section 2.4), and up to Linux's 200 ms what it adds to the round trip, for which the RFC asks for the
    /// clock's granularity alone: on a steady path of 600 ms a least timeout of 200 ms makes one of 800 ms.
    Timeout,
    /// What the timeout adds to the smoothed round trip for its variation (Linux `tcp_rtt_estimator`, `tcp_rto_min`): the timeout
    /// is a round trip longer.
    Variation,
}

/// What an ACK may widen the window by while the window is not the limit: when the application has no more to send, or the peer
/// no more room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Growth {
    /// Nothing once the window leads what was in flight in two round trips (draft-ietf-ccwg-ratelimited-increase; RFC 7661
    /// section 4.3 states the need): the controller looks.
    Validated,
    /// Nothing unless the window was full in this round trip, or in slow start more than half full (Linux
    /// `tcp_is_cwnd_limited`, `tcp_cwnd_validate`): the sender looks.
    Used,
    /// What it acknowledges, as RFC 5681 has it and ns-2 does.
    Always,
    /// Nothing while more than three segments of the window are unused after the ACK, as in ns-2's Vegas (`cwnd_ - (t_seqno_ - last_ack_)
    /// <= 2`, where the difference counts the segment that is sent next): the sender looks.
    NearlyFull,
}

/// What limited transmit sends on the first two duplicate ACKs in a row, where losses are found without SACK, or as in ns-2.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LimitedTransmit {
    /// A segment never sent before (RFC 3042). While a timeout is repaired there is none: all that comes next was sent before.
    #[default]
    New,
    /// The next segment, as `TcpAgent::send_one` of ns-2. While a timeout is repaired that is the next one to be sent again, so that
    /// duplicates of what the receiver holds widen go-back-N.
    Next,
}

/// What slow start counts of an ACK, under the schemes that leave it to the host: `hystart-linux`, `suss` and `vegas` as in
/// Linux count what is acknowledged whoever the host is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlowStartCounts {
    /// The ACK: the window grows by a segment at most (RFC 5681 section 3.1).
    Acks,
    /// What the ACK acknowledges (RFC 9002 section 7.3.1; Linux `tcp_slow_start`): a round doubles under delayed ACKs, too.
    Bytes,
}

/// What limits the flight beside the congestion window and the window that the peer offers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InflightLimit {
    /// Nothing.
    #[default]
    None,
    /// The bandwidth that ACKs tell of times the round trip, plus two segments (FreeBSD 7, `net.inet.tcp.inflight`;
    /// `tcp_xmit_bandwidth_limit`).
    FreeBsd,
}

/// The party that paces a flow whose scheme asks for a pacing rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PacedBy {
    /// The sender: a segment leaves when its turn has come.
    #[default]
    Sender,
    /// The device behind the sender, as Linux's `fq` does: a segment leaves the sender as soon as the window admits it.
    Device,
}

/// What a host sets of how Linux cuts writes for segmentation offload: `sender/offload.rs` does it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offload {
    /// `tcp_min_tso_segs`: the least segments of a burst, windows allowing.
    pub min_segments: u16,
    /// `tcp_tso_win_divisor`: a burst waits for more than this part of the window.
    pub window_divisor: u16,
    /// Whether the send buffer grows with the window (`tcp_sndbuf_expand`, without `tcp_wmem`'s end to it), so that of a stream
    /// without end twice the window is taken in and no more. Else [`crate::Endpoint::set_send_limit`] alone bounds it.
    pub buffer_follows_window: bool,
}

impl Offload {
    /// Linux's defaults for an application that always has more to send.
    pub fn of_an_endless_buffer() -> Self {
        Self { buffer_follows_window: true, ..Self::default() }
    }
}

impl Default for Offload {
    fn default() -> Self {
        Self { min_segments: 2, window_divisor: 3, buffer_follows_window: false }
    }
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckPolicy {
    /// Every segment at once.
    Every,
    /// Once more than a full segment came, or after the delay (RFC 1122 section 4.2.3.2, RFC 5681 section 4.2).
    #[default]
    Delayed,
    /// Linux: quick ACKs at first, then delayed.
    Linux,
    /// FreeBSD 7: delayed, every second segment, 100 ms.
    FreeBsd,
    /// Windows XP: delayed by up to 200 ms, and SACK blocks suppressed past a limit of out-of-order ranges.
    WindowsXp,
}

/// What an endpoint is set up with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// Payload bytes of a full segment, timestamps not counted in: the IP packet is `mss + 40`, and 12 more
    /// with timestamps.
    pub mss: u16,
    /// Whether to offer SACK.
    pub sack: bool,
    /// Whether the receiver reports SACK blocks where SACK was agreed on. One that does not leaves a sender that counts on them with
    /// duplicate ACKs alone.
    pub sack_blocks: bool,
    /// Whether to offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether to negotiate and use ECN (RFC 3168).
    pub ecn: bool,
    /// Whether to offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Bytes of receive buffer, which bounds the window offered.
    pub receive_buffer: u64,
    /// Whether the application takes data as soon as it is in order; else it is taken by
    /// [`crate::Endpoint::read`].
    pub reads_at_once: bool,
    /// When to acknowledge.
    pub ack_policy: AckPolicy,
    /// The delayed-ACK timer, if not the policy's own.
    pub ack_delay: Option<Span>,
    /// How losses are repaired. Linux has but two of these ways: see [`Config::stack`].
    pub recovery: Recovery,
    /// The least retransmission timeout ([`Stack::min_rto`]); [`Config::rto_floor`] says what of the timeout it bounds.
    pub min_rto: Span,
    /// The initial sequence number.
    pub initial_sequence: u32,
    /// Whom the sender goes with where the RFCs and Linux differ. [`Stack::Linux`] is Linux's only with [`Recovery::Rack`] or
    /// [`Recovery::NewReno`], the two ways in which Linux repairs losses: other methods are no error, and repair as with
    /// [`Stack::Rfc`] under Linux's timers and order of steps.
    pub stack: Stack,
    /// Who paces what a scheme wants paced.
    pub pacing: PacedBy,
    /// What [`Config::min_rto`] bounds, if not what the stack has it bound.
    pub rto_floor: Option<RtoFloor>,
    /// What an ACK may widen the window by while the window is not the limit, if not as the stack has it.
    pub growth: Option<Growth>,
    /// What slow start counts of an ACK, if not what the stack has it count.
    pub slow_start_counts: Option<SlowStartCounts>,
    /// What limits the flight beside the windows.
    pub inflight_limit: InflightLimit,
    /// What the first two duplicate ACKs in a row send.
    pub limited_transmit: LimitedTransmit,
    /// The retransmission timeout before there is a round trip (RFC 6298 section 2.1 says one second): of a SYN, and of data if it
    /// is not below the least one. A SYN with a Quick-Start request waits for three seconds at least (RFC 4782 section 4.7.2).
    pub initial_rto: Span,
    /// Whether RACK is joined by tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Whether F-RTO (RFC 5682) looks at whether a timeout was spurious.
    pub frto: bool,
    /// Segments delivered above a hole that tell of its loss (RFC 5681 section 3.2: three; Linux `tcp_reordering`); heeded
    /// by [`Stack::Linux`].
    pub reordering: u32,
    /// How often a SYN or SYN-ACK is sent again before it is given up.
    pub syn_retries: u32,
    /// How many times more a SYN is sent, a second apart, before the wait doubles (Linux `tcp_syn_linear_timeouts`).
    pub linear_syns: u32,
    /// The window scale to offer; else the least with which the whole receive buffer can be offered.
    pub window_scale: Option<u8>,
    /// Whether what options take of a segment is taken out of its payload (RFC 6691), so that `mss` bounds payload
    /// and options together; else every segment carries `mss` bytes whatever its options.
    pub options_in_mss: bool,
    /// Whether what is written is cut and pushed as Linux does for segmentation offload; else each segment is for
    /// itself and PSH is never set.
    pub offload: Option<Offload>,
    /// What Quick-Start's nonces and TTLs are made of: whoever knows it can forge a response (RFC 4782
    /// section 9.4).
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
