//! The data exchanged with a reader of sockets in C. [`Facts`], [`Decision`] and [`Kind`] have their twins in `c/reader.h`.

use firstflight::schemes::SavedPath;
use firstflight::{
    Ack, Bytes, Delivered, Exit, Loss, Pacing, Path, PathEstimate, Plan, Rate, RttSample, SendLimit, Span,
    Step, Tag, Time,
};

/// No pacing, as Linux writes it in `sk_pacing_rate`.
pub const NO_PACING: u64 = u64::MAX;
/// No threshold, as Linux writes it in `snd_ssthresh`.
pub const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// No threshold in [`Decision::threshold`].
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
            /// Returns the value whose memory `bytes` is a copy of; `None` if `bytes` is too short.
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
    /// The state of a socket as the reader saw it. Times are in microseconds of the kernel's TCP clock, 0 if unknown.
    Facts {
        /// The instant of the event.
        now_us: u64,
        /// Bytes cumulatively acknowledged since the congestion control began.
        una: u64,
        /// Transmission time of the newest acknowledged packet.
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
        /// Bytes in flight before this event.
        flight_before: u32,
        /// Packets in the network.
        pipe: u32,
        /// Packets delivered so far.
        delivered: u32,
        /// Smoothed round-trip time.
        srtt_us: u32,
        /// The round-trip sample of this ACK.
        rtt_us: u32,
        /// The newest round-trip sample.
        last_rtt_us: u32,
        /// The minimum RTT in the kernel's window.
        min_rtt_us: u32,
        /// Retransmission timeout.
        rto_us: u32,
        /// Bytes by which the cumulative acknowledgement advanced.
        advanced: u32,
        /// Packets newly delivered.
        acked: u32,
        /// Packets newly found lost.
        lost: u32,
        /// Packets that had been delivered when the newest packet was sent.
        prior_delivered: u32,
        /// Packets of the sample of the delivery rate; 0 if there is none.
        rate_delivered: u32,
        /// The interval over which `rate_delivered` packets were delivered.
        rate_interval_us: u32,
        /// Receive window, in bytes.
        rwnd: u32,
        /// Bytes written and not yet sent.
        backlog: u32,
        /// Limit on sending: 1 the application, 2 the receiver, 0 the window.
        limit: u32,
        /// Whether the application limited sending when the newest packet was sent.
        newest_starved: u32,
        /// Whether a loss is being repaired.
        recovering: u32,
        /// Bytes of new data sent since the last event.
        sent: u32,
        /// Packets retransmitted since the last event.
        resent: u32,
        /// Time without a transmission, at [`Kind::Idle`].
        idle_us: u32,
        /// The window before the idle time, in segments.
        was_cwnd: u32,
        /// The threshold before the idle time, in segments.
        was_ssthresh: u32,
        /// Bytes that an earlier connection to this destination had acknowledged in one RTT; 0 for none.
        saved_bytes: u32,
        /// Minimum RTT of the earlier connection.
        saved_rtt_us: u32,
        /// Padding, because the C structure has the same size. It has no meaning.
        pad: u32,
    }
}

twin! {
    /// The answer of the scheme. `pace` and the fields from `bytes` on are for the record: they show the plan or, after an exit, what was
    /// learned.
    Decision {
        /// The pacing rate in payload bytes a second, as in `sk_pacing_rate`.
        rate: u64,
        /// Time at which to report [`Kind::Woken`], in nanoseconds; 0 for never.
        wake_ns: u64,
        /// The plan's rate in IP bits a second, or its gap in nanoseconds.
        pace: u64,
        /// Window, in segments.
        window: u32,
        /// Threshold, in segments; 0 if the scheme sets none.
        ssthresh: u32,
        /// 0 while start-up continues, otherwise the number of the exit's cause plus one.
        over: u32,
        /// The plan's window in bytes.
        bytes: u32,
        /// The plan's threshold in bytes; [`UNSET`] if there is none.
        threshold: u32,
        /// Pacing of the plan: 0 by ACKs, 1 at a rate, 2 a train, 3 hold.
        pacing: u32,
        /// The packets of the plan's train.
        packets: u32,
        /// The plan's tag.
        tag: u32,
    }
}

