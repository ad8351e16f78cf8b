//! The controllers under real connections of `quinn-proto`, in virtual time.

mod accepted;
mod laws;
mod net;
#[path = "../../../quic/tests/common/simulated.rs"]
mod simulated;
