//! The host on sockets, without privileges: over the loopback.

mod common;
mod conformance;
mod proxy;
mod strangers;
mod streams;
mod width;
