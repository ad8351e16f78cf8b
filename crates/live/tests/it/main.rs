//! The host on sockets, without privileges: over the loopback.

#![cfg(target_os = "linux")]

mod common;
mod conformance;
mod endings;
mod probing;
mod proxy;
mod strangers;
mod streams;
mod trains;
mod width;
