//! A sans-IO TCP: an [`Endpoint`] moves ranges of a byte stream, and a [`bytes::Socket`] joins an endpoint with its bytes.
//!
//! # How a host drives an endpoint
//!
//! The host calls, in this order of kinds:
//!
//! - *commands*: [`Endpoint::open`], [`Endpoint::write`], [`Endpoint::read`], [`Endpoint::shut`], [`Endpoint::reset`];
//! - *handle*: [`Endpoint::on_segment`] for each segment that arrives, [`Endpoint::on_timer`] when the instant of
//!   [`Endpoint::next_timer`] has come;
//! - *poll*: after any of these, [`Endpoint::poll_transmit`] until it gives nothing, then
//!   [`Endpoint::next_timer`]; [`Endpoint::poll_happening`], for happenings are kept until they are taken;
//! - *getters*: [`Endpoint::snapshot`], [`Endpoint::stats`], [`Endpoint::standing`].
//!
//! Time only ever comes in as an argument; there is no clock, no randomness and no floating point. The host knows addresses,
//! ports and checksums, finds the endpoint that a segment is for, and draws [`Config::initial_sequence`] and
//! [`Config::secret`] at random.
//!
//! # Bytes
//!
//! Streams are counted from 0, the first byte of data, in 64 bits. An endpoint does not hold bytes, so that a simulated flow
//! has none. A host that moves bytes keeps them by these rules, which [`bytes::Socket`] follows:
//!
//! - What is written is kept until [`Endpoint::una`] has passed it. [`Transmit::range`] is what a segment carries of it, the
//!   first time and again. A FIN is a flag of the segment, not a byte.
//! - Before a segment that arrives is heard, each part of [`Endpoint::arriving_range`] that is [`Endpoint::missing`] is put in
//!   its place; the other bytes of it are dropped. That keeps the bytes that came first, and nothing outside of the receive window.
//! - [`Endpoint::readable_range`] is in order; [`Endpoint::read`] takes from its beginning, and opens the window.
//! - After both FINs the side that closed first ([`Endpoint::closed_first`]) goes on to answer for two segment lifetimes.
//!
//! A socket has the same commands, handle, poll and getters:
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

pub mod bytes;
mod clock;
mod config;
mod endpoint;
mod happening;
mod info;
mod journal;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod parts;
pub mod quick_start;
mod receiver;
mod segment;
mod sender;
mod seq;

pub use config::{
    AckPolicy, Config, Growth, InflightLimit, LimitedTransmit, Offload, PacedBy, Recovery, RtoFloor,
    SlowStartCounts, Stack,
};
pub use endpoint::{Departure, Endpoint, Fast, NextSegment, RepairSegment, Role, Snapshot, Stats, Transmit};
pub use happening::Happening;
pub use info::{Info, Standing, Trouble};
pub use segment::{Ecn, Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};
