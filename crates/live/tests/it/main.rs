//! The host on sockets, without privileges: over the loopback.

#![cfg(target_os = "linux")]

mod common;
mod conformance;
mod proxy;
mod strangers;
mod streams;
mod width;
