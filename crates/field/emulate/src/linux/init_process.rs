//! The first process of a host, after it has made the host's interface. It starts the command on request, reports how the command ended,
//! and reaps processes without a parent.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, WaitStatus, pidfd_open, wait};

use super::control::{receive, send};
use super::netlink::NAME;
use crate::addresses::{A, B, Side};

/// Check intervals. The process uses [`OFTEN`] while it waits for a server to listen, and afterwards [`SELDOM`], to reap processes without
/// a parent.
const OFTEN: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
const SELDOM: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// Executes the requests of the relay until the relay is gone.
pub(super) fn serve(side: Side, command: &[OsString]) -> io::Result<()> {
    let mut child: Option<(Pid, OwnedFd)> = None;
    // The relay waits until host B's command listens, but not for host A's.
    let mut is_listening = side == Side::A;
    loop {
        let socket = io::stdin();
        let mut wanted = vec![PollFd::new(&socket, PollFlags::IN)];
        wanted.extend(child.as_ref().map(|(_, handle)| PollFd::new(handle, PollFlags::IN)));
        let pause = if is_listening { SELDOM } else { OFTEN };
        match poll(&mut wanted, Some(&pause)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_message = wanted.first().is_some_and(|socket| !socket.revents().is_empty());
        if has_message {
            let message = receive(&socket)?;
            match message.text.as_str() {
                "" => return Ok(()),
                "go" => match start(command, message.descriptor) {
                    Ok(started) => child = Some(started),
                    Err(error) => send(&socket, &format!("failed {error}"), None)?,
                },
                "count" => send(&socket, &format!("unread {}", unread()), None)?,
                // The signal goes to all processes of the host except this one.
                "terminate" => drop(kill(nix::unistd::Pid::from_raw(-1), Signal::SIGTERM)),
                _ => {}
            }
        }
        while let Ok(Some((process, status))) = wait(WaitOptions::NOHANG) {
            if child.as_ref().is_some_and(|(own, _)| *own == process) {
                child = None;
                send(&socket, &outcome(status), None)?;
            }
        }
        if !is_listening && listens() {
            is_listening = true;
            send(&socket, "listening", None)?;
        }
    }
}

/// Starts the command. Replaces `{A}` and `{B}` in its arguments by the hosts' addresses.
fn start(command: &[OsString], stdin: Option<OwnedFd>) -> io::Result<(Pid, OwnedFd)> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let child = Command::new(filled(program))
        .args(arguments.iter().map(filled))
        .env("FIRSTFLIGHT_A", A.v4.to_string())
        .env("FIRSTFLIGHT_B", B.v4.to_string())
        .stdin(stdin.map_or_else(Stdio::null, Stdio::from))
        .spawn()?;
    let process = Pid::from_child(&child);
    Ok((process, pidfd_open(process, PidfdFlags::empty())?))
}

/// Replaces `{A}`, `{B}`, `{A6}` and `{B6}` in an argument by addresses. An argument that is not UTF-8 is unchanged.
fn filled(argument: &OsString) -> OsString {
    let Some(text) = argument.to_str() else { return argument.clone() };
    [
        ("{A}", A.v4.to_string()),
        ("{B}", B.v4.to_string()),
        ("{A6}", A.v6.to_string()),
        ("{B6}", B.v6.to_string()),
    ]
    .iter()
    .fold(text.to_owned(), |text, (name, address)| text.replace(name, address))
    .into()
}

fn outcome(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exited {code}"),
        (None, signal) => format!("signalled {}", signal.unwrap_or(0)),
    }
}

/// Returns the number of packets that the host's interface dropped because the relay did not read them in time.
fn unread() -> u64 {
    drops(&fs::read_to_string("/proc/self/net/dev").unwrap_or_default())
}

/// Returns the number of transmitted packets that the host's interface dropped, from the table of interfaces (`proc_pid_net(5)`).
fn drops(table: &str) -> u64 {
    // The name is followed by eight receive counters, then the bytes, packets, errors and drops of transmission.
    const DROPS: usize = 8 + 3;
    let row = table.lines().find_map(|line| line.trim().strip_prefix(NAME)?.strip_prefix(':'));
    row.and_then(|row| row.split_whitespace().nth(DROPS)?.parse().ok()).unwrap_or(0)
}

/// Returns whether a process of the host listens for TCP connections, or has a UDP socket that is bound to a port.
fn listens() -> bool {
    /// The state LISTEN of a TCP socket (`include/net/tcp_states.h`).
    const LISTEN: &str = "0A";
    let lines = |file: &str| fs::read_to_string(format!("/proc/self/net/{file}")).unwrap_or_default();
    let tcp = ["tcp", "tcp6"]
        .iter()
        .any(|file| lines(file).lines().skip(1).any(|line| line.split_whitespace().nth(3) == Some(LISTEN)));
    tcp || ["udp", "udp6"].iter().any(|file| lines(file).lines().count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_stand_in_place_of_names() {
        let of = |text: &str| filled(&OsString::from(text));
        assert_eq!(of("http://{B}:80/{A}"), "http://10.0.0.2:80/10.0.0.1");
        assert_eq!(of("[{B6}]:{A6}"), "[fd00:ff::2]:fd00:ff::1");
        assert_eq!(of("{C} {"), "{C} {");
    }

    #[test]
    fn drops_are_those_of_what_the_host_sent() {
        let table = "Inter-|   Receive |  Transmit\n face |bytes packets |bytes packets\n\
                     \x20   lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\
                     path0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!((drops(table), drops("")), (32, 0));
    }
}
