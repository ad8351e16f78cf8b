//! The facts about a flow that its logs have at the start.

use std::time::SystemTime;

use firstflight_trace::Header;

/// The flow that is logged.
#[derive(Clone, Debug)]
pub struct LoggedFlow {
    /// The name of the flow's files.
    pub name: String,
    /// The number of the flow, which determines the client's port in captures.
    pub flow: u32,
    /// The path, in words.
    pub description: String,
    /// The header of the flow's trace.
    pub header: Header,
    /// The seed of the run and the hash of its scenario; a real path has neither.
    pub run: Option<(u64, String)>,
    /// When the flow started; `None` in a simulation.
    pub began: Option<SystemTime>,
    /// The end that writes the log.
    pub end: LoggedEnd,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// IP bytes of a full packet.
    pub packet: u32,
}

/// The end of a flow that writes the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoggedEnd {
    /// The end that sends the data.
    Sender,
    /// The end that receives the data, and runs no scheme.
    Receiver,
}

impl LoggedEnd {
    /// Returns the name of the end in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}
