//! Leap: a start-up of our own. The spread of the first flight's ACKs says what the bottleneck can carry; a paced train a
//! little slower than that says whether as much is left; then the pipe is filled at once, and a train faster than the
//! bottleneck shows whether the first flight was right.
//!
//! - First: the initial window leaves in one burst. The ACKs of a burst come at the bottleneck's rate, if nothing holds them back.
//! - Probe: packets leave at `fraction` of that rate. If their delay grows, others take a part, and the rest is what the growth says.
//! - Rise: packets leave just below the rate, half a pipe of them.
//! - Verify: a train leaves at one and a half times the rate, so that its delay must grow if the rate is the bottleneck's. If it
//!   does not, ACKs were held back or spread by something else, and a train at four times the rate looks for the bottleneck.
//! - Hold: packets leave just below the rate until the verdict on the train is in, a round trip later.
//!
//! `leap-saved` knows what an earlier connection found: a quarter of it leaves over the first round trip, too.
//!
//! The scheme is ours, so that no paper says what its numbers are: `docs/schemes/leap.md` has the reasoning behind each.

mod spread;
mod trend;

use self::spread::{Capacity, HoldBack, Spread};
use self::trend::{Slope, TICKS, Trend};
use crate::compact::Bytes32;
use crate::evidence::is_starved;
use crate::registry::{Ability, Help, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, place};
use crate::schemes::{Initial, SlowStart};
use crate::seam::{
    Ack, Cause, Delivered, Event, Exit, Learned, Loss, LostPacket, Origin, Pacing, Path, Plan, Sent, Startup,
    Step, Tag,
};
use crate::units::{Bytes, Rate, Span, Time};
use crate::wide::mul_div;

const MILLION: u64 = 1_000_000;
/// The share of the capacity at which Probe sends.
const FRACTION_PPM: u32 = 750_000;
/// The share of the rate at which Rise and Hold send: a queue that others built drains.
const BELOW: (u64, u64) = (98, 100);
/// How fast the train is that must meet a bottleneck, over the rate to be confirmed, in hundredths.
const CONFIRM: u16 = 150;
/// How fast the train is that looks for a bottleneck of which nothing is known, over what came through, in hundredths.
const SEARCH: u16 = 400;
/// The same where the first flight overflowed the queue: the next train must not be lost, too.
const SEARCH_AFTER_LOSS: u16 = 200;
/// Growth of the delay that Probe, Rise and Hold take for a queue of their own, in millionths of the time.
const GROWING: u64 = 50_000;
/// Growth of the delay in a train that is one and a half or four times as fast as the bottleneck should be.
const CONFIRMED: u64 = 20_000;
/// A verdict up to this over the rate, or under it, confirms it.
const CLOSE: (u64, u64) = (5, 4);
/// Losses up to this share of the window end nothing: random loss of 1 % must not.
const LOSSES: (u64, u64) = (3, 100);
/// … and up to this number of packets.
const FEW: u64 = 4;
/// Packets in a train at least.
const TRAIN: u64 = 16;
/// How many hold-backs of ACKs a train spans.
const HELD: u64 = 6;
/// The window beyond the pipe: three eighths, and this number of packets, so that the pacing is the limit and ACKs that are held back
/// stop nothing.
const ROOM: u64 = 20;
/// What is saved may be too large by this factor: so much less leaves in the first round trip.
const STALE: u64 = 4;
/// A saved round trip at least this many times the present one is another path's (RFC 9959 section 3.2).
const LEAST_RTT: u64 = 2;
/// A round trip more than this many times the saved one is another path's (RFC 9959 section 4.2.1).
const MOST_RTT: u64 = 10;
/// TCP's largest window (RFC 7323 section 2.3).
const LARGEST: Bytes = Bytes::new(1 << 30);

/// Leap.
#[derive(Clone, Debug)]
pub struct Leap {
    stage: Stage,
    window: Bytes32,
    /// What the bottleneck carries, as far as is known. Rates here are in IP bits per second.
    capacity: Rate,
    /// The rate that Rise fills the pipe with and Verify confirms.
    target: Rate,
    /// The pace.
    pace: Rate,
    /// The newest delivery rate.
    delivery: Option<Rate>,
    trend: Trend,
    spread: Spread,
    held: HoldBack,
    /// The tag of the packets that leave, and of those that are judged.
    tag: u16,
    judged: u16,
    /// How fast the train is over the target, in hundredths.
    factor: u16,
    /// Bytes sent in this stage.
    sent: Bytes32,
    /// Bytes acknowledged of those that are judged, without those of the first instant; and bytes of them that were lost.
    came: Bytes32,
    lost: Bytes32,
    first: Option<Time>,
    /// [`Path::delivered`] when the first flight began.
    before: Bytes,
    /// Whether the application or the receiver, and not the plan, set the pace of what is judged.
    starved: bool,
    fraction_ppm: u32,
    saved: Option<(Bytes32, Span)>,
    /// Every start that is not a connection's first.
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
    kind: Kind::Fraction { least_ppm: 100_000, most_ppm: 1_000_000 },
    default: Value::Fraction { ppm: FRACTION_PPM },
    help: "the share of the capacity at which the first train is paced: less loses less beside others",
};

