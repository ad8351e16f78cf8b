//! Rate-based pacing (Visweswaraiah and Heidemann, "Improving restart of idle TCP connections", 1997): after an idle
//! time a few segments are paced over one RTT until the first ACK restarts the ACK clock. The policy is a compromise
//! between a burst (`nssr`) and slow start (`ssr`).
//!
//! The number of segments: `rbp-rate` paces what the rate of the last round trip carries in one RTT ("actual" rate of
//! TCP Vegas, section 3.2); `rbp-cwnd` paces the window (section 3.3). At least two segments are sent, so that a
//! receiver that delays ACKs answers at once, and at most the window, so that the burst is never worse than `nssr`
//! (section 3.1). At a window of one segment the bounds contradict each other, and the lower one wins.
//!
//! Everything that the paper leaves open is a parameter. choice-23 covers two of them: the scaling factor (1 in the
//! paper, .75 in ns-2, our default), and the window after the first ACK. The paper keeps the window, the Vegas agent of
//! ns-2 reduces it to the segments to be paced, and the Reno agent of ns-2 reduces it to the flight. choice-24 covers
//! the time after the train. Nothing is sent until an ACK arrives. A window that is kept then opens by at most `burst`
//! segments at each ACK, because otherwise the rest of the window would be sent back to back. The window cannot grow on
//! the basis of an old estimate, which the cap of RFC 7661 is to prevent: the controller grows no window that is not
//! full.
//!
//! Without a rate, or with one older than `expires`, the policy is RFC 5681's restart.

use crate::interface::{
    Ack, Cause, Event, Exit, Origin, Pacing, Path, PathEstimate, Plan, Startup, Step, Tag,
};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, RestartEntry, Value, choice, place};
use crate::restart::nssr::resumed;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span};

/// Section 3.1: a receiver must acknowledge after two packets (RFC 1122).
const LEAST: u64 = 2;
/// This bit of the tag distinguishes the trains of this policy from those of schemes.
const TAGS: u16 = 1 << 15;
const MILLION: u64 = 1_000_000;

/// The defaults.
const SCALE_PPM: u32 = 750_000;
const AT_ONCE: u16 = 4;
const EXPIRY: Span = Span::from_secs(300);

const SCALE: &str = "scale";
const ROUNDING: &str = "rounding";
const RTT: &str = "rtt";
const AFTER: &str = "after";
const OVER: &str = "over";
const BURST: &str = "burst";
const EXPIRES: &str = "expires";

/// The longest time that the command line takes.
const LONGEST: Span = Span::from_secs(1_000 * 3600);

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: SCALE,
        kind: Kind::Fraction { min_ppm: 10_000, max_ppm: 1_000_000 },
        default: Value::Fraction { ppm: SCALE_PPM },
        help: "how much of the estimate to pace: 100% in the paper, 75% in ns-2",
    },
    Parameter {
        name: ROUNDING,
        kind: Kind::Word(&["down", "nearest"]),
        default: Value::Word("down"),
        help: "to whole segments: down as the paper's bounds ask, or to the nearest as ns-2",
    },
    Parameter {
        name: RTT,
        kind: Kind::Word(&["smoothed", "latest"]),
        default: Value::Word("smoothed"),
        help: "the round trip to pace over: smoothed, or the latest sample as ns-2's Vegas",
    },
    Parameter {
        name: OVER,
        kind: Kind::Word(&["marked", "mean"]),
        default: Value::Word("marked"),
        help: "the round trip that the rate is over: that of the round's marked segment, or the mean of a round as ns-2",
    },
    Parameter {
        name: AFTER,
        kind: Kind::Word(&["keep", "cut", "sent"]),
        default: Value::Word("keep"),
        help: "the window after the first ACK: kept (paper), cut to what was to be paced, or to what was in flight",
    },
    Parameter {
        name: BURST,
        kind: Kind::Count { min: 0, max: u16::MAX as u64 },
        default: Value::Count(AT_ONCE as u64),
        help: "segments that a kept window opens by at an ACK; 0 opens it at once, as the paper",
    },
    Parameter {
        name: EXPIRES,
        kind: Kind::Span { min: Span::from_secs(1), max: LONGEST },
        default: Value::Span(EXPIRY),
        help: "the idle time after which the estimate is forgotten",
    },
];

