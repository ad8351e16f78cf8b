//! The options of `firstflight replay`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The trace: a file that `race --events` wrote, or another host's record in that format. Or the qlog of a QUIC connection's sender,
    /// in open loop.
    pub(crate) events: PathBuf,
    /// The scheme that replays the trace, with its parameters, as in `--schemes` [the recorded scheme, whose decisions are
    /// then compared].
    #[arg(long, value_name = "NAME[:K=V,...]", allow_hyphen_values = true)]
    pub(crate) scheme: Option<String>,
    /// Print every call, not only those that change the plan.
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Print a new trace: the recorded calls with the plans of this scheme.
    #[arg(long)]
    pub(crate) json: bool,
}
