//! The facts about a flow that logs state at their beginning.

use std::time::SystemTime;

use firstflight_trace::Header;

/// The flow that is logged.
#[derive(Clone, Debug)]
pub struct LoggedFlow {
    /// The name of the flow's files.
    pub name: String,
    /// The number of the flow. The port of the flow's client in captures follows from it.
    pub flow: u32,
    /// The path, in words.
    pub description: String,
    /// The header of its trace.
    pub header: Header,
    /// The seed of the run and the hash of its scenario; a real path has neither.
    pub run: Option<(u64, String)>,
    /// When the flow began, on a real path.
    pub began: Option<SystemTime>,
    /// The end that writes the log.
    pub end: LoggedEnd,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// IP bytes of a full packet.
    pub packet: u32,
}

/// An end of a flow that is logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoggedEnd {
    /// The end that sends the data.
    Sender,
    /// The end that receives the data, and knows no scheme.
    Receiver,
}

impl LoggedEnd {
    /// The name of the end in names of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
        }
    }
}
