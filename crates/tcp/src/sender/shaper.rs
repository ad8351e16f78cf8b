//! How what the windows admit is spread over time and over bursts, and what the host sets of that.

use firstflight::{Pacer, Pacing, Plan};

use super::dialect::{Dialect, WindowUse};
use super::offload::Queue;
use crate::config::Offload;

/// The pacer, and the queue of what is cut for segmentation offload.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
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

    /// Sets whether small segments wait for the acknowledgement of small ones (Nagle).
    pub(crate) fn set_nagle(&mut self, on: bool) {
        if let Some(queue) = &mut self.queue {
            queue.nagle = on;
        }
    }

    /// Sets whether segments that are not full are held back.
    pub(crate) fn set_cork(&mut self, on: bool) {
        if let Some(queue) = &mut self.queue {
            queue.cork = on;
            if !on {
                queue.release();
            }
        }
    }

    /// Sends what waits to fill a segment as it is.
    pub(crate) fn push(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.push();
        }
    }

    /// Bounds the bytes that are written and not sent.
    pub(crate) fn set_unsent_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.queue {
            queue.set_unsent_limit(bytes);
        }
    }

    /// Bounds the bytes that are written and not acknowledged.
    pub(crate) fn set_send_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.queue {
            queue.set_limit(bytes);
        }
    }

    /// Whether more of its burst follows the segment that left last.
    pub(crate) fn is_in_burst(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.is_in_burst())
    }

    /// Bytes written that found no room.
    pub(crate) fn untaken(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.untaken())
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
