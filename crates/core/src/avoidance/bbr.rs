//! A cruise law for the time after BBR's start-up. It is not BBR version 3's `ProbeBW`, but the plainer cycle of
//! version 1 with version 3's answer to losses:
//!
//! - the bandwidth is the greatest delivery rate of this gain cycle and the last;
//! - a cycle is eight rounds, paced at 1.25, 0.75 and six times 1 of 99 % of the bandwidth
//!   (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4.1);
//! - the window is two bandwidth-delay products, at least four segments;
//! - when more than 2 % of a round is lost, 0.7 of the window bounds the window until the next cycle probes again,
//!   but never less than that round delivered (draft-ietf-ccwg-bbr section 5.5.10.3);
//! - there is no `ProbeRTT`: the least round-trip time is that of the whole connection. Marks are ignored.
//!
//! The law collects delivery rates from the first ACK of the connection on, so that it can follow any start-up. Until
//! there is a rate, the window that start-up left stays, on the ACK clock.

use crate::compact::Bytes32;
use crate::evidence::is_starved;
use crate::registry::{Ability, LawEntry, Needs};
use crate::schemes::bbr::{MIN_PIPE, RoundLosses, growth, quantum, with_margin};
use crate::seam::{Ack, Avoidance, Cause, Event, Exit, Pacing, Path, Plan};
use crate::units::{Bytes, Rate};

/// Version 1's gain cycle, in quarters; a round each.
const GAINS: [u64; 8] = [5, 3, 4, 4, 4, 4, 4, 4];
/// The window in bandwidth-delay products.
const CWND_GAIN: u64 = 2;
/// Version 3's β.
const BETA: (u64, u64) = (7, 10);

/// BBR's cruise.
#[derive(Clone, Debug, Default)]
pub struct BbrCruise {
    window: Bytes32,
    /// The bound that losses set, until the next probe.
    bound: Option<Bytes32>,
    /// The greatest delivery rates of the last cycle and of this one, in payload bits per second.
    bandwidths: [Option<Rate>; 2],
    losses: RoundLosses,
    /// [`Path::delivered`] when the round began, modulo 2^32.
    delivered_before: u32,
    /// Where slow start ends after a timeout.
    ssthresh: Option<Bytes32>,
    /// The index into [`GAINS`].
    phase: u8,
}

pub(crate) const BBR: LawEntry = LawEntry {
    name: "bbr",
    summary: "BBR version 1's gain cycle around the greatest delivery rate, with version 3's answer to losses",
    source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.3.4; draft-ietf-ccwg-bbr section 5.5.10",
    needs: Needs::of(&[Ability::AckClock, Ability::Rate, Ability::NewestAck, Ability::DeliveryRate]),
    make: || BbrCruise::new().into(),
};

impl BbrCruise {
    /// A law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn bandwidth(&self) -> Option<Rate> {
        self.bandwidths[0].max(self.bandwidths[1])
    }

    fn product(&self, path: &Path) -> Option<Bytes> {
        Some(self.bandwidth()?.over(path.min_rtt?))
    }

    /// Where the slow start after a timeout ends: at the bandwidth-delay product or, without one, at half of the
    /// window.
    fn after_timeout(&self, path: &Path) -> Bytes {
        self.product(path).unwrap_or(self.window.wide() / 2).max(path.mss * 2)
    }

    /// A rate that the application or the receiver limited counts only if it is greater than the estimate.
    fn measure(&mut self, ack: &Ack<'_>, path: &Path) {
        if let Some(rate) = ack.delivery_rate
            && (!is_starved(ack, path) || self.bandwidth().is_some_and(|most| rate > most))
        {
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

    /// Drops the greatest rate of the last cycle, unless this cycle measured nothing.
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
        let target = (product * CWND_GAIN).min(bound).max(path.mss * MIN_PIPE);
        let window = self.window.wide();
        // The window widens by the bytes acknowledged, and narrows at once.
        self.window = target.min(window + growth(ack, path)).into();
    }
}

impl Avoidance for BbrCruise {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.window = exit.learned.window.into();
        self.bound = None;
        // The start-up's rate is not from a probe: cruise first, and probe a cycle later.
        self.phase = 2;
        // A start-up may know more than delivery rates say: a train finds a rate before that rate was ever delivered.
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

    fn overhear(&mut self, event: &Event<'_>, path: &Path) {
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
