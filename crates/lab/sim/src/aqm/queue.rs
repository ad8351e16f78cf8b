//! A queue under a discipline: the waiting packets, and the data that link and discipline exchange about packets.

use std::collections::VecDeque;

use firstflight::{Rate, Time};
use firstflight_tcp::Ecn;

use crate::descriptor::Descriptor;
use crate::packet::FlowKey;

/// A packet in a queue: the values that disciplines need, whatever the packet carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) descriptor: Descriptor,
    pub(crate) flow: FlowKey,
    pub(crate) ecn: Ecn,
    /// Arrival time of the packet.
    pub(crate) since: Time,
}

impl Waiting {
    /// IP bytes.
    pub(super) fn wire(&self) -> u32 {
        self.descriptor.wire()
    }
}

/// Packets that a discipline dropped and marked on one occasion.
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

/// State of the queue that a discipline needs when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) now: Time,
    /// Whether the queue has room for the packet.
    pub(crate) room: bool,
    /// The time since which the transmitter has been idle; `None` if it is busy.
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
