//! Vegas (Brakmo and Peterson, 1995) keeps between α and β segments queued in the network. It changes the window by
//! at most one segment per round trip. At a loss it keeps three quarters of its window in ns-2, and half the flight
//! in Linux, as Reno does.
//!
//! `vegas` is the port in ns-2 2.35 with its α = 1 and β = 3, which the papers used; `vegas-linux` is Linux's
//! `tcp_vegas.c` with 2 and 4. [`crate::vegas`] describes how they measure. In ns-2 growth is spread over the round;
//! in Linux it comes at the end of the round. A decrease comes at the end in both. If the round had fewer than three
//! samples, Linux grows as Reno does, by the ACK that ends the round; with a receiver that delays its ACKs this
//! applies up to a window of five segments. The law also measures during start-up, and keeps the minimum RTT. Vegas's
//! early retransmission is part of the host (`--recovery vegas`).
//!
//! ns-2 counts ACKs for growth, and measures across losses and idle times. ns-2 also halves the window when a
//! retransmission is lost, which a law cannot detect here.

use super::additive::AdditiveWindow;
use super::signal::Signal;
use crate::interest::Interest;
use crate::interface::{Ack, Avoidance, Cause, Event, Exit, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::units::Bytes;
use crate::vegas::{Gauge, Shown, Variant};

/// The avoidance law of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    gauge: Gauge,
    window: AdditiveWindow,
    /// α and β, in segments.
    alpha: u8,
    beta: u8,
    /// Whether this round widens the window (ns-2).
    rises: bool,
}

pub(crate) const VEGAS: LawEntry = LawEntry {
    name: "vegas",
    summary: "1 to 3 segments waiting in the network by a round's mean delay; three quarters of the window at a loss",
    source: "Brakmo and Peterson, TCP Vegas (JSAC 1995), as in ns-2 2.35",
    needs: Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]),
    make: || Vegas::new(Variant::Ns2).into(),
};

pub(crate) const VEGAS_LINUX: LawEntry = LawEntry {
    name: "vegas-linux",
    summary: "2 to 4 segments waiting in the network by a round's minimum delay; half the flight at a loss",
    source: "Linux net/ipv4/tcp_vegas.c",
    needs: Needs::of(&[Ability::AckClock, Ability::SegmentCounts]).using(&[Ability::Marks]),
    make: || Vegas::new(Variant::Linux).into(),
};

impl Vegas {
    /// Returns the law of one of the variants, with its own α and β.
    pub fn new(variant: Variant) -> Self {
        let (alpha, beta) = match variant {
            Variant::Ns2 | Variant::Paper => (1, 3),
            Variant::Linux => (2, 4),
        };
        Self::between(variant, alpha, beta)
    }

    /// Returns the law that keeps between `alpha` and `beta` segments queued; a `beta` below `alpha` counts as
    /// `alpha`.
    pub fn between(variant: Variant, alpha: u8, beta: u8) -> Self {
        Self {
            gauge: Gauge::new(variant),
            window: AdditiveWindow::NEW,
            alpha,
            beta: beta.max(alpha),
            rises: false,
        }
    }

    /// Begins to measure a new round after the window was set.
    fn restart_round(&mut self) {
        self.rises = false;
        // `tcp_vegas.c` begins anew after each recovery; ns-2 does not.
        if self.gauge.variant() == Variant::Linux {
            self.gauge.clear();
        }
    }

    /// Reduces the window: RFC 5681 equation 4 or, for ns-2, by a quarter of the window in whole segments at a loss
    /// and by half at a timeout.
    fn reduce(&mut self, cause: Cause, path: &Path) {
        let window = self.window.get();
        let target = match (self.gauge.variant(), cause) {
            (Variant::Ns2, Cause::Loss) => {
                let segments = window.packets(path.mss);
                path.mss * if segments <= 3 { 2 } else { segments - segments / 4 }
            }
            (Variant::Ns2, Cause::Timeout) => window / 2,
            _ => path.flight.min(window) / 2,
        };
        let target = target.max(path.mss * 2);
        // The threshold of ns-2 after a loss only serves to end slow start.
        let ends_slow_start = self.gauge.variant() == Variant::Ns2 && cause == Cause::Loss;
        self.window.set(target, Some(if ends_slow_start { path.mss * 2 } else { target }));
        self.restart_round();
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) {
        let shown = self.gauge.on(ack, path);
        if ack.round_ended {
            self.rises = false;
        }
        match shown {
            Shown::Round(reading) => self.adjust(reading.waiting, path.mss),
            Shown::TooFew => self.window.grow(ack.growth, path.mss),
            Shown::Nothing => {}
        }
        if self.rises {
            self.window.grow(ack.growth.min(path.mss), path.mss);
        }
    }

    fn adjust(&mut self, waiting: Bytes, mss: Bytes) {
        let window = self.window.get();
        if waiting > mss * u64::from(self.beta) {
            self.window.move_to((window - mss).max(mss * 2));
        } else if waiting < mss * u64::from(self.alpha) {
            match self.gauge.variant() {
                Variant::Ns2 | Variant::Paper => self.rises = true,
                Variant::Linux => self.window.move_to(window + mss),
            }
        }
    }
}

impl Avoidance for Vegas {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn enter(&mut self, exit: &Exit, path: &Path) {
        // An idle time has ended, and the window is narrower. The rest of the state is kept.
        if exit.cause == Cause::Resumed {
            self.window.move_to(exit.learned.window);
            return;
        }
        let unanswered = self.window.take_over(exit);
        self.restart_round();
        if unanswered {
            self.reduce(exit.cause, path);
        }
    }

    #[inline(never)]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match Signal::of(event) {
            Signal::Ack(ack) => self.acked(ack, path),
            Signal::Congestion(cause) => self.reduce(cause, path),
            Signal::Inert => {}
        }
    }

    /// Observes events during start-up, where a connection often has its minimum RTT, because the queue was empty.
    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        if let Event::Acked(ack) = event {
            self.gauge.on(ack, path);
        }
    }

    fn forget_path(&mut self) {
        *self = Self::between(self.gauge.variant(), self.alpha, self.beta);
    }

    #[inline]
    fn plan(&self, _path: &Path) -> Plan {
        self.window.plan()
    }
}
