//! Careful Resume (RFC 9959) around slow start. An earlier connection over the same path saved its window. Once the
//! initial window has arrived, this connection jumps to half of the saved window, and retreats if the jump proves too
//! large.
//!
//! - Reconnaissance: slow start until all of the initial window is acknowledged. Congestion cancels the resumption,
//!   and so does an RTT that is at most half of the saved RTT or more than ten times the saved RTT.
//! - Unvalidated: the window is the jump, paced over one round trip. The phase lasts until the jump has been sent,
//!   its first packet is acknowledged, or a round trip has passed. `PipeSize` counts the bytes acknowledged.
//! - Validating: slow start from the flight, until every packet of the jump is acknowledged.
//! - Safe Retreat, on congestion in either phase: half of `PipeSize`, without growth, until every packet of the jump
//!   is acknowledged; then slow start up to β `PipeSize`, and the exit.
//! - Normal: plain slow start.
//!
//! The scheme stays in start-up through the recovery of a retreat. The jump waits for the application: there is no
//! jump while the data to send does not fill the window. The RFC advises against PRR in a retreat; here the host
//! decides what to send in recovery, and the present host uses PRR towards the window of the retreat.

use crate::evidence::is_starved;
use crate::interface::{Ack, Cause, Event, Exit, Origin, Pacing, Path, Plan, Sent, Startup, Step};
use crate::registry::{Ability, Help, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SavedPath, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Span, Time};

/// Section 3.3: `jump_cwnd` is at most half of `saved_cwnd`.
const JUMP: u64 = 2;
/// Section 3.2: if the saved RTT is at least this many times the minimum RTT, the path is another one.
const MIN_RTT: u64 = 2;
/// Section 4.2.1: if the RTT is more than this many times the saved RTT, the path is another one.
const MOST_RTT: u64 = 10;
/// Section 3.5: β.
const BETA_PPM: u32 = 500_000;
const MILLION: u64 = 1_000_000;
/// TCP's largest window (RFC 7323 section 2.3).
const LARGEST: Bytes = Bytes::new(1 << 30);

/// Careful Resume around slow start.
#[derive(Clone, Debug)]
pub struct CarefulResume {
    slow: SlowStart,
    /// `saved_cwnd` and `saved_rtt`, until they are used or dropped.
    saved: Option<Saved>,
    max_jump: Bytes32,
    beta_ppm: u32,
    phase: Phase,
}

/// The values that an earlier connection over the path saved (section 3.1).
#[derive(Clone, Copy, Debug)]
struct Saved {
    window: Bytes32,
    rtt: Span,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Reconnaissance,
    Unvalidated {
        /// The first byte sent in the jump.
        first: u64,
        pipe: Bytes32,
        entered: Time,
        /// The round-trip time over which the jump is paced.
        rtt: Span,
    },
    Validating {
        /// The offset at which the data of the jump ends.
        last: u64,
        pipe: Bytes32,
    },
    SafeRetreat {
        last: u64,
        pipe: Bytes32,
        cause: Cause,
    },
    Normal {
        /// The congestion that caused a retreat; `None` without a retreat.
        retreated: Option<Cause>,
    },
}

const SAVED: &str = "saved";
const RTT: &str = "rtt";
const MAX_JUMP: &str = "max-jump";
const BETA: &str = "beta";

pub(crate) const CAREFUL_RESUME: SchemeEntry = SchemeEntry {
    name: "careful-resume",
    summary: "slow start that jumps to half of what an earlier connection found, and retreats at a loss",
    source: "RFC 9959",
    law: "reno",
    parameters: &[
        Parameter {
            name: SAVED,
            kind: Kind::Bytes { min: Bytes::ZERO, max: LARGEST },
            default: Value::Bytes(Bytes::ZERO),
            help: "bytes that the earlier connection had acknowledged in a round trip (saved_cwnd); 0 is nothing saved",
        },
        Parameter {
            name: RTT,
            kind: Kind::Span { min: Span::ZERO, max: Span::from_secs(60) },
            default: Value::Span(Span::ZERO),
            help: "the earlier connection's minimum RTT (saved_rtt); 0 is nothing saved",
        },
        Parameter {
            name: MAX_JUMP,
            kind: Kind::Bytes { min: Bytes::new(1), max: LARGEST },
            default: Value::Bytes(LARGEST),
            help: "the largest jump (max_jump)",
        },
        Parameter {
            name: BETA,
            kind: Kind::Fraction { min_ppm: 1, max_ppm: 1_000_000 },
            default: Value::Fraction { ppm: BETA_PPM },
            help: "the share of the validated pipe that is ssthresh after a retreat",
        },
    ],
    needs: NEEDS
        .and(Needs::of(&[Ability::Rate, Ability::Sends, Ability::LateTimer, Ability::NewestAck]))
        .using(&[Ability::Backlog])
        .helped_by(Help::Memory),
    make: |initial, settings| CarefulResume::from_numbers(initial, &settings.numbers(), None).into(),
};

