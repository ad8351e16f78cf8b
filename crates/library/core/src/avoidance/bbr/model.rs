//! The model of the path (sections "Updating Network Path Model Parameters" and "Updating the Model Upon Packet Loss").

use crate::bbr::{AtSend, ExtraAcked, LOSS_PERCENT, MinRtt, Rounds, Sample, SendLog, min_pipe, product};
use crate::interface::Path;
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Time};

/// `BBR.Beta`.
pub(super) const BETA: (u64, u64) = (7, 10);
/// `BBR.Headroom`.
const HEADROOM: (u64, u64) = (15, 100);

/// The draft's model, with its short-term and long-term bounds. A bound of `None` is infinite.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) sends: SendLog,
    pub(super) rounds: Rounds,
    pub(super) min_rtt: MinRtt,
    pub(super) extra: ExtraAcked,
    /// `BBR.max_bw_filter`: the maximum of the last cycle and of this one, in payload bits per second.
    bandwidths: [Option<Rate>; 2],
    bandwidth_short: Option<Rate>,
    inflight_short: Option<Bytes32>,
    inflight_long: Option<Bytes32>,
    /// `BBR.bw_latest` and `BBR.inflight_latest`: maxima of one round trip.
    bandwidth_latest: Option<Rate>,
    inflight_latest: Bytes32,
    /// `BBR.loss_round_delivered`, `BBR.loss_round_start` and `BBR.is_loss_in_round`.
    loss_round: Bytes,
    loss_round_started: bool,
    has_loss: bool,
    /// Whether the window was the limit in the previous round trip, and in this one (`C.is_cwnd_limited`).
    window_limited: [bool; 2],
    /// Range of delivered bytes within which packets count as application-limited: from the beginning of ProbeRTT until the flight at that
    /// time is delivered.
    limited_from: Bytes,
    limited_to: Bytes,
    /// Whether the newest sample was limited by the application.
    is_app_limited: bool,
}

impl Model {
    pub(super) const fn new() -> Self {
        Self {
            sends: SendLog::new(),
            rounds: Rounds::new(),
            min_rtt: MinRtt::new(),
            extra: ExtraAcked::new(Time::ZERO),
            bandwidths: [None; 2],
            bandwidth_short: None,
            inflight_short: None,
            inflight_long: None,
            bandwidth_latest: None,
            inflight_latest: Bytes32::ZERO,
            loss_round: Bytes::ZERO,
            loss_round_started: false,
            has_loss: false,
            window_limited: [false; 2],
            limited_from: Bytes::MAX,
            limited_to: Bytes::ZERO,
            is_app_limited: false,
        }
    }

    /// Returns `sample`, marked as application-limited if its packet was sent in ProbeRTT.
    pub(super) fn judged(&self, sample: Sample) -> Sample {
        let in_probe = sample.at_send >= self.limited_from && sample.at_send <= self.limited_to;
        Sample { is_app_limited: sample.is_app_limited || in_probe, ..sample }
    }

    /// Updates delivery signals, maximum bandwidth and ACK aggregation for an ACK (`UpdateLatestDeliverySignals`, `UpdateMaxBw`,
    /// `UpdateACKAggregation`). `is_full` says whether the pipe has been full.
    pub(super) fn acked(&mut self, sample: &Sample, path: &Path, is_full: bool) {
        self.is_app_limited = sample.is_app_limited;
        self.bandwidth_latest = self.bandwidth_latest.max(sample.rate);
        self.inflight_latest = self.inflight_latest.wide().max(sample.delivered).into();
        self.loss_round_started = sample.at_send >= self.loss_round;
        if self.loss_round_started {
            self.loss_round = path.delivered;
        }
        self.rounds.acked(Some(sample.at_send), path.delivered);
        if self.rounds.has_started() {
            self.window_limited = [self.window_limited[1], false];
        }
        self.window_limited[1] |= sample.is_window_limited;
        let counts =
            |rate: Rate| !sample.is_app_limited || self.max_bandwidth().is_some_and(|max| rate >= max);
        if let Some(rate) = sample.rate.filter(|rate| counts(*rate)) {
            self.found(Some(rate));
        }
        let bandwidth = self.bandwidth().unwrap_or(Rate::ZERO);
        self.extra.acked((path.now, self.rounds.count()), sample.acked, bandwidth, path.cwnd, is_full);
    }

    /// Raises the maximum bandwidth of the present cycle to `rate`, if that is higher.
    pub(super) fn found(&mut self, rate: Option<Rate>) {
        self.bandwidths[1] = self.bandwidths[1].max(rate);
    }

    /// Begins a new cycle of the bandwidth filter, unless the present one has no sample (`AdvanceMaxBwFilter`).
    pub(super) const fn advance_filter(&mut self) {
        if self.bandwidths[1].is_some() {
            self.bandwidths = [self.bandwidths[1], None];
        }
    }

