//! What a reader of sockets in C calls for a scheme: `NAME.begin` and `NAME.hear`.
//!
//! [`Facts`], [`Told`] and [`Kind`] have their twins in `c/scheme.bpf.c`. The same source, built natively, is what decisions
//! of a kernel are compared with.

use core::mem::MaybeUninit;

use firstflight::schemes::Initial;
use firstflight::{
    Ack, Bytes, Delivered, Event, Judge, Lead, Loss, Origin, Pacing, Path, RttSample, SendLimit, Span,
    Startup, Step, Tag, Time,
};

/// No pacing, as Linux writes it in `sk_pacing_rate`.
const NO_PACING: u64 = u64::MAX;
/// No threshold, as Linux writes it in `snd_ssthresh`.
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// What the reader saw of a socket. Times are in microseconds of the kernel's clock of TCP, 0 where nothing is known.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The instant of the event.
    pub now_us: u64,
    /// Bytes cumulatively acknowledged.
    pub una: u64,
    /// When the newest packet left that was acknowledged.
    pub newest_sent_us: u64,
    /// Payload bytes and IP bytes of a full segment.
    pub mss: u32,
    /// IP bytes of a full segment.
    pub wire: u32,
    /// Window, in segments.
    pub cwnd: u32,
    /// Slow-start threshold, in segments.
    pub ssthresh: u32,
    /// Bytes sent and not cumulatively acknowledged, after this event.
    pub flight: u32,
    /// The same before this event.
    pub flight_before: u32,
    /// Packets in the network.
    pub pipe: u32,
    /// Packets delivered so far.
    pub delivered: u32,
    /// Smoothed round-trip time.
    pub srtt_us: u32,
    /// The sample of this ACK.
    pub rtt_us: u32,
    /// The newest sample.
    pub last_rtt_us: u32,
    /// The least sample of the kernel's window of it.
    pub min_rtt_us: u32,
    /// Retransmission timeout.
    pub rto_us: u32,
    /// Bytes by which the cumulative acknowledgement advanced.
    pub advanced: u32,
    /// Packets newly delivered.
    pub acked: u32,
    /// Packets newly found lost.
    pub lost: u32,
    /// Packets that had been delivered when the newest packet left.
    pub prior_delivered: u32,
    /// Packets of the sample of the delivery rate; 0 if there is none.
    pub rate_delivered: u32,
    /// The interval of that sample.
    pub rate_interval_us: u32,
    /// Receive window, in bytes.
    pub rwnd: u32,
    /// Bytes written and not yet sent.
    pub backlog: u32,
    /// What limits sending: 1 the application, 2 the receiver, 0 the window.
    pub limit: u32,
    /// Whether the application limited sending when the newest packet left.
    pub newest_starved: u32,
    /// Whether a loss is being repaired.
    pub recovering: u32,
}

/// What the scheme wants.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Payload bytes a second, as `sk_pacing_rate`.
    pub rate: u64,
    /// Window, in segments.
    pub window: u32,
    /// Threshold, in segments; 0 where the scheme says nothing of it.
    pub ssthresh: u32,
    /// 0 while start-up goes on, else one more than the cause.
    pub over: u32,
    /// Nothing: C has the same size.
    pub pad: u32,
}

/// A scheme that a socket has, with the judge of its ACKs.
#[derive(Clone, Debug)]
pub struct Hosted<S> {
    judge: Judge,
    scheme: S,
}

fn span(micros: u32) -> Option<Span> {
    (micros > 0).then(|| Span::from_micros(u64::from(micros)))
}

fn time(micros: u64) -> Time {
    Time::from_nanos(micros * 1000)
}

impl Facts {
    #[inline(always)]
    fn bytes(&self, segments: u32) -> Bytes {
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

    #[inline(always)]
    fn path(&self) -> Path {
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

    #[inline(always)]
    fn newest(&self) -> Delivered {
        Delivered {
            packet: 0,
            bytes: Bytes::new(u64::from(self.mss)),
            sent_at: time(self.newest_sent_us),
            tag: Tag(0),
            delivered_at_send: self.bytes(self.prior_delivered),
            limit: if self.newest_starved != 0 { SendLimit::App } else { SendLimit::Window },
            retransmitted: false,
            selectively: self.advanced == 0,
        }
    }

    /// Linux counts packets, so selective acknowledgements are whole packets.
    #[inline(always)]
    fn ack<'a>(&self, newest: Option<&'a Delivered>) -> Ack<'a> {
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
}

/// The kinds of events, as the reader counts them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An ACK.
    Acked = 1,
    /// Losses, found with the last ACK.
    Lost = 2,
    /// A congestion mark.
    Marked = 3,
    /// The retransmission timer fired.
    TimedOut = 4,
}

