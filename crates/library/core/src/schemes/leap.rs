//! Leap: Firstflight's own start-up. The spread of the first flight's ACKs gives an estimate of the bottleneck's rate. A paced train a
//! little below that rate measures how much of it is available. Then the pipe is filled within one RTT, and a train faster than the
//! bottleneck verifies the estimate.
//!
//! - First: the initial window is sent in one burst. The ACKs of a burst arrive at the bottleneck's rate, unless they are aggregated.
//! - Probe: packets are sent at `fraction` of that rate. If their delay grows, other flows use a part of the capacity, and the growth
//!   gives the available rate.
//! - Rise: half a BDP of packets is sent just below the rate.
//! - Verify: a train is sent at 1.5 times the rate. Its delay must grow if the rate is the bottleneck's. If the delay does not grow, ACKs
//!   were aggregated or spread by something else, and a train at 4 times the rate searches for the bottleneck.
//! - Hold: packets are sent just below the rate for the RTT until the verdict on the train is known.
//!
//! `leap-saved` knows the window of an earlier connection, and also sends a quarter of that window over the first RTT.
//!
//! No paper defines the parameters of this scheme: `docs/schemes/leap.md` has the reason for each.

mod spread;
mod trend;

use self::spread::{Capacity, HoldBack, Spread};
use self::trend::{Slope, TICKS, Trend};
use crate::evidence::is_starved;
use crate::interface::{
    Ack, Cause, Delivered, Event, Exit, Loss, LostPacket, Origin, Pacing, Path, PathEstimate, Plan, Sent,
    Startup, Step, Tag,
};
use crate::registry::{Ability, Help, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, place};
use crate::schemes::{Initial, SavedPath, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span, Time};
use crate::wide::mul_div;

const MILLION: u64 = 1_000_000;
/// The default share of the capacity at which Probe sends, in millionths.
const FRACTION_PPM: u32 = 750_000;
/// The share of the rate at which Rise and Hold send. Below 1, so that a queue that other flows built drains.
const CRUISE_RATE: (u64, u64) = (98, 100);
/// The rate of the train that must exceed the bottleneck, relative to the rate to be verified, in hundredths.
const CONFIRM_FACTOR: u16 = 150;
/// The rate of the train that searches for an unknown bottleneck, relative to the delivered rate, in hundredths.
const SEARCH_FACTOR: u16 = 400;
/// The rate of the searching train after the first flight overflowed the queue, in hundredths. Lower, so that the train is not lost.
const SEARCH_FACTOR_AFTER_LOSS: u16 = 200;
/// Growth of the delay above which Probe, Rise and Hold have built a queue, in millionths of the time between transmissions.
const QUEUE_GROWTH_PPM: u64 = 50_000;
/// Minimum growth of the delay in a train of Verify that exceeds the bottleneck, in millionths of the time between transmissions.
const TRAIN_GROWTH_PPM: u64 = 20_000;
/// A measured capacity within this factor of the rate, above or below, confirms the rate.
const VERDICT_TOLERANCE: (u64, u64) = (5, 4);
/// Losses up to this share of the window do not end the start-up, so that random loss of 1 % does not end it.
const LOSS_BUDGET: (u64, u64) = (3, 100);
/// Losses up to this number of packets do not end the start-up.
const LOSS_BUDGET_PACKETS: u64 = 4;
/// The minimum number of packets in a train.
const MIN_TRAIN_PACKETS: u64 = 16;
/// The length of a train, in the longest times for which ACKs were held back.
const HOLDBACKS_PER_TRAIN: u64 = 6;
/// The window exceeds the BDP by three eighths and by this number of packets, so that the pacing rate is the limit and aggregated ACKs
/// do not stop transmission.
const WINDOW_HEADROOM_PACKETS: u64 = 20;
/// The saved window may be too large by this factor. The first RTT uses the saved window divided by it.
const SAVED_WINDOW_DIVISOR: u64 = 4;
/// If the saved RTT is at least this many times the present RTT, it is of another path (RFC 9959 section 3.2).
const MIN_RTT: u64 = 2;
/// If the present RTT is more than this many times the saved RTT, the saved RTT is of another path (RFC 9959 section 4.2.1).
const MAX_RTT_INCREASE: u64 = 10;
/// The maximum window of TCP (RFC 7323 section 2.3).
const MAX_WINDOW: Bytes = Bytes::new(1 << 30);

