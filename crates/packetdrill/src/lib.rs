//! packetdrill scripts against this workspace's TCP endpoint, in virtual time.
//!
//! [`run`] reads a script in the language of google/packetdrill, carries out its system calls on sockets of its own,
//! injects its inbound segments and compares what the endpoint sends with its outbound ones. Time is virtual: a script
//! takes as long as its events cost. Nothing of a script is executed: commands in back quotes are interpreted as far as
//! they are known ([`Problem`] names those that are not), and code is a small part of Python.

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
/// The first thing that did not go as the script says, that is not supported, or that is not in the language.
pub fn run(text: &str) -> Result<(), Problem> {
    let script = parser::parse(text)?;
    runner::Runner::new(&script)?.run(&script)
}
