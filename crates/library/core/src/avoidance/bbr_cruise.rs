//! A congestion-avoidance law for start-ups that find the rate themselves. It is modelled on BBR but is not a version of BBR, unlike the
//! law `bbr`: it combines the gain cycle of version 1 with the loss response of version 3.
//!
//! - the bandwidth is the maximum delivery rate of this gain cycle and the previous one;
//! - a cycle is eight rounds, paced at 1.25, 0.75 and six times 1 of 99 % of the bandwidth
//!   (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4.1);
//! - the window is two bandwidth-delay products, at least four segments;
//! - when more than 2 % of a round is lost, the window is limited to 0.7 of its value, or to what that round delivered if that is more,
//!   until the next cycle probes again (draft-ietf-ccwg-bbr section 5.5.10.3);
//! - there is no `ProbeRTT`: the minimum RTT is that of the whole connection. Marks are ignored.
//!
//! The law collects delivery rates from the first ACK of the connection on, so that it can follow any start-up. Until it has a rate, it
//! keeps the start-up's window and sends on the ACK clock.

use crate::bbr::{RoundLosses, growth, min_pipe, quantum, with_margin};
use crate::evidence::is_starved;
use crate::interface::{Ack, Avoidance, Cause, Event, Exit, Pacing, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate};

/// The gains of BBR version 1's cycle, in quarters. Each applies for one round.
const GAINS: [u64; 8] = [5, 3, 4, 4, 4, 4, 4, 4];
/// The window in bandwidth-delay products.
const CWND_GAIN: u64 = 2;
/// Version 3's β.
const BETA: (u64, u64) = (7, 10);

/// The avoidance law that cruises at the measured bandwidth.
#[derive(Clone, Debug, Default)]
pub struct BbrCruise {
    window: Bytes32,
    /// The upper bound of the window that losses set, until the next probe.
    bound: Option<Bytes32>,
    /// Maximum delivery rates of the previous cycle and of this one, in payload bits per second.
    bandwidths: [Option<Rate>; 2],
    losses: RoundLosses,
    /// [`Path::delivered`] when the round began, modulo 2^32.
    delivered_before: u32,
    /// Threshold at which slow start ends after a timeout.
    ssthresh: Option<Bytes32>,
    /// The index into [`GAINS`].
    phase: u8,
}

pub(crate) const BBR_CRUISE: LawEntry = LawEntry {
    name: "bbr-cruise",
    summary: "BBR version 1's gain cycle around the greatest delivery rate, with version 3's answer to losses",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4; draft-ietf-ccwg-bbr section 5.5.10",
    needs: Needs::of(&[Ability::AckClock, Ability::Rate, Ability::NewestAck, Ability::DeliveryRate]),
    make: || BbrCruise::new().into(),
};

impl BbrCruise {
    /// Returns a law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn bandwidth(&self) -> Option<Rate> {
        self.bandwidths[0].max(self.bandwidths[1])
    }

    fn product(&self, path: &Path) -> Option<Bytes> {
        Some(self.bandwidth()?.over(path.min_rtt?))
    }

    /// Returns the threshold of the slow start after a timeout: the bandwidth-delay product or, without one, half of the window.
    fn after_timeout(&self, path: &Path) -> Bytes {
        self.product(path).unwrap_or(self.window.wide() / 2).max(path.mss * 2)
    }

    /// Adds the delivery rate of an ACK. A rate that the application or the receiver limited counts only if it is above the estimate.
    fn measure(&mut self, ack: &Ack<'_>, path: &Path) {
        let Some(rate) = ack.delivery_rate else { return };
        if !is_starved(ack, path) || self.bandwidth().is_some_and(|max| rate > max) {
            self.bandwidths[1] = self.bandwidths[1].max(Some(rate));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    fn end_round(&mut self, path: &Path) {
        let delivered = (path.delivered.get() as u32).wrapping_sub(self.delivered_before);
        if self.losses.exceed_threshold(path) {
            let lower = self.window.wide().scale(BETA.0, BETA.1);
            self.bound = Some(lower.max(Bytes::new(u64::from(delivered))).into());
        }
        self.start_round(path);
        self.phase = (self.phase + 1) % 8;
        if self.phase == 0 {
            self.start_cycle();
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    fn start_round(&mut self, path: &Path) {
        self.losses.start_round(path);
        self.delivered_before = path.delivered.get() as u32;
    }

    /// Drops the maximum rate of the previous cycle, unless the present cycle measured nothing.
    fn start_cycle(&mut self) {
        self.bound = None;
        if self.bandwidths[1].is_some() {
            self.bandwidths = [self.bandwidths[1], None];
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) {
        self.measure(ack, path);
        if ack.round_ended {
            self.end_round(path);
        }
        let Some(product) = self.product(path) else { return };
        let bound = self.bound.map_or(Bytes::MAX, Bytes32::wide);
        let target = (product * CWND_GAIN).min(bound).max(min_pipe(path));
        let window = self.window.wide();
        // The window grows by the bytes acknowledged, but shrinks at once.
        self.window = target.min(window + growth(ack, path)).into();
    }
}

impl Avoidance for BbrCruise {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.window = exit.learned.window.into();
        self.bound = None;
        // The rate from start-up did not come from a probe. The law therefore cruises first and probes a cycle later.
        self.phase = 2;
        // The start-up may know a rate above the measured delivery rates: a train finds a rate before data was delivered at that rate.
        let found = exit.learned.rate.map(|rate| rate.scale(path.mss.get(), path.wire.get()));
        self.bandwidths[1] = self.bandwidths[1].max(found.filter(|rate| !rate.is_zero()));
        self.ssthresh = match exit.cause {
            Cause::Timeout => exit.learned.ssthresh.or(Some(self.after_timeout(path))).map(Bytes32::from),
            _ => None,
        };
        self.start_round(path);
    }

    #[inline(never)]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.losses.add(loss),
            Event::TimedOut { .. } => self.ssthresh = Some(self.after_timeout(path).into()),
            Event::Begin(_)
            | Event::Established { .. }
            | Event::Sent(_)
            | Event::Marked { .. }
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => {}
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        if let Event::Acked(ack) = event {
            self.measure(ack, path);
        }
    }

    fn forget_path(&mut self) {
        *self = Self::new();
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = Plan::ack_clocked(self.window.wide(), self.ssthresh.map(Bytes32::wide));
        let gain = GAINS[usize::from(self.phase) % GAINS.len()];
        let Some(bandwidth) = self.bandwidth() else { return plan };
        let rate = with_margin(bandwidth.scale(path.wire.get(), path.mss.get()).scale(gain, 4));
        Plan { pacing: Pacing::Rate { rate, burst: quantum(rate, path) }, ..plan }
    }
}
