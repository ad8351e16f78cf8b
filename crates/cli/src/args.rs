//! The command line.
//!
//! Quantities stay text here: the lab parses them, so that a scenario file and the command line mean the same
//! and fail with the same words.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::model::ModelCommand;

/// Races TCP start-up schemes over one path, in a packet-level simulator.
#[derive(Parser, Debug)]
#[command(name = "firstflight", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(
    after_help = "Exit status: 0 done; 1 a check failed; 2 usage or input, outputs that cannot be opened \
    included; 3 writing failed midway; 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Race schemes over one path.
    Race(Box<Race>),
    /// Race as a scenario file says.
    Run(Box<Run>),
    /// Race the same schemes over many paths, drawn or listed; can be killed and resumed, and split over machines.
    Sweep(Sweep),
    /// Say what a sweep's rows tell of each scheme: cost, loss, queue, timeouts and harm, and who wins where.
    Score(Score),
    /// List the schemes, restart policies and avoidance laws: source, parameters, what they need of a host.
    Schemes(Schemes),
    /// Tell a recorded trace to a scheme, print what it decides, and check that its host keeps the laws of hosts.
    Replay(Replay),
    /// Answer from the papers' closed-form models; without a name, list them.
    Model(ModelCommand),
    /// Run packetdrill scripts against the TCP endpoint, in virtual time.
    Packetdrill(Scripts),
    /// Say how the connections of captures started.
    Inspect(Inspect),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

/// What the design names and nobody built yet: naming one is an error that says so.
pub(crate) const NOT_BUILT: [&str; 1] = ["paper"];

#[derive(Args, Debug)]
pub(crate) struct Race {
    #[command(flatten)]
    pub(crate) path: PathOptions,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Args, Debug)]
pub(crate) struct Run {
    /// The scenario: the options of `race` as TOML keys, and `schemes = […]`.
    pub(crate) scenario: PathBuf,
    #[command(flatten)]
    pub(crate) runs: RunOptions,
    #[command(flatten)]
    pub(crate) output: OutputOptions,
}

#[derive(Args, Debug)]
pub(crate) struct Scripts {
    /// The scripts, run in this order; a line says PASS, FAIL, UNSUPPORTED or UNREADABLE of each.
    #[arg(required = true, value_name = "FILE.pkt")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Inspect {
    /// Captures of TCP connections: pcap or pcapng.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) captures: Vec<PathBuf>,
    /// One JSON object for each sender of each connection on standard output, one a line, and nothing else.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a report: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// List the senders too that sent less than ten segments beside one that sent more.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Sweep {
    /// The sweep: how many paths, of what, and `schemes = […]`, as in scenarios/grid.toml.
    #[arg(value_name = "SWEEP")]
    pub(crate) file: PathBuf,
    /// Where the parts go, as Parquet; what is there of the same sweep is kept, and what is missing is raced.
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
}

