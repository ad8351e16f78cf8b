//! Reno: a segment a round trip, half the flight at a loss (RFC 5681 sections 3.1 and 3.2).

use crate::compact::Bytes32;
use crate::hears::Hears;
use crate::registry::{Ability, LawEntry, Needs};
use crate::seam::{Avoidance, Event, Exit, Path, Plan};
use crate::units::Bytes;

/// The additive-increase, multiplicative-decrease law of RFC 5681.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// Bytes acknowledged since the window last grew (byte counting, RFC 5681 section 3.1).
    acked: Bytes32,
}

pub(crate) const RENO: LawEntry = LawEntry {
    name: "reno",
    summary: "a segment a round trip, half the flight at a loss",
    source: "RFC 5681 sections 3.1 and 3.2",
    needs: Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]),
    make: || Reno::new().into(),
};

impl Reno {
    /// A law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// RFC 5681 equation 4: ssthresh = max(FlightSize / 2, 2 SMSS).
    fn halve(&mut self, path: &Path) {
        // Not more than the window: what limited transmit sent beyond it does not count (section 3.2).
        let half = (path.flight.min(self.window.wide()) / 2).max(path.mss * 2);
        self.set(half, Some(half));
    }

    fn set(&mut self, window: Bytes, ssthresh: Option<Bytes>) {
        self.window = window.into();
        self.ssthresh = ssthresh.map(Bytes32::from);
        self.acked = Bytes32::ZERO;
    }

    /// A segment once a window's worth of bytes was acknowledged (RFC 5681 section 3.1).
    #[inline]
    fn grow(&mut self, by: Bytes, mss: Bytes) {
        let window = self.window.wide();
        // One ACK can cover more than the window just after a reduction; it counts as one window.
        let acked = self.acked.wide() + by.min(window);
        if acked >= window {
            self.window = (window + mss).into();
            self.acked = (acked - window).into();
        } else {
            self.acked = acked.into();
        }
    }

    /// [`Hears::widen`].
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "a law that minds more answers `None`")]
    pub(super) fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        self.grow(growth, mss);
        Some(self.window.wide())
    }
}

impl Avoidance for Reno {
    const HEARS: Hears<Self> =
        Hears::ALL.without_sends().without_later_losses().without_others().widened_by(Self::widen);

    fn enter(&mut self, exit: &Exit, path: &Path) {
        let known = self.ssthresh.map(Bytes32::wide);
        self.set(exit.learned.window, exit.learned.ssthresh.or(known));
        if exit.is_congestion() && exit.learned.ssthresh.is_none() {
            self.halve(path);
        }
    }

    #[inline]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => self.grow(ack.growth, path.mss),
            Event::Lost(loss) if loss.opens_episode => self.halve(path),
            Event::Marked { .. } | Event::TimedOut { .. } => self.halve(path),
            Event::Begin(_)
            | Event::Established { .. }
            | Event::Sent(_)
            | Event::Lost(_)
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

    #[inline]
    fn plan(&self, _path: &Path) -> Plan {
        Plan::ack_clocked(self.window.wide(), self.ssthresh.map(Bytes32::wide))
    }
}
