//! What logs say of a flow before anything happens.

use firstflight_trace::Header;

/// The flow that is logged.
#[derive(Clone, Debug)]
pub struct LoggedFlow {
    /// What its files are called.
    pub name: String,
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
