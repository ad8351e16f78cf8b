//! What a reader of sockets in C tells, and what it is told: [`Facts`], [`Told`] and [`Kind`] have their twins in
//! `c/reader.h`.

use firstflight::{
    Ack, Bytes, Delivered, Exit, Learned, Loss, Pacing, Path, Plan, Rate, RttSample, SendLimit, Span, Step,
    Tag, Time,
};

/// No pacing, as Linux writes it in `sk_pacing_rate`.
pub const NO_PACING: u64 = u64::MAX;
/// No threshold, as Linux writes it in `snd_ssthresh`.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// No threshold in [`Told::threshold`].
pub const UNSET: u32 = u32::MAX;

macro_rules! twin {
    ($(#[$meta:meta])* $name:ident { $($(#[$of:meta])* $field:ident: $type:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$of])* pub $field: $type),+
        }

        impl $name {
            /// The value whose memory `bytes` is a copy of; `None` if it is too short.
            pub fn read(bytes: &[u8]) -> Option<Self> {
                let mut at = 0;
                $(
                    let end = at + size_of::<$type>();
                    let $field = $type::from_ne_bytes(bytes.get(at..end)?.try_into().ok()?);
                    at = end;
                )+
                (at == size_of::<Self>()).then_some(Self { $($field),+ })
            }
        }
    };
}

twin! {
    /// What the reader saw of a socket. Times are in microseconds of the kernel's clock of TCP, 0 where nothing is known.
    Facts {
        /// The instant of the event.
        now_us: u64,
        /// Bytes cumulatively acknowledged since the congestion control began.
        una: u64,
        /// When the newest packet left that was acknowledged.
        newest_sent_us: u64,
        /// Payload bytes of a full segment.
        mss: u32,
        /// IP bytes of a full segment.
        wire: u32,
        /// Window, in segments.
        cwnd: u32,
        /// Slow-start threshold, in segments.
        ssthresh: u32,
        /// Bytes sent and not cumulatively acknowledged, after this event.
        flight: u32,
        /// The same before this event.
        flight_before: u32,
        /// Packets in the network.
        pipe: u32,
        /// Packets delivered so far.
        delivered: u32,
        /// Smoothed round-trip time.
        srtt_us: u32,
        /// The sample of this ACK.
        rtt_us: u32,
        /// The newest sample.
        last_rtt_us: u32,
        /// The least sample of the kernel's window of it.
        min_rtt_us: u32,
        /// Retransmission timeout.
        rto_us: u32,
        /// Bytes by which the cumulative acknowledgement advanced.
        advanced: u32,
        /// Packets newly delivered.
        acked: u32,
        /// Packets newly found lost.
        lost: u32,
        /// Packets that had been delivered when the newest packet left.
        prior_delivered: u32,
        /// Packets of the sample of the delivery rate; 0 if there is none.
        rate_delivered: u32,
        /// The interval of that sample.
        rate_interval_us: u32,
        /// Receive window, in bytes.
        rwnd: u32,
        /// Bytes written and not yet sent.
        backlog: u32,
        /// What limits sending: 1 the application, 2 the receiver, 0 the window.
        limit: u32,
        /// Whether the application limited sending when the newest packet left.
        newest_starved: u32,
        /// Whether a loss is being repaired.
        recovering: u32,
        /// Bytes of new data that left since the last event.
        sent: u32,
        /// Packets sent again since the last event.
        resent: u32,
        /// How long nothing was sent, at [`Kind::Idle`].
        idle_us: u32,
        /// The window before the idle time, in segments.
        was_cwnd: u32,
        /// The threshold before the idle time, in segments.
        was_ssthresh: u32,
        /// Bytes that an earlier connection to this destination had acknowledged in a round trip; 0 for nothing.
        saved_bytes: u32,
        /// That connection's least round-trip time.
        saved_rtt_us: u32,
        /// Nothing: C has the same size.
        pad: u32,
    }
}

twin! {
    /// What the scheme wants. The plan behind it is there for the record, and is of an exit what was learned.
    Told {
        /// Payload bytes a second, as `sk_pacing_rate`.
        rate: u64,
        /// When to say [`Kind::Woken`], in nanoseconds; 0 for never.
        wake_ns: u64,
        /// The plan's rate in IP bits a second, or its gap in nanoseconds.
        pace: u64,
        /// Window, in segments.
        window: u32,
        /// Threshold, in segments; 0 where the scheme says nothing of it.
        ssthresh: u32,
        /// 0 while start-up goes on, else one more than the cause.
        over: u32,
        /// The plan's window in bytes.
        bytes: u32,
        /// The plan's threshold in bytes; [`UNSET`] if there is none.
        threshold: u32,
        /// How the plan paces: 0 by ACKs, 1 at a rate, 2 a train, 3 not at all.
        pacing: u32,
        /// The packets of the plan's train.
        packets: u32,
        /// The plan's tag.
        tag: u32,
    }
}

