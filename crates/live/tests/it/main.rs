//! The host on sockets, without privileges: over the loopback.

mod common;
mod streams;
