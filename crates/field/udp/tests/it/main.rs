//! The host on sockets, without privileges: over the loopback.

#![cfg(target_os = "linux")]

mod bounds;
mod common;
mod conformance;
mod endings;
mod pmtu;
mod probing;
mod proxy;
mod raw;
mod sealed;
mod streams;
mod trains;
mod unmatched;
