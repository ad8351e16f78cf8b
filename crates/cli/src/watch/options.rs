//! The options of `firstflight watch`.

use std::path::PathBuf;

use clap::Args;
use firstflight_watch::Prefixes;

use crate::options::TableOptions;

/// `firstflight watch`.
#[derive(Args, Debug)]
pub(crate) struct Watch {
    /// Compare start-ups instead: those of two files of --rows or --parquet, before and after, or with --groups those of all files by
    /// congestion control.
    #[arg(long, num_args = 1.., value_name = "FILE", conflicts_with_all = ["rows", "parquet", "openmetrics", "listen", "state", "every",
        "duration", "port", "netns", "loopback", "prefix", "detail", "ring", "summary", "wide", "columns", "plain"])]
    pub(super) compare: Option<Vec<PathBuf>>,
    /// The two congestion controls to compare, such as cubic,bbr; the first is the reference.
    #[arg(long, value_name = "CC,CC", requires = "compare")]
    pub(super) groups: Option<String>,
    #[command(flatten)]
    pub(super) table: TableOptions,
    /// Print only JSON: a line for each start-up when its connection ends; with --compare one for each number.
    #[arg(long, conflicts_with_all = ["wide", "columns"])]
    pub(super) json: bool,
    /// Print only the summary in the end; with --json as one JSON object.
    #[arg(long)]
    pub(super) summary: bool,
    /// Show no view while it goes on: only the report in the end.
    #[arg(long)]
    pub(super) plain: bool,
    /// Append a line of JSON for each start-up when its connection ends.
    #[arg(long, value_name = "FILE")]
    pub(super) rows: Option<PathBuf>,
    /// Write the start-ups as Parquet, those so far from time to time.
    #[arg(long, value_name = "FILE")]
    pub(super) parquet: Option<PathBuf>,
    /// Keep a text of OpenMetrics up to date, each time as a whole.
    #[arg(long, value_name = "FILE")]
    pub(super) openmetrics: Option<PathBuf>,
    /// Serve that text over HTTP as /metrics, at a loopback address such as 127.0.0.1:9099.
    #[arg(long, value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(super) listen: Option<String>,
    /// Keep the counters of that text over a restart.
    #[arg(long, value_name = "FILE")]
    pub(super) state: Option<PathBuf>,
    /// How often --openmetrics is written.
    #[arg(long, value_name = "TIME", default_value = "10s", allow_hyphen_values = true)]
    pub(super) every: String,
    /// How long it lasts [until it is interrupted].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) duration: Option<String>,
    /// Watch only sockets of this port of this machine.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: Option<u16>,
    /// Watch only the network namespace of this file, such as /run/netns/NAME or /proc/PID/ns/net.
    #[arg(long, value_name = "FILE")]
    pub(super) netns: Option<PathBuf>,
    /// Watch the connections of this machine with itself too.
    #[arg(long)]
    pub(super) loopback: bool,
    /// The lengths of the prefixes, of IPv4 and of IPv6, by which destinations are grouped.
    #[arg(long, value_name = "V4/V6", default_value = "24/48", allow_hyphen_values = true)]
    pub(super) prefix: Prefixes,
    /// How many segments of a connection are followed one by one; after them a quarter of a round trip is one.
    #[arg(long, value_name = "SEGMENTS", default_value_t = 16_384)]
    pub(super) detail: u32,
    /// The size of the ring in which the kernel leaves what it saw; the next power of two of bytes.
    #[arg(long, value_name = "SIZE", default_value = "16MB", allow_hyphen_values = true)]
    pub(super) ring: String,
}
