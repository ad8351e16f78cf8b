//! BBR version 3's start-up: Startup, Drain and ProbeRTT within them (draft-ietf-ccwg-bbr, sections "Startup", "Drain" and "ProbeRTT").
//! Startup paces at 2.77 times the maximum delivery rate. It ends when that rate has grown by less than a quarter in three rounds, or when
//! losses stay high. Drain paces at half the rate until at most a bandwidth-delay product is in flight.
//!
//! The law `bbr` continues with ProbeBW; any other law takes over with one bandwidth-delay product. Start-up lasts to the end of
//! Drain, and its exit names what filled the pipe: a flat rate, losses, or a mark.
//!
//! Deviations. Receiver-limited samples count as application-limited. An ECN mark ends Startup: the draft demands that a mark is treated as
//! congestion (section "ECN") without specifying the response, and classic feedback reports one mark per round trip, whatever the share of
//! marked packets. The window does not grow while it is not used, as the controller judges it. After a timeout the window is not restored:
//! by the end of the repair it has grown by all that was in flight.

use crate::bbr::{
    CWND_GAIN, ExtraAcked, FullPipe, MinRtt, PROBE_RTT_DURATION, PROBE_RTT_GAIN, RoundLosses, Rounds, Sample,
    growth, min_pipe, offload_budget, product, quantum, with_margin,
};
use crate::interface::{
    Ack, Advice, Cause, Event, Exit, Origin, Pacing, Path, PathEstimate, Plan, SendLimit, Startup, Step,
};
use crate::registry::{Ability, Needs, SchemeEntry};
use crate::schemes::Initial;
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span, Time};
use crate::verifier::barrier;

/// `BBR.StartupPacingGain` = 4 ln 2, in hundredths (section "Pacing State and Parameters").
const STARTUP_GAIN: u64 = 277;
/// `BBR.DrainPacingGain`, in hundredths.
const DRAIN_GAIN: u64 = 50;
/// `BBRStartupFullLossCnt` (section "Exiting Startup Based on Packet Loss").
const LOSS_RANGES: u8 = 6;
/// Drain ends after more than this many rounds (section "Drain").
const DRAIN_ROUNDS: u8 = 3;
/// Section "Pacing Rate": without a round-trip time, one millisecond is assumed.
const NO_RTT: Span = Span::from_millis(1);

/// The start-up scheme of BBR version 3.
#[derive(Clone, Debug)]
pub struct Bbr {
    window: Bytes32,
    /// `BBR.prior_cwnd`: the window before ProbeRTT.
    prior: Bytes32,
    /// `BBR.probe_rtt_cwnd`: the window of ProbeRTT, computed with the minimum that expired.
    probe_window: Bytes32,
    /// `BBR.inflight_longterm`: the bound that losses set.
    bound: Option<Bytes32>,
    /// `BBR.max_bw`, in payload bits per second.
    bandwidth: Option<Rate>,
    /// The pacing rate in IP bits per second. Startup never lowers the rate.
    pacing: Rate,
    min_rtt: MinRtt,
    extra: ExtraAcked,
    pipe: FullPipe,
    /// `BBR.inflight_latest`: the maximum delivered over one packet's flight, in this round and in the last.
    latest: Bytes32,
    latest_before: Bytes32,
    losses: RoundLosses,
    rounds: Rounds,
    drain_rounds: u8,
    /// `BBR.idle_restart`: whether the newest data was sent after an idle time.
    idle: bool,
    /// The initial window in segments.
    segments: u16,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The handshake is not over.
    Closed,
    Startup,
    /// Drain after Startup; holds what filled the pipe: [`Cause::RateFlat`], [`Cause::Loss`] or [`Cause::Mark`].
    Drain(Cause),
    /// ProbeRTT within Startup or Drain.
    ProbeRtt {
        /// The earliest instant at which ProbeRTT ends; `None` until the flight is at most ProbeRTT's window.
        until: Option<Time>,
        /// Whether a round trip has passed since the flight was at most ProbeRTT's window.
        round_done: bool,
        /// Cause of the full pipe, if it was full.
        filled_by: Option<Cause>,
    },
}

pub(crate) const BBR: SchemeEntry = SchemeEntry {
    name: "bbr",
    summary: "paces at 2.77 times the delivery rate until it stops growing, then drains the queue (BBR v3)",
    source: "draft-ietf-ccwg-bbr, Startup and Drain",
    law: "bbr",
    parameters: &[],
    needs: Needs::of(&[Ability::Rate, Ability::NewestAck, Ability::DeliveryRate])
        .using(&[Ability::LostPackets, Ability::Marks]),
    make: |initial, _| Bbr::new(initial).into(),
};

