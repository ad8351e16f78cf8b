//! Runs over an emulated path, with a program of this crate at each end.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufReader, Seek};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use firstflight::Span;
use firstflight_emulate::linux::{Done, Ended, Ending, INSIDE, Job, RunError, Timing, run as run_job};
use firstflight_emulate::{Path, Side, Tape};
use firstflight_measure::Evidence;
use firstflight_scenario::Scenario;
use rustix::fs::{MemfdFlags, memfd_create};
use serde_json::{Map, Value};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id,
};

use super::words::{OUT_OF_TIME, start};
use super::{kernel, live, probing};
use crate::cell::{Cell, CompareError, Real, Taken};
use crate::habitat::Runs;

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
    let (_, done) = emulate(scenario, [nothing(), nothing()], Span::from_secs(20), &|| false)?;
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
    let (told, done) = emulate(scenario, commands, start(scenario) + scenario.limit + GRACE, interrupted)?;
    let failed = |why: String| CompareError::End { scheme: scheme.to_owned(), habitat, why };
    let done = done.map_err(|error| refused(error, scheme, habitat))?;
    if done.ending == Ending::Interrupted {
        return Ok(Real::Interrupted);
    }
    if done.is_void() || done.report.forward.dropped.host + done.report.reverse.dropped.host > 0 {
        return Ok(Real::Void);
    }
    if let Some(why) = fault(&done) {
        return Err(failed(why));
    }
    let tape = done.tape.ok_or_else(|| failed("the relay kept no packets".to_owned()))?;
    Ok(read(&tape, told).map_err(failed)?.map_or(Real::Void, Real::Ran))
}

/// Runs two commands over the path. What they write to their standard output is in memory, and returned.
fn emulate(
    scenario: &Scenario,
    commands: [Vec<OsString>; 2],
    limit: Span,
    interrupted: &dyn Fn() -> bool,
) -> Result<(File, Result<Done, RunError>), CompareError> {
    let of =
        |error: std::io::Error| CompareError::Refused(format!("no memory for what a program says: {error}"));
    let memory =
        memfd_create("firstflight-compare", MemfdFlags::CLOEXEC).map_err(|error| of(error.into()))?;
    let mut told = File::from(memory);
    let stdout = OwnedFd::from(told.try_clone().map_err(of)?);
    let job = Job {
        path: Path::new(scenario, Side::A)?,
        scenario,
        commands,
        listens: LISTENS,
        timing: Timing::Limit(limit),
        log: None,
        is_taped: true,
        stdout: Some(stdout),
        interrupted,
        ready: &|_| Ok(()),
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
fn fault(done: &Done) -> Option<String> {
    let ended = |what: &str, ended: Option<Ended>| match ended? {
        Ended::Exited(0) => None,
        Ended::Exited(code) => Some(format!("the {what} ended with status {code}")),
        Ended::Signalled(signal) => Some(format!("signal {signal} ended the {what}")),
    };
    let [a, b] = done.ended;
    if a == Some(Ended::Exited(OUT_OF_TIME)) {
        return None;
    }
    let sender = ended("sender", a.filter(|_| done.ending == Ending::Command));
    sender.or_else(|| ended("receiver", b.filter(|_| !done.is_b_terminated)))
}
