//! The options of `firstflight inspect`.

use std::path::PathBuf;

use clap::Args;
use firstflight_inspect::SeenAt;

use crate::options::TableOptions;

#[derive(Args, Debug, Default)]
pub(crate) struct Inspect {
    /// Captures of TCP connections (pcap or pcapng), or qlogs of QUIC connections, also compressed with gzip; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) captures: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Report only senders that match this condition, as in `bytes_sent>1MB`, `exit_cause=loss`, `host=10.0.0.0/8` or `port=443`; several
    /// must all match.
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filter: Vec<String>,
    /// Print only JSON, one line for each sender of each connection.
    #[arg(long, conflicts_with_all = ["wide", "columns"])]
    pub(crate) json: bool,
    /// Print the senders as CSV.
    #[arg(long, conflicts_with_all = ["json", "wide", "columns"])]
    pub(crate) csv: bool,
    /// Print only the summary over all senders; with --json as one JSON object.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) summary: bool,
    /// Print the `race` command of the path that each sender saw, with the evidence of each value as a comment.
    #[arg(long, conflicts_with_all = ["json", "csv", "summary"])]
    pub(crate) as_race: bool,
    /// Write the senders as Parquet.
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write a report: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Where the captures were taken, if the handshakes show it wrong: sender or receiver (of the larger amount of data of a connection),
    /// or the address of the capturing host.
    #[arg(long, value_name = "PLACE")]
    pub(crate) seen_at: Option<SeenAt>,
    /// Treat each file as a separate capture, even if it continues connections that another file left open.
    #[arg(long)]
    pub(crate) separate: bool,
    /// Show all senders: also those of fewer than ten segments whose peer sent more, and not only the fifty largest.
    #[arg(long)]
    pub(crate) all: bool,
}
