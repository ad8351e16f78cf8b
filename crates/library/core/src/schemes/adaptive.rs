//! Adaptive start (Astart; Wang, Pau, Sanadidi and Gerla, slides of March 2003): slow start whose threshold
//! repeatedly rises to the window that TCP Westwood's eligible rate estimate allows.
//!
//! Below the threshold the window doubles (mini slow start); above it the window grows by one segment per RTT (mini
//! congestion avoidance). The threshold only rises, so the two alternate until three duplicate ACKs end start-up:
//! there is no other exit. A timeout also exits, and start-up begins again below the threshold from the estimate.
//!
//! choice-16 covers what the slides leave open: the first threshold, the sampling interval, pacing at twice cwnd /
//! srtt, and that a window equal to the threshold still doubles. The first threshold is 64 segments. Without a first
//! threshold Astart would be slow start, because the threshold never falls. After a timeout the estimator starts anew:
//! the silence was no ACK interval, and the threshold preserves the estimate.

use crate::eligible_rate::{Count, EligibleRate, Sampler};
use crate::interest::Interest;
use crate::interface::{Ack, Advice, Cause, Event, Exit, Origin, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate};

/// Adaptive start.
#[derive(Clone, Debug)]
pub struct Adaptive {
    /// Holds the window. This slow start has no threshold, so it never exits by itself.
    slow: SlowStart,
    rate: EligibleRate,
    /// The threshold, or none at construction. At the end of the handshake, when the segment size is known, the first
    /// threshold of choice-16 bounds it.
    threshold: Option<Bytes32>,
    /// Bytes acknowledged since the window last grew in mini congestion avoidance.
    acked: Bytes32,
    /// The first threshold in segments (choice-16).
    first_threshold: u16,
    /// Whether the window doubles when it is equal to the threshold (choice-16).
    doubles_at: bool,
}

const SSTHRESH: &str = "ssthresh0";
const SAMPLER: &str = "sampler";
const COUNT: &str = "count";
const PACED: &str = "paced";
const AT: &str = "at-threshold";

/// The default of the first threshold, in segments (choice-16).
const FIRST_THRESHOLD: u16 = 64;

pub(crate) const ADAPTIVE: SchemeEntry = SchemeEntry {
    name: "adaptive",
    summary: "slow start whose threshold follows Westwood's eligible rate estimate upwards (Astart)",
    source: "Wang, Pau, Sanadidi and Gerla, Improving TCP start-up over high bandwidth delay paths (2003)",
    law: "westwood",
    parameters: &[
        Parameter {
            name: SSTHRESH,
            kind: Kind::Count { min: 2, max: u16::MAX as u64 },
            default: Value::Count(FIRST_THRESHOLD as u64),
            help: "segments of the first threshold, at most --ssthresh; the slides give none",
        },
        Parameter {
            name: SAMPLER,
            kind: Kind::Word(&["vegas", "abse-literal", "abse-lagged", "re", "be"]),
            default: Value::Word("vegas"),
            help: "how long a rate sample is: the RTT above its minimum, ABSE's congestion level with this \
                   or the last round's window, a round trip, or an ACK interval",
        },
        Parameter {
            name: COUNT,
            kind: Kind::Word(&["delivered", "duplicates"]),
            default: Value::Word("delivered"),
            help: "what an ACK counts for: what SACK and it acknowledge, or a segment for each duplicate as Westwood",
        },
        Parameter {
            name: PACED,
            kind: Kind::Word(&["yes", "no"]),
            default: Value::Word("yes"),
            help: "whether it paces at twice cwnd / srtt; the slides do not",
        },
        Parameter {
            name: AT,
            kind: Kind::Word(&["double", "creep"]),
            default: Value::Word("double"),
            help: "a window equal to the threshold grows as below it, or as above it; the slides do not say",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::Rate, Ability::NewestAck])).using(&[Ability::DenseAcks]),
    make: |initial, settings| Adaptive::from_numbers(initial, &settings.numbers()).into(),
};

impl Adaptive {
    /// Returns Adaptive start with the defaults of choice-16.
    pub fn new(initial: Initial) -> Self {
        Self::with(initial, true, EligibleRate::new(Sampler::Vegas, Count::Delivered))
    }

