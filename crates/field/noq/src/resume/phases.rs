//! The phases of Careful Resume (RFC 9959 section 3), without a clock, a store or a controller.

use std::time::{Duration, Instant};

use super::saved::{MAX_WINDOW, Saved};

/// Section 3.3: `jump_cwnd` is at most half of `saved_cwnd`.
const JUMP: u64 = 2;
/// Section 3.2: a minimum RTT of at most `saved_rtt` divided by this is another path's.
const MIN_RTT: u32 = 2;
/// Section 4.2.1: an RTT of more than this many times `saved_rtt` is another path's.
const MAX_RTT: u32 = 10;
/// Section 3.5: the window of a retreat is at most `PipeSize` divided by this.
const RETREAT: u64 = 2;
/// Section 3.5: β is 1 divided by this. The default of the RFC is 0.5.
const BETA: u64 = 2;
/// RFC 9002 section 7.3.2: the reduction of the window after congestion.
const REDUCTION: u64 = 2;
/// RFC 9002 section 7.2: the minimum window, in packets.
const MIN_WINDOW: u64 = 2;
/// Section 4.3.2: no burst is larger than the initial window of ten packets. Before the first packet of the jump, the
/// reported rate is at most this many packets a second. At this rate the pacer of noq saves credit for ten packets, the
/// rate over 10 ms, and discards what it saved above that.
const FIRST_RATE: u64 = 1000;

/// The inner controller may double its window in the round trip that a jump takes. A smaller jump would delay it. The RFC
/// permits a jump and does not require it (section 3.2, "Path confirmed").
const DOUBLING: u64 = 2;

/// The phase of a connection (RFC 9959 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The inner controller decides, and the path is compared with the saved one.
    Reconnaissance,
    /// The window is the jump, paced over a round trip.
    Unvalidated,
    /// The jump has been sent, and its acknowledgements are awaited.
    Validating,
    /// Congestion or another path: half of `PipeSize`, until the last packet of the jump is acknowledged.
    SafeRetreat,
    /// Careful Resume is over.
    Normal,
}

/// The reason why Careful Resume ended, or the state of its jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Reconnaissance or the jump continues.
    Pending,
    /// Nothing was saved for this remote endpoint, or its lifetime was over.
    NothingSaved,
    /// Congestion before the initial window was acknowledged, or before the jump.
    CongestionBeforeJump,
    /// The RTT was not within the range of the saved RTT, before the jump.
    RttNotValidated,
    /// Half of the saved window is not above twice the present window, to which slow start grows in a round trip.
    NoGain,
    /// The saved values were not free: another connection uses them, or their lifetime ended in Reconnaissance.
    NotClaimed,
    /// The application sent too little to test the path.
    RateLimited,
    /// Every packet of the jump was acknowledged without congestion.
    Validated,
    /// Congestion while the jump was not validated.
    Retreated,
    /// The path changed while the jump was not validated.
    PathChanged,
    /// Persistent congestion (section 3.6).
    PersistentCongestion,
}

impl Outcome {
    /// Returns true if the saved values were wrong, and have to be deleted (section 3.5).
    pub fn refutes(self) -> bool {
        matches!(self, Self::Retreated | Self::PathChanged | Self::PersistentCongestion)
    }
}

/// A packet by its time of transmission and number. Packet numbers repeat in QUIC's three packet number spaces; with the
/// time in front the order is right.
type Packet = (Instant, u64);

#[derive(Clone, Copy, Debug)]
enum State {
    Reconnaissance { saved: Saved },
    Unvalidated { saved: Saved, jump: u64, entered: Instant, rtt: Duration, last: Option<Packet>, pipe: u64 },
    Validating { last: Packet, rate: u64, window: u64, pipe: u64 },
    SafeRetreat { last: Packet, window: u64, pipe: u64 },
    Normal(Handover),
}

