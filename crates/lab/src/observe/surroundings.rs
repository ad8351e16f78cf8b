//! Watching the path and the others, which also happens before the measured flow begins.

use firstflight::{Bytes, Time};
use firstflight_sim::{FlowId, LinkId, Recorder};

use super::queue::QueueWatch;

/// What is to be known of the path and the others.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// When the measured flow begins.
    pub(super) start: u64,
    /// The queues of the bottlenecks.
    pub(super) queues: Vec<QueueWatch>,
    /// What on/off sources offered: since when, which flow, IP bits per second.
    pub(super) offered: Vec<(u64, FlowId, u64)>,
}

impl Surroundings {
    /// Of a flow that begins at `start`.
    pub(crate) fn new(bottlenecks: &[LinkId], start: Time) -> Self {
        let start = start.nanos();
        let queues = bottlenecks.iter().map(|link| QueueWatch::new(*link, start)).collect();
        Self { start, queues, offered: Vec::new() }
    }

    /// What on/off sources offered: since when, which flow, IP bits per second.
    pub(crate) fn offers(&self) -> &[(u64, FlowId, u64)] {
        &self.offered
    }

    #[inline(never)]
    fn queue_of_many(&mut self, at: Time, link: LinkId, packets: u32) {
        if let Some(queue) = self.queues.iter_mut().find(|queue| queue.link == link) {
            queue.changed(at, packets);
        }
    }
}

impl Recorder for Surroundings {
    fn offered(&mut self, at: Time, flow: FlowId, bps: u64) {
        self.offered.push((at.nanos(), flow, bps));
    }

    #[inline]
    fn queue(&mut self, at: Time, link: LinkId, _: Bytes, packets: u32) {
        // Mostly there is one.
        match &mut *self.queues {
            [queue, ..] if queue.link == link => queue.changed(at, packets),
            [_, _, ..] => self.queue_of_many(at, link, packets),
            [_] | [] => {}
        }
    }
}