impl<S: Startup> Hosted<S> {
    /// A connection is established. The kernel's initial window is the scheme's.
    #[inline(always)]
    pub fn begin(make: impl FnOnce(Initial) -> S, facts: &Facts) -> (Self, Told) {
        let ssthresh = (facts.ssthresh < NO_THRESHOLD).then(|| facts.bytes(facts.ssthresh));
        let scheme = make(Initial { segments: facts.cwnd, ssthresh });
        let path = facts.path();
        let mut hosted = Self { judge: Judge::new(), scheme };
        hosted.judge.begin(&path);
        hosted.scheme.on(&Event::Begin(Origin::Fresh), &path);
        let established = Event::Established { rtt: span(facts.last_rtt_us), syn_lost: false };
        let step = hosted.scheme.on(&established, &path);
        let told = hosted.told(step, facts, &path);
        (hosted, told)
    }

    /// Something happened.
    #[inline(always)]
    pub fn hear(&mut self, kind: u32, facts: &Facts) -> Told {
        let path = facts.path();
        let step = if kind == Kind::Acked as u32 {
            // What is in flight when an ACK arrives is the most since the last ACK.
            self.judge.sent(Bytes::new(u64::from(facts.flight_before)));
            let newest = facts.newest();
            let mut ack = facts.ack((facts.newest_sent_us > 0).then_some(&newest));
            self.judge.acked(&mut ack, &path, Lead::Startup);
            self.scheme.on(&Event::Acked(ack), &path)
        } else if kind == Kind::Lost as u32 {
            let opens_episode = !path.recovering;
            self.scheme.on(&Event::Lost(Loss { opens_episode, ..Loss::of(facts.bytes(facts.lost)) }), &path)
        } else if kind == Kind::Marked as u32 {
            self.scheme.on(&Event::Marked { sent_at: None }, &path)
        } else {
            self.scheme.on(&Event::TimedOut { repeated: false }, &path)
        };
        self.told(step, facts, &path)
    }

    #[inline(always)]
    fn told(&self, step: Step, facts: &Facts, path: &Path) -> Told {
        let plan = self.scheme.plan(path);
        let (window, ssthresh, over) = match step {
            Step::Stay => (plan.window, None, 0),
            Step::Done(exit) => (exit.learned.window, exit.learned.ssthresh, 1 + exit.cause as u32),
        };
        let segments = |bytes: Bytes| u32::try_from(bytes.packets(path.mss)).unwrap_or(u32::MAX).max(1);
        Told {
            rate: match plan.pacing {
                // Linux counts payload against the rate.
                Pacing::Rate { rate, .. } => {
                    rate.bps() / 8 / u64::from(facts.wire.max(1)) * u64::from(facts.mss)
                }
                Pacing::AckClock | Pacing::Train { .. } | Pacing::Hold => NO_PACING,
            },
            window: segments(window),
            ssthresh: ssthresh.map_or(0, segments),
            over,
            pad: 0,
        }
    }
}

/// Takes the state's place, which the compiler knows nothing of.
pub type Place<S> = MaybeUninit<Hosted<S>>;

/// The schemes that a kernel can host: those that need no more than the reader tells. Name, name as an identifier, and how
/// the scheme is made with its default parameters.
#[macro_export]
macro_rules! for_each_hosted_scheme {
    ($take:ident) => {
        $take! {
            "slow-start": slow_start, SlowStart, SlowStart::new;
            "slow-start-paced": slow_start_paced, SlowStart, SlowStart::paced;
            "limited": limited, Limited, |initial| Limited::new(initial, 100);
            "vegas": vegas, VegasStart, |initial| VegasStart::new(initial, VegasVariant::Ns2);
            "packet-pair": packet_pair, PacketPair, PacketPair::new;
            "adaptive": adaptive, Adaptive, Adaptive::new;
            "hystart": hystart, HyStart, HyStart::new;
            "hystart-linux": hystart_linux, HyStartLinux, HyStartLinux::new;
            "hystart++": hystart_plus_plus, HyStartPlus, HyStartPlus::new;
            "search": search, Search, Search::new;
            "bbr": bbr, Bbr, Bbr::new;
        }
    };
}
