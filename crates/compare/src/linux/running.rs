//! Runs over an emulated path, with a program of this crate at each end.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use firstflight::Span;
use firstflight_emulate::linux::{Done, Ended, Ending, INSIDE, Job, RunError, Timing, run as run_job};
use firstflight_emulate::{Path, Side, Tape};
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
use crate::habitat::Runs;
use crate::hosting::Hosted;
use crate::seen::{Facts, Seen};

/// If this process was started as the program at an end of a compared path, is that and gives its exit code. `arguments` are
/// those of the process, without its name.
pub fn inside(arguments: &[OsString]) -> Option<ExitCode> {
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
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", role.to_string_lossy());
            ExitCode::FAILURE
        }
    })
}

/// How long the receiver may take to listen, which it does before the connection is measured.
const LISTENS: Duration = Duration::from_secs(30);

/// The real-time priority of the programs, below the relay's, which is 10.
const PRIORITY: u8 = 5;

/// Takes a real-time priority for this thread and those that it starts, if the system gives it. The kernel's TCP has the relay's:
/// it runs in the relay's thread when that delivers a packet.
fn take_priority() {
    let Ok(priority) = PRIORITY.try_into() else { return };
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    // Without it, the programs are late more often, and their runs are void more often.
    let _ =
        set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy);
}

/// Why the habitat cannot run the scheme; `None` if it can.
pub(crate) fn refusal(cell: &Cell<'_>) -> Option<String> {
    match cell.habitat.runs {
        Runs::Simulated => None,
        Runs::Live => live::options(&live::settings(cell)).err(),
        Runs::Kernel => kernel::refusal(cell.scenario),
        Runs::Bpf => kernel::refusal(cell.scenario).or_else(|| kernel::refusal_of_keys(&cell.choice)),
    }
}

/// Finds out whether the system lets paths be emulated.
pub(crate) fn probe(scenario: &Scenario) -> Result<(), CompareError> {
    let nothing = || vec!["/proc/self/exe".into(), "--version".into()];
    let path = between_two(scenario);
    let (_, done) = emulate(&path, [nothing(), nothing()], Span::from_secs(20), Around::default())?;
    done.map(drop).map_err(|error| refused(error, "the probe", "the emulated path"))
}

/// How much longer than the limit the programs may run: the endpoint on sockets ends by itself within it, with its trace written.
const GRACE: Span = Span::from_secs(1);

/// Makes a run with real packets.
pub(crate) fn run(cell: &Cell<'_>, seed: u64, interrupted: &dyn Fn() -> bool) -> Result<Taken, CompareError> {
    let scenario = Scenario { seed, ..cell.scenario.clone() };
    let is_kernel = matches!(cell.habitat.runs, Runs::Kernel | Runs::Bpf);
    let commands = if is_kernel { kernel::commands(cell) } else { live::commands(cell) };
    let names = (cell.choice.name(), cell.habitat.name);
    let taken = taken(&scenario, commands, names, interrupted, |tape, told| {
        if is_kernel {
            kernel::figures(tape, &scenario).map(Some)
        } else {
            live::figures(tape, &scenario, BufReader::new(told))
        }
    })?;
    Ok(match taken {
        Real::Ran(figures) => Taken::Figures(Box::new(figures)),
        Real::Void => Taken::Void,
        Real::Interrupted => Taken::Interrupted,
    })
}

