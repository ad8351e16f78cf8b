//! The bytes of a connection, beside the endpoint that moves their ranges: a send buffer, a receive buffer, and a
//! [`Socket`] that joins both with an [`Endpoint`](crate::Endpoint).
//!
//! Memory follows what is held: at most the send buffer and the receive window, each rounded up to pages of 16 KiB, beside
//! what the endpoint itself holds ([`Endpoint::memory`](crate::Endpoint::memory)).

mod pages;
mod reassembly;
mod send;
mod socket;

use reassembly::Reassembly;
use send::SendBuffer;

pub use send::Payload;
pub use socket::{Error, Settings, Socket};