pub(crate) const LEAP: SchemeEntry = SchemeEntry {
    name: "leap",
    summary: "the first flight's spread gives the rate, a paced train what is left of it, a faster one the proof",
    source: "docs/schemes/leap.md",
    law: "bbr",
    parameters: &[FRACTION_PARAMETER],
    needs: Needs::of(&[
        Ability::AckClock,
        Ability::Rate,
        Ability::Sends,
        Ability::NewestAck,
        Ability::PacketCounts,
        Ability::DeliveryRate,
    ])
    .using(&[Ability::Marks, Ability::LostPackets, Ability::ExactDepartures, Ability::DenseAcks]),
    make: |initial, settings| Leap::from_numbers(initial, &settings.numbers()).into(),
};

pub(crate) const LEAP_SAVED: SchemeEntry = SchemeEntry {
    name: "leap-saved",
    summary: "leap that also sends a quarter of what an earlier connection found in its first round trip",
    parameters: &[
        FRACTION_PARAMETER,
        Parameter {
            name: SAVED,
            kind: Kind::Bytes { least: Bytes::ZERO, most: LARGEST },
            default: Value::Bytes(Bytes::ZERO),
            help: "bytes that the earlier connection had acknowledged in a round trip; 0 is nothing saved",
        },
        Parameter {
            name: RTT,
            kind: Kind::Span { least: Span::ZERO, most: Span::from_secs(60) },
            default: Value::Span(Span::ZERO),
            help: "the earlier connection's least round-trip time; 0 is nothing saved",
        },
    ],
    needs: LEAP.needs.helped_by(Help::Memory),
    make: |initial, settings| Leap::from_saved(initial, &settings.numbers(), None).into(),
    ..LEAP
};

impl Leap {
    /// Leap, with the window and the least round trip that an earlier connection over the path saved.
    pub fn new(initial: Initial, saved: Option<(Bytes, Span)>) -> Self {
        let saved = saved.filter(|(window, rtt)| !window.is_zero() && !rtt.is_zero());
        Self {
            stage: Stage::Closed,
            window: Bytes32::ZERO,
            capacity: Rate::ZERO,
            target: Rate::ZERO,
            pace: Rate::ZERO,
            delivery: None,
            trend: Trend::default(),
            spread: Spread::default(),
            held: HoldBack::default(),
            tag: 0,
            judged: 0,
            factor: 0,
            sent: Bytes32::ZERO,
            came: Bytes32::ZERO,
            lost: Bytes32::ZERO,
            first: None,
            before: Bytes::ZERO,
            starved: false,
            fraction_ppm: FRACTION_PPM,
            saved: saved.map(|(window, rtt)| (window.into(), rtt)),
            slow: SlowStart::new(initial),
            initial: u16::try_from(initial.segments.max(1)).unwrap_or(u16::MAX),
        }
    }

