//! The avoidance law of BBR version 3: ProbeBW and ProbeRTT, which follow start-up (draft-ietf-ccwg-bbr). The law updates the draft's model
//! from the connection's first ACK on, so that it can follow any start-up. Names in comments are the draft's.
//!
//! Deviations. Randomness comes from the instant and the bytes delivered, because the library has no random source. `P.tx_in_flight` and
//! `P.lost` are interpolated from snapshots of totals ([`crate::bbr::SendLog`]) and not kept for each packet. An ECN mark counts as a loss
//! above the threshold (section "ECN" demands a response and does not specify it). After a spurious loss the law does not restore single
//! fields. The controller restores the copy of the law that it made when it found the loss, and the probe then starts anew. After a timeout
//! the window is not restored: by the end of the repair it has grown by all that was in flight. Receiver-limited samples count as
//! application-limited.

mod model;
mod probe;

use self::model::Model;
use self::probe::{Phase, Probe};
use crate::bbr::{
    PROBE_RTT_DURATION, PROBE_RTT_GAIN, Sample, growth, min_pipe, offload_budget, product, quantum,
    with_margin,
};
use crate::interface::{
    Ack, Avoidance, Cause, Event, Exit, Loss, Origin, Pacing, Path, Plan, SendLimit, Sent,
};
use crate::registry::{Ability, LawEntry, Needs};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Time};

/// The avoidance law of BBR version 3: ProbeBW and ProbeRTT.
#[derive(Clone, Debug)]
pub struct ProbeBw {
    model: Model,
    probe: Probe,
    window: Bytes32,
    /// `BBR.prior_cwnd`: the window before ProbeRTT.
    prior: Bytes32,
    /// `BBR.probe_rtt_cwnd`: the window of ProbeRTT, computed with the minimum that expired.
    probe_window: Bytes32,
    /// The state of ProbeRTT; `None` in ProbeBW.
    probe_rtt: Option<ProbeRtt>,
    /// `BBR.idle_restart`: whether the newest data was sent after an idle time.
    idle: bool,
    /// Whether a start-up has ended, so that the pipe was full (`BBR.full_bw_reached`).
    entered: bool,
}

/// The state of ProbeRTT.
#[derive(Clone, Copy, Debug)]
struct ProbeRtt {
    /// The earliest instant at which ProbeRTT ends; `None` until the flight is at most ProbeRTT's window.
    until: Option<Time>,
    /// Whether a round trip has passed since the flight was at most ProbeRTT's window.
    round_done: bool,
}

pub(crate) const BBR: LawEntry = LawEntry {
    name: "bbr",
    summary: "BBR version 3: probes for bandwidth every two to three seconds and for the round-trip time every ten",
    source: "draft-ietf-ccwg-bbr, ProbeBW and ProbeRTT",
    needs: Needs::of(&[
        Ability::AckClock,
        Ability::Rate,
        Ability::NewestAck,
        Ability::DeliveryRate,
        Ability::Sends,
        Ability::LostPackets,
    ])
    .using(&[Ability::Marks, Ability::SpuriousLosses, Ability::IdleQuestion]),
    make: || ProbeBw::new().into(),
};

impl Default for ProbeBw {
    fn default() -> Self {
        Self::new()
    }
}

impl ProbeBw {
    /// Creates a law that has not taken over yet.
    pub fn new() -> Self {
        Self {
            model: Model::new(),
            probe: Probe::new(),
            window: Bytes32::ZERO,
            prior: Bytes32::ZERO,
            probe_window: Bytes32::ZERO,
            probe_rtt: None,
            idle: false,
            entered: false,
        }
    }

    /// Updates the model and the control parameters for an ACK (`UpdateOnACK`).
    fn acked(&mut self, ack: &Ack<'_>, path: &Path) {
        let Some(sample) = self.observe(ack, path) else { return };
        self.model.lower_bounds(self.is_probing_bandwidth(), self.window.wide());
        self.probe.pipe.acked(self.model.rounds.has_started(), sample.rate, sample.is_app_limited);
        self.update_phase(&sample, path);
        self.check_probe_rtt(path);
        self.model.advance(&sample);
        self.idle = false;
        self.set_window(growth(ack, path), path);
    }

