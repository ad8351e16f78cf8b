//! TCP Westwood with the eligible rate estimate (Wang, Pau, Sanadidi and Gerla, slides of March 2003, "TCP Westwood:
//! the control algorithm"). The window grows by one segment per round trip, as in Reno. After a loss the threshold is
//! ERE · `RTT_min`, the window to which the estimate entitles the connection, and the window is at most the
//! threshold.
//!
//! The law measures from the first ACK of the connection on, also while a start-up scheme or restart policy is active.
//! If the threshold is above the window, as after a random loss or a timeout, the window doubles up to the threshold.
//! Before there is an estimate, the response to congestion is half of the flight, as in RFC 5681. A mark is answered
//! like a loss.

use super::additive::AdditiveWindow;
use super::signal::Signal;
use crate::eligible_rate::{Count, EligibleRate, Sampler};
use crate::interest::Interest;
use crate::interface::{Avoidance, Event, Exit, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::units::Bytes;

/// The avoidance law of TCP Westwood.
#[derive(Clone, Debug)]
pub struct Westwood {
    rate: EligibleRate,
    window: AdditiveWindow,
}

pub(crate) const WESTWOOD: LawEntry = LawEntry {
    name: "westwood",
    summary: "a segment a round trip; at a loss the window that the eligible rate estimate entitles to",
    source: "Wang, Pau, Sanadidi and Gerla, Improving TCP start-up over high bandwidth delay paths (2003)",
    needs: Needs::of(&[Ability::AckClock, Ability::NewestAck]).using(&[Ability::Marks, Ability::DenseAcks]),
    make: || Westwood::new().into(),
};

impl Default for Westwood {
    fn default() -> Self {
        Self::new()
    }
}

impl Westwood {
    /// Returns a law that has not taken over yet.
    pub fn new() -> Self {
        Self { rate: EligibleRate::new(Sampler::Vegas, Count::Delivered), window: AdditiveWindow::NEW }
    }

    /// Reduces the window: ssthresh = ERE · `RTT_min`, and cwin = ssthresh if cwin is larger.
    fn reduce(&mut self, path: &Path) {
        let window = self.window.get();
        let target = match self.rate.window(path) {
            Some(eligible) => eligible,
            // RFC 5681 equation 4.
            None => path.flight.min(window) / 2,
        };
        let target = target.max(path.mss * 2);
        self.window.set(window.min(target), Some(target));
    }

    fn grow(&mut self, by: Bytes, path: &Path) {
        if self.window.is_below_threshold() {
            self.window.move_to(self.window.get() + by.min(path.mss));
        } else {
            self.window.grow(by, path.mss);
        }
    }

    fn measure(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => self.rate.on_ack(ack, path),
            // The silence before a timeout must not count as an ACK interval. The estimate stays.
            Event::TimedOut { .. } => self.rate.pause(),
            _ => {}
        }
    }
}

impl Avoidance for Westwood {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn enter(&mut self, exit: &Exit, path: &Path) {
        if self.window.take_over(exit) {
            self.reduce(path);
        }
    }

    #[inline(never)]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        self.measure(event, path);
        match Signal::of(event) {
            Signal::Ack(ack) => self.grow(ack.growth, path),
            Signal::Congestion(_) => self.reduce(path),
            Signal::Inert => {}
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        self.measure(event, path);
    }

    fn forget_path(&mut self) {
        *self = Self::new();
    }

    #[inline]
    fn plan(&self, _path: &Path) -> Plan {
        self.window.plan()
    }
}