#[derive(Args, Debug)]
pub(crate) struct Score {
    /// The folder that `firstflight sweep --out` wrote.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Score what is there, though parts are missing.
    #[arg(long)]
    pub(crate) partial: bool,
    /// One JSON object a scheme and class, one a line, with every number.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// The same as CSV.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write the score as a page: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct Schemes {
    /// Only those of this name, or of this kind: scheme, restart, avoidance.
    pub(crate) name: Option<String>,
    /// One JSON object each, one a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The trace: a file that `race --events` wrote, or the record of any host in that format.
    pub(crate) events: PathBuf,
    /// The scheme to tell it to, with its parameters, as `--schemes` takes one [the recorded one, whose decisions
    /// are then compared].
    #[arg(long, value_name = "NAME[:K=V,...]", allow_hyphen_values = true)]
    pub(crate) scheme: Option<String>,
    /// Print every call, not only those that change the plan.
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Print a trace of its own: the same calls with the plans of this scheme.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The path, and the endpoints on it.
///
/// Without `--rate` and `--rtt`, what is unset is the built-in path: Paced Start's, 100 Mbit/s and 80 ms.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Path")]
pub(crate) struct PathOptions {
    /// Bottleneck rate, such as 100mbit [built-in path: 100mbit].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) rate: Option<String>,
    /// Base round-trip time, such as 80ms [built-in path: 80ms].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) rtt: Option<String>,
    /// Queue at the bottleneck: 1000p, 64kB or 0.3bdp, or managed, as in red:100p, codel:1000p, fq-codel:1000p,
    /// pie:1000p, with `,ecn` to mark; of packets the one in transmission counts, of bytes it does not [built-in path:
    /// 1000p; else 1bdp].
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) queue: Option<String>,
    /// Cross traffic: none, a CBR rate, tcp:N, onoff:RATE,ON,OFF, poisson:PER-SECOND,SIZE or web:LOAD
    /// [built-in path: 40mbit; else none].
    #[arg(long, value_name = "TRAFFIC", allow_hyphen_values = true)]
    pub(crate) cross: Option<String>,
    /// Payload of a full segment; the IP packet is 40 bytes more [1460].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, conflicts_with = "packet")]
    pub(crate) mss: Option<String>,
    /// IP bytes of a full packet, instead of --mss [built-in path: 1000B].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true)]
    pub(crate) packet: Option<String>,
    /// Bytes to transfer; runs until the last is delivered [1MB; with --rounds 24kB; built-in path: --duration].
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, conflicts_with = "duration")]
    pub(crate) size: Option<String>,
    /// Rounds: in each a reply of --size on every client's connection; compares restart policies.
    #[arg(long, value_name = "N", allow_hyphen_values = true, conflicts_with = "duration")]
    pub(crate) rounds: Option<String>,
    /// Idle time between rounds [120s].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) idle: Option<String>,
    /// How far a client's reply may be from its round's centre, or none [1500ms with several clients].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) spread: Option<String>,
    /// Clients with rounds, all with the same scheme [1].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) clients: Option<String>,
    /// Measures many flows between the hosts of a dumbbell or a parking lot, not one: how many [off].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) flows: Option<String>,
    /// When flows come: poisson:PER-SECOND or every:TIME [with --flows: poisson:20].
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) arrivals: Option<String>,
    /// How flows' sizes lie around --size: fixed, exponential, lognormal=SIGMA or pareto=SHAPE [fixed].
    #[arg(long, value_name = "LAW", allow_hyphen_values = true)]
    pub(crate) sizes: Option<String>,
    /// Flows that come before are not measured, or none [with poisson: 10s or 100 RTTs; else none].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) warm_up: Option<String>,
    /// Adds a population in which each flow takes one of the schemes at random.
    #[arg(long)]
    pub(crate) mixed: bool,
    /// An application that stops and goes: how much it writes and how often, as in 64kB,200ms, or all at once [all].
    #[arg(long, value_name = "SIZE,TIME", allow_hyphen_values = true)]
    pub(crate) app: Option<String>,
    /// How long to send, instead of --size [built-in path: 50s].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) duration: Option<String>,
    /// The longest simulated time that a --size may take [1h].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) limit: Option<String>,
    /// Access link's rate [ten times the bottleneck].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) access_rate: Option<String>,
    /// Rate of the way back [the access rate].
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    pub(crate) reverse_rate: Option<String>,
    /// Queue of the way back: 100p, 64kB, or none, which never overflows [none].
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) reverse_queue: Option<String>,
    /// Share of the base RTT on the way back, from 0 to 1 [0.5].
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) reverse_rtt_share: Option<String>,
    /// Random loss, such as 2% [0].
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub(crate) loss: Option<String>,
    /// Random extra delay of a packet, at most this; order is kept [0].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) jitter: Option<String>,
    /// Polices what enters the bottleneck, as in 20mbit,64kB [none].
    #[arg(long, value_name = "RATE,BURST", allow_hyphen_values = true)]
    pub(crate) policer: Option<String>,
    /// The bottleneck's rate over time: 0s=100mbit,5s=20mbit, or a file with one `TIME RATE` a line.
    /// Times are since the simulation began; beside cross traffic the flow begins later.
    #[arg(long, value_name = "FILE", allow_hyphen_values = true)]
    pub(crate) rate_trace: Option<String>,
    /// Releases ACKs together, every so often (5ms) or so many at a time (16) [none].
    #[arg(long, value_name = "SPAN|N", allow_hyphen_values = true)]
    pub(crate) ack_aggregation: Option<String>,
    /// Routers that take part in Quick-Start: all, none, or how many of the first [all].
    #[arg(long, value_name = "HOPS", allow_hyphen_values = true)]
    pub(crate) qs_hops: Option<String>,
    /// What those routers do, any of: threshold=95%,interval=100ms,estimator=interval|ewma|peak,weight=10%,
    /// intervals=N,reduction=yes|no,rtt-max=500ms or slots=N,ring=oldest|sum [the first of each; peak over
    /// rtt-max].
    #[arg(long, value_name = "SETTINGS", allow_hyphen_values = true)]
    pub(crate) qs_router: Option<String>,
    /// Links: single, or parking-lot:hops=N[,cross=each|through|HOP], bottlenecks in a row that share --rtt, each as
    /// --rate, --queue and the like say, with its own --cross (each), or all with one; for --flows dumbbell:hosts=N or
    /// parking-lot:hops=N,hosts=N, alike in both directions, with ways=onward if all flows go one way [single].
    #[arg(long, value_name = "LINKS", allow_hyphen_values = true)]
    pub(crate) topology: Option<String>,
    #[command(flatten)]
    pub(crate) ends: EndOptions,
}