/// The relation of the reported window to the window of the inner controller, after Careful Resume.
#[derive(Clone, Copy, Debug)]
enum Handover {
    /// The inner controller's window.
    Done,
    /// The larger of `window` and the inner controller's window.
    Floor { window: u64 },
    /// Slow start from `window` to `ssthresh` or to the inner controller's window.
    Climb { window: u64, ssthresh: u64 },
}

/// The state machine of Careful Resume around another controller.
///
/// The host reports what happens, and the window of the inner controller after it has processed the event. Bytes are
/// those of acknowledgement-eliciting packets.
#[derive(Clone, Debug)]
pub struct Phases {
    state: State,
    outcome: Outcome,
    initial_window: u64,
    max_jump: u64,
    mtu: u64,
    acked: u64,
    flight: u64,
    min_rtt: Option<Duration>,
    /// The smallest sample of the present ACK frame. The delay of the receiver's ACK inflates the others.
    sample: Option<Duration>,
    /// The window blocked a packet since the application last ran out of data.
    window_limited: bool,
    /// The newest packet that is acknowledged.
    newest: Option<Packet>,
    /// The start of the last recovery period.
    recovery: Option<Instant>,
    /// The state before a jump or a validation that the last ACK permitted, until the next packet or ACK. The losses that
    /// an ACK shows are reported after its end, and revoke it.
    revocable: Option<(State, Outcome)>,
}

impl Phases {
    /// Returns the machine of a new connection. Without saved values it never changes the window.
    pub fn new(saved: Option<Saved>, initial_window: u64, mtu: u16) -> Self {
        let (state, outcome) = match saved.filter(|saved| saved.fault().is_none()) {
            Some(saved) => (State::Reconnaissance { saved }, Outcome::Pending),
            None => (State::Normal(Handover::Done), Outcome::NothingSaved),
        };
        Self {
            state,
            outcome,
            initial_window,
            max_jump: MAX_WINDOW,
            mtu: mtu.into(),
            acked: 0,
            flight: 0,
            min_rtt: None,
            sample: None,
            window_limited: false,
            newest: None,
            recovery: None,
            revocable: None,
        }
    }

    /// Limits the jump to `bytes` (`max_jump`, section 3.3).
    pub fn with_max_jump(self, bytes: u64) -> Self {
        Self { max_jump: bytes, ..self }
    }

    /// Returns the phase.
    pub fn phase(&self) -> Phase {
        match self.state {
            State::Reconnaissance { .. } => Phase::Reconnaissance,
            State::Unvalidated { .. } => Phase::Unvalidated,
            State::Validating { .. } => Phase::Validating,
            State::SafeRetreat { .. } => Phase::SafeRetreat,
            State::Normal(_) => Phase::Normal,
        }
    }

    /// Returns the reason why Careful Resume ended.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns the window to report, with `inner` as the window of the inner controller.
    pub fn window(&self, inner: u64) -> u64 {
        match self.state {
            State::Reconnaissance { .. } | State::Normal(Handover::Done) => inner,
            State::Unvalidated { jump, .. } => jump,
            State::Validating { window, .. }
            | State::SafeRetreat { window, .. }
            | State::Normal(Handover::Climb { window, .. }) => window,
            State::Normal(Handover::Floor { window, .. }) => window.max(inner),
        }
    }

    /// Returns the slow start threshold that Careful Resume sets after a retreat.
    pub fn ssthresh(&self) -> Option<u64> {
        match self.state {
            State::Normal(Handover::Climb { ssthresh, .. }) if ssthresh < u64::MAX => Some(ssthresh),
            _ => None,
        }
    }

    /// Returns the pacing rate to report in bytes per second, with `inner` as the rate of the inner controller.
    ///
    /// In the Unvalidated Phase it is the jump over the current RTT (section 4.3.2). A controller with a rate keeps the
    /// larger of both rates until the jump is validated (appendix on BBR).
    pub fn pacing_rate(&self, inner: Option<u64>) -> Option<u64> {
        match self.state {
            State::Unvalidated { jump, rtt, last, .. } => {
                let rate = per_second(jump, rtt).max(inner.unwrap_or(0));
                let first = if last.is_none() { FIRST_RATE * self.mtu } else { u64::MAX };
                Some(rate.min(first))
            }
            State::Validating { rate, .. } => inner.map(|inner| inner.max(rate)),
            _ => inner,
        }
    }

