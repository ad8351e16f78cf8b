//! The handle of a host, and what its thread shares with those that read and write.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};

use crate::clock::Clock;
use crate::connection::{Connection, State};
use crate::engine::Engine;
use crate::link::{Link, Tun, Udp};
use crate::listener::Listener;
use crate::options::Options;
use crate::stream::Stream;

/// One UDP socket or TUN, with all its connections, which one thread serves. Clones are handles of the same host. When the last
/// handle is dropped, streams and listeners counted in, what was written is still sent for [`Options::linger`] at most.
#[derive(Clone, Debug)]
pub struct Host(pub(crate) Arc<Handle>);

impl Host {
    /// A host on a UDP socket of its own. Needs no privileges.
    ///
    /// # Errors
    /// The socket cannot be bound, or options that make no connection.
    pub fn bind(address: impl ToSocketAddrs, options: &Options) -> io::Result<Self> {
        Self::on(UdpSocket::bind(address)?, options)
    }

    /// A host on a UDP socket that is bound already, such as one that another process handed over.
    ///
    /// # Errors
    /// The socket cannot be set up, or options that make no connection.
    pub fn on(socket: UdpSocket, options: &Options) -> io::Result<Self> {
        let own = socket.local_addr()?;
        Self::start(Link::Udp(Udp::new(socket, options.batches)?), own, options)
    }

    /// A host behind the TUN of this name, with `own` for its IP address; the kernel's IP is at the other end, and its TCP is a
    /// peer. The TUN is made unless it is there; that needs `CAP_NET_ADMIN`, and so does one that belongs to somebody else.
    /// Addresses and routes are the caller's to set.
    ///
    /// # Errors
    /// The TUN cannot be opened, or options that make no connection.
    pub fn tun(name: &str, own: IpAddr, options: &Options) -> io::Result<Self> {
        Self::start(Link::Tun(Tun::new(name, own)?), SocketAddr::new(own, 0), options)
    }

    /// The address of the socket. Of a TUN the address given, with port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.0.shared.own
    }

    /// Opens a connection to a host of this kind, or over a TUN to any TCP, and waits until it is open.
    ///
    /// # Errors
    /// The peer refuses or does not answer, or the host has as many connections as it may have.
    pub fn connect(&self, peer: SocketAddr) -> io::Result<Stream> {
        let stream = self.begin(peer)?;
        stream.wait_open(None)?;
        Ok(stream)
    }

    /// [`Host::connect`] that waits no longer than `timeout`.
    ///
    /// # Errors
    /// As [`Host::connect`], and [`io::ErrorKind::TimedOut`].
    pub fn connect_timeout(&self, peer: SocketAddr, timeout: std::time::Duration) -> io::Result<Stream> {
        let stream = self.begin(peer)?;
        stream.wait_open(Some(timeout))?;
        Ok(stream)
    }

    /// Listens: from now on peers may connect. Over UDP whatever TCP port they ask for is taken, for the UDP port says which
    /// service is meant; over a TUN just `port`. A second call listens on as well, and over a TUN on another port instead.
    pub fn listen(&self, port: u16) -> Listener {
        let mut queue = self.0.shared.accepts();
        queue.listeners += 1;
        queue.port = port;
        drop(queue);
        Listener::new(Arc::clone(&self.0))
    }

    /// Begins to connect.
    fn begin(&self, peer: SocketAddr) -> io::Result<Stream> {
        let (reply, answer) = sync_channel(1);
        self.0.shared.command(Command::Open { peer, reply });
        let connection = answer.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))??;
        Ok(Stream::new(connection, Arc::clone(&self.0)))
    }

    fn start(link: Link, own: SocketAddr, options: &Options) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            own,
            clock: Clock::new(),
            inbox: Mutex::new(Some(Vec::new())),
            event: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            sleeping: AtomicBool::new(false),
            accepts: Mutex::new(Accepts::default()),
            accepted: Condvar::new(),
        });
        let engine = Engine::new(link, Arc::clone(&shared), options)?;
        let thread = Builder::new().name("firstflight-live".to_owned()).spawn(move || engine.run())?;
        Ok(Self(Arc::new(Handle { shared, thread: Some(thread) })))
    }
}

/// What ends the thread when nobody is left to use it.
#[derive(Debug)]
pub(crate) struct Handle {
    pub(crate) shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.command(Command::Stop);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked said so; there is nothing to wait for.
            let _ = thread.join();
        }
    }
}

/// What other threads ask of the host's.
pub(crate) enum Command {
    /// To open a connection.
    Open { peer: SocketAddr, reply: SyncSender<io::Result<Arc<Connection>>> },
    /// To look at a connection that was written to, read from or shut.
    Touch(Arc<Connection>),
    /// To end.
    Stop,
}

/// Connections that wait to be accepted.
#[derive(Default)]
pub(crate) struct Accepts {
    pub(crate) waiting: VecDeque<Arc<Connection>>,
    /// How many listen; none once the host has ended.
    pub(crate) listeners: usize,
    /// Of a TUN: the port.
    pub(crate) port: u16,
    pub(crate) ended: bool,
}

/// What the host's thread shares with the others.
pub(crate) struct Shared {
    pub(crate) own: SocketAddr,
    pub(crate) clock: Clock,
    /// What is asked of the host's thread; none once it has ended.
    inbox: Mutex<Option<Vec<Command>>>,
    pub(crate) event: OwnedFd,
    /// Whether the host's thread sleeps, or is about to.
    pub(crate) sleeping: AtomicBool,
    accepts: Mutex<Accepts>,
    pub(crate) accepted: Condvar,
}

impl Shared {
    /// Asks the host's thread for something.
    pub(crate) fn command(&self, command: Command) {
        if let Some(inbox) = &mut *self.inbox() {
            inbox.push(command);
        }
        if self.sleeping.swap(false, Ordering::SeqCst) {
            // It fails if it is set already.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// The host is to look at the connection.
    pub(crate) fn touch(&self, connection: &Arc<Connection>, state: &mut State) {
        if !state.touched && !state.over {
            state.touched = true;
            self.command(Command::Touch(Arc::clone(connection)));
        }
    }

    /// What was asked since the last time.
    pub(crate) fn take_commands(&self, into: &mut Vec<Command>) {
        if let Some(inbox) = &mut *self.inbox() {
            into.append(inbox);
        }
    }

    /// The thread has ended: who asked for something gets no answer, and knows it.
    pub(crate) fn end(&self) {
        *self.inbox() = None;
    }

    fn inbox(&self) -> MutexGuard<'_, Option<Vec<Command>>> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing is asked.
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
