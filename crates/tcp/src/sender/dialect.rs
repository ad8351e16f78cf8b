//! What differs between the two stacks: [`Stack::Rfc`] and [`Stack::Linux`].
//!
//! Whoever asks which stack it is asks here, and nowhere else does the sender; its round-trip estimator, made here, has Linux's
//! arithmetic inside or not. Each subject has a file in which both ways
//! stand side by side, Linux's with the kernel's name of it:
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
//! How writes are cut for segmentation offload is a choice of its own ([`crate::Config::offload`]), in `offload.rs`.

mod estimator;
mod evidence;
mod growth;
mod intake;
mod order;
mod reduction;
mod timers;
mod window_use;

use super::rtt::{Bounds, RttEstimator};
use crate::config::{Config, Growth, PacedBy, SlowStartCounts, Stack};

pub(super) use estimator::LinuxEstimator;
pub(super) use window_use::WindowUse;

/// The stack that a sender is, and what else of it the host chose.
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

    /// The estimator of the round trip and of the timeout. RFC 6298 section 2.4 has [`Config::min_rto`] bound the timeout; Linux has
    /// it bound the variation's share of that (`tcp_rto_min` in `tcp_rtt_estimator`).
    pub(super) fn estimator(self, config: &Config) -> RttEstimator {
        let floor = config.rto_floor.unwrap_or(self.stack.rto_floor());
        let bounds = Bounds::new(floor, config.min_rto, config.initial_rto);
        if self.is_linux() { RttEstimator::as_linux(&bounds) } else { RttEstimator::new(&bounds) }
    }

    /// Whether the fast ways of `fast.rs` may be taken: they are written for the RFCs' order of an ACK's
    /// steps, and for their timers. They do not note how much of the window is used.
    pub(super) const fn has_fast_ways(self) -> bool {
        !self.is_linux() && !matches!(self.growth, Growth::Used | Growth::NearlyFull)
    }

    /// Whether the device paces what a scheme wants paced at a rate, and not the sender.
    pub(super) const fn leaves_pacing_to_the_device(self) -> bool {
        matches!(self.paced_by, PacedBy::Device)
    }
}
