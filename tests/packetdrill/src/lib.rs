//! Runs packetdrill scripts against this workspace's TCP endpoint, in virtual time.
//!
//! [`run`] reads a script in the language of google/packetdrill. It makes the script's system calls on simulated sockets, injects the
//! inbound segments, and compares the segments that the endpoint sends with the outbound segments of the script. Time is virtual, so a
//! script finishes as soon as its events are processed. No part of a script is executed by the system. Known commands in back quotes are
//! interpreted ([`Problem`] names unknown ones), and code may use a small part of Python.

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
use syntax::ScriptOption;

/// Runs the script `text`. `tolerance_usecs` replaces the script's tolerance, if it is given.
///
/// # Errors
/// The first mismatch with the script, unsupported feature or syntax error.
pub fn run(text: &str, tolerance_usecs: Option<u32>) -> Result<(), Problem> {
    let mut script = parser::parse(text)?;
    if let Some(value) = tolerance_usecs {
        let (name, value) = ("tolerance_usecs".to_owned(), value.to_string());
        script.options.push(ScriptOption { name, value, line: 0 });
    }
    runner::Runner::new(&script)?.run(&script)
}
