//! The options of the actions of `firstflight kernel`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::emulate::Emulate;

/// A scheme for the kernel.
#[derive(Args, Debug)]
pub(super) struct Chosen {
    /// The scheme, with its parameters as in `race --schemes`.
    #[arg(value_name = "SCHEME[:K=V,...]", allow_hyphen_values = true)]
    pub(super) scheme: String,
    /// The kernel's congestion control that takes over after start-up; for a restart policy, the one that runs with it [cubic].
    #[arg(long, value_name = "LAW")]
    pub(super) handover: Option<Law>,
    /// The name to register: `ff_` and up to 12 lower-case letters, digits and `_` [the scheme's own].
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(super) name: Option<String>,
}

/// A congestion control of the kernel.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Law {
    /// CUBIC.
    Cubic,
    /// Reno.
    Reno,
    /// BBR.
    Bbr,
}

#[derive(Args, Debug)]
pub(super) struct Load {
    #[command(flatten)]
    pub(super) chosen: Chosen,
    /// For quick-start: the interface to attach to, at which connections send rate requests and requests are answered.
    #[arg(long, value_name = "NAME")]
    pub(super) interface: Option<String>,
    /// Keep the scheme, and its rollout, when the command ends, by files in the BPF file system.
    #[arg(long)]
    pub(super) pin: bool,
    #[command(flatten)]
    pub(super) rollout: Rollout,
    /// Show what uses it now and what takes precedence, and change nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// The connections that get the scheme. All conditions must hold.
#[derive(Args, Debug)]
#[command(next_help_heading = "Rollout: new connections get the scheme")]
pub(super) struct Rollout {
    /// Those with peers in a prefix of IPv4 or IPv6, as 192.0.2.0/24; may be repeated.
    #[arg(long, value_name = "PREFIX", allow_hyphen_values = true)]
    pub(super) to: Vec<String>,
    /// Those of the processes in a cgroup, in any network namespace unless --netns is given.
    #[arg(long, value_name = "PATH", allow_hyphen_values = true)]
    pub(super) cgroup: Option<PathBuf>,
    /// Those of this network namespace, or of a named one.
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "the name may be missing, and may be empty")]
    pub(super) netns: Option<Option<String>>,
    /// Those with a share of the peers, by a hash of the address: 5%, or a range for a second scheme, 5%..10%.
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(super) share: Option<String>,
}

#[cfg(all(feature = "kernel", target_os = "linux"))]
impl Rollout {
    /// Returns whether there is any condition.
    pub(super) fn is_given(&self) -> bool {
        !self.to.is_empty() || self.cgroup.is_some() || self.netns.is_some() || self.share.is_some()
    }
}

#[derive(Args, Debug)]
pub(super) struct List {
    /// Print only JSON, one line for each scheme that is loaded.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct Unload {
    /// The registered name, as `list` prints it.
    #[arg(allow_hyphen_values = true)]
    pub(super) name: String,
}

#[derive(Args, Debug)]
pub(super) struct Undo {
    /// The registered name, as `list` prints it [all].
    #[arg(allow_hyphen_values = true)]
    pub(super) name: Option<String>,
}

#[derive(Args, Debug)]
pub(super) struct Routing {
    /// The interface.
    #[arg(long, value_name = "NAME")]
    pub(super) interface: String,
    /// The rate of its link, from 1 kbit/s to 400 Gbit/s.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(super) rate: String,
    /// The longest wait of a packet before the link; packets that arrive when the queue is full add no load [an interval of --qs-router].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) queue: Option<String>,
    /// How it estimates the load and what it approves, as in `race --qs-router`; an interval is 1 s at most
    /// [threshold=95%,interval=100ms,estimator=interval,reduction=yes,rtt-max=500ms].
    #[arg(long, value_name = "SETTINGS", allow_hyphen_values = true)]
    pub(super) qs_router: Option<String>,
    /// Print the counts as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
#[command(
    override_usage = "firstflight kernel run SCHEME[:K=V,...] [OPTIONS] -- CMD_A... -- CMD_B...\n       firstflight kernel run SCHEME[:K=V,...] [OPTIONS] --shell"
)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) chosen: Chosen,
    /// Write the calls to the scheme and its decisions for `replay` into a new folder: 1.jsonl, 2.jsonl and so on, one for each connection.
    #[arg(long, value_name = "FOLDER")]
    pub(super) trace: Option<PathBuf>,
    #[command(flatten)]
    pub(super) emulate: Emulate,
}