/// The kinds of events, as the reader counts them. Those of one ACK happen in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    /// The connection is established, or a socket took this congestion control.
    Began,
    /// New data left since the last event.
    Sent,
    /// Data was sent again since the last event.
    Resent,
    /// The wake-up is due.
    Woken,
    /// No data is left to send.
    Dry,
    /// An ACK.
    Acked,
    /// Losses, found with the last ACK.
    Lost,
    /// A congestion mark.
    Marked,
    /// The retransmission timer fired.
    TimedOut,
    /// Data to send after an idle time.
    Idle,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Began,
        Self::Sent,
        Self::Resent,
        Self::Woken,
        Self::Dry,
        Self::Acked,
        Self::Lost,
        Self::Marked,
        Self::TimedOut,
        Self::Idle,
    ];
}

/// A span of microseconds; `None` for 0.
#[inline(always)]
pub fn span(micros: u32) -> Option<Span> {
    (micros > 0).then(|| Span::from_micros(u64::from(micros)))
}

#[inline(always)]
fn time(micros: u64) -> Time {
    Time::from_nanos(micros * 1000)
}

impl Facts {
    /// Segments as bytes.
    #[inline(always)]
    pub fn bytes(&self, segments: u32) -> Bytes {
        Bytes::new(u64::from(segments) * u64::from(self.mss))
    }

    #[inline(always)]
    fn limit(&self) -> SendLimit {
        match self.limit {
            1 => SendLimit::App,
            2 => SendLimit::Receiver,
            _ => SendLimit::Window,
        }
    }

    /// The threshold before this event, if there is one.
    #[inline(always)]
    pub fn ssthresh(&self) -> Option<Bytes> {
        (self.ssthresh < NO_THRESHOLD).then(|| self.bytes(self.ssthresh))
    }

    /// The connection at the event.
    #[inline(always)]
    pub fn path(&self) -> Path {
        let (now, mss) = (time(self.now_us), Bytes::new(u64::from(self.mss)));
        Path {
            cwnd: self.bytes(self.cwnd),
            flight: Bytes::new(u64::from(self.flight)),
            pipe: self.bytes(self.pipe),
            srtt: span(self.srtt_us),
            latest_rtt: span(self.last_rtt_us),
            min_rtt: span(self.min_rtt_us),
            rwnd: Bytes::new(u64::from(self.rwnd)),
            backlog: Some(Bytes::new(u64::from(self.backlog))),
            delivered: self.bytes(self.delivered),
            una: self.una,
            nxt: self.una + u64::from(self.flight),
            rto: Span::from_micros(u64::from(self.rto_us)),
            limit: self.limit(),
            recovering: self.recovering != 0,
            last_received: Some(now),
            ..Path::new(now, mss, Bytes::new(u64::from(self.wire)))
        }
    }

    /// The connection when the data of [`Kind::Sent`] left: before this ACK, and without that data.
    #[inline(always)]
    pub fn path_at_departure(&self) -> Path {
        let path = self.path();
        let sent = Bytes::new(u64::from(self.sent));
        Path {
            una: self.una.wrapping_sub(u64::from(self.advanced)),
            nxt: path.nxt.wrapping_sub(u64::from(self.sent)),
            flight: Bytes::new(u64::from(self.flight_before)) - sent,
            pipe: path.pipe + self.bytes(self.acked) + self.bytes(self.lost) - sent,
            delivered: path.delivered - self.bytes(self.acked),
            ..path
        }
    }

    /// The newest packet acknowledged, with its tag.
    #[inline(always)]
    pub fn newest(&self, tag: Tag) -> Delivered {
        Delivered {
            packet: 0,
            bytes: Bytes::new(u64::from(self.mss)),
            sent_at: time(self.newest_sent_us),
            tag,
            delivered_at_send: self.bytes(self.prior_delivered),
            limit: if self.newest_starved != 0 { SendLimit::App } else { SendLimit::Window },
            retransmitted: false,
            selectively: self.advanced == 0,
        }
    }

