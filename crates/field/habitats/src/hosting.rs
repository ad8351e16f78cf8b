//! The interface through which a caller loads schemes into the kernel's TCP for a run.

use std::fmt::Debug;

use firstflight_scenario::{RestartChoice, SchemeChoice};

/// The scheme and law that the sockets of the sending host must use.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The start-up scheme.
    pub choice: &'a SchemeChoice,
    /// The congestion-avoidance law that follows start-up.
    pub law: &'static str,
    /// The restart policy that is loaded instead of the scheme; `None` if the policy is the kernel's own.
    pub policy: Option<&'a RestartChoice>,
}

/// Loads schemes into the kernel.
pub trait Hosting {
    /// Loads what `wanted` states for one run.
    ///
    /// # Errors
    /// The reason, in one line.
    fn host(&self, wanted: Wanted<'_>) -> Result<Box<dyn Hosted>, String>;
}

/// A scheme that is loaded into the kernel for one run. It is unloaded when this value is dropped.
pub trait Hosted: Debug {
    /// Returns the congestion control of the sender's sockets.
    fn congestion_control(&self) -> &str;

    /// Attaches the scheme to the hosts, given the first process of each. It is called before any program starts.
    ///
    /// # Errors
    /// The kernel refuses.
    fn attach(&self, processes: [u32; 2]) -> Result<(), String>;

    /// Returns the sender-side events of each connection. The key is the receiver's port. Call this after the run.
    ///
    /// # Errors
    /// Events were lost.
    fn sender_events(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String>;
}

/// The sender-side events of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inside {
    /// The trace of a scheme until it passes the socket to the avoidance law.
    Trace(String),
    /// The rate in bit/s that Quick-Start's routers approved; `None` if they approved none.
    Approved(Option<u64>),
}