/// The kinds of events, as the reader counts them. The events of one ACK happen in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Kind {
    /// The connection is established, or a socket started to use this congestion control.
    Began,
    /// New data was sent since the last event.
    Sent,
    /// Data was retransmitted since the last event.
    Resent,
    /// The wake-up is due.
    Woken,
    /// No data is left to send.
    Dry,
    /// An ACK arrived.
    Acked,
    /// Losses were found with the last ACK.
    Lost,
    /// A congestion mark arrived.
    Marked,
    /// The retransmission timer fired.
    TimedOut,
    /// There is data to send after an idle time.
    Idle,
}

impl Kind {
    /// All kinds, in the order of their numbers.
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

/// Returns a span of microseconds; `None` for 0.
#[inline(always)]
pub fn span(micros: u32) -> Option<Span> {
    (micros > 0).then(|| Span::from_micros(u64::from(micros)))
}

#[inline(always)]
fn time(micros: u64) -> Time {
    Time::from_nanos(micros * 1000)
}

impl Facts {
    /// Returns the bytes of `segments` full segments.
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

    /// Returns the threshold before this event; `None` if there is none.
    #[inline(always)]
    pub fn ssthresh(&self) -> Option<Bytes> {
        (self.ssthresh < NO_THRESHOLD).then(|| self.bytes(self.ssthresh))
    }

    /// Returns the connection at the event.
    #[inline(always)]
    pub fn path(&self) -> Path {
        let (now, mss) = (time(self.now_us), Bytes::new(u64::from(self.mss)));
        let mut path = Path::new(now, mss, Bytes::new(u64::from(self.wire)));
        path.cwnd = self.bytes(self.cwnd);
        path.flight = Bytes::new(u64::from(self.flight));
        path.pipe = self.bytes(self.pipe);
        path.srtt = span(self.srtt_us);
        path.latest_rtt = span(self.last_rtt_us);
        path.min_rtt = span(self.min_rtt_us);
        path.rwnd = Bytes::new(u64::from(self.rwnd));
        path.backlog = Some(Bytes::new(u64::from(self.backlog)));
        path.delivered = self.bytes(self.delivered);
        path.una = self.una;
        path.nxt = self.una + u64::from(self.flight);
        path.rto = Span::from_micros(u64::from(self.rto_us));
        path.limit = self.limit();
        path.recovering = self.recovering != 0;
        path.last_received = Some(now);
        path
    }

    /// Returns the connection when the data of [`Kind::Sent`] was sent: before this ACK, and without that data.
    #[inline(always)]
    pub fn path_at_departure(&self) -> Path {
        let mut path = self.path();
        let sent = Bytes::new(u64::from(self.sent));
        path.una = self.una.wrapping_sub(u64::from(self.advanced));
        path.nxt = path.nxt.wrapping_sub(u64::from(self.sent));
        path.flight = Bytes::new(u64::from(self.flight_before)) - sent;
        path.pipe = path.pipe + self.bytes(self.acked) + self.bytes(self.lost) - sent;
        path.delivered -= self.bytes(self.acked);
        path
    }

    /// Returns the newest packet acknowledged, with its tag.
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