const ENTRY: RestartEntry = RestartEntry {
    name: "",
    summary: "",
    source: "Visweswaraiah and Heidemann 1997, section 3",
    parameters: PARAMETERS,
    needs: Needs::of(&[Ability::AckClock, Ability::Train, Ability::Sends, Ability::IdleQuestion])
        .using(&[Ability::Backlog, Ability::Marks]),
    make: |initial, settings| Rbp::rate_from_numbers(initial, &settings.numbers()).into(),
};

pub(crate) const RBP_RATE: RestartEntry = RestartEntry {
    name: "rbp-rate",
    summary: "paces what the rate of the last round trip carries, until the first ACK",
    ..ENTRY
};

pub(crate) const RBP_CWND: RestartEntry = RestartEntry {
    name: "rbp-cwnd",
    summary: "paces the window over a round trip, until the first ACK",
    make: |initial, settings| Rbp::window_from_numbers(initial, &settings.numbers()).into(),
    ..ENTRY
};

/// The estimate that gives the number of segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Estimate {
    Rate,
    Window,
}

/// The window after the first ACK (choice-23).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    Keep,
    Cut,
    Sent,
}

/// The activity of the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Paces the train and waits for the first ACK.
    Pacing,
    /// Opens the window by a burst at each ACK.
    Opening,
    /// The policy has exited.
    Over,
    /// Slow start: from the restart window without an estimate, or from a window that was reduced.
    Slow,
}

/// Rate-based pacing.
#[derive(Clone, Debug)]
pub struct Rbp {
    slow: SlowStart,
    estimate: Estimate,
    scale_ppm: u32,
    nearest: bool,
    latest_rtt: bool,
    after: After,
    burst: u16,
    expires: Span,

    rate: ActualRate,
    /// Whether the rate is computed with the mean RTT of a round.
    mean: bool,
    stage: Stage,
    /// The window before the idle time, and the threshold.
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// The open part of the window.
    open: Bytes32,
    gap: Span,
    /// Segments of the train, and the number of them not yet sent.
    train: u32,
    left: u32,
    /// The number of segments that were to be paced.
    wanted: u32,
    tag: u16,
}

impl Rbp {
    /// Returns the policy `rbp-rate` with its default parameters.
    pub fn rate(initial: Initial) -> Self {
        Self::new(Estimate::Rate, initial)
    }

    /// Returns the policy `rbp-cwnd` with its default parameters.
    pub fn window(initial: Initial) -> Self {
        Self::new(Estimate::Window, initial)
    }