/// The state of the scheme `leap`.
#[derive(Clone, Debug)]
pub struct Leap {
    stage: Stage,
    window: Bytes32,
    /// The estimated rate of the bottleneck. All rates are in IP bits per second.
    capacity: Rate,
    /// The rate at which Rise fills the pipe, and which Verify confirms.
    target: Rate,
    /// The pacing rate.
    pace: Rate,
    /// The newest delivery rate.
    delivery: Option<Rate>,
    trend: Trend,
    spread: Spread,
    holdback: HoldBack,
    /// The tag of packets sent now, and the tag of the packets that are judged.
    tag: u16,
    judged: u16,
    /// The rate of the train relative to the target, in hundredths.
    factor: u16,
    /// Bytes sent in this stage.
    sent: Bytes32,
    /// Acknowledged bytes of the judged packets, without those acknowledged at the first instant; lost bytes of the judged packets.
    judged_acked: Bytes32,
    lost: Bytes32,
    first: Option<Time>,
    /// [`Path::delivered`] when the first flight began.
    before: Bytes,
    /// Whether the application or the receiver, and not the plan, limited the judged packets.
    starved: bool,
    fraction_ppm: u32,
    saved: Option<(Bytes32, Span)>,
    /// Slow start, for all starts but the first of a connection or path.
    slow: SlowStart,
    initial: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Closed,
    First,
    Probe,
    Rise,
    Verify,
    Hold,
    /// A later start, or one after a lost SYN: slow start.
    Plain,
}

const FRACTION: &str = "fraction";
const SAVED: &str = "saved";
const RTT: &str = "rtt";

const FRACTION_PARAMETER: Parameter = Parameter {
    name: FRACTION,
    kind: Kind::Fraction { min_ppm: 100_000, max_ppm: 1_000_000 },
    default: Value::Fraction { ppm: FRACTION_PPM },
    help: "the share of the capacity at which the first train is paced: less loses less next to other traffic",
};

pub(crate) const LEAP: SchemeEntry = SchemeEntry {
    name: "leap",
    summary: "the first flight's spread gives the rate, a paced train the available share, a faster one verifies it",
    source: "docs/schemes/leap.md",
    law: "bbr-cruise",
    parameters: &[FRACTION_PARAMETER],
    needs: Needs::of(&[
        Ability::AckClock,
        Ability::Rate,
        Ability::Sends,
        Ability::NewestAck,
        Ability::PacketCounts,
        Ability::DeliveryRate,
    ])
    .using(&[Ability::Marks, Ability::LostPackets, Ability::ExactSendTimes, Ability::DenseAcks]),
    make: |initial, settings| Leap::from_numbers(initial, &settings.numbers()).into(),
};

pub(crate) const LEAP_SAVED: SchemeEntry = SchemeEntry {
    name: "leap-saved",
    summary: "leap that also sends a quarter of what an earlier connection found in its first round trip",
    parameters: &[
        FRACTION_PARAMETER,
        Parameter {
            name: SAVED,
            kind: Kind::Bytes { min: Bytes::ZERO, max: MAX_WINDOW },
            default: Value::Bytes(Bytes::ZERO),
            help: "bytes that the earlier connection had acknowledged in an RTT; 0 is nothing saved",
        },
        Parameter {
            name: RTT,
            kind: Kind::Span { min: Span::ZERO, max: Span::from_secs(60) },
            default: Value::Span(Span::ZERO),
            help: "the earlier connection's minimum RTT; 0 is nothing saved",
        },
    ],
    needs: LEAP.needs.helped_by(Help::Memory),
    make: |initial, settings| Leap::from_saved(initial, &settings.numbers(), None).into(),
    ..LEAP
};

