//! The controllers under real connections of `noq-proto`, in virtual time.

mod laws;
mod net;
mod pacing;
mod sockets;
