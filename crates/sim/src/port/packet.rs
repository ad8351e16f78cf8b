//! What a host gives a port, and what it is told.

use firstflight::Time;
use firstflight_tcp::Ecn;
use firstflight_tcp::quick_start::IpOption;

use crate::packet::{DropCause, FlowKey};

/// A packet that comes to a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arriving<T> {
    /// Its IP bytes.
    pub bytes: u16,
    /// Its flow.
    pub flow: FlowKey,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The Quick-Start option of its IP header. As every router the port lowers the hop limit that stands in it.
    pub quick_start: Option<IpOption>,
    /// What the host wants back.
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
    /// What the host gave.
    pub payload: T,
    /// The exact instant at which the packet left.
    pub at: Time,
    /// Its ECN field by then.
    pub ecn: Ecn,
    /// Whether the queue marked it as having met congestion.
    pub marked: bool,
    /// The Quick-Start option of its IP header by then.
    pub quick_start: Option<IpOption>,
}

/// A packet that a port dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dropped<T> {
    /// What the host gave.
    pub payload: T,
    /// The exact instant: of its arrival if the policer or a full queue dropped it, of its would-be departure if it was lost
    /// at random.
    pub at: Time,
    /// What dropped it.
    pub cause: DropCause,
}

/// What became of a packet that a port let in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome<T> {
    /// It left at the far end.
    Left(Departure<T>),
    /// The discipline of the queue dropped it after all, or it was lost on the wire.
    Dropped(Dropped<T>),
}
