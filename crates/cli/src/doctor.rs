//! `firstflight doctor`: reports which commands work on this machine, and what the others lack. It finds out by carrying them out.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::{Command, Output, Stdio};

use clap::Args;
use firstflight_emulate::own_program;
use firstflight_report::prose;
use serde::Serialize;

use crate::failure::Failure;
use crate::output;

/// `firstflight doctor`.
#[derive(Args, Debug)]
pub(crate) struct Doctor {
    /// Print only JSON, a line for each row of the table.
    #[arg(long)]
    json: bool,
}

/// A row of the table, as `--json` prints it.
#[derive(Serialize)]
struct Listed<'a> {
    commands: &'static str,
    works: bool,
    /// Why the commands do not work; `None` if they do.
    reason: Option<&'a str>,
}

/// A part of the program, and how it is tried.
struct Part {
    /// The commands that use it.
    commands: &'static str,
    /// What the trial did, if it succeeded.
    done: &'static str,
    trial: Trial,
}

enum Trial {
    /// A command of this program, which succeeds.
    Command(&'static [&'static str]),
    /// UDP sockets over the loopback addresses of IPv4 and IPv6.
    Sockets,
}

/// The parts, those that need more after those that need less.
const PARTS: [Part; 5] = [
    Part {
        commands: "race, sweep, inspect, replay, paper",
        done: "raced a transfer of 100 kB",
        trial: Trial::Command(&["race", "--size", "100kB", "--schemes", "slow-start", "--csv"]),
    },
    Part {
        commands: "serve, get, put, probe, reflect",
        done: "a datagram crossed the loopback",
        trial: Trial::Sockets,
    },
    Part {
        commands: "emulate, compare",
        done: "two hosts ran a program each, at the ends of a path",
        trial: Trial::Command(&["emulate", "--rtt", "2ms", "--json", "--", "true", "--", "true"]),
    },
    Part {
        commands: "kernel, compare --habitats kernel",
        done: "loaded hystart++ into this kernel, and unloaded it",
        trial: Trial::Command(&[
            "kernel",
            "run",
            "hystart++",
            "--rtt",
            "2ms",
            "--json",
            "--",
            "true",
            "--",
            "true",
        ]),
    },
    Part {
        commands: "watch",
        done: "watched this kernel's connections for 50 ms",
        trial: Trial::Command(&["watch", "--duration", "50ms", "--summary"]),
    },
];

/// Carries out `firstflight doctor`.
pub(crate) fn doctor(asked: &Doctor) -> Result<(), Failure> {
    let mut found = Vec::new();
    for part in &PARTS {
        found.push((part, try_out(&part.trial).map_err(Failure::usage)?));
    }
    if asked.json {
        let mut lines = String::new();
        for (part, reason) in &found {
            let row = Listed { commands: part.commands, works: reason.is_none(), reason: reason.as_deref() };
            lines +=
                &(serde_json::to_string(&row).map_err(|error| Failure::write(error.to_string()))? + "\n");
        }
        return output::print(&lines);
    }
    output::print(&table(&found, output::stdout_width()))
}

/// Tries a part of the program. Returns the reason why it does not work, or `None` if it does.
///
/// # Errors
/// The trial itself cannot be made.
fn try_out(trial: &Trial) -> Result<Option<String>, String> {
    match trial {
        Trial::Command(arguments) => {
            let output = carry_out(arguments)
                .map_err(|error| format!("this program cannot start itself again: {error}"))?;
            Ok((!output.status.success()).then(|| reason(arguments, &output)))
        }
        Trial::Sockets => Ok(lack_of_sockets()),
    }
}

fn carry_out(arguments: &[&str]) -> io::Result<Output> {
    let mut words = own_program::words()?.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    let arguments = words.chain(arguments.iter().map(OsString::from));
    command.args(arguments).stdin(Stdio::null()).env("COLUMNS", "100000").output()
}

/// Returns the error of a command that failed, without what this command adds to it, or how the command ended if it printed none.
fn reason(arguments: &[&str], output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let error = text.lines().find_map(|line| line.strip_prefix("error: "));
    let name = arguments.first().copied().unwrap_or_default();
    match error {
        Some(error) => error.strip_prefix(&format!("{name}: ")).unwrap_or(error).to_owned(),
        None => format!("`firstflight {name}` failed: {}", output.status),
    }
}

/// Returns what keeps a datagram from crossing the loopback; `None` if it does by IPv4. A host without IPv6 lacks nothing.
fn lack_of_sockets() -> Option<String> {
    let four = crosses(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let six = crosses(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)));
    match (four, six) {
        (Ok(()), _) | (_, Ok(())) => None,
        (Err(error), Err(_)) => Some(format!("no UDP over the loopback: {error}")),
    }
}

fn crosses(address: SocketAddr) -> io::Result<()> {
    let (from, to) = (UdpSocket::bind(address)?, UdpSocket::bind(address)?);
    to.set_read_timeout(Some(std::time::Duration::from_secs(1)))?;
    from.send_to(b"?", to.local_addr()?)?;
    to.recv(&mut [0]).map(|_| ())
}

/// Formats the table. The last column is broken at the width.
fn table(found: &[(&Part, Option<String>)], width: Option<usize>) -> String {
    let wide = PARTS.iter().map(|part| part.commands.len()).max().unwrap_or(0);
    let mut table = format!("{:<wide$}  works  trial, or error\n", "commands");
    for (part, lack) in found {
        let (works, why) = match lack {
            None => ("yes", part.done),
            Some(reason) => ("no", reason.as_str()),
        };
        let line = format!("{:<wide$}  {works:<5}  {why}", part.commands);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{}", prose::fold(&line, width, wide + 9));
    }
    table
}
