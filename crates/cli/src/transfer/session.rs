//! The server's side of connections, as work of a pool. One task accepts connections, and each connection has a task that answers it.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use firstflight_udp::files::{Exchange, Step, TransferError, Transferred};
use firstflight_udp::{Listener, Source, Stream, Worth};

use super::pool::{Next, Pool, Work};
use super::server::Server;
use super::watched::Connection;
use crate::clock::now;

/// The maximum number of connections that are accepted in a turn.
const ACCEPTED: usize = 64;
/// The maximum number of steps of an exchange in a turn, which transfer at most a megabyte.
const STEPS: usize = 16;
/// The time within which a client must have sent its whole request.
const REQUEST: Duration = Duration::from_secs(10);
/// The time for which a client that has not sent a request has the same priority as one that has. Its first segment may wait for its turn.
const GRACE: Duration = Duration::from_millis(250);
/// The number of bytes that must be transferred, and the time for that. A slower connection makes room for others.
const PROGRESS: (u64, Duration) = (16 << 10, Duration::from_secs(5));
/// The wait of work that only its waker resumes.
const LONG: Duration = Duration::from_hours(1);

/// The work that accepts the connections of a listener.
pub(super) struct Acceptor {
    listener: Listener,
    server: Arc<Server>,
    pool: Pool,
}

impl Acceptor {
    /// Starts to accept connections, as work of `pool`.
    pub(super) fn begin(listener: Listener, server: Server, pool: &Pool) {
        let (server, own) = (Arc::new(server), pool.clone());
        // No peer has this source, so the acceptor gets its turn whatever peers do.
        let source = Source::of(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        pool.add(source, |waker| {
            listener.set_waker(Some(waker));
            Box::new(Self { listener, server, pool: own })
        });
    }
}

impl Work for Acceptor {
    fn turn(&mut self, _: &mut [u8]) -> Next {
        for _ in 0..ACCEPTED {
            match self.listener.try_accept() {
                Ok(Some((stream, peer))) => {
                    let server = Arc::clone(&self.server);
                    let source = Source::of(peer.ip());
                    self.pool.add(source, |waker| Box::new(Session::new(stream, peer, server, waker)));
                }
                Ok(None) => return Next::Wait(now() + LONG),
                Err(_) => return Next::Over,
            }
        }
        Next::Again
    }
}

/// The work that answers one connection.
struct Session {
    wire: Counted,
    server: Arc<Server>,
    peer: SocketAddr,
    connection: Connection,
    doing: Doing,
    opened: Instant,
    /// The instant from which the peer's silence counts, and the number of bytes transferred by then.
    heard: (Instant, u64),
    /// When the transfer last progressed, if it did, and the number of bytes transferred by then.
    moved: (Option<Instant>, u64),
}

enum Doing {
    Answering(Box<Exchange>),
    /// The connection is closing, and the last bytes are in flight.
    Ending(Result<Option<Transferred>, TransferError>),
}

impl Session {
    fn new(stream: Stream, peer: SocketAddr, server: Arc<Server>, waker: Waker) -> Self {
        stream.set_nonblocking(true);
        stream.set_worth(Worth::Low);
        let (opened, connection) = (now(), Connection::of(&stream));
        let exchange = Exchange::new(Arc::clone(&server.folder), server.way, server.share(peer));
        stream.set_waker(Some(waker));
        Self {
            wire: Counted { stream, written: 0 },
            server,
            peer,
            connection,
            doing: Doing::Answering(Box::new(exchange)),
            opened,
            heard: (opened, 0),
            moved: (None, 0),
        }
    }

