//! Observes the path and the other traffic, also before the measured flow starts.

use firstflight::{Bytes, Time};
use firstflight_sim::{FlowId, LinkId, Recorder};

use super::queue::QueueWatch;

/// Observations of the path and of the other traffic.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// When the measured flow starts.
    pub(super) start: u64,
    /// The queues of the bottlenecks.
    pub(super) queues: Vec<QueueWatch>,
    /// The rates offered by on/off sources, each as (from when, which flow, IP bits per second).
    pub(super) offered: Vec<(u64, FlowId, u64)>,
}

impl Surroundings {
    /// Creates the surroundings of a flow that starts at `start`.
    pub(crate) fn new(bottlenecks: &[LinkId], start: Time) -> Self {
        let start = start.nanos();
        let queues = bottlenecks.iter().map(|link| QueueWatch::new(*link, start)).collect();
        Self { start, queues, offered: Vec::new() }
    }

    /// Returns the surroundings of a flow that starts at `start`, which is now. The flow's packets cross these links.
    pub(crate) fn begun_at(&self, links: &[LinkId], start: Time) -> Self {
        let start = start.nanos();
        let crossed = self.queues.iter().filter(|queue| links.contains(&queue.link));
        Self { start, queues: crossed.map(|queue| queue.begun_at(start)).collect(), offered: Vec::new() }
    }

    /// Returns the rates offered by on/off sources, each as (from when, which flow, IP bits per second).
    pub(crate) fn offers(&self) -> &[(u64, FlowId, u64)] {
        &self.offered
    }

    /// Returns the length of the longest bottleneck queue now, in packets.
    pub(super) fn longest_queue(&self) -> u32 {
        self.queues.iter().map(|queue| queue.packets).max().unwrap_or(0)
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
        // One bottleneck is the usual case.
        match &mut *self.queues {
            [queue, ..] if queue.link == link => queue.changed(at, packets),
            [_, _, ..] => self.queue_of_many(at, link, packets),
            [_] | [] => {}
        }
    }
}