    /// Reports a new size of packets.
    pub fn on_mtu(&mut self, mtu: u16) {
        self.mtu = mtu.into();
    }

    /// Returns true if congestion that the last ACK shows would still revoke the jump or the validation.
    pub(super) fn is_revocable(&self) -> bool {
        self.revocable.is_some()
    }

    /// Reports that the window blocked a packet.
    pub fn on_window_limited(&mut self) {
        self.revocable = None;
        self.window_limited = true;
    }

    /// Reports a transmission.
    pub fn on_sent(&mut self, now: Instant, bytes: u64, number: u64) {
        self.revocable = None;
        if self.overdue(now) {
            self.end_jump();
        }
        self.flight += bytes;
        if let State::Unvalidated { jump, last, .. } = &mut self.state {
            *last = Some((now, number));
            if self.flight + self.mtu > *jump {
                self.end_jump();
            }
        }
    }

    /// Reports the acknowledgement of a packet, before the inner controller receives it.
    pub fn on_acked(&mut self, now: Instant, sent: Instant, bytes: u64, number: u64, app_limited: bool) {
        self.revocable = None;
        let sample = now.saturating_duration_since(sent);
        self.sample = Some(self.sample.map_or(sample, |smallest| smallest.min(sample)));
        self.min_rtt = Some(self.min_rtt.map_or(sample, |min| min.min(sample)));
        self.acked += bytes;
        self.newest = self.newest.max(Some((sent, number)));
        let recovering = self.recovery.is_some_and(|recovery| sent <= recovery);
        match &mut self.state {
            State::Unvalidated { pipe, .. }
            | State::Validating { pipe, .. }
            | State::SafeRetreat { pipe, .. } => {
                *pipe += bytes;
            }
            State::Normal(Handover::Climb { window, ssthresh }) if !app_limited && !recovering => {
                *window = window.saturating_add(bytes).min(*ssthresh);
            }
            _ => {}
        }
    }

    /// Reports that the inner controller's window went from `before` to `after` when it received an acknowledgement.
    ///
    /// In the Validating Phase the window grows as the inner controller's does (section 3.4, "Updating CWND").
    pub fn on_inner_window(&mut self, before: u64, after: u64) {
        match &mut self.state {
            State::Validating { window, .. } => *window += after.saturating_sub(before),
            // Without congestion the inner controller lowered its window, as BBR does to drain a queue or to measure
            // the RTT. It knows the path by now, and decides.
            State::Normal(Handover::Floor { .. }) if after < before => self.hand_over(Handover::Done),
            _ => {}
        }
    }

    /// Reports the end of an ACK frame, with the bytes still in flight and the inner controller's window. Congestion that is
    /// reported next, before another packet or ACK, revokes a jump or a validation.
    ///
    /// `claim` returns true if this connection may use the saved values. It is called once, when the jump is due.
    pub fn on_end_acks(
        &mut self,
        now: Instant,
        flight: u64,
        app_limited: bool,
        inner: u64,
        claim: impl FnOnce() -> bool,
    ) {
        self.flight = flight;
        self.window_limited &= !app_limited;
        let sample = self.sample.take();
        let before = (self.state, self.outcome);
        match self.state {
            State::Reconnaissance { saved } => {
                if let Some(sample) = sample {
                    self.confirm(saved, now, sample, inner, claim);
                }
            }
            State::Unvalidated { saved, entered, .. } => {
                if sample.is_some_and(|sample| is_other_path(saved, sample, sample)) {
                    self.retreat(Outcome::PathChanged);
                } else if self.newest >= Some((entered, 0)) && self.has_sent() || self.overdue(now) {
                    self.end_jump();
                }
            }
            State::Validating { last, window, .. } if self.newest >= Some(last) => {
                self.outcome = Outcome::Validated;
                self.hand_over(Handover::Floor { window });
            }
            State::SafeRetreat { last, window, pipe } if self.newest >= Some(last) => {
                let ssthresh = (pipe / BETA).max(self.min_window());
                self.hand_over(Handover::Climb { window: window.min(ssthresh), ssthresh });
            }
            _ => {}
        }
        let jumps =
            matches!((before.0, self.state), (State::Reconnaissance { .. }, State::Unvalidated { .. }));
        let validates = before.1 != Outcome::Validated && self.outcome == Outcome::Validated;
        self.revocable = Some(before).filter(|_| jumps || validates);
        self.settle(inner);
    }

