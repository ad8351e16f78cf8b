//! Runs over an emulated path, with a program of this crate at each end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::os::fd::OwnedFd;
use std::time::Duration;

use firstflight::Span;
use firstflight_emulate::linux::{Done, Ended, Ending, INSIDE, Job, RunError, Timing, run as run_job};
use firstflight_emulate::own_program;
use firstflight_emulate::{PacketLog, Path, Side};
use firstflight_measure::Evidence;
use firstflight_scenario::topology::Topology;
use firstflight_scenario::{Scenario, SchemeChoice};
use rustix::fs::{MemfdFlags, memfd_create};
use serde_json::{Map, Value};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

use super::words::{OUT_OF_TIME, start};
use super::{kernel, live, probing, web};
use crate::cell::{Cell, CompareError, Real, Taken};
use crate::from_packets::{Facts, Seen};
use crate::habitat::Runs;
use crate::hosting::Hosted;

/// Runs the program at an end of a compared path, if this process was started as that program, and returns its exit code. `arguments` are
/// the process's arguments, without its name.
pub fn inside(arguments: &[OsString]) -> Option<u8> {
    let [first, role, words @ ..] = arguments else { return None };
    if first != INSIDE {
        return None;
    }
    let program: fn(&[OsString]) -> Result<(), String> = match role.to_str()? {
        live::SENDER => live::send,
        live::RECEIVER => live::receive,
        kernel::SENDER => kernel::send,
        kernel::RECEIVER => kernel::receive,
        probing::SENDER => probing::send,
        probing::RECEIVER => probing::reflect,
        web::SERVER => web::serve,
        web::CLIENT => web::ask,
        _ => return None,
    };
    take_priority();
    Some(match program(words) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("{}: {error}", role.to_string_lossy());
            1
        }
    })
}

/// The maximum time until the receiver listens. It passes before the connection is measured.
const LISTENS: Duration = Duration::from_secs(30);

/// The real-time priority of the programs. It is lower than the relay's priority, which is 10.
const PRIORITY: u8 = 5;

/// Sets a real-time priority for this thread and the threads that it starts, if the system permits. The kernel's TCP has the relay's
/// priority, because TCP runs in the relay's thread when the relay delivers a packet.
fn take_priority() {
    let Ok(priority) = PRIORITY.try_into() else { return };
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    // Without this priority, the programs are late more often, and more of their runs are invalid.
    let _ =
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy);
}

/// Returns the reason why the environment cannot run the scheme; `None` if it can.
pub(crate) fn refusal(cell: &Cell<'_>) -> Option<String> {
    match cell.habitat.runs {
        Runs::Simulated => None,
        Runs::Live => live::options(&live::settings(cell)).err(),
        Runs::Kernel => kernel::refusal(cell.scenario),
        Runs::Bpf => kernel::refusal(cell.scenario).or_else(|| kernel::refusal_of_keys(&cell.choice)),
    }
}

/// Checks whether the system allows emulation of paths.
pub(crate) fn probe(scenario: &Scenario) -> Result<(), CompareError> {
    let nothing = || own_program::here().into_iter().chain(["--version".into()]).collect::<Vec<OsString>>();
    let path = between_two(scenario);
    let (_, done) = emulate(&path, [nothing(), nothing()], Span::from_secs(20), Around::default())?;
    done.map(drop).map_err(|error| refused(error, "the probe", "the emulated path"))
}

/// The time from the limit until the programs must have ended. The endpoint on sockets ends by itself in this time, after it has written
/// its trace.
const GRACE: Span = Span::from_secs(1);

/// Makes a run with real packets.
pub(crate) fn run(cell: &Cell<'_>, seed: u64, interrupted: &dyn Fn() -> bool) -> Result<Taken, CompareError> {
    let scenario = Scenario { seed, ..cell.scenario.clone() };
    let is_kernel = matches!(cell.habitat.runs, Runs::Kernel | Runs::Bpf);
    let commands = if is_kernel { kernel::commands(cell) } else { live::commands(cell) };
    let names = (cell.choice.name(), cell.habitat.name);
    let taken = taken(&scenario, commands, names, interrupted, |packet_log, output| {
        if is_kernel {
            kernel::figures(packet_log, &scenario).map(Some)
        } else {
            live::figures(packet_log, &scenario, BufReader::new(output))
        }
    })?;
    Ok(match taken {
        Real::Ran(figures) => Taken::Figures(Box::new(figures)),
        Real::Void => Taken::Void,
        Real::Interrupted => Taken::Interrupted,
    })
}