/// The two ends.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Endpoints")]
pub(crate) struct EndOptions {
    /// Schemes: all, or NAME[:k=v[,k=v]…][,NAME…] [all].
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    pub(crate) schemes: Option<String>,
    /// Avoidance law for all: reno, reno-acks, cubic, cubic-linux, vegas, vegas-linux, westwood, bbr
    /// [built-in path: reno; else each scheme's own].
    #[arg(long, value_name = "LAW", allow_hyphen_values = true)]
    pub(crate) avoidance: Option<String>,
    /// Loss recovery: rack, sack, newreno, newreno-steady, reno, vegas, ns2-sack1 [rack].
    #[arg(long, value_name = "WAY", allow_hyphen_values = true)]
    pub(crate) recovery: Option<String>,
    /// Whose sender it is where the RFCs and Linux differ: rfc, linux [rfc].
    #[arg(long, value_name = "STACK", allow_hyphen_values = true)]
    pub(crate) stack: Option<String>,
    /// Restart policies after idling, a row each: all, or of rfc5681, ssr, nssr, rbp-rate, rbp-cwnd, cwv,
    /// quick-start, with parameters as NAME/k=v [rfc5681].
    #[arg(long, value_name = "POLICIES", allow_hyphen_values = true)]
    pub(crate) restart: Option<String>,
    /// When the receiver acknowledges: every, delayed, linux, freebsd, windows-xp [built-in path: every; else delayed].
    #[arg(long, value_name = "POLICY", allow_hyphen_values = true)]
    pub(crate) ack: Option<String>,
    /// Initial window, such as 10p [built-in path: 2p; else 10p, of segments above 1460 bytes no more than 14,600 bytes or 2p].
    #[arg(long, value_name = "PACKETS", allow_hyphen_values = true)]
    pub(crate) iw: Option<String>,
    /// Initial slow-start threshold, such as 20000p [built-in path: 20000p; else inf, which is arbitrarily high].
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) ssthresh: Option<String>,
    /// Receive buffer, such as 64kB [more than any window].
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) rwnd: Option<String>,
    /// Least retransmission timeout, such as 200ms [1s; with --stack linux 200ms].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) min_rto: Option<String>,
    /// Use TCP timestamps, 12 bytes a packet.
    #[arg(long)]
    pub(crate) timestamps: bool,
    /// Uses ECN on all TCP flows.
    #[arg(long)]
    pub(crate) ecn: bool,
}

/// How often, and how.
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "Runs")]
pub(crate) struct RunOptions {
    /// Runs of each scheme, each with a seed of its own; fields become means beside <field>_ci95 [1].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) runs: Option<String>,
    /// First seed [1].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Runs at a time; results do not depend on it [the number of processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) jobs: Option<String>,
    /// Give every run's row instead of means.
    #[arg(long)]
    pub(crate) each_run: bool,
    /// Give every flow's row instead; only with flows.
    #[arg(long, conflicts_with = "each_run")]
    pub(crate) each_flow: bool,
}

/// What is written, and where.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputOptions {
    /// One JSON object a row on standard output, one a line, and nothing else.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Rows as CSV on standard output.
    #[arg(long)]
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
    /// Write pcapng captures of both ends, the first run of each scheme.
    #[arg(long, value_name = "DIR")]
    pub(crate) pcap: Option<PathBuf>,
    /// Keep only this much of each captured packet, such as 128B [all].
    #[arg(long, value_name = "BYTES", requires = "pcap", allow_hyphen_values = true)]
    pub(crate) snap: Option<String>,
    /// Write what each sender did as JSON lines, the first run of each scheme.
    #[arg(long, value_name = "DIR")]
    pub(crate) events: Option<PathBuf>,
    /// Write what each sender did as qlog, which QUIC's tools read, the first run of each scheme.
    #[arg(long, value_name = "DIR")]
    pub(crate) qlog: Option<PathBuf>,
}