    /// Reports a lost packet.
    pub fn on_lost(&mut self, bytes: u64) {
        self.flight = self.flight.saturating_sub(bytes);
    }

    /// Reports congestion: loss or ECN-CE. `before` and `after` are the inner controller's window around the event, and
    /// `sent` is the transmission of the newest packet that was lost or marked.
    pub fn on_congestion(&mut self, now: Instant, sent: Instant, persistent: bool, before: u64, after: u64) {
        let repeated = self.recovery.is_some_and(|recovery| sent <= recovery);
        if !repeated {
            self.recovery = Some(now);
        }
        if let Some(before) = self.revocable.take() {
            (self.state, self.outcome) = before;
        }
        match self.state {
            State::Reconnaissance { .. } => {
                self.outcome = Outcome::CongestionBeforeJump;
                self.hand_over(Handover::Done);
            }
            _ if persistent => {
                if self.outcome == Outcome::Pending {
                    self.outcome = Outcome::PersistentCongestion;
                }
                self.hand_over(Handover::Done);
            }
            State::Unvalidated { .. } | State::Validating { .. } => self.retreat(Outcome::Retreated),
            State::Normal(Handover::Floor { window, .. } | Handover::Climb { window, .. }) if !repeated => {
                let window = self.reduced(window, before, after);
                self.hand_over(Handover::Floor { window });
                self.settle(after);
            }
            State::SafeRetreat { last, window, pipe } if !repeated => {
                let window = self.reduced(window, before, after);
                self.state = State::SafeRetreat { last, window, pipe };
            }
            State::SafeRetreat { .. } | State::Normal(_) => {}
        }
    }

    /// Reports that the connection moved to another path. The saved values are not used there (section 3.2), and a jump
    /// that is not validated ends in a retreat (section 3.3).
    pub fn on_path_change(&mut self) {
        self.revocable = None;
        match self.state {
            State::Reconnaissance { .. } => {
                self.outcome = Outcome::PathChanged;
                self.hand_over(Handover::Done);
            }
            State::Unvalidated { .. } | State::Validating { .. } => self.retreat(Outcome::PathChanged),
            State::SafeRetreat { .. } | State::Normal(_) => {}
        }
        // The new path has no packets of the jump that could be acknowledged.
        if let State::SafeRetreat { window, pipe, .. } = self.state {
            let ssthresh = (pipe / BETA).max(self.min_window());
            self.hand_over(Handover::Climb { window: window.min(ssthresh), ssthresh });
        }
    }

    /// Jumps if the initial window is acknowledged, the RTT is in range and the window is the limit (section 3.2).
    fn confirm(
        &mut self,
        saved: Saved,
        now: Instant,
        sample: Duration,
        inner: u64,
        claim: impl FnOnce() -> bool,
    ) {
        let Some(min) = self.min_rtt.filter(|_| self.acked >= self.initial_window) else { return };
        let jump = (saved.window / JUMP).min(self.max_jump);
        if is_other_path(saved, min, sample) {
            self.outcome = Outcome::RttNotValidated;
        } else if jump <= inner.saturating_mul(DOUBLING) {
            self.outcome = Outcome::NoGain;
        } else if !self.window_limited {
            // The jump waits for more data than the window permits.
            return;
        } else if claim() {
            let (rtt, pipe) = (sample, self.flight);
            self.state = State::Unvalidated { saved, jump, entered: now, rtt, last: None, pipe };
            return;
        } else {
            self.outcome = Outcome::NotClaimed;
        }
        self.hand_over(Handover::Done);
    }

