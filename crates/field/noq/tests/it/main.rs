//! The controllers under real connections of `noq-proto`, in virtual time.

mod accepted;
mod laws;
mod net;
mod pacing;
#[path = "../../../quic/tests/common/simulated.rs"]
mod simulated;
mod sockets;
