//! A run: two hosts, a path between them, a program at each.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use firstflight::{Rate, Span, Time};
use firstflight_scenario::Scenario;

use super::clock::{Monotonic, since_1970};
use super::host::{Ended, Host, RunError};
use super::relaying::{Relayed, Relaying};
use crate::addresses::Side;
use crate::log::Log;
use crate::path::Path;
use crate::relay::{Carried, Clock, Relay};
use crate::report::Report;
use crate::tape::Tape;

/// What is to be run.
pub struct Job<'a> {
    /// The path.
    pub path: Path<Carried>,
    /// The scenario of the path.
    pub scenario: &'a Scenario,
    /// What runs at host A and at host B. A command without words is none: the host is there and waits.
    pub commands: [Vec<OsString>; 2],
    /// How long host A's command waits for host B's to listen: [`LISTENS`] if it may not listen at all.
    pub listens: Duration,
    /// When the run ends, besides with the command of host A.
    pub timing: Timing,
    /// The file of the log.
    pub log: Option<File>,
    /// Whether a tape is kept in memory.
    pub is_taped: bool,
    /// The standard output of the commands in place of this process's.
    pub stdout: Option<OwnedFd>,
    /// Whether the user has asked for the run to end.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Hears of the hosts before any command starts: the first process of each. Its error ends the run.
    pub ready: &'a dyn Fn([u32; 2]) -> Result<(), String>,
}

/// When a run ends though the command of host A has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// It does not.
    Unlimited,
    /// After this time, as was wanted.
    Duration(Span),
    /// After this time, which is too late.
    Limit(Span),
}

/// What ended a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The command of host A ended.
    Command,
    /// The duration was over.
    Duration,
    /// The limit was reached.
    Limit,
    /// The user interrupted.
    Interrupted,
}

/// A run that is done.
#[derive(Debug)]
pub struct Done {
    /// What the path saw.
    pub report: Report,
    /// What ended the run.
    pub ending: Ending,
    /// How each command ended; `None` if there was none.
    pub ended: [Option<Ended>; 2],
    /// Packets of each host that its interface dropped because the relay did not read them in time.
    pub unread: [u64; 2],
    /// Whether this ended host B's command, whose end then means nothing.
    pub is_b_terminated: bool,
    /// How many records the log lacks, if there is a log; or why it was not written.
    pub log: Option<io::Result<u64>>,
    /// The tape, if one was kept.
    pub tape: Option<Tape>,
    /// Whether the relay had a real-time priority.
    pub is_real_time: bool,
    /// The time zero of the path, in nanoseconds since 1970, as the log has it.
    pub began: u64,
}

impl Done {
    /// Whether the run does not count: packets were too late, or were lost beside the path.
    pub fn is_void(&self) -> bool {
        self.report.is_void || self.unread != [0, 0]
    }
}

/// How long host A's command waits for host B's, which may be one that does not listen.
pub const LISTENS: Duration = Duration::from_secs(1);
/// How long a command may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long host B's command may take to end by itself once host A's has, beside two round trips.
const LINGER: Duration = Duration::from_millis(100);
/// How often it is looked whether the user interrupted.
const LOOK: Duration = Duration::from_millis(20);