    /// Lowers the short-term bounds (`AdaptLowerBoundsFromCongestion`) at the end of a round trip of losses. `window` is the window in
    /// force.
    pub(super) fn lower_bounds(&mut self, is_probing: bool, window: Bytes) {
        if !self.loss_round_started {
            return;
        }
        if core::mem::take(&mut self.has_loss) && !is_probing {
            let short = self.bandwidth_short.or(self.max_bandwidth());
            self.bandwidth_short = self.bandwidth_latest.max(short.map(|rate| rate.scale(BETA.0, BETA.1)));
            let short = self.inflight_short.map_or(window, Bytes32::wide).scale(BETA.0, BETA.1);
            self.inflight_short = Some(self.inflight_latest.wide().max(short).into());
        }
    }

    /// Restarts the delivery signals at the end of a round trip (`AdvanceLatestDeliverySignals`).
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.loss_round_started {
            self.bandwidth_latest = sample.rate;
            self.inflight_latest = sample.delivered.into();
        }
    }

    /// Notes a loss in the present round trip (`NoteLoss`).
    pub(super) const fn note_loss(&mut self, path: &Path) {
        if !self.has_loss {
            self.loss_round = path.delivered;
        }
        self.has_loss = true;
    }

    /// Forgets the losses and delivery signals of the round trip (`ResetCongestionSignals`).
    pub(super) const fn reset_signals(&mut self) {
        self.has_loss = false;
        self.bandwidth_latest = None;
        self.inflight_latest = Bytes32::ZERO;
    }

    /// Removes the short-term bounds (`ResetShortTermModel`).
    pub(super) const fn reset_short_term(&mut self) {
        self.bandwidth_short = None;
        self.inflight_short = None;
    }

    /// Marks the packets now in flight as limited by the application, and every packet sent before all of these are delivered
    /// (`MarkConnectionAppLimited`).
    pub(super) fn mark_app_limited(&mut self, path: &Path) {
        if path.delivered > self.limited_to {
            self.limited_from = path.delivered;
        }
        self.limited_to = path.delivered + path.pipe;
    }

    /// Returns `BBR.max_bw`.
    pub(super) fn max_bandwidth(&self) -> Option<Rate> {
        self.bandwidths[0].max(self.bandwidths[1])
    }

    /// Returns `BBR.bw`, the bounded bandwidth (`BoundBWForModel`).
    pub(super) fn bandwidth(&self) -> Option<Rate> {
        Some(self.max_bandwidth()?.min(self.bandwidth_short.unwrap_or(Rate::MAX)))
    }

    /// Returns `gain` hundredths of the bandwidth-delay product; `None` before there are samples.
    pub(super) fn product(&self, gain: u64) -> Option<Bytes> {
        Some(product(self.bandwidth()?, self.min_rtt.get()?, gain))
    }

    /// Returns `BBR.inflight_shortterm`.
    pub(super) fn short_term(&self) -> Bytes {
        self.inflight_short.map_or(Bytes::MAX, Bytes32::wide)
    }

    /// Returns `BBR.inflight_longterm`.
    pub(super) fn long_term(&self) -> Bytes {
        self.inflight_long.map_or(Bytes::MAX, Bytes32::wide)
    }

    /// Sets the long-term bound.
    pub(super) fn bound_long_term(&mut self, inflight: Bytes) {
        self.inflight_long = Some(inflight.into());
    }

    /// Raises the long-term bound to `inflight`, if there is one and it is lower.
    pub(super) fn raise_long_term(&mut self, inflight: Bytes) {
        self.inflight_long = self.inflight_long.map(|bound| bound.wide().max(inflight).into());
    }

    /// Returns the long-term bound minus the headroom for other flows (`InflightWithHeadroom`).
    pub(super) fn with_headroom(&self, path: &Path) -> Bytes {
        let Some(bound) = self.inflight_long.map(Bytes32::wide) else { return Bytes::MAX };
        let headroom = bound.scale(HEADROOM.0, HEADROOM.1).max(path.mss);
        (bound - headroom).max(min_pipe(path))
    }

    /// Returns `BBR.inflight_latest`.
    pub(super) fn latest_inflight(&self) -> Bytes {
        self.inflight_latest.wide()
    }

    /// Returns whether the window was fully used at any time in the last round trip (`C.is_cwnd_limited`).
    pub(super) const fn is_window_limited(&self) -> bool {
        self.window_limited[0] || self.window_limited[1]
    }

    /// Returns whether the newest sample was limited by the application.
    pub(super) const fn is_app_limited(&self) -> bool {
        self.is_app_limited
    }

    /// Returns whether the losses since a packet was sent exceed 2 % of the bytes then in flight (`IsInflightTooHigh`).
    pub(super) fn is_too_high(at: AtSend) -> bool {
        at.lost_since.get() * 100 > at.in_flight.get() * LOSS_PERCENT
    }

    /// Returns the bytes in flight at the point within a lost packet of `size` bytes at which losses crossed 2 %.
    pub(super) fn inflight_at_loss(at: AtSend, size: Bytes) -> Bytes {
        let (inflight, lost) = (at.in_flight - size, at.lost_since - size);
        let prefix = (inflight.scale(LOSS_PERCENT, 100) - lost).scale(100, 100 - LOSS_PERCENT);
        inflight + prefix
    }
}
