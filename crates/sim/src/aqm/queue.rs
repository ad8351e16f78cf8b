//! A queue under a discipline: the packets that wait, and what link and discipline tell each other about them.

use std::collections::VecDeque;

use firstflight::{Rate, Time};
use firstflight_tcp::Ecn;

use crate::descriptor::Descriptor;
use crate::packet::FlowKey;

/// A packet in a queue: what disciplines need of it, whatever it carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) descriptor: Descriptor,
    pub(crate) flow: FlowKey,
    pub(crate) ecn: Ecn,
    /// When the packet arrived.
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
    /// Marks a packet as having met congestion, if it is ECN-capable (RFC 3168 section 5). Returns whether it did.
    pub(super) fn mark(&mut self, waiting: &mut Waiting) -> bool {
        if waiting.ecn == Ecn::NotCapable {
            return false;
        }
        waiting.ecn = Ecn::Ce;
        self.marked.push_back(waiting.descriptor);
        true
    }
}

/// What a discipline needs to know of the queue when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) now: Time,
    /// Whether the queue has room for the packet.
    pub(crate) room: bool,
    /// Since when the transmitter has been idle, if it is.
    pub(crate) idle_since: Option<Time>,
    /// The rate of the link at the time; `None` if transmissions take no time.
    pub(crate) rate: Option<Rate>,
}

/// A FIFO queue that counts its bytes.
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
