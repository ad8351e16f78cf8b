//! Leap: Firstflight's own start-up. The spread of the first flight's ACKs gives an estimate of the bottleneck's rate. A paced train a
//! little below that rate measures how much of it is available. Then the pipe is filled, and a train faster than the bottleneck verifies
//! the estimate.
//!
//! - First: the initial window is sent in one burst. The ACKs of a burst arrive at the bottleneck's rate, unless they are aggregated.
//! - Probe: a train is sent at `fraction` of that rate. If its delay grows, other flows use a part of the capacity, and the growth
//!   gives the available rate.
//! - Quiet: packets are sent at slow start's pace until the verdict on this train.
//! - Rise: half a BDP of packets is sent just below the rate. The window at most doubles in a round trip, and grows eightfold while packets
//!   do not wait.
//! - Verify: a train is sent at 1.5 times the rate. Its delay must grow if the rate is the bottleneck's. If the delay does not grow, ACKs
//!   were aggregated or spread by something else, and a train at 4 times the rate searches for the bottleneck.
//! - Hold: packets are sent just below the rate for the RTT until the verdict on the train is known.
//! - Fill: other flows use a part of the capacity. The window grows to the available rate, as in slow start, and stops if a queue grows.
//! - Drain: the window of the exit is smaller than the flight. Nothing is sent until the flight fits, so that the avoidance law does not
//!   respond again to losses of packets that were sent before the exit.
//!
//! The profile `alone` has no Quiet and no Fill: Probe lasts for the whole RTT until its verdict, and nothing bounds the growth of Rise.
//!
//! `leap-saved` knows the window of an earlier connection, and also sends a quarter of that window over the first RTT.
//!
//! No paper defines the parameters of this scheme: `docs/schemes/leap.md` has the reason for each.

mod delivery;
mod entry;
mod growth;
mod judge;
mod rates;
mod spread;
mod trend;

use self::delivery::Delivery;
pub(crate) use self::entry::{LEAP, LEAP_SAVED};
use self::growth::Growth;
use self::rates::{cruise, found, payload, per_rtt, product, window_with_headroom};
use self::spread::{Capacity, HoldBack, Spread};
use self::trend::Trend;
use crate::interface::{
    Ack, Cause, Delivered, Event, Exit, Origin, Pacing, Path, PathEstimate, Plan, Sent, Startup, Step, Tag,
};
use crate::schemes::{Initial, SavedPath, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span};

const MILLION: u64 = 1_000_000;
/// The rate of the train that must exceed the bottleneck, relative to the rate to be verified, in hundredths.
const CONFIRM_FACTOR: u16 = 150;
/// The rate of the train that searches for an unknown bottleneck, relative to the delivered rate, in hundredths.
const SEARCH_FACTOR: u16 = 400;
/// The rate of the searching train after the first flight overflowed the queue, in hundredths. Lower, so that the train is not lost.
const SEARCH_FACTOR_AFTER_LOSS: u16 = 200;
/// The minimum number of packets in a train.
const MIN_TRAIN_PACKETS: u64 = 16;
/// The length of a train, in the longest times for which ACKs were held back.
const HOLDBACKS_PER_TRAIN: u64 = 6;
/// The saved window may be too large by this factor. The first RTT uses the saved window divided by it.
const SAVED_WINDOW_DIVISOR: u64 = 4;
/// If the saved RTT is at least this many times the present RTT, it is of another path (RFC 9959 section 3.2).
const MIN_RTT: u64 = 2;
/// If the present RTT is more than this many times the saved RTT, the saved RTT is of another path (RFC 9959 section 4.2.1).
const MAX_RTT_INCREASE: u64 = 10;
/// The length of the first train in packets, in the profile `shared`.
const SHORT_TRAIN_PACKETS: u64 = 24;
/// An initial window of fewer packets may be acknowledged at fewer than four instants, if every second packet is.
const FEW_PACKETS: u64 = 8;

