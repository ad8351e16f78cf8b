//! The command line.
//!
//! Quantities stay text here. The scenario crate parses them, so that a scenario file and the command line have one meaning
//! and the same errors.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use firstflight_inspect::SeenAt;

use crate::compare;
use crate::kernel::KernelCommand;
use crate::keys::{PathKeys, RealKeys, RunKeys};
use crate::model::ModelCommand;
use crate::paper::PaperCommand;
use crate::probe;
use crate::probe::live::{Real, Reflect};
use crate::transfer::{Get, Receive, Send, Serve};
use crate::watch::Watch;

/// Races TCP start-up schemes over one path, in a packet-level simulator.
#[derive(Parser, Debug)]
#[command(name = "firstflight", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Race schemes over one path.
    Race(Box<Race>),
    /// Race the schemes of a scenario file, with options over it.
    Run(Box<Run>),
    /// Race schemes over many paths, drawn or listed; can be killed and resumed, and split over machines.
    Sweep(Sweep),
    /// Score a sweep: each scheme's cost, loss, queue, timeouts and harm, and the best schemes by class of path.
    Score(Score),
    /// List schemes, restart policies and laws, with what each needs.
    Schemes(Schemes),
    /// Replay a recorded trace to a scheme, print its decisions, and check that the trace's host keeps the laws of hosts.
    Replay(Replay),
    /// Evaluate the papers' closed-form models; without a name, list them.
    Model(ModelCommand),
    /// Reproduce the papers' figures and hold their claims against what is measured.
    Paper(PaperCommand),
    /// Measure a path's available bandwidth by trains.
    Probe(Box<Probe>),
    /// Answer the trains of `probe`.
    Reflect(Reflect),
    /// Run packetdrill scripts against the TCP endpoint, in virtual time.
    Packetdrill(Scripts),
    /// Report how the connections of captures started.
    Inspect(Inspect),
    /// Run programs at the two ends of a path, over real packets.
    Emulate(Box<Emulate>),
    /// Compare schemes simulated, on sockets and in this kernel's TCP.
    Compare(Box<Compare>),
    /// Send the files of a folder over sockets, by any start-up.
    Serve(Box<Serve>),
    /// Fetch a file from `serve`, whole or not at all.
    Get(Box<Get>),
    /// Send a file to `receive`, by any start-up.
    Send(Box<Send>),
    /// Take files from `send` into a folder.
    Receive(Box<Receive>),
    /// Load and unload schemes in this machine's TCP; run programs.
    Kernel(KernelCommand),
    /// Watch the start-ups of this machine's connections as they happen.
    Watch(Box<Watch>),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print a manual page, or write all of them into a folder.
    Man(Man),
}

#[derive(Args, Debug)]
pub(crate) struct Race {
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The scenario: the options of `race` as TOML keys, and `schemes = […]`. An option given here replaces the file's, and
    /// what it excludes.
    pub(crate) scenario: PathBuf,
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Args, Debug)]
#[command(mut_args(of_probe))]
pub(crate) struct Probe {
    #[command(flatten)]
    pub(crate) real: Real,
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

/// An option of `probe`. One that is refused is not in the help.
fn of_probe(option: Arg) -> Arg {
    let name = option.get_id().as_str().to_owned();
    let option = option.hide(probe::is_refused(&name));
    match name.as_str() {
        "probe" => option.help(
            "How trains search for the turning point: bracket, paper, program, or gap:TIME for one gap, with \
             packets=N,repeats=N,trains=N,tolerance=SHARE,slack=TIME behind it [bracket]",
        ),
        "figure" => {
            option.help("Write gap difference over source gap as an SVG figure, the first run's trains")
        }
        _ => option,
    }
}

#[derive(Args, Debug)]
pub(crate) struct Man {
    /// The command of the page, as in `man race` [the page of firstflight itself].
    pub(crate) command: Vec<String>,
    /// Write every page into this folder: firstflight.1, firstflight-race.1, ….
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Scripts {
    /// The scripts, run in this order; each gets a line with PASS, FAIL, UNSUPPORTED or UNREADABLE.
    #[arg(required = true, value_name = "FILE.pkt")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Args, Debug, Default)]
pub(crate) struct Inspect {
    /// Captures of TCP connections: pcap or pcapng, also compressed with gzip; - is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) captures: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Tell only of senders that this holds for, such as `bytes_sent>1MB`, `exit_cause=loss`, `host=10.0.0.0/8` or
    /// `port=443`; several must all hold.
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
    /// Where the captures were taken, where handshakes tell it wrong: sender or receiver (of the more data of a connection), or the
    /// address of the capture's host.
    #[arg(long, value_name = "PLACE")]
    pub(crate) seen_at: Option<SeenAt>,
    /// Take each file for a capture of its own, also where one goes on with connections that another left open.
    #[arg(long)]
    pub(crate) separate: bool,
    /// Show all senders: also those of fewer than ten segments whose peer sent more, and more than the fifty largest.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(
    override_usage = "firstflight emulate [OPTIONS] -- CMD_A... -- CMD_B...\n       firstflight emulate [OPTIONS] --shell",
    after_help = "In the commands {A}, {B}, {A6} and {B6} are the addresses of the hosts: 10.0.0.1, 10.0.0.2, fd00:ff::1, \
    fd00:ff::2. The run ends with host A's command."
)]
pub(crate) struct Emulate {
    #[command(flatten)]
    pub(crate) path: RealKeys,
    /// The host that sends: the forward way, with the bottleneck, begins there.
    #[arg(long, value_name = "HOST", default_value = "a", help_heading = "Hosts", ignore_case = true)]
    pub(crate) sender: Sender,
    /// A shell at host A instead of commands; says how another terminal gets one at host B.
    #[arg(long, conflicts_with = "commands", help_heading = "Hosts")]
    pub(crate) shell: bool,
    /// The command at host A, `--`, and the command at host B, which starts first.
    #[arg(last = true, value_name = "CMD", hide = true)]
    pub(crate) commands: Vec<OsString>,
    /// Print only JSON, one line; the commands' standard output goes to standard error.
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write each packet at both ends as pcapng, with what became of it.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) log: Option<PathBuf>,
    /// Write a report of the log's connections: one HTML file that opens offline.
    #[arg(long, value_name = "FILE", requires = "log", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(mut_args(of_compare))]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunKeys,
    /// Habitats: all, or some of sim-rfc, live-rfc, sim-linux, live-linux, kernel [all].
    #[arg(long, value_name = "LIST", help_heading = "Runs", allow_hyphen_values = true)]
    pub(crate) habitats: Option<String>,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Print only JSON, one line for each row.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["csv", "wide", "columns"])]
    pub(crate) json: bool,
    /// Print the rows as CSV.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["wide", "columns"])]
    pub(crate) csv: bool,
}

