//! Options that several commands share: the settings of runs, of tables and of outputs.

use std::path::PathBuf;

use clap::Args;
use firstflight_export::columns::{COLUMNS, Column, Kind};
use firstflight_export::log::QlogSchema;
use firstflight_measure::SPREAD;

use crate::keys::RunKeys;

/// Settings of the runs.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Runs")]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) keys: RunKeys,
    /// Runs at a time; results do not depend on it [the number of processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) jobs: Option<String>,
    /// Print every run's row instead of means.
    #[arg(long)]
    pub(crate) each_run: bool,
    /// Print every flow's row instead; only with flows.
    #[arg(long, conflicts_with = "each_run")]
    pub(crate) each_flow: bool,
    /// Print every train's row instead; only with trains.
    #[arg(long, conflicts_with_all = ["each_run", "each_flow"])]
    pub(crate) each_train: bool,
    /// Add to each mean over runs the minimum, median, 95th and 99th percentile and maximum of its field: <field>_min, _median, _p95, _p99,
    /// _max.
    #[arg(long, conflicts_with_all = ["each_run", "each_flow", "each_train"])]
    pub(crate) extremes: bool,
}

impl RunOptions {
    /// Returns the fields of spreads that rows have, if they are requested.
    pub(crate) fn spread_fields(&self) -> Vec<String> {
        let columns =
            COLUMNS.iter().filter(|column| self.extremes && matches!(column.kind, Kind::Whole | Kind::Real));
        let of = |column: &Column| SPREAD.map(|(suffix, _)| format!("{}{suffix}", column.name));
        columns.flat_map(of).collect()
    }
}

/// The columns of a table.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct TableOptions {
    /// Show every column of the table, whatever the terminal's width.
    #[arg(long, conflicts_with = "columns")]
    pub(crate) wide: bool,
    /// Show these columns after the name, by their names in --json, whatever the terminal's width.
    #[arg(long, value_name = "NAME,...", allow_hyphen_values = true)]
    pub(crate) columns: Option<String>,
}

/// Settings of the output.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Print only JSON, one line for each row.
    #[arg(long, conflicts_with_all = ["csv", "wide", "columns"])]
    pub(crate) json: bool,
    /// Print the rows as CSV.
    #[arg(long, conflicts_with_all = ["wide", "columns"])]
    pub(crate) csv: bool,
    /// Write the rows as Parquet.
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Write a report: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write the rows' windows, queues and exits over time as a figure: SVG, or PNG or PDF if the name ends with .png or .pdf; up to
    /// 6 rows, the first run of each.
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) look: FigureOptions,
    /// Write window, flight, round trip, queue and delivered bytes over time, all runs and flows, as one table: Parquet, or CSV
    /// if the name ends with .csv.
    #[arg(long, value_name = "FILE")]
    pub(crate) series: Option<PathBuf>,
    /// Make the series a table of rates in time slots of this length, for every flow and every link between routers [100ms].
    #[arg(
        long,
        value_name = "TIME",
        requires = "series",
        num_args = 0..=1,
        default_missing_value = "100ms",
        allow_hyphen_values = true
    )]
    pub(crate) slot: Option<String>,
    /// Write pcapng captures of both ends, the first run of each scheme; with flows, of each flow.
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Keep only this much of each captured packet, such as 128B [all].
    #[arg(long, value_name = "BYTES", requires = "pcap", allow_hyphen_values = true)]
    pub(crate) snap: Option<String>,
    /// Write what each sender did as JSON lines, the first run of each scheme.
    #[arg(long, value_name = "DIR")]
    pub(crate) events: Option<PathBuf>,
    /// Write what each sender did as qlog, the format of QUIC's tools, the first run of each scheme.
    #[arg(long, value_name = "DIR")]
    pub(crate) qlog: Option<PathBuf>,
    /// Write qlogs in this schema: 0.3, which qvis reads, or draft, the newest draft [0.3].
    #[arg(long, value_name = "VERSION", requires = "qlog")]
    pub(crate) qlog_schema: Option<QlogSchema>,
}

/// The look of a figure.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FigureOptions {
    /// How long after the first data packet the figure ends, such as 3s [with the run].
    #[arg(
        id = "figure_until",
        long = "figure-until",
        value_name = "TIME",
        requires = "figure",
        allow_hyphen_values = true
    )]
    pub(crate) until: Option<String>,
    /// Draw the windows of all rows in one axis, and their queues in another, instead of a panel for each row.
    #[arg(id = "figure_overlay", long = "figure-overlay", requires = "figure")]
    pub(crate) overlay: bool,
    #[command(flatten)]
    pub(crate) size: SizeOptions,
}

/// The size of a figure and of its text.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SizeOptions {
    /// The size of the figure: pixels of SVG and PNG, points of PDF [760 wide, as high as the rows need].
    #[arg(
        id = "figure_size",
        long = "figure-size",
        value_name = "WIDTHxHEIGHT",
        requires = "figure",
        allow_hyphen_values = true
    )]
    pub(crate) size: Option<String>,
    /// The size of the figure's text; lines are as thick in proportion [12].
    #[arg(
        id = "figure_font",
        long = "figure-font",
        value_name = "SIZE",
        requires = "figure",
        allow_hyphen_values = true
    )]
    pub(crate) font: Option<String>,
}

/// The manual page to print, or the folder for all of them.
#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The command of the page, as in `man race` [the page of firstflight itself].
    pub(crate) command: Vec<String>,
    /// Write every page into this folder: firstflight.1, firstflight-race.1, ….
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}
