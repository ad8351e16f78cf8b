//! A TCP that does no input or output itself (sans-IO). An [`Endpoint`] moves ranges of a byte stream, and a [`bytes::Socket`] joins an
//! endpoint with its bytes.
//!
//! # How a host drives an endpoint
//!
//! The host calls functions of four kinds:
//!
//! - *commands* at any time: [`Endpoint::open`], [`Endpoint::write`], [`Endpoint::read`], [`Endpoint::shut`], [`Endpoint::reset`];
//! - *handlers*: [`Endpoint::on_segment`] for each segment that arrives, and [`Endpoint::on_timer`] when the time of
//!   [`Endpoint::next_timer`] is reached;
//! - *polls* after each of these calls: [`Endpoint::poll_transmit`] until it returns nothing, [`Endpoint::next_timer`], and
//!   [`Endpoint::poll_event`], because events are stored until they are taken;
//! - *getters*: [`Endpoint::snapshot`], [`Endpoint::stats`], [`Endpoint::status`].
//!
//! Time is always passed as an argument. There is no clock, no randomness and no floating point. The host handles addresses, ports and
//! checksums, finds the endpoint for each segment, and chooses [`Config::initial_sequence`] and [`Config::secret`] at random.
//!
//! # Bytes
//!
//! Stream offsets have 64 bits; the first byte of data has offset 0. An endpoint does not store bytes, so that a simulated flow needs none.
//! If a host moves bytes, it stores them by these rules, which [`bytes::Socket`] follows:
//!
//! - Written data is stored until [`Endpoint::una`] exceeds its offset. [`Transmit::range`] is the part of it that a segment carries, for
//!   first transmissions and retransmissions. A FIN is a flag of the segment, not a byte.
//! - Before an arriving segment is processed, each part of [`Endpoint::arriving_range`] that is [`Endpoint::missing`] is stored at its
//!   offset. Its other bytes are dropped. If bytes arrive twice, the first ones are kept, and nothing outside the receive window is stored.
//! - [`Endpoint::readable_range`] is in order. [`Endpoint::read`] removes bytes from its beginning, and enlarges the receive window.
//! - After both FINs, the side that closed first ([`Endpoint::closed_first`]) continues to answer for two maximum segment lifetimes.
//!
//! A socket has the same four kinds of functions:
//!
//! ```
//! use firstflight::registry::{self, AnyController};
//! use firstflight::{Span, Time, schemes::Initial};
//! use firstflight_tcp::bytes::{Settings, Socket};
//! use firstflight_tcp::{Config, Role};
//!
//! let mut sockets = [Role::Client, Role::Server].map(|role| {
//!     let initial = Initial { segments: 10, ssthresh: None };
//!     let scheme = registry::scheme("hystart++").unwrap().build(initial, &[]).unwrap();
//!     let restart = registry::restart("rfc5681").unwrap().build(initial, &[]).unwrap();
//!     let controller = AnyController::new(scheme, restart, registry::law("cubic").unwrap().build());
//!     let config = Config { receive_buffer: 1 << 16, ..Config::default() };
//!     Socket::new(role, &config, controller, &Settings::default())
//! });
//! let (written, mut read, mut buffer) = (vec![7; 1_000_000], Vec::new(), [0; 4_096]);
//! let (mut now, mut taken) = (Time::ZERO, 0);
//! sockets[0].open(now);
//! while !sockets[1].is_at_end() {
//!     taken += sockets[0].write(&written[taken..]);
//!     if taken == written.len() {
//!         sockets[0].shutdown();
//!     }
//!     for (from, to) in [(0, 1), (1, 0)] {
//!         let mut pipe = Vec::new();
//!         while let Some((transmit, payload)) = sockets[from].poll(now) {
//!             pipe.push((transmit.segment, payload.joined().into_owned()));
//!         }
//!         for (segment, payload) in pipe {
//!             sockets[to].on_segment(now, &segment, &payload);
//!         }
//!     }
//!     while let n @ 1.. = sockets[1].read(&mut buffer) {
//!         read.extend_from_slice(&buffer[..n]);
//!     }
//!     now = now + Span::from_millis(10);
//!     for socket in &mut sockets {
//!         socket.on_timer(now);
//!     }
//! }
//! assert_eq!(read, written);
//! ```

#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod bench_api;
pub mod bytes;
mod clock;
mod config;
mod endpoint;
mod endpoint_event;
mod info;
mod journal;
pub mod quick_start;
mod receiver;
mod segment;
mod sender;
mod seq;

pub use config::{
    AckPolicy, Config, Growth, InflightLimit, LimitedTransmit, Offload, PacedBy, Recovery, RtoFloor,
    SlowStartCounts, Stack,
};
pub use endpoint::{
    Departure, Endpoint, Fast, LinuxSocket, NextSegment, RepairSegment, Role, Snapshot, Stats, Transmit,
};
pub use endpoint_event::EndpointEvent;
pub use info::{Info, Status, Trouble};
pub use segment::{Ecn, Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};
