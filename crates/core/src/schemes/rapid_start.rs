//! Rapid Start (draft-kazuho-ccwg-rapid-start-02): slow start that triples the window in a round trip while the delay says that no
//! queue builds, and doubles it otherwise. The first flight is paced over a whole round trip, and may be twice as large.
//!
//! At the first loss the window falls by a little, so that sending pauses while the queue drains, and then with each byte that is
//! acknowledged or found lost. After the repair it is beta times what the path and its queue held, however much was lost. The
//! start-up lasts to the end of that repair, and its exit has a threshold, so that the law that follows reduces no further.
//!
//! What the draft leaves open, and our reading:
//!
//! - The recent least round trip is that of the present round (section 3.2 names `currentRoundMinRTT` of RFC 9406). Before the
//!   round's first sample the window doubles.
//! - After the first flight packets are paced at three times the window a round trip, or twice, as the window grows; in the repair
//!   at twice. Section 3.1 speaks of the first flight alone.
//! - Bytes count for the reduction once, be they acknowledged or lost: as many as were in flight when the repair began
//!   (appendix A). What is sent again counts no more.
//! - The window stops falling at beta times the initial window, which section 3.3 allows.
//! - A mark without a loss ends the start-up at once with beta times the window (section 3.3.2: that is where it ends).
//! - Only the first slow start of a connection runs Rapid Start; after a timeout or an idle time it is plain slow start.

use crate::compact::Bytes32;
use crate::micros::{self, Micros};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::seam::{Ack, Cause, Event, Exit, Learned, Loss, Origin, Pacing, Path, Plan, Startup, Step};
use crate::units::Bytes;

/// Section 3.2: `queue_buildup_thresh` is the lesser of the least round trip plus 4 ms, and 1.1 times it.
const ADDED: u32 = 4_000;
const TENTHS: u32 = 10;
/// Section 3.1: the initial window may be up to twice that of slow start.
const TIMES: u8 = 2;
/// CUBIC's beta (RFC 9438), in hundredths: the default law is CUBIC.
const BETA: u8 = 70;

/// Rapid Start.
#[derive(Clone, Debug)]
pub struct RapidStart {
    slow: SlowStart,
    /// `rtt_floor`: the least sample of this round.
    floor: Option<Micros>,
    /// In the repair: the bytes in flight when it began that were neither acknowledged nor found lost since.
    uncounted: Bytes32,
    /// In the repair: where the window stops falling.
    least: Bytes32,
    /// In hundredths.
    beta: u8,
    times: u8,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The first flight leaves over a round trip.
    First,
    /// The window grows.
    Growing,
    /// The first loss is repaired.
    Repair,
    /// A later start, which is plain slow start.
    Plain,
}

const INITIAL: &str = "initial";
const SHARE: &str = "beta";

pub(crate) const RAPID_START: SchemeEntry = SchemeEntry {
    name: "rapid-start",
    summary: "triples the window every round trip while no queue builds, from a first flight paced over one",
    source: "draft-kazuho-ccwg-rapid-start-02",
    law: "cubic",
    parameters: &[
        Parameter {
            name: INITIAL,
            kind: Kind::Count { least: 1, most: TIMES as u64 },
            default: Value::Count(TIMES as u64),
            help: "the first flight, in initial windows (section 3.1 allows two)",
        },
        Parameter {
            name: SHARE,
            kind: Kind::Count { least: 50, most: 95 },
            default: Value::Count(BETA as u64),
            help: "beta in hundredths: what the first repair leaves of what path and queue hold; 50 is Reno's",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::Rate])),
    make: |initial, settings| RapidStart::from_numbers(initial, &settings.numbers()).into(),
};