impl Leap {
    /// Returns a start-up for `initial`. `saved` is what an earlier connection over the path learned.
    pub fn new(initial: Initial, saved: Option<SavedPath>) -> Self {
        let saved = saved.filter(|saved| !saved.window.is_zero() && !saved.rtt.is_zero());
        Self {
            stage: Stage::Closed,
            window: Bytes32::ZERO,
            capacity: Rate::ZERO,
            target: Rate::ZERO,
            pace: Rate::ZERO,
            delivery: None,
            trend: Trend::default(),
            spread: Spread::default(),
            holdback: HoldBack::default(),
            tag: 0,
            judged: 0,
            factor: 0,
            sent: Bytes32::ZERO,
            judged_acked: Bytes32::ZERO,
            lost: Bytes32::ZERO,
            first: None,
            before: Bytes::ZERO,
            starved: false,
            fraction_ppm: FRACTION_PPM,
            saved: saved.map(|SavedPath { window, rtt }| (window.into(), rtt)),
            slow: SlowStart::new(initial),
            initial: u16::try_from(initial.segments.max(1)).unwrap_or(u16::MAX),
        }
    }

    /// Returns the scheme with the parameters `numbers`, in the order of the entry of `leap`.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self {
            fraction_ppm: numbers.ppm(const { place(LEAP.parameters, FRACTION) }),
            ..Self::new(initial, None)
        }
    }

    /// Returns the scheme with the parameters `numbers`, in the order of the entry of `leap-saved`. `remembered` is the host's own memory
    /// of an earlier connection and replaces the saved values in `numbers`.
    pub fn from_saved(initial: Initial, numbers: &Numbers, remembered: Option<SavedPath>) -> Self {
        let window = numbers.bytes(const { place(LEAP_SAVED.parameters, SAVED) });
        let rtt = numbers.span(const { place(LEAP_SAVED.parameters, RTT) });
        Self {
            fraction_ppm: numbers.ppm(const { place(LEAP_SAVED.parameters, FRACTION) }),
            ..Self::new(initial, remembered.or(Some(SavedPath { window, rtt })))
        }
    }

    fn begin(&mut self, origin: Origin, event: &Event<'_>, path: &Path) -> Step {
        match origin {
            Origin::Fresh => {
                self.window = self.initial(path).into();
                self.enter(Stage::Closed);
            }
            Origin::PathChange => {
                self.saved = None;
                self.first_flight(path);
            }
            Origin::AfterTimeout { .. } | Origin::AfterIdle { .. } => self.stage = Stage::Plain,
        }
        let step = self.slow.on(event, path);
        if self.stage == Stage::Plain { step } else { Step::Stay }
    }

    fn established(&mut self, syn_lost: bool, event: &Event<'_>, path: &Path) -> Step {
        let step = self.slow.on(event, path);
        if syn_lost {
            self.stage = Stage::Plain;
            return step;
        }
        self.first_flight(path);
        Step::Stay
    }

    fn initial(&self, path: &Path) -> Bytes {
        path.mss * u64::from(self.initial)
    }

    /// Enters `stage`. Packets sent from here on have a new tag.
    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.tag = self.tag.wrapping_add(1).max(1);
        self.sent = Bytes32::ZERO;
    }

    /// Judges the packets with the tag `tag` from here on.
    fn judge(&mut self, tag: u16) {
        self.judged = tag;
        self.trend = Trend::default();
        self.first = None;
        self.starved = false;
        self.judged_acked = Bytes32::ZERO;
        self.lost = Bytes32::ZERO;
    }

    fn first_flight(&mut self, path: &Path) {
        self.enter(Stage::First);
        self.judge(self.tag);
        self.spread = Spread::default();
        self.holdback = HoldBack::default();
        self.pace = Rate::ZERO;
        self.before = path.delivered;
        self.window = self.initial(path).into();
    }

    /// Continues after the burst of the first flight: paces a part of the saved window over the first RTT, if a window is saved.
    fn after_burst(&mut self, path: &Path) {
        self.enter(Stage::First);
        let (Some((saved, saved_rtt)), Some(rtt)) = (self.saved.take(), path.min_rtt) else { return };
        let is_other_path = rtt * MIN_RTT <= saved_rtt || rtt > saved_rtt * MAX_RTT_INCREASE;
        let more = saved.wide() / SAVED_WINDOW_DIVISOR;
        if is_other_path || more <= self.initial(path) {
            return;
        }
        self.window = (self.window.wide() + more).into();
        self.pace = in_packets(more, path).per(rtt).unwrap_or(Rate::ZERO);
    }

    fn acked_in_first(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) {
        let is_own = newest.tag.0 == self.judged;
        let initial = self.initial(path);
        let delivered = path.delivered - self.before;
        self.window = (self.window.wide() + ack.growth).into();
        if is_own {
            self.spread.add(delivered, initial, path.now);
            if delivered < initial {
                return;
            }
        }
        let Some(rtt) = path.min_rtt else { return };
        // The bytes that slow start would send in the next RTT.
        let double = in_packets((initial + delivered) * 2, path);
        let Some(double) = double.per(rtt).filter(|rate| !rate.is_zero()) else { return };
        let due = if is_own { initial } else { initial + newest.bytes };
        let overflowed = self.lost.wide().max(due - delivered) >= path.mss * 2;
        match self.spread.capacity(path) {
            Capacity::Unknown if overflowed => {
                // The queue is smaller than the first flight. The delivered bytes are its size.
                let through = in_packets(delivered.max(path.mss * 2), path);
                self.search(through.per(rtt).unwrap_or(double), SEARCH_FACTOR_AFTER_LOSS, path);
            }
            Capacity::Even(rate) if product(rate, path) <= initial => {
                self.capacity = rate;
                self.rise(rate, path);
            }
            Capacity::Even(rate) => self.probe(rate, path),
            Capacity::Uneven(rate) if overflowed => self.probe(rate, path),
            Capacity::Uneven(rate) => self.search(double.max(rate), SEARCH_FACTOR, path),
            Capacity::Unknown => self.search(double, SEARCH_FACTOR, path),
        }
    }

    fn probe(&mut self, capacity: Rate, path: &Path) {
        self.capacity = capacity;
        self.target = capacity;
        self.pace = capacity.scale(u64::from(self.fraction_ppm), MILLION);
        self.window = product(capacity, path).max(path.mss * 4).into();
        self.enter(Stage::Probe);
        self.judge(self.tag);
    }

    fn rise(&mut self, target: Rate, path: &Path) {
        self.target = target;
        self.pace = target.scale(CRUISE_RATE.0, CRUISE_RATE.1);
        self.window = window_with_headroom(target, path).into();
        self.enter(Stage::Rise);
        self.judge(self.tag);
    }

    /// Searches for the bottleneck with a train at `rate` times `factor` hundredths.
    fn search(&mut self, rate: Rate, factor: u16, path: &Path) {
        self.target = rate;
        self.capacity = rate;
        self.factor = factor;
        self.window = (window_with_headroom(rate, path) + self.train(path)).into();
        self.pace = rate.scale(u64::from(factor), 100);
        self.enter(Stage::Verify);
        self.judge(self.tag);
    }

    /// Returns the length of a train that must exceed the bottleneck: an eighth of the BDP, or more if aggregated ACKs would hide a train
    /// of that length, up to one BDP.
    fn train(&self, path: &Path) -> Bytes {
        let pipe = product(self.target, path);
        let fast = payload(self.target, path).scale(u64::from(self.factor), 100);
        let shown = fast.over(self.holdback.longest() * HOLDBACKS_PER_TRAIN);
        (pipe / 8).max(path.mss * MIN_TRAIN_PACKETS).max(shown.min(pipe))
    }

    fn sent(&mut self, sent: &Sent, path: &Path) {
        if sent.tag.0 != self.tag || sent.retransmission {
            return;
        }
        self.sent = (self.sent.wide() + sent.bytes).into();
        let is_over = |quota: Bytes| self.sent.wide() >= quota;
        match self.stage {
            Stage::First if self.tag == self.judged && is_over(self.initial(path)) => self.after_burst(path),
            Stage::Rise
                if is_over((product(self.target, path) / 2).max(path.mss * (MIN_TRAIN_PACKETS / 2))) =>
            {
                self.factor = CONFIRM_FACTOR;
                self.pace = self.target.scale(u64::from(CONFIRM_FACTOR), 100);
                self.window = (self.window.wide() + self.train(path)).into();
                self.enter(Stage::Verify);
            }
            Stage::Verify if is_over(self.train(path)) => {
                self.pace = self.target.scale(CRUISE_RATE.0, CRUISE_RATE.1);
                self.enter(Stage::Hold);
            }
            Stage::Closed
            | Stage::First
            | Stage::Probe
            | Stage::Rise
            | Stage::Verify
            | Stage::Hold
            | Stage::Plain => {}
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if let Some(rate) = ack.delivery_rate {
            self.delivery = Some(rate.scale(path.wire.get(), path.mss.get()));
        }
        let Some(newest) = ack.newest_packet() else { return Step::Stay };
        match self.stage {
            Stage::Closed => Step::Stay,
            Stage::Plain => self.slow.grow(ack.slow_start_growth(path.mss)),
            Stage::First => {
                self.holdback.acked(ack.whole_packets(), newest.tag, path.now);
                self.acked_in_first(ack, newest, path);
                Step::Stay
            }
            Stage::Probe | Stage::Rise | Stage::Verify | Stage::Hold => {
                self.holdback.acked(ack.whole_packets(), newest.tag, path.now);
                self.acked_in_train(ack, newest, path)
            }
        }
    }

    fn acked_in_train(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) -> Step {
        let fast = self.tag.wrapping_sub(1);
        // The first ACK of the fast train arrived. The judgement of the earlier packets is complete.
        if self.stage == Stage::Hold && self.judged != fast && newest.tag.0 >= fast {
            self.judge(fast);
        }
        if newest.tag.0 == self.judged && !newest.retransmitted {
            self.starved |= is_starved(ack, path);
            let first = *self.first.get_or_insert(path.now);
            if path.now != first {
                self.judged_acked = (self.judged_acked.wide() + ack.bytes).into();
            }
            self.trend.add(newest.sent_at, path.now, path.min_rtt.unwrap_or(Span::ZERO));
        }
        match self.stage {
            // The train is still being sent.
            Stage::Verify if self.judged == self.tag => Step::Stay,
            Stage::Hold if self.judged == fast => {
                let is_in = newest.tag.0 == self.tag;
                if is_in { self.verdict(path) } else { Step::Stay }
            }
            _ => self.check_queue(path),
        }
    }

    /// Exits if a queue grows, in Probe, in Rise, and until the ACKs of the fast train arrive.
    fn check_queue(&mut self, path: &Path) -> Step {
        let Some(slope) = self.trend.slope() else { return Step::Stay };
        let span = self.trend.span();
        // Three packets may queue behind each other by chance.
        let chance = self.trend.in_ticks(self.capacity.time_for(path.wire * 3));
        let is_long = span >= TICKS / 8;
        let grown = mul_div(span, slope.growth(), MILLION);
        if slope.growth() > QUEUE_GROWTH_PPM && slope.is_sure && grown > chance && is_long {
            return found(self.available(slope), Cause::Delay, path);
        }
        if self.stage == Stage::Probe && is_long && self.judged_acked.wide() >= path.mss * MIN_TRAIN_PACKETS {
            self.rise(self.capacity, path);
        }
        Step::Stay
    }

    /// Returns the rate that other flows do not use. With the pacing rate `p`, the growth of the delay `g` and the capacity `c`, the rate of
    /// the other flows is `c (1 + g) - p`. The result is `c` minus that rate, and at least `p / (1 + g) / 2`.
    fn available(&self, slope: Slope) -> Rate {
        let spread = MILLION + slope.growth();
        // While the fast train is being sent, the judged packets are those before it.
        let pace = if self.stage == Stage::Probe {
            self.pace
        } else {
            self.target.scale(CRUISE_RATE.0, CRUISE_RATE.1)
        };
        let others = self.capacity.scale(spread, MILLION) - pace;
        // The result is at least half of the delivered rate, because flows that respond to losses give way.
        let min = pace.scale(MILLION, spread) / 2;
        (self.capacity - others).max(min)
    }

    /// Judges the fast train, all of whose ACKs arrived. If its delay did not grow, or its ACKs do not show the delay, the bottleneck may be
    /// faster than the train.
    fn verdict(&mut self, path: &Path) -> Step {
        if self.starved {
            // The train was not sent at its rate and proves nothing. Another one is sent once there is data or room for it.
            self.rise(self.target, path);
            return Step::Stay;
        }
        let train = self.target.scale(u64::from(self.factor), 100);
        let slope = self.trend.slope();
        if slope.is_none() {
            self.holdback.missed_train(path.min_rtt.unwrap_or(Span::ZERO));
        }
        let Some(slope) = slope.filter(|slope| slope.is_sure && slope.growth() >= TRAIN_GROWTH_PPM) else {
            self.search(train, SEARCH_FACTOR, path);
            return Step::Stay;
        };
        let capacity = train.scale(MILLION, MILLION + slope.growth());
        let is_close = capacity <= self.target.scale(VERDICT_TOLERANCE.0, VERDICT_TOLERANCE.1)
            && capacity >= self.target.scale(VERDICT_TOLERANCE.1, VERDICT_TOLERANCE.0);
        if is_close && self.factor == CONFIRM_FACTOR {
            return found(self.target, Cause::Dispersion, path);
        }
        self.capacity = capacity;
        self.rise(capacity, path);
        Step::Stay
    }

    fn lost(&mut self, loss: &Loss<'_>, path: &Path) -> Step {
        let ours = |sum, packet: &LostPacket| {
            if packet.tag.0 >= self.judged { sum + packet.bytes } else { sum }
        };
        let bytes =
            if loss.packets.is_empty() { loss.bytes } else { loss.packets.iter().fold(Bytes::ZERO, ours) };
        self.lost = (self.lost.wide() + bytes).into();
        if matches!(self.stage, Stage::Closed | Stage::First) {
            return Step::Stay;
        }
        let budget =
            self.window.wide().scale(LOSS_BUDGET.0, LOSS_BUDGET.1).max(path.mss * LOSS_BUDGET_PACKETS);
        if self.lost.wide() <= budget {
            return Step::Stay;
        }
        let rate = self.delivery.unwrap_or(self.pace / 2).min(self.pace);
        found(rate, Cause::Loss, path)
    }

    /// Exits with the present window. The avoidance law then responds to `cause`.
    fn leave(&self, cause: Cause) -> Step {
        let learned = PathEstimate { window: self.window.wide(), ssthresh: None, rate: None };
        Step::Exit(Exit { cause, learned })
    }
}

