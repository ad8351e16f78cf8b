//! The bytes of a connection. An [`Endpoint`](crate::Endpoint) only counts bytes; this module has a send buffer, a receive buffer, and a
//! [`Socket`] that joins both with an endpoint.
//!
//! Memory is allocated for stored bytes only. It is at most the send buffer and the receive window, each rounded up to pages of 16 KiB,
//! plus the memory of the endpoint itself ([`Endpoint::memory`](crate::Endpoint::memory)).

mod pages;
mod reassembly;
mod send;
mod socket;

use reassembly::Reassembly;
use send::SendBuffer;

pub use send::Payload;
pub use socket::{Error, Settings, Socket};