impl CarefulResume {
    /// Returns Careful Resume with the saved window and RTT. Without them it is slow start.
    pub fn new(initial: Initial, saved: Option<SavedPath>) -> Self {
        let saved = saved.filter(|saved| !saved.window.is_zero() && !saved.rtt.is_zero());
        Self {
            slow: SlowStart::new(initial),
            saved: saved.map(|SavedPath { window, rtt }| Saved { window: window.into(), rtt }),
            max_jump: LARGEST.into(),
            beta_ppm: BETA_PPM,
            phase: Phase::Reconnaissance,
        }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry. What the host itself
    /// remembers of an earlier connection overrides the parameters.
    pub fn from_numbers(initial: Initial, numbers: &Numbers, remembered: Option<SavedPath>) -> Self {
        let window = numbers.bytes(const { place(CAREFUL_RESUME.parameters, SAVED) });
        let rtt = numbers.span(const { place(CAREFUL_RESUME.parameters, RTT) });
        Self {
            max_jump: numbers.bytes(const { place(CAREFUL_RESUME.parameters, MAX_JUMP) }).into(),
            beta_ppm: numbers.ppm(const { place(CAREFUL_RESUME.parameters, BETA) }),
            ..Self::new(initial, remembered.or(Some(SavedPath { window, rtt })))
        }
    }

    /// Starts the scheme. Resumes only on a new connection, because the saved values are used once.
    fn begin(&mut self, event: &Event<'_>, origin: Origin, path: &Path) -> Step {
        self.phase = Phase::Reconnaissance;
        if origin != Origin::Fresh {
            self.give_up();
        }
        self.slow.on(event, path)
    }

    fn give_up(&mut self) {
        self.saved = None;
        self.phase = Phase::Normal { retreated: None };
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        match self.phase {
            Phase::Reconnaissance => {
                if let Some(jump) = self.jump(ack, path) {
                    self.resume(jump, path);
                    return Step::Stay;
                }
                self.slow.grow(ack.slow_start_growth(path.mss))
            }
            Phase::Unvalidated { first, pipe, entered, rtt } => {
                let pipe = (pipe.wide() + ack.bytes).into();
                self.phase = Phase::Unvalidated { first, pipe, entered, rtt };
                if path.una > first || path.now.since(entered) > rtt {
                    self.end_jump(path.pipe, path.nxt, path);
                }
                Step::Stay
            }
            Phase::Validating { last, pipe } => {
                let pipe = (pipe.wide() + ack.bytes).into();
                self.phase = Phase::Validating { last, pipe };
                if path.una >= last {
                    self.phase = Phase::Normal { retreated: None };
                }
                self.slow.grow(ack.slow_start_growth(path.mss))
            }
            Phase::SafeRetreat { last, pipe, cause } => {
                let pipe = (pipe.wide() + ack.bytes).into();
                self.phase = Phase::SafeRetreat { last, pipe, cause };
                if path.una >= last {
                    return self.end_retreat(pipe.wide(), cause, path);
                }
                Step::Stay
            }
            Phase::Normal { retreated } => {
                let step = self.slow.grow(ack.slow_start_growth(path.mss));
                because(step, retreated)
            }
        }
    }

    /// Returns `jump_cwnd` if the jump is due now (sections 3.2 and 4.2.1). Cancels the resumption if the jump is not
    /// allowed.
    fn jump(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Bytes> {
        let saved = self.saved?;
        if path.una < self.slow.initial(path).get() {
            return None;
        }
        let (Some(min), Some(latest)) = (path.min_rtt, path.latest_rtt) else { return None };
        let other_path = min * MIN_RTT <= saved.rtt || latest > saved.rtt * MOST_RTT;
        let jump = (saved.window.wide() / JUMP).min(self.max_jump.wide());
        let jump = jump.min(self.slow.threshold().unwrap_or(Bytes::MAX));
        if other_path || jump <= self.slow.window() {
            self.give_up();
            return None;
        }
        // Section 4.2: the jump may wait until there is more to send than the window permits.
        let hungry = !ack.growth.is_zero() && !is_starved(ack, path);
        let waiting = path.backlog.is_none_or(|backlog| path.pipe + backlog > self.slow.window());
        (hungry && waiting).then_some(jump)
    }

    fn resume(&mut self, jump: Bytes, path: &Path) {
        self.slow.set_window(jump);
        self.phase = Phase::Unvalidated {
            first: path.nxt,
            pipe: path.pipe.into(),
            entered: path.now,
            rtt: path.latest_rtt.unwrap_or_default(),
        };
    }

    /// Ends the jump (section 3.3) with `flight` bytes in flight, up to offset `last`.
    fn end_jump(&mut self, flight: Bytes, last: u64, path: &Path) {
        let Phase::Unvalidated { pipe, .. } = self.phase else { return };
        let initial = self.slow.initial(path);
        if flight <= pipe.wide().max(initial) {
            // Too little was sent to judge the path, because the application was the limit.
            let window = pipe.wide().max(initial).min(self.slow.window());
            self.slow.set_window(window);
            self.give_up();
        } else {
            self.slow.set_window(flight.min(self.slow.window()));
            self.phase = Phase::Validating { last, pipe };
        }
        self.saved = None;
    }

    /// Ends the jump once all of it has been sent. [`Path::pipe`] does not yet count the packet being sent.
    fn sent(&mut self, sent: &Sent, path: &Path) {
        let flight = path.pipe + sent.bytes;
        if matches!(self.phase, Phase::Unvalidated { .. }) && flight + path.mss > self.slow.window() {
            let added = if sent.retransmission { 0 } else { sent.bytes.get() };
            self.end_jump(flight, path.nxt + added, path);
        }
    }

    /// Reduces the window to at most half of `PipeSize` and drops the saved values (section 3.5).
    fn congested(&mut self, event: &Event<'_>, cause: Cause, path: &Path) -> Step {
        let (last, pipe) = match self.phase {
            Phase::Unvalidated { pipe, .. } => (path.nxt, pipe),
            Phase::Validating { last, pipe } => (last, pipe),
            Phase::Reconnaissance | Phase::SafeRetreat { .. } | Phase::Normal { .. } => {
                self.give_up();
                return self.slow.on(event, path);
            }
        };
        self.saved = None;
        let window = (pipe.wide() / 2).min(self.slow.window()).max(path.mss);
        self.slow.set_window(window);
        self.phase = Phase::SafeRetreat { last, pipe, cause };
        Step::Stay
    }

    /// Sets ssthresh to β `PipeSize` and continues slow start up to it (section 3.5).
    fn end_retreat(&mut self, pipe: Bytes, cause: Cause, path: &Path) -> Step {
        let ssthresh = pipe.scale(u64::from(self.beta_ppm), MILLION).max(path.mss * 2);
        self.phase = Phase::Normal { retreated: Some(cause) };
        self.slow.set_threshold(Some(ssthresh));
        because(self.slow.grow(Bytes::ZERO), Some(cause))
    }
}

/// Replaces the cause of an exit at the threshold by the congestion that caused a retreat, if a retreat set the
/// threshold.
fn because(step: Step, retreated: Option<Cause>) -> Step {
    match (step, retreated) {
        (Step::Exit(exit), Some(cause)) if exit.cause == Cause::Threshold => {
            Step::Exit(Exit { cause, ..exit })
        }
        _ => step,
    }
}

impl Startup for CarefulResume {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(event, *origin, path),
            Event::Acked(ack) => self.acked(ack, path),
            Event::Sent(sent) => {
                self.sent(sent, path);
                Step::Stay
            }
            Event::Woken => {
                match self.phase {
                    Phase::Unvalidated { entered, rtt, .. } if path.now.since(entered) >= rtt => {
                        self.end_jump(path.pipe, path.nxt, path);
                    }
                    _ => {}
                }
                Step::Stay
            }
            Event::Lost(loss) if loss.opens_episode => self.congested(event, Cause::Loss, path),
            Event::Marked { .. } => self.congested(event, Cause::Mark, path),
            Event::TimedOut { .. } => {
                self.give_up();
                self.slow.on(event, path)
            }
            Event::Established { .. }
            | Event::Lost(_)
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::MssChanged => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = self.slow.plan(path);
        let Phase::Unvalidated { entered, rtt, .. } = self.phase else { return plan };
        let wake = Some(entered + rtt);
        // Section 4.3: an inter-packet time of the current round-trip time × packet size / jump_cwnd.
        let wire = plan.window.scale(path.wire.get(), path.mss.get());
        match wire.per(rtt) {
            Some(rate) => Plan { pacing: Pacing::Rate { rate, burst: path.wire }, wake, ..plan },
            None => Plan { wake, ..plan },
        }
    }
}