    /// Updates the model for an ACK and makes no decision: `UpdateLatestDeliverySignals`, `UpdateMaxBw`, `UpdateACKAggregation` and
    /// `UpdateMinRTT`. Returns the sample of the ACK, if it completes a packet.
    fn observe(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Sample> {
        if self.model.min_rtt.is_due(path.now) && self.probe_rtt.is_none() {
            self.probe_window = self.probe_rtt_window(path).into();
        }
        self.model.min_rtt.sampled(path.now, ack.rtt.map(|sample| sample.rtt));
        let sample = self.model.judged(Sample::of(ack, path)?);
        self.model.acked(&sample, path, self.entered);
        Some(sample)
    }

    /// Advances the cycle of ProbeBW (`UpdateProbeBWCyclePhase`). In ProbeRTT only the bounds adapt, and the phase stays.
    fn update_phase(&mut self, sample: &Sample, path: &Path) {
        let is_probe_bw = self.probe_rtt.is_none();
        if self.probe.adapt(&mut self.model, sample, is_probe_bw, self.window.wide(), path) || !is_probe_bw {
            return;
        }
        match self.probe.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(path) => {
                self.probe.refill(&mut self.model, path);
            }
            Phase::Down if self.is_time_to_cruise(path) => self.probe.phase = Phase::Cruise,
            Phase::Down | Phase::Cruise => {}
            Phase::Refill => {
                if self.model.rounds.has_started() {
                    self.probe.up(&mut self.model, sample.rate, self.window.wide(), path);
                }
            }
            Phase::Up => {
                if self.probe.is_time_to_go_down(&self.model, sample, self.window.wide(), path) {
                    self.probe.too_high = false;
                    self.probe.down(&mut self.model, path);
                }
            }
        }
    }

    /// Returns whether a probe for bandwidth is due (`IsTimeToProbeBW`).
    fn is_time_to_probe(&self, path: &Path) -> bool {
        let packets = self.target_inflight().get() / path.mss.get().max(1);
        self.probe.is_wait_over(path.now) || self.probe.is_renos_time(&self.model, packets)
    }

    /// Returns whether DOWN has drained its queue (`IsTimeToCruise`).
    fn is_time_to_cruise(&self, path: &Path) -> bool {
        let max = self.model.max_bandwidth().zip(self.model.min_rtt.get());
        let product = max.map_or(Bytes::ZERO, |(rate, rtt)| product(rate, rtt, 100));
        path.pipe <= self.model.with_headroom(path) && path.pipe <= self.quantized(product, path)
    }

    /// Returns whether the law probes for bandwidth (`IsProbingBW`).
    fn is_probing_bandwidth(&self) -> bool {
        self.probe_rtt.is_none() && matches!(self.probe.phase, Phase::Refill | Phase::Up)
    }

    /// Enters ProbeRTT when a probe is due, and handles ProbeRTT (`CheckProbeRTT`, `HandleProbeRTT`).
    fn check_probe_rtt(&mut self, path: &Path) {
        if self.probe_rtt.is_none() && self.model.min_rtt.has_expired() && !self.idle {
            self.prior = self.window;
            self.probe_rtt = Some(ProbeRtt { until: None, round_done: false });
            self.probe.stopped();
            self.model.rounds.restart(path.delivered);
        }
        let Some(probe) = self.probe_rtt else { return };
        self.model.mark_app_limited(path);
        match probe.until {
            None if path.pipe <= self.probe_window.wide() => {
                let until = Some(path.now + PROBE_RTT_DURATION);
                self.probe_rtt = Some(ProbeRtt { until, round_done: false });
                self.model.rounds.restart(path.delivered);
            }
            None => {}
            Some(_) => {
                let round_done = probe.round_done || self.model.rounds.has_started();
                self.probe_rtt = Some(ProbeRtt { round_done, ..probe });
                if round_done {
                    self.end_probe_rtt(path);
                }
            }
        }
    }