/// Makes a run of a scheme on sockets. Returns its evidence.
pub(crate) fn on_sockets(
    cell: &Cell<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Evidence>, CompareError> {
    let scenario = cell.scenario;
    let names = (cell.choice.name(), cell.habitat.name);
    taken(scenario, live::commands(cell), names, interrupted, |packet_log, output| {
        live::whole_evidence(packet_log, scenario, BufReader::new(output))
    })
}

/// Probes from a socket. Returns the row. It lacks the columns that a real path does not provide.
pub(crate) fn probed(
    scenario: &Scenario,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Map<String, Value>>, CompareError> {
    taken(scenario, probing::commands(scenario), ("the probing", "live"), interrupted, |_, output| {
        serde_json::from_reader(output).map(Some).map_err(|error| error.to_string())
    })
}

/// Runs two commands over the path, and passes the result to `read`. If `read` returns `None`, a program at one end was too late and the
/// run is invalid.
fn taken<T>(
    scenario: &Scenario,
    commands: [Vec<OsString>; 2],
    (scheme, habitat): (&str, &'static str),
    interrupted: &dyn Fn() -> bool,
    read: impl FnOnce(&PacketLog, File) -> Result<Option<T>, String>,
) -> Result<Real<T>, CompareError> {
    let limit = start(scenario) + scenario.limit + GRACE;
    let (output, done) = emulate(scenario, commands, limit, Around { interrupted, ..Around::default() })?;
    let failed = |why: String| CompareError::End { scheme: scheme.to_owned(), habitat, why };
    let done = done.map_err(|error| refused(error, scheme, habitat))?;
    match counted(done, ["sender", "receiver"]).map_err(failed)? {
        Real::Ran(packet_log) => Ok(read(&packet_log, output).map_err(failed)?.map_or(Real::Void, Real::Ran)),
        Real::Void => Ok(Real::Void),
        Real::Interrupted => Ok(Real::Interrupted),
    }
}

/// Returns the packet log of a run if the run counts. An error is the fault of a program at one end.
fn counted(done: Done, ends: [&str; 2]) -> Result<Real<PacketLog>, String> {
    if done.ending == Ending::Interrupted {
        return Ok(Real::Interrupted);
    }
    if done.is_void() || done.report.forward.dropped.host + done.report.reverse.dropped.host > 0 {
        return Ok(Real::Void);
    }
    if let Some(why) = fault(&done, ends) {
        return Err(why);
    }
    done.packet_log.map(Real::Ran).ok_or_else(|| "the relay kept no packets".to_owned())
}

/// Runs clients at host A. They request data from the kernel's TCP at host B as the scenario says.
pub(crate) fn in_kernel(
    scenario: &Scenario,
    choice: &SchemeChoice,
    hosted: Box<dyn Hosted>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Seen>, CompareError> {
    let failed = |why: String| CompareError::End { scheme: choice.name().to_owned(), habitat: "kernel", why };
    let path = between_two(scenario);
    let commands = web::commands(scenario, choice, hosted.congestion_control()).map_err(failed)?;
    let attach = |processes| hosted.attach(processes);
    let around = Around { sender: Side::B, interrupted, ready: &attach };
    let before = processors();
    let (output, done) = emulate(&path, commands, web::begin(scenario) + scenario.limit + GRACE, around)?;
    let cpu = processors() - before;
    let done = done.map_err(|error| refused(error, choice.name(), "kernel"))?;
    match counted(done, ["client", "server"]).map_err(failed)? {
        Real::Ran(packet_log) => {
            let inside = hosted.sender_events().map_err(failed)?;
            let replies = replies(BufReader::new(output)).map_err(failed)?;
            Seen::new(scenario, choice, &packet_log, &Facts { replies, inside, cpu })
                .map(Real::Ran)
                .map_err(failed)
        }
        Real::Void => Ok(Real::Void),
        Real::Interrupted => Ok(Real::Interrupted),
    }
}

/// Returns the path of a scenario with two hosts. The flows of a population run between these two hosts.
fn between_two(scenario: &Scenario) -> Scenario {
    match scenario.population {
        Some(_) => {
            Scenario { topology: Topology::Single, population: None, beside: Vec::new(), ..scenario.clone() }
        }
        None => scenario.clone(),
    }
}

/// Reads the sizes of the replies that clients reported. The key is the client's port.
fn replies(output: impl BufRead) -> Result<BTreeMap<u16, Vec<u64>>, String> {
    let mut all: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    for line in output.lines() {
        let line = line.map_err(|error| format!("what a client says: {error}"))?;
        let words =
            line.split_once(' ').and_then(|(port, bytes)| Some((port.parse().ok()?, bytes.parse().ok()?)));
        let (port, bytes) = words.ok_or_else(|| format!("a client says `{line}`"))?;
        all.entry(port).or_default().push(bytes);
    }
    Ok(all)
}

/// Returns the CPU seconds of this process and of the processes for which it has waited (`proc_pid_stat(5)`).
fn processors() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name may contain blanks, so it is skipped. The fields after it include `utime`, `stime`, `cutime` and `cstime` in
    // hundredths of a second.
    let fields = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11).take(4);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The parameters of an emulated run.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The host whose packets cross the bottleneck.
    sender: Side,
    interrupted: &'a dyn Fn() -> bool,
    /// Called with the first process of each host.
    ready: &'a dyn Fn([u32; 2]) -> Result<(), String>,
}

impl Default for Around<'_> {
    fn default() -> Self {
        Self { sender: Side::A, interrupted: &|| false, ready: &|_| Ok(()) }
    }
}

/// Runs two commands over the path. Keeps their standard output in memory and returns it.
fn emulate(
    scenario: &Scenario,
    commands: [Vec<OsString>; 2],
    limit: Span,
    around: Around<'_>,
) -> Result<(File, Result<Done, RunError>), CompareError> {
    let of =
        |error: std::io::Error| CompareError::Refused(format!("no memory for what a program says: {error}"));
    let memory =
        memfd_create("firstflight-habitats", MemfdFlags::CLOEXEC).map_err(|error| of(error.into()))?;
    let mut output = File::from(memory);
    let stdout = OwnedFd::from(output.try_clone().map_err(of)?);
    let job = Job {
        path: Path::new(scenario, around.sender)?,
        scenario,
        commands,
        listens: LISTENS,
        timing: Timing::Limit(limit),
        log: None,
        is_logged: true,
        stdout: Some(stdout),
        interrupted: around.interrupted,
        ready: around.ready,
    };
    let done = run_job(job);
    output.rewind().map_err(of)?;
    Ok((output, done))
}

fn refused(error: RunError, scheme: &str, habitat: &'static str) -> CompareError {
    match error {
        RunError::Refused(why) => CompareError::Refused(why),
        error => CompareError::End { scheme: scheme.to_owned(), habitat, why: error.to_string() },
    }
}

/// Returns the fault of a program at one end; its message is already on standard error. A run that reached its limit has no fault, only a
/// transfer that did not finish.
fn fault(done: &Done, [at_a, at_b]: [&str; 2]) -> Option<String> {
    let ended = |what: &str, ended: Option<Ended>| match ended? {
        Ended::Exited(0) => None,
        Ended::Exited(code) => Some(format!("the {what} ended with status {code}")),
        Ended::Signalled(signal) => Some(format!("signal {signal} ended the {what}")),
    };
    let [a, b] = done.ended;
    if a == Some(Ended::Exited(OUT_OF_TIME)) {
        return None;
    }
    let sender = ended(at_a, a.filter(|_| done.ending == Ending::Command));
    sender.or_else(|| ended(at_b, b.filter(|_| !done.is_b_terminated)))
}
