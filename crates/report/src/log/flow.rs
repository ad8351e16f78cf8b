//! The facts about a flow that logs state at their beginning.

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
    /// The seed of the run.
    pub seed: u64,
    /// The hash of the scenario.
    pub scenario_hash: String,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// IP bytes of a full packet.
    pub packet: u32,
}
