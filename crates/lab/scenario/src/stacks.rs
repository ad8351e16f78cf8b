//! The provider of hosts that run a QUIC stack. A crate above implements it, so that no crate of the lab depends on a stack.

use std::fmt::Debug;
use std::sync::Arc;

use firstflight::registry::Value;
use firstflight_sim::MakeHosts;

use crate::quic::QuicStack;

/// Provides the hosts of flows that run in a QUIC stack.
pub trait Stacks: Debug + Send + Sync {
    /// Returns the maker of the hosts of a flow.
    ///
    /// # Errors
    /// Fails with one line about a controller that does not run in the stack, or about a path that QUIC does not allow.
    fn hosts(&self, order: &StackOrder<'_>) -> Result<Arc<dyn MakeHosts>, String>;

    /// Returns the bytes of the IP and UDP headers of a datagram.
    fn headers(&self) -> u32;
}

/// The hosts that a flow needs.
#[derive(Clone, Copy, Debug)]
pub struct StackOrder<'a> {
    /// The stack.
    pub stack: QuicStack,
    /// The controller of the sender.
    pub controller: StackController<'a>,
    /// IP bytes of a full packet.
    pub packet: u32,
}

/// The controller of a sender in a QUIC stack.
#[derive(Clone, Copy, Debug)]
pub enum StackController<'a> {
    /// A controller of the stack, by its name in the stack.
    Own(&'static str),
    /// A scheme of Firstflight.
    Scheme(SchemeOrder<'a>),
}

/// A scheme of Firstflight for a sender in a QUIC stack.
#[derive(Clone, Copy, Debug)]
pub struct SchemeOrder<'a> {
    /// The name of the scheme.
    pub name: &'static str,
    /// The parameters that were set.
    pub settings: &'a [(&'static str, Value)],
    /// The name of the avoidance law.
    pub law: &'static str,
    /// The initial window in segments.
    pub iw: u32,
}
