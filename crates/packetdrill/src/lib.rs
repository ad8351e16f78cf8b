//! packetdrill scripts against this workspace's TCP endpoint, in virtual time.
//!
//! [`run`] reads a script in the language of google/packetdrill. It carries out the script's system calls on simulated
//! sockets, injects the inbound segments, and compares the endpoint's segments with the outbound ones. Time is virtual, so
//! a script takes only the time of its events. No part of a script is executed. Known commands in back quotes are
//! interpreted ([`Problem`] names unknown ones), and code is a small part of Python.

mod code;
mod commands;
mod info;
mod kernel;
mod lexer;
mod matcher;
mod options;
mod parser;
mod problem;
mod runner;
mod settings;
mod show;
mod syntax;

pub use problem::{Kind, Problem};

/// Runs the script `text`.
///
/// # Errors
/// The first mismatch with the script, unsupported feature, or syntax error.
pub fn run(text: &str) -> Result<(), Problem> {
    let script = parser::parse(text)?;
    runner::Runner::new(&script)?.run(&script)
}