impl Bbr {
    /// Returns BBR with the draft's constants. It has no threshold: the initial one is ignored.
    pub fn new(initial: Initial) -> Self {
        Self {
            window: Bytes32::ZERO,
            prior: Bytes32::ZERO,
            probe_window: Bytes32::ZERO,
            bound: None,
            bandwidth: None,
            pacing: Rate::ZERO,
            min_rtt: MinRtt::new(),
            extra: ExtraAcked::new(Time::ZERO),
            pipe: FullPipe::new(),
            latest: Bytes32::ZERO,
            latest_before: Bytes32::ZERO,
            losses: RoundLosses::default(),
            rounds: Rounds::new(),
            drain_rounds: 0,
            idle: false,
            segments: u16::try_from(initial.segments.max(1)).unwrap_or(u16::MAX),
            state: State::Closed,
        }
    }

    fn begin(&mut self, origin: Origin, path: &Path) -> Step {
        let initial = path.mss * u64::from(self.segments);
        let segments = u32::from(self.segments);
        // Section "Modulating cwnd in Loss Recovery": a timeout reduces the window and keeps the model. The law continues with the same
        // model.
        if let Origin::AfterTimeout { was } = origin {
            self.window = was.window.into();
            return match self.filled_by() {
                Some(_) => Step::Exit(Exit { cause: Cause::Timeout, learned: was }),
                None => Step::Stay,
            };
        }
        let (window, state) = match origin {
            Origin::Fresh => (initial, State::Closed),
            Origin::PathChange => (initial, State::Startup),
            Origin::AfterTimeout { was } | Origin::AfterIdle { was, .. } => (was.window, State::Startup),
        };
        *self = Self { window: window.into(), state, ..Self::new(Initial { segments, ssthresh: None }) };
        self.losses.start_round(path);
        self.extra.restart(path.now);
        self.pace_first(path);
        Step::Stay
    }

    /// Returns the cause of the full pipe (`BBR.full_bw_reached`); `None` while the pipe is not full.
    const fn filled_by(&self) -> Option<Cause> {
        match self.state {
            State::Drain(cause) => Some(cause),
            State::ProbeRtt { filled_by, .. } => filled_by,
            State::Closed | State::Startup => None,
        }
    }

    /// Sets the initial pacing rate: window / round-trip time × gain (`InitPacingRate`).
    fn pace_first(&mut self, path: &Path) {
        let rtt = path.srtt.unwrap_or(NO_RTT);
        let wire = self.window.wide().scale(path.wire.get(), path.mss.get());
        self.pacing = wire.scale(STARTUP_GAIN, 100).per(rtt).unwrap_or(Rate::MAX);
    }

    /// Takes a window from a scheme around this one, paces the window as at the beginning and restarts the search for a full pipe. The
    /// measurements stay. Drain and ProbeRTT only accept a smaller window.
    fn advised(&mut self, window: Bytes, path: &Path) {
        if self.state != State::Startup && self.state != State::Closed {
            self.window = self.window.wide().min(window).into();
            self.prior = self.prior.wide().min(window).into();
            return;
        }
        self.window = window.into();
        self.pace_first(path);
        self.pipe.reset(None);
    }

