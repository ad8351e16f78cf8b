//! A run: two hosts, a path between them, and a program at each host.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use firstflight::{Rate, Span, Time};
use firstflight_scenario::Scenario;

use super::clock::{Monotonic, since_1970};
use super::host::{Ended, Host, RunError};
use super::pressure;
use super::relaying::{Relayed, Relaying};
use crate::addresses::Side;
use crate::log::Log;
use crate::packet_log::PacketLog;
use crate::path::Path;
use crate::relay::{Carried, Clock, Relay};
use crate::report::Report;

/// The description of a run.
pub struct Job<'a> {
    /// The path.
    pub path: Path<Carried>,
    /// The scenario of the path.
    pub scenario: &'a Scenario,
    /// The commands of host A and host B. A host with an empty command only waits.
    pub commands: [Vec<OsString>; 2],
    /// The maximum time for which host A's command waits until host B's command listens. Use [`LISTENS`] if host B's may never listen.
    pub listens: Duration,
    /// When the run ends if host A's command has not ended before.
    pub timing: Timing,
    /// The file of the packet log.
    pub log: Option<File>,
    /// Whether a packet log is also kept in memory.
    pub is_logged: bool,
    /// The standard output of the commands; `None` for this process's standard output.
    pub stdout: Option<OwnedFd>,
    /// Returns whether the user has interrupted the run.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Called with the first process of each host before any command starts. If it returns an error, the run ends.
    pub ready: &'a dyn Fn([u32; 2]) -> Result<(), String>,
}

/// When a run ends if the command of host A has not ended before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timing {
    /// The run does not end before the command.
    Unlimited,
    /// The run ends after this time, as requested.
    Duration(Span),
    /// The run ends after this time, and the command counts as overdue.
    Limit(Span),
}

/// The event that ended a run.
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

/// The results of a completed run.
#[derive(Debug)]
pub struct Done {
    /// The report of the path.
    pub report: Report,
    /// The event that ended the run.
    pub ending: Ending,
    /// How the command of each host ended; `None` if there was no command.
    pub ended: [Option<Ended>; 2],
    /// The number of packets of each host that its interface dropped because the relay did not read them in time.
    pub unread: [u64; 2],
    /// Whether the run terminated host B's command, whose exit status then has no meaning.
    pub is_b_terminated: bool,
    /// The number of records that the log lacks, or the reason why it was not written; `None` without a log.
    pub log: Option<io::Result<u64>>,
    /// The packet log in memory, if one was kept.
    pub packet_log: Option<PacketLog>,
    /// Whether the relay had a real-time priority.
    pub is_real_time: bool,
    /// The time for which a process of this machine waited for a processor during the run; `None` if the kernel does not count it. It is a
    /// mean over the processors, so that a low value on a machine with many processors proves nothing.
    pub processor_wait: Option<Span>,
    /// The time of the run's start, in nanoseconds since 1970. It is the zero of the times of the path and of the log.
    pub began: u64,
}

impl Done {
    /// Returns whether the run is invalid. This is so if packets were too late, if the relay was behind for too long, or if packets were
    /// lost outside of the path.
    pub fn is_void(&self) -> bool {
        self.report.is_void() || self.unread != [0, 0]
    }

    /// Returns whether a process waited for a processor for more than a tenth of the run. The programs may then have sent less than the path
    /// carries.
    pub fn is_crowded(&self) -> bool {
        self.processor_wait.is_some_and(|wait| wait > self.report.duration / MAX_WAIT_PART)
    }
}

/// The maximum wait for host B's command to listen if the command may never listen.
pub const LISTENS: Duration = Duration::from_secs(1);
/// The maximum time in which a command may end after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// The maximum time in which host B's command may end by itself after host A's has ended. Two RTTs are added.
const LINGER: Duration = Duration::from_millis(100);
/// A run is crowded if processes waited for a processor for more than one part in this many.
const MAX_WAIT_PART: u64 = 10;
/// The interval of checks for an interrupt by the user.
const LOOK: Duration = Duration::from_millis(20);

/// Runs the commands over the path.
///
/// Host B's command starts first. Host A's command starts when host B's listens, or after `listens`. The run ends when host A's command
/// ends. Host B's command then has a short time to end by itself, gets SIGTERM, and is finally killed (SIGKILL).
///
/// # Errors
/// An error of the system, or a command that cannot be started.
pub fn run(job: Job<'_>) -> Result<Done, RunError> {
    let Job { path, scenario, commands, listens, timing, log, is_logged, stdout, interrupted, ready } = job;
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
    let waited = pressure::waited();
    let log = log.map(|file| Log::new(file, began)).transpose();
    let log = log.map_err(RunError::of("cannot write the log"))?;
    let relay =
        Relay::new([device_a, device_b], path, mtu as usize, (log, is_logged.then(PacketLog::default)));
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
    let processor_wait = waited.zip(pressure::waited()).map(|(before, after)| after - before);
    let relayed = relaying.finish();
    drop((host_a, host_b));
    let Relayed { report, log, packet_log, is_real_time } =
        relayed.map_err(RunError::of("the relay broke off"))?;
    let is_interrupted = ending == Ending::Interrupted || interrupted();
    let log = log.map(|log| log.finish(is_interrupted));
    Ok(Done {
        report,
        ending,
        ended,
        unread,
        is_b_terminated,
        log,
        packet_log,
        is_real_time,
        processor_wait,
        began,
    })
}

/// Duplicates the descriptor, if there is one.
fn copy(stdout: Option<&OwnedFd>) -> Result<Option<OwnedFd>, RunError> {
    stdout.map(OwnedFd::try_clone).transpose().map_err(RunError::of("cannot copy a descriptor"))
}

/// Returns the maximum rate of the bottleneck over time.
fn fastest(scenario: &Scenario) -> Rate {
    let trace = scenario.rate_trace.iter().flat_map(firstflight_sim::RateTrace::steps).map(|(_, rate)| *rate);
    trace.max().unwrap_or(scenario.rate)
}

/// Waits until the host listens, or its command has ended, or `within` is over.
fn listen(host: &mut Host, within: Duration, interrupted: &dyn Fn() -> bool) -> Result<(), RunError> {
    let clock = Monotonic::new();
    while !host.is_listening && host.ended.is_none() && !interrupted() && !is_over(clock, within) {
        host.wait(LOOK)?;
    }
    Ok(())
}

/// Waits for the end of the run. Returns the event that ended it.
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
            // An interrupt from a terminal reaches the commands too.
            _ if interrupted() => return Ok(Ending::Interrupted),
            _ if host_a.ended.is_some() || relaying.has_ended() => return Ok(Ending::Command),
            Timing::Duration(span) if now >= span => return Ok(Ending::Duration),
            Timing::Limit(span) if now >= span => return Ok(Ending::Limit),
            Timing::Unlimited | Timing::Duration(_) | Timing::Limit(_) => {}
        }
    }
}

/// Waits for at most `within` until the host's command ends by itself. Returns whether it has ended.
fn ends(host: &mut Host, within: Duration) -> Result<bool, RunError> {
    let clock = Monotonic::new();
    while host.ended.is_none() && !is_over(clock, within) {
        host.wait(LOOK)?;
    }
    Ok(host.ended.is_some())
}

/// Terminates the processes of a host, and waits a short time for its command to end.
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