    /// Returns the acknowledgement. Linux counts packets, so selective acknowledgements are whole packets.
    #[inline(always)]
    pub fn ack<'a>(&self, newest: Option<&'a Delivered>) -> Ack<'a> {
        let advanced = Bytes::new(u64::from(self.advanced));
        let delivered = self.bytes(self.acked);
        let segments = (self.advanced + self.mss - 1).checked_div(self.mss).unwrap_or(0);
        let sacked = if self.acked > segments { delivered - advanced } else { Bytes::ZERO };
        let interval = span(self.rate_interval_us);
        let sampled = Bytes::new(u64::from(self.rate_delivered) * u64::from(self.wire));
        let mut ack = Ack::unlisted(advanced, self.acked, true);
        ack.newest = newest;
        ack.bytes = advanced + sacked;
        ack.advanced = advanced;
        ack.sacked = sacked;
        ack.segments = segments;
        ack.duplicate = self.advanced == 0;
        ack.rtt = span(self.rtt_us).map(|rtt| RttSample { rtt, handshake: false });
        ack.delivery_rate = interval.and_then(|interval| sampled.per(interval));
        ack
    }

    /// Returns the losses found with this ACK.
    #[inline(always)]
    pub fn loss(&self) -> Loss<'static> {
        let mut loss = Loss::of(self.bytes(self.lost));
        loss.opens_episode = self.recovering == 0;
        loss
    }

    /// Returns the window and RTT that an earlier connection to this destination saved; `None` if there are none.
    #[inline(always)]
    pub fn saved(&self) -> Option<SavedPath> {
        let window = Bytes::new(u64::from(self.saved_bytes));
        Some(SavedPath { window, rtt: span(self.saved_rtt_us)? })
    }

    /// Returns the time without a transmission.
    #[inline(always)]
    pub fn idle(&self) -> Span {
        Span::from_micros(u64::from(self.idle_us))
    }

    /// Returns the state of the connection before the idle time.
    #[inline(always)]
    pub fn was(&self) -> PathEstimate {
        let ssthresh = (self.was_ssthresh < NO_THRESHOLD).then(|| self.bytes(self.was_ssthresh));
        PathEstimate { window: self.bytes(self.was_cwnd), ssthresh, rate: None }
    }

    #[inline(always)]
    fn segments(&self, bytes: Bytes) -> u32 {
        u32::try_from(bytes.packets(Bytes::new(u64::from(self.mss)))).unwrap_or(u32::MAX).max(1)
    }

    /// Converts a rate of IP bits to a rate of payload bytes, because Linux counts payload bytes against the rate. The minimum is one byte
    /// per second, because Linux treats zero as no pacing.
    #[inline(always)]
    fn payload_rate(&self, rate: Rate) -> u64 {
        let (bytes, wire, mss) = (rate.bps() / 8, u64::from(self.wire.max(1)), u64::from(self.mss));
        // The product of all bytes and the payload may not fit 64 bits.
        (bytes / wire * mss + bytes % wire * mss / wire).max(1)
    }

    /// Converts a plan for the kernel. `left` packets of the plan's train are not yet sent.
    #[inline(always)]
    pub fn decision(&self, plan: &Plan, left: u32) -> Decision {
        let train = self.pipe.saturating_add(left);
        let (pacing, rate, pace, packets, window) = match plan.pacing {
            Pacing::AckClock => (0, NO_PACING, 0, 0, self.segments(plan.window)),
            Pacing::Rate { rate, .. } => {
                (1, self.payload_rate(rate), rate.bps(), 0, self.segments(plan.window))
            }
            // The window holds the packets in flight, and those of the train not yet sent.
            Pacing::Train { packets, gap } => {
                let rate = (u64::from(self.mss) * 1_000_000_000).checked_div(gap.nanos());
                (2, rate.unwrap_or(NO_PACING), gap.nanos(), packets, train.max(1))
            }
            Pacing::Hold => (3, NO_PACING, 0, 0, self.pipe.max(1)),
        };
        Decision {
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

    /// Converts an exit for the kernel.
    #[inline(always)]
    pub fn left(&self, exit: &Exit) -> Decision {
        let PathEstimate { window, ssthresh, rate } = exit.learned;
        Decision {
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

impl Decision {
    /// Records a step of the scheme. Returns false if the step is an exit, which is then the answer; true if the answer is still to come.
    #[inline(always)]
    pub fn step(&mut self, step: Step, facts: &Facts) -> bool {
        match step {
            Step::Exit(exit) => *self = facts.left(&exit),
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
    fn a_payload_rate_is_the_ip_rate_share_and_never_zero() {
        let facts = Facts { mss: 1448, wire: 1500, ..Facts::default() };
        let payload = |bps| facts.payload_rate(Rate::from_bps(bps));
        assert_eq!(payload(1_000_000), 120_666);
        assert_eq!(payload(8_000), 965);
        assert_eq!(payload(1), 1);
        assert_eq!(u128::from(payload(u64::MAX)), u128::from(u64::MAX / 8) * 1448 / 1500);
    }
}
