//! The far end of a probing.

use std::io;
use std::net::SocketAddr;

use firstflight::Span;

use super::datagram::{answer, read_question};
use super::socket::Socket;
use crate::clock::Clock;

/// How often a wait looks whether it is to end.
const LOOK: Span = Span::from_millis(100);

/// Answers each packet of a prober with the instant at which it came. It keeps nothing, answers nothing else, and never with
/// more bytes than it got.
#[derive(Debug)]
pub struct Reflector {
    socket: Socket,
    own: SocketAddr,
}

impl Reflector {
    /// A reflector on a UDP socket of its own. Needs no privileges.
    ///
    /// # Errors
    /// The socket cannot be bound or set up.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::at(address)?;
        let own = socket.local_addr()?;
        Ok(Self { socket, own })
    }

    /// The address of the socket.
    pub fn local_addr(&self) -> SocketAddr {
        self.own
    }

    /// Answers until `ended` says so, which is asked ten times a second or more. `probed` hears of each peer's question
    /// whether it is there.
    pub fn run(&self, ended: &dyn Fn() -> bool, probed: &dyn Fn(SocketAddr)) {
        let clock = Clock::new();
        let (mut bytes, mut out) = (vec![0; 1 << 16], Vec::new());
        while !ended() {
            // An error is of an answer before, which its prober will miss.
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