    /// The scheme with these parameters, in the order of the entry of `leap`.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self {
            fraction_ppm: numbers.ppm(const { place(LEAP.parameters, FRACTION) }),
            ..Self::new(initial, None)
        }
    }

    /// The scheme with these parameters, in the order of the entry of `leap-saved`. What the host itself remembers of an
    /// earlier connection goes before what the parameters say.
    pub fn from_saved(initial: Initial, numbers: &Numbers, remembered: Option<(Bytes, Span)>) -> Self {
        let window = numbers.bytes(const { place(LEAP_SAVED.parameters, SAVED) });
        let rtt = numbers.span(const { place(LEAP_SAVED.parameters, RTT) });
        Self {
            fraction_ppm: numbers.ppm(const { place(LEAP_SAVED.parameters, FRACTION) }),
            ..Self::new(initial, remembered.or(Some((window, rtt))))
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

    /// What follows leaves under a tag of its own.
    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.tag = self.tag.wrapping_add(1).max(1);
        self.sent = Bytes32::ZERO;
    }

    /// From here on the packets of this tag are judged.
    fn judge(&mut self, tag: u16) {
        self.judged = tag;
        self.trend = Trend::default();
        self.first = None;
        self.starved = false;
        self.came = Bytes32::ZERO;
        self.lost = Bytes32::ZERO;
    }

    fn first_flight(&mut self, path: &Path) {
        self.enter(Stage::First);
        self.judge(self.tag);
        self.spread = Spread::default();
        self.held = HoldBack::default();
        self.pace = Rate::ZERO;
        self.before = path.delivered;
        self.window = self.initial(path).into();
    }

    /// The first flight has left in a burst. What is saved follows at a pace that a path with a quarter of it carries.
    fn after_burst(&mut self, path: &Path) {
        self.enter(Stage::First);
        let (Some((saved, saved_rtt)), Some(rtt)) = (self.saved.take(), path.min_rtt) else { return };
        let is_other_path = rtt * LEAST_RTT <= saved_rtt || rtt > saved_rtt * MOST_RTT;
        let more = saved.wide() / STALE;
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
        // What slow start would send in the next round trip.
        let double = in_packets((initial + delivered) * 2, path);
        let Some(double) = double.per(rtt).filter(|rate| !rate.is_zero()) else { return };
        let due = if is_own { initial } else { initial + newest.bytes };
        let overflowed = self.lost.wide().max(due - delivered) >= path.mss * 2;
        match self.spread.capacity(path) {
            Capacity::Unknown if overflowed => {
                // The queue holds less than the first flight. What came through is what it holds.
                let through = in_packets(delivered.max(path.mss * 2), path);
                self.search(through.per(rtt).unwrap_or(double), SEARCH_AFTER_LOSS, path);
            }
            Capacity::Even(rate) if product(rate, path) <= initial => {
                self.capacity = rate;
                self.rise(rate, path);
            }
            Capacity::Even(rate) => self.probe(rate, path),
            Capacity::Uneven(rate) if overflowed => self.probe(rate, path),
            Capacity::Uneven(rate) => self.search(double.max(rate), SEARCH, path),
            Capacity::Unknown => self.search(double, SEARCH, path),
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
        self.pace = target.scale(BELOW.0, BELOW.1);
        self.window = roomy(target, path).into();
        self.enter(Stage::Rise);
        self.judge(self.tag);
    }

    /// Looks for the bottleneck with a train `factor` hundredths as fast as what came through, or might.
    fn search(&mut self, rate: Rate, factor: u16, path: &Path) {
        self.target = rate;
        self.capacity = rate;
        self.factor = factor;
        self.window = (roomy(rate, path) + self.train(path)).into();
        self.pace = rate.scale(u64::from(factor), 100);
        self.enter(Stage::Verify);
        self.judge(self.tag);
    }

    /// The length of a train that must meet a bottleneck: an eighth of the pipe, or as long as ACKs need to show it, up to a pipe.
    fn train(&self, path: &Path) -> Bytes {
        let pipe = product(self.target, path);
        let fast = payload(self.target, path).scale(u64::from(self.factor), 100);
        let shown = fast.over(self.held.longest() * HELD);
        (pipe / 8).max(path.mss * TRAIN).max(shown.min(pipe))
    }

    fn sent(&mut self, sent: &Sent, path: &Path) {
        if sent.tag.0 != self.tag || sent.retransmission {
            return;
        }
        self.sent = (self.sent.wide() + sent.bytes).into();
        let is_over = |quota: Bytes| self.sent.wide() >= quota;
        match self.stage {
            Stage::First if self.tag == self.judged && is_over(self.initial(path)) => self.after_burst(path),
            Stage::Rise if is_over((product(self.target, path) / 2).max(path.mss * (TRAIN / 2))) => {
                self.factor = CONFIRM;
                self.pace = self.target.scale(u64::from(CONFIRM), 100);
                self.window = (self.window.wide() + self.train(path)).into();
                self.enter(Stage::Verify);
            }
            Stage::Verify if is_over(self.train(path)) => {
                self.pace = self.target.scale(BELOW.0, BELOW.1);
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
                self.held.acked(ack.whole_packets(), newest.tag, path.now);
                self.acked_in_first(ack, newest, path);
                Step::Stay
            }
            Stage::Probe | Stage::Rise | Stage::Verify | Stage::Hold => {
                self.held.acked(ack.whole_packets(), newest.tag, path.now);
                self.acked_in_train(ack, newest, path)
            }
        }
    }

    fn acked_in_train(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) -> Step {
        let fast = self.tag.wrapping_sub(1);
        // The ACKs of the fast train begin: what was judged before is settled.
        if self.stage == Stage::Hold && self.judged != fast && newest.tag.0 >= fast {
            self.judge(fast);
        }
        if newest.tag.0 == self.judged && !newest.retransmitted {
            self.starved |= is_starved(ack, path);
            let first = *self.first.get_or_insert(path.now);
            if path.now != first {
                self.came = (self.came.wide() + ack.bytes).into();
            }
            self.trend.add(newest.sent_at, path.now, path.min_rtt.unwrap_or(Span::ZERO));
        }
        match self.stage {
            // The train is still leaving.
            Stage::Verify if self.judged == self.tag => Step::Stay,
            Stage::Hold if self.judged == fast => {
                let is_in = newest.tag.0 == self.tag;
                if is_in { self.verdict(path) } else { Step::Stay }
            }
            _ => self.looks(path),
        }
    }

    /// In Probe, in Rise, and until the fast train arrives: whether a queue grows.
    fn looks(&mut self, path: &Path) -> Step {
        let Some(slope) = self.trend.slope() else { return Step::Stay };
        let span = self.trend.span();
        // Three packets may wait on each other by chance.
        let chance = self.trend.in_ticks(self.capacity.time_for(path.wire * 3));
        let is_long = span >= TICKS / 8;
        let grown = mul_div(span, slope.growth(), MILLION);
        if slope.growth() > GROWING && slope.is_sure && grown > chance && is_long {
            return found(self.left(slope), Cause::Delay, path);
        }
        if self.stage == Stage::Probe && is_long && self.came.wide() >= path.mss * TRAIN {
            self.rise(self.capacity, path);
        }
        Step::Stay
    }

    /// What others leave. Packets that leave at a pace and arrive spread by a growth came through at the pace over one and the
    /// growth, and what the bottleneck carries beyond the pace is less than others send, by the growth of the capacity.
    fn left(&self, slope: Slope) -> Rate {
        let spread = MILLION + slope.growth();
        // While the fast train leaves, the packets that are judged are those before it.
        let pace = if self.stage == Stage::Probe { self.pace } else { self.target.scale(BELOW.0, BELOW.1) };
        let others = self.capacity.scale(spread, MILLION) - pace;
        // Half of what came through, at the least: others who answer to losses make room.
        let least = pace.scale(MILLION, spread) / 2;
        (self.capacity - others).max(least)
    }

    /// The fast train has arrived. If its delay did not grow, or its ACKs do not show it, the bottleneck may carry more than it.
    fn verdict(&mut self, path: &Path) -> Step {
        if self.starved {
            // The train did not leave at its pace, and proves nothing: another, once there is data or room for it.
            self.rise(self.target, path);
            return Step::Stay;
        }
        let train = self.target.scale(u64::from(self.factor), 100);
        let slope = self.trend.slope();
        if slope.is_none() {
            self.held.hid_a_train(path.min_rtt.unwrap_or(Span::ZERO));
        }
        let Some(slope) = slope.filter(|slope| slope.is_sure && slope.growth() >= CONFIRMED) else {
            self.search(train, SEARCH, path);
            return Step::Stay;
        };
        let capacity = train.scale(MILLION, MILLION + slope.growth());
        let is_close = capacity <= self.target.scale(CLOSE.0, CLOSE.1)
            && capacity >= self.target.scale(CLOSE.1, CLOSE.0);
        if is_close && self.factor == CONFIRM {
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
        let few = self.window.wide().scale(LOSSES.0, LOSSES.1).max(path.mss * FEW);
        if self.lost.wide() <= few {
            return Step::Stay;
        }
        let rate = self.delivery.unwrap_or(self.pace / 2).min(self.pace);
        found(rate, Cause::Loss, path)
    }

    /// Leaves with the window in force, so that the law answers.
    fn leave(&self, cause: Cause) -> Step {
        let learned = Learned { window: self.window.wide(), ssthresh: None, rate: None };
        Step::Done(Exit { cause, learned })
    }
}

/// Leaves with a rate, and the window that it fills.
fn found(rate: Rate, cause: Cause, path: &Path) -> Step {
    let window = product(rate, path).max(path.mss * 4);
    Step::Done(Exit { cause, learned: Learned { window, ssthresh: Some(window), rate: Some(rate) } })
}

/// IP bytes of full packets with this payload.
fn in_packets(payload: Bytes, path: &Path) -> Bytes {
    payload.scale(path.wire.get(), path.mss.get())
}

/// The payload in flight at a rate and the least round trip.
fn product(rate: Rate, path: &Path) -> Bytes {
    payload(rate, path).over(path.min_rtt.unwrap_or(Span::ZERO))
}

fn payload(rate: Rate, path: &Path) -> Rate {
    rate.scale(path.mss.get(), path.wire.get())
}

/// A window that does not limit a sender who is paced at `rate`.
fn roomy(rate: Rate, path: &Path) -> Bytes {
    product(rate, path).scale(11, 8) + path.mss * ROOM
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