    /// Updates the model and the control parameters for an ACK (`UpdateOnACK`).
    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        let sample = Sample::of(ack, path);
        self.rounds.acked(sample.map(|sample| sample.at_send), path.delivered);
        barrier(self);
        self.measure(ack, sample, path);
        if self.state == State::Closed {
            return Step::Stay;
        }
        let is_app_limited =
            sample.is_none_or(|sample| sample.is_app_limited) || self.state != State::Startup;
        self.pipe.acked(self.rounds.has_started(), sample.and_then(|sample| sample.rate), is_app_limited);
        barrier(self);
        self.check_startup_done(path);
        barrier(self);
        self.drain_rounds += u8::from(self.rounds.has_started() && matches!(self.state, State::Drain(_)));
        let exit = self.drained(path);
        if exit.is_none() {
            self.check_probe_rtt(ack, path);
        }
        self.idle &= ack.bytes.is_zero();
        barrier(self);
        self.set_window(growth(ack, path), path);
        barrier(self);
        self.set_pacing(path);
        exit.map_or(Step::Stay, |exit| Step::Exit(self.with_window(exit, path)))
    }

    /// Updates the model for an ACK. A delivery rate that the application or the receiver limited counts only above the present estimate
    /// (`UpdateLatestDeliverySignals`, `UpdateMaxBw`, `UpdateACKAggregation`, `UpdateMinRTT`).
    fn measure(&mut self, ack: &Ack<'_>, sample: Option<Sample>, path: &Path) {
        if self.rounds.has_started() {
            self.latest_before = core::mem::take(&mut self.latest);
        }
        if let Some(sample) = sample {
            self.latest = sample.delivered.max(self.latest.wide()).into();
            let counts = |rate: Rate| !sample.is_app_limited || self.bandwidth.is_some_and(|max| rate > max);
            if let Some(rate) = sample.rate.filter(|rate| counts(*rate)) {
                self.bandwidth = self.bandwidth.max(Some(rate));
            }
            let (bandwidth, is_full) = (self.bandwidth.unwrap_or(Rate::ZERO), self.filled_by().is_some());
            self.extra.acked((path.now, self.rounds.count()), ack.bytes, bandwidth, path.cwnd, is_full);
        }
        if self.min_rtt.is_due(path.now) && !matches!(self.state, State::ProbeRtt { .. }) {
            self.probe_window = self.probe_rtt_window(path).into();
        }
        barrier(self);
        self.min_rtt.sampled(path.now, ack.rtt.map(|sample| sample.rtt));
    }

    /// Ends Startup if either estimator reports a full pipe (`CheckStartupDone`).
    fn check_startup_done(&mut self, path: &Path) {
        let round_started = self.rounds.has_started();
        let is_high = round_started && self.losses.are_high(path, LOSS_RANGES);
        if round_started {
            self.losses.start_round(path);
        }
        if self.state != State::Startup {
            return;
        }
        if is_high {
            self.drain(Cause::Loss, path);
        } else if self.pipe.is_full() {
            self.drain(Cause::RateFlat, path);
        }
    }

    /// Enters Drain (`EnterDrain`). After congestion the long-term bound is what the path delivered.
    fn drain(&mut self, cause: Cause, path: &Path) {
        if cause != Cause::RateFlat {
            let latest = self.latest.wide().max(self.latest_before.wide());
            self.bound =
                Some(self.product(100).unwrap_or(Bytes::ZERO).max(latest).max(min_pipe(path)).into());
        }
        self.state = State::Drain(cause);
        self.drain_rounds = 0;
    }

    /// Returns the exit (`CheckDrainDone`) once at most a bandwidth-delay product is in flight, or after more than three rounds.
    fn drained(&self, path: &Path) -> Option<Exit> {
        let State::Drain(cause) = self.state else { return None };
        let target = self.quantized(self.product(100).unwrap_or(min_pipe(path)), path);
        if path.pipe > target && self.drain_rounds <= DRAIN_ROUNDS {
            return None;
        }
        let learned = PathEstimate { window: target, ssthresh: Some(target), rate: self.rate(path) };
        Some(Exit { cause, learned })
    }

    /// Limits the window of the exit to the window in force.
    fn with_window(&self, exit: Exit, path: &Path) -> Exit {
        let window = self.bounded(exit.learned.window, path).min(self.window.wide());
        Exit { learned: PathEstimate { window, ssthresh: Some(window), ..exit.learned }, ..exit }
    }

    /// Enters ProbeRTT when a probe is due, and handles ProbeRTT (`CheckProbeRTT`).
    fn check_probe_rtt(&mut self, ack: &Ack<'_>, path: &Path) {
        let State::ProbeRtt { until, round_done, filled_by } = self.state else {
            if self.min_rtt.has_expired() && !self.idle {
                self.prior = self.window;
                self.state = State::ProbeRtt { until: None, round_done: false, filled_by: self.filled_by() };
            }
            return;
        };
        match until {
            None if path.pipe <= self.probe_window.wide() => {
                let until = Some(path.now + PROBE_RTT_DURATION);
                self.rounds.restart(path.delivered);
                self.state = State::ProbeRtt { until, round_done: false, filled_by };
            }
            None => {}
            Some(at) => {
                let round_done = round_done || self.rounds.has_started();
                self.state = State::ProbeRtt { until, round_done, filled_by };
                // An ACK that acknowledges nothing new must not widen the window.
                if round_done && path.now > at && !ack.bytes.is_zero() {
                    self.leave_probe_rtt(filled_by, path);
                }
            }
        }
    }

    /// Leaves ProbeRTT and continues the interrupted state (`ExitProbeRTT`).
    fn leave_probe_rtt(&mut self, filled_by: Option<Cause>, path: &Path) {
        self.min_rtt.probed(path.now);
        self.window = self.window.wide().max(self.prior.wide()).into();
        self.state = filled_by.map_or(State::Startup, State::Drain);
    }

    /// Sets the window (`SetCwnd`). Before the pipe is full, the window grows up to the maximum flight; before an initial window is
    /// delivered, without a limit.
    fn set_window(&mut self, growth: Bytes, path: &Path) {
        let max = self.max_inflight(path);
        let (window, initial) = (self.window.wide(), path.mss * u64::from(self.segments));
        let grown = window + growth;
        let window = if self.filled_by().is_some() {
            self.bounded(grown.min(max.unwrap_or(min_pipe(path))), path)
        } else if path.delivered < initial || max.is_none_or(|max| window < max) {
            grown
        } else {
            window
        };
        let probe = matches!(self.state, State::ProbeRtt { .. }).then(|| self.probe_window.wide());
        // An ACK that acknowledges nothing new must not widen the window, even if the window is below the minimum.
        let max = if growth.is_zero() { self.window.wide() } else { Bytes::MAX };
        self.window = window.min(probe.unwrap_or(Bytes::MAX)).min(max).into();
    }

    /// Sets the pacing rate (`SetPacingRate`). Startup never lowers the rate.
    fn set_pacing(&mut self, path: &Path) {
        let gain = match self.state {
            State::Closed => return,
            State::Startup => STARTUP_GAIN,
            State::Drain(_) => DRAIN_GAIN,
            State::ProbeRtt { .. } => 100,
        };
        let Some(rate) = self.rate(path).map(|rate| with_margin(rate.scale(gain, 100))) else { return };
        if self.filled_by().is_some() || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// Returns the maximum bytes in flight (`UpdateMaxInflight`); `None` before there are samples.
    fn max_inflight(&self, path: &Path) -> Option<Bytes> {
        Some(self.quantized(self.product(CWND_GAIN)? + self.extra.max(), path))
    }

    /// Raises a maximum flight to what offload and the minimum window need (`QuantizationBudget`).
    fn quantized(&self, inflight: Bytes, path: &Path) -> Bytes {
        inflight.max(offload_budget(self.pacing, path)).max(min_pipe(path))
    }

    /// Returns `gain` hundredths of the bandwidth-delay product.
    fn product(&self, gain: u64) -> Option<Bytes> {
        Some(product(self.bandwidth?, self.min_rtt.get()?, gain))
    }

    /// Returns the window of ProbeRTT (`SaveProbeRTTCwnd`).
    fn probe_rtt_window(&self, path: &Path) -> Bytes {
        self.product(PROBE_RTT_GAIN).unwrap_or(Bytes::ZERO).max(min_pipe(path))
    }

    fn bounded(&self, window: Bytes, path: &Path) -> Bytes {
        let bound = self.bound.map_or(Bytes::MAX, Bytes32::wide);
        window.min(bound).max(min_pipe(path))
    }

    /// Returns the estimate in IP bits per second.
    fn rate(&self, path: &Path) -> Option<Rate> {
        Some(self.bandwidth?.scale(path.wire.get(), path.mss.get()))
    }

    fn leave(&self, cause: Cause, path: &Path) -> Step {
        let learned = PathEstimate { window: self.window.wide(), ssthresh: None, rate: self.rate(path) };
        Step::Exit(Exit { cause, learned })
    }
}
impl Startup for Bbr {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => return self.acked(ack, path),
            Event::TimedOut { .. } => return self.leave(Cause::Timeout, path),
            Event::Begin(origin) => return self.begin(*origin, path),
            Event::Established { syn_lost, .. } => {
                if *syn_lost {
                    self.window = path.mss.into();
                }
                self.state = State::Startup;
                self.min_rtt.begin(path.now, path.srtt);
                self.pace_first(path);
            }
            // The window stays; losses are judged at the end of a round.
            Event::Lost(loss) => self.losses.add(loss),
            Event::Advice(Advice::Window { window, .. }) => self.advised(*window, path),
            // The handshake agreed on another segment size than the initial window was computed with.
            Event::MssChanged if self.state == State::Closed => {
                self.window = (path.mss * u64::from(self.segments)).into();
                self.pace_first(path);
            }
            Event::Marked { .. } if self.state == State::Startup => self.drain(Cause::Mark, path),
            // Data is sent after an idle time (`HandleRestartFromIdle`).
            Event::Sent(_) if path.pipe.is_zero() && path.limit == SendLimit::App => {
                self.idle = true;
                self.extra.restart(path.now);
            }
            Event::Sent(_)
            | Event::Marked { .. }
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => {}
        }
        Step::Stay
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = Plan::ack_clocked(self.window.wide(), None);
        if self.state == State::Closed {
            return Plan { pacing: Pacing::Hold, ..plan };
        }
        Plan { pacing: Pacing::Rate { rate: self.pacing, burst: quantum(self.pacing, path) }, ..plan }
    }
}
