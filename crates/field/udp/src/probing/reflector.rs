//! The far end of a probing.

use std::io;
use std::net::SocketAddr;

use firstflight::Span;

use super::datagram::{answer, read_question};
use super::socket::Socket;
use crate::clock::Clock;

/// The interval at which a wait checks whether the reflector must end.
const LOOK: Span = Span::from_millis(100);

/// Answers each packet of a prober with the time of its arrival. It keeps no state, does not answer other packets, and never sends more
/// bytes than it received.
#[derive(Debug)]
pub struct Reflector {
    socket: Socket,
    own: SocketAddr,
}

impl Reflector {
    /// Makes a reflector on a new UDP socket. Needs no privileges.
    ///
    /// # Errors
    /// The socket cannot be bound or set up.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::at(address)?;
        let own = socket.local_addr()?;
        Ok(Self { socket, own })
    }

    /// Returns the address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.own
    }

    /// Answers until `ended` returns `true`. Calls `ended` at least ten times a second, and `probed` for each greeting of a peer.
    pub fn run(&self, ended: &dyn Fn() -> bool, probed: &dyn Fn(SocketAddr)) {
        let clock = Clock::new();
        let (mut bytes, mut out) = (vec![0; 1 << 16], Vec::new());
        while !ended() {
            // An error belongs to an earlier answer. The prober counts that answer as lost.
            while let Ok(Some(received)) = self.socket.receive(&mut bytes) {
                let Some(asked) = bytes.get(..received.length).and_then(read_question) else { continue };
                answer(asked, received.at.unwrap_or_else(|| clock.now()), &mut out);
                self.socket.answer(&received, &out);
                if asked.train == super::datagram::GREETING
                    && let Some(peer) = received.peer()
                {
                    probed(peer);
                }
            }
            self.socket.wait(LOOK);
        }
    }
}
