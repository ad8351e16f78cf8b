//! A sans-IO TCP endpoint: it moves ranges of a byte stream, and its host moves the bytes.
//!
//! The host calls, in this order of kinds:
//!
//! - *commands*: [`Endpoint::open`], [`Endpoint::write`], [`Endpoint::read`], [`Endpoint::shut`];
//! - *handle*: [`Endpoint::on_segment`] for each segment that arrives, [`Endpoint::on_timer`] when the instant of
//!   [`Endpoint::next_timer`] has come;
//! - *poll*: after any of these, [`Endpoint::poll_transmit`] until it gives nothing, then
//!   [`Endpoint::next_timer`]; [`Endpoint::poll_happening`] if it keeps a record;
//! - *getters*: [`Endpoint::snapshot`], [`Endpoint::stats`].
//!
//! Time only ever comes in as an argument; there is no clock, no randomness and no floating point.

mod clock;
mod config;
mod endpoint;
mod journal;
#[cfg(feature = "bench")]
#[doc(hidden)]
pub mod parts;
pub mod quick_start;
mod receiver;
mod segment;
mod sender;
mod seq;

pub use config::{AckPolicy, Config, Recovery};
pub use endpoint::{
    Departure, Endpoint, Happening, Info, Ready, Repair, Role, Snapshot, Standing, Stats, Transmit, Trouble,
};
pub use segment::{Ecn, Flags, MAX_SACK_BLOCKS, SackBlock, Segment, Timestamps};
pub use sender::Offload;
