//! The cycle of ProbeBW (section "ProbeBW Algorithm Details").

use super::model::Model;
use crate::bbr::{FullPipe, Sample};
use crate::interface::Path;
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span, Time};

/// The phases of ProbeBW.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Down,
    Cruise,
    Refill,
    Up,
}

/// `BBR.ack_phase`: what the arriving ACKs show about the probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Feedback {
    /// The ACKs belong to no probe.
    Init,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The probe for bandwidth.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub(super) phase: Phase,
    feedback: Feedback,
    pub(super) pipe: FullPipe,
    /// Whether the present ACKs belong to a probe whose losses lower the long-term bound (`BBR.is_bw_probe_sample`).
    pub(super) is_sample: bool,
    /// `BBR.prev_probe_too_high`.
    pub(super) too_high: bool,
    /// `BBR.prev_probe_precautionary`.
    precautionary: bool,
    /// `BBR.bw_probe_up_acked`, `BBR.probe_up_acked_per_inc` (`None` is infinity) and `BBR.bw_probe_up_rounds`.
    up_acked: Bytes,
    acked_per_increase: Option<Bytes32>,
    up_rounds: u8,
    /// The round from which `BBR.rounds_since_probe_up` counts, modulo 2^32.
    since_round: u32,
    /// `BBR.bw_probe_wait` and `BBR.cycle_stamp`.
    wait: Span,
    began: Time,
}

/// The minimum wait between probes (section "Time Scale for Bandwidth Probing").
const WAIT: Span = Span::from_secs(2);
/// The random part of the wait between probes, in nanoseconds: the draw is below this.
const MORE_NANOS: u64 = 1_000_000_000;
/// The maximum wait between probes on Reno's time scale, in rounds.
const RENO_ROUNDS: u64 = 63;
/// The maximum of `BBR.bw_probe_up_rounds`.
const UP_ROUNDS: u8 = 30;

impl Probe {
    pub(super) const fn new() -> Self {
        Self {
            phase: Phase::Down,
            feedback: Feedback::Init,
            pipe: FullPipe::new(),
            is_sample: false,
            too_high: false,
            precautionary: false,
            up_acked: Bytes::ZERO,
            acked_per_increase: None,
            up_rounds: 0,
            since_round: 0,
            wait: Span::ZERO,
            began: Time::ZERO,
        }
    }

    /// Begins DOWN and draws the next wait (`StartProbeBW_DOWN`, `PickProbeWait`).
    pub(super) fn down(&mut self, model: &mut Model, path: &Path) {
        model.reset_signals();
        self.acked_per_increase = None;
        let random = mixed(path.now.nanos() ^ path.delivered.get().rotate_left(32));
        self.since_round = model.rounds.count().wrapping_sub(u32::from(random & 1 == 1));
        self.wait = WAIT + Span::from_nanos((random >> 1) % MORE_NANOS);
        self.began = path.now;
        self.feedback = Feedback::Stopping;
        model.rounds.restart(path.delivered);
        self.phase = Phase::Down;
    }

    /// Begins REFILL (`StartProbeBW_REFILL`).
    pub(super) fn refill(&mut self, model: &mut Model, path: &Path) {
        model.reset_short_term();
        self.up_rounds = 0;
        self.up_acked = Bytes::ZERO;
        self.precautionary = false;
        self.feedback = Feedback::Refilling;
        model.rounds.restart(path.delivered);
        self.phase = Phase::Refill;
    }

    /// Begins UP (`StartProbeBW_UP`). `window` is the window in force, and `rate` the newest sample.
    pub(super) fn up(&mut self, model: &mut Model, rate: Option<Rate>, window: Bytes, path: &Path) {
        self.is_sample = true;
        self.feedback = Feedback::Starting;
        model.rounds.restart(path.delivered);
        self.pipe.reset(rate);
        self.phase = Phase::Up;
        self.raise_slope(window, path);
    }

    /// Treats further ACKs as the end of the feedback of a probe. Called when ProbeRTT begins.
    pub(super) const fn stopped(&mut self) {
        self.feedback = Feedback::Stopping;
    }