/// An option of `compare`. One that is refused with a reason is not in the help.
fn of_compare(option: Arg) -> Arg {
    let is_refused = compare::refusal(option.get_id().as_str()).is_some();
    let option = option.hide(is_refused);
    if option.get_id() == "size" {
        option.help("Payload to transfer, such as 1MB or 500p [2MB]")
    } else {
        option
    }
}

/// A host of an emulated path.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sender {
    /// Host A.
    A,
    /// Host B.
    B,
}

#[derive(Args, Debug)]
pub(crate) struct Sweep {
    /// The sweep: how many paths, of what, and `schemes = […]`, as in scenarios/grid.toml.
    #[arg(value_name = "SWEEP")]
    pub(crate) file: PathBuf,
    /// The folder for the parts, as Parquet; parts of this sweep that are there are kept, missing ones are raced.
    #[arg(long, value_name = "DIR", required_unless_present = "show")]
    pub(crate) out: Option<PathBuf>,
    /// Race every N-th part only, from the I-th on; all N shards together are the whole sweep.
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub(crate) shard: Option<String>,
    /// Runs at a time; results do not depend on it [the number of processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) jobs: Option<String>,
    /// Print the command that races the path of this index, and race nothing.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["out", "shard", "jobs"], allow_hyphen_values = true)]
    pub(crate) show: Option<String>,
    /// Print the numbers of the parts that are not whole in DIR, a line each, and race nothing.
    #[arg(long, conflicts_with_all = ["show", "jobs", "slurm"])]
    pub(crate) missing: bool,
    /// Print a script for Slurm's `sbatch` that races the sweep in N tasks, each with `--jobs` processors [1], and race nothing.
    #[arg(long, value_name = "N", conflicts_with_all = ["show", "shard"], allow_hyphen_values = true)]
    pub(crate) slurm: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Score {
    /// The folder that `firstflight sweep --out` wrote.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Score the parts that are there, even if some are missing.
    #[arg(long)]
    pub(crate) partial: bool,
    /// Only paths that meet all of these conditions, as in `loss<=0.1%,cross=none`.
    #[arg(long = "where", value_name = "CONDITIONS")]
    pub(crate) of: Option<String>,
    /// Show costs over that of the ideal that knows the path after one round trip, what was delivered early, the rates that
    /// exits found, and what queues dropped.
    #[arg(long, conflicts_with_all = ["json", "csv", "wide", "columns"])]
    pub(crate) bound: bool,
    /// Print every table: each class by itself, with every column that fits.
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Print only JSON, one line for each scheme and class, with every number.
    #[arg(long, conflicts_with_all = ["csv", "full", "wide", "columns"])]
    pub(crate) json: bool,
    /// Print the score as CSV, with every number.
    #[arg(long, conflicts_with_all = ["full", "wide", "columns"])]
    pub(crate) csv: bool,
    /// Write the score as a page: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Schemes {
    /// Only entries of this name, or of this kind: scheme, restart, avoidance.
    pub(crate) name: Option<String>,
    /// Print only JSON, one line for each entry.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The trace: a file that `race --events` wrote, or another host's record in that format.
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
    /// Beside each mean over runs, its field's least, median and greatest value: <field>_min, _median, _max.
    #[arg(long, conflicts_with_all = ["each_run", "each_flow", "each_train"])]
    pub(crate) extremes: bool,
}

/// The columns of a table.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct TableOptions {
    /// Show every column of the table, whatever the terminal's width.
    #[arg(long, conflicts_with = "columns")]
    pub(crate) wide: bool,
    /// Show these columns behind the name, by their names in --json, whatever the terminal's width.
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
    /// Write the rows' windows, queues and exits over time as an SVG figure; up to 6 rows, the first run of each.
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,
    /// How long after the first data packet the figure ends, such as 3s [with the run].
    #[arg(long, value_name = "TIME", requires = "figure", allow_hyphen_values = true)]
    pub(crate) figure_until: Option<String>,
    /// Write window, flight, round trip, queue and delivered bytes over time, all runs and flows, as one table: Parquet, or CSV
    /// if the name ends with .csv.
    #[arg(long, value_name = "FILE")]
    pub(crate) series: Option<PathBuf>,
    /// Make the series of rates in slots of this length, of every flow and of the links between routers [100ms].
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
}