    /// Checks the peer's progress, and sets the priority of the connection. Returns when to check again.
    fn look(&mut self, now: Instant) -> Instant {
        let across = self.across();
        if across != self.heard.1 {
            self.heard = (now, across);
        }
        let patience = self.server.patience;
        if matches!(&self.doing, Doing::Answering(exchange) if !exchange.is_asked()) {
            let soon = self.opened + GRACE.min(patience);
            if now < soon {
                return soon;
            }
            self.wire.stream.set_worth(Worth::Lowest);
            return self.opened + REQUEST.min(patience);
        }
        // For the first progress, a single acknowledged byte of the answer suffices. Later progress takes [`PROGRESS`] bytes.
        let more = if self.moved.0.is_some() { PROGRESS.0 } else { 1 };
        if across >= self.moved.1 + more {
            self.moved = (Some(now), across);
        }
        let slow = self.moved.0.map(|moved| moved + PROGRESS.1).filter(|slow| *slow > now);
        self.wire.stream.set_worth(if slow.is_some() { Worth::Kept } else { Worth::Low });
        let silent = self.heard.0 + patience;
        slow.map_or(silent, |slow| slow.min(silent))
    }

    /// Returns the number of bytes that the peer has acknowledged or sent.
    fn across(&self) -> u64 {
        let info = self.wire.stream.info();
        info.acknowledged + info.received
    }

    /// Returns an error if the peer has exceeded its time; `None` otherwise.
    fn is_late(&self, now: Instant) -> Option<TransferError> {
        let patience = self.server.patience;
        let why = match &self.doing {
            Doing::Answering(exchange) if !exchange.is_asked() => {
                let wait = REQUEST.min(patience);
                (self.opened + wait <= now)
                    .then(|| format!("no whole request came within {} s", wait.as_secs_f64()))
            }
            _ => (self.heard.0 + patience <= now)
                .then(|| format!("the peer was silent for {} s", patience.as_secs_f64())),
        };
        why.map(|why| TransferError::Connection(io::Error::new(ErrorKind::TimedOut, why)))
    }

    /// Does the steps of one turn. Returns whether the peer must act before the next step.
    fn answer(&mut self, room: &mut [u8]) -> bool {
        for _ in 0..STEPS {
            let Doing::Answering(exchange) = &mut self.doing else { return true };
            let was_asked = exchange.is_asked();
            let step = exchange.step(&mut self.wire, room);
            if !was_asked && exchange.is_asked() {
                // The logs must start before the first byte of the answer is sent.
                self.server.watchers.begin(&self.connection);
                self.moved.1 = self.across();
            }
            match step {
                // While there is work to do at this end, the peer's time does not count.
                Ok(Step::Goes) => self.heard.0 = now(),
                Ok(Step::Waits) => return true,
                Ok(Step::Over(served)) => self.doing = Doing::Ending(Ok(served)),
                Err(error) => self.doing = Doing::Ending(Err(error)),
            }
        }
        false
    }

    /// Returns whether all written data is acknowledged, or never will be.
    fn is_ended(&self) -> bool {
        !matches!(self.wire.stream.finish(None), Err(error) if error.kind() == ErrorKind::WouldBlock)
    }

    /// Reports the result of a connection that has ended.
    fn conclude(&mut self, served: Result<Option<Transferred>, TransferError>) -> Next {
        self.server.conclude(&self.connection, self.peer, self.wire.written, served);
        Next::Over
    }

    fn end(&mut self) -> Result<Option<Transferred>, TransferError> {
        match std::mem::replace(&mut self.doing, Doing::Ending(Ok(None))) {
            Doing::Ending(served) => served,
            Doing::Answering(_) => Ok(None),
        }
    }
}

impl Work for Session {
    fn turn(&mut self, room: &mut [u8]) -> Next {
        let waits = self.answer(room);
        let now = now();
        let until = self.look(now);
        if matches!(self.doing, Doing::Ending(_)) && self.is_ended() {
            let served = self.end();
            return self.conclude(served);
        }
        if let Some(late) = self.is_late(now) {
            // The peer has disappeared or does not respond.
            self.wire.stream.abort();
            let served = match &self.doing {
                Doing::Ending(_) => self.end(),
                Doing::Answering(_) => Err(late),
            };
            return self.conclude(served);
        }
        if waits { Next::Wait(until) } else { Next::Again }
    }
}

/// A stream that counts the bytes written to it.
struct Counted {
    stream: Stream,
    written: u64,
}

impl Read for Counted {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stream.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = self.stream.write_vectored(pieces)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
