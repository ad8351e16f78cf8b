//! The packets that a host gives a port, and what it gets back.

use firstflight::Time;
use firstflight_tcp::Ecn;
use firstflight_tcp::quick_start::IpOption;

use crate::packet::{DropCause, FlowKey};

/// A packet that enters a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arriving<T> {
    /// Its IP bytes. An empty packet counts as one byte.
    pub bytes: u16,
    /// Its flow.
    pub flow: FlowKey,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The Quick-Start option of its IP header. Like every router, the port lowers the hop limit in it.
    pub quick_start: Option<IpOption>,
    /// A value that the host gets back with the packet.
    pub payload: T,
}

impl<T> Arriving<T> {
    /// A packet that is not ECN-capable and has no Quick-Start option.
    pub const fn new(bytes: u16, flow: FlowKey, payload: T) -> Self {
        Self { bytes, flow, ecn: Ecn::NotCapable, quick_start: None, payload }
    }
}

/// A packet that has left a port at the far end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure<T> {
    /// The value that the host gave with the packet.
    pub payload: T,
    /// The exact instant at which the packet left.
    pub at: Time,
    /// Its ECN field as it left.
    pub ecn: Ecn,
    /// Whether the queue marked it as having met congestion.
    pub marked: bool,
    /// The Quick-Start option of its IP header as it left.
    pub quick_start: Option<IpOption>,
}

/// A packet that a port dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped<T> {
    /// The value that the host gave with the packet.
    pub payload: T,
    /// The exact instant of the drop. If the policer or a full queue dropped the packet, that is its arrival. If the
    /// wire lost the packet, that is when it would have left.
    pub at: Time,
    /// What dropped it.
    pub cause: DropCause,
}

/// What became of a packet that a port accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome<T> {
    /// It left at the far end.
    Left(Departure<T>),
    /// The discipline of the queue dropped it later, or the wire lost it.
    Dropped(Dropped<T>),
}
