//! The endpoint of `firstflight-tcp` with real packets. It runs over UDP sockets, without privileges, and over a TUN device, where the
//! kernel's own TCP is the peer. Schemes, laws and stacks have the same names as in `firstflight race`.
//!
//! ```
//! use std::io::{Read, Write};
//! use firstflight_udp::{Listener, Options, Stream};
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
//! A datagram is a whole TCP segment, so that Wireshark's *Decode As* can read it. `docs/guide/udp.md` describes the bounds on memory and
//! connections, how a peer's address is verified, how the path's MTU is found, and the measurements.

#![cfg(target_os = "linux")]

mod clock;
mod connection;
mod cookie;
mod engine;
pub mod files;
mod frame;
mod host;
mod link;
mod listener;
mod memory;
mod options;
mod pmtu;
mod probing;
mod seal;
mod shared;
mod source;
mod stream;
mod table;
mod trace;
mod used;
mod watch;
mod worth;

pub use host::Host;
pub use listener::Listener;
pub use memory::SharedMemory;
pub use options::{OFFERS, Options, OptionsError, Traces};
pub use probing::{By, MIN_PACKET, Probed, Probing, ProbingError, Reflector, probe};
pub use seal::Key;
pub use source::Source;
pub use stream::Stream;
pub use watch::{Beginning, Watch, Watches};
pub use worth::Worth;