    fn with(initial: Initial, paced: bool, rate: EligibleRate) -> Self {
        let unbounded = Initial { ssthresh: None, ..initial };
        let slow = if paced { SlowStart::paced(unbounded) } else { SlowStart::new(unbounded) };
        Self {
            slow,
            rate,
            threshold: initial.ssthresh.map(Bytes32::from),
            acked: Bytes32::ZERO,
            first_threshold: FIRST_THRESHOLD,
            doubles_at: true,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let sampler = if numbers.is(const { choice(ADAPTIVE.parameters, SAMPLER, "abse-literal") }) {
            Sampler::Abse
        } else if numbers.is(const { choice(ADAPTIVE.parameters, SAMPLER, "abse-lagged") }) {
            Sampler::AbseLagged
        } else if numbers.is(const { choice(ADAPTIVE.parameters, SAMPLER, "re") }) {
            Sampler::Re
        } else if numbers.is(const { choice(ADAPTIVE.parameters, SAMPLER, "be") }) {
            Sampler::Be
        } else {
            Sampler::Vegas
        };
        let count = if numbers.is(const { choice(ADAPTIVE.parameters, COUNT, "duplicates") }) {
            Count::Duplicates
        } else {
            Count::Delivered
        };
        let paced = numbers.is(const { choice(ADAPTIVE.parameters, PACED, "yes") });
        Self {
            first_threshold: u16::try_from(numbers.count(const { place(ADAPTIVE.parameters, SSTHRESH) }))
                .unwrap_or(u16::MAX),
            doubles_at: numbers.is(const { choice(ADAPTIVE.parameters, AT, "double") }),
            ..Self::with(initial, paced, EligibleRate::new(sampler, count))
        }
    }

    fn begin(&mut self, origin: Origin, path: &Path) -> Step {
        self.rate.restart();
        self.acked = Bytes32::ZERO;
        let (threshold, origin) = match origin {
            Origin::Fresh => return self.slow.on(&Event::Begin(origin), path),
            Origin::PathChange => (None, origin),
            Origin::AfterTimeout { was } => {
                (was.ssthresh, Origin::AfterTimeout { was: PathEstimate { ssthresh: None, ..was } })
            }
            Origin::AfterIdle { idle, was } => {
                (was.ssthresh, Origin::AfterIdle { idle, was: PathEstimate { ssthresh: None, ..was } })
            }
        };
        self.threshold = Some(threshold.unwrap_or(self.first(path)).into());
        self.slow.on(&Event::Begin(origin), path)
    }

    /// Returns the first threshold in bytes (choice-16).
    fn first(&self, path: &Path) -> Bytes {
        path.mss * u64::from(self.first_threshold)
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        self.rate.on_ack(ack, path);
        let eligible = self.rate.window(path).unwrap_or(Bytes::ZERO);
        let threshold = self.threshold().max(eligible);
        self.threshold = Some(threshold.into());
        let window = self.slow.window();
        if window < threshold || self.doubles_at && window == threshold {
            self.acked = Bytes32::ZERO;
            return self.slow.grow(ack.slow_start_growth(path.mss));
        }
        // The window grows by a segment once a window was acknowledged: 1 / cwnd an ACK.
        let acked = self.acked.wide() + ack.growth.min(window);
        if acked < window {
            self.acked = acked.into();
            return Step::Stay;
        }
        self.acked = (acked - window).into();
        self.slow.grow(path.mss)
    }

    /// Takes a window from a surrounding scheme. The slow start inside gets no threshold, so that it does not exit
    /// there.
    fn advised(&mut self, window: Bytes, ssthresh: Option<Bytes>, path: &Path) -> Step {
        self.acked = Bytes32::ZERO;
        self.threshold = ssthresh.map_or(self.threshold, |bytes| Some(bytes.into()));
        self.slow.on(&Event::Advice(Advice::Window { window, ssthresh: None }), path)
    }

    fn threshold(&self) -> Bytes {
        self.threshold.map_or(Bytes::ZERO, Bytes32::wide)
    }

    /// Exits at three duplicate ACKs or a timeout: the threshold is the window that the estimate allows, at least two
    /// segments, and the window is at most the threshold. Without an estimate the law responds as to any loss.
    fn leave(&self, cause: Cause, path: &Path) -> Step {
        let window = self.slow.window();
        let eligible = self.rate.window(path).map(|eligible| eligible.max(path.mss * 2));
        let learned = PathEstimate {
            window: window.min(eligible.unwrap_or(window)),
            ssthresh: eligible,
            rate: self.rate.rate().map(|rate| in_ip_bits(rate, path)),
        };
        Step::Exit(Exit { cause, learned })
    }
}

/// Converts a payload rate to a rate of IP packets.
pub(super) fn in_ip_bits(rate: Rate, path: &Path) -> Rate {
    rate.scale(path.wire.get(), path.mss.get())
}

impl Startup for Adaptive {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(*origin, path),
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) if loss.opens_episode => self.leave(Cause::Loss, path),
            Event::Marked { .. } => self.leave(Cause::Mark, path),
            Event::TimedOut { .. } => self.leave(Cause::Timeout, path),
            Event::Established { .. } => {
                let first = self.first(path);
                self.threshold = Some(self.threshold.map_or(first, |given| given.wide().min(first)).into());
                self.slow.on(event, path)
            }
            Event::Advice(Advice::Window { window, ssthresh }) => self.advised(*window, *ssthresh, path),
            Event::MssChanged => self.slow.on(event, path),
            Event::Lost(_)
            | Event::Sent(_)
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken => Step::Stay,
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        Plan { ssthresh: self.threshold.map(Bytes32::wide), ..self.slow.plan(path) }
    }
}
