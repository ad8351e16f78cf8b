//! A queue under a discipline: the packets that wait, and what the discipline is told and says of them.

use std::collections::VecDeque;

use firstflight::{Rate, Time};
use firstflight_tcp::Ecn;

use crate::descriptor::Descriptor;
use crate::packet::FlowKey;

/// A packet in a queue: what disciplines ask of it, whatever it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) descriptor: Descriptor,
    pub(crate) flow: FlowKey,
    pub(crate) ecn: Ecn,
    /// When it came.
    pub(crate) since: Time,
}

impl Waiting {
    /// IP bytes.
    pub(super) fn wire(&self) -> u32 {
        self.descriptor.wire()
    }
}

/// What a discipline did to packets on one occasion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) dropped: VecDeque<Descriptor>,
    pub(crate) marked: VecDeque<Descriptor>,
}

impl Outbox {
    /// Marks a packet as having met congestion, if it may be marked (RFC 3168 section 5).
    pub(super) fn mark(&mut self, waiting: &mut Waiting) -> bool {
        if waiting.ecn == Ecn::NotCapable {
            return false;
        }
        waiting.ecn = Ecn::Ce;
        self.marked.push_back(waiting.descriptor);
        true
    }
}

/// What a discipline is told of the queue that a packet comes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) now: Time,
    /// Whether the queue has a place for it.
    pub(crate) room: bool,
    /// Since when the transmitter has been idle, if it is.
    pub(crate) idle_since: Option<Time>,
    /// The rate of the link by now; `None` without bounds.
    pub(crate) rate: Option<Rate>,
}

/// FIFO order, with the bytes counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo {
    pub(super) packets: VecDeque<Waiting>,
    pub(super) bytes: u64,
}

impl Fifo {
    pub(super) fn push(&mut self, waiting: Waiting) {
        self.bytes += u64::from(waiting.wire());
        self.packets.push_back(waiting);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.packets.pop_front()?;
        self.bytes -= u64::from(waiting.wire());
        Some(waiting)
    }

    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.packets.len()).unwrap_or(u32::MAX)
    }
}