impl RapidStart {
    /// Rapid Start with twice the initial window and CUBIC's beta.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            floor: None,
            uncounted: Bytes32::ZERO,
            least: Bytes32::ZERO,
            beta: BETA,
            times: TIMES,
            stage: Stage::First,
        }
    }

    /// The scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let byte = |place| u8::try_from(numbers.count(place)).unwrap_or(u8::MAX);
        Self {
            times: byte(const { place(RAPID_START.parameters, INITIAL) }),
            beta: byte(const { place(RAPID_START.parameters, SHARE) }),
            ..Self::new(initial)
        }
    }

    fn begin(&mut self, origin: Origin, event: &Event<'_>, path: &Path) -> Step {
        let is_first = matches!(origin, Origin::Fresh | Origin::PathChange);
        self.stage = if is_first { Stage::First } else { Stage::Plain };
        self.floor = None;
        let step = self.slow.on(event, path);
        // A fresh connection begins with what its handshake may use; more comes once that is over.
        if origin == Origin::PathChange && step == Step::Stay {
            return self.slow.grow(self.added(path));
        }
        step
    }

    /// What the first flight has beyond slow start's.
    fn added(&self, path: &Path) -> Bytes {
        self.slow.initial(path) * u64::from(self.times.saturating_sub(1))
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        match self.stage {
            Stage::Plain => return self.slow.grow(ack.slow_start_growth(path.mss)),
            Stage::Repair if !path.recovering => return self.repaired(),
            Stage::Repair => {
                self.count(ack.bytes, self.ack_factor());
                return Step::Stay;
            }
            Stage::First => self.stage = Stage::Growing,
            Stage::Growing => {}
        }
        if ack.round_ended {
            self.floor = None;
        }
        if let Some(sample) = ack.rtt {
            let rtt = micros::of(sample.rtt);
            self.floor = Some(self.floor.map_or(rtt, |least| least.min(rtt)));
        }
        // Section 3.2: two bytes for every byte acknowledged, or one. Bytes count, not ACKs.
        self.slow.grow(if self.is_free(path) { ack.growth * 2 } else { ack.growth })
    }

    /// Section 3.2: whether no queue seems to build: `rtt_floor` is at most `queue_buildup_thresh`.
    fn is_free(&self, path: &Path) -> bool {
        let (Some(floor), Some(least)) = (self.floor, path.min_rtt) else { return false };
        let least = micros::of(least).get();
        let threshold = least.saturating_add(ADDED).min(least.saturating_add(least / TENTHS));
        floor.get() <= threshold
    }

    /// Section 3.3: the first loss. The window falls by `silence_factor`, and by what was found lost.
    fn lost(&mut self, loss: &Loss<'_>, path: &Path) -> Step {
        match self.stage {
            Stage::Plain => return self.slow.on(&Event::Lost(*loss), path),
            Stage::Repair => {
                self.count(loss.bytes, self.loss_factor());
                return Step::Stay;
            }
            Stage::First | Stage::Growing if !loss.opens_episode => return Step::Stay,
            Stage::First | Stage::Growing => {}
        }
        let before = self.slow.window();
        let beta = u64::from(self.beta);
        // The window that three times as much as path and queue hold would leave; the initial window times beta; two segments.
        let least = before.scale(beta, 300).max(self.slow.initial(path).scale(beta, 100)).max(path.mss * 2);
        self.least = least.min(before).into();
        // What was acknowledged selectively before the loss was found has left the path.
        self.uncounted = (path.pipe + loss.bytes).min(path.flight).into();
        self.stage = Stage::Repair;
        let (num, den) = self.loss_factor();
        self.slow.set_window(before.scale(num, den).max(self.least.wide()));
        self.count(loss.bytes, self.loss_factor());
        Step::Stay
    }

    /// Lowers the window by a factor of `bytes`, of which those count that were in flight when the repair began.
    fn count(&mut self, bytes: Bytes, (num, den): (u64, u64)) {
        let counted = bytes.min(self.uncounted.wide());
        self.uncounted = (self.uncounted.wide() - counted).into();
        let window = self.slow.window() - counted.scale(num, den);
        self.slow.set_window(window.max(self.least.wide()));
    }

    /// Section 3.3.1: K (1 - beta) with K = 2/3.
    fn ack_factor(&self) -> (u64, u64) {
        (2 * (100 - u64::from(self.beta)), 300)
    }

    /// Section 3.3.1: beta + K (1 - beta), which is `silence_factor`, too.
    fn loss_factor(&self) -> (u64, u64) {
        (200 + u64::from(self.beta), 300)
    }

    /// The first repair is over: the law takes over with the window that it left, and need not reduce.
    fn repaired(&self) -> Step {
        left(Cause::Loss, self.slow.window())
    }

    /// Section 3.3.2: a mark leaves beta times the window.
    fn marked(&self, path: &Path) -> Step {
        let window = self.slow.window().scale(u64::from(self.beta), 100).max(path.mss * 2);
        left(Cause::Mark, window.min(self.slow.window()))
    }

    /// How many windows leave in a round trip.
    fn pace(&self, path: &Path) -> Option<u64> {
        match self.stage {
            Stage::First => Some(1),
            Stage::Growing => Some(if self.is_free(path) { 3 } else { 2 }),
            Stage::Repair => Some(2),
            Stage::Plain => None,
        }
    }
}

fn left(cause: Cause, window: Bytes) -> Step {
    Step::Done(Exit { cause, learned: Learned { window, ssthresh: Some(window), rate: None } })
}

impl Startup for RapidStart {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(*origin, event, path),
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { .. } if self.stage != Stage::Plain => {
                // The repair of a loss answers its round trip's marks, too.
                if self.stage == Stage::Repair { Step::Stay } else { self.marked(path) }
            }
            Event::Established { syn_lost, .. } => {
                let step = self.slow.on(event, path);
                // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
                if self.stage == Stage::First && !syn_lost && step == Step::Stay {
                    return self.slow.grow(self.added(path));
                }
                step
            }
            Event::Sent(_)
            | Event::Marked { .. }
            | Event::TimedOut { .. }
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = self.slow.plan(path);
        if plan.pacing == Pacing::Hold {
            return plan;
        }
        let wire = plan.window.scale(path.wire.get(), path.mss.get());
        let rate = self.pace(path).zip(path.srtt).and_then(|(windows, srtt)| (wire * windows).per(srtt));
        match rate.filter(|rate| !rate.is_zero()) {
            Some(rate) => Plan { pacing: Pacing::Rate { rate, burst: path.wire }, ..plan },
            None => plan,
        }
    }
}
