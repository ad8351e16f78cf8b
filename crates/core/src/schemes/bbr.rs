//! BBR version 3's start-up and drain (draft-ietf-ccwg-bbr, sections 5.3.1 and 5.3.2). Start-up paces at 2.77 times
//! the greatest delivery rate seen, until three rounds in a row bring less than a quarter more, or losses stay high.
//! The drain paces at half the rate until at most a bandwidth-delay product is in flight.
//!
//! BBR's `ProbeBW` does not follow: the law `bbr` is a plainer cruise (see there), and any other law takes over with
//! one bandwidth-delay product. Start-up lasts to the end of the drain, and its exit names what filled the pipe: a
//! flat rate or losses.
//!
//! Deviations: the window has no allowance for aggregated ACKs (`extra_acked`) and no quantum of segmentation
//! offload. Packets that the receiver limited count like packets that the application limited. A timeout begins
//! start-up anew from one segment. The least round-trip time is that of the whole connection, without `ProbeRTT`.
//! Marks are ignored, which the draft leaves to L4S.

use crate::compact::Bytes32;
use crate::evidence::is_starved;
use crate::registry::{Ability, Needs, SchemeEntry};
use crate::schemes::Initial;
use crate::seam::{
    Ack, Advice, Cause, Event, Exit, Learned, Loss, Origin, Pacing, Path, Plan, Startup, Step,
};
use crate::units::{Bytes, Rate, Span};

/// `BBRStartupPacingGain` = 4 ln 2 (section 5.6.1, and the derivation that the draft cites).
const STARTUP_GAIN: (u64, u64) = (277, 100);
/// `BBRDrainPacingGain` (section 5.3.2).
const DRAIN_GAIN: (u64, u64) = (1, 2);
/// `BBRDefaultCwndGain`.
const CWND_GAIN: u64 = 2;
/// `BBRPacingMarginPercent`: paces this little below the estimate.
pub(crate) const MARGIN: (u64, u64) = (99, 100);
/// `BBRMinPipeCwnd`, in segments.
pub(crate) const MIN_PIPE: u64 = 4;
/// Section 5.3.1.2: growth of less than a quarter, three rounds long.
const GROWTH: (u64, u64) = (125, 100);
const FLAT_ROUNDS: u8 = 3;
/// Section 5.3.1.3: `BBRLossThresh` in hundredths, and `BBRStartupFullLossCnt`.
pub(crate) const LOSS_PERCENT: u64 = 2;
const LOSS_RANGES: u8 = 6;
/// Section 5.3.2: the drain lasts at most this many rounds.
const DRAIN_ROUNDS: u8 = 3;
/// Section 5.6.2: without a round-trip time, one millisecond is assumed.
const NO_RTT: Span = Span::from_millis(1);
/// Section 5.6.3: the send quantum is a millisecond's worth, between two segments and 64 KiB.
const QUANTUM: Span = Span::from_millis(1);
const MOST_QUANTUM: Bytes = Bytes::new(65_536);

/// BBR's start-up and drain.
#[derive(Clone, Debug)]
pub struct Bbr {
    window: Bytes32,
    /// `inflight_longterm`: the bound that losses set.
    bound: Option<Bytes32>,
    /// `max_bw`, in payload bits per second.
    bandwidth: Option<Rate>,
    /// `full_bw`: the rate that growth is compared with.
    baseline: Option<Rate>,
    /// The pacing rate, in IP bits per second: it only rises in start-up.
    pacing: Rate,
    /// `inflight_latest`: the most bytes delivered over one packet's flight, in this round and in the last.
    latest: Bytes32,
    latest_before: Bytes32,
    losses: RoundLosses,
    flat_rounds: u8,
    /// Whether a round ended with an ACK that completed no packet: the next ACK that completes one decides whether
    /// the round was flat.
    round_waits: bool,
    drain_rounds: u8,
    /// The initial window in segments.
    segments: u16,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The handshake is not over.
    Closed,
    Startup,
    /// The drain after start-up; holds what filled the pipe, [`Cause::RateFlat`] or [`Cause::Loss`].
    Drain(Cause),
}