    /// Returns the policy `rbp-rate` with these parameters, in the order of its entry in the registry.
    pub fn rate_from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self::from_numbers(Estimate::Rate, initial, numbers)
    }

    /// Returns the policy `rbp-cwnd` with these parameters, in the order of its entry in the registry.
    pub fn window_from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self::from_numbers(Estimate::Window, initial, numbers)
    }

    fn from_numbers(estimate: Estimate, initial: Initial, numbers: &Numbers) -> Self {
        Self {
            scale_ppm: numbers.ppm(const { place(PARAMETERS, SCALE) }),
            nearest: numbers.is(const { choice(PARAMETERS, ROUNDING, "nearest") }),
            latest_rtt: numbers.is(const { choice(PARAMETERS, RTT, "latest") }),
            mean: numbers.is(const { choice(PARAMETERS, OVER, "mean") }),
            after: if numbers.is(const { choice(PARAMETERS, AFTER, "cut") }) {
                After::Cut
            } else if numbers.is(const { choice(PARAMETERS, AFTER, "sent") }) {
                After::Sent
            } else {
                After::Keep
            },
            burst: u16::try_from(numbers.count(const { place(PARAMETERS, BURST) })).unwrap_or(u16::MAX),
            expires: numbers.span(const { place(PARAMETERS, EXPIRES) }),
            ..Self::new(estimate, initial)
        }
    }

    fn new(estimate: Estimate, initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            estimate,
            scale_ppm: SCALE_PPM,
            nearest: false,
            latest_rtt: false,
            after: After::Keep,
            burst: AT_ONCE,
            expires: EXPIRY,
            rate: ActualRate::default(),
            mean: false,
            stage: Stage::Over,
            window: Bytes32::ZERO,
            ssthresh: None,
            open: Bytes32::ZERO,
            gap: Span::ZERO,
            train: 0,
            left: 0,
            wanted: 0,
            tag: TAGS,
        }
    }

    fn begin(&mut self, origin: Origin, path: &Path) -> Step {
        let paced = match origin {
            Origin::AfterIdle { idle, was } if idle <= self.expires => self.paced(was, path),
            Origin::AfterIdle { .. } | Origin::Fresh | Origin::AfterTimeout { .. } | Origin::PathChange => {
                None
            }
        };
        let (Some((count, rtt)), Origin::AfterIdle { was, .. }) = (paced, origin) else {
            self.stage = Stage::Slow;
            return self.slow.on(&Event::Begin(origin), path);
        };
        // A window that was still opening at the next idle time is kept whole.
        if self.stage != Stage::Opening {
            self.window = was.window.into();
            self.ssthresh = was.ssthresh.map(Bytes32::from);
        }
        self.stage = Stage::Pacing;
        self.gap = rtt / count;
        self.wanted = u32::try_from(count).unwrap_or(u32::MAX);
        self.left = self.wanted;
        self.next_train();
        Step::Stay
    }

    /// Returns the number of segments to pace, and the RTT over which to pace them (sections 3.1 to 3.3).
    fn paced(&self, was: PathEstimate, path: &Path) -> Option<(u64, Span)> {
        let rtt = if self.latest_rtt { path.latest_rtt } else { path.srtt }?;
        let (bytes, segment) = match self.estimate {
            Estimate::Rate => (self.rate.newest()?.over(rtt), path.wire),
            Estimate::Window => (was.window, path.mss),
        };
        let scaled = bytes.scale(u64::from(self.scale_ppm), MILLION);
        let rounded = if self.nearest { scaled + segment / 2 } else { scaled };
        let max = was.window.min(path.rwnd).packets(path.mss);
        Some((rounded.packets(segment).min(max).max(LEAST), rtt))
    }

    fn next_train(&mut self) {
        self.train = self.left;
        self.tag = self.tag.wrapping_add(1) | TAGS;
    }

    /// Ends pacing at the first ACK, or duplicate ACK (section 3).
    fn first_ack(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        let window = match self.after {
            After::Keep => {
                self.stage = Stage::Opening;
                self.open = Bytes32::ZERO;
                return self.widen(path);
            }
            After::Cut => return resumed(PathEstimate { window: self.narrowed(path), ..self.learned() }),
            After::Sent => self.window.wide().min(path.flight + ack.advanced),
        };
        self.stage = Stage::Slow;
        let was = PathEstimate { window, ssthresh: self.ssthresh.map(Bytes32::wide), rate: None };
        match self.slow.on(&Event::Begin(Origin::AfterTimeout { was }), path) {
            Step::Stay => self.slow.on(&Event::Acked(*ack), path),
            done @ Step::Exit(_) => done,
        }
    }

    /// Returns the segments that were to be paced, at most the window.
    fn narrowed(&self, path: &Path) -> Bytes {
        self.window.wide().min(path.mss * u64::from(self.wanted))
    }

    fn widen(&mut self, path: &Path) -> Step {
        let window = self.window.wide();
        let allowed = path.pipe + path.mss * u64::from(self.burst);
        // Without data there is nothing to hold back.
        let at_once = self.burst == 0 || path.backlog.is_some_and(Bytes::is_zero);
        let open = if at_once { window } else { window.min(allowed.max(self.open.wide())) };
        self.open = open.into();
        if open == window { resumed(self.learned()) } else { Step::Stay }
    }

    fn learned(&self) -> PathEstimate {
        PathEstimate { window: self.window.wide(), ssthresh: self.ssthresh.map(Bytes32::wide), rate: None }
    }

    fn congested(&self, cause: Cause) -> Step {
        Step::Exit(Exit { cause, learned: PathEstimate { ssthresh: None, ..self.learned() } })
    }

    fn step(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match (event, self.stage) {
            (Event::Begin(origin), _) => self.begin(*origin, path),
            (_, Stage::Slow) => self.slow.on(event, path),
            (Event::Acked(ack), Stage::Pacing) => self.first_ack(ack, path),
            (Event::Acked(_), Stage::Opening) => self.widen(path),
            (Event::Sent(sent), Stage::Pacing) if sent.tag == Tag(self.tag) && !sent.retransmission => {
                self.left =
                    self.left.saturating_sub(u32::try_from(sent.packets(path.mss)).unwrap_or(u32::MAX));
                Step::Stay
            }
            // The rest of a train that was cut for lack of data is sent when there is data.
            (Event::TrainCut(tag), Stage::Pacing) if *tag == Tag(self.tag) && self.left > 0 => {
                self.next_train();
                Step::Stay
            }
            (Event::Lost(loss), Stage::Pacing | Stage::Opening) if loss.opens_episode => {
                self.congested(Cause::Loss)
            }
            (Event::Marked { .. }, Stage::Pacing | Stage::Opening) => self.congested(Cause::Mark),
            (Event::TimedOut { .. }, Stage::Pacing | Stage::Opening) => self.congested(Cause::Timeout),
            (
                Event::Established { .. }
                | Event::Sent(_)
                | Event::Lost(_)
                | Event::SpuriousLoss
                | Event::Asked(_)
                | Event::Advice(_)
                | Event::TrainCut(_)
                | Event::Woken
                | Event::MssChanged,
                Stage::Pacing | Stage::Opening,
            )
            | (_, Stage::Over) => Step::Stay,
        }
    }
}

