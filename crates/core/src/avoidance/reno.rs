//! Reno: a segment a round trip, half the flight at a loss (RFC 5681 sections 3.1 and 3.2).

use crate::seam::{Avoidance, Event, Exit, Path, Plan};
use crate::units::Bytes;

/// The additive-increase, multiplicative-decrease law of RFC 5681.
#[derive(Clone, Debug, Default)]
pub struct Reno {
    window: Bytes,
    ssthresh: Option<Bytes>,
    /// Bytes acknowledged since the window last grew (byte counting, RFC 5681 section 3.1).
    acked: Bytes,
}

impl Reno {
    /// A law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// RFC 5681 equation 4: ssthresh = max(FlightSize / 2, 2 SMSS).
    fn halve(&mut self, path: &Path) {
        let half = (path.flight.min(self.window) / 2).max(path.mss * 2);
        self.set(half, Some(half));
    }

    fn set(&mut self, window: Bytes, ssthresh: Option<Bytes>) {
        self.window = window;
        self.ssthresh = ssthresh;
        self.acked = Bytes::ZERO;
    }
}

impl Avoidance for Reno {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.set(exit.learned.window, exit.learned.ssthresh.or(self.ssthresh));
        if exit.is_congestion() && exit.learned.ssthresh.is_none() {
            self.halve(path);
        }
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(ack) => {
                self.acked += ack.growth;
                if self.acked >= self.window {
                    self.acked -= self.window;
                    self.window += path.mss;
                }
            }
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

    fn plan(&self, _path: &Path) -> Plan {
        Plan::ack_clocked(self.window, self.ssthresh)
    }
}
