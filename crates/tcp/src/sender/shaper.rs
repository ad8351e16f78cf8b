//! How what the windows admit is spread over time and over bursts.

use firstflight::{Pacer, Pacing, Plan};

use super::dialect::{Dialect, WindowUse};
use super::offload::{Offload, Queue};

/// The pacer, and the queue of what is cut for segmentation offload.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    pub(super) pacer: Pacer,
    /// Where writes are cut as for segmentation offload, if the host wants that.
    pub(super) queue: Option<Box<Queue>>,
    /// How much of the congestion window was used.
    pub(super) window_use: WindowUse,
}

impl Shaper {
    pub(super) fn new(offload: Option<Offload>) -> Self {
        Self {
            pacer: Pacer::new(),
            queue: offload.map(|offload| Box::new(Queue::new(offload))),
            window_use: WindowUse::default(),
        }
    }

    /// Takes over the pacing of a plan. What the device paces leaves the sender on the ACK clock.
    #[inline]
    pub(super) fn adopt(&mut self, plan: &Plan, dialect: Dialect) {
        if leaves_to_the_device(plan, dialect) {
            self.pacer.adopt(&Plan { pacing: Pacing::AckClock, ..*plan });
        } else {
            self.pacer.adopt(plan);
        }
    }
}

/// Whether the sender's own pacer says when segments leave.
pub(super) fn is_paced_here(plan: &Plan, dialect: Dialect) -> bool {
    !matches!(plan.pacing, Pacing::AckClock) && !leaves_to_the_device(plan, dialect)
}

#[inline]
fn leaves_to_the_device(plan: &Plan, dialect: Dialect) -> bool {
    dialect.leaves_pacing_to_the_device() && matches!(plan.pacing, Pacing::Rate { .. })
}