/// The state of the scheme `leap`.
#[derive(Clone, Debug)]
pub struct Leap {
    stage: Stage,
    /// Why Fill or Drain began, which is the cause of the exit after it.
    cause: Cause,
    window: Bytes32,
    growth: Growth,
    /// The estimated rate of the bottleneck. All rates are in IP bits per second.
    capacity: Rate,
    /// The rate at which Rise and Fill fill the pipe, and which Verify confirms.
    target: Rate,
    /// The pacing rate, unless the bound on the window requires a lower one.
    pace: Rate,
    delivery: Delivery,
    trend: Trend,
    spread: Spread,
    holdback: HoldBack,
    /// The tag of packets sent now, the tag before it, and the tag of the packets that are judged.
    tag: u16,
    tag_before: u16,
    judged: u16,
    /// The rate of the train relative to the target, in hundredths.
    factor: u16,
    /// Bytes sent in this stage.
    sent: Bytes32,
    /// Acknowledged bytes and lost bytes of the judged packets.
    judged_acked: Bytes32,
    lost: Bytes32,
    /// The number of ACKs of packets sent after the first train, before its verdict.
    later_acks: u8,
    /// [`Path::delivered`] when the first flight began.
    before: Bytes,
    /// Whether the application or the receiver, and not the plan, limited the judged packets.
    starved: bool,
    /// The number of fast trains without a result: sent at less than their pace because loss recovery or the host limited them, or not
    /// shown by their ACKs.
    void_trains: u8,
    /// Whether the profile is `alone`.
    is_alone: bool,
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
    Quiet,
    Rise,
    Verify,
    Hold,
    Fill,
    Drain,
    /// A later start, or one after a lost SYN: slow start.
    Plain,
}