pub(crate) const BBR: SchemeEntry = SchemeEntry {
    name: "bbr",
    summary: "paces at 2.77 times the delivery rate until it stops growing, then drains the queue (BBR v3)",
    source: "draft-ietf-ccwg-bbr sections 5.3.1 and 5.3.2",
    law: "bbr",
    parameters: &[],
    needs: Needs::of(&[Ability::Rate, Ability::NewestAck, Ability::DeliveryRate]),
    make: |initial, _| Bbr::new(initial).into(),
};

impl Bbr {
    /// BBR with the draft's constants. It has no threshold: the initial one is ignored.
    pub fn new(initial: Initial) -> Self {
        Self {
            window: Bytes32::ZERO,
            bound: None,
            bandwidth: None,
            baseline: None,
            pacing: Rate::ZERO,
            latest: Bytes32::ZERO,
            latest_before: Bytes32::ZERO,
            losses: RoundLosses::default(),
            flat_rounds: 0,
            round_waits: false,
            drain_rounds: 0,
            segments: u16::try_from(initial.segments.max(1)).unwrap_or(u16::MAX),
            state: State::Closed,
        }
    }

    fn begin(&mut self, origin: Origin, path: &Path) {
        let initial = path.mss * u64::from(self.segments);
        let segments = u32::from(self.segments);
        let (window, state) = match origin {
            Origin::Fresh => (initial, State::Closed),
            Origin::PathChange => (initial, State::Startup),
            Origin::AfterTimeout { was } | Origin::AfterIdle { was, .. } => (was.window, State::Startup),
        };
        *self = Self { window: window.into(), state, ..Self::new(Initial { segments, ssthresh: None }) };
        self.losses.start_round(path);
        self.pace_first(path);
    }

    /// Section 5.6.2, `BBRInitPacingRate`: the window in a round trip, times the gain.
    fn pace_first(&mut self, path: &Path) {
        let rtt = path.srtt.unwrap_or(NO_RTT);
        let wire = self.window.wide().scale(path.wire.get(), path.mss.get());
        let rate = wire.scale(STARTUP_GAIN.0, STARTUP_GAIN.1).per(rtt);
        self.pacing = rate.unwrap_or(Rate::MAX);
    }

    /// Takes a window from a scheme around this one. The window is paced like the initial one, and whether the pipe
    /// is full is judged anew (`BBRResetFullBW`, section 5.3.1.2). The measurements stay. A drain only accepts a
    /// smaller window.
    fn advised(&mut self, window: Bytes, path: &Path) {
        if let State::Drain(_) = self.state {
            self.window = self.window.wide().min(window).into();
            return;
        }
        self.window = window.into();
        self.pace_first(path);
        (self.baseline, self.flat_rounds, self.round_waits) = (None, 0, false);
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        self.measure(ack, path);
        match self.state {
            State::Closed => Step::Stay,
            State::Startup => {
                self.widen(growth(ack, path), path);
                if let Some(cause) = self.pipe_is_full(ack, path) {
                    self.state = State::Drain(cause);
                    return self.drained(path).map_or(Step::Stay, Step::Done);
                }
                Step::Stay
            }
            State::Drain(_) => {
                self.drain_rounds += u8::from(ack.round_ended);
                self.drained(path).map_or(Step::Stay, Step::Done)
            }
        }
    }

    /// Sections 5.5.5 and 5.5.10: the greatest delivery rate, and the bytes delivered over a packet's flight. A rate
    /// that the application or the receiver limited counts only if it is greater than the estimate.
    fn measure(&mut self, ack: &Ack<'_>, path: &Path) {
        if ack.round_ended {
            self.latest_before = core::mem::take(&mut self.latest);
        }
        if let Some(newest) = ack.packets.iter().max_by_key(|packet| packet.packet).or(ack.newest) {
            let carried = path.delivered - newest.delivered_at_send;
            self.latest = carried.max(self.latest.wide()).into();
        }
        if let Some(rate) = ack.delivery_rate
            && (!is_starved(ack, path) || self.bandwidth.is_some_and(|most| rate > most))
        {
            self.bandwidth = self.bandwidth.max(Some(rate));
        }
        if let (State::Startup, Some(rate)) = (self.state, self.rate(path)) {
            self.pacing = self.pacing.max(with_margin(rate.scale(STARTUP_GAIN.0, STARTUP_GAIN.1)));
        }
    }