impl Startup for Rbp {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.rate.observe(event, path, self.mean);
        let step = self.step(event, path);
        if matches!(step, Step::Exit(_)) && self.stage != Stage::Slow {
            self.stage = Stage::Over;
        }
        step
    }

    #[inline(never)]
    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        if let Event::Begin(Origin::PathChange) = event {
            // The rate of the old path says nothing about the new one, nor does a window that was opening there.
            (self.rate, self.stage) = (ActualRate::default(), Stage::Over);
        }
        self.rate.observe(event, path, self.mean);
        None
    }

    fn plan(&self, path: &Path) -> Plan {
        let ssthresh = self.ssthresh.map(Bytes32::wide);
        match self.stage {
            Stage::Slow => self.slow.plan(path),
            Stage::Opening | Stage::Over => Plan::ack_clocked(self.open.wide(), ssthresh),
            Stage::Pacing => {
                let paced = path.mss * u64::from(self.wanted);
                let window = if self.after == After::Cut { paced } else { self.window.wide().max(paced) };
                let pacing = Pacing::Train { packets: self.train, gap: self.gap };
                Plan { pacing, tag: Tag(self.tag), ..Plan::ack_clocked(window, ssthresh) }
            }
        }
    }
}

/// The data sent in one RTT, divided by that RTT: the "actual" rate of TCP Vegas (Brakmo and Peterson, section 3.2).
#[derive(Clone, Debug, Default)]
struct ActualRate {
    /// The newest rate, rounded up so that over the same RTT it carries at least the data sent.
    newest: Option<Rate>,
    /// Sum and number of the samples of this round.
    samples: (Span, u32),
}

impl ActualRate {
    fn observe(&mut self, event: &Event<'_>, path: &Path, mean: bool) {
        let Event::Acked(ack) = event else { return };
        let marked = ack.rtt.map(|sample| sample.rtt);
        if ack.round_ended {
            let (sum, count) = core::mem::take(&mut self.samples);
            let mean = (mean && count > 0).then(|| sum / u64::from(count));
            let wire = ack.round_sent.scale(path.wire.get(), path.mss.get());
            let rate = mean.or(marked).and_then(|rtt| wire.per(rtt));
            self.newest = rate.map(|rate| rate + Rate::from_bps(1)).or(self.newest);
        }
        // In ns-2 the sample of the ACK that ends a round belongs to the next round.
        if let Some(rtt) = marked {
            self.samples = (self.samples.0 + rtt, self.samples.1.saturating_add(1));
        }
    }

    fn newest(&self) -> Option<Rate> {
        self.newest
    }
}
