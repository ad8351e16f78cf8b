//! Rapid Start (draft-kazuho-ccwg-rapid-start-02): slow start that triples the window per round trip while the delay shows no growing
//! queue, and doubles it otherwise. The first flight is paced over a whole RTT, and may be twice as large.
//!
//! At the first loss the window falls slightly, and sending pauses while the queue drains. After that the window falls with each byte that
//! is acknowledged or found lost. After recovery it is beta times what the path and its queue held, however much was lost. Start-up lasts
//! to the end of that recovery. Its exit has a threshold, so that the law after it reduces no further.
//!
//! Our reading of what the draft leaves open:
//!
//! - The recent minimum RTT is that of the present round (section 3.2 names `currentRoundMinRTT` of RFC 9406). Before the round's first
//!   sample the window doubles.
//! - After the first flight, packets are paced at three windows per RTT while the window triples, and otherwise at two. In recovery they
//!   are paced at two. Section 3.1 covers the first flight only.
//! - Each byte counts once for the reduction, acknowledged or lost: as many bytes as were in flight when recovery began (appendix A).
//!   Retransmissions do not count again.
//! - The window stops falling at beta times the initial window, which section 3.3 allows.
//! - A mark without a loss ends the start-up at once with beta times the window, which is where the reduction of section 3.3.2 ends.
//! - Only the first slow start of a connection runs Rapid Start; after a timeout or an idle time it is plain slow start.

use crate::interface::{
    Ack, Cause, Event, Exit, Loss, Origin, Pacing, Path, PathEstimate, Plan, Startup, Step,
};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::u32_micros::{self, Micros};
use crate::units::Bytes;

/// Section 3.2: `queue_buildup_thresh` is the lesser of the minimum RTT plus 4 ms, and 1.1 times it.
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
    /// `rtt_floor`: the minimum RTT sample of this round.
    floor: Option<Micros>,
    /// In recovery: bytes in flight when it began that were neither acknowledged nor found lost since.
    uncounted: Bytes32,
    /// In recovery: the window at which the reduction stops.
    min: Bytes32,
    /// The factor beta, in hundredths.
    beta: u8,
    times: u8,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The first flight is sent, paced over one round trip.
    First,
    /// The window grows.
    Growing,
    /// The first loss is being repaired.
    Repair,
    /// Plain slow start, in a later start.
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
            kind: Kind::Count { min: 1, max: TIMES as u64 },
            default: Value::Count(TIMES as u64),
            help: "the first flight, in initial windows (section 3.1 allows two)",
        },
        Parameter {
            name: SHARE,
            kind: Kind::Count { min: 50, max: 95 },
            default: Value::Count(BETA as u64),
            help: "beta in hundredths: what the first repair leaves of what path and queue hold; 50 is Reno's",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::Rate])),
    make: |initial, settings| RapidStart::from_numbers(initial, &settings.numbers()).into(),
};

impl RapidStart {
    /// Returns Rapid Start with twice the initial window and CUBIC's beta.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            floor: None,
            uncounted: Bytes32::ZERO,
            min: Bytes32::ZERO,
            beta: BETA,
            times: TIMES,
            stage: Stage::First,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
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
        // A fresh connection begins with what its handshake may use; the window grows once the handshake is over.
        if origin == Origin::PathChange && step == Step::Stay {
            return self.slow.grow(self.added(path));
        }
        step
    }

    /// Returns the bytes by which the first flight exceeds that of slow start.
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
            let rtt = u32_micros::of(sample.rtt);
            self.floor = Some(self.floor.map_or(rtt, |min| min.min(rtt)));
        }
        // Section 3.2: two bytes for every byte acknowledged, or one. Bytes count, not ACKs.
        self.slow.grow(if self.is_free(path) { ack.growth * 2 } else { ack.growth })
    }

    /// Returns whether no queue seems to build: `rtt_floor <= queue_buildup_thresh` (section 3.2).
    fn is_free(&self, path: &Path) -> bool {
        let (Some(floor), Some(min)) = (self.floor, path.min_rtt) else { return false };
        let min = u32_micros::of(min).get();
        let threshold = min.saturating_add(ADDED).min(min.saturating_add(min / TENTHS));
        floor.get() <= threshold
    }

    /// Handles a loss (section 3.3). The first loss multiplies the window by `silence_factor`; each loss also lowers it by a share of the
    /// lost bytes.
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
        // The minimum is the largest of three: the window if path and queue hold a third of the present window; the initial window times
        // beta; two segments.
        let min = before.scale(beta, 300).max(self.slow.initial(path).scale(beta, 100)).max(path.mss * 2);
        self.min = min.min(before).into();
        // Bytes acknowledged selectively before the loss was found are no longer in the path.
        self.uncounted = (path.pipe + loss.bytes).min(path.flight).into();
        self.stage = Stage::Repair;
        let (num, den) = self.loss_factor();
        self.slow.set_window(before.scale(num, den).max(self.min.wide()));
        self.count(loss.bytes, self.loss_factor());
        Step::Stay
    }

    /// Lowers the window by a factor of `bytes`. Only bytes that were in flight when recovery began count.
    fn count(&mut self, bytes: Bytes, (num, den): (u64, u64)) {
        let counted = bytes.min(self.uncounted.wide());
        self.uncounted = (self.uncounted.wide() - counted).into();
        let window = self.slow.window() - counted.scale(num, den);
        self.slow.set_window(window.max(self.min.wide()));
    }

    /// Returns K (1 - beta) with K = 2/3 (section 3.3.1).
    fn ack_factor(&self) -> (u64, u64) {
        (2 * (100 - u64::from(self.beta)), 300)
    }

    /// Returns beta + K (1 - beta), which is also `silence_factor` (section 3.3.1).
    fn loss_factor(&self) -> (u64, u64) {
        (200 + u64::from(self.beta), 300)
    }

    /// Exits after the first recovery: the law takes over with the window at its end, and need not reduce.
    fn repaired(&self) -> Step {
        left(Cause::Loss, self.slow.window())
    }

    /// Exits at a mark with beta times the window (section 3.3.2).
    fn marked(&self, path: &Path) -> Step {
        let window = self.slow.window().scale(u64::from(self.beta), 100).max(path.mss * 2);
        left(Cause::Mark, window.min(self.slow.window()))
    }

    /// Returns the number of windows to send per RTT.
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
    Step::Exit(Exit { cause, learned: PathEstimate { window, ssthresh: Some(window), rate: None } })
}

impl Startup for RapidStart {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(*origin, event, path),
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { .. } if self.stage != Stage::Plain => {
                // The recovery from a loss also answers the marks of its round trip.
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
