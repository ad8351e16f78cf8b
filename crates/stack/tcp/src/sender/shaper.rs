//! Decides how the data that the windows allow is spread over time and grouped into bursts, with the host's settings for this.

use firstflight::{Pacer, Pacing, Plan};

use super::dialect::{Dialect, WindowUse};
use super::offload::Queue;
use crate::config::Offload;

/// The pacer, and the queue that divides writes for segmentation offload.
#[derive(Clone, Debug)]
pub(crate) struct Shaper {
    pub(super) pacer: Pacer,
    /// The queue that divides writes for segmentation offload; `None` if the host does not use it.
    pub(super) queue: Option<Box<Queue>>,
    /// How much of the congestion window is used.
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

    /// Adopts the pacing of a plan. If the device paces, the sender uses the ACK clock.
    #[inline]
    pub(super) fn adopt(&mut self, plan: &Plan, dialect: Dialect) {
        if leaves_to_the_device(plan, dialect) {
            self.pacer.adopt(&Plan { pacing: Pacing::AckClock, ..*plan });
        } else {
            self.pacer.adopt(plan);
        }
    }

    /// Sets whether a small segment waits until earlier small segments are acknowledged (Nagle's algorithm).
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

    /// Sends the data that waits to fill a segment without waiting longer.
    pub(crate) fn push(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.push();
        }
    }

    /// Limits the number of bytes that are written and not sent.
    pub(crate) fn set_unsent_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.queue {
            queue.set_unsent_limit(bytes);
        }
    }

    /// Limits the number of bytes that are written and not acknowledged.
    pub(crate) fn set_send_limit(&mut self, bytes: u64) {
        if let Some(queue) = &mut self.queue {
            queue.set_limit(bytes);
        }
    }

    /// Checks whether the burst of the last sent segment has more segments to follow.
    pub(crate) fn is_in_burst(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.is_in_burst())
    }

    /// Returns the number of written bytes for which there is no room in the send buffer.
    pub(crate) fn unqueued_bytes(&self) -> u64 {
        self.queue.as_ref().map_or(0, |queue| queue.unqueued_bytes())
    }
}

/// Checks whether the sender's own pacer times the segments.
pub(super) fn is_paced_here(plan: &Plan, dialect: Dialect) -> bool {
    !matches!(plan.pacing, Pacing::AckClock) && !leaves_to_the_device(plan, dialect)
}

#[inline]
fn leaves_to_the_device(plan: &Plan, dialect: Dialect) -> bool {
    dialect.leaves_pacing_to_the_device() && matches!(plan.pacing, Pacing::Rate { .. })
}
