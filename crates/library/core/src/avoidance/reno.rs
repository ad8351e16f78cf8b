//! Reno: one segment of growth per round trip, and half the flight at a loss (RFC 5681 sections 3.1 and 3.2).

use super::additive::AdditiveWindow;
use super::signal::Signal;
use crate::interest::Interest;
use crate::interface::{Avoidance, Event, Exit, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::units::Bytes;

/// The additive-increase, multiplicative-decrease law of RFC 5681.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    window: AdditiveWindow,
}

pub(crate) const RENO: LawEntry = LawEntry {
    name: "reno",
    summary: "a segment a round trip, half the flight at a loss",
    source: "RFC 5681 sections 3.1 and 3.2",
    needs: Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]),
    make: || Reno::new().into(),
};

impl Reno {
    /// Returns a law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets ssthresh = max(FlightSize / 2, 2 SMSS) (RFC 5681 equation 4).
    fn halve(&mut self, path: &Path) {
        // The flight counts at most as one window: packets that limited transmit sent beyond the window do not count
        // (section 3.2).
        let half = (path.flight.min(self.window.get()) / 2).max(path.mss * 2);
        self.window.set(half, Some(half));
    }

    /// Widens the window for an ACK without the rest of the ACK; see [`Interest::widen`].
    #[inline]
    #[expect(clippy::unnecessary_wraps, reason = "a law that needs the whole ACK returns `None`")]
    pub(super) fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        self.window.grow(growth, mss);
        Some(self.window.get())
    }
}

impl Avoidance for Reno {
    const INTEREST: Interest<Self> =
        Interest::ALL.without_sends().without_later_losses().without_others().widened_by(Self::widen);

    fn enter(&mut self, exit: &Exit, path: &Path) {
        if self.window.take_over(exit) {
            self.halve(path);
        }
    }

    #[inline]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match Signal::of(event) {
            Signal::Ack(ack) => self.window.grow(ack.growth, path.mss),
            Signal::Congestion(_) => self.halve(path),
            Signal::Inert => {}
        }
    }

    fn forget_path(&mut self) {
        *self = Self::new();
    }

    #[inline]
    fn plan(&self, _path: &Path) -> Plan {
        self.window.plan()
    }
}
