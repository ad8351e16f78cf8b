//! Runs the requested commands over the path, and reports the result.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;

use firstflight_emulate::linux::{Done, Ended, Ending, Job, LISTENS, RunError, Timing, run as run_job};
use firstflight_emulate::{MAX_LATENESS, Path, Side};
use firstflight_export::WholeFile;

use super::beside::Beside;
use super::order::{Emulate, Order, Sender, impossible};
use super::results::{self, Reported, seconds};
use crate::failure::Failure;
use crate::inspect;
use crate::interrupt::Interrupt;
use crate::output;
use crate::partial::Partial;

pub(super) fn run(options: &Emulate, order: Order<'_>, arguments: &[String]) -> Result<(), Failure> {
    let Order { scenario, commands, duration, limit, congestion_control, beside } = order;
    let sender = match options.sender {
        Sender::A => Side::A,
        Sender::B => Side::B,
    };
    let path = Path::new(&scenario, sender).map_err(|error| impossible(&error, arguments))?;
    // If the run is aborted, an existing file or device at that path is unchanged.
    let log = options.log.as_deref().map(WholeFile::create).transpose().map_err(Failure::usage)?;
    let stdout = options.json.then(|| io::stderr().as_fd().try_clone_to_owned()).transpose();
    let interrupt = Interrupt::listen();
    let job = Job {
        path,
        scenario: &scenario,
        commands: match &congestion_control {
            Some(name) => with_default(name, sender, &commands),
            None => commands.clone(),
        },
        listens: LISTENS,
        timing: match (duration, limit) {
            (Some(span), _) => Timing::Duration(span),
            (None, Some(span)) => Timing::Limit(span),
            (None, None) => Timing::Unlimited,
        },
        log: log.as_ref().map(WholeFile::file).transpose().map_err(Failure::write)?,
        is_logged: false,
        stdout: stdout.map_err(Failure::usage)?,
        interrupted: &|| !options.shell && interrupt.happened(),
        ready: &|processes| {
            if options.shell {
                output::say_lines(&results::invitation(processes[Side::B as usize]));
            }
            beside.map_or(Ok(()), |beside| beside.attach(processes, sender))
        },
    };
    let mut done = run_job(job).map_err(|error| match error {
        RunError::Refused(_) | RunError::Command { .. } => Failure::usage(error),
        RunError::System { .. } => Failure::write(error),
    })?;
    // A terminal also interrupts the commands, which may end before the signal's handler has run.
    if !options.shell && interrupt.happened() {
        done.ending = Ending::Interrupted;
    }
    let congestion_control = congestion_control.as_deref();
    let reported = Reported {
        scenario: &scenario,
        sender,
        congestion_control,
        quick_start: beside.map(Beside::outcomes).transpose().map_err(Failure::usage)?,
        commands: &commands,
        done: &done,
    };
    if options.json {
        output::print(&reported.json().map_err(Failure::write)?)?;
    } else {
        output::print_words(&reported.text())?;
    }
    if let (Some(path), Some(log)) = (&options.log, log) {
        let missed = match &done.log {
            Some(Err(error)) => return Err(Failure::write(format!("{}: {error}", path.display()))),
            Some(Ok(missed)) => *missed,
            None => 0,
        };
        log.commit().map_err(Failure::write)?;
        if missed > 0 {
            let message = format!("{} lacks {missed} records: the disk is too slow", path.display());
            return Err(Failure::write(message));
        }
        output::say_written(path);
        match &options.report {
            Some(_) if done.ending == Ending::Interrupted => {}
            Some(report) => inspect::page(path, report, arguments)?,
            None => {}
        }
    }
    if done.ending == Ending::Interrupted {
        let not_written = options.report.iter().map(|_| "--report").collect();
        return Err(Partial::new("the result is of what was run", not_written).failure());
    }
    verdict(&done, options.shell)
}

/// Returns the commands, with `name` set as the default congestion control in the sender's namespace before its command starts. Data left
/// in the command's closed sockets may not be delivered after the path ends, and would keep the socket, the namespace and the congestion
/// control for minutes. When the command has ended, these sockets are therefore set to give up at their next timeout.
fn with_default(name: &str, sender: Side, commands: &[Vec<OsString>; 2]) -> [Vec<OsString>; 2] {
    const SET: &str = "printf %s \"$0\" >/proc/sys/net/ipv4/tcp_congestion_control || exit
        \"$@\"
        status=$?
        echo 1 >/proc/sys/net/ipv4/tcp_orphan_retries
        [ $status -le 128 ] || kill -$((status - 128)) $$
        exit $status";
    let mut commands = commands.clone();
    let words = ["/bin/sh", "-c", SET, name].map(OsString::from);
    commands[sender as usize].splice(..0, words);
    commands
}

/// Returns a failure if the run is invalid or if a command failed.
fn verdict(done: &Done, is_shell: bool) -> Result<(), Failure> {
    if done.ending == Ending::Limit {
        return Err(Failure::check("the command at host A did not end within the limit"));
    }
    let [a, b] = done.ended;
    let a = a.filter(|_| done.ending == Ending::Command && !is_shell);
    let b = b.filter(|_| !done.is_b_terminated);
    for (ended, side) in [(a, Side::A), (b, Side::B)] {
        match ended {
            None | Some(Ended::Exited(0)) => {}
            Some(Ended::Exited(code)) => {
                let message = format!("the command at host {} ended with status {code}", side.name());
                return Err(Failure::check(message));
            }
            Some(Ended::Signalled(signal)) => {
                let message = format!("signal {signal} ended the command at host {}", side.name());
                return Err(Failure::check(message));
            }
        }
    }
    if done.unread != [0, 0] {
        let message = "the run is invalid: packets were lost outside the path, because they arrived faster than they were relayed";
        return Err(Failure::check(message));
    }
    if done.report.is_behind {
        return Err(Failure::check(format!(
            "the run is invalid: packets waited for the relay for {:.1} % of the time, and the path had nothing to send",
            100.0 * seconds(done.report.behind) / seconds(done.report.duration)
        )));
    }
    if done.report.is_late {
        return Err(Failure::check(format!(
            "the run is invalid: one packet in a hundred was delivered more than {} ms late",
            MAX_LATENESS.nanos() / 1_000_000
        )));
    }
    Ok(())
}
