//! Vegas (Brakmo and Peterson, 1995): keeps between α and β segments waiting in the network, a segment up or down
//! a round trip; half the flight at a loss, as Reno.
//!
//! `vegas` is the port in ns-2 2.35 with its α = 1 and β = 3, which the papers used; `vegas-linux` is Linux's
//! `tcp_vegas.c` with 2 and 4. How they measure is in [`crate::vegas`]. Growth is spread over the round in ns-2
//! and comes at its end in Linux; a decrease comes at the end in both. The law measures during start-up too, and
//! keeps its shortest round trip. Vegas's early retransmission is the host's business and not here, nor is ns-2's
//! cut to three quarters that goes with it.

use crate::compact::Bytes32;
use crate::registry::LawEntry;
use crate::seam::{Ack, Avoidance, Event, Exit, Origin, Path, Plan};
use crate::units::Bytes;
use crate::vegas::{Gauge, Variant};

/// The law of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    gauge: Gauge,
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// Bytes acknowledged since the window last grew.
    acked: Bytes32,
    /// In segments.
    alpha: u8,
    beta: u8,
    /// Whether this round widens the window (ns-2).
    rises: bool,
}

pub(crate) const VEGAS: LawEntry = LawEntry {
    name: "vegas",
    summary: "1 to 3 segments waiting in the network by a round's mean delay; half the flight at a loss",
    source: "Brakmo and Peterson, TCP Vegas (JSAC 1995), as in ns-2 2.35",
    make: || Vegas::new(Variant::Ns2).into(),
};

pub(crate) const VEGAS_LINUX: LawEntry = LawEntry {
    name: "vegas-linux",
    summary: "2 to 4 segments waiting in the network by a round's least delay; half the flight at a loss",
    source: "Linux net/ipv4/tcp_vegas.c",
    make: || Vegas::new(Variant::Linux).into(),
};

impl Vegas {
    /// The law of one of the variants, with its own α and β.
    pub fn new(variant: Variant) -> Self {
        let (alpha, beta) = match variant {
            Variant::Ns2 | Variant::Paper => (1, 3),
            Variant::Linux => (2, 4),
        };
        Self::between(variant, alpha, beta)
    }

    /// The law that keeps between `alpha` and `beta` segments waiting; a `beta` below `alpha` counts as `alpha`.
    pub fn between(variant: Variant, alpha: u8, beta: u8) -> Self {
        Self {
            gauge: Gauge::new(variant),
            window: Bytes32::ZERO,
            ssthresh: None,
            acked: Bytes32::ZERO,
            alpha,
            beta: beta.max(alpha),
            rises: false,
        }
    }

    fn set(&mut self, window: Bytes, ssthresh: Option<Bytes>) {
        self.window = window.into();
        self.ssthresh = ssthresh.map(Bytes32::from);
        self.acked = Bytes32::ZERO;
        self.rises = false;
        self.gauge.clear();
    }

    /// RFC 5681 equation 4.
    fn halve(&mut self, path: &Path) {
        let half = (path.flight.min(self.window.wide()) / 2).max(path.mss * 2);
        self.set(half, Some(half));
    }

    fn heard(&mut self, ack: &Ack<'_>, path: &Path) {
        let reading = self.gauge.on(ack, path);
        if ack.round_ended {
            self.rises = false;
        }
        if let Some(reading) = reading {
            self.judge(reading.waiting, path.mss);
        }
        if self.rises {
            self.widen(ack.growth, path.mss);
        }
    }

    fn judge(&mut self, waiting: Bytes, mss: Bytes) {
        let window = self.window.wide();
        if waiting > mss * u64::from(self.beta) {
            self.window = (window - mss).max(mss * 2).into();
        } else if waiting < mss * u64::from(self.alpha) {
            match self.gauge.variant() {
                Variant::Ns2 | Variant::Paper => self.rises = true,
                Variant::Linux => self.window = (window + mss).into(),
            }
        }
    }

    /// A segment over a window's worth of acknowledged bytes.
    fn widen(&mut self, by: Bytes, mss: Bytes) {
        let window = self.window.wide();
        let acked = self.acked.wide() + by.min(window);
        if acked >= window {
            self.window = (window + mss).into();
            self.acked = (acked - window).into();
        } else {
            self.acked = acked.into();
        }
    }
}

impl Avoidance for Vegas {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        let known = self.ssthresh.map(Bytes32::wide);
        self.set(exit.learned.window, exit.learned.ssthresh.or(known));
        if exit.is_congestion() && exit.learned.ssthresh.is_none() {
            self.halve(path);
        }
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => self.heard(ack, path),
            Event::Lost(loss) if loss.opens_episode => self.halve(path),
            Event::Marked | Event::TimedOut { .. } => self.halve(path),
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

    /// The shortest round trip of the connection is often one of start-up's, when the queue was empty.
    fn overhear(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => {
                self.gauge.on(ack, path);
            }
            Event::Begin(Origin::PathChange) => self.gauge.forget(),
            _ => {}
        }
    }

    fn plan(&self, _path: &Path) -> Plan {
        Plan::ack_clocked(self.window.wide(), self.ssthresh.map(Bytes32::wide))
    }
}
