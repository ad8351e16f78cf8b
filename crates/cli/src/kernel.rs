//! `firstflight kernel`: schemes in Linux's TCP. Its actions need the feature `kernel`. Its options exist without that feature, so that the
//! help and the manual are the same.

use clap::{Args, Subcommand};
use firstflight::registry::Registry;
use firstflight_habitats::Load as LoadScheme;

use crate::failure::Failure;
use options::{List, Load, Routing, Run, Undo, Unload};

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod choosing;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod hosting;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod load;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod notify;
mod options;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod quick_start;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod rollout;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod tracing;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use hosting::{Loading, why_none_loads};

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
    /// List the schemes that are loaded, and those that can be loaded.
    List(List),
    /// Unload a scheme.
    Unload(Unload),
    /// Take back all that `load` did: every scheme and rollout, also half of one that a killed command left.
    Undo(Undo),
    /// Answer the Quick-Start requests in packets sent through an interface, as long as the command runs.
    Router(Routing),
    /// Load a scheme, run programs at the two ends of an emulated path with it, and unload it.
    Run(Box<Run>),
}

/// Carries out `firstflight kernel`.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) fn kernel(
    command: &KernelCommand,
    registry: Registry,
    arguments: &[String],
) -> Result<(), Failure> {
    match &command.request {
        Request::Load(load) => load::load(load, registry, arguments),
        Request::List(list) => load::list(list),
        Request::Unload(unload) => load::unload(unload),
        Request::Undo(undo) => load::undo(undo),
        Request::Router(router) => quick_start::router(router, arguments),
        Request::Run(run) => load::run(run, registry, arguments),
    }
}

/// Explains how to get a program that has `firstflight kernel`.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
pub(crate) fn kernel(_: &KernelCommand, _: Registry, _: &[String]) -> Result<(), Failure> {
    Err(Failure::usage(format!("kernel: {MISSING}")))
}

/// The text that explains why this program loads no schemes, and how to build one that does.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
pub(crate) const MISSING: &str = if cfg!(target_os = "linux") {
    "this firstflight is built without it; `make kernel`, or `cargo build --release -p firstflight-cli --features kernel`, \
     builds it with libelf and zlib"
} else {
    "the schemes are loaded into Linux only"
};

/// The function that loads schemes into the kernel for `compare`, if this program can load any.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) const LOAD: Option<LoadScheme<'static>> = Some(&hosting::load);
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
pub(crate) const LOAD: Option<LoadScheme<'static>> = None;

/// Returns the reason why no scheme can be loaded here; `None` if only an attempt to load one can show that.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
#[expect(clippy::unnecessary_wraps, reason = "a program that loads schemes may lack nothing")]
pub(crate) fn why_none_loads() -> Option<String> {
    Some(MISSING.to_owned())
}
