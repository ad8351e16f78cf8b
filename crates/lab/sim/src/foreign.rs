//! Flows whose transport is outside the simulator: their hosts exchange datagrams, of which links see only the size.

use std::fmt::Debug;
use std::sync::Arc;

use firstflight::{Note, Span, Time};
use firstflight_tcp::Ecn;

use crate::fault::FlowFault;
use crate::packet::FlowId;

/// A host of a foreign transport, without clock and socket. The simulator calls it at instants that never decrease.
pub trait DatagramHost: Debug + Send + Sync {
    /// Handles a datagram that arrived, and its ECN field.
    fn receive(&mut self, now: Time, datagram: &[u8], ecn: Ecn);

    /// Handles the timers that are due.
    fn on_timer(&mut self, now: Time);

    /// Writes the next datagram that may be sent to `datagram`, which is empty. Returns its description, or `None` if nothing may be sent
    /// now.
    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<Carried>;

    /// Returns when the next timer is due; `None` if no timer runs.
    fn next_timer(&mut self) -> Option<Time>;

    /// Returns the number of stream bytes received without a gap from the start of the stream.
    fn delivered(&self) -> u64;

    /// Returns whether the connection has failed.
    fn has_failed(&self) -> bool;

    /// Returns the congestion state of the host; `None` before there is one.
    fn congestion(&mut self) -> Option<Congestion>;

    /// Removes and returns the oldest action of the host's controller that was not taken yet. A controller that reports none has none.
    fn take_note(&mut self) -> Option<Note> {
        None
    }
}

/// Content of a datagram that a [`DatagramHost`] sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Carried {
    /// The stream position of the first stream byte in the datagram.
    pub offset: u64,
    /// The number of stream bytes; zero if the datagram has only control information.
    pub len: u16,
    /// Whether some of the stream bytes had been sent before.
    pub retransmission: bool,
    /// The ECN field.
    pub ecn: Ecn,
}

/// The congestion state of a foreign host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Congestion {
    /// The congestion window in bytes, as the transport counts them.
    pub window: u64,
    /// The slow-start threshold in bytes; `None` if there is none, or if the controller does not report it.
    pub ssthresh: Option<u64>,
    /// Bytes in flight, as the transport counts them.
    pub in_flight: u64,
    /// The newest round-trip sample; `None` before the first.
    pub rtt: Option<Span>,
    /// The number of round-trip samples.
    pub rtt_samples: u64,
}

/// Makes the hosts of a foreign flow.
pub trait MakeHosts: Debug + Send + Sync {
    /// Returns the sender, which opens the connection, and the receiver, of a flow that sends `total` bytes; `None` for a flow that always
    /// has more to send. The result is a function of the arguments only.
    fn make(&self, seed: u64, flow: FlowId, total: Option<u64>) -> [Box<dyn DatagramHost>; 2];
}

/// A flow of a foreign transport: the client opens the connection and sends one stream.
#[derive(Clone, Debug)]
pub struct ForeignSpec {
    /// Makes the hosts when the flow starts.
    pub hosts: Arc<dyn MakeHosts>,
    /// Bytes of the stream; `None` if the client always has more to send.
    pub total: Option<u64>,
    /// Bytes of the headers in front of each datagram (IP and UDP).
    pub headers: u32,
}

impl ForeignSpec {
    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        if self.total == Some(0) { Err(FlowFault::ZeroSize) } else { Ok(()) }
    }
}