    /// Section 5.6.4.6: while the pipe is not full the window grows by the bytes acknowledged, up to twice the
    /// bandwidth-delay product. There is no limit before there is an estimate, or before an initial window was
    /// delivered.
    fn widen(&mut self, growth: Bytes, path: &Path) {
        let most = self.inflight(CWND_GAIN, path);
        let initial = path.mss * u64::from(self.segments);
        if path.delivered < initial || most.is_none_or(|most| self.window.wide() < most) {
            self.window = (self.window.wide() + growth).into();
        }
    }

    /// Sections 5.3.1.2 and 5.3.1.3.
    fn pipe_is_full(&mut self, ack: &Ack<'_>, path: &Path) -> Option<Cause> {
        if ack.round_ended {
            let high = self.losses.are_high(path, LOSS_RANGES);
            self.losses.start_round(path);
            if high {
                let latest = self.latest.wide().max(self.latest_before.wide());
                self.bound = Some(self.inflight(1, path).unwrap_or(Bytes::ZERO).max(latest).into());
                return Some(Cause::Loss);
            }
        }
        // The draft's rounds end with a rate sample. A round here may end with an ACK for part of a packet, which
        // brings no sample.
        self.round_waits |= ack.round_ended;
        let rate = ack.delivery_rate?;
        let round_ended = core::mem::take(&mut self.round_waits);
        if is_starved(ack, path) {
            return None;
        }
        let grown = |baseline: Rate| rate >= baseline.scale(GROWTH.0, GROWTH.1);
        if self.baseline.is_none_or(grown) {
            self.baseline = Some(rate);
            self.flat_rounds = 0;
            return None;
        }
        self.flat_rounds += u8::from(round_ended);
        (self.flat_rounds >= FLAT_ROUNDS).then_some(Cause::RateFlat)
    }

    /// Section 5.3.2: the exit, once at most a bandwidth-delay product is in flight, or after three rounds.
    fn drained(&mut self, path: &Path) -> Option<Exit> {
        let State::Drain(cause) = self.state else { return None };
        let most = self.bounded(self.inflight(CWND_GAIN, path).unwrap_or(path.mss * MIN_PIPE), path);
        self.window = self.window.wide().min(most).into();
        let product = self.bounded(self.inflight(1, path).unwrap_or(path.mss * MIN_PIPE), path);
        if path.pipe > product && self.drain_rounds < DRAIN_ROUNDS {
            return None;
        }
        let window = product.min(self.window.wide());
        let learned = Learned { window, ssthresh: Some(window), rate: self.rate(path) };
        Some(Exit { cause, learned })
    }

    /// Section 5.6.4.2: `gain` bandwidth-delay products, at least four segments.
    fn inflight(&self, gain: u64, path: &Path) -> Option<Bytes> {
        let product = self.bandwidth?.over(path.min_rtt?) * gain;
        Some(product.max(path.mss * MIN_PIPE))
    }

    fn bounded(&self, window: Bytes, path: &Path) -> Bytes {
        let bound = self.bound.map_or(Bytes::MAX, Bytes32::wide);
        window.min(bound).max(path.mss * MIN_PIPE)
    }

    /// The estimate in IP bits per second.
    fn rate(&self, path: &Path) -> Option<Rate> {
        Some(self.bandwidth?.scale(path.wire.get(), path.mss.get()))
    }

    fn leave(&self, cause: Cause, path: &Path) -> Step {
        let learned = Learned { window: self.window.wide(), ssthresh: None, rate: self.rate(path) };
        Step::Done(Exit { cause, learned })
    }
}