/// The evidence of a run of a scheme on sockets.
pub(crate) fn on_sockets(
    cell: &Cell<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Evidence>, CompareError> {
    let scenario = cell.scenario;
    let names = (cell.choice.name(), cell.habitat.name);
    taken(scenario, live::commands(cell), names, interrupted, |tape, told| {
        live::whole_evidence(tape, scenario, BufReader::new(told))
    })
}

/// The row of a probing from a socket, and nothing of what a real path does not tell.
pub(crate) fn probed(
    scenario: &Scenario,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Map<String, Value>>, CompareError> {
    taken(scenario, probing::commands(scenario), ("the probing", "live"), interrupted, |_, told| {
        serde_json::from_reader(told).map(Some).map_err(|error| error.to_string())
    })
}

/// Runs two commands over the path, and reads off what came of it; a reading of `None` is of ends that were too late.
fn taken<T>(
    scenario: &Scenario,
    commands: [Vec<OsString>; 2],
    (scheme, habitat): (&str, &'static str),
    interrupted: &dyn Fn() -> bool,
    read: impl FnOnce(&Tape, File) -> Result<Option<T>, String>,
) -> Result<Real<T>, CompareError> {
    let limit = start(scenario) + scenario.limit + GRACE;
    let (told, done) = emulate(scenario, commands, limit, Around { interrupted, ..Around::default() })?;
    let failed = |why: String| CompareError::End { scheme: scheme.to_owned(), habitat, why };
    let done = done.map_err(|error| refused(error, scheme, habitat))?;
    match counted(done, ["sender", "receiver"]).map_err(failed)? {
        Real::Ran(tape) => Ok(read(&tape, told).map_err(failed)?.map_or(Real::Void, Real::Ran)),
        Real::Void => Ok(Real::Void),
        Real::Interrupted => Ok(Real::Interrupted),
    }
}

/// The tape of a run, if the run counts; or what went wrong at an end.
fn counted(done: Done, ends: [&str; 2]) -> Result<Real<Tape>, String> {
    if done.ending == Ending::Interrupted {
        return Ok(Real::Interrupted);
    }
    if done.is_void() || done.report.forward.dropped.host + done.report.reverse.dropped.host > 0 {
        return Ok(Real::Void);
    }
    if let Some(why) = fault(&done, ends) {
        return Err(why);
    }
    done.tape.map(Real::Ran).ok_or_else(|| "the relay kept no packets".to_owned())
}

/// Runs clients at host A that ask the kernel's TCP at host B for what the scenario says.
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
    let (told, done) = emulate(&path, commands, web::begin(scenario) + scenario.limit + GRACE, around)?;
    let cpu = processors() - before;
    let done = done.map_err(|error| refused(error, choice.name(), "kernel"))?;
    match counted(done, ["client", "server"]).map_err(failed)? {
        Real::Ran(tape) => {
            let inside = hosted.told().map_err(failed)?;
            let replies = replies(BufReader::new(told)).map_err(failed)?;
            Seen::new(scenario, choice, &tape, &Facts { replies, inside, cpu }).map(Real::Ran).map_err(failed)
        }
        Real::Void => Ok(Real::Void),
        Real::Interrupted => Ok(Real::Interrupted),
    }
}

/// The path of a scenario: the hosts of a population are the two at its ends.
fn between_two(scenario: &Scenario) -> Scenario {
    match scenario.population {
        Some(_) => {
            Scenario { topology: Topology::Single, population: None, beside: Vec::new(), ..scenario.clone() }
        }
        None => scenario.clone(),
    }
}

/// The bytes of the replies that clients said to have got, by the client's port.
fn replies(told: impl BufRead) -> Result<BTreeMap<u16, Vec<u64>>, String> {
    let mut all: BTreeMap<u16, Vec<u64>> = BTreeMap::new();
    for line in told.lines() {
        let line = line.map_err(|error| format!("what a client says: {error}"))?;
        let words =
            line.split_once(' ').and_then(|(port, bytes)| Some((port.parse().ok()?, bytes.parse().ok()?)));
        let (port, bytes) = words.ok_or_else(|| format!("a client says `{line}`"))?;
        all.entry(port).or_default().push(bytes);
    }
    Ok(all)
}

/// Seconds of processors that this process and those that it has waited for took (`proc_pid_stat(5)`).
fn processors() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the program's name, which may have blanks: `utime`, `stime`, `cutime` and `cstime` in hundredths of a second.
    let fields = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(11).take(4);
    fields.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// What is around a run.
#[derive(Clone, Copy)]
struct Around<'a> {
    /// The host at which the bottleneck begins.
    sender: Side,
    interrupted: &'a dyn Fn() -> bool,
    /// Hears of the hosts' first processes.
    ready: &'a dyn Fn([u32; 2]) -> Result<(), String>,
}

impl Default for Around<'_> {
    fn default() -> Self {
        Self { sender: Side::A, interrupted: &|| false, ready: &|_| Ok(()) }
    }
}

/// Runs two commands over the path. What they write to their standard output is in memory, and returned.
fn emulate(
    scenario: &Scenario,
    commands: [Vec<OsString>; 2],
    limit: Span,
    around: Around<'_>,
) -> Result<(File, Result<Done, RunError>), CompareError> {
    let of =
        |error: std::io::Error| CompareError::Refused(format!("no memory for what a program says: {error}"));
    let memory =
        memfd_create("firstflight-compare", MemfdFlags::CLOEXEC).map_err(|error| of(error.into()))?;
    let mut told = File::from(memory);
    let stdout = OwnedFd::from(told.try_clone().map_err(of)?);
    let job = Job {
        path: Path::new(scenario, around.sender)?,
        scenario,
        commands,
        listens: LISTENS,
        timing: Timing::Limit(limit),
        log: None,
        is_taped: true,
        stdout: Some(stdout),
        interrupted: around.interrupted,
        ready: around.ready,
    };
    let done = run_job(job);
    told.rewind().map_err(of)?;
    Ok((told, done))
}

fn refused(error: RunError, scheme: &str, habitat: &'static str) -> CompareError {
    match error {
        RunError::Refused(why) => CompareError::Refused(why),
        error => CompareError::End { scheme: scheme.to_owned(), habitat, why: error.to_string() },
    }
}

/// What went wrong at an end; what it said is on standard error already. A run that reached its limit is none: its transfer just did
/// not finish.
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