    /// Leaves ProbeRTT when its time has passed (`CheckProbeRTTDone`).
    fn end_probe_rtt(&mut self, path: &Path) {
        let Some(ProbeRtt { until: Some(until), .. }) = self.probe_rtt else { return };
        if path.now <= until {
            return;
        }
        self.model.min_rtt.probed(path.now);
        self.window = self.window.wide().max(self.prior.wide()).into();
        self.probe_rtt = None;
        self.model.reset_short_term();
        self.probe.down(&mut self.model, path);
        self.probe.phase = Phase::Cruise;
    }

    /// Updates the model for each lost packet (`HandleLostPacket`).
    fn lost(&mut self, loss: &Loss<'_>, path: &Path) {
        self.model.note_loss(path);
        for packet in loss.packets {
            self.model.sends.lost(packet.bytes);
            if !self.probe.is_sample {
                continue;
            }
            let at_send = self.model.sends.at(packet.packet, path.delivered);
            if Model::is_too_high(at_send) {
                let in_flight = Model::inflight_at_loss(at_send, packet.bytes);
                self.too_high(in_flight, self.model.is_app_limited(), path);
            }
        }
        if loss.packets.is_empty() {
            self.model.sends.lost(loss.bytes);
        }
    }

    /// Lowers the long-term bound (`HandleInflightTooHigh`), because losses exceeded the threshold with `in_flight` bytes in flight.
    fn too_high(&mut self, in_flight: Bytes, is_app_limited: bool, path: &Path) {
        self.probe.too_high = true;
        self.probe.is_sample = false;
        if !is_app_limited {
            let min = self.target_inflight().scale(model::BETA.0, model::BETA.1);
            self.model.bound_long_term(in_flight.max(min));
        }
        if self.probe_rtt.is_none() && self.probe.phase == Phase::Up {
            self.probe.down(&mut self.model, path);
        }
    }

    /// Returns the minimum of the BDP and the window (`TargetInflight`).
    fn target_inflight(&self) -> Bytes {
        self.model.product(100).unwrap_or(Bytes::MAX).min(self.window.wide())
    }

    /// Sets the window after an ACK that may widen it by `growth` bytes (`SetCwnd`).
    fn set_window(&mut self, growth: Bytes, path: &Path) {
        let Some(max) = self.max_inflight(path) else { return };
        let window = (self.window.wide() + growth).min(max).max(min_pipe(path));
        let probe = self.probe_rtt.map_or(Bytes::MAX, |_| self.probe_window.wide());
        // An ACK that acknowledges nothing new must not widen the window, even if the window is below the minimum.
        let before = if growth.is_zero() { self.window.wide() } else { Bytes::MAX };
        self.window = window.min(probe).min(self.cap(path)).min(before).into();
    }

    /// Returns the maximum flight of the model (`UpdateMaxInflight`); `None` before there are samples.
    fn max_inflight(&self, path: &Path) -> Option<Bytes> {
        let gain = if self.probe_rtt.is_some() { PROBE_RTT_GAIN } else { self.probe.window_gain() };
        Some(self.quantized(self.model.product(gain)? + self.model.extra.max(), path))
    }

    /// Raises a maximum flight to what offload and the minimum window need (`QuantizationBudget`).
    fn quantized(&self, inflight: Bytes, path: &Path) -> Bytes {
        let budget = self.rate(path).map_or(Bytes::ZERO, |rate| offload_budget(rate, path));
        let more = if self.probe.phase == Phase::Up { path.mss * 2 } else { Bytes::ZERO };
        inflight.max(budget).max(min_pipe(path)) + more
    }

    /// Returns the window of ProbeRTT (`SaveProbeRTTCwnd`).
    fn probe_rtt_window(&self, path: &Path) -> Bytes {
        self.model.product(PROBE_RTT_GAIN).unwrap_or(Bytes::ZERO).max(min_pipe(path))
    }

    /// Returns the upper bound of the window in the present phase (`BoundCwndForModel`).
    fn cap(&self, path: &Path) -> Bytes {
        let has_headroom = self.probe_rtt.is_some() || self.probe.phase == Phase::Cruise;
        let long_term = if has_headroom { self.model.with_headroom(path) } else { self.model.long_term() };
        long_term.min(self.model.short_term()).max(min_pipe(path))
    }

