//! The packets that a host passes to a port, and those that it gets back.

use firstflight::Time;
use firstflight_tcp::Ecn;
use firstflight_tcp::quick_start::IpOption;

use crate::packet::{DropCause, FlowKey};

/// A packet that enters a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arriving<T> {
    /// The packet's IP bytes. An empty packet counts as one byte.
    pub bytes: u16,
    /// The packet's flow.
    pub flow: FlowKey,
    /// The packet's ECN field.
    pub ecn: Ecn,
    /// The Quick-Start option of the packet's IP header. Like every router, the port lowers the hop limit in the
    /// header.
    pub quick_start: Option<IpOption>,
    /// A value that the host gets back with the packet.
    pub payload: T,
}

impl<T> Arriving<T> {
    /// Returns a packet that is not ECN-capable and has no Quick-Start option.
    pub const fn new(bytes: u16, flow: FlowKey, payload: T) -> Self {
        Self { bytes, flow, ecn: Ecn::NotCapable, quick_start: None, payload }
    }
}

/// A packet that left the port at the far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure<T> {
    /// The value that the host gave with the packet.
    pub payload: T,
    /// The exact instant at which the packet left.
    pub at: Time,
    /// The packet's ECN field as the packet left.
    pub ecn: Ecn,
    /// Whether the queue marked the packet as having met congestion.
    pub marked: bool,
    /// Whether a second copy of the packet left at the same instant, directly after the packet. The host makes it.
    pub twice: bool,
    /// The Quick-Start option of the packet's IP header after the port.
    pub quick_start: Option<IpOption>,
}

/// A packet that a port dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped<T> {
    /// The value that the host gave with the packet.
    pub payload: T,
    /// The exact instant of the drop. For a drop by the policer or a full queue it is the packet's arrival. For a loss
    /// on the wire it is when the packet would have arrived at the far end.
    pub at: Time,
    /// Cause of the drop.
    pub cause: DropCause,
}

/// The fate of a packet that a port accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome<T> {
    /// The packet left at the far end.
    Left(Departure<T>),
    /// The discipline of the queue dropped the packet after it was accepted, or the wire lost it.
    Dropped(Dropped<T>),
}
