//! `firstflight kernel`: schemes in Linux's TCP. What it does is there with the feature `kernel` only; what it takes is there
//! always, so that help and manual are the same.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use firstflight::registry::Registry;

use crate::args::Emulate;
use crate::failure::Failure;

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod acting;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod asking;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod choosing;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod tracing;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use asking::Hosts;
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use tracing::Tracing;

/// `firstflight kernel`.
#[derive(Args, Debug)]
#[command(disable_help_subcommand = true)]
pub(crate) struct KernelCommand {
    #[command(subcommand)]
    request: Request,
}

#[derive(Subcommand, Debug)]
enum Request {
    /// Load a scheme, as long as the command runs or, with --pin, until it is unloaded.
    Load(Load),
    /// List the schemes that are loaded, and those that can be.
    List(List),
    /// Unload a scheme.
    Unload(Unload),
    /// Answer the Quick-Start requests in what leaves by an interface, as long as the command runs.
    Router(Routing),
    /// Load a scheme, run programs at the two ends of an emulated path with it, and unload it.
    Run(Box<Run>),
}

/// A scheme for the kernel.
#[derive(Args, Debug)]
struct Chosen {
    /// The scheme, with its parameters as in `race --schemes`.
    #[arg(value_name = "SCHEME[:K=V,...]", allow_hyphen_values = true)]
    scheme: String,
    /// The kernel's congestion control that takes over when start-up is over; of a restart policy the one beside it [cubic].
    #[arg(long, value_name = "LAW")]
    handover: Option<Law>,
    /// The name to register: `ff_` and up to 12 lower-case letters, digits and `_` [the scheme's own].
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    name: Option<String>,
}

/// A congestion control of the kernel.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Law {
    /// CUBIC.
    Cubic,
    /// Reno.
    Reno,
    /// BBR.
    Bbr,
}

#[derive(Args, Debug)]
struct Load {
    #[command(flatten)]
    chosen: Chosen,
    /// Of quick-start: the interface that it is attached to, at which connections ask and requests are answered.
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Keep the scheme when the command ends, by a file in the BPF file system.
    #[arg(long)]
    pin: bool,
}

#[derive(Args, Debug)]
struct List {
    /// Print only JSON, one line for each scheme that is loaded.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct Unload {
    /// The name that is registered, as `list` has it.
    #[arg(allow_hyphen_values = true)]
    name: String,
}

#[derive(Args, Debug)]
struct Routing {
    /// The interface.
    #[arg(long, value_name = "NAME")]
    interface: String,
    /// The rate of its link, from 1 kbit/s to 400 Gbit/s.
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    rate: String,
    /// The longest that a packet waits before the link; what comes when the queue is full adds no load [an interval of --qs-router].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    queue: Option<String>,
    /// How it estimates the load and what it approves, as in `race --qs-router`; an interval is 1 s at most
    /// [threshold=95%,interval=100ms,estimator=interval,reduction=yes,rtt-max=500ms].
    #[arg(long, value_name = "SETTINGS", allow_hyphen_values = true)]
    qs_router: Option<String>,
    /// Print the counts as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
#[command(
    override_usage = "firstflight kernel run SCHEME[:K=V,...] [OPTIONS] -- CMD_A... -- CMD_B...\n       firstflight kernel run SCHEME[:K=V,...] [OPTIONS] --shell"
)]
struct Run {
    #[command(flatten)]
    chosen: Chosen,
    /// Write what the scheme was told and decided for `replay`: 1.jsonl, 2.jsonl and so on, a connection each, into a new folder.
    #[arg(long, value_name = "FOLDER")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    emulate: Emulate,
}

/// Carries out `firstflight kernel`.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) fn kernel(
    command: &KernelCommand,
    registry: Registry,
    arguments: &[String],
) -> Result<(), Failure> {
    match &command.request {
        Request::Load(load) => acting::load(load, registry, arguments),
        Request::List(list) => acting::list(list),
        Request::Unload(unload) => acting::unload(unload),
        Request::Router(router) => asking::router(router, arguments),
        Request::Run(run) => acting::run(run, registry, arguments),
    }
}

/// Says how `firstflight kernel` is had.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
pub(crate) fn kernel(_: &KernelCommand, _: Registry, _: &[String]) -> Result<(), Failure> {
    Err(Failure::usage(format!("kernel: {MISSING}")))
}

/// Why this program loads no schemes, and how to build one that does.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
pub(crate) const MISSING: &str = if cfg!(target_os = "linux") {
    "this firstflight is built without it; `make kernel`, or `cargo build --release -p firstflight-cli --features kernel`, \
     builds it with libelf and zlib"
} else {
    "the schemes are loaded into Linux only"
};
