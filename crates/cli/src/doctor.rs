//! `firstflight doctor`: reports which commands work on this machine, and what the others lack. It finds out by carrying them out.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use clap::Args;
use firstflight_emulate::own_program;
use firstflight_report::prose;
use firstflight_udp::Reflector;
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
    part: &'static str,
    commands: &'static [&'static str],
    works: bool,
    /// Why the part does not work; `None` if it does.
    reason: Option<&'a str>,
}

/// A part of the program, and how it is tried.
pub(crate) struct Part {
    name: &'static str,
    /// The commands that use it.
    pub(crate) commands: &'static [&'static str],
    /// What the trial did, if it succeeded.
    done: &'static str,
    trial: Trial,
}

enum Trial {
    /// A command of this program, which succeeds.
    Command(&'static [&'static str]),
    /// The same, with a program at each end of a path: this one, which prints its version.
    Ends(&'static [&'static str]),
    /// A socket of the endpoint, at the default address of `serve`.
    Socket,
}

/// The parts, those that need more after those that need less.
pub(crate) const PARTS: [Part; 5] = [
    Part {
        name: "computing",
        commands: &[
            "race",
            "run",
            "sweep",
            "score",
            "diff",
            "inspect",
            "paper",
            "model",
            "replay",
            "packetdrill",
        ],
        done: "raced a transfer of 100 kB",
        trial: Trial::Command(&["race", "--size", "100kB", "--schemes", "slow-start", "--csv"]),
    },
    Part {
        name: "sockets",
        commands: &["serve", "get", "put", "probe", "reflect"],
        done: "a datagram crossed the loopback",
        trial: Trial::Socket,
    },
    Part {
        name: "emulate, compare",
        commands: &["emulate", "compare"],
        done: "two hosts ran a program each, at the ends of a path",
        trial: Trial::Ends(&["emulate", "--rtt", "2ms", "--limit", "10s", "--json"]),
    },
    Part {
        name: "kernel",
        commands: &["kernel"],
        done: "loaded hystart++ into this kernel, and unloaded it",
        trial: Trial::Ends(&["kernel", "run", "hystart++", "--rtt", "2ms", "--limit", "10s", "--json"]),
    },
    Part {
        name: "watch",
        commands: &["watch"],
        done: "watched this kernel's connections for 50 ms",
        trial: Trial::Command(&["watch", "--duration", "50ms", "--summary"]),
    },
];

/// Carries out `firstflight doctor`.
pub(crate) fn doctor(asked: &Doctor) -> Result<(), Failure> {
    let mut found = Vec::new();
    for part in &PARTS {
        found.push((part, lack_of(&part.trial)));
    }
    if asked.json {
        let mut lines = String::new();
        for (part, reason) in &found {
            let row = Listed {
                part: part.name,
                commands: part.commands,
                works: reason.is_none(),
                reason: reason.as_deref(),
            };
            lines +=
                &(serde_json::to_string(&row).map_err(|error| Failure::write(error.to_string()))? + "\n");
        }
        return output::print(&lines);
    }
    output::print(&table(&found, output::stdout_width()))
}

/// Tries a part of the program. Returns the reason why it does not work, or `None` if it does.
fn lack_of(trial: &Trial) -> Option<String> {
    let given = |arguments: &[&str]| arguments.iter().map(OsString::from).collect::<Vec<_>>();
    let (arguments, carried_out) = match trial {
        Trial::Command(arguments) => (arguments, carry_out(given(arguments))),
        Trial::Ends(arguments) => {
            let at_ends = own_program::words().map(|words| {
                let end = || std::iter::once("--".into()).chain(words.clone()).chain(["--version".into()]);
                given(arguments).into_iter().chain(end()).chain(end()).collect()
            });
            (arguments, at_ends.and_then(carry_out))
        }
        Trial::Socket => {
            return datagram_crosses().err().map(|error| format!("no UDP over 127.0.0.1: {error}"));
        }
    };
    match carried_out {
        Ok(output) => (!output.status.success()).then(|| reason(arguments, &output)),
        Err(error) => Some(format!("this program cannot start itself again: {error}")),
    }
}

fn carry_out(arguments: Vec<OsString>) -> io::Result<Output> {
    let mut words = own_program::words()?.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words).args(arguments).stdin(Stdio::null()).env("COLUMNS", "100000").output()
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

/// Sends a datagram from one UDP socket to another, whose options are those of the endpoint.
fn datagram_crosses() -> io::Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Reflector::bind(address)?;
    let (from, to) = (UdpSocket::bind(address)?, UdpSocket::bind(address)?);
    to.set_read_timeout(Some(Duration::from_secs(1)))?;
    from.send_to(b"?", to.local_addr()?)?;
    to.recv(&mut [0]).map(|_| ())
}

/// Formats the table. The last column is broken at the width.
fn table(found: &[(&Part, Option<String>)], width: Option<usize>) -> String {
    let wide = PARTS.iter().map(|part| part.name.len()).max().unwrap_or(0);
    let mut table = format!("{:<wide$}  works  trial, or error\n", "part");
    for (part, lack) in found {
        let (works, why) = match lack {
            None => ("yes", part.done),
            Some(reason) => ("no", reason.as_str()),
        };
        let line = format!("{:<wide$}  {works:<5}  {why}", part.name);
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{}", prose::fold(&line, width, wide + 9));
    }
    table
}
