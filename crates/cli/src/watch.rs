//! `firstflight watch`: the start-ups of this machine's connections as they happen, and two collections of them compared. To watch needs
//! the feature `kernel`; to compare does not.

mod comparing;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod following;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod telling;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod view;

use std::path::PathBuf;

use clap::Args;
use firstflight_watch::Prefixes;

use crate::args::TableOptions;
use crate::failure::Failure;

/// `firstflight watch`.
#[derive(Args, Debug)]
pub(crate) struct Watch {
    /// Compare two files of --parquet instead: the start-ups before a deployment, and those after it.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["parquet", "openmetrics", "every", "duration",
        "port", "netns", "loopback", "prefix", "detail", "ring", "summary", "wide", "columns", "plain"])]
    compare: Option<Vec<PathBuf>>,
    #[command(flatten)]
    table: TableOptions,
    /// Print only JSON: a line for each start-up when its connection ends; with --compare one for each number.
    #[arg(long, conflicts_with_all = ["wide", "columns"])]
    json: bool,
    /// Print only the summary in the end; with --json as one JSON object.
    #[arg(long)]
    summary: bool,
    /// Show no view while it goes on: only the report in the end.
    #[arg(long)]
    plain: bool,
    /// Write the start-ups as Parquet.
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
    /// Keep a text of OpenMetrics up to date, each time as a whole.
    #[arg(long, value_name = "FILE")]
    openmetrics: Option<PathBuf>,
    /// How often that text is written.
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    every: String,
    /// How long it lasts [until it is interrupted].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    duration: Option<String>,
    /// Watch only sockets of this port of this machine.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Watch only the network namespace of this file, such as /run/netns/NAME or /proc/PID/ns/net.
    #[arg(long, value_name = "FILE")]
    netns: Option<PathBuf>,
    /// Watch the connections of this machine with itself too.
    #[arg(long)]
    loopback: bool,
    /// The lengths of the prefixes, of IPv4 and of IPv6, by which destinations are grouped.
    #[arg(long, value_name = "V4/V6", default_value = "24/48", allow_hyphen_values = true)]
    prefix: Prefixes,
    /// How many segments of a connection are followed one by one; after them a quarter of a round trip is one.
    #[arg(long, value_name = "SEGMENTS", default_value_t = 16_384)]
    detail: u32,
    /// The size of the ring in which the kernel leaves what it saw; the next power of two of bytes.
    #[arg(long, value_name = "SIZE", default_value = "16MB", allow_hyphen_values = true)]
    ring: String,
}

/// Carries out `firstflight watch`.
pub(crate) fn watch(options: &Watch, arguments: &[String]) -> Result<(), Failure> {
    match options.compare.as_deref() {
        Some([before, after]) => comparing::compare(before, after, options.json, arguments),
        _ => follow(options, arguments),
    }
}

#[cfg(all(feature = "kernel", target_os = "linux"))]
fn follow(options: &Watch, arguments: &[String]) -> Result<(), Failure> {
    following::follow(options, arguments)
}

/// Says how it is had.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
fn follow(_: &Watch, _: &[String]) -> Result<(), Failure> {
    Err(Failure::usage(format!("watch: {}", crate::kernel::MISSING)))
}