impl Leap {
    fn with(initial: Initial, saved: Option<SavedPath>, is_alone: bool, fraction_ppm: u32) -> Self {
        let saved = saved.filter(|saved| !saved.window.is_zero() && !saved.rtt.is_zero());
        Self {
            stage: Stage::Closed,
            cause: Cause::Delay,
            window: Bytes32::ZERO,
            growth: Growth::new(),
            capacity: Rate::ZERO,
            target: Rate::ZERO,
            pace: Rate::ZERO,
            delivery: Delivery::default(),
            trend: Trend::default(),
            spread: Spread::default(),
            holdback: HoldBack::default(),
            tag: 0,
            tag_before: 0,
            judged: 0,
            factor: 0,
            sent: Bytes32::ZERO,
            judged_acked: Bytes32::ZERO,
            lost: Bytes32::ZERO,
            later_acks: 0,
            before: Bytes::ZERO,
            starved: false,
            void_trains: 0,
            is_alone,
            fraction_ppm,
            saved: saved.map(|SavedPath { window, rtt }| (window.into(), rtt)),
            slow: SlowStart::new(initial),
            initial: u16::try_from(initial.segments.max(1)).unwrap_or(u16::MAX),
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
        self.tag_before = self.tag;
        self.tag = self.tag.wrapping_add(1).max(1);
        self.sent = Bytes32::ZERO;
    }

    /// Judges each round trip of a bounded Rise or Fill apart, because the pace rises. Exits if the bound does not rise, because
    /// recovery from losses, or a host that sends less than the window, outlasts a round trip.
    fn next_round(&mut self, newest: &Delivered, path: &Path) -> Step {
        let starved = self.starved;
        if is_after(newest.tag.0, self.judged) {
            self.judge(newest.tag.0);
        }
        if newest.tag.0 != self.tag || !self.is_bounded() {
            return Step::Stay;
        }
        self.enter(self.stage);
        if self.growth.has_stalled() && !starved {
            let max = per_rtt(self.permitted(), path).min(self.target);
            let rate = self.delivery.rate().unwrap_or(max).min(max);
            let cause = if path.recovering { Cause::Loss } else { Cause::RateFlat };
            return self.leave_at(rate, cause, path);
        }
        Step::Stay
    }

    /// Judges the packets with the tag `tag` from here on.
    fn judge(&mut self, tag: u16) {
        self.judged = tag;
        self.trend = Trend::default();
        self.starved = false;
        self.judged_acked = Bytes32::ZERO;
        self.lost = Bytes32::ZERO;
        self.later_acks = 0;
    }

    fn first_flight(&mut self, path: &Path) {
        self.enter(Stage::First);
        self.judge(self.tag);
        self.spread = Spread::default();
        self.holdback = HoldBack::default();
        self.growth = Growth::new();
        self.delivery = Delivery::default();
        self.void_trains = 0;
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
        self.pace = per_rtt(more, path);
    }

    fn acked_in_first(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) -> Step {
        let is_own = newest.tag.0 == self.judged;
        let initial = self.initial(path);
        let delivered = path.delivered - self.before;
        self.window = (self.window.wide() + ack.growth).into();
        if is_own {
            self.spread.add(delivered, initial, path.now);
            if delivered < initial {
                return Step::Stay;
            }
        }
        // The bytes that slow start would send in the next RTT.
        let double = per_rtt((initial + delivered) * 2, path);
        if double.is_zero() {
            return Step::Stay;
        }
        let due = if is_own { initial } else { initial + newest.bytes };
        let overflowed = self.lost.wide().max(due - delivered) >= path.mss * 2;
        match self.spread.capacity(path) {
            Capacity::Unknown if overflowed => {
                // The queue is smaller than the first flight. The delivered bytes are its size.
                let through = per_rtt(delivered.max(path.mss * 2), path);
                self.search(through, SEARCH_FACTOR_AFTER_LOSS, path);
            }
            Capacity::Unknown => self.search(double, SEARCH_FACTOR, path),
            // The first flight filled the pipe. A train would only be queued.
            Capacity::Even(rate) if product(rate, path) <= initial => {
                let cause = if overflowed { Cause::Loss } else { Cause::Dispersion };
                return self.leave_at(rate, cause, path);
            }
            Capacity::Uneven(rate) if overflowed && product(rate, path) <= initial => {
                return self.leave_at(rate, Cause::Loss, path);
            }
            // A queue that is shorter than the first flight does not hold a train either.
            Capacity::Even(rate) | Capacity::Uneven(rate) if overflowed && !self.is_alone => {
                self.capacity = rate;
                self.fill(cruise(rate), Cause::Loss, path);
            }
            Capacity::Even(rate) => self.probe(rate, path),
            // A few packets have few ACKs, which nothing held back.
            Capacity::Uneven(rate) if overflowed || initial < path.mss * FEW_PACKETS => {
                self.probe(rate, path);
            }
            Capacity::Uneven(rate) => self.search(double.max(rate), SEARCH_FACTOR, path),
        }
        Step::Stay
    }

    fn probe(&mut self, capacity: Rate, path: &Path) {
        self.capacity = capacity;
        self.target = capacity;
        self.pace = capacity.scale(u64::from(self.fraction_ppm), MILLION);
        let pipe = product(capacity, path).max(path.mss * 4);
        self.window = if self.is_alone {
            pipe.into()
        } else {
            // What is in flight, the train, and slow start's packets, but not more than the pipe holds.
            let train = self.short_train(path);
            (path.pipe + train + self.slow_start_flight(path)).min((pipe + path.mss * 4).max(train)).into()
        };
        self.enter(Stage::Probe);
        self.judge(self.tag);
    }

    /// Returns the length of the first train in the profile `shared`.
    fn short_train(&self, path: &Path) -> Bytes {
        (path.mss * SHORT_TRAIN_PACKETS).min(product(self.capacity, path).max(path.mss * 4))
    }

    /// Returns the bytes that slow start sends in the second round trip.
    fn slow_start_flight(&self, path: &Path) -> Bytes {
        self.initial(path) * 2
    }

    fn rise(&mut self, target: Rate, path: &Path) {
        self.target = target;
        self.pace = cruise(target);
        self.window = window_with_headroom(target, path).into();
        if !self.is_alone {
            // The window of a small pipe does not grow further, because it is not the limit.
            let pipe = product(target, path);
            self.window = self.window.wide().min((pipe * 3 / 2).max(path.mss * 4)).into();
            self.growth.bound_by_twice(self.proven(path));
        }
        self.enter(Stage::Rise);
        self.judge(self.tag);
    }

    /// Fills the pipe to `rate`, which other flows do not use. The start-up then ends with `cause`.
    fn fill(&mut self, rate: Rate, cause: Cause, path: &Path) {
        self.cause = cause;
        self.target = rate;
        self.pace = rate;
        self.window = product(rate, path).max(path.mss * 4).into();
        self.growth.release();
        self.growth.bound_by_twice(self.proven(path));
        self.enter(Stage::Fill);
        self.judge(self.tag);
    }

    /// Returns the bytes of a round trip that did not build a queue.
    fn proven(&self, path: &Path) -> Bytes {
        path.pipe.max(self.short_train(path)).max(self.initial(path))
    }

    /// Continues as slow start with `window`.
    fn go_slow(&mut self, window: Bytes) {
        self.slow = SlowStart::resumed(self.initial, window, true);
        self.stage = Stage::Plain;
    }

    /// Returns the window that slow start would have.
    fn slow_start_window(&self, path: &Path) -> Bytes {
        self.initial(path) + (path.delivered - self.before)
    }

    /// Returns the part of the window that the bound permits.
    fn permitted(&self) -> Bytes {
        self.growth.permitted(self.window.wide())
    }

    /// Returns whether the bound, and not the window, limits what may be in flight.
    fn is_bounded(&self) -> bool {
        self.permitted() < self.window.wide()
    }

    /// Returns the pacing rate. A bounded window is sent over half an RTT, so that the bound grows as fast as it may.
    fn paced(&self, path: &Path) -> Rate {
        if matches!(self.stage, Stage::Rise | Stage::Fill) && self.is_bounded() {
            self.pace.min(per_rtt(self.permitted() * 2, path))
        } else {
            self.pace
        }
    }

    /// Searches for the bottleneck with a train at `rate` times `factor` hundredths.
    fn search(&mut self, rate: Rate, factor: u16, path: &Path) {
        self.target = rate;
        self.capacity = rate;
        self.factor = factor;
        if !self.is_alone && self.stage == Stage::First {
            let train = path.mss * MIN_TRAIN_PACKETS;
            self.growth.bound_by_twice(self.slow_start_flight(path).max(path.pipe).max(train));
        }
        self.window = (window_with_headroom(rate, path) + self.train(path)).into();
        self.pace = rate.scale(u64::from(factor), 100);
        self.enter(Stage::Verify);
        self.judge(self.tag);
    }

    /// Returns the length of a train that must exceed the bottleneck: an eighth of the BDP, or more if aggregated ACKs would hide a train
    /// of that length, up to one BDP. It is at most half of what the bound on the window permits.
    fn train(&self, path: &Path) -> Bytes {
        let pipe = product(self.target, path);
        let fast = payload(self.target, path).scale(u64::from(self.factor), 100);
        let shown = fast.over(self.holdback.longest() * HOLDBACKS_PER_TRAIN);
        let min = path.mss * MIN_TRAIN_PACKETS;
        let max = (self.growth.permitted(Bytes::MAX) / 2).max(min);
        (pipe / 8).max(min).max(shown.min(pipe)).min(max)
    }

    fn sent(&mut self, sent: &Sent, path: &Path) {
        if sent.tag.0 != self.tag || sent.retransmission {
            return;
        }
        self.sent = (self.sent.wide() + sent.bytes).into();
        let is_over = |quota: Bytes| self.sent.wide() >= quota;
        match self.stage {
            Stage::First if self.tag == self.judged && is_over(self.initial(path)) => self.after_burst(path),
            Stage::Probe if !self.is_alone && is_over(self.short_train(path)) => {
                self.pace = self.pace.min(per_rtt(self.slow_start_flight(path), path));
                self.enter(Stage::Quiet);
            }
            Stage::Rise
                if !self.is_bounded()
                    && is_over((product(self.target, path) / 2).max(path.mss * (MIN_TRAIN_PACKETS / 2))) =>
            {
                self.factor = CONFIRM_FACTOR;
                self.pace = self.target.scale(u64::from(CONFIRM_FACTOR), 100);
                self.window = (self.window.wide() + self.train(path)).into();
                self.enter(Stage::Verify);
            }
            Stage::Verify if is_over(self.train(path)) => {
                self.pace = cruise(self.target);
                self.enter(Stage::Hold);
            }
            Stage::Closed
            | Stage::First
            | Stage::Probe
            | Stage::Quiet
            | Stage::Rise
            | Stage::Verify
            | Stage::Hold
            | Stage::Fill
            | Stage::Drain
            | Stage::Plain => {}
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        self.delivery.acked(ack, path);
        let Some(newest) = ack.newest_packet() else { return Step::Stay };
        let is_calm = !newest.retransmitted && {
            let delay = path.now.since(newest.sent_at);
            self.growth.is_calm(delay, self.capacity.time_for(path.wire))
        };
        match self.stage {
            Stage::Plain => self.slow.grow(ack.slow_start_growth(path.mss)),
            Stage::First => {
                self.holdback.acked(ack.whole_packets(), newest.tag, path.now);
                self.acked_in_first(ack, newest, path)
            }
            Stage::Probe | Stage::Quiet | Stage::Rise | Stage::Verify | Stage::Hold => {
                let was_bounded = self.is_bounded();
                self.growth.acked(ack.growth, is_calm);
                if self.stage == Stage::Rise && was_bounded && !self.is_bounded() {
                    // From here on packets are sent at the whole pace. They are judged apart from those before.
                    self.enter(Stage::Rise);
                }
                // A bounded Rise pauses within a round trip, which holds no ACK back.
                if self.stage != Stage::Rise || !was_bounded {
                    self.holdback.acked(ack.whole_packets(), newest.tag, path.now);
                }
                self.acked_in_train(ack, newest, path)
            }
            Stage::Fill => {
                self.growth.acked(ack.growth, false);
                self.acked_in_fill(ack, newest, path)
            }
            Stage::Drain if newest.tag.0 == self.tag => found(self.target, self.cause, path),
            Stage::Closed | Stage::Drain => Step::Stay,
        }
    }

    fn acked_in_train(&mut self, ack: &Ack<'_>, newest: &Delivered, path: &Path) -> Step {
        let fast = self.tag_before;
        let is_later = is_after(newest.tag.0, self.judged);
        match self.stage {
            // The first ACK of the fast train arrived. The judgement of the earlier packets is complete.
            Stage::Hold if self.judged != fast && !is_after(fast, newest.tag.0) => self.judge(fast),
            Stage::Hold if is_later && is_after(fast, newest.tag.0) => self.judge(newest.tag.0),
            Stage::Verify if is_later && newest.tag.0 != self.tag => self.judge(newest.tag.0),
            Stage::Rise => {
                let step = self.next_round(newest, path);
                if matches!(step, Step::Exit(_)) || self.stage == Stage::Drain {
                    return step;
                }
            }
            _ => {}
        }
        self.measure(ack, newest, path);
        match self.stage {
            // The train is still being sent.
            Stage::Verify if self.judged == self.tag => Step::Stay,
            Stage::Hold if self.judged == fast => {
                let is_in = newest.tag.0 == self.tag;
                if is_in { self.verdict(path) } else { Step::Stay }
            }
            Stage::Probe if !self.is_alone => Step::Stay,
            Stage::Quiet => self.check_short_train(newest, path),
            _ => self.check_queue(path),
        }
    }

    /// Exits with the present window. The avoidance law then responds to `cause`.
    fn leave(&self, cause: Cause) -> Step {
        let learned = PathEstimate { window: self.permitted(), ssthresh: None, rate: None };
        Step::Exit(Exit { cause, learned })
    }
}

/// Returns whether `tag` is of a later plan than `other`. Tags wrap around.
fn is_after(tag: u16, other: u16) -> bool {
    tag.wrapping_sub(other).wrapping_sub(1) < u16::MAX / 2
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
        let plan = Plan { tag: Tag(self.tag), ..Plan::ack_clocked(self.permitted(), None) };
        match self.stage {
            Stage::Closed => Plan { pacing: Pacing::Hold, ..plan },
            Stage::Plain => self.slow.plan(path),
            Stage::First if self.pace.is_zero() => plan,
            Stage::First
            | Stage::Probe
            | Stage::Quiet
            | Stage::Rise
            | Stage::Verify
            | Stage::Hold
            | Stage::Fill
            | Stage::Drain => {
                Plan { pacing: Pacing::Rate { rate: self.paced(path), burst: path.wire }, ..plan }
            }
        }
    }
}
