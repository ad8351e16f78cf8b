//! The endpoint of `firstflight-tcp` on real packets: over UDP sockets, without privileges, and over a TUN, where the kernel's own
//! TCP is the peer. Schemes, laws and stacks are chosen by the names of `firstflight race`.
//!
//! ```
//! use std::io::{Read, Write};
//! use firstflight_live::{Listener, Options, Stream};
//!
//! # fn main() -> std::io::Result<()> {
//! let options = Options::new("hystart++:avoidance=cubic")?;
//! let listener = Listener::bind("127.0.0.1:0", &options)?;
//! let address = listener.local_addr();
//! let server = std::thread::spawn(move || -> std::io::Result<String> {
//!     let (mut stream, _) = listener.accept()?;
//!     let mut text = String::new();
//!     stream.read_to_string(&mut text)?;
//!     Ok(text)
//! });
//! let mut stream = Stream::connect(address, &options)?;
//! stream.write_all(b"a byte stream, in TCP segments, in UDP datagrams")?;
//! stream.finish(None)?;
//! assert_eq!(server.join().unwrap()?.len(), 48);
//! # Ok(())
//! # }
//! ```
//!
//! A datagram is a whole TCP segment, so that Wireshark's *Decode As*
//! reads it. `docs/live.md` says what is bounded, how a peer proves its address, how the path's MTU is found, and what was measured.

#![cfg(target_os = "linux")]

mod clock;
mod connection;
mod cookie;
mod engine;
mod frame;
mod host;
mod link;
mod listener;
mod options;
mod probing;
mod stream;
mod table;
mod trace;
mod watch;
mod width;

pub use host::Host;
pub use listener::Listener;
pub use options::{OFFERS, Options, OptionsError, Traces};
pub use probing::{By, LEAST_PACKET, Probed, Probing, ProbingError, Reflector, probe};
pub use stream::Stream;
pub use watch::{Beginning, Watch, Watches};