    /// The acknowledgement. Linux counts packets, so selective acknowledgements are whole packets.
    #[inline(always)]
    pub fn ack<'a>(&self, newest: Option<&'a Delivered>) -> Ack<'a> {
        let advanced = Bytes::new(u64::from(self.advanced));
        let delivered = self.bytes(self.acked);
        let segments = (self.advanced + self.mss - 1).checked_div(self.mss).unwrap_or(0);
        let sacked = if self.acked > segments { delivered - advanced } else { Bytes::ZERO };
        let interval = span(self.rate_interval_us);
        let sampled = Bytes::new(u64::from(self.rate_delivered) * u64::from(self.wire));
        Ack {
            newest,
            bytes: advanced + sacked,
            advanced,
            sacked,
            segments,
            duplicate: self.advanced == 0,
            counts_bytes: true,
            rtt: span(self.rtt_us).map(|rtt| RttSample { rtt, handshake: false }),
            delivery_rate: interval.and_then(|interval| sampled.per(interval)),
            ..Ack::of(advanced, self.acked)
        }
    }

    /// The losses found with this ACK.
    #[inline(always)]
    pub fn loss(&self) -> Loss<'static> {
        Loss { opens_episode: self.recovering == 0, ..Loss::of(self.bytes(self.lost)) }
    }

    /// What an earlier connection to this destination saved.
    #[inline(always)]
    pub fn saved(&self) -> Option<(Bytes, Span)> {
        Some((Bytes::new(u64::from(self.saved_bytes)), span(self.saved_rtt_us)?))
    }

    /// How long nothing was sent.
    #[inline(always)]
    pub fn idle(&self) -> Span {
        Span::from_micros(u64::from(self.idle_us))
    }

    /// What the connection knew before the idle time.
    #[inline(always)]
    pub fn was(&self) -> Learned {
        let ssthresh = (self.was_ssthresh < NO_THRESHOLD).then(|| self.bytes(self.was_ssthresh));
        Learned { window: self.bytes(self.was_cwnd), ssthresh, rate: None }
    }

    #[inline(always)]
    fn segments(&self, bytes: Bytes) -> u32 {
        u32::try_from(bytes.packets(Bytes::new(u64::from(self.mss)))).unwrap_or(u32::MAX).max(1)
    }

    /// A rate of IP bits as one of payload bytes, which Linux counts against the rate. The least is one byte a second, for Linux takes
    /// zero for no pacing.
    #[inline(always)]
    fn payload_rate(&self, rate: Rate) -> u64 {
        let (bytes, wire, mss) = (rate.bps() / 8, u64::from(self.wire.max(1)), u64::from(self.mss));
        // The product of all bytes and the payload may not fit 64 bits.
        (bytes / wire * mss + bytes % wire * mss / wire).max(1)
    }

    /// What a plan is for a kernel. `left` packets of the plan's train have not left yet.
    #[inline(always)]
    pub fn told(&self, plan: &Plan, left: u32) -> Told {
        let train = self.pipe.saturating_add(left);
        let (pacing, rate, pace, packets, window) = match plan.pacing {
            Pacing::AckClock => (0, NO_PACING, 0, 0, self.segments(plan.window)),
            Pacing::Rate { rate, .. } => {
                (1, self.payload_rate(rate), rate.bps(), 0, self.segments(plan.window))
            }
            // What is in flight, and what has not left yet.
            Pacing::Train { packets, gap } => {
                let rate = (u64::from(self.mss) * 1_000_000_000).checked_div(gap.nanos());
                (2, rate.unwrap_or(NO_PACING), gap.nanos(), packets, train.max(1))
            }
            Pacing::Hold => (3, NO_PACING, 0, 0, self.pipe.max(1)),
        };
        Told {
            rate,
            wake_ns: plan.wake.map_or(0, Time::nanos),
            pace,
            window,
            ssthresh: plan.ssthresh.map_or(0, |bytes| self.segments(bytes)),
            over: 0,
            bytes: short(plan.window),
            threshold: plan.ssthresh.map_or(UNSET, short),
            pacing,
            packets,
            tag: u32::from(plan.tag.0),
        }
    }

    /// What an exit is for a kernel.
    #[inline(always)]
    pub fn left(&self, exit: &Exit) -> Told {
        let Learned { window, ssthresh, rate } = exit.learned;
        Told {
            rate: rate.map_or(NO_PACING, |rate| self.payload_rate(rate)),
            wake_ns: 0,
            pace: rate.map_or(0, Rate::bps),
            window: self.segments(window),
            ssthresh: ssthresh.map_or(0, |bytes| self.segments(bytes)),
            over: 1 + exit.cause as u32,
            bytes: short(window),
            threshold: ssthresh.map_or(UNSET, short),
            pacing: 0,
            packets: 0,
            tag: 0,
        }
    }
}

#[inline(always)]
fn short(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}

impl Told {
    /// Takes a step in: an exit, or that the answer is still to come. Returns whether it is.
    #[inline(always)]
    pub fn step(&mut self, step: Step, facts: &Facts) -> bool {
        match step {
            Step::Done(exit) => *self = facts.left(&exit),
            Step::Stay => self.over = 0,
        }
        self.over == 0
    }
}

// Tested as a part of `kernel/parity`: the crate of BPF programs has no tests.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_of_ip_bits_is_the_share_of_payload_in_bytes_and_never_nothing() {
        let facts = Facts { mss: 1448, wire: 1500, ..Facts::default() };
        let payload = |bps| facts.payload_rate(Rate::from_bps(bps));
        assert_eq!(payload(1_000_000), 120_666);
        assert_eq!(payload(8_000), 965);
        assert_eq!(payload(1), 1);
        assert_eq!(u128::from(payload(u64::MAX)), u128::from(u64::MAX / 8) * 1448 / 1500);
    }
}
