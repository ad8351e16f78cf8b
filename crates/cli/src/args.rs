//! The arguments of the command line.
//!
//! Quantities are kept as text here. The scenario crate parses them, so they have the same meaning and the same errors on the command line
//! as in a scenario file.

use clap::{Parser, Subcommand};
use clap_complete::Shell;

use crate::compare::Compare;
use crate::demo::Demo;
use crate::diff::Diff;
use crate::doctor::Doctor;
use crate::emulate::Emulate;
use crate::groups::WIDTH;
use crate::inspect::Inspect;
use crate::kernel::KernelCommand;
use crate::model::ModelCommand;
use crate::options::Man;
use crate::packetdrill::Scripts;
use crate::paper::PaperCommand;
use crate::paths::Paths;
use crate::probe::Probe;
use crate::race::{Race, Run};
use crate::reflect::Reflect;
use crate::replay::Replay;
use crate::schemes::Schemes;
use crate::score::Score;
use crate::sweep::Command as Sweep;
use crate::transfer::{Get, Put, Serve};
use crate::watch::Watch;

/// Races TCP start-up schemes over one path, in a packet-level simulator.
#[derive(Parser, Debug)]
#[command(name = "firstflight", version, max_term_width = WIDTH)]
pub(crate) struct Cli {
    /// With --version: show commit, target, features, objects for Linux's TCP and compiler of the build too.
    #[arg(long, hide_short_help = true)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Another name of `serve`, with which it takes files as with `--uploads`.
pub(crate) const SERVE_UPLOADS: &str = "receive";

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
    /// Compare two results, path by path and seed by seed: which numbers changed, and by how much.
    Diff(Diff),
    /// List schemes, restart policies and laws, with what each needs.
    Schemes(Schemes),
    /// List the paths that have a name, for `--path`; with a name, its keys, source and notes.
    Paths(Paths),
    /// Replay a recorded trace to a scheme, print its decisions, and check that the trace's host keeps the laws of hosts.
    Replay(Replay),
    /// Evaluate the papers' closed-form models; without a name, list them.
    Model(ModelCommand),
    /// Reproduce the papers' figures, and check their claims against the results.
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
    /// Send the files of a folder over sockets, by any start-up; or take files into it.
    #[command(alias = SERVE_UPLOADS)]
    Serve(Box<Serve>),
    /// Fetch files and folders from `serve`, each file whole or not at all.
    Get(Box<Get>),
    /// Send files and folders to `serve --uploads`, by any start-up.
    #[command(alias = "send")]
    Put(Box<Put>),
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
    /// Race all schemes over the built-in path; a first look that needs no options.
    Demo(Demo),
    /// Report what works on this machine, by trying it, and what the rest lacks; as root, it loads a scheme into this kernel for a moment.
    Doctor(Doctor),
}

impl Command {
    /// Returns whether the command only computes: it reads and writes files, and uses no sockets, devices or processes.
    pub(crate) fn is_pure(&self) -> bool {
        !matches!(
            self,
            Self::Probe(_)
                | Self::Reflect(_)
                | Self::Emulate(_)
                | Self::Compare(_)
                | Self::Serve(_)
                | Self::Get(_)
                | Self::Put(_)
                | Self::Kernel(_)
                | Self::Watch(_)
                | Self::Doctor(_)
        )
    }
}