/// The bytes by which an ACK may widen the window. BBR's window grows by the bytes delivered while a loss is repaired
/// too, since its model and not the loss bounds the window (section 5.6.4.6).
pub(crate) fn growth(ack: &Ack<'_>, path: &Path) -> Bytes {
    if path.recovering && !is_starved(ack, path) { ack.bytes } else { ack.growth }
}

/// A pacing rate a little below an estimate.
pub(crate) fn with_margin(rate: Rate) -> Rate {
    rate.scale(MARGIN.0, MARGIN.1)
}

/// Section 5.6.3: the bytes that may leave at once.
pub(crate) fn quantum(rate: Rate, path: &Path) -> Bytes {
    rate.over(QUANTUM).min(MOST_QUANTUM).max(path.wire * 2)
}

/// The losses of a round, and whether they are high.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundLosses {
    lost: Bytes32,
    /// [`Path::delivered`] when the round began, modulo 2^32.
    delivered_before: u32,
    /// The newest lost packet's number, modulo 2^32.
    last: u32,
    /// Separate ranges of lost packets.
    ranges: u8,
    /// Whether a loss was being repaired when the round began.
    repairing: bool,
}

impl RoundLosses {
    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    pub(crate) fn start_round(&mut self, path: &Path) {
        let delivered_before = path.delivered.get() as u32;
        *self = Self { delivered_before, last: self.last, repairing: path.recovering, ..Self::default() };
    }

    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    pub(crate) fn add(&mut self, loss: &Loss<'_>) {
        self.lost = (self.lost.wide() + loss.bytes).into();
        for packet in loss.packets {
            let number = packet.packet as u32;
            if self.ranges == 0 || number != self.last.wrapping_add(1) {
                self.ranges = self.ranges.saturating_add(1);
            }
            self.last = number;
        }
    }

    /// Section 5.3.1.3: a loss was being repaired for the whole round, more than 2 % of the round was lost, and the
    /// losses are in at least `ranges` separate ranges.
    fn are_high(&self, path: &Path, ranges: u8) -> bool {
        self.repairing && path.recovering && self.ranges >= ranges && self.exceed_threshold(path)
    }

    /// Whether more than 2 % of the round's bytes were lost.
    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    pub(crate) fn exceed_threshold(&self, path: &Path) -> bool {
        let delivered = u64::from((path.delivered.get() as u32).wrapping_sub(self.delivered_before));
        let lost = self.lost.wide().get();
        lost * 100 > (delivered + lost) * LOSS_PERCENT
    }
}

impl Startup for Bbr {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => return self.acked(ack, path),
            Event::TimedOut { .. } => return self.leave(Cause::Timeout, path),
            Event::Begin(origin) => self.begin(*origin, path),
            Event::Established { syn_lost, .. } => {
                if *syn_lost {
                    self.window = path.mss.into();
                }
                self.state = State::Startup;
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
        let rate = match self.state {
            State::Closed => return Plan { pacing: Pacing::Hold, ..plan },
            State::Startup => self.pacing,
            State::Drain(_) => match self.rate(path) {
                Some(rate) => with_margin(rate.scale(DRAIN_GAIN.0, DRAIN_GAIN.1)),
                None => self.pacing,
            },
        };
        Plan { pacing: Pacing::Rate { rate, burst: quantum(rate, path) }, ..plan }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seam::{LostPacket, Tag};

    fn lost(losses: &mut RoundLosses, numbers: &[u64]) {
        for number in numbers {
            let packets = [LostPacket { packet: *number, bytes: Bytes::new(1_000), tag: Tag(0) }];
            let bytes = Bytes::new(1_000);
            let loss = Loss { bytes, ranges: 1, ..Loss::new(&packets) };
            losses.add(&loss);
        }
    }

    #[test]
    fn packets_lost_one_after_another_are_one_range_however_they_are_reported() {
        let mut losses = RoundLosses::default();
        lost(&mut losses, &[3, 4, 5, 9, 10, 20]);
        assert_eq!(losses.ranges, 3);
        assert_eq!(losses.lost.wide(), Bytes::new(6_000));
    }
}
