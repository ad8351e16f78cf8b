//! The differences between the two stacks, [`Stack::Rfc`] and [`Stack::Linux`].
//!
//! Only this module checks which stack is configured. The one exception is the RTT estimator: this module creates it, and it uses Linux's
//! arithmetic or the RFC's. For each subject, one file has the behaviour of both stacks side by side, with the kernel's name for Linux's
//! behaviour:
//!
//! | subject | file |
//! |---|---|
//! | the order of an ACK's steps | `order.rs` |
//! | what an ACK delivers and measures | `intake.rs`, `estimator.rs` |
//! | what shows that a segment is lost | `evidence.rs` |
//! | how the window comes down | `reduction.rs` |
//! | timeout, probe, reordering and persist timers | `timers.rs` |
//! | what may widen the window | `growth.rs`, `window_use.rs` |
//!
//! The division of writes for segmentation offload is configured separately ([`crate::Config::offload`]) and implemented in `offload.rs`.

pub(super) mod estimator;
mod evidence;
mod growth;
mod intake;
mod order;
mod reduction;
mod timers;
mod window_use;

use super::rtt::{Bounds, RttEstimator};
use crate::config::{Config, Growth, PacedBy, SlowStartCounts, Stack};

pub(super) use window_use::WindowUse;

/// The sender's stack, and settings of the host that depend on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    stack: Stack,
    growth: Growth,
    counts: SlowStartCounts,
    paced_by: PacedBy,
}

impl Dialect {
    pub(super) const fn new(config: &Config) -> Self {
        let growth = match config.growth {
            Some(growth) => growth,
            None => config.stack.growth(),
        };
        let counts = match config.slow_start_counts {
            Some(counts) => counts,
            None => config.stack.slow_start_counts(),
        };
        Self { stack: config.stack, growth, counts, paced_by: config.pacing }
    }

    const fn is_linux(self) -> bool {
        matches!(self.stack, Stack::Linux)
    }

    /// Creates the estimator of the RTT and the RTO. [`Config::min_rto`] bounds the RTO (RFC 6298 section 2.4) or, in Linux, the RTO's
    /// variation term (`tcp_rto_min` in `tcp_rtt_estimator`).
    pub(super) fn estimator(self, config: &Config) -> RttEstimator {
        let floor = config.rto_floor.unwrap_or(self.stack.rto_floor());
        let bounds = Bounds::new(floor, config.min_rto, config.initial_rto);
        if self.is_linux() { RttEstimator::as_linux(&bounds) } else { RttEstimator::new(&bounds) }
    }

    /// Checks whether the fast paths of `fast.rs` may be used. They implement the order of an ACK's steps and the timers of the RFCs, and
    /// do not record how much of the window is used.
    pub(super) const fn has_fast_ways(self) -> bool {
        !self.is_linux() && !matches!(self.growth, Growth::Used | Growth::NearlyFull)
    }

    /// Checks whether the device, not the sender, paces a plan with a pacing rate.
    pub(super) const fn leaves_pacing_to_the_device(self) -> bool {
        matches!(self.paced_by, PacedBy::Device)
    }
}
