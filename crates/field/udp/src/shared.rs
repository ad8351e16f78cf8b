//! The state that a host's thread shares with the threads that read and write.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};

use crate::clock::Clock;
use crate::connection::{Connection, State};
use crate::source::Source;

/// The owner of the host's thread. The thread ends when the last handle is dropped.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>, thread: JoinHandle<()>) -> Self {
        Self { shared, thread: Some(thread) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.command(Command::Stop);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has printed a message, and there is nothing to wait for.
            let _ = thread.join();
        }
    }
}

/// A command to the host's thread.
pub(crate) enum Command {
    /// Open a connection.
    Open { peer: SocketAddr, reply: SyncSender<io::Result<Arc<Connection>>> },
    /// Examine a connection that was written to, read from or shut.
    Touch(Arc<Connection>),
    /// End the thread, after lingering.
    Stop,
}

/// A connection that waits to be accepted.
pub(crate) struct Waiting {
    pub(crate) connection: Arc<Connection>,
    pub(crate) source: Source,
}

/// The connections that wait to be accepted, and the listeners.
#[derive(Default)]
pub(crate) struct Accepts {
    pub(crate) waiting: VecDeque<Waiting>,
    /// The waker to call when a connection starts to wait.
    pub(crate) waker: Option<Waker>,
    /// The number of listeners; zero once the host has ended.
    pub(crate) listeners: usize,
    /// The TCP port on a TUN device.
    pub(crate) port: u16,
    pub(crate) ended: bool,
}

/// The state that the host's thread shares with the others.
pub(crate) struct Shared {
    pub(crate) own: SocketAddr,
    pub(crate) clock: Clock,
    /// The commands to the host's thread; `None` once it has ended.
    inbox: Mutex<Option<Vec<Command>>>,
    pub(crate) event: OwnedFd,
    /// Whether the host's thread sleeps, or is about to sleep.
    pub(crate) sleeping: AtomicBool,
    accepts: Mutex<Accepts>,
    pub(crate) accepted: Condvar,
}

impl Shared {
    /// Creates the state of a host with the address `own`.
    ///
    /// # Errors
    /// The system has no event to wake the thread with.
    pub(crate) fn new(own: SocketAddr) -> io::Result<Self> {
        Ok(Self {
            own,
            clock: Clock::new(),
            inbox: Mutex::new(Some(Vec::new())),
            event: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            sleeping: AtomicBool::new(false),
            accepts: Mutex::new(Accepts::default()),
            accepted: Condvar::new(),
        })
    }

    /// Sends a command to the host's thread.
    pub(crate) fn command(&self, command: Command) {
        if let Some(inbox) = &mut *self.inbox() {
            inbox.push(command);
        }
        if self.sleeping.swap(false, Ordering::SeqCst) {
            // The write fails only if the event is already set.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Sends a command to examine the connection, unless one is pending.
    pub(crate) fn touch(&self, connection: &Arc<Connection>, state: &mut State) {
        if !state.touched && !state.over {
            state.touched = true;
            self.command(Command::Touch(Arc::clone(connection)));
        }
    }

    /// Moves the commands since the previous call into `into`.
    pub(crate) fn take_commands(&self, into: &mut Vec<Command>) {
        if let Some(inbox) = &mut *self.inbox() {
            into.append(inbox);
        }
    }

    /// Marks the thread as ended. Callers that wait for a reply, now or later, get an error.
    pub(crate) fn end(&self) {
        *self.inbox() = None;
    }

    fn inbox(&self) -> MutexGuard<'_, Option<Vec<Command>>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether no command is waiting.
    pub(crate) fn is_quiet(&self) -> bool {
        self.inbox().as_ref().is_none_or(Vec::is_empty)
    }

    pub(crate) fn accepts(&self) -> MutexGuard<'_, Accepts> {
        self.accepts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("own", &self.own).finish_non_exhaustive()
    }
}