    /// Returns true if more than a round trip has passed in the Unvalidated Phase.
    fn overdue(&self, now: Instant) -> bool {
        matches!(self.state, State::Unvalidated { entered, rtt, .. } if now.saturating_duration_since(entered) > rtt)
    }

    fn has_sent(&self) -> bool {
        matches!(self.state, State::Unvalidated { last: Some(_), .. })
    }

    /// Ends the Unvalidated Phase (section 3.3, "Check `flight_size`").
    fn end_jump(&mut self) {
        let State::Unvalidated { jump, rtt, last, pipe, .. } = self.state else { return };
        let flight = self.flight;
        match last {
            Some(last) if flight >= self.initial_window && flight > pipe => {
                let rate = per_second(jump, rtt);
                self.state = State::Validating { last, rate, window: flight.min(jump), pipe };
            }
            _ => {
                self.outcome = Outcome::RateLimited;
                let window = pipe.max(self.initial_window).min(jump);
                self.hand_over(Handover::Climb { window, ssthresh: u64::MAX });
            }
        }
    }

    /// Enters the Safe Retreat Phase (section 3.5).
    fn retreat(&mut self, outcome: Outcome) {
        let (last, pipe, present) = match self.state {
            State::Unvalidated { entered, last, pipe, jump, .. } => {
                (last.unwrap_or((entered, 0)), pipe, jump)
            }
            State::Validating { last, pipe, window, .. } => (last, pipe, window),
            _ => return,
        };
        self.outcome = outcome;
        let window = (pipe / RETREAT).min(present).max(self.min_window());
        self.state = State::SafeRetreat { last, window, pipe };
    }

    fn hand_over(&mut self, handover: Handover) {
        self.state = State::Normal(handover);
    }

    /// Ends the hand-over once the inner controller's window suffices.
    fn settle(&mut self, inner: u64) {
        match self.state {
            State::Normal(Handover::Climb { window, .. }) if window >= inner => {
                self.hand_over(Handover::Floor { window });
                self.settle_climb(inner);
            }
            State::Normal(Handover::Climb { window, ssthresh }) if window >= ssthresh => {
                self.hand_over(Handover::Done);
            }
            State::Normal(Handover::Floor { window, .. }) if inner >= window => {
                self.hand_over(Handover::Done);
            }
            _ => {}
        }
    }

    fn settle_climb(&mut self, inner: u64) {
        if matches!(self.state, State::Normal(Handover::Floor { window, .. }) if inner >= window) {
            self.hand_over(Handover::Done);
        }
    }

    /// Returns `window` after congestion: with the inner controller's own reduction, or RFC 9002's if it did not reduce.
    fn reduced(&self, window: u64, before: u64, after: u64) -> u64 {
        let reduced = if after < before { scale(window, after, before) } else { window / REDUCTION };
        reduced.max(self.min_window())
    }

    fn min_window(&self) -> u64 {
        MIN_WINDOW * self.mtu
    }
}

/// Returns true if the RTT shows another path than the saved one (sections 3.2 and 4.2.1).
fn is_other_path(saved: Saved, min: Duration, latest: Duration) -> bool {
    min.saturating_mul(MIN_RTT) <= saved.rtt || latest > saved.rtt.saturating_mul(MAX_RTT)
}

/// Returns the rate of `bytes` over `span`, in bytes per second and never below 1.
fn per_second(bytes: u64, span: Duration) -> u64 {
    let nanos = span.as_nanos().max(1);
    u64::try_from(u128::from(bytes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX).max(1)
}

/// Returns `value` × `part` / `whole`.
fn scale(value: u64, part: u64, whole: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(scaled).unwrap_or(value)
}