    /// Adapts the long-term bound and the bandwidth filter to an ACK (`AdaptLongTermModel`). Returns whether a phase began.
    pub(super) fn adapt(
        &mut self,
        model: &mut Model,
        sample: &Sample,
        is_probe_bw: bool,
        window: Bytes,
        path: &Path,
    ) -> bool {
        if model.rounds.has_started() {
            match self.feedback {
                Feedback::Starting => self.feedback = Feedback::Probing,
                Feedback::Stopping => {
                    self.is_sample = false;
                    self.feedback = Feedback::Init;
                    if is_probe_bw && !sample.is_app_limited {
                        model.advance_filter();
                    }
                    if is_probe_bw && self.precautionary && !self.too_high {
                        self.refill(model, path);
                        return true;
                    }
                }
                Feedback::Init | Feedback::Refilling | Feedback::Probing => {}
            }
        }
        let at_send = model.sends.at(sample.packet, path.delivered);
        if !Model::is_too_high(at_send) {
            model.raise_long_term(at_send.in_flight);
            if is_probe_bw && self.phase == Phase::Up {
                self.probe_upward(model, sample, window, path);
            }
        }
        false
    }

    /// Returns whether UP ends (`IsTimeToGoDown`). `window` is the window in force.
    pub(super) fn is_time_to_go_down(
        &mut self,
        model: &Model,
        sample: &Sample,
        window: Bytes,
        path: &Path,
    ) -> bool {
        if self.too_high && path.pipe >= model.long_term() {
            self.precautionary = true;
            return true;
        }
        if model.is_window_limited() && window >= model.long_term() {
            self.pipe.reset(sample.rate);
            return false;
        }
        self.pipe.is_full()
    }

    /// Returns whether the wait between probes has passed (`HasElapsedInPhase(BBR.bw_probe_wait)`).
    pub(super) fn is_wait_over(&self, now: Time) -> bool {
        now > self.began + self.wait
    }

    /// Returns whether Reno would have probed by now (`IsRenoCoexistenceProbeTime`), with a target of `packets` in flight.
    pub(super) fn is_renos_time(&self, model: &Model, packets: u64) -> bool {
        u64::from(model.rounds.count().wrapping_sub(self.since_round)) >= packets.min(RENO_ROUNDS)
    }

    /// Returns `BBR.pacing_gain`, in hundredths.
    pub(super) const fn pacing_gain(&self) -> u64 {
        match self.phase {
            Phase::Down => 90,
            Phase::Cruise | Phase::Refill => 100,
            Phase::Up => 125,
        }
    }

    /// Returns `BBR.cwnd_gain`, in hundredths.
    pub(super) const fn window_gain(&self) -> u64 {
        match self.phase {
            Phase::Down | Phase::Cruise | Phase::Refill => crate::bbr::CWND_GAIN,
            Phase::Up => 225,
        }
    }

    /// Doubles the growth of the long-term bound for each round trip of UP (`RaiseInflightLongtermSlope`).
    fn raise_slope(&mut self, window: Bytes, path: &Path) {
        let growth = 1_u64 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(UP_ROUNDS);
        self.acked_per_increase = Some((window / growth).max(path.mss).into());
    }

    /// Raises the long-term bound in UP (`ProbeInflightLongtermUpward`).
    fn probe_upward(&mut self, model: &mut Model, sample: &Sample, window: Bytes, path: &Path) {
        if !model.is_window_limited() || window < model.long_term() {
            return;
        }
        self.up_acked += sample.acked;
        if let Some(each) = self.acked_per_increase.map(|each| each.wide().get().max(1)) {
            let increases = self.up_acked.get() / each;
            self.up_acked = Bytes::new(self.up_acked.get() % each);
            model.raise_long_term(model.long_term() + path.mss * increases);
        }
        if model.rounds.has_started() {
            self.raise_slope(window, path);
        }
    }
}

/// Mixes the bits of a number (Steele, Lea and Flood's SplitMix64, its output function).
const fn mixed(seed: u64) -> u64 {
    let one = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let two = (one ^ (one >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    two ^ (two >> 31)
}
