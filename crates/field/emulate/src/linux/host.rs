//! A host as the relay's process sees it: the host's processes, and the socket to them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use thiserror::Error;

use super::control::{Message, pair, receive, send};
use super::device::Tun;
use super::host_processes::arguments;
use crate::addresses::Side;
use crate::own_program;

/// The reason why a run did not start or could not continue.
#[derive(Debug, Error)]
pub enum RunError {
    /// The system does not permit namespaces or devices. The text says what would help.
    #[error("{0}")]
    Refused(String),
    /// A command cannot be started.
    #[error("cannot start `{command}` at host {}: {why}", side.name())]
    Command {
        /// The host.
        side: Side,
        /// The program.
        command: String,
        /// The system's error.
        why: String,
    },
    /// The system failed.
    #[error("{what}: {error}")]
    System {
        /// The action that failed.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
}

impl RunError {
    /// Wraps an error of the system.
    pub(super) fn of(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::System { what, error }
    }
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The command ended by itself with this status.
    Exited(i32),
    /// This signal ended the command.
    Signalled(i32),
}

/// A host at one end of the path.
#[derive(Debug)]
pub(super) struct Host {
    side: Side,
    keeper: Child,
    socket: OwnedFd,
    /// The first process of the host, in this process's PID namespace.
    pub(super) process: u32,
    /// How the command ended; `None` while it runs.
    pub(super) ended: Option<Ended>,
    /// Whether a process of the host listens for packets.
    pub(super) is_listening: bool,
    /// The number of packets that the host's interface dropped because they were not read in time.
    unread: Option<u64>,
    /// Whether the host's processes are gone.
    is_gone: bool,
    program: String,
}

/// The maximum time until a host has its interface.
const READY: Duration = Duration::from_secs(20);

impl Host {
    /// Makes a host for `command`, with an interface of this MTU. Returns the host and its device. The command's standard output is
    /// `stdout` if given, and otherwise this process's.
    pub(super) fn new(
        side: Side,
        mtu: u32,
        command: &[OsString],
        stdout: Option<OwnedFd>,
    ) -> Result<(Self, Tun), RunError> {
        let (near, far) = pair().map_err(RunError::of("cannot make a socket"))?;
        let mut keeper = own_program::command();
        keeper.args(arguments("keeper", side, mtu)).args(command).stdin(Stdio::from(far));
        if let Some(stdout) = stdout {
            keeper.stdout(Stdio::from(stdout));
        }
        // `keeper` holds the far end of the socket until it is dropped. The socket can show that the host has closed it only after that.
        let spawned = keeper.spawn();
        drop(keeper);
        let mut host = Self {
            side,
            keeper: spawned.map_err(RunError::of("cannot start a process for a host"))?,
            socket: near,
            process: 0,
            ended: None,
            is_listening: false,
            unread: None,
            is_gone: false,
            program: command.first().map_or_else(String::new, |program| shown(program)),
        };
        let device = host.ready()?;
        Ok((host, device))
    }

    /// Waits until the host has its interface. Returns the device.
    fn ready(&mut self) -> Result<Tun, RunError> {
        if !self.has_news(READY).map_err(RunError::of("cannot wait for a host"))? {
            return Err(RunError::Refused(format!("host {} got no interface in time", self.side.name())));
        }
        let Message { text, descriptor, process } =
            receive(&self.socket).map_err(RunError::of("cannot receive from a host"))?;
        match (text.as_str(), descriptor) {
            ("ready", Some(descriptor)) => {
                self.process = process.unwrap_or(0);
                Tun::new(descriptor).map_err(RunError::of("cannot use a host's device"))
            }
            (text, _) => Err(RunError::Refused(
                text.strip_prefix("error ").unwrap_or("a process of a host ended at once").to_owned(),
            )),
        }
    }

    /// Starts the command with this standard input.
    pub(super) fn start(&self, stdin: Option<BorrowedFd<'_>>) -> Result<(), RunError> {
        send(&self.socket, "go", stdin).map_err(RunError::of("cannot start a command"))
    }

    /// Sends SIGTERM to all processes of the host.
    pub(super) fn terminate(&self) {
        // An error means that the processes are gone.
        let _ = send(&self.socket, "terminate", None);
    }

    /// Returns the number of packets that the host's interface dropped because they were not read in time.
    pub(super) fn unread(&mut self) -> Result<u64, RunError> {
        if send(&self.socket, "count", None).is_ok() {
            while self.unread.is_none() && self.wait(READY)? {}
        }
        Ok(self.unread.unwrap_or(0))
    }

    /// Waits for a message of the host for at most `longest`, and handles it. Returns whether there was one.
    pub(super) fn wait(&mut self, longest: Duration) -> Result<bool, RunError> {
        if self.is_gone || !self.has_news(longest).map_err(RunError::of("cannot wait for a host"))? {
            return Ok(false);
        }
        let text = receive(&self.socket).map(|message| message.text).unwrap_or_default();
        match text.split_once(' ').unwrap_or((&text, "")) {
            ("listening", _) => self.is_listening = true,
            ("unread", count) => self.unread = count.parse().ok(),
            ("exited", code) => self.ended = Some(Ended::Exited(code.parse().unwrap_or(-1))),
            ("signalled", signal) => self.ended = Some(Ended::Signalled(signal.parse().unwrap_or(0))),
            ("failed", why) => {
                let (side, command, why) = (self.side, self.program.clone(), why.to_owned());
                return Err(RunError::Command { side, command, why });
            }
            ("error", why) => return Err(RunError::Refused(why.to_owned())),
            _ => {
                self.is_gone = true;
                self.ended.get_or_insert(Ended::Signalled(9));
            }
        }
        Ok(true)
    }

    fn has_news(&self, longest: Duration) -> io::Result<bool> {
        let pause = Timespec {
            tv_sec: i64::try_from(longest.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(longest.subsec_nanos()),
        };
        let mut wanted = [PollFd::new(&self.socket, PollFlags::IN)];
        match poll(&mut wanted, Some(&pause)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Kills all processes of the host, and waits until they are gone.
impl Drop for Host {
    fn drop(&mut self) {
        // The keeper may have ended by itself.
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
        // The socket closes when the first process ends; the kernel has then removed the other processes.
        while self.has_news(READY).unwrap_or(false) {
            if receive(&self.socket).map_or(true, |message| message.text.is_empty()) {
                break;
            }
        }
    }
}

fn shown(program: &OsStr) -> String {
    program.to_string_lossy().into_owned()
}