    /// Returns the pacing rate in IP bits per second; `None` before there is an estimate.
    fn rate(&self, path: &Path) -> Option<Rate> {
        let gain = if self.probe_rtt.is_some() || self.idle { 100 } else { self.probe.pacing_gain() };
        let wire = self.model.bandwidth()?.scale(path.wire.get(), path.mss.get());
        Some(with_margin(wire.scale(gain, 100)))
    }

    /// Counts a transmission. Data sent after an idle time is paced at the estimated bandwidth, and an expired minimum RTT triggers no
    /// probe (`HandleRestartFromIdle`).
    fn sent(&mut self, sent: &Sent, path: &Path) {
        self.count(sent, path);
        if path.pipe.is_zero() && path.limit == SendLimit::App {
            self.restart(path);
        }
    }

    fn count(&mut self, sent: &Sent, path: &Path) {
        self.model.sends.sent(sent.packet, sent.bytes, (path.pipe, path.delivered), path.mss);
    }

    fn restart(&mut self, path: &Path) {
        self.idle = true;
        self.model.extra.restart(path.now);
        self.end_probe_rtt(path);
    }

    /// Takes over from start-up: `EnterProbeBW`. If congestion ended the start-up, the flight is bounded by what the path delivered
    /// (section "Exiting Startup Based on Packet Loss").
    fn take_over(&mut self, exit: &Exit, path: &Path) {
        self.entered = true;
        // The start-up may know a rate above the measured delivery rates: a train finds a rate before data was delivered at that rate.
        let found = exit.learned.rate.map(|rate| rate.scale(path.mss.get(), path.wire.get()));
        self.model.found(found.filter(|rate| !rate.is_zero()));
        if matches!(exit.cause, Cause::Loss | Cause::Mark | Cause::Timeout) {
            let product = self.model.product(100).unwrap_or(exit.learned.window);
            self.model.bound_long_term(product.max(self.model.latest_inflight()));
        }
        self.probe.down(&mut self.model, path);
    }
}

impl Avoidance for ProbeBw {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.window = exit.learned.window.into();
        // A window from before a timeout is not restored, nor one that a restart policy has replaced.
        self.prior = self.window;
        if !self.entered {
            self.take_over(exit, path);
        }
    }

    #[inline(never)]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { .. } => {
                self.model.note_loss(path);
                if self.probe.is_sample {
                    self.too_high(path.pipe, self.model.is_app_limited(), path);
                }
            }
            Event::Sent(sent) => self.sent(sent, path),
            Event::TimedOut { .. } => self.model.note_loss(path),
            // The restored copy dates from before the loss. A bandwidth probe that the loss ended begins anew.
            Event::SpuriousLoss => {
                self.probe.pipe.reset(None);
                if self.probe_rtt.is_none() && self.probe.phase == Phase::Up {
                    self.probe.refill(&mut self.model, path);
                }
            }
            Event::Begin(_)
            | Event::Established { .. }
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => {}
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => {
                if let Some(sample) = self.observe(ack, path) {
                    self.model.advance(&sample);
                }
            }
            Event::Sent(sent) => self.count(sent, path),
            Event::Lost(loss) => self.model.sends.lost(loss.bytes),
            Event::Begin(Origin::AfterIdle { .. }) if self.entered => self.restart(path),
            Event::Established { .. } => self.model.min_rtt.begin(path.now, path.srtt),
            Event::Begin(_)
            | Event::Marked { .. }
            | Event::TimedOut { .. }
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => {}
        }
    }

    fn forget_path(&mut self) {
        *self = Self::new();
    }

    fn plan(&self, path: &Path) -> Plan {
        // A slow start after a timeout ends at the target.
        let ssthresh = self.model.product(100).unwrap_or(self.window.wide()).max(path.mss * 2);
        let plan = Plan::ack_clocked(self.window.wide(), Some(ssthresh));
        let Some(rate) = self.rate(path) else { return plan };
        Plan { pacing: Pacing::Rate { rate, burst: quantum(rate, path) }, ..plan }
    }
}