/// Runs the commands over the path.
///
/// Host B's command starts first; host A's when host B's listens, or has had its time to. The run ends with host A's command: host
/// B's then has a moment to end by itself, is asked to end (SIGTERM), and is ended (SIGKILL).
///
/// # Errors
/// What the system refuses, and a command that cannot be started.
pub fn run(job: Job<'_>) -> Result<Done, RunError> {
    let Job { path, scenario, commands, listens, timing, log, is_taped, stdout, interrupted, ready } = job;
    let mtu = scenario.packet();
    let stdouts = [copy(stdout.as_ref())?, copy(stdout.as_ref())?];
    let [a, b] = &commands;
    let [out_a, out_b] = stdouts;
    let (mut host_b, device_b) = Host::new(Side::B, mtu, b, out_b)?;
    let (mut host_a, device_a) = Host::new(Side::A, mtu, a, out_a)?;
    ready([host_a.process, host_b.process]).map_err(RunError::Refused)?;
    if !b.is_empty() {
        host_b.start(None)?;
        listen(&mut host_b, listens, interrupted)?;
    }
    let (clock, began) = (Monotonic::new(), since_1970());
    let log = log.map(|file| Log::new(file, began)).transpose();
    let log = log.map_err(RunError::of("cannot write the log"))?;
    let relay = Relay::new([device_a, device_b], path, mtu as usize, (log, is_taped.then(Tape::default)));
    let relaying =
        Relaying::start(relay, clock, fastest(scenario)).map_err(RunError::of("cannot start the relay"))?;
    if !a.is_empty() {
        host_a.start(Some(io::stdin().as_fd()))?;
    }
    let ending = watch(&mut host_a, &mut host_b, timing, &relaying, interrupted)?;
    if ending != Ending::Command {
        end(&mut host_a, !a.is_empty())?;
    }
    let linger = LINGER + 2 * Duration::from_nanos(scenario.rtt.nanos());
    let is_b_terminated = !b.is_empty() && !ends(&mut host_b, linger)?;
    if is_b_terminated {
        end(&mut host_b, true)?;
    }
    let ended = [host_a.ended, host_b.ended];
    let unread = [host_a.unread()?, host_b.unread()?];
    let relayed = relaying.finish();
    drop((host_a, host_b));
    let Relayed { report, log, tape, is_real_time } = relayed.map_err(RunError::of("the relay broke off"))?;
    let log = log.map(Log::finish);
    Ok(Done { report, ending, ended, unread, is_b_terminated, log, tape, is_real_time, began })
}

/// A descriptor of the same file.
fn copy(stdout: Option<&OwnedFd>) -> Result<Option<OwnedFd>, RunError> {
    stdout.map(OwnedFd::try_clone).transpose().map_err(RunError::of("cannot copy a descriptor"))
}

/// The rate of the fastest moment of the bottleneck.
fn fastest(scenario: &Scenario) -> Rate {
    let trace = scenario.rate_trace.iter().flat_map(firstflight_sim::RateTrace::steps).map(|(_, rate)| *rate);
    trace.max().unwrap_or(scenario.rate)
}

/// Waits until the host listens or its command has ended.
fn listen(host: &mut Host, within: Duration, interrupted: &dyn Fn() -> bool) -> Result<(), RunError> {
    let clock = Monotonic::new();
    while !host.is_listening && host.ended.is_none() && !interrupted() && !is_over(clock, within) {
        host.wait(LOOK)?;
    }
    Ok(())
}

/// Waits for what ends the run.
fn watch(
    host_a: &mut Host,
    host_b: &mut Host,
    timing: Timing,
    relaying: &Relaying,
    interrupted: &dyn Fn() -> bool,
) -> Result<Ending, RunError> {
    loop {
        host_a.wait(LOOK)?;
        host_b.wait(Duration::ZERO)?;
        let now = relaying.clock.now().since(Time::ZERO);
        match timing {
            // An interrupt of a terminal reaches the commands too.
            _ if interrupted() => return Ok(Ending::Interrupted),
            _ if host_a.ended.is_some() || relaying.has_ended() => return Ok(Ending::Command),
            Timing::Duration(span) if now >= span => return Ok(Ending::Duration),
            Timing::Limit(span) if now >= span => return Ok(Ending::Limit),
            Timing::Unlimited | Timing::Duration(_) | Timing::Limit(_) => {}
        }
    }
}

/// Whether the host's command ends by itself within this time.
fn ends(host: &mut Host, within: Duration) -> Result<bool, RunError> {
    let clock = Monotonic::new();
    while host.ended.is_none() && !is_over(clock, within) {
        host.wait(LOOK)?;
    }
    Ok(host.ended.is_some())
}

/// Asks the processes of a host to end, and waits a while for its command to do so.
fn end(host: &mut Host, has_command: bool) -> Result<(), RunError> {
    host.terminate();
    if has_command {
        ends(host, GRACE)?;
    }
    Ok(())
}

fn is_over(clock: Monotonic, span: Duration) -> bool {
    u128::from(clock.now().nanos()) >= span.as_nanos()
}
