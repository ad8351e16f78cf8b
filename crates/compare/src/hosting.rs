//! Schemes put into the kernel's TCP for a run, by whoever can.

use std::fmt::Debug;

use firstflight_scenario::{RestartChoice, SchemeChoice};

/// What the sending host's sockets are to have.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The start-up scheme.
    pub choice: &'a SchemeChoice,
    /// The congestion-avoidance law that goes on.
    pub law: &'static str,
    /// The restart policy in place of the scheme, if it is not the kernel's own.
    pub policy: Option<&'a RestartChoice>,
}

/// Puts schemes into the kernel.
pub trait Hosting {
    /// Makes what is wanted ready for one run.
    ///
    /// # Errors
    /// Why it cannot be, in a line.
    fn host(&self, wanted: Wanted<'_>) -> Result<Box<dyn Hosted>, String>;
}

/// A scheme in the kernel for one run; it is gone when this is dropped.
pub trait Hosted: Debug {
    /// The congestion control that the sender's sockets have.
    fn congestion_control(&self) -> &str;

    /// Hears of the first process of each host, before any program starts.
    ///
    /// # Errors
    /// What the kernel refuses.
    fn attach(&self, processes: [u32; 2]) -> Result<(), String>;

    /// What is known of the inside of each connection, by the port of its receiver, once the run is over.
    ///
    /// # Errors
    /// Events that were lost.
    fn told(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String>;
}

/// What is known of the inside of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inside {
    /// The trace of a scheme until it left the socket to the law.
    Trace(String),
    /// The rate in bit/s that Quick-Start's routers approved; `None` if they approved none.
    Approved(Option<u64>),
}
