//! The clock of a connection. It continues without a step if the capture's clock is set back or another capture follows.

use serde::{Deserialize, Serialize};

/// Maximum time by which packets from the queues of one network card or the interfaces of one host can be out of order. A clock that is
/// stepped rather than slewed moves by more (128 ms in NTP, RFC 5905 section 11.3).
pub(crate) const DISORDER: u64 = 10_000_000;

/// The clock of one connection. It never goes back.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    has_begun: bool,
    pub(crate) last: u64,
    /// Correction that is added to packets' timestamps since the capture's clock was set back.
    behind: u64,
    /// Time at which the capture's clock was last set back.
    pub(crate) set_back: Option<u64>,
}

impl Clock {
    pub(crate) fn new(at: u64) -> Self {
        Self { has_begun: true, last: at, ..Self::default() }
    }

    /// Checks whether the clock has a time.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Checks whether packets' timestamps are used without correction.
    pub(crate) fn is_in_step(&self) -> bool {
        self.behind == 0
    }

    /// Returns the time of a packet with the timestamp `stamp`. Usually it is the timestamp itself. If the timestamp is before the last
    /// time by more than [`DISORDER`], the capture's clock was set back: this packet gets the time just after the last one. Later
    /// timestamps get the same correction, until the capture's clock has caught up. A time between packets before and after the step is too
    /// short by at most the step.
    pub(crate) fn read(&mut self, stamp: u64) -> u64 {
        if stamp.saturating_add(DISORDER) >= self.last {
            self.behind = 0;
        }
        let at = stamp.saturating_add(self.behind);
        if at.saturating_add(DISORDER) >= self.last {
            self.last = self.last.max(at);
        } else {
            // One unit after the packets before the step, to distinguish them from the packets after it.
            self.last = self.last.saturating_add(1);
            self.behind = self.last - stamp;
            self.set_back = Some(self.last);
        }
        self.last
    }
}