/// Exits with `rate` and the window that sustains this rate.
fn found(rate: Rate, cause: Cause, path: &Path) -> Step {
    let window = product(rate, path).max(path.mss * 4);
    Step::Exit(Exit { cause, learned: PathEstimate { window, ssthresh: Some(window), rate: Some(rate) } })
}

/// Returns the IP bytes of full packets with a total payload of `payload`.
fn in_packets(payload: Bytes, path: &Path) -> Bytes {
    payload.scale(path.wire.get(), path.mss.get())
}

/// Returns the payload in flight at `rate` and the minimum RTT.
fn product(rate: Rate, path: &Path) -> Bytes {
    payload(rate, path).over(path.min_rtt.unwrap_or(Span::ZERO))
}

/// Returns the payload share of the IP rate `rate`.
fn payload(rate: Rate, path: &Path) -> Rate {
    rate.scale(path.mss.get(), path.wire.get())
}

/// Returns a window that does not limit a sender paced at `rate`.
fn window_with_headroom(rate: Rate, path: &Path) -> Bytes {
    product(rate, path).scale(11, 8) + path.mss * WINDOW_HEADROOM_PACKETS
}

impl Startup for Leap {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(*origin, event, path),
            Event::Established { syn_lost, .. } => self.established(*syn_lost, event, path),
            _ if self.stage == Stage::Plain => self.slow.on(event, path),
            Event::Sent(sent) => {
                self.sent(sent, path);
                Step::Stay
            }
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { .. } => self.leave(Cause::Mark),
            Event::TimedOut { .. } => self.leave(Cause::Timeout),
            Event::MssChanged if self.stage == Stage::Closed => {
                self.window = self.initial(path).into();
                self.slow.on(event, path)
            }
            Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => Step::Stay,
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = Plan { tag: Tag(self.tag), ..Plan::ack_clocked(self.window.wide(), None) };
        match self.stage {
            Stage::Closed => Plan { pacing: Pacing::Hold, ..plan },
            Stage::Plain => self.slow.plan(path),
            Stage::First if self.pace.is_zero() => plan,
            Stage::First | Stage::Probe | Stage::Rise | Stage::Verify | Stage::Hold => {
                Plan { pacing: Pacing::Rate { rate: self.pace, burst: path.wire }, ..plan }
            }
        }
    }
}
